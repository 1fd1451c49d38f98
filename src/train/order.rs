//! The order in which an epoch visits the queries: random, but friendly to the page cache when the file is
//! memory-mapped.
//!
//! Data in memory, and memory-mapped data that fits in one window, is shuffled as a whole. Larger mapped data is cut
//! into shards of neighbouring queries. The shards are shuffled, every [`SHARDS`] of them form a window, and queries
//! are shuffled within a window. Pages are thus read in runs of a shard's length, and a window stays in memory while
//! its queries are visited. The sizes are constants, so the order depends on the data and the seed, never on the
//! machine.

use crate::data::Dataset;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::cell::Cell;
use std::ops::{Deref, Range};

/// Approximate size of a shard's features in bytes as f32, whatever type the file stores.
const SHARD: usize = 16 << 20;
/// Number of shards per window.
const SHARDS: usize = 16;

/// The query indices of one epoch in the order of visits; also prefetches the pages of the next window.
#[derive(Debug)]
pub(super) struct Order {
    queries: Vec<usize>,
    windows: Vec<Window>,
    /// Shards whose pages were requested: all shards of this many windows, and this many shards of the next window.
    requested: Cell<(usize, usize)>,
}

/// Shards whose queries are visited together.
#[derive(Debug, PartialEq, Eq)]
struct Window {
    /// Position in the order after its last query.
    end: usize,
    /// Queries of each shard, in file order.
    shards: Vec<Range<usize>>,
}

impl Deref for Order {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.queries
    }
}

impl Order {
    /// A given order of queries that are all in memory.
    pub fn of(queries: Vec<usize>) -> Self {
        Order { queries, windows: Vec::new(), requested: Cell::new((0, 0)) }
    }

    /// Shuffles the queries by (seed, epoch), so that a resumed run gets the same order.
    pub fn draw(data: &Dataset, seed: u64, epoch: u64) -> Self {
        let shards = if data.is_mapped() { shards(data, SHARD) } else { Vec::new() };
        let (queries, windows) = draw(data.n_queries(), shards, seed, epoch);
        Order { queries, windows, requested: Cell::new((0, 0)) }
    }

    /// Called before visiting the query at `place`: requests pages of the next window in step with the progress in this
    /// one, and releases those of the previous window.
    pub fn reach(&self, place: usize, data: &Dataset) {
        let now = self.windows.partition_point(|window| window.end <= place);
        let Some(window) = self.windows.get(now) else { return };
        let start = if now == 0 { 0 } else { self.windows[now - 1].end };
        let next = self.windows.get(now + 1).map_or(0, |next| next.shards.len());
        // The same fraction of the next window as was visited of this one, plus one shard.
        let share = (place - start) as f64 / (window.end - start).max(1) as f64;
        let target = (now + 1, next.min((share * next as f64) as usize + 1));
        let rows = |shard: &Range<usize>| data.offsets()[shard.start]..data.offsets()[shard.end];
        let mut requested = self.requested.get();
        if requested.0 <= now && now > 0 {
            self.windows[now - 1].shards.iter().for_each(|shard| data.dont_need(rows(shard)));
        }
        while requested < target {
            match self.windows[requested.0].shards.get(requested.1) {
                Some(shard) => {
                    data.will_need(rows(shard));
                    requested.1 += 1;
                }
                None => requested = (requested.0 + 1, 0),
            }
            if requested.0 >= self.windows.len() {
                break;
            }
        }
        self.requested.set(requested);
    }
}

/// Ranges of neighbouring queries with at least `size` bytes of features, or a single query; the last may be smaller.
fn shards(data: &Dataset, size: usize) -> Vec<Range<usize>> {
    let documents = (size / (4 * data.n_features().max(1))).max(1);
    let (mut shards, mut start) = (Vec::new(), 0);
    for end in 1..=data.n_queries() {
        if data.offsets()[end] - data.offsets()[start] >= documents || end == data.n_queries() {
            shards.push(start..end);
            start = end;
        }
    }
    shards
}

