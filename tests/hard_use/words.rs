//! Exit codes, suggestions, and progress in logs.

use crate::support::Place;

/// Files that are named but not there: whoever complains about a setting has not looked for them.
const USAGE: [&str; 37] = [
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
];

#[test]
fn settings_that_make_no_sense_are_usage_before_any_file_is_read() {
    let place = Place::new(&[]);
    for line in USAGE {
        let message = place.run(line).bad(2);
        assert!(!message.contains("no.txt") && !message.contains("cannot read"), "{line}: {message}");
    }
    assert!(place.list().is_empty(), "{:?}", place.list());
}

#[test]
fn bad_data_is_not_usage() {
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
fn mistakes_are_answered_with_what_was_meant() {
    let place = Place::new(&[]);
    for (line, expected) in [
        ("train --metric ncdg@10", "error: unknown measure 'ncdg@10': did you mean 'ndcg@10'?\n"),
        ("evaluate --run r --qrels q -m ncdg@10", "unknown measure 'ncdg@10': did you mean 'ndcg@10'?\n"),
        ("train --objective lamdarank:ndcg", "'lamdarank:ndcg': did you mean 'lambdarank:ndcg'?\n"),
        ("lambda --objective lambdarank:ncdg", "'lambdarank:ncdg': did you mean 'lambdarank:ndcg'?\n"),
        ("train --objective ndgc-loss2", "'ndgc-loss2': did you mean 'ndcg-loss2'?\n"),
        ("train --learning-rate 1", "error: unknown option '--learning-rate': did you mean '--lr'?\n"),
        ("train --device flxe", "error: unknown device 'flxe': did you mean 'flex'?\n"),
        ("train --lr -1", "error: learning rate (--lr) -1: expected a number above 0\n"),
        ("trian", "error: unknown command 'trian': did you mean 'train'?\n"),
    ] {
        let message = place.run(line).bad(2);
        assert!(message.contains(expected), "{line}: {message}");
        assert!(message.lines().all(|line| line.chars().count() <= 80), "{message}");
    }
}
