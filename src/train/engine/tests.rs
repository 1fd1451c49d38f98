//! The gradient of a batch without a graph: against autodiff, both paths, and differences of the loss.

use super::part::{self, PartContext};
use super::team::Team;
use super::work::EpochWork;
use super::workspace::Workspace;
use crate::data::synthetic::Synthetic;
use crate::data::{Dataset, ScaleKind, Scaler, Scaling};
use crate::device;
use crate::model::{Activation, Architecture, Init, RankerConfig, to_host};
use crate::objective::{Batch, OBJECTIVES, Objective, Outputs, surrogate};
use crate::setting::{GradientPath, OptimizerKind, Schedule, Skip, TrainConfig};
use crate::stop::Stop;
use crate::train::descent::Descent;
use crate::train::learner::{EpochStart, EpochTotals};
use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Tensor, TensorData};

/// One of every kind.
const NAMES: [&str; 23] = [
    "ranknet",
    "ranknet@3:sigma=2",
    "arp-loss1",
    "arp-loss2",
    "ndcg-loss1",
    "ndcg-loss2",
    "ndcg-loss2:gaussian=2",
    "ndcg-loss2-topk@3",
    "ndcg-loss2++:mu=5",
    "rr-gap",
    "lambdarank:ndcg",
    "lambdarank:ndcg@3",
    "lambdarank:map:rel=3",
    "lambdarank:mrr:rel=3",
    "lambdarank:err@10",
    "lambdarank:arp",
    "listnet",
    "approx-ndcg",
    "softrank",
    "rankcosine",
    "hinge",
    "exponential",
    "squared-error",
];

fn data() -> Dataset {
    let net = Synthetic { queries: 7, documents: 13, features: 6, ..Synthetic::net() };
    net.generator().unwrap().dataset().unwrap()
}

fn config(objective: &str, hidden: &[usize], activation: Activation) -> TrainConfig {
    let architecture = match hidden {
        [] => Architecture::Linear,
        _ => Architecture::Mlp { hidden: hidden.to_vec(), activation },
    };
    let objective = Objective::parse(objective).unwrap();
    TrainConfig { objective, architecture, schedule: Schedule::Constant, ..TrainConfig::default() }
}

fn epoch<'a>(config: &'a TrainConfig, data: &'a Dataset, stop: &'a Stop) -> EpochStart<'a> {
    let learning_rates = [config.learning_rate; 2];
    EpochStart { config, data, targets: None, partition: None, number: 1, stop, restart: None, learning_rates }
}

fn shape(config: &TrainConfig, data: &Dataset) -> RankerConfig {
    if config.scaling == ScaleKind::Piecewise {
        return config.shape(&scaler());
    }
    RankerConfig {
        skip: config.skip == Skip::Linear,
        ..RankerConfig::new(data.n_features(), config.architecture.clone())
    }
}

/// Features that are dense, sparse, constant, binary and missing.
fn raw() -> Dataset {
    let data = data();
    let value = |(i, &x): (usize, &f32)| match (i % 6, i / 6) {
        (1, row) if row % 5 == 0 => f32::NAN,
        (2, _) => 3.5,
        (3, row) if row % 3 != 0 => 0.0,
        (4, _) => f32::from(u8::from(x > 0.5)),
        (5, row) if row % 7 == 0 => f32::NAN,
        (5, _) => 1.0,
        _ => x,
    };
    let features = data.features().iter().enumerate().map(value).collect();
    let queries = data.queries().enumerate().map(|(query, of)| (query.to_string(), of.labels.len())).collect();
    Dataset::new(6, features, data.labels().to_vec(), queries).unwrap()
}

fn scaler() -> Scaler {
    Scaler::fit(Scaling { kind: ScaleKind::Piecewise, bins: 5 }, &raw())
}

/// Settings of nets with encoded features, skip connections or both, and their data.
fn encoded(objective: &str, hidden: &[usize], activation: Activation) -> Vec<(TrainConfig, Dataset)> {
    let mut positions = raw();
    scaler().apply(&mut positions).unwrap();
    let mut all = Vec::new();
    for skip in [Skip::None, Skip::Linear] {
        for scaling in [ScaleKind::None, ScaleKind::Piecewise] {
            let plain = scaling == ScaleKind::None && skip == Skip::None;
            if plain || (hidden.is_empty() && skip == Skip::Linear) {
                continue;
            }
            let config = TrainConfig { skip, scaling, ..config(objective, hidden, activation) };
            all.push((config, if scaling == ScaleKind::None { data() } else { positions.clone() }));
        }
    }
    all
}

