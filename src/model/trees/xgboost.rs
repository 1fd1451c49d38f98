//! Parses XGBoost's JSON format.
//!
//! XGBoost goes left if `x < t` in f32, which is `x <= the float before t`; each branch has a default side for missing
//! values (NaN). The base score is the first tree, and sums are in f32, so scores equal XGBoost's margins to the last bit;
//! except that values of magnitude at most 1e-35 are treated as 0, as in LightGBM.
//!
//! A split on categories sends those in its set right; sides are swapped here. Trees after `best_iteration` are left
//! out, as in `XGBRanker.predict`.

use super::categories::{Names, Sets};
use super::forest::{Forest, Sums};
use super::text::{Complaint, SAVE_AGAIN};
use super::tree::{Branch, Child, NegativeFractions, Rule, Tree, WhenMissing};
use crate::data::check_names;
use crate::error::{Error, Result};
use crate::memory;
use serde::Deserialize;
use std::collections::HashMap;

/// Bytes per 32 categories of a set: as a number, as text, and compiled.
const CATEGORY_WORD: u64 = 32;

/// Bytes per feature: its name and range as text, and the memory limit for reading a text of that length.
const FEATURE: u64 = 200;

#[derive(Deserialize)]
struct SavedModel {
    learner: Learner,
}

#[derive(Deserialize)]
struct Learner {
    gradient_booster: Booster,
    learner_model_param: Parameters,
    #[serde(default)]
    objective: SavedObjective,
    #[serde(default)]
    attributes: Attributes,
    #[serde(default)]
    feature_names: Vec<String>,
}

#[derive(Deserialize, Default)]
struct Attributes {
    best_iteration: Option<String>,
}

#[derive(Deserialize, Default)]
struct SavedObjective {
    name: String,
}

/// Numbers are strings in this part.
#[derive(Deserialize)]
struct Parameters {
    base_score: String,
    num_feature: String,
    #[serde(default)]
    num_class: String,
    #[serde(default)]
    num_target: String,
}

/// gbtree has `model`; dart has `gbtree` and `weight_drop`.
#[derive(Deserialize)]
struct Booster {
    name: String,
    model: Option<SavedTrees>,
    gbtree: Option<Box<Booster>>,
    weight_drop: Option<Vec<f32>>,
}

#[derive(Deserialize)]
struct SavedTrees {
    #[serde(default)]
    trees: Vec<SavedTree>,
    /// First tree of each iteration, followed by the number of trees; older versions have only `num_parallel_tree`.
    #[serde(default)]
    iteration_indptr: Vec<usize>,
    #[serde(default)]
    gbtree_model_param: TreesParameters,
    #[serde(default)]
    cats: Names,
}

#[derive(Deserialize, Default)]
struct TreesParameters {
    #[serde(default)]
    num_parallel_tree: String,
}

impl SavedTrees {
    /// Number of trees up to and including an iteration.
    fn until(&self, iteration: usize) -> usize {
        let parallel = self.gbtree_model_param.num_parallel_tree.parse().unwrap_or(1_usize).max(1);
        let next = iteration.saturating_add(1);
        let until = match self.iteration_indptr.is_empty() {
            true => next.saturating_mul(parallel),
            false => self.iteration_indptr.get(next).copied().unwrap_or(usize::MAX),
        };
        until.min(self.trees.len())
    }
}

/// Lists by node; a node without children is a leaf, whose condition is its value.
#[derive(Deserialize)]
struct SavedTree {
    left_children: Vec<i32>,
    right_children: Vec<i32>,
    split_indices: Vec<usize>,
    split_conditions: Vec<f32>,
    default_left: Vec<Truth>,
    #[serde(default)]
    split_type: Vec<u8>,
    #[serde(default)]
    categories: Vec<u32>,
    #[serde(default)]
    categories_nodes: Vec<usize>,
    #[serde(default)]
    categories_segments: Vec<usize>,
    #[serde(default)]
    categories_sizes: Vec<usize>,
}

/// Older versions write `true`, newer ones 1.
#[derive(Deserialize, Clone, Copy)]
#[serde(untagged)]
enum Truth {
    Word(bool),
    Digit(u8),
}

