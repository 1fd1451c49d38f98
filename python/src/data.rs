//! Data sets.

use crate::error::{OrRaise, invalid};
use crate::matrix::{Matrix, vector};
use crate::run::interruptible;
use burnrank::{Dataset, Error, ReadOptions, Result, memory};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;

/// A data set. Functions that change it take it out.
#[pyclass(frozen)]
pub struct Data(Mutex<Option<Dataset>>);

#[pymethods]
impl Data {
    /// Copies a feature matrix. `sizes` are the numbers of documents of the queries `ids`.
    #[new]
    fn new(
        py: Python<'_>,
        matrix: &Bound<'_, Matrix>,
        labels: Option<&Bound<'_, PyAny>>,
        ids: Vec<String>,
        sizes: Vec<usize>,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let matrix = matrix.get();
        let labels = labels.map(labels_of).transpose()?;
        let data = interruptible(py, None, |_| {
            let labels = labels.unwrap_or_else(|| vec![0.0; matrix.len()]);
            let what = format!("the {} features of {} documents", matrix.width(), matrix.len());
            let count = matrix.len().saturating_mul(matrix.width());
            let mut values = memory::zeros::<f32>(count, &what, "use fewer documents")?;
            copy(matrix, 0..matrix.len(), &mut values)?;
            let data = Dataset::new(matrix.width(), values, labels, ids.into_iter().zip(sizes).collect())?;
            match names {
                Some(names) => data.with_feature_names(names),
                None => Ok(data),
            }
        })?;
        Ok(Data(Mutex::new(Some(data))))
    }

    /// Reads a file of any format.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, first_index: u32) -> PyResult<Self> {
        let options = ReadOptions { first_index, ..ReadOptions::default() };
        let data = interruptible(py, None, |_| {
            let data = burnrank::read(&path, &options)?.data;
            data.load()?;
            Ok(data)
        })?;
        Ok(Data(Mutex::new(Some(data))))
    }

    /// Features as float32, row by row; labels as float32; query ids and sizes; feature names; document ids.
    #[expect(clippy::type_complexity, reason = "unpacked at once in Python")]
    fn unpack<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(
        (usize, usize),
        Bound<'py, PyByteArray>,
        Bound<'py, PyByteArray>,
        Vec<String>,
        Vec<usize>,
        Option<Vec<String>>,
        Option<Vec<String>>,
    )> {
        let data = self.take()?;
        let shape = (data.n_documents(), data.n_features());
        let ids = data.document_id(0).is_some();
        let ids = ids.then(|| (0..shape.0).map(|row| data.document_id(row).unwrap_or_default().to_owned()).collect());
        let sizes = data.offsets().windows(2).map(|rows| rows[1] - rows[0]).collect();
        Ok((
            shape,
            floats(py, data.features())?,
            floats(py, data.labels())?,
            data.query_ids().to_vec(),
            sizes,
            data.feature_names().map(<[String]>::to_vec),
            ids,
        ))
    }
}

impl Data {
    /// Takes the data set out.
    pub fn take(&self) -> PyResult<Dataset> {
        let mut data = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        data.take().ok_or_else(|| invalid("this data was already used"))
    }
}

/// Copies rows of a matrix, and fails for infinite numbers. NaN is a missing value.
pub fn copy(matrix: &Matrix, rows: Range<usize>, values: &mut [f32]) -> Result<()> {
    matrix.fill(rows.clone(), values);
    let place = values.iter().position(|value| value.is_infinite());
    place.map_or(Ok(()), |place| {
        let (row, column) = (rows.start + place / matrix.width(), place % matrix.width());
        let value = values[place];
        Err(Error::Data(format!("X: row {row}, column {column} is {value}: features must be finite numbers of float32, or NaN if they are missing")))
    })
}

/// Labels as the library has them.
pub fn labels_of(array: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    let labels = vector(array)?;
    if let Some(row) = labels.iter().position(|label| !(label.is_finite() && *label >= 0.0)) {
        return Err(invalid(format!("y: row {row} is {}: a label is a number of 0 or more", labels[row])));
    }
    Ok(labels.into_iter().map(|label| label as f32).collect())
}

/// The bytes of numbers, for `numpy.frombuffer`.
pub fn floats<'py>(py: Python<'py>, values: &[f32]) -> PyResult<Bound<'py, PyByteArray>> {
    PyByteArray::new_with(py, values.len() * 4, |bytes| {
        for (bytes, value) in bytes.chunks_exact_mut(4).zip(values) {
            bytes.copy_from_slice(&value.to_ne_bytes());
        }
        Ok(())
    })
}

/// Row offsets of queries of these sizes.
pub fn offsets(sizes: &[usize]) -> Vec<usize> {
    let ends = sizes.iter().scan(0, |end, size| {
        *end += size;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Reads JSON that a library type serialises to.
pub fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| Error::Record(error.to_string())).or_raise()
}
