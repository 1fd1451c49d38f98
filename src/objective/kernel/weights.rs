//! The weight of any pair of a ranked list, in closed form where there is one.

use super::{Kernel, PairWeight, Weighting};
use crate::metric::{Gain, Swaps, discounts, max_dcg};

impl Kernel {
    /// Prepares the weights of one ranked list: its labels in rank order, the top document first.
    ///
    /// ```
    /// use burnrank::{Kernel, Weighting};
    /// let kernel = Kernel::new(Weighting::Ndcg2 { rho: 1.0, delta: 0.0 });
    /// let swap = 1.0 - 1.0 / 3f64.log2();
    /// assert!((kernel.weights(&[0.0, 1.0]).get(1, 0) - swap).abs() < 1e-12);
    /// ```
    pub fn weights<'a>(&'a self, ranked: &'a [f32]) -> PairWeights<'a> {
        let top = self.truncation.unwrap_or(usize::MAX);
        PairWeights { form: Form::new(self, ranked), ranked, top }
    }

    /// `G_i = g_i / maxDCG` of labels in any order; all 0 when nothing is relevant.
    fn normalised_gains(&self, labels: &[f32]) -> Vec<f64> {
        let ideal = max_dcg(labels, self.ideal_cut(), self.gain);
        labels.iter().map(|&label| if ideal > 0.0 { self.gain.of(label) / ideal } else { 0.0 }).collect()
    }

    /// The rank at which the ideal DCG is taken.
    pub(super) fn ideal_cut(&self) -> Option<usize> {
        if let Weighting::SwapNdcg { k } = self.weighting { Some(k) } else { self.truncation }
    }

    /// The last rank that counts in the measure that weights are swaps of.
    pub(super) fn cutoff(&self) -> Option<usize> {
        match self.weighting {
            Weighting::SwapNdcg { k } => Some(k),
            Weighting::SwapAp { k, .. } | Weighting::SwapRr { k, .. } => k,
            // What lies behind the ranks that count may swap and change nothing.
            Weighting::SwapMetric(ref metric) => metric.depth(),
            _ => None,
        }
    }

    /// How many of `n` ranks have pairs with all ranks below them; there are no others.
    pub(super) fn top(&self, n: usize) -> usize {
        n.min(self.truncation.unwrap_or(n)).min(self.cutoff().unwrap_or(n))
    }

    /// Whether weights are made of gains.
    pub(super) fn has_gains(&self) -> bool {
        matches!(self.weighting, Weighting::Ndcg1 | Weighting::Ndcg2 { .. } | Weighting::SwapNdcg { .. })
    }

    /// Whether the weighting has a formula, and so a kernel in lanes.
    pub(super) fn has_formula(&self) -> bool {
        !matches!(self.weighting, Weighting::SwapMetric(_) | Weighting::Custom(_))
    }

    /// Labels beyond this have no finite loss.
    pub(super) fn largest_label(&self) -> f32 {
        match self.gain {
            // Not divided by an ideal, such gains must fit single precision themselves.
            _ if self.has_bare_gains() => 100.0,
            Gain::Exponential if self.has_gains() => 1e3,
            _ => 1e9,
        }
    }
}

/// The weights of the pairs of one ranked list, see [`Kernel::weights`].
pub struct PairWeights<'a> {
    form: Form<'a>,
    ranked: &'a [f32],
    top: usize,
}

impl PairWeights<'_> {
    /// The weight of having the document at position `i` (from 0) above the one at `j`; 0 where that is no pair.
    ///
    /// # Panics
    /// When a position is outside the list.
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        if i == j || i.min(j) >= self.top { 0.0 } else { self.form.weight(self.ranked, i, j) }
    }
}

