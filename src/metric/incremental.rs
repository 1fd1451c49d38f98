//! Repeated evaluation of one query while its scores change gradually.

use super::evaluate::Reevaluator;
use super::gain::{discounts, max_dcg};
use super::order::tie_breaker;
use super::{Conventions, Gain, Metric, MetricKind, Missing, Ties};
use crate::numeric::order::private::Key;

/// The parts of a query that do not depend on its scores. It must have passed [`evaluate`](fn@super::evaluate) and not
/// be empty.
pub(crate) struct LabelledQuery<'a> {
    labels: &'a [f32],
    /// Tie breaker of each document.
    breakers: Vec<u32>,
    /// Only for NDCG: the gain of each document, the ideal DCG and the rank cutoff.
    ndcg: Option<(Vec<f64>, f64, usize)>,
}

impl<'a> LabelledQuery<'a> {
    pub(crate) fn new(metric: &dyn Metric, labels: &'a [f32], conventions: &Conventions) -> Self {
        let ndcg = |k: Option<usize>, gain: Gain| {
            let depth = k.unwrap_or(usize::MAX).min(labels.len());
            (labels.iter().map(|&label| gain.of(label)).collect(), max_dcg(labels, k, gain), depth)
        };
        LabelledQuery {
            labels,
            breakers: labels
                .iter()
                .zip(0..)
                .map(|(&label, index)| tie_breaker(label, index, conventions.ties))
                .collect(),
            ndcg: match metric.kind() {
                MetricKind::Ndcg { k, gain } => Some(ndcg(k, gain)),
                _ => None,
            },
        }
    }

    pub(crate) fn documents(&self) -> usize {
        self.labels.len()
    }
}

/// Maintains the ranking of one query while its scores change: sorting a nearly sorted list takes one pass.
pub(crate) struct IncrementalEvaluator<'a> {
    metric: &'a dyn Metric,
    conventions: Conventions,
    /// Sort key and document of each rank.
    ranks: Vec<(u64, u32)>,
    ranked: Vec<f32>,
    full: Reevaluator,
}

impl<'a> IncrementalEvaluator<'a> {
    pub(crate) fn new(metric: &'a dyn Metric, conventions: Conventions) -> Self {
        IncrementalEvaluator { metric, conventions, ranks: Vec::new(), ranked: Vec::new(), full: Reevaluator::new() }
    }

    /// Starts with another query, ranked in the given order.
    pub(crate) fn start(&mut self, order: &[u32]) {
        self.ranks.clear();
        self.ranks.extend(order.iter().map(|&document| (0, document)));
    }

    /// Returns the most recent order.
    pub(crate) fn order(&self) -> impl Iterator<Item = u32> {
        self.ranks.iter().map(|rank| rank.1)
    }

    /// Returns the metric's value for new scores.
    pub(crate) fn value(&mut self, query: &LabelledQuery, scores: &[f32]) -> f64 {
        if self.conventions.ties == Ties::Average || self.conventions.missing == Missing::Absent {
            return self.full.value(self.metric, scores, query.labels, &self.conventions);
        }
        for (key, document) in &mut self.ranks {
            let document = *document as usize;
            *key = scores[document].pack(query.breakers[document]);
        }
        sort_nearly_sorted(&mut self.ranks);
        if let Some((gains, ideal, depth)) = &query.ndcg {
            // Add term by term in rank order, as the metric itself does.
            let discounts = discounts(*depth);
            let top = self.ranks[..*depth].iter().zip(discounts.iter());
            let dcg: f64 = top.map(|(rank, discount)| gains[rank.1 as usize] * discount).sum();
            return dcg / ideal;
        }
        self.ranked.clear();
        self.ranked.extend(self.ranks.iter().map(|rank| query.labels[rank.1 as usize]));
        self.metric.value(&self.ranked)
    }
}

/// Sorts a nearly sorted list by insertion, or from scratch after too many moves.
fn sort_nearly_sorted(ranks: &mut [(u64, u32)]) {
    let mut budget = 8 * ranks.len();
    for end in 1..ranks.len() {
        let new = ranks[end];
        if ranks[end - 1].0 <= new.0 {
            continue;
        }
        let mut place = end;
        while place > 0 && ranks[place - 1].0 > new.0 {
            ranks[place] = ranks[place - 1];
            place -= 1;
        }
        ranks[place] = new;
        budget = budget.saturating_sub(end - place);
        if budget == 0 {
            ranks.sort_unstable();
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{evaluate_query, parse};
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn incremental_values_equal_full_evaluations() {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        for (n, pace) in [(1, 0.1), (2, 0.5), (30, 0.05), (200, 0.01), (60, 5.0)] {
            let labels: Vec<f32> =
                (0..n).map(|i| if i == 0 { 3.0 } else { random.random_range(0..5u8).into() }).collect();
            // Rounded, to create ties.
            let mut scores: Vec<f32> = (0..n).map(|_| random.random_range(-1.0f32..1.0)).collect();
            for name in ["ndcg", "ndcg@10", "ndcg:linear@3", "map:rel=3", "mrr", "err", "arp", "pairs"] {
                for ties in [Ties::Pessimistic, Ties::Optimistic, Ties::Document, Ties::Average] {
                    if ties == Ties::Average && !["ndcg", "ndcg@10", "arp", "pairs"].contains(&name) {
                        continue;
                    }
                    let conventions = Conventions { ties, ..Conventions::default() };
                    let metric = parse(name).unwrap();
                    let query = LabelledQuery::new(&*metric, &labels, &conventions);
                    let mut evaluator = IncrementalEvaluator::new(&*metric, conventions);
                    evaluator.start(&(0..n as u32).collect::<Vec<_>>());
                    for _ in 0..5 {
                        let rounded: Vec<f32> = scores.iter().map(|s| (s * 20.0).round() / 20.0).collect();
                        let value = evaluator.value(&query, &rounded);
                        let expected = evaluate_query(&*metric, &rounded, &labels, &conventions).unwrap().unwrap();
                        assert_eq!(value, expected, "{name} {ties} {n}");
                        assert_eq!(evaluator.order().count(), n);
                        scores.iter_mut().for_each(|s| *s += pace * random.random_range(-1.0f32..1.0));
                    }
                }
            }
        }
    }
}
