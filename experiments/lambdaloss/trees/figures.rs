//! LambdaLoss, Figs. 3, 4 and 5: mu, the cutoff k and convergence, on boosted trees with RankLib's settings.

use super::super::deviations;
use super::super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP, gaps_in_table3};
use super::super::weights::same_as_lambdarank;
use super::forest::{self, Forest, METRIC, RANKLIB, Sizes, config};
use super::{Arm, grow_with, reported};
use crate::harness::comparison::{Comparison, Measured, Row, gap_text, mean_text, point, series, slope};
use crate::harness::figure::{self, Legend, Panel};
use crate::harness::finding::{Finding, no_share};
use crate::harness::units::{less, mean};
use crate::harness::{
    self, Claim, Evidence, Execution, Experiment, Headline, Paper, Report, Scale, Session, Test, Tested,
};
use burnrank::internal::text::{Table, fixed};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::Range;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-figures",
    paper: Paper::LambdaLoss,
    place: "Figures 3, 4 and 5 and section 7.2",
    claim: "On boosted trees, NDCG-Loss2++ is not very sensitive to mu between 0.1 and 10, and better for larger mu; NDCG-Loss2 \
            and NDCG-Loss2++ outperform LambdaMART by NDCG@k at k = 1, 3, 5 and 10; all three losses converge.",
    short: "On boosted trees, mu matters little, gains hold at every k, and training converges.",
    headlines: &[
        Headline::new(
            "Figure 3: NDCG-Loss2++ is stable for mu from 0.1 to 10, and better when mu is larger",
            &["alike *", "rises"],
        ),
        Headline::new("Figure 4: NDCG-Loss2 and NDCG-Loss2++ are above LambdaRank at k = 1, 3, 5 and 10", &["@*"]),
        Headline::new(
            "Figure 5: held-out NDCG@5 of all three losses rises and converges with the number of trees",
            &["converges: *"],
        ),
    ],
    number: ("rises", "points of NDCG@5 per factor of 10 of mu"),
    time: "about 20 minutes on two cores",
    claims,
    protocol,
    run,
    ..Experiment::BASE
};

/// Range of Fig. 3 in logarithmic steps, and 5, which the paper uses elsewhere.
const MUS: [f64; 6] = [0.1, 0.3, 1.0, 3.0, 5.0, 10.0];
const LAST: usize = MUS.len() - 1;
const KS: [usize; 4] = [1, 3, 5, 10];
/// The cutoff of Figs. 3 and 5.
const K: usize = 5;
const COMPARED: [usize; 3] = [LAMBDARANK, NDCG2, NDCG2PP];
/// Margin for equal values in points: half of the largest gain of NDCG-Loss2 over LambdaRank in Table 3.
const MARGIN: f64 = 0.5;
/// Number of trees in Fig. 5. Early stopping leaves no forest with fewer.
const CURVE: usize = 100;
/// Number of points of a curve.
const POINTS: usize = 20;

/// The teachers, none of which the tables have: the two experiments are independent.
fn teachers(scale: Scale) -> Range<u64> {
    scale.pick(10..20, 10..12)
}

/// The arm of a value of mu at k = 5.
fn of_mu(mu: usize) -> usize {
    KS.len() * COMPARED.len() + mu
}

/// The arm of a loss at a cutoff.
fn of_k(cut: usize, loss: usize) -> usize {
    cut * COMPARED.len() + loss
}

/// Position of mu = 5, which is an arm of k = 5 too, and is grown once.
const FIVE: usize = 4;
const CUT5: usize = 2;

fn mu_arm(mu: usize) -> usize {
    match mu {
        FIVE => of_k(CUT5, 2),
        mu if mu > FIVE => of_mu(mu - 1),
        mu => of_mu(mu),
    }
}

fn arms() -> Vec<Arm> {
    let arm = |objective: String, k: usize| Arm {
        key: objective.clone(),
        objective,
        shape: RANKLIB,
        metric: format!("ndcg@{k}"),
    };
    let of_k = KS.into_iter().flat_map(|k| COMPARED.map(|loss| arm(LOSSES[loss].objective(Some(k)), k)));
    let others = MUS.into_iter().filter(|&mu| mu != MUS[FIVE]);
    of_k.chain(others.map(|mu| arm(format!("ndcg-loss2++@{K}:mu={mu}"), K))).collect()
}

