//! `burnrank predict`: scores a file of any size in constant memory.

use super::input::{self, ReadArgs};
use super::output::Output;
use super::ui::{self, Bar, Unit};
use super::warnings;
use super::widths::{self, DelayedScores};
use burnrank::data::Chunks;
use burnrank::data::trec::TrecFile;
use burnrank::{Dataset, Error, Model, device};
use std::io::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  burnrank predict --model model --data test.txt > scores.txt
  burnrank predict --model model --data test.txt.gz --format trec --out run.txt
  zcat big.txt.gz | burnrank predict --model model --data - > scores.txt

The output has one score per document, in the order of the data. Tables need no labels. With --lenient, skipped documents have \
the score NaN.
Files are read query by query, in constant memory, except with --regroup and query files.";

/// Score the documents of a file with a model
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Data to score; '-' is standard input
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Output format; scores (one per line, in the order of the data) or trec (a run file)
    #[arg(long, default_value = "scores", value_parser = ["scores", "trec"])]
    format: String,
    /// File to write; '-' is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Device; auto, or a name from 'burnrank devices'
    #[arg(long, value_name = "NAME", default_value = "auto")]
    device: String,
    #[command(flatten)]
    read: ReadArgs,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let out = Output::new(&args.out, "--out", args.force)?;
    let device = device::open(&args.device)?;
    let model = Model::load(&args.model, &device)?;
    warnings::print(&model, &args.model);
    let mut read = args.read.for_model(&model).for_data(&args.data)?;
    read.unlabelled = true;
    let name = input::name(&args.data);
    let skipped = if read.regroup || read.query_file.is_some() {
        let report = input::read_report(&args.data, &read)?;
        let scores = widths::score(&model, &report.data, &name)?;
        check_finite(&name, &report.data, &scores)?;
        out.write(|writer| {
            let text = match args.format.as_str() {
                "trec" => run_text(&report.data, &scores)?,
                _ => scores_text(&report.rows.expand(&scores, f32::NAN)),
            };
            writer.write_all(text.as_bytes()).map_err(|error| Error::io(&args.out, "write", error))
        })?;
        report.skipped
    } else {
        let bar = Bar::new(&name, Unit::Bytes);
        let mut chunks = Chunks::open(&args.data, &read.options())?.with_progress(bar.updates());
        out.write(|writer| write_chunks(writer, &mut chunks, &model, args))?;
        drop(bar);
        input::note_skipped(&name, chunks.skipped());
        chunks.skipped().clone()
    };
    if skipped.lines > 0 {
        ui::note(match args.format.as_str() {
            "trec" => "documents on skipped lines are missing from the run",
            _ => "documents on skipped lines have the score NaN, so that scores keep the lines of their documents",
        });
    }
    Ok(())
}

/// Scores a file chunk by chunk, with NaN for skipped documents.
fn write_chunks(writer: &mut dyn Write, chunks: &mut Chunks, model: &Model, args: &Args) -> burnrank::Result<()> {
    let expected = model.info.n_features();
    let failed = |error| Error::io(&args.out, "write", error);
    let mut delayed = DelayedScores::new(input::name(&args.data), expected);
    let mut next = 0;
    while let Some(chunk) = chunks.next() {
        // Only the end of the file shows whether it is sparse.
        let chunk = chunk?.declared_sparse(true);
        let scores = delayed.score(model, &chunk)?;
        check_finite(&input::name(&args.data), &chunk, &scores)?;
        let text = if args.format == "trec" {
            run_text(&chunk, &scores)?
        } else {
            let (mut text, mut rest) = (String::new(), scores.as_slice());
            for rows in chunks.rows() {
                text += &MISSING.repeat(rows.start - next);
                let (current, remaining) = rest.split_at(rows.len());
                text += &scores_text(current);
                (rest, next) = (remaining, rows.end);
            }
            text
        };
        let fits = args.read.fill_zeros || chunks.is_sparse() || chunks.n_features() == expected;
        delayed.write(writer, text.as_bytes(), fits).map_err(failed)?;
    }
    delayed.end(chunks.n_features())?;
    if args.format != "trec" {
        (next..chunks.total_rows()).try_for_each(|_| writer.write_all(MISSING.as_bytes())).map_err(failed)?;
    }
    Ok(())
}

/// Checks that scores are finite. They overflow if features are too large for the model.
fn check_finite(name: &str, data: &Dataset, scores: &[f32]) -> burnrank::Result<()> {
    let Some(document) = scores.iter().position(|score| !score.is_finite()) else { return Ok(()) };
    let query = data.offsets().partition_point(|&start| start <= document) - 1;
    let (place, id) = (document - data.offsets()[query] + 1, &data.query_ids()[query]);
    Err(Error::Data(format!(
        "{name}: the score of document {place} of query '{id}' is {}: its features are too large for the model; scale them",
        scores[document]
    )))
}

/// Line of a document without a score.
const MISSING: &str = "NaN\n";

fn run_text(data: &Dataset, scores: &[f32]) -> burnrank::Result<String> {
    TrecFile::from_scores(data, scores)?.to_run("burnrank")
}

/// Formats one score per line.
fn scores_text(scores: &[f32]) -> String {
    let mut text = String::with_capacity(scores.len() * 12);
    scores.iter().for_each(|score| {
        text.push_str(&score.to_string());
        text.push('\n');
    });
    text
}
