//! LambdaLoss, Tables 3, 4 and 5 on the paper's own data sets, as far as a user has them.

use super::super::losses::{Cells, LAMBDARANK, LOSSES, NDCG2, NDCG2PP, SETS, gaps_in_table3, gaps_in_table4, table5};
use super::forest::{self, Forest, LIGHTGBM, METRIC, Parts, RANKLIB, Shape, config, grew_no_tree};
use super::reported;
use super::search::{Grids, Search, search};
use crate::harness::comparison::{Comparison, Measured, run_grid};
use crate::harness::figure::{self, Panel, Series, Whose};
use crate::harness::real::{self, RealSet, WEB};
use crate::harness::units::{less, mean};
use crate::harness::{
    Claim, Evidence, Execution, Experiment, Headline, Job, OneEntryCache, Paper, Report, Scale, Session, Test,
};
use burnrank::analysis::significance::t_test;
use burnrank::data::FoldFiles;
use burnrank::internal::text::{Table, fixed, p_value, signed};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdaloss-web",
    paper: Paper::LambdaLoss,
    place: "Tables 3, 4 and 5 on YAHOO, WEB10K and WEB30K",
    claim: "On YAHOO, WEB10K and WEB30K, NDCG-Loss2 and NDCG-Loss2++ are better than LambdaMART with RankLib's settings, \
            NDCG-Loss2++ is better with LightGBM's tuned settings, and NDCG-Loss2 overfits with LambdaMART's.",
    short: "On YAHOO, WEB10K and WEB30K, NDCG-Loss2 and NDCG-Loss2++ beat LambdaMART.",
    headlines: &[
        Headline::new("Table 3: NDCG-Loss2 and NDCG-Loss2++ are above LambdaMART (RankLib's settings)", &["Table 3 *"]),
        Headline::new("Table 4: NDCG-Loss2++ is above LambdaMART (LightGBM, tuned)", &["Table 4 *"]),
        Headline::new(
            "Table 5: NDCG-Loss2 with LambdaMART's settings fits the training queries better than LambdaMART",
            &["Table 5 *"],
        ),
    ],
    time: "hours for WEB30K; nothing runs without the data",
    claims,
    protocol,
    run,
    ..Experiment::BASE
};

const K: usize = 5;
const TREES: usize = 1000;
/// Losses of Table 4.
const TUNED: [usize; 3] = [LAMBDARANK, NDCG2, NDCG2PP];
/// Grids around the settings of Table 2.
const GRIDS: Grids = Grids {
    leaves: &[20.0, 70.0, 255.0],
    hessians: &[1.0, 10.0, 100.0],
    documents_in_leaf: &[5.0, 20.0, 80.0],
    extensions: 2,
};

/// The minimum hessian is not lowered below this.
const LEAST_HESSIAN: f64 = 1e-6;

/// Settings and loss of each arm: Table 3, Table 4, and NDCG-Loss2 with LambdaMART's settings.
const N_RANKLIB: usize = LOSSES.len();
const OWN: usize = N_RANKLIB + TUNED.len();
const N_ARMS: usize = OWN + 1;

fn loss_of(arm: usize) -> usize {
    match arm {
        OWN => NDCG2,
        arm if arm < N_RANKLIB => arm,
        arm => TUNED[arm - N_RANKLIB],
    }
}

/// The arm of a loss in Table 4.
fn tuned(loss: usize) -> usize {
    N_RANKLIB + TUNED.iter().position(|&other| other == loss).expect("a loss of Table 4")
}

fn arm_name(arm: usize) -> String {
    let table = match arm {
        OWN => "LambdaMART's settings",
        arm if arm < N_RANKLIB => "ranklib",
        _ => "tuned",
    };
    format!("{table} {}", LOSSES[loss_of(arm)].name)
}

/// A set of the paper that the user has: its index in [`SETS`], and its first fold.
type Found = (usize, RealSet, FoldFiles);

/// The sets in the data folder. Quick runs read none of them, because that alone takes minutes.
fn find(session: &Session) -> anyhow::Result<Vec<Found>> {
    let data = session.data.as_deref().filter(|_| session.scale == Scale::Paper);
    let mut all = vec![];
    for (number, name) in SETS.into_iter().enumerate() {
        let folders: Vec<RealSet> = WEB.into_iter().filter(|set| set.name == name).collect();
        if let Some((set, folds)) = real::first_of(&folders, data)? {
            all.extend(folds.into_iter().take(1).map(|fold| (number, set, fold)));
        }
    }
    Ok(all)
}

