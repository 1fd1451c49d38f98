//! The names of the scalings.

use super::fit::Measure;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How features are scaled.
///
/// | name | value |
/// |---|---|
/// | `none` | x |
/// | `log1p` | sign(x) ln(1 + abs(x)) |
/// | `zscore` | (x - mean) / standard deviation, both of the training split |
/// | `minmax` | (x - min) / (max - min), both of the training split |
/// | `log1p-zscore` | `log1p`, then `zscore` |
/// | `quantile` | sqrt(3) (2 F - 1), F being the share of training documents below x |
/// | `query-minmax` | `minmax` within each query, as LETOR's `QueryLevelNorm` |
/// | `query-zscore` | `zscore` within each query |
///
/// Standard deviations divide by the number of documents. A constant feature becomes 0. `quantile` is piecewise linear between
/// 31 quantiles and flat outside: outliers, however large, change nothing but their own values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum ScaleKind {
    /// Features as they are.
    #[default]
    #[serde(rename = "none")]
    None,
    /// Sign-preserving logarithm.
    #[serde(rename = "log1p")]
    Log1p,
    /// Zero mean and unit variance.
    #[serde(rename = "zscore")]
    ZScore,
    /// Smallest value 0, largest 1.
    #[serde(rename = "minmax")]
    MinMax,
    /// Sign-preserving logarithm, then zero mean and unit variance.
    #[serde(rename = "log1p-zscore")]
    Log1pZScore,
    /// The share of documents below, made to have zero mean and unit variance, through a table of quantiles.
    #[serde(rename = "quantile")]
    Quantile,
    /// Smallest value of a query 0, largest 1.
    #[serde(rename = "query-minmax")]
    QueryMinMax,
    /// Zero mean and unit variance within a query.
    #[serde(rename = "query-zscore")]
    QueryZScore,
}

impl ScaleKind {
    /// Every kind, in the order of the table above.
    pub const ALL: [ScaleKind; 8] = [
        ScaleKind::None,
        ScaleKind::Log1p,
        ScaleKind::ZScore,
        ScaleKind::MinMax,
        ScaleKind::Log1pZScore,
        ScaleKind::Quantile,
        ScaleKind::QueryMinMax,
        ScaleKind::QueryZScore,
    ];

    /// The name that [`str::parse`] reads back.
    pub fn name(self) -> &'static str {
        match self {
            ScaleKind::None => "none",
            ScaleKind::Log1p => "log1p",
            ScaleKind::ZScore => "zscore",
            ScaleKind::MinMax => "minmax",
            ScaleKind::Log1pZScore => "log1p-zscore",
            ScaleKind::Quantile => "quantile",
            ScaleKind::QueryMinMax => "query-minmax",
            ScaleKind::QueryZScore => "query-zscore",
        }
    }

    /// Whether each query is scaled by itself, so that a document's features depend on its neighbours.
    pub fn is_per_query(self) -> bool {
        matches!(self, ScaleKind::QueryMinMax | ScaleKind::QueryZScore)
    }

    /// What a search engine must do to features before a model of this scaling can score them, as a sentence.
    pub fn serving(self) -> &'static str {
        match self {
            ScaleKind::None => "Features are scored as they are: a document can be scored alone.",
            ScaleKind::Log1p => "Each document is scaled by a formula: it can be scored alone.",
            ScaleKind::ZScore | ScaleKind::MinMax | ScaleKind::Log1pZScore | ScaleKind::Quantile => {
                "Each document is scaled by numbers stored with the model: it can be scored alone."
            }
            ScaleKind::QueryMinMax | ScaleKind::QueryZScore => {
                "Each document is scaled by the others of its query: all candidates of a query, with all their features, must be \
                 there before any can be scored, and another list of candidates changes the scores."
            }
        }
    }

    pub(super) fn takes_log(self) -> bool {
        matches!(self, ScaleKind::Log1p | ScaleKind::Log1pZScore)
    }

    pub(super) fn measure(self) -> Option<Measure> {
        match self {
            ScaleKind::None | ScaleKind::Log1p | ScaleKind::Quantile => None,
            ScaleKind::ZScore | ScaleKind::Log1pZScore | ScaleKind::QueryZScore => Some(Measure::Moments),
            ScaleKind::MinMax | ScaleKind::QueryMinMax => Some(Measure::Range),
        }
    }
}

impl fmt::Display for ScaleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ScaleKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim().to_ascii_lowercase();
        ScaleKind::ALL.into_iter().find(|kind| kind.name() == wanted).ok_or_else(|| {
            let names = ScaleKind::ALL.map(ScaleKind::name).join(", ");
            Error::Config(format!("unknown scaling '{text}': expected one of {names}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for kind in ScaleKind::ALL {
            assert_eq!(kind.to_string().parse::<ScaleKind>().unwrap(), kind);
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
        assert!("z".parse::<ScaleKind>().unwrap_err().to_string().contains("query-zscore"));
    }
}
