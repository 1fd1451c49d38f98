//! Real collections, where BURNRANK_DATA names a folder that has them; 'skipped' without.

use std::path::PathBuf;
use std::process::Command;

fn folder(name: &str) -> Option<PathBuf> {
    let folder =
        std::env::var_os("BURNRANK_DATA").map(|root| PathBuf::from(root).join(name)).filter(|path| path.is_dir());
    if folder.is_none() {
        println!("skipped: BURNRANK_DATA names no folder with {name}");
    }
    folder
}

/// The means over the test folds of LETOR cross-validation with default settings.
fn cross_validate(folder: &PathBuf, arguments: &[&str]) -> (f64, f64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_burnrank"));
    let output = command.args(["train", "--json", "--folds"]).arg(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let result: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let mean = |measure: &str| result["test"][measure]["mean"].as_f64().unwrap();
    (mean("ndcg@10"), mean("map"))
}

#[test]
fn default_settings_reach_the_published_linear_methods_on_mq2008() {
    let Some(folder) = folder("mq2008") else { return };
    // The best stored scores of a published linear method, AdaRank's, judged alike: NDCG@10 0.5006.
    let (ndcg, map) = cross_validate(&folder, &["--model", "linear"]);
    println!("linear: ndcg@10 {ndcg:.4}, map {map:.4}");
    assert!(ndcg >= 0.5006 - 0.005, "{ndcg}");
}

#[test]
fn stored_peer_scores_get_their_published_values() {
    let Some(folder) = folder("mq2008") else { return };
    let mut sum = 0.0;
    for fold in 1..=5 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_burnrank"));
        command
            .args(["evaluate", "--json", "--metric", "ndcg@10", "--data"])
            .arg(folder.join(format!("Fold{fold}/test.txt")));
        let output =
            command.arg("--scores").arg(folder.join(format!("scores/svm_rank.Fold{fold}.test.txt"))).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        sum += result["measures"][0]["mean"].as_f64().unwrap();
    }
    assert!((sum / 5.0 - 0.4992).abs() < 5e-5, "{}", sum / 5.0);
}
