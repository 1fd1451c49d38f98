//! Warnings about the data and the outcome of a training run.

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

/// A warning and its subject: files, a metric, or training.
#[derive(Debug, Clone, PartialEq)]
pub struct Warning {
    about: String,
    problem: DataProblem,
}

impl Warning {
    pub fn new(about: &str, what: String, remedy: &str) -> Self {
        Warning { about: about.to_owned(), problem: DataProblem { message: what, remedy: remedy.to_owned() } }
    }

    /// A warning about training. `run` names the run if there are several.
    pub fn of_run(run: &str, what: String, remedy: &str) -> Self {
        Warning::new(&about(run), what, remedy)
    }

    /// A metric that is missing from the report because of an error.
    pub fn not_computed(metric: &str, error: &Error) -> Self {
        Warning::new(metric, format!("not computed: {error}"), "")
    }

    /// Prints the warning on standard error.
    pub fn print(&self) {
        let DataProblem { message, remedy } = &self.problem;
        let remedy = if remedy.is_empty() { String::new() } else { format!(": {remedy}") };
        ui::note(&format!("{}: {}{remedy}", ui::printable(&self.about), ui::printable(message)));
    }

    pub fn json(&self) -> Value {
        json!({"about": self.about, "message": self.problem.message, "remedy": self.problem.remedy})
    }
}

/// Checks objective and metrics on all splits, and prints warnings about the data.
pub fn before_training(splits: &Splits, config: &TrainConfig, first_index: u32) -> anyhow::Result<Vec<Warning>> {
    config.check_labels(&splits.train.data).map_err(|error| splits.train.locate(error))?;
    let warnings = data_warnings(splits, config, first_index)?;
    warnings.iter().for_each(Warning::print);
    Ok(warnings)
}

/// Returns warnings about the data, and about metrics without a value on it.
pub fn data_warnings(splits: &Splits, config: &TrainConfig, first_index: u32) -> anyhow::Result<Vec<Warning>> {
    let mut warnings = metric_warnings(splits, config)?;
    warnings.extend(split_warnings(splits, config, first_index));
    Ok(warnings)
}

/// Fails if `--metric` has no value on the labels. Returns warnings about other metrics without a value, and about metrics
/// whose threshold no label reaches.
fn metric_warnings(splits: &Splits, config: &TrainConfig) -> anyhow::Result<Vec<Warning>> {
    let mut warnings = Vec::new();
    let mut unreached_in = Vec::new();
    let metrics = report_metrics(&config.metric)?;
    for (_, split) in splits.all() {
        let (labels, offsets) = (split.data.labels(), split.data.offsets());
        // Training and validation queries may come from one file.
        if let Some(what) = unreached(&metrics, labels, offsets).filter(|_| !unreached_in.contains(&&split.file)) {
            unreached_in.push(&split.file);
            let remedy = "lower the threshold with --metric map:rel=0.5, or with 'burnrank evaluate --threshold'";
            warnings.push(Warning::new(&split.file, what, remedy));
        }
        for (place, metric) in metrics.iter().enumerate() {
            // The ideal ranking has the largest sums: if it has a value, all rankings have one.
            match evaluate(&**metric, labels, labels, offsets, &Conventions::default()) {
                Ok(_) => {}
                Err(error) if place == 0 => return Err(split.locate(error).into()),
                Err(error) => warnings.push(Warning::not_computed(&metric.name(), &split.locate(error))),
            }
        }
    }
    Ok(warnings)
}

/// Warnings about problems of each split, queries that splits share, and labels.
fn split_warnings(splits: &Splits, config: &TrainConfig, first_index: u32) -> Vec<Warning> {
    let mut problems: Vec<(DataProblem, Vec<String>)> = Vec::new();
    let gains = has_gains(&config.metric) || has_gains(&config.aim());
    for (_, set) in splits.all() {
        for problem in Essentials::of(&set.data, first_index, set.line).problems(gains) {
            match problems.iter_mut().find(|(other, _)| *other == problem) {
                Some((_, files)) if files.contains(&set.file) => {}
                Some((_, files)) => files.push(set.file.clone()),
                None => problems.push((problem, vec![set.file.clone()])),
            }
        }
    }
    let mut warnings: Vec<Warning> =
        problems.into_iter().map(|(problem, files)| Warning { about: files.join(", "), problem }).collect();
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

/// Warns if springsmooth of a binary metric ignores pairs of different labels.
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
    let remedy = "set another threshold, as in map:rel=2, or use a metric for graded labels, such as ndcg";
    (differ(true) || differ(false)).then(|| Warning::new(objective, what, remedy))
}

