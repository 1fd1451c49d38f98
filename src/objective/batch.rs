//! Many queries at once, in parallel, with the same bytes for any number of threads.

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
    /// Where each query starts, and last the number of documents.
    pub offsets: &'a [usize],
}

impl Batch<'_> {
    /// The number of queries.
    pub fn n_queries(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The documents of one query.
    pub fn rows(&self, query: usize) -> Range<usize> {
        self.offsets[query]..self.offsets[query + 1]
    }
}

thread_local! {
    static SCRATCH: Cell<Option<Box<LossScratch>>> = const { Cell::new(None) };
}

/// Lends this thread's scratch memory.
///
/// It is taken, not borrowed: while a long query waits for its parts, its thread may start another query.
fn with_scratch<T>(run: impl FnOnce(&mut LossScratch) -> T) -> T {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    let result = run(&mut scratch);
    SCRATCH.set(Some(scratch));
    result
}

/// A batch of fewer pairs takes less than 0.1 ms: not worth waking a second thread.
const FEW_PAIRS: usize = 200_000;

/// The slopes of a batch of whole queries, each query's own, and the sums over all queries.
///
/// `seeds` holds one number per query for losses that draw, and is not looked at otherwise.
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
    let fits = offsets.first() == Some(&0) && offsets.last() == Some(&n) && offsets.is_sorted();
    let hessian = to.hessian.as_ref().map_or(n, |hessian| hessian.len());
    if !fits || labels.len() != n || to.gradient.len() != n || hessian != n {
        let (labels, gradients) = (labels.len(), to.gradient.len());
        return Err(Error::Mismatch(format!(
            "{n} scores, {labels} labels and {gradients} gradients do not fit the queries' offsets"
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
        // Whatever a loss that was stopped gave is not whole.
        stop.check().and(result)
    };
    let pairs: usize = offsets.windows(2).map(|ends| (ends[1] - ends[0]).pow(2) / 2).sum();
    if batch.n_queries() == 1 || pairs < FEW_PAIRS {
        return queries.map(run).sum();
    }
    let queries: Vec<_> = queries.collect();
    // Added up in the order of the queries, so that the number of threads never shows.
    let results: Result<Vec<QueryResult>> = queries.into_par_iter().map(run).collect();
    Ok(results?.into_iter().sum())
}

/// Takes the first numbers off a slice.
fn front<'a>(rest: &mut &'a mut [f32], length: usize) -> &'a mut [f32] {
    let (own, behind) = std::mem::take(rest).split_at_mut(length);
    *rest = behind;
    own
}

/// Makes the sum over so many queries their mean.
pub(crate) fn mean_over(queries: usize, mut sum: QueryResult, gradient: &mut [f32]) -> QueryResult {
    if queries > 1 {
        gradient.iter_mut().for_each(|slope| *slope /= queries as f32);
    }
    sum.loss /= queries.max(1) as f64;
    sum
}