/// A claim on one set, and its arms: the first one is above the second.
fn contrasts(set: usize) -> Vec<(Claim, [usize; 2])> {
    let above = |table: &str, first: usize, second: usize, gaps: [f64; 3], test| {
        let (id, names) = (format!("{table} {}", SETS[set]), [first, second].map(|loss| LOSSES[loss].name));
        let statement = format!("{}, {table}: {} above {}, points of NDCG@5", SETS[set], names[0], names[1]);
        Claim::new(format!("{id}: {} over {}", names[0], names[1]), statement, test)
            .gaps([gaps[set]], 2)
            .unit("test query")
            .convention(
                "as in the paper, a paired t-test over the test queries of the first fold; truncated at 5 (Eq. 18)",
            )
    };
    let mut all = vec![];
    for loss in [NDCG2, NDCG2PP] {
        let claim = above("Table 3", loss, LAMBDARANK, gaps_in_table3(loss, LAMBDARANK), Test::Above);
        all.push((claim, [loss, LAMBDARANK]));
    }
    // On WEB10K the paper's difference is not significant.
    let test = if SETS[set] == "WEB10K" { Test::SameDirection } else { Test::Above };
    let claim = above("Table 4", NDCG2PP, LAMBDARANK, gaps_in_table4(NDCG2PP, LAMBDARANK), test);
    all.push((claim, [tuned(NDCG2PP), tuned(LAMBDARANK)]));
    // In the paper, tuned NDCG-Loss2 is below LambdaMART on two of the sets.
    let below = gaps_in_table4(NDCG2, LAMBDARANK)[set] < 0.0;
    let (first, second) = if below { (LAMBDARANK, NDCG2) } else { (NDCG2, LAMBDARANK) };
    let claim = above("NDCG-Loss2 in Table 4,", first, second, gaps_in_table4(first, second), Test::SameDirection);
    all.push((claim, [tuned(first), tuned(second)]));
    all
}

fn fits(set: usize) -> Claim {
    let [base, two] = table5(set);
    let statement =
        format!("{}: training NDCG@5 of NDCG-Loss2 above LambdaMART's, both with LambdaMART's settings", SETS[set]);
    Claim::new(format!("Table 5 {}", SETS[set]), statement, Test::Fact).paper(format!("{two} and {base}"))
}

/// Sets with claims: those that the user has, or all without any.
fn claimed(found: &[Found]) -> Vec<usize> {
    if found.is_empty() { (0..SETS.len()).collect() } else { found.iter().map(|set| set.0).collect() }
}

fn claims(session: &Session) -> Vec<Claim> {
    let sets = claimed(&find(session).unwrap_or_default());
    sets.into_iter().flat_map(|set| contrasts(set).into_iter().map(|(claim, _)| claim).chain([fits(set)])).collect()
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let config = |shape| config(&LOSSES[LAMBDARANK].objective(Some(K)), shape, TREES, METRIC, session);
    Ok(json!({"ranklib": config(RANKLIB)?, "lightgbm": config(LIGHTGBM)?, "grids": GRIDS}))
}

/// Searches and forests by set; forests of each arm in the order of sets.
struct Study {
    found: Vec<Found>,
    searches: Vec<Search>,
    forests: Comparison<Forest>,
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    reported(study(execution), claims(execution.session), |study| report(execution, &study))
}

fn study(execution: &Execution<'_>) -> anyhow::Result<Study> {
    let found = find(execution.session)?;
    let key = |set: usize| found[set].1.folder;
    let grow = |arms: std::ops::Range<usize>, shape: &(dyn Fn(usize, usize) -> Shape + Sync)| {
        let name = |set, arm| arms.contains(&arm).then(|| (format!("{} {}", key(set), arm_name(arm)), 1.0));
        let load = |set: usize| Parts::of_fold(&found[set].2);
        run_grid(execution, 0..found.len(), N_ARMS, name, load, |parts, job, ticker| {
            let (set, arm) = job.what;
            let objective = LOSSES[loss_of(arm)].objective(Some(K));
            let mut shape = shape(set, arm);
            loop {
                let config = config(&objective, shape, TREES, METRIC, execution.session)?;
                match forest::run(execution, &job.key, &config, parts, (ticker, (0.0, 1.0))) {
                    Err(error) if grew_no_tree(&error) && shape.min_hessian > LEAST_HESSIAN => {
                        shape.min_hessian /= 10.0
                    }
                    result => return result,
                }
            }
        })
    };
    let first = grow(0..N_RANKLIB, &|_, _| RANKLIB)?;
    let mut jobs = vec![];
    for set in 0..found.len() {
        for loss in TUNED {
            jobs.push(Job {
                key: format!("{} settings of {}", key(set), LOSSES[loss].name),
                work: 8.0,
                what: (set, loss),
            });
        }
    }
    let cache = OneEntryCache::default();
    let searches: Vec<Search> = execution.run_all(&jobs, |job, ticker| {
        let (set, loss) = job.what;
        let parts = cache.get(set, || Parts::of_fold(&found[set].2))?;
        search(execution, (&GRIDS, TREES), &job.key, &LOSSES[loss].objective(Some(K)), &parts, ticker)
    })?;
    // NDCG-Loss2 of Table 5 has LambdaMART's settings, which are the first of each set.
    let place = |arm: usize| if arm == OWN { 0 } else { arm - N_RANKLIB };
    let others = grow(N_RANKLIB..N_ARMS, &|set, arm| searches[TUNED.len() * set + place(arm)].shape())?;
    let runs = first.runs.into_iter().zip(others.runs).map(|(first, second)| [first, second].concat()).collect();
    Ok(Study { found, searches, forests: Comparison { runs } })
}