/// Whether this objective or metric has the gain 2^y - 1.
fn has_gains(name: &str) -> bool {
    let has_gain = |part| MetricEntry::find(part).is_some_and(MetricEntry::has_gain);
    name.split([':', '@', '-']).any(has_gain) && !name.contains("linear")
}

/// Warns if two splits share queries.
fn shared(first: &Split, kind: &str, second: &Split) -> Option<Warning> {
    let remedy = "training, validation and test queries must differ: split them with 'burnrank split'";
    if first.info.fingerprint == second.info.fingerprint {
        return Some(Warning::new(&second.file, format!("identical to the {kind} data"), remedy));
    }
    let hashes: HashSet<u64> = query_hashes(&first.data).collect();
    let both = query_hashes(&second.data).filter(|hash| hashes.contains(hash)).count();
    let what = format!("{} also in the {kind} data", ui::counted(both, "query is", "queries are"));
    (both > 0).then(|| Warning::new(&second.file, what, remedy))
}

/// A hash of each query that does not depend on its id or the order of its documents.
fn query_hashes(data: &Dataset) -> impl ParallelIterator<Item = u64> {
    (0..data.n_queries()).into_par_iter().filter_map(|query| data.query_key(query))
}

/// The subject of warnings about training. `run` names the run if there are several.
fn about(run: &str) -> String {
    if run.is_empty() { "training".to_owned() } else { format!("training, {run}") }
}

/// Returns warnings about a model's training. `run` names the run if there are several.
pub fn after_training(model: &Model, run: &str) -> impl Iterator<Item = Warning> {
    let about = about(run);
    let of_member = |place: usize| {
        let (about, member) = (format!("{about}, member {place}"), &model.info.members[place]);
        let diverged = divergence(model, Some(place), member.finish, member.best_epoch, &about);
        let flat = (member.factor == 0.0).then(|| {
            let what = "gives all documents of a query the same score, and is left out of the model".to_owned();
            Warning::new(&about, what, "train longer, or change --lr")
        });
        [diverged, flat]
    };
    let mut warnings: Vec<Option<Warning>> = (0..model.info.members.len()).flat_map(of_member).collect();
    if warnings.is_empty() {
        let finish = model.info.run.as_ref().map(|run| run.finish);
        warnings.push(divergence(model, None, finish, model.info.best_epoch, &about));
    }
    warnings.into_iter().flatten()
}

/// Warns if a run diverged.
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
        "diverged in epoch {}: scores are not finite; the model is from epoch {best_epoch}, the best one",
        last.epoch
    );
    let kind = model.info.objective.split(':').next().and_then(|name| ModelKind::of(name).ok());
    let remedy = match kind.is_some_and(|kind| !kind.takes_objective()) {
        // Model selection tries several learning rates.
        _ if last.setting.is_some() => String::new(),
        true => "scale the features with --scale".to_owned(),
        false => format!("lower --lr (it was {}), or scale the features with --scale", last.learning_rate),
    };
    Some(Warning::new(about, what, &remedy))
}

/// Minimum number of epochs for the warning: shorter runs are meant to be short.
const MIN_EPOCHS: usize = 10;

/// Warns if the best epoch is the last one, so that more epochs may help. Not for schedules whose learning rate falls to 0.
pub fn too_few_epochs(config: &TrainConfig, model: &Model, run: &str) -> Option<Warning> {
    let (best, finish) = (model.info.best_epoch, model.info.run.as_ref()?.finish);
    let last = model.history.iter().map(|epoch| epoch.epoch).max()?;
    let falls = config.method == Method::Gradient && config.schedule == Schedule::Cosine;
    if finish != Finish::Epochs || best != last || best < MIN_EPOCHS || falls {
        return None;
    }
    let (what, flag) = match model.info.ranker.architecture {
        Architecture::Trees { .. } => ("number of trees", "--trees"),
        _ => ("epoch", "--epochs"),
    };
    let what = format!("the best {what} is the maximum, {best}");
    Some(Warning::of_run(run, what, &format!("increase {flag}")))
}
