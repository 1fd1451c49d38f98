//! Model selection on small data, and the choice on hand-made values.

use super::*;
use crate::data::Scaler;
use crate::data::synthetic::Synthetic;
use crate::device;
use crate::model::{ModelInfo, RankerConfig, Scorer};

fn data(queries: std::ops::Range<usize>) -> Dataset {
    let data = Synthetic { queries: 60, documents: 12, features: 6, ..Synthetic::net() };
    data.generator().unwrap().part(queries).unwrap().0
}

fn quick() -> Auto {
    // Batches with all queries: few updates per run are enough to compare bytes.
    Auto::new(TrainConfig { batch_queries: 1000, ..TrainConfig::default() })
}

fn run(auto: &Auto, train: &Dataset, valid: Option<&Dataset>) -> (Model, AutoReport) {
    auto.train(train, valid, &device::open("auto").unwrap(), &Stop::new(), &|_| {}).unwrap()
}

#[test]
fn the_same_seed_gives_the_same_model_on_any_number_of_threads() {
    let (train, valid) = (data(0..12), data(12..20));
    let auto = Auto { trials: Some(7), ..quick() };
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (model, report) = pool.install(|| run(&auto, &train, Some(&valid)));
        let values: Vec<(String, u64, usize)> = report
            .candidates
            .into_iter()
            .map(|candidate| (candidate.name, candidate.value.to_bits(), candidate.runs))
            .collect();
        (model.scorer.to_bytes().unwrap(), values, model.info.metrics)
    };
    let one = on(1);
    assert_eq!(one, on(3));
    assert_eq!(one.1.iter().map(|(_, _, runs)| runs).sum::<usize>(), 7);
}

#[test]
fn only_a_given_scaling_is_tried() {
    let auto = Auto { scaling: Some(ScaleKind::MinMax), trials: Some(2), ..quick() };
    let (model, report) = run(&auto, &data(0..12), None);
    assert_eq!(model.info.scaler.kind(), ScaleKind::MinMax);
    assert!(report.candidates.iter().all(|candidate| candidate.name.ends_with("minmax")), "{:?}", report.candidates);
    assert!(model.info.conventions.contains("has not seen"), "{}", model.info.conventions);
    assert!(!model.info.data.contains_key("valid"));
}

#[test]
fn only_candidates_that_the_target_supports_are_tried() {
    let names = |target, scaling| {
        let base = TrainConfig { target, ..TrainConfig::default() };
        let configs = candidate::configs(&base, scaling, 100);
        configs.iter().for_each(|config| config.check_target().unwrap());
        configs.into_iter().map(|config| Candidate::new(config, 1).name()).collect::<Vec<_>>()
    };
    let usual = names(ExportTarget::Any, None);
    assert_eq!(names(ExportTarget::Onnx, None), usual);
    assert!(usual.iter().any(|name| name.ends_with("query-minmax")));
    let nets = |target| names(target, None).into_iter().filter(|name| !name.starts_with("trees")).collect::<Vec<_>>();
    let engines = [ExportTarget::Solr, ExportTarget::Elasticsearch, ExportTarget::Vespa].map(nets);
    assert!(engines.iter().flatten().all(|name| name.ends_with("quantile") || name.ends_with("log1p-zscore")));
    assert!(
        engines[0].iter().any(|name| name.contains("relu")) && !engines[1].iter().any(|name| name.contains("relu"))
    );
    assert!(
        engines[1].iter().any(|name| name.starts_with("linear")) && engines[1].iter().any(|name| name.contains("tanh"))
    );
    let base = TrainConfig { target: ExportTarget::Solr, ..TrainConfig::default() };
    let auto = Auto { scaling: Some(ScaleKind::QueryZScore), ..Auto::new(base) };
    let error = auto.train(&data(0..12), None, &device::open("auto").unwrap(), &Stop::new(), &|_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "scale query-zscore: expected none, log1p, zscore, minmax, log1p-zscore or quantile with `for` solr"
    );
}

#[test]
fn a_selection_cut_short_uses_completed_runs() {
    let auto = Auto { limit: Some(Duration::ZERO), ..quick() };
    let (model, report) = run(&auto, &data(0..12), None);
    assert!(report.cut_short && report.runs == 1 && report.candidates[0].name.starts_with("linear"), "{report:?}");
    assert_eq!(model.info.run.unwrap().finish, Finish::Stopped);
    let stop = Stop::new();
    stop.ask();
    let device = device::open("auto").unwrap();
    assert!(matches!(quick().train(&data(0..12), None, &device, &stop, &|_| {}), Err(Error::Stopped)));
}

