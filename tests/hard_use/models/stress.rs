//! Many damaged models and many kills: `cargo test --release --test hard_use -- --ignored`, with their number in BURNRANK_STRESS.

use super::{TRAIN, data, trained};
use crate::support::Place;
use burnrank::{Activation, Dataset, Model, ModelInfo, RankerConfig, ScaleKind, Scaler, Scorer, device};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Default number of repeats; BURNRANK_STRESS sets another.
fn count(usual: usize) -> usize {
    std::env::var("BURNRANK_STRESS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
#[ignore = "takes minutes"]
fn damaged_models_are_refused_or_score_the_same() {
    let mut random = StdRng::seed_from_u64(1);
    let place = trained();
    let folder = place.0.path().join("model");
    let files = ["model.json", "model.bpk"];
    let good = files.map(|name| fs::read(folder.join(name)).expect(name));
    let predict = "predict --model model --data train.txt";
    let expected = place.run(predict).good();
    let mut outcomes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for turn in 0..count(500) {
        files.iter().zip(&good).for_each(|(name, bytes)| fs::write(folder.join(name), bytes).expect(name));
        let which = random.random_range(0..3usize) / 2;
        let (kind, bytes) = damaged(&good[which], which == 0, &mut random);
        fs::write(folder.join(files[which]), &bytes).expect("the damage");
        let ran = place.run(predict);
        let outcome = match ran.code {
            Some(0) => {
                assert!(ran.out == expected, "turn {turn}, {kind}: other scores\n{}", String::from_utf8_lossy(&bytes));
                "the same scores"
            }
            Some(1) => {
                assert!(ran.err.starts_with("error: ") && ran.out.is_empty(), "turn {turn}, {kind}: {ran:?}");
                "refused"
            }
            _ => panic!("turn {turn}, {kind}: {ran:?}\n{}", String::from_utf8_lossy(&bytes)),
        };
        *outcomes.entry((kind, outcome)).or_default() += 1;
    }
    println!("{outcomes:#?}");
}

/// Returns randomly damaged content of a file, and the name of the damage.
fn damaged(good: &[u8], json: bool, random: &mut StdRng) -> (&'static str, Vec<u8>) {
    let mut bytes = good.to_vec();
    let place = random.random_range(0..bytes.len());
    match random.random_range(0..if json { 9 } else { 5 }) {
        0 => {
            bytes[place] ^= 1 << random.random_range(0..8);
            ("a flipped bit", bytes)
        }
        1 => {
            let end = (place + random.random_range(1..20)).min(bytes.len());
            bytes.drain(place..end);
            ("deleted bytes", bytes)
        }
        2 => {
            let more: Vec<u8> = (0..random.random_range(1..20)).map(|_| random.random()).collect();
            bytes.splice(place..place, more);
            ("inserted bytes", bytes)
        }
        3 => {
            bytes.truncate(place);
            ("a cut", bytes)
        }
        4 => {
            let end = (place + random.random_range(1..64)).min(bytes.len());
            bytes[place..end].iter_mut().for_each(|byte| *byte = random.random());
            ("overwritten bytes", bytes)
        }
        5 => {
            let digits: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).collect();
            bytes[digits[random.random_range(0..digits.len())]] = b'0' + random.random_range(0..10u8);
            ("another digit", bytes)
        }
        kind => {
            let mut value: Value = serde_json::from_slice(good).expect("JSON");
            let mut places = Vec::new();
            leaves(&value, String::new(), &mut places);
            let mut any = || places[random.random_range(0..places.len())].clone();
            let (to, from) = (any(), any());
            let new = if kind == 6 { value.pointer(&from).cloned() } else { None };
            let new = new.unwrap_or_else(|| another(random));
            *value.pointer_mut(&to).expect("a place") = new;
            let kind = if kind == 6 { "values exchanged" } else { "another value" };
            (kind, serde_json::to_vec_pretty(&value).expect("JSON"))
        }
    }
}

/// Returns the paths of all leaf values.
fn leaves(value: &Value, path: String, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            leaves(value, format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")), found);
        }),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, value)| leaves(value, format!("{path}/{i}"), found))
        }
        _ => found.push(path),
    }
}

/// Returns a value that a damaged or hostile file may contain.
fn another(random: &mut StdRng) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(2),
        json!(0.5),
        json!(1e308),
        json!(1e-320),
        json!(100_000_000),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(""),
        json!("tanh"),
        json!("relu"),
        json!("sigmoid"),
        json!("linear"),
        json!("mlp"),
        json!("none"),
        json!("zscore"),
        json!("minmax"),
        json!("query-minmax"),
        json!("0000000000000000"),
        json!([]),
        json!({}),
        json!([1.0, 2.0, 3.0]),
    ];
    values[random.random_range(0..values.len())].clone()
}

