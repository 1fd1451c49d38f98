//! Analysis of a lambda field at the scores of one query.

use super::{Crossing, eigenvalues};
use crate::error::{Error, Result};
use crate::metric::order;
use crate::objective::LambdaField;
use crate::objective::lambda_field::lambdas_at;
use serde::Serialize;

/// Maximum number of documents per query: the Jacobian has n^2 elements.
pub const MAX_DOCUMENTS: usize = 400;

/// Whether a cost function exists with `lambda = -dC/ds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Potential {
    /// The Jacobian is symmetric, and the jumps at ties are consistent with a cost.
    Conservative,
    /// The Jacobian is symmetric, but the jumps at ties are not consistent with a cost: each order of the documents has a cost,
    /// but all orders together have none.
    BetweenTies,
    /// The Jacobian is not symmetric: there is no cost.
    None,
}

/// Report on a field at the scores of one query: the Jacobian `J_ij = d lambda_i / d s_j` and the neighbouring ties.
///
/// A cost exists if and only if `J` is symmetric everywhere (Poincaré's lemma; Eq. 5 and 33 of the 2006 papers). It is convex
/// if and only if `-J` is positive semidefinite everywhere. A report covers one point and the ties of neighbouring ranks there.
///
/// ```
/// use burnrank::Objective;
/// use burnrank::analysis::lambda_field::{FieldReport, Potential};
/// let (scores, labels) = ([0.9, 0.1, -0.4, 1.5, 0.3], [0.0, 1.0, 2.0, 0.0, 3.0]);
/// let ask = |name: &str| FieldReport::new(&Objective::parse(name)?.as_field()?, &scores, &labels);
/// let ranknet = ask("ranknet")?;
/// assert!(ranknet.conservative() && ranknet.convex() && ranknet.balanced());
/// let lambdarank = ask("lambdarank:ndcg")?;
/// assert_eq!(lambdarank.potential, Potential::BetweenTies);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldReport {
    /// Name of the field.
    pub field: String,
    /// The scores analysed. Equal scores are separated slightly, in document order, because a field may have no Jacobian at a
    /// tie.
    pub scores: Vec<f64>,
    /// The labels.
    pub labels: Vec<f32>,
    /// The lambdas.
    pub lambdas: Vec<f64>,
    /// Sum of the lambdas; 0 by Newton's third law.
    pub sum: f64,
    /// Whether a cost exists.
    pub potential: Potential,
    /// Largest `|J_ij - J_ji|`.
    pub asymmetry: f64,
    /// The pair (i, j) with the largest asymmetry.
    pub worst_pair: Option<(usize, usize)>,
    /// Largest `|J_ij|`: the scale for `asymmetry`.
    pub largest: f64,
    /// Largest difference between the numerical Jacobian and the closed form, if there is one.
    pub from_closed_form: Option<f64>,
    /// Step of the central differences.
    pub step: f64,
    /// Smallest eigenvalue of `-(J + J^T) / 2`; non-negative where the implied cost is convex.
    pub smallest_eigenvalue: f64,
    /// Largest eigenvalue of `-(J + J^T) / 2`.
    pub largest_eigenvalue: f64,
    /// One crossing for each two neighbours of the ranking, from the top.
    pub crossings: Vec<Crossing>,
    /// Absolute tolerance for elements of the Jacobian.
    pub tolerance: f64,
    /// Absolute tolerance for lambdas.
    pub lambda_tolerance: f64,
}

