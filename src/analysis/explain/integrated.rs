//! Integrated gradients (Sundararajan, Taly and Yan 2017, Eq. 1): the contribution of each feature to the difference of two scores.
//!
//! part_i = (to_i - from_i) * integral over t in \[0, 1\] of df/dx_i at from + t (to - from)
//!
//! The parts sum to f(to) - f(from), and a feature that is equal in both documents has part 0. The integral is computed by
//! adaptive bisection of \[0, 1\]: the interval with the largest error is halved until the sum of all errors is small. The scores at
//! both ends of an interval are known, so a steep unit between the points of a rule shows up as an error.

use super::gradient::Smooth;
use super::quadrature::gauss_legendre;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Maximum error of the sum of the parts, relative to the difference of scores.
const TOLERANCE: f64 = 1e-3;
/// Refinement stops when the estimated error is below this fraction of the difference of scores.
const TARGET: f64 = TOLERANCE / 10.0;
/// Rounding error of a sum, relative to the sizes of its terms.
const ROUNDING: f64 = 1e-12;
/// Initial number of intervals.
const FIRST: usize = 8;
/// Maximum number of intervals.
const MAX_PIECES: usize = 4096;
/// Maximum number of values stored over all intervals.
const MAX_VALUES: usize = 1 << 22;

/// The contributions of features to the difference of two scores.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parts {
    pub values: Vec<f64>,
    /// Whether the sum of the parts is within 0.1% of the difference of the scores.
    pub add_up: bool,
}

/// Returns the contributions of features to the score of `to` minus the score of `from`, both scaled.
pub(super) fn integrated_gradients(scorer: &Smooth, from: &[f64], to: &[f64]) -> Parts {
    let points = if scorer.is_piecewise_linear() { 1 } else { 3 };
    let path = Path { scorer, from, to, rule: gauss_legendre(points) };
    let ends: Vec<(f64, f64)> =
        (0..=FIRST).map(|place| place as f64 / FIRST as f64).map(|at| (at, path.score(at))).collect();
    let difference = ends[FIRST].1 - ends[0].1;
    let mut pieces: BinaryHeap<Piece> = ends.windows(2).map(|ends| path.piece(ends[0], ends[1])).collect();
    let max_pieces = (MAX_VALUES / to.len().max(1)).clamp(2 * FIRST, MAX_PIECES);
    while pieces.len() < max_pieces {
        let (error, size) = pieces.iter().fold((0.0, 0.0), |(error, size), p| (error + p.error, size + p.size));
        // Errors that are not finite stay so for any size of interval.
        if error <= (TARGET * difference.abs()).max(ROUNDING * size) || !error.is_finite() {
            break;
        }
        let Some(Piece { ends: [start, end], .. }) = pieces.pop() else { break };
        let at = (start.0 + end.0) / 2.0;
        let middle = (at, path.score(at));
        pieces.extend([path.piece(start, middle), path.piece(middle, end)]);
    }
    let mut pieces = pieces.into_vec();
    pieces.sort_by(|a, b| a.ends[0].0.total_cmp(&b.ends[0].0));
    let mut values = vec![0.0; to.len()];
    pieces.iter().for_each(|piece| add(&mut values, 1.0, &piece.values));
    let size: f64 = values.iter().map(|value| value.abs()).sum();
    let missing = (values.iter().sum::<f64>() - difference).abs();
    Parts { values, add_up: missing <= (TOLERANCE * difference.abs()).max(ROUNDING * size) }
}

/// The straight line between two documents.
struct Path<'a> {
    scorer: &'a Smooth,
    from: &'a [f64],
    to: &'a [f64],
    /// Points and weights on [0, 1].
    rule: Vec<(f64, f64)>,
}

/// An interval of the line; each end is a position and its score.
struct Piece {
    ends: [(f64, f64); 2],
    values: Vec<f64>,
    /// Sum of the absolute values.
    size: f64,
    error: f64,
}

