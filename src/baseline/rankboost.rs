//! RankBoost: boosting of thresholds on single features with weights over pairs of documents.
//!
//! Freund, Iyer, Schapire and Singer, "An efficient boosting algorithm for combining preferences", JMLR 4, 2003. Pairs are two
//! documents of a query with different labels, with equal initial weights. A weak ranker is h(x) = 1 if a feature is above a
//! threshold, else 0. Each round selects the one with the largest |r|, r = Σ D(a, b) (h(b) - h(a)) over pairs in which b is the
//! better, adds it with α = ½ ln((1 + r) / (1 - r)) (the paper's third method), and D becomes D exp(α (h(a) - h(b))).
//!
//! D is a product, e^H(a) e^-H(b) with the sum H of all weak rankers added, so r = Σ π(x) h(x) over documents, and the potentials
//! π need one pass over each query: the paper's bipartite feedback, extended to more than two labels. Defaults: 300 rounds, 10
//! thresholds per feature.

use super::thresholds::Thresholds;
use super::{Baseline, BaselineStart, Round, RoundEnd, Rounds};
use crate::data::Dataset;
use crate::data::scale::ScaleKind;
use crate::error::{Error, Result};
use crate::model::{Architecture, Branch, Child, Forest, Rule, Scorer, Tree, WhenMissing};
use crate::name::Parameter;
use crate::setting::{Kinds, ModelKind};
use crate::stop::Stop;
use crate::train::Learner;
use burn::tensor::Device;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

pub(super) const KIND: ModelKind = ModelKind {
    name: "rankboost",
    help: "RankBoost: boosting of thresholds on features",
    optimises: Some("an exponential loss over pairs, by boosting"),
    parameters: &[Parameter::number(
        "thresholds",
        10.0,
        0.0..=1e6,
        "number of evenly spaced thresholds per feature; 0 uses all values",
    )],
    epochs: 300,
    patience: 0,
    learning_rate: 1.0,
    scaling: ScaleKind::QueryMinMax,
    architecture: Architecture::Trees { trees: 300, leaves: 2 },
    kinds: Kinds::BASELINES,
    is_pointwise: false,
};

/// |r| is limited to 1 minus this, so that α is finite.
const MARGIN: f64 = 1e-6;
/// Minimum |r| of a useful weak ranker.
const MIN_R: f64 = 1e-12;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct RankBoost {
    /// One per round.
    added: Vec<WeakRanker>,
    /// Number of evenly spaced thresholds per feature; 0 for all values.
    thresholds: usize,
    /// Data that does not change between rounds; computed on first use.
    #[serde(skip)]
    prepared: Option<Arc<Prepared>>,
    /// H of each document over all rounds; `None` until computed.
    #[serde(skip)]
    sums: Option<Vec<f64>>,
}

/// α if a feature is above the threshold, else 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct WeakRanker {
    feature: usize,
    threshold: f32,
    alpha: f64,
}

#[derive(Debug)]
struct Prepared {
    thresholds: Thresholds,
    /// Rows of each query in ascending order of labels.
    by_label: Vec<u32>,
    pairs: f64,
}

pub(super) fn start(start: &BaselineStart<'_>) -> Result<Box<dyn Learner>> {
    let thresholds = start.number("thresholds") as usize;
    Rounds::start(start, RankBoost { added: Vec::new(), thresholds, prepared: None, sums: None })
}

impl Baseline for RankBoost {
    fn round(&mut self, round: &Round<'_>) -> Result<RoundEnd> {
        let data = round.train;
        let prepared = self.prepared(round)?;
        let mut sums = self.sums.take().map_or_else(|| sums_of(&self.added, data, round.stop), Ok)?;
        let (potentials, before) = potentials(data, &prepared.by_label, &sums);
        let best = best_ranker(&prepared.thresholds, &potentials, round)?;
        let end = match best {
            Some((weak, r)) => {
                let r = r.clamp(MARGIN - 1.0, 1.0 - MARGIN);
                let alpha = 0.5 * ((1.0 + r) / (1.0 - r)).ln();
                let weak = WeakRanker { alpha, ..weak };
                add(&weak, data, &mut sums);
                self.added.push(weak);
                // If every pair is right by the same margin, all weights stay equal, and so does the selection.
                let perfect = r.abs() >= 1.0 - MARGIN;
                RoundEnd { loss: total(data, &prepared.by_label, &sums) / prepared.pairs, converged: perfect }
            }
            None => RoundEnd { loss: before / prepared.pairs, converged: true },
        };
        self.sums = Some(sums);
        Ok(end)
    }

