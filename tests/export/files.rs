//! Formats json and safetensors, and the record of a net: read as documented.

use super::models::{self, Case};
use serde_json::Value;
use std::collections::BTreeMap;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Returns the scaled rows of a query.
fn scaled(kind: &str, scaling: &dyn Fn(&str) -> Vec<f64>, rows: &[Vec<f32>]) -> Vec<Vec<f64>> {
    let log = |x: f64| if kind.starts_with("log1p") { x.abs().ln_1p().copysign(x) } else { x };
    let mut rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|&x| log(f64::from(x))).collect()).collect();
    let width = rows[0].len();
    let (center, spread) = match kind {
        "none" | "log1p" => return rows,
        "zscore" | "minmax" | "log1p-zscore" => (scaling("center"), scaling("spread")),
        "quantile" | "piecewise" => {
            let (x, y) = (scaling("x"), scaling("y"));
            let most = x.len() / width;
            for row in &mut rows {
                for i in 0..width {
                    row[i] = interpolate(&x[i * most..(i + 1) * most], &y[i * most..(i + 1) * most], row[i]);
                }
            }
            return rows;
        }
        _ => {
            let column = |i: usize| rows.iter().map(|row| row[i]).collect::<Vec<f64>>();
            let of = |i: usize| {
                let column = column(i);
                let (low, high) = column.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (x.min(low), x.max(high)));
                let mean = column.iter().sum::<f64>() / column.len() as f64;
                let variance = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / column.len() as f64;
                match kind {
                    "query-minmax" => (low, high - low),
                    "query-zscore" if high > low => (mean, variance.sqrt()),
                    "query-zscore" => (0.0, 0.0),
                    _ => panic!("unknown scaling {kind}"),
                }
            };
            (0..width).map(of).unzip()
        }
    };
    for row in &mut rows {
        for i in 0..width {
            row[i] = if spread[i] > 0.0 { f64::from(((row[i] - center[i]) / spread[i]) as f32) } else { 0.0 };
        }
    }
    rows
}

/// `numpy.interp`.
fn interpolate(x: &[f64], y: &[f64], at: f64) -> f64 {
    if at.is_nan() {
        return at;
    }
    if at <= x[0] {
        return y[0];
    }
    let piece = (1..x.len()).find(|&piece| at <= x[piece] && x[piece] > x[piece - 1]);
    piece.map_or(y[y.len() - 1], |k| y[k - 1] + (at - x[k - 1]) * (y[k] - y[k - 1]) / (x[k] - x[k - 1]))
}

fn function(name: &str, z: f64) -> f64 {
    match name {
        "sigmoid" => 1.0 / (1.0 + (-z).exp()),
        "tanh" => z.tanh(),
        "relu" => z.max(0.0),
        _ => panic!("unknown function {name}"),
    }
}

/// Scores every query by a function of its scaled rows.
fn by_query(case: &Case, kind: &str, scaling: &dyn Fn(&str) -> Vec<f64>, score: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut scores = Vec::new();
    for query in case.data.queries() {
        let rows: Vec<&[f32]> = query.features.chunks(case.data.n_features()).collect();
        let medians = scaling("medians");
        let filled = |row: &&[f32]| {
            let median =
                |(i, &x): (usize, &f32)| medians.get(i).filter(|_| x.is_nan()).map_or(x, |median| *median as f32);
            row.iter().enumerate().map(median).collect::<Vec<f32>>()
        };
        let rows_scaled = scaled(kind, scaling, &rows.iter().map(filled).collect::<Vec<_>>());
        let [kinds, features, levels] = ["kind", "feature", "level"].map(|name| scaling(&format!("inputs.{name}")));
        for (raw, scaled) in rows.iter().zip(rows_scaled) {
            if kinds.is_empty() {
                scores.push(score(&scaled));
                continue;
            }
            let input = |i: usize| {
                let feature = features[i] as usize;
                match kinds[i] as i64 {
                    0 => scaled[feature],
                    1 => f64::from(u8::from(raw[feature].is_nan())),
                    _ => f64::from(u8::from(f64::from(raw[feature]) == levels[i])),
                }
            };
            scores.push(score(&(0..kinds.len()).map(input).collect::<Vec<f64>>()));
        }
    }
    scores
}

