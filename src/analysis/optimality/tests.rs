//! Certificates of nets with a known optimum.

use super::*;
use crate::data::synthetic::Synthetic;
use crate::device;
use crate::metric::parse;
use crate::model::{Activation, RankerConfig};

/// 60 queries of 12 documents whose label is the quintile of a linear function: its weights are the optimum.
fn linear_data() -> (Dataset, Vec<f32>) {
    let truth = on_sphere(5, 77, 0);
    let generated = Synthetic { queries: 60, documents: 12, features: 5, ..Synthetic::net() };
    let generated = generated.generator().unwrap().dataset().unwrap();
    let target = |x: &[f32]| x.iter().zip(&truth).map(|(x, w)| x * w).sum::<f32>();
    let scores: Vec<f32> = generated.features().chunks_exact(5).map(target).collect();
    let mut sorted = scores.clone();
    sorted.sort_by(f32::total_cmp);
    let labels = scores.iter().map(|s| (5 * sorted.partition_point(|x| x < s) / sorted.len()) as f32).collect();
    let queries = (0..60).map(|q| (q.to_string(), 12)).collect();
    (Dataset::new(5, generated.features().to_vec(), labels, queries).unwrap(), truth)
}

fn ask(weights: &[f32], options: &CertifyOptions) -> Certificate {
    let (data, _) = linear_data();
    let device = device::open("auto").unwrap();
    let ranker = RankerConfig::linear(5).from_weights(&[weights.to_vec()], &device).unwrap();
    certify(&ranker, &data, &*parse("ndcg").unwrap(), &device, options, &mut |_| ()).unwrap()
}

#[test]
fn the_optimum_is_certified_and_other_weights_are_refuted() {
    let (_, truth) = linear_data();
    let options = CertifyOptions::default();
    let certificate = ask(&truth, &options);
    assert_eq!(certificate.value, 1.0);
    assert!(certificate.holds(), "{:?}", certificate.reports[0].statement);
    assert_eq!((certificate.planned_directions, certificate.directions, certificate.reports.len()), (459, 459, 2));
    assert!(certificate.reports[0].best.rise < 0.0);

    let mut off = truth.clone();
    off[2] += 0.3;
    let refuted = ask(&off, &options);
    assert!(!refuted.holds());
    let best = refuted.reports[0].best;
    assert!(best.rise > 0.0 && refuted.reports[0].statement.contains("Not a local optimum"));
    // The reported move is reproducible: the metric at its end point is the reported value.
    let direction = on_sphere(5, options.seed, best.direction as u64);
    let end: Vec<f32> = off.iter().zip(&direction).map(|(w, r)| w + best.step as f32 * r).collect();
    assert!((ask(&end, &options).value - best.value).abs() < 1e-9);
}

#[test]
fn the_search_stops_at_the_first_improvement() {
    let (_, truth) = linear_data();
    let mut off = truth;
    off[0] -= 0.4;
    let all = ask(&off, &CertifyOptions::default());
    let early = ask(&off, &CertifyOptions { stop_at_first: true, ..CertifyOptions::default() });
    assert!(early.directions < all.directions && !early.holds());
    let last = early.directions - 1;
    assert!(early.reports.iter().any(|report| report.rising == 1 && report.best.direction == last));
    assert!(early.reports.iter().all(|report| report.rising <= 1));
}

