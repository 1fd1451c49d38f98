//! Control: nets trained on shuffled labels rank test queries no better than a random order.

use super::nets::{self, Arm, Parts, Plan, Study};
use crate::harness::comparison::run_grid;
use crate::harness::shuffled::{of_random_order, with_shuffled_labels};
use crate::harness::units::less;
use crate::harness::{Execution, Session};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const K: usize = 5;

/// Test NDCG@5 of nets trained and validated on shuffled labels, minus the expected NDCG@5 of a random order: points by arm
/// and function.
pub fn run(
    execution: &Execution<'_>,
    plan: &Plan,
    arms: &[Arm],
    study: &Study,
    chosen: &[usize],
) -> anyhow::Result<Vec<Vec<f64>>> {
    let name = |function, place: usize| {
        Some((format!("function {} shuffled labels {}", function + 1, arms[chosen[place]].key), 1.0))
    };
    let load = |function| shuffled_parts(execution.session, function, plan.queries);
    let runs = run_grid(execution, 0..plan.functions, chosen.len(), name, load, |parts, job, ticker| {
        let arm = chosen[job.what.1];
        let learning_rate = study.tuned[arm].best;
        let place = (ticker, (0.0, 1.0));
        let model = nets::train_one(execution, &job.key, plan, &arms[arm], parts, learning_rate, 0, place)?;
        nets::evaluate(&arms[arm], &[model], learning_rate, &parts.sets)
    })?;
    let random = (0..plan.functions)
        .map(|function| {
            let [train, valid, test] = plan.queries;
            let queries = train + valid..train + valid + test;
            Ok(100.0 * of_random_order(&nets::function(execution.session, function)?.part(queries)?.0, K))
        })
        .collect::<anyhow::Result<Vec<f64>>>()?;
    Ok((0..chosen.len()).map(|place| less(&runs.test(place), &random)).collect())
}

fn shuffled_parts(session: &Session, function: u64, queries: [usize; 3]) -> anyhow::Result<Parts> {
    let Parts { sets: [train, valid, test], scaling, .. } = Parts::of_function(session, function, queries)?;
    let mut random = ChaCha8Rng::seed_from_u64(nets::net_seed(session, function));
    let train = with_shuffled_labels(&train, &mut random)?;
    let valid = with_shuffled_labels(&valid, &mut random)?;
    Parts::new([train, valid, test], scaling)
}
