//! LambdaRank, Figure 2 (left): NDCG at 1 to 10 of RankNet and LambdaRank on random cubic polynomials' data.

mod report;

use super::schedule::{self, METHODS, Method, NETS, STALLED, Schedule, config, step_sizes};
use crate::harness::finding::{Finding, no_epoch, no_share, no_step_size};
use crate::harness::units::{by_unit, less, mean};
use crate::harness::{
    Claim, Execution, Experiment, Job, Kind, NetShape, OneEntryCache, Packed, Paper, Report, Scale, Session, Test,
    Ticker, export, per_query,
};
use burnrank::data::synthetic::LabelMix;
use burnrank::train::TrainingData;
use burnrank::{Dataset, Synthetic, TrainConfig};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::Arc;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdarank-cubic",
    kind: Kind::Paper,
    paper: Paper::LambdaRank,
    place: "Figure 2, left, and section 6.3.1",
    claim: "On clean artificial data LambdaRank clearly outperforms RankNet by NDCG at 1 to 10, with linear and with \
            two-layer nets, and the gap is larger towards the top.",
    time: "about 30 minutes",
    claims,
    changed: &[
        "First one function was drawn, then five, and 95% intervals over queries had to be disjoint at depths 1 to 3. \
         Queries of one function are not independent samples of what the paper claims: now there are ten functions, \
         each is one sample, and all ten depths of the figure are tested.",
        "The lowest step size was chosen once, so the grid went lower; now it grows by itself while the best is at its \
         end.",
        "Gains were 0, 1, 3, 7 and 15 (labels 0 to 4); the paper states 0, 3, 7, 15 and 31. The former are an ablation \
         now.",
        "Training ended after 50 epochs without a better validation value, from one start; now it starts again from \
         other weights as in the paper, and the three best step sizes are trained at full length.",
        "A trial of one function with 1,000 training queries and 300 epochs showed how long runs take, and the gap of \
         two-layer nets below 0 at depth 10. In the same time there are now 2,500 queries, for 200 epochs (two layers) \
         and 100 (linear).",
    ],
    protocol,
    run,
    own: None,
};

const DEPTHS: Range<usize> = 1..11;
/// Depths of the ablation's claims.
const ENDS: [usize; 2] = [1, 10];

/// How labels are called, and so what they gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Labels {
    /// 0, 2, 3, 4, 5: the paper's gains 0, 3, 7, 15, 31.
    Paper,
    /// 0 to 4: gains 0, 1, 3, 7, 15.
    Plain,
    /// The paper's, of training and validation, handed out anew at random within each query.
    Shuffled,
}

impl Labels {
    /// The shares of the labels, label 0 first.
    fn mix(self) -> &'static str {
        match self {
            Labels::Plain => "0.52,0.32,0.13,0.02,0.01",
            _ => "0.52,0,0.32,0.13,0.02,0.01",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Labels::Paper => "",
            Labels::Plain => "plain gains ",
            Labels::Shuffled => "shuffled ",
        }
    }
}

/// One net trained on one random function.
#[derive(Debug, Clone, Copy)]
struct Cell {
    method: Method,
    net: NetShape,
    function: u64,
    labels: Labels,
    seed: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Found {
    step_size: f64,
    /// Each step size of the short search, and the best validation NDCG@10 that it reached.
    tried: Vec<(f64, f64)>,
    /// The best of them at full length, the same.
    full: Vec<(f64, f64)>,
    best_epoch: usize,
    epochs: usize,
    /// How often training started again.
    restarts: usize,
    valid: f64,
    /// Mean NDCG of the test queries at depths 1 to 10.
    test: Vec<f64>,
    /// NDCG@10 of each test query.
    per_query: Option<Packed>,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        let tried = self.tried.iter().chain(&self.full);
        no_step_size(tried.clone().map(|tried| tried.0).chain([self.step_size]))
            .or_else(|| no_share("a validation NDCG@10", tried.map(|tried| tried.1).chain([self.valid])))
            .or_else(|| no_share("a test NDCG", self.test.iter().copied()))
            .or_else(|| no_epoch(self.best_epoch, self.epochs))
    }
}

/// How many of everything.
struct Sizes {
    functions: u64,
    /// Functions of the ablation.
    ablated: u64,
    seeds: u64,
    queries: [usize; 3],
    search_epochs: usize,
    /// Of linear and of two-layer nets.
    epochs: [usize; 2],
    /// Epochs on shuffled labels.
    control_epochs: usize,
    /// How many of the best step sizes are trained at full length.
    candidates: usize,
    /// How often the grid of step sizes may grow.
    wider: usize,
}

