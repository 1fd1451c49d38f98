//! The pair weights of the tensor path, all of them constants: no gradient flows through a rank.

use super::kernel::Weighting;
use super::tensor::{Spread, counted_ranks};
use super::tile::{Batch, Tile};
use super::{Objective, kernel};
use crate::error::{Error, Result};
use crate::metric::max_dcg;
use burn::tensor::{Tensor, TensorData};

impl Objective {
    /// The weights of a tile's ordered pairs, 0 where a pair does not count.
    ///
    /// # Shapes
    /// - scores: `[queries, longest]`, detached
    /// - output: `[queries, rows, longest]`
    ///
    /// # Errors
    /// When the objective's [`Stop`](crate::Stop) is set, or the device fails.
    pub(super) fn pair_weights(
        &self,
        spread: &Spread,
        scores: Tensor<2>,
        batch: Batch<'_>,
        tile: &Tile,
    ) -> Result<Tensor<3>> {
        match self.weighting() {
            Weighting::SwapMetric(_) | Weighting::SwapAp { .. } | Weighting::SwapRr { .. } | Weighting::Custom(_) => {
                self.host_weights(scores, batch, tile)
            }
            _ => self.device_weights(spread, scores, batch, tile),
        }
    }

    /// Weights with a formula in tensor operations: no copy to the host.
    fn device_weights(&self, spread: &Spread, scores: Tensor<2>, batch: Batch<'_>, tile: &Tile) -> Result<Tensor<3>> {
        let device = scores.device();
        let sides = |values: Tensor<2>| {
            let rows = values.clone().slice_dim(1, tile.rows.clone()).unsqueeze_dim::<3>(2);
            (rows, values.unsqueeze_dim::<3>(1))
        };
        let rows_at_once = tile.rows.len();
        let ranks = || {
            let ranks = counted_ranks(scores.clone(), spread.present.clone(), rows_at_once, self.stop())?;
            Ok::<_, Error>(sides(ranks))
        };
        let (present_i, present_j) = sides(spread.present.clone());
        let (label_i, label_j) = sides(spread.values(batch.labels, batch, tile, &device));
        let both = present_i * present_j;
        let better = || label_i.clone().greater(label_j.clone()).float() * both.clone();
        let others = || both.clone() * off_diagonal(tile, &device);
        let gains = || sides(spread.values(&self.normalised_gains(batch), batch, tile, &device));
        let inverse_discount = |rank: Tensor<3>| rank.add_scalar(1.0).log().recip().mul_scalar(std::f64::consts::LN_2);
        let weights = match *self.weighting() {
            Weighting::RankNet { ties: false } => better(),
            Weighting::RankNet { ties: true } => {
                better() + label_i.clone().equal(label_j.clone()).float().mul_scalar(0.5) * others()
            }
            Weighting::Arp1 => label_i.clone() * others(),
            Weighting::Arp2 => (label_i.clone() - label_j.clone()) * better(),
            Weighting::Ndcg1 => {
                let (rank_i, _) = ranks()?;
                gains().0 * inverse_discount(rank_i) * others()
            }
            Weighting::Ndcg2 { rho, delta } => {
                let ((rank_i, rank_j), (gain_i, gain_j)) = (ranks()?, gains());
                let distance = (rank_i.clone() - rank_j.clone()).abs();
                let far = discount_gap(rank_i.min_pair(rank_j), distance.clone());
                // Distance 0 of a document to itself is cut off: that is no pair.
                let distance = distance.clamp_min(1.0);
                let near = discount_gap(distance.clone(), distance.ones_like());
                (far.mul_scalar(rho) + near.mul_scalar(delta)) * (gain_i - gain_j) * better()
            }
            Weighting::SwapNdcg { k } => {
                let ((rank_i, rank_j), (gain_i, gain_j)) = (ranks()?, gains());
                let (upper, lower) = (rank_i.clone().min_pair(rank_j.clone()), rank_i.max_pair(rank_j));
                let both_count = lower.clone().lower_equal_scalar(k as f32);
                let upper_counts = upper.clone().lower_equal_scalar(k as f32).float();
                let alone = inverse_discount(upper.clone()) * upper_counts;
                let change = alone.mask_where(both_count, discount_gap(upper.clone(), lower - upper));
                change * (gain_i - gain_j) * better()
            }
            _ => unreachable!("weights without a tensor formula are made on the host"),
        };
        Ok(match self.truncation() {
            None => weights,
            Some(k) => {
                let (rank_i, rank_j) = ranks()?;
                weights * rank_i.min_pair(rank_j).lower_equal_scalar(k as f32).float()
            }
        })
    }

    /// `G_i = g_i / maxDCG` for every document of a batch; 0 for a query with nothing relevant.
    fn normalised_gains(&self, batch: Batch<'_>) -> Vec<f32> {
        let cut = match *self.weighting() {
            Weighting::SwapNdcg { k } => Some(k),
            _ => self.truncation(),
        };
        let mut gains = Vec::with_capacity(batch.labels.len());
        for query in 0..batch.n_queries() {
            let labels = &batch.labels[batch.rows(query)];
            let ideal = max_dcg(labels, cut, self.gain());
            let gain = |&label: &f32| if ideal > 0.0 { (self.gain().of(label) / ideal) as f32 } else { 0.0 };
            gains.extend(labels.iter().map(gain));
        }
        gains
    }

    /// Any other weight: scores to the host, weights back to the device.
    fn host_weights(&self, scores: Tensor<2>, batch: Batch<'_>, tile: &Tile) -> Result<Tensor<3>> {
        let device = scores.device();
        let shape = [tile.queries.len(), tile.rows.len(), tile.longest];
        let mut weights = vec![0f32; shape.iter().product()];
        let failed = |error| Error::Config(format!("the device failed: {error}"));
        let scores: Vec<f32> = scores.try_into_vec_as().map_err(failed)?;
        for (place, &query) in tile.queries.iter().enumerate() {
            let labels = &batch.labels[batch.rows(query)];
            let scores = &scores[place * tile.longest..][..labels.len()];
            let block = &mut weights[place * shape[1] * shape[2]..][..shape[1] * shape[2]];
            let rows = tile.rows.clone();
            kernel::for_each_weight_of(self.kernel(), scores, labels, rows, |i, j, weight| {
                block[(i - tile.rows.start) * tile.longest + j] = weight as f32;
            });
        }
        // Those of a list that was stopped are not whole.
        self.stop().check()?;
        Ok(Tensor::from_data(TensorData::new(weights, shape), &device))
    }
}

/// `1/log2(1 + a) - 1/log2(1 + a + m)`, without the cancellation of the two terms: in single precision they differ by less
/// than their rounding errors where `a` is some thousands and `m` is 1.
///
/// The same as `ln 2 ln(1 + m / (1 + a)) / (ln(1 + a) ln(1 + a + m))`.
fn discount_gap(a: Tensor<3>, m: Tensor<3>) -> Tensor<3> {
    let first = a.add_scalar(1.0);
    let last = first.clone() + m.clone();
    (m / first.clone()).log1p().mul_scalar(std::f64::consts::LN_2) / (first.log() * last.log())
}

/// 1 where `i != j`: `[1, rows, longest]`.
fn off_diagonal(tile: &Tile, device: &burn::tensor::Device) -> Tensor<3> {
    let shape = [1, tile.rows.len(), tile.longest];
    let mut values = vec![1f32; shape[1] * shape[2]];
    tile.rows.clone().for_each(|row| values[(row - tile.rows.start) * tile.longest + row] = 0.0);
    Tensor::from_data(TensorData::new(values, shape), device)
}
