//! Memory that boosting takes.

/// Documents that LightGBM looks at to find bins, at most.
const SAMPLE: u64 = 200_000;

/// The memory that LightGBM takes for training documents: a bin for each feature, 40 bytes for labels, scores, gradients and the
/// place in the tree, and the sample that bins are found by, a value of 8 bytes and a row of 4 for each feature.
pub(crate) fn boosting_bytes(documents: u64, features: u64, bins: usize) -> u64 {
    let bytes_of_bin = if bins < 256 { 1 } else { 2 };
    let of_bins = documents.saturating_mul(features.saturating_mul(bytes_of_bin).saturating_add(40));
    of_bins.saturating_add(documents.min(SAMPLE).saturating_mul(features).saturating_mul(12))
}
