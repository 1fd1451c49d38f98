use super::*;
use crate::ScaleKind;
use crate::data::synthetic::Synthetic;
use crate::device;
use crate::distributed::threads::each_with;
use crate::error::{Error, Result};
use crate::model::{Model, Scorer, ranker_to_bytes};
use crate::objective::Objective;
use crate::setting::{Schedule, Skip, TrainConfig};
use crate::stop::Stop;
use crate::train::{Trainer, TrainingData};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn data() -> (Dataset, Dataset) {
    let generator = Synthetic { queries: 50, documents: 13, features: 7, ..Synthetic::net() }.generator().unwrap();
    (generator.part(0..37).unwrap().0, generator.part(37..50).unwrap().0)
}

fn config(scaling: ScaleKind) -> TrainConfig {
    TrainConfig {
        shares: 5,
        scaling,
        epochs: 3,
        batch_queries: 10,
        schedule: Schedule::Constant,
        learning_rate: 0.001,
        ..TrainConfig::default()
    }
}

fn trainer(member: &Member, config: &TrainConfig) -> Result<Trainer<'static>> {
    let (train, valid) = data();
    let data = TrainingData::distributed(member, config.shares, config.scaling, train, valid)?;
    Trainer::on(config.clone(), Arc::new(data), &device::open("auto")?)
}

/// Everything in a model except the times of its epochs.
fn bytes(model: &Model) -> (Vec<u8>, String, Vec<String>) {
    let Scorer::Net(ranker) = &model.scorer else { panic!("not a net") };
    let epochs = model.history.iter().map(|epoch| {
        let epoch = crate::EpochRecord { seconds: 0.0, ..epoch.clone() };
        serde_json::to_string(&epoch).unwrap()
    });
    (ranker_to_bytes(ranker).unwrap(), serde_json::to_string(&model.info).unwrap(), epochs.collect())
}

fn train(member: &Member, config: &TrainConfig) -> Result<Model> {
    let trainer = trainer(member, config)?;
    trainer.train()
}

#[test]
fn models_do_not_depend_on_the_number_of_processes_and_threads() {
    let random = Objective::parse("lambdarank:ndcg:gaussian=2").unwrap();
    let encoded = TrainConfig { skip: Skip::Linear, average_weights: 0.9, ..config(ScaleKind::Piecewise) };
    for config in [config(ScaleKind::Quantile), TrainConfig { objective: random, ..config(ScaleKind::ZScore) }, encoded]
    {
        let (first, second) = data();
        let alone = Trainer::new(config.clone(), first, second, &device::open("auto").unwrap()).unwrap();
        let expected = bytes(&alone.train().unwrap());
        for (size, threads) in [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (4, 2), (7, 1)] {
            let models = each_with(size, threads, |member| bytes(&train(member, &config).unwrap()));
            assert!(models.iter().all(|model| *model == expected), "{size} processes of {threads} threads");
        }
    }
}

