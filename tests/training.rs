//! Training: the same seed gives the same model, interruptions change nothing, saved models load and damaged ones do
//! not.

use burnrank::data::Targets;
use burnrank::metric::parse;
use burnrank::train::TrainingData;
use burnrank::{
    Activation, Architecture, Dataset, Device, EpochRecord, Finish, GradientPath, Model, Objective, OptimizerKind,
    ScaleKind, Scaler, Schedule, Synthetic, TrainConfig, Trainer, device, score, split,
};
use std::fs;
use std::path::Path;
use std::sync::Arc;

#[path = "training/missing.rs"]
mod missing;

fn data() -> (Dataset, Dataset) {
    data_of(20)
}

fn data_of(documents: usize) -> (Dataset, Dataset) {
    let generator = Synthetic { queries: 90, documents, features: 12, ..Synthetic::net() }.generator().unwrap();
    (generator.part(0..60).unwrap().0, generator.part(60..90).unwrap().0)
}

fn config(objective: &str) -> TrainConfig {
    TrainConfig {
        objective: Objective::parse(objective).unwrap(),
        scaling: ScaleKind::None,
        epochs: 6,
        learning_rate: 0.01,
        schedule: Schedule::Constant,
        ..TrainConfig::default()
    }
}

fn cpu() -> Device {
    device::open("auto").unwrap()
}

fn train(config: TrainConfig) -> Model {
    train_on(data(), config)
}

fn train_on((train, valid): (Dataset, Dataset), config: TrainConfig) -> Model {
    let trainer = Trainer::new(config, &train, &valid, &cpu()).unwrap();
    trainer.train().unwrap()
}

