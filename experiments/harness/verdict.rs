//! The rules for outcomes of claims and for verdicts.

use super::claim::{Claim, Control, Evidence, Headline, Test};
use anyhow::bail;
use burnrank::analysis::significance::{holm, t_test};
use burnrank::internal::text::{fixed, signed, three_digits};
use burnrank::numeric::Mean;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Error rate of a headline claim, and family-wise error rate of secondary claims.
const ALPHA: f64 = 0.05;
/// Power for the smallest detectable difference.
const POWER: f64 = 0.8;
/// Number of standard deviations by which the paper's number may differ from ours.
const Z: f64 = 2.0;
/// Number of headline claims that an experiment may have.
pub const MAX_HEADLINES: usize = 3;

/// Text for an equivalence that could not have been confirmed with the variance of its units.
pub const TOO_WIDE: &str = "interval wider";

/// The rule, as printed in reports.
pub const RULE: &str = "Headline claims decide the verdict. One is confirmed if all of its parts are, contradicted if one of them \
     is, and otherwise has the first of these outcomes that one of its parts has: smaller, number differs, too small to see. \
     *Reproduced*: all headline claims confirmed. *In part*: at least half, none contradicted. *Inconclusive*: fewer, none \
     contradicted. *Differs here*: at least one contradicted. For an extension (another kind of model or setting than the \
     paper's): *carries over*, *open*, *does not carry over*. A benchmark counts targets met. A part that speaks against a \
     headline claim of n parts is tested at 5%/n. Secondary claims never decide; Holm's correction is applied within each family \
     of them (same unit, test and conventions). Claims that need missing data do not count. If a control fails, nothing is \
     concluded. A unit is one independent sample: seeds and queries are averaged within it first.";

/// Kind of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The paper's claim, with its kind of model and its protocol as far as stated.
    Paper,
    /// The paper's claim with another kind of model or setting.
    Extension,
    /// Our own targets.
    Benchmark,
}

/// Outcome of a claim, in the order in which the parts of a headline claim decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The interval lies on the other side.
    Contradicted,
    /// The sign is open, but the paper's effect is excluded.
    Smaller,
    /// A printed value is more than two standard deviations away.
    NumberDiffers,
    /// Both 0 and the paper's effect are within the interval.
    TooSmall,
    NotTested,
    /// The interval lies on the paper's side.
    Confirmed,
}

impl Outcome {
    /// All outcomes, in the order in which counts list them.
    pub const ALL: [Outcome; 6] = [
        Outcome::Confirmed,
        Outcome::Smaller,
        Outcome::TooSmall,
        Outcome::NumberDiffers,
        Outcome::Contradicted,
        Outcome::NotTested,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Outcome::Confirmed => "confirmed",
            Outcome::Contradicted => "contradicted",
            Outcome::Smaller => "smaller",
            Outcome::TooSmall => "too small to see",
            Outcome::NumberDiffers => "number differs",
            Outcome::NotTested => "not tested",
        }
    }
}

/// Counts outcomes, as in "3 confirmed, 1 too small to see".
pub fn counts(outcomes: impl IntoIterator<Item = Outcome>) -> String {
    let all: Vec<Outcome> = outcomes.into_iter().collect();
    let number = |outcome| all.iter().filter(|other| **other == outcome).count();
    let counted = Outcome::ALL.into_iter().filter(|outcome| number(*outcome) > 0);
    counted.map(|outcome| format!("{} {}", number(outcome), outcome.word())).collect::<Vec<_>>().join(", ")
}

/// A claim and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub claim: Claim,
    /// Whether it is part of a headline claim.
    pub headline: bool,
    pub outcome: Outcome,
    pub ours: String,
    /// P-value; of a secondary claim after Holm's correction.
    pub p: Option<f64>,
    /// What the test could detect: the smallest distance of the mean from 0, or from the claim's bound, with a power of 80%; for a
    /// number of the paper, the range that confirms it.
    pub detectable: Option<String>,
    /// One number per unit.
    pub units: Vec<f64>,
}

impl Row {
    /// The number without the number of units or their spread.
    pub fn number(&self) -> &str {
        let end = [" (", ", spread"].iter().filter_map(|rest| self.ours.find(rest)).min();
        if self.units.is_empty() { &self.ours } else { &self.ours[..end.unwrap_or(self.ours.len())] }
    }

