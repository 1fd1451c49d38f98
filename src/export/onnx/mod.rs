//! `onnx`: a graph for ONNX Runtime and others (operator sets 13 and `ai.onnx.ml` 3).
//!
//! The input `features` is `[documents, features]`, f32, unscaled; the output `scores` is `[documents]`. For scaling
//! within queries the documents must be the candidates of one query, because the graph uses `ReduceMin`, `ReduceMax`
//! and `ReduceMean` over the first axis. For other scalings any documents can be scored together.
//!
//! Nets are `Gemm` and activation nodes in f32; scaling that is not folded into the first layer is in f64. Trees are a
//! `TreeEnsembleRegressor` with f64 inputs and leaves, kernels are matrix products in f64; both are as exact as in
//! burnrank.

mod proto;
mod scaling;
mod trees;

use super::net::Net;
use super::plain::{PlainTree, PlainTrees};
use super::{Exported, Request};
use crate::error::Result;
use crate::model::{Activation, KernelKind, KernelRanker, Scorer};
use proto::{Attribute, Element, Message, Side, doubles, integers, node, singles, value};
use trees::TreeTable;

const IR_VERSION: i64 = 8;
const OPERATORS: i64 = 13;
const ML: &str = "ai.onnx.ml";
const ML_OPERATORS: i64 = 3;

pub(super) fn write(request: &Request<'_>) -> Result<Exported> {
    let model = request.model;
    let features = model.info.n_features();
    let mut graph = Graph::default();
    match &model.scorer {
        Scorer::Net(ranker) => {
            let net = Net::of(model, ranker)?.folded();
            let input = graph.inputs(&model.info.scaler, net.scaling, features);
            let input = net.encoding.as_ref().map_or(input, |encoding| graph.encoded(encoding, input));
            graph.net(&net, input);
        }
        Scorer::Trees(forest) => {
            let trees = PlainTrees::of(forest, model.info.scaler.steps())?;
            let input = graph.scaled(trees.scaling, features, "features");
            graph.trees(&trees.trees, input);
        }
        Scorer::Kernel(ranker) => {
            let input = graph.inputs(&model.info.scaler, model.info.scaler.steps(), features);
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
    if model.info.scaler.is_per_query() {
        exported.note =
            "The graph scores the candidates of one query at a time, because it scales features within its \
                         input."
                .into();
    }
    Ok(exported)
}

/// Nodes in the order of computation, and their constants.
#[derive(Default)]
struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
}

impl Graph {
    fn add(&mut self, operator: &str, inputs: &[&str], output: &str) {
        self.nodes.push(node(operator, "", inputs, output, vec![]));
    }

    /// Adds a reduction over one axis, which is kept with length 1.
    fn reduce(&mut self, operator: &str, input: &str, axis: i64, output: &str) {
        let axes = vec![("axes", Attribute::Ints(vec![axis])), ("keepdims", Attribute::Int(1))];
        self.nodes.push(node(operator, "", &[input], output, axes));
    }

    fn cast(&mut self, input: &str, to: Element, output: &str) {
        self.nodes.push(node("Cast", "", &[input], output, vec![("to", Attribute::Int(to as i64))]));
    }

    fn net(&mut self, net: &Net<'_>, input: &str) {
        let function = match net.activation {
            Some(Activation::Sigmoid) => "Sigmoid",
            Some(Activation::Tanh) => "Tanh",
            Some(Activation::Relu) => "Relu",
            None => "Identity",
        };
        let inputs = input;
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
        if !net.skip.is_empty() {
            self.constants.push(singles("skip", &[net.skip.len(), 1], net.skip.iter().copied()));
            self.add("MatMul", &[inputs, "skip"], "linear");
            self.add("Add", &[&input, "linear"], "sum");
            input = "sum".into();
        }
        self.squeeze(&input);
    }

    fn trees(&mut self, trees: &[PlainTree], input: &str) {
        self.cast(input, Element::Double, "exact");
        self.nodes.push(node("TreeEnsembleRegressor", ML, &["exact"], "sums", TreeTable::of(trees).attributes()));
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
                self.constants.push(integers("last_axis", &[1]));
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
        self.constants.push(integers("second_axis", &[1]));
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
