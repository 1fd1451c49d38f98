//! The report of an experiment: the verdict, the claims with their outcomes, and tables.

use super::claim::{Claim, Control, Evidence, Test};
use super::figure::Figure;
use super::verdict::{Kind, Outcome, Outcomes, Row, TOO_WIDE, counts, evaluate, verdict};
use super::{Experiment, Session};
use burnrank::internal::text::{Table, duration, p_value};
use serde_json::{Value, json};
use std::fmt::Write;

/// All contents of a report.
#[derive(Default)]
pub struct Report {
    /// Evidence for each claim, by the claim's id.
    pub evidence: Vec<(String, Evidence)>,
    /// Controls, whose outcome is known whether or not the paper is right.
    pub controls: Vec<Control>,
    /// The main numbers.
    pub main: String,
    pub tables: Vec<Table>,
    /// Remarks.
    pub notes: Vec<String>,
    /// How the experiment was done, in paragraphs.
    pub protocol: Vec<String>,
    /// Differences from the paper's method, with reasons or consequences.
    pub deviations: Vec<String>,
    pub figure: Figure,
    /// Whether the paper used data that is not available here, so that only the order of systems can be compared.
    pub other_data: bool,
    /// What a user has to provide, if real data is read.
    pub bring: Option<String>,
    /// The feature that the program must be built with to repeat it.
    pub feature: Option<&'static str>,
}

/// A report with evaluated claims.
pub struct Evaluated<'a> {
    pub experiment: &'a Experiment,
    pub report: &'a Report,
    pub outcomes: Outcomes,
}

impl Report {
    /// Evaluates the claims of an experiment on the evidence.
    pub fn evaluate<'a>(&'a self, experiment: &'a Experiment, session: &Session) -> anyhow::Result<Evaluated<'a>> {
        let outcomes = evaluate(experiment.all_claims(session), experiment.headlines, &self.evidence)?;
        Ok(Evaluated { experiment, report: self, outcomes })
    }
}

