//! Activation functions on the host: value and derivative in one vectorised pass.
//!
//! Burn's autodiff computes a sigmoid in the forward pass and again in the backward pass, number by number, which took
//! a quarter of an epoch.

use super::Activation;
use crate::device::on_host;
use crate::numeric::{sigmoid_and_derivative, tanh_and_derivative};
use crate::simd::{Simd, Vectorised, dispatch};
use burn::tensor::{Device, Tensor, TensorData, activation};

/// Applies the activation function `g`; differentiable if the input is.
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
                dispatch(Units { function, values: &mut values, derivatives: &mut [] });
                constant(values, &plain)
            }
            Err(_) => by_burn(input, function),
        };
    }
    let before = input.clone().without_autodiff();
    let Ok(mut values) = before.clone().into_data().try_into_vec() else { return by_burn(input, function) };
    let infinite = values.iter().fold(false, |any, value: &f32| any | value.is_infinite());
    let mut derivatives = vec![0.0; values.len()];
    dispatch(Units { function, values: &mut values, derivatives: &mut derivatives });
    // The difference is zero, so that the value is g(x); the gradient passes through it, times g'(x).
    let difference = if infinite {
        // Infinity minus itself is NaN.
        let finite = |tensor: Tensor<2>| tensor.clamp(f32::MIN, f32::MAX);
        finite(input) - finite(before)
    } else {
        input - before
    };
    difference * constant(derivatives, &plain) + constant(values, &plain)
}

fn by_burn(input: Tensor<2>, function: Activation) -> Tensor<2> {
    match function {
        Activation::Sigmoid => activation::sigmoid(input),
        Activation::Tanh => activation::tanh(input),
        Activation::Relu => activation::relu(input),
    }
}

/// Replaces every `x` with `g(x)`.
pub(crate) fn activate(function: Activation, values: &mut [f32]) {
    dispatch(Units { function, values, derivatives: &mut [] });
}

/// Adds `weight * g(own + step * moved)` to the scores.
pub(crate) fn add_moved_unit(
    function: Activation,
    own: &[f32],
    moved: &[f32],
    step: f32,
    weight: f32,
    scores: &mut [f32],
) {
    dispatch(MovedUnit { function, own, moved, step, weight, scores });
}

struct MovedUnit<'a> {
    function: Activation,
    own: &'a [f32],
    moved: &'a [f32],
    step: f32,
    weight: f32,
    scores: &'a mut [f32],
}

impl MovedUnit<'_> {
    #[inline(always)]
    fn add(self, of: impl Fn(f32) -> (f32, f32)) {
        if self.step == 0.0 {
            // Zero times infinity would be NaN.
            self.scores.iter_mut().zip(self.own).for_each(|(score, own)| *score += self.weight * of(*own).0);
            return;
        }
        for ((score, own), moved) in self.scores.iter_mut().zip(self.own).zip(self.moved) {
            let moved = own + self.step * moved;
            // Infinity minus infinity would be NaN too; a NaN in `own` stays.
            *score += self.weight * of(if moved.is_nan() { *own } else { moved }).0;
        }
    }
}

impl Vectorised for MovedUnit<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, _: S) {
        match self.function {
            Activation::Sigmoid => self.add(sigmoid_and_derivative),
            Activation::Tanh => self.add(tanh_and_derivative),
            Activation::Relu => self.add(relu),
        }
    }
}

/// Replaces inputs with values; `derivatives` has one derivative per value, or is empty.
struct Units<'a> {
    function: Activation,
    values: &'a mut [f32],
    derivatives: &'a mut [f32],
}

impl Vectorised for Units<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, _: S) {
        match self.function {
            Activation::Sigmoid => each(self.values, self.derivatives, sigmoid_and_derivative),
            Activation::Tanh => each(self.values, self.derivatives, tanh_and_derivative),
            Activation::Relu => each(self.values, self.derivatives, relu),
        }
    }
}

#[inline(always)]
fn each(values: &mut [f32], derivatives: &mut [f32], of: impl Fn(f32) -> (f32, f32)) {
    if derivatives.is_empty() {
        values.iter_mut().for_each(|value| *value = of(*value).0);
    } else {
        values.iter_mut().zip(derivatives).for_each(|(value, derivative)| (*value, *derivative) = of(*value));
    }
}

