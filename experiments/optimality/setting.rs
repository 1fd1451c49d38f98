//! The four metrics of the paper, its artificial data, and what reports say about both.

use crate::harness::figure::Point;
use crate::harness::units::mean;
use crate::harness::{Execution, Finding, Job, OneEntryCache, Scale, Session, Spread, Ticker};
use burnrank::{Dataset, Metric, Objective, Synthetic, metric};
use std::sync::Arc;

/// A metric used for training and evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PaperMetric {
    /// Name in this program. Labels of 2 and more are relevant to binary metrics, as in the paper.
    pub name: &'static str,
    /// Name in the paper.
    pub title: &'static str,
}

pub const NDCG: PaperMetric = PaperMetric { name: "ndcg", title: "NDCG" };
pub const NDCG10: PaperMetric = PaperMetric { name: "ndcg@10", title: "NDCG@10" };
pub const MAP: PaperMetric = PaperMetric { name: "map:rel=2", title: "MAP" };
pub const MRR: PaperMetric = PaperMetric { name: "mrr:rel=2", title: "MRR" };

/// All four metrics, in the paper's order.
pub const METRICS: [PaperMetric; 4] = [NDCG, NDCG10, MAP, MRR];

impl PaperMetric {
    /// Position in [`METRICS`].
    pub fn index(self) -> usize {
        METRICS.iter().position(|other| *other == self).unwrap_or(0)
    }

    pub fn parse(self) -> anyhow::Result<Arc<dyn Metric>> {
        Ok(metric::parse(self.name)?)
    }

    /// LambdaRank for this metric, with sigma 1.
    pub fn lambdarank(self) -> anyhow::Result<Objective> {
        Ok(Objective::parse(&format!("lambdarank:{}", self.name))?)
    }
}

/// Seed of a random function, its data and its nets.
pub fn seed_of(session: &Session, function: u64) -> u64 {
    session.seed.wrapping_mul(1_000).wrapping_add(function)
}

/// Queries of 50 documents from a random cubic polynomial, with label shares similar to web data.
pub fn data(features: usize, seed: u64) -> Synthetic {
    Synthetic { features, seed, ..Synthetic::lambdarank() }
}

/// Consecutive, disjoint sets of queries of one function.
pub fn query_sets<const N: usize>(data: &Synthetic, queries: [usize; N]) -> anyhow::Result<[Dataset; N]> {
    let generator = data.generator()?;
    let mut from = 0;
    let mut sets = vec![];
    for n in queries {
        sets.push(generator.part(from..from + n)?.0);
        from += n;
    }
    sets.try_into().map_err(|_| anyhow::anyhow!("a set of queries is missing"))
}

/// Runs all jobs, each with its seed and its sets of queries.
///
/// `sizes` returns the function of a job and the numbers of queries.
pub fn run_all<C: Sync, R: Finding, const N: usize>(
    execution: &Execution<'_>,
    features: usize,
    jobs: &[Job<C>],
    sizes: impl Fn(&C) -> (u64, [usize; N]) + Sync,
    run: impl Fn(&C, &[Dataset; N], u64, &Ticker<'_>) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Vec<R>> {
    let cache = OneEntryCache::default();
    execution.run_all(jobs, |job, ticker| {
        let (function, queries) = sizes(&job.what);
        let seed = seed_of(execution.session, function);
        let sets = cache.get((function, queries), || query_sets(&data(features, seed), queries))?;
        run(&job.what, &sets, seed, ticker)
    })
}

/// Mean and half of its 95% interval, times `factor`, as a point of a figure.
pub fn mean_point(x: f64, values: &[f64], factor: f64) -> Point {
    let (mean, half) = (mean(values), Spread::of(values).map_or(0.0, |spread| spread.half));
    (x, factor * mean, Some((factor * (mean - half), factor * (mean + half))))
}

/// Mean and standard error, as text.
pub fn mean_and_error(values: &[f64]) -> String {
    let error = Spread::of(values).map_or(0.0, |spread| spread.sd / (spread.n as f64).sqrt());
    format!("{:.4} ± {error:.4}", mean(values))
}

/// One tick per metric.
pub fn metric_ticks() -> Vec<(f64, String)> {
    METRICS.iter().enumerate().map(|(at, metric)| (at as f64, metric.title.into())).collect()
}

/// Description of the data.
pub fn describe_data(features: usize) -> String {
    format!(
        "random cubic polynomials of {features} features, uniform in ±1, as in the RankNet paper (the mean of a \
         linear, a quadratic and a cubic term, each scaled to variance 1); 50 documents per query; labels 0 to 4 are \
         bins of the polynomial's value with 52, 32, 13, 2 and 1 percent of the documents. Labels of 2 and more are \
         relevant to MAP and MRR, as in the paper."
    )
}

/// Differences from the paper that all its experiments share, followed by those of one experiment.
pub fn deviations<const N: usize>(scale: Scale, own: [String; N]) -> Vec<String> {
    let mut all = vec![
        "The paper's two sets of web queries belong to a search engine; only its artificial data can be generated \
         again. The paper does not state the label shares of that data; ours resemble web data."
            .into(),
        "The paper does not state the following: hidden units are tanh, initial weights are uniform in \
         ±1/sqrt(inputs), queries are shuffled in each epoch, and a query without relevant documents counts 0."
            .into(),
    ];
    if scale == Scale::Quick {
        all.push("Quick: far fewer functions, queries and epochs than at full scale.".into());
    }
    all.extend(own);
    all
}
