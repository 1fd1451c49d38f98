//! Which columns are what.

use crate::error::{Error, Result};
use std::path::Path;

/// Which columns of a table are what; columns that are nothing else are features.
///
/// ```
/// use burnrank::{ReadOptions, data::TableOptions};
/// let table = TableOptions { label: Some("relevance".into()), null: Some(0.0), ..TableOptions::default() };
/// let options = ReadOptions { table, ..ReadOptions::default() };
/// # assert_eq!(options.table.null, Some(0.0));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableOptions {
    /// The labels; `label` unless given.
    pub label: Option<String>,
    /// The ids of queries; `qid`, `query` or `query_id` unless given.
    pub query: Option<String>,
    /// The ids of documents; `docid` or `document_id` unless given, where there is such a column.
    pub document: Option<String>,
    /// Columns that are left out.
    pub drop: Vec<String>,
    /// What stands for a feature without a value; without it, that is an error.
    pub null: Option<f32>,
    /// Whether labels may be missing altogether, as in data that is only to be scored; they are 0 then.
    pub unlabelled: bool,
}

impl TableOptions {
    /// Fails on settings that make no sense, whatever the file.
    pub(in crate::data) fn check(&self) -> Result<()> {
        match self.null {
            Some(null) if !null.is_finite() => {
                Err(Error::Config(format!("--null {null}: a value is missing; put a finite number in its place")))
            }
            _ => Ok(()),
        }
    }

    /// Fails where something is said of columns, and the file has none.
    pub(in crate::data) fn check_unused(&self, path: &Path) -> Result<()> {
        let given = [
            ("--label", self.label.is_some()),
            ("--query", self.query.is_some()),
            ("--document", self.document.is_some()),
            ("--drop", !self.drop.is_empty()),
            ("--null", self.null.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Error::Config(format!(
                "{option} is for tables, and {} is not called .parquet, .csv or .tsv: leave it out, or rename the file",
                path.display()
            ))),
            None => Ok(()),
        }
    }
}
