//! All systems in order, and beside their published scores.

use super::roster::{System, Tuned, systems};
use super::sets::{SCORES, Set};
use super::train::{Cell, Found};
use super::{ALSO, CLAIMED, MARGIN, MEASURE, PUBLISHED, Sizes};
use crate::harness::dots::{self, Dot};
use crate::harness::real::{MQ2008, WHERE};
use crate::harness::trainings::{self, Went};
use crate::harness::units::mean;
use crate::harness::{Evidence, Execution, Report, Scale};
use burnrank::analysis::significance::{CompareOptions, Leaderboard, PerQuery, Standing};
use burnrank::text::{Table, counted};
use burnrank::train::GROWS_TREES;
use burnrank::{Conventions, judge};

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
        let called = |found: &&Found| if found.setting.is_empty() { "-".into() } else { found.setting.clone() };
        let settings: Vec<String> = chosen.iter().map(called).collect();
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

pub fn report(
    execution: &Execution<'_>,
    sizes: &Sizes,
    sets: &[Set],
    runs: &[(&Cell, &Found)],
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
         queries of all folds, with Holm's correction, at 5%."
            .into(),
    );
    notes.push(format!(
        "Published scores were made by other programs, ListNet's and RankNet's by RankLib 2.1; none of the five papers has them. \
         The margin of {MARGIN} points is a choice; half of the 95% interval of one system's mean over all test queries of \
         MQ2008 is about 2.7 points."
    ));
    notes.push(ends(runs));
    tables.push(trainings(sizes, runs)?);
    Ok(Report {
        evidence,
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

/// Whether a system's four settings are in order, so that the best can be at an end.
fn is_ordered(system: &System) -> bool {
    matches!(system.tuned, Tuned::StepSize(_) | Tuned::Leaves(_) | Tuned::Setting(..))
}

/// Whether the chosen setting is the first or the last of those that were tried.
fn at_edge(found: &Found) -> bool {
    [found.tried.first(), found.tried.last()].into_iter().flatten().any(|tried| tried.0 == found.setting)
}

/// How many chosen settings are at an end, in a sentence.
fn ends(runs: &[(&Cell, &Found)]) -> String {
    let ordered: Vec<_> =
        runs.iter().filter(|(cell, found)| is_ordered(cell.system) && found.failure.is_none()).collect();
    let edge = ordered.iter().filter(|(_, found)| at_edge(found)).count();
    format!(
        "The values that are tried do not grow: in {edge} of {} cases the best of them is the first or the last, so that a wider \
         range might do better.",
        ordered.len()
    )
}

/// How late the best epochs of nets, and the best numbers of trees, are.
fn trainings(sizes: &Sizes, runs: &[(&Cell, &Found)]) -> anyhow::Result<Table> {
    let mut all = vec![];
    for (cell, found) in runs.iter().filter(|(cell, found)| cell.system.objective.is_some() && found.failure.is_none())
    {
        let setting = found.tried.iter().position(|tried| tried.0 == found.setting).unwrap_or(0);
        let (config, _) = cell.system.config(setting, sizes, 0)?;
        let step = matches!(cell.system.tuned, Tuned::StepSize(_)).then_some(config.learning_rate);
        // Chosen once for all seeds.
        let one = |(seed, &best): (usize, &usize)| Went {
            step,
            at_edge: (seed == 0).then(|| at_edge(found)),
            ..Went::new(cell.system.name, best, config.epochs)
        };
        all.extend(found.best_epochs.iter().enumerate().map(one));
    }
    Ok(trainings::table(&all))
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
        "{}, in the order of the mean NDCG@10 over all {} test queries; columns are percent, the mean over {} folds of each \
         fold's mean; the interval is that of the mean over all test queries, by resampling:",
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
    let names: Vec<String> = sets.iter().map(Set::words).collect();
    let (settings, seeds) =
        (counted(sizes.settings, "setting", "settings"), counted(sizes.seeds as usize, "seed", "seeds"));
    vec![
        format!("Data: {}.", names.join("; ")),
        format!(
            "Every system is tried with {settings} of what matters most to it: the step size of nets, the leaves of trees, \
             the penalty of support vector machines, the scaling of features where there is nothing else. The setting with \
             the best validation NDCG@10 of its best epoch is trained with {seeds} where it draws at random, whose \
             values are averaged query by query. Test queries are looked at once, with the chosen setting."
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
