//! Report: leaderboard of all systems and stored scores.

use super::roster::{Grid, systems};
use super::sets::{SCORES, Set};
use super::train::{Cell, SystemResult};
use super::{CONTROL, K, MARGIN, METRIC, N_CLAIMS, OTHER_METRICS, STORED, Sizes};
use crate::harness::dots::{self, Dot};
use crate::harness::real::{MQ2008, WHERE};
use crate::harness::shuffled::{self, of_random_order};
use crate::harness::trainings::{self, Went};
use crate::harness::units::mean;
use crate::harness::{Control, Evidence, Execution, Report, Scale};
use burnrank::analysis::significance::{CompareOptions, Leaderboard, PerQuery, Standing};
use burnrank::internal::text::{Table, counted};
use burnrank::setting::GROWS_TREES;
use burnrank::{Conventions, evaluate};

/// One system over all folds of a data set.
struct Row {
    name: String,
    /// Value of each test query.
    queries: Vec<f64>,
    /// Mean of each fold.
    by_fold: Vec<f64>,
    /// Means of the other metrics over folds.
    others: Vec<f64>,
    settings: String,
}

fn rows(sets: &[Set], runs: &[(&Cell, &SystemResult)], number: usize) -> anyhow::Result<(Vec<Row>, Vec<String>)> {
    let (mut rows, mut failures) = (vec![], vec![]);
    for system in systems() {
        let of_set = |cell: &Cell| cell.set == number && cell.system.name == system.name;
        let chosen: Vec<&SystemResult> =
            runs.iter().filter(|(cell, _)| of_set(cell)).map(|(_, result)| *result).collect();
        if let Some(failure) = chosen.iter().find_map(|result| result.failure.as_ref()) {
            failures.push(format!("{}: {} was not run: {failure}", sets[number].name, system.name));
            continue;
        }
        let folds: Vec<f64> = chosen.iter().map(|result| mean(result.per_query.values())).collect();
        let other = |metric: &str| mean(&chosen.iter().map(|result| result.other_metrics[metric]).collect::<Vec<_>>());
        let label =
            |result: &&SystemResult| if result.setting.is_empty() { "-".into() } else { result.setting.clone() };
        let settings: Vec<String> = chosen.iter().map(label).collect();
        rows.push(Row {
            name: system.name.into(),
            queries: chosen.iter().flat_map(|result| result.per_query.values().iter().copied()).collect(),
            by_fold: folds,
            others: OTHER_METRICS.iter().map(|metric| other(metric)).collect(),
            settings: settings.join(", "),
        });
    }
    for (name, _) in STORED {
        rows.extend(stored(&sets[number], name)?);
    }
    Ok((rows, failures))
}

/// Row of stored scores, if all folds have them.
fn stored(set: &Set, name: &str) -> anyhow::Result<Option<Row>> {
    let mut measured: Vec<Vec<Vec<f64>>> = vec![];
    for fold in &set.folds {
        let Some((_, scores)) = fold.stored.iter().find(|(known, _)| known == name) else { return Ok(None) };
        let test = &fold.sets[2];
        let values = |metric: &str| -> anyhow::Result<Vec<f64>> {
            let metric = burnrank::metric::parse(metric)?;
            let values = evaluate(&*metric, scores, test.labels(), test.offsets(), &Conventions::default())?;
            Ok(values.into_iter().flatten().collect())
        };
        measured
            .push([METRIC].iter().chain(&OTHER_METRICS).map(|metric| values(metric)).collect::<anyhow::Result<_>>()?);
    }
    let by_fold = |place: usize| measured.iter().map(|fold| mean(&fold[place])).collect::<Vec<_>>();
    Ok(Some(Row {
        name: format!("{name} (stored)"),
        queries: measured.iter().flat_map(|fold| fold[0].iter().copied()).collect(),
        by_fold: by_fold(0),
        others: (0..OTHER_METRICS.len()).map(|place| mean(&by_fold(place + 1))).collect(),
        settings: "stored scores".into(),
    }))
}

