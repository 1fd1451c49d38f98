//! Power of the tests of headline claims: the paper's effect next to the smallest one that a test can detect.

use super::claim::Test;
use super::index::Entry;
use super::page::GENERATED;
use super::papers::PAPERS;
use super::verdict::{HeadlineRow, Outcome, Outcomes, Row, TOO_WIDE};
use burnrank::internal::text::{Table, number, three_digits};
use std::fmt::Write;

/// What the columns mean.
const LEGEND: &str = "*Paper's effect*: the smallest difference that the paper prints for a part of the claim, or ± the margin within which a \
     difference counts as none. *Detectable*: the smallest difference that the test detects with a power of 80% at its error \
     rate, given the spread seen over the units; a range if parts differ. *Enough*: whether that is at most the paper's \
     effect; *unknown* if the paper prints none. Statements that are computed exactly have no power to report.";

/// One headline claim.
struct Power {
    effect: String,
    detectable: String,
    enough: &'static str,
}

/// The paper's effect on the scale of the test.
fn effect(row: &Row) -> Option<f64> {
    match row.claim.test {
        Test::Above | Test::SameDirection => {
            row.claim.effects.iter().copied().filter(|effect| *effect > 0.0).reduce(f64::min)
        }
        Test::Equivalent { margin } => Some(margin),
        Test::AtLeast { bound } | Test::AtMost { bound } => {
            let paper = row.claim.paper.split_whitespace().next()?;
            paper.parse::<f64>().ok().map(|paper| (paper - bound).abs()).filter(|effect| *effect > 0.0)
        }
        Test::EachAtMost { .. } | Test::Number { .. } | Test::Fact => None,
    }
}

/// Whether no mean could have confirmed the claim.
fn is_too_wide(row: &Row) -> bool {
    row.detectable.as_ref().is_some_and(|text| text.starts_with(TOO_WIDE))
}

/// The ends of a range, or its only value.
fn range(values: &[f64], text: fn(f64) -> String) -> String {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match values {
        [] => "-".into(),
        _ if low == high => text(low),
        _ => format!("{} to {}", text(low), text(high)),
    }
}

fn power(headline: &HeadlineRow, outcomes: &Outcomes) -> Power {
    let parts: Vec<&Row> = outcomes.claims.iter().filter(|row| headline.parts.contains(&row.claim.id)).collect();
    if headline.outcome == Outcome::NotTested {
        return Power { effect: "-".into(), detectable: "not tested".into(), enough: "-" };
    }
    let of = |is: fn(Test) -> bool| parts.iter().filter(|row| is(row.claim.test)).count();
    if of(|test| matches!(test, Test::Fact)) == parts.len() {
        return Power { effect: "-".into(), detectable: "computed".into(), enough: "-" };
    }
    if of(|test| matches!(test, Test::EachAtMost { .. } | Test::Fact)) == parts.len() {
        return Power { effect: "-".into(), detectable: "every unit counts".into(), enough: "-" };
    }
    let mut ranges = parts.iter().filter(|row| matches!(row.claim.test, Test::Number { .. }));
    if let (Some(row), true) =
        (ranges.next(), of(|test| matches!(test, Test::Number { .. } | Test::Fact)) == parts.len())
    {
        let detectable = row.detectable.as_ref().map_or("-".into(), |range| format!("confirmed by {range}"));
        return Power { effect: row.claim.paper.clone(), detectable, enough: "-" };
    }
    let tested: Vec<(Option<f64>, Option<f64>)> = parts
        .iter()
        .filter(|row| !matches!(row.claim.test, Test::Fact | Test::Number { .. } | Test::EachAtMost { .. }))
        .map(|row| (effect(row), row.detectable.as_ref().and_then(|text| text.parse().ok())))
        .collect();
    let margins = of(|test| matches!(test, Test::Equivalent { .. })) == parts.len();
    let effects: Vec<f64> = tested.iter().filter_map(|part| part.0).collect();
    let least: Vec<f64> = tested.iter().filter_map(|part| part.1).collect();
    let is_enough = |&(effect, least): &(Option<f64>, Option<f64>)| Some(least? <= effect?);
    let enough = match tested.iter().map(is_enough).collect::<Option<Vec<bool>>>() {
        _ if least.is_empty() && !parts.iter().any(|row| is_too_wide(row)) => "-",
        _ if effects.len() < tested.len() => "unknown",
        None => "no",
        Some(all) if all.iter().all(|enough| *enough) => "yes",
        Some(_) => "no",
    };
    Power {
        effect: format!("{}{}", if margins { "±" } else { "" }, range(&effects, number)),
        detectable: match parts.iter().filter(|row| is_too_wide(row)).count() {
            0 if least.is_empty() => "no spread".into(),
            0 => range(&least, three_digits),
            wide if least.is_empty() => format!("nothing: {wide} of {wide} intervals too wide"),
            wide => format!("{}; {wide} of {} intervals too wide", range(&least, three_digits), tested.len()),
        },
        enough,
    }
}

