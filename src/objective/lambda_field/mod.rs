//! Constructions of lambdas from a metric other than weighting pairs by their swap (On the Local Optimality of
//! LambdaRank, section 7), and custom lambda functions.

mod bounded;
mod lambdas;
mod local;
mod spring;

pub(super) use lambdas::FieldLoss;
pub use lambdas::LambdaField;
pub(crate) use lambdas::lambdas_at;

use super::loss::{Gradients, Loss, Outputs, Query, QueryResult};
use super::pairwise::LossScratch;
use crate::error::Result;
use crate::metric::Metric;
use crate::name::{Spelling, Word};
use crate::stop::Stop;
use std::sync::Arc;

/// Construction of lambdas from a metric. The paper describes each in one sentence, quoted below; the rest settles the
/// details that it leaves open.
///
/// All lambdas are zero for a query on which no move changes the metric. They come in opposite pairs, so that they sum
/// to zero (Newton's third law). The sign of costs is reversed first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Construction {
    /// The default, and the best in the paper: the RankNet lambda of each pair times |change of the metric when the
    /// pair swaps|.
    #[default]
    RankNetWeightPairs,
    /// "A smoothed version of RankNetWeightPairs where the gain obtained by swapping a pair is lower-bounded by 1."
    ///
    /// A swap changes a normalised metric by less than 1, so this bound alone would reduce it to plain RankNet. Gains
    /// are therefore measured in units of the query's mean gain over its pairs, and every pair has strength
    /// `max(1, gain)`. For binary metrics (MAP, MRR, bpref, precision, recall) labels are relevant or not, as in the
    /// paper: labels on the same side of the threshold do not form pairs.
    SpringSmooth,
    /// "Estimates the gradient by the change in accuracy with respect to the difference in scores between two adjacent
    /// documents in an ordered list. A margin is added to handle very small score differences."
    ///
    /// The lambda between adjacent documents is (change of the metric when they swap) / (score difference + margin).
    LocalGradient {
        /// Margin added to score differences.
        margin: f64,
    },
    /// "Uses a cost based on a document's neighbors to compute an estimate of the local gradient."
    ///
    /// The lambda of a document is the gradient between its two neighbours: (change when it swaps up - change when it
    /// swaps down) / (score difference of the neighbours + margin), one-sided at the ends. The neighbours share the
    /// opposite lambda.
    LocalCost {
        /// Margin added to score differences.
        margin: f64,
    },
    /// "Computes the change in accuracy when a document is moved to its ideal position in the ranked order, and the
    /// lambda-gradient is upper-bounded by 1."
    ///
    /// The ideal order sorts by label and keeps the order of equal labels. The lambda of a document points to its ideal
    /// rank and is the gain of moving only this document there, if positive. The documents that it passes share the
    /// opposite lambda.
    DiscreteBounded,
}

/// Default margin of the local constructions: the width of RankNet's sigmoid.
pub(super) const DEFAULT_MARGIN: f64 = 1.0;

impl Construction {
    /// Words for all constructions, in the order of the enum.
    pub(super) const WORDS: &'static [Word] = &[
        Word { word: "ranknetweightpairs", aliases: &[], docs: &["RankNet lambdas times the change of the metric"] },
        Word { word: "springsmooth", aliases: &[], docs: &["As ranknetweightpairs, with gains of at least 1"] },
        Word {
            word: "localgradient",
            aliases: &[],
            docs: &["Change when neighbours swap over their score difference"],
        },
        Word { word: "localcost", aliases: &[], docs: &["Gradient between a document's two neighbours"] },
        Word { word: "discretebounded", aliases: &[], docs: &["Change when a document moves to its ideal rank"] },
    ];

    fn spelling(self) -> Spelling {
        let spell = |place: usize| Spelling::new(Self::WORDS[place].word);
        match self {
            Construction::RankNetWeightPairs => spell(0),
            Construction::SpringSmooth => spell(1),
            Construction::LocalGradient { margin } => spell(2).number("margin", margin, Some(DEFAULT_MARGIN)),
            Construction::LocalCost { margin } => spell(3).number("margin", margin, Some(DEFAULT_MARGIN)),
            Construction::DiscreteBounded => spell(4),
        }
    }

    /// Returns the name that [`Objective::parse`](crate::Objective::parse) accepts.
    pub fn name(self) -> String {
        self.spelling().finish()
    }

    /// Returns the construction of a word, with the default margin.
    pub(super) fn find(word: &str) -> Option<Self> {
        let margin = DEFAULT_MARGIN;
        let all = [
            Construction::RankNetWeightPairs,
            Construction::SpringSmooth,
            Construction::LocalGradient { margin },
            Construction::LocalCost { margin },
            Construction::DiscreteBounded,
        ];
        all.into_iter().find(|construction| construction.name() == word)
    }

    /// Returns the construction with another margin, or `None` if it has no margin.
    pub(super) fn with_margin(self, margin: f64) -> Option<Self> {
        match self {
            Construction::LocalGradient { .. } => Some(Construction::LocalGradient { margin }),
            Construction::LocalCost { .. } => Some(Construction::LocalCost { margin }),
            _ => None,
        }
    }
}

