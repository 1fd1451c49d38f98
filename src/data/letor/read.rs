//! A whole file to a [`Dataset`](crate::data::dataset::Dataset).

use super::block::{self, Block, ParseSettings, ParsedBlock};
use super::group::{self, Before, Earlier, Origin, Query};
use super::line::Rules;
use super::options::{MAX_FEATURES, ReadOptions, ReadProgress, ReadReport, Rows, Skipped};
use crate::data::cache;
use crate::data::source::{SMALL, SPARSEST, Source, Text, read_whole, whole_file, without_mark};
use crate::data::table::Table;
use crate::error::{Error, ParseError, Result};
use crate::memory;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads a LETOR (SVMlight, LibSVM) file: `<label> qid:<id> <index>:<value> ... # comment`; or a [table](crate::data::is_table); or
/// opens a [cache](crate::data::cache), whose features stay in the file.
///
/// The file may be packed with gzip or Zstandard; `-` is standard input. Blanks may be tabs, lines may end in CRLF, features may
/// be missing (0) or in any order, labels may be fractions, `# docid = X` names a document.
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
/// The first bad line with its column, the offending text and the remedy: bad, infinite or missing numbers, negative labels,
/// duplicate features or absurd indices, queries that come back, invalid UTF-8; and damaged, empty or missing files.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<ReadReport> {
    read_with(path, options, &|_| ())
}

/// As [`read`], and tells how far it has come, from any thread.
///
/// # Errors
/// As [`read`].
pub fn read_with(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    progress: &(dyn Fn(ReadProgress) + Sync),
) -> Result<ReadReport> {
    options.check()?;
    if cache::looks_like_a_cache(path.as_ref()) {
        return cache::read(path.as_ref(), options);
    }
    if let Some(table) = Table::open(path.as_ref(), options)? {
        return in_pool(options.threads, || table.read(progress));
    }
    let source = Source::open(path.as_ref(), &|done| progress(ReadProgress { done, total: None }))?;
    let report = in_pool(options.threads, || whole(&source.name, source.text(), options, progress));
    // Whatever else seems wrong with a file that changes, the change comes first.
    source.check()?;
    report.map(|report| ReadReport { compression: source.compression, ..report })
}

/// As [`read`], for a text in memory that errors call `name`.
///
/// ```
/// let error = burnrank::read_bytes("a.txt", b"1 qid:1 1:0.5\n-1 qid:1 1:x\n", &Default::default()).unwrap_err();
/// assert_eq!(error.to_string(), "a.txt:2:1: negative label '-1': a label is a number of 0 or more");
/// ```
///
/// # Errors
/// As [`read`].
pub fn read_bytes(name: &str, text: &[u8], options: &ReadOptions) -> Result<ReadReport> {
    options.check()?;
    in_pool(options.threads, || whole(name, Text::Memory(without_mark(text)), options, &|_| ()))
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    if threads == 0 {
        return work();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Device(format!("cannot start {threads} threads: {error}")))?.install(work)
}

fn whole(
    name: &str,
    text: Text,
    options: &ReadOptions,
    progress: &(dyn Fn(ReadProgress) + Sync),
) -> Result<ReadReport> {
    let counts = counts(options)?;
    let before = Before { earlier: &Earlier::new(), open: None };
    let parsed = Piece { name, text, first_line: 1, options, before }.parse(progress)?;
    let report = report(Origin::text(name), parsed, counts.as_deref(), options, LINES)?;
    Ok(ReadReport { bytes: text.len() as u64, ..report })
}

/// The documents of each query, where a side file counts them.
pub(in crate::data) fn counts(options: &ReadOptions) -> Result<Option<Vec<usize>>> {
    let Some(path) = &options.query_file else { return Ok(None) };
    let (name, text) = read_whole(path)?;
    group::parse_counts(&text, &name).map(Some)
}

/// The report on a whole file from what was found in it; `expected` says what it should have held.
pub(in crate::data) fn report(
    origin: Origin<'_>,
    mut parsed: Parsed,
    counts: Option<&[usize]>,
    options: &ReadOptions,
    expected: &str,
) -> Result<ReadReport> {
    let name = origin.name;
    let mut left_out = Skipped::default();
    let before = Before { earlier: &Earlier::new(), open: None };
    let queries = match counts {
        Some(counts) => group::by_counts(name, &parsed.outcomes, parsed.labels.len(), counts)?,
        None => group::by_options(origin, &parsed.outcomes, options, before, &mut left_out)?,
    };
    let skipped = group::skipped_lines(&mut parsed.outcomes, left_out);
    if queries.is_empty() {
        return Err(no_documents(name, &skipped, expected));
    }
    let highest = parsed.outcomes.iter().map(|outcome| outcome.highest);
    let highest_label = highest.fold((0.0, 0), |best, next| if next.0 > best.0 { next } else { best });
    let sparse = parsed.fewest() < parsed.width;
    let rows = Rows { ranges: group::row_ranges(&queries), total: parsed.labels.len() };
    let data = parsed.dataset(name, queries)?.declared_sparse(sparse);
    Ok(ReadReport { data, rows, skipped, bytes: 0, compression: None, highest_label })
}

/// What a text holds.
pub(super) const LINES: &str = "expected lines of <label> qid:<id> <index>:<value> ...";

