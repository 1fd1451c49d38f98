//! Statistics of a data set.

use burnrank::Dataset;
use burnrank::data::QueryView;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};

/// Maximum number of distinct labels to list.
const MAX_LISTED_LABELS: usize = 32;

/// Statistics of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statistics {
    pub queries: usize,
    pub documents: usize,
    pub features: usize,
    /// Index of the first feature in the lists of features.
    pub first_index: usize,
    /// Feature names; empty if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feature_names: Vec<String>,
    pub documents_per_query: QuerySizes,
    pub labels: Labels,
    /// Features with missing values.
    pub missing_values: Vec<MissingValues>,
    /// Features that are 0 everywhere.
    pub zero_features: Vec<usize>,
    /// Features with the same nonzero value everywhere.
    pub constant_features: Vec<usize>,
    /// Features that differ between queries, but not between documents of a query.
    pub query_level_features: Vec<usize>,
    pub largest_value: Option<Largest>,
    pub duplicates: Duplicates,
    pub documents_with_id: usize,
    pub queries_without_relevant_documents: usize,
    pub queries_with_one_document: usize,
    pub queries_with_equal_labels: usize,
}

/// Number of documents per query.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuerySizes {
    pub min: usize,
    pub median: f64,
    pub mean: f64,
    pub max: usize,
}

/// Labels of all documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Labels {
    pub distinct: usize,
    pub min: f32,
    pub mean: f64,
    pub max: f32,
    /// Counts in ascending order of labels; empty if there are too many labels.
    pub distribution: Vec<LabelCount>,
}

/// Number of documents with a label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LabelCount {
    pub label: f32,
    pub documents: usize,
    pub share: f64,
}

/// Number of documents without a value of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MissingValues {
    pub feature: usize,
    pub documents: usize,
    pub share: f64,
}

impl MissingValues {
    fn of(data: &Dataset, first_index: usize) -> Vec<Self> {
        let counts = data.missing_counts().into_iter().enumerate().filter(|(_, documents)| *documents > 0);
        let share = |documents: usize| documents as f64 / data.n_documents() as f64;
        counts.map(|(i, documents)| Self { feature: i + first_index, documents, share: share(documents) }).collect()
    }
}

/// Feature value with the largest magnitude.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Largest {
    pub feature: usize,
    pub value: f32,
}

/// Documents that duplicate an earlier one of the same query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Duplicates {
    /// Number of documents with equal features.
    pub documents: usize,
    /// Number of documents with equal features but a different label.
    pub with_different_label: usize,
    /// Number of documents with the same id.
    pub ids: usize,
    /// Number of queries with documents with equal features.
    pub queries: usize,
}

impl Statistics {
    pub fn of(data: &Dataset, first_index: u32) -> Self {
        let first_index = first_index as usize;
        let columns = Columns::of(data);
        let features = |test: &dyn Fn(&Column) -> bool| -> Vec<usize> {
            (0..data.n_features()).filter(|&i| test(&columns.column(i))).map(|i| i + first_index).collect()
        };
        let largest = (0..data.n_features()).map(|i| (i, columns.column(i).farthest())).filter(|(_, x)| x.is_finite());
        let largest = largest.reduce(|best, next| if next.1.abs() > best.1.abs() { next } else { best });
        let queries_with = |test: fn(&QueryView) -> bool| data.queries().filter(test).count();
        Statistics {
            queries: data.n_queries(),
            documents: data.n_documents(),
            features: data.n_features(),
            first_index,
            feature_names: Vec::new(),
            documents_per_query: QuerySizes::of(data),
            labels: Labels::of(data.labels()),
            missing_values: MissingValues::of(data, first_index),
            zero_features: features(&|column| column.min == 0.0 && column.max == 0.0),
            constant_features: features(&|column| column.min == column.max && column.min != 0.0),
            query_level_features: features(&|column| column.min < column.max && !column.varies),
            largest_value: largest.map(|(i, value)| Largest { feature: i + first_index, value }),
            duplicates: Duplicates::of(data),
            documents_with_id: (0..data.n_documents())
                .filter(|&row| data.document_id(row).is_some_and(|id| !id.is_empty()))
                .count(),
            queries_without_relevant_documents: queries_with(|query| query.labels.iter().all(|&label| label == 0.0)),
            queries_with_one_document: queries_with(|query| query.labels.len() == 1),
            queries_with_equal_labels: queries_with(|query| {
                query.labels.len() > 1 && query.labels.iter().all(|&label| label == query.labels[0])
            }),
        }
    }
}

