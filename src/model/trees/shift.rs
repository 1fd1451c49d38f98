//! Removal of the empty first column, and conversion to a model.

use super::forest::Forest;
use super::text::{self, END};
use crate::data::{Dataset, ScaleKind, Scaler};
use crate::error::{Error, Result};
use crate::model::{Model, ModelInfo, Scorer};
use std::sync::Arc;

impl Forest {
    /// Removes the first column from the features; the index of every other column decreases by one.
    ///
    /// LightGBM uses the indices of a LETOR file as columns, so column 0 is empty if indices begin with 1.
    ///
    /// # Errors
    /// If a tree uses the first column, or there is no other.
    pub fn without_first_column(&self) -> Result<Forest> {
        let is_used = self.trees().iter().flat_map(|tree| tree.branches()).any(|branch| branch.feature == 0);
        if is_used || self.n_features() < 2 {
            return Err(Error::Config("the first column cannot be removed: trees use it, or there is no other".into()));
        }
        let all = self.to_text();
        let (moving, tail) = all.split_once(END).unwrap_or((&all, ""));
        let mut moved = String::with_capacity(all.len());
        for line in moving.lines() {
            moved.push_str(&self.moved(line));
            moved.push('\n');
        }
        text::parse("model.txt", &(moved + END + tail))
    }

    /// Decreases the column indices in a line of the header or of a tree by one.
    fn moved(&self, line: &str) -> String {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let value = match name {
            "max_feature_idx" => (self.n_features() - 2).to_string(),
            "feature_names" | "feature_infos" | "monotone_constraints" => {
                value.split(' ').filter(|word| !word.is_empty()).skip(1).collect::<Vec<_>>().join(" ")
            }
            "split_feature" => {
                let columns = value.split_whitespace().filter_map(|column| column.parse::<usize>().ok());
                columns.map(|column| (column - 1).to_string()).collect::<Vec<_>>().join(" ")
            }
            _ => return line.to_owned(),
        };
        format!("{name}={value}")
    }

    /// Converts the forest to a model for unscaled features; `source` names the origin of the trees. For a model of
    /// XGBoost, features that LETOR files leave out are missing.
    ///
    /// # Errors
    /// If there is no tree.
    pub fn into_model(self, source: impl Into<String>) -> Result<Model> {
        if self.n_trees() == 0 {
            return Err(Error::Data("the model has no trees: train it first".into()));
        }
        let nothing = Dataset::new(self.n_features(), Vec::new(), Vec::new(), Vec::new())?;
        let names = self.given_names();
        // As XGBoost's reader of LETOR files does.
        let sparse_missing = self.is_of_xgboost();
        let scorer = Scorer::Trees(Arc::new(self));
        let mut info = ModelInfo::new(scorer.config(), Scaler::fit(ScaleKind::None, &nothing), source);
        info.feature_names = names;
        info.sparse_missing = sparse_missing;
        Ok(Model { scorer, info, history: Vec::new() })
    }
}
