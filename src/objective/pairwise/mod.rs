//! Pair losses: gradients of losses over weighted pairs with respect to the scores, in closed form, on the host.
//!
//! All these objectives are the same logistic loss with different weights,
//!
//! ```text
//! C = sum over pairs of  w_ij log(1 + exp(-sigma (s_i - s_j)))
//! dC/ds_i = -sigma sum over j of  w_ij / (1 + exp(sigma (s_i - s_j)))  +  the same for pairs that prefer j
//! ```
//!
//! where `w_ij` depends on labels and ranks only ([`PairWeight`]). A query is sorted once ([`ranked`]). The same sums
//! are then computed in one of three ways:
//!
//! - [`grid`] and [`lanes`]: all pairs in f32 lanes, without exponential or branch in the inner loop; O(n²), or O(nk)
//!   when truncated at `k`;
//! - [`sweep`]: in near-linear time, for lists of more than some hundred documents;
//! - [`any`]: all pairs in f64, for weights without a form: any metric, any custom weight, sampled rankings.
//!
//! They depend on forms, not on objectives, and are tested against direct sums of the formulas.

mod any;
mod count;
mod direct;
mod grid;
mod lanes;
mod name;
mod pairs;
mod ranked;
mod sampled;
mod sweep;
mod targets;
mod tensor;

pub(super) use grid::{Grid, GridTask};
pub(super) use lanes::{LaneForm, Sides};
pub use sampled::Assignment;
pub(super) use sweep::{Document, Moments, Node, Side};
pub use targets::ranknet_pairs;
pub(super) use tensor::PairTensors;

use super::lambda_field::LambdaField;
use super::loss::{Gradients, Loss, Outputs, Query, QueryResult};
use super::pair_form::PairForm;
use super::tensor::TensorLoss;
use super::weight::{Classes, PairWeight, PairWeights, Pairs};
use crate::error::{Error, Result};
use crate::numeric::order::document;
use any::sum_pairs;
use count::Count;
use grid::Sums;
use ranked::Ranked;
use std::sync::Arc;
use sweep::SweepMemory;

/// Maximum steepness of the sigmoid: scores of 1e30 times sigma are finite in f32.
const LARGEST_SIGMA: f64 = 1e6;

/// A logistic loss over weighted pairs: the pair weight, and how the sums over pairs are computed.
#[derive(Debug, Clone)]
pub struct PairLoss {
    /// The name without the settings below: the parts before and after the truncation.
    pub title: [String; 2],
    /// Pair weight.
    pub weight: Arc<dyn PairWeight>,
    /// If set, only pairs with a document in the top `k` ranks count.
    pub truncation: Option<usize>,
    /// Steepness of the sigmoid.
    pub sigma: f64,
    /// Unit of the loss, and so of the gradient.
    pub base: LogBase,
    /// Source of the ranks that weights depend on.
    pub assignment: Assignment,
    /// Algorithm for the sums over pairs.
    pub method: PairAlgorithm,
}

/// Unit of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogBase {
    /// Natural logarithms: RankNet and LambdaRank.
    #[default]
    Nats,
    /// Logarithms to base 2: the LambdaLoss paper.
    Bits,
}

impl LogBase {
    /// Size of the unit in nats, to divide by.
    pub fn nats(self) -> f64 {
        match self {
            LogBase::Nats => 1.0,
            LogBase::Bits => std::f64::consts::LN_2,
        }
    }
}

/// Algorithm for the sums over pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PairAlgorithm {
    /// The faster one for the length of the query.
    #[default]
    Auto,
    /// Enumeration of all pairs.
    Direct,
    /// Near-linear time if the weight supports it, see [`PairLoss::has_fast_method`].
    Fast,
}

/// Buffers that losses reuse between queries.
#[derive(Debug, Default)]
pub struct LossScratch {
    ranked: Ranked,
    grid: Grid,
    sweep: SweepMemory,
    count: Count,
    sums: Sums,
}

