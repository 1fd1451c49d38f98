//! The random cubic polynomial of the RankNet paper's section 5.1.

use super::net::dot;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

/// f(x) = (L + Q + C) / 3, where L = w . x, Q = sum_i x_i x_q(i) and C = sum_i x_i x_r(i) x_s(i), each standardized to mean 0
/// and variance 1; w is uniform in [-1, 1], and q, r, s are random permutations.
///
/// The paper scales each term "over the data". Here means and variances are exact for independent features that are uniform
/// in [-1, 1], so that they do not depend on the number of queries.
#[derive(Debug, Clone)]
pub(super) struct Polynomial {
    weights: Vec<f64>,
    quadratic: Vec<[usize; 2]>,
    cubic: Vec<[usize; 3]>,
    linear_spread: f64,
    quadratic_moments: (f64, f64),
    cubic_moments: (f64, f64),
}

impl Polynomial {
    pub(super) fn random(features: usize, rng: &mut impl Rng) -> Polynomial {
        let weights: Vec<f64> = (0..features).map(|_| rng.random_range(-1.0..=1.0)).collect();
        let mut permutation = || {
            let mut order: Vec<usize> = (0..features).collect();
            order.shuffle(rng);
            order
        };
        let quadratic: Vec<[usize; 2]> = permutation().into_iter().enumerate().map(|(i, q)| [i, q]).collect();
        let cubic: Vec<[usize; 3]> = (0..).zip(permutation()).zip(permutation()).map(|((i, r), s)| [i, r, s]).collect();
        let linear_spread = (weights.iter().map(|w| w * w).sum::<f64>() / 3.0).sqrt();
        let (quadratic_moments, cubic_moments) = (moments(&quadratic, features), moments(&cubic, features));
        Polynomial { weights, quadratic, cubic, linear_spread, quadratic_moments, cubic_moments }
    }

    pub(super) fn target(&self, x: &[f32]) -> f64 {
        self.terms(x).iter().sum::<f64>() / 3.0
    }

    /// Returns the three terms, each with mean 0 and variance 1.
    fn terms(&self, x: &[f32]) -> [f64; 3] {
        let at = |i: usize| f64::from(x[i]);
        let quadratic: f64 = self.quadratic.iter().map(|&[i, q]| at(i) * at(q)).sum();
        let cubic: f64 = self.cubic.iter().map(|&[i, r, s]| at(i) * at(r) * at(s)).sum();
        let scale = |value: f64, (mean, spread): (f64, f64)| if spread > 0.0 { (value - mean) / spread } else { 0.0 };
        [
            scale(dot(&self.weights, x), (0.0, self.linear_spread)),
            scale(quadratic, self.quadratic_moments),
            scale(cubic, self.cubic_moments),
        ]
    }
}

/// Returns mean and standard deviation of a sum of monomials in independent variables that are uniform in [-1, 1].
///
/// Monomials without a common variable are independent, and each variable occurs in few monomials, so few covariances are not 0.
fn moments<const N: usize>(monomials: &[[usize; N]], variables: usize) -> (f64, f64) {
    let mut with: Vec<Vec<usize>> = vec![Vec::new(); variables];
    for (index, monomial) in monomials.iter().enumerate() {
        monomial.iter().for_each(|&variable| with[variable].push(index));
    }
    let mean: f64 = monomials.iter().map(|monomial| expectation(monomial)).sum();
    let mut variance = 0.0;
    for monomial in monomials {
        let mut partners: Vec<usize> = monomial.iter().flat_map(|&variable| &with[variable]).copied().collect();
        partners.sort_unstable();
        partners.dedup();
        for partner in partners {
            let partner = &monomials[partner];
            let product: Vec<usize> = monomial.iter().chain(partner).copied().collect();
            variance += expectation(&product) - expectation(monomial) * expectation(partner);
        }
    }
    (mean, variance.max(0.0).sqrt())
}

/// Returns the mean of a product of variables: E x^k is 1 / (k + 1) for even k and 0 for odd k.
fn expectation(variables: &[usize]) -> f64 {
    let mut sorted = variables.to_vec();
    sorted.sort_unstable();
    let power = |run: &[usize]| if run.len().is_multiple_of(2) { 1.0 / (run.len() + 1) as f64 } else { 0.0 };
    sorted.chunk_by(|a, b| a == b).map(power).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn uniform(n: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
        (0..n).map(|_| 2.0 * rng.random::<f32>() - 1.0).collect()
    }

    #[test]
    fn moments_of_small_sums() {
        let near = |(mean, spread): (f64, f64), m: f64, v: f64| {
            assert!((mean - m).abs() < 1e-15 && (spread - v.sqrt()).abs() < 1e-15, "{mean} {spread}");
        };
        near(moments(&[[0, 0]], 1), 1.0 / 3.0, 1.0 / 5.0 - 1.0 / 9.0);
        // x y occurs twice: variance 4/9, not 2/9.
        near(moments(&[[0, 1], [1, 0]], 2), 0.0, 4.0 / 9.0);
        near(moments(&[[0, 1], [1, 2], [2, 0]], 3), 0.0, 3.0 / 9.0);
        near(moments(&[[0, 0, 0]], 1), 0.0, 1.0 / 7.0);
        // x^3 + x y^2: variances 1/7 and 1/15, covariance E x^4 E y^2 = 1/15.
        near(moments(&[[0, 0, 0], [0, 1, 1]], 2), 0.0, 1.0 / 7.0 + 1.0 / 15.0 + 2.0 / 15.0);
    }

    #[test]
    fn each_term_has_mean_0_and_variance_1_on_data() {
        // Few features make fixed points and repeated monomials likely.
        for features in [1, 2, 3, 5, 50] {
            let mut rng = ChaCha8Rng::seed_from_u64(features as u64);
            let polynomial = Polynomial::random(features, &mut rng);
            let n = 40_000;
            let (mut sum, mut square) = ([0.0; 3], [0.0; 3]);
            for _ in 0..n {
                let terms = polynomial.terms(&uniform(features, &mut rng));
                for t in 0..3 {
                    sum[t] += terms[t] / f64::from(n);
                    square[t] += terms[t] * terms[t] / f64::from(n);
                }
            }
            // Standard errors: 0.005 for the mean; for the variance sqrt((kurtosis - 1) / n), at most 0.02 here.
            assert!(sum.iter().all(|m| m.abs() < 0.025), "{features}: {sum:?}");
            assert!(square.iter().all(|v| (v - 1.0).abs() < 0.08), "{features}: {square:?}");
        }
    }

    #[test]
    fn the_linear_term_explains_a_third_of_the_variance() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let polynomial = Polynomial::random(50, &mut rng);
        let (mut total, mut linear, n) = (0.0, 0.0, 40_000);
        for _ in 0..n {
            let x = uniform(50, &mut rng);
            total += polynomial.target(&x).powi(2);
            linear += (polynomial.terms(&x)[0] / 3.0).powi(2);
        }
        assert!((linear / total - 1.0 / 3.0).abs() < 0.02, "{}", linear / total);
    }
}
