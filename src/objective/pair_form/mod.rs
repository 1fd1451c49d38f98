//! How the values of two documents make the weight of their pair.
//!
//! A form is written four times: as a formula ([`PairForm::weight`]), in lanes for the direct kernel, as moments for the
//! near-linear sweep, and in tensor operations for the device path. A weight that names one has all of them, and second
//! derivatives and pair counts with them. Values are those of [`Values`](super::weight::Values); `a` and `b` below are the
//! first and the second value of a document.
//!
//! | form | weight of having `i` above `j` | values |
//! |---|---|---|
//! | [`PairForm::Constant`] | 1 | none |
//! | [`PairForm::Gap`] | `a_i - a_j` | `a` rises with the label |
//! | [`PairForm::Discounts`] | `(a_i - a_j) abs(b_i - b_j)` | and `b` falls with the rank |
//! | [`PairForm::Rest`] | the same, divided by `1 - a` of the upper document | and `a` is below 1 |
//! | [`PairForm::Distance`] | `(a_i - a_j) (abs(b_i - b_j) + share delta_ij)` | `b` may be left out |
//! | [`PairForm::FallOrRise`] | `a_i - a_j` where `i` is the upper one, else `b_j - b_i` | both fall with the rank |
//! | [`PairForm::Own`] | `a_i` | any |

mod constant;
mod discounts;
mod distance;
mod fall_or_rise;
mod gap;
mod own;
mod rest;

#[cfg(feature = "cubecl")]
pub(super) use distance::nearness;
pub(super) use fall_or_rise::FallOrRise;
pub(super) use own::Own;

use super::pairwise::{Grid, GridTask, Node, PairTensors};
use super::weight::Values;
use burn::tensor::Tensor;
use constant::Constant;
use discounts::Discounts;
use gap::Gap;
use rest::Rest;

/// How the values of two documents make the weight of their pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PairForm {
    /// 1.
    Constant {
        /// Whether documents of equal labels are pairs too, with a weight of 1/2 each way.
        ties: bool,
    },
    /// The difference of the first values.
    Gap,
    /// The same times the difference of the second values.
    Discounts,
    /// The same divided by one minus the first value of the upper document.
    Rest,
    /// The difference of the first values, times the sum of the difference of the second ones and a falling function of the
    /// distance of ranks: `delta_ij = 1/D_m - 1/D_(m+1)` for ranks `m` apart.
    Distance {
        /// What `delta_ij` is multiplied with.
        share: f64,
    },
    /// The difference of the first values where the wanted document is above, and of the second ones where it is below.
    FallOrRise,
    /// The first value of the wanted document; all pairs, each in both orders.
    Own,
}

impl PairForm {
    /// The weight of having the document at position `i` above the one at `j`, where that is wanted.
    #[inline]
    pub(super) fn weight(self, values: &Values, i: usize, j: usize) -> f64 {
        let gap = || values.first[i] - values.first[j];
        let discounts = || (values.second[i] - values.second[j]).abs();
        match self {
            PairForm::Constant { .. } => 1.0,
            PairForm::Gap => gap(),
            PairForm::Discounts => gap() * discounts(),
            PairForm::Rest => gap() * discounts() / (1.0 - values.first[i.min(j)]),
            PairForm::Distance { share } => {
                let far = if values.second.is_empty() { 0.0 } else { discounts() };
                gap() * (far + share * distance::nearness(i.abs_diff(j)))
            }
            PairForm::FallOrRise if i < j => gap(),
            PairForm::FallOrRise => values.second[j] - values.second[i],
            PairForm::Own => values.first[i],
        }
    }

    /// Whether pairs are laid out by label when all ranks count: no pair needs a branch then.
    pub(super) fn goes_by_label(self) -> bool {
        matches!(self, PairForm::Constant { ties: false } | PairForm::Gap | PairForm::Discounts)
    }

    /// The sums of a grid, rows wanted above their columns or only ranked above them.
    pub(super) fn lanes(self, grid: &mut Grid, task: GridTask<'_>, by_label: bool) -> f64 {
        match (self, by_label) {
            (PairForm::Constant { .. }, true) => grid.run::<constant::Wanted>(task),
            (PairForm::Constant { ties: false }, false) => grid.run::<constant::Ordered>(task),
            (PairForm::Constant { ties: true }, false) => grid.run::<constant::OrderedOrTied>(task),
            (PairForm::Gap | PairForm::FallOrRise, true) => grid.run::<gap::Wanted>(task),
            (PairForm::Gap | PairForm::FallOrRise, false) => grid.run::<Gap>(task),
            (PairForm::Discounts, true) => grid.run::<discounts::Wanted>(task),
            (PairForm::Discounts, false) => grid.run::<Discounts>(task),
            (PairForm::Rest, _) => grid.run::<Rest>(task),
            (PairForm::Distance { .. }, _) => grid.run::<distance::Distance>(task),
            (PairForm::Own, _) => grid.run::<Own>(task),
        }
    }

    /// The sums over pairs with one document on either side of a cut of the classes; the loss where asked.
    pub(super) fn moments<const LOSS: bool, const SECOND: bool>(self, node: &mut Node<'_>, cut: u32) -> f64 {
        match self {
            PairForm::Constant { .. } => node.sweep::<Constant, 1, LOSS, SECOND>(Constant, cut),
            PairForm::Gap => node.sweep::<Gap, 2, LOSS, SECOND>(Gap, cut),
            PairForm::Discounts => node.sweep::<Discounts, 4, LOSS, SECOND>(Discounts, cut),
            PairForm::Rest => node.sweep::<Rest, 4, LOSS, SECOND>(Rest, cut),
            PairForm::Distance { share } => distance::moments::<LOSS, SECOND>(node, cut, share),
            PairForm::FallOrRise => node.sweep::<FallOrRise, 2, LOSS, SECOND>(FallOrRise, cut),
            PairForm::Own => node.sweep::<Own, 2, LOSS, SECOND>(Own, cut),
        }
    }

    /// The weights of a tile's pairs, whatever they are where a pair is not wanted.
    pub(super) fn tensors(self, pairs: &PairTensors) -> Tensor<3> {
        match self {
            PairForm::Constant { .. } => pairs.ones(),
            PairForm::Gap => pairs.gap(),
            PairForm::Discounts => pairs.gap() * pairs.discounts(),
            PairForm::Rest => pairs.gap() * pairs.discounts() / pairs.rest_of_upper(),
            PairForm::Distance { share } => distance::tensors(pairs, share),
            PairForm::FallOrRise => pairs.gap() * pairs.above() - pairs.second_gap() * pairs.below(),
            PairForm::Own => pairs.own(),
        }
    }

    /// Documents from which on the sweep is faster than a look at every pair of them, gradient alone and with the loss
    /// averaged, on one core with AVX2.
    pub(super) fn long(self) -> usize {
        match self {
            PairForm::Own => 200,
            PairForm::Constant { ties: true } => 250,
            PairForm::Constant { ties: false } => 700,
            PairForm::Gap | PairForm::FallOrRise => 800,
            PairForm::Discounts | PairForm::Rest => 1_400,
            PairForm::Distance { .. } => 10_000,
        }
    }
}

/// A higher target below its source, or a lower target above it, wants to be swapped.
#[inline(always)]
fn ordered<const R: usize>(weights: [f64; R], high: bool, above: bool) -> ([f64; R], [f64; R]) {
    (weights, if high == above { weights } else { [0.0; R] })
}
