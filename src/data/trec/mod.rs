//! Files of trec_eval: relevance judgments (`qid iteration docid relevance`) and runs (`qid Q0 docid rank score tag`).

mod join;
mod read;
mod write;

pub use join::{JoinedQuery, JoinedRun, join_run};
pub use read::{Scored, parse_qrels, parse_run, read_qrels, read_run, read_run_or_scores};

use super::dataset::Dataset;
use crate::error::{Error, Result};
use std::collections::HashSet;

/// The documents of each query with their relevance judgments, or with their scores in a run.
///
/// Queries and documents are in the order of the file. The lines of a query need not be contiguous.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrecFile {
    /// All queries, in the order of their first lines.
    pub queries: Vec<TrecQuery>,
}

/// The documents of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct TrecQuery {
    /// Query id.
    pub id: String,
    /// Id of each document, with its relevance or score.
    pub documents: Vec<(String, f64)>,
}

impl TrecFile {
    /// Rounds scores to f32 as trec_eval does, which may make different scores equal.
    #[must_use]
    pub fn with_f32_scores(mut self) -> Self {
        let documents = self.queries.iter_mut().flat_map(|query| &mut query.documents);
        // Finite scores must not become minus infinity, which marks documents that were not retrieved.
        let rounded = |score: f64| if score.is_finite() { (score as f32).max(f32::MIN) } else { score as f32 };
        documents.for_each(|(_, score)| *score = f64::from(rounded(*score)));
        self
    }

    /// Returns the first query and document that occur twice, if any.
    pub fn first_repeated(&self) -> Option<(&str, &str)> {
        self.queries.iter().find_map(|query| {
            let mut seen = HashSet::new();
            let repeated = query.documents.iter().find(|(document, _)| !seen.insert(document.as_str()));
            repeated.map(|(document, _)| (query.id.as_str(), document.as_str()))
        })
    }

    /// Returns the labels of a data set as judgments. Documents without ids are named `<query>.<position in the query, from 1>`.
    pub fn from_labels(data: &Dataset) -> Self {
        Self::from_values(data, data.labels())
    }

    /// Returns scores of the documents of a data set as a run, with ids as in [`TrecFile::from_labels`].
    ///
    /// # Errors
    /// When the number of scores is not the number of documents.
    pub fn from_scores<S: Copy + Into<f64>>(data: &Dataset, scores: &[S]) -> Result<Self> {
        if scores.len() != data.n_documents() {
            return Err(Error::Mismatch(format!("{} scores for {} documents", scores.len(), data.n_documents())));
        }
        Ok(Self::from_values(data, scores))
    }

    fn from_values<V: Copy + Into<f64>>(data: &Dataset, values: &[V]) -> Self {
        let queries = data.queries().map(|query| {
            let first = query.rows.start;
            let documents = query.rows.map(|row| {
                let id = data.document_id(row).filter(|id| !id.is_empty()).map(str::to_owned);
                (id.unwrap_or_else(|| format!("{}.{}", query.id, row - first + 1)), values[row].into())
            });
            TrecQuery { id: query.id.to_owned(), documents: documents.collect() }
        });
        TrecFile { queries: queries.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_document_is_found() {
        let queries = vec![("a".to_owned(), 1), ("b".to_owned(), 2)];
        let data = Dataset::new(0, vec![], vec![2.0, 0.0, 1.0], queries).unwrap();
        assert_eq!(TrecFile::from_labels(&data).first_repeated(), None);
        let data = data.with_document_ids(["x", "x", "x"].into_iter().collect()).unwrap();
        assert_eq!(TrecFile::from_labels(&data).first_repeated(), Some(("b", "x")));
    }
}
