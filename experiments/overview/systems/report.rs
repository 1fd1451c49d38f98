//! Report: leaderboard of all systems and stored scores.

use super::roster::systems;
use super::sets::{SCORES, describe, stored};
use super::{CONTROL, Cell, K, MARGIN, METRIC, N_CLAIMS, OTHERS, Runs, STORED, tuning};
use crate::harness::dots::{self, Dot};
use crate::harness::real::{FoldedSet, MQ2008, WHERE};
use crate::harness::shuffled::{self, of_random_order};
use crate::harness::systems::SystemRun;
use crate::harness::trainings;
use crate::harness::units::{less, mean};
use crate::harness::{Control, Evidence, Execution, Report, Scale};
use burnrank::analysis::significance::{CompareOptions, Leaderboard, PerQuery, Standing};
use burnrank::internal::text::{Table, counted};
use burnrank::setting::GROWS_TREES;

/// One system over all folds of a data set.
struct Row {
    name: String,
    /// Value of each test query.
    queries: Vec<f64>,
    /// Means of the other metrics over folds.
    others: Vec<f64>,
    settings: String,
}

/// Rows of all systems and stored scores, and why systems were not run.
fn rows(
    execution: &Execution<'_>,
    (number, set): (usize, &FoldedSet),
    runs: &Runs<'_>,
) -> anyhow::Result<(Vec<Row>, Vec<String>)> {
    let (mut rows, mut failures) = (vec![], vec![]);
    for system in systems() {
        let own = runs.iter().filter(|(cell, _)| cell.set == number && cell.system.name == system.name);
        let chosen: Vec<&SystemRun> = own.map(|(_, result)| *result).collect();
        if let Some(failure) = chosen.iter().find_map(|result| result.failure.as_ref()) {
            failures.push(format!("{}: {} was not run: {failure}", set.name, system.name));
            continue;
        }
        let other = |name: &str| mean(&chosen.iter().map(|result| result.others[name]).collect::<Vec<_>>());
        let label = |result: &&SystemRun| if result.setting.is_empty() { "-" } else { &result.setting }.to_owned();
        rows.push(Row {
            name: system.name.into(),
            queries: chosen.iter().flat_map(|result| result.test.values().iter().copied()).collect(),
            others: OTHERS.iter().map(|(name, ..)| other(name)).collect(),
            settings: chosen.iter().map(label).collect::<Vec<_>>().join("; "),
        });
    }
    for (name, _) in STORED {
        let Some(queries) = stored(execution, set, name, METRIC)? else { continue };
        let mut others = vec![];
        for (_, metric, _) in OTHERS {
            let folds = stored(execution, set, name, metric)?.unwrap_or_default();
            others.push(mean(&folds.iter().map(|fold| mean(fold)).collect::<Vec<_>>()));
        }
        rows.push(Row { name: stored_name(name), queries: queries.concat(), others, settings: "stored scores".into() });
    }
    Ok((rows, failures))
}

fn stored_name(name: &str) -> String {
    format!("{name} (stored)")
}

pub fn report(
    execution: &Execution<'_>,
    sets: &[FoldedSet],
    runs: &Runs<'_>,
    shuffled: &Runs<'_>,
) -> anyhow::Result<Report> {
    let (mut tables, mut panels, mut notes) = (vec![], vec![], vec![]);
    let mut evidence: Vec<(String, Evidence)> = vec![];
    let mut best = vec![];
    for (number, set) in sets.iter().enumerate() {
        let (rows, failures) = rows(execution, (number, set), runs)?;
        notes.extend(failures);
        let systems: Vec<PerQuery<'_>> =
            rows.iter().map(|row| PerQuery { name: &row.name, values: &row.queries }).collect();
        let options = CompareOptions { seed: execution.session.seed, ..CompareOptions::default() };
        let board = Leaderboard::new(METRIC, &systems, 0.05, &options, &|_, _| ())?;
        tables.push(table(set, &board, &rows));
        panels.push(panel(set, &board));
        for (theirs, ours) in STORED[..N_CLAIMS].iter().filter(|_| set.key == MQ2008.folder) {
            evidence.extend(differences(&rows, theirs, ours).map(|evidence| (ours.to_string(), evidence)));
        }
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
         and the settings for all of them. None of the five papers reports them. The margin of {MARGIN} points is our choice."
    ));
    notes.push(
        "Queries of different folds are ranked by models that share training queries: their differences are not fully \
         independent."
            .into(),
    );
    let is_limited = |(cell, _): &&(&Cell, &SystemRun)| cell.system.is_extensible();
    let went: Vec<_> = runs.iter().filter(is_limited).flat_map(|(cell, run)| run.went(cell.system.name)).collect();
    tables.push(trainings::table(&went));
    Ok(Report {
        evidence,
        controls: sets.iter().enumerate().map(|(number, set)| control(number, set, runs, shuffled)).collect(),
        main: format!("best mean NDCG@10 over all test queries, percent: {}", best.join("; ")),
        protocol: protocol_text(execution.scale(), sets),
        deviations: DEVIATIONS.map(String::from).into(),
        notes,
        tables,
        figure: dots::draw(&panels, "95% intervals of the mean over all test queries, by resampling", "stored scores")?,
        bring: Some(format!("{WHERE} {SCORES}")),
        feature: GROWS_TREES.then_some("trees"),
        ..Report::default()
    })
}

