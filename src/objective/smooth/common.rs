//! What several formulas are made of.

use super::super::tensor::TensorTile;
use crate::metric::{Gain, discount};
use crate::numeric::order::compare;
use crate::stop::Stop;
use burn::tensor::Tensor;

/// Whether there is nothing to learn: no order of the documents is better than another.
pub(super) fn all_equal(labels: &[f32]) -> bool {
    labels.windows(2).all(|pair| pair[0] == pair[1])
}

/// What a document adds to NDCG.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// Its gain divided by the ideal DCG.
    pub gain: f64,
    /// What it adds in the ideal order: the sum over all documents is 1.
    pub ideal: f64,
}

/// What each document adds to NDCG; nothing where all labels are equal or no document has a gain.
pub(super) fn shares(labels: &[f32]) -> Option<Vec<Share>> {
    if all_equal(labels) {
        return None;
    }
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| labels[b].total_cmp(&labels[a]));
    let worth = |document: usize| Gain::Exponential.of(labels[document]);
    let ideal: f64 = order.iter().enumerate().map(|(place, &document)| worth(document) * discount(place)).sum();
    let mut shares = vec![Share { gain: 0.0, ideal: 0.0 }; labels.len()];
    for (place, &document) in order.iter().enumerate() {
        let gain = worth(document) / ideal;
        shares[document] = Share { gain, ideal: gain * discount(place) };
    }
    (ideal > 0.0).then_some(shares)
}

/// The gains and ideal shares of a tile's documents, each `[queries, longest]`; 0 where there is nothing to learn.
pub(super) fn share_tensors(tile: &TensorTile<'_>) -> [Tensor<2>; 2] {
    [|share: &Share| share.gain, |share: &Share| share.ideal].map(|part: fn(&Share) -> f64| {
        tile.values(|query| shares(query.labels).iter().flatten().map(|share| part(share) as f32).collect())
    })
}

/// 1 where document `i` has a higher label than document `j`: `[queries, rows, longest]`.
pub(super) fn better(tile: &TensorTile<'_>) -> Tensor<3> {
    let (label_i, label_j) = tile.sides(&tile.values(|query| query.labels.to_vec()));
    let (present_i, present_j) = tile.sides(&tile.present);
    label_i.greater(label_j).float() * present_i * present_j
}

/// Covers each pair of documents with different labels once, by `O(log labels)` visits of each document: `visit` is given two
/// lists of documents, each in ascending order of scores, all of the first with lower labels than all of the second.
pub(super) fn across_labels(scores: &[f64], labels: &[f32], stop: &Stop, visit: &mut dyn FnMut(&[u32], &[u32])) {
    let mut documents: Vec<u32> = (0..labels.len() as u32).collect();
    documents.sort_by(|&a, &b| labels[a as usize].total_cmp(&labels[b as usize]));
    halve(&mut documents, scores, labels, stop, visit);
}

/// The pairs among documents that are in ascending order of labels; leaves them in ascending order of scores.
fn halve(documents: &mut [u32], scores: &[f64], labels: &[f32], stop: &Stop, visit: &mut dyn FnMut(&[u32], &[u32])) {
    let n = documents.len();
    if n == 0 || stop.asked() {
        return;
    }
    let label = |place: usize| labels[documents[place] as usize];
    if label(0) < label(n - 1) {
        // The end of a label that is nearest to the middle.
        let middle = label(n / 2);
        let start = documents.partition_point(|&document| labels[document as usize] < middle);
        let end = documents.partition_point(|&document| labels[document as usize] <= middle);
        let cut = if start > 0 && (end == n || n / 2 - start <= end - n / 2) { start } else { end };
        let (low, high) = documents.split_at_mut(cut);
        halve(low, scores, labels, stop, visit);
        halve(high, scores, labels, stop, visit);
        visit(low, high);
    }
    // A stable sort finds the two sorted halves and merges them.
    documents.sort_by(|&a, &b| compare(scores[a as usize], scores[b as usize]));
}
