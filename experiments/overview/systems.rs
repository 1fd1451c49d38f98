//! Every system in one table: nets, trees and the papers' rivals, on the same folds, tuned alike, judged by the same code.

use crate::harness::dots::{self, Dot};
use crate::harness::finding::{Finding, no_share};
use crate::harness::real::{self, MQ2007, MQ2008, RealSet};
use crate::harness::{
    Claim, Evidence, Execution, Experiment, Job, Kind, Paper, Report, Scale, Session, Test, Ticker, per_query, train,
};
use anyhow::Context;
use burnrank::analysis::significance::{CompareOptions, Leaderboard, PerQuery, Standing};
use burnrank::data::{FoldFiles, read_scores};
use burnrank::text::Table;
use burnrank::train::{GROWS_TREES, Method, ModelChoice, TrainingData};
use burnrank::{
    Architecture, Conventions, Dataset, Model, Objective, ScaleKind, StepRule, Synthetic, TrainConfig, judge,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "systems",
    kind: Kind::Paper,
    paper: Paper::Several,
    place: "the systems that the five papers compare with, and published scores for MQ2008",
    claim: "RankSVM, RankBoost, AdaRank and ListNet as built here rank the test queries of MQ2008 as well as the published \
            scores of these systems do, within 0.7 points of NDCG@10.",
    time: "about 40 minutes (MQ2008 and MQ2007)",
    claims,
    changed: &[
        "At first a system was held to be as good when the mean of the five folds was within the margin; now the 95% interval \
               over folds must be, which is harder.",
    ],
    protocol,
    run,
    own: None,
};

const MEASURE: &str = "ndcg@10";
const ALSO: [&str; 2] = ["map", "mrr"];

/// How far from the published scores a system may be, in points.
const MARGIN: f64 = 0.7;

/// What draws at random, so that one seed says little.
const SEEDED: [&str; 6] = ["linear", "mlp", "prank", "prank-quadratic", "oap-bpm", "coordinate-ascent"];

/// A system, and the four settings that it is tried with.
struct System {
    name: &'static str,
    model: &'static str,
    /// Nothing where the system has an aim of its own.
    objective: Option<&'static str>,
    tuned: Tuned,
}

