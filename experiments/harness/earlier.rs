//! Outcomes with an earlier protocol, for "changed after seeing results".

use super::report::Evaluated;
use super::verdict::Outcome;
use burnrank::internal::text::Table;
use serde::Deserialize;

/// Experiments whose protocol changed after a full run, each with the `outcome` of its `results.json` before the change: the
/// verdict, and the id of each claim, whether it was part of a headline claim, its outcome and its numbers.
const EARLIER: &[(&str, &str)] = &[
    ("lambdarank-cubic", include_str!("earlier/lambdarank-cubic.json")),
    ("lambdarank-speedup", include_str!("earlier/lambdarank-speedup.json")),
    ("ranknet-per-pair", include_str!("earlier/ranknet-per-pair.json")),
    ("ranknet-web", include_str!("earlier/ranknet-web.json")),
    ("systems", include_str!("earlier/systems.json")),
    ("optimality-constructions", include_str!("earlier/optimality-constructions.json")),
    ("optimality-directions", include_str!("earlier/optimality-directions.json")),
    ("optimality-epochs", include_str!("earlier/optimality-epochs.json")),
    ("optimality-matching", include_str!("earlier/optimality-matching.json")),
    ("optimality-pairs", include_str!("earlier/optimality-pairs.json")),
];

#[derive(Deserialize)]
struct Earlier {
    verdict: String,
    claims: Vec<(String, bool, Outcome, String)>,
}

/// The outcomes with the earlier protocol next to those of today.
pub fn changes(evaluated: &Evaluated<'_>) -> Vec<String> {
    let Some((_, text)) = EARLIER.iter().find(|(name, _)| *name == evaluated.experiment.name) else { return vec![] };
    let Earlier { verdict, claims } =
        serde_json::from_str(text).expect("outcomes of an earlier protocol are valid JSON");
    let head = ["claim", "headline then", "number then", "outcome then", "headline now", "number now", "outcome now"];
    let mut table = Table::titled("", &head);
    for (id, headline, outcome, ours) in claims {
        let now = evaluated.outcomes.claims.iter().find(|row| row.claim.id == id);
        let yes = |yes| if yes { "yes" } else { "no" };
        table.row(
            [
                id.as_str(),
                yes(headline),
                &ours,
                outcome.word(),
                now.map_or("-", |row| yes(row.headline)),
                now.map_or("-", |row| &row.ours),
                now.map_or("-", |row| row.outcome.word()),
            ]
            .map(str::to_owned),
        );
    }
    let words = format!("The protocol. With the previous one the verdict was *{verdict}*:");
    vec![words, table.markdown().trim().to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_outcomes_parse() {
        for (name, text) in EARLIER {
            let earlier: Earlier = serde_json::from_str(text).unwrap();
            assert!(!earlier.verdict.is_empty() && !earlier.claims.is_empty(), "{name}");
        }
    }
}
