//! Splits a batch of ragged queries into dense pair tiles of bounded size.

use std::ops::Range;

/// Default number of pairs per tile: 16 MiB per tensor.
pub const PAIR_BUDGET: usize = 1 << 22;

/// Queries computed together, padded to the longest: the pairs `(i, j)` with `i` in `rows` and any `j`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tile {
    pub queries: Vec<usize>,
    pub longest: usize,
    pub rows: Range<usize>,
}

/// Covers every ordered pair of every query once. Tiles hold at most `budget` pairs, but at least one row, or whole
/// queries.
pub(crate) fn tiles(offsets: &[usize], budget: usize, whole: bool) -> Vec<Tile> {
    let length = |query: usize| offsets[query + 1] - offsets[query];
    let mut by_length: Vec<usize> =
        (0..offsets.len().saturating_sub(1)).filter(|&query| length(query) > usize::from(!whole)).collect();
    // Queries of similar length share a tile, which keeps padding small.
    by_length.sort_by_key(|&query| std::cmp::Reverse(length(query)));
    let mut tiles = Vec::new();
    let mut rest = by_length.as_slice();
    while let Some(&first) = rest.first() {
        let longest = length(first);
        let together = (budget / (longest * longest)).clamp(1, rest.len());
        let queries = rest[..together].to_vec();
        rest = &rest[together..];
        let step = if whole || longest * longest <= budget { longest } else { (budget / longest).max(1) };
        tiles.extend((0..longest).step_by(step).map(|start| Tile {
            queries: queries.clone(),
            longest,
            rows: start..(start + step).min(longest),
        }));
    }
    tiles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_covered_once_within_the_budget() {
        let offsets = [0, 5, 6, 26, 29, 129];
        for budget in [1, 50, 400, 1_000, 100_000] {
            let mut covered = vec![0usize; 129];
            for tile in tiles(&offsets, budget, false) {
                let pairs = tile.queries.len() * tile.rows.len() * tile.longest;
                assert!(pairs <= budget || (tile.queries.len() == 1 && tile.rows.len() == 1), "{pairs} of {budget}");
                for &query in &tile.queries {
                    let length = offsets[query + 1] - offsets[query];
                    assert!(length <= tile.longest);
                    tile.rows.clone().filter(|&row| row < length).for_each(|row| covered[offsets[query] + row] += 1);
                }
            }
            // A query of one document has no pair.
            let expected: Vec<usize> = (0..129).map(|row| usize::from(row != 5)).collect();
            assert_eq!(covered, expected);
        }
    }
}
