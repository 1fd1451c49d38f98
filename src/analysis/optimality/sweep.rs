//! Evaluates a metric along many lines through weight space, in parallel over directions.
//!
//! The input of a unit is affine in the step: `z(eta) = x W + b + eta (x R + r)`. Two matrix products, shared by all directions
//! of a block, therefore serve all steps. What remains per step are the activation, the sort and the metric. This applies to
//! linear nets and nets with one hidden layer; deeper nets use [`Sweep::at_points`].
//!
//! Products, hidden units and sums use the arithmetic of host scoring: at step 0 the scores are bit-identical to the model's, and
//! equal documents have equal scores at every step.

mod moving;

use super::movable::MovableNet;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::memory;
use crate::metric::{self, Conventions, Empty, IncrementalEvaluator, LabelledQuery, Metric};
use crate::model::{Columns, GROUP, add_moved_unit};
use rayon::prelude::*;
use std::ops::Range;

/// Number of documents per part: its products with a block of directions stay in cache.
const ROWS: usize = 4096;
/// Number of columns per product: units times directions.
const COLUMNS: usize = 1024;
/// Number of directions per pass for nets that share no products.
const DIRECTIONS: usize = 64;

/// A net and data, prepared for moving the weights.
pub(super) struct Sweep<'a> {
    pub net: &'a MovableNet,
    pub(super) data: &'a Dataset,
    metric: &'a dyn Metric,
    conventions: Conventions,
    /// Ranges of whole queries with about [`ROWS`] documents each.
    pub(super) parts: Vec<Range<usize>>,
    /// Precomputed values for each query; `None` if its metric value does not depend on the scores.
    subjects: Vec<Option<LabelledQuery<'a>>>,
    /// Sum of the metric over queries that do not depend on the scores.
    pub(super) constant: f64,
    /// Number of queries in the mean.
    pub(super) counted: f64,
    /// Mean of the metric at the net's weights.
    pub value: f64,
}

/// The documents of a part and the inputs of their units.
pub(super) struct Part<'p> {
    pub queries: Range<usize>,
    pub rows: Range<usize>,
    /// `[columns, documents]`, the columns of the original net first; empty if each point has its own forward pass.
    pub received: &'p [f32],
}

impl<'a> Sweep<'a> {
    /// # Errors
    /// If the number of features differs from the net's, no query has relevant documents, or the metric rejects the labels.
    pub fn new(
        net: &'a MovableNet,
        data: &'a Dataset,
        metric: &'a dyn Metric,
        conventions: Conventions,
    ) -> Result<Self> {
        if data.n_features() != net.features() {
            let (net, data) = (net.features(), data.n_features());
            return Err(Error::Mismatch(format!("the model expects {net} features, the data has {data}")));
        }
        // `evaluate` validates the labels; the incremental evaluator does not.
        metric::evaluate(metric, &vec![0.0f32; data.n_documents()], data.labels(), data.offsets(), &conventions)?;
        let live = |labels| (!metric.is_empty(labels)).then(|| LabelledQuery::new(metric, labels, &conventions));
        let subjects: Vec<Option<LabelledQuery>> = data.queries().map(|query| live(query.labels)).collect();
        let empty = subjects.iter().filter(|subject| subject.is_none()).count();
        let (constant, counted) = match conventions.empty {
            Empty::Zero => (0.0, subjects.len()),
            Empty::One => (empty as f64, subjects.len()),
            Empty::Skip => (0.0, subjects.len() - empty),
        };
        if empty == subjects.len() {
            return Err(Error::Data(format!("no query has documents that {} counts as relevant", metric.name())));
        }
        let parts = parts(data.offsets());
        let counted = counted as f64;
        let mut sweep = Sweep { net, data, metric, conventions, parts, subjects, constant, counted, value: 0.0 };
        // At step 0 the direction does not matter.
        sweep.value = sweep.along(&[vec![0.0; net.weights.len()]], &[0.0], &mut |_| ())?[0];
        Ok(sweep)
    }

    /// Number of directions per pass over the data; smaller if a part contains a long query.
    pub fn block(&self) -> usize {
        if self.net.depth() > 1 {
            return DIRECTIONS;
        }
        let longest = self.parts.iter().map(|queries| self.rows(queries).len()).max().unwrap_or(0);
        let columns = COLUMNS * ROWS / longest.max(ROWS);
        (columns / self.net.units()).saturating_sub(1).max(1)
    }

