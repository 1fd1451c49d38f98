//! All systems in one table: nets, trees and baselines on the same folds, with equal tuning and the same evaluation.

mod report;
mod roster;
mod sets;

use crate::harness::real::{self, FoldedSet};
use crate::harness::shuffled::with_shuffled_labels;
use crate::harness::systems::{System, SystemRun, Tuning};
use crate::harness::{Claim, Execution, Experiment, Headline, Job, Kind, Paper, Report, Scale, Session, Test};
use burnrank::TrainConfig;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use roster::{SYSTEMS, systems};
use serde_json::{Value, json};

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
    time: "about 25 minutes (MQ2008 and MQ2007)",
    unit: "test query of MQ2008; each is in one fold",
    convention: "mean over test queries; queries without relevant documents count 0; mean over seeds",
    claims,
    changed: &[
        "The unit was one of five folds; the intervals (for example ±1.30 points for RankBoost and ±1.81 for AdaRank) were \
         wider than the margin of 0.7. Now differences are paired over the test queries of all folds: the question is whether \
         these programs rank these queries alike, not whether they would on other folds.",
        "OAP-BPM has the choice of four scalings, like PRank, and the paper's values of tau. RankProp is trained by gradient \
         descent, as in its paper; the exact one has a row of its own.",
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
/// Further means over test queries.
const OTHERS: &[(&str, &str, usize)] = &[("map", "map", 2), ("mrr", "mrr", 2)];

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

fn tuning(scale: Scale) -> Tuning {
    scale.pick(
        Tuning { metric: METRIC, seeds: 3, settings: usize::MAX, extensions: 3, epochs: None, others: OTHERS },
        Tuning { metric: METRIC, seeds: 1, settings: 1, extensions: 0, epochs: Some(3), others: OTHERS },
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
    };
    STORED[..N_CLAIMS].iter().map(claim).collect()
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let tuning = tuning(session.scale);
    let mut all = vec![];
    // In every build, so that a build without trees reports runs of one with trees.
    for system in SYSTEMS {
        let configs: anyhow::Result<Vec<TrainConfig>> =
            system.settings(&tuning).iter().map(|&s| Ok(system.config(s, &tuning, session.seed)?.0)).collect();
        all.push(json!({"name": system.name, "runs": configs?}));
    }
    Ok(json!({"seeds": tuning.seeds, "extensions": tuning.extensions, "systems": all}))
}

/// One system on one fold.
struct Cell {
    set: usize,
    fold: usize,
    system: &'static System,
}

type Runs<'a> = [(&'a Cell, &'a SystemRun)];

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let (sets, tuning) = (real::letor(execution.session)?, tuning(execution.scale()));
    let jobs = jobs(&sets, |_| true, |system| system.name.to_lowercase());
    let results = execution.run_all(&jobs, |job, ticker| {
        let fold = &sets[job.what.set].folds[job.what.fold];
        job.what.system.run(execution, &job.key, &tuning, (fold, &fold[0]), ticker)
    })?;
    // The control: one system on all folds, trained on shuffled labels.
    let control = self::jobs(&sets, |system| system.name == CONTROL, |_| "shuffled labels".into());
    let one = Tuning { settings: 1, extensions: 0, seeds: 1, ..tuning };
    let shuffled = execution.run_all(&control, |job, ticker| {
        let fold = &sets[job.what.set].folds[job.what.fold];
        let training = with_shuffled_labels(&fold[0], &mut ChaCha8Rng::seed_from_u64(execution.session.seed))?;
        job.what.system.run(execution, &job.key, &one, (fold, &training), ticker)
    })?;
    report::report(execution, &sets, &paired(&jobs, &results), &paired(&control, &shuffled))
}

/// Jobs of some systems on all folds, with names for keys.
fn jobs(sets: &[FoldedSet], is_chosen: fn(&System) -> bool, name: fn(&System) -> String) -> Vec<Job<Cell>> {
    let mut jobs = vec![];
    for (number, set) in sets.iter().enumerate() {
        for (fold, [train, ..]) in set.folds.iter().enumerate() {
            for system in systems().filter(|system| is_chosen(system)) {
                let key = format!("{} fold {} {}", set.key, fold + 1, name(system));
                jobs.push(Job { key, work: train.n_documents() as f64, what: Cell { set: number, fold, system } });
            }
        }
    }
    jobs
}

fn paired<'a>(jobs: &'a [Job<Cell>], results: &'a [SystemRun]) -> Vec<(&'a Cell, &'a SystemRun)> {
    jobs.iter().map(|job| &job.what).zip(results).collect()
}