/// Weights of which those of skip connections are not 0.
fn weights(shape: &RankerConfig) -> Vec<Vec<f32>> {
    let mut weights = Init::Burn.weights(shape, 3);
    if shape.skip {
        let skip = weights.last_mut().unwrap().iter_mut().enumerate();
        skip.for_each(|(place, weight)| *weight = 0.3 - ((place * 7) % 10) as f32 / 16.0);
    }
    weights
}

/// Loss and gradient without a graph.
fn fused(config: &TrainConfig, data: &Dataset, weights: &[Vec<f32>]) -> (f64, Vec<f32>, Vec<f32>) {
    let device = device::open("auto").unwrap();
    let ranker = shape(config, data).from_weights(weights, &device).unwrap();
    let stop = Stop::new();
    let start = epoch(config, data, &stop);
    let mut workspace = Workspace::new(&ranker).unwrap();
    let mut totals = EpochTotals::of_documents(data.n_documents());
    let queries: Vec<usize> = (0..data.n_queries()).rev().collect();
    let work = EpochWork::new(&start, 0);
    let sum = workspace.gradient(&Team::new(), &work, &queries, queries.len(), &mut totals).unwrap();
    (sum.loss / queries.len() as f64, workspace.sum(), totals.scores)
}

/// The same by Burn's operations and autodiff.
fn autodiff(config: &TrainConfig, data: &Dataset, weights: &[Vec<f32>], path: GradientPath) -> (f64, Vec<f32>) {
    struct Flat<'a>(&'a GradientsParams, Vec<f32>);
    impl ModuleVisitor for Flat<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            self.1.extend(self.0.get::<D>(param.id).unwrap().into_data().try_into_vec::<f32>().unwrap());
        }
    }
    let device = device::open("auto").unwrap().autodiff();
    let ranker = shape(config, data).from_weights(weights, &device).unwrap();
    let stop = Stop::new();
    let start = epoch(config, data, &stop);
    let queries: Vec<usize> = (0..data.n_queries()).rev().collect();
    let found = part::run(&PartContext::new(&start, path, &device), &ranker, &queries).unwrap();
    let mut flat = Flat(&found.gradients, vec![]);
    ranker.visit(&mut flat);
    (found.result.loss, flat.1)
}

#[test]
fn gradients_are_those_of_autodiff_for_every_objective_net_and_path() {
    for entry in OBJECTIVES {
        assert!(NAMES.iter().any(|name| name.starts_with(entry.name)), "{} is missing", entry.name);
    }
    let data = data();
    for name in NAMES {
        for activation in [Activation::Sigmoid, Activation::Tanh, Activation::Relu] {
            for hidden in [&[][..], &[5], &[20, 3], &[4, 17, 2]] {
                let config = config(name, hidden, activation);
                let weights = Init::Burn.weights(&shape(&config, &data), 3);
                let (loss, gradient, _) = fused(&config, &data, &weights);
                let scale = gradient.iter().fold(1e-6f32, |scale, slope| scale.max(slope.abs()));
                for path in [GradientPath::Lambda, GradientPath::Tensor] {
                    if path == GradientPath::Tensor && config.objective.is_lambda_only() {
                        continue;
                    }
                    let (expected_loss, expected) = autodiff(&config, &data, &weights, path);
                    let what = format!("{name}, {activation}, {hidden:?}, {path}");
                    let near = (loss - expected_loss).abs() <= 1e-4 * expected_loss.abs() + 1e-6;
                    assert!(near, "{what}: loss {loss}, not {expected_loss}");
                    assert_eq!(gradient.len(), expected.len());
                    for (own, other) in gradient.iter().zip(&expected) {
                        assert!((own - other).abs() <= 1e-4 * scale, "{what}: {own}, not {other}, of {scale}");
                    }
                }
            }
        }
    }
}

