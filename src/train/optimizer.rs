//! The rules that turn gradients into updates of weights: Burn's optimizers. Adam has its own GPU kernel.

#[cfg(feature = "cubecl")]
use super::adam::DeviceAdam;
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

impl OptimizerKind {
    /// The rule for the weights of a device.
    pub(super) fn build(self, config: &TrainConfig, device: &Device) -> ModuleOptimizer {
        let decay = (config.l2 > 0.0).then(|| WeightDecayConfig::new(config.l2 as f32));
        let clip = (config.clip > 0.0).then_some(GradientClippingConfig::Norm(config.clip as f32));
        match self {
            OptimizerKind::Sgd => SgdConfig::new().with_weight_decay(decay).with_gradient_clipping(clip).init(),
            OptimizerKind::Momentum => {
                let momentum = MomentumConfig { momentum: 0.9, dampening: 0.0, nesterov: false };
                let sgd = SgdConfig::new().with_momentum(Some(momentum));
                sgd.with_weight_decay(decay).with_gradient_clipping(clip).init()
            }
            OptimizerKind::Adam => {
                let adam = AdamConfig::new().with_beta_1(BETAS[0]).with_beta_2(BETAS[1]).with_epsilon(EPSILON);
                let adam = adam.with_weight_decay(decay).with_grad_clipping(clip.clone());
                #[cfg(feature = "cubecl")]
                if let Some(cube) = Cube::of(device) {
                    let own = DeviceAdam { burn: adam.build(), cube, l2: config.l2 as f32 };
                    let own = ModuleOptimizer::from(own);
                    return match clip {
                        Some(clip) => own.with_grad_clipping(clip.init()),
                        None => own,
                    };
                }
                #[cfg(not(feature = "cubecl"))]
                let _ = device;
                adam.init()
            }
        }
    }
}
