//! The gradient of a batch with respect to all weights of a net, on the host's cores and without a graph.
//!
//! A batch is processed in waves of whole queries that fit into the caches: all documents are scored, then the lambdas of each
//! query are computed, then the gradient of the weights, while the rows are still in the caches. Rows in memory are not copied.
//! The documents of a wave are divided into parts of equal size, regardless of queries; each part has its own sum of gradients,
//! and these are added in order. All sizes depend on the data and the net, never on the number of threads, so the result is the
//! same to the bit for any number of threads.

use super::team::{Apart, Team};
use super::wave::{Wave, dealt};
use super::work::EpochWork;
use crate::error::{Error, Result};
use crate::memory;
use crate::model::{DocumentRows, NetShape, PartValues, Ranker, RankerConfig};
use crate::numeric::flushed;
use crate::objective::QueryResult;
use crate::train::descent::{Descent, PIECE};
use crate::train::learner::EpochTotals;
use burn::tensor::Device;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Approximate number of values of a wave, features and hidden units: as many as fit into the caches of two cores.
const WAVE: usize = 3 << 17;

/// Minimum number of documents of a part: with fewer, synchronization takes longer than the computation.
const DOCUMENTS: usize = 128;

/// Number of weights whose sum over the parts takes about as long as a document.
const WEIGHTS: usize = 256;

/// Maximum number of parts.
const PARTS: usize = 16;

/// Maximum number of pieces that the lambdas of a wave are computed in.
const LISTS: usize = 64;

/// Batches of fewer documents are computed by one thread.
const SHARED: usize = 24;

/// Updates of fewer weights, times the number of parts, are computed by one thread.
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
    /// Number of parts that have a gradient of the batch.
    active: usize,
    wave: Wave,
    /// Number of documents whose values are known to fit into memory.
    asked: usize,
}

/// Values and gradient of a part.
#[derive(Default)]
struct Part {
    values: PartValues,
    /// With respect to the weights, padded.
    gradient: Vec<f32>,
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
    /// If the weights cannot be read.
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
        self.config.ranker_of(&plain, device)
    }

    /// Computes the gradient of some of the queries of a batch of `whole` queries; returns the sums over them.
    ///
    /// # Errors
    /// If the stop flag is set, a query has labels that the objective does not support, or the values of the hidden units do not
    /// fit into memory.
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

    /// Approximate number of documents of a wave.
    fn documents_of_wave(&self) -> usize {
        (WAVE / (self.shape.features() + self.shape.values_per_document()).max(1)).clamp(DOCUMENTS, 1 << 12)
    }

    /// Prepares a batch of this number of documents.
    fn begin(&mut self, documents: usize) {
        let fitting = documents / (DOCUMENTS + self.shape.len() / WEIGHTS);
        let least = if documents < SHARED { 1 } else { 2 };
        let count = fitting.clamp(least, PARTS);
        // A power of two divides evenly among the usual numbers of threads.
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
            // SAFETY: every piece has its own part, and the places of parts do not overlap.
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
                        lambdas.iter_mut().for_each(|lambda| *lambda = flushed(*lambda / whole as f32));
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
            // SAFETY: every piece has its own part.
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

    /// Replaces the gradient of the batch by one without padding.
    pub fn replace_sum(&mut self, plain: &[f32]) {
        self.begin(0);
        self.shape.pack(plain, &mut self.parts[0].gradient);
    }

    /// Adds the gradients of the other parts to that of the first.
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

/// Keeps the error of the first query, in the order of the wave.
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
