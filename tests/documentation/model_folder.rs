//! docs/model-folder.md lists exactly the fields that are written.

use crate::support::Place;
use burnrank::data::Preprocessing;
use burnrank::model::{DataInfo, ExportTarget, MemberInfo, RunInfo};
use burnrank::setting::{BaselineSettings, Method, MissingValues, Skip, TreeSettings};
use burnrank::{
    Activation, Architecture, Dataset, EpochRecord, Finish, ModelInfo, RankerConfig, ScaleKind, TrainConfig,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = include_str!("../../docs/model-folder.md");

/// Objects whose keys are data.
const FREE: [&str; 4] = ["data", "metrics", "metrics.*", "settings.method.baseline.numbers"];

/// Returns the row of each field of a section.
fn rows(section: &str) -> BTreeMap<&'static str, &'static str> {
    let (_, text) = PAGE.split_once(&format!("\n## {section}\n")).expect("the page has the section");
    let text = text.split("\n## ").next().unwrap_or_default();
    let mut rows = BTreeMap::new();
    for row in text.lines().filter(|line| line.starts_with("| `")) {
        let first = row.split('|').nth(1).unwrap_or_default();
        first.split('`').skip(1).step_by(2).for_each(|field| _ = rows.insert(field, row));
    }
    rows
}

/// Checks that every field of a value has a row, and collects the fields in `seen`.
fn visit(value: &Value, path: &str, rows: &BTreeMap<&str, &str>, seen: &mut BTreeSet<String>) {
    if let Some(row) = rows.get(path) {
        seen.insert(path.to_owned());
        let Value::Object(fields) = value else { return };
        let same = row.split_once("with the fields of `").and_then(|(_, rest)| rest.split('`').next());
        if let Some(same) = same {
            return fields.iter().for_each(|(key, value)| visit(value, &format!("{same}.{key}"), rows, seen));
        }
        if !row.contains("see below") {
            let absent: Vec<&String> = fields.keys().filter(|key| !row.contains(&format!("`{key}`"))).collect();
            return assert!(absent.is_empty(), "the row of {path} lacks {absent:?}");
        }
    }
    let joined = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            visit(value, &joined(if FREE.contains(&path) { "*" } else { key }), rows, seen);
        }),
        Value::Array(list) if list.iter().any(Value::is_object) => {
            list.iter().for_each(|value| visit(value, &format!("{path}[]"), rows, seen));
        }
        _ => assert!(rows.contains_key(path), "the page lacks {path}"),
    }
}

/// Returns a description with every field that an architecture can have.
fn info(architecture: Architecture, scaling: ScaleKind, method: Method) -> ModelInfo {
    let data = Dataset::new(2, vec![1.0, f32::NAN, 4.0, 3.0], vec![0.0, 1.0], vec![("a".into(), 2)]).unwrap();
    let is_encoded = scaling == ScaleKind::Piecewise;
    let ranker = RankerConfig { skip: is_encoded, ..RankerConfig::new(2, architecture.clone()) };
    let categorical = vec!["2".to_owned()];
    let mut config = TrainConfig {
        architecture,
        scaling,
        method,
        shares: 2,
        target: ExportTarget::Onnx,
        categorical,
        ..TrainConfig::default()
    };
    if is_encoded {
        (config.scale_bins, config.skip, config.average_weights) = (8, Skip::Linear, 0.99);
    }
    let settings = serde_json::to_value(config).unwrap();
    let scaler = Preprocessing { categorical: vec![0], ..scaling.into() }.fit(&data).unwrap();
    let mut info = ModelInfo::new(ranker.clone(), scaler, "ranknet");
    info.settings = settings.clone();
    info.sparse_missing = true;
    let part = DataInfo { file: Some("train.txt".into()), ..DataInfo::of("train.txt, 4 in 5 queries", &data) };
    info.data.insert("train".into(), part);
    info.metrics.entry("valid".into()).or_default().insert("ndcg@10".into(), 0.5);
    info.run = Some(RunInfo { identity: "0".into(), finish: Finish::Patience, best_value: Some(0.5) });
    info.feature_names = vec!["a".into(), "b".into()];
    info.members.push(MemberInfo {
        objective: "ranknet".into(),
        architecture: ranker.architecture,
        seed: Some(1),
        best_epoch: 1,
        best_value: Some(0.5),
        finish: Some(Finish::Epochs),
        factor: 1.0,
        settings,
    });
    info
}

#[test]
fn the_page_lists_every_field_of_a_model() {
    let page = rows("model.json");
    let mut seen = BTreeSet::new();
    let trees = TreeSettings {
        min_data: 1,
        min_hessian: 1.0,
        bins: 255,
        subsample: 1.0,
        feature_fraction: 1.0,
        missing: MissingValues::Zero,
    };
    let baseline = BaselineSettings { name: "ranksvm".into(), numbers: BTreeMap::from([("c".into(), 1.0)]) };
    let mlp = Architecture::Mlp { hidden: vec![3], activation: Activation::Tanh };
    for info in [
        info(mlp.clone(), ScaleKind::Quantile, Method::Gradient),
        info(mlp, ScaleKind::Piecewise, Method::Gradient),
        info(Architecture::Trees { trees: 3, leaves: 4 }, ScaleKind::None, Method::Boosting(trees)),
        info(Architecture::Kernel { points: 2 }, ScaleKind::ZScore, Method::Baseline(baseline)),
    ] {
        visit(&serde_json::to_value(info).unwrap(), "", &page, &mut seen);
    }
    let place = Place::new(&[]);
    place.run("generate net --queries 12 --documents 6 --features 3 --out a.txt").good();
    place.run("train --train a.txt --trials 2 --scale zscore --out model --quiet").good();
    visit(&serde_json::from_str(&place.read("model/model.json")).unwrap(), "", &page, &mut seen);
    let stale: Vec<&&str> = page.keys().filter(|field| !seen.contains(**field)).collect();
    assert!(stale.is_empty(), "the page lists {stale:?}, which no model has");
}

#[test]
fn the_page_lists_every_field_of_the_training_log() {
    let record = EpochRecord {
        epoch: 1,
        member: Some(0),
        setting: Some("linear".into()),
        setting_run: Some(1),
        restart: 0,
        loss: 0.5,
        train: 0.5,
        valid: 0.5,
        best: true,
        learning_rate: 0.1,
        effective_pairs: 1,
        saturated_pairs: 0,
        seconds: 0.1,
    };
    let mut fields = json!(record).as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let mut page: Vec<&str> = rows("training.jsonl").into_keys().collect();
    fields.sort();
    page.sort_unstable();
    assert_eq!(page, fields);
}