/// What is tuned, with the values that are tried.
enum Tuned {
    Nothing,
    StepSize([f64; 4]),
    Leaves([usize; 4]),
    Scaling([ScaleKind; 4]),
    /// A setting behind the model's name.
    Setting(&'static str, [f64; 4]),
}

const LINEAR_STEPS: Tuned = Tuned::StepSize([0.001, 0.003, 0.01, 0.03]);
const NET_STEPS: Tuned = Tuned::StepSize([0.0003, 0.001, 0.003, 0.01]);
const LEAVES: Tuned = Tuned::Leaves([4, 8, 16, 31]);
const SCALINGS: Tuned =
    Tuned::Scaling([ScaleKind::None, ScaleKind::QueryMinMax, ScaleKind::ZScore, ScaleKind::Log1pZScore]);

const fn system(name: &'static str, model: &'static str, tuned: Tuned) -> System {
    System { name, model, objective: None, tuned }
}

const fn trained(name: &'static str, model: &'static str, objective: &'static str, tuned: Tuned) -> System {
    System { name, model, objective: Some(objective), tuned }
}

const SYSTEMS: &[System] = &[
    system("best feature", "feature", Tuned::Nothing),
    system("PRank", "prank", SCALINGS),
    system("PRank, quadratic", "prank-quadratic", SCALINGS),
    system("OAP-BPM", "oap-bpm", Tuned::Setting("tau", [0.1, 0.3, 0.5, 0.7])),
    system("RankProp", "rankprop", SCALINGS),
    system("RankSVM", "ranksvm", Tuned::Setting("c", [1e-5, 1e-4, 1e-3, 1e-2])),
    system("SVM-MAP", "svm-map", Tuned::Setting("c", [0.1, 1.0, 10.0, 100.0])),
    system("RankBoost", "rankboost", Tuned::Setting("thresholds", [10.0, 20.0, 50.0, 100.0])),
    system("AdaRank", "adarank", SCALINGS),
    system("Coordinate ascent", "coordinate-ascent", SCALINGS),
    system("SmoothRank", "smoothrank", Tuned::Setting("lambda", [1e-4, 1e-3, 1e-2, 1e-1])),
    system("RankNet, kernels", "kernel-ranknet", Tuned::Setting("lambda", [0.1, 1.0, 10.0, 100.0])),
    trained("RankNet, linear", "linear", "ranknet", LINEAR_STEPS),
    trained("ListNet, linear", "linear", "listnet", LINEAR_STEPS),
    trained("LambdaRank, linear", "linear", "lambdarank:ndcg", LINEAR_STEPS),
    trained("RankNet", "mlp", "ranknet", NET_STEPS),
    trained("LambdaRank", "mlp", "lambdarank:ndcg", NET_STEPS),
    trained("NDCG-Loss2++", "mlp", "ndcg-loss2++:mu=5", NET_STEPS),
    trained("MART", "trees", "squared-error", LEAVES),
    trained("LambdaMART", "trees", "lambdarank:ndcg", LEAVES),
    trained("NDCG-Loss2++, trees", "trees", "ndcg-loss2++:mu=5", LEAVES),
];

/// Published scores, and which system here they are of.
const PUBLISHED: [(&str, &str); 5] = [
    ("svm_rank", "RankSVM"),
    ("RankBoost", "RankBoost"),
    ("AdaRank", "AdaRank"),
    ("ListNet", "ListNet, linear"),
    ("RankNet", "RankNet"),
];

/// What is compared with published scores; RankNet's are of another net than ours.
const CLAIMED: usize = 4;

/// The sets that are asked for.
const SETS: [RealSet; 3] = [MQ2008, MQ2007[0], MQ2007[1]];

const SCORES: &str =
    "Published scores of test documents are expected in DIR/mq2008/scores/NAME.Fold1.test.txt and so on.";

struct Sizes {
    seeds: u64,
    settings: usize,
    /// The most epochs, trees or rounds; nothing for each system's own.
    epochs: Option<usize>,
}

fn sizes(scale: Scale) -> Sizes {
    scale.pick(Sizes { seeds: 3, settings: 4, epochs: None }, Sizes { seeds: 1, settings: 1, epochs: Some(3) })
}

/// The systems that this build can train.
fn systems() -> impl Iterator<Item = &'static System> {
    SYSTEMS.iter().filter(|system| GROWS_TREES || system.model != "trees")
}

impl System {
    /// How many settings are tried.
    fn settings(&self, sizes: &Sizes) -> usize {
        if matches!(self.tuned, Tuned::Nothing) { 1 } else { sizes.settings }
    }

    /// A run with one of the settings, and how a report calls that setting.
    fn config(&self, setting: usize, sizes: &Sizes, seed: u64) -> anyhow::Result<(TrainConfig, String)> {
        let model = match self.tuned {
            Tuned::Setting(key, values) => format!("{}:{key}={}", self.model, values[setting]),
            _ => self.model.to_owned(),
        };
        let mut config = model.parse::<ModelChoice>()?.config();
        if let Some(objective) = self.objective {
            config.objective = Objective::parse(objective)?;
        }
        (config.metric, config.seed) = (MEASURE.into(), seed);
        if config.architecture.is_net() && config.method == Method::Gradient {
            // What nets were tuned around when the results were made.
            (config.scaling, config.step_rule) = (ScaleKind::QueryMinMax, StepRule::Constant);
        }
        config.epochs = sizes.epochs.map_or(config.epochs, |most| most.min(config.epochs));
        let called = match self.tuned {
            Tuned::Nothing => String::new(),
            Tuned::StepSize(steps) => {
                config.learning_rate = steps[setting];
                format!("step {}", steps[setting])
            }
            Tuned::Leaves(all) => {
                config.architecture = Architecture::Trees { trees: config.epochs, leaves: all[setting] };
                format!("{} leaves", all[setting])
            }
            Tuned::Scaling(all) => {
                config.scaling = all[setting];
                all[setting].to_string()
            }
            Tuned::Setting(key, values) => format!("{key}={}", values[setting]),
        };
        Ok((config, called))
    }
}

