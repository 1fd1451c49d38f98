//! Report: tables and figure.

use super::{
    ARTIFICIAL, Curve, FASTER, FEATURES, LINEAR, Line, NetTimes, QUADRATIC, SAME, SEVERAL, SINGLE, SLOPES, Sizes,
};
use crate::harness::figure::{self, Figure, Panel, Series};
use crate::harness::{Control, Evidence, Report};
use crate::speed::shape;
use burnrank::Dataset;
use burnrank::internal::text::{Table, three_digits};

impl NetTimes {
    fn speed_up(&self) -> f64 {
        self.curves[0].epoch / self.curves[1].epoch
    }
}

pub fn report(sizes: &Sizes, training: &Dataset, results: &[NetTimes]) -> anyhow::Result<Report> {
    let mut evidence: Vec<(String, Evidence)> = vec![];
    let mut add = |id: String, ours: Option<f64>, decimals: usize, holds: &dyn Fn(f64) -> bool| {
        let fact = |ours: f64| Evidence::fact(holds(ours), format!("{ours:.decimals$}"));
        evidence.push((id, ours.map_or(Evidence::missing("not measured"), fact)));
    };
    for one in results {
        let name = one.net;
        add(format!("{name} faster"), Some(one.speed_up()), 1, &|times| times >= SEVERAL);
        let [v1, v2] = &one.curves;
        let sooner = v1.points.last().and_then(|&(_, best)| Some(v1.seconds_to(best)? / v2.seconds_to(best)?));
        add(format!("{name} sooner"), sooner, 1, &|times| times > 1.0);
        add(format!("{name} V1"), one.lines[0].slope(), 3, &|slope| slope >= QUADRATIC);
        for (id, line) in ["V2", "library", "near"].into_iter().zip(&one.lines[1..]) {
            add(format!("{name} {id}"), line.slope(), 3, &|slope| slope <= LINEAR);
        }
    }
    let [linear, deep] = results else { anyhow::bail!("two nets are measured") };
    add("more".into(), Some(deep.speed_up() / linear.speed_up()), 2, &|more| more > 1.0);
    evidence.extend(results.iter().map(|one| {
        let ours = format!("{:.0e}", one.difference);
        (format!("{} gradient", one.net), Evidence::fact(one.difference <= SAME, ours))
    }));
    let mut tables = vec![speeds(results)];
    tables.extend(results.iter().map(|one| scaling_table(sizes, one)));
    Ok(Report {
        evidence,
        controls: results.iter().map(control).collect(),
        main: format!(
            "speed-up of V2 over V1: {:.1} with one layer, {:.1} with two",
            linear.speed_up(),
            deep.speed_up()
        ),
        tables,
        notes: vec![
            "The paper's text says that V1 is close to quadratic and that \"V1 is close to linear\"; the latter must be \
             V2. The caption of its Figure 1 says that left and right are linear and two-layer nets; the text says web \
             data and artificial data."
                .into(),
            "The time of V2 has a part that grows with the number of documents, the net's, and one that grows with the number of \
             pairs. The more a net costs per document, the closer its slope is to 1. The paper does not say for which net it \
             measured 1.185."
                .into(),
        ],
        protocol: protocol_text(sizes, training),
        deviations: DEVIATIONS.map(String::from).into(),
        figure: draw(results)?,
        ..Report::default()
    })
}

/// Control: the library's gradient is V1's.
fn control(one: &NetTimes) -> Control {
    Control {
        description: format!("{} net: the library's gradient equals that of propagating every pair", one.net),
        expected: format!("relative difference below {SINGLE}"),
        ours: format!("{:.0e}", one.library),
        holds: one.library < SINGLE,
    }
}

fn speeds(results: &[NetTimes]) -> Table {
    let columns = ["net", "V1, seconds per epoch", "V2", "speed-up", "paper", "V1, best validation NDCG@10", "V2"];
    let mut table = Table::titled("RankNet, one update per query, the fastest of all epochs:", &columns);
    for (one, paper) in results.iter().zip(FASTER) {
        let best = |curve: &Curve| curve.points.last().map_or("-".into(), |point| format!("{:.4}", point.1));
        let [v1, v2] = &one.curves;
        let (slow, fast) = (three_digits(v1.epoch), three_digits(v2.epoch));
        table.row([
            one.net.into(),
            slow,
            fast,
            format!("{:.1}", one.speed_up()),
            paper.to_string(),
            best(v1),
            best(v2),
        ]);
    }
    table
}

