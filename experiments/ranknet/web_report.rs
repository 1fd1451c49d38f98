//! Tables, figure and texts on the six systems.

use super::web::{Cell, ENTRIES, Entry, FEW, GAP, K, LINEAR, METRIC, ORDERS, PRANK, SHUFFLED, TWO, tuning};
use crate::harness::figure::{Figure, Panel, Series, draw, numbered};
use crate::harness::real::{FoldedSet, WHERE};
use crate::harness::shuffled::{self, of_random_order};
use crate::harness::systems::SystemRun;
use crate::harness::trainings;
use crate::harness::units::{less, mean};
use crate::harness::{Control, Evidence, Execution, Report, Scale};
use burnrank::Dataset;
use burnrank::analysis::significance::wilcoxon;
use burnrank::internal::text::{Table, counted, p_value};
use burnrank::numeric::Mean;

type Runs<'a> = [(&'a Cell, &'a SystemRun)];

/// Runs of a system on a set, by fold.
fn of<'a>(runs: &Runs<'a>, set: usize, name: &str) -> Vec<&'a SystemRun> {
    runs.iter().filter(|(cell, _)| cell.set == set && cell.entry.system.name == name).map(|(_, run)| *run).collect()
}

/// Test NDCG@15 of each fold in percent.
fn test_points(folds: &[&SystemRun]) -> Vec<f64> {
    folds.iter().map(|run| 100.0 * mean(run.test.values())).collect()
}

/// NDCG@15 of the test queries of all folds.
fn test_queries(folds: &[&SystemRun]) -> Vec<f64> {
    folds.iter().flat_map(|run| run.test.values().iter().copied()).collect()
}

/// Mean and half-width of the 95% interval over queries, as in the paper.
fn over_queries(values: &[f64]) -> (f64, f64) {
    let over = Mean::of(values);
    (over.mean, 1.96 * over.standard_error())
}

pub fn report(
    execution: &Execution<'_>,
    sets: &[FoldedSet],
    runs: &Runs<'_>,
    seconds: &[Option<f64>],
) -> anyhow::Result<Report> {
    let real: Vec<usize> = (0..sets.len()).filter(|&set| sets[set].is_real).collect();
    let over_sets = |each: &dyn Fn(usize) -> Vec<f64>| -> Evidence {
        match real.is_empty() {
            true => Evidence::missing("needs MQ2007 or MQ2008 (--data)"),
            false => Evidence::rounded(real.iter().flat_map(|&set| each(set)), 2),
        }
    };
    let mut evidence = vec![];
    for (id, first, second, ..) in ORDERS {
        let gaps = |set: usize| less(&test_points(&of(runs, set, first)), &test_points(&of(runs, set, second)));
        evidence.push((id.to_owned(), over_sets(&gaps)));
    }
    let gap = |set: usize, name: &str| -> Vec<f64> {
        let folds = of(runs, set, name);
        folds.iter().zip(test_points(&folds)).map(|(run, test)| 100.0 * run.others["train"] - test).collect()
    };
    evidence.push((GAP.into(), over_sets(&|set| less(&gap(set, TWO), &gap(set, LINEAR)))));
    let (mut tables, mut main) = (vec![], vec![]);
    for (number, set) in sets.iter().enumerate() {
        tables.push(results_table(set, runs, number));
        tables.push(settings_table(set, runs, number));
        let point = |name: &str| 100.0 * mean(&test_queries(&of(runs, number, name)));
        main.push(format!(
            "{}: two layers {:.2}, linear {:.2}, PRank {:.2}",
            set.name,
            point(TWO),
            point(LINEAR),
            point(PRANK)
        ));
    }
    let went: Vec<_> = runs.iter().flat_map(|(cell, run)| run.went(cell.entry.system.name)).collect();
    tables.extend([trainings::table(&went), sizes_table(sets, runs), times_table(sets, runs, seconds)]);
    tables.push(wilcoxon_table(sets, runs));
    Ok(Report {
        evidence,
        controls: controls(sets, runs),
        main: main.join("; "),
        tables,
        notes: NOTES.map(String::from).into(),
        protocol: protocol_text(execution.scale(), sets),
        deviations: DEVIATIONS.map(String::from).into(),
        figure: figure(sets, runs)?,
        bring: Some(WHERE.into()),
        other_data: true,
        ..Report::default()
    })
}

/// Controls: training on shuffled labels.
fn controls(sets: &[FoldedSet], runs: &Runs<'_>) -> Vec<Control> {
    let control = |(number, set): (usize, &FoldedSet)| {
        let random = 100.0 * mean(&set.folds.iter().map(|[_, _, test]| of_random_order(test, K)).collect::<Vec<_>>());
        let point = |name: &str| 100.0 * mean(&test_queries(&of(runs, number, name)));
        let what = "trained on shuffled labels; learning rate and epoch are selected with true validation labels";
        shuffled::control(format!("{}: the linear net {what}", set.name), point(LINEAR), point(SHUFFLED), random)
    };
    sets.iter().enumerate().map(control).collect()
}