fn claims(_: &Session) -> Vec<Claim> {
    let claim = |&(theirs, ours): &(&str, &str)| {
        Claim::primary(
            ours,
            format!("MQ2008: {ours} here less the published scores of {theirs}, points of NDCG@10"),
            Test::Alike { margin: MARGIN },
        )
        .paper("0")
        .unit("fold of MQ2008")
        .convention("mean over test queries; nothing relevant counts 0; mean over seeds")
    };
    PUBLISHED[..CLAIMED].iter().map(claim).collect()
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    let mut all = vec![];
    for system in systems() {
        let configs: anyhow::Result<Vec<TrainConfig>> =
            (0..system.settings(&sizes)).map(|setting| Ok(system.config(setting, &sizes, session.seed)?.0)).collect();
        all.push(json!({"name": system.name, "runs": configs?}));
    }
    Ok(json!({"seeds": sizes.seeds, "systems": all}))
}

/// One data set with its folds.
struct Set {
    key: String,
    name: String,
    folds: Vec<Fold>,
}

/// Training, validation and test queries.
struct Fold {
    sets: [Dataset; 3],
    /// Published scores of the test documents, by their names.
    published: Vec<(String, Vec<f64>)>,
}

/// One system on one fold.
struct Cell {
    set: usize,
    fold: usize,
    system: &'static System,
}

/// What a system reaches with the setting that validation chose.
#[derive(Debug, Serialize, Deserialize)]
struct Found {
    setting: String,
    /// Each setting with its validation value.
    tried: Vec<(String, f64)>,
    best_epochs: Vec<usize>,
    valid: f64,
    /// Means over seeds and test queries of the other measures.
    also: BTreeMap<String, f64>,
    /// The mean over seeds for each test query, rounded to six decimals.
    per_query: Vec<f64>,
    /// Why the system could not be run on this fold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        no_share("a validation value", self.tried.iter().map(|tried| tried.1).chain([self.valid]))
            .or_else(|| no_share("a test value", self.per_query.iter().chain(self.also.values()).copied()))
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let sets = find_sets(execution)?;
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
    let found = execution.run_all(&jobs, |job, ticker| {
        let fold = &sets[job.what.set].folds[job.what.fold];
        run_cell(execution, &sizes, job, fold, ticker)
    })?;
    let runs: Vec<(&Cell, &Found)> = jobs.iter().map(|job| &job.what).zip(&found).collect();
    report(execution, &sizes, &sets, &runs)
}

fn find_sets(execution: &Execution<'_>) -> anyhow::Result<Vec<Set>> {
    let folder = execution.session.data.as_deref().filter(|_| execution.scale() == Scale::Paper);
    let mut sets = vec![];
    for set in SETS {
        let (Some(folder), Some(files)) = (folder, set.folds(folder)?) else { continue };
        let scores = folder.join(set.folder).join("scores");
        let folds = files.iter().map(|files| load(files, &scores)).collect::<anyhow::Result<_>>()?;
        sets.push(Set { key: set.folder.into(), name: set.name.into(), folds });
    }
    if sets.is_empty() {
        let queries = execution.scale().pick([200, 100, 200], [40, 20, 40]);
        let generator = Synthetic { seed: execution.session.seed, ..Synthetic::net() }.generator()?;
        let part = |from: usize, n: usize| generator.part(from..from + n).map(|part| part.0);
        let parts = [part(0, queries[0])?, part(queries[0], queries[1])?, part(queries[0] + queries[1], queries[2])?];
        let folds = vec![Fold { sets: parts, published: vec![] }];
        sets.push(Set { key: "synthetic".into(), name: "artificial net data".into(), folds });
    }
    Ok(sets)
}

fn load(files: &FoldFiles, scores: &Path) -> anyhow::Result<Fold> {
    let sets = real::load(files)?;
    let mut published = vec![];
    for (name, _) in PUBLISHED {
        let path = scores.join(format!("{name}.{}.test.txt", files.name));
        if path.is_file() {
            published.push((name.to_owned(), read_scores(&path, sets[2].n_documents())?));
        }
    }
    Ok(Fold { sets, published })
}

