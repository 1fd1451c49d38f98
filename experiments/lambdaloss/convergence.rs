//! LambdaLoss, Fig. 5 and section 4: convergence of training; M-steps from scratch against continued training.

use super::deviations;
use super::em::{Curve, EM_LEARNING_RATE, EM_LOSS, em};
use super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP};
use super::nets::{self, Arm, Parts, Plan};
use crate::harness::comparison::{gap_text, mean_text, point, run_grid, series};
use crate::harness::figure::{self, Panel};
use crate::harness::units::{less, mean};
use crate::harness::{
    Claim, Evidence, Execution, Experiment, Headline, Kind, Paper, Report, Scale, Session, Test, train,
};
use burnrank::internal::text::{Table, fixed};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-convergence",
    kind: Kind::Extension,
    paper: Paper::LambdaLoss,
    place: "Figure 5, sections 4.2, 4.3 and 7.2.3, with nets",
    claim: "NDCG-Loss2, NDCG-Loss2++ and LambdaRank all converge over the iterations; a model can be built from \
         scratch in each M-step, but continuing from the last one converges faster.",
    short: "All three losses converge; continuing a model is faster than rebuilding it, with nets.",
    headlines: &[
        Headline::new(
            "Training NDCG@5 rises with NDCG-Loss2, NDCG-Loss2++ and LambdaRank",
            &["NDCG-Loss2 rises", "NDCG-Loss2++ rises", "LambdaRank rises"],
        ),
        Headline::new(
            "Training NDCG@5 converges with NDCG-Loss2, NDCG-Loss2++ and LambdaRank",
            &["NDCG-Loss2 rests", "NDCG-Loss2++ rests", "LambdaRank rests"],
        ),
        Headline::new(
            "Continuing from the previous model converges faster than building it from scratch in each M-step",
            &["faster"],
        ),
    ],
    number: ("faster", "continuing minus rebuilding, points of training NDCG@5"),
    time: "about 4 minutes",
    claims,
    changed: &["Losses of all pairs were added, with secondary claims."],
    protocol,
    run,
    ..Experiment::BASE
};

const METRIC: &str = "ndcg@5";
const COMPARED: [usize; 3] = [NDCG2, NDCG2PP, LAMBDARANK];
/// Truncated as in Eq. 18, and not truncated.
const TRUNCATIONS: [Option<usize>; 2] = [Some(5), None];
/// Learning rate of all nets: each loss is compared with itself.
const LEARNING_RATE: f64 = 0.003;
/// Maximum change of a converged metric in points: half of the largest gain in Table 3.
const CONVERGED: f64 = 0.5;

struct Sizes {
    plan: Plan,
    /// Training and held-out queries of the EM comparison.
    em_queries: [usize; 2],
    /// Number of iterations and epochs per M-step, for short M-steps and for converged ones.
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
        learning_rates: &[LEARNING_RATE],
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
    let mut all = vec![];
    for arm in 0..TRUNCATIONS.len() * COMPARED.len() {
        let name = arm_name(arm);
        let pairs = ["truncated at 5", "all pairs"][arm / COMPARED.len()];
        let how = format!("{pairs}; training NDCG@5 by the scores before each update, constant learning rate");
        all.push(
            Claim::new(
                format!("{name} rises"),
                format!("{name}: training NDCG@5, last fifth of the epochs minus first epoch, points"),
                Test::Above,
            )
            .paper("Figure 5")
            .unit(unit)
            .convention(&*how),
        );
        all.push(
            Claim::new(
                format!("{name} rests"),
                format!("{name}: training NDCG@5, last fifth of the epochs minus the fifth before, points"),
                Test::Equivalent { margin: CONVERGED },
            )
            .paper("convergence")
            .unit(unit)
            .convention(format!("{how}; the margin is half of the largest gain in Table 3")),
        );
    }
    let em = "NDCG-Loss2 of all pairs, weights fixed in each M-step, Adam";
    all.push(
        Claim::new(
            "faster",
            "short M-steps: training NDCG@5, continued minus from scratch, mean over all iterations, points",
            Test::Above,
        )
        .paper("\"can make the convergence faster\"")
        .unit(unit)
        .convention(em),
    );
    all.push(
        Claim::new(
            "as good",
            "long M-steps: training NDCG@5 after the last iteration, continued minus from scratch, points",
            Test::Equivalent { margin: 1.0 },
        )
        .paper("the model \"can be built from scratch\"")
        .unit(unit)
        .convention(format!("{em}; the margin is the largest gain in Table 3")),
    );
    all.push(
        Claim::new("loss falls", "long M-steps, continued: loss of Eq. 10, first iteration minus last", Test::Above)
            .paper("\"can be proven to converge\"")
            .unit(unit)
            .convention(em),
    );
    all
}

/// The losses of top-5 pairs, then those of all pairs.
fn arms() -> anyhow::Result<Vec<Arm>> {
    let names = TRUNCATIONS.into_iter().flat_map(|k| COMPARED.map(|loss| LOSSES[loss].objective(k)));
    names.map(|name| Arm::new(&name, METRIC)).collect()
}

