//! The text that a cache was made from, and whether it is still the same.

use super::header::Header;
use crate::data::source::whole_file;
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A text's file: where it is, how long, and when it was last changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub path: PathBuf,
    pub stamp: [u64; 3],
}

impl Origin {
    /// Of a file; nothing for pipes, standard input, and paths that are no text.
    pub fn of(path: &Path) -> Option<Self> {
        let path = std::fs::canonicalize(path).ok()?;
        path.to_str()?;
        Some(Origin { stamp: stamp(&path)?, path })
    }

    /// Refuses a cache whose text is still there, but another.
    pub fn check(name: &str, header: &Header, source: &str) -> Result<()> {
        match stamp(Path::new(source)) {
            Some(now) if now != header.stamp => Err(stale(name, source)),
            _ => Ok(()),
        }
    }
}

/// Bytes, seconds and nanoseconds.
fn stamp(path: &Path) -> Option<[u64; 3]> {
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let changed = metadata.modified().ok()?;
    // Before 1970 counts from 1970 too: it only has to be the same again.
    let changed = changed.duration_since(UNIX_EPOCH).unwrap_or_else(|error| error.duration());
    Some([metadata.len(), changed.as_secs(), u64::from(changed.subsec_nanos())])
}

#[cold]
fn stale(name: &str, source: &str) -> Error {
    let remedy = "make the cache again with 'burnrank convert', or take it as it is with `stale_cache`";
    whole_file(name, &format!("{source} has changed since this cache was made from it"), remedy)
}
