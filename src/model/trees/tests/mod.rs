//! Compares forests with the scores of LightGBM and XGBoost and with plain traversal, and tests damaged text.

mod damage;
mod evaluate;
mod peers;
mod rewrite;

use super::tree::{Branch, Child, NegativeFractions, Rule, Tree, WhenMissing};
use super::{Forest, text};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A model with every kind of branch, in LightGBM's format.
pub(super) const SAMPLE: &str = include_str!("sample.txt");

const MISSING: [WhenMissing; 5] = [
    WhenMissing::NanIsZero,
    WhenMissing::NanLeft,
    WhenMissing::NanRight,
    WhenMissing::ZeroLeft,
    WhenMissing::ZeroRight,
];

/// Values at which errors are likely.
const EDGES: [f32; 16] = [
    0.0,
    -0.0,
    1e-45,
    -1e-40,
    1e-35,
    -1e-35,
    1.000_001e-35,
    -1.000_001e-35,
    0.5,
    -0.5,
    1.0,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn value(random: &mut impl Rng) -> f32 {
    match random.random_range(0..4) {
        0 => EDGES[random.random_range(0..EDGES.len())],
        1 => random.random_range(-5..40) as f32,
        2 => random.random_range(-40..40) as f32 / 8.0,
        _ => random.random_range(-2.0..2.0),
    }
}

fn rule(random: &mut impl Rng) -> Rule {
    if random.random_range(0..6) == 0 {
        let categories = (0..random.random_range(0..3)).map(|_| random.random()).collect();
        let fractions = [NegativeFractions::Zero, NegativeFractions::NoCategory][random.random_range(0..2)];
        return Rule::OneOf { categories, nan_left: random.random(), fractions };
    }
    let threshold = loop {
        let value = f64::from(value(random));
        if !value.is_nan() {
            break [value, value.next_up(), value.next_down()][random.random_range(0..3)];
        }
    };
    Rule::AtMost { threshold, missing: MISSING[random.random_range(0..MISSING.len())] }
}

/// A random tree, with branches and leaves numbered as LightGBM does.
fn tree(random: &mut impl Rng, leaves: usize, features: usize) -> Tree {
    let mut branches: Vec<Branch> = Vec::new();
    for new in 1..leaves {
        let split = Child::Leaf(random.random_range(0..new));
        for branch in &mut branches {
            for child in [&mut branch.left, &mut branch.right] {
                if *child == split {
                    *child = Child::Branch(new - 1);
                }
            }
        }
        let feature = random.random_range(0..features);
        branches.push(Branch { feature, rule: rule(random), left: split, right: Child::Leaf(new) });
    }
    Tree::new(branches, (0..leaves).map(|_| random.random_range(-1.0..1.0)).collect()).unwrap()
}

fn rows(random: &mut impl Rng, count: usize, features: usize) -> Vec<f32> {
    (0..count * features).map(|_| value(random)).collect()
}

fn scores(forest: &Forest, rows: &[f32]) -> Vec<f64> {
    let mut scores = vec![f64::NAN; rows.len() / forest.n_features()];
    forest.score_rows(rows, forest.n_features(), &mut scores).unwrap();
    scores
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|score| score.to_bits()).collect()
}

/// The error message for a text.
fn refusal(text: &str) -> String {
    text::parse("model.txt", text).unwrap_err().to_string()
}
