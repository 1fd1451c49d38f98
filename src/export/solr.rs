//! `solr`: a model for the `/schema/model-store` of Apache Solr's learning to rank module, and a second file with the
//! features for `/schema/feature-store`.
//!
//! Linear nets become a `LinearModel`, other nets a `NeuralNetworkModel`, trees a `MultipleAdditiveTreesModel`. Scaling
//! by `zscore` becomes a `StandardNormalizer`, (x - avg) / std, and `minmax` a `MinMaxNormalizer`, (x - min) / (max -
//! min); constant features have weight 0. Solr computes in f32.
//!
//! Solr adds 1e-6 to the thresholds of trees before comparing, so exported thresholds are smaller, such that the sums
//! equal the model's thresholds. Near 0 the sums are lower by less than 1.2e-13, and for -1 and other negative powers
//! of two some are one f32 away. In the file of features each feature is the value of the field with its name; edit it
//! as needed.

use super::net::Net;
use super::numbers::short;
use super::plain::{PlainTree, PlainTrees};
use super::scaling::constant;
use super::{Exported, Request};
use crate::data::scale::{Affine, Statistic};
use crate::error::{Error, Result};
use crate::model::{Child, Dense, Scorer};
use serde_json::{Map, Value, json};

const MODEL: &str = "org.apache.solr.ltr.model";
const NORM: &str = "org.apache.solr.ltr.norm";
/// Constant that Solr adds to thresholds.
const SLACK: f32 = 1e-6;

pub(super) fn write(request: &Request<'_>) -> Result<Exported> {
    let model = request.model;
    let names = &request.feature_names;
    let mut norms: Vec<Option<Value>> = vec![None; names.len()];
    let (class, params) = match &model.scorer {
        Scorer::Net(ranker) => {
            let net = Net::of(model, ranker)?;
            let affine = request.affine(net.scaling)?;
            if let Some(affine) = affine {
                norms = (0..names.len()).map(|feature| normalizer(affine, feature)).collect();
            }
            let constant = |feature: usize| self::constant(net.scaling, feature).is_some();
            if net.layers.len() == 1 {
                let weight = |(feature, name): (usize, &String)| {
                    (name.clone(), json!(if constant(feature) { 0.0 } else { short(net.layers[0].weights[feature]) }))
                };
                ("LinearModel", json!({ "weights": names.iter().enumerate().map(weight).collect::<Map<_, _>>() }))
            } else {
                ("NeuralNetworkModel", json!({ "layers": layers(&net, constant) }))
            }
        }
        Scorer::Trees(forest) => {
            let trees = PlainTrees::of(forest, model.info.scaler.steps())?;
            trees.check_depth("solr")?;
            let tree = |tree: &PlainTree| json!({ "weight": "1", "root": root(tree, names) });
            ("MultipleAdditiveTreesModel", json!({ "trees": trees.trees.iter().map(tree).collect::<Vec<_>>() }))
        }
        Scorer::Kernel(_) => return Err(request.unsupported()),
    };
    let feature = |(name, norm): (&String, Option<Value>)| match norm {
        Some(norm) => json!({ "name": name, "norm": norm }),
        None => json!({ "name": name }),
    };
    let features: Vec<Value> = names.iter().zip(norms).map(feature).collect();
    let store = &request.name;
    let document = json!({
        "store": store, "name": store, "class": format!("{MODEL}.{class}"), "features": features, "params": params
    });
    let feature = |name: &String| {
        let class = "org.apache.solr.ltr.feature.FieldValueFeature";
        json!({ "store": store, "name": name, "class": class, "params": { "field": name } })
    };
    let beside: Vec<Value> = names.iter().map(feature).collect();
    let mut exported = Exported::alone(text(&document)?);
    exported.beside = Some((".features.json", text(&Value::Array(beside))?.into_bytes()));
    exported.note = format!(
        "Upload the features to /schema/feature-store, then the model to /schema/model-store. Each feature is the \
         value of the field with its name: edit the file of features if Solr should compute something else. Rerank \
         with rq={{!ltr model={store} reRankDocs=100}}."
    );
    Ok(exported)
}

fn text(value: &Value) -> Result<String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| Error::Record(error.to_string()))
}

/// The normaliser of a feature; `None` if it is constant.
fn normalizer(affine: &Affine, feature: usize) -> Option<Value> {
    let (center, spread) = (affine.center[feature], affine.spread[feature]);
    let number = |number: f64| format!("{:?}", number as f32);
    if spread <= 0.0 {
        return None;
    }
    Some(match affine.statistic {
        Statistic::Range => json!({
            "class": format!("{NORM}.MinMaxNormalizer"),
            "params": { "min": number(center), "max": number(center + spread) }
        }),
        Statistic::Moments => json!({
            "class": format!("{NORM}.StandardNormalizer"),
            "params": { "avg": number(center), "std": number(spread) }
        }),
    })
}

/// The layers, each with a list of weights per unit; Solr requires a decimal point in every number.
fn layers(net: &Net<'_>, constant: impl Fn(usize) -> bool) -> Vec<Value> {
    let layer = |(place, layer): (usize, &Dense<f64>)| {
        let weight = |(input, weight): (usize, f64)| if place == 0 && constant(input) { 0.0 } else { short(weight) };
        let row = |unit| layer.column(unit).enumerate().map(weight).collect::<Vec<f64>>();
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
fn root(tree: &PlainTree, names: &[String]) -> Value {
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
