//! The features of a model in Solr: their definitions and normalisers.
//!
//! Scalings by logarithms and quantiles are function queries. The score of a function query is 0 if its value is
//! negative, so a quantile's y is computed as y + 2 and normalised back, and a scaled logarithm is the difference of two
//! features: its positive and its negative part. Solr's numbers are f32, and its `log` is of base 10. Documents without a
//! value in a field have a missing value.

use crate::data::scale::{Affine, Input as ModelInput, Inputs, Statistic};
use crate::export::derived::{Formula, Piece, center_and_spread, nested};
use serde_json::{Value, json};
use std::collections::HashSet;

const NORM: &str = "org.apache.solr.ltr.norm";
const FEATURE: &str = "org.apache.solr.ltr.feature";

/// Makes the values of [`Formula::Lines`], between -1.74 and 1.74, positive.
const SHIFT: f64 = 2.0;

/// Below this absolute value, ln(1 + t) is t - t^2 / 2 + t^3 / 3, because 1 + t would lose digits.
const SMALL: f64 = 0.01;

/// A feature of a model.
pub(super) struct Input {
    pub name: String,
    /// Number of the input of the model's first layer.
    pub input: usize,
    /// Factor of the feature's weights: 1, -1, or 0 for constant features.
    pub sign: f64,
    /// The class and parameters of the feature.
    pub definition: Definition,
    pub norm: Option<Value>,
}

/// The class of a feature and its parameters.
pub(super) struct Definition {
    class: &'static str,
    params: Value,
}

impl Definition {
    /// The value of a field.
    pub fn field(name: &str) -> Self {
        Definition { class: "FieldValueFeature", params: json!({ "field": name }) }
    }

    /// The value of a field, or NaN for documents without a value.
    pub fn field_or_nan(name: &str) -> Self {
        Definition { class: "FieldValueFeature", params: json!({ "field": name, "defaultValue": "NaN" }) }
    }

    /// The value of a field, or a number for documents without a value.
    fn field_or(name: &str, number: f32) -> Self {
        Definition {
            class: "FieldValueFeature",
            params: json!({ "field": name, "defaultValue": format!("{number:?}") }),
        }
    }

    fn function(text: &str) -> Self {
        Definition { class: "SolrFeature", params: json!({ "q": format!("{{!func}}{text}") }) }
    }

    /// The feature for the feature store.
    pub fn json(&self, store: &str, name: &str) -> Value {
        json!({ "store": store, "name": name, "class": format!("{FEATURE}.{}", self.class), "params": self.params })
    }
}

impl Input {
    /// A feature without scaling.
    pub fn raw(input: usize, name: &str) -> Self {
        Input { name: name.to_owned(), input, sign: 1.0, definition: Definition::field(name), norm: None }
    }
}

/// The features of a net, in the order of its inputs.
pub(super) fn inputs(names: &[String], formula: &Formula<'_>, parts: &Inputs) -> Vec<Input> {
    let list = parts.list(names.len()).into_iter().enumerate();
    let features = list.flat_map(|(input, kind)| match kind {
        ModelInput::Scaled(feature) => {
            scaled(input, feature, &names[feature], formula, parts.medians.get(feature).copied())
        }
        ModelInput::Missing(feature) => {
            let name = &names[feature];
            vec![function(input, format!("{name}_missing"), &format!("if(exists({}),0,1)", field(name)))]
        }
        ModelInput::Level(feature, level) => {
            let (name, field) = (format!("{}_is_{level}", names[feature]), field(&names[feature]));
            vec![function(input, name, &format!("if(and(exists({field}),eq({field},{})),1,0)", exact(level)))]
        }
    });
    let (mut features, mut used): (Vec<Input>, _) = (features.collect(), HashSet::new());
    for input in &mut features {
        // A raw feature may have the name of a function of another one.
        while !used.insert(input.name.clone()) {
            input.name.push('_');
        }
    }
    features
}

/// A feature that is a function query.
fn function(input: usize, name: String, text: &str) -> Input {
    Input { name, input, sign: 1.0, definition: Definition::function(text), norm: None }
}

