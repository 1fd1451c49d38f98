//! SoftRank (Taylor, Guiver, Robertson and Minka 2008).
//!
//! The score of document `i` is drawn from `N(s_i, sigma^2)`. Document `j` beats it with probability
//! `b_ij = Phi((s_j - s_i) / (sigma sqrt 2))`, independently of the others, so that its rank is 1 plus a sum of
//! independent Bernoulli trials. SoftNDCG is NDCG with each discount replaced by its mean over the distribution of that
//! rank.
//!
//! The paper adds the trials to the distribution one at a time, which takes `O(n^3)` for all documents. The mean of a
//! power with the rank as exponent needs no distribution: `E[z^r] = z * product over j of (1 - b_ij + z b_ij)`. The
//! discount is therefore written as a sum of about a hundred powers, accurate to 1e-12, and everything takes `O(n^2)`,
//! with gradient and second derivatives in closed form.

use super::super::registry::{Make, ObjectiveEntry};
use super::super::tensor::{TensorTile, TilePart};
use super::common::{share_tensors, shares};
use super::{Formula, SmoothLoss};
use crate::error::Result;
use crate::metric::discount;
use crate::name::{Parameter, Spelling};
use crate::stop::Stop;
use std::f64::consts::{LN_2, PI};
use std::sync::Arc;
use std::sync::LazyLock;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "softrank",
    parameters: &[Parameter::number("sigma", 1.0, 1e-6..=1e6, "standard deviation of scores")],
    help: "expected NDCG for scores with Gaussian noise sigma (SoftRank)",
    make: Make::Smooth(|name| Arc::new(SmoothLoss(SoftRank { sigma: name.number("sigma") }))),
};

/// `C = 1 - sum_i G_i sum_r p_i(r) / log2(1 + r)`, where `p_i` is the distribution of document `i`'s rank.
///
/// Loss and gradient are 0 if all labels are equal. The loss is not convex: second derivatives may be negative.
#[derive(Debug)]
pub(in super::super) struct SoftRank {
    /// Standard deviation of a score.
    pub sigma: f64,
}

impl Formula for SoftRank {
    fn name(&self) -> String {
        Spelling::new(ROW.name).number("sigma", self.sigma, None).finish()
    }

    fn evaluate(&self, scores: &[f64], labels: &[f32], gradient: &mut [f64], hessian: &mut [f64], stop: &Stop) -> f64 {
        let Some(shares) = shares(labels) else { return 0.0 };
        let (powers, mut trials) = (Powers::up_to(scores.len()), Trials::default());
        let mut loss = 0.0;
        for (i, share) in shares.iter().enumerate().filter(|(_, share)| share.gain != 0.0) {
            if stop.asked() {
                break;
            }
            trials.set(scores, i, std::f64::consts::SQRT_2 * self.sigma);
            let (mean, remainder) = trials.mean(&powers, !hessian.is_empty());
            loss += share.ideal - share.gain * mean;
            for ((derivative, partial), density) in gradient.iter_mut().zip(&trials.partials).zip(&trials.density) {
                *derivative -= share.gain * partial * density;
            }
            let by_score: f64 =
                trials.partials.iter().zip(&trials.density).map(|(partial, density)| partial * density).sum();
            gradient[i] += share.gain * by_score;
            if !hessian.is_empty() {
                let mut total = remainder;
                for ((hessian, partial), second) in hessian.iter_mut().zip(&trials.partials).zip(&trials.second) {
                    *hessian -= share.gain * partial * second;
                    total += partial * second;
                }
                hessian[i] -= share.gain * total;
            }
        }
        loss
    }

    fn tile(&self, tile: &TensorTile<'_>) -> Result<TilePart> {
        let (score_i, score_j) = tile.sides(&tile.scores);
        let others = tile.sides(&tile.present).1 * tile.off_diagonal();
        let probabilities =
            (score_j - score_i).div_scalar(2.0 * self.sigma).erf().add_scalar(1.0).div_scalar(2.0) * others;
        let [gain, ideal] = share_tensors(tile).map(|shares| tile.sides(&shares).0);
        // Derivatives with respect to the probabilities are summed as constants: recording all powers for autodiff
        // would take a hundred times the memory.
        let fixed = probabilities.clone().without_autodiff();
        let powers = Powers::up_to(tile.shape()[2]);
        let mut partials = fixed.zeros_like().add_scalar(powers.linear);
        let mut means = fixed.clone().sum_dim(2).add_scalar(1.0).mul_scalar(powers.linear).add_scalar(powers.constant);
        for power in &powers.terms {
            tile.stop.check()?;
            // Slightly above -1 to keep the logarithm finite; the error is below single precision.
            let less = fixed.clone().mul_scalar(-power.less).clamp_min(-1.0 + 1e-6);
            let mean = less.clone().log1p().sum_dim(2).exp().mul_scalar(power.weight * (1.0 - power.less));
            partials = partials - (mean.clone() / less.add_scalar(1.0)).mul_scalar(power.less);
            means = means + mean;
        }
        let loss = (ideal - gain.clone() * means).sum();
        let carrier = (probabilities * partials * gain).sum();
        let value = carrier.clone().without_autodiff();
        Ok(tile.part(loss - (carrier - value)))
    }