    /// The paper's numbers on the scale of ours: effects, a tested number, or a number in words.
    pub fn paper_numbers(&self) -> Vec<f64> {
        match self.claim.test {
            Test::Number { paper } => vec![paper],
            Test::Fact => self.claim.paper.parse().into_iter().collect(),
            _ => self.claim.effects.clone(),
        }
    }
}

/// A headline claim and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeadlineRow {
    pub statement: String,
    pub outcome: Outcome,
    /// Ids of its parts.
    pub parts: Vec<String>,
}

/// All claims of an experiment with their outcomes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcomes {
    pub headlines: Vec<HeadlineRow>,
    pub claims: Vec<Row>,
}

impl Outcomes {
    /// Rows of headline claims, or of secondary claims.
    pub fn rows(&self, headline: bool) -> impl Iterator<Item = &Row> {
        self.claims.iter().filter(move |row| row.headline == headline)
    }

    /// Counts of the headline claims' outcomes.
    pub fn counts(&self) -> String {
        counts(self.headlines.iter().map(|headline| headline.outcome))
    }
}

/// The verdict of an experiment.
pub fn verdict(kind: Kind, outcomes: &Outcomes, controls: &[Control], other_data: bool) -> String {
    let tested: Vec<Outcome> = match kind {
        Kind::Benchmark => outcomes.rows(true).map(|row| row.outcome).collect(),
        _ => outcomes.headlines.iter().map(|headline| headline.outcome).collect(),
    };
    let tested: Vec<Outcome> = tested.into_iter().filter(|outcome| *outcome != Outcome::NotTested).collect();
    let confirmed = tested.iter().filter(|outcome| **outcome == Outcome::Confirmed).count();
    let is_contradicted = tested.contains(&Outcome::Contradicted);
    let word = match kind {
        _ if controls.iter().any(|control| !control.holds) => return "void: a control failed".into(),
        _ if tested.is_empty() => return "not tested".into(),
        Kind::Benchmark => return format!("{confirmed} of {} targets met", tested.len()),
        Kind::Paper if confirmed == tested.len() => "reproduced",
        Kind::Paper if is_contradicted => "differs here",
        Kind::Paper if 2 * confirmed >= tested.len() => "reproduced in part",
        Kind::Paper => "inconclusive",
        Kind::Extension if confirmed == tested.len() => "carries over",
        Kind::Extension if is_contradicted => "does not carry over",
        Kind::Extension => "open",
    };
    format!("{word}{}", if other_data { ", on other data" } else { "" })
}

/// Decides every claim and every headline claim.
///
/// # Errors
/// If a claim has no evidence, evidence belongs to no claim, or there are too many headline claims.
pub fn evaluate(
    claims: Vec<Claim>,
    headlines: &[Headline],
    evidence: &[(String, Evidence)],
) -> anyhow::Result<Outcomes> {
    if headlines.len() > MAX_HEADLINES {
        bail!("{} headline claims: at most {MAX_HEADLINES} are allowed", headlines.len());
    }
    for (number, claim) in claims.iter().enumerate() {
        if claims[..number].iter().any(|other| other.id == claim.id) {
            bail!("the claim '{}' is defined twice", claim.id);
        }
        if claim.unit.is_empty() {
            bail!("the claim '{}' has no unit of inference", claim.id);
        }
    }
    if let Some((id, _)) = evidence.iter().find(|(id, _)| claims.iter().all(|claim| claim.id != *id)) {
        bail!("evidence '{id}' belongs to no claim");
    }
    let parts = |headline: &Headline| claims.iter().filter(|claim| headline.has(&claim.id)).count();
    let mut rows = vec![];
    for claim in &claims {
        let Some((_, evidence)) = evidence.iter().find(|(id, _)| *id == claim.id) else {
            bail!("the claim '{}' has no evidence", claim.id)
        };
        // A part that speaks against its headline claim is one of several that could.
        let against = headlines.iter().filter(|headline| headline.has(&claim.id)).map(parts).max();
        rows.push(decide(claim.clone(), evidence, against)?);
    }
    correct(&mut rows);
    let headlines = headlines.iter().map(|headline| {
        let own = || rows.iter().filter(|row| headline.has(&row.claim.id));
        HeadlineRow {
            statement: headline.statement.into(),
            outcome: own().map(|row| row.outcome).min().unwrap_or(Outcome::NotTested),
            parts: own().map(|row| row.claim.id.clone()).collect(),
        }
    });
    Ok(Outcomes { headlines: headlines.collect(), claims: rows })
}

