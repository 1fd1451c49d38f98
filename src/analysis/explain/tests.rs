//! Compares contributions with brute force, gradients with finite differences, and importances with known values.

use super::shapley::{Paths, Rules, Work};
use super::*;
use crate::data::{Dataset, ScaleKind, Scaler};
use crate::device;
use crate::metric::{Conventions, parse};
use crate::model::{
    Activation, Branch, Child, Forest, Init, KernelKind, KernelRanker, Model, ModelInfo, NegativeFractions,
    RankerConfig, Rule, Scorer, Tree, WhenMissing,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const FEATURES: usize = 5;

/// A random tree with this number of leaves; features repeat on its paths.
fn random_tree(leaves: usize, random: &mut ChaCha8Rng) -> Tree {
    let (mut branches, mut open) = (Vec::<Branch>::new(), vec![None]);
    while open.len() < leaves {
        // Turn a random leaf into a branch.
        let (index, parent) = (branches.len(), open.swap_remove(random.random_range(0..open.len())));
        if let Some((parent, left)) = parent {
            let parent: &mut Branch = &mut branches[parent];
            *(if left { &mut parent.left } else { &mut parent.right }) = Child::Branch(index);
        }
        let missing = if random.random() { WhenMissing::NanLeft } else { WhenMissing::ZeroRight };
        let rule = match random.random_range(0..4) {
            0 => Rule::OneOf {
                categories: vec![random.random()],
                nan_left: random.random(),
                fractions: NegativeFractions::Zero,
            },
            _ => Rule::AtMost { threshold: f64::from(random.random::<f32>()), missing },
        };
        let unset = Child::Leaf(usize::MAX);
        branches.push(Branch { feature: random.random_range(0..FEATURES), rule, left: unset, right: unset });
        open.extend([Some((index, true)), Some((index, false))]);
    }
    for (leaf, place) in open.iter().enumerate() {
        if let Some((parent, left)) = place {
            let parent = &mut branches[*parent];
            *(if *left { &mut parent.left } else { &mut parent.right }) = Child::Leaf(leaf);
        }
    }
    Tree::new(branches, (0..leaves).map(|_| random.random::<f64>() - 0.5).collect()).unwrap()
}

fn random_data(queries: usize, documents: usize, random: &mut ChaCha8Rng) -> Dataset {
    let all = queries * documents;
    let features = (0..all * FEATURES).map(|_| random.random::<f32>()).collect();
    let labels = (0..all).map(|_| f32::from(random.random_range(0..3u8))).collect();
    Dataset::new(FEATURES, features, labels, (0..queries).map(|q| (format!("q{q}"), documents)).collect()).unwrap()
}

/// A tree's value if only the features in the bit set `known` are known: for an unknown feature, the mean of both children weighted
/// by their numbers of documents.
fn value_of(tree: &Tree, at: Child, document: &[f32], known: usize, counts: &[f64]) -> f64 {
    match at {
        Child::Leaf(leaf) => tree.leaves()[leaf],
        Child::Branch(index) => {
            let branch = &tree.branches()[index];
            let side = |child| value_of(tree, child, document, known, counts);
            if known >> branch.feature & 1 == 1 {
                return side(if branch.rule.goes_left(document[branch.feature]) { branch.left } else { branch.right });
            }
            let (left, right) = (count(tree, branch.left, counts), count(tree, branch.right, counts));
            (left * side(branch.left) + right * side(branch.right)) / (left + right)
        }
    }
}

fn count(tree: &Tree, at: Child, counts: &[f64]) -> f64 {
    match at {
        Child::Leaf(leaf) => counts[leaf],
        Child::Branch(index) => {
            let branch = &tree.branches()[index];
            count(tree, branch.left, counts) + count(tree, branch.right, counts)
        }
    }
}

/// Shapley values by definition: the mean over all orders of the gain from knowing a feature, as a sum over all subsets.
fn brute_force(tree: &Tree, document: &[f32], counts: &[f64]) -> Vec<f64> {
    let root = if tree.branches().is_empty() { Child::Leaf(0) } else { Child::Branch(0) };
    let value = |known: usize| value_of(tree, root, document, known, counts);
    let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
    let of = |feature: usize| {
        let others = (0..1usize << FEATURES).filter(|set| set >> feature & 1 == 0);
        let term = |set: usize| {
            let size = set.count_ones() as usize;
            let weight = factorial(size) * factorial(FEATURES - size - 1) / factorial(FEATURES);
            weight * (value(set | 1 << feature) - value(set))
        };
        others.map(term).sum()
    };
    (0..FEATURES).map(of).collect()
}

fn model(scorer: Scorer, kind: ScaleKind, data: &Dataset) -> Model {
    Model { info: ModelInfo::new(scorer.config(), Scaler::fit(kind, data), "by hand"), scorer, history: Vec::new() }
}

fn nets() -> Vec<Scorer> {
    let device = device::open("auto").unwrap();
    let mut shapes = vec![RankerConfig::linear(FEATURES)];
    shapes.extend(
        [Activation::Sigmoid, Activation::Tanh, Activation::Relu]
            .map(|activation| RankerConfig::mlp(FEATURES, &[4, 3], activation)),
    );
    shapes.iter().map(|shape| Scorer::Net(shape.init(Init::Burn, 5, &device).unwrap())).collect()
}

fn kernels(random: &mut ChaCha8Rng) -> Vec<Scorer> {
    let mut numbers = |count: usize| -> Vec<f32> { (0..count).map(|_| random.random::<f32>() - 0.5).collect() };
    let gaussian = KernelKind::Gaussian { gamma: 0.7 };
    let polynomial = KernelKind::Polynomial { degree: 3 };
    vec![
        Scorer::Kernel(KernelRanker::new(FEATURES, gaussian, numbers(15), vec![], numbers(3)).unwrap()),
        Scorer::Kernel(KernelRanker::new(FEATURES, polynomial, numbers(15), numbers(3), numbers(3)).unwrap()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn shapley_values_match_the_sum_over_all_subsets(seed in any::<u64>(), leaves in 1usize..14) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let tree = random_tree(leaves, &mut random);
        let counts: Vec<f64> = (0..leaves).map(|_| f64::from(random.random_range(1..50u8))).collect();
        let paths = [Paths::of(&tree, &counts)];
        let rules = Rules::of(&paths);
        let values = [f32::NAN, 0.0, 1.0, 2.0];
        let mut value = || if random.random() { values[random.random_range(0..4)] } else { random.random() };
        for document in (0..8).map(|_| [(); FEATURES].map(|()| value())) {
            let document = &document;
            let (mut values, expected) = (vec![0.0; FEATURES], brute_force(&tree, document, &counts));
            paths[0].add(&tree, document, 1.0, &rules, &mut Work::default(), &mut values);
            for (value, expected) in values.iter().zip(&expected) {
                prop_assert!((value - expected).abs() < 1e-13, "{:?}, expected {:?}", value, expected);
            }
        }
    }

    #[test]
    fn parts_of_trees_and_linear_nets_add_up(seed in any::<u64>(), trees in 1usize..6) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let data = random_data(3, 30, &mut random);
        let forest = Forest::from_trees(FEATURES, (0..trees).map(|_| random_tree(12, &mut random)).collect()).unwrap();
        let weights: Vec<f32> = (0..FEATURES).map(|_| random.random::<f32>() - 0.5).collect();
        let linear = RankerConfig::linear(FEATURES).from_weights(&[weights], &device::open("auto").unwrap()).unwrap();
        for scorer in [Scorer::Trees(forest.into()), Scorer::Net(linear)] {
            let explainer = Explainer::new(&scorer, &data).unwrap();
            let scores = scorer.score_rows(data.features(), FEATURES).unwrap();
            for (document, &score) in data.features().chunks(FEATURES).zip(&scores) {
                let sum = explainer.expected() + explainer.parts(document).iter().sum::<f64>();
                prop_assert!((sum - f64::from(score)).abs() < 1e-5, "{} plus the parts is {}, expected {}", explainer.expected(), sum, score);
            }
            // The expected score is the mean over the counted documents.
            let mean = scores.iter().map(|&score| f64::from(score)).sum::<f64>() / scores.len() as f64;
            prop_assert!((mean - explainer.expected()).abs() < 1e-5);
        }
    }
}

#[test]
fn long_paths_stay_accurate() {
    // A chain of 40 conditions on 40 features: most leaves have long paths.
    let chain = |index: usize| Branch {
        feature: index,
        rule: Rule::AtMost { threshold: 0.5, missing: WhenMissing::NanIsZero },
        left: Child::Leaf(index),
        right: if index == 39 { Child::Leaf(40) } else { Child::Branch(index + 1) },
    };
    let tree = Tree::new((0..40).map(chain).collect(), (0..41).map(f64::from).collect()).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let features: Vec<f32> = (0..40 * 3000).map(|_| (random.random::<f32>() + 0.4).min(1.0)).collect();
    let data = Dataset::new(40, features, vec![0.0; 3000], vec![("a".into(), 3000)]).unwrap();
    let forest = Forest::from_trees(40, vec![tree.clone()]).unwrap();
    let explainer = Explainer::new(&Scorer::Trees(forest.into()), &data).unwrap();
    for document in data.features().chunks(40).take(50) {
        let sum = explainer.expected() + explainer.parts(document).iter().sum::<f64>();
        assert!((sum - tree.value(document)).abs() < 1e-12, "{sum}, expected {}", tree.value(document));
    }
}

#[test]
fn gradients_match_finite_differences() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let data = random_data(1, 20, &mut random);
    let mut scorers = nets();
    scorers.extend(kernels(&mut random));
    for scorer in scorers {
        let explainer = Explainer::new(&scorer, &data).unwrap();
        let score = |document: &[f32]| f64::from(scorer.score_rows(document, FEATURES).unwrap()[0]);
        for document in data.features().chunks(FEATURES).take(6) {
            let gradient = explainer.gradients(document).unwrap();
            for (feature, partial) in gradient.iter().enumerate() {
                let moved = |step: f32| {
                    let mut document = document.to_vec();
                    document[feature] += step;
                    score(&document)
                };
                let expected = (moved(0.01) - moved(-0.01)) / 0.02;
                // Scores are f32, and a ReLU may have a kink in between.
                assert!((partial - expected).abs() < 2e-3, "{:?}: {partial}, expected {expected}", scorer.config());
            }
        }
    }
}

