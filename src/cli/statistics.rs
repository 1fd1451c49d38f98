//! What a data set is made of, and what is odd about it.

use super::ui::{count, counted, percent};
use burnrank::{Dataset, QueryView};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};

/// More different labels than this are summed up instead of listed.
const MOST_LISTED_LABELS: usize = 32;

/// The statistics of one file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statistics {
    pub queries: usize,
    pub documents: usize,
    pub features: usize,
    /// What the lists of features count from.
    pub first_index: usize,
    pub documents_per_query: Spread,
    pub labels: Labels,
    /// Features that are 0 everywhere, or never set.
    pub missing_features: Vec<usize>,
    /// Features with one other value everywhere.
    pub constant_features: Vec<usize>,
    /// Features that differ between queries, but never between the documents of one.
    pub query_level_features: Vec<usize>,
    pub largest_value: Option<Largest>,
    pub duplicates: Duplicates,
    pub documents_with_id: usize,
    pub queries_with_nothing_relevant: usize,
    pub queries_with_one_document: usize,
    pub queries_with_equal_labels: usize,
}

/// Sizes of queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    pub min: usize,
    pub median: f64,
    pub mean: f64,
    pub max: usize,
}

/// The labels of all documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Labels {
    pub different: usize,
    pub min: f32,
    pub mean: f64,
    pub max: f32,
    /// From the lowest; empty when there are very many.
    pub mix: Vec<LabelCount>,
}

/// How often a label is given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LabelCount {
    pub label: f32,
    pub documents: usize,
    pub share: f64,
}

/// The value farthest from 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Largest {
    pub feature: usize,
    pub value: f32,
}

/// Documents that repeat an earlier one of the same query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Duplicates {
    /// With the same features.
    pub documents: usize,
    /// Of these, with another label than the earlier one.
    pub with_another_label: usize,
    /// With the same id.
    pub ids: usize,
    /// Queries with documents of the same features.
    pub queries: usize,
}

/// What a user should know, and can do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Oddity {
    pub what: String,
    pub remedy: String,
}

impl Statistics {
    pub fn of(data: &Dataset, first_index: u32) -> Self {
        let first_index = first_index as usize;
        let columns = Columns::of(data);
        let features = |wanted: &dyn Fn(&Column) -> bool| -> Vec<usize> {
            (0..data.n_features()).filter(|&i| wanted(&columns.column(i))).map(|i| i + first_index).collect()
        };
        let largest = (0..data.n_features()).map(|i| (i, columns.column(i).farthest()));
        let largest = largest.reduce(|best, next| if next.1.abs() > best.1.abs() { next } else { best });
        let queries_with = |test: fn(&QueryView) -> bool| data.queries().filter(test).count();
        Statistics {
            queries: data.n_queries(),
            documents: data.n_documents(),
            features: data.n_features(),
            first_index,
            documents_per_query: Spread::of(data),
            labels: Labels::of(data.labels()),
            missing_features: features(&|column| column.min == 0.0 && column.max == 0.0),
            constant_features: features(&|column| column.min == column.max && column.min != 0.0),
            query_level_features: features(&|column| column.min != column.max && !column.varies),
            largest_value: largest.map(|(i, value)| Largest { feature: i + first_index, value }),
            duplicates: Duplicates::of(data),
            documents_with_id: (0..data.n_documents())
                .filter(|&row| data.document_id(row).is_some_and(|id| !id.is_empty()))
                .count(),
            queries_with_nothing_relevant: queries_with(|query| query.labels.iter().all(|&label| label == 0.0)),
            queries_with_one_document: queries_with(|query| query.labels.len() == 1),
            queries_with_equal_labels: queries_with(|query| {
                query.labels.len() > 1 && query.labels.iter().all(|&label| label == query.labels[0])
            }),
        }
    }