/// A construction applied to a metric: lambdas without a cost function.
#[derive(Debug, Clone)]
pub(super) struct Constructed {
    pub metric: Arc<dyn Metric>,
    pub construction: Construction,
    pub sigma: f64,
}

impl Constructed {
    fn lambdas_until(&self, scores: &[f64], labels: &[f32], order: &[usize], stop: &Stop) -> Vec<f64> {
        let ranked = Ranked::new(&*self.metric, scores, labels, order, stop);
        let mut ranked_lambdas = vec![0.0; order.len()];
        match self.construction {
            Construction::RankNetWeightPairs => spring::pull(&ranked, self.sigma, |gain, _| gain, &mut ranked_lambdas),
            Construction::SpringSmooth => {
                let smooth = |gain: f64, mean: f64| if mean > 0.0 { (gain / mean).max(1.0) } else { 0.0 };
                spring::pull(&ranked, self.sigma, smooth, &mut ranked_lambdas);
            }
            Construction::LocalGradient { margin } => local::neighbours(&ranked, margin, &mut ranked_lambdas),
            Construction::LocalCost { margin } => local::between(&ranked, margin, &mut ranked_lambdas),
            Construction::DiscreteBounded => bounded::to_ideal(&ranked, &mut ranked_lambdas),
        }
        let mut lambdas = vec![0.0; scores.len()];
        order.iter().zip(ranked_lambdas).for_each(|(&document, lambda)| lambdas[document] = lambda);
        lambdas
    }
}

impl Loss for Constructed {
    fn name(&self) -> String {
        LambdaField::name(self)
    }

    fn query(&self, query: Query<'_>, to: Gradients<'_>, _: Outputs, _: &mut LossScratch) -> Result<QueryResult> {
        lambdas::train_with(self, query, to, |scores, order| {
            self.lambdas_until(scores, query.labels, order, query.stop)
        })
    }

    fn field(&self) -> Option<&dyn LambdaField> {
        Some(self)
    }
}

impl LambdaField for Constructed {
    fn name(&self) -> String {
        let name = Spelling::new("lambdarank").word(&self.metric.name(), true).word(&self.construction.name(), true);
        name.number("sigma", self.sigma, Some(1.0)).finish()
    }

    fn lambdas(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Vec<f64> {
        self.lambdas_until(scores, labels, order, &Stop::new())
    }

    fn ignores_shifts(&self) -> bool {
        true
    }

    fn width(&self) -> f64 {
        match self.construction {
            Construction::LocalGradient { margin } | Construction::LocalCost { margin } if margin > 0.0 => margin,
            _ => 1.0 / self.sigma,
        }
    }
}

/// A query in rank order, and a metric with the sign that makes higher values better.
struct Ranked<'a> {
    metric: &'a dyn Metric,
    scores: Vec<f64>,
    labels: Vec<f32>,
    /// -1 for costs.
    sign: f64,
    /// If set, lambdas may be incomplete.
    stop: &'a Stop,
}

impl<'a> Ranked<'a> {
    fn new(metric: &'a dyn Metric, scores: &[f64], labels: &[f32], order: &[usize], stop: &'a Stop) -> Self {
        Ranked {
            metric,
            scores: order.iter().map(|&document| scores[document]).collect(),
            labels: order.iter().map(|&document| labels[document]).collect(),
            sign: if metric.is_cost() { -1.0 } else { 1.0 },
            stop,
        }
    }
}

#[cfg(test)]
mod tests;
