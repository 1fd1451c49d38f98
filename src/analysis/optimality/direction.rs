//! Random directions in the space of all weights.

use crate::numeric::normal_pair;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Returns a point drawn uniformly from the unit sphere: a normalised vector of normal deviates.
///
/// Each direction has its own random stream: direction 7 is the same whether 10 or 459 are drawn, with any number of threads.
pub(super) fn on_sphere(weights: usize, seed: u64, index: u64) -> Vec<f32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(index);
    let mut drawn = Vec::with_capacity(weights + 1);
    while drawn.len() < weights {
        drawn.extend(normal_pair(&mut random));
    }
    drawn.truncate(weights);
    let length = norm(drawn.iter().copied());
    // A length of 0 has probability 0; still return a direction.
    if length > 0.0 { drawn.iter().map(|x| (x / length) as f32).collect() } else { axis(weights, 0) }
}

/// The unit vector of one weight.
fn axis(weights: usize, index: usize) -> Vec<f32> {
    (0..weights).map(|at| f32::from(u8::from(at == index))).collect()
}

/// Euclidean norm.
pub(super) fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_have_unit_length_and_independent_streams() {
        for weights in [1, 2, 7, 300] {
            let drawn = on_sphere(weights, 3, 5);
            assert_eq!(drawn.len(), weights);
            assert!((norm(drawn.iter().map(|&x| f64::from(x))) - 1.0).abs() < 1e-6);
            assert_eq!(drawn, on_sphere(weights, 3, 5));
            assert!(weights == 1 || drawn != on_sphere(weights, 3, 6));
        }
    }

    #[test]
    fn directions_are_uniform() {
        // In the plane the angles are uniform on the circle: their empirical distribution is close to the uniform one. The
        // tolerance is Kolmogorov's bound at a probability of 1e-6; the seed is fixed.
        let n = 4000;
        let mut angles: Vec<f64> = (0..n)
            .map(|index| on_sphere(2, 11, index))
            .map(|at| f64::from(at[1]).atan2(f64::from(at[0])) / std::f64::consts::TAU + 0.5)
            .collect();
        angles.sort_by(f64::total_cmp);
        let gap = angles.iter().enumerate().map(|(i, a)| (a - i as f64 / n as f64).abs()).fold(0.0, f64::max);
        assert!(gap < (0.5 * (2e6f64).ln() / n as f64).sqrt(), "{gap}");
        // In 20 dimensions every coordinate has mean 0 and variance 1/20.
        let squares: f64 = (0..n).map(|index| f64::from(on_sphere(20, 1, index)[13]).powi(2)).sum::<f64>() / n as f64;
        assert!((squares - 0.05).abs() < 0.006, "{squares}");
    }
}
