//! Conversion of trees to a form that every format supports: each branch compares an unscaled feature with an f32
//! threshold.
//!
//! Every branch (with a threshold, a rule for missing values or a set of categories) sends some intervals of values
//! left and the others right, and NaN to one side. Two intervals become one plain branch; more become several, with
//! copies of the subtrees. Thresholds on scaled values are converted to unscaled values.

use super::scaling::{constant, is_per_query, raw_bound};
use crate::data::scale::Step;
use crate::error::{Error, Result};
use crate::model::{Branch, Child, Forest, NESTED_LEVELS, Rule, Tree, ZERO, largest_f32};
use std::collections::BTreeSet;

/// A tree of plain branches.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct PlainTree {
    /// The first is the root; empty if the tree is a single leaf.
    pub branches: Vec<PlainBranch>,
    pub leaves: Vec<f64>,
    /// Features of branches that send NaN elsewhere than 0.
    missing: Vec<usize>,
}

/// A branch that goes left if the feature is at most the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlainBranch {
    pub feature: usize,
    /// Finite.
    pub threshold: f32,
    /// Whether NaN goes left.
    pub nan_left: bool,
    pub left: Child,
    pub right: Child,
}

/// A sum of trees, and the scaling that is not part of the thresholds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlainTrees<'a> {
    /// Empty, or all steps if one is within queries.
    pub scaling: &'a [Step],
    pub trees: Vec<PlainTree>,
}

/// Maximum number of branches, as a multiple of the original number, in addition to a million.
const GROWTH: usize = 8;

impl<'a> PlainTrees<'a> {
    /// Converts the trees of a forest on scaled features.
    ///
    /// # Errors
    /// If there would be too many branches.
    pub fn of(forest: &Forest, scaling: &'a [Step]) -> Result<Self> {
        let branches: usize = forest.trees().iter().map(|tree| tree.branches().len()).sum();
        let mut room = branches.saturating_mul(GROWTH).saturating_add(1_000_000);
        let share = if forest.is_average() { 1.0 / forest.n_trees().max(1) as f64 } else { 1.0 };
        let plain = |tree: &Tree| {
            let tree = PlainTree::of(tree, scaling, share, room)?;
            room = room.saturating_sub(tree.branches.len());
            Ok(tree)
        };
        let trees = forest.trees().iter().map(plain).collect::<Result<_>>()?;
        Ok(PlainTrees { trees, scaling: if is_per_query(scaling) { scaling } else { &[] } })
    }

    /// Features for which a branch sends NaN elsewhere than 0.
    pub fn missing_features(&self) -> BTreeSet<usize> {
        self.trees.iter().flat_map(|tree| tree.missing.iter().copied()).collect()
    }

    /// Refuses trees that are too deep for formats with nested branches.
    pub fn check_depth(&self, format: &str) -> Result<()> {
        let deepest = self.trees.iter().map(PlainTree::depth).max().unwrap_or(0);
        if deepest <= NESTED_LEVELS {
            return Ok(());
        }
        Err(Error::Mismatch(format!(
            "{format} supports trees with at most {NESTED_LEVELS} levels, not {deepest}: train with fewer `leaves`, or \
             export to onnx"
        )))
    }
}

/// The place of a child that is not converted yet: a branch and whether it is the left side.
type Place = Option<(usize, bool)>;

/// Pending work of the conversion.
enum Work<'a> {
    /// A child of the given tree.
    Child(Child),
    /// Branches that send intervals of values to the sides of a branch; the flag is the side of NaN.
    Intervals(&'a Branch, Vec<(f32, bool)>, bool),
}

impl PlainTree {
    /// Maximum number of branches on a path from the root. Children come after their parents in the list.
    fn depth(&self) -> usize {
        let mut depths = vec![1; self.branches.len()];
        for (place, branch) in self.branches.iter().enumerate() {
            for child in [branch.left, branch.right] {
                if let Child::Branch(child) = child {
                    depths[child] = depths[place] + 1;
                }
            }
        }
        depths.into_iter().max().unwrap_or(0)
    }

