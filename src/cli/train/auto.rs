//! `--model auto`: selects settings on the data and averages the models of the best ones.

use super::Args;
use crate::cli::Interrupted;
use crate::cli::interrupt::Graceful;
use crate::cli::prose::{paragraph, signed};
use crate::cli::ui::{self, Align, Bar, Table, Unit};
use burnrank::model::Architecture;
use burnrank::train::{Splits, report_metrics};
use burnrank::tune::{Auto, AutoReport};
use burnrank::{Device, Error, Model, ModelInfo, TrainConfig};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Selects a model on the training data, and the validation data if any. `title` names the run if there are several.
pub fn select(
    args: &Args,
    splits: &Splits,
    config: &TrainConfig,
    device: &Device,
    title: &str,
) -> anyhow::Result<(Model, AutoReport)> {
    let auto = Auto {
        scaling: args.settings.scaling(),
        trials: args.settings.auto.trials.map(|trials| usize::try_from(trials).unwrap_or(usize::MAX)),
        limit: args.settings.auto.seconds.map(Duration::from_secs_f64),
        metrics: report_metrics(&config.metric)?,
        ..Auto::new(config.clone())
    };
    let title = if title.is_empty() { "selecting a model".to_owned() } else { format!("{title}, selecting a model") };
    let bar = Bar::new(&title, Unit::Share);
    let valid = Some(&splits.valid.data).filter(|valid| valid.n_queries() > 0);
    let show = |progress: burnrank::tune::AutoProgress| {
        bar.update((1000 * progress.runs / progress.of.max(1)) as u64, Some(1000));
    };
    auto.train(&splits.train.data, valid, device, &Graceful::stop(), &show).map_err(|error| match error {
        Error::Stopped => {
            ui::note("interrupted before the first run finished: there is no model");
            Interrupted.into()
        }
        error => error.into(),
    })
}

/// Sets the scaling of a net: the one that suits the data with `--scale auto`, otherwise that of `config`.
pub fn with_scaling(args: &Args, splits: &Splits, config: TrainConfig, device: &Device) -> anyhow::Result<TrainConfig> {
    if !args.settings.chooses_scaling(&config) {
        return Ok(config);
    }
    let _graceful = Graceful::new();
    let _bar = Bar::working("choosing a scaling");
    let valid = Some(&splits.valid.data).filter(|valid| valid.n_queries() > 0);
    let chosen = Auto::new(config.clone()).choose_scaling(&splits.train.data, valid, device, &Graceful::stop());
    match chosen {
        Ok(scaling) => {
            ui::note(&format!("--scale auto: {scaling}"));
            Ok(TrainConfig { scaling, ..config })
        }
        Err(Error::Stopped) => Err(Interrupted.into()),
        Err(error) => Err(error.into()),
    }
}

/// The result of model selection as JSON.
pub fn json(out: &Path, info: &ModelInfo, selection: &AutoReport, warnings: &Value) -> Value {
    json!({
        "model": out.display().to_string(), "objective": info.objective, "metrics": info.metrics,
        "conventions": info.conventions, "warnings": warnings, "scaling": info.scaler.kind(), "members": info.members,
        "selection": selection,
    })
}

/// The result of model selection: the verdict, the table of settings, and the certainty of the choice.
pub fn text(metric: &str, model: &Model, selection: &AutoReport) -> String {
    let (verdict, candidates) = (verdict(metric, model, selection), ui::table(&candidates(selection)));
    format!("{verdict}\n{candidates}\n{}\n", paragraph(&certainty(metric, selection)))
}

/// The number and kind of models that are averaged, as in "15 nets".
pub fn average_of(info: &ModelInfo) -> String {
    let kind = match info.ranker.architecture {
        Architecture::Trees { .. } => "trees",
        _ => "nets",
    };
    ui::counted(info.members.len().max(1), kind.trim_end_matches('s'), kind)
}

fn verdict(metric: &str, model: &Model, selection: &AutoReport) -> String {
    let info = &model.info;
    let scaling = info.scaler.kind();
    let value = info.run.as_ref().and_then(|run| run.best_value).unwrap_or(f64::NAN);
    paragraph(&format!(
        "{}: expected {metric} {} of each member alone, estimated on the {} queries of the selection. Model: {}, the \
         average of {}. Features: {scaling}. {}",
        info.objective,
        ui::decimals(value),
        ui::count(selection.queries),
        info.ranker.architecture,
        average_of(info),
        scaling.serving(),
    ))
}

/// All candidate settings, the best difference from the selected one first.
fn candidates(selection: &AutoReport) -> Table {
    let columns = [
        ("  setting", Align::Left),
        ("difference", Align::Right),
        ("error", Align::Right),
        ("queries", Align::Right),
        ("runs", Align::Right),
    ];
    let mut table = Table::new(&columns);
    for setting in &selection.candidates {
        let name = format!("{} {}", if setting.selected { '*' } else { ' ' }, setting.name);
        let (difference, error, queries) = match (setting.difference, &setting.failure) {
            (_, Some(_)) => ("failed".to_owned(), String::new(), String::new()),
            (Some(paired), None) => {
                (signed(paired.mean, 4), ui::decimals(paired.standard_error), ui::count(paired.queries))
            }
            (None, None) if setting.selected => ("selected".to_owned(), String::new(), ui::count(selection.queries)),
            (None, None) => (ui::decimals(f64::NAN), String::new(), String::new()),
        };
        table.row([name, difference, error, queries, setting.runs.to_string()]);
    }
    table
}

/// How the table was computed, and the certainty of the choice.
fn certainty(metric: &str, selection: &AutoReport) -> String {
    let cut = if selection.cut_short { " Model selection was cut short." } else { "" };
    let columns = format!(
        "difference: {metric} minus that of the selected setting, on their common runs and queries; error: its standard \
         error; *: part of the model."
    );
    let Some(runner_up) = &selection.runner_up else {
        return format!("{columns} All settings are part of the model.{cut}");
    };
    let certainty = match runner_up.lead / runner_up.standard_error {
        errors if errors >= 2.0 => "the model is clearly better (by 2 standard errors or more)",
        errors if errors >= 1.0 => "the model is probably better (by 1 to 2 standard errors)",
        errors if errors > -1.0 => "not significantly different (within 1 standard error)",
        _ => "not selected, because it is more expensive to serve",
    };
    format!("{columns} The best setting outside the model is '{}': {certainty}.{cut}", runner_up.name)
}
