//! Compares scores with those printed by LightGBM 4.7.0 and XGBoost 3.2.0.

#![allow(clippy::excessive_precision)] // as they were printed

use super::*;

const N: f32 = f32::NAN;
const I: f32 = f32::INFINITY;

/// A small model in XGBoost's format, without lists that do not affect scores.
const XGBOOST: &str = include_str!("xgboost.json");

/// `Booster(model_str=...).predict(row, raw_score=True)` of the sample.
#[test]
fn the_sample_scores_as_lightgbm_does_to_the_last_bit() {
    let peer: [([f32; 4], f64); 15] = [
        ([0.0, 0.0, 0.0, 0.0], 2.1314159265358983),
        ([0.5, 0.0, -0.0, 1.0], 1.131415926535898),
        ([0.5, 1e-35, 3.0, 2.0], 2.1314159265358983),
        ([0.5, -1e-40, 3.0, 35.0], 2.1314159265358983),
        ([0.5000001, N, 0.0, 3.0], 0.5314159265358979),
        ([N, N, N, N], 0.5314159265358979),
        ([I, 2.5, I, -I], 0.5314159265358979),
        ([I, 2.6, -0.1, -0.5], 2.331415926535898),
        ([-I, -I, -I, 34.0], -0.968584073464102),
        ([1.0, 3.0, -0.2, 35.9], 2.331415926535898),
        ([1.0, 2.0, N, 2147483648.0], 0.5314159265358979),
        ([1.0, 0.0, 5.0, -1.0], 0.5314159265358979),
        ([I, 3.0, 0.0, -2147483648.0], 0.1314159265358979),
        ([-I, 1.0, 1.0, 99.0], -1.0685840734641021),
        ([1.0, -3.0, N, 1e30], 0.5314159265358979),
    ];
    let forest = Forest::parse(SAMPLE).unwrap();
    let rows: Vec<f32> = peer.iter().flat_map(|(row, _)| *row).collect();
    let expected: Vec<f64> = peer.iter().map(|(_, score)| *score).collect();
    assert_eq!(bits(&scores(&forest, &rows)), bits(&expected));
}

#[test]
fn a_random_forest_is_an_average() {
    let text = SAMPLE.replace("objective=lambdarank\n", "objective=regression\naverage_output\n");
    let (forest, sum) = (Forest::parse(&text).unwrap(), Forest::parse(SAMPLE).unwrap());
    assert!(forest.is_average() && !sum.is_average());
    let row = [0.0; 4];
    assert_eq!(scores(&forest, &row)[0], scores(&sum, &row)[0] / 3.0);
    assert_eq!(scores(&forest.truncated(2), &row)[0], scores(&sum.truncated(2), &row)[0] / 2.0);
    assert_eq!(forest.to_text(), text);
}

/// `Booster.inplace_predict(row, predict_type="margin")` of a model of two trees, objective rank:ndcg.
#[test]
fn an_xgboost_model_scores_as_xgboost_does() {
    let peer: [([f32; 3], f64); 8] = [
        ([0.0, 0.0, 0.0], 1.0372298955917358),
        ([N, N, N], 0.9656975269317627),
        ([-0.13280446827411652, 0.0, -0.13280446827411652], 1.0372298955917358),
        ([-0.1328044831752777, 0.0, 1.0], 0.9656975269317627),
        ([-1.0, -0.16976049542427063, -0.16976049542427063], 0.7481899261474609),
        ([9.0, N, -9.0], 1.7540563344955444),
        ([-9.0, 9.0, N], 0.7481899261474609),
        ([I, -I, I], 1.7540563344955444),
    ];
    let rows: Vec<f32> = peer.iter().flat_map(|(row, _)| *row).collect();
    let forest = Forest::parse_any("m.json", XGBOOST).unwrap();
    assert_eq!((forest.n_features(), forest.n_trees()), (3, 3));
    // Older versions write the base score without brackets and truths as words.
    let older = XGBOOST.replace("[1.25E0]", "1.25E0").replace("[1, 0, 0, 0, 0]", "[true, false, false, false, false]");
    let written = Forest::parse(&forest.to_text()).unwrap();
    for forest in [forest, Forest::parse_any("m.json", &older).unwrap(), written] {
        for (actual, (row, expected)) in scores(&forest, &rows).iter().zip(peer) {
            assert!((actual - expected).abs() < 1e-6, "{row:?}: {actual}, not {expected}");
        }
    }
}

