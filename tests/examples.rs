//! Every example runs.

use std::path::PathBuf;
use std::process::Command;

/// `cargo test` builds the examples beside the tests.
fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

#[test]
fn every_example_runs_and_says_something() {
    let sources = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut names: Vec<String> = std::fs::read_dir(sources)
        .unwrap()
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    assert!(names.len() >= 4, "{names:?}");
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small.txt");
    std::fs::write(&small, "1 qid:1 1:0.5 2:1\n0 qid:1 1:0.25\n").unwrap();
    for name in names {
        let mut command = Command::new(example(&name));
        if name == "read_speed" {
            // Its own file of 150 MB is for measuring, not for testing.
            command.arg(&small);
        }
        let output = command.output().expect("examples are built by a plain `cargo test`, or by `cargo build --examples`");
        let (text, trouble) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && !text.trim().is_empty(), "{name}: {text}{trouble}");
    }
}
