//! Reading data as the user asks for it.

use super::ui::{self, Bar, Unit};
use burnrank::{Dataset, ReadOptions, ReadReport, Skipped, read_with};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// The options of all commands that read data.
#[derive(Debug, Clone, clap::Args)]
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
    /// LightGBM's side file instead of 'qid:': the number of documents of each query, one a line
    #[arg(long, value_name = "FILE")]
    pub query_file: Option<PathBuf>,
}

impl ReadArgs {
    /// The library's options.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            first_index: self.first_index,
            lenient: self.lenient,
            regroup: self.regroup,
            query_file: self.query_file.clone(),
            ..ReadOptions::default()
        }
    }
}

/// Whether `path` means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// How messages call the file.
pub fn name(path: &Path) -> String {
    ui::printable(&if is_stdin(path) { "<stdin>".to_owned() } else { path.display().to_string() })
}

/// Reads a file with a progress bar, and tells on standard error what `--lenient` skipped.
pub fn read_data(path: &Path, args: &ReadArgs) -> anyhow::Result<Dataset> {
    Ok(read_report(path, args)?.data)
}

/// As [`read_data`], with what else is known of the file.
pub fn read_report(path: &Path, args: &ReadArgs) -> anyhow::Result<ReadReport> {
    if is_stdin(path) && std::io::stdin().is_terminal() {
        ui::note("reading standard input; end it with Ctrl-D");
    }
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
