//! The ragged data set: documents row by row, queries as ranges of rows, nothing padded.

use crate::error::{Error, Result};
use crate::memory;
use std::ops::Range;

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
    sparse: bool,
}

/// Equal documents in equal queries; how a file spelled zeros does not count.
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
        Ok(Dataset { width, features, labels, query_ids, offsets, document_ids: None, sparse: false })
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

    /// A copy of the chosen queries, in the order given.
    ///
    /// # Panics
    /// When an index is no query's.
    pub fn select(&self, queries: &[usize]) -> Dataset {
        let documents: usize = queries.iter().map(|&q| self.offsets[q + 1] - self.offsets[q]).sum();
        let mut chosen = Dataset {
            width: self.width,
            features: Vec::with_capacity(documents * self.width),
            labels: Vec::with_capacity(documents),
            query_ids: Vec::with_capacity(queries.len()),
            offsets: vec![0],
            document_ids: self.document_ids.as_ref().map(|_| DocumentIds::default()),
            sparse: self.sparse,
        };
        for &index in queries {
            let query = self.query(index);
            chosen.features.extend_from_slice(query.features);
            chosen.labels.extend_from_slice(query.labels);
            chosen.query_ids.push(query.id.to_owned());
            chosen.offsets.push(chosen.labels.len());
            if let (Some(to), Some(from)) = (&mut chosen.document_ids, &self.document_ids) {
                query.rows.for_each(|row| to.push(from.get(row)));
            }
        }
        chosen
    }

    /// Moves the chosen queries out, in the order given; the others stay in theirs, in the memory that they already have.
    ///
    /// ```
    /// use burnrank::Dataset;
    /// let queries = vec![("a".into(), 1), ("b".into(), 2), ("c".into(), 1)];
    /// let mut data = Dataset::new(1, vec![0.1, 0.2, 0.3, 0.4], vec![0.0, 1.0, 2.0, 3.0], queries)?;
    /// assert_eq!(data.take_out(&[1]).labels(), [1.0, 2.0]);
    /// assert_eq!((data.query_ids(), data.labels()), (&["a".to_owned(), "c".to_owned()][..], &[0.0, 3.0][..]));
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Panics
    /// When an index is no query's.
    pub fn take_out(&mut self, queries: &[usize]) -> Dataset {
        let taken = self.select(queries);
        let mut goes = vec![false; self.n_queries()];
        queries.iter().for_each(|&query| goes[query] = true);
        let (mut offsets, mut ids) = (vec![0], self.document_ids.as_ref().map(|_| DocumentIds::default()));
        let mut end = 0;
        for (query, _) in goes.iter().enumerate().filter(|(_, goes)| !**goes) {
            let rows = self.offsets[query]..self.offsets[query + 1];
            self.labels.copy_within(rows.clone(), end);
            self.features.copy_within(rows.start * self.width..rows.end * self.width, end * self.width);
            if let (Some(to), Some(from)) = (&mut ids, &self.document_ids) {
                rows.clone().for_each(|row| to.push(from.get(row)));
            }
            end += rows.len();
            offsets.push(end);
        }
        let mut goes = goes.into_iter();
        self.query_ids.retain(|_| !goes.next().unwrap_or(false));
        self.labels.truncate(end);
        self.features.truncate(end * self.width);
        self.features.shrink_to_fit();
        (self.offsets, self.document_ids) = (offsets, ids);
        taken
    }

    /// Whether features that are 0 may have been left out: some document of the file states fewer than another has.
    ///
    /// Of such data the last features may be missing altogether. Data that states every feature of every document, as one
    /// made by [`Dataset::new`] does, is not sparse.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// The same data, said to be sparse or not.
    pub fn declared_sparse(mut self, sparse: bool) -> Self {
        self.sparse = sparse;
        self
    }

    /// The same documents with the `width` features that a model takes: where data is sparse, zeros are added.
    ///
    /// ```
    /// use burnrank::{ReadOptions, read_bytes};
    /// let read = |text: &[u8]| read_bytes("text", text, &ReadOptions::default()).map(|report| report.data);
    /// // The second document leaves out feature 1: so all may leave out feature 3.
    /// assert_eq!(read(b"1 qid:a 1:5 2:6\n0 qid:a 2:7\n")?.fit_width(3)?.features(), [5.0, 6.0, 0.0, 0.0, 7.0, 0.0]);
    /// assert!(read(b"1 qid:a 1:5 2:6\n0 qid:a 1:0 2:7\n")?.fit_width(3).is_err());
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there are more features, or fewer in data that is not [sparse](Dataset::is_sparse).
    pub fn fit_width(self, width: usize) -> Result<Dataset> {
        if self.width > width {
            return Err(Error::Mismatch(format!(
                "the data has {} features, the model was trained on {width}: use the same feature set",
                self.width
            )));
        }
        if self.width < width && !self.sparse {
            return Err(Error::Mismatch(format!(
                "the data has {} features, all of them in every document, the model was trained on {width}: use the same \
                 feature set, or say with --fill-zeros that the last ones are 0",
                self.width
            )));
        }
        self.widened(width)
    }

    /// The documents of all parts, one behind the other, as wide as the widest. A query that ends one part and starts the next is one.
    pub(crate) fn joined(mut parts: Vec<Dataset>) -> Result<Dataset> {
        if parts.len() < 2 {
            return Ok(parts.pop().unwrap_or_default());
        }
        let width = parts.iter().map(|part| part.width).max().unwrap_or(0);
        let documents: usize = parts.iter().map(Dataset::n_documents).sum();
        let what = format!("{documents} documents of {width} features");
        let remedy = "give each query an id of its own";
        let with_ids = parts.iter().any(|part| part.document_ids.is_some());
        let mut joined = Dataset { width, offsets: vec![0], ..Dataset::default() };
        memory::reserve(&mut joined.features, documents.saturating_mul(width), &what, remedy)?;
        memory::reserve(&mut joined.labels, documents, &what, remedy)?;
        let mut ids = DocumentIds::default();
        for part in parts {
            if with_ids {
                (0..part.n_documents()).for_each(|row| ids.push(part.document_id(row).unwrap_or_default()));
            }
            let part = part.with_width(width);
            joined.features.extend_from_slice(&part.features);
            joined.labels.extend_from_slice(&part.labels);
            for (id, documents) in part.query_ids.into_iter().zip(part.offsets.windows(2).map(|pair| pair[1] - pair[0]))
            {
                let end = joined.offsets[joined.offsets.len() - 1] + documents;
                if joined.query_ids.last() == Some(&id) {
                    joined.offsets.pop();
                } else {
                    joined.query_ids.push(id);
                }
                joined.offsets.push(end);
            }
        }
        joined.document_ids = with_ids.then_some(ids);
        Ok(joined)
    }

    /// As [`Dataset::with_width`], where the width comes from a user.
    ///
    /// # Errors
    /// When the wider documents need more memory than may be taken.
    pub fn widened(self, width: usize) -> Result<Dataset> {
        if width > self.width {
            let cells = (self.n_documents() as u64).saturating_mul(width as u64);
            let what = format!("{} documents of {width} features", self.n_documents());
            memory::ask(memory::bytes_of::<f32>(cells), &what, "split the file")?;
        }
        Ok(self.with_width(width))
    }

    /// The same documents with `width` features: zeros are added, or the last features dropped.
    pub fn with_width(self, width: usize) -> Dataset {
        if width == self.width {
            return self;
        }
        let keep = width.min(self.width);
        let mut features = vec![0.0; self.n_documents() * width];
        if keep > 0 {
            for (to, from) in features.chunks_exact_mut(width).zip(self.features.chunks_exact(self.width)) {
                to[..keep].copy_from_slice(&from[..keep]);
            }
        }
        Dataset { width, features, ..self }
    }
}

