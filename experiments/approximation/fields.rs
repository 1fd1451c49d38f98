//! Facts about fields of lambdas: when they have a cost, and when it is convex.

use crate::harness::Session;
use crate::harness::facts::Checked;
use burnrank::analysis::lambda_field::{FieldReport, Potential, Regularised, eigenvalues};
use burnrank::metric::{discount, order};
use burnrank::{LambdaField, Objective};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Number of documents of the random fields.
const N: usize = 4;
/// Number of random fields of each kind.
const FIELDS: usize = 200;

/// `lambda_i = sum_j A_ij s_j + sum_jk B_ijk s_j s_k`.
struct Polynomial {
    linear: [[f64; N]; N],
    square: [[[f64; N]; N]; N],
}

impl Polynomial {
    /// A field without any symmetry.
    fn random(random: &mut ChaCha8Rng) -> Polynomial {
        let mut value = || random.random_range(-1.0..1.0);
        Polynomial {
            linear: std::array::from_fn(|_| std::array::from_fn(|_| value())),
            square: std::array::from_fn(|_| std::array::from_fn(|_| std::array::from_fn(|_| value()))),
        }
    }

    /// The same field with `A` and `B` symmetrised in all indices: the gradient of a cubic polynomial.
    fn symmetric(&self) -> Polynomial {
        let square = |i: usize, j: usize, k: usize| {
            let places = [(i, j, k), (i, k, j), (j, i, k), (j, k, i), (k, i, j), (k, j, i)];
            places.iter().map(|&(a, b, c)| self.square[a][b][c]).sum::<f64>() / 6.0
        };
        Polynomial {
            linear: std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (self.linear[i][j] + self.linear[j][i]))),
            square: std::array::from_fn(|i| std::array::from_fn(|j| std::array::from_fn(|k| square(i, j, k)))),
        }
    }

    fn at(&self, s: &[f64; N]) -> [f64; N] {
        std::array::from_fn(|i| {
            (0..N).map(|j| s[j] * (self.linear[i][j] + (0..N).map(|k| self.square[i][j][k] * s[k]).sum::<f64>())).sum()
        })
    }
}

fn dot(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn plus(a: &[f64; N], factor: f64, b: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|k| a[k] + factor * b[k])
}

fn axis(k: usize) -> [f64; N] {
    std::array::from_fn(|place| f64::from(u8::from(place == k)))
}

/// Integral of a field along a straight path, by three-point Gaussian quadrature on each of `parts` parts.
fn work(field: &dyn Fn(&[f64; N]) -> [f64; N], from: &[f64; N], to: &[f64; N], parts: usize) -> f64 {
    let path = plus(to, -1.0, from);
    let third = 0.6_f64.sqrt();
    let rule = [(-third, 5.0 / 18.0), (0.0, 8.0 / 18.0), (third, 5.0 / 18.0)];
    let at = |t: f64| dot(&field(&plus(from, t, &path)), &path);
    let part = |part: usize| {
        rule.iter().map(|(x, w)| w * at((part as f64 + 0.5 + 0.5 * x) / parts as f64)).sum::<f64>() / parts as f64
    };
    (0..parts).map(part).sum()
}

/// Largest error of the gradient of the cost that Poincaré's lemma constructs (the work along the path from 0), and the work
/// around a triangle.
fn potential_errors(field: &dyn Fn(&[f64; N]) -> [f64; N], corners: &[[f64; N]; 3], parts: usize) -> (f64, f64) {
    let cost = |s: &[f64; N]| work(field, &[0.0; N], s, parts);
    let step = 1e-4;
    let s = &corners[0];
    let gradient = |k| (cost(&plus(s, step, &axis(k))) - cost(&plus(s, -step, &axis(k)))) / (2.0 * step);
    let lambdas = field(s);
    let off = (0..N).map(|k| (gradient(k) - lambdas[k]).abs()).fold(0.0, f64::max);
    let around: f64 = (0..3).map(|k| work(field, &corners[k], &corners[(k + 1) % 3], parts)).sum();
    (off, around.abs())
}

