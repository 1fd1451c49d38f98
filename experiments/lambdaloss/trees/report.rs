//! What was found with trees, in words, tables and a figure.

use super::super::losses::{LAMBDARANK, LOSSES, NDCG2, NDCG2PP, ORDERINGS, SETS};
use super::super::nets::{gap_text, mean_text, point};
use super::grow::{Found, LARGE, LIGHTGBM, Plan, RANKLIB, whole_documents, whole_leaves};
use super::{NoTrees, Setting, Study, TUNED, arms, ordering_id};
use crate::harness::figure::{self, Panel, Series, Whose};
use crate::harness::real;
use crate::harness::tuning::Tuned;
use crate::harness::units::{less, mean};
use crate::harness::{Evidence, Execution, Report, Scale};
use burnrank::internal::text::{Table, fixed};

impl Study {
    fn of(&self, setting: Setting, loss: usize) -> &[Found] {
        let place = arms().iter().position(|arm| *arm == (setting, loss));
        place.map_or(&[], |place| &self.teachers[place])
    }

    /// First less second, in points, by teacher.
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
                Some((_, found)) => points(less(&percent(&found[loss], TEST), &percent(&found[LAMBDARANK], TEST))),
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

/// Which of a forest's numbers.
type Column = fn(&Found) -> f64;
const TRAIN: Column = |found| found.train;
const VALID: Column = |found| found.valid;
const TEST: Column = |found| found.test;

fn percent(found: &[Found], of: Column) -> Vec<f64> {
    found.iter().map(|found| 100.0 * of(found)).collect()
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
    if let Some((set, found)) = &study.real {
        tables.push(real_table(set.name, found));
        panels.push(panel(
            set.name,
            &[1, 2, 3, 4, 5],
            |loss, set| Some(LOSSES[loss].gain_in_table3()[set]),
            |loss| vec![("top 5", less(&percent(&found[loss], TEST), &percent(&found[LAMBDARANK], TEST)))],
        ));
    }
    let runs: Vec<&Found> =
        study.teachers.iter().chain(study.real.iter().flat_map(|(_, found)| found)).flatten().collect();
    let late = runs.iter().filter(|found| 10 * found.trees > 9 * plan.trees).count();
    let capped = runs.iter().filter(|found| found.grown >= plan.trees).count();
    Ok(Report {
        evidence: study.evidence(),
        controls: vec![study.control.clone()],
        main: format!("RankLib's settings, less LambdaRank, points: NDCG-Loss2 {}, NDCG-Loss2++ {}", main[0], main[1]),
        tables,
        notes: vec![
            chosen_leaves(study),
            format!(
                "{capped} of {} forests were ended by the limit of {} trees; {late} have their best number of trees in the last \
                 tenth of it.",
                runs.len(),
                plan.trees
            ),
            "LambdaRank is what the paper calls LambdaMART: the same trees, with the weight rho in place of the other losses' \
             weights. Training NDCG@5 stands beside test NDCG@5 because the paper says that NDCG-Loss2 fits harder and, with large \
             trees, too hard."
                .into(),
        ],
        protocol: words(plan),
        deviations: deviations(execution.scale(), plan),
        figure: figure::draw(&panels)?,
        bring: Some(real::WHERE.into()),
        feature: Some("trees"),
        other_data: true,
    })
}

/// Whether Tables 4 and 5 are of large trees, as the paper's are.
fn chosen_leaves(study: &Study) -> String {
    let each: Vec<String> = TUNED
        .iter()
        .zip(&study.searches)
        .map(|(&loss, search)| format!("{} {}", LOSSES[loss].name, search.shape().leaves))
        .collect();
    format!(
        "Tuning chose these numbers of leaves: {}; in the paper, on WEB10K, 255, 20 and 100. Validation values of one teacher differ \
         by chance, as the values that were tried show. What the paper says of large trees is asked of the rows with {} leaves.",
        each.join(", "),
        LARGE.leaves
    )
}

/// What can be said without trees: the paper's numbers.
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
            "Trees are grown by LightGBM: build with `cargo build --release --features trees`, which needs CMake 3.28 and libclang."
                .into(),
        ],
        protocol: words(plan),
        deviations: deviations(execution.scale(), plan),
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

const HEAD: [&str; 7] = ["settings", "loss", "train", "validation", "test", "test less LambdaRank", "mean trees"];

