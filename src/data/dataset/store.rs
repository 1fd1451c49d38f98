//! Where the features of a data set are: in memory, or in a mapped file, as they are or to be scaled when they are read.

use crate::data::cache::CacheMap;
use crate::data::scale::Scaler;
use std::sync::{Arc, OnceLock};

/// The features of a data set.
#[derive(Debug, Clone)]
pub(super) enum Store {
    /// All rows, one behind the other.
    Memory(Vec<f32>),
    /// Queries of a mapped file.
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
    pub queries: Chosen,
    /// What is done to rows when they are read, one after the other.
    pub scalers: Vec<Arc<Scaler>>,
    /// All rows, where somebody asked for them as one slice.
    pub copy: OnceLock<Vec<f32>>,
}

impl Clone for Mapped {
    fn clone(&self) -> Self {
        Mapped::new(self.file.clone(), self.queries.clone(), self.scalers.clone())
    }
}

impl Mapped {
    pub fn new(file: Arc<CacheMap>, queries: Chosen, scalers: Vec<Arc<Scaler>>) -> Self {
        Mapped { file, queries, scalers, copy: OnceLock::new() }
    }

    /// Some of these queries.
    pub fn select(&self, queries: &[usize]) -> Self {
        Mapped::new(self.file.clone(), self.queries.select(queries), self.scalers.clone())
    }

    /// Whether a document's features depend on the others of its query.
    pub fn is_per_query(&self) -> bool {
        self.scalers.iter().any(|scaler| scaler.is_per_query())
    }

    /// The rows of the file as they are, where these are the numbers that are wanted.
    pub fn plain(&self, width: usize) -> Option<&[f32]> {
        self.file.floats().filter(|_| self.scalers.is_empty() && width == self.file.width())
    }

    /// Scales rows: those of one whole query where [`Mapped::is_per_query`].
    pub fn scale(&self, rows: &mut [f32]) {
        for scaler in &self.scalers {
            // Widths were compared when the scaler was given.
            let _ = scaler.apply_rows(rows);
        }
    }
}

/// Which queries of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chosen {
    /// Neighbours, from this one on.
    From(usize),
    /// These, in this order.
    Each(Arc<[usize]>),
}

impl Chosen {
    /// The number in the file of the query at `place`.
    pub fn get(&self, place: usize) -> usize {
        match self {
            Chosen::From(first) => first + place,
            Chosen::Each(all) => all[place],
        }
    }

    fn select(&self, places: &[usize]) -> Self {
        let all: Vec<usize> = places.iter().map(|&place| self.get(place)).collect();
        match all.first() {
            Some(&first) if all.iter().enumerate().all(|(place, &query)| query == first + place) => Chosen::From(first),
            None => Chosen::From(0),
            _ => Chosen::Each(all.into()),
        }
    }
}
