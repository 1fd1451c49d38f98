//! Weights of pairs of ranked documents: one weight per file.
//!
//! A weight is a function of labels and ranks, never of scores. It implements its formula, [`PairWeight::exact`]. If it
//! can also be computed from one or two values per document with a [`PairForm`], all fast paths support it without
//! further code.
//!
//! Ranks `i`, `j` count from 1, `D_i = log2(1 + i)`, and `G_i` is the gain of document `i` divided by the ideal DCG.

mod ap;
mod arp;
pub(super) mod arp1;
pub(super) mod arp2;
mod bpref;
mod dcg;
mod err;
mod mrr;
mod mrr_swap;
mod ndcg;
pub(super) mod ndcg1;
pub(super) mod ndcg2;
pub(super) mod ndcg2_topk;
mod prepared;
pub(super) mod ranknet;
pub(super) mod rr_gap;
mod rule;
mod swap;
mod values;

pub(super) use mrr_swap::MrrSwap;
pub use prepared::PairWeights;
pub use rule::ValueRule;
pub use values::{RankedList, Values};

use super::pair_form::PairForm;
use crate::error::Result;
use crate::metric::{Metric, MetricKind};
use std::fmt::Debug;
use std::sync::Arc;

/// Weight of a pair of ranked documents.
///
/// ```
/// use burnrank::Objective;
/// use burnrank::objective::{Batch, PairWeight, Outputs};
/// /// Weights a pair by its higher rank.
/// #[derive(Debug)]
/// struct TopHeavy;
/// impl PairWeight for TopHeavy {
///     fn exact(&self, _ranked: &[f32], i: usize, j: usize) -> f64 {
///         1.0 / (i.min(j) + 1) as f64
///     }
/// }
/// let objective = Objective::custom("top-heavy", std::sync::Arc::new(TopHeavy));
/// let batch = Batch { labels: &[0.0, 0.0, 1.0], offsets: &[0, 3] };
/// let mut gradient = [0.0; 3];
/// objective.lambda_gradient(&[0.0, 0.0, 0.0], batch, &mut gradient, Outputs::default(), &[])?;
/// assert_eq!(gradient, [0.5, 0.25, -0.75]);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub trait PairWeight: Debug + Send + Sync {
    /// Returns the weight of ranking the document at position `i` (from 0) above the one at `j`, given all labels in
    /// rank order. This is the reference formula. It is only called for the pairs selected by [`PairWeight::pairs`].
    ///
    /// The weight must be finite and not negative.
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64;

    /// Returns which pairs have a weight.
    fn pairs(&self) -> Pairs {
        Pairs::Ordered
    }

    /// Returns which labels the weight distinguishes.
    fn classes(&self) -> Classes {
        Classes::Labels
    }

    /// Returns the form that computes the weight from the values of two documents, if there is one.
    fn form(&self) -> Option<PairForm> {
        None
    }

    /// Fills in the values of one ranked list for [`PairWeight::form`]; `values` is empty before.
    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        let _ = (list, values);
    }

    /// Returns the rule that derives the values from labels and ranks, if it is one that devices support. Otherwise
    /// lambdas are computed on the host.
    fn rule(&self) -> Option<ValueRule> {
        None
    }

    /// Prepares one ranked list for computing many weights. Used if there is no form.
    fn prepare<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Fn(usize, usize) -> f64 + 'a> {
        Box::new(move |i, j| self.exact(ranked, i, j))
    }

    /// Number of top ranks outside which pairs have weight 0: only pairs with one of these ranks count.
    fn depth(&self) -> Option<usize> {
        None
    }

    /// Maximum label with a finite loss.
    fn largest_label(&self) -> f32 {
        1e9
    }

    /// Returns whether the weight is that of [`MetricKind::Pairs`], which has a dedicated near-linear algorithm.
    #[doc(hidden)]
    fn counts_pairs(&self) -> bool {
        false
    }

    /// Returns whether the weight is independent of the ranking, so that the loss is a fixed function of the scores.
    fn ignores_ranks(&self) -> bool {
        false
    }

    /// Checks the settings of the weight.
    ///
    /// # Errors
    /// Returns an error if a setting is invalid.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// The pairs that have a weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairs {
    /// Pairs in which the first document has a higher class.
    Ordered,
    /// All pairs of different documents, in both orders.
    All,
}

/// The labels that a weight distinguishes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Classes {
    /// All labels.
    Labels,
    /// Relevant labels, at least this, and others.
    AtLeast(f32),
    /// Labels from 0 up to this; higher labels count as this.
    UpTo(f32),
}

impl Classes {
    /// Returns the class of a label.
    #[inline]
    pub fn of(self, label: f32) -> f32 {
        match self {
            Classes::Labels => label,
            Classes::AtLeast(threshold) => f32::from(u8::from(label >= threshold)),
            Classes::UpTo(max) => label.min(max).max(0.0),
        }
    }
}

