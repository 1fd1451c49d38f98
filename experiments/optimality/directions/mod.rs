//! Figures 1 to 4 and 6: LambdaRank's weights are a local optimum of the training metric.

mod power;
mod report;

use super::descent::{Net, Sets, Updates};
use super::random_directions::{COARSE, DECIDING, Directions, FINE, RELATIVE, ROUNDING, Steps, try_directions};
use super::setting::{ALL_TRAININGS, EQ11, NDCG, TRAININGS, Training, data, run_all};
use super::tuned::{PATIENT, Schedule, Start, TrainingRecord, train_tuned};
use crate::harness::finding::{Finding, no_share};
use crate::harness::{
    Claim, Evidence, Execution, Experiment, Headline, Job, NetShape, Paper, Report, Runs, Scale, Session, Test, Tested,
    Ticker, claims,
};
use burnrank::Dataset;
use burnrank::analysis::optimality::{CertifyOptions, directions_needed, each_weight};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "optimality-directions",
    paper: Paper::Optimality,
    place: "section 7.1, Figures 1 to 4 and 6, footnote 4",
    claim: "The weights that LambdaRank learns for NDCG, NDCG@10, MAP or MRR are a local optimum of that metric on \
            the training queries: each of 459 random directions lowers it, for nets with one and two layers. Random \
            weights are not such an optimum.",
    short: "LambdaRank finds local optima of NDCG, NDCG@10, MAP and MRR.",
    headlines: &[
        Headline::new(
            "Linear nets: steps of 10% of |w| in 459 random directions never improve NDCG, NDCG@10, MAP or MRR",
            &["10% linear *"],
        ),
        Headline::new(
            "Two-layer nets: steps of 10% of |w| in 459 random directions never improve NDCG, NDCG@10, MAP or MRR",
            &["10% two-layer *"],
        ),
    ],
    number: ("10% linear NDCG", "linear nets for NDCG with 0 of 459"),
    time: "about 15 minutes",
    claims: |session| claims(tested(session.scale)),
    changed: &[
        "Steps are shares of |w|, the norm of the weights, and the step that decides is 10%. Before, steps were the \
         distances 0.1 to 1, whose effect depends on the scale of the features; they are secondary now. That linear \
         nets pass at 10% was known from a trial on the same kind of data when this was chosen.",
        "Two-layer nets have 10,000 training queries instead of 2,000, because the metric of few queries is coarse. \
         Training ends when the learning rate is a hundredth of the initial one instead of a thousandth, and each \
         learning rate is tried for 2 epochs instead of 6, to save time.",
        "MRR is trained in the swap form; Eq. 11 as printed has its own rows.",
        "The share of directions was compared with 1% by its mean over functions. Now it has to be 0 of 459 for every \
         function, as the paper reports it for its nets.",
        "Distances are tried along 50 directions. The best validation epoch is no longer tested, and single weights only of \
         linear nets.",
    ],
    protocol,
    run,
    ..Experiment::BASE
};

const SHAPES: [NetShape; 2] = [NetShape::Linear, NetShape::TwoLayer];
/// Share of directions that the paper's test refutes, and its error probability.
const EPSILON: f64 = 0.01;
/// The paper's learning rates, 1e-7 to 1e-3; extended if the best is at an end.
const RATES: [f64; 5] = [1e-7, 1e-6, 1e-5, 1e-4, 1e-3];
/// Number of directions that are tried with distances and for random weights.
const FIRST: usize = 50;
/// Factors of the features in the demonstration; powers of 2, so that scores are the same numbers.
const FACTORS: [f32; 3] = [0.125, 1.0, 8.0];

#[derive(Serialize)]
struct Sizes {
    functions: u64,
    /// Training and validation queries.
    queries: [usize; 2],
    /// The same for further linear nets of the first function.
    few_queries: [usize; 2],
    schedule: Schedule,
    directions: usize,
    /// For distances, random weights, and the first stage of the power control.
    first: usize,
    features: usize,
}

fn sizes(scale: Scale) -> Sizes {
    // As in the paper, which restarts when "validation accuracy was constant over 50 epochs".
    let schedule = Schedule {
        learning_rates: &RATES,
        extensions: 4,
        search_epochs: 2,
        epochs: 700,
        restart: 50,
        starts: 2,
        constant: true,
        frozen: 1e-2,
        ..PATIENT
    };
    match scale {
        Scale::Paper => Sizes {
            functions: 3,
            queries: [10_000, 2_500],
            few_queries: [2_000, 1_000],
            schedule,
            directions: 459,
            first: FIRST,
            features: 300,
        },
        Scale::Quick => Sizes {
            functions: 2,
            queries: [60, 30],
            few_queries: [20, 10],
            schedule: Schedule { epochs: 20, restart: 10, ..schedule },
            directions: 30,
            first: 10,
            features: 40,
        },
    }
}

/// One net trained on one function's queries.
struct Cell {
    function: u64,
    shape: NetShape,
    training: Training,
    few_queries: bool,
}

