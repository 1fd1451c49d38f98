//! The index of all experiments, and a page per paper that says what held and what did not, from stored results.

use super::papers::{PAPERS, PaperFacts};
use super::report::GENERATED;
use super::verdict::{Counts, Judged, Outcome};
use super::{Experiment, folder_of, store};
use burnrank::text::{Table, duration};
use serde::Deserialize;
use std::fmt::Write;
use std::path::Path;

/// What the index needs of an experiment's results.
struct Entry<'a> {
    experiment: &'a Experiment,
    verdict: String,
    counts: Option<Counts>,
    main: String,
    seconds: Option<f64>,
    judged: Vec<Judged>,
    there: bool,
}

impl<'a> Entry<'a> {
    fn read(experiment: &'a Experiment, out: &Path) -> Entry<'a> {
        let folder = folder_of(out, experiment.name);
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
        let outcome = |key: &str| stored.as_ref().map(|results| results.outcome[key].clone()).unwrap_or_default();
        Entry {
            experiment,
            verdict,
            counts: Counts::deserialize(outcome("counts")).ok(),
            main: word("main").unwrap_or_else(|| "-".into()),
            seconds: stored.as_ref().and_then(|results| store::read_seconds(&folder, results)),
            judged: Vec::deserialize(outcome("claims")).unwrap_or_default(),
            there: stored.is_some(),
        }
    }

    /// The name, linked from a folder that is so far above the results.
    fn link(&self, results: &str) -> String {
        let name = self.experiment.name;
        if self.there { format!("[{name}]({results}/{name}/README.md)") } else { name.to_owned() }
    }
}

/// Writes the index and the papers' pages from the results that are there.
pub fn write_index(experiments: &[Experiment], out: &Path) -> anyhow::Result<()> {
    let entries: Vec<Entry<'_>> = experiments.iter().map(|experiment| Entry::read(experiment, out)).collect();
    let mut page = format!(
        "# Experiments\n\n{GENERATED}\n\nA paper's statement is a program here: it names its claims and their tests before it \
         runs, and the verdict is computed. `cargo run --release --bin experiments -- list` names them; `-- NAME` runs one \
         as the paper did, `-- NAME --quick` in well under a minute, `-- all [--quick]` all of them. Interrupted, an experiment \
         goes on where it was. `--data DIR` (or BURNRANK_DATA) is where real data is: one folder of LETOR folds per data \
         set.\n\nThe column *h / u / r* counts primary claims that hold, are undecided, are reversed. Time is from start to end, \
         over all sessions that an experiment took.\n\n"
    );
    for facts in &PAPERS {
        let own: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.experiment.paper == facts.paper).collect();
        if own.is_empty() {
            continue;
        }
        let _ = write!(
            page,
            "## {}\n\n{} ([what held and what did not](papers/{}.md))\n\n",
            facts.short, facts.citation, facts.page
        );
        let columns = ["name", "what", "claim", "verdict", "h / u / r", "main number", "time", "figure"];
        let mut table = Table::titled("", &columns);
        for entry in &own {
            let Experiment { name, place, claim, .. } = entry.experiment;
            let counts = entry.counts.map_or("-".into(), |c| format!("{} / {} / {}", c.holds, c.undecided, c.reversed));
            let figure = format!(
                "<a href=\"results/{name}/figure.svg\"><img src=\"results/{name}/figure.svg\" width=\"160\" alt=\"{name}\"></a>"
            );
            table.row([
                entry.link("results"),
                place.to_string(),
                claim.to_string(),
                entry.verdict.clone(),
                counts,
                entry.main.clone(),
                entry.seconds.map_or("-".into(), duration),
                if entry.counts.is_some() { figure } else { "-".into() },
            ]);
        }
        page += table.markdown().trim_start();
        super::write(&out.join(format!("experiments/papers/{}.md", facts.page)), &review(facts, &own))?;
    }
    super::write(&out.join("experiments/README.md"), &page)
}

/// A paper's page: what held, what did not, what is open, what could not be tested.
fn review(facts: &PaperFacts, entries: &[&Entry<'_>]) -> String {
    let PaperFacts { short, citation, cannot, .. } = facts;
    let mut page = format!("# {short}\n\n{GENERATED}\n\n{citation}\n\n");
    let total = |pick: fn(Counts) -> usize| entries.iter().filter_map(|entry| entry.counts).map(pick).sum::<usize>();
    let run = entries.iter().filter(|entry| entry.counts.is_some()).count();
    let _ = write!(
        page,
        "**{run} of {} experiments are run. Of their primary claims {} hold, {} are undecided, {} are reversed, {} could not be \
         tested.** Claims that a verdict does not count stand in the list without bold type.\n\n",
        entries.len(),
        total(|c| c.holds),
        total(|c| c.undecided),
        total(|c| c.reversed),
        total(|c| c.not_tested),
    );
    for (outcome, title) in [
        (Outcome::Holds, "What held"),
        (Outcome::Reversed, "What did not hold"),
        (Outcome::Undecided, "What stayed undecided"),
        (Outcome::NotTested, "What could not be tested"),
    ] {
        let mut lines = vec![];
        for entry in entries {
            for judged in entry.judged.iter().filter(|judged| judged.outcome == outcome) {
                let bold = if judged.claim.primary { "**" } else { "" };
                let p = judged.p.map_or(String::new(), |p| format!(", p {}", burnrank::text::p_value(Some(p))));
                let seen = match (&judged.could_see, outcome) {
                    (Some(least), Outcome::Undecided) => format!("; could have seen {least}"),
                    _ => String::new(),
                };
                lines.push(format!(
                    "- {bold}{}{bold} (paper: {}): {}{p}{seen} – {}",
                    judged.claim.statement,
                    judged.claim.paper,
                    judged.ours,
                    entry.link("../results")
                ));
            }
        }
        if outcome == Outcome::NotTested {
            lines.extend(cannot.iter().map(|line| format!("- {line}")));
        }
        if !lines.is_empty() {
            let _ = write!(page, "## {title}\n\n{}\n\n", lines.join("\n"));
        }
    }
    let waiting: Vec<String> = entries
        .iter()
        .filter(|entry| entry.counts.is_none())
        .map(|entry| format!("- {}: {}", entry.link("../results"), entry.verdict))
        .collect();
    if !waiting.is_empty() {
        let _ = write!(page, "## What was not run yet\n\n{}\n\n", waiting.join("\n"));
    }
    page.trim_end().to_owned() + "\n"
}
