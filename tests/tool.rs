//! The command-line tool: output, files and exit codes.

#[path = "tool/auto.rs"]
mod auto;
#[path = "tool/cache.rs"]
mod cache;
#[path = "tool/devices.rs"]
mod devices;
#[path = "tool/ensemble.rs"]
mod ensemble;
#[path = "tool/explain.rs"]
mod explain;
#[path = "tool/export_target.rs"]
mod export_target;
#[path = "tool/from_lightgbm.rs"]
mod from_lightgbm;
#[path = "tool/help.rs"]
mod help;
#[path = "tool/import.rs"]
mod import;
#[path = "tool/libraries.rs"]
mod libraries;
#[path = "tool/like.rs"]
mod like;
#[path = "tool/missing.rs"]
mod missing;
#[path = "tool/report.rs"]
mod report;
mod support;
#[path = "tool/tune.rs"]
mod tune;

use std::process::{Command, Stdio};
use support::{Place, Ran};

/// Two queries with four documents; one document has an id.
const SMALL: &str = "2 qid:a 1:0.5 2:1 # docid = x\n0 qid:a 2:3\n1 qid:b 1:4 2:1\n0 qid:b 1:1 2:2\n";

fn close(value: &serde_json::Value, expected: f64) -> bool {
    (value.as_f64().expect("a number") - expected).abs() < 1e-9
}

#[test]
fn help_and_version_work() {
    let place = Place::new(&[]);
    let help = place.run("--help").good();
    for command in ["data", "evaluate", "generate", "convert", "split", "tune", "export", "explain", "report", "serve"]
    {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
        let own = place.run(&format!("{command} --help")).good();
        assert!(own.contains("Examples:") && own.contains(&format!("burnrank {command}")), "{own}");
        assert!(own.contains("--json") && own.contains("--threads"), "{own}");
    }
    assert!(place.run("--version").good().starts_with("burnrank "));
    assert!(place.run("evaluate --help").good().contains("ndcg[:linear][@k]"));
}

#[test]
fn bad_usage_exits_with_2() {
    let place = Place::new(&[("a.txt", SMALL), ("s.txt", "1\n2\n3\n4\n")]);
    for arguments in [
        "data",
        "unknown",
        "data a.txt --first-index 2",
        "evaluate",
        "evaluate --data a.txt",
        "evaluate --scores s.txt",
        "evaluate --run a.txt",
        "evaluate --data a.txt --scores s.txt --run a.txt --qrels a.txt",
        "evaluate --data a.txt --scores s.txt --ties none",
        "evaluate --data a.txt --scores s.txt --empty 2",
        "evaluate --data a.txt --scores s.txt --threshold 0",
        "evaluate --data a.txt --scores s.txt --regroup",
        "evaluate --data - --scores -",
        "generate",
        "generate forest",
        "generate polynomial --hidden 3",
        "generate net --levels 3 --mix 1,1",
        "generate net --json",
        "generate net --teacher 1",
        "generate polynomial --like a.txt",
        "generate web --hidden 3",
        "generate web --features 20",
        "generate web --noise 2",
        "generate web --like none.txt --noise 2",
        "convert a.txt",
        "convert a.txt --out b.txt --to run",
        "convert a.txt --out b.txt --scores s.txt",
        "convert a.txt --out b.txt --scale-on a.txt",
        "convert a.txt --out b.txt --scale huge",
        "split a.txt",
        "split a.txt --out p --folds 2",
        "split a.txt --out p --parts 1,1",
        "split a.txt --out p --parts 1,1,1 --folds 3",
        "data a.txt --threads many",
    ] {
        let ran = place.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments}: {ran:?}");
        assert!(!ran.err.is_empty());
    }
    assert_eq!(place.list(), ["a.txt", "s.txt"]);
}

#[test]
fn an_unknown_metric_suggests_the_nearest() {
    let place = Place::new(&[]);
    // The files need not exist: names are checked first.
    let ran = place.run("evaluate --data no.txt --scores no.txt --metric ndgc@10");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("unknown metric 'ndgc@10': did you mean 'ndcg@10'?"), "{}", ran.err);
}

