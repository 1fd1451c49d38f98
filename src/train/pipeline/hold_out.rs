//! Holds out training queries for validation if no validation data is given.

use super::{Split, Splits};
use crate::data::{Targets, kfold, split};
use crate::error::{Error, Result};
use crate::memory;

/// Which training queries are held out for validation if no validation data is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldOut {
    /// None: the caller splits the queries.
    Nothing,
    /// One fifth of the queries, a different fifth for each member of an ensemble.
    Fifth {
        /// Seed of the split.
        seed: u64,
        /// Number of members.
        members: usize,
    },
}

/// Fraction of the queries that are held out.
const FRACTION: f64 = 0.2;

/// Number of different validation sets: each query is held out by one of five members.
const FIFTHS: usize = 5;

impl Split {
    /// Splits the queries into training and validation; members of an ensemble hold out different fifths. The target
    /// probabilities returned are those of each member's training queries.
    pub(super) fn hold_out(
        mut self,
        seed: u64,
        members: usize,
        targets: Vec<Targets>,
    ) -> Result<(Splits, Vec<Targets>)> {
        let queries = self.data.n_queries();
        let too_few = |what: &'static str| {
            move |error: Error| {
                Error::Data(format!(
                    "too few queries to hold {what} out for validation: set `valid` to a file: {error}"
                ))
            }
        };
        let parts = split(queries, &[1.0 - FRACTION, FRACTION], seed).map_err(too_few("some"))?;
        let mut chosen = vec![parts[0].clone()];
        let mut others = Vec::new();
        if members > 1 {
            // The first member holds out the same fifth as a single run; the others hold out fourths of its training
            // queries.
            let fourths = kfold(parts[0].len(), FIFTHS - 1, seed).map_err(too_few("different ones for each member"))?;
            let copies = fourths.len().min(members - 1) as u64;
            if !self.data.is_mapped() {
                let bytes = memory::bytes_of::<f32>(self.data.features().len() as u64).saturating_mul(copies);
                let what = "the training data of members that hold out different queries";
                memory::ask(bytes, what, "set `valid` to a file, which all members share")?;
            }
            for fourth in fourths.into_iter().take(members - 1) {
                let held_out: Vec<usize> = fourth.into_iter().map(|place| parts[0][place]).collect();
                let train = (0..queries).filter(|query| held_out.binary_search(query).is_err()).collect::<Vec<_>>();
                others.push((self.data.select(&train), self.data.select(&held_out)));
                chosen.push(train);
            }
        }
        let targets = targets.iter().flat_map(|all| chosen.iter().map(move |queries| all.select(queries))).collect();
        let valid = self.data.take_out(&parts[1]);
        let each = if others.is_empty() { "" } else { ", different ones for each member" };
        let Split { file, path, data, line, .. } = self;
        let part = |which, data| {
            let mut part = Split::new(format!("{file}, {which} in 5 queries{each}"), data);
            part.info.file = Some(file.clone());
            Split { file: file.clone(), path: path.clone(), line, ..part }
        };
        Ok((Splits { others, ..Splits::new(part("4", data), part("1", valid), None) }, targets))
    }
}
