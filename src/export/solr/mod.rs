//! `solr`: a model for the `/schema/model-store` of Apache Solr's learning to rank module, and a second file with the
//! features for `/schema/feature-store`.
//!
//! Linear nets become a `LinearModel`, other nets a `NeuralNetworkModel`, trees a `MultipleAdditiveTreesModel`. Scaling
//! by `zscore` becomes a `StandardNormalizer`, (x - avg) / std, and `minmax` a `MinMaxNormalizer`, (x - min) / (max -
//! min); other scalings of single documents become features that are function queries. Constant features have weight 0.
//! Solr computes in f32.
//!
//! Solr adds 1e-6 to the thresholds of trees before comparing, so exported thresholds are smaller, such that the sums
//! equal the model's thresholds. Near 0 the sums are lower by less than 1.2e-13, and for -1 and other negative powers
//! of two some are one f32 away. In the file of features each raw feature is the value of the field with its name; edit
//! it as needed.
//!
//! Trees that send missing values elsewhere than 0 have a side for them (`missing`, with `isNullSameAsZero` false),
//! which Solr 9.2 and newer follow for features whose value is NaN.

mod features;

use super::derived::Formula;
use super::net::Net;
use super::numbers::short;
use super::plain::{PlainTree, PlainTrees};
use super::{Exported, Request};
use crate::error::{Error, Result};
use crate::model::{Child, Dense, Forest, Scorer};
use features::{Definition, Input, inputs};
use serde_json::{Map, Value, json};

const MODEL: &str = "org.apache.solr.ltr.model";
/// Constant that Solr adds to thresholds.
const SLACK: f32 = 1e-6;

/// A model without its features.
struct Parts {
    inputs: Vec<Input>,
    class: &'static str,
    params: Value,
    note: &'static str,
}

pub(super) fn write(request: &Request<'_>) -> Result<Exported> {
    let parts = match &request.model.scorer {
        Scorer::Net(ranker) => of_net(request, &Net::of(request.model, ranker)?)?,
        Scorer::Trees(forest) => of_trees(request, forest)?,
        Scorer::Kernel(_) => return Err(request.unsupported()),
    };
    let store = &request.name;
    let feature = |input: &Input| match &input.norm {
        Some(norm) => json!({ "name": input.name, "norm": norm }),
        None => json!({ "name": input.name }),
    };
    let document = json!({
        "store": store, "name": store, "class": format!("{MODEL}.{}", parts.class),
        "features": parts.inputs.iter().map(feature).collect::<Vec<_>>(), "params": parts.params
    });
    let beside = parts.inputs.iter().map(|input| input.definition.json(store, &input.name)).collect();
    let mut exported = Exported::alone(text(&document)?);
    exported.beside = Some((".features.json", text(&Value::Array(beside))?.into_bytes()));
    exported.note = format!(
        "Upload the features to /schema/feature-store, then the model to /schema/model-store. {} edit the file of \
         features if Solr should compute something else. Rerank with rq={{!ltr model={store} reRankDocs=100}}.",
        parts.note
    );
    Ok(exported)
}

fn of_net(request: &Request<'_>, net: &Net<'_>) -> Result<Parts> {
    let formula = Formula::of(request, net.scaling)?;
    let inputs = inputs(&request.feature_names, &formula, net.parts);
    let (class, params) = if net.layers.len() == 1 {
        let weight = |input: &Input| (input.name.clone(), json!(weight(input, net.layers[0].weights[input.input])));
        ("LinearModel", json!({ "weights": inputs.iter().map(weight).collect::<Map<_, _>>() }))
    } else {
        ("NeuralNetworkModel", json!({ "layers": layers(net, &inputs) }))
    };
    let note = match formula {
        Formula::Affine(_) if !net.parts.is_empty() => {
            "The features are the value of the field with each raw feature's name, the median for documents without a value, \
             and functions of it:"
        }
        Formula::Affine(_) => "Each feature is the value of the field with its name:",
        Formula::SignedLog(_) | Formula::Lines(_) => {
            "The features scale the value of the field with each raw feature's name by function queries:"
        }
    };
    Ok(Parts { inputs, class, params, note })
}