pub fn report(
    execution: &Execution<'_>,
    sizes: &Sizes,
    sets: &[Set],
    runs: &[(&Cell, &SystemResult)],
    shuffled: &[(&Cell, &SystemResult)],
) -> anyhow::Result<Report> {
    let (mut tables, mut panels, mut notes) = (vec![], vec![], vec![]);
    let mut evidence: Vec<(String, Evidence)> = vec![];
    let mut best = vec![];
    for (number, set) in sets.iter().enumerate() {
        let (rows, failures) = rows(sets, runs, number)?;
        notes.extend(failures);
        let systems: Vec<PerQuery<'_>> =
            rows.iter().map(|row| PerQuery { name: &row.name, values: &row.queries }).collect();
        let options = CompareOptions { seed: execution.session.seed, ..CompareOptions::default() };
        let board = Leaderboard::new(METRIC, &systems, 0.05, &options, &|_, _| ())?;
        tables.push(table(set, &board, &rows));
        panels.push(panel(set, &board));
        let result = STORED[..N_CLAIMS].iter().filter_map(|(theirs, ours)| differences(&rows, theirs, ours));
        evidence.extend(result.filter(|_| set.key == MQ2008.folder));
        best.extend(board.rows.first().map(|row| format!("{}: {} {:.2}", set.name, row.name, 100.0 * row.mean)));
    }
    for (_, ours) in &STORED[..N_CLAIMS] {
        if evidence.iter().all(|(id, _)| id != ours) {
            evidence.push((ours.to_string(), Evidence::missing("needs MQ2008 and its stored scores (--data)")));
        }
    }
    if !GROWS_TREES {
        notes.push("Trees are omitted: this build has no trees (--features trees).".into());
    }
    notes.push(
        "Systems that share a letter do not differ significantly: randomisation tests of all pairs over the test queries \
         of all folds, with Holm's correction, at 5%."
            .into(),
    );
    notes.push(format!(
        "Stored scores are from other programs, one score per test document in the order of test.txt: svm_rank's from the \
         program of that name, ListNet's and RankNet's from RankLib 2.1; the program is unknown for RankBoost and AdaRank, \
         and the settings for all of them. None of the five papers reports them. The margin of {MARGIN} points is our choice; \
         most systems vary more than that between folds, as the intervals of the claims show."
    ));
    notes.push(
        "Folds of a data set share training queries and are not fully independent: tests over folds are slightly \
         anti-conservative."
            .into(),
    );
    tables.push(trainings(sizes, runs)?);
    Ok(Report {
        evidence,
        controls: sets.iter().enumerate().map(|(number, set)| control(set, number, runs, shuffled)).collect(),
        main: format!("best mean NDCG@10 over all test queries, percent: {}", best.join("; ")),
        protocol: protocol_text(sizes, sets),
        deviations: deviations(execution.scale()),
        notes,
        tables,
        figure: dots::draw(&panels, "95% intervals of the mean over all test queries, by resampling", "stored scores")?,
        bring: Some(format!("{WHERE} {SCORES}")),
        feature: GROWS_TREES.then_some("trees"),
        ..Report::default()
    })
}

/// Control: training on shuffled labels.
fn control(set: &Set, number: usize, runs: &[(&Cell, &SystemResult)], shuffled: &[(&Cell, &SystemResult)]) -> Control {
    let mean_of = |runs: &[(&Cell, &SystemResult)]| {
        let own = runs.iter().filter(|(cell, _)| cell.set == number && cell.system.name == CONTROL);
        100.0 * mean(&own.flat_map(|(_, result)| result.per_query.values().iter().copied()).collect::<Vec<_>>())
    };
    let (original, of_shuffled) = (mean_of(runs), mean_of(shuffled));
    let random = mean(&set.folds.iter().map(|fold| 100.0 * of_random_order(&fold.sets[2], K)).collect::<Vec<_>>());
    let what = "trained on shuffled labels, learning rate 0.001, epoch chosen by true validation labels";
    shuffled::control(format!("{}: {CONTROL} {what}", set.name), original, of_shuffled, random)
}

/// Table that shows whether the limits of training and the ends of grids were reached.
fn trainings(sizes: &Sizes, runs: &[(&Cell, &SystemResult)]) -> anyhow::Result<Table> {
    let mut all = vec![];
    for (cell, result) in runs.iter().filter(|(cell, result)| cell.system.is_extensible() && result.failure.is_none()) {
        let (config, _) = cell.system.config(result.value, sizes, 0)?;
        let step = matches!(cell.system.grid, Grid::LearningRate(_)).then_some(config.learning_rate);
        // The setting is chosen once for all seeds.
        let one = |(seed, &best): (usize, &usize)| Went {
            step,
            at_edge: result.at_edge.filter(|_| seed == 0),
            ..Went::new(cell.system.name, best, config.epochs)
        };
        all.extend(result.best_epochs.iter().enumerate().map(one));
    }
    Ok(trainings::table(&all))
}

