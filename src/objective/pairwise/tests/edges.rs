//! The shared edge cases, and invariances of results.

use super::*;

#[test]
fn lambdas_sum_to_zero() {
    for query in &queries() {
        for kernel in kernels() {
            for method in [PairAlgorithm::Direct, PairAlgorithm::Fast] {
                let (gradient, _) = run(&Kernel { method, ..kernel.clone() }, &query.scores, &query.labels);
                let sum: f64 = gradient.iter().map(|&value| f64::from(value)).sum();
                let size: f64 = gradient.iter().map(|&value| f64::from(value).abs()).sum();
                assert!(sum.abs() <= 1e-6 * size + 1e-14, "{kernel:?}: {sum} of {size}");
            }
        }
    }
}

#[test]
fn gradient_is_zero_if_nothing_can_be_learned() {
    let scores = [0.5, -1.0, 2.0, 0.5];
    for kernel in kernels() {
        for method in [PairAlgorithm::Direct, PairAlgorithm::Fast] {
            let kernel = Kernel { method, ..kernel.clone() };
            assert_eq!(run(&kernel, &[], &[]), (vec![], QueryResult::default()));
            assert_eq!(run(&kernel, &[0.3], &[2.0]), (vec![0.0], QueryResult::default()));
            if matches!(kernel.weighting, Weighting::Custom(_) | Weighting::RankNet { ties: true }) {
                continue;
            }
            assert_eq!(run(&kernel, &scores, &[0.0; 4]), (vec![0.0; 4], QueryResult::default()), "{kernel:?}");
            if kernel.loss().weight.pairs() == Pairs::Ordered {
                assert_eq!(run(&kernel, &scores, &[2.0; 4]), (vec![0.0; 4], QueryResult::default()), "{kernel:?}");
            }
        }
    }
}

#[test]
fn extreme_scores_give_finite_numbers() {
    let extreme =
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 3e38, -3e38, 0.0, 1.0, f32::MIN_POSITIVE, f32::NAN];
    for labels in [
        [0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 1.0, 2.0, 0.0, 1.0, 1.0],
        [3.0, 0.0, 0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0],
    ] {
        for kernel in kernels() {
            let query = Query { scores: extreme.to_vec(), labels: labels.to_vec() };
            let reference = plain(&kernel, &query);
            for method in [PairAlgorithm::Direct, PairAlgorithm::Fast] {
                for sigma in [1.0, 30.0] {
                    let kernel = Kernel { method, sigma, ..kernel.clone() };
                    let (gradient, result) = run(&kernel, &extreme, &labels);
                    assert!(gradient.iter().all(|value| value.is_finite()), "{kernel:?}: {gradient:?}");
                    assert!(result.loss.is_finite(), "{kernel:?}: {}", result.loss);
                }
                let kernel = Kernel { method, ..kernel.clone() };
                let (gradient, result) = run(&kernel, &extreme, &labels);
                let scale = reference.gradient.iter().fold(0f64, |max, value| max.max(value.abs()));
                for (value, expected) in gradient.iter().zip(&reference.gradient) {
                    assert!((f64::from(*value) - expected).abs() <= 1e-5 * scale + 1e-14, "{kernel:?}");
                }
                let (value, expected) = (result.loss, reference.result.loss);
                assert!((value - expected).abs() <= 1e-5 * expected, "{kernel:?}: {value}, not {expected}");
            }
        }
    }
}

#[test]
fn permuting_documents_permutes_the_gradient() {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let query = query(50, 5.0, 1e6, 5, &mut random);
    let order: Vec<usize> = (0..50).map(|i| (i * 17 + 5) % 50).collect();
    let scores: Vec<f32> = order.iter().map(|&i| query.scores[i]).collect();
    let labels: Vec<f32> = order.iter().map(|&i| query.labels[i]).collect();
    for kernel in kernels() {
        for method in [PairAlgorithm::Direct, PairAlgorithm::Fast] {
            let kernel = Kernel { method, ..kernel.clone() };
            let (gradient, result) = run(&kernel, &query.scores, &query.labels);
            let (permuted, same) = run(&kernel, &scores, &labels);
            let expected: Vec<f32> = order.iter().map(|&i| gradient[i]).collect();
            assert_eq!((permuted, same), (expected, result), "{kernel:?}");
        }
    }
}