/// The features whose sum is a scaled feature; a missing value is replaced by the median.
fn scaled(input: usize, feature: usize, name: &str, formula: &Formula<'_>, median: Option<f32>) -> Vec<Input> {
    let definition = median.map_or_else(|| Definition::field(name), |median| Definition::field_or(name, median));
    let raw = Input { definition, ..Input::raw(input, name) };
    let value = || match median {
        Some(median) => format!("def({},{})", field(name), exact(median)),
        None => field(name),
    };
    match formula {
        _ if formula.is_constant(feature) => vec![Input { sign: 0.0, ..raw }],
        Formula::Affine(affine) => vec![Input { norm: affine.map(|affine| normalizer(affine, feature)), ..raw }],
        Formula::SignedLog(affine) => {
            let (center, spread) = center_and_spread(*affine, feature);
            let log = signed_log(&value(), center);
            let part = |factor: f64| format!("max(product({},{log}),0)", single(factor / spread));
            let negative = function(input, format!("{name}_log1p_negative"), &part(-1.0));
            vec![function(input, format!("{name}_log1p"), &part(1.0)), Input { sign: -1.0, ..negative }]
        }
        Formula::Lines(points) => {
            let feature = function(input, format!("{name}_quantile"), &lines(&value(), &points[feature]));
            vec![Input { norm: Some(standard(SHIFT, 1.0)), ..feature }]
        }
    }
}

/// A field in a function query.
fn field(name: &str) -> String {
    format!("field(\"{}\")", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// sign(x) ln(1 + abs(x)) - center.
fn signed_log(x: &str, center: f64) -> String {
    let mirrored = log(&format!("sub(0,{x})"), -center);
    format!("if(lt({x},0),sub(0,{mirrored}),{})", log(x, center))
}

/// ln(1 + x) - center of an expression that is not negative: ln(1 + t) with t = (x - (e^center - 1)) / e^center, which is
/// exact for x close to e^center - 1.
fn log(x: &str, center: f64) -> String {
    let (t, ratio) = match center {
        0.0 => (x.to_owned(), format!("sum(1,{x})")),
        _ => {
            let scale = single(center.exp());
            (format!("div(sub({x},{}),{scale})", single(center.exp_m1())), format!("div(sum(1,{x}),{scale})"))
        }
    };
    let third = single(1.0 / 3.0);
    let small = format!("product({t},sub(1,product({t},sub(0.5,product({t},{third})))))");
    format!("if(lt(abs({t}),{SMALL:?}),{small},product({},log({ratio})))", single(std::f64::consts::LN_10))
}

/// y + [`SHIFT`] of a piecewise linear map.
fn lines(x: &str, points: &[(f32, f64)]) -> String {
    let piece = |Piece { start, y, slope }: Piece| {
        let y = single(y + SHIFT);
        if slope == 0.0 { y } else { format!("sum({y},product({},sub({x},{})))", single(slope), exact(start)) }
    };
    // Solr compares in f64.
    nested(points, &|start, left, right| format!("if(lt({x},{}),{left},{right})", exact(start)), &piece)
}

/// A number that Solr rounds to f32.
fn single(number: f64) -> String {
    format!("{:?}", number as f32)
}

/// An f32 as an exact f64.
fn exact(number: f32) -> String {
    format!("{:?}", f64::from(number))
}

/// The normaliser of a feature that is not constant.
fn normalizer(affine: &Affine, feature: usize) -> Value {
    let (center, spread) = center_and_spread(Some(affine), feature);
    match affine.statistic {
        Statistic::Range => json!({
            "class": format!("{NORM}.MinMaxNormalizer"),
            "params": { "min": single(center), "max": single(center + spread) }
        }),
        Statistic::Moments => standard(center, spread),
    }
}

/// (x - average) / deviation.
fn standard(average: f64, deviation: f64) -> Value {
    json!({
        "class": format!("{NORM}.StandardNormalizer"),
        "params": { "avg": single(average), "std": single(deviation) }
    })
}