/// Differences between a system here and its stored scores, by fold.
fn differences(rows: &[Row], theirs: &str, ours: &str) -> Option<(String, Evidence)> {
    let folds = |name: &str| rows.iter().find(|row| row.name == name).map(|row| &row.by_fold);
    let (stored, own) = (folds(&format!("{theirs} (stored)"))?, folds(ours)?);
    let differences = own.iter().zip(stored).map(|(own, stored)| 100.0 * (own - stored));
    Some((ours.to_owned(), Evidence::rounded(differences, 2)))
}

fn table(set: &Set, board: &Leaderboard, rows: &[Row]) -> Table {
    let title = format!(
        "{}, percent. NDCG@10: mean over all {} test queries with a bootstrap interval; MAP and MRR: mean over {} folds \
         of each fold's mean:",
        set.name,
        board.queries,
        set.folds.len()
    );
    let head = ["rank", "system", "NDCG@10", "95% interval", "letters", "MAP", "MRR", "chosen setting, by fold"];
    let mut table = Table::titled(title, &head);
    for standing in &board.rows {
        let row = &rows[standing.system];
        let interval = standing
            .interval
            .map_or("-".to_owned(), |(low, high)| format!("{:.2} to {:.2}", 100.0 * low, 100.0 * high));
        let mean = format!("{:.2}", 100.0 * standing.mean);
        let cells = [standing.rank.to_string(), row.name.clone(), mean, interval, standing.letters.to_string()];
        let others = row.others.iter().map(|value| format!("{:.2}", 100.0 * value));
        table.row(cells.into_iter().chain(others).chain([row.settings.clone()]));
    }
    table
}

fn panel(set: &Set, board: &Leaderboard) -> (String, Vec<Dot>) {
    let dot = |row: &Standing| Dot {
        name: row.name.clone(),
        value: 100.0 * row.mean,
        interval: row.interval.map(|(low, high)| (100.0 * low, 100.0 * high)),
        theirs: row.name.ends_with("(stored)"),
    };
    (format!("{}: NDCG@10 of test queries, percent", set.name), board.rows.iter().map(dot).collect())
}

fn protocol_text(sizes: &Sizes, sets: &[Set]) -> Vec<String> {
    let names: Vec<String> = sets.iter().map(Set::describe).collect();
    let (settings, seeds) =
        (counted(sizes.settings, "setting", "settings"), counted(sizes.seeds as usize, "seed", "seeds"));
    vec![
        format!("Data: {}.", names.join("; ")),
        format!(
            "Every system is tuned over {settings} of its most important parameter: the learning rate of nets, the number of \
             leaves of trees, the penalty of support vector machines, or the scaling of features. While the best value is at \
             an end, the grid is extended by the same factor, at most {} times (except tau and scalings). The setting with the \
             best validation NDCG@10 is trained with {seeds} if the system uses random numbers, and values are averaged per \
             query. Only the chosen setting is evaluated on test queries.",
            sizes.extensions
        ),
        format!("Initial settings: {}.", systems().map(|system| system.describe(sizes)).collect::<Vec<_>>().join("; ")),
        "Nets: features are scaled to 0 to 1 within each query (query-minmax); two-layer nets have ten hidden tanh units; \
         Adam, constant learning rate, ten queries per batch."
            .into(),
        "Queries without relevant documents count 0; equal scores are ranked pessimistically.".into(),
    ]
}

fn deviations(scale: Scale) -> Vec<String> {
    let mut all = vec![
        "Stored scores are from other implementations with their authors' settings, without further tuning."
            .into(),
        "RankNet's stored scores do not count towards the verdict, because they are from a different net. ListNet's do; they \
         are from RankLib 2.1, whose ListNet and RankNet are known to be weak."
            .into(),
    ];
    if scale == Scale::Quick {
        all.push("Quick: artificial data, one setting, one seed, few rounds.".into());
    }
    all
}