fn asymmetry(field: &Polynomial, s: &[f64; N]) -> f64 {
    let step = 1e-5;
    let row = |j: usize| {
        let (up, down) = (field.at(&plus(s, step, &axis(j))), field.at(&plus(s, -step, &axis(j))));
        plus(&up, -1.0, &down).map(|x| x / (2.0 * step))
    };
    let columns: [[f64; N]; N] = std::array::from_fn(row);
    (0..N * N).map(|at| (columns[at / N][at % N] - columns[at % N][at / N]).abs()).fold(0.0, f64::max)
}

pub fn poincare(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 4);
    let (mut closed, mut open) = ([0.0f64; 3], [f64::INFINITY; 3]);
    for _ in 0..FIELDS {
        let any = Polynomial::random(&mut random);
        let corners: [[f64; N]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| random.random_range(-1.0..1.0)));
        let of = |field: &Polynomial| {
            let (off, around) = potential_errors(&|s| field.at(s), &corners, 2);
            [asymmetry(field, &corners[0]), off, around]
        };
        let (symmetric, any) = (of(&any.symmetric()), of(&any));
        closed = std::array::from_fn(|k| closed[k].max(symmetric[k]));
        open = std::array::from_fn(|k| open[k].min(any[k]));
    }
    let ranknet = Objective::parse("ranknet")?;
    let field = ranknet.as_field()?;
    let labels = [0.0, 1.0, 2.0, 1.0];
    let at = |s: &[f64; N]| -> [f64; N] {
        let lambdas = field.lambdas(s, &labels, &order(s));
        std::array::from_fn(|k| lambdas[k])
    };
    let corners = [[0.3, -0.2, 0.9, 0.5], [1.3, 0.1, -0.4, 0.2], [-0.8, 0.7, 0.6, -1.0]];
    let (off, around) = potential_errors(&at, &corners, 50);
    let ours = format!(
        "{FIELDS} fields of symmetric Jacobian (largest asymmetry {:.0e}): the gradient of the constructed cost is off by at most \
         {:.0e}, work around a triangle at most {:.0e}; {FIELDS} others (smallest asymmetry {:.2}): off by at least \
         {:.1e}; RankNet's: {off:.0e} and {around:.0e}",
        closed[0], closed[1], closed[2], open[0], open[1]
    );
    let exact = closed.iter().all(|error| *error < 1e-6) && off < 1e-6 && around < 1e-9;
    Checked::new(exact && open[0] > 1e-3 && open[1] > 1e-3, ours)
}

/// A random symmetric matrix with the given smallest eigenvalue.
fn with_smallest(smallest: f64, random: &mut ChaCha8Rng) -> anyhow::Result<Vec<f64>> {
    let factor: Vec<f64> = (0..N * N).map(|_| random.random_range(-1.0..1.0)).collect();
    let mut matrix: Vec<f64> =
        (0..N * N).map(|at| (0..N).map(|k| factor[at / N * N + k] * factor[at % N * N + k]).sum()).collect();
    let current = eigenvalues(&matrix)?[0];
    matrix.iter_mut().step_by(N + 1).for_each(|diagonal| *diagonal += smallest - current);
    Ok(matrix)
}

fn quadratic(matrix: &[f64], s: &[f64; N]) -> f64 {
    0.5 * (0..N * N).map(|at| matrix[at] * s[at / N] * s[at % N]).sum::<f64>()
}

/// Returns whether any of many random chords lies below the function at its midpoint.
fn any_chord_below(matrix: &[f64], random: &mut ChaCha8Rng) -> bool {
    (0..2000).any(|_| {
        let mut point = || -> [f64; N] { std::array::from_fn(|_| random.random_range(-1.0..1.0)) };
        let (a, b) = (point(), point());
        let middle: [f64; N] = std::array::from_fn(|k| 0.5 * (a[k] + b[k]));
        quadratic(matrix, &middle) > 0.5 * (quadratic(matrix, &a) + quadratic(matrix, &b)) + 1e-12
    })
}

