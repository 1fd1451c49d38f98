//! LambdaLoss, Table 3: six losses by NDCG@5, with neural rankers in place of the paper's trees.

use crate::harness::figure::{self, Panel, Series, Whose};
use crate::harness::finding::{Finding, no_share, no_step_size};
use crate::harness::{
    Check, Execution, Experiment, Job, Kind, OneEntryCache, Report, Scale, Session, Ticker, export, per_query, train,
};
use anyhow::Context;
use burnrank::analysis::significance::{holm, t_test};
use burnrank::data::{FoldFiles, find_folds};
use burnrank::model::DataInfo;
use burnrank::text::Table;
use burnrank::train::TrainingData;
use burnrank::{Dataset, Model, Objective, ReadOptions, ScaleKind, Summary, Synthetic, TrainConfig, read};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-table3",
    kind: Kind::Paper,
    paper: "Wang et al., The LambdaLoss Framework for Ranking Metric Optimization, 2018: Table 3",
    claim: "By NDCG@5 of test queries, NDCG-Loss2, NDCG-Loss2++ and ARP-Loss1 beat LambdaRank, and NDCG-Loss2 beats \
            NDCG-Loss1 and both ARP losses (boosted trees; YAHOO, WEB10K and WEB30K).",
    time: "about 6 minutes (MQ2007)",
    protocol,
    run,
};

const MEASURE: &str = "ndcg@5";

/// The losses, and the paper's test NDCG@5 in percent on YAHOO, WEB10K and WEB30K; the first is the baseline.
const LOSSES: [(&str, &str, [f64; 3]); 6] = [
    ("LambdaRank", "lambdarank:ndcg@5", [70.36, 42.19, 44.12]),
    ("ARP-Loss1", "arp-loss1", [70.58, 42.88, 44.69]),
    ("ARP-Loss2", "arp-loss2", [70.38, 42.70, 44.13]),
    ("NDCG-Loss1", "ndcg-loss1@5", [70.26, 42.56, 44.04]),
    ("NDCG-Loss2", "ndcg-loss2@5", [70.63, 43.19, 44.94]),
    ("NDCG-Loss2++", "ndcg-loss2++@5:mu=5", [70.72, 42.99, 44.82]),
];
const PAPER_SETS: [&str; 3] = ["YAHOO", "WEB10K", "WEB30K"];

/// What the paper says of Table 3, by places in [`LOSSES`]: the first is above the second on the test queries of all sets.
const ORDERINGS: [(usize, usize); 7] = [(4, 0), (5, 0), (1, 0), (4, 3), (4, 1), (4, 2), (1, 3)];

/// Folders that hold data the paper's table can be asked of, how reports call them, and how many of their folds are used:
/// the paper takes the first fold of the WEB sets.
const REAL: [(&str, &str, usize); 7] = [
    ("mq2007", "MQ2007", 5),
    ("mq2007-part", "MQ2007 (85% of the rows)", 5),
    ("web10k", "WEB10K", 1),
    ("mslr-web10k", "WEB10K", 1),
    ("web30k", "WEB30K", 1),
    ("mslr-web30k", "WEB30K", 1),
    ("yahoo", "YAHOO", 1),
];

const WHERE: &str = "Real data: MQ2007 is part of LETOR 4.0 \
     (https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/), WEB10K and WEB30K are \
     at https://www.microsoft.com/en-us/research/project/mslr/, YAHOO is set 1 of data set C14 of Yahoo's Webscope. Put them \
     into DIR/mq2007/Fold1 to Fold5, DIR/web10k/Fold1, DIR/web30k/Fold1 and DIR/yahoo, each with train.txt, vali.txt and \
     test.txt, and give --data DIR.";

/// One data set with its folds.
struct Set {
    /// Its folder, or `synthetic`.
    key: String,
    name: String,
    folds: Vec<Source>,
}

/// Where a fold comes from.
#[derive(Debug, Clone)]
enum Source {
    Files(FoldFiles),
    Function(u64),
}

/// One loss on one fold.
struct Cell {
    set: usize,
    fold: usize,
    loss: usize,
}

