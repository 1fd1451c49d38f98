//! Cache metadata, and verification of all checksums.

use super::header::{self, Section, damaged};
use super::{open, survey};
use crate::data::read::InputFormat;
use crate::data::source::display_name;
use crate::error::Result;
use rayon::prelude::*;
use std::path::Path;

/// Metadata of a cache.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct CacheInfo {
    /// Bits per feature value: 32 or 16.
    pub bits: u32,
    /// Path of the source file, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Feature names; empty if features are not named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feature_names: Vec<String>,
    /// Size of the features in bytes.
    pub feature_bytes: u64,
}

/// Returns the metadata of the cache at `path`, or `None` if the file is not a cache.
///
/// # Errors
/// When the cache cannot be read, or anything but its features and document ids is damaged.
pub fn info(path: impl AsRef<Path>) -> Result<Option<CacheInfo>> {
    let path = path.as_ref();
    if InputFormat::of(path).magic != header::MAGIC {
        return Ok(None);
    }
    let (file, _) = open::open(path, true)?;
    Ok(Some(CacheInfo {
        bits: 8 * file.header().value_bytes,
        source: open::source(&file),
        feature_names: open::feature_names(&file),
        feature_bytes: file.section(Section::Features).len() as u64,
    }))
}

/// Reads a whole cache and verifies all checksums.
///
/// ```
/// use burnrank::data::cache::{CacheOptions, CacheWriter, check};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("a.cache");
/// let data = burnrank::Dataset::new(1, vec![0.5, 2.0], vec![1.0, 0.0], vec![("a".into(), 2)])?;
/// let mut writer = CacheWriter::create(&path, CacheOptions::default())?;
/// writer.push(&data)?;
/// writer.finish(false)?;
/// check(&path)?;
/// let mut bytes = std::fs::read(&path).unwrap();
/// bytes[4096] ^= 1; // the first feature
/// std::fs::write(&path, bytes).unwrap();
/// assert!(check(&path).unwrap_err().to_string().contains("features of documents 0 to 1"));
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// When a checksum does not match. The error names the documents whose features are damaged.
pub fn check(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let name = display_name(path);
    let (file, data) = open::open(path, true)?;
    let (features, blocks) = (file.section(Section::Features), file.section(Section::Blocks));
    let row_bytes = (features.len() / data.n_documents().max(1)).max(1);
    let count = blocks.len() / 8;
    // A few blocks at a time, from front to back: the file may be larger than memory.
    for first in (0..count).step_by(GROUP) {
        let group = first..count.min(first + GROUP);
        let rows = |block: usize| (block * super::header::BLOCK / row_bytes).min(data.n_documents());
        data.will_need(rows(group.end)..rows(group.end + GROUP));
        let wrong = group
            .clone()
            .into_par_iter()
            .find_first(|&block| survey::block_checksum(features, block) != super::map::word(blocks, block));
        if let Some(block) = wrong {
            let last = ((block + 1) * super::header::BLOCK).min(features.len()) - 1;
            let (first, last) = (rows(block), last / row_bytes);
            return Err(damaged(
                &name,
                &format!("the features of documents {first} to {last} do not match their checksum"),
            ));
        }
        data.dont_need(rows(group.start)..rows(group.end));
    }
    if survey::ids_checksum(file.bytes(), file.header()) != file.header().ids_checksum {
        return Err(damaged(&name, "the document ids do not match their checksum"));
    }
    file.check_unchanged()
}

/// Number of blocks verified in parallel.
const GROUP: usize = 32;
