//! Caches instead of text: every command prints the same, and training gives the same bytes.

use super::support::Place;
use serde_json::Value;
use std::io::Write;

/// Sparse text with 40 queries of different lengths and document ids, compressed copies, and a cache of it.
fn place() -> Place {
    let place = Place::new(&[]);
    let mut text = String::new();
    for row in 0..400_usize {
        let query = (row as f64).sqrt() as usize * 2 + row % 400 / 200;
        let label = (row * 7 + row / 3) % 4;
        text += &format!("{label} qid:{query}");
        for feature in (1..=6).filter(|feature| (row + feature) % 5 > 0) {
            let value = (row * 31 * feature) % 97 + label * feature;
            text += &format!(" {feature}:{}", value as f32 / 8.0 - 3.0);
        }
        text += &format!(" # docid = d{row}\n");
    }
    let path = |name: &str| place.path().join(name);
    std::fs::write(path("a.txt"), &text).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    std::fs::write(path("a.txt.gz"), gzip.finish().unwrap()).unwrap();
    std::fs::write(path("a.txt.zst"), zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    let printed = place.run("convert a.txt --regroup --to cache --out a.cache").good();
    assert!(printed.starts_with("a.cache: "), "{printed}");
    place
}

/// Returns a model's record and its model.json without file names.
fn model(place: &Place, folder: &str) -> (Vec<u8>, Value) {
    let record = std::fs::read(place.path().join(folder).join("model.bpk")).unwrap();
    let mut info: Value = serde_json::from_str(&place.read(&format!("{folder}/model.json"))).unwrap();
    for split in info["data"].as_object_mut().unwrap().values_mut() {
        split["source"] = Value::Null;
        split["file"] = Value::Null;
    }
    (record, info)
}

#[test]
fn text_compressed_text_and_a_cache_train_the_same_bytes() {
    let place = place();
    for kind in ["linear", "mlp --hidden 4"] {
        for scaling in ["none", "log1p", "zscore", "minmax", "log1p-zscore", "quantile", "query-minmax", "query-zscore"]
        {
            let train = |file: &str, threads: usize, out: &str| {
                let own = if file.ends_with("cache") { "" } else { "--regroup" };
                let options =
                    format!("--scale {scaling} --epochs 3 --seed 3 --force --quiet --threads {threads} {own}");
                place.run(&format!("train --train {file} --model {kind} --out {out} {options}")).done();
                model(&place, out)
            };
            let expected = train("a.txt", 1, "text");
            for (file, threads) in [("a.txt.gz", 2), ("a.txt.zst", 2), ("a.cache", 1), ("a.cache", 2)] {
                assert!(train(file, threads, "other") == expected, "{kind}, {scaling}, {file}, {threads} threads");
            }
        }
    }
}

#[test]
fn separate_validation_and_test_caches_train_the_same_bytes() {
    let place = place();
    place.run("split a.cache --out parts --parts 3,1,1 --quiet").done();
    for part in ["train", "vali", "test"] {
        place.run(&format!("convert parts/{part}.txt --to cache --out {part}.cache")).good();
    }
    let common = "--model mlp --hidden 4 --scale zscore --epochs 3 --quiet --force --ensemble 2";
    let text = "--train parts/train.txt --valid parts/vali.txt --test parts/test.txt";
    place.run(&format!("train {text} {common} --out text")).done();
    let caches = "--train train.cache --valid vali.cache --test test.cache";
    place.run(&format!("train {caches} {common} --out cache")).done();
    assert!(model(&place, "text") == model(&place, "cache"));
    // Baselines read caches into memory.
    for own in ["ranksvm", "feature"] {
        for (files, out) in [(text, "text"), (caches, "cache")] {
            place.run(&format!("train {files} --model {own} --epochs 2 --quiet --force --out {out}")).done();
        }
        assert!(model(&place, "text") == model(&place, "cache"), "{own}");
    }
}

#[test]
fn every_command_reads_a_cache_instead_of_text() {
    let place = place();
    place.run("train --train a.cache --model linear --scale minmax --epochs 2 --quiet --out model").done();
    place.run("predict --model model --data a.cache --out scores.txt").good();
    place.run("convert a.cache --out again.txt").good();
    place.run("convert a.txt --regroup --out b.plain").good();
    assert_eq!(place.read("again.txt"), place.read("b.plain"));
    let same = |command: &str| {
        let (text, cache) =
            (place.run(&command.replace("DATA", "b.plain")), place.run(&command.replace("DATA", "a.cache")));
        assert_eq!(text.code, Some(0), "{command}: {text:?}");
        assert_eq!(text.out, cache.out.replace("a.cache", "b.plain"), "{command}: {cache:?}");
    };
    for command in [
        "predict --model model --data DATA",
        "predict --model model --data DATA --format trec",
        "evaluate --data DATA --model model",
        "evaluate --data DATA --scores scores.txt --per-query",
        "compare scores.txt model --data DATA --json",
        "explain --model model --data DATA",
        "certify --model model --data DATA",
        "lambda --data DATA --model model --objective lambdarank:ndcg",
        "convert DATA --to qrels --out -",
        "convert DATA --scale zscore --out -",
    ] {
        same(command);
    }
    let report = |file: &str| {
        let mut report = place.run(&format!("data {file} --json --objective ranknet")).json()["files"][0].clone();
        for key in ["file", "bytes", "cache"] {
            report.as_object_mut().unwrap().remove(key);
        }
        report
    };
    assert_eq!(report("b.plain"), report("a.cache"));
    let printed = place.run("data a.cache --check").good();
    assert!(printed.replace('\n', " ").contains("All checksums match."), "{printed}");
}

#[test]
fn half_precision_reports_rounding_errors() {
    let place = place();
    let printed = place.run("convert a.txt --regroup --to cache --half --out half.cache").good();
    assert!(printed.contains("Rounded to f16: the largest absolute error is 0e0"), "eighths are f16: {printed}");
    let size = |name: &str| std::fs::metadata(place.path().join(name)).unwrap().len();
    assert!(size("half.cache") < size("a.cache"));
    let train = "--model mlp --hidden 3 --epochs 2 --quiet";
    for file in ["a.cache", "half.cache"] {
        place.run(&format!("train --train {file} {train} --out {file}.model")).done();
    }
    assert!(
        model(&place, "a.cache.model") == model(&place, "half.cache.model"),
        "what f16 holds trains the same bytes"
    );
    std::fs::write(place.path().join("b.txt"), "1 qid:a 1:0.1 2:5\n0 qid:a 1:3 2:70000\n").unwrap();
    let message = place.run("convert b.txt --to cache --half --out b.cache").bad(1);
    assert!(
        message.contains("b.txt: feature 2 of document 2 is 70000, but the largest f16 is 65504: omit --half"),
        "{message}"
    );
    std::fs::write(place.path().join("b.txt"), "1 qid:a 1:0.1 2:5\n0 qid:a 1:3 2:7\n").unwrap();
    let report = place.run("convert b.txt --to cache --half --out b.cache --json").json();
    assert!((report["rounding"]["error"].as_f64().unwrap() - 2.44e-5).abs() < 1e-7, "{report}");
}

#[test]
fn generate_writes_a_cache_if_the_name_says_so() {
    let place = Place::new(&[]);
    let settings = "generate web --queries 30 --documents 10 --seed 3";
    place.run(&format!("{settings} --quiet --out a.txt")).done();
    place.run(&format!("{settings} --quiet --out a.cache")).done();
    place.run("convert a.cache --out b.txt").good();
    assert_eq!(place.read("a.txt"), place.read("b.txt"));
    // A cache that was not made from text cannot become stale.
    place.run("data a.cache --check --json").good();
}

#[test]
fn a_cache_keeps_the_names_of_features() {
    let place = Place::new(&[("a.txt", super::SMALL), ("names", "1 bm25\n2 clicks\n")]);
    place.run("convert a.txt --to cache --feature-names names --out a.cache").good();
    let report = place.run("data a.cache --json").json();
    assert_eq!(report["files"][0]["cache"]["feature_names"], serde_json::json!(["bm25", "clicks"]));
    place.run("convert a.cache --to cache --out b.cache").good();
    let report = place.run("data b.cache --json").json();
    assert_eq!(report["files"][0]["cache"]["feature_names"], serde_json::json!(["bm25", "clicks"]));
    // A model keeps the names; text has none, and its features are matched by index.
    place.run("train --train b.cache --valid a.txt --model linear --epochs 1 --out model --quiet").done();
    assert_eq!(place.run("info model --json").json()["feature_names"], serde_json::json!(["bm25", "clicks"]));
    assert_eq!(
        place.run("predict --model model --data a.txt").good(),
        place.run("predict --model model --data a.cache").good()
    );
}

#[test]
fn invalid_options_for_caches_are_refused() {
    let place = Place::new(&[("a.txt", super::SMALL)]);
    for (arguments, code, expected) in [
        ("convert a.txt --to cache --out -", 2, "a cache can neither be compressed nor written to standard output"),
        (
            "convert a.txt --to cache --out a.cache.gz",
            2,
            "a cache can neither be compressed nor written to standard output",
        ),
        ("convert a.txt --half --out b.txt", 2, "add --to cache"),
        ("convert a.txt --to cache --scale zscore --out a.cache", 2, "--scale is for LETOR output"),
        ("convert a.txt --to cache --out no/such/a.cache", 1, "cannot create"),
    ] {
        let message = place.run(arguments).bad(code);
        assert!(message.contains(expected), "{arguments}: {message}");
    }
    place.run("convert a.txt --to cache --out a.cache").good();
    let message = place.run("convert a.txt --to cache --out a.cache").bad(1);
    assert!(message.contains("already exists"), "{message}");
    place.run("convert a.txt --to cache --force --out a.cache").good();
    let cache = std::fs::read(place.path().join("a.cache")).unwrap();
    for (arguments, expected) in [
        ("data -", "this is a cache file: pass the file itself"),
        ("evaluate --data a.txt --scores -", "this is a cache file"),
    ] {
        let message = place.run_with(arguments, &cache).bad(1);
        assert!(message.contains(expected), "{message}");
    }
    assert!(place.run("data a.cache --first-index 0").bad(1).contains("remove --first-index 0"));
    assert!(place.run("data a.cache --query-file a.txt").err.contains("--query-file applies to LETOR, "));
}
