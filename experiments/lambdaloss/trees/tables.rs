//! LambdaLoss, Tables 3, 4 and 5 with boosted trees: six losses, with RankLib's and LightGBM's settings.

use super::super::losses::{
    LAMBDARANK, LOSSES, NDCG2, NDCG2PP, ORDERINGS, gaps_in_table3, gaps_in_table4, gaps_in_table5,
};
use super::forest::{self, Forest, LARGE, LIGHTGBM, METRIC, Parts, RANKLIB, Shape, Sizes, config};
use super::search::{Grids, Search, search};
use super::{reported, tables_report as report};
use crate::harness::comparison::{Column, Comparison, run_grid};
use crate::harness::real::{self, MQ2007, RealSet};
use crate::harness::{
    self, Claim, Control, Execution, Experiment, Headline, Job, OneEntryCache, Paper, Report, Scale, Session, Test,
    Tested,
};
use burnrank::data::synthetic::Web;
use serde::Serialize;
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-trees",
    paper: Paper::LambdaLoss,
    place: "Tables 3, 4 and 5, and the remark on ten leaves (section 7.1)",
    claim: "On boosted trees with RankLib's settings, NDCG-Loss2 and NDCG-Loss2++ rank better than LambdaMART. With LightGBM's \
            larger, tuned trees NDCG-Loss2++ is best, and NDCG-Loss2 overfits; with ten leaves it is ahead again.",
    short: "On boosted trees, NDCG-Loss2 and NDCG-Loss2++ beat LambdaMART.",
    headlines: &[
        Headline::new("RankLib's settings: NDCG-Loss2 is above LambdaRank", &["Table 3: NDCG-Loss2 over LambdaRank"]),
        Headline::new(
            "RankLib's settings: NDCG-Loss2++ is above LambdaRank",
            &["Table 3: NDCG-Loss2++ over LambdaRank"],
        ),
    ],
    number: ("Table 3: NDCG-Loss2++ over LambdaRank", "NDCG-Loss2++ minus LambdaRank, points of NDCG@5"),
    time: "about 30 minutes on two cores",
    claims,
    changed: &[
        "Tuning chose trees of at most ten leaves, so Table 5 was tested with small trees only. Forests with the large trees that \
         were best for LambdaRank on WEB10K in the paper were added, with two secondary claims. The experiment lambdaloss-table5 \
         tests them again with other teachers.",
        "What truncation costs was a difference between rows of a table, and is now tested by secondary claims.",
    ],
    protocol,
    run,
    ..Experiment::BASE
};

const K: usize = 5;
/// Truncated as in Eq. 18, and not truncated.
const TRUNCATIONS: [Option<usize>; 2] = [Some(K), None];
/// Losses of Table 4.
pub const TUNED: [usize; 3] = [LAMBDARANK, NDCG2, NDCG2PP];

/// Number of the teacher for tuning, which is not used for evaluation.
const TUNING_TEACHER: u64 = 900;

/// Sizes, teachers, and the grids of the search.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Plan {
    #[serde(flatten)]
    pub sizes: Sizes,
    pub teachers: u64,
    /// Number of teachers for the losses of all pairs.
    pub untruncated_teachers: u64,
    #[serde(flatten)]
    pub grids: Grids,
}

fn plan(scale: Scale) -> Plan {
    let grids =
        |leaves, hessians, documents_in_leaf, extensions| Grids { leaves, hessians, documents_in_leaf, extensions };
    let (teachers, untruncated_teachers) = scale.pick((10, 5), (2, 1));
    let grids = scale.pick(
        grids(&[10.0, 30.0, 90.0], &[0.1, 1.0, 10.0], &[5.0, 20.0, 80.0], 2),
        grids(&[5.0, 10.0], &[0.1, 1.0], &[5.0, 20.0], 0),
    );
    Plan { sizes: Sizes::at(scale), teachers, untruncated_teachers, grids }
}

/// Settings of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Setting {
    /// Table 3, with an index in [`TRUNCATIONS`].
    RankLib(usize),
    /// Table 4: each loss with its best settings.
    Tuned,
    /// Table 5: LambdaRank's best settings.
    LambdaRanks,
    /// Table 5 with the large trees of the paper's LambdaRank.
    Large,
    /// Ten leaves with LightGBM's other settings.
    TenLeaves,
}

