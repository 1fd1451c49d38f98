//! `onnx`: a graph for ONNX Runtime and others (operator sets 13 and `ai.onnx.ml` 3).
//!
//! The input `features` is `[documents, features]`, f32 and raw; the output `scores` is `[documents]`. The documents are those of
//! ONE query, the list of candidates: scaling within the query is `ReduceMin`, `ReduceMax` and `ReduceMean` over the first axis.
//! Models of other scalings score documents one by one, in any number.
//!
//! Nets are `Gemm` and the function in f32; scaling that is not folded into the first layer is computed in f64. Trees are a
//! `TreeEnsembleRegressor` with f64 leaves behind a cast to f64, kernels are matrix products in f64: both as exact as here.

mod proto;

use super::net::Net;
use super::plain::{PlainTree, PlainTrees};
use super::scaling::{Affine, Scaling};
use super::{Exported, Request};
use crate::error::Result;
use crate::model::{Activation, Child, KernelKind, KernelRanker, Scorer};
use proto::{Attribute, Element, Message, Side, doubles, node, singles, value, wholes};

const IR_VERSION: i64 = 8;
const OPERATORS: i64 = 13;
const ML: &str = "ai.onnx.ml";
const ML_OPERATORS: i64 = 3;

pub(super) fn write(request: &Request<'_>) -> Result<Exported> {
    let model = request.model;
    let features = model.info.ranker.features;
    let mut graph = Graph::default();
    match &model.scorer {
        Scorer::Net(ranker) => {
            let net = Net::of(model, ranker)?.folded();
            let input = graph.scaled(&net.scaling, features);
            graph.net(&net, input);
        }
        Scorer::Trees(forest) => {
            let trees = PlainTrees::of(forest, Scaling::of(&model.info.scaler))?;
            let input = graph.scaled(&trees.scaling, features);
            graph.trees(&trees.trees, input);
        }
        Scorer::Kernel(ranker) => {
            let input = graph.scaled(&Scaling::of(&model.info.scaler), features);
            graph.kernel(ranker, input);
        }
    }
    let about = |key: &str, value: &str| Message::default().text(1, key).text(2, value);
    let operators = |domain: &str, version| Message::default().text(1, domain).int(2, version);
    let message = Message::default()
        .int(1, IR_VERSION)
        .text(2, "burnrank")
        .text(3, env!("CARGO_PKG_VERSION"))
        .text(6, &request.title())
        .message(7, graph.finish(&request.name, features))
        .message(8, operators("", OPERATORS))
        .message(8, operators(ML, ML_OPERATORS))
        .message(14, about("features", &request.feature_names.join(" ")));
    let mut exported = Exported::alone(message.into_bytes());
    if model.info.scaler.kind().is_per_query() {
        exported.note =
            "The graph scores the candidates of one query at a time: features are scaled within the list that it \
                         is given."
                .into();
    }
    Ok(exported)
}

/// Nodes in the order of computation, and the constants that they take.
#[derive(Default)]
struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
}

impl Graph {
    fn add(&mut self, operator: &str, inputs: &[&str], output: &str) {
        self.nodes.push(node(operator, "", inputs, output, vec![]));
    }

    /// A reduction over one axis that stays, of length 1.
    fn reduce(&mut self, operator: &str, input: &str, axis: i64, output: &str) {
        let axes = vec![("axes", Attribute::Ints(vec![axis])), ("keepdims", Attribute::Int(1))];
        self.nodes.push(node(operator, "", &[input], output, axes));
    }

    fn cast(&mut self, input: &str, to: Element, output: &str) {
        self.nodes.push(node("Cast", "", &[input], output, vec![("to", Attribute::Int(to as i64))]));
    }