impl QuerySizes {
    fn of(data: &Dataset) -> Self {
        let mut sizes: Vec<usize> = data.offsets().windows(2).map(|pair| pair[1] - pair[0]).collect();
        sizes.sort_unstable();
        let n = sizes.len();
        let at = |place: usize| sizes.get(place).copied().unwrap_or(0);
        QuerySizes {
            min: at(0),
            median: (at((n.max(1) - 1) / 2) + at(n / 2)) as f64 / 2.0,
            mean: data.n_documents() as f64 / n.max(1) as f64,
            max: at(n.max(1) - 1),
        }
    }
}

impl Labels {
    fn of(labels: &[f32]) -> Self {
        let mut sorted = labels.to_vec();
        sorted.par_sort_unstable_by(f32::total_cmp);
        let runs: Vec<&[f32]> = sorted.chunk_by(|a, b| a == b).collect();
        let total = labels.len();
        let counted = |run: &&[f32]| LabelCount {
            // Converts -0 to 0.
            label: run[0] + 0.0,
            documents: run.len(),
            share: run.len() as f64 / total as f64,
        };
        Labels {
            distinct: runs.len(),
            min: sorted.first().copied().unwrap_or(0.0) + 0.0,
            mean: labels.iter().map(|&label| f64::from(label)).sum::<f64>() / total.max(1) as f64,
            max: sorted.last().copied().unwrap_or(0.0) + 0.0,
            distribution: if runs.len() > MAX_LISTED_LABELS { Vec::new() } else { runs.iter().map(counted).collect() },
        }
    }
}

/// Ranges of all features, and whether each varies within a query.
struct Columns {
    min: Vec<f32>,
    max: Vec<f32>,
    varies: Vec<bool>,
}

struct Column {
    min: f32,
    max: f32,
    varies: bool,
}

impl Column {
    /// Returns the bound with the larger magnitude.
    fn farthest(&self) -> f32 {
        if self.max.abs() >= self.min.abs() { self.max } else { self.min }
    }
}

impl Columns {
    fn none(width: usize) -> Self {
        Columns { min: vec![f32::INFINITY; width], max: vec![f32::NEG_INFINITY; width], varies: vec![false; width] }
    }

    fn of(data: &Dataset) -> Self {
        let width = data.n_features();
        let queries = (0..data.n_queries()).into_par_iter().with_min_len(data.n_queries() / 32 + 1);
        let folded = queries.fold(|| Columns::none(width), |columns, query| columns.with(&data.query(query).features));
        folded.reduce(|| Columns::none(width), Columns::and)
    }

    fn column(&self, i: usize) -> Column {
        Column { min: self.min[i], max: self.max[i], varies: self.varies[i] }
    }

    fn with(mut self, rows: &[f32]) -> Self {
        let width = self.min.len();
        for row in rows.chunks_exact(width.max(1)) {
            for i in 0..width {
                self.min[i] = self.min[i].min(row[i]);
                self.max[i] = self.max[i].max(row[i]);
                self.varies[i] |= !same(row[i], rows[i]);
            }
        }
        self
    }

    fn and(mut self, other: Columns) -> Self {
        for i in 0..self.min.len() {
            self.min[i] = self.min[i].min(other.min[i]);
            self.max[i] = self.max[i].max(other.max[i]);
            self.varies[i] |= other.varies[i];
        }
        self
    }
}

impl Duplicates {
    fn of(data: &Dataset) -> Self {
        let one = |query: usize| Self::of_query(data, &data.query(query));
        (0..data.n_queries()).into_par_iter().map(one).reduce(Duplicates::default, |a, b| Duplicates {
            documents: a.documents + b.documents,
            with_different_label: a.with_different_label + b.with_different_label,
            ids: a.ids + b.ids,
            queries: a.queries + b.queries,
        })
    }

    fn of_query(data: &Dataset, query: &QueryView) -> Self {
        let width = data.n_features();
        let row = |place: usize| &query.features[place * width..(place + 1) * width];
        let mut first_of: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut duplicates = Duplicates::default();
        let mut ids = HashSet::new();
        for place in 0..query.labels.len() {
            let id = data.document_id(query.rows.start + place).filter(|id| !id.is_empty());
            duplicates.ids += usize::from(id.is_some_and(|id| !ids.insert(id)));
            // Without features all documents are equal.
            if width == 0 {
                continue;
            }
            let same_hash = first_of.entry(hash(row(place))).or_default();
            match same_hash.iter().find(|&&first| row(first).iter().zip(row(place)).all(|(&a, &b)| same(a, b))) {
                Some(&first) => {
                    duplicates.documents += 1;
                    duplicates.with_different_label += usize::from(query.labels[first] != query.labels[place]);
                }
                None => same_hash.push(place),
            }
        }
        duplicates.queries = usize::from(duplicates.documents > 0);
        duplicates
    }
}

