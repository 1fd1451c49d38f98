//! One pass over all features of a new cache to compute the statistics, fingerprints and checksums that it stores.

use super::header::{BLOCK, Header, Section};
use super::map::CacheMap;
use crate::data::dataset::Dataset;
use crate::data::scale::ColumnSummary;
use crate::internal::hash::Hasher;
use rayon::prelude::*;

/// Statistics, fingerprints and checksums as the file stores them.
pub(super) struct Survey {
    pub columns: Vec<u8>,
    /// Two per query.
    pub fingerprints: Vec<u64>,
    /// One per block of the features.
    pub blocks: Vec<u64>,
}

/// Surveys all queries of a file in order.
pub(super) fn survey(data: &Dataset, file: &CacheMap) -> Survey {
    let (mut fingerprints, mut blocks) = (Vec::with_capacity(2 * data.n_queries()), Vec::new());
    let features = file.section(Section::Features);
    let row_bytes = features.len() / data.n_documents().max(1);
    let summary = ColumnSummary::of(data, data.n_features(), |rows| {
        let last = rows.end == data.n_documents();
        // The queries and blocks that end in these rows.
        let first = fingerprints.len() / 2;
        let end = data.offsets().partition_point(|&offset| offset <= rows.end) - 1;
        let query = |query: usize| [data.query_fingerprint(query), data.query_key(query).unwrap_or(0)];
        fingerprints.extend((first..end).into_par_iter().flat_map_iter(query).collect::<Vec<u64>>());
        let whole = if last { features.len().div_ceil(BLOCK) } else { rows.end * row_bytes / BLOCK };
        blocks.extend(
            (blocks.len()..whole).into_par_iter().map(|block| block_checksum(features, block)).collect::<Vec<_>>(),
        );
        data.dont_need(rows);
    });
    Survey { columns: summary.to_bytes(), fingerprints, blocks }
}

/// Computes the checksum of a block of features.
pub(super) fn block_checksum(features: &[u8], block: usize) -> u64 {
    Hasher::of(&features[block * BLOCK..features.len().min((block + 1) * BLOCK)])
}

/// Computes the checksum of the document ids.
pub(super) fn ids_checksum(file: &[u8], header: &Header) -> u64 {
    let mut hasher = Hasher::new();
    hasher.bytes(&file[header.section(Section::DocumentEnds)]);
    hasher.bytes(&file[header.section(Section::DocumentText)]);
    hasher.finish()
}
