//! Runs: each method and net on each function.

use super::{Sizes, train};
use crate::harness::finding::{Finding, no_epoch, no_learning_rate, no_share};
use crate::harness::units::{by_unit, less};
use crate::harness::{Execution, Job, NetShape, OneEntryCache, Packed, Report, Ticker};
use crate::lambdarank::schedule::{METHODS, Method, NETS};
use serde::{Deserialize, Serialize};
use train::Parts;

/// Numbering of the labels, which determines their gains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// 0, 2, 3, 4, 5: the paper's gains 0, 3, 7, 15, 31.
    Paper,
    /// 0 to 4: gains 0, 1, 3, 7, 15.
    Consecutive,
    /// The paper's labels, shuffled within each query for training and validation.
    Shuffled,
}

impl Labels {
    /// Shares of the labels, label 0 first.
    pub fn mix(self) -> &'static str {
        match self {
            Labels::Consecutive => "0.52,0.32,0.13,0.02,0.01",
            _ => "0.52,0,0.32,0.13,0.02,0.01",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Labels::Paper => "",
            Labels::Consecutive => "plain gains ",
            Labels::Shuffled => "shuffled ",
        }
    }
}

/// One net trained on one random function.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    pub method: Method,
    pub net: NetShape,
    pub function: u64,
    pub labels: Labels,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct CellResult {
    pub learning_rate: f64,
    /// Each learning rate of the search and its best validation NDCG@10.
    pub trials: Vec<(f64, f64)>,
    /// The same for the best learning rates at full length.
    pub full: Vec<(f64, f64)>,
    pub best_epoch: usize,
    pub epochs: usize,
    pub restarts: usize,
    pub valid: f64,
    /// Mean NDCG of the test queries at depths 1 to 10.
    pub test: Vec<f64>,
    /// NDCG@10 of each test query.
    pub per_query: Option<Packed>,
}

impl Finding for CellResult {
    fn impossible(&self) -> Option<String> {
        let trials = self.trials.iter().chain(&self.full);
        no_learning_rate(trials.clone().map(|trial| trial.0).chain([self.learning_rate]))
            .or_else(|| no_share("a validation NDCG@10", trials.map(|trial| trial.1).chain([self.valid])))
            .or_else(|| no_share("a test NDCG", self.test.iter().copied()))
            .or_else(|| no_epoch(self.best_epoch, self.epochs))
    }
}

/// All cells of a kind; those of a function are neighbours, because they share its data.
fn cells(functions: impl Fn(NetShape) -> u64, labels: Labels) -> Vec<Job<Cell>> {
    let mut jobs = vec![];
    for function in 0..functions(NetShape::TwoLayer).max(functions(NetShape::Linear)) {
        for net in NETS.into_iter().filter(|&net| function < functions(net)) {
            for method in METHODS {
                let name = format!("{method:?} {net:?} function {function}").to_lowercase();
                let work = if net == NetShape::Linear { 1.0 } else { 4.0 };
                let what = Cell { method, net, function, labels };
                jobs.push(Job { key: format!("{}{name}", labels.prefix()), work, what });
            }
        }
    }
    jobs
}

/// Runs one cell.
type Work<'a> = dyn Fn(&Job<Cell>, &Parts, &Ticker<'_>) -> anyhow::Result<CellResult> + Sync + 'a;

pub fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = super::sizes(execution.scale());
    let cache = OneEntryCache::default();
    let each = |jobs: &[Job<Cell>], work: &Work<'_>| {
        execution.run_all(jobs, |job, ticker| {
            let key = (job.what.function, job.what.labels == Labels::Consecutive);
            let parts = cache.get(key, || train::generate(execution, &sizes, job.what.function, job.what.labels))?;
            work(job, &parts, ticker)
        })
    };
    let linear = |net| if net == NetShape::Linear { sizes.functions(net) } else { 0 };
    let control = cells(linear, Labels::Shuffled);
    let ablation = cells(|_| sizes.ablated, Labels::Consecutive);
    let jobs = cells(|net| sizes.functions(net), Labels::Paper);
    [&control, &ablation, &jobs].into_iter().try_for_each(|jobs| execution.check::<Cell, CellResult>(jobs))?;
    let shuffled = each(&control, &|job, parts, ticker| train::train_shuffled(execution, &sizes, job, parts, ticker))?;
    let results = each(&jobs, &|job, parts, ticker| train::train_tuned(execution, &sizes, job, parts, ticker))?;
    let one = Sizes { candidates: 1, ..super::sizes(execution.scale()) };
    let plain = each(&ablation, &|job, parts, ticker| train::train_tuned(execution, &one, job, parts, ticker))?;
    let pair = |jobs: Vec<Job<Cell>>, results: Vec<CellResult>| {
        Runs(jobs.into_iter().map(|job| job.what).zip(results).collect())
    };
    super::report::report(&sizes, &pair(jobs, results), &pair(ablation, plain), &pair(control, shuffled))
}

/// All cells with their results.
pub struct Runs(pub Vec<(Cell, CellResult)>);

impl Runs {
    /// NDCG at a depth for each function.
    pub fn units(&self, method: Method, net: NetShape, depth: usize) -> Vec<f64> {
        let chosen = self.0.iter().filter(|(cell, _)| cell.method == method && cell.net == net);
        by_unit(chosen.map(|(cell, result)| (cell.function, result.test[depth - 1])))
    }

    /// LambdaRank minus RankNet, for each function.
    pub fn gaps(&self, net: NetShape, depth: usize) -> Vec<f64> {
        less(&self.units(Method::LambdaRank, net, depth), &self.units(Method::RankNet, net, depth))
    }
}
