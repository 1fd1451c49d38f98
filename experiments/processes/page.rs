//! The page that reports measurements and predictions.

use super::cost::{Compute, Network, per_batch};
use super::measurements::{SHARED, TCP};
use super::{Measurements, Run};
use burnrank::internal::text::Table;

/// Text of the page, with names of tables in braces.
const TEXT: &str = include_str!("page.md");

/// Networks with their usual latency and bandwidth, which are not measured.
const ASSUMED: [(&str, Network); 2] = [
    ("10 Gbit/s Ethernet, 30 us", Network { latency: 30e-6, bandwidth: 1.1e9 }),
    ("100 Gbit/s InfiniBand, 2 us", Network { latency: 2e-6, bandwidth: 11e9 }),
];

/// Queries per batch for predictions: larger batches mean more work between exchanges.
const BATCHES: [usize; 2] = [120, 5_120];

/// Returns the page as Markdown.
pub fn text(measurements: &Measurements) -> anyhow::Result<String> {
    let machine = &measurements.machine;
    let about = format!(
        "{}, {} cores; load {} before and {} after{}",
        machine["cpu"].as_str().unwrap_or("unknown"),
        machine["cores"],
        measurements.load[0],
        measurements.load[1],
        if measurements.quick { "; a quick run, whose numbers mean nothing" } else { "" },
    );
    Ok(TEXT
        .replace("{machine}", &about)
        .replace("{epochs}", epochs(measurements).markdown().trim())
        .replace("{exchanges}", exchanges(measurements).markdown().trim())
        .replace("{check}", check(measurements)?.markdown().trim())
        .replace("{predictions}", predictions(measurements)?.markdown().trim()))
}

fn of<'a>(measurements: &'a Measurements, like: &'a Run, processes: usize) -> Option<&'a Run> {
    measurements.runs.iter().find(|run| {
        (&run.hidden, run.batch, run.processes, run.transport.as_str()) == (&like.hidden, like.batch, processes, SHARED)
    })
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.3}", 1e3 * seconds)
}

/// Times of epochs, and speed-ups.
fn epochs(measurements: &Measurements) -> Table {
    let columns =
        ["weights", "queries", "a batch", "started as", "epoch, s", "against one whole", "against one in shares"];
    let mut table = Table::titled("", &columns);
    for run in &measurements.runs {
        let times =
            |other: Option<&Run>| other.map_or("-".into(), |other| format!("{:.2}", other.seconds / run.seconds));
        table.row([
            run.weights.to_string(),
            run.queries.to_string(),
            run.batch.to_string(),
            match run.processes {
                0 => "`burnrank`, batches whole".into(),
                processes => format!("`mpirun -n {processes}`, {}", run.transport),
            },
            format!("{:.4}", run.seconds),
            times(of(measurements, run, 0)),
            if run.processes == 0 { "-".into() } else { times(of(measurements, run, 1)) },
        ]);
    }
    table
}

fn exchanges(measurements: &Measurements) -> Table {
    let mut table = Table::titled("", &["between two processes", "numbers", "microseconds"]);
    for exchange in &measurements.exchanges {
        let time = format!("{:.1}", 1e6 * exchange.seconds);
        table.row([exchange.transport.clone(), exchange.words.to_string(), time]);
    }
    table
}

/// Predictions for the runs that the cost model was not fitted to.
fn check(measurements: &Measurements) -> anyhow::Result<Table> {
    let columns = ["weights", "a batch", "between", "predicted, ms a batch", "measured", "measured / predicted"];
    let mut table = Table::titled("", &columns);
    for run in measurements.runs.iter().filter(|run| run.processes == 2) {
        let Some(network) = Network::fit(&measurements.exchanges, &run.transport) else { continue };
        let predicted = Compute::fit(&measurements.runs, &run.hidden)?.batch(&network, run.weights, run.batch, 2);
        let actual = per_batch(run);
        table.row([
            run.weights.to_string(),
            run.batch.to_string(),
            run.transport.clone(),
            milliseconds(predicted),
            milliseconds(actual),
            format!("{:.2}", actual / predicted),
        ]);
    }
    Ok(table)
}

/// Predicted speed-ups and useful numbers of processes.
fn predictions(measurements: &Measurements) -> anyhow::Result<Table> {
    let columns = ["weights", "a batch", "network", "8", "64", "512", "pays to"];
    let mut table = Table::titled("", &columns);
    let own = [SHARED, TCP].map(|name| Network::fit(&measurements.exchanges, name).map(|network| (name, network)));
    let networks: Vec<(&str, Network)> = own.into_iter().flatten().chain(ASSUMED).collect();
    let mut nets: Vec<&str> = Vec::new();
    for run in &measurements.runs {
        if nets.contains(&run.hidden.as_str()) {
            continue;
        }
        nets.push(&run.hidden);
        let compute = Compute::fit(&measurements.runs, &run.hidden)?;
        for batch in BATCHES {
            for (name, network) in &networks {
                let speedup = |processes| format!("{:.1}", compute.speedup(network, run.weights, batch, processes));
                let maximum = compute.pays_to(network, run.weights, batch);
                let row = [run.weights.to_string(), batch.to_string(), (*name).to_owned()];
                table.row(row.into_iter().chain([8, 64, 512].map(speedup)).chain([maximum.to_string()]));
            }
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_page_matches_the_results() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let Ok(results) = std::fs::read_to_string(root.join(super::super::RESULTS)) else {
            return println!("skipped: there are no results");
        };
        let page = std::fs::read_to_string(root.join(super::super::PAGE)).unwrap();
        assert_eq!(page, text(&serde_json::from_str(&results).unwrap()).unwrap());
    }
}