impl Study {
    /// First arm minus second on a set in points, one number per test query.
    fn by_query(&self, place: usize, [first, second]: [usize; 2]) -> Vec<f64> {
        let of =
            |arm: usize| self.forests.runs[arm][place].per_query.values().iter().map(|v| 100.0 * v).collect::<Vec<_>>();
        less(&of(first), &of(second))
    }

    fn evidence(&self, session: &Session) -> Vec<(String, Evidence)> {
        let mut all = vec![];
        for (place, (set, ..)) in self.found.iter().enumerate() {
            let differences = contrasts(*set).into_iter();
            all.extend(differences.map(|(claim, arms)| (claim.id, Evidence::rounded(self.by_query(place, arms), 2))));
            let [own, base] = [OWN, tuned(LAMBDARANK)].map(|arm| 100.0 * self.forests.runs[arm][place].train);
            all.push((fits(*set).id, Evidence::fact(own > base, format!("{own:.2} and {base:.2}"))));
        }
        if self.found.is_empty() {
            let missing = || Evidence::missing("needs YAHOO, WEB10K or WEB30K (--data), at full scale");
            all.extend(claims(session).into_iter().map(|claim| (claim.id, missing())));
        }
        all
    }
}

/// The paper's numbers for an arm.
fn paper_cells(arm: usize, set: usize) -> Option<Cells> {
    match arm {
        OWN => None,
        arm if arm < N_RANKLIB => Some(LOSSES[arm].table3[set]),
        arm => LOSSES[loss_of(arm)].table4.map(|sets| sets[set]),
    }
}

fn report(execution: &Execution<'_>, study: &Study) -> anyhow::Result<Report> {
    let tables = (0..study.found.len()).map(|place| table(study, place)).collect();
    let gains: Vec<String> = (0..study.found.len())
        .map(|place| {
            let gain = |loss: usize| signed(mean(&study.by_query(place, [loss, LAMBDARANK])), 2);
            format!("{}: NDCG-Loss2 {}, NDCG-Loss2++ {}", study.found[place].1.name, gain(NDCG2), gain(NDCG2PP))
        })
        .collect();
    Ok(Report {
        evidence: study.evidence(execution.session),
        main: match gains.is_empty() {
            true => "not run: no data set of the paper is in the data folder".into(),
            false => format!("RankLib's settings, minus LambdaRank, points: {}", gains.join("; ")),
        },
        tables,
        protocol: vec![
            format!(
                "The first fold of each set (YAHOO: set 1). Table 3: {} leaves, at least one document per leaf, {} bins, early stopping \
                 after {} trees. Tables 4 and 5: {} bins, early stopping after {}; the settings of each loss are tuned on validation \
                 queries in the same way: number of leaves from {:?}, then minimum hessian from {:?}, then minimum documents per leaf \
                 from {:?}; each grid is extended at most {} times while the best value is at its end. At most {TREES} trees, learning \
                 rate 0.1; the number of trees is that of the best validation NDCG@5. mu is 5.",
                RANKLIB.leaves,
                RANKLIB.bins,
                RANKLIB.patience,
                LIGHTGBM.bins,
                LIGHTGBM.patience,
                GRIDS.leaves,
                GRIDS.hessians,
                GRIDS.documents_in_leaf,
                GRIDS.extensions
            ),
            "Queries without relevant documents count 0, and equal scores are ranked pessimistically; the paper says neither.".into(),
        ],
        deviations: vec![
            "LightGBM grows all trees, also those with RankLib's settings: it splits by the gain of a Newton step, RankLib by the \
             squared error of the gradient."
                .into(),
            "If LambdaMART's settings leave no split for NDCG-Loss2, whose hessians are smaller, the minimum hessian is divided by \
             ten until one is left."
                .into(),
            "The paper does not print its grids; these contain or surround the settings of Table 2.".into(),
        ],
        figure: figure::draw(&(0..study.found.len().max(1)).filter_map(|place| panel(study, place)).collect::<Vec<_>>())?,
        bring: Some(real::WHERE.into()),
        feature: Some("trees"),
        ..Report::default()
    })
}

