//! Every construction: zero where nothing is to be gained, forces in balance, the right way round, exact on small lists.

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
fn nothing_to_gain_is_no_force() {
    let scores = [0.3, -1.0, 2.0, 0.3];
    for metric in METRICS {
        for construction in ALL {
            for labels in [[0.0; 4], [2.0; 4]] {
                let found = lambdas(metric, construction, &scores, &labels);
                assert_eq!(found, [0.0; 4], "{metric} {construction:?}");
            }
            assert_eq!(lambdas(metric, construction, &[1.0], &[3.0]), [0.0]);
            assert!(lambdas(metric, construction, &[], &[]).is_empty());
        }
    }
}

#[test]
fn forces_balance_and_are_finite() {
    let scores = [0.9, 0.1, -0.4, 1.5, 0.3, 0.3, 1e30, -1e30];
    let labels = [0.0, 1.0, 2.0, 0.0, 3.0, 2.0, 4.0, 4.0];
    for metric in METRICS {
        for construction in ALL {
            let found = lambdas(metric, construction, &scores, &labels);
            assert!(found.iter().all(|force| force.is_finite()));
            assert!(found.iter().sum::<f64>().abs() < 1e-12, "{metric} {construction:?}");
        }
    }
}

/// The paper's labels of binary metrics are 0 and 1.
#[test]
fn springs_of_binary_metrics_see_two_classes() {
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
fn a_wrong_pair_is_pulled_right_by_all() {
    for metric in METRICS {
        for construction in ALL {
            // The relevant document is last: up with it, by every measure (arp is a cost).
            let found = lambdas(metric, construction, &[1.0, 0.0], &[0.0, 2.0]);
            assert!(found[1] > 0.0 && found[0] == -found[1], "{metric} {construction:?}: {found:?}");
        }
    }
}

#[test]
fn the_formulas_on_three_documents() {
    // Ranks 1, 2, 3 hold labels 0, 2, 1; scores 2, 1, 0.5.
    let (scores, labels) = ([2.0, 1.0, 0.5], [0.0, 2.0, 1.0]);
    let ideal = 3.0 + 1.0 / 3f64.log2();
    let dcg = |a: f64, b: f64, c: f64| (a + b / 3f64.log2() + c / 2.0) / ideal;
    let now = dcg(0.0, 3.0, 1.0);
    let (first, second) = (dcg(3.0, 0.0, 1.0) - now, dcg(0.0, 1.0, 3.0) - now);
    let close = |found: Vec<f64>, expected: [f64; 3]| {
        found.iter().zip(expected).for_each(|(f, e)| assert!((f - e).abs() < 1e-12, "{found:?} {expected:?}"));
    };
    let (up, down) = (first / 2.0, second / 1.5);
    close(lambdas("ndcg", Construction::LocalGradient { margin: 1.0 }, &scores, &labels), [-up, up - down, down]);
    // LocalCost: the top document looks down only, the middle one both ways, the last up only.
    let (top, middle, last) = (-first / 2.0, (first - second) / 2.5, second / 1.5);
    close(
        lambdas("ndcg", Construction::LocalCost { margin: 1.0 }, &scores, &labels),
        [top - middle / 2.0, middle - top - last, last - middle / 2.0],
    );
    // DiscreteBounded: 2 to the top, 1 to the second place (a loss: no force), 0 to the last place.
    let (second_up, first_down) = (first, dcg(3.0, 1.0, 0.0) - now);
    close(
        lambdas("ndcg", Construction::DiscreteBounded, &scores, &labels),
        [-first_down - second_up, second_up + first_down / 2.0, first_down / 2.0],
    );
    // SpringSmooth: gains in units of their mean, at least 1.
    let across = (dcg(1.0, 3.0, 0.0) - now).abs();
    let mean = (first.abs() + second.abs() + across) / 3.0;
    let pull = |gain: f64, difference: f64| (gain.abs() / mean).max(1.0) / (1.0 + difference.exp());
    let (a, b, c) = (pull(first, -1.0), pull(across, -1.5), pull(second, 0.5));
    close(lambdas("ndcg", Construction::SpringSmooth, &scores, &labels), [-a - b, a + c, b - c]);
    // The default is what the kernels compute: check value A.
    let (scores, labels) = ([0.9, 0.1, -0.4, 1.5, 0.3], [0.0, 1.0, 2.0, 0.0, 3.0]);
    let found = lambdas("ndcg", Construction::RankNetWeightPairs, &scores, &labels);
    let expected = [-0.138972, 0.037590, 0.221437, -0.505351, 0.385296];
    assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-6));
}
