//! Bytes from a path: mapped when plain, unpacked when gzip or Zstandard by content, read when standard input.

use crate::error::{Error, ParseError, Result};
use std::fs::File;
use std::io::{Cursor, Read};
use std::ops::Deref;
use std::path::Path;

/// How a file is packed, told by its first bytes, not by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// gzip, with any number of members.
    Gzip,
    /// Zstandard, with any number of frames.
    Zstd,
}

impl Compression {
    /// Recognises the first bytes of a packed file.
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "Zstandard",
        }
    }

    fn decoder<'a>(self, packed: impl Read + Send + 'a) -> std::io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(packed)),
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(packed)?),
        })
    }

    fn error(self, name: &str, error: &std::io::Error) -> Error {
        let kind = self.name();
        let (problem, remedy) = match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                (format!("truncated {kind} data"), "the file was cut short: copy or download it again".to_owned())
            }
            _ => (format!("damaged {kind} data"), format!("copy or download the file again ({error})")),
        };
        whole_file(name, &problem, &remedy)
    }
}

/// The whole text of a file.
#[derive(Debug)]
pub(crate) struct Source {
    /// As errors name it.
    pub name: String,
    /// How it was packed.
    pub compression: Option<Compression>,
    text: Text,
}

#[derive(Debug)]
enum Text {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

impl Deref for Source {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.text {
            Text::Mapped(bytes) => bytes,
            Text::Owned(bytes) => bytes,
        }
    }
}

impl Source {
    /// Maps or reads the file at `path`, or standard input for `-`, and unpacks it, calling `unpacked` with the size so far.
    pub(crate) fn open(path: &Path, unpacked: &dyn Fn(u64)) -> Result<Self> {
        let name = display_name(path);
        let text = if is_stdin(path) {
            Text::Owned(read_all(std::io::stdin().lock(), unpacked).map_err(|e| Error::io(path, "read", e))?)
        } else {
            map(path).map_err(|e| Error::io(path, "read", e))?
        };
        let packed = Source { name, compression: None, text };
        reject_archives(&packed.name, &packed)?;
        let Some(compression) = Compression::of(&packed) else { return Ok(packed) };
        let text = compression
            .decoder(Cursor::new(&*packed))
            .and_then(|decoder| read_all(decoder, unpacked))
            .map_err(|error| compression.error(&packed.name, &error))?;
        Ok(Source { name: packed.name, compression: Some(compression), text: Text::Owned(text) })
    }
}

fn map(path: &Path) -> std::io::Result<Text> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.len() > 0 {
        // SAFETY: the map is read-only and private to this value. As with every mapped file, another process that changes the
        // file meanwhile can change the bytes or, by truncating it, end this process; parsing re-checks every byte it reads
        // and indexes nothing by content without a bounds check.
        return unsafe { memmap2::Mmap::map(&file) }.map(Text::Mapped);
    }
    // Pipes, devices and the files of /proc have no length to map.
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Text::Owned(bytes))
}

fn read_all(mut reader: impl Read, unpacked: &dyn Fn(u64)) -> std::io::Result<Vec<u8>> {
    const STEP: u64 = 8 << 20;
    let mut bytes = Vec::new();
    while reader.by_ref().take(STEP).read_to_end(&mut bytes)? > 0 {
        unpacked(bytes.len() as u64);
    }
    Ok(bytes)
}

/// A file read from front to back in constant memory.
pub(crate) struct Stream {
    /// As errors name it.
    pub name: String,
    path: std::path::PathBuf,
    compression: Option<Compression>,
    reader: Box<dyn Read + Send>,
}