fn draw(queries: usize, mut shards: Vec<Range<usize>>, seed: u64, epoch: u64) -> (Vec<usize>, Vec<Window>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(epoch);
    if shards.len() <= SHARDS {
        let mut order: Vec<usize> = (0..queries).collect();
        order.shuffle(&mut random);
        let window = Window { end: queries, shards };
        return (order, if window.shards.is_empty() { Vec::new() } else { vec![window] });
    }
    shards.shuffle(&mut random);
    let (mut order, mut windows) = (Vec::with_capacity(queries), Vec::new());
    for window in shards.chunks(SHARDS) {
        let start = order.len();
        order.extend(window.iter().cloned().flatten());
        order[start..].shuffle(&mut random);
        windows.push(Window { end: order.len(), shards: window.to_vec() });
    }
    (order, windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `shards` shards of `queries` queries each; the last one is shorter.
    fn even(shards: usize, queries: usize) -> (usize, Vec<Range<usize>>) {
        let all = shards * queries - queries / 2;
        (all, (0..all).step_by(queries).map(|start| start..all.min(start + queries)).collect())
    }

    #[test]
    fn data_that_fits_in_one_window_is_shuffled_as_a_whole() {
        for shards in [0, 1, SHARDS] {
            let (_, shards) = even(shards.max(1), 10);
            let (order, windows) = draw(155, shards, 7, 3);
            assert_eq!(order, draw(155, Vec::new(), 7, 3).0);
            assert_eq!(windows.len(), 1);
        }
        let mut expected: Vec<usize> = (0..20).collect();
        let mut random = ChaCha8Rng::seed_from_u64(5);
        random.set_stream(2);
        expected.shuffle(&mut random);
        assert_eq!(draw(20, Vec::new(), 5, 2).0, expected);
    }

    #[test]
    fn every_query_is_visited_once_and_windows_have_few_shards() {
        for (count, size) in [(SHARDS + 1, 4), (40, 3), (100, 25)] {
            let (queries, shards) = even(count, size);
            let (order, windows) = draw(queries, shards.clone(), 11, 1);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..queries));
            assert_eq!(windows.len(), count.div_ceil(SHARDS));
            let mut start = 0;
            for window in &windows {
                assert!(window.shards.len() <= SHARDS);
                let mut visited = order[start..window.end].to_vec();
                visited.sort_unstable();
                let mut held: Vec<usize> = window.shards.iter().cloned().flatten().collect();
                held.sort_unstable();
                assert_eq!(visited, held, "a window visits the queries of its shards");
                start = window.end;
            }
            assert_eq!(start, queries);
        }
    }

    #[test]
    fn the_order_depends_only_on_seed_and_epoch() {
        let (queries, shards) = even(50, 20);
        let of = |seed, epoch| draw(queries, shards.clone(), seed, epoch).0;
        assert_eq!(of(1, 1), of(1, 1));
        assert_ne!(of(1, 1), of(1, 2));
        assert_ne!(of(1, 1), of(2, 1));
        // Neighbours in the file are far apart within a window: it is not a sequence of shards.
        let near = of(1, 1).windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
        assert!(near < queries / 50, "{near} of {queries} queries follow their neighbours");
    }

    #[test]
    fn shards_are_neighbouring_queries_of_about_equal_size() {
        let counts = [1, 1, 5, 2, 2, 2, 9, 1];
        let queries = counts.iter().enumerate().map(|(query, &n)| (query.to_string(), n)).collect();
        let documents = counts.iter().sum();
        let data = Dataset::new(2, vec![0.0; 2 * documents], vec![0.0; documents], queries).unwrap();
        // Four documents of two features.
        assert_eq!(shards(&data, 32), [0..3, 3..5, 5..7, 7..8]);
        assert_eq!(shards(&data, 1 << 20).first(), Some(&(0..8)));
    }
}
