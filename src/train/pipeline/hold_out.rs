//! Validation queries where no validation data is given: some of the training queries, held out.

use super::{Split, Splits};
use crate::data::{Targets, kfold, split};
use crate::error::{Error, Result};
use crate::memory;

/// Which training queries are held out for validation where no validation data is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldOut {
    /// None: whoever trains splits the queries itself.
    Nothing,
    /// One in five, and for each member of an ensemble another fifth.
    Fifth {
        /// Seed of the choice.
        seed: u64,
        /// Number of members.
        members: usize,
    },
}

/// Share of the queries that are held out.
const SHARE: f64 = 0.2;

/// As many as there are, so that each query is held out by one of five members.
const FIFTHS: usize = 5;

impl Split {
    /// Some queries for training and the others for validation; for members of an ensemble, each fifth once. Target
    /// probabilities are then those of each member's training queries.
    pub(super) fn hold_out(
        mut self,
        seed: u64,
        members: usize,
        targets: Vec<Targets>,
    ) -> Result<(Splits, Vec<Targets>)> {
        let queries = self.data.n_queries();
        let too_few = |what: &'static str| {
            move |error: Error| {
                Error::Data(format!("too few queries {what} for validation: give `valid` FILE: {error}"))
            }
        };
        let parts = split(queries, &[1.0 - SHARE, SHARE], seed).map_err(too_few("to keep some"))?;
        let mut chosen = vec![parts[0].clone()];
        let mut others = Vec::new();
        if members > 1 {
            // The first member keeps what a single run keeps; the other fifths are fourths of its training queries.
            let fourths = kfold(parts[0].len(), FIFTHS - 1, seed).map_err(too_few("for each member to keep others"))?;
            let copies = fourths.len().min(members - 1) as u64;
            if !self.data.is_mapped() {
                let bytes = memory::bytes_of::<f32>(self.data.features().len() as u64).saturating_mul(copies);
                let what = "the training data of members that keep different queries for validation";
                memory::ask(bytes, what, "give `valid` FILE, which all of them share")?;
            }
            for fourth in fourths.into_iter().take(members - 1) {
                let kept: Vec<usize> = fourth.into_iter().map(|place| parts[0][place]).collect();
                let train = (0..queries).filter(|query| kept.binary_search(query).is_err()).collect::<Vec<_>>();
                others.push((self.data.select(&train), self.data.select(&kept)));
                chosen.push(train);
            }
        }
        let targets = targets.iter().flat_map(|all| chosen.iter().map(move |queries| all.select(queries))).collect();
        let valid = self.data.take_out(&parts[1]);
        let each = if others.is_empty() { "" } else { ", other ones for each member" };
        let Split { file, path, data, line, .. } = self;
        let part = |which, data| {
            let part = Split::new(format!("{file}, {which} in 5 queries{each}"), data);
            Split { file: file.clone(), path: path.clone(), line, ..part }
        };
        Ok((Splits { others, ..Splits::new(part("4", data), part("1", valid), None) }, targets))
    }
}