/// One text per document, all in one buffer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DocumentIds {
    text: String,
    ends: Vec<usize>,
}

impl DocumentIds {
    /// Adds the next document's id.
    pub fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    /// The id of document `row`; empty when the file gave none for it.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn get(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[start..self.ends[row]]
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl<S: AsRef<str>> FromIterator<S> for DocumentIds {
    fn from_iter<I: IntoIterator<Item = S>>(ids: I) -> Self {
        let mut all = DocumentIds::default();
        ids.into_iter().for_each(|id| all.push(id.as_ref()));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Dataset {
        let queries = vec![("a".to_owned(), 2), ("b".to_owned(), 1)];
        Dataset::new(2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![1.0, 0.0, 2.0], queries).unwrap()
    }

    #[test]
    fn what_is_taken_out_and_what_stays_are_the_whole() {
        let queries = (0..9).map(|q| (q.to_string(), q % 3 + 1)).collect();
        let mut ids = DocumentIds::default();
        (0..18).for_each(|row| ids.push(&format!("d{row}")));
        let features = (0..36).map(|x| x as f32).collect();
        let whole = Dataset::new(2, features, (0..18).map(|x| x as f32).collect(), queries).unwrap();
        let whole = whole.with_document_ids(ids).unwrap();
        for chosen in [vec![], vec![0], vec![8], vec![1, 4, 5], (0..9).collect()] {
            let mut rest = whole.clone();
            assert_eq!(rest.take_out(&chosen), whole.select(&chosen));
            let others: Vec<usize> = (0..9).filter(|query| !chosen.contains(query)).collect();
            assert_eq!(rest, whole.select(&others));
        }
    }

    #[test]
    fn lengths_must_fit() {
        assert!(Dataset::new(2, vec![1.0; 5], vec![0.0; 3], vec![("a".into(), 3)]).is_err());
        assert!(Dataset::new(2, vec![1.0; 6], vec![0.0; 3], vec![("a".into(), 2)]).is_err());
        assert!(Dataset::new(2, vec![], vec![], vec![("a".into(), 0)]).is_err());
    }

    #[test]
    fn select_reorders_whole_queries() {
        let ids = ["x", "", "z"].into_iter().collect();
        let data = small().with_document_ids(ids).unwrap().select(&[1, 0]);
        assert_eq!(data.query_ids(), ["b", "a"]);
        assert_eq!(data.features(), [5.0, 6.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(data.offsets(), [0, 1, 3]);
        assert_eq!((data.document_id(0), data.document_id(1), data.document_id(2)), (Some("z"), Some("x"), Some("")));
    }

    #[test]
    fn parts_are_joined_and_their_common_queries_too() {
        let part = |width, features: &[f32], queries: &[(&str, usize)]| {
            let queries = queries.iter().map(|&(id, documents)| (id.to_owned(), documents)).collect();
            Dataset::new(width, features.to_vec(), vec![1.0; features.len() / width], queries).unwrap()
        };
        let first = part(1, &[1.0, 2.0], &[("a", 1), ("b", 1)]);
        let second = part(2, &[3.0, 4.0, 5.0, 6.0], &[("b", 1), ("c", 1)]);
        let second = second.with_document_ids(["x", "y"].into_iter().collect()).unwrap();
        let joined = Dataset::joined(vec![first.clone(), second]).unwrap();
        assert_eq!(joined.features(), [1.0, 0.0, 2.0, 0.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!((joined.query_ids().join(" ").as_str(), joined.offsets()), ("a b c", &[0, 1, 3, 4][..]));
        assert_eq!((joined.document_id(1), joined.document_id(3)), (Some(""), Some("y")));
        assert_eq!(Dataset::joined(vec![first.clone()]).unwrap(), first);
        assert!(first.widened(usize::MAX / 8).is_err());
    }

    #[test]
    fn width_grows_with_zeros_and_shrinks_from_the_end() {
        assert_eq!(small().with_width(3).query(1).features, [5.0, 6.0, 0.0]);
        assert_eq!(small().with_width(1).features(), [1.0, 3.0, 5.0]);
    }
}
