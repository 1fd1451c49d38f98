//! Section 8: early weights and weights for another measure are local optima too, and training goes on from them.

mod report;

use super::descent::{Net, Plan, Trained, Updates, descend};
use super::moves::{Moved, moved};
use super::setting::{MRR, Measure, NDCG10, data, parts, seed_of};
use super::tuned::{Schedule, train_tuned};
use crate::harness::finding::{Finding, no_learning_rate, no_share};
use crate::harness::tuning::Tuned;
use crate::harness::{Claim, Execution, Experiment, Job, Kind, NetShape, Paper, Report, Scale, Session, Test, Ticker};
use anyhow::Context;
use burnrank::Dataset;
use burnrank::analysis::optimality::COARSE_STEPS;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "optimality-epochs",
    kind: Kind::Paper,
    paper: Paper::Optimality,
    place: "section 8",
    claim: "The weights after epochs 7 and 12 of training for NDCG@10 are local optima of it already, and so are the \
            weights learned for MRR. Going on from them nevertheless raises NDCG@10 at once: learning escapes, \
            because it is stochastic.",
    time: "about 5 minutes",
    claims,
    changed: &[],
    protocol,
    run,
    own: None,
};

const FEATURES: usize = 300;
const EARLY: [usize; 2] = [7, 12];
const EPSILON: f64 = 0.01;
const RATES: [f64; 4] = [0.003, 0.01, 0.03, 0.1];
/// A step by the mean over all queries is as long as one by a single query, but there is only one in an epoch.
const FULL_RATES: [f64; 4] = [0.3, 1.0, 3.0, 10.0];

struct Sizes {
    functions: u64,
    queries: [usize; 2],
    schedule: Schedule,
    full: Schedule,
    /// For how many epochs training goes on.
    further: usize,
    directions: usize,
    features: usize,
}

fn sizes(scale: Scale) -> Sizes {
    let common = Schedule {
        learning_rates: &RATES,
        extensions: 4,
        search_epochs: 12,
        epochs: 700,
        restart: 50,
        starts: 1,
        constant: true,
        frozen: 1e-3,
    };
    match scale {
        Scale::Paper => Sizes {
            functions: 6,
            queries: [1_000, 500],
            schedule: common,
            full: Schedule { learning_rates: &FULL_RATES, epochs: 1, ..common },
            further: 30,
            directions: 459,
            features: FEATURES,
        },
        Scale::Quick => Sizes {
            functions: 2,
            queries: [40, 20],
            schedule: Schedule { extensions: 1, search_epochs: 2, epochs: 8, ..common },
            full: Schedule { learning_rates: &FULL_RATES, extensions: 1, search_epochs: 2, epochs: 2, ..common },
            further: 3,
            directions: 30,
            features: 40,
        },
    }
}

/// Where training goes on from.
const STARTS: [&str; 3] = ["epoch 7", "epoch 12", "learned for MRR"];

fn claims(session: &Session) -> Vec<Claim> {
    let Sizes { further, directions, .. } = sizes(session.scale);
    let unit = "random function with its own training queries and net";
    let counted = "A(w) <= A(w + step r) counts, as in the paper; equal scores are ranked pessimistically";
    let mut all = vec![];
    for start in STARTS {
        let statement = format!(
            "{start}: share of {directions} random directions that do not lower training NDCG@10 at every step of 0.1 \
             to 1"
        );
        let claim = Claim::primary(format!("optimum {start}"), statement, Test::AtMost { bound: EPSILON });
        all.push(claim.paper("a local optimum").unit(unit).convention(counted));
    }
    let judged = "two-layer net; NDCG@10 over all training queries, before and after";
    for start in STARTS {
        let statement = format!("{start}: training NDCG@10 after one more epoch for NDCG@10, less before");
        let claim = Claim::primary(format!("at once {start}"), statement, Test::Above);
        all.push(claim.paper("immediate improvement").unit(unit).convention(judged));
    }
    for start in STARTS {
        let statement = format!("{start}: training NDCG@10 after {further} more epochs, less before");
        let claim = Claim::secondary(format!("later {start}"), statement, Test::Above);
        all.push(claim.paper("a different, potentially better, local optimum").unit(unit).convention(judged));
        let statement = format!("{start}: the same with one update per epoch, by the whole batch");
        let claim = Claim::secondary(format!("full {start}"), statement, Test::Above);
        all.push(claim.paper("escapes too").unit(unit).convention(judged));
        let statement = format!("{start}: after {further} more epochs, one update per query is above one per epoch");
        let claim = Claim::secondary(format!("stochastic {start}"), statement, Test::Above);
        all.push(
            claim
                .paper("stochasticity is important")
                .unit(unit)
                .convention(format!("{judged}; each way with its own step size, by validation")),
        );
    }
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "functions": sizes.functions,
        "queries": sizes.queries,
        "schedule": sizes.schedule,
        "full": sizes.full,
        "further": sizes.further,
        "directions": sizes.directions,
        "early": EARLY,
        "data": data(sizes.features, session.seed),
    }))
}

