//! Lambda kernels: the gradient of every pair loss by the scores, in closed form, on the host.
//!
//! Every objective is one logistic pair loss with another weight,
//!
//! ```text
//! C = sum over pairs of  w_ij log(1 + exp(-sigma (s_i - s_j)))
//! dC/ds_i = -sigma sum over j of  w_ij / (1 + exp(sigma (s_i - s_j)))  +  the same of pairs that want i below
//! ```
//!
//! where `w_ij` depends on labels and ranks only ([`Weighting`]). A query is sorted once ([`ranked`]) and then takes one of
//! three ways to the same sums:
//!
//! - [`grid`] and [`lanes`]: pair by pair in f32 lanes, no exponential and no branch in the inner loop; O(n²), or O(nk) when
//!   truncated at `k`;
//! - [`long`]: in near-linear time, for lists beyond some hundred documents;
//! - [`any`]: pair by pair in f64, for weights without a formula: any measure, any weight of a user, sampled rankings;
//!   those of the measures of this crate take O(1) a pair, and long lists of them mostly go the near-linear way ([`measure`]).
//!
//! All are compared to [`oracle`], which does what the formulas say.

mod any;
mod ap;
mod batch;
mod count;
mod direct;
mod grid;
mod lanes;
mod levels;
mod long;
mod measure;
mod oracle;
mod pairs;
mod ranked;
mod rr;
mod sampled;
mod types;
mod weights;

pub use crate::numeric::order::{LARGEST_SCORE, training_order};
pub(crate) use oracle::for_each_weight_of;
pub use oracle::{Reference, for_each_weight};
pub use pairs::{PairTarget, ranknet_pairs};
pub use sampled::Assignment;
pub use types::{LogBase, Method, PairWeight, Pairs, QueryResult, Want, Weighting};
pub use weights::PairWeights;

use crate::error::{Error, Result};
use crate::metric::Gain;
use crate::numeric::order::document;
use crate::stop::Stop;
use count::Count;
use direct::Direct;
use long::Long;
use ranked::Ranked;

/// The steepest sigmoid: scores of 1e30 times it are finite in f32.
const LARGEST_SIGMA: f64 = 1e6;

/// A pair loss: what pairs weigh, and how the sums are computed.
///
/// ```
/// use burnrank::{Kernel, Scratch, Want, Weighting};
/// let kernel = Kernel::new(Weighting::Ndcg2 { rho: 1.0, delta: 0.0 });
/// let (scores, labels) = ([0.9, 0.1, -0.4, 1.5, 0.3], [0.0, 1.0, 2.0, 0.0, 3.0]);
/// let mut gradient = [0.0; 5];
/// let want = Want { loss: true, pairs: true };
/// let sums = kernel.query(&scores, &labels, &mut gradient, &mut Scratch::default(), want)?;
/// assert!((sums.loss - 1.344197).abs() < 1e-5);
/// assert!((gradient[3] - 0.505351).abs() < 1e-5);
/// assert_eq!(sums.pairs, 9);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Kernel {
    /// What a pair weighs.
    pub weighting: Weighting,
    /// Keep only pairs with a document of the top `k` ranks, and take the ideal DCG at `k`.
    pub truncation: Option<usize>,
    /// The steepness of the sigmoid.
    pub sigma: f64,
    /// The unit of the loss, and so of the gradient.
    pub base: LogBase,
    /// What a label is worth.
    pub gain: Gain,
    /// How the sums are computed.
    pub method: Method,
    /// Whoever sets it ends a computation within a second, with [`Error::Stopped`].
    pub stop: Stop,
}

/// Memory that kernels reuse from query to query.
#[derive(Debug, Default)]
pub struct Scratch {
    ranked: Ranked,
    direct: Direct,
    long: Long,
    count: Count,
    sums: Vec<f64>,
}

impl Kernel {
    /// The papers' setting of a weighting: `sigma` 1, no truncation, gain 2^y - 1; bits for the losses of the LambdaLoss
    /// paper, nats for RankNet and LambdaRank.
    pub fn new(weighting: Weighting) -> Self {
        let base = match weighting {
            Weighting::Arp1 | Weighting::Arp2 | Weighting::Ndcg1 => LogBase::Bits,
            Weighting::Ndcg2 { delta, .. } if delta != 0.0 => LogBase::Bits,
            _ => LogBase::Nats,
        };
        Kernel {
            weighting,
            truncation: None,
            sigma: 1.0,
            base,
            gain: Gain::default(),
            method: Method::default(),
            stop: Stop::new(),
        }
    }

