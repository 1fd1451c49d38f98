//! Problems of a data set, and what to do about them.

use super::statistics::{Largest, Statistics};
use super::ui::{count, counted, percent};
use burnrank::Dataset;
use serde::Serialize;

/// A problem of a data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DataProblem {
    pub message: String,
    pub remedy: String,
}

/// Properties that determine whether a data set is usable for training or evaluation, computed in one fast pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Essentials {
    features: usize,
    first_index: usize,
    /// Whether the first feature is 0 everywhere.
    first_is_missing: bool,
    /// Minimum and maximum label.
    labels: (f32, f32),
    /// Line of the maximum label in the file, if known.
    line: Option<usize>,
    /// Whether some query has documents of different labels.
    has_pairs: bool,
}

impl Essentials {
    /// Examines a data set. `line` is the line of its maximum label.
    pub fn of(data: &Dataset, first_index: u32, line: Option<usize>) -> Self {
        let ends = |labels: &[f32]| {
            labels.iter().fold((f32::INFINITY, 0.0f32), |(low, high), &label| (low.min(label), high.max(label)))
        };
        let width = data.n_features();
        Essentials {
            features: width,
            first_index: first_index as usize,
            // Only checked for files with first index 0, because it may read all documents.
            first_is_missing: first_index == 0
                && data.queries().all(|query| query.features.iter().step_by(width.max(1)).all(|&value| value == 0.0)),
            labels: ends(data.labels()),
            line,
            has_pairs: data.has_pairs(),
        }
    }

    /// Returns problems that make training or evaluation pointless or are probably mistakes. Large labels are a problem with
    /// `has_gains`, because of the gain 2^y - 1.
    pub fn problems(&self, has_gains: bool) -> Vec<DataProblem> {
        let mut problems = Vec::new();
        let mut add = |message: String, remedy: &str| problems.push(DataProblem { message, remedy: remedy.to_owned() });
        let (lowest, highest) = self.labels;
        if lowest == highest {
            add(format!("all documents have the label {highest}"), "there is nothing to learn or to evaluate");
        } else if !self.has_pairs {
            let remedy = "there is nothing to learn or to evaluate: check the query ids";
            add("no query has documents of different labels".into(), remedy);
        }
        if self.first_index == 0 && self.features > 0 && self.first_is_missing {
            add(
                "feature 0 is never set".into(),
                "if the first feature of the file has index 1, leave out --first-index 0",
            );
        }
        if has_gains && highest > 10.0 {
            let line = self.line.map_or(String::new(), |line| format!(", first on line {line}"));
            let gain = format!("the highest label is {highest}{line}: its gain 2^y - 1 dominates all others");
            add(gain, "evaluate with a linear gain, as in 'ndcg:linear@10'");
        }
        if self.features == 0 {
            add("there are no features".into(), "expected <index>:<value> after 'qid:<id>'");
        }
        problems
    }
}

impl From<&Statistics> for Essentials {
    fn from(statistics: &Statistics) -> Self {
        Essentials {
            features: statistics.features,
            first_index: statistics.first_index,
            first_is_missing: statistics.zero_features.first() == Some(&statistics.first_index),
            labels: (statistics.labels.min, statistics.labels.max),
            line: None,
            has_pairs: statistics.queries_with_one_document + statistics.queries_with_equal_labels < statistics.queries,
        }
    }
}

