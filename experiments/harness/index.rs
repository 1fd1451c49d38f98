//! The index of all experiments and the papers' pages, generated from stored results.

use super::page::GENERATED;
use super::papers::{PAPERS, PaperFacts};
use super::store::Header;
use super::verdict::{Kind, Outcome, Outcomes, Row};
use super::{Experiment, Scale, Session, folder_of, power, prose, store};
use burnrank::internal::text::{Table, duration};
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write;

/// The parts of an experiment's results that the index and the papers' pages need.
pub struct Entry<'a> {
    pub experiment: &'a Experiment,
    pub verdict: String,
    pub outcomes: Outcomes,
    /// Whether the runs have other settings than the experiment has now.
    is_earlier: bool,
    seconds: Option<f64>,
    has_results: bool,
}

impl<'a> Entry<'a> {
    fn read(experiment: &'a Experiment, session: &Session) -> Entry<'a> {
        let folder = folder_of(&session.out, experiment.name);
        let (stored, damaged) = match store::read(&folder) {
            Ok(stored) => (stored, false),
            Err(_) => (None, true),
        };
        let is_earlier = stored.as_ref().is_some_and(|results| is_earlier(experiment, &results.header, session));
        let outcome = stored.as_ref().map(|results| results.outcome.clone()).unwrap_or_default();
        let verdict = match (&stored, outcome["verdict"].as_str()) {
            (None, _) if damaged => "unknown: its results.json is damaged".to_owned(),
            (None, _) => "not run yet".to_owned(),
            (Some(results), None) => format!("unfinished, {} runs are done", results.runs.len()),
            (Some(results), Some(verdict)) if results.header.scale == "quick" => format!("{verdict} (quick)"),
            (_, Some(verdict)) if is_earlier => format!("{verdict} ({EARLIER})"),
            (_, Some(verdict)) => verdict.to_owned(),
        };
        Entry {
            experiment,
            verdict,
            is_earlier,
            seconds: stored.as_ref().and_then(|results| store::read_seconds(&folder, results)),
            has_results: stored.is_some(),
            outcomes: Outcomes::deserialize(outcome).unwrap_or_default(),
        }
    }

    /// The name, as a link to its report; `results` is the relative path of the results.
    pub fn link(&self, results: &str) -> String {
        let name = self.experiment.name;
        if self.has_results { format!("[{name}]({results}/{name}/README.md)") } else { name.to_owned() }
    }

    /// Returns the claim with this id.
    pub fn row(&self, id: &str) -> Option<&Row> {
        self.outcomes.claims.iter().find(|row| row.claim.id == id)
    }

    /// The number for the index, next to the paper's.
    fn number(&self) -> String {
        let (id, what) = self.experiment.number;
        let parts: Vec<&Row> = self.outcomes.rows(true).collect();
        match self.row(id) {
            Some(row) => {
                let effects: Vec<String> = row.claim.effects.iter().map(|effect| format!("{effect:+}")).collect();
                let paper = if effects.is_empty() { row.claim.paper.clone() } else { effects.join(", ") };
                match paper.contains(|c: char| c.is_ascii_digit()) {
                    true => format!("{what}: {} (paper: {paper})", row.number()),
                    false => format!("{what}: {}", row.number()),
                }
            }
            None if parts.is_empty() => "-".into(),
            None => {
                let confirmed = parts.iter().filter(|row| row.outcome == Outcome::Confirmed).count();
                format!("{confirmed} of {} statements are true", parts.len())
            }
        }
    }
}

/// Mark of verdicts whose runs have other settings than the experiment has now.
const EARLIER: &str = "earlier protocol";

/// Whether results have other settings than the experiment has now, the machine aside.
fn is_earlier(experiment: &Experiment, header: &Header, session: &Session) -> bool {
    // Settings that depend on real data are unknown without it.
    if session.data.is_none() && header.protocol["data"].is_string() {
        return false;
    }
    let scale = if header.scale == Scale::Quick.name() { Scale::Quick } else { Scale::Paper };
    let then = Session { scale, seed: header.seed, ..session.clone() };
    let settings = |protocol: &Value| {
        let mut all = protocol.clone();
        all.as_object_mut().map(|all| all.remove("machine"));
        all
    };
    experiment.whole_protocol(&then).is_ok_and(|now| settings(&now) != settings(&header.protocol))
}

/// Writes the index and the papers' pages from the stored results.
pub fn write_index(experiments: &[Experiment], session: &Session) -> anyhow::Result<()> {
    let out = &session.out;
    let entries: Vec<Entry<'_>> = experiments.iter().map(|experiment| Entry::read(experiment, session)).collect();
    let mut page = format!("# Experiments\n\n{GENERATED}\n\n**{}**\n\n{INTRODUCTION}\n\n", headline_counts(&entries));
    for facts in &PAPERS {
        let own: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.experiment.paper == facts.paper).collect();
        let PaperFacts { short, page: name, .. } = facts;
        let (answer, table) = (prose::in_short(facts, &own)?, table(&own, "results"));
        let _ = write!(page, "## {short}\n\n{answer} [More](papers/{name}.md)\n\n{table}\n");
        let folder = out.join("experiments/papers");
        super::write(&folder.join(format!("{name}.md")), &prose::page(facts, &own)?)?;
        if let Some(figure) = prose::figure(facts, &own)? {
            super::write(&folder.join(format!("{name}.svg")), &figure.svg)?;
        }
    }
    super::write(&out.join("experiments/papers/power.md"), &power::page(&entries))?;
    let _ = write!(page, "{READING}{}{HOW}{} {DATA}", total(&entries), super::real::WHERE);
    super::write(&out.join("experiments/README.md"), &page)
}

