//! Correction for multiple comparisons: pairs of systems in `compare` and `report`, features in `explain`.

use crate::support::Place;
use serde_json::Value;

/// Returns a pseudo-random number between 0 and 1.
fn noise(place: usize) -> f64 {
    let mut state = (place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state ^ (state >> 31)) as f64 / u64::MAX as f64
}

/// Queries of 15 documents with labels from 0 to 2; each feature is the label plus its own amount of noise.
fn data(queries: usize, amounts: &[f64]) -> String {
    let mut text = String::new();
    for row in 0..queries * 15 {
        let label = (3.0 * noise(row)) as usize;
        text += &format!("{label} qid:{}", row / 15);
        for (feature, amount) in amounts.iter().enumerate() {
            text += &format!(" {}:{:.4}", feature + 1, label as f64 + amount * noise((feature + 1) * 100_000 + row));
        }
        text += &format!(" # docid = d{row}\n");
    }
    text
}

/// A folder with three models of one feature each, and the scores of the first.
fn place() -> Place {
    let place = Place::new(&[("data.txt", &data(60, &[5.0, 4.2, 4.6]))]);
    for (name, feature) in [("one", 1), ("two", 2), ("three", 3)] {
        place.run(&format!("train --train data.txt --model feature:index={feature} --out {name}")).done();
    }
    place.run("predict --model one --data data.txt --out one.txt").good();
    place
}

/// Returns the table of comparisons of a page: system, metric, difference, interval and p-values.
fn rows(page: &str) -> Vec<Vec<String>> {
    let section = page.split("<section id=\"comparison\"").nth(1).unwrap().split("</table>").next().unwrap();
    let cell = |cell: &str| cell.split('>').nth(1).unwrap_or_default().split('<').next().unwrap_or_default().to_owned();
    let cells = |row: &str| row.split("<t").filter(|cell| cell.starts_with(['h', 'd'])).map(cell).collect::<Vec<_>>();
    section.split("<tr>").skip(2).map(cells).collect()
}

/// Formats a p-value as the tool does.
fn p(value: &Value) -> String {
    burnrank::internal::text::p_value(value.as_f64())
}

#[test]
fn report_and_compare_agree_on_the_same_systems() {
    let place = place();
    // The scores of `one` equal `one`: not a third system.
    let found = place.run("compare one two --data data.txt --json").json();
    let comparison = &found["comparisons"][0];
    let adjusted = &comparison["adjusted"];
    assert_eq!(adjusted["family"], 1, "{adjusted}");
    assert_eq!(adjusted["randomisation"], comparison["randomisation"]["p"]);
    for command in [
        "report one two --data data.txt --force --out page.html",
        "report one two --data data.txt --baseline one.txt --force --out page.html",
    ] {
        place.run(command).good();
        let page = place.read("page.html");
        let rows = rows(&page);
        let of = |system: &str| rows.iter().filter(|row| row[0] == system).collect::<Vec<_>>();
        let two = of("two");
        assert!(of("one").is_empty(), "a model is not compared with itself: {rows:?}");
        assert_eq!((two.len(), two[0][1].as_str()), (4, "ndcg@10"), "{rows:?}");
        let own: Vec<String> = ["t_test", "wilcoxon", "randomisation"].iter().map(|test| p(&adjusted[test])).collect();
        assert_eq!(two[0][7..10], own, "{command}");
        let interval = &adjusted["interval"];
        let end = |place: usize| burnrank::internal::text::signed(interval[place].as_f64().unwrap(), 4);
        assert_eq!(two[0][5], format!("{} to {}", end(0), end(1)), "{command}");
    }
    let page = place.read("page.html");
    assert!(page.contains("one and one.txt have equal ndcg@10 on every query"), "{page}");
}

