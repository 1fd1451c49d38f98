//! What an experiment says in the end: the verdict, the claims with what became of them, tables, and a page.

use super::claim::{Control, Evidence};
use super::verdict::{Counts, Judged, RULE, Verdict, judge, p_cell};
use super::{Experiment, Session};
use burnrank::text::{Table, duration};
use serde_json::{Value, json};
use std::fmt::Write;

/// Everything an experiment has to say.
pub struct Report {
    /// What was found about each claim, by the claim's id.
    pub evidence: Vec<(String, Evidence)>,
    /// What must come out in a known way, whether the paper is right or not.
    pub controls: Vec<Control>,
    /// The number for the index.
    pub main: String,
    pub tables: Vec<Table>,
    /// What else a reader should know.
    pub notes: Vec<String>,
    /// How it was done, in paragraphs.
    pub protocol: Vec<String>,
    /// Everything that was done in another way than the paper did it, and why.
    pub deviations: Vec<String>,
    /// SVG.
    pub figure: String,
}

/// A report whose claims are judged.
pub struct Told<'a> {
    experiment: &'a Experiment,
    report: &'a Report,
    judged: Vec<Judged>,
}

impl Report {
    /// Judges the claims of an experiment by the evidence.
    pub fn judge<'a>(&'a self, experiment: &'a Experiment, session: &Session) -> anyhow::Result<Told<'a>> {
        let judged = judge((experiment.claims)(session), &self.evidence)?;
        Ok(Told { experiment, report: self, judged })
    }
}

impl Told<'_> {
    fn verdict(&self) -> Verdict {
        Verdict::of(&self.judged, &self.report.controls)
    }

    /// For `results.json`.
    pub fn outcome(&self) -> Value {
        json!({
            "verdict": self.verdict().word(),
            "counts": Counts::of(&self.judged),
            "main": self.report.main,
            "claims": self.judged,
            "controls": self.report.controls,
        })
    }

    fn claims(&self, primary: bool) -> Option<Table> {
        let title = if primary { "Primary claims, which the verdict counts:" } else { "Other claims:" };
        let mut table = Table::titled(title, &["claim", "paper", "here", "p", "could see", "outcome"]);
        let mut chosen = self.judged.iter().filter(|judged| judged.claim.primary == primary).peekable();
        chosen.peek()?;
        for judged in chosen {
            table.row([
                judged.claim.statement.clone(),
                judged.claim.paper.clone(),
                judged.ours.clone(),
                p_cell(judged),
                judged.could_see.clone().unwrap_or_else(|| "-".into()),
                judged.outcome.word().into(),
            ]);
        }
        Some(table)
    }

    fn controls(&self) -> Option<Table> {
        let mut table = Table::titled(
            "Controls, which must come out so whatever the paper says:",
            &["control", "expected", "here", "kept"],
        );
        for Control { what, expected, ours, holds } in &self.report.controls {
            table.row([what.clone(), expected.clone(), ours.clone(), if *holds { "yes" } else { "no" }.into()]);
        }
        (!self.report.controls.is_empty()).then_some(table)
    }

    /// How each claim is tested, one row for claims that are tested alike.
    fn tests(&self) -> Table {
        let mut table = Table::titled("", &["claims", "one unit is", "test", "conventions"]);
        let mut rows: Vec<([String; 3], Vec<&str>)> = vec![];
        for Judged { claim, .. } in &self.judged {
            let how = [claim.unit.clone(), claim.test.words(), claim.convention.clone()];
            match rows.iter_mut().find(|(known, _)| *known == how) {
                Some((_, ids)) => ids.push(&claim.id),
                None => rows.push((how, vec![&claim.id])),
            }
        }
        for ([unit, test, convention], ids) in rows {
            table.row([ids.join(", "), unit, test, if convention.is_empty() { "-".into() } else { convention }]);
        }
        table
    }

    /// All that has a table, the verdict's first.
    fn tables(&self) -> impl Iterator<Item = Table> {
        let first = [self.claims(true), self.claims(false), self.controls()];
        first.into_iter().flatten().chain(self.report.tables.iter().cloned())
    }

    /// For the terminal.
    pub fn text(&self, seconds: Option<f64>) -> String {
        let Experiment { name, place, claim, paper, .. } = self.experiment;
        let time = seconds.map_or("its time was lost".into(), duration);
        let mut text = format!("{name}: {} ({time})\n", self.verdict().word());
        let _ = writeln!(text, "{}\n{}", Counts::of(&self.judged).words(), self.report.main);
        let _ = writeln!(text, "\n{}: {place}\n{claim}", paper.facts().citation);
        self.tables().for_each(|table| text += &table.text());
        // A terminal shows no pictures.
        let words = self.report.notes.iter().filter(|note| !note.starts_with("!["));
        words.for_each(|note| text += &format!("\n{note}\n"));
        text
    }

    /// The experiment's README.
    pub fn page(&self, session: &Session, seconds: Option<f64>) -> String {
        let Experiment { name, paper, place, claim, changed, .. } = self.experiment;
        let facts = paper.facts();
        let mut page = format!(
            "# {name}: {}\n\n{GENERATED}\n\n[{}](../../papers/{}.md): {place}\n\n> {claim}\n\n**Primary claims: {}.** {}\n\n\
             ![the figure of this experiment](figure.svg)\n\n",
            self.verdict().word(),
            facts.citation,
            facts.page,
            Counts::of(&self.judged).words(),
            self.report.main
        );
        self.tables().for_each(|table| page += &table.markdown());
        let mut section = |title: &str, parts: &[String], bullet: &str, gap: &str| {
            if !parts.is_empty() {
                let parts: Vec<String> = parts.iter().map(|part| format!("{bullet}{part}")).collect();
                let _ = write!(page, "## {title}\n\n{}\n\n", parts.join(gap));
            }
        };
        section("Remarks", &self.report.notes, "", "\n\n");
        section("How the claims are tested", &[RULE.into(), self.tests().markdown().trim().into()], "", "\n\n");
        let changed: Vec<String> = match changed {
            [] => vec!["Nothing.".into()],
            changed => changed.iter().map(|change| format!("- {change}")).collect(),
        };
        section("Changed after seeing results", &changed, "", "\n");
        section("Protocol", &self.report.protocol, "", "\n\n");
        section("Where this is not what the paper did", &self.report.deviations, "- ", "\n");
        let quick = session.scale.pick("", " --quick");
        let options: Vec<String> = match self.experiment.own {
            Some(_) => session.options.iter().map(|(key, value)| format!(" --set {key}={value}")).collect(),
            None => vec![],
        };
        let _ = write!(
            page,
            "## Again\n\n```sh\ncargo run --release --bin experiments -- {name}{quick}{} --seed {} --fresh\n```\n\n\
             Scale: {}; seed {}; backend {}; burnrank {}. {} on {} threads; every run is in `results.json`, its time in \
             `times.json`. Values for each query, where there are any, are printed by `-- per-query {name}`.\n",
            options.concat(),
            session.seed,
            session.scale.name(),
            session.seed,
            session.backend,
            env!("CARGO_PKG_VERSION"),
            seconds
                .map_or("How long it took was lost; it ran".into(), |seconds| format!("It took {}", duration(seconds))),
            session.jobs,
        );
        page
    }
}

/// What files say that are written by the program.
pub const GENERATED: &str = "_Generated by the `experiments` program: do not edit._";
