//! LambdaRank for any metric, selected by name.

use super::lambda_field::{Constructed, Construction, DEFAULT_MARGIN};
use super::loss::Loss;
use super::name::{POSITIVE, assignment};
use super::pairwise::PairLoss;
use super::registry::{Make, ObjectiveEntry};
use super::weight::{MrrSwap, PairWeight, lambdarank};
use crate::error::Result;
use crate::metric::{self, MetricKind};
use crate::name::{Parameter, Parameters, Spelling};
use std::sync::Arc;

pub(super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "lambdarank",
    parameters: &[
        Parameter::flag("swap", "weight pairs by the absolute change of mrr when they swap"),
        Parameter::words("construction", Construction::WORDS, "construction of the lambdas from the metric"),
        Parameter::number(
            "margin",
            DEFAULT_MARGIN,
            POSITIVE,
            "margin that localgradient and localcost add to score differences",
        ),
    ],
    help: "weight is the change of a metric, such as ndcg@10, when the pair swaps",
    make: Make::Metric(make),
};

fn make(parameters: &Parameters) -> Result<Arc<dyn Loss>> {
    let construction = construction(parameters)?;
    let name = if parameters.metric.is_empty() { "ndcg" } else { &parameters.metric };
    let metric = metric::parse(name).map_err(|error| parameters.wrong(error.to_string()))?;
    let (sigma, assignment, swap) = (parameters.number("sigma"), assignment(parameters)?, parameters.flag("swap"));
    if construction != Construction::RankNetWeightPairs {
        let name = construction.name();
        if assignment != Default::default() {
            return Err(parameters.wrong(format!("{name} has no pair weights: remove gaussian or plackett-luce")));
        }
        if parameters.flag("sigma") && construction != Construction::SpringSmooth {
            return Err(parameters.wrong(format!("{name} has no sigmoid: remove sigma")));
        }
        if swap {
            return Err(parameters.wrong(format!("{name} has no pair weights: remove swap")));
        }
        return Ok(Arc::new(Constructed { metric, construction, sigma }));
    }
    let title = Spelling::new(ROW.name).word(&metric.name(), true).word("swap", swap).finish();
    let weight = match (swap, metric.kind()) {
        (false, _) => lambdarank(metric),
        (true, MetricKind::Rr { k, threshold }) => Arc::new(MrrSwap { k, threshold }) as Arc<dyn PairWeight>,
        _ => {
            let problem = "swap is only for mrr; other metrics always weight pairs by their change when they swap";
            return Err(parameters.wrong(problem));
        }
    };
    Ok(Arc::new(PairLoss { sigma, assignment, ..PairLoss::new(title, weight) }))
}

/// Parses the construction of the lambdas.
fn construction(parameters: &Parameters) -> Result<Construction> {
    let construction = parameters.text("construction").and_then(Construction::find).unwrap_or_default();
    match parameters.given("margin") {
        None => Ok(construction),
        Some(margin) => construction
            .with_margin(margin)
            .ok_or_else(|| parameters.wrong("margin belongs to localgradient and localcost")),
    }
}