fn kernel(kind: &Value, row: &[f64], points: &[Vec<f64>], offsets: &[f64], weights: &[f64]) -> f64 {
    let of = |(place, point): (usize, &Vec<f64>)| match kind["kind"].as_str().unwrap() {
        "gaussian" => {
            let gamma = kind["gamma"].as_f64().unwrap();
            weights[place] * (-gamma * row.iter().zip(point).map(|(x, p)| (x - p).powi(2)).sum::<f64>()).exp()
        }
        _ => {
            let product = row.iter().zip(point).map(|(x, p)| x * p).sum::<f64>() + offsets[place];
            weights[place] * product.powi(kind["degree"].as_i64().unwrap() as i32)
        }
    };
    points.iter().enumerate().map(of).sum()
}

/// The inputs of the first layer for the positions of a document, given the means of the bins of each.
fn encoded(means: &[Vec<f64>], row: &[f64]) -> Vec<f64> {
    let of = |(means, x): (&Vec<f64>, &f64)| {
        means.iter().enumerate().map(|(bin, mean)| (x - bin as f64).clamp(0.0, 1.0) - mean).collect::<Vec<f64>>()
    };
    means.iter().zip(row).flat_map(of).collect()
}

fn score_json(file: &Value, row: &[f64]) -> f64 {
    if file["kind"] == "trees" {
        let tree = |tree: &Value| {
            let branches = tree["branches"].as_array().unwrap();
            let mut at = if branches.is_empty() { -1 } else { 0 };
            while at >= 0 {
                let branch = &branches[at as usize];
                let x = row[branch["feature"].as_u64().unwrap() as usize];
                let left = x <= branch["threshold"].as_f64().unwrap() as f32 as f64
                    || x.is_nan() && branch["nan_left"].as_bool().unwrap();
                at = branch[if left { "left" } else { "right" }].as_i64().unwrap();
            }
            tree["leaves"][(-1 - at) as usize].as_f64().unwrap()
        };
        return file["trees"].as_array().unwrap().iter().map(tree).sum();
    }
    if file["kind"] == "kernel" {
        let kind = &file["kernel"];
        let points: Vec<Vec<f64>> = kind["points"].as_array().unwrap().iter().map(numbers).collect();
        let offsets = if kind["offsets"].is_null() { Vec::new() } else { numbers(&kind["offsets"]) };
        return kernel(kind, row, &points, &offsets, &numbers(&kind["weights"]));
    }
    let layers = file["layers"].as_array().unwrap();
    let means = file["encoding"].as_array().map(|means| means.iter().map(numbers).collect::<Vec<_>>());
    let inputs = means.map_or_else(|| row.to_vec(), |means| encoded(&means, row));
    let skip = if file["skip"].is_null() { Vec::new() } else { numbers(&file["skip"]) };
    let linear: f64 = inputs.iter().zip(&skip).map(|(input, weight)| input * weight).sum();
    let mut values = inputs;
    for (place, layer) in layers.iter().enumerate() {
        let mut sums = numbers(&layer["bias"]);
        for (x, weights) in values.iter().zip(layer["weights"].as_array().unwrap()) {
            sums.iter_mut().zip(numbers(weights)).for_each(|(sum, weight)| *sum += x * weight);
        }
        if place + 1 < layers.len() {
            let name = file["activation"].as_str().unwrap();
            sums.iter_mut().for_each(|sum| *sum = function(name, *sum));
        }
        values = sums;
    }
    values[0] + linear
}

