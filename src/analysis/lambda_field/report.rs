//! Everything that can be said about a field at one query.

use super::{Crossing, eigenvalues};
use crate::error::{Error, Result};
use crate::metric::order;
use crate::objective::LambdaField;
use crate::objective::lambda_field::lambdas_at;
use serde::Serialize;

/// More documents than this have too many pairs of derivatives to look at.
pub const MOST_DOCUMENTS: usize = 400;

/// Whether lambdas come from a cost, `lambda = -dC/ds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Potential {
    /// The Jacobian is symmetric, and nothing at the ties says otherwise.
    Conservative,
    /// The Jacobian is symmetric, but jumps at ties do work: a cost for each order of the documents, none for all of them.
    BetweenTies,
    /// The Jacobian is not symmetric: no cost at all.
    None,
}

/// A field at the scores of one query: the Jacobian `J_ij = d lambda_i / d s_j` and the ties next to it.
///
/// A cost exists if and only if `J` is symmetric everywhere (Poincaré's lemma; Eq. 5 and 33 of the 2006 papers), and is convex if
/// and only if `-J` is positive semidefinite everywhere. A report looks at one point and at the ties of neighbours there.
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
    /// The field's name.
    pub field: String,
    /// The scores that were looked at: equal ones are moved apart a little, in document order, because a field may have no
    /// Jacobian where documents tie.
    pub scores: Vec<f64>,
    /// The labels.
    pub labels: Vec<f32>,
    /// The forces.
    pub lambdas: Vec<f64>,
    /// Their sum; Newton's third law asks for 0.
    pub sum: f64,
    /// Whether there is a cost.
    pub potential: Potential,
    /// The largest `|J_ij - J_ji|`.
    pub asymmetry: f64,
    /// Where that is.
    pub worst_pair: Option<(usize, usize)>,
    /// The largest `|J_ij|`, which asymmetry compares to.
    pub largest: f64,
    /// The largest difference of the numerical Jacobian from the closed form, where there is one.
    pub from_closed_form: Option<f64>,
    /// The step of the central differences.
    pub step: f64,
    /// Of `-(J + J^T) / 2`: not negative where the implied cost is convex.
    pub smallest_eigenvalue: f64,
    /// Of the same.
    pub largest_eigenvalue: f64,
    /// Every two neighbours of the ranking, the top ones first.
    pub crossings: Vec<Crossing>,
    /// What counts as zero for elements of the Jacobian here.
    pub tolerance: f64,
    /// What counts as zero for forces here.
    pub lambda_tolerance: f64,
}

