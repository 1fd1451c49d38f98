//! Leaderboards: which system is best and which do not differ, in every output format.

use crate::support::Place;
use serde_json::Value;

/// Queries of four documents, the second of each relevant.
fn data(queries: usize) -> String {
    let document = |query: usize, place: usize| {
        format!("{} qid:{query} 1:{place} # docid = q{query}d{place}\n", if place == 2 { 2 } else { 0 })
    };
    (1..=queries).flat_map(|query| (1..=4).map(move |place| document(query, place))).collect()
}

/// Scores that rank the relevant document first on `queries` queries and last on the others: mrr is 1 or 1/4.
fn right(queries: usize) -> String {
    (1..=12).map(|query| if query <= queries { "0\n1\n0.5\n0.2\n" } else { "1\n0\n0.5\n0.2\n" }).collect()
}

/// A folder with the systems none, half and all.
fn place() -> Place {
    Place::new(&[("data.txt", &data(12)), ("none", &right(0)), ("half", &right(6)), ("all", &right(12))])
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn fits(text: &str) -> bool {
    text.lines().all(|line| line.chars().count() <= 80)
}

#[test]
fn the_best_is_first_and_letters_mark_equivalence() {
    let place = place();
    let shown = place.run("compare none half all --data data.txt --metric mrr").good();
    // Two of 2^6 sign vectors reach the sum of six equal differences: p is 2/64, times 2 by Holm; and 3 * 2/4096.
    let expected = "Best by mrr: all (1.0000). It does not differ significantly from half, and is\n\
                    significantly better than the other system.\n\n\
                    rank  system     mrr  95% interval      letters\n   \
                       1  all     1.0000  1.0000 to 1.0000  a\n   \
                       2  half    0.6250  ";
    assert!(shown.starts_with(expected), "{shown}");
    let half = shown.lines().find(|line| line.contains("  half ")).unwrap();
    let none = shown.lines().find(|line| line.contains("  none ")).unwrap();
    assert!(half.ends_with("  ab") && none == "   3  none    0.2500  0.2500 to 0.2500  b", "{shown}");
    let words = flat(&shown);
    assert!(words.contains("data data.txt: 12 queries conventions ties: "), "{shown}");
    assert!(words.contains("corrected by Holm's method over all 3 pairs of different systems;"), "{shown}");
    // With a larger alpha, all differ.
    let shown = flat(&place.run("compare none half all --data data.txt --metric mrr --alpha 0.1").good());
    assert!(
        shown.starts_with("Best by mrr: all (1.0000). It is significantly better than every other system."),
        "{shown}"
    );
    // A cost is best when it is low: the relevant document stands at 1, at 4, or alternates between both.
    let shown = place.run("compare none half all --data data.txt --metric arp").good();
    assert!(shown.starts_with("Best by arp: all (1.0000)."), "{shown}");
    assert!(shown.contains("\n   3  none    4.0000  4.0000 to 4.0000  b\n"), "{shown}");
}

#[test]
fn all_output_formats_agree() {
    let place = place();
    let line = "compare none half all --data data.txt --metric mrr,arp";
    let found = place.run(&format!("{line} --json")).json();
    let boards = found["leaderboards"].as_array().unwrap();
    assert_eq!((&boards[0]["metric"], &boards[1]["better"]), (&"mrr".into(), &"lower".into()));
    let row = |board: usize, row: usize| &boards[board]["rows"][row];
    assert_eq!((&row(0, 1)["name"], &row(0, 1)["rank"]), (&"half".into(), &2.into()));
    assert_eq!(row(0, 1)["letters"], row(1, 1)["letters"]);
    let comparisons = found["comparisons"].as_array().unwrap();
    assert_eq!((comparisons.len(), &found["family"]), (6, &serde_json::json!({ "mrr": 3, "arp": 3 })));
    assert!(comparisons[0].get("differences").is_none() && comparisons[0]["bootstrap"]["bca"].is_array());
    // 2 of 4096, the smallest of three, by either metric.
    assert_eq!(comparisons[1]["adjusted"]["randomisation"], 3.0 * 2.0 / 4096.0);
    assert_eq!(comparisons[4]["adjusted"]["randomisation"], 3.0 * 2.0 / 4096.0);
    let text = place.run(&format!("{line} --csv")).good();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], "rank,system,mrr,mrr low,mrr high,mrr letters,arp,arp low,arp high,arp letters");
    for (place, line) in lines[1..].iter().enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!((fields[0], fields[1]), ((place + 1).to_string().as_str(), row(0, place)["name"].as_str().unwrap()));
        for (start, board) in [(2, 0), (6, 1)] {
            let own = row(board, place);
            let number = |field: &str| field.parse::<f64>().map(Value::from).unwrap();
            assert_eq!(
                (number(fields[start]), number(fields[start + 1])),
                (own["mean"].clone(), own["interval"][0].clone())
            );
            assert_eq!(number(fields[start + 2]), own["interval"][1]);
            assert_eq!(fields[start + 3], own["letters"]);
        }
    }
    let text = place.run(&format!("{line} --markdown")).good();
    let headings = "| rank | system | mrr | 95% interval | letters | arp | 95% interval | letters |\n|---|---|---|---|";
    assert!(text.starts_with(headings) && text.contains("\n| 1 | all | 1.0000 | 1.0000 to 1.0000 | a |"), "{text}");
    assert!(text.contains("Holm's method over all 3 pairs of different systems, for each metric alone"), "{text}");
    for two in ["--csv --json", "--csv --markdown", "--markdown --json", "--baseline --csv", "--baseline --markdown"] {
        assert!(place.run(&format!("{line} {two}")).bad(2).contains("cannot be used with"), "{two}");
    }
}

