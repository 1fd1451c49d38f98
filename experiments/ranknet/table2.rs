//! RankNet, Table 2: training with and without ties.

use super::artificial::{
    self, Counted, DOCUMENTS, Data, TEST, TRAINING_TEXT, Tested, Units, VALID, architecture, cell, config,
    function_seed, generator, lists, pairs, point, training_seed,
};
use crate::harness::figure::{self, Panel, Series, mean_point, numbered};
use crate::harness::finding::{Finding, no_epoch, outside};
use crate::harness::trainings::{self, Went};
use crate::harness::units::less;
use crate::harness::{
    Claim, Control, Evidence, Execution, Experiment, Headline, Job, NetShape, Paper, Report, Scale, Session, Spread,
    Test, Ticker, train,
};
use burnrank::internal::text::{Table, count};
use burnrank::train::TrainingData;
use burnrank::{Objective, TrainConfig};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "ranknet-table2",
    paper: Paper::RankNet,
    place: "Table 2 and section 5.2",
    claim: "On the data of a random polynomial, training on ties (target probability 1/2) makes little difference: at most 0.2 \
            points of test accuracy, for 100 to 5,000 training vectors.",
    short: "Training on ties makes little difference.",
    headlines: &[Headline::new(
        "Training on ties makes little difference, for 100 to 5,000 training vectors",
        &["ties *"],
    )],
    number: ("ties 5000", "5,000 vectors, ties minus none, points"),
    time: "about 4 minutes",
    unit: "random polynomial",
    convention: "tanh units; validation and test by pairs of different labels; each tie once, with target probability 1/2",
    claims,
    protocol,
    run,
    ..Experiment::BASE
};

/// A row of the paper's table: vectors, then test accuracy and training pairs without and with ties.
struct Row {
    vectors: usize,
    percent: [f64; 2],
    pairs: [u64; 2],
}

const PAPER: [Row; 4] = [
    Row { vectors: 100, percent: [59.5, 59.6], pairs: [2_060, 2_450] },
    Row { vectors: 500, percent: [67.0, 66.9], pairs: [10_282, 12_250] },
    Row { vectors: 1_000, percent: [68.1, 68.2], pairs: [20_452, 24_500] },
    Row { vectors: 5_000, percent: [69.0, 68.8], pairs: [101_858, 122_500] },
];

/// Margin of "little difference" in points of test accuracy: 2.5 times the largest difference in the paper's table.
const MARGIN: f64 = 0.5;
/// Names of training without and with ties, part of keys.
const NAMES: [&str; 2] = ["no ties", "all ties"];

struct Sizes {
    rows: &'static [Row],
    functions: u64,
    epochs: usize,
}

fn sizes(scale: Scale) -> Sizes {
    scale
        .pick(Sizes { rows: &PAPER, functions: 20, epochs: 100 }, Sizes { rows: &PAPER[..3], functions: 2, epochs: 10 })
}

fn claims(session: &Session) -> Vec<Claim> {
    let mut claims = vec![];
    let rows = sizes(session.scale).rows;
    for Row { vectors, percent, .. } in rows {
        let statement = format!("{vectors} vectors: all ties minus no ties, points of test accuracy");
        let paper = [percent[1] - percent[0]];
        let test = Test::Equivalent { margin: MARGIN };
        claims.push(Claim::new(format!("ties {vectors}"), statement, test).gaps(paper, 1));
    }
    for (Row { vectors, percent, .. }, ties) in rows.iter().flat_map(|row| [(row, 0), (row, 1)]) {
        let (id, paper) = (format!("cell {vectors} {}", NAMES[ties]), percent[ties]);
        let statement = format!("{vectors} vectors, {}: test accuracy, %", NAMES[ties]);
        claims.push(Claim::new(id, statement, Test::Number { paper }).paper(format!("{paper:.1}")));
    }
    for Row { vectors, pairs: [without, with], .. } in rows {
        let statement = format!("{vectors} vectors: training pairs without ties");
        let test = Test::Number { paper: *without as f64 };
        let paper = count(*without as usize);
        claims.push(Claim::new(format!("pairs {vectors}"), statement, test).paper(paper));
        let statement = format!("{vectors} vectors in lists of {DOCUMENTS}: training pairs with ties");
        let all = Claim::new(format!("all pairs {vectors}"), statement, Test::Fact);
        claims.push(all.paper(count(*with as usize)));
    }
    claims
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    let seed = training_seed(session.seed, 0, 0);
    Ok(json!({
        "functions": sizes.functions,
        "vectors": sizes.rows.iter().map(|row| row.vectors).collect::<Vec<_>>(),
        "no_ties": settings(false, &sizes, seed)?,
        "all_ties": settings(true, &sizes, seed)?,
    }))
}

