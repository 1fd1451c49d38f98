//! How to read.

use super::columns::Columns;
use crate::error::{Error, Result};
use std::path::PathBuf;

/// The largest number of features that any file may have.
pub const MAX_FEATURES: usize = 1_000_000;

/// How to read a file of any format. The default is strict, and counts features from 1.
///
/// What is stated of a file's content (a query file, columns, the value of missing features) is refused where its format has no use
/// for it. Everything else is a permission or a limit, which any file keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// The index of the first feature: 0 or 1.
    pub first_index: u32,
    /// Skip bad lines and count them, instead of failing on the first.
    pub lenient: bool,
    /// Bring the documents of a query together when it comes back later in the file, instead of failing.
    pub regroup: bool,
    /// The LightGBM side file that replaces `qid:`: one line per query, the number of its documents. Queries are named 1, 2, ...
    pub query_file: Option<PathBuf>,
    /// The number of features; `None` for the largest index of the file. A larger index than stated is an error.
    pub width: Option<usize>,
    /// The number of threads; 0 for those of the running rayon pool. The result does not depend on it.
    pub threads: usize,
    /// The bytes that are parsed as one piece of work. The result does not depend on it.
    pub block_bytes: usize,
    /// Which columns of a table are not features.
    pub columns: Columns,
    /// The value of features that a table has no value for; without it, that is an error.
    pub null: Option<f32>,
    /// Whether labels may be missing altogether, as in data that is only to be scored; they are 0 then.
    pub unlabelled: bool,
    /// Take a cache as it is, even where the text that it was made from has changed since.
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
            unlabelled: false,
            stale_cache: false,
        }
    }
}

impl ReadOptions {
    /// Fails on settings that make no sense, before any work starts.
    pub(super) fn check(&self) -> Result<()> {
        if self.first_index > 1 {
            return Err(Error::Config(format!("the first feature index is 0 or 1, not {}", self.first_index)));
        }
        if let Some(null) = self.null.filter(|null| !null.is_finite()) {
            return Err(Error::setting("null", null, "a finite number, which stands for missing values"));
        }
        match self.width {
            Some(width) if width > MAX_FEATURES => {
                Err(Error::Config(format!("{width} features are too many: the most is {MAX_FEATURES}")))
            }
            _ => Ok(()),
        }
    }
}
