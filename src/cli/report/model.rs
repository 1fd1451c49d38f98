//! Training curves, settings and data of the models, as their folders state them.

use super::ReportedModel;
use super::html::{aside, details, figures, heading, paragraph, table};
use crate::cli::figure::{self, Curve};
use crate::cli::prose::fixed;
use crate::cli::ui::{count, counted};
use burnrank::EpochRecord;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of curves, of members of an ensemble or of settings of a selected model.
const MAX_CURVES: usize = 6;

/// Learning curves, and the metrics that training stored.
pub fn training(models: &[ReportedModel]) -> anyhow::Result<String> {
    let mut pictures = Vec::new();
    for model in models {
        pictures.extend(curves(model)?);
    }
    let without: Vec<&str> =
        models.iter().filter(|model| model.history.is_empty()).map(|model| model.name.as_str()).collect();
    let mut text = if pictures.is_empty() { String::new() } else { figures(&pictures) };
    if !without.is_empty() {
        text += &aside(&format!("No training log (training.jsonl): {}.", without.join(", ")));
    }
    let results = || models.iter().flat_map(|model| model.model.info.metrics.iter().map(move |row| (&model.name, row)));
    let metrics: BTreeSet<&String> = results().flat_map(|(_, (_, values))| values.keys()).collect();
    let rows: Vec<Vec<String>> = results()
        .map(|(name, (split, values))| {
            let value = |metric: &&String| values.get(*metric).map_or("-".to_owned(), |value| fixed(*value, 4));
            [name.clone(), split.clone()].into_iter().chain(metrics.iter().map(value)).collect()
        })
        .collect();
    if !rows.is_empty() {
        let headings: Vec<&str> =
            ["model", "split"].into_iter().chain(metrics.iter().map(|name| name.as_str())).collect();
        text += &table("Metrics after training, means over queries", 2, &headings, &rows);
    }
    Ok(text)
}

/// Mean validation value of the runs by epoch, over the epochs that all runs have. An epoch missing from a thinned log has the
/// value of the run's latest epoch before it.
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

/// One curve per setting of a selected model: the mean over its runs.
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

/// The figure and caption of the metric by epoch, on training and validation queries; for ensembles, on each member's
/// validation queries.
fn curves(model: &ReportedModel) -> anyhow::Result<Option<(String, String)>> {
    let history = &model.history;
    let metric = model.model.info.settings.get("metric").and_then(Value::as_str).unwrap_or("metric").to_owned();
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
    curves.truncate(MAX_CURVES);
    let drawn = if all > MAX_CURVES { format!("the first {MAX_CURVES} of {all} ") } else { String::new() };
    let picture = figure::lines(&model.name, ("epoch", &metric), &curves, true)?;
    let epochs = counted(history.iter().map(|record| record.epoch).max().unwrap_or(0), "epoch", "epochs");
    let what = if history.iter().any(|record| record.setting.is_some()) {
        let settings =
            if drawn.is_empty() { "the selected settings".to_owned() } else { format!("{drawn}selected settings") };
        format!(
            "Validation {metric} of {settings}: mean over the runs of each setting, for the epochs that all its runs have."
        )
    } else if members.is_empty() {
        format!(
            "{metric} on validation and training queries over {epochs}; ring: the best epoch, which the model keeps."
        )
    } else {
        let members = if drawn.is_empty() { "each member".to_owned() } else { format!("{drawn}members") };
        format!("Validation {metric} of {members} over {epochs}; rings: the best epochs, which the model keeps.")
    };
    Ok(Some((picture, format!("{}: {what}", model.name))))
}

/// Architecture, settings and data of each model.
pub fn configuration(models: &[ReportedModel]) -> String {
    let rows: Vec<Vec<String>> = models
        .iter()
        .map(|model| {
            let info = &model.model.info;
            vec![
                model.name.clone(),
                info.ranker.architecture.to_string(),
                info.objective.clone(),
                info.scaler.kind().to_string(),
                count(info.n_features()),
            ]
        })
        .collect();
    let mut text = table("Models", 4, &["model", "architecture", "objective", "scaling", "features"], &rows);
    for model in models {
        let info = &model.model.info;
        text += &heading(&model.name);
        text += &paragraph(info.scaler.kind().serving());
        if !info.members.is_empty() {
            text += &paragraph(&format!("Ensemble of {} models, averaged into one.", info.members.len()));
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
            text += &table("Data", 3, &["split", "source", "fingerprint", "queries", "documents"], &rows);
        }
        let mut rows = vec![
            vec!["checksum".to_owned(), info.checksum.clone()],
            vec![
                "written by".to_owned(),
                format!("burnrank {}, Burn {}, format {}", info.burnrank, info.burn, info.format),
            ],
        ];
        flatten("", &info.settings, &mut rows);
        let caption = format!("All settings of {}", model.name);
        text += &details(&caption, &table(&caption, 2, &["setting", "value"], &rows));
    }
    text
}

/// Adds one row per setting; names of nested settings are joined by dots.
fn flatten(name: &str, value: &Value, rows: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                flatten(&if name.is_empty() { key.clone() } else { format!("{name}.{key}") }, value, rows);
            }
        }
        Value::Null => {}
        Value::String(text) => rows.push(vec![name.to_owned(), text.clone()]),
        // Long lists, such as those of model selection, are only in model.json.
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