    pub(super) fn rows(&self, queries: &Range<usize>) -> Range<usize> {
        self.data.offsets()[queries.start]..self.data.offsets()[queries.end]
    }

    /// Returns the mean of the metric at each step along each direction, shaped `[directions, steps]`.
    ///
    /// Calls `progress` with the completed fraction.
    pub fn along(&self, directions: &[Vec<f32>], steps: &[f64], progress: &mut dyn FnMut(f64)) -> Result<Vec<f64>> {
        if self.net.depth() > 1 {
            let move_to = |point: usize, weights: &mut [f32]| {
                let (direction, step) = (&directions[point / steps.len()], steps[point % steps.len()] as f32);
                weights.iter_mut().zip(direction).for_each(|(weight, change)| *weight += step * change);
            };
            return self.at_points(directions.len() * steps.len(), move_to, progress);
        }
        let units = self.net.units();
        let points: Vec<&[f32]> = std::iter::once(&self.net.weights).chain(directions).map(Vec::as_slice).collect();
        self.sums(&self.net.columns(&points), directions.len() * steps.len(), progress, |part, sums| {
            let base = part.units(0, units);
            let orders = self.orders(part, |span, scores| self.score_original(&base, span, scores));
            let lines = sums.par_chunks_mut(steps.len().max(1)).zip(directions).enumerate();
            lines.for_each_init(
                || self.workspace(),
                |space, (index, (sums, direction))| {
                    let moved = part.units(index + 1, units);
                    self.each_query(part, |_, subject, span| {
                        space.follow.start(&orders[span.clone()]);
                        for (&step, sum) in steps.iter().zip(&mut *sums) {
                            self.score_along(&base, &moved, direction, step as f32, span.clone(), &mut space.scores);
                            *sum += space.follow.value(subject, &space.scores);
                        }
                    });
                },
            );
        })
    }

    /// Like [`Sweep::along`], but for each weight moved alone. Needs no product: the column of a weight is a feature.
    pub fn alone(&self, weights: Range<usize>, steps: &[f64], progress: &mut dyn FnMut(f64)) -> Result<Vec<f64>> {
        if self.net.depth() > 1 {
            let move_to = |point: usize, moved: &mut [f32]| {
                moved[weights.start + point / steps.len()] += steps[point % steps.len()] as f32;
            };
            return self.at_points(weights.len() * steps.len(), move_to, progress);
        }
        let units = self.net.units();
        let columns = self.net.columns(&[&self.net.weights]);
        self.sums(&columns, weights.len() * steps.len(), progress, |part, sums| {
            let base = part.units(0, units);
            let orders = self.orders(part, |span, scores| self.score_original(&base, span, scores));
            let lines = sums.par_chunks_mut(steps.len().max(1)).zip(weights.clone());
            lines.for_each_init(
                || self.workspace(),
                |space, (sums, weight)| {
                    self.each_query(part, |query, subject, span| {
                        space.follow.start(&orders[span.clone()]);
                        let moving = self.moving(weight, &base, &self.data.query(query).features, span, space);
                        for (&step, sum) in steps.iter().zip(&mut *sums) {
                            moving.score(step as f32, space);
                            *sum += space.follow.value(subject, &space.scores);
                        }
                    });
                },
            );
        })
    }

    /// Means over queries. Parts are added in the order of the data, so that results do not depend on the number of threads.
    fn sums(
        &self,
        columns: &Columns,
        values: usize,
        progress: &mut dyn FnMut(f64),
        mut add: impl FnMut(&Part, &mut [f64]),
    ) -> Result<Vec<f64>> {
        let mut sums = vec![self.constant; values];
        let features = self.net.features();
        for (done, queries) in self.parts.iter().enumerate() {
            let rows = self.rows(queries);
            let size = columns.len() * rows.len();
            memory::ask(4 * size as u64, "certifying the longest query", "use shorter queries or a narrower net")?;
            let mut received = vec![0.0; size];
            let documents = &self.data.features()[rows.start * features..rows.end * features];
            let groups = received.par_chunks_mut(GROUP * rows.len().max(1)).enumerate();
            groups.for_each(|(group, received)| columns.receive(group, documents, received));
            add(&Part { queries: queries.clone(), rows, received: &received }, &mut sums);
            progress((done + 1) as f64 / self.parts.len() as f64);
        }
        sums.iter_mut().for_each(|sum| *sum /= self.counted);
        Ok(sums)
    }