const UNIT: &str = "teacher (a labelling function of web pages)";
const HOW: &str =
    "RankLib's settings; test queries; losses truncated at k by Eq. 18, and NDCG@k selects the number of trees";

fn above(id: &str, statement: &str) -> Claim {
    Claim::new(id, statement, Test::Above).unit(UNIT).convention(HOW)
}

/// All claims, with their evidence.
fn tested() -> Vec<Tested<Comparison<Grown>>> {
    let larger = "better when mu is larger";
    let rises = above("rises", "NDCG@5 rises with mu: points per factor of ten (least squares, 0.1 to 10)");
    let ends = above("ends", "mu = 10 above mu = 0.1, points of NDCG@5");
    let mut all = vec![
        rises.paper(larger).by(|study| Evidence::rounded(slopes(study), 3)),
        ends.paper(larger).between(mu_arm(LAST), mu_arm(0)),
    ];
    let equal = |id: String, statement: String, how: &str| {
        let how = format!("{how}; the margin is half of the largest gain of NDCG-Loss2 in Table 3");
        Claim::new(id, statement, Test::Equivalent { margin: MARGIN }).unit(UNIT).convention(how)
    };
    for mu in [0, LAST] {
        let statement = format!("mu = {} minus mu = 5, points of NDCG@5", MUS[mu]);
        let claim = equal(format!("alike {}", MUS[mu]), statement, HOW).paper("relatively stable");
        all.push(claim.between(mu_arm(mu), mu_arm(FIVE)));
    }
    for (cut, k) in KS.into_iter().enumerate() {
        for loss in [1, 2] {
            let name = LOSSES[COMPARED[loss]].name;
            let claim =
                above(&format!("@{k}: {name}"), &format!("k = {k}: {name} above LambdaRank, points of NDCG@{k}"));
            let claim = match k {
                K => claim.gaps([gaps_in_table3(COMPARED[loss], LAMBDARANK)[2]], 2),
                _ => claim.paper("above"),
            };
            all.push(claim.between(of_k(cut, loss), of_k(cut, 0)));
        }
    }
    for (loss, place) in COMPARED.into_iter().enumerate() {
        for (queries, (words, id)) in QUERIES.into_iter().enumerate() {
            let (name, how) = (LOSSES[place].name, format!("{HOW}; NDCG@5 of {words} queries"));
            let change = move |study: &Comparison<Grown>, of: usize| {
                Evidence::rounded(Curves::of(study, loss).changes(queries)[of].clone(), 2)
            };
            let statement = format!("{name}: {words} NDCG@5 rises, trees 81 to 100 minus the first tree, points");
            let rises = above(&format!("{id}: {name} rises"), &statement).paper("Figure 5").convention(&*how);
            let statement = format!("{name}: {words} NDCG@5 rests, trees 81 to 100 minus 61 to 80, points");
            let rests = equal(format!("{id}: {name} rests"), statement, &how);
            let rests = rests.paper(["not stated", "convergence"][queries]);
            all.extend([rises.by(move |study| change(study, 0)), rests.by(move |study| change(study, 1))]);
        }
    }
    all
}

/// Queries of the curves, and the start of the claims on them.
const QUERIES: [(&str, &str); 2] = [("training", "training"), ("held-out", "converges")];

fn claims(_: &Session) -> Vec<Claim> {
    harness::claims(tested())
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = Sizes::at(session.scale);
    let all = arms();
    Ok(json!({
        "sizes": sizes,
        "teachers": teachers(session.scale),
        "data": forest::web(session, &sizes, 0),
        "arms": all.iter().map(|arm| [&arm.objective, &arm.metric]).collect::<Vec<_>>(),
        "trees": config(&all[0].objective, RANKLIB, sizes.trees, METRIC, session)?,
        "curve": [CURVE, POINTS],
    }))
}

/// A forest and its training.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Grown {
    #[serde(flatten)]
    forest: Forest,
    /// Number of trees, and the metric on training queries (before the last of these trees) and on held-out queries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    curve: Vec<(usize, f64, f64)>,
}

impl Finding for Grown {
    fn impossible(&self) -> Option<String> {
        let shares = self.curve.iter().flat_map(|&(_, train, valid)| [train, valid]);
        self.forest.impossible().or_else(|| no_share("NDCG of a curve", shares))
    }
}

