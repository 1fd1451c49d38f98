//! Architecture and size of a model.

use super::Activation;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Architecture and size of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Architecture {
    /// Linear net: one weight per feature.
    Linear,
    /// Net with hidden layers.
    Mlp {
        /// Number of units of each hidden layer.
        #[serde(with = "number_or_list")]
        hidden: Vec<usize>,
        /// Activation function.
        activation: Activation,
    },
    /// Sum of decision trees.
    Trees {
        /// Number of trees; before training, the maximum number.
        trees: usize,
        /// Maximum number of leaves per tree.
        leaves: usize,
    },
    /// Sum of kernels.
    Kernel {
        /// Number of points.
        points: usize,
    },
}

/// Maximum number of units in a layer; more are probably a typing error.
pub(crate) const MAX_UNITS: usize = 65_536;
/// Maximum number of hidden layers.
pub(crate) const MAX_LAYERS: usize = 100;

impl Architecture {
    /// Whether this is a net, that is, a [`Ranker`](crate::Ranker).
    pub fn is_net(&self) -> bool {
        matches!(self, Architecture::Linear | Architecture::Mlp { .. })
    }

    /// Number of units of each hidden layer; empty for linear nets, trees and kernel sums.
    pub fn hidden(&self) -> &[usize] {
        match self {
            Architecture::Mlp { hidden, .. } => hidden,
            _ => &[],
        }
    }

    /// Activation function of the hidden units; `None` without hidden units.
    pub fn activation(&self) -> Option<Activation> {
        match self {
            Architecture::Mlp { activation, .. } => Some(*activation),
            _ => None,
        }
    }

    /// Checks the number and size of the hidden layers.
    ///
    /// # Errors
    /// If there are too many layers, or a layer has too few or too many units.
    pub fn check(&self) -> Result<()> {
        let Architecture::Mlp { hidden, .. } = self else { return Ok(()) };
        if !(1..=MAX_LAYERS).contains(&hidden.len()) {
            let layers = hidden.len();
            return Err(Error::Config(format!(
                "{layers} hidden layers: expected 1 to {MAX_LAYERS}; a linear net has none"
            )));
        }
        match hidden.iter().find(|units| !(1..=MAX_UNITS).contains(*units)) {
            Some(0) => Err(Error::Config(format!(
                "0 hidden units: expected 1 to {MAX_UNITS} in each layer; a linear net has none"
            ))),
            Some(units) => Err(Error::Config(format!("{units} hidden units: expected 1 to {MAX_UNITS} in each layer"))),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hidden, activation) = match self {
            Architecture::Linear => return f.write_str("linear net"),
            Architecture::Mlp { hidden, activation } => (hidden, activation),
            Architecture::Trees { trees: 1, leaves } => return write!(f, "one tree of up to {leaves} leaves"),
            Architecture::Trees { trees, leaves } => return write!(f, "{trees} trees of up to {leaves} leaves"),
            // Before training the number of points is unknown.
            Architecture::Kernel { points: 0 } => return f.write_str("sum of kernels"),
            Architecture::Kernel { points } => return write!(f, "sum of kernels at {points} points"),
        };
        // Counts the output as a layer.
        match hidden.len() + 1 {
            2 => f.write_str("two-layer net, ")?,
            3 => f.write_str("three-layer net, ")?,
            4 => f.write_str("four-layer net, ")?,
            layers => write!(f, "net of {layers} layers, ")?,
        }
        for (place, units) in hidden.iter().enumerate() {
            f.write_str(match place {
                0 => "",
                _ if place + 1 == hidden.len() => " and ",
                _ => ", ",
            })?;
            write!(f, "{units}")?;
        }
        write!(f, " {activation} hidden units")
    }
}

/// Serialises one hidden layer as its number of units, several as a list.
mod number_or_list {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged, expecting = "hidden: expected a number of units, or a list of numbers, one per layer")]
    enum Hidden {
        Layer(usize),
        Layers(Vec<usize>),
    }

    pub fn serialize<S: Serializer>(hidden: &[usize], serializer: S) -> Result<S::Ok, S::Error> {
        match hidden {
            [units] => Hidden::Layer(*units),
            layers => Hidden::Layers(layers.to_vec()),
        }
        .serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<usize>, D::Error> {
        Ok(match Hidden::deserialize(deserializer)? {
            Hidden::Layer(units) => vec![units],
            Hidden::Layers(layers) => layers,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(hidden: &[usize]) -> Architecture {
        Architecture::Mlp { hidden: hidden.to_vec(), activation: Activation::Tanh }
    }

    #[test]
    fn every_depth_is_described_and_round_trips_through_json() {
        for (architecture, words, json) in [
            (Architecture::Linear, "linear net", r#"{"kind":"linear"}"#),
            (Architecture::Kernel { points: 3 }, "sum of kernels at 3 points", r#"{"kind":"kernel","points":3}"#),
            (net(&[10]), "two-layer net, 10 tanh hidden units", r#"{"kind":"mlp","hidden":10,"activation":"tanh"}"#),
            (
                net(&[32, 16]),
                "three-layer net, 32 and 16 tanh hidden units",
                r#"{"kind":"mlp","hidden":[32,16],"activation":"tanh"}"#,
            ),
            (
                net(&[8, 4, 2, 1]),
                "net of 5 layers, 8, 4, 2 and 1 tanh hidden units",
                r#"{"kind":"mlp","hidden":[8,4,2,1],"activation":"tanh"}"#,
            ),
        ] {
            assert_eq!(architecture.to_string(), words);
            assert_eq!(serde_json::to_string(&architecture).unwrap(), json);
            assert_eq!(serde_json::from_str::<Architecture>(json).unwrap(), architecture);
            architecture.check().unwrap();
        }
        let error = serde_json::from_str::<Architecture>(r#"{"kind":"mlp","hidden":"x","activation":"tanh"}"#);
        assert!(error.unwrap_err().to_string().contains("a list of numbers"));
    }

    #[test]
    fn invalid_layers_are_refused() {
        for (hidden, expected) in [
            (vec![], "0 hidden layers"),
            (vec![3, 0], "0 hidden units"),
            (vec![65_537], "65537 hidden units: expected 1 to 65536"),
            (vec![1; 101], "101 hidden layers: expected 1 to 100"),
        ] {
            let error = net(&hidden).check().unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
