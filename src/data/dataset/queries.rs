//! Selecting queries of a data set and concatenating data sets.

use super::store::Store;
use super::{Dataset, DocumentIds};
use crate::error::Result;
use crate::memory;

impl Dataset {
    /// Returns the given queries in the given order: a copy, or a view of the same mapped file.
    ///
    /// # Panics
    /// When an index is out of range.
    pub fn select(&self, queries: &[usize]) -> Dataset {
        let documents: usize = queries.iter().map(|&q| self.offsets[q + 1] - self.offsets[q]).sum();
        let (features, mut values) = match &self.features {
            Store::Memory(_) => (Store::default(), Vec::with_capacity(documents * self.width)),
            Store::Mapped(mapped) => (Store::Mapped(mapped.select(queries)), Vec::new()),
        };
        let mut selected = Dataset {
            width: self.width,
            features,
            labels: Vec::with_capacity(documents),
            query_ids: Vec::with_capacity(queries.len()),
            offsets: vec![0],
            document_ids: self.document_ids.as_ref().map(|_| DocumentIds::default()),
            feature_names: self.feature_names.clone(),
            sparse: self.sparse,
            sparse_missing: self.sparse_missing,
            padding: self.padding,
        };
        for &index in queries {
            let query = self.query(index);
            if let Store::Memory(_) = selected.features {
                values.extend_from_slice(&query.features);
            }
            selected.labels.extend_from_slice(query.labels);
            selected.query_ids.push(query.id.to_owned());
            selected.offsets.push(selected.labels.len());
            if let (Some(to), Some(from)) = (&mut selected.document_ids, &self.document_ids) {
                query.rows.for_each(|row| to.push(from.get(row)));
            }
        }
        if let Store::Memory(features) = &mut selected.features {
            *features = values;
        }
        selected
    }

    /// Removes the given queries and returns them in the given order. The remaining queries keep their order and are not
    /// reallocated.
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
    /// When an index is out of range.
    pub fn take_out(&mut self, queries: &[usize]) -> Dataset {
        let removed = self.select(queries);
        let mut is_removed = vec![false; self.n_queries()];
        queries.iter().for_each(|&query| is_removed[query] = true);
        if self.is_mapped() {
            *self = self.select(&(0..is_removed.len()).filter(|&query| !is_removed[query]).collect::<Vec<_>>());
            return removed;
        }
        let width = self.width;
        let (mut offsets, mut ids) = (vec![0], self.document_ids.as_ref().map(|_| DocumentIds::default()));
        let mut end = 0;
        for (query, _) in is_removed.iter().enumerate().filter(|(_, is_removed)| !**is_removed) {
            let rows = self.offsets[query]..self.offsets[query + 1];
            self.labels.copy_within(rows.clone(), end);
            self.features_mut().copy_within(rows.start * width..rows.end * width, end * width);
            if let (Some(to), Some(from)) = (&mut ids, &self.document_ids) {
                rows.clone().for_each(|row| to.push(from.get(row)));
            }
            end += rows.len();
            offsets.push(end);
        }
        let mut is_removed = is_removed.into_iter();
        self.query_ids.retain(|_| !is_removed.next().unwrap_or(false));
        self.labels.truncate(end);
        let features = self.in_memory();
        features.truncate(end * width);
        features.shrink_to_fit();
        (self.offsets, self.document_ids) = (offsets, ids);
        removed
    }

    /// Concatenates parts, padded to the width of the widest. A query that ends one part and starts the next is
    /// merged into one.
    pub(crate) fn joined(mut parts: Vec<Dataset>) -> Result<Dataset> {
        if parts.len() < 2 {
            return Ok(parts.pop().unwrap_or_default());
        }
        let width = parts.iter().map(|part| part.width).max().unwrap_or(0);
        let documents: usize = parts.iter().map(Dataset::n_documents).sum();
        let what = format!("{documents} documents of {width} features");
        let remedy = "give each query a unique id";
        let with_ids = parts.iter().any(Dataset::has_document_ids);
        let (sparse_missing, padding) = (parts[0].sparse_missing, parts[0].padding);
        let mut joined = Dataset { width, offsets: vec![0], sparse_missing, padding, ..Dataset::default() };
        let mut features = Vec::new();
        memory::reserve(&mut features, documents.saturating_mul(width), &what, remedy)?;
        memory::reserve(&mut joined.labels, documents, &what, remedy)?;
        let mut ids = DocumentIds::default();
        for part in parts {
            if with_ids {
                (0..part.n_documents()).for_each(|row| ids.push(part.document_id(row).unwrap_or_default()));
            }
            let part = part.with_width(width);
            features.extend_from_slice(part.features());
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
        joined.features = Store::Memory(features);
        joined.document_ids = with_ids.then_some(ids);
        Ok(joined)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::small;
    use super::*;

    #[test]
    fn removed_and_remaining_queries_are_the_whole() {
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
    fn select_reorders_whole_queries() {
        let ids = ["x", "", "z"].into_iter().collect();
        let data = small().with_document_ids(ids).unwrap().select(&[1, 0]);
        assert_eq!(data.query_ids(), ["b", "a"]);
        assert_eq!(data.features(), [5.0, 6.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(data.offsets(), [0, 1, 3]);
        assert_eq!((data.document_id(0), data.document_id(1), data.document_id(2)), (Some("z"), Some("x"), Some("")));
    }

    #[test]
    fn concatenation_merges_queries_that_span_parts() {
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
}
