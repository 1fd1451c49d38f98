//! Progress on standard error: a bar on a terminal, a line every few seconds otherwise.

use super::ui::{count, printable, quiet};
use burnrank::memory::readable;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Unit of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Queries,
    /// Thousandths of the total.
    Share,
    /// Elapsed time only.
    Nothing,
}

/// Delay before a bar is shown on a terminal.
const DELAY: Duration = Duration::from_secs(1);
/// Interval between updates of a bar.
const REDRAW: Duration = Duration::from_millis(100);
/// Interval between lines of a log.
const LINES: Duration = Duration::from_secs(5);
/// Time of the last line of the log, shared by all bars so that a series of short stages is logged like a long one.
static LAST_LINE: LazyLock<Mutex<Instant>> = LazyLock::new(|| Mutex::new(Instant::now()));

/// Shows progress until it is dropped, unless `--quiet` is given.
#[derive(Debug)]
pub struct Bar {
    work: Arc<Work>,
    shown: Option<JoinHandle<()>>,
}

impl Bar {
    pub fn new(what: &str, unit: Unit) -> Self {
        let work = Arc::new(Work::new(what, unit));
        let show = |work: &Work| match std::io::stderr().is_terminal() {
            true => work.draw(),
            false => work.log(LINES, &LAST_LINE, &mut std::io::stderr()),
        };
        let shared = work.clone();
        // If the thread cannot start, there is no progress bar.
        let start = || std::thread::Builder::new().name("progress".into()).spawn(move || show(&shared)).ok();
        Bar { shown: if quiet() { None } else { start() }, work }
    }

    /// Returns a bar for work of unknown size.
    pub fn working(what: &str) -> Self {
        Bar::new(what, Unit::Nothing)
    }

    /// Updates the progress, from any thread.
    pub fn update(&self, done: u64, total: Option<u64>) {
        self.work.update(done, total);
    }

    /// Returns a function like [`Bar::update`] for work of unknown size, which does not borrow the bar.
    pub fn updates(&self) -> impl Fn(u64) + Send + 'static {
        let work = self.work.clone();
        move |done| work.update(done, None)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.work.end();
        if let Some(shown) = self.shown.take() {
            // Waits for the thread so that the next output starts on a new line.
            let _ = shown.join();
        }
    }
}

/// Progress of some work.
#[derive(Debug)]
struct Work {
    what: String,
    unit: Unit,
    start: Instant,
    done: AtomicU64,
    total: AtomicU64,
    bounded: AtomicBool,
    ended: Mutex<bool>,
    wake: Condvar,
}

impl Work {
    fn new(what: &str, unit: Unit) -> Self {
        Work {
            what: printable(what),
            unit,
            start: Instant::now(),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
            bounded: AtomicBool::new(false),
            ended: Mutex::new(false),
            wake: Condvar::new(),
        }
    }

    fn update(&self, done: u64, total: Option<u64>) {
        // The size of compressed files is unknown until they are decompressed; then parsing starts from 0.
        if let Some(total) = total
            && !self.bounded.load(Ordering::Relaxed)
        {
            self.total.store(total, Ordering::Relaxed);
            self.done.store(done, Ordering::Relaxed);
            self.bounded.store(true, Ordering::Release);
        }
        // Threads do not report in order.
        self.done.fetch_max(done, Ordering::Relaxed);
    }

    fn total(&self) -> Option<u64> {
        self.bounded.load(Ordering::Acquire).then(|| self.total.load(Ordering::Relaxed))
    }

