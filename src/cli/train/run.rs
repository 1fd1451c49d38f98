//! One training run, from data to a model folder.

use super::distributed::Plan;
use super::output::RunOutput;
use super::progress::TrainingProgress;
use super::repeat::Repeats;
use super::sets::{Sets, metrics};
use super::single::SingleFeature;
use super::warn::{self, Warning};
use super::{Args, Out, auto};
use crate::cli::Interrupted;
use crate::cli::interrupt::Graceful;
use crate::cli::prose::paragraph;
use crate::cli::ui::{self, Align, Table};
use burnrank::data::Targets;
use burnrank::distributed::Member;
use burnrank::train::{Ensemble, TrainingData};
use burnrank::{Device, Finish, Model, ModelInfo, TrainConfig, Trainer};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// `burnrank train --train ...`
pub fn run(
    args: &Args,
    train: &Path,
    (out, claimed): (&Path, &Out),
    config: TrainConfig,
    (device, member): (&Device, Option<&Member>),
) -> anyhow::Result<()> {
    let (mut sets, targets) = Sets::read(args, train)?;
    sets.prepare(args)?;
    sets.check_pairs(&config, args.targets.is_some())?;
    let names = args.names_of(&sets.train.data)?;
    let config = args.settings.suited(config, sets.train.data.n_queries())?;
    let config = auto::with_scaling(args, &sets, config, device)?;
    let checkpoint = claimed.place.checkpoint();
    let identity = || identity(args, &config, &sets, &targets);
    if args.is_finished(claimed, config.epochs, identity)? {
        ui::note(&format!(
            "{}: this run is finished, there is nothing to go on with; 'burnrank evaluate --model' judges it on other data",
            out.display()
        ));
        Plan::Nothing.tell(member)?;
        return Ok(());
    }
    let mut warnings = warnings(&sets, &config)?;
    // Where members have validation queries of their own, other members were trained on these.
    let apart = args.settings.ensemble == 1 || args.valid.is_some();
    let single = apart.then(|| SingleFeature::sample(&sets.valid.data, &config)).flatten();
    let resumes = args.resume && checkpoint.exists();
    (if resumes { Plan::Resume } else { Plan::Train }).tell(member)?;
    let data = sets.training_data(&config, member)?;
    let members = ensemble(args, &config, &data, &targets, device)?;
    // From here on there is something to keep; before, an interrupt ends the program at once.
    let _graceful = Graceful::new();
    let mut output = RunOutput::new(args.json);
    let place = Some((checkpoint.as_path(), resumes));
    let model = train_with(args, &config, members, place, "", &mut output)?;
    // Of several processes, another may have been asked.
    let is_interrupted = |model: &Model| (Graceful::asked() || member.is_some()) && is_stopped(model);
    let interrupted = model.as_ref().is_none_or(is_interrupted);
    let Some(mut model) = model.filter(|model| model.info.best_epoch > 0 || !interrupted) else {
        let go_on = if claimed.place.model()?.is_some() { "--resume --force" } else { "--resume" };
        ui::note(&format!("interrupted before the first epoch: there is no new model yet; go on with {go_on}"));
        return Err(Interrupted.into());
    };
    sets.describe(&mut model, &config)?;
    model.info.feature_names = names;
    if let Err(error) = claimed.save(&model) {
        let there =
            if checkpoint.exists() { "; when that is mended, --resume saves it from its checkpoint" } else { "" };
        anyhow::bail!("{error}{there}");
    }
    if !interrupted {
        claimed.discard_checkpoint();
    }
    warnings.extend(after(args, &config, &model, single.as_ref(), ""));
    let kept = format!("the model is in {}", out.display());
    let mut repeats = Repeats::new(args, &config)?.filter(|_| !interrupted);
    let mut failed = None;
    if let (Some(repeats), Some(test)) = (&mut repeats, &sets.test) {
        let again = repeats.side_by_side(args, &config, (&data, &targets), device);
        failed = again.and_then(|again| repeats.add(&model, &again, &test.data)).err();
    }
    output.print(&report(args, out, &model, &warnings, repeats.as_ref().filter(|_| failed.is_none()))?);
    if let Some(error) = failed {
        ui::note(&format!("the repetitions were not finished; {kept}"));
        output.end(&kept).unwrap_or_else(|error| ui::note(&error.to_string()));
        return Err(error);
    }
    if interrupted {
        ui::note(&format!("interrupted: the best model so far is in {}; go on with --resume", out.display()));
        output.end(&kept).unwrap_or_else(|error| ui::note(&error.to_string()));
        return Err(Interrupted.into());
    }
    output.end(&kept)
}

