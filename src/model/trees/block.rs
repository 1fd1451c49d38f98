//! Parses one tree of LightGBM's text format.

use super::text::{Complaint, Numbered, SAVE_AGAIN};
use super::tree::{Branch, Child, NegativeFractions, Rule, Tree, WhenMissing};
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::str::FromStr;

/// Bits of a branch's `decision_type`.
const CATEGORIES: u8 = 1;
const MISSING_LEFT: u8 = 2;

/// Values of `decision_type >> 2`: how missing values are handled.
const NOTHING_MISSING: u8 = 0;
const ZERO_MISSING: u8 = 1;
const NAN_MISSING: u8 = 2;

/// Value of `decision_type >> 2` that LightGBM never writes: a set of XGBoost, without values between -1 and 0.
const SET_OF_XGBOOST: u8 = 3;

/// The lines `name=value` of a header or a tree.
pub(super) struct Fields<'a> {
    complaint: Complaint<'a>,
    /// Number of the line before them.
    line: usize,
    values: HashMap<&'a str, Numbered<'a>>,
}

impl<'a> Fields<'a> {
    pub fn of(complaint: Complaint<'a>, line: usize, lines: &[Numbered<'a>]) -> Result<Self> {
        let mut values = HashMap::new();
        for &(number, text) in lines.iter().filter(|(_, text)| !text.is_empty()) {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            if values.insert(name, (number, value)).is_some() {
                return Err(complaint.about(number, name, "duplicate line", SAVE_AGAIN));
            }
        }
        Ok(Fields { complaint, line, values })
    }

    /// The value of a line and its number.
    pub fn get(&self, name: &str) -> Option<Numbered<'a>> {
        self.values.get(name).copied()
    }

    /// The value of a required line.
    pub fn text(&self, name: &str) -> Result<Numbered<'a>> {
        let missing = || self.complaint.about(self.line, "", format!("no line '{name}=' follows"), SAVE_AGAIN);
        self.get(name).ok_or_else(missing)
    }

    fn number<T: FromStr>(&self, name: &str) -> Result<T> {
        let (line, value) = self.text(name)?;
        value.parse().map_err(|_| self.complaint.about(line, value, format!("bad {name}"), SAVE_AGAIN))
    }

    /// Parses exactly `count` numbers; allocates only for numbers that exist.
    fn numbers<T: FromStr>(&self, name: &str, count: usize) -> Result<Vec<T>> {
        let (line, value) = self.text(name)?;
        let mut numbers = Vec::new();
        for word in value.split_whitespace() {
            let wrong = |_| self.complaint.about(line, word, format!("bad number in {name}"), SAVE_AGAIN);
            numbers.push(word.parse().map_err(wrong)?);
        }
        if numbers.len() != count {
            let problem = format!("{name} has {} values, not {count}", numbers.len());
            return Err(self.complaint.about(line, "", problem, SAVE_AGAIN));
        }
        Ok(numbers)
    }

    /// The error for a problem in the line of this name.
    fn wrong(&self, name: &str, problem: impl Into<String>) -> Error {
        let line = self.get(name).map_or(self.line, |(line, _)| line);
        self.complaint.about(line, "", problem, SAVE_AGAIN)
    }
}

/// Parses a tree whose first line has number `line`.
pub(super) fn parse(complaint: Complaint<'_>, line: usize, lines: &[Numbered<'_>], features: usize) -> Result<Tree> {
    let fields = Fields::of(complaint, line, lines)?;
    if let Some((line, value)) = fields.get("is_linear").filter(|(_, value)| *value != "0") {
        let remedy = "train without linear_tree: leaves with linear models are not supported";
        return Err(complaint.about(line, value, "is_linear must be 0, not", remedy));
    }
    let leaves: usize = fields.number("num_leaves")?;
    if leaves == 0 {
        return Err(fields.wrong("num_leaves", "the tree has no leaves"));
    }
    let values: Vec<f64> = fields.numbers("leaf_value", leaves)?;
    if let Some(leaf) = values.iter().position(|value| !value.is_finite()) {
        return Err(fields.wrong("leaf_value", format!("the value of leaf {leaf} is not finite")));
    }
    let branches = if leaves == 1 { Vec::new() } else { branches(&fields, leaves - 1, features)? };
    Tree::checked(branches, values).map_err(|problem| fields.wrong("left_child", problem))
}

