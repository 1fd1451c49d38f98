//! Compares ensembles with the runs of their members.

use super::*;
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::data::synthetic::Synthetic;
use crate::device;
use crate::model::{Activation, Architecture, Model, score_deviation};
use crate::objective::Objective;
use crate::setting::Schedule;
use crate::train::TrainingData;
use std::ops::ControlFlow;

fn part(queries: std::ops::Range<usize>) -> Dataset {
    let data = Synthetic { queries: 60, documents: 12, features: 6, ..Synthetic::net() };
    data.generator().unwrap().part(queries).unwrap().0
}

fn config() -> TrainConfig {
    TrainConfig {
        epochs: 6,
        patience: 2,
        learning_rate: 0.02,
        schedule: Schedule::Constant,
        scaling: ScaleKind::QueryMinMax,
        ..TrainConfig::default()
    }
}

fn shared(config: &TrainConfig) -> Arc<TrainingData<'static>> {
    Arc::new(TrainingData::new(config.scaling, part(0..40), part(40..60)).unwrap())
}

fn trainer(config: TrainConfig, data: &Arc<TrainingData<'static>>) -> Trainer<'static> {
    Trainer::on(config, data.clone(), &device::open("auto").unwrap()).unwrap()
}

fn of_seeds(count: usize) -> Ensemble<'static> {
    let (config, data) = (config(), shared(&config()));
    let members = Ensemble::seeds(1, count).map(|seed| trainer(TrainConfig { seed, ..config.clone() }, &data));
    Ensemble::new(members.collect()).unwrap()
}

fn trained(ensemble: Ensemble<'_>) -> Model {
    ensemble.train().unwrap()
}

/// Everything in a model except the times of its epochs.
fn contents(model: &Model) -> (Vec<u8>, String, String) {
    let timeless = model.history.iter().map(|epoch| EpochRecord { seconds: 0.0, ..epoch.clone() });
    let history = timeless.map(|epoch| format!("{epoch:?}\n")).collect();
    (model.scorer.to_bytes().unwrap(), format!("{:?}", model.info), history)
}

#[test]
fn an_ensemble_of_one_equals_its_run() {
    let (config, data) = (config(), shared(&config()));
    let alone = trainer(config.clone(), &data);
    let model = trained(of_seeds(1));
    assert!(model.info.members.is_empty() && model.history.iter().all(|epoch| epoch.member.is_none()));
    assert_eq!(contents(&model), contents(&alone.train().unwrap()));
}

#[test]
fn the_model_does_not_depend_on_threads() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        contents(&pool.install(|| trained(of_seeds(5))))
    };
    assert!(on(1) == on(2) && on(1) == on(7));
}

#[test]
fn the_model_scores_as_the_mean_of_its_members_and_is_evaluated_itself() {
    let (config, data) = (config(), shared(&config()));
    let alone: Vec<Model> = Ensemble::seeds(1, 4)
        .map(|seed| {
            let run = trainer(TrainConfig { seed, ..config.clone() }, &data);
            run.train().unwrap()
        })
        .collect();
    let model = trained(of_seeds(4));
    let (train, valid) = (part(0..40), part(40..60));
    let deviations: Vec<f64> =
        alone.iter().map(|model| score_deviation(&model.score(&train).unwrap(), train.offsets())).collect();
    let scores: Vec<Vec<f32>> = alone.iter().map(|model| model.score(&valid).unwrap()).collect();
    for (place, score) in model.score(&valid).unwrap().into_iter().enumerate() {
        let expected: f64 = scores.iter().zip(&deviations).map(|(s, d)| f64::from(s[place]) / d / 4.0).sum();
        assert!((f64::from(score) - expected).abs() < 1e-5, "{score}, not {expected}");
    }
    for (member, (run, deviation)) in model.info.members.iter().zip(alone.iter().zip(&deviations)) {
        assert!((member.factor * deviation * 4.0 - 1.0).abs() < 1e-12);
        assert_eq!((member.best_epoch, member.best_value), (run.info.best_epoch, run.best_value()));
        assert!(member.settings.is_null());
    }
    let seeds: Vec<Option<u64>> = model.info.members.iter().map(|member| member.seed).collect();
    assert_eq!(seeds, Ensemble::seeds(1, 4).map(Some).collect::<Vec<_>>());
    let metrics = [crate::metric::parse("ndcg@10").unwrap()];
    assert_eq!(model.info.metrics["valid"], model.evaluate(&valid, &metrics).unwrap());
    assert_eq!(model.best_value(), Some(model.info.metrics["valid"]["ndcg@10"]));
    // Averaging the finished models on unscaled data gives the same model.
    let folded = Model::ensemble(&alone, &train).unwrap();
    assert_eq!(folded.scorer.to_bytes().unwrap(), model.scorer.to_bytes().unwrap());
    assert_eq!((folded.info.members, folded.history.len()), (model.info.members, model.history.len()));
}

