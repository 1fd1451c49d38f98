//! Epochs by batch size and width of the net, each beside the roofline and the same net of other programs.

use super::machine::{Limits, Work};
use super::peers::{self, NETS, NetPeer, Peer};
use super::timing::{Patience, Timing};
use super::{FEATURES, HIDDEN, MAIN, PEERS, epoch};
use crate::harness::{Execution, NetShape, Scale};
use burnrank::internal::text::{Table, three_digits};
use burnrank::{Activation, Architecture, Dataset, GradientPath, TrainConfig};
use serde::Serialize;
use std::path::Path;

/// Queries per batch.
const BATCHES: [usize; 4] = [1, 10, 100, 1_000];
/// Hidden units; 0 is a linear net.
pub const WIDTHS: [usize; 4] = [0, 10, 64, 256];
/// How many times the roofline an epoch may take, with batches of one query and with larger ones.
const TARGETS: [f64; 2] = [3.0, 1.5];
/// Two threads against one at the default batch.
const THREADS: f64 = 1.7;

/// How many times as long as ours the epoch of the same net by a tuned peer takes, at least, with at most [`WIDE`] units.
const AHEAD: f64 = 5.0;
/// Nets with more units are compared without a target.
const WIDE: usize = 64;

/// One epoch.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    pub units: usize,
    pub batch: usize,
    pub threads: usize,
    pub timing: Timing,
}

/// Measures every width with every batch size by all threads, and the default batch by one thread too. Our epochs are timed
/// before and after those of the peers.
pub fn measure(
    execution: &Execution<'_>,
    data: &Dataset,
    patience: Patience,
    peers: &mut [NetPeer],
) -> anyhow::Result<(Vec<Cell>, Vec<Peer>)> {
    let (mut cells, mut others) = (vec![], vec![]);
    let time = |units, batch, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let config = config(units, batch, execution)?;
        anyhow::Ok(pool.install(|| epoch::measure(config, data, &execution.session.device, patience))?.timing)
    };
    for units in WIDTHS {
        for batch in BATCHES {
            let all = rayon::current_num_threads();
            let mut timing = time(units, batch, all)?;
            for peer in &mut *peers {
                for form in ["tuned", "plain"].into_iter().take(if units == HIDDEN { 2 } else { 1 }) {
                    others.push(peer.epoch(form, units, batch)?);
                }
            }
            if !peers.is_empty() {
                timing = timing.or_better(time(units, batch, all)?);
            }
            cells.push(Cell { units, batch, threads: all, timing });
            for threads in [1, 2].into_iter().filter(|&threads| batch == 10 && threads != all) {
                cells.push(Cell { units, batch, threads, timing: time(units, batch, threads)? });
            }
            eprintln!("epoch {MAIN}, {units} units, batch {batch}: {} s", three_digits(timing.seconds));
        }
    }
    execution.keep("widths", &cells, 0.0)?;
    Ok((cells, others))
}

/// Starts the peers that train nets, if they are requested.
pub fn peers(execution: &Execution<'_>, data: &Path) -> anyhow::Result<Vec<NetPeer>> {
    let Some(venv) = execution.session.options.get(PEERS) else { return Ok(vec![]) };
    let quick = execution.scale() == Scale::Quick;
    NETS.into_iter().map(|name| NetPeer::start(name, Path::new(venv), data, quick)).collect()
}

/// The settings of a net with this number of hidden units.
pub fn config(units: usize, batch: usize, execution: &Execution<'_>) -> anyhow::Result<TrainConfig> {
    let config = epoch::config(MAIN, NetShape::Linear, GradientPath::Lambda, batch, execution.session.seed)?;
    let architecture = match units {
        0 => Architecture::Linear,
        _ => Architecture::Mlp { hidden: vec![units], activation: Activation::Sigmoid },
    };
    Ok(TrainConfig { architecture, ..config })
}

/// The cell of a width and a batch size by so many threads.
fn find(cells: &[Cell], units: usize, batch: usize, threads: usize) -> Option<&Cell> {
    cells.iter().find(|cell| (cell.units, cell.batch, cell.threads) == (units, batch, threads))
}

fn ratio(cell: &Cell, documents: usize, limits: &Limits) -> f64 {
    cell.timing.seconds / limits.least(Work::epoch(documents, FEATURES, cell.units))
}

/// The name of a net in tables.
pub fn words(units: usize) -> String {
    if units == 0 { "linear net".into() } else { format!("{units} hidden units") }
}

