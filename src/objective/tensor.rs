//! The tensor path: losses in Burn's operations, differentiated by autodiff, on any device.
//!
//! Ranks are computed on the host from a copy of the scores, because sorting on a device is unstable or copies to the
//! host itself.

use super::Objective;
use super::batch::Batch;
use super::loss::Query;
use super::tile::{Tile, tiles};
use crate::error::{Error, Result};
use crate::numeric::order::LARGEST_SCORE;
use crate::stop::Stop;
use burn::tensor::{Device, Int, Tensor, TensorData};
use std::ops::Range;

pub use super::tile::PAIR_BUDGET;

/// A loss in tensor operations.
pub trait TensorLoss {
    /// Computes the loss of the tile's rows, ready for `backward()`, and counts its pairs.
    ///
    /// # Errors
    /// Returns an error if [`TensorTile::stop`] is set.
    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart>;

    /// Returns whether a query's loss is not a sum over its rows. Tiles then hold whole queries, whatever the pair
    /// budget.
    fn needs_whole_queries(&self) -> bool {
        false
    }
}

/// The contribution of a tile to a loss.
pub struct TilePart {
    /// Sum over the tile's queries: `[1]`.
    pub loss: Tensor<1>,
    /// Numbers of effective and of saturated pairs: `[2]`.
    pub counts: Tensor<1>,
}

/// Queries padded to the same length, and the range of rows to compute.
pub struct TensorTile<'a> {
    /// Scores, without NaN and infinities, tracked by autodiff: `[queries, longest]`. Padding has any value.
    pub scores: Tensor<2>,
    /// 1 for documents, 0 for padding: `[queries, longest]`.
    pub present: Tensor<2>,
    /// The rows of each query to compute the loss of.
    pub rows: Range<usize>,
    /// Ends the computation when set.
    pub stop: &'a Stop,
    batch: Batch<'a>,
    numbers: &'a [usize],
    host: &'a [f32],
}

impl<'a> TensorTile<'a> {
    fn new(scores: &Tensor<1>, host: &'a [f32], batch: Batch<'a>, tile: &'a Tile, stop: &'a Stop) -> Self {
        let shape = [tile.queries.len(), tile.longest];
        let mut documents = vec![0i32; shape[0] * shape[1]];
        let mut present = vec![0f32; shape[0] * shape[1]];
        for (row, &query) in tile.queries.iter().enumerate() {
            for (column, document) in batch.rows(query).enumerate() {
                documents[row * tile.longest + column] = document as i32;
                present[row * tile.longest + column] = 1.0;
            }
        }
        let (device, length) = (scores.device().without_autodiff(), documents.len());
        let documents = Tensor::<1, Int>::from_data(TensorData::new(documents, [length]), &device);
        TensorTile {
            scores: scores.clone().select(0, documents).reshape(shape),
            present: Tensor::from_data(TensorData::new(present, shape), &device),
            rows: tile.rows.clone(),
            stop,
            batch,
            numbers: &tile.queries,
            host,
        }
    }

    /// Shape of the pairs: `[queries, rows, longest]`.
    pub fn shape(&self) -> [usize; 3] {
        let [queries, longest] = self.scores.dims();
        [queries, self.rows.len(), longest]
    }

    /// Device for constants.
    pub fn device(&self) -> Device {
        self.present.device()
    }

    /// The tile's queries on the host, with scores without NaN and infinities.
    pub fn queries(&self) -> impl Iterator<Item = Query<'a>> {
        let (batch, host, stop) = (self.batch, self.host, self.stop);
        self.numbers.iter().map(move |&query| {
            let rows = batch.rows(query);
            Query { scores: &host[rows.clone()], labels: &batch.labels[rows], seed: 0, stop }
        })
    }

    /// Copies values from the host to `[queries, longest]`.
    pub fn upload(&self, values: Vec<f32>) -> Tensor<2> {
        let [queries, _, longest] = self.shape();
        Tensor::from_data(TensorData::new(values, [queries, longest]), &self.device())
    }

    /// Computes a value for each document, query by query, as `[queries, longest]`; 0 in the padding.
    pub fn values(&self, mut of: impl FnMut(Query<'a>) -> Vec<f32>) -> Tensor<2> {
        let [queries, _, longest] = self.shape();
        let mut values = vec![0f32; queries * longest];
        for (query, to) in self.queries().zip(values.chunks_mut(longest)) {
            let from = of(query);
            to[..from.len()].copy_from_slice(&from);
        }
        self.upload(values)
    }

    /// Returns values per document as those of the rows, `[queries, rows, 1]`, and those of the columns,
    /// `[queries, 1, longest]`.
    pub fn sides(&self, values: &Tensor<2>) -> (Tensor<3>, Tensor<3>) {
        let rows = values.clone().slice_dim(1, self.rows.clone()).unsqueeze_dim::<3>(2);
        (rows, values.clone().unsqueeze_dim::<3>(1))
    }

    /// 1 if `i != j`, else 0: `[1, rows, longest]`.
    pub fn off_diagonal(&self) -> Tensor<3> {
        let [_, rows, longest] = self.shape();
        let mut values = vec![1f32; rows * longest];
        self.rows.clone().for_each(|row| values[(row - self.rows.start) * longest + row] = 0.0);
        Tensor::from_data(TensorData::new(values, [1, rows, longest]), &self.device())
    }

    /// Creates a part that counts no pairs.
    pub fn part(&self, loss: Tensor<1>) -> TilePart {
        TilePart { loss, counts: Tensor::zeros([2], &self.device()) }
    }
}

