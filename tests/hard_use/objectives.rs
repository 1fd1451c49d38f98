//! Both gradient paths agree where scores are extreme and lists are long; fields do not depend on where zero is; an epoch
//! that is stopped leaves no trace.

use super::support::Place;
use burnrank::ScaleKind;
use burnrank::Schedule;
use burnrank::analysis::lambda_field::FieldReport;
use burnrank::objective::{PAIR_BUDGET, Pairs};
use burnrank::{
    Batch, Error, Model, Objective, OptimizerKind, Outputs, PairWeight, Stop, Synthetic, Tensor, TrainConfig, Trainer,
    device,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Objectives of every kind that both paths support.
const BOTH_PATHS: [&str; 16] = [
    "ranknet",
    "ranknet:ties",
    "ranknet@3:sigma=2",
    "arp-loss1",
    "arp-loss2@4",
    "ndcg-loss1",
    "ndcg-loss2",
    "ndcg-loss2++:mu=5",
    "lambdarank:ndcg",
    "lambdarank:ndcg@3",
    "lambdarank:map",
    "lambdarank:mrr",
    "lambdarank:err",
    "lambdarank:bpref",
    "lambdarank:pairs",
    "lambdarank:wta",
];

/// Losses and gradients of the lambda path and of the tensor path.
fn both(name: &str, scores: &[f32], labels: &[f32]) -> [(f64, Vec<f32>); 2] {
    let objective = Objective::parse(name).unwrap();
    let batch = Batch { labels, offsets: &[0, labels.len()] };
    let mut gradient = vec![0.0; scores.len()];
    let outputs = Outputs { loss: true, pairs: true };
    let result = objective.lambda_gradient(scores, batch, &mut gradient, outputs, &[]).unwrap();
    let tensor = Tensor::<1>::from_floats(scores, &device::open("auto").unwrap());
    let found = objective.tensor_gradient(tensor, batch, PAIR_BUDGET, &Stop::new()).unwrap();
    let loss = f64::from(found.loss.into_scalar::<f32>());
    [(result.loss, gradient), (loss, found.gradient.try_into_vec_as().unwrap())]
}

fn agree(name: &str, scores: &[f32], labels: &[f32], tolerance: f32) {
    let [(loss, lambdas), (tensor_loss, gradients)] = both(name, scores, labels);
    let most = lambdas.iter().fold(0f32, |most, lambda| most.max(lambda.abs()));
    assert!((loss - tensor_loss).abs() <= 1e-4 * loss.abs() + 1e-30, "{name}: losses {loss} and {tensor_loss}");
    for (document, (lambda, gradient)) in lambdas.iter().zip(&gradients).enumerate() {
        assert!(
            (lambda - gradient).abs() <= tolerance * most,
            "{name}, document {document}: {lambda} and {gradient} of {most}"
        );
    }
}

#[test]
fn scores_that_are_not_finite_have_the_same_gradient_on_both_paths() {
    let wild = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 3e38, -3e38, 0.0, 1.0, f32::NAN, -2.0];
    let lists = [
        [0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 1.0, 2.0, 0.0, 1.0, 1.0],
        [3.0, 0.0, 0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0],
    ];
    for name in BOTH_PATHS {
        for labels in lists {
            agree(name, &wild, &labels, 1e-5);
            // One at a time, among normal scores.
            for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e31, -3e38] {
                let scores: [f32; 11] = std::array::from_fn(|i| if i == 4 { odd } else { (i as f32 * 2.3).sin() });
                agree(name, &scores, &labels, 1e-5);
            }
        }
    }
    // The relevant document with score NaN is pulled up.
    for (_, gradient) in both("ranknet", &[f32::NAN, 0.5, 0.3], &[1.0, 0.0, 0.0]) {
        assert_eq!(gradient, [-2.0, 1.0, 1.0]);
    }
}

#[test]
fn long_lists_have_the_same_gradient_on_both_paths() {
    let list = |n: usize| -> (Vec<f32>, Vec<f32>) {
        let label = |i: usize| ((i * 7919) % 1000 / 300) as f32;
        ((0..n).map(|i| ((i * 104_729) % 4_001) as f32 / 400.0).collect(), (0..n).map(label).collect())
    };
    let (scores, labels) = list(500);
    for name in BOTH_PATHS {
        agree(name, &scores, &labels, 1e-5);
    }
    // Both weights are differences of discounts, which are almost equal at such ranks.
    let (scores, labels) = list(4_000);
    agree("ndcg-loss2++:mu=5", &scores, &labels, 1e-5);
}

