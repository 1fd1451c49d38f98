//! A cache to a [`Dataset`]: everything but the features and the ids of documents is read and verified.

use super::header::{self, AGAIN, Header, Section, damaged};
use super::map::{CacheMap, map, word};
use super::origin::Origin;
use super::survey;
use super::watch::Watch;
use crate::data::dataset::Dataset;
use crate::data::letor::{ReadOptions, ReadReport, Rows, Skipped};
use crate::data::source::{display_name, is_stdin, whole_file};
use crate::error::{Error, Result, printable};
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Whether the file at `path` starts as a cache does.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("train.txt");
/// std::fs::write(&path, "1 qid:a 1:0.5\n").unwrap();
/// assert!(!burnrank::data::cache::is_cache(&path));
/// ```
pub fn is_cache(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    // A pipe can be opened only once.
    if is_stdin(path) || !path.is_file() {
        return false;
    }
    let mut head = [0; header::MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == header::MAGIC
}

/// As [`is_cache`], and also where its name says so: a damaged start is then told of as such.
pub(crate) fn looks_like_a_cache(path: &Path) -> bool {
    is_cache(path) || (path.extension().is_some_and(|ending| ending == "cache") && path.is_file())
}

/// Opens a cache as reading its text would be reported.
pub(crate) fn read(path: &Path, options: &ReadOptions) -> Result<ReadReport> {
    let name = display_name(path);
    if options.query_file.is_some() {
        return Err(Error::Config(format!("{name}: a cache holds its queries: leave out --query-file")));
    }
    options.table.check_unused(path)?;
    let (file, data) = open(path, options.stale_cache)?;
    let header = file.header();
    if header.first_index != options.first_index {
        let remedy = if header.first_index == 0 { "add --first-index 0" } else { "leave out --first-index 0" };
        let first = header.first_index;
        return Err(Error::Mismatch(format!("{name}: a cache of features that are counted from {first}: {remedy}")));
    }
    let data = match options.width {
        Some(width) if width < data.n_features() => {
            let found = data.n_features();
            return Err(Error::Mismatch(format!("{name}: {found} features, more than the {width} that were stated")));
        }
        Some(width) => data.with_width(width),
        None => data,
    };
    let documents = data.n_documents();
    Ok(ReadReport {
        rows: Rows { ranges: std::iter::once(0..documents).collect(), total: documents },
        data,
        skipped: Skipped::default(),
        bytes: header.file_bytes,
        compression: None,
        highest_label: (header.highest_label, header.highest_line as usize),
    })
}

/// Opens a cache; `stale` takes it even where its text has changed.
pub(crate) fn open(path: &Path, stale: bool) -> Result<(Arc<CacheMap>, Dataset)> {
    let name = display_name(path);
    let file = File::open(path).map_err(|error| Error::io(path, "read", error))?;
    let watch = Watch::new(file, path)?;
    if watch.file().metadata().is_ok_and(|metadata| metadata.len() == 0) {
        return Err(whole_file(&name, "the file is empty", AGAIN));
    }
    let map = map(watch.file(), path)?;
    watch.guard(&map);
    let header = Header::parse(&name, &map[..map.len().min(header::BYTES)], map.len() as u64)?;
    if header::checksum(&map[..header::BYTES], &map, &header.sections) != header.checksum {
        return Err(damaged(&name, "its labels, queries or header are not what was written"));
    }
    let columns = survey::columns(&map[header.section(Section::Columns)], header.width as usize);
    let columns = columns.ok_or_else(|| damaged(&name, "what it says of its features makes no sense"))?;
    let file = CacheMap::new(map, header, Some(columns), Some(watch));
    if file.header().source && !stale {
        Origin::check(&name, file.header(), &source(&file).unwrap_or_default())?;
    }
    let broken = |what: &str| damaged(&name, what);
    let labels = labels(&file).ok_or_else(|| broken("a label is no number of 0 or more"))?;
    let offsets = offsets(&file, labels.len()).ok_or_else(|| broken("its queries do not follow one another"))?;
    let ids = query_ids(&file).ok_or_else(|| broken("an id of a query is no text"))?;
    let mut seen = HashSet::with_capacity(ids.len());
    if let Some(twice) = ids.iter().find(|id| !seen.insert(id.as_str())) {
        return Err(broken(&format!("two of its queries have the id '{}'", printable(twice))));
    }
    file.check_unchanged()?;
    let (names, file) = (feature_names(&file), Arc::new(file));
    let mut data = Dataset::mapped(file.clone(), labels, ids, offsets);
    if !names.is_empty() {
        data = data.with_feature_names(names).map_err(|_| broken("the names of its features make no sense"))?;
    }
    Ok((file, data))
}

fn labels(file: &CacheMap) -> Option<Vec<f32>> {
    let labels: Vec<f32> =
        file.section(Section::Labels).as_chunks().0.iter().map(|label| f32::from_le_bytes(*label)).collect();
    labels.iter().all(|label| label.is_finite() && *label >= 0.0).then_some(labels)
}

fn offsets(file: &CacheMap, documents: usize) -> Option<Vec<usize>> {
    let bytes = file.section(Section::Offsets);
    let offsets: Vec<usize> = (0..bytes.len() / 8).map(|place| word(bytes, place) as usize).collect();
    let rise = offsets.first() == Some(&0) && offsets.is_sorted_by(|a, b| a < b) && offsets.last() == Some(&documents);
    rise.then_some(offsets)
}

fn query_ids(file: &CacheMap) -> Option<Vec<String>> {
    let text = std::str::from_utf8(file.section(Section::QueryText)).ok()?;
    let ends = file.section(Section::QueryEnds);
    let mut start = 0;
    let id = |place: usize| {
        let end = word(ends, place) as usize;
        let id = text.get(start..end)?;
        start = end;
        Some(id.to_owned())
    };
    (0..ends.len() / 8).map(id).collect()
}

/// The path of the text that a cache was made from, where it is known.
pub(super) fn source(file: &CacheMap) -> Option<String> {
    file.header().source.then(|| String::from_utf8_lossy(file.section(Section::Source)).into_owned())
}

/// The names that a cache has for its features; empty where it has none.
pub(super) fn feature_names(file: &CacheMap) -> Vec<String> {
    String::from_utf8_lossy(file.section(Section::FeatureNames)).lines().map(str::to_owned).collect()
}
