//! The ragged data set: documents row by row, queries as ranges of rows, nothing padded.

mod ids;
mod names;
mod queries;
mod width;

pub use ids::DocumentIds;

use crate::error::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// Queries, their documents' features and labels.
///
/// Documents of a query are neighbours. Features are one dense row-major matrix.
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
    features: Vec<f32>,
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
            && self.features == other.features
            && self.labels == other.labels
            && self.query_ids == other.query_ids
            && self.offsets == other.offsets
            && self.document_ids == other.document_ids
    }
}

/// The documents of one query, borrowed from a [`Dataset`].
#[derive(Debug, Clone)]
pub struct QueryView<'a> {
    /// The query's id as the file spells it.
    pub id: &'a str,
    /// The rows of the data set that belong to it.
    pub rows: Range<usize>,
    /// One label per document.
    pub labels: &'a [f32],
    /// Row-major, one row per document.
    pub features: &'a [f32],
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
            features,
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

    /// The number of features of a document.
    pub fn n_features(&self) -> usize {
        self.width
    }

    /// All features, row-major, one row per document.
    pub fn features(&self) -> &[f32] {
        &self.features
    }

    /// All features, to be changed in place, as a scaler does.
    pub fn features_mut(&mut self) -> &mut [f32] {
        &mut self.features
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
        self.document_ids.as_ref().map(|ids| ids.get(row))
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
            features: &self.features[rows.start * self.width..rows.end * self.width],
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