impl Path<'_> {
    fn document(&self, at: f64) -> Vec<f64> {
        self.from.iter().zip(self.to).map(|(from, to)| from + at * (to - from)).collect()
    }

    fn score(&self, at: f64) -> f64 {
        self.scorer.score_and_gradient(&self.document(at)).0
    }

    /// Integrates an interval by its halves. The error combines the difference from the rule for the whole interval and the
    /// difference from the scores at its ends.
    fn piece(&self, start: (f64, f64), end: (f64, f64)) -> Piece {
        let middle = (start.0 + end.0) / 2.0;
        let whole = self.integral(start.0, end.0);
        let mut values = self.integral(start.0, middle);
        add(&mut values, 1.0, &self.integral(middle, end.0));
        let difference: f64 = values.iter().zip(&whole).map(|(fine, coarse)| (fine - coarse).abs()).sum();
        let missing = (values.iter().sum::<f64>() - (end.1 - start.1)).abs();
        let size = values.iter().map(|value| value.abs()).sum();
        Piece { ends: [start, end], values, size, error: difference + missing }
    }

    fn integral(&self, start: f64, end: f64) -> Vec<f64> {
        let mut values = vec![0.0; self.to.len()];
        for (point, weight) in &self.rule {
            let gradient = self.scorer.score_and_gradient(&self.document(start + point * (end - start))).1;
            add(&mut values, weight * (end - start), &gradient);
        }
        for ((value, from), to) in values.iter_mut().zip(self.from).zip(self.to) {
            *value = if from == to { 0.0 } else { *value * (to - from) };
        }
        values
    }
}

fn add(values: &mut [f64], weight: f64, more: &[f64]) {
    values.iter_mut().zip(more).for_each(|(value, more)| *value += weight * more);
}

impl Ord for Piece {
    fn cmp(&self, other: &Self) -> Ordering {
        // Among equal errors the earlier interval comes first, whatever the order of the heap.
        self.error.total_cmp(&other.error).then(other.ends[0].0.total_cmp(&self.ends[0].0))
    }
}

impl PartialOrd for Piece {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Piece {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Piece {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;
    use crate::model::{Activation, HostNet, KernelKind, KernelRanker, Ranker, RankerConfig};
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const FEATURES: usize = 6;

    /// Weights of the layers of a net, each layer's matrix followed by its biases.
    fn weights(hidden: &[usize], steepness: f32, random: &mut ChaCha8Rng) -> Vec<Vec<f32>> {
        let mut number = |count: usize| (0..count).map(|_| steepness * (2.0 * random.random::<f32>() - 1.0)).collect();
        let mut inputs = FEATURES;
        let mut all: Vec<Vec<f32>> = Vec::new();
        for &units in hidden {
            all.extend([number(inputs * units), number(units)]);
            inputs = units;
        }
        all.push(number(inputs));
        all
    }

    fn net(hidden: &[usize], activation: Activation, weights: &[Vec<f32>]) -> (Ranker, Smooth) {
        let shape = RankerConfig::mlp(FEATURES, hidden, activation);
        let ranker = shape.from_weights(weights, &device::open("auto").unwrap()).unwrap();
        let smooth = Smooth::Net(HostNet::of(&ranker).unwrap().to_f64());
        (ranker, smooth)
    }

    fn documents(random: &mut ChaCha8Rng) -> [Vec<f64>; 2] {
        let mut documents =
            [0, 1].map(|_| (0..FEATURES).map(|_| 4.0 * random.random::<f64>() - 2.0).collect::<Vec<_>>());
        documents[1][2] = documents[0][2];
        documents
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn parts_add_up_and_are_zero_for_equal_features(
            seed in any::<u64>(),
            hidden in prop::collection::vec(1usize..12, 1..4),
            steepness in 0.1f32..4.0,
        ) {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            for activation in [Activation::Sigmoid, Activation::Tanh, Activation::Relu] {
                let (_, scorer) = net(&hidden, activation, &weights(&hidden, steepness, &mut random));
                let [from, to] = documents(&mut random);
                let parts = integrated_gradients(&scorer, &from, &to);
                let difference = scorer.score_and_gradient(&to).0 - scorer.score_and_gradient(&from).0;
                let (sum, size) = parts.values.iter().fold((0.0, 0.0), |(sum, size), part| (sum + part, size + part.abs()));
                prop_assert!(
                    (sum - difference).abs() <= 1e-3 * difference.abs() + 1e-12 * size,
                    "{activation:?} {hidden:?}: {sum}, expected {difference}"
                );
                prop_assert!(parts.add_up);
                prop_assert_eq!(parts.values[2], 0.0);
                // In the reverse direction the parts change sign.
                let back = integrated_gradients(&scorer, &to, &from);
                for (part, back) in parts.values.iter().zip(&back.values) {
                    prop_assert!((part + back).abs() <= 2e-3 * size + 1e-9, "{part} and {back}");
                }
            }
        }

        #[test]
        fn parts_do_not_depend_on_the_order_of_hidden_units(seed in any::<u64>(), units in 2usize..10) {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            for activation in [Activation::Tanh, Activation::Relu] {
                let all = weights(&[units], 2.0, &mut random);
                let reversed: Vec<Vec<f32>> = vec![
                    all[0].chunks(units).flat_map(|row| row.iter().rev()).copied().collect(),
                    all[1].iter().rev().copied().collect(),
                    all[2].iter().rev().copied().collect(),
                ];
                let [from, to] = documents(&mut random);
                let [one, other] = [all, reversed]
                    .map(|weights| integrated_gradients(&net(&[units], activation, &weights).1, &from, &to));
                let size: f64 = one.values.iter().map(|part| part.abs()).sum();
                for (one, other) in one.values.iter().zip(&other.values) {
                    prop_assert!((one - other).abs() <= 1e-3 * size + 1e-12, "{one} and {other}");
                }
            }
        }
    }

