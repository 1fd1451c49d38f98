//! Joining a run with relevance judgments as trec_eval does.

use super::{TrecFile, TrecQuery};
use crate::numeric::order::private::Key;
use std::collections::{HashMap, HashSet};

/// A query of a run joined with its judgments, ready for metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedQuery {
    /// Query id.
    pub id: String,
    /// Labels of the retrieved documents, best score first, followed by those of judged documents that were not retrieved.
    pub labels: Vec<f32>,
    /// Scores in the same order; minus infinity for documents that were not retrieved.
    pub scores: Vec<f64>,
    /// Whether each document was judged with a relevance of 0 or more, in the same order. Used by bpref only.
    pub judged: Vec<bool>,
    /// Number of retrieved documents. The others were judged, but are not in the run.
    pub retrieved: usize,
}

/// A run joined with its judgments.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JoinedRun {
    /// Queries that are in both files, in the order of the run.
    pub queries: Vec<JoinedQuery>,
    /// Ids of judged queries that are not in the run. trec_eval ignores them, or counts them as 0 with `-c`.
    pub not_in_run: Vec<String>,
    /// Ids of queries of the run without judgments. trec_eval ignores them.
    pub not_judged: Vec<String>,
}

/// Joins a run with its judgments as trec_eval does.
///
/// Unjudged documents get label 0. JoinedRun documents that are not in the run are appended with score minus infinity, so that they
/// count in the ideal order and among all relevant documents. Documents with equal scores are in trec_eval's order, the greater
/// document id first: evaluating ties in document order gives trec_eval's values, and other tie rules work as usual.
///
/// ```
/// let run = burnrank::data::trec::parse_run("r", b"7 Q0 a 1 0.5 t\n7 Q0 b 2 0.9 t\n")?;
/// let qrels = burnrank::data::trec::parse_qrels("q", b"7 0 a 1\n7 0 c 2\n")?;
/// let judged = burnrank::data::trec::join_run(&run, &qrels);
/// assert_eq!(judged.queries[0].labels, [0.0, 1.0, 2.0]);
/// assert_eq!(judged.queries[0].scores, [0.9, 0.5, f64::NEG_INFINITY]);
/// assert_eq!(judged.queries[0].retrieved, 2);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub fn join_run(run: &TrecFile, qrels: &TrecFile) -> JoinedRun {
    let judgments: HashMap<&str, &TrecQuery> = qrels.queries.iter().map(|query| (query.id.as_str(), query)).collect();
    let mut joined = JoinedRun::default();
    for query in &run.queries {
        match judgments.get(query.id.as_str()) {
            Some(judgments) => joined.queries.push(join_query(query, judgments)),
            None => joined.not_judged.push(query.id.clone()),
        }
    }
    let run_ids: HashSet<&str> = run.queries.iter().map(|query| query.id.as_str()).collect();
    let missing = qrels.queries.iter().filter(|query| !run_ids.contains(query.id.as_str()));
    joined.not_in_run = missing.map(|query| query.id.clone()).collect();
    joined
}

fn join_query(run: &TrecQuery, judgments: &TrecQuery) -> JoinedQuery {
    let mut labels: HashMap<&str, f64> = judgments.documents.iter().map(|(id, label)| (id.as_str(), *label)).collect();
    let mut documents: Vec<(&str, f64)> = run.documents.iter().map(|(id, score)| (id.as_str(), *score)).collect();
    documents.sort_by(|a, b| a.1.pack(0).cmp(&b.1.pack(0)).then_with(|| b.0.cmp(a.0)));
    let mut joined: Vec<(Option<f64>, f64)> = documents.iter().map(|&(id, score)| (labels.remove(id), score)).collect();
    let retrieved = joined.len();
    // Documents that were not retrieved, in the order of the judgments.
    let rest = judgments.documents.iter().filter(|(id, _)| labels.contains_key(id.as_str()));
    joined.extend(rest.map(|(_, label)| (Some(*label), f64::NEG_INFINITY)));
    JoinedQuery {
        id: run.id.clone(),
        labels: joined.iter().map(|(label, _)| label.map_or(0.0, |label| label.max(0.0) as f32)).collect(),
        scores: joined.iter().map(|(_, score)| *score).collect(),
        judged: joined.iter().map(|(label, _)| label.is_some_and(|label| label >= 0.0)).collect(),
        retrieved,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse_qrels, parse_run};
    use super::*;

    #[test]
    fn nan_scores_are_ranked_last() {
        let score = |i: u32| [f64::NAN, f64::INFINITY, f64::from(i * 7919 % 100)][i as usize % 3];
        let documents = |value: &dyn Fn(u32) -> f64| (0..300).map(|i| (format!("d{i:03}"), value(i))).collect();
        let file = |documents| TrecFile { queries: vec![TrecQuery { id: "1".into(), documents }] };
        let judged = join_run(&file(documents(&score)), &file(documents(&|i| f64::from(i % 3))));
        // The labels identify the scores: 100 are infinite, 100 finite, 100 NaN.
        let labels: Vec<f64> = judged.queries[0].labels.iter().map(|&label| f64::from(label)).collect();
        assert_eq!(labels, [[1.0; 100], [2.0; 100], [0.0; 100]].concat());
    }

    #[test]
    fn equal_scores_are_in_the_order_of_trec_eval() {
        let run = parse_run("r", b"1 Q0 a 1 0.5 t\n1 Q0 c 2 0.5 t\n2 Q0 z 1 1 t\n1 Q0 b 3 0.5 t\n").unwrap();
        let qrels = parse_qrels("q", b"1 0 a 1\n1 0 b 2\n1 0 c 3\n3 0 a 1\n1 0 e 4\n1 0 d 5\n").unwrap();
        let judged = join_run(&run, &qrels);
        assert_eq!(judged.queries[0].labels, [3.0, 2.0, 1.0, 4.0, 5.0]);
        assert_eq!(judged.queries[0].retrieved, 3);
        assert_eq!(judged.queries[0].judged, [true; 5]);
        assert_eq!((judged.not_in_run, judged.not_judged), (vec!["3".to_owned()], vec!["2".to_owned()]));
    }

    #[test]
    fn scores_can_be_rounded_to_f32_as_in_trec_eval() {
        let run = parse_run("r", b"1 Q0 a 1 0.500000001 t\n1 Q0 b 2 0.5 t\n1 Q0 c 3 -1e300 t\n").unwrap();
        let qrels = parse_qrels("q", b"1 0 a 1\n1 0 b 2\n1 0 c 3\n").unwrap();
        assert_eq!(join_run(&run, &qrels).queries[0].labels, [1.0, 2.0, 3.0]);
        let rounded = join_run(&run.with_f32_scores(), &qrels);
        assert_eq!(rounded.queries[0].labels, [2.0, 1.0, 3.0], "a and b are equal, and b is the greater id");
        assert_eq!(rounded.queries[0].scores, [0.5, 0.5, f64::from(f32::MIN)], "c is retrieved");
    }

    #[test]
    fn negative_relevance_counts_as_label_0_and_not_judged() {
        let run = parse_run("r", b"1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n1 Q0 c 3 1 t\n").unwrap();
        let query = &join_run(&run, &parse_qrels("q", b"1 0 a -2\n1 0 c 0\n").unwrap()).queries[0];
        assert_eq!((query.labels.as_slice(), query.judged.as_slice()), (&[0.0; 3][..], &[false, false, true][..]));
    }
}