pub fn convex_where_positive(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 5);
    let (mut convex, mut nonconvex) = (0, 0);
    for _ in 0..FIELDS {
        let positive = with_smallest(0.0, &mut random)?;
        convex += usize::from(!any_chord_below(&positive, &mut random));
        let indefinite = with_smallest(-0.5, &mut random)?;
        nonconvex += usize::from(any_chord_below(&indefinite, &mut random));
    }
    let ours = format!(
        "{convex} of {FIELDS} with a smallest eigenvalue of 0 are convex; {nonconvex} of {FIELDS} with -0.5 are not"
    );
    Checked::new(convex == FIELDS && nonconvex == FIELDS, ours)
}

/// Lambdas of constant size for each pair in the wrong order; if `ranked`, the size depends on the ranks.
#[derive(Debug)]
struct ConstantLambdas {
    ranked: bool,
}

impl LambdaField for ConstantLambdas {
    fn name(&self) -> String {
        "constant lambdas".into()
    }

    fn lambdas(&self, scores: &[f64], labels: &[f32], order: &[usize]) -> Vec<f64> {
        let mut lambdas = vec![0.0; scores.len()];
        for (upper, &i) in order.iter().enumerate() {
            for (lower, &j) in order.iter().enumerate().skip(upper + 1).filter(|(_, j)| labels[**j] > labels[i]) {
                let lambda = if self.ranked { discount(upper) - discount(lower) } else { 1.0 };
                lambdas[i] -= lambda;
                lambdas[j] += lambda;
            }
        }
        lambdas
    }
}

const SCORES: [f64; 6] = [0.9, 0.1, -0.4, 1.5, 0.3, -1.1];
const GRADES: [f32; 6] = [0.0, 1.0, 2.0, 0.0, 3.0, 1.0];

pub fn piecewise_constant(_: &Session) -> anyhow::Result<Checked> {
    let (mut worst, mut lowest) = (0.0f64, f64::INFINITY);
    for ranked in [false, true] {
        let report = FieldReport::new(&ConstantLambdas { ranked }, &SCORES, &GRADES)?;
        (worst, lowest) = (worst.max(report.largest), lowest.min(report.smallest_eigenvalue));
    }
    Checked::new(
        worst < 1e-9 && lowest > -1e-9,
        format!("largest entry of the Jacobian {worst}, smallest eigenvalue {}", lowest + 0.0),
    )
}

pub fn piecewise_constant_has_a_cost(_: &Session) -> anyhow::Result<Checked> {
    let of = |ranked| FieldReport::new(&ConstantLambdas { ranked }, &SCORES, &GRADES);
    let (plain, ranked) = (of(false)?, of(true)?);
    let sideways = ranked.crossings.iter().map(|crossing| crossing.sideways).fold(0.0, f64::max);
    let has = |report: &FieldReport| report.potential == Potential::Conservative;
    let ours = format!(
        "lambdas of size 1 have a cost: {}; lambdas that depend on ranks have one: {} (where two documents tie they \
         jump by {sideways:.2} in directions that no continuous cost explains)",
        has(&plain),
        has(&ranked)
    );
    Checked::new(has(&plain) && has(&ranked), ours)
}

/// Linear lambdas of a symmetric matrix: `lambda = -M s` in the library's sign, so that the cost is `s M s / 2`.
#[derive(Debug)]
struct Linear(Vec<f64>);

impl LambdaField for Linear {
    fn name(&self) -> String {
        "linear".into()
    }

    fn lambdas(&self, scores: &[f64], _: &[f32], _: &[usize]) -> Vec<f64> {
        (0..N).map(|i| -(0..N).map(|j| self.0[i * N + j] * scores[j]).sum::<f64>()).collect()
    }
}

