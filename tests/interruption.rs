//! Whatever stops training, and whenever: the model folder is absent or whole, and `--resume` ends at the same bytes.
#![cfg(unix)]

use burnrank::{Synthetic, WriteOptions, write};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

fn burnrank() -> Command {
    Command::new(env!("CARGO_BIN_EXE_burnrank"))
}

fn train(data: &Path, out: &Path) -> Command {
    train_for("60", data, out)
}

fn train_for(epochs: &str, data: &Path, out: &Path) -> Command {
    let mut command = burnrank();
    command.args(["train", "--epochs", epochs, "--patience", "0", "--checkpoint-every", "0", "--train"]).arg(data);
    command.arg("--out").arg(out).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn make_data(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("train.txt");
    let data = Synthetic { queries: 60, documents: 20, features: 20, ..Synthetic::net() };
    write(&path, &data.generator().unwrap().dataset().unwrap(), &WriteOptions::default()).unwrap();
    path
}

fn bytes(model: &Path) -> (Vec<u8>, String) {
    (fs::read(model.join("model.bpk")).unwrap(), fs::read_to_string(model.join("model.json")).unwrap())
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).status().unwrap();
    assert!(sent.success());
}

fn info(model: &Path) -> Output {
    burnrank().arg("info").arg(model).output().unwrap()
}

#[test]
fn kill_at_ten_moments_then_resume() {
    let folder = tempfile::tempdir().unwrap();
    let data = make_data(folder.path());
    let whole = folder.path().join("whole");
    let start = std::time::Instant::now();
    assert!(train(&data, &whole).status().unwrap().success());
    let duration = start.elapsed();
    let expected = bytes(&whole);
    let out = folder.path().join("killed");
    let mut killed = 0;
    for moment in 0..10u32 {
        let mut child = train(&data, &out).arg("--resume").spawn().unwrap();
        // Moments spread over the run, the last ones about where the folder is written.
        sleep(duration.mul_f64([0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05][moment as usize] / 4.0));
        signal(&child, "KILL");
        killed += u32::from(!child.wait().unwrap().success());
        assert!(!out.exists() || info(&out).status.success(), "a half written model at moment {moment}");
    }
    assert!(killed > 0, "no run was caught before its end");
    assert!(train(&data, &out).arg("--resume").status().unwrap().success());
    assert!(bytes(&out) == expected, "a run killed {killed} times ends at other bytes");
    assert!(!folder.path().join("killed.checkpoint").exists());
}

#[test]
fn an_interrupt_finishes_the_epoch_saves_and_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let data = make_data(folder.path());
    let (whole, out) = (folder.path().join("whole"), folder.path().join("interrupted"));
    // Long enough that the signal comes before the end.
    let mut child = train_for("100000", &data, &out).spawn().unwrap();
    while !folder.path().join("interrupted.checkpoint").exists() {
        sleep(Duration::from_millis(10));
        assert!(child.try_wait().unwrap().is_none(), "ended before the interrupt");
    }
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(info(&out).status.success());
    let epochs = fs::read_to_string(out.join("training.jsonl")).unwrap().lines().count();
    let more = (epochs + 5).to_string();
    assert!(train_for(&more, &data, &out).arg("--resume").status().unwrap().success());
    assert!(train_for(&more, &data, &whole).status().unwrap().success());
    assert_eq!(bytes(&out).0, bytes(&whole).0);
}

#[test]
fn the_end_of_a_session_is_ignored_only_where_it_was_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let data = make_data(folder.path());
    // The first is what nohup does.
    for (name, trap, goes_on) in [("kept", "trap '' HUP;", true), ("ended", "", false)] {
        let (out, checkpoint) = (folder.path().join(name), folder.path().join(format!("{name}.checkpoint")));
        let plain = train_for("100000", &data, &out);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{trap} exec \"$0\" \"$@\"")]).arg(plain.get_program()).args(plain.get_args());
        let mut child = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let written = || fs::metadata(&checkpoint).and_then(|file| file.modified()).ok();
        let next_checkpoint = |child: &mut Child| {
            let before = written();
            while written() == before || written().is_none() {
                assert!(child.try_wait().unwrap().is_none(), "{name} was ended");
                sleep(Duration::from_millis(5));
            }
        };
        next_checkpoint(&mut child);
        signal(&child, "HUP");
        if goes_on {
            (0..3).for_each(|_| next_checkpoint(&mut child));
            signal(&child, "TERM");
        }
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(info(&out).status.success());
    }
}