impl Sizes {
    fn epochs(&self, net: NetShape) -> usize {
        self.epochs[usize::from(net == NetShape::TwoLayer)]
    }
}

fn sizes(scale: Scale) -> Sizes {
    match scale {
        Scale::Paper => Sizes {
            functions: 10,
            ablated: 3,
            seeds: 3,
            queries: [2_500, 1_000, 5_000],
            search_epochs: 8,
            epochs: [100, 200],
            control_epochs: 5,
            candidates: 3,
            wider: 3,
        },
        Scale::Quick => Sizes {
            functions: 2,
            ablated: 2,
            seeds: 2,
            queries: [60, 60, 300],
            search_epochs: 2,
            epochs: [6, 8],
            control_epochs: 2,
            candidates: 2,
            wider: 0,
        },
    }
}

fn claims(_: &Session) -> Vec<Claim> {
    let mut all = vec![];
    let convention = "gains 0, 3, 7, 15, 31; mean over test queries and seeds; equal scores ranked pessimistically";
    for net in NETS {
        for depth in DEPTHS {
            let statement = format!("{}: LambdaRank less RankNet, NDCG@{depth}", net.name());
            all.push(Claim::primary(format!("{} @{depth}", net.name()), statement, Test::Above).paper("above"));
        }
        let statement = format!("{}: that gap at 1 less that at 10", net.name());
        all.push(Claim::primary(format!("{} top", net.name()), statement, Test::Above).paper("\"the gap increases\""));
    }
    let mut all: Vec<Claim> = all.into_iter().map(|claim| claim.convention(convention)).collect();
    for net in NETS {
        for depth in ENDS {
            let statement = format!("{}, gains 0, 1, 3, 7, 15: LambdaRank less RankNet, NDCG@{depth}", net.name());
            let claim = Claim::secondary(format!("{} plain @{depth}", net.name()), statement, Test::Above);
            all.push(
                claim.paper("-").convention("another reading of the gains; one seed, one step size at full length"),
            );
        }
    }
    all.into_iter().map(|claim| claim.unit("random function")).collect()
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "functions": sizes.functions,
        "seeds": sizes.seeds,
        "queries": sizes.queries,
        "search_epochs": sizes.search_epochs,
        "epochs": sizes.epochs,
        "candidates": sizes.candidates,
        "control_epochs": sizes.control_epochs,
        "stalled": STALLED,
        "frozen": schedule::FROZEN,
        "labels": [Labels::Paper.mix(), Labels::Plain.mix()],
        "step_sizes": METHODS.map(step_sizes),
        "ranknet": config(Method::RankNet, NetShape::TwoLayer, sizes.epochs[1], session.seed)?,
        "lambdarank": config(Method::LambdaRank, NetShape::TwoLayer, sizes.epochs[1], session.seed)?,
        "data": Synthetic::lambdarank(),
    }))
}

/// All cells of some functions, two-layer nets first because they take longest.
fn cells(functions: u64, nets: &[NetShape], labels: Labels, seed: u64) -> Vec<Job<Cell>> {
    let mut jobs = vec![];
    for function in 0..functions {
        for &net in nets.iter().rev() {
            for method in METHODS {
                let name = format!("{method:?} {net:?} function {function} seed {seed}").to_lowercase();
                let work = if net == NetShape::Linear { 1.0 } else { 2.0 };
                let what = Cell { method, net, function, labels, seed };
                jobs.push(Job { key: format!("{}{name}", labels.prefix()), work, what });
            }
        }
    }
    jobs
}

