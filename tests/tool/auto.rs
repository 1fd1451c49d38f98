//! `burnrank train` without a model: a race, and one folder that no command knows anything special about.

use super::support::Place;
use serde_json::Value;

/// A folder with training, validation and test queries.
fn place() -> Place {
    let place = Place::new(&[]);
    for (name, queries, seed) in [("train.txt", 20, 1), ("valid.txt", 10, 2), ("test.txt", 10, 3)] {
        let make = format!("generate net --queries {queries} --documents 8 --features 5 --seed {seed} --out {name}");
        place.run(&make).good();
    }
    place
}

fn info(place: &Place, model: &str) -> Value {
    serde_json::from_str(&place.read(&format!("{model}/model.json"))).expect("JSON")
}

#[test]
fn a_race_ends_in_one_model_that_every_command_takes() {
    let place = place();
    let told =
        place.run("train --train train.txt --valid valid.txt --test test.txt --out m --trials 12 --quiet").done();
    assert!(told.starts_with("lambdarank:ndcg: ndcg@10 0."), "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    assert!(told.contains("\nsetting ") && told.contains("can be scored alone"), "{told}");
    let info = info(&place, "m");
    assert_eq!((&info["settings"]["model"], &info["settings"]["race"]["runs"]), (&"auto".into(), &12.into()));
    assert!(info["members"].as_array().is_some_and(|members| members.len() > 1), "{info}");
    for split in ["train", "valid", "test"] {
        let judged = place.run(&format!("evaluate --data {split}.txt --model m --metric ndcg@10 --json")).json();
        let (found, expected) = (&judged["measures"][0]["mean"], &info["metrics"][split]["ndcg@10"]);
        assert!(found.is_f64() && found == expected, "{split}: {judged}, not {expected}");
    }
    place.run("info m").good();
    assert_eq!(place.run("predict --model m --data test.txt").good().lines().count(), 80);
    place.run("certify --model m --data valid.txt --metric ndcg@10 --epsilon 0.5 --delta 0.5 --quiet").good();
}

#[test]
fn the_same_seed_gives_the_same_model_whatever_the_threads() {
    let place = place();
    for threads in [1, 3] {
        place.run(&format!("train --train train.txt --out m{threads} --trials 10 --threads {threads} --quiet")).done();
    }
    let record = |model: &str| std::fs::read(place.path().join(model).join("model.bpk")).expect("a record");
    assert!(record("m1") == record("m3"));
    let info = info(&place, "m1");
    assert!(info["data"]["valid"].is_null() && info["metrics"]["valid"]["ndcg@10"].is_f64(), "{info}");
}

#[test]
fn options_of_one_model_are_not_for_the_choice() {
    let place = place();
    for (arguments, words) in [
        ("--model auto --hidden 3", "--hidden is for one model, not for auto"),
        ("--model auto --ensemble 3", "--ensemble is for one model"),
        ("--model auto --resume", "--resume is for one model"),
        ("--model mlp --trials 3", "--trials is for --model auto"),
        ("--epochs 3 --seconds 3", "--seconds is for --model auto"),
        ("--seconds -1", "expected a number of seconds"),
        ("--trials 0", "0 is not in 1.."),
    ] {
        let ran = place.run(&format!("train --train train.txt --out m {arguments}"));
        assert_eq!(ran.code, Some(2), "{arguments}: {}", ran.err);
        assert!(ran.err.contains(words), "{arguments}: {}", ran.err);
    }
    place.run("train --train train.txt --epochs 2 --out m --quiet").done();
    assert_eq!(info(&place, "m")["settings"]["epochs"], 2);
}

#[test]
fn a_scaling_may_be_chosen_for_one_net() {
    let place = place();
    let ran = place.run("train --train train.txt --valid valid.txt --model linear --scale auto --out m");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let scaling = info(&place, "m")["scaler"]["kind"].as_str().map(str::to_owned).expect("a scaling");
    assert!(ran.err.contains(&format!("--scale auto: {scaling}")), "{}", ran.err);
    place.run("train --train train.txt --scale minmax --trials 2 --out n --quiet").done();
    assert_eq!(info(&place, "n")["scaler"]["kind"], "minmax");
}
