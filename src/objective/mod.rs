//! What is optimised: pair weights, tensor losses, lambda kernels and the surrogate that injects lambdas.

pub(crate) mod construction;
pub(crate) mod kernel;
mod name;
pub mod probability;
mod surrogate;
mod targets;
mod tensor;
mod tile;
mod weights;

pub use construction::{Construction, LambdaField, ObjectiveField};
pub use kernel::{
    Assignment, Kernel, LARGEST_SCORE, LogBase, Method, PairTarget, PairWeight, PairWeights, Pairs, QueryResult,
    Reference, Scratch, Want, Weighting, for_each_weight, ranknet_pairs, training_order,
};
pub use name::OBJECTIVES;
pub use surrogate::surrogate;
pub use targets::Targets;
pub use tensor::TensorGradient;
pub use tile::{Batch, PAIR_BUDGET};

use crate::error::Result;
use crate::metric::{Gain, Metric, MetricKind};
use crate::stop::Stop;
use std::sync::Arc;

/// A training objective: RankNet, a member of the LambdaLoss family, LambdaRank for some metric, or a weight of one's own.
///
/// All of them are one logistic pair loss with another pair weight. Names parse and print alike:
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
    family: Family,
    assignment: Assignment,
    kernel: Kernel,
}

/// What tells objectives apart, besides `@k`, `sigma` and the assignment.
#[derive(Debug, Clone)]
enum Family {
    RankNet { ties: bool },
    Arp1,
    Arp2,
    Ndcg1,
    Ndcg2,
    Ndcg2pp { mu: f64 },
    LambdaRank(Arc<dyn Metric>),
    Constructed { metric: Arc<dyn Metric>, construction: Construction },
    Field(Arc<dyn LambdaField>),
    Custom { name: String, weight: Arc<dyn PairWeight> },
}

impl Family {
    fn weighting(&self) -> Weighting {
        match self {
            Family::RankNet { ties } => Weighting::RankNet { ties: *ties },
            Family::Arp1 => Weighting::Arp1,
            Family::Arp2 => Weighting::Arp2,
            Family::Ndcg1 => Weighting::Ndcg1,
            Family::Ndcg2 => Weighting::Ndcg2 { rho: 0.0, delta: 1.0 },
            Family::Ndcg2pp { mu } => Weighting::Ndcg2 { rho: 1.0, delta: *mu },
            Family::LambdaRank(metric) | Family::Constructed { metric, .. } => Weighting::lambdarank(metric.clone()),
            // Never asked: a field has forces, not weights.
            Family::Field(_) => Weighting::RankNet { ties: false },
            Family::Custom { weight, .. } => Weighting::Custom(weight.clone()),
        }
    }

    fn base(&self) -> LogBase {
        match self {
            Family::Arp1 | Family::Arp2 | Family::Ndcg1 | Family::Ndcg2 | Family::Ndcg2pp { .. } => LogBase::Bits,
            _ => LogBase::Nats,
        }
    }

    fn gain(&self) -> Gain {
        match self {
            Family::LambdaRank(metric) => match metric.kind() {
                MetricKind::Ndcg { gain, .. } => gain,
                _ => Gain::Exponential,
            },
            _ => Gain::Exponential,
        }
    }
}

impl Default for Objective {
    /// LambdaRank for NDCG.
    fn default() -> Self {
        Objective::new(Family::LambdaRank(Arc::new(crate::metric::Ndcg::default())))
    }
}

impl Objective {
    fn new(family: Family) -> Self {
        let kernel = Kernel { base: family.base(), gain: family.gain(), ..Kernel::new(family.weighting()) };
        Objective { family, assignment: Assignment::Hard, kernel }
    }

    /// LambdaRank for any metric: pairs weigh what their swap would change.
    pub fn lambdarank(metric: Arc<dyn Metric>) -> Self {
        Objective::new(Family::LambdaRank(metric))
    }

