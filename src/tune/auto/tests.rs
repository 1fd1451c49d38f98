//! The race on small data, and the choice on hand-made values.

use super::*;
use crate::data::synthetic::Synthetic;
use crate::device;
use crate::model::{ModelInfo, RankerConfig, Scorer};

fn data(queries: std::ops::Range<usize>) -> Dataset {
    let data = Synthetic { queries: 60, documents: 12, features: 6, ..Synthetic::net() };
    data.generator().unwrap().part(queries).unwrap().0
}

fn quick() -> Auto {
    // Batches of all queries: few updates per run are enough to compare bytes.
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
fn a_scaling_that_is_given_is_the_only_one() {
    let auto = Auto { scaling: Some(ScaleKind::MinMax), trials: Some(2), ..quick() };
    let (model, report) = run(&auto, &data(0..12), None);
    assert_eq!(model.info.scaler.kind(), ScaleKind::MinMax);
    assert!(report.candidates.iter().all(|candidate| candidate.name.ends_with("minmax")), "{:?}", report.candidates);
    assert!(model.info.conventions.contains("has not seen"), "{}", model.info.conventions);
    assert!(!model.info.data.contains_key("valid"));
}

#[test]
fn a_race_that_is_stopped_or_out_of_time_makes_a_model_of_what_is_whole() {
    let auto = Auto { limit: Some(Duration::ZERO), ..quick() };
    let (model, report) = run(&auto, &data(0..12), None);
    assert!(report.cut_short && report.runs == 1 && report.candidates[0].name.starts_with("linear"), "{report:?}");
    assert_eq!(model.info.run.unwrap().finish, Finish::Stopped);
    let stop = Stop::new();
    stop.ask();
    let device = device::open("auto").unwrap();
    assert!(matches!(quick().train(&data(0..12), None, &device, &stop, &|_| {}), Err(Error::Stopped)));
}

/// A setting whose models give these values, one query after the other.
fn entrant(config: TrainConfig, values: &[f64]) -> Entrant {
    let shape = RankerConfig::linear(1);
    let net = shape.from_weights(&[vec![1.0]], &device::open("auto").unwrap()).unwrap();
    let scaler = Scaler::fit(ScaleKind::None, &data(0..1));
    let model = Model { scorer: Scorer::Net(net), info: ModelInfo::new(shape, scaler, "by hand"), history: vec![] };
    let mut entrant = Entrant::new(config, values.len());
    entrant.note(model, values.iter().copied().map(Some).enumerate());
    entrant
}

/// Twelve values around a mean, whose differences to those of other means vary by `jitter`.
fn around(mean: f64, jitter: f64) -> Vec<f64> {
    (0..12).map(|query| 0.05 * (query as f64) + mean + if query % 2 == 0 { jitter } else { -jitter }).collect()
}

fn of_scaling(scaling: ScaleKind) -> TrainConfig {
    TrainConfig { scaling, ..TrainConfig::default() }
}

#[test]
fn a_scaling_by_query_must_be_better_by_more_than_chance() {
    let (document, query) = (of_scaling(ScaleKind::ZScore), of_scaling(ScaleKind::QueryMinMax));
    // The standard error of a mean of twelve differences of +-2 jitter or so.
    for (lead, expected) in [(0.001, 0), (0.2, 1)] {
        let entrants = [entrant(document.clone(), &around(0.0, 0.1)), entrant(query.clone(), &around(lead, -0.1))];
        let chosen = choice::choose(Better::Higher, &entrants).unwrap();
        assert_eq!(chosen.members, [expected], "{lead}");
        assert_eq!(chosen.runner_up.map(|(place, _)| place), Some(1 - expected));
    }
    // Of a cost, the lower is the better.
    let entrants = [entrant(document, &around(0.0, 0.1)), entrant(query, &around(0.3, -0.1))];
    assert_eq!(choice::choose(Better::Lower, &entrants).unwrap().members, [0]);
}

#[test]
fn settings_of_one_kind_that_hardly_differ_are_averaged_and_far_ones_given_up() {
    let config = of_scaling(ScaleKind::ZScore);
    let entrants = [
        entrant(config.clone(), &around(0.3, 0.0)),
        entrant(config.clone(), &around(0.301, 0.1)),
        entrant(config.clone(), &around(0.1, 0.01)),
    ];
    assert_eq!(choice::choose(Better::Higher, &entrants).unwrap().members, [1, 0]);
    assert_eq!(choice::survivors(Better::Higher, &entrants), [1, 0]);
    // Few queries tell little.
    let few = [entrant(config.clone(), &[0.9, 0.8]), entrant(config, &[0.1, 0.1])];
    assert_eq!(choice::survivors(Better::Higher, &few), [0, 1]);
}

#[test]
fn settings_of_different_numbers_of_runs_are_compared_on_the_runs_that_both_have() {
    let config = of_scaling(ScaleKind::ZScore);
    // In the first round all queries are easy, in the second hard: a setting of one run has the higher mean.
    let mut long = entrant(config.clone(), &around(0.3, 0.0));
    let model = long.models[0].clone();
    long.note(model, around(-0.2, 0.0).into_iter().map(Some).enumerate());
    let short = entrant(config, &around(0.2, 0.0));
    assert!(short.summary().mean > long.summary().mean);
    let chosen = choice::Chosen { members: vec![0], runner_up: None };
    let report = AutoReport::of(Better::Higher, &[long, short], &chosen, false);
    assert_eq!(report.candidates.iter().map(|candidate| candidate.runs).collect::<Vec<_>>(), [2, 1]);
    let found = report.candidates[1].difference.unwrap();
    assert!((found.mean + 0.1).abs() < 1e-12 && found.standard_error < 1e-12, "{found:?}");
    assert_eq!((found.queries, found.runs, report.candidates[0].difference), (12, 1, None));
    assert!((found.value - found.selected_value - found.mean).abs() < 1e-12, "{found:?}");
}
