//! A plain file read in blocks by several threads, with detection of changes.

use super::{MAX_LINE, long_line, whole_file};
use crate::error::{Error, Result};
use crate::memory;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The byte order mark that some editors put in front of a text.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// Length and modification time of a file, to detect changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// Returns the stamp of an open file, or `None` for pipes, devices and folders.
    pub(crate) fn of(file: &File) -> std::io::Result<Option<Self>> {
        let metadata = file.metadata()?;
        Ok(metadata.is_file().then(|| Stamp { bytes: metadata.len(), modified: metadata.modified().ok() }))
    }

    /// Whether the length is known; it is 0 for files in /proc.
    pub(crate) fn has_length(&self) -> bool {
        self.bytes > 0
    }

    /// Fails if the file has changed.
    pub(crate) fn check(&self, file: &File, name: &str) -> Result<()> {
        match Self::of(file) {
            Ok(Some(now)) if now == *self => Ok(()),
            _ => Err(changed(name)),
        }
    }
}

/// Creates the error for a file that changed while it was read.
#[cold]
pub(crate) fn changed(name: &str) -> Error {
    whole_file(name, "the file changed while it was being read", "read it again when it is no longer written to")
}

/// A file with random access, neither compressed nor empty.
#[derive(Debug)]
pub(crate) struct Plain {
    name: String,
    path: PathBuf,
    file: File,
    /// Byte range of the text in the file, after the byte order mark.
    text: Range<u64>,
    stamp: Stamp,
    /// Buffers to reuse for blocks.
    buffers: Mutex<Vec<Vec<u8>>>,
}

impl Plain {
    /// Wraps an open file that is not compressed and has a known length.
    pub(crate) fn of(name: &str, path: &Path, file: File, stamp: Stamp) -> Result<Self> {
        let mut head = [0; MARK.len()];
        let length = read_at(&file, &mut head, 0).map_err(|error| Error::io(path, "read", error))?;
        let start = if head[..length].starts_with(MARK) { MARK.len() as u64 } else { 0 };
        let text = start..stamp.bytes.max(start);
        Ok(Plain { name: name.to_owned(), path: path.to_path_buf(), file, text, stamp, buffers: Mutex::default() })
    }

    /// Returns the length of the text in bytes.
    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.text.end - self.text.start).unwrap_or(usize::MAX)
    }

    /// Fails if the file has changed since it was opened.
    pub(crate) fn check(&self) -> Result<()> {
        self.stamp.check(&self.file, &self.name)
    }

    /// Calls `work` with a part of the text.
    pub(crate) fn with<O>(&self, range: Range<usize>, work: impl FnOnce(&[u8]) -> O) -> Result<O> {
        let buffers = || self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = buffers().pop().unwrap_or_default();
        if buffer.len() < range.len() {
            let what = format!("a block of {}", self.name);
            let more = range.len() - buffer.len();
            memory::reserve(&mut buffer, more, &what, "shorten its lines")?;
            buffer.resize(range.len(), 0);
        }
        let block = &mut buffer[..range.len()];
        self.fill(block, range.start)?;
        let output = work(block);
        buffers().push(buffer);
        Ok(output)
    }

    /// Returns the end of the line that contains byte `at`, after its line terminator.
    pub(crate) fn line_end(&self, at: usize) -> Result<usize> {
        let (mut from, mut step) = (at, 1 << 12);
        while from < self.len() {
            let range = from..self.len().min(from + step);
            let end = range.end;
            if let Some(length) = self.with(range, |bytes| memchr::memchr(b'\n', bytes))? {
                return Ok(from + length + 1);
            }
            if end - at > MAX_LINE {
                return Err(long_line(&self.name));
            }
            (from, step) = (end, (2 * step).min(1 << 20));
        }
        Ok(self.len())
    }

    fn fill(&self, block: &mut [u8], start: usize) -> Result<()> {
        let mut done = 0;
        while done < block.len() {
            match read_at(&self.file, &mut block[done..], self.text.start + (start + done) as u64) {
                Ok(0) => return Err(changed(&self.name)),
                Ok(read) => done += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(&self.path, "read", error)),
            }
        }
        Ok(())
    }
}

/// Reads at a position of a file, independently of its cursor.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, offset)
}

/// Reads at a position of a file.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn plain(file: &tempfile::NamedTempFile) -> Plain {
        let opened = File::open(file.path()).unwrap();
        let stamp = Stamp::of(&opened).unwrap().unwrap();
        Plain::of("a file", file.path(), opened, stamp).unwrap()
    }

    #[test]
    fn blocks_and_line_ends_are_found() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let long = "x".repeat(10_000);
        write!(file, "\u{feff}one\n{long}\ntwo").unwrap();
        let plain = plain(&file);
        assert_eq!(plain.len(), 4 + 10_001 + 3);
        assert_eq!(plain.with(0..4, <[u8]>::to_vec).unwrap(), b"one\n");
        assert_eq!([0, 3, 4, 10_005].map(|at| plain.line_end(at).unwrap()), [4, 4, 10_005, 10_008]);
        plain.check().unwrap();
    }

    #[test]
    fn a_file_that_changes_is_an_error() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[b'\n'; 5000]).unwrap();
        let plain = plain(&file);
        file.as_file().set_len(100).unwrap();
        for error in [plain.with(0..200, |_| ()).unwrap_err(), plain.check().unwrap_err()] {
            assert!(error.to_string().contains("the file changed while it was being read"), "{error}");
        }
        // The same length, but another modification time.
        file.as_file().set_len(5000).unwrap();
        file.as_file().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(plain.check().is_err());
    }
}
