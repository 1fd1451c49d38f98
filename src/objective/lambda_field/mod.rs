//! Other ways to make lambdas from a measure than weighing pairs by their swap (On the Local Optimality of LambdaRank,
//! section 7), and lambda functions of one's own.

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

/// How lambdas are made from a measure. The paper gives each a sentence; what it leaves open is settled here.
///
/// All are zero for a query on which no move changes the measure, and all forces come in opposite pairs, so that they sum to
/// zero (Newton's third law). Costs, of which less is better, are turned round first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Construction {
    /// The default, and the paper's best: the RankNet force of each pair times |change of the measure when the pair swaps|.
    #[default]
    RankNetWeightPairs,
    /// "A smoothed version of RankNetWeightPairs where the gain obtained by swapping a pair is lower-bounded by 1."
    ///
    /// A swap changes a normalised measure by less than 1, so that the bound would leave RankNet and nothing of the measure:
    /// gains are therefore counted in units of the query's mean gain over its pairs. Every pair pulls with `max(1, gain)`.
    /// For binary metrics (MAP, MRR, bpref, precision, recall) labels are relevant or not, as in the paper: labels on the same
    /// side of the threshold make no pair.
    SpringSmooth,
    /// "Estimates the gradient by the change in accuracy with respect to the difference in scores between two adjacent
    /// documents in an ordered list. A margin is added to handle very small score differences."
    ///
    /// Neighbours pull apart or together with (change of the measure by their swap) / (score difference + margin).
    LocalGradient {
        /// Added to score differences.
        margin: f64,
    },
    /// "Uses a cost based on a document's neighbors to compute an estimate of the local gradient."
    ///
    /// Each document is pushed by the slope between its two neighbours: (change when it swaps up - change when it swaps
    /// down) / (score difference of the neighbours + margin), one-sided at the ends; the neighbours carry the reaction.
    LocalCost {
        /// Added to score differences.
        margin: f64,
    },
    /// "Computes the change in accuracy when a document is moved to its ideal position in the ranked order, and the
    /// lambda-gradient is upper-bounded by 1."
    ///
    /// The ideal order sorts by label and leaves documents of equal label in their order. A document is pushed towards its
    /// ideal place by what moving it there alone would gain, if anything; the documents it passes carry the reaction.
    DiscreteBounded,
}

/// The margin of the local constructions unless told otherwise: the width of RankNet's sigmoid.
pub(super) const DEFAULT_MARGIN: f64 = 1.0;

impl Construction {
    /// The words for all constructions, in the order of the enum.
    pub(super) const WORDS: &'static [Word] = &[
        Word { word: "ranknetweightpairs", aliases: &[], docs: &["RankNet lambdas times the change of the metric"] },
        Word { word: "springsmooth", aliases: &[], docs: &["The same with gains of at least 1"] },
        Word {
            word: "localgradient",
            aliases: &[],
            docs: &["Change by swapping neighbours over their score difference"],
        },
        Word { word: "localcost", aliases: &[], docs: &["Gradient between a document's two neighbours"] },
        Word { word: "discretebounded", aliases: &[], docs: &["Change by moving a document to its ideal rank"] },
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

    /// What [`Objective::parse`](crate::Objective::parse) calls it.
    pub fn name(self) -> String {
        self.spelling().finish()
    }

    /// The construction of a word, with the default margin.
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

    /// The same with another margin, if it has one.
    pub(super) fn with_margin(self, margin: f64) -> Option<Self> {
        match self {
            Construction::LocalGradient { .. } => Some(Construction::LocalGradient { margin }),
            Construction::LocalCost { .. } => Some(Construction::LocalCost { margin }),
            _ => None,
        }
    }
}

/// A construction for a measure: a field without a cost of its own.
#[derive(Debug, Clone)]
pub(super) struct Constructed {
    pub metric: Arc<dyn Metric>,
    pub construction: Construction,
    pub sigma: f64,
}

impl Constructed {
    fn forces(&self, scores: &[f64], labels: &[f32], order: &[usize], stop: &Stop) -> Vec<f64> {
        let ranked = Ranked::new(&*self.metric, scores, labels, order, stop);
        let mut forces = vec![0.0; order.len()];
        match self.construction {
            Construction::RankNetWeightPairs => spring::pull(&ranked, self.sigma, |gain, _| gain, &mut forces),
            Construction::SpringSmooth => {
                let smooth = |gain: f64, mean: f64| if mean > 0.0 { (gain / mean).max(1.0) } else { 0.0 };
                spring::pull(&ranked, self.sigma, smooth, &mut forces);
            }
            Construction::LocalGradient { margin } => local::neighbours(&ranked, margin, &mut forces),
            Construction::LocalCost { margin } => local::between(&ranked, margin, &mut forces),
            Construction::DiscreteBounded => bounded::to_ideal(&ranked, &mut forces),
        }
        let mut lambdas = vec![0.0; scores.len()];
        order.iter().zip(forces).for_each(|(&document, force)| lambdas[document] = force);
        lambdas
    }
}

impl Loss for Constructed {
    fn name(&self) -> String {
        LambdaField::name(self)
    }

    fn query(&self, query: Query<'_>, to: Gradients<'_>, _: Outputs, _: &mut LossScratch) -> Result<QueryResult> {
        lambdas::train_with(self, query, to, |scores, order| self.forces(scores, query.labels, order, query.stop))
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
        self.forces(scores, labels, order, &Stop::new())
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

/// A query in rank order, seen by a measure for which more is better.
struct Ranked<'a> {
    metric: &'a dyn Metric,
    scores: Vec<f64>,
    labels: Vec<f32>,
    /// -1 for costs.
    sign: f64,
    /// Once it is set, forces need not be whole.
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
