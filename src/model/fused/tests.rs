//! The net without a graph against its formula in f64, and against Burn's operations.

use super::*;
use crate::model::Activation::{Relu, Sigmoid, Tanh};
use crate::model::Init;
use crate::simd::{PORTABLE, WIDER};

fn random(i: usize) -> f32 {
    ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

fn nets() -> Vec<RankerConfig> {
    let mut nets = vec![];
    for features in [1, 3, 8, 16, 17, 46, 136] {
        nets.push(RankerConfig::linear(features));
        for (hidden, activation) in [(&[10][..], Tanh), (&[16, 5], Sigmoid), (&[1, 1], Tanh)] {
            nets.push(RankerConfig::mlp(features, hidden, activation));
        }
    }
    for hidden in [&[1][..], &[15], &[16], &[17], &[33], &[40], &[64], &[65], &[112], &[130, 5], &[20, 70, 3]] {
        nets.push(RankerConfig::mlp(23, hidden, Sigmoid));
        nets.push(RankerConfig::mlp(23, hidden, Tanh));
        nets.push(RankerConfig::mlp(23, hidden, Relu));
    }
    nets
}

/// Scores and gradients by weights and features, in one part.
fn fused(config: &RankerConfig, plain: &[f32], features: &[f32], by_scores: &[f32]) -> [Vec<f32>; 3] {
    let shape = NetShape::new(config);
    let (mut weights, mut derived, mut part) = (vec![], vec![], PartValues::default());
    shape.pack(plain, &mut weights);
    shape.derive(&weights, &mut derived);
    let starts: Vec<usize> = (0..by_scores.len()).map(|row| row * config.features).collect();
    let rows = DocumentRows { features, starts: &starts, width: config.features };
    let mut scores = vec![0.0; by_scores.len()];
    shape.forward([&weights, &derived], rows, &mut part, &mut scores);
    let (mut gradient, mut by_weights) = (vec![f32::NAN; shape.len()], vec![]);
    shape.backward([&weights, &derived], rows, &mut part, by_scores, true, &mut gradient);
    shape.unpack(&gradient, &mut by_weights);
    #[allow(unused_mut)]
    let mut by_features = vec![0.0; features.len()];
    #[cfg(feature = "flex")]
    shape.by_features(&weights, &part, by_scores, &mut by_features);
    [scores, by_weights, by_features]
}

/// The same by the formula.
fn exact(config: &RankerConfig, plain: &[f32], features: &[f32], by_scores: &[f32]) -> [Vec<f64>; 3] {
    let function = |z: f64| match config.architecture.activation() {
        Some(Sigmoid) => (1.0 / (1.0 + (-z).exp()), (-z).exp() / (1.0 + (-z).exp()).powi(2)),
        Some(Tanh) => (z.tanh(), z.cosh().powi(-2)),
        _ => (z.max(0.0), f64::from(u8::from(z > 0.0))),
    };
    let layers = config.layers();
    let mut by_weights = vec![0.0; plain.len()];
    let (mut scores, mut by_features) = (vec![], vec![]);
    let weight = |place: usize| f64::from(plain[place]);
    for (row, by_score) in features.chunks(config.features).zip(by_scores) {
        let mut inputs: Vec<Vec<f64>> = vec![row.iter().map(|&x| f64::from(x)).collect()];
        let mut slopes: Vec<Vec<f64>> = vec![];
        for layer in &layers {
            let x = inputs.last().unwrap();
            let mut received = vec![0.0; layer.units];
            for (unit, z) in received.iter_mut().enumerate() {
                *z = layer.bias.clone().nth(unit).map_or(0.0, weight);
                for (input, x) in x.iter().enumerate() {
                    *z += x * weight(layer.weights.start + input * layer.units + unit);
                }
            }
            if layer.bias.is_empty() {
                scores.push(received[0]);
                break;
            }
            slopes.push(received.iter().map(|&z| function(z).1).collect());
            inputs.push(received.iter().map(|&z| function(z).0).collect());
        }
        let mut deltas = vec![f64::from(*by_score)];
        for (place, layer) in layers.iter().enumerate().rev() {
            let mut back = vec![0.0; layer.inputs];
            for (unit, delta) in deltas.iter().enumerate() {
                if let Some(bias) = layer.bias.clone().nth(unit) {
                    by_weights[bias] += delta;
                }
                for input in 0..layer.inputs {
                    let at = layer.weights.start + input * layer.units + unit;
                    by_weights[at] += delta * inputs[place][input];
                    back[input] += delta * weight(at);
                }
            }
            if place > 0 {
                back.iter_mut().zip(&slopes[place - 1]).for_each(|(back, slope)| *back *= slope);
            }
            deltas = back;
        }
        by_features.extend(deltas);
    }
    [scores, by_weights, by_features]
}

fn assert_near(found: &[Vec<f32>; 3], expected: &[Vec<f64>; 3], what: &str) {
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        if place == 2 && cfg!(not(feature = "flex")) {
            continue;
        }
        assert_eq!(found.len(), expected.len(), "{what}");
        let scale = expected.iter().fold(1e-3, |scale: f64, x| scale.max(x.abs()));
        for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
            let near = (f64::from(*found) - expected).abs() <= 3e-6 * scale + 1e-5 * expected.abs();
            assert!(near, "{what}, {}, {index}: {found}, not {expected}", ["scores", "weights", "features"][place]);
        }
    }
}

