//! LambdaLoss, Tables 3, 4 and 5 with boosted trees: six losses, with RankLib's and LightGBM's settings.

mod grow;
mod report;

use super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP, ORDERINGS, gaps_in_table3, gaps_in_table4, gaps_in_table5};
use super::run_grid;
use crate::harness::real::{self, MQ2007, RealSet, WEB};
use crate::harness::{
    Claim, Control, Execution, Experiment, Headline, Job, OneEntryCache, Paper, Report, Scale, Session, Test,
};
use burnrank::data::synthetic::Web;
use grow::{Forest, LARGE, LIGHTGBM, METRIC, NoTrees, Parts, Plan, RANKLIB, Search, Shape, TUNING_TEACHER};
use serde_json::{Value, json};

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
    time: "half an hour on two cores",
    claims,
    changed: &[
        "Tuning chose trees of at most ten leaves, so Table 5 was tested with small trees only. Forests with the large trees that \
         were best for LambdaRank on WEB10K in the paper were added, with two secondary claims.",
    ],
    protocol,
    run,
    ..Experiment::BASE
};

const K: usize = 5;
/// Truncated as in Eq. 18, and not truncated.
const TRUNCATIONS: [Option<usize>; 2] = [Some(K), None];
/// Losses of Table 4.
const TUNED: [usize; 3] = [LAMBDARANK, NDCG2, NDCG2PP];

fn plan(scale: Scale) -> Plan {
    match scale {
        Scale::Paper => Plan {
            queries: [1500, 500, 2000],
            documents: 120,
            teachers: 10,
            untruncated_teachers: 5,
            trees: 1000,
            leaves: &[10.0, 30.0, 90.0],
            hessians: &[0.1, 1.0, 10.0],
            documents_in_leaf: &[5.0, 20.0, 80.0],
            extensions: 2,
        },
        Scale::Quick => Plan {
            queries: [20, 10, 20],
            documents: 20,
            teachers: 2,
            untruncated_teachers: 1,
            trees: 8,
            leaves: &[5.0, 10.0],
            hessians: &[0.1, 1.0],
            documents_in_leaf: &[5.0, 20.0],
            extensions: 0,
        },
    }
}

/// Settings of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Setting {
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

fn ordering_id(place: &str, first: usize, second: usize) -> String {
    format!("{place}: {} over {}", LOSSES[first].name, LOSSES[second].name)
}

