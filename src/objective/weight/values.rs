//! One or two numbers per document that a form joins to weights.

use crate::error::{Error, Result};
use crate::metric::{Gain, discount, discounts};
use crate::numeric::levels::Levels;
use crate::objective::pair_form::PairForm;
use std::borrow::Cow;

/// A ranked list as a weight sees it.
#[derive(Debug, Clone, Copy)]
pub struct RankedList<'a> {
    labels: &'a [f32],
    /// The documents of these labels by label, where they are in that order already.
    levels: Option<&'a Levels>,
}

impl<'a> RankedList<'a> {
    /// A list of these labels, top document first; `levels` are theirs.
    pub(in super::super) fn new(labels: &'a [f32], levels: Option<&'a Levels>) -> Self {
        RankedList { labels, levels }
    }

    /// The labels in rank order, top document first.
    pub fn labels(&self) -> &'a [f32] {
        self.labels
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

/// The values of one ranked list, in rank order.
#[derive(Debug, Default)]
pub struct Values {
    /// The first value of each document.
    pub first: Vec<f64>,
    /// The second value of each document.
    pub second: Vec<f64>,
    /// Pairs of which neither document is among so many ranks weigh nothing, by the form as well.
    pub top: usize,
    /// 1 / log2(1 + rank), kept from list to list.
    discounts: Vec<f64>,
}

impl Values {
    /// Empties the values for a list of so many documents, keeping their memory.
    pub(in super::super) fn clear(&mut self, n: usize) {
        self.first.clear();
        self.second.clear();
        self.top = n;
    }

    /// Refuses values that are not one per document, as far as the form needs them.
    pub(in super::super) fn check(&self, form: PairForm, n: usize) -> Result<()> {
        let needed = match form {
            PairForm::Constant { .. } => [0, 0],
            PairForm::Gap | PairForm::Own => [1, 0],
            // The second ones may be left out.
            PairForm::Distance { .. } => [1, usize::from(!self.second.is_empty())],
            PairForm::Discounts | PairForm::Rest | PairForm::FallOrRise => [1, 1],
        };
        for (which, needed, found) in [("first", needed[0], self.first.len()), ("second", needed[1], self.second.len())]
        {
            if needed == 1 && found != n {
                return Err(Error::Config(format!(
                    "a pair weight of the form {form:?} gives {found} {which} values for a list of {n} documents: \
                     PairWeight::values must give one per document"
                )));
            }
        }
        Ok(())
    }

    fn know_discounts(&mut self, n: usize) {
        self.discounts.extend((self.discounts.len()..n).map(discount));
    }

    /// The second value is the discount `1/D` of the rank times `share`, and 0 beyond rank `k`.
    pub fn set_discounts(&mut self, n: usize, k: Option<usize>, share: f64) {
        let counted = k.unwrap_or(n).min(n);
        self.know_discounts(counted);
        self.second.extend(self.discounts[..counted].iter().map(|discount| share * discount));
        self.second.resize(n, 0.0);
    }

    /// Adds `share delta`, `delta = 1/D_m - 1/D_(m+1)` of ranks `m` apart, for `m` below `n`; 0 for a document and itself.
    pub(in super::super) fn add_nearness(&self, n: usize, share: f64, to: &mut Vec<f32>) {
        let discounts = self.discounts.get(..n).map_or_else(|| discounts(n), Cow::Borrowed);
        to.push(0.0);
        to.extend(discounts.windows(2).map(|pair| (share * (pair[0] - pair[1])) as f32));
    }

    /// The first value is `G`, the gain divided by the ideal DCG at `k`; no pair weighs anything where that is 0.
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
        self.know_discounts(cut);
        let worth = |place: usize| gain.of(list.labels[levels.order[place] as usize]);
        // Documents by label are the ideal order.
        let in_top = |start: usize, end: usize| self.discounts[start.min(cut)..end.min(cut)].iter().sum::<f64>();
        let ideal: f64 = levels.groups().map(|group| worth(group.start) * in_top(group.start, group.end)).sum();
        let inverse = if ideal > 0.0 { ideal.recip() } else { 0.0 };
        if ideal <= 0.0 {
            self.top = 0;
        }
        self.first.resize(n, 0.0);
        for group in levels.groups() {
            let gain = worth(group.start) * inverse;
            levels.order[group].iter().for_each(|&place| self.first[place as usize] = gain);
        }
    }
}
