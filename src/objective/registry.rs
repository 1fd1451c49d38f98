//! Every objective by name: one row each. Names, help, suggestions and errors are made from it.

use super::Objective;
use super::lambda_field::Construction;
use super::loss::Loss;
use super::name::Parts;
use super::pairwise::{LogBase, PairLoss};
use super::smooth::{ApproxNdcg, Exponential, Hinge, ListNet, RankCosine, SmoothLoss, SoftRank, SquaredError};
use super::weight::{Arp1, Arp2, MrrSwap, Ndcg1, Ndcg2, PairWeight, RankNet, RrGap, lambdarank};
use crate::metric::{self, MetricKind};
use std::sync::Arc;

/// An objective: what its name begins with, what it is, how it is made of the rest of its name.
pub struct KnownObjective {
    /// What its name begins with.
    pub name: &'static str,
    /// What may follow it, optional parts in brackets, as in `[@k][:ties]`.
    pub suffix: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    /// The words and keys that may follow.
    pub(super) settings: &'static [&'static str],
    pub(super) make: fn(&mut Parts<'_>) -> std::result::Result<Arc<dyn Loss>, String>,
}

impl KnownObjective {
    /// Name and what may follow it, as in `ranknet[@k][:ties]`.
    pub fn pattern(&self) -> String {
        format!("{}{}", self.name, self.suffix)
    }
}

/// Every objective that has a name.
pub static KNOWN_OBJECTIVES: &[KnownObjective] = &[
    KnownObjective {
        name: "ranknet",
        suffix: "[@k][:ties]",
        help: "cross entropy of pairs, every pair weighs 1; ties with target 1/2",
        settings: &["ties"],
        make: |parts| {
            let ties = parts.word("ties");
            pairs(parts, LogBase::Nats, if ties { ":ties" } else { "" }, |_| Arc::new(RankNet { ties }))
        },
    },
    KnownObjective {
        name: "arp-loss1",
        suffix: "[@k]",
        help: "bound of the average relevance position: the label",
        settings: &[],
        make: |parts| pairs(parts, LogBase::Bits, "", |_| Arc::new(Arp1)),
    },
    KnownObjective {
        name: "arp-loss2",
        suffix: "[@k]",
        help: "a tighter one: the difference of the labels",
        settings: &[],
        make: |parts| pairs(parts, LogBase::Bits, "", |_| Arc::new(Arp2)),
    },
    KnownObjective {
        name: "ndcg-loss1",
        suffix: "[@k]",
        help: "bound of NDCG: the gain, discounted",
        settings: &[],
        make: |parts| pairs(parts, LogBase::Bits, "", |k| Arc::new(Ndcg1 { k })),
    },
    KnownObjective {
        name: "ndcg-loss2",
        suffix: "[@k]",
        help: "a tighter one: the difference of gains, by the distance of ranks",
        settings: &[],
        make: |parts| pairs(parts, LogBase::Bits, "", |k| Arc::new(Ndcg2 { rho: 0.0, delta: 1.0, k })),
    },
    KnownObjective {
        name: "ndcg-loss2++",
        suffix: "[@k][:mu=5]",
        help: "the same and LambdaRank; mu=0 is LambdaRank with that truncation",
        settings: &["mu"],
        make: |parts| {
            let mu = parts.number("mu", 0.0..=1e6)?.unwrap_or(5.0);
            let tail = format!(":mu={}", super::name::number(mu));
            pairs(parts, LogBase::Bits, &tail, |k| Arc::new(Ndcg2 { rho: 1.0, delta: mu, k }))
        },
    },
    KnownObjective {
        name: "rr-gap",
        suffix: "[@k]",
        help: "our own: the difference of gains, by the difference of reciprocal ranks",
        settings: &[],
        make: |parts| pairs(parts, LogBase::Bits, "", |k| Arc::new(RrGap { k })),
    },
    KnownObjective {
        name: "lambdarank",
        suffix: ":METRIC[:CONSTRUCTION]",
        help: "what swapping the pair changes of any metric, as in ndcg@10",
        settings: &[
            "swap",
            "margin",
            "ranknetweightpairs",
            "springsmooth",
            "localgradient",
            "localcost",
            "discretebounded",
        ],
        make: make_lambdarank,
    },
    KnownObjective {
        name: "listnet",
        suffix: "",
        help: "cross entropy of the chances to be on top, of labels and of scores (ListNet)",
        settings: &[],
        make: |_| Ok(Arc::new(SmoothLoss(ListNet))),
    },
    KnownObjective {
        name: "approx-ndcg",
        suffix: "[:alpha=10]",
        help: "NDCG of smooth ranks, sums of sigmoids of slope alpha (ApproxNDCG)",
        settings: &["alpha"],
        make: |parts| {
            let alpha = parts.number("alpha", 1e-6..=1e6)?.unwrap_or(10.0);
            Ok(Arc::new(SmoothLoss(ApproxNdcg { alpha })))
        },
    },
    KnownObjective {
        name: "softrank",
        suffix: "[:sigma=1]",
        help: "mean NDCG when scores have the standard deviation sigma (SoftRank)",
        settings: &[],
        make: |parts| {
            let sigma = parts.number("sigma", 1e-6..=1e6)?.unwrap_or(1.0);
            Ok(Arc::new(SmoothLoss(SoftRank { sigma })))
        },
    },
    KnownObjective {
        name: "rankcosine",
        suffix: "",
        help: "the angle between scores and labels (RankCosine)",
        settings: &[],
        make: |_| Ok(Arc::new(SmoothLoss(RankCosine))),
    },
    KnownObjective {
        name: "hinge",
        suffix: "",
        help: "max(0, 1 - (s_i - s_j)) summed over pairs (RankSVM)",
        settings: &[],
        make: |_| Ok(Arc::new(SmoothLoss(Hinge))),
    },
    KnownObjective {
        name: "exponential",
        suffix: "",
        help: "exp(s_j - s_i) summed over pairs (RankBoost)",
        settings: &[],
        make: |_| Ok(Arc::new(SmoothLoss(Exponential))),
    },
    KnownObjective {
        name: "squared-error",
        suffix: "",
        help: "(s_i - y_i)^2 / 2 summed over documents (MART)",
        settings: &[],
        make: |_| Ok(Arc::new(SmoothLoss(SquaredError))),
    },
];

