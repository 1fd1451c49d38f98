//! Sums of encoded features with reproducible rounding, as [`Columns`](super::Columns) computes those of plain features.

use super::columns::GROUP;
use super::encoding::EncodedRows;
use crate::data::Encoding;
use crate::simd::{Simd, Vectorised, dispatch};
use std::ops::Range;

/// The table and biases of a first layer, arranged by groups of units.
#[derive(Debug, Clone)]
pub(super) struct EncodedColumns {
    rows: EncodedRows,
    features: usize,
    /// `[groups, rows]` blocks of the table of a group's units, padded with zeros.
    table: Vec<[f32; GROUP]>,
    bias: Vec<f32>,
}

impl EncodedColumns {
    /// Creates a layer from `[inputs, units]` weights and one bias per unit.
    pub fn new(encoding: &Encoding, weights: &[f32], bias: Vec<f32>) -> Self {
        let (rows, units) = (EncodedRows::new(encoding), bias.len());
        // Rounded once per number of the table.
        let weights: Vec<f64> = weights.iter().map(|&weight| f64::from(weight)).collect();
        let exact = rows.exact_table(&weights, units);
        let group = |first: usize| (0..rows.len()).map(move |row| (first, row));
        let number = |unit: usize, row: usize| if unit < units { exact[row * units + unit] as f32 } else { 0.0 };
        let table = (0..units).step_by(GROUP).flat_map(group);
        let table = table.map(|(first, row)| std::array::from_fn(|lane| number(first + lane, row))).collect();
        EncodedColumns { features: encoding.n_features(), table, bias, rows }
    }

    pub fn features(&self) -> usize {
        self.features
    }

    /// Number of units.
    pub fn len(&self) -> usize {
        self.bias.len()
    }

    /// The units of a group.
    pub fn units(&self, group: usize) -> Range<usize> {
        group * GROUP..((group + 1) * GROUP).min(self.bias.len())
    }

    /// Computes the sums of the units of a group for row-major positions, into `[units, documents]`.
    pub fn receive(&self, group: usize, positions: &[f32], received: &mut [f32]) {
        dispatch(Receive { columns: self, group, positions, received });
    }
}

struct Receive<'a> {
    columns: &'a EncodedColumns,
    group: usize,
    positions: &'a [f32],
    received: &'a mut [f32],
}

impl Vectorised for Receive<'_> {
    type Output = ();

    /// Products and sums are rounded separately, so that all instruction sets give the same bytes.
    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let Receive { columns, group, positions, received } = self;
        let documents = positions.len() / columns.features.max(1);
        let length = columns.rows.len();
        let table = &columns.table[group * length..][..length];
        let bias = &columns.bias[columns.units(group)];
        for (document, row) in positions.chunks_exact(columns.features.max(1)).enumerate() {
            // Two vectors if N is half a group; the second is unused if N is a whole group.
            let mut sums = [simd.splat(0.0); 2];
            for entry in columns.rows.entries(row) {
                let (low, high) = (simd.splat(1.0 - entry.fraction), simd.splat(entry.fraction));
                let [from, to] = [entry.row, entry.row + 1].map(|row| table[row as usize].as_chunks::<N>().0);
                for (place, (from, to)) in from.iter().zip(to).enumerate() {
                    let value = simd.add(simd.mul(simd.load(from), low), simd.mul(simd.load(to), high));
                    sums[place.min(1)] = simd.add(sums[place.min(1)], value);
                }
            }
            let mut lanes = [0.0; GROUP];
            for (sum, lanes) in sums.iter().zip(lanes.as_chunks_mut::<N>().0) {
                simd.store(lanes, *sum);
            }
            for (unit, (sum, bias)) in lanes.iter().zip(bias).enumerate() {
                received[unit * documents + document] = sum + bias;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Dataset, ScaleKind, Scaler, Scaling};
    use crate::device;
    use crate::model::{Activation, HostNet, HostRanker, Init, RankerConfig, to_host};
    use burn::tensor::{Tensor, TensorData};

    fn number(place: usize) -> f32 {
        ((place * 7919 + 13) % 1009) as f32 / 504.5 - 1.0
    }

    /// Positions of five features: dense, sometimes NaN, constant, always NaN, and sparse.
    fn positions(documents: usize) -> (Dataset, Scaler) {
        let value = |i: usize| match (i % 5, i / 5) {
            (1, row) if row % 4 == 1 => f32::NAN,
            (2, _) => -2.0,
            (3, _) => f32::NAN,
            (4, row) if row % 3 > 0 => 0.0,
            _ => 100.0 * number(i),
        };
        let values = (0..documents * 5).map(value).collect();
        let mut data = Dataset::new(5, values, vec![0.0; documents], vec![("a".into(), documents)]).unwrap();
        let scaler = Scaler::fit(Scaling { kind: ScaleKind::Piecewise, bins: 6 }, &data);
        scaler.apply(&mut data).unwrap();
        (data, scaler)
    }

    #[test]
    fn scores_are_those_of_materialised_inputs_on_every_instruction_set() {
        let (data, scaler) = positions(300);
        let device = device::open("auto").unwrap();
        for hidden in [&[][..], &[3], &[40], &[20, 5]] {
            for skip in [false, true] {
                if hidden.is_empty() && skip {
                    continue;
                }
                let shape = match hidden {
                    [] => RankerConfig::linear(5),
                    _ => RankerConfig::mlp(5, hidden, Activation::Relu),
                };
                let shape = RankerConfig { skip, ..shape.encoded(&scaler) };
                let mut weights = Init::Burn.weights(&shape, 4);
                weights.iter_mut().flatten().enumerate().for_each(|(place, weight)| *weight += 0.1 * number(place));
                let ranker = shape.from_weights(&weights, &device).unwrap();
                assert_eq!(ranker.config(), shape);
                let host = HostRanker::of(&ranker).unwrap();
                let mut scores = vec![0.0; 300];
                host.score_blocks(data.features(), &mut scores);
                let rows = TensorData::new(data.features().to_vec(), [300, 5]);
                let expected = to_host(ranker.forward(Tensor::from_data(rows, &device))).unwrap();
                let exact = HostNet::of(&ranker).unwrap().to_f64();
                for (row, (score, expected)) in scores.iter().zip(&expected).enumerate() {
                    assert!((score - expected).abs() < 1e-5, "{hidden:?}, {skip}, {row}: {score}, not {expected}");
                    if hidden.is_empty() {
                        let document: Vec<f64> =
                            data.features()[5 * row..][..5].iter().map(|&x| f64::from(x)).collect();
                        let inputs = exact.inputs(&document);
                        let sum: f64 = inputs.iter().zip(exact.output()).map(|(input, weight)| input * weight).sum();
                        assert!((f64::from(*score) - sum).abs() < 1e-5, "{row}: {score}, not {sum}");
                    }
                }
                crate::simd::PORTABLE.set(true);
                let mut portable = vec![0.0; 300];
                host.score_blocks(data.features(), &mut portable);
                crate::simd::PORTABLE.set(false);
                assert_eq!(scores, portable, "{hidden:?}");
            }
        }
    }
}