    fn scorer(&self, train: &Dataset, _: &Device) -> Result<Scorer> {
        let trees = merged(&self.added).iter().map(tree).collect::<Result<_>>()?;
        Forest::from_trees(train.n_features(), trees).map(|forest| Scorer::Trees(Arc::new(forest)))
    }
}

impl RankBoost {
    fn prepared(&mut self, round: &Round<'_>) -> Result<Arc<Prepared>> {
        if let Some(prepared) = &self.prepared {
            return Ok(prepared.clone());
        }
        let data = round.train;
        let (by_label, pairs) = by_label(data)?;
        let thresholds = Thresholds::new(data, self.thresholds, round.stop)?;
        Ok(self.prepared.insert(Arc::new(Prepared { thresholds, by_label, pairs })).clone())
    }
}

/// Merges weak rankers with the same feature and threshold, in the order of their first occurrence.
fn merged(added: &[WeakRanker]) -> Vec<WeakRanker> {
    let mut places: HashMap<(usize, u32), usize> = HashMap::new();
    let mut merged: Vec<WeakRanker> = Vec::new();
    for weak in added {
        match places.entry((weak.feature, weak.threshold.to_bits())) {
            Entry::Occupied(place) => merged[*place.get()].alpha += weak.alpha,
            Entry::Vacant(place) => {
                place.insert(merged.len());
                merged.push(*weak);
            }
        }
    }
    merged
}

fn tree(weak: &WeakRanker) -> Result<Tree> {
    let rule = Rule::AtMost { threshold: weak.threshold.into(), missing: WhenMissing::NanIsZero };
    let branch = Branch { feature: weak.feature, rule, left: Child::Leaf(0), right: Child::Leaf(1) };
    Tree::new(vec![branch], vec![0.0, weak.alpha])
}

/// Rows of each query in ascending order of labels, and the number of pairs.
fn by_label(data: &Dataset) -> Result<(Vec<u32>, f64)> {
    let labels = data.labels();
    let mut rows: Vec<u32> = (0..data.n_documents() as u32).collect();
    let mut pairs = 0.0;
    for query in data.queries() {
        let query_rows = &mut rows[query.rows.clone()];
        query_rows.sort_by(|&a, &b| labels[a as usize].total_cmp(&labels[b as usize]));
        let same = |a: &u32, b: &u32| labels[*a as usize] == labels[*b as usize];
        let mut lower = 0.0;
        for level in query_rows.chunk_by(same) {
            pairs += lower * level.len() as f64;
            lower += level.len() as f64;
        }
    }
    if pairs == 0.0 {
        return Err(Error::Data("rankboost: no training query has documents with different labels".into()));
    }
    Ok((rows, pairs))
}

/// Normalised potential of each document, and the sum of the weights of all pairs.
fn potentials(data: &Dataset, by_label: &[u32], sums: &[f64]) -> (Vec<f64>, f64) {
    let queries: Vec<(Vec<f64>, f64)> = data
        .offsets()
        .par_windows(2)
        .map(|rows| potentials_of_query(data.labels(), &by_label[rows[0]..rows[1]], rows[0], sums))
        .collect();
    let total: f64 = queries.iter().map(|(_, total)| total).sum();
    let potentials = queries.into_iter().flat_map(|(values, _)| values).map(|potential| potential / total).collect();
    (potentials, total)
}

/// π(x) = e^-H(x) Σ e^H(a) over all a with lower labels, minus e^H(x) Σ e^-H(b) over all b with higher ones.
fn potentials_of_query(labels: &[f32], by_label: &[u32], first: usize, sums: &[f64]) -> (Vec<f64>, f64) {
    let mut potentials = vec![0.0; by_label.len()];
    let query_sums = &sums[first..first + by_label.len()];
    let (min, max) = query_sums.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
    // Only differences matter: centring delays overflow.
    let middle = (min + max) / 2.0;
    let weight = |row: u32, sign: f64| (sign * (sums[row as usize] - middle)).exp();
    let same = |a: &u32, b: &u32| labels[*a as usize] == labels[*b as usize];
    let (mut lower, mut total) = (0.0, 0.0);
    for level in by_label.chunk_by(same) {
        for &row in level {
            let sum = weight(row, -1.0) * lower;
            potentials[row as usize - first] += sum;
            total += sum;
        }
        lower += level.iter().map(|&row| weight(row, 1.0)).sum::<f64>();
    }
    let mut higher = 0.0;
    for level in by_label.chunk_by(same).rev() {
        for &row in level {
            potentials[row as usize - first] -= weight(row, 1.0) * higher;
        }
        higher += level.iter().map(|&row| weight(row, -1.0)).sum::<f64>();
    }
    (potentials, total)
}

