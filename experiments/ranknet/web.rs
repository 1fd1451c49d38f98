//! Tables 3 to 6 of the paper: six systems on queries of a search engine, here on LETOR's.

use super::web_runs::{Documents, Found, MEASURE, System, TAUS, Tuned, sizes};
use crate::harness::figure::{Panel, Series, Whose, draw};
use crate::harness::real::{self, MQ2007, MQ2008, RealSet};
use crate::harness::units::{less, mean};
use crate::harness::{Claim, Control, Evidence, Execution, Experiment, Job, Kind, Paper, Report, Scale, Session, Test};
use burnrank::analysis::significance::wilcoxon;
use burnrank::text::{Table, p_value};
use burnrank::{Dataset, Synthetic};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "ranknet-web",
    kind: Kind::Paper,
    paper: Paper::RankNet,
    place: "section 6: Tables 3 to 6",
    claim: "On queries of a search engine linear RankNet is better than the other linear systems (PRank, OAP-BPM, RankProp), the two-layer net is \
            better still, averaged perceptrons are better than one, and quadratic PRank is the worst (NDCG at 15).",
    time: "about 15 minutes (MQ2007 and MQ2008)",
    claims,
    changed: &[],
    protocol,
    run,
    own: None,
};

const fn system(name: &'static str, model: &'static str, tuned: Tuned, seeds: u64) -> System {
    System { name, model, tuned, documents: Documents::All, seeds }
}

const QUADRATIC: &str = "quadratic PRank";
const PRANK: &str = "linear PRank";
const OAP: &str = "OAP-BPM";
const RANKPROP: &str = "RankProp";
const LINEAR: &str = "RankNet, linear";
const TWO: &str = "RankNet, two layers";
const SHUFFLED: &str = "RankNet, linear, shuffled labels";

/// In the order of Table 4, with its test values and half intervals.
const SYSTEMS: [(System, f64, f64); 6] = [
    (system(QUADRATIC, "prank-quadratic", Tuned::Scaling, 2), 0.327, 0.011),
    (system(PRANK, "prank", Tuned::Scaling, 2), 0.412, 0.010),
    (system(OAP, "oap-bpm", Tuned::Tau, 1), 0.454, 0.011),
    (system(RANKPROP, "rankprop", Tuned::Scaling, 1), 0.460, 0.011),
    (system(LINEAR, "linear", Tuned::Step, 2), 0.477, 0.010),
    (system(TWO, "mlp", Tuned::Step, 2), 0.488, 0.010),
];

/// The linear net on other documents.
const OTHERS: [System; 3] = [
    System {
        documents: Documents::Unlabelled(0),
        ..system("RankNet, linear, without label 0", "linear", Tuned::Step, 2)
    },
    System { documents: Documents::Unlabelled(2), ..system("RankNet, linear, with 2% of label 0", "linear", Tuned::Step, 2) },
    System { documents: Documents::Shuffled, ..system(SHUFFLED, "linear", Tuned::Step, 1) },
];

fn systems() -> impl Iterator<Item = &'static System> {
    SYSTEMS.iter().map(|(system, ..)| system).chain(&OTHERS)
}

/// Claims that the first system is above the second: its name, both, the paper's numbers, whether the verdict counts it.
const ORDERS: [(&str, &str, &str, &str, bool); 8] = [
    ("linear over PRank", LINEAR, PRANK, "0.477 and 0.412", true),
    ("linear over OAP-BPM", LINEAR, OAP, "0.477 and 0.454", true),
    ("linear over RankProp", LINEAR, RANKPROP, "0.477 and 0.460", true),
    ("two layers over linear", TWO, LINEAR, "0.488 and 0.477", true),
    ("OAP-BPM over PRank", OAP, PRANK, "0.454 and 0.412", true),
    ("PRank over quadratic PRank", PRANK, QUADRATIC, "0.412 and 0.327", true),
    ("RankProp over OAP-BPM", RANKPROP, OAP, "0.460 and 0.454: within the intervals", false),
    ("unlabelled documents help", OTHERS[1].name, OTHERS[0].name, "trained so, without a number", false),
];

const UNIT: &str = "fold of MQ2007 or MQ2008";
const GAP: &str = "two-layer gap";

