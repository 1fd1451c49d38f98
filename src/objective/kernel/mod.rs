//! Lambda kernels: the gradient of every pair loss by the scores, in closed form, on the host.
//!
//! Every objective is one logistic pair loss with another weight,
//!
//! ```text
//! C = sum over pairs of  w_ij log(1 + exp(-sigma (s_i - s_j)))        dC/ds_i = -sum over j of  sigma w_ij / (1 + exp(sigma (s_i - s_j)))
//! ```
//!
//! where `w_ij` depends on labels and ranks only ([`Weighting`]).

mod any;
mod batch;
mod oracle;
mod pairs;
mod sampled;
mod sort;
mod types;
mod weights;

pub use oracle::{Reference, for_each_weight};
pub use pairs::{PairTarget, ranknet_pairs};
pub use sampled::Assignment;
pub use sort::{LARGEST_SCORE, training_order};
pub use types::{LogBase, Method, PairWeight, Pairs, QueryResult, Want, Weighting};
pub use weights::PairWeights;

use crate::error::{Error, Result};
use crate::metric::Gain;
use sort::{document, safe, sort};

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
}

/// Memory that kernels reuse from query to query.
#[derive(Debug, Default)]
pub struct Scratch {
    keys: Vec<u64>,
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
        Kernel { weighting, truncation: None, sigma: 1.0, base, gain: Gain::default(), method: Method::default() }
    }

    /// Refuses settings that make no sense.
    ///
    /// # Errors
    /// When `sigma` is not a number above 0, a cutoff is 0, or a share or a threshold of the weighting is no number.
    pub fn check(&self) -> Result<()> {
        let refuse = |message: String| Err(Error::Config(message));
        if !(self.sigma > 0.0 && self.sigma.is_finite()) {
            return refuse(format!("sigma must be a number above 0, not {}", self.sigma));
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
    /// When the lengths differ, a label is not finite (or so large that its gain is not), or [`Kernel::check`] refuses.
    pub fn query(
        &self,
        scores: &[f32],
        labels: &[f32],
        gradient: &mut [f32],
        scratch: &mut Scratch,
        want: Want,
    ) -> Result<QueryResult> {
        self.check_query(scores, labels, gradient)?;
        sort(scores.iter().map(|&score| safe(score)), &mut scratch.keys);
        let order = &scratch.keys;
        let ranked: Vec<f32> = order.iter().map(|&key| labels[document(key)]).collect();
        let scaled: Vec<f64> = order.iter().map(|&key| self.sigma * f64::from(safe(scores[document(key)]))).collect();
        let mut sums = vec![0.0; scores.len()];
        let top = self.truncation.unwrap_or(usize::MAX);
        let ranking = any::Ranking { scaled: &scaled, labels: &ranked, pairs: self.weighting.pairs(), top };
        let result = any::sum_pairs(&ranking, &self.weights(&ranked), &mut sums, want);
        let unit = self.base.nats();
        for (&key, sum) in order.iter().zip(&sums) {
            gradient[document(key)] = (sum * self.sigma / unit) as f32;
        }
        Ok(QueryResult { loss: result.loss / unit, ..result })
    }

    /// Whether there is a near-linear way to the sums of this kernel.
    pub fn has_fast_method(&self) -> bool {
        false
    }

    fn check_query(&self, scores: &[f32], labels: &[f32], gradient: &[f32]) -> Result<()> {
        self.check()?;
        let n = scores.len();
        if labels.len() != n || gradient.len() != n {
            let (labels, gradients) = (labels.len(), gradient.len());
            return Err(Error::Mismatch(format!("{n} scores, {labels} labels, {gradients} gradients of one query")));
        }
        let largest = self.largest_label();
        match labels.iter().position(|label| !(label.abs() <= largest)) {
            Some(document) => Err(Error::Mismatch(format!(
                "document {document} has the label {}, not a number of at most {largest}",
                labels[document]
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
