//! Stored runs of experiments are never discarded silently.

use crate::support::{Place, Ran, signal};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const NAME: &str = "lambdarank-cubic";
/// A run of the quick experiment.
const KEY: &str = "lambdarank linear function 0";

/// All runs of the quick experiment.
fn keys() -> Vec<String> {
    let mut all = vec![];
    for function in 0..2 {
        for method in ["lambdarank", "ranknet"] {
            all.push(format!("shuffled {method} linear function {function}"));
            for net in ["linear", "twolayer"] {
                all.push(format!("plain gains {method} {net} function {function}"));
                all.push(format!("{method} {net} function {function}"));
            }
        }
    }
    all
}

/// A run with these values on the test queries.
fn run_with(test: Value) -> Value {
    json!({
        "learning_rate": 0.1, "trials": [], "full": [], "best_epoch": 1, "epochs": 2, "restarts": 0, "valid": 0.5, "test": test,
    })
}

fn results(place: &Place) -> PathBuf {
    place.path().join("target/quick/experiments/results").join(NAME)
}

/// Starts the experiment and waits until its folder exists.
fn started(place: &Place) -> Child {
    let mut command = place.command(&format!("{NAME} --quick"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let start = Instant::now();
    while !results(place).join("times.json").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "no results in a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

/// A folder with results of a killed experiment that has these runs.
fn stored(runs: &[(&str, Value)]) -> (Place, Vec<u8>) {
    let place = Place::new(&[]);
    let mut child = started(&place);
    child.kill().and_then(|()| child.wait()).expect("killed");
    let path = results(&place).join("results.json");
    let mut all: Value = serde_json::from_slice(&fs::read(&path).expect("results")).expect("JSON");
    all["runs"] = runs.iter().map(|(key, run)| (key.to_string(), run.clone())).collect();
    let text = all.to_string().into_bytes();
    fs::write(&path, &text).expect("written");
    (place, text)
}

/// The error of a run that must fail without changing the file.
fn refused(place: &Place, arguments: &str, file: &[u8]) -> String {
    let ran = place.run(arguments);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    assert!(!ran.err.lines().any(|line| line.starts_with("thread")), "{}", ran.err);
    assert!(fs::read(results(place).join("results.json")).expect("results") == file, "the file was changed");
    let error = ran.err.lines().find(|line| line.starts_with("error: ")).expect("an error").to_owned();
    assert!(error.contains("results.json") && error.contains("--fresh"), "{error}");
    error
}

#[test]
fn another_seed_does_not_discard_what_is_stored() {
    let (place, file) = stored(&[("x", json!({"value": 1}))]);
    let error = refused(&place, &format!("{NAME} --quick --seed 2"), &file);
    assert!(error.contains("its 1 runs are of seed 1, not 2"), "{error}");
}

#[test]
fn reports_of_an_earlier_protocol_stay() {
    let (place, file) = stored(&[("x", json!({"value": 1}))]);
    let mut all: Value = serde_json::from_slice(&file).expect("JSON");
    all["protocol"]["epochs of an earlier version"] = json!(3);
    let path = results(&place).join("results.json");
    fs::write(&path, all.to_string()).expect("written");
    let ran = place.run(&format!("{NAME} --quick --stored"));
    assert!(ran.code == Some(0) && ran.err.contains("the report stays, of 1 run with an earlier protocol"), "{ran:?}");
    assert_eq!(fs::read_to_string(&path).expect("results"), all.to_string());
    let error = refused(&place, &format!("{NAME} --quick"), all.to_string().as_bytes());
    assert!(error.contains("epochs of an earlier version"), "{error}");
    let never = Place::new(&[]).run(&format!("{NAME} --quick --stored"));
    assert!(never.code == Some(0) && never.err.contains("not run yet"), "{never:?}");
}

#[test]
fn a_truncated_file_is_refused_and_kept() {
    let (place, file) = stored(&[("x", json!({"value": 1}))]);
    let half = &file[..file.len() / 2];
    fs::write(results(&place).join("results.json"), half).expect("written");
    let error = refused(&place, &format!("{NAME} --quick"), half);
    assert!(error.contains("damaged"), "{error}");
    // The index is written and reports it.
    assert_eq!(place.run("index --quick").code, Some(0));
    let index = place.read("target/quick/experiments/README.md");
    assert!(index.contains("its results.json is damaged"), "{index}");
}

#[test]
fn impossible_runs_are_refused_and_kept() {
    let (place, file) = stored(&[(KEY, run_with(json!([1e300])))]);
    let error = refused(&place, &format!("{NAME} --quick"), &file);
    assert!(error.contains(KEY) && error.contains("has an impossible result"), "{error}");
    // Finite, but not an NDCG.
    let (place, file) = stored(&[(KEY, run_with(json!([7.0])))]);
    let error = refused(&place, &format!("{NAME} --quick"), &file);
    assert!(error.contains(KEY) && error.contains("a test NDCG is 7, not from 0 to 1"), "{error}");
    let (place, file) = stored(&[(KEY, json!({"test": "much"}))]);
    let error = refused(&place, &format!("{NAME} --quick"), &file);
    assert!(error.contains(KEY) && error.contains("has an impossible result"), "{error}");
}

#[test]
fn runs_without_a_possible_report_are_an_error_not_a_panic() {
    let keys = keys();
    let runs: Vec<(&str, Value)> = keys.iter().map(|key| (key.as_str(), run_with(json!([])))).collect();
    let (place, file) = stored(&runs);
    let error = refused(&place, &format!("{NAME} --quick"), &file);
    assert!(error.contains("no report can be made from its runs"), "{error}");
}

#[test]
fn damaged_times_cost_no_run() {
    let (place, _) = stored(&[("x", json!({"value": 1}))]);
    let times = results(&place).join("times.json");
    for damaged in ["{", r#"{"wall_seconds": -1, "runs": {}}"#] {
        fs::write(&times, damaged).expect("written");
        let ran = place.run(&format!("{NAME} --quick"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
        assert!(
            ran.err.contains("times.json: damaged") && ran.err.contains("remove it; only the times"),
            "{}",
            ran.err
        );
        assert!(!ran.err.contains("--fresh"), "{}", ran.err);
        assert_eq!(fs::read_to_string(&times).expect("times"), damaged);
    }
}

#[test]
fn times_of_another_machine_are_not_overwritten() {
    let place = Place::new(&[]);
    let stored = results(&place).with_file_name("speed");
    fs::create_dir_all(&stored).expect("a folder");
    let file = json!({
        "experiment": "speed", "scale": "quick", "seed": 1, "backend": "flex", "protocol": {"machine": "another"},
        "outcome": null, "runs": {"read": {"seconds": 1}},
    });
    fs::write(stored.join("results.json"), file.to_string()).expect("written");
    let ran = place.run("speed --quick");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.err.contains("machine") && ran.err.contains("--out DIR") && ran.err.contains("--fresh"), "{}", ran.err);
    assert_eq!(fs::read_to_string(stored.join("results.json")).expect("results"), file.to_string());
}

#[test]
fn a_second_process_is_refused() {
    let place = Place::new(&[]);
    let mut first = started(&place);
    let second = place.run(&format!("{NAME} --quick"));
    let still = first.try_wait().expect("a state").is_none();
    first.kill().and_then(|()| first.wait()).expect("killed");
    if still {
        assert_eq!(second.code, Some(1), "{second:?}");
        let error = second.err.lines().last().unwrap_or_default();
        assert!(error.starts_with("error: ") && error.contains("another process is using this folder"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_130_and_leaves_nothing_half_written() {
    let place = Place::new(&[]);
    let child = started(&place);
    signal(&child, "INT");
    let ran = Ran::of(child.wait_with_output().expect("the program ends"));
    assert_eq!(ran.code, Some(130), "{ran:?}");
    let names = fs::read_dir(results(&place)).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    assert!(names.iter().all(|name| !name.starts_with('.') && !name.ends_with(".new")), "{names:?}");
}

#[test]
fn usage_errors_differ_from_bad_data() {
    let place = Place::new(&[]);
    for (line, expected) in [
        ("lambdarank-cubi", "did you mean 'lambdarank-cubic'?"),
        ("nonsense", "expected list, all, index, per-query, "),
        ("lambdarank-cubic --quick --device abacus", "unknown device 'abacus'"),
    ] {
        let ran = place.run(line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.err.starts_with("error: ") && ran.err.contains(expected), "{}", ran.err);
    }
    assert!(place.list().is_empty());
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let place = Place::new(&[]);
    let mut child = place.command("list").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    drop(child.stdout.take());
    let ran = Ran::of(child.wait_with_output().expect("the program ends"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}
