//! What the measurements say: tables, bounds, and how everything was done.

use super::bars::{self, Bar};
use super::machine::{self, Work};
use super::row::{self, Row};
use super::{FEATURES, HIDDEN, MAIN, Measured, Sizes, bounds, peers, scaling};
use crate::harness::{Execution, Report};
use burnrank::internal::text::{Table, large, three_digits};

pub fn report(execution: &Execution<'_>, sizes: &Sizes, found: &Measured) -> anyhow::Result<Report> {
    let facts = &found.data;
    let title = format!(
        "{} queries, {} documents (longest list {}), {FEATURES} features, {HIDDEN} hidden units, {} pairs of different \
         label, {} threads. Seconds are the minimum of the repeats; peak MB is the whole process, its {:.0} MB of \
         features included:",
        facts.queries,
        facts.documents,
        facts.longest,
        large(facts.pairs as f64),
        found.limits[0].threads,
        facts.documents as f64 * FEATURES as f64 * 4e-6,
    );
    // By all cores; the rate is that of one.
    let lambdas = task(&found.rows, "kernel").and_then(|row| row.pairs.map(|pairs| row.timing.seconds / pairs));
    let lambdas = lambdas.map(|each| each * facts.pairs as f64 / found.limits[0].threads as f64);
    let mut tables = vec![
        row::table(title, &found.rows, &found.limits[0]),
        super::widths::table(&found.widths, facts.documents, &found.limits[0], lambdas),
        super::graph::table(&found.graph),
        limits(found),
        threads(found),
        memory(found),
        long(found),
    ];
    tables.push(scaling::table("Scaling", &found.scaling, sizes.scaling.documents));
    #[cfg(feature = "serve")]
    tables.push(super::serve::table(&found.served));
    let mut notes = vec![];
    let peers = found.peers.as_deref().unwrap_or_default();
    if !peers.is_empty() {
        tables.push(super::widths::peer_table(&found.widths, peers, found.limits[0].threads));
        tables.push(peers::table(peers, &found.rows));
        execution.side_file("peers.svg", Some(&draw_peers(found, peers)?))?;
        notes.push("![an epoch of each tool](peers.svg)".into());
        notes.push(
            "Each net is trained by burnrank, by the peers and by burnrank again, one after the other; the table has the \
             minimum of all repeats. *Plain* is how peers are used: every epoch shuffles and pads the queries, PyTorch to \
             the longest query of a batch, Rax to the longest of all, because its compiler needs one shape. *Tuned* is as \
             fast as we could make them, and favours them: queries of similar length are batched and padded before the \
             measurement, and every epoch has the same batches; Rax compiles the whole step (`jit`), and PyTorch computes \
             the lambdas without autograd and compiles them (`torch.compile`). burnrank shuffles the queries every epoch."
                .into(),
        );
    } else {
        execution.side_file("peers.svg", None)?;
    }
    if let Err(reason) = &found.peers {
        notes.push(format!("The peers could not be measured: {reason}."));
    }
    notes.push(
        "Times depend on the machine and on what else it does: a missed target is a reason to look, not a failure of the \
         program."
            .into(),
    );
    let evidence = bounds::evidence(execution.session, found);
    let main = best(&found.rows).map_or_else(String::new, |row| {
        let ratio = row.ratio(&found.limits[0]).unwrap_or(f64::NAN);
        format!("{MAIN} epoch {} s, {ratio:.1} times the roofline", three_digits(row.timing.seconds))
    });
    Ok(Report {
        evidence,
        main,
        protocol: protocol(sizes, found),
        deviations: deviations(),
        notes,
        tables,
        figure: scaling::draw(&found.scaling, sizes.scaling.documents)?,
        ..Report::default()
    })
}

/// The fastest epoch of the main objective.
pub fn best(rows: &[Row]) -> Option<&Row> {
    rows.iter().find(|row| row.best && row.path == Some("lambda") && row.objective.as_deref() == Some(MAIN))
}

/// The first row of a task.
pub fn task<'a>(rows: &'a [Row], task: &str) -> Option<&'a Row> {
    rows.iter().find(|row| row.task.starts_with(task))
}

fn limits(found: &Measured) -> Table {
    let mut table = Table::titled(
        "The machine's limits, measured in this run:",
        &[
            "threads",
            "copy, bytes read and written per second",
            "multiply-adds per second",
            "roofline of an epoch, seconds",
        ],
    );
    let facts = &found.data;
    for limit in &found.limits {
        table.row([
            limit.threads.to_string(),
            large(limit.bytes_per_second),
            large(limit.multiply_adds_per_second),
            three_digits(limit.least(Work::epoch(facts.documents, FEATURES, HIDDEN))),
        ]);
    }
    table
}

fn threads(found: &Measured) -> Table {
    let title = format!("One epoch of {MAIN} at its best batch size, by the number of threads:");
    let mut table = Table::titled(title, &["threads", "seconds", "median", "times as fast as one"]);
    let one = found.threads.first().map_or(f64::NAN, |(_, timing)| timing.seconds);
    for (threads, timing) in &found.threads {
        let faster = format!("{:.2}", one / timing.seconds);
        table.row([threads.to_string(), three_digits(timing.seconds), three_digits(timing.median), faster]);
    }
    table
}

