//! `burnrank train --folds DIR`: LETOR cross-validation.

use super::output::RunOutput;
use super::repeat::Repeats;
use super::run::{after, ensemble, train_with, warnings};
use super::sets::{Named, Sets, metrics};
use super::single::SingleFeature;
use super::warn::Warning;
use super::{Args, auto};
use crate::cli::interrupt::Graceful;
use crate::cli::prose::named;
use crate::cli::ui::{self, Align, Table};
use crate::cli::{Interrupted, Usage};
use burnrank::data::{FoldFiles, find_folds};
use burnrank::numeric::Mean;
use burnrank::tune::AutoReport;
use burnrank::{Conventions, Device, ModelInfo, TrainConfig};
use serde_json::{Value, json};
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
    let mut judged: Vec<Fold> = Vec::new();
    for (fold, out) in folds.iter().zip(&outs) {
        let read = |path: &Path| Named::read(path, &args.read);
        let mut sets = Sets::new(read(&fold.train)?, read(&fold.vali)?, Some(read(&fold.test)?));
        sets.prepare(args)?;
        sets.check_pairs(&config, false)?;
        let names = args.names_of(&sets.train.data)?;
        odd.extend(warnings(&sets, &config)?);
        let single = SingleFeature::sample(&sets.valid.data, &config);
        let (mut again, mut race) = (Vec::new(), None);
        let mut model = if args.is_auto()? {
            let _graceful = Graceful::new();
            let choose = |config: &TrainConfig| auto::choose(args, &sets, config, device, &fold.name);
            let (model, found) = choose(&config)?;
            race = Some(found);
            if let Some(repeats) = &repeats {
                again = repeats.one_by_one(&config, |config| choose(config).map(|found| found.0))?;
            }
            model
        } else {
            let config = args.settings.suited(config.clone(), sets.train.data.n_queries())?;
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
            out.save(&model)?;
            out.discard_checkpoint();
        }
        odd.extend(after(args, &config, &model, single.as_ref(), &fold.name));
        if let (Some(repeats), Some(test)) = (&mut repeats, &sets.test) {
            repeats.add(&model, &again, &test.data)?;
        }
        judged.push(Fold { name: fold.name.clone(), info: model.info, race });
    }
    output.print(&report(args, &config, &judged, &odd, repeats.as_ref())?);
    output.end(&args.kept())
}

/// What came of a fold.
struct Fold {
    name: String,
    info: ModelInfo,
    /// How its model was selected, where it was.
    race: Option<AutoReport>,
}

impl Fold {
    /// The settings whose models are averaged, where they were selected.
    fn selected(&self) -> Vec<&str> {
        let chosen = self.race.iter().flat_map(|race| &race.candidates).filter(|candidate| candidate.selected);
        chosen.map(|candidate| candidate.name.as_str()).collect()
    }

    /// The model in words, with what was selected for it.
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
        let Fold { name, info, race } = self;
        let mut fold = json!({
            "fold": name, "architecture": info.ranker.architecture, "model": info.ranker.architecture.to_string(),
            "scaling": info.scaler.kind(), "members": info.members.len().max(1),
        });
        if let Some(race) = race {
            fold["selected"] = json!(self.selected());
            fold["selection"] = json!(race);
        }
        fold
    }
}

/// What was trained: one line where all folds have the same model, else one for each.
fn models(aim: &str, folds: &[Fold]) -> String {
    let mut words: Vec<String> = folds.iter().map(Fold::words).collect();
    words.dedup();
    match (folds.first(), words.len()) {
        (Some(first), 1) if first.race.is_none() => format!("{aim}, {}\n", first.info.ranker.architecture),
        (Some(first), _) => {
            let how = if first.race.is_some() { "model selected on each fold" } else { "models of the folds" };
            let each = folds.iter().map(|fold| named(&fold.name, &fold.words()));
            format!("{aim}, {how}\n\n{}", each.collect::<String>())
        }
        (None, _) => format!("{aim}\n"),
    }
}

/// Mean and standard deviation.
fn spread(values: &[f64]) -> (f64, f64) {
    let over = Mean::of(values);
    (over.mean, over.deviation())
}

fn report(
    args: &Args,
    config: &TrainConfig,
    folds: &[Fold],
    odd: &[Warning],
    repeats: Option<&Repeats>,
) -> anyhow::Result<String> {
    let names: Vec<String> = metrics(config)?.iter().map(|metric| metric.name()).collect();
    let value = |info: &ModelInfo, split: &str, name: &String| {
        info.metrics.get(split).and_then(|values| values.get(name)).copied().unwrap_or(f64::NAN)
    };
    let all =
        |split: &str, name: &String| folds.iter().map(|fold| value(&fold.info, split, name)).collect::<Vec<f64>>();
    if args.json {
        let spreads = |split: &str| -> serde_json::Value {
            let one = |name: &String| {
                let (mean, deviation) = spread(&all(split, name));
                (name.clone(), json!({"mean": mean, "standard_deviation": deviation, "folds": all(split, name)}))
            };
            serde_json::Value::Object(names.iter().map(one).collect())
        };
        let mut result = json!({
            "objective": config.aim(), "folds": folds.len(),
            "models": folds.iter().map(Fold::json).collect::<Vec<_>>(), "valid": spreads("valid"), "test": spreads("test"),
            "conventions": Conventions::default().to_string(),
            "warnings": odd.iter().map(Warning::json).collect::<Vec<_>>(),
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
    for (title, pick) in [("mean", 0), ("deviation", 1)] {
        let cells = names.iter().map(|name| {
            let (mean, deviation) = spread(&all("test", name));
            ui::decimals([mean, deviation][pick])
        });
        table.row([title.to_owned()].into_iter().chain(cells));
    }
    let title = models(&config.aim(), folds) + "\n";
    let valid = names.first().map_or(String::new(), |name| {
        format!("\nvalidation {name}, mean over folds: {}\n", ui::decimals(spread(&all("valid", name)).0))
    });
    let again = match repeats {
        Some(repeats) => format!("\nThe above is of seed {}.\n{}", repeats.first_seed(), repeats.text()),
        None => String::new(),
    };
    Ok(title + &ui::table(&table) + &format!("{valid}{again}\n{}\n", Conventions::default()))
}

/// Says which fold was not finished.
fn interrupted_in(fold: &str) -> anyhow::Error {
    ui::note(&format!("interrupted in {fold}: its model was not saved"));
    Interrupted.into()
}
