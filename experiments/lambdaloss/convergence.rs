//! LambdaLoss, Fig. 5 and section 4: training converges; each M-step begun anew against going on.

use super::em::{Curve, EM_LOSS, SMALL_STEP, em};
use super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP};
use super::nets::{self, Arm, Parts, Plan, gap_text, mean_text, point};
use crate::harness::figure::{self, Panel, Series, Whose};
use crate::harness::units::{less, mean};
use crate::harness::{
    Claim, Evidence, Execution, Experiment, Job, Kind, OneEntryCache, Paper, Report, Scale, Session, Test, train,
};
use burnrank::internal::text::{Table, fixed};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-convergence",
    kind: Kind::Paper,
    paper: Paper::LambdaLoss,
    place: "Figure 5, sections 4.2, 4.3 and 7.2.3, with nets",
    claim: "NDCG-Loss2, NDCG-Loss2++ and LambdaRank all converge along the iterations; a model may be built from \
         scratch in each M-step, but going on from the last one converges faster.",
    time: "about 4 minutes",
    claims,
    changed: &[],
    protocol,
    run,
    own: None,
};

const MEASURE: &str = "ndcg@5";
const COMPARED: [usize; 3] = [NDCG2, NDCG2PP, LAMBDARANK];
/// The step size of all nets here: the curves are each loss against itself.
const STEP: f64 = 0.003;
/// Half of the largest gain of Table 3, in points: what still moves by less has come to rest.
const REST: f64 = 0.5;
struct Sizes {
    plan: Plan,
    /// Training and held-out queries of the EM part.
    em_queries: [usize; 2],
    /// M-steps and the epochs of each: short ones, and ones that come to rest.
    short: [usize; 2],
    long: [usize; 2],
}

fn sizes(scale: Scale) -> Sizes {
    let plan = |queries, functions, epochs| Plan {
        queries,
        functions,
        tuning_functions: 0,
        seeds: 1,
        epochs,
        patience: 0,
        learning_rates: &[STEP],
        extensions: 0,
        ..Plan::FULL
    };
    scale.pick(
        Sizes { plan: plan([1_000, 1_000, 1], 10, 200), em_queries: [200, 500], short: [20, 5], long: [6, 60] },
        Sizes { plan: plan([40, 40, 1], 2, 10), em_queries: [15, 15], short: [4, 1], long: [2, 4] },
    )
}

fn claims(_: &Session) -> Vec<Claim> {
    let unit = "random function";
    let how = "truncated at 5; NDCG@5 of training queries as each batch saw them, constant step size";
    let mut all = vec![];
    for loss in COMPARED {
        let name = LOSSES[loss].name;
        all.push(
            Claim::primary(
                format!("{name} rises"),
                format!("{name}: training NDCG@5 of the last fifth of the epochs less that of the first epoch, points"),
                Test::Above,
            )
            .paper("Figure 5")
            .unit(unit)
            .convention(how),
        );
        all.push(
            Claim::primary(
                format!("{name} rests"),
                format!(
                    "{name}: training NDCG@5 of the last fifth of the epochs less that of the fifth before, points"
                ),
                Test::Equivalent { margin: REST },
            )
            .paper("convergence")
            .unit(unit)
            .convention(format!("{how}; the margin is half of the largest gain in Table 3")),
        );
    }
    let em = "NDCG-Loss2 of all pairs, weights fixed in each M-step, Adam";
    all.push(
        Claim::primary(
            "faster",
            "short M-steps: training NDCG@5 of going on less that of starting anew, mean over all iterations, points",
            Test::Above,
        )
        .paper("\"can make the convergence faster\"")
        .unit(unit)
        .convention(em),
    );
    all.push(
        Claim::secondary(
            "as good",
            "long M-steps: training NDCG@5 after the last iteration, going on less starting anew, points",
            Test::Equivalent { margin: 1.0 },
        )
        .paper("the model \"can be built from scratch\"")
        .unit(unit)
        .convention(format!("{em}; the margin is the largest gain in Table 3")),
    );
    all.push(
        Claim::secondary(
            "loss falls",
            "long M-steps, going on: the loss of Eq. 10 after the first iteration less that after the last",
            Test::Above,
        )
        .paper("\"can be proven to converge\"")
        .unit(unit)
        .convention(em),
    );
    all
}

