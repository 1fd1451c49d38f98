//! RankNet by one update per list beside true stochastic descent, one update per pair.

use super::artificial::{
    self, Counted, DOCUMENTS, Data, TEST, Tested, Units, VALID, architecture, config, function_seed, generator, lists,
    training_seed,
};
use super::pair_net::{PairNet, Update};
use super::per_pair_checks::{same_as_trainer, time_table};
use crate::harness::figure::{self, Panel, Series, Whose};
use crate::harness::finding::{Finding, no_epoch, no_share, outside};
use crate::harness::trainings::{self, Went};
use crate::harness::units::{less, mean};
use crate::harness::{
    Claim, Evidence, Execution, Experiment, Job, Kind, NetShape, Packed, Paper, Report, Scale, Session, Spread, Test,
    Ticker, train,
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
    kind: Kind::Paper,
    paper: Paper::RankNet,
    place: "section 4 (an update per pair), and section 6.1 of the LambdaRank paper (a batch per query)",
    claim: "Convergence as a function of the epoch is similar whether the weights move after each pair or once per \
            query, by the sum over its pairs.",
    time: "about 4 minutes",
    claims,
    changed: &[],
    protocol,
    run,
    own: None,
};

/// "Similar", in points of the pairs in the right order: a fourteenth of what lies between the two nets in Table 1 of the
/// RankNet paper with 2,500 vectors.
const MARGIN: f64 = 0.5;

/// How much is run.
pub struct Sizes {
    pub vectors: &'static [usize],
    pub functions: u64,
    pub epochs: usize,
}

fn sizes(scale: Scale) -> Sizes {
    scale.pick(
        Sizes { vectors: &[500, 2_500], functions: 10, epochs: 100 },
        Sizes { vectors: &[100, 500], functions: 2, epochs: 8 },
    )
}

/// How the weights move.
const WAYS: [(Option<Update>, &str); 3] =
    [(None, "per list"), (Some(Update::Pair), "per pair"), (Some(Update::AnyPair), "per pair of any list")];
pub const NETS: [NetShape; 2] = [NetShape::Linear, NetShape::TwoLayer];

