//! `elasticsearch`: the body of `POST _ltr/_featureset/NAME/_createmodel` of the learning to rank plugin of
//! Elasticsearch and OpenSearch.
//!
//! Linear nets become `model/linear`, with a `standard` normaliser, (x - mean) / standard_deviation, or a `min_max` one
//! for each scaled feature; constant features have weight 0. Trees become `model/xgboost+json`, in which x < threshold
//! leads to `yes`, so thresholds are the next f32 above those of the model. The plugin computes in f32.
//!
//! Nets with hidden layers become RankLib's RankNet (`model/ranklib`), whose units, including the output, are logistic:
//! tanh(x) is 2 / (1 + exp(-2 x)) - 1, and the engine's score is 1 / (1 + exp(-c s)), which orders documents like the
//! score s. c is 1, or less if large s would give equal scores in f32. RankLib's units are not thread-safe: use such a
//! model in one search at a time.

use super::net::Net;
use super::numbers::short;
use super::plain::{PlainTree, PlainTrees};
use super::scaling::constant;
use super::{Exported, Request};
use crate::data::scale::{Affine, Statistic, Step};
use crate::error::{Error, Result};
use crate::model::{Activation, Child, Scorer};
use serde_json::{Map, Value, json};

/// Maximum input of the output unit's logistic function.
const MAX_SCORE: f64 = 4.0;

pub(super) fn write(request: &Request<'_>) -> Result<Exported> {
    let model = request.model;
    let names = &request.feature_names;
    let mut note = format!("Create the model with POST _ltr/_featureset/{}/_createmodel", request.name);
    let body = match &model.scorer {
        Scorer::Net(ranker) => {
            let net = Net::of(model, ranker)?;
            request.affine(net.scaling)?;
            if net.layers.len() == 1 {
                linear(&net, names)?
            } else {
                let (text, c) = ranknet(request, net.folded_in_double())?;
                note += &format!(
                    "; the feature set must list the features in the model's order. RankLib's output unit is \
                     logistic: its scores are 1 / (1 + exp(-{c:?} s)), in the order of the model's scores s. \
                     RankLib's nets are not thread-safe: use the model in one search at a time"
                );
                json!({ "type": "model/ranklib", "definition": text })
            }
        }
        Scorer::Trees(forest) => {
            let trees = PlainTrees::of(forest, model.info.scaler.steps())?;
            trees.check_depth("elasticsearch")?;
            let trees: Vec<Value> = trees.trees.iter().map(|tree| root(tree, names)).collect();
            json!({ "type": "model/xgboost+json", "definition": text(&Value::Array(trees))? })
        }
        Scorer::Kernel(_) => return Err(request.unsupported()),
    };
    let document = json!({ "model": { "name": request.name, "model": body } });
    let pretty = serde_json::to_string_pretty(&document).map_err(|error| Error::Record(error.to_string()))?;
    Ok(Exported { note: note + ".", ..Exported::alone(pretty + "\n") })
}

fn text(value: &Value) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::Record(error.to_string()))
}

fn linear(net: &Net<'_>, names: &[String]) -> Result<Value> {
    let mut normalizers = Map::new();
    let mut weights = Map::new();
    for (feature, name) in names.iter().enumerate() {
        let constant = constant(net.scaling, feature).is_some();
        weights.insert(name.clone(), json!(if constant { 0.0 } else { short(net.layers[0].weights[feature]) }));
        if let ([Step::Affine(affine)], false) = (net.scaling, constant) {
            normalizers.insert(name.clone(), normalizer(affine, feature));
        }
    }
    let mut body = json!({ "type": "model/linear" });
    if !normalizers.is_empty() {
        body["feature_normalizers"] = Value::Object(normalizers);
    }
    body["definition"] = text(&Value::Object(weights))?.into();
    Ok(body)
}

fn normalizer(affine: &Affine, feature: usize) -> Value {
    let (center, spread) = (affine.center[feature], affine.spread[feature]);
    match affine.statistic {
        Statistic::Range => json!({ "min_max": { "minimum": short(center), "maximum": short(center + spread) } }),
        Statistic::Moments => json!({ "standard": { "mean": short(center), "standard_deviation": short(spread) } }),
    }
}

