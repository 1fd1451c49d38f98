//! Controls: models trained on shuffled labels, and the expected value of a random order.

use super::Control;
use super::units::mean;
use burnrank::Dataset;
use burnrank::metric::{Gain, discount, max_dcg};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The same documents with the labels of each query in random order.
pub fn with_shuffled_labels(data: &Dataset, random: &mut ChaCha8Rng) -> anyhow::Result<Dataset> {
    let mut labels = data.labels().to_vec();
    data.offsets().windows(2).for_each(|ends| labels[ends[0]..ends[1]].shuffle(random));
    let queries = data.queries().map(|query| (query.id.to_owned(), query.labels.len())).collect();
    Ok(Dataset::new(data.n_features(), data.features().to_vec(), labels, queries)?)
}

/// Mean over queries of the expected NDCG@k if all orders are equally likely; queries without relevant documents count 0.
pub fn of_random_order(data: &Dataset, k: usize) -> f64 {
    let one = |labels: &[f32]| {
        let gains: Vec<f64> = labels.iter().map(|&label| Gain::Exponential.of(label)).collect();
        let ideal = max_dcg(labels, Some(k), Gain::Exponential);
        let discounts: f64 = (0..k.min(labels.len())).map(discount).sum();
        if ideal > 0.0 { mean(&gains) * discounts / ideal } else { 0.0 }
    };
    mean(&data.queries().map(|query| one(query.labels)).collect::<Vec<_>>())
}

/// Control: training on shuffled labels is worse than on true labels. Values, and that of a random order, in percent.
pub fn control(what: String, own: f64, shuffled: f64, random: f64) -> Control {
    Control {
        description: what,
        expected: format!("below {own:.2}, the value with true labels (random order: {random:.2})"),
        ours: format!("{shuffled:.2}"),
        holds: shuffled < own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn labels_stay_in_their_query() {
        let queries = vec![("a".into(), 3), ("b".into(), 2)];
        let data = Dataset::new(1, vec![0.1, 0.2, 0.3, 0.4, 0.5], vec![0.0, 2.0, 1.0, 0.0, 0.0], queries).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let orders: Vec<Vec<f32>> =
            (0..20).map(|_| with_shuffled_labels(&data, &mut random).unwrap().labels().to_vec()).collect();
        for labels in &orders {
            let mut own = labels[..3].to_vec();
            own.sort_by(f32::total_cmp);
            assert_eq!((own, &labels[3..]), (vec![0.0, 1.0, 2.0], &[0.0, 0.0][..]));
        }
        assert!(orders.iter().any(|labels| labels != data.labels()));
        let shuffled = with_shuffled_labels(&data, &mut random).unwrap();
        assert_eq!((shuffled.features(), shuffled.query_ids()), (data.features(), data.query_ids()));
    }

    #[test]
    fn a_random_order_has_the_mean_of_all_orders() {
        // Labels 1 and 0: NDCG@5 is 1 or 1/log2(3), each in one of two orders.
        let data = Dataset::new(1, vec![0.0; 2], vec![1.0, 0.0], vec![("a".into(), 2)]).unwrap();
        assert!((of_random_order(&data, 5) - (1.0 + 1.0 / 3f64.log2()) / 2.0).abs() < 1e-12);
        assert!((of_random_order(&data, 1) - 0.5).abs() < 1e-12);
        let none = Dataset::new(1, vec![0.0; 2], vec![0.0; 2], vec![("a".into(), 2)]).unwrap();
        assert_eq!(of_random_order(&none, 5), 0.0);
    }
}
