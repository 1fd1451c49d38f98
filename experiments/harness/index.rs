//! The index of all experiments, generated from stored results.

use super::page::GENERATED;
use super::papers::PAPERS;
use super::review::review;
use super::verdict::{Counts, Judged};
use super::{Experiment, folder_of, store};
use burnrank::internal::text::{Table, duration};
use serde::Deserialize;
use std::fmt::Write;
use std::path::Path;

/// The parts of an experiment's results that the index and the papers' pages need.
pub struct Entry<'a> {
    pub experiment: &'a Experiment,
    pub verdict: String,
    /// Whether there is a verdict.
    pub is_run: bool,
    pub counts: Option<Counts>,
    pub main: String,
    pub seconds: Option<f64>,
    pub judged: Vec<Judged>,
    /// Whether the claims were tested on other data than the paper's.
    other_data: bool,
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
            is_run: word("verdict").is_some(),
            counts: Counts::deserialize(outcome("counts")).ok(),
            main: word("main").unwrap_or_else(|| "-".into()),
            seconds: stored.as_ref().and_then(|results| store::read_seconds(&folder, results)),
            judged: Vec::deserialize(outcome("claims")).unwrap_or_default(),
            other_data: outcome("other_data").as_bool().unwrap_or_default(),
            there: stored.is_some(),
        }
    }

    /// The name, as a link to its report; `results` is the relative path of the results.
    pub fn link(&self, results: &str) -> String {
        let name = self.experiment.name;
        if self.there { format!("[{name}]({results}/{name}/README.md)") } else { name.to_owned() }
    }
}

/// Writes the index and the papers' pages from the stored results.
pub fn write_index(experiments: &[Experiment], out: &Path) -> anyhow::Result<()> {
    let entries: Vec<Entry<'_>> = experiments.iter().map(|experiment| Entry::read(experiment, out)).collect();
    let mut page =
        format!("# Experiments\n\n{GENERATED}\n\n**{}**\n\n{HOW}{}\n\n", verdicts(&entries), total(&entries));
    for facts in &PAPERS {
        let own: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.experiment.paper == facts.paper).collect();
        if own.is_empty() {
            continue;
        }
        let _ = write!(
            page,
            "## {}\n\n{} ([what held and what did not](papers/{}.md))\n\n{}",
            facts.short,
            facts.citation,
            facts.page,
            table(&own)
        );
        super::write(&out.join(format!("experiments/papers/{}.md", facts.page)), &review(facts, &own))?;
    }
    super::write(&out.join("experiments/README.md"), &page)
}

/// Introduction for readers of the index.
const HOW: &str = "A paper's statement is a program here: it names its claims and their tests before it runs, and the verdict is \
    computed. *Reproduced*: every primary claim holds; *in part*: at least half of them hold and none is reversed; *not \
    reproduced*: otherwise. An experiment's report says what was run, how each claim is tested, what a control is and whether it \
    passed, and what the paper did in another way.\n\n\
    `cargo run --release --bin experiments -- list` names them; `-- NAME` runs one at full scale, `-- NAME --quick` a small \
    version in well under a minute, `-- all [--quick]` all of them. An interrupted experiment goes on where it was. `--data DIR` \
    (or BURNRANK_DATA) is where real data is: one folder of LETOR folds per data set. Claims that need data which is not there \
    are said to be not tested.\n\n\
    *Hold / undecided / reversed* counts primary claims, and in brackets the others, which the verdict does not count. *Other \
    data*: the paper's own are not to be had, only orderings are compared. Time is from start to end, over all sessions that an experiment took.";

/// Total time of all experiments, if each is known.
fn total(entries: &[Entry<'_>]) -> String {
    match entries.iter().map(|entry| entry.seconds).sum::<Option<f64>>() {
        Some(seconds) if seconds >= 7200.0 => format!(" All together: {:.1} hours.", seconds / 3600.0),
        Some(seconds) => format!(" All together: {}.", duration(seconds)),
        None => String::new(),
    }
}

/// Number of experiments per verdict, as a sentence.
fn verdicts(entries: &[Entry<'_>]) -> String {
    let mut words: Vec<(&str, usize)> = vec![];
    for entry in entries {
        let verdict = if entry.verdict.starts_with("unfinished") { "unfinished" } else { entry.verdict.as_str() };
        match words.iter_mut().find(|(known, _)| *known == verdict) {
            Some((_, count)) => *count += 1,
            None => words.push((verdict, 1)),
        }
    }
    // Experiments without results come last.
    words.sort_by_key(|(word, _)| {
        ["unfinished", "not run yet"].iter().position(|last| last == word).map_or(0, |at| at + 1)
    });
    let run = entries.iter().filter(|entry| entry.is_run).count();
    let all: Vec<String> = words.iter().map(|(word, count)| format!("{count} {word}")).collect();
    format!("{run} of {} experiments are run: {}.", entries.len(), all.join(", "))
}

fn table(entries: &[&Entry<'_>]) -> String {
    let columns = ["experiment", "claim", "verdict", "hold / undecided / reversed", "main number", "time", "figure"];
    let mut table = Table::titled("", &columns);
    for entry in entries {
        let Experiment { name, place, claim, .. } = entry.experiment;
        let words = |c: Counts| format!("{} / {} / {}", c.holds, c.undecided, c.reversed);
        let others = Counts::of(&entry.judged, false);
        let others = if others == Counts::default() { String::new() } else { format!(" ({})", words(others)) };
        let counts = entry.counts.map_or("-".into(), |counts| words(counts) + &others);
        let data = if entry.other_data { "; other data" } else { "" };
        let figure = format!(
            "<a href=\"results/{name}/figure.svg\"><img src=\"results/{name}/figure.svg\" width=\"160\" alt=\"{name}\"></a>"
        );
        table.row([
            format!("{}: {place}", entry.link("results")),
            claim.to_string(),
            format!("{}{data}", entry.verdict),
            counts,
            entry.main.clone(),
            entry.seconds.map_or("-".into(), duration),
            if entry.is_run { figure } else { "-".into() },
        ]);
    }
    table.markdown().trim_start().to_owned()
}
