//! Files that change while they are read, skipped lines, query files, and names with terminal escapes.

use super::support::Place;
use burnrank::data::Chunks;
use burnrank::{ReadOptions, read};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// A model on two features.
fn with_model(files: &[(&str, &str)]) -> Place {
    let place = Place::new(files);
    let train: String = (0..40).map(|i| format!("{} qid:{} 1:{} 2:{}\n", i % 2, i / 4, i % 7, i % 3)).collect();
    std::fs::write(place.0.path().join("train.txt"), train).unwrap();
    let ran = place.run("train --train train.txt --out model --epochs 2 --model linear --scale none --quiet");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    place
}

#[test]
fn a_file_that_is_truncated_or_rewritten_while_it_is_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.txt");
    let long: String = (0..40_000).map(|i| format!("{} qid:{} 1:0.25 2:{i}\n", i % 5, i / 10)).collect();
    let short = "0 qid:7 1:1\n\n\n1 qid:7 3:1 # x\n".repeat(9_000);
    let (stop, mut refused) = (AtomicBool::new(false), 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for text in [&long, &short] {
                    // The same file, truncated and rewritten, not a new file with the old name.
                    let mut file = std::fs::File::create(&path).unwrap();
                    text.as_bytes().chunks(1 << 16).for_each(|part| file.write_all(part).unwrap());
                }
            }
        });
        let options = ReadOptions { block_bytes: 5000, ..ReadOptions::default() };
        for _ in 0..60 {
            let whole = read(&path, &options).map(|report| report.data.n_documents());
            let chunks = Chunks::open(&path, &ReadOptions::default())
                .and_then(|chunks| chunks.with_chunk_bytes(1 << 15).map(|part| Ok(part?.n_documents())).sum());
            for result in [whole, chunks] {
                match result {
                    Ok(documents) => assert!(documents > 0),
                    Err(_) => refused += 1,
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(refused > 0, "the file was never caught changing");
}

#[test]
fn the_error_names_the_change_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.txt");
    let line = "1 qid:1 1:0.5\n";
    std::fs::write(&path, line.repeat(5000)).unwrap();
    let cut = |_| {
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(100).unwrap();
    };
    let error = burnrank::data::read_with(&path, &ReadOptions { block_bytes: 1000, ..ReadOptions::default() }, &cut);
    let error = error.unwrap_err().to_string();
    assert!(error.ends_with("the file changed while it was being read: read it again when it is no longer written to"));
    std::fs::write(&path, line.repeat(5000)).unwrap();
    let mut chunks = Chunks::open(&path, &ReadOptions::default()).unwrap().with_chunk_bytes(100);
    std::fs::write(&path, "2 qid:2 1:0.5\n".repeat(4000)).unwrap();
    let error = chunks.find_map(Result::err).unwrap().to_string();
    assert!(error.contains("the file changed while it was being read"), "{error}");
}

#[test]
fn lenient_scores_stand_on_the_lines_of_their_documents() {
    let bad = "0 qid:a 1:1 2:1\nbad\n# comment\n1 qid:a 2:x\n\n0 qid:b 1:2\n1 qid:a 1:3\n1 qid:b 1:1\nnan qid:c\n";
    let place = with_model(&[("bad.txt", bad), ("good.txt", "0 qid:a 1:1 2:1\n0 qid:b 1:2\n1 qid:b 1:1\n")]);
    let good = place.run("predict --model model --data good.txt").good();
    let good: Vec<&str> = good.lines().collect();
    let expected = [good[0], "NaN", "NaN", good[1], "NaN", good[2], "NaN"].join("\n") + "\n";
    let ran = place.run("predict --model model --data bad.txt --lenient");
    assert_eq!((ran.code, &ran.out), (Some(0), &expected), "{ran:?}");
    assert!(ran.err.contains("skipped 4 bad lines") && ran.err.contains("have the score NaN"), "{}", ran.err);
    let ran = place.run("predict --model model --data bad.txt --lenient --format trec");
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 3));
    assert!(ran.err.contains("are missing from the run"), "{}", ran.err);
    // With --regroup no query reappears, and scores stay with their documents.
    let ran = place.run("predict --model model --data bad.txt --lenient --regroup");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(
        [lines[0], lines[1], lines[2], lines[3], lines[5], lines[6]],
        [good[0], "NaN", "NaN", good[1], good[2], "NaN"]
    );
    assert_ne!(lines[4], "NaN");
}

#[test]
fn query_files_are_found_next_to_their_data() {
    let place = with_model(&[
        ("a.txt", "1 1:1 2:1\n0 1:2\n2 1:3\n"),
        ("a.txt.query", "1\n2\n"),
        ("b.txt", "1 1:1\n0 1:2\n2 1:3\n"),
        ("b.txt.group", "3\n"),
        ("c.txt", "1 qid:x 1:1\n0 qid:y 1:2\n"),
        ("c.txt.query", "nonsense\n"),
        ("d.txt", "1 1:1\n"),
    ]);
    for (file, queries) in [("a.txt", 2), ("b.txt", 1), ("c.txt", 2)] {
        assert_eq!(place.run(&format!("data {file} --json --quiet")).json()["files"][0]["queries"], queries, "{file}");
    }
    let ran = place.run("predict --model model --data a.txt");
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 3), "{ran:?}");
    assert!(ran.err.contains("reads queries from a.txt.query"), "{}", ran.err);
    let message = place.run("data d.txt").bad(1);
    assert!(message.contains("missing query id"), "{message}");
    let ran = place.run("split a.txt --out parts --parts 1,1,1 --quiet");
    assert_ne!(ran.code, Some(101), "{ran:?}");
}