enum Form<'a> {
    One { ties: bool },
    Label,
    LabelGap,
    Document(Vec<f64>),
    Gap { discounts: Vec<f64>, nearness: Vec<f64>, gains: Vec<f64> },
    Ap(ApSwaps),
    Rr(RrSwaps),
    Metric(Box<dyn Swaps + 'a>),
    Custom(&'a dyn PairWeight),
}

impl<'a> Form<'a> {
    fn new(kernel: &'a Kernel, ranked: &'a [f32]) -> Self {
        let n = ranked.len();
        match &kernel.weighting {
            Weighting::RankNet { ties } => Form::One { ties: *ties },
            Weighting::Arp1 => Form::Label,
            Weighting::Arp2 => Form::LabelGap,
            Weighting::Ndcg1 => {
                let gains = kernel.normalised_gains(ranked);
                Form::Document(gains.iter().zip(discounts(n).iter()).map(|(gain, discount)| gain * discount).collect())
            }
            Weighting::Ndcg2 { rho, delta } => Form::Gap {
                discounts: discounts(n).iter().map(|discount| rho * discount).collect(),
                nearness: nearness(&discounts(n)).map(|near| delta * near).collect(),
                gains: kernel.normalised_gains(ranked),
            },
            Weighting::SwapNdcg { k } => Form::Gap {
                discounts: (0..n).zip(discounts(n).iter()).map(|(i, d)| if i < *k { *d } else { 0.0 }).collect(),
                nearness: vec![0.0; n],
                gains: kernel.normalised_gains(ranked),
            },
            Weighting::SwapAp { k, threshold } => Form::Ap(ApSwaps::new(ranked, *k, *threshold)),
            Weighting::SwapRr { k, threshold } => Form::Rr(RrSwaps::new(ranked, *k, *threshold)),
            Weighting::SwapMetric(metric) => Form::Metric(metric.swaps(ranked)),
            Weighting::Custom(weight) => Form::Custom(weight.as_ref()),
        }
    }

    #[inline]
    fn weight(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        let (own, other) = (ranked[i], ranked[j]);
        let better = own > other;
        match self {
            Form::One { .. } if better => 1.0,
            Form::One { ties: true } if own == other => 0.5,
            Form::Label => own.into(),
            Form::Document(weights) => weights[i],
            Form::LabelGap if better => f64::from(own) - f64::from(other),
            Form::Gap { discounts, nearness, gains } if better => {
                ((discounts[i] - discounts[j]).abs() + nearness[i.abs_diff(j)]) * (gains[i] - gains[j])
            }
            Form::Ap(swaps) => swaps.weight(i, j),
            Form::Rr(swaps) => swaps.weight(i, j),
            Form::Metric(swaps) if better => swaps.delta(i, j).abs(),
            Form::Custom(weight) if better || weight.pairs() == super::Pairs::All => weight.weight(ranked, i, j),
            _ => 0.0,
        }
    }
}

/// `delta = 1/D_m - 1/D_(m+1)` of ranks `m` apart, for `m` up to the number of discounts; 0 for a document and itself.
pub(super) fn nearness(discounts: &[f64]) -> impl Iterator<Item = f64> {
    (0..discounts.len()).map(|m| if m == 0 { 0.0 } else { discounts[m - 1] - discounts[m] })
}

/// The change of average precision by any swap, O(1) each.
///
/// With `h_p = 1/p` up to rank `k` and 0 beyond, `c_p` relevant documents in the top `p` and `S_p` the sum of `h` over
/// them, `AP = sum of c_p h_p over relevant p / R`. Swapping a relevant document `i` with another `j` changes `AP` by
/// `A_j - A_i` when `i` is above, where `A_p = c_p h_p - S_p`, and by `B_j - B_i` when `j` is above, where
/// `B_p = A_p + h_p`: all that lies between is in the difference of the sums.
#[derive(Debug, Default)]
pub(super) struct ApSwaps {
    pub relevant: Vec<bool>,
    /// The positions of relevant documents, and of all others.
    pub hits: Vec<u32>,
    pub others: Vec<u32>,
    /// `A_p / R`, for relevant documents above.
    pub fall: Vec<f64>,
    /// `B_p / R`, for relevant documents below.
    pub rise: Vec<f64>,
}

impl ApSwaps {
    pub fn new(ranked: &[f32], k: Option<usize>, threshold: f32) -> Self {
        let mut swaps = ApSwaps::default();
        swaps.fill(ranked, k, threshold);
        swaps
    }

    /// Prepares the swaps of another list.
    pub fn fill(&mut self, ranked: &[f32], k: Option<usize>, threshold: f32) {
        self.relevant.clear();
        self.relevant.extend(ranked.iter().map(|&label| label >= threshold));
        for (positions, relevant) in [(&mut self.hits, true), (&mut self.others, false)] {
            positions.clear();
            positions
                .extend((0..ranked.len()).filter(|&position| self.relevant[position] == relevant).map(|i| i as u32));
        }
        let share = (self.hits.len().max(1) as f64).recip();
        let (mut count, mut sum) = (0.0, 0.0);
        self.fall.clear();
        self.rise.clear();
        for (position, &relevant) in self.relevant.iter().enumerate() {
            let inverse = inverse_rank(position, k);
            if relevant {
                count += 1.0;
                sum += inverse;
            }
            self.fall.push((count * inverse - sum) * share);
            self.rise.push(((count + 1.0) * inverse - sum) * share);
        }
    }

    fn weight(&self, i: usize, j: usize) -> f64 {
        if !self.relevant[i] || self.relevant[j] {
            0.0
        } else if i < j {
            (self.fall[i] - self.fall[j]).abs()
        } else {
            (self.rise[j] - self.rise[i]).abs()
        }
    }
}

/// The change of the reciprocal rank by any swap, O(1) each: nonzero only when the top relevant document changes.
#[derive(Debug, Default)]
pub(super) struct RrSwaps {
    pub relevant: Vec<bool>,
    /// The positions of the first and the second relevant document; the length of the list when there is none.
    pub first: usize,
    pub second: usize,
    k: Option<usize>,
}

impl RrSwaps {
    pub fn new(ranked: &[f32], k: Option<usize>, threshold: f32) -> Self {
        let mut swaps = RrSwaps::default();
        swaps.fill(ranked, k, threshold);
        swaps
    }

    /// Prepares the swaps of another list.
    pub fn fill(&mut self, ranked: &[f32], k: Option<usize>, threshold: f32) {
        self.relevant.clear();
        self.relevant.extend(ranked.iter().map(|&label| label >= threshold));
        let mut places = (0..ranked.len()).filter(|&place| self.relevant[place]);
        self.first = places.next().unwrap_or(ranked.len());
        self.second = places.next().unwrap_or(ranked.len());
        self.k = k;
    }

    pub fn weight(&self, i: usize, j: usize) -> f64 {
        if !self.relevant[i] || self.relevant[j] {
            0.0
        } else if j < self.first {
            self.value(j) - self.value(self.first)
        } else if i == self.first {
            self.value(self.first) - self.value(j.min(self.second))
        } else {
            0.0
        }
    }

    /// The reciprocal rank when this is the top relevant position.
    pub fn value(&self, position: usize) -> f64 {
        inverse_rank(position, self.k)
    }
}

fn inverse_rank(position: usize, k: Option<usize>) -> f64 {
    if k.is_none_or(|k| position < k) { ((position + 1) as f64).recip() } else { 0.0 }
}
