//! The four measures of the paper, and its artificial data.

use crate::harness::{Scale, Session};
use burnrank::{Dataset, Metric, Objective, Synthetic, metric};
use std::ops::Range;
use std::sync::Arc;

/// A measure that is trained for and judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measure {
    /// As the program calls it. Labels of 2 and more are relevant to binary measures, as in the paper.
    pub name: &'static str,
    /// As the paper calls it.
    pub title: &'static str,
}

pub const NDCG: Measure = Measure { name: "ndcg", title: "NDCG" };
pub const NDCG10: Measure = Measure { name: "ndcg@10", title: "NDCG@10" };
pub const MAP: Measure = Measure { name: "map:rel=2", title: "MAP" };
pub const MRR: Measure = Measure { name: "mrr:rel=2", title: "MRR" };

/// All four, in the paper's order.
pub const MEASURES: [Measure; 4] = [NDCG, NDCG10, MAP, MRR];

impl Measure {
    pub fn metric(self) -> anyhow::Result<Arc<dyn Metric>> {
        Ok(metric::parse(self.name)?)
    }

    /// LambdaRank for it, sigma 1.
    pub fn lambdarank(self) -> anyhow::Result<Objective> {
        Ok(Objective::parse(&format!("lambdarank:{}", self.name))?)
    }
}

/// The seed of everything about one random function.
pub fn seed_of(session: &Session, function: u64) -> u64 {
    session.seed.wrapping_mul(1_000).wrapping_add(function)
}

/// Queries of 50 documents from a random cubic polynomial, with web-like label shares.
pub fn data(features: usize, seed: u64) -> Synthetic {
    Synthetic { features, seed, ..Synthetic::lambdarank() }
}

/// Sets of queries of one function, one after the other.
pub fn parts<const N: usize>(data: &Synthetic, queries: [usize; N]) -> anyhow::Result<[Dataset; N]> {
    let generator = data.generator()?;
    let mut from = 0;
    let mut sets = vec![];
    for n in queries {
        let range: Range<usize> = from..from + n;
        sets.push(generator.part(range)?.0);
        from += n;
    }
    sets.try_into().map_err(|_| anyhow::anyhow!("a set of queries is missing"))
}

/// What reports say about the data.
pub fn data_words(features: usize) -> String {
    format!(
        "random cubic polynomials of {features} features, uniform in ±1, as in the RankNet paper (the mean of a \
         linear, a quadratic and a cubic term, each scaled to variance 1); 50 documents per query; labels 0 to 4 by \
         bins of the polynomial's value that hold 52, 32, 13, 2 and 1 percent of the documents. To MAP and MRR labels \
         of 2 and more are relevant, as in the paper."
    )
}

/// What all experiments of this paper do in another way than it did.
pub fn common_deviations(scale: Scale) -> Vec<String> {
    let mut all = vec![
        "The paper's two sets of web queries belong to a search engine: only its artificial data can be made again. \
         It does not print the label shares of that data; ours are a choice that looks like web data."
            .into(),
        "Hidden units are tanh, weights start uniform in ±1/sqrt(inputs), queries come in a new random order each \
         epoch, and a query with nothing relevant counts 0: the paper says nothing of these."
            .into(),
    ];
    if scale == Scale::Quick {
        all.push("Quick: far fewer functions, queries and epochs than at full scale.".into());
    }
    all
}