impl Statistics {
    /// Returns the problems of the data, the most serious first.
    pub fn problems(&self) -> Vec<DataProblem> {
        let mut problems = Essentials::from(self).problems(true);
        let mut add = |message: String, remedy: &str| problems.push(DataProblem { message, remedy: remedy.to_owned() });
        let of_queries = |number| format!("{} ({})", queries(number), percent(number as f64 / self.queries as f64));
        if self.duplicates.with_different_label > 0 {
            let documents = documents(self.duplicates.with_different_label);
            add(
                format!("{documents} with the features of another one in the query, but a different label"),
                "no model can distinguish them: check for missing features and wrongly joined lines",
            );
        }
        let same = self.duplicates.documents - self.duplicates.with_different_label;
        if same > 0 {
            let documents = documents(same);
            add(
                format!("{documents} with the features and label of another one in the query"),
                "they tie in every ranking: remove them unless they are different documents",
            );
        }
        if self.duplicates.ids > 0 {
            let documents = documents(self.duplicates.ids);
            add(
                format!("{documents} with the id of another one in the query"),
                "runs and qrels need unique ids: correct them",
            );
        }
        let without_values: Vec<usize> =
            self.missing_values.iter().filter(|missing| missing.share == 1.0).map(|missing| missing.feature).collect();
        if !without_values.is_empty() {
            let features = self.listed(&without_values);
            add(format!("missing everywhere: {features}"), "harmless, but nothing can be learned from them");
        }
        if !self.zero_features.is_empty() {
            let features = self.listed(&self.zero_features);
            add(format!("0 everywhere: {features}"), "harmless, but nothing can be learned from them");
        }
        if !self.constant_features.is_empty() {
            let features = self.listed(&self.constant_features);
            add(format!("constant: {features}"), "harmless, but nothing can be learned from them");
        }
        if !self.query_level_features.is_empty() {
            let features = self.listed(&self.query_level_features);
            add(
                format!("equal for all documents of each query: {features}"),
                "a linear model cannot use them; other models only in combination with other features",
            );
        }
        if let Some(Largest { feature, value }) = self.largest_value.filter(|largest| largest.value.abs() > 1000.0) {
            add(
                format!("values reach {} ({})", short(value), self.named(feature)),
                "scale the features before training, for example with 'convert --scale log1p-zscore'",
            );
        }
        if self.queries_without_relevant_documents > 0 {
            add(
                format!("no relevant documents in {}", of_queries(self.queries_without_relevant_documents)),
                "most metrics are undefined there: 'evaluate --empty' sets their value",
            );
        }
        if self.queries_with_one_document > 0 {
            add(
                format!("only one document in {}", of_queries(self.queries_with_one_document)),
                "there is nothing to rank, which inflates the means of metrics",
            );
        }
        if self.queries_with_equal_labels > 0 && self.labels.distinct > 1 {
            add(
                format!("equal labels in {} with two or more documents", of_queries(self.queries_with_equal_labels)),
                "there are no pairs to learn from",
            );
        }
        problems
    }

    /// Returns the index of a feature, and its name if it has one.
    fn named(&self, feature: usize) -> String {
        match self.feature_names.get(feature - self.first_index) {
            Some(name) => format!("feature {feature}, {name}"),
            None => format!("feature {feature}"),
        }
    }

    /// Lists features by name if they have names, otherwise by index.
    fn listed(&self, features: &[usize]) -> String {
        if self.feature_names.is_empty() {
            return listed(features);
        }
        let names = features.iter().filter_map(|feature| self.feature_names.get(feature - self.first_index));
        let names = names.take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = match features.len().saturating_sub(MAX_LISTED) {
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

/// Formats a number, with an exponent if it is large.
fn short(value: f32) -> String {
    if value.abs() < 1e7 { value.to_string() } else { format!("{value:e}") }
}

/// Maximum number of features, or of runs of features, to list.
const MAX_LISTED: usize = 8;

/// Lists feature indices with consecutive ones joined, as in "3 features (7, 12 to 13)".
fn listed(features: &[usize]) -> String {
    let runs: Vec<&[usize]> = features.chunk_by(|a, b| a + 1 == *b).collect();
    let run = |run: &&[usize]| match run {
        [first, .., last] => format!("{first} to {last}"),
        _ => run.first().map(usize::to_string).unwrap_or_default(),
    };
    let mut text = runs.iter().take(MAX_LISTED).map(run).collect::<Vec<_>>().join(", ");
    let more: usize = runs.iter().skip(MAX_LISTED).map(|run| run.len()).sum();
    if more > 0 {
        text.push_str(&format!(" and {} more", count(more)));
    }
    format!("{} ({text})", counted(features.len(), "feature", "features"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_data_has_no_problems() {
        let data = burnrank::data::read_bytes("text", b"1 qid:a 1:1\n0 qid:a 1:2\n", &Default::default()).unwrap().data;
        assert_eq!(Statistics::of(&data, 1).problems(), []);
    }

    #[test]
    fn the_fast_pass_finds_the_problems_of_the_full_statistics() {
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
                    quick.problems(true),
                    Essentials::from(&Statistics::of(&data, first_index)).problems(true),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn lists_join_consecutive_features() {
        assert_eq!(listed(&[7]), "1 feature (7)");
        assert_eq!(listed(&[1, 2, 3, 5, 8, 9]), "6 features (1 to 3, 5, 8 to 9)");
        let every_other: Vec<usize> = (0..20).map(|i| 2 * i).collect();
        assert_eq!(listed(&every_other), "20 features (0, 2, 4, 6, 8, 10, 12, 14 and 12 more)");
    }
}
