//! RankNet with kernels, as proposed in section 7 of its paper; for small data.
//!
//! Burges et al., "Learning to rank using gradient descent", ICML 2005, Eqs. 17 and 18. F = Σ C + λ |f|² over pairs of a query
//! with different labels, where C = ln(1 + e^-(f(a) - f(b))) for a above b, and |f| is the norm in the kernel's space. The
//! minimiser of F is f(x) = Σ α_i k(x, x_i) over training documents; |f|² = αᵀ K α. F is convex for a positive kernel, such as the
//! Gaussian kernel used here: k(x, z) = exp(-γ |x - z|²). Each epoch is one Newton step.
//!
//! With the gradient g and the Hessian L of Σ C with respect to the scores, the step solves (L K + 2λ) δ = -(g + 2λα) by conjugate
//! gradients in the kernel's inner product, with one product with K per iteration.

use super::algebra::{dot, step};
use super::kernel_matrix::KernelMatrix;
use super::pair_logistic::PairLogistic;
use super::{Baseline, BaselineStart, Round, RoundEnd, Rounds};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::model::{Architecture, KernelKind, KernelRanker, Scorer};
use crate::name::Parameter;
use crate::setting::{Kinds, ModelKind};
use crate::stop::Stop;
use crate::train::Learner;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(super) const KIND: ModelKind = ModelKind {
    name: "kernel-ranknet",
    help: "RankNet with a Gaussian kernel, for small data",
    optimises: Some("RankNet's loss with a penalty on the norm of the function"),
    parameters: &[
        Parameter::number("gamma", 0.0, 0.0..=1e9, "γ of exp(-γ |x - z|²); 0 for 1 / features"),
        Parameter::number("lambda", 1.0, 1e-9..=1e9, "penalty on the norm of the function"),
        Parameter::number("most", 20_000.0, 1.0..=1e6, "maximum number of documents in pairs"),
    ],
    epochs: 30,
    patience: 0,
    learning_rate: 1.0,
    scaling: ScaleKind::QueryMinMax,
    architecture: Architecture::Kernel { points: 0 },
    kinds: Kinds::BASELINES,
    is_pointwise: false,
};

/// Relative residual at which the equations of a step are solved.
const RESIDUAL: f64 = 0.01;
/// Maximum number of products with the kernel matrix per step.
const MAX_PRODUCTS: usize = 200;
/// Training ends when a step decreases F by less than this fraction.
const TOLERANCE: f64 = 1e-7;
/// Sufficient decrease: fraction of the decrease predicted by the slope at the start of a step (Armijo).
const SUFFICIENT: f64 = 1e-4;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct KernelRankNet {
    /// One per document in a pair; empty before the first round.
    alphas: Vec<f64>,
    gamma: f64,
    lambda: f64,
    /// Computed on first use.
    #[serde(skip)]
    problem: Option<Arc<Problem>>,
}

#[derive(Debug)]
struct Problem {
    kernel: KernelMatrix,
    pairs: PairLogistic,
    lambda: f64,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    let gamma = match start.number("gamma") {
        0.0 => 1.0 / start.train.n_features().max(1) as f64,
        gamma => gamma,
    };
    check_size(PairLogistic::new(start.train, KIND.name)?.rows().len(), start.number("most"))?;
    let state = KernelRankNet { alphas: Vec::new(), gamma, lambda: start.number("lambda"), problem: None };
    Rounds::start(start, state)
}

/// Time and memory are quadratic in the number of documents.
fn check_size(documents: usize, max: f64) -> Result<()> {
    if documents as f64 <= max {
        return Ok(());
    }
    Err(Error::Data(format!(
        "kernel-ranknet: {documents} training documents, more than the maximum of {max}; its time is quadratic in their number: \
         train on fewer queries, or allow more with kernel-ranknet:most={documents}"
    )))
}

impl Baseline for KernelRankNet {
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd> {
        let problem = self.problem(round)?;
        self.alphas.resize(problem.pairs.rows().len(), 0.0);
        let step = problem.step(&self.alphas, round.stop)?;
        self.alphas = step.alphas;
        let converged = step.before - step.after <= TOLERANCE * step.after;
        Ok(RoundEnd { loss: step.after / round.train.n_queries() as f64, converged })
    }

    fn scorer(&self, train: &Dataset, _: &Device) -> Result<Scorer> {
        let (width, rows) = (train.n_features(), PairLogistic::new(train, KIND.name)?);
        let (mut points, mut weights) = (Vec::new(), Vec::new());
        for (&row, &alpha) in rows.rows().iter().zip(&self.alphas).filter(|(_, alpha)| **alpha as f32 != 0.0) {
            points.extend_from_slice(&train.features()[row * width..(row + 1) * width]);
            weights.push(alpha as f32);
        }
        let kernel = KernelKind::Gaussian { gamma: self.gamma };
        KernelRanker::new(width, kernel, points, Vec::new(), weights).map(Scorer::Kernel)
    }
}