#[test]
fn gradients_are_differences_of_the_loss() {
    const STEP: f32 = 0.0005;
    let data = data();
    // Losses that are functions of the scores: other pair weights, and the pairs of a truncation, change with the ranking.
    for name in NAMES.into_iter().filter(|name| !name.contains('@')) {
        for activation in [Activation::Sigmoid, Activation::Tanh, Activation::Relu] {
            for hidden in [&[][..], &[4], &[3, 4], &[2, 3, 2]] {
                let config = config(name, hidden, activation);
                if !config.objective.is_cost() {
                    continue;
                }
                let mut weights = Init::Burn.weights(&shape(&config, &data), 8);
                // Smaller weights keep all documents where the loss is smooth.
                weights.iter_mut().flatten().for_each(|weight| *weight *= 0.7);
                let (whole, gradient, _) = fused(&config, &data, &weights);
                // Scores have single precision.
                let noise = 3e-8 * whole.abs() / f64::from(STEP);
                let scale = f64::from(gradient.iter().fold(1e-6f32, |scale, value| scale.max(value.abs())));
                let (mut checked, mut values) = (0, gradient.iter());
                for place in 0..weights.len() {
                    for index in 0..weights[place].len() {
                        let weight = weights[place][index];
                        let mut loss = |step: f32| {
                            weights[place][index] = weight + step;
                            fused(&config, &data, &weights).0
                        };
                        let sides = [loss(STEP) - whole, whole - loss(-STEP)].map(|rise| rise / f64::from(STEP));
                        weights[place][index] = weight;
                        let gradient = f64::from(*values.next().unwrap());
                        // Relu and hinge have corners, at which the one-sided differences disagree.
                        let is_smooth = activation != Activation::Relu && name != "hinge";
                        if !is_smooth && (sides[0] - sides[1]).abs() > 0.02 * scale + 2.0 * noise {
                            continue;
                        }
                        let error = (gradient - (sides[0] + sides[1]) / 2.0).abs();
                        let what = format!("{name}, {activation}, {hidden:?}, {place}/{index}");
                        assert!(error <= 0.02 * scale + noise, "{what}: {gradient}, not {sides:?}");
                        checked += 1;
                    }
                }
                assert!(values.next().is_none());
                assert!(2 * checked >= gradient.len(), "{name}, {activation}, {hidden:?}: {checked}");
            }
        }
    }
}

#[test]
fn gradients_of_encoded_features_and_skip_connections_are_those_of_materialised_inputs() {
    let mut count = 0;
    for name in ["ranknet", "lambdarank:ndcg", "squared-error"] {
        for hidden in [&[][..], &[5], &[20, 3], &[70]] {
            for (config, data) in encoded(name, hidden, Activation::Tanh) {
                let weights = weights(&shape(&config, &data));
                let (loss, gradient, _) = fused(&config, &data, &weights);
                let scale = gradient.iter().fold(1e-6f32, |scale, slope| scale.max(slope.abs()));
                for path in [GradientPath::Lambda, GradientPath::Tensor] {
                    let (expected_loss, expected) = autodiff(&config, &data, &weights, path);
                    let what = format!("{name}, {hidden:?}, {}, {}, {path}", config.scaling, config.skip);
                    assert!((loss - expected_loss).abs() <= 1e-4 * expected_loss.abs() + 1e-6, "{what}: {loss}");
                    assert_eq!(gradient.len(), expected.len(), "{what}");
                    for (place, (own, other)) in gradient.iter().zip(&expected).enumerate() {
                        assert!((own - other).abs() <= 1e-4 * scale, "{what}, {place}: {own}, not {other}");
                    }
                    count += 1;
                }
            }
        }
    }
    assert_eq!(count, 3 * 2 * (1 + 3 * 3));
}

