//! A file from which several columns are read in parallel, by position.

use crate::data::source::read_at;
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;
use std::fs::File;
use std::io::{BufReader, Read};
use std::sync::Arc;

/// A file and its length. Reads by position, because clones of a `File` share one cursor.
pub(super) struct Shared {
    file: Arc<File>,
    length: u64,
}

impl Shared {
    pub(super) fn new(file: Arc<File>, length: u64) -> Self {
        Shared { file, length }
    }
}

impl Length for Shared {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Shared {
    type T = BufReader<Tail>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(Tail { file: self.file.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Lengths in a damaged file may be arbitrary.
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of a file of {}", self.length)));
        }
        let mut bytes = vec![0; length];
        Tail { file: self.file.clone(), at: start }.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// A reader of the file, starting at a position.
pub(super) struct Tail {
    file: Arc<File>,
    at: u64,
}

impl Read for Tail {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = read_at(&self.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