/// NDCG@5 of the chosen step size, mean over seeds.
#[derive(Debug, Serialize, Deserialize)]
struct Found {
    /// A hash of the training data.
    data: String,
    step_size: f64,
    /// Each step size with its mean validation NDCG@5.
    tried: Vec<(f64, f64)>,
    best_epochs: Vec<usize>,
    train: f64,
    valid: f64,
    test: f64,
    /// The mean over seeds for each test query, rounded to six decimals.
    per_query: Vec<f64>,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        let tried = self.tried.iter();
        no_step_size(tried.clone().map(|tried| tried.0).chain([self.step_size]))
            .or_else(|| no_share("a validation NDCG@5", tried.map(|tried| tried.1).chain([self.valid])))
            .or_else(|| no_share("a training NDCG@5", [self.train]))
            .or_else(|| no_share("a test NDCG@5", self.per_query.iter().copied().chain([self.test])))
    }
}

struct Sizes {
    functions: u64,
    queries: [usize; 3],
    step_sizes: &'static [f64],
    seeds: u64,
    epochs: usize,
    folds: usize,
}

fn sizes(scale: Scale) -> Sizes {
    match scale {
        Scale::Paper => Sizes {
            functions: 2,
            queries: [600, 300, 1_000],
            step_sizes: &[1e-4, 3e-4, 1e-3, 3e-3, 1e-2],
            seeds: 3,
            epochs: 100,
            folds: 5,
        },
        Scale::Quick => {
            Sizes { functions: 1, queries: [150, 100, 300], step_sizes: &[3e-3, 1e-2], seeds: 1, epochs: 12, folds: 1 }
        }
    }
}

/// The tool's default: two layers, ten tanh hidden units, Adam, ten queries per batch.
fn config(loss: usize, sizes: &Sizes, learning_rate: f64, seed: u64) -> anyhow::Result<TrainConfig> {
    Ok(TrainConfig {
        objective: Objective::parse(LOSSES[loss].1)?,
        scaling: ScaleKind::None,
        metric: MEASURE.into(),
        epochs: sizes.epochs,
        learning_rate,
        seed,
        ..TrainConfig::default()
    })
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "synthetic": {"queries": sizes.queries, "data": Synthetic::lambdarank()},
        "step_sizes": sizes.step_sizes,
        "seeds": sizes.seeds,
        "losses": LOSSES.map(|(_, objective, _)| objective),
        "config": config(0, &sizes, sizes.step_sizes[0], session.seed)?,
    }))
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let sets = find_sets(execution.session.data.as_deref(), &sizes)?;
    let mut jobs = vec![];
    for (number, set) in sets.iter().enumerate() {
        for fold in 0..set.folds.len() {
            for (loss, (name, ..)) in LOSSES.iter().enumerate() {
                let key = format!("{} fold {} {name}", set.key, fold + 1).to_lowercase();
                jobs.push(Job { key, work: 1.0, what: Cell { set: number, fold, loss } });
            }
        }
    }
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let source = &sets[job.what.set].folds[job.what.fold];
        let parts = kept.get((job.what.set, job.what.fold), || load(execution, &sizes, source))?;
        run_cell(execution, &sizes, job, source, &parts, ticker)
    })?;
    let runs: Vec<(&Cell, &Found)> = jobs.iter().map(|job| &job.what).zip(&found).collect();
    report(execution, &sizes, &sets, &runs)
}

/// What there is of the real data, and the artificial data.
fn find_sets(folder: Option<&Path>, sizes: &Sizes) -> anyhow::Result<Vec<Set>> {
    let mut sets = vec![];
    for (key, name, folds) in REAL {
        let Some(folder) = folder.and_then(|folder| subfolder(folder, key)) else { continue };
        let files = find_folds(&folder).with_context(|| format!("data set {name}"))?;
        let folds = files.into_iter().take(folds.min(sizes.folds)).map(Source::Files).collect();
        sets.push(Set { key: key.into(), name: name.into(), folds });
    }
    let folds = (0..sizes.functions).map(Source::Function).collect();
    sets.push(Set { key: "synthetic".into(), name: "cubic polynomials".into(), folds });
    Ok(sets)
}

fn subfolder(folder: &Path, name: &str) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut found = entries.flatten().filter(|entry| entry.file_name().eq_ignore_ascii_case(name));
    found.next().map(|entry| entry.path()).filter(|path| path.is_dir())
}