#[test]
fn close_ranks_do_not_cancel_in_single_precision() {
    // Only the last document is relevant: the lambda of each other document is the weight of its distance.
    let n = 2_000;
    let mut labels = vec![0.0; n];
    labels[n - 1] = 1.0;
    let scores: Vec<f32> = (0..n).map(|i| -(i as f32) / 100.0).collect();
    let [(_, lambdas), (_, gradients)] = both("ndcg-loss2", &scores, &labels);
    for document in 0..n - 1 {
        let (lambda, gradient) = (lambdas[document], gradients[document]);
        assert!((lambda - gradient).abs() <= 5e-6 * lambda.abs(), "document {document}: {lambda} and {gradient}");
    }
}

/// Objectives whose lambdas depend only on score differences.
const FIELDS: [&str; 12] = [
    "ranknet",
    "ranknet:ties",
    "ranknet:sigma=3",
    "arp-loss1",
    "arp-loss2",
    "ndcg-loss2",
    "lambdarank:ndcg",
    "lambdarank:map",
    "lambdarank:err",
    "lambdarank:ndcg:localgradient",
    "lambdarank:ndcg:springsmooth",
    "lambdarank:ndcg:discretebounded",
];

const FIELD_LABELS: [f32; 8] = [0.0, 1.0, 2.0, 0.0, 3.0, 1.0, 0.0, 4.0];

fn field(name: &str, scores: &[f64]) -> FieldReport {
    FieldReport::new(&Objective::parse(name).unwrap().as_field().unwrap(), scores, &FIELD_LABELS).unwrap()
}

#[test]
fn a_field_does_not_depend_on_the_offset_of_scores() {
    // Two of them tie, and must be moved apart the same way everywhere.
    let scores = [0.5, 2.0, -1.5, 3.0, 0.25, 0.25, -0.75, 1.0];
    for name in FIELDS {
        let here = field(name, &scores);
        for shift in [1e4, -1e4, 1e6, -1e6, 1e9] {
            let there = field(name, &scores.map(|score| score + shift));
            let expected: Vec<f64> = here.scores.iter().map(|score| score + shift).collect();
            assert_eq!(there.scores, expected, "{name} {shift}");
            assert_eq!(FieldReport { scores: here.scores.clone(), ..there }, here, "{name} {shift}");
        }
    }
    for shift in [0.0, 1e4, -1e6] {
        let ranknet = field("ranknet", &std::array::from_fn::<_, 8, _>(|i| shift + 0.5 * i as f64));
        let jumps = ranknet.crossings.iter().any(|crossing| crossing.jump > ranknet.lambda_tolerance);
        assert!(ranknet.conservative() && ranknet.convex() && !jumps, "{ranknet:?}");
    }
}

#[test]
fn a_field_does_not_depend_on_the_unit_of_scores() {
    let scores = [0.5, 2.0, -1.5, 3.0, 0.25, 0.25, -0.75, 1.0];
    for (name, potential) in [("ranknet", "Conservative"), ("lambdarank:ndcg", "BetweenTies")] {
        let here = field(name, &scores);
        for power in [-16, 16] {
            let unit = 2f64.powi(power);
            let there = field(&format!("{name}:sigma={}", 1.0 / unit), &scores.map(|score| score * unit));
            assert_eq!(format!("{:?}", there.potential), potential, "{name} in units of {unit}");
            assert_eq!(
                (there.potential, there.convex(), there.balanced()),
                (here.potential, here.convex(), here.balanced())
            );
            let (found, expected) = (there.largest_eigenvalue * unit * unit, here.largest_eigenvalue);
            assert!((found - expected).abs() < 1e-9 * expected, "{name} in units of {unit}: {found}, not {expected}");
            for (found, expected) in there.lambdas.iter().zip(&here.lambdas) {
                assert!((found * unit - expected).abs() < 1e-12, "{name}: {found} {expected}");
            }
        }
    }
    // Objectives that depend only on the order do not change at all.
    let here = field("lambdarank:ndcg:discretebounded", &scores);
    for unit in [1e-8, 1e8] {
        let there = field("lambdarank:ndcg:discretebounded", &scores.map(|score| score * unit));
        assert_eq!((there.lambdas, there.potential), (here.lambdas.clone(), here.potential));
    }
}

#[test]
fn lambda_prints_the_same_for_scores_near_ten_thousand() {
    let data: String = [2, 0, 1, 0, 4, 0, 1].iter().map(|label| format!("{label} qid:1 1:0.5\n")).collect();
    let place = Place::new(&[("data.txt", &data)]);
    let says = |shift: f64| {
        let scores: String = (0..7).map(|i| format!("{}\n", shift + 0.5 * f64::from(i))).collect();
        std::fs::write(place.0.path().join("scores.txt"), scores).unwrap();
        let mut found = place.run("lambda --objective ranknet --data data.txt --scores scores.txt --json").json();
        found["queries"][0]["report"].as_object_mut().unwrap().remove("scores");
        found
    };
    let here = says(0.0);
    assert_eq!((&here["conservative"], &here["convex"]), (&true.into(), &true.into()), "{here}");
    for shift in [1e4, -1e4, 1e6, -1e6] {
        assert_eq!(says(shift), here, "{shift}");
    }
}

