//! `burnrank train --train ...`: one model, named or selected on the data, in its folder.

use super::distributed::Plan;
use super::job::{Job, Trained};
use super::output::RunOutput;
use super::repeat::Repeats;
use super::warn::Warning;
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
    let mut job = Job::new(args, device, "", config, args.read_splits(train, hold_out)?)?;
    let checkpoint = claimed.place.checkpoint();
    if args.is_finished(claimed, job.config.epochs, || job.identity())? {
        ui::note(&format!(
            "{}: this run is finished, there is nothing to go on with; 'burnrank evaluate --model' judges it on other data",
            out.display()
        ));
        Plan::Nothing.tell(member)?;
        return Ok(());
    }
    let mut warnings = job.warnings()?;
    let resumes = args.resume && checkpoint.exists();
    (if resumes { Plan::Resume } else { Plan::Train }).tell(member)?;
    job.scale(member)?;
    let members = job.members()?;
    // From here on there is something to keep; before, an interrupt ends the program at once.
    let _graceful = Graceful::new();
    let mut output = RunOutput::new(args.json);
    let Some(mut trained) = job.train(members, Some((checkpoint.as_path(), resumes)), member, &mut output)? else {
        let go_on = if claimed.place.model()?.is_some() { "--resume --force" } else { "--resume" };
        ui::note(&format!("interrupted before the first epoch: there is no new model yet; go on with {go_on}"));
        return Err(Interrupted.into());
    };
    warnings.extend(job.keep(&mut trained, Some(claimed))?);
    let mut repeats = Repeats::new(args, &job.config)?.filter(|_| !trained.interrupted);
    let failed = match (&mut repeats, &job.splits.test) {
        (Some(repeats), Some(test)) => {
            job.again(repeats).and_then(|again| repeats.add(&trained.model, &again, &test.data)).err()
        }
        _ => None,
    };
    output.print(&report(args, out, &trained, &warnings, repeats.as_ref().filter(|_| failed.is_none()))?);
    end(out, &trained, failed, output)
}

/// Prints why a run has not done all that it was asked for.
fn end(out: &Path, trained: &Trained, failed: Option<anyhow::Error>, output: RunOutput) -> anyhow::Result<()> {
    let kept = format!("the model is in {}", out.display());
    let selected = trained.selection.is_some();
    let (note, error) = match failed {
        Some(error) => (format!("the repetitions were not finished; {kept}"), error),
        None if selected && Graceful::asked() => {
            let note = format!("interrupted: the model in {} is made of the runs that were whole", out.display());
            (note, Interrupted.into())
        }
        None if !selected && trained.interrupted => {
            let note = format!("interrupted: the best model so far is in {}; go on with --resume", out.display());
            (note, Interrupted.into())
        }
        None => return output.end(&kept),
    };
    ui::note(&note);
    output.end(&kept).unwrap_or_else(|error| ui::note(&error.to_string()));
    Err(error)
}

fn report(
    args: &Args,
    out: &Path,
    Trained { model, selection, .. }: &Trained,
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
    let which = repeats.map_or(String::new(), |repeats| format!(", of seed {}", repeats.first_seed()));
    text += &format!("\n{}model: {}{which}\n", paragraph(&info.conventions), out.display());
    Ok(text)
}

/// What came of a model that was named.
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

/// The same in words.
fn text(args: &Args, model: &Model) -> String {
    let (info, epochs) = (&model.info, epochs(model));
    let best = match info.members.iter().map(|member| member.best_epoch).min() {
        None => {
            let diverged = info.run.as_ref().is_some_and(|run| run.finish == Finish::Diverged);
            let diverged = if diverged { ", then it diverged" } else { "" };
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
    text
}

/// The last epoch of a run.
fn epochs(model: &Model) -> usize {
    model.history.last().map_or(0, |epoch| epoch.epoch)
}

/// What a model reaches on each split of its data.
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
