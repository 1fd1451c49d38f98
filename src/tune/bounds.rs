//! What an outcome of a search can be: a journal may have been edited or damaged, and is checked before it is resumed.

use super::data::TuneData;
use super::search::{Outcome, RUNGS, Search, Surroundings};
use crate::error::{Error, Result};
use crate::metric::{self, Conventions};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Room for rounding in means.
const ROUNDING: f64 = 1e-9;

/// The limits of all numbers of an outcome.
pub(super) struct Bounds<'s> {
    search: &'s Search,
    /// The metric, over all rankings of the validation queries.
    values: RangeInclusive<f64>,
    queries: usize,
    /// The number of training queries of each fold.
    folds: Vec<usize>,
}

impl<'s> Bounds<'s> {
    /// The limits of a search on this data: the metric is between its values for the best and the worst ranking.
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

    /// Refuses an outcome that this search cannot have, with the reason.
    pub fn check(&self, outcome: &Outcome) -> std::result::Result<(), String> {
        let Outcome { trial, rung, evaluation, failure, seconds } = outcome;
        if !(1..=RUNGS).contains(rung) {
            return Err(format!("rung {rung} is not one of 1 to {RUNGS}"));
        }
        if !(seconds.is_finite() && *seconds >= 0.0) {
            return Err(format!("{seconds} seconds is not a time"));
        }
        let Some(found) = evaluation else {
            return if failure.is_some() { Ok(()) } else { Err("neither values nor a failure".into()) };
        };
        if found.values.len() != self.queries || found.chosen_epochs.len() != self.folds.len() {
            let (values, folds) = (found.values.len(), found.chosen_epochs.len());
            let (queries, expected) = (self.queries, self.folds.len());
            return Err(format!(
                "{values} values and {folds} folds, the data has {queries} validation queries and {expected} folds"
            ));
        }
        let value = found.values.iter().flatten().chain(&found.half_means).chain(&found.validation_value);
        if let Some(value) = value.into_iter().find(|value| !self.values.contains(value)) {
            let (low, high) = (self.values.start() + ROUNDING, self.values.end() - ROUNDING);
            let value = if value.abs() < 1e6 { value.to_string() } else { format!("{value:e}") };
            return Err(format!("{} of {value} is not within {low} to {high}", self.search.metric));
        }
        let configs = self.folds.iter().map(|&queries| self.search.config(*trial, queries));
        let most = configs.map(|config| config.map_or(0, |config| config.epochs)).max().unwrap_or(0);
        let epochs = found.chosen_epochs.iter().flatten().chain([&found.epochs]).max().copied().unwrap_or(0);
        if epochs > most {
            return Err(format!("epoch {epochs} of a trial of {most} epochs"));
        }
        Ok(())
    }
}

/// What the journal of the first process knows from before, each outcome checked against the search and its data.
pub(super) fn known(
    search: &Search,
    data: &TuneData<'_>,
    around: &Surroundings<'_>,
) -> Result<BTreeMap<(usize, usize), Outcome>> {
    let record = |error: serde_json::Error| Error::Record(error.to_string());
    let own = || {
        let known = match around.journal.filter(|journal| journal.n_known() > 0) {
            Some(journal) => {
                let bounds = Bounds::of(search, data)?;
                journal.known(|outcome| bounds.check(outcome))?
            }
            None => Vec::new(),
        };
        serde_json::to_vec(&known).map_err(record)
    };
    let all: Vec<Outcome> = serde_json::from_slice(&around.member.from_leader(own)?).map_err(record)?;
    Ok(all.into_iter().map(|outcome| ((outcome.trial, outcome.rung), outcome)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Synthetic;
    use crate::tune::{Evaluation, Space};

    #[test]
    fn numbers_that_a_search_cannot_have_are_refused() {
        let queries = Synthetic { queries: 4, ..Synthetic::net() }.generator().unwrap().dataset().unwrap();
        let data = TuneData::new(vec![[&queries, &queries]], 1).unwrap();
        let (metric, space) = ("ndcg@5".to_owned(), Space::new());
        let search = Search { space, trials: 3, metric, seed: 1, epochs: Some(9), patience: None, until: None };
        let bounds = Bounds::of(&search, &data).unwrap();
        let whole = || {
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
        assert_eq!(bounds.check(&whole()), Ok(()));
        type Change = fn(&mut Outcome);
        let changes: [(Change, &str); 8] = [
            (|outcome| outcome.rung = 4, "rung 4"),
            (|outcome| outcome.seconds = f64::NAN, "NaN seconds"),
            (|outcome| outcome.evaluation = None, "neither values nor a failure"),
            (|outcome| outcome.evaluation.as_mut().unwrap().values[0] = Some(1e300), "is not within 0 to 1"),
            (
                |outcome| outcome.evaluation.as_mut().unwrap().half_means[1] = -0.5,
                "ndcg@5 of -0.5 is not within 0 to 1",
            ),
            (|outcome| outcome.evaluation.as_mut().unwrap().validation_value = Some(f64::INFINITY), "ndcg@5 of inf"),
            (|outcome| _ = outcome.evaluation.as_mut().unwrap().values.pop(), "3 values and 1 folds"),
            (|outcome| outcome.evaluation.as_mut().unwrap().epochs = 10, "epoch 10 of a trial of 9 epochs"),
        ];
        for (change, said) in changes {
            let mut outcome = whole();
            change(&mut outcome);
            let message = bounds.check(&outcome).unwrap_err();
            assert!(message.contains(said), "{message}");
        }
    }
}
