//! The report of `tune`: the expected gain, the best trials, how they were computed, and the command that trains the best.

use super::{Args, command};
use crate::cli::prose::{fixed, named, paragraph, signed};
use crate::cli::train::Warning;
use crate::cli::ui::{self, Align, Table, counted};
use burnrank::analysis::significance::Better;
use burnrank::internal::text::duration;
use burnrank::metric::Summary;
use burnrank::setting::ModelChoice;
use burnrank::tune::{Evaluation, SearchEnd, SearchResult, Trial, TuneData, paired, values_of};
use burnrank::{Conventions, TrainConfig};
use serde_json::{Map, Value, json};

/// Maximum number of trials in the table; results.json has all of them.
const MAX_TRIALS: usize = 10;
/// Width of the last column.
const SETTINGS_WIDTH: usize = 38;

/// The results as text and JSON.
pub struct Report {
    /// Equal for equal searches: has no times.
    pub json: Value,
    arguments: Vec<Vec<String>>,
    held_out: Option<Summary>,
    queries: usize,
}

impl Report {
    pub fn new(args: &Args, result: &SearchResult, data: &TuneData<'_>, warnings: &[Warning]) -> anyhow::Result<Self> {
        let held_out = result.held_out_gain(data);
        let ranked = result.ranked();
        let arguments = match ranked.first() {
            Some((best, _)) => command::train_arguments(args, best, data.training_queries().min().unwrap_or(0))?,
            None => Vec::new(),
        };
        let trials = ranked.iter().map(|(trial, evaluation)| trial_json(result, trial, Some(evaluation), &ranked));
        let failed = result.trials.iter().filter(|trial| trial.evaluation.is_none());
        let json = json!({
            "metric": result.metric,
            "better": result.better,
            "conventions": Conventions::default().to_string(),
            "queries": data.n_queries(),
            "seed": args.seed,
            "trials_requested": result.requested,
            "complete": result.ended == SearchEnd::Completed,
            "best": ranked.first().map(|(trial, _)| trial.number),
            "expected_gain": held_out.map(difference_json),
            "expected_gain_is_more_than_one_standard_error": held_out.map(|gain| is_clear(result.better, &gain)),
            "selected_minus_default": result.gain().map(difference_json),
            "default": default_command(result),
            "command": ranked.first().map(|_| command::line(&arguments)),
            "command_validation_value": ranked.first().and_then(|(_, evaluation)| evaluation.validation_value),
            "arguments": arguments.iter().flatten().collect::<Vec<_>>(),
            "trials": trials.chain(failed.map(|trial| trial_json(result, trial, None, &ranked))).collect::<Vec<_>>(),
            "warnings": warnings.iter().map(Warning::json).collect::<Vec<_>>(),
        });
        Ok(Report { json, arguments, held_out, queries: data.n_queries() })
    }

    pub fn text(&self, result: &SearchResult, seconds: f64) -> String {
        let ranked = result.ranked();
        let Some((best, evaluation)) = ranked.first() else { return String::new() };
        let mut text =
            paragraph(&self.verdict(result, best, evaluation)) + "\n" + &ui::table(&table(result, &ranked)) + "\n";
        if let Some(command) = default_command(result) {
            let what = format!(
                "trains like '{command}' without further options; not like 'burnrank train' alone, which selects and \
                 averages several models"
            );
            text += &named("default", &what);
        }
        if let (Some(gain), true) = (result.gain(), best.number != 0) {
            let what = format!(
                "settings and epoch are selected on one half of the queries and evaluated on the other, and vice versa. The \
                 difference in the table, {}, is biased: its trial was selected on the same queries",
                signed(gain.mean, 4)
            );
            text += &named("expected", &what);
        }
        let what = "each half of the queries is evaluated after the epoch that the other half selects; trials that trained to \
                    the end come first";
        text += &named("values", what);
        let failed: Vec<&Trial> = result.trials.iter().filter(|trial| trial.evaluation.is_none()).collect();
        if let Some(why) = failed.first().and_then(|trial| trial.failure.as_ref()) {
            let failed = counted(failed.len(), "trial", "trials");
            text += &named("failed", &format!("{failed}, the first with: {why}"));
        }
        let ended = match result.ended {
            SearchEnd::Completed => String::new(),
            _ => format!(" of {}, cut short", result.requested),
        };
        let tried = counted(result.trials.len(), "trial", "trials");
        text += &named("searched", &format!("{tried}{ended}, in {}", duration(seconds)));
        text += &named("conventions", &Conventions::default().to_string());
        text += &format!("\n{}", paragraph(&self.command_result(result, best, evaluation)));
        text + "\nTrain the best:\n" + &command::lines(&self.arguments)
    }

