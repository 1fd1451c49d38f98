//! The tensor path: losses in Burn's operations, differentiated by autodiff, on any device.
//!
//! Every objective is one logistic pair loss with another detached weight (LambdaLoss, Eq. 9 and 15):
//!
//! ```text
//! C = 1/Q sum over queries, sum over i != j of  w_ij log(1 + exp(-sigma (s_i - s_j)))
//! ```
//!
//! Ranks are counted on the device from detached scores, because device sorts are unstable or host copies.

use super::kernel::LARGEST_SCORE;
use super::tile::{Batch, PAIR_BUDGET, Tile, tiles};
use super::{LogBase, Objective};
use crate::error::{Error, Result};
use crate::stop::Stop;
use burn::tensor::activation::softplus;
use burn::tensor::{Device, Int, Tensor, TensorData};

/// Beyond this difference a sigmoid is below 0.001: ln 999.
const SATURATION: f32 = 6.906_755;

impl Objective {
    /// The loss of a batch of whole queries, the mean over its queries, ready for `backward()`.
    ///
    /// Memory grows with the pairs of the whole batch; [`Objective::tensor_gradient`] bounds it.
    ///
    /// Scores that are not finite, or beyond ±1e30, are replaced first, and no tensor operation carries a gradient to what it
    /// has replaced: theirs is 0 here. [`Objective::tensor_gradient`] and [`Objective::lambda_gradient`] have one.
    ///
    /// # Shapes
    /// - scores: `[documents]`
    /// - output: `[1]`
    ///
    /// ```
    /// use burnrank::{Batch, Objective, Tensor, device};
    /// let device = device::open("auto")?.autodiff();
    /// let scores = Tensor::<1>::from_floats([0.9, 0.1, -0.4, 1.5, 0.3], &device).require_grad();
    /// let batch = Batch { labels: &[0.0, 1.0, 2.0, 0.0, 3.0], offsets: &[0, 5] };
    /// let loss = Objective::parse("ndcg-loss2")?.loss(scores.clone(), batch)?;
    /// let slope: Vec<f32> = scores.grad(&loss.backward()).unwrap().into_data().to_vec().unwrap();
    /// assert!((loss.into_scalar::<f32>() - 1.095203).abs() < 1e-5);
    /// assert!((slope[4] + 0.544197).abs() < 1e-5);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the objective has lambdas but no loss ([`Objective::is_lambda_only`]).
    pub fn loss(&self, scores: Tensor<1>, batch: Batch<'_>) -> Result<Tensor<1>> {
        self.check_has_loss()?;
        let queries = batch.n_queries().max(1) as f64;
        let device = scores.device();
        let scores = safe(scores);
        let detached = scores.clone().without_autodiff();
        let mut sum = Tensor::zeros([1], &device);
        for tile in tiles(batch.offsets, PAIR_BUDGET) {
            self.stop().check()?;
            sum = sum + self.tile_pairs(&scores, &detached, batch, &tile)?.loss(self.base());
        }
        self.stop().check()?;
        Ok(sum.div_scalar(queries))
    }

    /// The loss of a batch and its gradient by the scores, tile by tile, so that at most `budget` pairs are in memory.
    ///
    /// # Shapes
    /// - scores: `[documents]`
    ///
    /// # Errors
    /// When the objective has lambdas but no loss ([`Objective::is_lambda_only`]).
    pub fn tensor_gradient(&self, scores: Tensor<1>, batch: Batch<'_>, budget: usize) -> Result<TensorGradient> {
        self.check_has_loss()?;
        let queries = batch.n_queries().max(1) as f64;
        // A leaf of safe scores: those that were replaced have a gradient too, as on the lambda path.
        let detached = safe(scores.without_autodiff());
        let device = detached.device();
        let mut loss = Tensor::zeros([1], &device);
        let mut gradient = detached.zeros_like();
        let mut counts = vec![];
        for tile in tiles(batch.offsets, budget) {
            self.stop().check()?;
            let leaf = detached.clone().autodiff().require_grad();
            let pairs = self.tile_pairs(&leaf, &detached, batch, &tile)?;
            counts.push(pairs.counts());
            self.stop().check()?;
            let part = pairs.loss(self.base());
            loss = loss + part.clone().without_autodiff();
            if let Some(slope) = leaf.grad(&part.backward()) {
                gradient = gradient + slope.without_autodiff();
            }
        }
        self.stop().check()?;
        Ok(TensorGradient { loss: loss.div_scalar(queries), gradient: gradient.div_scalar(queries), counts })
    }

    /// Refuses what the tensor path would silently compute as another objective.
    pub(crate) fn check_has_loss(&self) -> Result<()> {
        if self.is_lambda_only() {
            return Err(Error::Config(format!(
                "{self} has lambdas but no loss in tensor operations: take the lambda path, without --gradient tensor"
            )));
        }
        Ok(())
    }

    fn tile_pairs(&self, scores: &Tensor<1>, detached: &Tensor<1>, batch: Batch<'_>, tile: &Tile) -> Result<TilePairs> {
        let spread = Spread::new(batch, tile, &detached.device());
        let weights = self.pair_weights(&spread, spread.scores(detached), batch, tile)?;
        let scores = spread.scores(scores);
        let rows = scores.clone().slice_dim(1, tile.rows.clone());
        let differences = rows.unsqueeze_dim::<3>(2) - scores.unsqueeze_dim::<3>(1);
        Ok(TilePairs { steepened: differences.mul_scalar(self.sigma()), weights })
    }
}

