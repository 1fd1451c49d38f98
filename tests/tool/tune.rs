//! `burnrank tune`: output, files, resuming after a kill, and the printed command, which trains the best model.

use super::support::{Place, signal};
use burnrank::{Synthetic, WriteOptions, write};
use std::process::Stdio;
use std::time::Duration;

const SPACE: &str = "objective = [\"ranknet\", \"ndcg-loss2++:mu={mu}\"]\nmu = { low = 1, high = 9, log = true }\n\
                     [nets]\nhidden = [[], [4], [4, 3]]\nlr = { low = 0.001, high = 0.1, log = true }\n\
                     l2 = { low = 1e-5, high = 0.01, log = true, zero = 0.5 }\nscale = [\"zscore\", \"query-minmax\"]\n";

fn place() -> Place {
    let place = Place::new(&[("space.toml", SPACE)]);
    let generator = Synthetic { queries: 60, documents: 12, features: 6, ..Synthetic::net() }.generator();
    let generator = generator.expect("a generator");
    let save = |file: &str, queries| {
        let data = generator.part(queries).expect("queries").0;
        let path = place.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        write(path, &data, &WriteOptions::default()).expect("a file");
    };
    save("train.txt", 0..30);
    save("my vali.txt", 30..60);
    for (fold, start) in [("Fold1", 0), ("Fold2", 20)] {
        save(&format!("folds/{fold}/train.txt"), start..start + 20);
        save(&format!("folds/{fold}/vali.txt"), start + 20..start + 40);
        std::fs::write(place.path().join(format!("folds/{fold}/test.txt")), "not data\n").expect("a file");
    }
    place
}

/// Runs the tool with arguments that may contain spaces.
fn run(place: &Place, words: &[&str]) -> super::Ran {
    super::Ran::of(place.command("").args(words).stdin(Stdio::null()).output().expect("the tool runs"))
}

/// Arguments of a search; quiet, because slow machines would print progress.
const TUNE: [&str; 8] = ["tune", "--quiet", "--train", "train.txt", "--valid", "my vali.txt", "--space", "space.toml"];

fn tune(place: &Place, more: &[&str]) -> super::Ran {
    run(place, &[&TUNE[..], &["--epochs", "9"], more].concat())
}

#[test]
fn the_printed_command_trains_the_best_settings() {
    let place = place();
    let shown = tune(&place, &["--trials", "8", "--out", "found"]).good();
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    // The answer comes first, and it is unbiased.
    let results: serde_json::Value = serde_json::from_str(&place.read("found/results.json")).expect("JSON");
    let best = &results["trials"][0];
    assert_eq!((best["trial"].clone(), &results["complete"]), (results["best"].clone(), &true.into()));
    assert_eq!(results["trials"].as_array().map(Vec::len), Some(8));
    assert!(place.read("found/figure.svg").starts_with("<svg"));
    // Runs the command as printed, through a shell.
    let command = shown.split_once("Train the best:\n").expect("a command").1.replace("\\\n", " ");
    assert_eq!(command.split_whitespace().collect::<Vec<_>>().join(" "), results["command"].as_str().expect("a line"));
    let tool = place.command("").get_program().to_owned();
    let script = command.trim().replacen("burnrank", "\"$0\"", 1);
    let ran = std::process::Command::new("sh").arg("-c").arg(script).arg(tool).current_dir(place.path()).output();
    let ran = super::Ran::of(ran.expect("a shell")).done();
    let model: serde_json::Value = serde_json::from_str(&place.read("found/model/model.json")).expect("JSON");
    assert_eq!(model["settings"], best["config"]);
    // It reports the value that was printed with it.
    let value = results["command_validation_value"].as_f64().expect("a value");
    assert_eq!(model["metrics"]["valid"]["ndcg@10"], value);
    let printed = format!("{value:.4}");
    let text = shown.replace('\n', " ");
    assert!(text.contains(&format!("Its command reports ndcg@10 {printed} on the validation queries")), "{shown}");
    assert!(ran.lines().any(|line| line.starts_with("valid ") && line.contains(&printed)), "{ran}");
}

#[test]
fn the_unbiased_estimate_comes_first() {
    let place = place();
    let words = ["--trials", "8", "--out", "found"];
    let shown = tune(&place, &words).good();
    let results: serde_json::Value = serde_json::from_str(&place.read("found/results.json")).expect("JSON");
    assert_ne!(results["best"], 0, "the default won: choose another seed");
    let [mean, error] = ["mean", "standard_error"].map(|key| results["expected_gain"][key].as_f64().expect("a number"));
    let first = format!("Expected gain over the default: ndcg@10 {mean:+.4} (standard error {error:.4}): ");
    assert!(shown.replace('\n', " ").starts_with(&first), "{first}\n{shown}");
    // The difference of the winner's own value is larger, and marked as biased.
    let biased = results["selected_minus_default"]["mean"].as_f64().expect("a number");
    assert!(biased >= mean, "{biased} {mean}");
    assert!(shown.contains("biased") && shown.contains("'burnrank train --model mlp' without"), "{shown}");
}