/// Returns the bytes of the saved record, and the log without times.
fn bytes(model: &Model) -> (Vec<u8>, Vec<EpochRecord>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    model.save(&path).unwrap();
    let timeless = model.history.iter().map(|epoch| EpochRecord { seconds: 0.0, ..epoch.clone() }).collect();
    (fs::read(path.join("model.bpk")).unwrap(), timeless)
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn the_same_seed_gives_the_same_bytes_with_one_and_two_threads() {
    for objective in ["lambdarank:ndcg", "ranknet", "ndcg-loss2++:mu=5:gaussian=3", "lambdarank:map"] {
        let one = with_threads(1, || bytes(&train(config(objective))));
        let two = with_threads(2, || bytes(&train(config(objective))));
        assert!(one == two, "{objective}: bytes depend on the number of threads");
        let other = bytes(&train(TrainConfig { seed: 2, ..config(objective) }));
        assert!(one.0 != other.0, "{objective}: the seed changes nothing");
    }
}

#[test]
fn a_large_batch_is_deterministic_too() {
    let wide = || TrainConfig {
        architecture: Architecture::Mlp { hidden: vec![32], activation: Activation::Relu },
        batch_queries: 60,
        ..config("lambdarank:ndcg")
    };
    // A batch of 6,000 documents is processed in two parts.
    let run = |threads| with_threads(threads, || bytes(&train_on(data_of(100), wide())));
    assert!(run(1) == run(2));
}

#[test]
fn both_paths_train_to_the_same_ranker() {
    // The lambda path processes a batch of 60 queries in parts, the tensor path as a whole.
    for (objective, batch_queries, documents) in
        [("ranknet", 10, 20), ("ndcg-loss2++:mu=5", 10, 20), ("lambdarank:map", 10, 20), ("ranknet", 60, 100)]
    {
        let settings = |gradient| TrainConfig { gradient, batch_queries, ..config(objective) };
        let values = |gradient| train_on(data_of(documents), settings(gradient)).history;
        let (lambda, tensor) = (values(GradientPath::Lambda), values(GradientPath::Tensor));
        for (a, b) in lambda.iter().zip(&tensor) {
            assert!((a.loss - b.loss).abs() < 1e-3 * a.loss, "{objective}: {a:?} against {b:?}");
            assert_eq!(a.effective_pairs, b.effective_pairs, "{objective}");
        }
    }
}

#[test]
fn training_learns() {
    for (objective, optimizer, rate) in [
        ("lambdarank:ndcg", OptimizerKind::Adam, 0.01),
        ("ranknet", OptimizerKind::Sgd, 0.0003),
        ("ranknet", OptimizerKind::Momentum, 0.0001),
        ("ndcg-loss2++:mu=5:plackett-luce=2", OptimizerKind::Adam, 0.01),
    ] {
        let trained = train(TrainConfig { optimizer, learning_rate: rate, epochs: 15, ..config(objective) });
        let (first, last) = (trained.history.first().unwrap(), trained.history.last().unwrap());
        assert!(last.train > first.train + 0.02, "{objective} by {optimizer}: {} to {}", first.train, last.train);
    }
}

#[test]
fn resuming_gives_the_bytes_of_an_uninterrupted_run() {
    let (train_data, valid) = data();
    let folder = tempfile::tempdir().unwrap();
    for objective in ["lambdarank:ndcg", "ndcg-loss2:gaussian=2"] {
        for optimizer in [OptimizerKind::Adam, OptimizerKind::Momentum, OptimizerKind::Sgd] {
            let config = TrainConfig { optimizer, schedule: Schedule::ShrinkSometimes, ..config(objective) };
            let whole = bytes(&train(config.clone()));
            for stop in [1, 3, 5] {
                let path = folder.path().join(format!("{stop}.checkpoint"));
                let mut trainer = Trainer::new(config.clone(), &train_data, &valid, &cpu()).unwrap();
                for _ in 0..stop {
                    trainer.epoch().unwrap();
                }
                trainer.save_checkpoint(&path).unwrap();
                drop(trainer);
                let trainer = Trainer::new(config.clone(), &train_data, &valid, &cpu()).unwrap().resume(&path).unwrap();
                assert!(bytes(&trainer.train().unwrap()) == whole, "{objective} by {optimizer}, stopped after {stop}");
            }
        }
    }
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let (train_data, valid) = data();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.checkpoint");
    let mut trainer = Trainer::new(config("ranknet"), &train_data, &valid, &cpu()).unwrap();
    trainer.epoch().unwrap();
    trainer.save_checkpoint(&path).unwrap();
    let other = TrainConfig { learning_rate: 0.02, ..config("ranknet") };
    let refused = Trainer::new(other, &train_data, &valid, &cpu()).unwrap().resume(&path).err().unwrap();
    assert!(refused.to_string().contains("other settings or data"), "{refused}");
    let refused = Trainer::new(config("ranknet"), &valid, &valid, &cpu()).unwrap().resume(&path).err().unwrap();
    assert!(refused.to_string().contains("other settings or data"), "{refused}");
    // Resuming may add epochs.
    let longer = TrainConfig { epochs: 9, ..config("ranknet") };
    assert!(Trainer::new(longer, &train_data, &valid, &cpu()).unwrap().resume(&path).is_ok());
}

#[test]
fn patience_stops_and_restart_starts_again() {
    let stuck = TrainConfig { learning_rate: 1e-12, epochs: 50, patience: 3, ..config("ranknet") };
    let trained = train(stuck.clone());
    assert_eq!(trained.info.run.as_ref().unwrap().finish, Finish::Patience);
    assert!(trained.history.len() <= trained.info.best_epoch + 3);
    let trained = train(TrainConfig { patience: 0, restart: 4, epochs: 20, ..stuck });
    assert!(trained.history.last().unwrap().restart >= 2);
    let values: std::collections::BTreeSet<u64> = trained.history.iter().map(|epoch| epoch.valid.to_bits()).collect();
    assert!(values.len() > 2, "new weights give new values");
}

#[test]
fn divergence_is_an_error_with_a_remedy() {
    let (train_data, valid) = data();
    let wild = TrainConfig {
        architecture: Architecture::Mlp { hidden: vec![4], activation: Activation::Relu },
        optimizer: OptimizerKind::Sgd,
        learning_rate: 1e30,
        ..config("arp-loss1")
    };
    let trainer = Trainer::new(wild, &train_data, &valid, &cpu()).unwrap();
    let error = trainer.train().expect_err("training with a step of 1e30 went well").to_string();
    assert!(error.contains("diverged") && error.contains("lower `lr`"), "{error}");
}

#[test]
fn target_probabilities_train_ranknet() {
    let (train_data, valid) = data();
    // The label order of neighbours, as target probabilities of 0 and 1.
    let mut text = String::new();
    for query in train_data.queries() {
        for (place, pair) in query.labels.windows(2).enumerate() {
            let p = if pair[0] == pair[1] { 0.5 } else { f64::from(u8::from(pair[0] > pair[1])) };
            text += &format!("{} {} {} {p}\n", query.id, place + 1, place + 2);
        }
    }
    let targets = Targets::parse("targets", &text, &train_data).unwrap();
    let config = TrainConfig { epochs: 15, ..config("ranknet") };
    let trainer = Trainer::new(config, &train_data, &valid, &cpu()).unwrap().with_targets(&targets).unwrap();
    let history = trainer.train().unwrap().history;
    assert!(history.last().unwrap().loss < 0.8 * history[0].loss, "{history:?}");
    let refused =
        Trainer::new(super_config(), &train_data, &valid, &cpu()).unwrap().with_targets(&targets).err().unwrap();
    assert!(refused.to_string().contains("ranknet"), "{refused}");
}

fn super_config() -> TrainConfig {
    config("lambdarank:ndcg")
}

fn saved(folder: &Path) -> (Model, Dataset) {
    let (train_data, _) = data();
    let model = train(TrainConfig { scaling: ScaleKind::ZScore, ..config("lambdarank:ndcg") });
    model.save(folder).unwrap();
    (model, train_data)
}

#[test]
fn a_saved_model_scores_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let (model, data) = saved(&path);
    let loaded = Model::load(&path, &cpu()).unwrap();
    assert_eq!(loaded.score(&data).unwrap(), model.score(&data).unwrap());
    assert!(fs::read_to_string(path.join("README.md")).unwrap().contains("lambdarank:ndcg"));
    // Missing features are zeros if data is sparse; additional ones are refused.
    let narrow = data.clone().with_width(11);
    assert!(loaded.score(&narrow).unwrap_err().to_string().contains("`fill_zeros`"));
    assert!(loaded.score(&narrow.declared_sparse(true)).is_ok());
    let message = loaded.score(&data.with_width(13)).unwrap_err().to_string();
    assert!(message.contains("13 features") && message.contains("12"), "{message}");
}

