//! One training run, from data to a model folder.

use super::Args;
use crate::cli::interrupt::Graceful;
use crate::cli::ui::{self, Align, Table};
use crate::cli::{Interrupted, input};
use anyhow::Context;
use burnrank::{
    Conventions, DataInfo, Dataset, Device, EpochRecord, Finish, Metric, Model, ModelInfo, Scaler, Summary, Targets,
    TrainConfig, Trained, Trainer, judge, score, split,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Queries kept for validation when the user gives no validation data.
const VALIDATION_SHARE: f64 = 0.2;

/// `burnrank train --train ...`
pub fn run(args: &Args, train: &Path, out: &Path, config: TrainConfig, device: &Device) -> anyhow::Result<()> {
    let mut whole = input::read_data(train, &args.read)?;
    let targets = args.targets.as_deref().map(|path| Targets::read(path, &whole)).transpose()?;
    let source = train.display().to_string();
    let (train, valid, targets) = match &args.valid {
        Some(path) => (
            Named::new(source, whole),
            Named::new(
                path.display().to_string(),
                input::read_data(path, &args.read.with_query_file(args.valid_query_file.as_ref()))?,
            ),
            targets,
        ),
        None => {
            let parts = split(whole.n_queries(), &[1.0 - VALIDATION_SHARE, VALIDATION_SHARE], args.settings.seed)
                .context("too few queries to keep some for validation: give --valid FILE")?;
            let targets = targets.map(|targets| targets.select(&parts[0]));
            let valid = whole.take_out(&parts[1]);
            let named = |which, data| Named::new(format!("{source}, {which} in 5 queries"), data);
            (named("4", whole), named("1", valid), targets)
        }
    };
    let test = match &args.test {
        Some(path) => {
            let read = args.read.with_query_file(args.test_query_file.as_ref());
            Some(Named::new(path.display().to_string(), input::read_data(path, &read)?))
        }
        None => None,
    };
    let mut sets = Sets { train, valid, test };
    let scaler = sets.scale(args)?;
    let checkpoint = checkpoint_path(out);
    let _graceful = Graceful::new();
    let trained = train_with(args, &config, &sets, targets.as_ref(), device, Some((&checkpoint, args.resume)), "")?;
    let model = sets.model(&config, &trained, scaler, device)?;
    model.save(out, &trained.history)?;
    let interrupted = Graceful::asked() && trained.finish == Finish::Stopped;
    if !interrupted {
        let _ = std::fs::remove_file(&checkpoint);
    }
    report(args, out, &model, &trained)?;
    if interrupted {
        ui::note(&format!("interrupted: the best model so far is in {}; go on with --resume", out.display()));
        return Err(Interrupted.into());
    }
    Ok(())
}

/// The file beside a model folder from which training goes on.
fn checkpoint_path(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(".checkpoint");
    out.with_file_name(name)
}

/// A data set and where it came from.
pub struct Named {
    source: String,
    pub data: Dataset,
    info: Option<DataInfo>,
}

impl Named {
    pub fn new(source: String, data: Dataset) -> Self {
        Named { info: Some(DataInfo::of(source.clone(), &data)), source, data }
    }
}

/// What a ranker is trained on, chosen by and judged on.
pub struct Sets {
    pub train: Named,
    pub valid: Named,
    pub test: Option<Named>,
}

impl Sets {
    /// Scales all sets by the training data.
    pub fn scale(&mut self, args: &Args) -> anyhow::Result<Scaler> {
        let mut sets = vec![&mut self.train.data, &mut self.valid.data];
        sets.extend(self.test.as_mut().map(|test| &mut test.data));
        Ok(args.settings.scale(&mut sets)?)
    }

    fn all(&self) -> impl Iterator<Item = (&'static str, &Named)> {
        [("train", &self.train), ("valid", &self.valid)].into_iter().chain(self.test.iter().map(|test| ("test", test)))
    }

    /// The best ranker of a run with all that is known about it, judged on every set.
    pub fn model(
        &self,
        config: &TrainConfig,
        trained: &Trained,
        scaler: Scaler,
        device: &Device,
    ) -> anyhow::Result<Model> {
        let mut info = ModelInfo::new(trained.config, scaler, config.objective.name());
        info.settings = serde_json::to_value(config)?;
        info.best_epoch = trained.best_epoch;
        let conventions = Conventions::default();
        info.conventions = conventions.to_string();
        for (split, set) in self.all() {
            let scores = score(&trained.ranker, &set.data, device)?;
            let mut values = BTreeMap::new();
            for metric in metrics(config)? {
                let judged = judge(&*metric, &scores, set.data.labels(), set.data.offsets(), &conventions)?;
                values.insert(metric.name(), Summary::of(&judged).mean);
            }
            info.metrics.insert(split.into(), values);
            let described = set.info.clone().unwrap_or_else(|| DataInfo::of(set.source.clone(), &set.data));
            info.data.insert(split.into(), described);
        }
        Ok(Model { ranker: trained.ranker.clone(), info })
    }
}

/// What every report shows: the measure that chose the epoch, and the usual three.
pub fn metrics(config: &TrainConfig) -> anyhow::Result<Vec<Arc<dyn Metric>>> {
    let chosen = burnrank::parse(&config.metric)?;
    let mut all = vec![];
    for name in ["ndcg@10", "map", "mrr"] {
        all.push(burnrank::parse(name)?);
    }
    all.retain(|metric| metric.name() != chosen.name());
    all.insert(0, chosen);
    Ok(all)
}

/// Trains with a bar, a log, checkpoints, and an ear for Ctrl-C.
pub fn train_with(
    args: &Args,
    config: &TrainConfig,
    sets: &Sets,
    targets: Option<&Targets>,
    device: &Device,
    checkpoint: Option<(&Path, bool)>,
    title: &str,
) -> anyhow::Result<Trained> {
    let mut trainer = Trainer::new(config.clone(), &sets.train.data, &sets.valid.data, device)?;
    if let Some(targets) = targets {
        trainer = trainer.with_targets(targets)?;
    }
    if let Some((path, true)) = checkpoint
        && path.exists()
    {
        trainer = trainer.resume(path)?;
        ui::note(&format!("going on after epoch {}", trainer.history().len()));
    }
    let mut log = match &args.log {
        Some(path) => Some(File::create(path).with_context(|| format!("{}: cannot create", path.display()))?),
        None => None,
    };
    let bar = bar(config, title);
    bar.set_position(trainer.history().len() as u64);
    let mut saved = Instant::now();
    while trainer.finished().is_none() && !Graceful::asked() {
        let epoch = trainer.epoch()?;
        bar.set_position(epoch.epoch as u64);
        let best = trainer.history().iter().rfind(|epoch| epoch.best);
        bar.set_message(message(config, &epoch, best));
        if args.json {
            ui::print(&(serde_json::to_string(&epoch)? + "\n"))?;
        }
        if let Some(log) = &mut log {
            writeln!(log, "{}", serde_json::to_string(&epoch)?)?;
        }
        if let Some((path, _)) = checkpoint
            && (saved.elapsed() >= Duration::from_secs(args.checkpoint_every) || Graceful::asked())
        {
            trainer.save_checkpoint(path)?;
            saved = Instant::now();
        }
    }
    if let (Some((path, _)), true) = (checkpoint, Graceful::asked()) {
        trainer.save_checkpoint(path)?;
    }
    bar.finish_and_clear();
    Ok(trainer.finish()?)
}

fn bar(config: &TrainConfig, title: &str) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr_with_hz(10)
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(config.epochs as u64), target);
    let style = ProgressStyle::with_template("{prefix}epoch {pos}/{len} {wide_bar} {msg} {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_prefix(if title.is_empty() { String::new() } else { format!("{title}: ") });
    bar
}

