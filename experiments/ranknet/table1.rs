//! RankNet, Table 1: how many pairs of artificial documents are ordered right, by the size of the training set.

use crate::harness::figure::{self, Panel, Series, Whose};
use crate::harness::finding::{Finding, no_epoch, outside};
use crate::harness::{
    Check, Execution, Experiment, Job, Kind, NetShape, Report, Scale, Session, Ticker, export, per_query, train,
};
use burnrank::data::synthetic::{Generator, Target, TargetActivation};
use burnrank::text::Table;
use burnrank::train::TrainingData;
use burnrank::{
    Activation, Architecture, Dataset, Init, Objective, OptimizerKind, ScaleKind, StepRule, Summary, Synthetic,
    TrainConfig,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::Arc;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "ranknet-table1",
    kind: Kind::Paper,
    paper: "Burges et al., Learning to Rank using Gradient Descent, 2005: Table 1",
    claim: "Test pairs ordered right, by the number of training vectors: on a random net's data a two-layer net goes from \
            82% (100 vectors) to 97.7% (12,500), past a linear one's 90.1%; on a random cubic polynomial's both stay near 69%.",
    time: "about 2 minutes",
    protocol,
    run,
};

/// The paper's table: data, net, and the percentage of pairs for each size.
const PAPER: [(Data, NetShape, [f64; 4]); 4] = [
    (Data::Net, NetShape::Linear, [82.39, 88.86, 89.91, 90.06]),
    (Data::Net, NetShape::TwoLayer, [82.29, 88.80, 96.94, 97.67]),
    (Data::Polynomial, NetShape::Linear, [59.63, 66.68, 68.30, 69.00]),
    (Data::Polynomial, NetShape::TwoLayer, [59.54, 66.97, 68.56, 69.27]),
];
const SIZES: [usize; 4] = [100, 500, 2_500, 12_500];
const DOCUMENTS: usize = 50;
/// Queries for validation and test: 5,000 vectors each.
const VALID: Range<usize> = 800..900;
const TEST: Range<usize> = 900..1000;
/// A cell counts as reproduced within this many points of the paper's.
const TOLERANCE: f64 = 1.5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Data {
    Net,
    Polynomial,
}

/// The hidden units' function, of the net that makes the data and of the net that learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Units {
    Sigmoid,
    Tanh,
}

/// Which test pairs count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountedPairs {
    /// All pairs of a list, by the continuous target.
    AllPairs,
    /// Pairs of different labels.
    LabelPairs,
}

/// The convention of the verdict: of the four, the one that fits most cells.
const CONVENTION: (Units, CountedPairs) = (Units::Sigmoid, CountedPairs::AllPairs);
const CONVENTIONS: [(Units, CountedPairs); 4] = [
    CONVENTION,
    (Units::Sigmoid, CountedPairs::LabelPairs),
    (Units::Tanh, CountedPairs::AllPairs),
    (Units::Tanh, CountedPairs::LabelPairs),
];

/// How a net is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// As the paper says.
    Paper,
    /// Three times the paper's step size.
    Step,
    /// Adam, and three times as many epochs.
    Adam,
    /// The same, with as many hidden units as the net that made the data.
    AdamTen,
}

/// Other ways, tried on what the paper's way does not reach: net data, two layers, these sizes.
const OTHER_WAYS: [(Way, &str); 3] = [
    (Way::Step, "step size 0.003"),
    (Way::Adam, "Adam, step size 0.01, three times the epochs, weights from ±1/sqrt(inputs)"),
    (Way::AdamTen, "the same with ten hidden units"),
];
const HARD: [usize; 2] = [2_500, 12_500];

/// One cell of the table for one random function.
struct Cell {
    way: Way,
    units: Units,
    data: Data,
    net: NetShape,
    size: usize,
    function: u64,
}

/// What a run finds, in percent of the test pairs.
#[derive(Debug, Serialize, Deserialize)]
struct Found {
    /// All pairs of a list, judged by the continuous target.
    all_pairs: f64,
    /// Pairs of different labels.
    label_pairs: f64,
    valid: f64,
    best_epoch: usize,
    epochs: usize,
    training_pairs: u64,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        outside("a percentage of pairs", 0.0..=100.0, [self.all_pairs, self.label_pairs, self.valid])
            .or_else(|| no_epoch(self.best_epoch, self.epochs))
    }
}

fn functions(scale: Scale) -> u64 {
    scale.pick(6, 2)
}

