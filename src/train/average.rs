//! The exponential moving average of a net's weights.
//!
//! After update t (from 1) the average is a_t = d a_{t-1} + (1 - d) w_t with d = min(decay, t / (t + 9)), so that the first
//! weights are soon forgotten, as in TensorFlow's `ExponentialMovingAverage` with `num_updates`.

use crate::error::Result;
use crate::model::{NetShape, Ranker, RankerConfig};
use crate::setting::TrainConfig;
use burn::tensor::Device;

/// An average of all weights of a net.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Average {
    decay: f64,
    /// Number of updates so far.
    updates: u64,
    /// In the order of the weights added.
    weights: Vec<f32>,
}

impl Average {
    /// An average that begins with the weights of a net; `None` if the configuration averages none.
    ///
    /// # Errors
    /// If the weights cannot be read.
    pub fn new(config: &TrainConfig, ranker: &Ranker) -> Result<Option<Self>> {
        let decay = config.average_weights;
        if decay == 0.0 {
            return Ok(None);
        }
        Ok(Some(Average { decay, updates: 0, weights: ranker.weights()? }))
    }

    /// Adds the weights after an update.
    pub fn add(&mut self, weights: &[f32]) {
        self.updates += 1;
        let updates = self.updates as f64;
        let share = (1.0 - self.decay.min(updates / (updates + 9.0))) as f32;
        self.weights.iter_mut().zip(weights).for_each(|(average, weight)| *average += share * (weight - *average));
    }

    /// The same with weights in the order of a workspace.
    pub fn packed(self, shape: &NetShape) -> Self {
        let mut weights = Vec::new();
        shape.pack(&self.weights, &mut weights);
        Average { weights, ..self }
    }

    /// The reverse of [`Average::packed`].
    pub fn unpacked(self, shape: &NetShape) -> Self {
        let mut weights = Vec::new();
        shape.unpack(&self.weights, &mut weights);
        Average { weights, ..self }
    }

    /// The net with the averaged weights.
    ///
    /// # Errors
    /// If the weights are not those of the shape.
    pub fn ranker(&self, shape: &RankerConfig, device: &Device) -> Result<Ranker> {
        shape.ranker_of(&self.weights, device)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let weights = self.weights.iter().flat_map(|weight| weight.to_le_bytes());
        self.updates.to_le_bytes().into_iter().chain(weights).collect()
    }

    /// The average of the same run with the state of [`Average::to_bytes`]; `None` if the bytes are not such a state.
    pub fn restored(&self, bytes: &[u8]) -> Option<Self> {
        let (updates, weights) = bytes.split_first_chunk()?;
        let (weights, rest) = weights.as_chunks();
        let weights: Vec<f32> = weights.iter().map(|weight| f32::from_le_bytes(*weight)).collect();
        let is_valid = rest.is_empty() && weights.len() == self.weights.len() && weights.iter().all(|w| w.is_finite());
        is_valid.then(|| Average { decay: self.decay, updates: u64::from_le_bytes(*updates), weights })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_follows_its_formula_and_round_trips() {
        let mut average = Average { decay: 0.7, updates: 0, weights: vec![1.0, -2.0] };
        let mut expected = [1.0, -2.0];
        for t in 1..40 {
            let weights = [f64::from(t).sin(), 0.1 * f64::from(t)];
            let decay = (f64::from(t) / (f64::from(t) + 9.0)).min(0.7);
            expected = [0, 1].map(|i| decay * expected[i] + (1.0 - decay) * weights[i]);
            average.add(&weights.map(|weight| weight as f32));
        }
        for (weight, expected) in average.weights.iter().zip(expected) {
            assert!((f64::from(*weight) - expected).abs() < 1e-6, "{weight}, not {expected}");
        }
        let fresh = Average { decay: 0.7, updates: 0, weights: vec![0.0; 2] };
        assert_eq!(fresh.restored(&average.to_bytes()), Some(average.clone()));
        assert_eq!(fresh.restored(&average.to_bytes()[1..]), None);
    }
}
