//! What going on from each start did, in tables and a figure.

use super::{FULL_RATES, Found, GoneOn, STARTS, Sizes};
use crate::harness::figure::{self, Legend, Panel, Point, Series, Whose};
use crate::harness::units::mean;
use crate::harness::{Control, Evidence, Execution, Report, Scale, Spread};
use crate::optimality::moves::Moved;
use crate::optimality::setting::{common_deviations, data_words};
use crate::optimality::tuned::words;
use burnrank::internal::text::{Table, number};

/// What training did after so many epochs, at most as many as there are.
fn gain(values: &[f64], epochs: usize) -> f64 {
    values[epochs.min(values.len() - 1)] - values[0]
}

pub fn report(execution: &Execution<'_>, sizes: &Sizes, found: &[Found]) -> anyhow::Result<Report> {
    let mut evidence = vec![];
    for (number, name) in STARTS.into_iter().enumerate() {
        let each =
            |value: &dyn Fn(&GoneOn) -> f64| Evidence::units(found.iter().map(|found| value(&found.starts[number])));
        let optimum = |from: &GoneOn| from.optimum.not_worse as f64 / from.optimum.directions as f64;
        evidence.push((format!("optimum {name}"), each(&optimum)));
        evidence.push((format!("at once {name}"), each(&|from| gain(&from.per_query, 1))));
        evidence.push((format!("later {name}"), each(&|from| gain(&from.per_query, sizes.further))));
        evidence.push((format!("full {name}"), each(&|from| gain(&from.full_batch, sizes.further))));
        let stochastic = |from: &GoneOn| gain(&from.per_query, sizes.further) - gain(&from.full_batch, sizes.further);
        evidence.push((format!("stochastic {name}"), each(&stochastic)));
    }
    let randoms = found.iter().filter(|found| found.random.better > 0).count();
    let optima = |number: usize| found.iter().filter(|found| found.starts[number].optimum.not_worse == 0).count();
    let counts: Vec<String> = STARTS
        .iter()
        .enumerate()
        .map(|(number, name)| format!("{name} {} of {}", optima(number), found.len()))
        .collect();
    Ok(Report {
        evidence,
        controls: vec![Control {
            description: "random weights are no local optimum: some direction raises NDCG@10".into(),
            expected: format!("{} of {}", found.len(), found.len()),
            ours: format!("{randoms} of {}", found.len()),
            holds: randoms == found.len(),
        }],
        main: format!("local optima of NDCG@10: {}", counts.join(", ")),
        tables: vec![table(sizes, found), trainings(sizes, found)],
        notes: vec![
            "A full batch visits the queries in no order and draws nothing, so that it is not stochastic at all; the \
             paper speaks of \"the stochasticity of the batch LambdaRank learning (both full batch and batch per \
             query)\". What can be asked is whether updates per query reach more than updates per epoch in the same \
             number of epochs. They are also more updates, so that a difference does not show that chance is the \
             reason."
                .into(),
            "A random direction says little of the direction that training takes: of many weights most directions \
             lower the measure although one raises it. That training goes up from a point that passed the test shows \
             that the test does not exclude better neighbours."
                .into(),
        ],
        protocol: vec![
            format!(
                "Data: {} For each of {} functions {} training and {} validation queries.",
                data_words(sizes.features),
                sizes.functions,
                sizes.queries[0],
                sizes.queries[1]
            ),
            format!(
                "Training: two-layer nets of ten hidden units, LambdaRank with sigma 1, plain gradient descent, one \
                 update per query. {} The weights learned for MRR are those of the last epoch. With one update per \
                 epoch the grid is {}.",
                words(&sizes.schedule, "threefold"),
                FULL_RATES.map(number).join(", ")
            ),
            format!(
                "Test: {} random directions on the unit sphere, ten steps of 0.1 to 1, NDCG@10 of all training \
                 queries. Then training for NDCG@10 goes on for {} epochs with the step size that was chosen and \
                 another order of queries; the same with one update per epoch.",
                sizes.directions, sizes.further
            ),
        ],
        deviations: deviations(execution.scale(), sizes),
        figure: figure::draw(&[panel(sizes, found, 0), panel(sizes, found, 1), panel(sizes, found, 2)])?,
        ..Report::default()
    })
}

