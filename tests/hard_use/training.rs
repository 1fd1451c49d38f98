//! Training that is interrupted, refused or diverges loses nothing and says why.

use crate::support::{Place, Ran, wait_for_checkpoint};
use burnrank::ScaleKind;
use burnrank::Schedule;
use burnrank::data::Targets;
use burnrank::{Dataset, Error, Objective, Synthetic, TrainConfig, Trainer, device};
use std::fmt::Write;
use std::process::Stdio;

/// Queries of five documents; feature 1 determines the labels 0 to 2, `last` is the index of the last feature.
fn data(queries: usize, last: usize, seed: usize) -> String {
    let mut text = String::new();
    for query in 0..queries {
        for place in 0..5 {
            let label = (query * 3 + place * 7 + seed) % 3;
            let _ = write!(text, "{label} qid:{query}");
            for feature in 1..=last {
                let noise = (query * 31 + place * 17 + feature * 13 + seed * 5) % 10;
                let value = if feature == 1 { 10 * label } else { noise + 1 };
                let _ = write!(text, " {feature}:{value}");
            }
            text.push('\n');
        }
    }
    text
}

fn place() -> Place {
    Place::new(&[("train.txt", &data(10, 3, 0)), ("valid.txt", &data(4, 3, 1)), ("test.txt", &data(4, 3, 2))])
}

const TRAIN: &str = "train --train train.txt --valid valid.txt --epochs 3 --out model";

fn is_a_model(place: &Place, folder: &str) -> bool {
    place.run(&format!("info {folder}")).code == Some(0)
}

fn small() -> (Dataset, Dataset) {
    let generator = Synthetic { queries: 12, documents: 6, features: 4, ..Synthetic::net() }.generator().unwrap();
    (generator.part(0..8).unwrap().0, generator.part(8..12).unwrap().0)
}

fn config(objective: &str, metric: &str) -> TrainConfig {
    let objective = Objective::parse(objective).unwrap();
    TrainConfig {
        objective,
        metric: metric.into(),
        epochs: 4,
        schedule: Schedule::Constant,
        scaling: ScaleKind::QueryMinMax,
        learning_rate: 0.001,
        ..TrainConfig::default()
    }
}

#[test]
fn a_checkpoint_from_before_the_first_epoch_can_be_resumed() {
    let (train, valid) = small();
    let device = device::open("auto").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    // One metric to maximise, one to minimise: the best value so far is minus or plus infinity.
    for metric in ["ndcg@10", "arp"] {
        let start = || Trainer::new(config("ranknet", metric), &train, &valid, &device).unwrap();
        start().save_checkpoint(&path).unwrap();
        let mut resumed = start().resume(&path).unwrap();
        let mut whole = start();
        for _ in 0..2 {
            let (mut a, mut b) = (resumed.epoch().unwrap(), whole.epoch().unwrap());
            (a.seconds, b.seconds) = (0.0, 0.0);
            assert_eq!(a, b, "{metric}");
        }
    }
}

#[test]
fn other_targets_make_a_different_run() {
    let (train, valid) = small();
    let device = device::open("auto").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    let id = &train.query_ids()[0];
    let targets = |p: &str| Targets::parse("t", &format!("{id} 1 2 {p}\n{id} 3 4 0.5\n"), &train).unwrap();
    let (given, same, other) = (targets("0.9"), targets("0.9"), targets("0.8"));
    let start = || Trainer::new(config("ranknet", "map"), &train, &valid, &device).unwrap();
    let mut trainer = start().with_targets(&given).unwrap();
    trainer.epoch().unwrap();
    trainer.save_checkpoint(&path).unwrap();
    assert!(start().with_targets(&same).unwrap().resume(&path).is_ok());
    let refused = |trainer: Trainer<'_>| match trainer.resume(&path) {
        Err(Error::Model { message, .. }) => assert!(message.contains("other settings or data"), "{message}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a checkpoint of other targets was accepted"),
    };
    refused(start().with_targets(&other).unwrap());
    refused(start());
}

