//! Binary preference.

use super::name::{rel_option, spell};
use super::{Metric, Swaps};

/// bpref = 1/R sum over relevant documents of 1 - min(N_above, R) / min(R, N), named `bpref`, `bpref:rel=2`.
///
/// R relevant (`y >= threshold`) and N other documents, N_above of them ranked above the relevant one: trec_eval's
/// formula. All documents of a list count as judged.
///
/// ```
/// use burnrank::{Bpref, Metric};
/// let bpref = Bpref { threshold: 1.0 };
/// let expected = ((1.0 - 0.0) + (1.0 - 1.0 / 2.0)) / 2.0;
/// assert_eq!(bpref.value(&[1.0, 0.0, 1.0, 0.0, 0.0]), expected);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bpref {
    /// Labels of at least this are relevant.
    pub threshold: f32,
}

impl Default for Bpref {
    fn default() -> Self {
        Bpref { threshold: 1.0 }
    }
}

impl Metric for Bpref {
    fn name(&self) -> String {
        spell("bpref", &[rel_option(self.threshold)], None)
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.value_of_retrieved(ranked, ranked.len())
    }

    fn swaps<'a>(&'a self, ranked: &'a [f32]) -> Box<dyn Swaps + 'a> {
        Box::new(BprefSwaps::new(self, ranked))
    }

    fn is_empty(&self, labels: &[f32]) -> bool {
        !labels.iter().any(|&label| label >= self.threshold)
    }

    fn value_of_retrieved(&self, ranked: &[f32], retrieved: usize) -> f64 {
        let relevant = ranked.iter().filter(|&&label| label >= self.threshold).count();
        if relevant == 0 {
            return 0.0;
        }
        let bound = relevant.min(ranked.len() - relevant);
        let (mut others, mut sum) = (0usize, 0.0);
        for &label in ranked.iter().take(retrieved) {
            if label < self.threshold {
                others += 1;
            } else {
                sum += 1.0 - share(others.min(relevant), bound);
            }
        }
        sum / relevant as f64
    }
}

fn share(others: usize, bound: usize) -> f64 {
    if others == 0 { 0.0 } else { others as f64 / bound as f64 }
}

/// A relevant document that changes places with another moves that one above or below all relevant ones between them.
struct BprefSwaps {
    relevant: Vec<bool>,
    /// The other documents before a position.
    others: Vec<usize>,
    /// The relevant documents before a position with fewer than R others above: one more above costs them.
    can_lose: Vec<usize>,
    /// The relevant documents before a position with at most R others above: one fewer above helps them.
    can_gain: Vec<usize>,
    total: usize,
}

impl BprefSwaps {
    fn new(bpref: &Bpref, ranked: &[f32]) -> Self {
        let relevant: Vec<bool> = ranked.iter().map(|&label| label >= bpref.threshold).collect();
        let total = relevant.iter().filter(|&&is_relevant| is_relevant).count();
        let mut swaps = BprefSwaps { relevant, others: vec![], can_lose: vec![], can_gain: vec![], total };
        let (mut others, mut can_lose, mut can_gain) = (0, 0, 0);
        for &is_relevant in &swaps.relevant {
            swaps.others.push(others);
            swaps.can_lose.push(can_lose);
            swaps.can_gain.push(can_gain);
            if is_relevant {
                can_lose += usize::from(others < total);
                can_gain += usize::from(others <= total);
            } else {
                others += 1;
            }
        }
        swaps
    }
}

impl Swaps for BprefSwaps {
    fn delta(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.min(j), i.max(j));
        let cost = |others: usize| others.min(self.total) as f64;
        let saved = match (self.relevant[i], self.relevant[j]) {
            (true, false) => {
                let between = self.can_lose[j] - self.can_lose[i + 1];
                cost(self.others[i]) - cost(self.others[j] + 1) - between as f64
            }
            (false, true) => {
                let between = self.can_gain[j] - self.can_gain[i + 1];
                cost(self.others[j]) - cost(self.others[i]) + between as f64
            }
            _ => return 0.0,
        };
        let bound = self.total.min(self.relevant.len() - self.total);
        saved / bound as f64 / self.total as f64
    }
}