    fn of(tree: &Tree, scaling: &[Step], share: f64, room: usize) -> Result<Self> {
        let mut plain = PlainTree::default();
        let root = if tree.branches().is_empty() { Child::Leaf(0) } else { Child::Branch(0) };
        // A stack: the left side is converted before the right one.
        let mut pending: Vec<(Place, Work<'_>)> = vec![(None, Work::Child(root))];
        while let Some((place, work)) = pending.pop() {
            match work {
                Work::Child(Child::Leaf(leaf)) => {
                    plain.put(place, Child::Leaf(plain.leaves.len()));
                    plain.leaves.push(tree.leaves()[leaf] * share);
                }
                Work::Child(Child::Branch(index)) => {
                    let branch = &tree.branches()[index];
                    let (intervals, nan) = intervals(branch, scaling);
                    let zero = intervals.iter().find(|(last, _)| *last >= 0.0);
                    if zero.is_some_and(|(_, left)| *left != nan) {
                        plain.missing.push(branch.feature);
                    }
                    pending.push((place, Work::Intervals(branch, intervals, nan)));
                }
                Work::Intervals(branch, intervals, nan) => {
                    let side = |left: bool| Work::Child(if left { branch.left } else { branch.right });
                    match &intervals[..] {
                        [] => pending.push((place, side(nan))),
                        [(_, left)] if *left == nan => pending.push((place, side(nan))),
                        // All numbers go to one side, NaN to the other.
                        [(_, left)] => {
                            let new = plain.branch(place, branch.feature, f32::MAX, false);
                            pending.push((Some((new, false)), side(nan)));
                            pending.push((Some((new, true)), side(*left)));
                        }
                        _ => {
                            let (below, above) = intervals.split_at(intervals.len() / 2);
                            let nan_left = below.iter().any(|(_, left)| *left == nan);
                            let new = plain.branch(place, branch.feature, below[below.len() - 1].0, nan_left);
                            // On the side without NaN, its direction does not matter.
                            let part = |half: &[(f32, bool)], has_nan: bool| {
                                let nan = if has_nan { nan } else { half[0].1 };
                                Work::Intervals(branch, half.to_vec(), nan)
                            };
                            pending.push((Some((new, false)), part(above, !nan_left)));
                            pending.push((Some((new, true)), part(below, nan_left)));
                        }
                    }
                }
            }
            if plain.branches.len() > room {
                return Err(Error::Mismatch(
                    "the trees' sets of categories would need millions of thresholds: export to lightgbm, or train \
                     without categorical features"
                        .into(),
                ));
            }
        }
        Ok(plain)
    }

    /// Adds a branch whose children are set later.
    fn branch(&mut self, place: Place, feature: usize, threshold: f32, nan_left: bool) -> usize {
        let index = self.branches.len();
        self.put(place, Child::Branch(index));
        let (left, right) = (Child::Leaf(0), Child::Leaf(0));
        self.branches.push(PlainBranch { feature, threshold, nan_left, left, right });
        index
    }

    fn put(&mut self, place: Place, child: Child) {
        if let Some((parent, left)) = place {
            let parent = &mut self.branches[parent];
            if left { parent.left = child } else { parent.right = child }
        }
    }
}

/// The intervals of unscaled values that go to the same side, as the last value of each and whether it goes left, in
/// ascending order; and whether NaN goes left. The last interval extends to infinity.
fn intervals(branch: &Branch, scaling: &[Step]) -> (Vec<(f32, bool)>, bool) {
    if let Some(value) = constant(scaling, branch.feature) {
        let left = branch.rule.goes_left(value);
        return (vec![(f32::INFINITY, left)], left);
    }
    let mut merged: Vec<(f32, bool)> = Vec::new();
    for bound in bounds(&branch.rule) {
        let left = branch.rule.goes_left(bound);
        let raw = if bound == f32::INFINITY { bound } else { raw_bound(scaling, branch.feature, bound) };
        match merged.last_mut() {
            Some(last) if last.1 == left => last.0 = last.0.max(raw),
            // No unscaled value maps to this interval.
            Some(last) if last.0 >= raw => {}
            // Infinite values are not features.
            _ if raw == f32::NEG_INFINITY => {}
            _ => merged.push((raw, left)),
        }
    }
    (merged, branch.rule.goes_left(f32::NAN))
}

/// The last values of the intervals in which a rule is constant, in ascending order; the last is infinity.
fn bounds(rule: &Rule) -> Vec<f32> {
    // LightGBM treats values close to zero as zero.
    let mut bounds = vec![(-ZERO).next_down(), ZERO, f32::INFINITY];
    match rule {
        Rule::AtMost { threshold, .. } => bounds.push(largest_f32(*threshold)),
        Rule::OneOf { categories: words, .. } => {
            // Values between -1 and 0 may be category 0.
            bounds.push(-1.0);
            let has = |category: usize| words.get(category / 32).is_some_and(|word| word >> (category % 32) & 1 == 1);
            let changes = (1..=words.len() * 32).filter(|&category| has(category) != has(category - 1));
            bounds.extend(changes.map(|category| largest_f32((category as f64).next_down())));
        }
    }
    bounds.sort_by(f32::total_cmp);
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, ScaleKind, Scaler};
    use crate::model::{NegativeFractions, WhenMissing};

    fn walk(tree: &PlainTree, row: &[f32]) -> f64 {
        let mut at = if tree.branches.is_empty() { Child::Leaf(0) } else { Child::Branch(0) };
        loop {
            match at {
                Child::Leaf(leaf) => return tree.leaves[leaf],
                Child::Branch(index) => {
                    let branch = &tree.branches[index];
                    let x = row[branch.feature];
                    at =
                        if x <= branch.threshold || x.is_nan() && branch.nan_left { branch.left } else { branch.right };
                }
            }
        }
    }

