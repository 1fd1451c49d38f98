//! All systems in one table: nets, trees and baselines on the same folds, with equal tuning and the same evaluation.

mod report;
mod roster;
mod sets;
mod train;

use crate::harness::{Claim, Execution, Experiment, Headline, Job, Kind, Paper, Report, Scale, Session, Test};
use burnrank::TrainConfig;
use roster::systems;
use serde_json::{Value, json};
use train::{Cell, SystemResult};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "systems",
    kind: Kind::Benchmark,
    paper: Paper::Several,
    place: "the systems that the five papers compare with, and stored scores of other programs for MQ2008",
    claim: "RankSVM, RankBoost, AdaRank and ListNet as built here rank the test queries of MQ2008 as well as the stored \
            scores of these systems do, within 0.7 points of NDCG@10.",
    short: "Baselines built here rank MQ2008 as well as the stored scores of other programs.",
    headlines: &[Headline::new(
        "Baselines are at most 0.7 points of NDCG@10 below the stored scores of other programs on MQ2008",
        &["RankSVM", "RankBoost", "AdaRank", "ListNet, linear"],
    )],
    number: ("RankSVM", "RankSVM minus stored scores, points of NDCG@10"),
    time: "about 40 minutes (MQ2008 and MQ2007)",
    claims,
    changed: &[
        "The claims were equivalences: better than the stored scores counted as a miss. Now a baseline may be at most \
         0.7 points below them (non-inferiority), with the margin of before.",
        "At first the mean of the five folds had to be within the margin; now the 95% interval over folds, which is \
         stricter. By means three systems were within the margin and ListNet was not: the same verdict.",
        "Grids were fixed and the best setting was at an end in 68 of 145 cases; now they are extended up to three times, \
         and the largest initial number of leaves is 32 instead of 31. A control with shuffled labels was added.",
    ],
    protocol,
    run,
    ..Experiment::BASE
};

const METRIC: &str = "ndcg@10";
/// Depth of the metric.
const K: usize = 10;
const OTHER_METRICS: [&str; 2] = ["map", "mrr"];

/// Margin around the stored scores, in points.
const MARGIN: f64 = 0.7;

/// Names of stored scores and of the corresponding systems.
const STORED: [(&str, &str); 5] = [
    ("svm_rank", "RankSVM"),
    ("RankBoost", "RankBoost"),
    ("AdaRank", "AdaRank"),
    ("ListNet", "ListNet, linear"),
    ("RankNet", "RankNet"),
];

/// The system that the control trains on shuffled labels.
const CONTROL: &str = "RankNet, linear";

/// Number of systems compared with stored scores. RankNet's stored scores are from a different net.
const N_CLAIMS: usize = 4;

struct Sizes {
    seeds: u64,
    settings: usize,
    /// Maximum number of extensions of a grid whose best value is at an end.
    extensions: usize,
    /// Maximum number of epochs, trees or rounds; `None` for each system's default.
    epochs: Option<usize>,
}

fn sizes(scale: Scale) -> Sizes {
    scale.pick(
        Sizes { seeds: 3, settings: 4, extensions: 3, epochs: None },
        Sizes { seeds: 1, settings: 1, extensions: 0, epochs: Some(3) },
    )
}

fn claims(_: &Session) -> Vec<Claim> {
    let claim = |&(theirs, ours): &(&str, &str)| {
        Claim::new(
            ours,
            format!("MQ2008: {ours} here minus the stored scores of {theirs}, points of NDCG@10"),
            Test::AtLeast { bound: -MARGIN },
        )
        .paper("0")
        .unit("fold of MQ2008")
        .convention("mean over test queries; queries without relevant documents count 0; mean over seeds")
    };
    STORED[..N_CLAIMS].iter().map(claim).collect()
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    let mut all = vec![];
    for system in systems() {
        let configs: anyhow::Result<Vec<TrainConfig>> =
            system.settings(&sizes).iter().map(|&s| Ok(system.config(s, &sizes, session.seed)?.0)).collect();
        all.push(json!({"name": system.name, "runs": configs?}));
    }
    Ok(json!({"seeds": sizes.seeds, "extensions": sizes.extensions, "systems": all}))
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let sets = sets::find(execution)?;
    let mut jobs = vec![];
    for (number, set) in sets.iter().enumerate() {
        for fold in 0..set.folds.len() {
            for system in systems() {
                let key = format!("{} fold {} {}", set.key, fold + 1, system.name).to_lowercase();
                let work = set.folds[fold].sets[0].n_documents() as f64;
                jobs.push(Job { key, work, what: Cell { set: number, fold, system } });
            }
        }
    }
    let results = execution.run_all(&jobs, |job, ticker| {
        let fold = &sets[job.what.set].folds[job.what.fold];
        train::run(execution, &sizes, job, fold, ticker)
    })?;
    let control = control_jobs(&sets);
    let one = Sizes { settings: 1, extensions: 0, seeds: 1, ..sizes };
    let shuffled = execution.run_all(&control, |job, ticker| {
        let fold = sets[job.what.set].folds[job.what.fold].with_shuffled_labels(execution.session.seed)?;
        train::run(execution, &one, job, &fold, ticker)
    })?;
    report::report(execution, &sizes, &sets, &paired(&jobs, &results), &paired(&control, &shuffled))
}

/// What was asked, with what was results.
fn paired<'a>(jobs: &'a [Job<Cell>], results: &'a [SystemResult]) -> Vec<(&'a Cell, &'a SystemResult)> {
    jobs.iter().map(|job| &job.what).zip(results).collect()
}

/// Jobs of the control: one system on all folds, trained on shuffled labels.
fn control_jobs(sets: &[sets::Set]) -> Vec<Job<Cell>> {
    let mut jobs = vec![];
    for system in systems().filter(|system| system.name == CONTROL) {
        for (number, set) in sets.iter().enumerate() {
            for fold in 0..set.folds.len() {
                let key = format!("{} fold {} shuffled labels", set.key, fold + 1);
                jobs.push(Job { key, work: 1.0, what: Cell { set: number, fold, system } });
            }
        }
    }
    jobs
}
