//! Exit codes, suggestions, and progress in logs.

use crate::support::Place;

/// Commands with missing files: settings are checked before files are opened.
const USAGE: [&str; 38] = [
    "train --train no.txt --out m --objective lamdarank:ndcg",
    "train --train no.txt --out m --objective lambdarank:ncdg",
    "train --train no.txt --out m --objective lambdarank:map:localcost --gradient tensor",
    "train --train no.txt --out m --metric ncdg@10",
    "train --train no.txt --out m --device abacus",
    "train --train no.txt --out m --lr nan",
    "train --train no.txt --out m --lr inf",
    "train --train no.txt --out m --lr -1",
    "train --train no.txt --out m --lr 0",
    "train --train no.txt --out m --l2 -1",
    "train --train no.txt --out m --clip nan",
    "train --train no.txt --out m --hidden 0",
    "train --train no.txt --out m --hidden -1",
    "train --train no.txt --out m --epochs 0",
    "train --train no.txt --out m --batch-queries 0",
    "train --train no.txt --out m --activation rleu",
    "train --train no.txt --out m --optimizer adma",
    "train --train no.txt --out m --scale zscor",
    "train --train no.txt --out m --restart 30 --patience 20",
    "train --train no.txt --out m --targets no.txt --objective lambdarank:ndcg",
    "train --folds no --objective nonsense",
    "train --objective nonsense",
    "train --metric nonsense",
    "train --device nonsense",
    "predict --model no --data no.txt --device abacus",
    "certify --model no --data no.txt --device abacus",
    "certify --model no --data no.txt --metric ncdg",
    "certify --model no --data no.txt --epsilon 2",
    "certify --model no --data no.txt --metric map --ties average",
    "evaluate --data no.txt --scores no.txt --metric ncdg",
    "evaluate --data no.txt --scores no.txt --metric map --ties average",
    "evaluate --data no.txt --scores no.txt --threshold nan",
    "compare no no --data no.txt --metric ncdg",
    "compare no no --data no.txt --resamples 0",
    "compare no no --data no.txt --alpha nan",
    "lambda --data no.txt --objective lamdarank:ndcg",
    "lambda --data no.txt --objective ranknet:gaussian=4",
    "split no.txt --out parts --parts 1,-1,1",
];

#[test]
fn invalid_settings_are_usage_errors_before_any_file_is_read() {
    let place = Place::new(&[]);
    for line in USAGE {
        let message = place.run(line).bad(2);
        assert!(!message.contains("no.txt") && !message.contains("cannot read"), "{line}: {message}");
    }
    assert!(place.list().is_empty(), "{:?}", place.list());
}

#[test]
fn bad_data_is_not_a_usage_error() {
    let place = Place::new(&[
        ("one.txt", "1 qid:a 1:1\n0 qid:a 1:2\n"),
        ("zeros.txt", "0 qid:a 1:1\n0 qid:a 1:2\n0 qid:b 1:2\n"),
        ("high.txt", "9 qid:a 1:1\n0 qid:a 1:2\n"),
        ("s.txt", "1\n2\n"),
        ("pairs.txt", ""),
    ]);
    for line in [
        "train --train no.txt --out m",
        "train --train one.txt --out m",
        "train --folds .",
        "train --train zeros.txt --valid zeros.txt --targets pairs.txt --objective ranknet --out m",
        "evaluate --data high.txt --scores s.txt --metric err",
        "predict --model no --data one.txt",
        "split one.txt --out parts --folds 5",
    ] {
        place.run(line).bad(1);
    }
}

#[test]
fn typing_mistakes_get_suggestions() {
    let place = Place::new(&[]);
    for (line, expected) in [
        ("train --metric ncdg@10", "error: unknown metric 'ncdg@10': did you mean 'ndcg@10'?\n"),
        ("evaluate --run r --qrels q -m ncdg@10", "unknown metric 'ncdg@10': did you mean 'ndcg@10'?\n"),
        ("train --objective lamdarank:ndcg", "'lamdarank:ndcg': did you mean 'lambdarank:ndcg'?\n"),
        ("lambda --objective lambdarank:ncdg", "'lambdarank:ncdg': did you mean 'lambdarank:ndcg'?\n"),
        ("train --objective ndgc-loss2", "'ndgc-loss2': did you mean 'ndcg-loss2'?\n"),
        ("train --learning-rate 1", "error: unknown option '--learning-rate': did you mean '--lr'?\n"),
        ("train --device flxe", "error: unknown device 'flxe': did you mean 'flex'?\n"),
        ("train --lr -1", "error: --lr -1: expected a number above 0\n"),
        ("trian", "error: unknown command 'trian': did you mean 'train'?\n"),
    ] {
        let message = place.run(line).bad(2);
        assert!(message.contains(expected), "{line}: {message}");
        assert!(message.lines().all(|line| line.chars().count() <= 80), "{message}");
    }
}

