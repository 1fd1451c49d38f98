//! The papers, and what cannot be tested here.

/// Source of an experiment's claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paper {
    RankNet,
    LambdaRank,
    Approximation,
    Optimality,
    LambdaLoss,
    /// All five papers, or others.
    Several,
}

/// Information on a paper for the index and the paper's page.
pub struct PaperFacts {
    pub paper: Paper,
    /// Name of its page.
    pub page: &'static str,
    pub short: &'static str,
    pub citation: &'static str,
    /// Introductory note on its page; empty for most.
    pub remark: &'static str,
    /// What cannot be tested here, and what a user has to provide.
    pub cannot: &'static [&'static str],
}

/// All papers, by year.
pub const PAPERS: [PaperFacts; 6] = [
    PaperFacts {
        paper: Paper::RankNet,
        page: "ranknet",
        short: "RankNet, 2005",
        citation: "Burges et al., Learning to Rank using Gradient Descent, 2005",
        remark: "",
        cannot: &[
            "Tables 3 to 6 are of 17,004 queries of a commercial search engine that nobody else has: their orderings are asked of MQ2007 \
             and MQ2008, which a user must bring (--data).",
        ],
    },
    PaperFacts {
        paper: Paper::LambdaRank,
        page: "lambdarank",
        short: "LambdaRank, 2006",
        citation: "Burges et al., Learning to Rank with Nonsmooth Cost Functions, 2006",
        remark: "",
        cannot: &[
            "Figures 2 (right) and 3 are of queries of a commercial search engine (400 and 10,000 queries): their statements are asked of \
             MQ2007, which a user must bring (--data). Times are of other machines: only their ratios and slopes are compared.",
        ],
    },
    PaperFacts {
        paper: Paper::Approximation,
        page: "function-approximation",
        short: "Ranking as Function Approximation, 2006",
        citation: "Burges, Ranking as Function Approximation, 2006",
        remark: "",
        cannot: &[],
    },
    PaperFacts {
        paper: Paper::Optimality,
        page: "local-optimality",
        short: "Local optimality of LambdaRank, 2009",
        citation: "Donmez et al., On the Local Optimality of LambdaRank, 2009",
        remark: "",
        cannot: &[
            "The paper's artificial data is drawn as described, but its web data (Tables 1 to 4 on real queries) is of a commercial search \
             engine: those statements are asked of artificial data and of MQ2007, which a user must bring (--data).",
        ],
    },
    PaperFacts {
        paper: Paper::LambdaLoss,
        page: "lambdaloss",
        short: "LambdaLoss, 2018",
        citation: "Wang et al., The LambdaLoss Framework for Ranking Metric Optimization, 2018",
        remark: "The paper's tables are of boosted trees: `lambdaloss-trees` asks the same of trees. `lambdaloss-table3`, `-mu`, `-k`, \
                 `-convergence` and `-overfit` ask whether it carries over to nets.",
        cannot: &[
            "WEB10K, WEB30K and YAHOO, the paper's sets, may not be passed on: bring them (--data) and the same programs run on them. \
             Without them only orderings are compared, on other data.",
            "The paper's numbers are of RankLib and of an internal version of LightGBM; trees here are grown by LightGBM on our gradients.",
        ],
    },
    PaperFacts {
        paper: Paper::Several,
        page: "overview",
        short: "All papers together, and this machine",
        citation: "What the five papers share, their slips, their rivals, and the speed of this program",
        remark: "",
        cannot: &[],
    },
];

impl Paper {
    /// Returns the information on the paper.
    pub fn facts(self) -> &'static PaperFacts {
        PAPERS.iter().find(|facts| facts.paper == self).unwrap_or(&PAPERS[PAPERS.len() - 1])
    }
}
