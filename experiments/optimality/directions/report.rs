//! Report: tables and figures.

use super::{Cell, EPSILON, FIRST, NetResult, SHAPES, Sizes, id};
use crate::harness::figure::{self, Legend, Panel, Series, Whose};
use crate::harness::{Control, Evidence, Execution, NetShape, Report};
use crate::optimality::random_directions::DirectionCounts;
use crate::optimality::setting::{METRICS, PaperMetric, describe_data, deviations};
use crate::optimality::tuned::{describe, limits_table};
use burnrank::analysis::optimality::{COARSE_STEPS, directions_needed};
use burnrank::internal::text::{Table, number};

/// Results of all functions for a shape and a metric, with the usual number of queries.
fn of<'a>(
    runs: &'a [(&Cell, &NetResult)],
    shape: NetShape,
    metric: PaperMetric,
) -> impl Iterator<Item = &'a NetResult> {
    runs.iter()
        .filter(move |(cell, _)| cell.shape == shape && cell.metric == metric && !cell.few_queries)
        .map(|(_, result)| *result)
}

pub fn report(execution: &Execution<'_>, sizes: &Sizes, runs: &[(&Cell, &NetResult)]) -> anyhow::Result<Report> {
    let mut evidence = vec![];
    let share = |count: usize, of: usize| count as f64 / of as f64;
    for shape in SHAPES {
        for metric in METRICS {
            let mut add = |kind: &str, value: &dyn Fn(&NetResult) -> f64| {
                let values: Vec<f64> = of(runs, shape, metric).map(value).collect();
                evidence.push((id(kind, shape, metric), Evidence::units(values)));
            };
            add("coarse", &|result| share(result.coarse.not_worse, result.coarse.directions));
            add("fine", &|result| share(result.fine.not_worse, result.fine.directions));
            add("strictly", &|result| share(result.fine.better, result.fine.directions));
            add("alone", &|result| share(result.alone_better, result.weights));
        }
    }
    let needed = directions_needed(EPSILON, EPSILON)?;
    evidence.push(("459".into(), Evidence::fact(needed == 459, needed.to_string())));
    let usual = runs.iter().filter(|(cell, _)| !cell.few_queries);
    let optima = usual.clone().filter(|(_, result)| result.coarse.not_worse == 0).count();
    let randoms = runs.iter().filter(|(_, result)| result.random.better > 0).count();
    let control = Control {
        description: "initial random weights are not a local optimum: some direction raises the metric (Figure 6)"
            .into(),
        expected: format!("{} of {}", runs.len(), runs.len()),
        ours: format!("{randoms} of {}", runs.len()),
        holds: randoms == runs.len(),
    };
    Ok(Report {
        evidence,
        controls: vec![control],
        main: format!(
            "no direction of {} keeps or raises the metric at steps of 0.1 to 1 for {optima} of {} nets",
            sizes.directions,
            usual.count()
        ),
        tables: vec![
            counts(runs),
            by_step(runs),
            values(runs),
            limits_table(
                &sizes.schedule,
                runs.iter().map(|(cell, result)| {
                    (format!("{}, for {}", cell.shape.name(), cell.metric.title), &result.record)
                }),
            ),
        ],
        notes: vec![
            "The table of directions has both counts. The paper counts a direction if the metric after a step is at \
             least as high as before; the strict count requires a higher value. They differ where a step changes no \
             ranking."
                .into(),
            "The effect of a step of 0.1 depends on the norm of the weights: multiplying all weights of a linear net by \
             a constant does not change its rankings. The table of runs has the norms."
                .into(),
            "MRR: by Eq. 11 only pairs in the wrong order have a lambda. Each of them reduces the norm of a linear \
             net's weights: an update has w . dw = sum of lambda x (score of the relevant document - score of the \
             other) < 0. The norm stays as small as the learning rate allows, and a step of 0.1 is large in \
             comparison. Passing the test therefore says less for MRR than for the other metrics."
                .into(),
            "A ranking metric is piecewise constant, and each jump may go up or down. For small steps these random \
             jumps outweigh the curvature of a maximum, however long the training; they shrink with more queries, as \
             the rows for linear nets with fewer queries show."
                .into(),
            untrained(runs),
        ],
        protocol: protocol_text(sizes),
        deviations: deviations(
            execution.scale(),
            [
                {
                    let [linear, two_layer] = sizes.queries.map(|[train, _]| train);
                    format!(
                        "The paper's artificial set has 10,000 training and 5,000 validation queries. Ours have {linear} \
                         training queries for linear nets and {two_layer} for two-layer nets, which take longer, but \
                         there are several functions. With fewer queries the metric is coarser and more directions rise \
                         by chance."
                    )
                },
                "The paper's learning rates are 1e-7 to 1e-3. We extend this grid if the best is at an end.".into(),
            ],
        ),
        figure: figure::draw(&METRICS.map(|metric| panel(runs, metric)))?,
        ..Report::default()
    })
}

