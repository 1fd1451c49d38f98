//! What an experiment says in the end: tables, a verdict that is computed, a page, and the index of all pages.

use super::{Experiment, Kind, Session, folder_of, store};
use burnrank::text::{Table, duration};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// One statement of the paper beside what came out here.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Check {
    pub claim: String,
    pub paper: String,
    pub ours: String,
    pub holds: bool,
}

/// Whether the paper's statements hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All of them.
    Reproduced,
    /// Some of them.
    InPart,
    /// None of them.
    NotReproduced,
}

impl Verdict {
    /// Counts the checks that hold.
    pub fn of(checks: &[Check]) -> Verdict {
        match checks.iter().filter(|check| check.holds).count() {
            0 => Verdict::NotReproduced,
            n if n == checks.len() => Verdict::Reproduced,
            _ => Verdict::InPart,
        }
    }

    /// In words: statements of a paper are reproduced, bounds of time and memory are kept.
    fn words(self, kind: Kind) -> &'static str {
        match (kind, self) {
            (Kind::Paper, Verdict::Reproduced) => "reproduced",
            (Kind::Paper, Verdict::InPart) => "reproduced in part",
            (Kind::Paper, Verdict::NotReproduced) => "not reproduced",
            (Kind::Speed, Verdict::Reproduced) => "all bounds kept",
            (Kind::Speed, Verdict::InPart) => "some bounds kept",
            (Kind::Speed, Verdict::NotReproduced) => "no bound kept",
        }
    }
}

/// Everything an experiment has to say.
pub struct Report {
    /// How it was done, in paragraphs.
    pub protocol: Vec<String>,
    /// Everything that was done in another way than the paper did it, and why.
    pub deviations: Vec<String>,
    pub tables: Vec<Table>,
    pub checks: Vec<Check>,
    /// The number for the index.
    pub main: String,
    /// What else a reader should know.
    pub notes: Vec<String>,
    /// SVG.
    pub figure: String,
}

impl Report {
    pub fn outcome(&self, kind: Kind) -> Value {
        json!({"verdict": Verdict::of(&self.checks).words(kind), "main": self.main, "checks": self.checks})
    }

    fn check_table(&self, kind: Kind) -> Table {
        let whose = match kind {
            Kind::Paper => "paper",
            Kind::Speed => "bound",
        };
        let mut table = Table::titled("What the verdict is computed from:", &["statement", whose, "here", "holds"]);
        for Check { claim, paper, ours, holds } in &self.checks {
            let holds = if *holds { "yes" } else { "no" };
            table.row([claim.clone(), paper.clone(), ours.clone(), holds.into()]);
        }
        table
    }

    /// For the terminal.
    pub fn text(&self, experiment: &Experiment, seconds: Option<f64>) -> String {
        let mut text = format!("{}\n{}\n", experiment.paper, experiment.claim);
        self.tables.iter().chain([&self.check_table(experiment.kind)]).for_each(|table| text += &table.text());
        // A terminal shows no pictures.
        let words = self.notes.iter().filter(|note| !note.starts_with("!["));
        words.for_each(|note| text += &format!("\n{note}\n"));
        let verdict = Verdict::of(&self.checks).words(experiment.kind);
        let time = seconds.map_or("its time was lost".into(), duration);
        let _ = writeln!(text, "\n{}: {verdict} ({}; {time})", experiment.name, self.main);
        text
    }