/// What [`Objective::tensor_gradient`] gives: constants on the device of the scores.
#[derive(Debug)]
pub struct TensorGradient {
    /// The mean over queries: `[1]`.
    pub loss: Tensor<1>,
    /// By the scores: `[documents]`.
    pub gradient: Tensor<1>,
    /// Effective and saturated pairs of each tile: `[2]`.
    counts: Vec<Tensor<1>>,
}

impl TensorGradient {
    /// The pairs with a weight, and how many of them are saturated; copies two numbers a tile to the host.
    pub fn pairs(&self) -> (u64, u64) {
        self.counts.iter().fold((0, 0), |(pairs, saturated), tile| match tile.try_to_vec_as::<f32>().as_deref() {
            Ok(&[p, s]) => (pairs + p as u64, saturated + s as u64),
            _ => (pairs, saturated),
        })
    }
}

/// The ordered pairs of a tile: `sigma (s_i - s_j)` and constant weights, `[queries, rows, longest]`.
struct TilePairs {
    steepened: Tensor<3>,
    weights: Tensor<3>,
}

impl TilePairs {
    /// The sum of the weighted pair losses.
    fn loss(self, base: LogBase) -> Tensor<1> {
        (softplus(self.steepened.neg(), 1.0) * self.weights).sum().div_scalar(base.nats())
    }

    /// How many pairs have a weight, and how many of these a factor `1 / (1 + e^(sigma (s_i - s_j)))` below 0.001.
    fn counts(&self) -> Tensor<1> {
        let effective = self.weights.clone().not_equal_scalar(0.0).float();
        let far = self.steepened.clone().without_autodiff().greater_scalar(SATURATION).float();
        Tensor::cat(vec![effective.clone().sum(), (effective * far).sum()], 0)
    }
}

/// Scores made safe for differences: NaN is the lowest score, infinities are cut.
fn safe(scores: Tensor<1>) -> Tensor<1> {
    let is_nan = scores.clone().without_autodiff().is_nan();
    scores.mask_fill(is_nan, -LARGEST_SCORE).clamp(-LARGEST_SCORE, LARGEST_SCORE)
}

/// Where the documents of a tile stand in the batch.
pub(super) struct Spread {
    /// For each place of `[queries, longest]` the document there; padding points at document 0.
    documents: Tensor<1, Int>,
    /// 1 where there is a document, 0 where there is padding: `[queries, longest]`.
    pub present: Tensor<2>,
    shape: [usize; 2],
}

impl Spread {
    fn new(batch: Batch<'_>, tile: &Tile, device: &Device) -> Self {
        let shape = [tile.queries.len(), tile.longest];
        let mut documents = vec![0i32; shape[0] * shape[1]];
        let mut present = vec![0f32; shape[0] * shape[1]];
        for (place, &query) in tile.queries.iter().enumerate() {
            for (column, document) in batch.rows(query).enumerate() {
                documents[place * tile.longest + column] = document as i32;
                present[place * tile.longest + column] = 1.0;
            }
        }
        let length = documents.len();
        Spread {
            documents: Tensor::from_data(TensorData::new(documents, [length]), device),
            present: Tensor::from_data(TensorData::new(present, shape), device),
            shape,
        }
    }

    /// Scores as `[queries, longest]`.
    fn scores(&self, flat: &Tensor<1>) -> Tensor<2> {
        flat.clone().select(0, self.documents.clone()).reshape(self.shape)
    }

    /// A value per document of the batch as `[queries, longest]`; 0 in the padding.
    pub fn values(&self, flat: &[f32], batch: Batch<'_>, tile: &Tile, device: &Device) -> Tensor<2> {
        let mut values = vec![0f32; self.shape[0] * self.shape[1]];
        for (place, &query) in tile.queries.iter().enumerate() {
            let rows = batch.rows(query);
            values[place * tile.longest..][..rows.len()].copy_from_slice(&flat[rows]);
        }
        Tensor::from_data(TensorData::new(values, self.shape), device)
    }
}

/// The rank of each document, counted: `rank_i = 1 + #{j: s_j > s_i, or s_j = s_i and j < i}`.
///
/// # Shapes
/// - scores, present: `[queries, longest]`
/// - output: `[queries, longest]`; meaningless in the padding
///
/// # Errors
/// When `stop` is set.
pub(super) fn counted_ranks(
    scores: Tensor<2>,
    present: Tensor<2>,
    rows_at_once: usize,
    stop: &Stop,
) -> Result<Tensor<2>> {
    let [queries, longest] = scores.dims();
    let device = scores.device();
    let places = Tensor::<1, Int>::arange(0..longest as i64, &device).reshape([1, longest]);
    let others = scores.clone().unsqueeze_dim::<3>(1);
    let counted = (0..longest).step_by(rows_at_once.max(1)).map(|start| {
        let rows = start..(start + rows_at_once.max(1)).min(longest);
        let height = rows.len();
        stop.check()?;
        let own = scores.clone().slice_dim(1, rows.clone()).unsqueeze_dim::<3>(2);
        let above = others.clone().greater(own.clone()).float();
        let equal = others.clone().equal(own).float();
        let earlier = places.clone().lower(places.clone().slice_dim(1, rows).reshape([height, 1])).float();
        let ahead = (above + equal * earlier.unsqueeze_dim::<3>(0)) * present.clone().unsqueeze_dim::<3>(1);
        Ok(ahead.sum_dim(2).reshape([queries, height]).add_scalar(1.0))
    });
    Ok(Tensor::cat(counted.collect::<Result<_>>()?, 1))
}
