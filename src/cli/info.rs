//! `burnrank info`: what a model folder says about itself.

use super::prose::indented;
use super::{ui, warnings};
use burnrank::{Finish, Model, device};
use std::path::PathBuf;

/// Check a model folder and show what is in it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model folder
    #[arg(value_name = "DIR")]
    model: PathBuf,
    /// Print model.json's content, and what serving needs, as JSON
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
    // Text from the file, made safe to print.
    let said = |text: &str| ui::printable(text);
    let mut text = format!(
        "{}\n  {}, {} features{}\n  {}\n  scaling: {}\n  written by burnrank {}, Burn {}, format {}\n",
        ui::heading(&said(&args.model.display().to_string())),
        info.ranker.architecture,
        info.ranker.features,
        if info.ranker.architecture.is_net() {
            format!(", {} weights", info.ranker.n_weights())
        } else {
            String::new()
        },
        match info.settings.is_null() {
            // Made by hand, or imported.
            true => said(&info.objective),
            false if !info.members.is_empty() => {
                format!("objective: {}, average of {} models", said(&info.objective), info.members.len())
            }
            false => format!("objective: {}, best epoch {}", said(&info.objective), info.best_epoch),
        },
        info.scaler.kind(),
        said(&info.burnrank),
        said(&info.burn),
        info.format
    );
    text += &(indented(info.scaler.kind().serving(), 2) + "\n");
    if !info.feature_names.is_empty() {
        text += &format!("  features: {}\n", some_names(&info.feature_names));
    }
    if let Some(run) = &info.run {
        let state = if run.finish == Finish::Stopped { "interrupted, can go on" } else { "finished" };
        text += &format!("  run: {}, {state}\n", said(&run.identity));
    }
    for (split, data) in &info.data {
        let queries = ui::counted(data.queries, "query", "queries");
        let documents = ui::counted(data.documents, "document", "documents");
        let (split, source, fingerprint) = (said(split), said(&data.source), said(&data.fingerprint));
        text += &format!("  {split}: {queries}, {documents}, {source}, fingerprint {fingerprint}\n");
    }
    for (split, measures) in &info.metrics {
        let values: Vec<String> = measures.iter().map(|(name, value)| format!("{} {value:.4}", said(name))).collect();
        text += &format!("  {}: {}\n", said(split), values.join(", "));
    }
    if !info.conventions.is_empty() {
        text += &format!("  {}\n", said(&info.conventions));
    }
    ui::print(&text)
}

/// The names of features, as many as are read at a glance.
fn some_names(names: &[String]) -> String {
    const MOST: usize = 10;
    let first = names.iter().take(MOST).map(|name| ui::printable(name)).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => first,
        more => format!("{first} and {} more", ui::count(more)),
    }
}
