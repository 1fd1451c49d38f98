//! LambdaLoss, Fig. 3: NDCG-Loss2++ as a function of mu.

use super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP, gaps_in_table3};
use super::nets::{self, Arm, Plan, Study, gap_text, mean_text, point, series};
use super::weights::same_as_lambdarank;
use super::{deviations, slope};
use crate::harness::figure::{self, Legend, Panel};
use crate::harness::units::mean;
use crate::harness::{Claim, Evidence, Execution, Experiment, Headline, Kind, Paper, Report, Scale, Session, Test};
use burnrank::internal::text::{Table, fixed};
use serde_json::Value;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-mu",
    kind: Kind::Extension,
    paper: Paper::LambdaLoss,
    place: "Figure 3 and section 7.2.1, with nets",
    claim: "NDCG-Loss2++ is not very sensitive to mu between 0.1 and 10, and better for larger mu (the paper uses mu = 5 \
         elsewhere, which is not its best value).",
    short: "NDCG-Loss2++ is insensitive to mu and better when mu is larger, with nets.",
    headlines: &[
        Headline::new("NDCG@5 is relatively stable for mu from 0.1 to 10", &["alike *"]),
        Headline::new("NDCG@5 rises with mu", &["rises"]),
    ],
    number: ("rises", "points of NDCG@5 per factor of 10 of mu"),
    time: "about 6 minutes",
    claims,
    protocol,
    run,
    ..Experiment::BASE
};

const METRIC: &str = "ndcg@5";
/// Range of Fig. 3 in logarithmic steps, and 5, which the paper uses elsewhere.
const MUS: [f64; 6] = [0.1, 0.3, 1.0, 3.0, 5.0, 10.0];
/// Indices of arms: the values of mu, then LambdaRank (mu = 0) and NDCG-Loss2 (the limit of large mu).
const FIVE: usize = 4;
const ZERO: usize = MUS.len();
const INFINITE: usize = MUS.len() + 1;

/// Margin of equivalence in points: the largest gain of NDCG-Loss2 over LambdaRank in Table 3.
const MARGIN: f64 = 1.0;

fn plan(scale: Scale) -> Plan {
    scale.pick(Plan::FULL, Plan::QUICK)
}

fn arms() -> anyhow::Result<Vec<Arm>> {
    let mut names: Vec<String> = MUS.iter().map(|mu| format!("ndcg-loss2++@5:mu={mu}")).collect();
    names.extend([LAMBDARANK, NDCG2].map(|loss| LOSSES[loss].objective(Some(5))));
    names.iter().map(|name| Arm::new(name, METRIC)).collect()
}

fn claims(_: &Session) -> Vec<Claim> {
    let unit = "random function";
    let how = "truncated at 5 (Eq. 18); NDCG@5 of test queries; learning rate tuned for each mu";
    let alike = |mu: usize| {
        Claim::new(
            format!("alike {}", MUS[mu]),
            format!("mu = {} minus mu = 5, points of NDCG@5", MUS[mu]),
            Test::Equivalent { margin: MARGIN },
        )
        .paper("relatively stable")
        .unit(unit)
        .convention(format!("{how}; the margin is the largest gain of NDCG-Loss2 over LambdaRank in Table 3"))
    };
    let above = |id: &str, statement: &str| Claim::new(id, statement, Test::Above).unit(unit).convention(how);
    let larger = "better when mu is larger";
    vec![
        alike(0),
        alike(MUS.len() - 1),
        above("rises", "NDCG@5 rises with mu: points per factor of ten of mu (least squares, 0.1 to 10)").paper(larger),
        above("ends", "mu = 10 above mu = 0.1, points of NDCG@5").paper(larger),
        above("over LambdaRank", "mu = 5 above mu = 0 (LambdaRank), points of NDCG@5")
            .gaps(gaps_in_table3(NDCG2PP, LAMBDARANK), 2),
        above("over NDCG-Loss2", "mu = 5 above NDCG-Loss2, points of NDCG@5").gaps(gaps_in_table3(NDCG2PP, NDCG2), 2),
    ]
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    Ok(nets::protocol(session, &plan(session.scale), &arms()?))
}