/// Weight 1; requests a stop after `weights` weights.
#[derive(Debug)]
struct StopsAfter {
    weights: usize,
    asked: AtomicUsize,
    stop: Stop,
}

impl PairWeight for StopsAfter {
    fn exact(&self, _: &[f32], _: usize, _: usize) -> f64 {
        if self.asked.fetch_add(1, Ordering::Relaxed) == self.weights {
            self.stop.ask();
        }
        1.0
    }

    fn pairs(&self) -> Pairs {
        Pairs::Ordered
    }
}

/// Returns the result of a run without times.
fn scores_and_epochs(model: Model, data: &burnrank::Dataset) -> (Vec<u32>, Vec<String>) {
    let scores = model.score(data).unwrap();
    let epochs =
        model.history.iter().map(|epoch| format!("{:?}", burnrank::EpochRecord { seconds: 0.0, ..epoch.clone() }));
    (scores.iter().map(|score| score.to_bits()).collect(), epochs.collect())
}

#[test]
fn a_stopped_epoch_has_no_effect() {
    let data = Synthetic { queries: 12, documents: 10, features: 4, ..Synthetic::net() };
    let data = data.generator().unwrap().dataset().unwrap();
    let device = device::open("auto").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = folder.path().join("checkpoint");
    let trainer = |weights: usize| {
        let stop = Stop::new();
        let weight = Arc::new(StopsAfter { weights, asked: AtomicUsize::new(0), stop: stop.clone() });
        let config = TrainConfig {
            objective: Objective::custom("one", weight.clone()),
            optimizer: OptimizerKind::Adam,
            epochs: 6,
            patience: 0,
            learning_rate: 1.0,
            // Early optimum: no later epoch is better.
            metric: "wta".into(),
            // Restarts happen, and one of them is stopped.
            restart: 1,
            batch_queries: 3,
            schedule: Schedule::Constant,
            scaling: ScaleKind::QueryMinMax,
            ..TrainConfig::default()
        };
        (Trainer::new(config, &data, &data, &device).unwrap().with_stop(stop), weight)
    };
    let run = |trainer: Trainer<'_>| scores_and_epochs(trainer.train().unwrap(), &data);
    let (whole, weight) = trainer(usize::MAX);
    let expected = run(whole);
    assert!(expected.1.iter().any(|epoch| epoch.contains("restart: 1")), "{:?}", expected.1);
    let each = weight.asked.load(Ordering::Relaxed) / 6;
    for epoch in 0..6 {
        // In the third of four batches.
        let (mut stopped, _) = trainer(epoch * each + each * 5 / 8);
        for _ in 0..epoch {
            stopped.epoch().unwrap();
        }
        assert!(matches!(stopped.epoch(), Err(Error::Stopped)), "epoch {epoch}");
        assert_eq!(stopped.history().len(), epoch);
        // Continues in the same process, and from a checkpoint in another.
        if epoch > 0 {
            stopped.save_checkpoint(&checkpoint).unwrap();
            let resumed = trainer(usize::MAX).0.resume(&checkpoint).unwrap();
            assert!(run(resumed) == expected, "resumed after {epoch} epochs");
        }
        assert!(run(stopped.with_stop(Stop::new())) == expected, "gone on after {epoch} epochs");
    }
}

/// Without a check within the epoch, the tool would only stop after hours.
#[cfg(unix)]
#[test]
fn an_interrupt_stops_within_an_epoch() {
    let place = Place::new(&[]);
    place.run("generate net --queries 1 --documents 200000 --features 2 --out long.txt").good();
    place.run("generate net --queries 4 --documents 5 --features 2 --out valid.txt").good();
    let objectives = ["ndcg-loss2:gaussian=4", "lambdarank:map@200000:sigma=200", "lambdarank:ndcg:springsmooth"];
    for (number, objective) in objectives.into_iter().enumerate() {
        let arguments = format!(
            "train --train long.txt --valid valid.txt --objective {objective} --epochs 1000000 --patience 0 --out model-{number}"
        );
        let mut command = place.command(&arguments);
        let quiet = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = quiet.spawn().unwrap();
        // Time to read the data and to start.
        std::thread::sleep(std::time::Duration::from_millis(700));
        let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{objective}");
    }
}
