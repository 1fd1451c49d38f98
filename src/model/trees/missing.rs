//! Missing values and named categories of the training data of trees.

use super::forest::Forest;
use super::tree::Rule;
use crate::internal::text::count;
use crate::model::{Model, Scorer};

/// Maximum number of features named in a warning.
const MAX_NAMED: usize = 5;

impl Forest {
    /// Columns of features for which some branch treats missing values (NaN) differently from 0, in ascending order.
    pub fn missing_features(&self) -> Vec<usize> {
        self.features_where(|rule| rule.goes_left(f32::NAN) != rule.goes_left(0.0))
    }

    /// Columns of features with a branch whose rule satisfies a predicate, in ascending order.
    pub(crate) fn features_where(&self, predicate: impl Fn(&Rule) -> bool) -> Vec<usize> {
        let branches = self.trees().iter().flat_map(|tree| tree.branches());
        let mut columns: Vec<usize> =
            branches.filter(|branch| predicate(&branch.rule)).map(|branch| branch.feature).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

impl Model {
    /// Returns what imported trees expect of data with missing values; `None` if they treat missing values like 0.
    pub fn missing_note(&self) -> Option<String> {
        let Scorer::Trees(forest) = &self.scorer else { return None };
        let missing = Some(forest.missing_features()).filter(|columns| !columns.is_empty())?;
        let features = self.some_features(&missing);
        Some(match self.info.sparse_missing {
            true => format!(
                "{features}: missing values differ from 0; values that LETOR files leave out are missing, as in XGBoost's \
                 reader: import the model with `fill_zeros` if they were 0 in training"
            ),
            false => format!("{features}: missing values differ from 0: write them as nan in data files"),
        })
    }

    /// Returns warnings for users of the model: which numbers imported trees expect for categories.
    pub fn warnings(&self) -> Vec<String> {
        let Scorer::Trees(forest) = &self.scorer else { return Vec::new() };
        let mut warnings = Vec::new();
        if let Some((coded, lists)) = forest.coded_features().filter(|(coded, _)| !coded.is_empty()) {
            let list = lists.iter().find(|list| !list.is_empty()).map_or(&[][..], |list| list);
            let examples: Vec<String> =
                list.iter().take(3).enumerate().map(|(place, value)| format!("{place} for {value}")).collect();
            warnings.push(format!(
                "{}: categories must be numbers in the data, counted from 0 in the order of the training table: {}",
                self.some_features(&coded),
                examples.join(", ")
            ));
        }
        warnings
    }

    /// The names of the first features of a list and the number of the others.
    fn some_features(&self, columns: &[usize]) -> String {
        let name = |column: &usize| self.info.feature_names.get(*column).cloned().unwrap_or(format!("f{}", column + 1));
        let names = columns.iter().take(MAX_NAMED).map(name).collect::<Vec<_>>().join(", ");
        let word = if columns.len() == 1 { "feature" } else { "features" };
        match columns.len().saturating_sub(MAX_NAMED) {
            0 => format!("{word} {names}"),
            more => format!("{word} {names} and {} more", count(more)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::SAMPLE;
    use super::*;
    use crate::model::{Branch, Child, NegativeFractions, Tree, WhenMissing};

    fn forest(rules: Vec<Rule>) -> Forest {
        let tree = |(feature, rule)| {
            let branch = Branch { feature, rule, left: Child::Leaf(0), right: Child::Leaf(1) };
            Tree::new(vec![branch], vec![0.0, 1.0]).unwrap()
        };
        Forest::from_trees(rules.len(), rules.into_iter().enumerate().map(tree).collect()).unwrap()
    }

    #[test]
    fn features_whose_missing_values_differ_from_zero_are_named() {
        use WhenMissing::{NanIsZero, NanLeft, NanRight, ZeroLeft, ZeroRight};
        let at_most = |threshold: f64, missing| Rule::AtMost { threshold, missing };
        let one_of =
            |word, nan_left| Rule::OneOf { categories: vec![word], nan_left, fractions: NegativeFractions::Zero };
        let same = vec![
            at_most(1.0, NanIsZero),
            at_most(1.0, NanLeft),
            at_most(-1.0, NanRight),
            at_most(1.0, ZeroRight),
            at_most(-1.0, ZeroLeft),
            one_of(0b10, false),
            one_of(0b01, true),
        ];
        let model = forest(same).into_model("").unwrap();
        assert_eq!((model.missing_note(), model.warnings()), (None, Vec::new()));
        let other = vec![at_most(-1.0, NanLeft), at_most(1.0, NanRight), one_of(0b01, false), one_of(0b10, true)];
        assert_eq!(forest(other.clone()).missing_features(), [0, 1, 2, 3]);
        let mut all = other.clone();
        all.extend(other);
        let mut model = forest(all).into_model("").unwrap();
        let note = |model: &Model| model.missing_note().unwrap();
        assert!(
            note(&model).starts_with("features f1, f2, f3, f4, f5 and 3 more: missing values differ from 0: write")
        );
        model.info.sparse_missing = true;
        assert!(note(&model).contains("as in XGBoost's reader"), "{}", note(&model));
    }

    #[test]
    fn named_categories_are_warned_about() {
        let named = |lists: &str| {
            let text = format!("{SAMPLE}\npandas_categorical:{lists}\n");
            Forest::parse(&text).unwrap().into_model("").unwrap().warnings()
        };
        assert_eq!((named("null"), named("[[0, 1, 2]]")), (Vec::new(), Vec::new()));
        let warnings = named(r#"[["de", "en", "fr", "it"]]"#);
        let expected = "feature language: categories must be numbers in the data, counted from 0 in the order of the \
                        training table: 0 for \"de\", 1 for \"en\", 2 for \"fr\"";
        assert_eq!(warnings, [expected]);
    }
}