fn arms() -> anyhow::Result<Vec<Arm>> {
    COMPARED.iter().map(|&loss| Arm::new(&LOSSES[loss].objective(Some(5)), MEASURE)).collect()
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    let em = json!({
        "queries": sizes.em_queries, "short": sizes.short, "long": sizes.long, "learning_rate": SMALL_STEP,
        "loss": LOSSES[EM_LOSS].objective(None), "hidden": nets::HIDDEN,
    });
    Ok(json!({"nets": nets::protocol(session, &sizes.plan, &arms()?), "learning_rate": STEP, "em": em}))
}

/// One way of the EM procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    long: bool,
    anew: bool,
}

const WAYS: [Way; 4] = [
    Way { long: false, anew: false },
    Way { long: false, anew: true },
    Way { long: true, anew: false },
    Way { long: true, anew: true },
];

impl Way {
    fn name(self) -> String {
        let length = if self.long { "long" } else { "short" };
        format!("{length} M-steps, {}", if self.anew { "anew" } else { "going on" })
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let (sizes, arms) = (sizes(execution.scale()), arms()?);
    let curves = run_nets(execution, &sizes, &arms)?;
    let em = run_em(execution, &sizes)?;
    report(execution, &sizes, &curves, &em)
}

/// By loss and function: the curves of training.
fn run_nets(execution: &Execution<'_>, sizes: &Sizes, arms: &[Arm]) -> anyhow::Result<Vec<Vec<Curve>>> {
    let mut jobs = vec![];
    for function in 0..sizes.plan.functions {
        for (arm, of) in arms.iter().enumerate() {
            let key = format!("function {} {}", function + 1, of.key);
            jobs.push(Job { key, work: 3.0, what: (function, arm) });
        }
    }
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let (function, arm) = job.what;
        let parts = kept.get(function, || Parts::of_function(execution.session, function, sizes.plan.queries))?;
        let config = arms[arm].config(&sizes.plan, parts.scaling, STEP, nets::net_seed(execution.session, 0));
        let model = train(execution, &job.key, &config, &parts.data, (ticker, (0.0, 1.0)), |_| false)?;
        let mut curve = Curve::default();
        model.history.iter().for_each(|epoch| curve.push(epoch.train, epoch.valid, epoch.loss));
        Ok(curve)
    })?;
    let mut by_arm = vec![vec![]; arms.len()];
    jobs.iter().zip(found).for_each(|(job, curve)| by_arm[job.what.1].push(curve));
    Ok(by_arm)
}

/// By way and function: the curves of the EM procedure.
fn run_em(execution: &Execution<'_>, sizes: &Sizes) -> anyhow::Result<Vec<Vec<Curve>>> {
    let mut jobs = vec![];
    for function in 0..sizes.plan.functions {
        for (number, way) in WAYS.into_iter().enumerate() {
            let [iterations, epochs] = if way.long { sizes.long } else { sizes.short };
            let key = format!("function {} EM, {}", function + 1, way.name());
            jobs.push(Job { key, work: (iterations * epochs) as f64 / 30.0, what: (function, number) });
        }
    }
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let (function, way) = (job.what.0, WAYS[job.what.1]);
        let [n_train, n_held] = sizes.em_queries;
        let parts = kept.get(function, || {
            let generator = nets::function(execution.session, function)?;
            Ok([generator.part(0..n_train)?.0, generator.part(n_train..n_train + n_held)?.0])
        })?;
        let [iterations, epochs] = if way.long { sizes.long } else { sizes.short };
        let seed = nets::net_seed(execution.session, 0);
        em(&parts, way.anew, iterations, epochs, seed, |share| ticker.tick(share))
    })?;
    let mut by_way = vec![vec![]; WAYS.len()];
    jobs.iter().zip(found).for_each(|(job, curve)| by_way[job.what.1].push(curve));
    Ok(by_way)
}