    fn width(&self) -> f64 {
        self.sigma
    }

    fn largest_label(&self) -> f32 {
        1e3
    }
}

/// The other documents as Bernoulli trials that determine one document's rank.
#[derive(Default)]
struct Trials {
    /// Probabilities of being below it and above it.
    probabilities: Vec<[f64; 2]>,
    /// First and second derivatives of the probability of being above it, with respect to the score of the other
    /// document.
    density: Vec<f64>,
    second: Vec<f64>,
    /// Derivative of the mean discount with respect to each probability.
    partials: Vec<f64>,
}

impl Trials {
    /// Sets the probabilities; `spread` is the standard deviation of a difference of scores. The document itself counts
    /// as below.
    fn set(&mut self, scores: &[f64], document: usize, spread: f64) {
        self.probabilities.clear();
        self.density.clear();
        self.second.clear();
        for (other, score) in scores.iter().enumerate() {
            let x = (score - scores[document]) / spread;
            let (below, above, density) = if other == document { (1.0, 0.0, 0.0) } else { normal(x) };
            self.probabilities.push([below, above]);
            self.density.push(density / spread);
            self.second.push(-x * density / (spread * spread));
        }
    }

    /// Returns the mean discount, and the part of its second derivative with respect to the document's own score that
    /// `partials` does not cover.
    fn mean(&mut self, powers: &Powers, with_second: bool) -> (f64, f64) {
        let rank = 1.0 + self.probabilities.iter().map(|probabilities| probabilities[1]).sum::<f64>();
        let (mut mean, mut second) = (powers.constant + powers.linear * rank, 0.0);
        self.partials.clear();
        self.partials.resize(self.probabilities.len(), powers.linear);
        for &Power { less, weight } in &powers.terms {
            let z = 1.0 - less;
            let factor = |probabilities: &[f64; 2]| probabilities[0] + z * probabilities[1];
            // Four independent products run in parallel in the processor.
            let mut products = [1.0; 4];
            let (fours, rest) = self.probabilities.as_chunks::<4>();
            for four in fours {
                products.iter_mut().zip(four).for_each(|(product, probabilities)| *product *= factor(probabilities));
            }
            rest.iter().for_each(|probabilities| products[0] *= factor(probabilities));
            let power = weight * z * products.iter().product::<f64>();
            // Every factor is above e^-40.
            if power < 1e-40 {
                continue;
            }
            mean += power;
            for (partial, probabilities) in self.partials.iter_mut().zip(&self.probabilities) {
                *partial -= power * less / factor(probabilities);
            }
            if with_second {
                let (mut sum, mut squares) = (0.0, 0.0);
                for (density, probabilities) in self.density.iter().zip(&self.probabilities) {
                    let part = less * density / factor(probabilities);
                    sum += part;
                    squares += part * part;
                }
                second += power * (sum * sum - squares);
            }
        }
        (mean, second)
    }
}

/// `weight * (1 - less)^rank`.
#[derive(Debug, Clone, Copy)]
struct Power {
    less: f64,
    weight: f64,
}

/// The discount `1 / log2(1 + r)` of a rank as `constant + linear * r + sum of powers`.
#[derive(Debug, Clone)]
struct Powers {
    constant: f64,
    linear: f64,
    terms: Vec<Power>,
}

impl Powers {
    /// Powers for lists of `n` documents.
    fn up_to(n: usize) -> Powers {
        static ALL: LazyLock<Powers> = LazyLock::new(Powers::integrate);
        let mut powers = Powers { terms: vec![], ..*ALL };
        for &power in &ALL.terms {
            // Powers that are linear up to rank n, to within 1e-15.
            if power.less * (n as f64) < 3e-8 {
                powers.constant += power.weight;
                powers.linear -= power.weight * power.less;
            } else {
                powers.terms.push(power);
            }
        }
        powers
    }

