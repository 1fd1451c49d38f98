//! Second derivatives: every algorithm against the formula, and against differences of the gradient.

use super::metrics::{SWEPT, swaps};
use super::*;

fn hessian(kernel: &Kernel, query: &Query) -> (Vec<f32>, Vec<f32>) {
    let n = query.scores.len();
    let (mut gradient, mut hessian) = (vec![f32::NAN; n], vec![f32::NAN; n]);
    let gradients = Gradients { gradient: &mut gradient, hessian: Some(&mut hessian) };
    kernel.gradients(&query.scores, &query.labels, gradients, 0, Outputs::default()).unwrap();
    (gradient, hessian)
}

#[test]
fn all_algorithms_match_the_hessian_formula() {
    let mut lists = queries();
    let mut random = ChaCha8Rng::seed_from_u64(40);
    // Two blocks of documents and a short third one.
    lists.push(query(520, 8.0, 1e6, 5, &mut random));
    lists.push(query(520, 8.0, 4.0, 5, &mut random));
    let kernels: Vec<Kernel> = kernels().into_iter().chain(SWEPT.map(|name| Kernel::new(swaps(name)))).collect();
    for list in &lists {
        for kernel in &kernels {
            let reference = kernel.reference(&list.scores, &list.labels);
            let scale = reference.hessian.iter().fold(0f64, |max, value| max.max(*value));
            for method in [PairAlgorithm::Auto, PairAlgorithm::Direct, PairAlgorithm::Fast] {
                let kernel = Kernel { method, ..kernel.clone() };
                let (gradient, hessian) = hessian(&kernel, list);
                // Requesting the hessian does not change the gradient.
                assert_eq!(gradient, run(&kernel, &list.scores, &list.labels).0, "{kernel:?}");
                for (value, expected) in hessian.iter().zip(&reference.hessian) {
                    let error = (f64::from(*value) - expected).abs();
                    assert!(error <= 1e-5 * scale + 1e-14, "{kernel:?}: {value} is not {expected} of {scale}");
                }
            }
        }
    }
}

#[test]
fn hessian_is_the_difference_of_gradients_with_fixed_weights() {
    let mut random = ChaCha8Rng::seed_from_u64(41);
    let list = query(20, 4.0, 1e6, 4, &mut random);
    for kernel in kernels() {
        let kernel = Kernel { sigma: 1.3, ..kernel };
        let loss = kernel.loss();
        let gradient_at = |document: usize, shift: f64| {
            let mut sum = 0.0;
            loss.for_each_weight(&list.scores, &list.labels, |i, j, weight| {
                let at = |d: usize| f64::from(list.scores[d]) + if d == document { shift } else { 0.0 };
                let factor = crate::numeric::sigmoid(-kernel.sigma * (at(i) - at(j)));
                let sign = f64::from(u8::from(j == document)) - f64::from(u8::from(i == document));
                sum += sign * kernel.sigma * weight * factor / kernel.base.nats();
            });
            sum
        };
        let (_, hessian) = hessian(&kernel, &list);
        let scale = hessian.iter().fold(0f32, |max, value| max.max(*value));
        for (document, value) in hessian.iter().enumerate() {
            let expected = (gradient_at(document, 1e-4) - gradient_at(document, -1e-4)) / 2e-4;
            assert!(
                (expected - f64::from(*value)).abs() <= 1e-5 * f64::from(scale) + 1e-9,
                "{kernel:?}: {value}, not {expected}"
            );
        }
    }
}

#[test]
fn hessian_of_sampled_rankings() {
    let query = Query { scores: SCORES.to_vec(), labels: LABELS.to_vec() };
    let hard = Kernel::new(Weighting::Ndcg2 { rho: 1.0, delta: 5.0 });
    let soft = Kernel { assignment: Assignment::Gaussian { samples: 3, scale: 1e-6 }, ..hard.clone() };
    for (a, b) in hessian(&hard, &query).1.iter().zip(hessian(&soft, &query).1) {
        assert!((a - b).abs() < 1e-5 * a.max(1.0), "{a} and {b}");
    }
}
