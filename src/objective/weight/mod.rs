//! What a pair of ranked documents weighs: one weight per file.
//!
//! A weight is a function of labels and ranks, never of scores. It states its formula, [`PairWeight::exact`]; if it is also
//! made of one or two values per document that a [`PairForm`] joins, it is fast on every path without code of its own.
//!
//! Ranks `i`, `j` count from 1, `D_i = log2(1 + i)`, `G_i` is the gain of document `i` divided by the ideal DCG.

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
mod pairs;
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

/// What a pair of ranked documents weighs.
///
/// ```
/// use burnrank::Objective;
/// use burnrank::objective::{Batch, PairWeight, Outputs};
/// /// A pair counts by the higher of its ranks.
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
    /// The weight of having the document at position `i` (from 0) above the one at `j`, given all labels in rank order: the
    /// formula as it is written. Asked for pairs of [`PairWeight::pairs`] only.
    ///
    /// Must be finite and not negative.
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64;

    /// Which pairs to ask for.
    fn pairs(&self) -> Pairs {
        Pairs::Ordered
    }

    /// Which labels the weight tells apart.
    fn classes(&self) -> Classes {
        Classes::Labels
    }

    /// How the values of two documents make their weight, if they do.
    fn form(&self) -> Option<PairForm> {
        None
    }

    /// Fills in the values of one ranked list, which are empty, for [`PairWeight::form`].
    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        let _ = (list, values);
    }

    /// How these values follow from labels and ranks, if they do by a rule that a device knows: lambdas are computed there
    /// then, and on the host otherwise.
    fn rule(&self) -> Option<ValueRule> {
        None
    }

    /// A faster way to any weight of one ranked list, where there is no form.
    fn prepare<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Fn(usize, usize) -> f64 + 'a> {
        Box::new(move |i, j| self.exact(ranked, i, j))
    }

    /// The number of ranks whose pairs with all ranks below them are the only ones with a weight.
    fn depth(&self) -> Option<usize> {
        None
    }

    /// Labels beyond this have no finite loss.
    fn largest_label(&self) -> f32 {
        1e9
    }

    /// Whether the weight is that of [`PairsSwap`](pairs::PairsSwap), which has a near-linear way of its own.
    #[doc(hidden)]
    fn counts_pairs(&self) -> bool {
        false
    }

    /// Whether the weight never changes with the ranking, so that the loss is one function of the scores.
    fn ignores_ranks(&self) -> bool {
        false
    }

    /// Refuses settings that make no sense.
    ///
    /// # Errors
    /// When there are such.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Which pairs a weight is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairs {
    /// Those whose first document is of a higher class.
    Ordered,
    /// All of different documents, each in both orders.
    All,
}

/// Which labels a weight tells apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Classes {
    /// All.
    Labels,
    /// Those of at least this from all others: relevant or not.
    AtLeast(f32),
    /// Those up to this from each other, from 0 on.
    UpTo(f32),
}

impl Classes {
    /// What stands for a label.
    #[inline]
    pub fn of(self, label: f32) -> f32 {
        match self {
            Classes::Labels => label,
            Classes::AtLeast(threshold) => f32::from(u8::from(label >= threshold)),
            Classes::UpTo(max) => label.min(max).max(0.0),
        }
    }
}

