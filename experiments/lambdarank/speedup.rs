//! LambdaRank, section 5 and Figure 1: documents propagated once instead of once per pair.

mod report;

use crate::harness::units::mean;
use crate::harness::{Claim, Execution, Experiment, Kind, NetShape, Paper, Report, Scale, Session, Test};
use crate::speed::scaling::{self, Line, PAPER, Subject};
use crate::speed::timing::Patience;
use crate::speed::v1::EveryPair;
use crate::speed::{epoch, machine, shape};
use burnrank::metric::Summary;
use burnrank::metric::parse;
use burnrank::objective::PairAlgorithm;
use burnrank::{Conventions, Dataset, Device, GradientPath, TrainConfig, Trainer, evaluate};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Instant;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdarank-speedup",
    kind: Kind::Speed,
    paper: Paper::LambdaRank,
    place: "section 5 (Eq. 6 and 7), section 6.1 and Figure 1",
    claim: "Propagating documents once (V2) instead of every pair (V1) gives RankNet's gradient exactly, trains 5.1 \
            times (one layer) and 8.0 times (two layers) as fast, and makes time nearly linear in the documents of a \
            query: slope 1.185 instead of 1.943.",
    time: "about 4 minutes on a machine that does nothing else",
    claims,
    changed: &[
        "That two layers gain more than one was primary until a first trial; the paper prints two numbers, but does \
         not say so in words.",
    ],
    protocol,
    run,
    own: None,
};

const NETS: [NetShape; 2] = [NetShape::Linear, NetShape::TwoLayer];
const OBJECTIVE: &str = "ranknet";
const TRUNCATED: &str = "ranknet@10";
/// The paper's web data: features, mean documents per query, and its speed-ups with one and two layers.
const FEATURES: usize = 367;
const DOCUMENTS: f64 = 26.1;
const FASTER: [f64; 2] = [5.1, 8.0];
/// What counts as the same gradient in single precision.
const SAME: f64 = 1e-4;
/// "Close to quadratic", and nearer to linear than to quadratic.
const QUADRATIC: f64 = 1.8;
const LINEAR: f64 = 1.5;
const MEASURE: &str = "ndcg@10";

struct Sizes {
    /// Training and validation queries.
    queries: [usize; 2],
    epochs: usize,
    /// Queries whose gradients are compared.
    compared: usize,
    scaling: scaling::Sizes,
}

fn sizes(scale: Scale) -> Sizes {
    match scale {
        Scale::Paper => Sizes {
            queries: [1_000, 500],
            epochs: 8,
            compared: 20,
            scaling: scaling::Sizes {
                documents: 512_000,
                first: 1_000,
                bearable: 12.0,
                direct: 8.0,
                sample: 2.0,
                patience: Patience { repeats: 3, seconds: 0.5 },
            },
        },
        Scale::Quick => Sizes {
            queries: [20, 20],
            epochs: 2,
            compared: 2,
            scaling: scaling::Sizes {
                documents: 2_000,
                first: 250,
                bearable: 0.2,
                direct: 0.1,
                sample: 0.05,
                patience: Patience { repeats: 2, seconds: 0.02 },
            },
        },
    }
}

fn claims(_: &Session) -> Vec<Claim> {
    let mut all = vec![];
    let once = |id: String, statement: String, paper: String| {
        let claim = Claim::primary(id, statement, Test::Fact).paper(paper);
        claim
            .unit("this machine: the minimum of the repeats")
            .convention("one update per query; V2 adds up every pair, as in the paper")
    };
    for (net, times) in NETS.into_iter().zip(FASTER) {
        let name = net.name();
        let same = format!("{name}: V2's gradient is V1's, largest difference over largest slope");
        all.push(
            Claim::primary(format!("{name} gradient"), same, Test::Fact).paper("equal").convention("single precision"),
        );
        let faster = format!("{name}: an epoch of V2 is faster than one of V1, times");
        all.push(once(format!("{name} faster"), faster, times.to_string()));
        let sooner = format!("{name}: V2 reaches the best validation NDCG@10 of V1 sooner, times");
        all.push(once(format!("{name} sooner"), sooner, "Figure 1, left".into()));
        let square = format!("{name}: V1 is close to quadratic, slope at least {QUADRATIC}");
        all.push(once(format!("{name} V1"), square, PAPER[0].to_string()));
        let straight =
            format!("{name}: V2 is nearer to linear than to quadratic at the lengths of V1, slope at most {LINEAR}");
        all.push(once(format!("{name} V2"), straight, PAPER[1].to_string()));
    }
    let more = once(
        "more".into(),
        "two layers gain more than one: times as much".into(),
        format!("{:.2}", FASTER[1] / FASTER[0]),
    );
    all.push(Claim { primary: false, ..more });
    for net in NETS {
        let name = net.name();
        let long = format!("{name}: V2, every pair added up, at all lengths: slope at most {LINEAR}");
        let near = format!("{name}: V2 without a look at every pair, at all lengths: slope at most {LINEAR}");
        all.push(Claim { primary: false, ..once(format!("{name} V2 long"), long, PAPER[1].to_string()) });
        all.push(Claim { primary: false, ..once(format!("{name} near"), near, "-".into()) });
    }
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "machine": machine::describe(),
        "queries": sizes.queries,
        "features": FEATURES,
        "documents_per_query": DOCUMENTS,
        "epochs": sizes.epochs,
        "scaling_documents": sizes.scaling.documents,
        "config": epoch::config(OBJECTIVE, NetShape::TwoLayer, GradientPath::Lambda, 1, session.seed)?,
    }))
}

