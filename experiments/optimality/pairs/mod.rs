//! Section 7.2, Figure 5: number of pairs that each metric learns from, and its effect on accuracy.

mod count;
mod report;

use super::descent::Trained;
use super::setting::{ALL_TRAININGS, EQ11, MRR, PaperMetric, TRAININGS, Training, data, run_all};
use super::tuned::{PATIENT, Schedule, TrainingRecord, test_values, train_two_layer};
use crate::harness::finding::{Finding, no_share, outside};
use crate::harness::units::mean;
use crate::harness::{
    Claim, Evidence, Execution, Experiment, Headline, Job, Packed, Paper, Report, Runs, Scale, Session, Test, Tested,
    Ticker, claims,
};
use burnrank::{Dataset, Device, Synthetic};
use count::{difference, possible};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "optimality-pairs",
    paper: Paper::Optimality,
    place: "section 7.2, Figure 5",
    claim: "The number of effective pairs falls from NDCG to NDCG@10, MAP and MRR; for MRR it is one to two orders of \
            magnitude below the number of relevant/non-relevant pairs. With equal numbers of effective pairs, training \
            for the test metric is best. The gap to training for NDCG shrinks with more data.",
    short: "NDCG learns from the most pairs, MRR from the fewest; data closes the gap.",
    headlines: &[
        Headline::new(
            "NDCG has more effective pairs than NDCG@10, MAP more than MRR, and MRR 1 to 2 orders of magnitude fewer than there are",
            &["order NDCG NDCG@10", "order MAP MRR", "orders"],
        ),
        Headline::new(
            "With equal numbers of effective pairs, training for the test metric is best (MRR and NDCG@10)",
            &["equal *"],
        ),
        Headline::new("The gap to training for NDCG shrinks with more data (MRR and NDCG@10)", &["gap *"]),
    ],
    number: ("equal MRR NDCG", "equal pairs, for MRR minus for NDCG, MRR"),
    time: "about 4 minutes",
    claims: |session| claims(tested(session.scale)),
    changed: &[
        "Pairs are counted on lists of 159 documents, as in the paper's web data, instead of 50, next to the paper's own \
         counts. MRR's count is by Eq. 11, which the paper's sentence on it refers to; that of the swap form is secondary.",
        "Test values after training for MRR are of the swap form; those by Eq. 11 as printed are secondary.",
        "That NDCG@10 has more effective pairs than MAP contradicts the paper's own counts (15.3 million against 27 \
         million pairs, see errata) and is secondary now.",
        "After a first look at the epochs of five training runs: at most 200 epochs instead of 60, patience 20 instead \
         of 15.",
        "To show whether training for MRR works, values of training queries and the compared range of pairs were added. \
         No claim or test was changed.",
    ],
    protocol,
    run,
    ..Experiment::BASE
};

const FEATURES: usize = 50;
/// The paper's web data: documents per query, queries, and pairs of different labels, also of binary ones.
const PAPER_DOCUMENTS: f64 = 158.7;
const PAPER_QUERIES: f64 = 10_000.0;
const PAPER_GRADED: f64 = 73e6;
const PAPER_BINARY: f64 = 27e6;

#[derive(Serialize)]
struct Sizes {
    functions: u64,
    /// Numbers of training queries, each four times the previous one.
    train: &'static [usize],
    /// A larger number for MRR only, which has the fewest pairs.
    mrr_train: usize,
    valid: usize,
    test: usize,
    /// Documents per query and training queries for the counts.
    long: (usize, usize),
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
            long: (159, 1_000),
            schedule: Schedule { extensions: 4, search_epochs: 6, epochs: 200, restart: 20, ..PATIENT },
        },
        Scale::Quick => Sizes {
            functions: 2,
            train: &[10, 40, 160],
            mrr_train: 640,
            valid: 30,
            test: 60,
            long: (159, 20),
            schedule: Schedule { extensions: 1, search_epochs: 1, epochs: 4, restart: 3, ..PATIENT },
        },
    }
}

/// Numbers of training queries between which the gap to training for NDCG shrinks.
fn two_largest(sizes: &Sizes) -> [usize; 2] {
    sizes.train[sizes.train.len() - 2..].try_into().expect("there are several numbers of training queries")
}

/// Trainings with more and with fewer pairs per epoch, as the paper orders them.
const ORDER: [[Training; 2]; 3] = [[TRAININGS[0], TRAININGS[1]], [TRAININGS[1], TRAININGS[2]], [TRAININGS[2], EQ11]];
/// Trainings compared at equal numbers of pairs, by the metric of the first.
const EQUAL: [[Training; 2]; 6] = [
    [TRAININGS[3], TRAININGS[0]],
    [TRAININGS[3], TRAININGS[1]],
    [TRAININGS[3], TRAININGS[2]],
    [TRAININGS[1], TRAININGS[0]],
    [TRAININGS[1], TRAININGS[2]],
    [EQ11, TRAININGS[0]],
];

