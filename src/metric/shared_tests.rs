//! A table of metrics, and tests of the properties that all of them share.

use super::*;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

#[rustfmt::skip]
const NAMES: &[&str] = &[
    "ndcg", "ndcg@1", "ndcg@3", "ndcg@10", "ndcg:linear", "ndcg:linear@3", "dcg", "dcg@3", "dcg:linear@10",
    "map", "map@1", "map@3", "map@10", "map:rel=2", "map:rel=2@3", "mrr", "mrr@1", "mrr@3", "mrr:rel=2", "mrr:rel=3@4",
    "wta", "wta-error", "pairs", "pair-error", "bpref", "bpref:rel=2", "bpref:rel=3", "arp", "arp:sum",
    "err", "err@1", "err@3", "err@10", "err:max=6", "p@1", "p@3", "p@10", "p:rel=2@3", "recall@1", "recall@3", "recall@10",
    "recall:rel=2@3",
];

fn all() -> impl Iterator<Item = Arc<dyn Metric>> {
    NAMES.iter().map(|name| parse(name).unwrap())
}

fn value_of(name: &str, scores: &[f32], labels: &[f32], ties: Ties) -> f64 {
    let conventions = Conventions { ties, ..Conventions::default() };
    evaluate_query(&*parse(name).unwrap(), scores, labels, &conventions).unwrap().unwrap()
}

#[test]
fn check_values_of_list_a() {
    let (scores, labels) = ([0.9, 0.1, -0.4, 1.5, 0.3], [0.0, 1.0, 2.0, 0.0, 3.0]);
    let log = |rank: f64| (1.0 + rank).log2();
    let ideal = 7.0 + 3.0 / log(2.0) + 1.0 / log(3.0);
    assert!((max_dcg(&labels, None, Gain::Exponential) - 9.392789).abs() < 1e-6);
    let dcg = 7.0 / log(3.0) + 1.0 / log(4.0) + 3.0 / log(5.0);
    for (name, expected, stated) in [
        ("ndcg", dcg / ideal, 0.542037),
        ("dcg", dcg, 0.542037 * 9.392789),
        ("ndcg@2", 0.0, 0.0),
        ("ndcg@3", 7.0 / log(3.0) / ideal, 0.372626),
        ("map", (1.0 / 3.0 + 2.0 / 4.0 + 3.0 / 5.0) / 3.0, 0.477778),
        ("mrr", 1.0 / 3.0, 0.333333),
        ("wta-error", 1.0, 1.0),
        ("wta", 0.0, 0.0),
        ("pairs", 2.0 / 9.0, 0.222222),
        ("pair-error", 7.0 / 9.0, 0.777778),
        ("arp:sum", 3.0 * 3.0 + 4.0 + 5.0 * 2.0, 23.0),
        ("arp", 23.0 / 6.0, 3.833333),
        ("p@3", 1.0 / 3.0, 0.333333),
        ("recall@4", 2.0 / 3.0, 0.666667),
    ] {
        let value = value_of(name, &scores, &labels, Ties::Pessimistic);
        assert!((value - expected).abs() < 1e-12 && (value - stated).abs() < 5e-6, "{name}: {value}");
    }
}

#[test]
fn check_values_of_list_b() {
    let (scores, labels) = ([0.0; 4], [1.0, 0.0, 2.0, 0.0]);
    let stated =
        [(Ties::Document, 0.688529), (Ties::Average, 0.705496), (Ties::Pessimistic, 0.493546), (Ties::Optimistic, 1.0)];
    for (ties, expected) in stated {
        assert!((value_of("ndcg", &scores, &labels, ties) - expected).abs() < 1e-6, "{ties}");
    }
}

/// Lists of all kinds: empty, single, all equal, binary, graded, fractional, long enough for every cutoff.
fn lists(seed: u64) -> Vec<Vec<f32>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut lists = vec![vec![], vec![0.0], vec![2.0], vec![0.0; 7], vec![1.0; 5], vec![4.0; 12]];
    for length in [2, 3, 4, 7, 11, 25, 40] {
        for top in [1, 2, 4] {
            lists.push((0..length).map(|_| random.random_range(0..=top) as f32).collect());
            lists.push((0..length).map(|_| if random.random_bool(0.15) { top as f32 } else { 0.0 }).collect());
        }
        lists.push((0..length).map(|_| random.random_range(0.0..4.0)).collect());
    }
    lists
}

