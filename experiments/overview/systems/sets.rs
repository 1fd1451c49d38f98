//! The data sets with their folds and stored scores of test documents.

use super::STORED;
use crate::harness::real::{self, MQ2007, MQ2008, RealSet};
use crate::harness::shuffled::with_shuffled_labels;
use crate::harness::{Execution, Scale};
use burnrank::data::{FoldFiles, read_scores};
use burnrank::internal::text::count;
use burnrank::{Dataset, Synthetic};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// Data sets that are read if present.
const SETS: [RealSet; 3] = [MQ2008, MQ2007[0], MQ2007[1]];

/// Location of stored scores.
pub const SCORES: &str = "Stored scores of test documents are expected in DIR/mq2008/scores/NAME.Fold1.test.txt and so on, one per line in the order \
     of test.txt (svm_rank, RankBoost, AdaRank, ListNet, RankNet): without them the claims are not tested.";

/// One data set with its folds.
pub struct Set {
    pub key: String,
    pub name: String,
    pub folds: Vec<Fold>,
}

/// Training, validation and test queries.
pub struct Fold {
    pub sets: [Dataset; 3],
    /// Names and stored scores of the test documents.
    pub stored: Vec<(String, Vec<f64>)>,
}

impl Fold {
    /// Returns a copy with shuffled training labels.
    pub fn with_shuffled_labels(&self, seed: u64) -> anyhow::Result<Fold> {
        let [train, valid, test] = &self.sets;
        let train = with_shuffled_labels(train, &mut ChaCha8Rng::seed_from_u64(seed))?;
        Ok(Fold { sets: [train, valid.clone(), test.clone()], stored: vec![] })
    }
}

impl Set {
    /// Numbers of queries, documents, features and folds, as text.
    pub fn describe(&self) -> String {
        let sum = |of: fn(&Dataset) -> usize| self.folds.first().map_or(0, |fold| fold.sets.iter().map(of).sum());
        let features = self.folds.first().map_or(0, |fold| fold.sets[0].n_features());
        format!(
            "{}: {} queries with {} documents, {features} features, {} folds",
            self.name,
            count(sum(Dataset::n_queries)),
            count(sum(Dataset::n_documents)),
            self.folds.len()
        )
    }
}

/// Returns the real data sets that are present, or artificial data if there are none.
pub fn find(execution: &Execution<'_>) -> anyhow::Result<Vec<Set>> {
    let folder = execution.session.data.as_deref().filter(|_| execution.scale() == Scale::Paper);
    let mut sets = vec![];
    for set in SETS {
        let (Some(folder), Some(files)) = (folder, set.folds(folder)?) else { continue };
        let scores = folder.join(set.folder).join("scores");
        let folds = files.iter().map(|files| load(files, &scores)).collect::<anyhow::Result<_>>()?;
        sets.push(Set { key: set.folder.into(), name: set.name.into(), folds });
    }
    if sets.is_empty() {
        let queries = execution.scale().pick([200, 100, 200], [40, 20, 40]);
        let generator = Synthetic { seed: execution.session.seed, ..Synthetic::net() }.generator()?;
        let part = |from: usize, n: usize| generator.part(from..from + n).map(|part| part.0);
        let parts = [part(0, queries[0])?, part(queries[0], queries[1])?, part(queries[0] + queries[1], queries[2])?];
        let folds = vec![Fold { sets: parts, stored: vec![] }];
        sets.push(Set { key: "synthetic".into(), name: "artificial net data".into(), folds });
    }
    Ok(sets)
}

fn load(files: &FoldFiles, scores: &Path) -> anyhow::Result<Fold> {
    let sets = real::load(files)?;
    let mut stored = vec![];
    for (name, _) in STORED {
        let path = scores.join(format!("{name}.{}.test.txt", files.name));
        if path.is_file() {
            stored.push((name.to_owned(), read_scores(&path, sets[2].n_documents())?));
        }
    }
    Ok(Fold { sets, stored })
}
