//! Models of every kind, with data to compare scores on.

use burnrank::data::Preprocessing;
use burnrank::export::{Exported, Format, Request};
use burnrank::model::{Branch, Child, Forest, KernelKind, KernelRanker, Rule, Tree, WhenMissing};
use burnrank::{Activation, Dataset, Model, ModelInfo, RankerConfig, Result, ScaleKind, Scaler, Scorer, device};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// 25 queries of 40 documents.
pub const DOCUMENTS: usize = 1000;
pub const PER_QUERY: usize = 40;
pub const FEATURES: usize = 6;

/// A model, its name in these tests, and the expected scores of exports.
pub struct Case {
    pub name: String,
    pub model: Model,
    pub data: Arc<Dataset>,
    pub scores: Vec<f32>,
}

impl Case {
    fn new(name: String, model: Model, data: &Arc<Dataset>) -> Self {
        let scores = model.score(data).unwrap();
        Case { name, model, data: data.clone(), scores }
    }

    pub fn kind(&self) -> ScaleKind {
        self.model.info.scaler.kind()
    }

    pub fn export(&self, format: &str) -> Result<Exported> {
        Format::of(format)?.export(&Request::new(&self.model, &self.name))
    }

    pub fn rows(&self) -> impl Iterator<Item = &[f32]> {
        self.data.features().chunks(self.data.n_features())
    }

    /// Asserts that scores are the model's: 1e-5 of the score, or of the scores' mean size where that is larger. Solr adds up
    /// in single precision, layer by layer, which may cost another digit where large numbers cancel.
    pub fn check(&self, scores: &[f64], format: &str) {
        assert_eq!(scores.len(), self.scores.len(), "{format}: {}", self.name);
        let size = self.scores.iter().map(|score| f64::from(score.abs())).sum::<f64>() / scores.len() as f64;
        for (row, (found, expected)) in scores.iter().zip(&self.scores).enumerate() {
            let expected = f64::from(*expected);
            let far = (found - expected).abs() / expected.abs().max(size);
            let most = if format == "solr" { 3e-5 } else { 1e-5 };
            assert!(far <= most, "{format}: {}, document {row}: {found}, not {expected} ({far:e})", self.name);
        }
    }
}

fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Typical features: of any scale, far from zero, long-tailed, almost always 0, constant, negative.
pub fn data() -> Arc<Dataset> {
    let mut rng = random(1);
    let features = (0..DOCUMENTS).flat_map(|_| {
        let mut uniform = || rng.random::<f32>();
        [
            uniform(),
            2000.0 + (20.0 * uniform()).floor(),
            (12.0 * uniform()).exp(),
            if uniform() < 0.9 { 0.0 } else { (10.0 * uniform()).floor() },
            7.0,
            -3.0 * uniform(),
        ]
    });
    let queries = (0..DOCUMENTS / PER_QUERY).map(|query| (query.to_string(), PER_QUERY)).collect();
    Arc::new(Dataset::new(FEATURES, features.collect(), vec![0.0; DOCUMENTS], queries).unwrap())
}

fn model(scorer: Scorer, kind: ScaleKind, data: &Dataset) -> Model {
    let info = ModelInfo::new(scorer.config(), Scaler::fit(kind, data), "by hand");
    Model { scorer, info, history: Vec::new() }
}

/// Linear nets and nets of one and two hidden layers with every activation and scaling.
pub fn nets() -> Vec<Case> {
    let data = data();
    let mut shapes = vec![RankerConfig::linear(FEATURES)];
    for activation in [Activation::Sigmoid, Activation::Tanh, Activation::Relu] {
        shapes.extend([&[7][..], &[6, 4]].map(|hidden| RankerConfig::mlp(FEATURES, hidden, activation)));
    }
    let mut cases = Vec::new();
    for kind in ScaleKind::ALL {
        for shape in &shapes {
            let shape = shape.clone().encoded(&Scaler::fit(kind, &data));
            let mut rng = random(cases.len() as u64);
            // Raw features in the thousands must not saturate all units.
            let size = if kind == ScaleKind::None { 1e-4 } else { 1.0 };
            let mut first = size;
            let shapes = shape.shapes();
            let weights = shapes.iter().map(|sides| {
                let count = sides.iter().product();
                let weights = (0..count).map(|_| first * (2.0 * rng.random::<f32>() - 1.0)).collect();
                first = 1.0;
                weights
            });
            let weights: Vec<Vec<f32>> = weights.collect();
            let net = shape.from_weights(&weights, &device::open("auto").unwrap()).unwrap();
            let function = shape.architecture.activation().map_or("linear".into(), |function| function.to_string());
            let name = format!("net-{kind}-{function}-{}", shape.architecture.hidden().len());
            cases.push(Case::new(name, model(Scorer::Net(net), kind, &data), &data));
        }
    }
    cases
}