fn claims(session: &Session) -> Vec<Claim> {
    let mut claims = vec![];
    let rows = sizes(session.scale).vectors.iter().flat_map(|&vectors| NETS.map(|net| (net, vectors)));
    for (net, vectors) in rows {
        for (way, name) in &WAYS[1..] {
            let told = |claim: Claim| {
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
                let statement = format!("{} net, {vectors} vectors: {name} less per list, {words}, points", net.name());
                let claim = Claim::primary(key(id, net, vectors, name), statement, Test::Equivalent { margin: MARGIN });
                told(Claim { primary: *way == Some(Update::Pair), ..claim })
            };
            claims.push(claim("test", "test pairs right at the epoch that validation chose"));
            claims.push(claim("curve", "validation pairs right, mean over all epochs"));
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
        json!({"functions": sizes.functions, "vectors": sizes.vectors, "per_list": configs?, "ways": WAYS.map(|way| way.1)}),
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
struct Found {
    test: Tested,
    /// The share of validation pairs in the right order after each epoch.
    valid: Packed,
    best_epoch: usize,
    /// The step size of the last epoch.
    last_learning_rate: f64,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        let epochs = self.valid.values().len();
        outside("a percentage of pairs", 0.0..=100.0, [self.test.percent])
            .or_else(|| no_share("a step size", [self.last_learning_rate]))
            .or_else(|| no_epoch(self.best_epoch, epochs))
            .or_else(|| (epochs == 0).then(|| "there is no epoch".into()))
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let mut jobs = vec![];
    for function in 0..sizes.functions {
        for (&vectors, net) in sizes.vectors.iter().flat_map(|vectors| NETS.map(|net| (vectors, net))) {
            for (way, (update, name)) in WAYS.iter().enumerate() {
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
    let found = execution.run_all(&jobs, |job, ticker| run_cell(execution, job, ticker))?;
    let runs: Vec<(&Cell, &Found)> = jobs.iter().map(|job| &job.what).zip(&found).collect();
    report(execution, &sizes, &runs)
}

fn run_cell(execution: &Execution<'_>, job: &Job<Cell>, ticker: &Ticker<'_>) -> anyhow::Result<Found> {
    let Cell { net, vectors, way, function } = job.what;
    let (session, sizes) = (execution.session, sizes(execution.scale()));
    let generator = generator(Data::Net, Units::Tanh, function_seed(session.seed, function))?;
    let training = lists(&generator, 0..vectors / DOCUMENTS, Counted::Labels)?;
    let valid = lists(&generator, VALID, Counted::Labels)?;
    let test = lists(&generator, TEST, Counted::Labels)?;
    let config = settings(net, &sizes, training_seed(session.seed, function, 0))?;
    let Some(update) = WAYS[way].0 else {
        let used = Arc::new(TrainingData::new(config.scaling, &training, &valid)?);
        let model = train(execution, &job.key, &config, &used, (ticker, (0.0, 1.0)), |_| false)?;
        return Ok(Found {
            test: Tested::of(&model, &test)?,
            valid: Packed::new(model.history.iter().map(|epoch| epoch.valid)),
            best_epoch: model.info.best_epoch,
            last_learning_rate: model.history.last().map_or(f64::NAN, |epoch| epoch.learning_rate),
        });
    };
    descend(&config, update, [&training, &valid, &test], ticker)
}

/// The net that the trainer would start from.
pub fn first_net(config: &TrainConfig, features: usize) -> PairNet {
    let shape = RankerConfig { features, architecture: config.architecture.clone() };
    PairNet::new(features, &config.init.weights(&shape, config.seed))
}

fn shares(net: &PairNet, data: &Dataset) -> anyhow::Result<Vec<f64>> {
    let scores = net.scores(data);
    let values = evaluate(&*parse("pairs")?, &scores, data.labels(), data.offsets(), &Conventions::default())?;
    Ok(values.into_iter().flatten().collect())
}

/// The paper's training with an update per pair: the same rule for steps, the same choice of the epoch.
fn descend(
    config: &TrainConfig,
    update: Update,
    [training, valid, test]: [&Dataset; 3],
    ticker: &Ticker<'_>,
) -> anyhow::Result<Found> {
    let mut net = first_net(config, training.n_features());
    let (mut step, mut last_learning_rate, mut before) = (config.learning_rate, config.learning_rate, f64::INFINITY);
    let (mut best, mut best_epoch, mut best_net) = (f64::NEG_INFINITY, 0, net.clone());
    let mut curve = vec![];
    for epoch in 1..=config.epochs {
        last_learning_rate = step;
        let cost = net.epoch(training, update, step, config.seed, epoch as u64).cost;
        if cost > before {
            step *= 0.5;
        }
        before = cost;
        let value = mean(&shares(&net, valid)?);
        if value > best {
            (best, best_epoch, best_net) = (value, epoch, net.clone());
        }
        curve.push(value);
        ticker.tick(epoch as f64 / config.epochs as f64);
    }
    let tested = shares(&best_net, test)?;
    Ok(Found {
        test: Tested { percent: 100.0 * mean(&tested), lists: Packed::new(tested) },
        valid: Packed::new(curve),
        best_epoch,
        last_learning_rate,
    })
}

fn report(execution: &Execution<'_>, sizes: &Sizes, runs: &[(&Cell, &Found)]) -> anyhow::Result<Report> {
    let of = |net: NetShape, vectors: usize, way: usize| {
        let same = move |cell: &Cell| (cell.net, cell.vectors, cell.way) == (net, vectors, way);
        runs.iter().filter(move |(cell, _)| same(cell)).map(|(_, found)| *found)
    };
    let tests = |net, vectors, way| of(net, vectors, way).map(|found| found.test.percent).collect::<Vec<f64>>();
    let curves =
        |net, vectors, way| of(net, vectors, way).map(|found| 100.0 * mean(found.valid.values())).collect::<Vec<f64>>();
    let mut evidence = vec![];
    let columns = [
        "net",
        "vectors",
        "update",
        "test pairs, %",
        "less per list",
        "validation pairs, mean of all epochs, %",
        "less per list",
        "last step",
    ];
    let title = format!(
        "Pairs of different labels in the right order; mean of {} random nets ± deviation; differences with 95% \
         intervals:",
        sizes.functions
    );
    let mut table = Table::titled(title, &columns);
    let mut largest: f64 = 0.0;
    for (&vectors, net) in sizes.vectors.iter().flat_map(|vectors| NETS.map(|net| (vectors, net))) {
        for (way, (update, name)) in WAYS.iter().enumerate() {
            let gaps = [&tests as &dyn Fn(_, _, _) -> Vec<f64>, &curves]
                .map(|values| less(&values(net, vectors, way), &values(net, vectors, 0)));
            let gap = |gap: &[f64]| match (update, Spread::of(gap)) {
                (Some(_), Some(s)) => format!("{:+.2} ± {:.2}", s.mean, s.half),
                _ => "-".into(),
            };
            let number =
                |values: &[f64]| Spread::of(values).map_or("-".into(), |s| format!("{:.2} ± {:.2}", s.mean, s.sd));
            let averaged = |value: fn(&Found) -> f64| mean(&of(net, vectors, way).map(value).collect::<Vec<f64>>());
            table.row([
                net.name().into(),
                vectors.to_string(),
                name.to_string(),
                number(&tests(net, vectors, way)),
                gap(&gaps[0]),
                number(&curves(net, vectors, way)),
                gap(&gaps[1]),
                burnrank::internal::text::three_digits(averaged(|found| found.last_learning_rate)),
            ]);
            if update.is_some() {
                largest = largest.max(mean(&gaps[0]).abs());
                for (what, gap) in ["test", "curve"].into_iter().zip(gaps) {
                    evidence.push((key(what, net, vectors, name), Evidence::rounded(gap, 2)));
                }
            }
        }
    }
    let went = |(cell, found): &(&Cell, &Found)| {
        let what = format!("{}, {} vectors, {}", cell.net.name(), cell.vectors, WAYS[cell.way].1);
        Went::new(what, found.best_epoch, sizes.epochs)
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
            "A step per list scores each of its documents once and goes back once per document; a step per pair does \
             both twice for each of about a thousand pairs. That is where the difference in time is from; it is \
             measured when this report is written and is not part of what the verdict is of."
                .into(),
        ],
        protocol: vec![
            artificial::data_text(&[Data::Net], sizes.functions),
            format!(
                "Per list: {} Per pair: plain loops with the same first weights, cost, step size 0.001 and rule for \
                 halving; one update after each pair. {} epochs without an early end; validation after each; the \
                 epoch with the most right validation pairs is judged on the test lists. Nets are linear or have five \
                 hidden tanh units.",
                artificial::TRAINING_TEXT,
                sizes.epochs
            ),
            format!(
                "Similar convergence is asked in two ways, each with a margin of ±{MARGIN} points: the test pairs at \
                 the chosen epoch, and the mean over all epochs of the validation pairs, which sees how fast the \
                 curve rises."
            ),
        ],
        deviations: vec![
            "The LambdaRank paper compares on 1,000 queries of web search with 26 documents each and nets of 10 \
             hidden units; here the data and nets are those of Table 1 of the RankNet paper, to which its updates per \
             pair belong."
                .into(),
            artificial::ONE_FUNCTION.into(),
        ],
        figure: figure::draw(&panels(sizes, runs))?,
        ..Report::default()
    })
}

/// The mean validation curves, a panel for each size.
fn panels(sizes: &Sizes, runs: &[(&Cell, &Found)]) -> Vec<Panel> {
    let panel = |&vectors: &usize| {
        let mut series = vec![];
        for (net, (way, (_, name))) in
            NETS.iter().flat_map(|net| WAYS[..2].iter().enumerate().map(move |way| (net, way)))
        {
            let same = |cell: &Cell| (cell.net, cell.vectors, cell.way) == (*net, vectors, way);
            let curves: Vec<&[f64]> =
                runs.iter().filter(|(cell, _)| same(cell)).map(|(_, found)| found.valid.values()).collect();
            let at = |epoch: usize| {
                mean(&curves.iter().filter_map(|curve| curve.get(epoch - 1).copied()).collect::<Vec<_>>())
            };
            let shown = (1..=sizes.epochs).filter(|epoch| *epoch <= 10 || epoch % 10 == 0);
            series.push(Series {
                name: format!("{}, {name}", net.name()),
                whose: Whose::Ours,
                colour: 2 * usize::from(*net == NetShape::TwoLayer) + way,
                joined: true,
                points: shown.map(|epoch| ((epoch as f64).log10(), 100.0 * at(epoch), None)).collect(),
            });
        }
        let marks = [1usize, 3, 10, 30, 100].into_iter().filter(|mark| *mark <= sizes.epochs.max(10));
        Panel {
            title: format!("Random net, {vectors} training vectors"),
            x_label: "epoch".into(),
            y_label: "validation pairs in the right order, %, mean of all functions".into(),
            ticks: marks.map(|mark| ((mark as f64).log10(), mark.to_string())).collect(),
            series,
            ..Panel::default()
        }
    };
    sizes.vectors.iter().map(panel).collect()
}
