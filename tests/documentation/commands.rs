//! Runs every command of the README and of all pages in docs/, in the order of the page.
//!
//! The `sh` blocks of a page share one folder; each `console` block has a separate folder. In tables, `... --like letor` continues the
//! previous command of the page. Commands that cannot run are printed as skipped, with the reason.
#![cfg(unix)]

use super::support::{Place, signal};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Long commands and their short replacements.
const SHORTER: [(&str, &str); 2] = [
    ("burnrank train", "burnrank train --epochs 1"),
    ("burnrank train --model trees", "burnrank train --model trees --objective ranknet --trees 2"),
];

/// A group of commands, in order.
#[derive(Debug, PartialEq)]
enum Block {
    /// Lines of an `sh` block, or a command in a table.
    Commands(Vec<String>),
    /// A terminal session: commands, and the first line that each prints.
    Console(Vec<(String, Option<String>)>),
}

fn pages() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut pages: Vec<String> = names.map(|name| format!("docs/{}", name.to_string_lossy())).collect();
    pages.sort();
    pages.insert(0, "README.md".to_owned());
    pages
}

fn text(page: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap()
}

/// Returns the commands of a page.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    let mut last = String::new();
    while let Some(line) = lines.next() {
        let inside: Vec<&str> = match line.strip_prefix("```") {
            Some(_) => lines.by_ref().take_while(|line| *line != "```").collect(),
            None => Vec::new(),
        };
        let bare = |line: &str| line.split(" #").next().unwrap_or(line).trim().to_owned();
        match line {
            "```sh" => {
                let commands = inside.iter().filter(|line| !line.starts_with('#')).map(|line| bare(line));
                blocks.push(Block::Commands(commands.filter(|line| !line.is_empty()).collect()));
            }
            "```console" => {
                let command = |at: usize| Some((bare(inside[at].strip_prefix("$ ")?), printed(inside.get(at + 1))));
                blocks.push(Block::Console((0..inside.len()).filter_map(command).collect()));
            }
            row if row.starts_with('|') => {
                for span in row.split('`').skip(1).step_by(2) {
                    // A name such as `burnrank convert` is not a command line.
                    if span.starts_with("burnrank ") && span.split(' ').count() > 2 {
                        last = span.to_owned();
                        blocks.push(Block::Commands(vec![last.clone()]));
                    } else if let Some(rest) = span.strip_prefix("... ") {
                        blocks.push(Block::Commands(vec![format!("{last} {rest}")]));
                    }
                }
            }
            _ => {}
        }
    }
    blocks
}

fn printed(line: Option<&&str>) -> Option<String> {
    line.filter(|line| !line.starts_with("$ ")).map(|line| (*line).to_owned())
}

/// Returns a folder with the data that the pages use, with three features, and a LightGBM model.
fn place() -> Place {
    let place = Place::new(&[
        ("data.txt", include_str!("../fixtures/like/data.txt")),
        ("scores.txt", include_str!("../fixtures/like/scores.txt")),
        ("model.txt", include_str!("../../src/model/trees/tests/sample.txt")),
    ]);
    place.run("generate net --queries 50 --documents 10 --features 3 --out all.txt").done();
    place.run("split all.txt --out parts").done();
    place.run("split all.txt --folds 5 --out MQ2008").done();
    for (from, to) in [("train", "train"), ("vali", "vali"), ("test", "test"), ("test", "new")] {
        std::fs::copy(place.path().join(format!("parts/{from}.txt")), place.path().join(format!("{to}.txt"))).unwrap();
    }
    place
}

/// Returns why a command cannot run, if it cannot.
fn obstacle(line: &str) -> Option<&'static str> {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success());
    let first = line.split(' ').next().unwrap_or(line);
    match first {
        "cargo" if line.starts_with("cargo install") => Some("it builds and installs the tool"),
        "cargo" if line.starts_with("cargo build") => Some("it is another build"),
        "cargo" if line.starts_with("cargo test") => Some("it runs these tests"),
        "cargo" if line.contains("--bin experiments") => Some("tests of experiments/ run it"),
        "cargo" if line.contains("--example") => Some("another test runs the examples"),
        "cargo" if line.contains("--no-default-features") => Some("it is another build"),
        "cargo" if line.contains("--features trees") && !cfg!(feature = "trees") => {
            Some("this build does not train trees")
        }
        "pip" => Some("the tests of the Python package install it"),
        "mpirun" if !cfg!(feature = "mpi") => Some("this build does not have mpi"),
        "mpirun" if !has("mpirun") => Some("mpirun is not installed"),
        "curl" if !has("curl") => Some("curl is not installed"),
        "curl" if !cfg!(feature = "serve") => Some("this build does not have the server"),
        _ if line.contains("burnrank serve") && !cfg!(feature = "serve") => Some("this build does not have the server"),
        _ if line.contains(".csv") || line.contains(".parquet") => Some("tests/tables/models.rs runs it"),
        _ => None,
    }
}

