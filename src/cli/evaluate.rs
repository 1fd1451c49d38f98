//! `burnrank evaluate`: how good a ranking is.

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
    let measures = METRICS.iter().map(|row| format!("  {:<17}  {}\n", row.pattern(), row.help));
    format!(
        "Measures:\n{}
Examples:
  burnrank evaluate --data test.txt --model model
  burnrank evaluate --data test.txt --scores scores.txt
  burnrank evaluate --data test.txt --scores scores.txt --metric ndcg@5,map:rel=2 --per-query
  burnrank evaluate --run run.txt --qrels qrels.txt --metric map,ndcg_cut_10 --like trec_eval

--like trec_eval gives trec_eval's values, --like lightgbm, xgboost, scikit-learn and letor those of these programs. trec_eval's \
         names of measures are known: ndcg_cut_10 is ndcg:linear@10, P_10 is p@10, recip_rank is mrr.",
        measures.collect::<String>()
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
    /// Scores of the data's documents, one per line, or a TREC run with their ids
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
    /// What to judge by; may be repeated [default: ndcg@10 map mrr; with --like the usual metrics of that
    /// program]
    #[arg(long = "metric", short, value_name = "NAME", value_delimiter = ',', value_parser = known_metric)]
    metrics: Vec<String>,
    /// Print the value of each query
    #[arg(long)]
    per_query: bool,
    #[command(flatten)]
    judging: RunArgs,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

/// What was judged, as in ("data", "test.txt: 10 queries").
type Sources = Vec<(&'static str, String)>;

/// One measure of one ranking.
struct Judgement {
    metric: Arc<dyn Metric>,
    values: Vec<Option<f64>>,
    summary: Summary,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let metrics = metrics(args)?;
    let (ranking, sources, warnings) = match (&args.data, &args.scores, &args.model, &args.run, &args.qrels) {
        (Some(data), Some(scores), ..) => without_warnings(scored_data(data, scores, args)?),
        (Some(data), _, Some(model), ..) => modelled_data(data, model, args)?,
        (.., Some(run), Some(qrels)) => without_warnings(judged_run(run, qrels, args)?),
        _ => bail!(Usage("expected --data with --scores or --model, or --run with --qrels".into())),
    };
    let labelled = args.data.as_deref().or(args.qrels.as_deref()).map_or_else(String::new, input::name);
    ranking.note_unreached(&labelled, &metrics);
    let conventions = Conventions { missing: ranking.missing, ..args.judging.conventions() };
    let judged = |metric: Arc<dyn Metric>| {
        let values = ranking.evaluate(&*metric, &conventions)?;
        Ok(Judgement { metric, summary: Summary::of(&values), values })
    };
    let bar = Bar::working("judging");
    let judgements = metrics.into_iter().map(judged).collect::<anyhow::Result<Vec<_>>>()?;
    drop(bar);
    if args.json {
        let mut report = as_json(&ranking, &sources, &conventions, args, &judgements);
        if !warnings.is_empty() {
            report["warnings"] = warnings.into();
        }
        return ui::print_json(&report);
    }
    let mut text = verdict(&ranking, &judgements) + "\n";
    if args.per_query {
        text.push_str(&per_query(&ranking, &judgements));
        text.push('\n');
    }
    text += &(summaries(&judgements) + "\n");
    sources.iter().for_each(|(name, what)| text += &named(name, what));
    let measures: Vec<String> = judgements.iter().map(|judgement| judgement.metric.name()).collect();
    ui::print(&(text + &named("judged", &args.judging.words(&conventions, &measures))))
}

fn without_warnings((ranking, sources): (Ranking, Sources)) -> (Ranking, Sources, Vec<String>) {
    (ranking, sources, Vec::new())
}

/// The measures asked for, each once.
fn metrics(args: &Args) -> anyhow::Result<Vec<Arc<dyn Metric>>> {
    args.judging.check()?;
    if args.metrics.is_empty() {
        return args.judging.metrics(&args.judging.usual_metrics());
    }
    args.judging.metrics(&args.metrics)
}

fn scored_data(data_path: &Path, scores_path: &Path, args: &Args) -> anyhow::Result<(Ranking, Sources)> {
    if input::is_stdin(data_path) && input::is_stdin(scores_path) {
        bail!(Usage("only one of --data and --scores can be standard input".into()));
    }
    args.reading.check_keeps_lines()?;
    if scores_path.is_dir() {
        bail!("{}: expected a file of scores; a model folder is given with --model", input::name(scores_path));
    }
    let data = input::read_data(data_path, &args.reading)?;
    let (data_name, scores_name) = (input::name(data_path), input::name(scores_path));
    let ranking = Ranking::of_system(scores_path, &data, &data_name, &args.judging)?;
    let (own, fit) = (format!("{data_name}: {}", size(&data)), ranking.fit);
    let sources = match fit {
        None => vec![("data", own), ("scores", scores_name)],
        Some(fit) => vec![
            ("data", format!("{own}{}", fit.of_judgements())),
            ("run", format!("{scores_name}: {}{}", queries(fit.queries), fit.of_run())),
        ],
    };
    Ok((ranking, sources))
}

fn modelled_data(data_path: &Path, folder: &Path, args: &Args) -> anyhow::Result<(Ranking, Sources, Vec<String>)> {
    let model = Model::load(folder, &device::open("auto")?)?;
    warnings::print(&model, folder);
    let data = input::read_data(data_path, &args.reading)?;
    let data_name = input::name(data_path);
    let bar = Bar::working("scoring");
    let ranking = Ranking::of_model(&model, &data, &data_name, &args.judging)?;
    drop(bar);
    let sources = vec![
        ("data", format!("{data_name}: {}", size(&data))),
        ("model", format!("{}: {}", input::name(folder), model.info.objective)),
    ];
    Ok((ranking, sources, model.warnings()))
}

fn judged_run(run_path: &Path, qrels_path: &Path, args: &Args) -> anyhow::Result<(Ranking, Sources)> {
    if input::is_stdin(run_path) && input::is_stdin(qrels_path) {
        bail!(Usage("only one of --run and --qrels can be standard input".into()));
    }
    let (run, qrels) = (read_run(run_path)?, read_qrels(qrels_path)?);
    let (run_name, qrels_name) = (input::name(run_path), input::name(qrels_path));
    let ranking = Ranking::of_run(run, &qrels, (&run_name, &qrels_name), &args.judging)?;
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

/// What the first measure came to, and whether all queries were judged.
fn verdict(ranking: &Ranking, judgements: &[Judgement]) -> String {
    let mut text = String::new();
    if let Some(Judgement { metric, summary, .. }) = judgements.first() {
        let (low, high) = summary.interval;
        let interval = if low.is_finite() {
            format!(" (95% interval {} to {})", fixed(low, 4), fixed(high, 4))
        } else {
            String::new()
        };
        text += &match summary.n {
            0 => format!("{}: no query counts.", metric.name()),
            n => format!("{} is {}{interval} over {}.", metric.name(), fixed(summary.mean, 4), queries(n)),
        };
    }
    if let Some(fit) = ranking.fit.filter(|fit| fit.not_in_run > 0) {
        text += &format!(" The run lacks {} that {} judged.", queries(fit.not_in_run), are(fit.not_in_run));
    }
    if ranking.says_nothing() {
        text += " All scores are the same.";
    }
    paragraph(&text)
}

fn are(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

fn per_query(ranking: &Ranking, judgements: &[Judgement]) -> String {
    let names: Vec<String> = judgements.iter().map(|judgement| judgement.metric.name()).collect();
    let columns = names.iter().map(|name| (name.as_str(), Align::Right));
    let mut table = Table::new(&std::iter::once(("query", Align::Left)).chain(columns).collect::<Vec<_>>());
    for (query, id) in ranking.query_ids.iter().enumerate() {
        let values = judgements.iter().map(|judgement| fixed(judgement.values[query].unwrap_or(f64::NAN), 4));
        table.row(std::iter::once(id.clone()).chain(values));
    }
    ui::table(&table)
}

fn summaries(judgements: &[Judgement]) -> String {
    let mut table = Table::new(&[
        ("measure", Align::Left),
        ("mean", Align::Right),
        ("standard error", Align::Right),
        ("95% interval", Align::Left),
        ("queries", Align::Right),
    ]);
    let mut notes = String::new();
    for Judgement { metric, summary, .. } in judgements {
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
        let own = skipped.into_iter().chain(cost).collect::<Vec<_>>().join(", ");
        if !own.is_empty() {
            notes += &paragraph(&format!("{}: {own}", metric.name()));
        }
    }
    ui::table(&table) + &notes
}

fn as_json(
    ranking: &Ranking,
    sources: &Sources,
    conventions: &Conventions,
    args: &Args,
    judgements: &[Judgement],
) -> Value {
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
        "sources": sources.iter().map(|(name, what)| (name.to_string(), json!(what))).collect::<serde_json::Map<_, _>>(),
        "conventions": {
            "ties": conventions.ties.to_string(),
            "empty": conventions.empty.to_string(),
            "missing": conventions.missing.to_string(),
            "gain": "2^y - 1, or y where the name says linear",
            "discount": discount(&judgements.iter().map(|judgement| judgement.metric.name()).collect::<Vec<_>>()),
            "threshold": args.judging.threshold(),
            "like": args.judging.like().map(burnrank::metric::Peer::name),
        },
        "queries": ranking.query_ids.len(),
        "metrics": judgements.iter().map(measure).collect::<Vec<_>>(),
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
