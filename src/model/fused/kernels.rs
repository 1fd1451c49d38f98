//! Products of documents and weights in lanes: what the layers of a net compute forward and backward for a block of rows.
//!
//! Weights are stored in panels of at most [`PANEL`] units, input after input, so that the weights of a tile are neighbours.
//! Every sum is taken in one order that depends on the data alone.

use crate::model::Activation;
use crate::numeric::{sigmoid_and_derivative, tanh_and_derivative};
use crate::simd::{Simd, Vectorised, WIDEST, dispatch};

/// Maximum number of units of a panel: four vectors of the widest lanes.
pub(super) const PANEL: usize = 4 * WIDEST;

/// Maximum number of rows that a kernel takes at once: their features stay in a core's cache.
pub(super) const BLOCK: usize = 128;

/// Values, derivatives and gradients of documents below this count as zero: subnormal numbers are slow on some CPUs.
const TINY: f32 = 1e-30;

/// Units rounded up to whole vectors of the widest lanes.
pub(super) fn padded(units: usize) -> usize {
    units.next_multiple_of(WIDEST)
}

/// `x W + b` of a block of rows, into `[rows, padded]`; without a bias where that is empty. The rows ahead come next.
pub(super) fn affine([rows, ahead]: [&[&[f32]]; 2], weights: &[f32], bias: &[f32], padded: usize, out: &mut [f32]) {
    dispatch(Affine { rows, ahead, weights, bias, padded, out });
}

/// Replaces what units receive by their values, and fills in their derivatives; both are 0 beyond the last unit.
pub(super) fn activate(function: Activation, units: usize, values: &mut [f32], derivatives: &mut [f32]) {
    dispatch(Activate { function, units, values, derivatives });
}

/// Adds `x^T d` to the gradient of a layer's weights, or replaces it.
pub(super) fn add_products(rows: &[&[f32]], deltas: &[f32], padded: usize, fresh: bool, gradient: &mut [f32]) {
    dispatch(Products { rows, deltas, padded, fresh, gradient });
}

/// The product of each row and one column of weights.
pub(super) fn dots(rows: &[&[f32]], ahead: &[&[f32]], weights: &[f32], scores: &mut [f32]) {
    dispatch(Dots { rows, ahead, weights, scores });
}

/// Adds the sum of all rows, each times its factor, or replaces the numbers by it.
pub(super) fn add_weighted(rows: &[&[f32]], factors: &[f32], fresh: bool, sums: &mut [f32]) {
    dispatch(Weighted { rows, factors, fresh, sums });
}

/// Makes derivatives of the last hidden layer gradients: each times the gradient of the score and the weight of the unit.
pub(super) fn output_deltas(gradient: &[f32], weights: &[f32], derivatives: &mut [f32]) {
    dispatch(OutputDeltas { gradient, weights, derivatives });
}

/// Makes derivatives of a hidden layer gradients: each times what comes back from the next layer.
pub(super) fn hidden_deltas(back: &[f32], derivatives: &mut [f32]) {
    dispatch(HiddenDeltas { back, derivatives });
}

/// The panels of a matrix `[inputs, padded]`: first unit and width of each.
pub(super) fn panels(padded: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..padded).step_by(PANEL).map(move |first| (first, PANEL.min(padded - first)))
}

struct Affine<'a> {
    rows: &'a [&'a [f32]],
    ahead: &'a [&'a [f32]],
    weights: &'a [f32],
    bias: &'a [f32],
    padded: usize,
    out: &'a mut [f32],
}

impl Vectorised for Affine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let Affine { rows, ahead, weights, bias, padded, out } = self;
        let Some(first) = rows.first() else { return };
        let inputs = first.len();
        let mut rest = weights;
        for (first, width) in panels(padded) {
            let (panel, others) = rest.split_at(inputs * width);
            rest = others;
            // The rows are read from memory once, with the first panel.
            let ahead = if first == 0 { ahead } else { &[] };
            let mut out = Strided { numbers: out, first, stride: padded };
            let bias = bias.get(first..first + width).unwrap_or_default();
            match width / WIDEST {
                1 => affine_panel::<N, S, 16>(simd, rows, ahead, panel.as_chunks().0, bias, &mut out),
                2 => affine_panel::<N, S, 32>(simd, rows, ahead, panel.as_chunks().0, bias, &mut out),
                3 => affine_panel::<N, S, 48>(simd, rows, ahead, panel.as_chunks().0, bias, &mut out),
                _ => affine_panel::<N, S, 64>(simd, rows, ahead, panel.as_chunks().0, bias, &mut out),
            }
        }
    }
}

