//! One or two values per document, from which a form computes weights.

use crate::error::{Error, Result};
use crate::metric::{Gain, discount, discounts};
use crate::numeric::levels::Levels;
use crate::objective::pair_form::PairForm;
use std::borrow::Cow;

/// A ranked list, the input of a weight's values.
#[derive(Debug, Clone, Copy)]
pub struct RankedList<'a> {
    labels: &'a [f32],
    /// The documents sorted by label, if available.
    levels: Option<&'a Levels>,
}

impl<'a> RankedList<'a> {
    /// Creates a list from its labels, top document first, and their `levels`.
    pub(in super::super) fn new(labels: &'a [f32], levels: Option<&'a Levels>) -> Self {
        RankedList { labels, levels }
    }

    /// Labels in rank order, top document first.
    pub fn labels(&self) -> &'a [f32] {
        self.labels
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns whether the list has no documents.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

/// The values of one ranked list, in rank order.
#[derive(Debug, Default)]
pub struct Values {
    /// First value of each document.
    pub first: Vec<f64>,
    /// Second value of each document.
    pub second: Vec<f64>,
    /// Number of top ranks: pairs with neither document among them have weight 0, in the form as well.
    pub top: usize,
    /// 1 / log2(1 + rank), reused between lists.
    discounts: Vec<f64>,
}

impl Values {
    /// Clears the values for a list of `n` documents, keeping their memory.
    pub(in super::super) fn clear(&mut self, n: usize) {
        self.first.clear();
        self.second.clear();
        self.top = n;
    }

    /// Checks that there is one value per document for each value that the form needs.
    pub(in super::super) fn check(&self, form: PairForm, n: usize) -> Result<()> {
        let needed = match form {
            PairForm::Constant { .. } => [0, 0],
            PairForm::Gap | PairForm::Own => [1, 0],
            // The second values are optional.
            PairForm::Distance { .. } => [1, usize::from(!self.second.is_empty())],
            PairForm::Discounts | PairForm::Rest | PairForm::Lower | PairForm::FallOrRise => [1, 1],
        };
        for (which, needed, length) in
            [("first", needed[0], self.first.len()), ("second", needed[1], self.second.len())]
        {
            if needed == 1 && length != n {
                return Err(Error::Config(format!(
                    "a pair weight of form {form:?} has {length} {which} values for a list of {n} documents: \
                     PairWeight::values must set one per document"
                )));
            }
        }
        Ok(())
    }

    fn compute_discounts(&mut self, n: usize) {
        self.discounts.extend((self.discounts.len()..n).map(discount));
    }

    /// Sets the second values to the discount `1/D` of the rank times `share`, and 0 beyond rank `k`.
    pub fn set_discounts(&mut self, n: usize, k: Option<usize>, share: f64) {
        let counted = k.unwrap_or(n).min(n);
        self.compute_discounts(counted);
        self.second.extend(self.discounts[..counted].iter().map(|discount| share * discount));
        self.second.resize(n, 0.0);
    }

    /// Adds `share delta` for distances below `n`, where `delta = 1/D_m - 1/D_(m+1)` for ranks at distance `m`, and 0
    /// for distance 0.
    pub(in super::super) fn add_nearness(&self, n: usize, share: f64, to: &mut Vec<f32>) {
        let discounts = self.discounts.get(..n).map_or_else(|| discounts(n), Cow::Borrowed);
        to.push(0.0);
        to.extend(discounts.windows(2).map(|pair| (share * (pair[0] - pair[1])) as f32));
    }

    /// Sets the first values to `G`, the gain divided by the ideal DCG at `k`. If the ideal DCG is 0, all pairs have
    /// weight 0.
    pub fn set_gains(&mut self, list: RankedList<'_>, gain: Gain, k: Option<usize>) {
        let n = list.len();
        let mut own = Levels::default();
        let levels = match list.levels {
            Some(levels) => levels,
            None => {
                own.fill(list.labels);
                &own
            }
        };
        let cut = k.unwrap_or(n).min(n);
        self.compute_discounts(cut);
        let gain_at = |place: usize| gain.of(list.labels[levels.order[place] as usize]);
        // Documents sorted by label are in the ideal order.
        let in_top = |start: usize, end: usize| self.discounts[start.min(cut)..end.min(cut)].iter().sum::<f64>();
        let ideal: f64 = levels.groups().map(|group| gain_at(group.start) * in_top(group.start, group.end)).sum();
        let inverse = if ideal > 0.0 { ideal.recip() } else { 0.0 };
        if ideal <= 0.0 {
            self.top = 0;
        }
        self.first.resize(n, 0.0);
        for group in levels.groups() {
            let gain = gain_at(group.start) * inverse;
            levels.order[group].iter().for_each(|&place| self.first[place as usize] = gain);
        }
    }
}
