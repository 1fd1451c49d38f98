//! Models of LightGBM and XGBoost as model folders.

use super::support::Place;

const LIGHTGBM: &str = include_str!("../../src/model/trees/tests/sample.txt");
const XGBOOST: &str = include_str!("../../src/model/trees/tests/xgboost.json");

const DATA: &str = "2 qid:a 1:0.5 2:1 3:3 4:35\n0 qid:a 1:1 2:3 3:-0.2 4:35\n1 qid:b 1:0 2:0 3:0 4:0\n";

fn parsed(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("the tool prints JSON")
}

#[test]
fn a_lightgbm_model_becomes_a_model_folder() {
    let place = Place::new(&[("m.txt", LIGHTGBM), ("a.txt", DATA)]);
    let printed = place.run("convert m.txt --to model --out model").done();
    assert!(
        printed.starts_with("model: ") && printed.contains("3 trees") && printed.ends_with("4 features\n"),
        "{printed}"
    );
    assert_eq!(place.read("model/model.txt"), LIGHTGBM, "LightGBM's text is kept");
    let scores = place.run("predict --model model --data a.txt").done();
    // Raw scores of LightGBM.
    let expected = [2.031415926535898_f64, 2.331415926535898, 2.1314159265358983];
    for (found, expected) in scores.lines().zip(expected) {
        assert!((found.parse::<f64>().expect("a score") - expected).abs() < 1e-6, "{scores}");
    }
    assert_eq!(scores.lines().count(), 3);
    let json = parsed(&place.run("evaluate --data a.txt --model model --json").done());
    assert!(json["metrics"].is_array(), "{json}");
    assert!(place.run("info model").done().contains("imported from m.txt"));
    let message = place.run("convert m.txt --to model --out model").bad(1);
    assert!(message.contains("model already exists: choose another --out, or replace it with --force"), "{message}");
    place.run("convert m.txt --to model --out model --force").done();
}

#[test]
fn an_xgboost_model_becomes_a_model_folder() {
    let place = Place::new(&[("m.json", XGBOOST), ("a.txt", "1 qid:1 1:9 2:0 3:-9\n0 qid:1 1:0 2:0 3:0\n")]);
    let json = parsed(&place.run("convert m.json --to model --out new/model --json").done());
    assert_eq!(json["features"], 3);
    let scores = place.run("predict --model new/model --data a.txt").done();
    let scores: Vec<f64> = scores.lines().map(|score| score.parse().expect("a score")).collect();
    // Margins of XGBoost.
    assert!(
        (scores[0] - 1.7540563344955444).abs() < 1e-6 && (scores[1] - 1.0372298955917358).abs() < 1e-6,
        "{scores:?}"
    );
}

/// An imported model says which features' missing values differ from 0, and reads data as its library does.
#[test]
fn missing_values_are_read_as_in_the_library() {
    let place = Place::new(&[("m.txt", LIGHTGBM), ("m.json", XGBOOST), ("a.txt", DATA)]);
    let known = "features bm25, language: missing values differ from 0: write them as nan in data files";
    let ran = place.run("convert m.txt --to model --out model --json");
    assert!(ran.err.starts_with(&format!("note: m.txt: {known}")) && ran.err.lines().count() == 1, "{ran:?}");
    assert_eq!(parsed(&ran.done())["warnings"][0], known);
    place.run("predict --model model --data a.txt").good();
    let none = LIGHTGBM.replace("decision_type=8 2 6 10 4", "decision_type=0 2 2 0 0").replace("=1 9 8", "=1 9 0");
    let none = none.replace("cat_threshold=7 8 2", "cat_threshold=6 8 2");
    std::fs::write(place.path().join("none.txt"), none).expect("a file");
    place.run("convert none.txt --to model --out none").good();
    let ran = place.run("convert m.json --to model --out other");
    let expected = "feature f1: missing values differ from 0; values that LETOR files leave out are missing, as in XGBoost's \
                    reader: import the model with --fill-zeros if they were 0 in training";
    assert!(ran.err.starts_with(&format!("note: m.json: {expected}")), "{ran:?}");
    // What LETOR files leave out is 0 for LightGBM's models and missing for XGBoost's.
    for (name, text) in [
        ("dense.txt", "1 qid:1 1:0 2:1 3:0 4:0\n0 qid:1 1:nan 2:1 3:nan 4:nan\n"),
        ("sparse.txt", "1 qid:1 2:1\n"),
        ("three.txt", "1 qid:1 1:0 2:1 3:0\n0 qid:1 1:nan 2:1 3:nan\n"),
    ] {
        std::fs::write(place.path().join(name), text).expect("a file");
    }
    let scores = |model: &str, data: &str| -> Vec<String> {
        let printed = place.run(&format!("predict --model {model} --data {data}")).done();
        printed.lines().map(str::to_owned).collect()
    };
    let lightgbm = scores("model", "dense.txt");
    assert!(lightgbm[0] != lightgbm[1] && scores("model", "sparse.txt") == [lightgbm[0].clone()], "{lightgbm:?}");
    let xgboost = scores("other", "three.txt");
    assert!(xgboost[0] != xgboost[1] && scores("other", "sparse.txt") == [xgboost[1].clone()], "{xgboost:?}");
    place.run("convert m.json --to model --fill-zeros --out zeros").done();
    assert_eq!(scores("zeros", "sparse.txt"), [xgboost[0].clone()]);
}

