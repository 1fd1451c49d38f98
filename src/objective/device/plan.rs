//! What kernels need to know of the queries of a data set, made once on the host.

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

/// Which kernels to run, and the numbers that never change while scores do.
#[derive(Debug)]
pub(super) struct Plan {
    pub form: KernelForm,
    /// What makes the values of a ranked list, where they are more than a table.
    pub scan: Option<Scan>,
    /// Whether ranks matter.
    pub sorts: bool,
    /// The class of every document, then its first value.
    pub fixed: Vec<f32>,
    /// How many ranks of each query have pairs.
    pub tops: Vec<i32>,
    /// A value of each rank, then that of each distance of ranks.
    pub tables: Vec<f32>,
    /// How many are values of ranks.
    pub table_length: usize,
    pub sigma: f64,
    /// The size of the unit of the loss in nats.
    pub unit: f64,
}

/// Whether a loss has kernels.
pub(in super::super) fn is_known(loss: &PairLoss) -> bool {
    loss.assignment == Assignment::Hard && loss.weight.form().is_some() && loss.weight.rule().is_some()
}

impl Plan {
    /// For the queries of these labels; nothing where the loss has no kernels.
    ///
    /// # Errors
    /// When the loss has a setting that makes no sense, or a label is too high for it.
    pub fn new(loss: &PairLoss, labels: &[f32], offsets: &[usize]) -> Result<Option<Self>> {
        loss.check()?;
        let (Some(form), Some(rule), true) = (loss.weight.form(), loss.weight.rule(), is_known(loss)) else {
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
            // As if ranked in the order of the file: what depends on labels alone is right in any order.
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
        // One rank more than there are documents, for what is not there.
        let mut tables = table(loss, form, rule, longest + 2)?;
        let table_length = tables.len();
        if let PairForm::Distance { share } = form {
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
    let mut none = vec![0.0; labels.len()];
    let query = Query { scores: labels, labels, seed: 0, stop: &Stop::new() };
    query.check(&Gradients::gradient(&mut none), loss.weight.largest_label())
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

/// What the values of ranks are made of, for so many ranks.
fn table(loss: &PairLoss, form: PairForm, rule: ValueRule, ranks: usize) -> Result<Vec<f32>> {
    let inverse = |k: Option<usize>| {
        let cut = k.unwrap_or(ranks);
        (0..ranks).map(|place| if place < cut { ((place + 1) as f64).recip() as f32 } else { 0.0 }).collect()
    };
    Ok(match rule {
        ValueRule::Apart => {
            // The second value does not look at labels.
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
