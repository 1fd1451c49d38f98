//! Reading data as the user asks for it.

use super::Usage;
use super::table::TableArgs;
use super::ui::{self, Bar, Unit};
use burnrank::data::ReadReport;
use burnrank::data::{Compression, Skipped, has_query_ids, read_with};
use burnrank::{Dataset, ReadOptions};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// The options of all commands that read data.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadArgs {
    /// Index of the first feature in the file: 0 or 1
    #[arg(long, value_name = "INDEX", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=1))]
    pub first_index: u32,
    /// Skip bad lines and report them, instead of stopping at the first
    #[arg(long)]
    pub lenient: bool,
    /// Take a model's last features to be 0 where the file lacks them; not needed where documents visibly leave out zeros
    #[arg(long)]
    pub fill_zeros: bool,
    /// Bring the documents of a query together when it comes back later in the file
    #[arg(long)]
    pub regroup: bool,
    /// LightGBM's side file instead of 'qid:': the number of documents of each query, one per line [default: DATA.query or
    /// DATA.group, where the data has no 'qid:']
    #[arg(long, value_name = "FILE")]
    pub query_file: Option<PathBuf>,
    /// Take a cache as it is where the text that it was made from has changed since
    #[arg(long)]
    pub stale_cache: bool,
    #[command(flatten)]
    pub table: TableArgs,
    /// Whether labels may be missing.
    #[arg(skip)]
    pub unlabelled: bool,
}

impl ReadArgs {
    /// The library's options.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            first_index: self.first_index,
            lenient: self.lenient,
            regroup: self.regroup,
            query_file: self.query_file.clone(),
            stale_cache: self.stale_cache,
            columns: self.table.columns(),
            null: self.table.null,
            unlabelled: self.unlabelled,
            ..ReadOptions::default()
        }
    }

    /// The same options for another file, which has a query file of its own, or none.
    pub fn with_query_file(&self, query_file: Option<&PathBuf>) -> Self {
        ReadArgs { query_file: query_file.cloned(), ..self.clone() }
    }

    /// For scores, which stand on the lines of the file: they do not fit when documents are left out or moved.
    pub fn check_keeps_lines(&self) -> anyhow::Result<()> {
        if self.lenient || self.regroup {
            let message =
                "--lenient and --regroup move documents away from their scores: 'burnrank convert' the data first";
            return Err(Usage(message.into()).into());
        }
        Ok(())
    }

    /// The same options with the query file that lies beside the data, where the data names no queries and the user no file.
    pub fn for_data(&self, path: &Path) -> anyhow::Result<Self> {
        // A pipe can be looked at only once.
        if self.query_file.is_some() || !path.is_file() {
            return Ok(self.clone());
        }
        let found = query_file_names(path).into_iter().find(|name| name.is_file());
        match found {
            Some(found) if has_query_ids(path)? == Some(false) => {
                if !ui::quiet() {
                    ui::note(&format!("{}: queries as {} counts them", name(path), name(&found)));
                }
                Ok(self.with_query_file(Some(&found)))
            }
            _ => Ok(self.clone()),
        }
    }
}

/// What a query file beside `path` may be called, as in train.txt.query.
pub fn query_file_names(path: &Path) -> Vec<PathBuf> {
    side_file_names(path, &["query", "group"])
}

/// What a side file of these endings beside `path` may be called; that of a compressed file may lack its last ending.
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

/// LightGBM's side files that are not read, by their endings.
const IGNORED: [(&str, &str); 3] =
    [("weight", "weights of documents"), ("init", "initial scores"), ("position", "positions of documents")];

/// A side file of LightGBM that is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    pub file: String,
    holds: &'static str,
}

impl Ignored {
    /// What to know about it, without its name.
    pub fn what(&self) -> String {
        format!("ignored: {} are not supported and have no effect", self.holds)
    }
}

/// The side files beside `path` that are not read.
pub fn ignored(path: &Path) -> Vec<Ignored> {
    let beside = |(ending, holds)| {
        let names = side_file_names(path, &[ending]).into_iter().filter(|name| name.is_file());
        names.map(move |found| Ignored { file: name(&found), holds })
    };
    if is_stdin(path) { Vec::new() } else { IGNORED.into_iter().flat_map(beside).collect() }
}

/// Whether `path` means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// How messages call the file.
pub fn name(path: &Path) -> String {
    ui::printable(&if is_stdin(path) { "<stdin>".to_owned() } else { path.display().to_string() })
}

/// Names the side files beside `path` that are not read, on standard error.
pub fn note_ignored(path: &Path) {
    ignored(path).iter().for_each(|ignored| ui::note(&format!("{}: {}", ignored.file, ignored.what())));
}

/// Reads a file with a progress bar; standard error names what `--lenient` skipped and the side files that are ignored.
pub fn read_data(path: &Path, args: &ReadArgs) -> anyhow::Result<Dataset> {
    note_ignored(path);
    Ok(read_report(path, args)?.data)
}

/// As [`read_data`], with what else is known of the file.
pub fn read_report(path: &Path, args: &ReadArgs) -> anyhow::Result<ReadReport> {
    if is_stdin(path) && std::io::stdin().is_terminal() {
        ui::note("reading standard input; end it with Ctrl-D");
    }
    let args = args.for_data(path)?;
    let bar = Bar::new(&name(path), Unit::Bytes);
    let mut report = read_with(path, &args.options(), &|progress| bar.update(progress.done, progress.total))?;
    drop(bar);
    tell_skipped(&name(path), &report.skipped);
    if args.fill_zeros {
        report.data = report.data.declared_sparse(true);
    }
    Ok(report)
}

/// Tells on standard error what `--lenient` skipped.
pub fn tell_skipped(name: &str, skipped: &Skipped) {
    if skipped.lines == 0 {
        return;
    }
    let shown = if skipped.first.len() < skipped.lines { ", the first ones:" } else { ":" };
    let mut text = format!("{name}: skipped {}{shown}", ui::counted(skipped.lines, "bad line", "bad lines"));
    skipped.first.iter().for_each(|error| text.push_str(&format!("\n  {error}")));
    ui::note(&text);
}
