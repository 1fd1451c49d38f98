//! The feature set of a model in Elasticsearch and OpenSearch, if the model uses derived features.
//!
//! Derived features are Lucene expressions of other features, in f64. The variables of an expression are the names of
//! features, so names are converted to identifiers. Raw features come first: the value of the field with the feature's
//! name, and no match for documents without it.

use crate::export::derived::{Formula, Piece, center_and_spread, nested};
use serde_json::{Value, json};
use std::collections::HashSet;

/// The features of a model: raw features, followed by derived ones.
pub(super) struct FeatureSet {
    /// Name of each input of the model, in the order of raw features.
    pub inputs: Vec<String>,
    /// Position of each input in the feature set, from 1.
    pub numbers: Vec<usize>,
    /// The body of `POST _ltr/_featureset/NAME`; `None` if there are no derived features.
    pub body: Option<Value>,
}

impl FeatureSet {
    pub fn of(names: &[String], formula: &Formula<'_>) -> Self {
        let (mut inputs, mut numbers) = (names.to_vec(), (1..=names.len()).collect::<Vec<_>>());
        if let Formula::Affine(_) = formula {
            return FeatureSet { inputs, numbers, body: None };
        }
        let raw = identifiers(names);
        let mut used: HashSet<String> = raw.iter().cloned().collect();
        let mut features: Vec<Value> = raw.iter().zip(names).map(|(name, field)| raw_feature(name, field)).collect();
        for (feature, raw) in raw.into_iter().enumerate() {
            let (suffix, expression) = match formula {
                _ if formula.is_constant(feature) => {
                    inputs[feature] = raw;
                    continue;
                }
                Formula::Affine(_) => continue,
                Formula::SignedLog(affine) => {
                    let (center, spread) = center_and_spread(*affine, feature);
                    let log = format!("({raw} < 0 ? -ln(1 - {raw}) : ln(1 + {raw}))");
                    ("log1p", format!("({log} - {}) / {spread:?}", signed(center)))
                }
                Formula::Lines(points) => ("quantile", lines(&raw, &points[feature])),
            };
            let name = unused(format!("{raw}_{suffix}"), &used);
            features.push(json!({
                "name": name, "params": [], "template_language": "derived_expression", "template": expression
            }));
            numbers[feature] = features.len();
            used.insert(name.clone());
            inputs[feature] = name;
        }
        FeatureSet { inputs, numbers, body: Some(json!({ "featureset": { "features": features } })) }
    }
}

/// The value of a field.
fn raw_feature(name: &str, field: &str) -> Value {
    json!({
        "name": name, "params": [], "template_language": "mustache",
        "template": { "function_score": {
            "query": { "exists": { "field": field } }, "field_value_factor": { "field": field }, "boost_mode": "replace"
        } }
    })
}

/// Converts names to different identifiers.
fn identifiers(names: &[String]) -> Vec<String> {
    let mut used = HashSet::new();
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let convert = |name: &String| {
        let start = if name.starts_with(|c: char| c.is_ascii_alphabetic()) { "" } else { "f_" };
        let name = unused(format!("{start}{}", name.chars().map(letter).collect::<String>()), &used);
        used.insert(name.clone());
        name
    };
    names.iter().map(convert).collect()
}

/// Appends underscores until a name is not used.
fn unused(mut name: String, used: &HashSet<String>) -> String {
    while used.contains(&name) {
        name.push('_');
    }
    name
}

fn lines(x: &str, points: &[(f32, f64)]) -> String {
    let exact = |number: f32| signed(f64::from(number));
    let piece = |Piece { start, y, slope }: Piece| match slope {
        0.0 => signed(y),
        _ => format!("{} + {} * ({x} - {})", signed(y), signed(slope), exact(start)),
    };
    nested(points, &|start, left, right| format!("({x} < {} ? {left} : {right})", exact(start)), &piece)
}

/// Formats a number, in parentheses if it is negative.
fn signed(number: f64) -> String {
    if number.is_sign_negative() { format!("({number:?})") } else { format!("{number:?}") }
}
