//! Saving, loading, damage, and protection of other files.

use super::checksum;
use super::info::{FORMAT, ModelInfo};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::data::scale::Scaler;
use crate::device;
use crate::model::{Activation, KernelKind, KernelRanker, Model, RankerConfig, Scorer};
use burn::tensor::Device;
use serde_json::json;
use std::fs;
use std::path::Path;

fn cpu() -> Device {
    device::open("auto").unwrap()
}

fn data() -> Dataset {
    let features = vec![1.0, 2.0, 4.0, 3.0, 0.5, -1.0];
    Dataset::new(2, features, vec![0.0, 1.0, 2.0], vec![("a".into(), 3)]).unwrap()
}

fn model(weights: &[Vec<f32>]) -> Model {
    let shape = RankerConfig::mlp(2, &[2], Activation::Tanh);
    let info = ModelInfo::new(shape.clone(), Scaler::fit(ScaleKind::ZScore, &data()), "ranknet");
    Model { scorer: Scorer::Net(shape.from_weights(weights, &cpu()).unwrap()), info, history: vec![] }
}

fn good() -> Model {
    model(&[vec![1.0, -2.0, 0.5, 0.25], vec![0.1, 0.2], vec![1.0, -1.0]])
}

/// Changes `model.json`.
fn change(folder: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let path = folder.join("model.json");
    let mut value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut value);
    fs::write(&path, serde_json::to_string(&value).unwrap()).unwrap();
}

/// A sum of kernels.
fn kernels() -> Model {
    let points = vec![0.1, -0.2, 1.0, 1.0 / 3.0];
    let ranker = KernelRanker::new(2, KernelKind::Gaussian { gamma: 0.1 }, points, vec![], vec![2.0, -0.7]).unwrap();
    let info = ModelInfo::new(ranker.config(), Scaler::fit(ScaleKind::ZScore, &data()), "by hand");
    Model { scorer: Scorer::Kernel(ranker), info, history: vec![] }
}

#[test]
fn a_sum_of_kernels_is_saved_and_loads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let model = kernels();
    model.save(&path).unwrap();
    let back = Model::load(&path, &cpu()).unwrap();
    assert_eq!(back.info.format, FORMAT);
    assert_eq!(back.score(&data()).unwrap(), model.score(&data()).unwrap());
    assert!(
        fs::read_to_string(path.join("README.md")).unwrap().contains("`kernel.json` contains the points and weights")
    );
    // No files of the previous model are left.
    good().save(&path).unwrap();
    assert!(!path.join("kernel.json").exists());
    model.save(&path).unwrap();
    assert!(!path.join("model.bpk").exists());

    let json = fs::read_to_string(path.join("kernel.json")).unwrap();
    fs::write(path.join("kernel.json"), json.replace("-0.7", "-0.8")).unwrap();
    assert!(Model::load(&path, &cpu()).unwrap_err().to_string().contains("damaged"));
    fs::write(path.join("kernel.json"), json).unwrap();
    change(&path, |value| value["ranker"]["architecture"]["points"] = json!(3));
    assert!(Model::load(&path, &cpu()).unwrap_err().to_string().contains("damaged"));
}

#[test]
fn the_checksum_covers_everything_that_decides_scores() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let changes: [fn(&mut serde_json::Value); 6] = [
        |value| value["ranker"]["architecture"]["activation"] = json!("relu"),
        |value| value["scaler"]["kind"] = json!("minmax"),
        |value| value["scaler"]["center"][0] = json!(1.8333333333333337),
        |value| value["scaler"]["spread"][1] = json!(2.0),
        |value| value["checksum"] = json!("0000000000000000"),
        |value| {
            value["ranker"] =
                json!({"features": 2, "architecture": {"kind": "mlp", "hidden": 2, "activation": "sigmoid"}})
        },
    ];
    for change_it in changes {
        good().save(&path).unwrap();
        let before = fs::read(path.join("model.json")).unwrap();
        change(&path, change_it);
        assert_ne!(before, fs::read(path.join("model.json")).unwrap());
        let error = Model::load(&path, &cpu()).unwrap_err().to_string();
        assert!(error.contains("model.bpk: damaged") && error.contains("train again"), "{error}");
    }
    // Formatting and descriptive fields do not matter.
    good().save(&path).unwrap();
    change(&path, |value| value["conventions"] = json!("other"));
    let scores = Model::load(&path, &cpu()).unwrap().score(&data()).unwrap();
    assert_eq!(scores, good().score(&data()).unwrap());
}

