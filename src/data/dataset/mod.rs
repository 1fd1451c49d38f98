//! The data set: one row per document, queries as ranges of rows, without padding.

mod ids;
mod missing;
mod names;
mod queries;
mod rows;
mod store;
mod view;
mod width;

pub use ids::DocumentIds;
pub use view::{QueryFeatures, QueryView};

use crate::error::{Error, Result};
use missing::same_values;
use std::sync::Arc;
use store::Store;

/// Queries, their documents' features and labels.
///
/// The documents of a query are adjacent. Features are a dense row-major matrix, either in memory or in a memory-mapped file
/// ([`Dataset::is_mapped`]). A missing value is NaN.
///
/// ```
/// use burnrank::Dataset;
/// let data = Dataset::new(2, vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6], vec![1.0, 0.0, 2.0], vec![("a".into(), 2), ("b".into(), 1)])?;
/// assert_eq!(data.query(0).labels, [1.0, 0.0]);
/// assert_eq!(data.query(1).features, [0.5, 0.6]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Dataset {
    width: usize,
    features: Store,
    labels: Vec<f32>,
    query_ids: Vec<String>,
    offsets: Vec<usize>,
    document_ids: Option<DocumentIds>,
    feature_names: Option<Arc<[String]>>,
    sparse: bool,
    sparse_missing: bool,
    /// Value of features beyond those of the file.
    padding: f32,
}

/// Compares queries and documents; ignores feature names and whether the file left features out.
impl PartialEq for Dataset {
    fn eq(&self, other: &Self) -> bool {
        self.width == other.width
            && self.labels == other.labels
            && self.query_ids == other.query_ids
            && self.offsets == other.offsets
            && self.has_document_ids() == other.has_document_ids()
            && (0..self.n_documents()).all(|row| self.document_id(row) == other.document_id(row))
            && (0..self.n_queries()).all(|query| same_values(&self.query(query).features, &other.query(query).features))
    }
}

impl Dataset {
    /// Builds a data set of `width` features from a row-major matrix, labels and `(query id, number of documents)`.
    ///
    /// # Errors
    /// When the lengths do not match or a query has no documents.
    pub fn new(width: usize, features: Vec<f32>, labels: Vec<f32>, queries: Vec<(String, usize)>) -> Result<Self> {
        let mut offsets = Vec::with_capacity(queries.len() + 1);
        let mut query_ids = Vec::with_capacity(queries.len());
        offsets.push(0);
        let mut end = 0;
        for (id, documents) in queries {
            if documents == 0 {
                return Err(Error::Mismatch(format!("query '{id}' has no documents")));
            }
            end += documents;
            offsets.push(end);
            query_ids.push(id);
        }
        if end != labels.len() || end * width != features.len() {
            return Err(Error::Mismatch(format!(
                "{end} documents in the queries, {} labels, {} feature values for {width} features",
                labels.len(),
                features.len()
            )));
        }
        Ok(Dataset {
            width,
            features: Store::Memory(features),
            labels,
            query_ids,
            offsets,
            document_ids: None,
            feature_names: None,
            sparse: false,
            sparse_missing: false,
            padding: 0.0,
        })
    }

    /// Sets the ids of the documents.
    ///
    /// # Errors
    /// When the number of ids is not the number of documents.
    pub fn with_document_ids(mut self, ids: DocumentIds) -> Result<Self> {
        if ids.len() != self.n_documents() {
            return Err(Error::Mismatch(format!("{} document ids for {} documents", ids.len(), self.n_documents())));
        }
        self.document_ids = Some(ids);
        Ok(self)
    }

    /// Returns the number of queries.
    pub fn n_queries(&self) -> usize {
        self.query_ids.len()
    }

    /// Returns the total number of documents.
    pub fn n_documents(&self) -> usize {
        self.labels.len()
    }

    /// Whether any query has documents with different labels; only such queries can be learned from or evaluated.
    pub fn has_pairs(&self) -> bool {
        self.offsets.windows(2).any(|rows| {
            let labels = &self.labels[rows[0]..rows[1]];
            labels.iter().any(|label| *label != labels[0])
        })
    }

    /// Returns the number of features per document.
    pub fn n_features(&self) -> usize {
        self.width
    }

    /// Returns all features, row-major, one row per document.
    ///
    /// The first call on a mapped file reads them into memory, unless the file stores them in this layout. [`Dataset::load`]
    /// does the same, but checks the memory limit first.
    pub fn features(&self) -> &[f32] {
        self.one_slice()
    }

    /// Returns all features for changes in place. Reads those of a mapped file into memory first.
    pub fn features_mut(&mut self) -> &mut [f32] {
        self.in_memory()
    }

    /// Returns all labels, one per document.
    pub fn labels(&self) -> &[f32] {
        &self.labels
    }

    /// Returns the first row of each query, followed by the number of documents: `n_queries() + 1` offsets.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Returns the ids of all queries, in order.
    pub fn query_ids(&self) -> &[String] {
        &self.query_ids
    }

    /// Returns the id of a document, or `None` if the data has no document ids.
    pub fn document_id(&self, row: usize) -> Option<&str> {
        match (&self.document_ids, &self.features) {
            (Some(ids), _) => Some(ids.get(row)),
            (None, Store::Mapped(mapped)) => self.mapped_id(mapped, row),
            (None, Store::Memory(_)) => None,
        }
    }

    /// Whether documents have ids, which may be empty.
    pub(crate) fn has_document_ids(&self) -> bool {
        self.document_ids.is_some() || matches!(&self.features, Store::Mapped(mapped) if mapped.file.has_document_ids())
    }

    /// Returns query `index`.
    ///
    /// # Panics
    /// When `index` is out of range.
    pub fn query(&self, index: usize) -> QueryView<'_> {
        let rows = self.offsets[index]..self.offsets[index + 1];
        QueryView {
            id: &self.query_ids[index],
            labels: &self.labels[rows.clone()],
            features: QueryFeatures::of(self, index),
            rows,
        }
    }

    /// Iterates over all queries in order.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = QueryView<'_>> {
        (0..self.n_queries()).map(|index| self.query(index))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(super) fn small() -> Dataset {
        let queries = vec![("a".to_owned(), 2), ("b".to_owned(), 1)];
        Dataset::new(2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![1.0, 0.0, 2.0], queries).unwrap()
    }

    #[test]
    fn lengths_must_match() {
        assert!(Dataset::new(2, vec![1.0; 5], vec![0.0; 3], vec![("a".into(), 3)]).is_err());
        assert!(Dataset::new(2, vec![1.0; 6], vec![0.0; 3], vec![("a".into(), 2)]).is_err());
        assert!(Dataset::new(2, vec![], vec![], vec![("a".into(), 0)]).is_err());
    }
}
