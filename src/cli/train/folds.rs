//! `burnrank train --folds DIR`: LETOR cross-validation.

use super::job::{TrainedModel, TrainingJob};
use super::output::RunOutput;
use super::repeat::Repeats;
use super::warnings::Warning;
use super::{Args, auto, data};
use crate::cli::interrupt::Graceful;
use crate::cli::prose::named;
use crate::cli::ui::{self, Align, Table};
use crate::cli::{Interrupted, Usage};
use anyhow::bail;
use burnrank::data::{FoldFiles, find_folds};
use burnrank::numeric::Mean;
use burnrank::train::{Splits, report_metrics};
use burnrank::tune::AutoReport;
use burnrank::{Conventions, Device, ModelInfo, TrainConfig};
use serde_json::{Value, json};
use std::path::Path;

/// Trains and evaluates on every fold, and reports mean and standard deviation over the folds.
pub fn run(args: &Args, folder: &Path, config: TrainConfig, device: &Device) -> anyhow::Result<()> {
    if args.read.query_file.is_some() {
        bail!(Usage("--query-file does not work with --folds: put FILE.query next to each file".into()));
    }
    let folds = find_folds(folder)?;
    let claim = |fold: &FoldFiles| args.out.as_ref().map(|out| args.claim(&out.join(&fold.name))).transpose();
    // The first claim creates the parent folder and must be released last, hence the reversed order.
    let mut outs = folds.iter().rev().map(claim).collect::<anyhow::Result<Vec<_>>>()?;
    outs.reverse();
    let mut output = RunOutput::new(args.json);
    let mut warnings = Vec::new();
    let mut repeats = Repeats::new(args, &config)?;
    let mut results: Vec<Fold> = Vec::new();
    for (fold, out) in folds.iter().zip(&outs) {
        let read = |path: &Path| data::read(path, &args.read);
        let splits = Splits::new(read(&fold.train)?, read(&fold.vali)?, Some(read(&fold.test)?));
        let mut job = TrainingJob::new(args, device, &fold.name, config.clone(), (splits, Vec::new()))?;
        warnings.extend(job.warnings()?);
        job.scale(None)?;
        let (trained, others) = {
            // Only for training: while files are read, an interrupt ends the program at once.
            let _graceful = Graceful::new();
            let trained = job.train(job.members()?, None, None, &mut output)?;
            let repeats = repeats.as_ref().filter(|_| !Graceful::is_requested());
            (trained, repeats.map_or(Ok(Vec::new()), |repeats| job.train_other_seeds(repeats))?)
        };
        let Some(mut trained) = trained.filter(|_| !Graceful::is_requested()) else {
            ui::note(&format!("interrupted in {}: its model was not saved", fold.name));
            return Err(Interrupted.into());
        };
        warnings.extend(job.save(&mut trained, out.as_ref())?);
        if let (Some(repeats), Some(test)) = (&mut repeats, &job.splits.test) {
            repeats.add(&trained.model, &others, &test.data)?;
        }
        let TrainedModel { model, selection, .. } = trained;
        results.push(Fold { name: fold.name.clone(), info: model.info, selection });
    }
    output.print(&report(args, &config, &results, &warnings, repeats.as_ref())?);
    output.finish(&args.models_location())
}

/// The result of a fold.
struct Fold {
    name: String,
    info: ModelInfo,
    /// The report of model selection, with `--model auto`.
    selection: Option<AutoReport>,
}

impl Fold {
    /// The selected settings, whose models are averaged.
    fn selected(&self) -> Vec<&str> {
        let candidates = self.selection.iter().flat_map(|selection| &selection.candidates);
        candidates.filter(|candidate| candidate.selected).map(|candidate| candidate.name.as_str()).collect()
    }

    /// The model and its selected settings, in words.
    fn words(&self) -> String {
        let (architecture, scaling) = (&self.info.ranker.architecture, self.info.scaler.kind());
        let settings = self.selected();
        match settings.as_slice() {
            [] => format!("{architecture}. Features: {scaling}."),
            settings => format!(
                "{architecture}, the average of {}. Features: {scaling}. Selected: {}.",
                auto::average_of(&self.info),
                settings.join("; ")
            ),
        }
    }

