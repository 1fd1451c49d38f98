//! One query in rank order: the input of every kernel.

use super::super::weight::{Classes, RankedList, Values};
use super::lanes::NARROW;
use super::{PairForm, PairLoss};
use crate::error::Result;
use crate::numeric::exp::exponentials;
use crate::numeric::levels::Levels;
use crate::numeric::order::{document, number, safe, sort};

/// The documents of a query in rank order, and the inputs of pair weights.
#[derive(Debug, Default)]
pub(super) struct Ranked {
    pub keys: Vec<u64>,
    /// Scores without NaN and infinities.
    pub scores: Vec<f32>,
    pub labels: Vec<f32>,
    /// `sigma s`.
    pub scaled: Vec<f64>,
    /// Offset subtracted from scores before taking exponentials.
    pub centre: f64,
    /// Whether `sigma s` spans too large a range for exponentials in f32.
    pub wide: bool,
    /// `exp(sigma (s - centre))`, unless wide; only for the direct kernels.
    pub e: Vec<f32>,
    /// Documents by class, if pairs are of different classes.
    pub levels: Levels,
    /// Inputs of the weights.
    pub values: Values,
    /// Number of top ranks that have pairs, each with all ranks below it.
    pub top: usize,
    classes: Vec<f32>,
    exponents: Vec<f64>,
    spare: Vec<u64>,
}

impl Ranked {
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// The class of each document.
    pub fn classes(&self, of: Classes) -> &[f32] {
        if of == Classes::Labels { &self.labels } else { &self.classes }
    }

    /// Sorts a query.
    pub fn fill(&mut self, scores: &[f32], labels: &[f32], sigma: f64) {
        sort(scores.iter().map(|&score| safe(score)), &mut self.keys, &mut self.spare);
        let n = self.keys.len();
        self.scores.resize(n, 0.0);
        self.labels.resize(n, 0.0);
        self.scaled.resize(n, 0.0);
        let to = self.scores.iter_mut().zip(&mut self.labels).zip(&mut self.scaled);
        for (&key, ((score, label), scaled)) in self.keys.iter().zip(to) {
            *score = number(key);
            *label = labels[document(key)];
            *scaled = sigma * f64::from(*score);
        }
        let (top, bottom) = match (self.scores.first(), self.scores.last()) {
            (Some(&top), Some(&bottom)) => (f64::from(top), f64::from(bottom)),
            _ => (0.0, 0.0),
        };
        self.wide = sigma * (top - bottom) > NARROW;
        self.centre = if self.wide { 0.0 } else { 0.5 * (top + bottom) };
    }

    /// Computes the exponentials.
    pub fn exponentiate(&mut self, sigma: f64) {
        let n = self.len();
        self.e.resize(n, 0.0);
        if self.wide {
            return;
        }
        self.exponents.resize(n, 0.0);
        for (exponent, &score) in self.exponents.iter_mut().zip(&self.scores) {
            *exponent = sigma * (f64::from(score) - self.centre);
        }
        exponentials(&mut self.exponents);
        self.e.iter_mut().zip(&self.exponents).for_each(|(to, &from)| *to = from as f32);
    }

    /// Computes the inputs of a loss's pair weights for a sorted query.
    ///
    /// # Errors
    /// Returns an error if values that the form needs are missing.
    pub fn prepare_weights(&mut self, loss: &PairLoss, form: Option<PairForm>) -> Result<()> {
        let (n, weight) = (self.len(), &*loss.weight);
        let classes = weight.classes();
        if classes != Classes::Labels {
            self.classes.clear();
            self.classes.extend(self.labels.iter().map(|&label| classes.of(label)));
        }
        let of_classes = if classes == Classes::Labels { &self.labels } else { &self.classes };
        if form != Some(PairForm::Own) {
            self.levels.fill(of_classes);
        }
        self.values.clear(n);
        if let Some(form) = form {
            let by_label = classes == Classes::Labels && form != PairForm::Own;
            let list = RankedList::new(&self.labels, by_label.then_some(&self.levels));
            weight.values(list, &mut self.values);
            self.values.check(form, n)?;
        }
        self.top = self.values.top.min(loss.truncation.unwrap_or(n)).min(weight.depth().unwrap_or(n)).min(n);
        Ok(())
    }
}
