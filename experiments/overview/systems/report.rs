//! All systems in order, and beside their stored scores.

use super::roster::{Tuned, systems};
use super::sets::{SCORES, Set};
use super::train::{Cell, Found};
use super::{ALSO, CLAIMED, CONTROL, K, MARGIN, MEASURE, STORED, Sizes};
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
        let folds: Vec<f64> = chosen.iter().map(|found| mean(found.per_query.values())).collect();
        let other = |measure: &str| mean(&chosen.iter().map(|found| found.other_metrics[measure]).collect::<Vec<_>>());
        let called = |found: &&Found| if found.setting.is_empty() { "-".into() } else { found.setting.clone() };
        let settings: Vec<String> = chosen.iter().map(called).collect();
        lines.push(Line {
            name: system.name.into(),
            queries: chosen.iter().flat_map(|found| found.per_query.values().iter().copied()).collect(),
            by_fold: folds,
            also: ALSO.iter().map(|measure| other(measure)).collect(),
            settings: settings.join(", "),
        });
    }
    for (name, _) in STORED {
        lines.extend(stored(&sets[number], name)?);
    }
    Ok((lines, failures))
}

/// Stored scores as a line of their own, where all folds have them.
fn stored(set: &Set, name: &str) -> anyhow::Result<Option<Line>> {
    let mut measured: Vec<Vec<Vec<f64>>> = vec![];
    for fold in &set.folds {
        let Some((_, scores)) = fold.stored.iter().find(|(known, _)| known == name) else { return Ok(None) };
        let test = &fold.sets[2];
        let values = |measure: &str| -> anyhow::Result<Vec<f64>> {
            let metric = burnrank::metric::parse(measure)?;
            let values = evaluate(&*metric, scores, test.labels(), test.offsets(), &Conventions::default())?;
            Ok(values.into_iter().flatten().collect())
        };
        measured.push([MEASURE].iter().chain(&ALSO).map(|measure| values(measure)).collect::<anyhow::Result<_>>()?);
    }
    let by_fold = |place: usize| measured.iter().map(|fold| mean(&fold[place])).collect::<Vec<_>>();
    Ok(Some(Line {
        name: format!("{name} (stored)"),
        queries: measured.iter().flat_map(|fold| fold[0].iter().copied()).collect(),
        by_fold: by_fold(0),
        also: (0..ALSO.len()).map(|place| mean(&by_fold(place + 1))).collect(),
        settings: "stored scores".into(),
    }))
}

pub fn report(
    execution: &Execution<'_>,
    sizes: &Sizes,
    sets: &[Set],
    runs: &[(&Cell, &Found)],
    shuffled: &[(&Cell, &Found)],
) -> anyhow::Result<Report> {
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
        let found = STORED[..CLAIMED].iter().filter_map(|(theirs, ours)| gaps(&lines, theirs, ours));
        evidence.extend(found.filter(|_| set.key == MQ2008.folder));
        best.extend(board.rows.first().map(|row| format!("{}: {} {:.2}", set.name, row.name, 100.0 * row.mean)));
    }
    for (_, ours) in &STORED[..CLAIMED] {
        if evidence.iter().all(|(id, _)| id != ours) {
            evidence.push((ours.to_string(), Evidence::missing("needs MQ2008 and its stored scores (--data)")));
        }
    }
    if !GROWS_TREES {
        notes.push("Trees were left out: this build does not grow them (--features trees).".into());
    }
    notes.push(
        "Systems that share a letter do not differ significantly: all pairs are tested by randomisation over the test \
         queries of all folds, with Holm's correction, at 5%."
            .into(),
    );
    notes.push(format!(
        "Stored scores were made by other programs, one score per test document in the order of test.txt: svm_rank's by the program \
         of that name, ListNet's and RankNet's by RankLib 2.1; of RankBoost's and AdaRank's the program is not known, and of none \
         the settings. None of the five papers has them. The margin of {MARGIN} points is a choice; most \
         systems differ more than that from fold to fold, as the intervals of the claims show."
    ));
    notes.push(
        "Folds of a set share training queries, so that they are not quite independent: a test over folds is a little too sure of \
         itself."
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
        figure: dots::draw(&panels, "95% intervals of the mean over all test queries, by resampling")?,
        bring: Some(format!("{WHERE} {SCORES}")),
        feature: GROWS_TREES.then_some("trees"),
        ..Report::default()
    })
}

