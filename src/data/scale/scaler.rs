//! A fitted scaling.

use super::columns::{self, BLOCK, DistributedColumns, Slice};
use super::columns::{Binned, ColumnStats};
use super::inputs::{Input, Inputs};
use super::stored::Stored;
use super::{Affine, Encoding, FitBuffers, Lines, Pieces, ScaleKind, Scaling, Statistic, Step};
use crate::data::dataset::Dataset;
use crate::distributed::Member;
use crate::error::{Error, Result};
use crate::memory;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// A fitted feature scaling, computed in f64 and rounded to f32 once.
///
/// Features that are constant in the training split become 0 in all splits. Results are clipped to the range of f32. Values
/// that are not finite are ignored when fitting.
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
    pub(super) inputs: Inputs,
}

impl Scaler {
    /// Fits a scaling to all documents of `data`, which should be the training split only. Missing values stay missing.
    pub fn fit(scaling: impl Into<Scaling>, data: &Dataset) -> Scaler {
        Scaler::of(scaling.into(), data.n_features(), data)
    }

    fn of(Scaling { kind, bins }: Scaling, width: usize, columns: &dyn ColumnStats) -> Scaler {
        Scaler { kind, width, steps: kind.fit(&Binned { columns, bins }), inputs: Inputs::default() }
    }

    /// Fits a scaling to the documents of all members. `rows` are the rows of each member, `data` has those of this one.
    ///
    /// # Errors
    /// When the connection to a member is lost.
    pub(crate) fn fit_distributed(
        scaling: impl Into<Scaling>,
        member: &Member,
        data: &Dataset,
        rows: &[Range<usize>],
    ) -> Result<Scaler> {
        if member.size() == 1 || data.n_features() == 0 {
            return Ok(Scaler::fit(scaling, data));
        }
        let columns = DistributedColumns::new(member, data, rows);
        let scaler = Scaler::of(scaling.into(), data.n_features(), &columns);
        columns.checked(scaler)
    }

    /// Fits medians and indicators to the documents of all members, of which `missing` lack each feature.
    pub(super) fn distributed_inputs(
        member: &Member,
        data: &Dataset,
        rows: &[Range<usize>],
        missing: &[usize],
        documents: usize,
    ) -> Result<Inputs> {
        let columns = DistributedColumns::new(member, data, rows);
        let inputs = Inputs::fit(&columns, missing, documents);
        columns.checked(inputs)
    }

    /// Returns the kind of scaling.
    pub fn kind(&self) -> ScaleKind {
        self.kind
    }

    /// Returns the number of features on which it was fitted.
    pub fn n_features(&self) -> usize {
        self.width
    }

    /// Returns the number of inputs of a model: one per feature, unless there are indicators of missing values or categorical
    /// features.
    pub fn n_inputs(&self) -> usize {
        self.inputs.count(self.width)
    }

    /// Lists the inputs of a model.
    pub(crate) fn inputs(&self) -> Vec<Input> {
        self.inputs.list(self.width)
    }

    /// Whether inputs are not one scaled value per feature.
    pub(crate) fn widens(&self) -> bool {
        self.inputs.widens()
    }

    /// Whether inputs are the unscaled features.
    pub(crate) fn is_identity(&self) -> bool {
        self.steps.is_empty() && self.inputs.is_empty()
    }

    /// Returns the value in place of a missing one, feature by feature; empty if missing values stay missing.
    pub(crate) fn medians(&self) -> &[f32] {
        &self.inputs.medians
    }

    /// Returns the parts of the inputs that are not scaled features.
    pub(crate) fn parts(&self) -> &Inputs {
        &self.inputs
    }

    /// Returns the steps, in the order in which they are applied.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether each query is scaled separately.
    pub(crate) fn is_per_query(&self) -> bool {
        self.steps.iter().any(Step::is_per_query)
    }

    /// Returns center and spread of each feature for [`Step::Affine`]; empty if there is no such step.
    pub(crate) fn numbers(&self) -> (&[f64], &[f64]) {
        let affine = self.steps.iter().find_map(|step| match step {
            Step::Affine(affine) => Some(affine),
            _ => None,
        });
        affine.map_or((&[], &[]), |affine| (&affine.center, &affine.spread))
    }

    /// Returns the ascending quantiles of each feature for [`Step::Lines`]; empty if there is no such step.
    pub(crate) fn knots(&self) -> &[f32] {
        let lines = self.steps.iter().find_map(|step| match step {
            Step::Lines(lines) => Some(lines),
            _ => None,
        });
        lines.map_or(&[], Lines::knots)
    }

    /// Returns the fitted knots of `piecewise`.
    pub(crate) fn pieces(&self) -> Option<&Pieces> {
        self.steps.iter().find_map(|step| match step {
            Step::Pieces(pieces) => Some(pieces),
            _ => None,
        })
    }

    /// Returns how nets read the scaled features; `None` if each is one input.
    pub fn encoding(&self) -> Option<Arc<Encoding>> {
        let pieces = self.pieces()?;
        Some(match self.widens() {
            false => pieces.encoding().clone(),
            true => Arc::new(pieces.encoding_of(&self.inputs())),
        })
    }

