//! Conventions of other programs.

use super::{Conventions, Empty, Metric, Missing, REPORTED_METRICS, Ties, parse_like_trec_eval, parse_with};
use crate::error::{Error, Result};
use crate::name::words;
use std::sync::Arc;

words! {
    /// A program whose results can be reproduced.
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
        /// NIST's trec_eval: compares scores as f32, orders equal ones by document id, and uses the linear gain.
        TrecEval = "trec_eval" | "treceval",
        /// `ndcg_score` and `dcg_score` of scikit-learn: linear gain, mean over all orders of equal scores.
        ScikitLearn = "scikit-learn" | "scikitlearn" | "sklearn",
        /// LightGBM's `ndcg` and `map`: equal scores in the order of the file, 1 for queries without relevant
        /// documents.
        LightGbm = "lightgbm" | "light-gbm",
        /// XGBoost's `ndcg` and `map`: as LightGBM's, but scores are compared as f32 and metrics without a cutoff stop
        /// at rank 32, as in XGBoost 2.0 and later whatever its settings.
        XgBoost = "xgboost" | "xg-boost",
        /// LETOR 4.0's Eval-Score script: another discount, and 0 for lists shorter than k.
        Letor = "letor" | "letor4" | "letor4.0",
    }
}

/// Cutoff of XGBoost's `ndcg` and `map` when none is given.
const XGBOOST_RANKS: usize = 32;

impl Peer {
    /// Returns the program's treatment of equal scores and of queries without relevant documents.
    ///
    /// trec_eval orders equal scores by document id: if the data has ids, sort its documents by them first.
    pub fn conventions(self) -> Conventions {
        let (ties, empty, missing) = match self {
            Peer::TrecEval => (Ties::Document, Empty::Zero, Missing::Absent),
            Peer::ScikitLearn => (Ties::Average, Empty::Zero, Missing::Last),
            Peer::LightGbm | Peer::XgBoost => (Ties::Document, Empty::One, Missing::Last),
            Peer::Letor => (Ties::Document, Empty::Zero, Missing::Last),
        };
        Conventions { ties, empty, missing }
    }

    /// Returns whether the program compares scores as f32.
    pub fn compares_f32(self) -> bool {
        matches!(self, Peer::TrecEval | Peer::XgBoost)
    }

    /// Default metrics for this program.
    pub fn usual_metrics(self) -> &'static [&'static str] {
        match self {
            Peer::TrecEval => &REPORTED_METRICS,
            Peer::ScikitLearn => &["ndcg@10"],
            Peer::LightGbm => &["ndcg@10", "map@10"],
            Peer::XgBoost => &["ndcg@10", "map"],
            Peer::Letor => &["ndcg@10", "map", "p@10"],
        }
    }

    /// Returns the metric that the program computes under a name.
    ///
    /// # Errors
    /// Returns an error if the name is invalid or the program has no such metric.
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
            (Peer::Letor, "map") if !cut.is_empty() => Err(self.unsupported(name)),
            (Peer::Letor, "letor-ndcg" | "map" | "p") => parse_with(name, threshold),
            _ => Err(self.unsupported(name)),
        }?;
        Ok(metric)
    }

    fn unsupported(self, name: &str) -> Error {
        let metrics = match self {
            Peer::TrecEval => "all metrics",
            Peer::ScikitLearn => "ndcg[@k] and dcg[@k]",
            Peer::LightGbm => "ndcg[@k] and map[@k]",
            Peer::XgBoost => "ndcg[@k] and map[@k] (up to rank 32 without @k)",
            Peer::Letor => "ndcg[@k] (MeanNDCG without @k), map and p@k",
        };
        Error::Config(format!("{} has no metric '{name}': it has {metrics}", self.name()))
    }

    /// Short description of how the program orders equal scores.
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