/// A row: means over teachers, and differences from a baseline where there is one.
fn row(settings: &str, loss: usize, found: &[Found], gaps: Option<&[f64]>) -> [String; 7] {
    let trees = mean(&found.iter().map(|found| found.trees as f64).collect::<Vec<_>>());
    [
        settings.to_owned(),
        LOSSES[loss].name.to_owned(),
        fixed(mean(&percent(found, TRAIN)), 2),
        fixed(mean(&percent(found, VALID)), 2),
        mean_text(&percent(found, TEST)),
        gaps.map_or("-".into(), gap_text),
        fixed(trees, 0),
    ]
}

fn ranklib_table(study: &Study) -> Table {
    let [truncated, all] = [0, 1].map(|place| study.of(Setting::RankLib(place), LAMBDARANK).len());
    let title = format!(
        "Here, RankLib's settings: NDCG@5 in percent, mean and 95% interval over {truncated} teachers ({all} for all pairs):"
    );
    let mut table = Table::titled(title, &HEAD);
    for (place, name) in ["top 5", "all pairs"].into_iter().enumerate() {
        for loss in 0..LOSSES.len() {
            let setting = Setting::RankLib(place);
            let gaps = (loss != LAMBDARANK).then(|| study.within(setting, loss, LAMBDARANK, TEST));
            table.row(row(name, loss, study.of(setting, loss), gaps.as_deref()));
        }
    }
    // The same teachers on both sides: what truncation alone does.
    for loss in [LAMBDARANK, NDCG2, NDCG2PP] {
        let first = |loss: usize| &study.of(Setting::RankLib(0), loss)[..all.min(truncated)];
        let gaps = less(&percent(first(loss), TEST), &percent(first(LAMBDARANK), TEST));
        let name = format!("top 5, the same {all} teachers");
        table.row(row(&name, loss, first(loss), (loss != LAMBDARANK).then_some(&gaps[..])));
    }
    table
}

fn tuned_table(study: &Study) -> Table {
    let title = "Here, LightGBM's settings: NDCG@5 in percent, mean and 95% interval over teachers; the row of Table 5 has \
                 NDCG-Loss2 with the settings that are best for LambdaRank here, the rows of large trees have those that were best \
                 for it in the paper:";
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
    let title = "Settings that were best for each loss on the validation queries of a teacher that is not judged (the paper's, for \
                 WEB10K: LambdaRank 255 leaves, hessian 50, 50 documents; NDCG-Loss2 20, 100, 20; NDCG-Loss2++ 100, 1, 5):";
    let mut table =
        Table::titled(title, &["loss", "leaves", "hessian", "documents in a leaf", "tried, with validation NDCG@5"]);
    for (loss, search) in TUNED.iter().zip(&study.searches) {
        let shape = search.shape();
        let marked =
            |best: String, tuned: &Tuned| format!("{best}{}", if tuned.at_edge { " (at the edge)" } else { "" });
        let tried = |what: &str, tuned: &Tuned, called: &dyn Fn(f64) -> String| {
            let one = |(setting, value): &(f64, f64)| format!("{}: {}", called(*setting), fixed(100.0 * value, 2));
            format!("{what} {}", tuned.trials.iter().map(one).collect::<Vec<_>>().join(", "))
        };
        table.row([
            LOSSES[*loss].name.into(),
            marked(shape.leaves.to_string(), &search.leaves),
            marked(shape.min_hessian.to_string(), &search.hessian),
            marked(shape.min_data.to_string(), &search.documents),
            [
                tried("leaves", &search.leaves, &|setting| whole_leaves(setting).to_string()),
                tried("hessian", &search.hessian, &|setting| setting.to_string()),
                tried("documents", &search.documents, &|setting| whole_documents(setting).to_string()),
            ]
            .join("; "),
        ]);
    }
    table
}

fn real_table(name: &str, found: &[Vec<Found>]) -> Table {
    let folds = found[0].len();
    let title =
        format!("Here, {name}, RankLib's settings: NDCG@5 in percent, mean and 95% interval over {folds} folds:");
    let mut table = Table::titled(title, &HEAD);
    for (loss, of) in found.iter().enumerate() {
        let gaps = (loss != LAMBDARANK).then(|| less(&percent(of, TEST), &percent(&found[LAMBDARANK], TEST)));
        table.row(row("top 5", loss, of, gaps.as_deref()));
    }
    table
}

