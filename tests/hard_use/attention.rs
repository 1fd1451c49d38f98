//! Warnings of training: shared queries, a single feature that is as good, too few epochs, variation over seeds.

use crate::support::Place;
use serde_json::Value;
use std::fmt::Write;

/// Returns a pseudo-random number below `below`.
fn noise(number: usize, below: usize) -> usize {
    ((number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % below
}

/// Queries of eight documents; the label is the sum of features 1 and 2, each 0 or 1, or noise in one document of eight, and
/// feature 3 is noise.
fn data(queries: usize, seed: usize) -> String {
    let mut text = String::new();
    for query in 0..queries {
        for place in 0..8 {
            let number = (seed * 1000 + query) * 24 + place * 3;
            let (a, b) = (noise(number, 2), noise(number + 1, 2));
            let label = if place == 0 { noise(number, 3) } else { a + b };
            let _ = writeln!(text, "{label} qid:{query} 1:{a} 2:{b} 3:{}", noise(number + 2, 100));
        }
    }
    text
}

fn place() -> Place {
    Place::new(&[("train.txt", &data(40, 0)), ("valid.txt", &data(20, 1)), ("test.txt", &data(20, 2))])
}

const TRAIN: &str = "train --train train.txt --valid valid.txt --model linear --out model --force";

/// Returns the last line of the output.
fn result(out: &str) -> Value {
    serde_json::from_str(out.lines().last().unwrap()).unwrap()
}

#[test]
fn shared_queries_are_recognised_under_other_ids_and_orders() {
    let place = place();
    let mut lines: Vec<String> = data(40, 0).lines().map(|line| line.replace("qid:", "qid:other")).collect();
    // The last three queries, each in reverse order.
    let renamed: Vec<String> =
        lines.split_off(37 * 8).chunks(8).flat_map(|query| query.iter().rev()).cloned().collect();
    let new = data(4, 9).replace("qid:", "qid:new");
    std::fs::write(place.path().join("renamed.txt"), renamed.join("\n") + "\n" + &new).unwrap();
    for option in ["--valid renamed.txt", "--valid valid.txt --test renamed.txt"] {
        let ran = place.run(&format!("train --train train.txt --epochs 2 --model linear --out model --force {option}"));
        let note = "note: renamed.txt: 3 queries are also in the training data: ";
        assert!(ran.err.contains(note), "{option}: {}", ran.err);
    }
    // All-zero queries may be anything.
    let zeros = "1 qid:z 1:0\n0 qid:z 1:0\n";
    std::fs::write(place.path().join("some.txt"), data(9, 3) + zeros).unwrap();
    std::fs::write(place.path().join("others.txt"), data(9, 4) + zeros).unwrap();
    let train = "train --train some.txt --valid others.txt --epochs 2 --model linear --out model --force";
    let err = place.run(train).err;
    assert!(!err.contains("also in"), "{err}");
}

#[test]
fn a_warning_says_that_the_last_epoch_is_the_best() {
    let place = place();
    let train = format!("{TRAIN} --patience 0 --lr 0.002 --schedule constant --json");
    let ran = place.run(&format!("{train} --epochs 60"));
    let epochs: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found = |best: bool| {
        let of = |epoch: &&Value| epoch["best"] == Value::Bool(best) && epoch["epoch"].as_u64() >= Some(10);
        epochs.iter().find(of).and_then(|epoch| epoch["epoch"].as_u64()).unwrap()
    };
    for best in [true, false] {
        let epochs = found(best);
        let ran = place.run(&format!("{train} --epochs {epochs}"));
        let note = format!("note: training: the best epoch is the maximum, {epochs}: increase --epochs\n");
        assert_eq!(ran.err.contains(&note), best, "{epochs}: {}", ran.err);
        let said = result(&ran.out)["warnings"].to_string();
        assert_eq!(said.contains("the best epoch is the maximum"), best, "{said}");
    }
    let err = place.run(&format!("{} --epochs 60", train.replace("constant", "cosine"))).err;
    assert!(!err.contains("increase"), "a learning rate that falls to 0 is meant to end there: {err}");
    let err = place.run(&format!("{train} --epochs 1")).err;
    assert!(!err.contains("increase"), "one epoch is meant to be short: {err}");
}

#[test]
fn a_single_feature_as_good_as_the_model_is_named() {
    let place = place();
    // Two features that determine the labels only together.
    let err = place.run(TRAIN).err;
    assert!(!err.contains("alone"), "{err}");
    // A third feature that is the negative label.
    let leaky = |text: String| -> String {
        let leak = |line: &str| {
            let label: i32 = line[..1].parse().unwrap();
            format!("{} 4:{}\n", line, 9 - 2 * label)
        };
        text.lines().map(leak).collect()
    };
    for (name, queries, seed) in [("a.txt", 40, 0), ("b.txt", 20, 1)] {
        std::fs::write(place.path().join(name), leaky(data(queries, seed))).unwrap();
    }
    let train = "train --train a.txt --valid b.txt --model linear --out model --force";
    let ran = place.run(&format!("{train} --json"));
    let note = "note: training: feature 4 alone (lowest first) is better than the model or within one standard error of it, on the \
                validation queries: ndcg@10 1.0000, model ";
    assert!(ran.err.contains(note), "{}", ran.err);
    assert!(result(&ran.out)["warnings"].to_string().contains("feature 4 alone"), "{}", ran.out);
    let err = place.run(&train.replace("linear", "feature")).err;
    assert!(!err.contains("alone"), "{err}");
}

#[test]
fn repeated_runs_equal_runs_with_their_seeds() {
    let place = place();
    let train = format!("{TRAIN} --test test.txt --epochs 8 --seed 5 --json");
    let alone = place.run(&train);
    let files = ["model/model.bpk", "model/model.json"];
    let before = files.map(|file| std::fs::read(place.path().join(file)).unwrap());
    let mut outputs = Vec::new();
    for threads in ["1", "3"] {
        let mut command = place.command(&format!("{train} --repeat 3"));
        let ran = crate::support::Ran::of(command.env("RAYON_NUM_THREADS", threads).output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(files.map(|file| std::fs::read(place.path().join(file)).unwrap()), before, "the first seed's");
        outputs.push(result(&ran.out));
    }
    assert_eq!(outputs[0]["repeat"], outputs[1]["repeat"]);
    let repeat = &outputs[0]["repeat"];
    assert_eq!(repeat["seeds"], serde_json::json!([5, 6, 7]));
    let values: Vec<f64> = (0..3).map(|place| repeat["test"]["ndcg@10"]["seeds"][place].as_f64().unwrap()).collect();
    let of = |out: &str| result(out)["metrics"]["test"]["ndcg@10"].as_f64().unwrap();
    assert_eq!(values[0], of(&alone.out));
    assert_eq!(values[2], of(&place.run(&train.replace("--seed 5", "--seed 7")).out));
    let mean = values.iter().sum::<f64>() / 3.0;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
    let said = &repeat["test"]["ndcg@10"];
    assert!((said["mean"].as_f64().unwrap() - mean).abs() < 1e-12, "{said}");
    assert!((said["standard_deviation"].as_f64().unwrap() - deviation).abs() < 1e-12, "{said}");
    assert_eq!(said["queries"]["n"], 20);

    let text = place.run(&format!("{} --repeat 3", train.replace(" --json", ""))).out;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in ["seed 5", "seed 7", "mean over seeds", "std dev over seeds", "95% over queries", "model, of seed 5"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.replace('\n', " ").contains("The standard deviation of ndcg@10 over seeds is "), "{text}");
    let refused = place.run(&format!("{TRAIN} --repeat 3")).bad(2);
    assert!(refused.contains("add --test FILE"), "{refused}");
}

#[test]
fn folds_are_repeated_too() {
    let place = place();
    for fold in ["Fold1", "Fold2"] {
        std::fs::create_dir_all(place.path().join("folds").join(fold)).unwrap();
        for (name, queries, seed) in [("train", 12, 3), ("vali", 5, 4), ("test", 6, 5)] {
            let text = data(queries, seed + usize::from(fold == "Fold2") * 7);
            std::fs::write(place.path().join(format!("folds/{fold}/{name}.txt")), text).unwrap();
        }
    }
    let train = "train --folds folds --model linear --epochs 5 --json";
    let repeated = result(&place.run(&format!("{train} --repeat 2")).out);
    let second = result(&place.run(&format!("{train} --seed 2")).out);
    let said = &repeated["repeat"]["test"]["map"];
    assert_eq!(said["seeds"], serde_json::json!([repeated["test"]["map"]["mean"], second["test"]["map"]["mean"]]));
    assert_eq!(said["queries"]["n"], 12);
    let text = place.run(&format!("{} --repeat 2", train.replace(" --json", ""))).out;
    assert!(text.contains("The table above is of seed 1.") && text.contains("std dev over seeds"), "{text}");
}
