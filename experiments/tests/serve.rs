//! The load test of the server, which only a build with the feature `serve` has.

#[path = "../../tests/support/mod.rs"]
mod support;

use serde_json::Value;
use support::Place;

#[test]
fn a_quick_benchmark_measures_the_server() {
    let place = Place::new(&[]);
    let text = place.run("speed --quick --device flex").done();
    assert!(text.contains("every request was answered"), "{text}");
    assert!(text.contains("burnrank, beside broken clients"), "{text}");
    let results = place.read("target/quick/experiments/results/speed/results.json");
    let results: Value = serde_json::from_str(&results).unwrap();
    let rows = results["runs"]["serve"].as_array().unwrap();
    let python = std::env::var_os("BURNRANK_PYTHON").is_some();
    assert_eq!(rows.len(), if python { 5 } else { 3 }, "{rows:?}");
    for row in rows {
        assert!(row["failed"] == 0 && row["requests"].as_u64() > Some(10), "{row}");
        assert!(row["p50_seconds"].as_f64().unwrap() <= row["p99_seconds"].as_f64().unwrap(), "{row}");
    }
    if !python {
        println!("skipped: BURNRANK_PYTHON names no Python with numpy and onnxruntime");
    }
}

#[test]
fn a_model_that_cannot_be_read_and_a_python_that_is_none_are_errors() {
    let place = Place::new(&[]);
    let ran = place.run("speed --quick --device flex --set model=nothing");
    assert!(ran.code == Some(1) && ran.err.contains("the server did not start"), "{ran:?}");
    assert!(ran.err.contains("nothing"), "{}", ran.err);
    let command = &mut place.command("speed --quick --device flex");
    let ran = support::Ran::of(command.env("BURNRANK_PYTHON", "false").output().unwrap());
    assert!(ran.code == Some(1) && ran.err.contains("BURNRANK_PYTHON must name a Python"), "{ran:?}");
}