#[test]
fn members_with_different_queries_are_evaluated_on_their_own() {
    let config = TrainConfig { scaling: ScaleKind::ZScore, ..config() };
    let first = TrainingData::new(config.scaling, part(0..40), part(40..60)).unwrap();
    let second = Arc::new(first.with_same_scaling(part(20..60), part(0..20)).unwrap());
    let data = [Arc::new(first), second];
    let members = data.iter().zip([1, 2]).map(|(data, seed)| trainer(TrainConfig { seed, ..config.clone() }, data));
    let model = trained(Ensemble::new(members.collect()).unwrap());
    let values: Vec<f64> = model.info.members.iter().filter_map(|member| member.best_value).collect();
    assert_eq!(model.best_value(), Some((values[0] + values[1]) / 2.0));
    assert!((model.info.metrics["valid"]["ndcg@10"] - (values[0] + values[1]) / 2.0).abs() < 1e-12);
    assert!(model.info.conventions.ends_with("each evaluated on its own queries"), "{}", model.info.conventions);
}

#[test]
fn members_can_differ_in_their_settings() {
    let (config, data) = (config(), shared(&config()));
    let of = |architecture: Architecture, objective: &str| {
        trainer(TrainConfig { architecture, objective: Objective::parse(objective).unwrap(), ..config.clone() }, &data)
    };
    let mlp = |hidden: &[usize]| Architecture::Mlp { hidden: hidden.to_vec(), activation: Activation::Relu };
    let members =
        vec![of(mlp(&[4]), "lambdarank:ndcg"), of(Architecture::Linear, "ranknet"), of(mlp(&[3, 2]), "ranknet")];
    let model = trained(Ensemble::new(members).unwrap());
    assert_eq!(model.info.objective, "lambdarank:ndcg, ranknet");
    assert_eq!(model.info.ranker.architecture, mlp(&[4 + 2 + 3, 4 + 2 + 2]));
    let member = &model.info.members[1];
    assert_eq!((&member.architecture, member.settings["objective"].as_str()), (&Architecture::Linear, Some("ranknet")));
}

#[test]
fn members_that_cannot_be_averaged_are_refused_before_training() {
    let (config, data) = (config(), shared(&config()));
    let refusal = |members: Vec<Trainer<'static>>| Ensemble::new(members).err().unwrap().to_string();
    let run = |config: TrainConfig| trainer(config, &data);
    let linear = run(TrainConfig { architecture: Architecture::Linear, ..config.clone() });
    assert!(refusal(vec![run(config.clone()), linear]).contains("relu"));
    let other = run(TrainConfig { metric: "map".into(), ..config.clone() });
    assert!(refusal(vec![run(config.clone()), other]).contains("ndcg@10 and map"));
    let zscore = TrainConfig { scaling: ScaleKind::ZScore, ..config.clone() };
    let other = trainer(zscore.clone(), &shared(&zscore));
    assert!(refusal(vec![run(config.clone()), other]).contains("scaled differently"));
    assert!(refusal(vec![]).contains("at least one"));
}

#[test]
fn an_ensemble_resumes_to_the_same_bytes_even_from_within_an_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.checkpoint");
    let expected = contents(&trained(of_seeds(3)));
    for epochs in 0..4 {
        let mut ensemble = of_seeds(3);
        (0..epochs).for_each(|_| ensemble.epoch().unwrap());
        // Two of three members had finished their epoch when the run was stopped.
        for member in [0, 2] {
            if ensemble.members[member].finished().is_none() {
                ensemble.members[member].epoch().unwrap();
            }
        }
        assert_eq!(ensemble.history(0).iter().map(|epoch| epoch.epoch).max().unwrap_or(0), ensemble.epochs());
        ensemble.save_checkpoint(&path).unwrap();
        let mut again = of_seeds(3).resume(&path).unwrap();
        let mut log = again.history(0);
        let note = |_: &Ensemble<'_>, epochs: &[EpochRecord]| {
            log.extend_from_slice(epochs);
            Ok(ControlFlow::Continue(()))
        };
        again.run(note).unwrap();
        assert_eq!(log, again.history(0), "every epoch once, and in order");
        assert!(contents(&again.finish().unwrap()) == expected, "{epochs} epochs");
    }
    let refusal = |ensemble: Ensemble<'static>| ensemble.resume(&path).err().unwrap().to_string();
    for other in [of_seeds(1), of_seeds(2), of_seeds(4)] {
        let message = refusal(other);
        assert!(message.contains("a run with other settings or data"), "{message}");
    }
}

#[test]
fn members_without_an_epoch_are_left_out() {
    let mut ensemble = of_seeds(3);
    ensemble.members[2].epoch().unwrap();
    let model = ensemble.finish().unwrap();
    assert_eq!(model.info.members.len(), 1);
    assert_eq!(model.info.members[0].seed, Ensemble::seeds(1, 3).nth(2));
    assert_eq!(model.info.run.unwrap().finish, Finish::Stopped);
    assert_eq!(of_seeds(3).finish().unwrap().info.best_epoch, 0);
}

#[test]
fn seeds_are_distinct() {
    let all: Vec<u64> = (0..20).flat_map(|seed| Ensemble::seeds(seed, 50).skip(1)).collect();
    let mut sorted = all.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), all.len());
    assert!(Ensemble::seeds(3, 5).eq(Ensemble::seeds(3, 9).take(5)), "more members are further members");
}
