//! Building a cache from a text file or table in one pass: all threads parse one chunk while the previous one is written.

use super::origin::Origin;
use super::write::{CacheOptions, CacheReport, CacheWriter, TextFacts};
use crate::data::dataset::Dataset;
use crate::data::read::{Chunks, ReadOptions, read};
use crate::data::source::display_name;
use crate::error::{Error, Result};
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

/// Builds the cache `out` from `input`: a text file, which may be compressed, standard input (`-`), a table, or another cache.
///
/// Uses memory for a few megabytes of text, the longest query, the labels and the query ids, unless
/// [`ReadOptions::regroup`] or [`ReadOptions::query_file`] require the whole file. `progress` is called with the number of bytes
/// of text read so far.
///
/// ```
/// use burnrank::data::cache::{CacheOptions, build};
/// # let folder = tempfile::tempdir().unwrap();
/// # let (text, cache) = (folder.path().join("train.txt"), folder.path().join("train.cache"));
/// std::fs::write(&text, "2 qid:a 1:0.5\n0 qid:a 1:4 3:1\n1 qid:b 1:1\n").unwrap();
/// let options = burnrank::ReadOptions::default();
/// let report = build(&text, &cache, CacheOptions::default(), &options, |_| ())?;
/// assert_eq!((report.queries, report.documents, report.features), (2, 3, 3));
/// assert_eq!(burnrank::read(&cache, &options)?.data, burnrank::read(&text, &options)?.data);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// For the reasons listed at [`read`](crate::read) and [`CacheWriter`].
pub fn build(
    input: &Path,
    out: &Path,
    options: CacheOptions,
    reading: &ReadOptions,
    progress: impl Fn(u64) + Send + 'static,
) -> Result<CacheReport> {
    build_by(CHUNK, input, out, options, reading, progress)
}

/// Bytes of text per chunk.
const CHUNK: usize = 16 << 20;

/// [`build`] with a given number of bytes of text per chunk.
pub(super) fn build_by(
    chunk: usize,
    input: &Path,
    out: &Path,
    options: CacheOptions,
    reading: &ReadOptions,
    progress: impl Fn(u64) + Send + 'static,
) -> Result<CacheReport> {
    let origin = Origin::of(input);
    let options = CacheOptions { first_index: reading.first_index, ..options };
    let mut writer = CacheWriter::create(out, options)?;
    if reading.regroup || reading.query_file.is_some() {
        let report = read(input, reading)?;
        writer.push(&report.data).map_err(|error| named(error, input))?;
        let (sparse, highest_label) = (report.data.is_sparse(), report.highest_label);
        let facts = TextFacts { origin, sparse, highest_label, bytes: report.bytes, skipped: report.skipped };
        return writer.finish_with(facts).map_err(|error| named(error, input));
    }
    let mut chunks = Chunks::open(input, reading)?.with_chunk_bytes(chunk).with_progress(progress);
    let (sender, receiver) = sync_channel::<(Dataset, u64)>(1);
    let writer = std::thread::scope(|scope| {
        let writing = scope.spawn(move || write_all(writer, &receiver, input));
        let mut failed = None;
        while let Some(chunk) = chunks.next() {
            let bytes = chunks.bytes();
            // A closed channel means that writing failed.
            let sent = match chunk {
                Ok(chunk) => sender.send((chunk, bytes)).is_ok(),
                Err(error) => {
                    failed = Some(error);
                    false
                }
            };
            if !sent {
                break;
            }
        }
        drop(sender);
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        failed.map_or(written, Err)
    })?;
    let facts = TextFacts {
        origin,
        sparse: chunks.is_sparse(),
        highest_label: chunks.highest_label(),
        bytes: chunks.bytes(),
        skipped: chunks.skipped().clone(),
    };
    writer.finish_with(facts).map_err(|error| named(error, input))
}

fn write_all(mut writer: CacheWriter, parts: &Receiver<(Dataset, u64)>, input: &Path) -> Result<CacheWriter> {
    for (part, bytes) in parts {
        writer.push(&part).map_err(|error| named(error, input))?;
        // Tables have no gaps between feature indices, and may be compressed to any degree.
        if part.feature_names().is_none() {
            writer.check_size(bytes)?;
        }
    }
    Ok(writer)
}

/// Adds the input file to errors about values.
fn named(error: Error, input: &Path) -> Error {
    match error {
        Error::Data(message) => Error::Data(format!("{}: {message}", display_name(input))),
        other => other,
    }
}
