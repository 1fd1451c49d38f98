//! `burnrank predict`: scores for a file of any size, in constant memory.

use super::input::{self, ReadArgs};
use super::output;
use super::ui::{Bar, Unit};
use burnrank::{Chunks, Dataset, Error, Model, TrecFile, device};
use std::io::Write;
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
    let write = |writer: &mut dyn Write, data: &Dataset| -> burnrank::Result<()> {
        let scores = model.score(data, &device)?;
        let failed = |error| Error::io(&args.out, "write", error);
        if args.format == "trec" {
            let run = TrecFile::from_scores(data, &scores)?.to_run("burnrank")?;
            return writer.write_all(run.as_bytes()).map_err(failed);
        }
        let mut text = String::with_capacity(scores.len() * 12);
        scores.iter().for_each(|score| {
            text.push_str(&score.to_string());
            text.push('\n');
        });
        writer.write_all(text.as_bytes()).map_err(failed)
    };
    if args.read.regroup || args.read.query_file.is_some() {
        let data = input::read_data(&args.data, &args.read)?;
        output::write(&args.out, |writer| write(writer, &data))?;
        return Ok(());
    }
    let bar = Bar::new(&input::name(&args.data), Unit::Bytes);
    let mut chunks = Chunks::open(&args.data, &args.read.options())?;
    output::write(&args.out, |writer| {
        while let Some(chunk) = chunks.next() {
            write(writer, &chunk?)?;
            bar.update(chunks.bytes(), None);
        }
        Ok(())
    })?;
    drop(bar);
    input::tell_skipped(&input::name(&args.data), chunks.skipped());
    Ok(())
}
