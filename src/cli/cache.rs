//! `burnrank convert --to cache`: data as a binary file that opens at once.

use super::convert::Args;
use super::input;
use super::ui::{self, Bar, Unit, count};
use burnrank::data::FeatureNames;
use burnrank::data::cache::{CacheOptions, CacheReport, build};
use burnrank::memory::readable;
use serde_json::json;
use std::io::IsTerminal;
use std::path::Path;

pub fn run(args: &Args) -> anyhow::Result<()> {
    let reading = args.reading.for_data(&args.file)?;
    let feature_names = args.feature_names.as_ref().map(|path| FeatureNames::read(path, reading.first_index));
    let feature_names = feature_names.transpose()?;
    let options = CacheOptions { half: args.half, feature_names, ..CacheOptions::default() };
    if input::is_stdin(&args.file) && std::io::stdin().is_terminal() {
        ui::note("reading standard input; end it with Ctrl-D");
    }
    let bar = Bar::new(&input::name(&args.file), Unit::Bytes);
    let report = build(&args.file, &args.out, options, &reading.options(), bar.updates())?;
    drop(bar);
    input::tell_skipped(&input::name(&args.file), &report.skipped);
    if args.json {
        return ui::print_json(&about(&args.out, &report));
    }
    ui::print(&text(&args.out, &report))
}

/// What was written, for machines.
pub fn about(path: &Path, report: &CacheReport) -> serde_json::Value {
    json!({
        "file": path.display().to_string(), "queries": report.queries, "documents": report.documents,
        "features": report.features, "bytes": report.bytes, "rounding": report.rounding,
    })
}

/// The same for people.
pub fn text(path: &Path, report: &CacheReport) -> String {
    let mut text = format!(
        "{}: {} queries, {} documents, {} features, {}\n",
        ui::printable(&path.display().to_string()),
        count(report.queries),
        count(report.documents),
        count(report.features),
        readable(report.bytes)
    );
    if let Some(rounding) = report.rounding {
        text += &format!(
            "Rounded to f16: the largest error is {:e}, of the value {}; {:.3}% of a value at most.\n",
            rounding.error,
            rounding.value,
            100.0 * rounding.relative
        );
    }
    text
}
