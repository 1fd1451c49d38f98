//! One query in rank order: what every kernel starts from.

use super::exp::exponentials;
use super::lanes::NARROW;
use super::sort::{document, safe, sort};

/// A query's documents, the top rank first.
#[derive(Debug, Default)]
pub(super) struct Ranked {
    pub keys: Vec<u64>,
    /// Safe scores.
    pub scores: Vec<f32>,
    pub labels: Vec<f32>,
    /// `sigma s`.
    pub scaled: Vec<f64>,
    /// Subtracted from scores before their exponentials are taken.
    pub centre: f64,
    /// Whether `sigma s` spans more than exponentials in f32 do.
    pub wide: bool,
    /// `exp(sigma (s - centre))`, unless wide.
    pub e: Vec<f32>,
    exponents: Vec<f64>,
}

impl Ranked {
    pub fn fill(&mut self, scores: &[f32], labels: &[f32], sigma: f64) {
        sort(scores.iter().map(|&score| safe(score)), &mut self.keys);
        self.scores.clear();
        self.scores.extend(self.keys.iter().map(|&key| safe(scores[document(key)])));
        self.labels.clear();
        self.labels.extend(self.keys.iter().map(|&key| labels[document(key)]));
        self.scaled.clear();
        self.scaled.extend(self.scores.iter().map(|&score| sigma * f64::from(score)));
        let (top, bottom) = match (self.scores.first(), self.scores.last()) {
            (Some(&top), Some(&bottom)) => (f64::from(top), f64::from(bottom)),
            _ => (0.0, 0.0),
        };
        // Not computed as a difference of scaled scores, which may round.
        self.wide = sigma * (top - bottom) > NARROW;
        self.centre = if self.wide { 0.0 } else { 0.5 * (top + bottom) };
    }

    /// Takes the exponentials, which only the direct kernels need.
    pub fn exponentiate(&mut self, sigma: f64) {
        self.e.clear();
        if self.wide {
            self.e.resize(self.scores.len(), 1.0);
            return;
        }
        self.exponents.clear();
        self.exponents.extend(self.scores.iter().map(|&score| sigma * (f64::from(score) - self.centre)));
        exponentials(&mut self.exponents);
        self.e.extend(self.exponents.iter().map(|&value| value as f32));
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }
}
