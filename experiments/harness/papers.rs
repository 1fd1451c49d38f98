//! The papers.

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
    /// Name of its page and figure.
    pub page: &'static str,
    pub short: &'static str,
    pub citation: &'static str,
    /// Text of its page, with placeholders for numbers.
    pub prose: &'static str,
    pub slide_title: &'static str,
    /// Claims in its figure: experiment, claim, and name.
    pub slide: &'static [(&'static str, &'static str, &'static str)],
}

/// All papers, by year.
pub const PAPERS: [PaperFacts; 6] = [
    PaperFacts {
        paper: Paper::RankNet,
        page: "ranknet",
        short: "RankNet, 2005",
        citation: "Burges et al., Learning to Rank using Gradient Descent, 2005",
        prose: include_str!("prose/ranknet.md"),
        slide_title: "Test pairs in the right order, percent (Table 1)",
        slide: &[
            ("ranknet-table1", "net linear 100", "random net, linear, 100"),
            ("ranknet-table1", "net linear 500", "random net, linear, 500"),
            ("ranknet-table1", "net linear 2500", "random net, linear, 2500"),
            ("ranknet-table1", "net linear 12500", "random net, linear, 12500"),
            ("ranknet-table1", "net two-layer 100", "random net, two layers, 100"),
            ("ranknet-table1", "net two-layer 500", "random net, two layers, 500"),
            ("ranknet-table1", "net two-layer 2500", "random net, two layers, 2500"),
            ("ranknet-table1", "net two-layer 12500", "random net, two layers, 12500"),
            ("ranknet-table1", "polynomial linear 100", "polynomial, linear, 100"),
            ("ranknet-table1", "polynomial linear 500", "polynomial, linear, 500"),
            ("ranknet-table1", "polynomial linear 2500", "polynomial, linear, 2500"),
            ("ranknet-table1", "polynomial linear 12500", "polynomial, linear, 12500"),
            ("ranknet-table1", "polynomial two-layer 100", "polynomial, two layers, 100"),
            ("ranknet-table1", "polynomial two-layer 500", "polynomial, two layers, 500"),
            ("ranknet-table1", "polynomial two-layer 2500", "polynomial, two layers, 2500"),
            ("ranknet-table1", "polynomial two-layer 12500", "polynomial, two layers, 12500"),
        ],
    },
    PaperFacts {
        paper: Paper::LambdaRank,
        page: "lambdarank",
        short: "LambdaRank, 2006",
        citation: "Burges et al., Learning to Rank with Nonsmooth Cost Functions, 2006",
        prose: include_str!("prose/lambdarank.md"),
        slide_title: "Training time of V1 over V2, and slopes of time by length",
        slide: &[
            ("lambdarank-speedup", "linear faster", "V1/V2, linear"),
            ("lambdarank-speedup", "two-layer faster", "V1/V2, two layers"),
            ("lambdarank-speedup", "linear V1", "slope of V1, linear"),
            ("lambdarank-speedup", "two-layer V1", "slope of V1, two layers"),
            ("lambdarank-speedup", "linear V2", "slope of V2, linear"),
            ("lambdarank-speedup", "two-layer V2", "slope of V2, two layers"),
        ],
    },
    PaperFacts {
        paper: Paper::Approximation,
        page: "function-approximation",
        short: "Ranking as Function Approximation, 2006",
        citation: "Burges, Ranking as Function Approximation, 2006",
        prose: include_str!("prose/function-approximation.md"),
        slide_title: "",
        slide: &[],
    },
    PaperFacts {
        paper: Paper::Optimality,
        page: "local-optimality",
        short: "Local optimality of LambdaRank, 2009",
        citation: "Donmez et al., On the Local Optimality of LambdaRank, 2009",
        prose: include_str!("prose/local-optimality.md"),
        slide_title: "Trained for the first minus trained for the second (Table 4)",
        slide: &[
            ("optimality-matching", "Table 4 by NDCG: NDCG over NDCG@10", "by NDCG: NDCG - NDCG@10"),
            ("optimality-matching", "Table 4 by NDCG: NDCG over MAP", "by NDCG: NDCG - MAP"),
            ("optimality-matching", "Table 4 by NDCG: NDCG over MRR", "by NDCG: NDCG - MRR"),
            ("optimality-matching", "Table 4 by NDCG@10: NDCG over NDCG@10", "by NDCG@10: NDCG - NDCG@10"),
            ("optimality-matching", "Table 4 by MAP: MAP over NDCG", "by MAP: MAP - NDCG"),
            ("optimality-matching", "Table 4 by MAP: MAP over NDCG@10", "by MAP: MAP - NDCG@10"),
            ("optimality-matching", "Table 4 by MAP: MAP over MRR", "by MAP: MAP - MRR"),
            ("optimality-matching", "Table 4 by MRR: NDCG over MRR", "by MRR: NDCG - MRR"),
        ],
    },
    PaperFacts {
        paper: Paper::LambdaLoss,
        page: "lambdaloss",
        short: "LambdaLoss, 2018",
        citation: "Wang et al., The LambdaLoss Framework for Ranking Metric Optimization, 2018",
        prose: include_str!("prose/lambdaloss.md"),
        slide_title: "Test NDCG@5 minus LambdaRank's, points, boosted trees",
        slide: &[
            ("lambdaloss-trees", "Table 3: NDCG-Loss2 over LambdaRank", "NDCG-Loss2, Table 3"),
            ("lambdaloss-trees", "Table 3: NDCG-Loss2++ over LambdaRank", "NDCG-Loss2++, Table 3"),
            ("lambdaloss-trees", "Table 3: ARP-Loss1 over LambdaRank", "ARP-Loss1, Table 3"),
            ("lambdaloss-trees", "Table 4: NDCG-Loss2++ over LambdaRank", "NDCG-Loss2++, Table 4"),
        ],
    },
    PaperFacts {
        paper: Paper::Several,
        page: "overview",
        short: "All papers, baselines and speed",
        citation: "Errors in the text of the five papers, baselines, and the speed of this program",
        prose: include_str!("prose/overview.md"),
        slide_title: "",
        slide: &[],
    },
];

impl Paper {
    /// Returns the information on the paper.
    pub fn facts(self) -> &'static PaperFacts {
        PAPERS.iter().find(|facts| facts.paper == self).unwrap_or(&PAPERS[PAPERS.len() - 1])
    }
}