/// A training, epoch by epoch: seconds so far, and the best validation value so far.
#[derive(Debug, Serialize)]
struct Course {
    points: Vec<(f64, f64)>,
    /// Of the fastest epoch.
    epoch: f64,
}

impl Course {
    fn of(epochs: &[(f64, f64)]) -> Course {
        let (mut seconds, mut best) = (0.0, f64::NEG_INFINITY);
        let mut points = vec![];
        for (time, value) in epochs {
            (seconds, best) = (seconds + time, best.max(*value));
            points.push((seconds, best));
        }
        Course { points, epoch: epochs.iter().map(|epoch| epoch.0).fold(f64::INFINITY, f64::min) }
    }

    /// When a value was first reached.
    fn reached(&self, value: f64) -> Option<f64> {
        self.points.iter().find(|point| point.1 >= value).map(|point| point.0)
    }
}

/// Everything about one net.
#[derive(Debug, Serialize)]
struct Found {
    net: &'static str,
    difference: f64,
    v1: Course,
    v2: Course,
    lines: Vec<Line>,
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let sizes = sizes(execution.scale());
    let (seed, device) = (execution.session.seed, &execution.session.device);
    let [training, valid] = [0, 1].map(|part| {
        let lengths = lengths(sizes.queries[part], seed.wrapping_add(part as u64));
        shape::dataset(&lengths, FEATURES, seed.wrapping_add(part as u64))
    });
    let (training, valid) = (training?, valid?);
    let mut found = vec![];
    for net in NETS {
        let start = Instant::now();
        let mut difference = 0.0_f64;
        let pairs = EveryPair::new(OBJECTIVE, net, FEATURES, seed, device)?;
        for query in 0..sizes.compared.min(training.n_queries()) {
            difference = difference.max(pairs.difference(training.query(query))?);
        }
        eprintln!("{} nets: V1", net.name());
        let v1 = by_pairs(net, &sizes, &training, &valid, (seed, device))?;
        eprintln!("{} nets: V2", net.name());
        let v2 = by_documents(net, &sizes, &training, &valid, (seed, device))?;
        let subject = Subject { objective: OBJECTIVE, truncated: TRUNCATED, net };
        let lines = scaling::measure(sizes.scaling, subject, seed, device)?;
        let one = Found { net: net.name(), difference, v1, v2, lines };
        execution.keep(net.name(), &one, start.elapsed().as_secs_f64())?;
        found.push(one);
    }
    report::report(execution.scale(), &sizes, &training, &found)
}

/// The numbers of documents of some queries: skewed as those of web queries, with the paper's mean.
fn lengths(queries: usize, seed: u64) -> Vec<usize> {
    let drawn = shape::lengths(queries, seed);
    let factor = DOCUMENTS / mean(&drawn.iter().map(|&length| length as f64).collect::<Vec<_>>());
    // What rounding leaves over is carried on, so that the mean is met.
    let mut carried = 0.0;
    let scaled = drawn.into_iter().map(|length| {
        let wished = length as f64 * factor + carried;
        let taken = wished.round().max(2.0);
        carried = wished - taken;
        taken as usize
    });
    scaled.collect()
}

/// V1, epoch by epoch.
fn by_pairs(
    net: NetShape,
    sizes: &Sizes,
    training: &Dataset,
    valid: &Dataset,
    (seed, device): (u64, &Device),
) -> anyhow::Result<Course> {
    let metric = parse(MEASURE)?;
    let mut pairs = EveryPair::new(OBJECTIVE, net, FEATURES, seed, device)?;
    let mut epochs = vec![];
    for _ in 0..sizes.epochs {
        let start = Instant::now();
        for query in training.queries() {
            pairs.step(query)?;
        }
        let seconds = start.elapsed().as_secs_f64();
        let values =
            evaluate(&*metric, &pairs.scores(valid)?, valid.labels(), valid.offsets(), &Conventions::default())?;
        epochs.push((seconds, Summary::of(&values).mean));
    }
    Ok(Course::of(&epochs))
}

/// V2, epoch by epoch: the library's own training loop, one update per query.
fn by_documents(
    net: NetShape,
    sizes: &Sizes,
    training: &Dataset,
    valid: &Dataset,
    (seed, device): (u64, &Device),
) -> anyhow::Result<Course> {
    let config = epoch::config(OBJECTIVE, net, GradientPath::Lambda, 1, seed)?;
    let objective = scaling::by(&config.objective, PairAlgorithm::Direct)?;
    let mut trainer =
        Trainer::new(TrainConfig { objective, metric: MEASURE.into(), ..config }, training, valid, device)?;
    let mut epochs = vec![];
    for _ in 0..sizes.epochs {
        // Judging the validation and training queries is part of these seconds, to V2's disadvantage.
        let record = trainer.epoch()?;
        epochs.push((record.seconds, record.valid));
    }
    Ok(Course::of(&epochs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_the_papers_mean() {
        let lengths = lengths(1000, 1);
        assert!((lengths.iter().sum::<usize>() as f64 / 1000.0 - DOCUMENTS).abs() < 0.2);
        assert!(lengths.iter().all(|&length| length >= 2));
    }

    #[test]
    fn a_course_knows_when_a_value_was_reached() {
        let course = Course::of(&[(2.0, 0.5), (1.0, 0.7), (3.0, 0.6)]);
        assert_eq!(course.points, [(2.0, 0.5), (3.0, 0.7), (6.0, 0.7)]);
        assert_eq!((course.epoch, course.reached(0.6), course.reached(0.8)), (1.0, Some(3.0), None));
    }
}
