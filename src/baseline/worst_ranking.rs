//! The most violated ranking of a query: the one that maximises lost average precision plus its score.
//!
//! Yue, Finley, Radlinski and Joachims (SIGIR 2007), section 3.2 and algorithm 2: in this ranking, relevant documents
//! are in score order, and so are irrelevant documents. The position of each irrelevant document can be optimised
//! independently.

use crate::error::Result;
use crate::numeric::order::compare;
use crate::stop::Stop;

/// The most violated ranking of a query, as needed for a cutting plane.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Worst {
    /// 1 - AP.
    pub lost: f64,
    /// Coefficient of each document in the difference between the best ranking and this one.
    pub differences: Vec<f64>,
}

impl Worst {
    /// Returns the ranking that maximises `1 - AP` plus its score; the query must have relevant and irrelevant documents.
    ///
    /// # Errors
    /// If the run is stopped. The time grows with the product of the two numbers of documents.
    pub fn of(scores: &[f64], labels: &[f32], threshold: f32, stop: &Stop) -> Result<Self> {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| compare(scores[b], scores[a]));
        let (relevant, irrelevant): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|&d| labels[d] >= threshold);
        let ahead = relevant_ahead(scores, &relevant, &irrelevant, stop)?;
        let (count, pairs) = (relevant.len() as f64, (relevant.len() * irrelevant.len()) as f64);
        let mut differences = vec![0.0; scores.len()];
        for (&document, &ahead) in irrelevant.iter().zip(&ahead) {
            differences[document] = -2.0 * (relevant.len() - ahead) as f64 / pairs;
        }
        let mut precision = 0.0;
        for (place, &document) in relevant.iter().enumerate() {
            let before = ahead.partition_point(|&ahead| ahead <= place);
            differences[document] = 2.0 * before as f64 / pairs;
            precision += (place + 1) as f64 / (place + 1 + before) as f64;
        }
        Ok(Worst { lost: 1.0 - precision / count, differences })
    }
}

/// Returns the number of relevant documents ahead of each irrelevant one; both lists are in descending score order.
///
/// If the j-th irrelevant document is ahead of the i-th relevant one, it lowers the precision there from `i / (i + j - 1)` to
/// `i / (i + j)` and reverses the sign of the pair's score.
fn relevant_ahead(scores: &[f64], relevant: &[usize], irrelevant: &[usize], stop: &Stop) -> Result<Vec<usize>> {
    let (count, pairs) = (relevant.len() as f64, (relevant.len() * irrelevant.len()) as f64);
    let mut previous = 0;
    let place = |(j, &other): (usize, &usize)| {
        stop.check()?;
        let j = (j + 1) as f64;
        // Start behind all relevant documents and move up one position at a time.
        let (mut best, mut best_gain, mut gain) = (relevant.len(), 0.0, 0.0);
        for place in (0..relevant.len()).rev() {
            let i = (place + 1) as f64;
            gain += (i / (i + j - 1.0) - i / (i + j)) / count - 2.0 * (scores[relevant[place]] - scores[other]) / pairs;
            if gain > best_gain {
                (best, best_gain) = (place, gain);
            }
        }
        // In exact arithmetic the positions are monotonic without this.
        previous = best.max(previous);
        Ok(previous)
    };
    irrelevant.iter().enumerate().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{Ap, Metric};

    /// `1 - AP` of a ranking plus its score, over pairs of relevant and irrelevant documents.
    fn value(order: &[usize], scores: &[f64], labels: &[f32]) -> f64 {
        let ranked: Vec<f32> = order.iter().map(|&document| labels[document]).collect();
        let (mut score, mut pairs) = (0.0, 0.0);
        for (place, &ahead) in order.iter().enumerate() {
            for &behind in order[place + 1..].iter().filter(|&&behind| labels[ahead] != labels[behind]) {
                score += scores[ahead] - scores[behind];
                pairs += 1.0;
            }
        }
        1.0 - Ap::default().value(&ranked) + score / pairs
    }

    fn brute_force(remaining: &mut Vec<usize>, order: &mut Vec<usize>, value: &dyn Fn(&[usize]) -> f64) -> f64 {
        if remaining.is_empty() {
            return value(order);
        }
        let mut best = f64::NEG_INFINITY;
        for place in 0..remaining.len() {
            order.push(remaining.remove(place));
            best = best.max(brute_force(remaining, order, value));
            remaining.insert(place, order.pop().unwrap());
        }
        best
    }

    #[test]
    fn finds_the_maximum_over_all_orders() {
        let random = |i: usize| ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1 << 24) as f64;
        for case in 0..40 {
            let n = 2 + case % 6;
            let mut labels: Vec<f32> = (0..n).map(|i| f32::from(u8::from(random(i + 10 * case) > 0.5))).collect();
            (labels[0], labels[n - 1]) = (1.0, 0.0);
            // The scale of scores varies from 0 to larger than that of losses; some scores are equal.
            let scale = [0.0, 0.3, 1.0, 4.0][case % 4];
            let scores: Vec<f64> = (0..n).map(|i| scale * (random(i + 70 * case) * 5.0).floor() / 4.0).collect();
            let worst = Worst::of(&scores, &labels, 1.0, &Stop::new()).unwrap();
            // The best ranking has all pairs in order.
            let best_order: Vec<usize> = {
                let mut order: Vec<usize> = (0..n).collect();
                order.sort_by(|&a, &b| labels[b].total_cmp(&labels[a]));
                order
            };
            let perfect = value(&best_order, &scores, &labels);
            let difference: f64 = worst.differences.iter().zip(&scores).map(|(times, score)| times * score).sum();
            let violation = worst.lost + perfect - difference;
            let expected = brute_force(&mut (0..n).collect(), &mut vec![], &|order| value(order, &scores, &labels));
            assert!((violation - expected).abs() < 1e-12, "{violation}, expected {expected}: {scores:?} {labels:?}");
        }
    }
}
