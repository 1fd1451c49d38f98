//! Opening a cache as a [`Dataset`]: reads and verifies everything but the features and document ids.

use super::header::{self, Header, REBUILD, Section, damaged};
use super::map::{CacheMap, map, word};
use super::origin::Origin;
use super::watch::Watch;
use crate::data::dataset::Dataset;
use crate::data::scale::ColumnSummary;
use crate::data::source::{display_name, whole_file};
use crate::error::{Error, Result, printable};
use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Opens a cache. Fails if its source file has changed, unless `allow_stale`.
pub(crate) fn open(path: &Path, allow_stale: bool) -> Result<(Arc<CacheMap>, Dataset)> {
    let name = display_name(path);
    let file = File::open(path).map_err(|error| Error::io(path, "read", error))?;
    let watch = Watch::new(file, path)?;
    if watch.file().metadata().is_ok_and(|metadata| metadata.len() == 0) {
        return Err(whole_file(&name, "the file is empty", REBUILD));
    }
    let map = map(watch.file(), path)?;
    watch.guard(&map);
    let header = Header::parse(&name, &map[..map.len().min(header::BYTES)], map.len() as u64)?;
    if header::checksum(&map[..header::BYTES], &map, &header.sections) != header.checksum {
        return Err(damaged(&name, "its header, labels or queries do not match their checksum"));
    }
    let columns = ColumnSummary::from_bytes(&map[header.section(Section::Columns)], header.width as usize);
    let columns = columns.ok_or_else(|| damaged(&name, "its feature statistics are invalid"))?;
    let file = CacheMap::new(map, header, Some(columns), Some(watch));
    if file.header().source && !allow_stale {
        Origin::check(&name, file.header(), &source(&file).unwrap_or_default())?;
    }
    let broken = |what: &str| damaged(&name, what);
    let labels = labels(&file).ok_or_else(|| broken("a label is not a number of 0 or more"))?;
    let offsets = offsets(&file, labels.len()).ok_or_else(|| broken("its queries are not in ascending order"))?;
    let ids = query_ids(&file).ok_or_else(|| broken("a query id is not valid UTF-8"))?;
    let mut seen = HashSet::with_capacity(ids.len());
    if let Some(duplicate) = ids.iter().find(|id| !seen.insert(id.as_str())) {
        return Err(broken(&format!("two of its queries have the id '{}'", printable(duplicate))));
    }
    file.check_unchanged()?;
    let (names, file) = (feature_names(&file), Arc::new(file));
    let mut data = Dataset::mapped(file.clone(), labels, ids, offsets);
    if !names.is_empty() {
        data = data.with_feature_names(names).map_err(|_| broken("its feature names are invalid"))?;
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
    let offsets: Vec<usize> = (0..bytes.len() / 8).map(|index| word(bytes, index) as usize).collect();
    let valid = offsets.first() == Some(&0) && offsets.is_sorted_by(|a, b| a < b) && offsets.last() == Some(&documents);
    valid.then_some(offsets)
}

fn query_ids(file: &CacheMap) -> Option<Vec<String>> {
    let text = std::str::from_utf8(file.section(Section::QueryText)).ok()?;
    let ends = file.section(Section::QueryEnds);
    let mut start = 0;
    let id = |index: usize| {
        let end = word(ends, index) as usize;
        let id = text.get(start..end)?;
        start = end;
        Some(id.to_owned())
    };
    (0..ends.len() / 8).map(id).collect()
}

/// Returns the path of the source file of a cache, if it is known.
pub(super) fn source(file: &CacheMap) -> Option<String> {
    file.header().source.then(|| String::from_utf8_lossy(file.section(Section::Source)).into_owned())
}

/// Returns the feature names of a cache; empty if it has none.
pub(super) fn feature_names(file: &CacheMap) -> Vec<String> {
    String::from_utf8_lossy(file.section(Section::FeatureNames)).lines().map(str::to_owned).collect()
}