    /// Rules of every kind.
    fn rules() -> Vec<Rule> {
        use WhenMissing::{NanIsZero, NanLeft, NanRight, ZeroLeft, ZeroRight};
        let thresholds = [-2.0, -1e-35, -1e-40, 0.0, 1e-36, 1e-35, 0.1, 0.3, 7.0, 1e300, -1e300, f64::INFINITY];
        let at_most = |missing| thresholds.map(|threshold| Rule::AtMost { threshold, missing });
        let mut rules: Vec<Rule> =
            [NanIsZero, NanLeft, NanRight, ZeroLeft, ZeroRight].into_iter().flat_map(at_most).collect();
        rules.push(Rule::AtMost { threshold: f64::NEG_INFINITY, missing: NanLeft });
        for nan_left in [false, true] {
            let sets = [vec![], vec![1], vec![7, 8], vec![0b1010_0101, 0, 3], vec![u32::MAX]];
            for fractions in [NegativeFractions::Zero, NegativeFractions::NoCategory] {
                let one_of = |categories: Vec<u32>| Rule::OneOf { categories, nan_left, fractions };
                rules.extend(sets.clone().map(one_of));
            }
        }
        rules
    }

    fn values() -> Vec<f32> {
        let edges = [0.0, 1e-40, 1e-36, 1e-35, 1e-30, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 7.0, 31.9, 32.0, 35.0, 36.0, 65.5];
        let near = |x: f32| [x, x.next_up(), x.next_down(), -x, -x.next_up(), -x.next_down()];
        edges.into_iter().flat_map(near).chain([f32::MAX, f32::MIN, f32::NAN]).collect()
    }

    #[test]
    fn plain_branches_send_every_value_to_the_side_of_the_rule() {
        for rule in rules() {
            let branch = Branch { feature: 0, rule: rule.clone(), left: Child::Leaf(0), right: Child::Leaf(1) };
            let tree = Tree::new(vec![branch], vec![1.0, 2.0]).unwrap();
            let plain = PlainTree::of(&tree, &[], 1.0, 1000).unwrap();
            for x in values() {
                assert_eq!(walk(&plain, &[x]), tree.value(&[x]), "{rule:?} of {x:e}");
            }
        }
    }

    #[test]
    fn thresholds_on_scaled_features_are_converted_exactly() {
        let column = [-5.0, 0.0, 0.5, 3.0, 9.0, 1e4];
        let rows: Vec<f32> = column.into_iter().flat_map(|x| [x, 2.0]).collect();
        let data = Dataset::new(2, rows, vec![0.0; 6], vec![("a".into(), 6)]).unwrap();
        for kind in ScaleKind::ALL.into_iter().filter(|kind| !kind.is_per_query()) {
            let scaler = Scaler::fit(kind, &data);
            for rule in rules() {
                let branch = |feature, left, right| Branch { feature, rule: rule.clone(), left, right };
                let branches =
                    vec![branch(0, Child::Leaf(0), Child::Branch(1)), branch(1, Child::Leaf(1), Child::Leaf(2))];
                let tree = Tree::new(branches, vec![1.0, 2.0, 4.0]).unwrap();
                let plain = PlainTree::of(&tree, scaler.steps(), 1.0, 1000).unwrap();
                for x in values().into_iter().chain(column) {
                    let mut row = [x, 7.0];
                    scaler.apply_rows(&mut row).unwrap();
                    assert_eq!(walk(&plain, &[x, 7.0]), tree.value(&row), "{kind}, {rule:?} of {x:e}");
                }
            }
        }
    }

    #[test]
    fn sets_that_need_too_many_thresholds_are_refused_and_deep_trees_are_not() {
        let rule =
            || Rule::OneOf { categories: vec![0x5555_5555; 4], nan_left: false, fractions: NegativeFractions::Zero };
        let set = |feature, left, right| Branch { feature, rule: rule(), left, right };
        let branches =
            (0..8).map(|i| set(i, if i < 7 { Child::Branch(i + 1) } else { Child::Leaf(8) }, Child::Leaf(i))).collect();
        let tree = Tree::new(branches, vec![0.5; 9]).unwrap();
        let error = PlainTree::of(&tree, &[], 1.0, 10_000).unwrap_err().to_string();
        assert!(error.contains("export to lightgbm"), "{error}");
        let depth = 200_000;
        let rule = |i: usize| Rule::AtMost { threshold: i as f64, missing: WhenMissing::NanLeft };
        let next = |i| if i + 1 < depth { Child::Branch(i + 1) } else { Child::Leaf(depth) };
        let branches = (0..depth).map(|i| Branch { feature: 0, rule: rule(i), left: Child::Leaf(i), right: next(i) });
        let tree = Tree::new(branches.collect(), vec![1.0; depth + 1]).unwrap();
        let plain = PlainTree::of(&tree, &[], 0.5, depth).unwrap();
        assert_eq!((&plain.leaves, plain.depth()), (&vec![0.5; depth + 1], depth));
        let error = PlainTrees { scaling: &[], trees: vec![plain] }.check_depth("solr").unwrap_err();
        assert!(error.to_string().starts_with("solr supports trees with at most 400 levels, not 200000"), "{error}");
    }
}
