//! RankNet's combination of pairwise probabilities (RankNet, Eq. 4 to 6 and the theorem of section 3.1).
//!
//! The probabilities of adjacent documents, in any one order, determine those of all pairs because log odds add.

/// `P = e^o / (1 + e^o)`: the probability that a document ranks above another with a score lower by `o` (Eq. 4).
pub fn probability(difference: f64) -> f64 {
    crate::numeric::sigmoid(difference)
}

/// `o = ln(P / (1 - P))`: the score difference for a probability (Eq. 6); infinite for 0 and 1.
pub fn log_odds(probability: f64) -> f64 {
    (probability / (1.0 - probability)).ln()
}

/// `P_ik = P_ij P_jk / (1 + 2 P_ij P_jk - P_ij - P_jk)`: the probability that two adjacent pairs imply for the ends (Eq. 5).
///
/// Returns `None` if the two are certain and contradict each other, or are not probabilities.
///
/// ```
/// use burnrank::analysis::probability::combine;
/// assert_eq!(combine(0.5, 0.5), Some(0.5)); // complete uncertainty propagates
/// let stronger = combine(0.6, 0.6).unwrap(); // confidence builds
/// assert!((stronger - 0.36 / 0.52).abs() < 1e-15);
/// ```
pub fn combine(first: f64, second: f64) -> Option<f64> {
    let valid = |p: f64| (0.0..=1.0).contains(&p);
    if !valid(first) || !valid(second) {
        return None;
    }
    let both = first * second;
    let neither = (1.0 - first) * (1.0 - second);
    (both + neither > 0.0).then(|| both / (both + neither))
}

/// The pairwise probabilities of a chain of documents, from those of its adjacent pairs (the theorem of section 3.1).
///
/// ```
/// use burnrank::analysis::probability::Posteriors;
/// let chain = Posteriors::from_adjacent(&[0.6, 0.6, 0.6]).unwrap();
/// let odds: f64 = 0.6 / 0.4;
/// assert!((chain.get(0, 3).unwrap() - odds.powi(3) / (1.0 + odds.powi(3))).abs() < 1e-15);
/// assert!((chain.get(3, 0).unwrap() + chain.get(0, 3).unwrap() - 1.0).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct Posteriors {
    /// Cumulative finite log odds up to each document, and counts of certain "above" and "below" links.
    finite: Vec<f64>,
    above: Vec<usize>,
    below: Vec<usize>,
}

impl Posteriors {
    /// Builds the chain. `adjacent[i]` is the probability that document `i` ranks above document `i + 1`.
    ///
    /// Returns `None` if one of them is not a probability.
    pub fn from_adjacent(adjacent: &[f64]) -> Option<Self> {
        let mut all = Posteriors { finite: vec![0.0], above: vec![0], below: vec![0] };
        for (i, &p) in adjacent.iter().enumerate() {
            if !(0.0..=1.0).contains(&p) {
                return None;
            }
            let certain = p == 0.0 || p == 1.0;
            all.finite.push(all.finite[i] + if certain { 0.0 } else { log_odds(p) });
            all.above.push(all.above[i] + usize::from(p == 1.0));
            all.below.push(all.below[i] + usize::from(p == 0.0));
        }
        Some(all)
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.finite.len()
    }

    /// Always false: a chain has at least one document.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns the probability that document `i` ranks above document `j`; `None` if certain links between them contradict each
    /// other or an index is out of range.
    pub fn get(&self, i: usize, j: usize) -> Option<f64> {
        if i.max(j) >= self.len() {
            return None;
        }
        if i > j {
            return self.get(j, i).map(|p| 1.0 - p);
        }
        match (self.above[j] - self.above[i], self.below[j] - self.below[i]) {
            (0, 0) => Some(probability(self.finite[j] - self.finite[i])),
            (_, 0) => Some(1.0),
            (0, _) => Some(0.0),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eq_5_is_the_sum_of_log_odds() {
        for (p, q) in [(0.1, 0.3), (0.5, 0.9), (0.7, 0.7), (0.999, 0.2)] {
            let sum = probability(log_odds(p) + log_odds(q));
            let paper = p * q / (1.0 + 2.0 * p * q - p - q);
            assert!((combine(p, q).unwrap() - sum).abs() < 1e-14);
            assert!((combine(p, q).unwrap() - paper).abs() < 1e-14);
        }
    }

    #[test]
    fn the_three_fixed_points_of_eq_5() {
        for p in [0.0, 0.5, 1.0] {
            assert_eq!(combine(p, p), Some(p));
        }
        for p in [0.1, 0.4, 0.6, 0.9] {
            let combined = combine(p, p).unwrap();
            assert!(if p < 0.5 { combined < p } else { combined > p });
        }
    }

    #[test]
    fn certainty_propagates_and_contradiction_is_none() {
        assert_eq!(combine(1.0, 0.3), Some(1.0));
        assert_eq!(combine(0.0, 0.3), Some(0.0));
        assert_eq!(combine(1.0, 0.0), None);
        assert_eq!(combine(1.5, 0.5), None);
        let chain = Posteriors::from_adjacent(&[1.0, 0.4, 0.0]).unwrap();
        assert_eq!((chain.get(0, 2), chain.get(1, 3), chain.get(0, 3)), (Some(1.0), Some(0.0), None));
    }

    #[test]
    fn the_lemma_confidence_grows_with_distance() {
        let p = 0.55;
        let chain = Posteriors::from_adjacent(&[p; 9]).unwrap();
        let ends: Vec<f64> = (1..10).map(|n| chain.get(0, n).unwrap()).collect();
        assert!((ends[0] - p).abs() < 1e-15 && ends.windows(2).all(|w| w[1] > w[0]));
        let even = Posteriors::from_adjacent(&[0.5; 4]).unwrap();
        assert_eq!(even.get(0, 4), Some(0.5));
    }
}