/// Returns the command to run for a line: this build instead of cargo, this Python, and a shorter run.
fn adapted(line: &str) -> String {
    let mut line = match line.strip_prefix("cargo run ").and_then(|rest| rest.split_once("-- ")) {
        Some((_, words)) => format!("burnrank {words}"),
        None => line.to_owned(),
    };
    if let Ok(python) = std::env::var("BURNRANK_PYTHON") {
        line = line.replace("BURNRANK_PYTHON=python3", &format!("BURNRANK_PYTHON={python}"));
    }
    SHORTER.iter().find(|(long, _)| line == *long).map_or(line, |(_, short)| (*short).to_owned())
}

fn sh(place: &Place, line: &str) -> Command {
    let tool = PathBuf::from(env!("CARGO_BIN_EXE_burnrank"));
    let before = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths([tool.parent().unwrap().to_owned()].into_iter().chain(std::env::split_paths(&before)));
    // Allows more processes than cores, and root, as in containers.
    let launcher = [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
        ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
    ];
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(place.path()).env("PATH", path.unwrap()).envs(launcher).stdin(Stdio::null());
    command
}

/// Runs a command, which must succeed, and returns its output.
fn run(page: &str, place: &Place, line: &str) -> String {
    if let Some(reason) = obstacle(line) {
        println!("skipped: {page}: {line}: {reason}");
        return String::new();
    }
    let output = sh(place, &adapted(line)).output().unwrap();
    assert!(output.status.success(), "{page}: {line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A running server, stopped when dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        signal(&self.0, "TERM");
        self.0.wait().unwrap();
    }
}

/// Runs the commands of a terminal session. A server runs until the end of the session, on a free port instead of 8080.
fn run_console(page: &str, place: &Place, commands: &[(String, Option<String>)]) {
    for folder in ["model", "ranker"] {
        let serves = commands.iter().any(|(line, _)| line.contains(&format!("serve --model {folder}")));
        if serves {
            place.run(&format!("train --train train.txt --model mlp --epochs 1 --out {folder} --quiet")).done();
        }
    }
    let mut server: Option<(Server, String)> = None;
    for (line, expected) in commands {
        if line.starts_with("burnrank serve") && obstacle(line).is_none() {
            let words = line.replace(" --listen 127.0.0.1:8080", "");
            let line = format!("exec {words} --listen 127.0.0.1:0");
            let mut child = sh(place, &line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
            let mut first = String::new();
            let stdout = child.stdout.take().unwrap();
            let running = Server(child);
            BufReader::new(stdout).read_line(&mut first).unwrap();
            let port = first.split("127.0.0.1:").nth(1).and_then(|rest| rest.split(':').next());
            let port = port.unwrap_or_else(|| panic!("{page}: {line}: {first}")).to_owned();
            if let Some(expected) = expected {
                assert_eq!(first.trim().replace(&port, "8080"), *expected, "{page}: {line}");
            }
            server = Some((running, port));
            continue;
        }
        let port = server.as_ref().map_or("8080", |(_, port)| port);
        let printed = run(page, place, &line.replace("localhost:8080", &format!("localhost:{port}")));
        if line.starts_with("curl") && obstacle(line).is_none() {
            let keys = |text: &str| {
                let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
                value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>()
            };
            assert_eq!(keys(&printed), keys(expected.as_ref().expect("an answer")), "{page}: {line}: {printed}");
        }
    }
}

#[test]
fn every_command_of_every_page_runs() {
    let mut ran = 0;
    for page in pages() {
        let shared = place();
        for block in blocks(&text(&page)) {
            match block {
                Block::Commands(lines) => lines.iter().for_each(|line| {
                    run(&page, &shared, line);
                    ran += 1;
                }),
                Block::Console(commands) => {
                    run_console(&page, &place(), &commands);
                    ran += commands.len();
                }
            }
        }
    }
    assert!(ran >= 30, "{ran}");
}

/// Commands and options in the text exist.
#[test]
fn every_command_in_the_text_has_its_options() {
    let place = Place::new(&[]);
    for page in pages() {
        let text = text(&page);
        for span in text.split('`').skip(1).step_by(2).filter(|span| !span.contains('\n')) {
            let Some(words) = span.strip_prefix("burnrank ") else { continue };
            let mut words = words.split(' ').filter(|word| !word.starts_with('>'));
            let command = words.next().unwrap_or_default();
            let help = place.run(&format!("{command} --help")).good();
            for option in words.filter(|word| word.starts_with("--")) {
                assert!(help.contains(option), "{page}: '{span}': {command} has no {option}");
            }
        }
    }
}

#[test]
fn the_commands_of_a_page_are_parsed() {
    let page = "\
text `burnrank serve`
```sh
burnrank data a.txt   # statistics
# a comment
cargo test
```
| program | command |
|---|---|
| burnrank | `burnrank evaluate --data d` |
| letor | `... --like letor` |
| name | `burnrank convert` |
```console
$ burnrank serve
listening
$ curl x
{}
```
";
    let commands = |lines: &[&str]| Block::Commands(lines.iter().map(|&line| line.to_owned()).collect());
    let of = |line: &str, printed: &str| (line.to_owned(), Some(printed.to_owned()));
    assert_eq!(
        blocks(page),
        [
            commands(&["burnrank data a.txt", "cargo test"]),
            commands(&["burnrank evaluate --data d"]),
            commands(&["burnrank evaluate --data d --like letor"]),
            Block::Console(vec![of("burnrank serve", "listening"), of("curl x", "{}")]),
        ]
    );
}