/// The columns of a panel in a row-major matrix.
struct Strided<'a> {
    numbers: &'a mut [f32],
    first: usize,
    stride: usize,
}

#[inline(always)]
fn affine_panel<const N: usize, S: Simd<N>, const W: usize>(
    simd: S,
    rows: &[&[f32]],
    ahead: &[&[f32]],
    weights: &[[f32; W]],
    bias: &[f32],
    out: &mut Strided<'_>,
) {
    // As many rows and vectors of units as the registers of the instruction set hold the sums of.
    if N == WIDEST {
        match W / WIDEST {
            1 => affine_rows::<N, S, W, 1, 12, 0>(simd, rows, ahead, weights, bias, out),
            2 => affine_rows::<N, S, W, 2, 12, 0>(simd, rows, ahead, weights, bias, out),
            3 => affine_rows::<N, S, W, 3, 8, 0>(simd, rows, ahead, weights, bias, out),
            _ => affine_rows::<N, S, W, 4, 6, 0>(simd, rows, ahead, weights, bias, out),
        }
        return;
    }
    affine_rows::<N, S, W, 2, 6, 0>(simd, rows, ahead, weights, bias, out);
    if W > 16 {
        affine_rows::<N, S, W, 2, 6, 16>(simd, rows, &[], weights, bias, out);
    }
    if W > 32 {
        affine_rows::<N, S, W, 2, 6, 32>(simd, rows, &[], weights, bias, out);
    }
    if W > 48 {
        affine_rows::<N, S, W, 2, 6, 48>(simd, rows, &[], weights, bias, out);
    }
}

#[inline(always)]
fn affine_rows<const N: usize, S: Simd<N>, const W: usize, const P: usize, const R: usize, const LANE: usize>(
    simd: S,
    rows: &[&[f32]],
    ahead: &[&[f32]],
    weights: &[[f32; W]],
    bias: &[f32],
    out: &mut Strided<'_>,
) {
    let mut start = 0;
    while start < rows.len() {
        let left = rows.len() - start;
        if left > 4 {
            affine_tile::<N, S, W, P, R, LANE>(simd, (rows, ahead), start, weights, bias, out);
            start += R;
        } else {
            affine_tile::<N, S, W, P, 4, LANE>(simd, (rows, ahead), start, weights, bias, out);
            start += 4;
        }
    }
}

#[inline(always)]
fn affine_tile<const N: usize, S: Simd<N>, const W: usize, const P: usize, const R: usize, const LANE: usize>(
    simd: S,
    (rows, ahead): (&[&[f32]], &[&[f32]]),
    start: usize,
    weights: &[[f32; W]],
    bias: &[f32],
    out: &mut Strided<'_>,
) {
    // The last tile may have fewer rows: the last row stands in for those missing, and is not stored again.
    let count = (rows.len() - start).min(R);
    let inputs = rows[start].len();
    let weights = &weights[..inputs];
    let mut tile: [&[f32]; R] = [&[]; R];
    for (place, row) in tile.iter_mut().enumerate() {
        *row = &rows[start + place.min(count - 1)][..inputs];
    }
    let mut start_sums = [simd.splat(0.0); P];
    if let Some(bias) = bias.get(LANE..LANE + P * N) {
        let (bias, _) = bias.as_chunks::<N>();
        for (place, sum) in start_sums.iter_mut().enumerate() {
            *sum = simd.load(&bias[place]);
        }
    }
    let mut sums = [start_sums; R];
    if ahead.is_empty() {
        affine_products::<N, S, W, P, R, LANE>(simd, &tile, weights, 0..inputs, &mut sums);
    } else {
        let mut next: [*const f32; R] = [std::ptr::null(); R];
        for (place, next) in next.iter_mut().enumerate() {
            let place = start + R + place;
            *next = rows.get(place).or_else(|| ahead.get(place - rows.len())).unwrap_or(&rows[0]).as_ptr();
        }
        for first in (0..inputs).step_by(WIDEST) {
            for next in next {
                simd.prefetch(next.wrapping_add(first));
            }
            affine_products::<N, S, W, P, R, LANE>(simd, &tile, weights, first..inputs.min(first + WIDEST), &mut sums);
        }
    }
    let column = out.first + LANE;
    // Places known to the compiler keep the sums in registers.
    for (place, sums) in sums.iter().enumerate() {
        if place >= count {
            continue;
        }
        let (to, _) = out.numbers[(start + place) * out.stride + column..][..P * N].as_chunks_mut::<N>();
        for (to, sum) in to.iter_mut().zip(sums) {
            simd.store(to, *sum);
        }
    }
}

