//! `train --for FORMAT`: the model can always be exported to the format.

use super::support::Place;
use burnrank::model::ExportTarget;
use burnrank::setting::GROWS_TREES;
use serde_json::Value;

/// A folder with training, validation and test queries, and folds.
fn place() -> Place {
    let place = Place::new(&[]);
    place.run("generate net --queries 24 --documents 8 --features 5 --out all.txt").good();
    place.run("split all.txt --out parts").done();
    place.run("split all.txt --folds 3 --out folds").done();
    place
}

fn info(place: &Place, model: &str) -> Value {
    serde_json::from_str(&place.read(&format!("{model}/model.json"))).expect("JSON")
}

/// Trains, checks that the model states the target, and exports it.
fn train_and_export(place: &Place, target: &str, arguments: &str, models: &[&str]) {
    place.run(&format!("train --for {target} {arguments} --force --quiet --out m")).done();
    for model in models {
        let settings = &info(place, model)["settings"];
        assert_eq!(settings["for"], target, "{arguments}");
        let card = place.read(&format!("{model}/README.md"));
        assert!(card.contains(&format!("\n| export target | {target} |\n")), "{card}");
        let is_selected = settings["model"] == "auto";
        assert_eq!(card.contains(&format!(" --for {target} ")), !is_selected, "{card}");
        place.run(&format!("export --model {model} --format {target} -o exported --force")).good();
    }
}

#[test]
fn models_for_a_target_are_exported_to_it() {
    let place = place();
    let data = "--train parts/train.txt --valid parts/vali.txt";
    let targets = ExportTarget::ALL.into_iter().filter(|target| *target != ExportTarget::Any);
    for target in targets.map(ExportTarget::name) {
        let models = [
            "--trials 8",
            "--model auto --trials 1 --scale minmax",
            "--model linear --epochs 2",
            "--epochs 2 --hidden 4,3 --activation sigmoid",
            "--model mlp --epochs 2 --ensemble 2",
            "--model linear --epochs 2 --scale auto",
            "--model ranksvm",
            "--model rankboost --epochs 3",
        ];
        for model in models {
            train_and_export(&place, target, &format!("{data} {model}"), &["m"]);
        }
        if GROWS_TREES {
            for model in ["--trees 3", "--trees 3 --scale quantile --ensemble 2 --subsample 0.5"] {
                train_and_export(&place, target, &format!("{data} --model trees {model}"), &["m"]);
            }
        }
    }
    for (target, model) in [("solr", "--trials 2"), ("elasticsearch", "--model mlp --epochs 1")] {
        std::fs::remove_dir_all(place.path().join("m")).expect("a folder");
        train_and_export(&place, target, &format!("--folds folds {model}"), &["m/Fold1", "m/Fold3"]);
    }
}

#[test]
fn settings_that_a_target_does_not_support_are_refused() {
    let place = place();
    for (arguments, expected) in [
        (
            "--for opensearch --model linear --scale query-zscore",
            "--scale query-zscore: expected none, log1p, zscore, minmax, log1p-zscore or quantile with --for opensearch",
        ),
        (
            "--for vespa --scale query-minmax",
            "--scale query-minmax: expected none, log1p, zscore, minmax, log1p-zscore",
        ),
        (
            "--for elasticsearch --activation relu",
            "--activation relu: expected sigmoid or tanh with --for elasticsearch",
        ),
        (
            "--for solr --model kernel-ranknet",
            "--for solr does not support kernel-ranknet (sum of kernels): choose --model linear, mlp, trees",
        ),
        ("--for solr --model trees --leaves 1000", "--leaves 1000: expected at most 401 with --for solr"),
        ("--for slr", "unknown target 'slr': did you mean 'solr'?"),
    ] {
        let message = place.run(&format!("train --train parts/train.txt --out m {arguments}")).bad(2);
        assert!(message.contains(expected), "{arguments}: {message}");
    }
    let message = place.run("tune --train parts/train.txt --for slr").bad(2);
    assert!(message.contains("unknown target 'slr'"), "{message}");
    std::fs::write(place.path().join("space.toml"), "[nets]\nscale = [\"query-minmax\"]\n").expect("a file");
    let message = place.run("tune --train parts/train.txt --for solr --space space.toml").bad(2);
    assert!(
        message.contains(
            "--scale query-minmax: expected none, log1p, zscore, minmax, log1p-zscore or quantile with --for solr"
        ),
        "{message}"
    );
    assert!(!place.path().join("m").exists());
}

#[test]
fn tune_prints_a_command_with_the_target() {
    let place = place();
    let arguments =
        "tune --train parts/train.txt --valid parts/vali.txt --for solr --trials 4 --epochs 3 --json --quiet";
    let report: Value = serde_json::from_str(&place.run(arguments).done()).expect("JSON");
    let command = report["command"].as_str().expect("a command");
    assert!(command.contains(" --for solr"), "{command}");
    let train = command.strip_prefix("burnrank ").expect("the tool");
    place.run(&format!("{train} --quiet")).done();
    place.run("export --model model --format solr -o solr.json").good();
    // A model without a target does not state one.
    place
        .run("train --train parts/train.txt --model linear --scale query-zscore --epochs 1 --out plain --quiet")
        .done();
    assert!(
        info(&place, "plain")["settings"].get("for").is_none() && !place.read("plain/README.md").contains("target")
    );
    let message = place.run("export --model plain --format solr -o m.json").bad(1);
    assert!(
        message.contains("or export to onnx, rust or c; training with --for solr selects only what solr supports"),
        "{message}"
    );
}
