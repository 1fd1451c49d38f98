//! LambdaRank, section 5 and Figure 1: documents propagated once instead of once per pair.

use crate::harness::figure::{self, Legend, Panel, Series, Whose};
use crate::harness::units::mean;
use crate::harness::{
    Claim, Control, Evidence, Execution, Experiment, Kind, NetShape, Paper, Report, Scale, Session, Test,
};
use crate::speed::scaling::{self, Line, PAPER, Subject};
use crate::speed::timing::{Patience, slope};
use crate::speed::v1::EveryPair;
use crate::speed::{epoch, machine, shape};
use burnrank::metric::parse;
use burnrank::objective::Method;
use burnrank::text::{Table, three_digits};
use burnrank::{Conventions, Dataset, Device, GradientPath, Summary, TrainConfig, Trainer, judge};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Instant;

/// The experiment, as `list` shows it.
pub const EXPERIMENT: Experiment = Experiment {
    name: "lambdarank-speedup",
    kind: Kind::Speed,
    paper: Paper::LambdaRank,
    place: "section 5 (Eq. 6 and 7), section 6.1 and Figure 1",
    claim: "Propagating documents once (V2) instead of every pair (V1) gives RankNet's gradient exactly, trains 5.1 times (one layer) and \
            8.0 times (two layers) as fast, and makes time nearly linear in the documents of a query: slope 1.185 instead of 1.943.",
    time: "about 4 minutes on a machine that does nothing else",
    claims,
    changed: &[
        "That two layers gain more than one was primary until a first trial; the paper prints two numbers, but does not say so in words.",
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
    report(execution.scale(), &sizes, &training, &found)
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
        let values = judge(&*metric, &pairs.scores(valid)?, valid.labels(), valid.offsets(), &Conventions::default())?;
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
    let objective = scaling::by(&config.objective, Method::Direct)?;
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

/// The slope of a line at the lengths that another has too.
fn slope_at(line: &Line, other: &Line, documents: usize) -> Option<f64> {
    let shared = line.points.iter().filter(|point| other.points.iter().any(|other| other.0 == point.0));
    let each: Vec<(f64, f64)> = shared.map(|&(n, seconds, _)| (n as f64, seconds / (documents / n) as f64)).collect();
    slope(&each)
}

fn report(scale: Scale, sizes: &Sizes, training: &Dataset, found: &[Found]) -> anyhow::Result<Report> {
    let mut evidence: Vec<(String, Evidence)> = vec![];
    let mut given = |id: String, ours: Option<(String, bool)>| {
        evidence
            .push((id, ours.map_or(Evidence::missing("not measured"), |(ours, holds)| Evidence::fact(holds, ours))));
    };
    let faster = |one: &Found| one.v1.epoch / one.v2.epoch;
    for one in found {
        let name = one.net;
        given(format!("{name} gradient"), Some((format!("{:.0e}", one.difference), one.difference <= SAME)));
        given(format!("{name} faster"), Some((format!("{:.1}", faster(one)), faster(one) > 1.0)));
        let sooner = one.v1.points.last().and_then(|&(_, best)| Some(one.v1.reached(best)? / one.v2.reached(best)?));
        given(format!("{name} sooner"), sooner.map(|times| (format!("{times:.1}"), times > 1.0)));
        let [v1, direct, near, _] = &one.lines[..] else { anyhow::bail!("four lines are measured") };
        let told =
            |slope: Option<f64>, holds: fn(f64) -> bool| slope.map(|slope| (format!("{slope:.3}"), holds(slope)));
        given(format!("{name} V1"), told(v1.slope, |slope| slope >= QUADRATIC));
        given(format!("{name} V2"), told(slope_at(direct, v1, sizes.scaling.documents), |slope| slope <= LINEAR));
        given(format!("{name} V2 long"), told(direct.slope, |slope| slope <= LINEAR));
        given(format!("{name} near"), told(near.slope, |slope| slope <= LINEAR));
    }
    let [linear, deep] = found else { anyhow::bail!("two nets are measured") };
    let more = faster(deep) / faster(linear);
    given("more".into(), Some((format!("{more:.2}"), more > 1.0)));
    let mut tables = vec![speeds(found)];
    for one in found {
        tables.push(scaling::table(&format!("Scaling, {} nets", one.net), &one.lines, sizes.scaling.documents));
    }
    let pairs = shape::pairs(training) as f64 / training.n_queries() as f64;
    Ok(Report {
        evidence,
        controls: vec![Control {
            what: "V1 and V2 differ by nothing but rounding".into(),
            expected: format!("<= {SAME:.0e}"),
            ours: format!("{:.0e}", linear.difference.max(deep.difference)),
            holds: linear.difference.max(deep.difference) <= SAME,
        }],
        main: format!("V2 against V1: {:.1} times as fast with one layer, {:.1} with two", faster(linear), faster(deep)),
        tables,
        notes: vec![
            "The paper's text says that V1 is close to quadratic and \"V1 is close to linear\", which must be V2; and the caption of its \
             Figure 1 says left and right are linear and two-layer nets, where the text says web data and artificial data."
                .into(),
            "The time of V2 has a part that grows with the documents and one that grows with the pairs. Which one counts depends on how fast a \
             net is beside a sum: the paper's slope of 1.185 is that of its machine and net. The near-linear line looks at no pair; the line \
             of the top 10 leaves pairs out."
                .into(),
        ],
        protocol: protocol_text(sizes, training, pairs),
        deviations: deviations(scale),
        figure: draw(sizes, found)?,
    })
}

fn speeds(found: &[Found]) -> Table {
    let columns = ["net", "V1, seconds per epoch", "V2", "times as fast", "paper", "V1, best validation NDCG@10", "V2"];
    let mut table = Table::titled("RankNet, one update per query, the fastest of all epochs:", &columns);
    for (one, paper) in found.iter().zip(FASTER) {
        let best = |course: &Course| course.points.last().map_or("-".into(), |point| format!("{:.4}", point.1));
        table.row([
            one.net.into(),
            three_digits(one.v1.epoch),
            three_digits(one.v2.epoch),
            format!("{:.1}", one.v1.epoch / one.v2.epoch),
            paper.to_string(),
            best(&one.v1),
            best(&one.v2),
        ]);
    }
    table
}

fn draw(sizes: &Sizes, found: &[Found]) -> anyhow::Result<String> {
    let series = |name: String, colour, points: &[(f64, f64)]| Series {
        name,
        whose: Whose::Ours,
        colour,
        joined: true,
        points: points.iter().map(|&(x, y)| (x, y, None)).collect(),
    };
    let powers = |range: std::ops::Range<i32>| {
        range.map(|power| (f64::from(power), format!("{}", 10_f64.powi(power)))).collect::<Vec<_>>()
    };
    let (mut courses, mut panels) = (vec![], vec![]);
    for (place, one) in found.iter().enumerate() {
        for (number, (name, course)) in [("V1", &one.v1), ("V2", &one.v2)].into_iter().enumerate() {
            let points: Vec<(f64, f64)> =
                course.points.iter().map(|&(seconds, best)| (seconds.log10(), best)).collect();
            courses.push(series(format!("{name}, {}", one.net), 2 * place + number, &points));
        }
        let lines = one.lines.iter().enumerate().map(|(colour, line)| {
            let each = |&(n, seconds, _): &(usize, f64, usize)| {
                ((n as f64).log10(), (seconds / (sizes.scaling.documents / n) as f64).log10())
            };
            let slope = line.slope.map_or("-".into(), |slope| format!("{slope:.2}"));
            series(format!("{}: slope {slope}", line.name), colour, &line.points.iter().map(each).collect::<Vec<_>>())
        });
        panels.push(Panel {
            title: format!("{} nets (paper: V1 {}, V2 {})", one.net, PAPER[0], PAPER[1]),
            x_label: "documents of a query".into(),
            y_label: "seconds per query".into(),
            ticks: scaling::ticks(&one.lines),
            y_ticks: powers(-6..3),
            series: lines.collect(),
            zero: None,
            legend: Legend::LowerRight,
        });
    }
    let low = found.iter().map(|one| one.v2.epoch).fold(f64::INFINITY, f64::min).log10().floor() as i32;
    let high =
        found.iter().flat_map(|one| one.v1.points.last()).map(|point| point.0).fold(1e-9, f64::max).log10().ceil()
            as i32;
    let left = Panel {
        title: "Each mark is one epoch".into(),
        x_label: "seconds of training".into(),
        y_label: "best validation NDCG@10 so far".into(),
        ticks: powers(low..high + 1),
        y_ticks: vec![],
        series: courses,
        zero: None,
        legend: Legend::LowerRight,
    };
    panels.insert(0, left);
    figure::draw(&panels)
}

fn protocol_text(sizes: &Sizes, training: &Dataset, pairs: f64) -> Vec<String> {
    let documents = training.n_documents() as f64 / training.n_queries() as f64;
    vec![
        format!(
            "Speed-up: {} training and {} validation queries, {documents:.1} documents and {pairs:.0} pairs of different label per query, \
             {FEATURES} features, five labels that eight of the features tell in part; RankNet, linear nets and two-layer nets of ten \
             sigmoid units, Adam with 0.001, {} epochs, one update per query. V1 takes both documents of every pair through the net, forward \
             and backward, many pairs at once. V2 is the library's training loop, its sum over pairs direct; its times hold the judging of \
             training and validation queries, V1's do not.",
            sizes.queries[0], sizes.queries[1], sizes.epochs
        ),
        format!(
            "Scaling: {} documents in queries of doubled length from {}, ten features. V1 is measured on as many queries as {} seconds allow, \
             and no further than a query of {} seconds; the direct sum no further than an epoch of {} seconds. Slopes are of the time per \
             query against its documents, both logarithmic, by least squares.",
            sizes.scaling.documents,
            sizes.scaling.first,
            sizes.scaling.sample,
            sizes.scaling.bearable,
            sizes.scaling.direct
        ),
    ]
}

fn deviations(scale: Scale) -> Vec<String> {
    let mut all = vec![
        "The paper's web data is not to be had: artificial queries of the same number, length and width stand for it.".into(),
        "The paper measured V1 to 512,000 documents per query; here V1 ends where a query takes longer than there is time for.".into(),
        "Times are of another machine and program: V1 here computes many pairs in one matrix product, which the paper's V1 did not.".into(),
        "Training uses Adam; the paper used gradient descent. The gradients are the same.".into(),
    ];
    if scale == Scale::Quick {
        all.push("Quick: far fewer queries, and lists too short for slopes to mean anything.".into());
    }
    all
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
