//! One query of a data set.

use super::Dataset;
use std::ops::{Deref, Range};
use std::sync::OnceLock;

/// The documents of one query, borrowed from a [`Dataset`].
#[derive(Debug, Clone)]
pub struct QueryView<'a> {
    /// Id of the query, as in the file.
    pub id: &'a str,
    /// Rows of the data set that contain its documents.
    pub rows: Range<usize>,
    /// Labels, one per document.
    pub labels: &'a [f32],
    /// Features, row-major, one row per document.
    pub features: QueryFeatures<'a>,
}

/// The features of one query. Dereferences to a slice; features of a mapped file may be read at the first access only.
///
/// ```
/// use burnrank::Dataset;
/// let data = Dataset::new(2, vec![0.1, 0.2, 0.3, 0.4], vec![1.0, 0.0], vec![("a".into(), 2)])?;
/// let features = data.query(0).features;
/// assert_eq!((features.len(), &features[2..]), (4, &[0.3, 0.4][..]));
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct QueryFeatures<'a>(Source<'a>);

#[derive(Debug, Clone)]
enum Source<'a> {
    Slice(&'a [f32]),
    /// Read from a mapped file, and scaled, at the first access.
    Lazy {
        data: &'a Dataset,
        query: usize,
        copy: OnceLock<Vec<f32>>,
    },
}

impl<'a> QueryFeatures<'a> {
    pub(super) fn of(data: &'a Dataset, query: usize) -> Self {
        let rows = data.offsets[query]..data.offsets[query + 1];
        QueryFeatures(match data.slice(rows) {
            Some(values) => Source::Slice(values),
            None => Source::Lazy { data, query, copy: OnceLock::new() },
        })
    }
}

impl Deref for QueryFeatures<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match &self.0 {
            Source::Slice(values) => values,
            Source::Lazy { data, query, copy } => copy.get_or_init(|| {
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