#[test]
fn the_base_score_is_a_margin_and_dropped_trees_have_weights() {
    let base = |text: &str| scores(&Forest::parse_any("m.json", text).unwrap().truncated(1), &[0.0; 3])[0];
    let half = XGBOOST.replace("1.25E0", "8E-1");
    assert_eq!(base(&half), f64::from(0.8_f32));
    assert!((base(&half.replace("rank:ndcg", "binary:logistic")) - 4_f64.ln()).abs() < 1e-6);
    assert!((base(&half.replace("rank:ndcg", "count:poisson")) - 0.8_f64.ln()).abs() < 1e-6);
    let dart = XGBOOST
        .replace("\"gradient_booster\": {", "\"gradient_booster\": {\"gbtree\": {")
        .replace("\"name\": \"gbtree\"}", "\"name\": \"gbtree\"}, \"name\": \"dart\", \"weight_drop\": [0.5, 0]}");
    let (whole, dart) = (Forest::parse_any("", XGBOOST).unwrap(), Forest::parse_any("", &dart).unwrap());
    let first = whole.trees()[1].value(&[0.0; 3]);
    assert_eq!(scores(&dart, &[0.0; 3])[0], f64::from((1.25 + first / 2.0) as f32));
}

/// XGBoost sends categories of a set right, others left, and missing ones to the side of `default_left`.
#[test]
fn categories_of_xgboost_go_to_their_sides() {
    let categories = |lists: &str, default_left: &str| {
        let root = format!("{{{lists}, \"default_left\": [{default_left}, 0, 0, 0, 0, 0, 0], \"id\": 0");
        let text = XGBOOST.replacen("{\"default_left\": [1, 0, 0, 0, 0, 0, 0], \"id\": 0", &root, 1);
        Forest::parse_any("m.json", &text.replacen("\"split_type\": [0,", "\"split_type\": [1,", 1))
    };
    let lists = "\"categories\": [0, 2, 33], \"categories_nodes\": [0], \"categories_segments\": [0], \"categories_sizes\": [3]";
    for (default_left, missing_right) in [("1", false), ("0", true)] {
        let forest = categories(lists, default_left).unwrap();
        for forest in [Forest::parse(&forest.to_text()).unwrap(), forest] {
            let tree = &forest.trees()[1];
            let cases =
                [(0.0, true), (1.0, false), (2.5, true), (33.0, true), (64.0, false), (-3.0, false), (1e9, false)];
            for (category, right) in cases.into_iter().chain([(N, missing_right)]) {
                let branch = &tree.branches()[0];
                // Sides are swapped.
                assert_eq!(branch.rule.goes_left(category), right, "{category}, default_left {default_left}");
                let row = [category, 0.0, 0.0];
                let single = Forest::from_trees(3, vec![tree.clone()]).unwrap();
                assert_eq!(scores(&single, &row)[0], tree.value(&row));
            }
        }
    }
    for (from, to, expected) in [
        ("\"categories_nodes\": [0]", "\"categories_nodes\": [1]", "node 0 has no set of categories"),
        ("[3]", "[4]", "the categories of node 0 are truncated"),
        ("33", "16777216", "node 0 has category 16777216: the largest is 16777215"),
    ] {
        let error = categories(&lists.replace(from, to), "1").unwrap_err().to_string();
        assert!(error.starts_with(&format!("m.json: tree 0: {expected}: the file is damaged")), "{error}");
    }
}

#[test]
fn xgboost_models_that_are_not_supported_or_damaged_are_refused() {
    let refused = |from: &str, to: &str| {
        assert!(XGBOOST.contains(from), "{from}");
        Forest::parse_any("m.json", &XGBOOST.replacen(from, to, 1)).unwrap_err().to_string()
    };
    let cases = [
        (
            "\"num_class\": \"0\"",
            "\"num_class\": \"3\"",
            "m.json: num_class is 3: a ranking model has one score per document",
        ),
        ("\"name\": \"gbtree\"", "\"name\": \"gblinear\"", "m.json: model of kind gblinear: only trees are supported"),
        ("[1.25E0]", "[1,2]", "m.json: bad base_score '[1,2]'"),
        ("[1, 3, 5, -1,", "[1, 3, 0, -1,", "m.json: tree 0: more than one path leads to node 0"),
        ("[1, 3, 5, -1,", "[1, 3, 99, -1,", "m.json: tree 0: there is no node 99"),
        ("[2, 4, 6, -1,", "[2, 4, 6, 7, -1,", "m.json: tree 0: its lists are empty or have different lengths"),
        ("\"split_type\": [0,", "\"split_type\": [1,", "m.json: tree 0: node 0 has no set of categories"),
        ("\"split_type\": [0,", "\"split_type\": [2,", "m.json: tree 0: node 0 has the unknown split_type 2"),
        ("[0, 2, 0, 0, 0]", "[0, 3, 0, 0, 0]", "m.json: tree 1: node 1 splits column 3 (from 0) of 3 features"),
        ("\"attributes\": {}", "\"attributes\": {\"best_iteration\": \"-1\"}", "m.json: bad best_iteration '-1'"),
        ("{\"learner\"", "{\"learners\"", "m.json:1: not an XGBoost model: missing field `learner`"),
    ];
    for (from, to, expected) in cases {
        let actual = refused(from, to);
        assert!(actual.starts_with(expected), "{from} -> {to}: {actual}");
    }
    for end in 0..XGBOOST.trim_end().len() {
        assert!(Forest::parse_any("m.json", &XGBOOST[..end]).is_err(), "{end} bytes");
    }
}
