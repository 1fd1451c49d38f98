use super::*;
use crate::data::synthetic::Synthetic;
use crate::device;
use crate::metric::Summary;
use crate::model::score;
use crate::model::{Activation, RankerConfig};

fn data() -> Dataset {
    Synthetic { queries: 40, documents: 23, features: 7, ..Synthetic::net() }.generator().unwrap().dataset().unwrap()
}

/// The metric from a copy of the net with these weights, scored through the model.
fn oracle(
    config: &RankerConfig,
    weights: &[f32],
    data: &Dataset,
    metric: &dyn Metric,
    conventions: &Conventions,
) -> f64 {
    let mut rest = weights;
    let split: Vec<Vec<f32>> = config
        .shapes()
        .iter()
        .map(|shape| {
            let (layer, after) = rest.split_at(shape.iter().product());
            rest = after;
            layer.to_vec()
        })
        .collect();
    let device = device::open("auto").unwrap();
    let scores = score(&config.from_weights(&split, &device).unwrap(), data, &device).unwrap();
    Summary::of(&metric::evaluate(metric, &scores, data.labels(), data.offsets(), conventions).unwrap()).mean
}

#[test]
fn a_sweep_equals_moving_scoring_and_evaluating() {
    let data = data();
    let steps = [-0.5, 0.1, 0.7];
    let configs = [
        RankerConfig::linear(7),
        RankerConfig::mlp(7, &[3], Activation::Tanh),
        RankerConfig::mlp(7, &[4], Activation::Sigmoid),
        RankerConfig::mlp(7, &[2], Activation::Relu),
    ];
    for (index, config) in configs.iter().enumerate() {
        let name = ["ndcg@5", "map:rel=3", "mrr:rel=4", "arp"][index];
        let metric = metric::parse(name).unwrap();
        let conventions =
            Conventions { empty: [Empty::Skip, Empty::One, Empty::Zero][index % 3], ..Conventions::default() };
        let n = config.n_weights();
        let weights = super::super::direction::on_sphere(n, 9, 0);
        let net = MovableNet { config: config.clone(), weights: weights.clone() };
        let sweep = Sweep::new(&net, &data, &*metric, conventions).unwrap();
        let value = |point: &[f32]| oracle(config, point, &data, &*metric, &conventions);
        assert_eq!(sweep.value, value(&weights), "{name}");
        let directions: Vec<Vec<f32>> = (0..3).map(|i| super::super::direction::on_sphere(n, 4, i)).collect();
        let along = sweep.along(&directions, &steps, &mut |_| ()).unwrap();
        let alone = sweep.alone(0..n, &steps, &mut |_| ()).unwrap();
        for (s, &step) in steps.iter().enumerate() {
            for (d, direction) in directions.iter().enumerate() {
                let moved: Vec<f32> = weights.iter().zip(direction).map(|(w, r)| w + step as f32 * r).collect();
                // Scores differ in the last bits, so near ties may be ordered differently.
                assert!((along[d * 3 + s] - value(&moved)).abs() < 2e-3, "{name} {d} {step}");
            }
            for weight in 0..n {
                let mut moved = weights.clone();
                moved[weight] += step as f32;
                assert!((alone[weight * 3 + s] - value(&moved)).abs() < 2e-3, "{name} {weight} {step}");
            }
        }
    }
}

#[test]
fn points_of_a_deep_net_equal_those_of_its_model() {
    let data = data();
    let steps = [-0.5, 0.001, 0.7];
    let metric = metric::parse("ndcg").unwrap();
    let conventions = Conventions::default();
    for (hidden, activation) in [(&[3, 2][..], Activation::Tanh), (&[2, 17, 3], Activation::Relu)] {
        let config = RankerConfig::mlp(7, hidden, activation);
        let n = config.n_weights();
        let net = MovableNet { config: config.clone(), weights: super::super::direction::on_sphere(n, 9, 0) };
        let sweep = Sweep::new(&net, &data, &*metric, conventions).unwrap();
        // Sums over queries are accumulated in a different order, so the last digits may differ.
        let check = |value: f64, moved: &[f32], what: &str| {
            let expected = oracle(&config, moved, &data, &*metric, &conventions);
            assert!((value - expected).abs() < 1e-13, "{config:?}, {what}: {value}, expected {expected}");
        };
        check(sweep.value, &net.weights, "original weights");
        let directions: Vec<Vec<f32>> = (0..3).map(|i| super::super::direction::on_sphere(n, 4, i)).collect();
        let along = sweep.along(&directions, &steps, &mut |_| ()).unwrap();
        for (d, direction) in directions.iter().enumerate() {
            for (s, &step) in steps.iter().enumerate() {
                let moved: Vec<f32> = net.weights.iter().zip(direction).map(|(w, r)| w + step as f32 * r).collect();
                check(along[d * steps.len() + s], &moved, &format!("direction {d}, step {step}"));
            }
        }
        let alone = sweep.alone(0..n, &steps, &mut |_| ()).unwrap();
        assert_eq!(alone.len(), n * steps.len());
        for (point, &value) in alone.iter().enumerate() {
            let mut moved = net.weights.clone();
            moved[point / steps.len()] += steps[point % steps.len()] as f32;
            check(value, &moved, &net.name(point / steps.len()));
        }
    }
}

#[test]
fn parts_contain_all_queries_whole() {
    let offsets: Vec<usize> = (0..=100).map(|q| q * 300).collect();
    let parts = parts(&offsets);
    assert_eq!(parts.first().unwrap().start, 0);
    assert_eq!(parts.last().unwrap().end, 100);
    assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
    assert!(parts.iter().all(|part| (1..=ROWS / 300).contains(&part.len())));
    assert_eq!(super::parts(&[0, 9000, 9001, 18000]), [0..1, 1..2, 2..3]);
    assert!(super::parts(&[0]).is_empty());
}
