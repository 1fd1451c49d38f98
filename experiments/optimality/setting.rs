//! The four metrics of the paper, its artificial data, and what reports say about both.

use crate::harness::figure::Point;
use crate::harness::units::mean;
use crate::harness::{Execution, Finding, Job, OneEntryCache, Runs, Scale, Session, Spread, Ticker};
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
}

/// LambdaRank for a metric, with sigma 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Training {
    pub metric: PaperMetric,
    pub title: &'static str,
    /// Parameter of the objective.
    form: &'static str,
}

/// Training for each of the four metrics; for MRR, pairs are weighted by the absolute change when they swap.
pub const TRAININGS: [Training; 4] = [
    Training { metric: NDCG, title: "NDCG", form: "" },
    Training { metric: NDCG10, title: "NDCG@10", form: "" },
    Training { metric: MAP, title: "MAP", form: "" },
    Training { metric: MRR, title: "MRR", form: ":swap" },
];

/// Training for MRR as printed: only swaps that raise it have a lambda.
pub const EQ11: Training = Training { metric: MRR, title: "MRR (Eq. 11)", form: "" };

/// All five, in the order of tables.
pub const ALL_TRAININGS: [Training; 5] = [TRAININGS[0], TRAININGS[1], TRAININGS[2], TRAININGS[3], EQ11];

/// Why there are two trainings for MRR.
pub const TWO_FORMS: &str = "MRR has two forms. By Eq. 11 as printed, only pairs whose swap raises the reciprocal rank have a lambda. \
     All of them are in the wrong order, so every update of a linear net reduces its norm: w . dw = sum of lambda x (score of the \
     relevant document - score of the other) < 0, and the norm stays as small as the learning rate allows. Eq. 10 is for \"any \
     {i, j}\" with a gain \"(or loss)\": the swap form weights a pair by the absolute change of the reciprocal rank when it swaps, \
     as for the other metrics. \"MRR\" is the swap form, \"MRR (Eq. 11)\" the printed one.";

impl Training {
    pub fn objective(self) -> anyhow::Result<Objective> {
        Ok(Objective::parse(&format!("lambdarank:{}{}", self.metric.name, self.form))?)
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

/// Runs all cells, each with its seed and its sets of queries.
///
/// `sizes` returns the function of a cell and the numbers of queries, `data` the settings of its data for a seed.
pub fn run_all<C: Sync, R: Finding, const N: usize>(
    execution: &Execution<'_>,
    jobs: Vec<Job<C>>,
    data: impl Fn(&C, u64) -> Synthetic + Sync,
    sizes: impl Fn(&C) -> (u64, [usize; N]) + Sync,
    run: impl Fn(&C, &[Dataset; N], u64, &Ticker<'_>) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Runs<C, R>> {
    let cache = OneEntryCache::default();
    Runs::of(execution, jobs, |cell, ticker| {
        let (function, queries) = sizes(cell);
        let seed = seed_of(execution.session, function);
        let data = data(cell, seed);
        let sets = cache.get((function, queries, data.documents), || query_sets(&data, queries))?;
        run(cell, &sets, seed, ticker)
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