    fn end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.wake.notify_all();
    }

    /// Waits for this time, and returns whether the work continues.
    fn continues_after(&self, time: Duration) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.wake.wait_timeout_while(ended, time, |ended| !*ended);
        !*waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Draws a bar on a terminal until the work ends.
    fn draw(&self) {
        if !self.continues_after(DELAY) {
            return;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_elapsed(self.start.elapsed());
        bar.set_message(self.what.clone());
        bar.set_style(style(self.unit, self.total().is_some()));
        // Set last, so that nothing is drawn in the default style.
        bar.set_draw_target(ProgressDrawTarget::stderr());
        loop {
            if let (Some(total), None) = (self.total(), bar.length()) {
                bar.set_style(style(self.unit, true));
                bar.set_length(total);
            }
            bar.set_position(self.done.load(Ordering::Relaxed));
            bar.tick();
            if !self.continues_after(REDRAW) {
                break;
            }
        }
        bar.finish_and_clear();
    }

    /// Logs a line per interval until the work ends.
    fn log(&self, every: Duration, last: &Mutex<Instant>, log: &mut dyn Write) {
        let last = || last.lock().unwrap_or_else(PoisonError::into_inner);
        // New work prints its first line after at least a fifth of the interval.
        while self.continues_after(every.saturating_sub(last().elapsed()).max(every / 5)) {
            // A closed standard error is not an error.
            let _ = writeln!(log, "{}", self.line(self.start.elapsed()));
            *last() = Instant::now();
        }
    }

    /// Formats the progress, as in `train.txt: 1.2 GB of 3.4 GB, 35 s`.
    fn line(&self, elapsed: Duration) -> String {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total());
        let number = |number: u64| match self.unit {
            Unit::Bytes => readable(number),
            _ => count(usize::try_from(number).unwrap_or(usize::MAX)),
        };
        let progress = match (self.unit, total) {
            (Unit::Nothing, _) | (Unit::Share, None) => String::new(),
            (Unit::Share, Some(total)) => format!("{}%, ", 100 * done.min(total) / total.max(1)),
            (Unit::Bytes, None) => format!("{}, ", number(done)),
            (Unit::Bytes, Some(total)) => format!("{} of {}, ", number(done), number(total)),
            (Unit::Queries, None) => format!("{} queries, ", number(done)),
            (Unit::Queries, Some(total)) => format!("{} of {} queries, ", number(done), number(total)),
        };
        format!("{}: {progress}{} s", self.what, elapsed.as_secs())
    }
}

fn style(unit: Unit, bounded: bool) -> ProgressStyle {
    let template = match (unit, bounded) {
        (Unit::Bytes, true) => "{msg} {wide_bar} {bytes}/{total_bytes} {eta}",
        (Unit::Bytes, false) => "{msg} {spinner} {bytes} {elapsed}",
        (Unit::Share, true) => "{msg} {wide_bar} {percent}% {eta}",
        (Unit::Queries, true) => "{msg} {wide_bar} {human_pos}/{human_len} queries {eta}",
        (Unit::Queries, false) => "{msg} {spinner} {human_pos} queries {elapsed}",
        (Unit::Share, false) | (Unit::Nothing, _) => "{msg} {spinner} {elapsed}",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(unit: Unit, updates: &[(u64, Option<u64>)]) -> String {
        let work = Work::new("train.txt", unit);
        updates.iter().for_each(|&(done, total)| work.update(done, total));
        work.line(Duration::from_millis(35_900))
    }

    #[test]
    fn lines_show_the_progress() {
        let all = [(1_200_000_000, Some(3_400_000_000))];
        assert_eq!(line(Unit::Bytes, &all), "train.txt: 1.2 GB of 3.4 GB, 35 s");
        assert_eq!(line(Unit::Bytes, &[(500, None)]), "train.txt: 500 bytes, 35 s");
        assert_eq!(line(Unit::Share, &[(125, Some(1000))]), "train.txt: 12%, 35 s");
        assert_eq!(line(Unit::Queries, &[(7, Some(1000))]), "train.txt: 7 of 1,000 queries, 35 s");
        assert_eq!(line(Unit::Nothing, &[]), "train.txt: 35 s");
        // Late updates of threads are ignored, but not the first with a total.
        assert_eq!(line(Unit::Queries, &[(9, Some(10)), (3, Some(10))]), "train.txt: 9 of 10 queries, 35 s");
        assert_eq!(line(Unit::Queries, &[(900, None), (3, Some(10))]), "train.txt: 3 of 10 queries, 35 s");
    }

    #[test]
    fn a_log_gets_lines_until_the_work_ends() {
        let work = Work::new("long\u{1b}", Unit::Nothing);
        let last = Mutex::new(Instant::now());
        let mut log = Vec::new();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| work.log(Duration::from_millis(1), &last, &mut log));
            std::thread::sleep(Duration::from_millis(50));
            work.end();
            writer.join().expect("the log ends");
        });
        let text = String::from_utf8(log).expect("text");
        assert!(text.lines().count() >= 2 && text.lines().all(|line| line == "long\\u{1b}: 0 s"), "{text}");
    }

    #[test]
    fn short_work_leaves_no_line() {
        let work = Work::new("short", Unit::Nothing);
        work.end();
        let mut log = Vec::new();
        work.log(Duration::from_secs(60), &Mutex::new(Instant::now()), &mut log);
        assert!(log.is_empty());
    }

    #[test]
    fn stages_share_the_interval_between_lines() {
        let last = &Mutex::new(Instant::now());
        let mut log = Vec::new();
        // Each stage is shorter than the interval.
        for _ in 0..20 {
            let work = &Work::new("stage", Unit::Nothing);
            let log = &mut log;
            std::thread::scope(|scope| {
                scope.spawn(move || work.log(Duration::from_millis(60), last, log));
                std::thread::sleep(Duration::from_millis(20));
                work.end();
            });
        }
        assert!(!log.is_empty());
    }
}
