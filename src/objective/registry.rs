//! Registry of objectives, one row each. Names, help, suggestions and errors are generated from it.

use super::lambdarank;
use super::loss::Loss;
use super::name::PAIR_PARAMETERS;
use super::pairwise::{LogBase, PairLoss};
use super::smooth::{approx_ndcg, exponential, hinge, listnet, rankcosine, softrank, squared_error};
use super::weight::{PairWeight, arp1, arp2, ndcg1, ndcg2, ndcg2_topk, ranknet, rr_gap};
use crate::error::Result;
use crate::name::{Cutoff, Named, Parameter, Parameters, Spelling};
use std::sync::Arc;

/// All named objectives.
pub static OBJECTIVES: &[ObjectiveEntry] = &[
    ranknet::ROW,
    arp1::ROW,
    arp2::ROW,
    ndcg1::ROW,
    ndcg2::ROW,
    ndcg2::PLUS_PLUS_ROW,
    ndcg2_topk::ROW,
    rr_gap::ROW,
    lambdarank::ROW,
    listnet::ROW,
    approx_ndcg::ROW,
    softrank::ROW,
    rankcosine::ROW,
    hinge::ROW,
    exponential::ROW,
    squared_error::ROW,
];

/// A row of the registry: an objective's name, syntax and constructor.
#[derive(Debug)]
pub struct ObjectiveEntry {
    /// First part of the name.
    pub name: &'static str,
    /// Parameters that may follow the name.
    pub parameters: &'static [Parameter],
    /// Short description.
    pub help: &'static str,
    pub(super) make: Make,
}

/// Constructor of a loss from the parameters of its name.
#[derive(Debug)]
pub(super) enum Make {
    /// A logistic pair loss with a pair weight.
    Pairs(LogBase, fn(&Parameters) -> Arc<dyn PairWeight>),
    /// The same without truncation: a cutoff in the name is a setting of the weight.
    AllPairs(LogBase, fn(&Parameters) -> Arc<dyn PairWeight>),
    /// A pair loss whose weight is derived from the metric in the name.
    Metric(fn(&Parameters) -> Result<Arc<dyn Loss>>),
    /// Any other loss.
    Smooth(fn(&Parameters) -> Arc<dyn Loss>),
}

impl Named for ObjectiveEntry {
    const WHAT: &'static str = "objective";

    fn rows() -> impl Iterator<Item = &'static Self> {
        OBJECTIVES.iter()
    }

    fn heads(&self) -> Vec<&'static str> {
        vec![self.name]
    }

    fn parameters(&self) -> &'static [Parameter] {
        self.parameters
    }

    fn shared_parameters(&self) -> &'static [Parameter] {
        match self.make {
            Make::Pairs(..) | Make::AllPairs(..) | Make::Metric(_) => PAIR_PARAMETERS,
            Make::Smooth(_) => &[],
        }
    }

    fn cutoff(&self) -> Cutoff {
        match self.make {
            Make::Pairs(..) | Make::AllPairs(..) => Cutoff::First,
            Make::Metric(_) => Cutoff::OfMetric,
            Make::Smooth(_) => Cutoff::No,
        }
    }
}

impl ObjectiveEntry {
    /// Syntax of the name, as in `ranknet[@k][:ties]`.
    pub fn pattern(&self) -> String {
        Named::pattern(self)
    }

    /// Creates the loss with these parameters.
    pub(super) fn loss(&self, parameters: &Parameters) -> Result<Arc<dyn Loss>> {
        match self.make {
            Make::Pairs(base, weight) | Make::AllPairs(base, weight) => {
                let (of_weight, truncation) = match self.make {
                    Make::AllPairs(..) => (parameters.cutoff(), None),
                    _ => (None, parameters.cutoff()),
                };
                let head = Spelling::new(self.name).cutoff(of_weight).finish();
                let (title, sigma) = ([head, self.own_parameters(parameters)], parameters.number("sigma"));
                let assignment = super::name::assignment(parameters)?;
                let loss = PairLoss::new("", weight(parameters));
                Ok(Arc::new(PairLoss { title, base, truncation, sigma, assignment, ..loss }))
            }
            Make::Metric(make) => make(parameters),
            Make::Smooth(make) => Ok(make(parameters)),
        }
    }

    /// Formats the objective's own parameters: flags that are set, and all numbers.
    fn own_parameters(&self, parameters: &Parameters) -> String {
        let add = |name: Spelling, parameter: &Parameter| match parameter.default() {
            Some(_) => name.number(parameter.key, parameters.number(parameter.key), None),
            None => name.word(parameter.key, parameters.flag(parameter.key)),
        };
        self.parameters.iter().fold(Spelling::new(""), add).finish()
    }
}
