//! Section 7.2, Figure 5: how many pairs each measure learns from, and what that does to the accuracy.

mod count;
mod report;

use super::descent::{Trained, Updates};
use super::setting::{MAP, MEASURES, MRR, Measure, NDCG, NDCG10, data, parts, seed_of};
use super::tuned::{Course, PATIENT, Schedule, train_tuned};
use crate::harness::finding::{Finding, no_share, outside};
use crate::harness::units::mean;
use crate::harness::{
    Claim, Execution, Experiment, Job, Kind, NetShape, OneEntryCache, Packed, Paper, Report, Scale, Session, Test,
    Ticker,
};
use burnrank::Dataset;
use count::possible;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "optimality-pairs",
    kind: Kind::Paper,
    paper: Paper::Optimality,
    place: "section 7.2, Figure 5",
    claim: "NDCG learns from more pairs than NDCG@10, that from more than MAP, that from more than MRR, which has one \
            to two orders of magnitude fewer than there are pairs of a relevant and another document. With as many \
            effective pairs, training for the measure of the test is best, and the gap to training for NDCG shrinks \
            with more data.",
    time: "about 5 minutes",
    claims,
    changed: &[
        "After a first look at the times of five trainings: up to 200 epochs instead of 60, patience 20 \
                instead of 15.",
        "A reader could not tell whether training for MRR had worked: values of training queries, and the range \
                of pairs that is compared, were added. No claim or test was changed.",
    ],
    protocol,
    run,
    own: None,
};

const FEATURES: usize = 50;
const RATES: [f64; 4] = [0.003, 0.01, 0.03, 0.1];
/// The paper's web data: documents per query, queries, and pairs of a relevant and another document.
const PAPER_DOCUMENTS: f64 = 158.7;
const PAPER_QUERIES: f64 = 10_000.0;
const PAPER_BINARY: f64 = 27e6;

struct Sizes {
    functions: u64,
    /// Training queries, each four times the one before.
    train: &'static [usize],
    /// More of them, for MRR alone, which has the fewest pairs.
    mrr_train: usize,
    valid: usize,
    test: usize,
    schedule: Schedule,
}

fn sizes(scale: Scale) -> Sizes {
    match scale {
        Scale::Paper => Sizes {
            functions: 6,
            train: &[50, 200, 800, 3_200],
            mrr_train: 12_800,
            valid: 500,
            test: 4_000,
            schedule: Schedule {
                learning_rates: &RATES,
                extensions: 4,
                search_epochs: 6,
                epochs: 200,
                restart: 20,
                ..PATIENT
            },
        },
        Scale::Quick => Sizes {
            functions: 2,
            train: &[10, 40, 160],
            mrr_train: 640,
            valid: 30,
            test: 60,
            schedule: Schedule {
                learning_rates: &RATES,
                extensions: 1,
                search_epochs: 1,
                epochs: 4,
                restart: 3,
                ..PATIENT
            },
        },
    }
}

/// What stands above what, by the paper, in pairs per epoch.
const ORDER: [(Measure, Measure); 3] = [(NDCG, NDCG10), (NDCG10, MAP), (MAP, MRR)];
/// Which training is compared with which at equal numbers of pairs, judged by the measure of the first; so many of them
/// are primary.
const EQUAL: [(Measure, Measure); 5] = [(MRR, NDCG), (MRR, NDCG10), (MRR, MAP), (NDCG10, NDCG), (NDCG10, MAP)];
const EQUAL_PRIMARY: usize = 4;

fn claims(session: &Session) -> Vec<Claim> {
    let sizes = sizes(session.scale);
    let (small, large) = (sizes.train[sizes.train.len() - 2], sizes.train[sizes.train.len() - 1]);
    let unit = "random function";
    let counted = "pairs with a force, per epoch, mean over the epochs up to the best one";
    let mut all = vec![];
    for (more, less) in ORDER {
        let statement = format!("{} has more effective pairs than {}, log10 of the ratio", more.title, less.title);
        let claim = Claim::primary(format!("order {} {}", more.title, less.title), statement, Test::Above);
        all.push(claim.unit(unit).convention(format!("{counted}; {large} training queries of 50 documents")));
    }
    let statement = "MRR: log10 of (pairs of a relevant and another document / effective pairs), less 1.5";
    let claim =
        Claim::primary("orders", statement, Test::Equivalent { margin: 0.5 }).paper("1 to 2 orders of magnitude fewer");
    all.push(claim.unit(unit).convention(format!("{counted}; the margin makes it 1 to 2")));
    for (place, (own, other)) in EQUAL.into_iter().enumerate() {
        let title = format!("judged by {}, training for it is above training for {}", own.title, other.title);
        let statement = format!("as many effective pairs: {title}");
        let id = format!("equal {} {}", own.title, other.title);
        let claim = match place < EQUAL_PRIMARY {
            true => Claim::primary(id, statement, Test::Above),
            false => Claim::secondary(id, statement, Test::Above),
        };
        all.push(claim.paper("yes, significant").unit(unit).convention(
            "test value as a function of log10 of the effective pairs, joined by straight lines, mean over the range \
             that both have",
        ));
    }
    for (measure, paper) in [(MRR, "0.020 to 0.011"), (NDCG10, "0.020 to 0.004")] {
        let title = measure.title;
        let statement = format!(
            "by {title}, training for NDCG less training for {title}: the gap with {small} queries less the gap with \
             {large}"
        );
        let claim = Claim::primary(format!("gap {title}"), statement, Test::Above).paper(paper).unit(unit);
        all.push(claim.convention(format!(
            "test means; the paper's gaps are those of 10,000 and of 22,000 web queries, here of {small} and {large}"
        )));
        let statement = format!("by {title}, with {large} queries, training for {title} is above training for NDCG");
        let claim = Claim::secondary(format!("largest {title}"), statement, Test::Above);
        all.push(claim.paper("expected of enough data").unit(unit).convention("test means"));
    }
    let statement = "on the paper's own data NDCG@10 can have more effective pairs than MAP";
    all.push(Claim::secondary("own numbers", statement, Test::Fact).paper("yes"));
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "functions": sizes.functions,
        "train": sizes.train,
        "mrr_train": sizes.mrr_train,
        "valid": sizes.valid,
        "test": sizes.test,
        "schedule": sizes.schedule,
        "metrics": MEASURES.map(|measure| measure.name),
        "data": data(FEATURES, session.seed),
    }))
}

