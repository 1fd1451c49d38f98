//! Report: tables and figures.

use super::{FIRST, NetResult, Results, SHAPES, Sizes, tested};
use crate::harness::figure::{self, Legend, Panel, Series, Whose};
use crate::harness::{Control, Execution, NetShape, Report, evidence};
use crate::optimality::random_directions::{DECIDING, Directions, RELATIVE, step_name};
use crate::optimality::setting::{TRAININGS, TWO_FORMS, Training, describe_data, deviations};
use crate::optimality::tuned::{describe, limits_table};
use burnrank::internal::text::{Table, number};

pub fn report(execution: &Execution<'_>, sizes: &Sizes, runs: &Results) -> anyhow::Result<Report> {
    let usual = || runs.iter().filter(|(cell, _)| !cell.few_queries && TRAININGS.contains(&cell.training));
    let optima = usual().filter(|(_, net)| net.relative.at(Some(DECIDING)).not_worse == 0).count();
    let [[linear_queries, valid], [few, few_valid]] = [sizes.queries, sizes.few_queries];
    Ok(Report {
        evidence: evidence(&tested(execution.scale()), runs),
        controls: controls(runs),
        main: format!(
            "no direction of {} keeps or raises the metric at a step of 10% of |w| for {optima} of {} nets",
            sizes.directions,
            usual().count()
        ),
        tables: vec![
            by_step(runs),
            power(runs),
            scaled(runs),
            values(runs),
            limits_table(
                &sizes.schedule,
                runs.iter().map(|(cell, net)| (format!("{}, for {}", cell.shape.name(), cell.training.title), &net.record)),
            ),
        ],
        notes: vec![
            "What the test can say: with 99% confidence fewer than 1% of all directions improve the metric at these \
             steps. It cannot say that no direction does, and a net that fails it is only known to have a better \
             neighbour. All 459 directions start from the same value A(w), so they are not 459 independent trials of \
             it: if A(w) is high by chance, all directions look worse."
                .into(),
            "Expected power: near a maximum with about the same curvature in all directions, a step of length s improves \
             weights at distance d from it only if the direction's cosine with the way back is above s / (2 d). The \
             cosines of random directions have standard deviation 1 / sqrt(n) for n weights, and the largest of 459 is \
             about 3 / sqrt(n). So the test detects only distances above about s sqrt(n) / 6: 3 steps for 300 weights, 9 \
             steps for 3,020."
                .into(),
            "A ranking metric is piecewise constant, and each jump may go up or down. For small steps these random \
             jumps outweigh the curvature of a maximum, however long the training; they shrink with more queries, as \
             the rows for linear nets with fewer queries show."
                .into(),
            TWO_FORMS.into(),
            untrained(runs),
        ],
        protocol: vec![
            format!(
                "Data: {} {} functions, each with {linear_queries} training and {valid} validation queries; for the first \
                 function there are also linear nets with {few} and {few_valid}.",
                describe_data(sizes.features),
                sizes.functions
            ),
            format!(
                "Training: LambdaRank with sigma 1, plain gradient descent, one update per query. {}",
                describe(&sizes.schedule, "tenfold")
            ),
            format!(
                "Test: {} random directions on the unit sphere from the weights after the last epoch (of the start with \
                 the best validation value, if there were two); this epoch is not selected. Steps are 2, 5, 10 and 20% of \
                 |w|. Distances (ten of 0.1 to 1, ten of 0.001 to 0.01) and random weights are tried along {} directions. A \
                 direction counts if a step does not lower the mean of the metric over all training queries. Then each \
                 weight of linear nets is changed alone by 10% of |w| up and down.",
                sizes.directions, sizes.first
            ),
            format!(
                "Power: for NDCG on the first function, the same test at weights of early epochs, and at the last weights \
                 after a move in one random direction; {} directions first, and all only if none of these counts. The \
                 gradient is LambdaRank's, mean over all training queries.",
                sizes.first
            ),
        ],
        deviations: deviations(
            execution.scale(),
            [
                "The paper does not state the unit of its steps 0.1 to 1 or the norm of its weights. Ours are shares of \
                 |w|; for a linear net A(c w) = A(w), so a distance means nothing without |w|. For two-layer nets a \
                 share of |w| still depends on the scale of the features, because the layers have different units."
                    .into(),
                format!("The paper has 5,000 validation queries, which only choose the learning rate; ours are {valid}."),
                "The paper's learning rates are 1e-7 to 1e-3. We extend this grid if the best is at an end. Training ends \
                 when the learning rate is a hundredth of the initial one; the paper has 700 epochs."
                    .into(),
                format!("Distances are tried along {FIRST} directions."),
            ],
        ),
        figure: figure::draw(&TRAININGS.map(|training| panel(runs, training)))?,
        ..Report::default()
    })
}