#[inline(always)]
fn affine_products<const N: usize, S: Simd<N>, const W: usize, const P: usize, const R: usize, const LANE: usize>(
    simd: S,
    tile: &[&[f32]; R],
    weights: &[[f32; W]],
    inputs: std::ops::Range<usize>,
    sums: &mut [[S::V; P]; R],
) {
    for input in inputs {
        let (lanes, _) = weights[input].as_chunks::<N>();
        let mut units = [simd.splat(0.0); P];
        for (place, unit) in units.iter_mut().enumerate() {
            *unit = simd.load(&lanes[LANE / N + place]);
        }
        for (row, sums) in tile.iter().zip(&mut *sums) {
            let x = simd.splat(row[input]);
            for (unit, sum) in units.iter().zip(sums) {
                *sum = simd.fma(x, *unit, *sum);
            }
        }
    }
}

struct Activate<'a> {
    function: Activation,
    units: usize,
    values: &'a mut [f32],
    derivatives: &'a mut [f32],
}

impl Vectorised for Activate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        match self.function {
            Activation::Sigmoid => self.each(simd, sigmoid_and_derivative),
            Activation::Tanh => self.each(simd, tanh_and_derivative),
            Activation::Relu => self.each(simd, relu),
        }
    }
}

impl Activate<'_> {
    #[inline(always)]
    fn each<const N: usize, S: Simd<N>>(self, simd: S, of: impl Fn(f32) -> (f32, f32)) {
        let Activate { units, values, derivatives, .. } = self;
        for (value, derivative) in values.iter_mut().zip(&mut *derivatives) {
            let (own, slope) = of(*value);
            (*value, *derivative) = (flushed(own), flushed(slope));
        }
        let padded = padded(units);
        if padded == units {
            return;
        }
        // Beyond the last unit a weight of 0 may have met an infinite feature.
        let mut lanes = [0.0; WIDEST];
        lanes.iter_mut().zip(padded - WIDEST..units).for_each(|(lane, _)| *lane = 1.0);
        let (half, zero) = (simd.splat(0.5), simd.splat(0.0));
        for numbers in [values, derivatives] {
            for row in numbers.chunks_exact_mut(padded) {
                let Some(last) = row.last_chunk_mut::<WIDEST>() else { return };
                for (number, lane) in last.as_chunks_mut::<N>().0.iter_mut().zip(lanes.as_chunks::<N>().0) {
                    simd.store(number, simd.if_less(half, simd.load(lane), simd.load(number), zero));
                }
            }
        }
    }
}

/// `max(x, 0)` and its derivative; NaN stays NaN.
#[inline(always)]
fn relu(x: f32) -> (f32, f32) {
    if x <= 0.0 { (0.0, 0.0) } else { (x, 1.0) }
}

#[inline(always)]
fn flushed(x: f32) -> f32 {
    if x.abs() < TINY { 0.0 } else { x }
}

struct Products<'a> {
    rows: &'a [&'a [f32]],
    deltas: &'a [f32],
    padded: usize,
    fresh: bool,
    gradient: &'a mut [f32],
}

impl Vectorised for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let Products { rows, deltas, padded, fresh, gradient } = self;
        let Some(row) = rows.first() else {
            if fresh {
                gradient.fill(0.0);
            }
            return;
        };
        let inputs = row.len();
        let mut rest = gradient;
        for (first, width) in panels(padded) {
            let (panel, others) = rest.split_at_mut(inputs * width);
            rest = others;
            let block = Block { rows, deltas, padded, first, fresh };
            match width / WIDEST {
                1 => products_panel::<N, S, 16>(simd, block, panel.as_chunks_mut().0),
                2 => products_panel::<N, S, 32>(simd, block, panel.as_chunks_mut().0),
                3 => products_panel::<N, S, 48>(simd, block, panel.as_chunks_mut().0),
                _ => products_panel::<N, S, 64>(simd, block, panel.as_chunks_mut().0),
            }
        }
    }
}

/// Rows, and the gradients of the units of a panel.
#[derive(Clone, Copy)]
struct Block<'a> {
    rows: &'a [&'a [f32]],
    deltas: &'a [f32],
    padded: usize,
    first: usize,
    fresh: bool,
}