    /// What is odd about the data, the most serious first.
    pub fn oddities(&self) -> Vec<Oddity> {
        let mut odd = Vec::new();
        let mut add = |what: String, remedy: &str| odd.push(Oddity { what, remedy: remedy.to_owned() });
        let of_queries = |number| format!("{} ({})", queries(number), percent(number as f64 / self.queries as f64));
        if self.labels.different == 1 {
            add(format!("all documents have the label {}", self.labels.max), "there is no order to learn or to judge");
        }
        if self.first_index == 0 && self.missing_features.first() == Some(&0) {
            add("feature 0 is never set".into(), "if the file counts features from 1, leave out --first-index 0");
        }
        if self.labels.max > 10.0 {
            let gain = format!("the highest label is {}: its gain 2^y - 1 drowns all others", self.labels.max);
            add(gain, "judge with a linear gain, as in 'ndcg:linear@10'");
        }
        if self.duplicates.with_another_label > 0 {
            let documents = documents(self.duplicates.with_another_label);
            add(
                format!("{documents} with the features of another in the query, but another label"),
                "no ranker can tell them apart: look for features that were lost, or lines that were joined wrongly",
            );
        }
        let same = self.duplicates.documents - self.duplicates.with_another_label;
        if same > 0 {
            let documents = documents(same);
            add(
                format!("{documents} with the features and label of another in the query"),
                "they tie in every ranking: remove them unless they are different documents",
            );
        }
        if self.duplicates.ids > 0 {
            let documents = documents(self.duplicates.ids);
            add(
                format!("{documents} with the id of another in the query"),
                "runs and qrels need an id for each: repair them",
            );
        }
        if self.features == 0 {
            add("there is no feature".into(), "expected <index>:<value> behind 'qid:<id>'");
        }
        if !self.missing_features.is_empty() {
            let features = listed(&self.missing_features);
            add(format!("never set, or always 0: {features}"), "harmless, but nothing can be learned from them");
        }
        if !self.constant_features.is_empty() {
            let features = listed(&self.constant_features);
            add(format!("constant: {features}"), "harmless, but nothing can be learned from them");
        }
        if !self.query_level_features.is_empty() {
            let features = listed(&self.query_level_features);
            add(
                format!("the same for all documents of a query: {features}"),
                "a linear ranker cannot use them; others only together with other features",
            );
        }
        if let Some(Largest { feature, value }) = self.largest_value.filter(|largest| largest.value.abs() > 1000.0) {
            add(
                format!("values reach {} (feature {feature})", short(value)),
                "scale the features before training, as 'convert --scale log1p-zscore' does",
            );
        }
        if self.queries_with_nothing_relevant > 0 {
            add(
                format!("nothing relevant in {}", of_queries(self.queries_with_nothing_relevant)),
                "most measures have no value there: 'evaluate --empty' says what they count",
            );
        }
        if self.queries_with_one_document > 0 {
            add(
                format!("only one document in {}", of_queries(self.queries_with_one_document)),
                "there is nothing to rank: they flatter every measure",
            );
        }
        if self.queries_with_equal_labels > 0 && self.labels.different > 1 {
            add(
                format!("all labels equal in {} of two documents or more", of_queries(self.queries_with_equal_labels)),
                "there is no pair to learn from",
            );
        }
        odd
    }
}

fn queries(number: usize) -> String {
    counted(number, "query", "queries")
}

fn documents(number: usize) -> String {
    counted(number, "document", "documents")
}

/// A number as a person would write it.
fn short(value: f32) -> String {
    if value.abs() < 1e7 { value.to_string() } else { format!("{value:e}") }
}

/// Numbers with runs joined, as in "3 features (7, 12 to 13)"; long lists are cut.
fn listed(features: &[usize]) -> String {
    const MOST: usize = 8;
    let runs: Vec<&[usize]> = features.chunk_by(|a, b| a + 1 == *b).collect();
    let run = |run: &&[usize]| match run {
        [first, .., last] => format!("{first} to {last}"),
        _ => run.first().map(usize::to_string).unwrap_or_default(),
    };
    let mut text = runs.iter().take(MOST).map(run).collect::<Vec<_>>().join(", ");
    let more: usize = runs.iter().skip(MOST).map(|run| run.len()).sum();
    if more > 0 {
        text.push_str(&format!(" and {} more", count(more)));
    }
    format!("{} ({text})", counted(features.len(), "feature", "features"))
}

impl Spread {
    fn of(data: &Dataset) -> Self {
        let mut sizes: Vec<usize> = data.offsets().windows(2).map(|pair| pair[1] - pair[0]).collect();
        sizes.sort_unstable();
        let n = sizes.len();
        let at = |place: usize| sizes.get(place).copied().unwrap_or(0);
        Spread {
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
            // Minus zero is zero.
            label: run[0] + 0.0,
            documents: run.len(),
            share: run.len() as f64 / total as f64,
        };
        Labels {
            different: runs.len(),
            min: sorted.first().copied().unwrap_or(0.0) + 0.0,
            mean: labels.iter().map(|&label| f64::from(label)).sum::<f64>() / total.max(1) as f64,
            max: sorted.last().copied().unwrap_or(0.0) + 0.0,
            mix: if runs.len() > MOST_LISTED_LABELS { Vec::new() } else { runs.iter().map(counted).collect() },
        }
    }
}

