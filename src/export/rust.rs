//! `rust`: a Rust source file that scores documents, without dependencies.
//!
//! It has one function, `score(features, scores)`, for row-major features. Sums are f64.

use super::net::Net;
use super::numbers::{FlatInputs, FlatPoints, FlatTrees, lines, words};
use super::plain::PlainTrees;
use super::scaling::{Expression, is_per_query};
use super::{Exported, Request};
use crate::data::Scaler;
use crate::data::scale::{Lines, Statistic, Step};
use crate::error::Result;
use crate::model::{Activation, KernelKind, KernelRanker, Scorer};
use std::fmt::Debug;

pub(super) fn write(request: &Request<'_>) -> Result<Exported> {
    let model = request.model;
    let (scaling, document) = match &model.scorer {
        Scorer::Net(ranker) => {
            let net = Net::of(model, ranker)?.folded_in_double();
            let text = of_net(&net);
            (net.scaling, text)
        }
        Scorer::Trees(forest) => {
            let trees = PlainTrees::of(forest, model.info.scaler.steps())?;
            let text = of_trees(&FlatTrees::of(&trees));
            (trees.scaling, text)
        }
        Scorer::Kernel(ranker) => (model.info.scaler.steps(), of_kernel(ranker)),
    };
    let scaler = &model.info.scaler;
    let document = if scaler.widens() { document.replace("FEATURES", "INPUTS") } else { document };
    let text = [head(request), inputs(scaler), arrays(scaling), document, score(scaling, scaler)];
    Ok(Exported::alone(text.concat()))
}

fn head(request: &Request<'_>) -> String {
    format!(
        "// {}. Written by burnrank {}.\n\n/// Number of features per document:\n{}\npub const FEATURES: usize = {};\n\n",
        request.title(),
        env!("CARGO_PKG_VERSION"),
        words(&request.feature_names, "/// "),
        request.feature_names.len()
    )
}

fn array<T: Debug>(kind: &str, name: &str, values: &[T]) -> String {
    format!("static {name}: [{kind}; {}] = [{}];\n", values.len(), lines(values, ""))
}

/// The arrays of a scaling.
fn arrays(scaling: &[Step]) -> String {
    let of_step = |step: &Step| match step {
        Step::SignedLog | Step::WithinQuery(_) => String::new(),
        Step::Affine(affine) => array("f64", "CENTER", &affine.center) + &array("f64", "SPREAD", &affine.spread) + "\n",
        Step::Lines(_) | Step::Pieces(_) => {
            let flat = FlatPoints::of(&step.lines().map(Lines::points).unwrap_or_default());
            let starts = array("usize", "POINT", &flat.starts);
            starts + &array("f32", "POINT_X", &flat.x) + &array("f64", "POINT_Y", &flat.y) + INTERPOLATE
        }
    };
    scaling.iter().map(of_step).collect()
}

/// The medians, and the lists of inputs.
fn inputs(scaler: &Scaler) -> String {
    let mut text = String::new();
    if !scaler.medians().is_empty() {
        text += &array("f32", "MEDIAN", scaler.medians());
        text += "\nfn imputed(x: f32, i: usize) -> f32 {\n    if x.is_nan() { MEDIAN[i] } else { x }\n}\n\n";
    }
    if let Some(flat) = FlatInputs::of(scaler) {
        text += &format!("const INPUTS: usize = {};\n\n", flat.kind.len());
        text += &array("u8", "KIND", &flat.kind);
        text += &(array("usize", "INPUT", &flat.feature) + &array("f32", "LEVEL", &flat.level) + "\n");
    }
    text
}

/// Linear interpolation between a feature's points.
const INTERPOLATE: &str = "
fn interpolate(feature: usize, x: f32) -> f32 {
    let (first, last) = (POINT[feature], POINT[feature + 1] - 1);
    if x.is_nan() {
        return x;
    }
    let x = x.max(POINT_X[first]).min(POINT_X[last]);
    let at = first + POINT_X[first..=last].partition_point(|point| *point <= x).max(1) - 1;
    if at == last {
        return POINT_Y[at] as f32;
    }
    let width = f64::from(POINT_X[at + 1]) - f64::from(POINT_X[at]);
    (POINT_Y[at] + (f64::from(x) - f64::from(POINT_X[at])) * ((POINT_Y[at + 1] - POINT_Y[at]) / width)) as f32
}

";

