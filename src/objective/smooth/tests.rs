//! What holds for all formulas: one line per loss.

use super::super::{Batch, Gradients, Objective, Outputs, PAIR_BUDGET};
use crate::{Stop, Tensor, device};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a test has to know about a loss.
struct Case {
    name: &'static str,
    /// Whether a query without different labels has slopes of 0, as it must unless scores are to be labels.
    orders: bool,
    /// Whether the second derivatives are those of the loss.
    curved: bool,
    /// The length of a list that it takes less than a second for.
    long: usize,
}

const CASES: &[Case] = &[
    // One line per loss.
    Case { name: "listnet", orders: true, curved: true, long: 50_000 },
    Case { name: "approx-ndcg:alpha=10", orders: true, curved: true, long: 3_000 },
    Case { name: "softrank:sigma=1", orders: true, curved: true, long: 1_000 },
    Case { name: "rankcosine", orders: true, curved: true, long: 50_000 },
    Case { name: "hinge", orders: true, curved: false, long: 50_000 },
    Case { name: "exponential", orders: true, curved: true, long: 50_000 },
    Case { name: "squared-error", orders: false, curved: true, long: 50_000 },
];

/// Queries of these lengths with random labels and scores.
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

struct Found {
    loss: f64,
    gradient: Vec<f32>,
    hessian: Vec<f32>,
}

/// The slopes of each query's own loss, and the sum over the losses.
fn on_host(name: &str, scores: &[f32], labels: &[f32], offsets: &[usize]) -> Found {
    let objective = Objective::parse(name).unwrap();
    let (mut gradient, mut hessian) = (vec![f32::NAN; scores.len()], vec![f32::NAN; scores.len()]);
    let slopes = Gradients { gradient: &mut gradient, hessian: Some(&mut hessian) };
    let outputs = Outputs { loss: true, pairs: true };
    let result = objective.gradients(scores, Batch { labels, offsets }, slopes, outputs, &[], &Stop::new()).unwrap();
    Found { loss: result.loss, gradient, hessian }
}

/// The same in tensors, without second derivatives.
fn in_tensors(name: &str, scores: &[f32], labels: &[f32], offsets: &[usize], budget: usize) -> Found {
    let objective = Objective::parse(name).unwrap();
    let scores = Tensor::<1>::from_floats(scores, &device::open("auto").unwrap());
    let queries = (offsets.len() - 1) as f32;
    let found = objective.tensor_gradient(scores, Batch { labels, offsets }, budget, &Stop::new()).unwrap();
    let gradient: Vec<f32> = found.gradient.try_into_vec_as().unwrap();
    let gradient = gradient.iter().map(|slope| slope * queries).collect();
    Found { loss: f64::from(found.loss.into_scalar::<f32>() * queries), gradient, hessian: vec![] }
}

fn assert_close(found: &[f32], expected: &[f32], tolerance: f32, context: &str) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1e-3f32, |scale, value| scale.max(value.abs()));
    let far = |(a, b): (&f32, &f32)| (a - b).abs() > tolerance * scale || !a.is_finite();
    let place = found.iter().zip(expected).position(far);
    assert_eq!(place, None, "{context}: {found:?} against {expected:?}");
}

#[test]
fn names_parse_and_print() {
    for case in CASES {
        assert_eq!(Objective::parse(case.name).unwrap().name(), case.name);
        // There are no pairs for a truncation to leave out.
        let (head, rest) = case.name.split_at(case.name.find(':').unwrap_or(case.name.len()));
        assert!(Objective::parse(&format!("{head}@3{rest}")).is_err());
    }
}

#[test]
fn slopes_are_those_of_the_loss() {
    const STEP: f64 = 1e-5;
    for (seed, case) in CASES.iter().enumerate() {
        for n in [2, 3, 12, 40] {
            let (scores, labels, offsets) = batch(seed as u64, &[n]);
            let found = on_host(case.name, &scores, &labels, &offsets);
            let objective = Objective::parse(case.name).unwrap();
            let field = objective.as_field().unwrap();
            let at: Vec<f64> = scores.iter().map(|&score| score.into()).collect();
            let moved = |document: usize, step: f64| {
                let mut moved = at.clone();
                moved[document] += step;
                moved
            };
            let loss = |scores: Vec<f64>| field.cost(&scores, &labels, &[]).unwrap();
            let slope = |scores: Vec<f64>, document: usize| -field.lambdas(&scores, &labels, &[])[document];
            let central = |of: &dyn Fn(f64) -> f64| ((of(STEP) - of(-STEP)) / (2.0 * STEP)) as f32;
            let slopes: Vec<f32> = (0..n).map(|i| central(&|step| loss(moved(i, step)))).collect();
            assert_close(&found.gradient, &slopes, 1e-5, &format!("{}, {n} documents", case.name));
            let curves: Vec<f32> = (0..n).map(|i| central(&|step| slope(moved(i, step), i))).collect();
            if case.curved {
                assert_close(&found.hessian, &curves, 1e-5, &format!("{}, hessian, {n} documents", case.name));
            }
            assert!((found.loss - loss(at.clone())).abs() <= 1e-12 * found.loss.abs());
        }
    }
}

