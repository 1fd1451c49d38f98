//! Report on trees: evidence, tables and figure.

use super::super::deviations;
use super::super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP, SETS};
use super::super::nets::{marked, paper_gains};
use super::forest::{Forest, LARGE, LIGHTGBM, RANKLIB};
use super::mean_trees;
use super::search::{Grids, whole_documents, whole_leaves};
use super::tables::{Plan, Setting, Study, TUNED, arm_of, on_folds, tested};
use crate::harness::comparison::{Comparison, Row, gap_text, point, series};
use crate::harness::figure::{self, Panel};
use crate::harness::real;
use crate::harness::tuning::Tuned;
use crate::harness::{self, Claim, Evidence, Execution, Report, Scale};
use burnrank::internal::text::{Table, fixed};

impl Study {
    /// First minus second on test queries, one number per teacher.
    fn within(&self, setting: Setting, first: usize, second: usize) -> Vec<f64> {
        self.teachers.difference(arm_of(setting, first), arm_of(setting, second))
    }

    fn evidence(&self) -> Vec<(String, Evidence)> {
        let mut all = harness::evidence(&tested(), &self.teachers);
        let missing = |claim: Claim| (claim.id, Evidence::missing("needs MQ2007 (--data), at full scale"));
        all.extend(match &self.real {
            Some((_, folds)) => harness::evidence(&on_folds(), folds),
            None => harness::claims(on_folds()).into_iter().map(missing).collect(),
        });
        all
    }
}

pub fn report(execution: &Execution<'_>, plan: &Plan, study: &Study) -> anyhow::Result<Report> {
    let main = [NDCG2, NDCG2PP].map(|loss| gap_text(&study.within(Setting::RankLib(0), loss, LAMBDARANK)));
    let mut tables = paper_tables();
    tables.extend([ranklib_table(study), tuned_table(study), settings_table(study)]);
    let mut panels = vec![
        panel(
            "RankLib's settings",
            &[1, 2, 3, 4, 5],
            |loss, set| Some(LOSSES[loss].gain_in_table3()[set]),
            |loss| {
                let gaps = |place| study.within(Setting::RankLib(place), loss, LAMBDARANK);
                vec![("top 5", gaps(0)), ("all pairs", gaps(1))]
            },
        ),
        panel("LightGBM", &[NDCG2, NDCG2PP], table4_gain, |loss| {
            let gaps = |setting| study.within(setting, loss, LAMBDARANK);
            vec![("tuned", gaps(Setting::Tuned)), ("ten leaves", gaps(Setting::TenLeaves))]
        }),
    ];
    if let Some((set, folds)) = &study.real {
        tables.push(real_table(set.name, folds));
        panels.push(panel(
            set.name,
            &[1, 2, 3, 4, 5],
            |loss, set| Some(LOSSES[loss].gain_in_table3()[set]),
            |loss| vec![("top 5", folds.difference(loss, LAMBDARANK))],
        ));
    }
    let runs: Vec<&Forest> =
        study.teachers.runs.iter().chain(study.real.iter().flat_map(|(_, folds)| &folds.runs)).flatten().collect();
    let late = runs.iter().filter(|forest| 10 * forest.trees > 9 * plan.sizes.trees).count();
    let capped = runs.iter().filter(|forest| forest.grown >= plan.sizes.trees).count();
    Ok(Report {
        evidence: study.evidence(),
        controls: vec![study.control.clone()],
        main: format!("RankLib's settings, minus LambdaRank, points: NDCG-Loss2 {}, NDCG-Loss2++ {}", main[0], main[1]),
        tables,
        notes: vec![
            tuned_leaves(study),
            format!(
                "{capped} of {} forests reached the limit of {} trees; {late} have their best number of trees in the \
                 last tenth.",
                runs.len(),
                plan.sizes.trees
            ),
            "The paper calls LambdaRank with trees LambdaMART; it differs from the other losses only by its pair weight rho. \
             Training NDCG@5 is included because the paper says that NDCG-Loss2 fits better and overfits with large trees."
                .into(),
        ],
        protocol: words(plan),
        deviations: tree_deviations(execution.scale(), plan),
        figure: figure::draw(&panels)?,
        bring: Some(real::WHERE.into()),
        feature: Some("trees"),
        other_data: true,
    })
}

/// Tuned numbers of leaves, compared with the paper's.
fn tuned_leaves(study: &Study) -> String {
    let each: Vec<String> = TUNED
        .iter()
        .zip(&study.searches)
        .map(|(&loss, search)| format!("{} {}", LOSSES[loss].name, search.shape().leaves))
        .collect();
    format!(
        "Tuned numbers of leaves: {}; in the paper, on WEB10K, 255, 20 and 100. Validation metrics of one teacher are noisy, as the \
         table of trials shows. The paper's statements on large trees are tested by the rows with {} leaves.",
        each.join(", "),
        LARGE.leaves
    )
}