/// Decides a claim on its own; `parts` is the number of parts of its headline claim, if it belongs to one.
fn decide(claim: Claim, evidence: &Evidence, parts: Option<usize>) -> anyhow::Result<Row> {
    let headline = parts.is_some();
    let row = |claim, outcome, ours: &str| Row {
        claim,
        headline,
        outcome,
        ours: ours.into(),
        p: None,
        detectable: None,
        units: vec![],
    };
    match (claim.test, evidence) {
        (_, Evidence::Missing(why)) => Ok(row(claim, Outcome::NotTested, why)),
        (Test::Fact, Evidence::Fact { holds, ours }) => {
            Ok(row(claim, if *holds { Outcome::Confirmed } else { Outcome::Contradicted }, ours))
        }
        (_, Evidence::Fact { .. }) | (Test::Fact, _) => bail!("the claim '{}' has evidence of another kind", claim.id),
        (_, Evidence::Units { values, decimals }) => match Spread::of(values) {
            Some(spread) => Ok(Row { headline, ..of_units(claim, values, &spread, *decimals, parts.unwrap_or(1)) }),
            None => {
                let single = values.first().map_or("nothing".into(), |value| fixed(*value, *decimals));
                let words = format!("{single} (one unit, no spread)");
                Ok(Row { units: values.clone(), ..row(claim, Outcome::TooSmall, &words) })
            }
        },
    }
}

/// Decides a claim about the mean of several units.
fn of_units(claim: Claim, values: &[f64], spread: &Spread, decimals: usize, parts: usize) -> Row {
    let Spread { mean, sd, n, half } = *spread;
    let (low, high) = (mean - half, mean + half);
    // Interval for outcomes that speak against the claim.
    let (least, largest) = Mean::of(values).interval(ALPHA / parts as f64);
    let by = |confirmed: bool, contradicted: bool| match (confirmed, contradicted) {
        (true, _) => Outcome::Confirmed,
        (_, true) => Outcome::Contradicted,
        _ => Outcome::TooSmall,
    };
    let interval = |mean: String| format!("{mean} ± {} ({n} units)", fixed(half, decimals));
    // With a variance of 0 any difference would be significant.
    let seen = || detectable(values, 1).filter(|&least| least > 0.0).map(three_digits);
    let p = || Some(t_test(values).map_or(if mean == 0.0 { 1.0 } else { 0.0 }, |test| test.p));
    let (outcome, ours, p, detectable) = match claim.test {
        Test::Above => {
            let outcome = match by(low > 0.0, largest < 0.0) {
                Outcome::TooSmall => open(&claim, largest),
                decided => decided,
            };
            (outcome, interval(signed(mean, decimals)), p(), seen())
        }
        Test::SameDirection => (by(mean > 0.0, largest < 0.0), interval(signed(mean, decimals)), p(), seen()),
        Test::Equivalent { margin } => {
            let outcome = by(low >= -margin && high <= margin, least > margin || largest < -margin);
            // An interval wider than the margin cannot lie within it.
            let detectable = if half > margin { Some(format!("{TOO_WIDE} than ±{margin}")) } else { seen() };
            (outcome, interval(signed(mean, decimals)), None, detectable)
        }
        Test::AtLeast { bound } => (by(low >= bound, largest < bound), interval(fixed(mean, decimals)), None, seen()),
        Test::AtMost { bound } => (by(high <= bound, least > bound), interval(fixed(mean, decimals)), None, seen()),
        Test::EachAtMost { bound } => {
            let kept = values.iter().filter(|value| **value <= bound).count();
            let outcome = if kept == n { Outcome::Confirmed } else { Outcome::Contradicted };
            (outcome, format!("{kept} of {n} (mean {})", fixed(mean, decimals)), None, None)
        }
        Test::Number { paper } => {
            // The paper's number has the deviation of one unit, our mean that of n units.
            let one = sd * (1.0 + 1.0 / n as f64).sqrt();
            let z = (paper - mean) / one;
            let z = if z.is_nan() { 0.0 } else { z };
            let ours = format!("{}, spread {}, z {z:+.1}", fixed(mean, decimals), fixed(sd, decimals));
            let ends = [-Z, Z].map(|z| fixed(mean + z * one, decimals));
            let outcome = if z.abs() < Z { Outcome::Confirmed } else { Outcome::NumberDiffers };
            (outcome, ours, None, Some(ends.join(" to ")))
        }
        Test::Fact => (Outcome::NotTested, String::new(), None, None),
    };
    Row { claim, headline: false, outcome, ours, p, detectable, units: values.to_vec() }
}

