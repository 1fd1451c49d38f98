//! The tool with tables: the same models and scores as with text, and columns matched by name.

use super::support::{Place, Ran};
use super::write::{Column, Values, column, parquet, properties};
use burnrank::{Dataset, ReadOptions, read};
use std::path::{Path, PathBuf};

/// Writes documents as CSV and Parquet, with the given feature names.
fn write_tables(data: &Dataset, stem: &Path, names: &[String]) {
    let queries: Vec<&str> = data.queries().flat_map(|query| vec![query.id; query.labels.len()]).collect();
    let mut csv = format!("{},label,qid\n", names.join(","));
    let width = data.n_features();
    for (row, query) in queries.iter().enumerate() {
        data.features()[row * width..(row + 1) * width].iter().for_each(|value| csv += &format!("{value},"));
        csv += &format!("{},{query}\n", data.labels()[row]);
    }
    std::fs::write(stem.with_extension("csv"), csv).unwrap();
    let feature = |index: usize| {
        let values = data.features().iter().skip(index).step_by(width).map(|&value| f64::from(value));
        column(&format!("double {}", names[index]), Values::f64(values))
    };
    let mut columns: Vec<Column> = (0..width).map(feature).collect();
    columns.push(column("float label", Values::f32(data.labels().iter().copied())));
    columns.push(column("binary qid (STRING)", Values::text(queries)));
    parquet(&stem.with_extension("parquet"), &columns, 100, properties());
}

fn names(width: usize) -> Vec<String> {
    (0..width).map(|index| format!("x{index}_bm25")).collect()
}

/// Returns the record of a model, which determines its scores.
fn record(place: &Place, folder: &str) -> Vec<u8> {
    std::fs::read(place.path().join(folder).join("model.bpk")).unwrap()
}

fn info(place: &Place, folder: &str) -> serde_json::Value {
    serde_json::from_str(&place.read(&format!("{folder}/model.json"))).unwrap()
}

/// Removes training times from the metadata of a model.
fn without_times(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.remove("seconds");
            fields.values_mut().for_each(without_times);
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(without_times),
        _ => {}
    }
}

/// Trains on the same documents as text, CSV, Parquet and a cache built from Parquet, and compares models, scores and metrics.
fn same_models(place: &Place, train: &Path, test: &Path, settings: &str) {
    let sets = [(train, "train"), (test, "test")];
    for (from, to) in sets {
        let data = read(from, &ReadOptions::default()).unwrap().data;
        // With the width of the training data, as in the tool.
        let width = read(train, &ReadOptions::default()).unwrap().data.n_features();
        write_tables(&data.with_width(width), &place.path().join(to), &names(width));
        std::fs::copy(from, place.path().join(format!("{to}.txt"))).unwrap();
        place.run(&format!("convert {to}.parquet --to cache --force --out {to}.cache --quiet")).done();
    }
    let mut seen = Vec::new();
    for ending in ["txt", "csv", "parquet", "cache"] {
        let line = format!("train --train train.{ending} --test test.{ending} --out {ending} --quiet {settings}");
        place.run(&line).done();
        let mut info = info(place, ending);
        let stored = info["feature_names"].take();
        match ending {
            "txt" => assert!(stored.is_null(), "{stored}"),
            _ => assert_eq!(stored, serde_json::json!(names(info["ranker"]["features"].as_u64().unwrap() as usize))),
        }
        let data = info["data"].as_object_mut().unwrap();
        data.values_mut().for_each(|set| (set["source"], set["file"]) = ("".into(), "".into()));
        info["run"].take();
        without_times(&mut info);
        let scores = place.run(&format!("predict --model {ending} --data test.{ending}")).done();
        let result =
            place.run(&format!("evaluate --model {ending} --data test.{ending} --metric ndcg@10 --json")).done();
        let result: serde_json::Value = serde_json::from_str(&result).unwrap();
        seen.push((record(place, ending), info, scores, result["metrics"].clone()));
    }
    for (ending, other) in ["csv", "parquet", "cache"].iter().zip(&seen[1..]) {
        let mut info = other.1.clone();
        info.as_object_mut().unwrap().remove("feature_names");
        let mut text = seen[0].1.clone();
        text.as_object_mut().unwrap().remove("feature_names");
        assert_eq!(other.0, seen[0].0, "{ending}: record");
        assert_eq!(info, text, "{ending}: metadata");
        assert_eq!(other.2, seen[0].2, "{ending}: scores");
        assert_eq!(other.3, seen[0].3, "{ending}: metrics");
    }
}