#[test]
fn each_file_of_a_training_run_has_its_query_file() {
    let rows = |n: usize| (0..n).map(|i| format!("{} 1:{} 2:{}\n", i % 2, i % 7, i % 3)).collect::<String>();
    let place = Place::new(&[
        ("train.txt", &rows(40)),
        ("valid.txt", &rows(12)),
        ("test.txt", &rows(6)),
        ("tq", &"4\n".repeat(10)),
        ("vq", &"4\n".repeat(3)),
        ("sq", "2\n4\n"),
    ]);
    let common =
        "train --train train.txt --valid valid.txt --test test.txt --epochs 1 --model linear --quiet --query-file tq";
    let ran = place.run(&format!("{common} --valid-query-file vq --test-query-file sq --out m"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let model: serde_json::Value = serde_json::from_str(&place.read("m/model.json")).unwrap();
    let queries = ["train", "valid", "test"].map(|split| model["data"][split]["queries"].as_u64().unwrap());
    assert_eq!(queries, [10, 3, 2]);
    let message = place.run(&format!("{common} --valid-query-file sq --test-query-file sq --out n")).bad(1);
    assert!(message.contains("valid.txt: 12 documents, but the query file lists 6"), "{message}");
    let message = place.run(&format!("{common} --out n")).bad(1);
    assert!(message.contains("valid.txt:1:3: missing query id"), "{message}");
}

#[test]
fn converting_over_a_file_needs_force() {
    let place = Place::new(&[("a.txt", "1 qid:1 1:1\n"), ("precious.txt", "do not lose me\n")]);
    let message = place.run("convert a.txt --out precious.txt").bad(1);
    assert!(message.contains("precious.txt already exists") && message.contains("--force"), "{message}");
    assert_eq!(place.read("precious.txt"), "do not lose me\n");
    place.run("convert a.txt --out precious.txt --force").good();
    assert_eq!(place.read("precious.txt"), "1 qid:1 1:1\n");
    place.run("convert a.txt --out /dev/null").good();
}

#[test]
fn text_of_files_cannot_control_the_terminal() {
    let escape = "\u{1b}]0;owned\u{7}";
    let place = Place::new(&[
        ("label.txt", &format!("{escape} qid:1 1:1\n")),
        ("query.txt", &format!("1 qid:{escape} 1:1\n")),
        ("back.txt", "1 qid:\u{9b}2J 1:1\n1 qid:b\n1 qid:\u{9b}2J 1:1\n"),
        ("scores.txt", &format!("{escape}\n")),
        ("good.txt", "1 qid:\u{9b}2J 1:1\n0 qid:\u{9b}2J 1:2\n"),
        (&format!("{escape}.txt"), "bad\n"),
        ("run.txt", "1 Q0 \u{9b}2J 1 x t\n"),
        ("qrels.txt", &format!("1 0 {escape} 1 1\n")),
    ]);
    let named = format!("data {escape}.txt");
    let missing = format!("data {escape}-missing");
    for command in [
        "data label.txt",
        "data query.txt",
        "data back.txt",
        "data back.txt --lenient",
        "evaluate --data good.txt --scores scores.txt",
        "evaluate --run run.txt --qrels qrels.txt",
        &named,
        &missing,
        "data good.txt",
        "split good.txt --out \u{1b}x",
    ] {
        let ran = place.run(command);
        let steers = |text: &str| text.chars().any(|c| c.is_control() && c != '\n');
        assert!(!steers(&ran.err) && !steers(&ran.out), "{command:?}: {ran:?}");
    }
}

#[test]
fn damage_of_compressed_files_is_detected() {
    let text: String = (0..2000).map(|i| format!("1 qid:{i} 1:0.{}\n", i * 7919 % 1000)).collect();
    let place = Place::new(&[("a.txt", &text)]);
    for name in ["b.zst", "b.gz"] {
        place.run(&format!("convert a.txt --out {name}")).good();
        let path = place.0.path().join(name);
        let whole = std::fs::read(&path).unwrap();
        // Bit 2 of the byte behind Zstandard's magic number says that a checksum follows the data.
        assert!(name != "b.zst" || whole[4] & 4 != 0, "no checksum in {name}");
        // Damage that is easy to overlook: single bits in the middle of the data.
        for at in (whole.len() / 3..whole.len() - 9).step_by(whole.len() / 20) {
            let mut spoilt = whole.clone();
            spoilt[at] ^= 4;
            std::fs::write(&path, spoilt).unwrap();
            let ran = place.run(&format!("data {name} --quiet"));
            assert_eq!(ran.code, Some(1), "{name} at {at}: {}", ran.out);
        }
    }
}

#[test]
#[cfg(not(feature = "tables"))]
fn a_build_without_tables_says_which_feature_reads_them() {
    let place = Place::new(&[("a.csv", "label,qid,x\n1,1,1\n"), ("a.txt", "1 qid:1 1:1\n")]);
    for line in [
        "data a.csv",
        "data none.parquet",
        "evaluate --data a.csv.gz --scores a.txt",
        "train --train a.csv --label x --out m",
    ] {
        let error = place.run(line).bad(2);
        assert!(
            error.contains("this build does not support ") && error.contains(" files: rebuild with the feature tables")
        );
    }
    let error = place.run("data a.txt --label x").bad(2);
    assert!(
        error.contains(
            "--label applies to Parquet, CSV and TSV files, but a.txt is read as LETOR: remove it, or rename the file"
        ),
        "{error}"
    );
}
