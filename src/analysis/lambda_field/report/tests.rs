//! Fields with known properties.

use super::*;
use crate::analysis::lambda_field::{MarginLambda, Regularised};
use crate::objective::Objective;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn query(n: usize, seed: u64) -> (Vec<f64>, Vec<f32>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let scores = (0..n).map(|_| rng.random_range(-2.0..2.0)).collect();
    (scores, (0..n).map(|_| f32::from(rng.random_range(0..5u8))).collect())
}

fn report_of(name: &str, n: usize, seed: u64) -> FieldReport {
    let (scores, labels) = query(n, seed);
    FieldReport::new(&Objective::parse(name).unwrap().as_field().unwrap(), &scores, &labels).unwrap()
}

/// The largest jump of lambdas at a tie.
fn largest_jump(report: &FieldReport) -> f64 {
    report.crossings.iter().map(|crossing| crossing.jump).fold(0.0, f64::max)
}

#[test]
fn losses_with_fixed_weights_are_conservative_convex_and_smooth() {
    for name in ["ranknet", "ranknet:ties", "arp-loss1", "arp-loss2", "ranknet:sigma=3"] {
        for seed in 0..4 {
            let report = report_of(name, 9, seed);
            assert!(report.conservative() && report.convex() && report.balanced(), "{name}: {report:?}");
            assert!(largest_jump(&report) <= report.lambda_tolerance, "{name}: {report:?}");
            assert!(report.from_closed_form.unwrap() < report.tolerance.max(1e-8), "{name}");
            // Invariance to shifts of all scores: the smallest eigenvalue is 0.
            assert!(report.smallest_eigenvalue.abs() < 1e-6 && report.largest_eigenvalue > 0.1);
        }
    }
}

#[test]
fn lambdarank_is_symmetric_between_ties_and_jumps_at_them() {
    for name in [
        "lambdarank:ndcg",
        "lambdarank:ndcg@3",
        "lambdarank:map:rel=3",
        "ndcg-loss2",
        "ndcg-loss2++:mu=5",
        "lambdarank:err",
    ] {
        let report = report_of(name, 8, 5);
        assert!(report.symmetric() && report.psd() && report.balanced(), "{name}: {report:?}");
        assert_eq!(report.potential, Potential::BetweenTies, "{name}");
        assert!(!report.conservative() && !report.convex());
        let worst = largest_jump(&report);
        assert!(worst > 1e-3 && report.from_closed_form.unwrap() < 1e-6, "{name}: {worst}");
    }
    // With two documents only their pair matters, and its weight does not depend on which is first.
    let two = FieldReport::new(&Objective::default().as_field().unwrap(), &[0.3, 0.1], &[0.0, 2.0]).unwrap();
    assert!(two.conservative() && two.convex() && largest_jump(&two) <= two.lambda_tolerance);
}

#[test]
fn work_around_a_tie_equals_the_integrated_jump() {
    // Around the tie of documents 0 and 1: across it at one score of document 2, back at another.
    let objective = Objective::default();
    let field = objective.as_field().unwrap();
    let labels = [0.0, 1.0, 3.0];
    let lambdas = |at: &[f64; 3]| lambdas_at(&field, at, &labels);
    let walk = |from: [f64; 3], to: [f64; 3]| {
        let steps = 20_000;
        (0..steps).fold(0.0, |work, step| {
            let t = (f64::from(step) + 0.5) / f64::from(steps);
            let at = std::array::from_fn(|k| from[k] + t * (to[k] - from[k]));
            let lambdas = lambdas(&at);
            work + (0..3).map(|k| lambdas[k] * (to[k] - from[k]) / f64::from(steps)).sum::<f64>()
        })
    };
    let (h, tall) = (1e-3, 0.5);
    let corners = [[h, -h, -1.0], [-h, h, -1.0], [-h, h, -1.0 - tall], [h, -h, -1.0 - tall]];
    let loops: f64 = (0..4).map(|k| walk(corners[k], corners[(k + 1) % 4])).sum();
    assert!(loops.abs() > 1e-3, "{loops}");
    // The work is the sideways jump along the path: the jump of document 2's lambda, integrated.
    let steps = 2000;
    let expected: f64 = (0..steps)
        .map(|step| {
            let third = -1.0 - tall * (f64::from(step) + 0.5) / f64::from(steps);
            let jump = lambdas(&[-1e-9, 1e-9, third])[2] - lambdas(&[1e-9, -1e-9, third])[2];
            -jump * tall / f64::from(steps)
        })
        .sum();
    assert!((loops - expected).abs() < 0.02 * expected.abs(), "{loops} {expected}");
    // RankNet: no work around any closed path.
    let ranknet = Objective::parse("ranknet").unwrap();
    let report = FieldReport::new(&ranknet.as_field().unwrap(), &[1e-3, -1e-3, -1.0], &labels).unwrap();
    assert!(report.conservative());
}

/// A rotational field: the lambda of document i depends on the score of document i + 1.
#[derive(Debug)]
struct Rotation;

