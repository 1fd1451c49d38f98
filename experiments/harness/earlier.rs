//! Outcomes with an earlier protocol, for "changed after seeing results".

use super::report::Evaluated;
use super::verdict::{Outcome, Outcomes};
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

impl Earlier {
    fn of(name: &str) -> Option<Earlier> {
        let (_, text) = EARLIER.iter().find(|(other, _)| *other == name)?;
        Some(serde_json::from_str(text).expect("outcomes of an earlier protocol are valid JSON"))
    }

    /// Whether all numbers are the same.
    fn equals(&self, verdict: &str, outcomes: &Outcomes) -> bool {
        let ours = |id: &str| outcomes.claims.iter().find(|row| row.claim.id == id).map(|row| row.ours.as_str());
        let same = self.claims.iter().all(|(id, _, _, number)| ours(id) == Some(number));
        same && self.verdict == verdict && self.claims.len() == outcomes.claims.len()
    }
}

/// Whether stored outcomes are those with the earlier protocol: the present one has not run yet.
pub fn are_stored(name: &str, verdict: &str, outcomes: &Outcomes) -> bool {
    Earlier::of(name).is_some_and(|earlier| earlier.equals(verdict, outcomes))
}

/// The outcomes with the earlier protocol next to those of today.
pub fn changes(evaluated: &Evaluated<'_>) -> Vec<String> {
    let Some(Earlier { verdict, claims }) = Earlier::of(evaluated.experiment.name) else { return vec![] };
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
    use crate::harness::claim::{Claim, Test};
    use crate::harness::verdict::Row;

    #[test]
    fn stored_outcomes_of_the_earlier_protocol_are_recognised() {
        for (name, _) in EARLIER {
            let earlier = Earlier::of(name).unwrap();
            let row = |(id, headline, outcome, ours): &(String, bool, Outcome, String)| Row {
                claim: Claim::new(id.as_str(), "", Test::Fact),
                headline: *headline,
                outcome: *outcome,
                ours: ours.clone(),
                p: None,
                detectable: None,
                units: vec![],
            };
            let claims: Vec<Row> = earlier.claims.iter().map(row).collect();
            let mut outcomes = Outcomes { headlines: vec![], claims };
            assert!(!outcomes.claims.is_empty() && are_stored(name, &earlier.verdict, &outcomes), "{name}");
            outcomes.claims[0].ours = "another number".into();
            assert!(!are_stored(name, &earlier.verdict, &outcomes), "{name}");
        }
        assert!(!are_stored("ranknet-zero-error", "reproduced", &Outcomes::default()));
    }
}
