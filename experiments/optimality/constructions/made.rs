//! The constructions that the paper names.

use crate::optimality::setting::{MAP, MRR, Measure};
use burnrank::objective::{Classes, PairWeight};
use burnrank::{Metric, Objective};
use std::sync::Arc;

/// A way to make lambdas from a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    RankNetWeightPairs,
    LocalGradient,
    LocalCost,
    /// Gains of at least 1, in the units of the measure.
    SpringSmooth,
    /// Gains of at least 1, in units of the query's mean gain.
    SpringSmoothRescaled,
    DiscreteBounded,
}

pub const ALL: [Made; 6] = [
    Made::RankNetWeightPairs,
    Made::LocalGradient,
    Made::LocalCost,
    Made::SpringSmooth,
    Made::SpringSmoothRescaled,
    Made::DiscreteBounded,
];

impl Made {
    pub fn title(self) -> &'static str {
        match self {
            Made::RankNetWeightPairs => "RankNetWeightPairs",
            Made::LocalGradient => "LocalGradient",
            Made::LocalCost => "LocalCost",
            Made::SpringSmooth => "SpringSmooth",
            Made::SpringSmoothRescaled => "SpringSmooth, rescaled",
            Made::DiscreteBounded => "DiscreteBounded",
        }
    }

    pub fn objective(self, measure: Measure) -> anyhow::Result<Objective> {
        let construction = match self {
            Made::RankNetWeightPairs => return measure.lambdarank(),
            Made::SpringSmooth => return Ok(Objective::custom("springsmooth", Arc::new(AtLeastOne::new(measure)?))),
            Made::SpringSmoothRescaled => "springsmooth",
            Made::LocalGradient => "localgradient",
            Made::LocalCost => "localcost",
            Made::DiscreteBounded => "discretebounded",
        };
        Ok(Objective::parse(&format!("lambdarank:{}:{construction}", measure.name))?)
    }

    /// Tables 1 and 2.
    pub fn paper(self, measure: Measure) -> Option<f64> {
        let (map, mrr) = match self {
            Made::RankNetWeightPairs => (0.462, 0.524),
            Made::LocalGradient => (0.435, 0.512),
            Made::LocalCost => (0.427, 0.515),
            Made::SpringSmooth => (0.424, 0.498),
            Made::SpringSmoothRescaled => return None,
            Made::DiscreteBounded => (0.401, 0.471),
        };
        match measure {
            MAP => Some(map),
            MRR => Some(mrr),
            _ => None,
        }
    }
}

/// SpringSmooth as it is written: |change of the measure when the pair swaps|, at least 1.
#[derive(Debug)]
pub struct AtLeastOne {
    pub metric: Arc<dyn Metric>,
    pub classes: Classes,
}

impl AtLeastOne {
    fn new(measure: Measure) -> anyhow::Result<AtLeastOne> {
        let binary = matches!(measure, MAP | MRR);
        let classes = if binary { Classes::AtLeast(2.0) } else { Classes::Labels };
        Ok(AtLeastOne { metric: measure.metric()?, classes })
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
    use crate::optimality::setting::MEASURES;

    #[test]
    fn every_construction_of_every_measure_is_there() {
        for measure in MEASURES {
            for made in ALL {
                made.objective(measure).unwrap();
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