    /// The name of the features as the scorer takes them, f32.
    fn scaled(&mut self, scaling: &Scaling, features: usize) -> &'static str {
        if *scaling == Scaling::None {
            return "features";
        }
        self.cast("features", Element::Double, "raw");
        let last = match scaling {
            Scaling::None => "raw",
            Scaling::Log => self.log("raw"),
            Scaling::Affine(affine) => self.affine(affine, features, "raw"),
            Scaling::LogAffine(affine) => {
                let log = self.log("raw");
                self.affine(affine, features, log)
            }
            Scaling::Points(points) => self.points(points, "raw"),
            Scaling::QueryRange => self.query_range("raw"),
            Scaling::QueryMoments => self.query_moments("raw"),
        };
        self.cast(last, Element::Single, "scaled");
        "scaled"
    }

    /// sign(x) ln(1 + abs(x)).
    fn log(&mut self, input: &str) -> &'static str {
        self.constants.push(doubles("one", &[1], [1.0]));
        self.add("Abs", &[input], "size");
        self.add("Add", &["size", "one"], "above_one");
        self.add("Log", &["above_one"], "log_size");
        self.add("Sign", &[input], "sign");
        self.add("Mul", &["sign", "log_size"], "log");
        "log"
    }

    fn affine(&mut self, affine: &Affine, features: usize, input: &str) -> &'static str {
        self.constants.push(doubles("center", &[features], affine.center.iter().copied()));
        self.constants.push(doubles("factor", &[features], affine.factors()));
        self.add("Sub", &[input, "center"], "centered");
        self.add("Mul", &["centered", "factor"], "standard");
        "standard"
    }

    /// The first y, and for each piece of the line its slope times as much of x as lies inside of it.
    fn points(&mut self, points: &[Vec<(f32, f64)>], input: &str) -> &'static str {
        let pieces = points.iter().map(|points| points.len() - 1).max().unwrap_or(0).max(1);
        let (mut start, mut end, mut slope) = (Vec::new(), Vec::new(), Vec::new());
        for points in points {
            for piece in 0..pieces {
                let from = points[piece.min(points.len() - 1)];
                let to = points[(piece + 1).min(points.len() - 1)];
                let (x, next) = (f64::from(from.0), f64::from(to.0));
                start.push(x);
                end.push(next);
                slope.push(if next > x { (to.1 - from.1) / (next - x) } else { 0.0 });
            }
        }
        let sides = [points.len(), pieces];
        self.constants.push(doubles("starts", &sides, start));
        self.constants.push(doubles("ends", &sides, end));
        self.constants.push(doubles("slopes", &sides, slope));
        self.constants.push(doubles("lowest", &[points.len()], points.iter().map(|points| points[0].1)));
        self.constants.push(wholes("third_axis", &[2]));
        self.add("Unsqueeze", &[input, "third_axis"], "each");
        self.add("Max", &["each", "starts"], "from_start");
        self.add("Min", &["from_start", "ends"], "to_end");
        self.add("Sub", &["to_end", "starts"], "inside");
        self.add("Mul", &["inside", "slopes"], "rises");
        let together = vec![("keepdims", Attribute::Int(0))];
        self.nodes.push(node("ReduceSum", "", &["rises", "third_axis"], "risen", together));
        self.add("Add", &["risen", "lowest"], "interpolated");
        "interpolated"
    }

    /// Where the query's values differ, and zero.
    fn query_ends(&mut self, input: &str) {
        self.constants.push(doubles("zero", &[1], [0.0]));
        self.reduce("ReduceMin", input, 0, "low");
        self.reduce("ReduceMax", input, 0, "high");
        self.add("Greater", &["high", "low"], "varies");
    }

    fn query_range(&mut self, input: &str) -> &'static str {
        self.query_ends(input);
        self.add("Sub", &["high", "low"], "range");
        self.add("Sub", &[input, "low"], "above_low");
        self.add("Div", &["above_low", "range"], "share");
        self.add("Where", &["varies", "share", "zero"], "ranged");
        "ranged"
    }

    fn query_moments(&mut self, input: &str) -> &'static str {
        self.query_ends(input);
        self.reduce("ReduceMean", input, 0, "mean");
        self.add("Sub", &[input, "mean"], "distance");
        self.add("Mul", &["distance", "distance"], "square");
        self.reduce("ReduceMean", "square", 0, "variance");
        self.add("Sqrt", &["variance"], "deviation");
        self.add("Div", &["distance", "deviation"], "ratio");
        self.add("Where", &["varies", "ratio", "zero"], "standard");
        "standard"
    }

    fn net(&mut self, net: &Net, input: &str) {
        let function = match net.activation {
            Some(Activation::Sigmoid) => "Sigmoid",
            Some(Activation::Tanh) => "Tanh",
            Some(Activation::Relu) => "Relu",
            None => "Identity",
        };
        let mut input = input.to_owned();
        for (place, layer) in net.layers.iter().enumerate() {
            let [weights, bias, sums, values] =
                ["weights", "bias", "sums", "values"].map(|name| format!("{name}{}", place + 1));
            self.constants.push(singles(&weights, &[layer.inputs, layer.units], layer.weights.iter().copied()));
            self.constants.push(singles(&bias, &[layer.units], layer.bias.iter().copied()));
            self.add("Gemm", &[&input, &weights, &bias], &sums);
            input = sums;
            if place + 1 < net.layers.len() {
                self.add(function, &[&input], &values);
                input = values;
            }
        }
        self.squeeze(&input);
    }

    fn trees(&mut self, trees: &[PlainTree], input: &str) {
        self.cast(input, Element::Double, "exact");
        let mut table = TreeTable::default();
        trees.iter().enumerate().for_each(|(index, tree)| table.add(index as i64, tree));
        let attributes = table.attributes();
        self.nodes.push(node("TreeEnsembleRegressor", ML, &["exact"], "sums", attributes));
        self.squeeze("sums");
    }

    fn kernel(&mut self, ranker: &KernelRanker, input: &str) {
        let (features, points) = (ranker.config().features, ranker.weights().len());
        let numbers = |numbers: &[f32]| numbers.iter().map(|&number| f64::from(number)).collect::<Vec<f64>>();
        let all = numbers(ranker.points());
        let turned = (0..features).flat_map(|i| all.iter().skip(i).step_by(features.max(1)).copied());
        self.constants.push(doubles("points", &[features, points], turned));
        self.constants.push(doubles("weights", &[points, 1], numbers(ranker.weights())));
        self.cast(input, Element::Double, "exact");
        self.add("MatMul", &["exact", "points"], "products");
        match ranker.kernel() {
            // |x - p|^2 = x . x + p . p - 2 x . p
            KernelKind::Gaussian { gamma } => {
                let squares = all.chunks(features.max(1)).map(|point| point.iter().map(|x| x * x).sum::<f64>());
                self.constants.push(doubles("point_squares", &[points], squares));
                self.constants.push(doubles("minus_two", &[1], [-2.0]));
                self.constants.push(doubles("minus_gamma", &[1], [-gamma]));
                self.add("Mul", &["exact", "exact"], "squared");
                self.constants.push(wholes("last_axis", &[1]));
                self.add("ReduceSum", &["squared", "last_axis"], "squares");
                self.add("Mul", &["products", "minus_two"], "doubled");
                self.add("Add", &["doubled", "point_squares"], "nearer");
                self.add("Add", &["nearer", "squares"], "distances");
                self.add("Mul", &["distances", "minus_gamma"], "exponents");
                self.add("Exp", &["exponents"], "likeness");
            }
            KernelKind::Polynomial { degree } => {
                self.constants.push(doubles("offsets", &[points], numbers(ranker.offsets())));
                self.constants.push(doubles("degree", &[1], [f64::from(degree)]));
                self.add("Add", &["products", "offsets"], "bases");
                self.add("Pow", &["bases", "degree"], "likeness");
            }
        }
        self.add("MatMul", &["likeness", "weights"], "exact_sums");
        self.cast("exact_sums", Element::Single, "sums");
        self.squeeze("sums");
    }

    /// `[documents, 1]` to `[documents]`.
    fn squeeze(&mut self, input: &str) {
        self.constants.push(wholes("second_axis", &[1]));
        self.add("Squeeze", &[input, "second_axis"], "scores");
    }

    fn finish(self, name: &str, features: usize) -> Message {
        let graph = self.nodes.into_iter().fold(Message::default(), |graph, node| graph.message(1, node)).text(2, name);
        let graph = self.constants.into_iter().fold(graph, |graph, constant| graph.message(5, constant));
        let documents = Side::Any("documents");
        let input = value("features", &[documents, Side::Fixed(features)]);
        graph.message(11, input).message(12, value("scores", &[documents]))
    }
}

