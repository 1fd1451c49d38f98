//! The gradient of a batch by all weights of a net, on the host's cores and without a graph.
//!
//! A batch is taken in waves of whole queries that fit into the caches: all documents are scored, then come the lambdas of each
//! query, then the gradients, while the rows are still there. Rows in memory are read where they are. The documents of a wave
//! are cut into parts of the same size, whatever the queries; each part adds up a gradient of its own, and those are added in
//! order. All sizes depend on the data and the net, never on the number of threads, so neither does a bit of the result.

use super::team::{Apart, Team};
use crate::data::{Dataset, Targets};
use crate::error::{Error, Result};
use crate::memory;
use crate::model::{DocumentRows, NetShape, PartValues, Ranker, RankerConfig};
use crate::objective::{Batch, Gradients, Objective, Outputs, QueryResult};
use crate::stop::Stop;
use crate::train::descent::{Descent, PIECE};
use crate::train::learner::{EpochStart, EpochTotals, query_seed};
use burn::tensor::Device;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Numbers of a wave, about: features, and values of hidden units. With more it would leave the caches of two cores.
const WAVE: usize = 3 << 17;

/// Documents of a part, at least: with fewer, sharing takes longer than they do.
const DOCUMENTS: usize = 128;

/// Weights whose sum over the parts takes about as long as a document.
const WEIGHTS: usize = 256;

/// Maximum number of parts.
const PARTS: usize = 16;

/// Maximum number of pieces that the lambdas of a wave are computed in.
const LISTS: usize = 64;

/// A batch of fewer documents is not worth a second thread.
const SHARED: usize = 24;

/// Updates of fewer weights, counted in each part, are not worth a second thread.
const SHARED_WEIGHTS: usize = 1 << 15;

/// A net's weights, and the memory that its batches are computed in.
pub(super) struct Workspace {
    config: RankerConfig,
    shape: NetShape,
    /// The places of each parameter.
    parameters: Vec<Range<usize>>,
    /// Padded.
    pub weights: Vec<f32>,
    /// Derived from the weights.
    derived: Vec<f32>,
    parts: Vec<Part>,
    /// Of the batch: parts that have a gradient.
    active: usize,
    wave: Wave,
    /// Documents whose values are known to fit into memory.
    asked: usize,
}

/// What the documents of a part add up to.
#[derive(Default)]
struct Part {
    values: PartValues,
    /// By the weights, padded.
    gradient: Vec<f32>,
}

/// Some queries of a batch.
#[derive(Default)]
struct Wave {
    /// Where each query starts, and last the number of documents.
    offsets: Vec<usize>,
    /// Where each row starts among the features.
    starts: Vec<usize>,
    /// Rows that are not in memory.
    copied: Vec<f32>,
    scores: Vec<f32>,
    lambdas: Vec<f32>,
    /// The queries, long ones first.
    turns: Vec<usize>,
    results: Vec<QueryResult>,
}

/// What the batches of an epoch have in common.
pub(super) struct EpochWork<'e> {
    objective: &'e Objective,
    data: &'e Dataset,
    targets: Option<&'e Targets>,
    stop: &'e Stop,
    draws: u64,
    /// The number of the first query of the data among those of all processes.
    first: usize,
}

impl<'e> EpochWork<'e> {
    pub fn new(epoch: &EpochStart<'e>, first: usize) -> Self {
        EpochWork {
            objective: &epoch.config.objective,
            data: epoch.data,
            targets: epoch.targets,
            stop: epoch.stop,
            draws: epoch.draws(),
            first,
        }
    }

    /// The lambdas of one query, and its sums.
    fn lambdas(&self, query: usize, scores: &[f32], lambdas: &mut [f32]) -> Result<QueryResult> {
        let labels = &self.data.labels()[self.data.offsets()[query]..self.data.offsets()[query + 1]];
        let batch = Batch { labels, offsets: &[0, scores.len()] };
        if let Some(targets) = self.targets {
            lambdas.fill(0.0);
            let pairs = std::iter::once(targets.query(query));
            return self.objective.target_sum(scores, batch, pairs, lambdas, self.stop);
        }
        let seed = query_seed(self.draws, self.first + query);
        let outputs = Outputs { loss: true, pairs: true };
        self.objective.gradients(scores, batch, Gradients::gradient(lambdas), outputs, &[seed], self.stop)
    }
}

impl Workspace {
    /// # Errors
    /// If the weights cannot be read.
    pub fn new(ranker: &Ranker) -> Result<Self> {
        let config = ranker.config();
        let shape = NetShape::new(&config);
        let mut workspace = Workspace {
            parameters: shape.parameters(),
            config,
            shape,
            weights: Vec::new(),
            derived: Vec::new(),
            parts: Vec::new(),
            active: 0,
            wave: Wave::default(),
            asked: 0,
        };
        workspace.load(ranker)?;
        Ok(workspace)
    }

