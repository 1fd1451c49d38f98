//! Values that other programs compute for the same lists.

use super::{Conventions, Missing, Ties, evaluate_query, parse};

fn assert_close(name: &str, ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() < 1e-12, "{name}: {ours} instead of {theirs}");
}

/// scikit-learn 1.9.1: `ndcg_score([labels], [scores], k=k)` and `dcg_score([labels], [scores], k=k)`, which use the
/// linear gain and average over equal scores.
#[test]
fn ndcg_and_dcg_agree_with_scikit_learn() {
    let conventions = Conventions { ties: Ties::Average, ..Conventions::default() };
    for (scores, labels, values) in SCIKIT_LEARN {
        for (cut, ndcg, dcg) in *values {
            for (name, theirs) in [(format!("ndcg:linear{cut}"), ndcg), (format!("dcg:linear{cut}"), dcg)] {
                let ours = evaluate_query(&*parse(&name).unwrap(), scores, labels, &conventions).unwrap().unwrap();
                assert_close(&name, ours, *theirs);
            }
        }
    }
}

/// Scores, labels, and for each cutoff NDCG and DCG.
type ScikitLearn = (&'static [f32], &'static [f32], &'static [(&'static str, f64, f64)]);

#[rustfmt::skip]
const SCIKIT_LEARN: &[ScikitLearn] = &[
    (
        &[0.5, 1.5],
        &[4.0, 3.0],
        &[
            ("", 0.9373691761066302, 5.523719014285829),
            ("@3", 0.9373691761066302, 5.523719014285829),
            ("@10", 0.9373691761066302, 5.523719014285829),
        ],
    ),
    (
        &[-0.5, -1.0, 1.5, 1.5, -1.5],
        &[2.0, 3.0, 4.0, 1.0, 0.0],
        &[
            ("", 0.8697185479870411, 6.369354058148822),
            ("@3", 0.7366139006841516, 5.0773243839286435),
            ("@10", 0.8697185479870411, 6.369354058148822),
        ],
    ),
    (
        &[1.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 1.5, 1.0, 1.0, 0.5, 0.5],
        &[2.0, 4.0, 0.0, 3.0, 0.0, 2.0, 4.0, 1.0, 1.0, 1.0, 3.0, 1.0],
        &[
            ("", 0.7137910853567982, 8.594588368998163),
            ("@3", 0.36721059462716454, 2.9463946303571857),
            ("@10", 0.595204662447851, 7.166717508794195),
        ],
    ),
    (
        &[0.0, 0.0, -1.0, 0.0, -0.5, -1.0, 1.5, -1.5, -1.5, -1.0, 1.5, 0.5, 1.5, -1.0, 1.0, -0.5, 0.0, -1.5, 0.5, 1.0],
        &[1.0, 4.0, 2.0, 1.0, 4.0, 0.0, 4.0, 3.0, 0.0, 0.0, 2.0, 0.0, 0.0, 2.0, 4.0, 2.0, 4.0, 4.0, 4.0, 3.0],
        &[
            ("", 0.820181286271065, 15.673034581727745),
            ("@3", 0.5, 4.261859507142915),
            ("@10", 0.6340658460852976, 10.766192573522389),
        ],
    ),
];

/// trec_eval through pytrec_eval-terrier 0.5.11:
/// `RelevanceEvaluator(qrels, {"ndcg", "ndcg_cut.5,10", "map", "map_cut.5", "recip_rank", "P.5", "recall.10", "bpref"},
/// relevance_level=L).evaluate(run)`, L = 1, and L = 2 for the names with `rel=2`. Its ndcg has linear gains. All
/// documents are judged; those with a score of minus infinity are in the qrels but not in the run.
#[test]
fn metrics_agree_with_trec_eval() {
    let conventions = Conventions { missing: Missing::Absent, ..Conventions::default() };
    for (scores, labels, values) in TREC_EVAL {
        for (name, theirs) in *values {
            let ours = evaluate_query(&*parse(name).unwrap(), scores, labels, &conventions).unwrap().unwrap();
            assert_close(name, ours, *theirs);
        }
    }
}

/// TREC's gdeval.pl as ir_measures 0.4.3 ships it:
/// `registry["gdeval"].calc_aggregate([ERR@5, ERR@20, nDCG(dcg="exp-log2")@5, nDCG(dcg="exp-log2")@20], qrels, run)`
/// on the lists of [`TREC_EVAL`]. It prints five digits; its gain is 2^y - 1 and its highest grade 4.
#[test]
fn err_and_ndcg_agree_with_gdeval() {
    let conventions = Conventions { missing: Missing::Absent, ..Conventions::default() };
    for ((scores, labels, _), values) in TREC_EVAL.iter().zip(GDEVAL) {
        for (name, theirs) in ["err@5", "err@20", "ndcg@5", "ndcg@20"].into_iter().zip(values) {
            let ours = evaluate_query(&*parse(name).unwrap(), scores, labels, &conventions).unwrap().unwrap();
            assert!((ours - theirs).abs() < 0.6e-5, "{name}: {ours} instead of {theirs}");
        }
    }
}