/// Ranges of all features, and whether they differ within a query.
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
    /// The value farthest from 0.
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
        let folded = queries.fold(|| Columns::none(width), |columns, query| columns.with(data.query(query).features));
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
                self.varies[i] |= row[i] != rows[i];
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
            with_another_label: a.with_another_label + b.with_another_label,
            ids: a.ids + b.ids,
            queries: a.queries + b.queries,
        })
    }

    fn of_query(data: &Dataset, query: &QueryView) -> Self {
        let width = data.n_features();
        let row = |place: usize| &query.features[place * width..(place + 1) * width];
        let mut first_of: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut found = Duplicates::default();
        let mut ids = HashSet::new();
        for place in 0..query.labels.len() {
            let id = data.document_id(query.rows.start + place).filter(|id| !id.is_empty());
            found.ids += usize::from(id.is_some_and(|id| !ids.insert(id)));
            // Without features all documents are alike, which says nothing of them.
            if width == 0 {
                continue;
            }
            let same_hash = first_of.entry(hash(row(place))).or_default();
            match same_hash.iter().find(|&&first| row(first) == row(place)) {
                Some(&first) => {
                    found.documents += 1;
                    found.with_another_label += usize::from(query.labels[first] != query.labels[place]);
                }
                None => same_hash.push(place),
            }
        }
        found.queries = usize::from(found.documents > 0);
        found
    }
}

fn hash(row: &[f32]) -> u64 {
    let mut hasher = DefaultHasher::new();
    // Minus zero equals zero, so it must hash alike.
    row.iter().for_each(|value| hasher.write_u32((value + 0.0).to_bits()));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Dataset {
        burnrank::read_bytes("text", text.as_bytes(), &Default::default()).unwrap().data
    }

    #[test]
    fn features_are_told_apart() {
        // 1 varies, 2 never set, 3 constant, 4 differs between queries only, 5 is large.
        let data = read("1 qid:a 1:1 3:2 4:5 5:-4000\n0 qid:a 1:2 3:2 4:5\n1 qid:b 1:1 3:2 4:6\n");
        let found = Statistics::of(&data, 1);
        assert_eq!((found.missing_features, found.constant_features), (vec![2], vec![3]));
        assert_eq!(found.query_level_features, [4]);
        assert_eq!(found.largest_value, Some(Largest { feature: 5, value: -4000.0 }));
        assert_eq!(Statistics::of(&data, 0).missing_features, [1]);
    }

    #[test]
    fn duplicates_count_within_a_query_only() {
        let data =
            read("1 qid:a 1:0 2:1\n0 qid:a 1:-0 2:1\n1 qid:a 2:1\n1 qid:b 2:1 # docid = x\n0 qid:b 1:3 # docid = x\n");
        let expected = Duplicates { documents: 2, with_another_label: 1, ids: 1, queries: 1 };
        assert_eq!(Statistics::of(&data, 1).duplicates, expected);
    }

    #[test]
    fn queries_and_labels_are_counted() {
        let data = read("0 qid:a 1:1\n0 qid:a 1:2\n2 qid:b 1:1\n2 qid:c 1:1\n0.5 qid:c 1:2\n1 qid:c 1:3\n");
        let found = Statistics::of(&data, 1);
        assert_eq!(found.documents_per_query, Spread { min: 1, median: 2.0, mean: 2.0, max: 3 });
        let mix: Vec<(f32, usize)> = found.labels.mix.iter().map(|count| (count.label, count.documents)).collect();
        assert_eq!(mix, [(0.0, 2), (0.5, 1), (1.0, 1), (2.0, 2)]);
        let queries =
            (found.queries_with_nothing_relevant, found.queries_with_one_document, found.queries_with_equal_labels);
        assert_eq!(queries, (1, 1, 1));
        assert_eq!(found.oddities().len(), 3);
    }

    #[test]
    fn good_data_is_not_odd() {
        let data = read("1 qid:a 1:1\n0 qid:a 1:2\n");
        assert_eq!(Statistics::of(&data, 1).oddities(), []);
    }

    #[test]
    fn data_without_features_is_harmless() {
        let data = Dataset::new(0, vec![], vec![0.0, 1.0], vec![("a".into(), 2)]).unwrap();
        let found = Statistics::of(&data, 1);
        assert_eq!((found.duplicates, found.largest_value), (Duplicates::default(), None));
        assert_eq!(found.oddities()[0].what, "there is no feature");
    }

    #[test]
    fn lists_join_runs() {
        assert_eq!(listed(&[7]), "1 feature (7)");
        assert_eq!(listed(&[1, 2, 3, 5, 8, 9]), "6 features (1 to 3, 5, 8 to 9)");
        let every_other: Vec<usize> = (0..20).map(|i| 2 * i).collect();
        assert_eq!(listed(&every_other), "20 features (0, 2, 4, 6, 8, 10, 12, 14 and 12 more)");
    }
}