/// What became of one start.
#[derive(Debug, Serialize, Deserialize)]
struct GoneOn {
    optimum: Moved,
    /// Training NDCG@10 before, and after each further epoch; by updates per query, and per epoch.
    per_query: Vec<f64>,
    full_batch: Vec<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Found {
    learning_rate: f64,
    trials: Vec<(f64, f64)>,
    mrr_learning_rate: f64,
    full_batch_learning_rate: f64,
    full_batch_trials: Vec<(f64, f64)>,
    /// How many epochs the training for MRR had.
    mrr_epochs: usize,
    random: Moved,
    starts: Vec<GoneOn>,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        let values = self.starts.iter().flat_map(|start| start.per_query.iter().chain(&start.full_batch)).copied();
        no_learning_rate([self.learning_rate, self.mrr_learning_rate, self.full_batch_learning_rate])
            .or_else(|| no_share("a training value", values))
            .or_else(|| (self.starts.len() != STARTS.len()).then(|| "a start is missing".into()))
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let job = |function| Job { key: format!("function {function}"), work: 1.0, what: function };
    let jobs: Vec<Job<u64>> = (0..sizes.functions).map(job).collect();
    let found = execution.run_all(&jobs, |job, ticker| {
        let seed = seed_of(execution.session, job.what);
        let sets = parts(&data(sizes.features, seed), sizes.queries)?;
        run_function(execution, &sizes, &sets, seed, ticker)
    })?;
    report::report(execution, &sizes, &found)
}

fn run_function(
    execution: &Execution<'_>,
    sizes: &Sizes,
    [train, valid]: &[Dataset; 2],
    seed: u64,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Found> {
    let (objective, metric) = (NDCG10.lambdarank()?, NDCG10.metric()?);
    let learn = |measure: Measure, schedule: &Schedule, updates: Updates, share: [f64; 2]| {
        let (objective, metric) = (measure.lambdarank()?, measure.metric()?);
        let how = (NetShape::TwoLayer, seed, updates);
        train_tuned((&objective, &*metric), schedule, how, [train, valid], (ticker, share))
    };
    let searched = Schedule { epochs: 1, ..sizes.schedule };
    let (Tuned { best: learning_rate, trials, .. }, _) = learn(NDCG10, &searched, Updates::PerQuery, [0.0, 0.2])?;
    let (Tuned { best: mrr_learning_rate, .. }, mrr) = learn(MRR, &sizes.schedule, Updates::PerQuery, [0.2, 0.4])?;
    let (Tuned { best: full_batch_learning_rate, trials: full_batch_trials, .. }, _) =
        learn(NDCG10, &sizes.full, Updates::FullBatch, [0.4, 0.5])?;
    // Training for NDCG@10 from some weights; the epochs that are asked for are kept.
    let go = |start: Net,
              (learning_rate, updates, seed): (f64, Updates, u64),
              epochs: usize,
              keep: &[usize]|
     -> anyhow::Result<Trained> {
        let (objective, measure) = (&objective, &*metric);
        let (constant, frozen) = (true, 0.0);
        let plan = Plan {
            objective,
            measure,
            learning_rate,
            updates,
            epochs,
            restart: 0,
            constant,
            frozen,
            starts: 1,
            seed,
            keep,
        };
        descend(&plan, start, train, valid, |_| ())
    };
    let start = Net::random(train.n_features(), NetShape::TwoLayer, seed);
    let early = go(start, (learning_rate, Updates::PerQuery, seed), EARLY[EARLY.len() - 1], &EARLY)?;
    let mut nets: Vec<Net> = early.kept.into_iter().map(|(_, net)| net).collect();
    nets.push(mrr.last);
    let device = &execution.session.device;
    let test = |net: &Net| -> anyhow::Result<Moved> {
        let found = moved(net, train, NDCG10, (&[sizes.directions], seed, &[&COARSE_STEPS]), device)?;
        found.into_iter().next().context("one set of steps")
    };
    let keep: Vec<usize> = (1..=sizes.further).collect();
    let mut starts = vec![];
    for (number, net) in nets.into_iter().enumerate() {
        let further = |learning_rate: f64, updates: Updates| -> anyhow::Result<Vec<f64>> {
            // Another order of queries than before.
            let after = go(net.clone(), (learning_rate, updates, seed.wrapping_add(1 << 20)), sizes.further, &keep)?;
            [&net]
                .into_iter()
                .chain(after.kept.iter().map(|kept| &kept.1))
                .map(|net| net.mean(train, &*metric))
                .collect()
        };
        let (per_query, full_batch) =
            (further(learning_rate, Updates::PerQuery)?, further(full_batch_learning_rate, Updates::FullBatch)?);
        starts.push(GoneOn { optimum: test(&net)?, per_query, full_batch });
        ticker.tick(0.5 + 0.15 * (number + 1) as f64);
    }
    let random = test(&Net::random(train.n_features(), NetShape::TwoLayer, seed.wrapping_add(1 << 50)))?;
    Ok(Found {
        learning_rate,
        trials,
        mrr_learning_rate,
        full_batch_learning_rate,
        full_batch_trials,
        mrr_epochs: mrr.epochs.len(),
        random,
        starts,
    })
}