fn of_net(net: &Net<'_>) -> String {
    let mut text = String::new();
    let rows = net.rows();
    for (place, layer) in net.layers.iter().enumerate() {
        match &rows {
            Some(rows) if place == 0 => {
                for (name, numbers) in ["ROW", "BINS"].into_iter().zip(rows.places()) {
                    text += &array("i32", name, &numbers);
                }
                text += &array("f64", "TABLE1", &rows.exact_table(&layer.weights, layer.units));
            }
            _ => {
                let weights: Vec<f64> = (0..layer.units).flat_map(|unit| layer.column(unit)).collect();
                text += &array("f64", &format!("WEIGHTS{}", place + 1), &weights);
            }
        }
        text += &array("f64", &format!("BIAS{}", place + 1), &layer.bias);
    }
    if !net.skip.is_empty() {
        let numbers = rows.as_ref().map_or_else(|| net.skip.clone(), |rows| rows.exact_table(&net.skip, 1));
        text += &array("f64", "SKIP", &numbers);
    }
    if rows.is_some() {
        text += ADD_ROWS;
    }
    let function = match net.activation {
        None => "sum",
        Some(Activation::Sigmoid) => "1.0 / (1.0 + (-sum).exp())",
        Some(Activation::Tanh) => "sum.tanh()",
        Some(Activation::Relu) => "sum.max(0.0)",
    };
    text += "\nfn document(x: &[f32; FEATURES]) -> f64 {\n";
    if rows.is_none() {
        text += "    let h0 = x.map(f64::from);\n";
    }
    for (place, layer) in net.layers.iter().enumerate() {
        let (to, units, inputs) = (place + 1, layer.units, layer.inputs);
        let function = if to < net.layers.len() { function } else { "sum" };
        if place == 0 && rows.is_some() {
            text += &format!(
                "    let mut h1 = BIAS1;\n    add_rows(x, &TABLE1, &mut h1);\n    let h1 = h1.map(|sum: f64| {function});\n"
            );
            continue;
        }
        text += &format!(
            "    let mut h{to} = [0.0; {units}];\n    for (unit, value) in h{to}.iter_mut().enumerate() {{\n        let \
             weights = &WEIGHTS{to}[unit * {inputs}..(unit + 1) * {inputs}];\n        let sum: f64 = h{place}.iter().zip(weights)\
             .fold(BIAS{to}[unit], |sum, (x, weight)| sum + x * weight);\n        *value = {function};\n    }}\n"
        );
    }
    let last = net.layers.len();
    let score = match (net.skip.is_empty(), &rows) {
        (true, _) => format!("h{last}[0]"),
        (false, None) => format!("h0.iter().zip(&SKIP).fold(h{last}[0], |sum, (x, weight)| sum + x * weight)"),
        (false, Some(_)) => {
            text += "    let mut linear = [0.0];\n    add_rows(x, &SKIP, &mut linear);\n";
            format!("h{last}[0] + linear[0]")
        }
    };
    text + &format!("    {score}\n}}\n")
}

/// Adds a feature's two rows of a table, those at the ends of its bin.
const ADD_ROWS: &str = "
fn add_rows(x: &[f32; FEATURES], table: &[f64], sums: &mut [f64]) {
    for (i, &position) in x.iter().enumerate() {
        if BINS[i] == 0 || position.is_nan() {
            continue;
        }
        let bin = (position as i32).min(BINS[i] - 1);
        let (part, units) = (f64::from(position - bin as f32), sums.len());
        let rows = &table[(ROW[i] + bin) as usize * units..][..2 * units];
        for (unit, sum) in sums.iter_mut().enumerate() {
            *sum += (1.0 - part) * rows[unit] + part * rows[units + unit];
        }
    }
}
";

fn of_trees(flat: &FlatTrees) -> String {
    let nan_left: Vec<bool> = flat.nan_left.iter().map(|&left| left == 1).collect();
    let arrays = [
        array("i32", "ROOT", &flat.roots),
        array("u32", "FEATURE", &flat.feature),
        array("f32", "THRESHOLD", &flat.threshold),
        array("bool", "NAN_LEFT", &nan_left),
        array("i32", "LEFT", &flat.left),
        array("i32", "RIGHT", &flat.right),
        array("f64", "LEAF", &flat.leaves),
    ];
    arrays.concat()
        + "
fn document(x: &[f32; FEATURES]) -> f64 {
    let mut sum = 0.0;
    for &root in &ROOT {
        let mut at = root;
        while at >= 0 {
            let branch = at as usize;
            let value = x[FEATURE[branch] as usize];
            let left = value <= THRESHOLD[branch] || value.is_nan() && NAN_LEFT[branch];
            at = if left { LEFT[branch] } else { RIGHT[branch] };
        }
        sum += LEAF[(-1 - at) as usize];
    }
    sum
}
"
}