/// Whether two values are equal, or both missing.
fn same(a: f32, b: f32) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

fn hash(row: &[f32]) -> u64 {
    let mut hasher = DefaultHasher::new();
    // -0 equals 0, so it must have the same hash.
    row.iter().for_each(|value| hasher.write_u32((value + 0.0).to_bits()));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Dataset {
        burnrank::data::read_bytes("text", text.as_bytes(), &Default::default()).unwrap().data
    }

    #[test]
    fn features_are_classified() {
        // 1 varies, 2 never set, 3 constant, 4 differs between queries only, 5 is large.
        let data = read("1 qid:a 1:1 3:2 4:5 5:-4000\n0 qid:a 1:2 3:2 4:5\n1 qid:b 1:1 3:2 4:6\n");
        let found = Statistics::of(&data, 1);
        assert_eq!((found.zero_features, found.constant_features), (vec![2], vec![3]));
        assert_eq!(found.query_level_features, [4]);
        assert_eq!(found.largest_value, Some(Largest { feature: 5, value: -4000.0 }));
        assert_eq!(Statistics::of(&data, 0).zero_features, [1]);
    }

    #[test]
    fn missing_values_are_counted_and_are_no_values() {
        // 1 is missing in two of three documents, 2 has one value and is missing once, 3 is missing everywhere.
        let data = read("1 qid:a 1:nan 2:5 3:?\n0 qid:a 1:2 2:NA 3:\n1 qid:b 1:NaN 2:5 3:nan\n");
        let found = Statistics::of(&data, 1);
        let counts: Vec<(usize, usize)> =
            found.missing_values.iter().map(|missing| (missing.feature, missing.documents)).collect();
        assert_eq!(counts, [(1, 2), (2, 1), (3, 3)]);
        assert_eq!((&found.zero_features, &found.constant_features), (&vec![], &vec![1, 2]));
        assert_eq!(found.largest_value, Some(Largest { feature: 2, value: 5.0 }));
        assert_eq!(Statistics::of(&read("0 qid:a 1:nan\n1 qid:a 1:nan\n"), 1).duplicates.with_different_label, 1);
    }

    #[test]
    fn duplicates_count_within_a_query_only() {
        let data =
            read("1 qid:a 1:0 2:1\n0 qid:a 1:-0 2:1\n1 qid:a 2:1\n1 qid:b 2:1 # docid = x\n0 qid:b 1:3 # docid = x\n");
        let expected = Duplicates { documents: 2, with_different_label: 1, ids: 1, queries: 1 };
        assert_eq!(Statistics::of(&data, 1).duplicates, expected);
    }

    #[test]
    fn queries_and_labels_are_counted() {
        let data = read("0 qid:a 1:1\n0 qid:a 1:2\n2 qid:b 1:1\n2 qid:c 1:1\n0.5 qid:c 1:2\n1 qid:c 1:3\n");
        let found = Statistics::of(&data, 1);
        assert_eq!(found.documents_per_query, QuerySizes { min: 1, median: 2.0, mean: 2.0, max: 3 });
        let mix: Vec<(f32, usize)> =
            found.labels.distribution.iter().map(|count| (count.label, count.documents)).collect();
        assert_eq!(mix, [(0.0, 2), (0.5, 1), (1.0, 1), (2.0, 2)]);
        let queries = (
            found.queries_without_relevant_documents,
            found.queries_with_one_document,
            found.queries_with_equal_labels,
        );
        assert_eq!(queries, (1, 1, 1));
        assert_eq!(found.problems().len(), 3);
    }

    #[test]
    fn data_without_features_is_harmless() {
        let data = Dataset::new(0, vec![], vec![0.0, 1.0], vec![("a".into(), 2)]).unwrap();
        let found = Statistics::of(&data, 1);
        assert_eq!((found.duplicates, found.largest_value), (Duplicates::default(), None));
        assert_eq!(found.problems()[0].message, "there are no features");
    }
}
