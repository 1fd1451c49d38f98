//! What became of the nets: tables, figure, and words.

use super::{Cell, EPSILON, FIRST, Found, SHAPES, Sizes, id};
use crate::harness::figure::{self, Legend, Panel, Series, Whose};
use crate::harness::{Control, Evidence, Execution, NetShape, Report, Scale, trainings};
use crate::optimality::moves::Moved;
use crate::optimality::setting::{MEASURES, Measure, common_deviations, data_words};
use crate::optimality::tuned::words;
use burnrank::analysis::optimality::{COARSE_STEPS, directions_needed};
use burnrank::internal::text::{Table, number};

fn of<'a>(runs: &'a [(&Cell, &Found)], shape: NetShape, measure: Measure) -> impl Iterator<Item = &'a Found> {
    runs.iter()
        .filter(move |(cell, _)| cell.shape == shape && cell.measure == measure && !cell.few)
        .map(|(_, found)| *found)
}

pub fn report(execution: &Execution<'_>, sizes: &Sizes, runs: &[(&Cell, &Found)]) -> anyhow::Result<Report> {
    let mut evidence = vec![];
    let share = |count: usize, of: usize| count as f64 / of as f64;
    for shape in SHAPES {
        for measure in MEASURES {
            let mut add = |kind: &str, value: &dyn Fn(&Found) -> f64| {
                let values: Vec<f64> = of(runs, shape, measure).map(value).collect();
                evidence.push((id(kind, shape, measure), Evidence::units(values)));
            };
            add("coarse", &|found| share(found.coarse.not_worse, found.coarse.directions));
            add("fine", &|found| share(found.fine.not_worse, found.fine.directions));
            add("strictly", &|found| share(found.fine.better, found.fine.directions));
            add("alone", &|found| share(found.alone_better, found.weights));
        }
    }
    let needed = directions_needed(EPSILON, EPSILON)?;
    evidence.push(("459".into(), Evidence::fact(needed == 459, needed.to_string())));
    let usual = runs.iter().filter(|(cell, _)| !cell.few);
    let optima = usual.clone().filter(|(_, found)| found.coarse.not_worse == 0).count();
    let randoms = runs.iter().filter(|(_, found)| found.random.better > 0).count();
    let control = Control {
        description:
            "random weights, where training starts, are no local optimum: some direction raises the measure (Figure 6)"
                .into(),
        expected: format!("{} of {}", runs.len(), runs.len()),
        ours: format!("{randoms} of {}", runs.len()),
        holds: randoms == runs.len(),
    };
    Ok(Report {
        evidence,
        controls: vec![control],
        main: format!(
            "no direction of {} keeps or raises the measure at steps of 0.1 to 1 for {optima} of {} nets",
            sizes.directions,
            usual.count()
        ),
        tables: vec![counts(runs), by_step(runs), values(runs), trainings(sizes, runs)],
        notes: vec![
            "The table of directions has both counts. The paper counts a direction when the measure after a step is at \
             least what it was; the strict count asks that it is higher. They differ where a step changes no ranking \
             at all."
                .into(),
            "What a step of 0.1 means depends on how long the vector of weights is: a linear net ranks alike when all \
             of its weights are multiplied by a number. Lengths are in the table of runs."
                .into(),
            "MRR: by Eq. 11 only pairs in the wrong order have a force. Each of them shortens the weights of a linear \
             net: an update along the forces has w . dw = sum of force x (score of the relevant document - score of \
             the other) < 0. So the weights stay as short as the step size of training allows, and a step of 0.1 is \
             long beside them. Their local optimum says less than that of the others."
                .into(),
            "A measure over queries is a staircase: between two steps of it nothing changes, and a step goes up or \
             down by chance. At small moves these chances are larger than the curvature of a maximum, whatever the \
             training; they shrink with more queries, as the lines for linear nets with fewer queries show."
                .into(),
            untrained(runs),
        ],
        protocol: protocol_text(sizes),
        deviations: deviations(execution.scale(), sizes),
        figure: figure::draw(&MEASURES.map(|measure| panel(runs, measure)))?,
        ..Report::default()
    })
}