/// `max(x, 0)` and its derivative; NaN stays NaN, as in the other functions.
#[inline(always)]
fn relu(x: f32) -> (f32, f32) {
    if x <= 0.0 { (0.0, 0.0) } else { (x, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device;

    const ALL: [Activation; 3] = [Activation::Sigmoid, Activation::Tanh, Activation::Relu];

    fn points() -> Vec<f32> {
        let grid = (-8_000..=8_000).map(|i| i as f32 * 0.0137);
        let small = (1..150).flat_map(|i| [(0.5f32).powi(i), -(0.5f32).powi(i)]);
        let large = (0..128).flat_map(|i| [(2f32).powi(i), -(2f32).powi(i)]);
        // Numbers spread over all finite values.
        let any = (0..20_000).map(|i: u32| f32::from_bits(i.wrapping_mul(0x9e37_79b9))).filter(|x| x.is_finite());
        grid.chain(small).chain(large).chain(any).chain([0.0, -0.0, f32::MAX, f32::MIN]).collect()
    }

    fn all(function: Activation, points: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let (mut values, mut derivatives) = (points.to_vec(), vec![0.0; points.len()]);
        dispatch(Units { function, values: &mut values, derivatives: &mut derivatives });
        (values, derivatives)
    }

    #[test]
    fn values_and_derivatives_are_those_of_the_library() {
        // 1 / (1 + e^-x) without losing digits on either side.
        let sigmoid = |x: f64| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) };
        for function in ALL {
            let exact = |x: f64| match function {
                Activation::Sigmoid => (sigmoid(x), sigmoid(x) * sigmoid(-x)),
                Activation::Tanh => (x.tanh(), x.cosh().powi(-2)),
                Activation::Relu => (x.max(0.0), f64::from(u8::from(x > 0.0))),
            };
            let (values, derivatives) = all(function, &points());
            let mut alone = points();
            activate(function, &mut alone);
            assert_eq!(values, alone, "{function}: the value depends on whether the derivative is computed");
            for ((x, value), derivative) in points().into_iter().zip(values).zip(derivatives) {
                let (expected, rise) = exact(f64::from(x));
                // A few units in the last place, also for subnormal numbers (1.4e-45).
                let near = |a: f32, b: f64| (f64::from(a) - b).abs() <= 4e-7 * b.abs() + 5.7e-45;
                assert!(near(value, expected), "{function} of {x}: {value:e}, not {expected:e}");
                assert!(near(derivative, rise), "{function}, derivative at {x}: {derivative:e}, not {rise:e}");
            }
        }
    }

    #[test]
    fn saturated_units_still_distinguish_documents() {
        let grid: Vec<f32> = (0..=2_000).map(|i| -100.0 + i as f32 * 0.05).collect();
        let (values, _) = all(Activation::Sigmoid, &grid);
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "from -100 to 0 all values are distinct");
        assert!(values[0] > 0.0 && values[0] < f32::MIN_POSITIVE, "e^-100 is subnormal, not 0");
        for function in ALL {
            let grid: Vec<f32> = (-12_000..=12_000).map(|i| i as f32 * 0.01).collect();
            assert!(all(function, &grid).0.is_sorted(), "{function}");
        }
    }

    #[test]
    fn infinite_inputs_give_no_nan() {
        let ends = [f32::NEG_INFINITY, f32::INFINITY];
        assert_eq!(all(Activation::Sigmoid, &ends), (vec![0.0, 1.0], vec![0.0, 0.0]));
        assert_eq!(all(Activation::Tanh, &ends), (vec![-1.0, 1.0], vec![0.0, 0.0]));
        assert_eq!(all(Activation::Relu, &ends).0, [0.0, f32::INFINITY]);
        let device = device::open("auto").unwrap().autodiff();
        let host = |tensor: Tensor<2>| tensor.into_data().try_into_vec::<f32>().unwrap();
        for function in [Activation::Sigmoid, Activation::Tanh] {
            let input = Tensor::<2>::from_floats([[ends[0], ends[1], 0.0]], &device).require_grad();
            let output = units(input.clone(), function);
            let gradients = output.clone().sum().backward();
            let derivative = if function == Activation::Sigmoid { 0.25 } else { 1.0 };
            assert_eq!(host(output.without_autodiff()), all(function, &[ends[0], ends[1], 0.0]).0, "{function}");
            assert_eq!(host(input.grad(&gradients).unwrap()), [0.0, 0.0, derivative], "{function}");
        }
        // Infinite inputs moved by a step of length 0, by 0, and by the opposite infinity.
        let mut scores = vec![0.0; 2];
        for (step, moved) in [(0.0, ends), (0.5, [0.0, 0.0]), (0.5, [ends[1], ends[0]])] {
            add_moved_unit(Activation::Sigmoid, &ends, &moved, step, 1.0, &mut scores);
        }
        assert_eq!(scores, [0.0, 3.0]);
    }

    #[test]
    fn values_do_not_depend_on_the_instruction_set() {
        for function in ALL {
            let native = all(function, &points());
            crate::simd::PORTABLE.set(true);
            let portable = all(function, &points());
            crate::simd::PORTABLE.set(false);
            assert_eq!(native, portable, "{function}");
        }
    }

    #[test]
    fn nan_stays_nan() {
        for function in ALL {
            let mut values = [f32::NAN];
            dispatch(Units { function, values: &mut values, derivatives: &mut [] });
            assert!(values[0].is_nan(), "{function}");
        }
    }

    #[test]
    fn gradients_match_those_of_burns_functions() {
        let device = device::open("auto").unwrap().autodiff();
        let host = |tensor: Tensor<2>| tensor.into_data().try_into_vec::<f32>().unwrap();
        let weights = || Tensor::<2>::from_floats([[0.3, -1.0, 2.0], [4.0, -0.1, 0.0]], &device);
        for function in ALL {
            let run = |of: fn(Tensor<2>, Activation) -> Tensor<2>| {
                let input = Tensor::<2>::from_floats([[0.5, -0.5, 3.0], [-8.0, 0.001, 1.0]], &device).require_grad();
                let output = of(input.clone(), function);
                let gradients = (output.clone() * weights()).sum().backward();
                (host(output.without_autodiff()), host(input.grad(&gradients).unwrap()))
            };
            let (ours, burns) = (run(units), run(by_burn));
            // Burn's derivative of tanh, 1 - y y, cancels where y is near 1.
            let far = |a: &f32, b: &f32| (a - b).abs() > 1e-6 * b.abs() + 1e-6;
            assert!(!ours.0.iter().zip(&burns.0).any(|(a, b)| far(a, b)), "{function}: {ours:?}, {burns:?}");
            assert!(!ours.1.iter().zip(&burns.1).any(|(a, b)| far(a, b)), "{function}: {ours:?}, {burns:?}");
            let plain =
                Tensor::<2>::from_floats([[0.5, -0.5, 3.0], [-8.0, 0.001, 1.0]], &device.clone().without_autodiff());
            assert_eq!(host(units(plain, function)), ours.0, "{function}: training and scoring differ");
        }
    }
}
