//! Progress over several experiments, and the time left.

use super::{Experiment, Session, folder_of, store};
use burnrank::internal::text::duration;
use std::time::Instant;

/// What a finished experiment takes: its report is written again.
const FINISHED: f64 = 0.02;

/// What a quick run takes.
const QUICK: f64 = 0.05;

/// Experiments that run one after another.
pub struct Progress {
    /// Expected minutes of each; little if all of its runs are stored.
    minutes: Vec<f64>,
    start: Instant,
}

impl Progress {
    pub fn new(session: &Session, experiments: &[&Experiment]) -> Progress {
        let minutes = |experiment: &&Experiment| {
            let finished = !session.fresh && !experiment.timed && is_finished(session, experiment);
            if finished || session.stored { FINISHED } else { session.scale.pick(minutes(experiment.time), QUICK) }
        };
        Progress { minutes: experiments.iter().map(minutes).collect(), start: Instant::now() }
    }

    /// How many experiments precede the one at `place`, and about how long it and the later ones take.
    ///
    /// Durations are those that the experiments state, scaled by how long the earlier ones took.
    pub fn words(&self, place: usize) -> String {
        let left = left(&self.minutes, place, self.start.elapsed().as_secs_f64());
        format!("{} of {}, about {} left", place + 1, self.minutes.len(), duration(left))
    }
}

/// Seconds left from `place` on, after `elapsed` seconds for those before it.
fn left(minutes: &[f64], place: usize, elapsed: f64) -> f64 {
    let (before, after): (f64, f64) = (minutes[..place].iter().sum(), minutes[place..].iter().sum());
    // The first minutes say little about the speed of the machine.
    let factor = if before >= 1.0 { (elapsed / (60.0 * before)).clamp(0.1, 10.0) } else { 1.0 };
    60.0 * after * factor
}

/// Whether the stored results are complete and have the session's scale and seed.
fn is_finished(session: &Session, experiment: &Experiment) -> bool {
    let stored = store::read(&folder_of(&session.out, experiment.name)).ok().flatten();
    stored.is_some_and(|results| {
        let header = &results.header;
        !results.outcome.is_null() && header.scale == session.scale.name() && header.seed == session.seed
    })
}

/// Minutes of a duration in words, such as "about 6 minutes"; 1 if it is shorter or depends on data.
fn minutes(words: &str) -> f64 {
    let number = words.split(|c: char| !c.is_ascii_digit()).find_map(|word| word.parse().ok());
    number.filter(|_| words.contains("minutes")).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_from_words() {
        let words = ["about 6 minutes", "about 30 minutes (with MQ2007)", "a second", "hours for WEB30K"];
        assert_eq!(words.map(minutes), [6.0, 30.0, 1.0, 1.0]);
    }

    #[test]
    fn the_time_left_follows_the_speed_so_far() {
        let all = [2.0, 6.0, 4.0];
        assert_eq!(left(&all, 0, 0.0), 720.0);
        // Two minutes took four.
        assert_eq!(left(&all, 1, 240.0), 1200.0);
        assert_eq!(left(&[FINISHED, 6.0], 1, 50.0), 360.0);
    }
}