/// Differences under a name, one per unit.
type Named = (&'static str, Vec<f64>);

/// Differences from LambdaRank: the paper's on its three sets, and ours under the names that `ours` gives.
fn panel(
    title: &str,
    losses: &[usize],
    paper: impl Fn(usize, usize) -> Option<f64>,
    ours: impl Fn(usize) -> Vec<Named>,
) -> Panel {
    let place = |loss: usize| losses.iter().position(|other| *other == loss).unwrap_or(0) as f64;
    let mut series: Vec<Series> = (0..SETS.len())
        .map(|set| Series {
            name: format!("paper, {}", SETS[set]),
            whose: Whose::Paper,
            colour: set + 2,
            joined: false,
            points: losses.iter().filter_map(|&loss| Some((place(loss), paper(loss, set)?, None))).collect(),
        })
        .collect();
    let found: Vec<(f64, Vec<Named>)> = losses.iter().map(|&loss| (place(loss), ours(loss))).collect();
    for (number, (name, _)) in found.first().into_iter().flat_map(|(_, all)| all.iter().enumerate()) {
        let points = found.iter().map(|(place, all)| point(*place, &all[number].1)).collect();
        series.push(Series {
            name: format!("here, {name}"),
            whose: Whose::Ours,
            colour: number,
            joined: false,
            points,
        });
    }
    Panel {
        title: title.into(),
        x_label: "loss".into(),
        y_label: "test NDCG@5 less LambdaRank's, points".into(),
        ticks: losses.iter().map(|&loss| (place(loss), LOSSES[loss].name.to_owned())).collect(),
        series,
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
             bins of a teacher, a sum of 400 random rules on up to three features with fitted weights, plus noise that has 70% of \
             the variance. {teachers} teachers, each with {n_train} training, {n_valid} validation and {n_test} test queries of its \
             own. One teacher is one unit; all losses see the same queries. Losses of all pairs are grown for \
             {untruncated_teachers} of the teachers."
        ),
        format!(
            "Trees are grown by LightGBM on the gradient and the second derivative of each loss, shrinkage 0.1, up to {trees} trees, \
             no subsampling, no penalty; the number of trees is that of the best validation NDCG@5. RankLib's settings (Table 3): \
             {} leaves, no leaf without a document or with a sum of second derivatives below {}, {} bins, ended after {} trees \
             without a better value. LightGBM's (Tables 4 and 5): {} bins, ended after {}. Ten leaves: the same, with at least {} \
             documents and a sum of {} in a leaf, and nothing tuned. Large trees: the settings that the paper found best for \
             LambdaRank on WEB10K, {} leaves, at least {} documents in each; a sum of {} instead of its 50, because how large second \
             derivatives are is up to the implementation.",
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
            "Tuning for Table 4, the same for each loss: leaves of {leaves:?}, then the smallest sum of second derivatives of \
             {hessians:?}, then the fewest documents of a leaf of {documents_in_leaf:?}, each wider by the same factor while the best \
             is at an end, at most {extensions} times; by validation NDCG@5 of one more teacher, which is not judged."
        ),
        "Test queries are looked at once. A query with nothing relevant counts 0, equal scores are ranked pessimistically. Losses are \
         truncated at 5 as in Eq. 18 (a pair counts in full when one of its documents is in the top 5; maxDCG at 5); mu is 5."
            .into(),
    ]
}

fn deviations(scale: Scale, plan: &Plan) -> Vec<String> {
    let [n_train, n_valid, n_test] = plan.queries;
    let mut all = vec![
        "Semi-artificial data instead of YAHOO, WEB10K and WEB30K, which need a user's own copy: only orderings are compared. Where \
         --data has WEB10K or MQ2007, its folds are run with RankLib's settings too."
            .into(),
        format!(
            "{n_train}, {n_valid} and {n_test} queries per teacher instead of WEB10K's 6,000, 2,000 and 2,000, so that many teachers \
             can be tested; smallest sums of second derivatives are tried in proportion."
        ),
        "RankLib's settings in LightGBM's trees: it splits by the gain in a Newton step, RankLib by squared error of the gradient; both \
         grow the best leaf first and set a leaf to its Newton step. A leaf needs a sum of second derivatives of 0.001, which RankLib \
         does not ask for."
            .into(),
        "Settings for Table 4 are searched one after the other, on one teacher, instead of all together on every set.".into(),
        "The paper tests over queries of one set; here the test is over teachers, which is harder and says more.".into(),
    ];
    if scale == Scale::Quick {
        all.push("Quick: two teachers, few queries, trees and settings, no real data.".into());
    }
    all
}
