//! Building blocks shared by several formulas.

use super::super::tensor::TensorTile;
use crate::metric::{Gain, discount};
use crate::numeric::order::compare;
use crate::stop::Stop;
use burn::tensor::Tensor;

/// Returns whether all labels are equal, so that no order of the documents is better than another.
pub(super) fn all_equal(labels: &[f32]) -> bool {
    labels.windows(2).all(|pair| pair[0] == pair[1])
}

/// Contribution of a document to NDCG.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// Gain divided by the ideal DCG.
    pub gain: f64,
    /// Contribution in the ideal order; these sum to 1 over all documents.
    pub ideal: f64,
}

/// Contribution of each document to NDCG; `None` if all labels are equal or no document has a gain.
pub(super) fn shares(labels: &[f32]) -> Option<Vec<Share>> {
    if all_equal(labels) {
        return None;
    }
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| labels[b].total_cmp(&labels[a]));
    let gain_of = |document: usize| Gain::Exponential.of(labels[document]);
    let ideal: f64 = order.iter().enumerate().map(|(place, &document)| gain_of(document) * discount(place)).sum();
    let mut shares = vec![Share { gain: 0.0, ideal: 0.0 }; labels.len()];
    for (place, &document) in order.iter().enumerate() {
        let gain = gain_of(document) / ideal;
        shares[document] = Share { gain, ideal: gain * discount(place) };
    }
    (ideal > 0.0).then_some(shares)
}

/// Gains and ideal contributions of a tile's documents, each `[queries, longest]`; 0 for queries with nothing to learn.
pub(super) fn share_tensors(tile: &TensorTile<'_>) -> [Tensor<2>; 2] {
    [|share: &Share| share.gain, |share: &Share| share.ideal].map(|part: fn(&Share) -> f64| {
        tile.values(|query| shares(query.labels).iter().flatten().map(|share| part(share) as f32).collect())
    })
}

/// 1 if document `i` has a higher label than document `j`, else 0: `[queries, rows, longest]`.
pub(super) fn better(tile: &TensorTile<'_>) -> Tensor<3> {
    let (label_i, label_j) = tile.sides(&tile.values(|query| query.labels.to_vec()));
    let (present_i, present_j) = tile.sides(&tile.present);
    label_i.greater(label_j).float() * present_i * present_j
}

/// Covers each pair of documents with different labels once, visiting each document `O(log labels)` times. `visit`
/// receives two lists of documents in ascending order of scores; all labels of the first list are lower than those of
/// the second.
pub(super) fn across_labels(scores: &[f64], labels: &[f32], stop: &Stop, visit: &mut dyn FnMut(&[u32], &[u32])) {
    let mut documents: Vec<u32> = (0..labels.len() as u32).collect();
    documents.sort_by(|&a, &b| labels[a as usize].total_cmp(&labels[b as usize]));
    halve(&mut documents, scores, labels, stop, visit);
}

/// Visits the pairs among documents that are in ascending order of labels; leaves them in ascending order of scores.
fn halve(documents: &mut [u32], scores: &[f64], labels: &[f32], stop: &Stop, visit: &mut dyn FnMut(&[u32], &[u32])) {
    let n = documents.len();
    if n == 0 || stop.asked() {
        return;
    }
    let label = |place: usize| labels[documents[place] as usize];
    if label(0) < label(n - 1) {
        // The boundary between labels that is closest to the middle.
        let middle = label(n / 2);
        let start = documents.partition_point(|&document| labels[document as usize] < middle);
        let end = documents.partition_point(|&document| labels[document as usize] <= middle);
        let cut = if start > 0 && (end == n || n / 2 - start <= end - n / 2) { start } else { end };
        let (low, high) = documents.split_at_mut(cut);
        halve(low, scores, labels, stop, visit);
        halve(high, scores, labels, stop, visit);
        visit(low, high);
    }
    // A stable sort detects the two sorted halves and merges them.
    documents.sort_by(|&a, &b| compare(scores[a as usize], scores[b as usize]));
}
