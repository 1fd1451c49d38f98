//! Options of the commands that evaluate rankings.

use super::Usage;
use anyhow::bail;
use burnrank::metric::REPORTED_METRICS;
use burnrank::metric::{Empty, Ties};
use burnrank::metric::{MetricEntry, Missing, Peer, parse, parse_with};
use burnrank::{Conventions, Metric};
use std::sync::Arc;

/// Evaluation conventions.
#[derive(Debug, clap::Args)]
pub struct EvaluationArgs {
    /// Order of equal scores; document (the earlier first; in runs the greater id, as in trec_eval), pessimistic, optimistic, or
    /// average over all orders
    #[arg(long, value_name = "RULE", default_value_t)]
    ties: Ties,
    /// Value of queries without relevant documents; zero, one, or skip
    #[arg(long, value_name = "RULE", default_value = "zero")]
    empty: Empty,
    /// Lowest relevant label for binary metrics
    #[arg(long, value_name = "LABEL", default_value_t = 1.0)]
    pub threshold: f32,
}

impl EvaluationArgs {
    /// Checks the options before any file is read.
    pub fn check(&self) -> anyhow::Result<()> {
        if !(self.threshold > 0.0 && self.threshold.is_finite()) {
            bail!(Usage(format!("--threshold {}: expected a positive number", self.threshold)));
        }
        Ok(())
    }

    pub fn conventions(&self) -> Conventions {
        Conventions { ties: self.ties, empty: self.empty, ..Conventions::default() }
    }

    pub fn metric(&self, name: &str) -> anyhow::Result<Arc<dyn Metric>> {
        let metric = parse_with(name, self.threshold)?;
        if self.ties == Ties::Average && metric.value_over_ties(&[1.0, 0.0], &[2], 2).is_none() {
            bail!(Usage(format!(
                "--ties average: {} has no closed form for the average: use document, pessimistic or optimistic",
                metric.name()
            )));
        }
        Ok(metric)
    }
}

/// Evaluation options of the commands that also evaluate runs.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    conventions: EvaluationArgs,
    /// Compute metrics as this program does; trec_eval, scikit-learn, lightgbm, xgboost or letor (LETOR 4.0's script).
    /// docs/conventions.md lists the differences
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["ties", "empty"])]
    like: Option<Peer>,
    /// Include judged queries that are missing from a run, as queries without retrieved documents
    #[arg(long)]
    pub complete: bool,
}

impl RunArgs {
    /// Like [`EvaluationArgs::check`].
    pub fn check(&self) -> anyhow::Result<()> {
        self.conventions.check()
    }

    /// Whether to compare scores and break ties as trec_eval does.
    pub fn like_trec_eval(&self) -> bool {
        self.like == Some(Peer::TrecEval)
    }

    /// The program of `--like`.
    pub fn like(&self) -> Option<Peer> {
        self.like
    }

    pub fn threshold(&self) -> f32 {
        self.conventions.threshold
    }

    pub fn conventions(&self) -> Conventions {
        match self.like {
            // Joining a run sorts equal scores in trec_eval's order.
            Some(peer) => peer.conventions(),
            None => self.conventions.conventions(),
        }
    }

    /// The default metrics: with `--like` those of the program.
    pub fn usual_metrics(&self) -> Vec<String> {
        let usual = self.like.map_or(&REPORTED_METRICS[..], Peer::usual_metrics);
        usual.iter().map(|&name| name.to_owned()).collect()
    }

    /// Returns the metrics of these names, without duplicates.
    pub fn metrics(&self, names: &[String]) -> anyhow::Result<Vec<Arc<dyn Metric>>> {
        let mut metrics: Vec<Arc<dyn Metric>> = Vec::new();
        for name in names {
            let metric = match self.like {
                Some(peer) => peer.metric(name, self.conventions.threshold)?,
                None => self.conventions.metric(name)?,
            };
            if metrics.iter().all(|earlier| earlier.name() != metric.name()) {
                metrics.push(metric);
            }
        }
        Ok(metrics)
    }

    /// Describes the conventions that these metrics depend on.
    pub fn words(&self, conventions: &Conventions, metrics: &[String]) -> String {
        let any = |is: fn(&MetricEntry) -> bool| metrics.iter().filter_map(|name| row(name)).any(is);
        let ties = match self.like {
            Some(peer) => peer.words().to_owned(),
            None => conventions.ties.to_string(),
        };
        let mut words = format!("ties: {ties}; queries without relevant documents: {}", conventions.empty);
        if any(|row| row.has_gain() || is_letor(row)) {
            let discount = discount(metrics);
            words += &format!("; gain: 2^y - 1, y for linear metrics; discount: {discount}");
        }
        if any(MetricEntry::is_binary) {
            words +=
                &format!("; relevant: label of {} or more unless the name sets another", self.conventions.threshold);
        }
        if any(|row| row.name == "map") {
            words += "; average precision: over all relevant documents";
        }
        if conventions.missing == Missing::Absent {
            words += "; judged but not retrieved: not ranked; retrieved but not judged: not relevant";
            words += if any(|row| row.name == "bpref") { ", ignored by bpref" } else { "" };
        }
        words
    }
}

fn row(name: &str) -> Option<&'static MetricEntry> {
    name.split([':', '@']).next().and_then(MetricEntry::find)
}

fn is_letor(row: &MetricEntry) -> bool {
    row.name == "letor-ndcg"
}

/// Describes the discount of these metrics. LETOR's script has a different one.
pub fn discount(metrics: &[String]) -> String {
    const USUAL: &str = "1 / log2(1 + rank)";
    const LETOR: &str = "1 at ranks 1 and 2, then 1 / log2(rank)";
    let rows = || metrics.iter().filter_map(|name| row(name));
    match (rows().any(is_letor), rows().any(MetricEntry::has_gain)) {
        (false, _) => USUAL.to_owned(),
        (true, false) => LETOR.to_owned(),
        (true, true) => format!("{USUAL}; of letor-ndcg: {LETOR}"),
    }
}

/// Returns a warning if no document is relevant for some binary metrics although labels are above 0, as with click rates.
pub fn unreached(metrics: &[Arc<dyn Metric>], labels: &[f32], offsets: &[usize]) -> Option<String> {
    let highest = labels.iter().copied().fold(0.0, f32::max);
    let is_unreached = |metric: &&Arc<dyn Metric>| {
        row(&metric.name()).is_some_and(MetricEntry::is_binary)
            && offsets.windows(2).all(|rows| metric.is_empty(&labels[rows[0]..rows[1]]))
    };
    let names: Vec<String> = metrics.iter().filter(is_unreached).map(|metric| metric.name()).collect();
    (highest > 0.0 && !names.is_empty()).then(|| {
        format!("no document is relevant by {}: the highest label, {highest}, is below the threshold", names.join(", "))
    })
}

/// Prints the warning of [`unreached`] on standard error, with the remedy.
pub fn note_unreached(file: &str, metrics: &[Arc<dyn Metric>], labels: &[f32], offsets: &[usize]) {
    if let Some(what) = unreached(metrics, labels, offsets) {
        super::ui::note(&format!(
            "{file}: {what}: lower --threshold, or set it in the metric's name, as in map:rel=0.5"
        ));
    }
}

/// Checks that a metric exists, before any file is read.
pub fn known_metric(name: &str) -> Result<String, burnrank::Error> {
    parse(name).map(|_| name.to_owned())
}