#[test]
fn two_systems_and_baselines_are_reported_pair_by_pair() {
    let place = place();
    let pair = place.run("compare none all --data data.txt --metric mrr").good();
    assert!(pair.starts_with("all is significantly better than none by mrr: 1.0000 against 0.2500"), "{pair}");
    assert!(pair.contains("better/equal/worse") && !pair.contains("letters"), "{pair}");
    let found = place.run("compare none all --data data.txt --metric mrr --json").json();
    assert_eq!(found["comparisons"][0]["differences"].as_array().map(Vec::len), Some(12));
    assert_eq!(found["leaderboards"][0]["rows"][1]["letters"], "b");
    // Requested as a table, two systems are a leaderboard, too.
    let text = place.run("compare none all --data data.txt --metric mrr --csv").good();
    assert_eq!(text, "rank,system,mrr,mrr low,mrr high,mrr letters\n1,all,1,1,1,a\n2,none,0.25,0.25,0.25,b\n");
    let baseline = place.run("compare half none all --baseline --data data.txt --metric mrr").good();
    assert!(
        baseline.contains("none and half do not differ significantly")
            && baseline.contains("\n\nLargest differences in mrr, half to all\n"),
        "{baseline}"
    );
    let found = place.run("compare half none all --baseline --data data.txt --json").json();
    assert_eq!(
        (found["comparisons"].as_array().map(Vec::len), &found["leaderboards"]),
        (Some(2), &Value::Array(vec![]))
    );
}

