//! `burnrank explain`: what a model learnt.

mod baseline;
mod text;

pub use text::{DO_NOT_ADD_UP, decision, methods, summary};

use super::Usage;
use super::evaluation::{EvaluationArgs, known_metric, note_unreached};
use super::figure;
use super::input::{self, ReadArgs};
use super::output;
use super::ui::{self, Bar, Unit};
use super::widths;
use anyhow::{Context, bail};
use baseline::read_baseline;
use burnrank::analysis::explain::{BaselineScores, ExplainOptions, Explanation, Permute, explain};
use burnrank::data::FeatureNames;
use burnrank::metric::DEFAULT_METRIC;
use burnrank::{Dataset, Metric, Model, device};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  burnrank explain --model model --data test.txt
  burnrank explain --model model --data test.txt --baseline bm25.txt --figures figures
  burnrank explain --model model --data test.txt --metric map --permute file --json

The importance of a feature is how far the measure falls when documents exchange its values: those of one query, or with \
--permute file those of the whole file. Intervals and p-values are over queries, corrected for the number of features by \
Holm's method. For the queries with the largest gain and loss, shows the two documents responsible, and the part of each \
feature in the difference of their scores: exact for linear nets and trees, by integrated gradients within 0.1% for other nets.";

/// What a model learnt: which features matter, how, and why queries won or lost
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// The queries to judge by, best those it was not trained on; '-' is standard input
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The measure
    #[arg(long, short, value_name = "NAME", default_value = DEFAULT_METRIC, value_parser = known_metric)]
    metric: String,
    /// Compare with this: a model folder, scores, one per line, or a TREC run [default: the best single feature]
    #[arg(long, value_name = "SYSTEM")]
    baseline: Option<PathBuf>,
    /// Between which documents a feature's values are exchanged: those of a query, or all of the file
    #[arg(long, value_name = "WITHIN", default_value_t)]
    permute: Permute,
    /// How often
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    repeats: u16,
    /// How many features are shown
    #[arg(long, value_name = "N", default_value_t = 15)]
    top: usize,
    /// How many queries are shown that won most, and how many that lost most
    #[arg(long, value_name = "N", default_value_t = 3)]
    queries: usize,
    /// The seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Draw all of it as SVG into this folder
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Replace figures that exist
    #[arg(long)]
    force: bool,
    /// Names of the features, lines of 'index name' [default: those of the model]
    #[arg(long, value_name = "FILE")]
    feature_names: Option<PathBuf>,
    #[command(flatten)]
    judging: EvaluationArgs,
    /// Print JSON for machines, with all features
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    if let Some(folder) = &args.figures {
        output::check_folder(folder, "--figures", args.force, figure::is_of_an_explanation)?;
    }
    args.judging.check()?;
    if let Some(baseline) = args.baseline.as_ref().filter(|path| !path.is_dir()) {
        args.reading.check_keeps_lines()?;
        if input::is_stdin(baseline) && input::is_stdin(&args.data) {
            bail!(Usage("only one of --data and --baseline can be standard input".into()));
        }
    }
    let metric = args.judging.metric(&args.metric)?;
    let mut model = Model::load(&args.model, &device::open("auto")?)?;
    let names =
        args.feature_names.as_ref().map(|path| FeatureNames::read(path, args.reading.first_index)).transpose()?;
    let names = names.map(|names| names.of_width(model.info.ranker.features)).transpose()?;
    let mut data = input::read_data(&args.data, &args.reading)?;
    if let Some(names) = names {
        // A table's columns are found by the names that the model was trained with.
        data = widths::fit_model(data, &model, &input::name(&args.data))?.without_feature_names();
        model.info.feature_names = names;
    }
    data.load()?;
    note_unreached(&input::name(&args.data), std::slice::from_ref(&metric), data.labels(), data.offsets());
    let options = ExplainOptions {
        conventions: args.judging.conventions(),
        permute: args.permute,
        repeats: usize::from(args.repeats),
        seed: args.seed,
        queries: args.queries,
        ..ExplainOptions::default()
    };
    let found = explained(&model, data, &input::name(&args.data), &*metric, args.baseline.as_deref(), &options)?;
    if let Some(folder) = &args.figures {
        figure::explanation((folder, args.force), &found, args.top)?;
    }
    if args.json {
        return ui::print_json(&as_json(args, &found)?);
    }
    ui::print(&text::text(args, &model, &found))
}

/// Explains a model, with progress on standard error.
pub fn explained(
    model: &Model,
    data: Dataset,
    data_name: &str,
    metric: &dyn Metric,
    baseline: Option<&Path>,
    options: &ExplainOptions,
) -> anyhow::Result<Explanation> {
    let baseline =
        baseline.map(|path| Ok::<_, anyhow::Error>((input::name(path), read_baseline(path, &data, data_name)?)));
    let baseline = baseline.transpose()?;
    let baseline = baseline.as_ref().map(|(name, scores)| BaselineScores { name, scores });
    let width = data.n_features();
    let bar = Bar::new("explaining", Unit::Share);
    let progress = |share: f64| bar.update((share * 1000.0) as u64, Some(1000));
    let found = explain(model, data, metric, baseline, options, &progress).with_context(|| data_name.to_owned())?;
    drop(bar);
    widths::tell(data_name, width, model.info.ranker.features);
    Ok(found)
}

fn as_json(args: &Args, found: &Explanation) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(found)?;
    named(&mut value, &found.feature_names);
    let importance = &found.model_importance;
    let values: serde_json::Map<String, Value> =
        found.feature_names.iter().cloned().zip(importance.values.iter().map(|&value| json!(value))).collect();
    value["model_importance"] =
        json!({ "kind": importance.kind, "description": importance.kind.words(), "values": values });
    Ok(json!({ "model": args.model.display().to_string(), "data": input::name(&args.data), "explanation": value }))
}

/// Adds the name of its feature to every object that has one.
fn named(value: &mut Value, names: &[String]) {
    match value {
        Value::Object(fields) => {
            let feature = fields.get("feature").and_then(Value::as_u64).and_then(|place| names.get(place as usize));
            if let Some(name) = feature {
                fields.insert("name".into(), name.clone().into());
            }
            fields.values_mut().for_each(|value| named(value, names));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| named(value, names)),
        _ => {}
    }
}