fn claims(_: &Session) -> Vec<Claim> {
    let conventions = "test NDCG@5 in points, gains 2^label - 1; all losses truncated by Eq. 18 (full weight for pairs with a \
                       document in the top 5); LambdaRank is NDCG-Loss2++ with mu = 0";
    let above = |id: String, statement: String| {
        Claim::new(id, statement, Test::Above)
            .unit("teacher (a labelling function of web pages)")
            .convention(conventions)
    };
    let training = |id: String, statement: String| {
        above(id, statement).convention("training NDCG@5 in points, otherwise as for the other claims")
    };
    let name = |loss: usize| LOSSES[loss].name;
    let mut all = vec![];
    for (first, second, _) in ORDERINGS {
        let statement = format!("RankLib's settings: {} is above {}", name(first), name(second));
        all.push(above(ordering_id("Table 3", first, second), statement).gaps(gaps_in_table3(first, second), 2));
    }
    for loss in [NDCG2, NDCG2PP] {
        let statement = format!("RankLib's settings, all pairs: {} is above LambdaRank", name(loss));
        all.push(above(ordering_id("Table 3, all pairs", loss, LAMBDARANK), statement).paper("not stated").convention(
            "as for the other claims, but with all pairs: the paper does not say whether ARP losses are truncated",
        ));
        let statement = format!("RankLib's settings: {} fits the training queries better than LambdaRank", name(loss));
        let gaps = [0, 1, 2].map(|set| LOSSES[loss].table3[set][0] - LOSSES[LAMBDARANK].table3[set][0]);
        all.push(training(ordering_id("Table 3, training", loss, LAMBDARANK), statement).gaps(gaps, 2));
    }
    for (first, second) in [(NDCG2PP, LAMBDARANK), (NDCG2PP, NDCG2), (LAMBDARANK, NDCG2)] {
        let statement = format!("LightGBM, tuned: {} is above {}", name(first), name(second));
        all.push(above(ordering_id("Table 4", first, second), statement).gaps(gaps_in_table4(first, second), 2));
    }
    for (id, settings) in
        [("Table 5", "LambdaRank's best settings".into()), ("large", format!("LightGBM, {} leaves", LARGE.leaves))]
    {
        let statement = format!("{settings}: NDCG-Loss2 fits the training queries better than LambdaRank");
        all.push(training(format!("{id}: training"), statement).gaps(gaps_in_table5(), 2));
        let statement = format!("{settings}: NDCG-Loss2 is below LambdaRank on test queries (it overfits)");
        all.push(above(format!("{id}: test"), statement).paper("overfits (no numbers)"));
    }
    let statement = "LightGBM, ten leaves: NDCG-Loss2 is above LambdaRank".into();
    all.push(above(ordering_id("ten leaves", NDCG2, LAMBDARANK), statement).paper("yes (no numbers)"));
    for loss in [NDCG2, NDCG2PP] {
        let statement = format!("real folds, RankLib's settings: {} is above LambdaRank", name(loss));
        let claim = above(ordering_id("real", loss, LAMBDARANK), statement).gaps(gaps_in_table3(loss, LAMBDARANK), 2);
        all.push(claim.unit("fold"));
    }
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let plan = plan(session.scale);
    let objectives: Vec<String> =
        TRUNCATIONS.iter().flat_map(|&k| LOSSES.iter().map(move |loss| loss.objective(k))).collect();
    Ok(json!({
        "plan": plan,
        "data": Web { teacher: 0, seed: 0, ..grow::web(session, &plan, 0) },
        "objectives": objectives,
        "ranklib": grow::config(&objectives[0], RANKLIB, plan.trees, session)?,
        "lightgbm": grow::config(&objectives[0], LIGHTGBM, plan.trees, session)?,
        "large": grow::config(&objectives[0], LARGE, plan.trees, session)?,
    }))
}

/// All results.
struct Study {
    searches: Vec<Search>,
    /// Results in the order of [`arms`], by teacher.
    teachers: Vec<Vec<Forest>>,
    /// The real set, and its results by loss and fold.
    real: Option<(RealSet, Vec<Vec<Forest>>)>,
    control: Control,
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let plan = plan(execution.scale());
    match study(execution, &plan) {
        Ok(study) => report::report(execution, &plan, &study),
        // Any build can report stored runs; new ones need trees.
        Err(error) if error.downcast_ref::<NoTrees>().is_some() => report::without_trees(execution, &plan),
        Err(error) => Err(error),
    }
}

fn study(execution: &Execution<'_>, plan: &Plan) -> anyhow::Result<Study> {
    // First the control, which can invalidate all other runs, then Table 3, which needs no search.
    let control = same_trees(execution, plan)?;
    let mut teachers = vec![vec![]; arms().len()];
    grow_arms(execution, plan, &[], &mut teachers)?;
    let jobs: Vec<Job<usize>> = TUNED
        .iter()
        .map(|&loss| Job { key: format!("settings of {}", LOSSES[loss].name), work: 8.0, what: loss })
        .collect();
    let cache = OneEntryCache::default();
    let searches = execution.run_all(&jobs, |job, ticker| {
        let parts = cache.get((), || Parts::of_teacher(execution.session, plan, TUNING_TEACHER))?;
        let objective = LOSSES[job.what].objective(Setting::Tuned.truncation());
        grow::search(execution, plan, &job.key, &objective, &parts, ticker)
    })?;
    grow_arms(execution, plan, &searches, &mut teachers)?;
    Ok(Study { searches, teachers, real: real_folds(execution, plan)?, control })
}

