//! No command overwrites an existing file without `--force`, or ever a file that it reads.

use super::support::Place;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

/// An option that writes one file: the command with `OUT` as the file, and the inputs that it must not overwrite.
struct Row {
    command: &'static str,
    option: &'static str,
    inputs: &'static [&'static str],
    /// Whether it also writes to pipes and standard output.
    streams: bool,
}

const fn row(command: &'static str, option: &'static str, inputs: &'static [&'static str], streams: bool) -> Row {
    Row { command, option, inputs, streams }
}

const MODEL_FILES: &[&str] = &["d.txt", "m/model.bpk", "m/model.json"];

/// All options that write one file.
const FILES: &[Row] = &[
    row("predict --model m --data d.txt --out OUT", "--out", MODEL_FILES, true),
    row("predict --model m --data plain.txt --out OUT", "--out", &["plain.txt", "plain.txt.query"], true),
    row("generate net --queries 2 --documents 3 --out OUT", "--out", &[], true),
    row("generate web --like d.txt --queries 2 --out OUT", "--out", &["d.txt"], true),
    row("convert d.txt --out OUT", "--out", &["d.txt"], true),
    row("convert d.txt --scale zscore --scale-on other.txt --out OUT", "--out", &["d.txt", "other.txt"], true),
    row("convert d.txt --to cache --feature-names names.txt --out OUT", "--out", &["d.txt", "names.txt"], false),
    row("convert d.cache --to cache --out OUT", "--out", &["d.cache"], false),
    row("convert d.txt --to qrels --out OUT", "--out", &["d.txt"], true),
    row("convert d.txt --to run --scores scores.txt --out OUT", "--out", &["d.txt", "scores.txt"], true),
    row(
        "export --model m --format json --feature-names names.txt --out OUT",
        "--out",
        &["names.txt", "m/README.md"],
        true,
    ),
    row("report m --data d.txt --repeats 1 --out OUT", "--out", MODEL_FILES, true),
    row("compare m scores.txt --data d.txt --figure OUT", "--figure", &["scores.txt", "d.txt", "m/model.json"], true),
    row(
        "compare s{}.txt t{}.txt --data f{}.txt --folds 1 --figure OUT",
        "--figure",
        &["s1.txt", "t1.txt", "f1.txt"],
        true,
    ),
    row("certify --model m --data d.txt --directions 2 --figure OUT", "--figure", MODEL_FILES, true),
    row(
        "lambda --objective ranknet --data d.txt --scores scores.txt --figure OUT",
        "--figure",
        &["d.txt", "scores.txt"],
        true,
    ),
];

/// All options that write a folder, with one of its files, and whether an input can be that file.
const FOLDERS: &[(&str, &str, &str)] = &[
    ("explain --model m --data d.txt --repeats 1 --figures OUT", "--figures", "importance.svg"),
    ("split d.txt --out OUT", "--out", "test.txt"),
    ("split d.txt --folds 3 --out OUT", "--out", "Fold2/test.txt"),
    ("man --out OUT", "--out", "burnrank-train.1"),
    ("tune --train d.txt --trials 1 --epochs 1 --out OUT", "--out", "results.json"),
    ("tune --train d.txt --trials 1 --epochs 1 --out OUT", "--out", "figure.svg"),
];

fn place() -> Place {
    let names = "1 a\n2 b\n3 c\n";
    let plain: String = (0..4).map(|row| format!("{} 1:{row} 2:1 3:2\n", row % 2)).collect();
    let place = Place::new(&[("names.txt", names), ("plain.txt", &plain), ("plain.txt.query", "4\n")]);
    for name in ["d.txt", "other.txt", "f1.txt", "d.cache"] {
        place.run(&format!("generate net --queries 12 --documents 3 --features 3 --out {name}")).good();
    }
    let scores: String = (0..36).map(|row| format!("{}\n", row * 7 % 36)).collect();
    for name in ["scores.txt", "s1.txt"] {
        std::fs::write(place.path().join(name), &scores).unwrap();
    }
    std::fs::write(place.path().join("t1.txt"), scores.replace('1', "2")).unwrap();
    place.run("train --train d.txt --model linear --scale zscore --epochs 1 --out m --quiet").done();
    place
}

