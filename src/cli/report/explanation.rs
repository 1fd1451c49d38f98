//! The explanation of one model.

use super::html::{aside, beside, captioned, figures, heading, paragraph, table};
use crate::cli::explain::{DO_NOT_ADD_UP, TIES, decision, summary};
use crate::cli::figure;
use crate::cli::prose::{fixed, number, p_value, signed};
use crate::cli::ui::count;
use burnrank::analysis::explain::{Axis, Change, Explanation};

/// Maximum number of features in the table.
const TOP: usize = 15;

pub fn section(explanation: &Explanation) -> anyhow::Result<String> {
    let mut text = paragraph(&summary(explanation));
    let metric = &explanation.metric;
    let caption = format!(
        "Change of {metric} when a feature is permuted, with 95% intervals corrected for the number of features. \
         Filled dot: significant effect; ring: not significant."
    );
    let picture = captioned(&figure::importance(explanation, TOP)?, &caption);
    let rows: Vec<Vec<String>> = explanation
        .importances
        .iter()
        .take(TOP)
        .map(|importance| {
            let interval = |(low, high): (f64, f64)| format!("{} to {}", signed(-high, 4), signed(-low, 4));
            vec![
                explanation.feature_names[importance.feature].clone(),
                signed(-importance.decrease, 4),
                importance.interval.map_or("-".into(), interval),
                p_value(importance.p),
                number(explanation.model_importance.values[importance.feature]),
            ]
        })
        .collect();
    let change = format!("change of {metric}");
    let caption = format!(
        "The most important of {} features; {}: {}",
        explanation.importances.len(),
        explanation.model_importance.kind.name(),
        explanation.model_importance.kind.words()
    );
    let list =
        table(&caption, 1, &["feature", &change, "95% interval", "p", explanation.model_importance.kind.name()], &rows);
    text += &beside(&[picture, list]);
    if !explanation.dependences.is_empty() {
        text += &heading("Partial dependence");
        let picture = |dependence: &burnrank::analysis::explain::Dependence| {
            let name = &explanation.feature_names[dependence.feature];
            let scaled = if dependence.axis == Axis::Scaled { ", scaled within the query" } else { "" };
            let (low, high) = (dependence.scores.first().copied(), dependence.scores.last().copied());
            let ends = |end: Option<f64>| number(end.unwrap_or(f64::NAN));
            let missing =
                dependence.missing.map_or(String::new(), |score| format!("; {} if it is missing", number(score)));
            let caption = format!(
                "Mean score of {} documents with {name}{scaled} set to the same value: from {} to {}{missing}.",
                count(dependence.documents),
                ends(low),
                ends(high)
            );
            Ok((figure::dependence(explanation, dependence)?, caption))
        };
        text += &figures(&explanation.dependences.iter().map(picture).collect::<anyhow::Result<Vec<_>>>()?);
    }
    let changes = &explanation.changes;
    text += &heading(&format!("Largest differences from {}", explanation.comparison.baseline));
    if changes.won.is_empty() && changes.lost.is_empty() {
        return Ok(text + &aside("None: both have equal values on all queries."));
    }
    for (verb, changes) in [("gained", &changes.won), ("lost", &changes.lost)] {
        for change in changes {
            let title = format!(
                "Query {} {verb}: {metric} from {} to {}",
                change.query,
                fixed(change.baseline, 4),
                fixed(change.model, 4)
            );
            text += &format!("<h4>{}</h4>\n", super::html::escape(&title));
            match &change.change {
                None => text += &aside(TIES),
                Some(pair) => text += &document_pair(explanation, &change.query, pair)?,
            }
        }
    }
    Ok(text)
}

/// The two documents responsible for the change of a query.
fn document_pair(explanation: &Explanation, query: &str, change: &Change) -> anyhow::Result<String> {
    let mut rows: Vec<Vec<String>> = change
        .contributions
        .iter()
        .map(|part| {
            let value = |value: f32| number(f64::from(value));
            vec![
                explanation.feature_names[part.feature].clone(),
                value(part.better),
                value(part.worse),
                signed(part.contribution, 4),
            ]
        })
        .collect();
    rows.push(vec!["all others".into(), String::new(), String::new(), signed(change.other_contributions, 4)]);
    rows.push(vec!["score difference".into(), String::new(), String::new(), signed(change.score_difference, 4)]);
    let caption =
        format!("Contributions to the score of {} minus that of {}", change.better.document, change.worse.document);
    let (better, worse) = (format!("label {}", change.better.label), format!("label {}", change.worse.label));
    let list = table(&caption, 1, &["feature", &better, &worse, "contribution"], &rows);
    let words = format!("{caption}; positive: in favour of the first.");
    let picture = captioned(&figure::contributions(explanation, query, change)?, &words);
    let text = paragraph(&decision(change, &explanation.comparison.baseline)) + &beside(&[picture, list]);
    Ok(if change.contributions_add_up { text } else { text + &aside(DO_NOT_ADD_UP) })
}