#[test]
fn prepared_swaps_equal_the_oracle() {
    for seed in 0..8 {
        for ranked in lists(seed) {
            for metric in all() {
                let swaps = metric.swaps(&ranked);
                for i in 0..ranked.len() {
                    for j in 0..ranked.len() {
                        let (fast, oracle) = (swaps.delta(i, j), metric.swap_delta(&ranked, i, j));
                        // Sums such as DCG and the sum of ranks grow with the list, and so do rounding errors.
                        let tolerance = 1e-12 * metric.value(&ranked).abs().max(1.0);
                        assert!(
                            (fast - oracle).abs() <= tolerance,
                            "{} {i} {j} {ranked:?}: {fast} {oracle}",
                            metric.name()
                        );
                    }
                }
            }
        }
    }
}

/// Implements only the required methods.
#[derive(Debug)]
struct Plain(Arc<dyn Metric>);

impl Metric for Plain {
    fn name(&self) -> String {
        format!("plain {}", self.0.name())
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        self.0.value(ranked)
    }
}

#[test]
fn required_methods_are_sufficient() {
    let plain: Arc<dyn Metric> = Arc::new(Plain(parse("ndcg@2").unwrap()));
    let ranked = [0.0, 1.0, 3.0, 2.0];
    assert_eq!(plain.swaps(&ranked).delta(0, 2), plain.swap_delta(&ranked, 0, 2));
    let prepared = parse("ndcg@2").unwrap().swaps(&ranked).delta(0, 2);
    assert!((plain.swaps(&ranked).delta(0, 2) - prepared).abs() < 1e-15);
    assert_eq!(plain.kind(), MetricKind::Other);
    let value = evaluate_query(&*plain, &[4.0, 3.0, 2.0, 1.0], &ranked, &Conventions::default()).unwrap();
    assert_eq!(value, Some(plain.value(&ranked)));
}

#[test]
fn kinds_hold_the_parameters_of_kernels() {
    let kind = |name| parse(name).unwrap().kind();
    assert_eq!(kind("ndcg:linear@5"), MetricKind::Ndcg { k: Some(5), gain: Gain::Linear });
    assert_eq!(kind("map:rel=2"), MetricKind::Ap { k: None, threshold: 2.0 });
    assert_eq!(kind("mrr@3"), MetricKind::Rr { k: Some(3), threshold: 1.0 });
    assert_eq!(kind("err:max=6@3"), MetricKind::Err { k: Some(3), max: 6.0 });
    assert_eq!(kind("bpref:rel=2"), MetricKind::Bpref { threshold: 2.0 });
    assert_eq!(kind("dcg:linear@5"), MetricKind::Dcg { k: Some(5), gain: Gain::Linear });
    assert_eq!((kind("pairs"), kind("pair-error")), (MetricKind::Pairs, MetricKind::Pairs));
    assert_eq!(kind("arp:sum"), MetricKind::Arp { form: ArpForm::Sum });
    assert_eq!(kind("wta"), MetricKind::Other);
}

#[test]
fn queries_without_relevant_documents_are_zero_and_empty() {
    for metric in all() {
        for labels in [vec![], vec![0.0], vec![0.0; 6]] {
            assert!(metric.is_empty(&labels), "{}", metric.name());
            assert_eq!(metric.value(&labels), 0.0, "{}", metric.name());
            let scores = vec![0.5f32; labels.len()];
            for (empty, expected) in [(Empty::Zero, Some(0.0)), (Empty::One, Some(1.0)), (Empty::Skip, None)] {
                let conventions = Conventions { empty, ..Conventions::default() };
                assert_eq!(evaluate_query(&*metric, &scores, &labels, &conventions).unwrap(), expected);
            }
        }
    }
    assert!(parse("map:rel=2").unwrap().is_empty(&[1.0, 0.0]) && !parse("map").unwrap().is_empty(&[1.0, 0.0]));
    assert!(parse("pairs").unwrap().is_empty(&[1.0, 1.0]) && !parse("ndcg").unwrap().is_empty(&[1.0, 1.0]));
}