/// Training, validation and test queries with raw features, what is trained on, and a hash of the training data.
struct Parts {
    sets: [Dataset; 3],
    scaling: ScaleKind,
    data: Arc<TrainingData<'static>>,
    hash: String,
}

fn load(execution: &Execution<'_>, sizes: &Sizes, source: &Source) -> anyhow::Result<Parts> {
    let (mut sets, scaling) = match source {
        Source::Function(function) => {
            let [train, valid, test] = sizes.queries;
            let seed = execution.session.seed.wrapping_mul(1_000).wrapping_add(*function);
            let generator = Synthetic { seed, ..Synthetic::lambdarank() }.generator()?;
            let part = |from: usize, n: usize| generator.part(from..from + n).map(|part| part.0);
            ([part(0, train)?, part(train, valid)?, part(train + valid, test)?], ScaleKind::None)
        }
        Source::Files(files) => {
            let set = |path: &Path| read(path, &ReadOptions::default()).map(|report| report.data);
            ([set(&files.train)?, set(&files.vali)?, set(&files.test)?], ScaleKind::Log1pZScore)
        }
    };
    let width = sets.iter().map(Dataset::n_features).max().unwrap_or(0);
    sets = sets.map(|set| set.with_width(width));
    let hash = DataInfo::of("", &sets[0]).fingerprint;
    let data = Arc::new(TrainingData::new(scaling, sets[0].clone(), sets[1].clone())?);
    Ok(Parts { sets, scaling, data, hash })
}

