//! Reading of data files with the options of the command line.

use super::Usage;
use super::table::TableArgs;
use super::ui::{self, Bar, Unit};
use burnrank::data::ReadReport;
use burnrank::data::{Compression, Skipped, has_query_ids, read_with};
use burnrank::{Dataset, Model, ReadOptions};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Reading options.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadArgs {
    /// Index of the first feature in the file, 0 or 1
    #[arg(long, value_name = "INDEX", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=1))]
    pub first_index: u32,
    /// Skip bad lines with a warning instead of stopping at the first
    #[arg(long)]
    pub lenient: bool,
    /// Accept files with fewer features: fill the missing last features with 0; not needed for files that omit zeros
    #[arg(long)]
    pub fill_zeros: bool,
    /// Read features that a LETOR file leaves out as missing, not as 0; models trained with it do so by themselves
    #[arg(long)]
    pub sparse_missing: bool,
    /// Value for missing features [default: they stay missing]
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    pub null: Option<f32>,
    /// Group documents of the same query that are not consecutive
    #[arg(long)]
    pub regroup: bool,
    /// LightGBM's query file; number of documents of each query, one per line [default: DATA.query or DATA.group if the data has
    /// no 'qid:']
    #[arg(long, value_name = "FILE")]
    pub query_file: Option<PathBuf>,
    /// Use a cache even if the text that it was built from has changed
    #[arg(long)]
    pub stale_cache: bool,
    #[command(flatten)]
    pub table: TableArgs,
    /// Whether labels may be missing.
    #[arg(skip)]
    pub unlabelled: bool,
}

impl ReadArgs {
    /// Returns the options for the library.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            first_index: self.first_index,
            lenient: self.lenient,
            regroup: self.regroup,
            query_file: self.query_file.clone(),
            stale_cache: self.stale_cache,
            columns: self.table.columns(),
            null: self.null,
            sparse_missing: self.sparse_missing,
            unlabelled: self.unlabelled,
            ..ReadOptions::default()
        }
    }

    /// Returns the options for data that a model scores: features that files leave out are missing if they were in its training
    /// data.
    pub fn for_model(&self, model: &Model) -> Self {
        ReadArgs { sparse_missing: self.sparse_missing || model.info.sparse_missing, ..self.clone() }
    }

    /// Returns the options with another query file.
    pub fn with_query_file(&self, query_file: Option<&PathBuf>) -> Self {
        ReadArgs { query_file: query_file.cloned(), ..self.clone() }
    }

    /// Checks that documents keep their lines, for scores that are matched by line.
    pub fn check_keeps_lines(&self) -> anyhow::Result<()> {
        if self.lenient || self.regroup {
            let message = "--lenient and --regroup change the lines of documents, so that scores do not match: 'burnrank \
                           convert' the data first";
            return Err(Usage(message.into()).into());
        }
        Ok(())
    }

    /// Returns the options with the query file beside the data, if the data has no query ids and the options no query file.
    pub fn for_data(&self, path: &Path) -> anyhow::Result<Self> {
        // A pipe can only be read once.
        if self.query_file.is_some() || !path.is_file() {
            return Ok(self.clone());
        }
        let query_file = query_file_names(path).into_iter().find(|name| name.is_file());
        match query_file {
            Some(query_file) if has_query_ids(path)? == Some(false) => {
                if !ui::quiet() {
                    ui::note(&format!("{}: reads queries from {}", name(path), name(&query_file)));
                }
                Ok(self.with_query_file(Some(&query_file)))
            }
            _ => Ok(self.clone()),
        }
    }
}

/// Returns the possible names of a query file beside `path`, as in train.txt.query.
pub fn query_file_names(path: &Path) -> Vec<PathBuf> {
    side_file_names(path, &["query", "group"])
}

/// Returns the possible names of a side file with these extensions; that of a compressed file may omit .gz or .zst.
fn side_file_names(path: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let stems = [Some(path.to_path_buf()), Compression::plain_path(path)];
    let names = stems.into_iter().flatten().flat_map(|stem| {
        endings.iter().map(move |ending| {
            let mut name = stem.clone().into_os_string();
            name.push(".");
            name.push(ending);
            PathBuf::from(name)
        })
    });
    names.collect()
}

/// Extensions and contents of LightGBM's side files that are not supported.
const IGNORED: [(&str, &str); 3] =
    [("weight", "weights of documents"), ("init", "initial scores"), ("position", "positions of documents")];

/// A side file of LightGBM that is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    pub file: String,
    contents: &'static str,
}

impl Ignored {
    /// Returns the warning, without the file's name.
    pub fn what(&self) -> String {
        format!("ignored: {} are not supported", self.contents)
    }
}

/// Returns the side files beside `path` that are ignored.
pub fn ignored(path: &Path) -> Vec<Ignored> {
    let beside = |(ending, contents)| {
        let names = side_file_names(path, &[ending]).into_iter().filter(|name| name.is_file());
        names.map(move |path| Ignored { file: name(&path), contents })
    };
    if is_stdin(path) { Vec::new() } else { IGNORED.into_iter().flat_map(beside).collect() }
}

/// Whether `path` means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns a file's name for messages.
pub fn name(path: &Path) -> String {
    ui::printable(&if is_stdin(path) { "<stdin>".to_owned() } else { path.display().to_string() })
}

/// Prints a warning for each side file beside `path` that is ignored.
pub fn note_ignored(path: &Path) {
    ignored(path).iter().for_each(|ignored| ui::note(&format!("{}: {}", ignored.file, ignored.what())));
}

/// Reads a file with a progress bar. Prints warnings for skipped lines and ignored side files.
pub fn read_data(path: &Path, args: &ReadArgs) -> anyhow::Result<Dataset> {
    note_ignored(path);
    Ok(read_report(path, args)?.data)
}

/// Like [`read_data`], with the full report, and without warnings for side files.
pub fn read_report(path: &Path, args: &ReadArgs) -> anyhow::Result<ReadReport> {
    if is_stdin(path) && std::io::stdin().is_terminal() {
        ui::note("reading standard input; end it with Ctrl-D");
    }
    let args = args.for_data(path)?;
    let bar = Bar::new(&name(path), Unit::Bytes);
    let mut report = read_with(path, &args.options(), &|progress| bar.update(progress.done, progress.total))?;
    drop(bar);
    note_skipped(&name(path), &report.skipped);
    if args.fill_zeros {
        report.data = report.data.declared_sparse(true);
    }
    Ok(report)
}

/// Prints a warning for the lines that `--lenient` skipped.
pub fn note_skipped(name: &str, skipped: &Skipped) {
    if skipped.lines == 0 {
        return;
    }
    let shown = if skipped.first.len() < skipped.lines { ", the first:" } else { ":" };
    let mut text = format!("{name}: skipped {}{shown}", ui::counted(skipped.lines, "bad line", "bad lines"));
    skipped.first.iter().for_each(|error| text.push_str(&format!("\n  {error}")));
    ui::note(&text);
}