fn bytes(place: &Place, name: &str) -> Vec<u8> {
    std::fs::read(place.path().join(name)).unwrap()
}

/// Asserts that an input is refused as output, and unchanged.
fn assert_spares(place: &Place, command: &str, input: &str, out: &str) {
    let before = bytes(place, input);
    let message = place.run(&format!("{command} --force")).bad(1);
    assert!(message.contains(&format!("{out} is an input of this command")), "{command}: {message}");
    assert_eq!(bytes(place, input), before, "{command}");
}

fn check_file(place: &Place, row: &Row) {
    let with = |out: &str| row.command.replace("OUT", out);
    std::fs::write(place.path().join("there"), "precious").unwrap();
    let message = place.run(&with("there")).bad(1);
    let expected = format!("there already exists: choose another {}, or replace it with --force", row.option);
    assert!(message.contains(&expected), "{}: {message}", row.command);
    assert_eq!(place.read("there"), "precious");
    place.run(&(with("there") + " --force --quiet")).done();
    assert_ne!(bytes(place, "there"), b"precious", "{}", row.command);
    for input in row.inputs {
        assert_spares(place, &with(input), input, input);
        #[cfg(unix)]
        {
            let at = |name: &str| place.path().join(name);
            std::os::unix::fs::symlink(at(input), at("soft")).unwrap();
            std::fs::hard_link(at(input), at("hard")).unwrap();
            for link in ["soft", "hard"] {
                assert_spares(place, &with(link), input, link);
                std::fs::remove_file(at(link)).unwrap();
            }
        }
    }
    if row.streams {
        for out in ["/dev/null", "-", "/dev/stdout"].into_iter().filter(|out| cfg!(unix) || *out == "-") {
            place.run(&(with(out) + " --quiet")).done();
        }
        #[cfg(unix)]
        check_pipe(place, &with("pipe"));
    }
    std::fs::remove_file(place.path().join("there")).unwrap();
    println!("{:<70} {:<9} inputs: {}", row.command, row.option, row.inputs.join(" "));
}

/// Output to a pipe arrives, and the pipe is not replaced.
#[cfg(unix)]
fn check_pipe(place: &Place, command: &str) {
    let pipe = place.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let ran = place.command(command).arg("--quiet").stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    let read = std::fs::read(&pipe).unwrap();
    assert!(ran.unwrap().wait().unwrap().success() && !read.is_empty(), "{command}");
    std::fs::remove_file(pipe).unwrap();
}

fn check_files(rows: &[Row]) {
    let place = place();
    rows.iter().for_each(|row| check_file(&place, row));
}

#[test]
fn files_of_predict_and_generate_are_replaced_only_with_force() {
    check_files(&FILES[..4]);
}

#[test]
fn files_of_convert_are_replaced_only_with_force() {
    check_files(&FILES[4..10]);
}

#[test]
fn files_of_export_and_report_are_replaced_only_with_force() {
    check_files(&FILES[10..12]);
    let place = place();
    // The second file, next to the named one.
    std::fs::write(place.path().join("x.features.json"), "precious").unwrap();
    let export = "export --model m --format solr --out x.json";
    assert!(place.run(export).bad(1).contains("x.features.json already exists"));
    assert!(!place.path().join("x.json").exists());
    assert_eq!(place.read("x.features.json"), "precious");
    place.run(&format!("{export} --force")).good();
    assert_ne!(place.read("x.features.json"), "precious");
    std::fs::write(place.path().join("y.features.json"), "1 a\n2 b\n3 c\n").unwrap();
    let named = "export --model m --format solr --out y.json --feature-names y.features.json";
    assert_spares(&place, named, "y.features.json", "y.features.json");
}

#[test]
fn figures_are_replaced_only_with_force() {
    check_files(&FILES[12..]);
}