/// The sum of e^(H(a) - H(b)) over all pairs: the exponential loss.
fn total(data: &Dataset, by_label: &[u32], sums: &[f64]) -> f64 {
    potentials(data, by_label, sums).1
}

/// The weak ranker with the largest |r|, and r; ties go to the first. `None` if none is useful.
fn best_ranker(thresholds: &Thresholds, potentials: &[f64], round: &Round<'_>) -> Result<Option<(WeakRanker, f64)>> {
    let candidates: Vec<Option<(f32, f64)>> = (0..thresholds.n_features())
        .into_par_iter()
        .map(|feature| {
            round.stop.check()?;
            Ok(largest(thresholds.sums_above(feature, potentials)))
        })
        .collect::<Result<_>>()?;
    let mut best: Option<(WeakRanker, f64)> = None;
    for (feature, candidate) in candidates.into_iter().enumerate() {
        if let Some((threshold, r)) = candidate
            && r.abs() > best.map_or(MIN_R, |(_, best)| best.abs())
        {
            best = Some((WeakRanker { feature, threshold, alpha: 0.0 }, r));
        }
    }
    Ok(best)
}

/// The threshold with the sum of largest absolute value, and that sum.
fn largest(sums: impl Iterator<Item = (f32, f64)>) -> Option<(f32, f64)> {
    let mut best: Option<(f32, f64)> = None;
    for (threshold, sum) in sums {
        if sum.is_finite() && best.is_none_or(|(_, largest)| sum.abs() > largest.abs()) {
            best = Some((threshold, sum));
        }
    }
    best
}

fn sums_of(added: &[WeakRanker], data: &Dataset, stop: &Stop) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; data.n_documents()];
    for weak in added {
        stop.check()?;
        add(weak, data, &mut sums);
    }
    Ok(sums)
}