#[test]
fn importances_depend_on_the_seed_but_not_on_the_number_of_threads() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let data = random_data(30, 12, &mut random);
    let metric = parse("ndcg@5").unwrap();
    for permute in [Permute::Query, Permute::File] {
        let run = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let conventions = Conventions::default();
            let compute = || importances(&nets()[2], &data, &*metric, &conventions, permute, 3, seed, &|_| {});
            pool.install(compute).unwrap()
        };
        assert_eq!(run(1, 9), run(3, 9));
        assert_ne!(run(2, 9), run(2, 10));
    }
}

#[test]
fn query_features_matter_only_when_shuffled_across_the_file() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let mut data = random_data(25, 10, &mut random);
    // The first feature is constant within each query; the second is the label.
    let labels = data.labels().to_vec();
    for (row, document) in data.features_mut().chunks_mut(FEATURES).enumerate() {
        document[0] = 3.0 * (row / 10) as f32;
        document[1] = labels[row];
    }
    let weights = vec![1.0, 1.0, 0.0, 0.0, 0.0];
    let device = device::open("auto").unwrap();
    let scorer = Scorer::Net(RankerConfig::linear(FEATURES).from_weights(&[weights], &device).unwrap());
    let metric = parse("ndcg").unwrap();
    let run = |permute| importances(&scorer, &data, &*metric, &Conventions::default(), permute, 4, 1, &|_| {}).unwrap();
    let (query, file) = (run(Permute::Query), run(Permute::File));
    assert_eq!((query[0].decrease, query[0].helps()), (0.0, false));
    assert!(file[0].decrease > 0.1 && file[0].helps(), "{file:?}");
    for both in [&query, &file] {
        assert!(both[1].decrease > 0.1 && both[1].helps() && both[2].decrease == 0.0, "{both:?}");
    }
    // A cost gets worse by increasing.
    let arp = parse("arp").unwrap();
    let costs = importances(&scorer, &data, &*arp, &Conventions::default(), Permute::Query, 4, 1, &|_| {}).unwrap();
    assert!(costs[1].decrease > 0.1, "{costs:?}");
}

