//! Features resampled from the user's data.

use crate::data::dataset::Dataset;
use crate::error::{Error, Result};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Fraction of values replaced with those of other documents of the same query.
const EXCHANGED: f64 = 0.1;

/// The data to resample.
#[derive(Debug, Clone)]
pub(super) struct Like {
    rows: Arc<Dataset>,
    /// Queries with documents.
    queries: Vec<usize>,
}

impl Like {
    pub(super) fn new(rows: Dataset) -> Result<Like> {
        let queries: Vec<usize> = (0..rows.n_queries()).filter(|&query| !rows.query(query).labels.is_empty()).collect();
        match (queries.is_empty(), rows.n_features()) {
            (true, _) => Err(Error::Data("there are no rows: the data needs at least one query with documents".into())),
            (_, 0) => Err(Error::Data("the documents have no features: the data needs at least one feature".into())),
            _ => Ok(Like { rows: Arc::new(rows), queries }),
        }
    }

    pub(super) fn width(&self) -> usize {
        self.rows.n_features()
    }

    /// Resamples documents from a random query, and calls `relevance` with their labels.
    pub(super) fn query(&self, features: &mut [f32], rng: &mut ChaCha8Rng, mut relevance: impl FnMut(f64)) {
        let width = self.width();
        let source = self.rows.query(self.queries[rng.random_range(0..self.queries.len())]);
        let documents = source.labels.len();
        for row in features.chunks_exact_mut(width) {
            let document = rng.random_range(0..documents);
            row.copy_from_slice(&source.features[document * width..][..width]);
            relevance(f64::from(source.labels[document]));
            // Skips from one exchanged value to the next, to draw few random numbers.
            let mut feature = skip(rng);
            while let Some(value) = row.get_mut(feature) {
                *value = source.features[rng.random_range(0..documents) * width + feature];
                feature = feature.saturating_add(1 + skip(rng));
            }
        }
    }
}

/// Draws the number of values before the next exchanged one.
fn skip(rng: &mut ChaCha8Rng) -> usize {
    ((1.0 - rng.random::<f64>()).ln() / (1.0 - EXCHANGED).ln()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn documents_are_mixed_only_within_their_query() {
        // In each value the ones digit is the document, the tens digit the query, and the rest the feature.
        let width = 50;
        let value = |query: usize, document: usize, feature: usize| (100 * feature + 10 * query + document) as f32;
        let mut features = vec![];
        for (query, documents) in [(1, 3), (2, 4)] {
            for document in 0..documents {
                features.extend((0..width).map(|feature| value(query, document, feature)));
            }
        }
        let labels = vec![0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 3.0];
        let data = Dataset::new(width, features, labels, vec![("a".into(), 3), ("b".into(), 4)]).unwrap();
        let like = Like::new(data).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut other, mut all) = (0, 0);
        for _ in 0..50 {
            let (mut rows, mut labels) = (vec![0.0; 6 * width], vec![]);
            like.query(&mut rows, &mut rng, |label| labels.push(label));
            let query = (rows[0] / 10.0) as usize % 10;
            for (row, label) in rows.chunks_exact(width).zip(labels) {
                for (feature, &value) in row.iter().enumerate() {
                    assert_eq!((value as usize / 10 % 10, value as usize / 100), (query, feature));
                    other += usize::from(value as usize % 10 != label as usize);
                    all += 1;
                }
            }
        }
        // One in ten values is redrawn, about 7 in 10 of them from another document.
        assert!((0.05..0.09).contains(&(other as f64 / all as f64)), "{other} of {all}");
        assert!(Like::new(Dataset::new(1, vec![], vec![], vec![]).unwrap()).is_err());
        let bare = Dataset::new(0, vec![], vec![1.0, 0.0], vec![("a".into(), 2)]).unwrap();
        assert!(Like::new(bare).unwrap_err().to_string().contains("have no features"));
    }
}
