//! The scaling figure: time of one epoch against documents per query, as in the LambdaRank paper's Figure 1.

use super::epoch;
use super::shape;
use super::timing::{Patience, slope};
use super::v1::EveryPair;
use crate::harness::NetShape;
use crate::harness::figure::{self, Figure, Legend, Panel, Series, Whose};
use anyhow::Context;
use burnrank::internal::text::{Table, three_digits};
use burnrank::objective::{PairAlgorithm, PairLoss};
use burnrank::{Dataset, Device, GradientPath, Objective, TrainConfig};
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// Few features, so that the largest of the data sets is small beside its pairs.
const FEATURES: usize = 10;
/// A batch has as many queries as fit into so many documents, and at least one.
const BATCH_DOCUMENTS: usize = 64_000;
/// V1 of the paper's Figure 1, and V2.
pub const PAPER: [f64; 2] = [1.943, 1.185];

/// Sizes of the figure.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub documents: usize,
    /// Documents of a query, at first; doubled from point to point.
    pub first: usize,
    /// V1 ends before a query that would take longer.
    pub bearable: f64,
    /// The direct sum over pairs ends before an epoch that would take longer.
    pub direct: f64,
    /// V1 takes as many queries as it can in this time.
    pub sample: f64,
    pub patience: Patience,
}

/// One line of the figure.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    pub name: &'static str,
    /// Documents per query, seconds per epoch, and how many queries were measured.
    pub points: Vec<(usize, f64, usize)>,
    /// Of the time for one query against its documents, as in the paper; that of the epoch is one less, because the number
    /// of documents of an epoch is fixed here.
    pub slope: Option<f64>,
}

/// What is trained.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    pub objective: &'static str,
    /// The same, of the top documents only.
    pub truncated: &'static str,
    pub net: NetShape,
}

/// The lines: V1; V2 as in the paper, which adds up every pair; V2 without a look at every pair; V2 of the top.
pub const LINES: [&str; 4] =
    ["V1, every pair propagated", "V2, every pair added up", "V2, near-linear", "V2, top 10 only"];

/// Measures all lines.
pub fn measure(sizes: Sizes, subject: Subject, seed: u64, device: &Device) -> anyhow::Result<Vec<Line>> {
    let mut lines = [vec![], vec![], vec![], vec![]];
    // What the next point of a line will take: V1 for a query, the direct sum for an epoch.
    let mut next = [0.0_f64; 2];
    let mut length = sizes.first;
    while length <= sizes.documents {
        let queries = sizes.documents / length;
        let data = shape::dataset(&vec![length; queries], FEATURES, seed)?;
        eprintln!("scaling, {} {}: {queries} queries of {length} documents", subject.net.name(), subject.objective);
        if next[0] < sizes.bearable {
            let (seconds, measured) = every_pair(&data, subject, seed, device, sizes.sample)?;
            // Twice the documents, four times the pairs.
            next[0] = 4.0 * seconds;
            lines[0].push((length, seconds * queries as f64, measured));
        }
        for (line, method) in [(1, PairAlgorithm::Direct), (2, PairAlgorithm::Fast), (3, PairAlgorithm::Auto)] {
            if line == 1 && next[1] > sizes.direct {
                continue;
            }
            let batch = (BATCH_DOCUMENTS / length).max(1);
            let name = if line == 3 { subject.truncated } else { subject.objective };
            let config = epoch::config(name, subject.net, GradientPath::Lambda, batch, seed)?;
            let config = TrainConfig { objective: by(&config.objective, method)?, ..config };
            let found = epoch::measure(config, &data, device, sizes.patience)?;
            if line == 1 {
                next[1] = 2.0 * found.timing.seconds;
            }
            lines[line].push((length, found.timing.seconds, queries));
        }
        length *= 2;
    }
    let line = |(points, name): (Vec<(usize, f64, usize)>, _)| {
        let queries = |length: usize| (sizes.documents / length) as f64;
        let each: Vec<(f64, f64)> = points.iter().map(|&(n, seconds, _)| (n as f64, seconds / queries(n))).collect();
        Line { name, slope: slope(&each), points }
    };
    Ok(lines.into_iter().zip(LINES).map(line).collect())
}

/// The same objective, whose sums over pairs are computed in a given way.
pub fn by(objective: &Objective, method: PairAlgorithm) -> anyhow::Result<Objective> {
    let pairs = objective.loss().as_pairs().context("no sum over pairs")?.clone();
    Ok(Objective::of(Arc::new(PairLoss { method, ..pairs })))
}

