//! Tables, figure and texts on the six systems.

use super::web::{Cell, LINEAR, OAP, OTHERS, PRANK, QUADRATIC, RANKPROP, SYSTEMS, Set, TWO, systems};
use super::web_runs::{METRIC, SystemRun, Tuned, sizes};
use crate::harness::Scale;
use crate::harness::figure::{Figure, Panel, Series, Whose, draw};
use crate::harness::units::{less, mean};
use burnrank::Dataset;
use burnrank::analysis::significance::wilcoxon;
use burnrank::internal::text::{Table, counted, p_value};
use burnrank::numeric::Mean;

/// Runs of a system on a set, by fold.
pub fn of<'a>(runs: &'a [(&'a Cell, &'a SystemRun)], set: usize, name: &str) -> Vec<&'a SystemRun> {
    runs.iter().filter(|(cell, _)| cell.set == set && cell.system.name == name).map(|(_, run)| *run).collect()
}

/// Test NDCG@15 of each fold in percent.
pub fn test_points(folds: &[&SystemRun]) -> Vec<f64> {
    folds.iter().map(|run| 100.0 * mean(run.test.values())).collect()
}

/// NDCG@15 of the test queries of all folds.
pub fn test_queries(folds: &[&SystemRun]) -> Vec<f64> {
    folds.iter().flat_map(|run| run.test.values().iter().copied()).collect()
}

/// Mean and half-width of the 95% interval over queries, as in the paper.
pub fn over_queries(values: &[f64]) -> (f64, f64) {
    let over = Mean::of(values);
    (over.mean, 1.96 * over.standard_error())
}

pub fn results_table(set: &Set, runs: &[(&Cell, &SystemRun)], number: usize) -> Table {
    let title = format!(
        "{}, {} folds: NDCG@15 in percent; intervals over all test queries, as in the paper:",
        set.name,
        set.folds.len()
    );
    let mut table = Table::titled(title, &["system", "paper, test", "validation", "test", "training", "folds"]);
    for system in systems() {
        let folds = of(runs, number, system.name);
        let (middle, half) = over_queries(&test_queries(&folds));
        let paper = SYSTEMS.iter().find(|(known, ..)| known.name == system.name);
        let by_fold: Vec<String> = test_points(&folds).iter().map(|point| format!("{point:.1}")).collect();
        let percent = |value: &dyn Fn(&SystemRun) -> f64| {
            format!("{:.2}", 100.0 * mean(&folds.iter().map(|run| value(run)).collect::<Vec<_>>()))
        };
        table.row([
            system.name.to_owned(),
            paper.map_or("-".into(), |(_, value, half)| format!("{:.1} ± {:.1}", 100.0 * value, 100.0 * half)),
            percent(&|run| run.valid),
            format!("{:.2} ± {:.2}", 100.0 * middle, 100.0 * half),
            percent(&|run| run.train),
            by_fold.join(" "),
        ]);
    }
    table
}

/// Number of runs with the best epoch in the last tenth of the maximum.
fn late_epochs(folds: &[&SystemRun], max: usize) -> String {
    let all: Vec<usize> = folds.iter().flat_map(|run| run.best_epochs.iter().copied()).collect();
    format!("{} of {} (maximum {max})", all.iter().filter(|best| 10 * **best > 9 * max).count(), all.len())
}

pub fn settings_table(scale: Scale, set: &Set, runs: &[(&Cell, &SystemRun)], number: usize) -> Table {
    let sizes = sizes(scale);
    let title = format!(
        "{}: settings selected on validation queries, by fold (in the paper, best epochs 20 and 22 for the nets, tau \
         0.3):",
        set.name
    );
    let late = "best epoch in the last tenth";
    let mut table =
        Table::titled(title, &["system", "settings", "best epochs", late, "setting at the edge of the grid"]);
    for system in systems() {
        let folds = of(runs, number, system.name);
        let max = system.config(system.first(&sizes), &sizes, 0).map_or(0, |(config, _)| config.epochs);
        let join =
            |each: &dyn Fn(&SystemRun) -> String| folds.iter().map(|run| each(run)).collect::<Vec<_>>().join("; ");
        let list = |values: &[usize]| values.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
        table.row([
            system.name.to_owned(),
            // Stored as "step 0.01".
            join(&|run| run.setting.replace("step", "learning rate")),
            join(&|run| list(&run.best_epochs)),
            late_epochs(&folds, max),
            match system.tuned {
                Tuned::Scaling => "-".into(),
                _ => format!("{} of {}", folds.iter().filter(|run| run.at_edge).count(), folds.len()),
            },
        ]);
    }
    table
}