fn results_table(set: &FoldedSet, runs: &Runs<'_>, number: usize) -> Table {
    let title = format!(
        "{}, {} folds: NDCG@15 in percent; intervals over all test queries, as in the paper:",
        set.name,
        set.folds.len()
    );
    let mut table = Table::titled(title, &["system", "paper, test", "validation", "test", "training", "folds"]);
    for Entry { system, paper, .. } in &ENTRIES {
        let folds = of(runs, number, system.name);
        let (middle, half) = over_queries(&test_queries(&folds));
        let by_fold: Vec<String> = test_points(&folds).iter().map(|point| format!("{point:.1}")).collect();
        let percent = |value: &dyn Fn(&SystemRun) -> f64| {
            format!("{:.2}", 100.0 * mean(&folds.iter().map(|run| value(run)).collect::<Vec<_>>()))
        };
        table.row([
            system.name.to_owned(),
            paper.map_or("-".into(), |(value, half)| format!("{:.1} ± {:.1}", 100.0 * value, 100.0 * half)),
            percent(&|run| run.valid),
            format!("{:.2} ± {:.2}", 100.0 * middle, 100.0 * half),
            percent(&|run| run.others["train"]),
            by_fold.join(" "),
        ]);
    }
    table
}

fn settings_table(set: &FoldedSet, runs: &Runs<'_>, number: usize) -> Table {
    let title = format!(
        "{}: settings selected on validation queries, by fold (in the paper, best epochs 20 and 22 for the nets, tau 0.3):",
        set.name
    );
    let mut table = Table::titled(title, &["system", "settings", "best epochs"]);
    for Entry { system, .. } in &ENTRIES {
        let folds = of(runs, number, system.name);
        let join =
            |each: &dyn Fn(&SystemRun) -> String| folds.iter().map(|run| each(run)).collect::<Vec<_>>().join("; ");
        let epochs = |run: &SystemRun| run.best_epochs.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
        table.row([system.name.to_owned(), join(&|run| run.setting.clone()), join(&epochs)]);
    }
    table
}

/// Table 3.
fn sizes_table(sets: &[FoldedSet], runs: &Runs<'_>) -> Table {
    let title = "Sizes (Table 3 of the paper: 11,336 training queries with 384,314 documents, 2,834 validation and \
                 test queries with 2.7 million documents each), mean over folds:";
    let mut table = Table::titled(title, &["set", "queries", "documents", "training documents with 2% of label 0"]);
    for (number, set) in sets.iter().enumerate() {
        let size = |part: usize, of: &dyn Fn(&Dataset) -> usize| -> String {
            format!("{:.0}", mean(&set.folds.iter().map(|fold| of(&fold[part]) as f64).collect::<Vec<_>>()))
        };
        let all =
            |count: &dyn Fn(&Dataset) -> usize| (0..3).map(|part| size(part, count)).collect::<Vec<_>>().join(" / ");
        let few: Vec<f64> = of(runs, number, FEW).iter().map(|run| run.documents as f64).collect();
        let few = format!("{:.0}", mean(&few));
        table.row([set.name.to_owned(), all(&Dataset::n_queries), all(&Dataset::n_documents), few]);
    }
    table
}

/// Table 6: training times.
fn times_table(sets: &[FoldedSet], runs: &Runs<'_>, seconds: &[Option<f64>]) -> Table {
    let title = "Training times (Table 6 of the paper: 100 epochs on one machine of 2005; here: seconds on one core per fold for \
                 all trials and seeds, mean over folds, with another run in parallel on the other core):";
    let mut head = vec!["system", "paper"];
    head.extend(sets.iter().map(|set| set.name));
    let mut table = Table::titled(title, &head);
    for Entry { system, time, .. } in &ENTRIES {
        let of_set = |set: usize| {
            let is_own = |cell: &Cell| cell.set == set && cell.entry.system.name == system.name;
            let own = runs.iter().zip(seconds).filter(|((cell, _), _)| is_own(cell));
            let all: Option<Vec<f64>> = own.map(|(_, seconds)| *seconds).collect();
            all.map_or("-".into(), |all| format!("{:.1}", mean(&all)))
        };
        table.row([system.name.to_owned(), time.to_string()].into_iter().chain((0..sets.len()).map(of_set)));
    }
    table
}

/// The paper's test over queries.
fn wilcoxon_table(sets: &[FoldedSet], runs: &Runs<'_>) -> Table {
    let title = "Two layers against the linear net by Wilcoxon's test over test queries, as in the paper (which rejects equal \
                 medians at 16%); queries of few folds are not independent samples, so the verdict does not use it:";
    let mut table = Table::titled(title, &["set", "queries", "mean difference, points", "p"]);
    for (number, set) in sets.iter().enumerate() {
        let gaps = less(&test_queries(&of(runs, number, TWO)), &test_queries(&of(runs, number, LINEAR)));
        let p = p_value(wilcoxon(&gaps).map(|test| test.p));
        table.row([set.name.to_owned(), gaps.len().to_string(), format!("{:+.2}", 100.0 * mean(&gaps)), p]);
    }
    table
}

