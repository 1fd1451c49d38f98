//! Report on trees: evidence, tables and figure.

use super::super::deviations;
use super::super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP, ORDERINGS, SETS};
use super::super::nets::{gap_text, marked, mean_text, paper_gains, point, series};
use super::grow::{Forest, LARGE, LIGHTGBM, Plan, RANKLIB, whole_documents, whole_leaves};
use super::{NoTrees, Setting, Study, TUNED, arms, ordering_id};
use crate::harness::figure::{self, Panel};
use crate::harness::real;
use crate::harness::tuning::Tuned;
use crate::harness::units::{less, mean};
use crate::harness::{Evidence, Execution, Report, Scale};
use burnrank::internal::text::{Table, fixed};

impl Study {
    fn of(&self, setting: Setting, loss: usize) -> &[Forest] {
        let place = arms().iter().position(|arm| *arm == (setting, loss));
        place.map_or(&[], |place| &self.teachers[place])
    }

    /// First minus second in points, one number per teacher.
    fn gaps(&self, first: (Setting, usize), second: (Setting, usize), of: Column) -> Vec<f64> {
        let (a, b) = (percent(self.of(first.0, first.1), of), percent(self.of(second.0, second.1), of));
        let teachers = a.len().min(b.len());
        less(&a[..teachers], &b[..teachers])
    }

    fn within(&self, setting: Setting, first: usize, second: usize, of: Column) -> Vec<f64> {
        self.gaps((setting, first), (setting, second), of)
    }

    fn evidence(&self) -> Vec<(String, Evidence)> {
        let (plain, all_pairs) = (Setting::RankLib(0), Setting::RankLib(1));
        let points = |values: Vec<f64>| Evidence::rounded(values, 2);
        let mut all = vec![];
        for (first, second, _) in ORDERINGS {
            all.push((ordering_id("Table 3", first, second), points(self.within(plain, first, second, TEST))));
        }
        for loss in [NDCG2, NDCG2PP] {
            let untruncated = self.within(all_pairs, loss, LAMBDARANK, TEST);
            all.push((ordering_id("Table 3, all pairs", loss, LAMBDARANK), points(untruncated)));
            let fitted = self.within(plain, loss, LAMBDARANK, TRAIN);
            all.push((ordering_id("Table 3, training", loss, LAMBDARANK), points(fitted)));
            let real = match &self.real {
                Some((_, forests)) => {
                    points(less(&percent(&forests[loss], TEST), &percent(&forests[LAMBDARANK], TEST)))
                }
                None => Evidence::missing("needs WEB10K or MQ2007 (--data), at full scale"),
            };
            all.push((ordering_id("real", loss, LAMBDARANK), real));
        }
        for (first, second) in [(NDCG2PP, LAMBDARANK), (NDCG2PP, NDCG2), (LAMBDARANK, NDCG2)] {
            all.push((ordering_id("Table 4", first, second), points(self.within(Setting::Tuned, first, second, TEST))));
        }
        let (own, tuned) = ((Setting::LambdaRanks, NDCG2), (Setting::Tuned, LAMBDARANK));
        all.push(("Table 5: training".into(), points(self.gaps(own, tuned, TRAIN))));
        all.push(("Table 5: test".into(), points(self.gaps(tuned, own, TEST))));
        all.push(("large: training".into(), points(self.within(Setting::Large, NDCG2, LAMBDARANK, TRAIN))));
        all.push(("large: test".into(), points(self.within(Setting::Large, LAMBDARANK, NDCG2, TEST))));
        let ten = self.within(Setting::TenLeaves, NDCG2, LAMBDARANK, TEST);
        all.push((ordering_id("ten leaves", NDCG2, LAMBDARANK), points(ten)));
        all
    }
}

/// Value of a forest.
type Column = fn(&Forest) -> f64;
const TRAIN: Column = |forest| forest.train;
const VALID: Column = |forest| forest.valid;
const TEST: Column = |forest| forest.test;

fn percent(forests: &[Forest], of: Column) -> Vec<f64> {
    forests.iter().map(|forest| 100.0 * of(forest)).collect()
}

