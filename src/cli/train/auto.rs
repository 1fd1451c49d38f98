//! `--model auto`: which settings, chosen on the data, and the average of those that win.

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

/// Chooses on the training data, and the validation data where there are any; `title` names the run where there are several.
pub fn choose(
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
    let title = if title.is_empty() { "choosing a model".to_owned() } else { format!("{title}, choosing a model") };
    let bar = Bar::new(&title, Unit::Share);
    let valid = Some(&splits.valid.data).filter(|valid| valid.n_queries() > 0);
    let show = |progress: burnrank::tune::AutoProgress| {
        bar.update((1000 * progress.runs / progress.of.max(1)) as u64, Some(1000));
    };
    auto.train(&splits.train.data, valid, device, &Graceful::stop(), &show).map_err(|error| match error {
        Error::Stopped => {
            ui::note("interrupted before the first run was whole: there is no model");
            Interrupted.into()
        }
        error => error.into(),
    })
}

/// The settings of a net with the scaling that suits the data, where --scale auto asks for it.
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

/// What came of a model that was selected.
pub fn json(out: &Path, info: &ModelInfo, selection: &AutoReport, warnings: &Value) -> Value {
    json!({
        "model": out.display().to_string(), "objective": info.objective, "metrics": info.metrics,
        "conventions": info.conventions, "warnings": warnings, "scaling": info.scaler.kind(), "members": info.members,
        "selection": selection,
    })
}

/// The same in words, and all settings that were tried.
pub fn text(metric: &str, model: &Model, selection: &AutoReport) -> String {
    let (verdict, tried) = (verdict(metric, model, selection), ui::table(&tried(selection)));
    format!("{verdict}\n{tried}\n{}\n", paragraph(&sureness(metric, selection)))
}

/// What a model is the average of, as in "15 nets".
pub fn average_of(info: &ModelInfo) -> String {
    let kind = match info.ranker.architecture {
        Architecture::Trees { .. } => "trees",
        _ => "nets",
    };
    ui::counted(info.members.len().max(1), kind.trim_end_matches('s'), kind)
}

/// What came out, in a few lines.
fn verdict(metric: &str, model: &Model, race: &AutoReport) -> String {
    let info = &model.info;
    let scaling = info.scaler.kind();
    let value = info.run.as_ref().and_then(|run| run.best_value).unwrap_or(f64::NAN);
    paragraph(&format!(
        "{}: {metric} {} expected, of each member alone, on queries like the {} that chose it. The model is {}, the average \
         of {}. Features: {scaling}. {}",
        info.objective,
        ui::decimals(value),
        ui::count(race.queries),
        info.ranker.architecture,
        average_of(info),
        scaling.serving(),
    ))
}

/// All settings, the best by their difference from the selected one first.
fn tried(race: &AutoReport) -> Table {
    let columns = [
        ("  setting", Align::Left),
        ("difference", Align::Right),
        ("error", Align::Right),
        ("queries", Align::Right),
        ("runs", Align::Right),
    ];
    let mut table = Table::new(&columns);
    for setting in &race.candidates {
        let name = format!("{} {}", if setting.selected { '*' } else { ' ' }, setting.name);
        let (difference, error, queries) = match (setting.difference, &setting.failure) {
            (_, Some(_)) => ("failed".to_owned(), String::new(), String::new()),
            (Some(found), None) => {
                (signed(found.mean, 4), ui::decimals(found.standard_error), ui::count(found.queries))
            }
            (None, None) if setting.selected => ("selected".to_owned(), String::new(), ui::count(race.queries)),
            (None, None) => (ui::decimals(f64::NAN), String::new(), String::new()),
        };
        table.row([name, difference, error, queries, setting.runs.to_string()]);
    }
    table
}

/// How sure the choice is, in words.
fn sureness(metric: &str, race: &AutoReport) -> String {
    let cut = if race.cut_short { " The race was cut short." } else { "" };
    let behind = format!(
        "Difference: {metric} of the setting minus that of the selected one, on the runs and queries that both have, with \
         its standard error. * part of the model."
    );
    let Some(runner_up) = &race.runner_up else {
        return format!("{behind} All settings are part of the model.{cut}");
    };
    let errors = runner_up.lead / runner_up.standard_error;
    let sure = match errors {
        errors if errors >= 2.0 => "the choice is sure",
        errors if errors >= 1.0 => "the choice is likely right",
        errors if errors > -1.0 => "which of the two is better is not known",
        _ => "it was not taken because it needs more at serving time",
    };
    format!("{behind} The best setting that has no part in the model is '{}': {sure}.{cut}", runner_up.name)
}
