//! Models of LightGBM and XGBoost as model folders.

use super::support::Place;

const LIGHTGBM: &str = include_str!("../../src/model/trees/tests/sample.txt");
const XGBOOST: &str = include_str!("../../src/model/trees/tests/xgboost.json");

const DATA: &str = "2 qid:a 1:0.5 2:1 3:3 4:35\n0 qid:a 1:1 2:3 3:-0.2 4:35\n1 qid:b 1:0 2:0 3:0 4:0\n";

#[test]
fn a_lightgbm_model_becomes_a_model_folder() {
    let place = Place::new(&[("m.txt", LIGHTGBM), ("a.txt", DATA)]);
    let told = place.run("convert m.txt --to model --out model").good();
    assert!(told.starts_with("model: ") && told.contains("3 trees") && told.ends_with("4 features\n"), "{told}");
    assert_eq!(place.read("model/model.txt"), LIGHTGBM, "the text stays what LightGBM wrote");
    let scores = place.run("predict --model model --data a.txt").good();
    // LightGBM's own raw scores.
    let expected = [2.031415926535898_f64, 2.331415926535898, 2.1314159265358983];
    for (found, expected) in scores.lines().zip(expected) {
        assert!((found.parse::<f64>().expect("a score") - expected).abs() < 1e-6, "{scores}");
    }
    assert_eq!(scores.lines().count(), 3);
    let json = place.run("evaluate --data a.txt --model model --json").json();
    assert!(json["measures"].is_array(), "{json}");
    assert!(place.run("info model").good().contains("imported from m.txt"));
    let message = place.run("convert m.txt --to model --out model").bad(1);
    assert!(message.contains("model: there is a model already: choose another --out, or --force"), "{message}");
    place.run("convert m.txt --to model --out model --force").good();
}

#[test]
fn an_xgboost_model_becomes_a_model_folder() {
    let place = Place::new(&[("m.json", XGBOOST), ("a.txt", "1 qid:1 1:9 2:0 3:-9\n0 qid:1 1:0 2:0 3:0\n")]);
    let json = place.run("convert m.json --to model --out new/model --json").json();
    assert_eq!(json["features"], 3);
    let scores = place.run("predict --model new/model --data a.txt").good();
    let scores: Vec<f64> = scores.lines().map(|score| score.parse().expect("a score")).collect();
    // XGBoost's own margins.
    assert!(
        (scores[0] - 1.7540563344955444).abs() < 1e-6 && (scores[1] - 1.0372298955917358).abs() < 1e-6,
        "{scores:?}"
    );
}

#[test]
fn columns_that_lightgbm_counted_from_zero_move_down() {
    let counted = LIGHTGBM
        .replace("max_feature_idx=3", "max_feature_idx=4")
        .replace("feature_names=", "feature_names=Column_0 ")
        .replace("feature_infos=", "feature_infos=none ")
        .replace("split_feature=0 1 1 2 2", "split_feature=1 2 2 3 3")
        .replace("split_feature=3 3 0", "split_feature=4 4 1");
    let place = Place::new(&[("m.txt", LIGHTGBM), ("counted.txt", &counted)]);
    place.run("convert counted.txt --to model --first-index 0 --out model").good();
    assert_eq!(place.read("model/model.txt"), LIGHTGBM);
    let message = place.run("convert m.txt --to model --first-index 0 --out other").bad(2);
    assert!(message.contains("--first-index 0: the first column cannot be left out"), "{message}");
}

#[test]
fn a_model_that_cannot_be_imported_leaves_nothing() {
    let damaged = LIGHTGBM.replace("left_child=1 -1", "left_child=0 -1");
    let place = Place::new(&[("bad.txt", &damaged), ("m.txt", LIGHTGBM), ("a.txt", DATA)]);
    let message = place.run("convert bad.txt --to model --out new/model").bad(1);
    assert!(message.contains("bad.txt:19: more than one way leads to branch 0: the file is damaged"), "{message}");
    let message = place.run("convert a.txt --to model --out new/model").bad(1);
    assert!(message.contains("a.txt:1: not a LightGBM model"), "{message}");
    let message = place.run("convert m.txt --out b.txt").bad(1);
    assert!(message.contains("looks like a model of LightGBM or XGBoost: add --to model"), "{message}");
    place.run("convert m.txt --to model --out -").bad(2);
    place.run("convert m.txt --to model --out model --scale zscore").bad(2);
    assert_eq!(place.list(), ["a.txt", "bad.txt", "m.txt"]);
}
