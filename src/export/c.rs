//! `c`: a C99 source file that scores documents, with no dependency except the C library's mathematics.
//!
//! It has one function, `NAME_score(features, documents, scores)`, for row-major features. Sums are f64.

use super::net::Net;
use super::numbers::{FlatInputs, FlatPoints, FlatTrees, identifier, lines, words};
use super::plain::PlainTrees;
use super::scaling::{Expression, is_per_query};
use super::{Exported, Request};
use crate::data::Scaler;
use crate::data::scale::{Lines, Statistic, Step};
use crate::error::Result;
use crate::model::{Activation, KernelKind, KernelRanker, Scorer};

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
    let text = [
        head(request, scaling),
        inputs(scaler),
        arrays(scaling),
        document,
        score(&identifier(&request.name), scaling, scaler),
    ];
    let text = text.concat();
    Ok(Exported::alone(text))
}

fn head(request: &Request<'_>, scaling: &[Step]) -> String {
    let which = if is_per_query(scaling) { "documents of ONE query" } else { "documents" };
    // Names must not end the comment.
    let names: Vec<String> = request.feature_names.iter().map(|name| name.replace("*/", "* /")).collect();
    format!(
        "/* {title}. Written by burnrank {version}.\n *\n * void {function}_score(const float *features, size_t documents, \
         float *scores)\n * scores {which}: features has {features} numbers per document, row-major.\n * \
         Compile as C99 and link with -lm. The features:\n{names}\n */\n#include <math.h>\n#include <stddef.h>\n\n#define \
         FEATURES {features}\n\n",
        title = request.title(),
        version = env!("CARGO_PKG_VERSION"),
        function = identifier(&request.name),
        features = names.len(),
        names = words(&names, " *   "),
    )
}

fn array(kind: &str, name: &str, length: usize, values: &str) -> String {
    // C has no empty arrays.
    let (length, values) = if length == 0 { (1, "0") } else { (length, values) };
    format!("static const {kind} {name}[{length}] = {{{values}}};\n")
}

fn doubles(name: &str, values: &[f64]) -> String {
    array("double", name, values.len(), &lines(values, ""))
}

fn singles(name: &str, values: &[f32]) -> String {
    array("float", name, values.len(), &lines(values, "f"))
}

fn whole(name: &str, values: &[i32]) -> String {
    array("int", name, values.len(), &lines(values, ""))
}

/// The arrays of a scaling.
fn arrays(scaling: &[Step]) -> String {
    let of_step = |step: &Step| match step {
        Step::SignedLog | Step::WithinQuery(_) => String::new(),
        Step::Affine(affine) => doubles("CENTER", &affine.center) + &doubles("SPREAD", &affine.spread) + "\n",
        Step::Lines(_) | Step::Pieces(_) => {
            let lines = step.lines().map(Lines::points).unwrap_or_default();
            let flat = FlatPoints::of(&lines);
            [whole("POINT", &flat.starts), singles("POINT_X", &flat.x), doubles("POINT_Y", &flat.y), INTERPOLATE.into()]
                .concat()
        }
    };
    scaling.iter().map(of_step).collect()
}

/// The medians, and the lists of inputs.
fn inputs(scaler: &Scaler) -> String {
    let mut text = String::new();
    if !scaler.medians().is_empty() {
        text += &singles("MEDIAN", scaler.medians());
        text += "\nstatic float imputed(float x, size_t i)\n{\n    return x == x ? x : MEDIAN[i];\n}\n\n";
    }
    if let Some(flat) = FlatInputs::of(scaler) {
        text += &format!("#define INPUTS {}\n\n", flat.kind.len());
        text += &(whole("KIND", &flat.kind) + &whole("INPUT", &flat.feature) + &singles("LEVEL", &flat.level) + "\n");
    }
    text
}

/// Linear interpolation between a feature's points.
const INTERPOLATE: &str = "
static float interpolate(size_t feature, float x)
{
    if (x != x)
        return x;
    int first = POINT[feature], last = POINT[feature + 1] - 1, at = first;
    x = x < POINT_X[first] ? POINT_X[first] : x > POINT_X[last] ? POINT_X[last] : x;
    while (at + 1 < last && POINT_X[at + 1] <= x)
        at++;
    if (at == last)
        return (float)POINT_Y[at];
    return (float)(POINT_Y[at] + (x - (double)POINT_X[at])
        * ((POINT_Y[at + 1] - POINT_Y[at]) / ((double)POINT_X[at + 1] - POINT_X[at])));
}

";