#[test]
fn labels_invalid_for_the_metric_are_detected_before_training() {
    let place = place();
    let high = data(10, 3, 0).replacen("2 qid", "2000 qid", 3);
    std::fs::write(place.0.path().join("high.txt"), &high).unwrap();
    let line = high.lines().position(|line| line.starts_with("2000")).unwrap() + 1;
    let train = "train --train high.txt --valid valid.txt --epochs 3 --out model --json";

    // Refused by the metric that selects the epoch, or by the objective, with file, line and remedy.
    for options in ["--objective ranknet --metric ndcg@5", "--objective lambdarank:ndcg --metric map"] {
        let message = place.run(&format!("{train} {options}")).bad(1);
        for part in ["high.txt: ", "label 2000 ", "2^y - 1", "linear", &format!("on line {line}")] {
            assert!(message.contains(part), "{options}: {part:?} is not in {message}");
        }
    }
    assert!(!place.list().iter().any(|name| name.starts_with("model")), "{:?}", place.list());

    // An additional metric is only omitted.
    let ran = place.run(&format!("{train} --objective ranknet --metric map"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("note: ndcg@10: not computed: high.txt: query "), "{}", ran.err);
    let result: serde_json::Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    assert!(result["metrics"]["train"]["map"].is_f64() && result["metrics"]["train"]["ndcg@10"].is_null());
    assert!(result["metrics"]["valid"]["ndcg@10"].is_f64());
    assert_eq!(result["warnings"][0]["about"], "ndcg@10");
    assert!(is_a_model(&place, "model"));

    // Test data that cannot be evaluated is detected before the first epoch, too.
    let message = place.run("train --train train.txt --test high.txt --metric ndcg@5 --epochs 3 --out other").bad(1);
    assert!(message.contains("high.txt: query 1 of the data: ndcg@5 is not finite"), "{message}");
}

#[test]
fn a_trainer_refuses_labels_invalid_for_the_metric() {
    let of = |label: f32| Dataset::new(1, vec![0.0; 2], vec![label, 0.0], vec![("a".into(), 2)]).unwrap();
    let device = device::open("auto").unwrap();
    let message = |objective: &str, metric: &str, train: f32, valid: f32| {
        let (train, valid) = (of(train), of(valid));
        let made = Trainer::new(config(objective, metric), &train, &valid, &device);
        made.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(message("ranknet", "map", 2000.0, 2000.0), "");
    assert!(message("ranknet", "ndcg", 2000.0, 1.0).contains("ndcg is not finite"));
    assert!(message("ranknet", "ndcg", 1.0, 2000.0).contains("ndcg is not finite"));
    assert!(message("ranknet", "err@10", 1.0, 9.0).contains("err:max=9"));
    assert!(message("lambdarank:ndcg", "map", 2000.0, 1.0).contains("label 2000 is too high for lambdarank:ndcg"));
}

#[test]
fn an_unwritable_folder_is_detected_before_training() {
    let place = place();
    let message = place.run("train --train train.txt --epochs 3 --out train.txt/model --json").bad(1);
    assert!(message.contains("train.txt/model"), "{message}");
    let message = place.run(&format!("{TRAIN} --json --log no/such/log")).bad(1);
    assert!(message.contains("no/such/log: cannot write"), "{message}");
}

/// Runs a command with a closed standard output.
fn closed(place: &Place, arguments: &str) -> Ran {
    let mut child =
        place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the tool starts");
    drop(child.stdout.take());
    Ran::of(child.wait_with_output().expect("the tool ends"))
}

#[cfg(target_os = "linux")]
fn full(place: &Place, arguments: &str) -> Ran {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    Ran::of(place.command(arguments).stdout(full).output().expect("the tool runs"))
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_or_full_output_is_reported_and_does_not_stop_training() {
    for run in [closed, full] {
        for options in ["", "--json"] {
            let place = place();
            let ran = run(&place, &format!("{TRAIN} {options}"));
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(ran.err.starts_with("error: the output could not be written: "), "{}", ran.err);
            assert!(ran.err.ends_with("; the model is in model\n"), "{}", ran.err);
            assert!(is_a_model(&place, "model"));
        }
        let place = place();
        place.run("generate net --queries 12 --documents 4 --features 3 --out all.txt").good();
        place.run("split all.txt --out folds --folds 3").good();
        let ran = run(&place, "train --folds folds --epochs 2 --out models --json");
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.err.ends_with("; the models are in models\n"), "{}", ran.err);
        assert!(["Fold1", "Fold2", "Fold3"].iter().all(|fold| is_a_model(&place, &format!("models/{fold}"))));
        // The demonstration prints nothing before the end.
        let ran = run(&place, "train --epochs 1 --objective ranknet --out shown");
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(is_a_model(&place, "shown/demo-ranknet"));
    }
    // Other commands may end early with the reader of their output, but not when a disk is full.
    let place = place();
    let ran = closed(&place, "data train.txt");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let ran = full(&place, "data train.txt");
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.starts_with("error: cannot write to standard output: No space left"), "{}", ran.err);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_or_closed_log_is_reported_and_does_not_stop_training() {
    let place = place();
    let ran = place.run(&format!("{TRAIN} --log /dev/full"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("best epoch"), "{}", ran.out);
    assert_eq!(ran.err.matches("No space left").count(), 1, "{}", ran.err);
    assert!(ran.err.ends_with("error: /dev/full: the log is incomplete; the model is in model\n"), "{}", ran.err);
    assert!(is_a_model(&place, "model"));
    // If standard error is full, only notes are lost.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let command = "train --train train.txt --valid train.txt --epochs 2 --out other";
    let ran = Ran::of(place.command(command).stderr(full).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(is_a_model(&place, "other"));
}

#[test]
fn test_data_does_not_change_the_model() {
    let place = place();
    place.run(TRAIN).good();
    place.run(&TRAIN.replace("--out model", "--test test.txt --out tested")).good();
    let bytes = |folder: &str| std::fs::read(place.0.path().join(folder).join("model.bpk")).unwrap();
    assert_eq!(bytes("model"), bytes("tested"));

    std::fs::write(place.0.path().join("wide.txt"), data(4, 4, 2)).unwrap();
    for option in ["--test wide.txt", "--valid wide.txt"] {
        let message = place.run(&format!("train --train train.txt {option} --epochs 3 --out no")).bad(1);
        let expected = "error: wide.txt: the data has 4 features, but the training data has 3: check that this";
        assert!(message.starts_with(expected), "{message}");
        assert!(message.contains("--features 4"), "{message}");
        let ran = place.run(&format!("train --train train.txt {option} --epochs 3 --out wide --force --features 4"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    assert!(!place.list().contains(&"no".to_owned()));
}

#[test]
fn fewer_features_than_the_model_must_be_declared_or_evident() {
    let dense = data(4, 2, 2);
    // The last document omits its first feature: zeros may be omitted anywhere.
    let (rest, last) = dense.trim_end().rsplit_once('\n').unwrap();
    let sparse = format!("{rest}\n{} 2:7\n", last.split_once(" 1:").unwrap().0);
    let place = place();
    std::fs::write(place.0.path().join("dense.txt"), &dense).unwrap();
    std::fs::write(place.0.path().join("sparse.txt"), sparse).unwrap();
    place.run(TRAIN).good();
    place.run(&TRAIN.replace("--out model", "--out twin")).good();
    for command in [
        "predict --model model --data FILE",
        "predict --model model --data FILE --regroup",
        "evaluate --model model --data FILE",
        "compare model twin --data FILE",
        "certify --model model --data FILE --directions 5",
        "train --train train.txt --test FILE --epochs 1 --out other --force",
    ] {
        let message = place.run(&command.replace("FILE", "dense.txt")).bad(1);
        assert!(message.contains("every document of the data lists all 2 features"), "{command}: {message}");
        assert!(message.contains("trained on 3") && message.contains("--fill-zeros"), "{command}: {message}");
        for good in ["dense.txt --fill-zeros", "sparse.txt"] {
            let ran = place.run(&command.replace("FILE", good));
            assert_eq!(ran.code, Some(0), "{command} {good}: {ran:?}");
            let note = "2 of the model's 3 features; the last one is filled with 0";
            assert!(ran.err.contains(note), "{command} {good}: {}", ran.err);
        }
    }
    assert_eq!(place.run("predict --model model --data dense.txt --out scores.txt").code, Some(1));
    assert!(!place.list().contains(&"scores.txt".to_owned()));
    let whole = place.run("predict --model model --data sparse.txt --regroup").out;
    assert_eq!(place.run("predict --model model --data sparse.txt").out, whole);
    std::fs::write(place.0.path().join("wide.txt"), data(4, 4, 2)).unwrap();
    let message = place.run("predict --model model --data wide.txt").bad(1);
    assert!(message.contains("wide.txt: the data has 4 features, but the model was trained on 3"), "{message}");
}

#[test]
fn chunks_of_any_size_are_sparse_if_the_file_is() {
    use burnrank::data::Chunks;
    use burnrank::{ReadOptions, read};
    let dense = data(6, 3, 0);
    let gap = dense.clone() + "0 qid:last 1:1 3:1\n";
    let short = dense.clone() + "0 qid:last 1:1 2:1\n";
    let wide = dense.clone() + "0 qid:last 1:1 2:1 3:1 4:1\n";
    let place = Place::new(&[("dense", &dense), ("gap", &gap), ("short", &short), ("wide", &wide)]);
    for (name, sparse) in [("dense", false), ("gap", true), ("short", true), ("wide", true)] {
        let path = place.0.path().join(name);
        let whole = read(&path, &ReadOptions::default()).unwrap().data;
        assert_eq!(whole.is_sparse(), sparse, "{name}");
        for bytes in [1, 100, 1000, 1 << 20] {
            let mut chunks = Chunks::open(&path, &ReadOptions::default()).unwrap().with_chunk_bytes(bytes);
            assert!(chunks.by_ref().all(|chunk| chunk.is_ok()));
            assert_eq!((chunks.is_sparse(), chunks.n_features()), (sparse, whole.n_features()), "{name} by {bytes}");
        }
    }
}

#[test]
fn training_reports_data_problems() {
    let place = place();
    let constant = data(6, 3, 0).lines().map(|line| format!("1{}\n", &line[1..])).collect::<String>();
    std::fs::write(place.0.path().join("constant.txt"), constant).unwrap();
    std::fs::write(place.0.path().join("high.txt"), data(10, 3, 0).replacen("2 qid", "30 qid", 1)).unwrap();
    let overlap = data(3, 3, 0) + &data(8, 3, 4).replace("qid:", "qid:x");
    std::fs::write(place.0.path().join("overlap.txt"), overlap).unwrap();
    for (options, expected) in [
        ("--train train.txt --valid constant.txt", "constant.txt: all documents have the label 1: "),
        ("--train high.txt --valid valid.txt", "high.txt: the highest label is 30, first on line 3: its gain 2^y - 1"),
        ("--train train.txt --valid train.txt", "train.txt: identical to the training data: "),
        ("--train train.txt --valid valid.txt --test train.txt", "train.txt: identical to the training data: "),
        ("--train train.txt --valid valid.txt --test valid.txt", "valid.txt: identical to the validation data: "),
        ("--train train.txt --test train.txt", "train.txt: 8 queries are also in the training data: "),
        (
            "--train train.txt --valid valid.txt --test overlap.txt",
            "overlap.txt: 3 queries are also in the training data: ",
        ),
    ] {
        let ran = place.run(&format!("train {options} --epochs 2 --out model --force --json"));
        assert_eq!(ran.code, Some(0), "{options}: {ran:?}");
        assert!(ran.err.contains(&format!("note: {expected}")), "{options}: {}", ran.err);
        let result: serde_json::Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
        let odd = &result["warnings"][0];
        let said = format!("{}: {}: {}", odd["about"], odd["message"], odd["remedy"]).replace('"', "");
        assert!(said.starts_with(expected), "{said}");
    }
    // A feature that scaling makes 0 is still in the file.
    let same = data(10, 3, 0).replace(" 1:", " 0:5 1:");
    std::fs::write(place.0.path().join("same.txt"), same).unwrap();
    let ran = place.run("train --train same.txt --first-index 0 --epochs 1 --out model --force");
    assert!(!ran.err.contains("0 everywhere"), "{}", ran.err);
    // No warning for good data, or for high labels if no gain is 2^y - 1.
    place.run(&format!("{TRAIN} --force")).good();
    place
        .run("train --train high.txt --valid valid.txt --epochs 2 --out model --force --objective ranknet --metric map")
        .good();
}

#[test]
fn divergence_is_explained() {
    let place = place();
    // The penalty diverges: each update multiplies the weights by a thousand, until they are infinite.
    let options = "--model linear --optimizer sgd --lr 100 --l2 10 --patience 0";
    let train = format!("{} {options}", TRAIN.replace("--epochs 3", "--epochs 60"));
    let ran = place.run(&format!("{train} --json"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("note: training: diverged in epoch ") && ran.err.contains("lower --lr"), "{}", ran.err);
    let result: serde_json::Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    assert_eq!(result["finish"], "diverged", "{result}");
    assert!(result["warnings"][0]["message"].as_str().unwrap().starts_with("diverged in epoch "), "{result}");
    let shown = place.run(&format!("{train} --force")).out;
    assert!(shown.lines().next().unwrap().ends_with(", then it diverged"), "{shown}");
}

#[cfg(unix)]
#[test]
fn a_log_has_every_epoch_once_after_an_interrupt_and_a_torn_line() {
    let place = place();
    let path = |name: &str| place.0.path().join(name);
    let train =
        "train --train train.txt --valid valid.txt --patience 0 --checkpoint-every 0 --out model --log log.jsonl";
    let mut child = place.command(&format!("{train} --epochs 1000000"));
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_checkpoint(&mut child, &path("model.checkpoint"));
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let log = place.read("log.jsonl");
    let epochs = log.lines().count();
    // As if the checkpoint were older than the log, and the last line incomplete.
    std::fs::write(path("log.jsonl"), format!("{log}{}\n{{\"epoch\":17,\"re", log.lines().next().unwrap())).unwrap();
    let ran = place.run(&format!("{train} --resume --epochs {}", epochs + 3));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let resumed = place.read("log.jsonl");
    assert!(resumed.starts_with(&log) && resumed.ends_with('\n'));
    let number = |line: &str| serde_json::from_str::<burnrank::EpochRecord>(line).unwrap().epoch;
    assert_eq!(resumed.lines().map(number).collect::<Vec<_>>(), (1..=epochs + 3).collect::<Vec<_>>());
    // A separate run starts a new log.
    place.run(&format!("{train} --force --epochs 2")).good();
    assert_eq!(place.read("log.jsonl").lines().count(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_interrupted_before_the_first_epoch_can_be_resumed() {
    let pause = |milliseconds| std::thread::sleep(std::time::Duration::from_millis(milliseconds));
    // A pipe as log blocks the run right before its first epoch; how soon depends on the machine.
    for attempt in 1..=10 {
        let place = place();
        let pipe = place.0.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let mut child = place.command(&format!("{TRAIN} --log pipe"));
        let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        pause(100 * attempt);
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        pause(50 * attempt);
        let _reader = std::fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        let ran = Ran::of(child.wait_with_output().unwrap());
        if ran.err.contains("interrupted before the first epoch") {
            assert_eq!(ran.code, Some(130));
            let files = place.list();
            assert!(files.contains(&"model.checkpoint".into()) && !files.contains(&"model".into()), "{files:?}");
            let ran = place.run(&format!("{TRAIN} --resume"));
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), "note: resuming after epoch 0\n"), "{ran:?}");
            return;
        }
    }
    panic!("no interrupt came between the start and the first epoch");
}

#[test]
fn the_demonstration_accepts_an_objective_and_prints_next_steps() {
    let place = Place::new(&[]);
    let shown = place.run("train --objective lambdarank:map --epochs 1 --out shown").good();
    assert!(shown.contains("\nlambdarank:map ") && !shown.contains("\nranknet "), "{shown}");
    assert!(shown.ends_with("\n  burnrank train --train train.txt --out model\n"), "{shown}");
    assert!(is_a_model(&place, "shown/demo-lambdarank-map"));
}

#[test]
fn a_log_never_replaces_another_file() {
    let place = place();
    let before = place.read("train.txt");
    for log in ["train.txt", "valid.txt"] {
        let message = place.run(&format!("{TRAIN} --log {log} --force")).bad(1);
        assert!(message.contains(&format!("{log} is an input of this command")), "{message}");
    }
    assert_eq!(place.read("train.txt"), before);
    std::fs::write(place.0.path().join("diary"), "my diary\n").unwrap();
    for (force, words) in [("", "diary already exists"), ("--force", "diary: not the log of a training run")] {
        let message = place.run(&format!("{TRAIN} --log diary {force}")).bad(1);
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(place.read("diary"), "my diary\n");
    place.run(&format!("{TRAIN} --log log.jsonl")).good();
    place.run(&format!("{TRAIN} --force --log log.jsonl")).good();
    assert_eq!(place.read("log.jsonl").lines().count(), 3);
    let message = place.run(&format!("{TRAIN} --force --log model/log.jsonl")).bad(2);
    assert!(message.contains("inside the model folder"), "{message}");
    assert!(is_a_model(&place, "model"));
}

#[test]
fn a_file_created_in_the_model_folder_during_training_loses_no_work() {
    let place = place();
    place.run(TRAIN).good();
    let train =
        format!("{} --seed 5 --patience 0 --checkpoint-every 1000", TRAIN.replace("--epochs 3", "--epochs 2000"));
    let mut child = place.command(&format!("{train} --force --log log.jsonl"));
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !std::fs::read_to_string(place.0.path().join("log.jsonl")).is_ok_and(|text| text.contains('\n')) {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let foreign = place.0.path().join("model/note.txt");
    std::fs::write(&foreign, "mine").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(place.read("model/note.txt"), "mine");
    std::fs::remove_file(foreign).unwrap();
    // The existing model is from another run, which the error says.
    let message = place.run(&format!("{train} --resume")).bad(1);
    assert!(message.contains("replace the model with --resume --force"), "{message}");
    let ran = place.run(&format!("{train} --resume --force"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("resuming after epoch 2000"), "{}", ran.err);
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_utf8_does_not_panic() {
    use std::os::unix::ffi::OsStrExt;
    let place = place();
    let mut command = place.command("train --train train.txt --epochs 1 --json --out");
    command.arg(std::ffi::OsStr::from_bytes(b"m\xff"));
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