#[test]
fn scores_and_gradients_are_those_of_the_formula() {
    for config in nets() {
        let plain = Init::Burn.weights(&config, 5).concat();
        for documents in [0, 1, 2, 5, 12, 13, 127, 128, 129, 300] {
            let features: Vec<f32> = (0..documents * config.features).map(random).collect();
            let by_scores: Vec<f32> = (0..documents).map(|i| random(i + 77)).collect();
            let what = format!("{config:?}, {documents} documents");
            let expected = exact(&config, &plain, &features, &by_scores);
            assert_near(&fused(&config, &plain, &features, &by_scores), &expected, &what);
            if documents == 129 {
                PORTABLE.set(true);
                let portable = fused(&config, &plain, &features, &by_scores);
                WIDER.set(true);
                let wider = fused(&config, &plain, &features, &by_scores);
                WIDER.set(false);
                PORTABLE.set(false);
                assert_near(&portable, &expected, &format!("{what}, portable"));
                let bits = |all: &[Vec<f32>; 3]| all.concat().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert!(bits(&portable) == bits(&wider), "{what}: portable lanes depend on instructions");
            }
        }
    }
}

#[test]
fn weights_are_packed_and_unpacked() {
    for config in nets() {
        let shape = NetShape::new(&config);
        let plain: Vec<f32> = (0..config.n_weights()).map(|i| i as f32 + 1.0).collect();
        let (mut packed, mut back) = (vec![], vec![]);
        shape.pack(&plain, &mut packed);
        shape.unpack(&packed, &mut back);
        assert_eq!((packed.len(), &back), (shape.len(), &plain), "{config:?}");
        assert_eq!(packed.iter().filter(|number| **number != 0.0).count(), plain.len(), "the rest is padding");
        let lengths: Vec<usize> = shape.parameters().iter().map(|places| places.len()).collect();
        assert_eq!((lengths.len(), lengths.iter().sum::<usize>()), (config.shapes().len(), shape.len()));
    }
}

/// A document whose score is not a number leaves those of others alone, and padding leaves it alone.
#[test]
fn infinite_features_give_what_burn_gives() {
    let device = crate::device::open("auto").unwrap();
    for config in [RankerConfig::mlp(5, &[3], Sigmoid), RankerConfig::mlp(5, &[3, 4], Tanh), RankerConfig::linear(5)] {
        let weights = Init::Burn.weights(&config, 9);
        let ranker = config.from_weights(&weights, &device).unwrap();
        for odd in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            let mut features: Vec<f32> = (0..40).map(random).collect();
            features[17] = odd;
            let [scores, ..] = fused(&config, &weights.concat(), &features, &[0.5; 8]);
            let rows = burn::tensor::TensorData::new(features, [8, 5]);
            let plain = ranker.forward_by_burn(burn::tensor::Tensor::from_data(rows, &device));
            let expected = crate::model::to_host(plain).unwrap();
            for (score, expected) in scores.iter().zip(&expected) {
                let same = score.is_nan() == expected.is_nan() && score.is_infinite() == expected.is_infinite();
                assert!(same, "{config:?}, {odd}: {scores:?}, not {expected:?}");
                assert!(
                    !expected.is_finite() || (score - expected).abs() < 1e-5,
                    "{config:?}: {score}, not {expected}"
                );
            }
            assert!(scores.iter().filter(|score| score.is_finite()).count() >= 7, "{config:?}: {scores:?}");
        }
    }
}

#[cfg(feature = "flex")]
#[test]
fn the_operation_has_the_gradients_of_burns_own_operations() {
    use crate::objective::surrogate;
    use burn::optim::GradientsParams;
    use burn::tensor::{Tensor, TensorData};
    let device = crate::device::Backend::Flex.open().unwrap().autodiff();
    for config in nets() {
        let ranker = config.init(Init::Burn, 4, &device).unwrap();
        for documents in [1, 40, 1100] {
            let rows: Vec<f32> = (0..documents * config.features).map(random).collect();
            let lambdas: Vec<f32> = (0..documents).map(|i| random(i + 5)).collect();
            let run = |by: &dyn Fn(Tensor<2>) -> Tensor<1>, tracked: bool| {
                let features = TensorData::new(rows.clone(), [documents, config.features]);
                let features = Tensor::<2>::from_data(features, &device);
                let features = if tracked { features.require_grad() } else { features };
                let scores = by(features.clone());
                let host = crate::model::to_host(scores.clone()).unwrap();
                let all = surrogate(scores, lambdas.clone()).backward();
                let by_features = features.grad(&all).map(|found| found.into_data().try_into_vec::<f32>().unwrap());
                let all = GradientsParams::from_grads(all, &ranker);
                struct Flat<'a>(&'a GradientsParams, Vec<f32>);
                impl burn::module::ModuleVisitor for Flat<'_> {
                    fn visit_float<const D: usize>(&mut self, param: &burn::module::Param<Tensor<D>>) {
                        self.1.extend(self.0.get::<D>(param.id).unwrap().into_data().try_into_vec::<f32>().unwrap());
                    }
                }
                let mut flat = Flat(&all, vec![]);
                burn::module::Module::visit(&ranker, &mut flat);
                [host, flat.1, by_features.unwrap_or_default()]
            };
            for tracked in [false, true] {
                let found = run(&|features| fused_scores(&ranker, &features).unwrap(), tracked);
                let expected = run(&|features| ranker.forward_by_burn(features), tracked);
                let wide = |all: &[Vec<f32>; 3]| all.clone().map(|all| all.into_iter().map(f64::from).collect());
                assert_near(&found, &wide(&expected), &format!("{config:?}, {documents} documents"));
            }
            let plain = device.clone().without_autodiff();
            let features = TensorData::new(rows.clone(), [documents, config.features]);
            let valid = burn::module::Module::valid(&ranker);
            let scores = crate::model::to_host(valid.forward(Tensor::from_data(features, &plain))).unwrap();
            assert_eq!(scores.len(), documents);
        }
    }
}
