//! Properties of all smooth losses: one row per loss.

use super::super::{Batch, Gradients, Objective, Outputs, PAIR_BUDGET};
use crate::{Stop, Tensor, device};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A loss and the properties to test.
struct Case {
    name: &'static str,
    /// Whether the gradient of a query with equal labels is 0, as it must be unless scores should equal the labels.
    orders: bool,
    /// Whether the hessian is that of the loss.
    has_hessian: bool,
    /// A list length for which it takes less than a second.
    long: usize,
}

const CASES: &[Case] = &[
    // One row per loss.
    Case { name: "listnet", orders: true, has_hessian: true, long: 50_000 },
    Case { name: "approx-ndcg:alpha=10", orders: true, has_hessian: true, long: 3_000 },
    Case { name: "softrank:sigma=1", orders: true, has_hessian: true, long: 1_000 },
    Case { name: "rankcosine", orders: true, has_hessian: true, long: 50_000 },
    Case { name: "hinge", orders: true, has_hessian: false, long: 50_000 },
    Case { name: "exponential", orders: true, has_hessian: true, long: 50_000 },
    Case { name: "squared-error", orders: false, has_hessian: true, long: 50_000 },
];

/// Queries with these lengths and random labels and scores.
fn batch(seed: u64, lengths: &[usize]) -> (Vec<f32>, Vec<f32>, Vec<usize>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let offsets: Vec<usize> = std::iter::once(0)
        .chain(lengths.iter().scan(0, |sum, length| {
            *sum += length;
            Some(*sum)
        }))
        .collect();
    let n = lengths.iter().sum();
    let scores = (0..n).map(|_| random.random_range(-2.0f32..2.0)).collect();
    (scores, (0..n).map(|_| random.random_range(0..5) as f32).collect(), offsets)
}

struct Evaluation {
    loss: f64,
    gradient: Vec<f32>,
    hessian: Vec<f32>,
}

/// Gradient of each query, not averaged, and the sum of the losses.
fn on_host(name: &str, scores: &[f32], labels: &[f32], offsets: &[usize]) -> Evaluation {
    let objective = Objective::parse(name).unwrap();
    let (mut gradient, mut hessian) = (vec![f32::NAN; scores.len()], vec![f32::NAN; scores.len()]);
    let gradients = Gradients { gradient: &mut gradient, hessian: Some(&mut hessian) };
    let outputs = Outputs { loss: true, pairs: true };
    let result = objective.gradients(scores, Batch { labels, offsets }, gradients, outputs, &[], &Stop::new()).unwrap();
    Evaluation { loss: result.loss, gradient, hessian }
}

/// The same in tensors, without hessian.
fn in_tensors(name: &str, scores: &[f32], labels: &[f32], offsets: &[usize], budget: usize) -> Evaluation {
    let objective = Objective::parse(name).unwrap();
    let scores = Tensor::<1>::from_floats(scores, &device::open("auto").unwrap());
    let queries = (offsets.len() - 1) as f32;
    let result = objective.tensor_gradient(scores, Batch { labels, offsets }, budget, &Stop::new()).unwrap();
    let gradient: Vec<f32> = result.gradient.try_into_vec_as().unwrap();
    let gradient = gradient.iter().map(|value| value * queries).collect();
    Evaluation { loss: f64::from(result.loss.into_scalar::<f32>() * queries), gradient, hessian: vec![] }
}

fn assert_close(values: &[f32], expected: &[f32], tolerance: f32, context: &str) {
    assert_eq!(values.len(), expected.len());
    let scale = expected.iter().fold(1e-3f32, |scale, value| scale.max(value.abs()));
    let far = |(a, b): (&f32, &f32)| (a - b).abs() > tolerance * scale || !a.is_finite();
    let position = values.iter().zip(expected).position(far);
    assert_eq!(position, None, "{context}: {values:?} against {expected:?}");
}

#[test]
fn names_round_trip() {
    for case in CASES {
        assert_eq!(Objective::parse(case.name).unwrap().name(), case.name);
        // Without pairs there is no truncation.
        let (head, rest) = case.name.split_at(case.name.find(':').unwrap_or(case.name.len()));
        assert!(Objective::parse(&format!("{head}@3{rest}")).is_err());
    }
}