#[test]
fn the_control_is_refuted_and_steps_can_be_relative() {
    let (data, truth) = linear_data();
    let device = device::open("auto").unwrap();
    let long: Vec<f32> = truth.iter().map(|w| w * 50.0).collect();
    let ranker = RankerConfig::linear(5).from_weights(&[long], &device).unwrap();
    let options = CertifyOptions { seed: 3, ..CertifyOptions::default() };
    let ndcg = parse("ndcg").unwrap();
    let certificate = certify(&ranker, &data, &*ndcg, &device, &options, &mut |_| ()).unwrap();
    assert!(certificate.holds() && (certificate.length - 50.0).abs() < 1e-4);
    assert!((certificate.reports[0].steps[9] - 50.0).abs() < 1e-4);
    assert!(certificate.reports[0].envelope[9].lowest < 0.9, "a step as long as the weights must change the metric");
    let mut shares = Vec::new();
    let control = certify_control(&ranker, &data, &*ndcg, &device, &options, &mut |share| shares.push(share)).unwrap();
    assert!(!control.holds() && (control.length - 50.0).abs() < 1e-3);
    assert!(shares.is_sorted() && shares.last() == Some(&1.0));
}

#[test]
fn relative_steps_do_not_depend_on_the_scale_of_the_weights() {
    let (_, mut weights) = linear_data();
    weights[1] += 0.2;
    let scaled: Vec<f32> = weights.iter().map(|w| w * 0.125).collect();
    let counts = |weights: &[f32], relative| -> Vec<usize> {
        let options = CertifyOptions { relative, directions: Some(60), ..CertifyOptions::default() };
        ask(weights, &options).reports.iter().map(|report| report.rising).collect()
    };
    assert_eq!(counts(&weights, true), counts(&scaled, true));
    assert_ne!(counts(&weights, false), counts(&scaled, false));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (_, truth) = linear_data();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| ask(&truth, &CertifyOptions { directions: Some(40), ..CertifyOptions::default() }))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn each_weight_is_tested_alone() {
    let (data, truth) = linear_data();
    let device = device::open("auto").unwrap();
    let options = CertifyOptions { steps: vec![COARSE_STEPS.to_vec()], relative: false, ..CertifyOptions::default() };
    let ask = |weights: Vec<f32>| {
        let ranker = RankerConfig::linear(5).from_weights(&[weights], &device).unwrap();
        each_weight(&ranker, &data, &*parse("ndcg").unwrap(), &device, &options, &mut |_| ()).unwrap()
    };
    let optimal = ask(truth.clone());
    assert!(optimal.holds() && optimal.weights.iter().all(|weight| weight.margin > 0.0), "{optimal:?}");
    let mut off = truth.clone();
    off[3] += 0.5;
    let refuted = ask(off);
    assert!(!refuted.holds());
    assert!((refuted.weights[3].step + 0.5).abs() < 1e-9 && refuted.weights[3].rise > 0.0, "{:?}", refuted.weights[3]);
    assert_eq!(refuted.weights[3].name, "feature 4");
}

#[test]
fn certifies_two_layers_and_costs() {
    let (data, truth) = linear_data();
    let device = device::open("auto").unwrap();
    // One unit in its linear range: the net ranks like the linear optimum.
    let small: Vec<f32> = truth.iter().map(|w| w * 0.1).collect();
    let net =
        RankerConfig::mlp(5, &[1], Activation::Tanh).from_weights(&[small, vec![0.0], vec![1.0]], &device).unwrap();
    let options = CertifyOptions { steps: vec![vec![0.01, 0.02]], directions: Some(50), ..CertifyOptions::default() };
    for name in ["ndcg@5", "pair-error", "map:rel=3"] {
        let metric = parse(name).unwrap();
        let certificate = certify(&net, &data, &*metric, &device, &options, &mut |_| ()).unwrap();
        assert!(certificate.holds(), "{name}: {}", certificate.reports[0].statement);
        assert!(
            certificate.reports[0].directions == 50
                && !certify_control(&net, &data, &*metric, &device, &options, &mut |_| ()).unwrap().holds()
        );
        assert!(each_weight(&net, &data, &*metric, &device, &options, &mut |_| ()).unwrap().holds());
    }
}