fn claims(_: &Session) -> Vec<Claim> {
    let convention = "points of NDCG@15, gain 2^label - 1, mean over test queries, a query without relevant documents counts 0; settings and \
                      epoch chosen on validation queries; mean over seeds";
    let order = |&(id, first, second, paper, primary): &(&str, &str, &str, &str, bool)| Claim {
        primary,
        ..Claim::primary(id, format!("{first} less {second}, points of NDCG@15"), Test::Above)
            .paper(paper)
            .unit(UNIT)
            .convention(convention)
    };
    let gap = Claim::secondary(
        GAP,
        "Training value less test value: larger for two layers than for the linear net, points of NDCG@15",
        Test::Above,
    )
    .paper(
        "0.500 - 0.488 and 0.479 - 0.477: \"functioning at capacity\", \"may still benefit from more training data\"",
    )
    .unit(UNIT)
    .convention(convention);
    ORDERS.iter().map(order).chain([gap]).collect()
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    let mut all = vec![];
    for system in systems() {
        let first = match system.tuned {
            Tuned::Step => sizes.steps[0],
            Tuned::Tau => TAUS[0],
            Tuned::Scaling => 0.0,
        };
        all.push(json!({"name": system.name, "seeds": system.seeds.min(sizes.seeds), "run": system.config(first, &sizes, session.seed)?.0}));
    }
    Ok(json!({"systems": all, "steps": sizes.steps, "more": sizes.more, "settings": sizes.settings, "taus": TAUS}))
}

struct Set {
    key: &'static str,
    name: &'static str,
    folds: Vec<[Dataset; 3]>,
    real: bool,
}

/// One system on one fold of one set.
struct Cell {
    set: usize,
    fold: usize,
    system: &'static System,
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sets = find_sets(execution)?;
    let mut jobs = vec![];
    for (number, set) in sets.iter().enumerate() {
        for (fold, data) in set.folds.iter().enumerate() {
            for system in systems() {
                let slow = if matches!(system.tuned, Tuned::Tau) { 10.0 } else { 1.0 };
                jobs.push(Job {
                    key: format!("{} fold {} {}", set.key, fold + 1, system.name).to_lowercase(),
                    work: slow * data[0].n_documents() as f64,
                    what: Cell { set: number, fold, system },
                });
            }
        }
    }
    let found = execution.run_all(&jobs, |job, ticker| {
        job.what.system.run(execution, &job.key, &sets[job.what.set].folds[job.what.fold], ticker)
    })?;
    let runs: Vec<(&Cell, &Found)> = jobs.iter().map(|job| &job.what).zip(&found).collect();
    report(execution, &sets, &runs)
}

fn find_sets(execution: &Execution<'_>) -> anyhow::Result<Vec<Set>> {
    let folder = execution.session.data.as_deref().filter(|_| execution.scale() == Scale::Paper);
    let mut sets: Vec<Set> = vec![];
    let mut add =
        |RealSet { folder: key, name }: RealSet, files: Vec<burnrank::data::FoldFiles>| -> anyhow::Result<()> {
            let folds = files.iter().map(real::load).collect::<anyhow::Result<_>>()?;
            sets.push(Set { key, name, folds, real: true });
            Ok(())
        };
    if let Some((set, files)) = real::first_of(&MQ2007, folder)? {
        add(set, files)?;
    }
    if let Some(files) = MQ2008.folds(folder)? {
        add(MQ2008, files)?;
    }
    if sets.is_empty() {
        let mut folds = vec![];
        for fold in 0..2 {
            let seed = execution.session.seed.wrapping_mul(1000).wrapping_add(fold);
            let generator = Synthetic { features: 10, documents: 20, seed, ..Synthetic::net() }.generator()?;
            let part = |from: usize, n: usize| generator.part(from..from + n).map(|part| part.0);
            folds.push([part(0, 30)?, part(30, 15)?, part(45, 30)?]);
        }
        sets.push(Set { key: "artificial", name: "artificial net data", folds, real: false });
    }
    Ok(sets)
}

/// A system's runs on one set, fold by fold.
fn of<'a>(runs: &'a [(&'a Cell, &'a Found)], set: usize, name: &str) -> Vec<&'a Found> {
    runs.iter().filter(|(cell, _)| cell.set == set && cell.system.name == name).map(|(_, found)| *found).collect()
}

/// The mean of each fold's test queries, in points.
fn test_points(folds: &[&Found]) -> Vec<f64> {
    folds.iter().map(|found| 100.0 * mean(found.test.values())).collect()
}

fn test_queries(folds: &[&Found]) -> Vec<f64> {
    folds.iter().flat_map(|found| found.test.values().iter().copied()).collect()
}

/// Mean and half of the 95% interval over queries, as the paper has it.
fn over_queries(values: &[f64]) -> (f64, f64) {
    let (n, middle) = (values.len() as f64, mean(values));
    let variance = values.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (middle, 1.96 * (variance / n).sqrt())
}

