//! Glossary: terms that reports use and a reader may not know. A report explains the terms that it uses.

/// All terms with their definitions, in the order in which reports list them.
const WORDS: &[(&str, &str)] = &[
    (
        "NDCG",
        "the sum of (2^label - 1) / log2(1 + rank) over the documents of a query, or the first k of them (NDCG@k), divided by \
         the largest sum that an order of them has",
    ),
    (
        "MAP",
        "mean average precision: the mean over relevant documents of the share of relevant ones down to their rank",
    ),
    ("MRR", "mean reciprocal rank: 1 / rank of the first relevant document"),
    ("WTA", "winner takes all: whether the top document is relevant"),
    (
        "pessimistically",
        "among documents with equal scores, lower labels are ranked first, so a constant score has no advantage",
    ),
    ("lambda", "minus the gradient of the cost with respect to the score of a document"),
    (
        "lambdas",
        "minus the gradient of the cost with respect to the scores of documents",
    ),
    ("sigma", "the steepness of the logistic cost of a pair, log2(1 + exp(-sigma (s_i - s_j)))"),
    ("RankNet", "the logistic cost of every pair of documents with different labels"),
    ("LambdaRank", "RankNet's pairs, each weighted by the change of a metric when the two documents swap"),
    ("ARP", "average relevance position: the sum of label times rank; smaller is better"),
    ("ARP-Loss1", "the logistic cost of pairs, weighted by the label of the first document"),
    ("ARP-Loss2", "the logistic cost of pairs, weighted by the difference of the labels"),
    ("NDCG-Loss1", "the logistic cost of pairs, weighted by G_i / D_i"),
    ("NDCG-Loss2", "the logistic cost of pairs, weighted by delta_ij |G_i - G_j|"),
    ("NDCG-Loss2++", "the logistic cost of pairs, weighted by (rho_ij + mu delta_ij) |G_i - G_j|"),
    ("mu", "the weight of delta_ij in NDCG-Loss2++; with mu = 0 it is LambdaRank"),
    ("NDCGcost", "the sum of G_i (1 - 1/D_i): the sum of all gains minus NDCG"),
    ("LambdaRank's metric", "the sum of G_i rho_ij over documents i and the documents j above them (Proposition 5.1)"),
    ("G_i", "the gain of document i, (2^label - 1) / maxDCG, where maxDCG is the largest DCG of its query"),
    ("D_i", "log2(1 + rank of document i)"),
    ("delta_ij", "1/D of the distance of the two ranks minus 1/D of that distance plus 1 (Eq. 15)"),
    ("rho_ij", "|1/D_i - 1/D_j|: the change of the discount when the two documents swap"),
    ("C1", "the sum of all labels, the same for every ranking"),
    ("C2", "half of the sum over pairs of equal labels (or gains), times delta_ij or rho_ij where the loss has these"),
    ("C3", "the sum over pairs of the lower label (or gain), times delta_ij or rho_ij where the loss has these"),
    ("truncated", "only pairs with a document in the top k are kept, and maxDCG is taken at k (Eq. 18)"),
    (
        "hard assignment",
        "pair weights from the ranking by scores; a soft assignment averages over sampled rankings",
    ),
    (
        "M-step",
        "training while the pair weights stay fixed; the E-step before it ranks the documents and sets the weights",
    ),
    ("V1", "RankNet with a forward and a backward pass per pair"),
    ("V2", "RankNet with one pass per document, after its lambdas are summed over its pairs"),
    ("PRank", "a perceptron with thresholds between the labels (Crammer and Singer)"),
    ("OAP-BPM", "the mean of many PRank perceptrons, each trained on a random share tau of the examples (Harrington)"),
    ("RankSVM", "a linear ranker with the hinge loss of pairs and an L2 penalty of weight 1/c (Joachims)"),
    ("SVM-MAP", "a support vector machine over rankings, with the loss of average precision (Yue et al.)"),
    (
        "RankBoost",
        "boosting of thresholds on single features, by the pairs still in the wrong order (Freund et al.)",
    ),
    ("AdaRank", "boosting of single features by the queries that are still ranked poorly (Xu and Li)"),
    ("ListNet", "the cross entropy of the softmax of labels and of scores (Cao et al.)"),
    ("SmoothRank", "gradient ascent on a metric smoothed by softmax, with a penalty (Chapelle and Wu)"),
    (
        "Coordinate ascent",
        "a linear ranker whose weights are optimised one at a time for the metric (Metzler and Croft)",
    ),
    ("MART", "boosted regression trees, fitted to labels (Friedman)"),
    ("LambdaMART", "boosted regression trees with LambdaRank's gradients"),
    ("best feature", "the single feature that ranks training queries best"),
    ("query-minmax", "features are scaled to 0 to 1 within each query"),
    ("zscore", "features have mean 0 and variance 1 over the training documents"),
    ("log1p-zscore", "the same of the logarithm of each feature"),
    (
        "85% of the rows",
        "a copy of MQ2007 with all queries but without 15% of their documents; not comparable with published numbers",
    ),
    ("RankProp", "a net fitted to targets that are updated from its current ranking (Caruana et al.)"),
    ("effective pairs", "pairs whose lambda is not 0"),
    (
        "random cubic polynomial",
        "a random function of the features, the mean of a linear, a quadratic and a cubic term of variance 1 each; labels are \
         bins of its value",
    ),
    (
        "random cubic polynomials",
        "random functions of the features, each the mean of a linear, a quadratic and a cubic term of variance 1; labels are \
         bins of the value",
    ),
    ("MQ2007", "queries of LETOR 4.0 with 46 features per document and labels 0 to 2, split into five folds"),
    ("MQ2008", "queries of LETOR 4.0 with 46 features per document and labels 0 to 2, split into five folds"),
    (
        "fold",
        "one of several splits into training, validation and test queries; each query is tested once",
    ),
    (
        "Holm",
        "a correction of p-values for many tests: the smallest is multiplied by their number, the next by one less, and so on",
    ),
];

