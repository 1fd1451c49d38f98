//! Every objective on every backend of this build: check values, agreement of both paths, and edge cases.

use burnrank::objective::PAIR_BUDGET;
use burnrank::{Batch, Device, OBJECTIVES, Objective, Outputs, Stop, Tensor, device};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SCORES: [f32; 5] = [0.9, 0.1, -0.4, 1.5, 0.3];
const LABELS: [f32; 5] = [0.0, 1.0, 2.0, 0.0, 3.0];

/// Objective, loss, gradient.
type Check = (&'static str, Option<f64>, Option<[f64; 5]>);

/// Values that agree with Rax, LightGBM and XGBoost, or were computed by brute force; rounded to six digits.
const CHECKS: [Check; 12] = [
    ("ranknet", Some(10.848086), Some([2.121466, -0.419533, -1.946374, 2.440600, -2.196159])),
    ("lambdarank:ndcg", Some(1.344197), Some([0.138972, -0.037590, -0.221437, 0.505351, -0.385296])),
    ("lambdarank:map", None, Some([0.239140, -0.299493, -0.411738, 0.678743, -0.206653])),
    ("lambdarank:mrr", None, Some([0.353578, -0.649785, -0.710900, 1.627067, -0.619959])),
    ("arp-loss1", Some(37.344646), Some([6.057319, 0.253746, -6.520650, 6.993524, -6.783939])),
    ("arp-loss2", Some(28.894528), Some([6.057319, 0.044194, -5.196732, 6.993524, -7.898305])),
    ("ndcg-loss1", Some(3.160013), Some([0.532819, 0.192908, -0.321860, 0.621277, -1.025144])),
    ("ndcg-loss2", Some(1.095203), Some([0.295183, 0.201268, -0.086549, 0.134294, -0.544197])),
    ("ndcg-loss2-topk@1", Some(2.743808), Some([0.775204, 0.462476, -0.189405, 0.348909, -1.397185])),
    ("ndcg-loss2-topk@3", Some(1.427151), Some([0.321518, 0.344661, -0.141155, 0.151839, -0.676863])),
    ("ndcg-loss2++:mu=5", Some(7.415284), None),
    ("ndcg-loss2++:mu=10", Some(12.891301), None),
];

/// One of every kind, with truncation, sigma and ties.
const ALL: [&str; 29] = [
    "ranknet",
    "ranknet:ties",
    "ranknet@3:sigma=2",
    "arp-loss1",
    "arp-loss1@2",
    "arp-loss2",
    "arp-loss2@4:sigma=0.5",
    "ndcg-loss1",
    "ndcg-loss1@3",
    "ndcg-loss2",
    "ndcg-loss2@5",
    "ndcg-loss2++:mu=5",
    "ndcg-loss2++@3:mu=10:sigma=2",
    "ndcg-loss2-topk@2",
    "ndcg-loss2-topk@10:sigma=2",
    "rr-gap",
    "rr-gap@3:sigma=2",
    "lambdarank:ndcg",
    "lambdarank:ndcg@3",
    "lambdarank:ndcg:linear@10",
    "lambdarank:map",
    "lambdarank:mrr",
    "lambdarank:mrr:swap",
    "ndcg-loss2++@4:mu=0",
    "lambdarank:dcg:linear",
    "lambdarank:arp",
    "lambdarank:pairs",
    "lambdarank:err@10",
    "lambdarank:bpref",
];

fn devices() -> Vec<(&'static str, Device)> {
    device::backends()
        .into_iter()
        .map(|backend| (backend.name(), backend.open().expect("a backend of this build opens")))
        .collect()
}

/// Loss and gradient of the lambda path.
fn lambda(name: &str, scores: &[f32], labels: &[f32], offsets: &[usize]) -> (f64, Vec<f32>) {
    let mut gradient = vec![0.0; scores.len()];
    let outputs = Outputs { loss: true, pairs: true };
    let objective = Objective::parse(name).unwrap();
    let result = objective.lambda_gradient(scores, Batch { labels, offsets }, &mut gradient, outputs, &[]).unwrap();
    (result.loss, gradient)
}

/// Loss and gradient of the tensor path, in tiles.
fn tensor(
    name: &str,
    scores: &[f32],
    labels: &[f32],
    offsets: &[usize],
    device: &Device,
    budget: usize,
) -> (f64, Vec<f32>) {
    let objective = Objective::parse(name).unwrap();
    let scores = Tensor::<1>::from_floats(scores, device);
    let result = objective.tensor_gradient(scores, Batch { labels, offsets }, budget, &Stop::new()).unwrap();
    (f64::from(result.loss.into_scalar::<f32>()), result.gradient.try_into_vec_as().unwrap())
}

/// Loss and gradient of the lambda path on a device, with kernels if it is a GPU.
fn on_device(name: &str, scores: &[f32], labels: &[f32], offsets: &[usize], device: &Device) -> (f64, Vec<f32>) {
    let objective = Objective::parse(name).unwrap();
    let lambdas = objective.lambda_tensor(Tensor::from_floats(scores, device), Batch { labels, offsets }, &[]).unwrap();
    let result = lambdas.result().unwrap();
    let mut gradient = vec![0.0; scores.len()];
    let host = objective
        .lambda_gradient(scores, Batch { labels, offsets }, &mut gradient, Outputs { loss: true, pairs: true }, &[])
        .unwrap();
    assert_eq!((result.pairs, result.saturated), (host.pairs, host.saturated), "{name}: pairs of {labels:?}");
    (result.loss, lambdas.gradient.try_into_vec_as().unwrap())
}

/// Loss and gradient by autodiff of the whole loss.
fn autodiff(name: &str, scores: &[f32], labels: &[f32], offsets: &[usize], device: &Device) -> (f64, Vec<f32>) {
    let objective = Objective::parse(name).unwrap();
    let scores = Tensor::<1>::from_floats(scores, &device.clone().autodiff()).require_grad();
    let loss = objective.tensor_loss(scores.clone(), Batch { labels, offsets }).unwrap();
    let gradients = loss.backward();
    (f64::from(loss.into_scalar::<f32>()), scores.grad(&gradients).unwrap().try_into_vec_as().unwrap())
}

fn assert_close(values: &[f32], expected: &[f32], tolerance: f32, context: &str) {
    assert_eq!(values.len(), expected.len());
    let scale = expected.iter().fold(1e-3f32, |scale, value| scale.max(value.abs()));
    for (position, (a, b)) in values.iter().zip(expected).enumerate() {
        assert!(
            (a - b).abs() <= tolerance * scale,
            "{context}: {a} against {b} at {position} of {values:?} / {expected:?}"
        );
    }
}

/// Queries of mixed lengths, labels 0..=4, and scores on a coarse grid so that many are equal.
fn random_batch(seed: u64, lengths: &[usize]) -> (Vec<f32>, Vec<f32>, Vec<usize>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut offsets = vec![0];
    lengths.iter().for_each(|length| offsets.push(offsets.last().unwrap() + length));
    let n = *offsets.last().unwrap();
    let scores = (0..n).map(|_| random.random_range(-8..8) as f32 / 4.0).collect();
    let labels = (0..n).map(|_| random.random_range(0..5) as f32).collect();
    (scores, labels, offsets)
}

#[test]
fn check_values_on_both_paths_and_every_backend() {
    for (name, loss, gradient) in CHECKS {
        let mut results = vec![("lambda".to_owned(), lambda(name, &SCORES, &LABELS, &[0, 5]))];
        for (backend, device) in devices() {
            results
                .push((format!("tensor on {backend}"), tensor(name, &SCORES, &LABELS, &[0, 5], &device, PAIR_BUDGET)));
            results.push((format!("autodiff on {backend}"), autodiff(name, &SCORES, &LABELS, &[0, 5], &device)));
            results.push((format!("lambda on {backend}"), on_device(name, &SCORES, &LABELS, &[0, 5], &device)));
        }
        for (path, (actual_loss, actual_gradient)) in results {
            if let Some(loss) = loss {
                assert!(
                    (actual_loss - loss).abs() < 2e-5 * loss,
                    "{name}, {path}: loss {actual_loss}, expected {loss}"
                );
            }
            if let Some(gradient) = gradient {
                for (a, b) in actual_gradient.iter().zip(gradient) {
                    assert!(
                        (f64::from(*a) - b).abs() < 1e-5,
                        "{name}, {path}: {actual_gradient:?}, expected {gradient:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn losses_are_not_those_of_known_mistakes() {
    let (loss, _) = lambda("ndcg-loss2", &SCORES, &LABELS, &[0, 5]);
    for wrong in [0.466931, 2.536334] {
        assert!((loss - wrong).abs() > 0.1);
    }
}

#[test]
fn paths_agree_on_every_backend() {
    let lengths = [1, 7, 2, 30, 12];
    for (backend, device) in devices() {
        for (seed, name) in ALL.iter().enumerate() {
            let (scores, labels, offsets) = random_batch(seed as u64, &lengths);
            let (loss, closed) = lambda(name, &scores, &labels, &offsets);
            let (tensor_loss, tiled) = tensor(name, &scores, &labels, &offsets, &device, PAIR_BUDGET);
            let (auto_loss, auto) = autodiff(name, &scores, &labels, &offsets, &device);
            let (device_loss, kernels) = on_device(name, &scores, &labels, &offsets, &device);
            assert_close(&kernels, &closed, 1e-5, &format!("{name} by kernels on {backend}"));
            assert_close(&tiled, &closed, 2e-5, &format!("{name} tiled on {backend}"));
            assert_close(&auto, &closed, 2e-5, &format!("{name} autodiff on {backend}"));
            for other in [tensor_loss, auto_loss, device_loss] {
                assert!(
                    (other - loss).abs() <= 2e-5 * loss.abs().max(1e-3),
                    "{name} on {backend}: {other} against {loss}"
                );
            }
        }
    }
}

#[test]
fn objectives_agree_on_every_backend() {
    let (scores, labels, offsets) = random_batch(77, &[1, 7, 2, 30, 12]);
    for (backend, device) in devices() {
        for entry in OBJECTIVES {
            let (loss, closed) = lambda(entry.name, &scores, &labels, &offsets);
            let (tensor_loss, tiled) = tensor(entry.name, &scores, &labels, &offsets, &device, PAIR_BUDGET);
            assert_close(&tiled, &closed, 2e-5, &format!("{} on {backend}", entry.name));
            assert!((tensor_loss - loss).abs() <= 2e-5 * loss, "{} on {backend}: {tensor_loss} {loss}", entry.name);
            let (device_loss, kernels) = on_device(entry.name, &scores, &labels, &offsets, &device);
            assert_close(&kernels, &closed, 1e-5, &format!("{} on {backend}", entry.name));
            assert!((device_loss - loss).abs() <= 2e-5 * loss, "{} on {backend}: {device_loss} {loss}", entry.name);
        }
    }
}

#[test]
fn results_do_not_depend_on_the_pair_budget() {
    let device = device::open("auto").unwrap();
    let (scores, labels, offsets) = random_batch(5, &[3, 40, 1, 25]);
    for name in ALL {
        let (_, whole) = tensor(name, &scores, &labels, &offsets, &device, PAIR_BUDGET);
        for budget in [1, 100, 700] {
            let (_, tiled) = tensor(name, &scores, &labels, &offsets, &device, budget);
            assert_close(&tiled, &whole, 2e-5, &format!("{name} with a budget of {budget}"));
        }
    }
}

/// Central differences of the loss with fixed weights, the definition of a detached weight.
#[test]
fn gradients_are_differences_of_the_loss_with_fixed_weights() {
    for (seed, name) in ALL.iter().enumerate() {
        let (scores, labels, _) = random_batch(100 + seed as u64, &[11]);
        let objective = Objective::parse(name).unwrap();
        let kernel = objective.loss().as_pairs().unwrap();
        let mut weights = vec![];
        kernel.for_each_weight(&scores, &labels, |i, j, weight| weights.push((i, j, weight)));
        let loss = |scores: &[f64]| -> f64 {
            let pair = |&(i, j, weight): &(usize, usize, f64)| {
                weight * (-kernel.sigma * (scores[i] - scores[j])).exp().ln_1p() / kernel.base.nats()
            };
            weights.iter().map(pair).sum()
        };
        let (_, gradient) = lambda(name, &scores, &labels, &[0, 11]);
        let at: Vec<f64> = scores.iter().map(|&s| f64::from(s)).collect();
        let numeric: Vec<f32> = (0..at.len())
            .map(|i| {
                let (mut up, mut down) = (at.clone(), at.clone());
                up[i] += 1e-5;
                down[i] -= 1e-5;
                ((loss(&up) - loss(&down)) / 2e-5) as f32
            })
            .collect();
        assert_close(&gradient, &numeric, 1e-5, name);
    }
}

#[test]
fn gradients_are_finite_and_zero_if_nothing_can_be_learned() {
    let huge = 1e30f32;
    let cases: [(&str, Vec<f32>, Vec<f32>, bool); 9] = [
        ("one document", vec![0.3], vec![2.0], true),
        ("all labels equal", vec![0.3, -1.0, 2.0], vec![2.0; 3], true),
        ("no relevant documents", vec![0.3, -1.0, 2.0], vec![0.0; 3], true),
        ("all scores equal", vec![0.5; 6], vec![0.0, 2.0, 1.0, 0.0, 3.0, 1.0], false),
        (
            "infinite scores",
            vec![f32::INFINITY, f32::NEG_INFINITY, 0.0, f32::INFINITY],
            vec![0.0, 2.0, 1.0, 3.0],
            false,
        ),
        ("not a number", vec![f32::NAN, 0.0, f32::NAN, 1.0], vec![2.0, 1.0, 0.0, 3.0], false),
        ("scores of 1e30", vec![huge, -huge, 0.0, huge], vec![0.0, 2.0, 1.0, 3.0], false),
        ("huge and tiny", vec![1e-38, -1e30, 88.0, -104.0], vec![0.0, 2.0, 1.0, 3.0], false),
        ("two documents", vec![0.0, 1.0], vec![4.0, 0.0], false),
    ];
    for (backend, device) in devices() {
        for name in ALL {
            for (case, scores, labels, nothing) in &cases {
                // With ties, equal labels are pairs, and ARP-Loss1 and NDCG-Loss1 weight single documents.
                let with_equal_labels = ["ranknet:ties", "arp-loss1", "arp-loss1@2", "ndcg-loss1", "ndcg-loss1@3"];
                let nothing = *nothing && (*case != "all labels equal" || !with_equal_labels.contains(&name));
                let nothing = nothing && !(name == "ranknet:ties" && *case == "no relevant documents");
                let offsets = [0, scores.len()];
                let paths = [
                    ("lambda", lambda(name, scores, labels, &offsets).1),
                    ("tensor", tensor(name, scores, labels, &offsets, &device, PAIR_BUDGET).1),
                    ("kernels", on_device(name, scores, labels, &offsets, &device).1),
                ];
                assert_close(&paths[2].1, &paths[0].1, 1e-5, &format!("{name} on {backend}, {case}"));
                for (path, gradient) in paths {
                    let context = format!("{name}, {path} on {backend}, {case}: {gradient:?}");
                    assert!(gradient.iter().all(|value| value.is_finite()), "{context}");
                    assert!(!nothing || gradient.iter().all(|&value| value == 0.0), "{context}");
                    let sum: f64 = gradient.iter().map(|&value| f64::from(value)).sum();
                    let scale: f64 = gradient.iter().map(|&value| f64::from(value.abs())).sum();
                    let cut = path == "tensor" && scores.iter().any(|score| score.abs() >= huge || score.is_nan());
                    assert!(cut || sum.abs() <= 1e-5 * scale, "{context} sums to {sum}");
                }
            }
        }
    }
}

/// Ragged queries, including queries of zero and one documents: first, last and consecutive.
#[test]
fn ragged_queries_on_every_device() {
    let (scores, labels, offsets) = random_batch(31, &[0, 5, 0, 0, 1, 120, 7, 300, 2, 0]);
    for (backend, device) in devices() {
        for name in ALL {
            let (loss, closed) = lambda(name, &scores, &labels, &offsets);
            let (device_loss, kernels) = on_device(name, &scores, &labels, &offsets, &device);
            assert_close(&kernels, &closed, 1e-5, &format!("{name} on {backend}"));
            assert!(
                (device_loss - loss).abs() <= 2e-5 * loss.abs().max(1e-3),
                "{name} on {backend}: {device_loss} {loss}"
            );
        }
        let empty = on_device("lambdarank:ndcg", &[], &[], &[0, 0], &device);
        assert_eq!(empty, (0.0, vec![]), "{backend}");
    }
}

#[test]
fn long_queries_agree_on_every_backend() {
    let (scores, labels, offsets) = random_batch(9, &[10_000]);
    let device = device::open("auto").unwrap();
    for name in ["ranknet", "lambdarank:ndcg", "ndcg-loss2++:mu=5", "arp-loss1", "lambdarank:map"] {
        let (loss, gradient) = lambda(name, &scores, &labels, &offsets);
        let scale: f64 = gradient.iter().map(|&value| f64::from(value.abs())).sum();
        let sum: f64 = gradient.iter().map(|&value| f64::from(value)).sum();
        assert!(loss.is_finite() && scale > 0.0 && sum.abs() <= 1e-5 * scale, "{name}: {sum} of {scale}");
        if name == "ranknet" {
            let (_, tiled) = tensor(name, &scores, &labels, &offsets, &device, PAIR_BUDGET);
            assert_close(&tiled, &gradient, 1e-4, name);
        }
        for (backend, device) in devices() {
            let (_, kernels) = on_device(name, &scores, &labels, &offsets, &device);
            assert_close(&kernels, &gradient, 1e-5, &format!("{name} on {backend}"));
        }
    }
}

#[test]
fn queries_of_a_batch_are_independent() {
    let device = device::open("auto").unwrap();
    let lengths = [9, 1, 33, 4];
    let (scores, labels, offsets) = random_batch(21, &lengths);
    for name in ALL {
        let (_, together) = lambda(name, &scores, &labels, &offsets);
        let (_, padded) = tensor(name, &scores, &labels, &offsets, &device, PAIR_BUDGET);
        for (query, rows) in offsets.windows(2).map(|w| w[0]..w[1]).enumerate() {
            let own_offsets = [0, rows.len()];
            // The gradient of a batch is the mean over its queries.
            let share = |alone: Vec<f32>| alone.iter().map(|value| value / lengths.len() as f32).collect::<Vec<f32>>();
            let alone = share(lambda(name, &scores[rows.clone()], &labels[rows.clone()], &own_offsets).1);
            assert_eq!(together[rows.clone()], alone, "{name}, query {query}: not the same bytes");
            let alone =
                share(tensor(name, &scores[rows.clone()], &labels[rows.clone()], &own_offsets, &device, PAIR_BUDGET).1);
            assert_close(&padded[rows.clone()], &alone, 1e-5, &format!("{name}, query {query}"));
        }
    }
}

#[test]
fn permuting_documents_permutes_the_gradient() {
    let n = 23;
    let labels: Vec<f32> = random_batch(3, &[n]).1;
    // Distinct scores: equal scores are ranked in document order, which a permutation changes.
    let scores: Vec<f32> = (0..n).map(|i| (i * 7 % n) as f32 / 5.0).collect();
    let permutation: Vec<usize> = (0..n).map(|i| i * 11 % n).collect();
    let permute = |values: &[f32]| permutation.iter().map(|&i| values[i]).collect::<Vec<f32>>();
    for name in ALL {
        let (_, gradient) = lambda(name, &scores, &labels, &[0, n]);
        let (_, permuted) = lambda(name, &permute(&scores), &permute(&labels), &[0, n]);
        assert_close(&permuted, &permute(&gradient), 1e-6, name);
        // Only differences of scores count; f32 represents this shift exactly.
        let shifted: Vec<f32> = scores.iter().map(|score| score + 8.0).collect();
        let (_, gradient_shifted) = lambda(name, &shifted, &labels, &[0, n]);
        assert_close(&gradient_shifted, &gradient, 1e-5, name);
    }
}

#[test]
fn tensor_path_refuses_objectives_without_a_loss() {
    let sampled = Objective::parse("ndcg-loss2++:mu=5:gaussian=3").unwrap();
    let constructed = Objective::parse("lambdarank:ndcg:springsmooth").unwrap();
    let batch = Batch { labels: &LABELS, offsets: &[0, 5] };
    let scores = || Tensor::<1>::from_floats(SCORES, &device::open("auto").unwrap());
    for objective in [sampled, constructed] {
        for error in [
            objective.tensor_loss(scores(), batch).unwrap_err(),
            objective.tensor_gradient(scores(), batch, PAIR_BUDGET, &Stop::new()).unwrap_err(),
        ] {
            assert!(error.to_string().contains("no loss"), "{objective}: {error}");
        }
    }
}
