//! The experiments program, seen from outside: it lists, it runs, it goes on where it was, to the same bytes.

#[path = "experiments/hard_use.rs"]
mod hard_use;
#[path = "../../tests/support/mod.rs"]
mod support;
#[cfg(feature = "trees")]
#[path = "experiments/web.rs"]
mod web;

use serde_json::Value;
use support::{Place, Ran};

/// A run that must have gone well.
fn done(place: &Place, arguments: &str) -> Ran {
    let ran = place.run(arguments);
    assert_eq!(ran.code, Some(0), "{arguments}: {ran:?}");
    ran
}

#[test]
fn list_names_every_experiment_with_paper_claim_and_time() {
    let place = Place::new(&[]);
    let text = place.run("list").good();
    let names: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with(' ')).collect();
    for name in ["ranknet-table1", "ranknet-table2", "lambdaloss-table3", "systems"] {
        assert!(names.contains(&name), "{name}");
    }
    assert!((1..names.len()).all(|n| !names[..n].contains(&names[n])), "a name stands twice: {names:?}");
    for word in ["paper:", "claim:", "time:"] {
        let lines = text.lines().filter(|line| line.trim_start().starts_with(word));
        assert_eq!(lines.count(), names.len(), "{word}");
    }
    assert!(place.list().is_empty(), "list writes nothing");
}

#[test]
fn an_unknown_name_is_refused_with_the_known_ones() {
    let place = Place::new(&[]);
    assert!(place.run("ranknet-tabel1").bad(2).contains("did you mean 'ranknet-table1'?"));
    let all = place.run("nothing-of-the-kind-at-all").bad(2);
    assert!(["list", "per-query", "ranknet-table1", "systems"].iter().all(|name| all.contains(name)), "{all}");
}

#[test]
fn a_quick_run_writes_its_files_and_an_interrupted_one_ends_in_the_same_bytes() {
    let place = Place::new(&[]);
    let text = done(&place, "ranknet-table1 --quick --seed 3 --jobs 2").out;
    let base = place.path().join("target/quick");
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
    let linear = parsed["runs"]["net linear tanh 2500 function 0"]["test"]["percent"].as_f64().unwrap();
    assert!((85.0..95.0).contains(&linear), "{linear}");

    // As if the program had been killed after every other run: the rest comes out the same, on another number of threads.
    let mut cut = parsed.clone();
    cut["outcome"] = Value::Null;
    let runs = cut["runs"].as_object_mut().unwrap();
    let keys: Vec<String> = runs.keys().step_by(2).cloned().collect();
    keys.iter().for_each(|key| drop(runs.remove(key)));
    std::fs::write(results.join("results.json"), cut.to_string()).unwrap();
    let log = done(&place, "ranknet-table1 --quick --seed 3 --jobs 1").err;
    assert!(log.contains(&format!("of {} runs are stored", parsed["runs"].as_object().unwrap().len())), "{log}");
    assert_eq!(std::fs::read_to_string(results.join("results.json")).unwrap(), whole);
}

#[test]
fn a_quick_benchmark_writes_every_row_with_numbers_that_make_sense() {
    let place = Place::new(&[]);
    let text = done(&place, "speed --quick").out;
    let results = place.path().join("target/quick/experiments/results/speed");
    let parsed: Value = serde_json::from_str(&std::fs::read_to_string(results.join("results.json")).unwrap()).unwrap();
    let runs = parsed["runs"].as_object().unwrap();
    let positive = |what: &str, value: &Value| {
        let number = value.as_f64().unwrap_or(f64::NAN);
        assert!(number.is_finite() && number > 0.0, "{what}: {value}");
    };
    // Every objective on both paths, V1, and everything that is not an epoch.
    let objectives =
        ["ranknet", "lambdarank:ndcg", "lambdarank:ndcg@10", "lambdarank:map", "lambdarank:mrr", "ndcg-loss2++"];
    for objective in objectives {
        for path in ["lambda", "tensor"] {
            let rows = runs.iter().filter(|(key, _)| key.starts_with(&format!("epoch {objective} {path} batch ")));
            assert_eq!(rows.clone().filter(|(_, row)| row["best_batch"] == true).count(), 1, "{objective} {path}");
            rows.for_each(|(key, row)| positive(key, &row["pairs_per_second"]));
        }
        assert!(runs.contains_key(&format!("epoch {objective} lambda batch 1")), "{objective}");
    }
    let others = [
        "read",
        "first batch of a cache",
        "first batch of a cache, quantile",
        "score",
        "evaluate ndcg@10",
        "kernel, one core lambdarank:ndcg",
    ];
    others.iter().for_each(|name| assert!(runs.contains_key(*name), "{name}"));
    assert!(runs.contains_key("epoch lambdarank:ndcg V1 batch 1"));
    for (key, row) in runs.iter().filter(|(_, row)| row.get("task").is_some()) {
        for number in ["seconds", "median_seconds", "repeats", "documents_per_second"] {
            positive(key, &row[number]);
        }
        if row["task"] == "epoch" {
            positive(key, &row["ratio_to_roofline"]);
        }
        if cfg!(target_os = "linux") && row["task"] == "epoch" {
            positive(key, &row["peak_bytes"]);
        }
    }
    positive("memory", &runs["memory"]["feature_bytes"]);
    for limits in runs["roofline"].as_array().unwrap() {
        positive("bandwidth", &limits["bytes_per_second"]);
        positive("multiply-adds", &limits["multiply_adds_per_second"]);
    }
    for objective in ["ranknet", "lambdarank:ndcg", "lambdarank:ndcg@10"] {
        positive(objective, &runs[&format!("long {objective}")]["timing"]["seconds"]);
        assert!(runs[&format!("long {objective}")]["slope"].is_f64(), "{objective}");
    }
    assert_eq!(runs["scaling"].as_array().unwrap().len(), 4);
    for line in runs["scaling"].as_array().unwrap() {
        line["points"].as_array().unwrap().iter().for_each(|point| positive("scaling", &point[1]));
    }
    // Lambdas do not depend on how fast they come: their error is a bound that must hold on any machine.
    let claims = parsed["outcome"]["claims"].as_array().unwrap();
    let error = claims.iter().find(|claim| claim["claim"]["id"] == "error").unwrap();
    assert_eq!(error["outcome"], "confirmed", "{error}");
    // Other tools were not asked for: nothing is claimed of them.
    assert!(claims.iter().all(|claim| !claim["claim"]["statement"].as_str().unwrap().contains("rax")));
    assert!(parsed["protocol"]["machine"]["cores"].as_u64().unwrap() > 0);
    assert!(text.contains("epoch lambdarank:ndcg@10"), "{text}");
    assert!(std::fs::read_to_string(results.join("figure.svg")).unwrap().contains("documents per query"));
    assert!(std::fs::read_to_string(results.join("README.md")).unwrap().starts_with("# speed: "));
}