#[test]
fn sizes_are_compared_before_memory_is_allocated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    for features in [100_000_000, 1 << 62, u64::MAX] {
        good().save(&path).unwrap();
        change(&path, |value| {
            value["ranker"]["features"] = json!(features);
            value["scaler"] = json!({"kind": "none", "width": features, "center": [], "spread": []});
        });
        let error = Model::load(&path, &cpu()).unwrap_err().to_string();
        assert!(error.contains("model.bpk: ") && error.contains(&features.to_string()), "{error}");
    }
    good().save(&path).unwrap();
    change(&path, |value| value["ranker"]["architecture"]["hidden"] = json!(1_000_000));
    assert!(Model::load(&path, &cpu()).unwrap_err().to_string().contains("1000000 hidden units"));
}

#[test]
fn numbers_that_are_not_finite_are_neither_saved_nor_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    for bad in [f32::NAN, f32::INFINITY] {
        let model = model(&[vec![1.0, -2.0, 0.5, 0.25], vec![0.1, bad], vec![1.0, -1.0]]);
        assert!(model.save(&path).unwrap_err().to_string().contains("not finite"));
        assert!(!path.exists());
        // As written by a program without that check.
        good().save(&path).unwrap();
        let record = model.scorer.to_bytes().unwrap();
        let sum = checksum::of(&model.info, &record);
        fs::write(path.join("model.bpk"), record).unwrap();
        change(&path, |value| value["checksum"] = json!(sum));
        assert!(Model::load(&path, &cpu()).unwrap_err().to_string().contains("infinite or not a number"));
        fs::remove_dir_all(&path).unwrap();
    }
    let mut model = good();
    model.info.metrics.entry("test".into()).or_default().insert("ndcg".into(), f64::NAN);
    model.save(&path).unwrap();
    Model::load(&path, &cpu()).unwrap();
}

