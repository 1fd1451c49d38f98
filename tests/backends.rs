//! Training on every backend of this build gives the same numbers, within the tolerance stated here.

use burnrank::ScaleKind;
use burnrank::Schedule;
use burnrank::{Activation, Architecture, Dataset, Device, GradientPath, Init, Objective, OptimizerKind};
use burnrank::{RankerConfig, Synthetic, TrainConfig, Trainer, device};
use std::sync::Mutex;

/// Maximum difference of scores after three epochs, relative to the largest score: f32 sums run in different orders.
const TOLERANCE: f32 = 1e-4;

#[test]
fn scores_after_training_agree_across_backends_and_paths() {
    let generator = Synthetic { queries: 40, documents: 15, features: 10, ..Synthetic::net() }.generator().unwrap();
    let (train, valid) = (generator.part(0..30).unwrap().0, generator.part(30..40).unwrap().0);
    // Labels of these data are 0 to 5.
    for objective in ["ranknet", "lambdarank:ndcg", "ndcg-loss2++:mu=5", "lambdarank:map:rel=3"] {
        let mut first: Option<(String, Vec<f32>)> = None;
        for backend in device::backends() {
            for gradient in [GradientPath::Lambda, GradientPath::Tensor] {
                let device = backend.open().expect("a backend of this build opens");
                let objective = Objective::parse(objective).unwrap();
                let config = TrainConfig {
                    objective,
                    gradient,
                    epochs: 3,
                    learning_rate: 0.01,
                    schedule: Schedule::Constant,
                    scaling: ScaleKind::QueryMinMax,
                    ..TrainConfig::default()
                };
                let trainer = Trainer::new(config, &train, &valid, &device).unwrap();
                let model = trainer.train().unwrap();
                assert!(model.history.iter().all(|epoch| epoch.loss > 0.0), "there are pairs to learn from");
                let scores = model.score(&valid).unwrap();
                let who = format!("{backend} by {gradient}");
                match &first {
                    None => first = Some((who, scores)),
                    Some((other, expected)) => {
                        let scale = expected.iter().fold(0f32, |scale, score| scale.max(score.abs()));
                        let worst = scores.iter().zip(expected).fold(0f32, |w, (a, b)| w.max((a - b).abs()));
                        println!("{who} against {other}: {worst:e} of {scale}");
                        assert!(worst <= TOLERANCE * scale, "{who} against {other}: {worst} of {scale}");
                    }
                }
            }
        }
    }
}

/// Epochs on every device report the same losses, pairs and training metric as on the host.
#[test]
fn epochs_report_the_same_numbers_on_every_backend() {
    let generator = Synthetic { queries: 24, documents: 20, features: 6, ..Synthetic::net() }.generator().unwrap();
    let (train, valid) = (generator.part(0..17).unwrap().0, generator.part(17..24).unwrap().0);
    for objective in ["lambdarank:ndcg@5", "ndcg-loss2++:mu=5", "lambdarank:mrr:rel=5", "lambdarank:pairs"] {
        let mut first: Option<Vec<burnrank::EpochRecord>> = None;
        for backend in device::backends() {
            let config = TrainConfig {
                objective: Objective::parse(objective).unwrap(),
                epochs: 2,
                batch_queries: 5,
                schedule: Schedule::Constant,
                scaling: ScaleKind::QueryMinMax,
                learning_rate: 0.001,
                ..TrainConfig::default()
            };
            let mut trainer = Trainer::new(config, &train, &valid, &backend.open().unwrap()).unwrap();
            let records: Vec<_> = (0..2).map(|_| trainer.epoch().unwrap()).collect();
            for (record, other) in records.iter().zip(first.get_or_insert_with(|| records.clone()).iter()) {
                assert!(
                    (record.loss / other.loss - 1.0).abs() < 1e-4,
                    "{backend}, {objective}: {record:?}, not {other:?}"
                );
                assert!(
                    (record.train - other.train).abs() < 1e-3 && (record.valid - other.valid).abs() < 1e-3,
                    "{backend}"
                );
                assert_eq!(record.effective_pairs, other.effective_pairs, "{backend}");
                assert!(record.effective_pairs > 0, "{objective} learns something");
            }
        }
    }
}