#[test]
fn gradients_are_differences_of_the_loss() {
    const STEP: f64 = 1e-5;
    for (seed, case) in CASES.iter().enumerate() {
        for n in [2, 3, 12, 40] {
            let (scores, labels, offsets) = batch(seed as u64, &[n]);
            let result = on_host(case.name, &scores, &labels, &offsets);
            let objective = Objective::parse(case.name).unwrap();
            let field = objective.as_field().unwrap();
            let at: Vec<f64> = scores.iter().map(|&score| score.into()).collect();
            let moved = |document: usize, step: f64| {
                let mut moved = at.clone();
                moved[document] += step;
                moved
            };
            let loss = |scores: Vec<f64>| field.cost(&scores, &labels, &[]).unwrap();
            let derivative = |scores: Vec<f64>, document: usize| -field.lambdas(&scores, &labels, &[])[document];
            let central = |of: &dyn Fn(f64) -> f64| ((of(STEP) - of(-STEP)) / (2.0 * STEP)) as f32;
            let gradient: Vec<f32> = (0..n).map(|i| central(&|step| loss(moved(i, step)))).collect();
            assert_close(&result.gradient, &gradient, 1e-5, &format!("{}, {n} documents", case.name));
            let hessian: Vec<f32> = (0..n).map(|i| central(&|step| derivative(moved(i, step), i))).collect();
            if case.has_hessian {
                assert_close(&result.hessian, &hessian, 1e-5, &format!("{}, hessian, {n} documents", case.name));
            }
            assert!((result.loss - loss(at.clone())).abs() <= 1e-12 * result.loss.abs());
        }
    }
}

#[test]
fn tensors_agree_with_the_host() {
    for (seed, case) in CASES.iter().enumerate() {
        let (scores, labels, offsets) = batch(50 + seed as u64, &[1, 7, 2, 60, 33, 1]);
        let host = on_host(case.name, &scores, &labels, &offsets);
        for budget in [PAIR_BUDGET, 300] {
            let tensors = in_tensors(case.name, &scores, &labels, &offsets, budget);
            assert_close(&tensors.gradient, &host.gradient, 2e-5, &format!("{}, {budget} pairs", case.name));
            let gap = (tensors.loss - host.loss).abs();
            assert!(gap <= 1e-5 * host.loss, "{}: {} against {}", case.name, tensors.loss, host.loss);
        }
    }
}

#[test]
fn queries_of_a_batch_are_independent() {
    for case in CASES {
        let (scores, labels, offsets) = batch(7, &[9, 1, 33, 4]);
        let together = on_host(case.name, &scores, &labels, &offsets);
        let padded = in_tensors(case.name, &scores, &labels, &offsets, PAIR_BUDGET);
        for rows in offsets.windows(2).map(|ends| ends[0]..ends[1]) {
            let (scores, labels, offsets) = (&scores[rows.clone()], &labels[rows.clone()], [0, rows.len()]);
            let alone = on_host(case.name, scores, labels, &offsets);
            assert_eq!(together.gradient[rows.clone()], alone.gradient, "{}: not the same bytes", case.name);
            assert_eq!(together.hessian[rows.clone()], alone.hessian, "{}: not the same bytes", case.name);
            let alone = in_tensors(case.name, scores, labels, &offsets, PAIR_BUDGET);
            assert_close(&padded.gradient[rows], &alone.gradient, 1e-5, case.name);
        }
    }
}

#[test]
fn document_order_and_shifts_of_scores_do_not_matter() {
    let n = 23;
    let (scores, labels, offsets) = batch(3, &[n]);
    // Shifting these scores is exact.
    let scores: Vec<f32> = scores.iter().map(|score| (score * 1024.0).round() / 1024.0).collect();
    let permute = |values: &[f32]| (0..n).map(|i| values[i * 11 % n]).collect::<Vec<f32>>();
    let shifted: Vec<f32> = scores.iter().map(|score| score + 8.0).collect();
    for case in CASES {
        let result = on_host(case.name, &scores, &labels, &offsets);
        let permuted = on_host(case.name, &permute(&scores), &permute(&labels), &offsets);
        assert_close(&permuted.gradient, &permute(&result.gradient), 1e-6, case.name);
        assert_close(&permuted.hessian, &permute(&result.hessian), 1e-6, case.name);
        let objective = Objective::parse(case.name).unwrap();
        let after = on_host(case.name, &shifted, &labels, &offsets);
        if objective.as_field().unwrap().ignores_shifts() {
            assert_close(&after.gradient, &result.gradient, 1e-6, case.name);
            let (sum, size) =
                result.gradient.iter().fold((0.0, 0.0), |(sum, size), value| (sum + value, size + value.abs()));
            assert!(sum.abs() <= 1e-5 * size, "{}: the gradient sums to {sum}", case.name);
        } else {
            assert_ne!(after.gradient, result.gradient, "{}", case.name);
        }
    }
}