#[test]
fn only_folders_with_nothing_but_a_model_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let refused = |name: &str| {
        let error = good().save(&path).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("nothing was overwritten"), "{error}");
    };
    fs::create_dir(&path).unwrap();
    fs::write(path.join("model.json"), r#"{"name": "a web application"}"#).unwrap();
    refused("not a model");
    fs::write(path.join("model.json"), r#"{"format": 1}"#).unwrap();
    refused("not a model");
    fs::remove_file(path.join("model.json")).unwrap();
    good().save(&path).unwrap();
    good().save(&path).unwrap();
    fs::write(path.join("thesis.txt"), "ten years of work").unwrap();
    refused("thesis.txt");
    fs::remove_file(path.join("thesis.txt")).unwrap();
    fs::create_dir(path.join("training.jsonl")).unwrap();
    refused("training.jsonl");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_reader_sees_one_model_while_the_folder_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let other = model(&[vec![9.0, 8.0, 7.0, 6.0], vec![5.0, 4.0], vec![3.0, 2.0]]);
    good().save(&path).unwrap();
    let expected = [&good(), &other].map(|model| model.score(&data()).unwrap());
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for turn in 0..30 {
                let model = if turn % 2 == 0 { other.clone() } else { good() };
                model.save(&path).unwrap();
            }
        });
        while !writer.is_finished() {
            let scores = Model::load(&path, &cpu()).unwrap().score(&data()).unwrap();
            assert!(expected.contains(&scores), "{scores:?}");
        }
    });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_net_of_several_hidden_layers_is_saved_and_loads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let shape = RankerConfig::mlp(2, &[4, 3, 2], Activation::Tanh);
    let ranker = shape.init(crate::model::Init::Burn, 6, &cpu()).unwrap();
    let info = ModelInfo::new(shape.clone(), Scaler::fit(ScaleKind::ZScore, &data()), "ranknet");
    let deep = Model { scorer: Scorer::Net(ranker), info, history: vec![] };
    deep.save(&path).unwrap();
    let loaded = Model::load(&path, &cpu()).unwrap();
    assert_eq!(loaded.info.ranker, shape);
    assert_eq!(loaded.score(&data()).unwrap(), deep.score(&data()).unwrap());
    let card = fs::read_to_string(path.join("README.md")).unwrap();
    assert!(card.contains("A four-layer net, 4, 3 and 2 tanh hidden units over 2 features"), "{card}");
    let record = fs::read(path.join("model.bpk")).unwrap();
    loaded.save(&path).unwrap();
    assert!(fs::read(path.join("model.bpk")).unwrap() == record, "equal weights, different record");

    // Other layers, with the same number of weights or too many for any memory.
    for hidden in [json!([4, 2, 3]), json!([4, 3]), json!(4), json!([65_536, 65_536, 65_536])] {
        fs::remove_dir_all(&path).unwrap();
        deep.save(&path).unwrap();
        change(&path, |value| value["ranker"]["architecture"]["hidden"] = hidden.clone());
        let error = Model::load(&path, &cpu()).unwrap_err().to_string();
        assert!(error.contains("model.bpk: damaged"), "{hidden}: {error}");
    }
    for hidden in [json!([]), json!([4, 0]), json!([4, -1]), json!("4"), json!(null)] {
        // The folder of a damaged model is not replaced.
        fs::remove_dir_all(&path).unwrap();
        deep.save(&path).unwrap();
        change(&path, |value| value["ranker"]["architecture"]["hidden"] = hidden.clone());
        let error = Model::load(&path, &cpu()).unwrap_err().to_string();
        assert!(error.contains("model.json: damaged") && error.contains("hidden"), "{hidden}: {error}");
    }
    let mut weights =
        vec![vec![1.0; 8], vec![0.0; 4], vec![1.0; 12], vec![0.0; 3], vec![1.0; 6], vec![0.0; 2], vec![1.0; 2]];
    weights[4][5] = f32::INFINITY;
    let infinite =
        Model { scorer: Scorer::Net(shape.from_weights(&weights, &cpu()).unwrap()), info: deep.info, history: vec![] };
    fs::remove_dir_all(&path).unwrap();
    assert!(infinite.save(&path).unwrap_err().to_string().contains("not finite"));
}

#[test]
fn the_checksum_covers_quantiles_and_other_formats_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let mut model = good();
    model.info.scaler = Scaler::fit(ScaleKind::Quantile, &data());
    model.save(&path).unwrap();
    let back = Model::load(&path, &cpu()).unwrap();
    assert_eq!(back.info.scaler, model.info.scaler);
    assert_eq!(back.score(&data()).unwrap(), model.score(&data()).unwrap());

    change(&path, |value| value["scaler"]["knots"][0] = json!(0.25));
    assert!(Model::load(&path, &cpu()).unwrap_err().to_string().contains("model.bpk: damaged"));
    change(&path, |value| value["scaler"]["knots"][0] = json!(1e30));
    let error = Model::load(&path, &cpu()).unwrap_err().to_string();
    assert!(error.contains("model.json: damaged") && error.contains("62 knots"), "{error}");
    for format in [0, FORMAT + 1] {
        change(&path, |value| value["format"] = json!(format));
        let error = Model::load(&path, &cpu()).unwrap_err().to_string();
        assert!(error.contains(&format!("format {format}, but this burnrank reads format 1")), "{error}");
    }
}