fn add(weak: &WeakRanker, data: &Dataset, sums: &mut [f64]) {
    for (sum, row) in sums.iter_mut().zip(data.features().chunks_exact(data.n_features())) {
        if row[weak.feature] > weak.threshold {
            *sum += weak.alpha;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn system(thresholds: usize) -> RankBoost {
        RankBoost { added: Vec::new(), thresholds, prepared: None, sums: None }
    }

    fn run(system: &mut RankBoost, data: &Dataset) -> Result<RoundEnd> {
        let metric = metric::parse("map").unwrap();
        system.round(&Round { train: data, metric: &*metric, number: 1, seed: 1, stop: &Stop::new() })
    }

    #[test]
    fn two_rounds_by_hand() {
        // Three pairs: (1 over 0), (3 over 2) and (5 over 4) by rows. The feature is above 0 for the better document of the first
        // two pairs and for the worse one of the third, so r = 1/3 and α = ½ ln 2.
        let data = Dataset::new(1, vec![0.0, 1.0, 0.0, 1.0, 1.0, 0.0], vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0], {
            ["a", "b", "c"].map(|id| (id.to_owned(), 2)).to_vec()
        })
        .unwrap();
        let mut system = system(10);
        let end = run(&mut system, &data).unwrap();
        let alpha = 0.5 * 2f64.ln();
        let weak = system.added[0];
        assert_eq!((weak.feature, system.added.len(), end.converged), (0, 1, false));
        assert!((weak.alpha - alpha).abs() < 1e-12 && (0.0..1.0).contains(&weak.threshold));
        // Two pairs have e^-α = √½, one has e^α = √2: 2√½ = √2, so r is 0 and no weak ranker is useful.
        assert!((end.loss - 2.0 * 2f64.sqrt() / 3.0).abs() < 1e-12);
        let end = run(&mut system, &data).unwrap();
        assert!(end.converged && system.added.len() == 1);
    }

    fn noisy(seed: u64) -> Dataset {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let sizes = [6, 1, 9, 4, 7];
        let documents: usize = sizes.iter().sum();
        let labels: Vec<f32> = (0..documents).map(|_| random.random_range(0..4u8).into()).collect();
        let noisy = |label: f32, random: &mut ChaCha8Rng| (label * 0.5 + random.random_range(-2.0f32..2.0)).round();
        let features = labels.iter().flat_map(|&label| [(); 3].map(|()| noisy(label, &mut random))).collect();
        let queries = sizes.iter().enumerate().map(|(query, &size)| (query.to_string(), size)).collect();
        Dataset::new(3, features, labels, queries).unwrap()
    }

    /// All pairs (worse, better) within queries.
    fn pairs(data: &Dataset) -> Vec<(usize, usize)> {
        let rows = data.queries().flat_map(|query| {
            let rows = query.rows;
            rows.clone().flat_map(move |a| rows.clone().map(move |b| (a, b)))
        });
        rows.filter(|&(a, b)| data.labels()[a] < data.labels()[b]).collect()
    }

    #[test]
    fn each_round_selects_the_largest_sum_over_pairs() {
        for (seed, count) in [(1, 0), (2, 5), (3, 0)] {
            let data = noisy(seed);
            let pairs = pairs(&data);
            let mut weights = vec![1.0 / pairs.len() as f64; pairs.len()];
            let mut system = system(count);
            let value = |row: usize, feature: usize| data.features()[row * 3 + feature];
            for _ in 0..12 {
                run(&mut system, &data).unwrap();
                let above = |row, feature, threshold| f64::from(u8::from(value(row, feature) > threshold));
                let r = |feature: usize, threshold: f32| -> f64 {
                    let terms = pairs.iter().zip(&weights);
                    terms.map(|(&(a, b), d)| d * (above(b, feature, threshold) - above(a, feature, threshold))).sum()
                };
                let weak = *system.added.last().unwrap();
                let chosen = r(weak.feature, weak.threshold);
                assert!((weak.alpha - 0.5 * ((1.0 + chosen) / (1.0 - chosen)).ln()).abs() < 1e-9);
                let prepared = system.prepared.clone().unwrap();
                for feature in 0..3 {
                    for (threshold, _) in prepared.thresholds.sums_above(feature, &vec![0.0; data.n_documents()]) {
                        assert!(r(feature, threshold).abs() <= chosen.abs() + 1e-9, "a better weak ranker exists");
                    }
                }
                for (d, &(a, b)) in weights.iter_mut().zip(&pairs) {
                    let change = above(a, weak.feature, weak.threshold) - above(b, weak.feature, weak.threshold);
                    *d *= (weak.alpha * change).exp();
                }
                let sum: f64 = weights.iter().sum();
                weights.iter_mut().for_each(|d| *d /= sum);
            }
            // A resumed run has bit-identical sums, and the saved model has the same scores.
            let sums = system.sums.clone().unwrap();
            assert_eq!(sums_of(&system.added, &data, &Stop::new()).unwrap(), sums);
            let saved = system.scorer(&data, &crate::device::open("auto").unwrap()).unwrap();
            let scores = saved.score_rows(data.features(), 3).unwrap();
            assert!(scores.iter().zip(&sums).all(|(&score, sum)| (f64::from(score) - sum).abs() < 1e-5));
        }
    }

    #[test]
    fn the_loss_never_increases_and_a_perfect_feature_ends_training() {
        let (data, mut boosted, mut before) = (noisy(4), system(0), 1.0);
        for _ in 0..50 {
            let end = run(&mut boosted, &data).unwrap();
            assert!(end.loss <= before + 1e-12 && end.loss.is_finite(), "{} after {before}", end.loss);
            before = end.loss;
        }
        let data = Dataset::new(1, vec![3.0, 1.0, 2.0], vec![1.0, 0.0, 0.0], vec![("a".into(), 3)]).unwrap();
        let mut perfect = system(0);
        assert!(run(&mut perfect, &data).unwrap().converged);
        assert_eq!((perfect.added.len(), perfect.added[0].threshold), (1, 2.0));
        let same = Dataset::new(1, vec![3.0, 1.0], vec![1.0, 1.0], vec![("a".into(), 2)]).unwrap();
        let error = run(&mut system(0), &same).unwrap_err().to_string();
        assert!(error.contains("documents with different labels"), "{error}");
    }
}
