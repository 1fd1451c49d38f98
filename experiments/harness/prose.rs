//! The papers' pages: prose with numbers from stored results, and one figure with the paper's own numbers.

use super::dots::{self, Dot};
use super::figure::Figure;
use super::index::{Entry, table};
use super::page::GENERATED;
use super::papers::PaperFacts;
use anyhow::Context;

/// Text for a number whose experiment has not run.
const MISSING: &str = "(not run yet)";

/// Returns the page as Markdown.
///
/// # Errors
/// If the prose refers to an experiment that does not exist.
pub fn page(facts: &PaperFacts, entries: &[&Entry<'_>]) -> anyhow::Result<String> {
    let PaperFacts { short, citation, prose, .. } = facts;
    let text = fill(prose, entries).with_context(|| format!("papers/{}.md", facts.page))?;
    let table = table(entries, "../results");
    Ok(format!(
        "# {short}\n\n{GENERATED}\n\n{citation}\n\n{}\n\n## All experiments on this paper\n\n{}\n",
        text.trim(),
        table.trim()
    ))
}

/// The first paragraph of a page, without its emphasis and opening words.
pub fn in_short(facts: &PaperFacts, entries: &[&Entry<'_>]) -> anyhow::Result<String> {
    let first = facts.prose.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let text = fill(first.trim_matches('*'), entries).with_context(|| format!("papers/{}.md", facts.page))?;
    let rest = text.strip_prefix("In short: ").unwrap_or(&text);
    let mut letters = rest.chars();
    Ok(letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect()))
}

/// Replaces `{verdict|EXPERIMENT}`, `{headlines|EXPERIMENT}`, and `{ours|EXPERIMENT|CLAIM}` or `{outcome|EXPERIMENT|CLAIM}`.
fn fill(prose: &str, entries: &[&Entry<'_>]) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut rest = prose;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').context("'{' without '}'")?;
        let mut words = name.splitn(3, '|');
        let mut word = || words.next().unwrap_or_default();
        let (what, experiment, claim) = (word(), word(), word());
        let entry = entries
            .iter()
            .find(|entry| entry.experiment.name == experiment)
            .with_context(|| format!("'{{{name}}}': no experiment '{experiment}' on this paper"))?;
        let row = entry.row(claim);
        let value = match what {
            "verdict" => Some(format!("**{}** ({})", entry.verdict, entry.link("../results"))),
            "headlines" => Some(headlines(entry)),
            "ours" => row.map(|row| row.number().to_owned()),
            "outcome" => row.map(|row| row.outcome.word().to_owned()),
            _ => anyhow::bail!("'{{{name}}}': unknown placeholder"),
        };
        text = text + before + &value.unwrap_or_else(|| MISSING.into());
        rest = after;
    }
    Ok(text + rest)
}

/// The headline claims with their outcomes.
fn headlines(entry: &Entry<'_>) -> String {
    let line = |statement: &str, outcome: &str| format!("- {statement}: **{outcome}**");
    let lines: Vec<String> = match entry.outcomes.headlines.as_slice() {
        [] => entry.experiment.headlines.iter().map(|one| line(one.statement, "not run yet")).collect(),
        tested => tested.iter().map(|one| line(&one.statement, one.outcome.word())).collect(),
    };
    lines.join("\n")
}

/// The figure of a paper's page: our means with intervals next to the paper's numbers; `None` if a number is missing.
pub fn figure(facts: &PaperFacts, entries: &[&Entry<'_>]) -> anyhow::Result<Option<Figure>> {
    let mut dots = vec![];
    for (experiment, claim, name) in facts.slide {
        let Some(row) = entries.iter().find(|entry| entry.experiment.name == *experiment).and_then(|e| e.row(claim))
        else {
            return Ok(None);
        };
        let dot = |value, interval, theirs| Dot { name: (*name).into(), value, interval, theirs };
        match super::Spread::of(&row.units) {
            Some(spread) => {
                let ends = (spread.mean - spread.half, spread.mean + spread.half);
                dots.push(dot(spread.mean, Some(ends), false));
            }
            None => dots.extend(row.ours.parse().ok().map(|value| dot(value, None, false))),
        }
        dots.extend(row.paper_numbers().into_iter().map(|value| dot(value, None, true)));
    }
    match dots.is_empty() {
        true => Ok(None),
        false => dots::draw(&[(facts.slide_title.into(), dots)], "95% intervals", "the paper's numbers").map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_experiments_and_placeholders_are_errors() {
        assert_eq!(fill("a b", &[]).unwrap(), "a b");
        assert!(fill("{verdict|nothing}", &[]).unwrap_err().to_string().contains("no experiment 'nothing'"));
        assert!(fill("{verdict", &[]).is_err());
    }
}
