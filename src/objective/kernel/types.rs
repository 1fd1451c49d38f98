//! What a kernel is told and what it answers.

use crate::metric::{Metric, MetricKind};
use std::fmt::Debug;
use std::iter::Sum;
use std::ops::Add;
use std::sync::Arc;

/// What a pair of ranked documents weighs: a function of labels and ranks, never of scores.
///
/// Ranks `i`, `j` count from 1, `D_i = log2(1 + i)`, `G_i` is the gain of document `i` divided by the ideal DCG.
/// Losses over `y_i > y_j` count a pair once, losses over all pairs count `(i, j)` and `(j, i)`.
#[derive(Debug, Clone)]
pub enum Weighting {
    /// 1 for `y_i > y_j`.
    RankNet {
        /// Whether documents of equal label are pairs too, with a target probability of 1/2: in every query, also where
        /// nothing is relevant.
        ties: bool,
    },
    /// `y_i`, all pairs: ARP-Loss1.
    Arp1,
    /// `|y_i - y_j|`: ARP-Loss2.
    Arp2,
    /// `G_i / D_i`, all pairs: NDCG-Loss1.
    Ndcg1,
    /// `(rho |1/D_i - 1/D_j| + delta delta_ij) |G_i - G_j|`, where `delta_ij = 1/D_|i-j| - 1/D_(|i-j|+1)`.
    ///
    /// LambdaRank for NDCG is `(1, 0)`, NDCG-Loss2 is `(0, 1)`, NDCG-Loss2++ is `(1, mu)`.
    Ndcg2 {
        /// How much of LambdaRank's weight is in it.
        rho: f64,
        /// How much of NDCG-Loss2's weight is in it.
        delta: f64,
    },
    /// `|change of NDCG@k when i and j swap|`: the discount is 0 beyond `k`.
    SwapNdcg {
        /// The last rank that counts.
        k: usize,
    },
    /// `|change of average precision when i and j swap|`.
    SwapAp {
        /// The last rank that counts.
        k: Option<usize>,
        /// Labels of at least this are relevant.
        threshold: f32,
    },
    /// `|change of the reciprocal rank when i and j swap|`.
    SwapRr {
        /// The last rank that counts.
        k: Option<usize>,
        /// Labels of at least this are relevant.
        threshold: f32,
    },
    /// `|change of any measure when i and j swap|`, for `y_i > y_j`.
    ///
    /// A list of n documents with L different labels takes O(n log L) for DCG, ARP and ERR, O(n) for bpref, O(nL) for the
    /// share of rightly ordered pairs, O(nk) for a measure of the top k ranks (so O(n) for WTA), and n² swaps for any other.
    SwapMetric(Arc<dyn Metric>),
    /// Whatever a user thinks of.
    Custom(Arc<dyn PairWeight>),
}

impl Weighting {
    /// LambdaRank for a measure: the closed form where there is one.
    ///
    /// The gain of an NDCG is not part of the weighting: give it to [`Kernel::gain`](super::Kernel::gain).
    pub fn lambdarank(metric: Arc<dyn Metric>) -> Self {
        match metric.kind() {
            MetricKind::Ndcg { k: None, .. } => Weighting::Ndcg2 { rho: 1.0, delta: 0.0 },
            MetricKind::Ndcg { k: Some(k), .. } => Weighting::SwapNdcg { k },
            MetricKind::Ap { k, threshold } => Weighting::SwapAp { k, threshold },
            MetricKind::Rr { k, threshold } => Weighting::SwapRr { k, threshold },
            _ => Weighting::SwapMetric(metric),
        }
    }

    /// Which pairs have a weight.
    pub fn pairs(&self) -> Pairs {
        match self {
            Weighting::RankNet { ties: true } | Weighting::Arp1 | Weighting::Ndcg1 => Pairs::All,
            Weighting::Custom(weight) => weight.pairs(),
            _ => Pairs::Ordered,
        }
    }
}

/// Which pairs a weight is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairs {
    /// Those with `y_i > y_j`.
    Ordered,
    /// All with `i != j`, each in both orders.
    All,
}

/// A pair weight of one's own: a function of labels and ranks.
///
/// ```
/// use burnrank::{Kernel, PairWeight, Scratch, Want, Weighting};
/// /// A pair counts by the higher of its ranks.
/// #[derive(Debug)]
/// struct TopHeavy;
/// impl PairWeight for TopHeavy {
///     fn weight(&self, _ranked: &[f32], i: usize, j: usize) -> f64 {
///         1.0 / (i.min(j) + 1) as f64
///     }
/// }
/// let kernel = Kernel::new(Weighting::Custom(std::sync::Arc::new(TopHeavy)));
/// let mut gradient = [0.0; 3];
/// let (scores, labels) = ([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
/// kernel.query(&scores, &labels, &mut gradient, &mut Scratch::default(), Want::default())?;
/// assert_eq!(gradient, [0.5, 0.25, -0.75]);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub trait PairWeight: Debug + Send + Sync {
    /// The weight of having the document at position `i` (from 0) above the one at `j`, given all labels in rank order.
    ///
    /// Must be finite and not negative.
    fn weight(&self, ranked: &[f32], i: usize, j: usize) -> f64;

    /// Which pairs to ask for.
    fn pairs(&self) -> Pairs {
        Pairs::Ordered
    }
}

/// The unit of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogBase {
    /// Natural logarithms: RankNet and LambdaRank.
    #[default]
    Nats,
    /// Logarithms to base 2: the LambdaLoss paper.
    Bits,
}

impl LogBase {
    /// The size of the unit in nats, to divide by.
    pub fn nats(self) -> f64 {
        match self {
            LogBase::Nats => 1.0,
            LogBase::Bits => std::f64::consts::LN_2,
        }
    }
}

/// How the sums over pairs are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Whichever is faster for the length of the query.
    #[default]
    Auto,
    /// Pair by pair.
    Direct,
    /// In near-linear time wherever the weighting allows it, see [`Kernel::has_fast_method`](super::Kernel::has_fast_method).
    Fast,
}

/// What to compute besides the gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Want {
    /// The loss.
    pub loss: bool,
    /// The numbers of pairs.
    pub pairs: bool,
}

/// The sums over the pairs of a query, or of many.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct QueryResult {
    /// The sum of the pairs' losses; 0 unless asked for.
    pub loss: f64,
    /// How many pairs have a weight; 0 unless asked for.
    pub pairs: u64,
    /// How many of them pull with less than a thousandth of their weight; 0 unless asked for.
    pub saturated: u64,
}

impl Add for QueryResult {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        QueryResult {
            loss: self.loss + other.loss,
            pairs: self.pairs + other.pairs,
            saturated: self.saturated + other.saturated,
        }
    }
}

impl Sum for QueryResult {
    fn sum<I: Iterator<Item = Self>>(results: I) -> Self {
        results.fold(QueryResult::default(), Add::add)
    }
}

/// A pair factor below this is called saturated.
pub(super) const SATURATED: f64 = 1e-3;