#[test]
fn certifies_and_refutes_three_layers() {
    let (data, truth) = linear_data();
    let device = device::open("auto").unwrap();
    let small: Vec<f32> = truth.iter().map(|w| w * 0.1).collect();
    let shape = RankerConfig::mlp(5, &[1, 1], Activation::Tanh);
    let rest = [vec![0.0], vec![1.0], vec![0.0], vec![1.0]];
    let net = shape.from_weights(&[&[small.clone()][..], &rest[..]].concat(), &device).unwrap();
    let options = CertifyOptions { steps: vec![vec![0.01, 0.02]], directions: Some(50), ..CertifyOptions::default() };
    let ndcg = parse("ndcg").unwrap();
    let mut shares = Vec::new();
    let certificate = certify(&net, &data, &*ndcg, &device, &options, &mut |share| shares.push(share)).unwrap();
    assert!(certificate.holds() && certificate.value == 1.0 && certificate.weights == 9, "{certificate:?}");
    assert!(shares.is_sorted() && shares.last() == Some(&1.0));
    assert!(!certify_control(&net, &data, &*ndcg, &device, &options, &mut |_| ()).unwrap().holds());
    let alone = each_weight(&net, &data, &*ndcg, &device, &options, &mut |_| ()).unwrap();
    assert!(alone.holds() && alone.weights[6].name == "unit 1 of layer 1 to unit 1 of layer 2");

    let mut off = small;
    off[2] += 0.05;
    let net = shape.from_weights(&[&[off][..], &rest[..]].concat(), &device).unwrap();
    let ask = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| certify(&net, &data, &*ndcg, &device, &options, &mut |_| ()).unwrap())
    };
    assert!(!ask(1).holds());
    assert_eq!(ask(1), ask(3));
}

#[test]
fn invalid_input_is_rejected() {
    let (data, truth) = linear_data();
    let device = device::open("auto").unwrap();
    let ndcg = parse("ndcg").unwrap();
    let error = |weights: Vec<f32>, data: &Dataset, options: CertifyOptions| {
        let ranker = RankerConfig::linear(weights.len()).from_weights(&[weights], &device).unwrap();
        certify(&ranker, data, &*ndcg, &device, &options, &mut |_| ()).unwrap_err().to_string()
    };
    let normal = CertifyOptions::default;
    assert!(error(vec![1.0; 4], &data, normal()).contains("4 features, the data has 5"));
    let irrelevant = Dataset::new(1, vec![0.0; 2], vec![0.0; 2], vec![("a".into(), 2)]).unwrap();
    assert!(error(vec![1.0], &irrelevant, normal()).contains("no query has documents that ndcg counts as relevant"));
    assert!(error(vec![0.0; 5], &data, normal()).contains("all weights are 0"));
    assert!(error(truth.clone(), &data, CertifyOptions { steps: vec![vec![-0.1]], ..normal() }).contains("step -0.1"));
    assert!(error(truth.clone(), &data, CertifyOptions { directions: Some(0), ..normal() }).contains("0 directions"));
    assert!(error(truth.clone(), &data, CertifyOptions { steps: vec![], ..normal() }).contains("no steps"));
    assert!(error(truth, &data, CertifyOptions { epsilon: 2.0, ..normal() }).contains("epsilon 2"));
}

#[test]
fn an_optimum_with_saturated_units_is_certified() {
    // A sigmoid of -17 to -13 is below 1e-5, but its values differ: the scores differ and the ranking is perfect.
    let features: Vec<f32> = (0..40).map(|i| i as f32 * 0.1).collect();
    let labels = (0..40).map(|i| (i / 10) as f32).collect();
    let data = Dataset::new(1, features, labels, vec![("q".into(), 40)]).unwrap();
    let device = device::open("auto").unwrap();
    let shape = RankerConfig::mlp(1, &[1], Activation::Sigmoid);
    let net = shape.from_weights(&[vec![1.0], vec![-17.0], vec![1.0]], &device).unwrap();
    let options = CertifyOptions { directions: Some(50), relative: false, ..CertifyOptions::default() };
    let certificate = certify(&net, &data, &*parse("ndcg").unwrap(), &device, &options, &mut |_| ()).unwrap();
    assert_eq!(certificate.value, 1.0);
    assert!(certificate.holds(), "{}", certificate.reports[0].statement);
    let alone = each_weight(&net, &data, &*parse("ndcg").unwrap(), &device, &options, &mut |_| ()).unwrap();
    assert!(alone.holds() && alone.value == 1.0);
}

