//! One training run, from data to a model folder.

use super::output::RunOutput;
use super::progress::TrainingProgress;
use super::sets::{Sets, metrics};
use super::warn::{self, Warning};
use super::{Args, Out};
use crate::cli::Interrupted;
use crate::cli::interrupt::Graceful;
use crate::cli::prose::paragraph;
use crate::cli::ui::{self, Align, Table};
use burnrank::{Device, Finish, Model, TrainConfig, Trainer};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// `burnrank train --train ...`
pub fn run(
    args: &Args,
    train: &Path,
    (out, claimed): (&Path, &Out),
    config: TrainConfig,
    device: &Device,
) -> anyhow::Result<()> {
    let (mut sets, targets) = Sets::read(args, train)?;
    sets.prepare(args)?;
    let names = args.names_of(sets.train.data.n_features())?;
    let checkpoint = claimed.place.checkpoint();
    let identity = || Trainer::identity_of(&config, &sets.train.data, &sets.valid.data, targets.as_ref());
    if args.is_finished(claimed, config.epochs, identity)? {
        ui::note(&format!(
            "{}: this run is finished, there is nothing to go on with; 'burnrank evaluate --model' judges it on other data",
            out.display()
        ));
        return Ok(());
    }
    let mut warnings = warnings(&sets, &config)?;
    let data = Arc::new(sets.training_data(config.scaling)?);
    let _graceful = Graceful::new();
    let mut trainer = Trainer::on(config.clone(), data, device)?;
    if let Some(targets) = &targets {
        trainer = trainer.with_targets(targets)?;
    }
    let mut output = RunOutput::new(args.json);
    let place = Some((checkpoint.as_path(), args.resume));
    let mut model = train_with(args, &config, trainer, place, "", &mut output)?;
    let interrupted = Graceful::asked() && is_stopped(&model);
    if model.info.best_epoch == 0 && interrupted {
        let go_on = if claimed.place.model()?.is_some() { "--resume --force" } else { "--resume" };
        ui::note(&format!("interrupted before the first epoch: there is no new model yet; go on with {go_on}"));
        return Err(Interrupted.into());
    }
    sets.describe(&mut model, &config)?;
    model.info.feature_names = names;
    if let Err(error) = model.save_to(&claimed.place) {
        let there =
            if checkpoint.exists() { "; when that is mended, --resume saves it from its checkpoint" } else { "" };
        anyhow::bail!("{error}{there}");
    }
    if !interrupted {
        claimed.discard_checkpoint();
    }
    warnings.extend(warn::divergence(&model, "").inspect(Warning::tell));
    output.print(&report(args, out, &model, &warnings)?);
    let kept = format!("the model is in {}", out.display());
    if interrupted {
        ui::note(&format!("interrupted: the best model so far is in {}; go on with --resume", out.display()));
        output.end(&kept).unwrap_or_else(|error| ui::note(&error.to_string()));
        return Err(Interrupted.into());
    }
    output.end(&kept)
}

/// Checks objective and measures on all sets, and tells what is odd about the data.
pub fn warnings(sets: &Sets, config: &TrainConfig) -> anyhow::Result<Vec<Warning>> {
    config.check_labels(&sets.train.data).map_err(|error| sets.train.locate(error))?;
    let mut warnings = sets.check_measures(config)?;
    warnings.extend(warn::data(sets, config));
    warnings.iter().for_each(Warning::tell);
    Ok(warnings)
}

/// Whether the run that a model is from was ended before its end.
fn is_stopped(model: &Model) -> bool {
    model.info.run.as_ref().is_some_and(|run| run.finish == Finish::Stopped)
}