/// A pair loss with the settings that all of them have.
fn pairs(
    parts: &mut Parts<'_>,
    base: LogBase,
    tail: &str,
    weight: impl FnOnce(Option<usize>) -> Arc<dyn PairWeight>,
) -> std::result::Result<Arc<dyn Loss>, String> {
    let title = [parts.head.to_owned(), tail.to_owned()];
    let (sigma, assignment) = (parts.sigma()?, parts.assignment()?);
    let truncation = parts.truncation.take();
    Ok(Arc::new(PairLoss { title, base, truncation, sigma, assignment, ..PairLoss::new("", weight(truncation)) }))
}

fn make_lambdarank(parts: &mut Parts<'_>) -> std::result::Result<Arc<dyn Loss>, String> {
    if parts.truncation.is_some() {
        return Err("write the cut-off with the metric, as in lambdarank:ndcg@10".to_owned());
    }
    let construction = parts.construction()?;
    let swap = parts.word("swap");
    let settings = (parts.number("sigma", f64::MIN_POSITIVE..=1e6)?, parts.assignment()?);
    let name = parts.take_rest();
    let metric = metric::parse(if name.is_empty() { "ndcg" } else { &name }).map_err(|error| error.to_string())?;
    let sigma = settings.0.unwrap_or(1.0);
    if construction != Construction::RankNetWeightPairs {
        if settings.1 != Default::default() {
            return Err(format!("{} has no pair weights to average over samples", construction.name()));
        }
        if settings.0.is_some() && construction != Construction::SpringSmooth {
            return Err(format!("{} has no sigmoid for sigma to steepen", construction.name()));
        }
        return Ok(Objective::constructed_with(metric, construction, sigma).into_loss());
    }
    let title = format!("lambdarank:{}{}", metric.name(), if swap { ":swap" } else { "" });
    let weight = match (swap, metric.kind()) {
        (false, _) => lambdarank(metric),
        (true, MetricKind::Rr { k, threshold }) => Arc::new(MrrSwap { k, threshold }) as Arc<dyn PairWeight>,
        _ => return Err("swap belongs to mrr: for all other metrics pairs weigh what their swap changes".to_owned()),
    };
    Ok(Arc::new(PairLoss { sigma, assignment: settings.1, ..PairLoss::new(title, weight) }))
}
