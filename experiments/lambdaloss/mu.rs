//! LambdaLoss, Fig. 3 with nets: NDCG-Loss2++ as a function of mu, of top-5 pairs and of all pairs.

use super::deviations;
use super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP, gaps_in_table3};
use super::nets::{self, Arm, Evaluation, Plan, Study};
use super::weights::same_as_lambdarank;
use crate::harness::comparison::{Comparison, gap_text, point, series, slope};
use crate::harness::figure::{self, Legend, Panel};
use crate::harness::{
    self, Claim, Evidence, Execution, Experiment, Headline, Kind, Paper, Report, Scale, Session, Test, Tested,
};
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
    changed: &[
        "Losses of all pairs were added, with secondary claims, because truncation had turned out to decide with nets.",
    ],
    protocol,
    run,
    ..Experiment::BASE
};

/// Range of Fig. 3 in logarithmic steps, and 5, which the paper uses elsewhere.
const MUS: [f64; 6] = [0.1, 0.3, 1.0, 3.0, 5.0, 10.0];
/// Places in [`arms`] of each truncation: the values of mu, LambdaRank (mu = 0) and NDCG-Loss2 (the limit of large mu).
const FIVE: usize = 4;
const LAST: usize = MUS.len() - 1;
const ZERO: usize = MUS.len();
const INFINITE: usize = MUS.len() + 1;
const N_PLACES: usize = MUS.len() + 2;
/// Truncated as in Eq. 18, and not truncated.
const TRUNCATIONS: [Option<usize>; 2] = [Some(5), None];
const PAIRS: [&str; 2] = ["top 5", "all pairs"];

/// Margin of equivalence in points: the largest gain of NDCG-Loss2 over LambdaRank in Table 3.
const MARGIN: f64 = 1.0;

fn plan(scale: Scale) -> Plan {
    scale.pick(Plan::FULL, Plan::QUICK)
}

fn arm_of(truncation: usize, place: usize) -> usize {
    truncation * N_PLACES + place
}

fn arms() -> anyhow::Result<Vec<Arm>> {
    let names = TRUNCATIONS.into_iter().flat_map(|k| {
        let at = k.map_or(String::new(), |k| format!("@{k}"));
        let of_mu = MUS.map(|mu| format!("ndcg-loss2++{at}:mu={mu}"));
        of_mu.into_iter().chain([LAMBDARANK, NDCG2].map(|loss| LOSSES[loss].objective(k)))
    });
    names.map(|name| Arm::new(&name, "ndcg@5")).collect()
}

const UNIT: &str = "random function";

/// How the losses of a truncation are compared.
fn how(truncation: usize) -> String {
    format!("{} (Eq. 18); NDCG@5 of test queries; learning rate tuned for each mu", PAIRS[truncation])
}

fn above(truncation: usize, id: &str, statement: &str) -> Claim {
    let head = if truncation == 0 { "" } else { "all pairs: " };
    Claim::new(format!("{head}{id}"), format!("{head}{statement}"), Test::Above).unit(UNIT).convention(how(truncation))
}

fn tested() -> Vec<Tested<Comparison<Evaluation>>> {
    let mut all = vec![];
    for place in [0, LAST] {
        let mu = MUS[place];
        let statement = format!("mu = {mu} minus mu = 5, points of NDCG@5");
        let claim = Claim::new(format!("alike {mu}"), statement, Test::Equivalent { margin: MARGIN });
        let how = format!("{}; the margin is the largest gain of NDCG-Loss2 over LambdaRank in Table 3", how(0));
        all.push(claim.paper("relatively stable").unit(UNIT).convention(how).between(place, FIVE));
    }
    for truncation in [0, 1] {
        let above = |id, statement| above(truncation, id, statement);
        let ends = above("ends", "mu = 10 above mu = 0.1, points of NDCG@5").paper("better when mu is larger");
        let lambdarank = above("over LambdaRank", "mu = 5 above mu = 0 (LambdaRank), points of NDCG@5");
        let loss2 = above("over NDCG-Loss2", "mu = 5 above NDCG-Loss2, points of NDCG@5");
        let places = [
            (ends, LAST, 0),
            (lambdarank.gaps(gaps_in_table3(NDCG2PP, LAMBDARANK), 2), FIVE, ZERO),
            (loss2.gaps(gaps_in_table3(NDCG2PP, NDCG2), 2), FIVE, INFINITE),
        ];
        let rises = above("rises", "NDCG@5 rises with mu: points per factor of ten of mu (least squares, 0.1 to 10)");
        let slopes = move |runs: &Comparison<Evaluation>| Evidence::rounded(slopes(runs, truncation), 3);
        all.push(rises.paper("better when mu is larger").by(slopes));
        all.extend(places.map(|(claim, a, b)| claim.between(arm_of(truncation, a), arm_of(truncation, b))));
    }
    all
}

