//! The queries that runs are compared on: one or more folds, scaled in every way that some run asks for, once each.

use super::estimate::Halves;
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::distributed::{Fact, data_fact};
use crate::error::{Error, Result};
use crate::train::TrainingData;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Training and validation queries, raw and in full, of one or more folds. There is no place for test queries.
#[derive(Debug)]
pub struct TuneData<'a> {
    folds: Vec<[&'a Dataset; 2]>,
    halves: Vec<Halves>,
    scaled: Mutex<HashMap<ScaleKind, Scaled<'a>>>,
}

/// All folds, scaled alike.
type Scaled<'a> = Vec<Arc<TrainingData<'a>>>;

impl<'a> TuneData<'a> {
    /// Training and validation queries of each fold; the seed decides on the halves that choose and judge.
    ///
    /// # Errors
    /// Without a fold, or when one has fewer than two validation queries.
    pub fn new(folds: Vec<[&'a Dataset; 2]>, seed: u64) -> Result<Self> {
        if folds.is_empty() {
            return Err(Error::Data("there is no data to compare settings on".into()));
        }
        let halves = folds.iter().map(|[_, valid]| Halves::new(valid.n_queries(), seed)).collect::<Result<_>>()?;
        Ok(TuneData { folds, halves, scaled: Mutex::default() })
    }

    /// The number of validation queries of all folds.
    pub fn n_queries(&self) -> usize {
        self.folds.iter().map(|[_, valid]| valid.n_queries()).sum()
    }

    /// The training queries of each fold.
    pub(super) fn training(&self) -> impl Iterator<Item = &'a Dataset> {
        self.folds.iter().map(|[train, _]| *train)
    }

    /// The validation queries of each fold.
    pub(super) fn validation(&self) -> impl Iterator<Item = &'a Dataset> {
        self.folds.iter().map(|[_, valid]| *valid)
    }

    /// The number of training queries of each fold.
    pub fn training_queries(&self) -> impl Iterator<Item = usize> {
        self.folds.iter().map(|[train, _]| train.n_queries())
    }

    /// The halves of each fold's validation queries.
    pub fn halves(&self) -> &[Halves] {
        &self.halves
    }

    /// The half of each validation query, fold after fold.
    pub fn half_of_each(&self) -> impl Iterator<Item = usize> {
        self.halves.iter().flat_map(|halves| (0..halves.len()).map(|query| halves.of(query)))
    }

    /// Numbers that tell the data apart, training and validation queries of each fold.
    pub fn fingerprints(&self) -> Vec<[String; 2]> {
        self.folds.iter().map(|fold| fold.map(|data| format!("{:016x}", data.fingerprint()))).collect()
    }

    /// What the data of all processes that search together must have in common.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let names = ["training data", "validation data"];
        let facts = self.folds.iter().zip(self.fingerprints()).enumerate().flat_map(|(fold, (data, prints))| {
            let fold = if self.folds.len() == 1 { String::new() } else { format!(" in fold {}", fold + 1) };
            [0, 1].map(|set| data_fact(&format!("{}{fold}", names[set]), data[set], &prints[set]))
        });
        facts.collect()
    }

    /// The data of each fold, scaled by its training queries; made when it is first asked for, and kept.
    ///
    /// # Errors
    /// When the sets of a fold do not fit together, or there is no memory for another copy.
    pub fn scaled(&self, scaling: ScaleKind) -> Result<Vec<Arc<TrainingData<'a>>>> {
        let mut kept = self.scaled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(data) = kept.get(&scaling) {
            return Ok(data.clone());
        }
        let scale = |[train, valid]: &[&'a Dataset; 2]| TrainingData::new(scaling, *train, *valid).map(Arc::new);
        let data = self.folds.iter().map(scale).collect::<Result<Vec<_>>>().map_err(|error| match error {
            Error::Memory { needed, left, what, .. } => {
                let remedy = "search fewer kinds of scaling (one copy of the data each)".into();
                Error::Memory { needed, left, what, remedy }
            }
            other => other,
        })?;
        kept.insert(scaling, data.clone());
        Ok(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Synthetic;

    #[test]
    fn every_scaling_is_made_once() {
        let data = Synthetic { queries: 5, ..Synthetic::net() }.generator().unwrap().dataset().unwrap();
        let folds = TuneData::new(vec![[&data, &data]; 2], 1).unwrap();
        let first = folds.scaled(ScaleKind::ZScore).unwrap();
        assert!(Arc::ptr_eq(&first[1], &folds.scaled(ScaleKind::ZScore).unwrap()[1]));
        assert_eq!((folds.n_queries(), folds.half_of_each().sum::<usize>()), (10, 4));
        assert!(TuneData::new(vec![], 1).is_err());
    }
}
