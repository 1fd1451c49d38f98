//! The sweep: sums over all documents above, or below, each document.

use super::{Document, Moments, Side};
use crate::numeric::series::{SERIES, TERMS};
use crate::simd::{Simd, Vectorised};
use crate::stop::Stop;

/// Number of documents between checks of `stop`: less than 10 ms.
const STRIDE: usize = 1 << 16;

/// `TERMS` numbers in lanes of four.
type Lanes<D> = [D; TERMS / 4];

/// Sums that a sweep carries for one set of sources.
#[derive(Clone, Copy)]
struct Carried<D, const R: usize> {
    /// Sums of `w u^k`, `k = 1..=TERMS`.
    powers: [Lanes<D>; R],
    /// Sums of `w`.
    constant: [f64; R],
    /// Sums of `w |x_source - x_target|`.
    linear: [f64; R],
}

impl<D: Copy, const R: usize> Carried<D, R> {
    #[inline(always)]
    fn zeros(zero: D) -> Self {
        Carried { powers: [[zero; TERMS / 4]; R], constant: [0.0; R], linear: [0.0; R] }
    }

    /// Moves to the next document, at distance `gap`.
    #[inline(always)]
    fn advance<const N: usize, S: Simd<N, D = D>>(&mut self, simd: S, powers: &Lanes<D>, gap: f64, fade: f64) {
        for own in &mut self.powers {
            own.iter_mut().zip(powers).for_each(|(own, &power)| *own = simd.mul64(*own, power));
        }
        for (constant, linear) in self.constant.iter_mut().zip(&mut self.linear) {
            *linear = (*linear + *constant * gap) * fade;
            *constant *= fade;
        }
    }

    /// Adds a source at the current document, times `share`.
    #[inline(always)]
    fn add<const N: usize, S: Simd<N, D = D>>(&mut self, simd: S, weights: [f64; R], share: f64) {
        for (own, weight) in self.powers.iter_mut().zip(weights) {
            let weight = simd.splat64(weight * share);
            own.iter_mut().for_each(|own| *own = simd.add64(*own, weight));
        }
        self.constant.iter_mut().zip(weights).for_each(|(own, weight)| *own += weight * share);
    }

    /// Adds the moments times the weights of a target, times `share`, to `sum`.
    #[inline(always)]
    fn read<const N: usize, S: Simd<N, D = D>>(&self, simd: S, weights: [f64; R], share: f64, sum: &mut Lanes<D>) {
        for (powers, weight) in self.powers.iter().zip(weights) {
            let weight = simd.splat64(weight * share);
            sum.iter_mut().zip(powers).for_each(|(sum, &power)| *sum = simd.fma64(power, weight, *sum));
        }
    }
}

#[inline(always)]
fn dot<const N: usize, S: Simd<N>>(simd: S, a: &Lanes<S::D>, b: &Lanes<S::D>) -> f64 {
    let mut sum = simd.splat64(0.0);
    a.iter().zip(b).for_each(|(&a, &b)| sum = simd.fma64(a, b, sum));
    simd.sum64(sum)
}

