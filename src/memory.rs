//! The memory limit of this process.
//!
//! Allocations whose size depends on user input are checked here first. Above the limit they return an error with the amount and
//! a remedy, whereas a failed allocation would abort the program.

use crate::error::{Error, Result};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The limit in bytes; 0 until it is set or determined.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Assumed memory in bytes if the system does not report it.
const UNKNOWN: u64 = 8 << 30;

/// Returns the memory limit in bytes, by default three quarters of the machine's memory.
pub fn limit() -> u64 {
    match LIMIT.load(Ordering::Relaxed) {
        0 => {
            let default = machine() / 4 * 3;
            LIMIT.store(default, Ordering::Relaxed);
            default
        }
        set => set,
    }
}

/// Sets the memory limit in bytes: the setting `max_memory`.
pub fn set_limit(bytes: u64) {
    LIMIT.store(bytes.max(1), Ordering::Relaxed);
}

/// Returns the available memory in bytes: the limit minus the memory in use.
pub fn left() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let held = |key| number_after(&status, key).map_or(0, |kib| kib.saturating_mul(1024));
    // The system reclaims the pages of mapped files when it needs them.
    let memory = limit().saturating_sub(held("VmRSS:").saturating_sub(held("RssFile:")));
    // The shell's limit (`ulimit -v`) counts addresses, including those of untouched memory. An eighth is reserved for small
    // allocations, which are not checked.
    let addresses = address_space().map_or(u64::MAX, |limit| (limit / 8 * 7).saturating_sub(held("VmSize:")));
    memory.min(addresses)
}

/// Checks that `bytes` are available for `what`, for example "the features of train.txt".
///
/// # Errors
/// Fails if they are not. `remedy` states how to reduce them, as in "give fewer `resamples`".
pub fn ask(bytes: u64, what: &str, remedy: &str) -> Result<()> {
    // Reading the memory in use costs more than a small allocation.
    if bytes < 1 << 20 && bytes < limit() {
        return Ok(());
    }
    let left = left();
    if bytes <= left { Ok(()) } else { Err(refusal(bytes, left, what, remedy)) }
}

/// Reserves capacity for exactly `more` additional values.
///
/// # Errors
/// Fails like [`ask`].
pub fn reserve<T>(values: &mut Vec<T>, more: usize, what: &str, remedy: &str) -> Result<()> {
    if values.capacity() - values.len() >= more {
        return Ok(());
    }
    let bytes = bytes_of::<T>(more as u64);
    ask(bytes, what, remedy)?;
    values.try_reserve_exact(more).map_err(|_| refusal(bytes, left(), what, remedy))
}

/// Returns `count` zeros after checking the available memory.
///
/// # Errors
/// Fails like [`ask`].
pub fn zeros<T: Default + Clone>(count: usize, what: &str, remedy: &str) -> Result<Vec<T>> {
    ask(bytes_of::<T>(count as u64), what, remedy)?;
    // `vec!` gets zeroed pages from the system; `reserve` and `resize` would write to them.
    Ok(vec![T::default(); count])
}

#[cold]
fn refusal(needed: u64, left: u64, what: &str, remedy: &str) -> Error {
    Error::Memory { needed, left, what: what.to_owned(), remedy: remedy.to_owned() }
}

/// Returns the size of `count` values of `T` in bytes; `u64::MAX` if it overflows.
pub fn bytes_of<T>(count: u64) -> u64 {
    count.saturating_mul(size_of::<T>() as u64)
}

/// Formats a number of bytes, as in "3.2 GB".
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

/// Returns the smallest of the machine's memory, the container's limit and the shell's limit, in bytes.
///
/// Only Linux reports them in files. For other systems a constant is assumed; use [`set_limit`] there.
pub(crate) fn machine() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let total = number_after(&read("/proc/meminfo"), "MemTotal:").map(|kib| kib.saturating_mul(1024));
    let groups = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let containers = groups.map(|path| read(path).trim().parse().ok());
    [total, containers[0], containers[1], address_space()].into_iter().flatten().min().unwrap_or(UNKNOWN)
}

/// Returns the limit on virtual memory (`ulimit -v`), read once.
fn address_space() -> Option<u64> {
    static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
        number_after(&limits, "Max address space")
    })
}

/// Returns the number that follows `key`, if any.
fn number_after(text: &str, key: &str) -> Option<u64> {
    let (_, rest) = text.split_once(key)?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_above_the_limit_are_errors() {
        ask(1000, "a little", "").unwrap();
        let error = ask(u64::MAX, "the features of a.txt", "use fewer features").unwrap_err().to_string();
        assert!(error.starts_with("the features of a.txt would take "), "{error}");
        assert!(error.contains("use fewer features, or allow more with `max_memory`"), "{error}");
        assert_eq!(bytes_of::<f32>(u64::MAX), u64::MAX);
    }

    #[test]
    fn reserve_is_exact_or_an_error() {
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
    fn numbers_follow_their_keys() {
        assert_eq!(number_after("MemTotal:       24 kB\n", "MemTotal:"), Some(24));
        assert_eq!(number_after("Max address space  unlimited  unlimited\n", "Max address space"), None);
        assert_eq!(number_after("", "VmRSS:"), None);
    }
}
