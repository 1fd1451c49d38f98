//! Tables 3, 4 and 5 of the LambdaLoss paper on boosted trees: six losses, RankLib's settings and LightGBM's.

mod grow;
mod report;

use super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP, ORDERINGS, TABLE5, gaps_in_table3};
use crate::harness::real::{self, MQ2007, RealSet, WEB};
use crate::harness::{
    Claim, Control, Execution, Experiment, Job, Kind, OneEntryCache, Paper, Report, Scale, Session, Test,
};
use burnrank::data::FoldFiles;
use burnrank::data::synthetic::Web;
use grow::{Found, LARGE, LIGHTGBM, MEASURE, NoTrees, Parts, Plan, RANKLIB, Search, Shape, TUNING_TEACHER};
use serde_json::{Value, json};

pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-trees",
    kind: Kind::Paper,
    paper: Paper::LambdaLoss,
    place: "Tables 3, 4 and 5, and the remark on ten leaves (section 7.1)",
    claim: "On boosted trees with RankLib's settings, NDCG-Loss2 and NDCG-Loss2++ rank better than LambdaMART. With LightGBM's \
            larger, tuned trees NDCG-Loss2++ is best, and NDCG-Loss2 overfits; with ten leaves it is ahead again.",
    time: "half an hour on two cores",
    claims,
    changed: &[
        "Tuning chose trees of ten leaves and fewer, so that Table 5 was asked of small trees only: forests with the large trees \
         that the paper found best for LambdaRank on WEB10K were added, with two claims that the verdict does not count.",
    ],
    protocol,
    run,
    own: None,
};

const K: usize = 5;
/// With truncation as in Eq. 18, and with all pairs.
const TRUNCATIONS: [Option<usize>; 2] = [Some(K), None];
/// What Table 4 compares.
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

/// What a forest is grown for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Setting {
    /// Table 3, by place in [`TRUNCATIONS`].
    RankLib(usize),
    /// Table 4: each loss with the settings that are best for it.
    Tuned,
    /// Table 5: the settings that are best for LambdaRank.
    LambdaRanks,
    /// Table 5 with the large trees that were best for LambdaRank in the paper.
    Large,
    /// Ten leaves, all else as LightGBM has it.
    TenLeaves,
}