/// The claims and how they take their evidence.
fn tested(scale: Scale) -> Vec<Tested<Results>> {
    let sizes = sizes(scale);
    let (functions, (documents, queries), [small, large]) = (sizes.functions, sizes.long, two_largest(&sizes));
    let each = move |value: &dyn Fn(u64) -> Option<f64>| (0..functions).filter_map(value).collect::<Vec<f64>>();
    let claim = |id: String, statement: String, test| Claim::new(id, statement, test).unit("random function");
    let counted = format!(
        "pairs with a lambda other than 0, per epoch, mean over the epochs up to the best one; {queries} training queries of \
         {documents} documents"
    );
    let log = move |runs: &Results, function, training| {
        Some(runs.find(function, training, Lists::Long)?.pairs.max(1.0).log10())
    };
    let mut all = vec![];
    for [larger, smaller] in ORDER {
        let [more, fewer] = [larger, smaller].map(|training| training.metric.title);
        let statement = format!("{more} has more effective pairs than {fewer}, log10 of the ratio");
        let claim = claim(format!("order {more} {fewer}"), statement, Test::Above).convention(&counted);
        all.push(claim.by(move |runs: &Results| {
            let ratio = |function| Some(log(runs, function, larger)? - log(runs, function, smaller)?);
            Evidence::rounded(each(&ratio), 3)
        }));
    }
    for (id, training) in [("orders", EQ11), ("swap form, orders", TRAININGS[3])] {
        let statement =
            format!("{}: log10 of (relevant/non-relevant pairs / effective pairs), minus 1.5", training.title);
        let claim = claim(id.into(), statement, Test::Equivalent { margin: 0.5 })
            .paper("1 to 2 orders of magnitude fewer")
            .convention(format!("{counted}; the margin makes it 1 to 2"));
        all.push(claim.by(move |runs: &Results| {
            let orders = |function| {
                let binary = runs.find(function, training, Lists::Long)?.binary;
                Some(binary.max(1.0).log10() - log(runs, function, training)? - 1.5)
            };
            Evidence::rounded(each(&orders), 2)
        }));
    }
    for [own, other] in EQUAL {
        let (metric, form) = (own.metric, if own == EQ11 { "as printed, " } else { "" });
        let id = format!("{form}equal {} {}", metric.title, other.title);
        let statement = format!(
            "equal numbers of effective pairs: by {}, training for {} is above training for {}",
            metric.title, own.title, other.title
        );
        let claim = claim(id, statement, Test::Above).paper("yes, significant").convention(
            "test value as a piecewise linear function of log10 of the effective pairs, mean over the range that both \
             cover",
        );
        all.push(claim.by(move |runs: &Results| {
            let curve = |function, trained| runs.curve(function, trained, metric);
            let values = each(&|function| difference(&curve(function, own), &curve(function, other)));
            match values.is_empty() {
                true => Evidence::missing("no function has a range of effective pairs that both trainings cover"),
                false => Evidence::units(values),
            }
        }));
    }
    for (training, paper, effect) in [
        (TRAININGS[3], "0.020 to 0.011", 0.009),
        (TRAININGS[1], "0.020 to 0.004", 0.016),
        (EQ11, "0.020 to 0.011", 0.009),
    ] {
        let (title, test, form) =
            (training.title, training.metric.title, if training == EQ11 { "as printed, " } else { "" });
        let ahead = move |runs: &Results, function, queries| {
            let value =
                |trained| Some(runs.find(function, trained, Lists::Short(queries))?.test[training.metric.index()]);
            Some(value(TRAININGS[0])? - value(training)?)
        };
        let statement = format!(
            "by {test}, training for NDCG minus training for {title}: the gap with {small} queries minus the gap with {large}"
        );
        let gap = claim(format!("{form}gap {test}"), statement, Test::Above).paper(paper).effects([effect]);
        let gap = gap.convention(format!(
            "test means; the paper's gaps are of 10,000 and 22,000 web queries, ours of {small} and {large}"
        ));
        all.push(gap.by(move |runs: &Results| {
            Evidence::units(each(&|function| Some(ahead(runs, function, small)? - ahead(runs, function, large)?)))
        }));
        let statement = format!("by {test}, with {large} queries, training for {title} is above training for NDCG");
        let largest = claim(format!("{form}largest {test}"), statement, Test::Above).paper("expected with enough data");
        all.push(
            largest
                .convention("test means")
                .by(move |runs: &Results| Evidence::units(each(&|function| Some(-ahead(runs, function, large)?)))),
        );
    }
    let statement = "on the paper's own data NDCG@10 can have more effective pairs than MAP";
    all.push(Claim::new("own numbers", statement, Test::Fact).paper("yes").by(|_| {
        let numbers = format!(
            "at most {:.1} million pairs contain one of the top ten; MAP has {:.0} million",
            most_of_ten() / 1e6,
            PAPER_BINARY / 1e6
        );
        Evidence::fact(most_of_ten() > PAPER_BINARY, numbers)
    }));
    all
}

