//! Comparisons: mismatched systems are refused, and rounding differences are ties.

use crate::support::Place;
use serde_json::Value;
use std::io::Write;

/// Four queries of four documents, the second of each relevant.
fn data() -> String {
    let document = |query: usize, place: usize| {
        let label = if place == 2 { 2 } else { 0 };
        format!("{label} qid:{query} 1:{place} # docid = q{query}d{place}\n")
    };
    (1..=4).flat_map(|query| (1..=4).map(move |place| document(query, place))).collect()
}

/// Returns a run of these queries with documents in the given order.
fn run(queries: &[usize], order: [usize; 4]) -> String {
    let line = |query: usize, (rank, place): (usize, &usize)| {
        format!("{query} Q0 q{query}d{place} {} {} t\n", rank + 1, 9 - rank)
    };
    queries.iter().flat_map(|&query| order.iter().enumerate().map(move |found| line(query, found))).collect()
}

fn place(files: &[(&str, &str)]) -> Place {
    let place = Place::new(files);
    std::fs::write(place.0.path().join("data.txt"), data()).unwrap();
    std::fs::write(place.0.path().join("good.run"), run(&[1, 2, 3, 4], [2, 1, 3, 4])).unwrap();
    std::fs::write(place.0.path().join("bad.run"), run(&[1, 2, 3, 4], [1, 3, 4, 2])).unwrap();
    place
}

/// Returns a report with line breaks replaced by spaces.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_run_of_other_queries_is_refused_as_by_evaluate() {
    let place = place(&[("other.run", &run(&[7, 8, 9], [2, 1, 3, 4]))]);
    place.run("convert data.txt --to qrels --out qrels.txt").good();
    let words = "other.run and data.txt have no queries in common: check that they belong to the same collection";
    assert!(place.run("compare good.run other.run --data data.txt").bad(1).contains(words));
    assert!(place.run("evaluate --data data.txt --scores other.run").bad(1).contains(words));
    let words = words.replace("data.txt", "qrels.txt");
    assert!(place.run("evaluate --run other.run --qrels qrels.txt").bad(1).contains(&words));
}

#[test]
fn queries_missing_from_a_run_are_skipped_for_all_systems_and_counted() {
    let place = place(&[("half.run", &run(&[3, 1, 8], [2, 1, 3, 4])), ("rest.run", &run(&[2, 4], [2, 1, 3, 4]))]);
    let found = place.run("compare good.run half.run --data data.txt --json").json();
    assert_eq!((&found["queries"], &found["skipped_queries"]), (&4.into(), &2.into()));
    assert_eq!(found["systems"][1]["queries_not_in_run"], 2);
    assert_eq!(found["systems"][1]["queries_not_in_data"], 1);
    let comparison = &found["comparisons"][0];
    assert_eq!((&comparison["queries"], &comparison["ties"]), (&2.into(), &2.into()), "the same ranking");
    let shown = place.run("compare good.run half.run --data data.txt").good();
    assert!(
        shown.contains("\n2 of 4 queries are missing from the run half.run and skipped for all systems.\n"),
        "{shown}"
    );
    assert!(shown.contains("\n1 query of the run half.run not in the data, skipped.\n"), "{shown}");
    let shown = flat(&place.run("evaluate --data data.txt --scores half.run").good());
    assert!(shown.contains("over 2 queries. 2 queries of the judgements are not in the run. "), "{shown}");
    assert!(shown.contains("; 2 queries skipped, not in the run "), "{shown}");
    // On request they count, with nothing retrieved.
    let found = place.run("compare good.run half.run --data data.txt --complete --json").json();
    assert_eq!((&found["skipped_queries"], &found["comparisons"][0]["losses"]), (&0.into(), &2.into()));
    let message = place.run("compare half.run rest.run --data data.txt").bad(1);
    assert!(message.contains("no query is ranked by all systems"), "{message}");
}

#[test]
fn documents_of_a_run_must_be_those_of_the_data() {
    let other = run(&[1, 2, 3, 4], [2, 1, 3, 4]).replace(" q", " x");
    let some = run(&[1, 2, 3, 4], [2, 1, 3, 4]).replace("q1d1 ", "new ");
    let twice = data().replace("q3d1", "q3d2");
    let place = place(&[("other.run", &other), ("some.run", &some), ("twice.txt", &twice)]);
    for command in ["compare good.run other.run --data data.txt", "evaluate --data data.txt --scores other.run"] {
        let message = place.run(command).bad(1);
        assert!(message.contains("other.run and data.txt have queries in common, but no documents"), "{message}");
        assert!(message.contains("'q1d1'"), "an id of the data, to see the difference: {message}");
    }
    let shown = place.run("compare good.run some.run --data data.txt").good();
    assert!(shown.contains("1 document of the run some.run not in the data"), "{shown}");
    let message = place.run("compare good.run bad.run --data twice.txt").bad(1);
    assert!(message.contains("twice.txt: query '3' has two documents with the id 'q3d2'"), "{message}");
}

