//! The losses on real data: every loss on every fold, tuned on the fold's validation queries.

use super::nets::{self, Arm, Evaluation, Parts, Plan};
use crate::harness::comparison::{Comparison, run_grid};
use crate::harness::real::{self, MQ2007, RealSet, WEB};
use crate::harness::trainings::{self, Went};
use crate::harness::tuning::tune;
use crate::harness::{Execution, Scale, Ticker};
use anyhow::Context;
use burnrank::Model;
use burnrank::data::FoldFiles;
use burnrank::internal::text::Table;

/// A real data set with its folds and results.
pub struct RealFolds {
    pub set: RealSet,
    pub folds: Vec<FoldFiles>,
    /// Keys of the arms.
    arms: Vec<String>,
    /// Results by arm and fold.
    pub runs: Comparison<Evaluation>,
}

impl RealFolds {
    fn new(set: RealSet, mut folds: Vec<FoldFiles>, limit: usize) -> RealFolds {
        folds.truncate(limit);
        RealFolds { set, folds, arms: vec![], runs: Comparison { runs: vec![] } }
    }

    /// Table of how often the limits of epochs and learning rates were reached.
    pub fn trainings(&self, plan: &Plan) -> Table {
        let mut runs = vec![];
        for (name, results) in self.arms.iter().zip(&self.runs.runs) {
            for result in results {
                // One learning rate for all seeds.
                let at_edge =
                    |seed: usize| result.learning_rates.as_ref().filter(|_| seed == 0).map(|rates| rates.0.at_edge);
                let step = Some(result.learning_rate);
                let one = |(seed, &best): (usize, &usize)| Went {
                    step,
                    at_edge: at_edge(seed),
                    ..Went::new(name, best, plan.epochs)
                };
                runs.extend(result.best_epochs.iter().enumerate().map(one));
            }
        }
        trainings::table(&runs)
    }
}

/// MQ2007 and the first fold of each of the paper's sets, as far as they are available.
pub fn find_sets(execution: &Execution<'_>) -> anyhow::Result<Vec<RealFolds>> {
    let folder = execution.session.data.as_deref();
    let mut sets = vec![];
    if let Some((set, folds)) = real::first_of(&MQ2007, folder)? {
        sets.push(RealFolds::new(set, folds, execution.scale().pick(usize::MAX, 1)));
    }
    for set in WEB.into_iter().filter(|_| execution.scale() == Scale::Paper) {
        if let Some(folds) = set.folds(folder)? {
            sets.push(RealFolds::new(set, folds, 1));
        }
    }
    Ok(sets)
}

/// Runs every arm on every fold, with the learning rate tuned on the fold's validation queries.
pub fn run_folds(execution: &Execution<'_>, plan: &Plan, arms: &[Arm], real: &mut RealFolds) -> anyhow::Result<()> {
    let name = |fold, arm: usize| {
        Some((format!("{} fold {} {}", real.set.folder, fold + 1, arms[arm].key), plan.seeds as f64))
    };
    let load = |fold: usize| Parts::of_fold(&real.folds[fold]);
    let runs = run_grid(execution, 0..real.folds.len(), arms.len(), name, load, |parts, job, ticker| {
        on_fold(execution, plan, &arms[job.what.1], &job.key, parts, ticker)
    })?;
    (real.arms, real.runs) = (arms.iter().map(|arm| arm.key.clone()).collect(), runs);
    Ok(())
}

fn on_fold(
    execution: &Execution<'_>,
    plan: &Plan,
    arm: &Arm,
    key: &str,
    parts: &Parts,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Evaluation> {
    let trainings = (plan.learning_rates.len() as u64 + plan.seeds) as f64;
    let mut done = 0.0;
    let mut one = |rate: f64, seed: u64| {
        let share = (ticker, (done / trainings, (done + 1.0) / trainings));
        done += 1.0;
        nets::train_one(execution, &format!("{key} {rate}"), plan, arm, parts, rate, seed, share)
    };
    let mut trials: Vec<(f64, Model)> = vec![];
    let tuned = tune(plan.learning_rates, plan.extensions, |rate| {
        let model = one(rate, 0)?;
        let value = model.best_value().context("no epoch was trained")?;
        trials.push((rate, model));
        Ok(value)
    })?;
    let mut models: Vec<Model> =
        trials.into_iter().filter(|(rate, _)| *rate == tuned.best).map(|(_, model)| model).take(1).collect();
    for seed in 1..plan.seeds {
        models.push(one(tuned.best, seed)?);
    }
    let result = nets::evaluate(arm, &models, tuned.best, &parts.sets)?;
    Ok(Evaluation { learning_rates: Some(nets::LearningRates(tuned)), ..result })
}