/// One row per headline claim of an experiment.
pub fn table(outcomes: &Outcomes) -> Table {
    let mut table = Table::titled("", &["#", "headline claim", "paper's effect", "detectable", "enough", "outcome"]);
    for (place, headline) in outcomes.headlines.iter().enumerate() {
        let Power { effect, detectable, enough } = power(headline, outcomes);
        let outcome = headline.outcome.word().to_owned();
        table.row([(place + 1).to_string(), headline.statement.clone(), effect, detectable, enough.into(), outcome]);
    }
    table
}

/// The paragraphs of a report's section.
pub fn section(outcomes: &Outcomes) -> Vec<String> {
    vec![table(outcomes).markdown().trim().to_owned(), LEGEND.to_owned()]
}

/// The page with the headline claims of all experiments.
pub fn page(entries: &[Entry<'_>]) -> String {
    let all: Vec<&'static str> = entries
        .iter()
        .flat_map(|entry| entry.outcomes.headlines.iter().map(|headline| power(headline, &entry.outcomes).enough))
        .collect();
    let count = |word: &str| all.iter().filter(|enough| **enough == word).count();
    let mut page = format!(
        "# Power\n\n{GENERATED}\n\n**{} headline claims. Computed, counted or not tested: {}. Tests that can detect the paper's \
         effect: {}; that cannot: {}; without an effect in the paper: {}.**\n\n{LEGEND}\n\n",
        all.len(),
        count("-"),
        count("yes"),
        count("no"),
        count("unknown")
    );
    for facts in &PAPERS {
        let own: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.experiment.paper == facts.paper).collect();
        let head = ["experiment", "headline claim", "paper's effect", "detectable", "enough", "outcome"];
        let mut table = Table::titled("", &head);
        for entry in &own {
            for headline in &entry.outcomes.headlines {
                let Power { effect, detectable, enough } = power(headline, &entry.outcomes);
                let outcome = headline.outcome.word().to_owned();
                let statement = headline.statement.clone();
                table.row([entry.link("../results"), statement, effect, detectable, enough.into(), outcome]);
            }
        }
        if own.iter().any(|entry| !entry.outcomes.headlines.is_empty()) {
            let _ = write!(page, "## {}\n\n{}\n\n", facts.short, table.markdown().trim());
        }
    }
    page.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::claim::{Claim, Evidence, Headline};
    use super::super::verdict::evaluate;
    use super::*;

    fn row(claims: Vec<Claim>, evidence: Evidence) -> Power {
        let evidence: Vec<(String, Evidence)> = claims.iter().map(|c| (c.id.clone(), evidence.clone())).collect();
        let outcomes = evaluate(claims, &[Headline::new("a", &["a*"])], &evidence).unwrap();
        power(&outcomes.headlines[0], &outcomes)
    }

    #[test]
    fn the_papers_effect_is_compared_with_the_detectable_one() {
        // Five units with deviation 1 detect 1.66.
        let units = || Evidence::units([0.0, 0.0, 1.0, 2.0, 2.0]);
        let claim = |id: &str, test| Claim::new(id, "a", test).unit("function");
        let above = |effect| row(vec![claim("a", Test::Above).effects([effect, 9.0])], units());
        assert_eq!((above(1.7).enough, above(1.6).enough), ("yes", "no"));
        assert_eq!((above(1.7).effect.as_str(), above(1.7).detectable.as_str()), ("1.7", "1.66"));
        assert_eq!(row(vec![claim("a", Test::Above)], units()).enough, "unknown");
        let both = vec![claim("a 1", Test::Above).effects([2.0]), claim("a 2", Test::Above).effects([1.0])];
        assert_eq!((row(both.clone(), units()).enough, row(both, units()).effect.as_str()), ("no", "1 to 2"));
        let margin = row(vec![claim("a", Test::Equivalent { margin: 1.0 })], units());
        assert_eq!(
            (margin.effect.as_str(), margin.detectable.as_str(), margin.enough),
            ("±1", "nothing: 1 of 1 intervals too wide", "no")
        );
        let bound = claim("a", Test::AtLeast { bound: -2.0 }).paper("0");
        assert_eq!((row(vec![bound.clone()], units()).effect.as_str(), row(vec![bound], units()).enough), ("2", "yes"));
        let fact = row(vec![Claim::new("a", "a", Test::Fact)], Evidence::fact(true, "1"));
        assert_eq!((fact.detectable.as_str(), fact.enough), ("computed", "-"));
        let number = row(vec![claim("a", Test::Number { paper: 1.0 }).paper("1")], units());
        assert!(number.detectable.starts_with("confirmed by -1.") && number.effect == "1", "{}", number.detectable);
    }
}