impl Evaluated<'_> {
    pub fn verdict(&self) -> String {
        verdict(self.experiment.kind, &self.outcomes, &self.report.controls, self.report.other_data)
    }

    /// Outcomes of all claims, and whether they were tested on the paper's data.
    pub fn summary(&self) -> String {
        let kind = match self.experiment.kind {
            Kind::Paper => "Headline claims",
            Kind::Extension => "An extension: the paper's claims with another kind of model. Headline claims",
            Kind::Benchmark => "A benchmark: our own targets. Groups of targets",
        };
        let others = match self.outcomes.rows(false).next() {
            Some(_) => format!(" Secondary claims: {}.", counts(self.outcomes.rows(false).map(|row| row.outcome))),
            None => String::new(),
        };
        let data =
            if self.report.other_data { " The data differ from the paper's: only orderings are compared." } else { "" };
        format!("{kind}: {}.{others}{data}", self.outcomes.counts())
    }

    /// Contents for `results.json`.
    pub fn outcome(&self) -> Value {
        json!({
            "verdict": self.verdict(),
            "kind": self.experiment.kind,
            "other_data": self.report.other_data,
            "main": self.report.main,
            "headlines": self.outcomes.headlines,
            "claims": self.outcomes.claims,
            "controls": self.report.controls,
        })
    }

    /// Table of the headline claims.
    pub fn headlines(&self) -> Table {
        let mut table = Table::titled("Headline claims:", &["#", "claim", "outcome", "parts confirmed"]);
        for (place, headline) in self.outcomes.headlines.iter().enumerate() {
            let is_part = |row: &&Row| headline.parts.contains(&row.claim.id);
            let parts = self.outcomes.claims.iter().filter(is_part);
            let confirmed = parts.filter(|row| row.outcome == Outcome::Confirmed).count();
            table.row([
                (place + 1).to_string(),
                headline.statement.clone(),
                headline.outcome.word().into(),
                format!("{confirmed} of {}", headline.parts.len()),
            ]);
        }
        table
    }

    /// Table of the parts of headline claims, or of secondary claims; columns that none of them needs are omitted.
    pub fn claims(&self, headline: bool) -> Option<Table> {
        let rows = || self.outcomes.rows(headline);
        rows().next()?;
        let title = match headline {
            true => "Their parts:",
            false => "Secondary claims, which do not count towards the verdict:",
        };
        let tested = rows().any(|row| row.p.is_some());
        let has_effect = rows().any(|row| !row.claim.effects.is_empty());
        let seen = rows().any(|row| row.detectable.is_some());
        let needed = [headline, true, true, has_effect, true, tested, seen, true];
        let shown = |cells: [String; 8]| {
            cells.into_iter().zip(needed).filter(|(_, needed)| *needed).map(|(cell, _)| cell).collect::<Vec<_>>()
        };
        let head = ["#", "claim", "paper", "paper's effect", "here", "p", "detectable", "outcome"].map(str::to_owned);
        let mut table = Table::titled(title, &shown(head));
        for Row { claim, outcome, ours, p, detectable, .. } in rows() {
            let effects: Vec<String> = claim.effects.iter().map(|effect| format!("{effect:+}")).collect();
            let place = self.outcomes.headlines.iter().position(|headline| headline.parts.contains(&claim.id));
            table.row(shown([
                place.map_or(String::new(), |place| (place + 1).to_string()),
                claim.statement.clone(),
                claim.paper.clone(),
                if effects.is_empty() { "-".into() } else { effects.join(", ") },
                ours.clone(),
                p.map_or("-".into(), |p| p_value(Some(p))),
                detectable.clone().unwrap_or_else(|| "-".into()),
                outcome.word().into(),
            ]));
        }
        Some(table)
    }

    /// Legend for the columns of the claims' tables, as far as needed.
    pub fn legend(&self) -> String {
        let any = |such: fn(&Row) -> bool| self.outcomes.claims.iter().any(such);
        let is_number = |row: &Row| matches!(row.claim.test, Test::Number { .. });
        let lines = [
            (
                any(|row| !matches!(row.claim.test, Test::Number { .. } | Test::EachAtMost { .. } | Test::Fact)),
                "*here*: mean over the units ± half of its 95% interval (Student's t)",
            ),
            (
                any(is_number),
                "*spread*: standard deviation over the units; *z*: distance of the paper's number from the mean, in standard \
                 deviations of one more unit",
            ),
            (
                any(|row| row.p.is_some()),
                "*p*: two-sided; for secondary claims after Holm's correction within their family",
            ),
            (
                any(|row| row.p.is_some()),
                "*detectable*: smallest distance of the mean from 0, or from the claim's bound, that the test detects with a \
                 power of 80%",
            ),
            (
                any(|row| row.detectable.as_ref().is_some_and(|text| text.starts_with(TOO_WIDE))),
                "*interval wider*: no mean could have confirmed this equivalence",
            ),
            (any(is_number), "for a number of the paper *detectable* is the range that confirms it"),
        ];
        let parts: Vec<&str> = lines.into_iter().filter(|(needed, _)| *needed).map(|(_, text)| text).collect();
        if parts.is_empty() { String::new() } else { format!("{}.", parts.join("; ")) }
    }

    pub fn controls(&self) -> Option<Table> {
        let mut table = Table::titled(
            "Controls, whose outcome does not depend on the paper; if one fails, nothing is concluded:",
            &["control", "expected", "here", "passed"],
        );
        for Control { description, expected, ours, holds } in &self.report.controls {
            table.row([description.clone(), expected.clone(), ours.clone(), if *holds { "yes" } else { "no" }.into()]);
        }
        (!self.report.controls.is_empty()).then_some(table)
    }

    /// How each claim is tested, with one row per family of similar claims.
    pub fn tests(&self) -> Table {
        let mut table = Table::titled("", &["claims", "unit", "test", "conventions"]);
        let mut families: Vec<Vec<&Claim>> = vec![];
        for Row { claim, .. } in &self.outcomes.claims {
            match families.iter_mut().find(|family| family[0].is_similar(claim)) {
                Some(family) => family.push(claim),
                None => families.push(vec![claim]),
            }
        }
        for family in families {
            let ids: Vec<&str> = family.iter().map(|claim| claim.id.as_str()).collect();
            let Claim { unit, test, convention, .. } = family[0];
            let convention = if convention.is_empty() { "-" } else { convention };
            table.row([&ids.join(", "), unit, &test.words(), convention].map(String::from));
        }
        table
    }

    /// Text for the terminal: all tables, the verdict's first.
    pub fn text(&self, seconds: Option<f64>) -> String {
        let Experiment { name, place, claim, paper, .. } = self.experiment;
        let time = seconds.map_or("time unknown".into(), duration);
        let mut text = format!("{name}: {} ({time})\n", self.verdict());
        let _ = writeln!(text, "{}\n{}", self.summary(), self.report.main);
        let _ = writeln!(text, "\n{}: {place}\n{claim}", paper.facts().citation);
        let tables = [Some(self.headlines()), self.claims(true), self.claims(false), self.controls()];
        tables.iter().flatten().chain(&self.report.tables).for_each(|table| text += &table.text());
        // A terminal shows no figures.
        let words = self.report.notes.iter().filter(|note| !note.starts_with("!["));
        words.chain(&self.report.bring).for_each(|note| text += &format!("\n{note}\n"));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::Headline;
    use super::*;

    const F: Experiment = Experiment { headlines: &[Headline::new("a fact", &["f"])], ..Experiment::BASE };

    fn evaluated<'a>(report: &'a Report, claims: Vec<Claim>) -> Evaluated<'a> {
        let outcomes = evaluate(claims, F.headlines, &report.evidence).unwrap();
        Evaluated { experiment: &F, report, outcomes }
    }

    #[test]
    fn columns_and_legend_are_those_that_the_claims_need() {
        let fact = Claim::new("f", "a fact", Test::Fact);
        let report = Report { evidence: vec![("f".into(), Evidence::fact(true, "1"))], ..Report::default() };
        let only_facts = evaluated(&report, vec![fact.clone()]);
        assert!(only_facts.claims(true).unwrap().markdown().contains("| # | claim | paper | here | outcome |"));
        assert_eq!((only_facts.legend().as_str(), only_facts.verdict().as_str()), ("", "reproduced"));
        assert!(only_facts.claims(false).is_none() && only_facts.controls().is_none());
        let above = Claim::new("a", "above", Test::Above).unit("function").effects([0.3 - 0.1]);
        let units = ("a".to_owned(), Evidence::units([1.0, 2.0, 3.0]));
        let report = Report { evidence: vec![report.evidence[0].clone(), units], ..Report::default() };
        let both = evaluated(&report, vec![fact, above]);
        let table = both.claims(false).unwrap().markdown();
        assert!(table.contains("| paper's effect | here | p | detectable | outcome |") && table.contains("| +0.2 |"));
        assert!(both.legend().contains("Holm's correction within their family"), "{}", both.legend());
        assert!(both.tests().markdown().contains("| a | function | 95% interval of the mean"));
    }
}