fn fits(text: &str) -> bool {
    text.lines().all(|line| line.chars().count() <= 80)
}

#[test]
fn help_fits_eighty_columns() {
    let place = Place::new(&[]);
    let commands = [
        "", "train", "predict", "info", "data", "evaluate", "compare", "certify", "lambda", "generate", "convert",
        "split", "tune", "export", "serve",
    ];
    for command in commands {
        let text = place.run(&format!("{command} --help")).good();
        assert!(fits(&text), "{text}");
        // Words that a hard line break pushed past the limit are alone on their line.
        if ["", "train", "certify", "lambda", "tune"].contains(&command) {
            let is_prose = |paragraph: &&str| paragraph.lines().all(|line| !line.starts_with(' '));
            let prose = text.split("\n\n").filter(is_prose).flat_map(|paragraph| {
                let lines: Vec<&str> = paragraph.lines().collect();
                lines[..lines.len().saturating_sub(1)].to_vec()
            });
            prose.for_each(|line| assert!(line.len() > 50, "a line was broken twice: {line}"));
        }
    }
}

#[test]
fn lambda_prints_the_verdict_first_and_twenty_documents() {
    let documents = (0..200).map(|i| format!("{} qid:7 1:{i}\n", i % 3)).collect::<String>();
    let scores = (0..200).map(|i| format!("{}\n", (i * 37 % 200) as f64 / 50.0)).collect::<String>();
    let place = Place::new(&[("all.txt", &documents), ("scores.txt", &scores)]);
    let line = "lambda --objective lambdarank:ndcg --data all.txt --query-id 7 --scores scores.txt";
    let text = place.run(line).good();
    assert!(text.starts_with("lambdarank:ndcg derives from a cost only between ties: "), "{text}");
    assert!(fits(&text), "{text}");
    assert!(text.contains("query 7: top 20 of 200 documents; --json prints all\n"), "{text}");
    let table: Vec<&str> = text.split("with next\n").nth(1).expect("a table").lines().collect();
    assert_eq!(table.len(), 20, "{text}");
    // Numbers in usual notation.
    for word in
        text.split_whitespace().filter(|word| word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()))
    {
        let number: Option<f64> = word.parse().ok();
        assert!(number.is_none_or(|number| !word.contains('e') || number.abs() < 1e-4), "{word}");
        assert!(number.is_none_or(|number| number != 0.0 || !word.starts_with('-')), "{word}");
    }
    let report = place.run(&format!("{line} --json")).json();
    assert_eq!(report["queries"][0]["report"]["lambdas"].as_array().map(Vec::len), Some(200));
    assert_eq!((&report["conservative"], &report["potential"]), (&false.into(), &"between-ties".into()));
}

#[test]
fn lambda_prints_every_verdict_within_80_columns() {
    let place = Place::new(&[]);
    for (objective, verdict) in [
        ("ranknet", "ranknet derives from a convex cost at all examined points"),
        ("lambdarank:ndcg", "lambdarank:ndcg derives from a cost only between ties"),
        (
            "lambdarank:map:localcost",
            "lambdarank:map:localcost does not derive from a cost: its Jacobian is not symmetric.",
        ),
    ] {
        let text = place.run(&format!("lambda --objective {objective} --queries 3")).good();
        assert!(text.replacen('\n', " ", 1).starts_with(verdict) && fits(&text), "{text}");
        assert!(text.contains("\nExtreme values over 3 queries: random labels"), "{text}");
        // Two maxima of different norms are in separate rows.
        let rows = |what: &str| text.lines().filter(|line| line.ends_with(what)).count();
        assert_eq!((rows("largest change of one lambda"), rows("largest orthogonal part")), (1, 1), "{text}");
        let json = place.run(&format!("lambda --objective {objective} --queries 3 --json")).good();
        assert!(!json.contains("-0.0,") && !json.contains("-0.0\n"), "{objective}");
    }
}