impl Cell {
    fn is(&self, shape: NetShape, training: Training) -> bool {
        (self.shape, self.training, self.few_queries) == (shape, training, false)
    }

    /// Whether the power of the test is measured on this net.
    fn has_power_control(&self) -> bool {
        self.function == 0 && self.training.metric == NDCG && !self.few_queries
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct NetResult {
    #[serde(flatten)]
    record: TrainingRecord,
    relative: Directions,
    coarse: Directions,
    fine: Directions,
    random: Directions,
    /// Number of single weights whose change by 10% of the norm raises the metric, and of all weights; linear nets only.
    alone: Option<[usize; 2]>,
    /// Linear nets of the power control: features times a factor, and weights divided by it.
    scaled: Vec<Scaled>,
    power: Vec<power::Point>,
}

/// The same net on features in another unit.
#[derive(Debug, Serialize, Deserialize)]
struct Scaled {
    factor: f32,
    absolute: Directions,
    relative: Directions,
}

impl Finding for NetResult {
    fn impossible(&self) -> Option<String> {
        let more = self.scaled.iter().flat_map(|at| [&at.absolute, &at.relative]);
        let all = [&self.relative, &self.coarse, &self.fine, &self.random].into_iter();
        let mut all = all.chain(more).chain(self.power.iter().map(|point| &point.directions));
        self.record
            .impossible()
            .or_else(|| all.find_map(Directions::impossible))
            .or_else(|| no_share("a share of weights", self.alone.map(|[up, of]| up as f64 / of as f64)))
    }
}

type Results = Runs<Cell, NetResult>;

/// The claims and how they take their evidence.
fn tested(scale: Scale) -> Vec<Tested<Results>> {
    let Sizes { queries: [train, _], .. } = sizes(scale);
    let unit = "random function with its own training queries and net";
    let counted = "A(w) <= A(w + step r) counts, as in the paper; weights of the last epoch, without selection; equal \
                   scores are ranked pessimistically";
    let cells = |trainings: &[Training]| -> Vec<(NetShape, Training)> {
        SHAPES.into_iter().flat_map(|shape| trainings.iter().map(move |&training| (shape, training))).collect()
    };
    let mut all = vec![];
    let mut add = |(shape, training): (NetShape, Training), id: &str, steps: String, test, value: Number| {
        let title = training.title;
        let claim = Claim::new(
            format!("{id} {} {title}", shape.name()),
            format!(
                "{} net, {title}, {train} queries: share of random directions that do not lower {} at {steps}",
                shape.name(),
                training.metric.title
            ),
            test,
        );
        let paper = if training == EQ11 { "see MRR" } else { "0 of 459" };
        let claim = claim.paper(paper).unit(unit).convention(counted);
        all.push(claim.by(move |runs: &Results| {
            let own = |cell: &Cell| cell.is(shape, training);
            Evidence::units(runs.values(own, value))
        }));
    };
    let none = Test::EachAtMost { bound: 0.0 };
    let steps: [(&str, Number); 4] = [
        ("10%", |net| net.relative.share(Some(DECIDING))),
        ("2%", |net| net.relative.share(Some(0.02))),
        ("5%", |net| net.relative.share(Some(0.05))),
        ("20%", |net| net.relative.share(Some(0.2))),
    ];
    for (percent, value) in steps {
        for cell in cells(&ALL_TRAININGS) {
            // Eq. 11 has an id that no headline claim has.
            let id = if cell.1 == EQ11 { format!("as printed, {percent}") } else { percent.to_owned() };
            add(cell, &id, format!("a step of {percent} of |w|"), none, value);
        }
    }
    for cell in cells(&TRAININGS) {
        add(cell, "coarse", "every distance of 0.1 to 1".into(), none, |net| net.coarse.share(None));
    }
    for cell in cells(&TRAININGS) {
        let steps = "every distance of 0.001 to 0.01 (footnote 4)".into();
        add(cell, "fine", steps, Test::AtMost { bound: EPSILON }, |net| net.fine.share(None));
    }
    for training in TRAININGS {
        let statement =
            format!("linear net, {}: share of single weights whose change by ±10% of |w| raises it", training.title);
        let claim = Claim::new(format!("alone linear {}", training.title), statement, none);
        all.push(claim.paper("0: the gradient vanishes at all weights").unit(unit).convention(counted).by(
            move |runs: &Results| {
                let share = |net: &NetResult| net.alone.map_or(0.0, |[up, of]| up as f64 / of as f64);
                Evidence::units(runs.values(|cell| cell.is(NetShape::Linear, training), share))
            },
        ));
    }
    let statement = "K = ceil(ln 0.01 / ln(1 - 0.01)) directions refute a share of 1% at 99% confidence";
    all.push(Claim::new("459", statement, Test::Fact).paper("459").by(|_| {
        let needed = directions_needed(EPSILON, EPSILON).unwrap_or(0);
        Evidence::fact(needed == 459, needed.to_string())
    }));
    all
}

/// A number of one net.
type Number = fn(&NetResult) -> f64;

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "relative": RELATIVE.lengths,
        "factors": FACTORS,
        "trainings": ALL_TRAININGS.map(|training| training.title),
        "power": power::MOVES,
        "data": data(sizes.features, session.seed),
        "sizes": sizes,
    }))
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let mut jobs = vec![];
    let mut add = |function, shape: NetShape, training: Training, few_queries| {
        let few = if few_queries { "few queries " } else { "" };
        let key = format!("function {function} {few}{} {}", shape.name(), training.title).to_lowercase();
        let what = Cell { function, shape, training, few_queries };
        let work = if shape == NetShape::Linear { 1.0 } else { 3.0 } * if few_queries { 0.2 } else { 1.0 };
        jobs.push(Job { key, work: work * if what.has_power_control() { 2.0 } else { 1.0 }, what });
    };
    for function in 0..sizes.functions {
        SHAPES.iter().rev().for_each(|&shape| ALL_TRAININGS.iter().for_each(|&t| add(function, shape, t, false)));
    }
    TRAININGS.iter().for_each(|&training| add(0, NetShape::Linear, training, true));
    let queries = |cell: &Cell| (cell.function, if cell.few_queries { sizes.few_queries } else { sizes.queries });
    let data = |_: &Cell, seed| data(sizes.features, seed);
    let runs = run_all(execution, jobs, data, queries, |cell, sets, seed, ticker| {
        run_cell(execution, &sizes, cell, sets, seed, ticker)
    })?;
    report::report(execution, &sizes, &runs)
}

