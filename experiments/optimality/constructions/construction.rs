//! The constructions named in the paper.

use crate::optimality::setting::{EQ11, MAP, MRR, PaperMetric, TRAININGS};
use burnrank::objective::{Classes, PairWeight};
use burnrank::{Metric, Objective};
use std::sync::Arc;

/// A way to construct lambdas from a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Construction {
    /// For MRR, in the swap form.
    RankNetWeightPairs,
    /// For MRR only, as printed.
    Eq11,
    LocalGradient,
    LocalCost,
    /// Gains of at least 1, in the units of the metric.
    SpringSmooth,
    /// Gains of at least 1, in units of the query's mean gain.
    SpringSmoothRescaled,
    DiscreteBounded,
}

pub const ALL: [Construction; 7] = [
    Construction::RankNetWeightPairs,
    Construction::Eq11,
    Construction::LocalGradient,
    Construction::LocalCost,
    Construction::SpringSmooth,
    Construction::SpringSmoothRescaled,
    Construction::DiscreteBounded,
];

impl Construction {
    /// Whether the construction is tested for this metric.
    pub fn is_for(self, metric: PaperMetric) -> bool {
        self != Construction::Eq11 || metric == MRR
    }

    pub fn title(self) -> &'static str {
        match self {
            Construction::RankNetWeightPairs => "RankNetWeightPairs",
            Construction::Eq11 => "RankNetWeightPairs (Eq. 11)",
            Construction::LocalGradient => "LocalGradient",
            Construction::LocalCost => "LocalCost",
            Construction::SpringSmooth => "SpringSmooth",
            Construction::SpringSmoothRescaled => "SpringSmooth, rescaled",
            Construction::DiscreteBounded => "DiscreteBounded",
        }
    }

    pub fn objective(self, metric: PaperMetric) -> anyhow::Result<Objective> {
        let suffix = match self {
            Construction::RankNetWeightPairs => return TRAININGS[metric.index()].objective(),
            Construction::Eq11 => return EQ11.objective(),
            Construction::SpringSmooth => {
                return Ok(Objective::custom("springsmooth", Arc::new(AtLeastOne::new(metric)?)));
            }
            Construction::SpringSmoothRescaled => "springsmooth",
            Construction::LocalGradient => "localgradient",
            Construction::LocalCost => "localcost",
            Construction::DiscreteBounded => "discretebounded",
        };
        Ok(Objective::parse(&format!("lambdarank:{}:{suffix}", metric.name))?)
    }

    /// The paper's value in Tables 1 and 2.
    pub fn paper(self, metric: PaperMetric) -> Option<f64> {
        let (map, mrr) = match self {
            Construction::RankNetWeightPairs => (0.462, 0.524),
            Construction::LocalGradient => (0.435, 0.512),
            Construction::LocalCost => (0.427, 0.515),
            Construction::SpringSmooth => (0.424, 0.498),
            Construction::Eq11 | Construction::SpringSmoothRescaled => return None,
            Construction::DiscreteBounded => (0.401, 0.471),
        };
        match metric {
            MAP => Some(map),
            MRR => Some(mrr),
            _ => None,
        }
    }
}

/// SpringSmooth as printed: |change of the metric when the pair swaps|, at least 1.
#[derive(Debug)]
pub struct AtLeastOne {
    pub metric: Arc<dyn Metric>,
    pub classes: Classes,
}

impl AtLeastOne {
    fn new(metric: PaperMetric) -> anyhow::Result<AtLeastOne> {
        let binary = matches!(metric, MAP | MRR);
        let classes = if binary { Classes::AtLeast(2.0) } else { Classes::Labels };
        Ok(AtLeastOne { metric: metric.parse()?, classes })
    }
}

impl PairWeight for AtLeastOne {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        self.metric.swaps(ranked).delta(i.min(j), i.max(j)).abs().max(1.0)
    }

    fn classes(&self) -> Classes {
        self.classes
    }

    fn prepare<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Fn(usize, usize) -> f64 + 'a> {
        let swaps = self.metric.swaps(ranked);
        Box::new(move |i, j| swaps.delta(i.min(j), i.max(j)).abs().max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimality::setting::METRICS;

    #[test]
    fn every_construction_parses_for_every_metric() {
        for metric in METRICS {
            for construction in ALL.into_iter().filter(|construction| construction.is_for(metric)) {
                construction.objective(metric).unwrap();
            }
        }
    }

    #[test]
    fn gains_are_at_least_one() {
        let literal = AtLeastOne::new(MAP).unwrap();
        assert_eq!(literal.exact(&[0.0, 3.0, 2.0], 0, 1), 1.0);
        assert_eq!(literal.prepare(&[0.0, 3.0, 2.0])(1, 0), 1.0);
    }
}
