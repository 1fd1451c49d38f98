//! One query in rank order: what every kernel starts from.

use super::lanes::NARROW;
use super::levels::Levels;
use super::{Kernel, Weighting};
use crate::metric::discount;
use crate::numeric::exp::exponentials;
use crate::numeric::order::{document, number, safe, sort};

/// A query's documents, the top rank first, and what weights need to know of them.
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
    /// `exp(sigma (s - centre))`, unless wide; only the direct kernels need it.
    pub e: Vec<f32>,
    /// The documents by label, where pairs are.
    pub levels: Levels,
    /// `G = g / maxDCG`, where weights have gains; all 0 when nothing is relevant.
    pub gains: Vec<f64>,
    /// 1 / log2(1 + rank): at least as many as weights with discounts need.
    pub discounts: Vec<f64>,
    exponents: Vec<f64>,
    spare: Vec<u64>,
}

impl Ranked {
    pub fn len(&self) -> usize {
        self.keys.len()
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

    /// Takes the exponentials.
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
}

impl Kernel {
    /// Gives a sorted query what the weights of this kernel ask for.
    pub(super) fn prepare(&self, ranked: &mut Ranked) {
        if !matches!(self.weighting, Weighting::Arp1 | Weighting::SwapAp { .. } | Weighting::SwapRr { .. }) {
            ranked.levels.fill(&ranked.labels);
        }
        if self.has_gains() {
            self.weigh(ranked);
        }
    }

    /// Fills in discounts and gains.
    fn weigh(&self, ranked: &mut Ranked) {
        let Ranked { labels, levels, gains, discounts, .. } = ranked;
        let n = labels.len();
        // Beyond the cutoff of a measure no discount is looked at.
        let known = if let Weighting::SwapNdcg { k } = self.weighting { k.min(n) } else { n };
        discounts.extend((discounts.len()..known).map(discount));
        let cut = self.ideal_cut().unwrap_or(n).min(n);
        let groups =
            || levels.ends.iter().scan(0, |start, &end| Some(std::mem::replace(start, end as usize)..end as usize));
        let worth = |group: &std::ops::Range<usize>| self.gain.of(labels[levels.order[group.start] as usize]);
        // Documents by label are the ideal order.
        let ideal: f64 = groups()
            .map(|group| worth(&group) * discounts[group.start.min(cut)..group.end.min(cut)].iter().sum::<f64>())
            .sum();
        let inverse = if ideal > 0.0 { ideal.recip() } else { 0.0 };
        gains.resize(n, 0.0);
        for group in groups() {
            let gain = worth(&group) * inverse;
            levels.order[group].iter().for_each(|&place| gains[place as usize] = gain);
        }
    }
}
