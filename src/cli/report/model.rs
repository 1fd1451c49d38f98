//! What the folders say about the models: how training went, and with which settings.

use super::Shown;
use super::html::{aside, details, figures, heading, paragraph, table};
use crate::cli::figure::{self, Curve};
use crate::cli::prose::fixed;
use crate::cli::ui::{count, counted};
use burnrank::EpochRecord;
use serde_json::Value;
use std::collections::BTreeSet;

/// Members of an ensemble whose curves are drawn.
const MEMBERS: usize = 6;

/// Learning curves, and the numbers that training left.
pub fn training(shown: &[Shown]) -> anyhow::Result<String> {
    let mut pictures = Vec::new();
    for shown in shown {
        pictures.extend(curves(shown)?);
    }
    let without: Vec<&str> =
        shown.iter().filter(|shown| shown.history.is_empty()).map(|shown| shown.name.as_str()).collect();
    let mut text = if pictures.is_empty() { String::new() } else { figures(&pictures) };
    if !without.is_empty() {
        text += &aside(&format!("No log of training (training.jsonl): {}.", without.join(", ")));
    }
    let results = || shown.iter().flat_map(|shown| shown.model.info.metrics.iter().map(move |row| (&shown.name, row)));
    let measures: BTreeSet<&String> = results().flat_map(|(_, (_, values))| values.keys()).collect();
    let rows: Vec<Vec<String>> = results()
        .map(|(name, (split, values))| {
            let value = |measure: &&String| values.get(*measure).map_or("-".to_owned(), |value| fixed(*value, 4));
            [name.clone(), split.clone()].into_iter().chain(measures.iter().map(value)).collect()
        })
        .collect();
    if !rows.is_empty() {
        let headings: Vec<&str> =
            ["model", "split"].into_iter().chain(measures.iter().map(|name| name.as_str())).collect();
        text += &table("What training measured, means over queries", 2, &headings, &rows);
    }
    Ok(text)
}

/// The measure by epoch, of training and of validation queries; of ensembles, of the members' validation queries.
fn curves(shown: &Shown) -> anyhow::Result<Option<(String, String)>> {
    let history = &shown.history;
    let metric = shown.model.info.settings.get("metric").and_then(Value::as_str).unwrap_or("measure").to_owned();
    let curve = |name: &str, value: fn(&EpochRecord) -> f64, of: &dyn Fn(&EpochRecord) -> bool, dashed: bool| {
        let points: Vec<(f64, f64)> = history
            .iter()
            .filter(|record| of(record))
            .map(|record| (record.epoch as f64, value(record)))
            .filter(|point| point.1.is_finite())
            .collect();
        let best = history
            .iter()
            .rev()
            .find(|record| of(record) && record.best)
            .map(|record| (record.epoch as f64, value(record)));
        let marks = points.len().div_ceil(8).max(1);
        Curve { name: name.to_owned(), points, marks, dashed, best: best.filter(|best| best.1.is_finite() && !dashed) }
    };
    let mut members: Vec<usize> = history.iter().filter_map(|record| record.member).collect();
    members.sort_unstable();
    members.dedup();
    let mut curves = match members.as_slice() {
        [] => vec![
            curve("validation", |record| record.valid, &|_| true, false),
            curve("training", |record| record.train, &|_| true, true),
        ],
        several => several
            .iter()
            .take(MEMBERS)
            .map(|member| {
                curve(
                    &format!("member {member}"),
                    |record| record.valid,
                    &|record| record.member == Some(*member),
                    false,
                )
            })
            .collect(),
    };
    curves.retain(|curve| !curve.points.is_empty());
    if curves.is_empty() {
        return Ok(None);
    }
    let picture = figure::lines(&shown.name, ("epoch", &metric), &curves, true)?;
    let epochs = counted(history.iter().map(|record| record.epoch).max().unwrap_or(0), "epoch", "epochs");
    let what = if members.is_empty() {
        format!("{metric} on validation and training queries over {epochs}; the ring is the epoch that was kept.")
    } else {
        format!("{metric} of each member on its validation queries over {epochs}; rings are the epochs that were kept.")
    };
    Ok(Some((picture, format!("{}: {what}", shown.name))))
}

/// Shape, settings and data of each model.
pub fn configuration(shown: &[Shown]) -> String {
    let rows: Vec<Vec<String>> = shown
        .iter()
        .map(|shown| {
            let info = &shown.model.info;
            vec![
                shown.name.clone(),
                info.ranker.architecture.to_string(),
                info.objective.clone(),
                info.scaler.kind().to_string(),
                count(info.ranker.features),
            ]
        })
        .collect();
    let mut text = table("The models", 4, &["model", "what scores", "objective", "scaling", "features"], &rows);
    for shown in shown {
        let info = &shown.model.info;
        text += &heading(&shown.name);
        text += &paragraph(info.scaler.kind().serving());
        if !info.members.is_empty() {
            text += &paragraph(&format!("The average of {} models, folded into one.", info.members.len()));
        }
        let rows: Vec<Vec<String>> = info
            .data
            .iter()
            .map(|(split, data)| {
                vec![
                    split.clone(),
                    data.source.clone(),
                    data.fingerprint.clone(),
                    count(data.queries),
                    count(data.documents),
                ]
            })
            .collect();
        if !rows.is_empty() {
            text +=
                &table("What it was made with", 3, &["split", "source", "fingerprint", "queries", "documents"], &rows);
        }
        let mut rows = vec![
            vec!["checksum".to_owned(), info.checksum.clone()],
            vec![
                "written by".to_owned(),
                format!("burnrank {}, Burn {}, format {}", info.burnrank, info.burn, info.format),
            ],
        ];
        flat("", &info.settings, &mut rows);
        let caption = format!("All settings of {}", shown.name);
        text += &details(&caption, &table(&caption, 2, &["setting", "value"], &rows));
    }
    text
}

/// Settings within settings, one per line.
fn flat(name: &str, value: &Value, rows: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                flat(&if name.is_empty() { key.clone() } else { format!("{name}.{key}") }, value, rows);
            }
        }
        Value::Null => {}
        Value::String(text) => rows.push(vec![name.to_owned(), text.clone()]),
        // Long lists, as of a race, are in model.json.
        Value::Array(values) if values.iter().any(Value::is_object) => {
            rows.push(vec![name.to_owned(), format!("{} entries, in model.json", count(values.len()))]);
        }
        other => rows.push(vec![name.to_owned(), other.to_string()]),
    }
}
