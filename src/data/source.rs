//! Text from a path: block by block when plain, unpacked when gzip or Zstandard by content, read when standard input.

use super::plain_file::{MARK, Plain, Stamp};
use crate::error::{Error, ParseError, Result};
use crate::memory;
use std::fs::File;
use std::io::{Cursor, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

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
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
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

/// The longest line that is read: a million features of over two hundred characters each.
pub(crate) const MAX_LINE: usize = 1 << 28;

/// A matrix up to this size is always allowed.
pub(crate) const SMALL: u64 = 1 << 30;

/// A larger matrix may be at most this many times as large as its text.
pub(crate) const SPARSEST: u64 = 64;

/// The text of a file: in the file as long as it is plain, in memory when it had to be unpacked or came through a pipe.
#[derive(Debug)]
pub(crate) struct Source {
    /// As errors name it.
    pub name: String,
    /// How it was packed.
    pub compression: Option<Compression>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Plain(Plain),
    Owned(Vec<u8>),
}

impl Source {
    /// Opens the file at `path`, or standard input for `-`, and unpacks it, calling `unpacked` with the size so far.
    pub(crate) fn open(path: &Path, unpacked: &dyn Fn(u64)) -> Result<Self> {
        // A pipe can be opened only once: its writer would find no reader the second time.
        let is_pipe = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        if !is_stdin(path)
            && !is_pipe
            && let Some(plain) = Plain::open(path)?
        {
            return Ok(Source { name: display_name(path), compression: None, content: Content::Plain(plain) });
        }
        let mut stream = Stream::open(path)?;
        let content = Content::Owned(stream.rest(unpacked)?);
        Ok(Source { name: stream.name, compression: stream.compression, content })
    }

    /// The text, without a byte order mark.
    pub(crate) fn text(&self) -> Text<'_> {
        match &self.content {
            Content::Plain(plain) => Text::Plain(plain),
            Content::Owned(bytes) => Text::Memory(without_mark(bytes)),
        }
    }

    /// Fails when the file was changed since it was opened.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.content {
            Content::Plain(plain) => plain.check(),
            Content::Owned(_) => Ok(()),
        }
    }
}

/// A text of which any part can be looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Text<'a> {
    /// All of it is there.
    Memory(&'a [u8]),
    /// Parts are read when they are needed.
    Plain(&'a Plain),
}

impl Text<'_> {
    /// Its length in bytes.
    pub(crate) fn len(self) -> usize {
        match self {
            Text::Memory(bytes) => bytes.len(),
            Text::Plain(plain) => plain.len(),
        }
    }

    /// Calls `work` with a part of it.
    pub(crate) fn with<O>(self, range: Range<usize>, work: impl FnOnce(&[u8]) -> O) -> Result<O> {
        match self {
            Text::Memory(bytes) => Ok(work(&bytes[range])),
            Text::Plain(plain) => plain.with(range, work),
        }
    }

    /// The end of the line that holds byte `at`, behind its line end.
    pub(crate) fn line_end(self, at: usize) -> Result<usize> {
        match self {
            Text::Memory(bytes) => Ok(memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end + 1)),
            Text::Plain(plain) => plain.line_end(at),
        }
    }
}

/// The text without the byte order mark that some editors put in front.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// The name of a file as errors have it, and all of its text in memory; `-` is standard input.
pub(crate) fn read_whole(path: &Path) -> Result<(String, Vec<u8>)> {
    let mut stream = Stream::open(path)?;
    let mut bytes = stream.rest(&|_| ())?;
    let mark = bytes.len() - without_mark(&bytes).len();
    bytes.drain(..mark);
    Ok((stream.name, bytes))
}

/// A file read from front to back in constant memory.
pub(crate) struct Stream {
    /// As errors name it.
    pub name: String,
    path: PathBuf,
    compression: Option<Compression>,
    reader: Box<dyn Read + Send>,
    /// A file that must not change meanwhile.
    file: Option<(File, Stamp)>,
}

