//! A document's score does not depend on what is scored with it.

use crate::support::Place;

const NETS: [&str; 5] = [
    "--model linear",
    "--hidden 10",
    "--hidden 4 --activation sigmoid",
    "--hidden 17 --activation relu",
    "--hidden 10 --scale zscore",
];

/// Queries of the given lengths, whose documents all differ.
fn data(lengths: &[usize]) -> String {
    let random = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44) as f64 / f64::from(1 << 20) - 0.5;
    let mut text = String::new();
    let mut place = 1;
    for (query, &length) in lengths.iter().enumerate() {
        for document in 0..length {
            text += &format!("{} qid:{query}", document % 3);
            for feature in 1..=23 {
                text += &format!(" {feature}:{:.6}", random(place));
                place += 1;
            }
            text.push('\n');
        }
    }
    text
}

/// A folder with a net trained with these arguments.
fn with_model(net: &str) -> Place {
    let place = Place::new(&[("train.txt", &data(&[8; 20]))]);
    let scale = if net.contains("--scale") { "" } else { "--scale none" };
    place.run(&format!("train --train train.txt --epochs 2 --out model --quiet {scale} {net}")).good();
    place
}

fn write(place: &Place, name: &str, text: &str) {
    std::fs::write(place.0.path().join(name), text).unwrap();
}

#[test]
fn equal_documents_tie_over_any_block() {
    for net in NETS {
        let place = with_model(net);
        let features = data(&[1]).split_once(" qid:0").unwrap().1.to_owned();
        for count in [2, 511, 513, 1025] {
            let row = |i: usize| format!("{} qid:0{features}", u8::from(i + 1 == count));
            write(&place, "equal.txt", &(0..count).map(row).collect::<String>());
            let scores = place.run("predict --model model --data equal.txt").good();
            assert!(scores.lines().all(|score| scores.starts_with(score)), "{net}, {count} documents");
            let judged = place.run("evaluate --model model --data equal.txt --metric mrr --json").json();
            let value = judged["metrics"][0]["mean"].as_f64().unwrap();
            assert_eq!(value, 1.0 / count as f64, "{net}: of equal documents the relevant one counts as last");
        }
    }
}

#[test]
fn scores_do_not_depend_on_files_order_or_threads() {
    let lengths = [1, 300, 7, 512, 2, 100, 513, 40];
    for net in NETS {
        let place = with_model(net);
        write(&place, "all.txt", &data(&lengths));
        let expected = place.run("predict --model model --data all.txt").good();
        assert_eq!(expected.lines().count(), lengths.iter().sum::<usize>());
        for more in ["--regroup", "--threads 1", "--threads 3 --regroup", "--threads 8", "--portable"] {
            let found = place.run(&format!("predict --model model --data all.txt {more}")).good();
            assert_eq!(found, expected, "{net}, {more}");
        }
        let (mut text, mut found) = (place.read("all.txt"), String::new());
        for length in lengths {
            let end = text.split_inclusive('\n').take(length).map(str::len).sum();
            let rest = text.split_off(end);
            found += &place.run_with("predict --model model --data -", text.as_bytes()).good();
            text = rest;
        }
        assert_eq!(found, expected, "{net}, query by query");
    }
}

#[test]
fn portable_is_an_option_and_a_variable() {
    let place = Place::new(&[("train.txt", &data(&[12; 20]))]);
    let train = "train --train train.txt --epochs 3 --quiet";
    place.run(&format!("{train} --portable --threads 1 --out option")).good();
    let mut command = place.command(&format!("{train} --threads 2 --out variable"));
    assert!(command.env("BURNRANK_PORTABLE", "1").output().unwrap().status.success());
    let record = |model: &str| std::fs::read(place.0.path().join(model).join("model.bpk")).unwrap();
    assert_eq!(record("option"), record("variable"));
}

#[test]
fn certify_prints_the_answer_first_and_fits_80_columns() {
    let place = with_model("--model linear");
    for more in ["", "--control --each-weight", "--metric pair-error --steps 0.5", "--metric map --stop-at-first"] {
        let ask = format!("certify --model model --data train.txt --epsilon 0.1 --delta 0.1 {more}");
        let text = place.run(&ask).good();
        let first = text.lines().next().unwrap();
        let verdicts = ["Not a local optimum: ", "No evidence against a local optimum: "];
        assert!(verdicts.iter().any(|verdict| first.starts_with(verdict)), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("\nties: pessimistic"), "{text}");
        assert!(text.contains("22 directions") && text.contains("psilon 10%"), "{text}");
        let plain = |word: &str| {
            let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '.');
            word.parse::<f64>().is_err() || (!word.contains(['e', 'E']) && word != "-0" && word != "-0.0")
        };
        assert!(text.split_whitespace().all(plain), "{text}");
    }
}

#[test]
fn scores_that_are_not_numbers_are_refused() {
    // A learning rate so large that the weights become large.
    let place = with_model("--model linear --lr 100");
    let text = data(&[3]);
    let lines: Vec<&str> = text.lines().collect();
    write(&place, "huge.txt", &[lines[0], "1 qid:0 1:3e38 23:1", lines[2], ""].join("\n"));
    for options in ["", "--regroup"] {
        let message = place.run(&format!("predict --model model --data huge.txt {options}")).bad(1);
        assert!(message.contains("the score of document 2 of query '0' is "), "{message}");
    }
}

#[test]
fn every_scaling_documents_what_serving_needs() {
    let rows = |query: usize| format!("1 qid:{query} 1:{query} 2:5\n0 qid:{query} 1:9 2:{query}\n");
    let place = Place::new(&[("train.txt", &(1..7).map(rows).collect::<String>())]);
    for kind in burnrank::ScaleKind::ALL {
        let train = format!("train --train train.txt --model linear --epochs 1 --scale {kind} --out model --force");
        assert_eq!(place.run(&train).code, Some(0));
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let sentence = kind.serving();
        assert_eq!(sentence.contains("can be scored independently"), !kind.is_per_query(), "{sentence}");
        assert_eq!(sentence.contains("all candidates of a query"), kind.is_per_query(), "{sentence}");
        assert!(words(&place.run("info model").good()).contains(sentence), "{kind}");
        assert_eq!(place.run("info model --json").json()["serving"], sentence);
        assert!(place.read("model/README.md").contains(sentence), "{kind}");
        assert_eq!(place.run("predict --model model --data train.txt").good().lines().count(), 12, "{kind}");
    }
}
