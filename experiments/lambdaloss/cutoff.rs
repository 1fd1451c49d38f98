//! LambdaLoss, Fig. 4 with nets: losses of top-k pairs, of all pairs, and with weights corrected for NDCG@k, by NDCG@k.

use super::deviations;
use super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP, TOPK};
use super::nets::{self, Arm, Evaluation, Plan, Study};
use super::weights::same_as_lambdarank;
use crate::harness::comparison::{Comparison, gap_text, point, series};
use crate::harness::figure::{self, Panel};
use crate::harness::{self, Claim, Execution, Experiment, Headline, Kind, Paper, Report, Scale, Session, Test, Tested};
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
    changed: &["Losses of all pairs, and the weight corrected for NDCG@k, were added, with secondary claims."],
    protocol,
    run,
    ..Experiment::BASE
};

const KS: [usize; 4] = [1, 3, 5, 10];
/// The losses of Fig. 4; the first is the baseline.
const COMPARED: [usize; 3] = [LAMBDARANK, NDCG2, NDCG2PP];
const PAIRS: [&str; 2] = ["top k", "all"];
/// Place of the corrected weight among the arms of a cutoff, after the losses of top-k pairs and of all pairs.
const CORRECTED: usize = 2 * COMPARED.len();
const N_PLACES: usize = CORRECTED + 1;

fn plan(scale: Scale) -> Plan {
    scale.pick(Plan { queries: [800, 500, 2_000], ..Plan::FULL }, Plan::QUICK)
}

/// The arm of a loss of top-k pairs (0) or all pairs (1) at a cutoff.
fn arm_of(cut: usize, pairs: usize, loss: usize) -> usize {
    cut * N_PLACES + pairs * COMPARED.len() + loss
}

fn corrected(cut: usize) -> usize {
    cut * N_PLACES + CORRECTED
}

fn arms() -> anyhow::Result<Vec<Arm>> {
    let mut all = vec![];
    for k in KS {
        let of = |truncation: Option<usize>| COMPARED.map(|loss| LOSSES[loss].objective(truncation));
        for objective in of(Some(k)).into_iter().chain(of(None)).chain([format!("{TOPK}@{k}")]) {
            let arm = Arm::new(&objective, &format!("ndcg@{k}"))?;
            // A loss of all pairs is trained for each metric.
            all.push(Arm { key: format!("{objective} by {}", arm.metric), ..arm });
        }
    }
    Ok(all)
}

fn tested() -> Vec<Tested<Comparison<Evaluation>>> {
    let claim = |id: String, statement: String, how: &str| {
        Claim::new(id, statement, Test::Above).unit("random function").convention(how)
    };
    let how = [
        "pairs with a document in the top k (Eq. 18), maxDCG at k; NDCG@k also selects the epoch",
        "all pairs; NDCG@k selects the epoch",
    ];
    let mut all = vec![];
    for (cut, k) in KS.into_iter().enumerate() {
        for (loss, place) in COMPARED.into_iter().enumerate().skip(1) {
            for (pairs, head) in ["", "all pairs: "].into_iter().enumerate() {
                let name = LOSSES[place].name;
                let statement = format!("{head}{name} above LambdaRank, points of NDCG@{k}");
                let claim = claim(format!("{head}{name} @{k}"), statement, how[pairs]);
                let claim = claim.paper(if pairs == 0 { "above, at all k" } else { "not in the paper" });
                all.push(claim.between(arm_of(cut, pairs, loss), arm_of(cut, pairs, 0)));
            }
        }
        let statement = format!("corrected weight above NDCG-Loss2 of top-{k} pairs, points of NDCG@{k}");
        let claim = claim(format!("corrected @{k}"), statement, "all pairs, weights corrected for NDCG@k");
        all.push(claim.paper("not in the paper").between(corrected(cut), arm_of(cut, 0, 1)));
    }
    all
}

