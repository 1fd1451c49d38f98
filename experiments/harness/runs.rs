//! The results of all cells of an experiment, and claims that take their evidence from them.

use super::units::mean;
use super::{Claim, Evidence, Execution, Finding, Job, Ticker};

/// The result of every cell, in the order of the jobs.
pub struct Runs<C, R>(Vec<(C, R)>);

/// A claim with the function that takes its evidence from the runs.
pub struct Tested<R> {
    pub claim: Claim,
    evidence: Box<dyn Fn(&R) -> Evidence>,
}

impl Claim {
    /// Adds the function that takes the claim's evidence from the runs.
    pub fn by<R>(self, evidence: impl Fn(&R) -> Evidence + 'static) -> Tested<R> {
        Tested { claim: self, evidence: Box::new(evidence) }
    }
}

/// The claims, for [`Experiment::claims`](super::Experiment::claims).
pub fn claims<R>(tested: Vec<Tested<R>>) -> Vec<Claim> {
    tested.into_iter().map(|tested| tested.claim).collect()
}

/// The evidence for all claims.
pub fn evidence<R>(tested: &[Tested<R>], runs: &R) -> Vec<(String, Evidence)> {
    tested.iter().map(|tested| (tested.claim.id.clone(), (tested.evidence)(runs))).collect()
}

impl<C: Sync, R: Finding> Runs<C, R> {
    /// Runs all jobs that are not stored yet.
    pub fn of(
        execution: &Execution<'_>,
        jobs: Vec<Job<C>>,
        each: impl Fn(&C, &Ticker<'_>) -> anyhow::Result<R> + Sync,
    ) -> anyhow::Result<Runs<C, R>> {
        let results = execution.run_all(&jobs, |job, ticker| each(&job.what, ticker))?;
        Ok(Runs(jobs.into_iter().map(|job| job.what).zip(results).collect()))
    }
}

impl<C, R> Runs<C, R> {
    pub fn iter(&self) -> impl Iterator<Item = (&C, &R)> + Clone {
        self.0.iter().map(|(cell, result)| (cell, result))
    }

    /// Results of the cells that satisfy the condition.
    pub fn results(&self, is: impl Fn(&C) -> bool) -> impl Iterator<Item = &R> {
        self.0.iter().filter(move |(cell, _)| is(cell)).map(|(_, result)| result)
    }

    /// A value of the cells that satisfy the condition, such as one value per function.
    pub fn values(&self, is: impl Fn(&C) -> bool, value: impl Fn(&R) -> f64) -> Vec<f64> {
        self.results(is).map(value).collect()
    }

    /// Mean of a value over the cells that satisfy the condition.
    pub fn mean(&self, is: impl Fn(&C) -> bool, value: impl Fn(&R) -> f64) -> f64 {
        mean(&self.values(is, value))
    }
}