/// Tries all settings with one seed; the one with the best validation value is trained with the other seeds too.
fn run_cell(
    execution: &Execution<'_>,
    sizes: &Sizes,
    job: &Job<Cell>,
    fold: &Fold,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Found> {
    let system = job.what.system;
    let seeds = if SEEDED.contains(&system.model) { sizes.seeds } else { 1 };
    let trainings = (system.settings(sizes) as u64 + seeds - 1) as f64;
    let mut done = 0.0;
    let mut one = |setting: usize, seed: u64| -> anyhow::Result<(Model, String)> {
        let seed = execution.session.seed.wrapping_mul(1_000).wrapping_add(seed);
        let (config, called) = system.config(setting, sizes, seed)?;
        let data = Arc::new(TrainingData::new(config.scaling, fold.sets[0].clone(), fold.sets[1].clone())?);
        let key = format!("{} setting {setting} seed {seed}", job.key);
        let share = (ticker, (done / trainings, (done + 1.0) / trainings));
        done += 1.0;
        Ok((train(execution, &key, &config, &data, share, |_| false)?, called))
    };
    let mut tried: Vec<(String, f64)> = vec![];
    let mut best: Option<(usize, Model)> = None;
    for setting in 0..system.settings(sizes) {
        let (model, called) = match one(setting, 0) {
            Ok(found) => found,
            // Data that a system cannot take, as too many documents for a kernel matrix, is a result too.
            Err(error) => return Ok(Found::failed(&error)),
        };
        let value = model.best_value().unwrap_or(0.0);
        if tried.iter().all(|(_, other)| value > *other) {
            best = Some((setting, model));
        }
        tried.push((called, value));
    }
    let (setting, model) = best.context("no setting was tried")?;
    let mut models = vec![model];
    for seed in 1..seeds {
        models.push(one(setting, seed)?.0);
    }
    let test = &fold.sets[2];
    let mean_of = |measure: &str| -> anyhow::Result<Vec<f64>> {
        let mut sum = vec![0.0; test.n_queries()];
        for model in &models {
            let values = per_query(model, test, measure)?;
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / models.len() as f64);
        }
        Ok(sum)
    };
    let mut also = BTreeMap::new();
    for measure in ALSO {
        also.insert(measure.to_owned(), mean(&mean_of(measure)?));
    }
    Ok(Found {
        setting: tried[setting].0.clone(),
        best_epochs: models.iter().map(|model| model.info.best_epoch).collect(),
        valid: tried[setting].1,
        tried,
        also,
        per_query: mean_of(MEASURE)?.iter().map(|value| (value * 1e6).round() / 1e6).collect(),
        failure: None,
    })
}