#[test]
fn the_dependence_of_a_linear_net_is_linear() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let data = random_data(4, 30, &mut random);
    let device = device::open("auto").unwrap();
    let weights = vec![2.0, -1.0, 0.5, 0.0, 1.0];
    let scorer =
        Scorer::Net(RankerConfig::linear(FEATURES).from_weights(std::slice::from_ref(&weights), &device).unwrap());
    for kind in [ScaleKind::None, ScaleKind::MinMax, ScaleKind::QueryZScore] {
        let model = model(scorer.clone(), kind, &data);
        let scaled = model.scaled(data.clone()).unwrap();
        let grid = grids(if kind.is_per_query() { &scaled } else { &data });
        for (feature, weight) in weights.iter().enumerate() {
            let result = dependence(&model, &scaled, feature, &grid[feature]).unwrap().unwrap();
            assert_eq!(result.axis, if kind.is_per_query() { Axis::Scaled } else { Axis::Raw });
            let range = match kind {
                ScaleKind::MinMax => {
                    let column = data.features().iter().skip(feature).step_by(FEATURES);
                    f64::from(
                        column.clone().copied().fold(f32::MIN, f32::max) - column.copied().fold(f32::MAX, f32::min),
                    )
                }
                _ => 1.0,
            };
            for (values, scores) in result.values.windows(2).zip(result.scores.windows(2)) {
                let expected = f64::from(*weight) * (values[1] - values[0]) / range;
                assert!((scores[1] - scores[0] - expected).abs() < 1e-5, "{kind}: {scores:?}, {expected}");
            }
        }
    }
}

