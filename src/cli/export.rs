//! `burnrank export`: exports a model to a search engine or another program.

use super::output::{self, Output};
use super::ui::{self, counted};
use super::{Usage, prose};
use anyhow::bail;
use burnrank::data::FeatureNames;
use burnrank::export::{Exported, FORMATS, Format, Request};
use burnrank::{Error, Model, device};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  burnrank export --model model --format onnx -o model.onnx
  burnrank export --model model --format solr -o model.json
  burnrank export --model model --format c -o - | cc -O2 -c -x c -

Without --feature-names, features have the names of the training data, or f1, f2, ... Search engines score one \
document at a time: 'burnrank train --for solr' selects only what Solr supports.";

fn after_help() -> String {
    let rows = FORMATS.iter().map(|row| format!("  {:<15}{}\n", row.name, row.help));
    format!("Formats:\n{}\n{EXAMPLES}", rows.collect::<String>())
}

/// Export a model to the format of a search engine or another program
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub struct Args {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Format; one of those below
    #[arg(long, value_name = "NAME")]
    format: Format,
    /// File to write; '-' is standard output. The file name without its extension becomes the model's name
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Feature names, one 'index name' per line
    #[arg(long, value_name = "FILE")]
    feature_names: Option<PathBuf>,
    /// Index of the first feature in --feature-names, 0 or 1
    #[arg(long, value_name = "INDEX", default_value_t = 1, requires = "feature_names", value_parser = clap::value_parser!(u32).range(0..=1))]
    first_index: u32,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
    /// Print JSON about the files
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let to_stdout = output::is_stdout(&args.out);
    if args.json && to_stdout {
        bail!(Usage("--json describes the output file: add --out FILE".into()));
    }
    let out = Output::new(&args.out, "--out", args.force)?;
    let names = args.feature_names.as_ref().map(|path| FeatureNames::read(path, args.first_index)).transpose()?;
    let model = Model::load(&args.model, &device::open("auto")?)?;
    let mut request = Request::new(&model, &name(if to_stdout { &args.model } else { &args.out }));
    if let Some(names) = names {
        request.feature_names = names.of_width(model.info.n_features())?;
    }
    let exported = args.format.export(&request)?;
    let files = write(args, &out, &exported)?;
    if args.json {
        let report = json!({
            "files": files, "format": args.format.name, "name": request.name, "features": request.feature_names,
            "note": exported.note,
        });
        return ui::print_json(&report);
    }
    if to_stdout {
        if !exported.note.is_empty() {
            ui::note(&exported.note);
        }
        return Ok(());
    }
    let features = counted(model.info.n_features(), "feature", "features");
    let architecture = &model.info.ranker.architecture;
    let mut text = format!("{}: {}, {}, {features}\n", files.join(", "), args.format, architecture);
    if !exported.note.is_empty() {
        text += &prose::paragraph(&exported.note);
    }
    ui::print(&text)
}

/// Returns a file's name without folder and extension.
fn name(path: &Path) -> String {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    // The path may end in '..' or '/'.
    stem(path).or_else(|| stem(&path.canonicalize().ok()?)).unwrap_or_default()
}

/// Writes all files or none, and returns their names.
fn write(args: &Args, out: &Output, exported: &Exported) -> anyhow::Result<Vec<String>> {
    let put = |path: &Path, bytes: &[u8]| {
        let path = path.to_path_buf();
        let bytes = bytes.to_vec();
        move |writer: &mut dyn Write| writer.write_all(&bytes).map_err(|error| Error::io(&path, "write", error))
    };
    let shown = |path: &Path| ui::printable(&path.display().to_string());
    if output::is_stdout(&args.out) {
        out.write(put(&args.out, &exported.bytes))?;
        if let Some((ending, _)) = &exported.beside {
            ui::note(&format!("its companion file NAME{ending} is only written with --out FILE"));
        }
        return Ok(Vec::new());
    }
    let beside = exported.beside.as_ref().map(|(ending, bytes)| (beside(&args.out, ending), bytes));
    let mut files = vec![shown(&args.out)];
    let mut other = None;
    if let Some((path, bytes)) = &beside {
        if *path == args.out {
            bail!(Usage(format!(
                "--out {}: its companion file would have the same name: choose another extension",
                shown(path)
            )));
        }
        files.push(shown(path));
        let beside = Output::new(path, "--out", args.force)?;
        let staged = beside.stage(put(path, bytes))?;
        other = Some((beside, staged));
    }
    out.write(put(&args.out, &exported.bytes))?;
    if let Some((beside, staged)) = other {
        beside.publish(staged)?;
    }
    Ok(files)
}

/// Returns a file's name with another extension, as in model.features.json for model.json.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(ending);
    path.with_file_name(name)
}