fn memory(found: &Measured) -> Table {
    let mut table = Table::titled(
        "Memory while training, in a process of its own:",
        &["documents", "MB of features", "peak MB of the process", "peak over features"],
    );
    let memory = &found.memory;
    let or_dash = |value: Option<f64>, decimals: usize| value.map_or("-".into(), |value| format!("{value:.decimals$}"));
    table.row([
        memory.documents.to_string(),
        format!("{:.0}", memory.feature_bytes / 1e6),
        or_dash(memory.peak_bytes.map(|bytes| bytes / 1e6), 0),
        or_dash(memory.ratio(), 3),
    ]);
    table
}

fn long(found: &Measured) -> Table {
    let mut table = Table::titled(
        "The kernel alone on one long list, five labels, all threads:",
        &["objective", "documents", "seconds", "slope", "slope fitted from", "to documents"],
    );
    for long in &found.long {
        let end = |point: Option<&(usize, f64)>| point.map_or("-".into(), |(length, _)| length.to_string());
        table.row([
            long.objective.into(),
            long.longest.to_string(),
            three_digits(long.timing.seconds),
            long.slope.map_or("-".into(), |slope| format!("{slope:.3}")),
            end(long.points.first()),
            end(long.points.last()),
        ]);
    }
    table
}

/// An epoch of every tool, and ours.
fn draw_peers(found: &Measured, peers: &[peers::Peer]) -> anyhow::Result<String> {
    let mut bars: Vec<Bar> = vec![];
    for row in found.rows.iter().filter(|row| row.task == "epoch" && row.objective.as_deref() == Some(MAIN)) {
        if let (true, Some(path), Some(batch)) = (row.shown, row.path, row.batch) {
            let name = format!("burnrank, {path}, {batch} queries per batch");
            bars.push(Bar { name, seconds: row.timing.seconds, ours: true });
        }
    }
    let shown = |peer: &&peers::Peer| peer.best && peer.units.is_none_or(|units| units == HIDDEN);
    for peer in peers.iter().filter(shown).filter(|peer| peer.task.as_deref() == Some("epoch")) {
        let batch = peer.batch.map_or(String::new(), |batch| format!(", {batch} queries per batch"));
        let version = peer.version.as_deref().unwrap_or("");
        // Boosted trees come with several choices of pairs.
        let objective = peer.objective.as_deref().filter(|name| *name != MAIN);
        let objective = objective.map_or(String::new(), |name| format!(", {name}"));
        let form = peer.form.as_deref().unwrap_or("");
        let name = format!("{} {version}, {form}{objective}{batch}", peer.peer);
        bars.push(Bar { name, seconds: peer.seconds.unwrap_or(f64::NAN), ours: false });
    }
    let title = format!(
        "One epoch of LambdaRank for NDCG ({} documents; one tree for boosted trees; logarithmic)",
        found.data.documents
    );
    bars::draw(&title, bars)
}

fn protocol(sizes: &Sizes, found: &Measured) -> Vec<String> {
    let machine = machine::describe();
    let word = |key: &str| machine[key].as_str().unwrap_or("unknown").to_owned();
    vec![
        format!(
            "Machine: {} ({}, {}), {} cores; lambda kernels take {}.",
            word("cpu"),
            word("architecture"),
            word("system"),
            machine["cores"],
            word("lambda_kernels"),
        ),
        format!(
            "Data: {} queries whose lengths are lognormal with a mean of 120, cut at 600; decimals of four digits; \
             labels 0 to 4 in the shares 52, 32, 13, 2 and 1 percent; {:.0} MB of text.",
            found.data.queries,
            found.data.text_bytes as f64 / 1e6
        ),
        format!(
            "An epoch is one of the library's own training loop: forward, lambdas, backward and Adam for every batch, \
             with {HIDDEN} sigmoid hidden units. A trainer also judges: that is kept small (one validation query, P@1 \
             of the training queries) and is part of the time. V1 is a loop of this program on one query in {}, of all \
             lengths alike; its time is scaled up by the number of pairs.",
            sizes.v1_share
        ),
        "Roofline: the bandwidth is that of a copy by all threads (the better of two times in this run), where bytes \
         count when they are read and when they are written; the multiply-adds are those of a square matrix product by \
         the backend. An epoch's roofline is one pass over the features at that bandwidth or two times the multiply-adds \
         of the net (forward, and gradient of the weights), whichever takes longer; scoring's is the same with the \
         multiply-adds once; reading's is the text and the features once. Lambdas, activations and updates are in no \
         roofline."
            .into(),
        format!(
            "Long lists and scaling: scores normal with a standard deviation of 2. In the figure an epoch has {} \
             documents whatever the length of its queries; V1 is measured on as many queries as {} seconds allow, and \
             no further than a query of {} seconds; the sum over every pair no further than an epoch of {} seconds.",
            sizes.scaling.documents, sizes.scaling.sample, sizes.scaling.bearable, sizes.scaling.direct
        ),
    ]
}

fn deviations() -> Vec<String> {
    vec![
        "The paper's figure times RankNet on the machine and with the net of its authors; here it is LambdaRank for \
         NDCG with a small net, and lists are as long as memory allows."
            .into(),
        "The paper's slopes are those of an epoch by the documents per query; here the number of documents of an epoch \
         is fixed, so that the slopes to compare are those of the time for one query, which are larger by one than \
         those of the epoch."
            .into(),
    ]
}
