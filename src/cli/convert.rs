//! `burnrank convert`: converts data to LETOR text, a cache or TREC files, and imports models of other programs.

use super::input::{self, ReadArgs};
use super::output::{self, Output, Watched};
use super::ui::{self, count};
use super::{Usage, cache, import};
use anyhow::{Context, bail};
use burnrank::data::trec::TrecFile;
use burnrank::data::{Zeros, read_scores, write_to};
use burnrank::{Dataset, ScaleKind, Scaler, WriteOptions};
use clap::ValueEnum;
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  burnrank convert messy.txt --regroup --lenient --out clean.txt
  burnrank convert zero-based.txt --first-index 0 --out one-based.txt.zst
  burnrank convert test.txt --scale zscore --scale-on train.txt --out test-scaled.txt
  burnrank convert train.txt.gz --to cache --out train.cache
  burnrank convert test.txt --to qrels --out qrels.txt
  burnrank convert test.txt --to run --scores scores.txt --tag mine --out run.txt
  burnrank convert lightgbm.txt --to model --out model
  burnrank convert xgboost.json --to model --out model

A cache is a binary file that all commands accept instead of the text that it was built from. It opens without parsing, and \
its features are read from the file as needed, so it may be larger than memory. A cache whose text has changed is an error.

--to model imports a model of LightGBM (text) or XGBoost (JSON, from save_model('m.json')) as a model folder, for predict, \
evaluate and compare. Its first column becomes feature 1 of LETOR files, which is right for models trained on arrays. LightGBM \
reads feature 1 of a LETOR file as its second column: add --first-index 0 for models that it trained on LETOR files. Trees of \
XGBoost are imported up to best_iteration, like XGBRanker.predict.";

/// Convert data to LETOR text, a cache or TREC files, scale it, or import a LightGBM or XGBoost model
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Data file, or a model with --to model; '-' is standard input
    pub file: PathBuf,
    /// File to write; compressed if it ends in .gz or .zst, '-' is standard output, a folder with --to model
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Letor)]
    to: Format,
    /// Index of the first feature in the output, 0 or 1
    #[arg(long, value_name = "INDEX", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=1))]
    to_first_index: u32,
    /// Omit features with value 0
    #[arg(long)]
    sparse: bool,
    /// Round the features of a cache to f16; halves the file size and keeps three significant digits
    #[arg(long)]
    pub half: bool,
    /// Feature names for a cache, one 'index name' per line
    #[arg(long, value_name = "FILE")]
    pub feature_names: Option<PathBuf>,
    #[arg(long, value_name = "KIND", default_value_t,
          help = format!("Feature scaling; one of {}", ScaleKind::ALL.map(ScaleKind::name).join(", ")))]
    scale: ScaleKind,
    /// Training data to fit the scaling on [default: the converted file]
    #[arg(long, value_name = "FILE")]
    scale_on: Option<PathBuf>,
    /// Scores of the documents for a run, one per line
    #[arg(long, value_name = "FILE")]
    scores: Option<PathBuf>,
    /// Name of the system for a run
    #[arg(long, default_value = "burnrank")]
    tag: String,
    /// Replace the output if it exists
    #[arg(long)]
    pub force: bool,
    /// Print JSON about the output
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub reading: ReadArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// LETOR text with the documents of each query together and features in order
    Letor,
    /// Binary file that opens without parsing and may be larger than memory
    Cache,
    /// TREC judgements: 'qid 0 docid label'
    Qrels,
    /// TREC run: 'qid Q0 docid rank score tag'; needs --scores
    Run,
    /// Model folder, from a model of LightGBM (text) or XGBoost (JSON)
    Model,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    check(args)?;
    if args.to == Format::Model {
        return import::run(args);
    }
    let out = Output::new(&args.out, "--out", args.force)?;
    if args.to == Format::Cache {
        return cache::run(args, &out);
    }
    let mut data = input::read_data(&args.file, &args.reading).map_err(|error| {
        if !import::looks_like_a_model(&args.file) {
            return error;
        }
        anyhow::anyhow!("{error:#}; the file looks like a model of LightGBM or XGBoost: add --to model")
    })?;
    match (args.to, &args.scores) {
        (Format::Run, Some(scores)) => {
            let scores = read_scores(scores, data.n_documents())?;
            out.write_text(&TrecFile::from_scores(&data, &scores)?.to_run(&args.tag)?)?;
        }
        (Format::Qrels, _) => out.write_text(&TrecFile::from_labels(&data).to_qrels()?)?,
        _ => {
            data = scaled(data, args)?;
            let zeros = if args.sparse { Zeros::Omit } else { Zeros::Keep };
            let options = WriteOptions { first_index: args.to_first_index, zeros };
            out.write(|writer| write_to(&mut Watched::new(&args.out, writer), &data, &options))?;
        }
    }
    let (queries, documents, features) = (data.n_queries(), data.n_documents(), data.n_features());
    if args.json {
        let report = json!({ "file": args.out.display().to_string(), "queries": queries, "documents": documents, "features": features });
        return ui::print_json(&report);
    }
    if output::is_stdout(&args.out) {
        return Ok(());
    }
    let (file, queries, documents) = (ui::printable(&args.out.display().to_string()), count(queries), count(documents));
    ui::print(&format!("{file}: {queries} queries, {documents} documents, {} features\n", count(features)))
}

/// Checks the options before any file is read.
fn check(args: &Args) -> anyhow::Result<()> {
    let problem = if args.json && output::is_stdout(&args.out) {
        "--json describes the output file: add --out FILE"
    } else if args.to == Format::Run && args.scores.is_none() {
        "a run needs scores: add --scores FILE"
    } else if args.to != Format::Run && args.scores.is_some() {
        "--scores is for runs: add --to run"
    } else if args.to == Format::Run && (args.reading.lenient || args.reading.regroup) {
        "--lenient and --regroup change the order of documents, so that scores do not match: convert the data first"
    } else if args.to != Format::Letor && args.scale != ScaleKind::None {
        "--scale is for LETOR output: leave it out, or add --to letor"
    } else if args.to != Format::Cache && (args.half || args.feature_names.is_some()) {
        "--half and --feature-names are for caches: add --to cache"
    } else if args.to == Format::Cache && !output::is_plain_file(&args.out) {
        "a cache can neither be compressed nor written to standard output: choose another --out"
    } else if args.scale == ScaleKind::None && args.scale_on.is_some() {
        "--scale-on needs a scaling: add --scale zscore, for example"
    } else {
        return Ok(());
    };
    bail!(Usage(problem.into()))
}

fn scaled(mut data: Dataset, args: &Args) -> anyhow::Result<Dataset> {
    let scaler = match &args.scale_on {
        Some(path) => Scaler::fit(args.scale, &input::read_data(path, &args.reading.with_query_file(None))?),
        None => Scaler::fit(args.scale, &data),
    };
    // Sparse files may omit the last features.
    if data.n_features() < scaler.n_features() {
        data = data.widened(scaler.n_features())?;
    }
    scaler.apply(&mut data).with_context(|| input::name(&args.file))?;
    Ok(data)
}