impl KernelRankNet {
    fn problem(&mut self, round: &Round<'_>) -> Result<Arc<Problem>> {
        if let Some(problem) = &self.problem {
            return Ok(problem.clone());
        }
        let pairs = PairLogistic::new(round.train, KIND.name)?;
        let gamma = self.gamma;
        let gaussian = |x: &[f32], z: &[f32]| {
            let squares = x.iter().zip(z).map(|(&x, &z)| (f64::from(x) - f64::from(z)).powi(2));
            (-gamma * squares.sum::<f64>()).exp()
        };
        let kernel = KernelMatrix::new(round.train, pairs.rows(), round.stop, gaussian)?;
        Ok(self.problem.insert(Arc::new(Problem { kernel, pairs, lambda: self.lambda })).clone())
    }
}

/// A Newton step: its end, and F before and after.
struct NewtonStep {
    alphas: Vec<f64>,
    before: f64,
    after: f64,
}

impl Problem {
    fn step(&self, alphas: &[f64], stop: &Stop) -> Result<NewtonStep> {
        let scores = self.kernel.times(alphas, stop)?;
        let (loss, score_gradient) = self.pairs.loss(&scores, stop)?;
        let gradient: Vec<f64> =
            score_gradient.iter().zip(alphas).map(|(g, alpha)| g + 2.0 * self.lambda * alpha).collect();
        let (direction, change) = self.solve(&scores, &gradient, stop)?;
        // F along the direction needs no further product with the kernel matrix.
        let (constant, cross, square) = (dot(alphas, &scores), dot(&direction, &scores), dot(&direction, &change));
        let norm = |length: f64| self.lambda * (constant + 2.0 * length * cross + length * length * square);
        let before = loss + norm(0.0);
        let slope = dot(&gradient, &change);
        let mut length = 1.0;
        while slope < 0.0 && length > 1e-10 {
            stop.check()?;
            let moved: Vec<f64> = scores.iter().zip(&change).map(|(s, c)| s + length * c).collect();
            let after = self.pairs.loss(&moved, stop)?.0 + norm(length);
            if after <= before + SUFFICIENT * length * slope {
                let alphas = alphas.iter().zip(&direction).map(|(alpha, d)| alpha + length * d).collect();
                return Ok(NewtonStep { alphas, before, after });
            }
            length /= 2.0;
        }
        Ok(NewtonStep { alphas: alphas.to_vec(), before, after: before })
    }

