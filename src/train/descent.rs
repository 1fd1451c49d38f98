//! The update of all weights in one pass: Burn's optimisers over one array.
//!
//! Between epochs, Burn's [`ModuleOptimizer`] keeps the state and saves it; [`Lent`] reads and replaces it.

use super::optimizer::{BETAS, EPSILON, MOMENTUM};
use crate::model::{NetShape, Ranker};
use crate::numeric::TINY;
use crate::setting::{OptimizerKind, TrainConfig};
use crate::simd::{Simd, Vectorised, dispatch};
use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::{GradientsParams, ModuleOptimizer, Optimizer, RecordState, StateSink, StateSource};
use burn::tensor::{Device, Tensor, TensorData};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

/// Number of weights updated at a time: they and their state fit into the first-level cache.
pub(super) const PIECE: usize = 1024;

/// Updates all weights of a net.
#[derive(Debug, Clone)]
pub(super) struct Descent {
    kind: OptimizerKind,
    /// The factor of the weights in their own gradient.
    l2: f32,
    /// Maximum norm of the gradient by a parameter.
    clip: Option<f32>,
    /// Updates so far.
    time: usize,
    /// Means of the gradient and of its square, or the velocity.
    moments: [Vec<f32>; 2],
}

/// The constants of one update.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    kind: OptimizerKind,
    l2: f32,
    rate: f32,
    /// Adam's corrections of the first updates.
    factor: f32,
    epsilon: f32,
    is_first: bool,
}

impl Descent {
    /// Resumes from the state of `optimizer`.
    pub fn of(config: &TrainConfig, shape: &NetShape, ranker: &Ranker, optimizer: &ModuleOptimizer) -> Self {
        let mut descent = Descent {
            kind: config.optimizer,
            l2: config.l2 as f32,
            clip: (config.clip > 0.0).then_some(config.clip as f32),
            time: 0,
            moments: Default::default(),
        };
        let names = descent.names();
        let Exchange::Read(found) = exchange(Exchange::Read(Vec::new()), ranker, &mut optimizer.clone()) else {
            return descent;
        };
        for (place, name) in names.iter().enumerate() {
            let tensors = || found.iter().filter_map(|state| state.tensors.iter().find(|(found, _)| found == name));
            let numbers: Vec<f32> = tensors().flat_map(|(_, data)| data.iter::<f32>().collect::<Vec<_>>()).collect();
            let mut packed = Vec::new();
            if numbers.is_empty() {
                packed.resize(shape.len(), 0.0);
            } else {
                shape.pack(&numbers, &mut packed);
                descent.time = descent.time.max(1);
            }
            descent.moments[place] = packed;
        }
        let times = found.iter().flat_map(|state| &state.scalars).filter(|(name, _)| name == TIME);
        descent.time = times.filter_map(|(_, time)| usize::try_from(*time).ok()).fold(descent.time, usize::max);
        descent
    }

    /// Stores the state in `optimizer`.
    pub fn store(self, shape: &NetShape, ranker: &Ranker, optimizer: &mut ModuleOptimizer) {
        if self.time == 0 {
            return;
        }
        let mut plain = [Vec::new(), Vec::new()];
        for (plain, packed) in plain.iter_mut().zip(&self.moments).take(self.names().len()) {
            shape.unpack(packed, plain);
        }
        let mut states = Vec::new();
        let mut start = 0;
        for parameter in ranker.config().shapes() {
            let length: usize = parameter.iter().product();
            let time = (self.kind == OptimizerKind::Adam).then(|| (TIME.to_owned(), self.time.into()));
            let mut state = StateSource::new(BTreeMap::from_iter(time));
            for (name, plain) in self.names().iter().zip(&plain) {
                let data = TensorData::new(plain[start..start + length].to_vec(), parameter.clone());
                state.insert_tensor((*name).to_owned(), data);
            }
            states.push(state);
            start += length;
        }
        exchange(Exchange::Write(states.into_iter()), ranker, optimizer);
    }

    /// The names of the moments in a record.
    fn names(&self) -> &'static [&'static str] {
        match self.kind {
            OptimizerKind::Sgd => &[],
            OptimizerKind::Momentum => &["state.momentum.velocity"],
            OptimizerKind::Adam => &["state.momentum.moment_1", "state.momentum.moment_2"],
        }
    }

    /// Starts the next update.
    pub fn next(&mut self, learning_rate: f64) -> Step {
        let is_first = self.time == 0;
        self.time += 1;
        let time = i32::try_from(self.time).unwrap_or(i32::MAX);
        let [rest, root] = [1.0 - BETAS[0].powi(time), (1.0 - BETAS[1].powi(time)).sqrt()];
        Step {
            kind: self.kind,
            l2: self.l2,
            rate: learning_rate as f32,
            factor: root / rest,
            epsilon: EPSILON * root,
            is_first,
        }
    }

    /// The moments, which an update changes together with the weights; empty if the rule has none.
    pub fn moments(&mut self) -> [&mut [f32]; 2] {
        let [first, second] = &mut self.moments;
        [first, second]
    }

    /// Whether the whole gradient by a parameter is needed before a weight is updated.
    pub fn clips(&self) -> bool {
        self.clip.is_some()
    }

    /// Scales down the gradient by each parameter whose norm is too large.
    pub fn clip(&self, parameters: &[Range<usize>], gradient: &mut [f32]) {
        let Some(limit) = self.clip else { return };
        for places in parameters {
            let gradient = &mut gradient[places.clone()];
            let norm = gradient.iter().map(|&slope| f64::from(slope) * f64::from(slope)).sum::<f64>().sqrt() as f32;
            let factor = limit / (norm + f32::MIN_POSITIVE);
            // NaN stays NaN.
            let factor = if factor > 1.0 { 1.0 } else { factor };
            gradient.iter_mut().for_each(|slope| *slope *= factor);
        }
    }
}

