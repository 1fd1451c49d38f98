//! Evaluation of scores: the conventions that a value depends on, and one value per query.

use super::order::Ranking;
use super::{METRICS, Metric, MetricEntry, Score, Ties, parse};
use crate::error::{Error, Result};
use crate::name::words;
use rayon::prelude::*;
use std::fmt;

words! {
    /// Value of a query without relevant documents.
    #[derive(Default)]
    pub enum Empty: "rule for queries without relevant documents" {
        /// 0, as in trec_eval; also for costs.
        #[default]
        Zero = "0" | "zero",
        /// 1, as in LightGBM; also for costs.
        One = "1" | "one",
        /// The query is left out.
        Skip = "skip",
    }
}

words! {
    /// Treatment of scores of minus infinity or NaN.
    #[derive(Default)]
    pub enum Missing: "rule for scores of -inf or NaN" {
        /// The document ranks last.
        #[default]
        Last = "last",
        /// The document was not retrieved: it counts in ideals and totals but has no rank, as in trec_eval.
        Absent = "absent",
    }
}

/// Evaluation conventions that the papers leave open. Reports print them in their headers.
///
/// ```
/// use burnrank::Conventions;
/// assert_eq!(
///     Conventions::default().to_string(),
///     "ties: pessimistic; queries without relevant documents: 0; scores of -inf or NaN: last"
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Conventions {
    /// Order of documents with equal scores.
    pub ties: Ties,
    /// Value of a query without relevant documents.
    pub empty: Empty,
    /// Treatment of scores of minus infinity or NaN.
    pub missing: Missing,
}

impl fmt::Display for Conventions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conventions { ties, empty, missing } = self;
        write!(f, "ties: {ties}; queries without relevant documents: {empty}; scores of -inf or NaN: {missing}")
    }
}

/// Returns a metric's value for one query, or `None` if the query is skipped.
///
/// ```
/// use burnrank::metric::Ties;
/// use burnrank::Conventions;
/// use burnrank::metric::{evaluate_query, parse};
/// let ndcg = parse("ndcg")?;
/// let conventions = Conventions { ties: Ties::Optimistic, ..Conventions::default() };
/// assert_eq!(evaluate_query(&*ndcg, &[0.5, 0.5, 0.5], &[1.0, 0.0, 2.0], &conventions)?, Some(1.0));
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the numbers of scores and labels differ, a label is negative, not finite or refused by the
/// metric, averaged ties are requested but the metric has no closed form for them, or the value is not finite.
pub fn evaluate_query<S: Score>(
    metric: &dyn Metric,
    scores: &[S],
    labels: &[f32],
    conventions: &Conventions,
) -> Result<Option<f64>> {
    if scores.len() != labels.len() {
        return Err(Error::Mismatch(format!("{} scores for {} labels", scores.len(), labels.len())));
    }
    evaluate_one(metric, scores, labels, conventions, &mut Ranking::new())
}

/// Computes a metric's value for each query in parallel; `None` for skipped queries.
///
/// Query `q` consists of the documents `offsets[q]..offsets[q + 1]`; see [`Dataset::offsets`](crate::Dataset::offsets).
///
/// ```
/// use burnrank::{Conventions, evaluate};
/// use burnrank::metric::parse;
/// let (scores, labels) = ([0.1, 0.9, 0.3, 0.2], [1.0, 0.0, 0.0, 2.0]);
/// let values = evaluate(&*parse("mrr")?, &scores, &labels, &[0, 2, 4], &Conventions::default())?;
/// assert_eq!(values, [Some(0.5), Some(0.5)]);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the lengths do not match; otherwise that of [`evaluate_query`] for the first invalid query.
pub fn evaluate<S: Score>(
    metric: &dyn Metric,
    scores: &[S],
    labels: &[f32],
    offsets: &[usize],
    conventions: &Conventions,
) -> Result<Vec<Option<f64>>> {
    if scores.len() != labels.len() {
        return Err(Error::Mismatch(format!("{} scores for {} documents", scores.len(), labels.len())));
    }
    let fits = offsets.is_sorted() && offsets.first().is_none_or(|&first| first == 0);
    if !fits || offsets.last().copied().unwrap_or(0) != labels.len() {
        return Err(Error::Mismatch(format!("the query offsets do not match {} documents", labels.len())));
    }
    // Collect all results before looking for errors, so that the error reported is that of the first invalid query.
    let values: Vec<Result<Option<f64>>> = offsets
        .par_windows(2)
        .with_min_len(8)
        .map_init(Ranking::new, |ranking, rows| {
            evaluate_one(metric, &scores[rows[0]..rows[1]], &labels[rows[0]..rows[1]], conventions, ranking)
        })
        .collect();
    values.into_iter().enumerate().map(|(query, value)| value.map_err(|error| at_query(query, error))).collect()
}

fn at_query(query: usize, error: Error) -> Error {
    match error {
        Error::Mismatch(message) => Error::Mismatch(format!("query {} of the data: {message}", query + 1)),
        other => other,
    }
}