fn sizes(scale: Scale) -> &'static [usize] {
    scale.pick(&SIZES, &SIZES[..3])
}

/// The paper's settings; the weights and the order of queries follow from the seed.
fn config(way: Way, net: NetShape, units: Units, scale: Scale, seed: u64) -> anyhow::Result<TrainConfig> {
    let paper = TrainConfig {
        objective: Objective::parse("ranknet")?,
        architecture: match net {
            NetShape::Linear => Architecture::Linear,
            NetShape::TwoLayer => Architecture::Mlp {
                hidden: vec![if way == Way::AdamTen { 10 } else { 5 }],
                activation: match units {
                    Units::Sigmoid => Activation::Sigmoid,
                    Units::Tanh => Activation::Tanh,
                },
            },
        },
        init: Init::Paper,
        scaling: ScaleKind::None,
        metric: "pairs".into(),
        epochs: scale.pick(100, 40),
        learning_rate: 0.001,
        optimizer: OptimizerKind::Sgd,
        batch_queries: 1,
        step_rule: StepRule::Halve,
        patience: 0,
        seed,
        ..TrainConfig::default()
    };
    Ok(match way {
        Way::Paper => paper,
        Way::Step => TrainConfig { learning_rate: 0.003, ..paper },
        Way::Adam | Way::AdamTen => TrainConfig {
            optimizer: OptimizerKind::Adam,
            init: Init::Burn,
            learning_rate: 0.01,
            step_rule: StepRule::Constant,
            epochs: 3 * paper.epochs,
            ..paper
        },
    })
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let scale = session.scale;
    Ok(json!({
        "linear": config(Way::Paper, NetShape::Linear, Units::Sigmoid, scale, session.seed)?,
        "two_layer": config(Way::Paper, NetShape::TwoLayer, Units::Sigmoid, scale, session.seed)?,
        "adam": config(Way::Adam, NetShape::TwoLayer, Units::Sigmoid, scale, session.seed)?,
    }))
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let mut jobs = vec![];
    for function in 0..functions(execution.scale()) {
        for &size in sizes(execution.scale()) {
            for (data, net, _) in PAPER {
                for units in [Units::Sigmoid, Units::Tanh] {
                    let cell = Cell { way: Way::Paper, units: units_of(units, data, net), data, net, size, function };
                    let key = format!("{data:?} {net:?} {:?} {size} function {function}", cell.units).to_lowercase();
                    // Validation costs about as much as training on 20 queries.
                    let work = (size / DOCUMENTS + 20) as f64;
                    if cell.units == units {
                        jobs.push(Job { key, work, what: cell });
                    }
                }
            }
            for (way, _) in OTHER_WAYS.into_iter().filter(|_| HARD.contains(&size)) {
                let key = format!("net twolayer sigmoid {size} {way:?} function {function}").to_lowercase();
                let (units, data, net) = (CONVENTION.0, Data::Net, NetShape::TwoLayer);
                let work = (if way == Way::Step { 1 } else { 3 } * (size / DOCUMENTS + 20)) as f64;
                jobs.push(Job { key, work, what: Cell { way, units, data, net, size, function } });
            }
        }
    }
    let found = execution.run_all(&jobs, |job, ticker| run_cell(execution, job, ticker))?;
    let runs: Vec<(&Cell, &Found)> = jobs.iter().map(|job| &job.what).zip(&found).collect();
    report(execution, &runs)
}

/// There are no hidden units in a linear net on a polynomial's data: its runs are the same for both.
fn units_of(units: Units, data: Data, net: NetShape) -> Units {
    if data == Data::Polynomial && net == NetShape::Linear { Units::Sigmoid } else { units }
}

