//! Rankings from scores: descending, total and deterministic, with a rule for equal scores.

use crate::error::{Error, Result};
use crate::name::words;
use crate::numeric::Score;
use crate::numeric::order::{ascending, from_ascending};

words! {
    /// Order of documents with equal scores.
    #[derive(Default)]
    pub enum Ties: "rule for equal scores" {
        /// The order of the documents in the data.
        Document = "document",
        /// The less relevant document first: a lower bound of the metric (an upper bound, for a cost).
        #[default]
        Pessimistic = "pessimistic",
        /// The more relevant document first.
        Optimistic = "optimistic",
        /// No fixed order: the metric's mean over all orders, for metrics that have a closed form for it.
        Average = "average",
    }
}

/// Returns the documents in descending order of their scores, equal scores in document order. Training uses these
/// ranks.
///
/// ```
/// assert_eq!(burnrank::metric::order(&[0.5, f32::NAN, 2.0, 0.5]), [2, 0, 3, 1]);
/// ```
///
/// # Panics
/// Panics if there are 2^32 documents or more.
pub fn order<S: Score>(scores: &[S]) -> Vec<usize> {
    assert!(u32::try_from(scores.len()).is_ok(), "a query has fewer than 2^32 documents");
    let mut keys: Vec<_> = scores.iter().zip(0..).map(|(score, index)| score.pack(index)).collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| S::breaker(key) as usize).collect()
}

/// Returns the documents in descending order of their scores, equal scores by a rule. Documents that the rule leaves
/// equal, and those of [`Ties::Average`], are in document order.
///
/// ```
/// use burnrank::metric::Ties;
/// use burnrank::metric::rank_order;
/// let (scores, labels) = ([1.0, 1.0, 2.0], [3.0, 0.0, 1.0]);
/// assert_eq!(rank_order(&scores, &labels, Ties::Document)?, [2, 0, 1]);
/// assert_eq!(rank_order(&scores, &labels, Ties::Pessimistic)?, [2, 1, 0]);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the numbers of scores and labels differ.
pub fn rank_order<S: Score>(scores: &[S], labels: &[f32], ties: Ties) -> Result<Vec<usize>> {
    if scores.len() != labels.len() {
        return Err(Error::Mismatch(format!("{} scores for {} labels", scores.len(), labels.len())));
    }
    let key = |index: usize| {
        let breaker = match ties {
            Ties::Document | Ties::Average => 0,
            Ties::Pessimistic => ascending(labels[index]),
            Ties::Optimistic => !ascending(labels[index]),
        };
        (scores[index].pack(breaker), index)
    };
    let mut keys: Vec<_> = (0..scores.len()).map(key).collect();
    keys.sort_unstable();
    Ok(keys.into_iter().map(|(_, index)| index).collect())
}

/// The part of a document's sort key that breaks ties.
pub(super) fn tie_breaker(label: f32, index: u32, ties: Ties) -> u32 {
    match ties {
        Ties::Document => index,
        Ties::Optimistic => !ascending(label),
        Ties::Pessimistic | Ties::Average => ascending(label),
    }
}

/// Reusable buffers for ranking queries.
pub(super) struct Ranking<S: Score> {
    keys: Vec<S::Packed>,
    /// Labels in rank order.
    pub(super) ranked: Vec<f32>,
    /// End of each group of equal scores; only for [`Ties::Average`].
    pub(super) ends: Vec<usize>,
}

impl<S: Score> Ranking<S> {
    pub(super) fn new() -> Self {
        Ranking { keys: Vec::new(), ranked: Vec::new(), ends: Vec::new() }
    }

    /// Ranks one query. Documents below the first `depth` may follow in any order.
    pub(super) fn rank(&mut self, scores: &[S], labels: &[f32], ties: Ties, depth: Option<usize>) {
        let Ranking { keys, ranked, ends } = self;
        keys.clear();
        ranked.clear();
        ends.clear();
        let pairs = scores.iter().zip(labels);
        match ties {
            Ties::Document => keys.extend(scores.iter().zip(0..).map(|(score, index)| score.pack(index))),
            Ties::Optimistic => keys.extend(pairs.map(|(score, &label)| score.pack(!ascending(label)))),
            Ties::Pessimistic | Ties::Average => {
                keys.extend(pairs.map(|(score, &label)| score.pack(ascending(label))));
            }
        }
        match depth {
            // Selection costs an additional pass, which is only worth it for a small part of the list.
            Some(k) if ties != Ties::Average && 0 < k && k < keys.len() / 2 => {
                keys.select_nth_unstable(k - 1).0.sort_unstable();
            }
            _ => keys.sort_unstable(),
        }
        // Keys that break ties by label contain the label: no lookup is needed.
        match ties {
            Ties::Document => ranked.extend(keys.iter().map(|&key| labels[S::breaker(key) as usize])),
            Ties::Optimistic => ranked.extend(keys.iter().map(|&key| from_ascending(!S::breaker(key)))),
            Ties::Pessimistic => ranked.extend(keys.iter().map(|&key| from_ascending(S::breaker(key)))),
            Ties::Average => {
                ranked.extend(keys.iter().map(|&key| from_ascending(S::breaker(key))));
                ends.extend((1..keys.len()).filter(|&next| !S::ties(keys[next - 1], keys[next])));
                ends.push(keys.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_minus_infinity_and_zeros_are_equal() {
        let scores = [f64::NAN, f64::NEG_INFINITY, -0.0, 0.0, f64::INFINITY, -f64::NAN, -1e300, 1e-320];
        assert_eq!(order(&scores), [4, 7, 2, 3, 6, 0, 1, 5]);
        let scores = scores.map(|score| score as f32);
        assert_eq!(order(&scores), [4, 2, 3, 7, 0, 1, 5, 6], "1e-320 is zero, and -1e300 minus infinity, in f32");
    }

    #[test]
    fn labels_round_trip_through_keys() {
        for label in [0.0, 1.0, 4.0, 0.5, 1e-30, 3e38, -2.0] {
            assert_eq!(from_ascending(ascending(label)), label);
        }
    }

    #[test]
    fn selection_and_sorting_agree_on_the_top() {
        let scores: Vec<f32> = (0..200).map(|i| ((i * 7919) % 61) as f32).collect();
        let labels: Vec<f32> = (0..200).map(|i| ((i * 31) % 5) as f32).collect();
        for ties in [Ties::Document, Ties::Pessimistic, Ties::Optimistic] {
            let mut ranking = Ranking::new();
            ranking.rank(&scores, &labels, ties, Some(10));
            let by_index = rank_order(&scores, &labels, ties).unwrap();
            let all: Vec<f32> = by_index.iter().map(|&index| labels[index]).collect();
            assert_eq!(ranking.ranked[..10], all[..10]);
            ranking.rank(&scores, &labels, ties, None);
            assert_eq!(ranking.ranked, all);
        }
    }

    #[test]
    fn groups_of_equal_scores_are_found() {
        let mut ranking = Ranking::new();
        ranking.rank(&[1.0, 2.0, 1.0, f32::NAN, f32::NAN], &[1.0, 0.0, 2.0, 0.0, 3.0], Ties::Average, None);
        assert_eq!(ranking.ends, [1, 3, 5]);
    }

    #[test]
    fn rules_parse_as_they_print() {
        for ties in Ties::ALL {
            assert_eq!(ties.to_string().parse::<Ties>().unwrap(), ties);
        }
        assert!("best".parse::<Ties>().unwrap_err().to_string().contains("pessimistic"));
        assert!(rank_order(&[1.0], &[], Ties::Document).is_err());
    }
}