/// The mean seconds of V1 for a query, and how many queries that is from.
fn every_pair(
    data: &Dataset,
    subject: Subject,
    seed: u64,
    device: &Device,
    sample: f64,
) -> anyhow::Result<(f64, usize)> {
    let mut net = EveryPair::new(subject.objective, subject.net, data.n_features(), seed, device)?;
    let (start, mut measured) = (Instant::now(), 0);
    while measured < data.n_queries() && (measured == 0 || start.elapsed().as_secs_f64() < sample) {
        net.step(data.query(measured))?;
        measured += 1;
    }
    Ok((start.elapsed().as_secs_f64() / measured.max(1) as f64, measured))
}

/// The numbers of the figure.
pub fn table(what: &str, lines: &[Line], documents: usize) -> Table {
    let mut columns = vec!["documents per query"];
    columns.extend(lines.iter().map(|line| line.name));
    let title =
        format!("{what}: seconds per epoch of {documents} documents, {FEATURES} features, by documents per query:");
    let mut table = Table::titled(title, &columns);
    let lengths = lines.iter().map(|line| line.points.as_slice()).max_by_key(|points| points.len()).unwrap_or_default();
    for &(length, ..) in lengths {
        let mut row = vec![length.to_string()];
        for line in lines {
            let point = line.points.iter().find(|point| point.0 == length);
            row.push(point.map_or("-".into(), |&(_, seconds, queries)| match queries < documents / length {
                true => format!("{} (from {queries} queries)", three_digits(seconds)),
                false => three_digits(seconds),
            }));
        }
        table.row(row);
    }
    let mut slopes = vec!["slope of seconds per query".to_owned()];
    slopes.extend(lines.iter().map(|line| line.slope.map_or("-".into(), |slope| format!("{slope:.3}"))));
    table.row(slopes);
    table
}

/// Marks of a logarithmic axis of lengths.
pub fn ticks(lines: &[Line]) -> Vec<(f64, String)> {
    let lengths: Vec<usize> = lines.iter().flat_map(|line| &line.points).map(|point| point.0).collect();
    let (low, high) = (lengths.iter().min().copied().unwrap_or(1), lengths.iter().max().copied().unwrap_or(1));
    let doubled = std::iter::successors(Some(low), |length| Some(2 * length)).take_while(|&length| length <= high);
    // Every third power of two, so that names do not run into each other.
    let name = |place: usize, n: usize| if place.is_multiple_of(3) { n.to_string() } else { String::new() };
    doubled.enumerate().map(|(place, n)| ((n as f64).log10(), name(place, n))).collect()
}

/// Time of an epoch, and of a query, both axes logarithmic.
pub fn draw(lines: &[Line], documents: usize) -> anyhow::Result<Figure> {
    let ticks = ticks(lines);
    let powers = (-7..5).map(|power| (f64::from(power), format!("{}", 10_f64.powi(power)))).collect::<Vec<_>>();
    let panel = |title: &str, y_label: &str, legend, minus: f64, of: fn(f64, f64) -> f64| {
        let series = lines.iter().enumerate().map(|(colour, line)| {
            let slope = line.slope.map_or("-".into(), |slope| format!("{:.2}", slope - minus));
            let point = |&(n, seconds, _): &(usize, f64, usize)| {
                let queries = (documents / n) as f64;
                ((n as f64).log10(), of(seconds, queries).log10(), None)
            };
            Series {
                name: format!("{}: slope {slope}", line.name),
                whose: Whose::Ours,
                colour,
                joined: true,
                points: line.points.iter().map(point).collect(),
            }
        });
        Panel {
            title: title.into(),
            x_label: "documents per query".into(),
            y_label: y_label.into(),
            ticks: ticks.clone(),
            y_ticks: powers.clone(),
            series: series.collect(),
            legend,
            ..Panel::default()
        }
    };
    let query = format!("One query (slopes in the paper: V1 {}, V2 {})", PAPER[0], PAPER[1]);
    let title = format!("One epoch of {documents} documents");
    figure::draw(&[
        panel(&title, "seconds per epoch", Legend::MiddleRight, 1.0, |seconds, _| seconds),
        panel(&query, "seconds per query", Legend::LowerRight, 0.0, |seconds, queries| seconds / queries),
    ])
}