#[test]
fn gradients_are_finite_and_zero_if_nothing_can_be_learned() {
    let graded = vec![0.0, 2.0, 1.0, 3.0];
    let cases = [
        ("one document", vec![0.3], vec![2.0], true),
        ("equal labels", vec![0.3, -1.0, 2.0], vec![2.0; 3], true),
        ("no relevant documents", vec![0.3, -1.0, 2.0], vec![0.0; 3], true),
        ("equal scores", vec![0.5; 4], graded.clone(), false),
        ("scores of 0", vec![0.0; 4], graded.clone(), false),
        ("infinite", vec![f32::INFINITY, f32::NEG_INFINITY, 0.0, f32::INFINITY], graded.clone(), false),
        ("NaN", vec![f32::NAN, 0.0, f32::NAN, 1.0], graded.clone(), false),
        ("all NaN", vec![f32::NAN; 4], graded.clone(), false),
        ("1e30", vec![1e30, -1e30, 0.0, 1e30], graded.clone(), false),
        ("huge and tiny", vec![1e-38, -1e30, 88.0, -104.0], graded.clone(), false),
        ("tiny", vec![1e-45, -1e-40, 1e-38, 0.0], graded, false),
    ];
    for case in CASES {
        for (what, scores, labels, nothing) in &cases {
            let offsets = [0, scores.len()];
            let host = on_host(case.name, scores, labels, &offsets);
            let tensors = in_tensors(case.name, scores, labels, &offsets, PAIR_BUDGET);
            for values in [&host.gradient, &host.hessian, &tensors.gradient] {
                let context = format!("{}, {what}: {values:?}", case.name);
                assert!(values.iter().all(|value| value.is_finite()), "{context}");
                assert!(!nothing || !case.orders || values.iter().all(|&value| value == 0.0), "{context}");
            }
            assert!(host.loss.is_finite(), "{}, {what}: a loss of {}", case.name, host.loss);
            assert!(!nothing || !case.orders || host.loss == 0.0, "{}, {what}: a loss of {}", case.name, host.loss);
        }
    }
}

#[test]
fn long_lists_are_supported() {
    for case in CASES {
        let (scores, labels, offsets) = batch(9, &[case.long]);
        let result = on_host(case.name, &scores, &labels, &offsets);
        assert!(result.loss.is_finite() && result.loss > 0.0, "{}", case.name);
        let zeros = result.gradient.iter().filter(|&&value| value == 0.0).count();
        assert!(zeros < case.long / 2 && result.gradient.iter().all(|value| value.is_finite()), "{}", case.name);
        // All labels different.
        let ramp: Vec<f32> = (0..case.long).map(|i| (i * 7_919 % case.long) as f32 / case.long as f32).collect();
        let result = on_host(case.name, &scores, &ramp, &offsets);
        assert!(result.loss.is_finite() && result.loss > 0.0, "{}", case.name);
    }
}

#[test]
fn losses_stop_on_request() {
    let (scores, labels, offsets) = batch(1, &[20]);
    for case in CASES {
        let stop = Stop::new();
        let objective = Objective::parse(case.name).unwrap();
        stop.ask();
        let batch = Batch { labels: &labels, offsets: &offsets };
        let mut gradient = [0.0; 20];
        let gradients = Gradients::gradient(&mut gradient);
        let result = objective.gradients(&scores, batch, gradients, Outputs::default(), &[], &stop);
        assert!(matches!(result, Err(crate::Error::Stopped)), "{}", case.name);
    }
}