#[test]
fn training_scales_like_manual_scaling() {
    let (raw_train, raw_valid) = data();
    for scaling in [ScaleKind::ZScore, ScaleKind::Log1pZScore, ScaleKind::QueryMinMax] {
        let scaler = Scaler::fit(scaling, &raw_train);
        let (mut train, mut valid) = (raw_train.clone(), raw_valid.clone());
        [&mut train, &mut valid].into_iter().for_each(|data| scaler.apply(data).unwrap());
        let by_hand = train_on((train, valid.clone()), config("lambdarank:ndcg"));
        let own = TrainConfig { scaling, ..config("lambdarank:ndcg") };
        let handed_over = train_on(data(), own.clone());
        let lent = Trainer::new(own.clone(), &raw_train, &raw_valid, &cpu()).unwrap();
        let shared = Arc::new(TrainingData::new(scaling, &raw_train, &raw_valid).unwrap());
        let sharing = Trainer::on(own.clone(), shared, &cpu()).unwrap();
        let models = [handed_over, lent.train().unwrap(), sharing.train().unwrap()];
        for model in &models {
            assert!(bytes(model) == bytes(&by_hand), "{scaling}");
            // Raw features: of all queries, of one of them, and as the ranker sees them.
            let scores = model.score(&raw_valid).unwrap();
            assert_eq!(scores, score(by_hand.scorer.net().unwrap(), &valid, &cpu()).unwrap(), "{scaling}");
            assert_eq!(model.scaled(raw_valid.clone()).unwrap(), valid);
            for query in raw_valid.queries() {
                assert_eq!(model.score_query(&query.features).unwrap(), scores[query.rows], "{scaling}");
            }
        }
        assert!(models[0].score_query(&[1.0; 13]).unwrap_err().to_string().contains("13 feature values"));
        let refused =
            Trainer::on(own, Arc::new(TrainingData::new(ScaleKind::None, &raw_train, &raw_valid).unwrap()), &cpu());
        assert!(refused.err().unwrap().to_string().contains("the data is scaled by none"));
    }
}

