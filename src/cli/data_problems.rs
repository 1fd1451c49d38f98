//! What is odd about a data set, and what to do about it.

use super::statistics::{Largest, Statistics};
use super::ui::{count, counted, percent};
use burnrank::Dataset;
use serde::Serialize;

/// What a user should know, and can do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DataProblem {
    pub message: String,
    pub remedy: String,
}

/// What decides whether there is anything to learn from a data set, or to judge by it; found in one quick pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Essentials {
    features: usize,
    first_index: usize,
    /// Whether the first feature is 0 everywhere.
    first_is_missing: bool,
    /// The lowest and the highest label.
    labels: (f32, f32),
    /// The highest label's line in the file, where it is known.
    line: Option<usize>,
    /// Whether some query has documents of different labels.
    has_pairs: bool,
}

impl Essentials {
    /// Of a data set; `line` is that of its highest label.
    pub fn of(data: &Dataset, first_index: u32, line: Option<usize>) -> Self {
        let ends = |labels: &[f32]| {
            labels.iter().fold((f32::INFINITY, 0.0f32), |(low, high), &label| (low.min(label), high.max(label)))
        };
        let width = data.n_features();
        Essentials {
            features: width,
            first_index: first_index as usize,
            // Only files that count from 0 are asked, which few do: it may take a look at all documents.
            first_is_missing: first_index == 0
                && data.queries().all(|query| query.features.iter().step_by(width.max(1)).all(|&value| value == 0.0)),
            labels: ends(data.labels()),
            line,
            has_pairs: data.has_pairs(),
        }
    }

    /// What leaves nothing to learn or to judge, or most likely is a mistake; high labels are one where `has_gains`, because of
    /// the gain 2^y - 1.
    pub fn oddities(&self, has_gains: bool) -> Vec<DataProblem> {
        let mut odd = Vec::new();
        let mut add = |message: String, remedy: &str| odd.push(DataProblem { message, remedy: remedy.to_owned() });
        let (lowest, highest) = self.labels;
        if lowest == highest {
            add(format!("all documents have the label {highest}"), "there is no order to learn or to judge");
        } else if !self.has_pairs {
            let remedy = "there is no order to learn or to judge: look at the query ids";
            add("no query has documents of different labels".into(), remedy);
        }
        if self.first_index == 0 && self.features > 0 && self.first_is_missing {
            add("feature 0 is never set".into(), "if the file counts features from 1, leave out --first-index 0");
        }
        if has_gains && highest > 10.0 {
            let line = self.line.map_or(String::new(), |line| format!(", first on line {line}"));
            let gain = format!("the highest label is {highest}{line}: its gain 2^y - 1 drowns all others");
            add(gain, "judge with a linear gain, as in 'ndcg:linear@10'");
        }
        if self.features == 0 {
            add("there is no feature".into(), "expected <index>:<value> behind 'qid:<id>'");
        }
        odd
    }
}

impl From<&Statistics> for Essentials {
    fn from(found: &Statistics) -> Self {
        Essentials {
            features: found.features,
            first_index: found.first_index,
            first_is_missing: found.missing_features.first() == Some(&found.first_index),
            labels: (found.labels.min, found.labels.max),
            line: None,
            has_pairs: found.queries_with_one_document + found.queries_with_equal_labels < found.queries,
        }
    }
}