/// Grows the forests of Table 3 if `searches` is empty, otherwise all others.
fn grow_arms(
    execution: &Execution<'_>,
    plan: &Plan,
    searches: &[Search],
    teachers: &mut [Vec<Forest>],
) -> anyhow::Result<()> {
    let (arms, mut jobs) = (arms(), vec![]);
    for teacher in 0..plan.teachers {
        for (arm, &(setting, loss)) in arms.iter().enumerate() {
            let ranklib = matches!(setting, Setting::RankLib(_));
            let skipped = setting == Setting::RankLib(1) && teacher >= plan.untruncated_teachers;
            if skipped || ranklib != searches.is_empty() {
                continue;
            }
            let key = format!("teacher {} {} {}", teacher + 1, setting.name(), LOSSES[loss].name);
            jobs.push(Job { key, work: 1.0, what: (teacher, arm) });
        }
    }
    let cache = OneEntryCache::default();
    let forests = execution.run_all(&jobs, |job, ticker| {
        let (teacher, arm) = job.what;
        let (setting, loss) = arms[arm];
        let parts = cache.get(teacher, || Parts::of_teacher(execution.session, plan, teacher))?;
        let objective = LOSSES[loss].objective(setting.truncation());
        let config = grow::config(&objective, setting.shape(loss, searches), plan.trees, execution.session)?;
        grow::run(execution, &job.key, &config, &parts, (ticker, (0.0, 1.0)))
    })?;
    jobs.iter().zip(forests).for_each(|(job, forest)| teachers[job.what.1].push(forest));
    Ok(())
}

/// All folds of the first available real set, all losses truncated, with RankLib's settings.
fn real_folds(execution: &Execution<'_>, plan: &Plan) -> anyhow::Result<Option<(RealSet, Vec<Vec<Forest>>)>> {
    // Quick runs only check the program.
    let data = execution.session.data.as_deref().filter(|_| execution.scale() == Scale::Paper);
    let sets = [WEB[0], WEB[1], MQ2007[0], MQ2007[1]];
    let Some((set, folds)) = real::first_of(&sets, data)? else { return Ok(None) };
    let name = |fold, loss: usize| (format!("{} fold {} {}", set.folder, fold + 1, LOSSES[loss].name), 1.0);
    let load = |fold: usize| Parts::of_fold(&folds[fold]);
    let by_loss = run_grid(execution, 0..folds.len(), LOSSES.len(), name, load, |parts, job, ticker| {
        let objective = LOSSES[job.what.1].objective(Some(K));
        let config = grow::config(&objective, RANKLIB, plan.trees, execution.session)?;
        grow::run(execution, &job.key, &config, parts, (ticker, (0.0, 1.0)))
    })?;
    Ok(Some((set, by_loss)))
}

/// Control: trees of NDCG-Loss2++ with mu = 0 are those of LambdaRank, for few trees so that rounding errors stay small.
fn same_trees(execution: &Execution<'_>, plan: &Plan) -> anyhow::Result<Control> {
    let names = [LOSSES[LAMBDARANK].objective(None), "lambdarank:ndcg".to_owned()];
    let jobs: Vec<Job<String>> =
        names.into_iter().map(|name| Job { key: format!("control {name}"), work: 0.1, what: name }).collect();
    let trees = plan.trees.min(10);
    let cache = OneEntryCache::default();
    let forests = execution.run_all(&jobs, |job, ticker| {
        let parts = cache.get((), || Parts::of_teacher(execution.session, plan, 0))?;
        let config = grow::config(&job.what, RANKLIB, trees, execution.session)?;
        grow::run(execution, &job.key, &config, &parts, (ticker, (0.0, 1.0)))
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
        let arms = arms();
        assert_eq!(arms.len(), 6 + 6 + 3 + 1 + 2 + 3);
        for (first, second, _) in ORDERINGS {
            assert!(arms.contains(&(Setting::RankLib(0), first)) && arms.contains(&(Setting::RankLib(0), second)));
        }
        assert_eq!(LOSSES[LAMBDARANK].objective(Setting::Tuned.truncation()), "ndcg-loss2++@5:mu=0");
        assert_eq!(LOSSES[NDCG2].objective(Setting::RankLib(1).truncation()), "ndcg-loss2");
    }
}
