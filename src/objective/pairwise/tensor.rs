//! Pair losses in tensor operations: a few values per document are copied to the device, where the form computes the
//! weights.
//!
//! ```text
//! C = 1/Q sum over queries, sum over i != j of  w_ij log(1 + exp(-sigma (s_i - s_j)))
//! ```
//!
//! Weights are constants (the M-step of LambdaLoss, Eq. 11): no gradient flows through a rank.

use super::super::tensor::{TensorLoss, TensorTile, TilePart};
use super::super::weight::{Classes, RankedList, Values};
use super::{PairForm, PairLoss, Pairs};
use crate::error::Result;
use crate::numeric::levels::Levels;
use crate::numeric::order::training_order;
use burn::tensor::activation::softplus;
use burn::tensor::{Tensor, TensorData};

/// Difference beyond which a sigmoid is below 0.001: ln 999.
const SATURATION: f32 = 6.906_755;

impl TensorLoss for PairLoss {
    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart> {
        let weights = match self.weight.form() {
            Some(form) => self.weights_by_form(form, tile)?,
            None => self.weights_from_host(tile)?,
        };
        let (rows, columns) = tile.sides(&tile.scores);
        let steepened = (rows - columns).mul_scalar(self.sigma);
        let effective = weights.clone().not_equal_scalar(0.0).float();
        let far = steepened.clone().without_autodiff().greater_scalar(SATURATION).float();
        let counts = Tensor::cat(vec![effective.clone().sum(), (effective * far).sum()], 0);
        let loss = (softplus(steepened.neg(), 1.0) * weights).sum().div_scalar(self.base.nats());
        Ok(TilePart { loss, counts })
    }
}

impl PairLoss {
    /// Weights of a tile's ordered pairs, 0 if a pair does not count: `[queries, rows, longest]`.
    fn weights_by_form(&self, form: PairForm, tile: &TensorTile<'_>) -> Result<Tensor<3>> {
        let pairs = PairTensors::new(self, form, tile)?;
        let (present_i, present_j) = tile.sides(&tile.present);
        let both = present_i * present_j;
        let (class_i, class_j) = tile.sides(&pairs.class);
        let better = || class_i.clone().greater(class_j.clone()).float() * both.clone();
        let others = || both.clone() * tile.off_diagonal();
        let weights = match (self.weight.pairs(), form) {
            (_, PairForm::Constant { ties: true }) => {
                better() + class_i.clone().equal(class_j.clone()).float().mul_scalar(0.5) * others()
            }
            (Pairs::Ordered, _) => form.tensors(&pairs) * better(),
            (Pairs::All, _) => form.tensors(&pairs) * others(),
        };
        let (within_i, within_j) = tile.sides(&pairs.within);
        Ok(weights * within_i.max_pair(within_j))
    }

    /// Computes weights without a form on the host, pair by pair.
    fn weights_from_host(&self, tile: &TensorTile<'_>) -> Result<Tensor<3>> {
        let shape = tile.shape();
        let mut weights = vec![0f32; shape.iter().product()];
        for (query, block) in tile.queries().zip(weights.chunks_mut(shape[1] * shape[2])) {
            let rows = tile.rows.clone();
            self.each_weight_of(query.labels, &training_order(query.scores), rows, tile.stop, |i, j, weight| {
                block[(i - tile.rows.start) * shape[2] + j] = weight as f32;
            });
        }
        // Weights of a stopped computation are incomplete.
        tile.stop.check()?;
        Ok(Tensor::from_data(TensorData::new(weights, shape), &tile.device()))
    }
}

/// Inputs of a form for the weights of a tile's pairs.
///
/// Values are stored as sums of two single-precision numbers, so that their differences are accurate to single
/// precision.
pub(in super::super) struct PairTensors<'a> {
    tile: &'a TensorTile<'a>,
    first: [Tensor<2>; 2],
    second: [Tensor<2>; 2],
    /// Rank, from 0.
    rank: Tensor<2>,
    class: Tensor<2>,
    /// 1 for documents of ranks that count.
    within: Tensor<2>,
}

