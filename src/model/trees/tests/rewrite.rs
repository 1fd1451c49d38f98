//! Writing forests as text.

use super::*;

/// The blocks by the sizes in the line `tree_sizes`, by which LightGBM finds trees.
fn cut(text: &str) -> Vec<&str> {
    let sizes = text.lines().find_map(|line| line.strip_prefix("tree_sizes=")).unwrap();
    let mut rest = &text[text.find("\n\n").unwrap() + 2..];
    let mut blocks = Vec::new();
    for size in sizes.split_whitespace() {
        let (block, after) = rest.split_at(size.parse().unwrap());
        blocks.push(block);
        rest = after;
    }
    assert!(rest.starts_with("end of trees\n"), "{rest}");
    blocks
}

#[test]
fn text_round_trips_byte_by_byte() {
    let forest = Forest::parse(SAMPLE).unwrap();
    assert_eq!(forest.to_text(), SAMPLE);
    assert_eq!(Forest::parse(&SAMPLE.replace('\n', "\r\n")).unwrap().to_text(), SAMPLE);
    let old = SAMPLE.replace("version=v4", "version=v3").replace("is_linear=0\n", "");
    let old: String =
        old.lines().filter(|line| !line.starts_with("tree_sizes")).map(|line| format!("{line}\n")).collect();
    assert_eq!(Forest::parse(&old).unwrap().trees(), forest.trees());
}

#[test]
fn sizes_and_numbers_match_after_removing_and_adding_trees() {
    let whole = Forest::parse(SAMPLE).unwrap();
    let mut forest = whole.truncated(1);
    assert_eq!((forest.n_trees(), whole.truncated(9).to_text().as_str()), (1, SAMPLE));
    for block in &cut(SAMPLE)[1..] {
        forest.push_block(block).unwrap();
    }
    assert_eq!(forest.to_text(), SAMPLE, "the same trees, and the same importances");
    let mut doubled = whole.clone();
    doubled.push_block(cut(SAMPLE)[1].trim_end().strip_prefix("Tree=1\n").unwrap()).unwrap();
    let text = doubled.to_text();
    let blocks = cut(&text);
    assert_eq!(blocks[3], cut(SAMPLE)[1].replace("Tree=1", "Tree=3"));
    assert!(text.contains("feature_importances:\nlanguage=4\nbm25=3\nclicks=2\nage=2\n\nparameters:\n"), "{text}");
    assert_eq!(Forest::parse(&text).unwrap().trees(), doubled.trees());
    let mut four = Forest::from_trees(2, Vec::new()).unwrap();
    let error = four.push_block(blocks[0]).unwrap_err().to_string();
    assert!(error.starts_with("tree:4: column 2 (from 0) of 2 features"), "{error}");
}

#[test]
fn a_changed_forest_is_compiled_again() {
    let mut forest = Forest::parse(SAMPLE).unwrap();
    let before = scores(&forest, &[0.0; 4])[0];
    forest.push_block("num_leaves=1\nnum_cat=0\nleaf_value=0.25\n").unwrap();
    assert_eq!(scores(&forest, &[0.0; 4])[0], before + 0.25);
}

#[test]
fn forests_built_from_trees_round_trip() {
    let mut random = random(4);
    let trees: Vec<Tree> = [1, 2, 2, 17, 64, 90].iter().map(|&leaves| tree(&mut random, leaves, 6)).collect();
    let forest = Forest::from_trees(6, trees.clone()).unwrap();
    let text = forest.to_text();
    assert_eq!(cut(&text).len(), 6);
    assert_eq!(Forest::parse(&text).unwrap().trees(), trees);
    let error = Forest::from_trees(5, trees).unwrap_err().to_string();
    assert_eq!(error, "a tree uses column 5 (from 0) of 5");
    assert!(Forest::from_trees(0, Vec::new()).is_err());
}

#[test]
fn columns_move_down_when_the_first_is_removed() {
    let moved = SAMPLE
        .replace("max_feature_idx=3", "max_feature_idx=4")
        .replace("feature_names=", "feature_names=Column_0 ")
        .replace("feature_infos=", "feature_infos=none ")
        .replace("split_feature=0 1 1 2 2", "split_feature=1 2 2 3 3")
        .replace("split_feature=3 3 0", "split_feature=4 4 1");
    let forest = Forest::parse(&moved).unwrap().without_first_column().unwrap();
    assert_eq!(forest.to_text(), SAMPLE);
    let error = forest.without_first_column().unwrap_err().to_string();
    assert!(error.starts_with("the first column cannot be removed"), "{error}");
}

#[test]
fn a_forest_becomes_a_model() {
    let model = Forest::parse(SAMPLE).unwrap().into_model("by hand").unwrap();
    assert_eq!((model.info.ranker.features, model.info.objective.as_str()), (4, "by hand"));
    assert_eq!(model.score_query(&[0.0; 4]).unwrap(), [2.1314159265358983_f64 as f32]);
    let error = Forest::from_trees(1, Vec::new()).unwrap().into_model("").unwrap_err().to_string();
    assert!(error.contains("no trees"), "{error}");
}
