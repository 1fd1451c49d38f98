//! The LambdaLoss paper's own protocol, on small folders of the same shape as its data sets.

use crate::support::Place;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Writes queries of twelve documents with 136 features; the label depends on two of them.
fn write(file: &Path, queries: std::ops::Range<u64>) {
    let mut text = String::new();
    // A linear congruential generator: the test needs no good random numbers.
    let mut state = queries.start + 1;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    for query in queries {
        for _ in 0..12 {
            let features: Vec<f64> = (0..136).map(|_| random()).collect();
            let label = (5.0 * (0.6 * features[3] + 0.3 * features[7] + 0.1 * random())) as u8;
            let _ = write!(text, "{label} qid:{query}");
            features.iter().enumerate().for_each(|(place, value)| {
                let _ = write!(text, " {}:{value:.4}", place + 1);
            });
            text.push('\n');
        }
    }
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn write_fold(folder: &Path, first: u64) {
    write(&folder.join("train.txt"), first..first + 30);
    write(&folder.join("vali.txt"), first + 30..first + 40);
    write(&folder.join("test.txt"), first + 40..first + 60);
}

#[test]
fn the_papers_sets_run_its_tables_by_their_first_fold() {
    let place = Place::new(&[]);
    (1..=5).for_each(|fold| write_fold(&place.path().join(format!("data/web10k/Fold{fold}")), 100 * fold));
    write_fold(&place.path().join("data/yahoo"), 0);
    let text = place.run("lambdaloss-web --data data --out out").done();
    assert!(text.contains("WEB10K: NDCG@5 in percent") && text.contains("YAHOO: NDCG@5 in percent"), "{text}");
    let results = place.read("out/experiments/results/lambdaloss-web/results.json");
    let results: Value = serde_json::from_str(&results).unwrap();
    let runs = results["runs"].as_object().unwrap();
    // Six losses, three searches, three tuned losses, and NDCG-Loss2 with LambdaMART's settings.
    for set in ["web10k", "yahoo"] {
        let own: Vec<&String> = runs.keys().filter(|key| key.starts_with(&format!("{set} "))).collect();
        assert_eq!(own.len(), 13, "{own:?}");
        // A random order of these lists has an NDCG@5 of about one half.
        let test = runs[&format!("{set} ranklib LambdaRank")]["test"].as_f64().unwrap();
        assert!((0.7..1.0).contains(&test), "{test}");
    }
    assert_eq!(runs.len(), 26);
    let claims = results["outcome"]["claims"].as_array().unwrap();
    let tested: Vec<&str> = claims.iter().map(|claim| claim["claim"]["id"].as_str().unwrap()).collect();
    assert_eq!(tested.len(), 10, "{tested:?}");
    assert!(claims.iter().all(|claim| claim["outcome"] != "not-tested"), "{tested:?}");
    assert_eq!(claims[0]["units"].as_array().unwrap().len(), 20, "one unit per test query");
    // Nothing is left to do.
    let again = place.run("lambdaloss-web --data data --out out --stored").done();
    assert_eq!(again, text);
}