#[test]
fn scores_without_information_are_reported() {
    let place = place(&[("same.txt", &"0.5\n".repeat(16))]);
    let shown = place.run("compare good.run same.txt --data data.txt").good();
    assert!(shown.contains("\nAll scores of same.txt are equal.\n") && !shown.contains("of good.run are"), "{shown}");
    let shown = flat(&place.run("evaluate --data data.txt --scores same.txt").good());
    assert!(shown.contains(" All scores are equal. "), "{shown}");
}

#[test]
fn compressed_runs_are_read() {
    let place = place(&[]);
    let file = std::fs::File::create(place.0.path().join("packed.run.gz")).unwrap();
    let mut packer = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    packer.write_all(run(&[1, 2, 3, 4], [1, 3, 4, 2]).as_bytes()).unwrap();
    packer.finish().unwrap();
    let found = place.run("compare bad.run packed.run.gz good.run --data data.txt --json").json();
    assert_eq!(found["comparisons"][0]["ties"], 4);
    assert_eq!(found["comparisons"][2]["wins"], 4);
}

#[test]
fn bpref_omits_unjudged_documents_in_both_commands() {
    // Three relevant documents, two of them below unjudged documents, one below a judged one.
    let data = "1 qid:1 1:1 # docid = a\n1 qid:1 1:1 # docid = b\n0 qid:1 1:1 # docid = c\n1 qid:1 1:1 # docid = d\n\
                0 qid:1 1:1 # docid = e\n0 qid:1 1:1 # docid = f\n1 qid:1 1:1 # docid = g\n";
    let ranked = ["x", "y", "z", "a", "b", "u", "c", "v", "d", "e", "w", "g", "f"];
    let line = |(rank, document): (usize, &&str)| format!("1 Q0 {document} {} {} t\n", rank + 1, 20 - rank);
    let run: String = ranked.iter().enumerate().map(line).collect();
    let place = Place::new(&[("data.txt", data), ("a.run", &run), ("b.txt", "1\n2\n3\n4\n5\n6\n7\n")]);
    place.run("convert data.txt --to qrels --out qrels.txt").good();
    // a and b: nothing above; d: one of three; g: two of three, and R = 4, N = 3.
    let expected = (1.0 + 1.0 + (1.0 - 1.0 / 3.0) + (1.0 - 2.0 / 3.0)) / 4.0;
    let compared = place.run("compare a.run b.txt --data data.txt --metric bpref --json").json();
    let by_data = place.run("evaluate --data data.txt --scores a.run --metric bpref --json").json();
    let by_qrels = place.run("evaluate --run a.run --qrels qrels.txt --metric bpref --json").json();
    for value in
        [&compared["comparisons"][0]["baseline_mean"], &by_data["metrics"][0]["mean"], &by_qrels["metrics"][0]["mean"]]
    {
        assert!((number(value) - expected).abs() < 1e-12, "{value}, expected {expected}");
    }
}

#[test]
fn systems_are_distinguished_by_their_paths() {
    let place = place(&[]);
    let at = place.0.path();
    for (folder, file) in [("a", "good.run"), ("b", "bad.run"), ("a/1", "good.run"), ("b/1", "bad.run")] {
        std::fs::create_dir_all(at.join(folder)).unwrap();
        std::fs::copy(at.join(file), at.join(folder).join("it.run")).unwrap();
    }
    std::fs::copy(at.join("data.txt"), at.join("1.txt")).unwrap();
    let found = place.run("compare a/it.run b/it.run --data data.txt --figure f.svg --json").json();
    assert_eq!(
        (&found["comparisons"][0]["baseline"], &found["comparisons"][0]["system"]),
        (&"a/it.run".into(), &"b/it.run".into())
    );
    assert_eq!(found["systems"][0]["name"], "a/it.run");
    assert!(place.read("f.svg").contains("b/it.run minus a/it.run"));
    let shown = place.run("compare a/it.run b/it.run --data data.txt").good();
    assert!(shown.contains("b/it.run and a/it.run do not differ") && shown.contains("2 b/it.run\n"), "{shown}");
    let found = place.run("compare a/{}/it.run b/{}/it.run --folds 1 --data {}.txt --json").json();
    assert_eq!(found["comparisons"][0]["system"], "b/{}/it.run");
    for twice in ["compare a/it.run ./a//it.run", "compare a/it.run b/it.run a/it.run", "compare - -"] {
        let message = place.run(&format!("{twice} --data data.txt")).bad(2);
        assert!(message.contains("is given twice"), "{message}");
    }
    assert!(place.run("compare - a/it.run --data -").bad(2).contains("standard input"));
}