impl Stream {
    /// Opens the file at `path`, or standard input for `-`.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let fail = |error| Error::io(path, "read", error);
        let mut file: Box<dyn Read + Send> =
            if is_stdin(path) { Box::new(std::io::stdin()) } else { Box::new(File::open(path).map_err(fail)?) };
        let mut head = Vec::new();
        file.by_ref().take(4).read_to_end(&mut head).map_err(fail)?;
        let name = display_name(path);
        reject_archives(&name, &head)?;
        let compression = Compression::of(&head);
        let whole = Cursor::new(head).chain(file);
        let reader = match compression {
            Some(compression) => compression.decoder(whole).map_err(|error| compression.error(&name, &error))?,
            None => Box::new(whole),
        };
        Ok(Stream { name, path: path.to_path_buf(), compression, reader })
    }

    /// Appends up to `limit` bytes to `buffer` and tells how many; fewer than `limit` means the end.
    pub(crate) fn fill(&mut self, buffer: &mut Vec<u8>, limit: usize) -> Result<usize> {
        self.reader.by_ref().take(limit as u64).read_to_end(buffer).map_err(|error| match self.compression {
            Some(compression) => compression.error(&self.name, &error),
            None => Error::io(&self.path, "read", error),
        })
    }
}

/// Whether `path` means standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of `path` in errors.
pub(crate) fn display_name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// An error about a whole file.
pub(crate) fn whole_file(name: &str, problem: &str, remedy: &str) -> Error {
    let (problem, remedy) = (problem.to_owned(), remedy.to_owned());
    Box::new(ParseError { file: name.to_owned(), line: 0, column: 0, text: String::new(), problem, remedy }).into()
}

fn reject_archives(name: &str, head: &[u8]) -> Result<()> {
    let kind = match head {
        [b'P', b'K', 3, 4, ..] => "a zip archive",
        [b'B', b'Z', b'h', b'0'..=b'9', ..] => "bzip2 data",
        [0xfd, b'7', b'z', b'X', ..] => "xz data",
        _ => return Ok(()),
    };
    Err(whole_file(
        name,
        &format!("this is {kind}"),
        "unpack it first; plain, gzip and Zstandard files are read directly",
    ))
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
        Source::open(file(bytes).path(), &|_| ())
    }

    fn stream(bytes: &[u8]) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut stream = Stream::open(file(bytes).path())?;
        while stream.fill(&mut text, 7)? == 7 {}
        Ok(text)
    }

    #[test]
    fn packed_files_are_known_by_content() {
        let two_members = [gzip(b"one\n"), gzip(b"two\n")].concat();
        let two_frames =
            [zstd::encode_all(&b"one\n"[..], 1).unwrap(), zstd::encode_all(&b"two\n"[..], 1).unwrap()].concat();
        for (bytes, compression) in [
            (b"one\ntwo\n".to_vec(), None),
            (two_members, Some(Compression::Gzip)),
            (two_frames, Some(Compression::Zstd)),
        ] {
            let source = open(&bytes).unwrap();
            assert_eq!((&*source, source.compression), (&b"one\ntwo\n"[..], compression));
            assert_eq!(stream(&bytes).unwrap(), b"one\ntwo\n");
        }
    }

    #[test]
    fn a_packed_file_cut_anywhere_is_truncated() {
        let text: Vec<u8> =
            (0..5000_u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_string().into_bytes()).collect();
        for (packed, name) in [(gzip(&text), "gzip"), (zstd::encode_all(&text[..], 1).unwrap(), "Zstandard")] {
            for cut in [5, 11, packed.len() / 2, packed.len() - 1] {
                for error in [open(&packed[..cut]).unwrap_err(), stream(&packed[..cut]).unwrap_err()] {
                    let expected = format!("truncated {name} data: the file was cut short");
                    assert!(error.to_string().contains(&expected), "cut at {cut}: {error}");
                }
            }
        }
    }

    #[test]
    fn damage_and_foreign_archives_are_named() {
        let mut packed = gzip(b"1 qid:1 1:1\n");
        let crc = packed.len() - 6;
        packed[crc] ^= 1;
        assert!(open(&packed).unwrap_err().to_string().contains("damaged gzip data"));
        assert!(open(b"PK\x03\x04...").unwrap_err().to_string().contains("zip archive: unpack it first"));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Source::open(Path::new("no/such.txt"), &|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("no/such.txt: cannot read: "), "{error}");
    }
}