fn message(config: &TrainConfig, epoch: &EpochRecord, best: Option<&EpochRecord>) -> String {
    let best = best.map_or(String::new(), |best| format!(" (best {:.4} at {})", best.valid, best.epoch));
    format!("{} {:.4}{best}", config.metric, epoch.valid)
}

fn report(args: &Args, out: &Path, model: &Model, trained: &Trained) -> anyhow::Result<()> {
    let info = &model.info;
    if args.json {
        let result = json!({
            "model": out, "objective": info.objective, "best_epoch": trained.best_epoch, "epochs": trained.history.len(),
            "finish": trained.finish, "metrics": info.metrics, "conventions": info.conventions,
        });
        return ui::print(&(serde_json::to_string(&result)? + "\n"));
    }
    let mut text = format!(
        "{}, {}: best epoch {} of {}\n\n",
        info.objective,
        info.ranker.architecture,
        trained.best_epoch,
        trained.history.len()
    );
    let names: Vec<&String> = info.metrics.values().next().map(|m| m.keys().collect()).unwrap_or_default();
    let columns = [("", Align::Left), ("queries", Align::Right)];
    let columns = columns.into_iter().chain(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(&columns.collect::<Vec<_>>());
    for split in ["train", "valid", "test"] {
        if let (Some(values), Some(data)) = (info.metrics.get(split), info.data.get(split)) {
            let cells = [split.to_owned(), ui::count(data.queries)];
            table.row(cells.into_iter().chain(values.values().map(|&value| ui::decimals(value))));
        }
    }
    text += &table.render();
    text += &format!("\n{}\nmodel: {}\n", info.conventions, out.display());
    ui::print(&text)
}
