//! Label-dependent data of a data set's queries, prepared once on the host for the kernels.

use super::super::loss::{Gradients, Query};
use super::super::pair_form::{PairForm, nearness};
use super::super::pairwise::{Assignment, PairLoss};
use super::super::weight::{RankedList, ValueRule, Values};
use super::pairs::KernelForm;
use super::scan::Scan;
use crate::error::Result;
use crate::metric::discount;
use crate::numeric::levels::Levels;
use crate::stop::Stop;

/// The kernels to run, and the data that does not depend on scores.
#[derive(Debug)]
pub(super) struct Plan {
    pub form: KernelForm,
    /// The scan that computes the values of a ranked list, unless a table suffices.
    pub scan: Option<Scan>,
    /// Whether ranks matter.
    pub sorts: bool,
    /// Class of every document, then its first value.
    pub fixed: Vec<f32>,
    /// Number of ranks of each query that have pairs.
    pub tops: Vec<i32>,
    /// A value for each rank, then one for each distance of ranks.
    pub tables: Vec<f32>,
    /// Number of values for ranks.
    pub table_length: usize,
    pub sigma: f64,
    /// The unit of the loss, in nats.
    pub unit: f64,
}

/// Returns whether a loss has kernels.
pub(in super::super) fn has_kernels(loss: &PairLoss) -> bool {
    loss.assignment == Assignment::Hard && loss.weight.form().is_some() && loss.weight.rule().is_some()
}

impl Plan {
    /// Prepares the queries with these labels. Returns `None` if the loss has no kernels.
    ///
    /// # Errors
    /// Returns an error if a setting of the loss is invalid, or a label is too high for it.
    pub fn new(loss: &PairLoss, labels: &[f32], offsets: &[usize]) -> Result<Option<Self>> {
        loss.check()?;
        let (Some(form), Some(rule), true) = (loss.weight.form(), loss.weight.rule(), has_kernels(loss)) else {
            return Ok(None);
        };
        let lengths = || offsets.windows(2).map(|ends| ends[1] - ends[0]);
        let longest = lengths().max().unwrap_or(0);
        let (mut values, mut levels) = (Values::default(), Levels::default());
        let classes: Vec<f32> = labels.iter().map(|&label| loss.weight.classes().of(label)).collect();
        let (mut first, mut tops) = (Vec::with_capacity(labels.len()), Vec::with_capacity(offsets.len()));
        for ends in offsets.windows(2) {
            let (rows, n) = (ends[0]..ends[1], ends[1] - ends[0]);
            check_labels(loss, &labels[rows.clone()])?;
            levels.fill(&classes[rows.clone()]);
            values.clear(n);
            // Values that depend only on labels are the same in any order, so the order of the file will do.
            loss.weight.values(RankedList::new(&labels[rows], Some(&levels)), &mut values);
            values.check(form, n)?;
            let is_fixed = matches!(rule, ValueRule::Apart | ValueRule::Discounted);
            let top = if is_fixed { values.top } else { n };
            let depth = loss.weight.depth().unwrap_or(n).min(loss.truncation.unwrap_or(n));
            tops.push(top.min(depth).min(n) as i32);
            let undo = |place: usize| if rule == ValueRule::Discounted { discount(place).recip() } else { 1.0 };
            let value = |place: usize| values.first.get(place).map_or(0.0, |first| (first * undo(place)) as f32);
            first.extend((0..n).map(value));
        }
        // One more rank than the longest list has documents, for bounds beyond its end.
        let mut tables = table(loss, form, rule, longest + 2)?;
        let table_length = tables.len();
        if let Some(share) = form.share_of_nearness() {
            tables.extend((0..longest).map(|distance| (share * nearness(distance)) as f32));
        }
        let mut fixed = classes;
        fixed.extend(first);
        let sorts = !loss.weight.ignores_ranks() || loss.truncation.is_some() || loss.weight.depth().is_some();
        let (sigma, unit) = (loss.sigma, loss.base.nats());
        Ok(Some(Plan { form: form.into(), scan: scan(rule), sorts, fixed, tops, tables, table_length, sigma, unit }))
    }
}

fn check_labels(loss: &PairLoss, labels: &[f32]) -> Result<()> {
    let mut gradient = vec![0.0; labels.len()];
    let query = Query { scores: labels, labels, seed: 0, stop: &Stop::new() };
    query.check(&Gradients::gradient(&mut gradient), loss.weight.largest_label())
}

fn scan(rule: ValueRule) -> Option<Scan> {
    match rule {
        ValueRule::Apart => None,
        ValueRule::Discounted => Some(Scan::Discounted),
        ValueRule::Precision { .. } => Some(Scan::Precision),
        ValueRule::FirstRelevant { .. } => Some(Scan::FirstRelevant),
        ValueRule::FirstTwoRelevant { .. } => Some(Scan::FirstTwoRelevant),
        ValueRule::Preference => Some(Scan::Preference),
        ValueRule::Cascade { .. } => Some(Scan::Cascade),
    }
}

/// Values by rank, for a number of ranks.
fn table(loss: &PairLoss, form: PairForm, rule: ValueRule, ranks: usize) -> Result<Vec<f32>> {
    let inverse = |k: Option<usize>| {
        let cut = k.unwrap_or(ranks);
        (0..ranks).map(|place| if place < cut { ((place + 1) as f64).recip() as f32 } else { 0.0 }).collect()
    };
    Ok(match rule {
        ValueRule::Apart => {
            // The second value does not depend on labels.
            let (labels, mut values, mut levels) = (vec![0.0; ranks], Values::default(), Levels::default());
            levels.fill(&labels);
            values.clear(ranks);
            loss.weight.values(RankedList::new(&labels, Some(&levels)), &mut values);
            values.check(form, ranks)?;
            (0..ranks).map(|place| values.second.get(place).map_or(0.0, |&second| second as f32)).collect()
        }
        ValueRule::Discounted => (0..ranks).map(|place| discount(place) as f32).collect(),
        ValueRule::Precision { k }
        | ValueRule::FirstRelevant { k }
        | ValueRule::FirstTwoRelevant { k }
        | ValueRule::Cascade { k } => inverse(k),
        ValueRule::Preference => vec![0.0; ranks],
    })
}