#[test]
fn equal_documents_have_equal_scores_along_every_direction() {
    let (lengths, width) = ([7, 513, 4100, 1, 600], 9);
    let mut features = Vec::new();
    for (query, &length) in lengths.iter().enumerate() {
        let document = on_sphere(width, 21, query as u64);
        (0..length).for_each(|_| features.extend_from_slice(&document));
    }
    // The last document of each query is the relevant one, so ties must not rank it first.
    let labels = lengths.iter().flat_map(|&n| (0..n).map(move |i| f32::from(u8::from(i + 1 == n)))).collect();
    let queries = lengths.iter().enumerate().map(|(query, &n)| (query.to_string(), n)).collect();
    let data = Dataset::new(width, features, labels, queries).unwrap();
    let expected = lengths.iter().map(|&n| 1.0 / n as f64).sum::<f64>() / lengths.len() as f64;
    let device = device::open("auto").unwrap();
    for shape in [
        RankerConfig::linear(width),
        RankerConfig::mlp(width, &[5], Activation::Tanh),
        RankerConfig::mlp(width, &[3, 2], Activation::Tanh),
    ] {
        let ranker = shape.init(crate::model::Init::Burn, 5, &device).unwrap();
        let options = CertifyOptions { directions: Some(12), ..CertifyOptions::default() };
        let metric = parse("mrr").unwrap();
        let certificate = certify(&ranker, &data, &*metric, &device, &options, &mut |_| ()).unwrap();
        assert!((certificate.value - expected).abs() < 1e-15, "{}", certificate.value);
        assert!(certificate.reports.iter().all(|report| report.flat == 12), "{}", certificate.reports[0].statement);
        let alone = each_weight(&ranker, &data, &*metric, &device, &options, &mut |_| ()).unwrap();
        assert!(alone.weights.iter().all(|weight| weight.rise == 0.0 && weight.margin == 0.0));
    }
}

#[test]
fn infinite_inputs_of_units_are_evaluated() {
    // A feature of 1e38 times a weight of 10 is infinite: this unit saturates, and the other unit decides.
    let features = vec![1e38, 0.0, 1e38, 1.0, 1e38, 2.0];
    let data = Dataset::new(2, features, vec![0.0, 1.0, 2.0], vec![("q".into(), 3)]).unwrap();
    let device = device::open("auto").unwrap();
    for activation in [Activation::Sigmoid, Activation::Tanh] {
        let weights = [vec![10.0, 0.0, 0.0, 0.1], vec![0.0; 2], vec![1.0, 1.0]];
        let net = RankerConfig::mlp(2, &[2], activation).from_weights(&weights, &device).unwrap();
        let steps = vec![vec![1e-40, 0.001]];
        let options = CertifyOptions { directions: Some(5), steps, relative: false, ..CertifyOptions::default() };
        let certificate = certify(&net, &data, &*parse("ndcg").unwrap(), &device, &options, &mut |_| ()).unwrap();
        assert_eq!(certificate.value, 1.0, "{activation}");
        assert!(certificate.reports[0].envelope.iter().all(|at| at.lowest.is_finite()), "{activation}");
    }
}

#[test]
fn too_many_directions_are_rejected() {
    let (data, truth) = linear_data();
    let device = device::open("auto").unwrap();
    let ranker = RankerConfig::linear(5).from_weights(&[truth], &device).unwrap();
    let options = CertifyOptions { directions: Some(usize::MAX), ..CertifyOptions::default() };
    let error = certify(&ranker, &data, &*parse("ndcg").unwrap(), &device, &options, &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("`directions`"), "{error}");
}