fn evaluate_one<S: Score>(
    metric: &dyn Metric,
    scores: &[S],
    labels: &[f32],
    conventions: &Conventions,
    ranking: &mut Ranking<S>,
) -> Result<Option<f64>> {
    if let Some(label) = labels.iter().find(|label| !(**label >= 0.0 && label.is_finite())) {
        return Err(Error::Mismatch(format!("label {label}: expected a number of 0 or more")));
    }
    if u32::try_from(labels.len()).is_err() {
        return Err(Error::Mismatch("more than 2^32 documents".to_owned()));
    }
    metric.check(labels)?;
    if metric.is_empty(labels) {
        return Ok(match conventions.empty {
            Empty::Zero => Some(0.0),
            Empty::One => Some(1.0),
            Empty::Skip => None,
        });
    }
    let value = ranked_value(metric, scores, labels, conventions, ranking).ok_or_else(|| no_average(metric))?;
    if value.is_finite() {
        return Ok(Some(value));
    }
    let highest = labels.iter().copied().fold(0.0, f32::max);
    Err(Error::Mismatch(format!(
        "{} is not finite: label {highest} is too high for the gain 2^y - 1; use a linear gain, as in 'ndcg:linear'",
        metric.name()
    )))
}

/// Value of a query with relevant documents; `None` if averaged ties are requested and have no closed form.
fn ranked_value<S: Score>(
    metric: &dyn Metric,
    scores: &[S],
    labels: &[f32],
    conventions: &Conventions,
    ranking: &mut Ranking<S>,
) -> Option<f64> {
    ranking.rank(scores, labels, conventions.ties, metric.depth());
    let retrieved = match conventions.missing {
        Missing::Last => scores.len(),
        Missing::Absent => scores.iter().filter(|score| score.is_above_bottom()).count(),
    };
    let value = match conventions.ties {
        Ties::Average => metric.value_over_ties(&ranking.ranked, &ranking.ends, retrieved),
        _ if retrieved < scores.len() => Some(metric.value_of_retrieved(&ranking.ranked, retrieved)),
        _ => Some(metric.value(&ranking.ranked)),
    };
    // An empty sum is -0.
    value.map(|value| value + 0.0)
}

/// Evaluates queries that have passed [`evaluate`] and are not empty, without checking them again or allocating.
pub(super) struct Reevaluator {
    ranking: Ranking<f32>,
}

impl Reevaluator {
    pub(super) fn new() -> Self {
        Reevaluator { ranking: Ranking::new() }
    }

    pub(super) fn value(
        &mut self,
        metric: &dyn Metric,
        scores: &[f32],
        labels: &[f32],
        conventions: &Conventions,
    ) -> f64 {
        ranked_value(metric, scores, labels, conventions, &mut self.ranking).unwrap_or(f64::NAN)
    }
}