impl Measured for Grown {
    fn means(&self) -> [f64; 3] {
        self.forest.means()
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let (sizes, arms) = (Sizes::at(execution.scale()), arms());
    let length = sizes.trees.min(CURVE);
    let rounded = |value: f64| (value * 1e6).round() / 1e6;
    let found = grow_with(execution, &sizes, teachers(execution.scale()), &arms, |arm, model, forest| {
        let every = model.history.iter().take(length).filter(|epoch| (epoch.epoch - 1) % (length / POINTS).max(1) == 0);
        let curve = every.map(|epoch| (epoch.epoch, rounded(epoch.train), rounded(epoch.valid)));
        let drawn = (of_k(CUT5, 0)..of_k(CUT5 + 1, 0)).contains(&arm);
        Grown { forest, curve: if drawn { curve.collect() } else { vec![] } }
    });
    reported(found, claims(execution.session), |study| report(execution, &sizes, &study))
}

/// Points per factor of ten of mu, one number per teacher.
fn slopes(study: &Comparison<Grown>) -> Vec<f64> {
    let x = MUS.map(f64::log10);
    let by_mu: Vec<Vec<f64>> = (0..MUS.len()).map(|mu| study.test(mu_arm(mu))).collect();
    (0..by_mu[0].len()).map(|teacher| slope(&x, &by_mu.iter().map(|all| all[teacher]).collect::<Vec<_>>())).collect()
}

/// Curves of a loss, in percent.
struct Curves {
    /// Number of trees at each point.
    trees: Vec<usize>,
    /// Training and held-out NDCG@5 by teacher and point.
    values: [Vec<Vec<f64>>; 2],
}

impl Curves {
    fn of(study: &Comparison<Grown>, loss: usize) -> Curves {
        let runs = &study.runs[of_k(CUT5, loss)];
        let points = runs.iter().map(|run| run.curve.len()).min().unwrap_or(0);
        let column = |of: fn(&(usize, f64, f64)) -> f64| {
            runs.iter().map(|run| run.curve[..points].iter().map(|point| 100.0 * of(point)).collect()).collect()
        };
        let trees = runs.first().map_or(vec![], |run| run.curve[..points].iter().map(|point| point.0).collect());
        Curves { trees, values: [column(|point| point.1), column(|point| point.2)] }
    }

    /// Mean over a range of fifths of the points, one number per teacher.
    fn fifth(&self, queries: usize, fifth: usize) -> Vec<f64> {
        let part = |curve: &Vec<f64>| mean(&curve[fifth * curve.len() / 5..(fifth + 1) * curve.len() / 5]);
        self.values[queries].iter().map(part).collect()
    }

