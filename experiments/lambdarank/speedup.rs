//! LambdaRank, section 5 and Figure 1: documents propagated once instead of once per pair.

mod report;

use crate::harness::units::mean;
use crate::harness::{Claim, Execution, Experiment, Headline, NetShape, Paper, Report, Scale, Session, Test};
use crate::speed::scaling::{self, Line, PAPER, Subject};
use crate::speed::timing::Patience;
use crate::speed::v1::EveryPair;
use crate::speed::{epoch, machine, shape};
use burnrank::metric::{Summary, parse};
use burnrank::objective::PairAlgorithm;
use burnrank::{Conventions, Dataset, Device, GradientPath, TrainConfig, Trainer, evaluate};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Instant;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdarank-speedup",
    paper: Paper::LambdaRank,
    place: "section 5 (Eq. 6 and 7), section 6.1 and Figure 1",
    claim: "Propagating each document once (V2) instead of every pair (V1) gives exactly RankNet's gradient, trains 5.1 \
            times (one layer) and 8.0 times (two layers) faster, and makes the time nearly linear in the number of \
            documents of a query: slope 1.185 instead of 1.943.",
    short: "One pass per document (V2) gives RankNet's gradient, several times faster, nearly linear time.",
    headlines: &[
        Headline::new("V2 has exactly the gradient of V1", &["linear gradient", "two-layer gradient"]),
        Headline::new(
            "An epoch of V2 is several times faster than one of V1 (5.1 and 8.0 times)",
            &["linear faster", "two-layer faster"],
        ),
        Headline::new(
            "Time per query grows nearly quadratically with V1 and nearly linearly with V2",
            &["linear V1", "linear V2", "two-layer V1", "two-layer V2"],
        ),
    ],
    number: ("linear faster", "V1 over V2, linear net, times"),
    time: "about 4 minutes on a machine that does nothing else",
    timed: true,
    claims,
    changed: &[
        "The claim that two layers gain more than one was primary until a first trial; the paper prints two numbers but \
         does not state this claim.",
    ],
    protocol,
    run,
    ..Experiment::BASE
};

const NETS: [NetShape; 2] = [NetShape::Linear, NetShape::TwoLayer];
const OBJECTIVE: &str = "ranknet";
const TRUNCATED: &str = "ranknet@10";
/// The paper's web data: features, mean documents per query, and its speed-ups with one and two layers.
const FEATURES: usize = 367;
const DOCUMENTS: f64 = 26.1;
const FASTER: [f64; 2] = [5.1, 8.0];
/// Maximum relative difference of gradients that count as equal in single precision.
const SAME: f64 = 1e-4;
/// Minimum slope that is "close to quadratic", and maximum slope that is closer to linear than to quadratic.
const QUADRATIC: f64 = 1.8;
const LINEAR: f64 = 1.5;
const METRIC: &str = "ndcg@10";