/// Table 3.
pub fn sizes_table(sets: &[Set], runs: &[(&Cell, &SystemRun)]) -> Table {
    let title = "Sizes (Table 3 of the paper: 11,336 training queries with 384,314 documents, 2,834 validation and \
                 test queries with 2.7 million documents each), mean over folds:";
    let mut table = Table::titled(title, &["set", "queries", "documents", "training documents with 2% of label 0"]);
    for (number, set) in sets.iter().enumerate() {
        let size = |part: usize, of: &dyn Fn(&Dataset) -> usize| -> String {
            format!("{:.0}", mean(&set.folds.iter().map(|fold| of(&fold[part]) as f64).collect::<Vec<_>>()))
        };
        let all =
            |count: &dyn Fn(&Dataset) -> usize| (0..3).map(|part| size(part, count)).collect::<Vec<_>>().join(" / ");
        let few: Vec<f64> = of(runs, number, OTHERS[1].name).iter().map(|run| run.documents as f64).collect();
        table.row([
            set.name.to_owned(),
            all(&Dataset::n_queries),
            all(&Dataset::n_documents),
            format!("{:.0}", mean(&few)),
        ]);
    }
    table
}

/// Training times in Table 6, by system.
const PAPER_TIMES: [(&str, &str); 6] = [
    (QUADRATIC, "39 h 52 min"),
    (PRANK, "11 min"),
    (OAP, "10 h 23 min"),
    (RANKPROP, "23 min"),
    (LINEAR, "1 h 7 min"),
    (TWO, "5 h 51 min"),
];

/// Table 6: training times.
pub fn times_table(sets: &[Set], runs: &[(&Cell, &SystemRun)], seconds: &[Option<f64>]) -> Table {
    let title = "Training times (Table 6 of the paper: 100 epochs on one machine of 2005; here: seconds on one core per fold for \
                 all trials and seeds, mean over folds, with another run in parallel on the other core):";
    let mut head = vec!["system", "paper"];
    head.extend(sets.iter().map(|set| set.name));
    let mut table = Table::titled(title, &head);
    for (name, paper) in PAPER_TIMES {
        let of_set = |set: usize| {
            let own = runs.iter().zip(seconds).filter(|((cell, _), _)| cell.set == set && cell.system.name == name);
            let all: Option<Vec<f64>> = own.map(|(_, seconds)| *seconds).collect();
            all.map_or("-".into(), |all| format!("{:.1}", mean(&all)))
        };
        table.row([name.to_owned(), paper.to_owned()].into_iter().chain((0..sets.len()).map(of_set)));
    }
    table
}

/// The paper's test over queries.
pub fn wilcoxon_table(sets: &[Set], runs: &[(&Cell, &SystemRun)]) -> Table {
    let title = "Two layers against the linear net by Wilcoxon's test over test queries, as in the paper (which rejects equal \
                 medians at 16%); queries of few folds are not independent samples, so the verdict does not use it:";
    let mut table = Table::titled(title, &["set", "queries", "mean difference, points", "p"]);
    for (number, set) in sets.iter().enumerate() {
        let gaps = less(&test_queries(&of(runs, number, TWO)), &test_queries(&of(runs, number, LINEAR)));
        let cells = [
            gaps.len().to_string(),
            format!("{:+.2}", 100.0 * mean(&gaps)),
            p_value(wilcoxon(&gaps).map(|test| test.p)),
        ];
        table.row([set.name.to_owned()].into_iter().chain(cells));
    }
    table
}

pub fn notes() -> Vec<String> {
    vec![
        "The paper's data is not available: only the order of the systems is compared.".into(),
        "Folds of a set share training queries and are not independent: p-values of the test over ten folds are slightly too \
         small."
            .into(),
        "The seconds of each run are in `times.json`. Machine, program and number of epochs differ from the paper's, so there is \
         no claim on times."
            .into(),
        "Unlabelled documents: LETOR's sets have none. Documents of label 0 are used instead, because unlabelled documents have \
         rating 0 in the paper: the linear net is trained without them and with a random 2% of them, like the paper's nets. Test \
         queries keep all documents."
            .into(),
    ]
}