/// Labels in random order teach nothing.
fn control(set: &Set, number: usize, runs: &[(&Cell, &Found)], untaught: &[(&Cell, &Found)]) -> Control {
    let mean_of = |runs: &[(&Cell, &Found)]| {
        let own = runs.iter().filter(|(cell, _)| cell.set == number && cell.system.name == CONTROL);
        100.0 * mean(&own.flat_map(|(_, found)| found.per_query.values().iter().copied()).collect::<Vec<_>>())
    };
    let (own, taught) = (mean_of(runs), mean_of(untaught));
    let random = mean(&set.folds.iter().map(|fold| 100.0 * of_random_order(&fold.sets[2], K)).collect::<Vec<_>>());
    let what = "trained on shuffled labels, step 0.001, the epoch chosen by true validation labels";
    shuffled::control(format!("{}: {CONTROL} {what}", set.name), own, taught, random)
}

/// How late the best epochs, trees or rounds are, and whether the chosen setting is at an end.
fn trainings(sizes: &Sizes, runs: &[(&Cell, &Found)]) -> anyhow::Result<Table> {
    let mut all = vec![];
    for (cell, found) in runs.iter().filter(|(cell, found)| cell.system.grows() && found.failure.is_none()) {
        let (config, _) = cell.system.config(found.value, sizes, 0)?;
        let step = matches!(cell.system.tuned, Tuned::StepSize(_)).then_some(config.learning_rate);
        // Chosen once for all seeds.
        let one = |(seed, &best): (usize, &usize)| Went {
            step,
            at_edge: found.at_edge.filter(|_| seed == 0),
            ..Went::new(cell.system.name, best, config.epochs)
        };
        all.extend(found.best_epochs.iter().enumerate().map(one));
    }
    Ok(trainings::table(&all))
}

/// A system here less the stored scores of it, fold by fold.
fn gaps(lines: &[Line], theirs: &str, ours: &str) -> Option<(String, Evidence)> {
    let folds = |name: &str| lines.iter().find(|line| line.name == name).map(|line| &line.by_fold);
    let (stored, found) = (folds(&format!("{theirs} (stored)"))?, folds(ours)?);
    let gaps = found.iter().zip(stored).map(|(found, stored)| 100.0 * (found - stored));
    Some((ours.to_owned(), Evidence::rounded(gaps, 2)))
}

fn table(set: &Set, board: &Leaderboard, lines: &[Line]) -> Table {
    let title = format!(
        "{}, percent: NDCG@10 and its interval are of all {} test queries, by resampling; MAP and MRR are the mean over {} folds of \
         each fold's mean:",
        set.name,
        board.queries,
        set.folds.len()
    );
    let head = ["rank", "system", "NDCG@10", "95% interval", "letters", "MAP", "MRR", "chosen setting, by fold"];
    let mut table = Table::titled(title, &head);
    for row in &board.rows {
        let line = &lines[row.system];
        let interval =
            row.interval.map_or("-".to_owned(), |(low, high)| format!("{:.2} to {:.2}", 100.0 * low, 100.0 * high));
        let cells = [row.rank.to_string(), row.name.clone(), format!("{:.2}", 100.0 * row.mean), interval];
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
        theirs: row.name.ends_with("(stored)"),
    };
    (format!("{}: NDCG@10 of test queries, percent", set.name), board.rows.iter().map(dot).collect())
}

fn protocol_text(sizes: &Sizes, sets: &[Set]) -> Vec<String> {
    let names: Vec<String> = sets.iter().map(Set::words).collect();
    let (settings, seeds) =
        (counted(sizes.settings, "setting", "settings"), counted(sizes.seeds as usize, "seed", "seeds"));
    vec![
        format!("Data: {}.", names.join("; ")),
        format!(
            "Every system is tried with {settings} of what matters most to it: the step size of nets, the leaves of trees, \
             the penalty of support vector machines, the scaling of features where there is nothing else; while the best is the \
             first or the last, values grow beyond that end by the same factor, up to {} times (not tau, nor scalings). The setting with \
             the best validation NDCG@10 of its best epoch is trained with {seeds} where it draws at random, whose \
             values are averaged query by query. Test queries are looked at once, with the chosen setting.",
            sizes.extensions
        ),
        format!("Settings that are tried: {}.", systems().map(|system| system.tried(sizes)).collect::<Vec<_>>().join("; ")),
        "Nets: features are brought to 0 to 1 within each query (query-minmax); two layers have ten hidden tanh units; Adam, a constant \
         step size, ten queries per batch."
            .into(),
        "A query with nothing relevant counts 0, equal scores are ranked pessimistically.".into(),
    ]
}

fn deviations(scale: Scale) -> Vec<String> {
    let mut all = vec![
        "Stored scores are those of other implementations and of their authors' settings; they were not tuned again."
            .into(),
        "RankNet's stored scores are not part of the verdict: they are of another net. ListNet's, which are part of it, are \
         of RankLib 2.1, whose ListNet and RankNet are known to be weak: being better than they are counts as a miss too."
            .into(),
    ];
    if scale == Scale::Quick {
        all.push("Quick: artificial data, one setting, one seed, few rounds.".into());
    }
    all
}