impl FieldReport {
    /// Analyses a field at one point.
    ///
    /// # Errors
    /// If the numbers of scores and labels differ, a number is not finite, or there are more than [`MAX_DOCUMENTS`] documents.
    pub fn new(field: &dyn LambdaField, scores: &[f64], labels: &[f32]) -> Result<Self> {
        let n = scores.len();
        if labels.len() != n {
            return Err(Error::Mismatch(format!("{n} scores for {} labels", labels.len())));
        }
        if n > MAX_DOCUMENTS {
            return Err(Error::Data(format!("{n} documents: a field can be analysed for at most {MAX_DOCUMENTS}")));
        }
        if scores.iter().any(|s| !s.is_finite()) || labels.iter().any(|y| !y.is_finite()) {
            return Err(Error::Mismatch("scores and labels must be finite numbers".into()));
        }
        if let Some(score) = scores.iter().find(|score| score.abs() > LARGEST) {
            let message = format!("score {score}: derivatives need scores within ±{LARGEST:e}; rescale the scores");
            return Err(Error::Mismatch(message));
        }
        // Scores are shifted to where floating-point differences are finest.
        let frame = Frame::new(field, scores);
        let (original, scores) = (scores, separate(&frame.moved(scores), frame.least()));
        let order = order(&scores);
        let lambdas = field.lambdas(&scores, labels, &order);
        if lambdas.len() != n || lambdas.iter().any(|lambda| !lambda.is_finite()) {
            return Err(Error::Mismatch(format!("{}: expected one finite lambda per document", field.name())));
        }
        let gaps = order.windows(2).map(|pair| scores[pair[0]] - scores[pair[1]]);
        // The step must not cross a tie.
        let step = gaps.fold(frame.step(), |step, gap| step.min(gap / 4.0));
        let jacobian = differences(field, &scores, labels, step);
        if jacobian.iter().any(|x| !x.is_finite()) {
            return Err(Error::Mismatch(format!("{}: a lambda near these scores is not finite", field.name())));
        }
        let largest = jacobian.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        let largest_lambda = lambdas.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        // The regularisation term adds rounding errors, but no asymmetry and no jumps: tolerances exclude it.
        let spring = field.spring();
        let without_spring = |at: usize| if at.is_multiple_of(n + 1) { jacobian[at] + spring } else { jacobian[at] };
        let jacobian_scale = (0..n * n).fold(0.0, |scale: f64, at| scale.max(without_spring(at).abs()));
        let lambda_scale = lambdas.iter().zip(&scores).fold(0.0, |a: f64, (l, s)| a.max((l + spring * s).abs()));
        let rounding = 64.0 * f64::EPSILON * (largest_lambda + largest * frame.width);
        let tolerance = 1e-6 * jacobian_scale + rounding / step;
        let lambda_tolerance = 1e-6 * lambda_scale.max(jacobian_scale * frame.width)
            + rounding
            + 4.0 * frame.crossing() * largest
            + f64::MIN_POSITIVE;
        let (asymmetry, worst_pair) = asymmetry(&jacobian, n);
        let closed = field.jacobian(&scores, labels, &order);
        let from_closed_form = closed
            .map(|closed| closed.iter().zip(&jacobian).fold(0.0, |largest: f64, (a, b)| largest.max((a - b).abs())));
        let hessian: Vec<f64> = (0..n * n).map(|at| -0.5 * (jacobian[at] + jacobian[at % n * n + at / n])).collect();
        let spectrum = eigenvalues(&hessian)?;
        let crossings: Vec<Crossing> =
            (1..n).map(|below| Crossing::at(field, &scores, labels, &order, below - 1, frame.crossing())).collect();
        let potential = if asymmetry > tolerance {
            Potential::None
        } else if crossings.iter().any(|crossing| crossing.sideways > lambda_tolerance) {
            Potential::BetweenTies
        } else {
            Potential::Conservative
        };
        Ok(FieldReport {
            field: field.name(),
            labels: labels.to_vec(),
            sum: lambdas.iter().sum(),
            lambdas,
            potential,
            asymmetry,
            worst_pair,
            largest,
            from_closed_form,
            step,
            smallest_eigenvalue: spectrum.first().copied().unwrap_or(0.0),
            largest_eigenvalue: spectrum.last().copied().unwrap_or(0.0),
            crossings,
            tolerance,
            lambda_tolerance,
            scores: frame.moved_back(&scores, original),
        })
    }

    /// Returns whether the lambdas come from one cost, including at ties.
    pub fn conservative(&self) -> bool {
        self.potential == Potential::Conservative
    }

    /// Returns whether the Jacobian is symmetric at these scores, ignoring ties.
    pub fn symmetric(&self) -> bool {
        self.potential != Potential::None
    }

    /// Returns whether the implied cost is convex at these scores and across the neighbouring ties.
    pub fn convex(&self) -> bool {
        let convex_at_ties = self.crossings.iter().all(|crossing| crossing.stiffening >= -self.lambda_tolerance);
        self.conservative() && self.psd() && convex_at_ties
    }