fn claims(_: &Session) -> Vec<Claim> {
    harness::claims(tested())
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    Ok(nets::protocol(session, &plan(session.scale), &arms()?))
}

/// Points per factor of ten of mu, one number per function.
fn slopes(runs: &Comparison<Evaluation>, truncation: usize) -> Vec<f64> {
    let x = MUS.map(f64::log10);
    let by_mu: Vec<Vec<f64>> = (0..MUS.len()).map(|place| runs.test(arm_of(truncation, place))).collect();
    (0..by_mu[0].len()).map(|function| slope(&x, &by_mu.iter().map(|all| all[function]).collect::<Vec<_>>())).collect()
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let plan = plan(execution.scale());
    let study = nets::run(execution, &plan, &arms()?)?;
    let slopes = [0, 1].map(|truncation| slopes(&study.runs, truncation));
    let order = || [ZERO].into_iter().chain(0..MUS.len()).chain([INFINITE]);
    let places = (0..TRUNCATIONS.len()).flat_map(|truncation| order().map(move |place| (truncation, place)));
    let rows = places.map(|(truncation, place)| {
        study.row([PAIRS[truncation].into(), name(place)], arm_of(truncation, place), arm_of(truncation, FIVE))
    });
    let title = "NDCG@5 in percent, mean and 95% interval over functions:";
    let table = study.runs.table(title, ["pairs", "mu"], ["mu = 5", "learning rate"], rows);
    let deviations = deviations(
        execution.scale(),
        &[
            "Nets and random functions instead of trees and WEB30K; the paper shows its values in a figure only.",
            "The learning rate is tuned for every mu; the paper keeps its settings.",
        ],
        nets::QUICK,
    );
    Ok(Report {
        evidence: harness::evidence(&tested(), &study.runs),
        controls: vec![same_as_lambdarank(&TRUNCATIONS)],
        main: format!(
            "points per factor of ten of mu: {} (top 5), {} (all pairs)",
            gap_text(&slopes[0]),
            gap_text(&slopes[1])
        ),
        tables: vec![table, study.trainings()],
        protocol: plan.words(),
        deviations,
        figure: figure::draw(&[panel(&study, 0), panel(&study, 1)])?,
        other_data: true,
        ..Report::default()
    })
}

fn name(place: usize) -> String {
    match place {
        ZERO => "0 (LambdaRank)".into(),
        INFINITE => "NDCG-Loss2 alone".into(),
        place => MUS[place].to_string(),
    }
}

fn panel(study: &Study, truncation: usize) -> Panel {
    // Differences to mu = 5 on the same function, because functions vary by far more than mu changes.
    let line = |places: Vec<(f64, usize)>, name: &str, colour, joined| {
        let gap = |place| study.runs.difference(arm_of(truncation, place), arm_of(truncation, FIVE));
        series(name, colour, joined, places.into_iter().map(|(x, place)| point(x, &gap(place))).collect())
    };
    let mus = MUS.iter().enumerate().map(|(place, mu)| (mu.log10(), place)).collect();
    let mut ticks = vec![(-1.5, "0".to_owned()), (1.5, "∞".to_owned())];
    ticks.extend(MUS.iter().map(|mu| (mu.log10(), mu.to_string())));
    ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
    Panel {
        title: format!("mu of NDCG-Loss2++, {}", PAIRS[truncation]),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_its_arm() {
        let arms = arms().unwrap();
        assert_eq!(arms.len(), 2 * N_PLACES);
        let keys = [arm_of(0, FIVE), arm_of(0, ZERO), arm_of(1, 0), arm_of(1, INFINITE)].map(|arm| &*arms[arm].key);
        assert_eq!(keys, ["ndcg-loss2++@5:mu=5", "ndcg-loss2++@5:mu=0", "ndcg-loss2++:mu=0.1", "ndcg-loss2"]);
    }
}
