//! The model card: what a person wants to know before using a model.

use super::info::ModelInfo;
use crate::model::Scorer;
use std::fmt::Write;

/// The card of a model, in Markdown.
pub(super) fn text(name: &str, info: &ModelInfo) -> String {
    let mut card = String::new();
    let shape = &info.ranker;
    let _ = writeln!(card, "# {name}\n");
    let _ = writeln!(
        card,
        "A {} over {} features, trained with `{}` by burnrank {} (Burn {}).\n",
        shape.architecture, shape.features, info.objective, info.burnrank, info.burn
    );
    let _ = writeln!(card, "| | |\n|---|---|");
    let _ = writeln!(card, "| weights | {} |", shape.n_weights());
    let _ = writeln!(card, "| feature scaling | {} |", info.scaler.kind());
    let _ = writeln!(card, "| epoch | {} |", info.best_epoch);
    let _ = writeln!(card, "| checksum | {} |", info.checksum);
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
        for (split, measures) in &info.metrics {
            for (measure, value) in measures {
                let _ = writeln!(card, "| {split} | {measure} | {value:.4} |");
            }
        }
        let _ = writeln!(card, "\nConventions: {}.", info.conventions);
    }
    let file = Scorer::file(&shape.architecture);
    let _ = writeln!(card, "\n## Use\n\n```sh\nburnrank predict --model {name} --data FILE > scores.txt\n```\n");
    let _ = writeln!(
        card,
        "`{file}` {}, `model.json` holds shape, scaling and settings. Scores are comparable within a query only: a higher \
         score ranks higher.",
        if shape.architecture.is_net() { "is a Burn record (burnpack)" } else { "is what scores" }
    );
    card
}