    /// The last fifth minus the first point, and minus the fifth before.
    fn changes(&self, queries: usize) -> [Vec<f64>; 2] {
        let (first, last) =
            (self.values[queries].iter().map(|curve| curve[0]).collect::<Vec<_>>(), self.fifth(queries, 4));
        [less(&last, &first), less(&last, &self.fifth(queries, 3))]
    }
}

fn report(execution: &Execution<'_>, sizes: &Sizes, study: &Comparison<Grown>) -> anyhow::Result<Report> {
    let (slopes, curves) = (slopes(study), [0, 1, 2].map(|loss| Curves::of(study, loss)));
    let mut convergence = Table::titled(
        "Figure 5, k = 5: NDCG@5 in percent, mean and 95% interval over teachers:",
        &["loss", "queries", "first tree", "trees 81 to 100", "minus trees 61 to 80"],
    );
    for (loss, curves) in COMPARED.iter().zip(&curves) {
        for (queries, (words, _)) in QUERIES.into_iter().enumerate() {
            let first: Vec<f64> = curves.values[queries].iter().map(|curve| curve[0]).collect();
            convergence.row([
                LOSSES[*loss].name.into(),
                words.into(),
                mean_text(&first),
                mean_text(&curves.fifth(queries, 4)),
                gap_text(&curves.changes(queries)[1]),
            ]);
        }
    }
    let trees =
        |arm: usize| fixed(mean(&study.runs[arm].iter().map(|run| run.forest.trees as f64).collect::<Vec<_>>()), 0);
    let five = mu_arm(FIVE);
    let by_mu =
        |label: String, arm: usize| Row { labels: [label], arm, base: (arm != five).then_some(five), last: trees(arm) };
    let rows = (0..MUS.len()).map(|mu| by_mu(MUS[mu].to_string(), mu_arm(mu)));
    let rows = [by_mu("0 (LambdaRank)".into(), of_k(CUT5, 0))]
        .into_iter()
        .chain(rows)
        .chain([by_mu("NDCG-Loss2 alone".into(), of_k(CUT5, 1))]);
    let title = "NDCG@5 in percent, mean and 95% interval over teachers";
    let mu_table = study.table(format!("Figure 3, k = 5: {title}:"), ["mu"], ["mu = 5", "mean trees"], rows);
    let by_k = (0..KS.len()).flat_map(|cut| (0..COMPARED.len()).map(move |loss| (cut, loss)));
    let rows = by_k.map(|(cut, loss)| Row {
        labels: [KS[cut].to_string(), LOSSES[COMPARED[loss]].name.into()],
        arm: of_k(cut, loss),
        base: (loss > 0).then_some(of_k(cut, 0)),
        last: trees(of_k(cut, loss)),
    });
    let title = "Figure 4: NDCG@k in percent, mean and 95% interval over teachers; losses truncated at the same k:";
    let k_table = study.table(title, ["k", "loss"], ["LambdaRank", "mean trees"], rows);
    let runs: Vec<&Forest> = study.runs.iter().flatten().map(|run| &run.forest).collect();
    let capped = runs.iter().filter(|forest| forest.grown >= sizes.trees).count();
    let gain = |loss: usize, cut: usize| gap_text(&study.difference(of_k(cut, loss), of_k(cut, 0)));
    let gains = |loss| (0..KS.len()).map(|cut| format!("k {}: {}", KS[cut], gain(loss, cut))).collect::<Vec<_>>();
    Ok(Report {
        evidence: harness::evidence(&tested(), study),
        controls: vec![same_as_lambdarank(&KS.map(Some))],
        main: format!(
            "{} points per factor of ten of mu; NDCG-Loss2++ minus LambdaRank, points: {}",
            gap_text(&slopes),
            gains(2).join("; ")
        ),
        tables: vec![mu_table, k_table, convergence],
        notes: vec![
            format!("{capped} of {} forests reached the limit of {} trees.", runs.len(), sizes.trees),
            "The paper does not say which queries Figure 5 shows. On training queries NDCG@5 keeps rising, because each tree fits \
             them further; held-out queries show where a forest has converged."
                .into(),
        ],
        protocol: words(execution.scale(), sizes),
        deviations: deviations(
            execution.scale(),
            &[
                "Semi-artificial data instead of WEB30K, which a user has to provide; the paper shows its values in figures only.",
                "Figure 3 has RankLib's settings only, not LightGBM's.",
            ],
            "Quick: two teachers, few queries and trees.",
        ),
        figure: figure::draw(&[mu_panel(study), k_panel(study), curve_panel(&curves)])?,
        feature: Some("trees"),
        other_data: true,
        ..Report::default()
    })
}

fn words(scale: Scale, sizes: &Sizes) -> Vec<String> {
    let [data, growing] = sizes.words();
    vec![
        format!(
            "{data} {} teachers that no table of trees has: numbers {} to {}.",
            teachers(scale).count(),
            teachers(scale).start + 1,
            teachers(scale).end
        ),
        format!(
            "{growing} RankLib's settings: {} leaves, at least one document per leaf, minimum hessian {}, {} bins, early stopping \
             after {} trees. Losses are truncated at k as in Eq. 18 (full weight for pairs with a document in the top k, maxDCG at \
             k); NDCG@k selects the number of trees; k is {K} in Figures 3 and 5, mu {} in Figures 4 and 5.",
            RANKLIB.leaves, RANKLIB.min_hessian, RANKLIB.bins, RANKLIB.patience, MUS[FIVE]
        ),
        "Number of teachers: in ten other teachers, differences between two losses at k = 5 had standard deviations of 0.2 to 0.4 \
         points, so ten detect 0.2 to 0.4 with a power of 80%. The paper's gains at k = 5 are 0.70 and 0.82, and the rise with \
         mu cannot be larger than the first of them."
            .into(),
        "Test queries are evaluated once. Queries without relevant documents count 0; equal scores are ranked pessimistically."
            .into(),
    ]
}

fn mu_panel(study: &Comparison<Grown>) -> Panel {
    // Differences to mu = 5 of the same teacher, because teachers vary by far more than mu changes.
    let line = |arms: Vec<(f64, usize)>, name: &str, colour, joined| {
        let points = arms.into_iter().map(|(x, arm)| point(x, &study.difference(arm, mu_arm(FIVE))));
        series(name, colour, joined, points.collect())
    };
    let (zero, infinite) = (-1.5, 1.5);
    let mut ticks = vec![(zero, "0".to_owned())];
    ticks.extend(MUS.iter().map(|mu| (mu.log10(), mu.to_string())));
    ticks.push((infinite, "∞".to_owned()));
    Panel {
        title: "Figure 3: mu of NDCG-Loss2++".into(),
        x_label: "mu (0 is LambdaRank, ∞ is NDCG-Loss2)".into(),
        y_label: "test NDCG@5 minus that of mu = 5, points".into(),
        ticks,
        series: vec![
            line((0..MUS.len()).map(|mu| (MUS[mu].log10(), mu_arm(mu))).collect(), "NDCG-Loss2++", 0, true),
            line(vec![(zero, of_k(CUT5, 0))], "LambdaRank", 1, false),
            line(vec![(infinite, of_k(CUT5, 1))], "NDCG-Loss2", 2, false),
        ],
        zero: Some(0.0),
        legend: Legend::LowerRight,
        ..Panel::default()
    }
}

fn k_panel(study: &Comparison<Grown>) -> Panel {
    let line = |loss: usize| {
        let at = |cut: usize| point(cut as f64, &study.difference(of_k(cut, loss), of_k(cut, 0)));
        series(LOSSES[COMPARED[loss]].name, loss, true, (0..KS.len()).map(at).collect())
    };
    Panel {
        title: "Figure 4: NDCG@k".into(),
        x_label: "k".into(),
        y_label: "test NDCG@k minus LambdaRank's, points".into(),
        ticks: KS.iter().enumerate().map(|(cut, k)| (cut as f64, k.to_string())).collect(),
        series: [1, 2].map(line).into(),
        zero: Some(0.0),
        ..Panel::default()
    }
}

fn curve_panel(all: &[Curves; 3]) -> Panel {
    let line = |(loss, curves): (usize, &Curves)| {
        let at = |(place, &trees): (usize, &usize)| {
            let values: Vec<f64> = curves.values[1].iter().map(|curve| curve[place]).collect();
            (trees as f64, mean(&values), None)
        };
        series(LOSSES[COMPARED[loss]].name, loss, true, curves.trees.iter().enumerate().map(at).collect())
    };
    let ends = all[0].trees.last().copied().unwrap_or(1);
    Panel {
        title: "Figure 5: convergence".into(),
        x_label: "trees".into(),
        y_label: "held-out NDCG@5, percent".into(),
        ticks: (0..=4).map(|quarter| quarter * ends / 4).map(|trees| (trees as f64, trees.to_string())).collect(),
        series: all.iter().enumerate().map(line).collect(),
        ..Panel::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_its_arms() {
        let arms = arms();
        assert_eq!(arms.len(), KS.len() * COMPARED.len() + MUS.len() - 1);
        for (mu, value) in MUS.into_iter().enumerate() {
            assert_eq!(arms[mu_arm(mu)].objective, format!("ndcg-loss2++@5:mu={value}"));
        }
        let ten = &arms[of_k(3, 0)];
        assert_eq!((&*ten.key, &*ten.metric), ("ndcg-loss2++@10:mu=0", "ndcg@10"));
        assert!((1..arms.len()).all(|arm| arms[..arm].iter().all(|other| other.key != arms[arm].key)));
    }

    #[test]
    fn changes_compare_the_last_fifth() {
        let curve: Vec<f64> = (1..=20).map(f64::from).collect();
        let curves = Curves { trees: (1..=20).collect(), values: [vec![curve.clone()], vec![curve]] };
        assert_eq!(curves.changes(1), [vec![18.5 - 1.0], vec![4.0]]);
    }
}
