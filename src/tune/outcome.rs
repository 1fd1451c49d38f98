//! Result of a search: the trials in order, and the uncertainty of their differences.

use super::candidate::Evaluation;
use super::data::TuneData;
use super::estimate::{is_better, paired};
use crate::analysis::significance::Better;
use crate::metric::Summary;
use crate::setting::TrainConfig;
use std::cmp::Ordering;

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEnd {
    /// All trials were completed.
    Completed,
    /// The time limit was reached.
    TimedOut,
    /// The caller stopped it.
    Stopped,
}

/// A configuration that was tried.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Number of the trial; 0 is the default configuration, see [`Search::trials`](super::Search::trials).
    pub number: usize,
    /// The configuration.
    pub config: TrainConfig,
    /// The last rung that it reached.
    pub rung: usize,
    /// Its evaluation; `None` if training failed.
    pub evaluation: Option<Evaluation>,
    /// Why training failed.
    pub failure: Option<String>,
    /// Training time in seconds.
    pub seconds: f64,
}

/// Result of a search.
#[derive(Debug, Clone)]
pub struct SearchResult {
    /// Name of the metric.
    pub metric: String,
    /// Whether higher or lower is better.
    pub better: Better,
    /// Number of trials requested.
    pub requested: usize,
    /// How the search ended.
    pub ended: SearchEnd,
    /// All trials, by number.
    pub trials: Vec<Trial>,
}

/// Orders by estimate, the better first; ties go to the trial that was drawn first.
pub(super) fn order(better: Better, a: &(usize, Evaluation), b: &(usize, Evaluation)) -> Ordering {
    let (first, second) = (a.1.summary().mean, b.1.summary().mean);
    let by_value = match better {
        Better::Higher => second.total_cmp(&first),
        Better::Lower => first.total_cmp(&second),
    };
    by_value.then(a.0.cmp(&b.0))
}

impl SearchResult {
    /// The trials with an estimate, the best first. Later rungs come first, because values after different numbers of epochs are
    /// not comparable and only a fully trained trial shows what its settings achieve.
    pub fn ranked(&self) -> Vec<(&Trial, &Evaluation)> {
        let mut keyed: Vec<_> =
            self.trials.iter().filter_map(|t| Some((t, (t.number, t.evaluation.clone()?)))).collect();
        keyed.sort_by(|a, b| b.0.rung.cmp(&a.0.rung).then(order(self.better, &a.1, &b.1)));
        keyed.into_iter().filter_map(|(trial, _)| Some((trial, trial.evaluation.as_ref()?))).collect()
    }

    /// The default configuration, if it was tried.
    pub fn default_trial(&self) -> Option<&Trial> {
        self.trials.iter().find(|trial| trial.number == 0)
    }

    /// Difference of the best trial and the default, per query.
    ///
    /// The best of many trials is partly the best by luck, so this is too optimistic; see [`SearchResult::held_out_gain`].
    pub fn gain(&self) -> Option<Summary> {
        let (_, best) = *self.ranked().first()?;
        Some(paired(&best.values, &self.default_trial()?.evaluation.as_ref()?.values))
    }

    /// Difference of the search and the default, where each half of the queries is evaluated with the trial and the epoch that
    /// the other half chose.
    pub fn held_out_gain(&self, data: &TuneData<'_>) -> Option<Summary> {
        let default = self.default_trial()?.evaluation.as_ref()?;
        let chosen =
            |half: usize| {
                let all = self.trials.iter().filter_map(|trial| trial.evaluation.as_ref());
                all.reduce(|best, next| {
                    if is_better(self.better, next.half_means[half], best.half_means[half]) { next } else { best }
                })
            };
        let chosen = [chosen(0)?, chosen(1)?];
        let values: Vec<Option<f64>> = data
            .half_of_each()
            .enumerate()
            .map(|(query, half)| chosen[1 - half].values.get(query).copied().flatten())
            .collect();
        Some(paired(&values, &default.values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Synthetic;

    fn trial(number: usize, half_means: [f64; 2], values: Vec<Option<f64>>) -> Trial {
        let evaluation = Evaluation {
            epochs: 1,
            exhausted: false,
            chosen_epochs: vec![[1, 1]],
            half_means,
            values,
            validation_value: None,
        };
        let config = TrainConfig::default();
        Trial { number, config, rung: 1, evaluation: Some(evaluation), failure: None, seconds: 0.0 }
    }

    #[test]
    fn the_choice_of_one_half_is_evaluated_on_the_other() {
        let queries = Synthetic { queries: 8, ..Synthetic::net() }.generator().unwrap().dataset().unwrap();
        let data = TuneData::new(vec![[&queries, &queries]], 1).unwrap();
        let of = |first: f64, second: f64| data.half_of_each().map(|half| Some([first, second][half])).collect();
        let mut failed = trial(3, [0.0; 2], vec![]);
        failed.evaluation = None;
        let mut result = SearchResult {
            metric: "ndcg".into(),
            better: Better::Higher,
            requested: 4,
            ended: SearchEnd::Completed,
            // The first half chooses the second trial, evaluated as 0.75 on the other half; the second half chooses the third, as 0.5.
            trials: vec![
                trial(0, [0.5, 0.5], of(0.25, 0.25)),
                trial(1, [0.9, 0.1], of(0.0, 0.75)),
                trial(2, [0.1, 0.9], of(0.5, 0.5)),
                failed,
            ],
        };
        assert_eq!(result.ranked().iter().map(|(trial, _)| trial.number).collect::<Vec<_>>(), [2, 1, 0]);
        assert_eq!((result.gain().unwrap().mean, result.gain().unwrap().standard_error), (0.25, 0.0));
        assert_eq!(result.held_out_gain(&data).unwrap().mean, (0.25 + 0.5) / 2.0);
        result.better = Better::Lower;
        assert_eq!(result.ranked()[0].0.number, 0);
        // Values after fewer epochs are not comparable.
        result.trials[1].rung = 2;
        assert_eq!(result.ranked()[0].0.number, 1);
    }
}
