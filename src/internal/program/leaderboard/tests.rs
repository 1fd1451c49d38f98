use super::*;
use crate::analysis::significance::{CompareOptions, PerQuery};

/// Returns boards of systems that have the value 1 on the given number of ten queries.
fn boards(metrics: &[&str], systems: &[(&str, usize)]) -> Vec<Leaderboard> {
    let ones = |number| (0..10).map(|query| f64::from(u8::from(query < number))).collect::<Vec<f64>>();
    let values: Vec<(&str, Vec<f64>)> = systems.iter().map(|&(name, number)| (name, ones(number))).collect();
    let per_query: Vec<PerQuery> = values.iter().map(|(name, values)| PerQuery { name, values }).collect();
    let options = CompareOptions { resamples: 200, ..CompareOptions::default() };
    let board = |metric: &&str| Leaderboard::new(metric, &per_query, 0.05, &options, &|_, _| ()).unwrap();
    metrics.iter().map(board).collect()
}

fn verdict(systems: &[(&str, usize)]) -> String {
    LeaderboardText::new(&boards(&["map"], systems), 80).verdicts().remove(0)
}

#[test]
fn verdicts_are_sentences() {
    let three = verdict(&[("none", 0), ("four", 4), ("ten", 10)]);
    assert_eq!(
        three,
        "Best by map: ten (1.0000). It does not differ significantly from four, and is significantly better than the \
         other system."
    );
    assert!(
        verdict(&[("a", 0), ("b", 1), ("c", 2)]).ends_with("It does not differ significantly from any other system.")
    );
    assert!(verdict(&[("a", 0), ("b", 10)]).ends_with("It is significantly better than the other system."));
    assert!(verdict(&[("a", 0), ("b", 10), ("c", 0)]).ends_with(
        "It is significantly better than every other system. a and c are equal on every query and count as one system."
    ));
    let shared = verdict(&[("a", 3), ("b", 3), ("c", 0)]);
    let expected = "Best by map: a and b (0.3000), with equal means. a does not differ significantly from any other system. a and b are \
         equal on every query and count as one system.";
    assert_eq!(shared, expected);
    let same = verdict(&[("a", 3), ("b", 3), ("c", 3)]);
    assert_eq!(same, "All 3 systems are equal by map on every query, 10 queries in all.");
    let many: Vec<String> = ["a", "b", "c", "d", "e", "f"].map(String::from).into();
    assert_eq!((listed(&many), listed(&many[..5])), ("a, b, c, d and 2 more".into(), "a, b, c, d and e".into()));
}

#[test]
fn tables_fit_the_width_and_metrics_share_tables() {
    let long = "a-name/that-is-much-too-long-for-any-table/of-eighty-columns/";
    let names = ["one", "two", "ten"].map(|end| format!("{long}{end}"));
    let systems: Vec<(&str, usize)> = names.iter().map(String::as_str).zip([1, 2, 10]).collect();
    let metrics = ["ndcg:linear@10", "map", "recall:rel=1.5@10", "mrr", "err@20"];
    for count in 1..=metrics.len() {
        let boards = boards(&metrics[..count], &systems);
        let text = LeaderboardText::new(&boards, 80);
        let shown: String = text.tables().iter().map(Table::text).collect();
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        assert!(text.shortened() && text.names()[0].ends_with("one") && text.names()[0].starts_with("a-name/"));
        metrics[..count].iter().for_each(|metric| assert!(shown.contains(metric), "{shown}"));
    }
    let boards = boards(&["map", "mrr"], &[("none", 0), ("four", 4), ("ten", 10)]);
    let text = LeaderboardText::new(&boards, 80);
    let tables = text.tables();
    assert_eq!((tables.len(), text.shortened()), (1, false));
    let shown = tables[0].text();
    let mut lines = shown.lines();
    assert_eq!(lines.next(), Some("rank  system     map  95% interval      letters     mrr"));
    assert_eq!(lines.next(), Some("   1  ten     1.0000  1.0000 to 1.0000  a        1.0000  a"));
}

#[test]
fn letters_break_between_parts() {
    let lines = |parts: &[&str]| letter_lines(&parts.iter().map(|part| part.to_string()).collect::<Vec<_>>());
    assert_eq!(lines(&["ab"]), ["ab"]);
    assert_eq!(lines(&["ab", "d-i", "k-z", "A-D", "FG"]), ["ab,d-i,k-z,A-D", "FG"]);
    assert_eq!(lines(&["acegikmoqsuwyACEG"]), ["acegikmoqsuw", "yACEG"]);
    assert_eq!(lines(&["acegikmoqsua2c2e2"]), ["acegikmoqsua2", "c2e2"]);
    assert_eq!(lines(&[]), [""]);
}

#[test]
fn csv_has_all_digits_and_full_names() {
    let boards = boards(&["map", "p@3"], &[("a,\"b\"", 0), (" c|d", 3), ("e*", 10)]);
    let text = csv(&boards);
    let lines: Vec<&str> = text.lines().collect();
    let headings = "rank,system,map,map low,map high,map letters,p@3,p@3 low,p@3 high,p@3 letters";
    assert_eq!((lines[0], lines[1]), (headings, "1,e*,1,1,1,a,1,1,1,a"));
    let (low, high) = boards[0].rows[1].interval.unwrap();
    assert!(lines[2].starts_with(&format!("2,\" c|d\",{},{low},{high},b,", boards[0].rows[1].mean)), "{text}");
    assert!(lines[3].starts_with("3,\"a,\"\"b\"\"\",0,"), "{text}");
    let text = markdown(&boards);
    let expected = "| rank | system | map | 95% interval | letters | p@3 | 95% interval | letters |\n\
                    |---|---|---|---|---|---|---|---|\n| 1 | e\\* | 1.0000 | 1.0000 to 1.0000 | a | 1.0000 |";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("\n| 2 |  c\\|d | 0.3000 |") && text.contains("\n\nSystems that share a letter"), "{text}");
    assert!(text.ends_with("over queries, for each mean alone.\n"), "{text}");
    assert!(text.contains("over all 3 pairs of different systems, for each metric alone; "), "{text}");
}