#[test]
fn data_shows_statistics_and_problems() {
    let text = "0 qid:a 1:1 3:7\n0 qid:a 1:1 3:7\n2 qid:b 1:5000 3:7\n1 qid:c 1:1 3:7 4:1\n0 qid:c 1:1 3:7 4:1\n";
    let place = Place::new(&[("a.txt", text)]);
    let shown = place.run("data a.txt").good();
    for line in [
        "queries       3\n",
        "documents     5  1 to 2 per query, median 2, mean 1.7\n",
        "features      4  indices 1 to 4\n",
        "label  documents  share\n    0          3  60.0%\n    1          1  20.0%\n    2          1  20.0%\n",
        "- 1 document with the features of another one in the query, but a different label\n",
        "- 1 document with the features and label of another one in the query\n",
        "- 0 everywhere: 1 feature (2)\n",
        "- constant: 1 feature (3)\n",
        "- equal for all documents of each query: 2 features (1, 4)\n",
        "- values reach 5000 (feature 1)\n",
        "- no relevant documents in 1 query (33.3%)\n",
        "- only one document in 1 query (33.3%)\n",
        "- equal labels in 1 query (33.3%) with two or more documents\n",
    ] {
        assert!(shown.contains(line), "{line:?} is not in\n{shown}");
    }
    assert!(!shown.contains('\u{1b}'), "no colour outside a terminal");

    let json = place.run("data a.txt --json").json();
    let file = &json["files"][0];
    assert_eq!((&file["file"], &file["queries"], &file["documents"]), (&"a.txt".into(), &3.into(), &5.into()));
    assert_eq!(file["zero_features"], serde_json::json!([2]));
    assert_eq!(file["labels"]["distribution"][0], serde_json::json!({ "label": 0.0, "documents": 3, "share": 0.6 }));
    assert_eq!(file["warnings"].as_array().map(Vec::len), Some(9));
    assert_eq!(place.run("data a.txt --threads 1 --json").json(), json);
}

#[test]
fn good_data_has_no_problems_and_standard_input_is_read() {
    let place = Place::new(&[("a.txt", SMALL)]);
    assert!(place.run("data a.txt").good().ends_with("\nNo problems.\n"));
    let shown = place.run_with("data -", SMALL.as_bytes()).good();
    assert!(shown.starts_with("<stdin>\n"), "{shown}");
    assert_eq!(shown.replace("<stdin>", "a.txt"), place.run("data a.txt").good());
}

#[test]
fn broken_files_are_errors_with_a_position_and_leave_nothing() {
    for (text, expected) in [
        ("1 qid:a 1:1\n0 qid:a 1:x\n", "bad.txt:2:11: bad feature value 'x'"),
        ("1 qid:a 1:1\n-1 qid:a 1:1\n", "bad.txt:2:1: negative label '-1'"),
        (
            "1 qid:a 1:1\n1 qid:b 1:1\n0 qid:a 1:2\n",
            "bad.txt:3:7: query id reappears 'a': its first documents start on line 1",
        ),
        ("1 qid:a 1:inf\n", "bad.txt:1:11: feature value is infinite 'inf'"),
        ("1 qid:a 1:1 1:2\n", "bad.txt:1:13: duplicate feature '1:2'"),
        ("1 qid:a 4000000000:1\n", "bad.txt:1:9: feature index too large '4000000000'"),
        ("", "bad.txt: the file is empty"),
    ] {
        let place = Place::new(&[("bad.txt", text), ("s.txt", "1\n")]);
        for command in [
            "data bad.txt",
            "data bad.txt --json",
            "evaluate --data bad.txt --scores s.txt",
            "convert bad.txt --out new.txt",
            "convert bad.txt --out new.txt.gz",
            "split bad.txt --out parts",
        ] {
            let message = place.run(command).bad(1);
            assert!(message.contains(expected), "{command}: {expected:?} is not in {message}");
            assert_eq!(place.list(), ["bad.txt", "s.txt"], "{command}");
        }
    }
}

