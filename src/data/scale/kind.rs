//! The table of scalings.

use super::columns::NoColumns;
use super::{ColumnStats, Step};
use crate::name::words;

/// What is known of a scaling beside its name and help.
struct Row {
    /// What the scaling does to features, by statistics of the training split. Which steps there are does not depend on the
    /// statistics, only their numbers do. A step occurs once at most, and `Affine` and `WithinQuery` not both.
    fit: fn(&dyn ColumnStats) -> Vec<Step>,
    /// Place, from 1, among the scalings that the model `auto` tries.
    auto: Option<u8>,
    /// Place, from 1, among the scalings that a search tries for nets.
    tune: Option<u8>,
}

/// Makes [`ScaleKind`] of rows.
macro_rules! scalings {
    ($(
        $(#[doc = $docs:literal])+
        $(#[default $($default:tt)*])?
        $kind:ident = $name:literal, $fit:path, auto $auto:expr, tune $tune:expr;
    )+) => {
        words! {
            /// How features are scaled.
            ///
            /// A feature that is constant where the scaling is fitted becomes 0.
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

// One row per scaling: its help, name and fit, and its places among the scalings that automatic choices try.
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
    /// sqrt(3) (2 F - 1), F being the share of training documents below x; bounded, whatever the outliers.
    Quantile = "quantile", super::quantile::fit, auto Some(1), tune Some(5);
    /// `minmax` within each query, as LETOR's `QueryLevelNorm`.
    QueryMinMax = "query-minmax", super::query_minmax::fit, auto Some(3), tune Some(1);
    /// `zscore` within each query.
    QueryZScore = "query-zscore", super::query_zscore::fit, auto None, tune Some(2);
}

impl ScaleKind {
    /// The scalings that `auto` tries, in its order.
    pub(crate) fn tried_by_auto() -> Vec<ScaleKind> {
        let mut tried: Vec<ScaleKind> = Self::ALL.into_iter().filter(|kind| kind.row().auto.is_some()).collect();
        tried.sort_by_key(|kind| kind.row().auto);
        tried
    }

    /// Names of the scalings that a search tries for nets, in its order.
    pub(crate) const TRIED_BY_TUNE: [&'static str; Self::count_tuned()] = {
        let (mut names, mut index) = ([""; Self::count_tuned()], 0);
        while index < Self::ALL.len() {
            if let Some(place) = Self::ALL[index].row().tune {
                names[place as usize - 1] = Self::ALL[index].name();
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

    /// What is done to features, by statistics of the training split.
    pub(super) fn fit(self, columns: &dyn ColumnStats) -> Vec<Step> {
        (self.row().fit)(columns)
    }

    /// The steps without their numbers.
    pub(super) fn outline(self) -> Vec<Step> {
        self.fit(&NoColumns)
    }

    /// Whether each query is scaled by itself, so that a document's features depend on its neighbours.
    pub fn is_per_query(self) -> bool {
        self.outline().iter().any(Step::is_per_query)
    }

    /// What a search engine must do to features before a model of this scaling can score them, as a sentence.
    pub fn serving(self) -> &'static str {
        let steps = self.outline();
        if steps.is_empty() {
            "Features are scored as they are: a document can be scored alone."
        } else if steps.iter().any(Step::is_per_query) {
            "Each document is scaled by the others of its query: all candidates of a query, with all their features, must be \
             there before any can be scored, and another list of candidates changes the scores."
        } else if steps.iter().any(Step::has_numbers) {
            "Each document is scaled by numbers stored with the model: it can be scored alone."
        } else {
            "Each document is scaled by a formula: it can be scored alone."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::discriminant;

    #[test]
    fn names_read_back() {
        for kind in ScaleKind::ALL {
            assert_eq!(kind.to_string().parse::<ScaleKind>().unwrap(), kind);
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
        assert!("z".parse::<ScaleKind>().unwrap_err().to_string().contains("query-zscore"));
    }

    #[test]
    fn steps_occur_once_and_center_once() {
        for kind in ScaleKind::ALL {
            let steps = kind.outline();
            for (place, step) in steps.iter().enumerate() {
                let same = |other: &Step| discriminant(other) == discriminant(step);
                assert!(!steps[..place].iter().any(same), "{kind}: {step:?} twice");
            }
            let centers = |step: &&Step| matches!(step, Step::Affine(_) | Step::WithinQuery(_));
            assert!(steps.iter().filter(centers).count() <= 1, "{kind}");
        }
    }

    #[test]
    fn automatic_choices_have_an_order() {
        let names = |kinds: Vec<ScaleKind>| kinds.into_iter().map(ScaleKind::name).collect::<Vec<_>>();
        assert_eq!(names(ScaleKind::tried_by_auto()), ["quantile", "log1p-zscore", "query-minmax"]);
        let tuned = ["query-minmax", "query-zscore", "zscore", "log1p-zscore", "quantile"];
        assert_eq!(ScaleKind::TRIED_BY_TUNE, tuned);
    }
}
