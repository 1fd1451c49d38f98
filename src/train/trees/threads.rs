//! The number of threads that grow a tree.
//!
//! LightGBM's threads wait for each other many times per tree, and OpenMP waits by spinning: a thread whose core is taken by
//! another program holds up all others. More threads than there are idle cores make training slower, up to a hundred times
//! for small data. The trees are the same for any number of threads.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Values of training features for each thread: with fewer, waiting takes longer than it saves.
const VALUES_PER_THREAD: usize = 250_000;

/// How long the load that was read last is used.
const READ_AFTER: Duration = Duration::from_secs(1);

/// Cores without work for other programs, and when they were counted. All runs of this process use the same number: LightGBM has
/// one number of threads per process.
static IDLE: Mutex<Option<(Instant, usize)>> = Mutex::new(None);

/// The number of threads for training data of this number of feature values, at the load of this moment.
pub(super) fn choose(values: usize) -> usize {
    threads(values, rayon::current_num_threads(), idle_cores)
}

fn threads(values: usize, most: usize, idle_cores: impl Fn() -> usize) -> usize {
    let useful = (values / VALUES_PER_THREAD).clamp(1, most.max(1));
    if useful == 1 { 1 } else { useful.min(idle_cores().max(1)) }
}

/// Cores that no other program uses, read at most once per second; all where the system does not say.
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

/// The cores of the system, minus the threads that run and are not ours.
fn count_idle(stat: &str, ours: usize) -> Option<usize> {
    let cores = stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count();
    let running: usize = stat.lines().find_map(|line| line.strip_prefix("procs_running "))?.trim().parse().ok()?;
    (cores > 0).then(|| cores.saturating_sub(running.saturating_sub(ours)))
}

/// The threads of this process that run.
fn running_here() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    // The state follows the name, which is in parentheses and may have any character.
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
    fn threads_follow_the_work_and_the_load() {
        // 1,800 documents of 46 features are too few for two threads, whatever the load.
        assert_eq!(threads(1_800 * 46, 8, || 8), 1);
        assert_eq!(threads(0, 8, || 8), 1);
        let much = 100_000 * 136;
        assert_eq!([8, 3, 1, 0].map(|idle| threads(much, 8, || idle)), [8, 3, 1, 1]);
        assert_eq!(threads(much, 1, || 8), 1);
        assert_eq!(threads(2 * VALUES_PER_THREAD, 8, || usize::MAX), 2);
    }

    #[test]
    fn other_programs_threads_take_cores() {
        let stat = "cpu  1 2\ncpu0 1 1\ncpu1 0 1\nintr 5\nprocs_running 5\nprocs_blocked 0\n";
        assert_eq!([0, 1, 4, 5, 9].map(|ours| count_idle(stat, ours)), [0, 0, 1, 2, 2].map(Some));
        assert_eq!(count_idle("", 1), None);
        assert_eq!(count_idle("cpu0 1\nprocs_running x\n", 1), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_thread_runs() {
        assert!(running_here() >= 1);
        assert!(count_idle(&read("/proc/stat"), usize::MAX).is_some_and(|cores| cores >= 1));
    }
}