#[test]
fn damaged_compressed_files_are_refused() {
    let place = Place::new(&[]);
    place.run("generate net --queries 20 --documents 5 --features 5 --out whole.txt.gz").good();
    let whole = std::fs::read(place.0.path().join("whole.txt.gz")).unwrap();
    std::fs::write(place.0.path().join("cut.txt.gz"), &whole[..whole.len() / 2]).unwrap();
    let message = place.run("data cut.txt.gz").bad(1);
    assert!(message.contains("cut.txt.gz: truncated gzip data: the file is incomplete"), "{message}");
    let message = place.run("data none.txt").bad(1);
    assert!(message.starts_with("error: none.txt: cannot read: "), "{message}");
    assert_eq!(message.matches("os error").count(), 1, "{message}");
}

#[test]
fn lenient_reading_skips_and_reports() {
    let place = Place::new(&[("a.txt", "1 qid:a 1:1\nx qid:a 1:1\n0 qid:a 1:2\n")]);
    let ran = place.run("data a.txt --lenient --json");
    assert_eq!(ran.code, Some(0));
    assert!(ran.err.starts_with("note: a.txt: skipped 1 bad line:\n  a.txt:2:1: bad label 'x'"), "{}", ran.err);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&json["files"][0]["documents"], &json["files"][0]["skipped_lines"]), (&2.into(), &1.into()));
}

#[test]
fn query_files_and_zero_based_features_are_read() {
    let place = Place::new(&[("a.txt", "1 0:1\n0 0:2\n2 0:3\n"), ("a.query", "2\n1\n")]);
    let json = place.run("data a.txt --first-index 0 --query-file a.query --json").json();
    assert_eq!((&json["files"][0]["queries"], &json["files"][0]["features"]), (&2.into(), &1.into()));
}

#[test]
fn evaluation_agrees_with_the_formulas() {
    // Query a ranks label 2 second of two: DCG 3 / log2(3), ideal 3. Query b ranks label 1 first.
    let place = Place::new(&[("a.txt", SMALL), ("s.txt", "0.1\n0.9\n5\n-1\n")]);
    let arguments = "evaluate --data a.txt --scores s.txt --metric nDCG@10,mrr -m map --metric mrr --per-query";
    let json = place.run(&format!("{arguments} --json")).json();
    let ndcg = 1.0 / 3f64.log2();
    let names: Vec<&str> = json["metrics"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ndcg@10", "mrr", "map"]);
    let first = &json["metrics"][0];
    assert!(close(&first["mean"], (ndcg + 1.0) / 2.0));
    // The standard error of two values is half their distance; t with one degree of freedom is tan(0.475 pi).
    let error = (1.0 - ndcg) / 2.0;
    assert!(close(&first["standard_error"], error));
    let t = (0.475 * std::f64::consts::PI).tan();
    assert!(close(&first["interval"][1], (ndcg + 1.0) / 2.0 + t * error));
    assert_eq!(first["queries"], 2);
    assert!(close(&json["per_query"][0]["values"]["mrr"], 0.5) && close(&json["per_query"][1]["values"]["mrr"], 1.0));
    assert_eq!(json["conventions"]["ties"], "pessimistic");

    let shown = place.run(arguments).good();
    for line in [
        "data         a.txt: 2 queries, 4 documents\n",
        "conventions  ties: pessimistic; queries without relevant documents: 0; gain: 2^y\n\
         \x20            - 1, y for linear metrics; discount: 1 / log2(1 + rank); relevant:\n\
         \x20            label of 1 or more unless the name sets another; average precision:\n\
         \x20            over all relevant documents\n",
        "query  ndcg@10     mrr     map\na       0.6309  0.5000  0.5000\nb       1.0000  1.0000  1.0000\n",
        "ndcg@10  0.8155          0.1845  ",
    ] {
        assert!(shown.contains(line), "{line:?} is not in\n{shown}");
    }
}

#[test]
fn evaluation_follows_the_conventions() {
    let place = Place::new(&[("a.txt", "1 qid:a 1:1\n0 qid:a 1:2\n0 qid:b 1:1\n"), ("s.txt", "1\n1\n1\n")]);
    let mean = |options: &str| {
        // A note warns that no label reaches a threshold of 2.
        let shown = place.run(&format!("evaluate --data a.txt --scores s.txt --json {options}")).done();
        let json: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
        (json["metrics"][0]["mean"].clone(), json["metrics"][0]["queries"].clone())
    };
    for (options, expected, queries) in [
        ("--metric p@1", 0.0, 2),
        ("--metric p@1 --ties optimistic", 0.5, 2),
        ("--metric p@1 --ties document", 0.5, 2),
        ("--metric p@1 --ties average", 0.25, 2),
        ("--metric p@1 --ties average --empty skip", 0.5, 1),
        ("--metric p@1 --empty one", 0.5, 2),
        ("--metric p@1 --ties optimistic --threshold 2 --empty one", 1.0, 2),
    ] {
        let (mean, counted) = mean(options);
        assert!(close(&mean, expected) && counted == queries, "{options}: {mean} of {counted}");
    }
    let shown =
        place.run("evaluate --data a.txt --scores s.txt --metric arp --metric p@1 --empty skip --threshold 2").done();
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("queries without relevant documents: skip") && words.contains("label of 2 or more"),
        "{shown}"
    );
    assert!(shown.contains("1 skipped, lower is better"), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with("p:rel=2@1") && line.contains("  -  ")), "{shown}");
    assert!(
        place.run("evaluate --data a.txt --scores s.txt --metric map --ties average").bad(2).contains("no closed form")
    );
}

