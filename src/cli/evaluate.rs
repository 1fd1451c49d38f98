//! `burnrank evaluate`: evaluates a ranking by ranking metrics.

use super::evaluation::{RunArgs, discount, known_metric};
use super::input::{self, ReadArgs};
use super::prose::{fixed, named, paragraph};
use super::ranking::{Ranking, size};
use super::ui::{self, Align, Bar, Table, count, counted};
use super::{Usage, warnings};
use anyhow::bail;
use burnrank::data::trec::{read_qrels, read_run};
use burnrank::metric::Summary;
use burnrank::{Conventions, METRICS, Metric, Model, device};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn after_help() -> String {
    let metrics = METRICS.iter().map(|row| format!("  {:<17}  {}\n", row.pattern(), row.help));
    format!(
        "Metrics:\n{}
Examples:
  burnrank evaluate --data test.txt --model model
  burnrank evaluate --data test.txt --scores scores.txt
  burnrank evaluate --data test.txt --scores scores.txt --metric ndcg@5,map:rel=2 --per-query
  burnrank evaluate --run run.txt --qrels qrels.txt --metric map,ndcg_cut_10 --like trec_eval

--like trec_eval, lightgbm, xgboost, scikit-learn or letor computes metrics as that program does. trec_eval's names of \
         metrics are accepted: ndcg_cut_10 is ndcg:linear@10, P_10 is p@10, recip_rank is mrr.",
        metrics.collect::<String>()
    )
}