/// Describes the nets that are not better than random weights.
fn untrained(runs: &[(&Cell, &NetResult)]) -> String {
    let none = runs.iter().filter(|(_, result)| result.coarse.value <= result.random.value);
    let names: Vec<String> = none.map(|(cell, _)| name(cell)).collect();
    let all = runs.len();
    if names.is_empty() {
        return format!("All {all} nets rank their training queries better than random weights do.");
    }
    format!(
        "After the last epoch, {} of {all} nets do not rank their training queries better than random weights do ({}): \
         they did not reach an optimum, and their directions say nothing about one.",
        names.len(),
        names.join("; ")
    )
}

/// Name of a run in tables.
fn name(cell: &Cell) -> String {
    let few = if cell.few_queries { ", few queries" } else { "" };
    format!("{}, {}, {}{few}", cell.shape.name(), cell.metric.title, cell.function)
}

/// Directions of all functions, by both counts.
fn counts(runs: &[(&Cell, &NetResult)]) -> Table {
    let head = [
        "net, metric",
        "steps 0.1 to 1: not lower",
        "higher",
        "steps 0.001 to 0.01: not lower",
        "higher",
        "best validation epoch, 0.1 to 1: not lower",
        "higher",
        "random weights, 0.1 to 1: not lower",
        "higher",
        "single weights: not lower",
        "higher",
    ];
    let mut table = Table::titled(
        "Directions and single weights that do not lower the metric at every step, over all functions:",
        &head,
    );
    for shape in SHAPES {
        for metric in METRICS {
            let sum = |count: &dyn Fn(&NetResult) -> usize| of(runs, shape, metric).map(count).sum::<usize>();
            let mut row = vec![format!("{}, {}", shape.name(), metric.title)];
            let sets: [fn(&NetResult) -> &DirectionCounts; 4] =
                [|f| &f.coarse, |f| &f.fine, |f| &f.chosen, |f| &f.random];
            for set in sets {
                let tried = sum(&|result| set(result).directions);
                row.push(format!("{} of {tried}", sum(&|result| set(result).not_worse)));
                row.push(sum(&|result| set(result).better).to_string());
            }
            let weights = sum(&|result| result.weights);
            row.push(format!("{} of {weights}", sum(&|result| result.alone_not_worse)));
            row.push(sum(&|result| result.alone_better).to_string());
            table.row(row);
        }
    }
    table
}

/// Highest change at each step over all directions and functions.
fn by_step(runs: &[(&Cell, &NetResult)]) -> Table {
    let head: Vec<String> = ["net, metric".to_owned()]
        .into_iter()
        .chain(COARSE_STEPS.map(|step| format!("step {}", number(step))))
        .collect();
    let title = "Highest change of the metric over all directions and functions, by step (x 1000). Below 0, every \
                 direction lowers it:";
    let mut table = Table::titled(title, &head);
    let row = |name: String, all: &[&NetResult]| {
        let highest =
            |step: usize| all.iter().map(|result| result.coarse.change[step][2]).fold(f64::NEG_INFINITY, f64::max);
        [name]
            .into_iter()
            .chain((0..COARSE_STEPS.len()).map(move |step| format!("{:+.2}", 1000.0 * highest(step))))
            .collect::<Vec<_>>()
    };
    for shape in SHAPES {
        for metric in METRICS {
            table.row(row(format!("{}, {}", shape.name(), metric.title), &of(runs, shape, metric).collect::<Vec<_>>()));
        }
    }
    for (cell, result) in runs.iter().filter(|(cell, _)| cell.few_queries) {
        table.row(row(format!("linear, {}, as many queries as two-layer nets", cell.metric.title), &[result]));
    }
    table
}

