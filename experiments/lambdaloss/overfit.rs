//! LambdaLoss, Table 5 asked of nets: does NDCG-Loss2 fit the training queries harder and overfit more as nets widen?

use super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP, TABLE5};
use super::nets::{self, Arm, Parts, Plan, gap_text, mean_text, point};
use crate::harness::figure::{self, Panel, Series, Whose};
use crate::harness::finding::{Finding, no_learning_rate, no_share};
use crate::harness::tuning::Tuned;
use crate::harness::units::{less, mean};
use crate::harness::{
    Claim, Evidence, Execution, Experiment, Job, Kind, OneEntryCache, Packed, Paper, Report, Scale, Session, Test,
    per_query,
};
use burnrank::internal::text::Table;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-overfit",
    kind: Kind::Paper,
    paper: Paper::LambdaLoss,
    place: "Table 5 and section 7.1, asked of nets",
    claim: "With the settings that are best for LambdaRank, NDCG-Loss2 fits the training queries much harder and \
         overfits; NDCG-Loss2++ regularises it.",
    time: "about 8 minutes",
    claims,
    changed: &[],
    protocol,
    run,
    own: None,
};

const MEASURE: &str = "ndcg@5";
/// The baseline first.
const COMPARED: [usize; 3] = [LAMBDARANK, NDCG2, NDCG2PP];
const TWO: usize = 1;
const HYBRID: usize = 2;
const WIDTHS: [usize; 4] = [4, 16, 64, 256];
const WIDEST: usize = WIDTHS.len() - 1;
/// The last epochs, whose mean stands for the end of training.
const LAST: usize = 5;

/// The plan that step sizes are chosen by. Runs that are judged have no early end.
fn plan(scale: Scale) -> Plan {
    scale.pick(
        Plan { queries: [500, 500, 1_000], tuning_functions: 1, seeds: 1, epochs: 150, ..Plan::FULL },
        Plan { queries: [20, 20, 20], epochs: 6, patience: 3, ..Plan::QUICK },
    )
}

fn arm_of(width: usize, loss: usize) -> usize {
    width * COMPARED.len() + loss
}

fn arms() -> anyhow::Result<Vec<Arm>> {
    let mut all = vec![];
    for hidden in WIDTHS {
        for loss in COMPARED {
            let arm = Arm::new(&LOSSES[loss].objective(Some(5)), MEASURE)?;
            all.push(Arm { key: format!("{hidden} units {}", arm.key), hidden, ..arm });
        }
    }
    Ok(all)
}

fn claims(_: &Session) -> Vec<Claim> {
    let widest = WIDTHS[WIDEST];
    let how =
        "truncated at 5; the step size that is best for LambdaRank at that width is used for all losses; no early end";
    let above = |primary: bool, id: &str, statement: String, paper: String| {
        let claim = if primary { Claim::primary } else { Claim::secondary };
        claim(id, statement, Test::Above).paper(paper).unit("random function").convention(how)
    };
    let table5: Vec<String> = (0..3).map(|set| format!("{:+.2}", TABLE5[1][set] - TABLE5[0][set])).collect();
    let table4 = |loss: usize, sign: f64| {
        let cell = |loss: usize, set: usize| LOSSES[loss].table4.map_or(f64::NAN, |sets| sets[set][2]);
        (0..3)
            .map(|set| format!("{:+.2}", sign * (cell(loss, set) - cell(LAMBDARANK, set))))
            .collect::<Vec<_>>()
            .join(", ")
    };
    vec![
        above(
            true,
            "fits harder",
            format!("{widest} units: training NDCG@5 at the end, NDCG-Loss2 above LambdaRank, points"),
            format!("{} (Table 5)", table5.join(", ")),
        ),
        above(
            true,
            "overfits more",
            format!("{widest} units: training less held-out NDCG@5 at the end, NDCG-Loss2 above LambdaRank, points"),
            "\"severe overfitting\"".into(),
        ),
        above(
            true,
            "with width",
            "that difference grows with the width: points per doubling of the hidden units".into(),
            "fewer leaves suit NDCG-Loss2 (Table 2)".into(),
        ),
        above(
            false,
            "regularises",
            format!("{widest} units: training less held-out NDCG@5 at the end, NDCG-Loss2 above NDCG-Loss2++, points"),
            "NDCG-Loss2++ regularises".into(),
        ),
        above(
            false,
            "test LambdaRank",
            format!("{widest} units: test NDCG@5 of the best epoch, LambdaRank above NDCG-Loss2, points"),
            format!("{} (Table 4)", table4(NDCG2, -1.0)),
        ),
        above(
            false,
            "test hybrid",
            format!("{widest} units: test NDCG@5 of the best epoch, NDCG-Loss2++ above LambdaRank, points"),
            format!("{} (Table 4)", table4(NDCG2PP, 1.0)),
        ),
    ]
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    Ok(json!({"nets": nets::protocol(session, &plan(session.scale), &arms()?), "last": LAST}))
}

