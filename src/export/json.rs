//! `json`: the whole model, in a layout that can be scored with a few lines of any language.
//!
//! | key | value |
//! |---|---|
//! | `format` | `burnrank-export-1` |
//! | `name`, `kind` | the model's name; `net`, `trees` or `kernel` |
//! | `features` | the names of the features, in their order |
//! | `scaling` | `kind`; for `zscore`, `minmax` and `log1p-zscore` the lists `center` and `spread`, for `quantile` and `piecewise` the `points`; `medians` if missing values are replaced |
//! | `inputs` | nets and kernels with indicators of missing values or categorical features: lists `kind`, `feature` and `level` with one number per input |
//! | `encoding` | nets with scaling `piecewise`: for each input the means of its bins |
//! | `activation`, `layers` | nets: the activation function, and for each layer `weights`, a list per input, and `bias` |
//! | `skip` | nets with a skip connection: a weight per input |
//! | `trees` | trees: for each, `branches` and `leaves` |
//! | `kernel` | kernels: `kind` with `gamma` or `degree`, `points`, `offsets`, `weights` |
//!
//! A feature x is scaled to (x - center) / spread, or to 0 if the spread is 0. Scalings that begin with `log1p` first
//! apply sign(x) ln(1 + abs(x)). Scalings that begin with `query-` compute center and spread from the documents of the
//! query: minimum and range, or mean and standard deviation (divided by the number of documents). `quantile`
//! interpolates linearly between a feature's `points`, pairs of x and y, and is constant outside of them; so does `piecewise`. A
//! missing feature (NaN) is replaced by its median before it is scaled. An input of kind 0 is the scaled feature (counted from 0);
//! of kind 1, 1 if the feature is missing, otherwise 0; of kind 2, 1 if the unscaled feature is the level, otherwise 0. Without
//! `inputs`, the inputs are the scaled features.
//!
//! The first layer of a net with `encoding` reads, for each bin t of each input y, clip(y - t, 0, 1) - mean.
//!
//! A layer computes x W + b, followed by the activation function for all layers except the last. `skip` adds the sum of each input
//! of the first layer times its weight to the score. A branch goes to
//! `left` if its feature (counted from 0) is at most the `threshold`, or is NaN and `nan_left` is true; children of 0
//! or more are branches, negative ones the leaves -1 - child. A score is the sum of the leaves over all trees.
//! Thresholds are for unscaled features, except with scaling within queries. A score of kernels is the sum over points
//! p of weight exp(-gamma |x - p|^2) or weight (x . p + offset)^degree.

use super::net::Net;
use super::numbers::FlatInputs;
use super::plain::{PlainTree, PlainTrees};
use super::scaling::is_per_query;
use super::{Exported, Request};
use crate::data::Encoding;
use crate::data::scale::Step;
use crate::error::{Error, Result};
use crate::model::{Activation, Child, Dense, KernelKind, KernelRanker, Scorer};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    name: &'a str,
    kind: &'static str,
    features: &'a [String],
    scaling: ScalingText,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<Vec<Vec<f32>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inputs: Option<FlatInputs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    activation: Option<Activation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layers: Option<Vec<LayerText>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skip: Vec<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trees: Option<Vec<TreeText>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<KernelText<'a>>,
}

#[derive(Serialize, Default)]
struct ScalingText {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    center: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spread: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<Vec<Vec<(f32, f64)>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    medians: Option<Vec<f32>>,
}

#[derive(Serialize)]
struct LayerText {
    weights: Vec<Vec<f32>>,
    bias: Vec<f32>,
}

#[derive(Serialize)]
struct TreeText {
    branches: Vec<BranchText>,
    leaves: Vec<f64>,
}

#[derive(Serialize)]
struct BranchText {
    feature: usize,
    threshold: f32,
    nan_left: bool,
    left: i64,
    right: i64,
}

