//! `burnrank info`: shows the contents of a model folder.

use super::prose::indented;
use super::{ui, warnings};
use burnrank::{Finish, Model, device};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  burnrank info model
  burnrank info model --json";

/// Check a model folder and show its contents
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Model folder
    #[arg(value_name = "DIR")]
    model: PathBuf,
    /// Print the contents of model.json, and whether documents can be scored independently, as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let model = Model::load(&args.model, &device::open("auto")?)?;
    let info = &model.info;
    warnings::print(&model, &args.model);
    if args.json {
        let mut value = serde_json::to_value(info)?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("serving".into(), info.scaler.kind().serving().into());
            fields.insert("warnings".into(), model.warnings().into());
        }
        return ui::print_json(&value);
    }
    // Text from the file may contain control characters.
    let safe = |text: &str| ui::printable(text);
    let mut text = format!(
        "{}\n  {}, {} features{}\n  {}\n  scaling: {}\n  written by burnrank {}, Burn {}, format {}\n",
        ui::heading(&safe(&args.model.display().to_string())),
        info.ranker.architecture,
        info.n_features(),
        if info.ranker.architecture.is_net() {
            format!(", {} weights", info.ranker.n_weights())
        } else {
            String::new()
        },
        match info.settings.is_null() {
            // Written by another program, or imported.
            true => safe(&info.objective),
            false if !info.members.is_empty() => {
                format!("objective: {}, average of {} models", safe(&info.objective), info.members.len())
            }
            false => format!("objective: {}, best epoch {}", safe(&info.objective), info.best_epoch),
        },
        info.scaler.kind(),
        safe(&info.burnrank),
        safe(&info.burn),
        info.format
    );
    text += &(indented(info.scaler.kind().serving(), 2) + "\n");
    if !info.feature_names.is_empty() {
        text += &format!("  features: {}\n", some_names(&info.feature_names));
    }
    if let Some(run) = &info.run {
        let state = if run.finish == Finish::Stopped { "interrupted, can be resumed" } else { "finished" };
        text += &format!("  run: {}, {state}\n", safe(&run.identity));
    }
    for (split, data) in &info.data {
        let queries = ui::counted(data.queries, "query", "queries");
        let documents = ui::counted(data.documents, "document", "documents");
        let (split, source, fingerprint) = (safe(split), safe(&data.source), safe(&data.fingerprint));
        text += &format!("  {split}: {queries}, {documents}, {source}, fingerprint {fingerprint}\n");
    }
    for (split, metrics) in &info.metrics {
        let values: Vec<String> = metrics.iter().map(|(name, value)| format!("{} {value:.4}", safe(name))).collect();
        text += &format!("  {}: {}\n", safe(split), values.join(", "));
    }
    if !info.conventions.is_empty() {
        text += &format!("  {}\n", safe(&info.conventions));
    }
    ui::print(&text)
}

/// Returns the names of the first features.
fn some_names(names: &[String]) -> String {
    const MAX_LISTED: usize = 10;
    let first = names.iter().take(MAX_LISTED).map(|name| ui::printable(name)).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_LISTED) {
        0 => first,
        more => format!("{first} and {} more", ui::count(more)),
    }
}
