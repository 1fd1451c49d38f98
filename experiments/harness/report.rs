//! The report of an experiment: the verdict, the claims with their results, and tables.

use super::claim::{Claim, Control, Evidence, Test};
use super::figure::Figure;
use super::verdict::{CANNOT_HOLD, Counts, Judged, Verdict, evaluate, p_cell};
use super::{Experiment, Session};
use burnrank::internal::text::{Table, counted, duration};
use serde_json::{Value, json};
use std::fmt::Write;

/// All contents of a report.
#[derive(Default)]
pub struct Report {
    /// Evidence for each claim, by the claim's id.
    pub evidence: Vec<(String, Evidence)>,
    /// Controls, whose outcome is known whether or not the paper is right.
    pub controls: Vec<Control>,
    /// The main number, for the index.
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

/// Text for claims that are tested on other data.
const OTHER_DATA: &str = "The data are not the paper's: orderings on other data.";

/// A report with evaluated claims.
pub struct Told<'a> {
    pub experiment: &'a Experiment,
    pub report: &'a Report,
    judged: Vec<Judged>,
}

impl Report {
    /// Evaluates the claims of an experiment on the evidence.
    pub fn judge<'a>(&'a self, experiment: &'a Experiment, session: &Session) -> anyhow::Result<Told<'a>> {
        let judged = evaluate((experiment.claims)(session), &self.evidence)?;
        Ok(Told { experiment, report: self, judged })
    }
}