const GDEVAL: [[f64; 4]; 5] = [
    [0.14691, 0.18296, 0.33576, 0.53770],
    [0.09766, 0.12651, 0.26000, 0.50103],
    [0.34819, 0.37914, 0.45076, 0.57963],
    [0.26367, 0.26367, 1.00000, 1.00000],
    [0.45288, 0.48565, 0.53562, 0.71474],
];

/// Scores, labels and values by name.
type TrecEval = (&'static [f64], &'static [f32], &'static [(&'static str, f64)]);

const ABSENT: f64 = f64::NEG_INFINITY;

#[rustfmt::skip]
const TREC_EVAL: &[TrecEval] = &[
    (
        &[0.75, 1.25, 1.0, 0.25, 0.5, 0.0],
        &[1.0, 0.0, 1.0, 0.0, 3.0, 3.0],
        &[
            ("ndcg:linear", 0.5995709595909544), ("ndcg:linear@5", 0.4160682835940487), ("ndcg:linear@10", 0.5995709595909544),
            ("map", 0.6458333333333333), ("map@5", 0.47916666666666663), ("mrr", 0.5),
            ("p@5", 0.6), ("recall@10", 1.0), ("bpref", 0.375),
            ("map:rel=2", 0.29166666666666663), ("mrr:rel=2", 0.25), ("p:rel=2@5", 0.2),
            ("recall:rel=2@10", 1.0), ("bpref:rel=2", 0.0),
        ],
    ),
    (
        &[0.75, 3.25, 3.5, 1.25, 2.25, 0.0, 1.75, 1.5, 2.5, 0.25, 3.0, 2.75, 0.5, 1.0, 2.0],
        &[2.0, 0.0, 0.0, 0.0, 1.0, 2.0, 1.0, 1.0, 3.0, 2.0, 0.0, 1.0, 1.0, 0.0, 0.0],
        &[
            ("ndcg:linear", 0.5602510806574761), ("ndcg:linear@5", 0.24442687969249471), ("ndcg:linear@10", 0.3280327489704025),
            ("map", 0.4906050739384072), ("map@5", 0.07222222222222223), ("mrr", 0.25),
            ("p@5", 0.4), ("recall@10", 0.5555555555555556), ("bpref", 0.24074074074074078),
            ("map:rel=2", 0.21190476190476193), ("mrr:rel=2", 0.2), ("p:rel=2@5", 0.2),
            ("recall:rel=2@10", 0.25), ("bpref:rel=2", 0.0),
        ],
    ),
    (
        &[
            4.25, 2.5, 0.5, 4.5, 2.75, 1.75, 1.5, 3.25, 3.75, 5.5, 6.75, 7.0, 3.0, 6.5, 6.0, 2.0, 0.25, 3.5, 0.75,
            1.25, 6.25, 7.25, 1.0, 2.25, 5.75, 5.25, 0.0, 5.0, 4.0, 4.75,
        ],
        &[
            0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0, 3.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 1.0,
            1.0, 0.0, 3.0, 3.0, 0.0, 3.0, 1.0, 3.0, 3.0,
        ],
        &[
            ("ndcg:linear", 0.7793558322894747), ("ndcg:linear@5", 0.5403547949666548), ("ndcg:linear@10", 0.5200013809578401),
            ("map", 0.7298870053071733), ("map@5", 0.2714285714285714), ("mrr", 1.0),
            ("p@5", 0.8), ("recall@10", 0.5), ("bpref", 0.6581632653061226),
            ("map:rel=2", 0.4580595874713521), ("mrr:rel=2", 0.5), ("p:rel=2@5", 0.4),
            ("recall:rel=2@10", 0.4), ("bpref:rel=2", 0.38),
        ],
    ),
    (
        &[0.5, 0.0, 0.25],
        &[2.0, 0.0, 2.0],
        &[
            ("ndcg:linear", 1.0), ("ndcg:linear@5", 1.0), ("ndcg:linear@10", 1.0),
            ("map", 1.0), ("map@5", 1.0), ("mrr", 1.0),
            ("p@5", 0.4), ("recall@10", 1.0), ("bpref", 1.0),
            ("map:rel=2", 1.0), ("mrr:rel=2", 1.0), ("p:rel=2@5", 0.4),
            ("recall:rel=2@10", 1.0), ("bpref:rel=2", 1.0),
        ],
    ),
    (
        &[0.25, ABSENT, 0.0, 2.25, 1.25, 0.75, ABSENT, ABSENT, ABSENT, 3.0, 3.5, ABSENT, 1.0, ABSENT, 1.5],
        &[0.0, 0.0, 3.0, 0.0, 1.0, 2.0, 0.0, 0.0, 1.0, 0.0, 3.0, 2.0, 0.0, 0.0, 1.0],
        &[
            ("ndcg:linear", 0.6879843502718623), ("ndcg:linear@5", 0.5345934658813759), ("ndcg:linear@10", 0.6879843502718623),
            ("map", 0.4609977324263039), ("map@5", 0.3), ("mrr", 1.0),
            ("p@5", 0.6), ("recall@10", 0.7142857142857143), ("bpref", 0.489795918367347),
            ("map:rel=2", 0.4047619047619047), ("mrr:rel=2", 1.0), ("p:rel=2@5", 0.2),
            ("recall:rel=2@10", 0.75), ("bpref:rel=2", 0.25),
        ],
    ),
];
