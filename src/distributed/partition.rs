//! Partition of queries into contiguous ranges with about the same number of documents.

use std::ops::Range;

/// Splits queries into `parts` ranges with about the same number of documents. Returns the first query of each, and the
/// number of queries.
///
/// `offsets`: the first document of each query, and the number of documents.
pub(crate) fn split_queries(offsets: &[usize], parts: usize) -> Vec<usize> {
    let (queries, documents) = match offsets {
        [starts @ .., end] => (starts, *end as u128),
        [] => (offsets, 0),
    };
    let before =
        |part: usize| queries.partition_point(|&start| start as u128 * (parts as u128) < part as u128 * documents);
    (0..parts).map(before).chain([queries.len()]).collect()
}

/// The parts of `all` that a process holds.
pub(crate) fn range_of_rank(all: usize, rank: usize, size: usize) -> Range<usize> {
    rank * all / size..(rank + 1) * all / size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_all_queries_and_have_similar_numbers_of_documents() {
        let lengths: Vec<usize> = (0..1000).map(|query| 1 + (query * 7919) % 200).collect();
        let mut offsets = vec![0];
        lengths.iter().for_each(|length| offsets.push(offsets[offsets.len() - 1] + length));
        for parts in [1, 2, 3, 8, 64] {
            let bounds = split_queries(&offsets, parts);
            assert_eq!((bounds.len(), bounds[0], bounds[parts]), (parts + 1, 0, 1000));
            let share = offsets[1000] / parts;
            for pair in bounds.windows(2) {
                let documents = offsets[pair[1]] - offsets[pair[0]];
                assert!(documents.abs_diff(share) <= 201, "{documents} of {share}");
            }
        }
        assert_eq!(split_queries(&[0, 5], 3), [0, 1, 1, 1]);
        assert_eq!(split_queries(&[0], 2), [0, 0, 0]);
    }

    #[test]
    fn every_part_has_one_owner() {
        for (all, size) in [(8, 1), (8, 3), (3, 8), (64, 5)] {
            let parts: Vec<usize> = (0..size).flat_map(|rank| range_of_rank(all, rank, size)).collect();
            assert_eq!(parts, (0..all).collect::<Vec<_>>());
        }
    }
}
