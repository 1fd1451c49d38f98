//! The model card: a summary of a model in Markdown.

use super::info::ModelInfo;
use crate::model::{Architecture, MemberInfo};
use crate::setting::{TrainConfig, stated};
use std::fmt::Write;
use std::path::Path;

/// The card of a model.
pub(super) fn text(name: &str, info: &ModelInfo) -> String {
    let mut card = String::new();
    let shape = &info.ranker;
    let _ = writeln!(card, "# {name}\n");
    let _ = writeln!(
        card,
        "{}{} over {} features, {} by burnrank {} (Burn {}).\n",
        if matches!(shape.architecture, Architecture::Trees { .. }) { "" } else { "A " },
        shape.architecture,
        info.n_features(),
        match info.settings.is_null() {
            // Built by hand, or imported.
            true => info.objective.clone(),
            false => format!("trained with `{}`", info.objective),
        },
        info.burnrank,
        info.burn
    );
    let _ = writeln!(card, "| | |\n|---|---|");
    if shape.architecture.is_net() {
        let _ = writeln!(card, "| weights | {} |", shape.n_weights());
    }
    let _ = writeln!(card, "| feature scaling | {} |", info.scaler.kind());
    let inputs = info.scaler.parts();
    if !inputs.medians.is_empty() {
        let indicators = inputs.indicators.len();
        let _ = writeln!(card, "| missing values | replaced by medians; features with an indicator: {indicators} |");
    }
    if !inputs.categories.is_empty() {
        let levels: usize = inputs.categories.iter().map(|category| category.levels.len()).sum();
        let _ = writeln!(card, "| categorical features | {} with {levels} levels |", inputs.categories.len());
    }
    if info.sparse_missing {
        let _ = writeln!(card, "| features that files leave out | missing |");
    }
    if let Some(target) = info.settings.get("for").and_then(serde_json::Value::as_str) {
        let _ = writeln!(card, "| export target | {target} |");
    }
    if info.best_epoch > 0 && info.members.is_empty() {
        let _ = writeln!(card, "| best epoch | {} |", info.best_epoch);
    }
    let _ = writeln!(card, "| checksum | {} |", info.checksum);
    let _ = writeln!(card, "\n{}", info.scaler.kind().serving());
    if !info.members.is_empty() {
        members(&mut card, info);
    }
    if !info.data.is_empty() {
        let _ = writeln!(
            card,
            "\n## Data\n\n| split | source | queries | documents | fingerprint |\n|---|---|---|---|---|"
        );
        for (split, data) in &info.data {
            let _ = writeln!(
                card,
                "| {split} | {} | {} | {} | {} |",
                data.source, data.queries, data.documents, data.fingerprint
            );
        }
    }
    if !info.metrics.is_empty() {
        let _ = writeln!(card, "\n## Results\n\n| split | metric | mean over queries |\n|---|---|---|");
        for (split, metrics) in &info.metrics {
            for (metric, value) in metrics {
                let _ = writeln!(card, "| {split} | {metric} | {value:.4} |");
            }
        }
        let _ = writeln!(card, "\nConventions: {}.", info.conventions);
    }
    if let Some(command) = train_command(name, info) {
        let _ = writeln!(
            card,
            "\n## Training\n\nRun this command in the folder where the model was trained to get the same model, to the \
             byte on the same kind of CPU. Options for reading data, such as the first feature index, are not stored: add \
             those that were used.\n\n\
             ```sh\n{command}\n```"
        );
    }
    let _ = writeln!(card, "\n## Use\n\n```sh\nburnrank predict --model {name} --data FILE > scores.txt\n```\n");
    let (file, what) = match shape.architecture {
        Architecture::Trees { .. } => {
            ("model.txt", "the trees in LightGBM's text format, which LightGBM and Treelite can read")
        }
        Architecture::Kernel { .. } => ("kernel.json", "the points and weights"),
        _ => ("model.bpk", "the weights as a Burn record (burnpack)"),
    };
    let _ = writeln!(
        card,
        "A higher score ranks higher. Scores are comparable only within a query.\n\n`{file}` contains {what}, \
         `model.json` the architecture, the feature scaling, the settings and the results."
    );
    card
}

/// The members of an ensemble.
fn members(card: &mut String, info: &ModelInfo) {
    let _ = writeln!(
        card,
        "\n## Members\n\nThe average of {} models, combined into one. The scores of each member are multiplied by its \
         factor, so that all members have the same standard deviation of scores within training queries.\n\n\
         | member | model | seed | best epoch | validation metric | factor |\n|---|---|---|---|---|---|",
        info.members.len()
    );
    for (place, member) in info.members.iter().enumerate() {
        let MemberInfo { objective, architecture, best_epoch, factor, .. } = member;
        let seed = member.seed.map_or(String::new(), |seed| seed.to_string());
        let value = member.best_value.map_or(String::new(), |value| format!("{value:.4}"));
        let note = if *factor == 0.0 { " (ignored: its scores are equal within each query)" } else { "" };
        let _ = writeln!(
            card,
            "| {place} | {architecture}, `{objective}` | {seed} | {best_epoch} | {value} | {factor:.6}{note} |"
        );
    }
}

/// The command that trains the model again; `None` if its data did not come from files or its settings were selected.
fn train_command(name: &str, info: &ModelInfo) -> Option<String> {
    if info.settings.get("model").is_some() {
        return None;
    }
    let config: TrainConfig = serde_json::from_value(info.settings.clone()).ok()?;
    let (model, given) = stated(&config, None).ok()?;
    let file = |split: &str| {
        let data = info.data.get(split)?;
        let file = data.file.as_ref().unwrap_or(&data.source);
        Path::new(file).is_file().then(|| (split.to_owned(), file.clone()))
    };
    // Validation queries held out from the training data need no option.
    let valid = file("valid").filter(|_| info.data["valid"].file.is_none());
    let files = [Some(file("train")?), valid, file("test")].into_iter().flatten();
    let settings = given.iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
    let ensemble = (!info.members.is_empty()).then(|| ("ensemble".to_owned(), info.members.len().to_string()));
    let model = [("model".to_owned(), model.to_string())];
    let options = files.chain(model).chain(settings).chain(ensemble).chain([("out".to_owned(), name.to_owned())]);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    let quoted = |word: String| match word.chars().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    Some(
        options
            .fold("burnrank train".to_owned(), |command, (key, value)| format!("{command} --{key} {}", quoted(value))),
    )
}
