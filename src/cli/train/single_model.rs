//! `burnrank train --train FILE`: trains or selects one model.

use super::distributed::Action;
use super::job::{TrainedModel, TrainingJob};
use super::output::RunOutput;
use super::repeat::Repeats;
use super::warnings::Warning;
use super::{Args, Out, auto};
use crate::cli::Interrupted;
use crate::cli::interrupt::Graceful;
use crate::cli::prose::paragraph;
use crate::cli::ui::{self, Align, Table};
use burnrank::distributed::Member;
use burnrank::train::HoldOut;
use burnrank::{Device, Finish, Model, ModelInfo, TrainConfig};
use serde_json::{Value, json};
use std::path::Path;

/// Trains on the files of the command line, and writes the model to `out`.
pub fn run(
    args: &Args,
    train: &Path,
    (out, claimed): (&Path, &Out),
    config: TrainConfig,
    (device, member): (&Device, Option<&Member>),
) -> anyhow::Result<()> {
    // Model selection holds out queries itself.
    let hold_out = if args.is_auto()? { HoldOut::Nothing } else { args.hold_out() };
    let mut job = TrainingJob::new(args, device, "", config, args.read_splits(train, hold_out)?)?;
    let checkpoint = claimed.place.checkpoint();
    if args.is_finished(claimed, job.config.epochs, || job.identity())? {
        ui::note(&format!(
            "{}: this run is already finished; to evaluate it on other data, use 'burnrank evaluate --model'",
            out.display()
        ));
        Action::Exit.send(member)?;
        return Ok(());
    }
    let mut warnings = job.warnings()?;
    let resumes = args.resume && checkpoint.exists();
    (if resumes { Action::Resume } else { Action::Train }).send(member)?;
    job.scale(member)?;
    let members = job.members()?;
    // Before training, an interrupt ends the program at once.
    let _graceful = Graceful::new();
    let mut output = RunOutput::new(args.json);
    let Some(mut trained) = job.train(members, Some((checkpoint.as_path(), resumes)), member, &mut output)? else {
        let options = if claimed.place.model()?.is_some() { "--resume --force" } else { "--resume" };
        ui::note(&format!("interrupted before the first epoch ended: no model was saved; continue with {options}"));
        return Err(Interrupted.into());
    };
    warnings.extend(job.save(&mut trained, Some(claimed))?);
    let mut repeats = Repeats::new(args, &job.config)?.filter(|_| !trained.interrupted);
    let failed = match (&mut repeats, &job.splits.test) {
        (Some(repeats), Some(test)) => {
            job.train_other_seeds(repeats).and_then(|others| repeats.add(&trained.model, &others, &test.data)).err()
        }
        _ => None,
    };
    output.print(&report(args, out, &trained, &warnings, repeats.as_ref().filter(|_| failed.is_none()))?);
    finish(out, &trained, failed, output)
}

/// Prints why a run did not finish.
fn finish(out: &Path, trained: &TrainedModel, failed: Option<anyhow::Error>, output: RunOutput) -> anyhow::Result<()> {
    let location = format!("the model is in {}", out.display());
    let is_selected = trained.selection.is_some();
    let (note, error) = match failed {
        Some(error) => (format!("training with the other seeds did not finish; {location}"), error),
        None if is_selected && Graceful::is_requested() => {
            let note = format!("interrupted: the model in {} averages the runs that finished", out.display());
            (note, Interrupted.into())
        }
        None if !is_selected && trained.interrupted => {
            let note = format!("interrupted: the best model so far is in {}; continue with --resume", out.display());
            (note, Interrupted.into())
        }
        None => return output.finish(&location),
    };
    ui::note(&note);
    output.finish(&location).unwrap_or_else(|error| ui::note(&error.to_string()));
    Err(error)
}

fn report(
    args: &Args,
    out: &Path,
    TrainedModel { model, selection, .. }: &TrainedModel,
    warnings: &[Warning],
    repeats: Option<&Repeats>,
) -> serde_json::Result<String> {
    let info = &model.info;
    if args.json {
        let warnings: Value = warnings.iter().map(Warning::json).collect();
        let mut result = match selection {
            Some(selection) => auto::json(out, info, selection, &warnings),
            None => json(out, model, &warnings),
        };
        if let Some(repeats) = repeats {
            result["repeat"] = repeats.json();
        }
        return Ok(serde_json::to_string(&result)? + "\n");
    }
    let mut text = match selection {
        Some(selection) => auto::text(&args.settings.metric(), model, selection),
        None => text(args, model),
    };
    text += &ui::table(&splits(info));
    if let Some(repeats) = repeats {
        text += &repeats.text();
    }
    let seed = repeats.map_or(String::new(), |repeats| format!(", of seed {}", repeats.first_seed()));
    text += &format!("\n{}model: {}{seed}\n", paragraph(&info.conventions), out.display());
    Ok(text)
}

/// The result of training as JSON.
fn json(out: &Path, model: &Model, warnings: &Value) -> Value {
    let info = &model.info;
    let mut result = json!({
        "model": out.display().to_string(), "objective": info.objective, "best_epoch": info.best_epoch,
        "epochs": epochs(model), "finish": info.run.as_ref().map(|run| run.finish), "metrics": info.metrics,
        "conventions": info.conventions, "warnings": warnings,
    });
    if !info.members.is_empty() {
        result["members"] = json!(info.members);
    }
    result
}

/// The result of training in words.
fn text(args: &Args, model: &Model) -> String {
    let (info, epochs) = (&model.info, epochs(model));
    let best = match info.members.iter().map(|member| member.best_epoch).min() {
        None => {
            let diverged = info.run.as_ref().is_some_and(|run| run.finish == Finish::Diverged);
            let diverged = if diverged { ", then it diverged" } else { "" };
            format!("best epoch {} of {epochs}{diverged}", info.best_epoch)
        }
        Some(first) => {
            let (members, last) = (info.members.len(), info.best_epoch);
            format!("average of {members} models, best epochs {first} to {last} of {epochs}")
        }
    };
    let mut text = paragraph(&format!("{}, {}: {best}", info.objective, info.ranker.architecture)) + "\n";
    if let Some(aim) = args.settings.model().kind.optimises {
        text.insert_str(text.trim_end().len(), &format!("\n{}", paragraph(&format!("Objective: {aim}.")).trim_end()));
    }
    text
}

/// Number of epochs of the run.
fn epochs(model: &Model) -> usize {
    model.history.last().map_or(0, |epoch| epoch.epoch)
}

/// The metrics of a model on each split of its data.
fn splits(info: &ModelInfo) -> Table {
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
