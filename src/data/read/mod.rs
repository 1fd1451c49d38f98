//! Reading data files: one trait, and one row of [`INPUT_FORMATS`] and one file or folder per format.

mod cache;
mod chunks;
mod columns;
#[cfg(feature = "tables")]
mod csv;
mod format;
mod group;
mod letor;
pub(super) mod number;
mod options;
#[cfg(feature = "tables")]
mod parquet;
mod parsed;
pub(super) mod problem;
mod reader;
mod report;
#[cfg(feature = "tables")]
mod table;

pub use chunks::Chunks;
pub use columns::{COLUMN_ROLES, ColumnRole, Columns};
pub(super) use format::reject_formats;
pub use format::{INPUT_FORMATS, InputFormat};
pub use letor::has_query_ids;
pub use options::{MAX_FEATURES, ReadOptions};
pub use report::{ReadProgress, ReadReport, Rows, Skipped};

use super::source::{Text, without_mark};
use crate::error::{Error, Result};
use std::path::Path;

/// Reads a data file of any of the [`INPUT_FORMATS`].
///
/// The format is detected from the first bytes or the name of the file. The default is LETOR (SVMlight, LibSVM):
/// `<label> qid:<id> <index>:<value> ... # comment`, separated by spaces or tabs, with lines ended by LF or CRLF. Features may
/// be omitted (0, or missing with [`ReadOptions::sparse_missing`]) or in any order, a value of `nan`, `NA`, `?` or nothing is
/// missing (NaN), labels may be fractions, and `# docid = X` sets the document id. Text may be compressed; `-`
/// is standard input. The features of a [cache](crate::data::cache) stay in the file.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("train.txt");
/// std::fs::write(&path, "2 qid:a 1:0.5 3:-1 # docid = d7\n0 qid:a 2:4\n1 qid:b 1:1e-3\n").unwrap();
/// let report = burnrank::read(&path, &burnrank::ReadOptions::default())?;
/// assert_eq!(report.data.query(0).features, [0.5, 0.0, -1.0, 0.0, 4.0, 0.0]);
/// assert_eq!(report.data.query(1).labels, [1.0]);
/// assert_eq!(report.data.document_id(0), Some("d7"));
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// On the first bad line: invalid or infinite numbers, missing or negative labels, duplicate or too large feature indices, queries
/// that are not contiguous, invalid UTF-8. The error names line, column, offending text and remedy. Also when the file is
/// missing, empty or damaged.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<ReadReport> {
    read_with(path, options, &|_| ())
}

/// Reads a data file as [`read`] does and reports progress. The callback may be called from any thread.
///
/// # Errors
/// See [`read`].
pub fn read_with(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    progress: &(dyn Fn(ReadProgress) + Sync),
) -> Result<ReadReport> {
    options.check()?;
    let path = path.as_ref();
    let reader = InputFormat::of(path).open(path, options)?;
    in_pool(options.threads, || reader.whole(options, progress))
}

/// Reads LETOR text in memory. Errors refer to it as `name`.
///
/// ```
/// let error = burnrank::data::read_bytes("a.txt", b"1 qid:1 1:0.5\n-1 qid:1 1:x\n", &Default::default()).unwrap_err();
/// assert_eq!(error.to_string(), "a.txt:2:1: negative label '-1': a label is a number of 0 or more");
/// ```
///
/// # Errors
/// See [`read`].
pub fn read_bytes(name: &str, text: &[u8], options: &ReadOptions) -> Result<ReadReport> {
    options.check()?;
    in_pool(options.threads, || letor::read_text(name, Text::Memory(without_mark(text)), options, &|_| ()))
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    if threads == 0 {
        return work();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Device(format!("cannot start {threads} threads: {error}")))?.install(work)
}
