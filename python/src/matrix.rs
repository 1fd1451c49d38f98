//! Feature matrices of Python libraries, read in place.

use crate::arrow::Table;
use crate::error::invalid;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::ops::Range;

/// Type of the elements of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    F32,
    F64,
    I32,
    I64,
}

/// A one- or two-dimensional array of NumPy, by its array interface.
#[derive(Debug, Clone, Copy)]
struct View {
    /// Address of the first element.
    address: usize,
    kind: Kind,
    shape: [usize; 2],
    /// Bytes from one row, and from one column, to the next.
    strides: [isize; 2],
}

impl View {
    fn of(array: &Bound<'_, PyAny>, dimensions: usize) -> PyResult<Self> {
        let interface = array.getattr("__array_interface__")?;
        let interface = interface.cast::<PyDict>()?;
        let field = |name: &str| interface.get_item(name)?.ok_or_else(|| invalid(format!("array without {name}")));
        let kind = match field("typestr")?.extract::<String>()?.as_str() {
            "<f4" => Kind::F32,
            "<f8" => Kind::F64,
            "<i4" => Kind::I32,
            "<i8" => Kind::I64,
            other => return Err(invalid(format!("array of type {other}: expected float32, float64, int32 or int64"))),
        };
        let (address, _) = field("data")?.extract::<(usize, bool)>()?;
        let shape = field("shape")?.extract::<Vec<usize>>()?;
        if shape.len() != dimensions {
            return Err(invalid(format!("array of {} dimensions: expected {dimensions}", shape.len())));
        }
        let size = match kind {
            Kind::F32 | Kind::I32 => 4,
            Kind::F64 | Kind::I64 => 8,
        };
        let columns = shape.get(1).copied().unwrap_or(1);
        let strides = match interface.get_item("strides")?.filter(|strides| !strides.is_none()) {
            Some(strides) => strides.extract::<Vec<isize>>()?,
            None => vec![(columns * size) as isize, size as isize],
        };
        let stride = |place: usize| strides.get(place).copied().unwrap_or(size as isize);
        Ok(View { address, kind, shape: [shape[0], columns], strides: [stride(0), stride(1)] })
    }

    /// The element in a row and a column, which must be within the shape.
    fn get(&self, row: usize, column: usize) -> f64 {
        let offset = row as isize * self.strides[0] + column as isize * self.strides[1];
        let address = self.address.wrapping_add_signed(offset);
        // SAFETY: NumPy states this address, type, shape and strides of an array that the owner of the view keeps alive, and
        // callers stay within the shape. Elements may be unaligned.
        unsafe {
            match self.kind {
                Kind::F32 => (address as *const f32).read_unaligned().into(),
                Kind::F64 => (address as *const f64).read_unaligned(),
                Kind::I32 => (address as *const i32).read_unaligned().into(),
                Kind::I64 => (address as *const i64).read_unaligned() as f64,
            }
        }
    }

    /// An integer of a one-dimensional array; `None` if it is negative.
    fn index(&self, place: usize) -> Option<usize> {
        let value = self.get(place, 0);
        (value >= 0.0).then_some(value as usize)
    }

    /// The rows as a slice, if they are contiguous and have the right type.
    fn slice(&self, rows: &Range<usize>) -> Option<&[f32]> {
        let [_, columns] = self.shape;
        let is_dense = self.strides[1] == 4 && self.strides[0] == 4 * columns as isize;
        if self.kind != Kind::F32 || !is_dense || !self.address.is_multiple_of(4) || self.address == 0 {
            return None;
        }
        let first = (self.address as *const f32).wrapping_add(rows.start * columns);
        // SAFETY: as for `get`; the rows are contiguous and aligned.
        Some(unsafe { std::slice::from_raw_parts(first, rows.len() * columns) })
    }

    fn fill(&self, rows: Range<usize>, values: &mut [f32]) {
        if let Some(slice) = self.slice(&rows) {
            values.copy_from_slice(slice);
            return;
        }
        let columns = self.shape[1];
        // Column by column, because the columns of data frames are contiguous. Blocks of rows fit into the cache.
        for column in 0..columns {
            for (place, row) in rows.clone().enumerate() {
                values[place * columns + column] = self.get(row, column) as f32;
            }
        }
    }
}

