//! Reading text: in blocks from plain files, decompressed from compressed files, or from standard input.

mod compression;
mod plain_file;
mod small_text;
mod stream;

pub use compression::Compression;
#[cfg(feature = "tables")]
pub(crate) use plain_file::read_at;
pub(crate) use plain_file::{Plain, Stamp, changed};
pub use small_text::read_text;
pub(crate) use stream::Stream;

use crate::error::{Error, ParseError, Result};
use plain_file::MARK;
use std::ops::Range;
use std::path::Path;

/// Maximum length of a line in bytes: a million features of over two hundred characters each.
pub(crate) const MAX_LINE: usize = 1 << 28;

/// Size in bytes up to which a matrix is always allowed.
pub(crate) const SMALL: u64 = 1 << 30;

/// Maximum ratio of the size of a larger matrix to the size of its text.
pub(crate) const SPARSEST: u64 = 64;

/// The text of a whole file: a plain file on disk, or in memory if it was compressed or piped.
#[derive(Debug)]
pub(crate) struct Source {
    /// Name in errors.
    pub name: String,
    pub compression: Option<Compression>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Plain(Plain),
    Owned(Vec<u8>),
}

impl Source {
    /// Returns the text, without a byte order mark.
    pub(crate) fn text(&self) -> Text<'_> {
        match &self.content {
            Content::Plain(plain) => Text::Plain(plain),
            Content::Owned(bytes) => Text::Memory(without_mark(bytes)),
        }
    }

    /// Fails if the file has changed since it was opened.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.content {
            Content::Plain(plain) => plain.check(),
            Content::Owned(_) => Ok(()),
        }
    }
}

/// Text with random access.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Text<'a> {
    Memory(&'a [u8]),
    /// Parts are read from the file on demand.
    Plain(&'a Plain),
}

impl Text<'_> {
    /// Returns the length in bytes.
    pub(crate) fn len(self) -> usize {
        match self {
            Text::Memory(bytes) => bytes.len(),
            Text::Plain(plain) => plain.len(),
        }
    }

    /// Calls `work` with a part of the text.
    pub(crate) fn with<O>(self, range: Range<usize>, work: impl FnOnce(&[u8]) -> O) -> Result<O> {
        match self {
            Text::Memory(bytes) => Ok(work(&bytes[range])),
            Text::Plain(plain) => plain.with(range, work),
        }
    }

    /// Returns the end of the line that contains byte `at`, after its line terminator.
    pub(crate) fn line_end(self, at: usize) -> Result<usize> {
        match self {
            Text::Memory(bytes) => Ok(memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end + 1)),
            Text::Plain(plain) => plain.line_end(at),
        }
    }
}

/// Removes a byte order mark from the start of a text.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Reads a whole file, or standard input for `-`, into memory. Returns its name in errors and its text.
pub(crate) fn read_whole(path: &Path) -> Result<(String, Vec<u8>)> {
    let mut stream = Stream::open(path)?;
    let mut bytes = stream.rest(&|_| ())?;
    let mark = bytes.len() - without_mark(&bytes).len();
    bytes.drain(..mark);
    Ok((stream.name, bytes))
}

/// Creates the error for a line that is too long.
#[cold]
pub(crate) fn long_line(name: &str) -> Error {
    let problem = format!("a line of more than {} million characters", MAX_LINE / 1_000_000);
    whole_file(name, &problem, "expected lines of <label> qid:<id> <index>:<value> ...")
}

/// Whether `path` means standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns the name of `path` in errors.
pub(crate) fn display_name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// Creates an error about a whole file.
pub(crate) fn whole_file(name: &str, problem: &str, remedy: &str) -> Error {
    let (problem, remedy) = (problem.to_owned(), remedy.to_owned());
    Box::new(ParseError { file: name.to_owned(), line: 0, column: 0, text: String::new(), problem, remedy }).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn open(bytes: &[u8]) -> Result<Source> {
        Stream::open(file(bytes).path())?.whole(&|_| ())
    }

    fn stream(bytes: &[u8]) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut stream = Stream::open(file(bytes).path())?;
        while stream.fill(&mut text, 7)? == 7 {}
        Ok(text)
    }

    #[test]
    fn compressed_files_are_detected_by_content() {
        let two_members = [gzip(b"one\n"), gzip(b"two\n")].concat();
        let two_frames =
            [zstd::encode_all(&b"one\n"[..], 1).unwrap(), zstd::encode_all(&b"two\n"[..], 1).unwrap()].concat();
        for (bytes, compression) in [
            (b"one\ntwo\n".to_vec(), None),
            (two_members, Some(Compression::Gzip)),
            (two_frames, Some(Compression::Zstd)),
        ] {
            let source = open(&bytes).unwrap();
            let text = source.text().with(0..source.text().len(), <[u8]>::to_vec).unwrap();
            assert_eq!((text.as_slice(), source.compression), (&b"one\ntwo\n"[..], compression));
            assert_eq!(stream(&bytes).unwrap(), b"one\ntwo\n");
        }
    }

    #[test]
    fn truncated_compressed_files_are_reported() {
        let text: Vec<u8> =
            (0..5000_u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_string().into_bytes()).collect();
        for (compressed, name) in [(gzip(&text), "gzip"), (zstd::encode_all(&text[..], 1).unwrap(), "Zstandard")] {
            for cut in [5, 11, compressed.len() / 2, compressed.len() - 1] {
                for error in [open(&compressed[..cut]).unwrap_err(), stream(&compressed[..cut]).unwrap_err()] {
                    let expected = format!("truncated {name} data: the file is incomplete");
                    assert!(error.to_string().contains(&expected), "cut at {cut}: {error}");
                }
            }
        }
    }

    #[test]
    fn damage_and_unsupported_archives_are_reported() {
        let mut damaged = gzip(b"1 qid:1 1:1\n");
        let crc = damaged.len() - 6;
        damaged[crc] ^= 1;
        assert!(open(&damaged).unwrap_err().to_string().contains("damaged gzip data"));
        assert!(open(b"PK\x03\x04...").unwrap_err().to_string().contains("zip archive: unpack it first"));
    }

    #[test]
    fn a_missing_file_is_reported() {
        let error = read_whole(Path::new("no/such.txt")).unwrap_err().to_string();
        assert!(error.starts_with("no/such.txt: cannot read: "), "{error}");
    }
}