/// Trains with a progress bar, a log and checkpoints, to the end or to Ctrl-C.
pub fn train_with(
    args: &Args,
    config: &TrainConfig,
    trainer: Trainer<'_>,
    checkpoint: Option<(&Path, bool)>,
    title: &str,
    output: &mut RunOutput,
) -> anyhow::Result<Model> {
    let mut trainer = trainer.with_stop(Graceful::stop()).with_measures(metrics(config)?);
    if let Some((path, true)) = checkpoint
        && path.exists()
    {
        trainer = trainer.resume(path)?;
        ui::note(&format!("going on after epoch {}", trainer.history().len()));
    }
    output.open_log(args.log.as_deref(), trainer.history())?;
    let mut progress = TrainingProgress::new(config, title, trainer.history().len());
    let mut checkpoint = checkpoint.map(|(path, _)| Checkpoint { path, saved: Instant::now(), failed: false });
    while trainer.finished().is_none() && !Graceful::asked() {
        let epoch = match trainer.epoch() {
            // The run is as it was after the last whole epoch.
            Err(burnrank::Error::Stopped) => break,
            epoch => epoch?,
        };
        progress.epoch(&epoch, trainer.history().iter().rfind(|epoch| epoch.best));
        output.epoch(&epoch, title)?;
        if let Some(checkpoint) = &mut checkpoint
            && checkpoint.saved.elapsed() >= Duration::from_secs(args.checkpoint_every)
        {
            checkpoint.save(&trainer);
        }
    }
    // Also after the last epoch: the model may turn out not to be writable where it belongs.
    if let Some(checkpoint) = &mut checkpoint {
        checkpoint.save(&trainer);
    }
    drop(progress);
    Ok(trainer.finish()?)
}

/// Where a run can go on from.
struct Checkpoint<'a> {
    path: &'a Path,
    saved: Instant,
    failed: bool,
}

impl Checkpoint<'_> {
    /// A checkpoint that cannot be written is no reason to lose the run.
    fn save(&mut self, trainer: &Trainer<'_>) {
        self.saved = Instant::now();
        if let Err(error) = trainer.save_checkpoint(self.path)
            && !std::mem::replace(&mut self.failed, true)
        {
            ui::note(&format!("{error}: training goes on, but could not be resumed from here"));
        }
    }
}

fn report(args: &Args, out: &Path, model: &Model, warnings: &[Warning]) -> serde_json::Result<String> {
    let info = &model.info;
    let finish = info.run.as_ref().map(|run| run.finish);
    if args.json {
        let odd: Vec<Value> = warnings.iter().map(Warning::json).collect();
        let result = json!({
            "model": out.display().to_string(), "objective": info.objective, "best_epoch": info.best_epoch, "epochs": model.history.len(),
            "finish": finish, "metrics": info.metrics, "conventions": info.conventions, "odd": odd,
        });
        return Ok(serde_json::to_string(&result)? + "\n");
    }
    let mut text = format!(
        "{}, {}: best epoch {} of {}{}\n\n",
        info.objective,
        info.ranker.architecture,
        info.best_epoch,
        model.history.len(),
        if finish == Some(Finish::Diverged) { ", then it diverged" } else { "" }
    );
    if let Some(aim) = args.settings.model.kind.optimises {
        text.insert_str(text.trim_end().len(), &format!("\n{}", paragraph(&format!("Optimised: {aim}.")).trim_end()));
    }
    let names: std::collections::BTreeSet<&String> = info.metrics.values().flat_map(|values| values.keys()).collect();
    let columns = [("", Align::Left), ("queries", Align::Right)];
    let columns = columns.into_iter().chain(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(&columns.collect::<Vec<_>>());
    for split in ["train", "valid", "test"] {
        if let (Some(values), Some(data)) = (info.metrics.get(split), info.data.get(split)) {
            let cells = [split.to_owned(), ui::count(data.queries)];
            let value = |name: &&String| ui::decimals(values.get(*name).copied().unwrap_or(f64::NAN));
            table.row(cells.into_iter().chain(names.iter().map(value)));
        }
    }
    text += &ui::table(&table);
    text += &format!("\n{}\nmodel: {}\n", info.conventions, out.display());
    Ok(text)
}