impl<'a> PairTensors<'a> {
    fn new(loss: &PairLoss, form: PairForm, tile: &'a TensorTile<'a>) -> Result<Self> {
        const FIELDS: usize = 7;
        let (mut values, mut levels) = (Values::default(), Levels::default());
        let length = tile.shape()[0] * tile.shape()[2];
        let mut fields: [Vec<f32>; FIELDS] = std::array::from_fn(|_| vec![0.0; length]);
        for (number, query) in tile.queries().enumerate() {
            let (n, at) = (query.labels.len(), number * tile.shape()[2]);
            let order = training_order(query.scores);
            let ranked: Vec<f32> = order.iter().map(|&document| query.labels[document]).collect();
            let classes: Vec<f32> = ranked.iter().map(|&label| loss.weight.classes().of(label)).collect();
            levels.fill(&classes);
            values.clear(n);
            let by_label = loss.weight.classes() == Classes::Labels;
            let list = RankedList::new(&ranked, by_label.then_some(&levels));
            loss.weight.values(list, &mut values);
            values.check(form, n)?;
            let top = values.top.min(loss.truncation.unwrap_or(n)).min(loss.weight.depth().unwrap_or(n));
            let value = |of: &[f64], place: usize| of.get(place).copied().unwrap_or_default();
            for (place, &document) in order.iter().enumerate() {
                let (first, second) = (value(&values.first, place), value(&values.second, place));
                let rest = |value: f64| (value - f64::from(value as f32)) as f32;
                let within = f32::from(u8::from(place < top));
                let numbers =
                    [first as f32, rest(first), second as f32, rest(second), place as f32, classes[place], within];
                fields.iter_mut().zip(numbers).for_each(|(field, number)| field[at + document] = number);
            }
        }
        let [a, b, c, d, rank, class, within] = fields.map(|field| tile.upload(field));
        Ok(PairTensors { tile, first: [a, b], second: [c, d], rank, class, within })
    }

    fn difference(&self, values: &[Tensor<2>; 2]) -> Tensor<3> {
        let [(i, j), (rest_i, rest_j)] = values.each_ref().map(|value| self.tile.sides(value));
        (i - j) + (rest_i - rest_j)
    }

    pub fn ones(&self) -> Tensor<3> {
        Tensor::ones([1, 1, 1], &self.tile.device())
    }

    /// `a_i - a_j`.
    pub fn gap(&self) -> Tensor<3> {
        self.difference(&self.first)
    }

    /// `b_i - b_j`.
    pub fn second_gap(&self) -> Tensor<3> {
        self.difference(&self.second)
    }

    /// `|b_i - b_j|`.
    pub fn discounts(&self) -> Tensor<3> {
        self.second_gap().abs()
    }

    /// `a_i`.
    pub fn own(&self) -> Tensor<3> {
        self.tile.sides(&self.first[0]).0
    }

    /// `|i - j|`.
    pub fn distance(&self) -> Tensor<3> {
        let (i, j) = self.tile.sides(&self.rank);
        (i - j).abs()
    }

    /// 1 if `i` is ranked above `j`, else 0.
    pub fn above(&self) -> Tensor<3> {
        let (i, j) = self.tile.sides(&self.rank);
        i.lower(j).float()
    }

    /// 1 - [`PairTensors::above`].
    pub fn below(&self) -> Tensor<3> {
        self.above().neg().add_scalar(1.0)
    }

    /// `b` of the lower document.
    pub fn second_of_lower(&self) -> Tensor<3> {
        let (i, j) = self.tile.sides(&self.second[0]);
        i * self.below() + j * self.above()
    }

    /// `1 - a` of the upper document.
    pub fn rest_of_upper(&self) -> Tensor<3> {
        let [(i, j), (rest_i, rest_j)] = self.first.each_ref().map(|value| self.tile.sides(value));
        let rest = |value: Tensor<3>, rest: Tensor<3>| value.neg().add_scalar(1.0) - rest;
        rest(i, rest_i) * self.above() + rest(j, rest_j) * self.below()
    }
}
