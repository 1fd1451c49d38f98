//! Matrix products `x W + b` with reproducible rounding.
//!
//! Each number is computed by the same operations in the same order, whatever the row, the batch and the number of
//! threads. Products and sums are rounded separately, never fused, so that all instruction sets give the same bytes.
//! Libraries for matrix products guarantee neither: they split a matrix by its size and choose instructions by the
//! machine.

use crate::simd::{Simd, Vectorised, WIDEST, dispatch};

/// Number of units computed together: the largest number of lanes.
pub(crate) const GROUP: usize = WIDEST;
/// Number of documents whose sums are in registers at a time: with two vectors of units each, as many as fit in 16
/// registers.
const ROWS: usize = 5;
/// Number of documents of a linear net that are in registers at a time.
const DOTS: usize = 4;
/// Number of f32 values in a cache line.
const LINE: usize = 16;
/// Weights and biases of a layer, arranged by unit.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    features: usize,
    /// Whether units are linear nets: lanes are then features, because one unit cannot fill them.
    linear: bool,
    /// `[groups, features]` blocks of the weights of a group's units, padded with zeros. For linear nets `[units,
    /// chunks]` blocks of [`GROUP`] features, padded with zeros.
    weights: Vec<[f32; GROUP]>,
    /// Features between the first and the last nonzero weight of each group. Averaged deep nets have block-diagonal layers,
    /// whose zeros are skipped.
    used: Vec<std::ops::Range<usize>>,
    /// One per unit.
    bias: Vec<f32>,
}

impl Columns {
    /// Creates a layer from the weight of each feature and unit, and one bias per unit.
    pub fn new(features: usize, bias: Vec<f32>, weight: impl Fn(usize, usize) -> f32) -> Self {
        let units = bias.len();
        let of = |unit: usize, feature: usize| if unit < units { weight(feature, unit) } else { 0.0 };
        let group = |first: usize| (0..features).map(move |feature| (first, feature));
        let weights = (0..units).step_by(GROUP).flat_map(group);
        let weights = weights.map(|(first, feature)| std::array::from_fn(|lane| of(first + lane, feature)));
        let weights: Vec<[f32; GROUP]> = weights.collect();
        let used = weights.chunks(features.max(1)).map(|group| {
            let is_used = |lanes: &[f32; GROUP]| lanes.iter().any(|weight| *weight != 0.0);
            let start = group.iter().position(is_used).unwrap_or(0);
            start..group.iter().rposition(is_used).map_or(start, |last| last + 1)
        });
        Columns { features, linear: false, used: used.collect(), weights, bias }
    }

    /// Creates a layer of linear nets from their weights.
    pub fn linear(features: usize, nets: &[&[f32]]) -> Self {
        let padded = |weights: &[f32]| std::array::from_fn(|lane| weights.get(lane).copied().unwrap_or(0.0));
        let weights = nets.iter().flat_map(|net| net.chunks(GROUP).map(padded)).collect();
        Columns { features, linear: true, weights, used: vec![], bias: vec![0.0; nets.len()] }
    }

    /// Number of features per document.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Number of units.
    pub fn len(&self) -> usize {
        self.bias.len()
    }

    /// Number of groups of [`GROUP`] units; the last may have fewer.
    #[cfg(test)]
    pub fn groups(&self) -> usize {
        self.bias.len().div_ceil(GROUP)
    }

    /// The units of a group.
    pub fn units(&self, group: usize) -> std::ops::Range<usize> {
        group * GROUP..((group + 1) * GROUP).min(self.bias.len())
    }

    /// Weight of a feature in a unit.
    pub fn weight(&self, feature: usize, unit: usize) -> f32 {
        if self.linear {
            self.weights[unit * self.features.div_ceil(GROUP) + feature / GROUP][feature % GROUP]
        } else {
            self.weights[unit / GROUP * self.features + feature][unit % GROUP]
        }
    }

    /// Computes `x W + b` of the units of a group for row-major documents, into `[units, documents]`.
    pub fn receive(&self, group: usize, rows: &[f32], received: &mut [f32]) {
        dispatch(Receive { columns: self, group, rows, received });
    }
}

/// The computation of one group of units for some documents.
struct Receive<'a> {
    columns: &'a Columns,
    group: usize,
    rows: &'a [f32],
    received: &'a mut [f32],
}

impl Vectorised for Receive<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        if self.columns.linear { self.linear(simd) } else { self.units(simd) }
    }
}