/// Returns a model with constant weights.
fn constant(weight: f32) -> Model {
    let shape = RankerConfig::mlp(3, &[4], Activation::Tanh);
    let weights = [vec![weight; 12], vec![weight; 4], vec![weight; 4]];
    let device = device::open("auto").expect("a device");
    let nothing = Dataset::new(3, vec![], vec![], vec![]).expect("no data");
    let info = ModelInfo::new(shape.clone(), Scaler::fit(ScaleKind::None, &nothing), "ranknet");
    Model { scorer: Scorer::Net(shape.from_weights(&weights, &device).expect("a ranker")), info, history: vec![] }
}

/// The folder that [`save_without_end`] saves to.
const SAVE_TO: &str = "BURNRANK_STRESS_SAVE_TO";

#[test]
#[ignore = "a part of the next test, which kills it"]
fn save_without_end() {
    let Some(folder) = std::env::var_os(SAVE_TO) else { return };
    loop {
        [0.25, 0.5].iter().for_each(|&weight| constant(weight).save(Path::new(&folder)).expect("a save"));
    }
}

#[test]
#[ignore = "takes minutes"]
fn a_kill_during_replacement_leaves_the_old_or_the_new_model() {
    let mut random = StdRng::seed_from_u64(2);
    let place = Place::new(&[]);
    let folder = place.0.path().join("model");
    let device = device::open("auto").expect("a device");
    constant(0.25).save(&folder).expect("a save");
    let records = [0.25, 0.5].map(|weight| format!("{:?}", constant(weight).scorer));
    let (mut during, kills) = (0, count(50));
    for turn in 0..kills {
        let before = fs::metadata(folder.join("model.json")).and_then(|file| file.modified()).expect("a model");
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--ignored", "--exact", "models::stress::save_without_end"])
            .env(SAVE_TO, &folder)
            .stdout(Stdio::null())
            .spawn()
            .expect("a child");
        // At any moment of a save, from the first one on.
        while fs::metadata(folder.join("model.json")).and_then(|file| file.modified()).is_ok_and(|time| time == before)
        {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_micros(random.random_range(0..20_000)));
        child.kill().expect("a kill");
        child.wait().expect("an end");
        let left = place.list().iter().filter(|name| name.starts_with(".burnrank-new-") && !name.contains('/')).count();
        during += usize::from(left > 0);
        let model = Model::load(&folder, &device).unwrap_or_else(|error| panic!("turn {turn}: {error}"));
        assert!(records.contains(&format!("{:?}", model.scorer)), "turn {turn}");
        if turn % 5 == 0 {
            constant(0.25).save(&folder).expect("a save");
            assert!(place.list().iter().all(|name| name.starts_with("model")), "{:?}", place.list());
        }
    }
    constant(0.25).save(&folder).expect("a save");
    assert!(place.list().iter().all(|name| name.starts_with("model")), "{:?}", place.list());
    println!("{kills} kills, {during} of them during a replacement");
    assert!(during * 4 >= kills, "{during} of {kills} kills were during a replacement");
}

#[test]
#[ignore = "takes minutes"]
fn a_kill_during_training_leaves_the_old_or_the_new_model() {
    let mut random = StdRng::seed_from_u64(3);
    let place = Place::new(&[("train.txt", &data())]);
    let folder = place.0.path().join("model");
    let train = |seed: usize| format!("{TRAIN} --checkpoint-every 0 --out model --force --seed {}", seed % 2);
    let mut records = Vec::new();
    let mut took = Duration::ZERO;
    for seed in 0..2 {
        let start = Instant::now();
        place.run(&train(seed)).good();
        took = start.elapsed();
        records.push(fs::read(folder.join("model.bpk")).expect("a model"));
    }
    let kills = count(50);
    let (mut killed, mut during, mut replaced, mut runs) = (0, 0, 0, 0);
    while killed < kills {
        let before = fs::read(folder.join("model.bpk")).expect("a model");
        let mut child = place.command(&train(runs)).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a run");
        // Most kills are near the end, when the folder is written; the duration is measured on the runs themselves.
        let share = if runs % 4 == 0 { random.random_range(0.0..0.9) } else { random.random_range(0.9..1.05) };
        std::thread::sleep(took.mul_f64(share));
        child.kill().expect("a kill");
        let ended = child.wait().expect("an end").success();
        took = took.mul_f64(if ended { 0.97 } else { 1.01 });
        killed += usize::from(!ended);
        during +=
            usize::from(place.list().iter().any(|name| name.starts_with(".burnrank-new-") && name.ends_with("-model")));
        place.run("info model").good();
        let now = fs::read(folder.join("model.bpk")).expect("a model");
        assert!(records.contains(&now), "run {runs}: neither the old nor the new model");
        replaced += usize::from(now != before);
        if runs % 5 == 0 {
            place.run(&train(runs)).good();
            let files = ["README.md", "model.bpk", "model.json", "training.jsonl"].map(|name| format!("model/{name}"));
            let mut expected: Vec<String> =
                ["model", "train.txt"].map(str::to_owned).into_iter().chain(files).collect();
            expected.sort();
            assert_eq!(place.list(), expected, "run {runs}");
        }
        runs += 1;
    }
    println!("{killed} of {runs} runs killed, {during} of them during a replacement; {replaced} models replaced");
}
