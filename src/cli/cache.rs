//! `burnrank convert --to cache`: converts data to a binary file that opens without parsing.

use super::convert::Args;
use super::input;
use super::output::Output;
use super::ui::{self, Bar, Unit, count};
use burnrank::data::FeatureNames;
use burnrank::data::cache::{CacheOptions, CacheReport, build};
use burnrank::memory::readable;
use serde_json::json;
use std::io::IsTerminal;
use std::path::Path;

pub fn run(args: &Args, out: &Output) -> anyhow::Result<()> {
    let reading = args.reading.for_data(&args.file)?;
    let feature_names = args.feature_names.as_ref().map(|path| FeatureNames::read(path, reading.first_index));
    let feature_names = feature_names.transpose()?;
    let (half, keep_existing, allow_underflow) = (args.half, !args.force, args.force);
    let options = CacheOptions { half, feature_names, keep_existing, allow_underflow, ..CacheOptions::default() };
    if input::is_stdin(&args.file) && std::io::stdin().is_terminal() {
        ui::note("reading standard input; end it with Ctrl-D");
    }
    let bar = Bar::new(&input::name(&args.file), Unit::Bytes);
    let report = out.explain(build(&args.file, out.path(), options, &reading.options(), bar.updates()))?;
    drop(bar);
    input::note_skipped(&input::name(&args.file), &report.skipped);
    if args.json {
        return ui::print_json(&about(&args.out, &report));
    }
    ui::print(&text(&args.out, &report))
}

/// Describes the written cache as JSON.
pub fn about(path: &Path, report: &CacheReport) -> serde_json::Value {
    json!({
        "file": path.display().to_string(), "queries": report.queries, "documents": report.documents,
        "features": report.features, "bytes": report.bytes, "rounding": report.rounding,
    })
}

/// Describes the written cache as text.
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
        let underflows = match rounding.underflows {
            0 => String::new(),
            1 => " 1 nonzero value became 0.".into(),
            number => format!(" {} nonzero values became 0.", count(number as usize)),
        };
        text += &format!(
            "Rounded to f16: the largest absolute error is {:e} (value {}), the largest relative error {:.3}%.{underflows}\n",
            rounding.error,
            rounding.value,
            100.0 * rounding.relative
        );
    }
    text
}
