//! The hidden units' functions, once a unit: value and slope together, on the host in vectors.
//!
//! Burn's autodiff computes a sigmoid in the forward pass and again in the backward pass. On the host, number by number,
//! that was a quarter of an epoch.

use super::Activation;
use crate::device::on_host;
use crate::simd::{Simd, Vectorised, dispatch};
use burn::tensor::{Device, Tensor, TensorData, activation};

/// `g(x)` of every hidden unit, the same function on every device, differentiable where the input is.
pub(super) fn units(input: Tensor<2>, function: Activation) -> Tensor<2> {
    let device = input.device();
    if function == Activation::Relu || !on_host(&device) {
        return by_burn(input, function);
    }
    let shape = input.dims();
    let plain = device.clone().without_autodiff();
    let constant = |values: Vec<f32>, device: &Device| Tensor::<2>::from_data(TensorData::new(values, shape), device);
    if !device.is_autodiff() {
        return match input.clone().into_data().try_into_vec() {
            Ok(mut values) => {
                dispatch(Units { function, values: &mut values, slopes: &mut [] });
                constant(values, &plain)
            }
            Err(_) => by_burn(input, function),
        };
    }
    let before = input.clone().without_autodiff();
    let Ok(mut values) = before.clone().into_data().try_into_vec() else { return by_burn(input, function) };
    let mut slopes = vec![0.0; values.len()];
    dispatch(Units { function, values: &mut values, slopes: &mut slopes });
    // The difference is zero, so that the value is g(x); the gradient passes through it, times g'(x).
    (input - before) * constant(slopes, &plain) + constant(values, &plain)
}

fn by_burn(input: Tensor<2>, function: Activation) -> Tensor<2> {
    match function {
        Activation::Sigmoid => activation::sigmoid(input),
        Activation::Tanh => activation::tanh(input),
        Activation::Relu => activation::relu(input),
    }
}

/// Replaces inputs by values; `slopes` has one place a value, or none.
struct Units<'a> {
    function: Activation,
    values: &'a mut [f32],
    slopes: &'a mut [f32],
}

impl Vectorised for Units<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, _: S) {
        match self.function {
            Activation::Sigmoid => each(self.values, self.slopes, sigmoid),
            Activation::Tanh => each(self.values, self.slopes, tanh),
            Activation::Relu => each(self.values, self.slopes, |x| (x.max(0.0), f32::from(x > 0.0))),
        }
    }
}

#[inline(always)]
fn each(values: &mut [f32], slopes: &mut [f32], of: impl Fn(f32) -> (f32, f32)) {
    if slopes.is_empty() {
        values.iter_mut().for_each(|value| *value = of(*value).0);
    } else {
        values.iter_mut().zip(slopes).for_each(|(value, slope)| (*value, *slope) = of(*value));
    }
}

/// `1 / (1 + e^-x)` and its slope.
#[inline(always)]
fn sigmoid(x: f32) -> (f32, f32) {
    let (small, _) = exponential(-x.abs());
    let large = 1.0 / (1.0 + small);
    (if x < 0.0 { small * large } else { large }, small * large * large)
}

/// `tanh(x)` and its slope.
#[inline(always)]
fn tanh(x: f32) -> (f32, f32) {
    let (small, less) = exponential(-2.0 * x.abs());
    let whole = 1.0 / (1.0 + small);
    ((-less * whole).copysign(x), 4.0 * small * whole * whole)
}