impl Setting {
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

/// Every comparison, with its losses.
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

/// The paper's differences on the three sets, in points.
fn table4_gaps(first: usize, second: usize, column: usize) -> String {
    match (LOSSES[first].table4, LOSSES[second].table4) {
        (Some(a), Some(b)) => {
            let gap = |set: usize| format!("{:+.2}", a[set][column] - b[set][column]);
            [gap(0), gap(1), gap(2)].join(", ")
        }
        _ => "not in Table 4".into(),
    }
}

fn claims(_: &Session) -> Vec<Claim> {
    let conventions = "test NDCG@5 in points, gains 2^label - 1; pairs with a document in the top 5 count in full (Eq. 18), for \
                       all losses; LambdaRank is NDCG-Loss2++ with mu = 0";
    let above = |primary: bool, id: String, statement: String, paper: String| {
        let claim = if primary { Claim::primary } else { Claim::secondary };
        claim(id, statement, Test::Above)
            .paper(paper)
            .unit("teacher (a labelling function of web pages)")
            .convention(conventions)
    };
    let name = |loss: usize| LOSSES[loss].name;
    let mut all = vec![];
    for (first, second, primary) in ORDERINGS {
        let statement = format!("RankLib's settings: {} is above {}", name(first), name(second));
        all.push(above(primary, ordering_id("Table 3", first, second), statement, gaps_in_table3(first, second)));
    }
    for loss in [NDCG2, NDCG2PP] {
        let statement = format!("RankLib's settings, all pairs: {} is above LambdaRank", name(loss));
        all.push(
            above(false, ordering_id("Table 3, all pairs", loss, LAMBDARANK), statement, "not told".into()).convention(
                "as the others, with all pairs in every loss: the paper does not say whether ARP losses are truncated",
            ),
        );
        let gaps: Vec<String> = (0..3)
            .map(|set| format!("{:+.2}", LOSSES[loss].table3[set][0] - LOSSES[LAMBDARANK].table3[set][0]))
            .collect();
        let statement = format!("RankLib's settings: {} fits the training queries better than LambdaRank", name(loss));
        all.push(
            above(false, ordering_id("Table 3, training", loss, LAMBDARANK), statement, gaps.join(", "))
                .convention("training NDCG@5 in points, else as the others"),
        );
    }
    for (first, second) in [(NDCG2PP, LAMBDARANK), (NDCG2PP, NDCG2), (LAMBDARANK, NDCG2)] {
        let statement = format!("LightGBM, tuned: {} is above {}", name(first), name(second));
        all.push(above(false, ordering_id("Table 4", first, second), statement, table4_gaps(first, second, 2)));
    }
    let gaps: Vec<String> = (0..3).map(|set| format!("{:+.2}", TABLE5[1][set] - TABLE5[0][set])).collect();
    all.push(
        above(
            false,
            "Table 5: training".into(),
            "LambdaRank's best settings: NDCG-Loss2 fits the training queries better than LambdaRank".into(),
            gaps.join(", "),
        )
        .convention("training NDCG@5 in points, else as the others"),
    );
    all.push(above(
        false,
        "Table 5: test".into(),
        "LambdaRank's best settings: NDCG-Loss2 is below LambdaRank on test queries (it overfits)".into(),
        "overfits; no numbers".into(),
    ));
    let large = format!("LightGBM, {} leaves", LARGE.leaves);
    all.push(
        above(
            false,
            "large: training".into(),
            format!("{large}: NDCG-Loss2 fits the training queries better than LambdaRank"),
            gaps.join(", "),
        )
        .convention("training NDCG@5 in points, else as the others"),
    );
    all.push(above(
        false,
        "large: test".into(),
        format!("{large}: NDCG-Loss2 is below LambdaRank on test queries (it overfits)"),
        "overfits; no numbers".into(),
    ));
    all.push(above(
        false,
        ordering_id("ten leaves", NDCG2, LAMBDARANK),
        "LightGBM, ten leaves: NDCG-Loss2 is above LambdaRank".into(),
        "yes; no numbers".into(),
    ));
    for loss in [NDCG2, NDCG2PP] {
        let statement = format!("real folds, RankLib's settings: {} is above LambdaRank", name(loss));
        all.push(
            above(false, ordering_id("real", loss, LAMBDARANK), statement, gaps_in_table3(loss, LAMBDARANK))
                .unit("fold"),
        );
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

/// What was grown.
struct Study {
    searches: Vec<Search>,
    /// In the order of [`arms`], by teacher.
    teachers: Vec<Vec<Found>>,
    /// The real set, its number of folds, and by loss and fold.
    real: Option<(RealSet, Vec<Vec<Found>>)>,
    control: Control,
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let plan = plan(execution.scale());
    match study(execution, &plan) {
        Ok(study) => report::report(execution, &plan, &study),
        // Stored runs are reported by any build; new ones need trees.
        Err(error) if error.downcast_ref::<NoTrees>().is_some() => report::without_trees(execution, &plan),
        Err(error) => Err(error),
    }
}

fn study(execution: &Execution<'_>, plan: &Plan) -> anyhow::Result<Study> {
    // What would void everything comes first, then Table 3, which needs no search.
    let control = same_trees(execution, plan)?;
    let mut teachers = vec![vec![]; arms().len()];
    grow_arms(execution, plan, &[], &mut teachers)?;
    let jobs: Vec<Job<usize>> = TUNED
        .iter()
        .map(|&loss| Job { key: format!("settings of {}", LOSSES[loss].name), work: 8.0, what: loss })
        .collect();
    let kept = OneEntryCache::default();
    let searches = execution.run_all(&jobs, |job, ticker| {
        let parts = kept.get((), || Parts::of_teacher(execution.session, plan, TUNING_TEACHER))?;
        let objective = LOSSES[job.what].objective(Setting::Tuned.truncation());
        grow::search(execution, plan, &job.key, &objective, &parts, ticker)
    })?;
    grow_arms(execution, plan, &searches, &mut teachers)?;
    Ok(Study { searches, teachers, real: real_folds(execution, plan)?, control })
}

/// Grows the forests of Table 3 where there are no searches yet, else all others.
fn grow_arms(
    execution: &Execution<'_>,
    plan: &Plan,
    searches: &[Search],
    teachers: &mut [Vec<Found>],
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
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let (teacher, arm) = job.what;
        let (setting, loss) = arms[arm];
        let parts = kept.get(teacher, || Parts::of_teacher(execution.session, plan, teacher))?;
        let objective = LOSSES[loss].objective(setting.truncation());
        let config = grow::config(&objective, setting.shape(loss, searches), plan.trees, execution.session)?;
        grow::run(execution, &job.key, &config, &parts, (ticker, (0.0, 1.0)))
    })?;
    jobs.iter().zip(found).for_each(|(job, found)| teachers[job.what.1].push(found));
    Ok(())
}

/// The first real set that is there, all its folds, all losses truncated, with RankLib's settings.
fn real_folds(execution: &Execution<'_>, plan: &Plan) -> anyhow::Result<Option<(RealSet, Vec<Vec<Found>>)>> {
    // Quick runs are about this program, not about data.
    let data = execution.session.data.as_deref().filter(|_| execution.scale() == Scale::Paper);
    let sets = [WEB[0], WEB[1], MQ2007[0], MQ2007[1]];
    let Some((set, folds)) = real::first_of(&sets, data)? else { return Ok(None) };
    let mut jobs = vec![];
    for fold in 0..folds.len() {
        for (loss, of) in LOSSES.iter().enumerate() {
            let key = format!("{} fold {} {}", set.folder, fold + 1, of.name);
            jobs.push(Job { key, work: 1.0, what: (fold, loss) });
        }
    }
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let (fold, loss) = job.what;
        let files: &FoldFiles = &folds[fold];
        let parts = kept.get(fold, || Parts::of_fold(files))?;
        let config = grow::config(&LOSSES[loss].objective(Some(K)), RANKLIB, plan.trees, execution.session)?;
        grow::run(execution, &job.key, &config, &parts, (ticker, (0.0, 1.0)))
    })?;
    let mut by_loss = vec![vec![]; LOSSES.len()];
    jobs.iter().zip(found).for_each(|(job, found)| by_loss[job.what.1].push(found));
    Ok(Some((set, by_loss)))
}

/// Trees of NDCG-Loss2++ with mu = 0 must be those of LambdaRank, for the number of trees where rounding has not added up yet.
fn same_trees(execution: &Execution<'_>, plan: &Plan) -> anyhow::Result<Control> {
    let names = [LOSSES[LAMBDARANK].objective(None), "lambdarank:ndcg".to_owned()];
    let jobs: Vec<Job<String>> =
        names.into_iter().map(|name| Job { key: format!("control {name}"), work: 0.1, what: name }).collect();
    let trees = plan.trees.min(10);
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let parts = kept.get((), || Parts::of_teacher(execution.session, plan, 0))?;
        let config = grow::config(&job.what, RANKLIB, trees, execution.session)?;
        grow::run(execution, &job.key, &config, &parts, (ticker, (0.0, 1.0)))
    })?;
    let gap = 100.0 * (found[0].train - found[1].train).abs();
    Ok(Control {
        description: format!(
            "{trees} trees of NDCG-Loss2++ with mu = 0 and of LambdaRank, all pairs: training {MEASURE}"
        ),
        expected: "equal to 0.05 points".into(),
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
        assert_eq!(table4_gaps(NDCG2PP, LAMBDARANK, 2), "+0.30, +0.25, +0.47");
    }
}