    fn json(&self) -> Value {
        let Fold { name, info, selection } = self;
        let mut fold = json!({
            "fold": name, "architecture": info.ranker.architecture, "model": info.ranker.architecture.to_string(),
            "scaling": info.scaler.kind(), "members": info.members.len().max(1),
        });
        if let Some(selection) = selection {
            fold["selected"] = json!(self.selected());
            fold["selection"] = json!(selection);
        }
        fold
    }
}

/// The trained models: a single line if all folds have the same model, otherwise one line per fold.
fn models(aim: &str, folds: &[Fold]) -> String {
    let mut words: Vec<String> = folds.iter().map(Fold::words).collect();
    words.dedup();
    match (folds.first(), words.len()) {
        (Some(first), 1) if first.selection.is_none() => format!("{aim}, {}\n", first.info.ranker.architecture),
        (Some(first), _) => {
            let how = if first.selection.is_some() { "model selected on each fold" } else { "models of the folds" };
            let each = folds.iter().map(|fold| named(&fold.name, &fold.words()));
            format!("{aim}, {how}\n\n{}", each.collect::<String>())
        }
        (None, _) => format!("{aim}\n"),
    }
}

/// Mean and standard deviation.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let mean = Mean::of(values);
    (mean.mean, mean.deviation())
}

fn report(
    args: &Args,
    config: &TrainConfig,
    folds: &[Fold],
    warnings: &[Warning],
    repeats: Option<&Repeats>,
) -> anyhow::Result<String> {
    let names: Vec<String> = report_metrics(&config.metric)?.iter().map(|metric| metric.name()).collect();
    let value = |info: &ModelInfo, split: &str, name: &String| {
        info.metrics.get(split).and_then(|values| values.get(name)).copied().unwrap_or(f64::NAN)
    };
    let all =
        |split: &str, name: &String| folds.iter().map(|fold| value(&fold.info, split, name)).collect::<Vec<f64>>();
    if args.json {
        let over_folds = |split: &str| -> serde_json::Value {
            let one = |name: &String| {
                let (mean, deviation) = mean_and_deviation(&all(split, name));
                (name.clone(), json!({"mean": mean, "standard_deviation": deviation, "folds": all(split, name)}))
            };
            serde_json::Value::Object(names.iter().map(one).collect())
        };
        let mut result = json!({
            "objective": config.aim(), "folds": folds.len(),
            "models": folds.iter().map(Fold::json).collect::<Vec<_>>(), "valid": over_folds("valid"), "test": over_folds("test"),
            "conventions": Conventions::default().to_string(),
            "warnings": warnings.iter().map(Warning::json).collect::<Vec<_>>(),
        });
        if let Some(repeats) = repeats {
            result["repeat"] = repeats.json();
        }
        return Ok(serde_json::to_string(&result)? + "\n");
    }
    let mut columns = vec![("test", Align::Left)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for fold in folds {
        let cells = names.iter().map(|name| ui::decimals(value(&fold.info, "test", name)));
        table.row([fold.name.clone()].into_iter().chain(cells));
    }
    for (title, pick) in [("mean", 0), ("std dev", 1)] {
        let cells = names.iter().map(|name| {
            let (mean, deviation) = mean_and_deviation(&all("test", name));
            ui::decimals([mean, deviation][pick])
        });
        table.row([title.to_owned()].into_iter().chain(cells));
    }
    let title = models(&config.aim(), folds) + "\n";
    let valid = names.first().map_or(String::new(), |name| {
        format!("\nvalidation {name}, mean over folds: {}\n", ui::decimals(mean_and_deviation(&all("valid", name)).0))
    });
    let seeds = match repeats {
        Some(repeats) => format!("\nThe table above is of seed {}.\n{}", repeats.first_seed(), repeats.text()),
        None => String::new(),
    };
    Ok(title + &ui::table(&table) + &format!("{valid}{seeds}\n{}\n", Conventions::default()))
}
