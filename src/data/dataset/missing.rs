//! Missing values: features that are NaN.

use super::Dataset;
use crate::data::scale::Rows;
use rayon::prelude::*;

/// Number of rows counted as one task.
const BLOCK: usize = 1024;

impl Dataset {
    /// Whether features that the file leaves out are missing values rather than 0, see
    /// [`ReadOptions::sparse_missing`](crate::ReadOptions::sparse_missing).
    pub fn is_sparse_missing(&self) -> bool {
        self.sparse_missing
    }

    /// Declares features that the file leaves out missing, or 0. Changes no value.
    pub fn declared_sparse_missing(mut self, sparse_missing: bool) -> Self {
        self.sparse_missing = sparse_missing;
        self.padding = if sparse_missing { f32::NAN } else { 0.0 };
        self
    }

    /// Sets the value of features beyond the last one of the file.
    pub(crate) fn with_padding(mut self, padding: f32) -> Self {
        self.padding = padding;
        self
    }

    /// Returns the value of features beyond the last one of the file.
    pub(crate) fn padding(&self) -> f32 {
        self.padding
    }

    /// Whether any feature of any document is missing.
    ///
    /// ```
    /// use burnrank::Dataset;
    /// let data = Dataset::new(2, vec![0.5, f32::NAN, 1.0, 2.0], vec![1.0, 0.0], vec![("a".into(), 2)])?;
    /// assert!(data.has_missing());
    /// assert_eq!(data.missing_counts(), [0, 1]);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    pub fn has_missing(&self) -> bool {
        if let Some(counts) = self.stored_missing_counts() {
            return counts.iter().any(|&count| count > 0);
        }
        self.each_block(|rows| rows.iter().any(|value| value.is_nan())).any(|any| any)
    }

    /// Returns the number of documents in which each feature is missing.
    pub fn missing_counts(&self) -> Vec<usize> {
        if let Some(counts) = self.stored_missing_counts() {
            return counts;
        }
        let width = self.n_features();
        let add = |mut counts: Vec<usize>, rows: Vec<usize>| {
            counts.iter_mut().zip(rows).for_each(|(count, more)| *count += more);
            counts
        };
        let count = |rows: &[f32]| {
            let mut counts = vec![0; width];
            for row in rows.chunks_exact(width.max(1)) {
                counts.iter_mut().zip(row).for_each(|(count, value)| *count += usize::from(value.is_nan()));
            }
            counts
        };
        self.each_block(count).reduce(|| vec![0; width], add)
    }

    /// Returns the counts stored in a cache, if this is all of it.
    fn stored_missing_counts(&self) -> Option<Vec<usize>> {
        self.column_summary().map(|summary| summary.missing_counts(self.n_documents()))
    }

    /// Calls `work` with blocks of rows, in parallel.
    fn each_block<'a, O: Send>(
        &'a self,
        work: impl Fn(&[f32]) -> O + Sync + Send + 'a,
    ) -> impl ParallelIterator<Item = O> + 'a {
        let documents = self.n_documents();
        let starts = (0..documents).into_par_iter().step_by(BLOCK);
        starts.map(move |start| self.with(start..documents.min(start + BLOCK), &work))
    }
}

/// Whether two lists have the same values; missing values are equal to each other.
pub(super) fn same_values(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::small;
    use super::*;

    #[test]
    fn missing_values_are_counted_by_feature() {
        assert!(!small().has_missing());
        let documents = 3 * BLOCK + 5;
        let value = |i: usize| if i.is_multiple_of(7) && i % 3 == 1 { f32::NAN } else { i as f32 };
        let values: Vec<f32> = (0..3 * documents).map(value).collect();
        let data = Dataset::new(3, values.clone(), vec![0.0; documents], vec![("a".into(), documents)]).unwrap();
        let expected = (0..documents).filter(|row| values[3 * row + 1].is_nan()).count();
        assert!(data.has_missing() && expected > 0);
        assert_eq!(data.missing_counts(), [0, expected, 0]);
        assert_eq!(data, data.clone(), "missing values are equal to each other");
    }

    #[test]
    fn left_out_features_are_zero_or_missing() {
        assert_eq!(small().with_width(3).missing_counts(), [0, 0, 0]);
        assert_eq!(small().declared_sparse_missing(true).with_width(3).missing_counts(), [0, 0, 3]);
    }
}
