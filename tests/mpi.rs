//! Several processes train the same model as one, byte for byte, and one that fails stops all. Needs `mpirun`; skipped
//! without it.
#![cfg(unix)]

mod support;

use burnrank::{Synthetic, WriteOptions, write};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use support::{Place, Ran};

/// Whether `mpirun` is installed.
fn is_here() -> bool {
    let here = Command::new("mpirun").arg("--version").output().is_ok_and(|output| output.status.success());
    if !here {
        println!("skipped: there is no mpirun");
    }
    here
}

fn place_with_data() -> Place {
    let place = Place::new(&[]);
    let data = Synthetic { queries: 60, documents: 20, features: 20, ..Synthetic::net() };
    let data = data.generator().and_then(|generator| generator.dataset()).expect("data");
    write(place.path().join("train.txt"), &data, &WriteOptions::default()).expect("a file");
    place
}

/// Command for `processes` processes, also more than cores, and as root in containers.
fn together(place: &Place, processes: usize, arguments: &str) -> Command {
    launched(place, &[(processes, arguments)])
}

/// Command for processes with different arguments: a number of processes for each.
fn launched(place: &Place, lines: &[(usize, &str)]) -> Command {
    let mut command = Command::new("mpirun");
    for (position, (processes, arguments)) in lines.iter().enumerate() {
        command.args((position > 0).then_some(":"));
        command.args(["-n", &processes.to_string(), env!("CARGO_BIN_EXE_burnrank")]).args(arguments.split_whitespace());
    }
    let settings = [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
        ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
    ];
    command.envs(settings).current_dir(place.path()).stdin(Stdio::null());
    command
}

fn output(mut command: Command) -> Output {
    command.output().expect("the launcher starts")
}

const TRAIN: &str = "train --model mlp --epochs 12 --patience 0 --train train.txt --checkpoint-every 0";

fn bytes(place: &Place, model: &str) -> (Vec<u8>, String) {
    let record = std::fs::read(place.path().join(model).join("model.bpk")).expect("a record");
    (record, place.read(&format!("{model}/model.json")))
}

#[test]
fn any_number_of_processes_and_threads_trains_the_same_model() {
    if !is_here() {
        return;
    }
    let place = place_with_data();
    place.run(&format!("{TRAIN} --shares 6 --out plain")).done();
    let expected = bytes(&place, "plain");
    for (processes, threads) in [(1, 1), (2, 1), (2, 2), (3, 1), (4, 2)] {
        let out = format!("p{processes}t{threads}");
        let ran = output(together(&place, processes, &format!("{TRAIN} --shares 6 --out {out} --threads {threads}")));
        let text = Ran::of(ran).done();
        assert_eq!(text.matches("best epoch").count(), 1, "printed once: {text}");
        assert!(bytes(&place, &out) == expected, "{processes} processes of {threads} threads");
    }
}

/// A table and its cache have the documents of the text, and each process has its shares of them.
#[test]
#[cfg(feature = "tables")]
fn processes_train_on_tables_and_their_caches() {
    if !is_here() {
        return;
    }
    let place = place_with_data();
    let data = burnrank::read(place.path().join("train.txt"), &burnrank::ReadOptions::default()).expect("data").data;
    let mut table = (0..data.n_features()).map(|place| format!("x{place},")).collect::<String>() + "label,qid\n";
    for query in data.queries() {
        for (label, row) in query.labels.iter().zip(query.features.chunks(data.n_features())) {
            row.iter().for_each(|value| table += &format!("{value},"));
            table += &format!("{label},{}\n", query.id);
        }
    }
    std::fs::write(place.path().join("train.csv"), table).expect("a file");
    place.run("convert train.csv --to cache --out train.cache --quiet").done();
    place.run(&format!("{TRAIN} --shares 6 --out plain")).done();
    for ending in ["csv", "cache"] {
        let line = format!("{TRAIN} --shares 6 --out {ending}").replace("train.txt", &format!("train.{ending}"));
        Ran::of(output(together(&place, 3, &line))).done();
        assert!(bytes(&place, ending).0 == bytes(&place, "plain").0, "{ending}");
        assert!(bytes(&place, ending).1.contains("\"x19\""), "{ending}: the names of columns");
    }
}

