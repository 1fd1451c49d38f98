//! Certificates of nets whose optimum is known.

use super::*;
use crate::data::synthetic::Synthetic;
use crate::device;
use crate::metric::parse;
use crate::model::{Activation, RankerConfig};

/// 60 queries of 12 documents whose label is the bin of a linear function: its weights are the optimum.
fn linear_data() -> (Dataset, Vec<f32>) {
    let truth = on_sphere(5, 77, 0);
    let drawn = Synthetic { queries: 60, documents: 12, features: 5, ..Synthetic::net() };
    let drawn = drawn.generator().unwrap().dataset().unwrap();
    let target = |x: &[f32]| x.iter().zip(&truth).map(|(x, w)| x * w).sum::<f32>();
    let scores: Vec<f32> = drawn.features().chunks_exact(5).map(target).collect();
    let mut sorted = scores.clone();
    sorted.sort_by(f32::total_cmp);
    let labels = scores.iter().map(|s| (5 * sorted.partition_point(|x| x < s) / sorted.len()) as f32).collect();
    let queries = (0..60).map(|q| (q.to_string(), 12)).collect();
    (Dataset::new(5, drawn.features().to_vec(), labels, queries).unwrap(), truth)
}

fn ask(weights: &[f32], options: &CertifyOptions) -> Certificate {
    let (data, _) = linear_data();
    let device = device::open("auto").unwrap();
    let ranker = RankerConfig::linear(5).from_weights(&[weights.to_vec()], &device).unwrap();
    certify(&ranker, &data, &*parse("ndcg").unwrap(), &device, options, &mut |_| ()).unwrap()
}

#[test]
fn the_truth_is_certified_and_one_step_away_is_caught() {
    let (_, truth) = linear_data();
    let options = CertifyOptions::default();
    let found = ask(&truth, &options);
    assert_eq!(found.value, 1.0);
    assert!(found.holds(), "{:?}", found.reports[0].statement);
    assert_eq!((found.planned, found.tried, found.reports.len()), (459, 459, 2));
    assert!(found.reports[0].best.rise < 0.0);

    let mut off = truth.clone();
    off[2] += 0.3;
    let caught = ask(&off, &options);
    assert!(!caught.holds());
    let best = caught.reports[0].best;
    assert!(best.rise > 0.0 && caught.reports[0].statement.contains("Not a local optimum"));
    // The reported move is reproducible: go there, and the measure is what was said.
    let direction = on_sphere(5, options.seed, best.direction as u64);
    let there: Vec<f32> = off.iter().zip(&direction).map(|(w, r)| w + best.step as f32 * r).collect();
    assert!((ask(&there, &options).value - best.value).abs() < 1e-9);
}

#[test]
fn the_first_rise_ends_the_search_and_is_the_same_one() {
    let (_, truth) = linear_data();
    let mut off = truth;
    off[0] -= 0.4;
    let all = ask(&off, &CertifyOptions::default());
    let early = ask(&off, &CertifyOptions { stop_at_first: true, ..CertifyOptions::default() });
    assert!(early.tried < all.tried && !early.holds());
    let last = early.tried - 1;
    assert!(early.reports.iter().any(|report| report.rising == 1 && report.best.direction == last));
    assert!(early.reports.iter().all(|report| report.rising <= 1));
}

#[test]
fn random_weights_are_refuted_and_steps_can_be_relative() {
    let (data, truth) = linear_data();
    let device = device::open("auto").unwrap();
    let long: Vec<f32> = truth.iter().map(|w| w * 50.0).collect();
    let ranker = RankerConfig::linear(5).from_weights(&[long], &device).unwrap();
    let options = CertifyOptions { relative: true, seed: 3, ..CertifyOptions::default() };
    let ndcg = parse("ndcg").unwrap();
    let found = certify(&ranker, &data, &*ndcg, &device, &options, &mut |_| ()).unwrap();
    assert!(found.holds() && (found.length - 50.0).abs() < 1e-4);
    assert!((found.reports[0].steps[9] - 50.0).abs() < 1e-4);
    assert!(found.reports[0].envelope[9].lowest < 0.9, "a step as long as the weights must be felt");
    let mut shares = Vec::new();
    let control = certify_control(&ranker, &data, &*ndcg, &device, &options, &mut |share| shares.push(share)).unwrap();
    assert!(!control.holds() && (control.length - 50.0).abs() < 1e-3);
    assert!(shares.is_sorted() && shares.last() == Some(&1.0));
}

