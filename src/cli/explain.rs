//! `burnrank explain`: feature importance, partial dependence, and why queries gained or lost.

mod baseline;
mod text;

pub use text::{DO_NOT_ADD_UP, TIES, decision, methods, summary};

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

The importance of a feature is the drop of the metric when its values are permuted within each query, or with --permute file \
across all documents. Intervals and p-values are over queries, corrected for the number of features by Holm's method. For \
the queries with the largest gain and loss, the output shows the two documents responsible and each feature's contribution \
to the difference of their scores: exact for linear nets and trees, within 0.1% by integrated gradients for other nets.";

/// Explain a model: feature importance, partial dependence, and why queries gained or lost
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Data to explain the model on, ideally not its training data; '-' is standard input
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Metric
    #[arg(long, short, value_name = "NAME", default_value = DEFAULT_METRIC, value_parser = known_metric)]
    metric: String,
    /// Baseline: a model folder, a score file or a TREC run [default: the best single feature]
    #[arg(long, value_name = "SYSTEM")]
    baseline: Option<PathBuf>,
    /// Permute a feature's values among the documents of each query, or of the whole file
    #[arg(long, value_name = "WITHIN", default_value_t)]
    permute: Permute,
    /// Number of permutations per feature
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    repeats: u16,
    /// Number of features to show
    #[arg(long, value_name = "N", default_value_t = 15)]
    top: usize,
    /// Number of queries to show with the largest gains, and with the largest losses
    #[arg(long, value_name = "N", default_value_t = 3)]
    queries: usize,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Write all figures as SVG into this folder
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Replace figures that exist
    #[arg(long)]
    force: bool,
    /// File of feature names, one 'index name' per line [default: the model's names]
    #[arg(long, value_name = "FILE")]
    feature_names: Option<PathBuf>,
    #[command(flatten)]
    evaluation: EvaluationArgs,
    /// Print JSON, with all features
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArgs,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    if let Some(folder) = &args.figures {
        output::check_folder(folder, "--figures", args.force, figure::is_explanation_file)?;
    }
    args.evaluation.check()?;
    if let Some(baseline) = args.baseline.as_ref().filter(|path| !path.is_dir()) {
        args.reading.check_keeps_lines()?;
        if input::is_stdin(baseline) && input::is_stdin(&args.data) {
            bail!(Usage("only one of --data and --baseline can be standard input".into()));
        }
    }
    let metric = args.evaluation.metric(&args.metric)?;
    let mut model = Model::load(&args.model, &device::open("auto")?)?;
    let names =
        args.feature_names.as_ref().map(|path| FeatureNames::read(path, args.reading.first_index)).transpose()?;
    let names = names.map(|names| names.of_width(model.info.n_features())).transpose()?;
    let mut data = input::read_data(&args.data, &args.reading.for_model(&model))?;
    if let Some(names) = names {
        // The columns of a table are matched by the names that the model was trained with.
        data = widths::fit_model(data, &model, &input::name(&args.data))?.without_feature_names();
        model.info.feature_names = names;
    }
    data.load()?;
    note_unreached(&input::name(&args.data), std::slice::from_ref(&metric), data.labels(), data.offsets());
    let options = ExplainOptions {
        conventions: args.evaluation.conventions(),
        permute: args.permute,
        repeats: usize::from(args.repeats),
        seed: args.seed,
        queries: args.queries,
        ..ExplainOptions::default()
    };
    let data_name = input::name(&args.data);
    let explanation = explain_model(&model, data, &data_name, &*metric, args.baseline.as_deref(), &options)?;
    if let Some(folder) = &args.figures {
        figure::explanation((folder, args.force), &explanation, args.top)?;
    }
    if args.json {
        return ui::print_json(&as_json(args, &explanation)?);
    }
    ui::print(&text::text(args, &model, &explanation))
}

/// Explains a model, with progress on standard error.
pub fn explain_model(
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
    let explanation =
        explain(model, data, metric, baseline, options, &progress).with_context(|| data_name.to_owned())?;
    drop(bar);
    widths::note_filled(data_name, width, model.info.n_features());
    Ok(explanation)
}

fn as_json(args: &Args, explanation: &Explanation) -> anyhow::Result<Value> {
    let names = &explanation.feature_names;
    let mut value = serde_json::to_value(explanation)?;
    add_feature_names(&mut value, names);
    let importance = &explanation.model_importance;
    let values: serde_json::Map<String, Value> =
        names.iter().cloned().zip(importance.values.iter().map(|&value| json!(value))).collect();
    value["model_importance"] =
        json!({ "kind": importance.kind, "description": importance.kind.words(), "values": values });
    Ok(json!({ "model": args.model.display().to_string(), "data": input::name(&args.data), "explanation": value }))
}

/// Adds `name` to every object that has a `feature`.
fn add_feature_names(value: &mut Value, names: &[String]) {
    match value {
        Value::Object(fields) => {
            let feature = fields.get("feature").and_then(Value::as_u64).and_then(|place| names.get(place as usize));
            if let Some(name) = feature {
                fields.insert("name".into(), name.clone().into());
            }
            fields.values_mut().for_each(|value| add_feature_names(value, names));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| add_feature_names(value, names)),
        _ => {}
    }
}