fn no_average(metric: &dyn Metric) -> Error {
    let has_average = |row: &MetricEntry| {
        let metric = parse(&row.shortest()).ok()?;
        metric.value_over_ties(&[1.0], &[1], 1).map(|_| row.name)
    };
    let supported: Vec<&str> = METRICS.iter().filter_map(has_average).collect();
    Error::Config(format!(
        "{} does not support averaged ties (only {} do); choose document, pessimistic or optimistic",
        metric.name(),
        supported.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::super::Summary;
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn message<T>(result: Result<T>) -> String {
        result.err().map(|error| error.to_string()).unwrap_or_default()
    }

    fn random_queries(queries: usize, documents: usize) -> (Vec<f32>, Vec<f32>, Vec<usize>) {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let scores = (0..queries * documents).map(|_| random.random::<f32>()).collect();
        let labels = (0..queries * documents).map(|_| random.random_range(0..5u8).saturating_sub(1).into()).collect();
        (scores, labels, (0..=queries).map(|query| query * documents).collect())
    }

    #[test]
    fn mismatched_input_is_refused() {
        let ndcg = parse("ndcg").unwrap();
        let all = Conventions::default();
        assert_eq!(message(evaluate_query(&*ndcg, &[1.0], &[], &all)), "1 scores for 0 labels");
        assert!(message(evaluate(&*ndcg, &[1.0], &[1.0, 2.0], &[0, 2], &all)).contains("1 scores for 2 documents"));
        for offsets in [&[0, 1][..], &[1, 2], &[0, 2, 1, 2], &[0, 3], &[]] {
            let error = message(evaluate(&*ndcg, &[1.0, 2.0], &[1.0, 2.0], offsets, &all));
            assert!(error.contains("offsets do not match"), "{error}");
        }
        for label in [-1.0, f32::NAN, f32::INFINITY] {
            assert!(message(evaluate_query(&*ndcg, &[1.0], &[label], &all)).contains("expected a number of 0 or more"));
        }
        let labels = [1.0, 0.0, 2000.0, 0.0];
        let error = message(evaluate(&*ndcg, &[1.0, 2.0, 3.0, 4.0], &labels, &[0, 2, 4], &all));
        assert!(error.starts_with("query 2 of the data: ndcg is not finite: label 2000"), "{error}");
        assert!(message(evaluate_query(&*parse("err@5").unwrap(), &[1.0], &[5.0], &all)).contains("err:max=5"));
        let average = Conventions { ties: Ties::Average, ..all };
        assert!(
            message(evaluate_query(&*parse("map").unwrap(), &[1.0], &[1.0], &average))
                .contains("only ndcg, dcg, wta, wta-error, pairs, pair-error, arp, p, recall")
        );
        assert_eq!(evaluate::<f32>(&*ndcg, &[], &[], &[0], &all).unwrap(), []);
        assert_eq!(evaluate::<f32>(&*ndcg, &[], &[], &[], &all).unwrap(), []);
    }

    #[test]
    fn absent_documents_count_in_totals_only() {
        let (scores, labels) = ([2.0, f32::NEG_INFINITY, f32::NAN], [1.0, 1.0, 0.0]);
        let value = |name: &str, ties| {
            let conventions = Conventions { missing: Missing::Absent, ties, ..Conventions::default() };
            evaluate_query(&*parse(name).unwrap(), &scores, &labels, &conventions).unwrap().unwrap()
        };
        assert_eq!(value("map", Ties::Pessimistic), 1.0 / 2.0);
        assert_eq!(value("recall@10", Ties::Pessimistic), 1.0 / 2.0);
        assert_eq!(value("ndcg", Ties::Average), 1.0 / (1.0 + 1.0 / 3f64.log2()));
        let last = evaluate_query(&*parse("map").unwrap(), &scores, &labels, &Conventions::default()).unwrap();
        assert_eq!(last, Some((1.0 + 2.0 / 3.0) / 2.0), "NaN is minus infinity, and of equals the worse comes first");
    }

    #[test]
    fn nothing_retrieved_is_zero_and_not_minus_zero() {
        let conventions = Conventions { missing: Missing::Absent, ..Conventions::default() };
        for name in METRICS.iter().map(MetricEntry::shortest) {
            let metric = parse(&name).unwrap();
            let value = evaluate_query(&*metric, &[f32::NEG_INFINITY; 2], &[1.0, 0.0], &conventions).unwrap().unwrap();
            assert!(value.is_sign_positive(), "{name}: {value:?}");
        }
    }

    #[test]
    fn results_do_not_depend_on_threads_or_batches() {
        let (scores, labels, offsets) = random_queries(300, 40);
        for name in ["ndcg@10", "map", "pairs"] {
            let metric = parse(name).unwrap();
            let all = Conventions::default();
            let evaluate_with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| evaluate(&*metric, &scores, &labels, &offsets, &all).unwrap())
            };
            let one = evaluate_with(1);
            assert_eq!(one, evaluate_with(4));
            assert_eq!(Summary::of(&one), Summary::of(&evaluate_with(3)));
            for (query, rows) in offsets.windows(2).enumerate() {
                let alone = evaluate_query(&*metric, &scores[rows[0]..rows[1]], &labels[rows[0]..rows[1]], &all);
                assert_eq!(one[query], alone.unwrap());
            }
        }
    }

    #[test]
    fn long_queries_are_supported() {
        let (scores, labels, offsets) = random_queries(1, 50_000);
        for row in METRICS {
            let metric = parse(&row.shortest()).unwrap();
            let value = evaluate(&*metric, &scores, &labels, &offsets, &Conventions::default()).unwrap()[0].unwrap();
            assert!(value.is_finite());
            let swaps = metric.swaps(&labels);
            // Some metrics evaluate the whole list for a swap.
            assert!((0..50_000).step_by(251).all(|i| swaps.delta(i, 49_999 - i).is_finite()));
        }
    }

    /// `cargo test --release -- --ignored --nocapture speed_of_evaluation`
    #[test]
    #[ignore = "a benchmark"]
    fn speed_of_evaluation() {
        for (queries, documents) in [(8_000, 125), (20, 50_000)] {
            let (scores, labels, offsets) = random_queries(queries, documents);
            for name in ["ndcg@10", "ndcg", "map", "mrr", "pairs", "err@10"] {
                let metric = parse(name).unwrap();
                let start = std::time::Instant::now();
                let values = evaluate(&*metric, &scores, &labels, &offsets, &Conventions::default()).unwrap();
                let seconds = start.elapsed().as_secs_f64();
                let million = labels.len() as f64 / 1e6;
                println!(
                    "{queries} x {documents} {name}: {seconds:.4} s, {:.1} M documents/s, mean {:.4}",
                    million / seconds,
                    Summary::of(&values).mean
                );
            }
        }
    }

    #[test]
    fn conventions_parse_as_they_print() {
        for empty in Empty::ALL {
            assert_eq!(empty.to_string().parse::<Empty>().unwrap(), empty);
        }
        assert_eq!("zero".parse::<Empty>().unwrap(), Empty::Zero);
        assert!("2".parse::<Empty>().is_err());
    }
}
