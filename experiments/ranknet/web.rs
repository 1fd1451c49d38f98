//! RankNet, Tables 3 to 6: six systems on queries of a search engine, here with LETOR data.

use super::web_report::{
    deviations, figure, notes, of, protocol_text, results_table, settings_table, sizes_table, test_points,
    test_queries, times_table, wilcoxon_table,
};
use super::web_runs::{Documents, K, System, SystemRun, TAUS, Tuned, sizes};
use crate::harness::real::{self, MQ2007, MQ2008, RealSet};
use crate::harness::shuffled::{self, of_random_order};
use crate::harness::units::{less, mean};
use crate::harness::{
    Claim, Control, Evidence, Execution, Experiment, Headline, Job, Paper, Report, Scale, Session, Test,
};
use burnrank::{Dataset, Synthetic};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "ranknet-web",
    paper: Paper::RankNet,
    place: "section 6: Tables 3 to 6",
    claim: "On queries of a search engine linear RankNet is better than the other linear systems (PRank, OAP-BPM, \
            RankProp), the two-layer net is better still, averaged perceptrons are better than one, and quadratic \
            PRank is the worst (NDCG at 15).",
    short: "Linear RankNet beats other linear systems; two layers beat linear RankNet.",
    headlines: &[
        Headline::new(
            "Linear RankNet is better than the other linear systems (PRank, OAP-BPM, RankProp)",
            &["linear over *"],
        ),
        Headline::new("RankNet with two layers is better than linear RankNet", &["two layers over linear"]),
    ],
    number: ("two layers over linear", "two layers minus linear, points of NDCG@15"),
    time: "about 15 minutes (MQ2007 and MQ2008)",
    claims,
    changed: &[
        "Training times, the NDCG of a random order, and the number of tuned values of tau at the edge of the grid were added. No \
         claim or test was changed.",
    ],
    protocol,
    run,
    ..Experiment::BASE
};

const fn system(name: &'static str, model: &'static str, tuned: Tuned, seeds: u64) -> System {
    System { name, model, tuned, documents: Documents::All, seeds }
}

pub const QUADRATIC: &str = "quadratic PRank";
pub const PRANK: &str = "linear PRank";
pub const OAP: &str = "OAP-BPM";
pub const RANKPROP: &str = "RankProp";
pub const LINEAR: &str = "RankNet, linear";
pub const TWO: &str = "RankNet, two layers";
const SHUFFLED: &str = "RankNet, linear, shuffled labels";

/// Systems in the order of Table 4, with its test values and half-widths of intervals.
pub const SYSTEMS: [(System, f64, f64); 6] = [
    (system(QUADRATIC, "prank-quadratic", Tuned::Scaling, 2), 0.327, 0.011),
    (system(PRANK, "prank", Tuned::Scaling, 2), 0.412, 0.010),
    (system(OAP, "oap-bpm", Tuned::Tau, 1), 0.454, 0.011),
    (system(RANKPROP, "rankprop", Tuned::Scaling, 1), 0.460, 0.011),
    (system(LINEAR, "linear", Tuned::Step, 2), 0.477, 0.010),
    (system(TWO, "mlp", Tuned::Step, 2), 0.488, 0.010),
];

/// The linear net trained on other documents.
pub const OTHERS: [System; 3] = [
    System {
        documents: Documents::Unlabelled(0),
        ..system("RankNet, linear, without label 0", "linear", Tuned::Step, 2)
    },
    System {
        documents: Documents::Unlabelled(2),
        ..system("RankNet, linear, with 2% of label 0", "linear", Tuned::Step, 2)
    },
    System { documents: Documents::Shuffled, ..system(SHUFFLED, "linear", Tuned::Step, 1) },
];

pub fn systems() -> impl Iterator<Item = &'static System> {
    SYSTEMS.iter().map(|(system, ..)| system).chain(&OTHERS)
}

/// Claims that the first system is above the second: id, both, the paper's numbers, and their difference in points.
const ORDERS: [(&str, &str, &str, &str, &[f64]); 8] = [
    ("linear over PRank", LINEAR, PRANK, "0.477 and 0.412", &[6.5]),
    ("linear over OAP-BPM", LINEAR, OAP, "0.477 and 0.454", &[2.3]),
    ("linear over RankProp", LINEAR, RANKPROP, "0.477 and 0.460", &[1.7]),
    ("two layers over linear", TWO, LINEAR, "0.488 and 0.477", &[1.1]),
    ("OAP-BPM over PRank", OAP, PRANK, "0.454 and 0.412", &[4.2]),
    ("PRank over quadratic PRank", PRANK, QUADRATIC, "0.412 and 0.327", &[8.5]),
    ("RankProp over OAP-BPM", RANKPROP, OAP, "0.460 and 0.454: within the intervals", &[0.6]),
    ("unlabelled documents help", OTHERS[1].name, OTHERS[0].name, "used in training, no number", &[]),
];