/// LambdaRank's weight for a metric: what its value changes by when two documents swap; for the reciprocal rank, what it
/// gains by (2009 paper, Eq. 11).
pub(super) fn lambdarank(metric: Arc<dyn Metric>) -> Arc<dyn PairWeight> {
    match metric.kind() {
        MetricKind::Ndcg { k, gain } => Arc::new(ndcg::NdcgSwap { k, gain }),
        MetricKind::Ap { k, threshold } => Arc::new(ap::ApSwap { k, threshold }),
        MetricKind::Rr { k, threshold } => Arc::new(mrr::Mrr { k, threshold }),
        MetricKind::Dcg { k, gain } => Arc::new(dcg::DcgSwap { k, gain }),
        MetricKind::Err { k, max } => Arc::new(err::ErrSwap(crate::metric::ExpectedRr { k, max })),
        MetricKind::Bpref { threshold } => Arc::new(bpref::BprefSwap(crate::metric::Bpref { threshold })),
        MetricKind::Arp { form } => Arc::new(arp::ArpSwap(crate::metric::Arp { form })),
        MetricKind::Pairs => Arc::new(pairs::PairsSwap(metric)),
        MetricKind::Other => Arc::new(swap::AnySwap(metric)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Objective;
    use crate::numeric::order::training_order;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Every weight that has a form, by objective.
    const ALL: [&str; 26] = [
        "ranknet",
        "ranknet:ties",
        "arp-loss1",
        "arp-loss2",
        "ndcg-loss1",
        "ndcg-loss1@3",
        "ndcg-loss2",
        "ndcg-loss2++:mu=5",
        "ndcg-loss2++@4:mu=0",
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
    fn forms_give_what_the_formulas_say() {
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
                        let asked = loss.weight.pairs() == super::Pairs::All || class(i) > class(j);
                        let counts = asked && i.min(j) < top;
                        let expected = if counts { loss.weight.exact(&ranked, i, j) } else { 0.0 };
                        let found = weights.get(i, j);
                        assert!(
                            (found - expected).abs() < 1e-12,
                            "{name} of {n}: {found}, not {expected}, at {i}, {j}"
                        );
                    }
                }
            }
        }
    }

    /// A weight that names a form and forgets what the form needs.
    #[derive(Debug)]
    struct Careless(super::PairForm);

    impl super::PairWeight for Careless {
        fn exact(&self, _: &[f32], _: usize, _: usize) -> f64 {
            1.0
        }

        fn form(&self) -> Option<super::PairForm> {
            Some(self.0)
        }
    }

    #[test]
    fn a_form_that_does_not_fit_is_refused() {
        for form in [super::PairForm::FallOrRise, super::PairForm::Own] {
            let objective = Objective::custom("careless", std::sync::Arc::new(Careless(form)));
            let batch = crate::objective::Batch { labels: &[1.0, 0.0], offsets: &[0, 2] };
            let result = objective.lambda_gradient(&[0.0; 2], batch, &mut [0.0; 2], Default::default(), &[]);
            assert!(result.unwrap_err().to_string().contains("the form "), "{form:?}");
        }
    }

    #[test]
    fn values_that_are_not_one_per_document_are_refused() {
        for form in [
            super::PairForm::Gap,
            super::PairForm::Discounts,
            super::PairForm::Rest,
            super::PairForm::Distance { share: 1.0 },
        ] {
            let objective = Objective::custom("careless", std::sync::Arc::new(Careless(form)));
            let batch = crate::objective::Batch { labels: &[1.0, 0.0, 2.0], offsets: &[0, 3] };
            let result = objective.lambda_gradient(&[0.0; 3], batch, &mut [0.0; 3], Default::default(), &[]);
            let message = result.unwrap_err().to_string();
            assert!(
                message.contains("gives 0 first values for a list of 3 documents: PairWeight::values"),
                "{message}"
            );
            // Whatever asks for weights one by one gets those of the formula.
            let loss = objective.loss().as_pairs().unwrap();
            assert_eq!(loss.weights(&[2.0, 1.0, 0.0]).get(0, 1), 1.0);
        }
    }

    /// A user's weight that takes gains from us, in classes or for all pairs: both leave the order of labels to be found.
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
    fn gains_are_those_of_the_list_at_hand_whatever_the_classes() {
        use super::{Classes, Pairs};
        // Two queries, so that what is left of the first would show in the second.
        let (labels, offsets) = ([0.0, 3.0, 1.0, 2.0, 4.0, 0.0, 1.0, 0.0, 2.0], [0, 4, 9]);
        let scores = [0.3, 0.1, 0.2, 0.0, -0.5, 0.4, 0.2, 0.1, 0.0];
        for (classes, pairs) in [(Classes::AtLeast(2.0), Pairs::Ordered), (Classes::Labels, Pairs::All)] {
            let objective = Objective::custom("gains", std::sync::Arc::new(Gains(classes, pairs)));
            let batch = crate::objective::Batch { labels: &labels, offsets: &offsets };
            let mut found = [0.0; 9];
            objective.lambda_gradient(&scores, batch, &mut found, Default::default(), &[]).unwrap();
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
                        let slope = weight / (1.0 + f64::from(scores[a] - scores[b]).exp());
                        expected[a] -= slope;
                        expected[b] += slope;
                    }
                }
            }
            for (found, expected) in found.iter().zip(expected) {
                // The mean over two queries.
                assert!(
                    (f64::from(*found) - expected / 2.0).abs() < 1e-6,
                    "{classes:?}: {found}, not {}",
                    expected / 2.0
                );
            }
        }
    }

    #[test]
    fn the_reciprocal_rank_has_the_forces_of_the_paper() {
        // Eq. 11 of the 2009 paper by hand; a swap in either direction would also push document 2.
        let ask = |name: &str, scores: &[f32], labels: &[f32]| {
            let mut gradient = vec![0.0; scores.len()];
            let batch = crate::objective::Batch { labels, offsets: &[0, scores.len()] };
            let objective = Objective::parse(name).unwrap();
            objective.lambda_gradient(scores, batch, &mut gradient, Default::default(), &[]).unwrap();
            gradient
        };
        let found = ask("lambdarank:mrr", &[3.0, 2.0, 1.0, 0.0], &[0.0, 1.0, 0.0, 1.0]);
        for (found, expected) in found.iter().zip([0.841816, -0.365529, 0.0, -0.476287]) {
            assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
        }
        assert_eq!(ask("lambdarank:mrr", &[2.0, 1.0, 0.0], &[1.0, 0.0, 0.0]), [0.0; 3]);
        assert!(ask("lambdarank:mrr:swap", &[2.0, 1.0, 0.0], &[1.0, 0.0, 0.0])[0] < 0.0);
    }
}
