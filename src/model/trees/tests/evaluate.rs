//! Compares batch scoring with plain traversal.

use super::*;
use crate::simd::PORTABLE;

const SIZES: [usize; 12] = [1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 66, 300];

fn walked(forest: &Forest, rows: &[f32]) -> Vec<f64> {
    let sum = |row| forest.trees().iter().fold(0.0, |sum, tree| sum + tree.value(row));
    rows.chunks(forest.n_features()).map(sum).collect()
}

#[test]
fn trees_of_every_size_score_as_plain_traversal_to_the_last_bit() {
    let mut random = random(1);
    for features in [1, 5, 40] {
        for leaves in SIZES {
            let trees = (0..5).map(|_| tree(&mut random, leaves, features)).collect();
            let forest = Forest::from_trees(features, trees).unwrap();
            let rows = rows(&mut random, 100, features);
            assert_eq!(bits(&scores(&forest, &rows)), bits(&walked(&forest, &rows)), "{leaves} leaves");
        }
    }
}

#[test]
fn a_score_does_not_depend_on_position_threads_or_instructions() {
    let mut random = random(2);
    let trees = SIZES.iter().cycle().take(200).map(|&leaves| tree(&mut random, leaves, 9)).collect();
    let forest = Forest::from_trees(9, trees).unwrap();
    let rows = rows(&mut random, 1300, 9);
    let expected = bits(&walked(&forest, &rows));
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(bits(&pool.install(|| scores(&forest, &rows))), expected, "{threads} threads");
    }
    for chunk in [1, 15, 16, 17, 513] {
        let parts: Vec<u64> = rows.chunks(9 * chunk).flat_map(|rows| bits(&scores(&forest, rows))).collect();
        assert_eq!(parts, expected, "{chunk} at a time");
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let portable = pool.install(|| {
        PORTABLE.set(true);
        scores(&forest, &rows)
    });
    assert_eq!(bits(&portable), expected, "portable lanes");
}

#[test]
fn scores_added_tree_by_tree_equal_those_of_the_forest() {
    let mut random = random(3);
    let trees = SIZES.iter().map(|&leaves| tree(&mut random, leaves, 4)).collect();
    let forest = Forest::from_trees(4, trees).unwrap();
    let rows = rows(&mut random, 77, 4);
    let mut sums = vec![0.0; 77];
    for index in 0..forest.n_trees() {
        assert_eq!(bits(&sums), bits(&scores(&forest.truncated(index), &rows)), "{index} trees");
        forest.add_tree(index, &rows, 4, &mut sums).unwrap();
    }
    assert_eq!(bits(&sums), bits(&scores(&forest, &rows)));
    let error = forest.add_tree(12, &rows, 4, &mut sums).unwrap_err().to_string();
    assert_eq!(error, "there is no tree 12: the forest has 12 trees");
}

#[test]
fn documents_with_other_features_are_refused() {
    let forest = Forest::parse(SAMPLE).unwrap();
    let wrong =
        |rows: &[f32], width, count| forest.score_rows(rows, width, &mut vec![0.0; count]).unwrap_err().to_string();
    assert_eq!(wrong(&[0.0; 10], 5, 2), "the model expects 4 features, the data has 5");
    assert_eq!(wrong(&[0.0; 8], 4, 3), "8 values are not 3 documents with 4 features");
    forest.score_rows(&[], 4, &mut []).unwrap();
}

#[test]
fn invalid_trees_are_refused() {
    let rule = || Rule::AtMost { threshold: 0.0, missing: WhenMissing::NanIsZero };
    let branch = |left, right| Branch { feature: 0, rule: rule(), left, right };
    let (leaf, inner) = (Child::Leaf, Child::Branch);
    let problem = |branches, leaves: &[f64]| Tree::new(branches, leaves.to_vec()).unwrap_err().to_string();
    let circle = vec![branch(leaf(0), leaf(1)), branch(inner(2), leaf(2)), branch(inner(1), leaf(3))];
    assert!(problem(circle, &[0.0; 4]).ends_with("some branches cannot be reached from the first"));
    assert!(problem(vec![branch(inner(0), leaf(0))], &[0.0; 2]).ends_with("more than one path leads to branch 0"));
    assert!(problem(vec![branch(leaf(0), leaf(0))], &[0.0; 2]).ends_with("more than one path leads to leaf 0"));
    assert!(problem(vec![branch(leaf(0), leaf(7))], &[0.0; 2]).ends_with("there is no leaf 7"));
    assert!(problem(vec![], &[f64::NAN]).ends_with("the value of leaf 0 is not finite"));
    assert!(problem(vec![], &[]).ends_with("0 branches have 1 leaves, not 0"));
}
