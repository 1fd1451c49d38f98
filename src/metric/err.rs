//! Expected reciprocal rank.

use super::name::spell;
use super::{Metric, Swaps};
use crate::error::{Error, Result};

/// ERR@k = sum over ranks r <= k of 1/r R_r prod over q < r of (1 - R_q), named `err`, `err@10`, `err:max=3@10`.
///
/// R = (2^y - 1) / 2^max is the chance that a document of label y ends the search; `max` is the highest grade of the
/// scale, 4 unless named (Chapelle et al. 2009). A higher label counts as `max` here; judging refuses it.
///
/// ```
/// use burnrank::{ExpectedRr, Metric};
/// let err = ExpectedRr { k: None, max: 2.0 };
/// assert_eq!(err.value(&[1.0, 2.0]), 1.0 / 4.0 + (1.0 - 1.0 / 4.0) * (3.0 / 4.0) / 2.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedRr {
    /// The last rank that counts; all when `None`.
    pub k: Option<usize>,
    /// The highest grade of the scale.
    pub max: f32,
}

impl ExpectedRr {
    /// The highest grade that a name need not state.
    pub const DEFAULT_MAX: f32 = 4.0;

    fn stops(&self, label: f32) -> f64 {
        let max = f64::from(self.max);
        // Below 1 also where a huge `max` would round to it: a swap divides by 1 - R.
        ((f64::from(label).min(max).exp2() - 1.0) / max.exp2()).min(1.0 - f64::EPSILON)
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
        spell("err", &[(self.max != ExpectedRr::DEFAULT_MAX).then(|| format!("max={}", self.max))], self.k)
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.value_of_retrieved(ranked, ranked.len())
    }

    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(ErrSwaps::new(self, ranked))
    }

    fn depth(&self) -> Option<usize> {
        self.k
    }

    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        let depth = retrieved.min(self.k.unwrap_or(usize::MAX));
        let (mut goes_on, mut sum) = (1.0, 0.0);
        for (position, &label) in ranked.iter().take(depth).enumerate() {
            let stops = self.stops(label);
            sum += goes_on * stops * self.inverse_rank(position);
            goes_on *= 1.0 - stops;
        }
        sum
    }

    fn check(&self, labels: &[f32]) -> Result<()> {
        match labels.iter().find(|&&label| label > self.max) {
            None => Ok(()),
            Some(label) => Err(Error::Data(format!(
                "{}: label {label} is above the measure's highest grade {}: state your scale's, as in 'err:max={label}'",
                self.name(),
                self.max
            ))),
        }
    }
}

/// (R_j - R_i) (P_i / i - (T_ij + P_j / j) / (1 - R_i)), for i above j.
///
/// P is the chance to get to a rank and T_ij the part of the sum between the two. Behind j nothing changes, because
/// the product up to there does not.
struct ErrSwaps<'a> {
    err: &'a ExpectedRr,
    stops: Vec<f64>,
    reaches: Vec<f64>,
    /// The sum of the terms before a position.
    sums: Vec<f64>,
}

impl<'a> ErrSwaps<'a> {
    fn new(err: &'a ExpectedRr, ranked: &[f32]) -> Self {
        let stops: Vec<f64> = ranked.iter().map(|&label| err.stops(label)).collect();
        let (mut reaches, mut sums) = (Vec::with_capacity(stops.len()), Vec::with_capacity(stops.len()));
        let (mut goes_on, mut sum) = (1.0, 0.0);
        for (position, &stop) in stops.iter().enumerate() {
            reaches.push(goes_on);
            sums.push(sum);
            sum += goes_on * stop * err.inverse_rank(position);
            goes_on *= 1.0 - stop;
        }
        ErrSwaps { err, stops, reaches, sums }
    }
}

impl Swaps for ErrSwaps<'_> {
    fn delta(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j), i.max(j));
        let difference = self.stops[j] - self.stops[i];
        if difference == 0.0 {
            return 0.0;
        }
        let upper = self.reaches[i] * self.err.inverse_rank(i);
        let between = self.sums[j] - self.sums[i + 1];
        let lower = self.reaches[j] * self.err.inverse_rank(j);
        difference * (upper - (between + lower) / (1.0 - self.stops[i]))
    }
}