    #[test]
    fn parts_equal_the_integrals() {
        // f = tanh(x + 2 y) along the line from (0, 0) to (1, 1): parts are 1/3 and 2/3 of tanh(3).
        let mut layers = vec![vec![0.0; FEATURES], vec![0.0], vec![1.0]];
        (layers[0][0], layers[0][1]) = (1.0, 2.0);
        let (_, scorer) = net(&[1], Activation::Tanh, &layers);
        let parts = integrated_gradients(&scorer, &[0.0; FEATURES], &[1.0; FEATURES]).values;
        let whole = 3f64.tanh();
        assert!((parts[0] - whole / 3.0).abs() < 1e-4 && (parts[1] - 2.0 * whole / 3.0).abs() < 1e-4, "{parts:?}");
        // f = max(0, x - 0.5): the gradient at the end is 1, the difference is 0.5.
        (layers[0][0], layers[0][1], layers[1][0]) = (1.0, 0.0, -0.5);
        let (_, scorer) = net(&[1], Activation::Relu, &layers);
        let parts = integrated_gradients(&scorer, &[0.0; FEATURES], &[1.0; FEATURES]).values;
        assert!((parts[0] - 0.5).abs() < 5e-4 && parts[1..].iter().all(|part| *part == 0.0), "{parts:?}");
    }

    #[test]
    fn parts_of_kernels_and_steep_units_add_up() {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let mut numbers = |count: usize| -> Vec<f32> { (0..count).map(|_| random.random::<f32>() - 0.5).collect() };
        let gaussian =
            KernelRanker::new(FEATURES, KernelKind::Gaussian { gamma: 2.0 }, numbers(30), vec![], numbers(5));
        let cubic = KernelKind::Polynomial { degree: 3 };
        let cubic = KernelRanker::new(FEATURES, cubic, numbers(30), numbers(5), numbers(5));
        let mut steps = vec![vec![0.0; FEATURES], vec![-1e5], vec![1.0]];
        (steps[0][0], steps[0][1]) = (3e5, 1e5);
        let scorers = [
            Smooth::Kernel(gaussian.unwrap()),
            Smooth::Kernel(cubic.unwrap()),
            net(&[1], Activation::Sigmoid, &steps).1,
        ];
        for scorer in scorers {
            let (from, to) = ([-0.4; FEATURES], [0.5; FEATURES]);
            let parts = integrated_gradients(&scorer, &from, &to);
            let difference = scorer.score_and_gradient(&to).0 - scorer.score_and_gradient(&from).0;
            assert!(parts.add_up && difference != 0.0, "{parts:?}");
            assert!((parts.values.iter().sum::<f64>() - difference).abs() <= 1e-3 * difference.abs(), "{parts:?}");
        }
    }

    #[test]
    fn lack_of_convergence_is_reported() {
        let mut layers = vec![vec![0.0; FEATURES], vec![0.0], vec![1.0]];
        layers[0][0] = 1.0;
        let (_, scorer) = net(&[1], Activation::Relu, &layers);
        let mut to = vec![0.0; FEATURES];
        to[0] = f64::INFINITY;
        assert!(!integrated_gradients(&scorer, &[0.0; FEATURES], &to).add_up);
        // A step of width 1e-300 at a point that bisection does not hit.
        (layers[0][0], layers[1][0]) = (f32::MAX, -f32::MAX / 3.0);
        let (_, scorer) = net(&[1], Activation::Sigmoid, &layers);
        to[0] = 1.0;
        assert!(!integrated_gradients(&scorer, &[0.0; FEATURES], &to).add_up);
    }
}