fn table(sizes: &Sizes, found: &[Found]) -> Table {
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
    let mut table = Table::titled("Each start: directions of all functions, and means over functions:", &head);
    for (number, name) in STARTS.into_iter().enumerate() {
        let own: Vec<&GoneOn> = found.iter().map(|found| &found.starts[number]).collect();
        let average = |value: &dyn Fn(&GoneOn) -> f64| mean(&own.iter().map(|from| value(from)).collect::<Vec<_>>());
        let sum = |value: &dyn Fn(&Moved) -> usize| own.iter().map(|from| value(&from.optimum)).sum::<usize>();
        let highest = own.iter().map(|from| from.optimum.change[0][2]).fold(f64::NEG_INFINITY, f64::max);
        table.row([
            name.to_owned(),
            format!("{} of {}", sum(&|moved| moved.not_worse), sum(&|moved| moved.directions)),
            sum(&|moved| moved.better).to_string(),
            format!("{highest:+.5}"),
            format!("{:.4}", average(&|from| from.per_query[0])),
            format!("{:+.4}", average(&|from| gain(&from.per_query, 1))),
            format!("{:+.4}", average(&|from| gain(&from.per_query, sizes.further))),
            format!("{:+.4}", average(&|from| gain(&from.full_batch, sizes.further))),
        ]);
    }
    let (tried, not_worse, better) = found.iter().fold((0, 0, 0), |(tried, not_worse, better), found| {
        (tried + found.random.directions, not_worse + found.random.not_worse, better + found.random.better)
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

/// What was chosen in each function.
fn trainings(sizes: &Sizes, found: &[Found]) -> Table {
    let most = format!("epochs of training for MRR, of {} allowed", sizes.schedule.epochs);
    let head = ["function", "step size per query", "for MRR", "with one update per epoch", most.as_str()];
    let mut table = Table::titled("Step sizes that validation chose, and where training for MRR ended:", &head);
    let chosen = |learning_rate: f64, trials: &[(f64, f64)]| {
        let end = [trials.first(), trials.last()].into_iter().flatten().any(|trial| trial.0 == learning_rate);
        format!("{}{}", number(learning_rate), if end { " (at the end of those tried)" } else { "" })
    };
    for (function, found) in found.iter().enumerate() {
        table.row([
            function.to_string(),
            chosen(found.learning_rate, &found.trials),
            number(found.mrr_learning_rate),
            chosen(found.full_batch_learning_rate, &found.full_batch_trials),
            found.mrr_epochs.to_string(),
        ]);
    }
    table
}

/// Training NDCG@10 after further epochs, by both ways of updating.
fn panel(sizes: &Sizes, found: &[Found], start: usize) -> Panel {
    type Way = fn(&GoneOn) -> &Vec<f64>;
    let ways: [(&str, Way); 2] =
        [("one update per query", |from| &from.per_query), ("one per epoch", |from| &from.full_batch)];
    let series = ways.iter().enumerate().map(|(colour, (name, way))| {
        let point = |epoch: usize| -> Option<Point> {
            let all = found.iter().map(|found| way(&found.starts[start]));
            let values: Vec<f64> =
                all.filter(|values| values.len() > epoch).map(|values| gain(values, epoch)).collect();
            let half = Spread::of(&values)?.half;
            Some((epoch as f64, mean(&values), Some((mean(&values) - half, mean(&values) + half))))
        };
        let points = (0..=sizes.further).filter_map(point).collect();
        Series { name: (*name).into(), whose: Whose::Ours, colour, joined: true, points }
    });
    let step = (sizes.further / 6).max(1);
    Panel {
        title: format!("Going on from {}", STARTS[start].replace("learned", "weights learned")),
        x_label: "further epochs".into(),
        y_label: "change of training NDCG@10".into(),
        ticks: (0..=sizes.further).step_by(step).map(|epoch| (epoch as f64, epoch.to_string())).collect(),
        series: series.collect(),
        zero: Some(0.0),
        legend: Legend::LowerRight,
        ..Panel::default()
    }
}

fn deviations(scale: Scale, sizes: &Sizes) -> Vec<String> {
    let mut all = common_deviations(scale);
    all.push(format!(
        "The paper looked at its 10K web data, once. Here there are {} random functions with {} training queries each.",
        sizes.functions, sizes.queries[0]
    ));
    all
}
