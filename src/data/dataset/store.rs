//! Storage of features: in memory, or in a mapped file whose rows may be scaled when they are read.

use crate::data::cache::CacheMap;
use crate::data::scale::Scaler;
use std::sync::{Arc, OnceLock};

/// The features of a data set.
#[derive(Debug, Clone)]
pub(super) enum Store {
    /// All rows, row-major.
    Memory(Vec<f32>),
    Mapped(Mapped),
}

impl Default for Store {
    fn default() -> Self {
        Store::Memory(Vec::new())
    }
}

/// Queries of a mapped file.
#[derive(Debug)]
pub(super) struct Mapped {
    pub file: Arc<CacheMap>,
    pub queries: Selection,
    /// Applied in order to rows when they are read.
    pub scalers: Vec<Arc<Scaler>>,
    /// Copy of all rows, made when they are requested as one slice.
    pub copy: OnceLock<Vec<f32>>,
}

impl Clone for Mapped {
    fn clone(&self) -> Self {
        Mapped::new(self.file.clone(), self.queries.clone(), self.scalers.clone())
    }
}

impl Mapped {
    pub fn new(file: Arc<CacheMap>, queries: Selection, scalers: Vec<Arc<Scaler>>) -> Self {
        Mapped { file, queries, scalers, copy: OnceLock::new() }
    }

    pub fn select(&self, queries: &[usize]) -> Self {
        Mapped::new(self.file.clone(), self.queries.select(queries), self.scalers.clone())
    }

    /// Whether the scaled features of a document depend on the other documents of its query.
    pub fn is_per_query(&self) -> bool {
        self.scalers.iter().any(|scaler| scaler.is_per_query())
    }

    /// Whether a scaler adds inputs to rows.
    pub fn widens(&self) -> bool {
        self.scalers.iter().any(|scaler| scaler.widens())
    }

    /// Returns the inputs of rows as they are in the file; they must be one whole query if [`Mapped::is_per_query`].
    pub fn inputs_of(&self, rows: Vec<f32>) -> Vec<f32> {
        // Cannot fail: widths are checked when a scaler is added.
        self.scalers.iter().fold(rows, |rows, scaler| scaler.inputs_of(rows).unwrap_or_default())
    }

    /// Returns all rows of the file if they are stored as `f32` with this width and are not scaled.
    pub fn plain(&self, width: usize) -> Option<&[f32]> {
        self.file.floats().filter(|_| self.scalers.is_empty() && width == self.file.width())
    }

    /// Scales rows; they must be one whole query if [`Mapped::is_per_query`].
    pub fn scale(&self, rows: &mut [f32]) {
        for scaler in &self.scalers {
            // Cannot fail: widths are checked when the scaler is added.
            let _ = scaler.apply_rows(rows);
        }
    }
}

/// Selected queries of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selection {
    /// Adjacent queries, starting at this one.
    From(usize),
    /// The listed queries.
    Each(Arc<[usize]>),
}

impl Selection {
    /// Returns the index in the file of the query at position `index` of this selection.
    pub fn get(&self, index: usize) -> usize {
        match self {
            Selection::From(first) => first + index,
            Selection::Each(all) => all[index],
        }
    }

    fn select(&self, indices: &[usize]) -> Self {
        let all: Vec<usize> = indices.iter().map(|&index| self.get(index)).collect();
        match all.first() {
            Some(&first) if all.iter().enumerate().all(|(index, &query)| query == first + index) => {
                Selection::From(first)
            }
            None => Selection::From(0),
            _ => Selection::Each(all.into()),
        }
    }
}