impl LambdaField for Rotation {
    fn name(&self) -> String {
        "rotation".into()
    }

    fn lambdas(&self, scores: &[f64], _labels: &[f32], _order: &[usize]) -> Vec<f64> {
        let n = scores.len();
        (0..n).map(|i| scores[(i + 1) % n] - scores[(i + n - 1) % n]).collect()
    }
}

#[test]
fn a_field_without_a_cost_is_detected() {
    let (scores, labels) = query(5, 1);
    let report = FieldReport::new(&Rotation, &scores, &labels).unwrap();
    assert_eq!(report.potential, Potential::None);
    assert!((report.asymmetry - 2.0).abs() < 1e-6 && !report.conservative() && !report.convex());
    assert!(report.balanced(), "a balanced field need not have a cost");
    assert!(report.worst_pair.is_some());
    // Weights that depend on scores give lambdas that are not a gradient.
    let report = report_of("lambdarank:ndcg:localgradient", 6, 3);
    assert_eq!(report.field, "lambdarank:ndcg:localgradient");
    assert!(report.balanced());
}

#[test]
fn regularisation_makes_a_saddle_convex() {
    #[derive(Debug)]
    struct Saddle;
    impl LambdaField for Saddle {
        fn name(&self) -> String {
            "saddle".into()
        }
        fn lambdas(&self, scores: &[f64], _labels: &[f32], _order: &[usize]) -> Vec<f64> {
            vec![-3.0 * scores[0], 2.0 * scores[1]]
        }
    }
    let (scores, labels) = ([0.4, -0.2], [1.0, 0.0]);
    let saddle = FieldReport::new(&Saddle, &scores, &labels).unwrap();
    assert!(saddle.conservative() && !saddle.psd() && !saddle.convex() && !saddle.balanced());
    assert!((saddle.smallest_eigenvalue + 2.0).abs() < 1e-6 && (saddle.largest_eigenvalue - 3.0).abs() < 1e-6);
    let regularised = FieldReport::new(&Regularised { field: Saddle, alpha: 2.5 }, &scores, &labels).unwrap();
    assert!(regularised.convex() && (regularised.smallest_eigenvalue - 0.5).abs() < 1e-6);
}

#[test]
fn the_margin_is_always_conservative_and_convex_up_to_one() {
    let labels = [1.0, 0.0];
    for (delta, convex, jump) in [(0.5, true, 0.5), (1.0, true, 0.0), (1.5, false, 0.5)] {
        let report = FieldReport::new(&MarginLambda { delta }, &[0.2, 0.1], &labels).unwrap();
        assert!(report.conservative(), "{report:?}");
        assert_eq!(report.convex(), convex, "{report:?}");
        assert!((report.crossings[0].jump - jump).abs() < 1e-6 && report.crossings[0].sideways < 1e-9);
        // The Hessian on 0 < x < delta: [[1, -1], [-1, 1]].
        assert!(report.smallest_eigenvalue.abs() < 1e-8 && (report.largest_eigenvalue - 2.0).abs() < 1e-8);
    }
}

#[test]
fn ties_and_edge_cases() {
    let objective = Objective::default();
    let field = objective.as_field().unwrap();
    let report = FieldReport::new(&field, &[1.0, 1.0, 1.0, 0.0], &[0.0, 1.0, 2.0, 1.0]).unwrap();
    assert!(report.symmetric() && report.scores[0] > report.scores[1], "{report:?}");
    for n in [0, 1] {
        let report = FieldReport::new(&field, &vec![0.5; n], &vec![1.0; n]).unwrap();
        assert!(report.conservative() && report.convex() && report.balanced());
    }
    let nothing = FieldReport::new(&field, &[0.3, 0.2], &[0.0, 0.0]).unwrap();
    assert!(nothing.conservative() && nothing.convex() && nothing.balanced());
    assert!(FieldReport::new(&field, &[1.0], &[]).is_err());
    assert!(FieldReport::new(&field, &[f64::NAN], &[0.0]).is_err());
    assert!(FieldReport::new(&field, &vec![0.0; MAX_DOCUMENTS + 1], &vec![0.0; MAX_DOCUMENTS + 1]).is_err());
}

#[test]
fn regularisation_hides_neither_jumps_nor_asymmetry() {
    let (scores, labels) = query(8, 3);
    // An alpha of 1e5 at scores of 1e4 adds 1e9 to lambdas, whose rounding errors would hide part of the field.
    let far = [("lambdarank:ndcg", 1.0, &[0.0, 1e4, 1e6][..]), ("lambdarank:ndcg:localcost", 1e5, &[0.0])];
    for (name, alpha, shifts) in far {
        let plain = report_of(name, 8, 3);
        let objective = Objective::parse(name).unwrap();
        let field = Regularised { field: objective.as_field().unwrap(), alpha };
        for shift in shifts {
            let shifted: Vec<f64> = scores.iter().map(|score| score + shift).collect();
            let report = FieldReport::new(&field, &shifted, &labels).unwrap();
            assert_eq!(report.potential, plain.potential, "{name} at {shift}: {report:?}");
        }
    }
}
