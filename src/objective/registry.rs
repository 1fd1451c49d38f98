//! Every objective by name: one row each. Names, help, suggestions and errors are made from it.

use super::lambdarank;
use super::loss::Loss;
use super::name::PAIR_PARAMETERS;
use super::pairwise::{LogBase, PairLoss};
use super::smooth::{approx_ndcg, exponential, hinge, listnet, rankcosine, softrank, squared_error};
use super::weight::{PairWeight, arp1, arp2, ndcg1, ndcg2, ranknet, rr_gap};
use crate::error::Result;
use crate::name::{Cutoff, Named, Parameter, Parameters, Spelling};
use std::sync::Arc;

/// Every objective that has a name.
pub static OBJECTIVES: &[ObjectiveEntry] = &[
    ranknet::ROW,
    arp1::ROW,
    arp2::ROW,
    ndcg1::ROW,
    ndcg2::ROW,
    ndcg2::PLUS_PLUS_ROW,
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

/// An objective: what its name begins with, what it is, how it is made of the rest of its name.
#[derive(Debug)]
pub struct ObjectiveEntry {
    /// What its name begins with.
    pub name: &'static str,
    /// Parameters that may follow the name.
    pub parameters: &'static [Parameter],
    /// What it is, in a few words.
    pub help: &'static str,
    pub(super) make: Make,
}

/// How a loss is made of the parameters of its name.
#[derive(Debug)]
pub(super) enum Make {
    /// A logistic loss of pairs with a weight.
    Pairs(LogBase, fn(&Parameters) -> Arc<dyn PairWeight>),
    /// A loss of pairs with a weight that follows from the metric in the name.
    Metric(fn(&Parameters) -> Result<Arc<dyn Loss>>),
    /// A loss of its own.
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
            Make::Pairs(..) | Make::Metric(_) => PAIR_PARAMETERS,
            Make::Smooth(_) => &[],
        }
    }

    fn cutoff(&self) -> Cutoff {
        match self.make {
            Make::Pairs(..) => Cutoff::First,
            Make::Metric(_) => Cutoff::OfMetric,
            Make::Smooth(_) => Cutoff::No,
        }
    }
}

impl ObjectiveEntry {
    /// Name and what may follow it, as in `ranknet[@k][:ties]`.
    pub fn pattern(&self) -> String {
        Named::pattern(self)
    }

    /// The loss of this name and these parameters.
    pub(super) fn loss(&self, parameters: &Parameters) -> Result<Arc<dyn Loss>> {
        match self.make {
            Make::Pairs(base, weight) => {
                let title = [self.name.to_owned(), self.own_parameters(parameters)];
                let (truncation, sigma) = (parameters.cutoff(), parameters.number("sigma"));
                let assignment = super::name::assignment(parameters)?;
                let loss = PairLoss::new("", weight(parameters));
                Ok(Arc::new(PairLoss { title, base, truncation, sigma, assignment, ..loss }))
            }
            Make::Metric(make) => make(parameters),
            Make::Smooth(make) => Ok(make(parameters)),
        }
    }

    /// Its own parameters as they are printed: flags that are given, and all numbers.
    fn own_parameters(&self, parameters: &Parameters) -> String {
        let add = |name: Spelling, parameter: &Parameter| match parameter.default() {
            Some(_) => name.number(parameter.key, parameters.number(parameter.key), None),
            None => name.word(parameter.key, parameters.flag(parameter.key)),
        };
        self.parameters.iter().fold(Spelling::new(""), add).finish()
    }
}
