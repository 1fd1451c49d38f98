//! Runs jobs in parallel, each with its own threads.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Calls `work` with every job, in order, as many at a time as there are threads.
///
/// Each worker has its own thread pool: a job that waits for its parts never executes parts of another job meanwhile, and with
/// one thread per job small operations have no scheduling overhead.
///
/// # Errors
/// The first error; no further job is started.
pub(super) fn each<T: Sync>(jobs: &[T], work: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    let threads = rayon::current_num_threads();
    let workers = threads.min(jobs.len()).max(1);
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let worker = || -> Result<()> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads / workers).build();
        let pool =
            pool.map_err(|error| Error::Device(format!("cannot start threads: {error}: use fewer `threads`")))?;
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if failed.load(Ordering::Relaxed) {
                break;
            }
            pool.install(|| work(job)).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        let results = workers.into_iter().map(|worker| worker.join());
        // Join all threads before returning the first error.
        let all: Vec<Result<()>> =
            results.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect();
        all.into_iter().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn every_job_runs_once_and_an_error_stops_the_rest() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let done = Mutex::new(Vec::new());
        let jobs: Vec<usize> = (0..20).collect();
        pool.install(|| {
            each(&jobs, |job| {
                done.lock().unwrap().push(*job);
                Ok(())
            })
        })
        .unwrap();
        let mut all = done.into_inner().unwrap();
        all.sort_unstable();
        assert_eq!(all, jobs);
        let fails = |job: &usize| if *job == 1 { Err(Error::Stopped) } else { Ok(()) };
        assert!(matches!(pool.install(|| each(&jobs, fails)), Err(Error::Stopped)));
        each(&[], |_: &usize| Err(Error::Stopped)).unwrap();
    }
}
