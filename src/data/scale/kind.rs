//! The registry of scalings.

use super::columns::NoColumns;
use super::{ColumnStats, Step};
use crate::name::words;

/// Properties of a scaling other than its name and help.
struct Row {
    /// Fits the steps of the scaling to statistics of the training split. The kinds of steps must not depend on the statistics.
    /// Each kind of step occurs at most once, and `Affine` and `WithinQuery` exclude each other.
    fit: fn(&dyn ColumnStats) -> Vec<Step>,
    /// Position, from 1, among the scalings that the model `auto` tries.
    auto: Option<u8>,
    /// Position, from 1, among the scalings that a search tries for nets.
    tune: Option<u8>,
}

/// Defines [`ScaleKind`] from rows.
macro_rules! scalings {
    ($(
        $(#[doc = $docs:literal])+
        $(#[default $($default:tt)*])?
        $kind:ident = $name:literal, $fit:path, auto $auto:expr, tune $tune:expr;
    )+) => {
        words! {
            /// Feature scaling.
            ///
            /// Features that are constant in the data to which the scaling is fitted become 0.
            #[derive(Default)]
            pub enum ScaleKind: "scaling" {
                $(
                    $(#[doc = $docs])+
                    $(#[default $($default)*])?
                    $kind = $name
                ),+
            }
        }

        impl ScaleKind {
            const fn row(self) -> &'static Row {
                match self {
                    $(ScaleKind::$kind => &Row { fit: $fit, auto: $auto, tune: $tune },)+
                }
            }
        }
    };
}

// One row per scaling: help, name, fit, and positions among the scalings tried by `auto` and by searches.
scalings! {
    /// Features as they are.
    #[default]
    None = "none", super::none::fit, auto None, tune None;
    /// sign(x) ln(1 + abs(x)).
    Log1p = "log1p", super::log1p::fit, auto None, tune None;
    /// (x - mean) / standard deviation, both of the training split.
    ZScore = "zscore", super::zscore::fit, auto None, tune Some(3);
    /// (x - min) / (max - min), both of the training split.
    MinMax = "minmax", super::minmax::fit, auto None, tune None;
    /// `log1p`, then `zscore`.
    Log1pZScore = "log1p-zscore", super::log1p_zscore::fit, auto Some(2), tune Some(4);
    /// sqrt(3) (2 F - 1), where F is the fraction of training documents below x; bounded, robust to outliers.
    Quantile = "quantile", super::quantile::fit, auto Some(1), tune Some(5);
    /// Position between quantiles; bounded, robust to outliers; nets have a weight per bin, so that they learn thresholds.
    Piecewise = "piecewise", super::piecewise::fit, auto None, tune None;
    /// `minmax` within each query, as LETOR's `QueryLevelNorm`.
    QueryMinMax = "query-minmax", super::query_minmax::fit, auto Some(3), tune Some(1);
    /// `zscore` within each query.
    QueryZScore = "query-zscore", super::query_zscore::fit, auto None, tune Some(2);
}

impl ScaleKind {
    /// Returns the scalings that `auto` tries among those that `is_supported` accepts, in order.
    pub(crate) fn tried_by_auto(is_supported: impl Fn(ScaleKind) -> bool) -> Vec<ScaleKind> {
        let is_tried = |kind: &ScaleKind| kind.row().auto.is_some() && is_supported(*kind);
        let mut tried: Vec<ScaleKind> = Self::ALL.into_iter().filter(is_tried).collect();
        tried.sort_by_key(|kind| kind.row().auto);
        tried
    }

    /// Names of the scalings that a search tries for nets, in order.
    pub(crate) const TRIED_BY_TUNE: [&'static str; Self::count_tuned()] = {
        let (mut names, mut index) = ([""; Self::count_tuned()], 0);
        while index < Self::ALL.len() {
            if let Some(position) = Self::ALL[index].row().tune {
                names[position as usize - 1] = Self::ALL[index].name();
            }
            index += 1;
        }
        names
    };

    const fn count_tuned() -> usize {
        let (mut count, mut index) = (0, 0);
        while index < Self::ALL.len() {
            count += Self::ALL[index].row().tune.is_some() as usize;
            index += 1;
        }
        count
    }

    /// Fits the steps to statistics of the training split.
    pub(super) fn fit(self, columns: &dyn ColumnStats) -> Vec<Step> {
        (self.row().fit)(columns)
    }

    /// Returns the steps without fitted numbers.
    pub(super) fn outline(self) -> Vec<Step> {
        self.fit(&NoColumns)
    }

    /// Whether each query is scaled separately, so that the features of a document depend on the other documents of its query.
    pub fn is_per_query(self) -> bool {
        self.outline().iter().any(Step::is_per_query)
    }

    /// Returns a sentence on what a search engine needs to scale features for a model with this scaling.
    pub fn serving(self) -> &'static str {
        let steps = self.outline();
        if steps.is_empty() {
            "Features are not scaled: each document can be scored independently."
        } else if steps.iter().any(Step::is_per_query) {
            "Features are scaled within each query: all candidates of a query, with all features, must be available before \
             any can be scored, and scores depend on the list of candidates."
        } else if steps.iter().any(Step::has_numbers) {
            "Features are scaled with numbers stored in the model: each document can be scored independently."
        } else {
            "Features are scaled by a formula: each document can be scored independently."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::discriminant;

    #[test]
    fn names_round_trip() {
        for kind in ScaleKind::ALL {
            assert_eq!(kind.to_string().parse::<ScaleKind>().unwrap(), kind);
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
        assert!("z".parse::<ScaleKind>().unwrap_err().to_string().contains("query-zscore"));
    }

    #[test]
    fn each_kind_of_step_occurs_once_and_centers_once() {
        for kind in ScaleKind::ALL {
            let steps = kind.outline();
            for (index, step) in steps.iter().enumerate() {
                let same = |other: &Step| discriminant(other) == discriminant(step);
                assert!(!steps[..index].iter().any(same), "{kind}: {step:?} twice");
            }
            let centers = |step: &&Step| matches!(step, Step::Affine(_) | Step::WithinQuery(_));
            assert!(steps.iter().filter(centers).count() <= 1, "{kind}");
        }
    }

    #[test]
    fn automatic_choices_are_ordered() {
        let names = |kinds: Vec<ScaleKind>| kinds.into_iter().map(ScaleKind::name).collect::<Vec<_>>();
        assert_eq!(names(ScaleKind::tried_by_auto(|_| true)), ["quantile", "log1p-zscore", "query-minmax"]);
        assert_eq!(names(ScaleKind::tried_by_auto(|kind| !kind.is_per_query())), ["quantile", "log1p-zscore"]);
        let tuned = ["query-minmax", "query-zscore", "zscore", "log1p-zscore", "quantile"];
        assert_eq!(ScaleKind::TRIED_BY_TUNE, tuned);
    }
}
