//! `burnrank predict`: scores for a file of any size, in constant memory.

use super::input::{self, ReadArgs};
use super::output;
use super::ui::{Bar, Unit};
use super::widths::{self, Held};
use burnrank::{Chunks, Dataset, Error, Model, TrecFile, device};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  burnrank predict --model model --data test.txt > scores.txt
  burnrank predict --model model --data test.txt.gz --format trec --out run.txt
  zcat big.txt.gz | burnrank predict --model model --data - > scores.txt

Files are read query by query, so memory does not grow with them, except with --regroup and --query-file.";

/// Score the documents of a file with a model
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// The documents; '-' is standard input
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// scores (one a line, in the order of the documents) or trec (a run file)
    #[arg(long, default_value = "scores", value_parser = ["scores", "trec"])]
    format: String,
    /// Where to write; '-' is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Where to compute: auto, or one of the backends of this build
    #[arg(long, value_name = "NAME", default_value = "auto")]
    device: String,
    #[command(flatten)]
    read: ReadArgs,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let device = device::open(&args.device)?;
    let model = Model::load(&args.model, &device)?;
    let failed = |error| Error::io(&args.out, "write", error);
    let text = |data: &Dataset, scores: &[f32]| -> burnrank::Result<String> {
        if args.format == "trec" {
            return TrecFile::from_scores(data, scores)?.to_run("burnrank");
        }
        let mut text = String::with_capacity(scores.len() * 12);
        scores.iter().for_each(|score| {
            text.push_str(&score.to_string());
            text.push('\n');
        });
        Ok(text)
    };
    if args.read.regroup || args.read.query_file.is_some() {
        let data = input::read_data(&args.data, &args.read)?;
        let scores = widths::score(&model, &data, &input::name(&args.data), &device)?;
        output::write(&args.out, |writer| writer.write_all(text(&data, &scores)?.as_bytes()).map_err(failed))?;
        return Ok(());
    }
    let bar = Bar::new(&input::name(&args.data), Unit::Bytes);
    let mut chunks = Chunks::open(&args.data, &args.read.options())?;
    output::write(&args.out, |writer| {
        let mut held = Held::new(input::name(&args.data), model.info.ranker.features);
        while let Some(chunk) = chunks.next() {
            // Whether the file is sparse is known at its end.
            let chunk = chunk?.declared_sparse(true);
            let fits = args.read.fill_zeros || chunks.is_sparse() || chunks.n_features() == model.info.ranker.features;
            let scores = held.score(&model, &chunk, &device)?;
            held.write(writer, text(&chunk, &scores)?.as_bytes(), fits).map_err(failed)?;
            bar.update(chunks.bytes(), None);
        }
        held.end(chunks.n_features())
    })?;
    drop(bar);
    input::tell_skipped(&input::name(&args.data), chunks.skipped());
    Ok(())
}
