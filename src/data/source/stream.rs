//! Reading a file from front to back, in constant memory or as a whole.

use super::compression::{Compression, reject_archives};
use super::plain_file::{Plain, Stamp};
use super::{Content, MAX_LINE, Source, display_name, is_stdin, long_line};
use crate::data::read::reject_formats;
use crate::error::{Error, Result};
use crate::memory;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

/// Number of first bytes that identify a format.
const HEAD: u64 = 8;

/// A file read from front to back in constant memory.
pub(crate) struct Stream {
    /// Name in errors.
    pub name: String,
    path: PathBuf,
    compression: Option<Compression>,
    reader: Box<dyn Read + Send>,
    /// The file, to detect changes.
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
        let watched = match stamp {
            // Files in /proc have no known length.
            Some(stamp) if stamp.has_length() => Some((file.try_clone().map_err(fail)?, stamp)),
            _ => None,
        };
        Ok(Stream { file: watched, ..Self::of(display_name(path), path, Box::new(file))? })
    }

    /// Reads from any reader. Errors refer to it as `name`.
    pub(crate) fn of(name: String, path: &Path, mut reader: Box<dyn Read + Send>) -> Result<Self> {
        let mut head = Vec::new();
        reader.by_ref().take(HEAD).read_to_end(&mut head).map_err(|error| Error::io(path, "read", error))?;
        reject_archives(&name, &head)?;
        reject_formats(&name, &head)?;
        let compression = Compression::of_bytes(&head);
        let whole = Cursor::new(head).chain(reader);
        let reader = match compression {
            Some(compression) => compression.decoder(whole).map_err(|error| compression.error(&name, &error))?,
            None => Box::new(whole),
        };
        Ok(Stream { name, path: path.to_path_buf(), compression, reader, file: None })
    }

    /// Returns the compression of the file.
    pub(crate) fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// Opens a plain file for random access, or reads the whole text, calling `progress` with the number of bytes so far.
    pub(crate) fn whole(mut self, progress: &dyn Fn(u64)) -> Result<Source> {
        let content = match (self.compression, self.file.take()) {
            (None, Some((file, stamp))) => Content::Plain(Plain::of(&self.name, &self.path, file, stamp)?),
            (_, file) => {
                self.file = file;
                Content::Owned(self.rest(progress)?)
            }
        };
        Ok(Source { name: self.name, compression: self.compression, content })
    }

    /// Appends up to `limit` bytes to `buffer` and returns their number. Fewer than `limit` bytes mean the end of the file.
    pub(crate) fn fill(&mut self, buffer: &mut Vec<u8>, limit: usize) -> Result<usize> {
        let what = format!("the text of {}", self.name);
        memory::reserve(buffer, limit, &what, "split the file, or shorten its lines")?;
        let read = self.reader.by_ref().take(limit as u64).read_to_end(buffer);
        let changed = || self.file.as_ref().and_then(|(file, stamp)| stamp.check(file, &self.name).err());
        let read = read
            .map_err(|error| match self.compression {
                Some(compression) => compression.error(&self.name, &error),
                None => Error::io(&self.path, "read", error),
            })
            // If the file changed, reports that instead of the damage caused by it.
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

    /// Reads the rest of the text, calling `progress` with the number of bytes so far.
    pub(crate) fn rest(&mut self, progress: &dyn Fn(u64)) -> Result<Vec<u8>> {
        const STEP: usize = 8 << 20;
        // A small first step for small files.
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
            progress(bytes.len() as u64);
            // Reserves more than one step, because moving the text at each step would take longer than reading it.
            if bytes.capacity() - bytes.len() < STEP {
                let what = format!("the text of {}", self.name);
                memory::reserve(&mut bytes, STEP.max(start / 2), &what, "split the file")?;
            }
            step = STEP;
        }
    }
}

/// Asks the system to read the next bytes of a file in the background.
#[cfg(target_os = "linux")]
fn read_ahead(mut file: &File, bytes: u64) {
    use std::io::Seek;
    // Errors are ignored: read-ahead affects only speed.
    if let Ok(from) = file.stream_position() {
        let _ = rustix::fs::fadvise(file, from, std::num::NonZeroU64::new(bytes), rustix::fs::Advice::WillNeed);
    }
}

#[cfg(not(target_os = "linux"))]
fn read_ahead(_: &File, _: u64) {}