#[test]
fn rounding_differences_are_ties() {
    // Relevant at ranks 2, 3, 9 or at 2, 4, 6: (1/2 + 2/3 + 3/9) / 3 and (1/2 + 2/4 + 3/6) / 3 are both 1/2 on paper.
    let scores = |ranks: [usize; 3]| -> String {
        let (mut relevant, mut others) = (ranks.iter(), (1..=10).filter(|rank| !ranks.contains(rank)));
        let mut score = |place: usize| 20 - if place < 3 { *relevant.next().unwrap() } else { others.next().unwrap() };
        let one: String = (0..10).map(|place| format!("{}\n", score(place))).collect();
        one.repeat(30)
    };
    let document = |query: usize, place: usize| format!("{} qid:{query} 1:0\n", usize::from(place < 3));
    let data: String = (0..30).flat_map(|query| (0..10).map(move |place| document(query, place))).collect();
    let (a, b) = (scores([2, 3, 9]), scores([2, 4, 6]));
    let place = Place::new(&[("data.txt", &data), ("a.txt", &a), ("b.txt", &b)]);
    let found = place.run("compare a.txt b.txt --data data.txt --metric map --json").json();
    let found = &found["comparisons"][0];
    assert_ne!(found["baseline_mean"], found["system_mean"], "rounding makes the means differ");
    assert_eq!((&found["wins"], &found["ties"], &found["losses"]), (&0.into(), &30.into(), &0.into()));
    assert!(found["movers"].as_array().unwrap().is_empty());
    assert_eq!(number(&found["effect_size"]), 0.0);
    for test in ["t_test", "wilcoxon", "randomisation"] {
        assert_eq!(number(&found[test]["p"]), 1.0, "{test}");
    }
    let shown = place.run("compare a.txt b.txt --data data.txt --metric map").good();
    let words = "b.txt and a.txt have equal map on every query (30 queries); not compared. ";
    assert!(flat(&shown).starts_with(words) && !shown.contains("better/equal/worse"), "{shown}");
}