impl FieldReport {
    /// Looks at a field at one point.
    ///
    /// # Errors
    /// When there is not one label per score, a number is not finite, or there are more than [`MOST_DOCUMENTS`] documents.
    pub fn new(field: &dyn LambdaField, scores: &[f64], labels: &[f32]) -> Result<Self> {
        let n = scores.len();
        if labels.len() != n {
            return Err(Error::Mismatch(format!("{n} scores for {} labels", labels.len())));
        }
        if n > MOST_DOCUMENTS {
            return Err(Error::Data(format!("{n} documents: a field is analysed for {MOST_DOCUMENTS} at most")));
        }
        if scores.iter().any(|s| !s.is_finite()) || labels.iter().any(|y| !y.is_finite()) {
            return Err(Error::Mismatch("scores and labels must be finite numbers".into()));
        }
        if let Some(score) = scores.iter().find(|score| score.abs() > LARGEST) {
            let message = format!("a score of {score}: beyond ±{LARGEST:e} there is no room for small steps");
            return Err(Error::Mismatch(message));
        }
        // All that follows happens where differences of scores are finest, and is measured by them.
        let frame = Frame::new(field, scores);
        let (given, scores) = (scores, apart(&frame.moved(scores), frame.least()));
        let order = order(&scores);
        let lambdas = field.lambdas(&scores, labels, &order);
        if lambdas.len() != n || lambdas.iter().any(|lambda| !lambda.is_finite()) {
            return Err(Error::Mismatch(format!("{}: expected one finite lambda per document", field.name())));
        }
        let gaps = order.windows(2).map(|pair| scores[pair[0]] - scores[pair[1]]);
        // Not over a tie, nor so small that only rounding is left.
        let step = gaps.fold(frame.step(), |step, gap| step.min(gap / 4.0));
        let jacobian = differences(field, &scores, labels, step);
        if jacobian.iter().any(|x| !x.is_finite()) {
            return Err(Error::Mismatch(format!("{}: a lambda near these scores is not finite", field.name())));
        }
        let largest = jacobian.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let force = lambdas.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        // Springs to the origin add rounding, and nothing else that could be unequal or jump.
        let spring = field.spring();
        let own = |at: usize| if at.is_multiple_of(n + 1) { jacobian[at] + spring } else { jacobian[at] };
        let own_largest = (0..n * n).fold(0.0, |most: f64, at| most.max(own(at).abs()));
        let own_force = lambdas.iter().zip(&scores).fold(0.0, |most: f64, (l, s)| most.max((l + spring * s).abs()));
        let rounding = 64.0 * f64::EPSILON * (force + largest * frame.width);
        let tolerance = 1e-6 * own_largest + rounding / step;
        let lambda_tolerance = 1e-6 * own_force.max(own_largest * frame.width)
            + rounding
            + 4.0 * frame.crossing() * largest
            + f64::MIN_POSITIVE;
        let (asymmetry, worst_pair) = asymmetry(&jacobian, n);
        let closed = field.jacobian(&scores, labels, &order);
        let from_closed_form =
            closed.map(|closed| closed.iter().zip(&jacobian).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())));
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
            scores: frame.moved_back(&scores, given),
        })
    }

    /// Whether the lambdas come from one cost, ties included.
    pub fn conservative(&self) -> bool {
        self.potential == Potential::Conservative
    }

    /// Whether the Jacobian is symmetric here, between ties.
    pub fn symmetric(&self) -> bool {
        self.potential != Potential::None
    }

    /// Whether the implied cost is convex: here, and over the ties next to here.
    pub fn convex(&self) -> bool {
        let stiff = self.crossings.iter().all(|crossing| crossing.stiffening >= -self.lambda_tolerance);
        self.conservative() && self.psd() && stiff
    }

    /// Whether `-J` is positive semidefinite here: the implied cost is convex between ties.
    pub fn psd(&self) -> bool {
        // The eigenvalues of a matrix move by its error times its size at most.
        self.smallest_eigenvalue >= -self.tolerance * self.scores.len().max(1) as f64
    }

    /// Whether forces sum to zero: Newton's third law.
    pub fn balanced(&self) -> bool {
        let size: f64 = self.lambdas.iter().map(|lambda| lambda.abs()).sum();
        self.sum.abs() <= 1e-9 * size
    }
}

/// Scores beyond this are refused.
const LARGEST: f64 = 1e12;

/// The step of central differences where no tie is near, in widths of the field: its square and the rounding of f64 over
/// it are about alike.
const STEP: f64 = 1e-5;

/// The smallest distance of two scores, in widths of the field: room for the differences.
const APART: f64 = 1e-6;

/// How far two documents stand on both sides of a tie, in widths of the field: near enough that a smooth field does not
/// notice.
const CROSSING: f64 = 1e-9;

/// Where zero is put, and what is small there: distances are measured by the field and by how finely numbers differ, never
/// by how large scores are.
struct Frame {
    /// Subtracted from all scores; 0 where the field would notice.
    origin: f64,
    /// The difference of scores over which forces change.
    width: f64,
    /// The distance of neighbouring numbers at the largest score.
    grain: f64,
}

impl Frame {
    fn new(field: &dyn LambdaField, scores: &[f64]) -> Self {
        let order = order(scores);
        // A score of a document in the middle: differences to it have no rounding errors where scores are much larger than these.
        let middle = order.get(order.len() / 2).map_or(0.0, |&document| scores[document]);
        let origin = if field.ignores_shifts() { middle } else { 0.0 };
        let largest = scores.iter().fold(0.0, |most: f64, score| most.max((score - origin).abs()));
        let width = if field.width() > 0.0 && field.width().is_finite() { field.width() } else { 1.0 };
        Frame { origin, width, grain: f64::EPSILON * largest }
    }

    fn moved(&self, scores: &[f64]) -> Vec<f64> {
        scores.iter().map(|score| score - self.origin).collect()
    }

    /// As the caller gave them, but for those that were moved apart.
    fn moved_back(&self, moved: &[f64], given: &[f64]) -> Vec<f64> {
        let back =
            |(&moved, &given): (&f64, &f64)| if moved == given - self.origin { given } else { moved + self.origin };
        moved.iter().zip(given).map(back).collect()
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

/// Scores nearer to each other than `least` moved apart, first documents up, by less than anything else that happens.
fn apart(scores: &[f64], least: f64) -> Vec<f64> {
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