/// Training gives the same weights on every backend for any net: linear, narrow, deep, with more sums than a tile, with
/// layers too wide for this crate's kernels; in batches of one short query and of more documents than a chunk.
#[test]
fn steps_agree_across_backends_nets_and_optimizers() {
    let generator = Synthetic { queries: 30, documents: 21, features: 19, ..Synthetic::net() }.generator().unwrap();
    let (train, valid) = (generator.part(0..29).unwrap().0, generator.part(29..30).unwrap().0);
    let net = |hidden: &[usize], activation| Architecture::Mlp { hidden: hidden.to_vec(), activation };
    let nets = [
        Architecture::Linear,
        net(&[1], Activation::Sigmoid),
        net(&[16], Activation::Tanh),
        net(&[37, 5], Activation::Relu),
        net(&[64, 17, 3], Activation::Tanh),
        net(&[70, 4], Activation::Sigmoid),
    ];
    let optimizers = [
        (OptimizerKind::Sgd, 0.05, 0.0, 0.0),
        (OptimizerKind::Momentum, 0.01, 0.01, 0.0),
        (OptimizerKind::Adam, 0.01, 0.0, 0.0),
        (OptimizerKind::Adam, 0.01, 0.01, 0.5),
    ];
    for architecture in &nets {
        for (optimizer, learning_rate, l2, clip) in optimizers {
            for batch_queries in [1, 29] {
                // With many more steps, this learning rate would saturate the units.
                let many_steps = batch_queries == 1 && optimizer != OptimizerKind::Adam;
                let learning_rate = if many_steps { learning_rate / 20.0 } else { learning_rate };
                let config = TrainConfig {
                    // RankNet does not depend on ranks, which rounding could change for the nearly equal scores of
                    // small deep nets.
                    objective: Objective::parse("ranknet").unwrap(),
                    architecture: architecture.clone(),
                    optimizer,
                    l2,
                    clip,
                    batch_queries,
                    epochs: 4,
                    learning_rate,
                    schedule: Schedule::Constant,
                    scaling: ScaleKind::QueryMinMax,
                    ..TrainConfig::default()
                };
                losses_agree(&config, &train, &valid);
            }
        }
    }
}

/// A batch whose documents need gradient chunks above the minimum size.
#[test]
fn steps_of_many_documents_agree_across_backends() {
    let generator = Synthetic { queries: 701, documents: 100, features: 3, ..Synthetic::net() }.generator().unwrap();
    let (train, valid) = (generator.part(0..700).unwrap().0, generator.part(700..701).unwrap().0);
    let objective = Objective::parse("lambdarank:ndcg@5").unwrap();
    let hidden = Architecture::Mlp { hidden: vec![5], activation: Activation::Tanh };
    for architecture in [Architecture::Linear, hidden] {
        let (objective, optimizer) = (objective.clone(), OptimizerKind::Sgd);
        let batch_queries = 700;
        let config = TrainConfig {
            architecture,
            objective,
            optimizer,
            batch_queries,
            schedule: Schedule::Constant,
            scaling: ScaleKind::QueryMinMax,
            learning_rate: 0.001,
            ..TrainConfig::default()
        };
        losses_agree(&TrainConfig { learning_rate: 1.0, epochs: 4, ..config }, &train, &valid);
    }
}

