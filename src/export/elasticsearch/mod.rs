//! `elasticsearch`: the body of `POST _ltr/_featureset/NAME/_createmodel` of the learning to rank plugin of
//! Elasticsearch and OpenSearch.
//!
//! Linear nets become `model/linear`, with a `standard` normaliser, (x - mean) / standard_deviation, or a `min_max` one
//! for each scaled feature; constant features have weight 0. Scalings other than (x - a) / b become derived features, and
//! a second file contains the feature set. Trees become `model/xgboost+json`, in which x < threshold
//! leads to `yes`, so thresholds are the next f32 above those of the model, and NaN, a feature without a match, leads to
//! `missing` (since version 1.5.9 for Elasticsearch). The plugin computes in f32.
//!
//! Nets with hidden layers become RankLib's RankNet (`model/ranklib`), whose units, including the output, are logistic:
//! tanh(x) is 2 / (1 + exp(-2 x)) - 1, and the engine's score is 1 / (1 + exp(-c s)), which orders documents like the
//! score s. c is 1, or less if large s would give equal scores in f32. RankLib's units are not thread-safe: use such a
//! model in one search at a time.

mod features;

use super::derived::Formula;
use super::net::Net;
use super::numbers::short;
use super::plain::{PlainTree, PlainTrees};
use super::{Exported, Request};
use crate::data::scale::{Affine, Statistic};
use crate::error::{Error, Result};
use crate::model::{Activation, Child, Scorer};
use features::{FeatureSet, SetInput};
use serde_json::{Value, json};

/// Maximum input of the output unit's logistic function.
const MAX_SCORE: f64 = 4.0;

pub(super) fn write(request: &Request<'_>) -> Result<Exported> {
    let model = request.model;
    let names = &request.feature_names;
    let mut note = format!("Create the model with POST _ltr/_featureset/{}/_createmodel", request.name);
    let mut feature_set = None;
    let body = match &model.scorer {
        Scorer::Net(ranker) => {
            let net = Net::of(model, ranker)?;
            let formula = Formula::of(request, net.scaling)?;
            let set = FeatureSet::of(names, &formula, net.parts);
            let body = if net.layers.len() == 1 {
                linear(&net, &formula, &set)?
            } else {
                if set.body.is_none() {
                    note += "; the feature set must list the features in the model's order";
                }
                let (text, c) = ranknet(request, net.folded_by_input(), &formula, &set.inputs)?;
                note += &format!(
                    ". RankLib's output unit is logistic: its scores are 1 / (1 + exp(-{c:?} s)), in the order of the \
                     model's scores s. RankLib's nets are not thread-safe: use the model in one search at a time"
                );
                json!({ "type": "model/ranklib", "definition": text })
            };
            feature_set = set.body;
            body
        }
        Scorer::Trees(forest) => {
            let trees = PlainTrees::of(forest, model.info.scaler.steps())?;
            trees.check_depth("elasticsearch")?;
            if !trees.missing_features().is_empty() {
                note += ". A feature without a match is a missing value, in plugin version 1.5.9 or newer";
            }
            let trees: Vec<Value> = trees.trees.iter().map(|tree| root(tree, names)).collect();
            json!({ "type": "model/xgboost+json", "definition": text(&Value::Array(trees))? })
        }
        Scorer::Kernel(_) => return Err(request.unsupported()),
    };
    let document = json!({ "model": { "name": request.name, "model": body } });
    let mut exported = Exported::alone(pretty(&document)?);
    if let Some(body) = feature_set {
        exported.beside = Some((".features.json", pretty(&body)?.into_bytes()));
        note = format!(
            "First upload the features with POST _ltr/_featureset/{}: derived features scale the raw ones. Each raw \
             feature is the value of the field with its name: edit the file of features if the engine should compute \
             something else. {note}",
            request.name
        );
    }
    Ok(Exported { note: note + ".", ..exported })
}

fn pretty(value: &Value) -> Result<String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| Error::Record(error.to_string()))
}

fn text(value: &Value) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::Record(error.to_string()))
}

fn linear(net: &Net<'_>, formula: &Formula<'_>, set: &FeatureSet) -> Result<Value> {
    let mut normalizers = serde_json::Map::new();
    let mut weights = serde_json::Map::new();
    for (input, SetInput { name, scaled, .. }) in set.inputs.iter().enumerate() {
        let constant = scaled.is_some_and(|feature| formula.is_constant(feature));
        weights.insert(name.clone(), json!(if constant { 0.0 } else { short(net.layers[0].weights[input]) }));
        if let (Formula::Affine(Some(affine)), Some(feature), false) = (formula, scaled, constant) {
            normalizers.insert(name.clone(), normalizer(affine, *feature));
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

/// RankLib's text for a net with logistic units, and the factor of the score; `inputs` are those of the
/// the feature set, from 1.
fn ranknet(
    request: &Request<'_>,
    mut net: Net<'_>,
    formula: &Formula<'_>,
    inputs: &[SetInput],
) -> Result<(String, f64)> {
    let units = net.layers[0].units;
    for (input, weights) in inputs.iter().zip(net.layers[0].weights.chunks_mut(units)) {
        if input.scaled.is_some_and(|feature| formula.is_constant(feature)) {
            weights.fill(0.0);
        }
    }
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
    text += &inputs.iter().map(|input| input.number.to_string()).collect::<Vec<_>>().join(" ");
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
        // If all numbers go left: JSON has no infinity.
        let threshold = short(f64::from(branch.threshold.next_up().min(f32::MAX)));
        let (yes, no) = (children[0]["nodeid"].clone(), children[1]["nodeid"].clone());
        nodes[place] = json!({
            "nodeid": place, "depth": depths[place], "split": names[branch.feature], "split_condition": threshold,
            "yes": yes, "no": no, "missing": if branch.nan_left { &yes } else { &no }, "children": children
        });
    }
    nodes.into_iter().next().unwrap_or_else(|| leaf(0))
}