const NOTES: [&str; 4] = [
    "The paper's data is not available: only the order of the systems is compared.",
    "Folds of a set share training queries and are not independent: p-values of the test over ten folds are slightly too small.",
    "The seconds of each run are in `times.json`. Machine, program and number of epochs differ from the paper's, so there is no \
     claim on times.",
    "Unlabelled documents: LETOR's sets have none. Documents of label 0 are used instead, because unlabelled documents have \
     rating 0 in the paper: the linear net is trained without them and with a random 2% of them, like the paper's nets. Test \
     queries keep all documents.",
];

fn protocol_text(scale: Scale, sets: &[FoldedSet]) -> Vec<String> {
    let tuning = tuning(scale);
    let names: Vec<String> = sets.iter().map(|set| format!("{} in {} folds", set.name, set.folds.len())).collect();
    let grids: Vec<String> = ENTRIES[..7].iter().map(|entry| entry.system.describe()).collect();
    vec![
        format!("Data: {}.", names.join("; ")),
        format!(
            "Every system is trained for at most {} epochs with early stopping after 20; the epoch with the best validation \
             {METRIC} is used. Validation queries also select a setting of each system: {}. Grids of learning rates are extended \
             by the same factor while the best value is at the edge, at most {} times. Scalings are: none; to 0 to 1 within each \
             query (query-minmax); to mean 0 and deviation 1 (zscore); the same of logarithms (log1p-zscore). Nets and RankProp \
             by gradient descent use query-minmax. The two-layer net has 10 hidden units; OAP-BPM averages 100 perceptrons, as in \
             the paper.",
            tuning.epochs.unwrap_or(0),
            grids.join("; "),
            tuning.extensions
        ),
        format!(
            "RankProp: in each epoch the documents of a query are ranked by label and, within a label, by their current scores; \
             a linear net is then trained on these ranks, scaled to 0 to 1, by stochastic gradient descent on the squared error, \
             document by document. {} averaged query by query.",
            counted(tuning.seeds as usize, "seed is", "seeds are")
        ),
    ]
}

const DEVIATIONS: [&str; 6] = [
    "Other data: MQ2007 and MQ2008 have 46 features, labels 0 to 2 and 8 to 40 labelled documents per query; the paper has 569 \
     features, labels 0 to 5 and up to 1,000 documents per query of which about 1% are labelled.",
    "Nets are trained by Adam in batches of 10 queries with a tuned learning rate, not by gradient descent with a learning \
     rate of 0.001 that is halved.",
    "The number of perceptrons is the paper's and is not tuned.",
    "The paper does not say how its RankProp was trained: learning rate, scaling of targets, and number of epochs between new \
     targets are ours.",
    "The row of RankProp with exact least squares is not the paper's: it solves each round's regression exactly. If its best \
     epoch is 1, the targets are those of the first round.",
    "For PRank, quadratic PRank, OAP-BPM and the exact RankProp one of four feature scalings is selected; the others have \
     one. A difference between the two kinds may be due to scaling.",
];

fn figure(sets: &[FoldedSet], runs: &Runs<'_>) -> anyhow::Result<Figure> {
    let point = |place: usize, (middle, half): (f64, f64)| {
        (place as f64, 100.0 * middle, Some((100.0 * (middle - half), 100.0 * (middle + half))))
    };
    let papers = || ENTRIES.iter().filter_map(|entry| Some((entry.system.name, entry.paper?))).enumerate();
    let theirs = papers().map(|(place, (_, paper))| point(place, paper));
    let mut all = vec![Series::papers("the paper, other data", 5, theirs)];
    for (number, set) in sets.iter().enumerate() {
        let ours =
            papers().map(|(place, (name, _))| point(place, over_queries(&test_queries(&of(runs, number, name)))));
        all.push(Series::ours(set.name, number, ours));
    }
    let names = ["quadratic", "PRank", "OAP-BPM", "RankProp", "linear", "two layers"];
    draw(&[Panel {
        title: "test NDCG@15, 95% intervals over queries".into(),
        x_label: "PRank, quadratic and linear; OAP-BPM; RankProp; RankNet, linear and two layers".into(),
        y_label: "percent".into(),
        ticks: numbered(names),
        series: all,
        bars: "95% intervals of the mean over all test queries, as in the paper",
        ..Panel::default()
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_mean() {
        let (middle, half) = over_queries(&[0.0, 1.0, 0.0, 1.0]);
        assert!((middle - 0.5).abs() < 1e-12 && (half - 1.96 * (1.0f64 / 12.0).sqrt()).abs() < 1e-12);
    }
}