/// LambdaRank's weight for a metric: the change of its value when two documents swap; for the reciprocal rank, its gain
/// (2009 paper, Eq. 11).
pub(super) fn lambdarank(metric: Arc<dyn Metric>) -> Arc<dyn PairWeight> {
    match metric.kind() {
        MetricKind::Ndcg { k, gain } => Arc::new(ndcg::NdcgSwap { k, gain }),
        MetricKind::Ap { k, threshold } => Arc::new(ap::ApSwap { k, threshold }),
        MetricKind::Rr { k, threshold } => Arc::new(mrr::Mrr { k, threshold }),
        MetricKind::Dcg { k, gain } => Arc::new(dcg::DcgSwap { k, gain }),
        MetricKind::Err { k, max } => Arc::new(err::ErrSwap(crate::metric::ExpectedRr { k, max })),
        MetricKind::Bpref { threshold } => Arc::new(bpref::BprefSwap(crate::metric::Bpref { threshold })),
        MetricKind::Arp { form } => Arc::new(arp::ArpSwap(crate::metric::Arp { form })),
        MetricKind::Pairs | MetricKind::Other => Arc::new(swap::AnySwap(metric)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Objective;
    use crate::numeric::order::training_order;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// All weights that have a form, by objective.
    const ALL: [&str; 29] = [
        "ranknet",
        "ranknet:ties",
        "arp-loss1",
        "arp-loss2",
        "ndcg-loss1",
        "ndcg-loss1@3",
        "ndcg-loss2",
        "ndcg-loss2++:mu=5",
        "ndcg-loss2++@4:mu=0",
        "ndcg-loss2-topk",
        "ndcg-loss2-topk@1",
        "ndcg-loss2-topk@5",
        "rr-gap",
        "rr-gap@3",
        "lambdarank:ndcg",
        "lambdarank:ndcg@3",
        "lambdarank:ndcg:linear@5",
        "lambdarank:dcg",
        "lambdarank:dcg:linear@3",
        "lambdarank:map",
        "lambdarank:map:rel=2@4",
        "lambdarank:mrr",
        "lambdarank:mrr:rel=2@4",
        "lambdarank:mrr:swap",
        "lambdarank:err",
        "lambdarank:err@3",
        "lambdarank:bpref",
        "lambdarank:arp",
        "lambdarank:pairs",
    ];

    #[test]
    fn forms_agree_with_the_formulas() {
        let mut random = ChaCha8Rng::seed_from_u64(50);
        for n in [1, 2, 5, 12, 30] {
            let scores: Vec<f32> = (0..n).map(|_| random.random()).collect();
            let labels: Vec<f32> = (0..n).map(|_| random.random_range(0..5u8).into()).collect();
            let order = training_order(&scores);
            let ranked: Vec<f32> = order.iter().map(|&document| labels[document]).collect();
            for name in ALL {
                let objective = Objective::parse(name).unwrap();
                let loss = objective.loss().as_pairs().unwrap();
                let weights = loss.weights(&ranked);
                let top = loss.truncation.unwrap_or(n);
                for i in 0..n {
                    for j in (0..n).filter(|&j| j != i) {
                        let class = |place: usize| loss.weight.classes().of(ranked[place]);
                        let has_weight = loss.weight.pairs() == super::Pairs::All || class(i) > class(j);
                        let counts = has_weight && i.min(j) < top;
                        let expected = if counts { loss.weight.exact(&ranked, i, j) } else { 0.0 };
                        let weight = weights.get(i, j);
                        assert!(
                            (weight - expected).abs() < 1e-12,
                            "{name} of {n}: {weight}, not {expected}, at {i}, {j}"
                        );
                    }
                }
            }
        }
    }

    /// A weight that names a form but does not set the values that the form needs.
    #[derive(Debug)]
    struct MissingValues(super::PairForm);

    impl super::PairWeight for MissingValues {
        fn exact(&self, _: &[f32], _: usize, _: usize) -> f64 {
            1.0
        }

        fn form(&self) -> Option<super::PairForm> {
            Some(self.0)
        }
    }

    #[test]
    fn forms_with_unsupported_classes_or_pairs_are_refused() {
        for form in [super::PairForm::FallOrRise, super::PairForm::Own] {
            let objective = Objective::custom("missing", std::sync::Arc::new(MissingValues(form)));
            let batch = crate::objective::Batch { labels: &[1.0, 0.0], offsets: &[0, 2] };
            let result = objective.lambda_gradient(&[0.0; 2], batch, &mut [0.0; 2], Default::default(), &[]);
            assert!(result.unwrap_err().to_string().contains("the form "), "{form:?}");
        }
    }

    #[test]
    fn missing_values_are_refused() {
        for form in [
            super::PairForm::Gap,
            super::PairForm::Discounts,
            super::PairForm::Rest,
            super::PairForm::Distance { share: 1.0 },
            super::PairForm::Lower,
        ] {
            let objective = Objective::custom("missing", std::sync::Arc::new(MissingValues(form)));
            let batch = crate::objective::Batch { labels: &[1.0, 0.0, 2.0], offsets: &[0, 3] };
            let result = objective.lambda_gradient(&[0.0; 3], batch, &mut [0.0; 3], Default::default(), &[]);
            let message = result.unwrap_err().to_string();
            assert!(message.contains("has 0 first values for a list of 3 documents: PairWeight::values"), "{message}");
            // Single weights are computed with the formula.
            let loss = objective.loss().as_pairs().unwrap();
            assert_eq!(loss.weights(&[2.0, 1.0, 0.0]).get(0, 1), 1.0);
        }
    }

    /// A custom weight that uses the built-in gains, in classes or for all pairs: neither provides the order of labels.
    #[derive(Debug)]
    struct Gains(super::Classes, super::Pairs);

    impl super::PairWeight for Gains {
        fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
            let gain = crate::metric::Gain::Exponential;
            let ideal = crate::metric::max_dcg(ranked, None, gain);
            let share = |place: usize| gain.of(ranked[place]) / ideal;
            if self.1 == super::Pairs::All { share(i) } else { share(i) - share(j) }
        }

        fn pairs(&self) -> super::Pairs {
            self.1
        }

        fn classes(&self) -> super::Classes {
            self.0
        }

        fn form(&self) -> Option<super::PairForm> {
            Some(if self.1 == super::Pairs::All { super::PairForm::Own } else { super::PairForm::Gap })
        }

        fn values(&self, list: super::RankedList<'_>, values: &mut super::Values) {
            values.set_gains(list, crate::metric::Gain::Exponential, None);
        }
    }

    #[test]
    fn gains_depend_on_the_list_and_not_on_the_classes() {
        use super::{Classes, Pairs};
        // Two queries, so that values left over from the first would affect the second.
        let (labels, offsets) = ([0.0, 3.0, 1.0, 2.0, 4.0, 0.0, 1.0, 0.0, 2.0], [0, 4, 9]);
        let scores = [0.3, 0.1, 0.2, 0.0, -0.5, 0.4, 0.2, 0.1, 0.0];
        for (classes, pairs) in [(Classes::AtLeast(2.0), Pairs::Ordered), (Classes::Labels, Pairs::All)] {
            let objective = Objective::custom("gains", std::sync::Arc::new(Gains(classes, pairs)));
            let batch = crate::objective::Batch { labels: &labels, offsets: &offsets };
            let mut gradient = [0.0; 9];
            objective.lambda_gradient(&scores, batch, &mut gradient, Default::default(), &[]).unwrap();
            let mut expected = [0.0; 9];
            for query in offsets.windows(2) {
                let order = training_order(&scores[query[0]..query[1]]);
                let ranked: Vec<f32> = order.iter().map(|&document| labels[query[0] + document]).collect();
                for i in 0..ranked.len() {
                    for j in (0..ranked.len()).filter(|&j| j != i) {
                        if pairs == Pairs::Ordered && classes.of(ranked[i]) <= classes.of(ranked[j]) {
                            continue;
                        }
                        let weight = super::PairWeight::exact(&Gains(classes, pairs), &ranked, i, j);
                        let (a, b) = (query[0] + order[i], query[0] + order[j]);
                        let derivative = weight / (1.0 + f64::from(scores[a] - scores[b]).exp());
                        expected[a] -= derivative;
                        expected[b] += derivative;
                    }
                }
            }
            for (value, expected) in gradient.iter().zip(expected) {
                // The mean over two queries.
                assert!(
                    (f64::from(*value) - expected / 2.0).abs() < 1e-6,
                    "{classes:?}: {value}, not {}",
                    expected / 2.0
                );
            }
        }
    }

    #[test]
    fn reciprocal_rank_has_the_lambdas_of_the_paper() {
        // Eq. 11 of the 2009 paper, computed by hand; weights for swaps in both directions would also push document 2.
        let gradient_of = |name: &str, scores: &[f32], labels: &[f32]| {
            let mut gradient = vec![0.0; scores.len()];
            let batch = crate::objective::Batch { labels, offsets: &[0, scores.len()] };
            let objective = Objective::parse(name).unwrap();
            objective.lambda_gradient(scores, batch, &mut gradient, Default::default(), &[]).unwrap();
            gradient
        };
        let gradient = gradient_of("lambdarank:mrr", &[3.0, 2.0, 1.0, 0.0], &[0.0, 1.0, 0.0, 1.0]);
        for (value, expected) in gradient.iter().zip([0.841816, -0.365529, 0.0, -0.476287]) {
            assert!((value - expected).abs() < 1e-6, "{value}, not {expected}");
        }
        assert_eq!(gradient_of("lambdarank:mrr", &[2.0, 1.0, 0.0], &[1.0, 0.0, 0.0]), [0.0; 3]);
        assert!(gradient_of("lambdarank:mrr:swap", &[2.0, 1.0, 0.0], &[1.0, 0.0, 0.0])[0] < 0.0);
    }
}
