//! Warnings about input without effect: side files, constant labels, thresholds above all labels.

use super::support::Place;

/// Queries of four documents with two features; the label is the number of the document.
fn data(queries: usize, label: impl Fn(usize) -> f64) -> String {
    (0..4 * queries).map(|i| format!("{} qid:{} 1:{} 2:{}\n", label(i), i / 4, i % 7, (i * i) % 5)).collect()
}

#[test]
fn unsupported_side_files_of_lightgbm_are_named() {
    let rows = data(10, |i| (i % 3) as f64);
    let files = ["train.txt", "vali.txt", "test.txt"].map(|name| (name, rows.as_str()));
    let place = Place::new(&files);
    let weights = "1\n".repeat(40);
    for name in ["train.txt.weight", "train.txt.init", "vali.txt.weight", "test.txt.position"] {
        std::fs::write(place.path().join(name), &weights).unwrap();
    }
    let train =
        "train --train train.txt --valid vali.txt --test test.txt --model linear --epochs 1 --out m --json --quiet";
    let ran = place.run(train);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let last = ran.out.lines().last().unwrap();
    for (file, holds) in [
        ("train.txt.weight", "weights of documents"),
        ("train.txt.init", "initial scores"),
        ("vali.txt.weight", "weights of documents"),
        ("test.txt.position", "positions of documents"),
    ] {
        let note = format!("note: {file}: ignored: {holds} are not supported\n");
        assert_eq!(ran.err.matches(&note).count(), 1, "{}", ran.err);
        assert!(last.contains(&format!("\"about\":\"{file}\"")), "{last}");
    }
    let ran = place.run("evaluate --data vali.txt --model m");
    assert!(ran.err.contains("note: vali.txt.weight: ignored"), "{ran:?}");
    // The missing file is not mentioned, and queries are read as before.
    assert!(!ran.err.contains("train.txt"), "{ran:?}");
}

#[test]
fn constant_labels_are_refused_before_any_work() {
    let zero = data(12, |_| 0.0);
    // Labels differ, but not within a query.
    let by_query = data(12, |i| (i / 4 % 3) as f64);
    let place =
        Place::new(&[("zero.txt", &zero), ("query.txt", &by_query), ("good.txt", &data(12, |i| (i % 3) as f64))]);
    std::fs::create_dir(place.path().join("folds")).unwrap();
    for fold in ["Fold1", "Fold2"] {
        std::fs::create_dir(place.path().join("folds").join(fold)).unwrap();
        for name in ["train.txt", "vali.txt", "test.txt"] {
            std::fs::write(place.path().join("folds").join(fold).join(name), &zero).unwrap();
        }
    }
    let mut commands: Vec<String> = ["zero.txt", "query.txt"]
        .into_iter()
        .flat_map(|file| {
            let train = format!("train --train {file} --valid good.txt --out m");
            let options = ["", "--model linear", "--model mlp --ensemble 2", "--model mlp --test good.txt --repeat 2"];
            let trained = options.map(|options| format!("{train} {options}"));
            trained.into_iter().chain([format!("tune --train {file} --valid good.txt --out found --trials 2")])
        })
        .collect();
    let trees = cfg!(feature = "trees").then_some("trees");
    let baselines = ["ranksvm", "rankboost", "adarank", "coordinate-ascent", "svm-map", "smoothrank", "rankprop"];
    for model in baselines.into_iter().chain(trees) {
        commands.push(format!("train --train zero.txt --valid good.txt --out m --model {model}"));
    }
    commands.push("train --train zero.txt --valid good.txt --out m --scale auto --model linear".into());
    commands.push("train --train zero.txt --valid good.txt --out m --objective ranknet --model linear".into());
    commands.push("train --folds folds".into());
    commands.push("train --folds folds --model linear".into());
    let before = place.list();
    for command in commands {
        let message = place.run(&format!("{command} --quiet")).bad(1);
        let said = "no training query has documents with different labels, so there is nothing to learn";
        assert!(message.contains(".txt: ") && message.contains(said), "{command}: {message}");
        assert!(message.contains("--objective squared-error"), "{command}: {message}");
        assert_eq!(place.list(), before, "{command}");
    }
    // Pointwise methods can learn from them.
    for (model, out) in [("linear --objective squared-error --epochs 2", "a"), ("prank --epochs 2", "b")] {
        place.run(&format!("train --train query.txt --valid good.txt --model {model} --out {out} --quiet")).done();
    }
}

#[test]
fn target_probabilities_can_replace_constant_labels() {
    let rows: String = (0..12).map(|i| format!("0 qid:{} 1:{} 2:{} #docid = d{i}\n", i / 4, i % 7, i % 3)).collect();
    let targets: String = (0..3).map(|q| format!("{q} d{} d{} 0.9\n", 4 * q, 4 * q + 1)).collect();
    let place =
        Place::new(&[("zero.txt", &rows), ("good.txt", &data(6, |i| (i % 3) as f64)), ("targets.txt", &targets)]);
    let train = "train --train zero.txt --valid good.txt --objective ranknet --model linear --epochs 2 --out m --quiet";
    assert_eq!(place.run(&format!("{train} --targets targets.txt")).code, Some(0));
}

#[test]
fn binary_metrics_without_relevant_labels_are_named() {
    let place = Place::new(&[("rates.txt", &data(12, |i| (i % 4) as f64 / 5.0)), ("s.txt", ""), ("t.txt", "")]);
    let scores = |file: &str, modulus: usize| {
        let text: String = (0..48).map(|i| format!("{}\n", i % modulus)).collect();
        std::fs::write(place.path().join(file), text).unwrap();
    };
    scores("s.txt", 5);
    scores("t.txt", 7);
    let what = "no document is relevant by map, mrr: the highest label, 0.6, is below the threshold";
    let train = place.run("train --train rates.txt --model linear --epochs 1 --out m");
    assert_eq!(train.code, Some(0), "{train:?}");
    assert!(train.err.contains(&format!("note: rates.txt: {what}: ")), "{train:?}");
    assert!(train.err.contains("--threshold"), "{train:?}");
    for command in [
        "evaluate --data rates.txt --scores s.txt",
        "compare s.txt t.txt --data rates.txt --metric ndcg@10,map,mrr",
        "report m --data rates.txt --out page.html --metric ndcg@10",
    ] {
        let ran = place.run(command);
        assert_eq!(ran.code, Some(0), "{command}: {ran:?}");
        assert!(ran.err.contains("note: rates.txt: ") && ran.err.contains("map"), "{command}: {ran:?}");
        assert!(ran.err.contains("is below the threshold: lower --threshold"), "{command}: {ran:?}");
        let lower = place.run(&format!("{} --threshold 0.4", command.replace("page", "other")));
        assert_eq!((lower.code, lower.err.contains("below the threshold")), (Some(0), false), "{command}: {lower:?}");
    }
    place.run("evaluate --data rates.txt --scores s.txt --threshold 0.4").good();
    place.run("evaluate --data rates.txt --scores s.txt --metric map:rel=0.4,ndcg@10").good();
    let message = place.run("explain --model m --data rates.txt --metric map").err;
    assert!(message.contains("no document is relevant by map: "), "{message}");
}