#[test]
fn scores_must_fit_the_data() {
    let place = Place::new(&[("a.txt", SMALL), ("short.txt", "1\n2\n3\n"), ("bad.txt", "1\n2\nx\n4\n")]);
    let message = place.run("evaluate --data a.txt --scores short.txt").bad(1);
    assert!(message.contains("short.txt: 3 scores for 4 documents"), "{message}");
    let message = place.run("evaluate --data a.txt --scores bad.txt").bad(1);
    assert!(message.contains("bad.txt:3:1: bad score 'x'"), "{message}");
    let message = place.run("convert a.txt --to run --scores short.txt --out run.txt").bad(1);
    assert!(message.contains("3 scores for 4 documents"), "{message}");
    assert_eq!(place.list(), ["a.txt", "bad.txt", "short.txt"]);
    let json = place.run_with("evaluate --data a.txt --scores - --metric wta --json", b"4\n3\n2\n1\n").json();
    assert!(close(&json["metrics"][0]["mean"], 1.0));
}

#[test]
fn runs_are_evaluated_with_qrels() {
    let run = "1 Q0 a 1 0.9 t\n1 Q0 b 2 0.8 t\n2 Q0 a 1 1 t\n9 Q0 a 1 1 t\n";
    let qrels = "1 0 b 1\n1 0 c 1\n2 0 a 1\n3 0 a 1\n";
    let place = Place::new(&[("run.txt", run), ("qrels.txt", qrels)]);
    // Query 1: b at rank 2, c not retrieved: AP (1/2) / 2. Query 2: 1. Query 3 is not in the run, query 9 not judged.
    let evaluate = "evaluate --run run.txt --qrels qrels.txt --metric map";
    let json = place.run(&format!("{evaluate} --json")).json();
    assert!(close(&json["metrics"][0]["mean"], (0.25 + 1.0) / 2.0) && json["queries"] == 2, "{json}");
    let json = place.run(&format!("{evaluate} --complete --json")).json();
    assert!(close(&json["metrics"][0]["mean"], (0.25 + 1.0) / 3.0) && json["queries"] == 3, "{json}");
    let shown = place.run(evaluate).good();
    assert!(shown.contains("run          run.txt: 3 queries; 1 query skipped, not judged\n"), "{shown}");
    assert!(shown.contains("qrels        qrels.txt: 3 queries; 1 query skipped, not in the run\n"), "{shown}");

    // Only bpref ignores the unjudged document, a of query 1.
    let json = place.run("evaluate --run run.txt --qrels qrels.txt --metric bpref,p@1 --per-query --json").json();
    assert!(close(&json["per_query"][0]["values"]["bpref"], 0.5) && close(&json["per_query"][0]["values"]["p@1"], 0.0));

    let place = Place::new(&[("run.txt", run), ("qrels.txt", "7 0 a 1\n")]);
    assert!(place.run(evaluate).bad(1).contains("no queries in common"));
}

