//! Which queries a run is trained on and which it is judged by: each training query is held out once.

use crate::data::{Dataset, kfold};
use crate::error::{Error, Result};

/// Runs per setting, where there are queries enough: each leaves out another part of the training queries.
const ROTATIONS: usize = 5;

/// The fewest queries that a run can be judged by: one half chooses the epoch, the other judges it.
const FEWEST: usize = 2;

/// One way to part the queries.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rotation {
    /// The training queries that are trained on.
    pub train: Vec<usize>,
    /// The training queries that are held out.
    pub held: Vec<usize>,
}

/// All rotations of so many training queries, beside so many validation queries that are never trained on.
///
/// # Errors
/// When there are too few queries to train on some and to judge by others.
pub(super) fn rotations(queries: usize, validation: usize, seed: u64) -> Result<Vec<Rotation>> {
    let most = if validation >= FEWEST { queries } else { queries / FEWEST };
    let count = ROTATIONS.min(most);
    if count < 2 {
        if queries > 0 && validation >= FEWEST {
            return Ok(vec![Rotation { train: (0..queries).collect(), held: Vec::new() }]);
        }
        return Err(Error::Data(format!(
            "too few queries to choose a model by, {queries} for training and {validation} for validation: give 2 \
             validation queries or more with `valid`, or name a model, as in `model` linear"
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
    /// What is trained on, and what is judged by: the queries held out, then the validation queries.
    ///
    /// # Errors
    /// When the two have different features.
    pub fn data(&self, train: &Dataset, valid: Option<&Dataset>) -> Result<[Dataset; 2]> {
        let held = (!self.held.is_empty()).then(|| train.select(&self.held));
        let judged: Vec<Dataset> = held.into_iter().chain(valid.cloned()).collect();
        Ok([train.select(&self.train), Dataset::joined(judged)?])
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
                assert!(rotation.held.len() + validation >= FEWEST);
            }
        }
    }

    #[test]
    fn with_one_training_query_the_validation_queries_judge() {
        assert_eq!(rotations(1, 2, 1).unwrap(), [Rotation { train: vec![0], held: vec![] }]);
        for (queries, validation) in [(0, 9), (1, 1), (3, 0), (2, 1)] {
            let message = rotations(queries, validation, 1).unwrap_err().to_string();
            assert!(message.contains("`model` linear"), "{message}");
        }
    }
}
