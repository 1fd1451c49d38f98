//! The documentation is correct: commands and examples run, tables and links are right, and the terms are the usual
//! ones.

#[path = "documentation/commands.rs"]
mod commands;
#[path = "documentation/model_folder.rs"]
mod model_folder;
#[path = "documentation/pages.rs"]
mod pages;
#[path = "documentation/phrases.rs"]
mod phrases;
mod support;

use burnrank::{Model, device};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Messages of the library put settings in backticks, which the tool prints as its options. Build features, colours of figures and the
/// command on a model card are exceptions.
#[test]
fn the_library_names_no_options() {
    let exceptions =
        ["--features", "--no-default-features", "--path", "var(--", "burnrank predict --model {name} --data"];
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.extend(Some(path).filter(|path| !path.ends_with("src/cli")));
                continue;
            }
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
            for (number, line) in code {
                let line = exceptions.iter().fold(line.to_owned(), |line, other| line.replace(other, ""));
                let names_option = line
                    .match_indices("--")
                    .any(|(at, _)| line.as_bytes().get(at + 2).is_some_and(u8::is_ascii_lowercase));
                assert!(!names_option, "{}:{}: the library names an option: {line}", path.display(), number + 1);
            }
        }
    }
    assert!(files > 200, "{files} files");
}

/// Returns the path of an example, which `cargo test` builds next to the tests.
fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

#[test]
fn every_example_runs_and_prints_something() {
    let sources = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut names: Vec<String> = std::fs::read_dir(sources)
        .unwrap()
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        let output = Command::new(example(&name)).output();
        let output = output.expect("examples are built by a plain `cargo test`, or by `cargo build --examples`");
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && !text.trim().is_empty(), "{name}: {text}{errors}");
    }
}

#[test]
fn the_demonstration_of_the_pages_equals_the_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let (readme, seeds) = (read("README.md"), read("docs/reproducibility.md"));
    let results: serde_json::Value = serde_json::from_str(&read("experiments/results/demo/results.json")).unwrap();
    let runs = results.as_array().unwrap();
    assert_eq!((runs.len(), &runs[0]["seed"]), (11, &1.into()));
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let difference = |row: &serde_json::Value| {
        let [mean, low, high] = [&row["mean"], &row["interval"][0], &row["interval"][1]].map(number);
        (format!("{mean:+.4}"), format!("{low:+.4} to {high:+.4}"))
    };
    for (place, row) in runs[0]["demo"].as_array().unwrap().iter().enumerate() {
        let objective = row["objective"].as_str().unwrap();
        let (mean, interval) = difference(&row["difference"]);
        let minus = if place == 0 { String::new() } else { format!("{mean}, {interval}") };
        let [value, pairs] = ["ndcg@10", "pairs"].map(|metric| number(&row["test"][metric]));
        let line = format!("| `{objective}` | {value:.4} | {minus} | {pairs:.4} |");
        assert!(readme.contains(&line), "the README lacks {line}");
    }
    for run in runs {
        let rows = run["demo"].as_array().unwrap();
        let cell = |row| {
            let (mean, interval) = difference(row);
            format!("{mean} ({interval})")
        };
        let line = format!(
            "| {} | {:.4} | {} | {} |",
            run["seed"],
            number(&rows[0]["test"]["ndcg@10"]),
            cell(&rows[1]["difference"]),
            cell(&rows[2]["difference"])
        );
        assert!(seeds.contains(&line), "the page lacks {line}");
    }
}

#[test]
fn the_speeds_of_the_readme_equal_the_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let results = std::fs::read_to_string(root.join("experiments/results/speed/results.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&results).unwrap();
    let runs = results["runs"].as_object().unwrap();
    let cell = |run: Option<&serde_json::Value>, field: &str| {
        let seconds = run.and_then(|run| run.pointer(field)).and_then(serde_json::Value::as_f64);
        seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.4}"))
    };
    let [cells, peers] = ["widths", "peers"].map(|name| runs[name].as_array().unwrap());
    let threads = cells.iter().filter_map(|cell| cell["threads"].as_u64()).max();
    let row = |name: &str, peer: Option<(&str, &str)>| {
        let cells = [1, 10, 100, 1_000].map(|batch| {
            let is_net = |run: &&serde_json::Value| run["units"] == 10 && run["batch"] == batch;
            match peer {
                None => {
                    let own = cells.iter().filter(is_net).find(|cell| cell["threads"].as_u64() == threads);
                    cell(own, "/timing/seconds")
                }
                Some((peer, form)) => {
                    let mut peers = peers.iter().filter(is_net);
                    cell(peers.find(|run| run["peer"] == peer && run["form"] == form), "/seconds")
                }
            }
        });
        format!("| {name} | {} |", cells.join(" | "))
    };
    for line in [
        row("burnrank", None),
        row("PyTorch, tuned", Some(("torch", "tuned"))),
        row("Rax, tuned", Some(("rax", "tuned"))),
        row("PyTorch, plain", Some(("torch", "plain"))),
        row("Rax, plain", Some(("rax", "plain"))),
    ] {
        assert!(readme.contains(&line), "the README lacks {line}");
    }
}

#[test]
fn shipped_models_load() {
    let device = device::open("auto").unwrap();
    let mut loaded = 0;
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("models")).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        let model = Model::load(&path, &device).unwrap();
        assert_eq!(model.info.ranker.features, 50);
        loaded += 1;
    }
    assert!(loaded >= 3);
}