#[test]
fn data_and_runs_give_the_same_metrics() {
    let place = Place::new(&[("a.txt", SMALL), ("s.txt", "0.1\n0.9\n5\n-1\n")]);
    place.run("convert a.txt --to qrels --out qrels.txt").good();
    place.run("convert a.txt --to run --scores s.txt --tag mine --out run.txt").good();
    assert_eq!(place.read("qrels.txt"), "a 0 x 2\na 0 a.2 0\nb 0 b.1 1\nb 0 b.2 0\n");
    assert!(place.read("run.txt").starts_with("a Q0 a.2 1 0.9 mine\na Q0 x 2 0.1 mine\nb Q0 b.1 1 5 mine\n"));
    let metrics = "--json -m ndcg@10,map,mrr,bpref,arp,err,p@1,recall@1,pairs,wta";
    let by_data = place.run(&format!("evaluate --data a.txt --scores s.txt {metrics}")).json();
    let by_run = place.run(&format!("evaluate --run run.txt --qrels qrels.txt {metrics}")).json();
    assert_eq!(by_data["metrics"], by_run["metrics"]);
}

#[test]
fn generated_data_depends_only_on_the_seed() {
    let place = Place::new(&[]);
    let small = "--queries 30 --documents 4 --features 3";
    let text = place.run(&format!("generate net {small} --seed 5")).good();
    assert_eq!(text.lines().count(), 120);
    assert_eq!(text, place.run(&format!("generate net {small} --seed 5 --threads 1 --out -")).good());
    assert_ne!(text, place.run(&format!("generate net {small} --seed 6")).good());
    assert_ne!(text, place.run(&format!("generate net {small} --seed 5 --activation tanh --hidden 4")).good());
    let printed = place.run(&format!("generate net {small} --seed 5 --out a.txt")).good();
    assert!(
        printed.starts_with("a.txt: 30 queries, 120 documents, 3 features, labels 0 to 5 in shares 16.7%, "),
        "{printed}"
    );
    assert_eq!(place.read("a.txt"), text);
    for compressed in ["a.txt.gz", "a.txt.zst"] {
        place.run(&format!("generate net {small} --seed 5 --out {compressed}")).good();
        place.run(&format!("convert {compressed} --force --out plain.txt")).good();
        assert_eq!(place.read("plain.txt"), text, "{compressed}");
    }
    assert_eq!(place.list(), ["a.txt", "a.txt.gz", "a.txt.zst", "plain.txt"]);
}

#[test]
fn generated_labels_follow_the_mix() {
    let place = Place::new(&[]);
    let json = place.run("generate polynomial --queries 200 --mix 7,2,1 --out a.txt --json").json();
    assert_eq!((&json["file"], &json["documents"]), (&"a.txt".into(), &10_000.into()));
    let mix = place.run("data a.txt --json").json()["files"][0]["labels"]["distribution"].clone();
    for (label, share) in [0.7, 0.2, 0.1].into_iter().enumerate() {
        assert!((mix[label]["share"].as_f64().unwrap() - share).abs() < 0.03, "{mix}");
    }
    place.run("generate lambdarank --queries 50 --out b.txt --first-index 0").good();
    assert!(place.read("b.txt").lines().all(|line| line.contains(" 0:") && !line.contains(" 50:")));
    assert!(place.run("generate net --queries 0").bad(2).contains("at least one query"));
    assert!(place.run("generate net --levels 1").bad(2).contains("expected 2 to 32"));
    assert!(place.run("generate net --queries 9 --out no/such/a.txt").bad(1).contains("no/such/a.txt: cannot create"));
}

