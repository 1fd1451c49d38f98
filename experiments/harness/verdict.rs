//! The rules for claims and verdicts.
//!
//! Reproduced: every primary claim holds. Reproduced in part: at least half of them hold and none is reversed. Not reproduced:
//! otherwise. A failed control invalidates the whole experiment.

use super::claim::{Claim, Control, Evidence, Test};
use anyhow::bail;
use burnrank::analysis::significance::{holm, t_test};
use burnrank::internal::text::{fixed, p_value, signed, three_digits};
use burnrank::numeric::Mean;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Family-wise error rate.
const ALPHA: f64 = 0.05;
/// Power for the smallest detectable difference.
const POWER: f64 = 0.8;
/// Number of standard deviations by which the paper's number may differ from ours.
const Z: f64 = 2.0;

/// Text for a claim that could not have held with the variance of its units.
pub const CANNOT_HOLD: &str = "cannot hold";

/// The rule, as printed in reports.
pub const RULE: &str = "Reproduced: every primary claim holds. Reproduced in part: at least half of them hold and none is \
     reversed. Not reproduced: otherwise. Claims that need data which was not given are not counted. Where a control fails, \
     nothing is concluded. A unit is taken as one independent sample: seeds and queries are averaged within it first.";

/// Result of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Holds,
    Undecided,
    Reversed,
    NotTested,
}

impl Outcome {
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Holds => "holds",
            Outcome::Undecided => "undecided",
            Outcome::Reversed => "reversed",
            Outcome::NotTested => "not tested",
        }
    }
}

/// A claim and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    pub claim: Claim,
    pub outcome: Outcome,
    pub ours: String,
    /// P-value after Holm's correction.
    pub p: Option<f64>,
    /// What the test could detect: the smallest distance of the mean from 0, or from the claim's bound, with a power of 80%; for a
    /// number of the paper, the range that would have held; or that nothing could have held.
    pub detectable: Option<String>,
    /// One number per unit.
    pub units: Vec<f64>,
}

/// Verdict over all primary claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Reproduced,
    InPart,
    NotReproduced,
    NotTested,
    Void,
}

/// Numbers of claims that hold, are undecided, are reversed, and were not tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    pub holds: usize,
    pub undecided: usize,
    pub reversed: usize,
    pub not_tested: usize,
}

impl Counts {
    /// Counts the primary claims, or the others.
    pub fn of(judged: &[Judged], primary: bool) -> Counts {
        let count = |outcome| judged.iter().filter(|j| j.claim.primary == primary && j.outcome == outcome).count();
        Counts {
            holds: count(Outcome::Holds),
            undecided: count(Outcome::Undecided),
            reversed: count(Outcome::Reversed),
            not_tested: count(Outcome::NotTested),
        }
    }

    /// Text such as "3 hold, 1 undecided, 0 reversed".
    pub fn words(self) -> String {
        let Counts { holds, undecided, reversed, not_tested } = self;
        let more = if not_tested > 0 { format!(", {not_tested} not tested") } else { String::new() };
        format!("{holds} hold, {undecided} undecided, {reversed} reversed{more}")
    }
}

impl Verdict {
    pub fn of(judged: &[Judged], controls: &[Control]) -> Verdict {
        let Counts { holds, undecided, reversed, .. } = Counts::of(judged, true);
        let tested = holds + undecided + reversed;
        match () {
            () if controls.iter().any(|control| !control.holds) => Verdict::Void,
            () if tested == 0 => Verdict::NotTested,
            () if holds == tested => Verdict::Reproduced,
            () if reversed == 0 && 2 * holds >= tested => Verdict::InPart,
            () => Verdict::NotReproduced,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::InPart => "reproduced in part",
            Verdict::NotReproduced => "not reproduced",
            Verdict::NotTested => "not tested",
            Verdict::Void => "void: a control failed",
        }
    }
}

