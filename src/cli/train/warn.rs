//! What a user should know about the data of a training run, and about a run that diverged.

use crate::cli::data_problems::{DataProblem, Essentials};
use crate::cli::evaluation::unreached;
use crate::cli::input::ignored;
use crate::cli::ui;
use burnrank::metric::MetricEntry;
use burnrank::setting::{Method, ModelKind};
use burnrank::train::{Split, Splits, report_metrics};
use burnrank::{Architecture, Conventions, Dataset, Error, Finish, Model, Schedule, TrainConfig, evaluate};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Something to know, and what it is about: files, or training itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Warning {
    about: String,
    oddity: DataProblem,
}

impl Warning {
    pub fn new(about: &str, what: String, remedy: &str) -> Self {
        Warning { about: about.to_owned(), oddity: DataProblem { message: what, remedy: remedy.to_owned() } }
    }

    /// Of training itself; `run` names the run where there are several.
    pub fn of_run(run: &str, what: String, remedy: &str) -> Self {
        Warning::new(&about(run), what, remedy)
    }

    /// A measure that the report lacks; the error says why, and what helps.
    pub fn left_out(measure: &str, error: &Error) -> Self {
        Warning::new(measure, format!("left out: {error}"), "")
    }

    /// Tells it on standard error.
    pub fn tell(&self) {
        let DataProblem { message, remedy } = &self.oddity;
        let remedy = if remedy.is_empty() { String::new() } else { format!(": {remedy}") };
        ui::note(&format!("{}: {}{remedy}", ui::printable(&self.about), ui::printable(message)));
    }

    pub fn json(&self) -> Value {
        json!({"about": self.about, "message": self.oddity.message, "remedy": self.oddity.remedy})
    }
}

/// Checks objective and metrics on all splits, and prints warnings about the data.
pub fn before(splits: &Splits, config: &TrainConfig, first_index: u32) -> anyhow::Result<Vec<Warning>> {
    config.check_labels(&splits.train.data).map_err(|error| splits.train.locate(error))?;
    let warnings = of(splits, config, first_index)?;
    warnings.iter().for_each(Warning::tell);
    Ok(warnings)
}

/// Warnings about the data, and about metrics that have no value on them.
pub fn of(splits: &Splits, config: &TrainConfig, first_index: u32) -> anyhow::Result<Vec<Warning>> {
    let mut warnings = metrics(splits, config)?;
    warnings.extend(data(splits, config, first_index));
    Ok(warnings)
}

/// Refuses labels that the chosen metric has no value for, before any work. Returns warnings about other metrics without a value,
/// and about those whose threshold no label reaches.
fn metrics(splits: &Splits, config: &TrainConfig) -> anyhow::Result<Vec<Warning>> {
    let mut warnings = Vec::new();
    let mut unreached_in = Vec::new();
    let metrics = report_metrics(&config.metric)?;
    for (_, split) in splits.all() {
        let (labels, offsets) = (split.data.labels(), split.data.offsets());
        // Training and validation queries may come from one file.
        if let Some(what) = unreached(&metrics, labels, offsets).filter(|_| !unreached_in.contains(&&split.file)) {
            unreached_in.push(&split.file);
            let remedy = "'burnrank evaluate --threshold' sets another one, and so does --metric map:rel=0.5";
            warnings.push(Warning::new(&split.file, what, remedy));
        }
        for (place, metric) in metrics.iter().enumerate() {
            // The best ranking has the largest sums: where it has a value, all have.
            match evaluate(&**metric, labels, labels, offsets, &Conventions::default()) {
                Ok(_) => {}
                Err(error) if place == 0 => return Err(split.locate(error).into()),
                Err(error) => warnings.push(Warning::left_out(&metric.name(), &split.locate(error))),
            }
        }
    }
    Ok(warnings)
}

