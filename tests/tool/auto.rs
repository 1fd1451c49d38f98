//! `burnrank train` without `--model`: model selection, which ends in an ordinary model folder.

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
fn model_selection_ends_in_one_model_that_every_command_reads() {
    let place = place();
    let printed =
        place.run("train --train train.txt --valid valid.txt --test test.txt --out m --trials 12 --quiet").done();
    assert!(printed.starts_with("lambdarank:ndcg: expected ndcg@10 0."), "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    assert!(printed.contains("\n  setting ") && printed.contains("can be scored independently"), "{printed}");
    let info = info(&place, "m");
    assert_eq!((&info["settings"]["model"], &info["settings"]["selection"]["runs"]), (&"auto".into(), &12.into()));
    assert!(info["members"].as_array().is_some_and(|members| members.len() > 1), "{info}");
    for split in ["train", "valid", "test"] {
        let report = place.run(&format!("evaluate --data {split}.txt --model m --metric ndcg@10 --json")).json();
        let (mean, expected) = (&report["metrics"][0]["mean"], &info["metrics"][split]["ndcg@10"]);
        assert!(mean.is_f64() && mean == expected, "{split}: {report}, not {expected}");
    }
    // The learning curves of all members are logged, and shown in the report.
    let members = info["members"].as_array().map_or(0, Vec::len) as u64;
    let log = place.read("m/training.jsonl");
    let epochs: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let seen: std::collections::BTreeSet<u64> = epochs.iter().filter_map(|epoch| epoch["member"].as_u64()).collect();
    assert_eq!(seen, (0..members).collect());
    let chosen: Vec<&Value> = candidates_of(&info).iter().filter(|tried| tried["selected"] == true).collect();
    for epoch in &epochs {
        assert!(chosen.iter().any(|tried| tried["name"] == epoch["setting"]), "{epoch}");
        assert!(epoch["setting_run"].as_u64().is_some_and(|run| (1..=5).contains(&run)), "{epoch}");
    }
    place.run("report m --out page.html").good();
    let page = place.read("page.html");
    assert!(
        page.contains("of the selected settings: mean over the runs") && !page.contains("No training log"),
        "{page}"
    );
    place.run("info m").good();
    assert_eq!(place.run("predict --model m --data test.txt").good().lines().count(), 80);
    place.run("certify --model m --data valid.txt --metric ndcg@10 --epsilon 0.5 --delta 0.5 --quiet").good();
}

/// Returns all candidates of the selection.
fn candidates_of(info: &Value) -> &[Value] {
    info["settings"]["selection"]["candidates"].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn candidates_are_compared_on_common_queries() {
    let place = place();
    let printed = place.run("train --train train.txt --valid valid.txt --out m --trials 25 --quiet").done();
    let info = info(&place, "m");
    let all = candidates_of(&info);
    let selected = all.iter().filter(|tried| tried["selected"] == true && tried["difference"].is_null()).count();
    assert_eq!(selected, 1, "{info}");
    let runs: std::collections::BTreeSet<u64> = all.iter().filter_map(|tried| tried["runs"].as_u64()).collect();
    assert!(runs.len() > 1, "all settings have the same runs: {info}");
    let mut last = f64::INFINITY;
    for tried in all {
        let difference = &tried["difference"];
        let number = |key: &str| difference[key].as_f64();
        let Some(mean) = number("mean") else {
            assert!(last >= 0.0);
            last = 0.0;
            continue;
        };
        let common = number("value").zip(number("selected_value")).expect("both means");
        assert!((common.0 - common.1 - mean).abs() < 1e-12, "{tried}");
        assert!(number("standard_error").is_some_and(|error| error >= 0.0), "{tried}");
        assert!(difference["runs"].as_u64() <= tried["runs"].as_u64(), "{tried}");
        assert!(mean <= last, "the best first: {info}");
        last = mean;
    }
    let heading = printed.lines().find(|line| line.contains("setting ")).expect("a table");
    assert!(heading.contains("difference") && heading.contains("error") && !heading.contains("ndcg@10"), "{printed}");
}

#[test]
fn each_fold_reports_its_selection() {
    let place = place();
    for (fold, seed) in [("Fold1", 1), ("Fold2", 5)] {
        std::fs::create_dir_all(place.path().join("folds").join(fold)).expect("a folder");
        for (name, offset) in [("train", 0), ("vali", 1), ("test", 2)] {
            let seed = seed + offset;
            let make = format!("generate net --queries 12 --documents 8 --features 5 --seed {seed} --out");
            place.run(&format!("{make} folds/{fold}/{name}.txt")).good();
        }
    }
    let words = "train --folds folds --trials 5 --quiet";
    let printed = place.run(words).done();
    assert!(printed.starts_with("lambdarank:ndcg, model selected on each fold\n\nFold1  "), "{printed}");
    let found: Value = serde_json::from_str(&place.run(&format!("{words} --json")).done()).expect("JSON");
    let text = printed.replace('\n', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    for (place, fold) in ["Fold1", "Fold2"].into_iter().enumerate() {
        let model = &found["models"][place];
        assert_eq!(model["fold"], fold);
        let selected = model["selected"].as_array().expect("settings");
        assert!(!selected.is_empty() && model["selection"]["candidates"].is_array(), "{model}");
        let words = [&model["model"], &model["scaling"], &selected[0]].map(|word| word.as_str().expect("words"));
        let line = format!("{fold} {}, the average of ", words[0]);
        assert!(text.contains(&line) && text.contains(words[1]) && text.contains(words[2]), "{line}: {printed}");
    }
    // One line if all folds train the same model.
    let printed = place.run("train --folds folds --model linear --epochs 2 --quiet").done();
    assert!(printed.starts_with("lambdarank:ndcg, linear net\n\ntest "), "{printed}");
    assert!(printed.contains("\nvalidation ndcg@10, mean over folds: 0."), "{printed}");
}

#[test]
fn the_same_seed_gives_the_same_model_for_any_number_of_threads() {
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
fn options_of_a_single_model_are_refused_for_model_selection() {
    let place = place();
    for (arguments, words) in [
        ("--model auto --hidden 3", "--hidden is for mlp, not for auto"),
        ("--model auto --ensemble 3", "--ensemble is for nets and trees, not for auto"),
        ("--model auto --l2 0", "--l2 is for nets and trees, not for auto"),
        ("--model auto --resume", "--resume does not work with --model auto"),
        ("--model mlp --trials 3", "--trials needs --model auto"),
        ("--epochs 3 --seconds 3", "--seconds needs --model auto"),
        ("--seconds -1", "expected a number of seconds"),
        ("--trials 0", "expected a whole number of 1 or more"),
    ] {
        let ran = place.run(&format!("train --train train.txt --out m {arguments}"));
        assert_eq!(ran.code, Some(2), "{arguments}: {}", ran.err);
        assert!(ran.err.contains(words), "{arguments}: {}", ran.err);
    }
    place.run("train --train train.txt --epochs 2 --out m --quiet").done();
    assert_eq!(info(&place, "m")["settings"]["epochs"], 2);
}

#[test]
fn scale_auto_selects_a_scaling_for_one_net() {
    let place = place();
    let ran = place.run("train --train train.txt --valid valid.txt --model linear --scale auto --out m");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let scaling = info(&place, "m")["scaler"]["kind"].as_str().map(str::to_owned).expect("a scaling");
    assert!(ran.err.contains(&format!("--scale auto: {scaling}")), "{}", ran.err);
    place.run("train --train train.txt --scale minmax --trials 2 --out n --quiet").done();
    assert_eq!(info(&place, "n")["scaler"]["kind"], "minmax");
}
