//! The report of `explain`: the verdict, the tables, then how they were computed.

use super::Args;
use crate::cli::compare::{tests_text, verdict};
use crate::cli::input;
use crate::cli::prose::{fixed, named, number, p_value, paragraph, signed};
use crate::cli::ui::{self, Align, Table, counted, heading};
use burnrank::Model;
use burnrank::analysis::explain::{Axis, Change, Counts, Dependence, Explanation, Importance, Permute, QueryChange};
use burnrank::analysis::significance::Comparison;
use burnrank::internal::text::shorten;

/// Maximum characters of a feature name.
const NAME_WIDTH: usize = 24;
/// The same in the table of partial dependence.
const NAME_WIDTH_BESIDE_POINTS: usize = 20;
/// Points of a partial dependence that fit on a line.
const POINTS: usize = 5;

pub fn text(args: &Args, model: &Model, explanation: &Explanation) -> String {
    let names = shorten(&explanation.feature_names, NAME_WIDTH);
    // The name that `compare` uses.
    let name =
        args.model.file_name().map_or_else(|| input::name(&args.model), |name| name.to_string_lossy().into_owned());
    let compared = Comparison { system: name, ..explanation.comparison.clone() };
    let mut text = paragraph(&summary(explanation)) + &paragraph(&verdict(&compared, 0.05)) + "\n";
    text += &ui::table(&importances(explanation, &names, args.top));
    let left = explanation.importances.len().saturating_sub(args.top);
    if left > 0 {
        let end =
            |place: usize| explanation.importances.get(place).map_or(String::new(), |i| metric_change(i.decrease));
        let (first, last) = (end(args.top), end(explanation.importances.len() - 1));
        text += &format!("{} more, from {first} to {last}\n", counted(left, "feature", "features"));
    }
    if !explanation.dependences.is_empty() {
        text += &format!("\n{}\n{}", heading("Mean score by feature value"), ui::table(&dependences(explanation)));
    }
    for (verb, changes) in [("gained", &explanation.changes.won), ("lost", &explanation.changes.lost)] {
        changes.iter().for_each(|change| text += &format!("\n{}", query(change, verb, explanation, &names)));
    }
    text + "\n" + &about(args, model, explanation)
}

/// The most important features, in one to three sentences.
pub fn summary(explanation: &Explanation) -> String {
    let Explanation { metric, importances, feature_names, .. } = explanation;
    let (mean, queries) = (fixed(explanation.value.mean, 4), counted(explanation.value.n, "query", "queries"));
    let helping: Vec<&Importance> = importances.iter().filter(|importance| importance.helps()).collect();
    let harming: Vec<&Importance> = importances.iter().rev().filter(|importance| importance.harms()).collect();
    let name = |importance: &Importance, words: &str| {
        format!("{} ({}{words})", feature_names[importance.feature], metric_change(importance.decrease))
    };
    let words = [" when its values are permuted", "", ""];
    let top: Vec<String> = helping.iter().zip(words).map(|(importance, words)| name(importance, words)).collect();
    let features = counted(importances.len(), "feature", "features");
    let help = match top.as_slice() {
        [] => "No feature helps significantly: all intervals contain 0.".to_owned(),
        [one] => format!("1 of {features} helps significantly: {one}."),
        several => {
            let (last, others) = (&several[several.len() - 1], several[..several.len() - 1].join(", "));
            let count = helping.len();
            let most = if count > several.len() { ", most of all" } else { ":" };
            format!("{count} of {features} help significantly{most} {others} and {last}.")
        }
    };
    let worst: Vec<String> = harming.iter().take(3).map(|importance| name(importance, "")).collect();
    let harm = match harming.len() {
        0 => String::new(),
        1 => format!(" 1 is harmful: {}.", worst[0]),
        many if many <= 3 => format!(" {many} are harmful: {}.", worst.join(", ")),
        many => format!(" {many} are harmful, most of all {}.", worst.join(", ")),
    };
    format!("{metric} is {mean} on {queries}. {help}{harm}")
}

fn right(name: &str) -> (&str, Align) {
    (name, Align::Right)
}

/// The change of the metric when a feature is permuted.
fn metric_change(decrease: f64) -> String {
    signed(-decrease, 4)
}

fn importances(explanation: &Explanation, names: &[String], top: usize) -> Table {
    let heading = format!("change of {}", explanation.metric);
    let mut table = Table::new(&[
        ("feature", Align::Left),
        right(&heading),
        ("95% interval", Align::Left),
        right("p"),
        right(explanation.model_importance.kind.name()),
    ]);
    for importance in explanation.importances.iter().take(top) {
        let interval = |(low, high): (f64, f64)| format!("{} to {}", metric_change(high), metric_change(low));
        table.row([
            names[importance.feature].clone(),
            metric_change(importance.decrease),
            importance.interval.map_or("-".into(), interval),
            p_value(importance.p),
            number(explanation.model_importance.values[importance.feature]),
        ]);
    }
    table
}