fn of_net(net: &Net<'_>) -> String {
    let mut text = String::new();
    let rows = net.rows();
    for (place, layer) in net.layers.iter().enumerate() {
        match &rows {
            Some(rows) if place == 0 => {
                for (name, numbers) in ["ROW", "BINS"].into_iter().zip(rows.places()) {
                    text += &whole(name, &numbers);
                }
                text += &doubles("TABLE1", &rows.exact_table(&layer.weights, layer.units));
            }
            _ => {
                let weights: Vec<f64> = (0..layer.units).flat_map(|unit| layer.column(unit)).collect();
                text += &doubles(&format!("WEIGHTS{}", place + 1), &weights);
            }
        }
        text += &doubles(&format!("BIAS{}", place + 1), &layer.bias);
    }
    let function = match net.activation {
        None => "sum",
        Some(Activation::Sigmoid) => "1.0 / (1.0 + exp(-sum))",
        Some(Activation::Tanh) => "tanh(sum)",
        Some(Activation::Relu) => "sum > 0.0 ? sum : 0.0",
    };
    if !net.skip.is_empty() {
        let numbers = rows.as_ref().map_or_else(|| net.skip.clone(), |rows| rows.exact_table(&net.skip, 1));
        text += &doubles("SKIP", &numbers);
    }
    if rows.is_some() {
        text += ADD_ROWS;
    }
    text += "\nstatic double document(const float *x)\n{\n";
    for (place, layer) in net.layers.iter().enumerate() {
        let (from, to) = (if place == 0 { "x".to_owned() } else { format!("h{place}") }, place + 1);
        let (units, inputs) = (layer.units, layer.inputs);
        let function = if to < net.layers.len() { function } else { "sum" };
        if place == 0 && rows.is_some() {
            text += &format!(
                "    double h1[{units}];\n    for (size_t unit = 0; unit < {units}; unit++)\n        h1[unit] = BIAS1[unit];\n    \
                 add_rows(x, TABLE1, {units}, h1);\n    for (size_t unit = 0; unit < {units}; unit++) {{\n        double sum = \
                 h1[unit];\n        h1[unit] = {function};\n    }}\n"
            );
            continue;
        }
        text += &format!(
            "    double h{to}[{units}];\n    for (size_t unit = 0; unit < {units}; unit++) {{\n        double sum = \
             BIAS{to}[unit];\n        for (size_t i = 0; i < {inputs}; i++)\n            sum += {from}[i] * \
             WEIGHTS{to}[unit * {inputs} + i];\n        h{to}[unit] = {function};\n    }}\n"
        );
    }
    let last = net.layers.len();
    match (net.skip.is_empty(), &rows) {
        (true, _) => {}
        (false, None) => {
            text += &format!("    for (size_t i = 0; i < FEATURES; i++)\n        h{last}[0] += x[i] * SKIP[i];\n");
        }
        (false, Some(_)) => text += &format!("    add_rows(x, SKIP, 1, h{last});\n"),
    }
    text + &format!("    return h{last}[0];\n}}\n")
}

/// Adds a feature's two rows of a table, those at the ends of its bin.
const ADD_ROWS: &str = "
static void add_rows(const float *x, const double *table, size_t units, double *sums)
{
    for (size_t i = 0; i < FEATURES; i++) {
        if (BINS[i] == 0 || x[i] != x[i])
            continue;
        int bin = (int)x[i] < BINS[i] ? (int)x[i] : BINS[i] - 1;
        double part = x[i] - bin;
        const double *from = table + (size_t)(ROW[i] + bin) * units;
        for (size_t unit = 0; unit < units; unit++)
            sums[unit] += (1.0 - part) * from[unit] + part * from[units + unit];
    }
}
";

fn of_trees(flat: &FlatTrees) -> String {
    let nan_left: Vec<i32> = flat.nan_left.iter().map(|&left| i32::from(left)).collect();
    let arrays = [
        whole("ROOT", &flat.roots),
        whole("FEATURE", &flat.feature),
        singles("THRESHOLD", &flat.threshold),
        whole("NAN_LEFT", &nan_left),
        whole("LEFT", &flat.left),
        whole("RIGHT", &flat.right),
        doubles("LEAF", &flat.leaves),
    ];
    format!(
        "{}
static double document(const float *x)
{{
    double sum = 0.0;
    for (size_t tree = 0; tree < {}; tree++) {{
        int at = ROOT[tree];
        while (at >= 0) {{
            float value = x[FEATURE[at]];
            int left = value <= THRESHOLD[at] || (value != value && NAN_LEFT[at]);
            at = left ? LEFT[at] : RIGHT[at];
        }}
        sum += LEAF[-1 - at];
    }}
    return sum;
}}
",
        arrays.concat(),
        flat.roots.len()
    )
}