    /// Scales all documents of `data`: in place, or whenever rows are read for a mapped file.
    ///
    /// # Errors
    /// When the number of features differs from that of the data on which the scaler was fitted.
    pub fn apply(&self, data: &mut Dataset) -> Result<()> {
        if data.n_features() != self.width {
            return Err(Error::Mismatch(format!(
                "the scaler was fitted on {} features, but the data has {}",
                self.width,
                data.n_features()
            )));
        }
        if self.width == 0 || self.is_identity() {
            return Ok(());
        }
        if data.scale_when_read(self) {
            return Ok(());
        }
        if self.widens() {
            return self.widen(data);
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

    /// Scales the documents of one query, row-major, in place. The result is bit for bit that of [`Scaler::apply`].
    ///
    /// # Errors
    /// When `rows` is not a whole number of rows of [`Scaler::n_features`] values, and when [`Scaler::n_inputs`] is another number.
    pub fn apply_rows(&self, rows: &mut [f32]) -> Result<()> {
        self.check_rows(rows)?;
        if self.widens() {
            let message = "missing values or categorical features add inputs: rows cannot be scaled in place";
            return Err(Error::Mismatch(message.into()));
        }
        self.scale(rows);
        Ok(())
    }

    /// Returns the inputs of the documents of one query: [`Scaler::n_inputs`] values per row.
    ///
    /// # Errors
    /// When `rows` is not a whole number of rows of [`Scaler::n_features`] values.
    pub fn inputs_of(&self, mut rows: Vec<f32>) -> Result<Vec<f32>> {
        self.check_rows(&rows)?;
        if !self.widens() {
            self.scale(&mut rows);
            return Ok(rows);
        }
        let mut inputs = Vec::new();
        self.fill(&mut rows, &mut inputs, &self.inputs(), |rows| self.scale(rows));
        Ok(inputs)
    }

    /// Writes the inputs of unscaled rows, which `scale` scales in place.
    fn fill(&self, rows: &mut [f32], inputs: &mut Vec<f32>, list: &[Input], scale: impl FnOnce(&mut [f32])) {
        inputs.clear();
        inputs.resize(rows.len() / self.width.max(1) * list.len(), 0.0);
        self.inputs.mark(list, rows, self.width, inputs);
        scale(rows);
        self.inputs.place(list, rows, self.width, inputs);
    }

    /// Replaces all rows of a data set in memory by their inputs.
    fn widen(&self, data: &mut Dataset) -> Result<()> {
        let (documents, count) = (data.n_documents(), self.n_inputs());
        let what = format!("{documents} documents of {count} inputs");
        let mut values = memory::zeros(documents * count, &what, "train on fewer queries, or without `categorical`")?;
        let rows = |range: Range<usize>| &data.features()[range.start * self.width..range.end * self.width];
        let offsets = data.offsets();
        // Whole queries, in parallel.
        let (mut parts, mut rest) = (Vec::with_capacity(data.n_queries()), &mut values[..]);
        for query in offsets.windows(2).map(|ends| ends[0]..ends[1]) {
            let (own, after) = rest.split_at_mut(query.len() * count);
            parts.push((query, own));
            rest = after;
        }
        parts.into_par_iter().try_for_each(|(query, values)| {
            values.copy_from_slice(&self.inputs_of(rows(query).to_vec())?);
            Ok::<(), Error>(())
        })?;
        data.replace_features(count, values);
        Ok(())
    }

    fn check_rows(&self, rows: &[f32]) -> Result<()> {
        let whole = if self.width == 0 { rows.is_empty() } else { rows.len().is_multiple_of(self.width) };
        if !whole {
            return Err(Error::Mismatch(format!(
                "{} feature values are not a whole number of rows of {} features",
                rows.len(),
                self.width
            )));
        }
        Ok(())
    }

    /// Does the same as [`Scaler::inputs_of`] in one thread and without allocating; rows must be whole. Returns the inputs, which
    /// are in `rows` or `inputs`.
    pub(crate) fn inputs_in<'a>(
        &self,
        rows: &'a mut [f32],
        inputs: &'a mut Vec<f32>,
        list: &[Input],
        buffers: &mut FitBuffers,
    ) -> &'a [f32] {
        if !self.widens() {
            self.apply_rows_in(rows, buffers);
            return rows;
        }
        self.fill(rows, inputs, list, |rows| self.apply_rows_in(rows, buffers));
        inputs
    }

    fn apply_rows_in(&self, rows: &mut [f32], buffers: &mut FitBuffers) {
        if self.width == 0 {
            return;
        }
        self.inputs.impute(rows);
        if let Some((statistic, before)) = self.within_query() {
            buffers.fit(statistic, before, rows, self.width);
        }
        self.apply_steps(rows, buffers);
    }

    fn scale(&self, rows: &mut [f32]) {
        if self.width == 0 || self.is_identity() {
            return;
        }
        self.inputs.impute(rows);
        let mut buffers = FitBuffers::default();
        if let Some((statistic, before)) = self.within_query() {
            let all = Slice { values: &*rows, width: self.width };
            let [columns] = columns::columns([(statistic, before)], &all, self.width, |_| ());
            buffers.affine = Affine::of(statistic, &columns);
        }
        self.apply_steps(rows, &mut buffers);
    }

    /// Returns the statistic of the step within queries, and the steps before it.
    fn within_query(&self) -> Option<(Statistic, &[Step])> {
        self.steps.iter().enumerate().find_map(|(index, step)| match step {
            Step::WithinQuery(statistic) => Some((*statistic, &self.steps[..index])),
            _ => None,
        })
    }

    /// Applies all steps in f64 and rounds once. `buffers.affine` must be fitted to the query if there is a step within queries.
    fn apply_steps(&self, rows: &mut [f32], buffers: &mut FitBuffers) {
        for row in rows.chunks_exact_mut(self.width) {
            buffers.row.clear();
            buffers.row.extend(row.iter().map(|&x| f64::from(x)));
            self.steps.iter().for_each(|step| step.apply(&mut buffers.row, &buffers.affine));
            row.iter_mut().zip(&buffers.row).for_each(|(x, &value)| *x = value as f32);
        }
    }
}