/// The settings of each member: those of the run, with seeds of their own.
fn configs<'c>(args: &Args, config: &'c TrainConfig) -> impl Iterator<Item = TrainConfig> + 'c {
    Ensemble::seeds(config.seed, args.settings.ensemble).map(move |seed| TrainConfig { seed, ..config.clone() })
}

/// What tells the run apart, before anything is scaled.
fn identity(args: &Args, config: &TrainConfig, sets: &Sets, targets: &[Targets]) -> String {
    let of = |(member, config): (usize, TrainConfig)| {
        let (train, valid) = sets.of_member(member);
        Trainer::identity_of(&config, train, valid, targets.get(member % targets.len().max(1)))
    };
    Ensemble::identity_of(&configs(args, config).enumerate().map(of).collect::<Vec<_>>())
}

/// The members of a run, one unless --ensemble says otherwise; they take data and targets in turn.
pub fn ensemble<'a>(
    args: &Args,
    config: &TrainConfig,
    data: &[Arc<TrainingData<'a>>],
    targets: &'a [Targets],
    device: &Device,
) -> burnrank::Result<Ensemble<'a>> {
    let member = |(member, config): (usize, TrainConfig)| {
        let trainer = Trainer::on(config, data[member % data.len()].clone(), device)?;
        match targets.get(member % targets.len().max(1)) {
            Some(targets) => trainer.with_targets(targets),
            None => Ok(trainer),
        }
    };
    Ensemble::new(configs(args, config).enumerate().map(member).collect::<burnrank::Result<_>>()?)
}

/// Checks objective and measures on all sets, and tells what is odd about the data.
pub fn warnings(sets: &Sets, config: &TrainConfig) -> anyhow::Result<Vec<Warning>> {
    config.check_labels(&sets.train.data).map_err(|error| sets.train.locate(error))?;
    let mut warnings = sets.check_measures(config)?;
    warnings.extend(warn::data(sets, config));
    warnings.iter().for_each(Warning::tell);
    Ok(warnings)
}

/// What is to be known of a run that is over, told.
pub fn after(
    args: &Args,
    config: &TrainConfig,
    model: &Model,
    single: Option<&SingleFeature>,
    run: &str,
) -> Vec<Warning> {
    // Who asks for a single feature gets one.
    let single = single.filter(|_| args.settings.model().kind.name != "feature");
    let single = single.and_then(|single| single.warning(model, args.read.first_index, run));
    let rest = [warn::too_few_epochs(config, model, run), single].into_iter().flatten();
    warn::training(model, run).chain(rest).inspect(Warning::tell).collect()
}

/// Whether the run that a model is from was ended before its end.
fn is_stopped(model: &Model) -> bool {
    model.info.run.as_ref().is_some_and(|run| run.finish == Finish::Stopped)
}

