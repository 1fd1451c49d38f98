//! Distributed fits, in which each process has some of the rows. The result is bit for bit that of one process with all rows.
//!
//! Moments and ranges use the same fixed blocks of rows. The process that has the first row of a block receives its other rows
//! and computes the block; all processes combine the blocks in order. Quantiles use the same sample of documents; the sampled
//! values of each feature are sent to one process.

use super::blocks::{BLOCK, columns_of, combined};
use super::{Column, ColumnFit, ColumnStats, SampledColumn, Statistic, quantiles};
use crate::data::dataset::Dataset;
use crate::data::scale::step::Step;
use crate::distributed::{Member, doubles_of, of_doubles, range_of_rank};
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;

/// The documents of several processes.
pub(in crate::data::scale) struct DistributedColumns<'a> {
    member: &'a Member,
    own: &'a [f32],
    width: usize,
    /// Adjacent ranges of rows of all members.
    rows: &'a [Range<usize>],
    /// The first error of an exchange.
    error: OnceLock<Error>,
}

impl ColumnStats for DistributedColumns<'_> {
    fn columns(&self, statistic: Statistic, before: &[Step]) -> Vec<Column> {
        self.or_empty(|| self.all_columns(statistic, before))
    }

    fn quantiles(&self) -> Vec<f32> {
        let shares = quantiles::shares();
        self.sampled(&|column| quantiles::column_knots(column, &shares)).concat()
    }

    fn sampled(&self, fit: &ColumnFit<'_>) -> Vec<Vec<f32>> {
        self.or_empty(|| self.all_sampled(fit))
    }
}

impl<'a> DistributedColumns<'a> {
    /// `data` has the rows of this member and at least one feature.
    pub fn new(member: &'a Member, data: &'a Dataset, rows: &'a [Range<usize>]) -> Self {
        let (own, width) = (data.features(), data.n_features());
        DistributedColumns { member, own, width, rows, error: OnceLock::new() }
    }

    /// Returns `fitted` unless an exchange of statistics failed.
    ///
    /// # Errors
    /// When the connection to a member was lost.
    pub fn checked<T>(self, fitted: T) -> Result<T> {
        self.error.into_inner().map_or(Ok(fitted), Err)
    }

    /// Returns the statistics, or an empty vector after an error, which is kept for [`Self::checked`].
    fn or_empty<T>(&self, statistics: impl FnOnce() -> Result<Vec<T>>) -> Vec<T> {
        if self.error.get().is_some() {
            return Vec::new();
        }
        statistics().unwrap_or_else(|error| {
            let _ = self.error.set(error);
            Vec::new()
        })
    }

    /// Returns the first rows of a member that belong to a block starting in an earlier member.
    fn head(&self, rank: usize) -> Range<usize> {
        let rows = &self.rows[rank];
        rows.start..rows.start.next_multiple_of(BLOCK).min(rows.end)
    }

    /// Returns the rank of the member that computes the block with this row.
    fn block_owner(&self, row: usize) -> usize {
        let first = row / BLOCK * BLOCK;
        self.rows.iter().position(|rows| rows.contains(&first)).unwrap_or(0)
    }

    /// Receives the rows of the last block of this member that other members have.
    fn rest(&self) -> Result<Vec<f32>> {
        let (rank, size) = (self.member.rank(), self.member.size());
        let sent = |from: usize, to: usize| {
            let head = self.head(from);
            if head.is_empty() || self.block_owner(head.start) != to { 0 } else { head.len() * self.width }
        };
        let out: Vec<u32> = self.own[..self.head(rank).len() * self.width].iter().map(|x| x.to_bits()).collect();
        let out_lengths: Vec<usize> = (0..size).map(|to| sent(rank, to)).collect();
        let lengths: Vec<usize> = (0..size).map(|from| sent(from, rank)).collect();
        let into = self.member.exchange(&out, &out_lengths, &lengths)?;
        Ok(into.into_iter().map(f32::from_bits).collect())
    }