fn of_trees(request: &Request<'_>, forest: &Forest) -> Result<Parts> {
    let names = &request.feature_names;
    let trees = PlainTrees::of(forest, request.model.info.scaler.steps())?;
    trees.check_depth("solr")?;
    let missing = trees.missing_features();
    let input = |(feature, name): (usize, &String)| match missing.contains(&feature) {
        true => Input { definition: Definition::field_or_nan(name), ..Input::raw(feature, name) },
        false => Input::raw(feature, name),
    };
    let of_tree = |tree: &PlainTree| json!({ "weight": "1", "root": root(tree, names, !missing.is_empty()) });
    let mut params = json!({ "trees": trees.trees.iter().map(of_tree).collect::<Vec<_>>() });
    let note = if missing.is_empty() {
        "Each feature is the value of the field with its name:"
    } else {
        params["isNullSameAsZero"] = json!("false");
        "Missing values need Solr 9.2 or newer. Each feature is the value of the field with its name, or NaN:"
    };
    let inputs = names.iter().enumerate().map(input).collect();
    Ok(Parts { inputs, class: "MultipleAdditiveTreesModel", params, note })
}

/// The weight of a feature, from that of its input.
fn weight(input: &Input, weight: f64) -> f64 {
    // Without -0 for constant features.
    if input.sign == 0.0 { 0.0 } else { short(input.sign * weight) }
}

fn text(value: &Value) -> Result<String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| Error::Record(error.to_string()))
}

/// The layers, each with a list of weights per unit; Solr requires a decimal point in every number.
fn layers(net: &Net<'_>, inputs: &[Input]) -> Vec<Value> {
    let layer = |(place, layer): (usize, &Dense<f64>)| {
        let row = |unit: usize| match place {
            0 => inputs.iter().map(|input| weight(input, layer.row(input.input)[unit])).collect::<Vec<f64>>(),
            _ => layer.column(unit).map(short).collect(),
        };
        let function = match net.activation {
            Some(activation) if place + 1 < net.layers.len() => activation.to_string(),
            _ => "identity".to_owned(),
        };
        let bias: Vec<f64> = layer.bias.iter().map(|&bias| short(bias)).collect();
        json!({ "matrix": (0..layer.units).map(row).collect::<Vec<_>>(), "bias": bias, "activation": function })
    };
    net.layers.iter().enumerate().map(layer).collect()
}

/// A tree, built from the leaves up; children come after their parents in the list.
fn root(tree: &PlainTree, names: &[String], missing: bool) -> Value {
    let mut nodes: Vec<Value> = vec![Value::Null; tree.branches.len()];
    let leaf = |leaf: usize| json!({ "value": format!("{:?}", tree.leaves[leaf] as f32) });
    for (place, branch) in tree.branches.iter().enumerate().rev() {
        let [left, right] = [branch.left, branch.right].map(|child| match child {
            Child::Branch(child) => std::mem::take(&mut nodes[child]),
            Child::Leaf(child) => leaf(child),
        });
        let threshold = format!("{:?}", below_slack(branch.threshold));
        nodes[place] =
            json!({ "feature": names[branch.feature], "threshold": threshold, "left": left, "right": right });
        if missing {
            nodes[place]["missing"] = json!(if branch.nan_left { "left" } else { "right" });
        }
    }
    nodes.into_iter().next().unwrap_or_else(|| leaf(0))
}

/// The number that gives the threshold when Solr adds its constant in f32.
///
/// If there is no such number, the sum is the next smaller one; for powers of two such as -1, which are frequent
/// feature values, the next larger one.
fn below_slack(threshold: f32) -> f32 {
    let mut number = threshold - SLACK;
    while number + SLACK > threshold {
        number = number.next_down();
    }
    while number.next_up() + SLACK <= threshold {
        number = number.next_up();
    }
    let power_of_two = threshold.is_normal() && threshold.to_bits() << 9 == 0 && threshold.abs() > SLACK;
    if power_of_two && number + SLACK < threshold { number.next_up() } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_compensate_for_solrs_constant() {
        for size in [0.0, 1e-6, 1e-5, 0.1, 0.3, 0.7, 2.5, 3.0, 100.0, 12345.678, 1e20, f32::MAX] {
            for threshold in [size, -size] {
                let sum = below_slack(threshold) + SLACK;
                assert!(sum <= threshold && threshold - sum < 1.2e-13, "{threshold:e}: {sum:e}");
            }
        }
        for power in -10..20 {
            let threshold = 2f32.powi(power);
            assert_eq!(below_slack(threshold) + SLACK, threshold);
            let sum = below_slack(-threshold) + SLACK;
            assert!(sum == -threshold || sum == (-threshold).next_up(), "{threshold:e}: {sum:e}");
        }
        // LightGBM's thresholds on both sides of zero separate zero from other values.
        assert_eq!(below_slack(1e-35) + SLACK, 0.0);
        assert!(below_slack(-1e-35) + SLACK < 0.0);
    }
}