#[test]
fn a_run_resumes_with_another_number_of_processes_to_the_same_bytes() {
    let config = config(ScaleKind::QueryMinMax);
    let expected = bytes(&each_with(1, 1, |member| train(member, &config).unwrap()).remove(0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    let elsewhere = folder.path().join("nothing here");
    each_with(3, 1, |member| {
        let mut trainer = trainer(member, &config).unwrap();
        trainer.epoch().unwrap();
        if member.leads() {
            trainer.save_checkpoint(&path).unwrap();
        }
    });
    let models = each_with(2, 2, |member| {
        // Only process 0 needs the file.
        let path = if member.leads() { &path } else { &elsewhere };
        let trainer = trainer(member, &config).unwrap().resume(path).unwrap();
        bytes(&trainer.train().unwrap())
    });
    assert!(models.iter().all(|model| *model == expected));
}

#[test]
fn stopping_one_process_stops_all_after_the_same_epoch() {
    let config = config(ScaleKind::None);
    let epochs = each_with(3, 1, |member| {
        let stop = Stop::new();
        let mut trainer = trainer(member, &config).unwrap().with_stop(stop.clone());
        trainer.epoch().unwrap();
        if member.rank() == 1 {
            stop.ask();
        }
        assert!(matches!(trainer.epoch(), Err(Error::Stopped)));
        trainer.finish().unwrap().history.len()
    });
    assert_eq!(epochs, [1; 3]);
}

#[test]
fn all_processes_report_which_process_died() {
    let config = config(ScaleKind::None);
    let alive = AtomicUsize::new(0);
    each_with(3, 1, |member| {
        let mut trainer = trainer(member, &config).unwrap();
        trainer.epoch().unwrap();
        if member.rank() == 2 {
            return;
        }
        let error = trainer.epoch().unwrap_err().to_string();
        assert!(error.starts_with("process 2 of 3: "), "{error}");
        alive.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(alive.into_inner(), 2);
}

#[test]
fn every_batch_is_balanced_over_processes() {
    let lengths = [100; 64];
    let offsets: Vec<usize> = (0..=64).map(|query| query * lengths[0]).collect();
    for size in [1, 2, 3, 4, 6, 12] {
        let partition = Partition::new(Member::alone(), 12, [&offsets, &offsets]);
        let mut order = partition.order(1, 1);
        for batch in partition.pattern.chunks_exact(12) {
            for rank in 0..size {
                let shares = range_of_rank(12, rank, size);
                let count = batch.iter().filter(|&&share| shares.contains(&(share as usize))).count();
                assert!(count.abs_diff(12 / size) <= 1, "{count} of {size}");
            }
        }
        assert_ne!(order, partition.order(1, 2));
        order.sort_unstable();
        assert_eq!(order, (0..64).collect::<Vec<_>>());
    }
}

#[test]
fn processes_with_different_data_or_settings_are_reported() {
    let base = config(ScaleKind::ZScore);
    let (train, valid) = data();
    let (short, narrow) =
        (train.select(&[0, 1, 2]), Dataset::new(1, vec![0.0], vec![0.0], vec![("a".into(), 1)]).unwrap());
    type Other = (Dataset, Dataset, TrainConfig);
    let others: [(Other, &str); 8] = [
        (
            (train.select(&(0..37).rev().collect::<Vec<_>>()), valid.clone(), base.clone()),
            "training data of 37 queries",
        ),
        ((short, valid.clone(), base.clone()), "training data of 3 queries, 39 documents and 7 features"),
        ((train.clone(), train.clone(), base.clone()), "validation data of 37 queries"),
        ((narrow.clone(), narrow, base.clone()), "1 documents and 1 features"),
        ((train.clone(), valid.clone(), TrainConfig { shares: 4, ..base.clone() }), "shares 4 instead of 5"),
        ((train.clone(), valid.clone(), config(ScaleKind::None)), "scaling none instead of zscore"),
        ((train.clone(), valid.clone(), TrainConfig { seed: 7, ..base.clone() }), "seed 7 instead of 1"),
        ((train, valid, TrainConfig { epochs: 7, l2: 0.5, ..base.clone() }), "epochs 7 instead of 3; l2 0.5"),
    ];
    for ((train, valid, config), difference) in others {
        let errors = each_with(3, 1, |member| {
            let (train, valid, config) = match member.rank() {
                1 => (train.clone(), valid.clone(), config.clone()),
                _ => (data().0, data().1, base.clone()),
            };
            let data = TrainingData::distributed(member, config.shares, config.scaling, train, valid);
            let trainer = data.and_then(|data| Trainer::on(config, Arc::new(data), &device::open("auto")?));
            trainer.err().expect("a difference").to_string()
        });
        for error in errors {
            assert!(error.starts_with("process 1 of 3 differs from process 0 of 3: "), "{error}");
            assert!(error.contains(difference), "{difference}: {error}");
        }
    }
}

#[test]
fn mismatched_shares_are_refused() {
    let (train, valid) = data();
    let partition = TrainingData::distributed(&Member::alone(), 4, ScaleKind::None, train, valid).unwrap();
    let device = device::open("auto").unwrap();
    let error = Trainer::on(config(ScaleKind::None), Arc::new(partition), &device).err().unwrap().to_string();
    assert!(error.contains("shares 5: the data is distributed over 4 shares"), "{error}");
    let tensor = TrainConfig { gradient: crate::GradientPath::Tensor, ..config(ScaleKind::None) };
    assert!(tensor.check().unwrap_err().to_string().contains("whole batches"));
}
