//! Detection of query ids at the start of a file.

use super::LETOR;
use super::line::Extent;
use crate::data::read::InputFormat;
use crate::data::source::{Stream, without_mark};
use crate::error::Result;
use std::path::Path;

/// Maximum number of bytes inspected.
const MAX_BYTES: usize = 1 << 20;

/// Whether the first document of a LETOR file has a query id (`qid:`). Returns `None` if no document is found near the start,
/// and for files of other formats.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("train.txt");
/// std::fs::write(&path, "# LightGBM\n1 1:0.5\n").unwrap();
/// assert_eq!(burnrank::data::has_query_ids(&path)?, Some(false));
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// When the file cannot be read.
pub fn has_query_ids(path: impl AsRef<Path>) -> Result<Option<bool>> {
    if InputFormat::of(path.as_ref()).name != LETOR {
        return Ok(None);
    }
    let mut text = Vec::new();
    Stream::open(path.as_ref())?.fill(&mut text, MAX_BYTES)?;
    let mut rest = without_mark(&text);
    while !rest.is_empty() {
        let extent = Extent::of(rest);
        if extent.is_document() {
            let mut words = rest[..extent.data].split(|byte| matches!(byte, b' ' | b'\t'));
            return Ok(Some(words.any(|word| word.starts_with(b"qid:"))));
        }
        rest = &rest[extent.next..];
    }
    Ok(None)
}
