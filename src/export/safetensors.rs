//! `safetensors`: the length of the header (u64, little-endian), a JSON header with type, shape and position of each
//! tensor, and the tensors, little-endian.
//!
//! The tensors of a net have the names and shapes of PyTorch's `Sequential(Linear, Tanh, ..., Linear(bias=False))`:
//! `0.weight` of `[units, inputs]`, `0.bias`, `2.weight`, ... Trees are concatenated lists with one number per branch,
//! as in [`json`](super::json): `trees.root`, `branches.feature`, `.threshold`, `.nan_left`, `.left`, `.right` and
//! `leaves`. Kernels are `points`, `offsets` and `weights`. `scaling.center` and `scaling.spread` are f64; `quantile`
//! and `piecewise` have `scaling.x` (f32) and `scaling.y` (f64), the points of each feature. With missing values there is
//! `scaling.medians`, and with indicators or categorical features `inputs.kind`, `.feature` and `.level`, as in
//! [`json`](super::json). Nets with scaling `piecewise` have `encoding.bins`, the number of bins of each input, and
//! `encoding.means`, the means of all bins, and nets with a skip connection `skip.weight`. The header's `__metadata__` has kind,
//! activation, scaling and the feature names, separated by spaces.

use super::net::Net;
use super::numbers::{FlatInputs, FlatTrees};
use super::plain::PlainTrees;
use super::scaling::is_per_query;
use super::{Exported, Request};
use crate::data::Scaler;
use crate::data::scale::{Lines, Step};
use crate::error::{Error, Result};
use crate::model::{KernelKind, Scorer};
use serde_json::{Map, Value, json};

/// Tensors in the order of their bytes.
#[derive(Default)]
struct Tensors {
    header: Map<String, Value>,
    bytes: Vec<u8>,
}

impl Tensors {
    fn put<const N: usize, T: Copy>(
        &mut self,
        name: &str,
        kind: &str,
        shape: &[usize],
        values: &[T],
        bytes: impl Fn(T) -> [u8; N],
    ) {
        let start = self.bytes.len();
        self.bytes.extend(values.iter().flat_map(|&value| bytes(value)));
        let place = [start, self.bytes.len()];
        self.header.insert(name.into(), json!({ "dtype": kind, "shape": shape, "data_offsets": place }));
    }

    fn singles(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        self.put(name, "F32", shape, values, f32::to_le_bytes);
    }

    fn doubles(&mut self, name: &str, values: &[f64]) {
        self.put(name, "F64", &[values.len()], values, f64::to_le_bytes);
    }

    fn whole(&mut self, name: &str, values: &[i32]) {
        self.put(name, "I32", &[values.len()], values, i32::to_le_bytes);
    }

    fn inputs(&mut self, scaler: &Scaler) {
        if !scaler.medians().is_empty() {
            self.singles("scaling.medians", &[scaler.n_features()], scaler.medians());
        }
        if let Some(flat) = FlatInputs::of(scaler) {
            self.whole("inputs.kind", &flat.kind);
            self.whole("inputs.feature", &flat.feature);
            self.singles("inputs.level", &[flat.level.len()], &flat.level);
        }
    }

    fn scaling(&mut self, step: &Step) {
        match step {
            Step::SignedLog | Step::WithinQuery(_) => {}
            Step::Affine(affine) => {
                self.doubles("scaling.center", &affine.center);
                self.doubles("scaling.spread", &affine.spread);
            }
            Step::Lines(_) | Step::Pieces(_) => {
                // All of one length: the last point is repeated.
                let points = step.lines().map(Lines::points).unwrap_or_default();
                let length = points.iter().map(Vec::len).max().unwrap_or(0);
                let padded = points.iter().flat_map(|points| {
                    let last = points.last().copied().unwrap_or_default();
                    points.iter().copied().chain(std::iter::repeat_n(last, length - points.len()))
                });
                let (x, y): (Vec<f32>, Vec<f64>) = padded.unzip();
                self.put("scaling.y", "F64", &[points.len(), length], &y, f64::to_le_bytes);
                self.singles("scaling.x", &[points.len(), length], &x);
            }
        }
    }
}

