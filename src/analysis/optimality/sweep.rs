//! A measure along many lines through weight space, all documents, all cores.
//!
//! What a unit receives is affine in the step: `z(eta) = x W + b + eta (x R + r)`. So two matrix products, shared by all
//! directions of a block, serve all steps; what is left for each step is the hidden units' function, the sort and the measure.
//! That is so for linear nets and for nets of one hidden layer; others take the way of [`Sweep::at_points`].
//!
//! Products, hidden units and sums are those of scoring, on the host: without a step the scores are the model's own, bit by
//! bit, and equal documents have equal scores at every step.

mod moving;

use super::movable::MovableNet;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::memory;
use crate::metric::{self, Conventions, Empty, IncrementalEvaluator, LabelledQuery, Metric};
use crate::model::{Columns, GROUP, add_moved_unit};
use rayon::prelude::*;
use std::ops::Range;

/// Documents of one part: their products with a block of directions stay near the cores.
const ROWS: usize = 4096;
/// Columns of one product, units times directions.
const COLUMNS: usize = 1024;
/// Directions of one pass where nothing is shared between them.
const DIRECTIONS: usize = 64;

/// A net on its data, ready to be moved.
pub(super) struct Sweep<'a> {
    pub net: &'a MovableNet,
    pub(super) data: &'a Dataset,
    metric: &'a dyn Metric,
    conventions: Conventions,
    /// Ranges of whole queries of about [`ROWS`] documents.
    pub(super) parts: Vec<Range<usize>>,
    /// What stays the same about each query; nothing where its value does not depend on the scores at all.
    subjects: Vec<Option<LabelledQuery<'a>>>,
    /// The sum over all other queries, and the number of queries that count.
    pub(super) constant: f64,
    pub(super) counted: f64,
    /// The mean at the net's own weights.
    pub value: f64,
}

/// The documents of a part and what their units receive, unit by unit.
pub(super) struct Part<'p> {
    pub queries: Range<usize>,
    pub rows: Range<usize>,
    /// `[columns, documents]`, the net's own columns first; nothing where a forward pass is made for each point.
    pub received: &'p [f32],
}

impl<'a> Sweep<'a> {
    /// # Errors
    /// Data of another width or without queries that count, or labels that the measure refuses.
    pub fn new(
        net: &'a MovableNet,
        data: &'a Dataset,
        metric: &'a dyn Metric,
        conventions: Conventions,
    ) -> Result<Self> {
        if data.n_features() != net.features() {
            let (net, data) = (net.features(), data.n_features());
            return Err(Error::Mismatch(format!("the model scores {net} features, the data has {data}")));
        }
        // The checked way first, because the fast one trusts its labels.
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
            return Err(Error::Data(format!("no query has anything that {} could find", metric.name())));
        }
        let parts = parts(data.offsets());
        let counted = counted as f64;
        let mut sweep = Sweep { net, data, metric, conventions, parts, subjects, constant, counted, value: 0.0 };
        // Any direction will do for no step at all.
        sweep.value = sweep.along(&[vec![0.0; net.weights.len()]], &[0.0], &mut |_| ())?[0];
        Ok(sweep)
    }

    /// Directions that share a pass over the data: fewer where a part is a long query.
    pub fn block(&self) -> usize {
        if self.net.depth() > 1 {
            // Nothing is shared, so that fewer would do as well.
            return DIRECTIONS;
        }
        let longest = self.parts.iter().map(|queries| self.rows(queries).len()).max().unwrap_or(0);
        let columns = COLUMNS * ROWS / longest.max(ROWS);
        (columns / self.net.units()).saturating_sub(1).max(1)
    }

    pub(super) fn rows(&self, queries: &Range<usize>) -> Range<usize> {
        self.data.offsets()[queries.start]..self.data.offsets()[queries.end]
    }

    /// The mean of the measure at each step along each direction, the steps of a direction side by side.
    ///
    /// Calls back with the share of the work that is done.
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
            let own = part.units(0, units);
            let orders = self.orders(part, |span, scores| self.score_still(&own, span, scores));
            let lines = sums.par_chunks_mut(steps.len().max(1)).zip(directions).enumerate();
            lines.for_each_init(
                || self.workspace(),
                |space, (index, (sums, direction))| {
                    let moved = part.units(index + 1, units);
                    self.each_query(part, |_, subject, span| {
                        space.follow.start(&orders[span.clone()]);
                        for (&step, sum) in steps.iter().zip(&mut *sums) {
                            self.score_along(&own, &moved, direction, step as f32, span.clone(), &mut space.scores);
                            *sum += space.follow.value(subject, &space.scores);
                        }
                    });
                },
            );
        })
    }

    /// As [`Sweep::along`], each of the weights moved alone. No product is needed: the column of a weight is a feature.
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
            let own = part.units(0, units);
            let orders = self.orders(part, |span, scores| self.score_still(&own, span, scores));
            let lines = sums.par_chunks_mut(steps.len().max(1)).zip(weights.clone());
            lines.for_each_init(
                || self.workspace(),
                |space, (sums, weight)| {
                    self.each_query(part, |query, subject, span| {
                        space.follow.start(&orders[span.clone()]);
                        let moving = self.moving(weight, &own, &self.data.query(query).features, span, space);
                        for (&step, sum) in steps.iter().zip(&mut *sums) {
                            moving.score(step as f32, space);
                            *sum += space.follow.value(subject, &space.scores);
                        }
                    });
                },
            );
        })
    }

    /// Means from sums over queries, part after part, in the order of the data whatever the number of threads.
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
            memory::ask(
                4 * size as u64,
                "certifying the longest query",
                "certify on shorter queries, or a narrower net",
            )?;
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

    /// The ranking of each query at the net's own weights, where every line starts.
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

    /// Scores of the documents `span` of a part at the net's own weights.
    fn score_still(&self, own: &[&[f32]], span: Range<usize>, scores: &mut Vec<f32>) {
        self.score_along(own, own, &self.net.weights, 0.0, span, scores);
    }

    /// Scores of the documents `span` of a part at `weights + step * direction`.
    fn score_along(
        &self,
        own: &[&[f32]],
        moved: &[&[f32]],
        direction: &[f32],
        step: f32,
        span: Range<usize>,
        scores: &mut Vec<f32>,
    ) {
        scores.clear();
        let Some(activation) = self.net.activation() else {
            scores.extend_from_slice(&own[0][span.clone()]);
            move_by(scores, step, &moved[0][span]);
            return;
        };
        scores.resize(span.len(), 0.0);
        let outputs = self.net.output(&self.net.weights).iter().zip(self.net.output(direction));
        for ((own, moved), (weight, change)) in own.iter().zip(moved).zip(outputs) {
            let (own, moved) = (&own[span.clone()], &moved[span.clone()]);
            add_moved_unit(activation, own, moved, step, weight + step * change, scores);
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
    /// What each unit receives from block `index` of the columns.
    fn units(&self, index: usize, units: usize) -> Vec<&'p [f32]> {
        let documents = self.rows.len();
        (index * units..(index + 1) * units).map(|unit| &self.received[unit * documents..][..documents]).collect()
    }
}

/// What a thread works with.
pub(super) struct Workspace<'a> {
    pub follow: IncrementalEvaluator<'a>,
    pub scores: Vec<f32>,
    /// For a weight that moves alone: what the units before its own add to each score.
    before: Vec<f32>,
    /// What its unit receives for each unit of a step.
    column: Vec<f32>,
    /// What each unit after its own adds to each score, `[units, documents]`.
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
