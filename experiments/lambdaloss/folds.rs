//! The losses on real data: every loss on every fold, tuned on the fold's own validation queries.

use super::nets::{self, Arm, Found, Parts, Plan};
use crate::harness::real::{self, MQ2007, RealSet, WEB};
use crate::harness::trainings::{self, Went};
use crate::harness::tuning::tune;
use crate::harness::units::less;
use crate::harness::{Execution, Job, OneEntryCache, Scale, Ticker};
use anyhow::Context;
use burnrank::Model;
use burnrank::data::FoldFiles;
use burnrank::internal::text::Table;

const MEASURE: &str = "ndcg@5";

/// One real data set with its folds.
pub struct RealFolds {
    pub set: RealSet,
    pub folds: Vec<FoldFiles>,
    /// The arms' keys, and what was found by arm and fold.
    arms: Vec<String>,
    found: Vec<Vec<Found>>,
}

impl RealFolds {
    /// Test NDCG@5 in percent, one number per fold.
    pub fn test(&self, arm: usize) -> Vec<f64> {
        self.found[arm].iter().map(|found| 100.0 * found.test[MEASURE]).collect()
    }

    /// What an arm reached, fold by fold.
    pub fn found(&self, arm: usize) -> &[Found] {
        &self.found[arm]
    }

    /// The first arm less the second, in points, fold by fold.
    pub fn less(&self, first: usize, second: usize) -> Vec<f64> {
        less(&self.test(first), &self.test(second))
    }

    /// Whether the limits of epochs and step sizes bound, by arm.
    pub fn trainings(&self, plan: &Plan) -> Table {
        let mut runs = vec![];
        for (name, found) in self.arms.iter().zip(&self.found) {
            for found in found {
                // Chosen once for all seeds.
                let at_edge = |seed: usize| {
                    found.learning_rates.as_ref().filter(|_| seed == 0).map(|learning_rates| learning_rates.0.at_edge)
                };
                let step = Some(found.learning_rate);
                let one = |(seed, &best): (usize, &usize)| Went {
                    step,
                    at_edge: at_edge(seed),
                    ..Went::new(name, best, plan.epochs)
                };
                runs.extend(found.best_epochs.iter().enumerate().map(one));
            }
        }
        trainings::table(&runs)
    }
}

/// MQ2007, and the first fold of each of the paper's sets, as far as they are there.
pub fn find_sets(execution: &Execution<'_>) -> anyhow::Result<Vec<RealFolds>> {
    let folder = execution.session.data.as_deref();
    let mut sets = vec![];
    if let Some((set, mut folds)) = real::first_of(&MQ2007, folder)? {
        folds.truncate(execution.scale().pick(folds.len(), 1));
        sets.push(RealFolds { set, folds, arms: vec![], found: vec![] });
    }
    for set in WEB.into_iter().filter(|_| execution.scale() == Scale::Paper) {
        if let Some(mut folds) = set.folds(folder)? {
            folds.truncate(1);
            sets.push(RealFolds { set, folds, arms: vec![], found: vec![] });
        }
    }
    Ok(sets)
}

/// Every arm on every fold, the step size chosen on the fold's own validation queries.
pub fn run_folds(execution: &Execution<'_>, plan: &Plan, arms: &[Arm], real: &mut RealFolds) -> anyhow::Result<()> {
    let mut jobs = vec![];
    for fold in 0..real.folds.len() {
        for (arm, of) in arms.iter().enumerate() {
            let key = format!("{} fold {} {}", real.set.folder, fold + 1, of.key);
            jobs.push(Job { key, work: plan.seeds as f64, what: (fold, arm) });
        }
    }
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let (fold, arm) = job.what;
        let parts = kept.get(fold, || Parts::of_fold(&real.folds[fold]))?;
        on_fold(execution, plan, &arms[arm], &job.key, &parts, ticker)
    })?;
    real.arms = arms.iter().map(|arm| arm.key.clone()).collect();
    real.found = vec![vec![]; arms.len()];
    jobs.iter().zip(found).for_each(|(job, found)| real.found[job.what.1].push(found));
    Ok(())
}

fn on_fold(
    execution: &Execution<'_>,
    plan: &Plan,
    arm: &Arm,
    key: &str,
    parts: &Parts,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Found> {
    let trainings = (plan.learning_rates.len() as u64 + plan.seeds) as f64;
    let mut done = 0.0;
    let mut one = |step: f64, seed: u64| {
        let share = (ticker, (done / trainings, (done + 1.0) / trainings));
        done += 1.0;
        nets::one(execution, &format!("{key} {step}"), plan, arm, parts, step, seed, share)
    };
    let mut tried: Vec<(f64, Model)> = vec![];
    let tuned = tune(plan.learning_rates, plan.extensions, |step| {
        let model = one(step, 0)?;
        let value = model.best_value().context("no epoch was trained")?;
        tried.push((step, model));
        Ok(value)
    })?;
    let mut models: Vec<Model> =
        tried.into_iter().filter(|(step, _)| *step == tuned.best).map(|(_, model)| model).take(1).collect();
    for seed in 1..plan.seeds {
        models.push(one(tuned.best, seed)?);
    }
    let found = nets::judged(arm, &models, tuned.best, &parts.sets, &[MEASURE])?;
    Ok(Found { learning_rates: Some(nets::LearningRates(tuned)), ..found })
}
