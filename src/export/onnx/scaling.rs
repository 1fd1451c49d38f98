//! Scalings as graph nodes, in f64.

use super::Graph;
use super::proto::{Attribute, Element, doubles, integers, node, singles};
use crate::data::scale::{Affine, Input, Statistic, Step};
use crate::data::{Encoding, Scaler};

impl Graph {
    /// Adds the nodes of missing values, scaling and categories, and returns the name of the inputs, f32.
    pub(super) fn inputs(&mut self, scaler: &Scaler, scaling: &[Step], features: usize) -> &'static str {
        let mut from = "features";
        if !scaler.medians().is_empty() {
            self.constants.push(singles("medians", &[features], scaler.medians().iter().copied().map(f64::from)));
            self.add("IsNaN", &["features"], "is_missing");
            self.add("Where", &["is_missing", "medians", "features"], "imputed");
            from = "imputed";
        }
        let scaled = self.scaled(scaling, features, from);
        if !scaler.widens() {
            return scaled;
        }
        let inputs = scaler.inputs();
        let columns = |of: fn(&Input) -> bool| -> Vec<i64> {
            inputs.iter().filter(|input| of(input)).map(|input| input.feature() as i64).collect()
        };
        let mut parts = vec!["scaled_inputs"];
        self.constants.push(integers("scaled_columns", &columns(|input| matches!(input, Input::Scaled(_)))));
        self.gather(scaled, "scaled_columns", "scaled_inputs");
        let missing = columns(|input| matches!(input, Input::Missing(_)));
        if !missing.is_empty() {
            self.constants.push(integers("missing_columns", &missing));
            self.gather("is_missing", "missing_columns", "are_missing");
            self.cast("are_missing", Element::Single, "missing_inputs");
            parts.push("missing_inputs");
        }
        let levels = inputs.iter().filter_map(|input| match input {
            Input::Level(_, level) => Some(f64::from(*level)),
            _ => None,
        });
        let levels = levels.collect::<Vec<_>>();
        if !levels.is_empty() {
            self.constants.push(integers("level_columns", &columns(|input| matches!(input, Input::Level(..)))));
            self.constants.push(singles("levels", &[levels.len()], levels));
            self.gather("features", "level_columns", "categories");
            self.add("Equal", &["categories", "levels"], "are_levels");
            self.cast("are_levels", Element::Single, "level_inputs");
            parts.push("level_inputs");
        }
        self.nodes.push(node("Concat", "", &parts, "inputs", vec![("axis", Attribute::Int(1))]));
        "inputs"
    }

    /// Selects columns.
    fn gather(&mut self, input: &str, columns: &str, output: &str) {
        self.nodes.push(node("Gather", "", &[input, columns], output, vec![("axis", Attribute::Int(1))]));
    }

    /// Adds the nodes of the scaling of `from`, and returns the name of the scaled features, f32.
    pub(super) fn scaled(&mut self, scaling: &[Step], features: usize, from: &'static str) -> &'static str {
        if scaling.is_empty() {
            return from;
        }
        self.cast(from, Element::Double, "raw");
        let last = scaling.iter().fold("raw", |input, step| match step {
            Step::SignedLog => self.log(input),
            Step::Affine(affine) => self.affine(affine, features, input),
            Step::Lines(lines) => self.points(&lines.points(), input),
            Step::Pieces(pieces) => self.points(&pieces.lines().points(), input),
            Step::WithinQuery(Statistic::Range) => self.query_range(input),
            Step::WithinQuery(Statistic::Moments) => self.query_moments(input),
        });
        self.cast(last, Element::Single, "scaled");
        "scaled"
    }

    /// Adds the nodes of encoded features, and returns the name of the inputs of the first layer, f32.
    pub(super) fn encoded(&mut self, encoding: &Encoding, positions: &str) -> &'static str {
        let count = encoding.n_inputs();
        let features = || encoding.features().iter().enumerate();
        let columns = features().flat_map(|(feature, inputs)| std::iter::repeat_n(feature as i64, inputs.bins));
        let bins = features().flat_map(|(_, inputs)| (0..inputs.bins).map(|bin| bin as f64));
        self.constants.push(integers("column_of_bin", &columns.collect::<Vec<_>>()));
        self.constants.push(singles("bins", &[count], bins));
        self.constants.push(singles("bin_means", &[count], encoding.means().iter().map(|&mean| f64::from(mean))));
        self.constants.push(singles("bin_start", &[], [0.0]));
        self.constants.push(singles("bin_end", &[], [1.0]));
        self.gather(positions, "column_of_bin", "positions");
        self.add("Sub", &["positions", "bins"], "above_bins");
        self.add("Clip", &["above_bins", "bin_start", "bin_end"], "in_bins");
        self.add("Sub", &["in_bins", "bin_means"], "encoded");
        "encoded"
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

    /// Piecewise linear: the first y plus, for each piece, its slope times the part of x inside it.
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
        self.constants.push(doubles("slope", &sides, slope));
        self.constants.push(doubles("lowest", &[points.len()], points.iter().map(|points| points[0].1)));
        self.constants.push(integers("third_axis", &[2]));
        self.add("Unsqueeze", &[input, "third_axis"], "each");
        self.add("Max", &["each", "starts"], "from_start");
        self.add("Min", &["from_start", "ends"], "to_end");
        self.add("Sub", &["to_end", "starts"], "inside");
        self.add("Mul", &["inside", "slope"], "rises");
        let together = vec![("keepdims", Attribute::Int(0))];
        self.nodes.push(node("ReduceSum", "", &["rises", "third_axis"], "risen", together));
        self.add("Add", &["risen", "lowest"], "interpolated");
        "interpolated"
    }

    /// Minimum, maximum and whether they differ within the query, and zero.
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
}
