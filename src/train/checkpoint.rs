//! The file format of checkpoints: one file, replaced atomically.
//!
//! Layout: 8 bytes of magic, a checksum of all bytes after it (u64, little endian), the length of the header (u64,
//! little endian), a JSON header, then the parts, whose lengths are in the header.

use crate::error::{Error, Result};
use crate::internal::files::{Durability, write_whole};
use crate::internal::hash::Hasher;
use crate::internal::temporary::parent;
use crate::memory;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Read;
use std::path::Path;

const MAGIC: &[u8; 8] = b"burnrkc1";

/// Writes a header and binary parts to `path`, replacing the file atomically.
pub(super) fn write<H: Serialize>(path: &Path, header: &H, parts: &[&[u8]]) -> Result<()> {
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let header = serde_json::to_vec(&(lengths, header)).map_err(|error| Error::Record(error.to_string()))?;
    let mut body = (header.len() as u64).to_le_bytes().to_vec();
    body.extend(header);
    parts.iter().for_each(|part| body.extend_from_slice(part));
    let folder = parent(path);
    std::fs::create_dir_all(folder).map_err(|source| Error::io(folder, "create", source))?;
    let checksum = Hasher::of(&body).to_le_bytes();
    write_whole(path, Durability::PowerFailure, |file| {
        let written = [&MAGIC[..], &checksum, &body].into_iter().try_for_each(|part| file.write_all(part));
        written.map_err(|source| Error::io(path, "write", source))
    })
}

/// Whether the file at `path` starts with the magic bytes of a checkpoint.
pub fn is_checkpoint(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    // A pipe must not be opened here: it can be opened only once.
    let mut read = || std::fs::File::open(path)?.read_exact(&mut start);
    path.is_file() && read().is_ok() && start == *MAGIC
}

/// Reads a file written by [`write`].
pub(super) fn read<H: DeserializeOwned>(path: &Path) -> Result<(H, Vec<Vec<u8>>)> {
    parse(path, &bytes(path)?)
}

/// Reads the bytes of a checkpoint.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>> {
    let length = std::fs::metadata(path).map_err(|source| Error::io(path, "read", source))?.len();
    // The file and a copy of its parts.
    memory::ask(length.saturating_mul(3), &format!("reading {}", path.display()), "")?;
    std::fs::read(path).map_err(|source| Error::io(path, "read", source))
}

/// Parses the bytes of a file written by [`write`].
pub(super) fn parse<H: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<(H, Vec<Vec<u8>>)> {
    let damaged = || Error::Model {
        path: path.to_path_buf(),
        message: "not a checkpoint of this version, or damaged: delete it and train from the start".into(),
    };
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
    let (checksum, body) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
    if Hasher::of(body) != u64::from_le_bytes(*checksum) {
        return Err(damaged());
    }
    let (length, body) = body.split_first_chunk::<8>().ok_or_else(damaged)?;
    let (header, mut rest) = body.split_at_checked(u64::from_le_bytes(*length) as usize).ok_or_else(damaged)?;
    // Parsed numbers can take many times the memory of their text.
    memory::ask((header.len() as u64).saturating_mul(16), &format!("reading {}", path.display()), "")?;
    let (lengths, header): (Vec<usize>, H) = serde_json::from_slice(header).map_err(|_| damaged())?;
    let mut parts = Vec::with_capacity(lengths.len());
    for length in lengths {
        let (part, after) = rest.split_at_checked(length).ok_or_else(damaged)?;
        parts.push(part.to_vec());
        rest = after;
    }
    if !rest.is_empty() {
        return Err(damaged());
    }
    Ok((header, parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_round_trip_and_damage_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        write(&path, &(7, "x"), &[b"one", b"", b"three"]).unwrap();
        let (header, parts): ((i32, String), _) = read(&path).unwrap();
        assert_eq!((header.0, header.1.as_str()), (7, "x"));
        assert_eq!(parts, [b"one".to_vec(), vec![], b"three".to_vec()]);

        let bytes = std::fs::read(&path).unwrap();
        for cut in 0..bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert!(read::<(i32, String)>(&path).is_err(), "cut at {cut}");
        }
        for place in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1;
            std::fs::write(&path, &flipped).unwrap();
            assert!(read::<(i32, String)>(&path).is_err(), "flipped at {place}");
        }
    }
    #[test]
    fn huge_lengths_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        let refused = |length: u64, header: &str, rest: &[u8]| {
            let body = [&length.to_le_bytes(), header.as_bytes(), rest].concat();
            let bytes = [&MAGIC[..], &Hasher::of(&body).to_le_bytes(), &body].concat();
            std::fs::write(&path, bytes).unwrap();
            assert!(read::<i32>(&path).unwrap_err().to_string().contains("damaged"), "{length} {header}");
        };
        for length in [u64::MAX, 1 << 62, 1 << 40, 100] {
            refused(length, "[[],7]", b"");
        }
        for lengths in ["18446744073709551615", "4611686018427387904,1", "1,1,18446744073709551615", "2,9", "3"] {
            let header = format!("[[{lengths}],7]");
            refused(header.len() as u64, &header, b"four");
        }
    }
}