impl Found {
    fn failed(error: &anyhow::Error) -> Self {
        Found {
            setting: String::new(),
            tried: vec![],
            best_epochs: vec![],
            valid: 0.0,
            also: BTreeMap::new(),
            per_query: vec![],
            failure: Some(error.to_string()),
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// One system over all folds of a set: a value for each test query, the means of other measures over folds, settings.
struct Line {
    name: String,
    queries: Vec<f64>,
    /// The mean of each fold.
    by_fold: Vec<f64>,
    also: Vec<f64>,
    settings: String,
}

fn lines(sets: &[Set], runs: &[(&Cell, &Found)], number: usize) -> anyhow::Result<(Vec<Line>, Vec<String>)> {
    let (mut lines, mut failures) = (vec![], vec![]);
    for system in systems() {
        let of_set = |cell: &Cell| cell.set == number && cell.system.name == system.name;
        let chosen: Vec<&Found> = runs.iter().filter(|(cell, _)| of_set(cell)).map(|(_, found)| *found).collect();
        if let Some(failure) = chosen.iter().find_map(|found| found.failure.as_ref()) {
            failures.push(format!("{}: {} was not run: {failure}", sets[number].name, system.name));
            continue;
        }
        let folds: Vec<f64> = chosen.iter().map(|found| mean(&found.per_query)).collect();
        let other = |measure: &str| mean(&chosen.iter().map(|found| found.also[measure]).collect::<Vec<_>>());
        let settings: Vec<&str> = chosen.iter().map(|found| found.setting.as_str()).collect();
        lines.push(Line {
            name: system.name.into(),
            queries: chosen.iter().flat_map(|found| found.per_query.iter().copied()).collect(),
            by_fold: folds,
            also: ALSO.iter().map(|measure| other(measure)).collect(),
            settings: settings.join(", "),
        });
    }
    for (name, _) in PUBLISHED {
        lines.extend(published(&sets[number], name)?);
    }
    Ok((lines, failures))
}

/// Published scores as a line of their own, where all folds have them.
fn published(set: &Set, name: &str) -> anyhow::Result<Option<Line>> {
    let mut measured: Vec<Vec<Vec<f64>>> = vec![];
    for fold in &set.folds {
        let Some((_, scores)) = fold.published.iter().find(|(known, _)| known == name) else { return Ok(None) };
        let test = &fold.sets[2];
        let values = |measure: &str| -> anyhow::Result<Vec<f64>> {
            let metric = burnrank::metric::parse(measure)?;
            let values = judge(&*metric, scores, test.labels(), test.offsets(), &Conventions::default())?;
            Ok(values.into_iter().flatten().collect())
        };
        measured.push([MEASURE].iter().chain(&ALSO).map(|measure| values(measure)).collect::<anyhow::Result<_>>()?);
    }
    let by_fold = |place: usize| measured.iter().map(|fold| mean(&fold[place])).collect::<Vec<_>>();
    Ok(Some(Line {
        name: format!("{name} (published)"),
        queries: measured.iter().flat_map(|fold| fold[0].iter().copied()).collect(),
        by_fold: by_fold(0),
        also: (0..ALSO.len()).map(|place| mean(&by_fold(place + 1))).collect(),
        settings: "published scores".into(),
    }))
}

fn report(execution: &Execution<'_>, sizes: &Sizes, sets: &[Set], runs: &[(&Cell, &Found)]) -> anyhow::Result<Report> {
    let (mut tables, mut panels, mut notes) = (vec![], vec![], vec![]);
    let mut evidence: Vec<(String, Evidence)> = vec![];
    let mut best = vec![];
    for (number, set) in sets.iter().enumerate() {
        let (lines, failures) = lines(sets, runs, number)?;
        notes.extend(failures);
        let systems: Vec<PerQuery<'_>> =
            lines.iter().map(|line| PerQuery { name: &line.name, values: &line.queries }).collect();
        let options = CompareOptions { seed: execution.session.seed, ..CompareOptions::default() };
        let board = Leaderboard::new(MEASURE, &systems, 0.05, &options, &|_, _| ())?;
        tables.push(table(set, &board, &lines));
        panels.push(panel(set, &board));
        let found = PUBLISHED[..CLAIMED].iter().filter_map(|(theirs, ours)| gaps(&lines, theirs, ours));
        evidence.extend(found.filter(|_| set.key == MQ2008.folder));
        best.extend(board.rows.first().map(|row| format!("{}: {} {:.2}", set.name, row.name, 100.0 * row.mean)));
    }
    for (_, ours) in &PUBLISHED[..CLAIMED] {
        if evidence.iter().all(|(id, _)| id != ours) {
            evidence.push((ours.to_string(), Evidence::missing("needs MQ2008 and its published scores (--data)")));
        }
    }
    if !GROWS_TREES {
        notes.push("Trees were left out: this build does not grow them (--features trees).".into());
    }
    notes.push(
        "Systems that share a letter do not differ significantly: all pairs are tested by randomisation over the test \
         queries of all folds, with Holm's correction, at 5%. The interval is a bootstrap interval of the mean."
            .into(),
    );
    notes.push(format!("{} {SCORES}", real::WHERE));
    Ok(Report {
        evidence,
        controls: vec![],
        main: format!("best: {}", best.join("; ")),
        protocol: protocol_text(sizes, sets),
        deviations: deviations(execution.scale()),
        notes,
        tables,
        figure: dots::draw(&panels)?,
    })
}

/// A system here less the published scores of it, fold by fold.
fn gaps(lines: &[Line], theirs: &str, ours: &str) -> Option<(String, Evidence)> {
    let folds = |name: &str| lines.iter().find(|line| line.name == name).map(|line| &line.by_fold);
    let (published, found) = (folds(&format!("{theirs} (published)"))?, folds(ours)?);
    let gaps = found.iter().zip(published).map(|(found, published)| 100.0 * (found - published));
    Some((ours.to_owned(), Evidence::rounded(gaps, 2)))
}

fn table(set: &Set, board: &Leaderboard, lines: &[Line]) -> Table {
    let title = format!(
        "{}: percent, mean over {} fold(s) of each fold's mean over test queries ({} in all):",
        set.name,
        set.folds.len(),
        board.queries
    );
    let head = ["rank", "system", "NDCG@10", "95% of all queries", "letters", "MAP", "MRR", "chosen setting, by fold"];
    let mut table = Table::titled(title, &head);
    for row in &board.rows {
        let line = &lines[row.system];
        let interval =
            row.interval.map_or("-".to_owned(), |(low, high)| format!("{:.2} to {:.2}", 100.0 * low, 100.0 * high));
        let cells = [row.rank.to_string(), row.name.clone(), format!("{:.2}", 100.0 * mean(&line.by_fold)), interval];
        let also = line.also.iter().map(|value| format!("{:.2}", 100.0 * value));
        table.row(cells.into_iter().chain([row.letters.to_string()]).chain(also).chain([line.settings.clone()]));
    }
    table
}

fn panel(set: &Set, board: &Leaderboard) -> (String, Vec<Dot>) {
    let dot = |row: &Standing| Dot {
        name: row.name.clone(),
        value: 100.0 * row.mean,
        interval: row.interval.map(|(low, high)| (100.0 * low, 100.0 * high)),
        theirs: row.name.ends_with("(published)"),
    };
    (format!("{}: NDCG@10 of test queries, percent", set.name), board.rows.iter().map(dot).collect())
}

fn protocol_text(sizes: &Sizes, sets: &[Set]) -> Vec<String> {
    let names: Vec<String> = sets.iter().map(|set| format!("{} in {} fold(s)", set.name, set.folds.len())).collect();
    vec![
        format!("Data: {}.", names.join("; ")),
        format!(
            "Every system is tried with {} setting(s) of what matters most to it: the step size of nets, the leaves of trees, \
             the penalty of support vector machines, the scaling of features where there is nothing else. The setting with \
             the best validation NDCG@10 of its best epoch is trained with {} seed(s) where it draws at random, whose \
             values are averaged query by query. Test queries are looked at once, with the chosen setting.",
            sizes.settings, sizes.seeds
        ),
        "A query with nothing relevant counts 0, equal scores are ranked pessimistically.".into(),
    ]
}

fn deviations(scale: Scale) -> Vec<String> {
    let mut all = vec![
        "Published scores are those of other implementations and of their authors' settings; they were not tuned again."
            .into(),
        "RankNet's published scores are not part of the verdict: they are of another net. ListNet's, which are part of it, are \
         of RankLib 2.1, whose ListNet and RankNet are known to be weak: being better than they are counts as a miss too."
            .into(),
    ];
    if scale == Scale::Quick {
        all.push("Quick: artificial data, one setting, one seed, few rounds.".into());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_that_can_be_trained_is_in_the_table() {
        for kind in burnrank::train::models() {
            assert!(SYSTEMS.iter().any(|system| system.model == kind.name), "{} is missing", kind.name);
        }
        for system in SYSTEMS {
            for scale in [Scale::Paper, Scale::Quick] {
                let sizes = sizes(scale);
                for setting in 0..system.settings(&sizes) {
                    let (config, _) = system.config(setting, &sizes, 1).unwrap();
                    config.check().unwrap();
                    assert_eq!(
                        system.objective.is_none(),
                        matches!(config.method, Method::Baseline(_)),
                        "{}",
                        system.name
                    );
                }
            }
        }
        let known = |name: &str| SYSTEMS.iter().any(|system| system.name == name);
        assert!(PUBLISHED.iter().all(|(_, ours)| known(ours)));
    }
}