    fn all_columns(&self, statistic: Statistic, before: &[Step]) -> Result<Vec<Column>> {
        let block = |rows: &[f32]| columns_of(statistic, before, rows, self.width);
        let rest = self.rest()?;
        let rows = &self.own[self.head(self.member.rank()).len() * self.width..];
        let whole = rows.len() / (BLOCK * self.width) * BLOCK * self.width;
        let mut blocks: Vec<Vec<Column>> = rows[..whole].par_chunks(BLOCK * self.width).map(block).collect();
        let last = [&rows[whole..], &rest].concat();
        if !last.is_empty() {
            blocks.push(block(&last));
        }
        let words = of_doubles(blocks.iter().flatten().flat_map(|column| column.numbers().map(f64::to_bits)));
        let all = self.member.all_gather(Ok(words))?.concat();
        let numbers: Vec<f64> = doubles_of(&all).map(f64::from_bits).collect();
        let columns: Vec<Column> = numbers.as_chunks().0.iter().map(|numbers| Column::of(*numbers)).collect();
        let blocks: Vec<Vec<Column>> = columns.chunks(self.width).map(<[Column]>::to_vec).collect();
        Ok(combined(self.width, &blocks))
    }

    fn all_sampled(&self, fit: &ColumnFit<'_>) -> Result<Vec<Vec<f32>>> {
        let (rank, size) = (self.member.rank(), self.member.size());
        let documents = self.rows.last().map_or(0, |rows| rows.end);
        let mut counts = vec![0; size];
        let mut sample = Vec::new();
        for document in quantiles::sampled(documents) {
            let holder = self.rows.iter().position(|rows| rows.contains(&document));
            let holder = holder.ok_or_else(|| Error::Data("a document is missing from all processes".into()))?;
            counts[holder] += 1;
            if holder == rank {
                sample.push((document - self.rows[rank].start) * self.width);
            }
        }
        let features = |rank: usize| range_of_rank(self.width, rank, size);
        let mut out = Vec::with_capacity(sample.len() * self.width);
        for to in 0..size {
            for feature in features(to) {
                out.extend(sample.iter().map(|row| self.own[row + feature].to_bits()));
            }
        }
        let out_lengths: Vec<usize> = (0..size).map(|to| sample.len() * features(to).len()).collect();
        let lengths: Vec<usize> = counts.iter().map(|count| count * features(rank).len()).collect();
        let into = self.member.exchange(&out, &out_lengths, &lengths)?;
        let fitted = |feature: usize| {
            let mut at = 0;
            let mut column = SampledColumn::default();
            for (count, length) in counts.iter().zip(&lengths) {
                into[at + feature * count..][..*count].iter().for_each(|&word| column.push(f32::from_bits(word)));
                at += length;
            }
            let numbers = fit(column);
            std::iter::once(numbers.len() as u32).chain(numbers.into_iter().map(f32::to_bits)).collect::<Vec<_>>()
        };
        let own: Vec<u32> = (0..features(rank).len()).into_par_iter().flat_map_iter(fitted).collect();
        let all = self.member.all_gather(Ok(own))?.concat();
        let (mut rest, mut columns) = (&all[..], Vec::with_capacity(self.width));
        while let Some((&length, others)) = rest.split_first() {
            let (numbers, others) = others.split_at((length as usize).min(others.len()));
            columns.push(numbers.iter().map(|&word| f32::from_bits(word)).collect());
            rest = others;
        }
        Ok(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ScaleKind, Scaler};
    use crate::distributed::threads::each;

    /// Rows of three features, some of which are NaN.
    fn data(documents: usize) -> Dataset {
        let value = |i: usize| {
            let random = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            if random.is_multiple_of(97) { f32::NAN } else { random as f32 * [1e-3, 1e3, 1.0][i % 3] }
        };
        let queries = (0..documents).map(|document| (document.to_string(), 1)).collect();
        Dataset::new(3, (0..documents * 3).map(value).collect(), vec![0.0; documents], queries).unwrap()
    }

    #[test]
    fn the_fit_does_not_depend_on_the_number_of_processes() {
        for documents in [1, 5, 1000, BLOCK, 5 * BLOCK + 7] {
            let all = data(documents);
            for kind in ScaleKind::ALL {
                let expected = Scaler::fit(kind, &all);
                for size in [2, 3, 4, 7] {
                    let rows: Vec<Range<usize>> = (0..size).map(|rank| range_of_rank(documents, rank, size)).collect();
                    let scalers = each(size, |member| {
                        let own = all.select(&rows[member.rank()].clone().collect::<Vec<_>>());
                        Scaler::fit_distributed(kind, member, &own, &rows).unwrap()
                    });
                    let bits = |scaler: &Scaler| {
                        let (center, spread) = scaler.numbers();
                        let knots = scaler.knots().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                        (center.iter().chain(spread).map(|x| x.to_bits()).collect::<Vec<_>>(), knots)
                    };
                    assert!(
                        scalers.iter().all(|scaler| bits(scaler) == bits(&expected)),
                        "{kind}, {documents}, {size}"
                    );
                }
            }
        }
    }
}
