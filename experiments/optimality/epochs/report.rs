//! Report: tables and figures.

use super::{Continuation, FunctionResult, Results, STARTS, Sizes, gain, tested};
use crate::harness::figure::{self, Legend, Panel, Point, Series, Whose};
use crate::harness::{Control, Execution, Report, evidence};
use crate::optimality::random_directions::{DECIDING, Directions, RELATIVE, step_name};
use crate::optimality::setting::{TWO_FORMS, describe_data, deviations, mean_point};
use crate::optimality::tuned::{describe, grid};
use burnrank::internal::text::{Table, number};

pub fn report(execution: &Execution<'_>, sizes: &Sizes, runs: &Results) -> anyhow::Result<Report> {
    let all = runs.iter().count();
    let randoms = runs.results(|_| true).filter(|function| function.random.any.better > 0).count();
    let optima = |place: usize| {
        let optimum = |function: &&FunctionResult| function.starts[place].optimum.at(Some(DECIDING)).not_worse == 0;
        runs.results(|_| true).filter(optimum).count()
    };
    let counts: Vec<String> =
        STARTS.iter().enumerate().map(|(place, name)| format!("{name} {} of {all}", optima(place))).collect();
    Ok(Report {
        evidence: evidence(&tested(execution.scale()), runs),
        controls: vec![Control {
            description: "random weights are not a local optimum: some direction raises NDCG@10".into(),
            expected: format!("{all} of {all}"),
            ours: format!("{randoms} of {all}"),
            holds: randoms == all,
        }],
        main: format!("local optima of NDCG@10 at steps of 10% of |w|: {}", counts.join(", ")),
        tables: vec![directions(runs), gains(sizes, runs), learning_rates(runs)],
        notes: vec![
            "Full-batch training does not depend on the order of queries and draws no random numbers, so it is not \
             stochastic; the paper speaks of \"the stochasticity of the batch LambdaRank learning (both full batch and \
             batch per query)\". We test whether updates per query reach higher values than updates per epoch in the \
             same number of epochs. They are also more updates, so a difference does not show that stochasticity is \
             the reason."
                .into(),
            "Random directions say little about the direction of training: with many weights, most directions lower the \
             metric although one raises it. Training that improves from a point that passed the test shows that the \
             test does not exclude better neighbours. The power control of optimality-directions says how far they may be."
                .into(),
            TWO_FORMS.into(),
        ],
        protocol: vec![
            format!(
                "Data: {} For each of {} functions: {} training and {} validation queries.",
                describe_data(sizes.features),
                sizes.functions,
                sizes.queries[0],
                sizes.queries[1]
            ),
            format!(
                "Training: two-layer nets of ten hidden units, LambdaRank with sigma 1, plain gradient descent, one \
                 update per query. {} The weights learned for MRR are those of the last epoch. With one update per \
                 epoch, the grid of learning rates is {}.",
                describe(&sizes.schedule, "tenfold"),
                grid(&sizes.full)
            ),
            format!(
                "Test: {} random directions on the unit sphere, steps of 2, 5, 10 and 20% of |w|, NDCG@10 of all training \
                 queries. Then further training for NDCG@10: {} epochs with the chosen learning rate and a new order of \
                 queries, and the same with one update per epoch.",
                sizes.directions, sizes.further
            ),
        ],
        deviations: deviations(
            execution.scale(),
            [format!(
                "The paper reports one run on its 10K web data. Here there are {} random functions with {} training \
                 queries each.",
                sizes.functions, sizes.queries[0]
            )],
        ),
        figure: figure::draw(&[0, 1, 2].map(|start| panel(sizes, runs, start)))?,
        ..Report::default()
    })
}

/// Directions of each net, by step.
fn directions(runs: &Results) -> Table {
    let steps = RELATIVE.lengths.iter().map(|step| step_name(*step, true));
    let head: Vec<String> =
        ["weights, function", "norm of weights"].map(str::to_owned).into_iter().chain(steps).collect();
    let title = "Directions that do not lower training NDCG@10, by length of the step:";
    let mut table = Table::titled(title, &head);
    let row = |name: String, directions: &Directions| {
        let counts = RELATIVE.lengths.iter().map(|step| directions.text(Some(*step)));
        [name, format!("{:.3}", directions.length)].into_iter().chain(counts).collect::<Vec<_>>()
    };
    for (place, name) in STARTS.iter().enumerate() {
        for (function, result) in runs.iter() {
            table.row(row(format!("{name}, {function}"), &result.starts[place].optimum));
        }
    }
    for (function, result) in runs.iter() {
        table.row(row(format!("random weights, {function}"), &result.random));
    }
    table
}

fn gains(sizes: &Sizes, runs: &Results) -> Table {
    let later = format!("after {}", sizes.further);
    let full = format!("{later}, one update per epoch");
    let head = ["start", "training NDCG@10", "after 1 epoch, per query", later.as_str(), full.as_str()];
    let mut table = Table::titled("Further training for NDCG@10, means over functions:", &head);
    for (place, name) in STARTS.into_iter().enumerate() {
        let average = |value: &dyn Fn(&Continuation) -> f64| runs.mean(|_| true, |result| value(&result.starts[place]));
        table.row([
            name.to_owned(),
            format!("{:.4}", average(&|from| from.per_query[0])),
            format!("{:+.4}", average(&|from| gain(&from.per_query, 1))),
            format!("{:+.4}", average(&|from| gain(&from.per_query, usize::MAX))),
            format!("{:+.4}", average(&|from| gain(&from.full_batch, usize::MAX))),
        ]);
    }
    table
}

/// Chosen learning rates of each function.
fn learning_rates(runs: &Results) -> Table {
    let head = ["function", "for NDCG@10", "for MRR", "for MRR (Eq. 11)", "for NDCG@10, one update per epoch"];
    let mut table = Table::titled("Learning rates chosen on validation queries:", &head);
    for (function, result) in runs.iter() {
        let chosen = result.tuned.iter().map(|tuned| {
            format!("{}{}", number(tuned.best), if tuned.at_edge { " (at the end of the grid)" } else { "" })
        });
        table.row([function.to_string()].into_iter().chain(chosen).collect::<Vec<_>>());
    }
    table
}

/// Training NDCG@10 after further epochs, with both kinds of updates.
fn panel(sizes: &Sizes, runs: &Results, start: usize) -> Panel {
    type Values = fn(&Continuation) -> &Vec<f64>;
    let ways: [(&str, Values); 2] =
        [("one update per query", |from| &from.per_query), ("one per epoch", |from| &from.full_batch)];
    let series = ways.iter().enumerate().map(|(colour, (name, way))| {
        let point = |epoch: usize| -> Option<Point> {
            let all = runs.results(|_| true).map(|result| way(&result.starts[start]));
            let values: Vec<f64> =
                all.filter(|values| values.len() > epoch).map(|values| gain(values, epoch)).collect();
            (values.len() > 1).then(|| mean_point(epoch as f64, &values, 1.0))
        };
        let points = (0..=sizes.further).filter_map(point).collect();
        Series { name: (*name).into(), whose: Whose::Ours, colour, joined: true, points }
    });
    let step = (sizes.further / 6).max(1);
    Panel {
        title: format!("Training from {}", STARTS[start].replace("learned", "weights learned")),
        x_label: "further epochs".into(),
        y_label: "change of training NDCG@10".into(),
        ticks: (0..=sizes.further).step_by(step).map(|epoch| (epoch as f64, epoch.to_string())).collect(),
        series: series.collect(),
        zero: Some(0.0),
        legend: Legend::LowerRight,
        ..Panel::default()
    }
}
