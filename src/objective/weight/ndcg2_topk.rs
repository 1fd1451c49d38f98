//! NDCG-Loss2 for NDCG@k.

use super::super::pairwise::LogBase;
use super::super::registry::{Make, ObjectiveEntry};
use super::ndcg2::Ndcg2;
use super::{PairForm, PairWeight, RankedList, ValueRule, Values};
use crate::metric::{Gain, discount};
use std::sync::Arc;

pub(in super::super) const ROW: ObjectiveEntry = ObjectiveEntry {
    name: "ndcg-loss2-topk",
    parameters: &[],
    help: "ndcg-loss2 for NDCG@k: all pairs, with larger weights if a document is below rank k",
    make: Make::AllPairs(LogBase::Bits, |name| Arc::new(Ndcg2TopK { k: name.cutoff() })),
};

/// `c delta_ij |G_i - G_j|` for `y_i > y_j`, where `c = 1 / (1 - 1/D_m)` if the lower rank `m = max(i, j)` is below
/// rank `k`, else 1. `delta_ij` is that of NDCG-Loss2, and the ideal DCG of `G` is that at `k`.
///
/// From *On Optimizing Top-K Metrics for Neural Ranking Models* (Jagerman et al., SIGIR 2022); TF-Ranking calls it
/// `DCGLambdaWeightV2`. The cost of NDCG@k is `sum of G_i (1 - [i <= k] / D_i)`, and `sum of delta_ij` over all `j`
/// above `i` is `1 - 1/D_i`. So the cost is `sum of c delta_ij G_i` over all pairs with `j` above `i`. As in Eq. 16 of
/// the LambdaLoss paper, this is the sum of the weights of all pairs in the wrong order, and of terms that do not
/// depend on the order of the two documents of a pair. Truncation (Eq. 18) has no such identity: it leaves out pairs
/// below rank `k`, although the cost counts both documents in full.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Ndcg2TopK {
    pub k: Option<usize>,
}

impl Ndcg2TopK {
    /// `c` for the lower document of a pair, at this position (from 0).
    fn factor(self, lower: usize) -> f64 {
        if self.k.is_some_and(|k| lower >= k) { (1.0 - discount(lower)).recip() } else { 1.0 }
    }
}

impl PairWeight for Ndcg2TopK {
    fn exact(&self, ranked: &[f32], i: usize, j: usize) -> f64 {
        self.factor(i.max(j)) * Ndcg2 { rho: 0.0, delta: 1.0, k: self.k }.exact(ranked, i, j)
    }

    fn form(&self) -> Option<PairForm> {
        Some(PairForm::Lower)
    }

    fn rule(&self) -> Option<ValueRule> {
        Some(ValueRule::Apart)
    }

    fn values(&self, list: RankedList<'_>, values: &mut Values) {
        values.set_gains(list, Gain::Exponential, self.k);
        values.second.extend((0..list.len()).map(|place| self.factor(place)));
    }