/// Controls: random weights fail the test, and relative steps do not depend on the unit of the features.
fn controls(runs: &Results) -> Vec<Control> {
    let all = runs.iter().count();
    let randoms = runs.iter().filter(|(_, net)| net.random.any.better > 0).count();
    let counts: Vec<Vec<usize>> = runs
        .iter()
        .flat_map(|(_, net)| &net.scaled)
        .map(|at| at.relative.steps.iter().map(|step| step.counts.not_worse).collect())
        .collect();
    vec![
        Control {
            description: "random weights are not a local optimum: some direction raises the metric (Figure 6)".into(),
            expected: format!("{all} of {all}"),
            ours: format!("{randoms} of {all}"),
            holds: randoms == all,
        },
        Control {
            description:
                "linear net for NDCG: the counts at relative steps do not change when the features are multiplied \
                          by a number"
                    .into(),
            expected: "equal".into(),
            ours: format!("{counts:?}"),
            holds: counts.windows(2).all(|two| two[0] == two[1]),
        },
    ]
}

/// Describes the nets that are not better than random weights.
fn untrained(runs: &Results) -> String {
    let none = runs.iter().filter(|(_, net)| net.relative.value <= net.random.value);
    let names: Vec<String> = none.map(|(cell, _)| cell.name()).collect();
    match names.is_empty() {
        true => "All nets rank their training queries better than random weights do.".into(),
        false => format!(
            "After the last epoch, {} nets do not rank their training queries better than random weights do ({}): they did \
             not reach an optimum, and their directions say nothing about one.",
            names.len(),
            names.join("; ")
        ),
    }
}

impl super::Cell {
    /// Name of a run in tables.
    fn name(&self) -> String {
        let few = if self.few_queries { ", few queries" } else { "" };
        format!("{}, {}, {}{few}", self.shape.name(), self.training.title, self.function)
    }
}

/// Directions of each net, by step.
fn by_step(runs: &Results) -> Table {
    let steps = RELATIVE.lengths.iter().map(|step| step_name(*step, true));
    let head: Vec<String> = ["net, metric, function".to_owned(), "norm of weights".to_owned()]
        .into_iter()
        .chain(steps)
        .chain(
            ["0.1 to 1", "0.001 to 0.01", "random weights, 2 to 20% of |w|", "single weights, ±10%"].map(str::to_owned),
        )
        .collect();
    let title = "Directions that do not lower the metric, by length of the step:";
    let mut table = Table::titled(title, &head);
    for (cell, net) in runs.iter() {
        let mut row = vec![cell.name(), format!("{:.3}", net.relative.length)];
        row.extend(RELATIVE.lengths.iter().map(|step| net.relative.text(Some(*step))));
        row.extend([&net.coarse, &net.fine, &net.random].map(|set: &Directions| set.text(None)));
        row.push(net.alone.map_or("-".into(), |[up, of]| format!("{up} of {of} raise it")));
        table.row(row);
    }
    table
}