/// Mean over all orders of `labels[at..]`, by enumeration.
fn mean_over_orders(metric: &dyn Metric, labels: &mut Vec<f32>, at: usize) -> f64 {
    if at == labels.len() {
        return metric.value(labels);
    }
    let mut sum = 0.0;
    for other in at..labels.len() {
        labels.swap(at, other);
        sum += mean_over_orders(metric, labels, at + 1);
        labels.swap(at, other);
    }
    sum / (labels.len() - at) as f64
}

#[test]
fn averaged_ties_are_the_mean_over_all_orders() {
    let with_average: Vec<_> = all().filter(|metric| metric.value_over_ties(&[1.0], &[1], 1).is_some()).collect();
    assert!(with_average.len() > 20);
    for metric in with_average {
        let ranked = [2.0, 0.0, 3.0, 1.0, 3.0, 0.0];
        let expected = mean_over_orders(&*metric, &mut ranked.to_vec(), 1);
        let value = metric.value_over_ties(&ranked, &[1, 6], 6).unwrap();
        assert!((value - expected).abs() < 1e-12, "{}: {value} {expected}", metric.name());
    }
}

fn query() -> impl Strategy<Value = (Vec<f32>, Vec<f32>)> {
    prop::collection::vec((-4i8..=4, 0u8..=4), 0..30)
        .prop_map(|pairs| pairs.into_iter().map(|(score, label)| (f32::from(score) / 2.0, f32::from(label))).unzip())
}

proptest! {
    #[test]
    fn values_are_within_bounds((_, labels) in query()) {
        for metric in all() {
            let value = metric.value(&labels);
            let top = match metric.name() {
                name if name.starts_with("arp") => f64::INFINITY,
                name if name.starts_with("dcg") => f64::INFINITY,
                _ => 1.0 + 1e-12,
            };
            prop_assert!((0.0..=top).contains(&value), "{}: {}", metric.name(), value);
        }
    }

    #[test]
    fn rules_for_equal_scores_are_ordered((scores, labels) in query()) {
        for metric in all() {
            let evaluated = |ties| evaluate_query(&*metric, &scores, &labels, &Conventions { ties, ..Conventions::default() });
            let sign = if metric.is_cost() { -1.0 } else { 1.0 };
            let value = |ties| evaluated(ties).unwrap().unwrap() * sign;
            let (low, high) = (value(Ties::Pessimistic) - 1e-12, value(Ties::Optimistic) + 1e-12);
            prop_assert!(low <= value(Ties::Document) && value(Ties::Document) <= high, "{}", metric.name());
            if evaluated(Ties::Average).is_ok() {
                prop_assert!(low <= value(Ties::Average) && value(Ties::Average) <= high, "{}", metric.name());
            }
        }
    }

    #[test]
    fn order_of_documents_does_not_matter((_, labels) in query(), seed in any::<u64>()) {
        let scores: Vec<f32> = (0..labels.len()).map(|i| ((i * 37) % 101) as f32).collect();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut documents: Vec<(f32, f32)> = scores.iter().copied().zip(labels.iter().copied()).collect();
        for i in (1..documents.len()).rev() {
            documents.swap(i, random.random_range(0..=i));
        }
        let (shuffled, relabelled): (Vec<f32>, Vec<f32>) = documents.into_iter().unzip();
        for name in NAMES {
            for ties in [Ties::Document, Ties::Pessimistic, Ties::Optimistic] {
                prop_assert_eq!(value_of(name, &scores, &labels, ties), value_of(name, &shuffled, &relabelled, ties));
            }
        }
    }

    #[test]
    fn shift_and_scale_of_scores_do_not_matter((scores, labels) in query(), power in -20i32..20, shift in -8i8..8) {
        let moved: Vec<f32> = scores.iter().map(|score| (score + f32::from(shift)) * 2f32.powi(power)).collect();
        let wide: Vec<f64> = scores.iter().map(|&score| f64::from(score)).collect();
        for metric in all() {
            for ties in Ties::ALL {
                let conventions = Conventions { ties, ..Conventions::default() };
                let value = evaluate_query(&*metric, &scores, &labels, &conventions).ok();
                prop_assert_eq!(value, evaluate_query(&*metric, &moved, &labels, &conventions).ok());
                prop_assert_eq!(value, evaluate_query(&*metric, &wide, &labels, &conventions).ok());
            }
        }
    }
}