impl Setting {
    /// Part of the keys of stored runs.
    fn name(self) -> &'static str {
        match self {
            Setting::RankLib(0) => "ranklib",
            Setting::RankLib(_) => "ranklib all pairs",
            Setting::Tuned => "tuned",
            Setting::LambdaRanks => "lambdarank's",
            Setting::Large => "large",
            Setting::TenLeaves => "ten leaves",
        }
    }

    fn truncation(self) -> Option<usize> {
        match self {
            Setting::RankLib(place) => TRUNCATIONS[place],
            _ => Some(K),
        }
    }

    fn shape(self, loss: usize, searches: &[Search]) -> Shape {
        let of = |loss: usize| {
            let search = TUNED.iter().zip(searches).find(|(tuned, _)| **tuned == loss);
            search.map_or(LIGHTGBM, |(_, search)| search.shape())
        };
        match self {
            Setting::RankLib(_) => RANKLIB,
            Setting::Tuned => of(loss),
            Setting::LambdaRanks => of(LAMBDARANK),
            Setting::Large => LARGE,
            Setting::TenLeaves => Shape { leaves: 10, ..LIGHTGBM },
        }
    }
}

/// All pairs of settings and losses.
fn arms() -> Vec<(Setting, usize)> {
    let all = |setting: Setting, losses: &[usize]| losses.iter().map(|&loss| (setting, loss)).collect::<Vec<_>>();
    [
        all(Setting::RankLib(0), &[0, 1, 2, 3, 4, 5]),
        all(Setting::RankLib(1), &[0, 1, 2, 3, 4, 5]),
        all(Setting::Tuned, &TUNED),
        all(Setting::LambdaRanks, &[NDCG2]),
        all(Setting::Large, &[LAMBDARANK, NDCG2]),
        all(Setting::TenLeaves, &TUNED),
    ]
    .concat()
}

/// The arm of a loss with these settings.
pub fn arm_of(setting: Setting, loss: usize) -> usize {
    arms().iter().position(|arm| *arm == (setting, loss)).expect("an arm of this experiment")
}

const HOW: &str = "test NDCG@5 in points, gains 2^label - 1; all losses truncated by Eq. 18 (full weight for pairs with a \
                   document in the top 5); LambdaRank is NDCG-Loss2++ with mu = 0";

fn above(place: &str, first: usize, second: usize, statement: &str) -> Claim {
    let names = [first, second].map(|loss| LOSSES[loss].name);
    let id = format!("{place}: {} over {}", names[0], names[1]);
    let statement = format!("{statement}: {} is above {}", names[0], names[1]);
    Claim::new(id, statement, Test::Above).unit("teacher (a labelling function of web pages)").convention(HOW)
}

/// The claims on differences between two arms.
pub fn tested() -> Vec<Tested<Comparison<Forest>>> {
    let within = |setting, claim: Claim, first, second| claim.between(arm_of(setting, first), arm_of(setting, second));
    let mut all = vec![];
    for (first, second, _) in ORDERINGS {
        let claim = above("Table 3", first, second, "RankLib's settings").gaps(gaps_in_table3(first, second), 2);
        all.push(within(Setting::RankLib(0), claim, first, second));
    }
    let on_training = "training NDCG@5 in points, otherwise as for the other claims";
    for loss in [NDCG2, NDCG2PP] {
        let claim = above("Table 3, all pairs", loss, LAMBDARANK, "RankLib's settings, all pairs").paper("not stated");
        let how =
            "as for the other claims, but with all pairs: the paper does not say whether ARP losses are truncated";
        all.push(within(Setting::RankLib(1), claim.convention(how), loss, LAMBDARANK));
        let gaps = [0, 1, 2].map(|set| LOSSES[loss].table3[set][0] - LOSSES[LAMBDARANK].table3[set][0]);
        let claim = above("Table 3, training", loss, LAMBDARANK, "RankLib's settings, training queries");
        let [loss, base] = [loss, LAMBDARANK].map(|loss| arm_of(Setting::RankLib(0), loss));
        all.push(claim.gaps(gaps, 2).convention(on_training).between_on(Column::Train, loss, base));
    }
    for (first, second) in [(NDCG2PP, LAMBDARANK), (NDCG2PP, NDCG2), (LAMBDARANK, NDCG2)] {
        let claim = above("Table 4", first, second, "LightGBM, tuned").gaps(gaps_in_table4(first, second), 2);
        all.push(within(Setting::Tuned, claim, first, second));
    }
    let large = format!("LightGBM, {} leaves", LARGE.leaves);
    for (id, settings, [base, two]) in [
        ("Table 5", "LambdaRank's best settings", [(Setting::Tuned, LAMBDARANK), (Setting::LambdaRanks, NDCG2)]),
        ("large", &*large, [(Setting::Large, LAMBDARANK), (Setting::Large, NDCG2)]),
    ] {
        let [base, two] = [base, two].map(|(setting, loss)| arm_of(setting, loss));
        let statement = format!("{settings}: NDCG-Loss2 fits the training queries better than LambdaRank");
        let claim = Claim { id: format!("{id}: training"), statement, ..above("", NDCG2, LAMBDARANK, "") };
        let claim = claim.gaps(gaps_in_table5(), 2).convention(on_training);
        all.push(claim.between_on(Column::Train, two, base));
        let statement = format!("{settings}: NDCG-Loss2 is below LambdaRank on test queries (it overfits)");
        let claim = Claim { id: format!("{id}: test"), statement, ..above("", LAMBDARANK, NDCG2, "") };
        all.push(claim.paper("overfits (no numbers)").between(base, two));
    }
    for loss in TUNED {
        let name = LOSSES[loss].name;
        let statement = format!("RankLib's settings: {name} of all pairs is above {name} of top-5 pairs");
        let claim = Claim { id: format!("truncation: {name}"), statement, ..above("", loss, loss, "") };
        let claim = claim.paper("not stated").convention("test NDCG@5 in points; the teachers of all pairs");
        all.push(claim.between(arm_of(Setting::RankLib(1), loss), arm_of(Setting::RankLib(0), loss)));
    }
    let claim = above("ten leaves", NDCG2, LAMBDARANK, "LightGBM, ten leaves").paper("yes (no numbers)");
    all.push(within(Setting::TenLeaves, claim, NDCG2, LAMBDARANK));
    all
}

