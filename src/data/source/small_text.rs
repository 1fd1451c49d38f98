//! A text that is small, such as a file of settings, and an error instead of a machine without memory when it is not.

use super::{Stream, whole_file, without_mark};
use crate::error::Result;
use crate::memory;
use std::path::Path;

/// Reads a text of at most `most` bytes into memory, as a file of settings is; a compressed file is decompressed, `-` is standard
/// input.
///
/// ```
/// # let path = std::path::Path::new("/dev/zero");
/// # if path.exists() {
/// let error = burnrank::data::read_text(path, 1_000_000).unwrap_err();
/// assert_eq!(error.to_string(), "/dev/zero: more than 1.0 MB of text: is this the right file?");
/// # }
/// ```
///
/// # Errors
/// When the file cannot be read, is larger, or is not UTF-8.
pub fn read_text(path: &Path, most: usize) -> Result<String> {
    let mut stream = Stream::open(path)?;
    let mut bytes = Vec::new();
    // In steps: memory is asked for as it is needed.
    while stream.fill(&mut bytes, 1 << 16)? == 1 << 16 {
        if bytes.len() > most {
            let problem = format!("more than {} of text", memory::readable(most as u64));
            return Err(whole_file(&stream.name, &problem, "is this the right file?"));
        }
    }
    let text = without_mark(&bytes).to_vec();
    String::from_utf8(text).map_err(|_| whole_file(&stream.name, "not a text", "expected UTF-8"))
}