/// What is done in one cell.
type Work<'a> = dyn Fn(&Job<Cell>, &Parts, &Ticker<'_>) -> anyhow::Result<Found> + Sync + 'a;

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = self::sizes(execution.scale());
    let kept = OneEntryCache::default();
    let each = |jobs: &[Job<Cell>], work: &Work<'_>| {
        execution.run_all(jobs, |job, ticker| {
            let key = (job.what.function, job.what.labels == Labels::Plain);
            let parts = kept.get(key, || generate(execution, &sizes, job.what.function, job.what.labels))?;
            work(job, &parts, ticker)
        })
    };
    let control = cells(sizes.functions, &[NetShape::Linear], Labels::Shuffled, 0);
    let ablation = cells(sizes.ablated, &NETS, Labels::Plain, 0);
    let mut jobs = cells(sizes.functions, &NETS, Labels::Paper, 0);
    let again: Vec<Job<Cell>> =
        (1..sizes.seeds).flat_map(|seed| cells(sizes.functions, &NETS, Labels::Paper, seed)).collect();
    [&control, &ablation, &jobs, &again].into_iter().try_for_each(|jobs| execution.check::<Cell, Found>(jobs))?;
    let shuffled = each(&control, &|job, parts, ticker| run_shuffled(execution, &sizes, job, parts, ticker))?;
    let mut found = each(&jobs, &|job, parts, ticker| run_tuned(execution, &sizes, job, parts, ticker))?;
    let chosen: Vec<(String, f64)> =
        jobs.iter().zip(&found).map(|(job, found)| (job.key.clone(), found.step_size)).collect();
    found.extend(each(&again, &|job, parts, ticker| {
        let first = job.key.replace(&format!("seed {}", job.what.seed), "seed 0");
        let step = chosen.iter().find(|(key, _)| *key == first).map_or(f64::NAN, |(_, step)| *step);
        train_at(execution, &sizes, job, parts, &[step], vec![], (ticker, 0.0))
    })?);
    jobs.extend(again);
    let one = Sizes { candidates: 1, ..self::sizes(execution.scale()) };
    let plain = each(&ablation, &|job, parts, ticker| run_tuned(execution, &one, job, parts, ticker))?;
    let pair =
        |jobs: Vec<Job<Cell>>, found: Vec<Found>| Runs(jobs.into_iter().map(|job| job.what).zip(found).collect());
    report::report(execution.scale(), &sizes, &pair(jobs, found), &pair(ablation, plain), &pair(control, shuffled))
}

/// Training, validation and test queries of one function.
type Parts = [Dataset; 3];

fn generate(execution: &Execution<'_>, sizes: &Sizes, function: u64, labels: Labels) -> anyhow::Result<Parts> {
    let [train, valid, test] = sizes.queries;
    let settings = Synthetic {
        seed: execution.session.seed.wrapping_mul(1_000).wrapping_add(function),
        queries: train + valid + test,
        mix: labels.mix().parse::<LabelMix>()?,
        ..Synthetic::lambdarank()
    };
    let generator = settings.generator()?;
    let part = |queries: Range<usize>| -> anyhow::Result<Dataset> { Ok(generator.part(queries)?.0) };
    Ok([part(0..train)?, part(train..train + valid)?, part(train + valid..train + valid + test)?])
}

/// What weights and shuffles follow from.
fn seed_of(execution: &Execution<'_>, cell: &Cell) -> u64 {
    execution.session.seed.wrapping_mul(100_000).wrapping_add(cell.function * 100 + cell.seed)
}