#[test]
fn changed_queries_are_reported_with_the_pair_responsible() {
    // In `a` the model ranks the relevant document first and the baseline ranks it last; in `b` vice versa; `c` is equal.
    let features = vec![3.0, 0.0, 1.0, 0.0, 1.0, 1.0, /* b */ 0.0, 1.0, 2.0, 0.0, /* c */ 1.0, 0.0, 0.0, 0.0];
    let labels = vec![2.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0];
    let queries = vec![("a".to_owned(), 3), ("b".to_owned(), 2), ("c".to_owned(), 2)];
    let data = Dataset::new(2, features, labels, queries).unwrap();
    let device = device::open("auto").unwrap();
    let scorer = Scorer::Net(RankerConfig::linear(2).from_weights(&[vec![1.0, 0.5]], &device).unwrap());
    let model = model(scorer, ScaleKind::None, &data);
    let scores = [0.0, 2.0, 1.0, 5.0, 1.0, 1.0, 0.0];
    let baseline = BaselineScores { name: "other", scores: &scores };
    let result = explain(&model, data, &*parse("ndcg").unwrap(), Some(baseline), &ExplainOptions::default(), &|_| {});
    let Explanation { changes: Changes { won, lost }, comparison, .. } = result.unwrap();
    assert_eq!((comparison.baseline.as_str(), comparison.wins, comparison.ties, comparison.losses), ("other", 1, 1, 1));
    assert_eq!((won.len(), lost.len(), won[0].query.as_str(), lost[0].query.as_str()), (1, 1, "a", "b"));
    let change = won[0].change.as_ref().unwrap();
    assert_eq!((change.better.document.as_str(), change.worse.document.as_str()), ("document 1", "document 2"));
    assert_eq!((change.better.baseline_rank, change.better.model_rank), (3, 1));
    assert!(change.swap < 0.0 && change.score_difference == 2.0);
    assert_eq!(
        (change.contributions.len(), change.contributions[0].feature, change.contributions[0].contribution),
        (1, 0, 2.0)
    );
    let change = lost[0].change.as_ref().unwrap();
    assert_eq!((change.better.model_rank, change.worse.model_rank, change.score_difference), (2, 1, -1.5));
    assert!(change.swap > 0.0);
    assert_eq!(
        (change.contributions[0].better, change.contributions[0].worse, change.contributions[0].contribution),
        (0.0, 2.0, -2.0)
    );
    assert_eq!((change.contributions[1].contribution, change.other_contributions), (0.5, 0.0));
}

#[test]
fn explains_every_kind_of_model() {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let data = random_data(8, 10, &mut random);
    let mut scorers = nets();
    scorers.extend(kernels(&mut random));
    scorers.push(Scorer::Trees(Forest::from_trees(FEATURES, vec![random_tree(9, &mut random)]).unwrap().into()));
    for scorer in scorers {
        for kind in [ScaleKind::ZScore, ScaleKind::QueryMinMax] {
            let model = model(scorer.clone(), kind, &data);
            let explanation =
                explain(&model, data.clone(), &*parse("map").unwrap(), None, &ExplainOptions::default(), &|_| {});
            let explanation = explanation.unwrap();
            assert_eq!(
                (explanation.importances.len(), explanation.model_importance.values.len(), explanation.queries),
                (FEATURES, FEATURES, 8)
            );
            assert!(explanation.importances.windows(2).all(|pair| pair[0].decrease >= pair[1].decrease));
            serde_json::to_string(&explanation).unwrap();
            let expected = model.evaluate(&data, &[parse("map").unwrap()]).unwrap()["map"];
            assert!((explanation.value.mean - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn invalid_input_is_rejected() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let data = random_data(2, 3, &mut random);
    let model = model(nets().remove(0), ScaleKind::None, &data);
    let metric = parse("ndcg").unwrap();
    let baseline = BaselineScores { name: "short", scores: &[1.0] };
    let options = ExplainOptions::default();
    let error = explain(&model, data.clone(), &*metric, Some(baseline), &options, &|_| {}).unwrap_err();
    assert!(error.to_string().contains("short: 1 scores for 6 documents"), "{error}");
    let empty = Dataset::new(FEATURES, vec![], vec![], vec![]).unwrap();
    assert!(explain(&model, empty, &*metric, None, &options, &|_| {}).is_err());
    let no_repeats = ExplainOptions { repeats: 0, ..options };
    assert!(explain(&model, data, &*metric, None, &no_repeats, &|_| {}).is_err());
}
