//! Winner takes all.

use super::ties::mean_over_ties;
use super::{Metric, MetricEntry, Swaps};
use crate::name::Cutoff;
use std::sync::Arc;

pub(super) const ROW: MetricEntry = MetricEntry {
    name: "wta",
    aliases: &["winner-takes-all"],
    parameters: &[],
    cutoff: Cutoff::No,
    help: "1 if the top document has the query's highest label",
    make: |_| Arc::new(Wta { rate: Rate::Accuracy }),
};

pub(super) const ERROR_ROW: MetricEntry = MetricEntry {
    name: "wta-error",
    aliases: &["wta-cost"],
    parameters: &[],
    cutoff: Cutoff::No,
    help: "1 - wta",
    make: |_| Arc::new(Wta { rate: Rate::Error }),
};

/// Whether a metric counts successes or failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rate {
    /// Successes: higher is better.
    #[default]
    Accuracy,
    /// Failures, 1 - successes: lower is better.
    Error,
}

/// Winner takes all: 1 if the top document has the query's highest label, else 0; named `wta`.
///
/// `wta-error` is 1 - `wta`, the cost in section 2 of the LambdaRank paper, which defines it for two labels only.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::{Rate, Wta};
/// assert_eq!(Wta { rate: Rate::Accuracy }.value(&[2.0, 0.0, 2.0]), 1.0);
/// assert_eq!(Wta { rate: Rate::Error }.value(&[0.0, 0.0, 3.0, 1.0, 2.0]), 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wta {
    /// Accuracy or error rate.
    pub rate: Rate,
}

impl Wta {
    fn of_share(&self, correct: f64) -> f64 {
        match self.rate {
            Rate::Accuracy => correct,
            Rate::Error => 1.0 - correct,
        }
    }
}

fn best(labels: &[f32]) -> f32 {
    labels.iter().copied().fold(0.0, f32::max)
}

impl Metric for Wta {
    fn name(&self) -> String {
        if self.is_cost() { ERROR_ROW.name } else { ROW.name }.to_owned()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.value_of_retrieved(ranked, ranked.len())
    }

    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(WtaSwaps { wta: self, ranked, best: best(ranked) })
    }

    fn is_cost(&self) -> bool {
        self.rate == Rate::Error
    }

    fn depth(&self) -> Option<usize> {
        Some(1)
    }

    fn value_over_ties(&self, ranked: &[f32], ends: &[usize], retrieved: usize) -> Option<f64> {
        let best = best(ranked);
        if best == 0.0 {
            return Some(0.0);
        }
        let is_best = |label| f64::from(u8::from(label == best));
        let is_top = |position| f64::from(u8::from(position == 0 && retrieved > 0));
        Some(self.of_share(mean_over_ties(ranked, ends, is_best, is_top)))
    }

    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        match best(ranked) {
            0.0 => 0.0,
            best if retrieved > 0 && ranked[0] == best => self.of_share(1.0),
            _ => self.of_share(0.0),
        }
    }
}

struct WtaSwaps<'a> {
    wta: &'a Wta,
    ranked: &'a [f32],
    best: f32,
}

impl Swaps for WtaSwaps<'_> {
    fn delta(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j), i.max(j));
        let (upper, lower) = (self.ranked[i], self.ranked[j]);
        if i > 0 || (upper == self.best) == (lower == self.best) {
            return 0.0;
        }
        let share = |label: f32| self.wta.of_share(f64::from(u8::from(label == self.best)));
        share(lower) - share(upper)
    }
}
