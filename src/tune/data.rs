//! The queries that runs are compared on: one or more folds, scaled once per requested scaling.

use super::estimate::Halves;
use crate::data::{Dataset, Preprocessing};
use crate::distributed::{Fact, data_fact};
use crate::error::{Error, Result};
use crate::train::TrainingData;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Raw training and validation queries of one or more folds. Test queries are not included.
#[derive(Debug)]
pub struct TuneData<'a> {
    folds: Vec<[&'a Dataset; 2]>,
    halves: Vec<Halves>,
    scaled: Mutex<HashMap<Preprocessing, Scaled<'a>>>,
}

/// All folds with one scaling.
type Scaled<'a> = Vec<Arc<TrainingData<'a>>>;

impl<'a> TuneData<'a> {
    /// Creates the data from training and validation queries per fold. The seed determines how validation queries are
    /// split into halves.
    ///
    /// # Errors
    /// If there is no fold, or a fold has fewer than two validation queries.
    pub fn new(folds: Vec<[&'a Dataset; 2]>, seed: u64) -> Result<Self> {
        if folds.is_empty() {
            return Err(Error::Data("no folds: give at least one training and validation set".into()));
        }
        let halves = folds.iter().map(|[_, valid]| Halves::new(valid.n_queries(), seed)).collect::<Result<_>>()?;
        Ok(TuneData { folds, halves, scaled: Mutex::default() })
    }

    /// Number of validation queries over all folds.
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

    /// Number of training queries of each fold.
    pub fn training_queries(&self) -> impl Iterator<Item = usize> {
        self.folds.iter().map(|[train, _]| train.n_queries())
    }

    /// The training queries of the first fold.
    pub(super) fn train(&self) -> &Dataset {
        self.folds[0][0]
    }

    /// The halves of each fold's validation queries.
    pub fn halves(&self) -> &[Halves] {
        &self.halves
    }

    /// The half, 0 or 1, that each validation query belongs to, fold by fold.
    pub fn half_of_each(&self) -> impl Iterator<Item = usize> {
        self.halves.iter().flat_map(|halves| (0..halves.len()).map(|query| halves.of(query)))
    }

    /// Fingerprints of the training and validation queries of each fold.
    pub fn fingerprints(&self) -> Vec<[String; 2]> {
        self.folds.iter().map(|fold| fold.map(|data| format!("{:016x}", data.fingerprint()))).collect()
    }

    /// Facts on which all processes of a distributed search must agree.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let names = ["training data", "validation data"];
        let facts = self.folds.iter().zip(self.fingerprints()).enumerate().flat_map(|(fold, (data, prints))| {
            let fold = if self.folds.len() == 1 { String::new() } else { format!(" in fold {}", fold + 1) };
            [0, 1].map(|set| data_fact(&format!("{}{fold}", names[set]), data[set], &prints[set]))
        });
        facts.collect()
    }

    /// Returns the data of each fold, scaled by its training queries; computed on first use and cached.
    ///
    /// # Errors
    /// If the sets of a fold do not match, or there is not enough memory for another copy.
    pub fn scaled(&self, rules: &Preprocessing) -> Result<Vec<Arc<TrainingData<'a>>>> {
        let mut cache = self.scaled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(data) = cache.get(rules) {
            return Ok(data.clone());
        }
        let scale = |[train, valid]: &[&'a Dataset; 2]| TrainingData::new(rules.clone(), *train, *valid).map(Arc::new);
        let data = self.folds.iter().map(scale).collect::<Result<Vec<_>>>().map_err(|error| match error {
            Error::Memory { needed, left, what, .. } => {
                let remedy = "search fewer scalings (each needs a copy of the data)".into();
                Error::Memory { needed, left, what, remedy }
            }
            other => other,
        })?;
        cache.insert(rules.clone(), data.clone());
        Ok(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ScaleKind, Synthetic};

    #[test]
    fn every_scaling_is_computed_once() {
        let data = Synthetic { queries: 5, ..Synthetic::net() }.generator().unwrap().dataset().unwrap();
        let folds = TuneData::new(vec![[&data, &data]; 2], 1).unwrap();
        let first = folds.scaled(&ScaleKind::ZScore.into()).unwrap();
        assert!(Arc::ptr_eq(&first[1], &folds.scaled(&ScaleKind::ZScore.into()).unwrap()[1]));
        assert_eq!((folds.n_queries(), folds.half_of_each().sum::<usize>()), (10, 4));
        assert!(TuneData::new(vec![], 1).is_err());
    }
}
