//! Gradients of many queries in parallel, identical for any number of threads.

use super::loss::{Gradients, Loss, Outputs, Query, QueryResult};
use super::pairwise::LossScratch;
use crate::error::{Error, Result};
use crate::stop::Stop;
use rayon::prelude::*;
use std::cell::Cell;
use std::ops::Range;

/// The queries of a batch, as ranges of its flat document list.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// One label per document.
    pub labels: &'a [f32],
    /// Start of each query, followed by the number of documents.
    pub offsets: &'a [usize],
}

impl Batch<'_> {
    /// Number of queries.
    pub fn n_queries(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns whether labels and offsets are those of `n` documents.
    pub(super) fn has_length(&self, n: usize) -> bool {
        let Batch { labels, offsets } = self;
        labels.len() == n && offsets.first() == Some(&0) && offsets.last() == Some(&n) && offsets.is_sorted()
    }

    /// Documents of one query.
    pub fn rows(&self, query: usize) -> Range<usize> {
        self.offsets[query]..self.offsets[query + 1]
    }
}

thread_local! {
    static SCRATCH: Cell<Option<Box<LossScratch>>> = const { Cell::new(None) };
}

/// Lends this thread's scratch memory.
///
/// The memory is taken rather than borrowed: while a long query waits for its parts, its thread may start another
/// query.
fn with_scratch<T>(run: impl FnOnce(&mut LossScratch) -> T) -> T {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    let result = run(&mut scratch);
    SCRATCH.set(Some(scratch));
    result
}

/// Batches with fewer pairs take less than 0.1 ms: too short for a second thread.
const FEW_PAIRS: usize = 200_000;

/// Computes the gradient of each query of a batch, and sums results over the queries.
///
/// `seeds` holds one number per query for randomised losses; others ignore it.
pub(super) fn run(
    loss: &dyn Loss,
    scores: &[f32],
    batch: Batch<'_>,
    to: Gradients<'_>,
    outputs: Outputs,
    seeds: &[u64],
    stop: &Stop,
) -> Result<QueryResult> {
    let Batch { labels, offsets } = batch;
    let n = scores.len();
    let hessian = to.hessian.as_ref().map_or(n, |hessian| hessian.len());
    if !batch.has_length(n) || to.gradient.len() != n || hessian != n {
        let (labels, gradients) = (labels.len(), to.gradient.len());
        return Err(Error::Mismatch(format!(
            "{n} scores, {labels} labels and {gradients} gradients do not match the query offsets"
        )));
    }
    if loss.is_random() && seeds.len() != batch.n_queries() {
        return Err(Error::Mismatch(format!("{} seeds for {} queries", seeds.len(), batch.n_queries())));
    }
    let (mut gradient, mut hessian) = (to.gradient, to.hessian);
    let queries = (0..batch.n_queries()).map(|query| {
        let rows = batch.rows(query);
        let own = front(&mut gradient, rows.len());
        let gradients =
            Gradients { gradient: own, hessian: hessian.as_mut().map(|hessian| front(hessian, rows.len())) };
        let seed = seeds.get(query).copied().unwrap_or_default();
        (Query { scores: &scores[rows.clone()], labels: &labels[rows], seed, stop }, gradients)
    });
    let run = |(query, gradients): (Query<'_>, Gradients<'_>)| {
        stop.check()?;
        let result = with_scratch(|scratch| loss.query(query, gradients, outputs, scratch));
        // A stopped loss leaves incomplete results.
        stop.check().and(result)
    };
    let pairs: usize = offsets.windows(2).map(|ends| (ends[1] - ends[0]).pow(2) / 2).sum();
    if batch.n_queries() == 1 || pairs < FEW_PAIRS {
        return queries.map(run).sum();
    }
    let queries: Vec<_> = queries.collect();
    // Summed in query order, so results do not depend on the number of threads.
    let results: Result<Vec<QueryResult>> = queries.into_par_iter().map(run).collect();
    Ok(results?.into_iter().sum())
}

/// Splits off the first `length` numbers.
fn front<'a>(rest: &mut &'a mut [f32], length: usize) -> &'a mut [f32] {
    let (first, remaining) = std::mem::take(rest).split_at_mut(length);
    *rest = remaining;
    first
}

/// Turns sums over queries into means.
pub(crate) fn mean_over(queries: usize, mut sum: QueryResult, gradient: &mut [f32]) -> QueryResult {
    if queries > 1 {
        gradient.iter_mut().for_each(|value| *value /= queries as f32);
    }
    sum.loss /= queries.max(1) as f64;
    sum
}
