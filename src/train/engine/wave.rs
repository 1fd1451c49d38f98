//! The part of a batch that is computed at a time: some whole queries, gathered so that their rows can be found.

use super::team::{Apart, Team};
use crate::data::Dataset;
use crate::error::Result;
use crate::objective::QueryResult;

/// Some queries of a batch.
#[derive(Default)]
pub(super) struct Wave {
    /// Where each query starts, and last the number of documents.
    pub offsets: Vec<usize>,
    /// Where each row starts in the features.
    pub starts: Vec<usize>,
    /// Copies of rows that are not in memory.
    pub copied: Vec<f32>,
    pub scores: Vec<f32>,
    pub lambdas: Vec<f32>,
    /// The queries, longest first.
    pub turns: Vec<usize>,
    pub results: Vec<QueryResult>,
}

impl Wave {
    /// Finds the rows of some queries, and copies those that are not in memory.
    pub fn gather(&mut self, team: &Team, data: &Dataset, queries: &[usize]) -> Result<()> {
        let Wave { offsets, starts, copied, scores, lambdas, turns, results } = self;
        let (width, rows) = (data.n_features(), data.offsets());
        offsets.clear();
        offsets.push(0);
        starts.clear();
        copied.clear();
        let in_memory = data.whole().is_some();
        for &query in queries {
            let own = rows[query]..rows[query + 1];
            let first = if in_memory { own.start } else { starts.len() };
            starts.extend((first..first + own.len()).map(|row| row * width));
            offsets.push(starts.len());
        }
        if !in_memory {
            copied.resize(starts.len() * width, 0.0);
            let to = Apart::new(copied);
            team.each(queries.len(), |place| {
                // SAFETY: every piece has its own query.
                let to = unsafe { to.cut(offsets[place] * width..offsets[place + 1] * width) };
                data.copy_query(queries[place], to);
            });
        }
        scores.resize(starts.len(), 0.0);
        lambdas.resize(starts.len(), 0.0);
        results.clear();
        results.resize(queries.len(), QueryResult::default());
        turns.clear();
        turns.extend(0..queries.len());
        turns.sort_unstable_by_key(|&place| (offsets[place] as isize - offsets[place + 1] as isize, place));
        Ok(())
    }
}

/// The first turn of a piece. Pieces are taken from both ends, so even turns are at the front and odd ones at the back.
pub(super) fn dealt(piece: usize, pieces: usize) -> usize {
    if 2 * piece < pieces { 2 * piece } else { 2 * (pieces - 1 - piece) + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_dealt_to_both_ends() {
        let all = |pieces| (0..pieces).map(|piece| dealt(piece, pieces)).collect::<Vec<_>>();
        assert_eq!(all(5), [0, 2, 4, 3, 1]);
        assert_eq!(all(4), [0, 2, 3, 1]);
        assert_eq!(all(1), [0]);
    }
}
