//! A control: nets that are trained on shuffled labels rank test queries as a random order does.

use super::nets::{self, Arm, Parts, Plan, Study};
use crate::harness::shuffled::{of_random_order, with_shuffled_labels};
use crate::harness::units::less;
use crate::harness::{Execution, Job, OneEntryCache, Session};
use rand::SeedableRng;
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
            Ok(100.0 * of_random_order(&nets::function(execution.session, function)?.part(queries)?.0, K))
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
    let train = with_shuffled_labels(&train, &mut random)?;
    let valid = with_shuffled_labels(&valid, &mut random)?;
    Parts::new([train, valid, test], scaling)
}
