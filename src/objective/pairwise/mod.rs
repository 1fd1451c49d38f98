//! Pair losses: the gradient of every loss over weighted pairs by the scores, in closed form, on the host.
//!
//! Every such objective is one logistic loss with another weight,
//!
//! ```text
//! C = sum over pairs of  w_ij log(1 + exp(-sigma (s_i - s_j)))
//! dC/ds_i = -sigma sum over j of  w_ij / (1 + exp(sigma (s_i - s_j)))  +  the same of pairs that want i below
//! ```
//!
//! where `w_ij` depends on labels and ranks only ([`PairWeight`]). A query is sorted once ([`ranked`]) and then takes one of
//! three ways to the same sums:
//!
//! - [`grid`] and [`lanes`]: pair by pair in f32 lanes, no exponential and no branch in the inner loop; O(n²), or O(nk) when
//!   truncated at `k`;
//! - [`sweep`]: in near-linear time, for lists beyond some hundred documents;
//! - [`any`]: pair by pair in f64, for weights without a form: any measure, any weight of a user, sampled rankings.
//!
//! They know forms, not objectives. All are tested against sums that do what the formulas say.

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

/// The steepest sigmoid: scores of 1e30 times it are finite in f32.
const LARGEST_SIGMA: f64 = 1e6;

/// A logistic loss over weighted pairs: what pairs weigh, and how the sums are computed.
#[derive(Debug, Clone)]
pub struct PairLoss {
    /// The name, without what the fields below add to it: what comes before and what comes behind the truncation.
    pub title: [String; 2],
    /// What a pair weighs.
    pub weight: Arc<dyn PairWeight>,
    /// Keep only pairs with a document of the top `k` ranks.
    pub truncation: Option<usize>,
    /// The steepness of the sigmoid.
    pub sigma: f64,
    /// The unit of the loss, and so of the gradient.
    pub base: LogBase,
    /// Where the ranks come from that weights depend on.
    pub assignment: Assignment,
    /// How the sums are computed.
    pub method: PairAlgorithm,
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
pub enum PairAlgorithm {
    /// Whichever is faster for the length of the query.
    #[default]
    Auto,
    /// Pair by pair.
    Direct,
    /// In near-linear time wherever the weight allows it, see [`PairLoss::has_fast_method`].
    Fast,
}

/// Memory that losses reuse from query to query.
#[derive(Debug, Default)]
pub struct LossScratch {
    ranked: Ranked,
    grid: Grid,
    sweep: SweepMemory,
    count: Count,
    sums: Sums,
}

impl PairLoss {
    /// Natural logarithms, `sigma` 1, no truncation; `name` stands for the weight in reports.
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

    /// Refuses settings that make no sense.
    ///
    /// # Errors
    /// When `sigma` is not a number above 0 (and of reason), a cutoff is 0, or a setting of the weight makes no sense.
    pub fn check(&self) -> Result<()> {
        if !(self.sigma > 0.0 && self.sigma <= LARGEST_SIGMA) {
            return Err(Error::Config(format!(
                "sigma must be a number above 0 and at most {LARGEST_SIGMA}, not {}",
                self.sigma
            )));
        }
        if self.truncation == Some(0) || self.weight.depth() == Some(0) {
            return Err(Error::Config("at least one rank must count, not @0".to_owned()));
        }
        if let Classes::AtLeast(limit) | Classes::UpTo(limit) = self.weight.classes()
            && !limit.is_finite()
        {
            return Err(Error::Config(format!("labels must be told apart by a number, not {limit}")));
        }
        // What a form is written for; anything else would silently be another weight.
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

    /// Prepares the weights of one ranked list: its labels in rank order, the top document first.
    pub fn weights<'a>(&'a self, ranked: &'a [f32]) -> PairWeights<'a> {
        PairWeights::new(&*self.weight, ranked, self.truncation)
    }

    /// Whether there is a near-linear way to the sums: for all weights that have a form and are not truncated, and for the
    /// swaps of rightly ordered pairs (near-linear for a few labels: O(nL) for L of them).
    pub fn has_fast_method(&self) -> bool {
        (self.weight.form().is_some() || self.weight.counts_pairs()) && self.truncation.is_none()
    }

    /// Whether to compute a query in near-linear time.
    ///
    /// The choice depends on the query alone, so that a gradient never depends on what else is asked for.
    fn goes_fast(&self, form: Option<PairForm>, ranked: &Ranked) -> bool {
        let (n, top) = (ranked.len(), ranked.top);
        self.has_fast_method()
            && match (self.method, form) {
                (PairAlgorithm::Direct, _) => false,
                (PairAlgorithm::Fast, _) => true,
                // Directly the product of two counts, which is small unless many are relevant.
                (PairAlgorithm::Auto, Some(PairForm::FallOrRise)) => match *ranked.levels.ends.as_slice() {
                    [relevant, _] => (relevant as usize * (n - relevant as usize)).min(n * top) >= 250 * n,
                    _ => false,
                },
                // Directly O(n top), and half of that when all ranks count.
                (PairAlgorithm::Auto, Some(form)) => n >= form.long() && 2 * top >= form.long(),
                // Two sweeps over the documents of some labels take as long as three looks at pairs per document.
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
        ranked.weigh(self, form)?;
        sums.clear(query.scores.len(), to.hessian.is_some());
        let mut result = QueryResult::default();
        let fast = self.goes_fast(form, ranked);
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
        // The sums of a kernel that was stopped are not whole.
        stop.check()?;
        if outputs.pairs && (fast || form.is_some()) {
            (result.pairs, result.saturated) = count.pairs(form, ranked);
        }
        let documents = || ranked.keys.iter().map(|&key| document(key));
        let scale = self.sigma / self.base.nats();
        documents().zip(&sums.slopes).for_each(|(document, slope)| to.gradient[document] = (slope * scale) as f32);
        if let Some(hessian) = to.hessian {
            let scale = scale * self.sigma;
            documents().zip(&sums.curves).for_each(|(document, curve)| hessian[document] = (curve * scale) as f32);
        }
        result.loss /= self.base.nats();
        Ok(result)
    }
}

impl Loss for PairLoss {
    fn name(&self) -> String {
        self.spell()
    }

    /// Ranks are by score, equal scores in document order. NaN counts as the lowest score and scores beyond ±1e30 as ±1e30,
    /// so that differences are finite; the loss has a linear tail and never overflows.
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
