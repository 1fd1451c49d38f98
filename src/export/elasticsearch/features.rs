//! The feature set of a model in Elasticsearch and OpenSearch, if the model uses derived features.
//!
//! Derived features are Lucene expressions of other features, in f64. The variables of an expression are the names of
//! features, so names are converted to identifiers. Raw features come first: the value of the field with the feature's
//! name; for documents without it the median if the model replaces missing values, otherwise no match.

use crate::data::scale::{Input, Inputs};
use crate::export::derived::{Formula, Piece, center_and_spread, nested};
use crate::export::numbers::short;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The features of a model: raw features, followed by derived ones.
pub(super) struct FeatureSet {
    /// The inputs of the model, in order.
    pub inputs: Vec<SetInput>,
    /// The body of `POST _ltr/_featureset/NAME`; `None` if the inputs are the raw features.
    pub body: Option<Value>,
}

/// An input of a model.
pub(super) struct SetInput {
    pub name: String,
    /// Position in the feature set, from 1.
    pub number: usize,
    /// The feature, if the input is a scaled one.
    pub scaled: Option<usize>,
}

impl FeatureSet {
    pub fn of(names: &[String], formula: &Formula<'_>, parts: &Inputs) -> Self {
        let raw_input =
            |(feature, name): (usize, String)| SetInput { name, number: feature + 1, scaled: Some(feature) };
        if matches!(formula, Formula::Affine(_)) && parts.is_empty() {
            return FeatureSet { inputs: names.iter().cloned().enumerate().map(raw_input).collect(), body: None };
        }
        let raw = identifiers(names);
        let mut used: HashSet<String> = raw.iter().cloned().collect();
        let mut features: Vec<Value> = Vec::new();
        for (feature, name) in raw.iter().enumerate() {
            features.push(query(name, raw_feature(&names[feature], parts.medians.get(feature).copied())));
        }
        let mut inputs = Vec::new();
        for input in parts.list(names.len()) {
            let (feature, name) = (input.feature(), &raw[input.feature()]);
            let scaled = matches!(input, Input::Scaled(_)).then_some(feature);
            let (suffix, definition) = match (input, formula) {
                (Input::Missing(_), _) => {
                    let exists = json!({ "exists": { "field": names[feature] } });
                    ("missing".to_owned(), one_if(json!({ "bool": { "must_not": exists } })))
                }
                (Input::Level(_, level), _) => {
                    (format!("is_{level}"), one_if(json!({ "term": { (names[feature].clone()): level } })))
                }
                (Input::Scaled(_), Formula::SignedLog(affine)) if !formula.is_constant(feature) => {
                    let (center, spread) = center_and_spread(*affine, feature);
                    let log = format!("({name} < 0 ? -ln(1 - {name}) : ln(1 + {name}))");
                    ("log1p".to_owned(), Value::String(format!("({log} - {}) / {spread:?}", signed(center))))
                }
                (Input::Scaled(_), Formula::Lines(points)) if !formula.is_constant(feature) => {
                    ("quantile".to_owned(), Value::String(lines(name, &points[feature])))
                }
                (Input::Scaled(_), _) => {
                    inputs.push(raw_input((feature, name.clone())));
                    continue;
                }
            };
            let name = unused(format!("{name}_{suffix}"), &used);
            used.insert(name.clone());
            features.push(if definition.is_string() {
                expression(&name, definition)
            } else {
                query(&name, definition)
            });
            inputs.push(SetInput { name, number: features.len(), scaled });
        }
        FeatureSet { inputs, body: Some(json!({ "featureset": { "features": features } })) }
    }
}

/// A feature that is the score of a query.
fn query(name: &str, template: Value) -> Value {
    json!({ "name": name, "params": [], "template_language": "mustache", "template": template })
}

/// A feature that is a Lucene expression.
fn expression(name: &str, template: Value) -> Value {
    json!({ "name": name, "params": [], "template_language": "derived_expression", "template": template })
}

/// The value of a field; for documents without the field no match, or the median.
fn raw_feature(field: &str, median: Option<f32>) -> Value {
    let (query, value) = match median {
        Some(median) => (json!({ "match_all": {} }), json!({ "field": field, "missing": short(f64::from(median)) })),
        None => (json!({ "exists": { "field": field } }), json!({ "field": field })),
    };
    json!({ "function_score": { "query": query, "field_value_factor": value, "boost_mode": "replace" } })
}

/// 1 for documents that match a filter.
fn one_if(filter: Value) -> Value {
    json!({ "constant_score": { "filter": filter, "boost": 1.0 } })
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
