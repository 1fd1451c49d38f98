//! Lanes that every machine has, and the setting that restricts kernels to them.

use super::Simd;
use std::sync::atomic::{AtomicU8, Ordering};

/// 0: not yet read, 1: best lanes of the machine, 2: portable lanes.
static CHOICE: AtomicU8 = AtomicU8::new(0);

/// Returns whether this crate's kernels run on portable lanes, so that their results are identical on every machine.
/// Set with [`set_portable`], or with the environment variable `BURNRANK_PORTABLE` if it is neither empty nor `0`.
///
/// Scores on the host are always identical on every machine; gradients of objectives and of nets only with portable
/// lanes. Burn's matrix products, which the tensor path uses, choose their instructions by machine and have no such
/// setting.
pub fn portable() -> bool {
    match CHOICE.load(Ordering::Relaxed) {
        0 => {
            let requested =
                std::env::var_os("BURNRANK_PORTABLE").is_some_and(|value| !value.is_empty() && value != "0");
            set_portable(requested);
            requested
        }
        choice => choice == 2,
    }
}

/// Turns portable lanes on or off for the whole process; see [`portable`].
pub fn set_portable(on: bool) {
    CHOICE.store(if on { 2 } else { 1 }, Ordering::Relaxed);
}

/// Eight lanes in an array, which any compiler turns into the vectors of its baseline.
///
/// `FUSED` is whether `a b + c` is rounded once. On machines without such an instruction that is a slow function call,
/// so portable lanes round twice on every machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes<const FUSED: bool>;

#[inline(always)]
fn zip(a: [f32; 8], b: [f32; 8], of: impl Fn(f32, f32) -> f32) -> [f32; 8] {
    std::array::from_fn(|lane| of(a[lane], b[lane]))
}

impl<const FUSED: bool> Simd<8> for Lanes<FUSED> {
    const NAME: &'static str = "baseline";
    type V = [f32; 8];
    type D = [f64; 4];

    #[inline(always)]
    fn splat64(self, value: f64) -> Self::D {
        [value; 4]
    }

    #[inline(always)]
    fn load64(self, from: &[f64; 4]) -> Self::D {
        *from
    }

    #[inline(always)]
    fn add64(self, a: Self::D, b: Self::D) -> Self::D {
        std::array::from_fn(|lane| a[lane] + b[lane])
    }

    #[inline(always)]
    fn mul64(self, a: Self::D, b: Self::D) -> Self::D {
        std::array::from_fn(|lane| a[lane] * b[lane])
    }

    #[inline(always)]
    fn fma64(self, a: Self::D, b: Self::D, c: Self::D) -> Self::D {
        if FUSED {
            std::array::from_fn(|lane| a[lane].mul_add(b[lane], c[lane]))
        } else {
            std::array::from_fn(|lane| a[lane] * b[lane] + c[lane])
        }
    }

    #[inline(always)]
    fn sum64(self, a: Self::D) -> f64 {
        (a[0] + a[2]) + (a[1] + a[3])
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Self::V {
        [value; 8]
    }

    #[inline(always)]
    fn load(self, from: &[f32; 8]) -> Self::V {
        *from
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; 8], value: Self::V) {
        *to = value;
    }

    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| a / b)
    }

    #[inline(always)]
    fn min(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn max(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn abs(self, a: Self::V) -> Self::V {
        a.map(f32::abs)
    }

    #[inline(always)]
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        if FUSED {
            std::array::from_fn(|lane| a[lane].mul_add(b[lane], c[lane]))
        } else {
            std::array::from_fn(|lane| a[lane] * b[lane] + c[lane])
        }
    }

    #[inline(always)]
    fn if_less(self, a: Self::V, b: Self::V, yes: Self::V, no: Self::V) -> Self::V {
        std::array::from_fn(|lane| if a[lane] < b[lane] { yes[lane] } else { no[lane] })
    }

    #[inline(always)]
    fn round(self, a: Self::V) -> Self::V {
        // Adding and subtracting 1.5 * 2^23 rounds to an integer without a library call.
        const MAGIC: f32 = 12_582_912.0;
        a.map(|a| (a + MAGIC) - MAGIC)
    }

    #[inline(always)]
    fn pow2(self, a: Self::V) -> Self::V {
        // SAFETY: the lanes hold small integers.
        a.map(|a| f32::from_bits((unsafe { a.to_int_unchecked::<i32>() } + 127).cast_unsigned() << 23))
    }

    #[inline(always)]
    fn sum(self, a: Self::V) -> f32 {
        ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PORTABLE, WIDER};
    use crate::objective::{Gradients, Loss, LossScratch, Objective, Outputs, PairAlgorithm, PairLoss, Query};
    use crate::stop::Stop;

    /// Bits of the gradient and loss of one query.
    fn bits(loss: &PairLoss, scores: &[f32], labels: &[f32]) -> (Vec<u32>, u64) {
        let mut gradient = vec![0.0; scores.len()];
        let outputs = Outputs { loss: true, pairs: true };
        let query = Query { scores, labels, seed: 0, stop: &Stop::new() };
        let result =
            loss.query(query, Gradients::gradient(&mut gradient), outputs, &mut LossScratch::default()).unwrap();
        (gradient.iter().map(|value| value.to_bits()).collect(), result.loss.to_bits())
    }

    #[test]
    fn portable_lanes_give_identical_results_in_every_build() {
        let random = |i: u32| (i.wrapping_mul(0x9e37_79b9) >> 8) as f32 / (1 << 24) as f32;
        for spread in [3.0, 300.0] {
            let scores: Vec<f32> = (1..200).map(|i| spread * random(i)).collect();
            let labels: Vec<f32> = (1..200).map(|i| (5.0 * random(1000 + i)).floor()).collect();
            for objective in ["ranknet", "lambdarank:ndcg", "lambdarank:map", "ndcg-loss2++", "arp-loss2"] {
                for method in [PairAlgorithm::Direct, PairAlgorithm::Fast] {
                    let objective = Objective::parse(objective).unwrap();
                    let kernel = PairLoss { method, ..objective.loss().as_pairs().unwrap().clone() };
                    PORTABLE.set(true);
                    let baseline = bits(&kernel, &scores, &labels);
                    WIDER.set(true);
                    let wider = bits(&kernel, &scores, &labels);
                    WIDER.set(false);
                    PORTABLE.set(false);
                    assert_eq!(baseline, wider, "{objective}, {method:?}");
                }
            }
        }
    }
}