enum Source {
    Dense(View),
    /// Compressed sparse rows: offsets of rows, columns, values.
    Sparse([View; 3]),
    Table(Table),
}

/// A feature matrix that belongs to Python.
#[pyclass(frozen)]
pub struct Matrix {
    source: Source,
    rows: usize,
    columns: usize,
    /// Keeps the memory of the views alive.
    _owners: Vec<Py<PyAny>>,
}

/// Number of values that are copied as one task.
const BLOCK: usize = 1 << 14;

#[pymethods]
impl Matrix {
    /// A NumPy array with any strides.
    #[staticmethod]
    fn dense(array: Bound<'_, PyAny>) -> PyResult<Self> {
        let view = View::of(&array, 2)?;
        let [rows, columns] = view.shape;
        Ok(Matrix { source: Source::Dense(view), rows, columns, _owners: vec![array.unbind()] })
    }

    /// A matrix of compressed sparse rows.
    #[staticmethod]
    fn sparse(
        offsets: Bound<'_, PyAny>,
        indices: Bound<'_, PyAny>,
        values: Bound<'_, PyAny>,
        columns: usize,
    ) -> PyResult<Self> {
        let views = [View::of(&offsets, 1)?, View::of(&indices, 1)?, View::of(&values, 1)?];
        let [ends, places, numbers] = &views;
        let stored = places.shape[0].min(numbers.shape[0]);
        let rows = ends.shape[0].checked_sub(1).ok_or_else(|| invalid("sparse matrix without row offsets"))?;
        let mut before = 0;
        for row in 0..=rows {
            let end = ends.index(row).filter(|end| (before..=stored).contains(end));
            before = end.ok_or_else(|| invalid("sparse matrix with invalid row offsets"))?;
        }
        if (0..before).any(|place| places.index(place).is_none_or(|column| column >= columns)) {
            return Err(invalid(format!("sparse matrix with an index outside of its {columns} columns")));
        }
        let owners = vec![offsets.unbind(), indices.unbind(), values.unbind()];
        Ok(Matrix { source: Source::Sparse(views), rows, columns, _owners: owners })
    }

    /// An object with the Arrow PyCapsule interface: a table of numeric columns.
    #[staticmethod]
    fn arrow(table: Bound<'_, PyAny>) -> PyResult<Self> {
        let table = Table::read(&table)?;
        let (rows, columns) = table.shape();
        Ok(Matrix { source: Source::Table(table), rows, columns, _owners: Vec::new() })
    }

    /// Numbers of rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Names of the columns of a table.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        match &self.source {
            Source::Table(table) => Some(table.names()),
            _ => None,
        }
    }
}

impl Matrix {
    /// Number of columns.
    pub fn width(&self) -> usize {
        self.columns
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Copies rows to `values`, row by row, in parallel.
    pub fn fill(&self, rows: Range<usize>, values: &mut [f32]) {
        if self.columns == 0 {
            return;
        }
        let block = (BLOCK / self.columns).max(1);
        values.par_chunks_mut(block * self.columns).enumerate().for_each(|(place, values)| {
            let first = rows.start + place * block;
            self.fill_block(first..first + values.len() / self.columns, values);
        });
    }

    fn fill_block(&self, rows: Range<usize>, values: &mut [f32]) {
        match &self.source {
            Source::Dense(view) => view.fill(rows, values),
            Source::Table(table) => table.fill(rows, values),
            Source::Sparse([ends, places, numbers]) => {
                values.fill(0.0);
                for (row, cells) in rows.zip(values.chunks_exact_mut(self.columns)) {
                    let range = ends.index(row).unwrap_or(0)..ends.index(row + 1).unwrap_or(0);
                    for place in range {
                        // Duplicates add up, as in SciPy.
                        if let Some(cell) = places.index(place).and_then(|column| cells.get_mut(column)) {
                            *cell += numbers.get(place, 0) as f32;
                        }
                    }
                }
            }
        }
    }
}

/// Returns the elements of a one-dimensional array.
pub fn vector(array: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let view = View::of(array, 1)?;
    Ok((0..view.shape[0]).map(|place| view.get(place, 0)).collect())
}