/// Evaluate a ranking: mean, standard error and 95% interval of ranking metrics over queries
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
#[command(group = clap::ArgGroup::new("labels").required(true).args(["data", "run"]))]
#[command(group = clap::ArgGroup::new("ranking").args(["scores", "model"]))]
pub struct Args {
    /// Data with the labels; '-' is standard input
    #[arg(long, value_name = "FILE", requires = "ranking")]
    data: Option<PathBuf>,
    /// Scores of the documents, one per line, or a TREC run
    #[arg(long, value_name = "FILE", requires = "data")]
    scores: Option<PathBuf>,
    /// Model folder
    #[arg(long, value_name = "DIR", requires = "data", conflicts_with = "scores")]
    model: Option<PathBuf>,
    /// TREC run: 'qid Q0 docid rank score tag'
    #[arg(long, value_name = "FILE", requires = "qrels", conflicts_with = "data")]
    run: Option<PathBuf>,
    /// TREC judgements: 'qid iteration docid relevance'
    #[arg(long, value_name = "FILE", requires = "run")]
    qrels: Option<PathBuf>,
    /// Metrics; separated by commas or repeated [default: ndcg@10,map,mrr; with --like the program's usual metrics]
    #[arg(long = "metric", short, value_name = "NAME", value_delimiter = ',', value_parser = known_metric)]
    metrics: Vec<String>,
    /// Print the value of each query
    #[arg(long)]
    per_query: bool,
    #[command(flatten)]
    evaluation: RunArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

/// Inputs and their descriptions, as in ("data", "test.txt: 10 queries").
type Sources = Vec<(&'static str, String)>;

/// Values of a metric.
struct Evaluation {
    metric: Arc<dyn Metric>,
    values: Vec<Option<f64>>,
    summary: Summary,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let metrics = metrics(args)?;
    let (ranking, sources, warnings) = match (&args.data, &args.scores, &args.model, &args.run, &args.qrels) {
        (Some(data), Some(scores), ..) => without_warnings(scored_data(data, scores, args)?),
        (Some(data), _, Some(model), ..) => model_on_data(data, model, args)?,
        (.., Some(run), Some(qrels)) => without_warnings(evaluate_run(run, qrels, args)?),
        _ => bail!(Usage("expected --data with --scores or --model, or --run with --qrels".into())),
    };
    let labelled = args.data.as_deref().or(args.qrels.as_deref()).map_or_else(String::new, input::name);
    ranking.note_unreached(&labelled, &metrics);
    let conventions = Conventions { missing: ranking.missing, ..args.evaluation.conventions() };
    let evaluate = |metric: Arc<dyn Metric>| {
        let values = ranking.evaluate(&*metric, &conventions)?;
        Ok(Evaluation { metric, summary: Summary::of(&values), values })
    };
    let bar = Bar::working("evaluating");
    let evaluations = metrics.into_iter().map(evaluate).collect::<anyhow::Result<Vec<_>>>()?;
    drop(bar);
    if args.json {
        let mut report = as_json(&ranking, &sources, &conventions, args, &evaluations);
        if !warnings.is_empty() {
            report["warnings"] = warnings.into();
        }
        return ui::print_json(&report);
    }
    let mut text = verdict(&ranking, &evaluations) + "\n";
    if args.per_query {
        text.push_str(&per_query(&ranking, &evaluations));
        text.push('\n');
    }
    text += &(summaries(&evaluations) + "\n");
    sources.iter().for_each(|(name, what)| text += &named(name, what));
    let names: Vec<String> = evaluations.iter().map(|evaluation| evaluation.metric.name()).collect();
    ui::print(&(text + &named("conventions", &args.evaluation.words(&conventions, &names))))
}

fn without_warnings((ranking, sources): (Ranking, Sources)) -> (Ranking, Sources, Vec<String>) {
    (ranking, sources, Vec::new())
}

/// Returns the metrics to evaluate, without duplicates.
fn metrics(args: &Args) -> anyhow::Result<Vec<Arc<dyn Metric>>> {
    args.evaluation.check()?;
    if args.metrics.is_empty() {
        return args.evaluation.metrics(&args.evaluation.usual_metrics());
    }
    args.evaluation.metrics(&args.metrics)
}

fn scored_data(data_path: &Path, scores_path: &Path, args: &Args) -> anyhow::Result<(Ranking, Sources)> {
    if input::is_stdin(data_path) && input::is_stdin(scores_path) {
        bail!(Usage("only one of --data and --scores can be standard input".into()));
    }
    args.reading.check_keeps_lines()?;
    if scores_path.is_dir() {
        bail!("{}: expected a score file; use --model for a model folder", input::name(scores_path));
    }
    let data = input::read_data(data_path, &args.reading)?;
    let (data_name, scores_name) = (input::name(data_path), input::name(scores_path));
    let ranking = Ranking::of_system(scores_path, &data, &data_name, &args.evaluation)?;
    let about = format!("{data_name}: {}", size(&data));
    let sources = match ranking.fit {
        None => vec![("data", about), ("scores", scores_name)],
        Some(fit) => vec![
            ("data", format!("{about}{}", fit.of_judgements())),
            ("run", format!("{scores_name}: {}{}", queries(fit.queries), fit.of_run())),
        ],
    };
    Ok((ranking, sources))
}

fn model_on_data(data_path: &Path, folder: &Path, args: &Args) -> anyhow::Result<(Ranking, Sources, Vec<String>)> {
    let model = Model::load(folder, &device::open("auto")?)?;
    warnings::print(&model, folder);
    let data = input::read_data(data_path, &args.reading.for_model(&model))?;
    let data_name = input::name(data_path);
    let bar = Bar::working("scoring");
    let ranking = Ranking::of_model(&model, &data, &data_name, &args.evaluation)?;
    drop(bar);
    let sources = vec![
        ("data", format!("{data_name}: {}", size(&data))),
        ("model", format!("{}: {}", input::name(folder), model.info.objective)),
    ];
    Ok((ranking, sources, model.warnings()))
}

fn evaluate_run(run_path: &Path, qrels_path: &Path, args: &Args) -> anyhow::Result<(Ranking, Sources)> {
    if input::is_stdin(run_path) && input::is_stdin(qrels_path) {
        bail!(Usage("only one of --run and --qrels can be standard input".into()));
    }
    let (run, qrels) = (read_run(run_path)?, read_qrels(qrels_path)?);
    let (run_name, qrels_name) = (input::name(run_path), input::name(qrels_path));
    let ranking = Ranking::of_run(run, &qrels, (&run_name, &qrels_name), &args.evaluation)?;
    let fit = ranking.fit.unwrap_or_default();
    let sources = vec![
        ("run", format!("{run_name}: {}{}", queries(fit.queries), fit.of_run())),
        ("qrels", format!("{qrels_name}: {}{}", queries(qrels.queries.len()), fit.of_judgements())),
    ];
    Ok((ranking, sources))
}

fn queries(number: usize) -> String {
    counted(number, "query", "queries")
}

/// Returns the value of the first metric, and what is unusual about the ranking.
fn verdict(ranking: &Ranking, evaluations: &[Evaluation]) -> String {
    let mut text = String::new();
    if let Some(Evaluation { metric, summary, .. }) = evaluations.first() {
        let (low, high) = summary.interval;
        let interval = if low.is_finite() {
            format!(" (95% interval {} to {})", fixed(low, 4), fixed(high, 4))
        } else {
            String::new()
        };
        text += &match summary.n {
            0 => format!("{} is undefined: all queries are skipped.", metric.name()),
            n => format!("{} is {}{interval} over {}.", metric.name(), fixed(summary.mean, 4), queries(n)),
        };
    }
    if let Some(fit) = ranking.fit.filter(|fit| fit.not_in_run > 0) {
        text += &format!(" {} of the judgements {} not in the run.", queries(fit.not_in_run), are(fit.not_in_run));
    }
    if ranking.is_constant() {
        text += " All scores are equal.";
    }
    paragraph(&text)
}

fn are(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

fn per_query(ranking: &Ranking, evaluations: &[Evaluation]) -> String {
    let names: Vec<String> = evaluations.iter().map(|evaluation| evaluation.metric.name()).collect();
    let columns = names.iter().map(|name| (name.as_str(), Align::Right));
    let mut table = Table::new(&std::iter::once(("query", Align::Left)).chain(columns).collect::<Vec<_>>());
    for (query, id) in ranking.query_ids.iter().enumerate() {
        let values = evaluations.iter().map(|evaluation| fixed(evaluation.values[query].unwrap_or(f64::NAN), 4));
        table.row(std::iter::once(id.clone()).chain(values));
    }
    ui::table(&table)
}

fn summaries(evaluations: &[Evaluation]) -> String {
    let mut table = Table::new(&[
        ("metric", Align::Left),
        ("mean", Align::Right),
        ("standard error", Align::Right),
        ("95% interval", Align::Left),
        ("queries", Align::Right),
    ]);
    let mut notes = String::new();
    for Evaluation { metric, summary, .. } in evaluations {
        let (low, high) = summary.interval;
        let interval = if low.is_finite() { format!("{} to {}", fixed(low, 4), fixed(high, 4)) } else { "-".into() };
        table.row([
            metric.name(),
            fixed(summary.mean, 4),
            fixed(summary.standard_error, 4),
            interval,
            count(summary.n),
        ]);
        let skipped = (summary.skipped > 0).then(|| format!("{} skipped", count(summary.skipped)));
        let cost = metric.is_cost().then(|| "lower is better".to_owned());
        let note = skipped.into_iter().chain(cost).collect::<Vec<_>>().join(", ");
        if !note.is_empty() {
            notes += &paragraph(&format!("{}: {note}", metric.name()));
        }
    }
    ui::table(&table) + &notes
}

fn as_json(
    ranking: &Ranking,
    sources: &Sources,
    conventions: &Conventions,
    args: &Args,
    evaluations: &[Evaluation],
) -> Value {
    let metric = |Evaluation { metric, summary, .. }: &Evaluation| {
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
        "sources": sources.iter().map(|(name, what)| (name.to_string(), json!(what))).collect::<serde_json::Map<_, _>>(),
        "conventions": {
            "ties": conventions.ties.to_string(),
            "empty": conventions.empty.to_string(),
            "missing": conventions.missing.to_string(),
            "gain": "2^y - 1; y for linear metrics",
            "discount": discount(&evaluations.iter().map(|evaluation| evaluation.metric.name()).collect::<Vec<_>>()),
            "threshold": args.evaluation.threshold(),
            "like": args.evaluation.like().map(burnrank::metric::Peer::name),
        },
        "queries": ranking.query_ids.len(),
        "metrics": evaluations.iter().map(metric).collect::<Vec<_>>(),
    });
    if args.per_query {
        let query = |(query, id): (usize, &String)| {
            let values =
                evaluations.iter().map(|evaluation| (evaluation.metric.name(), json!(evaluation.values[query])));
            json!({ "query": id, "values": values.collect::<serde_json::Map<_, _>>() })
        };
        report["per_query"] = ranking.query_ids.iter().enumerate().map(query).collect();
    }
    report
}
