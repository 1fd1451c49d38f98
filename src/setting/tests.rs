//! Checks of the whole table.

use super::*;
use crate::objective::{Objective, PAIR_BUDGET};
use serde_json::Value as Json;
use std::collections::BTreeMap;

fn config(model: &str) -> TrainConfig {
    model.parse::<ModelChoice>().unwrap().config()
}

fn given(stated: &[(&str, &str)]) -> Given {
    let mut given = Given::new();
    stated.iter().for_each(|(key, value)| given.state(key, value).unwrap());
    given
}

/// Every number and word of a configuration, by its path.
fn leaves(config: &TrainConfig) -> BTreeMap<String, Json> {
    fn walk(path: &str, value: &Json, all: &mut BTreeMap<String, Json>) {
        match value {
            Json::Object(fields) => fields.iter().for_each(|(key, value)| walk(&format!("{path}.{key}"), value, all)),
            leaf => drop(all.insert(path.to_owned(), leaf.clone())),
        }
    }
    let mut all = BTreeMap::new();
    walk("", &serde_json::to_value(config).unwrap(), &mut all);
    all
}

/// A valid value of a setting that differs from the configuration's.
fn other(row: &Setting, config: &TrainConfig) -> String {
    let current = row.get(config);
    let candidates = match row.key {
        "objective" => vec!["ranknet", "listnet"],
        "metric" => vec!["map", "mrr"],
        _ => ["0.5", "0.25", "7", "3", "30,20"].into_iter().chain(row.value.words()).collect(),
    };
    candidates.into_iter().find(|value| *value != current && row.check(value).is_ok()).unwrap().to_owned()
}

#[test]
fn every_model_has_valid_defaults() {
    for kind in models() {
        let config = config(kind.name);
        config.check().unwrap();
        let (model, given) = stated(&config, None).unwrap();
        assert_eq!(model.to_string(), kind.name);
        // How long a net is trained depends on the data.
        let open = if Kinds::NETS.has(kind.kinds) { vec![("epochs", "100"), ("schedule", "cosine")] } else { vec![] };
        assert_eq!(given.iter().collect::<Vec<_>>(), open, "{}", kind.name);
    }
    assert_eq!(leaves(&TrainConfig::default()), leaves(&config("mlp")));
    assert_eq!(TrainConfig::default().objective.name(), Objective::default().name());
    assert_eq!(TrainConfig::default().pair_budget, PAIR_BUDGET);
}

#[test]
fn every_serialised_field_has_a_row() {
    for model in ["linear", "mlp", "trees", "ranksvm"] {
        let (mut changed, start) = (config(model), config(model));
        let kind = model.parse::<ModelChoice>().unwrap().kind;
        for row in SETTINGS.iter().filter(|row| row.is_of(kind)) {
            let value = other(row, &start);
            row.set(&mut changed, &value).unwrap();
            assert_eq!(row.get(&changed), value, "{}", row.key);
        }
        // Fields that are omitted at their default are present now.
        let (before, after) = (leaves(&start), leaves(&changed));
        // These fields follow from the model.
        let of_model = |path: &&String| {
            [".architecture.kind", ".method.baseline.name", ".method.baseline.numbers.c"].contains(&path.as_str())
        };
        let same: Vec<&String> =
            after.iter().filter(|(path, value)| before.get(*path) == Some(value)).map(|(path, _)| path).collect();
        let same: Vec<&&String> = same.iter().filter(|path| !of_model(path)).collect();
        if Kinds::NETS.has(kind.kinds) {
            assert!(same.is_empty(), "{model}: no row sets {same:?}");
        } else {
            // Fields of nets are set by rows of nets.
            let nets = leaves(&config("mlp"));
            assert!(same.iter().all(|path| nets.contains_key(path.as_str())), "{model}: no row sets {same:?}");
        }
    }
}

#[test]
fn rows_are_consistent() {
    for (place, row) in SETTINGS.iter().enumerate() {
        assert!(SETTINGS[..place].iter().all(|other| other.key != row.key), "{} twice", row.key);
        assert!(!row.help.is_empty() && !row.help.ends_with('.'), "{}: {}", row.key, row.help);
        assert!(!row.default_text().is_empty(), "{}", row.key);
        assert!(row.same_field.is_none_or(|key| SETTINGS[..place].iter().any(|other| other.key == key)), "{}", row.key);
        for kind in models().filter(|kind| row.is_of(kind)) {
            let config = config(kind.name);
            let mut copy = config.clone();
            row.set(&mut copy, &row.get(&config)).unwrap();
            assert_eq!(leaves(&copy), leaves(&config), "{} of {}", row.key, kind.name);
        }
    }
}

#[test]
fn defaults_depend_on_the_data_unless_given() {
    let epochs = |stated: &[(&str, &str)], queries| {
        let config = resolve(&ModelChoice::mlp(), &given(stated), queries).unwrap();
        (config.epochs, config.patience, config.schedule.name())
    };
    // With 10 queries per batch: 2 updates per epoch, then 20, then 500.
    assert_eq!(epochs(&[], Some(20)), (1000, 500, "cosine"));
    assert_eq!(epochs(&[], Some(200)), (100, 50, "cosine"));
    assert_eq!(epochs(&[], Some(5000)), (50, 25, "cosine"));
    assert_eq!(epochs(&[("batch-queries", "1")], Some(20)), (100, 50, "cosine"));
    assert_eq!(epochs(&[("epochs", "7")], Some(20)), (7, 20, "constant"));
    assert_eq!(epochs(&[("patience", "3")], Some(20)), (1000, 3, "cosine"));
    assert_eq!(epochs(&[("restart", "3")], Some(20)), (1000, 500, "constant"));
    // The same for a configuration that was resolved before the data was read.
    for stated in [&[][..], &[("epochs", "7")], &[("patience", "3")]] {
        let before = resolve(&ModelChoice::mlp(), &given(stated), None).unwrap();
        let after = given(stated).suited(before, 20).unwrap();
        assert_eq!((after.epochs, after.patience, after.schedule.name()), epochs(stated, Some(20)));
    }
}

