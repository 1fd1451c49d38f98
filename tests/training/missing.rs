//! Training and scoring with missing values and categorical features.

use super::*;
use burnrank::ReadOptions;
use burnrank::analysis::explain::{ExplainOptions, explain};
use burnrank::data::cache::{CacheOptions, CacheWriter};
use burnrank::data::{Preprocessing, read_bytes};
use burnrank::model::Scratch;

/// Feature 2 of 12 has levels, features 1 and 3 are often missing, and feature 4 is missing in one document.
fn incomplete() -> (Dataset, Dataset) {
    let (train, valid) = data();
    let with_gaps = |mut data: Dataset| {
        for (place, row) in data.features_mut().chunks_mut(12).enumerate() {
            row[1] = (place % 4 * 2) as f32;
            for (feature, every) in [(0, 3), (2, 7)] {
                row[feature] = if place % every == 1 { f32::NAN } else { row[feature] };
            }
            row[3] = if place == 5 { f32::NAN } else { row[3] };
        }
        data
    };
    (with_gaps(train), with_gaps(valid))
}

fn categorical(scaling: ScaleKind) -> TrainConfig {
    TrainConfig { scaling, categorical: vec!["2".into()], ..config("lambdarank:ndcg") }
}

#[test]
fn a_model_scores_missing_values_in_the_same_way_everywhere() {
    let (train, valid) = incomplete();
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("valid.cache");
    let mut writer = CacheWriter::create(&cache, CacheOptions { first_index: 1, ..CacheOptions::default() }).unwrap();
    writer.push(&valid).unwrap();
    writer.finish(false).unwrap();
    let cached = burnrank::read(&cache, &ReadOptions::default()).unwrap().data;
    for scaling in [ScaleKind::Quantile, ScaleKind::None, ScaleKind::QueryZScore] {
        for architecture in [Architecture::Linear, TrainConfig::default().architecture] {
            let config = TrainConfig { architecture, ..categorical(scaling) };
            let model = train_on((train.clone(), valid.clone()), config.clone());
            // Eleven scaled features, indicators of two and four levels.
            assert_eq!((model.info.n_features(), model.info.ranker.features), (12, 11 + 2 + 4), "{scaling}");
            let scores = model.score(&valid).unwrap();
            assert!(scores.iter().all(|score| score.is_finite()));
            let own = model.evaluate(&valid, &[parse(&config.metric).unwrap()]).unwrap();
            assert!(own.iter().all(|(name, value)| model.info.metrics["valid"][name] == *value), "{scaling}: {own:?}");
            assert_eq!(model.score(&cached).unwrap(), scores, "{scaling}");
            let path = folder.path().join("m");
            model.save(&path).unwrap();
            let loaded = Model::load(&path, &cpu()).unwrap();
            assert_eq!(loaded.score(&valid).unwrap(), scores, "{scaling}");
            let (serving, mut scratch) = (loaded.serving().unwrap(), Scratch::default());
            for query in valid.queries() {
                let expected = &scores[query.rows.clone()];
                assert_eq!(loaded.score_query(&query.features).unwrap(), expected, "{scaling}");
                assert_eq!(serving.score(&query.features, &mut scratch).unwrap(), expected, "{scaling}");
            }
            let other = train_on((train.clone(), valid.clone()), TrainConfig { seed: 2, ..config });
            let average = Model::ensemble(&[model, other], &train).unwrap();
            assert_eq!(average.info.ranker.features, 17);
            assert!(average.score(&valid).unwrap().iter().all(|score| score.is_finite()));
        }
    }
}

#[test]
fn a_value_missing_for_the_first_time_counts_as_the_median() {
    let (train, valid) = incomplete();
    let model = train_on((train.clone(), valid.clone()), categorical(ScaleKind::ZScore));
    let mut column: Vec<f32> = train.features().iter().skip(8).step_by(12).copied().collect();
    column.sort_by(f32::total_cmp);
    let median = column[((column.len() - 1) as f64 / 2.0).round() as usize];
    let row = valid.query(0).features[..12].to_vec();
    let with = |value: f32| model.score_query(&[&row[..8], &[value], &row[9..]].concat()).unwrap();
    assert_eq!(with(f32::NAN), with(median));
    // A level without training documents is like a missing one.
    let level = |value: f32| model.score_query(&[&row[..1], &[value], &row[2..]].concat()).unwrap();
    assert_eq!(level(5.0), level(f32::NAN));
    assert_ne!(level(5.0), level(4.0));
}

