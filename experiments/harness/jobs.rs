//! Runs independent jobs in parallel, one core each; stores each result at once and shows the remaining time.

use super::{Execution, Finding};
use anyhow::{Context, bail};
use burnrank::internal::text::duration;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One job: a unique name within its experiment, its maximum amount of work, and its input.
pub struct Job<T> {
    pub key: String,
    /// In any unit, the same for all jobs of an experiment.
    pub work: f64,
    pub what: T,
}

/// Caches the most recent value that several jobs share, such as a fold's data.
pub struct OneEntryCache<K, V>(Mutex<Option<(K, Arc<V>)>>);

impl<K, V> Default for OneEntryCache<K, V> {
    fn default() -> Self {
        OneEntryCache(Mutex::new(None))
    }
}

impl<K: PartialEq, V> OneEntryCache<K, V> {
    /// Returns the value cached under a key, or calls `make` and caches its result.
    pub fn get(&self, key: K, make: impl FnOnce() -> anyhow::Result<V>) -> anyhow::Result<Arc<V>> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = cached.as_ref().filter(|(known, _)| *known == key) {
            return Ok(value.clone());
        }
        let value = Arc::new(make()?);
        *cached = Some((key, value.clone()));
        Ok(value)
    }
}

/// Progress of all jobs.
struct JobsProgress {
    bar: ProgressBar,
    start: Instant,
    total: f64,
    done: Mutex<(f64, usize)>,
    runs: usize,
}

/// Progress of one job.
pub struct Ticker<'a> {
    progress: &'a JobsProgress,
    work: f64,
    reported: Mutex<f64>,
}

impl Execution<'_> {
    /// Returns the result of every job, in order: from `results.json` if it is stored there, otherwise by running the job.
    ///
    /// Each job has a single thread, so that results do not depend on the number of threads and small operations have no
    /// scheduling overhead.
    pub fn run_all<T: Sync, R: Finding>(
        &self,
        jobs: &[Job<T>],
        each: impl Fn(&Job<T>, &Ticker<'_>) -> anyhow::Result<R> + Sync,
    ) -> anyhow::Result<Vec<R>> {
        self.check::<T, R>(jobs)?;
        let open: Vec<&Job<T>> = jobs.iter().filter(|job| self.store.get(&job.key).is_none()).collect();
        if open.len() < jobs.len() {
            eprintln!("{} of {} runs are stored", jobs.len() - open.len(), jobs.len());
        }
        if let Some(job) = open.first().filter(|_| self.session.stored) {
            bail!("{}: run '{}' is missing, and --stored starts no run", self.store.file().display(), job.key);
        }
        let progress = JobsProgress::new(&open);
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || -> anyhow::Result<()> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
            while let Some(job) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                if failed.load(Ordering::Relaxed) {
                    break;
                }
                let start = Instant::now();
                let ticker = Ticker { progress: &progress, work: job.work, reported: Mutex::new(0.0) };
                let outcome = pool
                    .install(|| Ok(serde_json::to_value(each(job, &ticker)?)?))
                    .and_then(|run| self.store.put(&job.key, run, start.elapsed().as_secs_f64()));
                if let Err(error) = outcome {
                    failed.store(true, Ordering::Relaxed);
                    return Err(error.context(format!("run {}", job.key)));
                }
                ticker.tick(1.0);
                progress.finished(&job.key, start.elapsed());
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.session.jobs.min(open.len())).map(|_| scope.spawn(work)).collect();
            let results = workers.into_iter().map(|worker| worker.join());
            // Join all threads before returning the first error.
            let all: Vec<anyhow::Result<()>> =
                results.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect();
            all.into_iter().collect::<anyhow::Result<()>>()
        })
        .and_then(|()| {
            progress.bar.finish_and_clear();
            jobs.iter().map(|job| self.stored(&job.key)).collect()
        })
    }
}

impl Execution<'_> {
    /// Rejects a file with impossible results before hours are spent on missing runs. For experiments that call
    /// [`Execution::run_all`] more than once.
    pub fn check<T, R: Finding>(&self, jobs: &[Job<T>]) -> anyhow::Result<()> {
        let mut there = jobs.iter().filter(|job| self.store.get(&job.key).is_some());
        there.try_for_each(|job| self.stored::<R>(&job.key).map(drop))
    }

    /// Returns a run stored in `results.json`.
    fn stored<R: Finding>(&self, key: &str) -> anyhow::Result<R> {
        let wrong = || {
            let file = self.store.file();
            format!("{}: run '{key}' has an impossible result; remove its line or rerun with --fresh", file.display())
        };
        let run = self.store.get(key).with_context(|| format!("run {key} is missing"))?;
        if let Some(number) = absurd(&run) {
            return Err(anyhow::anyhow!("{number} is not a result")).with_context(wrong);
        }
        let found: R = serde_json::from_value(run).with_context(wrong)?;
        match found.impossible() {
            Some(why) => Err(anyhow::anyhow!(why)).with_context(wrong),
            None => Ok(found),
        }
    }
}

/// Returns a number in a run that is too large to be a measurement, if there is one.
fn absurd(run: &Value) -> Option<f64> {
    match run {
        Value::Number(number) => number.as_f64().filter(|number| number.abs() > 1e15),
        Value::Array(values) => values.iter().find_map(absurd),
        Value::Object(values) => values.values().find_map(absurd),
        _ => None,
    }
}

impl JobsProgress {
    fn new<T>(jobs: &[&Job<T>]) -> JobsProgress {
        let visible = std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(1000), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent}% {msg}") {
            bar.set_style(style);
        }
        let total = jobs.iter().map(|job| job.work).sum();
        JobsProgress { bar, start: Instant::now(), total, done: Mutex::new((0.0, 0)), runs: jobs.len() }
    }

    fn add(&self, work: f64) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.0 += work;
        self.bar.set_position((1000.0 * done.0 / self.total) as u64);
        self.bar.set_message(format!("{} of {} runs, {}", done.1, self.runs, self.left(done.0)));
    }

    fn left(&self, done: f64) -> String {
        let seconds = self.start.elapsed().as_secs_f64() * (self.total - done).max(0.0) / done.max(1e-9);
        format!("about {} left", duration(seconds))
    }

    fn finished(&self, key: &str, time: Duration) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.1 += 1;
        let line = format!("[{}/{}] {key}: {}, {}", done.1, self.runs, duration(time.as_secs_f64()), self.left(done.0));
        if self.bar.is_hidden() { eprintln!("{line}") } else { self.bar.println(line) }
    }
}

impl Ticker<'_> {
    /// Reports the completed share of the job.
    pub fn tick(&self, share: f64) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let more = (share.min(1.0) - *reported).max(0.0);
        *reported += more;
        self.progress.add(more * self.work);
    }
}
