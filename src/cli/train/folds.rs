//! `burnrank train --folds DIR`: LETOR cross-validation.

use super::output::RunOutput;
use super::repeat::Repeats;
use super::run::{after, ensemble, train_with, warnings};
use super::sets::{Named, Sets, metrics};
use super::single::SingleFeature;
use super::warn::Warning;
use super::{Args, auto};
use crate::cli::interrupt::Graceful;
use crate::cli::ui::{self, Align, Table};
use crate::cli::{Interrupted, Usage};
use burnrank::data::{FoldFiles, find_folds};
use burnrank::{Conventions, Device, ModelInfo, TrainConfig};
use serde_json::json;
use std::path::Path;

/// Trains and judges on every fold; mean and spread over the folds.
pub fn run(args: &Args, folder: &Path, config: TrainConfig, device: &Device) -> anyhow::Result<()> {
    if args.read.query_file.is_some() {
        return Err(Usage("--query-file is for --train: with --folds, put FILE.query beside each file".into()).into());
    }
    let folds = find_folds(folder)?;
    let claim = |fold: &FoldFiles| args.out.as_ref().map(|out| args.claim(&out.join(&fold.name))).transpose();
    // The first that is claimed makes the folder of all, and must be the last to leave it.
    let mut outs = folds.iter().rev().map(claim).collect::<anyhow::Result<Vec<_>>>()?;
    outs.reverse();
    let mut output = RunOutput::new(args.json);
    let mut odd = Vec::new();
    let mut repeats = Repeats::new(args, &config)?;
    let mut judged: Vec<(String, ModelInfo)> = Vec::new();
    for (fold, out) in folds.iter().zip(&outs) {
        let read = |path: &Path| Named::read(path, &args.read);
        let mut sets = Sets::new(read(&fold.train)?, read(&fold.vali)?, Some(read(&fold.test)?));
        sets.prepare(args)?;
        let names = args.names_of(&sets.train.data)?;
        odd.extend(warnings(&sets, &config)?);
        let single = SingleFeature::sample(&sets.valid.data, &config);
        let mut again = Vec::new();
        let mut model = if args.is_auto()? {
            let _graceful = Graceful::new();
            let choose =
                |config: &TrainConfig| auto::choose(args, &sets, config, device, &fold.name).map(|found| found.0);
            let model = choose(&config)?;
            if let Some(repeats) = &repeats {
                again = repeats.one_by_one(&config, choose)?;
            }
            model
        } else {
            let config = args.settings.suited(config.clone(), sets.train.data.n_queries());
            let config = auto::with_scaling(args, &sets, config, device)?;
            let data = sets.training_data(&config, None)?;
            // Not while files are read: an interrupt ends that at once.
            let _graceful = Graceful::new();
            let members = ensemble(args, &config, &data, &[], device)?;
            let Some(model) = train_with(args, &config, members, None, &fold.name, &mut output)? else {
                return Err(interrupted_in(&fold.name));
            };
            if let Some(repeats) = repeats.as_ref().filter(|_| !Graceful::asked()) {
                again = repeats.side_by_side(args, &config, (&data, &[]), device)?;
            }
            model
        };
        if Graceful::asked() {
            return Err(interrupted_in(&fold.name));
        }
        sets.describe(&mut model, &config)?;
        model.info.feature_names = names;
        if let Some(out) = out {
            model.save_to(&out.place)?;
            out.discard_checkpoint();
        }
        odd.extend(after(args, &config, &model, single.as_ref(), &fold.name));
        if let (Some(repeats), Some(test)) = (&mut repeats, &sets.test) {
            repeats.add(&model, &again, &test.data)?;
        }
        judged.push((fold.name.clone(), model.info));
    }
    output.print(&report(args, &config, &judged, &odd, repeats.as_ref())?);
    output.end(&args.kept())
}

/// Mean and standard deviation.
fn spread(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, if values.len() < 2 { f64::NAN } else { (squares / (n - 1.0)).sqrt() })
}

fn report(
    args: &Args,
    config: &TrainConfig,
    folds: &[(String, ModelInfo)],
    odd: &[Warning],
    repeats: Option<&Repeats>,
) -> anyhow::Result<String> {
    let names: Vec<String> = metrics(config)?.iter().map(|metric| metric.name()).collect();
    let value = |info: &ModelInfo, split: &str, name: &String| {
        info.metrics.get(split).and_then(|values| values.get(name)).copied().unwrap_or(f64::NAN)
    };
    let all = |split: &str, name: &String| folds.iter().map(|(_, info)| value(info, split, name)).collect::<Vec<f64>>();
    if args.json {
        let spreads = |split: &str| -> serde_json::Value {
            let one = |name: &String| {
                let (mean, deviation) = spread(&all(split, name));
                (name.clone(), json!({"mean": mean, "deviation": deviation, "folds": all(split, name)}))
            };
            serde_json::Value::Object(names.iter().map(one).collect())
        };
        let mut result = json!({
            "objective": config.aim(), "folds": folds.len(), "valid": spreads("valid"), "test": spreads("test"),
            "conventions": Conventions::default().to_string(),
            "odd": odd.iter().map(Warning::json).collect::<Vec<_>>(),
        });
        if let Some(repeats) = repeats {
            result["repeat"] = repeats.json();
        }
        return Ok(serde_json::to_string(&result)? + "\n");
    }
    let mut columns = vec![("test", Align::Left)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for (fold, info) in folds {
        let cells = names.iter().map(|name| ui::decimals(value(info, "test", name)));
        table.row([fold.clone()].into_iter().chain(cells));
    }
    for (title, pick) in [("mean", 0), ("deviation", 1)] {
        let cells = names.iter().map(|name| {
            let (mean, deviation) = spread(&all("test", name));
            ui::decimals([mean, deviation][pick])
        });
        table.row([title.to_owned()].into_iter().chain(cells));
    }
    let architecture = folds.first().map(|(_, info)| info.ranker.architecture.to_string()).unwrap_or_default();
    let title = format!("{}, {architecture}\n\n", config.aim());
    let again = match repeats {
        Some(repeats) => format!("\nThe above is of seed {}.\n{}", repeats.first_seed(), repeats.text()),
        None => String::new(),
    };
    Ok(title + &ui::table(&table) + &format!("{again}\n{}\n", Conventions::default()))
}

/// Says which fold was not finished.
fn interrupted_in(fold: &str) -> anyhow::Error {
    ui::note(&format!("interrupted in {fold}: its model was not saved"));
    Interrupted.into()
}