impl Truth {
    fn holds(self) -> bool {
        match self {
            Truth::Word(holds) => holds,
            Truth::Digit(digit) => digit != 0,
        }
    }
}

/// Parses XGBoost's JSON; `file` is its name in messages.
pub(super) fn parse(file: &str, text: &str) -> Result<Forest> {
    let complaint = Complaint { file };
    memory::ask(8 * text.len() as u64, &format!("the trees of {file}"), "use fewer trees")?;
    let SavedModel { learner } = serde_json::from_str(text).map_err(|error| {
        let remedy = "expected a model that XGBoost saved with save_model('model.json')";
        complaint.about(error.line(), "", format!("not an XGBoost model: {error}"), remedy)
    })?;
    let wrong = |problem: String, remedy: &str| complaint.about(0, "", problem, remedy);
    let parameters = &learner.learner_model_param;
    for (name, value) in [("num_class", &parameters.num_class), ("num_target", &parameters.num_target)] {
        if !["", "0", "1"].contains(&value.as_str()) {
            let remedy = "a ranking model has one score per document: train with a ranking or a regression objective";
            return Err(wrong(format!("{name} is {value}"), remedy));
        }
    }
    let number = |name: &str, value: &str| wrong(format!("bad {name} '{value}'"), SAVE_AGAIN);
    let features: usize = parameters.num_feature.parse().map_err(|_| number("num_feature", &parameters.num_feature))?;
    let base = base_margin(&parameters.base_score, &learner.objective.name);
    let base = base.ok_or_else(|| number("base_score", &parameters.base_score))?;
    let (saved, weights) = trees_of(learner.gradient_booster).map_err(|name| {
        wrong(format!("model of kind {name}"), "only trees are supported: train with gbtree or dart")
    })?;
    if weights.as_ref().is_some_and(|weights| weights.len() != saved.trees.len()) {
        return Err(wrong("the number of values in weight_drop is not the number of trees".into(), SAVE_AGAIN));
    }
    let best = learner.attributes.best_iteration.as_deref();
    let best = best.map(|text| text.parse::<usize>().map_err(|_| number("best_iteration", text))).transpose()?;
    let used = best.map_or(saved.trees.len(), |best| saved.until(best));
    ask_memory(file, &saved.trees[..used], features)?;
    let mut trees = vec![Tree::new(Vec::new(), vec![base])?];
    for (index, saved) in saved.trees[..used].iter().enumerate() {
        let weight = weights.as_ref().map_or(1.0, |weights| weights[index]);
        let tree =
            saved.tree(weight, features).map_err(|problem| wrong(format!("tree {index}: {problem}"), SAVE_AGAIN))?;
        trees.push(tree);
    }
    let forest = Forest::from_trees(features, trees).map_err(|error: Error| wrong(error.to_string(), SAVE_AGAIN))?;
    let mut forest = forest.summed(Sums::Single);
    // Names that are invalid in a model are left out, as for LightGBM.
    if learner.feature_names.len() == features && check_names(&learner.feature_names).is_ok() {
        forest = forest.with_names(&learner.feature_names);
    }
    forest.name_categories(saved.cats.lists());
    if let Some(best) = best.filter(|_| used < saved.trees.len()) {
        forest.note(format!(
            "only the first {used} of {} trees were imported, up to best_iteration {best}, as in XGBRanker.predict; \
             to import all, save the model after set_attr(best_iteration=None)",
            saved.trees.len()
        ));
    }
    Ok(forest)
}

/// Checks the memory that a few large numbers in the file can require.
fn ask_memory(file: &str, trees: &[SavedTree], features: usize) -> Result<()> {
    let words: u64 = trees.iter().map(|tree| tree.sets().words()).sum();
    let of_sets = words.saturating_mul(CATEGORY_WORD);
    memory::ask(of_sets, &format!("the categories of {file}"), "use smaller numbers for categories")?;
    let of_features = FEATURE.saturating_mul(features as u64);
    memory::ask(of_features, &format!("the {features} features of {file}"), "use fewer features")
}

