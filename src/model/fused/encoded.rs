//! The first layer of nets that encode features: sums of rows of a table, and their gradients.

use crate::model::encoding::{EncodedRows, Entry};
use crate::simd::{Simd, Vectorised, dispatch};

/// The entries of the documents of a block.
#[derive(Debug, Clone, Default)]
pub(super) struct Entries {
    all: Vec<Entry>,
    /// End of each document's entries.
    ends: Vec<usize>,
}

impl Entries {
    pub fn decode(&mut self, rows: &EncodedRows, documents: &[&[f32]]) {
        self.all.clear();
        self.ends.clear();
        for document in documents {
            self.all.extend(rows.entries(document));
            self.ends.push(self.all.len());
        }
    }

    fn documents(&self) -> impl Iterator<Item = &[Entry]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.all[start..end])
    }
}

/// The sums of each document's rows of a table plus the bias, into `[documents, stride]`.
pub(super) fn sums(entries: &Entries, table: &[f32], bias: &[f32], out: &mut [f32]) {
    dispatch(Sums { entries, table, bias, out });
}

/// Adds each document's gradients, `[documents, stride]`, to the rows of a gradient by the table.
pub(super) fn add_rows(entries: &Entries, deltas: &[f32], stride: usize, gradient: &mut [f32]) {
    dispatch(AddRows { entries, deltas, stride, gradient });
}

/// Adds the sum of each document's numbers of a table with one number per row to its score.
pub(super) fn add_dots(entries: &Entries, table: &[f32], scores: &mut [f32]) {
    for (entries, score) in entries.documents().zip(scores) {
        let mut sums = [0.0; 4];
        let (fours, rest) = entries.as_chunks::<4>();
        let value = |entry: &Entry| {
            let row = entry.row as usize;
            (1.0 - entry.fraction) * table[row] + entry.fraction * table[row + 1]
        };
        for four in fours {
            sums.iter_mut().zip(four).for_each(|(sum, entry)| *sum += value(entry));
        }
        sums.iter_mut().zip(rest).for_each(|(sum, entry)| *sum += value(entry));
        *score += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
}

/// Adds the gradient of each document's score to a gradient by a table with one number per row.
pub(super) fn add_scores(entries: &Entries, by_scores: &[f32], gradient: &mut [f32]) {
    for (entries, by_score) in entries.documents().zip(by_scores) {
        for entry in entries {
            let row = entry.row as usize;
            gradient[row] += (1.0 - entry.fraction) * by_score;
            gradient[row + 1] += entry.fraction * by_score;
        }
    }
}

struct Sums<'a> {
    entries: &'a Entries,
    table: &'a [f32],
    bias: &'a [f32],
    out: &'a mut [f32],
}

impl Vectorised for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let Sums { entries, table, bias, out } = self;
        let stride = bias.len();
        for (entries, out) in entries.documents().zip(out.chunks_exact_mut(stride)) {
            let mut first = 0;
            while first < stride {
                let (bias, out) = (&bias[first..], &mut out[first..]);
                match (stride - first) / N {
                    4.. => first += sum_vectors::<N, S, 4>(simd, entries, table, stride, first, bias, out),
                    2.. => first += sum_vectors::<N, S, 2>(simd, entries, table, stride, first, bias, out),
                    _ => first += sum_vectors::<N, S, 1>(simd, entries, table, stride, first, bias, out),
                }
            }
        }
    }
}

/// Sums `P` vectors of units of a document, and returns their number of units.
#[inline(always)]
fn sum_vectors<const N: usize, S: Simd<N>, const P: usize>(
    simd: S,
    entries: &[Entry],
    table: &[f32],
    stride: usize,
    first: usize,
    bias: &[f32],
    out: &mut [f32],
) -> usize {
    let mut sums = [[simd.splat(0.0); P]; 2];
    for entry in entries {
        let start = entry.row as usize * stride + first;
        for (sums, (start, factor)) in
            sums.iter_mut().zip([(start, 1.0 - entry.fraction), (start + stride, entry.fraction)])
        {
            let factor = simd.splat(factor);
            let (lanes, _) = table[start..start + P * N].as_chunks::<N>();
            for (sum, lanes) in sums.iter_mut().zip(lanes) {
                *sum = simd.fma(simd.load(lanes), factor, *sum);
            }
        }
    }
    let (bias, _) = bias[..P * N].as_chunks::<N>();
    let (out, _) = out[..P * N].as_chunks_mut::<N>();
    for place in 0..P {
        simd.store(&mut out[place], simd.add(simd.add(sums[0][place], sums[1][place]), simd.load(&bias[place])));
    }
    P * N
}

struct AddRows<'a> {
    entries: &'a Entries,
    deltas: &'a [f32],
    stride: usize,
    gradient: &'a mut [f32],
}

impl Vectorised for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let AddRows { entries, deltas, stride, gradient } = self;
        for (entries, deltas) in entries.documents().zip(deltas.chunks_exact(stride)) {
            let mut first = 0;
            while first < stride {
                match (stride - first) / N {
                    4.. => first += add_vectors::<N, S, 4>(simd, entries, deltas, first, gradient),
                    2.. => first += add_vectors::<N, S, 2>(simd, entries, deltas, first, gradient),
                    _ => first += add_vectors::<N, S, 1>(simd, entries, deltas, first, gradient),
                }
            }
        }
    }
}

/// Adds the gradients of `P` vectors of units of a document, and returns their number of units.
#[inline(always)]
fn add_vectors<const N: usize, S: Simd<N>, const P: usize>(
    simd: S,
    entries: &[Entry],
    deltas: &[f32],
    first: usize,
    gradient: &mut [f32],
) -> usize {
    let stride = deltas.len();
    let mut units = [simd.splat(0.0); P];
    for (unit, lanes) in units.iter_mut().zip(deltas[first..first + P * N].as_chunks::<N>().0) {
        *unit = simd.load(lanes);
    }
    for entry in entries {
        let start = entry.row as usize * stride + first;
        for (start, factor) in [(start, 1.0 - entry.fraction), (start + stride, entry.fraction)] {
            if factor == 0.0 {
                continue;
            }
            let factor = simd.splat(factor);
            let (lanes, _) = gradient[start..start + P * N].as_chunks_mut::<N>();
            for (lanes, unit) in lanes.iter_mut().zip(&units) {
                let sum = simd.fma(*unit, factor, simd.load(lanes));
                simd.store(lanes, sum);
            }
        }
    }
    P * N
}
