//! Every kernel against the formulas, and its gradient against differences of its loss.

use super::*;

#[test]
fn kernels_match_the_formulas() {
    for query in &queries() {
        for kernel in kernels() {
            let reference = plain(&kernel, query);
            for method in [PairAlgorithm::Direct, PairAlgorithm::Fast] {
                let kernel = Kernel { method, ..kernel.clone() };
                agree(&kernel, query, &reference, 1e-5);
                crate::simd::PORTABLE.set(true);
                agree(&kernel, query, &reference, 1e-5);
                crate::simd::PORTABLE.set(false);
            }
        }
    }
}

#[test]
fn sigma_base_and_gain_are_honoured() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let query = query(40, 8.0, 1e6, 5, &mut random);
    for weighting in formulas() {
        for (sigma, base, gain) in [(0.3, LogBase::Nats, Gain::Linear), (2.5, LogBase::Bits, Gain::Exponential)] {
            let kernel = Kernel { sigma, base, gain, ..Kernel::new(weighting.clone()) };
            let reference = plain(&kernel, &query);
            for method in [PairAlgorithm::Direct, PairAlgorithm::Fast] {
                agree(&Kernel { method, ..kernel.clone() }, &query, &reference, 1e-5);
            }
        }
    }
}

/// The loss with the weights of one ranking, as a function of the scores.
fn loss_with_fixed_ranks(kernel: &Kernel, at: &Query, scores: &[f64]) -> f64 {
    let mut loss = 0.0;
    kernel.loss().for_each_weight(&at.scores, &at.labels, |i, j, weight| {
        loss += weight * crate::numeric::softplus(-kernel.sigma * (scores[i] - scores[j])) / kernel.base.nats();
    });
    loss
}

#[test]
fn gradients_are_central_differences_of_the_loss() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    for steps in [1e6, 2.0] {
        let query = query(20, 4.0, steps, 4, &mut random);
        for kernel in kernels() {
            for method in [PairAlgorithm::Direct, PairAlgorithm::Fast] {
                let kernel = Kernel { method, sigma: 1.3, ..kernel.clone() };
                let (gradient, _) = run(&kernel, &query.scores, &query.labels);
                let scale = gradient.iter().fold(0f32, |max, value| max.max(value.abs()));
                for document in 0..20 {
                    let loss = |shift: f64| {
                        let mut scores: Vec<f64> = query.scores.iter().map(|&score| score.into()).collect();
                        scores[document] += shift;
                        loss_with_fixed_ranks(&kernel, &query, &scores)
                    };
                    let derivative = (loss(1e-4) - loss(-1e-4)) / 2e-4;
                    let error = (derivative - f64::from(gradient[document])).abs();
                    assert!(
                        error <= 1e-5 * f64::from(scale) + 1e-10,
                        "{kernel:?}: {derivative}, not {}",
                        gradient[document]
                    );
                }
            }
        }
    }
}