#[test]
fn the_default_is_what_train_does() {
    let place = place();
    std::fs::write(place.path().join("space.toml"), "[nets]\nlr = [0.003]\n").expect("a file");
    let found = run(&place, &[&TUNE[..], &["--trials", "1", "--json"]].concat()).json();
    let command = "burnrank train --train train.txt --valid 'my vali.txt' --out model --model mlp";
    assert_eq!((&found["command"], &found["default"]), (&command.into(), &"burnrank train --model mlp".into()));
    let words =
        ["train", "--quiet", "--train", "train.txt", "--valid", "my vali.txt", "--model", "mlp", "--out", "model"];
    run(&place, &words).done();
    let model: serde_json::Value = serde_json::from_str(&place.read("model/model.json")).expect("JSON");
    assert_eq!(model["settings"], found["trials"][0]["config"]);
    assert_eq!(model["metrics"]["valid"]["ndcg@10"], found["command_validation_value"]);
}

#[test]
fn a_search_without_a_result_is_an_error() {
    let place = place();
    let message = tune(&place, &["--trials", "4", "--seconds", "0.000001"]).bad(1);
    assert!(message.contains("no trial finished in this time") && message.contains("increase --seconds"), "{message}");
    std::fs::write(place.path().join("space.toml"), "[nets]\nlr = [1e38]\n").expect("a file");
    let found = tune(&place, &["--trials", "3", "--json"]).json();
    assert_eq!(found["best"], 0);
}