/// Returns the terms used in a text or in the definitions of those terms, each with its definition.
pub fn used(text: &str) -> Vec<String> {
    let mut text = text.to_owned();
    loop {
        let known = WORDS.iter().filter(|(word, _)| occurs(&text, word));
        let lines: Vec<String> = known.map(|(word, meaning)| format!("*{word}*: {meaning}.")).collect();
        let new: Vec<&String> = lines.iter().filter(|line| !text.contains(line.as_str())).collect();
        if new.is_empty() {
            return lines;
        }
        let more: String = new.into_iter().map(|line| format!("\n{line}")).collect();
        text += &more;
    }
}

/// Returns whether a term occurs in a text as a whole word.
fn occurs(text: &str, word: &str) -> bool {
    let outside = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !"_+-=".contains(c));
    text.match_indices(word)
        .any(|(at, _)| outside(text[..at].chars().next_back()) && outside(text[at + word.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole() {
        assert!(occurs("by NDCG@5, or MAP.", "NDCG") && occurs("by NDCG@5, or MAP.", "MAP"));
        assert!(!occurs("NDCG-Loss2++ and NDCGcost", "NDCG") && !occurs("NDCG-Loss2++", "NDCG-Loss2"));
        assert!(occurs("a lambda, or", "lambda") && !occurs("lambda=0.1", "lambda"));
        assert!(occurs("rho_ij|", "rho_ij") && !occurs("lambdarank:map", "map2"));
        assert_eq!(used("nothing here"), Vec::<String>::new());
        assert!(used("WTA")[0].starts_with("*WTA*: winner takes all"));
        // Terms used in a definition are explained too.
        let all = used("NDCG-Loss2").join("\n");
        assert!(all.contains("*delta_ij*: ") && all.contains("*G_i*: "), "{all}");
    }

    #[test]
    fn no_word_is_explained_twice() {
        assert!((1..WORDS.len()).all(|n| WORDS[..n].iter().all(|(word, _)| *word != WORDS[n].0)));
    }
}