struct Sizes {
    /// Training and validation queries.
    queries: [usize; 2],
    epochs: usize,
    /// Number of queries whose gradients are compared.
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
        let claim = Claim::new(id, statement, Test::Fact).paper(paper);
        claim
            .unit("this machine: the minimum of the repeats")
            .convention("one update per query; V2 sums over all pairs, as in the paper")
    };
    for (net, times) in NETS.into_iter().zip(FASTER) {
        let name = net.name();
        let same = format!("{name}: V2's gradient equals V1's, largest difference relative to the largest value");
        all.push(
            Claim::new(format!("{name} gradient"), same, Test::Fact).paper("equal").convention("single precision"),
        );
        let faster = format!("{name}: speed-up of an epoch, V2 over V1");
        all.push(once(format!("{name} faster"), faster, times.to_string()));
        let sooner = format!("{name}: speed-up until V1's best validation NDCG@10, V2 over V1");
        all.push(once(format!("{name} sooner"), sooner, "Figure 1, left".into()));
        let square = format!("{name}: V1 is close to quadratic, slope at least {QUADRATIC}");
        all.push(once(format!("{name} V1"), square, PAPER[0].to_string()));
        let straight =
            format!("{name}: V2 is closer to linear than to quadratic at V1's lengths, slope at most {LINEAR}");
        all.push(once(format!("{name} V2"), straight, PAPER[1].to_string()));
    }
    let more = once(
        "more".into(),
        "speed-up of two-layer nets over that of linear nets".into(),
        format!("{:.2}", FASTER[1] / FASTER[0]),
    );
    all.push(more);
    for net in NETS {
        let name = net.name();
        let long = format!("{name}: V2, sum over all pairs, at all lengths: slope at most {LINEAR}");
        let near = format!("{name}: V2, near-linear sum, at all lengths: slope at most {LINEAR}");
        all.push(once(format!("{name} V2 long"), long, PAPER[1].to_string()));
        all.push(once(format!("{name} near"), near, "-".into()));
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

/// Learning curve: seconds and best validation value after each epoch.
#[derive(Debug, Serialize)]
struct Curve {
    points: Vec<(f64, f64)>,
    /// Seconds of the fastest epoch.
    epoch: f64,
}

impl Curve {
    fn new(epochs: &[(f64, f64)]) -> Curve {
        let (mut seconds, mut best) = (0.0, f64::NEG_INFINITY);
        let mut points = vec![];
        for (time, value) in epochs {
            (seconds, best) = (seconds + time, best.max(*value));
            points.push((seconds, best));
        }
        Curve { points, epoch: epochs.iter().map(|epoch| epoch.0).fold(f64::INFINITY, f64::min) }
    }

    /// Seconds until a value was first reached.
    fn seconds_to(&self, value: f64) -> Option<f64> {
        self.points.iter().find(|point| point.1 >= value).map(|point| point.0)
    }
}

/// Measurements of one net.
#[derive(Debug, Serialize)]
struct NetTimes {
    net: &'static str,
    difference: f64,
    v1: Curve,
    v2: Curve,
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
    let mut results = vec![];
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
        let one = NetTimes { net: net.name(), difference, v1, v2, lines };
        execution.keep(net.name(), &one, start.elapsed().as_secs_f64())?;
        results.push(one);
    }
    report::report(execution.scale(), &sizes, &training, &results)
}

/// Numbers of documents of queries: skewed like those of web queries, with the paper's mean.
fn lengths(queries: usize, seed: u64) -> Vec<usize> {
    let lengths = shape::lengths(queries, seed);
    let factor = DOCUMENTS / mean(&lengths.iter().map(|&length| length as f64).collect::<Vec<_>>());
    // Rounding errors are carried over, so that the mean is exact.
    let mut carried = 0.0;
    let scaled = lengths.into_iter().map(|length| {
        let exact = length as f64 * factor + carried;
        let rounded = exact.round().max(2.0);
        carried = exact - rounded;
        rounded as usize
    });
    scaled.collect()
}

/// Trains with V1.
fn by_pairs(
    net: NetShape,
    sizes: &Sizes,
    training: &Dataset,
    valid: &Dataset,
    (seed, device): (u64, &Device),
) -> anyhow::Result<Curve> {
    let metric = parse(METRIC)?;
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
    Ok(Curve::new(&epochs))
}

/// Trains with V2, the library's training loop, with one update per query.
fn by_documents(
    net: NetShape,
    sizes: &Sizes,
    training: &Dataset,
    valid: &Dataset,
    (seed, device): (u64, &Device),
) -> anyhow::Result<Curve> {
    let config = epoch::config(OBJECTIVE, net, GradientPath::Lambda, 1, seed)?;
    let objective = scaling::by(&config.objective, PairAlgorithm::Direct)?;
    let mut trainer =
        Trainer::new(TrainConfig { objective, metric: METRIC.into(), ..config }, training, valid, device)?;
    let mut epochs = vec![];
    for _ in 0..sizes.epochs {
        // These seconds include the evaluation of training and validation queries, to V2's disadvantage.
        let record = trainer.epoch()?;
        epochs.push((record.seconds, record.valid));
    }
    Ok(Curve::new(&epochs))
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
    fn a_curve_has_the_time_to_a_value() {
        let curve = Curve::new(&[(2.0, 0.5), (1.0, 0.7), (3.0, 0.6)]);
        assert_eq!(curve.points, [(2.0, 0.5), (3.0, 0.7), (6.0, 0.7)]);
        assert_eq!((curve.epoch, curve.seconds_to(0.6), curve.seconds_to(0.8)), (1.0, Some(3.0), None));
    }
}
