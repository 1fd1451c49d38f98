//! The model card: what a person wants to know before using a model.

use super::info::ModelInfo;
use crate::model::{Architecture, MemberInfo};
use std::fmt::Write;

/// The card of a model, in Markdown.
pub(super) fn text(name: &str, info: &ModelInfo) -> String {
    let mut card = String::new();
    let shape = &info.ranker;
    let _ = writeln!(card, "# {name}\n");
    let _ = writeln!(
        card,
        "{}{} over {} features, {} by burnrank {} (Burn {}).\n",
        if shape.architecture.is_net() { "A " } else { "" },
        shape.architecture,
        shape.features,
        match info.settings.is_null() {
            // Made by hand, or imported.
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
    if info.best_epoch > 0 && info.members.is_empty() {
        let _ = writeln!(card, "| epoch | {} |", info.best_epoch);
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
        let _ = writeln!(card, "\n## Results\n\n| split | measure | mean over queries |\n|---|---|---|");
        for (split, metrics) in &info.metrics {
            for (measure, value) in metrics {
                let _ = writeln!(card, "| {split} | {measure} | {value:.4} |");
            }
        }
        let _ = writeln!(card, "\nConventions: {}.", info.conventions);
    }
    let _ = writeln!(card, "\n## Use\n\n```sh\nburnrank predict --model {name} --data FILE > scores.txt\n```\n");
    let (file, what) = match shape.architecture {
        Architecture::Trees { .. } => ("model.txt", "LightGBM's own text, which LightGBM and Treelite read too"),
        Architecture::Kernel { .. } => ("kernel.json", "all points and weights"),
        _ => ("model.bpk", "a Burn record (burnpack)"),
    };
    let _ = writeln!(
        card,
        "`{file}` is {what}, `model.json` holds shape, scaling and settings. Scores are comparable within a query only: a \
         higher score ranks higher."
    );
    card
}

/// What the model is made of.
fn members(card: &mut String, info: &ModelInfo) {
    let _ = writeln!(
        card,
        "\n## Members\n\nThe average of {} models, folded into one. The scores of each are multiplied by its factor, so that all \
         have the same spread within the training queries.\n\n\
         | member | trained | seed | epoch | own validation value | factor |\n|---|---|---|---|---|---|",
        info.members.len()
    );
    for (place, member) in info.members.iter().enumerate() {
        let MemberInfo { objective, architecture, best_epoch, factor, .. } = member;
        let seed = member.seed.map_or(String::new(), |seed| seed.to_string());
        let value = member.best_value.map_or(String::new(), |value| format!("{value:.4}"));
        let none = if *factor == 0.0 { ": all scores of a query are equal, no part in the model" } else { "" };
        let _ = writeln!(
            card,
            "| {place} | {architecture}, `{objective}` | {seed} | {best_epoch} | {value} | {factor:.6}{none} |"
        );
    }
}