fn report(
    execution: &Execution<'_>,
    sizes: &Sizes,
    curves: &[Vec<Curve>],
    em: &[Vec<Curve>],
) -> anyhow::Result<Report> {
    let mut evidence = vec![];
    let fifth = (sizes.plan.epochs / 5).max(1);
    let mut table = Table::titled(
        "Training NDCG@5 in percent, mean and 95% interval over functions:",
        &["loss", "first epoch", "last fifth", "less the fifth before", "held-out, last fifth"],
    );
    let mut rest = vec![];
    for (loss, curves) in COMPARED.iter().zip(curves) {
        // The mean of some epochs, one number per function, in percent.
        let part = |from: usize, to: usize| -> Vec<f64> {
            curves
                .iter()
                .map(|curve| 100.0 * mean(&curve.train[from.min(curve.train.len() - 1)..to.min(curve.train.len())]))
                .collect()
        };
        let n = curves.iter().map(|curve| curve.train.len()).min().unwrap_or(0);
        let (first, last) = (part(0, 1), part(n - fifth, n));
        let moved = less(&last, &part(n.saturating_sub(2 * fifth), n - fifth));
        let held: Vec<f64> = curves.iter().map(|curve| 100.0 * mean(&curve.held_out[n - fifth..])).collect();
        let name = LOSSES[*loss].name;
        table.row([name.into(), mean_text(&first), mean_text(&last), gap_text(&moved), mean_text(&held)]);
        rest.push(format!("{name} {}", gap_text(&moved)));
        evidence.push((format!("{name} rises"), Evidence::rounded(less(&last, &first), 2)));
        evidence.push((format!("{name} rests"), Evidence::rounded(moved, 2)));
    }
    let over_all = |way: usize| em[way].iter().map(|curve| 100.0 * mean(&curve.train)).collect::<Vec<f64>>();
    let end = |way: usize, of: fn(&Curve) -> &[f64]| -> Vec<f64> {
        em[way].iter().map(|curve| of(curve).last().map_or(f64::NAN, |value| 100.0 * value)).collect()
    };
    let faster = less(&over_all(0), &over_all(1));
    evidence.push(("faster".into(), Evidence::rounded(faster.clone(), 2)));
    let train_end = |way: usize| end(way, |curve| &curve.train);
    evidence.push(("as good".into(), Evidence::rounded(less(&train_end(2), &train_end(3)), 2)));
    let falls = em[2].iter().map(|curve| curve.loss[0] - curve.loss[curve.loss.len() - 1]);
    evidence.push(("loss falls".into(), Evidence::rounded(falls, 3)));
    let mut em_table = Table::titled(
        "The EM procedure, NDCG-Loss2 of all pairs: NDCG@5 in percent, mean and 95% interval over functions:",
        &[
            "M-steps",
            "iterations",
            "epochs of each",
            "train, all iterations",
            "train, last",
            "held-out, last",
            "loss rises",
        ],
    );
    for (number, way) in WAYS.into_iter().enumerate() {
        let [iterations, epochs] = if way.long { sizes.long } else { sizes.short };
        let rises: usize = em[number].iter().map(|c| c.loss.windows(2).filter(|pair| pair[1] > pair[0]).count()).sum();
        let steps = em[number].len() * (iterations - 1);
        em_table.row([
            way.name(),
            iterations.to_string(),
            epochs.to_string(),
            mean_text(&over_all(number)),
            mean_text(&train_end(number)),
            mean_text(&end(number, |curve| &curve.held_out)),
            format!("{rises} of {steps} times"),
        ]);
    }
    let mut deviations = vec![
        "Nets and random functions instead of trees; an iteration of the figure is an epoch here, not a tree.".into(),
        format!("One step size ({STEP}) for all three losses: each is compared with itself."),
        "The EM part has a net of its own in double precision, whose pair weights stay fixed in an M-step; trees never \
         start anew.".into(),
    ];
    if execution.scale() == Scale::Quick {
        deviations.push("Quick: two functions, few queries and epochs.".into());
    }
    let [em_train, em_held] = sizes.em_queries;
    Ok(Report {
        evidence,
        main: format!(
            "last fifth of the epochs less the fifth before, points: {}; going on less starting anew {} points",
            rest.join(", "),
            gap_text(&faster)
        ),
        tables: vec![table, em_table],
        notes: vec![
            "The paper says that EM converges to a local minimum. With a hard assignment the weights follow the \
             model's own ranking, and the loss of Eq. 10 need not fall in each iteration: the table counts how often \
             it rose."
                .into(),
        ],
        protocol: vec![
            format!(
                "Data: {} random cubic polynomials of 50 features, 50 documents per query, labels 0 to 4 for 52%, 32%, \
                 13%, 2% and 1% of the documents. Figure 5: {} training and {} held-out queries, nets of ten tanh \
                 units, Adam, ten queries per batch, {} epochs with no early end, losses truncated at 5.",
                sizes.plan.functions, sizes.plan.queries[0], sizes.plan.queries[1], sizes.plan.epochs
            ),
            format!(
                "EM: {em_train} training and {em_held} held-out queries. E-step: documents are ranked by the model, \
                 pair weights of NDCG-Loss2 are computed and kept. M-step: epochs of Adam (step {}) with these \
                 weights, from new random weights of the net or going on. Training NDCG@5 is that of the whole \
                 training set after each M-step.",
                fixed(SMALL_STEP, 2)
            ),
        ],
        deviations,
        figure: figure::draw(&[nets_panel(curves, sizes), em_panel(em, sizes, false), em_panel(em, sizes, true)])?,
        other_data: true,
        ..Report::default()
    })
}