#[test]
fn files_in_folders_are_replaced_only_with_force() {
    let place = place();
    for (command, option, file) in FOLDERS {
        let command = command.replace("OUT", "folder");
        let path = place.path().join("folder").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "precious").unwrap();
        let message = place.run(&command).bad(1);
        assert!(message.contains(&format!("already exists: choose another {option}, or")), "{command}: {message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
        place.run(&format!("{command} --force --quiet")).done();
        // A single trial has no figure.
        if *file != "figure.svg" {
            assert_ne!(std::fs::read(&path).unwrap(), b"precious", "{command}");
        }
        // The data itself as output, also through a link.
        let data = command.replace("d.txt", &format!("folder/{file}"));
        if data != command {
            std::fs::remove_file(&path).unwrap();
            std::fs::copy(place.path().join("d.txt"), &path).unwrap();
            assert_spares(&place, &data, &format!("folder/{file}"), &format!("folder/{file}"));
            #[cfg(unix)]
            {
                std::fs::remove_file(&path).unwrap();
                std::fs::hard_link(place.path().join("d.txt"), &path).unwrap();
                assert_spares(&place, &command, "d.txt", &format!("folder/{file}"));
                std::fs::remove_file(&path).unwrap();
                std::os::unix::fs::symlink(place.path().join("d.txt"), &path).unwrap();
                assert_spares(&place, &command, "d.txt", &format!("folder/{file}"));
            }
        }
        std::fs::remove_dir_all(place.path().join("folder")).unwrap();
        println!("{command:<70} {option:<9} {file}");
    }
    let message = place.run("explain --model m --data d.txt --figures m --force").bad(1);
    assert!(
        message.contains("is a model folder, which may only contain its model: choose another --figures"),
        "{message}"
    );
}

#[test]
fn a_model_is_replaced_only_with_force_and_never_an_input() {
    let place = place();
    std::fs::write(place.path().join("trees.txt"), include_str!("../../src/model/trees/tests/sample.txt")).unwrap();
    let import = "convert trees.txt --to model --out m";
    let train = "train --train d.txt --model linear --epochs 1 --quiet --out m";
    for command in [import, train] {
        let before = bytes(&place, "m/model.json");
        let message = place.run(command).bad(1);
        assert!(message.contains("m already exists: choose another --out, or replace it with --force"), "{message}");
        assert_eq!(bytes(&place, "m/model.json"), before);
        place.run(&format!("{command} --force")).done();
        println!("{command:<70} --out");
    }
    // An input in the folder of the model.
    place.run("convert trees.txt --to model --out t").done();
    assert_spares(&place, "convert t/model.txt --to model --out t", "t/model.txt", "t");
    std::fs::write(place.path().join("t/README.md"), place.read("d.txt")).unwrap();
    assert_spares(&place, &train.replace("d.txt", "t/README.md").replace("--out m", "--out t"), "t/README.md", "t");
    #[cfg(unix)]
    {
        std::fs::remove_file(place.path().join("t/README.md")).unwrap();
        std::fs::hard_link(place.path().join("d.txt"), place.path().join("t/README.md")).unwrap();
        let before = place.read("d.txt");
        let message = place.run(&(train.replace("--out m", "--out t") + " --force")).bad(1);
        assert!(message.contains("README.md is an input of this command as d.txt"), "{message}");
        assert_eq!(place.read("d.txt"), before);
    }
}

#[test]
fn training_discards_checkpoints_but_no_other_file_of_that_name() {
    let place = place();
    let train = "train --train d.txt --model linear --epochs 1 --quiet --out n";
    std::fs::write(place.path().join("n.checkpoint"), "precious").unwrap();
    for command in
        [train.to_owned(), format!("{train} --force"), format!("{train} --resume"), format!("{train} --resume --force")]
    {
        let message = place.run(&command).bad(1);
        assert!(message.contains("n.checkpoint exists and is not a checkpoint"), "{message}");
        assert_eq!(place.read("n.checkpoint"), "precious");
    }
    for auto in
        ["train --train d.txt --seconds 1 --quiet --out n --force", "train --folds f --model linear --out g --force"]
    {
        std::fs::create_dir_all(place.path().join("f")).unwrap();
        std::fs::create_dir_all(place.path().join("g")).unwrap();
        for file in ["f/train.txt", "f/vali.txt", "f/test.txt"] {
            std::fs::copy(place.path().join("d.txt"), place.path().join(file)).unwrap();
        }
        std::fs::write(place.path().join("g/f.checkpoint"), "precious").unwrap();
        assert!(place.run(auto).bad(1).contains("exists and is not a checkpoint"));
    }
    std::fs::rename(place.path().join("d.txt"), place.path().join("k.checkpoint")).unwrap();
    assert_spares(
        &place,
        &train.replace("d.txt", "k.checkpoint").replace("--out n", "--out k"),
        "k.checkpoint",
        "k.checkpoint",
    );
    println!("{train:<70} --out, n.checkpoint");
}

