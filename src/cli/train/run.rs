//! One training run, from data to a model folder.

use super::outlet::Outlet;
use super::progress::Progress;
use super::sets::Sets;
use super::warn::{self, Warning};
use super::{Args, Out};
use crate::cli::Interrupted;
use crate::cli::interrupt::Graceful;
use crate::cli::ui::{self, Align, Table};
use burnrank::{Device, Finish, Model, Targets, TrainConfig, Trained, Trainer};
use serde_json::{Value, json};
use std::path::Path;
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
    let scaler = sets.scale(args)?;
    let checkpoint = claimed.place.checkpoint();
    let identity = || -> burnrank::Result<String> {
        let trainer = Trainer::new(config.clone(), &sets.train.data, &sets.valid.data, device)?;
        let trainer = match &targets {
            Some(targets) => trainer.with_targets(targets)?,
            None => trainer,
        };
        Ok(trainer.identity())
    };
    if args.is_finished(claimed, config.epochs, identity)? {
        ui::note(&format!(
            "{}: this run is finished, there is nothing to go on with; 'burnrank evaluate --model' judges it on other data",
            out.display()
        ));
        return Ok(());
    }
    let mut warnings = warnings(&sets, &config)?;
    let _graceful = Graceful::new();
    let mut outlet = Outlet::new(args.json);
    let place = Some((checkpoint.as_path(), args.resume));
    let trained = train_with(args, &config, &sets, targets.as_ref(), device, place, "", &mut outlet)?;
    let interrupted = Graceful::asked() && trained.finish == Finish::Stopped;
    if trained.best_epoch == 0 && interrupted {
        let go_on = if claimed.place.model()?.is_some() { "--resume --force" } else { "--resume" };
        ui::note(&format!("interrupted before the first epoch: there is no new model yet; go on with {go_on}"));
        return Err(Interrupted.into());
    }
    let model = sets.model(&config, &trained, scaler, device)?;
    if let Err(error) = model.save_to(&claimed.place, &trained.history) {
        let there =
            if checkpoint.exists() { "; when that is mended, --resume saves it from its checkpoint" } else { "" };
        anyhow::bail!("{error}{there}");
    }
    if !interrupted {
        claimed.discard_checkpoint();
    }
    warnings.extend(warn::outcome(&trained, "").inspect(Warning::tell));
    outlet.print(&report(args, out, &model, &trained, &warnings)?);
    let kept = format!("the model is in {}", out.display());
    if interrupted {
        ui::note(&format!("interrupted: the best model so far is in {}; go on with --resume", out.display()));
        outlet.end(&kept).unwrap_or_else(|error| ui::note(&error.to_string()));
        return Err(Interrupted.into());
    }
    outlet.end(&kept)
}

/// Checks objective and measures on all sets, and tells what is odd about the data.
pub fn warnings(sets: &Sets, config: &TrainConfig) -> anyhow::Result<Vec<Warning>> {
    config.check_labels(&sets.train.data).map_err(|error| sets.train.locate(error))?;
    let mut warnings = sets.check_measures(config)?;
    warnings.extend(warn::data(sets, config));
    warnings.iter().for_each(Warning::tell);
    Ok(warnings)
}

/// Trains with a bar, a log, checkpoints, and an ear for Ctrl-C.
#[allow(clippy::too_many_arguments)] // each of them is another thing
pub fn train_with(
    args: &Args,
    config: &TrainConfig,
    sets: &Sets,
    targets: Option<&Targets>,
    device: &Device,
    checkpoint: Option<(&Path, bool)>,
    title: &str,
    outlet: &mut Outlet,
) -> anyhow::Result<Trained> {
    let mut trainer =
        Trainer::new(config.clone(), &sets.train.data, &sets.valid.data, device)?.with_stop(Graceful::stop());
    if let Some(targets) = targets {
        trainer = trainer.with_targets(targets)?;
    }
    if let Some((path, true)) = checkpoint
        && path.exists()
    {
        trainer = trainer.resume(path)?;
        ui::note(&format!("going on after epoch {}", trainer.history().len()));
    }
    outlet.open_log(args.log.as_deref(), trainer.history())?;
    let mut progress = Progress::new(config, title, trainer.history().len());
    let mut checkpoint = checkpoint.map(|(path, _)| Checkpoint { path, saved: Instant::now(), failed: false });
    while trainer.finished().is_none() && !Graceful::asked() {
        let epoch = match trainer.epoch() {
            // The run is as it was after the last whole epoch.
            Err(burnrank::Error::Stopped) => break,
            epoch => epoch?,
        };
        progress.epoch(&epoch, trainer.history().iter().rfind(|epoch| epoch.best));
        outlet.epoch(&epoch, title)?;
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

fn report(
    args: &Args,
    out: &Path,
    model: &Model,
    trained: &Trained,
    warnings: &[Warning],
) -> serde_json::Result<String> {
    let info = &model.info;
    if args.json {
        let odd: Vec<Value> = warnings.iter().map(Warning::json).collect();
        let result = json!({
            "model": out.display().to_string(), "objective": info.objective, "best_epoch": trained.best_epoch, "epochs": trained.history.len(),
            "finish": trained.finish, "metrics": info.metrics, "conventions": info.conventions, "odd": odd,
        });
        return Ok(serde_json::to_string(&result)? + "\n");
    }
    let mut text = format!(
        "{}, {}: best epoch {} of {}{}\n\n",
        info.objective,
        info.ranker.architecture,
        trained.best_epoch,
        trained.history.len(),
        if trained.finish == Finish::Diverged { ", then it diverged" } else { "" }
    );
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
