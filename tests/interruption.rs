//! Interrupted training: the model folder is absent or complete, and `--resume` gives the same model, byte for byte.
#![cfg(unix)]

mod support;

use burnrank::{Synthetic, WriteOptions, write};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Instant;
use support::{Place, signal, wait_for_checkpoint};

fn place_with_data() -> Place {
    let place = Place::new(&[]);
    let data = Synthetic { queries: 60, documents: 20, features: 20, ..Synthetic::net() };
    let data = data.generator().and_then(|generator| generator.dataset()).expect("data");
    write(place.path().join("train.txt"), &data, &WriteOptions::default()).expect("a file");
    place
}

fn train(place: &Place, epochs: usize, out: &str, more: &str) -> Command {
    let mut command = place.command(&format!(
        "train --epochs {epochs} --patience 0 --checkpoint-every 0 --train train.txt --out {out} {more}"
    ));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn succeeds(mut command: Command) -> bool {
    command.status().expect("the tool runs").success()
}

fn bytes(place: &Place, model: &str) -> (Vec<u8>, String) {
    let record = std::fs::read(place.path().join(model).join("model.bpk")).expect("a record");
    (record, place.read(&format!("{model}/model.json")))
}

fn is_whole(place: &Place, model: &str) -> bool {
    place.run(&format!("info {model}")).code == Some(0)
}

#[test]
fn kill_at_ten_moments_then_resume() {
    kill_and_resume(60, "");
}

#[test]
fn kill_an_ensemble_at_ten_moments_then_resume() {
    kill_and_resume(30, "--ensemble 3");
}

fn kill_and_resume(epochs: usize, more: &str) {
    let place = place_with_data();
    let start = Instant::now();
    assert!(succeeds(train(&place, epochs, "whole", more)));
    let duration = start.elapsed();
    let expected = bytes(&place, "whole");
    let mut killed = 0;
    // Moments spread over the run; the last ones are close to the writing of the folder.
    for moment in [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05] {
        let mut child = train(&place, epochs, "killed", &format!("{more} --resume")).spawn().expect("the tool starts");
        sleep(duration.mul_f64(moment / 4.0));
        signal(&child, "KILL");
        killed += u32::from(!child.wait().expect("the tool ends").success());
        let absent = !place.path().join("killed").exists();
        assert!(absent || is_whole(&place, "killed"), "a half written model at moment {moment}");
    }
    assert!(killed > 0, "no run was caught before its end");
    assert!(succeeds(train(&place, epochs, "killed", &format!("{more} --resume"))));
    assert!(bytes(&place, "killed") == expected, "a run killed {killed} times ends at other bytes");
    assert!(!place.path().join("killed.checkpoint").exists());
}

#[test]
fn an_interrupt_finishes_the_epoch_saves_and_can_be_resumed() {
    interrupt_and_resume("");
    interrupt_and_resume("--ensemble 3");
}

fn interrupt_and_resume(more: &str) {
    let place = place_with_data();
    // Long enough for the signal to arrive before the end.
    let mut child = train(&place, 100_000, "interrupted", more).spawn().expect("the tool starts");
    wait_for_checkpoint(&mut child, &place.path().join("interrupted.checkpoint"));
    signal(&child, "INT");
    assert_eq!(child.wait().expect("the tool ends").code(), Some(130));
    assert!(is_whole(&place, "interrupted"));
    let last = place.read("interrupted/training.jsonl").lines().last().map(str::to_owned).expect("an epoch");
    let last: serde_json::Value = serde_json::from_str(&last).expect("JSON");
    // A member may have been one epoch ahead of others.
    let epochs = last["epoch"].as_u64().expect("an epoch") as usize + 5;
    assert!(succeeds(train(&place, epochs, "interrupted", &format!("{more} --resume"))));
    assert!(succeeds(train(&place, epochs, "whole", more)));
    assert_eq!(bytes(&place, "interrupted").0, bytes(&place, "whole").0);
}

/// An interrupt is not a failure, even before the first tree.
#[test]
#[cfg(feature = "trees")]
fn an_interrupt_before_the_first_epoch_is_an_interrupt() {
    let place = Place::new(&[]);
    let data = Synthetic { queries: 1500, documents: 20, features: 30, ..Synthetic::net() };
    let data = data.generator().and_then(|generator| generator.dataset()).expect("data");
    write(place.path().join("train.txt"), &data, &WriteOptions::default()).expect("a file");
    for moment in (1..=10).map(|moment| 50 * moment) {
        let mut command = train(&place, 100_000, "trees", "--model trees --ensemble 3 --subsample 0.8 --force");
        let mut child = command.spawn().expect("the tool starts");
        sleep(std::time::Duration::from_millis(moment));
        signal(&child, "INT");
        assert_eq!(child.wait().expect("the tool ends").code(), Some(130), "after {moment} ms");
    }
}

/// Whether this process ignores SIGHUP, as after nohup: its children then ignore it, too.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[test]
fn hangup_is_ignored_only_if_it_was_ignored_at_start() {
    let place = place_with_data();
    // The first does what nohup does.
    for (name, trap, continues) in [("kept", "trap '' HUP;", true), ("ended", "", false)] {
        if !continues && ignores_hangup() {
            eprintln!("skipped: the end of a session is ignored here");
            continue;
        }
        let plain = train(&place, 100_000, name, "");
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{trap} exec \"$0\" \"$@\"")]).arg(plain.get_program()).args(plain.get_args());
        shell.current_dir(place.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = shell.spawn().expect("the tool starts");
        let checkpoint = place.path().join(format!("{name}.checkpoint"));
        wait_for_checkpoint(&mut child, &checkpoint);
        signal(&child, "HUP");
        if continues {
            (0..3).for_each(|_| wait_for_checkpoint(&mut child, &checkpoint));
            signal(&child, "TERM");
        }
        assert_eq!(child.wait().expect("the tool ends").code(), Some(130));
        assert!(is_whole(&place, name));
    }
}