fn table4_gain(loss: usize, set: usize) -> Option<f64> {
    Some(LOSSES[loss].table4?[set][2] - LOSSES[LAMBDARANK].table4?[set][2])
}

fn paper_tables() -> Vec<Table> {
    let title =
        |place: &str| format!("The paper, {place}: NDCG@5 in percent of training, validation and test queries:");
    let cells = |cells: [f64; 3]| cells.map(|cell| fixed(cell, 2)).join(" / ");
    let head = ["loss", SETS[0], SETS[1], SETS[2]];
    let mut first = Table::titled(title("Table 3 (RankLib; LambdaRank is its LambdaMART)"), &head);
    let mut second = Table::titled(title("Table 4 (LightGBM, tuned)"), &head);
    for loss in LOSSES {
        first.row([loss.name.to_owned()].into_iter().chain(loss.table3.map(cells)));
        if let Some(table4) = loss.table4 {
            second.row([loss.name.to_owned()].into_iter().chain(table4.map(cells)));
        }
    }
    vec![first, second]
}

/// A row of a comparison of forests.
fn row(study: &Comparison<Forest>, settings: &str, loss: usize, arm: usize, base: usize) -> Row<2> {
    Row {
        labels: [settings.into(), LOSSES[loss].name.into()],
        arm,
        base: (arm != base).then_some(base),
        last: mean_trees(&study.runs[arm]),
    }
}

const LABELS: [&str; 2] = ["settings", "loss"];
const LAST: [&str; 2] = ["LambdaRank", "mean trees"];

fn ranklib_table(study: &Study) -> Table {
    let [first, all_pairs] = [0, 1].map(Setting::RankLib);
    let [truncated, all] = [first, all_pairs].map(|setting| study.teachers.runs[arm_of(setting, LAMBDARANK)].len());
    let title = format!(
        "Here, RankLib's settings: NDCG@5 in percent, mean and 95% interval over {truncated} teachers ({all} for all \
         pairs):"
    );
    let rows = |setting, name| {
        let of = move |loss| row(&study.teachers, name, loss, arm_of(setting, loss), arm_of(setting, LAMBDARANK));
        (0..LOSSES.len()).map(of)
    };
    study.teachers.table(title, LABELS, LAST, rows(first, "top 5").chain(rows(all_pairs, "all pairs")))
}

fn tuned_table(study: &Study) -> Table {
    let title = "Here, LightGBM's settings: NDCG@5 in percent, mean and 95% interval over teachers. Table 5 has NDCG-Loss2 with \
                 LambdaRank's best settings here; the rows of large trees have its best settings in the paper:";
    let large = format!("{} leaves", LARGE.leaves);
    let own = |name: &str, setting, loss, base| {
        row(&study.teachers, name, loss, arm_of(setting, loss), arm_of(base, LAMBDARANK))
    };
    let mut rows = TUNED.map(|loss| own("tuned", Setting::Tuned, loss, Setting::Tuned)).into_iter().collect::<Vec<_>>();
    rows.push(own("LambdaRank's (Table 5)", Setting::LambdaRanks, NDCG2, Setting::Tuned));
    rows.extend([LAMBDARANK, NDCG2].map(|loss| own(&large, Setting::Large, loss, Setting::Large)));
    rows.extend(TUNED.map(|loss| own("ten leaves", Setting::TenLeaves, loss, Setting::TenLeaves)));
    study.teachers.table(title, LABELS, LAST, rows)
}

fn settings_table(study: &Study) -> Table {
    let title = "Best settings of each loss on the validation queries of a separate teacher (the paper's, for WEB10K: LambdaRank \
                 255 leaves, hessian 50, 50 documents; NDCG-Loss2 20, 100, 20; NDCG-Loss2++ 100, 1, 5):";
    let mut table =
        Table::titled(title, &["loss", "leaves", "hessian", "documents per leaf", "trials, with validation NDCG@5"]);
    for (loss, search) in TUNED.iter().zip(&study.searches) {
        let shape = search.shape();
        let trials = |what: &str, tuned: &Tuned, name: &dyn Fn(f64) -> String| {
            let one = |(setting, value): &(f64, f64)| format!("{}: {}", name(*setting), fixed(100.0 * value, 2));
            format!("{what} {}", tuned.trials.iter().map(one).collect::<Vec<_>>().join(", "))
        };
        table.row([
            LOSSES[*loss].name.into(),
            marked(shape.leaves, &search.leaves),
            marked(shape.min_hessian, &search.hessian),
            marked(shape.min_data, &search.documents),
            [
                trials("leaves", &search.leaves, &|setting| whole_leaves(setting).to_string()),
                trials("hessian", &search.hessian, &|setting| setting.to_string()),
                trials("documents", &search.documents, &|setting| whole_documents(setting).to_string()),
            ]
            .join("; "),
        ]);
    }
    table
}

