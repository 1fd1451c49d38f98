//! Options for reading data files.

use super::columns::Columns;
use crate::error::{Error, Result};
use std::path::PathBuf;

/// Maximum number of features of a file.
pub const MAX_FEATURES: usize = 1_000_000;

/// Options for reading files of any format. By default bad lines are errors and feature indices start at 1.
///
/// Options about the contents of a file (`query_file`, `columns`, `null`) are rejected if they do not apply to its format. All
/// others apply to every format.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// Index of the first feature: 0 or 1.
    pub first_index: u32,
    /// Skip and count bad lines instead of failing on the first one.
    pub lenient: bool,
    /// Group the documents of queries that are not contiguous in the file instead of failing.
    pub regroup: bool,
    /// LightGBM query file that replaces `qid:`: the number of documents of each query, one per line. Queries are named 1, 2, ...
    pub query_file: Option<PathBuf>,
    /// Number of features, or `None` for the largest index in the file. Larger indices are errors.
    pub width: Option<usize>,
    /// Number of threads; 0 uses the current rayon pool. Does not affect the result.
    pub threads: usize,
    /// Number of bytes parsed as one task. Does not affect the result.
    pub block_bytes: usize,
    /// Columns of a table that are not features.
    pub columns: Columns,
    /// Value in place of missing features, with `sparse_missing` also of those that are left out. Without it, they are NaN.
    pub null: Option<f32>,
    /// Whether features that a LETOR file leaves out are missing rather than 0.
    pub sparse_missing: bool,
    /// Accept files without labels, such as data that is only scored; labels are then 0.
    pub unlabelled: bool,
    /// Use a cache even if its source file has changed.
    pub stale_cache: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            first_index: 1,
            lenient: false,
            regroup: false,
            query_file: None,
            width: None,
            threads: 0,
            block_bytes: 1 << 20,
            columns: Columns::default(),
            null: None,
            sparse_missing: false,
            unlabelled: false,
            stale_cache: false,
        }
    }
}

impl ReadOptions {
    /// Fails on invalid options.
    pub(super) fn check(&self) -> Result<()> {
        if self.first_index > 1 {
            return Err(Error::Config(format!("the first feature index is 0 or 1, not {}", self.first_index)));
        }
        if let Some(null) = self.null.filter(|null| !null.is_finite()) {
            return Err(Error::setting("null", null, "a finite number to use for missing values"));
        }
        match self.width {
            Some(width) if width > MAX_FEATURES => {
                Err(Error::Config(format!("{width} features are too many: the maximum is {MAX_FEATURES}")))
            }
            _ => Ok(()),
        }
    }
}