    /// A logistic pair loss with a pair weight of one's own; `name` stands for it in reports.
    pub fn custom(name: impl Into<String>, weight: Arc<dyn PairWeight>) -> Self {
        Objective::new(Family::Custom { name: name.into(), weight })
    }

    /// LambdaRank for any metric with lambdas made another way (lambda path only).
    pub fn constructed(metric: Arc<dyn Metric>, construction: Construction) -> Self {
        match construction {
            Construction::RankNetWeightPairs => Objective::lambdarank(metric),
            _ => Objective::new(Family::Constructed { metric, construction }),
        }
    }

    /// A lambda function of one's own, which need not be the slope of any cost (lambda path only).
    pub fn field(field: Arc<dyn LambdaField>) -> Self {
        Objective::new(Family::Field(field))
    }

    /// The lambda function, when the objective is not a sum over weighted pairs.
    pub(crate) fn own_field(&self) -> Option<Arc<dyn LambdaField>> {
        match &self.family {
            Family::Constructed { metric, construction } => {
                let (metric, construction) = (metric.clone(), *construction);
                let (sigma, stop) = (self.sigma(), self.stop().clone());
                Some(Arc::new(construction::Constructed { metric, construction, sigma, stop }))
            }
            Family::Field(field) => Some(field.clone()),
            _ => None,
        }
    }

    /// Whether there is no loss that tensors could compute: sampled rankings, constructions and fields of one's own.
    pub fn is_lambda_only(&self) -> bool {
        self.is_sampled() || matches!(self.family, Family::Constructed { .. } | Family::Field(_))
    }

    /// The same objective with another slope of the sigmoid.
    pub fn with_sigma(mut self, sigma: f64) -> Self {
        self.kernel.sigma = sigma;
        self
    }

    /// The same objective over pairs of which one document ranks among the first `k`.
    pub fn with_truncation(mut self, k: Option<usize>) -> Self {
        self.kernel.truncation = k;
        self
    }

    /// The same objective with weights averaged over sampled rankings (lambda path only).
    pub fn with_assignment(mut self, assignment: Assignment) -> Self {
        self.assignment = assignment;
        self
    }