fn real_table(name: &str, folds: &Comparison<Forest>) -> Table {
    let title = format!(
        "Here, {name}, RankLib's settings: NDCG@5 in percent, mean and 95% interval over {} folds:",
        folds.runs[0].len()
    );
    let rows = (0..LOSSES.len()).map(|loss| row(folds, "top 5", loss, loss, LAMBDARANK));
    folds.table(title, LABELS, LAST, rows)
}

/// Name and differences, one number per unit.
type Named = (&'static str, Vec<f64>);

/// Gains over LambdaRank: the paper's on its three sets, and our named ones.
fn panel(
    title: &str,
    losses: &[usize],
    paper: impl Fn(usize, usize) -> Option<f64>,
    ours: impl Fn(usize) -> Vec<Named>,
) -> Panel {
    let mut all = paper_gains("paper", losses, paper);
    let gains: Vec<Vec<Named>> = losses.iter().map(|&loss| ours(loss)).collect();
    for (number, (name, _)) in gains.first().into_iter().flatten().enumerate() {
        let points = gains.iter().enumerate().map(|(place, named)| point(place as f64, &named[number].1));
        all.push(series(format!("here, {name}"), number, false, points.collect()));
    }
    Panel {
        title: title.into(),
        x_label: "loss".into(),
        y_label: "test NDCG@5 minus LambdaRank's, points".into(),
        ticks: losses.iter().enumerate().map(|(place, &loss)| (place as f64, LOSSES[loss].name.to_owned())).collect(),
        series: all,
        zero: Some(0.0),
        ..Panel::default()
    }
}

fn words(plan: &Plan) -> Vec<String> {
    let Plan { teachers, untruncated_teachers, grids, .. } = plan;
    let Grids { leaves, hessians, documents_in_leaf, extensions } = grids;
    let [data, growing] = plan.sizes.words();
    vec![
        format!("{data} {teachers} teachers; losses of all pairs have {untruncated_teachers} of them."),
        format!(
            "{growing} RankLib's settings (Table 3): {} leaves, at least one document per leaf, minimum hessian {}, {} bins, early \
             stopping after {} trees. LightGBM's settings (Tables 4 and 5): {} bins, early stopping after {}. Ten leaves: the same \
             with at least {} documents per leaf, minimum hessian {}, no tuning. Large trees: the paper's best settings for \
             LambdaRank on WEB10K, {} leaves with at least {} documents; minimum hessian {} instead of 50, because the scale of \
             hessians depends on the implementation.",
            RANKLIB.leaves,
            RANKLIB.min_hessian,
            RANKLIB.bins,
            RANKLIB.patience,
            LIGHTGBM.bins,
            LIGHTGBM.patience,
            LIGHTGBM.min_data,
            LIGHTGBM.min_hessian,
            LARGE.leaves,
            LARGE.min_data,
            LARGE.min_hessian,
        ),
        format!(
            "Tuning for Table 4, the same for each loss: number of leaves from {leaves:?}, then minimum hessian from {hessians:?}, \
             then minimum documents per leaf from {documents_in_leaf:?}; each grid is extended by the same factor at most \
             {extensions} times while the best value is at its end; by validation NDCG@5 on one separate teacher."
        ),
        "Test queries are evaluated once. Queries without relevant documents count 0; equal scores are ranked pessimistically. \
         Losses are truncated at 5 as in Eq. 18 (full weight for pairs with a document in the top 5, maxDCG at 5); mu is 5."
            .into(),
    ]
}

fn tree_deviations(scale: Scale, plan: &Plan) -> Vec<String> {
    let [n_train, n_valid, n_test] = plan.sizes.queries;
    deviations(
        scale,
        &[
            "Semi-artificial data instead of YAHOO, WEB10K and WEB30K, which a user has to provide (experiment lambdaloss-web): only \
             orderings are compared. If --data has MQ2007, its folds are also run with RankLib's settings.",
            &format!(
                "{n_train}, {n_valid} and {n_test} queries per teacher instead of WEB10K's 6,000, 2,000 and 2,000, so that many \
                 teachers can be tested; the grid of the minimum hessian is scaled accordingly."
            ),
            "RankLib's settings in LightGBM: it splits by the gain of a Newton step, RankLib by the squared error of the gradient; \
             both grow the best leaf first and set leaf values by Newton steps. The minimum hessian of 0.001 is not in RankLib.",
            "Settings for Table 4 are tuned one at a time on one teacher, not jointly on every set.",
            "The paper tests over the queries of one set; here teachers are the units, which generalises to other \
             data.",
        ],
        "Quick: two teachers, few queries, trees and settings, no real data.",
    )
}
