//! What the folders say about the models: how training went, and with which settings.

use super::Shown;
use super::html::{aside, details, figures, heading, paragraph, table};
use crate::cli::figure::{self, Curve};
use crate::cli::prose::fixed;
use crate::cli::ui::{count, counted};
use burnrank::EpochRecord;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Members of an ensemble, or settings of a selected model, whose curves are drawn.
const CURVES: usize = 6;

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

/// The mean over runs of the validation value by epoch, from the first to the last epoch that all runs have. Where a long log was
/// thinned out, a run has its latest value.
fn mean_curve(runs: &[Vec<&EpochRecord>]) -> Vec<(f64, f64)> {
    let end = |pick: fn(&Vec<&EpochRecord>) -> Option<usize>| runs.iter().filter_map(pick);
    let first = end(|run| Some(run.first()?.epoch)).max().unwrap_or(0);
    let last = end(|run| Some(run.last()?.epoch)).min().unwrap_or(0);
    let epochs: BTreeSet<usize> = runs.iter().flatten().map(|record| record.epoch).collect();
    let latest = |run: &[&EpochRecord], epoch: usize| {
        let records = run.partition_point(|record| record.epoch <= epoch);
        run[..records].last().map_or(f64::NAN, |record| record.valid)
    };
    let mean = |epoch: usize| runs.iter().map(|run| latest(run, epoch)).sum::<f64>() / runs.len() as f64;
    let common = epochs.into_iter().filter(|epoch| (first..=last).contains(epoch));
    common.map(|epoch| (epoch as f64, mean(epoch))).filter(|point| point.1.is_finite()).collect()
}

/// One curve for each setting whose models are part of a selected model: the mean over its runs.
fn setting_curves(history: &[EpochRecord]) -> Vec<Curve> {
    let mut settings: Vec<&str> = Vec::new();
    for setting in history.iter().filter_map(|record| record.setting.as_deref()) {
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    let curve = |setting: &str| {
        let mut runs: BTreeMap<Option<usize>, Vec<&EpochRecord>> = BTreeMap::new();
        for record in history.iter().filter(|record| record.setting.as_deref() == Some(setting)) {
            runs.entry(record.setting_run).or_default().push(record);
        }
        let points = mean_curve(&runs.into_values().collect::<Vec<_>>());
        Curve { name: setting.to_owned(), marks: points.len().div_ceil(8).max(1), points, dashed: false, best: None }
    };
    settings.into_iter().map(curve).collect()
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
    let by_setting = setting_curves(history);
    let mut curves = match members.as_slice() {
        _ if !by_setting.is_empty() => by_setting,
        [] => vec![
            curve("validation", |record| record.valid, &|_| true, false),
            curve("training", |record| record.train, &|_| true, true),
        ],
        several => several
            .iter()
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
    let all = curves.len();
    curves.truncate(CURVES);
    let drawn = if all > CURVES { format!("the first {CURVES} of {all} ") } else { String::new() };
    let picture = figure::lines(&shown.name, ("epoch", &metric), &curves, true)?;
    let epochs = counted(history.iter().map(|record| record.epoch).max().unwrap_or(0), "epoch", "epochs");
    let what = if history.iter().any(|record| record.setting.is_some()) {
        let settings =
            if drawn.is_empty() { "the selected settings".to_owned() } else { format!("{drawn}selected settings") };
        format!(
            "{metric} of {settings} on the queries that chose their epochs, the mean over the runs of each, over the epochs \
             that all its runs had."
        )
    } else if members.is_empty() {
        format!("{metric} on validation and training queries over {epochs}; the ring is the epoch that was kept.")
    } else {
        let members = if drawn.is_empty() { "each member".to_owned() } else { format!("{drawn}members") };
        format!("{metric} of {members} on its validation queries over {epochs}; rings are the epochs that were kept.")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selected_model_has_one_curve_per_setting_over_the_epochs_of_all_its_runs() {
        let record = |setting: &str, run: usize, epoch: usize, valid: f64| -> EpochRecord {
            let value = serde_json::json!({
                "epoch": epoch, "member": run, "setting": setting, "setting_run": run, "restart": 0, "loss": 1, "train": 0,
                "valid": valid, "best": true, "learning_rate": 1, "effective_pairs": 1, "saturated_pairs": 0, "seconds": 0,
            });
            serde_json::from_value(value).unwrap()
        };
        let history = [
            record("linear", 1, 1, 0.25),
            record("linear", 2, 1, 0.75),
            record("relu", 1, 1, 0.5),
            record("linear", 1, 2, 0.5),
            record("relu", 1, 2, 0.25),
        ];
        let curves = setting_curves(&history);
        assert_eq!(curves.iter().map(|curve| curve.name.as_str()).collect::<Vec<_>>(), ["linear", "relu"]);
        assert_eq!(curves[0].points, [(1.0, 0.5)]);
        assert_eq!(curves[1].points, [(1.0, 0.5), (2.0, 0.25)]);
    }
}
