//! Compressed files: detected by their first bytes when read, by their extension when written.

use super::whole_file;
use crate::error::{Error, Result};
use crate::internal::text::listed;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// gzip, with any number of members.
    Gzip,
    /// Zstandard, with any number of frames.
    Zstd,
}

impl Compression {
    /// All supported compressions.
    pub const ALL: [Compression; 2] = [Compression::Gzip, Compression::Zstd];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "Zstandard",
        }
    }

    /// Returns the file extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Compression::Gzip => "gz",
            Compression::Zstd => "zst",
        }
    }

    /// Returns the compression for a file extension, in upper or lower case.
    ///
    /// ```
    /// use burnrank::data::Compression;
    /// assert_eq!(Compression::of_name("train.txt.GZ"), Some(Compression::Gzip));
    /// assert_eq!(Compression::of_name("train.txt"), None);
    /// ```
    pub fn of_name(path: impl AsRef<Path>) -> Option<Self> {
        let ending = path.as_ref().extension()?;
        Self::ALL.into_iter().find(|compression| ending.eq_ignore_ascii_case(compression.extension()))
    }

    /// Returns the path of a compressed file without its last extension, or `None` for other files.
    ///
    /// ```
    /// use burnrank::data::Compression;
    /// assert_eq!(Compression::plain_path("a/train.csv.gz"), Some("a/train.csv".into()));
    /// assert_eq!(Compression::plain_path("a/train.csv"), None);
    /// ```
    pub fn plain_path(path: impl AsRef<Path>) -> Option<PathBuf> {
        Self::of_name(path.as_ref()).map(|_| path.as_ref().with_extension(""))
    }

    /// Detects the compression from the first bytes of a file.
    pub(super) fn of_bytes(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// Returns a reader that decompresses `compressed`.
    pub(super) fn decoder<'a>(self, compressed: impl Read + Send + 'a) -> std::io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(compressed)),
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(compressed)?),
        })
    }

    /// Compresses what `fill` writes, to `writer`.
    ///
    /// # Errors
    /// When `fill` or the writer fails.
    pub fn write<W: Write>(self, writer: W, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<W> {
        let failed = |error| Error::io("output", "write", error);
        match self {
            Compression::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(writer, flate2::Compression::default());
                fill(&mut encoder)?;
                encoder.finish().map_err(failed)
            }
            Compression::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(writer, 0).map_err(failed)?;
                // Lets readers detect damage, as gzip does by default.
                encoder.include_checksum(true).map_err(failed)?;
                fill(&mut encoder)?;
                encoder.finish().map_err(failed)
            }
        }
    }

    /// Creates the error for a compressed file that cannot be read.
    pub(super) fn error(self, name: &str, error: &std::io::Error) -> Error {
        let kind = self.name();
        let (problem, remedy) = match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                (format!("truncated {kind} data"), "the file is incomplete: copy or download it again".to_owned())
            }
            _ => (format!("damaged {kind} data"), format!("copy or download the file again ({error})")),
        };
        whole_file(name, &problem, &remedy)
    }
}

/// Rejects files that start like an unsupported archive.
pub(super) fn reject_archives(name: &str, head: &[u8]) -> Result<()> {
    let kind = match head {
        [b'P', b'K', 3, 4, ..] => "a zip archive",
        [b'B', b'Z', b'h', b'0'..=b'9', ..] => "bzip2 data",
        [0xfd, b'7', b'z', b'X', ..] => "xz data",
        _ => return Ok(()),
    };
    let supported = listed(&Compression::ALL.map(Compression::name), "and");
    Err(whole_file(
        name,
        &format!("this is {kind}"),
        &format!("unpack it first; only plain, {supported} files are read directly"),
    ))
}
