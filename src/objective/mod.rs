//! Training objectives: losses on the host and in tensors, their names, and the surrogate that injects lambdas into
//! autodiff.

mod batch;
#[cfg(feature = "cubecl")]
pub(crate) mod device;
pub(crate) mod lambda_field;
mod lambda_tensor;
mod lambdarank;
mod loss;
mod name;
mod pair_form;
mod pairwise;
mod registry;
mod smooth;
mod surrogate;
mod tensor;
mod tile;
mod weight;

pub use batch::Batch;
pub(crate) use batch::mean_over;
pub use lambda_field::{Construction, LambdaField};
pub use lambda_tensor::LambdaTensor;
pub use loss::{Gradients, Loss, Outputs, Query, QueryResult};
pub use pair_form::PairForm;
pub use pairwise::{Assignment, LogBase, LossScratch, PairAlgorithm, PairLoss, ranknet_pairs};
pub use registry::{OBJECTIVES, ObjectiveEntry};
pub use surrogate::surrogate;
pub use tensor::{PAIR_BUDGET, TensorGradient, TensorLoss, TensorTile, TilePart};
pub use weight::{Classes, PairWeight, PairWeights, Pairs, RankedList, ValueRule, Values};

use crate::data::PairTarget;
use crate::error::Result;
use crate::metric::Metric;
use crate::stop::Stop;
use lambda_field::FieldLoss;
use std::sync::Arc;

/// A training objective: a loss and its name.
///
/// A name prints in the form in which it parses:
///
/// ```
/// use burnrank::Objective;
/// for name in ["ranknet", "ndcg-loss2++:mu=5", "lambdarank:ndcg@10", "arp-loss1@5:sigma=2"] {
///     assert_eq!(Objective::parse(name)?.name(), name);
/// }
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Objective {
    name: String,
    loss: Arc<dyn Loss>,
}

impl Default for Objective {
    /// LambdaRank for NDCG.
    fn default() -> Self {
        Objective::lambdarank(Arc::new(crate::metric::Ndcg::default()))
    }
}

impl Objective {
    /// Creates an objective from any loss.
    pub fn of(loss: Arc<dyn Loss>) -> Self {
        Objective { name: loss.name(), loss }
    }

    /// LambdaRank for any metric: the weight of a pair is the metric's change when the pair swaps.
    pub fn lambdarank(metric: Arc<dyn Metric>) -> Self {
        let name = format!("lambdarank:{}", metric.name());
        Objective::of(Arc::new(PairLoss::new(name, weight::lambdarank(metric))))
    }

    /// A logistic pair loss with a custom pair weight; `name` identifies it in reports.
    pub fn custom(name: impl AsRef<str>, weight: Arc<dyn PairWeight>) -> Self {
        Objective::of(Arc::new(PairLoss::new(format!("custom:{}", name.as_ref()), weight)))
    }

    /// A custom lambda function, which need not be the gradient of any cost (lambda path only).
    pub fn field(field: Arc<dyn LambdaField>) -> Self {
        Objective::of(Arc::new(FieldLoss(field)))
    }

    /// Returns the name that [`Objective::parse`] accepts. Names of custom objectives do not parse.
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// Returns the loss.
    pub fn loss(&self) -> &dyn Loss {
        &*self.loss
    }

    /// Returns whether the objective has no loss in tensor operations: sampled rankings, lambda constructions and
    /// custom lambda functions.
    pub fn is_lambda_only(&self) -> bool {
        self.loss.tensors().is_none()
    }

    /// Returns whether the loss is a fixed function of the scores, so that it can be compared between epochs.
    pub fn is_cost(&self) -> bool {
        self.loss.is_cost()
    }

    /// Returns whether the tensor path computes the weights on the device. Otherwise the weights of all pairs are
    /// computed on the host and copied.
    pub fn has_device_weights(&self) -> bool {
        !self.is_lambda_only() && self.loss.as_pairs().is_none_or(|pairs| pairs.weight.form().is_some())
    }

    /// Returns whether this build has GPU kernels for the lambdas: those of pair losses whose weight has a form and a
    /// rule for its values, without sampled rankings.
    pub fn has_kernels(&self) -> bool {
        #[cfg(feature = "cubecl")]
        return self.loss.as_pairs().is_some_and(device::has_kernels);
        #[cfg(not(feature = "cubecl"))]
        false
    }

    /// Returns whether single documents contribute: see [`Loss::is_pointwise`].
    pub fn is_pointwise(&self) -> bool {
        self.loss.is_pointwise()
    }

    /// Returns whether the loss is random, so that every query needs a seed.
    pub fn is_random(&self) -> bool {
        self.loss.is_random()
    }