/// Name of an arm in claims.
fn arm_name(arm: usize) -> String {
    format!("{}{}", ["", "all pairs: "][arm / COMPARED.len()], LOSSES[COMPARED[arm % COMPARED.len()]].name)
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    let em = json!({
        "queries": sizes.em_queries, "short": sizes.short, "long": sizes.long, "learning_rate": EM_LEARNING_RATE,
        "loss": LOSSES[EM_LOSS].objective(None), "hidden": nets::HIDDEN,
    });
    Ok(json!({"nets": nets::protocol(session, &sizes.plan, &arms()?), "learning_rate": LEARNING_RATE, "em": em}))
}

/// A variant of the EM procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Variant {
    long: bool,
    from_scratch: bool,
}

const VARIANTS: [Variant; 4] = [
    Variant { long: false, from_scratch: false },
    Variant { long: false, from_scratch: true },
    Variant { long: true, from_scratch: false },
    Variant { long: true, from_scratch: true },
];

impl Variant {
    /// Number of iterations and epochs per M-step.
    fn sizes(self, sizes: &Sizes) -> [usize; 2] {
        if self.long { sizes.long } else { sizes.short }
    }

    fn length(self) -> &'static str {
        if self.long { "long M-steps" } else { "short M-steps" }
    }

    /// Part of the keys of stored runs.
    fn key(self) -> String {
        format!("{}, {}", self.length(), if self.from_scratch { "anew" } else { "going on" })
    }

    fn start(self) -> &'static str {
        if self.from_scratch { "from scratch" } else { "continued" }
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let (sizes, arms) = (sizes(execution.scale()), arms()?);
    let curves = run_nets(execution, &sizes, &arms)?;
    let em = run_em(execution, &sizes)?;
    report(execution, &sizes, &curves, &em)
}

/// Training curves by loss and function.
fn run_nets(execution: &Execution<'_>, sizes: &Sizes, arms: &[Arm]) -> anyhow::Result<Vec<Vec<Curve>>> {
    let name = |function, arm: usize| Some((nets::run_key(function, &arms[arm].key), 3.0));
    let load = |function| Parts::of_function(execution.session, function, sizes.plan.queries);
    run_grid(execution, 0..sizes.plan.functions, arms.len(), name, load, |parts, job, ticker| {
        let seed = nets::net_seed(execution.session, 0);
        let config = arms[job.what.1].config(&sizes.plan, parts.scaling, LEARNING_RATE, seed);
        let model = train(execution, &job.key, &config, &parts.data, (ticker, (0.0, 1.0)), |_| false)?;
        let mut curve = Curve::default();
        model.history.iter().for_each(|epoch| curve.push(epoch.train, epoch.valid, epoch.loss));
        Ok(curve)
    })
    .map(|curves| curves.runs)
}