/// One net.
struct Cell {
    function: u64,
    queries: usize,
    measure: Measure,
}

#[derive(Debug, Serialize, Deserialize)]
struct Found {
    #[serde(flatten)]
    course: Course,
    /// Effective pairs per epoch, mean over the epochs up to the best; those of the first epoch; those that can be.
    pairs: f64,
    first_pairs: f64,
    graded: f64,
    binary: f64,
    /// The mean over training queries of the measure that was trained for.
    train: f64,
    /// Test means of the four measures.
    test: Vec<f64>,
    /// The test queries by each of them.
    per_query: Vec<Packed>,
}

impl Finding for Found {
    fn impossible(&self) -> Option<String> {
        let means = self.test.iter().copied().chain([self.train]);
        self.course.impossible().or_else(|| no_share("a mean", means)).or_else(|| {
            outside("a number of pairs", 0.0..=self.graded.max(self.binary), [self.pairs, self.first_pairs])
        })
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let mut jobs = vec![];
    for function in 0..sizes.functions {
        // The longest first, so that no thread is left alone with it.
        for &queries in [sizes.mrr_train].iter().chain(sizes.train.iter().rev()) {
            for measure in MEASURES.into_iter().filter(|measure| queries != sizes.mrr_train || *measure == MRR) {
                let key = format!("function {function} queries {queries} {}", measure.title).to_lowercase();
                jobs.push(Job { key, work: queries as f64, what: Cell { function, queries, measure } });
            }
        }
    }
    let kept = OneEntryCache::default();
    let found = execution.run_all(&jobs, |job, ticker| {
        let Cell { function, queries, .. } = job.what;
        let seed = seed_of(execution.session, function);
        // Test and validation queries first: they are the same for all sizes.
        let sets =
            kept.get((function, queries), || parts(&data(FEATURES, seed), [sizes.test, sizes.valid, queries]))?;
        run_cell(&sizes, &job.what, &sets, seed, ticker)
    })?;
    let runs: Vec<(&Cell, &Found)> = jobs.iter().map(|job| &job.what).zip(&found).collect();
    report::report(execution, &sizes, &runs)
}

fn run_cell(
    sizes: &Sizes,
    cell: &Cell,
    [test, valid, train]: &[Dataset; 3],
    seed: u64,
    ticker: &Ticker<'_>,
) -> anyhow::Result<Found> {
    let (objective, metric) = (cell.measure.lambdarank()?, cell.measure.metric()?);
    let how = (NetShape::TwoLayer, seed, Updates::PerQuery);
    let (tuned, trained) =
        train_tuned((&objective, &*metric), &sizes.schedule, how, [train, valid], (ticker, [0.0, 1.0]))?;
    let (mut means, mut per_query) = (vec![], vec![]);
    for measure in MEASURES {
        let values = trained.best.values(test, &*measure.metric()?)?;
        means.push(mean(&values));
        per_query.push(Packed::new(values));
    }
    Ok(Found {
        course: Course::of(tuned, &trained),
        pairs: effective(&trained),
        first_pairs: trained.epochs.first().map_or(0.0, |epoch| epoch.pairs as f64),
        graded: possible(train, |label| label),
        binary: possible(train, |label| f32::from(u8::from(label >= 2.0))),
        train: trained.best.mean(train, &*metric)?,
        test: means,
        per_query,
    })
}

/// Mean pairs with a force per epoch, up to the best epoch.
fn effective(trained: &Trained) -> f64 {
    let epochs = &trained.epochs[..trained.best_epoch.clamp(1, trained.epochs.len())];
    mean(&epochs.iter().map(|epoch| epoch.pairs as f64).collect::<Vec<_>>())
}