/// A candidate whose models have these values, one per query.
fn candidate(config: TrainConfig, values: &[f64]) -> Candidate {
    let shape = RankerConfig::linear(1);
    let net = shape.from_weights(&[vec![1.0]], &device::open("auto").unwrap()).unwrap();
    let scaler = Scaler::fit(ScaleKind::None, &data(0..1));
    let model = Model { scorer: Scorer::Net(net), info: ModelInfo::new(shape, scaler, "by hand"), history: vec![] };
    let mut candidate = Candidate::new(config, values.len());
    candidate.record(model, values.iter().copied().map(Some).enumerate());
    candidate
}

/// Twelve values around a mean; differences to those of other means vary by `jitter`.
fn around(mean: f64, jitter: f64) -> Vec<f64> {
    (0..12).map(|query| 0.05 * (query as f64) + mean + if query % 2 == 0 { jitter } else { -jitter }).collect()
}

fn of_scaling(scaling: ScaleKind) -> TrainConfig {
    TrainConfig { scaling, ..TrainConfig::default() }
}

#[test]
fn a_per_query_scaling_must_be_better_by_more_than_chance() {
    let (document, query) = (of_scaling(ScaleKind::ZScore), of_scaling(ScaleKind::QueryMinMax));
    // The standard error of the mean of twelve differences of about +-2 jitter.
    for (lead, expected) in [(0.001, 0), (0.2, 1)] {
        let candidates =
            [candidate(document.clone(), &around(0.0, 0.1)), candidate(query.clone(), &around(lead, -0.1))];
        let chosen = choice::choose(Better::Higher, &candidates).unwrap();
        assert_eq!(chosen.members, [expected], "{lead}");
        assert_eq!(chosen.runner_up.map(|(place, _)| place), Some(1 - expected));
    }
    // Lower is better for costs.
    let candidates = [candidate(document, &around(0.0, 0.1)), candidate(query, &around(0.3, -0.1))];
    assert_eq!(choice::choose(Better::Lower, &candidates).unwrap().members, [0]);
}

#[test]
fn similar_candidates_of_one_kind_are_averaged_and_worse_ones_dropped() {
    let config = of_scaling(ScaleKind::ZScore);
    let candidates = [
        candidate(config.clone(), &around(0.3, 0.0)),
        candidate(config.clone(), &around(0.301, 0.1)),
        candidate(config.clone(), &around(0.1, 0.01)),
    ];
    assert_eq!(choice::choose(Better::Higher, &candidates).unwrap().members, [1, 0]);
    assert_eq!(choice::survivors(Better::Higher, &candidates), [1, 0]);
    // Too few queries to drop a candidate.
    let few = [candidate(config.clone(), &[0.9, 0.8]), candidate(config, &[0.1, 0.1])];
    assert_eq!(choice::survivors(Better::Higher, &few), [0, 1]);
}

#[test]
fn candidates_are_compared_on_their_common_runs() {
    let config = of_scaling(ScaleKind::ZScore);
    // All queries are easy in the first round and hard in the second: a candidate with one run has the higher mean.
    let mut long = candidate(config.clone(), &around(0.3, 0.0));
    let model = long.models[0].clone();
    long.record(model, around(-0.2, 0.0).into_iter().map(Some).enumerate());
    let short = candidate(config, &around(0.2, 0.0));
    assert!(short.summary().mean > long.summary().mean);
    let chosen = choice::Chosen { members: vec![0], runner_up: None };
    let report = AutoReport::of(Better::Higher, &[long, short], &chosen, false);
    assert_eq!(report.candidates.iter().map(|candidate| candidate.runs).collect::<Vec<_>>(), [2, 1]);
    let difference = report.candidates[1].difference.unwrap();
    assert!((difference.mean + 0.1).abs() < 1e-12 && difference.standard_error < 1e-12, "{difference:?}");
    assert_eq!((difference.queries, difference.runs, report.candidates[0].difference), (12, 1, None));
    assert!((difference.value - difference.selected_value - difference.mean).abs() < 1e-12, "{difference:?}");
}
