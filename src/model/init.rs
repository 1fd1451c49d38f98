//! Weight initialisation.

use super::RankerConfig;
use crate::name::words;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

words! {
    /// The distribution of a net's initial weights, drawn from a local random generator rather than a global one.
    pub enum Init: "initialisation" {
        /// As in the RankNet paper, section 5.1: first layer zero, second layer uniform between -0.1 and 0.1. Further
        /// layers, which the paper does not have, and linear nets are initialised like the second layer.
        Paper = "paper",
        /// As in Burn's `Linear`: weights and biases uniform between -1/sqrt(inputs) and 1/sqrt(inputs).
        Burn = "burn",
    }
}

impl Init {
    /// The weights of a net, in the order of [`RankerConfig::shapes`].
    pub fn weights(self, config: &RankerConfig, seed: u64) -> Vec<Vec<f32>> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut uniform =
            |n: usize, bound: f32| (0..n).map(|_| random.random_range(-bound..=bound)).collect::<Vec<f32>>();
        let shapes = config.shapes();
        let linear = shapes.len() == 1;
        let skip = config.skip.then(|| shapes.len() - 1);
        let start = |(place, shape): (usize, &Vec<usize>)| {
            let size = shape.iter().product();
            match self {
                // So that a net starts without it.
                _ if skip == Some(place) => vec![0.0; size],
                // Weights and biases of the first layer.
                Init::Paper if place < 2 && !linear => vec![0.0; size],
                Init::Paper => uniform(size, 0.1),
                // A bias has the bound of its layer's weights.
                Init::Burn => uniform(size, 1.0 / (shapes[place / 2 * 2][0] as f32).sqrt()),
            }
        };
        shapes.iter().enumerate().map(start).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Activation;

    #[test]
    fn weights_depend_on_the_seed() {
        let net = RankerConfig::mlp(5, &[3], Activation::Tanh);
        assert_eq!(Init::Burn.weights(&net, 7), Init::Burn.weights(&net, 7));
        assert_ne!(Init::Burn.weights(&net, 7), Init::Burn.weights(&net, 8));
    }

    #[test]
    fn paper_initialises_the_first_layer_to_zero_and_the_second_not() {
        let weights = Init::Paper.weights(&RankerConfig::mlp(4, &[3], Activation::Sigmoid), 1);
        assert!(weights[0].iter().chain(&weights[1]).all(|&w| w == 0.0));
        assert!(weights[2].iter().all(|&w| w != 0.0 && w.abs() <= 0.1));
    }

    #[test]
    fn every_layer_is_initialised_by_its_number_of_inputs() {
        let net = RankerConfig::mlp(4, &[3, 16, 2], Activation::Tanh);
        let burn = Init::Burn.weights(&net, 5);
        assert_eq!(burn.iter().map(Vec::len).collect::<Vec<_>>(), [12, 3, 48, 16, 32, 2, 2]);
        let largest = |weights: &[f32]| weights.iter().fold(0.0f32, |max, w| max.max(w.abs()));
        for (weights, inputs) in burn.iter().zip([4.0f32, 4.0, 3.0, 3.0, 16.0, 16.0, 2.0]) {
            assert!(largest(weights) <= inputs.sqrt().recip() && largest(weights) > 0.2 * inputs.sqrt().recip());
        }
        // The first weights do not depend on later layers.
        assert_eq!(Init::Burn.weights(&RankerConfig::mlp(4, &[3], Activation::Tanh), 5)[..2], burn[..2]);
        let paper = Init::Paper.weights(&net, 5);
        assert!(paper[..2].concat().iter().all(|&w| w == 0.0));
        assert!(paper[2..].concat().iter().all(|&w| w != 0.0 && w.abs() <= 0.1));
    }
}