/// The outcome of a difference that is not significant, by the upper end of its interval.
fn open(claim: &Claim, high: f64) -> Outcome {
    match claim.effects.iter().copied().filter(|effect| *effect > 0.0).reduce(f64::min) {
        Some(effect) if high < effect => Outcome::Smaller,
        _ => Outcome::TooSmall,
    }
}

/// Applies Holm's correction within each family of secondary claims.
fn correct(rows: &mut [Row]) {
    let mut families: Vec<Vec<usize>> = vec![];
    for (place, row) in rows.iter().enumerate().filter(|(_, row)| !row.headline && row.claim.test == Test::Above) {
        if row.p.is_none() {
            continue;
        }
        match families.iter_mut().find(|family| rows[family[0]].claim.is_similar(&row.claim)) {
            Some(family) => family.push(place),
            None => families.push(vec![place]),
        }
    }
    for family in families {
        let p: Vec<f64> = family.iter().filter_map(|&place| rows[place].p).collect();
        for (&place, p) in family.iter().zip(holm(&p)) {
            let row = &mut rows[place];
            row.p = Some(p);
            row.detectable = detectable(&row.units, family.len()).map(three_digits);
            if p >= ALPHA || matches!(row.outcome, Outcome::Smaller | Outcome::TooSmall) {
                let (_, high) = Mean::of(&row.units).interval(ALPHA / family.len() as f64);
                row.outcome = open(&row.claim, high);
            }
        }
    }
}

/// The smallest mean difference that a two-sided t-test at 5% divided by the number of tests detects with a power of 80%.
fn detectable(values: &[f64], tests: usize) -> Option<f64> {
    let Spread { sd, n, .. } = Spread::of(values)?;
    let student = StudentsT::new(0.0, 1.0, (n - 1) as f64).ok()?;
    let critical = student.inverse_cdf(1.0 - ALPHA / (2.0 * tests.max(1) as f64));
    Some((critical + student.inverse_cdf(POWER)) * sd / (n as f64).sqrt())
}

/// Mean, standard deviation, count and half-width of the 95% interval of the mean.
pub struct Spread {
    pub mean: f64,
    pub sd: f64,
    pub n: usize,
    pub half: f64,
}