#[test]
fn the_family_is_all_pairs_of_different_systems_by_one_metric() {
    let place = place();
    let all = place.run("compare one two three one.txt --data data.txt --metric ndcg@10,map --json").json();
    let find = |found: &Value, metric: &str, first: &str, second: &str| {
        let is = |comparison: &&Value| {
            (&comparison["metric"], &comparison["baseline"], &comparison["system"])
                == (&metric.into(), &first.into(), &second.into())
        };
        found["comparisons"].as_array().unwrap().iter().find(is).cloned().unwrap_or_default()
    };
    for metric in ["ndcg@10", "map"] {
        assert_eq!(find(&all, metric, "one", "one.txt")["adjusted"], Value::Null, "one system twice");
        let pairs = [("one", "two"), ("one", "three"), ("two", "three")];
        let of = |(first, second): &(&str, &str)| find(&all, metric, first, second);
        let raw: Vec<f64> = pairs.iter().map(|pair| of(pair)["randomisation"]["p"].as_f64().unwrap()).collect();
        let expected = burnrank::analysis::significance::holm(&raw);
        for (pair, expected) in pairs.iter().zip(expected) {
            let adjusted = of(pair)["adjusted"].clone();
            assert_eq!((&adjusted["family"], &adjusted["randomisation"]), (&3.into(), &expected.into()), "{pair:?}");
        }
        // Another name of the same system has the same p-value.
        let twin = find(&all, metric, "two", "one.txt")["adjusted"]["randomisation"].clone();
        assert_eq!(twin, of(&("one", "two"))["adjusted"]["randomisation"]);
    }
    // The family does not depend on which pairs are shown.
    let some = place.run("compare one two three --baseline --data data.txt --json").json();
    assert_eq!(find(&some, "ndcg@10", "one", "two")["adjusted"], find(&all, "ndcg@10", "one", "two")["adjusted"]);
    let shown = place.run("compare one two three --baseline --data data.txt").good();
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("all 3 pairs of different systems"), "{shown}");
    place.run("report one two three --data data.txt --out page.html").good();
    assert!(place.read("page.html").contains("all 3 pairs of different systems"));
}

#[test]
fn features_are_corrected_for_their_number() {
    // Forty noise features: uncorrected intervals would find some of them important.
    let noisy = |start: usize| {
        let mut text = String::new();
        for row in start..start + 600 {
            text += &format!("{} qid:{}", (3.0 * noise(row)) as usize, row / 10);
            (1..=40).for_each(|feature| text += &format!(" {feature}:{:.4}", noise(feature * 100_000 + row)));
            text.push('\n');
        }
        text
    };
    let place = Place::new(&[("train.txt", &noisy(0)), ("data.txt", &noisy(1000))]);
    place.run("train --train train.txt --model linear --epochs 20 --out model").done();
    let mut uncorrected = 0;
    for seed in 1..=3 {
        let shown = place.run(&format!("explain --model model --data data.txt --seed {seed}")).good();
        assert!(shown.contains("No feature helps significantly") && !shown.contains("harmful"), "{shown}");
        let found = place.run(&format!("explain --model model --data data.txt --seed {seed} --json")).json();
        let importances = found["explanation"]["importances"].as_array().unwrap().clone();
        // A feature without effect on any query is not tested.
        let tested: Vec<&Value> = importances.iter().filter(|importance| importance["p"].is_number()).collect();
        assert!(tested.len() > 20, "{tested:?}");
        for importance in &tested {
            let (fall, error) =
                (importance["decrease"].as_f64().unwrap(), importance["standard_error"].as_f64().unwrap());
            // Two standard errors are the uncorrected interval.
            uncorrected += usize::from(fall.abs() > 2.0 * error);
            let interval = &importance["interval"];
            let excludes = interval[0].as_f64().unwrap() > 0.0 || interval[1].as_f64().unwrap() < 0.0;
            assert_eq!(importance["p"].as_f64().unwrap() <= 0.05, excludes, "{importance}");
            assert!(!excludes, "seed {seed}: {importance}");
        }
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("Holm's method over {} features", tested.len())), "{shown}");
    }
    assert!(uncorrected > 0, "nothing to correct");
}