impl Receive<'_> {
    #[inline(always)]
    fn units<const N: usize, S: Simd<N>>(self, simd: S) {
        let Receive { columns, group, rows, received } = self;
        let features = columns.features;
        let documents = rows.len() / features.max(1);
        let used = columns.used.get(group).cloned().unwrap_or(0..0);
        let weights = &columns.weights[group * features..][used.clone()];
        let bias = &columns.bias[columns.units(group)];
        let mut start = 0;
        while start < documents {
            // At the end the last row is repeated to fill the tile; its repetitions are not stored.
            let count = (documents - start).min(ROWS);
            let row = |index: usize| &rows[(start + index.min(count - 1)) * features..][used.clone()];
            let tile = [row(0), row(1), row(2), row(3), row(4)];
            let ahead: [*const f32; ROWS] =
                std::array::from_fn(|row| rows.as_ptr().wrapping_add((start + ROWS + row) * features + used.start));
            let sums = if bias.len() <= N {
                products::<N, S, 1>(simd, tile, ahead, weights)
            } else {
                products::<N, S, 2>(simd, tile, ahead, weights)
            };
            for (index, sums) in sums.iter().take(count).enumerate() {
                for (unit, (sum, bias)) in sums.iter().zip(bias).enumerate() {
                    received[unit * documents + start + index] = sum + bias;
                }
            }
            start += count;
        }
    }

    #[inline(always)]
    fn linear<const N: usize, S: Simd<N>>(self, simd: S) {
        let Receive { columns, group, rows, received } = self;
        let features = columns.features;
        let documents = rows.len() / features.max(1);
        let chunks = features.div_ceil(GROUP);
        let mut start = 0;
        while start < documents {
            let count = (documents - start).min(DOTS);
            let row = |index: usize| &rows[(start + index.min(count - 1)) * features..][..features];
            let tile = [row(0), row(1), row(2), row(3)];
            let ahead = rows.as_ptr().wrapping_add((start + DOTS) * features);
            for (place, unit) in columns.units(group).enumerate() {
                let weights = &columns.weights[unit * chunks..][..chunks];
                let sums = dots::<N, S>(simd, tile, ahead, weights);
                received[place * documents + start..][..count].copy_from_slice(&sums[..count]);
            }
            start += count;
        }
    }
}

/// The products of documents and a group of units, as `P` vectors of `N` units, summed in the order of features.
///
/// Prefetches the next documents, the rows `ahead`.
#[inline(always)]
fn products<const N: usize, S: Simd<N>, const P: usize>(
    simd: S,
    tile: [&[f32]; ROWS],
    ahead: [*const f32; ROWS],
    weights: &[[f32; GROUP]],
) -> [[f32; GROUP]; ROWS] {
    let mut sums = [[simd.splat(0.0); P]; ROWS];
    let features = weights.len();
    let tile = tile.map(|row| &row[..features]);
    for start in (0..features).step_by(LINE) {
        for row in ahead {
            simd.prefetch(row.wrapping_add(start));
        }
        for feature in start..(start + LINE).min(features) {
            let lanes = weights[feature].as_chunks::<N>().0;
            let mut units = [simd.splat(0.0); P];
            for (unit, lanes) in units.iter_mut().zip(lanes) {
                *unit = simd.load(lanes);
            }
            for (row, sums) in tile.iter().zip(&mut sums) {
                let x = simd.splat(row[feature]);
                for (unit, sum) in units.iter().zip(sums) {
                    *sum = simd.add(*sum, simd.mul(x, *unit));
                }
            }
        }
    }
    let mut output = [[0.0; GROUP]; ROWS];
    for (sums, output) in sums.iter().zip(&mut output) {
        for (sum, lanes) in sums.iter().zip(output.as_chunks_mut::<N>().0) {
            simd.store(lanes, *sum);
        }
    }
    output
}

/// The products of documents and one linear net: sums by lanes of features, which are added in a fixed order at the
/// end.
#[inline(always)]
fn dots<const N: usize, S: Simd<N>>(
    simd: S,
    tile: [&[f32]; DOTS],
    ahead: *const f32,
    weights: &[[f32; GROUP]],
) -> [f32; DOTS] {
    // Two vectors if N is half a group; the second is unused if N is a whole group.
    let mut sums = [[simd.splat(0.0); 2]; DOTS];
    let features = tile[0].len();
    let whole = features / GROUP;
    let chunks = tile.map(|row| &row.as_chunks::<GROUP>().0[..whole]);
    for (place, weights) in weights[..whole].iter().enumerate() {
        for row in 0..DOTS {
            simd.prefetch(ahead.wrapping_add(row * features + place * GROUP));
        }
        for (chunks, sums) in chunks.iter().zip(&mut sums) {
            add_products(simd, &chunks[place], weights, sums);
        }
    }
    if let Some(weights) = weights.get(whole) {
        for (row, sums) in tile.iter().zip(&mut sums) {
            let mut last = [0.0; GROUP];
            last[..features - whole * GROUP].copy_from_slice(&row[whole * GROUP..]);
            add_products(simd, &last, weights, sums);
        }
    }
    let mut products = [0.0; DOTS];
    for (sums, product) in sums.iter().zip(&mut products) {
        let mut lanes = [0.0; GROUP];
        for (sum, lanes) in sums.iter().zip(lanes.as_chunks_mut::<N>().0) {
            simd.store(lanes, *sum);
        }
        *product = fold(lanes);
    }
    products
}

#[inline(always)]
fn add_products<const N: usize, S: Simd<N>>(simd: S, x: &[f32; GROUP], weights: &[f32; GROUP], sums: &mut [S::V; 2]) {
    for ((x, weights), sum) in x.as_chunks::<N>().0.iter().zip(weights.as_chunks::<N>().0).zip(sums) {
        *sum = simd.add(*sum, simd.mul(simd.load(x), simd.load(weights)));
    }
}

/// The sum of the lanes, by repeatedly adding one half to the other.
#[inline(always)]
fn fold(mut lanes: [f32; GROUP]) -> f32 {
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
    }
    lanes[0]
}
