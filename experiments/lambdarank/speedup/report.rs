//! Report: tables and figure.

use super::{Curve, FASTER, FEATURES, LINEAR, NetTimes, QUADRATIC, SAME, Sizes};
use crate::harness::figure::{self, Figure, Panel, Series};
use crate::harness::{Control, Evidence, Report, Scale};
use crate::speed::scaling::{self, Line, PAPER};
use crate::speed::shape;
use crate::speed::timing::slope;
use burnrank::Dataset;
use burnrank::internal::text::{Table, three_digits};

/// Slope of a line, restricted to the lengths of another.
fn slope_at(line: &Line, other: &Line, documents: usize) -> Option<f64> {
    let shared = line.points.iter().filter(|point| other.points.iter().any(|other| other.0 == point.0));
    let each: Vec<(f64, f64)> = shared.map(|&(n, seconds, _)| (n as f64, seconds / (documents / n) as f64)).collect();
    slope(&each)
}

pub fn report(scale: Scale, sizes: &Sizes, training: &Dataset, results: &[NetTimes]) -> anyhow::Result<Report> {
    let mut evidence: Vec<(String, Evidence)> = vec![];
    let mut add = |id: String, ours: Option<(String, bool)>| {
        evidence
            .push((id, ours.map_or(Evidence::missing("not measured"), |(ours, holds)| Evidence::fact(holds, ours))));
    };
    let faster = |one: &NetTimes| one.v1.epoch / one.v2.epoch;
    for one in results {
        let name = one.net;
        add(format!("{name} gradient"), Some((format!("{:.0e}", one.difference), one.difference <= SAME)));
        add(format!("{name} faster"), Some((format!("{:.1}", faster(one)), faster(one) > 1.0)));
        let sooner =
            one.v1.points.last().and_then(|&(_, best)| Some(one.v1.seconds_to(best)? / one.v2.seconds_to(best)?));
        add(format!("{name} sooner"), sooner.map(|times| (format!("{times:.1}"), times > 1.0)));
        let [v1, direct, near, _] = &one.lines[..] else { anyhow::bail!("four lines are measured") };
        let slope_text =
            |slope: Option<f64>, holds: fn(f64) -> bool| slope.map(|slope| (format!("{slope:.3}"), holds(slope)));
        add(format!("{name} V1"), slope_text(v1.slope, |slope| slope >= QUADRATIC));
        add(format!("{name} V2"), slope_text(slope_at(direct, v1, sizes.scaling.documents), |slope| slope <= LINEAR));
        add(format!("{name} V2 long"), slope_text(direct.slope, |slope| slope <= LINEAR));
        add(format!("{name} near"), slope_text(near.slope, |slope| slope <= LINEAR));
    }
    let [linear, deep] = results else { anyhow::bail!("two nets are measured") };
    let more = faster(deep) / faster(linear);
    add("more".into(), Some((format!("{more:.2}"), more > 1.0)));
    let mut tables = vec![speeds(results)];
    for one in results {
        tables.push(scaling::table(&format!("Scaling, {} nets", one.net), &one.lines, sizes.scaling.documents));
    }
    let pairs = shape::pairs(training) as f64 / training.n_queries() as f64;
    Ok(Report {
        evidence,
        controls: vec![Control {
            description: "V1 and V2 have the same gradient up to rounding".into(),
            expected: format!("<= {SAME:.0e}"),
            ours: format!("{:.0e}", linear.difference.max(deep.difference)),
            holds: linear.difference.max(deep.difference) <= SAME,
        }],
        main: format!(
            "speed-up of V2 over V1: {:.1} with one layer, {:.1} with two",
            faster(linear),
            faster(deep)
        ),
        tables,
        notes: vec![
            "The paper's text says that V1 is close to quadratic and that \"V1 is close to linear\"; the latter must be \
             V2. The caption of its Figure 1 says that left and right are linear and two-layer nets; the text says web \
             data and artificial data."
                .into(),
            "The time of V2 has a part that grows with the number of documents and one that grows with the number of \
             pairs. Which one dominates depends on the cost of the net relative to the sum over pairs: the paper's slope \
             of 1.185 applies to its machine and net. The near-linear algorithm does not enumerate pairs; the top-10 \
             line omits pairs."
                .into(),
        ],
        protocol: protocol_text(sizes, training, pairs),
        deviations: deviations(scale),
        figure: draw(sizes, results)?,
        ..Report::default()
    })
}