/// Control: training on shuffled labels.
fn control(number: usize, set: &FoldedSet, runs: &Runs<'_>, shuffled: &Runs<'_>) -> Control {
    let mean_of = |runs: &Runs<'_>| {
        let own = runs.iter().filter(|(cell, _)| cell.set == number && cell.system.name == CONTROL);
        100.0 * mean(&own.flat_map(|(_, result)| result.test.values().iter().copied()).collect::<Vec<_>>())
    };
    let random = mean(&set.folds.iter().map(|[.., test]| 100.0 * of_random_order(test, K)).collect::<Vec<_>>());
    let what = "trained on shuffled labels, learning rate 0.001, epoch chosen by true validation labels";
    shuffled::control(format!("{}: {CONTROL} {what}", set.name), mean_of(runs), mean_of(shuffled), random)
}

/// A system minus its stored scores, in points for each test query.
fn differences(rows: &[Row], theirs: &str, ours: &str) -> Option<Evidence> {
    let queries = |name: &str| {
        let row = rows.iter().find(|row| row.name == name)?;
        Some(row.queries.iter().map(|value| 100.0 * value).collect::<Vec<f64>>())
    };
    Some(Evidence::rounded(less(&queries(ours)?, &queries(&stored_name(theirs))?), 2))
}

fn table(set: &FoldedSet, board: &Leaderboard, rows: &[Row]) -> Table {
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

fn panel(set: &FoldedSet, board: &Leaderboard) -> (String, Vec<Dot>) {
    let dot = |row: &Standing| Dot {
        name: row.name.clone(),
        value: 100.0 * row.mean,
        interval: row.interval.map(|(low, high)| (100.0 * low, 100.0 * high)),
        theirs: row.name.ends_with("(stored)"),
    };
    (format!("{}: NDCG@10 of test queries, percent", set.name), board.rows.iter().map(dot).collect())
}

fn protocol_text(scale: Scale, sets: &[FoldedSet]) -> Vec<String> {
    let names: Vec<String> = sets.iter().map(describe).collect();
    let tuning = tuning(scale);
    let seeds = counted(tuning.seeds as usize, "seed", "seeds");
    vec![
        format!("Data: {}.", names.join("; ")),
        format!(
            "Every system is tuned over several values of its most important parameter: the learning rate of nets, the number of \
             leaves of trees, the penalty of support vector machines, or the scaling of features. While the best value is at \
             an end, the grid is extended by the same factor, at most {} times (except those with scalings). The setting with the \
             best validation NDCG@10 is trained with {seeds} if the system uses random numbers, and values are averaged per \
             query. Only the chosen setting is evaluated on test queries.",
            tuning.extensions
        ),
        format!("Initial settings: {}.", systems().map(|system| system.describe()).collect::<Vec<_>>().join("; ")),
        "Nets: features are scaled to 0 to 1 within each query (query-minmax); two-layer nets have ten hidden tanh units; \
         Adam, constant learning rate, ten queries per batch."
            .into(),
        "Queries without relevant documents count 0; equal scores are ranked pessimistically.".into(),
    ]
}

const DEVIATIONS: [&str; 2] = [
    "Stored scores are from other implementations with their authors' settings, without further tuning.",
    "RankNet's stored scores do not count towards the verdict, because they are from a different net. ListNet's do; they \
     are from RankLib 2.1, whose ListNet and RankNet are known to be weak.",
];
