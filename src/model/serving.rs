//! Scoring for online services: no memory allocation per call, shared by any number of threads.

use super::host::HostRoom;
use super::kernel::KernelColumn;
use super::trees::Keys;
use super::{Forest, HostRanker, KernelRanker, Model, Scorer};
use crate::data::scale::{FitBuffers, Input, Scaler, refuse_missing};
use crate::error::{Error, Result};
use crate::numeric::order;
use std::sync::Arc;

/// Scores the candidates of one query at a time from unscaled features, on the calling thread.
///
/// It is a copy of the model on the host and can be shared by threads. Each thread needs its own [`Scratch`]; once that
/// has grown to the largest query, calls allocate no memory. Scores equal those of [`Model::score`] on the host, to the
/// last bit.
///
/// ```
/// use burnrank::model::Scratch;
/// use burnrank::{Dataset, Model, ModelInfo, RankerConfig, ScaleKind, Scaler, Scorer, device};
/// let data = Dataset::new(2, vec![1.0, 5.0, 3.0, 5.0], vec![0.0, 1.0], vec![("a".into(), 2)])?;
/// let shape = RankerConfig::linear(2);
/// let model = Model {
///     scorer: Scorer::Net(shape.from_weights(&[vec![2.0, 1.0]], &device::open("auto")?)?),
///     info: ModelInfo::new(shape, Scaler::fit(ScaleKind::ZScore, &data), "by hand"),
///     history: vec![],
/// };
/// let serving = model.serving()?;
/// let mut scratch = Scratch::default();
/// // Scaled, the three candidates are (-1, 0), (1, 0) and (0, 0).
/// let ranked = serving.rank(&[1.0, 5.0, 3.0, 5.0, 2.0, 5.0], &mut scratch)?;
/// assert_eq!(ranked.scores, [-2.0, 2.0, 0.0]);
/// assert_eq!(ranked.order, [1, 2, 0]);
///
/// // Each thread has its own scratch.
/// std::thread::scope(|scope| {
///     scope.spawn(|| serving.score(&[3.0, 5.0], &mut Scratch::default()).map(<[f32]>::to_vec)).join().unwrap()
/// })?;
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ServingScorer {
    features: usize,
    scaler: Scaler,
    /// The inputs that the scaler computes.
    list: Vec<Input>,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Net(Arc<HostRanker>),
    Trees(Arc<Forest>),
    Kernel(Arc<KernelRanker>),
}

/// Buffers for the calls of one thread; they grow to the size of the largest query.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    rows: Vec<f32>,
    inputs: Vec<f32>,
    fit: FitBuffers,
    net: HostRoom,
    keys: Vec<Keys>,
    sums: Vec<f64>,
    columns: Vec<KernelColumn>,
    scores: Vec<f32>,
    sorted: Vec<u64>,
    spare: Vec<u64>,
    order: Vec<u32>,
}

/// Scores and order of a query's candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked<'a> {
    /// One score per candidate, in the order given.
    pub scores: &'a [f32],
    /// Candidate indices from best to worst, from 0; equal scores keep the order given.
    pub order: &'a [u32],
}

impl Model {
    /// Creates a [`ServingScorer`].
    ///
    /// # Errors
    /// If the weights cannot be copied from their device, or there is not enough memory.
    pub fn serving(&self) -> Result<ServingScorer> {
        self.info.ranker.check()?;
        let (features, inputs) = (self.info.n_features(), self.info.ranker.features);
        let kind = match &self.scorer {
            Scorer::Net(ranker) => Kind::Net(Arc::new(HostRanker::of(ranker)?)),
            Scorer::Trees(forest) => {
                // Compile the trees now rather than at the first query.
                forest.score_rows_in(&[], inputs, &mut [], &mut Vec::new())?;
                Kind::Trees(forest.clone())
            }
            Scorer::Kernel(ranker) => Kind::Kernel(Arc::new(ranker.clone())),
        };
        if self.scorer.config().features != inputs || self.info.scaler.n_inputs() != inputs {
            return Err(Error::Mismatch(format!(
                "the model's description has {inputs} inputs, but its weights have {} and its scaling {}",
                self.scorer.config().features,
                self.info.scaler.n_inputs()
            )));
        }
        let scaler = self.info.scaler.clone();
        Ok(ServingScorer { features, list: scaler.inputs(), scaler, kind })
    }
}

impl ServingScorer {
    /// Number of features per candidate.
    pub fn n_features(&self) -> usize {
        self.features
    }

    /// Scores a query's candidates from their unscaled features, one row per candidate.
    ///
    /// # Errors
    /// If `features` is not a whole number of rows.
    pub fn score<'a>(&self, features: &[f32], scratch: &'a mut Scratch) -> Result<&'a [f32]> {
        self.fill(features, scratch)?;
        Ok(&scratch.scores)
    }

    /// Like [`ServingScorer::score`], and returns the order of the candidates: highest score first, NaN last.
    ///
    /// # Errors
    /// The errors of [`ServingScorer::score`].
    pub fn rank<'a>(&self, features: &[f32], scratch: &'a mut Scratch) -> Result<Ranked<'a>> {
        self.fill(features, scratch)?;
        let Scratch { scores, sorted, spare, order, .. } = scratch;
        order::sort(scores.iter().copied(), sorted, spare);
        order.clear();
        order.extend(sorted.iter().map(|&key| order::document(key) as u32));
        Ok(Ranked { scores, order })
    }

    fn fill(&self, features: &[f32], scratch: &mut Scratch) -> Result<()> {
        let width = self.features;
        if !features.len().is_multiple_of(width) {
            let values = features.len();
            return Err(Error::Mismatch(format!(
                "{values} feature values are not a whole number of rows of {width} features"
            )));
        }
        if !matches!(self.kind, Kind::Trees(_)) {
            refuse_missing(&self.scaler, features, 0)?;
        }
        let Scratch { rows, inputs, fit, net, keys, sums, columns, scores, .. } = scratch;
        scores.clear();
        scores.resize(features.len() / width, 0.0);
        let features = if self.scaler.is_identity() {
            features
        } else {
            rows.clear();
            rows.extend_from_slice(features);
            self.scaler.inputs_in(rows, inputs, &self.list, fit)
        };
        let width = self.list.len();
        match &self.kind {
            Kind::Net(ranker) => ranker.score_blocks_in(features, scores, net),
            Kind::Trees(forest) => {
                sums.clear();
                sums.resize(scores.len(), 0.0);
                forest.score_rows_in(features, width, sums, keys)?;
                scores.iter_mut().zip(sums).for_each(|(score, sum)| *score = *sum as f32);
            }
            Kind::Kernel(ranker) => ranker.score_rows_in(features, scores, columns),
        }
        Ok(())
    }
}
