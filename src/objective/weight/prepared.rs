//! Weights of the pairs of a ranked list, O(1) each if there is a form.

use super::{Classes, PairWeight, Pairs, RankedList, Values};
use crate::numeric::levels::Levels;
use crate::objective::pair_form::PairForm;

/// Weights of the pairs of one ranked list, see [`PairLoss::weights`](crate::objective::PairLoss::weights).
pub struct PairWeights<'a> {
    source: Source<'a>,
    pairs: Pairs,
    /// Class of each document, in rank order.
    classes: Vec<f32>,
    top: usize,
}

enum Source<'a> {
    Form(PairForm, Values),
    Formula(Box<dyn Fn(usize, usize) -> f64 + 'a>),
}

impl<'a> PairWeights<'a> {
    /// Takes labels in rank order, top document first; pairs beyond `truncation` have weight 0.
    pub(in super::super) fn new(weight: &'a dyn PairWeight, ranked: &'a [f32], truncation: Option<usize>) -> Self {
        let n = ranked.len();
        let classes: Vec<f32> = ranked.iter().map(|&label| weight.classes().of(label)).collect();
        let mut top = truncation.unwrap_or(n).min(weight.depth().unwrap_or(n)).min(n);
        let source = match weight.form() {
            None => Source::Formula(weight.prepare(ranked)),
            Some(form) => {
                let (mut values, mut levels) = (Values::default(), Levels::default());
                levels.fill(&classes);
                values.clear(n);
                let by_label = weight.classes() == Classes::Labels;
                weight.values(RankedList::new(ranked, by_label.then_some(&levels)), &mut values);
                if values.check(form, n).is_ok() {
                    top = top.min(values.top);
                    Source::Form(form, values)
                } else {
                    // The formula does not depend on the values; training refuses such a weight.
                    Source::Formula(weight.prepare(ranked))
                }
            }
        };
        PairWeights { source, pairs: weight.pairs(), classes, top }
    }

    /// Number of top ranks that have pairs, each with all ranks below it.
    pub(in super::super) fn top(&self) -> usize {
        self.top
    }

    /// Returns the weight of ranking the document at position `i` (from 0) above the one at `j`; 0 for pairs that do
    /// not count.
    ///
    /// # Panics
    /// Panics if a position is out of bounds.
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        if i == j || i.min(j) >= self.top {
            return 0.0;
        }
        let (own, other) = (self.classes[i], self.classes[j]);
        match &self.source {
            Source::Form(PairForm::Constant { ties: true }, _) if own == other => 0.5,
            Source::Form(PairForm::Constant { .. }, _) if own < other => 0.0,
            _ if self.pairs == Pairs::Ordered && own <= other => 0.0,
            Source::Form(form, values) => form.weight(values, i, j),
            Source::Formula(weight) => weight(i, j),
        }
    }
}
