//! What a search found: trials in order, and how far their differences can be trusted.

use super::candidate::Evaluation;
use super::data::TuneData;
use super::estimate::{is_better, paired};
use crate::analysis::significance::Better;
use crate::metric::Summary;
use crate::setting::TrainConfig;
use std::cmp::Ordering;

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All was done.
    Whole,
    /// Its time was over.
    Time,
    /// The caller stopped it.
    Stopped,
}

/// A configuration that was tried.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Its number: 0 is the default, see [`Search::trials`](super::Search::trials).
    pub number: usize,
    /// What was tried.
    pub config: TrainConfig,
    /// The last rung that it was on.
    pub rung: usize,
    /// What is known of it; nothing where training failed.
    pub evaluation: Option<Evaluation>,
    /// Why training failed.
    pub failure: Option<String>,
    /// How long its training took.
    pub seconds: f64,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The measure.
    pub metric: String,
    /// Which way it improves.
    pub better: Better,
    /// The number of trials that was asked for.
    pub asked: usize,
    /// How the search ended.
    pub ended: Ended,
    /// All that was tried, by number.
    pub trials: Vec<Trial>,
}

/// The better estimate first; of equals, the one that was drawn first.
pub(super) fn order(better: Better, a: &(usize, Evaluation), b: &(usize, Evaluation)) -> Ordering {
    let (first, second) = (a.1.summary().mean, b.1.summary().mean);
    let by_value = match better {
        Better::Higher => second.total_cmp(&first),
        Better::Lower => first.total_cmp(&second),
    };
    by_value.then(a.0.cmp(&b.0))
}

impl Found {
    /// The trials with an estimate, the best first; those of later rungs first, because values after different shares of the
    /// epochs do not compare, and because only a trial that had all its epochs is what its settings train to.
    pub fn ranked(&self) -> Vec<(&Trial, &Evaluation)> {
        let mut keyed: Vec<_> =
            self.trials.iter().filter_map(|t| Some((t, (t.number, t.evaluation.clone()?)))).collect();
        keyed.sort_by(|a, b| b.0.rung.cmp(&a.0.rung).then(order(self.better, &a.1, &b.1)));
        keyed.into_iter().filter_map(|(trial, _)| Some((trial, trial.evaluation.as_ref()?))).collect()
    }

    /// The default, where it was tried.
    pub fn default_trial(&self) -> Option<&Trial> {
        self.trials.iter().find(|trial| trial.number == 0)
    }

    /// The difference of the best trial to the default, query by query.
    ///
    /// The best of many is partly best by luck, so that this is rather too good; see [`Found::held_out_gain`].
    pub fn gain(&self) -> Option<Summary> {
        let (_, best) = *self.ranked().first()?;
        Some(paired(&best.values, &self.default_trial()?.evaluation.as_ref()?.values))
    }

    /// The difference of what the search finds to the default, where each half of the queries is judged by the trial, and
    /// the epoch, that the other half chose.
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

    fn trial(number: usize, own: [f64; 2], values: Vec<Option<f64>>) -> Trial {
        let evaluation = Evaluation {
            epochs: 1,
            exhausted: false,
            chosen_epochs: vec![[1, 1]],
            half_means: own,
            values,
            validation_value: None,
        };
        let config = TrainConfig::default();
        Trial { number, config, rung: 1, evaluation: Some(evaluation), failure: None, seconds: 0.0 }
    }

    #[test]
    fn what_was_chosen_on_one_half_is_judged_on_the_other() {
        let queries = Synthetic { queries: 8, ..Synthetic::net() }.generator().unwrap().dataset().unwrap();
        let data = TuneData::new(vec![[&queries, &queries]], 1).unwrap();
        let of = |first: f64, second: f64| data.half_of_each().map(|half| Some([first, second][half])).collect();
        let mut failed = trial(3, [0.0; 2], vec![]);
        failed.evaluation = None;
        let mut found = Found {
            metric: "ndcg".into(),
            better: Better::Higher,
            asked: 4,
            ended: Ended::Whole,
            // The second is chosen by the first half and judged 0.75 on the other; the third the other way round, 0.5.
            trials: vec![
                trial(0, [0.5, 0.5], of(0.25, 0.25)),
                trial(1, [0.9, 0.1], of(0.0, 0.75)),
                trial(2, [0.1, 0.9], of(0.5, 0.5)),
                failed,
            ],
        };
        assert_eq!(found.ranked().iter().map(|(trial, _)| trial.number).collect::<Vec<_>>(), [2, 1, 0]);
        assert_eq!((found.gain().unwrap().mean, found.gain().unwrap().standard_error), (0.25, 0.0));
        assert_eq!(found.held_out_gain(&data).unwrap().mean, (0.25 + 0.5) / 2.0);
        found.better = Better::Lower;
        assert_eq!(found.ranked()[0].0.number, 0);
        // Values after fewer epochs do not compare.
        found.trials[1].rung = 2;
        assert_eq!(found.ranked()[0].0.number, 1);
    }
}
