//! How far training has come: a bar on a terminal, a line every few seconds elsewhere.

use crate::cli::ui;
use burnrank::{EpochRecord, TrainConfig};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The least time between two lines, and before the first.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// Feature values whose scaling takes long enough to be told of.
const MANY_VALUES: usize = 20_000_000;

/// What a user sees of a run on standard error.
pub struct Progress {
    bar: ProgressBar,
    /// When the last line was written; none are on a terminal, or for users who want none.
    last_line: Option<Instant>,
    start: Instant,
    /// The epochs that are not of this run, but of the one that it goes on with.
    before: usize,
    metric: String,
    epochs: usize,
    prefix: String,
}

impl Progress {
    /// Of a run of this title that goes on after epoch `before`.
    pub fn new(config: &TrainConfig, title: &str, before: usize) -> Self {
        let terminal = std::io::stderr().is_terminal() && !ui::quiet();
        let target = if terminal { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(config.epochs as u64), target);
        let style = ProgressStyle::with_template("{prefix}epoch {pos}/{len} {wide_bar} {msg} {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let prefix = if title.is_empty() { String::new() } else { format!("{title}: ") };
        bar.set_prefix(prefix.clone());
        bar.set_position(before as u64);
        let start = Instant::now();
        let last_line = (!terminal && !ui::quiet()).then_some(start);
        let (metric, epochs) = (config.metric.clone(), config.epochs);
        Progress { bar, last_line, start, before, metric, epochs, prefix }
    }

    /// An epoch is over; `best` is the best one so far.
    pub fn epoch(&mut self, epoch: &EpochRecord, best: Option<&EpochRecord>) {
        let best = best.map_or(String::new(), |best| format!(" (best {:.4} at {})", best.valid, best.epoch));
        let message = format!("{} {:.4}{best}", self.metric, epoch.valid);
        if self.last_line.is_some_and(|last| last.elapsed() >= BETWEEN_LINES) {
            let left = self.left(epoch.epoch, self.start.elapsed());
            let Progress { prefix, epochs, .. } = self;
            // When nobody hears it, there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "{prefix}epoch {}/{epochs} {message}, {left} left", epoch.epoch);
            self.last_line = Some(Instant::now());
        }
        self.bar.set_message(message);
        self.bar.set_position(epoch.epoch as u64);
    }

    /// The time that the other epochs take if they are like those of this run so far.
    fn left(&self, done: usize, elapsed: Duration) -> String {
        let own = done.saturating_sub(self.before).max(1) as f64;
        let seconds = elapsed.as_secs_f64() / own * self.epochs.saturating_sub(done) as f64;
        match seconds.round() as u64 {
            seconds @ 0..120 => format!("{seconds} s"),
            seconds @ 120..7200 => format!("{} min", seconds.div_ceil(60)),
            seconds => format!("{} h", seconds.div_ceil(3600)),
        }
    }

    /// The run is over.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}

/// Says what is done between reading and the first epoch, which on large data takes a while.
pub fn preparing(values: usize) -> ProgressBar {
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
    fn the_time_left_counts_the_epochs_of_this_run() {
        let config = TrainConfig { epochs: 100, ..TrainConfig::default() };
        let left = |before, done, seconds| Progress::new(&config, "", before).left(done, Duration::from_secs(seconds));
        assert_eq!(left(0, 50, 10), "10 s");
        assert_eq!(left(40, 50, 10), "50 s");
        assert_eq!(left(0, 1, 2), "4 min");
        assert_eq!(left(0, 1, 1000), "28 h");
        assert_eq!(left(0, 100, 1000), "0 s");
    }
}