impl Step {
    /// Updates some weights and their moments by their gradient.
    pub fn update(self, weights: &mut [f32], gradient: &[f32], moments: [&mut [f32]; 2]) {
        dispatch(Update { step: self, weights, gradient, moments });
    }
}

struct Update<'a> {
    step: Step,
    weights: &'a mut [f32],
    gradient: &'a [f32],
    moments: [&'a mut [f32]; 2],
}

/// Rounds products and sums separately, as Burn does. Subnormal results count as 0: they are slow on some CPUs and do not change
/// the result.
impl Vectorised for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const N: usize, S: Simd<N>>(self, _: S) {
        let Update { step, weights, gradient, moments: [first, second] } = self;
        let decayed = |slope: f32, weight: f32| if step.l2 > 0.0 { weight * step.l2 + slope } else { slope };
        // The square of such a gradient, times `1 - beta_2`, is a normal number.
        let least = TINY / (1.0 - BETAS[1]).sqrt();
        match step.kind {
            OptimizerKind::Sgd => {
                for (weight, slope) in weights.iter_mut().zip(gradient) {
                    *weight = flushed(*weight - decayed(*slope, *weight) * step.rate);
                }
            }
            OptimizerKind::Momentum => {
                let kept = if step.is_first { 0.0 } else { MOMENTUM };
                for ((weight, slope), velocity) in weights.iter_mut().zip(gradient).zip(first) {
                    *velocity = flushed(decayed(*slope, *weight) + *velocity * kept);
                    *weight = flushed(*weight - *velocity * step.rate);
                }
            }
            OptimizerKind::Adam => {
                for (((weight, slope), mean), square) in weights.iter_mut().zip(gradient).zip(first).zip(second) {
                    let slope = decayed(*slope, *weight);
                    let slope = if slope.abs() < least { 0.0 } else { slope };
                    *mean = flushed(*mean * BETAS[0] + slope * (1.0 - BETAS[0]));
                    *square = flushed(*square * BETAS[1] + slope * slope * (1.0 - BETAS[1]));
                    let direction = *mean * step.factor / (square.sqrt() + step.epsilon);
                    *weight = flushed(*weight - direction * step.rate);
                }
            }
        }
    }
}

#[inline(always)]
fn flushed(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0 } else { x }
}

/// One of Burn's optimisers, with access to its state.
///
/// [`ModuleOptimizer`] does not expose the state, but passes it to the optimiser at each step. A step during an exchange reads or
/// replaces the state and computes nothing; all other steps are those of the optimiser.
#[derive(Clone)]
pub(super) struct Lent<O>(pub O);

/// The number of updates in the state of a parameter.
const TIME: &str = "state.momentum.time";

/// Purpose of the next step of a [`Lent`] optimiser.
enum Exchange {
    /// The states of all parameters, in order.
    Read(Vec<StateSink>),
    Write(std::vec::IntoIter<StateSource>),
}

thread_local! {
    static EXCHANGE: RefCell<Option<Exchange>> = const { RefCell::new(None) };
}

/// Visits the states of all parameters.
fn exchange(with: Exchange, ranker: &Ranker, optimizer: &mut ModuleOptimizer) -> Exchange {
    /// A step skips parameters without a gradient.
    struct Gradients(GradientsParams);
    impl ModuleVisitor for Gradients {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.0.register(param.id, param.val().without_autodiff());
        }
    }
    let mut gradients = Gradients(GradientsParams::new());
    ranker.visit(&mut gradients);
    EXCHANGE.set(Some(with));
    optimizer.step(0.0, ranker.clone(), gradients.0);
    EXCHANGE.take().unwrap_or(Exchange::Read(Vec::new()))
}

impl<O: Optimizer> Optimizer for Lent<O> {
    type State<const D: usize> = O::State<D>;

    fn step<const D: usize>(
        &self,
        rate: f64,
        weights: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<O::State<D>>,
    ) -> (Tensor<D>, Option<O::State<D>>) {
        let exchanged = EXCHANGE.with_borrow_mut(|exchange| match exchange {
            None => Err(state),
            Some(Exchange::Read(found)) => {
                let mut sink = StateSink::default();
                state.iter().for_each(|state| state.state_flatten("state", &mut sink));
                found.push(sink);
                Ok(state)
            }
            Some(Exchange::Write(states)) => Ok(states.next().and_then(|mut source| {
                O::State::<D>::state_unflatten("state", &mut source, &weights.device().without_autodiff())
            })),
        });
        match exchanged {
            Ok(state) => (weights, state),
            Err(state) => self.0.step(rate, weights, gradient, state),
        }
    }

    fn to_device<const D: usize>(state: O::State<D>, device: &Device) -> O::State<D> {
        O::to_device(state, device)
    }
}