impl Spread {
    /// Returns `None` for fewer than two numbers.
    pub fn of(values: &[f64]) -> Option<Spread> {
        let n = values.len();
        if n < 2 || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let over = Mean::of(values);
        let (mean, (low, high)) = (over.mean, over.interval(ALPHA));
        Some(Spread { mean, sd: over.deviation(), n, half: (high - low) / 2.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Confirmed, Contradicted, NotTested, NumberDiffers, Smaller, TooSmall};

    const A: Headline = Headline::new("a", &["a"]);
    const BOTH: Headline = Headline::new("both", &["part *"]);

    fn claim(id: &str, test: Test) -> Claim {
        Claim::new(id, id, test).unit("function")
    }

    fn outcomes(claims: Vec<Claim>, headlines: &[Headline], evidence: &[(&str, Evidence)]) -> Outcomes {
        let evidence: Vec<(String, Evidence)> = evidence.iter().map(|(id, e)| (id.to_string(), e.clone())).collect();
        evaluate(claims, headlines, &evidence).unwrap()
    }

    fn outcome(claim: Claim, evidence: Evidence) -> Outcome {
        outcomes(vec![claim], &[A], &[("a", evidence)]).headlines[0].outcome
    }

    #[test]
    fn a_difference_has_one_of_four_outcomes() {
        let above = || claim("a", Test::Above);
        let values = |mean: f64| Evidence::units([mean - 0.1, mean, mean + 0.1, mean]);
        assert_eq!(outcome(above(), values(1.0)), Confirmed);
        assert_eq!(outcome(above(), values(-1.0)), Contradicted);
        // Half of the interval is 3.182 * 0.0816 / 2 = 0.13.
        assert_eq!(outcome(above(), values(0.0)), TooSmall);
        assert_eq!(outcome(above().effects([0.1, 2.0]), values(0.0)), TooSmall);
        assert_eq!(outcome(above().effects([0.2, 2.0]), values(0.0)), Smaller);
        assert_eq!(outcome(above().effects([-0.2, 2.0]), values(0.0)), Smaller);
        assert_eq!(outcome(above(), Evidence::units([1.0])), TooSmall);
    }

    #[test]
    fn secondary_differences_are_corrected_within_their_family() {
        // A single test of these four numbers has p = 0.035: significant alone, but not as one of two.
        let values = [1.0, 2.0, 3.0, 1.0];
        let p = t_test(&values).unwrap().p;
        assert!((0.025..0.05).contains(&p), "{p}");
        let evidence = [("a", Evidence::units(values)), ("b", Evidence::units(values))];
        let two = |other: Claim, headlines: &[Headline]| {
            let all = outcomes(vec![claim("a", Test::Above), other], headlines, &evidence);
            all.claims.iter().map(|row| row.outcome).collect::<Vec<_>>()
        };
        assert_eq!(two(claim("b", Test::Above), &[]), [TooSmall, TooSmall]);
        assert_eq!(two(claim("b", Test::Above).effects([3.0]), &[]), [TooSmall, TooSmall]);
        // Other families, and headline claims, have no part in the correction.
        assert_eq!(two(claim("b", Test::Above).unit("fold"), &[]), [Confirmed, Confirmed]);
        assert_eq!(two(claim("b", Test::Above), &[A]), [Confirmed, Confirmed]);
    }

    #[test]
    fn a_headline_claim_needs_all_of_its_parts() {
        let parts = |evidence: [Evidence; 2]| {
            let [first, second] = evidence;
            let claims = vec![claim("part 1", Test::Above).effects([9.0]), claim("part 2", Test::Above)];
            outcomes(claims, &[BOTH], &[("part 1", first), ("part 2", second)]).headlines[0].outcome
        };
        let values = |mean: f64| Evidence::units([mean - 1.0, mean, mean + 1.0, mean]);
        assert_eq!(parts([values(9.0), values(9.0)]), Confirmed);
        assert_eq!(parts([values(9.0), values(0.0)]), TooSmall);
        assert_eq!(parts([values(0.0), values(0.0)]), Smaller);
        assert_eq!(parts([values(-9.0), values(9.0)]), Contradicted);
        assert_eq!(parts([Evidence::missing("no data"), values(9.0)]), NotTested);
        // Significant alone (p = 0.035), but one of two parts may contradict only at 2.5%.
        assert_eq!(parts([values(99.0), Evidence::units([-1.0, -2.0, -3.0, -1.0])]), TooSmall);
        assert_eq!(outcomes(vec![], &[BOTH], &[]).headlines[0].outcome, NotTested);
    }

    #[test]
    fn other_tests_look_at_the_interval_or_the_spread() {
        let near = || Evidence::units([0.9, 1.0, 1.1, 1.0]);
        for (test, expected) in [
            (Test::Equivalent { margin: 2.0 }, Confirmed),
            (Test::Equivalent { margin: 0.5 }, Contradicted),
            (Test::Equivalent { margin: 1.0 }, TooSmall),
            (Test::AtLeast { bound: 0.5 }, Confirmed),
            (Test::AtLeast { bound: 1.0 }, TooSmall),
            (Test::AtLeast { bound: 2.0 }, Contradicted),
            (Test::AtMost { bound: 2.0 }, Confirmed),
            (Test::AtMost { bound: 0.5 }, Contradicted),
            (Test::EachAtMost { bound: 1.1 }, Confirmed),
            (Test::EachAtMost { bound: 1.0 }, Contradicted),
            (Test::Number { paper: 1.1 }, Confirmed),
            (Test::Number { paper: 2.0 }, NumberDiffers),
        ] {
            assert_eq!(outcome(claim("a", test), near()), expected, "{test:?}");
        }
        let same = |mean: f64| outcome(claim("a", Test::SameDirection), Evidence::units([mean - 1.0, mean + 1.0]));
        assert_eq!([same(0.1), same(-0.1), same(-99.0)], [Confirmed, TooSmall, Contradicted]);
        let fact = |holds| outcome(claim("a", Test::Fact), Evidence::fact(holds, "1"));
        assert_eq!([fact(true), fact(false)], [Confirmed, Contradicted]);
    }

    #[test]
    fn the_detectable_difference_is_that_of_tables() {
        // 10 units with standard deviation 1, one test: t(0.975, 9) = 2.2622, t(0.8, 9) = 0.8834.
        let unit = (0.9_f64).sqrt();
        let values: Vec<f64> = (0..10).map(|i| if i % 2 == 0 { unit } else { -unit }).collect();
        let least = detectable(&values, 1).unwrap();
        assert!((least - (2.2622 + 0.8834) / 10f64.sqrt()).abs() < 1e-3, "{least}");
        assert!(detectable(&values, 10).unwrap() > least);
    }

    #[test]
    fn every_test_of_units_reports_what_it_could_detect() {
        let seen = |test, values: &[f64]| {
            let evidence = vec![("a".to_owned(), Evidence::rounded(values.to_vec(), 1))];
            evaluate(vec![claim("a", test)], &[A], &evidence).unwrap().claims[0].detectable.clone()
        };
        // Five units with deviation 1: (t(0.975, 4) + t(0.8, 4)) / sqrt(5) = (2.776 + 0.941) / 2.236.
        let values = [0.0, 0.0, 1.0, 2.0, 2.0];
        for test in
            [Test::Above, Test::Equivalent { margin: 2.0 }, Test::AtLeast { bound: 1.0 }, Test::AtMost { bound: 1.0 }]
        {
            assert_eq!(seen(test, &values).as_deref(), Some("1.66"), "{test:?}");
        }
        // Half of the interval is 2.776 / sqrt(5) = 1.24: no mean could have been equivalent.
        assert_eq!(seen(Test::Equivalent { margin: 1.0 }, &values).as_deref(), Some("interval wider than ±1"));
        // 1 ± 2 sqrt(1 + 1/5).
        assert_eq!(seen(Test::Number { paper: 1.0 }, &values).as_deref(), Some("-1.2 to 3.2"));
        assert_eq!(seen(Test::Above, &values[..1]), None);
    }

    #[test]
    fn verdicts_follow_the_rule() {
        let of = |outcomes: &[Outcome]| Outcomes {
            headlines: outcomes
                .iter()
                .map(|&outcome| HeadlineRow { statement: String::new(), outcome, parts: vec![] })
                .collect(),
            claims: vec![],
        };
        let paper = |outcomes: &[Outcome]| verdict(Kind::Paper, &of(outcomes), &[], false);
        assert_eq!(paper(&[Confirmed, Confirmed, NotTested]), "reproduced");
        assert_eq!(paper(&[Confirmed, TooSmall]), "reproduced in part");
        assert_eq!(paper(&[Confirmed, Smaller, NumberDiffers]), "inconclusive");
        assert_eq!(paper(&[Confirmed, Confirmed, Contradicted]), "differs here");
        assert_eq!([paper(&[NotTested]), paper(&[])], ["not tested", "not tested"]);
        assert_eq!(verdict(Kind::Paper, &of(&[Confirmed]), &[], true), "reproduced, on other data");
        let extension = |outcome| verdict(Kind::Extension, &of(&[outcome]), &[], false);
        assert_eq!([Confirmed, TooSmall, Contradicted].map(extension), ["carries over", "open", "does not carry over"]);
        let control = Control { description: "a".into(), expected: "b".into(), ours: "c".into(), holds: false };
        assert_eq!(verdict(Kind::Paper, &of(&[Confirmed]), &[control], false), "void: a control failed");
        let targets = vec![claim("part 1", Test::Fact), claim("part 2", Test::Fact)];
        let met = outcomes(
            targets,
            &[BOTH],
            &[("part 1", Evidence::fact(true, "1")), ("part 2", Evidence::fact(false, "2"))],
        );
        assert_eq!(verdict(Kind::Benchmark, &met, &[], false), "1 of 2 targets met");
        assert_eq!(counts([Contradicted, Confirmed, Confirmed]), "2 confirmed, 1 contradicted");
    }

    #[test]
    fn claims_and_evidence_belong_together() {
        let fact = || Evidence::fact(true, "1");
        let error = |claims: Vec<Claim>, evidence: &[(String, Evidence)]| {
            evaluate(claims, &[], evidence).unwrap_err().to_string()
        };
        assert!(error(vec![claim("a", Test::Fact)], &[]).contains("has no evidence"));
        assert!(error(vec![], &[("a".into(), fact())]).contains("belongs to no claim"));
        assert!(error(vec![claim("a", Test::Above)], &[("a".into(), fact())]).contains("another kind"));
        let twice = vec![claim("a", Test::Fact), claim("a", Test::Fact)];
        assert!(error(twice, &[("a".into(), fact())]).contains("twice"));
        assert!(error(vec![Claim::new("a", "a", Test::Above)], &[]).contains("no unit"));
        assert!(evaluate(vec![], &[A; 4], &[]).unwrap_err().to_string().contains("at most 3"));
    }
}