/// Maximum number of pairs with one of the top ten documents in the paper's data.
fn most_of_ten() -> f64 {
    PAPER_QUERIES * (10.0 * (PAPER_DOCUMENTS - 10.0) + 45.0)
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    Ok(json!({
        "trainings": ALL_TRAININGS.map(|training| training.title),
        "data": data(FEATURES, session.seed),
        "sizes": sizes(session.scale),
    }))
}

/// The data of a net: lists of 50 documents and this number of training queries, or the long lists of the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lists {
    Short(usize),
    Long,
}

/// One net.
struct Cell {
    function: u64,
    lists: Lists,
    training: Training,
}

#[derive(Debug, Serialize, Deserialize)]
struct NetResult {
    #[serde(flatten)]
    record: TrainingRecord,
    /// Effective pairs per epoch, mean over the epochs up to the best.
    pairs: f64,
    first_pairs: f64,
    /// Pairs of documents with different labels, and relevant/non-relevant pairs.
    graded: f64,
    binary: f64,
    /// Mean of the training metric over training queries.
    train: f64,
    /// Test means of the four metrics.
    test: Vec<f64>,
    /// Values of the test queries for each metric.
    per_query: Vec<Packed>,
}

impl Finding for NetResult {
    fn impossible(&self) -> Option<String> {
        let means = self.test.iter().copied().chain([self.train]);
        self.record.impossible().or_else(|| no_share("a mean", means)).or_else(|| {
            outside("a number of pairs", 0.0..=self.graded.max(self.binary), [self.pairs, self.first_pairs])
        })
    }
}

type Results = Runs<Cell, NetResult>;

impl Results {
    fn find(&self, function: u64, training: Training, lists: Lists) -> Option<&NetResult> {
        self.results(|cell| (cell.function, cell.training, cell.lists) == (function, training, lists)).next()
    }

    /// log10 of the number of pairs and test value of the nets of one function, in ascending order of pairs.
    fn curve(&self, function: u64, trained: Training, test: PaperMetric) -> Vec<(f64, f64)> {
        let is = |cell: &Cell| cell.function == function && cell.training == trained && cell.lists != Lists::Long;
        let point = |result: &NetResult| (result.pairs.max(1.0).log10(), result.test[test.index()]);
        let mut points: Vec<(f64, f64)> = self.results(is).map(point).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let (documents, long) = sizes.long;
    let mut jobs = vec![];
    for function in 0..sizes.functions {
        // The longest jobs first, so that threads finish together.
        let all = [sizes.mrr_train].into_iter().chain(sizes.train.iter().rev().copied()).map(Lists::Short);
        for lists in all.chain([Lists::Long]) {
            let (name, queries) = match lists {
                Lists::Short(queries) => (format!("queries {queries}"), queries),
                Lists::Long => (format!("lists of {documents}"), 3 * long),
            };
            let only_mrr = lists == Lists::Short(sizes.mrr_train);
            for training in ALL_TRAININGS.into_iter().filter(|training| !only_mrr || training.metric == MRR) {
                let key = format!("function {function} {name} {}", training.title).to_lowercase();
                jobs.push(Job { key, work: queries as f64, what: Cell { function, lists, training } });
            }
        }
    }
    let data = |cell: &Cell, seed| match cell.lists {
        Lists::Short(_) => data(FEATURES, seed),
        Lists::Long => Synthetic { documents, ..data(FEATURES, seed) },
    };
    // Test and validation queries first, so that they are the same for all sizes.
    let queries = |cell: &Cell| match cell.lists {
        Lists::Short(queries) => (cell.function, [sizes.test, sizes.valid, queries]),
        Lists::Long => (cell.function, [sizes.valid, sizes.valid, long]),
    };
    let runs = run_all(execution, jobs, data, queries, |cell, sets, seed, ticker| {
        run_cell(&sizes, cell, sets, (seed, &execution.session.device), ticker)
    })?;
    report::report(execution, &sizes, &runs)
}

fn run_cell(
    sizes: &Sizes,
    cell: &Cell,
    [test, valid, train]: &[Dataset; 3],
    start: (u64, &Device),
    ticker: &Ticker<'_>,
) -> anyhow::Result<NetResult> {
    let (objective, metric) = (cell.training.objective()?, cell.training.metric);
    let (record, trained) = train_two_layer((&objective, metric), &sizes.schedule, start, [train, valid], ticker)?;
    let (per_query, means) = test_values(&trained.best, test)?;
    Ok(NetResult {
        record,
        pairs: effective(&trained),
        first_pairs: trained.pairs.first().map_or(0.0, |&pairs| pairs as f64),
        graded: possible(train, |label| label),
        binary: possible(train, |label| f32::from(u8::from(label >= 2.0))),
        train: trained.best.mean(train, &*metric.parse()?)?,
        test: means,
        per_query,
    })
}

/// Mean number of pairs with a lambda other than 0 per epoch, up to the best epoch.
fn effective(trained: &Trained) -> f64 {
    let epochs = &trained.pairs[..trained.best_epoch.clamp(1, trained.pairs.len())];
    mean(&epochs.iter().map(|&pairs| pairs as f64).collect::<Vec<_>>())
}