#[test]
fn gradients_of_encoded_features_are_differences_of_the_loss() {
    const STEP: f32 = 0.001;
    for hidden in [&[][..], &[4], &[3, 2]] {
        for (config, data) in encoded("ranknet", hidden, Activation::Sigmoid) {
            let mut weights = weights(&shape(&config, &data));
            let (whole, gradient, _) = fused(&config, &data, &weights);
            let noise = 1e-7 * whole.abs() / f64::from(STEP);
            let scale = f64::from(gradient.iter().fold(1e-6f32, |scale, value| scale.max(value.abs())));
            let mut values = gradient.iter();
            for place in 0..weights.len() {
                for index in 0..weights[place].len() {
                    let weight = weights[place][index];
                    let mut loss = |step: f32| {
                        weights[place][index] = weight + step;
                        fused(&config, &data, &weights).0
                    };
                    let slope = (loss(STEP) - loss(-STEP)) / f64::from(2.0 * STEP);
                    weights[place][index] = weight;
                    let gradient = f64::from(*values.next().unwrap());
                    let what = format!("{hidden:?}, {}, {}, {place}/{index}", config.scaling, config.skip);
                    assert!((gradient - slope).abs() <= 0.02 * scale + noise, "{what}: {gradient}, not {slope}");
                }
            }
            assert!(values.next().is_none());
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits_with_encoded_features() {
    for hidden in [&[][..], &[10], &[70, 5]] {
        for (config, data) in encoded("lambdarank:ndcg", hidden, Activation::Relu) {
            // As many documents as several parts have.
            let data = data.select(&(0..300).map(|query| query % data.n_queries()).collect::<Vec<_>>());
            let weights = weights(&shape(&config, &data));
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let (loss, gradient, scores) = pool.install(|| fused(&config, &data, &weights));
                (loss.to_bits(), gradient.iter().chain(&scores).map(|x| x.to_bits()).collect::<Vec<_>>())
            };
            let one = with(1);
            for threads in [2, 4] {
                assert!(with(threads) == one, "{hidden:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let lengths = [1, 700, 3, 90, 40, 1, 1, 220, 5000, 17, 64];
    let documents: usize = lengths.iter().sum();
    let queries = lengths.iter().enumerate().map(|(query, &n)| (query.to_string(), n)).collect();
    let random = |i: usize| ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 24) as f32;
    let features = (0..documents * 9).map(random).collect();
    let labels = (0..documents).map(|i| (5.0 * random(i + 99)).floor()).collect();
    let data = Dataset::new(9, features, labels, queries).unwrap();
    for hidden in [&[][..], &[10], &[70, 5]] {
        let config = config("lambdarank:ndcg", hidden, Activation::Tanh);
        let weights = Init::Burn.weights(&shape(&config, &data), 3);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (loss, gradient, scores) = pool.install(|| fused(&config, &data, &weights));
            (loss.to_bits(), gradient.iter().chain(&scores).map(|x| x.to_bits()).collect::<Vec<_>>())
        };
        let one = with(1);
        for threads in [2, 3, 4] {
            assert!(with(threads) == one, "{hidden:?}, {threads} threads");
        }
    }
}

/// The graph-free step against the net as a custom operation of autodiff, and Burn's Adam.
#[test]
fn steps_are_those_of_the_custom_operation() {
    let query = Synthetic { queries: 1, documents: 150, features: 40, ..Synthetic::net() };
    let data = query.generator().unwrap().dataset().unwrap();
    let device = device::open("auto").unwrap().autodiff();
    let stop = Stop::new();
    for hidden in [&[][..], &[10], &[64, 5]] {
        let config = config("lambdarank:ndcg", hidden, Activation::Sigmoid);
        let start = epoch(&config, &data, &stop);
        let mut by_autodiff = shape(&config, &data).init(Init::Burn, 3, &device).unwrap();
        let mut optimizer = OptimizerKind::Adam.build(&config, &device);
        let mut workspace = Workspace::new(&by_autodiff).unwrap();
        let mut descent = Descent::of(&config, workspace.shape(), &by_autodiff, &optimizer);
        let (team, work) = (Team::new(), EpochWork::new(&start, 0));
        let mut totals = EpochTotals::of_documents(data.n_documents());
        for _ in 0..50 {
            workspace.gradient(&team, &work, &[0], 1, &mut totals).unwrap();
            workspace.update(&team, &mut descent, 0.001);
            let features = TensorData::new(data.features().to_vec(), [data.n_documents(), data.n_features()]);
            let scores = by_autodiff.forward(Tensor::<2>::from_data(features, &device));
            let mut lambdas = vec![0.0; data.n_documents()];
            let batch = Batch { labels: data.labels(), offsets: data.offsets() };
            let host = to_host(scores.clone()).unwrap();
            config.objective.lambda_gradient(&host, batch, &mut lambdas, Outputs::default(), &[]).unwrap();
            let gradients = GradientsParams::from_grads(surrogate(scores, lambdas).backward(), &by_autodiff);
            by_autodiff = optimizer.step(0.001, by_autodiff, gradients);
        }
        let own = workspace.ranker(&device).unwrap().weights().unwrap();
        let pairs = own.iter().zip(by_autodiff.weights().unwrap());
        let difference = pairs.fold(0.0f32, |most, (own, other)| most.max((own - other).abs()));
        println!("{hidden:?}: weights differ by at most {difference:e} after 50 steps");
        assert!(difference < 1e-5, "{hidden:?}: {difference}");
    }
}

/// Units far from 0, whose derivatives are tiny, must not make the kernels compute with subnormal numbers.
#[test]
fn saturated_units_leave_no_subnormal_numbers() {
    let data = Synthetic { queries: 40, documents: 100, features: 50, ..Synthetic::net() };
    let data = data.generator().unwrap().dataset().unwrap();
    let device = device::open("auto").unwrap().autodiff();
    let stop = Stop::new();
    for (hidden, activation) in
        [(&[64][..], Activation::Sigmoid), (&[64], Activation::Tanh), (&[64, 16], Activation::Sigmoid)]
    {
        let config = config("lambdarank:ndcg", hidden, activation);
        let start = epoch(&config, &data, &stop);
        let shape = shape(&config, &data);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        // Scores and their lambdas stay moderate; inputs of units are 0 to 200.
        let seconds = [1.0, 30.0, 100.0, 300.0].map(|factor| {
            let mut weights = Init::Burn.weights(&shape, 3);
            let outputs = weights.len() - 1;
            weights[..outputs].iter_mut().flatten().for_each(|weight| *weight *= factor);
            let ranker = shape.from_weights(&weights, &device).unwrap();
            let optimizer = OptimizerKind::Adam.build(&config, &device);
            pool.install(|| {
                let mut workspace = Workspace::new(&ranker).unwrap();
                let mut descent = Descent::of(&config, workspace.shape(), &ranker, &optimizer);
                let (team, work) = (Team::new(), EpochWork::new(&start, 0));
                let mut totals = EpochTotals::of_documents(data.n_documents());
                let mut fastest = f64::INFINITY;
                for _ in 0..5 {
                    let clock = std::time::Instant::now();
                    for query in 0..data.n_queries() {
                        workspace.gradient(&team, &work, &[query], 1, &mut totals).unwrap();
                        workspace.update(&team, &mut descent, 1e-6);
                    }
                    fastest = fastest.min(clock.elapsed().as_secs_f64());
                    let is_subnormal = |x: &f32| *x != 0.0 && !x.is_normal();
                    let gradient = workspace.sum();
                    assert!(!gradient.iter().any(is_subnormal), "{hidden:?}, {activation}, {factor}");
                    assert!(!descent.moments().iter().any(|all| all.iter().any(is_subnormal)), "{factor}");
                }
                fastest
            })
        });
        let ratios = seconds.map(|own| own / seconds[0]);
        println!("{hidden:?}, {activation}: times as long with weights times 1, 30, 100, 300: {ratios:.2?}");
    }
}

/// Updates without a graph are those of Burn's optimisers, and their state is Burn's.
#[test]
fn updates_are_those_of_burns_optimisers() {
    let data = data();
    let device = device::open("auto").unwrap().autodiff();
    for optimizer in [OptimizerKind::Sgd, OptimizerKind::Momentum, OptimizerKind::Adam] {
        for (l2, clip) in [(0.0, 0.0), (0.1, 0.0), (0.0, 0.01)] {
            let config = TrainConfig { optimizer, l2, clip, ..config("ranknet", &[5, 3], Activation::Tanh) };
            let shape = shape(&config, &data);
            let (mut own, mut burns) =
                (shape.init(Init::Burn, 3, &device).unwrap(), shape.init(Init::Burn, 3, &device).unwrap());
            let (mut own_state, mut burns_state) =
                (optimizer.build(&config, &device), optimizer.build(&config, &device));
            let stop = Stop::new();
            let start = epoch(&config, &data, &stop);
            let queries: Vec<usize> = (0..data.n_queries()).collect();
            for round in 0..4 {
                let mut workspace = Workspace::new(&own).unwrap();
                let mut descent = Descent::of(&config, workspace.shape(), &own, &own_state);
                let mut totals = EpochTotals::of_documents(data.n_documents());
                let (team, work) = (Team::new(), EpochWork::new(&start, 0));
                for rate in [0.01, 0.005] {
                    workspace.gradient(&team, &work, &queries, queries.len(), &mut totals).unwrap();
                    workspace.update(&team, &mut descent, rate);
                    let context = PartContext::new(&start, GradientPath::Lambda, &device);
                    let found = part::run(&context, &burns, &queries).unwrap();
                    burns = burns_state.step(rate, burns, found.gradients);
                }
                own = workspace.ranker(&device).unwrap();
                descent.store(workspace.shape(), &own, &mut own_state);
                for (a, b) in own.weights().unwrap().iter().zip(burns.weights().unwrap()) {
                    assert!((a - b).abs() < 2e-5, "{optimizer}, l2 {l2}, clip {clip}, round {round}: {a}, not {b}");
                }
                // The state goes through Burn's record.
                let bytes = own_state.into_bytes().unwrap();
                own_state = optimizer.build(&config, &device).from_bytes(bytes).unwrap();
            }
        }
    }
}
