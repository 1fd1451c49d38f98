//! Formatting of numbers and names for source code, and flat lists of trees.

use super::plain::PlainTrees;
use crate::data::Scaler;
use crate::data::scale::Input;
use crate::model::Child;
use serde::Serialize;
use std::fmt::Debug;

/// Maximum length of a line of numbers.
const WIDTH: usize = 100;

/// Formats numbers separated by commas in lines, each as the shortest decimal that parses to the same value.
pub(super) fn lines<T: Debug>(values: impl IntoIterator<Item = T>, suffix: &str) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for value in values {
        let number = format!("{value:?}{suffix},");
        if column == 0 || column + 1 + number.len() > WIDTH {
            text.push_str("\n    ");
            column = 4;
        } else {
            text.push(' ');
            column += 1;
        }
        column += number.len();
        text.push_str(&number);
    }
    text.push('\n');
    text
}

/// The shortest f64 that rounds to the same f32.
pub(super) fn short(number: f64) -> f64 {
    let single = number as f32;
    let near: f64 = format!("{single:?}").parse().unwrap_or(number);
    if near as f32 == single { near } else { f64::from(single) }
}

/// Formats words separated by commas in lines that begin with `start`.
pub(super) fn words(words: &[String], start: &str) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for (place, word) in words.iter().enumerate() {
        let word = if place + 1 < words.len() { format!("{word},") } else { word.clone() };
        let length = word.chars().count();
        if column == 0 || column + 1 + length > WIDTH {
            text.push_str(if place == 0 { "" } else { "\n" });
            text.push_str(start);
            column = start.len();
        } else {
            text.push(' ');
            column += 1;
        }
        column += length;
        text.push_str(&word);
    }
    text
}

/// Converts a name to an identifier: letters, digits and `_`, not starting with a digit.
pub(super) fn identifier(name: &str) -> String {
    let start = if name.starts_with(|c: char| c.is_ascii_alphabetic()) { "" } else { "model_" };
    format!("{start}{}", name.replace('-', "_"))
}

/// All trees as lists with one number per branch. A child of 0 or more is a branch, a negative one the leaf `-1 -
/// child`.
#[derive(Debug, Default)]
pub(super) struct FlatTrees {
    /// Root of each tree, as a child.
    pub roots: Vec<i32>,
    pub feature: Vec<i32>,
    pub threshold: Vec<f32>,
    pub nan_left: Vec<u8>,
    pub left: Vec<i32>,
    pub right: Vec<i32>,
    pub leaves: Vec<f64>,
}

impl FlatTrees {
    pub fn of(trees: &PlainTrees<'_>) -> Self {
        let mut flat = FlatTrees::default();
        for tree in &trees.trees {
            let (branches, leaves) = (flat.feature.len() as i32, flat.leaves.len() as i32);
            let child = |child: Child| match child {
                Child::Branch(index) => branches + index as i32,
                Child::Leaf(index) => -1 - (leaves + index as i32),
            };
            flat.roots.push(child(if tree.branches.is_empty() { Child::Leaf(0) } else { Child::Branch(0) }));
            for branch in &tree.branches {
                flat.feature.push(branch.feature as i32);
                flat.threshold.push(branch.threshold);
                flat.nan_left.push(u8::from(branch.nan_left));
                flat.left.push(child(branch.left));
                flat.right.push(child(branch.right));
            }
            flat.leaves.extend(&tree.leaves);
        }
        flat
    }
}

/// The points of the piecewise linear scalings of all features as lists; the points of a feature begin at
/// `starts[feature]`.
#[derive(Debug)]
pub(super) struct FlatPoints {
    pub starts: Vec<i32>,
    pub x: Vec<f32>,
    pub y: Vec<f64>,
}

impl FlatPoints {
    pub fn of(points: &[Vec<(f32, f64)>]) -> Self {
        let mut starts = vec![0];
        points.iter().for_each(|points| starts.push(starts[starts.len() - 1] + points.len() as i32));
        let (x, y) = points.iter().flatten().copied().unzip();
        FlatPoints { starts, x, y }
    }
}

/// The inputs of a model as lists with one number per input.
#[derive(Debug, Serialize)]
pub(super) struct FlatInputs {
    /// 0: the scaled feature; 1: 1 if the feature is missing, otherwise 0; 2: 1 if the feature has this level, otherwise 0.
    pub kind: Vec<i32>,
    pub feature: Vec<i32>,
    /// Level; 0 for other kinds.
    pub level: Vec<f32>,
}

impl FlatInputs {
    /// Lists the inputs; `None` if they are the scaled features.
    pub fn of(scaler: &Scaler) -> Option<Self> {
        if !scaler.widens() {
            return None;
        }
        let mut flat = FlatInputs { kind: Vec::new(), feature: Vec::new(), level: Vec::new() };
        for input in scaler.inputs() {
            let (kind, level) = match input {
                Input::Scaled(_) => (0, 0.0),
                Input::Missing(_) => (1, 0.0),
                Input::Level(_, level) => (2, level),
            };
            flat.kind.push(kind);
            flat.feature.push(input.feature() as i32);
            flat.level.push(level);
        }
        Some(flat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_wrapped_and_numbers_are_exact() {
        assert_eq!(lines([0.1f32, 1e-7, 3.0], "f"), "\n    0.1f, 1e-7f, 3.0f,\n");
        let text = lines((0..100).map(f64::from), "");
        assert!(text.lines().count() > 4 && text.lines().all(|line| line.len() <= WIDTH), "{text}");
        let names: Vec<String> = (0..60).map(|i| format!("f{i}")).collect();
        let text = words(&names, "// ");
        assert!(
            text.lines().all(|line| line.starts_with("// ") && line.len() <= WIDTH) && text.ends_with("f59"),
            "{text}"
        );
        assert_eq!([0.1f32, 1e-20, 3.0].map(|x| short(f64::from(x))), [0.1, 1e-20, 3.0]);
        assert_eq!((identifier("my-net"), identifier("7")), ("my_net".into(), "model_7".into()));
    }
}