fn table(study: &Study, place: usize) -> Table {
    let (set, real, _) = &study.found[place];
    let title = format!("{}: NDCG@5 in percent of training, validation and test queries:", real.name);
    let head =
        ["table", "loss", "here", "test minus LambdaRank", "p", "trees", "settings", "the paper", "minus LambdaRank"];
    let mut table = Table::titled(title, &head);
    let cells = |cells: Cells| cells.map(|cell| fixed(cell, 2)).join(" / ");
    for arm in 0..N_ARMS {
        let forest = &study.forests.runs[arm][place];
        let (number, base) = match arm {
            OWN => ("5", tuned(LAMBDARANK)),
            arm if arm < N_RANKLIB => ("3", LAMBDARANK),
            _ => ("4", tuned(LAMBDARANK)),
        };
        let gaps = study.by_query(place, [arm, base]);
        let [gap, p] = match arm == base {
            true => ["-".into(), "-".into()],
            false => [signed(mean(&gaps), 2), p_value(t_test(&gaps).map(|test| test.p))],
        };
        let settings = match arm.checked_sub(N_RANKLIB) {
            None => RANKLIB.words(),
            Some(arm) => study.searches[TUNED.len() * place + arm % TUNED.len()].shape().words(),
        };
        let paper = paper_cells(arm, *set);
        let paper_gap = paper.zip(paper_cells(base, *set)).map(|(own, base)| own[2] - base[2]);
        table.row([
            number.into(),
            LOSSES[loss_of(arm)].name.into(),
            cells(forest.means().map(|mean| 100.0 * mean)),
            gap,
            p,
            forest.trees.to_string(),
            settings,
            paper.map_or("-".into(), cells),
            paper_gap.filter(|_| arm != base).map_or("-".into(), |gap| signed(gap, 2)),
        ]);
    }
    table
}

/// Gains over LambdaRank, ours and the paper's.
fn panel(study: &Study, place: usize) -> Option<Panel> {
    let (set, real, _) = study.found.get(place)?;
    let shown: Vec<[usize; 2]> = (1..N_RANKLIB)
        .map(|arm| [arm, LAMBDARANK])
        .chain([NDCG2, NDCG2PP].map(|loss| [tuned(loss), tuned(LAMBDARANK)]))
        .collect();
    let series = |name: &str, whose, gap: &dyn Fn([usize; 2]) -> Option<f64>| Series {
        whose,
        joined: false,
        ..Series::line(name, 0, shown.iter().enumerate().filter_map(|(x, arms)| Some((x as f64, gap(*arms)?))))
    };
    let paper = |[first, second]: [usize; 2]| Some(paper_cells(first, *set)?[2] - paper_cells(second, *set)?[2]);
    let tick = |(x, arms): (usize, &[usize; 2])| {
        let table = if arms[0] < N_RANKLIB { 3 } else { 4 };
        (x as f64, format!("{} ({table})", LOSSES[loss_of(arms[0])].name))
    };
    Some(Panel {
        title: real.name.into(),
        x_label: "loss (table)".into(),
        y_label: "test NDCG@5 minus LambdaRank's, points".into(),
        ticks: shown.iter().enumerate().map(tick).collect(),
        series: vec![
            series("the paper", Whose::Paper, &paper),
            series("here", Whose::Ours, &|arms| Some(mean(&study.by_query(place, arms)))),
        ],
        zero: Some(0.0),
        ..Panel::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_has_its_loss_and_the_papers_numbers() {
        assert_eq!([loss_of(tuned(NDCG2PP)), loss_of(OWN), loss_of(2)], [NDCG2PP, NDCG2, 2]);
        assert_eq!(paper_cells(tuned(NDCG2PP), 2), Some([66.78, 50.97, 51.21]));
        assert_eq!(paper_cells(NDCG2, 1), Some([47.33, 43.98, 43.19]));
        assert!((1..N_ARMS).all(|arm| (0..arm).all(|other| arm_name(other) != arm_name(arm))));
    }
}