/// Returns every claim with its result, in the order of the claims.
///
/// # Errors
/// If a claim has no evidence, or evidence belongs to no claim.
pub fn evaluate(claims: Vec<Claim>, evidence: &[(String, Evidence)]) -> anyhow::Result<Vec<Judged>> {
    for (number, claim) in claims.iter().enumerate() {
        if claims[..number].iter().any(|other| other.id == claim.id) {
            bail!("the claim '{}' stands twice", claim.id);
        }
        if claim.unit.is_empty() {
            bail!("the claim '{}' does not say what one sample is", claim.id);
        }
    }
    if let Some((id, _)) = evidence.iter().find(|(id, _)| claims.iter().all(|claim| claim.id != *id)) {
        bail!("evidence '{id}' belongs to no claim");
    }
    let mut judged = vec![];
    for claim in claims {
        let Some((_, evidence)) = evidence.iter().find(|(id, _)| *id == claim.id) else {
            bail!("the claim '{}' has no evidence", claim.id)
        };
        judged.push(alone(claim, evidence)?);
    }
    for primary in [true, false] {
        correct(&mut judged, primary);
    }
    Ok(judged)
}

/// Tests a claim on its own; the p-value is not yet corrected.
fn alone(claim: Claim, evidence: &Evidence) -> anyhow::Result<Judged> {
    let told = |claim, outcome, ours: &str| Judged {
        claim,
        outcome,
        ours: ours.into(),
        p: None,
        detectable: None,
        units: vec![],
    };
    match (claim.test, evidence) {
        (_, Evidence::Missing(why)) => Ok(told(claim, Outcome::NotTested, why)),
        (Test::Fact, Evidence::Fact { holds, ours }) => {
            Ok(told(claim, if *holds { Outcome::Holds } else { Outcome::Reversed }, ours))
        }
        (_, Evidence::Fact { .. }) => bail!("the claim '{}' has evidence of another kind", claim.id),
        (_, Evidence::Units { values, decimals }) => match Spread::of(values) {
            Some(spread) => of_units(claim, values, &spread, *decimals),
            None => {
                let single = values.first().map_or("nothing".into(), |value| fixed(*value, *decimals));
                let words = format!("{single} (one unit, no spread)");
                Ok(Judged { units: values.clone(), ..told(claim, Outcome::Undecided, &words) })
            }
        },
    }
}

/// Tests a claim about the mean of several units.
fn of_units(claim: Claim, values: &[f64], spread: &Spread, decimals: usize) -> anyhow::Result<Judged> {
    let Spread { mean, sd, n, half } = *spread;
    let (low, high) = (mean - half, mean + half);
    let by = |holds: bool, reversed: bool| match (holds, reversed) {
        (true, _) => Outcome::Holds,
        (_, true) => Outcome::Reversed,
        _ => Outcome::Undecided,
    };
    let interval = |mean: String| format!("{mean} ± {} ({n} units)", fixed(half, decimals));
    // With a variance of 0 any difference would be significant.
    let seen = || detectable(values, 1).filter(|&least| least > 0.0).map(three_digits);
    let (outcome, ours, p, detectable) = match claim.test {
        Test::Fact => bail!("the claim '{}' has evidence of another kind", claim.id),
        Test::Above => {
            let p = t_test(values).map_or(if mean == 0.0 { 1.0 } else { 0.0 }, |test| test.p);
            // Decided, with its detectable difference, once all p-values are known.
            (by(mean > 0.0, mean < 0.0), interval(signed(mean, decimals)), Some(p), None)
        }
        Test::Equivalent { margin } => {
            let outcome = by(low >= -margin && high <= margin, low > margin || high < -margin);
            // An interval wider than the margin cannot lie within it.
            let detectable = if half > margin { Some(format!("{CANNOT_HOLD}: ± over {margin}")) } else { seen() };
            (outcome, interval(signed(mean, decimals)), None, detectable)
        }
        Test::AtLeast { bound } => (by(low >= bound, high < bound), interval(fixed(mean, decimals)), None, seen()),
        Test::AtMost { bound } => (by(high <= bound, low > bound), interval(fixed(mean, decimals)), None, seen()),
        Test::Number { paper } => {
            // The paper's number has the deviation of one unit, our mean that of n units.
            let one = sd * (1.0 + 1.0 / n as f64).sqrt();
            let z = (paper - mean) / one;
            let z = if z.is_nan() { 0.0 } else { z };
            let ours = format!("{}, spread {}, z {z:+.1}", fixed(mean, decimals), fixed(sd, decimals));
            let ends = [-Z, Z].map(|z| fixed(mean + z * one, decimals));
            (by(z.abs() < Z, true), ours, None, Some(ends.join(" to ")))
        }
    };
    Ok(Judged { claim, outcome, ours, p, detectable, units: values.to_vec() })
}

