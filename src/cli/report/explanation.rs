//! What one model learnt.

use super::html::{aside, beside, figure as shown, figures, heading, paragraph, table};
use crate::cli::explain::{DO_NOT_ADD_UP, decision, summary};
use crate::cli::figure;
use crate::cli::prose::{fixed, number, p_value, signed};
use crate::cli::ui::count;
use burnrank::analysis::explain::{Axis, Change, Explanation};

/// Features that are told of.
const TOP: usize = 15;

pub fn section(found: &Explanation) -> anyhow::Result<String> {
    let mut text = paragraph(&summary(found));
    let metric = &found.metric;
    let caption = format!(
        "What permuting a feature does to {metric}, with 95% intervals that are corrected for the number of features: a filled dot where the feature is known to matter, a \
             ring where it is not."
    );
    let picture = shown(&figure::importance(found, TOP)?, &caption);
    let rows: Vec<Vec<String>> = found
        .importances
        .iter()
        .take(TOP)
        .map(|importance| {
            let interval = |(low, high): (f64, f64)| format!("{} to {}", signed(-high, 4), signed(-low, 4));
            vec![
                found.feature_names[importance.feature].clone(),
                signed(-importance.decrease, 4),
                importance.interval.map_or("-".into(), interval),
                p_value(importance.p),
                number(found.model_importance.values[importance.feature]),
            ]
        })
        .collect();
    let change = format!("change of {metric}");
    let caption = format!(
        "The features that matter most, of {}; {}: {}",
        found.importances.len(),
        found.model_importance.kind.name(),
        found.model_importance.kind.words()
    );
    let list =
        table(&caption, 1, &["feature", &change, "95% interval", "p", found.model_importance.kind.name()], &rows);
    text += &beside(&[picture, list]);
    if !found.dependences.is_empty() {
        text += &heading("The score as a function of one feature");
        let picture = |dependence: &burnrank::analysis::explain::Dependence| {
            let name = &found.feature_names[dependence.feature];
            let scaled = if dependence.axis == Axis::Scaled { ", scaled within the query" } else { "" };
            let (low, high) = (dependence.scores.first().copied(), dependence.scores.last().copied());
            let ends = |end: Option<f64>| number(end.unwrap_or(f64::NAN));
            let caption = format!(
                "The mean score of {} documents when all have the same {name}{scaled}: from {} to {}.",
                count(dependence.documents),
                ends(low),
                ends(high)
            );
            Ok((figure::dependence(found, dependence)?, caption))
        };
        text += &figures(&found.dependences.iter().map(picture).collect::<anyhow::Result<Vec<_>>>()?);
    }
    let changes = &found.changes;
    text += &heading(&format!("Queries that changed most against {}", found.comparison.baseline));
    if changes.won.is_empty() && changes.lost.is_empty() {
        return Ok(text + &aside("None: all queries have the same value."));
    }
    for (word, changes) in [("won", &changes.won), ("lost", &changes.lost)] {
        for change in changes {
            let title = format!(
                "Query {} {word}: {metric} from {} to {}",
                change.query,
                fixed(change.baseline, 4),
                fixed(change.model, 4)
            );
            text += &format!("<h4>{}</h4>\n", super::html::escape(&title));
            match &change.change {
                None => text += &aside("No two documents of different labels changed places: equal scores decided."),
                Some(decided) => text += &decided_by(found, &change.query, decided)?,
            }
        }
    }
    Ok(text)
}

fn decided_by(found: &Explanation, query: &str, change: &Change) -> anyhow::Result<String> {
    let mut rows: Vec<Vec<String>> = change
        .contributions
        .iter()
        .map(|part| {
            let value = |value: f32| number(f64::from(value));
            vec![
                found.feature_names[part.feature].clone(),
                value(part.better),
                value(part.worse),
                signed(part.contribution, 4),
            ]
        })
        .collect();
    rows.push(vec!["all others".into(), String::new(), String::new(), signed(change.other_contributions, 4)]);
    rows.push(vec!["difference of scores".into(), String::new(), String::new(), signed(change.score_difference, 4)]);
    let caption = format!(
        "The parts of features in the score of {} less that of {}",
        change.better.document, change.worse.document
    );
    let (better, worse) = (format!("label {}", change.better.label), format!("label {}", change.worse.label));
    let list = table(&caption, 1, &["feature", &better, &worse, "part"], &rows);
    let words = format!("{caption}: to the right what raises the first.");
    let picture = shown(&figure::parts(found, query, change)?, &words);
    let text = paragraph(&decision(change, &found.comparison.baseline)) + &beside(&[picture, list]);
    Ok(if change.contributions_add_up { text } else { text + &aside(DO_NOT_ADD_UP) })
}