#[cold]
pub(super) fn no_documents(name: &str, skipped: &Skipped, expected: &str) -> Error {
    match skipped.first.first() {
        None => whole_file(name, "the file is empty", expected),
        Some(first) => {
            let remedy = format!("all {} were skipped; the first: {first}", skipped.lines);
            whole_file(name, "no good line in the file", &remedy)
        }
    }
}

/// A text of whole lines to be parsed.
pub(super) struct Piece<'a> {
    pub name: &'a str,
    pub text: Text<'a>,
    pub first_line: usize,
    pub options: &'a ReadOptions,
    pub before: Before<'a>,
}

/// The numbers of a text or a table, and what else is known of its lines.
#[derive(Debug, Default)]
pub(in crate::data) struct Parsed {
    pub width: usize,
    pub features: Vec<f32>,
    pub labels: Vec<f32>,
    pub outcomes: Vec<ParsedBlock>,
}

impl Parsed {
    /// The smallest number of features that a document states.
    pub(super) fn fewest(&self) -> usize {
        self.outcomes.iter().filter_map(|outcome| outcome.fewest).min().unwrap_or(usize::MAX)
    }

    pub(super) fn dataset(self, name: &str, queries: Vec<Query>) -> Result<crate::data::dataset::Dataset> {
        group::dataset(name, self.width, self.features, self.labels, queries, &self.outcomes)
    }
}

impl Piece<'_> {
    /// Parses into a matrix as wide as the lines' last features suggest, and once more if that was wrong.
    pub(super) fn parse(&self, progress: &(dyn Fn(ReadProgress) + Sync)) -> Result<Parsed> {
        let blocks = block::survey(self.text, self.options.block_bytes, self.first_line)?;
        let documents = blocks.last().map_or(0, |block| block.rows.end);
        let last_index = blocks.iter().map(|block| block.last_index).max().unwrap_or(0);
        let first_index = self.options.first_index as usize;
        let mut width = self.options.width.unwrap_or((last_index + 1).saturating_sub(first_index));
        if !self.affordable(documents, width) {
            // Nothing is kept, but the lines are judged: the guess may come from a bad one.
            width = 0;
        }
        loop {
            let parsed = self.parse_as(&blocks, documents, width, progress)?;
            let (widest, line) = parsed
                .outcomes
                .iter()
                .map(|outcome| outcome.widest)
                .fold((0, 0), |best, next| if next.0 > best.0 { next } else { best });
            let needed = self.options.width.unwrap_or(widest);
            if needed == width {
                return Ok(parsed);
            }
            if !self.affordable(documents, needed) {
                return Err(self.too_large(documents, needed, line));
            }
            width = needed;
        }
    }

    fn parse_as(
        &self,
        blocks: &[Block],
        documents: usize,
        width: usize,
        progress: &(dyn Fn(ReadProgress) + Sync),
    ) -> Result<Parsed> {
        let what = format!("{documents} documents of {width} features from {}", self.name);
        let remedy = "split the file, or keep fewer features";
        let cells = documents.saturating_mul(width);
        let mut features = memory::zeros(cells, &what, remedy)?;
        let mut labels = memory::zeros(documents, &what, remedy)?;
        let (done, total) = (AtomicU64::new(0), Some(self.text.len() as u64));
        let rules = Rules {
            first_index: self.options.first_index as usize,
            inline_query: self.options.query_file.is_none(),
            width: self.options.width,
        };
        let tell = |bytes: usize| {
            let done = done.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
            progress(ReadProgress { done, total });
        };
        let settings =
            ParseSettings { text: self.text, name: self.name, rules, lenient: self.options.lenient, done: &tell };
        let mut outcomes = block::parse(&settings, blocks, width, &mut features, &mut labels)?;
        if let Some(bad) = outcomes.iter().position(|outcome| outcome.error.is_some()) {
            // A query may have come back on an earlier line still.
            outcomes.truncate(bad + 1);
            let origin = Origin::text(self.name);
            group::by_options(origin, &outcomes, self.options, self.before, &mut Skipped::default())?;
            if let Some(error) = outcomes.pop().and_then(|outcome| outcome.error) {
                return Err(error.into());
            }
        }
        Ok(Parsed { width, features, labels, outcomes })
    }

    /// Whether the matrix is of a size that its text can justify. A width that the user states is always justified.
    fn affordable(&self, documents: usize, width: usize) -> bool {
        let bytes = documents as u64 * width as u64 * 4;
        let allowed = SMALL.max(self.text.len() as u64 * SPARSEST);
        width <= MAX_FEATURES && (bytes <= allowed || self.options.width.is_some())
    }

    #[cold]
    fn too_large(&self, documents: usize, width: usize, line: usize) -> Error {
        let index = width + self.options.first_index as usize - 1;
        let size = documents as f64 * width as f64 * 4.0 / f64::from(1 << 30);
        let remedy = format!(
            "{documents} documents of {width} features make a matrix of {size:.1} GiB for {} bytes of text; number the features \
             without gaps, or state their number",
            self.text.len()
        );
        let (text, problem) = (index.to_string(), "feature index too large".to_owned());
        Box::new(ParseError { file: self.name.to_owned(), line, column: 0, text, problem, remedy }).into()
    }
}