/// The columns of a `TreeEnsembleRegressor`.
#[derive(Default)]
struct TreeTable {
    trees: Vec<i64>,
    nodes: Vec<i64>,
    features: Vec<i64>,
    modes: Vec<&'static str>,
    thresholds: Vec<f64>,
    nan_left: Vec<i64>,
    left: Vec<i64>,
    right: Vec<i64>,
    leaf_trees: Vec<i64>,
    leaf_nodes: Vec<i64>,
    leaves: Vec<f64>,
}

impl TreeTable {
    /// Branches are numbered from 0, leaves after them.
    fn add(&mut self, index: i64, tree: &PlainTree) {
        let branches = tree.branches.len() as i64;
        let number = |child| match child {
            Child::Branch(branch) => branch as i64,
            Child::Leaf(leaf) => branches + leaf as i64,
        };
        for (place, branch) in tree.branches.iter().enumerate() {
            let row = (branch.feature as i64, "BRANCH_LEQ", f64::from(branch.threshold), i64::from(branch.nan_left));
            self.row(index, place as i64, row, [number(branch.left), number(branch.right)]);
        }
        for (leaf, value) in tree.leaves.iter().enumerate() {
            let place = number(Child::Leaf(leaf));
            self.row(index, place, (0, "LEAF", 0.0, 0), [0, 0]);
            self.leaf_trees.push(index);
            self.leaf_nodes.push(place);
            self.leaves.push(*value);
        }
    }

