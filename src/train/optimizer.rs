//! The rules that turn gradients into updates of weights: Burn's optimizers. Adam has its own GPU kernel.

#[cfg(feature = "cubecl")]
use super::adam::DeviceAdam;
use super::descent::Lent;
#[cfg(feature = "cubecl")]
use crate::device::cube::Cube;
use crate::setting::{OptimizerKind, TrainConfig};
use burn::optim::decay::WeightDecayConfig;
use burn::optim::grad_clipping::GradientClippingConfig;
use burn::optim::momentum::MomentumConfig;
use burn::optim::{AdamConfig, ModuleOptimizer, SgdConfig};
use burn::tensor::Device;

/// The rates at which Adam's moments forget, and what keeps their quotient finite.
pub(super) const BETAS: [f32; 2] = [0.9, 0.999];
pub(super) const EPSILON: f32 = 1e-8;
/// The share of the velocity that a step keeps.
pub(super) const MOMENTUM: f32 = 0.9;

impl OptimizerKind {
    /// The rule for the weights of a device.
    pub(super) fn build(self, config: &TrainConfig, device: &Device) -> ModuleOptimizer {
        let decay = (config.l2 > 0.0).then(|| WeightDecayConfig::new(config.l2 as f32));
        let clip = (config.clip > 0.0).then_some(GradientClippingConfig::Norm(config.clip as f32));
        let optimizer: ModuleOptimizer = match self {
            OptimizerKind::Sgd => Lent(SgdConfig::new().with_weight_decay(decay).build()).into(),
            OptimizerKind::Momentum => {
                let momentum = MomentumConfig { momentum: f64::from(MOMENTUM), dampening: 0.0, nesterov: false };
                Lent(SgdConfig::new().with_momentum(Some(momentum)).with_weight_decay(decay).build()).into()
            }
            OptimizerKind::Adam => {
                let adam = AdamConfig::new().with_beta_1(BETAS[0]).with_beta_2(BETAS[1]).with_epsilon(EPSILON);
                let adam = adam.with_weight_decay(decay).build();
                #[cfg(feature = "cubecl")]
                let optimizer = match Cube::of(device) {
                    Some(cube) => DeviceAdam { burn: adam, cube, l2: config.l2 as f32 }.into(),
                    None => Lent(adam).into(),
                };
                #[cfg(not(feature = "cubecl"))]
                let optimizer = ModuleOptimizer::from(Lent(adam));
                optimizer
            }
        };
        #[cfg(not(feature = "cubecl"))]
        let _ = device;
        match clip {
            Some(clip) => ModuleOptimizer::with_grad_clipping(optimizer, clip.init()),
            None => optimizer,
        }
    }
}