    /// Returns whether [`Objective::target_gradient`] is supported: RankNet without truncation.
    pub fn takes_targets(&self) -> bool {
        self.loss.as_pairs().is_some_and(|pairs| {
            matches!(pairs.weight.form(), Some(PairForm::Constant { .. })) && pairs.truncation.is_none()
        })
    }

    /// Gradient of a batch's loss with respect to its scores, averaged over its queries, computed on the host. Memory
    /// is linear in the number of documents.
    ///
    /// `seeds` holds one number per query if the objective samples rankings; other objectives ignore it.
    ///
    /// ```
    /// use burnrank::Objective;
    /// use burnrank::objective::{Batch, Outputs};
    /// let batch = Batch { labels: &[0.0, 1.0, 2.0, 0.0, 3.0], offsets: &[0, 5] };
    /// let mut gradient = [0.0; 5];
    /// let objective = Objective::parse("lambdarank:ndcg")?;
    /// objective.lambda_gradient(&[0.9, 0.1, -0.4, 1.5, 0.3], batch, &mut gradient, Outputs::default(), &[])?;
    /// assert!((gradient[4] + 0.385296).abs() < 1e-5); // the best document is pushed up
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if lengths do not match.
    pub fn lambda_gradient(
        &self,
        scores: &[f32],
        batch: Batch<'_>,
        gradient: &mut [f32],
        outputs: Outputs,
        seeds: &[u64],
    ) -> Result<QueryResult> {
        let sum = self.gradients(scores, batch, Gradients::gradient(gradient), outputs, seeds, &Stop::new())?;
        Ok(mean_over(batch.n_queries(), sum, gradient))
    }

    /// Gradients of a batch's loss with respect to its scores, not averaged over queries, and sums over its queries.
    /// Also computes the diagonal of the hessian if requested.
    ///
    /// ```
    /// use burnrank::objective::{Batch, Gradients, Outputs};
    /// use burnrank::{Objective, Stop};
    /// let batch = Batch { labels: &[1.0, 0.0], offsets: &[0, 2] };
    /// let (mut gradient, mut hessian) = ([0.0; 2], [0.0; 2]);
    /// let gradients = Gradients { gradient: &mut gradient, hessian: Some(&mut hessian) };
    /// Objective::parse("ranknet")?.gradients(&[0.5, 0.5], batch, gradients, Outputs::default(), &[], &Stop::new())?;
    /// assert_eq!((gradient, hessian), ([-0.5, 0.5], [0.25, 0.25]));
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Objective::lambda_gradient`], and [`Error::Stopped`](crate::Error::Stopped) within a
    /// second of `stop` being set.
    pub fn gradients(
        &self,
        scores: &[f32],
        batch: Batch<'_>,
        to: Gradients<'_>,
        outputs: Outputs,
        seeds: &[u64],
        stop: &Stop,
    ) -> Result<QueryResult> {
        batch::run(&*self.loss, scores, batch, to, outputs, seeds, stop)
    }

    /// Returns the lambdas in double precision, for analysis.
    ///
    /// # Errors
    /// Returns an error if the objective samples rankings.
    pub fn as_field(&self) -> Result<&dyn LambdaField> {
        self.loss.field().ok_or_else(|| {
            crate::Error::Config(format!("{self}: sampled rankings give a random field, which cannot be analysed"))
        })
    }

    /// RankNet's gradient for given target probabilities, one list of pairs per query, averaged over the queries.
    ///
    /// # Errors
    /// Returns an error if lengths do not match or a pair refers to a document that does not exist.
    pub fn target_gradient<'p>(
        &self,
        scores: &[f32],
        batch: Batch<'_>,
        targets: impl Iterator<Item = &'p [PairTarget]>,
        gradient: &mut [f32],
    ) -> Result<QueryResult> {
        let sum = self.target_sum(scores, batch, targets, gradient, &Stop::new())?;
        Ok(mean_over(batch.n_queries(), sum, gradient))
    }

    /// Like [`Objective::target_gradient`], summed over the queries.
    pub(crate) fn target_sum<'p>(
        &self,
        scores: &[f32],
        batch: Batch<'_>,
        targets: impl Iterator<Item = &'p [PairTarget]>,
        gradient: &mut [f32],
        stop: &Stop,
    ) -> Result<QueryResult> {
        let sigma = self.loss.as_pairs().map_or(1.0, |pairs| pairs.sigma);
        let mut sums = QueryResult::default();
        for (query, pairs) in (0..batch.n_queries()).zip(targets) {
            stop.check()?;
            let rows = batch.rows(query);
            sums = sums + ranknet_pairs(&scores[rows.clone()], pairs, sigma, &mut gradient[rows])?;
        }
        Ok(sums)
    }
}