/// Every target.
pub fn claims(peers: bool, mut target: impl FnMut(String, String, String)) {
    for units in WIDTHS.into_iter().filter(|&units| peers && units <= WIDE) {
        for (batch, name) in BATCHES.into_iter().flat_map(|batch| NETS.map(|name| (batch, name))) {
            let statement =
                format!("{}, batch {batch}: {name}, tuned, takes longer than our epoch, times", words(units));
            target(format!("{name} {units} {batch}"), statement, format!(">= {AHEAD}"));
        }
    }
    for units in WIDTHS {
        for batch in BATCHES {
            let most = TARGETS[usize::from(batch > 1)];
            let statement = format!("epoch of {MAIN}, {}, batch {batch}: times the roofline", words(units));
            target(format!("roofline {units} {batch}"), statement, format!("<= {most}"));
        }
    }
    for units in WIDTHS {
        let statement = format!("the same, {}, batch 10: two threads against one", words(units));
        target(format!("threads {units}"), statement, format!(">= {THREADS}"));
    }
}

/// What was measured of each.
pub fn evidence(
    cells: &[Cell],
    peers: &[Peer],
    documents: usize,
    limits: &Limits,
    mut given: impl FnMut(String, Option<(String, bool)>),
) {
    for units in WIDTHS.into_iter().filter(|&units| !peers.is_empty() && units <= WIDE) {
        for (batch, name) in BATCHES.into_iter().flat_map(|batch| NETS.map(|name| (batch, name))) {
            let own = find(cells, units, batch, limits.threads).map(|cell| cell.timing.seconds);
            let ratio = peers::epoch(peers, (name, "tuned"), units, batch).zip(own).map(|(peer, own)| peer / own);
            given(format!("{name} {units} {batch}"), ratio.map(|ratio| (format!("{ratio:.1}"), ratio >= AHEAD)));
        }
    }
    for units in WIDTHS {
        for batch in BATCHES {
            let ratio = find(cells, units, batch, limits.threads).map(|cell| ratio(cell, documents, limits));
            let most = TARGETS[usize::from(batch > 1)];
            given(format!("roofline {units} {batch}"), ratio.map(|ratio| (format!("{ratio:.2}"), ratio <= most)));
        }
    }
    for units in WIDTHS {
        let seconds = |threads| find(cells, units, 10, threads).map(|cell| cell.timing.seconds);
        let ratio = seconds(1).zip(seconds(2)).map(|(one, two)| one / two);
        given(format!("threads {units}"), ratio.map(|ratio| (format!("{ratio:.2}"), ratio >= THREADS)));
    }
}

/// Seconds of every program, and how many times as long as ours each takes.
pub fn peer_table(cells: &[Cell], peers: &[Peer], threads: usize) -> Table {
    let mut head = vec!["net".to_owned(), "program".to_owned()];
    head.extend(BATCHES.map(|batch| format!("batch {batch}")));
    let title = format!(
        "One epoch of {MAIN} by each program, alternating, with the same batch sizes: seconds, and times ours:"
    );
    let mut table = Table::titled(title, &head);
    for units in WIDTHS {
        let own = |batch| find(cells, units, batch, threads).map(|cell| cell.timing.seconds);
        let mut row = vec![words(units), "burnrank".to_owned()];
        row.extend(BATCHES.map(|batch| own(batch).map_or("-".into(), three_digits)));
        table.row(row);
        for (name, form) in ["tuned", "plain"].into_iter().flat_map(|form| NETS.map(|name| (name, form))) {
            let seconds = BATCHES.map(|batch| peers::epoch(peers, (name, form), units, batch));
            if seconds.iter().all(Option::is_none) {
                continue;
            }
            let version = peers.iter().find(|peer| peer.peer == name).and_then(|peer| peer.version.clone());
            let mut row = vec![words(units), format!("{name} {}, {form}", version.unwrap_or_default())];
            row.extend(BATCHES.into_iter().zip(seconds).map(|(batch, seconds)| match seconds.zip(own(batch)) {
                Some((seconds, own)) => format!("{} ({:.1}x)", three_digits(seconds), seconds / own),
                None => "-".into(),
            }));
            table.row(row);
        }
    }
    table
}

/// Seconds and times the roofline.
pub fn table(cells: &[Cell], documents: usize, limits: &Limits, lambdas: Option<f64>) -> Table {
    let lambdas = lambdas.map_or(String::new(), |seconds| {
        let seconds = three_digits(seconds);
        format!(" (the lambdas of all pairs, which are not part of it, take about {seconds} s at the kernel's rate)")
    });
    let title = format!(
        "One epoch of {MAIN} by batch size and width, {} threads: seconds, and times the roofline, which is one pass over \
         the features or the net's multiply-adds, whichever takes longer{lambdas}:",
        limits.threads
    );
    let mut head = vec!["net".to_owned(), "roofline, seconds".to_owned()];
    head.extend(BATCHES.map(|batch| format!("batch {batch}")));
    let mut table = Table::titled(title, &head);
    for units in WIDTHS {
        let least = limits.least(Work::epoch(documents, FEATURES, units));
        let cell = |batch| {
            find(cells, units, batch, limits.threads).map_or("-".into(), |cell| {
                format!("{} ({:.1}x)", three_digits(cell.timing.seconds), ratio(cell, documents, limits))
            })
        };
        let mut row = vec![words(units), three_digits(least)];
        row.extend(BATCHES.map(cell));
        table.row(row);
    }
    table
}
