//! LambdaRank, section 5 and Figure 1: documents propagated once instead of once per pair.

mod report;

use crate::harness::units::mean;
use crate::harness::{Claim, Execution, Experiment, Headline, NetShape, Paper, Report, Scale, Session, Test};
use crate::lambdarank::schedule::NETS;
use crate::ranknet::pair_net::{PairNet, each_pair};
use crate::speed::timing::{Patience, slope};
use crate::speed::v1::EveryPair;
use crate::speed::{epoch, machine, scaling, shape};
use burnrank::metric::{Summary, parse};
use burnrank::model::RankerConfig;
use burnrank::objective::PairAlgorithm;
use burnrank::{Conventions, Dataset, GradientPath, Init, TrainConfig, evaluate};
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
    time: "about 5 minutes on a machine that does nothing else",
    timed: true,
    claims,
    changed: &[
        "Lists had 1,000 to 512,000 documents and ten features, and V2's slope was 1.841 (linear) with a direct sum over pairs. \
         The paper has 1,000 queries and 50 features; we now read \"4,000 to 512,000\" as the documents of the whole set, 4 \
         to 512 per query.",
        "V1 ran on Burn's autodiff and V2 on the library's engine, which has since been rewritten in hand-written kernels: \
         their ratio would measure engines. V1 and V2 are now the same plain loops on one core, and differ only in \
         what is propagated. The library's engine has lines of its own.",
        "\"Several times\" was any speed-up; it is now at least 3.",
        "The claim that two layers gain more than one was primary until a first trial; the paper prints two numbers but \
         does not state this claim.",
    ],
    protocol,
    run,
    ..Experiment::BASE
};

const OBJECTIVE: &str = "ranknet";
const METRIC: &str = "ndcg@10";
/// The paper's web data: features, mean documents per query, and its speed-ups with one and two layers.
const FEATURES: usize = 367;
const DOCUMENTS: f64 = 26.1;
const FASTER: [f64; 2] = [5.1, 8.0];
/// Features of the paper's artificial data, and its slopes of V1 and V2.
const ARTIFICIAL: usize = 50;
const SLOPES: [f64; 2] = [1.943, 1.185];
/// Minimum speed-up that is "several times".
const SEVERAL: f64 = 3.0;
/// Maximum relative difference of gradients that count as equal in double precision.
const SAME: f64 = 1e-9;
/// The same in single precision.
const SINGLE: f64 = 1e-4;
/// Minimum slope that is "close to quadratic", and maximum slope that is closer to linear than to quadratic.
const QUADRATIC: f64 = 1.8;
const LINEAR: f64 = 1.5;
const LEARNING_RATE: f64 = 1e-4;

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Plain loops: every pair is propagated.
    V1,
    /// Plain loops: every document is propagated once.
    V2,
    /// The library's training loop with a direct or a near-linear sum over pairs.
    Library(PairAlgorithm),
}

const LINES: [(Way, &str); 4] = [
    (Way::V1, "V1, every pair propagated"),
    (Way::V2, "V2, every document propagated"),
    (Way::Library(PairAlgorithm::Direct), "library, direct sum"),
    (Way::Library(PairAlgorithm::Fast), "library, near-linear sum"),
];

struct Sizes {
    /// Training and validation queries.
    queries: [usize; 2],
    epochs: usize,
    /// Documents per query of the scaling.
    lengths: &'static [usize],
    /// Time for the queries of a line at a length; V1 is measured on as many queries as fit.
    patience: Patience,
}

fn sizes(scale: Scale) -> Sizes {
    scale.pick(
        Sizes {
            queries: [1_000, 500],
            epochs: 8,
            lengths: &[4, 8, 16, 32, 64, 128, 256, 512],
            patience: Patience { repeats: 3, seconds: 3.0 },
        },
        Sizes { queries: [20, 20], epochs: 2, lengths: &[4, 8, 16], patience: Patience { repeats: 2, seconds: 0.02 } },
    )
}

fn claims(_: &Session) -> Vec<Claim> {
    let mut all = vec![];
    let mut add = |id: String, statement: String, paper: &str| {
        let claim = Claim::new(id, statement, Test::Fact).paper(paper).unit("this machine: the minimum of the repeats");
        all.push(claim.convention("one core, one update per query; pairs of different labels"));
    };
    for (net, times) in NETS.into_iter().zip(FASTER) {
        let name = net.name();
        let mut add = |id: &str, statement: String, paper: &str| {
            add(format!("{name} {id}"), format!("{name}: {statement}"), paper);
        };
        let [v1, v2] = SLOPES.map(|slope| slope.to_string());
        add("gradient", "V2's gradient minus V1's, relative to the largest value".into(), "equal");
        add("faster", format!("speed-up of an epoch, V2 over V1, at least {SEVERAL}"), &times.to_string());
        add("sooner", "speed-up until V1's best validation NDCG@10, V2 over V1".into(), "Figure 1, left");
        add("V1", format!("V1 is close to quadratic, slope at least {QUADRATIC}"), &v1);
        add("V2", format!("V2 is closer to linear than to quadratic, slope at most {LINEAR}"), &v2);
        add("library", format!("the library's direct sum over pairs, slope at most {LINEAR}"), &v2);
        add("near", format!("the library's near-linear sum, slope at most {LINEAR}"), "-");
    }
    let more = "speed-up of two-layer nets over that of linear nets".to_owned();
    add("more".into(), more, &format!("{:.2}", FASTER[1] / FASTER[0]));
    all
}