    /// The experiment's README.
    pub fn page(&self, experiment: &Experiment, session: &Session, seconds: Option<f64>) -> String {
        let Experiment { name, kind, paper, claim, .. } = experiment;
        let verdict = Verdict::of(&self.checks).words(*kind);
        let mut page = format!("# {name}: {verdict}\n\n{GENERATED}\n\n{paper}\n\n> {claim}\n\n{}\n\n", self.main);
        page += match kind {
            Kind::Paper => "![the paper's numbers beside ours](figure.svg)\n\n",
            Kind::Speed => "![time against the number of documents per query](figure.svg)\n\n",
        };
        self.tables.iter().chain([&self.check_table(*kind)]).for_each(|table| page += &table.markdown());
        let mut section = |title: &str, parts: &[String], bullet: &str, gap: &str| {
            if !parts.is_empty() {
                let parts: Vec<String> = parts.iter().map(|part| format!("{bullet}{part}")).collect();
                let _ = write!(page, "## {title}\n\n{}\n\n", parts.join(gap));
            }
        };
        section("Remarks", &self.notes, "", "\n\n");
        section("Protocol", &self.protocol, "", "\n\n");
        section("Where this is not what the paper did", &self.deviations, "- ", "\n");
        let quick = session.scale.pick("", " --quick");
        let peers = if session.peers.is_some() && *kind == Kind::Speed { " --peers" } else { "" };
        let _ = write!(
            page,
            "## Again\n\n```sh\ncargo run --release --bin experiments -- {name}{quick}{peers} --seed {} --fresh\n```\n\n\
             Scale: {}; seed {}; backend {}; burnrank {}. {} on {} threads; every run is in \
             `results.json`, its time in `times.json`.\n",
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

const GENERATED: &str = "_Generated by the `experiments` program: do not edit._";

/// Writes the index of all experiments from their stored results.
pub fn write_index(experiments: &[Experiment], out: &Path) -> anyhow::Result<()> {
    let columns = ["name", "paper", "claim", "verdict", "main number", "time"];
    let mut table = Table::titled("Time is from start to end, over all sessions that an experiment took.", &columns);
    for Experiment { name, paper, claim, .. } in experiments {
        let folder = folder_of(out, name);
        let (stored, damaged) = match store::read(&folder) {
            Ok(stored) => (stored, false),
            Err(_) => (None, true),
        };
        let word = |key: &str| stored.as_ref().and_then(|results| results.outcome[key].as_str()).map(str::to_owned);
        let verdict = match (&stored, word("verdict")) {
            (None, _) if damaged => "unknown: its results.json is damaged".to_owned(),
            (None, _) => "not run yet".to_owned(),
            (Some(results), None) => format!("unfinished, {} runs are done", results.runs.len()),
            (Some(results), Some(verdict)) if results.header.scale == "quick" => format!("{verdict} (quick)"),
            (_, Some(verdict)) => verdict,
        };
        let link = if stored.is_some() { format!("[{name}](results/{name}/README.md)") } else { name.to_string() };
        let time =
            stored.as_ref().and_then(|results| store::read_seconds(&folder, results)).map_or("-".into(), duration);
        let main = word("main").unwrap_or_else(|| "-".into());
        table.row([link, paper.to_string(), claim.to_string(), verdict, main, time]);
    }
    let page = format!(
        "# Experiments\n\n{GENERATED}\n\nA paper's table is a program here. `cargo run --release --bin experiments -- list` \
         names them; `-- NAME` runs one as the paper did, `-- NAME --quick` in well under a minute, `-- all [--quick]` all \
         of them. Interrupted, an experiment goes on where it was. `--data DIR` (or BURNRANK_DATA) is where real data is: \
         one folder of LETOR folds per data set.\n\n{}",
        table.markdown()
    );
    super::write(&out.join("experiments/README.md"), &page)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(holds: bool) -> Check {
        Check { claim: "a".into(), paper: "1".into(), ours: "2".into(), holds }
    }

    #[test]
    fn verdicts_follow_from_checks() {
        assert_eq!(Verdict::of(&[check(true), check(true)]), Verdict::Reproduced);
        assert_eq!(Verdict::of(&[check(true), check(false)]), Verdict::InPart);
        assert_eq!(Verdict::of(&[check(false)]), Verdict::NotReproduced);
        assert_eq!(Verdict::of(&[]), Verdict::NotReproduced);
    }
}