const UNIT: &str = "fold of MQ2007 or MQ2008";
const GAP: &str = "two-layer gap";

fn claims(_: &Session) -> Vec<Claim> {
    let convention = "points of NDCG@15, gain 2^label - 1, mean over test queries, queries without relevant documents \
                      count 0; settings and epoch selected on validation queries; mean over seeds";
    let order = |&(id, first, second, paper, effects): &(&str, &str, &str, &str, &[f64])| {
        Claim::new(id, format!("{first} minus {second}, points of NDCG@15"), Test::Above)
            .paper(paper)
            .effects(effects.iter().copied())
            .unit(UNIT)
            .convention(convention)
    };
    let gap = Claim::new(
        GAP,
        "training minus test NDCG@15: larger for two layers than for the linear net, points",
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
        let (run, _) = system.config(system.first(&sizes), &sizes, session.seed)?;
        all.push(json!({"name": system.name, "seeds": system.seeds.min(sizes.seeds), "run": run}));
    }
    Ok(
        json!({"systems": all, "learning_rates": sizes.learning_rates, "extensions": sizes.extensions, "settings": sizes.settings, "taus": TAUS}),
    )
}

pub struct Set {
    key: &'static str,
    pub name: &'static str,
    pub folds: Vec<[Dataset; 3]>,
    real: bool,
}

/// A system on a fold of a set.
pub struct Cell {
    pub set: usize,
    fold: usize,
    pub system: &'static System,
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
    let results = execution.run_all(&jobs, |job, ticker| {
        job.what.system.run(execution, &job.key, &sets[job.what.set].folds[job.what.fold], ticker)
    })?;
    let runs: Vec<(&Cell, &SystemRun)> = jobs.iter().map(|job| &job.what).zip(&results).collect();
    let seconds: Vec<Option<f64>> = jobs.iter().map(|job| execution.seconds(&job.key)).collect();
    report(execution, &sets, &runs, &seconds)
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

fn report(
    execution: &Execution<'_>,
    sets: &[Set],
    runs: &[(&Cell, &SystemRun)],
    seconds: &[Option<f64>],
) -> anyhow::Result<Report> {
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
        folds.iter().zip(test_points(&folds)).map(|(run, test)| 100.0 * run.train - test).collect()
    };
    evidence.push((GAP.into(), over_sets(&|set| less(&gap(set, TWO), &gap(set, LINEAR)))));
    let mut tables = vec![];
    let mut main = vec![];
    for (number, set) in sets.iter().enumerate() {
        tables.push(results_table(set, runs, number));
        tables.push(settings_table(execution.scale(), set, runs, number));
        let point = |name: &str| 100.0 * mean(&test_queries(&of(runs, number, name)));
        main.push(format!(
            "{}: two layers {:.2}, linear {:.2}, PRank {:.2}",
            set.name,
            point(TWO),
            point(LINEAR),
            point(PRANK)
        ));
    }
    tables.push(sizes_table(sets, runs));
    tables.push(times_table(sets, runs, seconds));
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
        bring: Some(real::WHERE.into()),
        other_data: true,
        ..Report::default()
    })
}

/// Controls: training on shuffled labels.
fn controls(sets: &[Set], runs: &[(&Cell, &SystemRun)]) -> Vec<Control> {
    let control = |(number, set): (usize, &Set)| {
        let random = 100.0 * mean(&set.folds.iter().map(|[_, _, test]| of_random_order(test, K)).collect::<Vec<_>>());
        let point = |name: &str| 100.0 * mean(&test_queries(&of(runs, number, name)));
        let what = "trained on shuffled labels; learning rate and epoch are selected with true validation labels";
        shuffled::control(format!("{}: the linear net {what}", set.name), point(LINEAR), point(SHUFFLED), random)
    };
    sets.iter().enumerate().map(control).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_settings_are_valid() {
        for scale in [Scale::Paper, Scale::Quick] {
            for system in systems() {
                let values: &[f64] = match system.tuned {
                    Tuned::Step => sizes(scale).learning_rates,
                    Tuned::Tau => &TAUS,
                    Tuned::Scaling => &[0.0, 1.0, 2.0, 3.0],
                };
                for &value in values {
                    system.config(value, &sizes(scale), 1).unwrap().0.check().unwrap();
                }
            }
        }
    }
}