#[test]
fn json_scores_by_its_documented_layout() {
    for case in models::all() {
        let file: Value = serde_json::from_slice(&case.export("json").unwrap().bytes).unwrap();
        assert_eq!(file["features"].as_array().unwrap().len(), case.data.n_features());
        let kind = file["scaling"]["kind"].as_str().unwrap();
        let scaling = |name: &str| {
            let place = match name {
                "x" => 0,
                "y" => 1,
                _ => {
                    let list = match name.strip_prefix("inputs.") {
                        Some(name) => &file["inputs"][name],
                        None => &file["scaling"][name],
                    };
                    return if list.is_null() { Vec::new() } else { numbers(list) };
                }
            };
            // All of the same length, as in the tensors.
            let points = file["scaling"]["points"].as_array().unwrap();
            let most = points.iter().map(|points| points.as_array().unwrap().len()).max().unwrap();
            let of = |points: &Value| {
                let points = points.as_array().unwrap();
                (0..most).map(|k| points[k.min(points.len() - 1)][place].as_f64().unwrap()).collect::<Vec<f64>>()
            };
            points.iter().flat_map(of).collect()
        };
        case.check(&by_query(&case, kind, &scaling, |row| score_json(&file, row)), "json");
    }
}

/// Shape and values of each tensor.
type Tensors = BTreeMap<String, (Vec<usize>, Vec<f64>)>;

fn read_safetensors(bytes: &[u8]) -> (Value, Tensors) {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    assert_eq!((8 + length) % 8, 0, "numbers are aligned");
    let data = &bytes[8 + length..];
    let mut tensors = Tensors::new();
    let mut covered = 0;
    for (name, tensor) in header.as_object().unwrap() {
        if name == "__metadata__" {
            assert!(tensor.as_object().unwrap().values().all(Value::is_string));
            continue;
        }
        let [start, end] = [0, 1].map(|i| tensor["data_offsets"][i].as_u64().unwrap() as usize);
        assert_eq!(start, covered, "no holes");
        covered = end;
        let data = &data[start..end];
        let values: Vec<f64> = match tensor["dtype"].as_str().unwrap() {
            "F64" => data.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect(),
            "F32" => data.chunks(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap()))).collect(),
            "I32" => data.chunks(4).map(|b| f64::from(i32::from_le_bytes(b.try_into().unwrap()))).collect(),
            _ => data.iter().map(|&byte| f64::from(byte)).collect(),
        };
        let shape: Vec<usize> = numbers(&tensor["shape"]).iter().map(|&side| side as usize).collect();
        assert_eq!(shape.iter().product::<usize>(), values.len(), "{name}");
        tensors.insert(name.clone(), (shape, values));
    }
    assert_eq!(covered, data.len());
    (header["__metadata__"].clone(), tensors)
}

fn score_tensors(about: &Value, tensors: &Tensors, row: &[f64]) -> f64 {
    let list = |name: &str| tensors.get(name).map_or(&[][..], |(_, values)| &values[..]);
    match about["kind"].as_str().unwrap() {
        "trees" => {
            let root = |&root: &f64| {
                let mut at = root;
                while at >= 0.0 {
                    let branch = at as usize;
                    let x = row[list("branches.feature")[branch] as usize];
                    let left = x <= list("branches.threshold")[branch]
                        || x.is_nan() && list("branches.nan_left")[branch] == 1.0;
                    at = list(if left { "branches.left" } else { "branches.right" })[branch];
                }
                list("leaves")[(-1.0 - at) as usize]
            };
            list("trees.root").iter().map(root).sum()
        }
        "net" => {
            let mut all = list("encoding.means").iter().copied();
            let means: Vec<Vec<f64>> =
                list("encoding.bins").iter().map(|&bins| all.by_ref().take(bins as usize).collect()).collect();
            let inputs = if means.is_empty() { row.to_vec() } else { encoded(&means, row) };
            let linear: f64 = inputs.iter().zip(list("skip.weight")).map(|(input, weight)| input * weight).sum();
            let mut values = inputs;
            for place in (0..).step_by(2) {
                let Some((shape, weights)) = tensors.get(&format!("{place}.weight")) else { break };
                let bias = list(&format!("{place}.bias"));
                let sum = |(unit, weights): (usize, &[f64])| {
                    let sum = values.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
                    let Some(bias) = bias.get(unit) else { return sum };
                    function(about["activation"].as_str().unwrap(), sum + bias)
                };
                values = weights.chunks(shape[1]).enumerate().map(sum).collect();
            }
            values[0] + linear
        }
        kind => {
            let number = |name: &str| about[name].as_str().map(|text| text.parse::<f64>().unwrap());
            let degree = number("degree").map(|degree| degree as i64);
            let kind = serde_json::json!({ "kind": kind, "gamma": number("gamma"), "degree": degree });
            let points: Vec<Vec<f64>> = list("points").chunks(row.len()).map(<[f64]>::to_vec).collect();
            kernel(&kind, row, &points, list("offsets"), list("weights"))
        }
    }
}