fn of_kernel(ranker: &KernelRanker) -> String {
    let offsets = if ranker.offsets().is_empty() { String::new() } else { singles("OFFSETS", ranker.offsets()) };
    let arrays = singles("POINTS", ranker.points()) + &offsets + &singles("WEIGHTS", ranker.weights());
    let (start, add, value) = match ranker.kernel() {
        KernelKind::Gaussian { gamma } => {
            ("0.0", "(x[i] - (double)p[i]) * (x[i] - (double)p[i])", format!("exp(-{gamma:?} * sum)"))
        }
        KernelKind::Polynomial { degree } => ("OFFSETS[point]", "(double)x[i] * p[i]", format!("pow(sum, {degree}.0)")),
    };
    format!(
        "{arrays}
static double document(const float *x)
{{
    double score = 0.0;
    for (size_t point = 0; point < {}; point++) {{
        const float *p = POINTS + point * FEATURES;
        double sum = {start};
        for (size_t i = 0; i < FEATURES; i++)
            sum += {add};
        score += WEIGHTS[point] * {value};
    }}
    return score;
}}
",
        ranker.weights().len()
    )
}

/// The scaled value of feature `i` after some steps, from its unscaled value `raw`.
fn scaled(steps: &[Step], raw: &str) -> Expression {
    let standard = |value: &str, center: &str, spread: &str| Expression {
        double: format!("({spread} > 0.0 ? ({value} - {center}) / {spread} : 0.0)"),
        single: format!("{spread} > 0.0 ? (float)(({value} - {center}) / {spread}) : 0.0f"),
    };
    let raw = Expression { double: raw.to_owned(), single: raw.to_owned() };
    steps.iter().fold(raw, |Expression { double, single }, step| match step {
        Step::SignedLog => {
            let double = format!("copysign(log1p(fabs((double){double})), {double})");
            Expression { single: format!("(float){double}"), double }
        }
        Step::Affine(_) => standard(&double, "CENTER[i]", "SPREAD[i]"),
        Step::Lines(_) | Step::Pieces(_) => {
            let single = format!("interpolate(i, {single})");
            Expression { double: single.clone(), single }
        }
        Step::WithinQuery(_) => standard(&double, "center[i]", "spread[i]"),
    })
}

/// Computes the inputs of a document from its features.
const WIDEN: &str = "        float inputs[INPUTS];
        for (size_t i = 0; i < INPUTS; i++) {
            float raw = row[INPUT[i]];
            inputs[i] = KIND[i] == 0 ? x[INPUT[i]] : KIND[i] == 1 ? (float)(raw != raw) : (float)(raw == LEVEL[i]);
        }
";

/// The public function.
fn score(name: &str, scaling: &[Step], scaler: &Scaler) -> String {
    let imputes = !scaler.medians().is_empty();
    let raw = |raw: &str| if imputes { format!("imputed({raw}, i)") } else { raw.to_owned() };
    let before: String = (0..scaling.len()).map(|place| fit(&scaling[..place], &scaling[place], raw)).collect();
    let scaled = scaled(scaling, &raw("row[i]")).single;
    let (widen, x) = if scaler.widens() { (WIDEN, "inputs") } else { ("", "x") };
    format!(
        "
void {name}_score(const float *features, size_t documents, float *scores)
{{
{before}    for (size_t d = 0; d < documents; d++) {{
        const float *row = features + d * FEATURES;
        float x[FEATURES];
        for (size_t i = 0; i < FEATURES; i++)
            x[i] = {scaled};
{widen}        scores[d] = (float)document({x});
    }}
}}
"
    )
}

/// Computes centers and spreads of one query's features after the steps `before`, for a step within queries.
fn fit(before: &[Step], step: &Step, raw: impl Fn(&str) -> String) -> String {
    let Step::WithinQuery(statistic) = step else { return String::new() };
    let [first, value] = ["features[i]", "features[d * FEATURES + i]"].map(|x| scaled(before, &raw(x)).double);
    let numbers = match statistic {
        Statistic::Moments => format!(
            "
        double sum = 0.0, squares = 0.0;
        for (size_t d = 0; d < documents; d++)
            sum += {value};
        center[i] = sum / documents;
        for (size_t d = 0; d < documents; d++) {{
            double distance = {value} - center[i];
            squares += distance * distance;
        }}
        spread[i] = high > low ? sqrt(squares / documents) : 0.0;"
        ),
        Statistic::Range => "
        center[i] = low;
        spread[i] = high - low;"
            .to_owned(),
    };
    format!(
        "    double center[FEATURES], spread[FEATURES];
    for (size_t i = 0; i < FEATURES && documents > 0; i++) {{
        double low = {first}, high = {first};
        for (size_t d = 1; d < documents; d++) {{
            double value = {value};
            low = value < low ? value : low;
            high = value > high ? value : high;
        }}{numbers}
    }}
"
    )
}
