//! Writes forests in LightGBM's text format.

use super::block::decision_type;
use super::forest::{Forest, Sums};
use super::text::{END, FIRST, SIZES, TREE};
use super::tree::{Child, Rule, Tree};
use crate::data::check_names;
use crate::error::{Error, Result};
use std::fmt::{Display, Write};

/// Prefix of the line with feature names.
const NAMES: &str = "feature_names=";

/// The line before the feature importances, which end with an empty line.
const IMPORTANCES: &str = "feature_importances:";

impl Forest {
    /// Creates a forest from trees over the given number of features.
    ///
    /// # Errors
    /// If `features` is 0, or a tree uses a column beyond them.
    pub fn from_trees(features: usize, trees: Vec<Tree>) -> Result<Self> {
        if features == 0 || features > u32::MAX as usize / 2 {
            return Err(Error::Config(format!("trees over {features} features: expected at least one")));
        }
        let mut used = vec![false; features];
        for branch in trees.iter().flat_map(|tree| tree.branches()) {
            let Some(used) = used.get_mut(branch.feature) else {
                let column = branch.feature;
                return Err(Error::Data(format!("a tree uses column {column} (from 0) of {features}")));
            };
            *used = true;
        }
        let names = spaced((0..features).map(|column| format!("Column_{column}")));
        let ranges = spaced(used.iter().map(|used| if *used { "[-inf:inf]" } else { "none" }));
        let head = format!(
            "{FIRST}\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx={}\n\
             feature_names={names}\nfeature_infos={ranges}\n",
            features - 1
        );
        let mut forest = Forest::start(features, Sums::Double, head);
        for tree in trees {
            let block = block(&tree);
            forest.add(tree, block);
        }
        forest.end(format!("\n{IMPORTANCES}\n"));
        forest.changed = true;
        Ok(forest)
    }

    /// The forest in LightGBM's text format; the original text if it was read and not changed.
    pub fn to_text(&self) -> String {
        let blocks: Vec<String> =
            self.blocks.iter().enumerate().map(|(index, block)| format!("{TREE}{index}\n{block}")).collect();
        let sizes = spaced(blocks.iter().map(String::len));
        let mut text = format!("{}{SIZES}{sizes}\n\n", self.head);
        text.extend(blocks);
        text.push_str(END);
        text.push('\n');
        if self.changed {
            text.push_str(&self.updated_tail())
        } else {
            text.push_str(&self.tail)
        }
        text
    }

    /// The feature names, or none if they are LightGBM's defaults or invalid in a model.
    pub(super) fn given_names(&self) -> Vec<String> {
        let names: Vec<String> = self.names().map(str::to_owned).collect();
        // LightGBM's defaults count columns from 0, whatever the indices of the data.
        let are_defaults = names.iter().all(|name| name.starts_with("Column_"));
        if are_defaults || names.len() != self.n_features() || check_names(&names).is_err() {
            Vec::new()
        } else {
            names
        }
    }

    /// Renames the features; names must not contain spaces.
    pub(crate) fn with_names(&self, names: &[String]) -> Forest {
        let mut forest = self.clone();
        if self.names().eq(names) {
            return forest;
        }
        let line = |line: &str| match line.starts_with(NAMES) {
            true => format!("{NAMES}{}\n", names.join(" ")),
            false => format!("{line}\n"),
        };
        forest.head = self.head.lines().map(line).collect();
        // The importances contain feature names too.
        forest.changed = true;
        forest
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.head.lines().find_map(|line| line.strip_prefix(NAMES)).unwrap_or_default();
        names.split(' ').filter(|name| !name.is_empty())
    }

    /// The tail with the importances of the current trees.
    fn updated_tail(&self) -> String {
        let mut text = String::with_capacity(self.tail.len());
        let mut skipping = false;
        for line in self.tail.lines() {
            skipping &= !line.is_empty();
            if !skipping {
                text.push_str(line);
                text.push('\n');
            }
            if line == IMPORTANCES {
                skipping = true;
                text.push_str(&self.importances());
            }
        }
        text
    }

    /// The number of branches of each feature, in descending order.
    fn importances(&self) -> String {
        let mut counts = vec![0_usize; self.n_features()];
        for branch in self.trees().iter().flat_map(|tree| tree.branches()) {
            counts[branch.feature] += 1;
        }
        let mut named: Vec<(usize, &str)> =
            counts.into_iter().zip(self.names()).filter(|(count, _)| *count > 0).collect();
        named.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        named.iter().map(|(count, name)| format!("{name}={count}\n")).collect()
    }
}

/// A tree's block without its first line; statistics that do not affect scores are 0.
fn block(tree: &Tree) -> String {
    let branches = tree.branches();
    let (mut bounds, mut words) = (vec![0], Vec::new());
    let mut thresholds = Vec::with_capacity(branches.len());
    for branch in branches {
        thresholds.push(match &branch.rule {
            Rule::AtMost { threshold, .. } => *threshold,
            Rule::OneOf { categories, .. } => {
                words.extend_from_slice(categories);
                bounds.push(words.len());
                (bounds.len() - 2) as f64
            }
        });
    }
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}={value}");
    };
    let zeros = |count: usize| spaced(std::iter::repeat_n(0, count));
    line("num_leaves", tree.leaves().len().to_string());
    line("num_cat", (bounds.len() - 1).to_string());
    line("split_feature", spaced(branches.iter().map(|branch| branch.feature)));
    line("split_gain", zeros(branches.len()));
    line("threshold", spaced(thresholds.iter().map(|threshold| exact(*threshold))));
    line("decision_type", spaced(branches.iter().map(|branch| decision_type(&branch.rule))));
    line("left_child", spaced(branches.iter().map(|branch| index(branch.left))));
    line("right_child", spaced(branches.iter().map(|branch| index(branch.right))));
    line("leaf_value", spaced(tree.leaves().iter().map(|value| exact(*value))));
    line("leaf_weight", zeros(tree.leaves().len()));
    line("leaf_count", zeros(tree.leaves().len()));
    for name in ["internal_value", "internal_weight", "internal_count"] {
        line(name, zeros(branches.len()));
    }
    if bounds.len() > 1 {
        line("cat_boundaries", spaced(bounds));
        line("cat_threshold", spaced(words));
    }
    line("is_linear", "0".into());
    line("shrinkage", "1".into());
    text + "\n\n"
}

/// The shortest decimal number that parses to the same value.
fn exact(value: f64) -> String {
    format!("{value:?}")
}

/// Leaves have negative indices, counted down from -1.
fn index(child: Child) -> i64 {
    match child {
        Child::Branch(index) => index as i64,
        Child::Leaf(index) => !(index as i64),
    }
}

fn spaced(values: impl IntoIterator<Item = impl Display>) -> String {
    let mut text = String::new();
    for value in values {
        if !text.is_empty() {
            text.push(' ');
        }
        let _ = write!(text, "{value}");
    }
    text
}