    fn verdict(&self, result: &SearchResult, best: &Trial, evaluation: &Evaluation) -> String {
        let among = counted(result.trials.len(), "trial", "trials");
        let value = format!(
            "{} {} on {}",
            result.metric,
            fixed(evaluation.summary().mean, 4),
            counted(self.queries, "validation query", "validation queries")
        );
        if best.number == 0 {
            return format!("None of {among} is better than the default: {value}.");
        }
        let best = format!("Trial {} is the best of {among}: {value}.", best.number);
        let Some(gain) = self.held_out else { return best };
        let gained = if result.better == Better::Higher { gain.mean } else { -gain.mean };
        let certainty = match gained {
            _ if is_clear(result.better, &gain) => "more than one standard error",
            gained if gained > 0.0 => "within one standard error, may be chance",
            _ => "no gain",
        };
        format!(
            "Expected gain over the default: {} {} (standard error {}): {certainty}. {best}",
            result.metric,
            signed(gain.mean, 4),
            fixed(gain.standard_error, 4)
        )
    }

    /// The validation value that the command of the best trial reports.
    fn command_result(&self, result: &SearchResult, best: &Trial, evaluation: &Evaluation) -> String {
        let Some(value) = evaluation.validation_value else {
            let (done, all) = (evaluation.epochs, counted(best.config.epochs, "epoch", "epochs"));
            return format!("Trial {} trained for {done} of {all}; its command trains for all of them.", best.number);
        };
        let folds = if evaluation.chosen_epochs.len() > 1 { ", the mean over folds" } else { "" };
        format!(
            "Its command reports {} {} on the validation queries{folds}: at the epoch that all of them select.",
            result.metric,
            fixed(value, 4)
        )
    }
}

/// The command that trains the default.
fn default_command(result: &SearchResult) -> Option<String> {
    let model = ModelChoice::of(&result.default_trial()?.config).ok()?.kind.name;
    Some(format!("burnrank train --model {model}"))
}

/// Whether a difference is an improvement of more than one standard error.
fn is_clear(better: Better, gain: &Summary) -> bool {
    let gained = if better == Better::Higher { gain.mean } else { -gain.mean };
    gained > gain.standard_error
}

fn difference_json(difference: Summary) -> Value {
    json!({"mean": difference.mean, "standard_error": difference.standard_error})
}

fn trial_json(
    result: &SearchResult,
    trial: &Trial,
    evaluation: Option<&&Evaluation>,
    ranked: &[(&Trial, &Evaluation)],
) -> Value {
    let settings: Map<String, Value> =
        values_of(&trial.config).map(|(setting, value)| (setting.key.to_owned(), json!(value))).collect();
    let best = ranked.first().filter(|(best, _)| best.number != trial.number);
    let to_best = best.zip(evaluation).map(|((_, best), own)| difference_json(paired(&own.values, &best.values)));
    let summary = evaluation.map(|evaluation| evaluation.summary());
    json!({
        "trial": trial.number,
        "value": summary.map(|summary| summary.mean),
        "standard_error": summary.map(|summary| summary.standard_error),
        "validation_value": evaluation.and_then(|evaluation| evaluation.validation_value),
        "difference_to_best": to_best,
        "rung": trial.rung,
        "epochs": evaluation.map(|evaluation| evaluation.epochs),
        "chosen_epochs": evaluation.map(|evaluation| &evaluation.chosen_epochs),
        "failure": trial.failure,
        "settings": settings,
        "differs_from_default": difference(result, &trial.config),
        "config": trial.config,
    })
}

