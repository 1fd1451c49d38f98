//! A ranker's weights on the host, in one row.

use crate::error::Result;
use crate::model::{Activation, Columns, Ranker, to_host};

/// A net whose weights can be read and moved: `s = x . w`, or `s = g(x W + b) . v`.
///
/// Weights stand in the order of `RankerConfig::shapes`: `w`, or `W` row by row (one row per feature), `b`, `v`.
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

impl Role {
    /// The unit that the weight acts through.
    pub fn unit(self) -> usize {
        match self {
            Role::Feature { unit, .. } | Role::Bias { unit } | Role::Output { unit } => unit,
        }
    }
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

    /// The parts of points or directions in weight space that lead from features to units, the units of a point side by
    /// side.
    pub fn columns(&self, points: &[&[f32]]) -> Columns {
        let Some((units, _)) = self.hidden else { return Columns::linear(self.features, points) };
        let bias = points.iter().flat_map(|point| self.bias(point).to_vec()).collect();
        Columns::new(self.features, bias, |feature, unit| points[unit / units][feature * units + unit % units])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_roles_and_names() {
        let net =
            Net { features: 2, hidden: Some((3, Activation::Tanh)), weights: (0..12).map(|i| i as f32).collect() };
        assert_eq!(net.role(4), Role::Feature { feature: 1, unit: 1 });
        assert_eq!(net.name(4), "feature 2 to unit 2");
        assert_eq!(net.name(8), "bias of unit 3");
        assert_eq!(net.name(9), "unit 1 to output");
        let mut received = [0.0; 3];
        net.columns(&[&net.weights]).receive(0, &[1.0, 10.0], &mut received);
        assert_eq!(received, [0.0 + 30.0 + 6.0, 1.0 + 40.0 + 7.0, 2.0 + 50.0 + 8.0]);
        assert_eq!((net.bias(&net.weights), net.output(&net.weights)), (&[6.0, 7.0, 8.0][..], &[9.0, 10.0, 11.0][..]));
        let linear = Net { features: 2, hidden: None, weights: vec![0.5, 1.0] };
        assert_eq!((linear.name(1).as_str(), linear.bias(&linear.weights)), ("feature 2", &[][..]));
    }
}