    /// The same objective, whose gradients end with [`Error::Stopped`](crate::Error::Stopped) within a second of the flag
    /// being set.
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.kernel.stop = stop;
        self
    }

    /// The kernel that computes its lambdas.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// How documents are assigned to ranks.
    pub fn assignment(&self) -> Assignment {
        self.assignment
    }

    /// Whether the loss itself is what is minimised, so that its rise is bad news. The weights of all others change with
    /// the ranking, so that losses of two epochs do not compare.
    pub fn is_cost(&self) -> bool {
        matches!(self.family, Family::RankNet { .. } | Family::Arp1 | Family::Arp2)
    }

    /// Whether the tensor path computes the weights on the device, without a copy to the host.
    pub fn has_device_weights(&self) -> bool {
        let host = matches!(
            self.kernel.weighting,
            Weighting::SwapAp { .. } | Weighting::SwapRr { .. } | Weighting::SwapMetric(_) | Weighting::Custom(_)
        );
        !host && !self.is_lambda_only()
    }

    fn weighting(&self) -> &Weighting {
        &self.kernel.weighting
    }

    fn truncation(&self) -> Option<usize> {
        self.kernel.truncation
    }

    pub(crate) fn stop(&self) -> &Stop {
        &self.kernel.stop
    }

    fn sigma(&self) -> f64 {
        self.kernel.sigma
    }

    fn base(&self) -> LogBase {
        self.kernel.base
    }

    fn gain(&self) -> Gain {
        self.kernel.gain
    }

    /// Whether the weights are averaged over sampled rankings.
    pub fn is_sampled(&self) -> bool {
        self.assignment != Assignment::Hard
    }

    /// Whether [`Objective::target_gradient`] makes sense for it.
    pub fn takes_targets(&self) -> bool {
        matches!(self.family, Family::RankNet { .. }) && self.truncation().is_none()
    }

    /// The gradient of a batch's loss by its scores, the mean over its queries, on the host and in linear memory.
    ///
    /// `seeds` holds one number per query when the objective samples rankings, and is not looked at otherwise.
    ///
    /// ```
    /// use burnrank::{Batch, Objective, Want};
    /// let batch = Batch { labels: &[0.0, 1.0, 2.0, 0.0, 3.0], offsets: &[0, 5] };
    /// let mut gradient = [0.0; 5];
    /// let objective = Objective::parse("lambdarank:ndcg")?;
    /// objective.lambda_gradient(&[0.9, 0.1, -0.4, 1.5, 0.3], batch, &mut gradient, Want::default(), &[])?;
    /// assert!((gradient[4] + 0.385296).abs() < 1e-5); // the best document is pushed up
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// When lengths do not fit together, or the flag of [`Objective::with_stop`] is set.
    pub fn lambda_gradient(
        &self,
        scores: &[f32],
        batch: Batch<'_>,
        gradient: &mut [f32],
        want: Want,
        seeds: &[u64],
    ) -> Result<QueryResult> {
        let sum = self.lambda_sum(scores, batch, gradient, want, seeds)?;
        Ok(mean_over(batch.n_queries(), sum, gradient))
    }

    /// The same, the sum over its queries.
    pub(crate) fn lambda_sum(
        &self,
        scores: &[f32],
        batch: Batch<'_>,
        gradient: &mut [f32],
        want: Want,
        seeds: &[u64],
    ) -> Result<QueryResult> {
        let Batch { labels, offsets } = batch;
        if let Some(field) = self.own_field() {
            return field.batch(scores, batch, gradient, self.stop());
        }
        match self.assignment {
            Assignment::Hard => self.kernel.batch(scores, labels, offsets, gradient, want),
            sampled => self.kernel.batch_sampled(scores, labels, offsets, sampled, seeds, gradient, want),
        }
    }

    /// RankNet's gradient for given target probabilities, one list of pairs a query, the mean over the queries.
    ///
    /// # Errors
    /// When lengths do not fit together or a pair names a document that is not there.
    pub fn target_gradient<'p>(
        &self,
        scores: &[f32],
        batch: Batch<'_>,
        targets: impl Iterator<Item = &'p [PairTarget]>,
        gradient: &mut [f32],
    ) -> Result<QueryResult> {
        let sum = self.target_sum(scores, batch, targets, gradient)?;
        Ok(mean_over(batch.n_queries(), sum, gradient))
    }

    /// The same, the sum over its queries.
    pub(crate) fn target_sum<'p>(
        &self,
        scores: &[f32],
        batch: Batch<'_>,
        targets: impl Iterator<Item = &'p [PairTarget]>,
        gradient: &mut [f32],
    ) -> Result<QueryResult> {
        let mut result = QueryResult::default();
        for (query, pairs) in (0..batch.n_queries()).zip(targets) {
            self.stop().check()?;
            let rows = batch.rows(query);
            let scores = &scores[rows.clone()];
            result.loss += ranknet_pairs(scores, pairs, self.sigma(), &mut gradient[rows])?;
            result.pairs += pairs.len() as u64;
            let factor = |pair: &PairTarget| {
                let modelled = probability::probability(self.sigma() * f64::from(scores[pair.i] - scores[pair.j]));
                (modelled - pair.probability).abs()
            };
            result.saturated += pairs.iter().filter(|pair| factor(pair) < 1e-3).count() as u64;
        }
        Ok(result)
    }
}

/// Makes the sum over so many queries their mean.
pub(crate) fn mean_over(queries: usize, mut sum: QueryResult, gradient: &mut [f32]) -> QueryResult {
    if queries > 1 {
        gradient.iter_mut().for_each(|slope| *slope /= queries as f32);
    }
    sum.loss /= queries.max(1) as f64;
    sum
}