impl Statistics {
    /// What is odd about the data, the most serious first.
    pub fn oddities(&self) -> Vec<DataProblem> {
        let mut odd = Essentials::from(self).oddities(true);
        let mut add = |message: String, remedy: &str| odd.push(DataProblem { message, remedy: remedy.to_owned() });
        let of_queries = |number| format!("{} ({})", queries(number), percent(number as f64 / self.queries as f64));
        if self.duplicates.with_different_label > 0 {
            let documents = documents(self.duplicates.with_different_label);
            add(
                format!("{documents} with the features of another in the query, but another label"),
                "no ranker can tell them apart: look for features that were lost, or lines that were joined wrongly",
            );
        }
        let same = self.duplicates.documents - self.duplicates.with_different_label;
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
        if !self.missing_features.is_empty() {
            let features = self.listed(&self.missing_features);
            add(format!("never set, or always 0: {features}"), "harmless, but nothing can be learned from them");
        }
        if !self.constant_features.is_empty() {
            let features = self.listed(&self.constant_features);
            add(format!("constant: {features}"), "harmless, but nothing can be learned from them");
        }
        if !self.query_level_features.is_empty() {
            let features = self.listed(&self.query_level_features);
            add(
                format!("the same for all documents of a query: {features}"),
                "a linear ranker cannot use them; others only together with other features",
            );
        }
        if let Some(Largest { feature, value }) = self.largest_value.filter(|largest| largest.value.abs() > 1000.0) {
            add(
                format!("values reach {} ({})", short(value), self.named(feature)),
                "scale the features before training, as 'convert --scale log1p-zscore' does",
            );
        }
        if self.queries_without_relevant_documents > 0 {
            add(
                format!("nothing relevant in {}", of_queries(self.queries_without_relevant_documents)),
                "most measures have no value there: 'evaluate --empty' says what they count",
            );
        }
        if self.queries_with_one_document > 0 {
            add(
                format!("only one document in {}", of_queries(self.queries_with_one_document)),
                "there is nothing to rank: they flatter every measure",
            );
        }
        if self.queries_with_equal_labels > 0 && self.labels.distinct > 1 {
            add(
                format!("all labels equal in {} of two documents or more", of_queries(self.queries_with_equal_labels)),
                "there is no pair to learn from",
            );
        }
        odd
    }

    /// A feature by its index, with its name where it has one.
    fn named(&self, feature: usize) -> String {
        match self.feature_names.get(feature - self.first_index) {
            Some(name) => format!("feature {feature}, {name}"),
            None => format!("feature {feature}"),
        }
    }

    /// Features by their names, where they have some, or by their indices.
    fn listed(&self, features: &[usize]) -> String {
        if self.feature_names.is_empty() {
            return listed(features);
        }
        const MOST: usize = 8;
        let names = features.iter().filter_map(|feature| self.feature_names.get(feature - self.first_index));
        let names = names.take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = match features.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {} more", count(more)),
        };
        format!("{} ({names}{more})", counted(features.len(), "feature", "features"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_data_is_not_odd() {
        let data = burnrank::data::read_bytes("text", b"1 qid:a 1:1\n0 qid:a 1:2\n", &Default::default()).unwrap().data;
        assert_eq!(Statistics::of(&data, 1).oddities(), []);
    }

    #[test]
    fn the_quick_pass_says_what_the_whole_statistics_say() {
        for text in [
            "1 qid:a 1:1\n0 qid:a 1:2\n",
            "1 qid:a 1:1\n1 qid:b 1:2\n",
            "1 qid:a 1:1\n2 qid:b 1:2\n",
            "40 qid:a 1:1\n2 qid:a 1:2\n",
            "1 qid:a\n2 qid:a\n",
        ] {
            for first_index in [0, 1] {
                let data = burnrank::data::read_bytes("text", text.as_bytes(), &Default::default()).unwrap().data;
                let quick = Essentials::of(&data, first_index, None);
                assert_eq!(
                    quick.oddities(true),
                    Essentials::from(&Statistics::of(&data, first_index)).oddities(true),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn lists_join_runs() {
        assert_eq!(listed(&[7]), "1 feature (7)");
        assert_eq!(listed(&[1, 2, 3, 5, 8, 9]), "6 features (1 to 3, 5, 8 to 9)");
        let every_other: Vec<usize> = (0..20).map(|i| 2 * i).collect();
        assert_eq!(listed(&every_other), "20 features (0, 2, 4, 6, 8, 10, 12, 14 and 12 more)");
    }
}
