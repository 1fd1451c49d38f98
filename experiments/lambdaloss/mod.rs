//! LambdaLoss: Wang et al., The LambdaLoss Framework for Ranking Metric Optimization, 2018.

mod bounds;
mod convergence;
mod curves;
mod custom_losses;
mod cutoff;
mod em;
mod folds;
pub mod losses;
mod mu;
mod nets;
mod overfit;
mod shuffled;
mod small_net;
mod soft;
mod soft_facts;
mod table3;
mod trees;
mod weights;

use crate::harness::{Execution, Experiment, Finding, Job, OneEntryCache, Scale, Ticker};
use burnrank::numeric::mean;

/// All experiments, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 8] = [
    bounds::EXPERIMENT,
    table3::EXPERIMENT,
    trees::EXPERIMENT,
    mu::EXPERIMENT,
    cutoff::EXPERIMENT,
    convergence::EXPERIMENT,
    soft::EXPERIMENT,
    overfit::EXPERIMENT,
];

/// Runs every arm of a comparison on every unit (a random function or a fold) and returns the results by arm, in the order of
/// the units.
///
/// `name` returns the key and the work of a run; `load` prepares the data of a unit, which all arms share.
fn run_grid<U: Copy + PartialEq + Send + Sync, P: Send + Sync, R: Finding>(
    execution: &Execution<'_>,
    units: impl IntoIterator<Item = U>,
    arms: usize,
    name: impl Fn(U, usize) -> (String, f64),
    load: impl Fn(U) -> anyhow::Result<P> + Sync,
    run: impl Fn(&P, &Job<(U, usize)>, &Ticker<'_>) -> anyhow::Result<R> + Sync,
) -> anyhow::Result<Vec<Vec<R>>> {
    let mut jobs = vec![];
    for unit in units {
        for arm in 0..arms {
            let (key, work) = name(unit, arm);
            jobs.push(Job { key, work, what: (unit, arm) });
        }
    }
    let cache = OneEntryCache::default();
    let results = execution.run_all(&jobs, |job, ticker| {
        let unit = job.what.0;
        run(&*cache.get(unit, || load(unit))?, job, ticker)
    })?;
    let mut by_arm: Vec<Vec<R>> = (0..arms).map(|_| vec![]).collect();
    jobs.iter().zip(results).for_each(|(job, result)| by_arm[job.what.1].push(result));
    Ok(by_arm)
}

/// Deviations from the paper, with `quick` as the last one at quick scale.
fn deviations(scale: Scale, all: &[&str], quick: &str) -> Vec<String> {
    all.iter().copied().chain(scale.pick(None, Some(quick))).map(str::to_owned).collect()
}

/// Slope of the least-squares line through points.
fn slope(x: &[f64], y: &[f64]) -> f64 {
    let (mean_x, mean_y) = (mean(x), mean(y));
    let products = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y));
    products.sum::<f64>() / x.iter().map(|x| (x - mean_x).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    #[test]
    fn slopes_are_those_of_lines() {
        let x = [0.1_f64, 0.3, 1.0, 3.0, 5.0, 10.0].map(f64::log10);
        assert!((super::slope(&x, &x.map(|x| 60.0 + 0.5 * x)) - 0.5).abs() < 1e-12);
    }
}
