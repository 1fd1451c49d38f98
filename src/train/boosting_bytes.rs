//! Memory estimate for boosting.

/// Maximum number of documents that LightGBM samples to choose bins.
const SAMPLE: u64 = 200_000;

/// Estimated bytes that LightGBM needs for the training documents: one bin index per feature, 40 bytes per document for
/// label, score, gradients and leaf index, and 12 bytes per feature of each sampled document.
pub(crate) fn boosting_bytes(documents: u64, features: u64, bins: usize) -> u64 {
    let bytes_of_bin = if bins < 256 { 1 } else { 2 };
    let of_bins = documents.saturating_mul(features.saturating_mul(bytes_of_bin).saturating_add(40));
    of_bins.saturating_add(documents.min(SAMPLE).saturating_mul(features).saturating_mul(12))
}
