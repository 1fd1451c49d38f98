//! Shapley values of decision trees, path-dependent, leaf by leaf.
//!
//! When only the features in S are known, a tree's value is v(S) = sum over leaves of value x product over the leaf's features
//! j of (o_j if j is in S, else z_j): o_j is 1 when the document passes all questions about j on the way to the leaf, else 0, and
//! z_j is the share of training documents that do, question by question. The Shapley value of feature i of d is
//!
//! phi_i = sum over S without i of |S|! (d - |S| - 1)! / d! (v(S and i) - v(S)),
//!
//! and since k! (d - k - 1)! / d! is the integral of u^k (1 - u)^(d-1-k) over [0, 1], the sum over all S is the integral of a
//! product, which is a polynomial in u: a leaf adds value x (o_i - z_i) x integral of the product over j other than i of
//! (o_j u + z_j (1 - u)). Gauss-Legendre quadrature gives it exactly, with positive terms only.

use super::quadrature::gauss_legendre;
use crate::model::{Child, Tree};

/// The ways to all leaves of a tree.
#[derive(Debug)]
pub(super) struct Paths {
    leaves: Vec<Path>,
    /// The value of a document of which no feature is known.
    pub expected: f64,
}

/// The way to one leaf.
#[derive(Debug)]
struct Path {
    value: f64,
    /// The different features on the way, and the share of documents that pass the questions about each.
    features: Vec<(usize, f64)>,
    /// Each question on the way: the branch, whether the way goes to the left, and the place of its feature in `features`.
    steps: Vec<(usize, bool, usize)>,
}

/// Room for computations, used again for every document.
#[derive(Debug, Default)]
pub(super) struct Room {
    left: Vec<bool>,
    passes: Vec<bool>,
    sums: Vec<f64>,
}

/// The rules of all orders up to that of the longest way.
#[derive(Debug)]
pub(super) struct Rules(Vec<Vec<(f64, f64)>>);

impl Rules {
    pub fn of(trees: &[Paths]) -> Self {
        let longest = trees.iter().map(Paths::longest).max().unwrap_or(0);
        Rules((0..=longest.div_ceil(2)).map(|points| gauss_legendre(points.max(1))).collect())
    }
}

impl Paths {
    /// The bytes that the paths of trees over this number of features take, and the rules for them.
    pub fn bytes(trees: &[Tree], features: usize) -> u64 {
        let step = size_of::<(usize, bool, usize)>() as u64;
        let (mut bytes, mut longest) = (0_u64, 0);
        for tree in trees {
            let mut ahead = if tree.branches().is_empty() { vec![] } else { vec![(Child::Branch(0), 0_u64)] };
            while let Some((child, depth)) = ahead.pop() {
                match child {
                    // A list that grows has room to spare.
                    Child::Leaf(_) => {
                        let different = depth.min(features as u64);
                        longest = longest.max(different);
                        bytes = bytes.saturating_add(step * depth + 2 * 16 * different + size_of::<Path>() as u64);
                    }
                    Child::Branch(index) => {
                        let branch = &tree.branches()[index];
                        ahead.extend([branch.left, branch.right].map(|child| (child, depth + 1)));
                    }
                }
            }
        }
        // Half of the longest way is the largest rule, of a point and a weight for each of its places.
        bytes.saturating_add(2 * longest.saturating_mul(longest))
    }

    /// Of a tree and the number of documents at each of its leaves.
    pub fn of(tree: &Tree, counts: &[f64]) -> Self {
        let shares = shares(tree, counts);
        let root = if tree.branches().is_empty() { Child::Leaf(0) } else { Child::Branch(0) };
        let (mut ahead, mut way) = (vec![(root, 0, None)], Vec::<(usize, bool)>::new());
        let mut leaves = Vec::with_capacity(tree.leaves().len());
        while let Some((child, depth, step)) = ahead.pop() {
            way.truncate(depth);
            way.extend(step);
            match child {
                Child::Leaf(leaf) => leaves.push(Path::of(tree, tree.leaves()[leaf], &way, &shares)),
                Child::Branch(index) => {
                    let branch = &tree.branches()[index];
                    for (child, left) in [(branch.right, false), (branch.left, true)] {
                        ahead.push((child, way.len(), Some((index, left))));
                    }
                }
            }
        }
        let expected = |path: &Path| path.value * path.features.iter().map(|(_, share)| share).product::<f64>();
        Paths { expected: leaves.iter().map(expected).sum(), leaves }
    }