pub fn report(execution: &Execution<'_>, plan: &Plan, study: &Study) -> anyhow::Result<Report> {
    let main = [NDCG2, NDCG2PP].map(|loss| gap_text(&study.within(Setting::RankLib(0), loss, LAMBDARANK, TEST)));
    let mut tables = paper_tables();
    tables.extend([ranklib_table(study), tuned_table(study), settings_table(study)]);
    let mut panels = vec![
        panel(
            "RankLib's settings",
            &[1, 2, 3, 4, 5],
            |loss, set| Some(LOSSES[loss].gain_in_table3()[set]),
            |loss| {
                let gaps = |place| study.within(Setting::RankLib(place), loss, LAMBDARANK, TEST);
                vec![("top 5", gaps(0)), ("all pairs", gaps(1))]
            },
        ),
        panel("LightGBM", &[NDCG2, NDCG2PP], table4_gain, |loss| {
            let gaps = |setting| study.within(setting, loss, LAMBDARANK, TEST);
            vec![("tuned", gaps(Setting::Tuned)), ("ten leaves", gaps(Setting::TenLeaves))]
        }),
    ];
    if let Some((set, forests)) = &study.real {
        tables.push(real_table(set.name, forests));
        panels.push(panel(
            set.name,
            &[1, 2, 3, 4, 5],
            |loss, set| Some(LOSSES[loss].gain_in_table3()[set]),
            |loss| vec![("top 5", less(&percent(&forests[loss], TEST), &percent(&forests[LAMBDARANK], TEST)))],
        ));
    }
    let runs: Vec<&Forest> =
        study.teachers.iter().chain(study.real.iter().flat_map(|(_, forests)| forests)).flatten().collect();
    let late = runs.iter().filter(|forest| 10 * forest.trees > 9 * plan.trees).count();
    let capped = runs.iter().filter(|forest| forest.grown >= plan.trees).count();
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
                plan.trees
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

/// Report of a build without trees: the paper's numbers only.
pub fn without_trees(execution: &Execution<'_>, plan: &Plan) -> anyhow::Result<Report> {
    let why = NoTrees.to_string();
    let claims = super::claims(execution.session);
    let panels = [
        panel("RankLib's settings", &[1, 2, 3, 4, 5], |loss, set| Some(LOSSES[loss].gain_in_table3()[set]), |_| vec![]),
        panel("LightGBM", &[NDCG2, NDCG2PP], table4_gain, |_| vec![]),
    ];
    Ok(Report {
        evidence: claims.into_iter().map(|claim| (claim.id, Evidence::missing(&*why))).collect(),
        main: format!("not run: {why}"),
        tables: paper_tables(),
        notes: vec![
            "LightGBM grows the trees: build with `cargo build --release --features trees`, which needs CMake 3.28 \
             and libclang."
                .into(),
        ],
        protocol: words(plan),
        deviations: tree_deviations(execution.scale(), plan),
        figure: figure::draw(&panels)?,
        other_data: true,
        ..Report::default()
    })
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

const HEAD: [&str; 7] = ["settings", "loss", "train", "validation", "test", "test minus LambdaRank", "mean trees"];

/// A row with means over teachers and optional differences to a baseline.
fn row(settings: &str, loss: usize, forests: &[Forest], gaps: Option<&[f64]>) -> [String; 7] {
    let trees = mean(&forests.iter().map(|forest| forest.trees as f64).collect::<Vec<_>>());
    [
        settings.to_owned(),
        LOSSES[loss].name.to_owned(),
        fixed(mean(&percent(forests, TRAIN)), 2),
        fixed(mean(&percent(forests, VALID)), 2),
        mean_text(&percent(forests, TEST)),
        gaps.map_or("-".into(), gap_text),
        fixed(trees, 0),
    ]
}

fn ranklib_table(study: &Study) -> Table {
    let [truncated, all] = [0, 1].map(|place| study.of(Setting::RankLib(place), LAMBDARANK).len());
    let title = format!(
        "Here, RankLib's settings: NDCG@5 in percent, mean and 95% interval over {truncated} teachers ({all} for all \
         pairs):"
    );
    let mut table = Table::titled(title, &HEAD);
    for (place, name) in ["top 5", "all pairs"].into_iter().enumerate() {
        for loss in 0..LOSSES.len() {
            let setting = Setting::RankLib(place);
            let gaps = (loss != LAMBDARANK).then(|| study.within(setting, loss, LAMBDARANK, TEST));
            table.row(row(name, loss, study.of(setting, loss), gaps.as_deref()));
        }
    }
    // The teachers of all pairs, so that only the truncation differs.
    for loss in [LAMBDARANK, NDCG2, NDCG2PP] {
        let first = |loss: usize| &study.of(Setting::RankLib(0), loss)[..all.min(truncated)];
        let gaps = less(&percent(first(loss), TEST), &percent(first(LAMBDARANK), TEST));
        let name = format!("top 5, the same {all} teachers");
        table.row(row(&name, loss, first(loss), (loss != LAMBDARANK).then_some(&gaps[..])));
    }
    table
}

fn tuned_table(study: &Study) -> Table {
    let title = "Here, LightGBM's settings: NDCG@5 in percent, mean and 95% interval over teachers. Table 5 has NDCG-Loss2 with \
                 LambdaRank's best settings here; the rows of large trees have its best settings in the paper:";
    let mut table = Table::titled(title, &HEAD);
    for loss in TUNED {
        let gaps = (loss != LAMBDARANK).then(|| study.within(Setting::Tuned, loss, LAMBDARANK, TEST));
        table.row(row("tuned", loss, study.of(Setting::Tuned, loss), gaps.as_deref()));
    }
    let gaps = study.gaps((Setting::LambdaRanks, NDCG2), (Setting::Tuned, LAMBDARANK), TEST);
    table.row(row("LambdaRank's (Table 5)", NDCG2, study.of(Setting::LambdaRanks, NDCG2), Some(&gaps)));
    let gaps = study.within(Setting::Large, NDCG2, LAMBDARANK, TEST);
    for (loss, gaps) in [(LAMBDARANK, None), (NDCG2, Some(&gaps[..]))] {
        table.row(row(&format!("{} leaves", LARGE.leaves), loss, study.of(Setting::Large, loss), gaps));
    }
    for loss in TUNED {
        let gaps = (loss != LAMBDARANK).then(|| study.within(Setting::TenLeaves, loss, LAMBDARANK, TEST));
        table.row(row("ten leaves", loss, study.of(Setting::TenLeaves, loss), gaps.as_deref()));
    }
    table
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

fn real_table(name: &str, forests: &[Vec<Forest>]) -> Table {
    let folds = forests[0].len();
    let title =
        format!("Here, {name}, RankLib's settings: NDCG@5 in percent, mean and 95% interval over {folds} folds:");
    let mut table = Table::titled(title, &HEAD);
    for (loss, of) in forests.iter().enumerate() {
        let gaps = (loss != LAMBDARANK).then(|| less(&percent(of, TEST), &percent(&forests[LAMBDARANK], TEST)));
        table.row(row("top 5", loss, of, gaps.as_deref()));
    }
    table
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
    let [n_train, n_valid, n_test] = plan.queries;
    let Plan {
        documents, teachers, untruncated_teachers, trees, leaves, hessians, documents_in_leaf, extensions, ..
    } = plan;
    vec![
        format!(
            "Data: semi-artificial web pages (`burnrank generate web`): 136 features of words, links and clicks in the order of \
             WEB10K, about {documents} documents per query, labels 0 to 4 for 52%, 32%, 13%, 2% and 1% of the documents. Labels are \
             bins of a teacher (a sum of 400 random rules on up to three features with fitted weights) plus noise with 70% of the \
             variance. {teachers} teachers, each with separate {n_train} training, {n_valid} validation and {n_test} test queries. \
             One teacher is one unit; all losses have the same queries. Losses of all pairs have {untruncated_teachers} of the \
             teachers."
        ),
        format!(
            "LightGBM grows the trees from the gradient and hessian of each loss: learning rate 0.1, at most {trees} trees, no \
             subsampling, no regularisation; the number of trees is that of the best validation NDCG@5. RankLib's settings (Table \
             3): {} leaves, at least one document per leaf, minimum hessian {}, {} bins, early stopping after {} trees. LightGBM's \
             settings (Tables 4 and 5): {} bins, early stopping after {}. Ten leaves: the same with at least {} documents per leaf, \
             minimum hessian {}, no tuning. Large trees: the paper's best settings for LambdaRank on WEB10K, {} leaves with at \
             least {} documents; minimum hessian {} instead of 50, because the scale of hessians depends on the implementation.",
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
    let [n_train, n_valid, n_test] = plan.queries;
    deviations(
        scale,
        &[
            "Semi-artificial data instead of YAHOO, WEB10K and WEB30K, which a user has to provide: only orderings are compared. If \
             --data has WEB10K or MQ2007, its folds are also run with RankLib's settings.",
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