/// RankLib's text for a net with logistic units, and the factor of the score.
fn ranknet(request: &Request<'_>, mut net: Net<'_>) -> Result<(String, f64)> {
    match net.activation {
        Some(Activation::Relu) => return Err(request.unsupported()),
        // tanh(x) = 2 logistic(2 x) - 1: double the input, double the output and subtract 1.
        Some(Activation::Tanh) => {
            for place in 0..net.layers.len() - 1 {
                let layer = &mut net.layers[place];
                layer.weights.iter_mut().chain(&mut layer.bias).for_each(|number| *number *= 2.0);
                let next = &mut net.layers[place + 1];
                for unit in 0..next.units {
                    next.bias[unit] -= next.column(unit).sum::<f64>();
                }
                next.weights.iter_mut().for_each(|weight| *weight *= 2.0);
            }
        }
        Some(Activation::Sigmoid) | None => {}
    }
    let output = net.layers.len() - 1;
    let last = &mut net.layers[output];
    // The values of units are between 0 and 1.
    let bound = |keep: fn(f64) -> bool| last.weights.iter().filter(|w| keep(**w)).sum::<f64>() + last.bias[0];
    let largest = bound(|weight| weight > 0.0).abs().max(bound(|weight| weight < 0.0).abs());
    let c = if largest > MAX_SCORE { MAX_SCORE / largest } else { 1.0 };
    last.weights.iter_mut().chain(&mut last.bias).for_each(|number| *number *= c);
    let spaced =
        |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|w| format!("{w:?}")).collect::<Vec<_>>().join(" ");
    let features = net.layers[0].inputs;
    let hidden = &net.layers[..output];
    let mut text = format!("## RankNet\n## No. of features = {features}\n## No. of hidden layers = {output}\n");
    text += &(1..=features).map(|feature| feature.to_string()).collect::<Vec<_>>().join(" ");
    text += &format!("\n{output}\n");
    hidden.iter().for_each(|layer| text += &format!("{}\n", layer.units));
    for (place, layer) in net.layers.iter().enumerate() {
        for input in 0..layer.inputs {
            text += &format!("{place} {input} {}\n", spaced(&mut layer.row(input).iter().copied()));
        }
        if place == 0 {
            // The last neuron of the first layer is always 1; its weights are the biases of all units of all layers.
            let biases = net.layers.iter().flat_map(|layer| layer.bias.iter().copied());
            text += &format!("0 {features} {}\n", spaced(&mut biases.into_iter()));
        }
    }
    Ok((text, c))
}

/// A tree in XGBoost's dump format.
fn root(tree: &PlainTree, names: &[String]) -> Value {
    let mut depths = vec![0; tree.branches.len()];
    for (place, branch) in tree.branches.iter().enumerate() {
        for child in [branch.left, branch.right] {
            if let Child::Branch(child) = child {
                depths[child] = depths[place] + 1;
            }
        }
    }
    let number = |child| match child {
        Child::Branch(branch) => branch,
        Child::Leaf(leaf) => tree.branches.len() + leaf,
    };
    let leaf = |leaf: usize| json!({ "nodeid": number(Child::Leaf(leaf)), "leaf": short(tree.leaves[leaf]) });
    let mut nodes: Vec<Value> = vec![Value::Null; tree.branches.len()];
    for (place, branch) in tree.branches.iter().enumerate().rev() {
        let children = [branch.left, branch.right].map(|child| match child {
            Child::Branch(child) => std::mem::take(&mut nodes[child]),
            Child::Leaf(child) => leaf(child),
        });
        let threshold = short(f64::from(branch.threshold.next_up()));
        if threshold == f64::INFINITY {
            // All numbers go left, and JSON has no infinity.
            let [left, _] = children;
            nodes[place] = left;
            continue;
        }
        let (yes, no) = (children[0]["nodeid"].clone(), children[1]["nodeid"].clone());
        nodes[place] = json!({
            "nodeid": place, "depth": depths[place], "split": names[branch.feature], "split_condition": threshold,
            "yes": yes, "no": no, "missing": if branch.nan_left { &yes } else { &no }, "children": children
        });
    }
    nodes.into_iter().next().unwrap_or_else(|| leaf(0))
}