#[test]
fn web_data_is_generated_or_resampled_from_a_file() {
    let place = Place::new(&[("flat.txt", "1 qid:1 1:2\n1 qid:1 1:3\n")]);
    let small = "--queries 60 --documents 12 --seed 3";
    let printed = place.run(&format!("generate web {small} --teacher 2 --out a.txt")).good();
    assert!(
        printed.starts_with("a.txt: 60 queries, ") && printed.contains(" documents, 136 features, labels 0 to 4 "),
        "{printed}"
    );
    assert!(printed.ends_with(", teacher 2, seed 3\n"), "{printed}");
    assert_eq!(place.read("a.txt"), place.run(&format!("generate web {small} --teacher 2 --threads 1")).good());
    assert_ne!(place.read("a.txt"), place.run(&format!("generate web {small} --teacher 3")).good());
    let json = place.run("generate web --like a.txt --queries 20 --levels 3 --out b.txt --json").json();
    let lines = place.read("b.txt").lines().count();
    assert_eq!((&json["documents"], &json["settings"]["noise"]), (&lines.into(), &0.7.into()));
    // Values are those of the rows, and so are the sizes of queries.
    let values: std::collections::HashSet<String> =
        place.read("a.txt").split(' ').filter(|word| word.starts_with("106:")).map(str::to_owned).collect();
    assert!(place.read("b.txt").split(' ').filter(|word| word.starts_with("106:")).all(|word| values.contains(word)));
    assert!((5..30).contains(&(lines / 20)), "{lines}");
    let message = place.run("generate web --like flat.txt").bad(1);
    assert!(message.contains("flat.txt: nothing can be learned") && message.contains("different labels"), "{message}");
    assert!(place.run("generate web --like missing.txt").bad(1).contains("missing.txt: cannot"));
    std::fs::write(place.path().join("bare.txt"), "1 qid:1\n0 qid:1\n").expect("a file");
    let message = place.run("generate web --like bare.txt --queries 2").bad(1);
    assert!(message.contains("bare.txt: the documents have no features"), "{message}");
}

#[test]
fn conversion_is_canonical() {
    let messy = "\t1.0 qid:b 3:1e0 1:0.50 # hello\r\n\r\n2 qid:a 2:-0.0\r\n0 qid:b\t1:7\n";
    let place = Place::new(&[("messy.txt", messy)]);
    let printed = place.run("convert messy.txt --regroup --out clean.txt").good();
    assert_eq!(printed, "clean.txt: 2 queries, 3 documents, 3 features\n");
    let clean = "1 qid:b 1:0.5 2:0 3:1\n0 qid:b 1:7 2:0 3:0\n2 qid:a 1:0 2:-0 3:0\n";
    assert_eq!(place.read("clean.txt"), clean);
    assert_eq!(place.run("convert clean.txt --out -").good(), clean);
    assert_eq!(place.run_with("convert - --out -", clean.as_bytes()).good(), clean);
    let sparse = place.run("convert clean.txt --sparse --to-first-index 0 --out -").good();
    assert_eq!(sparse, "1 qid:b 0:0.5 2:1\n0 qid:b 0:7\n2 qid:a 1:-0\n");
    assert_eq!(place.run_with("convert - --first-index 0 --out -", sparse.as_bytes()).good(), clean);
    // An input is never replaced.
    let message = place.run("convert clean.txt --sparse --force --out clean.txt").bad(1);
    assert!(message.contains("clean.txt is an input of this command and is not overwritten"), "{message}");
    assert_eq!(place.read("clean.txt"), clean);
    let json = place.run("convert clean.txt --out c.txt --json").json();
    assert_eq!(json, serde_json::json!({ "file": "c.txt", "queries": 2, "documents": 3, "features": 3 }));
}

