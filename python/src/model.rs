//! Trained models.

use crate::data::{copy, floats, json, offsets};
use crate::error::OrRaise;
use crate::matrix::Matrix;
use crate::run::interruptible;
use burnrank::analysis::explain::feature_importance;
use burnrank::export::{Format, Request};
use burnrank::model::ModelPlace;
use burnrank::{Dataset, Error, Result, Stop, device};
use pyo3::exceptions::PyFileExistsError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use std::path::PathBuf;
use std::sync::Arc;

/// A trained model.
#[pyclass(frozen)]
pub struct Model(Arc<burnrank::Model>);

/// Number of feature values that are copied at a time, unless one query has more.
const VALUES: usize = 1 << 22;

impl Model {
    /// Wraps a model.
    pub fn new(model: burnrank::Model) -> Self {
        Model(Arc::new(model))
    }

    /// The model.
    pub fn inner(&self) -> &burnrank::Model {
        &self.0
    }

    /// Scores rows in blocks of whole queries.
    fn score_blocks(
        &self,
        matrix: &Matrix,
        sizes: &[usize],
        names: Option<Vec<String>>,
        stop: &Stop,
    ) -> Result<Vec<f32>> {
        let offsets = offsets(sizes);
        let rows = (VALUES / matrix.width().max(1)).max(1);
        let mut scores = Vec::with_capacity(matrix.len());
        let mut start = 0;
        while start < sizes.len() {
            stop.check()?;
            let fits = |end: &usize| offsets[*end] - offsets[start] <= rows;
            let end = (start + 1..=sizes.len()).take_while(fits).last().unwrap_or(start + 1);
            let block = offsets[start]..offsets[end];
            let mut values = vec![0.0; block.len() * matrix.width()];
            copy(matrix, block.clone(), &mut values)?;
            let queries = sizes[start..end].iter().map(|&size| (String::new(), size)).collect();
            let mut data = Dataset::new(matrix.width(), values, vec![0.0; block.len()], queries)?;
            if let Some(names) = &names {
                data = data.with_feature_names(names.clone())?;
            }
            scores.extend(self.0.score(&data)?);
            start = end;
        }
        if let Some(row) = scores.iter().position(|score| !score.is_finite()) {
            let score = scores[row];
            let text =
                format!("the score of row {row} is {score}: its features are too large for the model; scale them");
            return Err(Error::Data(text));
        }
        Ok(scores)
    }
}

#[pymethods]
impl Model {
    /// Reads a model folder.
    #[staticmethod]
    fn load(py: Python<'_>, folder: PathBuf, device: &str) -> PyResult<Self> {
        interruptible(py, None, |_| burnrank::Model::load(&folder, &device::open(device)?)).map(Model::new)
    }

    /// Writes a model folder.
    fn save(&self, py: Python<'_>, folder: PathBuf, force: bool) -> PyResult<()> {
        let place = ModelPlace::claim(&folder).or_raise()?;
        if place.model().or_raise()?.is_some() && !force {
            let text = format!("{}: exists: choose another folder, or replace it with force=True", folder.display());
            return Err(PyFileExistsError::new_err(text));
        }
        interruptible(py, None, |_| self.0.save_to(&place))
    }

    /// Scores documents; `sizes` are the numbers of documents of the queries.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        matrix: &Bound<'py, Matrix>,
        sizes: Vec<usize>,
        names: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let matrix = matrix.get();
        let total = sizes.iter().fold(0_usize, |sum, size| sum.saturating_add(*size));
        if total != matrix.len() {
            let rows = matrix.len();
            return Err(crate::error::invalid(format!("{total} documents in the queries, {rows} rows of X")));
        }
        let scores = interruptible(py, None, |link| self.score_blocks(matrix, &sizes, names, &link.stop))?;
        floats(py, &scores)
    }

    /// The contents of `model.json`.
    #[getter]
    fn info(&self) -> PyResult<String> {
        json(&self.0.info)
    }

    /// Number of features of a document.
    #[getter]
    fn n_features(&self) -> usize {
        self.0.info.n_features()
    }

    /// Whether scores depend on the other documents of a query.
    #[getter]
    fn needs_queries(&self) -> bool {
        self.0.info.scaler.kind().is_per_query()
    }

    /// Exports the model. Returns the file, the extension and contents of a second file, and a note.
    #[expect(clippy::type_complexity, reason = "unpacked at once in Python")]
    fn export<'py>(
        &self,
        py: Python<'py>,
        format: &str,
        name: &str,
        names: Option<Vec<String>>,
    ) -> PyResult<(Bound<'py, PyBytes>, Option<(String, Bound<'py, PyBytes>)>, String)> {
        let format = Format::of(format).or_raise()?;
        let mut request = Request::new(&self.0, name);
        if let Some(names) = names {
            request.feature_names = names;
        }
        let exported = format.export(&request).or_raise()?;
        let beside = exported.beside.map(|(ending, bytes)| (ending.to_string(), PyBytes::new(py, &bytes)));
        Ok((PyBytes::new(py, &exported.bytes), beside, exported.note.to_string()))
    }

    /// Kind and values of the model's own feature importance, if they do not depend on data.
    fn importance(&self) -> PyResult<Option<(String, Vec<f64>)>> {
        let shape = &self.0.info.ranker;
        if shape.architecture.is_net() && !shape.architecture.hidden().is_empty()
            || matches!(self.0.scorer, burnrank::Scorer::Kernel(_))
        {
            return Ok(None);
        }
        let width = self.n_features();
        let blank = Dataset::new(width, vec![0.0; width], vec![0.0], vec![(String::new(), 1)]).or_raise()?;
        let importance = feature_importance(&self.0, &self.0.scaled(blank).or_raise()?).or_raise()?;
        Ok(Some((importance.kind.to_string(), importance.values)))
    }
}
