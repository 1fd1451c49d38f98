//! Other programs' conventions: the same ranking, their numbers.

use super::{Conventions, Empty, Metric, Missing, REPORTED_METRICS, Ties, parse_like_trec_eval, parse_with};
use crate::error::{Error, Result};
use crate::name::words;
use std::sync::Arc;

words! {
    /// A program whose numbers are to be had.
    ///
    /// ```
    /// use burnrank::metric::Peer;
    /// assert_eq!(Peer::LightGbm.metric("map@10", 1.0)?.name(), "capped-map@10");
    /// assert_eq!(Peer::XgBoost.metric("ndcg", 1.0)?.name(), "ndcg@32");
    /// assert_eq!(Peer::Letor.metric("ndcg@10", 1.0)?.name(), "letor-ndcg@10");
    /// assert!(Peer::ScikitLearn.metric("err@10", 1.0).is_err());
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    pub enum Peer: "program" {
        /// NIST's trec_eval: scores compared as f32, equal ones by document id, the linear gain.
        TrecEval = "trec_eval" | "treceval",
        /// `ndcg_score` and `dcg_score` of scikit-learn: the linear gain, the mean over all orders of equal scores.
        ScikitLearn = "scikit-learn" | "scikitlearn" | "sklearn",
        /// LightGBM's `ndcg` and `map`: equal scores in the order of the file, 1 where nothing is relevant.
        LightGbm = "lightgbm" | "light-gbm",
        /// XGBoost's `ndcg` and `map`: as LightGBM's, with scores compared as f32, and cut at rank 32 where the name has no
        /// cutoff, as XGBoost 2.0 and later do whatever the objective's settings.
        XgBoost = "xgboost" | "xg-boost",
        /// LETOR 4.0's Eval-Score script: a discount of its own, and 0 for lists shorter than k.
        Letor = "letor" | "letor4" | "letor4.0",
    }
}

/// The last rank of XGBoost's `ndcg` and `map` without a cutoff.
const XGBOOST_RANKS: usize = 32;

impl Peer {
    /// How it ranks equal scores and counts queries with nothing relevant.
    ///
    /// trec_eval's order of equal scores is that of document ids: whoever has these puts documents into that order first.
    pub fn conventions(self) -> Conventions {
        let (ties, empty, missing) = match self {
            Peer::TrecEval => (Ties::Document, Empty::Zero, Missing::Absent),
            Peer::ScikitLearn => (Ties::Average, Empty::Zero, Missing::Last),
            Peer::LightGbm | Peer::XgBoost => (Ties::Document, Empty::One, Missing::Last),
            Peer::Letor => (Ties::Document, Empty::Zero, Missing::Last),
        };
        Conventions { ties, empty, missing }
    }

    /// Whether it compares scores as f32.
    pub fn compares_f32(self) -> bool {
        matches!(self, Peer::TrecEval | Peer::XgBoost)
    }

    /// The usual metrics that it has, for a user who names none.
    pub fn usual_metrics(self) -> &'static [&'static str] {
        match self {
            Peer::TrecEval => &REPORTED_METRICS,
            Peer::ScikitLearn => &["ndcg@10"],
            Peer::LightGbm => &["ndcg@10", "map@10"],
            Peer::XgBoost => &["ndcg@10", "map"],
            Peer::Letor => &["ndcg@10", "map", "p@10"],
        }
    }

    /// The measure that it has under a name.
    ///
    /// # Errors
    /// When it has no such measure, or the name is none.
    pub fn metric(self, name: &str, threshold: f32) -> Result<Arc<dyn Metric>> {
        let plain = parse_with(name, threshold)?.name();
        let base = plain.split([':', '@']).next().unwrap_or(&plain);
        let cut = plain.split_once('@').map_or(String::new(), |(_, k)| format!("@{k}"));
        let metric = match (self, base) {
            (Peer::TrecEval, _) => parse_like_trec_eval(name, threshold),
            (Peer::ScikitLearn, "ndcg" | "dcg") => parse_like_trec_eval(name, threshold),
            (Peer::XgBoost, "ndcg") if cut.is_empty() => parse_with(&format!("{plain}@{XGBOOST_RANKS}"), threshold),
            (Peer::XgBoost, "map") if cut.is_empty() => {
                parse_with(&format!("capped-{plain}@{XGBOOST_RANKS}"), threshold)
            }
            (Peer::LightGbm | Peer::XgBoost, "map") if !cut.is_empty() => {
                parse_with(&format!("capped-{plain}"), threshold)
            }
            (Peer::LightGbm | Peer::XgBoost, "ndcg" | "map" | "capped-map") => parse_with(name, threshold),
            (Peer::Letor, "ndcg") => parse_with(&format!("letor-ndcg{cut}"), threshold),
            (Peer::Letor, "letor-ndcg" | "map" | "p") => parse_with(name, threshold),
            _ => Err(Error::Config(format!("{} has no measure '{name}': it has {}", self.name(), self.measures()))),
        }?;
        if self == Peer::Letor && base == "map" && !cut.is_empty() {
            return Err(Error::Config(format!("{} has no measure '{name}': it has {}", self.name(), self.measures())));
        }
        Ok(metric)
    }

    /// What it measures.
    fn measures(self) -> &'static str {
        match self {
            Peer::TrecEval => "all of them",
            Peer::ScikitLearn => "ndcg[@k] and dcg[@k]",
            Peer::LightGbm => "ndcg[@k] and map[@k]",
            Peer::XgBoost => "ndcg[@k] and map[@k] (without @k cut at rank 32)",
            Peer::Letor => "ndcg[@k] (without @k its MeanNDCG), map and p@k",
        }
    }

    /// Its conventions that are no others', in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Peer::TrecEval => "compared as f32, the greater document id first, as in trec_eval",
            Peer::ScikitLearn => "average over all orders, as in scikit-learn",
            Peer::LightGbm => "in the order of the file, as in LightGBM",
            Peer::XgBoost => "compared as f32, in the order of the file, as in XGBoost",
            Peer::Letor => "in the order of the file, as in LETOR's script",
        }
    }
}
