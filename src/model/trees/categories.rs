//! Categories of XGBoost's splits, and their names in the training table.
//!
//! Splits refer to categories by number. For a model trained on a pandas table, the number is the index in a list of
//! values, which LightGBM stores in the last line of its text and XGBoost in its JSON.

use super::forest::Forest;
use super::tree::Rule;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

/// Prefix of the line of LightGBM's text with the lists of pandas categories.
const LISTS: &str = "pandas_categorical:";

/// Categories are below this number, so that all are exact in f32.
const CATEGORY_LIMIT: u32 = 1 << 24;

/// The sets of categories of a tree's nodes in XGBoost's format: concatenated, with the start and the length of each.
pub(super) struct Sets<'a> {
    pub categories: &'a [u32],
    pub nodes: &'a [usize],
    pub segments: &'a [usize],
    pub sizes: &'a [usize],
}

impl Sets<'_> {
    /// Upper bound on the number of 32-bit words for all sets.
    pub fn words(&self) -> u64 {
        let largest = |set: &[u32]| set.iter().max().map_or(0, |largest| u64::from(*largest) / 32 + 1);
        (0..self.nodes.len()).filter_map(|index| self.set(index)).map(largest).sum()
    }

    /// The categories of set number `index`.
    fn set(&self, index: usize) -> Option<&[u32]> {
        let (start, size) = (*self.segments.get(index)?, *self.sizes.get(index)?);
        self.categories.get(start..start.checked_add(size)?)
    }

    /// Maps nodes that split on categories to their sets; bit `c % 32` of word `c / 32` is set for category `c`.
    pub fn of_nodes(&self) -> std::result::Result<HashMap<usize, Vec<u32>>, String> {
        let mut sets = HashMap::new();
        for (index, &node) in self.nodes.iter().enumerate() {
            let set = self.set(index).ok_or_else(|| format!("the categories of node {node} are truncated"))?;
            let mut words = Vec::new();
            for &category in set {
                if category >= CATEGORY_LIMIT {
                    return Err(format!("node {node} has category {category}: the largest is {}", CATEGORY_LIMIT - 1));
                }
                let word = category as usize / 32;
                if words.len() <= word {
                    words.resize(word + 1, 0_u32);
                }
                words[word] |= 1 << (category % 32);
            }
            sets.insert(node, words);
        }
        Ok(sets)
    }
}

/// The categories of a table in XGBoost's format, by feature.
#[derive(Deserialize, Default)]
pub(super) struct Names {
    #[serde(default)]
    enc: Vec<Encoding>,
}

/// Numbers, or concatenated texts with the offset of each.
#[derive(Deserialize)]
struct Encoding {
    #[serde(default)]
    offsets: Vec<usize>,
    #[serde(default)]
    values: Vec<Value>,
}

impl Names {
    /// The list of values of each feature that has one.
    pub fn lists(&self) -> Vec<Vec<Value>> {
        self.enc.iter().filter(|encoding| !encoding.values.is_empty()).map(Encoding::list).collect()
    }
}

impl Encoding {
    fn list(&self) -> Vec<Value> {
        if self.offsets.is_empty() {
            return self.values.clone();
        }
        let bytes: Vec<u8> =
            self.values.iter().filter_map(Value::as_i64).map(|byte| byte.rem_euclid(256) as u8).collect();
        let text = |ends: &[usize]| String::from_utf8_lossy(bytes.get(ends[0]..ends[1]).unwrap_or_default()).into();
        self.offsets.windows(2).map(text).collect()
    }
}

impl Forest {
    /// Stores the lists of a table's categories where LightGBM does.
    pub(super) fn name_categories(&mut self, lists: Vec<Vec<Value>>) {
        if !lists.is_empty() {
            self.tail += &format!("\n{LISTS}{}\n", Value::from(lists));
        }
    }

    /// The features with categories, and the category names of each, if any name is not simply the category's number.
    pub(super) fn coded_features(&self) -> Option<(Vec<usize>, Vec<Vec<Value>>)> {
        let line = self.tail.lines().rev().find_map(|line| line.strip_prefix(LISTS))?;
        let lists: Vec<Vec<Value>> = serde_json::from_str(line).ok()?;
        let is_number = |(place, value): (usize, &Value)| value.as_f64() == Some(place as f64);
        if lists.iter().all(|list| list.iter().enumerate().all(is_number)) {
            return None;
        }
        Some((self.features_where(|rule| matches!(rule, Rule::OneOf { .. })), lists))
    }
}
