//! One query of a data set.

use super::Dataset;
use std::ops::{Deref, Range};
use std::sync::OnceLock;

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
    pub features: QueryFeatures<'a>,
}

/// The features of one query: a slice of numbers, which those of a mapped file may become at the first look only.
///
/// ```
/// use burnrank::Dataset;
/// let data = Dataset::new(2, vec![0.1, 0.2, 0.3, 0.4], vec![1.0, 0.0], vec![("a".into(), 2)])?;
/// let features = data.query(0).features;
/// assert_eq!((features.len(), &features[2..]), (4, &[0.3, 0.4][..]));
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct QueryFeatures<'a>(Place<'a>);

#[derive(Debug, Clone)]
enum Place<'a> {
    Here(&'a [f32]),
    /// To be read from a mapped file, and scaled.
    There {
        data: &'a Dataset,
        query: usize,
        copy: OnceLock<Vec<f32>>,
    },
}

impl<'a> QueryFeatures<'a> {
    pub(super) fn of(data: &'a Dataset, query: usize) -> Self {
        let rows = data.offsets[query]..data.offsets[query + 1];
        QueryFeatures(match data.here(rows) {
            Some(values) => Place::Here(values),
            None => Place::There { data, query, copy: OnceLock::new() },
        })
    }
}

impl Deref for QueryFeatures<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match &self.0 {
            Place::Here(values) => values,
            Place::There { data, query, copy } => copy.get_or_init(|| {
                let mut values = Vec::new();
                data.gather(*query, &mut values);
                values
            }),
        }
    }
}

impl PartialEq for QueryFeatures<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl PartialEq<&[f32]> for QueryFeatures<'_> {
    fn eq(&self, other: &&[f32]) -> bool {
        **self == **other
    }
}

impl<const N: usize> PartialEq<[f32; N]> for QueryFeatures<'_> {
    fn eq(&self, other: &[f32; N]) -> bool {
        **self == *other
    }
}

impl PartialEq<QueryFeatures<'_>> for Vec<f32> {
    fn eq(&self, other: &QueryFeatures<'_>) -> bool {
        **self == **other
    }
}
