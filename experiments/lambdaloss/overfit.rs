//! LambdaLoss, Table 5 with nets: does NDCG-Loss2 fit the training queries better and overfit more as nets get wider?

use super::deviations;
use super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP, gaps_in_table4, gaps_in_table5};
use super::nets::{self, Arm, Parts, Plan, marked};
use crate::harness::comparison::{gap_text, mean_text, point, run_grid, series, slope};
use crate::harness::figure::{self, Panel};
use crate::harness::finding::{Finding, no_learning_rate, no_share};
use crate::harness::tuning::Tuned;
use crate::harness::units::{less, mean};
use crate::harness::{
    Claim, Evidence, Execution, Experiment, Headline, Kind, Packed, Paper, Report, Scale, Session, Test, per_query,
};
use burnrank::internal::text::Table;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-overfit",
    kind: Kind::Extension,
    paper: Paper::LambdaLoss,
    place: "Table 5 and section 7.1, with nets",
    claim: "With the settings that are best for LambdaRank, NDCG-Loss2 fits the training queries much better and overfits; \
         NDCG-Loss2++ regularises it.",
    short: "NDCG-Loss2 overfits with settings that suit LambdaRank, with nets.",
    headlines: &[
        Headline::new("NDCG-Loss2 fits the training queries harder than LambdaRank", &["fits harder"]),
        Headline::new("NDCG-Loss2 overfits more than LambdaRank", &["overfits more"]),
        Headline::new("The difference in overfitting grows with the width of the net", &["with width"]),
    ],
    number: ("overfits more", "overfit, NDCG-Loss2 minus LambdaRank, points"),
    time: "about 8 minutes",
    claims,
    changed: &["Losses of all pairs were added, with secondary claims."],
    protocol,
    run,
    ..Experiment::BASE
};

const METRIC: &str = "ndcg@5";
/// Losses, the baseline first.
const COMPARED: [usize; 3] = [LAMBDARANK, NDCG2, NDCG2PP];
const TWO: usize = 1;
const HYBRID: usize = 2;
/// Truncated as in Eq. 18, and not truncated.
const TRUNCATIONS: [Option<usize>; 2] = [Some(5), None];
const PAIRS: [&str; 2] = ["top 5", "all"];
const WIDTHS: [usize; 4] = [4, 16, 64, 256];
const WIDEST: usize = WIDTHS.len() - 1;
/// Number of last epochs whose mean is the value at the end of training.
const LAST: usize = 5;

/// Sizes for tuning; the evaluated runs have the same sizes without early stopping.
fn plan(scale: Scale) -> Plan {
    scale.pick(
        Plan { queries: [500, 500, 1_000], tuning_functions: 1, seeds: 1, epochs: 150, ..Plan::FULL },
        Plan { queries: [20, 20, 20], epochs: 6, patience: 3, ..Plan::QUICK },
    )
}

/// The arm of a loss of top-5 pairs (0) or all pairs (1).
fn arm_of(truncation: usize, width: usize, loss: usize) -> usize {
    (truncation * WIDTHS.len() + width) * COMPARED.len() + loss
}

fn arms() -> anyhow::Result<Vec<Arm>> {
    let mut all = vec![];
    for k in TRUNCATIONS {
        for hidden in WIDTHS {
            for loss in COMPARED {
                let arm = Arm::new(&LOSSES[loss].objective(k), METRIC)?;
                all.push(Arm { key: format!("{hidden} units {}", arm.key), hidden, ..arm });
            }
        }
    }
    Ok(all)
}

/// The claims on losses of top-5 pairs (0) or all pairs (1), in the order of their evidence.
fn claims_of(truncation: usize) -> Vec<Claim> {
    let widest = WIDTHS[WIDEST];
    let head = ["", "all pairs: "][truncation];
    let how = format!(
        "pairs: {}; all losses have the learning rate that is best for LambdaRank at that width; no early stopping",
        PAIRS[truncation]
    );
    let above = |id: &str, statement: &str| {
        let statement = format!("{head}{widest} units: {statement}, points");
        Claim::new(format!("{head}{id}"), statement, Test::Above).unit("random function").convention(&*how)
    };
    vec![
        above("fits harder", "NDCG-Loss2 above LambdaRank in training NDCG@5 at the end").gaps(gaps_in_table5(), 2),
        above("overfits more", "NDCG-Loss2 overfits more than LambdaRank (training minus held-out NDCG@5)")
            .paper("\"severe overfitting\""),
        Claim::new(
            format!("{head}with width"),
            format!("{head}this difference grows with the width: points per doubling of the hidden units"),
            Test::Above,
        )
        .unit("random function")
        .convention(&*how)
        .paper("fewer leaves suit NDCG-Loss2 (Table 2)"),
        above("regularises", "NDCG-Loss2 overfits more than NDCG-Loss2++ (training minus held-out NDCG@5)")
            .paper("NDCG-Loss2++ regularises"),
        above("test LambdaRank", "LambdaRank above NDCG-Loss2 in test NDCG@5 at the best epoch")
            .gaps(gaps_in_table4(LAMBDARANK, NDCG2), 2),
        above("test hybrid", "NDCG-Loss2++ above LambdaRank in test NDCG@5 at the best epoch")
            .gaps(gaps_in_table4(NDCG2PP, LAMBDARANK), 2),
    ]
}

