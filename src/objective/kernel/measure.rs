//! LambdaRank for measures without a kernel in lanes whose swaps are values of documents joined by a form.
//!
//! | measure | change when `i` and `j` below it swap | time |
//! |---|---|---|
//! | DCG | `\|g_i - g_j\| (1/D_i - 1/D_j)` | O(n log L) for L labels |
//! | ARP | `\|y_i - y_j\| (j - i)`, divided by the sum of labels | O(n log L) |
//! | ERR | `\|R_i - R_j\| (E_i - E_j) / (1 - R_i)`, see [`ErrSwaps`] | O(n log L) |
//! | bpref | a difference of one value of each, see [`BprefSwaps`] | O(n) |
//! | pairs | `C_h(j) - C_h(i) - C_l(j) + C_l(i)`, see below | O(n L) |
//!
//! The others touch only pairs with a document of the top `k` ranks (WTA with the first): O(nk) pair by pair.
//!
//! A swap of a higher label `h` and a lower label `l` puts right or wrong the pair itself, those of both documents with
//! each document between them in rank and in label, and that of one of them with each document between them in rank that
//! has the label of either. With `C_x(p)` the number of documents above rank `p` with a label below `x` plus the number
//! with a label of at most `x`, that is the difference above, divided by the number of pairs.

use super::long::Long;
use super::ranked::Ranked;
use super::{Kernel, Weighting};
use crate::metric::{Arp, Bpref, BprefSwaps, ErrSwaps, ExpectedRr, Gain, MetricKind, discounts};

/// Documents from which on a sweep is faster than a look at every pair.
const LONG: usize = 24;
/// Ranks that count from which on it is, where only pairs with one of these are looked at.
const DEEP: usize = 12;
/// Two sweeps over the documents of some labels take as long as so many looks at pairs a document.
const SWEEP: usize = 3;

impl Kernel {
    /// Which measure weights are the swaps of, where no weighting is made for it.
    pub(super) fn measure(&self) -> MetricKind {
        match &self.weighting {
            Weighting::SwapMetric(metric) => metric.kind(),
            _ => MetricKind::Other,
        }
    }

    /// Whether the swaps of the measure are values of documents joined by a form.
    pub(super) fn has_swap_form(&self) -> bool {
        use MetricKind::{Arp, Bpref, Dcg, Err, Pairs};
        matches!(self.measure(), Dcg { .. } | Arp { .. } | Err { .. } | Bpref { .. } | Pairs)
    }

    /// Whether a sweep is faster than a look at every pair.
    pub(super) fn is_long_for_measure(&self, ranked: &Ranked) -> bool {
        let n = ranked.len();
        let labels = ranked.levels.ends.len();
        n >= LONG
            && match self.measure() {
                MetricKind::Dcg { k: Some(k), .. } | MetricKind::Err { k: Some(k), .. } => k >= DEEP,
                MetricKind::Pairs => n / 2 >= SWEEP * (labels + 1),
                _ => true,
            }
    }

    /// Gives the near-linear kernel the documents with the values of the measure.
    pub(super) fn take_measure(&self, ranked: &Ranked, memory: &mut Long) {
        let (n, labels) = (ranked.len(), &ranked.labels);
        match self.measure() {
            MetricKind::Dcg { k, gain } => {
                let (depth, discounts) = (k.unwrap_or(n), discounts(n));
                let discount = |place: usize| if place < depth { discounts[place] } else { 0.0 };
                memory.take(ranked, 0..n, |place| [gain.of(labels[place]), discount(place)]);
            }
            MetricKind::Arp { form } => {
                let share = Arp { form }.of_sum(1.0, labels);
                memory.take(ranked, 0..n, |place| [share * f64::from(labels[place]), -(place as f64)]);
            }
            MetricKind::Err { k, max } => {
                let swaps = ErrSwaps::new(&ExpectedRr { k, max }, labels);
                memory.take(ranked, 0..n, |place| [swaps.stops[place], swaps.rests[place]]);
            }
            MetricKind::Bpref { threshold } => {
                let swaps = BprefSwaps::new(&Bpref { threshold }, labels);
                memory.take(ranked, 0..n, |place| [swaps.fall[place] * swaps.scale, swaps.rise[place] * swaps.scale]);
                memory.by_relevance(&swaps.relevant);
            }
            _ => memory.take(ranked, 0..n, |_| [0.0; 2]),
        }
    }

    /// What tells documents apart that have a weight, and the number of ranks whose pairs with all below them do.
    pub(super) fn weighing(&self, ranked: &Ranked) -> (usize, Box<dyn Fn(f32) -> f32>) {
        let (n, labels) = (ranked.len(), &ranked.labels);
        match self.measure() {
            MetricKind::Arp { form } if Arp { form }.of_sum(1.0, labels) == 0.0 => (0, Box::new(|label| label)),
            MetricKind::Err { k, max } => {
                let rests = ErrSwaps::new(&ExpectedRr { k, max }, labels).rests;
                (rests.partition_point(|&rest| rest > 0.0), Box::new(move |label| label.min(max).max(0.0)))
            }
            MetricKind::Bpref { threshold } => {
                let top = BprefSwaps::new(&Bpref { threshold }, labels).top;
                (top, Box::new(move |label| f32::from(label >= threshold)))
            }
            _ => (self.top(n), Box::new(|label| label)),
        }
    }

    /// Whether the measure adds up gains of `2^y - 1` that nothing divides.
    pub(super) fn has_bare_gains(&self) -> bool {
        matches!(self.measure(), MetricKind::Dcg { gain: Gain::Exponential, .. })
    }
}