fn nets_panel(curves: &[Vec<Curve>], sizes: &Sizes) -> Panel {
    let every = (sizes.plan.epochs / 20).max(1);
    let line = |(number, loss): (usize, &usize)| {
        let at = |epoch: usize| {
            curves[number].iter().filter_map(|curve| curve.train.get(epoch)).map(|v| 100.0 * v).collect()
        };
        let points = (0..sizes.plan.epochs).step_by(every).map(|epoch| {
            let values: Vec<f64> = at(epoch);
            ((epoch + 1) as f64, mean(&values), None)
        });
        Series {
            name: LOSSES[*loss].name.into(),
            whose: Whose::Ours,
            colour: number,
            joined: true,
            points: points.collect(),
        }
    };
    let marks = [1, sizes.plan.epochs / 4, sizes.plan.epochs / 2, 3 * sizes.plan.epochs / 4, sizes.plan.epochs];
    Panel {
        title: "Figure 5: convergence".into(),
        x_label: "epoch".into(),
        y_label: "training NDCG@5, percent".into(),
        ticks: marks.map(|epoch| (epoch as f64, epoch.to_string())).into(),
        series: COMPARED.iter().enumerate().map(line).collect(),
        ..Panel::default()
    }
}

fn em_panel(em: &[Vec<Curve>], sizes: &Sizes, long: bool) -> Panel {
    let [iterations, epochs] = if long { sizes.long } else { sizes.short };
    let line = |(number, way): (usize, Way)| Series {
        name: if way.anew { "anew" } else { "going on" }.into(),
        whose: Whose::Ours,
        colour: usize::from(way.anew),
        joined: true,
        points: (0..iterations)
            .map(|at| {
                let values: Vec<f64> = em[number].iter().map(|curve| 100.0 * curve.train[at]).collect();
                point((at + 1) as f64, &values)
            })
            .collect(),
    };
    let step = (iterations / 5).max(1);
    Panel {
        title: format!("EM, {epochs} epochs per M-step"),
        x_label: "iteration".into(),
        y_label: "training NDCG@5, percent".into(),
        ticks: (1..=iterations).step_by(step).map(|at| (at as f64, at.to_string())).collect(),
        series: WAYS.into_iter().enumerate().filter(|(_, way)| way.long == long).map(line).collect(),
        ..Panel::default()
    }
}
