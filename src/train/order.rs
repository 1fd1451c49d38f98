//! The order in which an epoch visits the queries: random, and where they are in a mapped file also in long runs of pages.
//!
//! Data in memory, and data of a mapped file that fit in one window, are shuffled as a whole. Larger data of a mapped file are
//! cut into shards of neighbouring queries; the shards are shuffled, and [`SHARDS`] of them at a time are one window, within
//! which queries are shuffled. So pages are read in runs as long as a shard, and a window's pages are all there while its
//! queries are visited. The sizes are constants: the order depends on the data and the seed, never on the machine.

use crate::data::Dataset;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::cell::Cell;
use std::ops::{Deref, Range};

/// The bytes of a shard's features, about, as f32, whatever the file holds.
const SHARD: usize = 16 << 20;
/// The shards of a window.
const SHARDS: usize = 16;

/// The queries in the order of one epoch: a slice of their numbers that knows which pages come next.
#[derive(Debug)]
pub(super) struct Order {
    queries: Vec<usize>,
    windows: Vec<Window>,
    /// The shards whose pages were asked for: those of so many windows, and so many of the next one.
    asked: Cell<(usize, usize)>,
}

/// Shards whose queries are visited together.
#[derive(Debug, PartialEq, Eq)]
struct Window {
    /// The place behind its last query.
    end: usize,
    /// The queries of each shard, in the order of the file.
    shards: Vec<Range<usize>>,
}

impl Deref for Order {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.queries
    }
}

impl Order {
    /// These queries in this order, all in memory.
    pub fn of(queries: Vec<usize>) -> Self {
        Order { queries, windows: Vec::new(), asked: Cell::new((0, 0)) }
    }

    /// Drawn anew from (seed, epoch), so that a resumed run draws the same.
    pub fn draw(data: &Dataset, seed: u64, epoch: u64) -> Self {
        let shards = if data.is_mapped() { shards(data, SHARD) } else { Vec::new() };
        let (queries, windows) = draw(data.n_queries(), shards, seed, epoch);
        Order { queries, windows, asked: Cell::new((0, 0)) }
    }

    /// The query at `place` is next: asks for the pages of the window that follows as its own is visited, and gives back those
    /// of the window before.
    pub fn reach(&self, place: usize, data: &Dataset) {
        let now = self.windows.partition_point(|window| window.end <= place);
        let Some(window) = self.windows.get(now) else { return };
        let start = if now == 0 { 0 } else { self.windows[now - 1].end };
        let next = self.windows.get(now + 1).map_or(0, |next| next.shards.len());
        // As large a part of the next window as was visited of this one, and a little more.
        let share = (place - start) as f64 / (window.end - start).max(1) as f64;
        let wanted = (now + 1, next.min((share * next as f64) as usize + 1));
        let rows = |shard: &Range<usize>| data.offsets()[shard.start]..data.offsets()[shard.end];
        let mut asked = self.asked.get();
        if asked.0 <= now && now > 0 {
            self.windows[now - 1].shards.iter().for_each(|shard| data.passed(rows(shard)));
        }
        while asked < wanted {
            match self.windows[asked.0].shards.get(asked.1) {
                Some(shard) => {
                    data.will_need(rows(shard));
                    asked.1 += 1;
                }
                None => asked = (asked.0 + 1, 0),
            }
            if asked.0 >= self.windows.len() {
                break;
            }
        }
        self.asked.set(asked);
    }
}

/// Neighbouring queries of at least `size` bytes of features, or one; fewer in the last.
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

    /// As many shards of `queries` queries each, the last one shorter.
    fn even(shards: usize, queries: usize) -> (usize, Vec<Range<usize>>) {
        let all = shards * queries - queries / 2;
        (all, (0..all).step_by(queries).map(|start| start..all.min(start + queries)).collect())
    }

    #[test]
    fn what_fits_in_one_window_is_shuffled_as_a_whole() {
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
    fn every_query_is_visited_once_and_windows_are_few_shards() {
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
    fn the_order_follows_from_seed_and_epoch_alone() {
        let (queries, shards) = even(50, 20);
        let of = |seed, epoch| draw(queries, shards.clone(), seed, epoch).0;
        assert_eq!(of(1, 1), of(1, 1));
        assert_ne!(of(1, 1), of(1, 2));
        assert_ne!(of(1, 1), of(2, 1));
        // Neighbours in the file are far apart within a window: it is no sequence of shards.
        let near = of(1, 1).windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
        assert!(near < queries / 50, "{near} of {queries} queries follow their neighbours");
    }

    #[test]
    fn shards_are_neighbours_of_about_the_same_size() {
        let counts = [1, 1, 5, 2, 2, 2, 9, 1];
        let queries = counts.iter().enumerate().map(|(query, &n)| (query.to_string(), n)).collect();
        let documents = counts.iter().sum();
        let data = Dataset::new(2, vec![0.0; 2 * documents], vec![0.0; documents], queries).unwrap();
        // Four documents of two features.
        assert_eq!(shards(&data, 32), [0..3, 3..5, 5..7, 7..8]);
        assert_eq!(shards(&data, 1 << 20).first(), Some(&(0..8)));
    }
}