#[test]
fn equal_systems_share_a_rank_and_a_letter() {
    let twin = right(6);
    let place = Place::new(&[("data.txt", &data(12)), ("a", &twin), ("b", &twin), ("c", &twin), ("d", &right(0))]);
    let shown = place.run("compare c a b --data data.txt").good();
    assert!(shown.starts_with("All 3 systems are equal by ndcg@10 on every query, 12 queries in all.\n"), "{shown}");
    let text = place.run("compare d c a b --data data.txt --metric mrr --csv").good();
    let starts: Vec<String> = text.lines().map(|line| line.split(',').take(2).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(starts, ["rank,system", "1,c", "1,a", "1,b", "4,d"]);
    let shown = flat(&place.run("compare d c a b --data data.txt --metric mrr").good());
    assert!(shown.starts_with("Best by mrr: c, a and b (0.6250), with equal means."), "{shown}");
    assert!(place.run("compare a b ./a --data data.txt").bad(2).contains("./a is given twice"));
}

#[test]
fn leaderboards_use_the_queries_of_all_systems() {
    // A run of four queries; the fifth query of the data has no relevant documents.
    let data = format!("{}0 qid:5 1:1 # docid = q5d1\n0 qid:5 1:1 # docid = q5d2\n", data(4));
    let run = |queries: std::ops::RangeInclusive<usize>| -> String {
        queries.map(|query| format!("{query} Q0 q{query}d2 1 2 t\n{query} Q0 q{query}d1 2 1 t\n")).collect()
    };
    let scores = "0\n1\n0.5\n0.2\n".repeat(4) + "1\n2\n";
    let place = Place::new(&[("data.txt", &data), ("a.run", &run(1..=5)), ("b.run", &run(2..=5)), ("s.txt", &scores)]);
    let found = place.run("compare a.run b.run s.txt --data data.txt --json").json();
    assert_eq!((&found["skipped_queries"], &found["leaderboards"][0]["queries"]), (&1.into(), &4.into()));
    let found = place.run("compare a.run b.run s.txt --data data.txt --empty skip --json").json();
    assert_eq!((&found["skipped_queries"], &found["leaderboards"][0]["queries"]), (&1.into(), &3.into()));
    let found = place.run("compare a.run b.run s.txt --data data.txt --complete --empty skip --json").json();
    assert_eq!((&found["skipped_queries"], &found["leaderboards"][0]["queries"]), (&0.into(), &4.into()));
    assert_eq!(found["leaderboards"][0]["rows"][2]["name"], "b.run");
    let shown = place.run("compare a.run b.run s.txt --data data.txt").good();
    assert!(
        shown.contains("\n1 of 5 queries are missing from the run b.run and skipped for all systems.\n"),
        "{shown}"
    );
    // A single query has no interval, and systems do not differ.
    let one = Place::new(&[
        ("data.txt", &self::data(1)),
        ("a", "1\n2\n3\n4\n"),
        ("b", "1\n9\n3\n4\n"),
        ("c", "1\n1\n1\n1\n"),
    ]);
    let text = one.run("compare a b c --data data.txt --metric mrr --csv").good();
    assert!(text.contains("\n1,b,1,,,a\n2,a,") && text.lines().skip(1).all(|line| line.ends_with(",,,a")), "{text}");
    let shown = one.run("compare a b c --data data.txt --metric mrr").good();
    assert!(flat(&shown).contains("It does not differ significantly from any other system."), "{shown}");
    assert!(shown.contains("All scores of c are equal."), "{shown}");
}

#[test]
fn long_and_unusual_names_fit_80_columns_and_stay_distinct() {
    let place = place();
    let folder = "a-folder-of-models/with-a-name-that-takes-more-than-half-of-a-line";
    std::fs::create_dir_all(place.path().join(folder)).unwrap();
    let mut names = Vec::new();
    for (number, file) in ["none", "half", "all"].into_iter().enumerate() {
        let name = format!("{folder}/model-{number}-trained-on-everything,\"twice\"_and|again-and-tuned-at-length.txt");
        std::fs::copy(place.path().join(file), place.path().join(&name)).unwrap();
        names.push(name);
    }
    let line = format!("compare {} --data data.txt --metric", names.join(" "));
    for metrics in ["mrr", "ndcg:linear@10,recall:rel=1.5@10,arp,bpref,map", "arp,err@20 --empty skip"] {
        let shown = place.run(&format!("{line} {metrics}")).good();
        assert!(fits(&shown), "{shown}");
        assert!(shown.contains("\nnames        shortened to fit"), "{shown}");
        // Different systems have different names, in the table and in the verdict.
        let rows: Vec<&str> = shown.lines().filter(|line| line.contains("...")).collect();
        assert!(rows.len() >= 3 && rows[0] != rows[1] && rows[1] != rows[2], "{shown}");
    }
    let whole = names[2].rsplit('/').next().unwrap();
    let text = place.run(&format!("{line} mrr --csv")).good();
    assert!(text.contains(&format!("\n1,\"{}\",1,1,1,a\n", whole.replace('"', "\"\""))), "{text}");
    let text = place.run(&format!("{line} mrr --markdown")).good();
    assert!(text.contains("\"twice\"\\_and\\|again"), "{text}");
    let found = place.run(&format!("{line} mrr --json")).json();
    assert_eq!(found["leaderboards"][0]["rows"][0]["name"], whole);
}

#[test]
fn a_hundred_systems_are_ranked_alike_on_any_number_of_threads() {
    let place = Place::new(&[("data.txt", &data(12))]);
    let names: Vec<String> = (0..100).map(|system| format!("s{system}")).collect();
    for (system, name) in names.iter().enumerate() {
        // The rank of the relevant document differs from system to system.
        let scores: String = (0..12)
            .map(|query| format!("0.3\n{}\n0.5\n0.2\n", ((system * 7 + query * 31) % (30 + system)) as f64 / 60.0))
            .collect();
        std::fs::write(place.path().join(name), scores).unwrap();
    }
    let line = format!("compare {} --data data.txt --metric mrr --resamples 100", names.join(" "));
    let shown = place.run(&format!("{line} --quiet")).good();
    assert!(fits(&shown) && flat(&shown).contains(" pairs of different systems; "), "{shown}");
    assert_eq!(shown, place.run(&format!("{line} --quiet --threads 1")).good());
    assert_eq!(place.run(&format!("{line} --quiet --csv")).good().lines().count(), 101);
    let message = place.run(&format!("{line} --quiet --figure f.svg")).bad(2);
    assert!(message.contains("4950 comparisons are too many for a figure"), "{message}");
}

#[test]
fn draws_are_enough_for_the_number_of_comparisons() {
    let place = Place::new(&[("data.txt", &data(40))]);
    let scores = |right: usize| -> String {
        (0..40).map(|query| if query < right { "0\n1\n0.5\n0.2\n" } else { "1\n0\n0.5\n0.2\n" }).collect()
    };
    for (name, right) in [("none", 0), ("some", 20), ("all", 40)] {
        std::fs::write(place.path().join(name), scores(right)).unwrap();
    }
    let line = "compare none some all --data data.txt --metric mrr --quiet";
    let ran = place.run(&format!("{line} --draws 50"));
    let note = "note: none of 3 comparisons can be significant with 50 draws each: use --draws 120\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), note));
    place.run(&format!("{line} --draws 120")).good();
    // An alpha so small that the default number of draws is insufficient.
    let found = place.run(&format!("{line} --alpha 1e-5 --resamples 10 --json")).json();
    assert_eq!(found["comparisons"][1]["options"]["draws"], 600_000);
    // Neighbours differ on half of the queries: 2 of 2^20 sign vectors, enumerated. The first and last differ on 40, sampled.
    assert_eq!(found["comparisons"][1]["randomisation"]["method"], "monte-carlo");
    assert_eq!(found["leaderboards"][0]["rows"][2]["letters"], "c");
}