/// `best_iteration` counts iterations, not trees.
#[test]
fn trees_after_the_best_iteration_are_omitted() {
    let best = |attributes: &str| {
        let text = XGBOOST.replace("\"attributes\": {}", &format!("\"attributes\": {attributes}"));
        let place = Place::new(&[("m.json", &text), ("a.txt", "1 qid:1 1:9 2:0 3:-9\n0 qid:1 1:0 2:0 3:0\n")]);
        let ran = place.run("convert m.json --to model --out model");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        (place.run("predict --model model --data a.txt").done(), ran.err)
    };
    let (all, message) = best("{}");
    assert!(!message.contains("best_iteration"), "{message}");
    let (found, message) = best(r#"{"best_iteration": "0", "best_score": "0.7"}"#);
    assert!(
        message.contains(
            "m.json: only the first 1 of 2 trees were imported, up to best_iteration 0, as in XGBRanker.predict"
        ),
        "{message}"
    );
    assert_ne!(found, all);
    let scores: Vec<f64> = found.lines().map(|score| score.parse().expect("a score")).collect();
    assert!((scores[0] - (1.25 + 0.25354147)).abs() < 1e-6, "{scores:?}");
    assert_eq!(best(r#"{"best_iteration": "1"}"#).0, all);
    assert_eq!(best(r#"{"best_iteration": "99"}"#).0, all);
}

#[test]
fn zero_based_columns_of_lightgbm_are_shifted() {
    let counted = LIGHTGBM
        .replace("max_feature_idx=3", "max_feature_idx=4")
        .replace("feature_names=", "feature_names=Column_0 ")
        .replace("feature_infos=", "feature_infos=none ")
        .replace("split_feature=0 1 1 2 2", "split_feature=1 2 2 3 3")
        .replace("split_feature=3 3 0", "split_feature=4 4 1");
    let place = Place::new(&[("m.txt", LIGHTGBM), ("counted.txt", &counted)]);
    place.run("convert counted.txt --to model --first-index 0 --out model").done();
    assert_eq!(place.read("model/model.txt"), LIGHTGBM);
    let message = place.run("convert m.txt --to model --first-index 0 --out other").bad(2);
    assert!(message.contains("--first-index 0: the first column cannot be removed"), "{message}");
}

#[test]
fn a_failed_import_leaves_no_files() {
    let damaged = LIGHTGBM.replace("left_child=1 -1", "left_child=0 -1");
    let place = Place::new(&[("bad.txt", &damaged), ("m.txt", LIGHTGBM), ("a.txt", DATA)]);
    let message = place.run("convert bad.txt --to model --out new/model").bad(1);
    assert!(message.contains("bad.txt:19: more than one path leads to branch 0: the file is damaged"), "{message}");
    let message = place.run("convert a.txt --to model --out new/model").bad(1);
    assert!(message.contains("a.txt:1: not a LightGBM model"), "{message}");
    let message = place.run("convert m.txt --out b.txt").bad(1);
    assert!(message.contains("looks like a model of LightGBM or XGBoost: add --to model"), "{message}");
    place.run("convert m.txt --to model --out -").bad(2);
    place.run("convert m.txt --to model --out model --scale zscore").bad(2);
    assert_eq!(place.list(), ["a.txt", "bad.txt", "m.txt"]);
}
