//! Verdicts by the first edition of the rule, for "changed after seeing results".

use super::report::Evaluated;
use burnrank::internal::text::{Table, p_value};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Verdict and claims of an experiment by the first rule.
#[derive(Deserialize)]
struct Old {
    verdict: String,
    /// Id, whether it counted, outcome, and p-value after Holm's correction over all claims that counted, or all others.
    rows: Vec<(String, bool, String, Option<f64>)>,
}

/// What changed with the rule, and the outcomes by the first one next to those of today.
pub fn changes(evaluated: &Evaluated<'_>) -> Vec<String> {
    let all: BTreeMap<String, Old> =
        serde_json::from_str(include_str!("first_rule.json")).expect("outcomes by the first rule are valid JSON");
    let Some(old) = all.get(evaluated.experiment.name) else { return vec![] };
    let mut table =
        Table::titled("", &["claim", "counted then", "outcome then", "p then", "headline now", "outcome now"]);
    for (id, primary, outcome, p) in &old.rows {
        let now = evaluated.outcomes.claims.iter().find(|row| row.claim.id == *id);
        let yes = |yes| if yes { "yes" } else { "no" };
        table.row([
            id.clone(),
            yes(*primary).into(),
            outcome.replace('-', " "),
            p.map_or("-".into(), |p| p_value(Some(p))),
            now.map_or("-", |row| yes(row.headline)).into(),
            now.map_or("-", |row| row.outcome.word()).into(),
        ]);
    }
    let words = format!(
        "The rule for verdicts, and with it the choice of headline claims. By the first rule every primary claim had to hold, \
         p-values were corrected over all of them, and a difference too small to detect counted like a contradiction. The \
         verdict was *{}*:",
        old.verdict
    );
    vec![words, table.markdown().trim().to_owned()]
}
