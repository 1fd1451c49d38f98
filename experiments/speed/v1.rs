//! V1 of the LambdaRank paper: every pair is propagated. Both documents of a pair go through the net, forward and backward,
//! as often as there are pairs that they are part of.
//!
//! The gradient is the same as that of V2 (documents propagated once, pairs only in the lambdas): a test holds them equal.

use super::epoch;
use crate::harness::NetShape;
use anyhow::Context;
use burn::module::Module;
use burn::optim::{AdamConfig, GradientsAccumulator, GradientsParams, ModuleOptimizer};
use burn::tensor::activation::softplus;
use burn::tensor::{Int, TensorData};
use burnrank::data::QueryView;
use burnrank::objective::{PairLoss, surrogate};
use burnrank::{Batch, Device, Init, Objective, Outputs, Ranker, RankerConfig, Tensor};
use std::sync::Arc;

/// Pairs that are propagated at once: enough to fill a matrix product, few enough for any memory.
const PAIRS_AT_ONCE: usize = 1 << 13;

/// A net and its optimiser, stepping after each query.
pub struct EveryPair {
    loss: PairLoss,
    ranker: Ranker,
    optimizer: ModuleOptimizer,
    device: Device,
}

/// PairList to propagate: which document should be above which, and what that weighs.
#[derive(Default)]
struct PairList {
    above: Vec<i32>,
    below: Vec<i32>,
    weights: Vec<f32>,
}

impl EveryPair {
    /// A new net, trained with Adam.
    pub fn new(
        objective: &str,
        net: NetShape,
        features: usize,
        seed: u64,
        device: &Device,
    ) -> anyhow::Result<EveryPair> {
        let device = device.clone().autodiff();
        let shape = RankerConfig::new(features, epoch::architecture(net));
        Ok(EveryPair {
            loss: Objective::parse(objective)?.loss().as_pairs().context("no sum over pairs")?.clone(),
            ranker: shape.init(Init::Burn, seed, &device)?,
            optimizer: AdamConfig::new().init(),
            device,
        })
    }

    /// Trains on one query; returns the number of its pairs.
    pub fn step(&mut self, query: QueryView<'_>) -> anyhow::Result<u64> {
        let (gradients, pairs) = self.gradients(&query)?;
        self.ranker = self.optimizer.step(1e-3, self.ranker.clone(), gradients);
        Ok(pairs)
    }

    /// How far the gradient by every pair is from that by the lambdas of the documents (Eq. 7), for the weights of the first
    /// layer: the largest difference over the largest slope.
    pub fn difference(&self, query: QueryView<'_>) -> anyhow::Result<f64> {
        let (by_pairs, _) = self.gradients(&query)?;
        let n = query.labels.len();
        let data = TensorData::new(query.features.to_vec(), [n, query.features.len() / n.max(1)]);
        let scores = self.ranker.forward(Tensor::<2>::from_data(data, &self.device));
        let host: Vec<f32> = scores.clone().without_autodiff().try_into_vec_as().ok().context("the device failed")?;
        let mut slopes = vec![0.0; n];
        let batch = Batch { labels: query.labels, offsets: &[0, n] };
        let objective = Objective::of(Arc::new(self.loss.clone()));
        objective.lambda_gradient(&host, batch, &mut slopes, Outputs::default(), &[])?;
        let by_lambdas = GradientsParams::from_grads(surrogate(scores, slopes).backward(), &self.ranker);
        let weights = *burn::module::list_param_ids(&self.ranker).first().context("a net without weights")?;
        let values = |gradients: &GradientsParams| -> anyhow::Result<Vec<f32>> {
            let tensor = gradients.get::<2>(weights).context("no gradient of the weights")?;
            tensor.try_into_vec_as().ok().context("the device failed")
        };
        let (own, expected) = (values(&by_pairs)?, values(&by_lambdas)?);
        let largest = |values: &mut dyn Iterator<Item = f32>| values.fold(0.0_f32, |most, value| most.max(value.abs()));
        let worst = largest(&mut own.iter().zip(&expected).map(|(own, expected)| own - expected));
        Ok(f64::from(worst) / f64::from(largest(&mut expected.iter().copied())).max(f64::MIN_POSITIVE))
    }

    fn gradients(&self, query: &QueryView<'_>) -> anyhow::Result<(GradientsParams, u64)> {
        let n = query.labels.len();
        let data = TensorData::new(query.features.to_vec(), [n, query.features.len() / n.max(1)]);
        let features = Tensor::<2>::from_data(data, &self.device);
        // Weights depend on ranks, so that the documents have to be scored first; that is nothing beside their pairs.
        let scores = self.ranker.valid().forward(features.clone().without_autodiff());
        let scores: Vec<f32> = scores.try_into_vec_as().ok().context("the device failed")?;
        let mut sum = GradientsAccumulator::new();
        let mut count = 0;
        let mut pairs = PairList::default();
        self.loss.for_each_weight(&scores, query.labels, |above, below, weight| {
            pairs.above.push(above as i32);
            pairs.below.push(below as i32);
            pairs.weights.push(weight as f32);
            count += 1;
            if pairs.weights.len() == PAIRS_AT_ONCE {
                sum.accumulate(&self.ranker, self.propagate(&features, std::mem::take(&mut pairs)));
            }
        });
        if !pairs.weights.is_empty() {
            sum.accumulate(&self.ranker, self.propagate(&features, pairs));
        }
        Ok((sum.grads(), count))
    }

    /// The gradient of `sum of w log(1 + exp(s_below - s_above))` by the net's weights.
    fn propagate(&self, features: &Tensor<2>, pairs: PairList) -> GradientsParams {
        let device = self.device.clone().without_autodiff();
        let n = pairs.weights.len();
        let scores = |documents: Vec<i32>| {
            let documents = Tensor::<1, Int>::from_data(TensorData::new(documents, [n]), &device);
            self.ranker.forward(features.clone().select(0, documents))
        };
        let weights = Tensor::<1>::from_data(TensorData::new(pairs.weights, [n]), &device);
        let loss = (softplus(scores(pairs.below) - scores(pairs.above), 1.0) * weights).sum();
        GradientsParams::from_grads(loss.backward(), &self.ranker)
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape;
    use super::*;

    #[test]
    fn propagating_every_pair_gives_the_gradient_of_the_lambdas() {
        let device = burnrank::device::open("auto").unwrap();
        // More pairs than go at once.
        let data = shape::dataset(&[200], 12, 3).unwrap();
        let all = EveryPair::new("lambdarank:ndcg", NetShape::TwoLayer, 12, 1, &device).unwrap();
        let (_, pairs) = all.gradients(&data.query(0)).unwrap();
        assert!(pairs > PAIRS_AT_ONCE as u64);
        assert_eq!(pairs, shape::pairs(&data));

        assert!(all.difference(data.query(0)).unwrap() < 1e-4);
        let linear = EveryPair::new("ranknet", NetShape::Linear, 12, 1, &device).unwrap();
        assert!(linear.difference(data.query(0)).unwrap() < 1e-4);
    }
}