/// A short search, the best step sizes at full length, the best of these on the test queries.
fn run_tuned(
    execution: &Execution<'_>,
    sizes: &Sizes,
    job: &Job<Cell>,
    parts: &Parts,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Found> {
    let config = config(job.what.method, job.what.net, sizes.epochs(job.what.net), seed_of(execution, &job.what))?;
    let data = Arc::new(TrainingData::new(config.scaling, &parts[0], &parts[1])?);
    let search = TrainConfig { epochs: sizes.search_epochs, ..config };
    let mut tried =
        schedule::search(execution, &job.key, &search, &data, (&step_sizes(job.what.method), sizes.wider), ticker)?;
    let all = tried.clone();
    tried.sort_by(|a, b| b.1.total_cmp(&a.1));
    let steps: Vec<f64> = tried.iter().take(sizes.candidates).map(|tried| tried.0).collect();
    let share = (all.len() * sizes.search_epochs) as f64;
    let share = share / (share + (steps.len() * sizes.epochs(job.what.net)) as f64);
    ticker.tick(share);
    train_at(execution, sizes, job, parts, &steps, all, (ticker, share))
}

/// Trains with each of the step sizes at full length; the best on validation is judged on the test queries.
fn train_at(
    execution: &Execution<'_>,
    sizes: &Sizes,
    job: &Job<Cell>,
    [training, valid, test]: &Parts,
    steps: &[f64],
    tried: Vec<(f64, f64)>,
    (ticker, done): (&Ticker<'_>, f64),
) -> anyhow::Result<Found> {
    let config = config(job.what.method, job.what.net, sizes.epochs(job.what.net), seed_of(execution, &job.what))?;
    let data = Arc::new(TrainingData::new(config.scaling, training, valid)?);
    let mut full = vec![];
    let mut best: Option<(f64, Schedule)> = None;
    for (number, &learning_rate) in steps.iter().enumerate() {
        let place = |n: usize| done + (1.0 - done) * n as f64 / steps.len() as f64;
        let config = TrainConfig { learning_rate, ..config.clone() };
        let key = format!("{} full {learning_rate}", job.key);
        let run = schedule::run(execution, &key, &config, &data, (ticker, (place(number), place(number + 1))))?;
        full.push((learning_rate, run.valid));
        if best.as_ref().is_none_or(|(_, best)| run.valid > best.valid) {
            best = Some((learning_rate, run));
        }
    }
    let Some((step_size, Schedule { model, epochs, restarts, best_epoch, valid: reached })) = best else {
        anyhow::bail!("no step size to train with")
    };
    let (judged, per_query) = judged(&model, test)?;
    if job.key == "lambdarank twolayer function 0 seed 0" {
        let source = format!(
            "random cubic polynomial 0 of seed {}, label shares {}",
            execution.session.seed,
            Labels::Paper.mix()
        );
        let sets = [("train", source.as_str(), training), ("valid", &source, valid), ("test", &source, test)];
        let values = [("ndcg@1".to_owned(), judged[0]), ("ndcg@10".to_owned(), judged[9])];
        export(execution, "lambdarank-cubic", &model, &sets, values)?;
    }
    Ok(Found {
        step_size,
        tried,
        full,
        best_epoch,
        epochs,
        restarts,
        valid: reached,
        test: judged,
        per_query: Some(per_query),
    })
}

/// Mean NDCG of the test queries at all depths, and NDCG@10 of each query.
fn judged(model: &burnrank::Model, test: &Dataset) -> anyhow::Result<(Vec<f64>, Packed)> {
    let mut all = vec![];
    let mut last = vec![];
    for depth in DEPTHS {
        last = per_query(model, test, &format!("ndcg@{depth}"))?;
        all.push(mean(&last));
    }
    Ok((all, Packed::new(last)))
}

/// The control: what cannot be learned is learned by neither.
fn run_shuffled(
    execution: &Execution<'_>,
    sizes: &Sizes,
    job: &Job<Cell>,
    [training, valid, test]: &Parts,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Found> {
    let seed = seed_of(execution, &job.what);
    let config = config(job.what.method, job.what.net, sizes.epochs(job.what.net), seed)?;
    let config = TrainConfig { epochs: sizes.control_epochs, ..config };
    let data = TrainingData::new(config.scaling, shuffled(training, seed)?, shuffled(valid, seed)?)?;
    let place = (ticker, (0.0, 1.0));
    let model = crate::harness::train(execution, &job.key, &config, &Arc::new(data), place, |_| false)?;
    Ok(Found {
        step_size: config.learning_rate,
        tried: vec![],
        full: vec![],
        best_epoch: model.info.best_epoch,
        epochs: config.epochs,
        restarts: 0,
        valid: model.best_value().unwrap_or(0.0),
        test: judged(&model, test)?.0,
        per_query: None,
    })
}

/// The same documents with the labels of each query in another order.
fn shuffled(data: &Dataset, seed: u64) -> anyhow::Result<Dataset> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut labels = data.labels().to_vec();
    data.offsets().windows(2).for_each(|ends| labels[ends[0]..ends[1]].shuffle(&mut random));
    let queries = data.queries().map(|query| (query.id.to_owned(), query.labels.len())).collect();
    Ok(Dataset::new(data.n_features(), data.features().to_vec(), labels, queries)?)
}

/// What came out of each cell.
struct Runs(Vec<(Cell, Found)>);

impl Runs {
    /// One number per function: NDCG at a depth, the mean over seeds.
    fn units(&self, method: Method, net: NetShape, depth: usize) -> Vec<f64> {
        let chosen = self.0.iter().filter(|(cell, _)| cell.method == method && cell.net == net);
        by_unit(chosen.map(|(cell, found)| (cell.function, found.test[depth - 1])))
    }

    /// LambdaRank less RankNet.
    fn gaps(&self, net: NetShape, depth: usize) -> Vec<f64> {
        less(&self.units(Method::LambdaRank, net, depth), &self.units(Method::RankNet, net, depth))
    }
}