/// Applies Holm's correction to the tests of a family and computes what each of them could detect.
fn correct(judged: &mut [Judged], primary: bool) {
    let mut family: Vec<&mut Judged> =
        judged.iter_mut().filter(|j| j.claim.primary == primary && j.p.is_some()).collect();
    let p: Vec<f64> = family.iter().filter_map(|j| j.p).collect();
    let tests = p.len();
    for (judged, p) in family.iter_mut().zip(holm(&p)) {
        judged.p = Some(p);
        if p >= ALPHA {
            judged.outcome = Outcome::Undecided;
        }
        judged.detectable = detectable(&judged.units, tests).map(three_digits);
    }
}

/// The smallest mean difference that a two-sided t-test at 5% divided by the number of tests detects with a power of 80%.
fn detectable(values: &[f64], tests: usize) -> Option<f64> {
    let Spread { sd, n, .. } = Spread::of(values)?;
    let student = StudentsT::new(0.0, 1.0, (n - 1) as f64).ok()?;
    let certain = student.inverse_cdf(1.0 - ALPHA / (2.0 * tests.max(1) as f64));
    Some((certain + student.inverse_cdf(POWER)) * sd / (n as f64).sqrt())
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
        let (mean, (low, high)) = (over.mean, over.interval(0.05));
        Some(Spread { mean, sd: over.deviation(), n, half: (high - low) / 2.0 })
    }
}

