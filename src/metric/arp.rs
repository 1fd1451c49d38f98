//! Average relevance position.

use super::ties::mean_over_ties;
use super::{Metric, MetricEntry, MetricKind, Swaps};
use crate::name::{Cutoff, Parameter, Spelling};
use std::sync::Arc;

const SUM: Parameter = Parameter::flag("sum", "sum of ranks instead of their mean");

pub(super) const ROW: MetricEntry = MetricEntry {
    name: "arp",
    aliases: &[],
    parameters: &[SUM],
    cutoff: Cutoff::No,
    help: "average relevance position: the label-weighted mean rank, or sum of ranks; a cost",
    make: |name| Arc::new(Arp { form: if name.parameters.flag("sum") { ArpForm::Sum } else { ArpForm::Mean } }),
};

/// Normalisation of ARP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArpForm {
    /// Divided by the sum of the labels: the mean rank of relevance.
    #[default]
    Mean,
    /// Not divided.
    Sum,
}

/// Average relevance position: ARP = sum of y_r r / sum of y_r, the label-weighted mean rank, named `arp`; `arp:sum`
/// does not divide.
///
/// A cost: lower is better. 0 if no label is positive.
///
/// ```
/// use burnrank::Metric;
/// use burnrank::metric::{Arp, ArpForm};
/// let ranked = [0.0, 0.0, 3.0, 1.0, 2.0];
/// assert_eq!(Arp { form: ArpForm::Sum }.value(&ranked), 3.0 * 3.0 + 1.0 * 4.0 + 2.0 * 5.0);
/// assert_eq!(Arp { form: ArpForm::Mean }.value(&ranked), 23.0 / 6.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Arp {
    /// Mean or sum.
    pub form: ArpForm,
}

impl Arp {
    /// Normalises a sum of labels times ranks.
    pub(crate) fn of_sum(&self, sum: f64, labels: &[f32]) -> f64 {
        let total: f64 = match self.form {
            ArpForm::Sum => return sum,
            ArpForm::Mean => labels.iter().map(|&label| f64::from(label)).sum(),
        };
        if total > 0.0 { sum / total } else { 0.0 }
    }
}

fn rank(position: usize) -> f64 {
    (position + 1) as f64
}

impl Metric for Arp {
    fn name(&self) -> String {
        Spelling::new(ROW.name).word(SUM.key, self.form == ArpForm::Sum).finish()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        let sum = ranked.iter().enumerate().map(|(position, &label)| f64::from(label) * rank(position)).sum();
        self.of_sum(sum, ranked)
    }

    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(ArpSwaps { ranked, scale: self.of_sum(1.0, ranked) })
    }

    fn kind(&self) -> MetricKind {
        MetricKind::Arp { form: self.form }
    }

    fn is_cost(&self) -> bool {
        true
    }

    fn value_over_ties(&self, ranked: &[f32], ends: &[usize], _retrieved: usize) -> Option<f64> {
        Some(self.of_sum(mean_over_ties(ranked, ends, f64::from, rank), ranked))
    }
}

/// Changes of ARP by swaps: (y_i - y_j) (j - i), normalised as the value.
struct ArpSwaps<'a> {
    ranked: &'a [f32],
    scale: f64,
}

impl Swaps for ArpSwaps<'_> {
    fn delta(&self, i: usize, j: usize) -> f64 {
        (f64::from(self.ranked[i]) - f64::from(self.ranked[j])) * (rank(j) - rank(i)) * self.scale
    }
}
