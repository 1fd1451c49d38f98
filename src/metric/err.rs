//! Expected reciprocal rank.

use super::{Metric, MetricEntry, MetricKind, Swaps};
use crate::error::{Error, Result};
use crate::name::{ABOVE_0, Cutoff, Parameter, Spelling};
use std::sync::Arc;

const MAX: Parameter = Parameter::number("max", ExpectedRr::DEFAULT_MAX as f64, ABOVE_0, "highest grade of the scale");

pub(super) const ROW: MetricEntry = MetricEntry {
    name: "err",
    aliases: &[],
    parameters: &[MAX],
    cutoff: Cutoff::Last,
    help: "expected reciprocal rank, highest grade 4 by default",
    make: |name| Arc::new(ExpectedRr { max: name.parameters.single("max", ExpectedRr::DEFAULT_MAX), k: name.k() }),
};

/// Expected reciprocal rank: ERR@k = sum over ranks r <= k of 1/r R_r prod over q < r of (1 - R_q), named `err`,
/// `err@10`, `err:max=3@10`.
///
/// R = (2^y - 1) / 2^max is the probability that a document with label y ends the search; `max` is the highest grade of
/// the scale, 4 by default (Chapelle et al. 2009). [`Metric::check`] refuses higher labels; [`Metric::value`] counts
/// them as `max`.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::ExpectedRr;
/// let err = ExpectedRr { k: None, max: 2.0 };
/// assert_eq!(err.value(&[1.0, 2.0]), 1.0 / 4.0 + (1.0 - 1.0 / 4.0) * (3.0 / 4.0) / 2.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedRr {
    /// Rank cutoff; all ranks when `None`.
    pub k: Option<usize>,
    /// Highest grade of the scale.
    pub max: f32,
}

impl ExpectedRr {
    /// Default highest grade.
    pub const DEFAULT_MAX: f32 = 4.0;

    fn stops(&self, label: f32) -> f64 {
        let max = f64::from(self.max);
        // Stay below 1 even if a huge `max` would round R to 1: a swap divides by 1 - R.
        ((f64::from(label).min(max).max(0.0).exp2() - 1.0) / max.exp2()).min(1.0 - f64::EPSILON)
    }

    fn inverse_rank(&self, position: usize) -> f64 {
        if position < self.k.unwrap_or(usize::MAX) { 1.0 / (position + 1) as f64 } else { 0.0 }
    }
}

impl Default for ExpectedRr {
    fn default() -> Self {
        ExpectedRr { k: None, max: ExpectedRr::DEFAULT_MAX }
    }
}

impl Metric for ExpectedRr {
    fn name(&self) -> String {
        Spelling::new(ROW.name).number(MAX.key, self.max, Some(ExpectedRr::DEFAULT_MAX)).cutoff(self.k).finish()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.value_of_retrieved(ranked, ranked.len())
    }

    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(ErrSwaps::new(self, ranked))
    }

    fn kind(&self) -> MetricKind {
        MetricKind::Err { k: self.k, max: self.max }
    }

    fn depth(&self) -> Option<usize> {
        self.k
    }

    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        let depth = retrieved.min(self.k.unwrap_or(usize::MAX));
        let (mut reach, mut sum) = (1.0, 0.0);
        for (position, &label) in ranked.iter().take(depth).enumerate() {
            let stops = self.stops(label);
            sum += reach * stops * self.inverse_rank(position);
            reach *= 1.0 - stops;
        }
        sum
    }

    fn check(&self, labels: &[f32]) -> Result<()> {
        match labels.iter().find(|&&label| label > self.max) {
            None => Ok(()),
            Some(label) => Err(Error::Data(format!(
                "{}: label {label} exceeds the highest grade {}; state that of your scale, as in 'err:max={label}'",
                self.name(),
                self.max
            ))),
        }
    }
}

/// Changes of ERR by swaps, O(1) each: `(R_j - R_i) (E_i - E_j) / (1 - R_i)` for `i` above `j`.
///
/// `E_r` is the sum over ranks `q >= r` of `P_(q+1) (1/q - 1/(q+1))`, where `P_q` is the probability of reaching rank
/// `q`, and `1/q` is 0 beyond the cutoff. It equals `P_(r+1) / r` minus the terms of ERR below `r`, summed by parts:
/// all its terms are positive, so nothing cancels. The terms of ERR below `j` do not change, because the product up to
/// `j` does not.
#[derive(Debug, Default)]
pub(crate) struct ErrSwaps {
    /// `R` of each document.
    pub stops: Vec<f64>,
    /// `E` of each rank, descending; 0 from the first rank at which swaps have no effect.
    pub rests: Vec<f64>,
}

/// Values of `E` below this count as zero: their differences would lose precision to underflow.
const NEGLIGIBLE: f64 = 1e-290;

impl ErrSwaps {
    pub fn new(err: &ExpectedRr, ranked: &[f32]) -> Self {
        let stops: Vec<f64> = ranked.iter().map(|&label| err.stops(label)).collect();
        let mut reach = 1.0;
        let mut rests = Vec::with_capacity(stops.len());
        for stop in &stops {
            rests.push(reach);
            reach *= 1.0 - stop;
        }
        // From the probability of reaching a rank to that of reaching the next one, last rank first.
        let (mut next, mut rest, mut below) = (reach, 0.0, 0.0);
        for (position, to) in rests.iter_mut().enumerate().rev() {
            let inverse = err.inverse_rank(position);
            rest += next * (inverse - below);
            (next, below) = (*to, inverse);
            *to = if rest < NEGLIGIBLE { 0.0 } else { rest };
        }
        ErrSwaps { stops, rests }
    }
}

impl Swaps for ErrSwaps {
    fn delta(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j), i.max(j));
        (self.stops[j] - self.stops[i]) * (self.rests[i] - self.rests[j]) / (1.0 - self.stops[i])
    }
}
