//! Compares the model with the best single feature on the validation queries.

use super::warnings::Warning;
use burnrank::metric::Summary;
use burnrank::{Conventions, Dataset, Metric, Model, TrainConfig, evaluate};
use rayon::prelude::*;
use std::sync::Arc;

/// Maximum number of feature values to sample, except for a single larger query: about a second of work.
const MAX_VALUES: usize = 4_000_000;

/// Minimum number of queries for a warning.
const MIN_QUERIES: usize = 10;

/// A sample of the validation queries, on which single features are compared with the model.
pub struct SingleFeature {
    queries: Dataset,
    /// Whether the sample has all validation queries.
    all: bool,
    metric: Arc<dyn Metric>,
}

/// A ranking by one feature.
struct Ranking {
    feature: usize,
    highest_first: bool,
    /// The metric of each query.
    values: Vec<Option<f64>>,
}

impl SingleFeature {
    /// Samples evenly spaced queries. `None` if there is only one feature, or nothing to rank.
    pub fn sample(valid: &Dataset, config: &TrainConfig) -> Option<Self> {
        let metric = burnrank::metric::parse(&config.metric).ok()?;
        let width = valid.n_features();
        if width < 2 || !valid.has_pairs() {
            return None;
        }
        let values = valid.n_documents() * width;
        let count = valid.n_queries() * MAX_VALUES / values.max(MAX_VALUES);
        let count = count.clamp(1, valid.n_queries());
        let queries = valid.select(&(0..count).map(|place| place * valid.n_queries() / count).collect::<Vec<_>>());
        Some(SingleFeature { all: count == valid.n_queries(), queries, metric })
    }

    /// The best ranking by a single feature.
    fn best(&self) -> Option<Ranking> {
        let SingleFeature { queries, metric, .. } = self;
        let width = queries.n_features();
        let rank = |place: usize| {
            let (feature, highest_first) = (place / 2, place.is_multiple_of(2));
            let sign = if highest_first { 1.0 } else { -1.0 };
            let scores: Vec<f32> = queries.features().iter().skip(feature).step_by(width).map(|x| sign * x).collect();
            let values =
                evaluate(&**metric, &scores, queries.labels(), queries.offsets(), &Conventions::default()).ok()?;
            let mean = Summary::of(&values).mean;
            Some((if metric.is_cost() { -mean } else { mean }, Ranking { feature, highest_first, values }))
        };
        // Of equally good rankings the first, with any number of threads.
        let better = |a: (f64, Ranking), b: (f64, Ranking)| {
            let (first, second) = if position(&a.1) < position(&b.1) { (a, b) } else { (b, a) };
            if second.0 > first.0 { second } else { first }
        };
        let best = (0..2 * width).into_par_iter().filter_map(rank).filter(|(mean, _)| mean.is_finite());
        best.reduce_with(better).map(|(_, best)| best)
    }

    /// Warns unless the model is better than the best feature by more than one standard error of the difference.
    /// `first_index` is the index of the first feature; `run` names the run if there are several.
    pub fn warning(&self, model: &Model, first_index: u32, run: &str) -> Option<Warning> {
        let (data, best) = (&self.queries, self.best()?);
        let scores = model.score(data).ok()?;
        let values = evaluate(&*self.metric, &scores, data.labels(), data.offsets(), &Conventions::default()).ok()?;
        let sign = if self.metric.is_cost() { -1.0 } else { 1.0 };
        let gain = |(model, feature): (&Option<f64>, &Option<f64>)| Some(sign * ((*model)? - (*feature)?));
        let gain = Summary::of(&values.iter().zip(&best.values).map(gain).collect::<Vec<_>>());
        if gain.n < MIN_QUERIES || gain.mean > gain.standard_error {
            return None;
        }
        let what = format!(
            "feature {} alone ({} first) is better than the model or within one standard error of it, on {}: {} {:.4}, \
             model {:.4}",
            best.feature + first_index as usize,
            if best.highest_first { "highest" } else { "lowest" },
            if self.all { "the validation queries".into() } else { format!("{} validation queries", data.n_queries()) },
            self.metric.name(),
            Summary::of(&best.values).mean,
            Summary::of(&values).mean,
        );
        let remedy = "check that it is not computed from the labels; otherwise try another --scale, --objective or --model, or use more data";
        Some(Warning::of_run(run, what, remedy))
    }
}

/// The position of a ranking in the order of `SingleFeature::best`.
fn position(ranking: &Ranking) -> (usize, bool) {
    (ranking.feature, !ranking.highest_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(rows: &[(f32, [f32; 2])], queries: usize) -> Dataset {
        let each = rows.len() / queries;
        let names = (0..queries).map(|query| (query.to_string(), each)).collect();
        let labels = rows.iter().map(|row| row.0).collect();
        Dataset::new(2, rows.iter().flat_map(|row| row.1).collect(), labels, names).unwrap()
    }

    #[test]
    fn the_best_feature_is_found_in_either_direction() {
        let config = TrainConfig::default();
        let best = |rows: &[(f32, [f32; 2])]| {
            let best = SingleFeature::sample(&data(rows, 1), &config).and_then(|sample| sample.best());
            best.map(|best| (best.feature, best.highest_first))
        };
        assert_eq!(best(&[(1.0, [2.0, 5.0]), (0.0, [2.0, 7.0])]), Some((1, false)));
        assert_eq!(best(&[(1.0, [2.0, 5.0]), (0.0, [1.0, 7.0])]), Some((0, true)), "the first of equal features");
        assert_eq!(best(&[(1.0, [2.0, 5.0]), (1.0, [1.0, 7.0])]), None, "nothing to rank");
        let cost = TrainConfig { metric: "pair-error".into(), ..config.clone() };
        let rows = [(1.0, [2.0, 5.0]), (0.0, [2.0, 7.0])];
        assert_eq!(
            SingleFeature::sample(&data(&rows, 1), &cost).and_then(|sample| sample.best()).map(|best| best.values),
            Some(vec![Some(0.0)])
        );
    }

    #[test]
    fn a_large_set_is_sampled_evenly() {
        let (queries, width) = (1000, 8);
        let each = 2 * MAX_VALUES / queries / width;
        let documents = queries * each;
        let features = (0..documents * width).map(|i| (i / width % each) as f32).collect();
        let labels = (0..documents).map(|i| if i % each == 0 { 1.0 } else { 0.0 }).collect();
        let data = Dataset::new(width, features, labels, (0..queries).map(|query| (query.to_string(), each)).collect())
            .unwrap();
        let sample = SingleFeature::sample(&data, &TrainConfig::default()).unwrap();
        assert_eq!((sample.queries.n_queries(), sample.all), (queries / 2, false));
        assert_eq!(sample.queries.query_ids()[1], "2");
        let best = sample.best().unwrap();
        assert_eq!((best.feature, best.highest_first), (0, false));
    }
}
