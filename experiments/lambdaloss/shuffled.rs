//! A control: nets that are trained on shuffled labels rank test queries as a random order does.

use super::nets::{self, Arm, Parts, Plan, Study};
use crate::harness::units::{less, mean};
use crate::harness::{Execution, Job, OneEntryCache, Session};
use burnrank::Dataset;
use burnrank::metric::{Gain, discount, max_dcg};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

const MEASURE: &str = "ndcg@5";
const K: usize = 5;

/// What nets reach on test queries whose training and validation labels were shuffled, less what a random order reaches
/// on average: in points, by arm and function.
pub fn run(
    execution: &Execution<'_>,
    plan: &Plan,
    arms: &[Arm],
    study: &Study,
    chosen: &[usize],
) -> anyhow::Result<Vec<Vec<f64>>> {
    let mut jobs = vec![];
    for function in 0..plan.functions {
        for &arm in chosen {
            let key = format!("function {} shuffled labels {}", function + 1, arms[arm].key);
            jobs.push(Job { key, work: 1.0, what: (function, arm) });
        }
    }
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let (function, arm) = job.what;
        let parts = kept.get(function, || shuffled_parts(execution.session, function, plan.queries))?;
        let step = study.tuned[arm].best;
        let model = nets::one(execution, &job.key, plan, &arms[arm], &parts, step, 0, (ticker, (0.0, 1.0)))?;
        nets::judged(&arms[arm], &[model], step, &parts.sets, &[MEASURE])
    })?;
    let random = (0..plan.functions)
        .map(|function| {
            let [train, valid, test] = plan.queries;
            let queries = train + valid..train + valid + test;
            Ok(100.0 * of_random_order(&nets::function(execution.session, function)?.part(queries)?.0))
        })
        .collect::<anyhow::Result<Vec<f64>>>()?;
    let of_arm = |&arm: &usize| {
        let own = jobs.iter().zip(&found).filter(|(job, _)| job.what.1 == arm);
        less(&own.map(|(_, found)| 100.0 * found.test[MEASURE]).collect::<Vec<_>>(), &random)
    };
    Ok(chosen.iter().map(of_arm).collect())
}

fn shuffled_parts(session: &Session, function: u64, queries: [usize; 3]) -> anyhow::Result<Parts> {
    let Parts { sets: [train, valid, test], scaling, .. } = Parts::of_function(session, function, queries)?;
    let mut random = ChaCha8Rng::seed_from_u64(nets::net_seed(session, function));
    let mut shuffle = |set: Dataset| -> anyhow::Result<Dataset> {
        let mut labels = set.labels().to_vec();
        for ends in set.offsets().windows(2) {
            labels[ends[0]..ends[1]].shuffle(&mut random);
        }
        let queries = set.query_ids().iter().cloned().zip(set.offsets().windows(2).map(|ends| ends[1] - ends[0]));
        Ok(Dataset::new(set.n_features(), set.features().to_vec(), labels, queries.collect())?)
    };
    Parts::new([shuffle(train)?, shuffle(valid)?, test], scaling)
}

/// The mean over queries of the expected NDCG@5 when every order is equally likely.
fn of_random_order(data: &Dataset) -> f64 {
    let one = |labels: &[f32]| {
        let gains: Vec<f64> = labels.iter().map(|&label| Gain::Exponential.of(label)).collect();
        let ideal = max_dcg(labels, Some(K), Gain::Exponential);
        let discounts: f64 = (0..K.min(labels.len())).map(discount).sum();
        if ideal > 0.0 { mean(&gains) * discounts / ideal } else { 0.0 }
    };
    mean(&data.queries().map(|query| one(query.labels)).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_order_has_the_mean_of_all_orders() {
        // Labels 1 and 0: NDCG@5 is 1 or 1/log2(3), each in one of two orders.
        let data = Dataset::new(1, vec![0.0; 2], vec![1.0, 0.0], vec![("a".into(), 2)]).unwrap();
        assert!((of_random_order(&data) - (1.0 + 1.0 / 3f64.log2()) / 2.0).abs() < 1e-12);
        let none = Dataset::new(1, vec![0.0; 2], vec![0.0; 2], vec![("a".into(), 2)]).unwrap();
        assert_eq!(of_random_order(&none), 0.0);
    }
}