    fn largest_label(&self) -> f32 {
        1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{Metric, Ndcg};
    use crate::numeric::order::training_order;
    use crate::objective::{Batch, Objective, Outputs};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Loss and gradient of one query.
    fn run(name: &str, scores: &[f32], labels: &[f32]) -> (f64, Vec<f32>) {
        let mut gradient = vec![0.0; scores.len()];
        let batch = Batch { labels, offsets: &[0, scores.len()] };
        let outputs = Outputs { loss: true, pairs: false };
        let objective = Objective::parse(name).unwrap();
        (objective.lambda_gradient(scores, batch, &mut gradient, outputs, &[]).unwrap().loss, gradient)
    }

    /// `sum of G_i (1 - [i <= k] / D_i)`: the sum of all gains minus NDCG@k.
    fn cost(ranked: &[f32], k: usize) -> f64 {
        let gains: f64 = ranked.iter().map(|&label| Gain::Exponential.of(label)).sum();
        let ndcg = Ndcg { k: Some(k), gain: Gain::Exponential };
        gains / crate::metric::max_dcg(ranked, Some(k), Gain::Exponential) - ndcg.value(ranked)
    }

    /// Sums over pairs with `j` above `i`: the weights of pairs in the wrong order, and `c delta_ij min(G_i, G_j)`, which
    /// is the same if the two documents swap.
    fn parts(ranked: &[f32], k: usize) -> [f64; 2] {
        let weight = Ndcg2TopK { k: Some(k) };
        let mut sums = [0.0; 2];
        for i in 0..ranked.len() {
            for j in 0..i {
                if ranked[i] > ranked[j] {
                    sums[0] += weight.exact(ranked, i, j);
                }
                let delta = discount(i - j - 1) - discount(i - j);
                let gain = Gain::Exponential.of(ranked[i].min(ranked[j]));
                sums[1] += weight.factor(i) * delta * gain / crate::metric::max_dcg(ranked, Some(k), Gain::Exponential);
            }
        }
        sums
    }

    #[test]
    fn the_loss_bounds_the_cost_of_ndcg_at_k() {
        let mut random = ChaCha8Rng::seed_from_u64(60);
        for round in 0..2_000 {
            let n = random.random_range(2..25);
            let k = random.random_range(1..12);
            let spread = [1e-3, 1.0, 30.0][round % 3];
            let scores: Vec<f32> = (0..n).map(|_| spread * random.random::<f32>()).collect();
            let mut labels: Vec<f32> = (0..n).map(|_| random.random_range(0..5u8).into()).collect();
            labels[0] = labels[0].max(1.0);
            let ranked: Vec<f32> = training_order(&scores).iter().map(|&document| labels[document]).collect();
            let (cost, [misordered, unavoidable]) = (cost(&ranked, k), parts(&ranked, k));
            assert!(
                (misordered + unavoidable - cost).abs() < 1e-9 * cost.max(1.0),
                "{ranked:?} at {k}: {misordered} + {unavoidable} is not {cost}"
            );
            let (loss, _) = run(&format!("ndcg-loss2-topk@{k}"), &scores, &labels);
            assert!(loss >= misordered * (1.0 - 1e-6), "{ranked:?} at {k}: {loss} is below {misordered}");
        }
    }

    #[test]
    fn a_relevant_document_below_k_costs_its_whole_gain() {
        // The terms that are the same in both orders are 0 with one relevant document, and differences of scores of
        // almost 0 make the loss of a pair almost its weight.
        let (scores, labels) = ([3e-6, 2e-6, 1e-6, 0.0], [0.0, 0.0, 0.0, 1.0]);
        assert!((cost(&labels, 1) - 1.0).abs() < 1e-12);
        assert!((run("ndcg-loss2-topk@1", &scores, &labels).0 - 1.0).abs() < 1e-5);
        // Truncation keeps only the pair with the top document: 1/log2(4) - 1/log2(5).
        assert!((run("ndcg-loss2@1", &scores, &labels).0 - (0.5 - 5f64.log2().recip())).abs() < 1e-5);
    }

    #[test]
    fn all_ranks_give_the_weight_of_ndcg_loss2() {
        let mut random = ChaCha8Rng::seed_from_u64(61);
        for n in [2, 5, 40] {
            let scores: Vec<f32> = (0..n).map(|_| random.random()).collect();
            let labels: Vec<f32> = (0..n).map(|_| random.random_range(0..5u8).into()).collect();
            let expected = run("ndcg-loss2", &scores, &labels);
            for name in [format!("ndcg-loss2-topk@{n}"), "ndcg-loss2-topk@1000".into(), "ndcg-loss2-topk".into()] {
                assert_eq!(run(&name, &scores, &labels), expected, "{name} of {n}");
            }
            assert_ne!(run("ndcg-loss2-topk@1", &scores, &labels), expected);
        }
    }
}