    fn longest(&self) -> usize {
        self.leaves.iter().map(|path| path.features.len()).max().unwrap_or(0)
    }

    /// Adds the Shapley values of a document, times a factor.
    pub fn add(&self, tree: &Tree, document: &[f32], factor: f64, rules: &Rules, room: &mut Room, values: &mut [f64]) {
        room.left.clear();
        room.left.extend(tree.branches().iter().map(|branch| branch.rule.goes_left(document[branch.feature])));
        for path in &self.leaves {
            path.add(factor, rules, room, values);
        }
    }
}

impl Path {
    fn of(tree: &Tree, value: f64, way: &[(usize, bool)], shares: &[f64]) -> Self {
        let (mut features, mut steps) = (Vec::<(usize, f64)>::new(), Vec::with_capacity(way.len()));
        for &(branch, left) in way {
            let feature = tree.branches()[branch].feature;
            let share = if left { shares[branch] } else { 1.0 - shares[branch] };
            let place = features.iter().position(|(other, _)| *other == feature).unwrap_or_else(|| {
                features.push((feature, 1.0));
                features.len() - 1
            });
            features[place].1 *= share;
            steps.push((branch, left, place));
        }
        Path { value, features, steps }
    }

    fn add(&self, factor: f64, rules: &Rules, Room { left, passes, sums }: &mut Room, values: &mut [f64]) {
        let all = self.features.len();
        passes.clear();
        passes.resize(all, true);
        self.steps.iter().for_each(|&(branch, to_left, place)| passes[place] &= left[branch] == to_left);
        let passed = passes.iter().filter(|passes| **passes).count();
        // Of what is not passed, only the shares count, and they are factors of everything.
        let failed = self.features.iter().zip(&*passes).filter(|(_, passes)| !**passes);
        let outside: f64 = failed.map(|((_, share), _)| share).product();
        let scale = factor * self.value * outside;
        if scale == 0.0 || all == 0 {
            return;
        }
        sums.clear();
        sums.resize(all, 0.0);
        let mut unknown = 0.0;
        // A polynomial of degree all - 1.
        for &(u, weight) in &rules.0[all.div_ceil(2)] {
            let rest = (1.0 - u).powi((all - passed) as i32);
            let known = |share: f64| u + share * (1.0 - u);
            let on = || self.features.iter().zip(&*passes).filter(|(_, passes)| **passes);
            let product: f64 = on().map(|((_, share), _)| known(*share)).product::<f64>() * rest * weight;
            unknown += product / (1.0 - u);
            for ((sum, (_, share)), _) in
                sums.iter_mut().zip(&self.features).zip(&*passes).filter(|(_, passes)| **passes)
            {
                *sum += product / known(*share);
            }
        }
        for (((feature, share), passes), sum) in self.features.iter().zip(&*passes).zip(&*sums) {
            values[*feature] += if *passes { scale * (1.0 - share) * sum } else { -scale * unknown };
        }
    }
}

/// The share of each branch's documents that go to the left; 0 where no document comes.
fn shares(tree: &Tree, counts: &[f64]) -> Vec<f64> {
    let mut order = Vec::with_capacity(tree.branches().len());
    let mut ahead = if tree.branches().is_empty() { vec![] } else { vec![0] };
    while let Some(index) = ahead.pop() {
        order.push(index);
        for child in [tree.branches()[index].left, tree.branches()[index].right] {
            if let Child::Branch(index) = child {
                ahead.push(index);
            }
        }
    }
    let (mut totals, mut shares) = (vec![0.0; order.len()], vec![0.0; order.len()]);
    // Children before their parents.
    for &index in order.iter().rev() {
        let count = |child: Child| match child {
            Child::Leaf(leaf) => counts[leaf],
            Child::Branch(index) => totals[index],
        };
        let (left, right) = (count(tree.branches()[index].left), count(tree.branches()[index].right));
        totals[index] = left + right;
        shares[index] = if left + right > 0.0 { left / (left + right) } else { 0.0 };
    }
    shares
}