    pub(super) fn each_query(&self, part: &Part, mut visit: impl FnMut(usize, &LabelledQuery, Range<usize>)) {
        for query in part.queries.clone() {
            if let Some(subject) = &self.subjects[query] {
                let rows = self.data.offsets()[query]..self.data.offsets()[query + 1];
                visit(query, subject, rows.start - part.rows.start..rows.end - part.rows.start);
            }
        }
    }

    /// The ranking of each query at the net's original weights, where every line starts.
    pub(super) fn orders(&self, part: &Part, score: impl Fn(Range<usize>, &mut Vec<f32>)) -> Vec<u32> {
        let mut space = self.workspace();
        let mut orders = vec![0; part.rows.len()];
        self.each_query(part, |_, subject, span| {
            space.scores.clear();
            score(span.clone(), &mut space.scores);
            space.follow.start(&(0..span.len() as u32).collect::<Vec<_>>());
            space.follow.value(subject, &space.scores);
            orders[span].iter_mut().zip(space.follow.order()).for_each(|(to, from)| *to = from);
        });
        orders
    }

    pub(super) fn workspace(&self) -> Workspace<'a> {
        Workspace {
            follow: IncrementalEvaluator::new(self.metric, self.conventions),
            scores: Vec::new(),
            before: Vec::new(),
            column: Vec::new(),
            after: Vec::new(),
        }
    }

    /// Scores of the documents `span` of a part at the original weights.
    fn score_original(&self, base: &[&[f32]], span: Range<usize>, scores: &mut Vec<f32>) {
        self.score_along(base, base, &self.net.weights, 0.0, span, scores);
    }

    /// Scores of the documents `span` of a part at `weights + step * direction`.
    fn score_along(
        &self,
        base: &[&[f32]],
        moved: &[&[f32]],
        direction: &[f32],
        step: f32,
        span: Range<usize>,
        scores: &mut Vec<f32>,
    ) {
        scores.clear();
        let Some(activation) = self.net.activation() else {
            scores.extend_from_slice(&base[0][span.clone()]);
            move_by(scores, step, &moved[0][span]);
            return;
        };
        scores.resize(span.len(), 0.0);
        let outputs = self.net.output(&self.net.weights).iter().zip(self.net.output(direction));
        for ((base, moved), (weight, change)) in base.iter().zip(moved).zip(outputs) {
            let (base, moved) = (&base[span.clone()], &moved[span.clone()]);
            add_moved_unit(activation, base, moved, step, weight + step * change, scores);
        }
    }
}

/// Adds `step * moved` to the scores of a linear net.
fn move_by(scores: &mut [f32], step: f32, moved: &[f32]) {
    if step != 0.0 {
        scores.iter_mut().zip(moved).for_each(|(score, moved)| *score += step * moved);
    }
}

impl<'p> Part<'p> {
    /// The inputs of each unit in block `index` of the columns.
    fn units(&self, index: usize, units: usize) -> Vec<&'p [f32]> {
        let documents = self.rows.len();
        (index * units..(index + 1) * units).map(|unit| &self.received[unit * documents..][..documents]).collect()
    }
}

/// Buffers of one thread.
pub(super) struct Workspace<'a> {
    pub follow: IncrementalEvaluator<'a>,
    pub scores: Vec<f32>,
    /// For a weight moved alone: contribution of the units before the weight's unit to each score.
    before: Vec<f32>,
    /// Change of the unit's input per unit of step.
    column: Vec<f32>,
    /// Contribution of each later unit to each score, `[units, documents]`.
    after: Vec<f32>,
}

fn parts(offsets: &[usize]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for query in 1..offsets.len() {
        if query + 1 == offsets.len() || offsets[query + 1] - offsets[start] > ROWS {
            parts.push(start..query);
            start = query;
        }
    }
    parts
}

#[cfg(test)]
mod tests;