#[test]
fn an_error_of_any_process_is_printed_once_and_ends_all() {
    if !is_here() {
        return;
    }
    let place = place_with_data();
    std::fs::write(place.path().join("bad.txt"), "1 qid:1 1:x\n").expect("a file");
    for (arguments, code, message) in [
        ("train --model mlp --train bad.txt --out a", 1, "bad.txt:1:11"),
        ("train --model mlp --train absent.txt --out a", 1, "absent.txt: cannot read"),
        ("train --model mlp --train train.txt --no-such-option", 2, "unknown option '--no-such-option'"),
        ("train --train train.txt --out a", 2, "add --model mlp or --model linear"),
        (
            "train --model ranksvm --train train.txt --out a",
            2,
            "this --model does not work with several processes: use --model mlp",
        ),
        ("train --model mlp --train - --out a", 2, "standard input does not work with several processes"),
    ] {
        let ran = output(together(&place, 3, arguments));
        let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(code), "{arguments}: {errors}");
        assert_eq!(errors.matches("error: ").count(), 1, "{arguments}: {errors}");
        assert!(errors.contains(message), "{arguments}: {errors}");
        assert!(!place.path().join("a").exists());
    }
}

/// Processes with different data or settings must not train together.
#[test]
fn processes_that_differ_are_named_with_the_difference() {
    if !is_here() {
        return;
    }
    let place = place_with_data();
    let text = place.read("train.txt");
    let lines: Vec<&str> = text.lines().collect();
    let file = |name: &str, text: String| std::fs::write(place.path().join(name), text).expect("a file");
    file("value.txt", text.replacen("0 qid", "1 qid", 1));
    file("short.txt", lines[..40].join("\n") + "\n");
    let train = "train --model mlp --epochs 3 --train train.txt --valid train.txt --out a";
    let other = |from: &str, to: &str| train.replacen(from, to, 1);
    let cases = [
        (train, other("--train train.txt", "--train value.txt"), 1, "training data of 60 queries"),
        (train, other("--train train.txt", "--train short.txt"), 1, "training data of 2 queries"),
        (train, other("--epochs 3", "--epochs 4 --seed 2 --lr 0.5"), 2, "learning_rate 0.5 instead of 0.01"),
        (train, other("--epochs 3", "--epochs 3 --portable"), 2, "instruction set portable"),
        (train, "tune --train train.txt --trials 2 --epochs 3".into(), 1, "command tune"),
        (train, format!("{train} --no-such-option"), 2, "unknown option '--no-such-option'"),
        ("tune --train train.txt --trials 2", "tune --train value.txt --trials 2".into(), 1, "data of"),
        ("tune --train train.txt --trials 2", "tune --train train.txt --trials 3".into(), 2, "trials 3"),
    ];
    for (first, second, code, difference) in cases {
        let ran = output(launched(&place, &[(1, first), (1, &second)]));
        let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(code), "{second}: {errors}");
        assert_eq!(errors.matches("error: ").count(), 1, "{second}: {errors}");
        assert!(errors.contains("process 1 of 2") && errors.contains(difference), "{second}: {errors}");
        assert!(!place.path().join("a").exists(), "{second}");
    }
}

/// Returns the process of this rank that was started with this output folder.
fn process(rank: usize, out: &str) -> Option<u32> {
    let has = |file: String, text: &str| {
        let content = std::fs::read(file).unwrap_or_default();
        content.split(|&byte| byte == 0).any(|part| part == text.as_bytes())
    };
    std::fs::read_dir("/proc").ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).find(|id| {
        has(format!("/proc/{id}/cmdline"), out)
            && [format!("OMPI_COMM_WORLD_RANK={rank}"), format!("PMI_RANK={rank}")]
                .iter()
                .any(|sign| has(format!("/proc/{id}/environ"), sign))
    })
}

fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

/// Starts an endless run of two processes and waits for its first checkpoint.
fn started(place: &Place, out: &str) -> Child {
    let mut command = together(place, 2, &format!("{} --out {out} --log log.jsonl", to_epoch(1_000_000)));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the launcher starts");
    let begun = Instant::now();
    while !place.path().join(format!("{out}.checkpoint")).exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no checkpoint");
        sleep(Duration::from_millis(5));
    }
    child
}

fn to_epoch(epochs: usize) -> String {
    format!("{} --shares 6", TRAIN.replace("--epochs 12", &format!("--epochs {epochs}")))
}

/// Returns a command that resumes for some epochs beyond those of the ended run. Their number depends on when its processes
/// received the signal.
fn further(place: &Place) -> String {
    to_epoch(place.read("log.jsonl").lines().count() + 20)
}

#[test]
#[cfg(target_os = "linux")]
fn one_that_is_killed_ends_all_and_another_number_resumes_to_the_same_bytes() {
    if !is_here() {
        return;
    }
    let place = place_with_data();
    let (whole, killed) = (place.path().join("whole"), place.path().join("killed"));
    let (whole, killed) = (whole.display().to_string(), killed.display().to_string());
    let child = started(&place, &killed);
    signal(process(1, &killed).expect("the second process"), "KILL");
    let ran = child.wait_with_output().expect("the launcher ends");
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success() && errors.contains("rank 1"), "{errors}");
    assert!(!place.path().join("killed").exists(), "a model of a run that did not end");
    let further = further(&place);
    let ran = Ran::of(output(together(&place, 3, &format!("{further} --out {killed} --resume"))));
    assert!(ran.err.contains("resuming after epoch") && !ran.err.contains("past"), "{}", ran.err);
    ran.done();
    place.run(&format!("{further} --out {whole}")).done();
    let without_names = |(record, info): (Vec<u8>, String)| (record, info.replace("killed", "whole"));
    assert!(without_names(bytes(&place, "killed")) == bytes(&place, "whole"), "other bytes");
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_leaves_a_checkpoint_that_can_be_resumed() {
    if !is_here() {
        return;
    }
    let place = place_with_data();
    let out = place.path().join("out").display().to_string();
    let child = started(&place, &out);
    signal(child.id(), "INT");
    let ran = child.wait_with_output().expect("the launcher ends");
    assert!(!ran.status.success());
    let further = further(&place);
    let ran = place.run(&format!("{further} --out {out} --resume"));
    assert!(ran.err.contains("resuming after epoch") && !ran.err.contains("past"), "{}", ran.err);
    ran.done();
    place.run(&format!("{further} --out whole")).done();
    assert!(bytes(&place, "out").0 == bytes(&place, "whole").0, "other bytes");
}

#[test]
fn several_processes_tune_to_the_same_result() {
    if !is_here() {
        return;
    }
    let place = place_with_data();
    let search = "tune --train train.txt --trials 6 --epochs 9 --json";
    let timeless = |text: &str| {
        let mut value: serde_json::Value = serde_json::from_str(text).expect("JSON");
        fn forget(value: &mut serde_json::Value) {
            match value {
                serde_json::Value::Object(fields) => {
                    fields.remove("seconds");
                    fields.values_mut().for_each(forget);
                }
                serde_json::Value::Array(values) => values.iter_mut().for_each(forget),
                _ => {}
            }
        }
        forget(&mut value);
        value
    };
    let expected = timeless(&place.run(search).done());
    assert_eq!(timeless(&Ran::of(output(together(&place, 3, search))).done()), expected);
}
