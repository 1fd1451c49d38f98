//! A fitted scaling.

use super::columns::{self, BLOCK, DistributedColumns, Slice};
use super::stored::Stored;
use super::{Affine, FitRoom, Lines, Measure, ScaleKind, Step};
use crate::data::dataset::Dataset;
use crate::distributed::Member;
use crate::error::{Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A fitted scaling, which is applied to a feature in f64 and rounded once.
///
/// A feature that was constant in the training split becomes 0 wherever it is met. Results beyond f32 are held at
/// its largest value. Values that are not finite are left out of the fit.
///
/// ```
/// use burnrank::{Dataset, ScaleKind, Scaler};
/// let mut data = Dataset::new(2, vec![1.0, 5.0, 3.0, 5.0], vec![0.0, 1.0], vec![("a".into(), 2)])?;
/// Scaler::fit(ScaleKind::ZScore, &data).apply(&mut data)?;
/// assert_eq!(data.features(), [-1.0, 0.0, 1.0, 0.0]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Scaler {
    pub(super) kind: ScaleKind,
    pub(super) width: usize,
    pub(super) steps: Vec<Step>,
}

impl Scaler {
    /// Learns the scaling of `kind` from all documents of `data`, which should be the training split alone.
    pub fn fit(kind: ScaleKind, data: &Dataset) -> Scaler {
        Scaler { kind, width: data.n_features(), steps: kind.fit(data) }
    }

    /// Learns the scaling of `kind` from the documents of all members; `rows` are those that each has, `data` has this one's.
    ///
    /// # Errors
    /// When a member is gone.
    pub(crate) fn fit_distributed(
        kind: ScaleKind,
        member: &Member,
        data: &Dataset,
        rows: &[Range<usize>],
    ) -> Result<Scaler> {
        if member.size() == 1 || data.n_features() == 0 {
            return Ok(Scaler::fit(kind, data));
        }
        let columns = DistributedColumns::new(member, data, rows);
        let steps = kind.fit(&columns);
        columns.checked(Scaler { kind, width: data.n_features(), steps })
    }

    /// What this scaler does.
    pub fn kind(&self) -> ScaleKind {
        self.kind
    }

    /// The number of features it was fitted on.
    pub fn n_features(&self) -> usize {
        self.width
    }

    /// What is done to features, one step after the other.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether each query is scaled by itself.
    pub(crate) fn is_per_query(&self) -> bool {
        self.steps.iter().any(Step::is_per_query)
    }

    /// The numbers of its [`Step::Affine`]: what is subtracted and what is divided by, feature by feature; empty without one.
    pub(crate) fn numbers(&self) -> (&[f64], &[f64]) {
        let affine = self.steps.iter().find_map(|step| match step {
            Step::Affine(affine) => Some(affine),
            _ => None,
        });
        affine.map_or((&[], &[]), |affine| (&affine.center, &affine.spread))
    }

    /// The numbers of its [`Step::Lines`]: ascending quantiles of each feature, one feature after the other; empty without one.
    pub(crate) fn knots(&self) -> &[f32] {
        let lines = self.steps.iter().find_map(|step| match step {
            Step::Lines(lines) => Some(lines),
            _ => None,
        });
        lines.map_or(&[], Lines::knots)
    }

    /// Scales every document of `data`: in place where it is in memory, and whenever it is read where it is in a mapped file.
    ///
    /// # Errors
    /// When `data` has another number of features than the scaler was fitted on.
    pub fn apply(&self, data: &mut Dataset) -> Result<()> {
        if data.n_features() != self.width {
            return Err(Error::Mismatch(format!(
                "the scaler was fitted on {} features, the data has {}",
                self.width,
                data.n_features()
            )));
        }
        if self.width == 0 || self.steps.is_empty() {
            return Ok(());
        }
        if data.scale_when_read(self) {
            return Ok(());
        }
        if self.is_per_query() {
            let ends: Vec<usize> = data.offsets().iter().map(|&offset| offset * self.width).collect();
            let mut rest = data.features_mut();
            let mut queries = Vec::with_capacity(ends.len());
            for pair in ends.windows(2) {
                let (query, after) = rest.split_at_mut(pair[1] - pair[0]);
                queries.push(query);
                rest = after;
            }
            queries.into_par_iter().for_each(|query| self.scale(query));
        } else {
            data.features_mut().par_chunks_mut(BLOCK * self.width).for_each(|block| self.scale(block));
        }
        Ok(())
    }

    /// Scales the documents of one query, row-major, in place: the same bytes as [`Scaler::apply`] gives them.
    ///
    /// # Errors
    /// When `rows` is not a whole number of rows of the scaler's width.
    pub fn apply_rows(&self, rows: &mut [f32]) -> Result<()> {
        let whole = if self.width == 0 { rows.is_empty() } else { rows.len().is_multiple_of(self.width) };
        if !whole {
            return Err(Error::Mismatch(format!(
                "{} feature values are no whole number of rows of {} features",
                rows.len(),
                self.width
            )));
        }
        self.scale(rows);
        Ok(())
    }

    /// As [`Scaler::apply_rows`], by one thread and in the memory that is given; rows must be whole.
    pub(crate) fn apply_rows_in(&self, rows: &mut [f32], room: &mut FitRoom) {
        if self.width == 0 {
            return;
        }
        if let Some((measure, before)) = self.within_query() {
            room.fit(measure, before, rows, self.width);
        }
        self.take_steps(rows, room);
    }

    fn scale(&self, rows: &mut [f32]) {
        if self.width == 0 || self.steps.is_empty() {
            return;
        }
        let mut room = FitRoom::default();
        if let Some((measure, before)) = self.within_query() {
            let all = Slice { values: &*rows, width: self.width };
            let [columns] = columns::columns([(measure, before)], &all, self.width, |_| ());
            room.affine = Affine::of(measure, &columns);
        }
        self.take_steps(rows, &mut room);
    }

    /// What is measured within a query, and the steps before.
    fn within_query(&self) -> Option<(Measure, &[Step])> {
        self.steps.iter().enumerate().find_map(|(place, step)| match step {
            Step::WithinQuery(measure) => Some((*measure, &self.steps[..place])),
            _ => None,
        })
    }

    /// Takes all steps in f64 and rounds once; `room.affine` must be fitted on the query where there is a step within queries.
    fn take_steps(&self, rows: &mut [f32], room: &mut FitRoom) {
        for row in rows.chunks_exact_mut(self.width) {
            room.row.clear();
            room.row.extend(row.iter().map(|&x| f64::from(x)));
            self.steps.iter().for_each(|step| step.apply(&mut room.row, &room.affine));
            row.iter_mut().zip(&room.row).for_each(|(x, &value)| *x = value as f32);
        }
    }
}