/// Trains with a progress bar, a log and checkpoints, to the end or to Ctrl-C; `None` if that came before the first epoch.
pub fn train_with(
    args: &Args,
    config: &TrainConfig,
    members: Ensemble<'_>,
    checkpoint: Option<(&Path, bool)>,
    title: &str,
    output: &mut RunOutput,
) -> anyhow::Result<Option<Model>> {
    let mut members = members.with_stop(&Graceful::stop()).with_measures(&metrics(config)?);
    if let Some((path, true)) = checkpoint {
        members = members.resume(path)?;
        let (done, wanted) = (members.epochs(), config.epochs);
        let past = if done > wanted {
            format!(", which is past --epochs {wanted}: the best of these {done} is saved, none is trained")
        } else {
            String::new()
        };
        ui::note(&format!("going on after epoch {done}{past}"));
    }
    output.open_log(args.log.as_deref(), &members.history(0), args.force || args.resume)?;
    let mut progress = TrainingProgress::new(config, title, members.epochs());
    let mut checkpoint = checkpoint.map(|(path, _)| Checkpoint { path, saved: Instant::now(), failed: false });
    let trained = members.run(|members, epochs| {
        progress.epoch(members);
        epochs.iter().try_for_each(|epoch| output.epoch(epoch, title))?;
        if let Some(checkpoint) = &mut checkpoint
            && checkpoint.saved.elapsed() >= Duration::from_secs(args.checkpoint_every)
        {
            checkpoint.save(members);
        }
        Ok(ControlFlow::Continue(()))
    });
    let finish = trained.map_err(|error| goes_on_from(error, checkpoint.as_ref()))?;
    // Also after the last epoch: the model may turn out not to be writable where it belongs.
    if let Some(checkpoint) = &mut checkpoint {
        checkpoint.save(&members);
    }
    drop(progress);
    if let Some(copied) = members.members().iter().filter_map(Trainer::transfers).reduce(|sum, one| sum + one) {
        ui::note(&format!("{}copied {copied}", if title.is_empty() { String::new() } else { format!("{title}: ") }));
    }
    if (finish == Finish::Stopped || Graceful::asked()) && members.history(0).is_empty() {
        return Ok(None);
    }
    Ok(Some(members.finish()?))
}

/// What a device that failed leaves behind.
fn goes_on_from(error: burnrank::Error, checkpoint: Option<&Checkpoint<'_>>) -> burnrank::Error {
    match (error, checkpoint) {
        (burnrank::Error::Device(message), Some(checkpoint)) if checkpoint.path.exists() => burnrank::Error::Device(
            format!("{message}; {} is whole: --resume goes on from there", checkpoint.path.display()),
        ),
        (error, _) => error,
    }
}

/// Where a run can go on from.
struct Checkpoint<'a> {
    path: &'a Path,
    saved: Instant,
    failed: bool,
}

impl Checkpoint<'_> {
    /// A checkpoint that cannot be written is no reason to lose the run.
    fn save(&mut self, members: &Ensemble<'_>) {
        self.saved = Instant::now();
        if let Err(error) = members.save_checkpoint(self.path)
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
    warnings: &[Warning],
    repeats: Option<&Repeats>,
) -> serde_json::Result<String> {
    let info = &model.info;
    let finish = info.run.as_ref().map(|run| run.finish);
    let epochs = model.history.last().map_or(0, |epoch| epoch.epoch);
    if args.json {
        let odd: Vec<Value> = warnings.iter().map(Warning::json).collect();
        let mut result = json!({
            "model": out.display().to_string(), "objective": info.objective, "best_epoch": info.best_epoch, "epochs": epochs,
            "finish": finish, "metrics": info.metrics, "conventions": info.conventions, "warnings": odd,
        });
        if !info.members.is_empty() {
            result["members"] = serde_json::to_value(&info.members)?;
        }
        if let Some(repeats) = repeats {
            result["repeat"] = repeats.json();
        }
        return Ok(serde_json::to_string(&result)? + "\n");
    }
    let best = match info.members.iter().map(|member| member.best_epoch).min() {
        None => {
            let diverged = if finish == Some(Finish::Diverged) { ", then it diverged" } else { "" };
            format!("best epoch {} of {epochs}{diverged}", info.best_epoch)
        }
        Some(least) => {
            let (members, most) = (info.members.len(), info.best_epoch);
            format!("average of {members} models, best epochs {least} to {most} of {epochs}")
        }
    };
    let mut text = paragraph(&format!("{}, {}: {best}", info.objective, info.ranker.architecture)) + "\n";
    if let Some(aim) = args.settings.model().kind.optimises {
        text.insert_str(text.trim_end().len(), &format!("\n{}", paragraph(&format!("Optimised: {aim}.")).trim_end()));
    }
    text += &ui::table(&splits(info));
    if let Some(repeats) = repeats {
        text += &repeats.text();
    }
    let which = repeats.map_or(String::new(), |repeats| format!(", of seed {}", repeats.first_seed()));
    text += &format!("\n{}model: {}{which}\n", paragraph(&info.conventions), out.display());
    Ok(text)
}

/// What a model reaches on each split of its data.
pub fn splits(info: &ModelInfo) -> Table {
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
    table
}
