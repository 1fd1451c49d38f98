//! Plausibility checks of outcomes in a journal: it may have been edited or damaged, and is checked before a search is resumed.

use super::data::TuneData;
use super::search::{Outcome, RUNGS, Search, SearchContext};
use crate::error::{Error, Result};
use crate::metric::{self, Conventions};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Tolerance for rounding errors of means.
const ROUNDING: f64 = 1e-9;

/// Limits of all numbers of an outcome.
pub(super) struct Bounds<'s> {
    search: &'s Search,
    /// Range of the metric over all rankings of the validation queries.
    values: RangeInclusive<f64>,
    queries: usize,
    /// Number of training queries of each fold.
    folds: Vec<usize>,
}

impl<'s> Bounds<'s> {
    /// Computes the limits for a search on this data: the metric lies between its values for the best and the worst ranking.
    pub fn of(search: &'s Search, data: &TuneData<'_>) -> Result<Self> {
        let metric = metric::parse(&search.metric)?;
        let (mut low, mut high) = (0.0_f64, f64::NEG_INFINITY);
        for valid in data.validation() {
            let reversed: Vec<f32> = valid.labels().iter().map(|label| -label).collect();
            for scores in [valid.labels(), &reversed] {
                let values =
                    metric::evaluate(&*metric, scores, valid.labels(), valid.offsets(), &Conventions::default())?;
                values.into_iter().flatten().for_each(|value| (low, high) = (low.min(value), high.max(value)));
            }
        }
        let values = low - ROUNDING..=high + ROUNDING;
        Ok(Bounds { search, values, queries: data.n_queries(), folds: data.training_queries().collect() })
    }

    /// Rejects an outcome that is impossible in this search, with the reason.
    pub fn check(&self, outcome: &Outcome) -> std::result::Result<(), String> {
        let Outcome { trial, rung, evaluation, failure, seconds } = outcome;
        if !(1..=RUNGS).contains(rung) {
            return Err(format!("rung {rung} is not one of 1 to {RUNGS}"));
        }
        if !(seconds.is_finite() && *seconds >= 0.0) {
            return Err(format!("{seconds} seconds is not a time"));
        }
        let Some(evaluation) = evaluation else {
            return if failure.is_some() { Ok(()) } else { Err("neither an evaluation nor a failure".into()) };
        };
        if evaluation.values.len() != self.queries || evaluation.chosen_epochs.len() != self.folds.len() {
            let (values, folds) = (evaluation.values.len(), evaluation.chosen_epochs.len());
            let (queries, expected) = (self.queries, self.folds.len());
            return Err(format!(
                "{values} values and {folds} folds: expected {queries} validation queries and {expected} folds"
            ));
        }
        let value =
            evaluation.values.iter().flatten().chain(&evaluation.half_means).chain(&evaluation.validation_value);
        if let Some(value) = value.into_iter().find(|value| !self.values.contains(value)) {
            let (low, high) = (self.values.start() + ROUNDING, self.values.end() - ROUNDING);
            let value = if value.abs() < 1e6 { value.to_string() } else { format!("{value:e}") };
            return Err(format!("{} of {value} is not between {low} and {high}", self.search.metric));
        }
        let configs = self.folds.iter().map(|&queries| self.search.config(*trial, queries));
        let max_epochs = configs.map(|config| config.map_or(0, |config| config.epochs)).max().unwrap_or(0);
        let epochs = evaluation.chosen_epochs.iter().flatten().chain([&evaluation.epochs]).max().copied().unwrap_or(0);
        if epochs > max_epochs {
            return Err(format!("epoch {epochs} of a trial of {max_epochs} epochs"));
        }
        Ok(())
    }
}

/// The outcomes in the journal of the first process, each checked against the search and its data.
pub(super) fn journal_outcomes(
    search: &Search,
    data: &TuneData<'_>,
    context: &SearchContext<'_>,
) -> Result<BTreeMap<(usize, usize), Outcome>> {
    let record = |error: serde_json::Error| Error::Record(error.to_string());
    let outcomes = || {
        let outcomes = match context.journal.filter(|journal| journal.n_outcomes() > 0) {
            Some(journal) => {
                let bounds = Bounds::of(search, data)?;
                journal.load(|outcome| bounds.check(outcome))?
            }
            None => Vec::new(),
        };
        serde_json::to_vec(&outcomes).map_err(record)
    };
    let all: Vec<Outcome> = serde_json::from_slice(&context.member.broadcast(outcomes)?).map_err(record)?;
    Ok(all.into_iter().map(|outcome| ((outcome.trial, outcome.rung), outcome)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Synthetic;
    use crate::tune::{Evaluation, Space};

    #[test]
    fn impossible_outcomes_are_rejected() {
        let queries = Synthetic { queries: 4, ..Synthetic::net() }.generator().unwrap().dataset().unwrap();
        let data = TuneData::new(vec![[&queries, &queries]], 1).unwrap();
        let (metric, space) = ("ndcg@5".to_owned(), Space::new());
        let search = Search { space, trials: 3, metric, seed: 1, epochs: Some(9), patience: None, until: None };
        let bounds = Bounds::of(&search, &data).unwrap();
        let valid = || {
            let values = vec![Some(0.5), Some(1.0), Some(0.0), None];
            let evaluation = Evaluation {
                epochs: 9,
                exhausted: true,
                chosen_epochs: vec![[1, 9]],
                half_means: [0.5, 0.25],
                values,
                validation_value: Some(0.4),
            };
            Outcome { trial: 1, rung: 3, evaluation: Some(evaluation), failure: None, seconds: 0.5 }
        };
        assert_eq!(bounds.check(&valid()), Ok(()));
        type Change = fn(&mut Outcome);
        let changes: [(Change, &str); 8] = [
            (|outcome| outcome.rung = 4, "rung 4"),
            (|outcome| outcome.seconds = f64::NAN, "NaN seconds"),
            (|outcome| outcome.evaluation = None, "neither an evaluation nor a failure"),
            (|outcome| outcome.evaluation.as_mut().unwrap().values[0] = Some(1e300), "is not between 0 and 1"),
            (
                |outcome| outcome.evaluation.as_mut().unwrap().half_means[1] = -0.5,
                "ndcg@5 of -0.5 is not between 0 and 1",
            ),
            (|outcome| outcome.evaluation.as_mut().unwrap().validation_value = Some(f64::INFINITY), "ndcg@5 of inf"),
            (|outcome| _ = outcome.evaluation.as_mut().unwrap().values.pop(), "3 values and 1 folds"),
            (|outcome| outcome.evaluation.as_mut().unwrap().epochs = 10, "epoch 10 of a trial of 9 epochs"),
        ];
        for (change, expected) in changes {
            let mut outcome = valid();
            change(&mut outcome);
            let message = bounds.check(&outcome).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