/// Trains with every step size and seed; the step size of the best mean validation NDCG@5 is judged.
fn run_cell(
    execution: &Execution<'_>,
    sizes: &Sizes,
    job: &Job<Cell>,
    source: &Source,
    Parts { sets, scaling, data, hash }: &Parts,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Found> {
    let mut tried: Vec<(f64, f64)> = vec![];
    let (mut step_size, mut best): (f64, Vec<Model>) = (f64::NAN, vec![]);
    let trainings = sizes.step_sizes.len() as f64 * sizes.seeds as f64;
    for (number, &step) in sizes.step_sizes.iter().enumerate() {
        let mut models = vec![];
        for seed in 0..sizes.seeds {
            let done = (number as u64 * sizes.seeds + seed) as f64;
            let own = execution.session.seed.wrapping_mul(1_000).wrapping_add(seed);
            let config = TrainConfig { scaling: *scaling, ..config(job.what.loss, sizes, step, own)? };
            let key = format!("{} step {step} seed {seed}", job.key);
            let share = (ticker, (done / trainings, (done + 1.0) / trainings));
            models.push(train(execution, &key, &config, data, share, |_| false)?);
        }
        let values = models.iter().map(|model| model.best_value().unwrap_or(f64::NAN));
        let value = values.sum::<f64>() / models.len() as f64;
        if tried.iter().all(|(_, other)| value > *other) {
            (step_size, best) = (step, models);
        }
        tried.push((step, value));
    }
    let mut means: Vec<Vec<f64>> = vec![];
    for set in sets {
        let mut sum = vec![0.0; set.n_queries()];
        for model in &best {
            let values = per_query(model, set, MEASURE)?;
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / best.len() as f64);
        }
        means.push(sum);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    if let (Source::Function(0), "NDCG-Loss2++", Some(model)) = (source, LOSSES[job.what.loss].0, best.first()) {
        let text = "random cubic polynomial, WEB_MIX labels";
        let value = mean(&per_query(model, &sets[2], MEASURE)?);
        let used = [("train", text, &sets[0]), ("valid", text, &sets[1]), ("test", text, &sets[2])];
        export(execution, "lambdaloss-table3", model, &used, [(MEASURE.to_owned(), value)])?;
    }
    Ok(Found {
        data: hash.clone(),
        step_size,
        tried,
        best_epochs: best.iter().map(|model| model.info.best_epoch).collect(),
        train: mean(&means[0]),
        valid: mean(&means[1]),
        test: mean(&means[2]),
        per_query: means[2].iter().map(|value| (value * 1e6).round() / 1e6).collect(),
    })
}

/// What a loss does on a set: train, validation and test NDCG@5 in percent, mean over folds, and each test query of all
/// folds.
struct Column {
    means: [f64; 3],
    queries: Vec<f64>,
}

fn column(runs: &[(&Cell, &Found)], set: usize, loss: usize) -> Column {
    let chosen: Vec<&Found> =
        runs.iter().filter(|(cell, _)| cell.set == set && cell.loss == loss).map(|(_, found)| *found).collect();
    let mean = |value: fn(&Found) -> f64| 100.0 * chosen.iter().map(|f| value(f)).sum::<f64>() / chosen.len() as f64;
    Column {
        means: [mean(|f| f.train), mean(|f| f.valid), mean(|f| f.test)],
        queries: chosen.iter().flat_map(|found| &found.per_query).map(|value| 100.0 * value).collect(),
    }
}

fn differences(a: &Column, b: &Column) -> Vec<f64> {
    a.queries.iter().zip(&b.queries).map(|(a, b)| a - b).collect()
}

fn report(execution: &Execution<'_>, sizes: &Sizes, sets: &[Set], runs: &[(&Cell, &Found)]) -> anyhow::Result<Report> {
    let (mut tables, mut checks, mut panels) = (vec![paper_table()], vec![], vec![]);
    let (mut hold, mut reversed) = (0, 0);
    for (number, set) in sets.iter().enumerate() {
        let columns: Vec<Column> = (0..LOSSES.len()).map(|loss| column(runs, number, loss)).collect();
        tables.push(set_table(set, &columns, runs, number));
        let p: Vec<f64> = ORDERINGS
            .iter()
            .map(|&(a, b)| t_test(&differences(&columns[a], &columns[b])).map_or(f64::NAN, |test| test.p))
            .collect();
        for (&(a, b), p) in ORDERINGS.iter().zip(holm(&p)) {
            let gap =
                Summary::of(&differences(&columns[a], &columns[b]).into_iter().map(Some).collect::<Vec<_>>()).mean;
            let word = match (p < 0.05, gap > 0.0) {
                (true, true) => "holds",
                (true, false) => "reversed",
                _ => "undecided",
            };
            hold += usize::from(word == "holds");
            reversed += usize::from(word == "reversed");
            let paper: Vec<String> = (0..3).map(|i| format!("{:+.2}", LOSSES[a].2[i] - LOSSES[b].2[i])).collect();
            checks.push(Check {
                claim: format!("{}: {} above {}", set.name, LOSSES[a].0, LOSSES[b].0),
                paper: paper.join(", "),
                ours: format!("{gap:+.2}, p = {p:.3}: {word}"),
                holds: word == "holds",
            });
        }
        panels.push(panel(set, &columns));
    }
    let mut notes = vec![format!(
        "A statement holds when the difference has the paper's sign and a paired t-test over the test queries of all folds \
         has p < 0.05 after Holm's correction for the {} statements about a data set; it is reversed when the opposite is as \
         sure, else undecided.",
        ORDERINGS.len()
    )];
    if sets.len() == 1 {
        notes.push(format!("No real data was given, so only the artificial part was run. {WHERE}"));
    } else {
        notes.push(WHERE.into());
    }
    Ok(Report {
        main: format!("of {} orderings {hold} hold, {reversed} are reversed, the rest is undecided", checks.len()),
        protocol: protocol_text(sizes, sets),
        deviations: deviations(execution.scale()),
        notes,
        tables,
        checks,
        figure: figure::draw(&panels)?,
    })
}

fn paper_table() -> Table {
    let columns = ["loss", "YAHOO", "WEB10K", "WEB30K"];
    let mut table = Table::titled(
        "The paper, boosted trees (RankLib; LambdaRank is its LambdaMART), NDCG@5 of the test queries in percent:",
        &columns,
    );
    for (name, _, values) in LOSSES {
        let cells = values.iter().enumerate().map(|(i, value)| format!("{value:.2} ({:+.2})", value - LOSSES[0].2[i]));
        table.row([name.to_owned()].into_iter().chain(cells));
    }
    table
}

fn set_table(set: &Set, columns: &[Column], runs: &[(&Cell, &Found)], number: usize) -> Table {
    let queries = columns[0].queries.len();
    let title = format!(
        "Here, {}: NDCG@5 in percent, mean over {} fold(s) and over seeds; {queries} test queries:",
        set.name,
        set.folds.len()
    );
    let head = ["loss", "train", "validation", "test", "test less LambdaRank", "p (t-test)", "step sizes by fold"];
    let mut table = Table::titled(title, &head);
    for (loss, column) in columns.iter().enumerate() {
        let gaps = differences(column, &columns[0]);
        let summary = Summary::of(&gaps.iter().copied().map(Some).collect::<Vec<_>>());
        let (gap, p) = match loss {
            0 => ("-".to_owned(), "-".to_owned()),
            _ => (
                format!("{:+.2} ± {:.2}", summary.mean, summary.interval.1 - summary.mean),
                t_test(&gaps).map_or("-".into(), |test| format!("{:.3}", test.p)),
            ),
        };
        let chosen = runs.iter().filter(|(cell, _)| cell.set == number && cell.loss == loss);
        let steps: Vec<String> = chosen.map(|(_, found)| found.step_size.to_string()).collect();
        let means = column.means.map(|mean| format!("{mean:.2}"));
        let row = [LOSSES[loss].0.to_owned()].into_iter().chain(means).chain([gap, p, steps.join(", ")]);
        table.row(row);
    }
    table
}

fn panel(set: &Set, columns: &[Column]) -> Panel {
    let ours = (1..LOSSES.len()).map(|loss| {
        let gaps: Vec<Option<f64>> = differences(&columns[loss], &columns[0]).into_iter().map(Some).collect();
        let Summary { mean, interval, .. } = Summary::of(&gaps);
        (loss as f64, mean, Some(interval).filter(|ends| ends.0.is_finite()))
    });
    let mut series: Vec<Series> = (0..PAPER_SETS.len())
        .map(|i| Series {
            name: format!("paper, trees, {}", PAPER_SETS[i]),
            whose: Whose::Paper,
            colour: i + 1,
            joined: false,
            points: (1..LOSSES.len()).map(|loss| (loss as f64, LOSSES[loss].2[i] - LOSSES[0].2[i], None)).collect(),
        })
        .collect();
    let name = "here, nets, 95% interval".into();
    series.push(Series { name, whose: Whose::Ours, colour: 0, joined: false, points: ours.collect() });
    Panel {
        title: set.name.clone(),
        x_label: "loss".into(),
        y_label: "test NDCG@5 less LambdaRank's, points".into(),
        ticks: (1..LOSSES.len()).map(|loss| (loss as f64, LOSSES[loss].0.to_owned())).collect(),
        series,
        zero: Some(0.0),
        ..Panel::default()
    }
}

fn protocol_text(sizes: &Sizes, sets: &[Set]) -> Vec<String> {
    let [train, valid, test] = sizes.queries;
    let names: Vec<String> = sets.iter().map(|set| format!("{} in {} fold(s)", set.name, set.folds.len())).collect();
    vec![
        format!(
            "Data: {}. An artificial fold is one random cubic polynomial with {train} training, {valid} validation and {test} \
             test queries of 50 documents and the labels 0 to 4 in realistic shares. Features of real data: logarithm, then zero \
             mean and unit variance of the training split.",
            names.join("; ")
        ),
        format!(
            "Training: two-layer net of ten tanh hidden units, Adam, ten queries per batch, up to {} epochs, ended after 20 \
             without a better validation NDCG@5; the best epoch counts. NDCG losses are truncated at 5 as in the paper's \
             equation 18; ARP losses take all pairs; mu is 5.",
            sizes.epochs
        ),
        format!(
            "The one rule for hyper-parameters: for each fold and loss, of the step sizes {:?} the one with the highest \
             validation NDCG@5, mean over {} seed(s). Test queries are looked at once, with the chosen step size. A query with \
             nothing relevant counts 0, equal scores are ranked pessimistically.",
            sizes.step_sizes, sizes.seeds
        ),
    ]
}

fn deviations(scale: Scale) -> Vec<String> {
    let mut all = vec![
        "Neural rankers instead of boosted trees: the question is which of the paper's orderings are about the losses.".into(),
        "LambdaMART's place is taken by LambdaRank with the same net as all others.".into(),
        "MQ2007 and artificial data instead of the paper's sets, where a user does not give these; paper and experiment never \
         share a data set then, and only orderings are compared."
            .into(),
        "The t-test is over the per-query mean of several seeds, on test queries only.".into(),
    ];
    if scale == Scale::Quick {
        all.push("Quick: few queries, epochs and step sizes, one seed.".into());
    }
    all
}
