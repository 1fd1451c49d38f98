//! Splits queries for the runs: each training query is held out once.

use crate::data::{Dataset, kfold};
use crate::error::{Error, Result};

/// Number of runs per candidate, with enough queries; each holds out another part of the training queries.
const ROTATIONS: usize = 5;

/// Minimum number of queries to evaluate a run on: one half chooses the epoch, the other evaluates it.
const MIN_QUERIES: usize = 2;

/// One split of the queries.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rotation {
    /// The training queries to train on.
    pub train: Vec<usize>,
    /// The training queries held out.
    pub held: Vec<usize>,
}

/// Returns all rotations of `queries` training queries; `validation` validation queries are never trained on.
///
/// # Errors
/// If there are too few queries to train and evaluate on.
pub(super) fn rotations(queries: usize, validation: usize, seed: u64) -> Result<Vec<Rotation>> {
    let max = if validation >= MIN_QUERIES { queries } else { queries / MIN_QUERIES };
    let count = ROTATIONS.min(max);
    if count < 2 {
        if queries > 0 && validation >= MIN_QUERIES {
            return Ok(vec![Rotation { train: (0..queries).collect(), held: Vec::new() }]);
        }
        return Err(Error::Data(format!(
            "too few queries to select a model: {queries} for training and {validation} for validation; give at least 2 validation \
             queries with `valid`, or a model such as `model` linear"
        )));
    }
    let rotation = |held: Vec<usize>| {
        let mut is_held = vec![false; queries];
        held.iter().for_each(|&query| is_held[query] = true);
        Rotation { train: (0..queries).filter(|&query| !is_held[query]).collect(), held }
    };
    Ok(kfold(queries, count, seed)?.into_iter().map(rotation).collect())
}

impl Rotation {
    /// Returns the data to train on and to evaluate on: the held-out queries, then the validation queries.
    ///
    /// # Errors
    /// If the two have different features.
    pub fn data(&self, train: &Dataset, valid: Option<&Dataset>) -> Result<[Dataset; 2]> {
        let held = (!self.held.is_empty()).then(|| train.select(&self.held));
        let evaluated: Vec<Dataset> = held.into_iter().chain(valid.cloned()).collect();
        Ok([train.select(&self.train), Dataset::joined(evaluated)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_training_query_is_held_out_once() {
        for (queries, validation, count) in [(20, 0, 5), (9, 0, 4), (4, 0, 2), (3, 5, 3), (500, 100, 5)] {
            let all = rotations(queries, validation, 1).unwrap();
            assert_eq!(all.len(), count);
            let mut held: Vec<usize> = all.iter().flat_map(|rotation| rotation.held.clone()).collect();
            held.sort_unstable();
            assert_eq!(held, (0..queries).collect::<Vec<_>>());
            for rotation in all {
                assert!(!rotation.train.iter().any(|query| rotation.held.contains(query)));
                assert_eq!(rotation.train.len() + rotation.held.len(), queries);
                assert!(rotation.held.len() + validation >= MIN_QUERIES);
            }
        }
    }

    #[test]
    fn one_training_query_is_evaluated_on_validation_queries() {
        assert_eq!(rotations(1, 2, 1).unwrap(), [Rotation { train: vec![0], held: vec![] }]);
        for (queries, validation) in [(0, 9), (1, 1), (3, 0), (2, 1)] {
            let message = rotations(queries, validation, 1).unwrap_err().to_string();
            assert!(message.contains("`model` linear"), "{message}");
        }
    }
}