#[test]
#[cfg(unix)]
fn a_full_disk_does_not_lose_the_result() {
    let place = place();
    // A limit of 4 kB per file simulates a full disk.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
    let tool = place.command("").get_program().to_owned();
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg(script).arg(tool).args(TUNE).args(["--epochs", "9", "--trials", "12", "--out", "found"]);
    let ran = super::Ran::of(command.current_dir(place.path()).stdin(Stdio::null()).output().expect("a shell"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("\nTrain the best:\n  burnrank train "), "{ran:?}");
    assert!(ran.err.contains("error: the journal is incomplete"), "{ran:?}");
    assert!(ran.err.contains("journal.jsonl: cannot write: ") && ran.err.contains("results.json: "), "{ran:?}");
    // The files are not damaged, and the resumed search has the same result.
    let resumed = tune(&place, &["--trials", "12", "--out", "found", "--resume"]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    let timeless =
        |text: &str| text.lines().filter(|line| !line.starts_with("searched")).collect::<Vec<_>>().join("\n");
    assert_eq!(timeless(&resumed.out), timeless(&ran.out));
}

#[test]
fn a_journal_with_impossible_values_is_an_error() {
    let place = place();
    tune(&place, &["--trials", "3", "--out", "found"]).good();
    let journal = place.read("found/journal.jsonl");
    let second = journal.lines().nth(1).expect("an outcome");
    let start = second.find("\"values\":[").expect("values") + "\"values\":[".len();
    let end = start + second[start..].find(',').expect("a second value");
    for value in ["1e300", "-0.25", "1.5"] {
        let line = format!("{}{value}{}", &second[..start], &second[end..]);
        std::fs::write(place.path().join("found/journal.jsonl"), journal.replace(second, &line)).expect("a file");
        let ran = tune(&place, &["--trials", "3", "--out", "found", "--resume"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{value}: {ran:?}");
        let message = ran.err;
        assert!(message.contains(&format!("found/journal.jsonl: line 2: ndcg@10 of {value} ")), "{value}: {message}");
        assert!(message.contains("is not between 0 and 1: discard it with --force"), "{value}: {message}");
    }
}

#[test]
fn the_result_depends_only_on_seed_and_data() {
    let place = place();
    let json = |more: &[&str]| {
        let all = [&["--trials", "5", "--json"][..], more].concat();
        tune(&place, &all).good()
    };
    let one = json(&["--threads", "1"]);
    assert_eq!(json(&["--threads", "3"]), one);
    assert_ne!(json(&["--seed", "2"]), one);
}

#[test]
#[cfg(unix)]
fn a_killed_search_resumes_to_the_same_table() {
    let place = place();
    let words = ["--trials", "12", "--patience", "0"];
    let with = |out: &str, more: &[&str]| tune(&place, &[&words[..], &["--out", out], more].concat());
    let whole = with("whole", &[]);
    assert_eq!(whole.code, Some(0), "{whole:?}");
    let journal = |out: &str| std::fs::read_to_string(place.path().join(out).join("journal.jsonl")).unwrap_or_default();
    let mut killed = 0;
    for lines in [3, 8, 13] {
        let mut command = place.command("");
        command.args(TUNE).args(["--epochs", "9"]).args(words).args(["--out", "killed", "--resume"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the tool starts");
        while journal("killed").lines().count() < lines && child.try_wait().expect("a state").is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        signal(&child, "KILL");
        killed += usize::from(!child.wait().expect("the tool ends").success());
    }
    assert!(killed > 0, "no search was caught before its end");
    // As if it had been killed while writing.
    let torn = journal("killed") + "{\"trial\":1,";
    std::fs::write(place.path().join("killed/journal.jsonl"), torn).expect("a file");
    let resumed = with("killed", &["--resume"]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    let timeless = |text: &str| -> String {
        let lines = text.lines().filter(|line| !line.starts_with("searched"));
        lines.map(|line| line.replace("killed/", "whole/") + "\n").collect()
    };
    assert_eq!(timeless(&resumed.out), timeless(&whole.out));
    let results = |out: &str| place.read(&format!("{out}/results.json")).replace("killed/model", "whole/model");
    assert_eq!(results("killed"), results("whole"));

    // An existing search is not overwritten without --force, nor resumed with other settings.
    assert!(with("whole", &[]).bad(1).contains("journal.jsonl exists already: continue this search with --resume"));
    let other = tune(&place, &["--out", "whole", "--resume", "--seed", "2"]).bad(1);
    assert!(
        other.contains(
            "whole/journal.jsonl: the journal of a search with another patience and seed: discard it with --force"
        ),
        "{other}"
    );
}

#[test]
#[cfg(unix)]
fn an_interrupt_prints_the_partial_result() {
    let place = place();
    let mut command = place.command("");
    command.args(TUNE).args(["--epochs", "90000", "--patience", "0", "--trials", "4", "--out", "found"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the tool starts");
    while !place.path().join("found/journal.jsonl").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "INT");
    let ran = super::Ran::of(child.wait_with_output().expect("the tool ends"));
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert!(ran.out.contains("cut short") && ran.out.contains("Train the best:"), "{ran:?}");
    assert!(ran.err.contains("continue with --resume"), "{ran:?}");
}

#[test]
fn folds_are_searched_together_and_test_files_are_not_read() {
    let place = place();
    let words = "tune --quiet --folds folds --space space.toml --trials 4 --epochs 3 --json";
    let found = place.run(words).json();
    assert_eq!(found["queries"], 40);
    assert!(found["command"].as_str().expect("a command").starts_with("burnrank train --folds folds --out model"));
    assert_eq!(found["trials"][0]["chosen_epochs"].as_array().map(Vec::len), Some(2));
    // The command prints the same mean over folds. It reads test files, so they must exist.
    for fold in ["Fold1", "Fold2"] {
        let data = place.read(&format!("folds/{fold}/vali.txt"));
        std::fs::write(place.path().join(format!("folds/{fold}/test.txt")), data).expect("a file");
    }
    let words = found["arguments"].as_array().expect("words").iter().map(|word| word.as_str().expect("a word"));
    let words: Vec<&str> = ["train"].into_iter().chain(words).chain(["--json", "--quiet"]).collect();
    let trained = run(&place, &words).done();
    let last = trained.lines().last().expect("a result");
    let trained: serde_json::Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(trained["valid"]["ndcg@10"]["mean"], found["command_validation_value"]);
}

#[test]
fn bad_usage_and_bad_spaces_are_errors_before_data_is_read() {
    let place = Place::new(&[("bad.toml", "[nets]\nhiden = [[8]]\n"), ("good.toml", SPACE)]);
    let bad = place.run("tune --train no.txt --space bad.toml").bad(1);
    assert!(bad.contains("bad.toml:2:1: unknown key 'hiden': did you mean 'hidden'? known keys: hidden, "), "{bad}");
    for (words, expected) in [
        ("tune --train no.txt --objective lamdarank:ndcg", "did you mean 'lambdarank:ndcg'?"),
        ("tune --train no.txt --metric ncdg", "did you mean 'ndcg'?"),
        ("tune --train no.txt --trials 0", "--trials 0"),
        ("tune --train no.txt --seconds 0", "--seconds 0: expected a number above 0"),
        ("tune --train no.txt --epochs 0", "epochs 0"),
        ("tune --train no.txt --resume", "--out"),
        ("tune --train no.txt --n-trials 7", "did you mean '--trials'?"),
        ("tune", "--train"),
    ] {
        let message = place.run(words);
        assert_eq!(message.code, Some(2), "{words}: {message:?}");
        assert!(message.err.contains(expected), "{words}: {message:?}");
    }
    assert!(place.run("tune --train no.txt --space none.toml").bad(1).contains("none.toml: cannot read"));
    assert_eq!(place.list(), ["bad.toml", "good.toml"]);
}

#[test]
fn the_default_space_can_be_printed_and_read() {
    let place = place();
    let printed = place.run("tune --print-space").good();
    std::fs::write(place.path().join("standard.toml"), &printed).expect("a file");
    let words = "tune --quiet --train train.txt --trials 3 --epochs 2 --json";
    let own = place.run(words).json();
    let read = place.run(&format!("{words} --space standard.toml")).json();
    assert_eq!(own, read);
    // One objective for all trials, including the default.
    let one = place.run(&format!("{words} --objective arp-loss2")).json();
    for trial in one["trials"].as_array().expect("trials") {
        assert_eq!(trial["settings"]["objective"], "arp-loss2");
    }
}
