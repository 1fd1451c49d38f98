//! How much memory this process may take, and the refusal to take more.
//!
//! Whatever a user's input sizes is computed first and asked for here. A refusal is an error that names the amount and the
//! remedy; an allocation that fails would end the program instead.

use crate::error::{Error, Result};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The limit in bytes; 0 until it is set or looked up.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Where the system does not tell how much memory it has.
const UNKNOWN: u64 = 8 << 30;

/// The most memory that this process takes: what [`set_limit`] was given, else three quarters of the machine's.
pub fn limit() -> u64 {
    match LIMIT.load(Ordering::Relaxed) {
        0 => {
            let found = machine() / 4 * 3;
            LIMIT.store(found, Ordering::Relaxed);
            found
        }
        set => set,
    }
}

/// Sets the most memory that this process takes, in bytes: the setting `max_memory`.
pub fn set_limit(bytes: u64) {
    LIMIT.store(bytes.max(1), Ordering::Relaxed);
}

/// The memory that may still be taken, beside what this process holds already.
pub fn left() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let held = |key| number_after(&status, key).map_or(0, |kib| kib.saturating_mul(1024));
    // Pages of mapped files are given back whenever somebody needs them.
    let memory = limit().saturating_sub(held("VmRSS:").saturating_sub(held("RssFile:")));
    // The shell's limit counts addresses, also those of memory that was never touched, and nothing can lift it from here.
    // A part is left for what is not worth asking for.
    let addresses = address_space().map_or(u64::MAX, |most| (most / 8 * 7).saturating_sub(held("VmSize:")));
    memory.min(addresses)
}

/// Refuses an allocation of `bytes` for `what`, as in "the features of train.txt", that does not fit beside what is taken already.
///
/// # Errors
/// When it does not fit; `remedy` says what makes it smaller, as in "give fewer `resamples`".
pub fn ask(bytes: u64, what: &str, remedy: &str) -> Result<()> {
    // Small requests are not worth a look at the system.
    if bytes < 1 << 20 && bytes < limit() {
        return Ok(());
    }
    let left = left();
    if bytes <= left { Ok(()) } else { Err(refusal(bytes, left, what, remedy)) }
}

/// Makes room for `more` values in `values`, and for no more than that.
///
/// # Errors
/// As [`ask`].
pub fn reserve<T>(values: &mut Vec<T>, more: usize, what: &str, remedy: &str) -> Result<()> {
    if values.capacity() - values.len() >= more {
        return Ok(());
    }
    let bytes = bytes_of::<T>(more as u64);
    ask(bytes, what, remedy)?;
    values.try_reserve_exact(more).map_err(|_| refusal(bytes, left(), what, remedy))
}

/// `count` values, all zero, in memory that was asked for.
///
/// # Errors
/// As [`ask`].
pub fn zeros<T: Default + Clone>(count: usize, what: &str, remedy: &str) -> Result<Vec<T>> {
    ask(bytes_of::<T>(count as u64), what, remedy)?;
    // The system hands out zeros without touching them, as `reserve` and `resize` would.
    Ok(vec![T::default(); count])
}

#[cold]
fn refusal(needed: u64, left: u64, what: &str, remedy: &str) -> Error {
    Error::Memory { needed, left, what: what.to_owned(), remedy: remedy.to_owned() }
}

/// The bytes of `count` values of `T`, or the largest number where that overflows.
pub fn bytes_of<T>(count: u64) -> u64 {
    count.saturating_mul(size_of::<T>() as u64)
}

/// A number of bytes for people, as in "3.2 GB".
pub fn readable(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["bytes", "kB", "MB", "GB", "TB", "PB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// The memory of the machine, of the container or of the shell's limit, whichever is least.
///
/// Only Linux tells all this in files. Elsewhere a usual machine is assumed, and [`set_limit`] says it better.
pub(crate) fn machine() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let total = number_after(&read("/proc/meminfo"), "MemTotal:").map(|kib| kib.saturating_mul(1024));
    let groups = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let containers = groups.map(|path| read(path).trim().parse().ok());
    [total, containers[0], containers[1], address_space()].into_iter().flatten().min().unwrap_or(UNKNOWN)
}

/// The shell's limit of addresses, as `ulimit -v` sets it; looked up once.
fn address_space() -> Option<u64> {
    static FOUND: OnceLock<Option<u64>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
        number_after(&limits, "Max address space")
    })
}

/// The number that follows `key`, if a number does.
fn number_after(text: &str, key: &str) -> Option<u64> {
    let (_, rest) = text.split_once(key)?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_fit_is_refused_with_the_amount() {
        ask(1000, "a little", "").unwrap();
        let error = ask(u64::MAX, "the features of a.txt", "use fewer features").unwrap_err().to_string();
        assert!(error.starts_with("the features of a.txt would take "), "{error}");
        assert!(error.contains("use fewer features, or allow more with `max_memory`"), "{error}");
        assert_eq!(bytes_of::<f32>(u64::MAX), u64::MAX);
    }

    #[test]
    fn room_is_exact_or_refused() {
        let mut values: Vec<u64> = Vec::new();
        reserve(&mut values, 1000, "some", "").unwrap();
        assert_eq!(values.capacity(), 1000);
        let error = reserve(&mut values, usize::MAX / 2, "all of it", "take less").unwrap_err().to_string();
        assert!(error.starts_with("all of it would take ") && error.contains("take less"), "{error}");
        assert_eq!(zeros::<f32>(3, "", "").unwrap(), [0.0; 3]);
        assert!(zeros::<f32>(usize::MAX, "", "").is_err());
    }

    #[test]
    fn amounts_are_readable() {
        assert_eq!([999, 1000, 3_240_000_000].map(readable), ["999 bytes", "1.0 kB", "3.2 GB"]);
    }

    #[test]
    fn numbers_are_found_behind_their_names() {
        assert_eq!(number_after("MemTotal:       24 kB\n", "MemTotal:"), Some(24));
        assert_eq!(number_after("Max address space  unlimited  unlimited\n", "Max address space"), None);
        assert_eq!(number_after("", "VmRSS:"), None);
    }
}
