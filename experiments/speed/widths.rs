//! Epochs by batch size and width of the net, each beside the roofline.

use super::machine::{Limits, Work};
use super::timing::{Patience, Timing};
use super::{FEATURES, MAIN, epoch};
use crate::harness::{Execution, NetShape};
use burnrank::internal::text::{Table, three_digits};
use burnrank::{Activation, Architecture, Dataset, GradientPath, TrainConfig};
use serde::Serialize;

/// Queries per batch.
const BATCHES: [usize; 4] = [1, 10, 100, 1_000];
/// Hidden units; 0 is a linear net.
pub const WIDTHS: [usize; 4] = [0, 10, 64, 256];
/// How many times the roofline an epoch may take, with batches of one query and with larger ones.
const TARGETS: [f64; 2] = [3.0, 1.5];
/// Two threads against one at the default batch.
const THREADS: f64 = 1.7;

/// One epoch.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    pub units: usize,
    pub batch: usize,
    pub threads: usize,
    pub timing: Timing,
}

/// Measures every width with every batch size by all threads, and the default batch by one thread too.
pub fn measure(execution: &Execution<'_>, data: &Dataset, patience: Patience) -> anyhow::Result<Vec<Cell>> {
    let mut cells = vec![];
    for units in WIDTHS {
        for batch in BATCHES {
            let mut numbers = vec![rayon::current_num_threads()];
            numbers.extend((batch == 10).then_some([1, 2]).into_iter().flatten());
            numbers.dedup();
            for threads in numbers {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
                let work =
                    || epoch::measure(config(units, batch, execution)?, data, &execution.session.device, patience);
                let timing = pool.install(work)?.timing;
                let seconds = three_digits(timing.seconds);
                eprintln!("epoch {MAIN}, {units} units, batch {batch}, {threads} threads: {seconds} s");
                cells.push(Cell { units, batch, threads, timing });
            }
        }
    }
    execution.keep("widths", &cells, 0.0)?;
    Ok(cells)
}

fn config(units: usize, batch: usize, execution: &Execution<'_>) -> anyhow::Result<TrainConfig> {
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

fn words(units: usize) -> String {
    if units == 0 { "linear net".into() } else { format!("{units} hidden units") }
}

/// Every target.
pub fn claims(mut target: impl FnMut(String, String, String)) {
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
    documents: usize,
    limits: &Limits,
    mut given: impl FnMut(String, Option<(String, bool)>),
) {
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

/// Seconds and times the roofline.
pub fn table(cells: &[Cell], documents: usize, limits: &Limits) -> Table {
    let title = format!(
        "One epoch of {MAIN} by batch size and width, {} threads: seconds, and times the roofline, which is one pass over \
         the features or the net's multiply-adds, whichever takes longer:",
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