fn branches(fields: &Fields<'_>, count: usize, features: usize) -> Result<Vec<Branch>> {
    let columns: Vec<usize> = fields.numbers("split_feature", count)?;
    if let Some(column) = columns.iter().find(|column| **column >= features) {
        return Err(fields.wrong("split_feature", format!("column {column} (from 0) of {features} features")));
    }
    let thresholds: Vec<f64> = fields.numbers("threshold", count)?;
    let kinds = match fields.get("decision_type") {
        Some(_) => fields.numbers("decision_type", count)?,
        None => vec![0; count],
    };
    let left: Vec<i32> = fields.numbers("left_child", count)?;
    let right: Vec<i32> = fields.numbers("right_child", count)?;
    let sets = Sets::of(fields)?;
    let mut branches = Vec::with_capacity(count);
    for index in 0..count {
        branches.push(Branch {
            feature: columns[index],
            rule: rule(fields, &sets, kinds[index], thresholds[index])?,
            left: child(left[index]),
            right: child(right[index]),
        });
    }
    Ok(branches)
}

/// Negative indices are leaves, counted down from -1.
fn child(index: i32) -> Child {
    if index < 0 { Child::Leaf(!index as usize) } else { Child::Branch(index as usize) }
}

fn rule(fields: &Fields<'_>, sets: &Sets, kind: u8, threshold: f64) -> Result<Rule> {
    if kind & CATEGORIES != 0 && kind < 16 {
        let inside = threshold.fract() == 0.0 && threshold >= 0.0 && threshold < sets.count() as f64;
        let set = inside.then(|| sets.words(threshold as usize));
        let problem = || format!("set of categories {threshold} (from 0) of {}", sets.count());
        // LightGBM never sets this bit for categories and ignores it: NaN goes right.
        let nan_left = kind & MISSING_LEFT != 0;
        let fractions = match kind >> 2 {
            SET_OF_XGBOOST => NegativeFractions::NoCategory,
            _ => NegativeFractions::Zero,
        };
        let rule = |categories| Rule::OneOf { categories, nan_left, fractions };
        return set.map(rule).ok_or_else(|| fields.wrong("threshold", problem()));
    }
    let left = kind & MISSING_LEFT != 0;
    let missing = match (kind >> 2, left) {
        (NOTHING_MISSING, _) => WhenMissing::NanIsZero,
        (ZERO_MISSING, true) => WhenMissing::ZeroLeft,
        (ZERO_MISSING, false) => WhenMissing::ZeroRight,
        (NAN_MISSING, true) => WhenMissing::NanLeft,
        (NAN_MISSING, false) => WhenMissing::NanRight,
        _ => return Err(fields.wrong("decision_type", format!("unknown decision_type {kind}"))),
    };
    if threshold.is_nan() {
        return Err(fields.wrong("threshold", "a threshold is not a number"));
    }
    Ok(Rule::AtMost { threshold, missing })
}

/// The `decision_type` of a rule.
pub(super) fn decision_type(rule: &Rule) -> u8 {
    match rule {
        Rule::OneOf { nan_left, fractions, .. } => {
            let side = if *nan_left { MISSING_LEFT } else { 0 };
            let set = if *fractions == NegativeFractions::NoCategory { SET_OF_XGBOOST << 2 } else { 0 };
            CATEGORIES | side | set
        }
        Rule::AtMost { missing, .. } => match missing {
            WhenMissing::NanIsZero => NOTHING_MISSING << 2,
            WhenMissing::ZeroLeft => ZERO_MISSING << 2 | MISSING_LEFT,
            WhenMissing::ZeroRight => ZERO_MISSING << 2,
            WhenMissing::NanLeft => NAN_MISSING << 2 | MISSING_LEFT,
            WhenMissing::NanRight => NAN_MISSING << 2,
        },
    }
}

/// The sets of categories of a tree's branches.
struct Sets {
    bounds: Vec<usize>,
    words: Vec<u32>,
}

impl Sets {
    fn of(fields: &Fields<'_>) -> Result<Self> {
        let count: usize = fields.number("num_cat")?;
        if count == 0 {
            return Ok(Sets { bounds: vec![0], words: Vec::new() });
        }
        let bounds: Vec<usize> = fields.numbers("cat_boundaries", count.saturating_add(1))?;
        if bounds[0] != 0 || !bounds.is_sorted() {
            return Err(fields.wrong("cat_boundaries", "cat_boundaries do not increase from 0"));
        }
        let words = fields.numbers("cat_threshold", bounds[count])?;
        Ok(Sets { bounds, words })
    }

    fn count(&self) -> usize {
        self.bounds.len() - 1
    }

    fn words(&self, index: usize) -> Vec<u32> {
        self.words[self.bounds[index]..self.bounds[index + 1]].to_vec()
    }
}
