//! `burnrank evaluate`: how good a ranking is.

use super::Usage;
use super::input::{self, ReadArgs};
use super::judging::{JudgeArgs, known_metric};
use super::ui::{self, Align, Bar, Table, count, counted, decimals};
use anyhow::bail;
use burnrank::{
    Conventions, KNOWN_METRICS, Metric, Missing, Model, Summary, device, join_run, judge, read_qrels, read_run,
    read_scores,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn after_help() -> String {
    let measures = KNOWN_METRICS.map(|(name, _, rest, what)| format!("  {:<17}  {what}\n", format!("{name}{rest}")));
    format!(
        "Measures:\n{}
Examples:
  burnrank evaluate --data test.txt --model model
  burnrank evaluate --data test.txt --scores scores.txt
  burnrank evaluate --data test.txt --scores scores.txt --metric ndcg@5,map:rel=2 --per-query
  burnrank evaluate --run run.txt --qrels qrels.txt --metric map,p@10 --ties document

Equal scores in document order, and ndcg:linear for ndcg, give trec_eval's values.",
        measures.concat()
    )
}

/// Judge a ranking by the field's measures: mean, standard error and 95% interval over queries
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
#[command(group = clap::ArgGroup::new("judgements").required(true).args(["data", "run"]))]
#[command(group = clap::ArgGroup::new("ranking").args(["scores", "model"]))]
pub struct Args {
    /// LETOR file with the labels; '-' is standard input
    #[arg(long, value_name = "FILE", requires = "ranking")]
    data: Option<PathBuf>,
    /// Scores of the data's documents, one a line
    #[arg(long, value_name = "FILE", requires = "data")]
    scores: Option<PathBuf>,
    /// Model folder that scores the data
    #[arg(long, value_name = "DIR", requires = "data", conflicts_with = "scores")]
    model: Option<PathBuf>,
    /// TREC run: 'qid Q0 docid rank score tag'
    #[arg(long, value_name = "FILE", requires = "qrels", conflicts_with = "data")]
    run: Option<PathBuf>,
    /// TREC judgements: 'qid iteration docid relevance'
    #[arg(long, value_name = "FILE", requires = "run")]
    qrels: Option<PathBuf>,
    /// Count judged queries that the run lacks, with nothing retrieved
    #[arg(long, requires = "run")]
    complete: bool,
    /// What to judge by; may be repeated [default: ndcg@10 map mrr]
    #[arg(long = "metric", short, value_name = "NAME", value_delimiter = ',', value_parser = known_metric)]
    metrics: Vec<String>,
    /// Print the value of each query
    #[arg(long)]
    per_query: bool,
    #[command(flatten)]
    judging: JudgeArgs,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

/// Scores and labels, query by query.
struct Ranking {
    /// What was judged, as in ("data", "test.txt: 10 queries").
    sources: Vec<(&'static str, String)>,
    query_ids: Vec<String>,
    scores: Vec<f64>,
    labels: Vec<f32>,
    offsets: Vec<usize>,
    /// Whether somebody judged the document; without the list, all are.
    judged: Option<Vec<bool>>,
    missing: Missing,
}

impl Ranking {
    /// The measure of each query.
    fn judge(&self, metric: &dyn Metric, conventions: &Conventions) -> burnrank::Result<Vec<Option<f64>>> {
        let Some(judged) = self.judged.as_ref().filter(|_| is_bpref(metric)) else {
            return judge(metric, &self.scores, &self.labels, &self.offsets, conventions);
        };
        let kept = |row: &usize| judged[*row];
        let scores: Vec<f64> = (0..judged.len()).filter(kept).map(|row| self.scores[row]).collect();
        let labels: Vec<f32> = (0..judged.len()).filter(kept).map(|row| self.labels[row]).collect();
        let mut offsets = vec![0];
        let mut end = 0;
        for rows in self.offsets.windows(2) {
            end += (rows[0]..rows[1]).filter(kept).count();
            offsets.push(end);
        }
        judge(metric, &scores, &labels, &offsets, conventions)
    }
}

/// Whether the measure tells documents that are not relevant from those that nobody judged.
fn is_bpref(metric: &dyn Metric) -> bool {
    metric.name().starts_with("bpref")
}

/// One measure of one ranking.
struct Judgement {
    metric: Arc<dyn Metric>,
    values: Vec<Option<f64>>,
    summary: Summary,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let metrics = metrics(args)?;
    let ranking = match (&args.data, &args.scores, &args.model, &args.run, &args.qrels) {
        (Some(data), Some(scores), ..) => scored_data(data, scores, &args.reading)?,
        (Some(data), _, Some(model), ..) => modelled_data(data, model, &args.reading)?,
        (.., Some(run), Some(qrels)) => judged_run(run, qrels, args.complete)?,
        _ => bail!(Usage("expected --data with --scores or --model, or --run with --qrels".into())),
    };
    let conventions = Conventions { missing: ranking.missing, ..args.judging.conventions() };
    let judged = |metric: Arc<dyn Metric>| {
        let values = ranking.judge(&*metric, &conventions)?;
        Ok(Judgement { metric, summary: Summary::of(&values), values })
    };
    let bar = Bar::working("judging");
    let judgements = metrics.into_iter().map(judged).collect::<anyhow::Result<Vec<_>>>()?;
    drop(bar);
    if args.json {
        return ui::print_json(&as_json(&ranking, &conventions, args, &judgements));
    }
    let mut text = header(&ranking, &conventions, args.judging.threshold);
    if args.per_query {
        text.push_str(&per_query(&ranking, &judgements));
        text.push('\n');
    }
    ui::print(&(text + &summaries(&judgements)))
}

/// The measures asked for, each once.
fn metrics(args: &Args) -> anyhow::Result<Vec<Arc<dyn Metric>>> {
    args.judging.check()?;
    let usual = ["ndcg@10", "map", "mrr"].map(str::to_owned);
    let names = if args.metrics.is_empty() { &usual[..] } else { &args.metrics };
    let mut metrics: Vec<Arc<dyn Metric>> = Vec::new();
    for name in names {
        let metric = args.judging.metric(name)?;
        if metrics.iter().all(|known| known.name() != metric.name()) {
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

fn scored_data(data_path: &Path, scores_path: &Path, reading: &ReadArgs) -> anyhow::Result<Ranking> {
    if input::is_stdin(data_path) && input::is_stdin(scores_path) {
        bail!(Usage("only one of --data and --scores can be standard input".into()));
    }
    if reading.lenient || reading.regroup {
        // Scores stand on the lines of the file: they no longer fit when documents are left out or moved.
        bail!(Usage(
            "--lenient and --regroup move documents away from their scores: 'burnrank convert' the data first".into()
        ));
    }
    let data = input::read_data(data_path, reading)?;
    let scores = read_scores(scores_path, data.n_documents())?;
    let size = format!("{}, {}", queries(data.n_queries()), documents(data.n_documents()));
    Ok(Ranking {
        sources: vec![("data", format!("{}: {size}", input::name(data_path))), ("scores", input::name(scores_path))],
        query_ids: data.query_ids().to_vec(),
        scores,
        labels: data.labels().to_vec(),
        offsets: data.offsets().to_vec(),
        judged: None,
        missing: Missing::Last,
    })
}

fn modelled_data(data_path: &Path, folder: &Path, reading: &ReadArgs) -> anyhow::Result<Ranking> {
    let device = device::open("auto")?;
    let model = Model::load(folder, &device)?;
    let data = input::read_data(data_path, reading)?;
    let bar = Bar::working("scoring");
    let scores = model.score(&data, &device)?;
    drop(bar);
    let size = format!("{}, {}", queries(data.n_queries()), documents(data.n_documents()));
    Ok(Ranking {
        sources: vec![
            ("data", format!("{}: {size}", input::name(data_path))),
            ("model", format!("{}: {}", input::name(folder), model.info.objective)),
        ],
        query_ids: data.query_ids().to_vec(),
        scores: scores.into_iter().map(f64::from).collect(),
        labels: data.labels().to_vec(),
        offsets: data.offsets().to_vec(),
        judged: None,
        missing: Missing::Last,
    })
}

fn judged_run(run_path: &Path, qrels_path: &Path, complete: bool) -> anyhow::Result<Ranking> {
    if input::is_stdin(run_path) && input::is_stdin(qrels_path) {
        bail!(Usage("only one of --run and --qrels can be standard input".into()));
    }
    let (run, qrels) = (read_run(run_path)?, read_qrels(qrels_path)?);
    let judged = join_run(&run, &qrels);
    let (run_name, qrels_name) = (input::name(run_path), input::name(qrels_path));
    if judged.queries.is_empty() {
        bail!("{run_name} and {qrels_name} have no query in common: are they of the same collection?");
    }
    let (mut query_ids, mut offsets) = (Vec::new(), vec![0]);
    let (mut scores, mut labels, mut known) = (Vec::new(), Vec::new(), Vec::new());
    for query in judged.queries {
        query_ids.push(query.id);
        scores.extend(query.scores);
        labels.extend(query.labels);
        known.extend(query.judged);
        offsets.push(labels.len());
    }
    if complete {
        let lacking: std::collections::HashSet<&String> = judged.not_in_run.iter().collect();
        for query in qrels.queries.iter().filter(|query| lacking.contains(&query.id)) {
            query_ids.push(query.id.clone());
            labels.extend(query.documents.iter().map(|(_, label)| label.max(0.0) as f32));
            known.extend(query.documents.iter().map(|(_, label)| *label >= 0.0));
            scores.resize(labels.len(), f64::NEG_INFINITY);
            offsets.push(labels.len());
        }
    }
    let left_out = |number: usize, why: &str| {
        if number == 0 { String::new() } else { format!("; {} {why}", queries(number)) }
    };
    let lacking = if complete { "counted with nothing retrieved" } else { "left out, not in the run" };
    let sources = vec![
        (
            "run",
            format!(
                "{run_name}: {}{}",
                queries(run.queries.len()),
                left_out(judged.not_judged.len(), "left out, not judged")
            ),
        ),
        (
            "qrels",
            format!("{qrels_name}: {}{}", queries(qrels.queries.len()), left_out(judged.not_in_run.len(), lacking)),
        ),
    ];
    Ok(Ranking { sources, query_ids, scores, labels, offsets, judged: Some(known), missing: Missing::Absent })
}

fn queries(number: usize) -> String {
    counted(number, "query", "queries")
}

fn documents(number: usize) -> String {
    counted(number, "document", "documents")
}

/// What was judged, and by which conventions.
fn header(ranking: &Ranking, conventions: &Conventions, threshold: f32) -> String {
    let missing = match conventions.missing {
        Missing::Last => "",
        Missing::Absent => {
            "; judged but not retrieved: without a rank; retrieved but not judged: not relevant, left out by bpref"
        }
    };
    let conventions = [
        ("ties", format!("equal scores: {}{missing}", conventions.ties)),
        ("empty", format!("nothing relevant: {}", conventions.empty)),
        ("gain", "2^y - 1, or y where the name says linear; discount 1 / log2(1 + rank)".into()),
        (
            "relevant",
            format!("label of {threshold} or more, where the name states none; average precision over all of these"),
        ),
    ];
    let lines = ranking.sources.iter().chain(&conventions).map(|(name, what)| format!("{name:<8}  {what}\n"));
    lines.collect::<String>() + "\n"
}

fn per_query(ranking: &Ranking, judgements: &[Judgement]) -> String {
    let names: Vec<String> = judgements.iter().map(|judgement| judgement.metric.name()).collect();
    let columns = names.iter().map(|name| (name.as_str(), Align::Right));
    let mut table = Table::new(&std::iter::once(("query", Align::Left)).chain(columns).collect::<Vec<_>>());
    for (query, id) in ranking.query_ids.iter().enumerate() {
        let values = judgements.iter().map(|judgement| decimals(judgement.values[query].unwrap_or(f64::NAN)));
        table.row(std::iter::once(id.clone()).chain(values));
    }
    table.render()
}

fn summaries(judgements: &[Judgement]) -> String {
    let mut table = Table::new(&[
        ("measure", Align::Left),
        ("mean", Align::Right),
        ("standard error", Align::Right),
        ("95% interval", Align::Left),
        ("queries", Align::Right),
        ("", Align::Left),
    ]);
    for Judgement { metric, summary, .. } in judgements {
        let (low, high) = summary.interval;
        let interval = if low.is_finite() { format!("{low:.4} to {high:.4}") } else { "-".into() };
        let skipped = (summary.skipped > 0).then(|| format!("{} skipped", count(summary.skipped)));
        let cost = metric.is_cost().then(|| "lower is better".to_owned());
        table.row([
            metric.name(),
            decimals(summary.mean),
            decimals(summary.standard_error),
            interval,
            count(summary.n),
            skipped.into_iter().chain(cost).collect::<Vec<_>>().join(", "),
        ]);
    }
    table.render()
}

fn as_json(ranking: &Ranking, conventions: &Conventions, args: &Args, judgements: &[Judgement]) -> Value {
    let measure = |Judgement { metric, summary, .. }: &Judgement| {
        json!({
            "name": metric.name(),
            "mean": summary.mean,
            "standard_error": summary.standard_error,
            "interval": [summary.interval.0, summary.interval.1],
            "queries": summary.n,
            "skipped": summary.skipped,
            "lower_is_better": metric.is_cost(),
        })
    };
    let mut report = json!({
        "sources": ranking.sources.iter().map(|(name, what)| (name.to_string(), json!(what))).collect::<serde_json::Map<_, _>>(),
        "conventions": {
            "ties": conventions.ties.to_string(),
            "empty": conventions.empty.to_string(),
            "missing": conventions.missing.to_string(),
            "gain": "2^y - 1, or y where the name says linear",
            "discount": "1 / log2(1 + rank)",
            "threshold": args.judging.threshold,
        },
        "queries": ranking.query_ids.len(),
        "measures": judgements.iter().map(measure).collect::<Vec<_>>(),
    });
    if args.per_query {
        let query = |(query, id): (usize, &String)| {
            let values = judgements.iter().map(|judgement| (judgement.metric.name(), json!(judgement.values[query])));
            json!({ "query": id, "values": values.collect::<serde_json::Map<_, _>>() })
        };
        report["per_query"] = ranking.query_ids.iter().enumerate().map(query).collect();
    }
    report
}
