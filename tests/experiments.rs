//! The experiments program, seen from outside: it lists, it runs, it goes on where it was, to the same bytes.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn experiments(args: &[&str], out: &Path) -> Output {
    let program = env!("CARGO_BIN_EXE_experiments");
    let output = Command::new(program).args(args).current_dir(out).env_remove("BURNRANK_DATA").output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

#[test]
fn list_names_every_experiment_with_paper_claim_and_time() {
    let folder = tempfile::tempdir().unwrap();
    let text = String::from_utf8(experiments(&["list"], folder.path()).stdout).unwrap();
    for name in ["ranknet-table1", "lambdarank-cubic", "lambdaloss-table3"] {
        assert!(text.lines().any(|line| line == name), "{name}");
    }
    for word in ["paper:", "claim:", "time:"] {
        assert_eq!(text.matches(&format!("  {word}")).count(), 3, "{word}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "list writes nothing");
}

#[test]
fn an_unknown_name_is_refused_with_the_known_ones() {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_experiments");
    let output = Command::new(program).arg("ranknet-table2").current_dir(folder.path()).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("ranknet-table1"));
}

#[test]
fn a_quick_run_writes_its_files_and_an_interrupted_one_ends_in_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["ranknet-table1", "--quick", "--seed", "3", "--jobs", "2"];
    let text = String::from_utf8(experiments(&args, folder.path()).stdout).unwrap();
    let base = folder.path().join("target/quick");
    let results = base.join("experiments/results/ranknet-table1");
    let whole = std::fs::read_to_string(results.join("results.json")).unwrap();
    let parsed: Value = serde_json::from_str(&whole).unwrap();
    let verdict = parsed["outcome"]["verdict"].as_str().unwrap();
    assert!(text.contains(&format!("ranknet-table1: {verdict}")), "{text}");
    assert!(std::fs::read_to_string(results.join("figure.svg")).unwrap().contains("training vectors"));
    let page = std::fs::read_to_string(results.join("README.md")).unwrap();
    assert!(page.starts_with(&format!("# ranknet-table1: {verdict}")), "{page}");
    let index = std::fs::read_to_string(base.join("experiments/README.md")).unwrap();
    assert!(index.contains("ranknet-table1/README.md") && index.contains("not run yet"), "{index}");
    assert!(base.join("models/ranknet-table1-net/model.bpk").is_file());
    // A linear net learns a random net's order far above chance, and never all of it.
    let linear = parsed["runs"]["net linear sigmoid 2500 function 0"]["all_pairs"].as_f64().unwrap();
    assert!((85.0..95.0).contains(&linear), "{linear}");

    // As if the program had been killed after every other run: the rest comes out the same, on another number of threads.
    let mut cut = parsed.clone();
    cut["outcome"] = Value::Null;
    let runs = cut["runs"].as_object_mut().unwrap();
    let keys: Vec<String> = runs.keys().step_by(2).cloned().collect();
    keys.iter().for_each(|key| drop(runs.remove(key)));
    std::fs::write(results.join("results.json"), cut.to_string()).unwrap();
    let again = experiments(&["ranknet-table1", "--quick", "--seed", "3", "--jobs", "1"], folder.path());
    let told = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(
        told.contains(&format!("of {} runs are there from before", parsed["runs"].as_object().unwrap().len())),
        "{told}"
    );
    assert_eq!(std::fs::read_to_string(results.join("results.json")).unwrap(), whole);
}
