//! A ranker's weights on the host, as one flat vector.

use crate::error::{Error, Result};
use crate::model::{Activation, Columns, HostNet, HostRanker, LayerPlace, Ranker, RankerConfig};

/// A net whose weights can be read and changed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MovableNet {
    pub config: RankerConfig,
    /// In the order of [`RankerConfig::shapes`], row-major.
    pub weights: Vec<f32>,
}

/// The role of one weight. Layers and units count from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Role {
    /// From a feature to a unit of the first hidden layer, or to the score of a linear net.
    Feature {
        feature: usize,
        unit: usize,
    },
    Bias {
        layer: usize,
        unit: usize,
    },
    /// From a unit of a hidden layer to a unit of the next.
    Between {
        layer: usize,
        from: usize,
        to: usize,
    },
    /// From a unit of the last hidden layer to the score.
    Output {
        unit: usize,
    },
}

impl MovableNet {
    pub fn of(ranker: &Ranker) -> Result<Self> {
        let config = ranker.config();
        if config.skip || config.encoding.is_some() {
            return Err(Error::Config(
                "local optimality does not support nets with `skip` or scaled by piecewise: train without them".into(),
            ));
        }
        Ok(MovableNet { weights: ranker.weights()?, config })
    }

    pub fn features(&self) -> usize {
        self.config.features
    }

    /// Number of hidden layers.
    pub fn depth(&self) -> usize {
        self.config.architecture.hidden().len()
    }

    pub fn activation(&self) -> Option<Activation> {
        self.config.architecture.activation()
    }

    /// Number of units that receive features: 1 for a linear net, whose score is the unit.
    pub fn units(&self) -> usize {
        self.config.architecture.hidden().first().copied().unwrap_or(1)
    }

    pub fn role(&self, index: usize) -> Role {
        let depth = self.depth();
        for (layer, LayerPlace { units, weights, bias, .. }) in self.config.layers().into_iter().enumerate() {
            if weights.contains(&index) {
                let (from, to) = ((index - weights.start) / units, (index - weights.start) % units);
                return match layer {
                    0 => Role::Feature { feature: from, unit: to },
                    _ if layer == depth => Role::Output { unit: from },
                    _ => Role::Between { layer: layer - 1, from, to },
                };
            }
            if bias.contains(&index) {
                return Role::Bias { layer, unit: index - bias.start };
            }
        }
        Role::Output { unit: 0 }
    }

    /// Returns the name of weight `index`, with everything counted from 1 as in data files. Layers are named if there are several.
    pub fn name(&self, index: usize) -> String {
        let unit = |layer: usize, unit: usize| match self.depth() {
            1 => format!("unit {}", unit + 1),
            _ => format!("unit {} of layer {}", unit + 1, layer + 1),
        };
        match self.role(index) {
            Role::Feature { feature, .. } if self.depth() == 0 => format!("feature {}", feature + 1),
            Role::Feature { feature, unit: to } => format!("feature {} to {}", feature + 1, unit(0, to)),
            Role::Bias { layer, unit: of } => format!("bias of {}", unit(layer, of)),
            Role::Between { layer, from, to } => format!("{} to {}", unit(layer, from), unit(layer + 1, to)),
            Role::Output { unit: from } => format!("{} to output", unit(self.depth() - 1, from)),
        }
    }

    /// Returns a host scorer with these weights in this net's shape.
    pub fn at(&self, weights: &[f32]) -> HostRanker {
        HostRanker::new(&HostNet::new(&self.config, weights))
    }

    /// The weights from features to units of several points or directions in weight space, the units of each point adjacent.
    pub fn columns(&self, points: &[&[f32]]) -> Columns {
        let layers = self.config.layers();
        let [LayerPlace { inputs, units, weights, bias }, _, ..] = &layers[..] else {
            return Columns::linear(self.features(), points);
        };
        let biases = points.iter().flat_map(|point| point[bias.clone()].to_vec()).collect();
        Columns::new(*inputs, biases, |feature, unit| {
            points[unit / units][weights.start + feature * units + unit % units]
        })
    }

    /// The weights from the last hidden layer to the score; empty for a linear net.
    pub fn output<'a>(&self, point: &'a [f32]) -> &'a [f32] {
        match &self.config.layers()[..] {
            [.., _, output] => &point[output.weights.clone()],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(config: RankerConfig) -> MovableNet {
        MovableNet { weights: (0..config.n_weights()).map(|i| i as f32).collect(), config }
    }

    #[test]
    fn weights_have_roles_and_names() {
        let two = net(RankerConfig::mlp(2, &[3], Activation::Tanh));
        assert_eq!(two.role(4), Role::Feature { feature: 1, unit: 1 });
        assert_eq!(two.name(4), "feature 2 to unit 2");
        assert_eq!(two.name(8), "bias of unit 3");
        assert_eq!(two.name(9), "unit 1 to output");
        let mut received = [0.0; 3];
        two.columns(&[&two.weights]).receive(0, &[1.0, 10.0], &mut received);
        assert_eq!(received, [0.0 + 30.0 + 6.0, 1.0 + 40.0 + 7.0, 2.0 + 50.0 + 8.0]);
        assert_eq!(two.output(&two.weights), [9.0, 10.0, 11.0]);
        let linear = net(RankerConfig::linear(2));
        assert_eq!((linear.name(1).as_str(), linear.output(&linear.weights)), ("feature 2", &[][..]));
    }

    #[test]
    fn weights_of_deeper_nets_name_their_layers() {
        let net = net(RankerConfig::mlp(1, &[2, 3], Activation::Relu));
        let names: Vec<String> = (0..net.weights.len()).map(|index| net.name(index)).collect();
        let expected = [
            "feature 1 to unit 1 of layer 1",
            "feature 1 to unit 2 of layer 1",
            "bias of unit 1 of layer 1",
            "bias of unit 2 of layer 1",
            "unit 1 of layer 1 to unit 1 of layer 2",
            "unit 1 of layer 1 to unit 2 of layer 2",
            "unit 1 of layer 1 to unit 3 of layer 2",
            "unit 2 of layer 1 to unit 1 of layer 2",
            "unit 2 of layer 1 to unit 2 of layer 2",
            "unit 2 of layer 1 to unit 3 of layer 2",
            "bias of unit 1 of layer 2",
            "bias of unit 2 of layer 2",
            "bias of unit 3 of layer 2",
            "unit 1 of layer 2 to output",
            "unit 2 of layer 2 to output",
            "unit 3 of layer 2 to output",
        ];
        assert_eq!(names, expected);
    }
}