fn claims(_: &Session) -> Vec<Claim> {
    harness::claims(tested())
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    Ok(nets::protocol(session, &plan(session.scale), &arms()?))
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let plan = plan(execution.scale());
    let study = nets::run(execution, &plan, &arms()?)?;
    let places = (0..KS.len()).flat_map(|cut| (0..N_PLACES).map(move |place| (cut, place)));
    let rows = places.map(|(cut, place)| {
        let (pairs, loss) = (place / COMPARED.len(), place % COMPARED.len());
        let [pairs, loss] = match place {
            CORRECTED => ["all", "NDCG-Loss2, corrected"],
            _ => [PAIRS[pairs], LOSSES[COMPARED[loss]].name],
        };
        let base = arm_of(cut, (place / COMPARED.len()).min(1), 0);
        study.row([KS[cut].to_string(), pairs.into(), loss.into()], cut * N_PLACES + place, base)
    });
    let title = "NDCG@k in percent, mean and 95% interval over functions; LambdaRank of the same pairs is subtracted:";
    let table = study.runs.table(title, ["k", "pairs", "loss"], ["LambdaRank", "learning rate"], rows);
    let gain = |cut: usize| gap_text(&study.runs.difference(arm_of(cut, 0, 1), arm_of(cut, 0, 0)));
    let gains: Vec<String> = (0..KS.len()).map(|cut| format!("k {}: {}", KS[cut], gain(cut))).collect();
    let deviations = deviations(
        execution.scale(),
        &["Nets and random functions instead of RankLib's trees and WEB30K; the paper shows its values in a figure \
             only."],
        nets::QUICK,
    );
    Ok(Report {
        evidence: harness::evidence(&tested(), &study.runs),
        controls: vec![same_as_lambdarank(&KS.map(Some))],
        main: format!("NDCG-Loss2 minus LambdaRank, points: {}", gains.join("; ")),
        tables: vec![table, study.trainings()],
        notes: vec![
            "LambdaRank has the weight rho of Proposition 5.1, truncated by Eq. 18 like the other losses. \"Corrected\" keeps all \
             pairs and divides delta_ij by 1 - 1/D(m) if the lower document is at rank m > k (Jagerman et al., SIGIR 2022)."
                .into(),
        ],
        protocol: plan.words(),
        deviations,
        figure: figure::draw(&[panel(&study, 0), panel(&study, 1)])?,
        other_data: true,
        ..Report::default()
    })
}

/// NDCG@k minus that of LambdaRank of top-k pairs.
fn panel(study: &Study, pairs: usize) -> Panel {
    let line = |name: String, colour: usize, arm: &dyn Fn(usize) -> usize| {
        let gap = |cut: usize| study.runs.difference(arm(cut), arm_of(cut, 0, 0));
        series(name, colour, true, (0..KS.len()).map(|cut| point(cut as f64, &gap(cut))).collect())
    };
    let first = if pairs == 0 { 1 } else { 0 };
    let of = |loss: usize| line(LOSSES[COMPARED[loss]].name.into(), loss, &|cut| arm_of(cut, pairs, loss));
    let mut all: Vec<_> = (first..COMPARED.len()).map(of).collect();
    if pairs == 1 {
        all.push(line("NDCG-Loss2, corrected".into(), 3, &corrected));
    }
    Panel {
        title: ["losses of top-k pairs", "losses of all pairs"][pairs].into(),
        x_label: "k".into(),
        y_label: "test NDCG@k minus LambdaRank's of top-k pairs, points".into(),
        ticks: KS.iter().enumerate().map(|(cut, k)| (cut as f64, k.to_string())).collect(),
        series: all,
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
        assert_eq!(arms.len(), KS.len() * N_PLACES);
        let keys = [arm_of(3, 0, 0), arm_of(0, 1, 1), corrected(2)].map(|arm| &*arms[arm].key);
        assert_eq!(keys, ["ndcg-loss2++@10:mu=0 by ndcg@10", "ndcg-loss2 by ndcg@1", "ndcg-loss2-topk@5 by ndcg@5"]);
    }
}