/// Curves of the EM procedure by variant and function.
fn run_em(execution: &Execution<'_>, sizes: &Sizes) -> anyhow::Result<Vec<Vec<Curve>>> {
    let name = |function, variant: usize| {
        let [iterations, epochs] = VARIANTS[variant].sizes(sizes);
        let key = format!("function {} EM, {}", function + 1, VARIANTS[variant].key());
        Some((key, (iterations * epochs) as f64 / 30.0))
    };
    let load = |function| {
        let [n_train, n_held] = sizes.em_queries;
        let generator = nets::function(execution.session, function)?;
        Ok([generator.part(0..n_train)?.0, generator.part(n_train..n_train + n_held)?.0])
    };
    run_grid(execution, 0..sizes.plan.functions, VARIANTS.len(), name, load, |parts, job, ticker| {
        let variant = VARIANTS[job.what.1];
        let seed = nets::net_seed(execution.session, 0);
        em(parts, variant.from_scratch, variant.sizes(sizes), seed, |share| ticker.tick(share))
    })
    .map(|curves| curves.runs)
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
        &["loss", "first epoch", "last fifth", "minus the fifth before", "held-out, last fifth"],
    );
    let mut changes = vec![];
    for (arm, curves) in curves.iter().enumerate() {
        // Mean over a range of epochs in percent, one number per function.
        let part = |from: usize, to: usize| -> Vec<f64> {
            curves
                .iter()
                .map(|curve| 100.0 * mean(&curve.train[from.min(curve.train.len() - 1)..to.min(curve.train.len())]))
                .collect()
        };
        let n = curves.iter().map(|curve| curve.train.len()).min().unwrap_or(0);
        let (first, last) = (part(0, 1), part(n - fifth, n));
        let change = less(&last, &part(n.saturating_sub(2 * fifth), n - fifth));
        let held: Vec<f64> = curves.iter().map(|curve| 100.0 * mean(&curve.held_out[n - fifth..])).collect();
        let name = arm_name(arm);
        table.row([name.clone(), mean_text(&first), mean_text(&last), gap_text(&change), mean_text(&held)]);
        changes.push(format!("{name} {}", gap_text(&change)));
        evidence.push((format!("{name} rises"), Evidence::rounded(less(&last, &first), 2)));
        evidence.push((format!("{name} rests"), Evidence::rounded(change, 2)));
    }
    let over_all = |variant: usize| em[variant].iter().map(|curve| 100.0 * mean(&curve.train)).collect::<Vec<f64>>();
    let end = |variant: usize, of: fn(&Curve) -> &[f64]| -> Vec<f64> {
        em[variant].iter().map(|curve| of(curve).last().map_or(f64::NAN, |value| 100.0 * value)).collect()
    };
    let faster = less(&over_all(0), &over_all(1));
    evidence.push(("faster".into(), Evidence::rounded(faster.clone(), 2)));
    let train_end = |variant: usize| end(variant, |curve| &curve.train);
    evidence.push(("as good".into(), Evidence::rounded(less(&train_end(2), &train_end(3)), 2)));
    let falls = em[2].iter().map(|curve| curve.loss[0] - curve.loss[curve.loss.len() - 1]);
    evidence.push(("loss falls".into(), Evidence::rounded(falls, 3)));
    let mut em_table = Table::titled(
        "The EM procedure, NDCG-Loss2 of all pairs: NDCG@5 in percent, mean and 95% interval over functions:",
        &[
            "M-steps",
            "iterations",
            "epochs per M-step",
            "train, all iterations",
            "train, last",
            "held-out, last",
            "loss rises",
        ],
    );
    for (number, variant) in VARIANTS.into_iter().enumerate() {
        let [iterations, epochs] = variant.sizes(sizes);
        let rises: usize = em[number].iter().map(|c| c.loss.windows(2).filter(|pair| pair[1] > pair[0]).count()).sum();
        let steps = em[number].len() * (iterations - 1);
        em_table.row([
            format!("{}, {}", variant.length(), variant.start()),
            iterations.to_string(),
            epochs.to_string(),
            mean_text(&over_all(number)),
            mean_text(&train_end(number)),
            mean_text(&end(number, |curve| &curve.held_out)),
            format!("{rises} of {steps} times"),
        ]);
    }
    let deviations = deviations(
        execution.scale(),
        &[
            "Nets and random functions instead of trees; an iteration in the figure is an epoch, not a tree.",
            &format!("One learning rate ({LEARNING_RATE}) for all three losses: each is compared with itself."),
            "The EM comparison uses a separate net in double precision whose pair weights are fixed during an M-step; trees \
             are never rebuilt from scratch.",
        ],
        "Quick: two functions, few queries and epochs.",
    );
    let [em_train, em_held] = sizes.em_queries;
    Ok(Report {
        evidence,
        main: format!(
            "last fifth of the epochs minus the fifth before, points: {}; continued minus from scratch {} points",
            changes.join(", "),
            gap_text(&faster)
        ),
        tables: vec![table, em_table],
        notes: vec![
            "The paper says that EM converges to a local minimum. With a hard assignment the weights follow the model's \
             current ranking, so the loss of Eq. 10 can rise in an iteration: the table counts how often it did."
                .into(),
        ],
        protocol: vec![
            format!(
                "Data: {} random cubic polynomials of 50 features, 50 documents per query, labels 0 to 4 for 52%, 32%, \
                 13%, 2% and 1% of the documents. Figure 5: {} training and {} held-out queries, nets of ten tanh \
                 units, Adam, ten queries per batch, {} epochs without early stopping, losses truncated at 5.",
                sizes.plan.functions, sizes.plan.queries[0], sizes.plan.queries[1], sizes.plan.epochs
            ),
            format!(
                "EM: {em_train} training and {em_held} held-out queries. E-step: the model ranks the documents, \
                 which sets the pair weights of NDCG-Loss2. M-step: epochs of Adam (learning rate {}) with these weights, \
                 from new random net weights (from scratch) or from the current ones (continued). Training NDCG@5 is \
                 computed on the whole training set after each M-step.",
                fixed(EM_LEARNING_RATE, 2)
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
        series(LOSSES[*loss].name, number, true, points.collect())
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
    let line = |(number, variant): (usize, Variant)| {
        let at = |iteration: usize| {
            let values: Vec<f64> = em[number].iter().map(|curve| 100.0 * curve.train[iteration]).collect();
            point((iteration + 1) as f64, &values)
        };
        series(variant.start(), usize::from(variant.from_scratch), true, (0..iterations).map(at).collect())
    };
    let step = (iterations / 5).max(1);
    Panel {
        title: format!("EM, {epochs} epochs per M-step"),
        x_label: "iteration".into(),
        y_label: "training NDCG@5, percent".into(),
        ticks: (1..=iterations).step_by(step).map(|at| (at as f64, at.to_string())).collect(),
        series: VARIANTS.into_iter().enumerate().filter(|(_, variant)| variant.long == long).map(line).collect(),
        ..Panel::default()
    }
}
