//! Damaged text is refused with the line, without panics or endless loops.

use super::*;

/// The error for the sample with a text replaced.
fn changed(from: &str, to: &str) -> String {
    assert!(SAMPLE.contains(from), "{from}");
    refusal(&SAMPLE.replacen(from, to, 1))
}

#[test]
fn errors_name_line_and_remedy() {
    let cases = [
        ("tree\n", "tre\n", "model.txt:1: not a LightGBM model 'tre': expected a model that LightGBM saved as text"),
        ("version=v4", "version=v9", "model.txt:2: unknown version 'v9': supported are v2, v3, v4"),
        ("num_class=1", "num_class=5", "model.txt:3: num_class must be 1, not '5': a ranking model has one score"),
        ("max_feature_idx=3", "max_feature_idx=4", "model.txt:8: feature_names has 4 values, not 5"),
        ("max_feature_idx=3", "max_feature_idx=-1", "model.txt:6: bad max_feature_idx '-1'"),
        ("max_feature_idx=3\n", "", "model.txt:1: no line 'max_feature_idx=' follows: the file is damaged"),
        ("Tree=1", "Tree=7", "model.txt:31: expected 'Tree=1', not 'Tree=7'"),
        ("end of trees", "end of tree", "model.txt: the file ends without the line 'end of trees': it was cut short"),
        ("num_leaves=6", "num_leaves=9999999999999", "model.txt:21: leaf_value has 6 values, not 9999999999999"),
        ("num_leaves=6", "num_leaves=0", "model.txt:13: the tree has no leaves"),
        ("num_leaves=6\n", "", "model.txt:12: no line 'num_leaves=' follows"),
        ("split_feature=0 1", "split_feature=4 1", "model.txt:15: column 4 (from 0) of 4 features"),
        ("threshold=0.5 1", "threshold=nan 1", "model.txt:17: a threshold is not a number"),
        ("threshold=0.5 1", "threshold=0,5 1", "model.txt:17: bad number in threshold '0,5'"),
        ("decision_type=8 2", "decision_type=12 2", "model.txt:18: unknown decision_type 12"),
        ("decision_type=8 2", "decision_type=1 2", "model.txt:17: set of categories 0.5 (from 0) of 0"),
        ("left_child=1 -1", "left_child=0 -1", "model.txt:19: more than one path leads to branch 0"),
        ("left_child=1 -1", "left_child=99 -1", "model.txt:19: there is no branch 99"),
        ("left_child=1 -1", "left_child=1 -2147483648", "model.txt:19: there is no leaf 2147483647"),
        ("left_child=1 -1 3", "left_child=1 -1", "model.txt:19: left_child has 4 values, not 5"),
        ("leaf_value=1 ", "leaf_value=inf ", "model.txt:40: the value of leaf 0 is not finite"),
        ("is_linear=0", "is_linear=1", "model.txt:27: is_linear must be 0, not '1': train without linear_tree"),
        ("threshold=0 1", "threshold=0 2", "model.txt:36: set of categories 2 (from 0) of 2"),
        ("cat_boundaries=0 2 3", "cat_boundaries=0 4 3", "model.txt:46: cat_boundaries do not increase from 0"),
        ("cat_threshold=7 8 2", "cat_threshold=7 8", "model.txt:47: cat_threshold has 2 values, not 3"),
        ("num_cat=2", "num_cat=18446744073709551615", "model.txt:46: cat_boundaries has 3 values"),
        ("num_cat=2", "num_cat=2\nnum_cat=2", "model.txt:34: duplicate line 'num_cat'"),
    ];
    for (from, to, expected) in cases {
        let actual = changed(from, to);
        assert!(actual.starts_with(expected), "{from} -> {to}: {actual}");
    }
    assert!(refusal("").starts_with("model.txt:1: not a LightGBM model: expected"), "{}", refusal(""));
    let sizes = SAMPLE.lines().position(|line| line.starts_with("tree_sizes")).unwrap();
    let mut lines: Vec<&str> = SAMPLE.lines().collect();
    lines[sizes] = "tree_sizes=1 2";
    assert_eq!(
        refusal(&lines.join("\n")),
        "model.txt:10: 2 tree sizes, but 3 trees follow: the file is damaged: save the model again"
    );
}

#[test]
fn truncated_text_is_refused_up_to_the_last_tree() {
    let end = SAMPLE.find("end of trees").unwrap();
    for length in 0..end {
        refusal(&SAMPLE[..length]);
    }
}

#[test]
fn random_damage_neither_panics_nor_hangs() {
    let mut random = random(5);
    let digits = b"0123456789-. =\nnief";
    let row = [0.5, f32::NAN, 0.0, 3.0];
    for _ in 0..3000 {
        let mut bytes = SAMPLE.as_bytes().to_vec();
        for _ in 0..random.random_range(1..4) {
            let place = random.random_range(0..bytes.len());
            match random.random_range(0..3) {
                0 => bytes[place] = digits[random.random_range(0..digits.len())],
                1 => bytes.insert(place, digits[random.random_range(0..digits.len())]),
                _ => drop(bytes.drain(place..(place + random.random_range(1..30)).min(bytes.len()))),
            }
        }
        let text = String::from_utf8(bytes).unwrap();
        if let Ok(forest) = Forest::parse(&text) {
            let mut score = [0.0];
            // Text that still parses may have another number of features.
            let _ = forest.score_rows(&row, 4, &mut score);
            let written = forest.to_text();
            assert_eq!(Forest::parse(&written).unwrap().to_text(), written);
        }
    }
}
