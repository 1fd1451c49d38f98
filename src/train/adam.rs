//! Adam on a GPU: one kernel per tensor, where Burn's operations take over ten. Its state is Burn's, and so is the rule elsewhere.

use super::optimizer::{BETAS, EPSILON};
use crate::device::cube::{self, Buffer, Cube};
use burn::optim::{Adam, AdamState, AdaptiveMomentumState, Optimizer};
use burn::tensor::{Device, Tensor};
use burn_cubecl::cubecl::{self, prelude::*};

/// Burn's Adam, computed by a single kernel on GPU backends.
#[derive(Clone)]
pub(super) struct DeviceAdam {
    /// Used where there is no kernel.
    pub burn: Adam,
    pub cube: Cube,
    /// L2 penalty: the factor of the weights in their own gradient.
    pub l2: f32,
}

impl Optimizer for DeviceAdam {
    type State<const D: usize> = AdamState<D>;

    fn step<const D: usize>(
        &self,
        step_size: f64,
        weights: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<AdamState<D>>,
    ) -> (Tensor<D>, Option<AdamState<D>>) {
        if !self.cube.is_on(&weights.device()) || !self.cube.is_on(&gradient.device()) {
            return self.burn.step(step_size, weights, gradient, state);
        }
        let shape = weights.dims();
        // The kernel does not look whether what it reads is there.
        assert_eq!(gradient.dims(), shape, "a gradient of its weights");
        let length = shape.iter().product::<usize>();
        let (time, before) = match state {
            Some(AdamState { momentum }) => {
                assert_eq!([momentum.moment_1.dims(), momentum.moment_2.dims()], [shape; 2], "moments of its weights");
                (momentum.time + 1, Some([momentum.moment_1, momentum.moment_2]))
            }
            None => (1, None),
        };
        let weights = cube::buffer(weights);
        let is_first = before.is_none();
        let none = || [(); 2].map(|()| self.cube.nothing().clone());
        let [mean, square] = before.map_or_else(none, |both| both.map(cube::buffer));
        let new = [(); 3].map(|()| self.cube.new_floats(length));
        let rest = BETAS.map(|beta| 1.0 - beta.powi(i32::try_from(time).unwrap_or(i32::MAX)));
        let root = rest[1].sqrt();
        let (count, size) = self.cube.units(length);
        let lend = |buffer: &Buffer| buffer.clone().into_buffer_arg();
        // SAFETY: units beyond the last weight end, each of the others reads and writes its own numbers.
        unsafe {
            adam::launch_unchecked(
                self.cube.client(),
                count,
                size,
                lend(&weights),
                lend(&cube::buffer(gradient)),
                lend(&mean),
                lend(&square),
                lend(&new[0]),
                lend(&new[1]),
                lend(&new[2]),
                length as u32,
                (step_size * f64::from(root / rest[0])) as f32,
                EPSILON * root,
                self.l2,
                is_first,
            );
        }
        let [weights, moment_1, moment_2] = new.map(|buffer| cube::tensor(buffer).reshape(shape));
        (weights, Some(AdamState::new(AdaptiveMomentumState::new(time, moment_1, moment_2))))
    }

    fn to_device<const D: usize>(state: AdamState<D>, device: &Device) -> AdamState<D> {
        Adam::to_device(state, device)
    }
}

/// Unit `u` moves the `u`-th weight.
#[cube(launch_unchecked)]
#[allow(clippy::too_many_arguments)] // a buffer for each thing it reads or writes
fn adam(
    weights: &[f32],
    gradient: &[f32],
    mean: &[f32],
    square: &[f32],
    new_weights: &mut [f32],
    new_mean: &mut [f32],
    new_square: &mut [f32],
    length: u32,
    step: f32,
    epsilon: f32,
    l2: f32,
    #[comptime] is_first: bool,
) {
    let unit = ABSOLUTE_POS;
    if unit >= length as usize {
        terminate!();
    }
    let weight = weights[unit];
    let slope = gradient[unit] + l2 * weight;
    let mut own_mean = slope * comptime!(1.0 - BETAS[0]);
    let mut own_square = slope * slope * comptime!(1.0 - BETAS[1]);
    if comptime!(!is_first) {
        own_mean += mean[unit] * comptime!(BETAS[0]);
        own_square += square[unit] * comptime!(BETAS[1]);
    }
    new_mean[unit] = own_mean;
    new_square[unit] = own_square;
    new_weights[unit] = weight - step * own_mean / (own_square.sqrt() + epsilon);
}