#[test]
fn threads_make_no_difference() {
    let (_, truth) = linear_data();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| ask(&truth, &CertifyOptions { directions: Some(40), ..CertifyOptions::default() }))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn each_weight_alone() {
    let (data, truth) = linear_data();
    let device = device::open("auto").unwrap();
    let options = CertifyOptions { steps: vec![COARSE_STEPS.to_vec()], ..CertifyOptions::default() };
    let ask = |weights: Vec<f32>| {
        let ranker = RankerConfig::linear(5).from_weights(&[weights], &device).unwrap();
        each_weight(&ranker, &data, &*parse("ndcg").unwrap(), &device, &options, &mut |_| ()).unwrap()
    };
    let found = ask(truth.clone());
    assert!(found.holds() && found.weights.iter().all(|weight| weight.margin > 0.0), "{found:?}");
    let mut off = truth.clone();
    off[3] += 0.5;
    let caught = ask(off);
    assert!(!caught.holds());
    assert!((caught.weights[3].step + 0.5).abs() < 1e-9 && caught.weights[3].rise > 0.0, "{:?}", caught.weights[3]);
    assert_eq!(caught.weights[3].name, "feature 4");
}

#[test]
fn two_layers_and_costs_are_certified_too() {
    let (data, truth) = linear_data();
    let device = device::open("auto").unwrap();
    // One unit in its linear range: the net ranks as the truth does.
    let small: Vec<f32> = truth.iter().map(|w| w * 0.1).collect();
    let net = RankerConfig::mlp(5, 1, Activation::Tanh).from_weights(&[small, vec![0.0], vec![1.0]], &device).unwrap();
    let options = CertifyOptions { steps: vec![vec![0.01, 0.02]], directions: Some(50), ..CertifyOptions::default() };
    for name in ["ndcg@5", "pair-error", "map:rel=3"] {
        let metric = parse(name).unwrap();
        let found = certify(&net, &data, &*metric, &device, &options, &mut |_| ()).unwrap();
        assert!(found.holds(), "{name}: {}", found.reports[0].statement);
        assert!(
            found.reports[0].tried == 50
                && !certify_control(&net, &data, &*metric, &device, &options, &mut |_| ()).unwrap().holds()
        );
        assert!(each_weight(&net, &data, &*metric, &device, &options, &mut |_| ()).unwrap().holds());
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (data, truth) = linear_data();
    let device = device::open("auto").unwrap();
    let ndcg = parse("ndcg").unwrap();
    let refuse = |weights: Vec<f32>, data: &Dataset, options: CertifyOptions| {
        let ranker = RankerConfig::linear(weights.len()).from_weights(&[weights], &device).unwrap();
        certify(&ranker, data, &*ndcg, &device, &options, &mut |_| ()).unwrap_err().to_string()
    };
    let normal = CertifyOptions::default;
    assert!(refuse(vec![1.0; 4], &data, normal()).contains("4 features, the data has 5"));
    let barren = Dataset::new(1, vec![0.0; 2], vec![0.0; 2], vec![("a".into(), 2)]).unwrap();
    assert!(refuse(vec![1.0], &barren, normal()).contains("no query has anything"));
    assert!(refuse(truth.clone(), &data, CertifyOptions { steps: vec![vec![-0.1]], ..normal() }).contains("step -0.1"));
    assert!(refuse(truth.clone(), &data, CertifyOptions { directions: Some(0), ..normal() }).contains("0 directions"));
    assert!(refuse(truth.clone(), &data, CertifyOptions { steps: vec![], ..normal() }).contains("no steps"));
    assert!(refuse(truth, &data, CertifyOptions { epsilon: 2.0, ..normal() }).contains("epsilon 2"));
}