impl PairLoss {
    /// Creates a loss with natural logarithms, `sigma` 1 and no truncation; `name` identifies the weight in reports.
    pub fn new(name: impl Into<String>, weight: Arc<dyn PairWeight>) -> Self {
        PairLoss {
            title: [name.into(), String::new()],
            weight,
            truncation: None,
            sigma: 1.0,
            base: LogBase::default(),
            assignment: Assignment::default(),
            method: PairAlgorithm::default(),
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// Returns an error if `sigma` is not a positive number of at most 1e6, a cutoff is 0, or a setting of the weight
    /// is invalid.
    pub fn check(&self) -> Result<()> {
        if !(self.sigma > 0.0 && self.sigma <= LARGEST_SIGMA) {
            return Err(Error::Config(format!(
                "sigma must be a number above 0 and at most {LARGEST_SIGMA}, not {}",
                self.sigma
            )));
        }
        if self.truncation == Some(0) || self.weight.depth() == Some(0) {
            return Err(Error::Config("the cutoff must be at least 1, not 0".to_owned()));
        }
        if let Classes::AtLeast(limit) | Classes::UpTo(limit) = self.weight.classes()
            && !limit.is_finite()
        {
            return Err(Error::Config(format!("the threshold between labels must be a finite number, not {limit}")));
        }
        // Other classes or pairs would silently give different weights.
        let refuse = |form: &str, needs: &str| Err(Error::Config(format!("the form {form} needs {needs}")));
        match (self.weight.form(), self.weight.classes(), self.weight.pairs()) {
            (Some(PairForm::FallOrRise), Classes::Labels | Classes::UpTo(_), _) => {
                return refuse("FallOrRise", "labels in two classes, Classes::AtLeast");
            }
            (Some(PairForm::Own), _, Pairs::Ordered) => return refuse("Own", "all pairs, Pairs::All"),
            _ => {}
        }
        self.assignment.check()?;
        self.weight.check()
    }

    /// Prepares the weights of one ranked list, given its labels in rank order, top document first.
    pub fn weights<'a>(&'a self, ranked: &'a [f32]) -> PairWeights<'a> {
        PairWeights::new(&*self.weight, ranked, self.truncation)
    }

    /// Returns whether the sums can be computed in near-linear time: for untruncated weights that have a form, and for
    /// swaps of the fraction of ordered pairs (O(nL) for L different labels).
    pub fn has_fast_method(&self) -> bool {
        (self.weight.form().is_some() || self.weight.counts_pairs()) && self.truncation.is_none()
    }

    /// Returns whether to compute a query in near-linear time.
    ///
    /// The choice depends on the query alone, so that a gradient does not depend on the requested outputs.
    fn uses_sweep(&self, form: Option<PairForm>, ranked: &Ranked) -> bool {
        let (n, top) = (ranked.len(), ranked.top);
        self.has_fast_method()
            && match (self.method, form) {
                (PairAlgorithm::Direct, _) => false,
                (PairAlgorithm::Fast, _) => true,
                // Enumeration takes the product of two counts, which is small unless many documents are relevant.
                (PairAlgorithm::Auto, Some(PairForm::FallOrRise)) => match *ranked.levels.ends.as_slice() {
                    [relevant, _] => (relevant as usize * (n - relevant as usize)).min(n * top) >= 250 * n,
                    _ => false,
                },
                // Enumeration takes O(n top), and half of that if all ranks count.
                (PairAlgorithm::Auto, Some(form)) => n >= form.min_sweep_length() && 2 * top >= form.min_sweep_length(),
                // Two sweeps per label take as long as enumerating three pairs per document and label.
                (PairAlgorithm::Auto, None) => n >= 24 && n / 2 >= 3 * (ranked.levels.ends.len() + 1),
            }
    }

    fn hard(
        &self,
        query: Query<'_>,
        to: Gradients<'_>,
        outputs: Outputs,
        scratch: &mut LossScratch,
    ) -> Result<QueryResult> {
        let LossScratch { ranked, grid, sweep, count, sums } = scratch;
        let form = self.weight.form();
        let stop = query.stop;
        ranked.fill(query.scores, query.labels, self.sigma);
        ranked.prepare_weights(self, form)?;
        sums.clear(query.scores.len(), to.hessian.is_some());
        let mut result = QueryResult::default();
        let fast = self.uses_sweep(form, ranked);
        match form {
            _ if fast => result.loss = sweep.run(form, ranked, outputs.loss, stop, sums),
            Some(form) => {
                ranked.exponentiate(self.sigma);
                let hessian = to.hessian.is_some();
                let task = GridTask { wide: ranked.wide, sigma: self.sigma, loss: outputs.loss, hessian, stop };
                result.loss = self.direct(form, ranked, grid, task, sums);
            }
            None => result = sum_pairs(&ranked.scaled, &self.weights(&ranked.labels), ranked.top, sums, outputs, stop),
        }
        // A stopped kernel leaves incomplete sums.
        stop.check()?;
        if outputs.pairs && (fast || form.is_some()) {
            (result.pairs, result.saturated) = count.pairs(form, ranked);
        }
        let documents = || ranked.keys.iter().map(|&key| document(key));
        let scale = self.sigma / self.base.nats();
        documents().zip(&sums.gradient).for_each(|(document, sum)| to.gradient[document] = (sum * scale) as f32);
        if let Some(hessian) = to.hessian {
            let scale = scale * self.sigma;
            documents().zip(&sums.hessian).for_each(|(document, sum)| hessian[document] = (sum * scale) as f32);
        }
        result.loss /= self.base.nats();
        Ok(result)
    }
}

impl Loss for PairLoss {
    fn name(&self) -> String {
        self.spell()
    }

    /// Ranks are by score, equal scores in document order. NaN counts as the lowest score and scores are clamped to
    /// ±1e30, so that differences are finite; the loss has a linear tail and never overflows.
    fn query(
        &self,
        query: Query<'_>,
        to: Gradients<'_>,
        outputs: Outputs,
        scratch: &mut LossScratch,
    ) -> Result<QueryResult> {
        self.check()?;
        query.check(&to, self.weight.largest_label())?;
        match self.assignment {
            Assignment::Hard => self.hard(query, to, outputs, scratch),
            sampled => self.sampled(query, to, outputs, sampled),
        }
    }

    fn is_cost(&self) -> bool {
        self.weight.ignores_ranks()
    }

    fn is_random(&self) -> bool {
        self.assignment != Assignment::Hard
    }

    fn tensors(&self) -> Option<&dyn TensorLoss> {
        (!self.is_random()).then_some(self)
    }

    fn field(&self) -> Option<&dyn LambdaField> {
        (!self.is_random()).then_some(self)
    }

    fn as_pairs(&self) -> Option<&PairLoss> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
