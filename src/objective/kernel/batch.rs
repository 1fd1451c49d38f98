//! Many queries at once, in parallel, with the same bytes for any number of threads.

use super::{Kernel, QueryResult, Scratch, Want};
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::cell::Cell;

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Lends this thread's scratch memory.
///
/// It is taken, not borrowed: while a long query waits for its parts, its thread may start another query.
fn with_scratch<T>(run: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    let result = run(&mut scratch);
    SCRATCH.set(Some(scratch));
    result
}

/// One query of a batch.
pub(super) struct Task<'a> {
    pub scores: &'a [f32],
    pub labels: &'a [f32],
    pub gradient: &'a mut [f32],
}

/// A batch of fewer pairs takes less than 0.1 ms: not worth waking a second thread.
const FEW_PAIRS: usize = 200_000;

impl Kernel {
    /// The gradients of a batch of whole queries and the sums over their pairs.
    ///
    /// `offsets` holds where each query starts, and last the number of documents. `gradient` is overwritten with
    /// `dC/ds` of each query's SUM over pairs: the caller divides by the number of queries.
    ///
    /// # Errors
    /// When the lengths do not fit together, or as [`Kernel::query`].
    ///
    /// ```
    /// use burnrank::{Kernel, Want, Weighting};
    /// let kernel = Kernel::new(Weighting::RankNet { ties: false });
    /// let mut gradient = [0.0; 3];
    /// let want = Want { loss: true, pairs: true };
    /// let sums = kernel.batch(&[0.0, 0.0, 5.0], &[1.0, 0.0, 1.0], &[0, 2, 3], &mut gradient, want)?;
    /// assert_eq!((sums.pairs, gradient), (1, [-0.5, 0.5, 0.0]));
    /// assert!((sums.loss - 2f64.ln()).abs() < 1e-6);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    pub fn batch(
        &self,
        scores: &[f32],
        labels: &[f32],
        offsets: &[usize],
        gradient: &mut [f32],
        want: Want,
    ) -> Result<QueryResult> {
        let tasks = self.split(scores, labels, offsets, gradient)?;
        let run =
            |task: Task| with_scratch(|scratch| self.query(task.scores, task.labels, task.gradient, scratch, want));
        let pairs: usize = tasks.iter().map(|task| task.scores.len().pow(2) / 2).sum();
        if tasks.len() == 1 || pairs < FEW_PAIRS {
            return tasks.into_iter().map(run).sum();
        }
        // Added up in the order of the queries, so that the number of threads never shows.
        let results: Result<Vec<QueryResult>> = tasks.into_par_iter().map(run).collect();
        Ok(results?.into_iter().sum())
    }

    /// The queries of a batch, each with its part of the gradient.
    pub(super) fn split<'a>(
        &self,
        scores: &'a [f32],
        labels: &'a [f32],
        offsets: &[usize],
        gradient: &'a mut [f32],
    ) -> Result<Vec<Task<'a>>> {
        let n = scores.len();
        let fits = offsets.first() == Some(&0) && offsets.last() == Some(&n) && offsets.is_sorted();
        if !fits || labels.len() != n || gradient.len() != n {
            let (labels, gradients) = (labels.len(), gradient.len());
            return Err(Error::Mismatch(format!(
                "{n} scores, {labels} labels and {gradients} gradients do not fit the queries' offsets"
            )));
        }
        let mut rest = gradient;
        Ok(offsets
            .windows(2)
            .map(|ends| {
                let rows = ends[0]..ends[1];
                let (gradient, behind) = std::mem::take(&mut rest).split_at_mut(rows.len());
                rest = behind;
                Task { scores: &scores[rows.clone()], labels: &labels[rows], gradient }
            })
            .collect())
    }
}