fn speeds(results: &[NetTimes]) -> Table {
    let columns = ["net", "V1, seconds per epoch", "V2", "speed-up", "paper", "V1, best validation NDCG@10", "V2"];
    let mut table = Table::titled("RankNet, one update per query, the fastest of all epochs:", &columns);
    for (one, paper) in results.iter().zip(FASTER) {
        let best = |curve: &Curve| curve.points.last().map_or("-".into(), |point| format!("{:.4}", point.1));
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

fn draw(sizes: &Sizes, results: &[NetTimes]) -> anyhow::Result<Figure> {
    let powers = |range: std::ops::Range<i32>| {
        range.map(|power| (f64::from(power), format!("{}", 10_f64.powi(power)))).collect::<Vec<_>>()
    };
    let (mut curves, mut panels) = (vec![], vec![]);
    for (place, one) in results.iter().enumerate() {
        for (number, (name, curve)) in [("V1", &one.v1), ("V2", &one.v2)].into_iter().enumerate() {
            let points = curve.points.iter().map(|&(seconds, best)| (seconds.log10(), best));
            curves.push(Series::line(format!("{name}, {}", one.net), 2 * place + number, points));
        }
        let lines = one.lines.iter().enumerate().map(|(colour, line)| {
            let each = |&(n, seconds, _): &(usize, f64, usize)| {
                ((n as f64).log10(), (seconds / (sizes.scaling.documents / n) as f64).log10())
            };
            let slope = line.slope.map_or("-".into(), |slope| format!("{slope:.2}"));
            Series::line(format!("{}: slope {slope}", line.name), colour, line.points.iter().map(each))
        });
        panels.push(Panel {
            title: format!("{} nets (paper: V1 {}, V2 {})", one.net, PAPER[0], PAPER[1]),
            x_label: "documents of a query".into(),
            y_label: "seconds per query".into(),
            ticks: scaling::ticks(&one.lines),
            y_ticks: powers(-6..3),
            series: lines.collect(),
            ..Panel::default()
        });
    }
    let low = results.iter().map(|one| one.v2.epoch).fold(f64::INFINITY, f64::min).log10().floor() as i32;
    let high =
        results.iter().flat_map(|one| one.v1.points.last()).map(|point| point.0).fold(1e-9, f64::max).log10().ceil()
            as i32;
    let left = Panel {
        title: "One point per epoch".into(),
        x_label: "seconds of training".into(),
        y_label: "best validation NDCG@10 so far".into(),
        ticks: powers(low..high + 1),
        series: curves,
        ..Panel::default()
    };
    panels.insert(0, left);
    figure::draw(&panels)
}

fn protocol_text(sizes: &Sizes, training: &Dataset, pairs: f64) -> Vec<String> {
    let documents = training.n_documents() as f64 / training.n_queries() as f64;
    vec![
        format!(
            "Speed-up: {} training and {} validation queries, {documents:.1} documents and {pairs:.0} pairs of \
             different labels per query, {FEATURES} features of which eight are informative, five labels; \
             RankNet, linear nets and two-layer nets of ten sigmoid units, Adam with 0.001, {} epochs, one update per \
             query. V1 runs a forward and a backward pass for both documents of every pair, many pairs at once. V2 is \
             the library's training loop with a direct sum over pairs; its times include the evaluation of training \
             and validation queries, V1's do not.",
            sizes.queries[0], sizes.queries[1], sizes.epochs
        ),
        format!(
            "Scaling: {} documents in queries whose length doubles from {}, ten features. V1 is measured on as many \
             queries as fit in {} seconds, up to a query of {} seconds; the direct sum up to an epoch of {} seconds. \
             Slopes are least-squares fits of log time per query against log documents.",
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
        "The paper's web data is not available; artificial queries have the same number, length and features.".into(),
        "The paper measured V1 up to 512,000 documents per query; here V1 is limited by the time per query.".into(),
        "Times are of another machine and program: our V1 computes many pairs in one matrix product, the paper's did \
         not."
            .into(),
        "Training uses Adam; the paper used gradient descent. The gradients are the same.".into(),
    ];
    if scale == Scale::Quick {
        all.push("Quick: far fewer queries, and lists too short for meaningful slopes.".into());
    }
    all
}
