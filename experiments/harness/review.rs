//! A paper's page: claims that held, did not hold, stayed undecided, and could not be tested.

use super::index::Entry;
use super::page::GENERATED;
use super::papers::PaperFacts;
use super::verdict::{CANNOT_HOLD, Counts, Judged, Outcome};
use burnrank::internal::text::{Table, counted, p_value};
use std::fmt::Write;

/// Returns the page as Markdown.
pub fn review(facts: &PaperFacts, entries: &[&Entry<'_>]) -> String {
    let PaperFacts { short, citation, cannot, remark, .. } = facts;
    let remark = if remark.is_empty() { String::new() } else { format!("{remark}\n\n") };
    let mut page =
        format!("# {short}\n\n{GENERATED}\n\n{citation}\n\n{}\n\n{remark}{}", summary(entries), table(entries));
    for (outcome, title) in [
        (Outcome::Holds, "What held"),
        (Outcome::Reversed, "What did not hold"),
        (Outcome::Undecided, "What stayed undecided"),
        (Outcome::NotTested, "What could not be tested here, and what to bring"),
    ] {
        let mut lines: Vec<String> = entries.iter().flat_map(|entry| claims(entry, outcome)).collect();
        if outcome == Outcome::NotTested {
            lines.extend(cannot.iter().map(|line| format!("- {line}")));
        }
        if !lines.is_empty() {
            let _ = write!(page, "## {title}\n\n{}\n\n", lines.join("\n"));
        }
    }
    let waiting: Vec<String> = entries
        .iter()
        .filter(|entry| !entry.is_run)
        .map(|entry| format!("- {}: {}. It asks: {}", entry.link("../results"), entry.verdict, entry.experiment.claim))
        .collect();
    if !waiting.is_empty() {
        let _ = write!(page, "## What is not run yet\n\n{}\n\n", waiting.join("\n"));
    }
    page.trim_end().to_owned() + "\n"
}

/// Summary of all primary claims of the paper, in two sentences.
fn summary(entries: &[&Entry<'_>]) -> String {
    let total = |pick: fn(Counts) -> usize| entries.iter().filter_map(|entry| entry.counts).map(pick).sum::<usize>();
    let run = entries.iter().filter(|entry| entry.is_run).count();
    let all = counted(entries.len(), "experiment is", "experiments are");
    format!(
        "**{run} of {all} run. Of their primary claims {} hold, {} did not hold, {} stayed undecided and {} could not be \
         tested.** A verdict counts primary claims only; others are marked *not counted*, and those of them that hold are not \
         listed one by one.",
        total(|c| c.holds),
        total(|c| c.reversed),
        total(|c| c.undecided),
        total(|c| c.not_tested),
    )
}

fn table(entries: &[&Entry<'_>]) -> String {
    let mut table = Table::titled("", &["experiment", "of the paper", "verdict", "main number"]);
    for entry in entries {
        let cells = [entry.experiment.place.to_owned(), entry.verdict.clone(), entry.main.clone()];
        table.row([entry.link("../results")].into_iter().chain(cells));
    }
    table.markdown().trim_start().to_owned()
}

/// The claims of an experiment with a given result, below its name.
fn claims(entry: &Entry<'_>, outcome: Outcome) -> Vec<String> {
    let own = |primary: bool| {
        let such = move |judged: &&Judged| judged.outcome == outcome && judged.claim.primary == primary;
        entry.judged.iter().filter(such).collect::<Vec<_>>()
    };
    let (primary, others) = (own(true), own(false));
    if primary.is_empty() && others.is_empty() {
        return vec![];
    }
    let mut lines = vec![format!("- {} ({})", entry.link("../results"), entry.experiment.place)];
    match outcome {
        // A few reasons occur in many claims.
        Outcome::NotTested => lines.extend(reasons(&[primary, others].concat())),
        Outcome::Holds => {
            lines.extend(primary.iter().map(|judged| line(judged)));
            if !others.is_empty() {
                lines.push(format!(
                    "  - and {} that the verdict does not count",
                    counted(others.len(), "claim", "claims")
                ));
            }
        }
        _ => lines.extend(primary.iter().chain(&others).map(|judged| line(judged))),
    }
    lines
}

fn line(judged: &Judged) -> String {
    let p = judged.p.map_or(String::new(), |p| format!(", p {}", p_value(Some(p))));
    let seen = match (&judged.detectable, judged.outcome) {
        (Some(nothing), Outcome::Undecided) if nothing.starts_with(CANNOT_HOLD) => format!("; {nothing}"),
        (Some(least), Outcome::Undecided) => format!("; could see {least}"),
        _ => String::new(),
    };
    let counts = if judged.claim.primary { "" } else { " *(not counted)*" };
    format!("  - {}{counts}. Paper: {}. Here: {}{p}{seen}", judged.claim.statement, judged.claim.paper, judged.ours)
}

fn reasons(claims: &[&Judged]) -> Vec<String> {
    let mut all: Vec<(&str, usize)> = vec![];
    for judged in claims {
        match all.iter_mut().find(|(known, _)| *known == judged.ours) {
            Some((_, count)) => *count += 1,
            None => all.push((&judged.ours, 1)),
        }
    }
    all.iter().map(|(why, count)| format!("  - {}: {why}", counted(*count, "claim", "claims"))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Claim, Test};
    use super::*;

    fn judged(statement: &str, outcome: Outcome, ours: &str) -> Judged {
        let claim = Claim::secondary(statement, statement, Test::Fact).paper("yes");
        Judged { claim, outcome, ours: ours.into(), p: Some(0.3), detectable: Some("0.02".into()), units: vec![] }
    }

    #[test]
    fn a_line_says_what_both_have() {
        let open = judged("a above b", Outcome::Undecided, "+0.01");
        assert_eq!(line(&open), "  - a above b *(not counted)*. Paper: yes. Here: +0.01, p 0.3000; could see 0.02");
        let never = Judged { detectable: Some(format!("{CANNOT_HOLD}: ± over 0.5")), ..open };
        assert!(line(&never).ends_with(", p 0.3000; cannot hold: ± over 0.5"));
        let missing = [judged("a", Outcome::NotTested, "needs x"), judged("b", Outcome::NotTested, "needs x")];
        assert_eq!(reasons(&missing.iter().collect::<Vec<_>>()), ["  - 2 claims: needs x"]);
    }
}