fn report(execution: &Execution<'_>, sets: &[Set], runs: &[(&Cell, &Found)]) -> anyhow::Result<Report> {
    let real: Vec<usize> = (0..sets.len()).filter(|&set| sets[set].real).collect();
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
        folds.iter().zip(test_points(&folds)).map(|(found, test)| 100.0 * found.train - test).collect()
    };
    evidence.push((GAP.into(), over_sets(&|set| less(&gap(set, TWO), &gap(set, LINEAR)))));
    let mut tables = vec![];
    let mut main = vec![];
    for (number, set) in sets.iter().enumerate() {
        tables.push(results_table(set, runs, number));
        tables.push(settings_table(set, runs, number));
        let point = |name: &str| mean(&test_points(&of(runs, number, name)));
        main.push(format!(
            "{}: two layers {:.2}, linear {:.2}, PRank {:.2}",
            set.name,
            point(TWO),
            point(LINEAR),
            point(PRANK)
        ));
    }
    tables.push(sizes_table(sets, runs));
    tables.push(wilcoxon_table(sets, runs));
    Ok(Report {
        evidence,
        controls: controls(sets, runs),
        main: main.join("; "),
        tables,
        notes: notes(),
        protocol: protocol_text(execution.scale(), sets),
        deviations: deviations(execution.scale()),
        figure: figure(sets, runs)?,
    })
}

fn results_table(set: &Set, runs: &[(&Cell, &Found)], number: usize) -> Table {
    let title = format!(
        "{}, {} folds: NDCG@15 in percent; intervals are of all test queries, as the paper has them:",
        set.name,
        set.folds.len()
    );
    let mut table = Table::titled(title, &["system", "paper, test", "validation", "test", "training", "folds"]);
    for system in systems() {
        let folds = of(runs, number, system.name);
        let (middle, half) = over_queries(&test_queries(&folds));
        let paper = SYSTEMS.iter().find(|(known, ..)| known.name == system.name);
        let by_fold: Vec<String> = test_points(&folds).iter().map(|point| format!("{point:.1}")).collect();
        let percent = |value: &dyn Fn(&Found) -> f64| {
            format!("{:.2}", 100.0 * mean(&folds.iter().map(|found| value(found)).collect::<Vec<_>>()))
        };
        table.row([
            system.name.to_owned(),
            paper.map_or("-".into(), |(_, value, half)| format!("{:.1} ± {:.1}", 100.0 * value, 100.0 * half)),
            percent(&|found| found.valid),
            format!("{:.2} ± {:.2}", 100.0 * middle, 100.0 * half),
            percent(&|found| found.train),
            by_fold.join(" "),
        ]);
    }
    table
}

fn settings_table(set: &Set, runs: &[(&Cell, &Found)], number: usize) -> Table {
    let title = format!(
        "{}: what validation chose, fold by fold (the paper's best epochs are 20 and 22 for the nets, its tau 0.3):",
        set.name
    );
    let mut table =
        Table::titled(title, &["system", "settings", "best epochs", "epochs", "best at the end of what was tried"]);
    for system in systems() {
        let folds = of(runs, number, system.name);
        let join =
            |each: &dyn Fn(&Found) -> String| folds.iter().map(|found| each(found)).collect::<Vec<_>>().join("; ");
        let list = |values: &[usize]| values.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
        table.row([
            system.name.to_owned(),
            join(&|found| found.setting.clone()),
            join(&|found| list(&found.best_epochs)),
            join(&|found| list(&found.epochs)),
            format!("{} of {}", folds.iter().filter(|found| found.at_edge).count(), folds.len()),
        ]);
    }
    table
}

/// Table 3.
fn sizes_table(sets: &[Set], runs: &[(&Cell, &Found)]) -> Table {
    let title = "Sizes (Table 3 of the paper: 11,336 training queries with 384,314 documents, 2,834 validation and test queries with 2.7 million \
                 documents each), mean of the folds:";
    let mut table = Table::titled(title, &["set", "queries", "documents", "trained on with 2% of label 0"]);
    for (number, set) in sets.iter().enumerate() {
        let size = |part: usize, of: &dyn Fn(&Dataset) -> usize| -> String {
            format!("{:.0}", mean(&set.folds.iter().map(|fold| of(&fold[part]) as f64).collect::<Vec<_>>()))
        };
        let all =
            |count: &dyn Fn(&Dataset) -> usize| (0..3).map(|part| size(part, count)).collect::<Vec<_>>().join(" / ");
        let few: Vec<f64> = of(runs, number, OTHERS[1].name).iter().map(|found| found.documents as f64).collect();
        table.row([
            set.name.to_owned(),
            all(&Dataset::n_queries),
            all(&Dataset::n_documents),
            format!("{:.0}", mean(&few)),
        ]);
    }
    table
}

