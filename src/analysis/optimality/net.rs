//! A ranker's weights on the host, in one row, and its hidden units' function.

use crate::error::{Error, Result};
use crate::model::{Activation, Ranker};
use burn::tensor::Tensor;

/// A net whose weights can be read and moved: `s = x . w`, or `s = g(x W + b) . v`.
///
/// Weights stand in the order of `RankerConfig::shapes`: `w`, or `W` row by row (a row a feature), `b`, `v`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Net {
    pub features: usize,
    /// `None` for a linear net.
    pub hidden: Option<(usize, Activation)>,
    pub weights: Vec<f32>,
}

/// What one weight does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Role {
    /// From a feature to a unit; a linear net has one unit.
    Feature {
        feature: usize,
        unit: usize,
    },
    Bias {
        unit: usize,
    },
    Output {
        unit: usize,
    },
}

impl Net {
    pub fn of(ranker: &Ranker) -> Result<Self> {
        Ok(match ranker {
            Ranker::Linear(net) => {
                let weights = to_host(net.weight.val())?;
                Net { features: weights.len(), hidden: None, weights }
            }
            Ranker::Mlp(net) => {
                let mut weights = to_host(net.hidden_weight.val())?;
                let bias = to_host(net.hidden_bias.val())?;
                let units = bias.len();
                let features = weights.len() / units.max(1);
                weights.extend(bias);
                weights.extend(to_host(net.output_weight.val())?);
                Net { features, hidden: Some((units, net.activation)), weights }
            }
        })
    }

    /// Units that features lead to: 1 for a linear net, whose score is such a unit.
    pub fn units(&self) -> usize {
        self.hidden.map_or(1, |(units, _)| units)
    }

    pub fn role(&self, index: usize) -> Role {
        let units = self.units();
        match index.checked_sub(self.features * units) {
            None => Role::Feature { feature: index / units, unit: index % units },
            Some(at) if at < units => Role::Bias { unit: at },
            Some(at) => Role::Output { unit: at - units },
        }
    }

    /// What weight `index` is called; features count from 1, as data files do.
    pub fn name(&self, index: usize) -> String {
        match self.role(index) {
            Role::Feature { feature, .. } if self.hidden.is_none() => format!("feature {}", feature + 1),
            Role::Feature { feature, unit } => format!("feature {} to unit {}", feature + 1, unit + 1),
            Role::Bias { unit } => format!("bias of unit {}", unit + 1),
            Role::Output { unit } => format!("unit {} to output", unit + 1),
        }
    }

    /// The part of a point or direction in weight space that acts on features: one column of `features` numbers a unit.
    pub fn columns<'a>(&self, point: &'a [f32]) -> impl Iterator<Item = f32> + 'a {
        let (features, units) = (self.features, self.units());
        (0..units).flat_map(move |unit| (0..features).map(move |feature| point[feature * units + unit]))
    }

    /// The part that acts as biases; none for a linear net.
    pub fn bias<'a>(&self, point: &'a [f32]) -> &'a [f32] {
        self.hidden.map_or(&[], |(units, _)| &point[self.features * units..][..units])
    }

    /// The part that acts on hidden units; none for a linear net.
    pub fn output<'a>(&self, point: &'a [f32]) -> &'a [f32] {
        self.hidden.map_or(&[], |(units, _)| &point[(self.features + 1) * units..][..units])
    }
}

fn to_host<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>> {
    tensor.without_autodiff().try_into_vec_as().map_err(|error| Error::Device(format!("the device failed: {error}")))
}

/// `g(x)`, the same formula for every number so that the compiler can take many at once.
#[inline(always)]
pub(super) fn activate(activation: Activation, x: f32) -> f32 {
    match activation {
        Activation::Tanh => tanh(x),
        Activation::Sigmoid => 0.5 + 0.5 * tanh(0.5 * x),
        Activation::Relu => x.max(0.0),
    }
}

/// tanh by the quotient of polynomials of Eigen's `ptanh`, exact to a few units in the last place.
#[inline(always)]
fn tanh(x: f32) -> f32 {
    let x = x.clamp(-7.905_311, 7.905_311);
    let y = x * x;
    let p = -2.760_768_5e-16f32;
    let p = p * y + 2.000_188e-13;
    let p = p * y - 8.604_672e-11;
    let p = p * y + 5.122_297e-8;
    let p = p * y + 1.485_722_4e-5;
    let p = p * y + 6.372_619_3e-4;
    let p = p * y + 4.893_524_6e-3;
    let q = 1.198_258_4e-6f32;
    let q = q * y + 1.185_347e-4;
    let q = q * y + 2.268_434_6e-3;
    let q = q * y + 4.893_525e-3;
    x * p / q
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activations_are_those_of_the_standard_library() {
        for i in -4000..=4000 {
            let x = i as f32 * 0.005;
            let exact = f64::from(x).tanh();
            assert!((f64::from(activate(Activation::Tanh, x)) - exact).abs() < 5e-7, "{x}");
            let exact = 1.0 / (1.0 + f64::from(-x).exp());
            assert!((f64::from(activate(Activation::Sigmoid, x)) - exact).abs() < 5e-7, "{x}");
            assert_eq!(activate(Activation::Relu, x), x.max(0.0));
        }
    }

    #[test]
    fn weights_have_roles_and_names() {
        let net =
            Net { features: 2, hidden: Some((3, Activation::Tanh)), weights: (0..12).map(|i| i as f32).collect() };
        assert_eq!(net.role(4), Role::Feature { feature: 1, unit: 1 });
        assert_eq!(net.name(4), "feature 2 to unit 2");
        assert_eq!(net.name(8), "bias of unit 3");
        assert_eq!(net.name(9), "unit 1 to output");
        assert_eq!(net.columns(&net.weights).collect::<Vec<_>>(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        assert_eq!((net.bias(&net.weights), net.output(&net.weights)), (&[6.0, 7.0, 8.0][..], &[9.0, 10.0, 11.0][..]));
        let linear = Net { features: 2, hidden: None, weights: vec![0.5, 1.0] };
        assert_eq!((linear.name(1).as_str(), linear.bias(&linear.weights)), ("feature 2", &[][..]));
    }
}