/// The power control.
fn power(runs: &Results) -> Table {
    let head = [
        "weights",
        "distance from the last ones / |w|",
        "training NDCG",
        "gradient / that of random weights",
        "2% of |w|: not lower",
        "10% of |w|: not lower",
    ];
    let title = "Power control, nets for NDCG of the first function: directions that do not lower NDCG at weights that are no \
                 optimum. The test detects this if the count is not 0:";
    let mut table = Table::titled(title, &head);
    for (cell, net) in runs.iter() {
        let first = net.power.first().map_or(1.0, |point| point.gradient);
        for point in &net.power {
            table.row([
                format!("{}: {}", cell.shape.name(), point.name),
                format!("{:.2}", point.distance),
                format!("{:.4}", point.directions.value),
                format!("{:.4}", point.gradient / first),
                point.directions.text(Some(0.02)),
                point.directions.text(Some(DECIDING)),
            ]);
        }
    }
    table
}

/// The same linear net on features in another unit.
fn scaled(runs: &Results) -> Table {
    let head =
        ["features times", "norm of weights", "training NDCG", "distance 0.1: not lower", "10% of |w|: not lower"];
    let title = "The unit of a step: the same linear net with the same scores, on features multiplied by a number:";
    let mut table = Table::titled(title, &head);
    for at in runs.iter().flat_map(|(_, net)| &net.scaled) {
        table.row([
            number(f64::from(at.factor)),
            format!("{:.3}", at.relative.length),
            format!("{:.4}", at.relative.value),
            at.absolute.text(None),
            at.relative.text(Some(DECIDING)),
        ]);
    }
    table
}

/// Each run: the metric on the training queries, and its highest change by step.
fn values(runs: &Results) -> Table {
    let steps = RELATIVE.lengths.iter().map(|step| format!("highest change, {}", step_name(*step, true)));
    let head: Vec<String> = ["net, metric, function", "training value", "random weights"]
        .map(str::to_owned)
        .into_iter()
        .chain(steps)
        .collect();
    let title = "Each run: the metric on the training queries, and its highest change along the directions (x 1000). Below 0, \
                 every direction lowers it:";
    let mut table = Table::titled(title, &head);
    for (cell, net) in runs.iter() {
        let mut row = vec![cell.name(), format!("{:.4}", net.relative.value), format!("{:.4}", net.random.value)];
        row.extend(net.relative.steps.iter().map(|at| format!("{:+.2}", 1000.0 * at.change[2])));
        table.row(row);
    }
    table
}

/// Change of a metric by step: mean and extremes over all directions and functions.
fn panel(runs: &Results, training: Training) -> Panel {
    type Line = (&'static str, NetShape, fn(&NetResult) -> &Directions);
    let [linear, two_layer] = SHAPES;
    let lines: [Line; 4] = [
        ("learned, linear", linear, |net| &net.relative),
        ("learned, two-layer", two_layer, |net| &net.relative),
        ("random, linear", linear, |net| &net.random),
        ("random, two-layer", two_layer, |net| &net.random),
    ];
    let series = lines.iter().enumerate().map(|(colour, (name, shape, directions))| {
        let all: Vec<&Directions> = runs.results(|cell| cell.is(*shape, training)).map(directions).collect();
        let point = |(place, step): (usize, &f64)| {
            let column = |part: usize| all.iter().map(move |directions| directions.steps[place].change[part]);
            let (low, high) = (column(0).fold(f64::INFINITY, f64::min), column(2).fold(f64::NEG_INFINITY, f64::max));
            (100.0 * step, column(1).sum::<f64>() / all.len() as f64, Some((low, high)))
        };
        let points = RELATIVE.lengths.iter().enumerate().map(point).collect();
        Series { name: (*name).into(), whose: Whose::Ours, colour, joined: true, points }
    });
    Panel {
        title: format!("{} along random directions", training.title),
        x_label: "step, percent of |w|".into(),
        y_label: "mean change of the training value".into(),
        ticks: RELATIVE.lengths.iter().map(|step| (100.0 * step, number(100.0 * step))).collect(),
        series: series.collect(),
        zero: Some(0.0),
        bars: "lowest and highest of all directions and functions",
        legend: Legend::LowerRight,
        ..Panel::default()
    }
}
