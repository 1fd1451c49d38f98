//! RankNet with one update per list against stochastic gradient descent with one update per pair.

use super::artificial::{
    self, Counted, DOCUMENTS, Data, TEST, Tested, Units, VALID, architecture, config, function_seed, generator, lists,
    training_seed,
};
use super::pair_net::{PairNet, Update};
use super::per_pair_checks::{same_as_trainer, time_table};
use crate::harness::figure::{self, Panel, Series};
use crate::harness::finding::{Finding, no_epoch, no_share, outside};
use crate::harness::trainings::{self, Went};
use crate::harness::units::{less, mean};
use crate::harness::{
    Claim, Evidence, Execution, Experiment, Headline, Job, NetShape, Packed, Paper, Report, Scale, Session, Spread,
    Test, Ticker, train,
};
use burnrank::internal::text::Table;
use burnrank::metric::parse;
use burnrank::model::RankerConfig;
use burnrank::train::TrainingData;
use burnrank::{Conventions, Dataset, TrainConfig, evaluate};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "ranknet-per-pair",
    paper: Paper::RankNet,
    place: "section 4 (an update per pair), and section 6.1 of the LambdaRank paper (a batch per query)",
    claim: "Convergence as a function of the epoch is similar for updates after each pair and once per query, by the sum \
            over its pairs.",
    short: "Updates per pair and per query converge alike.",
    headlines: &[
        Headline::new(
            "Test accuracy is similar for updates per pair and per list",
            &[
                "test linear 500 per pair",
                "test linear 2500 per pair",
                "test two-layer 500 per pair",
                "test two-layer 2500 per pair",
            ],
        ),
        Headline::new(
            "Convergence by epoch is similar for updates per pair and per list",
            &[
                "curve linear 500 per pair",
                "curve linear 2500 per pair",
                "curve two-layer 500 per pair",
                "curve two-layer 2500 per pair",
            ],
        ),
    ],
    number: ("curve two-layer 500 per pair", "validation curve, pair minus list, points"),
    time: "about 4 minutes",
    claims,
    changed: &[
        "With ten functions, intervals of two-layer nets were up to ±0.58 points wide, wider than the margin of ±0.5: no \
         outcome could have confirmed similarity. Now there are 20 functions.",
    ],
    protocol,
    run,
    ..Experiment::BASE
};

/// Margin of "similar" in points of the pairs in the right order: a fourteenth of the difference between the two nets with
/// 2,500 vectors in Table 1 of the RankNet paper.
const MARGIN: f64 = 0.5;

/// Sizes of the experiment.
pub struct Sizes {
    pub vectors: &'static [usize],
    pub functions: u64,
    pub epochs: usize,
}

fn sizes(scale: Scale) -> Sizes {
    scale.pick(
        Sizes { vectors: &[500, 2_500], functions: 20, epochs: 100 },
        Sizes { vectors: &[100, 500], functions: 2, epochs: 8 },
    )
}

/// Kinds of updates, with names that are part of keys.
const UPDATES: [(Option<Update>, &str); 3] =
    [(None, "per list"), (Some(Update::Pair), "per pair"), (Some(Update::AnyPair), "per pair of any list")];
pub const NETS: [NetShape; 2] = [NetShape::Linear, NetShape::TwoLayer];

fn claims(session: &Session) -> Vec<Claim> {
    let mut claims = vec![];
    let rows = sizes(session.scale).vectors.iter().flat_map(|&vectors| NETS.map(|net| (net, vectors)));
    for (net, vectors) in rows {
        for (way, name) in &UPDATES[1..] {
            let with_convention = |claim: Claim| {
                let order = match way {
                    Some(Update::Pair) => "lists in random order, and the pairs of a list",
                    _ => "all pairs of all lists in one random order",
                };
                claim
                    .paper("\"similar\"")
                    .unit("random net")
                    .convention(format!("{order}; tanh units; validation and test by pairs of different labels"))
            };
            let claim = |id: &str, words: &str| {
                let statement =
                    format!("{} net, {vectors} vectors: {name} minus per list, {words}, points", net.name());
                let claim = Claim::new(key(id, net, vectors, name), statement, Test::Equivalent { margin: MARGIN });
                with_convention(claim)
            };
            claims.push(claim("test", "test accuracy at the best epoch by validation"));
            claims.push(claim("curve", "validation accuracy, mean over all epochs"));
        }
    }
    claims
}