fn protocol(session: &Session) -> anyhow::Result<Value> {
    let sizes = sizes(session.scale);
    Ok(json!({
        "machine": machine::describe(),
        "queries": sizes.queries,
        "features": [FEATURES, ARTIFICIAL],
        "documents_per_query": DOCUMENTS,
        "lengths": sizes.lengths,
        "epochs": sizes.epochs,
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
        self.points.iter().find(|point| point.1 >= value - 1e-9).map(|point| point.0)
    }
}

/// Documents per query, and seconds per epoch.
#[derive(Debug, Serialize)]
struct Line {
    name: &'static str,
    points: Vec<(usize, f64)>,
}

impl Line {
    fn slope(&self) -> Option<f64> {
        slope(&self.points.iter().map(|&(length, seconds)| (length as f64, seconds)).collect::<Vec<_>>())
    }
}

/// Measurements of one net.
#[derive(Debug, Serialize)]
struct NetTimes {
    net: &'static str,
    /// Between the gradients of V1 and V2.
    difference: f64,
    /// The same for the library, in single precision.
    library: f64,
    /// V1 and V2.
    curves: [Curve; 2],
    lines: Vec<Line>,
}

fn run(execution: &Execution<'_>) -> anyhow::Result<Report> {
    let (sizes, seed) = (sizes(execution.scale()), execution.session.seed);
    let data = |part: usize| {
        let seed = seed.wrapping_add(part as u64);
        shape::dataset(&lengths(sizes.queries[part], seed), FEATURES, seed)
    };
    let (training, valid) = (data(0)?, data(1)?);
    let mut results = vec![];
    for net in NETS {
        let start = Instant::now();
        eprintln!("{} nets: epochs of V1 and V2", net.name());
        let initial = initial(net, FEATURES, seed);
        let curves = [
            curve(Way::V1, &initial, &sizes, (&training, &valid))?,
            curve(Way::V2, &initial, &sizes, (&training, &valid))?,
        ];
        let pairs = EveryPair::new(OBJECTIVE, net, FEATURES, seed, &execution.session.device)?;
        let library = pairs.difference(training.query(0))?;
        let mut lines = vec![];
        for (way, name) in LINES {
            eprintln!("{} nets: {name}", net.name());
            let points =
                sizes.lengths.iter().map(|&length| Ok((length, seconds(execution, &sizes, net, way, length)?)));
            lines.push(Line { name, points: points.collect::<anyhow::Result<_>>()? });
        }
        let one = NetTimes { net: net.name(), difference: difference(&initial, &training), library, curves, lines };
        execution.keep(net.name(), &one, start.elapsed().as_secs_f64())?;
        results.push(one);
    }
    report::report(&sizes, &training, &results)
}

/// A net in plain loops with the weights of a new net of the library.
fn initial(net: NetShape, features: usize, seed: u64) -> PairNet {
    let shape = RankerConfig::new(features, epoch::architecture(net));
    PairNet::new(features, &Init::Burn.weights(&shape, seed))
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

/// Updates the net once per query, for some queries.
fn train(net: &mut PairNet, data: &Dataset, queries: usize, way: Way) {
    for query in data.queries().take(queries) {
        let mut updated = net.clone();
        match way {
            Way::V1 => net.add_by_pairs(&query.features, each_pair(query.labels), LEARNING_RATE, &mut updated),
            _ => net.add_by_documents(&query.features, each_pair(query.labels), LEARNING_RATE, &mut updated, |_| ()),
        }
        *net = updated;
    }
}

/// Largest relative difference between the gradients of V1 and V2 over the queries.
fn difference(net: &PairNet, data: &Dataset) -> f64 {
    let one = |query: usize| {
        let data = data.select(&[query]);
        let [mut v1, mut v2] = [net.clone(), net.clone()];
        train(&mut v1, &data, 1, Way::V1);
        train(&mut v2, &data, 1, Way::V2);
        v1.difference(&v2, net)
    };
    (0..data.n_queries().min(20)).map(one).fold(0.0, f64::max)
}

/// Trains some epochs and evaluates each on validation queries, which is not timed.
fn curve(way: Way, initial: &PairNet, sizes: &Sizes, (training, valid): (&Dataset, &Dataset)) -> anyhow::Result<Curve> {
    let (metric, mut net) = (parse(METRIC)?, initial.clone());
    let mut epochs = vec![];
    for _ in 0..sizes.epochs {
        let start = Instant::now();
        train(&mut net, training, training.n_queries(), way);
        let seconds = start.elapsed().as_secs_f64();
        let values = evaluate(&*metric, &net.scores(valid), valid.labels(), valid.offsets(), &Conventions::default())?;
        epochs.push((seconds, Summary::of(&values).mean));
    }
    Ok(Curve::new(&epochs))
}

/// Seconds of an epoch with queries of one length.
fn seconds(execution: &Execution<'_>, sizes: &Sizes, net: NetShape, way: Way, length: usize) -> anyhow::Result<f64> {
    let (seed, queries) = (execution.session.seed, sizes.queries[0]);
    let data = shape::dataset(&vec![length; queries], ARTIFICIAL, seed)?;
    if let Way::Library(algorithm) = way {
        let config = epoch::config(OBJECTIVE, net, GradientPath::Lambda, 1, seed)?;
        let config = TrainConfig { objective: scaling::by(&config.objective, algorithm)?, ..config };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        let measured = pool.install(|| epoch::measure(config, &data, &execution.session.device, sizes.patience))?;
        return Ok(measured.timing.seconds);
    }
    let mut net = initial(net, ARTIFICIAL, seed);
    // One query first, to see how many fit.
    let start = Instant::now();
    train(&mut net, &data, 1, way);
    let fitting = sizes.patience.seconds / start.elapsed().as_secs_f64();
    let measured = queries.min((fitting as usize).max(1));
    let timing = sizes.patience.time(|| {
        train(&mut net, &data, measured, way);
        Ok(())
    })?;
    Ok(timing.seconds * queries as f64 / measured as f64)
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