/// Formats a p-value for tables.
pub fn p_cell(judged: &Judged) -> String {
    judged.p.map_or("-".into(), |p| p_value(Some(p)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(id: &str, test: Test) -> Claim {
        Claim::primary(id, id, test).unit("function")
    }

    fn outcomes(claims: Vec<Claim>, evidence: &[(&str, Evidence)]) -> Vec<Outcome> {
        let evidence: Vec<(String, Evidence)> = evidence.iter().map(|(id, e)| (id.to_string(), e.clone())).collect();
        evaluate(claims, &evidence).unwrap().iter().map(|judged| judged.outcome).collect()
    }

    #[test]
    fn differences_are_decided_after_holm() {
        // A single test of these four numbers has p = 0.035: it holds alone, but not as one of two.
        let values = [1.0, 2.0, 3.0, 1.0];
        let p = t_test(&values).unwrap().p;
        assert!((0.025..0.05).contains(&p), "{p}");
        assert_eq!(outcomes(vec![claim("a", Test::Above)], &[("a", Evidence::units(values))]), [Outcome::Holds]);
        let two = vec![claim("a", Test::Above), claim("b", Test::Above)];
        let found = outcomes(two, &[("a", Evidence::units(values)), ("b", Evidence::units(values))]);
        assert_eq!(found, [Outcome::Undecided; 2]);
        let less = values.map(|value| -value);
        assert_eq!(outcomes(vec![claim("a", Test::Above)], &[("a", Evidence::units(less))]), [Outcome::Reversed]);
        // Secondary claims do not affect the correction of primary ones.
        let mixed = vec![claim("a", Test::Above), Claim { primary: false, ..claim("b", Test::Above) }];
        let found = outcomes(mixed, &[("a", Evidence::units(values)), ("b", Evidence::units(values))]);
        assert_eq!(found, [Outcome::Holds; 2]);
    }

    #[test]
    fn other_tests_look_at_the_interval_or_the_spread() {
        let near = || Evidence::units([0.9, 1.0, 1.1, 1.0]);
        for (test, expected) in [
            (Test::Equivalent { margin: 2.0 }, Outcome::Holds),
            (Test::Equivalent { margin: 0.5 }, Outcome::Reversed),
            (Test::Equivalent { margin: 1.0 }, Outcome::Undecided),
            (Test::AtLeast { bound: 0.5 }, Outcome::Holds),
            (Test::AtLeast { bound: 1.0 }, Outcome::Undecided),
            (Test::AtLeast { bound: 2.0 }, Outcome::Reversed),
            (Test::AtMost { bound: 2.0 }, Outcome::Holds),
            (Test::AtMost { bound: 0.5 }, Outcome::Reversed),
            (Test::Number { paper: 1.1 }, Outcome::Holds),
            (Test::Number { paper: 2.0 }, Outcome::Reversed),
        ] {
            assert_eq!(outcomes(vec![claim("a", test)], &[("a", near())]), [expected], "{test:?}");
        }
        assert_eq!(outcomes(vec![claim("a", Test::Above)], &[("a", Evidence::units([1.0]))]), [Outcome::Undecided]);
        let fact = |holds| outcomes(vec![claim("a", Test::Fact)], &[("a", Evidence::fact(holds, "1"))]);
        assert_eq!((fact(true), fact(false)), (vec![Outcome::Holds], vec![Outcome::Reversed]));
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
    fn every_test_of_units_says_what_it_could_have_seen() {
        let seen = |test, values: &[f64]| {
            let evidence = vec![("a".to_owned(), Evidence::rounded(values.to_vec(), 1))];
            evaluate(vec![claim("a", test)], &evidence).unwrap()[0].detectable.clone()
        };
        // Five units with deviation 1: (t(0.975, 4) + t(0.8, 4)) / sqrt(5) = (2.776 + 0.941) / 2.236.
        let values = [0.0, 0.0, 1.0, 2.0, 2.0];
        for test in
            [Test::Above, Test::Equivalent { margin: 2.0 }, Test::AtLeast { bound: 1.0 }, Test::AtMost { bound: 1.0 }]
        {
            assert_eq!(seen(test, &values).as_deref(), Some("1.66"), "{test:?}");
        }
        // Half of the interval is 2.776 / sqrt(5) = 1.24: no mean could have been equivalent.
        assert_eq!(seen(Test::Equivalent { margin: 1.0 }, &values).as_deref(), Some("cannot hold: ± over 1"));
        // 1 ± 2 sqrt(1 + 1/5).
        assert_eq!(seen(Test::Number { paper: 1.0 }, &values).as_deref(), Some("-1.2 to 3.2"));
        assert_eq!(seen(Test::Above, &values[..1]), None);
    }

    #[test]
    fn verdicts_follow_the_rule() {
        let verdict = |outcomes: &[Outcome]| {
            let judged = |&outcome: &Outcome| Judged {
                claim: claim("a", Test::Fact),
                outcome,
                ours: String::new(),
                p: None,
                detectable: None,
                units: vec![],
            };
            Verdict::of(&outcomes.iter().map(judged).collect::<Vec<_>>(), &[])
        };
        use Outcome::{Holds, NotTested, Reversed, Undecided};
        assert_eq!(verdict(&[Holds, Holds, NotTested]), Verdict::Reproduced);
        assert_eq!(verdict(&[Holds, Undecided]), Verdict::InPart);
        assert_eq!(verdict(&[Holds, Undecided, Undecided]), Verdict::NotReproduced);
        assert_eq!(verdict(&[Holds, Holds, Holds, Reversed]), Verdict::NotReproduced);
        assert_eq!(verdict(&[NotTested]), Verdict::NotTested);
        assert_eq!(verdict(&[]), Verdict::NotTested);
        let control = Control { description: "a".into(), expected: "b".into(), ours: "c".into(), holds: false };
        assert_eq!(Verdict::of(&[], &[control]), Verdict::Void);
    }

    #[test]
    fn claims_and_evidence_belong_together() {
        let fact = || Evidence::fact(true, "1");
        let error =
            |claims: Vec<Claim>, evidence: &[(String, Evidence)]| evaluate(claims, evidence).unwrap_err().to_string();
        assert!(error(vec![claim("a", Test::Fact)], &[]).contains("has no evidence"));
        assert!(error(vec![], &[("a".into(), fact())]).contains("belongs to no claim"));
        assert!(error(vec![claim("a", Test::Above)], &[("a".into(), fact())]).contains("another kind"));
        let twice = vec![claim("a", Test::Fact), claim("a", Test::Fact)];
        assert!(error(twice, &[("a".into(), fact())]).contains("twice"));
        assert!(error(vec![Claim::primary("a", "a", Test::Above)], &[]).contains("one sample"));
    }
}