impl Objective {
    /// Loss of a batch of whole queries, averaged over its queries, ready for `backward()`.
    ///
    /// Memory grows with the number of pairs in the batch; [`Objective::tensor_gradient`] bounds it.
    ///
    /// NaN, infinities and scores beyond ±1e30 are replaced first, and replaced scores get no gradient here. They do in
    /// [`Objective::tensor_gradient`] and [`Objective::lambda_gradient`].
    ///
    /// # Shapes
    /// - scores: `[documents]`
    /// - output: `[1]`
    ///
    /// ```
    /// use burnrank::objective::Batch;
    /// use burnrank::{Objective, Tensor, device};
    /// let device = device::open("auto")?.autodiff();
    /// let scores = Tensor::<1>::from_floats([0.9, 0.1, -0.4, 1.5, 0.3], &device).require_grad();
    /// let batch = Batch { labels: &[0.0, 1.0, 2.0, 0.0, 3.0], offsets: &[0, 5] };
    /// let loss = Objective::parse("ndcg-loss2")?.tensor_loss(scores.clone(), batch)?;
    /// let gradient: Vec<f32> = scores.grad(&loss.backward()).unwrap().into_data().to_vec().unwrap();
    /// assert!((loss.into_scalar::<f32>() - 1.095203).abs() < 1e-5);
    /// assert!((gradient[4] + 0.544197).abs() < 1e-5);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the objective has no loss in tensor operations ([`Objective::is_lambda_only`]).
    pub fn tensor_loss(&self, scores: Tensor<1>, batch: Batch<'_>) -> Result<Tensor<1>> {
        let tensors = self.tensors()?;
        let queries = batch.n_queries().max(1) as f64;
        let (scores, stop) = (safe(scores), Stop::new());
        let host = to_host(scores.clone().without_autodiff())?;
        let mut sum = Tensor::zeros([1], &scores.device());
        for tile in tiles(batch.offsets, PAIR_BUDGET, tensors.needs_whole_queries()) {
            sum = sum + tensors.tile(&TensorTile::new(&scores, &host, batch, &tile, &stop))?.loss;
        }
        Ok(sum.div_scalar(queries))
    }

    /// Loss of a batch and its gradient with respect to the scores, computed in tiles of at most `budget` pairs to
    /// bound memory.
    ///
    /// # Shapes
    /// - scores: `[documents]`
    ///
    /// # Errors
    /// Returns an error if the objective has no loss in tensor operations ([`Objective::is_lambda_only`]), and
    /// [`Error::Stopped`] within a second of `stop` being set.
    pub fn tensor_gradient(
        &self,
        scores: Tensor<1>,
        batch: Batch<'_>,
        budget: usize,
        stop: &Stop,
    ) -> Result<TensorGradient> {
        let tensors = self.tensors()?;
        let queries = batch.n_queries().max(1) as f64;
        // Differentiate with respect to the replaced scores, so that these have a gradient too, as on the lambda path.
        let detached = safe(scores.without_autodiff());
        let host = to_host(detached.clone())?;
        let mut loss = Tensor::zeros([1], &detached.device());
        let mut gradient = detached.zeros_like();
        let mut counts = vec![];
        for tile in tiles(batch.offsets, budget, tensors.needs_whole_queries()) {
            stop.check()?;
            let leaf = detached.clone().autodiff().require_grad();
            let part = tensors.tile(&TensorTile::new(&leaf, &host, batch, &tile, stop))?;
            stop.check()?;
            counts.push(part.counts);
            loss = loss + part.loss.clone().without_autodiff();
            if let Some(tile_gradient) = leaf.grad(&part.loss.backward()) {
                gradient = gradient + tile_gradient.without_autodiff();
            }
        }
        stop.check()?;
        Ok(TensorGradient { loss: loss.div_scalar(queries), gradient: gradient.div_scalar(queries), counts })
    }

    /// Returns the loss in tensor operations, or an error if there is none.
    pub(crate) fn tensors(&self) -> Result<&dyn TensorLoss> {
        self.loss().tensors().ok_or_else(|| {
            Error::Config(format!(
                "{self} has lambdas but no loss in tensor operations: use the lambda path (`gradient` lambda)"
            ))
        })
    }
}

/// Result of [`Objective::tensor_gradient`]: constants on the device of the scores.
#[derive(Debug)]
pub struct TensorGradient {
    /// Loss, averaged over queries: `[1]`.
    pub loss: Tensor<1>,
    /// Gradient with respect to the scores: `[documents]`.
    pub gradient: Tensor<1>,
    /// Numbers of effective and of saturated pairs of each tile: `[2]`.
    counts: Vec<Tensor<1>>,
}

impl TensorGradient {
    /// Returns the number of pairs with a weight, and how many of them are saturated. Copies two numbers per tile to
    /// the host.
    pub fn pairs(&self) -> (u64, u64) {
        self.counts.iter().fold((0, 0), |(pairs, saturated), tile| match tile.try_to_vec_as::<f32>().as_deref() {
            Ok(&[p, s]) => (pairs + p as u64, saturated + s as u64),
            _ => (pairs, saturated),
        })
    }
}

fn to_host(scores: Tensor<1>) -> Result<Vec<f32>> {
    scores.try_into_vec_as().map_err(|error| Error::Device(format!("the device failed: {error}")))
}

/// Replaces NaN with the lowest score and clamps infinities, so that differences are finite.
fn safe(scores: Tensor<1>) -> Tensor<1> {
    let is_nan = scores.clone().without_autodiff().is_nan();
    scores.mask_fill(is_nan, -LARGEST_SCORE).clamp(-LARGEST_SCORE, LARGEST_SCORE)
}