impl Told<'_> {
    pub fn verdict(&self) -> Verdict {
        Verdict::of(&self.judged, &self.report.controls)
    }

    pub fn counts(&self) -> Counts {
        Counts::of(&self.judged, true)
    }

    /// Results of all claims, and whether they were tested on the paper's data.
    pub fn summary(&self) -> String {
        let others = match self.of(false).next() {
            Some(_) => format!(" Other claims: {}.", Counts::of(&self.judged, false).words()),
            None => String::new(),
        };
        let data = if self.report.other_data { format!(" {OTHER_DATA}") } else { String::new() };
        format!("Primary claims: {}.{others}{data}", self.counts().words())
    }

    /// Contents for `results.json`.
    pub fn outcome(&self) -> Value {
        json!({
            "verdict": self.verdict().word(),
            "counts": self.counts(),
            "other_data": self.report.other_data,
            "main": self.report.main,
            "claims": self.judged,
            "controls": self.report.controls,
        })
    }

    fn of(&self, primary: bool) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(move |judged| judged.claim.primary == primary)
    }

    /// Table of the claims that count towards the verdict, or of the others; columns that none of them needs are omitted.
    pub fn claims(&self, primary: bool) -> Option<Table> {
        self.of(primary).next()?;
        let title = match primary {
            true => "Primary claims, which the verdict counts:",
            false => "Other claims, which it does not count:",
        };
        let (tested, seen) = (
            self.of(primary).any(|judged| judged.p.is_some()),
            self.of(primary).any(|judged| judged.detectable.is_some()),
        );
        let shown = |cells: [String; 6]| {
            let needed = [true, true, true, tested, seen, true];
            cells.into_iter().zip(needed).filter(|(_, needed)| *needed).map(|(cell, _)| cell).collect::<Vec<_>>()
        };
        let head = ["claim", "paper", "here", "p", "could see", "outcome"].map(str::to_owned);
        let mut table = Table::titled(title, &shown(head));
        for judged in self.of(primary) {
            table.row(shown([
                judged.claim.statement.clone(),
                judged.claim.paper.clone(),
                judged.ours.clone(),
                p_cell(judged),
                judged.detectable.clone().unwrap_or_else(|| "-".into()),
                judged.outcome.word().into(),
            ]));
        }
        Some(table)
    }

    /// Legend for the columns of the claims' tables, as far as needed.
    pub fn legend(&self) -> String {
        let any = |such: fn(&Test) -> bool| self.judged.iter().any(|judged| such(&judged.claim.test));
        let of_mean = |test: &Test| {
            matches!(test, Test::Above | Test::Equivalent { .. } | Test::AtLeast { .. } | Test::AtMost { .. })
        };
        let mut parts = vec![];
        if any(of_mean) {
            parts.push("*here*: mean over the units ± half of its 95% interval (Student's t)".to_owned());
        }
        if any(|test| matches!(test, Test::Number { .. })) {
            parts.push(
                "*spread*: standard deviation over the units; *z*: how many deviations the paper's number lies from the mean, \
                 if it is one more draw of the same"
                    .into(),
            );
        }
        let families: Vec<String> = [(true, "primary"), (false, "other")]
            .into_iter()
            .map(|(primary, name)| (self.of(primary).filter(|judged| judged.p.is_some()).count(), name))
            .filter(|(tests, _)| *tests > 0)
            .map(|(tests, name)| {
                format!("{} with a p-value", counted(tests, &format!("{name} claim"), &format!("{name} claims")))
            })
            .collect();
        if !families.is_empty() {
            let together = families.join(", and over ");
            parts.push(format!("*p*: two-sided, after Holm's correction over {together}"));
        }
        if any(of_mean) {
            parts.push(
                "*could see*: the smallest distance of the mean from 0, or from the bound of the claim, that would have been \
                 seen four times in five with units that differ as these do"
                    .into(),
            );
        }
        if self.judged.iter().any(|judged| judged.detectable.as_ref().is_some_and(|seen| seen.starts_with(CANNOT_HOLD)))
        {
            parts.push(
                "*cannot hold*: the interval is wider than the margin, so that no mean could have been near enough with units \
                 that differ as these do"
                    .into(),
            );
        }
        if any(|test| matches!(test, Test::Number { .. })) {
            parts.push("for a number of the paper *could see* is the range that would have held".into());
        }
        parts.push("*reversed*: the test says that it is not so".into());
        format!("{}.", parts.join("; "))
    }

    pub fn controls(&self) -> Option<Table> {
        let mut table = Table::titled(
            "Controls, which must come out so whatever the paper says, else nothing is concluded:",
            &["control", "expected", "here", "passed"],
        );
        for Control { description, expected, ours, holds } in &self.report.controls {
            table.row([description.clone(), expected.clone(), ours.clone(), if *holds { "yes" } else { "no" }.into()]);
        }
        (!self.report.controls.is_empty()).then_some(table)
    }

    /// How each claim is tested, with one row for claims tested in the same way.
    pub fn tests(&self) -> Table {
        let mut table = Table::titled("", &["claims", "one unit is", "test", "conventions"]);
        let mut rows: Vec<([String; 3], Vec<&Claim>)> = vec![];
        for Judged { claim, .. } in &self.judged {
            let how = [claim.unit.clone(), claim.test.words(), claim.convention.clone()];
            match rows.iter_mut().find(|(known, _)| *known == how) {
                Some((_, claims)) => claims.push(claim),
                None => rows.push((how, vec![claim])),
            }
        }
        for ([unit, test, convention], claims) in rows {
            let ids: Vec<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
            table.row([ids.join(", "), unit, test, if convention.is_empty() { "-".into() } else { convention }]);
        }
        table
    }

    /// Text for the terminal: all tables, the verdict's first.
    pub fn text(&self, seconds: Option<f64>) -> String {
        let Experiment { name, place, claim, paper, .. } = self.experiment;
        let time = seconds.map_or("its time was lost".into(), duration);
        let mut text = format!("{name}: {} ({time})\n", self.verdict().word());
        let _ = writeln!(text, "{}\n{}", self.summary(), self.report.main);
        let _ = writeln!(text, "\n{}: {place}\n{claim}", paper.facts().citation);
        let judged = [self.claims(true), self.claims(false), self.controls()];
        judged.iter().flatten().chain(&self.report.tables).for_each(|table| text += &table.text());
        // A terminal shows no figures.
        let words = self.report.notes.iter().filter(|note| !note.starts_with("!["));
        words.chain(&self.report.bring).for_each(|note| text += &format!("\n{note}\n"));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Paper};
    use super::*;

    const NOTHING: Experiment = Experiment {
        name: "nothing",
        kind: Kind::Paper,
        paper: Paper::Several,
        place: "",
        claim: "",
        time: "",
        claims: |_| vec![],
        changed: &[],
        protocol: |_| Ok(Value::Null),
        run: |_| Ok(Report::default()),
        own: None,
    };

    fn told<'a>(report: &'a Report, claims: Vec<Claim>) -> Told<'a> {
        let judged = evaluate(claims, &report.evidence).unwrap();
        Told { experiment: &NOTHING, report, judged }
    }

    #[test]
    fn columns_and_legend_are_those_that_the_claims_need() {
        let fact = Claim::primary("f", "a fact", Test::Fact);
        let report = Report { evidence: vec![("f".into(), Evidence::fact(true, "1"))], ..Report::default() };
        let only_facts = told(&report, vec![fact.clone()]);
        assert!(only_facts.claims(true).unwrap().markdown().contains("| claim | paper | here | outcome |"));
        assert_eq!(only_facts.legend(), "*reversed*: the test says that it is not so.");
        assert!(only_facts.claims(false).is_none() && only_facts.controls().is_none());
        let above = Claim::secondary("a", "above", Test::Above).unit("function");
        let units = ("a".to_owned(), Evidence::units([1.0, 2.0, 3.0]));
        let report = Report { evidence: vec![report.evidence[0].clone(), units], ..Report::default() };
        let both = told(&report, vec![fact, above]);
        assert!(both.claims(false).unwrap().markdown().contains("| here | p | could see | outcome |"));
        assert!(
            both.legend().contains("after Holm's correction over 1 other claim with a p-value"),
            "{}",
            both.legend()
        );
        assert!(both.tests().markdown().contains("| a | function | two-sided t-test over the units against 0"));
    }
}
