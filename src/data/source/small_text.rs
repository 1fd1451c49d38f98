//! Reading small text files, such as settings, with a size limit.

use super::{Stream, whole_file, without_mark};
use crate::error::Result;
use crate::memory;
use std::path::Path;

/// Reads a text file of at max_bytes `max_bytes` bytes. The file may be compressed; `-` is standard input.
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
/// When the file cannot be read, is too large, or is not UTF-8.
pub fn read_text(path: &Path, max_bytes: usize) -> Result<String> {
    let mut stream = Stream::open(path)?;
    let mut bytes = Vec::new();
    // In steps, so that memory is requested as needed.
    while stream.fill(&mut bytes, 1 << 16)? == 1 << 16 {
        if bytes.len() > max_bytes {
            let problem = format!("more than {} of text", memory::readable(max_bytes as u64));
            return Err(whole_file(&stream.name, &problem, "is this the right file?"));
        }
    }
    let text = without_mark(&bytes).to_vec();
    String::from_utf8(text).map_err(|_| whole_file(&stream.name, "the file is not text", "expected UTF-8"))
}
