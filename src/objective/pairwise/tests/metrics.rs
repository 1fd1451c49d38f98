//! Swaps of metrics without a kernel in lanes: sweeps against enumeration of all pairs.

use super::*;
use crate::metric::parse;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) const SWEPT: [&str; 14] = [
    "dcg",
    "dcg:linear",
    "dcg@30",
    "arp",
    "arp:sum",
    "err",
    "err:max=2",
    "err:max=60",
    "err@1",
    "err@30",
    "bpref",
    "bpref:rel=3",
    "pairs",
    "pair-error",
];
const OTHERS: [&str; 5] = ["wta", "wta-error", "p@3", "recall@10", "p@500"];

pub(super) fn swaps(name: &str) -> Weighting {
    Weighting::SwapMetric(parse(name).unwrap())
}

#[test]
fn metrics_use_the_documented_algorithm() {
    for name in SWEPT {
        assert!(Kernel::new(swaps(name)).has_fast_method(), "{name}");
        assert!(!Kernel { truncation: Some(5), ..Kernel::new(swaps(name)) }.has_fast_method(), "{name}");
    }
    for name in OTHERS {
        assert!(!Kernel::new(swaps(name)).has_fast_method(), "{name}");
    }
}

#[test]
fn all_algorithms_give_the_sums_over_all_pairs() {
    let mut lists = queries();
    let mut random = ChaCha8Rng::seed_from_u64(30);
    for (spread, steps, levels) in [(8.0, 1e6, 5), (8.0, 4.0, 5), (2e3, 1e3, 3), (0.0, 1.0, 5), (8.0, 1e6, 1)] {
        lists.push(query(400, spread, steps, levels, &mut random));
    }
    for list in &lists {
        for name in SWEPT.into_iter().chain(OTHERS) {
            for truncation in [None, Some(1), Some(4)] {
                let kernel = Kernel { truncation, ..Kernel::new(swaps(name)) };
                let reference = kernel.reference(&list.scores, &list.labels);
                for method in [PairAlgorithm::Auto, PairAlgorithm::Direct, PairAlgorithm::Fast] {
                    agree(&Kernel { method, ..kernel.clone() }, list, &reference, 1e-5);
                }
            }
        }
    }
}

#[test]
fn weights_equal_the_change_of_the_metric_when_swapping() {
    for list in &queries() {
        let order = training_order(&list.scores);
        let ranked: Vec<f32> = order.iter().map(|&document| list.labels[document]).collect();
        for name in SWEPT.into_iter().chain(OTHERS) {
            let (kernel, metric) = (Kernel::new(swaps(name)), parse(name).unwrap());
            let loss = kernel.loss();
            let weights = loss.weights(&ranked);
            let size = 1.0 + metric.value(&ranked).abs();
            for i in 0..ranked.len() {
                for j in (0..ranked.len()).filter(|&j| ranked[i] > ranked[j]) {
                    let expected = metric.swap_delta(&ranked, i, j).abs();
                    assert!((weights.get(i, j) - expected).abs() < 1e-12 * size, "{name} {i} {j}");
                }
            }
        }
    }
}

#[test]
fn extreme_scores_have_the_same_sums_with_all_algorithms() {
    let scores = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 3e38, -3e38, 0.0, 1.0, -0.0, f32::NAN];
    let labels = vec![0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 1.0, 2.0, 0.0, 1.0, 4.0];
    let list = Query { scores: scores.to_vec(), labels };
    for name in SWEPT.into_iter().chain(OTHERS) {
        let kernel = Kernel::new(swaps(name));
        let reference = kernel.reference(&list.scores, &list.labels);
        for method in [PairAlgorithm::Direct, PairAlgorithm::Fast] {
            agree(&Kernel { method, ..kernel.clone() }, &list, &reference, 1e-6);
        }
    }
}

#[test]
fn very_long_lists_are_swept() {
    // Enumeration would take 5e10 pairs each.
    let mut random = ChaCha8Rng::seed_from_u64(31);
    let n = 300_000;
    let list = query(n, 10.0, 1e6, 5, &mut random);
    let mut gradient = vec![f32::NAN; n];
    for name in ["dcg", "arp", "err", "bpref", "pairs", "wta", "p@10", "recall@10", "err@10"] {
        let kernel = Kernel::new(swaps(name));
        let outputs = Outputs { loss: true, pairs: true };
        let result = kernel.query(&list.scores, &list.labels, &mut gradient, outputs).unwrap();
        let sum: f64 = gradient.iter().map(|&value| f64::from(value)).sum();
        let size: f64 = gradient.iter().map(|&value| f64::from(value).abs()).sum();
        assert!(size > 0.0 && sum.abs() <= 1e-6 * size, "{name}: {sum} of {size}");
        assert!(result.loss > 0.0 && result.pairs > 0, "{name}: {result:?}");
    }
}

/// Sets the stop flag when its thousandth weight is requested.
#[derive(Debug)]
struct StopsEarly {
    stop: Stop,
    calls: AtomicUsize,
}

impl PairWeight for StopsEarly {
    fn exact(&self, _: &[f32], _: usize, _: usize) -> f64 {
        if self.calls.fetch_add(1, Ordering::Relaxed) == 1000 {
            self.stop.ask();
        }
        1.0
    }
}

#[test]
fn stopped_kernels_skip_the_remaining_rows() {
    let mut random = ChaCha8Rng::seed_from_u64(32);
    let list = query(3_000, 10.0, 1e6, 5, &mut random);
    for assignment in [Assignment::Hard, Assignment::PlackettLuce { samples: 4 }] {
        let stop = Stop::new();
        let weight = Arc::new(StopsEarly { stop: stop.clone(), calls: AtomicUsize::new(0) });
        let kernel = Kernel { stop, assignment, ..Kernel::new(Weighting::Custom(weight.clone())) };
        let mut gradient = vec![0.0; 3_000];
        let result = kernel.query(&list.scores, &list.labels, &mut gradient, Outputs::default());
        assert!(matches!(result, Err(Error::Stopped)));
        let calls = weight.calls.load(Ordering::Relaxed);
        assert!(calls < 8_000, "{calls} weights of {}", 3_000 * 2_999 / 2);
    }
}

#[test]
fn all_algorithms_check_the_stop_flag() {
    let stop = Stop::new();
    stop.ask();
    for kernel in kernels() {
        for method in [PairAlgorithm::Direct, PairAlgorithm::Fast] {
            let kernel = Kernel { method, stop: stop.clone(), ..kernel.clone() };
            let result = kernel.query(&SCORES, &LABELS, &mut [0.0; 5], Outputs::default());
            assert!(matches!(result, Err(Error::Stopped)), "{kernel:?}");
        }
    }
}