fn claims(_: &Session) -> Vec<Claim> {
    [0, 1].into_iter().flat_map(claims_of).collect()
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    Ok(json!({"nets": nets::protocol(session, &plan(session.scale), &arms()?), "last": LAST}))
}

/// Results of one loss and width on one function.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct NetRun {
    learning_rate: f64,
    /// Mean NDCG@5 of the last epochs on training queries, by the scores before each update.
    train_end: f64,
    /// Mean NDCG@5 of the last epochs on held-out queries.
    held_out_end: f64,
    best_epoch: usize,
    /// NDCG@5 of each test query at the best epoch by the held-out queries.
    test: Packed,
}

impl Finding for NetRun {
    fn impossible(&self) -> Option<String> {
        no_learning_rate([self.learning_rate]).or_else(|| no_share("NDCG@5", [self.train_end, self.held_out_end]))
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let (plan, arms) = (plan(execution.scale()), arms()?);
    // Only LambdaRank is tuned.
    let baselines: Vec<Arm> = arms.iter().step_by(COMPARED.len()).cloned().collect();
    let tuned = nets::tune_learning_rates(execution, &plan, &baselines)?;
    let name = |function, arm: usize| Some((nets::run_key(function, &arms[arm].key), 10.0 + arms[arm].hidden as f64));
    let load = |function| Parts::of_function(execution.session, function, plan.queries);
    let runs = run_grid(execution, 0..plan.functions, arms.len(), name, load, |parts, job, ticker| {
        let arm = job.what.1;
        let learning_rate = tuned[arm / COMPARED.len()].best;
        let plan = Plan { patience: 0, ..plan };
        let place = (ticker, (0.0, 1.0));
        let model = nets::train_one(execution, &job.key, &plan, &arms[arm], parts, learning_rate, 0, place)?;
        let end = &model.history[model.history.len().saturating_sub(LAST)..];
        Ok(NetRun {
            learning_rate,
            train_end: mean(&end.iter().map(|epoch| epoch.train).collect::<Vec<_>>()),
            held_out_end: mean(&end.iter().map(|epoch| epoch.valid).collect::<Vec<_>>()),
            best_epoch: model.info.best_epoch,
            test: Packed::new(per_query(&model, &parts.sets[2], METRIC)?),
        })
    })?;
    report(execution, &plan, &tuned, &runs.runs)
}

/// A value in percent, one number per function.
fn percent(runs: &[NetRun], value: fn(&NetRun) -> f64) -> Vec<f64> {
    runs.iter().map(|run| 100.0 * value(run)).collect()
}

fn train_end(run: &NetRun) -> f64 {
    run.train_end
}

fn held_out_end(run: &NetRun) -> f64 {
    run.held_out_end
}

/// Training minus held-out NDCG@5.
fn overfit(run: &NetRun) -> f64 {
    run.train_end - run.held_out_end
}

fn test(run: &NetRun) -> f64 {
    mean(run.test.values())
}

/// First arm minus second in points, one number per function.
fn gap(runs: &[Vec<NetRun>], first: usize, second: usize, value: fn(&NetRun) -> f64) -> Vec<f64> {
    less(&percent(&runs[first], value), &percent(&runs[second], value))
}

/// The numbers of [`claims_of`].
fn evidence(runs: &[Vec<NetRun>], truncation: usize) -> [Vec<f64>; 6] {
    let gap = |width, first, second, value| {
        gap(runs, arm_of(truncation, width, first), arm_of(truncation, width, second), value)
    };
    let by_width: Vec<Vec<f64>> = (0..WIDTHS.len()).map(|width| gap(width, TWO, 0, overfit)).collect();
    let doublings = WIDTHS.map(|width| (width as f64).log2());
    let slopes = (0..by_width[0].len())
        .map(|function| slope(&doublings, &by_width.iter().map(|all| all[function]).collect::<Vec<_>>()));
    [
        gap(WIDEST, TWO, 0, train_end),
        gap(WIDEST, TWO, 0, overfit),
        slopes.collect(),
        gap(WIDEST, TWO, HYBRID, overfit),
        gap(WIDEST, 0, TWO, test),
        gap(WIDEST, HYBRID, 0, test),
    ]
}

fn table(plan: &Plan, tuned: &[Tuned], runs: &[Vec<NetRun>]) -> Table {
    let title = "NDCG@5 in percent, mean and 95% interval over functions; training and held-out at the end of training, test \
                 at the best epoch:";
    let head = [
        "pairs",
        "hidden units",
        "loss",
        "training",
        "held-out",
        "overfit",
        "overfit minus LambdaRank",
        "test",
        "mean best epoch (last tenth)",
        "learning rate",
    ];
    let mut table = Table::titled(title, &head);
    for (arm, cell) in runs.iter().enumerate() {
        let (search, loss) = (arm / COMPARED.len(), arm % COMPARED.len());
        let epochs: Vec<f64> = cell.iter().map(|run| run.best_epoch as f64).collect();
        let late = cell.iter().filter(|run| 10 * run.best_epoch > 9 * plan.epochs).count();
        table.row([
            PAIRS[search / WIDTHS.len()].into(),
            WIDTHS[search % WIDTHS.len()].to_string(),
            LOSSES[COMPARED[loss]].name.into(),
            mean_text(&percent(cell, train_end)),
            mean_text(&percent(cell, held_out_end)),
            mean_text(&percent(cell, overfit)),
            if loss == 0 { "-".into() } else { gap_text(&gap(runs, arm, arm - loss, overfit)) },
            mean_text(&percent(cell, test)),
            format!("{:.0} ({late} of {})", mean(&epochs), cell.len()),
            marked(tuned[search].best, &tuned[search]),
        ]);
    }
    table
}

fn report(execution: &Execution<'_>, plan: &Plan, tuned: &[Tuned], runs: &[Vec<NetRun>]) -> anyhow::Result<Report> {
    let found = [0, 1].map(|truncation| evidence(runs, truncation));
    let [harder, more, slopes, ..] = &found[0];
    let mut protocol = plan.words();
    protocol.push(format!(
        "The learning rate is tuned for LambdaRank only, for each width, and used for all three losses, as the paper uses \
         LambdaMART's settings for NDCG-Loss2 in Table 5. The evaluated runs have all {} epochs; values at the end are \
         means of the last {LAST} epochs. Held-out queries are the validation queries; training NDCG@5 is computed from the \
         scores before each update.",
        plan.epochs
    ));
    let deviations = deviations(
        execution.scale(),
        &[
            "Wider nets instead of trees with more leaves, random functions instead of WEB and YAHOO.",
            &format!("{} training queries per function, so that nets can overfit.", plan.queries[0]),
        ],
        "Quick: two functions, few queries and epochs.",
    );
    Ok(Report {
        evidence: claims(execution.session)
            .into_iter()
            .zip(found.iter().flatten())
            .map(|(claim, units)| (claim.id, Evidence::rounded(units.clone(), 2)))
            .collect(),
        main: format!(
            "{} units, NDCG-Loss2 minus LambdaRank, points: training {}, overfit {}; {} per doubling of the width",
            WIDTHS[WIDEST],
            gap_text(harder),
            gap_text(more),
            gap_text(slopes)
        ),
        tables: vec![table(plan, tuned, runs)],
        notes: vec![format!(
            "Overfit is training minus held-out NDCG@5 at the end of training. In brackets: number of best epochs in the last \
             tenth of the {} epochs.",
            plan.epochs
        )],
        protocol,
        deviations,
        figure: figure::draw(&[
            panel(runs, "training NDCG@5 at the end", "percent", train_end),
            panel(runs, "training minus held-out NDCG@5 at the end", "points", overfit),
            panel(runs, "test NDCG@5 at the best epoch", "percent", test),
        ])?,
        other_data: true,
        ..Report::default()
    })
}

fn panel(runs: &[Vec<NetRun>], title: &str, unit: &str, value: fn(&NetRun) -> f64) -> Panel {
    let line = |(loss, place): (usize, &usize)| {
        let at = |width: usize| point(width as f64, &percent(&runs[arm_of(0, width, loss)], value));
        series(LOSSES[*place].name, loss, true, (0..WIDTHS.len()).map(at).collect())
    };
    Panel {
        title: title.into(),
        x_label: "hidden units".into(),
        y_label: unit.into(),
        ticks: WIDTHS.iter().enumerate().map(|(place, width)| (place as f64, width.to_string())).collect(),
        series: COMPARED.iter().enumerate().map(line).collect(),
        ..Panel::default()
    }
}