pub(super) fn write(request: &Request<'_>) -> Result<Exported> {
    let model = request.model;
    let mut about = Map::new();
    let mut say = |key: &str, value: &str| _ = about.insert(key.into(), value.into());
    say("format", "burnrank-export-1");
    say("name", &request.name);
    say("features", &request.feature_names.join(" "));
    let mut scaling = model.info.scaler.kind().name();
    // f64 tensors first, so that every tensor is aligned.
    let mut tensors = Tensors::default();
    match &model.scorer {
        Scorer::Net(ranker) => {
            let net = Net::of(model, ranker)?;
            say("kind", "net");
            net.activation.iter().for_each(|activation| say("activation", &activation.to_string()));
            net.scaling.iter().for_each(|step| tensors.scaling(step));
            tensors.inputs(&model.info.scaler);
            if let Some(encoding) = &net.encoding {
                let bins: Vec<i32> = encoding.features().iter().map(|inputs| inputs.bins as i32).collect();
                tensors.whole("encoding.bins", &bins);
                tensors.singles("encoding.means", &[encoding.n_inputs()], encoding.means());
            }
            if !net.skip.is_empty() {
                let weights: Vec<f32> = net.skip.iter().map(|&weight| weight as f32).collect();
                tensors.singles("skip.weight", &[1, weights.len()], &weights);
            }
            for (place, layer) in net.layers.iter().enumerate() {
                let weights: Vec<f32> =
                    (0..layer.units).flat_map(|unit| layer.column(unit)).map(|w| w as f32).collect();
                let bias: Vec<f32> = layer.bias.iter().map(|&bias| bias as f32).collect();
                tensors.singles(&format!("{}.weight", 2 * place), &[layer.units, layer.inputs], &weights);
                if place + 1 < net.layers.len() {
                    tensors.singles(&format!("{}.bias", 2 * place), &[layer.units], &bias);
                }
            }
        }
        Scorer::Trees(forest) => {
            let trees = PlainTrees::of(forest, model.info.scaler.steps())?;
            scaling = if is_per_query(trees.scaling) { scaling } else { "none" };
            let flat = FlatTrees::of(&trees);
            say("kind", "trees");
            tensors.doubles("leaves", &flat.leaves);
            tensors.whole("trees.root", &flat.roots);
            tensors.whole("branches.feature", &flat.feature);
            tensors.singles("branches.threshold", &[flat.threshold.len()], &flat.threshold);
            tensors.whole("branches.left", &flat.left);
            tensors.whole("branches.right", &flat.right);
            tensors.put("branches.nan_left", "U8", &[flat.nan_left.len()], &flat.nan_left, |byte| [byte]);
        }
        Scorer::Kernel(ranker) => {
            let (points, features) = (ranker.weights().len(), ranker.config().features);
            let (kind, key, value) = match ranker.kernel() {
                KernelKind::Gaussian { gamma } => ("gaussian", "gamma", format!("{gamma:?}")),
                KernelKind::Polynomial { degree } => ("polynomial", "degree", degree.to_string()),
            };
            say("kind", kind);
            say(key, &value);
            model.info.scaler.steps().iter().for_each(|step| tensors.scaling(step));
            tensors.inputs(&model.info.scaler);
            tensors.singles("points", &[points, features], ranker.points());
            if !ranker.offsets().is_empty() {
                tensors.singles("offsets", &[points], ranker.offsets());
            }
            tensors.singles("weights", &[points], ranker.weights());
        }
    }
    say("scaling", scaling);
    let mut header = Map::from_iter([("__metadata__".to_owned(), Value::Object(about))]);
    header.extend(tensors.header);
    let mut header = serde_json::to_vec(&header).map_err(|error| Error::Record(error.to_string()))?;
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.append(&mut header);
    bytes.append(&mut tensors.bytes);
    Ok(Exported::alone(bytes))
}