/// Which nets are no better than the weights they began with.
fn untrained(runs: &[(&Cell, &Found)]) -> String {
    let none = runs.iter().filter(|(_, found)| found.coarse.value <= found.random.value);
    let names: Vec<String> = none.map(|(cell, _)| name(cell)).collect();
    let all = runs.len();
    if names.is_empty() {
        return format!("All {all} nets rank their training queries better than random weights do.");
    }
    format!(
        "{} of {all} nets rank their training queries no better after the last epoch than random weights do ({}): \
         training has led to no optimum there, and their directions say nothing about one.",
        names.len(),
        names.join("; ")
    )
}

/// A run, as tables call it.
fn name(cell: &Cell) -> String {
    let few = if cell.few { ", few queries" } else { "" };
    format!("{}, {}, {}{few}", cell.shape.name(), cell.measure.title, cell.function)
}

/// Directions of all functions, by both counts.
fn counts(runs: &[(&Cell, &Found)]) -> Table {
    let head = [
        "net, measure",
        "steps 0.1 to 1: not lower",
        "higher",
        "steps 0.001 to 0.01: not lower",
        "higher",
        "best validation epoch, 0.1 to 1: not lower",
        "higher",
        "random weights, 0.1 to 1: not lower",
        "higher",
        "single weights: some move keeps it",
        "raises it",
    ];
    let mut table = Table::titled(
        "Directions, and single weights, that do not lower the measure at every step, over all functions:",
        &head,
    );
    for shape in SHAPES {
        for measure in MEASURES {
            let sum = |count: &dyn Fn(&Found) -> usize| of(runs, shape, measure).map(count).sum::<usize>();
            let mut row = vec![format!("{}, {}", shape.name(), measure.title)];
            let sets: [fn(&Found) -> &Moved; 4] = [|f| &f.coarse, |f| &f.fine, |f| &f.chosen, |f| &f.random];
            for set in sets {
                let tried = sum(&|found| set(found).directions);
                row.push(format!("{} of {tried}", sum(&|found| set(found).not_worse)));
                row.push(sum(&|found| set(found).better).to_string());
            }
            let weights = sum(&|found| found.weights);
            row.push(format!("{} of {weights}", sum(&|found| found.alone_not_worse)));
            row.push(sum(&|found| found.alone_better).to_string());
            table.row(row);
        }
    }
    table
}

/// The highest change of all directions at each step, the worst of the functions.
fn by_step(runs: &[(&Cell, &Found)]) -> Table {
    let head: Vec<String> = ["net, measure".to_owned()]
        .into_iter()
        .chain(COARSE_STEPS.map(|step| format!("step {}", number(step))))
        .collect();
    let title = "The largest change of the measure over all directions and functions, by step: below 0, every \
                 direction lowers it (x 1000):";
    let mut table = Table::titled(title, &head);
    let row = |name: String, all: &[&Found]| {
        let highest =
            |step: usize| all.iter().map(|found| found.coarse.change[step][2]).fold(f64::NEG_INFINITY, f64::max);
        [name]
            .into_iter()
            .chain((0..COARSE_STEPS.len()).map(move |step| format!("{:+.2}", 1000.0 * highest(step))))
            .collect::<Vec<_>>()
    };
    for shape in SHAPES {
        for measure in MEASURES {
            table.row(row(
                format!("{}, {}", shape.name(), measure.title),
                &of(runs, shape, measure).collect::<Vec<_>>(),
            ));
        }
    }
    for (cell, found) in runs.iter().filter(|(cell, _)| cell.few) {
        table.row(row(format!("linear, {}, as few queries as two-layer nets", cell.measure.title), &[found]));
    }
    table
}