fn dependences(explanation: &Explanation) -> Table {
    let names = shorten(&explanation.feature_names, NAME_WIDTH_BESIDE_POINTS);
    let empty = right("");
    let mut table = Table::new(&[("feature", Align::Left), ("", Align::Left), empty, empty, empty, empty, empty]);
    for dependence in &explanation.dependences {
        let points = points(dependence);
        let missing = dependence.missing.map(number);
        let of = |list: &[f64], last: Option<String>| {
            points.iter().map(|&place| number(list[place])).chain(last).collect::<Vec<_>>()
        };
        let (values, scores) =
            (of(&dependence.values, missing.as_ref().map(|_| "missing".into())), of(&dependence.scores, missing));
        let value = if dependence.axis == Axis::Scaled { "scaled" } else { "value" };
        table.row([names[dependence.feature].clone(), value.to_owned()].into_iter().chain(values));
        table.row([String::new(), "score".to_owned()].into_iter().chain(scores));
    }
    table
}

/// Indices of evenly spaced points of the grid, including both ends; one fewer if there is a score of missing values.
fn points(dependence: &Dependence) -> Vec<usize> {
    let last = dependence.values.len() - 1;
    let count = (POINTS - usize::from(dependence.missing.is_some())).min(last + 1);
    let mut points: Vec<usize> = (0..count).map(|place| place * last / (count - 1).max(1)).collect();
    points.dedup();
    points
}

fn query(change: &QueryChange, verb: &str, explanation: &Explanation, names: &[String]) -> String {
    let title = format!(
        "Query {} {verb}: {} from {} to {}",
        change.query,
        explanation.metric,
        fixed(change.baseline, 4),
        fixed(change.model, 4)
    );
    let title = paragraph(&title);
    let mut text = heading(title.trim_end()) + "\n";
    let Some(pair) = &change.change else {
        return text + &paragraph(TIES);
    };
    text += &paragraph(&decision(pair, &explanation.comparison.baseline));
    let (better, worse) = (format!("label {}", pair.better.label), format!("label {}", pair.worse.label));
    let mut table = Table::new(&[("feature", Align::Left), right(&better), right(&worse), right("contribution")]);
    for part in &pair.contributions {
        let value = |value: f32| number(f64::from(value));
        table.row([names[part.feature].clone(), value(part.better), value(part.worse), signed(part.contribution, 4)]);
    }
    table.row(["all others".to_owned(), String::new(), String::new(), signed(pair.other_contributions, 4)]);
    table.row(["score difference".to_owned(), String::new(), String::new(), signed(pair.score_difference, 4)]);
    text += &ui::table(&table);
    if pair.contributions_add_up { text } else { text + &paragraph(DO_NOT_ADD_UP) }
}

/// Shown for a change without two documents that are responsible for it.
pub const TIES: &str = "No two documents with different labels changed places: the change is due to tied scores.";

/// Shown where the maximum number of refinements did not bring the contributions within 0.1%.
pub const DO_NOT_ADD_UP: &str = "The contributions do not add up to the score difference within 0.1%: the score changes too sharply between the two documents.";

/// The ranks of the two documents, in a sentence.
pub fn decision(change: &Change, baseline: &str) -> String {
    let (better, worse) = (&change.better, &change.worse);
    let verb = if better.model_rank < worse.model_rank { "above" } else { "below" };
    format!(
        "The model ranks {} (label {}) {verb} {} (label {}): ranks {} and {}; {baseline}: ranks {} and {}.",
        better.document,
        better.label,
        worse.document,
        worse.label,
        better.model_rank,
        worse.model_rank,
        better.baseline_rank,
        worse.baseline_rank
    )
}

/// How everything was computed.
fn about(args: &Args, model: &Model, explanation: &Explanation) -> String {
    let (queries, documents) =
        (counted(explanation.queries, "query", "queries"), counted(explanation.documents, "document", "documents"));
    let mut text = named("model", &format!("{}: {}", args.model.display(), model.info.ranker.architecture));
    text += &named("data", &format!("{}: {queries}, {documents}", input::name(&args.data)));
    text += &named("conventions", &explanation.conventions);
    let family = explanation.comparison.adjusted.map_or(0, |adjusted| adjusted.family);
    text += &named("tests", &tests_text(&[(&explanation.metric, family)], 0.05));
    for (name, words) in methods(explanation) {
        text += &named(name, &words);
    }
    text
}

/// The name of each kind of number, and how it is computed.
pub fn methods(explanation: &Explanation) -> Vec<(&'static str, String)> {
    let within = match explanation.options.permute {
        Permute::Query => "within each query",
        Permute::File => "across all documents of the file",
    };
    let repeats = counted(explanation.options.repeats, "permutation", "permutations");
    let mut contributions = format!("contribution: {}", explanation.method.words());
    if explanation.counts == Some(Counts::Data) {
        contributions += "; documents per leaf counted on this data, because the model file has no counts";
    }
    vec![
        (
            "change",
            format!(
                "of the mean over queries when a feature's scaled values are permuted {within}; mean of {repeats}, seed {}; \
                 intervals and p-values by Student's t over queries, corrected by Holm's method over {}; an interval \
                 excludes 0 if and only if p is at most 0.05",
                explanation.options.seed,
                counted(explanation.importances.iter().filter(|importance| importance.p.is_some()).count(), "feature", "features")
            ),
        ),
        (explanation.model_importance.kind.name(), explanation.model_importance.kind.words().to_owned()),
        (
            "values",
            "quantiles of the feature from 1% to 99%; score: mean over up to 1,000 documents with the feature set to the value"
                .to_owned(),
        ),
        ("queries", contributions),
    ]
}
