//! Scalings as graph nodes, in f64.

use super::Graph;
use super::proto::{Attribute, Element, doubles, integers, node, singles};
use crate::data::Encoding;
use crate::data::scale::{Affine, Statistic, Step};

impl Graph {
    /// Adds the nodes of the scaling, and returns the name of the scaled features, f32.
    pub(super) fn scaled(&mut self, scaling: &[Step], features: usize) -> &'static str {
        if scaling.is_empty() {
            return "features";
        }
        self.cast("features", Element::Double, "raw");
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

    /// Adds the nodes of encoded features, and returns the name of the inputs of the net, f32.
    pub(super) fn encoded(&mut self, encoding: &Encoding, positions: &str) -> &'static str {
        let count = encoding.n_inputs();
        let (mut of_input, mut bins, mut indicators) = (Vec::new(), Vec::new(), Vec::new());
        for (feature, inputs) in encoding.features().iter().enumerate() {
            of_input.extend(std::iter::repeat_n(feature as i64, inputs.len()));
            bins.extend((0..inputs.len()).map(|bin| if bin < inputs.bins { bin as f64 } else { 0.0 }));
            indicators.extend((0..inputs.len()).map(|bin| f64::from(u8::from(bin == inputs.bins))));
        }
        self.constants.push(integers("feature_of_input", &of_input));
        self.constants.push(singles("bin", &[count], bins));
        self.constants.push(singles("input_mean", &[count], encoding.means().iter().map(|&mean| f64::from(mean))));
        self.constants.push(singles("indicator", &[count], indicators));
        self.constants.push(singles("nought", &[], [0.0]));
        self.constants.push(singles("unit", &[], [1.0]));
        let second = || vec![("axis", Attribute::Int(1))];
        self.nodes.push(node("Gather", "", &["features", "feature_of_input"], "value_of_input", second()));
        self.add("IsNaN", &["value_of_input"], "missing");
        self.nodes.push(node("Gather", "", &[positions, "feature_of_input"], "position", second()));
        self.add("Sub", &["position", "bin"], "above_bin");
        self.add("Clip", &["above_bin", "nought", "unit"], "in_bin");
        self.add("Sub", &["in_bin", "input_mean"], "around_mean");
        self.add("Sub", &["unit", "indicator"], "is_bin");
        self.add("Mul", &["around_mean", "is_bin"], "of_bins");
        self.add("Where", &["missing", "indicator", "of_bins"], "inputs");
        "inputs"
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