/// Data problems of a run.
fn data(splits: &Splits, config: &TrainConfig, first_index: u32) -> Vec<Warning> {
    let mut found: Vec<(DataProblem, Vec<String>)> = Vec::new();
    let gains = has_gains(&config.metric) || has_gains(&config.aim());
    for (_, set) in splits.all() {
        for oddity in Essentials::of(&set.data, first_index, set.line).oddities(gains) {
            match found.iter_mut().find(|(known, _)| *known == oddity) {
                Some((_, files)) if files.contains(&set.file) => {}
                Some((_, files)) => files.push(set.file.clone()),
                None => found.push((oddity, vec![set.file.clone()])),
            }
        }
    }
    let mut warnings: Vec<Warning> =
        found.into_iter().map(|(oddity, files)| Warning { about: files.join(", "), oddity }).collect();
    for ignored in splits.all().filter_map(|(_, set)| set.path.as_deref()).flat_map(ignored) {
        let warning = Warning::new(&ignored.file, ignored.what(), "");
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    let others = [Some(&splits.valid), splits.test.as_ref()];
    warnings.extend(others.into_iter().flatten().filter_map(|other| shared(&splits.train, "training", other)));
    warnings.extend(splits.test.as_ref().and_then(|test| shared(&splits.valid, "validation", test)));
    warnings.extend(merged_labels(splits.train.data.labels(), &config.aim()));
    warnings
}

/// Whether springsmooth of a binary metric leaves out pairs of different labels.
fn merged_labels(labels: &[f32], objective: &str) -> Option<Warning> {
    let (metric, _) = objective.strip_prefix("lambdarank:")?.split_once(":springsmooth")?;
    let threshold = burnrank::metric::parse(metric).ok()?.threshold()?;
    let differ = |relevant: bool| {
        let mut class = labels.iter().filter(|label| (**label >= threshold) == relevant);
        class.next().is_some_and(|first| class.any(|label| label != first))
    };
    let what = format!(
        "{metric} only distinguishes labels of {threshold} or more from lower ones: pairs of different labels on the same side \
         have no lambda"
    );
    let remedy = "state another threshold, as in map:rel=2, or train for a metric of graded labels, as ndcg";
    (differ(true) || differ(false)).then(|| Warning::new(objective, what, remedy))
}

/// Whether the gain of a label is 2^y - 1 by this objective or metric.
fn has_gains(name: &str) -> bool {
    let has_gain = |part| MetricEntry::find(part).is_some_and(MetricEntry::has_gain);
    name.split([':', '@', '-']).any(has_gain) && !name.contains("linear")
}

/// What two sets have in common that should have nothing.
fn shared(first: &Split, kind: &str, second: &Split) -> Option<Warning> {
    let remedy = "what is trained on, chosen by and tested on must differ: split the queries with 'burnrank split'";
    if first.info.fingerprint == second.info.fingerprint {
        return Some(Warning::new(&second.file, format!("the same as the {kind} data"), remedy));
    }
    let known: HashSet<u64> = query_hashes(&first.data).collect();
    let both = query_hashes(&second.data).filter(|hash| known.contains(hash)).count();
    let what = format!("{} also in the {kind} data", ui::counted(both, "query is", "queries are"));
    (both > 0).then(|| Warning::new(&second.file, what, remedy))
}

/// A number for each query that tells it from others, whatever its id and the order of its documents.
fn query_hashes(data: &Dataset) -> impl ParallelIterator<Item = u64> {
    (0..data.n_queries()).into_par_iter().filter_map(|query| data.query_key(query))
}

/// How warnings call training; `run` names the run where there are several.
fn about(run: &str) -> String {
    if run.is_empty() { "training".to_owned() } else { format!("training, {run}") }
}

/// What went wrong in training; `run` names the run where there are several.
pub fn training(model: &Model, run: &str) -> impl Iterator<Item = Warning> {
    let about = about(run);
    let of_member = |place: usize| {
        let (about, member) = (format!("{about}, member {place}"), &model.info.members[place]);
        let diverged = divergence(model, Some(place), member.finish, member.best_epoch, &about);
        let flat = (member.factor == 0.0).then(|| {
            let what = "it gives all documents of a query the same score, and has no part in the model".to_owned();
            Warning::new(&about, what, "train it longer, or with another --lr")
        });
        [diverged, flat]
    };
    let mut found: Vec<Option<Warning>> = (0..model.info.members.len()).flat_map(of_member).collect();
    if found.is_empty() {
        let finish = model.info.run.as_ref().map(|run| run.finish);
        found.push(divergence(model, None, finish, model.info.best_epoch, &about));
    }
    found.into_iter().flatten()
}

/// What to know of a run that diverged.
fn divergence(
    model: &Model,
    member: Option<usize>,
    finish: Option<Finish>,
    best_epoch: usize,
    about: &str,
) -> Option<Warning> {
    let last =
        model.history.iter().rfind(|epoch| epoch.member == member).filter(|_| finish == Some(Finish::Diverged))?;
    let what = format!(
        "diverged in epoch {}: scores were no longer finite; the model is that of epoch {best_epoch}, the best one",
        last.epoch
    );
    let kind = model.info.objective.split(':').next().and_then(|name| ModelKind::of(name).ok());
    let remedy = match kind.is_some_and(|kind| !kind.takes_objective()) {
        // Model selection tries several learning rates by itself.
        _ if last.setting.is_some() => String::new(),
        true => "scale the features with --scale".to_owned(),
        false => format!("lower --lr (it was {}), or scale the features with --scale", last.learning_rate),
    };
    Some(Warning::new(about, what, &remedy))
}

/// Fewer epochs are a trial, and whoever asks for them knows.
const TRIAL: usize = 10;

/// Training that ended before it was done: the best epoch is the last one that was allowed. Where steps fall to 0 by then, that
/// is as it should be.
pub fn too_few_epochs(config: &TrainConfig, model: &Model, run: &str) -> Option<Warning> {
    let (best, finish) = (model.info.best_epoch, model.info.run.as_ref()?.finish);
    let last = model.history.iter().map(|epoch| epoch.epoch).max()?;
    let falls = config.method == Method::Gradient && config.schedule == Schedule::Cosine;
    if finish != Finish::Epochs || best != last || best < TRIAL || falls {
        return None;
    }
    let (what, flag) = match model.info.ranker.architecture {
        Architecture::Trees { .. } => ("tree", "--trees"),
        _ => ("epoch", "--epochs"),
    };
    Some(Warning::of_run(run, format!("{what} {best}, the last one allowed, is the best"), &format!("raise {flag}")))
}
