//! `burnrank export` on the command line: files, names, errors.

use super::support::Place;
use burnrank::export::FORMATS;

const NAMES: &str = "# what they are\n1 bm25\n2 clicks\n4 length\n";

/// A folder with data of five features and models.
fn place(settings: &[(&str, &str)]) -> Place {
    let place = Place::new(&[("names.txt", NAMES)]);
    place.run("generate net --queries 20 --documents 8 --features 5 --out all.txt").good();
    for (model, settings) in settings {
        place.run(&format!("train --train all.txt --epochs 2 --out {model} --quiet {settings}")).good();
    }
    place
}

#[test]
fn names_go_from_the_file_to_the_model_and_to_every_export() {
    let place = place(&[
        ("named", "--model linear --scale zscore --feature-names names.txt"),
        ("plain", "--model mlp --scale zscore"),
    ]);
    assert!(place.run("info named").good().contains("  features: bm25, clicks, f3, length, f5\n"));
    assert!(!place.run("info plain").good().contains("features: "));
    for format in FORMATS.iter().map(|format| format.name).filter(|format| *format != "lightgbm") {
        for (model, extra) in [("named", ""), ("plain", "--feature-names names.txt")] {
            let file = format!("{model}-{format}");
            let printed = place.run(&format!("export --model {model} --format {format} -o {file} {extra}")).good();
            assert!(printed.starts_with(&file) && printed.contains(format), "{printed}");
            let written = String::from_utf8_lossy(&std::fs::read(place.path().join(&file)).unwrap()).into_owned();
            let ranklib = ["elasticsearch", "opensearch"].contains(&format) && model == "plain";
            assert!(
                ranklib || ["bm25", "clicks", "f3", "length", "f5"].iter().all(|name| written.contains(name)),
                "{written}"
            );
        }
    }
    let json = place.run("info named --json").json();
    assert_eq!(json["feature_names"][3], "length");
    // Scores do not depend on names, and neither does the checksum.
    let plain = place.run("train --train all.txt --epochs 2 --out other --quiet --model linear --scale zscore");
    plain.good();
    assert_eq!(place.run("info other --json").json()["checksum"], json["checksum"]);
    // Indices from 0.
    place.run("convert all.txt --to-first-index 0 --out zero.txt").good();
    place.run("train --train zero.txt --first-index 0 --model mlp --epochs 1 --out zero --quiet").good();
    assert!(place.run("info zero").good().contains("  features: f0, f1, f2, f3, f4\n"));
}

#[test]
fn data_names_problematic_features() {
    let place = Place::new(&[
        ("a.txt", "1 qid:1 1:1 2:5000 3:7\n0 qid:1 1:2 2:1 3:7\n"),
        ("names.txt", "2 clicks\n3 language\n"),
    ]);
    let text = place.run("data a.txt --feature-names names.txt").good();
    assert!(text.contains("constant: 1 feature (language)") && text.contains("(feature 2, clicks)"), "{text}");
    assert_eq!(
        place.run("data a.txt --feature-names names.txt --json").json()["files"][0]["feature_names"][2],
        "language"
    );
    let message = place.run("data a.txt --feature-names a.txt").bad(1);
    assert!(message.contains("a.txt:1: bad name"), "{message}");
}

#[test]
fn files_are_written_atomically_and_not_replaced_without_force() {
    let place = place(&[("model", "--model linear --scale minmax")]);
    let printed = place.run("export --model model --format solr -o ranker.json").good();
    assert!(printed.starts_with("ranker.json, ranker.features.json: solr, linear net, 5 features\n"), "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    assert!(place.read("ranker.json").contains("\"name\": \"ranker\""));
    let before = place.list();
    for file in ["ranker.json", "ranker.features.json"] {
        let message = place.run(&format!("export --model model --format solr -o {file}")).bad(1);
        assert!(message.contains("already exists: choose another --out, or replace it with --force"), "{message}");
    }
    assert_eq!(place.list(), before);
    place.run("export --model model --format solr -o ranker.json --force").good();
    let json = place.run("export --model model --format json -o - --feature-names names.txt").json();
    assert_eq!((json["name"].as_str(), json["features"][1].as_str()), (Some("model"), Some("clicks")));
    let ran = place.run("export --model model --format solr -o -");
    assert!(ran.err.contains("note: its companion file NAME.features.json is only written with --out FILE"), "{ran:?}");
    let report = place.run("export --model model --format c -o m.c --json").json();
    assert_eq!((&report["files"][0], &report["format"]), (&"m.c".into(), &"c".into()));
    assert!(place.run("export --model model --format c -o missing/m.c").bad(1).contains("missing/m.c: cannot create"));
}

#[test]
fn invalid_options_are_errors_with_a_remedy() {
    let place = place(&[("model", "--model mlp --scale query-minmax")]);
    for (line, code, expected) in [
        ("--model model --format onxn -o m", 2, "unknown format 'onxn': did you mean 'onnx'?"),
        (
            "--model model --format tarball -o m",
            2,
            "unknown format 'tarball': expected onnx, solr, elasticsearch, opensearch",
        ),
        ("--model model --format json -o - --json", 2, "--json describes the output file"),
        ("--model nothing --format json -o m", 1, "nothing: not a model folder"),
        (
            "--model model --format solr -o m",
            1,
            "solr does not support features scaled within each query (query-minmax)",
        ),
        ("--model model --format solr -o m", 1, "training with --for solr selects only what solr supports"),
        ("--model model --format vespa -o m", 1, "train with --scale quantile, or export to onnx, rust or c"),
        (
            "--model model --format lightgbm -o m",
            1,
            "it contains only trees: train with --model trees, or export to onnx",
        ),
        ("--model model --format json -o m --feature-names all.txt", 1, "all.txt:1: bad"),
    ] {
        let message = place.run(&format!("export {line}")).bad(code);
        assert!(message.contains(expected), "{line}: {message}");
    }
    let long = "9 more_than_there_are\n";
    std::fs::write(place.path().join("long.txt"), long).unwrap();
    let message = place.run("export --model model --format json -o m --feature-names long.txt").bad(1);
    assert!(
        message.contains("long.txt: 'more_than_there_are' names feature 9, but the last feature of the data is 5"),
        "{message}"
    );
    assert!(!place.path().join("m").exists());
    let help = place.run("export --help").good();
    for format in FORMATS {
        assert!(help.contains(&format!("  {}", format.name)) && help.contains(&format.help[..20]), "{help}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
}

#[test]
fn a_model_with_damaged_names_is_refused() {
    let place = place(&[("model", "--model mlp --feature-names names.txt")]);
    let json = place.read("model/model.json");
    for (from, to, expected) in [
        ("\"bm25\"", "\"clicks\"", "two features are named 'clicks'"),
        ("\"bm25\"", "\"a b\"", "expected a name without whitespace"),
        ("\"bm25\",", "", "4 names for 5 features"),
    ] {
        std::fs::write(place.path().join("model/model.json"), json.replace(from, to)).unwrap();
        let message = place.run("info model").bad(1);
        assert!(message.contains("damaged") && message.contains(expected), "{message}");
    }
}
