//! Real collections in the folder BURNRANK_DATA; skipped without it.

mod support;

use std::path::{Path, PathBuf};
use support::{Place, Ran};

fn folder(name: &str) -> Option<PathBuf> {
    let folder =
        std::env::var_os("BURNRANK_DATA").map(|root| PathBuf::from(root).join(name)).filter(|path| path.is_dir());
    if folder.is_none() {
        println!("skipped: BURNRANK_DATA has no folder {name}");
    }
    folder
}

/// Returns the last line of a run, which must succeed; notes on standard error are allowed.
fn result(place: &Place, arguments: &str, paths: &[(&str, &Path)]) -> serde_json::Value {
    let mut command = place.command(arguments);
    for (option, path) in paths {
        command.arg(option).arg(path);
    }
    let ran = Ran::of(command.output().expect("the tool runs"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::Deserializer::from_str(&ran.out).into_iter().last().expect("a result").expect("JSON")
}

#[test]
fn default_settings_reach_the_published_linear_methods_on_mq2008() {
    let Some(folder) = folder("mq2008") else { return };
    let result = result(&Place::new(&[]), "train --json --model linear", &[("--folds", &folder)]);
    let mean = |metric: &str| result["test"][metric]["mean"].as_f64().unwrap();
    // The best stored scores of a published linear method, AdaRank, evaluated alike: NDCG@10 0.5006.
    let (ndcg, map) = (mean("ndcg@10"), mean("map"));
    println!("linear: ndcg@10 {ndcg:.4}, map {map:.4}");
    assert!(ndcg >= 0.5006 - 0.005, "{ndcg}");
}

#[test]
fn stored_peer_scores_get_their_published_values() {
    let Some(folder) = folder("mq2008") else { return };
    let mut sum = 0.0;
    for fold in 1..=5 {
        let (data, scores) =
            (folder.join(format!("Fold{fold}/test.txt")), folder.join(format!("scores/svm_rank.Fold{fold}.test.txt")));
        let paths = [("--data", data.as_path()), ("--scores", scores.as_path())];
        let result = result(&Place::new(&[]), "evaluate --json --metric ndcg@10", &paths);
        sum += result["metrics"][0]["mean"].as_f64().unwrap();
    }
    assert!((sum / 5.0 - 0.4992).abs() < 5e-5, "{}", sum / 5.0);
}