/// Nets with a skip connection, with and without encoded features.
pub fn skips() -> Vec<Case> {
    let data = data();
    let mut cases = Vec::new();
    for kind in [ScaleKind::ZScore, ScaleKind::Quantile, ScaleKind::Piecewise] {
        for hidden in [&[7][..], &[6, 4]] {
            let shape = RankerConfig::mlp(FEATURES, hidden, Activation::Relu).encoded(&Scaler::fit(kind, &data));
            let shape = RankerConfig { skip: true, ..shape };
            let mut rng = random(3);
            let weights = shape.shapes().into_iter().map(|sides| {
                (0..sides.iter().product::<usize>()).map(|_| 2.0 * rng.random::<f32>() - 1.0).collect::<Vec<f32>>()
            });
            let net = shape.from_weights(&weights.collect::<Vec<_>>(), &device::open("auto").unwrap()).unwrap();
            cases.push(Case::new(format!("skip-{kind}-{}", hidden.len()), model(Scorer::Net(net), kind, &data), &data));
        }
    }
    cases
}

/// Trees over scaled features, with thresholds that equal feature values or are near zero.
pub fn trees() -> Vec<Case> {
    let data = data();
    let mut cases = Vec::new();
    for kind in ScaleKind::ALL {
        let mut rng = random(77);
        let mut scaled = (*data).clone();
        Scaler::fit(kind, &data).apply(&mut scaled).unwrap();
        let tree = |_| {
            let leaves = 12;
            let mut branches: Vec<Branch> = Vec::new();
            for new in 1..leaves {
                let split = Child::Leaf(rng.random_range(0..new));
                for branch in &mut branches {
                    for child in [&mut branch.left, &mut branch.right] {
                        if *child == split {
                            *child = Child::Branch(new - 1);
                        }
                    }
                }
                let feature = rng.random_range(0..FEATURES);
                let value = scaled.features()[rng.random_range(0..DOCUMENTS) * FEATURES + feature];
                let missing = [WhenMissing::NanIsZero, WhenMissing::NanLeft, WhenMissing::ZeroRight][new % 3];
                let rule = Rule::AtMost { threshold: f64::from(value), missing };
                branches.push(Branch { feature, rule, left: split, right: Child::Leaf(new) });
            }
            Tree::new(branches, (0..leaves).map(|_| rng.random_range(-1.0..1.0)).collect()).unwrap()
        };
        let forest = Forest::from_trees(FEATURES, (0..30).map(tree).collect()).unwrap();
        let name = format!("trees-{kind}");
        cases.push(Case::new(name, model(Scorer::Trees(Arc::new(forest)), kind, &data), &data));
    }
    cases
}

/// Models of LightGBM and XGBoost with categories, zeros as missing values and infinite thresholds, on data with missing values.
pub fn imported() -> Vec<Case> {
    let of = |name: &str, text: &str| {
        let forest = Forest::parse_any(name, text).unwrap();
        let width = forest.n_features();
        let mut rng = random(5);
        let values =
            [0.0, -0.0, 0.5, 1.0, 2.5, 3.0, 34.0, 35.9, -0.1, -1.0, 9.0, -9.0, 0.18905339, -0.1697605, f32::NAN];
        let value = |_| match rng.random_range(0..3) {
            0 => rng.random_range(-3.0..40.0f32),
            _ => values[rng.random_range(0..values.len())],
        };
        let features: Vec<f32> = (0..DOCUMENTS * width).map(value).collect();
        let queries = vec![("a".into(), DOCUMENTS)];
        let data = Arc::new(Dataset::new(width, features, vec![0.0; DOCUMENTS], queries).unwrap());
        Case::new(name.into(), forest.into_model("imported").unwrap(), &data)
    };
    let xgboost = include_str!("../../src/model/trees/tests/xgboost.json");
    // The first split is on categories; missing values go to their side.
    let sets =
        r#""categories": [0, 2, 33], "categories_nodes": [0], "categories_segments": [0], "categories_sizes": [3]"#;
    let categories = xgboost.replacen("\"default_left\": [1,", &format!("{sets}, \"default_left\": [0,"), 1).replacen(
        "\"split_type\": [0,",
        "\"split_type\": [1,",
        1,
    );
    vec![
        of("lightgbm-sample", include_str!("../../src/model/trees/tests/sample.txt")),
        of("xgboost-sample", xgboost),
        of("xgboost-categories", &categories),
    ]
}

