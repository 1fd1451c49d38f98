//! LambdaLoss, Fig. 4: losses truncated at k, evaluated by NDCG@k.

use super::deviations;
use super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP};
use super::nets::{self, Arm, Plan, Study, gap_text, mean_text, point, series};
use super::weights::same_as_lambdarank;
use crate::harness::figure::{self, Panel, Series};
use crate::harness::{Claim, Evidence, Execution, Experiment, Headline, Kind, Paper, Report, Scale, Session, Test};
use burnrank::internal::text::Table;
use serde_json::Value;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-k",
    kind: Kind::Extension,
    paper: Paper::LambdaLoss,
    place: "Figure 4 and section 7.2.2, with nets",
    claim: "NDCG-Loss2 and NDCG-Loss2++, truncated at k, are above LambdaRank by NDCG@k for all k of 1, 3, 5 and 10.",
    short: "NDCG-Loss2 and NDCG-Loss2++ beat LambdaRank at every cutoff k, with nets.",
    headlines: &[
        Headline::new("NDCG-Loss2 is above LambdaRank at k = 1, 3, 5 and 10", &["NDCG-Loss2 @*"]),
        Headline::new("NDCG-Loss2++ is above LambdaRank at k = 1, 3, 5 and 10", &["NDCG-Loss2++ @*"]),
    ],
    number: ("NDCG-Loss2++ @10", "NDCG-Loss2++ minus LambdaRank, points of NDCG@10"),
    time: "about 6 minutes",
    claims,
    protocol,
    run,
    ..Experiment::BASE
};

const KS: [usize; 4] = [1, 3, 5, 10];
/// The losses of Fig. 4; the first is the baseline.
const COMPARED: [usize; 3] = [LAMBDARANK, NDCG2, NDCG2PP];

fn plan(scale: Scale) -> Plan {
    scale.pick(Plan { queries: [800, 500, 2_000], ..Plan::FULL }, Plan::QUICK)
}

fn metric(k: usize) -> String {
    format!("ndcg@{k}")
}

fn arm_of(cut: usize, loss: usize) -> usize {
    cut * COMPARED.len() + loss
}

fn arms() -> anyhow::Result<Vec<Arm>> {
    let mut all = vec![];
    for k in KS {
        for loss in COMPARED {
            all.push(Arm::new(&LOSSES[loss].objective(Some(k)), &metric(k))?);
        }
    }
    Ok(all)
}

fn id(k: usize, loss: usize) -> String {
    format!("{} @{k}", LOSSES[COMPARED[loss]].name)
}

fn claims(_: &Session) -> Vec<Claim> {
    let mut all = vec![];
    for k in KS {
        for loss in 1..COMPARED.len() {
            let statement =
                format!("{} above LambdaRank, both truncated at {k}, points of NDCG@{k}", LOSSES[COMPARED[loss]].name);
            all.push(
                Claim::new(id(k, loss), statement, Test::Above)
                    .paper("above, at all k")
                    .unit("random function")
                    .convention(
                        "pairs with a document in the top k (Eq. 18), maxDCG at k; NDCG@k also selects the epoch",
                    ),
            );
        }
    }
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    Ok(nets::protocol(session, &plan(session.scale), &arms()?))
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let (plan, arms) = (plan(execution.scale()), arms()?);
    let study = nets::run(execution, &plan, &arms, &[], |_, _, _, _| Ok(()))?;
    let mut evidence = vec![];
    let mut table = Table::titled(
        "Test NDCG@k in percent, mean and 95% interval over functions; losses truncated at the same k:",
        &["k", "LambdaRank", "NDCG-Loss2", "minus LambdaRank", "NDCG-Loss2++", "minus LambdaRank", "learning rates"],
    );
    let mut gains = vec![];
    for (cut, k) in KS.into_iter().enumerate() {
        let gaps = |loss: usize| study.difference(arm_of(cut, loss), arm_of(cut, 0), &metric(k));
        let value = |loss: usize| mean_text(&study.test(arm_of(cut, loss), &metric(k)));
        let rates: Vec<String> = (0..COMPARED.len()).map(|loss| study.learning_rate(arm_of(cut, loss))).collect();
        let (two, hybrid) = (gap_text(&gaps(1)), gap_text(&gaps(2)));
        table.row([k.to_string(), value(0), value(1), two.clone(), value(2), hybrid, rates.join(", ")]);
        evidence.extend((1..COMPARED.len()).map(|loss| (id(k, loss), Evidence::rounded(gaps(loss), 2))));
        gains.push(format!("k {k}: {two}"));
    }
    let deviations = deviations(
        execution.scale(),
        &["Nets and random functions instead of RankLib's trees and WEB30K; the paper shows its values in a figure \
             only."],
        nets::QUICK,
    );
    Ok(Report {
        evidence,
        controls: vec![same_as_lambdarank(&KS.map(Some))],
        main: format!("NDCG-Loss2 minus LambdaRank, points: {}", gains.join("; ")),
        tables: vec![table, study.trainings()],
        notes: vec![
            "LambdaRank has the weight rho of Proposition 5.1, truncated by Eq. 18 like the other losses.".into(),
        ],
        protocol: plan.words(),
        deviations,
        figure: figure::draw(&[values_panel(&study), gaps_panel(&study)])?,
        other_data: true,
        ..Report::default()
    })
}

fn ticks() -> Vec<(f64, String)> {
    KS.iter().enumerate().map(|(cut, k)| (cut as f64, k.to_string())).collect()
}

fn line(loss: usize, values: impl Fn(usize, usize) -> Vec<f64>) -> Series {
    let points = KS.iter().enumerate().map(|(cut, &k)| point(cut as f64, &values(cut, k)));
    series(LOSSES[COMPARED[loss]].name, loss, true, points.collect())
}

fn values_panel(study: &Study) -> Panel {
    let values = |loss: usize| line(loss, |cut, k| study.test(arm_of(cut, loss), &metric(k)));
    Panel {
        title: "Figure 4: NDCG@k".into(),
        x_label: "k".into(),
        y_label: "test NDCG@k, percent".into(),
        ticks: ticks(),
        series: (0..COMPARED.len()).map(values).collect(),
        ..Panel::default()
    }
}

fn gaps_panel(study: &Study) -> Panel {
    let gaps = |loss: usize| line(loss, |cut, k| study.difference(arm_of(cut, loss), arm_of(cut, 0), &metric(k)));
    Panel {
        title: "minus LambdaRank, by function".into(),
        x_label: "k".into(),
        y_label: "test NDCG@k minus LambdaRank's, points".into(),
        ticks: ticks(),
        series: (1..COMPARED.len()).map(gaps).collect(),
        zero: Some(0.0),
        ..Panel::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_k_has_its_losses_and_its_metric() {
        let arms = arms().unwrap();
        assert_eq!(arms.len(), KS.len() * COMPARED.len());
        let arm = &arms[arm_of(3, 0)];
        assert_eq!((arm.key.as_str(), arm.metric.as_str()), ("ndcg-loss2++@10:mu=0", "ndcg@10"));
    }
}
