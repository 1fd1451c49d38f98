//! The bounds that the numbers are held against: claims, and what was measured of each.

use super::report::{best, task};
use super::scaling::{LINES, PAPER};
use super::{LONG, MAIN, Measured, PEERS, kernel, peers, sizes, widths};
use crate::harness::{Claim, Evidence, Session, Test};
use burnrank::internal::text::{large, three_digits};

const KERNEL: f64 = 0.8e9;
const ERROR: f64 = 1e-5;
const ROOFLINE: f64 = 1.5;
const TWO_THREADS: f64 = 1.7;
const SLOPE: f64 = 1.2;
/// A sum over every pair cannot be much steeper than this.
const SQUARE: f64 = 2.2;
const SECONDS: f64 = 2.0;
const MEMORY: f64 = 1.2;
const SCORING: f64 = 5e6;
/// How many times as long as our epoch a peer's must take at least.
const TOOLS: [(&str, &str, f64); 3] = [("rax", "plain", 10.0), ("torch", "plain", 30.0), ("lightgbm", "tuned", 1.0)];

/// No bound is set for the truncated objective's time on a long list, only for its growth.
const TIMED: usize = 2;

/// Every bound; those on other tools only where they are asked for.
pub fn claims(session: &Session) -> Vec<Claim> {
    let sizes = sizes(session.scale);
    let mut all = vec![];
    let mut bound = |id: String, statement: String, bound: String| {
        all.push(Claim::new(id, statement, Test::Fact).paper(bound).convention("the minimum of the repeats"));
    };
    if session.options.contains_key(PEERS) {
        for (name, form, least) in TOOLS {
            let what = if name == "lightgbm" {
                "one tree of lightgbm".into()
            } else {
                format!("the epoch of {name}, {form},")
            };
            let statement = format!("{MAIN}: {what} takes longer than our epoch, times");
            bound(format!("{name} {form}"), statement, format!(">= {least}"));
        }
    }
    let statement =
        format!("kernel of {MAIN}, lists of {}: pairs per second and core, sorting included", kernel::SHORT);
    bound("kernel".into(), statement, format!(">= {}", large(KERNEL)));
    let statement = "the same: largest difference from f64, over the list's largest lambda";
    bound("error".into(), statement.into(), format!("<= {ERROR:.0e}"));
    bound("roofline".into(), format!("epoch of {MAIN}: times the roofline"), format!("<= {ROOFLINE}"));
    bound("threads".into(), "the same epoch: two threads against one".into(), format!(">= {TWO_THREADS}"));
    widths::claims(session.options.contains_key(PEERS), &mut bound);
    for (objective, longest) in LONG.into_iter().zip(sizes.longest).take(TIMED) {
        let statement = format!("{objective} for one list of {longest} documents: seconds");
        bound(format!("seconds {objective}"), statement, format!("< {SECONDS}"));
    }
    for objective in LONG {
        let statement = format!("{objective} for one list: slope of time against length");
        bound(format!("slope {objective}"), statement, format!("<= {SLOPE}"));
    }
    for line in &LINES[2..] {
        let statement = format!("{line}: slope of an epoch's time per query against its documents");
        bound(format!("slope {line}"), statement, format!("<= {SLOPE}"));
    }
    bound("memory".into(), "memory while training, over that of the features".into(), format!("<= {MEMORY}"));
    bound("scoring".into(), "scoring from memory: documents per second".into(), format!(">= {}", large(SCORING)));
    for (line, paper) in LINES.iter().zip(PAPER) {
        let statement = format!("{line}: the same slope, at most that of a square");
        let claim = Claim::new(format!("slope {line}"), statement, Test::Fact);
        all.push(claim.paper(format!("{paper}")).convention("the minimum of the repeats"));
    }
    all
}

/// What was measured of each bound.
pub fn evidence(session: &Session, found: &Measured) -> Vec<(String, Evidence)> {
    let mut all = vec![];
    let mut given = |id: String, ours: Option<(String, bool)>| {
        let evidence = ours.map_or(Evidence::missing("not measured"), |(ours, holds)| Evidence::fact(holds, ours));
        all.push((id, evidence));
    };
    let rows = &found.rows;
    let own = best(rows).map(|row| row.timing.seconds);
    if session.options.contains_key(PEERS) {
        let peers = found.peers.as_deref().unwrap_or_default();
        for (name, form, least) in TOOLS {
            let ratio = peers::fastest_epoch(peers, name, form).zip(own).map(|(peer, own)| peer / own);
            given(format!("{name} {form}"), ratio.map(|ratio| (format!("{ratio:.1}"), ratio >= least)));
        }
    }
    let kernel = task(rows, "kernel").and_then(|row| row.pairs.map(|pairs| pairs / row.timing.seconds));
    given("kernel".into(), kernel.map(|rate| (large(rate), rate >= KERNEL)));
    given("error".into(), Some((format!("{:.1e}", found.error), found.error <= ERROR)));
    let ratio = best(rows).and_then(|row| row.ratio(&found.limits[0]));
    given("roofline".into(), ratio.map(|ratio| (format!("{ratio:.2}"), ratio <= ROOFLINE)));
    let ratio = match found.threads[..] {
        [(1, one), (2, two), ..] => Some(one.seconds / two.seconds),
        _ => None,
    };
    given("threads".into(), ratio.map(|ratio| (format!("{ratio:.2}"), ratio >= TWO_THREADS)));
    let peers = found.peers.as_deref().unwrap_or_default();
    widths::evidence(&found.widths, peers, found.data.documents, &found.limits[0], &mut given);
    let steep = |slope: Option<f64>, most: f64| slope.map(|slope| (format!("{slope:.3}"), slope <= most));
    for (place, long) in found.long.iter().enumerate() {
        if place < TIMED {
            let seconds = long.timing.seconds;
            given(format!("seconds {}", long.objective), Some((three_digits(seconds), seconds < SECONDS)));
        }
        given(format!("slope {}", long.objective), steep(long.slope, SLOPE));
    }
    for (place, line) in found.scaling.iter().enumerate() {
        given(format!("slope {}", line.name), steep(line.slope, if place < 2 { SQUARE } else { SLOPE }));
    }
    let ratio = found.memory.ratio();
    given("memory".into(), ratio.map(|ratio| (format!("{ratio:.3}"), ratio <= MEMORY)));
    let rate = task(rows, "score").map(|row| row.documents as f64 / row.timing.seconds);
    given("scoring".into(), rate.map(|rate| (large(rate), rate >= SCORING)));
    all
}