/// One loss and width on one function.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Found {
    learning_rate: f64,
    /// Means of the last epochs: training queries as each batch saw them, and held-out queries, which chose nothing
    /// here.
    train_end: f64,
    held_out_end: f64,
    best_epoch: usize,
    /// Each test query at the best epoch by the held-out queries.
    test: Packed,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        no_learning_rate([self.learning_rate]).or_else(|| no_share("NDCG@5", [self.train_end, self.held_out_end]))
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let (plan, arms) = (plan(execution.scale()), arms()?);
    // Only LambdaRank's settings are chosen.
    let baselines: Vec<Arm> = (0..WIDTHS.len()).map(|width| arms[arm_of(width, 0)].clone()).collect();
    let tuned = nets::choose_steps(execution, &plan, &baselines)?;
    let mut jobs = vec![];
    for function in 0..plan.functions {
        for (arm, of) in arms.iter().enumerate() {
            let key = format!("function {} {}", function + 1, of.key);
            jobs.push(Job { key, work: 10.0 + of.hidden as f64, what: (function, arm) });
        }
    }
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let (function, arm) = job.what;
        let parts = kept.get(function, || Parts::of_function(execution.session, function, plan.queries))?;
        let learning_rate = tuned[arm / COMPARED.len()].best;
        let whole = Plan { patience: 0, ..plan };
        let model = nets::one(execution, &job.key, &whole, &arms[arm], &parts, learning_rate, 0, (ticker, (0.0, 1.0)))?;
        let end = &model.history[model.history.len().saturating_sub(LAST)..];
        Ok(Found {
            learning_rate,
            train_end: mean(&end.iter().map(|epoch| epoch.train).collect::<Vec<_>>()),
            held_out_end: mean(&end.iter().map(|epoch| epoch.valid).collect::<Vec<_>>()),
            best_epoch: model.info.best_epoch,
            test: Packed::new(per_query(&model, &parts.sets[2], MEASURE)?),
        })
    })?;
    let mut by_arm = vec![vec![]; arms.len()];
    jobs.iter().zip(found).for_each(|(job, found)| by_arm[job.what.1].push(found));
    report(execution, &plan, &tuned, &by_arm)
}

/// One number per function, in percent.
fn of(found: &[Found], value: fn(&Found) -> f64) -> Vec<f64> {
    found.iter().map(|found| 100.0 * value(found)).collect()
}

fn train_end(found: &Found) -> f64 {
    found.train_end
}

fn held_out_end(found: &Found) -> f64 {
    found.held_out_end
}

/// How much better training queries do than held-out ones.
fn overfit(found: &Found) -> f64 {
    found.train_end - found.held_out_end
}

fn test(found: &Found) -> f64 {
    mean(found.test.values())
}

/// The slope of values by the doublings of the width, by least squares.
fn slope(values: &[f64]) -> f64 {
    let x: Vec<f64> = WIDTHS.iter().map(|&width| (width as f64).log2()).collect();
    let (mean_x, mean_y) = (mean(&x), mean(values));
    let products = x.iter().zip(values).map(|(x, y)| (x - mean_x) * (y - mean_y));
    products.sum::<f64>() / x.iter().map(|x| (x - mean_x).powi(2)).sum::<f64>()
}