fn of_kernel(ranker: &KernelRanker) -> String {
    let offsets = if ranker.offsets().is_empty() { String::new() } else { array("f32", "OFFSETS", ranker.offsets()) };
    let arrays = array("f32", "POINTS", ranker.points()) + &offsets + &array("f32", "WEIGHTS", ranker.weights());
    let (start, add, value) = match ranker.kernel() {
        KernelKind::Gaussian { gamma } => {
            ("0.0", "(f64::from(*x) - f64::from(*p)).powi(2)", format!("(-{gamma:?} * sum).exp()"))
        }
        KernelKind::Polynomial { degree } => {
            ("f64::from(OFFSETS[point])", "f64::from(*x) * f64::from(*p)", format!("sum.powi({degree})"))
        }
    };
    format!(
        "{arrays}
fn document(x: &[f32; FEATURES]) -> f64 {{
    let mut score = 0.0;
    for (point, weight) in WEIGHTS.iter().enumerate() {{
        let p = &POINTS[point * FEATURES..(point + 1) * FEATURES];
        let sum: f64 = x.iter().zip(p).fold({start}, |sum, (x, p)| sum + {add});
        score += f64::from(*weight) * {value};
    }}
    score
}}
"
    )
}

/// The scaled value of feature `i` after some steps, from its unscaled value `raw`.
fn scaled(steps: &[Step], raw: &str) -> Expression {
    let standard = |value: &str, center: &str, spread: &str| Expression {
        double: format!("(if {spread} > 0.0 {{ ({value} - {center}) / {spread} }} else {{ 0.0 }})"),
        single: format!("if {spread} > 0.0 {{ (({value} - {center}) / {spread}) as f32 }} else {{ 0.0 }}"),
    };
    let raw = Expression { double: format!("f64::from({raw})"), single: raw.to_owned() };
    steps.iter().fold(raw, |Expression { double, single }, step| match step {
        Step::SignedLog => {
            let double = format!("{double}.abs().ln_1p().copysign({double})");
            Expression { single: format!("{double} as f32"), double }
        }
        Step::Affine(_) => standard(&double, "CENTER[i]", "SPREAD[i]"),
        Step::Lines(_) | Step::Pieces(_) => {
            let single = format!("interpolate(i, {single})");
            Expression { double: format!("f64::from({single})"), single }
        }
        Step::WithinQuery(_) => standard(&double, "center[i]", "spread[i]"),
    })
}

/// The public function.
fn score(scaling: &[Step], scaler: &Scaler) -> String {
    let imputes = !scaler.medians().is_empty();
    let raw = |raw: &str| if imputes { format!("imputed({raw}, i)") } else { raw.to_owned() };
    let before: String =
        (0..scaling.len()).map(|place| fit(&scaling[..place], &scaling[place], &raw("row[i]"))).collect();
    let scaled = scaled(scaling, &raw("raw")).single;
    let (widen, x) = if scaler.widens() { (WIDEN, "inputs") } else { ("", "x") };
    let which = if is_per_query(scaling) { "the documents of ONE query" } else { "documents" };
    format!(
        "
/// Scores {which}: `features` has `FEATURES` numbers per document, row-major.
pub fn score(features: &[f32], scores: &mut [f32]) {{
{before}    for (row, score) in features.chunks_exact(FEATURES).zip(scores) {{
        let mut x = [0.0f32; FEATURES];
        for (i, &raw) in row.iter().enumerate() {{
            x[i] = {scaled};
        }}
{widen}        *score = document(&{x}) as f32;
    }}
}}
"
    )
}

/// Computes the inputs of a document from its features.
const WIDEN: &str = "        let mut inputs = [0.0f32; INPUTS];
        for (i, input) in inputs.iter_mut().enumerate() {
            let raw = row[INPUT[i]];
            *input = match KIND[i] {
                0 => x[INPUT[i]],
                1 => f32::from(u8::from(raw.is_nan())),
                _ => f32::from(u8::from(raw == LEVEL[i])),
            };
        }
";

/// Computes centers and spreads of one query's features after the steps `before`, for a step within queries.
fn fit(before: &[Step], step: &Step, raw: &str) -> String {
    let Step::WithinQuery(statistic) = step else { return String::new() };
    let (count, numbers) = match statistic {
        Statistic::Moments => (
            "    let documents = (features.len() / FEATURES) as f64;\n",
            "
        center[i] = column().sum::<f64>() / documents;
        let squares: f64 = column().map(|x| (x - center[i]).powi(2)).sum();
        spread[i] = if high > low { (squares / documents).sqrt() } else { 0.0 };",
        ),
        Statistic::Range => (
            "",
            "
        center[i] = low;
        spread[i] = high - low;",
        ),
    };
    format!(
        "    let (mut center, mut spread) = ([0.0; FEATURES], [0.0; FEATURES]);
{count}    for i in 0..FEATURES {{
        let column = || features.chunks_exact(FEATURES).map(|row| {});
        let (low, high) = (column().fold(f64::INFINITY, f64::min), column().fold(f64::NEG_INFINITY, f64::max));{numbers}
    }}
",
        scaled(before, raw).double
    )
}