#[derive(Serialize)]
struct KernelText<'a> {
    #[serde(flatten)]
    kind: KernelKind,
    points: Vec<&'a [f32]>,
    #[serde(skip_serializing_if = "<[f32]>::is_empty")]
    offsets: &'a [f32],
    weights: &'a [f32],
}

pub(super) fn write(request: &Request<'_>) -> Result<Exported> {
    let model = request.model;
    let kind = model.info.scaler.kind().name();
    let mut document = Document {
        format: "burnrank-export-1",
        name: &request.name,
        kind: "net",
        features: &request.feature_names,
        scaling: ScalingText::of(model.info.scaler.steps(), kind),
        encoding: None,
        inputs: FlatInputs::of(&model.info.scaler),
        activation: None,
        layers: None,
        skip: Vec::new(),
        trees: None,
        kernel: None,
    };
    document.scaling.medians = Some(model.info.scaler.medians().to_vec()).filter(|medians| !medians.is_empty());
    match &model.scorer {
        Scorer::Net(ranker) => {
            let net = Net::of(model, ranker)?;
            document.activation = net.activation;
            document.layers = Some(net.layers.iter().map(LayerText::of).collect());
            document.encoding = net.encoding.as_deref().map(means_of_bins);
            document.skip = net.skip.iter().map(|&weight| weight as f32).collect();
        }
        Scorer::Trees(forest) => {
            let trees = PlainTrees::of(forest, model.info.scaler.steps())?;
            let kind = if is_per_query(trees.scaling) { kind } else { "none" };
            (document.kind, document.scaling) = ("trees", ScalingText::of(trees.scaling, kind));
            document.trees = Some(trees.trees.iter().map(TreeText::of).collect());
        }
        Scorer::Kernel(ranker) => {
            (document.kind, document.kernel) = ("kernel", Some(KernelText::of(ranker)));
        }
    }
    let text = serde_json::to_string_pretty(&document).map_err(|error| Error::Record(error.to_string()))?;
    Ok(Exported::alone(text + "\n"))
}

impl ScalingText {
    fn of(steps: &[Step], kind: &'static str) -> Self {
        let mut text = ScalingText { kind, ..ScalingText::default() };
        for step in steps {
            match step {
                Step::SignedLog | Step::WithinQuery(_) => {}
                Step::Affine(affine) => {
                    (text.center, text.spread) = (Some(affine.center.clone()), Some(affine.spread.clone()));
                }
                Step::Lines(lines) => text.points = Some(lines.points()),
                Step::Pieces(pieces) => text.points = Some(pieces.lines().points()),
            }
        }
        text
    }
}

/// The means of the bins of each input.
fn means_of_bins(encoding: &Encoding) -> Vec<Vec<f32>> {
    encoding.features().iter().map(|of| encoding.means()[of.first..of.first + of.bins].to_vec()).collect()
}

impl LayerText {
    fn of(layer: &Dense<f64>) -> Self {
        let single = |numbers: &[f64]| numbers.iter().map(|&number| number as f32).collect();
        let weights = (0..layer.inputs).map(|input| single(layer.row(input))).collect();
        LayerText { weights, bias: single(&layer.bias) }
    }
}

impl TreeText {
    fn of(tree: &PlainTree) -> Self {
        let child = |child| match child {
            Child::Branch(index) => index as i64,
            Child::Leaf(index) => -1 - index as i64,
        };
        let branches = tree.branches.iter().map(|branch| BranchText {
            feature: branch.feature,
            threshold: branch.threshold,
            nan_left: branch.nan_left,
            left: child(branch.left),
            right: child(branch.right),
        });
        TreeText { branches: branches.collect(), leaves: tree.leaves.clone() }
    }
}

impl<'a> KernelText<'a> {
    fn of(ranker: &'a KernelRanker) -> Self {
        KernelText {
            kind: ranker.kernel(),
            points: ranker.points().chunks(ranker.config().features.max(1)).collect(),
            offsets: ranker.offsets(),
            weights: ranker.weights(),
        }
    }
}