/// One sentence before the tables.
const INTRODUCTION: &str = "\
    Every table and claim of five papers on learning to rank that can be tested here, with one line per experiment: the claim, \
    the verdict, and one number next to the paper's. Each paper has a page in prose, each experiment a report with all numbers.";

/// How to read the tables.
const READING: &str = "## How to read the verdicts\n\n\
    An experiment has at most three headline claims, and a program decides them. *Confirmed* and *contradicted*: the 95% \
    interval lies on the paper's side, or on the other. *Smaller*: the sign is open, but the paper's effect is excluded. *Too \
    small to see*: 0 and the paper's effect are both within the interval; [Power](papers/power.md) lists for every headline \
    claim the paper's effect and the smallest one that its test can detect.\n\n\
    The verdict is *reproduced* (all confirmed), *in part* (at least half, none contradicted), *inconclusive* (fewer, none \
    contradicted) or *differs here* (one or more contradicted). Extensions test a claim with other models than the paper's, and \
    benchmarks have targets of our own; neither counts in the first line. \"On other data\": the paper's data are not \
    available.\n\n\
    Headline claims were chosen after a first round of runs, from claims that were tested in it; most experiments have been \
    rerun since. Each report lists first outcomes and changes under \"Changed after seeing results\".\n\n";

/// How to run the experiments.
const HOW: &str = "## Run them\n\n`cargo run --release --bin experiments -- list` lists them; `-- NAME` runs one at full scale, \
    `-- NAME --quick` a small version in under a minute, `-- all` all of them, with the time left. Interrupted ones resume, and \
    finished ones are not repeated. `-- all --stored` writes all reports again without running anything, except those of an \
    earlier protocol.\n\n## Your own copies of data sets\n\n";

/// What a user's copy of the papers' data is used for.
const DATA: &str = "BURNRANK_DATA=DIR is the same as --data DIR. Claims whose data are missing are not tested. With WEB10K, WEB30K or \
    YAHOO, `cargo run --release --features trees --bin experiments -- lambdaloss-web --data DIR` runs the LambdaLoss paper's own \
    protocol on the first fold of each: RankLib's settings (Table 3), LightGBM's settings tuned on validation queries for each loss \
    (Table 4), and NDCG-Loss2 with LambdaMART's settings (Table 5), tested over test queries and next to the paper's numbers. \
    WEB30K takes hours.\n";

/// Total time of all experiments, if each is known.
fn total(entries: &[Entry<'_>]) -> String {
    let seconds = entries.iter().map(|entry| entry.seconds).sum::<Option<f64>>();
    seconds.map_or(String::new(), |seconds| format!("Total time of all runs: {}.\n\n", duration(seconds)))
}

/// Number of the papers' headline claims per outcome, as a sentence.
fn headline_counts(entries: &[Entry<'_>]) -> String {
    let papers = entries.iter().filter(|entry| entry.experiment.kind == Kind::Paper);
    let outcomes: Vec<Outcome> =
        papers.flat_map(|entry| &entry.outcomes.headlines).map(|headline| headline.outcome).collect();
    let count = |outcome| outcomes.iter().filter(|other| **other == outcome).count();
    let mut parts: Vec<String> = vec![
        format!("{} confirmed", count(Outcome::Confirmed)),
        format!("{} too small to see", count(Outcome::TooSmall)),
    ];
    for outcome in [Outcome::Smaller, Outcome::NumberDiffers, Outcome::NotTested] {
        if count(outcome) > 0 {
            parts.push(format!("{} {}", count(outcome), outcome.word()));
        }
    }
    parts.push(format!("{} contradicted", count(Outcome::Contradicted)));
    let waiting = entries.iter().filter(|entry| entry.outcomes.headlines.is_empty()).count();
    let waiting = if waiting > 0 {
        format!(" {waiting} of {} experiments are not run yet.", entries.len())
    } else {
        String::new()
    };
    let earlier = entries.iter().filter(|entry| entry.is_earlier).count();
    let earlier = match earlier {
        0 => String::new(),
        _ => format!(
            " {earlier} experiments have a new protocol that has not been run: their numbers are from the earlier one."
        ),
    };
    format!("{} headline claims of five papers: {}.{waiting}{earlier}", outcomes.len(), parts.join(", "))
}

/// One line per experiment; `results` is the relative path of the results.
pub fn table(entries: &[&Entry<'_>], results: &str) -> String {
    let mut table = Table::titled("", &["experiment", "claim", "verdict", "number"]);
    for entry in entries {
        let kind = if entry.experiment.kind == Kind::Extension { " (extension)" } else { "" };
        table.row([
            format!("{}{kind}", entry.link(results)),
            entry.experiment.short.to_owned(),
            entry.verdict.clone(),
            entry.number(),
        ]);
    }
    table.markdown().trim().to_owned() + "\n"
}