/// Each run: the metric on the training queries, and its change along the directions.
fn values(runs: &[(&Cell, &NetResult)]) -> Table {
    let head = [
        "net, metric, function",
        "training value",
        "random weights",
        "norm of weights",
        "highest change at 0.1",
        "directions not lower",
    ];
    let title = "Each run: the metric on the training queries, and its change along the directions:";
    let mut table = Table::titled(title, &head);
    for (cell, result) in runs {
        table.row([
            name(cell),
            format!("{:.4}", result.coarse.value),
            format!("{:.4}", result.random.value),
            format!("{:.2}", result.length),
            format!("{:+.5}", result.coarse.change[0][2]),
            format!("{} of {}", result.coarse.not_worse, result.coarse.directions),
        ]);
    }
    table
}

/// Change of a metric by step: mean and extremes over all directions and functions.
fn panel(runs: &[(&Cell, &NetResult)], metric: PaperMetric) -> Panel {
    type Counts = fn(&NetResult) -> &DirectionCounts;
    let lines: [(&str, NetShape, Counts); 4] = [
        ("learned, linear", NetShape::Linear, |result| &result.coarse),
        ("learned, two-layer", NetShape::TwoLayer, |result| &result.coarse),
        ("random, linear", NetShape::Linear, |result| &result.random),
        ("random, two-layer", NetShape::TwoLayer, |result| &result.random),
    ];
    let series = lines.iter().enumerate().map(|(colour, (name, shape, counts))| {
        let all: Vec<&DirectionCounts> = of(runs, *shape, metric).map(counts).collect();
        let point = |(place, &step): (usize, &f64)| {
            let column = |part: usize| all.iter().map(move |counts| counts.change[place][part]);
            let (low, high) = (column(0).fold(f64::INFINITY, f64::min), column(2).fold(f64::NEG_INFINITY, f64::max));
            (step, column(1).sum::<f64>() / all.len() as f64, Some((low, high)))
        };
        Series {
            name: (*name).into(),
            whose: Whose::Ours,
            colour,
            joined: true,
            points: COARSE_STEPS.iter().enumerate().map(point).collect(),
        }
    });
    Panel {
        title: format!("{} along random directions", metric.title),
        x_label: "step".into(),
        y_label: "mean change of the training value".into(),
        ticks: COARSE_STEPS.iter().map(|step| (*step, number(*step))).collect(),
        series: series.collect(),
        zero: Some(0.0),
        bars: "lowest and highest of all directions and functions",
        legend: Legend::LowerRight,
        ..Panel::default()
    }
}

fn protocol_text(sizes: &Sizes) -> Vec<String> {
    let [[linear, linear_valid], [train, valid]] = sizes.queries;
    vec![
        format!(
            "Data: {} {} functions. Linear nets have {linear} training and {linear_valid} validation queries, \
             two-layer nets {train} and {valid}; for the first function there are also linear nets with {train} and \
             {valid}.",
            describe_data(sizes.features),
            sizes.functions
        ),
        format!(
            "Training: LambdaRank with sigma 1, plain gradient descent, one update per query. {}",
            describe(&sizes.schedule, "tenfold")
        ),
        format!(
            "Test: {} random directions on the unit sphere, ten steps of 0.1 to 1, from the weights after the last \
             epoch (of the start with the best validation value, if there were two); this epoch is not selected. Ten \
             steps of 0.001 to 0.01 are tried along {FIRST} directions, and along all only if none of these counts; \
             the same holds for the best validation epoch and for random weights. A direction counts if at least one \
             step does not lower the mean of the metric over all training queries. Then each weight is changed \
             alone.",
            sizes.directions
        ),
    ]
}
