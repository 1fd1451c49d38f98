//! The source file of a cache, and whether it has changed.

use super::header::Header;
use crate::data::source::whole_file;
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Path, size and modification time of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub path: PathBuf,
    pub stamp: [u64; 3],
}

impl Origin {
    /// Returns `None` for pipes, standard input, and paths that are not UTF-8.
    pub fn of(path: &Path) -> Option<Self> {
        let path = std::fs::canonicalize(path).ok()?;
        path.to_str()?;
        Some(Origin { stamp: stamp(&path)?, path })
    }

    /// Fails if the source file still exists but has changed.
    pub fn check(name: &str, header: &Header, source: &str) -> Result<()> {
        match stamp(Path::new(source)) {
            Some(now) if now != header.stamp => Err(stale(name, source)),
            _ => Ok(()),
        }
    }
}

/// Returns the size of a file and its modification time in seconds and nanoseconds.
fn stamp(path: &Path) -> Option<[u64; 3]> {
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let changed = metadata.modified().ok()?;
    // For times before 1970 the distance from 1970: stamps are only compared for equality.
    let changed = changed.duration_since(UNIX_EPOCH).unwrap_or_else(|error| error.duration());
    Some([metadata.len(), changed.as_secs(), u64::from(changed.subsec_nanos())])
}

#[cold]
fn stale(name: &str, source: &str) -> Error {
    let remedy = "rebuild the cache with 'burnrank convert', or use it anyway with `stale_cache`";
    whole_file(name, &format!("{source} has changed since this cache was built from it"), remedy)
}