/// The claims on real folds.
pub fn on_folds() -> Vec<Tested<Comparison<Forest>>> {
    let one = |loss: usize| {
        let claim = above("real", loss, LAMBDARANK, "real folds, RankLib's settings");
        claim.gaps(gaps_in_table3(loss, LAMBDARANK), 2).unit("fold").between(loss, LAMBDARANK)
    };
    [NDCG2, NDCG2PP].map(one).into()
}

fn claims(_: &Session) -> Vec<Claim> {
    harness::claims(tested().into_iter().chain(on_folds()).collect())
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let plan = plan(session.scale);
    let objectives: Vec<String> =
        TRUNCATIONS.iter().flat_map(|&k| LOSSES.iter().map(move |loss| loss.objective(k))).collect();
    let config = |shape| config(&objectives[0], shape, plan.sizes.trees, METRIC, session);
    Ok(json!({
        "plan": plan,
        "data": Web { teacher: 0, seed: 0, ..forest::web(session, &plan.sizes, 0) },
        "objectives": objectives,
        "ranklib": config(RANKLIB)?,
        "lightgbm": config(LIGHTGBM)?,
        "large": config(LARGE)?,
    }))
}

/// All results.
pub struct Study {
    pub searches: Vec<Search>,
    /// Results in the order of [`arms`], by teacher.
    pub teachers: Comparison<Forest>,
    /// The real set, and its results by loss and fold.
    pub real: Option<(RealSet, Comparison<Forest>)>,
    pub control: Control,
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let plan = plan(execution.scale());
    reported(study(execution, &plan), claims(execution.session), |study| report::report(execution, &plan, &study))
}

fn study(execution: &Execution<'_>, plan: &Plan) -> anyhow::Result<Study> {
    // First the control, which can invalidate all other runs, then Table 3, which needs no search.
    let control = same_trees(execution, plan)?;
    let ranklib = grow_arms(execution, plan, &[])?;
    let jobs: Vec<Job<usize>> = TUNED
        .iter()
        .map(|&loss| Job { key: format!("settings of {}", LOSSES[loss].name), work: 8.0, what: loss })
        .collect();
    let cache = OneEntryCache::default();
    let searches = execution.run_all(&jobs, |job, ticker| {
        let parts = cache.get((), || Parts::of_teacher(execution.session, &plan.sizes, TUNING_TEACHER))?;
        let objective = LOSSES[job.what].objective(Setting::Tuned.truncation());
        search(execution, (&plan.grids, plan.sizes.trees), &job.key, &objective, &parts, ticker)
    })?;
    let others = grow_arms(execution, plan, &searches)?;
    let runs = ranklib.runs.into_iter().zip(others.runs).map(|(first, second)| [first, second].concat()).collect();
    Ok(Study { searches, teachers: Comparison { runs }, real: real_folds(execution, plan)?, control })
}