    /// `1 / ln(1 + r)` is the integral over `u > 0` of
    /// `e^(-u r) (1 + e^-u integral over v > 0 of e^(-u v) / (ln^2 v + pi^2))`, computed with the trapezoid rule over
    /// `ln u` and `ln v`, which converges faster than any power of the step.
    fn integrate() -> Powers {
        const STEP: f64 = 0.3;
        const INNER: f64 = 0.5;
        const LONGEST: usize = 1 << 24;
        let terms: Vec<Power> = (-120..=12)
            .map(|place| {
                let u = (STEP * f64::from(place)).exp();
                let inner = |place: i32| {
                    let x = INNER * f64::from(place);
                    (x - u * x.exp()).exp() / (x * x + PI * PI)
                };
                let above = ((45.0 / u).ln() / INNER) as i32;
                let density = 1.0 + (-u).exp() * INNER * (-80..=above).map(inner).sum::<f64>();
                Power { less: -(-u).exp_m1(), weight: LN_2 * STEP * u * density }
            })
            .collect();
        // The part below the first step is linear over all ranks: computed from the first and the last rank.
        let missing = |rank: usize| {
            let sum: f64 = terms.iter().map(|power| power.weight * (rank as f64 * (-power.less).ln_1p()).exp()).sum();
            discount(rank - 1) - sum
        };
        let linear = (missing(LONGEST) - missing(1)) / (LONGEST - 1) as f64;
        Powers { constant: missing(1) - linear, linear, terms }
    }
}

/// Standard normal distribution at `x`: upper tail, lower tail and density.
fn normal(x: f64) -> (f64, f64, f64) {
    let (far, square) = (x.abs(), x * x);
    let density = (-square / 2.0).exp() / (2.0 * PI).sqrt();
    let tail = if far < 3.0 {
        let (mut sum, mut term, mut odd) = (0.0, far, 1.0);
        while term > 1e-17 {
            sum += term;
            odd += 2.0;
            term *= square / odd;
        }
        0.5 - density * sum
    } else {
        // The continued fraction of Mills' ratio.
        density / (1..=40).rev().fold(far, |fraction, k| far + f64::from(k) / fraction)
    };
    if x > 0.0 { (tail, 1.0 - tail, density) } else { (1.0 - tail, tail, density) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// The paper's recursion for the distribution of a rank: one trial at a time.
    fn by_recursion(sigma: f64, scores: &[f64], labels: &[f32]) -> f64 {
        let n = scores.len();
        let shares = shares(labels).unwrap();
        let soft: f64 = (0..n)
            .map(|i| {
                let mut distribution = vec![0.0; n + 1];
                distribution[0] = 1.0;
                for j in (0..n).filter(|&j| j != i) {
                    let probability = normal((scores[j] - scores[i]) / (sigma * 2f64.sqrt())).1;
                    for place in (0..n).rev() {
                        let before = if place > 0 { distribution[place - 1] } else { 0.0 };
                        distribution[place] = distribution[place] * (1.0 - probability) + before * probability;
                    }
                }
                shares[i].gain * (0..n).map(|place| distribution[place] * discount(place)).sum::<f64>()
            })
            .sum();
        1.0 - soft
    }

    #[test]
    fn losses_agree_with_the_papers_recursion() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(4);
        for (n, sigma) in [(2, 1.0), (5, 0.1), (30, 1.0), (30, 1e-3), (100, 0.3), (400, 2.0)] {
            let scores: Vec<f64> = (0..n).map(|_| random.random_range(-3.0..3.0)).collect();
            let labels: Vec<f32> = (0..n).map(|_| random.random_range(0..5) as f32).collect();
            let loss = SoftRank { sigma }.evaluate(&scores, &labels, &mut vec![0.0; n], &mut [], &Stop::new());
            let expected = by_recursion(sigma, &scores, &labels);
            assert!((loss - expected).abs() < 1e-11, "{n} {sigma}: {loss} {expected}");
        }
    }

    #[test]
    fn powers_add_up_to_the_discount() {
        for n in [1, 2, 10, 1_000, 100_000] {
            let powers = Powers::up_to(n);
            for rank in [1, 2, 3, 5, 10, 77, 1_000, 30_000, 100_000].into_iter().filter(|&rank| rank <= n) {
                let terms = powers.terms.iter().map(|power| power.weight * (rank as f64 * (-power.less).ln_1p()).exp());
                let sum = powers.constant + powers.linear * rank as f64 + terms.sum::<f64>();
                assert!((sum - discount(rank - 1)).abs() < 1e-12, "{rank} of {n}: {sum}");
            }
        }
    }

    #[test]
    fn normal_distribution_agrees_with_tables() {
        // Abramowitz and Stegun, tables 26.1 and 26.2.
        for (x, below) in [(0.0, 0.5), (1.0, 0.841344746068543), (2.0, 0.977249868051821), (3.0, 0.998650101968370)] {
            let (above, value, _) = normal(x);
            assert!((value - below).abs() < 1e-14 && (above + value - 1.0).abs() < 1e-15, "{x}: {value}");
            assert!((normal(-x).0 - value).abs() < 1e-16);
        }
        // -log10 of the upper tail, for 5 to 30.
        for (x, log) in [(5.0, 6.54265), (10.0, 23.11805), (30.0, 197.30921)] {
            assert!((normal(x).0.log10() + log).abs() < 1e-5, "{x}");
        }
        // Both formulas of the tail agree where they meet.
        assert!((normal(3.0 - 1e-12).0 / normal(3.0).0 - 1.0).abs() < 1e-11);
    }
}
