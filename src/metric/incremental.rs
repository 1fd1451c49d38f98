//! Judging a query again and again while its scores change little by little.

use super::evaluate::Rejudge;
use super::gain::{discounts, max_dcg};
use super::order::tie_breaker;
use super::{Conventions, Gain, Metric, MetricKind, Missing, Ties};
use crate::numeric::order::private::Key;

/// What stays the same about a query, however it is ranked. It must have passed [`evaluate`](super::judge) and not be empty.
pub(crate) struct LabelledQuery<'a> {
    labels: &'a [f32],
    /// What decides between equal scores.
    breakers: Vec<u32>,
    /// NDCG needs only these: the worth of each document, the ideal, and the last rank that counts.
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

/// Follows the ranking of one query from scores to scores: sorting what is nearly sorted takes one pass.
pub(crate) struct IncrementalEvaluator<'a> {
    metric: &'a dyn Metric,
    conventions: Conventions,
    /// The key of each rank, and its document.
    ranks: Vec<(u64, u32)>,
    ranked: Vec<f32>,
    afresh: Rejudge,
}

impl<'a> IncrementalEvaluator<'a> {
    pub(crate) fn new(metric: &'a dyn Metric, conventions: Conventions) -> Self {
        IncrementalEvaluator { metric, conventions, ranks: Vec::new(), ranked: Vec::new(), afresh: Rejudge::new() }
    }

    /// Turns to another query, ranked as `order` says.
    pub(crate) fn start(&mut self, order: &[u32]) {
        self.ranks.clear();
        self.ranks.extend(order.iter().map(|&document| (0, document)));
    }

    /// The order that was last found.
    pub(crate) fn order(&self) -> impl Iterator<Item = u32> {
        self.ranks.iter().map(|rank| rank.1)
    }

    /// The measure under new scores.
    pub(crate) fn value(&mut self, query: &LabelledQuery, scores: &[f32]) -> f64 {
        if self.conventions.ties == Ties::Average || self.conventions.missing == Missing::Absent {
            return self.afresh.value(self.metric, scores, query.labels, &self.conventions);
        }
        for (key, document) in &mut self.ranks {
            let document = *document as usize;
            *key = scores[document].pack(query.breakers[document]);
        }
        settle(&mut self.ranks);
        if let Some((worth, ideal, depth)) = &query.ndcg {
            // Term by term in rank order, as the measure itself adds.
            let discounts = discounts(*depth);
            let top = self.ranks[..*depth].iter().zip(discounts.iter());
            let dcg: f64 = top.map(|(rank, discount)| worth[rank.1 as usize] * discount).sum();
            return dcg / ideal;
        }
        self.ranked.clear();
        self.ranked.extend(self.ranks.iter().map(|rank| query.labels[rank.1 as usize]));
        self.metric.value(&self.ranked)
    }
}

/// Sorts what is nearly sorted: by insertion, until that turns out to be dear.
fn settle(ranks: &mut [(u64, u32)]) {
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
    fn following_is_judging_afresh() {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        for (n, pace) in [(1, 0.1), (2, 0.5), (30, 0.05), (200, 0.01), (60, 5.0)] {
            let labels: Vec<f32> =
                (0..n).map(|i| if i == 0 { 3.0 } else { random.random_range(0..5u8).into() }).collect();
            // Rounded, so that there are ties.
            let mut scores: Vec<f32> = (0..n).map(|_| random.random_range(-1.0f32..1.0)).collect();
            for name in ["ndcg", "ndcg@10", "ndcg:linear@3", "map:rel=3", "mrr", "err", "arp", "pairs"] {
                for ties in [Ties::Pessimistic, Ties::Optimistic, Ties::Document, Ties::Average] {
                    if ties == Ties::Average && !["ndcg", "ndcg@10", "arp", "pairs"].contains(&name) {
                        continue;
                    }
                    let conventions = Conventions { ties, ..Conventions::default() };
                    let metric = parse(name).unwrap();
                    let query = LabelledQuery::new(&*metric, &labels, &conventions);
                    let mut judge = IncrementalEvaluator::new(&*metric, conventions);
                    judge.start(&(0..n as u32).collect::<Vec<_>>());
                    for _ in 0..5 {
                        let rounded: Vec<f32> = scores.iter().map(|s| (s * 20.0).round() / 20.0).collect();
                        let found = judge.value(&query, &rounded);
                        let expected = evaluate_query(&*metric, &rounded, &labels, &conventions).unwrap().unwrap();
                        assert_eq!(found, expected, "{name} {ties} {n}");
                        assert_eq!(judge.order().count(), n);
                        scores.iter_mut().for_each(|s| *s += pace * random.random_range(-1.0f32..1.0));
                    }
                }
            }
        }
    }
}
