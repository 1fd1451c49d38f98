//! Forms of pair weights: functions of the values of two documents.
//!
//! A form is implemented four times: as a formula ([`PairForm::weight`]), in SIMD lanes for the direct kernel, as
//! moments for the near-linear sweep, and in tensor operations for the tensor path. A weight with a form supports all
//! of them, including hessian and pair counts. Values are those of [`Values`](super::weight::Values); `a` and `b` below
//! are the first and the second value of a document.
//!
//! | form | weight of ranking `i` above `j` | values |
//! |---|---|---|
//! | [`PairForm::Constant`] | 1 | none |
//! | [`PairForm::Gap`] | `a_i - a_j` | `a` increases with the label |
//! | [`PairForm::Discounts`] | `(a_i - a_j) abs(b_i - b_j)` | and `b` decreases with the rank |
//! | [`PairForm::Rest`] | the same, divided by `1 - a` of the upper document | and `a` is below 1 |
//! | [`PairForm::Distance`] | `(a_i - a_j) (abs(b_i - b_j) + share delta_ij)` | `b` is optional |
//! | [`PairForm::Lower`] | `(a_i - a_j) b delta_ij`, with `b` of the lower document | `a` increases with the label |
//! | [`PairForm::FallOrRise`] | `a_i - a_j` if `i` is above `j`, else `b_j - b_i` | both decrease with the rank |
//! | [`PairForm::Own`] | `a_i` | any |

mod constant;
mod discounts;
mod distance;
mod fall_or_rise;
mod gap;
mod lower;
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
use lower::Lower;
use rest::Rest;

/// The form of a pair weight: a function of the values of two documents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PairForm {
    /// Weight 1.
    Constant {
        /// Whether documents with equal labels form pairs too, with weight 1/2 in each direction.
        ties: bool,
    },
    /// Difference of the first values.
    Gap,
    /// Difference of the first values times difference of the second values.
    Discounts,
    /// Like `Discounts`, but divided by 1 - the first value of the upper document.
    Rest,
    /// Difference of the first values times the sum of the difference of the second values and `share delta_ij`.
    /// `delta_ij = 1/D_m - 1/D_(m+1)` decreases with the distance `m` of the ranks.
    Distance {
        /// Factor of `delta_ij`.
        share: f64,
    },
    /// Difference of the first values times the second value of the lower document times `delta_ij`.
    Lower,
    /// Difference of the first values if the preferred document is above, of the second values if it is below.
    FallOrRise,
    /// First value of the preferred document; all pairs, in both directions.
    Own,
}

impl PairForm {
    /// Weight of ranking the document at position `i` above the one at `j`, where `i` is preferred.
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
            PairForm::Lower => gap() * values.second[i.max(j)] * distance::nearness(i.abs_diff(j)),
            PairForm::FallOrRise if i < j => gap(),
            PairForm::FallOrRise => values.second[j] - values.second[i],
            PairForm::Own => values.first[i],
        }
    }

    /// Returns the factor of `delta_ij`, if the weight depends on the distance of ranks.
    pub(super) fn share_of_nearness(self) -> Option<f64> {
        match self {
            PairForm::Distance { share } => Some(share),
            PairForm::Lower => Some(1.0),
            _ => None,
        }
    }

    /// Returns whether pairs are laid out by label if all ranks count: then no pair needs a branch.
    pub(super) fn has_label_layout(self) -> bool {
        matches!(self, PairForm::Constant { ties: false } | PairForm::Gap | PairForm::Discounts)
    }

    /// Computes the sums of a grid whose rows are preferred to their columns, or only ranked above them.
    pub(super) fn lanes(self, grid: &mut Grid, task: GridTask<'_>, by_label: bool) -> f64 {
        match (self, by_label) {
            (PairForm::Constant { .. }, true) => grid.run::<constant::Preferred>(task),
            (PairForm::Constant { ties: false }, false) => grid.run::<constant::Ordered>(task),
            (PairForm::Constant { ties: true }, false) => grid.run::<constant::OrderedOrTied>(task),
            (PairForm::Gap | PairForm::FallOrRise, true) => grid.run::<gap::Preferred>(task),
            (PairForm::Gap | PairForm::FallOrRise, false) => grid.run::<Gap>(task),
            (PairForm::Discounts, true) => grid.run::<discounts::Preferred>(task),
            (PairForm::Discounts, false) => grid.run::<Discounts>(task),
            (PairForm::Rest, _) => grid.run::<Rest>(task),
            (PairForm::Distance { .. }, _) => grid.run::<distance::Distance>(task),
            (PairForm::Lower, _) => grid.run::<Lower>(task),
            (PairForm::Own, _) => grid.run::<Own>(task),
        }
    }

    /// Computes the sums over pairs across a cut between classes, and the loss if requested.
    pub(super) fn moments<const LOSS: bool, const HESSIAN: bool>(self, node: &mut Node<'_>, cut: u32) -> f64 {
        match self {
            PairForm::Constant { .. } => node.sweep::<Constant, 1, LOSS, HESSIAN>(Constant, cut),
            PairForm::Gap => node.sweep::<Gap, 2, LOSS, HESSIAN>(Gap, cut),
            PairForm::Discounts => node.sweep::<Discounts, 4, LOSS, HESSIAN>(Discounts, cut),
            PairForm::Rest => node.sweep::<Rest, 4, LOSS, HESSIAN>(Rest, cut),
            PairForm::Distance { share } => distance::moments::<LOSS, HESSIAN>(node, cut, share),
            PairForm::Lower => lower::moments::<LOSS, HESSIAN>(node, cut),
            PairForm::FallOrRise => node.sweep::<FallOrRise, 2, LOSS, HESSIAN>(FallOrRise, cut),
            PairForm::Own => node.sweep::<Own, 2, LOSS, HESSIAN>(Own, cut),
        }
    }

    /// Weights of a tile's pairs; undefined for pairs that do not count.
    pub(super) fn tensors(self, pairs: &PairTensors) -> Tensor<3> {
        match self {
            PairForm::Constant { .. } => pairs.ones(),
            PairForm::Gap => pairs.gap(),
            PairForm::Discounts => pairs.gap() * pairs.discounts(),
            PairForm::Rest => pairs.gap() * pairs.discounts() / pairs.rest_of_upper(),
            PairForm::Distance { share } => distance::tensors(pairs, share),
            PairForm::Lower => lower::tensors(pairs),
            PairForm::FallOrRise => pairs.gap() * pairs.above() - pairs.second_gap() * pairs.below(),
            PairForm::Own => pairs.own(),
        }
    }

    /// List length from which the sweep is faster than enumerating all pairs, measured on one core with AVX2 as the
    /// average of gradient alone and gradient with loss.
    pub(super) fn min_sweep_length(self) -> usize {
        match self {
            PairForm::Own => 200,
            PairForm::Constant { ties: true } => 250,
            PairForm::Constant { ties: false } => 700,
            PairForm::Gap | PairForm::FallOrRise => 800,
            PairForm::Discounts | PairForm::Rest => 1_400,
            PairForm::Distance { .. } | PairForm::Lower => 10_000,
        }
    }
}

/// A target that should swap with its source: a higher label below, or a lower label above.
#[inline(always)]
fn ordered<const R: usize>(weights: [f64; R], high: bool, above: bool) -> ([f64; R], [f64; R]) {
    (weights, if high == above { weights } else { [0.0; R] })
}