/// Trains one net on one random function and judges the epoch that is best on the validation pairs.
fn run_cell(execution: &Execution<'_>, job: &Job<Cell>, ticker: &Ticker<'_>) -> anyhow::Result<Found> {
    let Cell { way, units, data, net, size, function } = job.what;
    let seed = execution.session.seed.wrapping_mul(1_000).wrapping_add(function);
    let settings = match data {
        Data::Net => {
            let activation = match units {
                Units::Sigmoid => TargetActivation::Sigmoid,
                Units::Tanh => TargetActivation::Tanh,
            };
            Synthetic { target: Target::Net { hidden: 10, activation }, ..Synthetic::net() }
        }
        Data::Polynomial => Synthetic::polynomial(),
    };
    let generator = Synthetic { seed, ..settings }.generator()?;
    let (training, _) = generator.part(0..size / DOCUMENTS)?;
    let valid = by_target(&generator, VALID)?;
    let config = config(way, net, units, execution.scale(), seed)?;
    // As in the paper: until the error on the training set falls to zero.
    let used = Arc::new(TrainingData::new(config.scaling, &training, &valid)?);
    let model = train(execution, &job.key, &config, &used, (ticker, (0.0, 1.0)), |epoch| epoch.train >= 1.0)?;
    let (binned, _) = generator.part(TEST)?;
    let share = |data: &Dataset| -> anyhow::Result<f64> {
        let values = per_query(&model, data, "pairs")?;
        Ok(100.0 * values.iter().sum::<f64>() / values.len() as f64)
    };
    let found = Found {
        all_pairs: share(&by_target(&generator, TEST)?)?,
        label_pairs: share(&binned)?,
        valid: 100.0 * model.best_value().unwrap_or(f64::NAN),
        best_epoch: model.info.best_epoch,
        epochs: model.history.len(),
        training_pairs: training.queries().map(|query| pairs(query.labels)).sum(),
    };
    let largest = Some(&size) == sizes(execution.scale()).last();
    let shown = way == Way::Paper && data == Data::Net && net == NetShape::TwoLayer && units == CONVENTION.0;
    if function == 0 && largest && shown {
        let source = format!("random net of the RankNet paper, seed {seed}");
        let sets = [("train", source.as_str(), &training), ("valid", &source, &valid), ("test", &source, &binned)];
        let values = [("pairs, all by target", found.all_pairs), ("pairs, different bins", found.label_pairs)];
        let values = values.map(|(name, percent)| (name.to_owned(), percent / 100.0));
        export(execution, "ranknet-table1-net", &model, &sets, values)?;
    }
    Ok(found)
}

/// The queries with the place of a document's target in its list as its label, so that every pair counts.
fn by_target(generator: &Generator, queries: Range<usize>) -> anyhow::Result<Dataset> {
    let (data, targets) = generator.part(queries)?;
    let mut labels = Vec::with_capacity(targets.len());
    for list in targets.chunks(DOCUMENTS) {
        labels.extend(list.iter().map(|target| list.iter().filter(|other| *other < target).count() as f32));
    }
    let ids = data.query_ids().iter().map(|id| (id.clone(), DOCUMENTS)).collect();
    Ok(Dataset::new(data.n_features(), data.features().to_vec(), labels, ids)?)
}

/// Pairs of documents with different labels.
fn pairs(labels: &[f32]) -> u64 {
    let later = |i: usize| labels[i + 1..].iter().filter(|label| **label != labels[i]).count() as u64;
    (0..labels.len()).map(later).sum()
}

/// A cell over all random functions, under a convention, trained as the paper says.
fn summary(
    runs: &[(&Cell, &Found)],
    (units, judged): (Units, CountedPairs),
    data: Data,
    net: NetShape,
    size: usize,
) -> Summary {
    let units = units_of(units, data, net);
    let wanted = |cell: &Cell| {
        let Cell { way, units: u, data: d, net: n, size: s, .. } = *cell;
        (way, u, d, n, s) == (Way::Paper, units, data, net, size)
    };
    let value = |found: &Found| match judged {
        CountedPairs::AllPairs => found.all_pairs,
        CountedPairs::LabelPairs => found.label_pairs,
    };
    let values: Vec<Option<f64>> =
        runs.iter().filter(|(cell, _)| wanted(cell)).map(|(_, found)| Some(value(found))).collect();
    Summary::of(&values)
}

/// The standard deviation over functions.
fn spread(summary: &Summary) -> f64 {
    summary.standard_error * (summary.n as f64).sqrt()
}

fn describe((units, judged): (Units, CountedPairs)) -> String {
    let units = format!("{units:?}").to_lowercase();
    match judged {
        CountedPairs::AllPairs => format!("{units} units, all pairs by the continuous target"),
        CountedPairs::LabelPairs => format!("{units} units, pairs of different labels"),
    }
}