fn report(execution: &Execution<'_>, plan: &Plan, tuned: &[Tuned], found: &[Vec<Found>]) -> anyhow::Result<Report> {
    let gap = |width: usize, first: usize, second: usize, value: fn(&Found) -> f64| {
        less(&of(&found[arm_of(width, first)], value), &of(&found[arm_of(width, second)], value))
    };
    let by_width: Vec<Vec<f64>> = (0..WIDTHS.len()).map(|width| gap(width, TWO, 0, overfit)).collect();
    let slopes: Vec<f64> = (0..by_width[0].len())
        .map(|function| slope(&by_width.iter().map(|all| all[function]).collect::<Vec<_>>()))
        .collect();
    let units = |values: Vec<f64>| Evidence::rounded(values, 2);
    let mut table = Table::titled(
        "NDCG@5 in percent, mean and 95% interval over functions; at the end of training, and of test queries at the \
         best epoch:",
        &[
            "hidden units",
            "loss",
            "training",
            "held-out",
            "overfit",
            "overfit less LambdaRank",
            "test",
            "mean best epoch (last tenth)",
            "step size",
        ],
    );
    for (width, hidden) in WIDTHS.into_iter().enumerate() {
        for (loss, place) in COMPARED.into_iter().enumerate() {
            let cell = &found[arm_of(width, loss)];
            let epochs: Vec<f64> = cell.iter().map(|found| found.best_epoch as f64).collect();
            let late = cell.iter().filter(|found| 10 * found.best_epoch > 9 * plan.epochs).count();
            let Tuned { best, at_edge, .. } = tuned[width];
            table.row([
                hidden.to_string(),
                LOSSES[place].name.into(),
                mean_text(&of(cell, train_end)),
                mean_text(&of(cell, held_out_end)),
                mean_text(&of(cell, overfit)),
                if loss == 0 { "-".into() } else { gap_text(&gap(width, loss, 0, overfit)) },
                mean_text(&of(cell, test)),
                format!("{:.0} ({late} of {})", mean(&epochs), cell.len()),
                format!("{best}{}", if at_edge { " (at the edge)" } else { "" }),
            ]);
        }
    }
    let (harder, more) = (gap(WIDEST, TWO, 0, train_end), gap(WIDEST, TWO, 0, overfit));
    let mut protocol = plan.words();
    protocol.push(format!(
        "Here the step size is chosen for LambdaRank alone, for each width, and used for all three losses, as the \
         paper gave NDCG-Loss2 the settings of LambdaMART in Table 5. The runs that are judged go on for all {} \
         epochs; the means of the last {LAST} stand for the end of training. Held-out queries are the validation \
         queries, which decide nothing about the end; training queries are judged by the scores that each batch had \
         before its update.",
        plan.epochs
    ));
    let mut deviations = vec![
        "Nets that widen in place of trees with more leaves, random functions in place of WEB and YAHOO.".into(),
        format!("{} training queries per function, so that nets can overfit.", plan.queries[0]),
    ];
    if execution.scale() == Scale::Quick {
        deviations.push("Quick: two functions, few queries and epochs.".into());
    }
    Ok(Report {
        evidence: vec![
            ("fits harder".into(), units(harder.clone())),
            ("overfits more".into(), units(more.clone())),
            ("with width".into(), units(slopes.clone())),
            ("regularises".into(), units(gap(WIDEST, TWO, HYBRID, overfit))),
            ("test LambdaRank".into(), units(gap(WIDEST, 0, TWO, test))),
            ("test hybrid".into(), units(gap(WIDEST, HYBRID, 0, test))),
        ],
        main: format!(
            "{} units, NDCG-Loss2 less LambdaRank, points: training {}, overfit {}; {} per doubling of the width",
            WIDTHS[WIDEST],
            gap_text(&harder),
            gap_text(&more),
            gap_text(&slopes)
        ),
        tables: vec![table],
        notes: vec![format!(
            "Overfit is training less held-out NDCG@5, both at the end of training. In brackets: how many best epochs are in the \
             last tenth of the {} epochs.",
            plan.epochs
        )],
        protocol,
        deviations,
        figure: figure::draw(&[
            panel(found, "training NDCG@5 at the end", "percent", train_end),
            panel(found, "training less held-out NDCG@5 at the end", "points", overfit),
            panel(found, "test NDCG@5 of the best epoch", "percent", test),
        ])?,
        other_data: true,
        ..Report::default()
    })
}

fn panel(found: &[Vec<Found>], title: &str, unit: &str, value: fn(&Found) -> f64) -> Panel {
    let line = |(loss, place): (usize, &usize)| Series {
        name: LOSSES[*place].name.into(),
        whose: Whose::Ours,
        colour: loss,
        joined: true,
        points: (0..WIDTHS.len()).map(|width| point(width as f64, &of(&found[arm_of(width, loss)], value))).collect(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_by_doublings() {
        let values: Vec<f64> = WIDTHS.iter().map(|&width| 1.0 + 0.25 * (width as f64).log2()).collect();
        assert!((slope(&values) - 0.25).abs() < 1e-12);
    }
}
