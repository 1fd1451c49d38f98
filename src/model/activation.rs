//! Activation functions.

use crate::name::words;

words! {
    /// Activation function of the hidden units.
    pub enum Activation: "activation" {
        /// `1 / (1 + e^-x)`
        Sigmoid = "sigmoid",
        /// `tanh(x)`
        Tanh = "tanh",
        /// `max(x, 0)`
        Relu = "relu",
    }
}