fn report(execution: &Execution<'_>, runs: &[(&Cell, &Found)]) -> anyhow::Result<Report> {
    let (scale, sizes) = (execution.scale(), sizes(execution.scale()));
    let mut tables: Vec<Table> = CONVENTIONS.iter().map(|&way| table(runs, way, sizes, functions(scale))).collect();
    tables.insert(1, convention_table(runs, sizes));
    tables.push(ways_table(runs, sizes));
    let checks = checks(runs, CONVENTION, sizes);
    let inside = checks.iter().filter(|check| check.holds).count();
    let counted: Vec<Option<f64>> = runs
        .iter()
        .filter(|(cell, _)| cell.size == 500 && cell.net == NetShape::Linear)
        .map(|(_, found)| Some(found.training_pairs as f64))
        .collect();
    let panels = [Data::Net, Data::Polynomial].map(|data| panel(runs, data, sizes));
    Ok(Report {
        main: format!("{inside} of {} cells within {TOLERANCE} points of the paper", checks.len()),
        protocol: protocol_text(scale),
        deviations: deviations(),
        notes: vec![
            format!(
                "Six bins of equal frequency give {:.0} training pairs for 500 vectors; the paper's Table 2 counts 10,282.",
                Summary::of(&counted).mean
            ),
            "Tanh units and pairs of different labels follow the net rows at all sizes, but not the polynomial rows: with a \
             third of the variance in the linear term, a linear net orders 73% of the label pairs right given enough data, \
             and 1/2 + asin(sqrt(1/3))/pi = 69.6% of all pairs; the paper has 69.0%."
                .into(),
            "The data of the net rows come from ten hidden units, and five learn them, as in the paper: the last table shows \
             what other ways of training reach with 2,500 and more vectors, and what ten hidden units do."
                .into(),
        ],
        tables,
        checks,
        figure: figure::draw(&panels)?,
    })
}

/// The paper's table beside ours under one convention.
fn table(runs: &[(&Cell, &Found)], way: (Units, CountedPairs), sizes: &[usize], functions: u64) -> Table {
    let columns = sizes.iter().flat_map(|size| [format!("{size}: paper"), "here".to_owned()]);
    let columns: Vec<String> = [String::from("data, net")].into_iter().chain(columns).collect();
    let title = format!(
        "Percent of test pairs in the right order; {}{}; mean of {functions} random functions ± their standard deviation:",
        describe(way),
        if way == CONVENTION { " (the convention of the verdict)" } else { "" },
    );
    let mut table = Table::titled(title, &columns);
    for (data, net, paper) in PAPER {
        let cells = sizes.iter().zip(paper).flat_map(|(&size, paper)| {
            let ours = summary(runs, way, data, net, size);
            [format!("{paper:.2}"), format!("{:.2} ± {:.2}", ours.mean, spread(&ours))]
        });
        table.row([name(data, net)].into_iter().chain(cells));
    }
    table
}

fn name(data: Data, net: NetShape) -> String {
    format!("{data:?}, {}", net.name())
}

/// Every cell of 500 vectors and more against the paper's.
fn checks(runs: &[(&Cell, &Found)], way: (Units, CountedPairs), sizes: &[usize]) -> Vec<Check> {
    let mut checks = vec![];
    for (data, net, paper) in PAPER {
        for (&size, paper) in sizes.iter().zip(paper).filter(|(size, _)| **size >= 500) {
            let ours = summary(runs, way, data, net, size).mean;
            checks.push(Check {
                claim: format!("{}, {size} vectors, within {TOLERANCE} points", name(data, net)),
                paper: format!("{paper:.2}"),
                ours: format!("{ours:.2} ({:+.2})", ours - paper),
                holds: (ours - paper).abs() <= TOLERANCE,
            });
        }
    }
    checks
}

/// What was tried: how many cells each convention fits.
fn convention_table(runs: &[(&Cell, &Found)], sizes: &[usize]) -> Table {
    let columns = ["convention", "net data", "polynomial data", "all"];
    let title =
        format!("Conventions that were tried: cells of 500 vectors and more within {TOLERANCE} points of the paper:");
    let mut table = Table::titled(title, &columns);
    for way in CONVENTIONS {
        let all = checks(runs, way, sizes);
        let count = |checks: &[Check]| format!("{} of {}", checks.iter().filter(|c| c.holds).count(), checks.len());
        let (net, polynomial) = all.split_at(all.len() / 2);
        table.row([describe(way), count(net), count(polynomial), count(&all)]);
    }
    table
}