#[test]
fn results_do_not_depend_on_threads_scratch_outputs_or_batch() {
    let mut random = ChaCha8Rng::seed_from_u64(13);
    let sizes = [5, 3_000, 1, 120, 600, 6_000, 40];
    let lists: Vec<Query> = sizes.iter().map(|&n| query(n, 6.0, 1e6, 5, &mut random)).collect();
    let scores: Vec<f32> = lists.iter().flat_map(|list| list.scores.clone()).collect();
    let labels: Vec<f32> = lists.iter().flat_map(|list| list.labels.clone()).collect();
    let offsets: Vec<usize> = (0..=sizes.len()).map(|count| sizes[..count].iter().sum()).collect();
    let pools = [1, 2, 3].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    for weighting in formulas().into_iter().step_by(2) {
        for method in [PairAlgorithm::Auto, PairAlgorithm::Direct] {
            let kernel = Kernel { method, ..Kernel::new(weighting.clone()) };
            let batch = |outputs| {
                let mut gradient = vec![f32::NAN; scores.len()];
                let result = kernel.batch(&scores, &labels, &offsets, &mut gradient, outputs).unwrap();
                (gradient, result)
            };
            let all_outputs = Outputs { loss: true, pairs: true };
            let [one, two, three] = pools.each_ref().map(|pool| pool.install(|| batch(all_outputs)));
            assert!(one == two && one == three, "{kernel:?}");
            assert_eq!(one.0, batch(Outputs::default()).0, "{kernel:?}");
            let alone: Vec<_> = lists.iter().map(|list| run(&kernel, &list.scores, &list.labels)).collect();
            assert_eq!(one.0, alone.iter().flat_map(|(gradient, _)| gradient.clone()).collect::<Vec<_>>());
            assert_eq!(one.1, alone.iter().map(|(_, result)| *result).sum());
        }
    }
}

#[test]
fn invalid_settings_and_inputs_are_refused() {
    let good = Kernel::new(Weighting::RankNet { ties: false });
    let refuse = |kernel: &Kernel, scores: &[f32], labels: &[f32], n: usize| {
        let result = kernel.query(scores, labels, &mut vec![0.0; n], Outputs::default());
        assert!(result.is_err(), "{kernel:?} {scores:?} {labels:?}");
    };
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        refuse(&Kernel { sigma, ..good.clone() }, &[1.0], &[1.0], 1);
    }
    refuse(&Kernel { truncation: Some(0), ..good.clone() }, &[1.0], &[1.0], 1);
    for weighting in [
        Weighting::SwapNdcg { k: 0 },
        Weighting::SwapAp { k: Some(0), threshold: 1.0 },
        Weighting::SwapRr { k: None, threshold: f32::NAN },
        Weighting::Ndcg2 { rho: -1.0, delta: 0.0 },
        Weighting::Ndcg2 { rho: 1.0, delta: f64::NAN },
    ] {
        refuse(&Kernel::new(weighting), &[1.0], &[1.0], 1);
    }
    refuse(&good, &[1.0, 2.0], &[1.0], 2);
    refuse(&good, &[1.0, 2.0], &[1.0, 0.0], 1);
    refuse(&good, &[1.0, 2.0], &[1.0, f32::NAN], 2);
    refuse(&Kernel::new(Weighting::Ndcg1), &[1.0, 2.0], &[1.0, 5e3], 2);
    let batch = |offsets: &[usize]| good.batch(&[1.0, 2.0], &[1.0, 0.0], offsets, &mut [0.0; 2], Outputs::default());
    assert!(batch(&[0, 2]).is_ok());
    assert!(batch(&[0, 0, 2]).is_ok());
    for offsets in [[].as_slice(), &[0], &[0, 1], &[0, 3], &[1, 2], &[0, 2, 1, 2]] {
        assert!(batch(offsets).is_err(), "{offsets:?}");
    }
}
