//! Properties that every baseline must have.

use super::BASELINES;
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::device;
use crate::error::Error;
use crate::model::{EpochRecord, Model};
use crate::setting::{ModelChoice, TrainConfig};
use crate::stop::Stop;
use crate::train::Trainer;
use std::ops::ControlFlow;

/// Enough epochs to distinguish two runs.
const EPOCHS: usize = 6;

fn random(i: usize) -> f32 {
    ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 24) as f32
}

/// Queries of 9 documents with 4 features; labels 0 to 2 depend on the first two features and noise.
fn noisy(queries: usize, seed: usize) -> Dataset {
    let documents = queries * 9;
    let features: Vec<f32> = (0..documents * 4).map(|i| random(i + 1000 * seed)).collect();
    let label = |(place, row): (usize, &[f32])| match row[0] + row[1] + random(place + 7777 * seed) {
        // Every query has a lowest and a highest label.
        _ if place % 9 < 2 => (2 * (place % 9)) as f32,
        sum if sum > 2.0 => 2.0,
        sum if sum > 1.5 => 1.0,
        _ => 0.0,
    };
    let labels = features.chunks(4).enumerate().map(label).collect();
    let ids = (0..queries).map(|query| (query.to_string(), 9)).collect();
    Dataset::new(4, features, labels, ids).unwrap()
}

/// Queries in which the second feature alone separates the relevant documents by a large margin.
fn separable(queries: usize) -> Dataset {
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    for document in 0..queries * 6 {
        let relevant = document % 3 == 1;
        let separating = 0.1 * random(document) + if relevant { 0.9 } else { 0.0 };
        features.extend([random(document + 500), separating, random(document + 900)]);
        labels.push(f32::from(u8::from(relevant)));
    }
    let ids = (0..queries).map(|query| (query.to_string(), 6)).collect();
    Dataset::new(3, features, labels, ids).unwrap()
}

fn config(name: &str, epochs: Option<usize>) -> TrainConfig {
    let choice: ModelChoice = name.parse().unwrap();
    let mut config = choice.config();
    config.epochs = epochs.unwrap_or(config.epochs).min(config.epochs);
    config
}

fn trainer<'a>(config: &TrainConfig, train: &'a Dataset, valid: &'a Dataset) -> Trainer<'a> {
    Trainer::new(config.clone(), train, valid, &device::open("auto").unwrap()).unwrap()
}

fn finish(trainer: Trainer<'_>) -> Model {
    trainer.train().unwrap()
}

/// The result of a run without times.
fn bytes(model: &Model) -> Vec<u8> {
    let mut bytes = model.scorer.to_bytes().unwrap();
    for record in &model.history {
        let mut record = record.clone();
        record.seconds = 0.0;
        bytes.extend(serde_json::to_vec(&record).unwrap());
    }
    bytes
}

#[test]
fn resumed_runs_are_bit_identical_with_any_number_of_threads() {
    let (train, valid) = (noisy(12, 1), noisy(5, 2));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    for (kind, _) in BASELINES {
        let config = config(kind.name, Some(EPOCHS));
        let whole = finish(trainer(&config, &train, &valid));
        assert!(!whole.history.is_empty(), "{}", kind.name);
        assert!(whole.score(&valid).unwrap().iter().all(|score| score.is_finite()), "{}", kind.name);
        for stop_after in [1, 3] {
            let mut first = trainer(&config, &train, &valid);
            let ends = |epoch: &EpochRecord| match epoch.epoch >= stop_after {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
            first.run(|_, epoch| Ok(ends(epoch))).unwrap();
            first.save_checkpoint(&path).unwrap();
            let rest = finish(trainer(&config, &train, &valid).resume(&path).unwrap());
            assert!(bytes(&rest) == bytes(&whole), "{}, stopped after {stop_after}", kind.name);
        }
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let result = pool.install(|| bytes(&finish(trainer(&config, &train, &valid))));
            assert!(result == bytes(&whole), "{}, {threads} threads", kind.name);
        }
    }
}

#[test]
fn separable_data_is_ranked_perfectly() {
    let data = separable(8);
    for (kind, _) in BASELINES {
        let model = finish(trainer(&config(kind.name, None), &data, &data));
        assert_eq!(model.best_value(), Some(1.0), "{}", kind.name);
    }
}

#[test]
fn saved_models_have_the_same_scores() {
    let (train, valid) = (noisy(12, 1), noisy(5, 2));
    let folder = tempfile::tempdir().unwrap();
    for (kind, _) in BASELINES {
        let path = folder.path().join(kind.name);
        let model = finish(trainer(&config(kind.name, Some(2)), &train, &valid));
        model.save(&path).unwrap();
        let loaded = Model::load(&path, &device::open("auto").unwrap()).unwrap();
        assert_eq!(loaded.score(&valid).unwrap(), model.score(&valid).unwrap(), "{}", kind.name);
    }
}

#[test]
fn rounds_can_be_stopped() {
    let (train, valid) = (noisy(12, 1), noisy(5, 2));
    for (kind, _) in BASELINES {
        let stop = Stop::new();
        stop.ask();
        let mut trainer = trainer(&config(kind.name, None), &train, &valid).with_stop(stop);
        assert!(matches!(trainer.epoch(), Err(Error::Stopped)), "{}", kind.name);
    }
}

#[test]
fn huge_features_give_finite_values_or_an_error() {
    let mut train = noisy(12, 1);
    train.features_mut().iter_mut().for_each(|value| *value *= f32::MAX);
    for name in ["prank", "prank-quadratic", "oap-bpm", "rankprop", "ranksvm"] {
        let mut config = config(name, Some(2));
        config.scaling = ScaleKind::None;
        let mut trainer = trainer(&config, &train, &train);
        match trainer.epoch() {
            Ok(record) => assert!(record.valid.is_finite(), "{name}"),
            Err(error) => assert!(error.to_string().contains("scale the features with"), "{name}: {error}"),
        }
    }
}

#[test]
fn data_without_pairs_is_rejected() {
    let data = Dataset::new(1, vec![0.1, 0.7, 0.3], vec![1.0; 3], vec![("a".into(), 3)]).unwrap();
    for name in ["prank", "prank-quadratic", "oap-bpm", "rankprop", "ranksvm", "svm-map"] {
        let trainer = Trainer::new(config(name, None), &data, &data, &device::open("auto").unwrap());
        let error = trainer.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with(&format!("{name}: ")), "{name}: {error}");
    }
}

/// Work within one long query can be stopped, not only between queries.
#[test]
fn long_queries_can_be_stopped() {
    let short = noisy(60, 1);
    let documents = short.n_documents();
    let ids = vec![("a".into(), documents)];
    let data = Dataset::new(4, short.features().to_vec(), short.labels().to_vec(), ids).unwrap();
    // Baselines whose time grows faster than the number of documents check at least once per document, or per relevant one.
    let minimum_checks = [
        ("svm-map", documents / 2),
        ("smoothrank", documents),
        ("kernel-ranknet", documents),
        ("coordinate-ascent", 4 * 51),
        ("prank", documents / 16),
        ("prank-quadratic", documents / 16),
        ("oap-bpm", documents / 16),
    ];
    for (name, minimum) in minimum_checks {
        let (stop, checks) = Stop::counted();
        let config = TrainConfig { metric: "ndcg".into(), ..config(name, Some(1)) };
        trainer(&config, &data, &short).with_stop(stop).epoch().unwrap();
        let checks = checks.load(std::sync::atomic::Ordering::Relaxed);
        assert!(checks >= minimum, "{name}: {checks} checks, fewer than {minimum}");
    }
}