#[test]
fn safetensors_score_by_their_documented_names() {
    for case in models::all() {
        let (about, tensors) = read_safetensors(&case.export("safetensors").unwrap().bytes);
        let kind = about["scaling"].as_str().unwrap();
        let scaling = |name: &str| {
            let place = if name.starts_with("inputs.") { name.to_owned() } else { format!("scaling.{name}") };
            tensors.get(&place).map_or_else(Vec::new, |(_, values)| values.clone())
        };
        let scores = by_query(&case, kind, &scaling, |row| score_tensors(&about, &tensors, row));
        case.check(&scores, "safetensors");
    }
}

/// Decodes maps, lists, strings and integers of CBOR, which are all kinds in a record's header.
fn cbor(bytes: &mut &[u8]) -> Value {
    let (first, rest) = bytes.split_first().unwrap();
    *bytes = rest;
    let more = match first & 31 {
        24 => 1,
        25 => 2,
        26 => 4,
        27 => 8,
        _ => 0,
    };
    let (number, rest) = bytes.split_at(more);
    *bytes = rest;
    let number =
        if more == 0 { u64::from(first & 31) } else { number.iter().fold(0, |n, &byte| n << 8 | u64::from(byte)) };
    match first >> 5 {
        0 => number.into(),
        3 => {
            let (text, rest) = bytes.split_at(number as usize);
            *bytes = rest;
            std::str::from_utf8(text).unwrap().into()
        }
        4 => (0..number).map(|_| cbor(bytes)).collect(),
        5 => {
            let entry = |_| {
                let key = cbor(bytes);
                (key.as_str().unwrap().to_owned(), cbor(bytes))
            };
            Value::Object((0..number).map(entry).collect())
        }
        kind => panic!("CBOR of kind {kind}"),
    }
}

/// Checks the layout that docs/model-folder.md describes.
#[test]
fn a_record_has_the_documented_bytes() {
    for case in models::nets().into_iter().step_by(5) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        case.model.save(&path).unwrap();
        let bytes = std::fs::read(path.join("model.bpk")).unwrap();
        assert_eq!(bytes[..6], *b"NRUB\x01\x00");
        let length = u32::from_le_bytes(bytes[6..10].try_into().unwrap()) as usize;
        let about = cbor(&mut &bytes[10..10 + length]);
        let start = (10 + length).next_multiple_of(256);
        let (_, expected) = read_safetensors(&case.export("safetensors").unwrap().bytes);
        let mut found = 0;
        for (name, tensor) in about["tensors"].as_object().unwrap() {
            assert_eq!(tensor["dtype"], "F32");
            let [from, to] = [0, 1].map(|i| start + tensor["data_offsets"][i].as_u64().unwrap() as usize);
            assert_eq!(from % 256, 0);
            let values = bytes[from..to].chunks(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap())));
            let values: Vec<f64> = values.collect();
            let words: Vec<&str> = name.split('.').collect();
            let (place, kind) = (words[words.len() - 2].parse::<usize>().unwrap(), words[words.len() - 1]);
            assert!(name == &format!("layers.{place}.{kind}"), "{name}");
            let (shape, other) = &expected[&format!("{}.{kind}", 2 * place)];
            // A record has weights as [inputs, units].
            let turned: Vec<f64> = match shape[..] {
                [units, inputs] => (0..inputs * units).map(|i| other[(i % units) * inputs + i / units]).collect(),
                _ => other.clone(),
            };
            assert_eq!(values, turned, "{name}");
            found += 1;
        }
        assert_eq!(
            found,
            expected.keys().filter(|name| !name.starts_with("scaling") && !name.starts_with("encoding")).count()
        );
    }
}
