//! `vespa`: a rank profile for a Vespa schema.
//!
//! Linear nets and trees become ranking expressions, in f64, including scaling. A branch is `if (x <= threshold, left,
//! right)`, or `if (!(x > threshold), ...)` if NaN, an attribute without a value, goes left. Other nets and kernels
//! become a separate ONNX model for the `files` folder of the application.
//!
//! Feature names are used unchanged: use names of Vespa's rank features, such as `bm25(title)` or `attribute(clicks)`.
//! A plain word such as `f1` must be defined as a function in the profile.

use super::net::Net;
use super::plain::{PlainTree, PlainTrees};
use super::scaling::constant;
use super::{Exported, Request, numbers::identifier, onnx};
use crate::data::scale::Step;
use crate::error::Result;
use crate::model::{Child, Scorer};

pub(super) fn write(request: &Request<'_>) -> Result<Exported> {
    let model = request.model;
    match &model.scorer {
        Scorer::Net(ranker) => {
            let net = Net::of(model, ranker)?.folded_in_double();
            let expression = if net.parts.is_empty() { linear(&net, &request.feature_names) } else { None };
            match expression {
                Some(expression) => Ok(native(request, &expression)),
                None => by_onnx(request),
            }
        }
        Scorer::Trees(forest) => {
            let trees = PlainTrees::of(forest, model.info.scaler.steps())?;
            trees.check_depth("vespa")?;
            let sum: Vec<String> = trees.trees.iter().map(|tree| root(tree, &request.feature_names)).collect();
            Ok(native(request, &sum.join(" +\n            ")))
        }
        Scorer::Kernel(_) => by_onnx(request),
    }
}

fn head(request: &Request<'_>) -> String {
    let plain = |name: &&String| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let functions = request.feature_names.iter().filter(plain).count();
    let add = match functions {
        0 => String::new(),
        _ => format!(
            "# Add {functions} of its features to the profile as functions, such as\n#     function f1() {{ expression: bm25(title) }}\n"
        ),
    };
    format!("# {}. Written by burnrank {}.\n{add}", request.title(), env!("CARGO_PKG_VERSION"))
}

fn native(request: &Request<'_>, expression: &str) -> Exported {
    let text = format!(
        "{}rank-profile {} inherits default {{\n    first-phase {{\n        expression {{\n            {expression}\n        }}\n    }}\n}}\n",
        head(request),
        identifier(&request.name)
    );
    Exported { note: "Add the profile to the schema.".into(), ..Exported::alone(text) }
}

fn by_onnx(request: &Request<'_>) -> Result<Exported> {
    let (name, file) = (identifier(&request.name), &request.name);
    let features = request.feature_names.len();
    let text = format!(
        "{}rank-profile {name} inherits default {{
    function {name}_features() {{
        expression {{
            tensor<float>(d0[1],d1[{features}]):[[{}]]
        }}
    }}
    onnx-model {name} {{
        file: files/{file}.onnx
        input \"features\": {name}_features
        output \"scores\": scores
    }}
    first-phase {{
        expression: sum(onnx({name}).scores)
    }}
}}
",
        head(request),
        request.feature_names.join(", ")
    );
    let graph = onnx::write(request)?;
    let note = format!("Add the profile to the schema, and copy {file}.onnx to the files folder of the application.");
    Ok(Exported { beside: Some((".onnx", graph.bytes)), note, ..Exported::alone(text) })
}

/// A linear net as a sum; `None` for other nets and for scalings without an expression.
fn linear(net: &Net<'_>, names: &[String]) -> Option<String> {
    let [layer] = &net.layers[..] else { return None };
    let log = |name: &str| format!("if ({name} < 0, -log(1 - {name}), log(1 + {name}))");
    let mut terms = vec![format!("{:?}", layer.bias[0])];
    for (feature, name) in names.iter().enumerate() {
        if constant(net.scaling, feature).is_some_and(|value| value == 0.0) {
            continue;
        }
        let value = net.scaling.iter().try_fold(name.clone(), |value, step| match step {
            Step::SignedLog => Some(log(&value)),
            Step::Affine(affine) => {
                Some(format!("({value} - {}) / {:?}", signed(affine.center[feature]), affine.spread[feature]))
            }
            Step::Lines(_) | Step::Pieces(_) | Step::WithinQuery(_) => None,
        })?;
        terms.push(format!("{} * {value}", signed(layer.weights[feature])));
    }
    Some(terms.join(" +\n            "))
}

/// Formats a number, in parentheses if it is negative.
fn signed(number: f64) -> String {
    if number.is_sign_negative() { format!("({number:?})") } else { format!("{number:?}") }
}

/// A tree, built from the leaves up; children come after their parents in the list.
fn root(tree: &PlainTree, names: &[String]) -> String {
    let leaf = |leaf: usize| format!("{:?}", tree.leaves[leaf]);
    let mut nodes: Vec<String> = vec![String::new(); tree.branches.len()];
    for (place, branch) in tree.branches.iter().enumerate().rev() {
        let [left, right] = [branch.left, branch.right].map(|child| match child {
            Child::Branch(child) => std::mem::take(&mut nodes[child]),
            Child::Leaf(child) => leaf(child),
        });
        let (name, threshold) = (&names[branch.feature], f64::from(branch.threshold));
        nodes[place] = match branch.nan_left {
            true => format!("if (!({name} > {threshold:?}), {left}, {right})"),
            false => format!("if ({name} <= {threshold:?}, {left}, {right})"),
        };
    }
    nodes.into_iter().next().unwrap_or_else(|| leaf(0))
}
