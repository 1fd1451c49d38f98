//! `burnrank train --ensemble N`: several models, averaged into an ordinary model folder.

use super::support::Place;
use serde_json::Value;

/// A folder with training, validation and test queries.
fn place() -> Place {
    let place = Place::new(&[]);
    for (name, seed) in [("train.txt", 1), ("valid.txt", 2), ("test.txt", 3)] {
        let queries = if name == "train.txt" { 40 } else { 15 };
        let make = format!("generate net --queries {queries} --documents 8 --features 5 --seed {seed} --out {name}");
        place.run(&make).good();
    }
    place
}

const FEW: &str = "--train train.txt --epochs 5 --quiet";

fn info(place: &Place, model: &str) -> Value {
    serde_json::from_str(&place.read(&format!("{model}/model.json"))).expect("JSON")
}

fn record(place: &Place, model: &str) -> Vec<u8> {
    std::fs::read(place.path().join(model).join("model.bpk")).expect("a record")
}

#[test]
fn an_ensemble_of_one_equals_a_plain_run() {
    let place = place();
    for more in ["", "--valid valid.txt", "--scale zscore --model linear"] {
        place.run(&format!("train {FEW} {more} --out plain --force")).done();
        place.run(&format!("train {FEW} {more} --out one --ensemble 1 --force")).done();
        assert!(record(&place, "plain") == record(&place, "one"), "{more}");
        assert_eq!(place.read("plain/model.json"), place.read("one/model.json"), "{more}");
        // The first of several members is the same run, except for its factor.
        place.run(&format!("train {FEW} {more} --out two --ensemble 2 --force")).done();
        let (alone, first) = (info(&place, "plain"), &info(&place, "two")["members"][0]);
        assert_eq!(first["best_value"], alone["run"]["best_value"], "{more}");
        assert_eq!(first["best_epoch"], alone["best_epoch"], "{more}");
    }
}

#[test]
fn threads_do_not_matter() {
    let place = place();
    for threads in [1, 3] {
        place.run(&format!("train {FEW} --ensemble 4 --threads {threads} --out m{threads}")).done();
    }
    assert!(record(&place, "m1") == record(&place, "m3"));
    assert_eq!(place.read("m1/model.json"), place.read("m3/model.json"));
}

#[test]
fn with_validation_data_the_average_is_evaluated() {
    let place = place();
    let printed = place.run(&format!("train {FEW} --valid valid.txt --test test.txt --ensemble 3 --out m")).done();
    assert!(
        printed.starts_with("lambdarank:ndcg, two-layer net, 30 tanh hidden units: average of 3 models, "),
        "{printed}"
    );
    let info = info(&place, "m");
    for (split, file) in [("train", "train.txt"), ("valid", "valid.txt"), ("test", "test.txt")] {
        let report = place.run(&format!("evaluate --data {file} --model m --metric ndcg@10 --json")).json();
        let (mean, stored) = (report["metrics"][0]["mean"].as_f64(), info["metrics"][split]["ndcg@10"].as_f64());
        assert!((mean.expect("a value") - stored.expect("a value")).abs() < 1e-12, "{split}: {report}, {info}");
    }
    assert_eq!(info["run"]["best_value"], info["metrics"]["valid"]["ndcg@10"]);
    assert_eq!(place.run("predict --model m --data test.txt").good().lines().count(), 15 * 8);
    assert!(place.run("info m").good().contains("average of 3 models"));
    let card = place.read("m/README.md");
    assert!(card.contains("## Members\n\nThe average of 3 models") && card.contains("| validation metric |"), "{card}");
    let command = "\nburnrank train --train train.txt --valid valid.txt --test test.txt --model mlp ";
    assert!(card.contains(command) && card.contains(" --ensemble 3 --out m\n"), "{card}");
    assert_eq!(card.lines().filter(|line| line.contains("two-layer net, 10 tanh hidden units")).count(), 3, "{card}");
    let certified = place.run("certify --model m --data valid.txt --metric ndcg@10 --epsilon 0.5 --delta 0.5 --quiet");
    assert_eq!(certified.code, Some(0), "{certified:?}");
}