/// `e^x` and `e^x - 1` of a number of at most 0, both to a few units in the last place, without a branch or a call, so that loops over it become vectors.
#[inline(always)]
fn exponential(x: f32) -> (f32, f32) {
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    // Adding 1.5 * 2^23 leaves the nearest integer in the lowest bits.
    const MAGIC: f32 = 12_582_912.0;
    // NaN must stay: a maximum would swallow it.
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + MAGIC;
    let power = shifted - MAGIC;
    let rest = (x - power * LN_2_HIGH) - power * LN_2_LOW;
    let tail = 1.0 / 24.0 + rest * (1.0 / 120.0 + rest * (1.0 / 720.0 + rest * (1.0 / 5040.0)));
    let less = rest + rest * rest * (0.5 + rest * (1.0 / 6.0 + rest * tail));
    let scale = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    (scale + scale * less, scale * less + (scale - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;

    fn points() -> Vec<f32> {
        let grid = (-4_000..=4_000).map(|i| i as f32 * 0.025);
        let small = (1..60).flat_map(|i| [(0.5f32).powi(i), -(0.5f32).powi(i)]);
        grid.chain(small).chain([1e30, -1e30]).collect()
    }

    #[test]
    fn values_and_slopes_are_those_of_the_library() {
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        for function in [Activation::Sigmoid, Activation::Tanh] {
            let exact = |x: f64| match function {
                Activation::Sigmoid => (sigmoid(x), sigmoid(x) * sigmoid(-x)),
                _ => (x.tanh(), x.cosh().powi(-2)),
            };
            let (mut values, mut slopes) = (points(), vec![0.0; points().len()]);
            dispatch(Units { function, values: &mut values, slopes: &mut slopes });
            let mut alone = points();
            dispatch(Units { function, values: &mut alone, slopes: &mut [] });
            assert_eq!(values, alone, "{function}: the value depends on whether the slope is wanted");
            for ((x, value), slope) in points().into_iter().zip(values).zip(slopes) {
                let (expected, rise) = exact(f64::from(x));
                let near = |a: f32, b: f64| (f64::from(a) - b).abs() <= 4e-7 * b.abs() + 1e-37;
                assert!(near(value, expected), "{function} of {x}: {value}, not {expected}");
                assert!(near(slope, rise), "{function}, slope at {x}: {slope}, not {rise}");
            }
        }
    }

    #[test]
    fn nan_stays_nan() {
        for function in [Activation::Sigmoid, Activation::Tanh] {
            let mut values = [f32::NAN];
            dispatch(Units { function, values: &mut values, slopes: &mut [] });
            assert!(values[0].is_nan(), "{function}");
        }
    }

    #[test]
    fn autodiff_gives_the_same_as_through_burns_own_function() {
        let device = device::open("auto").unwrap().autodiff();
        let host = |tensor: Tensor<2>| tensor.into_data().try_into_vec::<f32>().unwrap();
        let weights = || Tensor::<2>::from_floats([[0.3, -1.0, 2.0], [4.0, -0.1, 0.0]], &device);
        for function in [Activation::Sigmoid, Activation::Tanh, Activation::Relu] {
            let run = |of: fn(Tensor<2>, Activation) -> Tensor<2>| {
                let input = Tensor::<2>::from_floats([[0.5, -0.5, 3.0], [-8.0, 0.001, 1.0]], &device).require_grad();
                let output = of(input.clone(), function);
                let gradients = (output.clone() * weights()).sum().backward();
                (host(output.without_autodiff()), host(input.grad(&gradients).unwrap()))
            };
            let (ours, burns) = (run(units), run(by_burn));
            // Burn's slope of tanh, 1 - y y, cancels where y is near 1.
            let far = |a: &f32, b: &f32| (a - b).abs() > 1e-6 * b.abs() + 1e-6;
            assert!(!ours.0.iter().zip(&burns.0).any(|(a, b)| far(a, b)), "{function}: {ours:?}, {burns:?}");
            assert!(!ours.1.iter().zip(&burns.1).any(|(a, b)| far(a, b)), "{function}: {ours:?}, {burns:?}");
            let plain =
                Tensor::<2>::from_floats([[0.5, -0.5, 3.0], [-8.0, 0.001, 1.0]], &device.clone().without_autodiff());
            assert_eq!(host(units(plain, function)), ours.0, "{function}: training and scoring differ");
        }
    }
}