fn key(what: &str, net: NetShape, vectors: usize, way: &str) -> String {
    format!("{what} {} {vectors} {way}", net.name())
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    let configs: anyhow::Result<Vec<TrainConfig>> =
        NETS.iter().map(|&net| settings(net, &sizes, training_seed(session.seed, 0, 0))).collect();
    Ok(
        json!({"functions": sizes.functions, "vectors": sizes.vectors, "per_list": configs?, "ways": UPDATES.map(|way| way.1)}),
    )
}

pub fn settings(net: NetShape, sizes: &Sizes, seed: u64) -> anyhow::Result<TrainConfig> {
    config(architecture(net, 5, Units::Tanh), sizes.epochs, seed)
}

struct Cell {
    net: NetShape,
    vectors: usize,
    way: usize,
    function: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct PairRun {
    test: Tested,
    /// The share of validation pairs in the right order after each epoch.
    valid: Packed,
    best_epoch: usize,
    /// Learning rate of the last epoch.
    last_learning_rate: f64,
}

impl Finding for PairRun {
    fn impossible(&self) -> Option<String> {
        let epochs = self.valid.values().len();
        outside("a percentage of pairs", 0.0..=100.0, [self.test.percent])
            .or_else(|| no_share("a learning rate", [self.last_learning_rate]))
            .or_else(|| no_epoch(self.best_epoch, epochs))
            .or_else(|| (epochs == 0).then(|| "there is no epoch".into()))
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let mut jobs = vec![];
    for function in 0..sizes.functions {
        for (&vectors, net) in sizes.vectors.iter().flat_map(|vectors| NETS.map(|net| (vectors, net))) {
            for (way, (update, name)) in UPDATES.iter().enumerate() {
                let work = vectors as f64 * if update.is_some() { 5.0 } else { 1.0 };
                let cell = Cell { net, vectors, way, function };
                jobs.push(Job {
                    key: format!("{} {vectors} {name} function {function}", net.name()),
                    work,
                    what: cell,
                });
            }
        }
    }
    let results = execution.run_all(&jobs, |job, ticker| run_cell(execution, job, ticker))?;
    let runs: Vec<(&Cell, &PairRun)> = jobs.iter().map(|job| &job.what).zip(&results).collect();
    report(execution, &sizes, &runs)
}

fn run_cell(execution: &Execution<'_>, job: &Job<Cell>, ticker: &Ticker<'_>) -> anyhow::Result<PairRun> {
    let Cell { net, vectors, way, function } = job.what;
    let (session, sizes) = (execution.session, sizes(execution.scale()));
    let generator = generator(Data::Net, Units::Tanh, function_seed(session.seed, function))?;
    let training = lists(&generator, 0..vectors / DOCUMENTS, Counted::Labels)?;
    let valid = lists(&generator, VALID, Counted::Labels)?;
    let test = lists(&generator, TEST, Counted::Labels)?;
    let config = settings(net, &sizes, training_seed(session.seed, function, 0))?;
    let Some(update) = UPDATES[way].0 else {
        let data = Arc::new(TrainingData::new(config.scaling, &training, &valid)?);
        let model = train(execution, &job.key, &config, &data, (ticker, (0.0, 1.0)), |_| false)?;
        return Ok(PairRun {
            test: Tested::of(&model, &test)?,
            valid: Packed::new(model.history.iter().map(|epoch| epoch.valid)),
            best_epoch: model.info.best_epoch,
            last_learning_rate: model.history.last().map_or(f64::NAN, |epoch| epoch.learning_rate),
        });
    };
    descend(&config, update, [&training, &valid, &test], ticker)
}

/// The initial net of the trainer.
pub fn initial_net(config: &TrainConfig, features: usize) -> PairNet {
    let shape = RankerConfig::new(features, config.architecture.clone());
    PairNet::new(features, &config.init.weights(&shape, config.seed))
}

fn shares(net: &PairNet, data: &Dataset) -> anyhow::Result<Vec<f64>> {
    let scores = net.scores(data);
    let values = evaluate(&*parse("pairs")?, &scores, data.labels(), data.offsets(), &Conventions::default())?;
    Ok(values.into_iter().flatten().collect())
}

/// Trains with an update per pair, with the trainer's learning-rate rule and selection of the best epoch.
fn descend(
    config: &TrainConfig,
    update: Update,
    [training, valid, test]: [&Dataset; 3],
    ticker: &Ticker<'_>,
) -> anyhow::Result<PairRun> {
    let mut net = initial_net(config, training.n_features());
    let (mut learning_rate, mut last_learning_rate, mut last_cost) =
        (config.learning_rate, config.learning_rate, f64::INFINITY);
    let (mut best, mut best_epoch, mut best_net) = (f64::NEG_INFINITY, 0, net.clone());
    let mut curve = vec![];
    for epoch in 1..=config.epochs {
        last_learning_rate = learning_rate;
        let cost = net.epoch(training, update, learning_rate, config.seed, epoch as u64).cost;
        if cost > last_cost {
            learning_rate *= 0.5;
        }
        last_cost = cost;
        let value = mean(&shares(&net, valid)?);
        if value > best {
            (best, best_epoch, best_net) = (value, epoch, net.clone());
        }
        curve.push(value);
        ticker.tick(epoch as f64 / config.epochs as f64);
    }
    let test = shares(&best_net, test)?;
    Ok(PairRun {
        test: Tested { percent: 100.0 * mean(&test), lists: Packed::new(test) },
        valid: Packed::new(curve),
        best_epoch,
        last_learning_rate,
    })
}

fn report(execution: &Execution<'_>, sizes: &Sizes, runs: &[(&Cell, &PairRun)]) -> anyhow::Result<Report> {
    let of = |net: NetShape, vectors: usize, way: usize| {
        let same = move |cell: &Cell| (cell.net, cell.vectors, cell.way) == (net, vectors, way);
        runs.iter().filter(move |(cell, _)| same(cell)).map(|(_, run)| *run)
    };
    let tests = |net, vectors, way| of(net, vectors, way).map(|run| run.test.percent).collect::<Vec<f64>>();
    let curves =
        |net, vectors, way| of(net, vectors, way).map(|run| 100.0 * mean(run.valid.values())).collect::<Vec<f64>>();
    let mut evidence = vec![];
    let columns = [
        "net",
        "vectors",
        "update",
        "test pairs, %",
        "minus per list",
        "validation pairs, mean over epochs, %",
        "minus per list",
        "last learning rate",
    ];
    let title = format!(
        "Pairs of different labels in the right order; mean over {} random nets ± standard deviation; differences with \
         95% intervals:",
        sizes.functions
    );
    let mut table = Table::titled(title, &columns);
    let mut largest: f64 = 0.0;
    for (&vectors, net) in sizes.vectors.iter().flat_map(|vectors| NETS.map(|net| (vectors, net))) {
        for (way, (update, name)) in UPDATES.iter().enumerate() {
            let gaps = [&tests as &dyn Fn(_, _, _) -> Vec<f64>, &curves]
                .map(|values| less(&values(net, vectors, way), &values(net, vectors, 0)));
            let gap = |gap: &[f64]| match (update, Spread::of(gap)) {
                (Some(_), Some(s)) => format!("{:+.2} ± {:.2}", s.mean, s.half),
                _ => "-".into(),
            };
            let number =
                |values: &[f64]| Spread::of(values).map_or("-".into(), |s| format!("{:.2} ± {:.2}", s.mean, s.sd));
            let averaged = |value: fn(&PairRun) -> f64| mean(&of(net, vectors, way).map(value).collect::<Vec<f64>>());
            table.row([
                net.name().into(),
                vectors.to_string(),
                name.to_string(),
                number(&tests(net, vectors, way)),
                gap(&gaps[0]),
                number(&curves(net, vectors, way)),
                gap(&gaps[1]),
                burnrank::internal::text::three_digits(averaged(|run| run.last_learning_rate)),
            ]);
            if update.is_some() {
                largest = largest.max(mean(&gaps[0]).abs());
                for (what, gap) in ["test", "curve"].into_iter().zip(gaps) {
                    evidence.push((key(what, net, vectors, name), Evidence::rounded(gap, 2)));
                }
            }
        }
    }
    let went = |(cell, run): &(&Cell, &PairRun)| {
        let what = format!("{}, {} vectors, {}", cell.net.name(), cell.vectors, UPDATES[cell.way].1);
        Went::new(what, run.best_epoch, sizes.epochs)
    };
    let went: Vec<Went> = runs.iter().map(went).collect();
    Ok(Report {
        evidence,
        controls: NETS
            .iter()
            .flat_map(|&net| [(net, 2), (net, DOCUMENTS)])
            .map(|(net, n)| same_as_trainer(execution, net, n))
            .collect::<anyhow::Result<_>>()?,
        main: format!(
            "largest mean difference between an update per pair and one per list: {largest:.2} points of \
                       the test pairs"
        ),
        tables: vec![table, trainings::table(&went), time_table(execution, sizes)?],
        notes: vec![
            "An update per list has one forward and one backward pass per document; updates per pair have two of each for every \
             one of about a thousand pairs, which explains the difference in time. Times are measured when this report is written \
             and do not affect the verdict."
                .into(),
        ],
        protocol: vec![
            artificial::data_text(&[Data::Net], sizes.functions),
            format!(
                "Per list: {} Per pair: plain loops with the same initial weights, cost, learning rate 0.001 and halving rule; one \
                 update after each pair. {} epochs without early stopping; the best epoch by validation accuracy is evaluated on \
                 the test lists. Nets are linear or have five hidden tanh units.",
                artificial::TRAINING_TEXT,
                sizes.epochs
            ),
            format!(
                "Similar convergence is tested in two ways, each with a margin of ±{MARGIN} points: test accuracy at the best \
                 epoch, and mean validation accuracy over all epochs, which depends on the speed of convergence."
            ),
        ],
        deviations: vec![
            "The LambdaRank paper compares on 1,000 web search queries with 26 documents each and nets of 10 hidden units; here \
             data and nets are those of Table 1 of the RankNet paper, which uses updates per pair."
                .into(),
            artificial::ONE_FUNCTION.into(),
        ],
        figure: figure::draw(&panels(sizes, runs))?,
        ..Report::default()
    })
}

/// Mean validation curves, one panel per size.
fn panels(sizes: &Sizes, runs: &[(&Cell, &PairRun)]) -> Vec<Panel> {
    let panel = |&vectors: &usize| {
        let mut series = vec![];
        for (net, (way, (_, name))) in
            NETS.iter().flat_map(|net| UPDATES[..2].iter().enumerate().map(move |way| (net, way)))
        {
            let same = |cell: &Cell| (cell.net, cell.vectors, cell.way) == (*net, vectors, way);
            let curves: Vec<&[f64]> =
                runs.iter().filter(|(cell, _)| same(cell)).map(|(_, run)| run.valid.values()).collect();
            let at = |epoch: usize| {
                mean(&curves.iter().filter_map(|curve| curve.get(epoch - 1).copied()).collect::<Vec<_>>())
            };
            let shown = (1..=sizes.epochs).filter(|epoch| *epoch <= 10 || epoch % 10 == 0);
            let colour = 2 * usize::from(*net == NetShape::TwoLayer) + way;
            let points = shown.map(|epoch| ((epoch as f64).log10(), 100.0 * at(epoch)));
            series.push(Series::line(format!("{}, {name}", net.name()), colour, points));
        }
        let marks = [1usize, 3, 10, 30, 100].into_iter().filter(|mark| *mark <= sizes.epochs.max(10));
        Panel {
            title: format!("Random net, {vectors} training vectors"),
            x_label: "epoch".into(),
            y_label: "validation pairs in the right order, %, mean over functions".into(),
            ticks: marks.map(|mark| ((mark as f64).log10(), mark.to_string())).collect(),
            series,
            ..Panel::default()
        }
    };
    sizes.vectors.iter().map(panel).collect()
}