#[test]
fn without_validation_data_members_keep_different_queries() {
    let place = place();
    let printed = place.run(&format!("train {FEW} --ensemble 6 --out m")).done();
    assert!(printed.contains("each evaluated on its own queries"), "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    let info = info(&place, "m");
    let members = info["members"].as_array().expect("members");
    let values: Vec<f64> = members.iter().map(|member| member["best_value"].as_f64().expect("a value")).collect();
    let mean = values.iter().sum::<f64>() / 6.0;
    assert!((info["run"]["best_value"].as_f64().expect("a value") - mean).abs() < 1e-12, "{info}");
    assert!((info["metrics"]["valid"]["ndcg@10"].as_f64().expect("a value") - mean).abs() < 1e-12, "{info}");
    assert!(
        info["data"]["valid"]["source"]
            .as_str()
            .expect("text")
            .ends_with("1 in 5 queries, different ones for each member")
    );
    assert_eq!((&info["data"]["train"]["queries"], &info["data"]["valid"]["queries"]), (&32.into(), &8.into()));
    let few = Place::new(&[("few.txt", "1 qid:1 1:1\n0 qid:2 1:1\n1 qid:3 1:1\n")]);
    let message = few.run("train --train few.txt --ensemble 2 --out m").bad(1);
    assert!(message.contains("set --valid to a file"), "{message}");
}

#[test]
fn every_epoch_of_every_member_is_printed_and_logged_in_order() {
    let place = place();
    let printed = place.run(&format!("train {FEW} --patience 2 --ensemble 3 --json --log log --out m")).done();
    let mut lines: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let result = lines.pop().expect("a result");
    let order: Vec<(u64, u64)> = lines
        .iter()
        .map(|line| (line["epoch"].as_u64().expect("an epoch"), line["member"].as_u64().expect("a member")))
        .collect();
    assert!(order.is_sorted() && order.contains(&(1, 2)), "{order:?}");
    assert_eq!(place.read("log"), place.read("m/training.jsonl"));
    assert_eq!(place.read("log").lines().count(), lines.len());
    assert_eq!(result["members"].as_array().expect("members").len(), 3);
    assert!(result["members"][1]["factor"].as_f64().expect("a factor") > 0.0);
}

#[test]
fn folds_and_targets_work() {
    let place = place();
    place.run("split train.txt --folds 3 --out folds").good();
    let printed = place.run("train --folds folds --epochs 3 --ensemble 2 --out models --quiet --json").done();
    assert_eq!(printed.lines().filter(|line| line.contains("\"member\":1")).count(), 9, "{printed}");
    assert_eq!(info(&place, "models/Fold2")["members"].as_array().expect("members").len(), 2);
    let ids: Vec<String> = place
        .read("train.txt")
        .lines()
        .filter_map(|line| line.split("qid:").nth(1)?.split(' ').next().map(String::from))
        .collect();
    let mut targets: Vec<String> = ids.iter().map(|id| format!("{id} 1 2 0.75\n")).collect();
    targets.dedup();
    std::fs::write(place.path().join("targets.txt"), targets.concat()).expect("a file");
    place.run(&format!("train {FEW} --objective ranknet --targets targets.txt --ensemble 3 --out t")).done();
}

#[test]
fn invalid_ensembles_are_refused() {
    let place = Place::new(&[]);
    let message = place.run("train --train no.txt --out m --model ranksvm --ensemble 2").bad(2);
    assert!(message.contains("--ensemble is for nets and trees, not for ranksvm"), "{message}");
    for number in ["0", "1001", "x"] {
        assert_eq!(place.run(&format!("train --train no.txt --out m --ensemble {number}")).code, Some(2));
    }
}
