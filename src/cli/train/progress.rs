//! Progress of training on standard error: a bar on a terminal, else a line every few seconds.

use crate::cli::ui;
use burnrank::train::Ensemble;
use burnrank::{TrainConfig, Trainer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval between lines, and before the first.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Minimum number of feature values for a line about scaling.
const MANY_VALUES: usize = 20_000_000;

/// Progress of a run on standard error.
pub struct TrainingProgress {
    metric: String,
    bar: ProgressBar,
    lines: Option<Lines>,
}

impl TrainingProgress {
    /// For a run that continues after epoch `before`.
    pub fn new(config: &TrainConfig, title: &str, before: usize) -> Self {
        let terminal = std::io::stderr().is_terminal() && !ui::quiet();
        let target = if terminal { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(config.epochs as u64), target);
        let style = ProgressStyle::with_template("{prefix}epoch {pos}/{len} {wide_bar} {msg} {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let prefix = if title.is_empty() { String::new() } else { format!("{}: ", ui::printable(title)) };
        bar.set_prefix(prefix.clone());
        bar.set_position(before as u64);
        let run = Run { prefix, epochs: config.epochs, before, done: before, message: String::new(), over: false };
        let lines = if terminal || ui::quiet() { None } else { Lines::start(run) };
        TrainingProgress { metric: config.metric.clone(), bar, lines }
    }

    /// Shows a finished epoch.
    pub fn epoch(&mut self, members: &Ensemble<'_>) {
        let (done, message) = (members.epochs(), format!("{} {}", self.metric, status(members.members())));
        if let Some(lines) = &self.lines {
            lines.change(|run| (run.done, run.message) = (done, message.clone()));
        }
        self.bar.set_message(message);
        self.bar.set_position(done as u64);
    }
}

/// The validation values of the members so far.
fn status(members: &[Trainer<'_>]) -> String {
    let best = |member: &Trainer<'_>| member.history().iter().rfind(|epoch| epoch.best).cloned();
    if let [only] = members {
        let now = only.history().last().map_or(f64::NAN, |epoch| epoch.valid);
        let best = best(only).map_or(String::new(), |best| format!(" (best {:.4} at {})", best.valid, best.epoch));
        return format!("{now:.4}{best}");
    }
    let values: Vec<f64> = members.iter().filter_map(best).map(|epoch| epoch.valid).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let active = members.iter().filter(|member| member.finished().is_none()).count();
    format!("{mean:.4} (mean of members), {active} of {} members still training", members.len())
}

impl Drop for TrainingProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The state that lines show.
struct Run {
    prefix: String,
    epochs: usize,
    /// Epochs before this run was resumed.
    before: usize,
    done: usize,
    message: String,
    over: bool,
}

impl Run {
    fn line(&self, elapsed: Duration) -> String {
        let Run { prefix, epochs, before, done, message, .. } = self;
        let since_resumed = done.saturating_sub(*before);
        if since_resumed == 0 {
            return format!("{prefix}epoch {}/{epochs}, {} so far", done + 1, time(elapsed.as_secs_f64()));
        }
        let left = elapsed.as_secs_f64() / since_resumed as f64 * epochs.saturating_sub(*done) as f64;
        format!("{prefix}epoch {done}/{epochs} {message}, {} left", time(left))
    }
}

fn time(seconds: f64) -> String {
    match seconds.round() as u64 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h", seconds.div_ceil(3600)),
    }
}

/// A thread that writes a line every few seconds, even during a long epoch.
struct Lines {
    run: Arc<(Mutex<Run>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Lines {
    fn start(run: Run) -> Option<Self> {
        let run = Arc::new((Mutex::new(run), Condvar::new()));
        let shared = Arc::clone(&run);
        let start = Instant::now();
        let watch = move || {
            let (run, changed) = &*shared;
            let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
            while !run.over {
                let waited = changed.wait_timeout_while(run, LINE_INTERVAL, |run| !run.over);
                run = waited.unwrap_or_else(PoisonError::into_inner).0;
                if !run.over {
                    // A closed standard error is no problem.
                    let _ = writeln!(std::io::stderr(), "{}", run.line(start.elapsed()));
                }
            }
        };
        // If the thread cannot start, only the lines are missing.
        let thread = std::thread::Builder::new().name("progress".into()).spawn(watch).ok()?;
        Some(Lines { run, thread: Some(thread) })
    }

    fn change(&self, change: impl FnOnce(&mut Run)) {
        let (run, changed) = &*self.run;
        change(&mut run.lock().unwrap_or_else(PoisonError::into_inner));
        changed.notify_all();
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.change(|run| run.over = true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Progress of scaling `values` feature values, which takes a while on large data.
pub fn scaling(values: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    if ui::quiet() {
        return bar;
    }
    let text = format!("scaling {} feature values", ui::count(values));
    if std::io::stderr().is_terminal() {
        bar.set_style(ProgressStyle::with_template("{msg} {spinner}").unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(text);
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        bar.enable_steady_tick(Duration::from_millis(200));
    } else if values >= MANY_VALUES {
        let _ = writeln!(std::io::stderr(), "{text}");
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_epoch_and_the_remaining_time() {
        let line = |before, done, seconds| {
            let (prefix, message) = ("Fold1: ".to_owned(), "map 0.5000 (best 0.6000 at 2)".to_owned());
            Run { prefix, epochs: 100, before, done, message, over: false }.line(Duration::from_secs(seconds))
        };
        assert_eq!(line(0, 50, 10), "Fold1: epoch 50/100 map 0.5000 (best 0.6000 at 2), 10 s left");
        assert_eq!(line(0, 0, 10), "Fold1: epoch 1/100, 10 s so far");
        // Epochs before a resumption took no time of this run.
        assert!(line(40, 50, 10).ends_with(", 50 s left"));
        assert_eq!(line(40, 40, 5), "Fold1: epoch 41/100, 5 s so far");
        assert!(line(0, 1, 2).ends_with(", 4 min left"));
        assert!(line(0, 1, 1000).ends_with(", 28 h left"));
        assert!(line(0, 100, 1000).ends_with(", 0 s left"));
    }
}