#[inline(always)]
fn products_panel<const N: usize, S: Simd<N>, const W: usize>(simd: S, block: Block<'_>, panel: &mut [[f32; W]]) {
    if N == WIDEST {
        match W / WIDEST {
            1 => products_inputs::<N, S, W, 1, 16, 0>(simd, block, panel),
            2 => products_inputs::<N, S, W, 2, 12, 0>(simd, block, panel),
            3 => products_inputs::<N, S, W, 3, 8, 0>(simd, block, panel),
            _ => products_inputs::<N, S, W, 4, 6, 0>(simd, block, panel),
        }
        return;
    }
    products_inputs::<N, S, W, 2, 6, 0>(simd, block, panel);
    if W > 16 {
        products_inputs::<N, S, W, 2, 6, 16>(simd, block, panel);
    }
    if W > 32 {
        products_inputs::<N, S, W, 2, 6, 32>(simd, block, panel);
    }
    if W > 48 {
        products_inputs::<N, S, W, 2, 6, 48>(simd, block, panel);
    }
}

#[inline(always)]
fn products_inputs<const N: usize, S: Simd<N>, const W: usize, const P: usize, const F: usize, const LANE: usize>(
    simd: S,
    block: Block<'_>,
    panel: &mut [[f32; W]],
) {
    let inputs = panel.len();
    let mut start = 0;
    while start < inputs {
        if inputs >= F {
            // The last tile may overlap the one before, whose sums are not stored again.
            let first = start.min(inputs - F);
            products_tile::<N, S, W, P, F, LANE>(simd, block, first, start - first, panel);
            start = first + F;
        } else {
            products_tile::<N, S, W, P, 1, LANE>(simd, block, start, 0, panel);
            start += 1;
        }
    }
}

#[inline(always)]
fn products_tile<const N: usize, S: Simd<N>, const W: usize, const P: usize, const F: usize, const LANE: usize>(
    simd: S,
    block: Block<'_>,
    input: usize,
    stored: usize,
    panel: &mut [[f32; W]],
) {
    let mut sums = [[simd.splat(0.0); P]; F];
    for (row, deltas) in block.rows.iter().zip(block.deltas.chunks_exact(block.padded)) {
        let (lanes, _) = deltas[block.first + LANE..][..P * N].as_chunks::<N>();
        let mut units = [simd.splat(0.0); P];
        for (unit, lanes) in units.iter_mut().zip(lanes) {
            *unit = simd.load(lanes);
        }
        let Some(row) = row[input..].first_chunk::<F>() else { return };
        for (x, sums) in row.iter().zip(&mut sums) {
            let x = simd.splat(*x);
            for (unit, sum) in units.iter().zip(sums) {
                *sum = simd.fma(x, *unit, *sum);
            }
        }
    }
    let Some(panel) = panel[input..].first_chunk_mut::<F>() else { return };
    // Places known to the compiler keep the sums in registers.
    for (place, (sums, to)) in sums.iter().zip(panel).enumerate() {
        if place < stored {
            continue;
        }
        let (to, _) = to[LANE..][..P * N].as_chunks_mut::<N>();
        for (sum, to) in sums.iter().zip(to) {
            let before = if block.fresh { simd.splat(0.0) } else { simd.load(to) };
            simd.store(to, simd.add(before, *sum));
        }
    }
}

struct Dots<'a> {
    rows: &'a [&'a [f32]],
    ahead: &'a [&'a [f32]],
    weights: &'a [f32],
    scores: &'a mut [f32],
}

/// Rows of a product with one column that are computed together.
const DOTS: usize = 8;

impl Vectorised for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let Dots { rows, ahead, weights, scores } = self;
        let Some(row) = rows.first() else { return };
        let width = row.len();
        let (whole, rest) = (width / N, width % N);
        // The features behind the last whole vector, as the end of a vector that overlaps it.
        let mut last = [0.0; N];
        if rest > 0 && whole > 0 {
            last[N - rest..].copy_from_slice(&weights[width - rest..width]);
        }
        let (chunks, _) = weights.as_chunks::<N>();
        let chunks = &chunks[..whole];
        let mut start = 0;
        while start < rows.len() {
            let count = (rows.len() - start).min(DOTS);
            let mut tile: [&[f32]; DOTS] = [&[]; DOTS];
            for (place, row) in tile.iter_mut().enumerate() {
                *row = &rows[start + place.min(count - 1)][..width];
            }
            let mut sums = [simd.splat(0.0); DOTS];
            if !ahead.is_empty() {
                for place in start + DOTS..start + 2 * DOTS {
                    let next = rows.get(place).or_else(|| ahead.get(place - rows.len())).unwrap_or(row);
                    for first in (0..width).step_by(WIDEST) {
                        simd.prefetch(next.as_ptr().wrapping_add(first));
                    }
                }
            }
            for (place, weights) in chunks.iter().enumerate() {
                let weights = simd.load(weights);
                for (row, sum) in tile.iter().zip(&mut sums) {
                    *sum = simd.fma(simd.load(&row.as_chunks::<N>().0[place]), weights, *sum);
                }
            }
            if rest > 0 && whole > 0 {
                let weights = simd.load(&last);
                for (row, sum) in tile.iter().zip(&mut sums) {
                    let Some(end) = row.last_chunk::<N>() else { return };
                    *sum = simd.fma(simd.load(end), weights, *sum);
                }
            }
            let mut found = [0.0; DOTS];
            for (sum, found) in sums.iter().zip(&mut found) {
                *found = simd.sum(*sum);
            }
            if whole == 0 {
                for (row, found) in tile.iter().zip(&mut found) {
                    for (x, weight) in row.iter().zip(weights) {
                        *found += x * weight;
                    }
                }
            }
            scores[start..start + count].copy_from_slice(&found[..count]);
            start += count;
        }
    }
}