/// Checks that the loss of each epoch, which depends on all earlier weights, is the same on every backend.
fn losses_agree(config: &TrainConfig, train: &Dataset, valid: &Dataset) {
    let mut first: Option<Vec<f64>> = None;
    let who = format!("{}, {}, batches of {}", config.architecture, config.optimizer, config.batch_queries);
    for backend in device::backends() {
        let mut trainer = Trainer::new(config.clone(), train, valid, &backend.open().unwrap()).unwrap();
        let losses: Vec<f64> = (0..config.epochs).map(|_| trainer.epoch().unwrap().loss).collect();
        let expected = first.get_or_insert_with(|| losses.clone());
        println!("{backend}, {who}: {losses:?}");
        let moved = (expected[0] - expected[expected.len() - 1]).abs();
        assert!(moved > 1e-4 * expected[0].abs(), "{who}: training does not change the loss: {expected:?}");
        for (loss, expected) in losses.iter().zip(expected.iter()) {
            assert!((loss - expected).abs() < 1e-6 * expected.abs() + 1e-3 * moved, "{backend}, {who}: {losses:?}");
        }
    }
}

/// A run on a GPU that resumes from a checkpoint gives exactly the result of an uninterrupted one.
#[test]
fn resumed_runs_on_a_gpu_give_identical_results() {
    let generator = Synthetic { queries: 20, documents: 30, features: 7, ..Synthetic::net() }.generator().unwrap();
    let (train, valid) = (generator.part(0..15).unwrap().0, generator.part(15..20).unwrap().0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    for backend in device::backends().into_iter().filter(|backend| !backend.is_host()) {
        for hidden in [vec![6], vec![70]] {
            let architecture = Architecture::Mlp { hidden, activation: Activation::Tanh };
            let config = TrainConfig {
                architecture,
                epochs: 5,
                batch_queries: 4,
                schedule: Schedule::Constant,
                scaling: ScaleKind::QueryMinMax,
                learning_rate: 0.001,
                ..TrainConfig::default()
            };
            let start = || Trainer::new(config.clone(), &train, &valid, &backend.open().unwrap()).unwrap();
            let rest = |trainer: Trainer| {
                let before = trainer.history().len();
                let model = trainer.train().unwrap();
                let losses: Vec<f64> = model.history[before..].iter().map(|epoch| epoch.loss).collect();
                (losses, model.score(&valid).unwrap())
            };
            let (losses, scores) = rest(start());
            let mut cut = start();
            (0..2).for_each(|_| assert!(cut.epoch().is_ok()));
            cut.save_checkpoint(&path).unwrap();
            drop(cut);
            assert_eq!(rest(start().resume(&path).unwrap()), (losses[2..].to_vec(), scores), "{backend}");
        }
    }
}

/// A document's score on a GPU does not depend on the documents scored with it, even if the net is narrow.
#[test]
fn scores_on_a_gpu_depend_only_on_the_document() {
    let all = Synthetic { queries: 3, documents: 50, features: 19, ..Synthetic::net() };
    let all = all.generator().unwrap().dataset().unwrap();
    for backend in device::backends().into_iter().filter(|backend| !backend.is_host()) {
        let device = backend.open().unwrap();
        for hidden in [&[5][..], &[20, 3], &[80]] {
            let ranker = RankerConfig::mlp(19, hidden, Activation::Tanh).init(Init::Burn, 3, &device).unwrap();
            let together = burnrank::score(&ranker, &all, &device).unwrap();
            let parts = (0..3).flat_map(|query| burnrank::score(&ranker, &all.select(&[query]), &device).unwrap());
            assert_eq!(together, parts.collect::<Vec<_>>(), "{backend}, {hidden:?}");
            let wider = RankerConfig::mlp(20, hidden, Activation::Tanh).init(Init::Burn, 3, &device).unwrap();
            assert!(burnrank::score(&wider, &all, &device).is_err(), "{backend}: documents of another width");
            let elsewhere = device::backends().into_iter().find(|backend| backend.is_host()).map(|host| host.open());
            if let Some(host) = elsewhere.transpose().unwrap() {
                let on_host = RankerConfig::mlp(19, hidden, Activation::Tanh).init(Init::Burn, 3, &host).unwrap();
                assert!(burnrank::score(&on_host, &all, &device).is_err(), "{backend}: a model of another device");
            }
            for activation in [Activation::Sigmoid, Activation::Tanh, Activation::Relu] {
                let ranker = RankerConfig::mlp(2, hidden, activation).init(Init::Burn, 3, &device).unwrap();
                let rows = Dataset::new(2, vec![f32::NAN, 1.0, 0.5, 1.0], vec![0.0; 2], vec![("q".into(), 2)]).unwrap();
                let scores = burnrank::score(&ranker, &rows, &device).unwrap();
                assert!(scores[0].is_nan() && scores[1].is_finite(), "{backend}, {activation}: {scores:?}");
            }
        }
    }
}

/// Held while a test depends on the limit of GPU memory, which is global.
static LIMIT: Mutex<()> = Mutex::new(());

/// Features are copied to a GPU once per run, and scores back once per epoch.
#[test]
fn features_are_copied_to_a_gpu_once() {
    let _held = LIMIT.lock().unwrap();
    let generator = Synthetic { queries: 30, documents: 40, features: 25, ..Synthetic::net() }.generator().unwrap();
    let (train, valid) = (generator.part(0..24).unwrap().0, generator.part(24..30).unwrap().0);
    for backend in device::backends().into_iter().filter(|backend| !backend.is_host()) {
        let config = TrainConfig {
            epochs: 4,
            batch_queries: 3,
            schedule: Schedule::Constant,
            scaling: ScaleKind::QueryMinMax,
            learning_rate: 0.001,
            ..TrainConfig::default()
        };
        let mut trainer = Trainer::new(config, &train, &valid, &backend.open().unwrap()).unwrap();
        let mut after = vec![];
        for _ in 0..4 {
            trainer.epoch().unwrap();
            after.push(trainer.transfers().expect("a GPU counts"));
        }
        println!("{backend}: {after:?}");
        let first = after[0].to_device.bytes;
        assert!(first >= 4 * (train.features().len() + valid.features().len()) as u64, "{backend}: {first}");
        for pair in after.windows(2) {
            let (sent, back) = (pair[1].to_device, pair[1].from_device);
            let sent = [sent.count - pair[0].to_device.count, sent.bytes - pair[0].to_device.bytes];
            let back = [back.count - pair[0].from_device.count, back.bytes - pair[0].from_device.bytes];
            // To the device: the order of the queries and their starts. Back: sums, scores of both sets, weights.
            assert_eq!(sent, [2, 4 * (24 + 25)], "{backend}");
            assert_eq!(back, [4, 4 * (6 * 24 + 24 * 40 + 6 * 40 + 25 * 10 + 10 + 10)], "{backend}");
        }
    }
}

/// Features that do not fit in GPU memory are copied in slices, with the same result.
#[test]
fn slices_of_features_train_the_same_model() {
    let _held = LIMIT.lock().unwrap();
    let generator = Synthetic { queries: 30, documents: 40, features: 25, ..Synthetic::net() }.generator().unwrap();
    let (train, valid) = (generator.part(0..24).unwrap().0, generator.part(24..30).unwrap().0);
    for backend in device::backends().into_iter().filter(|backend| !backend.is_host()) {
        let scores = |limit: u64| {
            device::set_memory_limit(limit);
            let config = TrainConfig {
                epochs: 2,
                batch_queries: 4,
                schedule: Schedule::Constant,
                scaling: ScaleKind::QueryMinMax,
                learning_rate: 0.001,
                ..TrainConfig::default()
            };
            let mut trainer = Trainer::new(config, &train, &valid, &backend.open().unwrap()).unwrap();
            (0..2).for_each(|_| assert!(trainer.epoch().is_ok()));
            let sent = trainer.transfers().unwrap().to_device.bytes;
            (trainer.finish().unwrap().score(&valid).unwrap(), sent)
        };
        let (together, once) = scores(1 << 40);
        // A slice holds a quarter of the limit: two batches of 160 documents of 100 bytes.
        let (sliced, twice) = scores(4 * 2 * 160 * 100);
        assert_eq!(together, sliced, "{backend}");
        // The training features twice; those of validation too if other tests have left no room for them.
        assert!(twice >= once + 4 * train.features().len() as u64, "{backend}: {once} and {twice} bytes");
        device::set_memory_limit(1 << 40);
    }
}

/// Minimum time of several epochs, after one that compiles the kernels.
fn seconds(config: &TrainConfig, data: &Dataset, device: &Device, epochs: usize) -> f64 {
    let valid = data.select(&[0]);
    let mut trainer = Trainer::new(config.clone(), data, &valid, device).unwrap();
    trainer.epoch().unwrap();
    (0..epochs).map(|_| trainer.epoch().unwrap().seconds).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "a benchmark: epochs with kernels and with padded pair tensors, by batch size and list length"]
fn kernels_against_padded_tensors() {
    let lists = |queries: usize, documents: usize| {
        let shape = Synthetic { queries, documents, features: 46, ..Synthetic::net() };
        shape.generator().unwrap().dataset().unwrap()
    };
    let config = |objective: &str, gradient: GradientPath, batch_queries: usize| TrainConfig {
        objective: Objective::parse(objective).unwrap(),
        gradient,
        batch_queries,
        epochs: usize::MAX,
        patience: 0,
        schedule: Schedule::Constant,
        scaling: ScaleKind::QueryMinMax,
        learning_rate: 0.001,
        ..TrainConfig::default()
    };
    for backend in device::backends().into_iter().filter(|backend| !backend.is_host()) {
        let device = backend.open().unwrap();
        let data = lists(100, 120);
        for objective in ["lambdarank:ndcg", "ndcg-loss2++:mu=5", "lambdarank:map"] {
            for batch in [1, 10, 100] {
                let kernels = seconds(&config(objective, GradientPath::Lambda, batch), &data, &device, 3);
                let padded = seconds(&config(objective, GradientPath::Tensor, batch), &data, &device, 3);
                let ratio = padded / kernels;
                println!("{backend} {objective} batch {batch}: {kernels:.3} s, padded {padded:.3} s, {ratio:.1} times");
            }
        }
        for (queries, documents) in [(20, 1_000), (4, 5_000), (1, 20_000)] {
            let data = lists(queries, documents);
            for objective in ["lambdarank:ndcg", "lambdarank:ndcg@10", "ndcg-loss2++:mu=5", "lambdarank:map"] {
                let kernels = seconds(&config(objective, GradientPath::Lambda, 1), &data, &device, 1);
                println!("{backend} {objective}, {queries} lists of {documents}: {kernels:.3} s");
            }
        }
    }
}

#[test]
#[ignore = "a benchmark: GPU memory for one list of a million documents"]
fn a_million_documents_in_one_list() {
    let data = Synthetic { queries: 1, documents: 1_000_000, features: 20, ..Synthetic::net() };
    let data = data.generator().unwrap().dataset().unwrap();
    for backend in device::backends().into_iter().filter(|backend| !backend.is_host()) {
        let device = backend.open().unwrap();
        let objective = Objective::parse("lambdarank:ndcg@10").unwrap();
        let config = TrainConfig {
            objective,
            architecture: Architecture::Linear,
            schedule: Schedule::Constant,
            scaling: ScaleKind::QueryMinMax,
            learning_rate: 0.001,
            ..TrainConfig::default()
        };
        let valid = Synthetic { queries: 1, documents: 10, features: 20, ..Synthetic::net() };
        let valid = valid.generator().unwrap().dataset().unwrap();
        let mut trainer = Trainer::new(config, &data, &valid, &device).unwrap();
        for _ in 0..2 {
            let record = trainer.epoch().unwrap();
            println!("{backend}: {record:?}");
            println!("{:?} {:?}", device.memory_pool_usage(), device.memory_pool_report());
            println!("{:?}", trainer.transfers());
        }
    }
}
