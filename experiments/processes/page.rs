//! The page that reports the measurements.

use super::cost::{Compute, Network, per_batch};
use super::measure::{SHARED, TCP};
use super::{Measured, Run};
use burnrank::internal::text::Table;

/// The words of the page; names in braces are for tables.
const WORDS: &str = include_str!("page.md");

/// Networks that are not here: what their makers and users say, not what we measured.
const ASSUMED: [(&str, Network); 2] = [
    ("10 Gbit/s Ethernet, 30 us", Network { latency: 30e-6, bandwidth: 1.1e9 }),
    ("100 Gbit/s InfiniBand, 2 us", Network { latency: 2e-6, bandwidth: 11e9 }),
];

/// Queries per batch of the predictions: more queries are more work between two exchanges.
const BATCHES: [usize; 2] = [120, 5_120];

/// The page.
pub fn text(measured: &Measured) -> anyhow::Result<String> {
    let machine = &measured.machine;
    let about = format!(
        "{}, {} cores; load {} before and {} after{}",
        machine["cpu"].as_str().unwrap_or("unknown"),
        machine["cores"],
        measured.load[0],
        measured.load[1],
        if measured.quick { "; a quick run, whose numbers mean nothing" } else { "" },
    );
    Ok(WORDS
        .replace("{machine}", &about)
        .replace("{epochs}", epochs(measured).markdown().trim())
        .replace("{exchanges}", exchanges(measured).markdown().trim())
        .replace("{check}", check(measured)?.markdown().trim())
        .replace("{predictions}", predictions(measured)?.markdown().trim()))
}

fn of<'a>(measured: &'a Measured, like: &'a Run, processes: usize) -> Option<&'a Run> {
    measured.runs.iter().find(|run| {
        (&run.hidden, run.batch, run.processes, run.transport.as_str()) == (&like.hidden, like.batch, processes, SHARED)
    })
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.3}", 1e3 * seconds)
}

/// Epochs, and what two processes are worth.
fn epochs(measured: &Measured) -> Table {
    let columns =
        ["weights", "queries", "a batch", "started as", "epoch, s", "against one whole", "against one in shares"];
    let mut table = Table::titled("", &columns);
    for run in &measured.runs {
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
            times(of(measured, run, 0)),
            if run.processes == 0 { "-".into() } else { times(of(measured, run, 1)) },
        ]);
    }
    table
}

fn exchanges(measured: &Measured) -> Table {
    let mut table = Table::titled("", &["between two processes", "numbers", "microseconds"]);
    for exchange in &measured.exchanges {
        let time = format!("{:.1}", 1e6 * exchange.seconds);
        table.row([exchange.transport.clone(), exchange.words.to_string(), time]);
    }
    table
}

/// The model against the runs that it was not fitted on.
fn check(measured: &Measured) -> anyhow::Result<Table> {
    let columns = ["weights", "a batch", "between", "predicted, ms a batch", "measured", "measured / predicted"];
    let mut table = Table::titled("", &columns);
    for run in measured.runs.iter().filter(|run| run.processes == 2) {
        let Some(network) = Network::of(&measured.exchanges, &run.transport) else { continue };
        let predicted = Compute::of(&measured.runs, &run.hidden)?.batch(&network, run.weights, run.batch, 2);
        let found = per_batch(run);
        table.row([
            run.weights.to_string(),
            run.batch.to_string(),
            run.transport.clone(),
            milliseconds(predicted),
            milliseconds(found),
            format!("{:.2}", found / predicted),
        ]);
    }
    Ok(table)
}

/// Where more processes stop paying.
fn predictions(measured: &Measured) -> anyhow::Result<Table> {
    let columns = ["weights", "a batch", "network", "8", "64", "512", "pays to"];
    let mut table = Table::titled("", &columns);
    let own = [SHARED, TCP].map(|name| Network::of(&measured.exchanges, name).map(|network| (name, network)));
    let networks: Vec<(&str, Network)> = own.into_iter().flatten().chain(ASSUMED).collect();
    let mut known: Vec<&str> = Vec::new();
    for run in &measured.runs {
        if known.contains(&run.hidden.as_str()) {
            continue;
        }
        known.push(&run.hidden);
        let compute = Compute::of(&measured.runs, &run.hidden)?;
        for batch in BATCHES {
            for (name, network) in &networks {
                let speedup = |processes| format!("{:.1}", compute.speedup(network, run.weights, batch, processes));
                let most = compute.pays_to(network, run.weights, batch);
                let row = [run.weights.to_string(), batch.to_string(), (*name).to_owned()];
                table.row(row.into_iter().chain([8, 64, 512].map(speedup)).chain([most.to_string()]));
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
    fn the_page_tells_what_the_results_say() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let Ok(results) = std::fs::read_to_string(root.join(super::super::RESULTS)) else {
            return println!("skipped: nothing was measured yet");
        };
        let page = std::fs::read_to_string(root.join(super::super::PAGE)).unwrap();
        assert_eq!(page, text(&serde_json::from_str(&results).unwrap()).unwrap());
    }
}
