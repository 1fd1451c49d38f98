//! The ranking of a query that loses the most average precision for the least score: what a margin has to be kept to.
//!
//! Yue, Finley, Radlinski and Joachims (SIGIR 2007), section 3.2 and algorithm 2: in the worst ranking, relevant documents
//! are in the order of their scores, others too, and where each of the others goes can be found by itself.

use crate::error::Result;
use crate::numeric::order::compare;
use crate::stop::Stop;

/// The worst ranking of a query, as far as a cutting plane has to know it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Worst {
    /// 1 - AP.
    pub lost: f64,
    /// How often each document counts in the difference of the best ranking and this one.
    pub differences: Vec<f64>,
}

impl Worst {
    /// The ranking for which `1 - AP` and its own score are largest; there must be relevant and other documents.
    ///
    /// # Errors
    /// When the run is to stop: the time grows with the product of both numbers.
    pub fn of(scores: &[f64], labels: &[f32], threshold: f32, stop: &Stop) -> Result<Self> {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| compare(scores[b], scores[a]));
        let (relevant, others): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|&d| labels[d] >= threshold);
        let ahead = relevant_ahead(scores, &relevant, &others, stop)?;
        let (count, pairs) = (relevant.len() as f64, (relevant.len() * others.len()) as f64);
        let mut differences = vec![0.0; scores.len()];
        for (&document, &ahead) in others.iter().zip(&ahead) {
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

/// How many relevant documents are ahead of each of the others; both come from the highest score down.
///
/// The j-th of the others lowers the precision at the i-th relevant document, if that is behind it, from `i / (i + j - 1)` to
/// `i / (i + j)`, and turns the pair's score around.
fn relevant_ahead(scores: &[f64], relevant: &[usize], others: &[usize], stop: &Stop) -> Result<Vec<usize>> {
    let (count, pairs) = (relevant.len() as f64, (relevant.len() * others.len()) as f64);
    let mut least = 0;
    let place = |(j, &other): (usize, &usize)| {
        stop.check()?;
        let j = (j + 1) as f64;
        // Behind all of them first; then one place after the other further up.
        let (mut best, mut best_gain, mut gain) = (relevant.len(), 0.0, 0.0);
        for place in (0..relevant.len()).rev() {
            let i = (place + 1) as f64;
            gain += (i / (i + j - 1.0) - i / (i + j)) / count - 2.0 * (scores[relevant[place]] - scores[other]) / pairs;
            if gain > best_gain {
                (best, best_gain) = (place, gain);
            }
        }
        // In exact numbers they go down one after the other by themselves.
        least = best.max(least);
        Ok(least)
    };
    others.iter().enumerate().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{Ap, Metric};

    /// `1 - AP` of a ranking plus its score, which is that of pairs of relevant and other documents.
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

    fn best_of_all(left: &mut Vec<usize>, order: &mut Vec<usize>, value: &dyn Fn(&[usize]) -> f64) -> f64 {
        if left.is_empty() {
            return value(order);
        }
        let mut best = f64::NEG_INFINITY;
        for place in 0..left.len() {
            order.push(left.remove(place));
            best = best.max(best_of_all(left, order, value));
            left.insert(place, order.pop().unwrap());
        }
        best
    }

    #[test]
    fn no_order_of_all_is_worse() {
        let random = |i: usize| ((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1 << 24) as f64;
        for case in 0..40 {
            let n = 2 + case % 6;
            let mut labels: Vec<f32> = (0..n).map(|i| f32::from(u8::from(random(i + 10 * case) > 0.5))).collect();
            (labels[0], labels[n - 1]) = (1.0, 0.0);
            // From scores that do not count to those that count as much as losses do, and with equal ones.
            let scale = [0.0, 0.3, 1.0, 4.0][case % 4];
            let scores: Vec<f64> = (0..n).map(|i| scale * (random(i + 70 * case) * 5.0).floor() / 4.0).collect();
            let worst = Worst::of(&scores, &labels, 1.0, &Stop::new()).unwrap();
            // The best ranking has the score of all pairs in order.
            let best_order: Vec<usize> = {
                let mut order: Vec<usize> = (0..n).collect();
                order.sort_by(|&a, &b| labels[b].total_cmp(&labels[a]));
                order
            };
            let perfect = value(&best_order, &scores, &labels);
            let difference: f64 = worst.differences.iter().zip(&scores).map(|(times, score)| times * score).sum();
            let found = worst.lost + perfect - difference;
            let all = best_of_all(&mut (0..n).collect(), &mut vec![], &|order| value(order, &scores, &labels));
            assert!((found - all).abs() < 1e-12, "{found}, not {all}: {scores:?} {labels:?}");
        }
    }
}
