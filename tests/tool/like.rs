//! `--like`: the numbers that other programs print for the same ranking, from their stored output.
//!
//! The data has equal scores, two scores that differ only beyond f32, lists of one to twenty documents, and queries without
//! relevant documents. LightGBM 4.7.0, XGBoost 3.2.0, scikit-learn 1.9.1 and trec_eval 9.0 (through pytrec_eval) were given it,
//! and LETOR 4.0's Eval-Score script, which prints four decimals. A second file has lists of up to 100 documents; it and the
//! programs' values are made by `tests/fixtures/like/make.py`.

use super::support::Place;

const DATA: &str = include_str!("../fixtures/like/data.txt");
const SCORES: &str = include_str!("../fixtures/like/scores.txt");

const LONG_DATA: &str = include_str!("../fixtures/like/long.txt");
const LONG_SCORES: &str = include_str!("../fixtures/like/long-scores.txt");

/// Program, number of digits that it printed, and its metrics.
type Printed = (&'static str, f64, &'static [(&'static str, f64)]);

#[rustfmt::skip]
const PRINTED: [Printed; 5] = [
    ("lightgbm", 1e-12, &[
        ("ndcg@1", 0.5833333333333334), ("ndcg@3", 0.5696175737660959), ("ndcg@5", 0.650119371528031),
        ("ndcg@10", 0.7264367786838261), ("map@1", 0.5833333333333334), ("map@3", 0.5601851851851852),
        ("map@5", 0.5520138888888888), ("map@10", 0.6197778880070546),
    ]),
    ("xgboost", 1e-12, &[
        ("ndcg@1", 0.5833333333333334), ("ndcg@3", 0.5679108363229156), ("ndcg@5", 0.6486061495244646),
        ("ndcg@10", 0.7249235566802597), ("ndcg", 0.7761589769714504), ("map@1", 0.5833333333333334),
        ("map@3", 0.5509259259259259), ("map@10", 0.614222332451499), ("map", 0.6723227968019635),
    ]),
    ("scikit-learn", 1e-12, &[
        ("ndcg@1", 0.3958333333333333), ("ndcg@3", 0.3777984171844704), ("ndcg@5", 0.451127882635139),
        ("ndcg@10", 0.5422517595959105), ("ndcg", 0.6001985591721124), ("dcg@1", 0.6666666666666666),
        ("dcg@3", 1.064806015277789), ("dcg@10", 2.0108901877291943), ("dcg", 2.339234163813486),
    ]),
    ("trec_eval", 1e-12, &[
        ("map", 0.46424604716271384), ("ndcg", 0.5819295554252059), ("ndcg_cut_5", 0.43359227932407496),
        ("ndcg_cut_10", 0.5228779853619702), ("recip_rank", 0.5625), ("P_10", 0.26666666666666666),
        ("bpref", 0.2850462962962963),
    ]),
    ("letor", 5e-5, &[
        ("ndcg@1", 0.4167), ("ndcg@2", 0.3264), ("ndcg@3", 0.3226), ("ndcg@4", 0.2932), ("ndcg@5", 0.3152),
        ("ndcg@6", 0.2751), ("ndcg@7", 0.2810), ("ndcg@8", 0.2881), ("ndcg@9", 0.3165), ("ndcg@10", 0.3349),
        ("ndcg", 0.4846), ("map", 0.5112), ("p@1", 0.4167), ("p@2", 0.4167), ("p@3", 0.3333), ("p@5", 0.3167),
        ("p@10", 0.2667),
    ]),
];

/// Output of the programs for the long lists.
#[rustfmt::skip]
const PRINTED_LONG: [Printed; 4] = [
    ("lightgbm", 1e-12, &[
        ("ndcg@10", 0.3823329449389741), ("ndcg@50", 0.5244626918661174), ("ndcg@1000", 0.5957300591067808),
        ("map@10", 0.30496825396825394), ("map@50", 0.3708279533006965), ("map@1000", 0.41897753782601244),
    ]),
    ("xgboost", 1e-12, &[
        ("ndcg", 0.48922132683680425), ("ndcg@10", 0.38490687078820507), ("ndcg@50", 0.5365790368399425),
        ("ndcg@1000", 0.5985472634146216), ("map", 0.3507963182857865), ("map@10", 0.30826190476190474),
        ("map@50", 0.3776744574686886), ("map@1000", 0.4231093572430029),
    ]),
    ("scikit-learn", 1e-12, &[
        ("ndcg@10", 0.3757311299739745), ("ndcg@50", 0.5286343021547606), ("ndcg", 0.6042281795931461),
    ]),
    ("trec_eval", 1e-12, &[
        ("map", 0.37009526773860146), ("ndcg", 0.5740543907503042), ("ndcg_cut_10", 0.33858967029403664),
        ("ndcg_cut_50", 0.4984836739191156), ("recip_rank", 0.65), ("P_50", 0.16399999999999998),
        ("bpref", 0.25090871610352133),
    ]),
];

#[test]
fn values_of_other_programs_are_matched_to_the_last_digit() {
    compare(&Place::new(&[("data.txt", DATA), ("scores.txt", SCORES)]), &PRINTED);
}

#[test]
fn values_of_other_programs_are_matched_on_lists_of_more_than_32_documents() {
    compare(&Place::new(&[("data.txt", LONG_DATA), ("scores.txt", LONG_SCORES)]), &PRINTED_LONG);
}

fn compare(place: &Place, printed: &[Printed]) {
    for (program, digits, measures) in printed {
        let names: Vec<&str> = measures.iter().map(|(name, _)| *name).collect();
        let line = format!(
            "evaluate --data data.txt --scores scores.txt --like {program} --json --metric {}",
            names.join(",")
        );
        let json = place.run(&line).json();
        assert_eq!(json["conventions"]["like"].as_str().or(json["like"].as_str()), Some(*program), "{json}");
        let found = json["metrics"].as_array().expect("metrics");
        assert_eq!(found.len(), measures.len(), "{program}: {json}");
        for (found, (name, theirs)) in found.iter().zip(*measures) {
            let ours = found["mean"].as_f64().expect("a mean");
            assert!((ours - theirs).abs() <= *digits, "{program} {name}: {ours} instead of {theirs}");
        }
    }
}

#[test]
fn without_a_metric_those_of_the_program_are_evaluated() {
    let place = Place::new(&[("data.txt", DATA), ("scores.txt", SCORES), ("others.txt", SCORES)]);
    for (program, usual) in [
        ("trec_eval", &["ndcg:linear@10", "map", "mrr"][..]),
        ("scikit-learn", &["ndcg:linear@10"]),
        ("lightgbm", &["ndcg@10", "capped-map@10"]),
        ("xgboost", &["ndcg@10", "capped-map@32"]),
        ("letor", &["letor-ndcg@10", "map", "p@10"]),
    ] {
        let json = place.run(&format!("evaluate --data data.txt --scores scores.txt --json --like {program}")).json();
        let names: Vec<&str> =
            json["metrics"].as_array().expect("metrics").iter().filter_map(|m| m["name"].as_str()).collect();
        assert_eq!(names, usual, "{program}");
        place.run(&format!("compare scores.txt others.txt --data data.txt --like {program}")).good();
    }
}

#[test]
fn the_printed_discount_is_that_of_the_metrics() {
    let place = Place::new(&[("data.txt", DATA), ("scores.txt", SCORES)]);
    let (usual, letor) = ("1 / log2(1 + rank)", "1 at ranks 1 and 2, then 1 / log2(rank)");
    for (options, discount) in [
        ("", usual.to_owned()),
        ("--like lightgbm", usual.to_owned()),
        ("--like letor", letor.to_owned()),
        ("--metric letor-ndcg@5", letor.to_owned()),
        ("--metric letor-ndcg@5,ndcg@5", format!("{usual}; of letor-ndcg: {letor}")),
    ] {
        let line = format!("evaluate --data data.txt --scores scores.txt {options}");
        let json = place.run(&format!("{line} --json")).json();
        assert_eq!(json["conventions"]["discount"], discount.as_str(), "{options}");
        let text = place.run(&line).good().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("discount: {discount}")), "{options}: {text}");
    }
}

#[test]
fn metrics_that_a_program_lacks_are_refused() {
    let place = Place::new(&[("data.txt", DATA), ("scores.txt", SCORES), ("run.txt", "1 Q0 D1-00 1 0.5 x\n")]);
    let ask = |rest: &str| place.run(&format!("evaluate --data data.txt {rest}"));
    let message = ask("--scores scores.txt --like sklearn --metric err@10").bad(2);
    assert!(message.contains("scikit-learn has no metric 'err@10': it has ndcg[@k] and dcg[@k]"), "{message}");
    let message = ask("--scores scores.txt --like ligthgbm").bad(2);
    assert!(message.contains("did you mean 'lightgbm'?"), "{message}");
    let message = ask("--scores run.txt --like xgboost --metric ndcg").bad(2);
    assert!(message.contains("--like xgboost: the program evaluates score files, not runs"), "{message}");
}

/// The table of docs/conventions.md.
#[test]
fn the_table_of_the_conventions_page_is_right() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/conventions.md")).expect("the page");
    let place = Place::new(&[("data.txt", DATA), ("scores.txt", SCORES)]);
    for (program, name, metrics) in [
        ("", "burnrank", "ndcg@10,map"),
        ("--like trec_eval", "trec_eval", "ndcg@10,map"),
        ("--like scikit-learn", "scikit-learn", "ndcg@10"),
        ("--like lightgbm", "LightGBM", "ndcg@10,map@10"),
        ("--like xgboost", "XGBoost", "ndcg@10,map"),
        ("--like letor", "LETOR's script", "ndcg@10,map"),
    ] {
        let json = place
            .run(&format!("evaluate --data data.txt --scores scores.txt --json --metric {metrics} {program}"))
            .json();
        let row = page.lines().find(|line| line.starts_with(&format!("| {name} | 0."))).expect("a row of the page");
        for metric in json["metrics"].as_array().expect("metrics") {
            let value = format!("{:.4}", metric["mean"].as_f64().expect("a mean"));
            assert!(row.contains(&value), "{name}: {value} is not in '{row}'");
        }
    }
}