#[test]
fn models_of_complete_data_refuse_missing_values() {
    let (train, valid) = data();
    let model = train_on((train, valid.clone()), config("lambdarank:ndcg"));
    let mut gaps = valid;
    gaps.features_mut()[12 * 3 + 4] = f32::NAN;
    let expected = "feature 5 of document 4 is missing, but the model was trained on data without missing values: give missing \
                    values a number with `null`";
    let errors = [
        model.score(&gaps).unwrap_err(),
        model.score_query(&gaps.features()[..48]).unwrap_err(),
        model.serving().unwrap().score(&gaps.features()[..48], &mut Scratch::default()).map(|_| ()).unwrap_err(),
    ];
    errors.iter().for_each(|error| assert!(error.to_string().starts_with(expected), "{error}"));
}

#[test]
fn baselines_of_trees_refuse_missing_values() {
    let (train, valid) = incomplete();
    let of = |model: &str| model.parse::<burnrank::setting::ModelChoice>().unwrap().config();
    let error = Trainer::new(of("rankboost"), &train, &valid, &cpu()).err().unwrap().to_string();
    assert!(error.contains("missing values") && error.contains("`null`") && error.contains("`model` trees"), "{error}");
    for name in ["ranksvm", "adarank", "coordinate-ascent"] {
        let model = train_on((train.clone(), valid.clone()), TrainConfig { epochs: 3, ..of(name) });
        assert!(model.score(&valid).unwrap().iter().all(|score| score.is_finite()), "{name}");
    }
}

#[test]
fn a_model_remembers_that_features_left_out_are_missing() {
    let lines =
        (0..60).map(|i| format!("{} qid:{} 1:{}{}\n", i % 3, i / 6, i % 7, if i % 2 == 0 { " 2:0.5" } else { "" }));
    let text: String = lines.collect();
    let read = |sparse_missing: bool| {
        read_bytes("f", text.as_bytes(), &ReadOptions { sparse_missing, ..ReadOptions::default() }).unwrap().data
    };
    let config = TrainConfig { scaling: ScaleKind::ZScore, ..config("ranknet") };
    let folder = tempfile::tempdir().unwrap();
    for remembered in [false, true] {
        let model = train_on((read(remembered), read(remembered)), config.clone());
        assert_eq!(
            (model.info.sparse_missing, model.info.scaler.n_inputs()),
            (remembered, 2 + usize::from(remembered))
        );
        let path = folder.path().join("m");
        model.save(&path).unwrap();
        let loaded = Model::load(&path, &cpu()).unwrap();
        assert_eq!(loaded.score(&read(remembered)).unwrap(), model.score(&read(remembered)).unwrap());
        let error = loaded.score(&read(!remembered)).unwrap_err().to_string();
        let remedy = if remembered { "with `sparse_missing`" } else { "without `sparse_missing`" };
        assert!(error.ends_with(remedy), "{error}");
    }
}

#[test]
fn explanations_are_by_feature() {
    let (train, valid) = incomplete();
    for scaling in [ScaleKind::Quantile, ScaleKind::QueryMinMax] {
        let model = train_on((train.clone(), valid.clone()), categorical(scaling));
        let metric = parse("ndcg@10").unwrap();
        let options = ExplainOptions { repeats: 1, dependences: 12, contributions: 12, ..ExplainOptions::default() };
        let explanation = explain(&model, valid.clone(), &*metric, None, &options, &|_| {}).unwrap();
        let mut features: Vec<usize> = explanation.importances.iter().map(|importance| importance.feature).collect();
        features.sort_unstable();
        assert_eq!(features, (0..12).collect::<Vec<_>>());
        assert_eq!(explanation.model_importance.values.len(), 12);
        for dependence in &explanation.dependences {
            let is_missing = [0, 2, 3].contains(&dependence.feature) && scaling == ScaleKind::Quantile;
            assert_eq!(dependence.missing.is_some(), is_missing, "{scaling}, {}", dependence.feature);
        }
        let changes = explanation.changes.won.iter().chain(&explanation.changes.lost);
        for change in changes.filter_map(|query| query.change.as_ref()) {
            let sum: f64 =
                change.contributions.iter().map(|part| part.contribution).sum::<f64>() + change.other_contributions;
            assert!((sum - change.score_difference).abs() < 1e-3 * (1.0 + change.score_difference.abs()), "{sum}");
        }
    }
}

#[test]
fn preprocessing_of_complete_data_changes_no_bytes() {
    let (train, valid) = data();
    for scaling in ScaleKind::ALL {
        let config = TrainConfig { scaling, ..config("lambdarank:ndcg") };
        let rules = config.preprocessing(&train).unwrap();
        assert_eq!(rules, Preprocessing::from(scaling));
        assert_eq!(rules.fit(&train).unwrap(), Scaler::fit(scaling, &train));
    }
    let text = "color";
    let error = TrainConfig { categorical: vec![text.into()], ..config("ranknet") }.preprocessing(&valid).unwrap_err();
    assert!(
        error.to_string().starts_with("categorical color: expected the number of a feature, from 1 to 12"),
        "{error}"
    );
}