#[test]
fn tensors_give_the_numbers_of_the_host() {
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
fn a_query_is_alone_in_its_batch() {
    for case in CASES {
        let (scores, labels, offsets) = batch(7, &[9, 1, 33, 4]);
        let together = on_host(case.name, &scores, &labels, &offsets);
        let padded = in_tensors(case.name, &scores, &labels, &offsets, PAIR_BUDGET);
        for rows in offsets.windows(2).map(|ends| ends[0]..ends[1]) {
            let (scores, labels, own) = (&scores[rows.clone()], &labels[rows.clone()], [0, rows.len()]);
            let alone = on_host(case.name, scores, labels, &own);
            assert_eq!(together.gradient[rows.clone()], alone.gradient, "{}: not the same bytes", case.name);
            assert_eq!(together.hessian[rows.clone()], alone.hessian, "{}: not the same bytes", case.name);
            let alone = in_tensors(case.name, scores, labels, &own, PAIR_BUDGET);
            assert_close(&padded.gradient[rows], &alone.gradient, 1e-5, case.name);
        }
    }
}

#[test]
fn the_order_of_documents_and_a_shift_of_scores_change_nothing() {
    let n = 23;
    let (scores, labels, offsets) = batch(3, &[n]);
    // A shift of scores such as these is exact.
    let scores: Vec<f32> = scores.iter().map(|score| (score * 1024.0).round() / 1024.0).collect();
    let moved = |values: &[f32]| (0..n).map(|i| values[i * 11 % n]).collect::<Vec<f32>>();
    let shifted: Vec<f32> = scores.iter().map(|score| score + 8.0).collect();
    for case in CASES {
        let found = on_host(case.name, &scores, &labels, &offsets);
        let permuted = on_host(case.name, &moved(&scores), &moved(&labels), &offsets);
        assert_close(&permuted.gradient, &moved(&found.gradient), 1e-6, case.name);
        assert_close(&permuted.hessian, &moved(&found.hessian), 1e-6, case.name);
        let objective = Objective::parse(case.name).unwrap();
        let after = on_host(case.name, &shifted, &labels, &offsets);
        if objective.as_field().unwrap().ignores_shifts() {
            assert_close(&after.gradient, &found.gradient, 1e-6, case.name);
            let (sum, size) =
                found.gradient.iter().fold((0.0, 0.0), |(sum, size), slope| (sum + slope, size + slope.abs()));
            assert!(sum.abs() <= 1e-5 * size, "{}: slopes add up to {sum}", case.name);
        } else {
            assert_ne!(after.gradient, found.gradient, "{}", case.name);
        }
    }
}

#[test]
fn any_scores_have_finite_slopes_and_nothing_to_learn_has_none() {
    let graded = vec![0.0, 2.0, 1.0, 3.0];
    let cases = [
        ("one document", vec![0.3], vec![2.0], true),
        ("equal labels", vec![0.3, -1.0, 2.0], vec![2.0; 3], true),
        ("nothing relevant", vec![0.3, -1.0, 2.0], vec![0.0; 3], true),
        ("equal scores", vec![0.5; 4], graded.clone(), false),
        ("scores of 0", vec![0.0; 4], graded.clone(), false),
        ("infinite", vec![f32::INFINITY, f32::NEG_INFINITY, 0.0, f32::INFINITY], graded.clone(), false),
        ("no numbers", vec![f32::NAN, 0.0, f32::NAN, 1.0], graded.clone(), false),
        ("only no numbers", vec![f32::NAN; 4], graded.clone(), false),
        ("1e30", vec![1e30, -1e30, 0.0, 1e30], graded.clone(), false),
        ("huge and tiny", vec![1e-38, -1e30, 88.0, -104.0], graded.clone(), false),
        ("tiny", vec![1e-45, -1e-40, 1e-38, 0.0], graded, false),
    ];
    for case in CASES {
        for (what, scores, labels, nothing) in &cases {
            let offsets = [0, scores.len()];
            let host = on_host(case.name, scores, labels, &offsets);
            let tensors = in_tensors(case.name, scores, labels, &offsets, PAIR_BUDGET);
            for slopes in [&host.gradient, &host.hessian, &tensors.gradient] {
                let context = format!("{}, {what}: {slopes:?}", case.name);
                assert!(slopes.iter().all(|slope| slope.is_finite()), "{context}");
                assert!(!nothing || !case.orders || slopes.iter().all(|&slope| slope == 0.0), "{context}");
            }
            assert!(host.loss.is_finite(), "{}, {what}: a loss of {}", case.name, host.loss);
            assert!(!nothing || !case.orders || host.loss == 0.0, "{}, {what}: a loss of {}", case.name, host.loss);
        }
    }
}

#[test]
fn long_lists_are_no_trouble() {
    for case in CASES {
        let (scores, labels, offsets) = batch(9, &[case.long]);
        let found = on_host(case.name, &scores, &labels, &offsets);
        assert!(found.loss.is_finite() && found.loss > 0.0, "{}", case.name);
        let few = found.gradient.iter().filter(|&&slope| slope == 0.0).count();
        assert!(few < case.long / 2 && found.gradient.iter().all(|slope| slope.is_finite()), "{}", case.name);
        // All labels different.
        let ramp: Vec<f32> = (0..case.long).map(|i| (i * 7_919 % case.long) as f32 / case.long as f32).collect();
        let found = on_host(case.name, &scores, &ramp, &offsets);
        assert!(found.loss.is_finite() && found.loss > 0.0, "{}", case.name);
    }
}

#[test]
fn whoever_asks_stops_it() {
    let (scores, labels, offsets) = batch(1, &[20]);
    for case in CASES {
        let stop = Stop::new();
        let objective = Objective::parse(case.name).unwrap();
        stop.ask();
        let batch = Batch { labels: &labels, offsets: &offsets };
        let mut gradient = [0.0; 20];
        let slopes = Gradients::gradient(&mut gradient);
        let found = objective.gradients(&scores, batch, slopes, Outputs::default(), &[], &stop);
        assert!(matches!(found, Err(crate::Error::Stopped)), "{}", case.name);
    }
}