fn generated() -> Place {
    let place = Place::new(&[]);
    place.run("generate net --queries 60 --documents 12 --features 6 --out all.txt --seed 3").done();
    place.run("split all.txt --out parts").done();
    place
}

#[test]
fn tables_and_text_give_the_same_model() {
    let place = generated();
    let file = |name: &str| place.path().join("parts").join(name);
    same_models(&place, &file("train.txt"), &file("test.txt"), "--model mlp --hidden 5 --epochs 6");
    same_models(&generated(), &file("train.txt"), &file("test.txt"), "--trials 4 --objective ranknet");
}

#[test]
fn tables_and_text_of_the_lightgbm_example_give_the_same_model() {
    let folder = std::env::var_os("BURNRANK_DATA").map(|root| PathBuf::from(root).join("lightgbm-example"));
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        println!("skipped: BURNRANK_DATA has no folder lightgbm-example");
        return;
    };
    let place = Place::new(&[]);
    same_models(&place, &folder.join("train.txt"), &folder.join("test.txt"), "--model mlp --epochs 3");
    println!("all {} bytes of the record are the same for text, CSV and Parquet", record(&place, "txt").len());
}

#[test]
fn models_match_columns_by_name() {
    let place = generated();
    let all = read(place.path().join("parts/test.txt"), &ReadOptions::default()).unwrap().data;
    let named = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
    write_tables(&all, &place.path().join("a"), &named("a b c d e f"));
    place.run("train --train a.csv --model linear --epochs 2 --out model --quiet").done();
    let scores = place.run("predict --model model --data a.parquet").good();
    // In another order, and without labels.
    let data = all.clone().with_feature_names(named("a b c d e f")).unwrap().arranged(&named("f a e b d c")).unwrap();
    write_tables(&data, &place.path().join("b"), &named("f a e b d c"));
    for file in ["b.csv", "b.parquet"] {
        assert_eq!(place.run(&format!("predict --model model --data {file}")).good(), scores, "{file}");
    }
    let text = place.read("b.csv").replacen(",label,", ",relevance,", 1);
    std::fs::write(place.path().join("c.csv"), text).unwrap();
    let line = "predict --model model --data c.csv --drop relevance";
    assert_eq!(place.run(line).good(), scores);
    let error = place.run("evaluate --model model --data c.csv").bad(1);
    assert!(error.contains("c.csv: there is no column 'label': choose the column of labels"), "{error}");
    assert_eq!(place.run("evaluate --model model --data c.csv --label relevance").code, Some(0));
    // Renamed and unexpected columns.
    for (from, to, expected) in [
        ("f,a,", "f,z,", "c.csv: the training data has a feature 'a', but this data does not"),
        (
            "relevance,",
            "r,",
            "c.csv: the data has a column 'r', but the training data had no such feature: exclude it with --drop r",
        ),
    ] {
        let text = place.read("c.csv").replacen(from, to, 1);
        std::fs::write(place.path().join("d.csv"), text.replace("c.csv", "d.csv")).unwrap();
        let options = if from == "f,a," { "--drop relevance" } else { "" };
        let error = place.run(&format!("predict --model model --data d.csv {options}")).bad(1);
        assert!(error.contains(&expected.replace("c.csv", "d.csv")), "{error}, not {expected}");
    }
    // Text has no feature names: features are matched by index, as for models without names.
    place.run("convert a.csv --out a.txt").done();
    assert_eq!(place.run("predict --model model --data a.txt").good(), scores);
    place.run("train --train a.txt --model linear --epochs 2 --out unnamed --quiet").done();
    assert_eq!(place.run("predict --model unnamed --data a.csv").good(), scores);
    // Commands show feature names.
    assert!(place.run("info model").done().contains("features: a, b, c"));
    assert!(place.run("explain --model model --data b.csv").done().contains('f'));
    for line in [
        "compare model unnamed --data a.csv",
        "certify --model model --data a.parquet --metric ndcg@10 --epsilon 0.5 --delta 0.5",
        "data a.csv",
    ] {
        place.run(line).done();
    }
}

