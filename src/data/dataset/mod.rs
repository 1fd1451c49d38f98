//! The ragged data set: documents row by row, queries as ranges of rows, nothing padded.

mod ids;
mod names;
mod queries;
mod rows;
mod store;
mod view;
mod width;

pub use ids::DocumentIds;
pub use view::{QueryFeatures, QueryView};

use crate::error::{Error, Result};
use std::sync::Arc;
use store::Store;

/// Queries, their documents' features and labels.
///
/// Documents of a query are neighbours. Features are one dense row-major matrix, in memory or in a mapped file
/// ([`Dataset::is_mapped`]), of which only what is being used takes memory.
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
    /// What the file calls the features, where it names them.
    feature_names: Option<Arc<[String]>>,
    sparse: bool,
}

/// Equal documents in equal queries; how a file spelled zeros, and what it called the features, does not count.
impl PartialEq for Dataset {
    fn eq(&self, other: &Self) -> bool {
        self.width == other.width
            && self.labels == other.labels
            && self.query_ids == other.query_ids
            && self.offsets == other.offsets
            && self.has_document_ids() == other.has_document_ids()
            && (0..self.n_documents()).all(|row| self.document_id(row) == other.document_id(row))
            && (0..self.n_queries()).all(|query| self.query(query).features == other.query(query).features)
    }
}

impl Dataset {
    /// Builds a data set of `width` features from a row-major matrix, labels and `(query id, number of documents)`.
    ///
    /// # Errors
    /// When the lengths do not fit together or a query has no document.
    pub fn new(width: usize, features: Vec<f32>, labels: Vec<f32>, queries: Vec<(String, usize)>) -> Result<Self> {
        let mut offsets = Vec::with_capacity(queries.len() + 1);
        let mut query_ids = Vec::with_capacity(queries.len());
        offsets.push(0);
        let mut end = 0;
        for (id, documents) in queries {
            if documents == 0 {
                return Err(Error::Mismatch(format!("query '{id}' has no document")));
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
        })
    }

    /// The same data with an id for each document.
    ///
    /// # Errors
    /// When there is not one id per document.
    pub fn with_document_ids(mut self, ids: DocumentIds) -> Result<Self> {
        if ids.len() != self.n_documents() {
            return Err(Error::Mismatch(format!("{} document ids for {} documents", ids.len(), self.n_documents())));
        }
        self.document_ids = Some(ids);
        Ok(self)
    }

    /// The number of queries.
    pub fn n_queries(&self) -> usize {
        self.query_ids.len()
    }

    /// The number of documents over all queries.
    pub fn n_documents(&self) -> usize {
        self.labels.len()
    }

    /// Whether some query has documents of different labels, and so an order to learn or to evaluate.
    pub fn has_pairs(&self) -> bool {
        self.offsets.windows(2).any(|rows| {
            let labels = &self.labels[rows[0]..rows[1]];
            labels.iter().any(|label| *label != labels[0])
        })
    }

    /// The number of features of a document.
    pub fn n_features(&self) -> usize {
        self.width
    }

    /// All features, row-major, one row per document.
    ///
    /// Of a mapped file they are read into memory at the first call, unless the file has them in this very form: see
    /// [`Dataset::load`], which asks before.
    pub fn features(&self) -> &[f32] {
        self.one_slice()
    }

    /// All features, to be changed in place, as a scaler does; those of a mapped file are read into memory first.
    pub fn features_mut(&mut self) -> &mut [f32] {
        self.in_memory()
    }

    /// All labels, one per document.
    pub fn labels(&self) -> &[f32] {
        &self.labels
    }

    /// Where each query starts, and last the number of documents: one more than there are queries.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The ids of all queries, in order.
    pub fn query_ids(&self) -> &[String] {
        &self.query_ids
    }

    /// The id of one document, where the data has ids.
    pub fn document_id(&self, row: usize) -> Option<&str> {
        match (&self.document_ids, &self.features) {
            (Some(ids), _) => Some(ids.get(row)),
            (None, Store::Mapped(mapped)) => self.mapped_id(mapped, row),
            (None, Store::Memory(_)) => None,
        }
    }

    /// Whether documents have ids, be they empty.
    pub(crate) fn has_document_ids(&self) -> bool {
        self.document_ids.is_some() || matches!(&self.features, Store::Mapped(mapped) if mapped.file.has_document_ids())
    }

    /// The documents of query `index`.
    ///
    /// # Panics
    /// When there is no such query.
    pub fn query(&self, index: usize) -> QueryView<'_> {
        let rows = self.offsets[index]..self.offsets[index + 1];
        QueryView {
            id: &self.query_ids[index],
            labels: &self.labels[rows.clone()],
            features: QueryFeatures::of(self, index),
            rows,
        }
    }

    /// All queries in order.
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
    fn lengths_must_fit() {
        assert!(Dataset::new(2, vec![1.0; 5], vec![0.0; 3], vec![("a".into(), 3)]).is_err());
        assert!(Dataset::new(2, vec![1.0; 6], vec![0.0; 3], vec![("a".into(), 2)]).is_err());
        assert!(Dataset::new(2, vec![], vec![], vec![("a".into(), 0)]).is_err());
    }
}