/// The paper's own test, over queries.
fn wilcoxon_table(sets: &[Set], runs: &[(&Cell, &Found)]) -> Table {
    let title = "Two layers against the linear net by Wilcoxon's test over test queries, as the paper did (it rejects equal medians at 16%); queries \
                 of few folds are not independent samples, so the verdict does not count this:";
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

/// Labels in random order teach nothing.
fn controls(sets: &[Set], runs: &[(&Cell, &Found)]) -> Vec<Control> {
    let control = |(number, set): (usize, &Set)| {
        let point = |name: &str| mean(&test_points(&of(runs, number, name)));
        let (own, shuffled) = (point(LINEAR), point(SHUFFLED));
        Control {
            what: format!("{}: the linear net trained on shuffled labels", set.name),
            expected: format!("below {own:.2}, that of the true labels"),
            ours: format!("{shuffled:.2}"),
            holds: shuffled < own,
        }
    };
    sets.iter().enumerate().map(control).collect()
}

fn notes() -> Vec<String> {
    vec![
        "The paper's numbers are of other data: only their order is compared.".into(),
        "Folds of a set share training queries, so that they are not quite independent: the test over ten folds is a little too sure of itself."
            .into(),
        "Training times (Table 6 of the paper) are those of another machine and program; here the epochs are told, and the seconds of each run, with \
         all settings that were tried, are in `times.json`."
            .into(),
        "Unlabelled documents: LETOR's sets have none. Documents of label 0 are taken for such, as in the paper, where unlabelled documents had \
         rating 0: the linear net is trained without them, and with 2% of them chosen at random, as the paper's nets were. Test queries keep all."
            .into(),
        real::WHERE.into(),
    ]
}

fn protocol_text(scale: Scale, sets: &[Set]) -> Vec<String> {
    let sizes = sizes(scale);
    let names: Vec<String> = sets.iter().map(|set| format!("{} in {} folds", set.name, set.folds.len())).collect();
    vec![
        format!("Data: {}.", names.join("; ")),
        format!(
            "Every system is trained for at most {} epochs, stops 20 epochs after its best one, and the epoch with the best validation {MEASURE} \
             counts. On validation queries are also chosen: the step size of nets (from {:?}, wider while the best is at the end, up to {} times), \
             tau of OAP-BPM (0.3, 0.5, 0.7, as in the paper) with {} perceptrons, and the scaling of features for PRank, quadratic PRank and \
             RankProp, which have no constant. The two-layer net has 10 hidden units.",
            sizes.epochs, sizes.steps, sizes.more, sizes.perceptrons
        ),
        format!(
            "{} seed(s) are averaged query by query; OAP-BPM has one, as it is a mean of perceptrons itself, and RankProp draws nothing at random.",
            sizes.seeds
        ),
    ]
}

fn deviations(scale: Scale) -> Vec<String> {
    let mut all = vec![
        "Other data: MQ2007 and MQ2008 have 46 features, labels 0 to 2 and 8 to 40 documents per query, all judged; the paper has 569 features, \
         labels 0 to 5 and up to 1,000 documents of which about 1% are judged."
            .into(),
        "Nets are trained by Adam in batches of 10 queries with a tuned step size, not by plain gradient descent with a step of 0.001 that is \
         halved."
            .into(),
        "The number of perceptrons is the one that the paper chose; it is not chosen again.".into(),
    ];
    if scale == Scale::Quick {
        all.push("Quick: artificial data, two folds, two settings, one seed, 10 epochs, 5 perceptrons; nothing is concluded.".into());
    }
    all
}

fn figure(sets: &[Set], runs: &[(&Cell, &Found)]) -> anyhow::Result<String> {
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
        title: "NDCG@15 of test queries, 95% intervals of queries".into(),
        x_label: "PRank, quadratic and linear; OAP-BPM; RankProp; RankNet, linear and two layers".into(),
        y_label: "percent".into(),
        ticks: names.iter().enumerate().map(|(place, name)| (place as f64, name.to_string())).collect(),
        series,
        ..Panel::default()
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_system_has_settings_that_pass() {
        for scale in [Scale::Paper, Scale::Quick] {
            for system in systems() {
                let values: &[f64] = match system.tuned {
                    Tuned::Step => sizes(scale).steps,
                    Tuned::Tau => &TAUS,
                    Tuned::Scaling => &[0.0, 1.0, 2.0, 3.0],
                };
                for &value in values {
                    system.config(value, &sizes(scale), 1).unwrap().0.check().unwrap();
                }
            }
        }
    }

    #[test]
    fn intervals_are_those_of_the_mean() {
        let (middle, half) = over_queries(&[0.0, 1.0, 0.0, 1.0]);
        assert!((middle - 0.5).abs() < 1e-12 && (half - 1.96 * (1.0f64 / 12.0).sqrt()).abs() < 1e-12);
    }
}