pub fn regulariser(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 6);
    let (mut worst, mut before, mut after) = (0.0f64, f64::INFINITY, f64::INFINITY);
    for _ in 0..50 {
        let matrix = with_smallest(random.random_range(-2.0..-0.1), &mut random)?;
        let (scores, labels) = ([0.4, -0.2, 0.9, -1.1], [0.0; N]);
        let plain = FieldReport::new(&Linear(matrix.clone()), &scores, &labels)?;
        let stiff = FieldReport::new(&Regularised { field: Linear(matrix), alpha: 2.5 }, &scores, &labels)?;
        for (old, new) in [
            (plain.smallest_eigenvalue, stiff.smallest_eigenvalue),
            (plain.largest_eigenvalue, stiff.largest_eigenvalue),
        ] {
            worst = worst.max((new - old - 2.5).abs());
        }
        before = before.min(plain.smallest_eigenvalue);
        after = after.min(stiff.smallest_eigenvalue);
    }
    let ours = format!(
        "50 saddles, alpha 2.5: eigenvalues grow by 2.5 to {worst:.0e}; the smallest goes from {before:.2} to \
         {after:.2}"
    );
    Checked::new(worst < 1e-6 && before < 0.0 && after > 0.0, ours)
}

/// Springs between all documents: stiffness and rest length of each pair.
struct Springs(Vec<(usize, usize, f64, f64)>);

impl Springs {
    fn random(stiffness: std::ops::Range<f64>, random: &mut ChaCha8Rng) -> Springs {
        let pairs = (0..N).flat_map(|i| (i + 1..N).map(move |j| (i, j)));
        Springs(
            pairs
                .map(|(i, j)| (i, j, random.random_range(stiffness.clone()), random.random_range(-1.0..1.0)))
                .collect(),
        )
    }

    fn energy(&self, s: &[f64; N]) -> f64 {
        self.0.iter().map(|&(i, j, k, rest)| 0.5 * k * (s[i] - s[j] - rest).powi(2)).sum()
    }

    /// Energy after gradient descent from the given positions.
    fn settle(&self, mut s: [f64; N]) -> f64 {
        for _ in 0..5000 {
            let mut gradient = [0.0; N];
            for &(i, j, k, rest) in &self.0 {
                let pull = k * (s[i] - s[j] - rest);
                (gradient[i], gradient[j]) = (gradient[i] + pull, gradient[j] - pull);
            }
            s = plus(&s, -0.05, &gradient);
            if s.iter().any(|s| s.abs() > 1e8) {
                break;
            }
        }
        self.energy(&s)
    }
}

pub fn springs(session: &Session) -> anyhow::Result<Checked> {
    let mut random = ChaCha8Rng::seed_from_u64(session.seed ^ 7);
    let (mut spread, mut unbounded) = (0.0f64, 0);
    for _ in 0..20 {
        let system = Springs::random(0.5..2.0, &mut random);
        let mut start = |size: f64| -> [f64; N] { std::array::from_fn(|_| random.random_range(-size..size)) };
        let ends: Vec<f64> = (0..20).map(|_| system.settle(start(10.0))).collect();
        let (low, high) =
            ends.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(*end), high.max(*end)));
        spread = spread.max(high - low);
        // Negative stiffness: all springs repel.
        let repelling = Springs::random(-2.0..-0.5, &mut random);
        unbounded +=
            usize::from(repelling.settle(std::array::from_fn(|_| random.random_range(-1.0..1.0))).abs() > 1e12);
    }
    let ours = format!(
        "20 systems of positive stiffness, 20 starts each: final energies differ by at most {spread:.0e}; {unbounded} \
         of 20 systems of negative stiffness fall without end"
    );
    Checked::new(spread < 1e-9 && unbounded == 20, ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quadrature_is_exact_to_the_fifth_power() {
        let field = |s: &[f64; N]| [s[0].powi(5), 0.0, 0.0, 0.0];
        let integral = work(&field, &[0.0; N], &[2.0, 0.0, 0.0, 0.0], 1);
        assert!((integral - 64.0 / 6.0).abs() < 1e-12, "{integral}");
    }

    #[test]
    fn symmetric_fields_have_symmetric_jacobians() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let any = Polynomial::random(&mut random);
        assert!(asymmetry(&any, &[0.1, 0.2, 0.3, 0.4]) > 0.1);
        assert!(asymmetry(&any.symmetric(), &[0.1, 0.2, 0.3, 0.4]) < 1e-8);
        let matrix = with_smallest(-0.25, &mut random).unwrap();
        assert!((eigenvalues(&matrix).unwrap()[0] + 0.25).abs() < 1e-9);
    }
}