pub fn protocol_text(scale: Scale, sets: &[Set]) -> Vec<String> {
    let sizes = sizes(scale);
    let names: Vec<String> = sets.iter().map(|set| format!("{} in {} folds", set.name, set.folds.len())).collect();
    vec![
        format!("Data: {}.", names.join("; ")),
        format!(
            "Every system is trained for at most {} epochs with early stopping after 20; the epoch with the best validation \
             {METRIC} is used. Validation queries also select the learning rate of nets (from {:?}, extended at most {} times \
             while the best value is at the edge), tau of OAP-BPM (0.3, 0.5, 0.7, as in the paper) with {} perceptrons, and the \
             feature scaling for PRank, quadratic PRank and RankProp, which have no constant. Nets and OAP-BPM have features \
             scaled to 0 to 1 within each query (query-minmax). The two-layer net has 10 hidden units.",
            sizes.epochs, sizes.learning_rates, sizes.extensions, sizes.perceptrons
        ),
        format!(
            "{} averaged query by query; OAP-BPM has one, because it averages perceptrons, and RankProp is \
             deterministic.",
            counted(sizes.seeds as usize, "seed is", "seeds are")
        ),
    ]
}

pub fn deviations(scale: Scale) -> Vec<String> {
    let mut all = vec![
        "Other data: MQ2007 and MQ2008 have 46 features, labels 0 to 2 and 8 to 40 labelled documents per query; the paper has 569 \
         features, labels 0 to 5 and up to 1,000 documents per query of which about 1% are labelled."
            .into(),
        "Nets are trained by Adam in batches of 10 queries with a tuned learning rate, not by gradient descent with a learning \
         rate of 0.001 that is halved."
            .into(),
        "The number of perceptrons is the paper's and is not tuned. Tau is one of the paper's three values; the table of settings \
         shows how often the best one is at the edge."
            .into(),
        "RankProp is linear and solves the least squares of each round exactly; the paper's is a net trained by gradient descent. \
         If the best epoch is 1, the targets are those of the first round."
            .into(),
        "For systems without a constant, one of four feature scalings is selected; nets and OAP-BPM have one. A difference between \
         the two kinds may be due to scaling."
            .into(),
    ];
    if scale == Scale::Quick {
        all.push(
            "Quick: artificial data, two folds, two settings, one seed, 10 epochs, 5 perceptrons; no conclusions."
                .into(),
        );
    }
    all
}

pub fn figure(sets: &[Set], runs: &[(&Cell, &SystemRun)]) -> anyhow::Result<Figure> {
    let point = |place: usize, middle: f64, half: f64| {
        (place as f64, 100.0 * middle, Some((100.0 * (middle - half), 100.0 * (middle + half))))
    };
    let theirs = SYSTEMS.iter().enumerate().map(|(place, (_, value, half))| point(place, *value, *half)).collect();
    let mut series = vec![Series {
        name: "the paper, other data".into(),
        whose: Whose::Paper,
        colour: 5,
        joined: true,
        points: theirs,
    }];
    for (number, set) in sets.iter().enumerate() {
        let ours = SYSTEMS.iter().enumerate().map(|(place, (system, ..))| {
            let (middle, half) = over_queries(&test_queries(&of(runs, number, system.name)));
            point(place, middle, half)
        });
        series.push(Series {
            name: set.name.into(),
            whose: Whose::Ours,
            colour: number,
            joined: true,
            points: ours.collect(),
        });
    }
    let names = ["quadratic", "PRank", "OAP-BPM", "RankProp", "linear", "two layers"];
    draw(&[Panel {
        title: "test NDCG@15, 95% intervals over queries".into(),
        x_label: "PRank, quadratic and linear; OAP-BPM; RankProp; RankNet, linear and two layers".into(),
        y_label: "percent".into(),
        ticks: names.iter().enumerate().map(|(place, name)| (place as f64, name.to_string())).collect(),
        series,
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