fn settings(ties: bool, sizes: &Sizes, seed: u64) -> anyhow::Result<TrainConfig> {
    let config = config(architecture(NetShape::TwoLayer, 10, Units::Tanh), sizes.epochs, seed)?;
    Ok(match ties {
        true => TrainConfig { objective: Objective::parse("ranknet:ties")?, ..config },
        false => config,
    })
}

struct Cell {
    vectors: usize,
    ties: bool,
    function: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct TieRun {
    test: Tested,
    valid: f64,
    best_epoch: usize,
    epochs: usize,
    /// Number of training pairs without and with ties.
    pairs: [u64; 2],
    /// Number of pairs visited in the first epoch; a tie is two pairs with half the weight each.
    visited: u64,
}

impl Finding for TieRun {
    fn impossible(&self) -> Option<String> {
        outside("a percentage of pairs", 0.0..=100.0, [self.test.percent, self.valid])
            .or_else(|| no_epoch(self.best_epoch, self.epochs))
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let mut jobs = vec![];
    for function in 0..sizes.functions {
        for (row, ties) in sizes.rows.iter().flat_map(|row| [(row, false), (row, true)]) {
            let (vectors, name) = (row.vectors, NAMES[usize::from(ties)]);
            let key = format!("{vectors} {name} function {function}");
            let work = (vectors / DOCUMENTS + 20) as f64;
            jobs.push(Job { key, work, what: Cell { vectors, ties, function } });
        }
    }
    let results = execution.run_all(&jobs, |job, ticker| run_cell(execution, job, ticker))?;
    let runs: Vec<(&Cell, &TieRun)> = jobs.iter().map(|job| &job.what).zip(&results).collect();
    report(&sizes, &runs)
}

fn run_cell(execution: &Execution<'_>, job: &Job<Cell>, ticker: &Ticker<'_>) -> anyhow::Result<TieRun> {
    let Cell { vectors, ties, function } = job.what;
    let (session, sizes) = (execution.session, sizes(execution.scale()));
    let generator = generator(Data::Polynomial, Units::Tanh, function_seed(session.seed, function))?;
    let training = lists(&generator, 0..vectors / DOCUMENTS, Counted::Labels)?;
    let valid = lists(&generator, VALID, Counted::Labels)?;
    let config = settings(ties, &sizes, training_seed(session.seed, function, 0))?;
    let data = Arc::new(TrainingData::new(config.scaling, &training, &valid)?);
    let model = train(execution, &job.key, &config, &data, (ticker, (0.0, 1.0)), |_| false)?;
    Ok(TieRun {
        test: Tested::of(&model, &lists(&generator, TEST, Counted::Labels)?)?,
        valid: 100.0 * model.best_value().unwrap_or(f64::NAN),
        best_epoch: model.info.best_epoch,
        epochs: model.history.len(),
        pairs: [pairs(&training), (training.n_documents() * (DOCUMENTS - 1) / 2) as u64],
        visited: model.history.first().map_or(0, |epoch| epoch.effective_pairs),
    })
}

fn report(sizes: &Sizes, runs: &[(&Cell, &TieRun)]) -> anyhow::Result<Report> {
    let of = |vectors: usize, ties: usize| {
        let same = move |cell: &Cell| (cell.vectors, usize::from(cell.ties)) == (vectors, ties);
        runs.iter().filter(move |(cell, _)| same(cell)).map(|(_, run)| *run)
    };
    let percents = |vectors: usize, ties: usize| of(vectors, ties).map(|run| run.test.percent).collect::<Vec<_>>();
    let gap = |vectors: usize| less(&percents(vectors, 1), &percents(vectors, 0));
    let counted = |vectors: usize| of(vectors, 0).map(|run| run.pairs[0] as f64).collect::<Vec<_>>();
    let mut evidence = vec![];
    let columns = ["vectors", "no ties: paper", "here", "all ties: paper", "here", "difference: paper", "here"];
    let title = format!(
        "Test accuracy on pairs of different labels in percent; mean over {} random polynomials ± standard deviation (z of the \
         paper's number); differences with 95% intervals:",
        sizes.functions
    );
    let mut table = Table::titled(title, &columns);
    let mut largest: f64 = 0.0;
    for Row { vectors, percent, pairs } in sizes.rows {
        let gap = gap(*vectors);
        let difference = Spread::of(&gap).map_or("-".into(), |s| format!("{:+.2} ± {:.2}", s.mean, s.half));
        largest = largest.max(crate::harness::units::mean(&gap).abs());
        let ours = |ties: usize| cell(percent[ties], &percents(*vectors, ties));
        let paper = |ties: usize| format!("{:.1}", percent[ties]);
        let theirs = format!("{:+.1}", percent[1] - percent[0]);
        table.row([vectors.to_string(), paper(0), ours(0), paper(1), ours(1), theirs, difference]);
        evidence.push((format!("ties {vectors}"), Evidence::rounded(gap, 2)));
        for (ties, name) in NAMES.iter().enumerate() {
            evidence.push((format!("cell {vectors} {name}"), Evidence::rounded(percents(*vectors, ties), 2)));
        }
        evidence.push((format!("pairs {vectors}"), Evidence::rounded(counted(*vectors), 0)));
        let all = of(*vectors, 0).next().map_or(0, |run| run.pairs[1]);
        evidence.push((format!("all pairs {vectors}"), Evidence::fact(all == pairs[1], count(all as usize))));
    }
    let visits_all = |(cell, run): &&(&Cell, &TieRun)| {
        let [ordered, all] = run.pairs;
        run.visited == if cell.ties { ordered + 2 * (all - ordered) } else { ordered }
    };
    let went = |(cell, run): &(&Cell, &TieRun)| {
        Went::new(format!("{}, {} vectors", NAMES[usize::from(cell.ties)], cell.vectors), run.best_epoch, sizes.epochs)
    };
    let (right, all) = (runs.iter().filter(visits_all).count(), runs.len());
    Ok(Report {
        evidence,
        controls: vec![Control {
            description:
                "training visits all pairs of different labels, and each tie in both orders with half the weight"
                    .into(),
            expected: format!("{all} of {all} runs"),
            ours: format!("{right} of {all} runs"),
            holds: right == all,
        }],
        main: format!("largest mean difference by ties: {largest:.2} points of test accuracy (paper: 0.2)"),
        tables: vec![table, trainings::table(&runs.iter().map(went).collect::<Vec<_>>())],
        notes: vec![
            "The cells are those of the polynomial block of Table 1 with ten hidden units: as there (experiment ranknet-table1), \
             accuracies on pairs by label are higher than the paper's, with and without ties, which is unexplained. The paper's \
             conclusion, and the verdict, are about the difference."
                .into(),
            format!(
                "The margin of ±{MARGIN} points is 2.5 times the largest difference in the paper's table."
            ),
        ],
        protocol: vec![
            artificial::data_text(&[Data::Polynomial], sizes.functions),
            format!(
                "{TRAINING_TEXT} With ties, each pair of equal labels has target probability 1/2. Ten hidden tanh units; {} epochs; \
                 the best epoch by validation pairs is evaluated on the test lists. Both kinds of training have the same initial \
                 weights and order of lists.",
                sizes.epochs
            ),
        ],
        deviations: artificial::deviations(&[Data::Polynomial], &[NetShape::TwoLayer]),
        figure: figure::draw(&[panel(sizes, &percents), gap_panel(sizes, &gap)])?,
        ..Report::default()
    })
}

fn panel(sizes: &Sizes, percents: &dyn Fn(usize, usize) -> Vec<f64>) -> Panel {
    let mut series = vec![];
    for (ties, name) in NAMES.iter().enumerate() {
        let rows = || sizes.rows.iter().enumerate();
        let theirs = rows().map(|(i, row)| (i as f64, row.percent[ties], None));
        let ours = rows().map(|(i, row)| point(i as f64, &percents(row.vectors, ties)));
        series.push(Series::papers(format!("{name}, paper"), ties, theirs));
        series.push(Series::ours(format!("{name}, here"), ties, ours));
    }
    Panel {
        title: "Random polynomial, ten hidden units".into(),
        x_label: "training vectors".into(),
        y_label: "test pairs in the right order, %".into(),
        ticks: numbered(sizes.rows.iter().map(|row| row.vectors)),
        series,
        bars: "± one standard deviation over functions",
        ..Panel::default()
    }
}

fn gap_panel(sizes: &Sizes, gap: &dyn Fn(usize) -> Vec<f64>) -> Panel {
    let rows = || sizes.rows.iter().enumerate();
    let ours = rows().map(|(i, row)| mean_point(i as f64, &gap(row.vectors)));
    let theirs = rows().map(|(i, row)| (i as f64, row.percent[1] - row.percent[0], None));
    let edge = |margin: f64| rows().map(move |(i, _)| (i as f64, margin, None));
    Panel {
        title: "All ties minus no ties".into(),
        x_label: "training vectors".into(),
        y_label: "difference, points".into(),
        ticks: numbered(sizes.rows.iter().map(|row| row.vectors)),
        series: vec![
            Series::ours("here", 0, ours),
            Series::papers("paper", 0, theirs).unjoined(),
            Series::papers("margin, upper", 5, edge(MARGIN)),
            Series::papers("margin, lower", 5, edge(-MARGIN)),
        ],
        zero: Some(0.0),
        ..Panel::default()
    }
}
