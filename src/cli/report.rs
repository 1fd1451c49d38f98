//! `burnrank report`: an HTML page about one or more models.

mod evaluation;
mod explanation;
mod history;
mod html;
mod model;
mod reproduce;

use super::Usage;
use super::evaluation::{RunArgs, known_metric};
use super::explain::explain_model;
use super::input::{self, ReadArgs};
use super::output::{self, Output};
use super::prose;
use super::systems::names;
use super::ui::{self, counted};
use anyhow::bail;
use burnrank::analysis::explain::{ExplainOptions, Explanation};
use burnrank::metric::DEFAULT_METRIC;
use burnrank::{EpochRecord, Model, device};
use evaluation::Evaluation;
use html::{Section, aside, page, paragraph};
use serde_json::json;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  burnrank report model -o report.html
  burnrank report model --data test.txt -o report.html
  burnrank report net trees --data test.txt --baseline bm25.txt -o report.html

Writes one HTML file without scripts or external resources: learning curves, settings and the commands that train the \
models; with --data also metrics by rank, their distribution over queries, feature importance and significance tests. \
Without --baseline, models are compared with the first one, and a single model with the best single feature.";

/// Write an HTML report on models: learning curves, metrics, explanations, commands to retrain
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model folders
    #[arg(required = true, num_args = 1.., value_name = "DIR")]
    models: Vec<String>,
    /// HTML file to write
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Data to evaluate and explain the models on
    #[arg(long, value_name = "FILE")]
    data: Option<String>,
    /// Baseline: a model folder, a score file or a TREC run
    #[arg(long, value_name = "SYSTEM", requires = "data")]
    baseline: Option<String>,
    /// Metric
    #[arg(long, short, value_name = "NAME", default_value = DEFAULT_METRIC, value_parser = known_metric)]
    metric: String,
    /// Number of permutations per feature
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    repeats: u16,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Title of the page
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    evaluation: RunArgs,
    /// Print JSON about the file
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

/// A model with its name, its folder and its training log.
struct ReportedModel {
    name: String,
    path: String,
    model: Model,
    history: Vec<EpochRecord>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let to_stdout = output::is_stdout(&args.out);
    if args.json && to_stdout {
        bail!(Usage("--json needs a file to describe: set --out FILE".into()));
    }
    args.evaluation.check()?;
    let metrics = args.evaluation.metrics(std::slice::from_ref(&args.metric))?;
    let out = Output::new(&args.out, "--out", args.force)?;
    let systems: Vec<String> = args.models.iter().chain(&args.baseline).cloned().collect();
    let all_names = names(&systems)?;
    let models =
        args.models.iter().zip(&all_names).map(|(path, name)| read(path, name)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut explanations = Vec::new();
    let evaluation = match &args.data {
        None => None,
        Some(data) => {
            let evaluation = Evaluation::new(args, &systems, data)?;
            for (place, model) in models.iter().enumerate() {
                // Without --baseline, the first model is the baseline of the others.
                let baseline = args.baseline.as_ref().or((place > 0).then(|| &args.models[0]));
                let options = ExplainOptions {
                    conventions: args.evaluation.conventions(),
                    repeats: usize::from(args.repeats),
                    seed: args.seed,
                    ..ExplainOptions::default()
                };
                let data = evaluation.data().clone();
                let (name, baseline) = (evaluation.data_name(), baseline.map(Path::new));
                explanations.push(explain_model(&model.model, data, name, &*metrics[0], baseline, &options)?);
            }
            Some(evaluation)
        }
    };
    let text = html_page(args, &models, evaluation.as_ref(), &explanations)?;
    out.write_text(&text)?;
    if to_stdout {
        return Ok(());
    }
    let file = ui::printable(&args.out.display().to_string());
    if args.json {
        let names: Vec<&String> = models.iter().map(|model| &model.name).collect();
        return ui::print_json(&json!({ "file": file, "bytes": text.len(), "models": names, "data": args.data }));
    }
    let models = counted(models.len(), "model", "models");
    let size = burnrank::memory::readable(text.len() as u64);
    ui::print(&prose::paragraph(&format!("{file}: {models}, {size}; open it in a browser")))
}

fn read(path: &str, name: &str) -> anyhow::Result<ReportedModel> {
    let folder = Path::new(path);
    let model = Model::load(folder, &device::open("auto")?)?;
    // Imported models have no log.
    let log = folder.join("training.jsonl");
    let mut history = Vec::new();
    if log.is_file() {
        history = history::read_history(&log)?;
    }
    Ok(ReportedModel { name: name.to_owned(), path: path.to_owned(), model, history })
}

fn html_page(
    args: &Args,
    models: &[ReportedModel],
    evaluation: Option<&Evaluation>,
    explanations: &[Explanation],
) -> anyhow::Result<String> {
    let title = match (&args.title, models) {
        (Some(title), _) => title.clone(),
        (None, [one]) => format!("Model {}", one.name),
        (None, several) => format!("{} models: {}", several.len(), listed(several)),
    };
    let mut before = String::new();
    let mut sections = Vec::new();
    let comparisons = evaluation.map(|evaluation| evaluation.comparisons(args, explanations)).transpose()?;
    match evaluation.zip(comparisons.as_ref()) {
        Some((evaluation, comparisons)) => {
            for verdict in comparisons.verdicts() {
                before += &format!("<p class=\"verdict\">{}</p>\n", html::escape(&verdict));
            }
            sections.push(Section::new("metrics", "Metrics", evaluation.metrics(&args.metric)?));
            sections.push(Section::new("comparison", "Comparison", comparisons.section()?));
        }
        None => before += &aside("Not evaluated, because --data was not given: all metrics are from training."),
    }
    for (place, (model, explanation)) in models.iter().zip(explanations).enumerate() {
        let title = format!("Explanation of {}", model.name);
        sections.push(Section::new(&format!("explanation-{}", place + 1), &title, explanation::section(explanation)?));
    }
    sections.push(Section::new("training", "Training", model::training(models)?));
    sections.push(Section::new("configuration", "Configuration", model::configuration(models)));
    if let Some((evaluation, comparisons)) = evaluation.zip(comparisons.as_ref()) {
        let content = evaluation.conventions(args, comparisons, explanations);
        sections.push(Section::new("conventions", "Conventions", content));
    }
    sections.push(Section::new("reproduce", "How to reproduce", reproduce::section(args, models)));
    let after = paragraph(&format!("Written by burnrank {}.", env!("CARGO_PKG_VERSION")));
    if let Some(data) = &args.data {
        before += &aside(&format!(
            "Evaluated on {}, {}.",
            input::name(Path::new(data)),
            evaluation.map_or(String::new(), Evaluation::size)
        ));
    }
    Ok(page(&title, &before, &sections, &after))
}

fn listed(models: &[ReportedModel]) -> String {
    models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>().join(", ")
}