    /// Returns δ of (L K + 2λ) δ = -gradient, and K δ.
    fn solve(&self, scores: &[f64], gradient: &[f64], stop: &Stop) -> Result<(Vec<f64>, Vec<f64>)> {
        let mut residual: Vec<f64> = gradient.iter().map(|x| -x).collect();
        let mut residual_times = self.kernel.times(&residual, stop)?;
        let mut square = dot(&residual, &residual_times);
        let (mut solution, mut solution_times) = (vec![0.0; residual.len()], vec![0.0; residual.len()]);
        let (mut direction, mut direction_times) = (residual.clone(), residual_times.clone());
        let target = RESIDUAL * RESIDUAL * square;
        for _ in 0..MAX_PRODUCTS {
            if square <= target {
                break;
            }
            let mut applied = self.pairs.hessian_times(scores, &direction_times, stop)?;
            applied.iter_mut().zip(&direction).for_each(|(sum, x)| *sum += 2.0 * self.lambda * x);
            let curvature = dot(&direction_times, &applied);
            if curvature <= 0.0 {
                break;
            }
            let length = square / curvature;
            step(&mut solution, length, &direction);
            step(&mut solution_times, length, &direction_times);
            step(&mut residual, -length, &applied);
            residual_times = self.kernel.times(&residual, stop)?;
            let next = dot(&residual, &residual_times);
            let keep = next / square;
            direction.iter_mut().zip(&residual).for_each(|(x, r)| *x = keep * *x + r);
            direction_times.iter_mut().zip(&residual_times).for_each(|(x, r)| *x = keep * *x + r);
            square = next;
        }
        Ok((solution, solution_times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::softplus;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn noisy(seed: u64) -> Dataset {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let sizes = [5, 3, 1, 6, 4];
        let documents: usize = sizes.iter().sum();
        let labels: Vec<f32> = (0..documents).map(|_| random.random_range(0..3u8).into()).collect();
        let noisy = |label: f32, random: &mut ChaCha8Rng| label * 0.5 + random.random_range(-1.0f32..1.0);
        let features = labels.iter().flat_map(|&label| [(); 2].map(|()| noisy(label, &mut random))).collect();
        let queries = sizes.iter().enumerate().map(|(query, &size)| (query.to_string(), size)).collect();
        Dataset::new(2, features, labels, queries).unwrap()
    }

    fn linear_kernel(x: &[f32], z: &[f32]) -> f64 {
        x.iter().zip(z).map(|(&x, &z)| f64::from(x) * f64::from(z)).sum()
    }

    fn gaussian(x: &[f32], z: &[f32]) -> f64 {
        (-0.7 * x.iter().zip(z).map(|(&x, &z)| f64::from(x - z).powi(2)).sum::<f64>()).exp()
    }

    fn problem(data: &Dataset, lambda: f64, kernel: impl Fn(&[f32], &[f32]) -> f64 + Sync) -> Problem {
        let pairs = PairLogistic::new(data, "test").unwrap();
        let kernel = KernelMatrix::new(data, pairs.rows(), &Stop::new(), kernel).unwrap();
        Problem { kernel, pairs, lambda }
    }

    fn optimum(problem: &Problem) -> (Vec<f64>, f64) {
        let mut alphas = vec![0.0; problem.pairs.rows().len()];
        for _ in 0..30 {
            let step = problem.step(&alphas, &Stop::new()).unwrap();
            assert!(step.after <= step.before);
            alphas = step.alphas;
            if step.before - step.after <= 1e-14 * step.after {
                return (alphas, step.after);
            }
        }
        panic!("no optimum after 30 steps");
    }

    #[test]
    fn the_gradient_is_zero_at_the_optimum() {
        for (seed, lambda) in [(1, 0.1), (2, 1.0), (3, 0.01)] {
            let problem = problem(&noisy(seed), lambda, gaussian);
            let (alphas, value) = optimum(&problem);
            // The gradient in α is K (g + 2λα); here it is computed by finite differences.
            let of = |alphas: &[f64]| {
                let scores = problem.kernel.times(alphas, &Stop::new()).unwrap();
                problem.pairs.loss(&scores, &Stop::new()).unwrap().0 + lambda * dot(alphas, &scores)
            };
            assert!((of(&alphas) - value).abs() < 1e-9);
            for at in 0..alphas.len() {
                let moved = |step: f64| {
                    let mut moved = alphas.clone();
                    moved[at] += step;
                    of(&moved)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!(slope.abs() < 1e-5, "{slope} at {at}");
                assert!(moved(0.01) > value && moved(-0.01) > value);
            }
        }
    }

    #[test]
    fn a_linear_kernel_gives_linear_ranknet() {
        let (data, lambda) = (noisy(5), 0.3);
        let (alphas, value) = optimum(&problem(&data, lambda, linear_kernel));
        let rows = PairLogistic::new(&data, "test").unwrap().rows().to_vec();
        let mut weights = [0.0; 2];
        for (&row, alpha) in rows.iter().zip(&alphas) {
            (0..2).for_each(|at| weights[at] += alpha * f64::from(data.features()[row * 2 + at]));
        }
        // Σ ln(1 + e^-(w a - w b)) + λ |w|² from its definition.
        let direct = |weights: [f64; 2]| -> f64 {
            let score =
                |row: usize| (0..2).map(|at| weights[at] * f64::from(data.features()[row * 2 + at])).sum::<f64>();
            let mut sum = lambda * weights.iter().map(|weight| weight * weight).sum::<f64>();
            for query in data.queries() {
                for a in query.rows.clone() {
                    for b in query.rows.clone().filter(|&b| data.labels()[b] < data.labels()[a]) {
                        sum += softplus(score(b) - score(a));
                    }
                }
            }
            sum
        };
        assert!((direct(weights) - value).abs() < 1e-5, "{}, expected {value}", direct(weights));
        for step in [[1e-2, 0.0], [-1e-2, 0.0], [0.0, 1e-2], [0.0, -1e-2], [1e-2, -1e-2]] {
            assert!(direct([weights[0] + step[0], weights[1] + step[1]]) > direct(weights));
        }
    }

    #[test]
    fn too_many_documents_are_rejected() {
        check_size(20, 20.0).unwrap();
        let error = check_size(21, 20.0).unwrap_err().to_string();
        assert!(error.contains("21 training documents, more than the maximum of 20;"), "{error}");
        assert!(error.contains("most=21"), "{error}");
    }

    #[test]
    fn the_saved_model_has_the_same_scores() {
        let data = noisy(7);
        let problem = problem(&data, 0.2, gaussian);
        let (alphas, _) = optimum(&problem);
        let scores = problem.kernel.times(&alphas, &Stop::new()).unwrap();
        let state = KernelRankNet { alphas, gamma: 0.7, lambda: 0.2, problem: None };
        let device = crate::device::open("auto").unwrap();
        let saved_scores = state.scorer(&data, &device).unwrap().score_rows(data.features(), 2).unwrap();
        for (&row, score) in problem.pairs.rows().iter().zip(&scores) {
            assert!((f64::from(saved_scores[row]) - score).abs() < 1e-5, "{}, expected {score}", saved_scores[row]);
        }
    }
}
