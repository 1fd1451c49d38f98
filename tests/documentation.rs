//! What is documented works: the commands of the README and of docs/, and every example.

#[path = "documentation/commands.rs"]
mod commands;
#[path = "documentation/model_folder.rs"]
mod model_folder;
mod support;

use burnrank::data::{COLUMN_ROLES, INPUT_FORMATS};
use burnrank::{METRICS, Model, OBJECTIVES, device};
use std::path::{Path, PathBuf};
use std::process::Command;

#[cfg(unix)]
fn shell(folder: &Path, line: &str) {
    let tool = Path::new(env!("CARGO_BIN_EXE_burnrank"));
    let path = std::env::join_paths(
        [tool.parent().unwrap().to_path_buf()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let output = Command::new("sh").args(["-c", line]).current_dir(folder).env("PATH", path.unwrap()).output().unwrap();
    let trouble = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {trouble}");
}

#[test]
fn the_readme_has_every_metric_objective_model_scaling_and_format() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let metrics = METRICS.iter().map(|row| (row.pattern(), row.help));
    let models = burnrank::setting::models().map(|row| (row.pattern(), row.help));
    let objectives = OBJECTIVES.iter().map(|row| (row.pattern(), row.help));
    let formats = burnrank::export::FORMATS.iter().map(|row| (row.name.to_owned(), row.help));
    let scalings = burnrank::ScaleKind::WORDS.iter().map(|row| (row.word.to_owned(), row.help()));
    let rows = metrics.chain(objectives).chain(models).chain(formats).map(|(pattern, help)| (pattern, help.to_owned()));
    for (pattern, help) in rows.chain(scalings) {
        let line = format!("| `{pattern}` | {help} |");
        assert!(text.lines().any(|other| other == line), "the README has no line '{line}'");
    }
}

#[test]
fn the_page_of_input_formats_has_every_format_and_column() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tables.md")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for format in INPUT_FORMATS {
        let endings: Vec<String> = format.file_endings().map(|ending| format!("`.{ending}`")).collect();
        let build = format.feature.map_or("every".to_owned(), |feature| format!("`{feature}`"));
        let line = format!("| {} | {} | {build} | {} |", format.name, endings.join(", "), format.help);
        assert!(lines.contains(&line.as_str()), "docs/tables.md has no line '{line}'");
    }
    for role in COLUMN_ROLES {
        let start = format!("| `--{} COLUMN` | {}", role.key, role.holds);
        let line = lines.iter().find(|line| line.starts_with(&start));
        let line = line.unwrap_or_else(|| panic!("docs/tables.md has no line '{start}...'"));
        assert!(role.usual.iter().all(|name| line.contains(&format!("`{name}`"))), "{line}");
    }
}

/// Messages of the library name settings in backticks, which the tool shows as its options. Features of builds, colours of figures and
/// the command on a model card are not options of whoever calls the library.
#[test]
fn the_library_names_no_options() {
    let others = ["--features", "--no-default-features", "--path", "var(--", "burnrank predict --model {name} --data"];
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
                let line = others.iter().fold(line.to_owned(), |line, other| line.replace(other, ""));
                let named = line
                    .match_indices("--")
                    .any(|(at, _)| line.as_bytes().get(at + 2).is_some_and(u8::is_ascii_lowercase));
                assert!(!named, "{}:{}: an option is named: {line}", path.display(), number + 1);
            }
        }
    }
    assert!(files > 200, "{files} files");
}

/// Every page of the manual is linked, and every file that README shows or links is there.
#[test]
fn the_readmes_links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("README.md")).unwrap();
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let pictures = text.split("<img src=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let files: Vec<&str> =
        links.chain(pictures).filter(|link| !link.contains("://") && !link.starts_with('#')).collect();
    files.iter().for_each(|file| assert!(root.join(file).exists(), "README.md leads to {file}, which is not there"));
    for entry in std::fs::read_dir(root.join("docs")).unwrap() {
        let page = format!("docs/{}", entry.unwrap().file_name().to_string_lossy());
        assert!(files.contains(&page.as_str()), "README.md does not lead to {page}");
    }
}

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
    for name in names {
        let output = Command::new(example(&name)).output();
        let output = output.expect("examples are built by a plain `cargo test`, or by `cargo build --examples`");
        let (text, trouble) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && !text.trim().is_empty(), "{name}: {text}{trouble}");
    }
}

#[test]
fn the_readmes_numbers_are_those_of_the_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let results = std::fs::read_to_string(root.join("experiments/results/demo/results.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&results).unwrap();
    let rows = results["demo"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        let value = |measure: &str| row["test"][measure].as_f64().unwrap();
        let objective = row["objective"].as_str().unwrap();
        let line = format!("| `{objective}` | {:.4} | {:.4} |", value("ndcg@10"), value("pairs"));
        assert!(readme.contains(&line), "the README lacks {line}");
    }
}

#[test]
fn the_readmes_speeds_are_those_of_the_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let results = std::fs::read_to_string(root.join("experiments/results/speed/results.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&results).unwrap();
    let runs = results["runs"].as_object().unwrap();
    let least = |found: Vec<f64>| found.into_iter().min_by(f64::total_cmp).expect("there is a time");
    let seconds = |run: &serde_json::Value| run["seconds"].as_f64();
    let own = runs.iter().filter(|(name, _)| name.starts_with("epoch lambdarank:ndcg lambda "));
    let mut rows = vec![("burnrank".to_owned(), least(own.filter_map(|(_, run)| seconds(run)).collect()))];
    for (peer, form, name) in [
        ("lightgbm", "tuned", "LightGBM, one tree"),
        ("torch", "tuned", "PyTorch, tuned"),
        ("rax", "tuned", "Rax, tuned"),
        ("torch", "plain", "PyTorch, plain"),
        ("rax", "plain", "Rax, plain"),
    ] {
        let peers = runs["peers"].as_array().unwrap().iter();
        let same = peers.filter(|run| run["peer"] == peer && run["form"] == form && run["task"] == "epoch");
        rows.push((name.to_owned(), least(same.filter_map(seconds).collect())));
    }
    for (name, seconds) in rows {
        let line = format!("| {name} | {seconds:.4} |");
        assert!(readme.contains(&line), "the README lacks {line}");
    }
}

#[test]
fn the_models_that_ship_load() {
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

/// The snippets of the Python page, one after the other, as one program. BURNRANK_PYTHON names a Python with numpy, pandas and
/// onnxruntime; without one, the test says that it was skipped.
#[test]
#[cfg(unix)]
fn the_python_page_works() {
    let Some(python) = std::env::var_os("BURNRANK_PYTHON") else {
        eprintln!("skipped: BURNRANK_PYTHON names no Python");
        return;
    };
    let has = Command::new(&python).args(["-c", "import numpy, onnxruntime, pandas"]).output().unwrap();
    if !has.status.success() {
        eprintln!("skipped: {python:?} has not all of numpy, onnxruntime and pandas");
        return;
    }
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/python.md")).unwrap();
    let blocks: Vec<&str> = text.split("```python\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 4, "{}", blocks.len());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("page.py"), blocks.concat()).unwrap();
    for line in [
        "burnrank generate net --queries 50 --documents 10 --features 5 --out all.txt",
        "burnrank split all.txt --out parts && cp parts/*.txt .",
    ] {
        shell(folder.path(), line);
    }
    shell(folder.path(), &format!("{} page.py", python.to_string_lossy()));
}
