//! `burnrank report`: one page about one model or several.

mod evaluation;
mod explanation;
mod history;
mod html;
mod model;
mod reproduce;

use super::Usage;
use super::evaluation::{RunArgs, known_metric};
use super::explain::explained;
use super::input::{self, ReadArgs};
use super::output::{self, Output};
use super::prose;
use super::systems::names;
use super::ui::{self, counted};
use anyhow::bail;
use burnrank::analysis::explain::{ExplainOptions, Explanation};
use burnrank::metric::DEFAULT_METRIC;
use burnrank::{EpochRecord, Model, device};
use evaluation::Judged;
use html::{Section, aside, page, paragraph};
use serde_json::json;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  burnrank report model -o report.html
  burnrank report model --data test.txt -o report.html
  burnrank report net trees --data test.txt --baseline bm25.txt -o report.html

One file that needs no network and no script: learning curves, settings and the commands that train the models; with \
--data also measures by rank, their distribution over queries, what the models learnt, and whether differences are real. \
Without --baseline, the models are compared with the first one, and a single model with the best single feature.";

/// One page about models: curves, measures, what they learnt, how to train them again
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model folders
    #[arg(required = true, num_args = 1.., value_name = "DIR")]
    models: Vec<String>,
    /// The page to write
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// LETOR file to judge and explain the models on
    #[arg(long, value_name = "FILE")]
    data: Option<String>,
    /// Compare with this: a model folder, scores, one per line, or a TREC run
    #[arg(long, value_name = "SYSTEM", requires = "data")]
    baseline: Option<String>,
    /// The measure
    #[arg(long, short, value_name = "NAME", default_value = DEFAULT_METRIC, value_parser = known_metric)]
    metric: String,
    /// How often the values of a feature are permuted
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    repeats: u16,
    /// The seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// The title of the page
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Replace the file if it is there already
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    judging: RunArgs,
    /// Print JSON about the file for machines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

/// A model with its name and the log of its training.
struct Shown {
    name: String,
    path: String,
    model: Model,
    history: Vec<EpochRecord>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let to_stdout = output::is_stdout(&args.out);
    if args.json && to_stdout {
        bail!(Usage("--json describes the written file: say where with --out FILE".into()));
    }
    args.judging.check()?;
    let metrics = args.judging.metrics(std::slice::from_ref(&args.metric))?;
    let out = Output::new(&args.out, "--out", args.force)?;
    let systems: Vec<String> = args.models.iter().chain(&args.baseline).cloned().collect();
    let all_names = names(&systems)?;
    let shown =
        args.models.iter().zip(&all_names).map(|(path, name)| read(path, name)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut explained_models = Vec::new();
    let judged = match &args.data {
        None => None,
        Some(data) => {
            let judged = Judged::new(args, &systems, data)?;
            for (place, shown) in shown.iter().enumerate() {
                // The first model is what the others are compared with, where nothing else is.
                let baseline = args.baseline.as_ref().or((place > 0).then(|| &args.models[0]));
                let options = ExplainOptions {
                    conventions: args.judging.conventions(),
                    repeats: usize::from(args.repeats),
                    seed: args.seed,
                    ..ExplainOptions::default()
                };
                let data = judged.data().clone();
                let (name, baseline) = (judged.data_name(), baseline.map(Path::new));
                explained_models.push(explained(&shown.model, data, name, &*metrics[0], baseline, &options)?);
            }
            Some(judged)
        }
    };
    let text = written(args, &shown, judged.as_ref(), &explained_models)?;
    out.write_text(&text)?;
    if to_stdout {
        return Ok(());
    }
    let file = ui::printable(&args.out.display().to_string());
    if args.json {
        let names: Vec<&String> = shown.iter().map(|shown| &shown.name).collect();
        return ui::print_json(&json!({ "file": file, "bytes": text.len(), "models": names, "data": args.data }));
    }
    let models = counted(shown.len(), "model", "models");
    let size = burnrank::memory::readable(text.len() as u64);
    ui::print(&prose::paragraph(&format!("{file}: {models}, {size}; open it in a browser")))
}

fn read(path: &str, name: &str) -> anyhow::Result<Shown> {
    let folder = Path::new(path);
    let model = Model::load(folder, &device::open("auto")?)?;
    // Models that were imported or made by hand have no log.
    let log = folder.join("training.jsonl");
    let mut history = Vec::new();
    if log.is_file() {
        history = history::read_history(&log)?;
    }
    Ok(Shown { name: name.to_owned(), path: path.to_owned(), model, history })
}

/// The whole page.
fn written(args: &Args, shown: &[Shown], judged: Option<&Judged>, explained: &[Explanation]) -> anyhow::Result<String> {
    let title = match (&args.title, shown) {
        (Some(title), _) => title.clone(),
        (None, [one]) => format!("The model {}", one.name),
        (None, several) => format!("{} models: {}", several.len(), listed(several)),
    };
    let mut before = String::new();
    let mut sections = Vec::new();
    let compared = judged.map(|judged| judged.comparisons(args, explained)).transpose()?;
    match judged.zip(compared.as_ref()) {
        Some((judged, compared)) => {
            for verdict in compared.verdicts() {
                before += &format!("<p class=\"verdict\">{}</p>\n", html::escape(&verdict));
            }
            sections.push(Section::new("measures", "Measures", judged.measures(&args.metric)?));
            sections.push(Section::new("comparison", "Comparison", compared.section()?));
        }
        None => before += &aside("Without --data, the models are not judged here: these are the numbers of training."),
    }
    for (place, (shown, found)) in shown.iter().zip(explained).enumerate() {
        let title = format!("What {} learnt", shown.name);
        sections.push(Section::new(&format!("learnt-{}", place + 1), &title, explanation::section(found)?));
    }
    sections.push(Section::new("training", "Training", model::training(shown)?));
    sections.push(Section::new("configuration", "Configuration", model::configuration(shown)));
    if let Some((judged, compared)) = judged.zip(compared.as_ref()) {
        sections.push(Section::new("conventions", "Conventions", judged.conventions(args, compared, explained)));
    }
    sections.push(Section::new("reproduce", "How to reproduce", reproduce::section(args, shown)));
    let after = paragraph(&format!("Written by burnrank {}.", env!("CARGO_PKG_VERSION")));
    if let Some(data) = &args.data {
        before += &aside(&format!(
            "Judged on {}, {}.",
            input::name(Path::new(data)),
            judged.map_or(String::new(), Judged::size)
        ));
    }
    Ok(page(&title, &before, &sections, &after))
}

fn listed(shown: &[Shown]) -> String {
    shown.iter().map(|shown| shown.name.as_str()).collect::<Vec<_>>().join(", ")
}
