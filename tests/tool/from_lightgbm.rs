//! The tables of docs/from-lightgbm.md: each row is tried, and LightGBM and XGBoost know their parameters.

use super::support::{Place, python};
use burnrank::setting::GROWS_TREES;
use std::fmt::Write;

const PAGE: &str = include_str!("../../docs/from-lightgbm.md");

/// Returns the parameters of another program and our options, by row of its table.
fn rows(program: &str) -> Vec<(&'static str, &'static str)> {
    let header = format!("| {program} | burnrank train | note |");
    let lines = PAGE.lines().skip_while(move |line| *line != header).skip(2).take_while(|line| line.starts_with('|'));
    let quoted = |cell: &'static str| cell.trim().trim_matches('`');
    let row = |line: &'static str| {
        let mut cells = line.split('|').skip(1);
        (quoted(cells.next().expect("a cell")), quoted(cells.next().expect("a cell")))
    };
    lines.map(row).collect()
}

/// Returns the text blocks after a heading.
fn blocks() -> Vec<&'static str> {
    PAGE.split("```text\n").skip(1).map(|rest| rest.split("```").next().expect("a block")).collect()
}

#[test]
fn every_option_in_the_tables_trains() {
    let place = Place::new(&[]);
    place.run("generate net --queries 40 --documents 10 --features 4 --out all.txt").good();
    place.run("split all.txt --out .").done();
    // The third feature becomes a category.
    for file in ["train.txt", "vali.txt", "test.txt"] {
        let category = |word: &str| match word.strip_prefix("3:") {
            Some(value) => format!("3:{}", (value.parse::<f64>().expect("a number").abs() * 5.0).floor()),
            None => word.to_owned(),
        };
        let convert = |line: &str| line.split(' ').map(category).collect::<Vec<_>>().join(" ") + "\n";
        let text: String = place.read(file).lines().map(convert).collect();
        std::fs::write(place.path().join(file), text).expect("a file");
    }
    let help = place.run("train --help").good();
    let mut tried = 0;
    for (theirs, ours) in ["LightGBM", "XGBoost", "RankLib"].into_iter().flat_map(rows) {
        for option in ours.split(' ').filter(|word| word.starts_with("--")) {
            assert!(help.contains(&format!("      {option}")) || help.contains(&format!(" {option} ")), "{option}");
        }
        let given = |option: &str| ours.split(' ').any(|word| word == option);
        let model = if given("--model") { "" } else { "--model trees" };
        if !GROWS_TREES && (ours.contains("--model trees") || !model.is_empty()) {
            println!("skipped: {theirs}: this build does not train trees");
            continue;
        }
        let mut line = format!("train {ours} {model} --force --quiet");
        for (option, value) in [("--train", "train.txt"), ("--valid", "vali.txt"), ("--out", "model")] {
            if !given(option) {
                let _ = write!(line, " {option} {value}");
            }
        }
        if !["--trees", "--epochs", "adarank", "coordinate"].iter().any(|word| ours.contains(word)) {
            line += " --epochs 2";
        }
        let ran = place.run(&line);
        assert_eq!(ran.code, Some(0), "{theirs}: {line}: {ran:?}");
        tried += 1;
    }
    println!("{tried} rows tried");
}

#[test]
fn lightgbm_and_xgboost_know_the_parameters() {
    let place = Place::new(&[]);
    let list = |program| rows(program).into_iter().map(|(theirs, _)| format!("{theirs:?}, ")).collect::<String>();
    let script = format!(
        "
import contextlib, inspect, io, lightgbm, numpy, os, sys, tempfile, xgboost
random = numpy.random.default_rng(1)
x, y = random.normal(size=(200, 5)).astype(numpy.float32), random.integers(0, 3, 200)
x[:, 3] = random.integers(0, 5, 200)
lines = []
class Log:
    def info(self, text): lines.append(text)
    def warning(self, text): lines.append(text)
lightgbm.register_logger(Log())
def is_known(name, value):
    lines.clear()
    data = lightgbm.Dataset(x, y, group=[20] * 10, params=dict([(name, value)]), free_raw_data=False)
    base = dict(objective='lambdarank', num_iterations=2, verbosity=1)
    lightgbm.train({{**base, name: value}}, data, valid_sets=[data])
    return not any('Unknown parameter' in line for line in lines)
def number(text):
    return next((kind(text) for kind in (int, float) if text.replace('.', '', kind is float).isdigit()), text)
assert not is_known('no_such_parameter', 1)
for text in [{}]:
    name, value = text.split('=')
    assert is_known(name, number(value)), text
functions = list(inspect.signature(xgboost.train).parameters) + list(inspect.signature(xgboost.DMatrix.__init__).parameters)
def is_used(name, value):
    with tempfile.TemporaryFile() as file:
        saved = os.dup(2); os.dup2(file.fileno(), 2)
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                data = xgboost.DMatrix(x, y > 0, qid=numpy.arange(200) // 20)
                xgboost.train({{'objective': 'rank:ndcg', 'verbosity': 1, name: value}}, data, 2)
        finally:
            os.dup2(saved, 2)
        file.seek(0)
        return 'are not used' not in file.read().decode() + out.getvalue()
assert not is_used('no_such_parameter', 1)
for text in [{}]:
    name, value = text.split('=')
    assert name in functions or is_used(name, value), text
print('known')
",
        list("LightGBM"),
        list("XGBoost")
    );
    if let Some(printed) = python(&script, &["numpy", "lightgbm", "xgboost"], place.path()) {
        assert!(printed.ends_with("known\n"), "{printed}");
    }
}

/// LETOR lines without queries, and the number of documents of each query, as in LightGBM's examples. The fourth feature is a
/// category, and large values of the others are often missing.
fn example(queries: usize, mut seed: u64) -> (String, String) {
    let mut next = move |end: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % end
    };
    let (mut lines, mut sizes) = (String::new(), String::new());
    for _ in 0..queries {
        for _ in 0..20 {
            let x: Vec<f64> = (0..3).map(|_| next(1000) as f64 / 500.0 - 1.0).collect();
            let category = next(12);
            let gain = x[0] + x[1] + (category * 5 % 12) as f64 / 6.0 + next(100) as f64 / 100.0;
            let _ = write!(lines, "{}", (gain.max(0.0) * 1.2).min(4.0) as u32);
            for (place, value) in x.iter().enumerate() {
                match *value > 0.2 && next(3) == 0 {
                    true => lines += &format!(" {}:nan", place + 1),
                    false => lines += &format!(" {}:{value}", place + 1),
                }
            }
            let _ = writeln!(lines, " 4:{category}");
        }
        sizes += "20\n";
    }
    (lines, sizes)
}

/// The value of a metric that `evaluate` prints.
fn ndcg(place: &Place, model: &str) -> f64 {
    let json = place.run(&format!("evaluate --data rank.test --model {model} --metric ndcg@10 --json")).done();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    json["metrics"][0]["mean"].as_f64().expect("a mean")
}

#[test]
fn a_configuration_of_lightgbm_runs() {
    let (train, sizes) = example(150, 1);
    let (test, test_sizes) = example(100, 2);
    let place = Place::new(&[
        ("rank.train", &train),
        ("rank.train.query", &sizes),
        ("rank.test", &test),
        ("rank.test.query", &test_sizes),
        ("train.conf", blocks()[0]),
    ]);
    let commands = blocks()[1].replace("\n    ", " ");
    let (train, convert) = commands.trim().split_once('\n').expect("two commands");
    // LightGBM itself, by the configuration.
    let script = "
import lightgbm
settings = dict(line.split(' = ') for line in open('train.conf').read().splitlines())
settings['num_iterations'] = int(settings['num_iterations'])
files = [settings.pop(key) for key in ('data', 'valid', 'output_model', 'task')]
data = lightgbm.Dataset(files[0], params={**settings, 'verbosity': -1})
model = lightgbm.train({**settings, 'verbosity': -1}, data, valid_sets=[data.create_valid(files[1])])
model.save_model(files[2])
";
    let theirs = python(script, &["lightgbm"], place.path()).map(|_| {
        place.run(convert.trim_start_matches("burnrank ")).done();
        ndcg(&place, "imported")
    });
    if !GROWS_TREES {
        println!("skipped: this build does not train trees");
        return;
    }
    place.run(&format!("{} --quiet", train.trim_start_matches("burnrank "))).done();
    let ours = ndcg(&place, "model");
    assert!(place.read("model/model.txt").contains("cat_threshold="));
    println!("NDCG@10 {ours:.4}, LightGBM {theirs:?}");
    assert!(theirs.is_none_or(|theirs| (ours - theirs).abs() < 0.03), "{ours}, LightGBM {theirs:?}");
}