impl Stream {
    /// Opens the file at `path`, or standard input for `-`.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let fail = |error| Error::io(path, "read", error);
        if is_stdin(path) {
            return Self::of(display_name(path), path, Box::new(std::io::stdin()));
        }
        let file = File::open(path).map_err(fail)?;
        let stamp = Stamp::of(&file).map_err(fail)?;
        let kept = match stamp {
            // The files of /proc have no length to compare.
            Some(stamp) if stamp.has_length() => Some((file.try_clone().map_err(fail)?, stamp)),
            _ => None,
        };
        Ok(Stream { file: kept, ..Self::of(display_name(path), path, Box::new(file))? })
    }

    /// Reads from any reader, which errors call `name`.
    pub(crate) fn of(name: String, path: &Path, mut reader: Box<dyn Read + Send>) -> Result<Self> {
        let mut head = Vec::new();
        reader.by_ref().take(4).read_to_end(&mut head).map_err(|error| Error::io(path, "read", error))?;
        reject_archives(&name, &head)?;
        let compression = Compression::of(&head);
        let whole = Cursor::new(head).chain(reader);
        let reader = match compression {
            Some(compression) => compression.decoder(whole).map_err(|error| compression.error(&name, &error))?,
            None => Box::new(whole),
        };
        Ok(Stream { name, path: path.to_path_buf(), compression, reader, file: None })
    }

    /// How the file is packed.
    #[cfg(feature = "tables")]
    pub(crate) fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// Appends up to `limit` bytes to `buffer` and tells how many; fewer than `limit` means the end.
    pub(crate) fn fill(&mut self, buffer: &mut Vec<u8>, limit: usize) -> Result<usize> {
        let what = format!("the text of {}", self.name);
        memory::reserve(buffer, limit, &what, "split the file, or break its lines")?;
        let read = self.reader.by_ref().take(limit as u64).read_to_end(buffer);
        let changed = || self.file.as_ref().and_then(|(file, stamp)| stamp.check(file, &self.name).err());
        let read = read
            .map_err(|error| match self.compression {
                Some(compression) => compression.error(&self.name, &error),
                None => Error::io(&self.path, "read", error),
            })
            // A file that was cut looks damaged: the cause is worth more than the effect.
            .map_err(|error| changed().unwrap_or(error))?;
        match &self.file {
            Some((file, stamp)) if read < limit => stamp.check(file, &self.name).map(|()| read),
            Some((file, _)) => {
                read_ahead(file, limit as u64);
                Ok(read)
            }
            None => Ok(read),
        }
    }

    /// All that is left, calling `tell` with the size so far.
    pub(crate) fn rest(&mut self, tell: &dyn Fn(u64)) -> Result<Vec<u8>> {
        const STEP: usize = 8 << 20;
        // A first step that small files do not pay for.
        let (mut bytes, mut step, mut line) = (Vec::new(), 1 << 16, 0);
        loop {
            let start = bytes.len();
            let read = self.fill(&mut bytes, step)?;
            if read < step {
                return Ok(bytes);
            }
            line = memchr::memrchr(b'\n', &bytes[start..]).map_or(line, |end| start + end + 1);
            if bytes.len() - line > MAX_LINE {
                return Err(long_line(&self.name));
            }
            tell(bytes.len() as u64);
            // Room for more than one step at a time: moving the text at each would take longer than reading it.
            if bytes.capacity() - bytes.len() < STEP {
                let what = format!("the text of {}", self.name);
                memory::reserve(&mut bytes, STEP.max(start / 2), &what, "split the file")?;
            }
            step = STEP;
        }
    }
}

/// Asks the system to read what follows in a file while what was read is worked on.
#[cfg(target_os = "linux")]
fn read_ahead(mut file: &File, bytes: u64) {
    use std::io::Seek;
    // Nothing is lost where the system does not know how.
    if let Ok(from) = file.stream_position() {
        let _ = rustix::fs::fadvise(file, from, std::num::NonZeroU64::new(bytes), rustix::fs::Advice::WillNeed);
    }
}

#[cfg(not(target_os = "linux"))]
fn read_ahead(_: &File, _: u64) {}

/// The error of a line that no document can be.
#[cold]
pub(crate) fn long_line(name: &str) -> Error {
    let problem = format!("a line of more than {} million characters", MAX_LINE / 1_000_000);
    whole_file(name, &problem, "expected lines of <label> qid:<id> <index>:<value> ...")
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

pub(crate) fn reject_archives(name: &str, head: &[u8]) -> Result<()> {
    let kind = match head {
        [b'P', b'K', 3, 4, ..] => "a zip archive",
        [b'B', b'Z', b'h', b'0'..=b'9', ..] => "bzip2 data",
        [0xfd, b'7', b'z', b'X', ..] => "xz data",
        [0x93, b'b', b'r', b'c', ..] => {
            let remedy = "give the file itself where data is asked for: neither through a pipe nor packed";
            return Err(whole_file(name, "this is a cache of burnrank", remedy));
        }
        b"PAR1" => {
            let remedy = "give the file a name that ends in .parquet, so that it is read as a table";
            return Err(whole_file(name, "this is a Parquet file", remedy));
        }
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
            let text = source.text().with(0..source.text().len(), <[u8]>::to_vec).unwrap();
            assert_eq!((text.as_slice(), source.compression), (&b"one\ntwo\n"[..], compression));
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
