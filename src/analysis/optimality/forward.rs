//! Evaluates a metric at many points of weight space with one forward pass per point: for nets with several hidden layers, whose
//! scores cannot be updated incrementally.

use super::sweep::{Part, Sweep};
use crate::error::Result;
use crate::memory;
use rayon::prelude::*;

impl Sweep<'_> {
    /// Returns the mean of the metric at each of `count` points. `move_to` changes a copy of the net's weights to the weights of a
    /// point.
    ///
    /// Scores are bit-identical to those of a model with these weights. Calls `progress` with the completed fraction.
    pub(super) fn at_points(
        &self,
        count: usize,
        move_to: impl Fn(usize, &mut [f32]) + Sync,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Vec<f64>> {
        let mut sums = vec![self.constant; count];
        self.ask_for_rankers()?;
        let original = self.net.at(&self.net.weights);
        for (done, queries) in self.parts.iter().enumerate() {
            let part = Part { queries: queries.clone(), rows: self.rows(queries), received: &[] };
            let features = self.net.features();
            let documents = &self.data.features()[part.rows.start * features..part.rows.end * features];
            let mut original_scores = vec![0.0; part.rows.len()];
            original.score_blocks(documents, &mut original_scores);
            let orders = self.orders(&part, |span, scores| scores.extend_from_slice(&original_scores[span]));
            sums.par_iter_mut().enumerate().for_each_init(
                || (self.workspace(), Vec::new()),
                |(space, weights), (point, sum)| {
                    weights.clone_from(&self.net.weights);
                    move_to(point, weights);
                    space.scores.resize(part.rows.len(), 0.0);
                    self.net.at(weights).score_blocks(documents, &mut space.scores);
                    self.each_query(&part, |_, subject, span| {
                        space.follow.start(&orders[span.clone()]);
                        *sum += space.follow.value(subject, &space.scores[span]);
                    });
                },
            );
            progress((done + 1) as f64 / self.parts.len() as f64);
        }
        sums.iter_mut().for_each(|sum| *sum /= self.counted);
        Ok(sums)
    }

    /// Reserves memory: each thread holds a copy of the weights, a second one in scoring order, and the scores of a part.
    fn ask_for_rankers(&self) -> Result<()> {
        let longest = self.parts.iter().map(|queries| self.rows(queries).len()).max().unwrap_or(0);
        let each = 2 * self.net.weights.len() as u64 + longest as u64;
        let threads = rayon::current_num_threads() as u64 + 1;
        memory::ask(
            memory::bytes_of::<f32>(each).saturating_mul(threads),
            "certifying a model of this size",
            "use a smaller model or fewer `threads`",
        )
    }
}
