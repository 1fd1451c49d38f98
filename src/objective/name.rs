//! Names of objectives. A name parses, prints and appears in results in the same form.

use super::pairwise::Assignment;
use super::{Objective, ObjectiveEntry};
use crate::error::{Error, Result};
use crate::internal::suggest::nearest;
use crate::metric::{self, METRICS, MetricEntry};
use crate::name::{Name, Named, Parameter, Parameters, corrected, plain};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Names of objectives in other tools.
const ELSEWHERE: [(&str, &str); 9] = [
    ("rank:ndcg", "lambdarank:ndcg"),
    ("rank:map", "lambdarank:map"),
    ("rank:pairwise", "ranknet"),
    ("pairwise", "ranknet"),
    ("pairlogit", "ranknet"),
    ("lambdamart", "lambdarank:ndcg"),
    ("lambdaloss", "ndcg-loss2++:mu=5"),
    ("arp-loss", "arp-loss2"),
    ("ndcg-loss", "ndcg-loss2"),
];

/// Positive numbers.
pub(super) const POSITIVE: RangeInclusive<f64> = f64::MIN_POSITIVE..=1e6;

/// Parameters of all pair losses.
pub(super) const PAIR_PARAMETERS: &[Parameter] = &[
    Parameter::number("sigma", 1.0, POSITIVE, "steepness of the sigmoid"),
    Parameter::optional_whole("gaussian", 1.0..=1e6, "rankings sampled by Gaussian noise on scores"),
    Parameter::optional_whole("plackett-luce", 1.0..=1e6, "rankings sampled by the Plackett-Luce model"),
    Parameter::number("noise", 1.0, POSITIVE, "standard deviation of the Gaussian noise"),
];

/// Parses the source of the ranks that pair weights depend on.
pub(super) fn assignment(parameters: &Parameters) -> Result<Assignment> {
    let samples = |key| parameters.given(key).map(|samples| samples as usize);
    match (samples("gaussian"), samples("plackett-luce"), parameters.flag("noise")) {
        (None, None, false) => Ok(Assignment::Hard),
        (Some(samples), None, _) => Ok(Assignment::Gaussian { samples, scale: parameters.number("noise") }),
        (None, Some(samples), false) => Ok(Assignment::PlackettLuce { samples }),
        (Some(_), Some(_), _) => Err(parameters.wrong("use either gaussian or plackett-luce, not both")),
        _ => Err(parameters.wrong("noise belongs to gaussian=SAMPLES")),
    }
}

impl Objective {
    /// Parses a name such as `ranknet`, `ndcg-loss2++@10:mu=5` or `lambdarank:map:sigma=2`.
    ///
    /// # Errors
    /// Returns an error for an unknown objective, metric or parameter. It suggests the likely name or lists the valid
    /// ones.
    ///
    /// ```
    /// let error = burnrank::Objective::parse("lambdarank:ncdg@10").unwrap_err();
    /// assert_eq!(error.to_string(), "unknown objective 'lambdarank:ncdg@10': did you mean 'lambdarank:ndcg@10'?");
    /// ```
    pub fn parse(name: &str) -> Result<Self> {
        Self::read(name).map_err(|error| match suggestion(name) {
            Some(suggestion) => Error::Config(format!("unknown objective '{name}': did you mean '{suggestion}'?")),
            None => error,
        })
    }

    fn read(text: &str) -> Result<Self> {
        let name = Name::split::<ObjectiveEntry>(text)?;
        let row: &ObjectiveEntry = Named::find(&name.head).ok_or_else(|| ObjectiveEntry::unknown(text, &name.head))?;
        row.loss(&name.parameters(row)?).map(Objective::of)
    }
}

/// Returns a valid name that is a few typing mistakes away, or the equivalent of another tool's name.
fn suggestion(name: &str) -> Option<String> {
    let lower = plain(name);
    if let Some((_, ours)) = ELSEWHERE.iter().find(|(theirs, _)| *theirs == lower) {
        return Some((*ours).to_owned());
    }
    let metrics = || METRICS.iter().flat_map(MetricEntry::names);
    let words = MetricEntry::words();
    let of_metric = |word: &str| {
        let near = || nearest(word, ObjectiveEntry::words().into_iter().chain(metrics()).chain(words.iter().copied()));
        metric::with_cutoff(word).or_else(|| near().map(str::to_owned))
    };
    // A metric alone means LambdaRank for it.
    let alone = format!("lambdarank:{lower}");
    [corrected::<ObjectiveEntry>(name, of_metric), alone].into_iter().find(|name| Objective::read(name).is_ok())
}