    /// Returns whether `-J` is positive semidefinite at these scores: the implied cost is convex between ties.
    pub fn psd(&self) -> bool {
        // A perturbation moves the eigenvalues of a matrix by at most its element-wise size times n.
        self.smallest_eigenvalue >= -self.tolerance * self.scores.len().max(1) as f64
    }

    /// Returns whether the lambdas sum to zero (Newton's third law).
    pub fn balanced(&self) -> bool {
        let size: f64 = self.lambdas.iter().map(|lambda| lambda.abs()).sum();
        self.sum.abs() <= 1e-9 * size
    }
}

/// Maximum absolute score.
const LARGEST: f64 = 1e12;

/// Step of central differences where no tie is near, in widths of the field. Balances the error of the differences, which is
/// quadratic in the step, with the rounding error.
const STEP: f64 = 1e-5;

/// Minimum distance of two scores, in widths of the field: leaves room for the central differences.
const APART: f64 = 1e-6;

/// Distance of two documents from a tie on either side, in widths of the field: small enough that a smooth field does not
/// change noticeably.
const CROSSING: f64 = 1e-9;

/// Origin and scale of the scores. Distances are relative to the width of the field and the spacing of floating-point numbers,
/// not to the size of the scores.
struct Frame {
    /// Subtracted from all scores; 0 if the field depends on shifts.
    origin: f64,
    /// The score difference over which lambdas change.
    width: f64,
    /// The spacing of floating-point numbers at the largest score.
    grain: f64,
}

impl Frame {
    fn new(field: &dyn LambdaField, scores: &[f64]) -> Self {
        let order = order(scores);
        // The median score: differences to it are free of rounding errors if scores are much larger than their differences.
        let middle = order.get(order.len() / 2).map_or(0.0, |&document| scores[document]);
        let origin = if field.ignores_shifts() { middle } else { 0.0 };
        let largest = scores.iter().fold(0.0, |largest: f64, score| largest.max((score - origin).abs()));
        let width = if field.width() > 0.0 && field.width().is_finite() { field.width() } else { 1.0 };
        Frame { origin, width, grain: f64::EPSILON * largest }
    }

    fn moved(&self, scores: &[f64]) -> Vec<f64> {
        scores.iter().map(|score| score - self.origin).collect()
    }

    /// The scores in the caller's frame; those that were not separated are unchanged.
    fn moved_back(&self, moved: &[f64], original: &[f64]) -> Vec<f64> {
        let back = |(&x, &original): (&f64, &f64)| if x == original - self.origin { original } else { x + self.origin };
        moved.iter().zip(original).map(back).collect()
    }

    fn step(&self) -> f64 {
        (STEP * self.width).max(64.0 * self.grain)
    }

    fn least(&self) -> f64 {
        (APART * self.width).max(512.0 * self.grain)
    }

    fn crossing(&self) -> f64 {
        (CROSSING * self.width).max(4.0 * self.grain)
    }
}

/// Separates scores that are closer than `least` by moving the lower one down; equal scores are ordered by document.
fn separate(scores: &[f64], least: f64) -> Vec<f64> {
    let order = order(scores);
    let mut moved = scores.to_vec();
    for pair in order.windows(2) {
        let ceiling = moved[pair[0]];
        if ceiling - moved[pair[1]] < least {
            moved[pair[1]] = ceiling - least;
        }
    }
    moved
}

/// `d lambda_i / d s_j` by central differences, row-major.
fn differences(field: &dyn LambdaField, scores: &[f64], labels: &[f32], step: f64) -> Vec<f64> {
    let n = scores.len();
    let mut jacobian = vec![0.0; n * n];
    for j in 0..n {
        let shifted = |shift: f64| {
            let mut moved = scores.to_vec();
            moved[j] += shift;
            (lambdas_at(field, &moved, labels), moved[j])
        };
        let ((up, right), (down, left)) = (shifted(step), shifted(-step));
        for i in 0..n {
            jacobian[i * n + j] = (up[i] - down[i]) / (right - left);
        }
    }
    jacobian
}

fn asymmetry(jacobian: &[f64], n: usize) -> (f64, Option<(usize, usize)>) {
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (j, i)));
    pairs.fold((0.0, None), |worst, (i, j)| {
        let difference = (jacobian[i * n + j] - jacobian[j * n + i]).abs();
        if difference > worst.0 { (difference, Some((i, j))) } else { worst }
    })
}

#[cfg(test)]
mod tests;