/// The trees and, for dart, their weights; the name of other boosters as error.
fn trees_of(booster: Booster) -> std::result::Result<(SavedTrees, Option<Vec<f32>>), String> {
    match booster {
        Booster { name, model: Some(model), .. } if name == "gbtree" => Ok((model, None)),
        Booster { name, gbtree: Some(inner), weight_drop: Some(weights), .. } if name == "dart" => {
            let (trees, _) = trees_of(*inner)?;
            Ok((trees, Some(weights)))
        }
        Booster { name, .. } => Err(name),
    }
}

/// Converts the base score, such as "5E-1" or "[5E-1]", from the objective's unit to a constant in the sum of trees.
fn base_margin(text: &str, objective: &str) -> Option<f64> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let score: f32 = bare.trim().parse().ok()?;
    let margin = match objective {
        "binary:logistic" | "reg:logistic" | "binary:logitraw" => -(1.0 / score - 1.0).ln(),
        "count:poisson" | "reg:gamma" | "reg:tweedie" | "survival:cox" | "survival:aft" => score.ln(),
        _ => score,
    };
    margin.is_finite().then(|| f64::from(margin))
}

impl SavedTree {
    fn sets(&self) -> Sets<'_> {
        let (segments, sizes) = (&self.categories_segments, &self.categories_sizes);
        Sets { categories: &self.categories, nodes: &self.categories_nodes, segments, sizes }
    }

    fn tree(&self, weight: f32, features: usize) -> std::result::Result<Tree, String> {
        let count = self.left_children.len();
        let lengths =
            [self.right_children.len(), self.split_indices.len(), self.split_conditions.len(), self.default_left.len()];
        if count == 0 || lengths.iter().any(|length| *length != count) {
            return Err("its lists are empty or have different lengths".into());
        }
        // Parents come before their children, so the index of each node is known when it is used.
        let mut places = vec![None; count];
        let (mut order, mut leaves) = (Vec::new(), Vec::new());
        let mut pending = vec![0];
        while let Some(node) = pending.pop() {
            if places[node].is_some() {
                return Err(format!("more than one path leads to node {node}"));
            }
            if self.left_children[node] < 0 {
                places[node] = Some(Child::Leaf(leaves.len()));
                leaves.push(f64::from(self.split_conditions[node] * weight));
                continue;
            }
            places[node] = Some(Child::Branch(order.len()));
            order.push(node);
            for child in [self.right_children[node], self.left_children[node]] {
                let inside = usize::try_from(child).ok().filter(|child| *child < count);
                pending.push(inside.ok_or_else(|| format!("there is no node {child}"))?);
            }
        }
        let sets = self.sets().of_nodes()?;
        let branch = |&node: &usize| self.branch(node, features, &places, &sets);
        let branches: Vec<Branch> = order.iter().map(branch).collect::<std::result::Result<_, String>>()?;
        Tree::checked(branches, leaves)
    }

    fn branch(
        &self,
        node: usize,
        features: usize,
        places: &[Option<Child>],
        sets: &HashMap<usize, Vec<u32>>,
    ) -> std::result::Result<Branch, String> {
        let (feature, below, missing_left) =
            (self.split_indices[node], self.split_conditions[node], self.default_left[node].holds());
        if feature >= features {
            return Err(format!("node {node} splits column {feature} (from 0) of {features} features"));
        }
        let place = |child: i32| {
            let place = usize::try_from(child).ok().and_then(|child| places[child]);
            place.ok_or_else(|| format!("there is no node {child}"))
        };
        let (left, right) = (place(self.left_children[node])?, place(self.right_children[node])?);
        match self.split_type.get(node) {
            None | Some(0) if below.is_finite() => {
                let missing = if missing_left { WhenMissing::NanLeft } else { WhenMissing::NanRight };
                let rule = Rule::AtMost { threshold: f64::from(below.next_down()), missing };
                Ok(Branch { feature, rule, left, right })
            }
            None | Some(0) => Err(format!("the split_condition of node {node} is not finite")),
            Some(1) => {
                let categories = sets.get(&node).ok_or_else(|| format!("node {node} has no set of categories"))?;
                let rule = Rule::OneOf {
                    categories: categories.clone(),
                    nan_left: !missing_left,
                    fractions: NegativeFractions::NoCategory,
                };
                Ok(Branch { feature, rule, left: right, right: left })
            }
            Some(kind) => Err(format!("node {node} has the unknown split_type {kind}")),
        }
    }
}