#[test]
fn a_finished_model_stores_its_run() {
    let (train, valid) = data();
    let config = TrainConfig { scaling: ScaleKind::QueryZScore, ..config("lambdarank:ndcg") };
    let identity = Trainer::identity_of(&config, &train, &valid, None);
    let measures = ["map", "ndcg@10"].map(|name| parse(name).unwrap()).to_vec();
    let trainer = Trainer::new(config.clone(), &train, &valid, &cpu()).unwrap().with_metrics(measures);
    let model = trainer.train().unwrap();
    let best = model.history.iter().rfind(|epoch| epoch.best).unwrap();
    let run = model.info.run.as_ref().unwrap();
    assert_eq!((run.identity.as_str(), run.finish), (identity.as_str(), Finish::Epochs));
    assert_eq!((model.info.best_epoch, model.best_value()), (best.epoch, Some(best.valid)));
    assert_eq!(model.info.metrics["valid"]["ndcg@10"], best.valid);
    assert_eq!(model.info.metrics["valid"].keys().collect::<Vec<_>>(), ["map", "ndcg@10"]);
    assert_eq!(
        model.info.metrics["train"],
        model.evaluate(&train, &[parse("map").unwrap(), parse("ndcg@10").unwrap()]).unwrap()
    );
    assert_eq!(model.info.data["train"].fingerprint, format!("{:016x}", train.fingerprint()));
    assert_eq!(model.info.settings["scaling"], "query-zscore");
    // The folder contains all of it.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    model.save(&path).unwrap();
    assert_eq!(fs::read_to_string(path.join("training.jsonl")).unwrap().lines().count(), 6);
    let loaded = Model::load(&path, &cpu()).unwrap();
    assert_eq!((loaded.best_value(), &loaded.info.metrics), (model.best_value(), &model.info.metrics));
}

#[test]
fn damaged_foreign_and_newer_models_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    saved(&path);
    let refused = || Model::load(&path, &cpu()).expect_err("loads").to_string();
    let (json, record) = (path.join("model.json"), path.join("model.bpk"));
    let (good_json, good_record) = (fs::read_to_string(&json).unwrap(), fs::read(&record).unwrap());

    let mut flipped = good_record.clone();
    *flipped.last_mut().unwrap() ^= 1;
    fs::write(&record, &flipped).unwrap();
    assert!(refused().contains("model.bpk: damaged"));
    fs::write(&record, &good_record[..good_record.len() / 2]).unwrap();
    assert!(refused().contains("model.bpk: damaged"));
    fs::remove_file(&record).unwrap();
    assert!(refused().contains("model.bpk"));
    fs::write(&record, &good_record).unwrap();

    fs::write(&json, good_json.replace("\"format\": 1", "\"format\": 999")).unwrap();
    assert!(refused().contains("format 999, but this burnrank reads format 1"));
    fs::write(&json, good_json.replace("\"features\": 12", "\"features\": 13")).unwrap();
    assert!(refused().contains("12"));
    fs::write(&json, &good_json[..good_json.len() / 2]).unwrap();
    assert!(refused().contains("model.json: damaged"));
    fs::write(&json, "{}").unwrap();
    assert!(refused().contains("`format` is missing"));
    fs::remove_file(&json).unwrap();
    assert!(refused().contains("not a model folder"));
}

#[test]
fn a_folder_that_is_not_a_model_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.txt"), "ten years of work").unwrap();
    let model = train(TrainConfig { epochs: 1, ..config("ranknet") });
    let error = model.save(folder.path()).unwrap_err().to_string();
    assert!(error.contains("nothing was overwritten"), "{error}");
    assert!(model.save(&folder.path().join("thesis.txt")).is_err());
    assert!(model.save(&folder.path().join("new")).is_ok());
}

#[test]
fn invalid_settings_are_refused_before_any_work() {
    let (train_data, valid) = data();
    let refused = |config: TrainConfig| Trainer::new(config, &train_data, &valid, &cpu()).err().unwrap().to_string();
    assert!(refused(TrainConfig { epochs: 0, ..config("ranknet") }).contains("epochs"));
    let sampled = TrainConfig { gradient: GradientPath::Tensor, ..config("ndcg-loss2:gaussian=2") };
    assert!(refused(sampled).contains("use the lambda path (`gradient` lambda)"));
    let narrow = valid.clone().with_width(5);
    let error = Trainer::new(config("ranknet"), &train_data, &narrow, &cpu()).err().unwrap().to_string();
    assert!(error.contains("12 features") && error.contains('5'), "{error}");
    let parts = split(train_data.n_queries(), &[1.0, 1.0], 3).unwrap();
    assert!(Trainer::new(config("ranknet"), train_data.select(&parts[0]), &valid, &cpu()).is_ok());
}
