//! The features of a model in Solr: their definitions and normalisers.
//!
//! Scalings by logarithms and quantiles are function queries. The score of a function query is 0 if its value is
//! negative, so a quantile's y is computed as y + 2 and normalised back, and a scaled logarithm is the difference of two
//! features: its positive and its negative part. Solr's numbers are f32, and its `log` is of base 10.

use crate::data::scale::{Affine, Statistic};
use crate::export::derived::{Formula, Piece, center_and_spread, nested};
use serde_json::{Value, json};

const NORM: &str = "org.apache.solr.ltr.norm";
const FEATURE: &str = "org.apache.solr.ltr.feature";

/// Makes the values of [`Formula::Lines`], between -1.74 and 1.74, positive.
const SHIFT: f64 = 2.0;

/// Below this absolute value, ln(1 + t) is t - t^2 / 2 + t^3 / 3, because 1 + t would lose digits.
const SMALL: f64 = 0.01;

/// A feature of a model.
pub(super) struct Input {
    pub name: String,
    /// Number of the raw feature.
    pub feature: usize,
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
    pub fn raw(feature: usize, name: &str) -> Self {
        Input { name: name.to_owned(), feature, sign: 1.0, definition: Definition::field(name), norm: None }
    }
}

/// The features of a scaled net, in order.
pub(super) fn inputs(names: &[String], formula: &Formula<'_>) -> Vec<Input> {
    names.iter().enumerate().flat_map(|(feature, name)| of_feature(feature, name, formula)).collect()
}

fn of_feature(feature: usize, name: &str, formula: &Formula<'_>) -> Vec<Input> {
    let raw = Input::raw(feature, name);
    let with = |suffix: &str, function: String, sign: f64, norm| Input {
        name: format!("{name}_{suffix}"),
        feature,
        sign,
        definition: Definition::function(&function),
        norm,
    };
    match formula {
        _ if formula.is_constant(feature) => vec![Input { sign: 0.0, ..raw }],
        Formula::Affine(affine) => vec![Input { norm: affine.map(|affine| normalizer(affine, feature)), ..raw }],
        Formula::SignedLog(affine) => {
            let (center, spread) = center_and_spread(*affine, feature);
            let log = signed_log(&field(name), center);
            let part = |factor: f64| format!("max(product({},{log}),0)", single(factor / spread));
            vec![with("log1p", part(1.0), 1.0, None), with("log1p_negative", part(-1.0), -1.0, None)]
        }
        Formula::Lines(points) => {
            vec![with("quantile", lines(&field(name), &points[feature]), 1.0, Some(standard(SHIFT, 1.0)))]
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