struct Weighted<'a> {
    rows: &'a [&'a [f32]],
    factors: &'a [f32],
    fresh: bool,
    sums: &'a mut [f32],
}

impl Vectorised for Weighted<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let Weighted { rows, factors, fresh, sums } = self;
        if fresh {
            sums.fill(0.0);
        }
        let Some(row) = rows.first() else { return };
        let width = row.len();
        let whole = width - width % N;
        let mut start = 0;
        while start < whole {
            let left = (whole - start) / N;
            if left >= 8 {
                weighted_tile::<N, S, 8>(simd, rows, factors, start, 0, sums);
                start += 8 * N;
            } else if left >= 3 {
                weighted_tile::<N, S, 3>(simd, rows, factors, start, 0, sums);
                start += 3 * N;
            } else {
                weighted_tile::<N, S, 1>(simd, rows, factors, start, 0, sums);
                start += N;
            }
        }
        if whole < width && whole > 0 {
            // The last vector overlaps the one before, whose sums are not added again.
            weighted_tile::<N, S, 1>(simd, rows, factors, width - N, N - width % N, sums);
        } else if whole < width {
            for (row, factor) in rows.iter().zip(factors) {
                for (sum, x) in sums.iter_mut().zip(*row) {
                    *sum += factor * x;
                }
            }
        }
    }
}

#[inline(always)]
fn weighted_tile<const N: usize, S: Simd<N>, const C: usize>(
    simd: S,
    rows: &[&[f32]],
    factors: &[f32],
    start: usize,
    stored: usize,
    to: &mut [f32],
) {
    let mut sums = [simd.splat(0.0); C];
    for (row, factor) in rows.iter().zip(factors) {
        let factor = simd.splat(*factor);
        let (chunks, _) = row[start..][..C * N].as_chunks::<N>();
        for (chunk, sum) in chunks.iter().zip(&mut sums) {
            *sum = simd.fma(simd.load(chunk), factor, *sum);
        }
    }
    if stored > 0 {
        let mut last = [0.0; N];
        simd.store(&mut last, sums[0]);
        for (sum, to) in last.iter().zip(&mut to[start..]).skip(stored) {
            *to += sum;
        }
        return;
    }
    let (to, _) = to[start..][..C * N].as_chunks_mut::<N>();
    for (sum, to) in sums.iter().zip(to) {
        simd.store(to, simd.add(simd.load(to), *sum));
    }
}

struct OutputDeltas<'a> {
    gradient: &'a [f32],
    weights: &'a [f32],
    derivatives: &'a mut [f32],
}

impl Vectorised for OutputDeltas<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let OutputDeltas { gradient, weights, derivatives } = self;
        let (tiny, zero) = (simd.splat(TINY), simd.splat(0.0));
        for (row, gradient) in derivatives.chunks_exact_mut(weights.len()).zip(gradient) {
            let gradient = simd.splat(*gradient);
            for (derivative, weight) in row.as_chunks_mut::<N>().0.iter_mut().zip(weights.as_chunks::<N>().0) {
                let delta = simd.mul(simd.mul(gradient, simd.load(weight)), simd.load(derivative));
                simd.store(derivative, simd.if_less(simd.abs(delta), tiny, zero, delta));
            }
        }
    }
}

struct HiddenDeltas<'a> {
    back: &'a [f32],
    derivatives: &'a mut [f32],
}

impl Vectorised for HiddenDeltas<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) {
        let (tiny, zero) = (simd.splat(TINY), simd.splat(0.0));
        for (derivative, back) in self.derivatives.as_chunks_mut::<N>().0.iter_mut().zip(self.back.as_chunks::<N>().0) {
            let delta = simd.mul(simd.load(back), simd.load(derivative));
            simd.store(derivative, simd.if_less(simd.abs(delta), tiny, zero, delta));
        }
    }
}
