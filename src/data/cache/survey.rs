//! One look at all features of a cache that is being made, for what its readers must not have to look for.

use super::header::{BLOCK, Header, Section};
use super::map::CacheMap;
use crate::data::dataset::Dataset;
use crate::data::scale::ColumnSummary;
use crate::internal::hash::Hasher;
use rayon::prelude::*;

/// What was found, as the file holds it.
pub(super) struct Found {
    pub columns: Vec<u8>,
    /// Two per query.
    pub prints: Vec<u64>,
    /// One per block of the features.
    pub blocks: Vec<u64>,
}

/// Looks at all queries of a file, from the first to the last.
pub(super) fn find(data: &Dataset, file: &CacheMap) -> Found {
    let (mut prints, mut blocks) = (Vec::with_capacity(2 * data.n_queries()), Vec::new());
    let features = file.section(Section::Features);
    let row_bytes = features.len() / data.n_documents().max(1);
    let summary = ColumnSummary::of(data, data.n_features(), |rows| {
        let last = rows.end == data.n_documents();
        // The queries and blocks that end in these rows.
        let first = prints.len() / 2;
        let end = data.offsets().partition_point(|&offset| offset <= rows.end) - 1;
        let query = |query: usize| [data.query_print(query), data.query_key(query).unwrap_or(0)];
        prints.extend((first..end).into_par_iter().flat_map_iter(query).collect::<Vec<u64>>());
        let whole = if last { features.len().div_ceil(BLOCK) } else { rows.end * row_bytes / BLOCK };
        blocks.extend(
            (blocks.len()..whole).into_par_iter().map(|block| block_checksum(features, block)).collect::<Vec<_>>(),
        );
        data.passed(rows);
    });
    Found { columns: summary.to_bytes(), prints, blocks }
}

/// The checksum of a block of the features.
pub(super) fn block_checksum(features: &[u8], block: usize) -> u64 {
    Hasher::of(&features[block * BLOCK..features.len().min((block + 1) * BLOCK)])
}

/// The checksum of the documents' ids.
pub(super) fn ids_checksum(file: &[u8], header: &Header) -> u64 {
    let mut hasher = Hasher::new();
    hasher.bytes(&file[header.section(Section::DocumentEnds)]);
    hasher.bytes(&file[header.section(Section::DocumentText)]);
    hasher.finish()
}