    /// A workspace with the weights of a ranker, which reuses the memory of the epoch before.
    ///
    /// # Errors
    /// If the weights cannot be read.
    pub fn reuse<'w>(before: &'w mut Option<Workspace>, ranker: &Ranker) -> Result<&'w mut Workspace> {
        match before {
            Some(workspace) => {
                workspace.load(ranker)?;
                Ok(workspace)
            }
            none => Ok(none.insert(Workspace::new(ranker)?)),
        }
    }

    /// Copies the weights of a ranker of the same shape.
    ///
    /// # Errors
    /// When they cannot be read.
    fn load(&mut self, ranker: &Ranker) -> Result<()> {
        self.shape.pack(&ranker.weights()?, &mut self.weights);
        Ok(())
    }

    pub fn shape(&self) -> &NetShape {
        &self.shape
    }

    /// A ranker of these weights.
    ///
    /// # Errors
    /// Never: the shape is that of a ranker.
    pub fn ranker(&self, device: &Device) -> Result<Ranker> {
        let mut plain = Vec::new();
        self.shape.unpack(&self.weights, &mut plain);
        self.config.from_flat(&plain, device)
    }

    /// Computes the gradient of some of the queries of a batch of `whole` queries; returns the sums over them.
    ///
    /// # Errors
    /// When the run is to stop, a query has labels that the objective does not take, or the values of the hidden units do not fit
    /// into memory.
    pub fn gradient(
        &mut self,
        team: &Team,
        work: &EpochWork<'_>,
        queries: &[usize],
        whole: usize,
        totals: &mut EpochTotals,
    ) -> Result<QueryResult> {
        let offsets = work.data.offsets();
        let length = |query: usize| offsets[query + 1] - offsets[query];
        let documents = queries.iter().map(|&query| length(query)).sum();
        self.begin(documents);
        let most = self.documents_of_wave();
        let mut sum = QueryResult::default();
        let (mut start, mut gathered) = (0, 0);
        for (place, &query) in queries.iter().enumerate() {
            if place > start && gathered + length(query) > most {
                sum = sum + self.wave(team, work, &queries[start..place], whole, totals, start == 0)?;
                (start, gathered) = (place, 0);
            }
            gathered += length(query);
        }
        let sum = sum + self.wave(team, work, &queries[start..], whole, totals, start == 0)?;
        let Workspace { shape, parts, active, .. } = self;
        let of_parts = Apart::new(&mut parts[..*active]);
        let rounds = if shape.is_encoded() { *active } else { 0 };
        // SAFETY: every piece has a part of its own.
        team.each(rounds, |part| shape.by_weights(&mut unsafe { of_parts.cut(part..part + 1) }[0].gradient));
        Ok(sum)
    }

    /// Documents of a wave, about.
    fn documents_of_wave(&self) -> usize {
        (WAVE / (self.shape.features() + self.shape.values_per_document()).max(1)).clamp(DOCUMENTS, 1 << 12)
    }

    /// Prepares a batch of this number of documents.
    fn begin(&mut self, documents: usize) {
        let fitting = documents / (DOCUMENTS + self.shape.len() / WEIGHTS);
        let least = if documents < SHARED { 1 } else { 2 };
        let count = fitting.clamp(least, PARTS);
        // A power of two, so that no thread waits for the last part.
        self.active = if count.is_power_of_two() { count } else { count.next_power_of_two() / 2 };
        if self.parts.len() < self.active {
            self.parts.resize_with(self.active, Part::default);
        }
        for part in &mut self.parts[..self.active] {
            part.gradient.resize(self.shape.len(), 0.0);
        }
        self.shape.derive(&self.weights, &mut self.derived);
    }

    /// Adds the gradient of some queries to those of the parts.
    fn wave(
        &mut self,
        team: &Team,
        work: &EpochWork<'_>,
        queries: &[usize],
        whole: usize,
        totals: &mut EpochTotals,
        fresh: bool,
    ) -> Result<QueryResult> {
        work.stop.check()?;
        let Workspace { shape, weights, derived, parts, active, wave, asked, .. } = self;
        let (shape, weights) = (&*shape, [&weights[..], &derived[..]]);
        wave.gather(team, work.data, queries)?;
        let documents = wave.scores.len();
        if documents > *asked {
            ask_for_units(shape, documents)?;
            *asked = documents;
        }
        let parts = &mut parts[..*active];
        let count = parts.len();
        let places = |part: usize| documents * part / count..documents * (part + 1) / count;
        let Wave { offsets, starts, copied, scores, lambdas, turns, results } = wave;
        let width = shape.features();
        let (copied, starts) = (&copied[..], &starts[..]);
        let features = if copied.is_empty() { work.data.whole().unwrap_or(copied) } else { copied };
        let rows = |part: usize| DocumentRows { features, starts: &starts[places(part)], width };

        let (of_parts, of_scores) = (Apart::new(parts), Apart::new(scores));
        team.each(count, |part| {
            if work.stop.asked() {
                return;
            }
            // SAFETY: every piece has a part of its own, and the places of parts do not overlap.
            let (own, scores) = unsafe { (&mut of_parts.cut(part..part + 1)[0], of_scores.cut(places(part))) };
            shape.forward(weights, rows(part), &mut own.values, scores);
        });
        work.stop.check()?;

        let failed = Mutex::new(None);
        let (of_lambdas, of_results) = (Apart::new(lambdas), Apart::new(results));
        let pieces = queries.len().min(LISTS);
        team.each(pieces, |piece| {
            for &place in turns[dealt(piece, pieces)..].iter().step_by(pieces) {
                let own = offsets[place]..offsets[place + 1];
                // SAFETY: every query is in one piece.
                let (lambdas, result) =
                    unsafe { (of_lambdas.cut(own.clone()), &mut of_results.cut(place..place + 1)[0]) };
                match work.lambdas(queries[place], &scores[own], lambdas) {
                    Ok(found) => {
                        *result = found;
                        if whole > 1 {
                            lambdas.iter_mut().for_each(|lambda| *lambda /= whole as f32);
                        }
                    }
                    Err(error) => return keep_first(&failed, place, error),
                }
            }
        });
        if let Some((_, error)) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        work.stop.check()?;

        let of_parts = Apart::new(parts);
        team.each(count, |part| {
            if work.stop.asked() {
                return;
            }
            // SAFETY: every piece has a part of its own.
            let own = unsafe { &mut of_parts.cut(part..part + 1)[0] };
            let by_scores = &lambdas[places(part)];
            shape.backward(weights, rows(part), &mut own.values, by_scores, fresh, &mut own.gradient);
        });
        work.stop.check()?;
        totals.keep_scores(work.data, queries, scores);
        Ok(results.iter().copied().sum())
    }

    /// The gradient of the batch, without padding.
    pub fn sum(&mut self) -> Vec<f32> {
        self.add_parts();
        let mut plain = Vec::new();
        self.shape.unpack(&self.parts[0].gradient, &mut plain);
        plain
    }

    /// Takes a gradient without padding for that of the batch.
    pub fn replace_sum(&mut self, plain: &[f32]) {
        self.begin(0);
        self.shape.pack(plain, &mut self.parts[0].gradient);
    }

    /// Adds up the gradients of the parts in the first of them.
    fn add_parts(&mut self) {
        let [sum, others @ ..] = &mut self.parts[..self.active] else { return };
        for other in others {
            sum.gradient.iter_mut().zip(&other.gradient).for_each(|(sum, slope)| *sum += slope);
        }
        self.active = 1;
    }

    /// Updates the weights by the gradient of the batch.
    pub fn update(&mut self, team: &Team, descent: &mut Descent, learning_rate: f64) {
        let step = descent.next(learning_rate);
        if descent.clips() {
            self.add_parts();
            descent.clip(&self.parameters, &mut self.parts[0].gradient);
        }
        let Workspace { weights, parts, active, .. } = self;
        let (length, parts) = (weights.len(), &parts[..*active]);
        let [first, second] = descent.moments().map(Apart::new);
        let weights = Apart::new(weights);
        let run = |piece: usize| {
            let places = piece * PIECE..length.min((piece + 1) * PIECE);
            let moment = |moments: &Apart<f32>| if moments.is_empty() { 0..0 } else { places.clone() };
            // SAFETY: pieces do not overlap.
            let (weights, moments) =
                unsafe { (weights.cut(places.clone()), [first.cut(moment(&first)), second.cut(moment(&second))]) };
            match parts {
                [only] => step.update(weights, &only.gradient[places], moments),
                [sum, others @ ..] => {
                    let mut all = [0.0; PIECE];
                    let all = &mut all[..places.len()];
                    all.copy_from_slice(&sum.gradient[places.clone()]);
                    for other in others {
                        all.iter_mut().zip(&other.gradient[places.clone()]).for_each(|(sum, slope)| *sum += slope);
                    }
                    step.update(weights, all, moments);
                }
                [] => {}
            }
        };
        let pieces = length.div_ceil(PIECE);
        if length * parts.len() < SHARED_WEIGHTS {
            (0..pieces).for_each(run);
        } else {
            team.each(pieces, run);
        }
    }
}

/// Keeps the error of the first query that has one.
fn keep_first(failed: &Mutex<Option<(usize, Error)>>, place: usize, error: Error) {
    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
    if failed.as_ref().is_none_or(|(other, _)| place < *other) {
        *failed = Some((place, error));
    }
}

/// Refuses hidden units that do not fit into memory for this number of documents.
fn ask_for_units(shape: &NetShape, documents: usize) -> Result<()> {
    let values = (documents as u64).saturating_mul(shape.values_per_document() as u64);
    let what = format!("{} hidden units for {documents} documents", shape.units());
    memory::ask(memory::bytes_of::<f32>(values), &what, "use fewer `hidden` units or `batch_queries`")
}

impl Wave {
    /// Finds the rows of some queries, and copies those that are not in memory.
    fn gather(&mut self, team: &Team, data: &Dataset, queries: &[usize]) -> Result<()> {
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
                // SAFETY: every piece has a query of its own.
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

/// The turn that a piece begins with: even ones from the front, odd ones from the back, as pieces are taken from both ends.
fn dealt(piece: usize, pieces: usize) -> usize {
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