/// Each run: the measure on the training queries, and what the directions did to it.
fn values(runs: &[(&Cell, &Found)]) -> Table {
    let head = [
        "net, measure, function",
        "training value",
        "random weights",
        "length of weights",
        "highest change at 0.1",
        "directions not lower",
    ];
    let title = "Each run: the measure on the training queries, and what the directions did to it:";
    let mut table = Table::titled(title, &head);
    for (cell, found) in runs {
        table.row([
            name(cell),
            format!("{:.4}", found.coarse.value),
            format!("{:.4}", found.random.value),
            format!("{:.2}", found.length),
            format!("{:+.5}", found.coarse.change[0][2]),
            format!("{} of {}", found.coarse.not_worse, found.coarse.directions),
        ]);
    }
    table
}

fn trainings(sizes: &Sizes, runs: &[(&Cell, &Found)]) -> Table {
    let one = |(cell, found): &(&Cell, &Found)| {
        found.course.went(format!("{}, for {}", cell.shape.name(), cell.measure.title), &sizes.schedule)
    };
    trainings::table(&runs.iter().map(one).collect::<Vec<_>>())
}

/// The change of a measure by the step, its mean and extremes over all directions and functions.
fn panel(runs: &[(&Cell, &Found)], measure: Measure) -> Panel {
    type Line = fn(&Found) -> &Moved;
    let lines: [(&str, NetShape, Line); 4] = [
        ("learned, linear", NetShape::Linear, |found| &found.coarse),
        ("learned, two-layer", NetShape::TwoLayer, |found| &found.coarse),
        ("random, linear", NetShape::Linear, |found| &found.random),
        ("random, two-layer", NetShape::TwoLayer, |found| &found.random),
    ];
    let series = lines.iter().enumerate().map(|(colour, (name, shape, line))| {
        let all: Vec<&Moved> = of(runs, *shape, measure).map(line).collect();
        let point = |(place, &step): (usize, &f64)| {
            let column = |part: usize| all.iter().map(move |moved| moved.change[place][part]);
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
        title: format!("{} along random directions", measure.title),
        x_label: "step".into(),
        y_label: "mean change of the training value".into(),
        ticks: COARSE_STEPS.iter().map(|step| (*step, number(*step))).collect(),
        series: series.collect(),
        zero: Some(0.0),
        bars: "the lowest and highest of all directions and functions",
        legend: Legend::LowerRight,
        ..Panel::default()
    }
}

fn protocol_text(sizes: &Sizes) -> Vec<String> {
    let [[linear, linear_valid], [train, valid]] = sizes.queries;
    vec![
        format!(
            "Data: {} {} functions. Linear nets have {linear} training and {linear_valid} validation queries, \
             two-layer nets {train} and {valid}; for the first function there are linear nets with {train} and \
             {valid} too.",
            data_words(sizes.features),
            sizes.functions
        ),
        format!(
            "Training: LambdaRank with sigma 1, plain gradient descent, one update per query. {}",
            words(&sizes.schedule, "tenfold")
        ),
        format!(
            "Test: {} random directions on the unit sphere, ten steps of 0.1 to 1, of the weights after the last \
             epoch (of the start with the best validation value, where there were two): nothing chose that epoch. Ten \
             steps of 0.001 to 0.01 are tried along {FIRST} directions, and along all only when none of those counts; \
             so are the best validation epoch and random weights. A direction counts when at one step or more the \
             mean of the measure over all training queries is not lower than without a step. Then each weight is \
             moved alone.",
            sizes.directions
        ),
    ]
}

fn deviations(scale: Scale, sizes: &Sizes) -> Vec<String> {
    let [linear, two] = sizes.queries.map(|[train, _]| train);
    let mut all = common_deviations(scale);
    all.push(format!(
        "The paper's artificial set has 10,000 training and 5,000 validation queries. Ours have {linear} training \
         queries for linear nets and {two} for two-layer nets, which take longer; but there are several functions. \
         Fewer queries make the measure coarser, so that more directions rise by chance."
    ));
    all.push(
        "The paper's step sizes of training are 1e-7 to 1e-3. Where the best is at an end of them, the search goes on \
         beyond."
            .into(),
    );
    all
}