fn scaling_table(sizes: &Sizes, one: &NetTimes) -> Table {
    let title = format!(
        "Scaling, {} nets: seconds per epoch of {} queries, {ARTIFICIAL} features, one core:",
        one.net, sizes.queries[0]
    );
    let columns = ["documents per query"].into_iter().chain(one.lines.iter().map(|line| line.name));
    let mut table = Table::titled(title, &columns.collect::<Vec<_>>());
    for (place, length) in sizes.lengths.iter().enumerate() {
        let cells = one.lines.iter().map(|line| three_digits(line.points[place].1));
        table.row([length.to_string()].into_iter().chain(cells));
    }
    let slopes = one.lines.iter().map(|line| line.slope().map_or("-".into(), |slope| format!("{slope:.3}")));
    table.row(["slope".to_owned()].into_iter().chain(slopes));
    table
}

fn draw(results: &[NetTimes]) -> anyhow::Result<Figure> {
    let powers = |range: std::ops::Range<i32>| {
        range.map(|power| (f64::from(power), format!("{}", 10_f64.powi(power)))).collect::<Vec<_>>()
    };
    let (mut curves, mut panels) = (vec![], vec![]);
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for (place, one) in results.iter().enumerate() {
        for (number, (name, curve)) in ["V1", "V2"].into_iter().zip(&one.curves).enumerate() {
            let points = curve.points.iter().map(|&(seconds, best)| (seconds.log10(), best));
            curves.push(Series::line(format!("{name}, {}", one.net), 2 * place + number, points));
            low = low.min(curve.epoch);
            high = curve.points.iter().map(|point| point.0).fold(high, f64::max);
        }
        let series = one.lines.iter().enumerate().map(|(colour, line): (usize, &Line)| {
            let slope = line.slope().map_or("-".into(), |slope| format!("{slope:.2}"));
            let points = line.points.iter().map(|&(n, seconds)| ((n as f64).log10(), seconds.log10()));
            Series::line(format!("{}: slope {slope}", line.name), colour, points)
        });
        let lengths = one.lines[0].points.iter().map(|&(n, _)| ((n as f64).log10(), n.to_string()));
        panels.push(Panel {
            title: format!("{} nets (paper: V1 {}, V2 {})", one.net, SLOPES[0], SLOPES[1]),
            x_label: "documents per query".into(),
            y_label: "seconds per epoch".into(),
            ticks: lengths.collect(),
            y_ticks: powers(-6..4),
            series: series.collect(),
            ..Panel::default()
        });
    }
    let left = Panel {
        title: "One point per epoch".into(),
        x_label: "seconds of training".into(),
        y_label: "best validation NDCG@10 so far".into(),
        ticks: powers(low.log10().floor() as i32..high.log10().ceil() as i32 + 1),
        series: curves,
        ..Panel::default()
    };
    panels.insert(0, left);
    figure::draw(&panels)
}

fn protocol_text(sizes: &Sizes, training: &Dataset) -> Vec<String> {
    let queries = training.n_queries() as f64;
    let (documents, pairs) = (training.n_documents() as f64 / queries, shape::pairs(training) as f64 / queries);
    vec![
        "V1 and V2 are the same program, plain loops in double precision on one core; both add up the gradient of a query and \
         then update the weights. V1 runs a forward and a backward pass for both documents of every pair, V2 one of each \
         per document. Pairs are those of different labels."
            .into(),
        format!(
            "Speed-up: {} training and {} validation queries, {documents:.1} documents and {pairs:.0} pairs per query, {FEATURES} \
             features of which eight are informative, five labels; linear nets and two-layer nets of ten tanh units, {} epochs; \
             evaluation is not timed.",
            sizes.queries[0], sizes.queries[1], sizes.epochs
        ),
        format!(
            "Scaling: {} queries of equal length, {} to {} documents, {ARTIFICIAL} features. V1 is measured on as many queries as \
             fit in {} seconds; each time is the minimum of {} repeats. Slopes are least-squares fits of log time against log \
             documents. The library's lines are its training loop with one query per batch, Adam and single precision, with all \
             its overhead per epoch.",
            sizes.queries[0],
            sizes.lengths[0],
            sizes.lengths[sizes.lengths.len() - 1],
            sizes.patience.seconds,
            sizes.patience.repeats
        ),
    ]
}

const DEVIATIONS: [&str; 3] = [
    "The paper's web data is not available; artificial queries have the same number, mean length and features. The number of \
     pairs per query, on which the speed-up depends, is not printed in the paper.",
    "The paper says that documents per query vary \"from 4,000 to 512,000\"; with 1,000 queries we read this as the documents \
     of the whole set.",
    "Times are of another machine and program.",
];
