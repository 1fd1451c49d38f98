//! Report: tables and figures.

use super::{Continuation, FULL_RATES, FunctionResult, STARTS, Sizes};
use crate::harness::figure::{self, Legend, Panel, Point, Series, Whose};
use crate::harness::units::mean;
use crate::harness::{Control, Evidence, Execution, Report};
use crate::optimality::random_directions::DirectionCounts;
use crate::optimality::setting::{describe_data, deviations, mean_point};
use crate::optimality::tuned::describe;
use burnrank::internal::text::{Table, number};

/// Change after a number of epochs, or after the last epoch if there are fewer.
fn gain(values: &[f64], epochs: usize) -> f64 {
    values[epochs.min(values.len() - 1)] - values[0]
}

pub fn report(execution: &Execution<'_>, sizes: &Sizes, results: &[FunctionResult]) -> anyhow::Result<Report> {
    let mut evidence = vec![];
    for (number, name) in STARTS.into_iter().enumerate() {
        let each = |value: &dyn Fn(&Continuation) -> f64| {
            Evidence::units(results.iter().map(|result| value(&result.starts[number])))
        };
        let optimum = |from: &Continuation| from.optimum.not_worse as f64 / from.optimum.directions as f64;
        evidence.push((format!("optimum {name}"), each(&optimum)));
        evidence.push((format!("at once {name}"), each(&|from| gain(&from.per_query, 1))));
        evidence.push((format!("later {name}"), each(&|from| gain(&from.per_query, sizes.further))));
        evidence.push((format!("full {name}"), each(&|from| gain(&from.full_batch, sizes.further))));
        let stochastic =
            |from: &Continuation| gain(&from.per_query, sizes.further) - gain(&from.full_batch, sizes.further);
        evidence.push((format!("stochastic {name}"), each(&stochastic)));
    }
    let randoms = results.iter().filter(|result| result.random.better > 0).count();
    let optima = |number: usize| results.iter().filter(|result| result.starts[number].optimum.not_worse == 0).count();
    let counts: Vec<String> = STARTS
        .iter()
        .enumerate()
        .map(|(number, name)| format!("{name} {} of {}", optima(number), results.len()))
        .collect();
    Ok(Report {
        evidence,
        controls: vec![Control {
            description: "random weights are not a local optimum: some direction raises NDCG@10".into(),
            expected: format!("{} of {}", results.len(), results.len()),
            ours: format!("{randoms} of {}", results.len()),
            holds: randoms == results.len(),
        }],
        main: format!("local optima of NDCG@10: {}", counts.join(", ")),
        tables: vec![table(sizes, results), trainings(sizes, results)],
        notes: vec![
            "Full-batch training does not depend on the order of queries and draws no random numbers, so it is not \
             stochastic; the paper speaks of \"the stochasticity of the batch LambdaRank learning (both full batch and \
             batch per query)\". We test whether updates per query reach higher values than updates per epoch in the \
             same number of epochs. They are also more updates, so a difference does not show that stochasticity is \
             the reason."
                .into(),
            "Random directions say little about the direction of training: with many weights, most directions lower the \
             metric although one raises it. Training that improves from a point that passed the test shows that the \
             test does not exclude better neighbours."
                .into(),
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
                describe(&sizes.schedule, "threefold"),
                FULL_RATES.map(number).join(", ")
            ),
            format!(
                "Test: {} random directions on the unit sphere, ten steps of 0.1 to 1, NDCG@10 of all training \
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
        figure: figure::draw(&[panel(sizes, results, 0), panel(sizes, results, 1), panel(sizes, results, 2)])?,
        ..Report::default()
    })
}

fn table(sizes: &Sizes, results: &[FunctionResult]) -> Table {
    let (later, full) = (format!("after {}", sizes.further), format!("after {}, one update per epoch", sizes.further));
    let head = [
        "start",
        "directions not lower",
        "higher",
        "highest change at 0.1",
        "training NDCG@10",
        "after 1 epoch, per query",
        later.as_str(),
        full.as_str(),
    ];
    let mut table =
        Table::titled("Each start: number of directions over all functions, and means over functions:", &head);
    for (number, name) in STARTS.into_iter().enumerate() {
        let own: Vec<&Continuation> = results.iter().map(|result| &result.starts[number]).collect();
        let average =
            |value: &dyn Fn(&Continuation) -> f64| mean(&own.iter().map(|from| value(from)).collect::<Vec<_>>());
        let sum =
            |value: &dyn Fn(&DirectionCounts) -> usize| own.iter().map(|from| value(&from.optimum)).sum::<usize>();
        let highest = own.iter().map(|from| from.optimum.change[0][2]).fold(f64::NEG_INFINITY, f64::max);
        table.row([
            name.to_owned(),
            format!("{} of {}", sum(&|counts| counts.not_worse), sum(&|counts| counts.directions)),
            sum(&|counts| counts.better).to_string(),
            format!("{highest:+.5}"),
            format!("{:.4}", average(&|from| from.per_query[0])),
            format!("{:+.4}", average(&|from| gain(&from.per_query, 1))),
            format!("{:+.4}", average(&|from| gain(&from.per_query, sizes.further))),
            format!("{:+.4}", average(&|from| gain(&from.full_batch, sizes.further))),
        ]);
    }
    let (tried, not_worse, better) = results.iter().fold((0, 0, 0), |(tried, not_worse, better), result| {
        (tried + result.random.directions, not_worse + result.random.not_worse, better + result.random.better)
    });
    let none = || "-".to_owned();
    table.row([
        "random weights".into(),
        format!("{not_worse} of {tried}"),
        better.to_string(),
        none(),
        none(),
        none(),
        none(),
        none(),
    ]);
    table
}

/// Chosen learning rates of each function.
fn trainings(sizes: &Sizes, results: &[FunctionResult]) -> Table {
    let mrr_epochs = format!("epochs of training for MRR, of {} allowed", sizes.schedule.epochs);
    let head = ["function", "learning rate per query", "for MRR", "with one update per epoch", mrr_epochs.as_str()];
    let mut table =
        Table::titled("Learning rates chosen on validation queries, and length of the training for MRR:", &head);
    let chosen = |learning_rate: f64, trials: &[(f64, f64)]| {
        let end = [trials.first(), trials.last()].into_iter().flatten().any(|trial| trial.0 == learning_rate);
        format!("{}{}", number(learning_rate), if end { " (at the end of the grid)" } else { "" })
    };
    for (function, result) in results.iter().enumerate() {
        table.row([
            function.to_string(),
            chosen(result.learning_rate, &result.trials),
            number(result.mrr_learning_rate),
            chosen(result.full_batch_learning_rate, &result.full_batch_trials),
            result.mrr_epochs.to_string(),
        ]);
    }
    table
}

/// Training NDCG@10 after further epochs, with both kinds of updates.
fn panel(sizes: &Sizes, results: &[FunctionResult], start: usize) -> Panel {
    type Values = fn(&Continuation) -> &Vec<f64>;
    let ways: [(&str, Values); 2] =
        [("one update per query", |from| &from.per_query), ("one per epoch", |from| &from.full_batch)];
    let series = ways.iter().enumerate().map(|(colour, (name, way))| {
        let point = |epoch: usize| -> Option<Point> {
            let all = results.iter().map(|result| way(&result.starts[start]));
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
