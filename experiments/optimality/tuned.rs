//! Training with the step size that validation queries choose, alike for all that is compared.

use super::descent::{Net, Plan, Trained, Updates, descend};
use crate::harness::finding::{no_epoch, no_learning_rate, no_share};
use crate::harness::trainings::Went;
use crate::harness::tuning::{Tuned, tune};
use crate::harness::{NetShape, Ticker};
use burnrank::{Dataset, Metric, Objective};
use serde::{Deserialize, Serialize};

/// How long is trained, and with which step sizes.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Schedule {
    /// Rising; where the best is at an end, the search goes on beyond, so many times at most.
    pub learning_rates: &'static [f64],
    pub extensions: usize,
    /// The epochs that each step size is tried for.
    pub search_epochs: usize,
    pub epochs: usize,
    /// After so many idle epochs there is a new start, up to so many starts.
    pub restart: usize,
    pub starts: usize,
    /// Whether an epoch is idle when its validation value is that of the one before; else when it is not the best yet.
    pub constant: bool,
    /// Training is over when the step size is below this share of the first.
    pub frozen: f64,
}

/// One start, which ends when validation does not get better.
pub const PATIENT: Schedule = Schedule {
    learning_rates: &[],
    extensions: 0,
    search_epochs: 0,
    epochs: 0,
    restart: 0,
    starts: 1,
    constant: false,
    frozen: 0.0,
};

/// Chooses the step size by the best validation value of the first epochs, then trains with it.
pub fn train_tuned(
    (objective, measure): (&Objective, &dyn Metric),
    schedule: &Schedule,
    (shape, seed, updates): (NetShape, u64, Updates),
    [train, valid]: [&Dataset; 2],
    (ticker, share): (&Ticker<'_>, [f64; 2]),
) -> anyhow::Result<(Tuned, Trained)> {
    let Schedule { restart, starts, constant, frozen, search_epochs, epochs, .. } = *schedule;
    let go = |learning_rate: f64, epochs: usize, tick: &mut dyn FnMut(f64)| {
        let plan = Plan {
            objective,
            measure,
            learning_rate,
            updates,
            epochs,
            restart,
            constant,
            frozen,
            starts,
            seed,
            keep: &[],
        };
        descend(&plan, Net::random(train.n_features(), shape, seed), train, valid, tick)
    };
    let expected = (schedule.learning_rates.len() * search_epochs) as f64;
    let searched = expected / (expected + epochs as f64);
    let within = |part: f64| ticker.tick(share[0] + (share[1] - share[0]) * part);
    let mut trials = 0.0;
    let tuned = tune(schedule.learning_rates, schedule.extensions, |learning_rate| {
        trials += 1.0;
        // What diverges at once reached nothing.
        let value = go(learning_rate, search_epochs, &mut |_| ())?.valid.max(0.0);
        within((searched * trials / schedule.learning_rates.len() as f64).min(searched));
        Ok(value)
    })?;
    let trained = go(tuned.best, epochs, &mut |part| within(searched + (1.0 - searched) * part))?;
    Ok((tuned, trained))
}

/// How a training went, as results store it beside what it found.
#[derive(Debug, Serialize, Deserialize)]
pub struct Course {
    pub learning_rate: f64,
    /// Each step size of the search with what it reached on validation queries.
    pub trials: Vec<(f64, f64)>,
    pub at_edge: bool,
    pub best_epoch: usize,
    pub epochs: usize,
}

impl Course {
    pub fn of(Tuned { best: learning_rate, trials, at_edge }: Tuned, trained: &Trained) -> Course {
        Course { learning_rate, trials, at_edge, best_epoch: trained.best_epoch, epochs: trained.epochs.len() }
    }

    /// One line of the table of limits.
    pub fn went(&self, what: impl Into<String>, schedule: &Schedule) -> Went {
        Went {
            step: Some(self.learning_rate),
            at_edge: Some(self.at_edge),
            ..Went::new(what, self.best_epoch, schedule.epochs)
        }
    }

    /// Why no training can have gone so, if so.
    pub fn impossible(&self) -> Option<String> {
        no_learning_rate(self.trials.iter().map(|trial| trial.0).chain([self.learning_rate]))
            .or_else(|| no_share("a validation value", self.trials.iter().map(|trial| trial.1)))
            .or_else(|| no_epoch(self.best_epoch, self.epochs))
    }
}

/// How the step size is chosen and training ends, in words.
pub fn words(schedule: &Schedule, factor: &str) -> String {
    let learning_rates: Vec<String> =
        schedule.learning_rates.iter().map(|learning_rate| burnrank::internal::text::number(*learning_rate)).collect();
    let idle =
        if schedule.constant { "whose validation value stays the same" } else { "without a better validation value" };
    let end = match schedule.starts {
        1 => "training is over".to_owned(),
        starts => format!("training starts again from other random weights, up to {starts} starts; then it is over"),
    };
    let frozen = match schedule.frozen {
        0.0 => String::new(),
        share => format!(
            " It is over too when the step size is below {} of the first.",
            burnrank::internal::text::number(share)
        ),
    };
    format!(
        "The step size is one of {} (further by {factor} steps where the best is at an end), by the best validation \
         value of {} epochs; everything that is compared has the same grid. Then up to {} epochs; when the training \
         value fell, the step size is multiplied by 0.8 with probability 0.3 (section 7 of the paper); after {} \
         epochs {idle} {end}.{frozen}",
        learning_rates.join(", "),
        schedule.search_epochs,
        schedule.epochs,
        schedule.restart
    )
}