#[test]
fn a_log_is_replaced_only_with_force_and_never_an_input() {
    let place = place();
    let train = "train --train d.txt --model linear --epochs 1 --quiet --out n --log";
    place.run(&format!("{train} log")).done();
    let before = place.read("log");
    let again = train.replace("--out n", "--out o");
    let message = place.run(&format!("{again} log")).bad(1);
    assert!(message.contains("log already exists: choose another --log, or replace it with --force"), "{message}");
    assert_eq!(place.read("log"), before);
    assert!(!place.path().join("o").exists());
    place.run(&format!("{again} log --force")).done();
    assert_spares(&place, &format!("{again} d.txt"), "d.txt", "d.txt");
    #[cfg(unix)]
    {
        std::fs::hard_link(place.path().join("d.txt"), place.path().join("hard")).unwrap();
        std::os::unix::fs::symlink("d.txt", place.path().join("soft")).unwrap();
        for link in ["hard", "soft"] {
            assert_spares(&place, &format!("{again} {link}"), "d.txt", link);
        }
        place.run(&format!("{again} /dev/null --force")).done();
    }
    let message = place.run(&format!("{again} o.checkpoint --force")).bad(2);
    assert!(message.contains("also the path of the checkpoint"), "{message}");
    let message = place.run(&format!("{} ./p", again.replace("--out o", "--out p"))).bad(2);
    assert!(message.contains("also the path of the model"), "{message}");
    println!("{train:<70} --log");
}

/// The tables have every option that the help of a command describes as output.
#[test]
fn the_tables_have_every_output_of_every_command() {
    let place = Place::new(&[]);
    let commands = ["train", "tune", "predict", "info", "data", "evaluate", "compare", "explain", "report", "certify"];
    let more = ["lambda", "generate", "convert", "export", "serve", "split", "devices", "completions", "man"];
    let mut found = BTreeSet::new();
    for command in commands.into_iter().chain(more) {
        let help = place.run(&format!("{command} --help")).good();
        for option in ["--out", "--log", "--figure", "--figures"] {
            let begins =
                |line: &str| line.trim_start().split([' ', ',']).any(|word| word == option) && line.contains('<');
            if help.lines().any(|line| line.trim_start().starts_with('-') && begins(line)) {
                found.insert(format!("{command} {option}"));
            }
        }
    }
    let first = |command: &str, option: &str| format!("{} {option}", command.split(' ').next().unwrap());
    let mut covered: BTreeSet<String> = FILES.iter().map(|row| first(row.command, row.option)).collect();
    covered.extend(FOLDERS.iter().map(|(command, option, _)| first(command, option)));
    covered.extend(["train --out".into(), "train --log".into()]);
    covered.iter().for_each(|output| println!("{output}"));
    assert_eq!(covered, found);
}

#[test]
fn output_of_appended_files_is_appended() {
    if !Path::new("/dev/stdout").exists() {
        return;
    }
    let place = place();
    std::fs::write(place.path().join("all.txt"), "before\n").unwrap();
    let open = || std::fs::File::options().append(true).open(place.path().join("all.txt")).unwrap();
    let mut command = place.command("predict --model m --data d.txt --out /dev/stdout");
    assert!(command.stdout(open()).status().unwrap().success());
    assert!(place.read("all.txt").starts_with("before\n") && place.read("all.txt").lines().count() == 37);
}