/// Points per factor of ten of mu, one number per function.
fn slopes(study: &Study) -> Vec<f64> {
    let x = MUS.map(f64::log10);
    let by_mu: Vec<Vec<f64>> = (0..MUS.len()).map(|arm| study.test(arm, METRIC)).collect();
    (0..by_mu[0].len()).map(|function| slope(&x, &by_mu.iter().map(|all| all[function]).collect::<Vec<_>>())).collect()
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let (plan, arms) = (plan(execution.scale()), arms()?);
    let study = nets::run(execution, &plan, &arms, &[METRIC], |_, _, _, _| Ok(()))?;
    let units = |first, second| Evidence::rounded(study.difference(first, second, METRIC), 2);
    let last = MUS.len() - 1;
    let slopes = slopes(&study);
    let mut table = Table::titled(
        "NDCG@5 in percent, mean and 95% interval over functions:",
        &["mu", "train", "validation", "test", "test minus mu = 5", "learning rate"],
    );
    let order = [ZERO].into_iter().chain(0..MUS.len()).chain([INFINITE]);
    for arm in order {
        table.row([
            name(arm),
            fixed(mean(&study.train(arm)), 2),
            fixed(mean(&study.valid(arm)), 2),
            mean_text(&study.test(arm, METRIC)),
            if arm == FIVE { "-".into() } else { gap_text(&study.difference(arm, FIVE, METRIC)) },
            study.learning_rate(arm),
        ]);
    }
    let deviations = deviations(
        execution.scale(),
        &[
            "Nets and random functions instead of trees and WEB30K; the paper shows its values in a figure only.",
            "The learning rate is tuned for every mu; the paper keeps its settings.",
        ],
        nets::QUICK,
    );
    Ok(Report {
        evidence: vec![
            (format!("alike {}", MUS[0]), units(0, FIVE)),
            (format!("alike {}", MUS[last]), units(last, FIVE)),
            ("rises".into(), Evidence::rounded(slopes.clone(), 3)),
            ("ends".into(), units(last, 0)),
            ("over LambdaRank".into(), units(FIVE, ZERO)),
            ("over NDCG-Loss2".into(), units(FIVE, INFINITE)),
        ],
        controls: vec![same_as_lambdarank(&[Some(5)])],
        main: format!(
            "from mu 0.1 to 10: {} points; {} points per factor of ten",
            gap_text(&study.difference(last, 0, METRIC)),
            gap_text(&slopes)
        ),
        tables: vec![table, study.trainings()],
        protocol: plan.words(),
        deviations,
        figure: figure::draw(&[panel(&study)])?,
        other_data: true,
        ..Report::default()
    })
}

fn name(arm: usize) -> String {
    match arm {
        ZERO => "0 (LambdaRank)".into(),
        INFINITE => "NDCG-Loss2 alone".into(),
        arm => MUS[arm].to_string(),
    }
}

fn panel(study: &Study) -> Panel {
    // Differences to mu = 5 on the same function, because functions vary by far more than mu changes.
    let line = |arms: Vec<(f64, usize)>, name: &str, colour, joined| {
        let points = arms.into_iter().map(|(x, arm)| point(x, &study.difference(arm, FIVE, METRIC)));
        series(name, colour, joined, points.collect())
    };
    let mus = MUS.iter().enumerate().map(|(arm, mu)| (mu.log10(), arm)).collect();
    let mut ticks = vec![(-1.5, "0".to_owned()), (1.5, "∞".to_owned())];
    ticks.extend(MUS.iter().map(|mu| (mu.log10(), mu.to_string())));
    ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
    Panel {
        title: "Figure 3: mu of NDCG-Loss2++".into(),
        x_label: "mu (0 is LambdaRank, ∞ is NDCG-Loss2)".into(),
        y_label: "test NDCG@5 minus that of mu = 5, points".into(),
        ticks,
        series: vec![
            line(mus, "NDCG-Loss2++", 0, true),
            line(vec![(-1.5, ZERO)], "LambdaRank", 1, false),
            line(vec![(1.5, INFINITE)], "NDCG-Loss2", 2, false),
        ],
        zero: Some(0.0),
        legend: Legend::LowerRight,
        ..Panel::default()
    }
}