#[test]
fn training_sets_are_matched_by_name() {
    let place = generated();
    for part in ["train", "vali", "test"] {
        let data = read(place.path().join(format!("parts/{part}.txt")), &ReadOptions::default()).unwrap().data;
        write_tables(&data, &place.path().join(part), &names(6));
    }
    let data = read(place.path().join("vali.csv"), &ReadOptions::default()).unwrap().data;
    let mut reversed = names(6);
    reversed.reverse();
    write_tables(&data.arranged(&reversed).unwrap(), &place.path().join("reversed"), &reversed);
    let train = |valid: &str, out: &str| {
        place.run(&format!("train --train train.parquet --valid {valid} --model mlp --epochs 4 --out {out} --quiet"))
    };
    train("vali.csv", "one").done();
    train("reversed.parquet", "two").done();
    assert_eq!(record(&place, "one"), record(&place, "two"));
    write_tables(
        &read(place.path().join("vali.csv"), &ReadOptions::default()).unwrap().data,
        &place.path().join("odd"),
        &{
            let mut odd = names(6);
            odd[2] = "other".into();
            odd
        },
    );
    let error = train("odd.csv", "three").bad(1);
    assert!(error.contains("odd.csv: the training data has a feature 'x2_bm25', but this data does not"), "{error}");
    // Folds of tables, and the command printed by a search.
    std::fs::create_dir(place.path().join("Fold1")).unwrap();
    for part in ["train", "vali", "test"] {
        std::fs::copy(place.path().join(format!("{part}.csv")), place.path().join(format!("Fold1/{part}.csv")))
            .unwrap();
    }
    place.run("train --folds . --model linear --epochs 2 --quiet").done();
    let printed = place.run("tune --train train.csv --drop x0_bm25 --null 0 --trials 2 --epochs 2 --quiet").done();
    assert!(printed.contains("--drop x0_bm25") && printed.contains("--null 0"), "{printed}");
    let error = place.run("train --train train.csv --out x --feature-names names.txt --model linear").bad(2);
    assert!(error.contains("--feature-names: this table already has column names"), "{error}");
    let error = place.run("train --train train.csv --out x --features 9 --model linear").bad(1);
    assert!(error.contains("train.csv: the table has 6 columns of features: leave out --features 9"), "{error}");
}

/// Runs the commands about tables in docs/data.md in order.
#[test]
#[cfg(unix)]
fn commands_in_the_documentation_of_data_work() {
    let place = generated();
    let part = |name: &str| read(place.path().join(format!("parts/{name}.txt")), &ReadOptions::default()).unwrap().data;
    for (from, to) in [("train", "train"), ("vali", "vali"), ("test", "new"), ("test", "test")] {
        write_tables(&part(from), &place.path().join(to), &names(6));
    }
    let text = place.read("test.csv");
    std::fs::write(place.path().join("test.csv.gz"), zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    let unlabelled: Vec<String> = text
        .lines()
        .map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            cells.remove(6);
            cells.join(",")
        })
        .collect();
    std::fs::write(place.path().join("new.csv"), unlabelled.join("\n")).unwrap();
    let mut clicks = "session,url,grade,title,price,a,b\n".to_owned();
    for row in 0..200 {
        let (grade, b) = (row % 3, if row % 7 == 0 { String::new() } else { row.to_string() });
        clicks += &format!("s{},u{row},{grade},\"one, two\",cheap,{grade}.5,{b}\n", row / 10);
    }
    std::fs::write(place.path().join("clicks.csv"), clicks).unwrap();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/data.md")).expect("the page");
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let is_table = |line: &&str| line.contains(".csv") || line.contains(".parquet");
    let lines: Vec<&str> = blocks.flat_map(str::lines).filter(is_table).collect();
    assert!(lines.len() >= 6, "{lines:?}");
    for line in lines {
        let words = line.strip_prefix("burnrank ").expect("a command").split(" #").next().unwrap();
        let words = words.split(" > ").next().unwrap();
        place.run(words).done();
    }
    assert_eq!(info(&place, "other")["feature_names"], serde_json::json!(["a", "b"]));
}

#[test]
fn memory_limits_apply_to_tables() {
    let place = generated();
    let data = read(place.path().join("all.txt"), &ReadOptions::default()).unwrap().data;
    let many: Vec<usize> = (0..data.n_queries()).collect();
    write_tables(&data.select(&many), &place.path().join("a"), &names(6));
    for file in ["a.csv", "a.parquet"] {
        let ran: Ran = place.run(&format!("data {file} --max-memory 1kB"));
        let error = ran.bad(1);
        assert!(error.contains("is available") && error.contains(file), "{error}");
    }
}
