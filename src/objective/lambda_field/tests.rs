//! All constructions: zero if nothing can be gained, balanced, with the right sign, and exact on small lists.

use super::*;
use crate::metric::{order, parse};

const ALL: [Construction; 5] = [
    Construction::RankNetWeightPairs,
    Construction::SpringSmooth,
    Construction::LocalGradient { margin: 1.0 },
    Construction::LocalCost { margin: 1.0 },
    Construction::DiscreteBounded,
];

const METRICS: [&str; 9] = ["ndcg", "ndcg@3", "map:rel=2", "mrr", "err", "pairs", "arp", "wta", "bpref"];

fn lambdas(metric: &str, construction: Construction, scores: &[f64], labels: &[f32]) -> Vec<f64> {
    let field = Constructed { metric: parse(metric).unwrap(), construction, sigma: 1.0 };
    field.lambdas(scores, labels, &order(scores))
}

#[test]
fn lambdas_are_zero_if_nothing_can_be_gained() {
    let scores = [0.3, -1.0, 2.0, 0.3];
    for metric in METRICS {
        for construction in ALL {
            for labels in [[0.0; 4], [2.0; 4]] {
                let values = lambdas(metric, construction, &scores, &labels);
                assert_eq!(values, [0.0; 4], "{metric} {construction:?}");
            }
            assert_eq!(lambdas(metric, construction, &[1.0], &[3.0]), [0.0]);
            assert!(lambdas(metric, construction, &[], &[]).is_empty());
        }
    }
}

#[test]
fn lambdas_sum_to_zero_and_are_finite() {
    let scores = [0.9, 0.1, -0.4, 1.5, 0.3, 0.3, 1e30, -1e30];
    let labels = [0.0, 1.0, 2.0, 0.0, 3.0, 2.0, 4.0, 4.0];
    for metric in METRICS {
        for construction in ALL {
            let values = lambdas(metric, construction, &scores, &labels);
            assert!(values.iter().all(|lambda| lambda.is_finite()));
            assert!(values.iter().sum::<f64>().abs() < 1e-12, "{metric} {construction:?}");
        }
    }
}

/// The paper's labels of binary metrics are 0 and 1.
#[test]
fn springsmooth_of_binary_metrics_has_two_classes() {
    let scores = [0.5, 2.0, 1.0, -1.0, 0.0];
    let (graded, binary) = ([3.0, 1.0, 2.0, 4.0, 0.0], [1.0, 0.0, 1.0, 1.0, 0.0]);
    for metric in ["map", "mrr", "bpref", "p@2", "recall@2", "capped-map@2"] {
        let of_grades = if metric.contains('@') { metric.replace('@', ":rel=2@") } else { format!("{metric}:rel=2") };
        let expected = lambdas(metric, Construction::SpringSmooth, &scores, &binary);
        assert!(expected.iter().any(|lambda| *lambda != 0.0), "{metric}");
        assert_eq!(lambdas(&of_grades, Construction::SpringSmooth, &scores, &graded), expected, "{metric}");
    }
}

#[test]
fn all_constructions_correct_a_wrong_pair() {
    for metric in METRICS {
        for construction in ALL {
            // The relevant document is last: every metric moves it up (arp is a cost).
            let values = lambdas(metric, construction, &[1.0, 0.0], &[0.0, 2.0]);
            assert!(values[1] > 0.0 && values[0] == -values[1], "{metric} {construction:?}: {values:?}");
        }
    }
}

#[test]
fn constructions_match_their_formulas_on_three_documents() {
    // Ranks 1, 2, 3 hold labels 0, 2, 1; scores 2, 1, 0.5.
    let (scores, labels) = ([2.0, 1.0, 0.5], [0.0, 2.0, 1.0]);
    let ideal = 3.0 + 1.0 / 3f64.log2();
    let dcg = |a: f64, b: f64, c: f64| (a + b / 3f64.log2() + c / 2.0) / ideal;
    let current = dcg(0.0, 3.0, 1.0);
    let (first, second) = (dcg(3.0, 0.0, 1.0) - current, dcg(0.0, 1.0, 3.0) - current);
    let close = |values: Vec<f64>, expected: [f64; 3]| {
        values.iter().zip(expected).for_each(|(f, e)| assert!((f - e).abs() < 1e-12, "{values:?} {expected:?}"));
    };
    let (up, down) = (first / 2.0, second / 1.5);
    close(lambdas("ndcg", Construction::LocalGradient { margin: 1.0 }, &scores, &labels), [-up, up - down, down]);
    // LocalCost: the top document has a neighbour below only, the middle one both, the last one above only.
    let (top, middle, last) = (-first / 2.0, (first - second) / 2.5, second / 1.5);
    close(
        lambdas("ndcg", Construction::LocalCost { margin: 1.0 }, &scores, &labels),
        [top - middle / 2.0, middle - top - last, last - middle / 2.0],
    );
    // DiscreteBounded: label 2 moves to the top, 1 to the second rank (a loss, so no lambda), 0 to the last.
    let (second_up, first_down) = (first, dcg(3.0, 1.0, 0.0) - current);
    close(
        lambdas("ndcg", Construction::DiscreteBounded, &scores, &labels),
        [-first_down - second_up, second_up + first_down / 2.0, first_down / 2.0],
    );
    // SpringSmooth: gains in units of their mean, at least 1.
    let across = (dcg(1.0, 3.0, 0.0) - current).abs();
    let mean = (first.abs() + second.abs() + across) / 3.0;
    let pull = |gain: f64, difference: f64| (gain.abs() / mean).max(1.0) / (1.0 + difference.exp());
    let (a, b, c) = (pull(first, -1.0), pull(across, -1.5), pull(second, 0.5));
    close(lambdas("ndcg", Construction::SpringSmooth, &scores, &labels), [-a - b, a + c, b - c]);
    // The default equals the kernels: check value A.
    let (scores, labels) = ([0.9, 0.1, -0.4, 1.5, 0.3], [0.0, 1.0, 2.0, 0.0, 3.0]);
    let values = lambdas("ndcg", Construction::RankNetWeightPairs, &scores, &labels);
    let expected = [-0.138972, 0.037590, 0.221437, -0.505351, 0.385296];
    assert!(values.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-6));
}
