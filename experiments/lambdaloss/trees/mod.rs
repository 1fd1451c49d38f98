//! Boosted trees, the models of the paper, on semi-artificial web data and on real data.

pub mod figures;
mod forest;
mod search;
pub mod table5;
pub mod tables;
mod tables_report;
pub mod web;

use crate::harness::comparison::{Comparison, run_grid};
use crate::harness::units::mean;
use crate::harness::{Claim, Evidence, Execution, Finding, Report, figure};
use burnrank::Model;
use burnrank::internal::text::fixed;
use forest::{Forest, NoTrees, Parts, Shape, Sizes, config};
use std::ops::Range;

/// A loss with the settings of its trees.
struct Arm {
    /// Part of the keys of its runs.
    key: String,
    objective: String,
    shape: Shape,
    /// Metric for model selection and evaluation.
    metric: String,
}

/// Grows the forest of every arm for every teacher.
fn grow(
    execution: &Execution<'_>,
    sizes: &Sizes,
    teachers: Range<u64>,
    arms: &[Arm],
) -> anyhow::Result<Comparison<Forest>> {
    grow_with(execution, sizes, teachers, arms, |_, _, forest| forest)
}

/// As [`grow`], with `result` of the arm, its model and its forest as the result of a run.
fn grow_with<R: Finding>(
    execution: &Execution<'_>,
    sizes: &Sizes,
    teachers: Range<u64>,
    arms: &[Arm],
    result: impl Fn(usize, &Model, Forest) -> R + Sync,
) -> anyhow::Result<Comparison<R>> {
    let name = |teacher: u64, arm: usize| Some((format!("teacher {} {}", teacher + 1, arms[arm].key), 1.0));
    let load = |teacher| Parts::of_teacher(execution.session, sizes, teacher);
    run_grid(execution, teachers, arms.len(), name, load, |parts, job, ticker| {
        let arm = &arms[job.what.1];
        let config = config(&arm.objective, arm.shape, sizes.trees, &arm.metric, execution.session)?;
        let model = forest::grow(execution, &job.key, &config, parts, (ticker, (0.0, 1.0)))?;
        let forest = Forest::of(&model, parts, &arm.metric)?;
        Ok(result(job.what.1, &model, forest))
    })
}

/// Mean number of trees, for tables.
fn mean_trees(forests: &[Forest]) -> String {
    fixed(mean(&forests.iter().map(|forest| forest.trees as f64).collect::<Vec<_>>()), 0)
}

/// The report of a result. Any build can report stored runs; new ones need trees, and without them nothing is claimed.
fn reported<T>(
    found: anyhow::Result<T>,
    claims: Vec<Claim>,
    report: impl FnOnce(T) -> anyhow::Result<Report>,
) -> anyhow::Result<Report> {
    let why = match found {
        Ok(found) => return report(found),
        Err(error) if error.downcast_ref::<NoTrees>().is_none() => return Err(error),
        Err(error) => error.to_string(),
    };
    Ok(Report {
        evidence: claims.into_iter().map(|claim| (claim.id, Evidence::missing(&*why))).collect(),
        main: format!("not run: {why}"),
        notes: vec![
            "LightGBM grows the trees: build with `cargo build --release --features trees`, which needs CMake 3.28 and libclang."
                .into(),
        ],
        figure: figure::draw(&[])?,
        feature: Some("trees"),
        other_data: true,
        ..Report::default()
    })
}