/// Trains a net with the learning rate chosen on validation queries, and tests its weights.
fn run_cell(
    execution: &Execution<'_>,
    sizes: &Sizes,
    cell: &Cell,
    [train, valid]: &[Dataset; 2],
    seed: u64,
    ticker: &Ticker<'_>,
) -> anyhow::Result<NetResult> {
    let (objective, metric) = (cell.training.objective()?, cell.training.metric);
    let schedule = Schedule { keep: if cell.has_power_control() { &power::EPOCHS } else { &[] }, ..sizes.schedule };
    let device = &execution.session.device;
    let start = Start { shape: cell.shape, seed, updates: Updates::PerQuery, device };
    let (tuned, trained) = train_tuned((&objective, metric), &schedule, start, [train, valid], (ticker, [0.0, 0.6]))?;
    let test = |net: &Net, data: &Dataset, stages: &[usize], steps: Steps| {
        try_directions(net, data, metric, (stages, seed, steps))
    };
    let (all, first) = ([sizes.directions], [sizes.first]);
    let random = Net::random(train.n_features(), cell.shape, seed.wrapping_add(1 << 50), device);
    let relative = test(&trained.last, train, &all, RELATIVE)?;
    ticker.tick(0.8);
    let (mut scaled, mut points) = (vec![], vec![]);
    if cell.has_power_control() {
        let stages = [sizes.first, sizes.directions];
        let test_point = |net: &Net| test(net, train, &stages, power::STEPS);
        points = power::control(&trained, &random, &Sets::new(train, valid)?, (&objective, metric), seed, test_point)?;
        if cell.shape == NetShape::Linear {
            for factor in FACTORS {
                let (net, data) = in_unit(&trained.last, train, factor)?;
                let (absolute, relative) =
                    (test(&net, &data, &all, power::ABSOLUTE)?, test(&net, &data, &all, RELATIVE)?);
                scaled.push(Scaled { factor, absolute, relative });
            }
        }
    }
    let alone = (cell.shape == NetShape::Linear).then(|| rising_weights(&trained.last, train, cell.training));
    Ok(NetResult {
        record: TrainingRecord::new(tuned, &trained),
        relative,
        coarse: test(&trained.last, train, &first, COARSE)?,
        fine: test(&trained.last, train, &first, FINE)?,
        random: test(&random, train, &first, RELATIVE)?,
        alone: alone.transpose()?,
        scaled,
        power: points,
    })
}

/// Features times a factor, and a linear net's weights divided by it: the same scores.
fn in_unit(net: &Net, data: &Dataset, factor: f32) -> anyhow::Result<(Net, Dataset)> {
    let weights = net.weights.iter().map(|weight| weight / factor).collect();
    let features = data.features().iter().map(|x| x * factor).collect();
    let queries = data.queries().map(|query| (query.id.to_owned(), query.labels.len())).collect();
    let data = Dataset::new(data.n_features(), features, data.labels().to_vec(), queries)?;
    Ok((Net { weights, ..net.clone() }, data))
}

/// Number of single weights whose change by 10% of the norm raises the metric, and of all weights.
fn rising_weights(net: &Net, train: &Dataset, training: Training) -> anyhow::Result<[usize; 2]> {
    let options = CertifyOptions { steps: vec![vec![DECIDING]], ..CertifyOptions::default() };
    let metric = training.metric.parse()?;
    let alone = each_weight(&net.ranker()?, train, &*metric, &net.device, &options, &mut |_| ())?;
    let rising = alone.weights.iter().filter(|weight| weight.rise > ROUNDING).count();
    Ok([rising, alone.weights.len()])
}
