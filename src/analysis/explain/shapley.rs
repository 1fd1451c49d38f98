//! Path-dependent Shapley values of decision trees, computed leaf by leaf.
//!
//! If only the features in S are known, a tree's value is v(S) = sum over leaves of value x product over the features j on the
//! leaf's path of (o_j if j is in S, else z_j), where o_j is 1 if the document satisfies all conditions on j on the path, else 0, and
//! z_j is the product over these conditions of the fraction of training documents that satisfy them. The Shapley value of feature i
//! of d is
//!
//! phi_i = sum over S without i of |S|! (d - |S| - 1)! / d! (v(S and i) - v(S)).
//!
//! Since k! (d - k - 1)! / d! is the integral of u^k (1 - u)^(d-1-k) over [0, 1], the sum over all S is the integral of a polynomial
//! in u: a leaf contributes value x (o_i - z_i) x integral of the product over j other than i of (o_j u + z_j (1 - u)).
//! Gauss-Legendre quadrature is exact for it and has only positive terms.

use super::quadrature::gauss_legendre;
use crate::model::{Child, Tree};

/// The paths to all leaves of a tree.
#[derive(Debug)]
pub(super) struct Paths {
    leaves: Vec<Path>,
    /// Value of a document with no known features.
    pub expected: f64,
}

/// The path to one leaf.
#[derive(Debug)]
struct Path {
    value: f64,
    /// The distinct features on the path, and the fraction of documents that satisfy the conditions on each.
    features: Vec<(usize, f64)>,
    /// The conditions on the path: branch, whether the path goes left, and index of the feature in `features`.
    steps: Vec<(usize, bool, usize)>,
}

/// Working memory, reused for every document.
#[derive(Debug, Default)]
pub(super) struct Work {
    left: Vec<bool>,
    passes: Vec<bool>,
    sums: Vec<f64>,
}

/// Quadrature rules up to the size needed for the longest path.
#[derive(Debug)]
pub(super) struct Rules(Vec<Vec<(f64, f64)>>);

impl Rules {
    pub fn of(trees: &[Paths]) -> Self {
        let longest = trees.iter().map(Paths::longest).max().unwrap_or(0);
        Rules((0..=longest.div_ceil(2)).map(|points| gauss_legendre(points.max(1))).collect())
    }
}

impl Paths {
    /// Returns the memory for the paths of trees over this number of features, and for their quadrature rules, in bytes.
    pub fn bytes(trees: &[Tree], features: usize) -> u64 {
        let step = size_of::<(usize, bool, usize)>() as u64;
        let (mut bytes, mut longest) = (0_u64, 0);
        for tree in trees {
            let mut pending = if tree.branches().is_empty() { vec![] } else { vec![(Child::Branch(0), 0_u64)] };
            while let Some((child, depth)) = pending.pop() {
                match child {
                    // The capacity of a growing list can be twice its length.
                    Child::Leaf(_) => {
                        let distinct = depth.min(features as u64);
                        longest = longest.max(distinct);
                        bytes = bytes.saturating_add(step * depth + 2 * 16 * distinct + size_of::<Path>() as u64);
                    }
                    Child::Branch(index) => {
                        let branch = &tree.branches()[index];
                        pending.extend([branch.left, branch.right].map(|child| (child, depth + 1)));
                    }
                }
            }
        }
        // The largest rule has a point and a weight for every second feature of the longest path; all smaller rules are stored too.
        bytes.saturating_add(2 * longest.saturating_mul(longest))
    }

    /// Builds the paths of a tree from the number of documents at each of its leaves.
    pub fn of(tree: &Tree, counts: &[f64]) -> Self {
        let shares = shares(tree, counts);
        let root = if tree.branches().is_empty() { Child::Leaf(0) } else { Child::Branch(0) };
        let (mut pending, mut path) = (vec![(root, 0, None)], Vec::<(usize, bool)>::new());
        let mut leaves = Vec::with_capacity(tree.leaves().len());
        while let Some((child, depth, step)) = pending.pop() {
            path.truncate(depth);
            path.extend(step);
            match child {
                Child::Leaf(leaf) => leaves.push(Path::of(tree, tree.leaves()[leaf], &path, &shares)),
                Child::Branch(index) => {
                    let branch = &tree.branches()[index];
                    for (child, left) in [(branch.right, false), (branch.left, true)] {
                        pending.push((child, path.len(), Some((index, left))));
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

    /// Adds the Shapley values of a document, multiplied by `factor`, to `values`.
    pub fn add(&self, tree: &Tree, document: &[f32], factor: f64, rules: &Rules, work: &mut Work, values: &mut [f64]) {
        work.left.clear();
        work.left.extend(tree.branches().iter().map(|branch| branch.rule.goes_left(document[branch.feature])));
        for path in &self.leaves {
            path.add(factor, rules, work, values);
        }
    }
}

impl Path {
    fn of(tree: &Tree, value: f64, path: &[(usize, bool)], shares: &[f64]) -> Self {
        let (mut features, mut steps) = (Vec::<(usize, f64)>::new(), Vec::with_capacity(path.len()));
        for &(branch, left) in path {
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

    fn add(&self, factor: f64, rules: &Rules, Work { left, passes, sums }: &mut Work, values: &mut [f64]) {
        let all = self.features.len();
        passes.clear();
        passes.resize(all, true);
        self.steps.iter().for_each(|&(branch, to_left, place)| passes[place] &= left[branch] == to_left);
        let passed = passes.iter().filter(|passes| **passes).count();
        // Conditions that fail contribute only their shares, as a common factor.
        let failed = self.features.iter().zip(&*passes).filter(|(_, passes)| !**passes);
        let outside: f64 = failed.map(|((_, share), _)| share).product();
        let scale = factor * self.value * outside;
        if scale == 0.0 || all == 0 {
            return;
        }
        sums.clear();
        sums.resize(all, 0.0);
        let mut failed_sum = 0.0;
        // A polynomial of degree all - 1.
        for &(u, weight) in &rules.0[all.div_ceil(2)] {
            let rest = (1.0 - u).powi((all - passed) as i32);
            let factor_at = |share: f64| u + share * (1.0 - u);
            let on = || self.features.iter().zip(&*passes).filter(|(_, passes)| **passes);
            let product: f64 = on().map(|((_, share), _)| factor_at(*share)).product::<f64>() * rest * weight;
            failed_sum += product / (1.0 - u);
            for ((sum, (_, share)), _) in
                sums.iter_mut().zip(&self.features).zip(&*passes).filter(|(_, passes)| **passes)
            {
                *sum += product / factor_at(*share);
            }
        }
        for (((feature, share), passes), sum) in self.features.iter().zip(&*passes).zip(&*sums) {
            values[*feature] += if *passes { scale * (1.0 - share) * sum } else { -scale * failed_sum };
        }
    }
}

/// The fraction of each branch's documents that go left; 0 if no document reaches it.
fn shares(tree: &Tree, counts: &[f64]) -> Vec<f64> {
    let mut order = Vec::with_capacity(tree.branches().len());
    let mut pending = if tree.branches().is_empty() { vec![] } else { vec![0] };
    while let Some(index) = pending.pop() {
        order.push(index);
        for child in [tree.branches()[index].left, tree.branches()[index].right] {
            if let Child::Branch(index) = child {
                pending.push(index);
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