impl FromStr for Objective {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Objective::parse(name)
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Serialize for Objective {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

impl<'de> Deserialize<'de> for Objective {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Objective::parse(&name).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identities() {
        for name in [
            "ranknet",
            "ranknet:ties",
            "ranknet@10:ties:sigma=2",
            "arp-loss1",
            "arp-loss2@3",
            "ndcg-loss1",
            "ndcg-loss2",
            "ndcg-loss2++:mu=5",
            "ndcg-loss2++@5:mu=0.5",
            "ndcg-loss2-topk",
            "ndcg-loss2-topk@10:sigma=2",
            "lambdarank:ndcg",
            "lambdarank:ndcg@10",
            "lambdarank:map:rel=2",
            "lambdarank:mrr:sigma=0.5",
            "ndcg-loss2:gaussian=8:noise=0.5",
            "ndcg-loss2++:mu=10:plackett-luce=4",
            "lambdarank:map:springsmooth:sigma=2",
            "lambdarank:ndcg@10:localgradient:margin=0.5",
            "lambdarank:mrr:rel=2:localcost",
            "lambdarank:err:discretebounded",
            "lambdarank:mrr:swap",
            "lambdarank:mrr:rel=2@10:swap:sigma=0.5",
            "ndcg-loss2++@5:mu=0",
            "ranknet:sigma=1e-300",
        ] {
            assert_eq!(Objective::parse(name).unwrap().name(), name);
        }
        assert_eq!(Objective::parse("LambdaRank:nDCG@10").unwrap().name(), "lambdarank:ndcg@10");
        assert_eq!(Objective::parse("lambdarank:map:RankNetWeightPairs").unwrap().name(), "lambdarank:map");
        assert_eq!(Objective::parse("lambdarank:SpringSmooth").unwrap().name(), "lambdarank:ndcg:springsmooth");
        assert_eq!(Objective::parse("lambdarank").unwrap().name(), "lambdarank:ndcg");
        assert_eq!(Objective::parse("ndcg_loss2++@5").unwrap().name(), "ndcg-loss2++@5:mu=5");
        assert_eq!(Objective::parse("ranknet:ties@10").unwrap().name(), "ranknet@10:ties");
        assert_eq!(
            Objective::parse("lambdarank:sigma=2:map:rel=2@5").unwrap().name(),
            "lambdarank:map:rel=2@5:sigma=2"
        );
        assert_eq!(Objective::parse("ndcg-loss2++").unwrap().name(), "ndcg-loss2++:mu=5");
    }

    #[test]
    fn invalid_names_have_specific_errors() {
        for (name, expected) in [
            ("nonsense-net", "expected ranknet"),
            ("ranknet@0", "cutoff"),
            ("ranknet:mu=5", "mu belongs to ndcg-loss2++"),
            ("ranknet:nonsense", "unknown parameter 'nonsense'"),
            ("lambdarank@10", "lambdarank:ndcg@10"),
            ("lambdarank:nonsense", "nonsense"),
            ("arp-loss1:sigma=0", "sigma=0"),
            ("arp-loss1:sigma=nan", "sigma=nan"),
            ("ndcg-loss2:gaussian=1.5", "gaussian=1.5"),
            ("ndcg-loss2:noise=1", "noise belongs"),
            ("lambdarank:map:margin=1", "margin belongs"),
            ("ranknet:margin=1", "margin belongs"),
            ("ranknet:springsmooth", "springsmooth belongs to lambdarank"),
            ("ranknet:ties:ties", "ties is given twice"),
            ("ranknet:ties=1", "expected no value"),
            ("lambdarank:map:localcost:springsmooth", "construction is given twice"),
            ("lambdarank:map:rel=1:rel=2", "rel is given twice"),
            ("lambdarank:ndcg:sigma=1:sigma=2", "sigma is given twice"),
            ("lambdarank:mrr:swap:springsmooth", "no pair weights: remove swap"),
            ("listnet@5", "listnet has no cutoff"),
            ("hinge:sigma=2", "belongs to softrank"),
            ("lambdarank:map:localcost:sigma=2", "no sigmoid"),
            ("lambdarank:map:springsmooth:gaussian=4", "no pair weights"),
            ("", "unknown"),
            ("lambdarank:nDCG@x", "cutoff"),
        ] {
            let message = Objective::parse(name).unwrap_err().to_string();
            assert!(message.contains(expected), "{name}: {message}");
        }
    }

    #[test]
    fn mistyped_names_are_corrected() {
        for (wrong, meant) in [
            ("lamdarank:ndcg", "lambdarank:ndcg"),
            ("lambdarank:ncdg", "lambdarank:ndcg"),
            ("lambdarank:ndcg10", "lambdarank:ndcg@10"),
            ("lambda_rank:NDGC@10:sigam=2", "lambdarank:ndcg@10:sigma=2"),
            ("ndgc-loss2", "ndcg-loss2"),
            ("ndcg-loss3", "ndcg-loss1"),
            ("ranknet:tie", "ranknet:ties"),
            ("lambdarank:map:sprinsmooth", "lambdarank:map:springsmooth"),
            ("ndcg@10", "lambdarank:ndcg@10"),
            ("rank:ndcg", "lambdarank:ndcg"),
            ("rank:pairwise", "ranknet"),
        ] {
            let message = Objective::parse(wrong).unwrap_err().to_string();
            assert_eq!(message, format!("unknown objective '{wrong}': did you mean '{meant}'?"));
            assert!(Objective::parse(meant).is_ok(), "{meant}");
        }
        for (theirs, ours) in ELSEWHERE {
            assert!(Objective::parse(theirs).is_err() && Objective::parse(ours).is_ok(), "{theirs} {ours}");
        }
    }
}