#[test]
fn like_trec_eval_matches_trec_eval() {
    // pytrec_eval-terrier 0.5.11. In f32 the scores of a, b and c are equal: the greatest id ranks first.
    let run = "1 Q0 a 1 0.500000001 t\n1 Q0 b 2 0.5 t\n1 Q0 c 3 0.4999999999 t\n1 Q0 x 4 0.25 t\n2 Q0 a 1 1 t\n";
    let qrels = "1 0 a 3\n1 0 b 1\n1 0 c 0\n1 0 d 2\n2 0 a 0\n";
    let place = Place::new(&[("run.txt", run), ("qrels.txt", qrels)]);
    let evaluate =
        "evaluate --run run.txt --qrels qrels.txt --per-query --json -m ndcg_cut_10,ndcg,map,recip_rank,P_5,bpref";
    let found = place.run(&format!("{evaluate} --like trec_eval")).json();
    let of = |query: usize, name: &str| number(&found["per_query"][query]["values"][name]);
    let ndcg = (1.0 / 3f64.log2() + 3.0 / 2.0) / (3.0 + 2.0 / 3f64.log2() + 1.0 / 2.0);
    for (name, expected) in [
        ("ndcg:linear@10", ndcg),
        ("ndcg:linear", ndcg),
        ("map", (1.0 / 2.0 + 2.0 / 3.0) / 3.0),
        ("mrr", 0.5),
        ("p@5", 2.0 / 5.0),
        ("bpref", 0.0),
    ] {
        assert!((of(0, name) - expected).abs() < 1e-12, "{name}: {}, expected {expected}", of(0, name));
        assert_eq!(of(1, name), 0.0, "nothing is relevant");
    }
    // Without it, trec_eval's names have trec_eval's gain, and other names the default gain.
    let found = place.run(evaluate).json();
    let names: Vec<&str> = found["metrics"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ndcg:linear@10", "ndcg", "map", "mrr", "p@5", "bpref"]);
    assert_eq!(number(&found["per_query"][0]["values"]["mrr"]), 1.0, "in f64, a ranks first");
    for refused in [
        format!("{evaluate} --like trec_eval --ties average"),
        format!("{evaluate} --like another"),
        format!("{evaluate},dcg_cut_10"),
    ] {
        assert_eq!(place.run(&refused).code, Some(2), "{refused}");
    }
}

#[test]
fn compare_evaluates_like_trec_eval_too() {
    let scores = ("1\n1\n1\n1\n".repeat(4), "1\n1.00000001\n1\n1\n".repeat(4));
    let place = place(&[("a.txt", &scores.0), ("b.txt", &scores.1)]);
    let found = place.run("compare a.txt b.txt --data data.txt --like trec_eval --metric ndcg,mrr --json").json();
    assert_eq!((&found["like"], &found["comparisons"][0]["metric"]), (&"trec_eval".into(), &"ndcg:linear".into()));
    // Equal in f32, so the greatest ids d4 and d3 stand before the relevant d2.
    for mean in ["baseline_mean", "system_mean"] {
        assert!((number(&found["comparisons"][1][mean]) - 1.0 / 3.0).abs() < 1e-12);
    }
}

#[test]
fn reports_begin_with_a_verdict_and_fit_80_columns() {
    let long = "a-folder-with-a-rather-long-name/and-another-one-of-them";
    let place = place(&[]);
    std::fs::create_dir_all(place.0.path().join(long)).unwrap();
    std::fs::copy(place.0.path().join("bad.run"), place.0.path().join(long).join("bad.run")).unwrap();
    let metrics = "--metric ndcg:linear@10,recall:rel=1.5@10,arp,bpref --empty skip";
    for command in [
        format!("compare good.run bad.run {long}/bad.run --data data.txt {metrics}"),
        format!("compare good.run bad.run --data data.txt --complete {metrics}"),
        format!("evaluate --data data.txt --scores bad.run {metrics}"),
        format!("evaluate --data data.txt --scores good.run --like trec_eval {}", metrics.replace("--empty skip", "")),
    ] {
        let shown = place.run(&command).good();
        let wide: Vec<&str> = shown.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{command}: {wide:?}");
        assert!(!shown.contains("-0.0000"), "{shown}");
    }
    let shown = place.run("compare bad.run good.run --data data.txt --alpha 0.2").good();
    let first = "good.run is significantly better than bad.run by ndcg@10: 1.0000 against 0.4307\n\
                 (difference +0.5693, 80% interval +0.5693 to +0.5693; p = 0.1250).\n";
    assert!(shown.starts_with(first), "{shown}");
    let shown = place.run("evaluate --data data.txt --scores bad.run --metric mrr").good();
    assert!(shown.starts_with("mrr is 0.2500 (95% interval 0.2500 to 0.2500) over 4 queries.\n"), "{shown}");
}

#[test]
fn help_fits_80_columns() {
    let place = Place::new(&[]);
    for command in [
        "", "train", "predict", "info", "data", "evaluate", "compare", "certify", "lambda", "generate", "convert",
        "split", "export", "serve",
    ] {
        let shown = place.run(&format!("{command} --help")).good();
        let wide: Vec<&str> = shown.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{command}: {wide:?}");
    }
}

#[test]
fn figures_suit_all_colour_vision_and_have_titles() {
    let place = place(&[]);
    place.run("generate net --queries 8 --documents 6 --features 3 --out all.txt").good();
    place.run("train --train all.txt --model linear --epochs 1 --out model --quiet");
    for (command, words) in [
        ("compare good.run bad.run --data data.txt", &["4 worse, 0 equal", "mean -0.5693", "queries, sorted"][..]),
        ("certify --model model --data all.txt --directions 9", &["range of all 9", "the model"]),
        ("lambda --objective lambdarank:ndcg --queries 1 --documents 200", &["label 4", "label 0", "rank"]),
    ] {
        assert_eq!(place.run(&format!("{command} --figure f.svg")).code, Some(0), "{command}");
        let svg = place.read("f.svg");
        words.iter().for_each(|word| assert!(svg.contains(word), "{command}: no '{word}'"));
        for pure in ["#FF0000", "#00FF00", "#0000FF"] {
            assert!(!svg.contains(pure), "{command}: {pure}");
        }
        std::fs::remove_file(place.0.path().join("f.svg")).unwrap();
    }
}

#[test]
fn a_byte_order_mark_is_not_part_of_a_query() {
    let qrels = "1 0 q1d2 1\n2 0 q2d2 1\n";
    let place = place(&[("plain.qrels", qrels), ("marked.qrels", &format!("\u{feff}{qrels}"))]);
    let marked = format!("\u{feff}{}", place.read("bad.run"));
    std::fs::write(place.0.path().join("marked.run"), marked).unwrap();
    let value = |run: &str, qrels: &str| {
        place.run(&format!("evaluate --run {run} --qrels {qrels} --metric map --json")).json()["metrics"].clone()
    };
    assert_eq!(value("marked.run", "marked.qrels"), value("bad.run", "plain.qrels"));
}

#[test]
fn scores_stay_with_their_documents() {
    let place = place(&[("s.txt", "1\n2\n3\n4\n")]);
    for command in ["lambda --objective ranknet", "evaluate", "compare good.run"] {
        for option in ["--lenient", "--regroup"] {
            let scores = if command.starts_with("compare") { "bad.run" } else { "--scores s.txt" };
            let message = place.run(&format!("{command} {scores} --data data.txt {option}")).bad(2);
            assert!(message.contains("so that scores do not match"), "{message}");
        }
    }
}