/// Gaussian and polynomial kernels.
pub fn kernels() -> Vec<Case> {
    let data = data();
    let mut cases = Vec::new();
    for kind in [ScaleKind::ZScore, ScaleKind::QueryMinMax, ScaleKind::Log1p] {
        for (name, kernel) in
            [("gaussian", KernelKind::Gaussian { gamma: 0.3 }), ("polynomial", KernelKind::Polynomial { degree: 3 })]
        {
            let mut rng = random(9);
            let mut numbers = |count: usize| (0..count).map(|_| 2.0 * rng.random::<f32>() - 1.0).collect::<Vec<f32>>();
            let offsets = if name == "polynomial" { numbers(5) } else { Vec::new() };
            let ranker = KernelRanker::new(FEATURES, kernel, numbers(5 * FEATURES), offsets, numbers(5)).unwrap();
            cases.push(Case::new(format!("{name}-{kind}"), model(Scorer::Kernel(ranker), kind, &data), &data));
        }
    }
    cases
}

/// Features as in [`data`], with missing values in three of them and the levels 0, 3, 4 and 70 of a categorical one.
fn incomplete_data() -> Arc<Dataset> {
    let mut rng = random(5);
    let mut values = data().features().to_vec();
    for row in values.chunks_mut(FEATURES) {
        row[1] = if rng.random::<f32>() < 0.1 { f32::NAN } else { [0.0, 3.0, 4.0, 70.0][rng.random_range(0..4)] };
        for feature in [0, 2, 3] {
            row[feature] = if rng.random::<f32>() < 0.3 { f32::NAN } else { row[feature] };
        }
    }
    let queries = (0..DOCUMENTS / PER_QUERY).map(|query| (query.to_string(), PER_QUERY)).collect();
    Arc::new(Dataset::new(FEATURES, values, vec![0.0; DOCUMENTS], queries).unwrap())
}

/// Nets and kernels for data with missing values and a categorical feature, with every scaling. Documents have missing values in
/// features that were complete in the training data, too, and a level that it lacks.
pub fn incomplete() -> Vec<Case> {
    let train = incomplete_data();
    let mut values = train.features().to_vec();
    for (place, row) in values.chunks_mut(FEATURES).enumerate() {
        match place % 50 {
            7 => row[5] = f32::NAN,
            11 => row[1] = 5.0,
            _ => {}
        }
    }
    let queries = (0..DOCUMENTS / PER_QUERY).map(|query| (query.to_string(), PER_QUERY)).collect();
    let data = Arc::new(Dataset::new(FEATURES, values, vec![0.0; DOCUMENTS], queries).unwrap());
    let mut cases = Vec::new();
    for kind in ScaleKind::ALL {
        let scaler = Preprocessing { categorical: vec![1], ..kind.into() }.fit(&train).unwrap();
        // Five scaled features, four indicators and four levels.
        let inputs = scaler.n_inputs();
        assert_eq!(inputs, 5 + 4 + 4, "{kind}");
        for shape in [RankerConfig::linear(inputs), RankerConfig::mlp(inputs, &[6, 4], Activation::Tanh)] {
            let shape = shape.encoded(&scaler);
            let mut rng = random(cases.len() as u64);
            let size = if kind == ScaleKind::None { 1e-4 } else { 1.0 };
            let shapes = shape.shapes();
            let weights = shapes.iter().map(|sides| {
                let count = sides.iter().product();
                (0..count).map(|_| size * (2.0 * rng.random::<f32>() - 1.0)).collect()
            });
            let weights: Vec<Vec<f32>> = weights.collect();
            let net = Scorer::Net(shape.from_weights(&weights, &device::open("auto").unwrap()).unwrap());
            let name = format!("incomplete-{kind}-{}", shape.architecture.hidden().len());
            let info = ModelInfo::new(net.config(), scaler.clone(), "by hand");
            cases.push(Case::new(name, Model { scorer: net, info, history: Vec::new() }, &data));
        }
        if kind == ScaleKind::ZScore {
            let mut rng = random(9);
            let mut numbers = |count: usize| (0..count).map(|_| 2.0 * rng.random::<f32>() - 1.0).collect::<Vec<f32>>();
            let kernel = KernelKind::Gaussian { gamma: 0.1 };
            let ranker = KernelRanker::new(inputs, kernel, numbers(5 * inputs), Vec::new(), numbers(5)).unwrap();
            let scorer = Scorer::Kernel(ranker);
            let info = ModelInfo::new(scorer.config(), scaler.clone(), "by hand");
            cases.push(Case::new("incomplete-gaussian".into(), Model { scorer, info, history: Vec::new() }, &data));
        }
    }
    cases
}

/// Returns all cases.
pub fn all() -> Vec<Case> {
    let cases = nets().into_iter().chain(skips()).chain(trees()).chain(imported());
    cases.chain(kernels()).chain(incomplete()).collect()
}

/// Checks that errors say what to do instead.
pub fn assert_refused(case: &Case, format: &str, expected: &str) {
    let error = case.export(format).expect_err(&case.name).to_string();
    assert!(error.starts_with(&format!("{format} ")) && error.contains(expected), "{}: {error}", case.name);
}