    /// Refuses settings that make no sense.
    ///
    /// # Errors
    /// When `sigma` is not a number above 0 (and of reason), a cutoff is 0, or a share or a threshold of the weighting is no number.
    pub fn check(&self) -> Result<()> {
        let refuse = |message: String| Err(Error::Config(message));
        if !(self.sigma > 0.0 && self.sigma <= LARGEST_SIGMA) {
            return refuse(format!("sigma must be a number above 0 and at most {LARGEST_SIGMA}, not {}", self.sigma));
        }
        if self.truncation == Some(0) {
            return refuse("truncation must keep at least one rank".to_owned());
        }
        match self.weighting {
            Weighting::SwapNdcg { k: 0 }
            | Weighting::SwapAp { k: Some(0), .. }
            | Weighting::SwapRr { k: Some(0), .. } => refuse("a measure needs at least one rank, not @0".to_owned()),
            Weighting::SwapAp { threshold, .. } | Weighting::SwapRr { threshold, .. } if !threshold.is_finite() => {
                refuse(format!("the threshold of relevance must be a number, not {threshold}"))
            }
            Weighting::Ndcg2 { rho, delta } if !(rho >= 0.0 && delta >= 0.0 && (rho + delta).is_finite()) => {
                refuse(format!("the shares of a weight must be numbers of at least 0, not {rho} and {delta}"))
            }
            _ => Ok(()),
        }
    }

    /// The gradient of one query and the sums over its pairs.
    ///
    /// `gradient` is overwritten with `dC/ds` of each document, in document order; never a NaN, and exactly 0 where there
    /// are no pairs. Ranks are by score, equal scores in document order. NaN counts as the lowest score and scores beyond
    /// ±1e30 as ±1e30, so that differences are finite; the loss has a linear tail and never overflows.
    ///
    /// # Errors
    /// When the lengths differ, a label is not finite (or so large that its gain is not), [`Kernel::check`] refuses, or
    /// [`Kernel::stop`] is set.
    pub fn query(
        &self,
        scores: &[f32],
        labels: &[f32],
        gradient: &mut [f32],
        scratch: &mut Scratch,
        want: Want,
    ) -> Result<QueryResult> {
        self.check_query(scores, labels, gradient)?;
        let Scratch { ranked, direct, long, count, sums } = scratch;
        ranked.fill(scores, labels, self.sigma);
        self.prepare(ranked);
        sums.clear();
        sums.resize(scores.len(), 0.0);
        let mut result = QueryResult::default();
        let fast = self.goes_fast(ranked);
        if fast {
            result.loss = self.fast(ranked, long, sums, want.loss);
        } else if self.has_formula() {
            ranked.exponentiate(self.sigma);
            result.loss = self.direct(ranked, direct, sums, want.loss);
        } else {
            result = self.any(ranked, sums, want);
        }
        // The sums of a kernel that was stopped are not whole.
        self.stop.check()?;
        if want.pairs && (fast || self.has_formula()) {
            (result.pairs, result.saturated) = self.count(ranked, count);
        }
        let unit = self.base.nats();
        let scale = self.sigma / unit;
        for (&key, sum) in ranked.keys.iter().zip(sums.iter()) {
            gradient[document(key)] = (sum * scale) as f32;
        }
        result.loss /= unit;
        Ok(result)
    }

    /// Whether there is a near-linear way to the sums of this kernel: for all weights with a formula that are not cut off,
    /// and for the swaps of DCG, ARP, ERR, bpref and pairs (the latter near-linear for a few labels: O(nL) for L of them).
    ///
    /// A kernel that is cut off at `k` takes O(nk) anyway; `lambdarank:ndcg@k` has both ways.
    pub fn has_fast_method(&self) -> bool {
        (self.has_formula() || self.has_swap_form())
            && self.truncation.is_none()
            && !matches!(self.weighting, Weighting::SwapAp { k: Some(_), .. })
    }

    fn check_query(&self, scores: &[f32], labels: &[f32], gradient: &[f32]) -> Result<()> {
        self.check()?;
        let n = scores.len();
        if labels.len() != n || gradient.len() != n {
            let (labels, gradients) = (labels.len(), gradient.len());
            return Err(Error::Mismatch(format!("{n} scores, {labels} labels, {gradients} gradients of one query")));
        }
        let largest = self.largest_label();
        let fine = |label: &f32| label.abs() <= largest;
        // All of them, without an early exit: that is a vector loop.
        if labels.iter().fold(true, |all, label| all & fine(label)) {
            return Ok(());
        }
        let document = labels.iter().take_while(|label| fine(label)).count();
        let label = labels[document];
        Err(Error::Mismatch(format!("document {document} has the label {label}, not a number of at most {largest}")))
    }
}

#[cfg(test)]
mod tests;
