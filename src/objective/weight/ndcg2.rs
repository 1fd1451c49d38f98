//! NDCG-Loss2 and NDCG-Loss2++.

use super::super::pairwise::LogBase;
use super::super::registry::{Make, ObjectiveEntry};
use super::{PairForm, PairWeight, RankedList, ValueRule, Values};
use crate::error::{Error, Result};
use crate::metric::{Gain, discount, max_dcg};
use crate::name::Parameter;
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "ndcg-loss2",
    parameters: &[],
    help: "tighter bound on NDCG: weight is the difference of gains times a discount for the distance of ranks",
    make: Make::Pairs(LogBase::Bits, |name| Arc::new(Ndcg2 { rho: 0.0, delta: 1.0, k: name.cutoff() })),
};

pub(in super::super) const PLUS_PLUS_ROW: ObjectiveEntry = ObjectiveEntry {
    name: "ndcg-loss2++",
    parameters: &[Parameter::number("mu", 5.0, 0.0..=1e6, "weight of NDCG-Loss2 relative to LambdaRank")],
    help: "sum of LambdaRank and mu times ndcg-loss2; mu=0 is LambdaRank, truncated with @k",
    make: Make::Pairs(LogBase::Bits, |name| Arc::new(Ndcg2 { rho: 1.0, delta: name.number("mu"), k: name.cutoff() })),
};

/// `(rho |1/D_i - 1/D_j| + delta delta_ij) |G_i - G_j|` for `y_i > y_j`, where `delta_ij = 1/D_|i-j| - 1/D_(|i-j|+1)`,
/// with the ideal DCG at `k`.
///
/// NDCG-Loss2 is `(0, 1)` (LambdaLoss, Eq. 15 and 16), NDCG-Loss2++ is `(1, mu)` (Eq. 19), and LambdaRank is `(1, 0)`
/// (Eq. 17).
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Ndcg2 {
    pub rho: f64,
    pub delta: f64,
    pub k: Option<usize>,
}

impl PairWeight for Ndcg2 {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        let ideal = max_dcg(ranked, self.k, Gain::Exponential);
        let gain = |place: usize| if ideal > 0.0 { Gain::Exponential.of(ranked[place]) / ideal } else { 0.0 };
        let distance = i.abs_diff(j);
        let rho = (discount(i) - discount(j)).abs();
        let delta = discount(distance - 1) - discount(distance);
        (self.rho * rho + self.delta * delta) * (gain(i) - gain(j)).abs()
    }

    fn form(&self) -> Option<PairForm> {
        Some(if self.delta == 0.0 { PairForm::Discounts } else { PairForm::Distance { share: self.delta } })
    }

    fn rule(&self) -> Option<ValueRule> {
        Some(ValueRule::Apart)
    }

    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        values.set_gains(list, Gain::Exponential, self.k);
        values.set_discounts(list.len(), None, self.rho);
        if self.rho + self.delta == 0.0 {
            values.top = 0;
        }
    }

    fn check(&self) -> Result<()> {
        let (rho, delta) = (self.rho, self.delta);
        if rho >= 0.0 && delta >= 0.0 && (rho + delta).is_finite() {
            return Ok(());
        }
        Err(Error::Config(format!("the factors rho and delta must be numbers of at least 0, not {rho} and {delta}")))
    }

    fn largest_label(&self) -> f32 {
        1e3
    }
}