/// The settings that differ from the default, as in "hidden 32".
fn difference(result: &SearchResult, config: &TrainConfig) -> Vec<String> {
    let defaults: Vec<(&str, String)> = result
        .default_trial()
        .into_iter()
        .flat_map(|trial| values_of(&trial.config).map(|(setting, value)| (setting.key, value)))
        .collect();
    let different = values_of(config).filter(|(setting, value)| !defaults.contains(&(setting.key, value.clone())));
    let is_linear = |key: &str, value: &str| key == "hidden" && value == "linear";
    different
        .map(|(setting, value)| match setting.key {
            "objective" => value,
            key if is_linear(key, &value) => value,
            key => format!("{key} {value}"),
        })
        .collect()
}

fn table(result: &SearchResult, ranked: &[(&Trial, &Evaluation)]) -> Table {
    let columns = [
        ("trial", Align::Right),
        ("epochs", Align::Right),
        (result.metric.as_str(), Align::Right),
        ("vs best", Align::Right),
        ("error", Align::Right),
        ("settings", Align::Left),
    ];
    let mut table = Table::new(&columns);
    let best = ranked.first().map(|(_, evaluation)| *evaluation);
    let shown = |(place, (trial, _)): &(usize, &(&Trial, &Evaluation))| *place < MAX_TRIALS || trial.number == 0;
    for (place, (trial, evaluation)) in ranked.iter().enumerate().filter(shown) {
        let (to_best, error) = match best.filter(|_| place > 0).map(|best| paired(&evaluation.values, &best.values)) {
            Some(difference) => (signed(difference.mean, 4), fixed(difference.standard_error, 4)),
            None => (String::new(), String::new()),
        };
        let settings = match trial.number {
            0 => vec!["default".to_owned()],
            _ => folded(&difference(result, &trial.config)),
        };
        let numbers = [trial.number.to_string(), evaluation.epochs.to_string(), fixed(evaluation.summary().mean, 4)];
        let mut cells: Vec<String> = numbers.into_iter().chain([to_best, error]).collect();
        for line in settings {
            table.row(cells.iter().cloned().chain([line]));
            cells = vec![String::new(); 5];
        }
    }
    table
}

/// Joins words with commas, on lines of the width of the last column.
fn folded(words: &[String]) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (place, word) in words.iter().enumerate() {
        let word = if place + 1 < words.len() { format!("{word},") } else { word.clone() };
        let Some(line) = lines.last_mut() else { continue };
        if line.is_empty() {
            line.push_str(&word);
        } else if line.chars().count() + 1 + word.chars().count() <= SETTINGS_WIDTH {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_folded() {
        let words = ["lambdarank:ndcg@10", "hidden 32,16", "lr 0.00312", "scale query-zscore"].map(str::to_owned);
        assert_eq!(folded(&words), ["lambdarank:ndcg@10, hidden 32,16,", "lr 0.00312, scale query-zscore"]);
        assert_eq!(folded(&[]), [""]);
    }

    #[test]
    fn an_improvement_is_clear_beyond_one_standard_error() {
        let of = |values: &[f64]| Summary::of(&values.iter().map(|&value| Some(value)).collect::<Vec<_>>());
        let (clear, vague) = (of(&[1.0, 1.5, 1.0]), of(&[1.0, -0.5, 0.0]));
        assert_eq!([is_clear(Better::Higher, &clear), is_clear(Better::Higher, &vague)], [true, false]);
        assert!(!is_clear(Better::Lower, &clear));
    }
}