    fn row(&mut self, tree: i64, place: i64, node: (i64, &'static str, f64, i64), [left, right]: [i64; 2]) {
        self.trees.push(tree);
        self.nodes.push(place);
        self.features.push(node.0);
        self.modes.push(node.1);
        self.thresholds.push(node.2);
        self.nan_left.push(node.3);
        self.left.push(left);
        self.right.push(right);
    }

    fn attributes(self) -> Vec<(&'static str, Attribute)> {
        let exact = |values: Vec<f64>| Attribute::Tensor(doubles("", &[values.len()], values));
        vec![
            ("n_targets", Attribute::Int(1)),
            ("aggregate_function", Attribute::Text("SUM")),
            ("post_transform", Attribute::Text("NONE")),
            ("nodes_treeids", Attribute::Ints(self.trees)),
            ("nodes_nodeids", Attribute::Ints(self.nodes)),
            ("nodes_featureids", Attribute::Ints(self.features)),
            ("nodes_modes", Attribute::Texts(self.modes)),
            ("nodes_values_as_tensor", exact(self.thresholds)),
            ("nodes_missing_value_tracks_true", Attribute::Ints(self.nan_left)),
            ("nodes_truenodeids", Attribute::Ints(self.left)),
            ("nodes_falsenodeids", Attribute::Ints(self.right)),
            ("target_ids", Attribute::Ints(vec![0; self.leaves.len()])),
            ("target_treeids", Attribute::Ints(self.leaf_trees)),
            ("target_nodeids", Attribute::Ints(self.leaf_nodes)),
            ("target_weights_as_tensor", exact(self.leaves)),
        ]
    }
}