/// What else was tried for the cells that the paper's way does not reach.
fn ways_table(runs: &[(&Cell, &Found)], sizes: &[usize]) -> Table {
    let sizes: Vec<usize> = HARD.into_iter().filter(|size| sizes.contains(size)).collect();
    let columns = [String::from("training")].into_iter().chain(sizes.iter().map(|size| format!("{size} vectors")));
    let title = format!("Other ways to train, for net data and two layers; {}:", describe(CONVENTION));
    let mut table = Table::titled(title, &columns.collect::<Vec<_>>());
    let paper = PAPER[1].2;
    let theirs = sizes.iter().map(|size| {
        let place = SIZES.iter().position(|other| other == size);
        place.map_or(String::new(), |place| format!("{:.2}", paper[place]))
    });
    table.row([String::from("the paper's number")].into_iter().chain(theirs));
    let ours = |way: Way, size: usize| {
        let same = |cell: &Cell| (cell.data, cell.net, cell.units) == (Data::Net, NetShape::TwoLayer, CONVENTION.0);
        let chosen = runs.iter().filter(|(cell, _)| cell.way == way && cell.size == size && same(cell));
        let all = Summary::of(&chosen.map(|(_, found)| Some(found.all_pairs)).collect::<Vec<_>>());
        format!("{:.2} ± {:.2}", all.mean, spread(&all))
    };
    for (way, name) in [(Way::Paper, "the paper's way")].into_iter().chain(OTHER_WAYS) {
        table.row([name.to_owned()].into_iter().chain(sizes.iter().map(|&size| ours(way, size))));
    }
    table
}

fn panel(runs: &[(&Cell, &Found)], data: Data, sizes: &[usize]) -> Panel {
    let mut series = vec![];
    for (of, net, paper) in PAPER.into_iter().filter(|(of, ..)| *of == data) {
        let (colour, name) = (usize::from(net == NetShape::TwoLayer), net.name());
        let place = |index: usize| index as f64;
        let theirs = paper.iter().take(sizes.len()).enumerate().map(|(i, &value)| (place(i), value, None)).collect();
        let ours = sizes.iter().enumerate().map(|(i, &size)| {
            let ours = summary(runs, CONVENTION, of, net, size);
            let spread = spread(&ours);
            (place(i), ours.mean, Some((ours.mean - spread, ours.mean + spread)).filter(|_| spread.is_finite()))
        });
        let ours = ours.collect();
        series.push(Series {
            name: format!("{name}, paper"),
            whose: Whose::Paper,
            colour,
            joined: true,
            points: theirs,
        });
        series.push(Series { name: format!("{name}, here"), whose: Whose::Ours, colour, joined: true, points: ours });
    }
    Panel {
        title: format!("Random {} data", if data == Data::Net { "net" } else { "polynomial" }),
        x_label: "training vectors".into(),
        y_label: "test pairs in the right order, % (± deviation over functions)".into(),
        ticks: sizes.iter().enumerate().map(|(i, size)| (i as f64, size.to_string())).collect(),
        series,
        zero: None,
        ..Panel::default()
    }
}

fn protocol_text(scale: Scale) -> Vec<String> {
    vec![
        format!(
            "Data: {} random functions of each kind; 50 features uniform in [-1, 1]; the net has 10 hidden units and \
             weights uniform in [-1, 1], the polynomial is the mean of a linear, a quadratic and a cubic term of unit \
             variance; lists of 50 documents; six labels by bins of equal frequency. Training vectors are the first lists, \
             validation and test 100 lists (5,000 vectors) each.",
            functions(scale)
        ),
        format!(
            "Training: RankNet with target probabilities 1 on pairs of different labels; linear net, or two layers with five \
             hidden units of the same kind as the data's, first layer from zero, second uniform in [-0.1, 0.1]; plain gradient descent from step \
             size 0.001, halved when the training cost of an epoch is above the one before; {} epochs or until no training \
             pair is wrong; the epoch with the fewest wrong validation pairs is judged on the test lists.",
            scale.pick(100, 40)
        ),
        "One convention for all cells: validation and test count every pair of a list, in the order of the continuous \
         target that the labels are bins of. Equal scores count as wrong."
            .into(),
    ]
}

fn deviations() -> Vec<String> {
    vec![
        "The paper's one function of each kind is not known; several are drawn, and the spread is given.".into(),
        "The paper updates after each pair, here the weights move once per list, by the sum over its pairs at the same step \
         size (the LambdaRank paper, section 6.1, found both to converge alike)."
            .into(),
        "The paper does not say how pairs are judged, which bins it has, or which hidden units: all combinations that were \
         tried are shown."
            .into(),
        "A linear net from zero would score all documents alike and is drawn from [-0.1, 0.1].".into(),
    ]
}
