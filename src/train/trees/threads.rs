//! Choice of the number of threads for growing a tree.
//!
//! LightGBM's threads synchronise many times per tree, and OpenMP waits by spinning: a thread whose core is busy with
//! another program delays all others. More threads than idle cores slow training down, up to a hundred times for small
//! data. The trees do not depend on the number of threads.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Minimum number of feature values per thread; below it, synchronisation costs more than a thread saves.
const VALUES_PER_THREAD: usize = 250_000;

/// How long a reading of the load stays valid.
const READ_AFTER: Duration = Duration::from_secs(1);

/// Number of idle cores, and when they were counted. All runs of the process share it, as LightGBM's number of threads
/// is global.
static IDLE: Mutex<Option<(Instant, usize)>> = Mutex::new(None);

/// The number of threads for training data with `values` feature values, at the current load.
pub(super) fn choose(values: usize) -> usize {
    threads(values, rayon::current_num_threads(), idle_cores)
}

fn threads(values: usize, max_threads: usize, idle_cores: impl Fn() -> usize) -> usize {
    let useful = (values / VALUES_PER_THREAD).clamp(1, max_threads.max(1));
    if useful == 1 { 1 } else { useful.min(idle_cores().max(1)) }
}

/// Number of cores that no other program uses, read at most once per second; unlimited if the system does not report
/// it.
fn idle_cores() -> usize {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    match *idle {
        Some((read, cores)) if read.elapsed() < READ_AFTER => cores,
        _ => {
            let cores = count_idle(&read("/proc/stat"), running_here()).unwrap_or(usize::MAX);
            *idle = Some((Instant::now(), cores));
            cores
        }
    }
}

/// The number of cores minus the number of running threads of other processes, from the text of `/proc/stat`.
fn count_idle(stat: &str, ours: usize) -> Option<usize> {
    let cores = stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count();
    let running: usize = stat.lines().find_map(|line| line.strip_prefix("procs_running "))?.trim().parse().ok()?;
    (cores > 0).then(|| cores.saturating_sub(running.saturating_sub(ours)))
}

/// The number of running threads of this process.
fn running_here() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    // The state follows the name, which is in parentheses and may contain any character.
    let runs = |text: &str| text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'));
    threads.filter(|thread| std::fs::read_to_string(thread.path().join("stat")).is_ok_and(|text| runs(&text))).count()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_depend_on_data_size_and_load() {
        // 1,800 documents of 46 features are too few for two threads, whatever the load.
        assert_eq!(threads(1_800 * 46, 8, || 8), 1);
        assert_eq!(threads(0, 8, || 8), 1);
        let large = 100_000 * 136;
        assert_eq!([8, 3, 1, 0].map(|idle| threads(large, 8, || idle)), [8, 3, 1, 1]);
        assert_eq!(threads(large, 1, || 8), 1);
        assert_eq!(threads(2 * VALUES_PER_THREAD, 8, || usize::MAX), 2);
    }

    #[test]
    fn threads_of_other_programs_reduce_the_number_of_idle_cores() {
        let stat = "cpu  1 2\ncpu0 1 1\ncpu1 0 1\nintr 5\nprocs_running 5\nprocs_blocked 0\n";
        assert_eq!([0, 1, 4, 5, 9].map(|ours| count_idle(stat, ours)), [0, 0, 1, 2, 2].map(Some));
        assert_eq!(count_idle("", 1), None);
        assert_eq!(count_idle("cpu0 1\nprocs_running x\n", 1), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_thread_counts_as_running() {
        assert!(running_here() >= 1);
        assert!(count_idle(&read("/proc/stat"), usize::MAX).is_some_and(|cores| cores >= 1));
    }
}