#[inline(always)]
fn scalar_dot<const R: usize>(a: &[f64; R], b: &[f64; R]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `u, u², ... u^TERMS`, times `fade`.
#[inline(always)]
fn powers<const N: usize, S: Simd<N>>(simd: S, u: f64, fade: f64) -> Lanes<S::D> {
    let square = u * u;
    let fourth = simd.splat64(square * square);
    let mut four = simd.load64(&[u * fade, square * fade, square * u * fade, square * square * fade]);
    std::array::from_fn(|index| {
        if index > 0 {
            four = simd.mul64(four, fourth);
        }
        four
    })
}

#[inline(always)]
fn lanes<const N: usize, S: Simd<N>>(simd: S, values: &[f64; TERMS]) -> Lanes<S::D> {
    std::array::from_fn(|index| simd.load64(&std::array::from_fn(|lane| values[4 * index + lane])))
}

/// One sweep over documents in rank order.
pub(super) struct Scan<
    'a,
    F,
    const R: usize,
    const ABOVE: bool,
    const FADES: bool,
    const LOSS: bool,
    const HESSIAN: bool,
> {
    pub form: F,
    pub documents: &'a [Document],
    /// Documents with a lower level are in the upper half.
    pub cut: u32,
    /// `exp(x_i - x_(i-1))`; that of the first document is unused.
    pub decay: &'a [f64],
    /// Factor for the distance of ranks from document `i - 1` to `i`; only used by sweeps that fade.
    pub fade: &'a [f64],
    /// Number of top ranks: only pairs with one of their documents count.
    pub top: u32,
    /// Factor of all sums.
    pub amplitude: f64,
    /// Gradients `dC/dx` in nats; sweeps that fade add to them.
    pub gradient: &'a mut [f64],
    /// Second derivatives; empty unless requested.
    pub hessian: &'a mut [f64],
    pub stop: &'a Stop,
}

impl<F: Moments<R>, const R: usize, const ABOVE: bool, const FADES: bool, const LOSS: bool, const HESSIAN: bool>
    Vectorised for Scan<'_, F, R, ABOVE, FADES, LOSS, HESSIAN>
{
    /// The loss in nats, from sweeps over documents above: every pair once.
    type Output = f64;

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, simd: S) -> f64 {
        let sigmoid = lanes(simd, &SERIES.sigmoid);
        let softplus = lanes(simd, &SERIES.softplus);
        let derivative = lanes(simd, &SERIES.derivative);
        let side = if ABOVE { Side::Above } else { Side::Below };
        let (documents, n) = (self.documents, self.documents.len());
        let zero = simd.splat64(0.0);
        // Both sets are advanced, read and added to at every step, one of them times 0: cheaper than an unpredictable
        // branch.
        let (mut lows, mut highs) = (Carried::<S::D, R>::zeros(zero), Carried::<S::D, R>::zeros(zero));
        let mut loss = 0.0;
        for step in 0..n {
            if step % STRIDE == 0 && self.stop.asked() {
                break;
            }
            let index = if ABOVE { step } else { n - 1 - step };
            let document = &documents[index];
            if step > 0 {
                let lower = if ABOVE { index } else { index + 1 };
                let fade = if FADES { self.fade[lower] } else { 1.0 };
                let powers = powers(simd, self.decay[lower], fade);
                let gap = if LOSS { documents[lower - 1].x - documents[lower].x } else { 0.0 };
                lows.advance(simd, &powers, gap, fade);
                if !F::ALL {
                    highs.advance(simd, &powers, gap, fade);
                }
            }
            // The upper document of a pair must be in the top: a source above, or the target of sources below.
            let in_top = f64::from(u8::from(document.place < self.top));
            let (within, share) = if ABOVE { (1.0, in_top) } else { (in_top, 1.0) };
            let high = F::ALL || document.level < self.cut;
            let (is_high, is_low) = (f64::from(u8::from(high)), f64::from(u8::from(!high)));
            let (total, swap) = self.form.target(document, high, side);
            let mut weighted = [zero; TERMS / 4];
            lows.read(simd, total, is_high, &mut weighted);
            let mut constant = is_high * scalar_dot(&swap, &lows.constant);
            let mut linear = is_high * scalar_dot(&swap, &lows.linear);
            if !F::ALL {
                highs.read(simd, total, is_low, &mut weighted);
                constant += is_low * scalar_dot(&swap, &highs.constant);
                linear += is_low * scalar_dot(&swap, &highs.linear);
            }
            // The derivative of a pair's loss with respect to its lower document is (keep + swap) u / (1 + u) - swap;
            // the upper one has the opposite sign.
            let gradient = within * (dot(simd, &weighted, &sigmoid) - constant);
            let before = if FADES { self.gradient[index] } else { 0.0 };
            self.gradient[index] = before + self.amplitude * if ABOVE { gradient } else { -gradient };
            if HESSIAN {
                let before = if FADES { self.hessian[index] } else { 0.0 };
                self.hessian[index] = before + self.amplitude * within * dot(simd, &weighted, &derivative);
            }
            if LOSS && ABOVE {
                loss += dot(simd, &weighted, &softplus) + linear;
            }
            let source = self.form.source(document, high, side);
            if F::ALL {
                lows.add(simd, source, share);
            } else {
                lows.add(simd, source, share * is_low);
                highs.add(simd, source, share * is_high);
            }
        }
        loss * self.amplitude
    }
}