#[test]
fn a_target_sets_the_default_scaling_and_refuses_what_it_does_not_support() {
    let config = |model: &str, stated: &[(&str, &str)]| resolve(&model.parse().unwrap(), &given(stated), None);
    for (model, target, scaling) in [
        ("mlp", "any", "quantile"),
        ("mlp", "solr", "quantile"),
        ("linear", "opensearch", "quantile"),
        ("mlp", "vespa", "quantile"),
        ("mlp", "onnx", "quantile"),
        ("trees", "solr", "none"),
        ("ranksvm", "c", "query-minmax"),
        ("ranksvm", "vespa", "quantile"),
        ("rankboost", "elasticsearch", "quantile"),
        ("adarank", "elasticsearch", "quantile"),
        ("kernel-ranknet", "vespa", "quantile"),
    ] {
        let config = config(model, &[("for", target)]).unwrap();
        assert_eq!((config.scaling.name(), config.target.name()), (scaling, target), "{model}");
        let (_, again) = stated(&config, Some(100)).unwrap();
        assert!(!again.has("scale") && again.has("for") == (target != "any"), "{model}: {again:?}");
    }
    let message = |model: &str, stated: &[(&str, &str)]| config(model, stated).unwrap_err().to_string();
    for (model, target, scaling, last) in [
        ("mlp", "solr", "query-zscore", "log1p-zscore or quantile"),
        ("trees", "vespa", "query-minmax", "log1p-zscore, quantile or piecewise"),
    ] {
        assert_eq!(
            message(model, &[("for", target), ("scale", scaling)]),
            format!("scale {scaling}: expected none, log1p, zscore, minmax, {last} with `for` {target}")
        );
    }
    assert_eq!(
        message("mlp", &[("for", "elasticsearch"), ("activation", "relu")]),
        "activation relu: expected sigmoid or tanh with `for` elasticsearch"
    );
    assert_eq!(
        message("trees", &[("for", "vespa"), ("leaves", "402")]),
        "leaves 402: expected at most 401 with `for` vespa, for at most 400 levels"
    );
    config("trees", &[("for", "vespa"), ("leaves", "401")]).unwrap();
    config("trees", &[("for", "c"), ("leaves", "402")]).unwrap();
    let message = message("kernel-ranknet", &[("for", "solr")]);
    let expected = "`for` solr does not support kernel-ranknet (sum of kernels): choose `model` linear, mlp, trees,";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn errors_name_settings_of_other_models_and_invalid_values() {
    let message = |model: &str, stated: &[(&str, &str)]| {
        let model: ModelChoice = model.parse().unwrap();
        resolve(&model, &given(stated), None).unwrap_err().to_string()
    };
    assert_eq!(
        message("linear", &[("hidden", "3")]),
        "`hidden` is for mlp, not for linear: leave it out, or choose `model` mlp"
    );
    assert_eq!(message("trees", &[("lr", "1")]), "`lr` is for nets, not for trees: use `shrinkage`");
    assert_eq!(message("mlp", &[("shrinkage", "1")]), "`shrinkage` is for trees, not for mlp: use `lr`");
    assert_eq!(
        message("ranksvm", &[("l2", "0")]),
        "`l2` is for nets and trees, not for ranksvm: leave it out, or choose `model` linear, mlp or trees"
    );
    assert!(message("trees", &[("schedule", "halve")]).starts_with("`schedule` is for nets, not for trees"));
    assert_eq!(
        message("trees", &[("epochs", "3"), ("trees", "4")]),
        "`trees` 4 and `epochs` 3 set the same value: leave out one of them"
    );
    assert!(message("mlp", &[("restart", "30")]).starts_with("restart 30: expected a value below `patience` 20"));
    for (key, value, expected) in [
        ("lr", "0", "lr 0: expected a number above 0"),
        ("lr", "NaN", "lr NaN: expected a number above 0"),
        ("lr", "x", "lr x: expected a number above 0"),
        ("l2", "-1", "l2 -1: expected a number of 0 or more"),
        ("epochs", "0", "epochs 0: expected a whole number of 1 or more"),
        ("epochs", "1.5", "epochs 1.5: expected a whole number of 1 or more"),
        ("bins", "1", "bins 1: expected a whole number from 2 to 65535"),
        ("subsample", "2", "subsample 2: expected a number above 0 and at most 1"),
        ("hidden", "32,,16", "hidden 32,,16: expected 1 to 65536 units for each of 1 to 100 hidden layers"),
        ("hidden", "32,0", "hidden 32,0: expected numbers of 1 or more: hidden layers need at least 1 unit"),
        ("optimizer", "adma", "unknown optimizer 'adma': did you mean 'adam'?"),
        ("metric", "ndcg10", "unknown "),
        ("hiden", "3", "unknown setting 'hiden': did you mean 'hidden'? known settings: objective, metric"),
    ] {
        let message = Given::new().state(key, value).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}