#[test]
fn scaling_is_fitted_on_the_requested_file() {
    let place = Place::new(&[("train.txt", "0 qid:a 1:1 2:5\n1 qid:a 1:3 2:5\n"), ("test.txt", "1 qid:b 1:5\n")]);
    let scaled = place.run("convert train.txt --scale zscore --out -").good();
    assert_eq!(scaled, "0 qid:a 1:-1 2:0\n1 qid:a 1:1 2:0\n");
    // 5 is three standard deviations of the training data above its mean.
    let scaled = place.run("convert test.txt --scale zscore --scale-on train.txt --out -").good();
    assert_eq!(scaled, "1 qid:b 1:3 2:0\n");
    assert!(
        place
            .run("convert train.txt --scale minmax --scale-on test.txt --out -")
            .bad(1)
            .contains("fitted on 1 feature")
    );
}

#[test]
fn splits_are_disjoint_and_complete() {
    let place = Place::new(&[]);
    place.run("generate net --queries 10 --documents 3 --features 2 --out all.txt").good();
    let json = place.run("split all.txt --out parts/one --seed 3 --json").json();
    let sizes: Vec<u64> = (0..3).map(|i| json["files"][i]["queries"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [6, 2, 2]);
    let files = ["parts/one/train.txt", "parts/one/vali.txt", "parts/one/test.txt"];
    let mut lines: Vec<String> =
        files.iter().flat_map(|f| place.read(f).lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let mut all: Vec<String> = place.read("all.txt").lines().map(str::to_owned).collect();
    lines.sort();
    all.sort();
    assert_eq!(lines, all);
    let queries = |file: &str| place.run(&format!("data {file} --json")).json()["files"][0]["queries"].clone();
    assert_eq!(files.map(queries), [6, 2, 2]);
    assert_eq!(
        place.list(),
        ["all.txt", "parts", "parts/one", "parts/one/test.txt", "parts/one/train.txt", "parts/one/vali.txt"]
    );
    assert!(place.run("data parts/one").good().contains("one   train        6         18         2        3.0"));
}

#[test]
fn folds_rotate_and_are_shown_as_a_folder() {
    let place = Place::new(&[]);
    place.run("generate net --queries 10 --documents 2 --features 2 --out all.txt").good();
    place.run("split all.txt --out folds --folds 5").good();
    assert_eq!(place.read("folds/Fold1/test.txt"), place.read("folds/Fold2/vali.txt"));
    assert_eq!(place.read("folds/Fold5/test.txt"), place.read("folds/Fold1/vali.txt"));
    let mut tests: Vec<String> = Vec::new();
    for fold in 1..=5 {
        let train = place.read(&format!("folds/Fold{fold}/train.txt"));
        let test = place.read(&format!("folds/Fold{fold}/test.txt"));
        assert_eq!((train.lines().count(), test.lines().count()), (12, 4));
        assert!(test.lines().all(|line| !train.contains(line)));
        tests.extend(test.lines().map(str::to_owned));
    }
    tests.sort();
    tests.dedup();
    assert_eq!(tests.len(), 20);
    let json = place.run("data folds --json").json();
    assert_eq!(json["files"].as_array().map(Vec::len), Some(15));
    assert_eq!((&json["files"][4]["fold"], &json["files"][4]["split"]), (&"Fold2".into(), &"vali".into()));
    assert_eq!(json["folders"][0]["warnings"], serde_json::json!([]));

    std::fs::copy(place.0.path().join("folds/Fold3/train.txt"), place.0.path().join("folds/Fold3/test.txt")).unwrap();
    let shown = place.run("data folds").good();
    assert!(shown.contains("- Fold3: 6 queries are in both train and test\n"), "{shown}");
    assert!(place.run("data .").bad(1).contains("no folds found"));
}

#[test]
fn a_split_replaces_files_only_with_force() {
    let place = Place::new(&[]);
    place.run("generate net --queries 10 --documents 2 --features 2 --out all.txt").good();
    place.run("split all.txt --out parts").good();
    let before = (place.list(), place.read("parts/train.txt"));
    let message = place.run("split all.txt --out parts --seed 9").bad(1);
    assert!(message.contains("already exists: choose another --out, or replace it with --force"), "{message}");
    assert!(place.run("split all.txt --out parts --folds 3 --force").bad(1).contains("belongs to another split"));
    assert!(place.run("split parts/train.txt --out parts --force").bad(1).contains("is an input of this command"));
    assert!(place.run("split all.txt --out all.txt").bad(1).contains("all.txt: cannot read"));
    assert_eq!((place.list(), place.read("parts/train.txt")), before);
    place.run("split all.txt --out parts --seed 9 --force").good();
    assert_eq!(place.list(), before.0);
    assert_ne!(place.read("parts/train.txt"), before.1);
    let message = place.run("split all.txt --out new/parts --folds 11").bad(1);
    assert!(message.contains("11 folds of 10 queries"), "{message}");
    assert!(place.run("split all.txt --out new/parts --parts 1,-1,1").bad(2).contains("bad fraction"));
    assert_eq!(place.list(), before.0);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_not_an_error() {
    let place = Place::new(&[]);
    let mut child = place
        .command("generate net --queries 5000")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    drop(child.stdout.take());
    let ran = Ran::of(child.wait_with_output().expect("the tool ends"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let place = Place::new(&[("a.txt", SMALL)]);
    let message = place.run("convert a.txt --out /dev/full").bad(1);
    assert!(message.contains("/dev/full: cannot write: No space left"), "{message}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_files() {
    let place = Place::new(&[]);
    let mut child = place.command("generate net --queries 2000000 --out big.txt").spawn().expect("the tool starts");
    let started = std::time::Instant::now();
    while place.list().is_empty() && started.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(place.list()[0].starts_with(".burnrank-"));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    assert_eq!(child.wait().expect("the tool ends").code(), Some(130));
    assert!(place.list().is_empty(), "{:?}", place.list());
}

#[test]
#[cfg(not(feature = "serve"))]
fn a_build_without_the_server_names_the_feature() {
    let text = Place::new(&[]).run("serve --model m").bad(2);
    assert!(text.contains("build burnrank with --features serve, as in 'cargo install"), "{text}");
}

#[test]
#[cfg(not(feature = "trees"))]
fn a_build_without_trees_names_the_feature() {
    let place = Place::new(&[("a.txt", "1 qid:1 1:1\n0 qid:1 1:0\n")]);
    let ran = place.run("train --train a.txt --model trees --out m");
    assert!(ran.err.contains("build burnrank with the feature trees"), "{}", ran.err);
    assert_eq!(ran.code, Some(2));
    assert!(!place.path().join("m").exists());
}

#[test]
fn settings_of_other_models_are_errors() {
    let place = Place::new(&[]);
    for (line, expected) in [
        ("train --model linear --leaves 4", "--leaves is for trees, not for linear"),
        ("train --model trees --lr 0.1", "--lr is for nets, not for trees: use --shrinkage"),
        (
            "train --model ranksvm --hidden 4",
            "--hidden is for mlp, not for ranksvm: leave it out, or choose --model mlp",
        ),
        ("train --model linear --hidden 10", "--hidden is for mlp, not for linear"),
        ("train --model trees --schedule halve", "--schedule is for nets, not for trees"),
        ("train --model ranksvm --l2 0", "--l2 is for nets and trees, not for ranksvm"),
        ("train --model trees --scale auto", "--scale auto is for nets, not for trees"),
        ("train --model trees --trees 3 --epochs 3", "--trees 3 and --epochs 3 set the same value"),
        (
            "train --model ranksvm --objective ranknet",
            "--objective is for nets, trees and auto, not for ranksvm: leave it out, or choose --model linear, mlp, trees or auto",
        ),
        ("train --model ranksvm:x=1", "unknown parameter 'x=1': ranksvm has c"),
        ("train --model oap-bpm:tau=2", "tau=2: expected a number from 0.001 to 1"),
        ("train --model rankswm", "did you mean 'ranksvm'?"),
    ] {
        let ran = place.run(line);
        assert!(ran.err.contains(expected) && ran.code == Some(2), "{line}: {}", ran.err);
    }
}