/// Grows the forests of Table 3 if `searches` is empty, otherwise all others.
fn grow_arms(execution: &Execution<'_>, plan: &Plan, searches: &[Search]) -> anyhow::Result<Comparison<Forest>> {
    let arms = arms();
    let name = |teacher: u64, arm: usize| {
        let (setting, loss) = arms[arm];
        let skipped = setting == Setting::RankLib(1) && teacher >= plan.untruncated_teachers;
        let now = matches!(setting, Setting::RankLib(_)) == searches.is_empty() && !skipped;
        now.then(|| (format!("teacher {} {} {}", teacher + 1, setting.name(), LOSSES[loss].name), 1.0))
    };
    let load = |teacher| Parts::of_teacher(execution.session, &plan.sizes, teacher);
    run_grid(execution, 0..plan.teachers, arms.len(), name, load, |parts, job, ticker| {
        let (setting, loss) = arms[job.what.1];
        let objective = LOSSES[loss].objective(setting.truncation());
        let shape = setting.shape(loss, searches);
        let config = config(&objective, shape, plan.sizes.trees, METRIC, execution.session)?;
        forest::run(execution, &job.key, &config, parts, (ticker, (0.0, 1.0)))
    })
}

/// All folds of MQ2007, all losses truncated, with RankLib's settings.
fn real_folds(execution: &Execution<'_>, plan: &Plan) -> anyhow::Result<Option<(RealSet, Comparison<Forest>)>> {
    // Quick runs only check the program.
    let data = execution.session.data.as_deref().filter(|_| execution.scale() == Scale::Paper);
    let Some((set, folds)) = real::first_of(&MQ2007, data)? else { return Ok(None) };
    let name = |fold, loss: usize| Some((format!("{} fold {} {}", set.folder, fold + 1, LOSSES[loss].name), 1.0));
    let load = |fold: usize| Parts::of_fold(&folds[fold]);
    let by_loss = run_grid(execution, 0..folds.len(), LOSSES.len(), name, load, |parts, job, ticker| {
        let objective = LOSSES[job.what.1].objective(Some(K));
        let config = config(&objective, RANKLIB, plan.sizes.trees, METRIC, execution.session)?;
        forest::run(execution, &job.key, &config, parts, (ticker, (0.0, 1.0)))
    })?;
    Ok(Some((set, by_loss)))
}

/// Control: trees of NDCG-Loss2++ with mu = 0 are those of LambdaRank, for few trees so that rounding errors stay small.
fn same_trees(execution: &Execution<'_>, plan: &Plan) -> anyhow::Result<Control> {
    let names = [LOSSES[LAMBDARANK].objective(None), "lambdarank:ndcg".to_owned()];
    let jobs: Vec<Job<String>> =
        names.into_iter().map(|name| Job { key: format!("control {name}"), work: 0.1, what: name }).collect();
    let trees = plan.sizes.trees.min(10);
    let cache = OneEntryCache::default();
    let forests = execution.run_all(&jobs, |job, ticker| {
        let parts = cache.get((), || Parts::of_teacher(execution.session, &plan.sizes, 0))?;
        let config = config(&job.what, RANKLIB, trees, METRIC, execution.session)?;
        forest::run(execution, &job.key, &config, &parts, (ticker, (0.0, 1.0)))
    })?;
    let gap = 100.0 * (forests[0].train - forests[1].train).abs();
    Ok(Control {
        description: format!(
            "{trees} trees of NDCG-Loss2++ with mu = 0 and of LambdaRank, all pairs: training {METRIC}"
        ),
        expected: "equal within 0.05 points".into(),
        ours: format!("differ by {gap:.4} points"),
        holds: gap < 0.05,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_names_a_loss_that_is_grown() {
        assert_eq!(arms().len(), 6 + 6 + 3 + 1 + 2 + 3);
        assert_eq!(arms()[arm_of(Setting::Tuned, NDCG2)], (Setting::Tuned, NDCG2));
        assert_eq!(tested().len(), ORDERINGS.len() + 4 + 3 + 4 + 3 + 1);
        assert_eq!(LOSSES[LAMBDARANK].objective(Setting::Tuned.truncation()), "ndcg-loss2++@5:mu=0");
        assert_eq!(LOSSES[NDCG2].objective(Setting::RankLib(1).truncation()), "ndcg-loss2");
    }
}
