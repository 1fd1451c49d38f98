//! An objective's name is its identity: it parses, prints and appears in results the same way.

use super::lambda_field::Construction;
use super::pairwise::Assignment;
pub(super) use super::pairwise::number;
use super::{KNOWN_OBJECTIVES, KnownObjective, Objective};
use crate::error::{Error, Result};
use crate::metric::{self, KNOWN_METRICS, KnownMetric};
use crate::suggest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// What other tools call some of them.
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

/// What every pair loss takes.
const OF_PAIRS: [&str; 4] = ["sigma", "gaussian", "plackett-luce", "noise"];
/// What metrics take.
const OF_METRICS: [&str; 5] = ["linear", "rel", "max", "sum", "ties"];

/// The names of all objectives with what may follow them, for messages.
fn known() -> String {
    KNOWN_OBJECTIVES.iter().map(KnownObjective::pattern).collect::<Vec<_>>().join(", ")
}

impl Objective {
    /// Reads a name such as `ranknet`, `ndcg-loss2++@10:mu=5` or `lambdarank:map:sigma=2`.
    ///
    /// # Errors
    /// An unknown objective, metric or setting; the message says what was likely meant, or lists the known ones.
    ///
    /// ```
    /// let error = burnrank::Objective::parse("lambdarank:ncdg@10").unwrap_err();
    /// assert_eq!(error.to_string(), "unknown objective 'lambdarank:ncdg@10': did you mean 'lambdarank:ndcg@10'?");
    /// ```
    pub fn parse(name: &str) -> Result<Self> {
        Self::read(name).map_err(|error| match suggestion(name) {
            Some(meant) => Error::Config(format!("unknown objective '{name}': did you mean '{meant}'?")),
            None => error,
        })
    }

    fn read(name: &str) -> Result<Self> {
        let wrong = |what: String| Error::Config(format!("objective '{name}': {what}"));
        let lower = name.trim().to_ascii_lowercase();
        let mut parts = Parts::split(&lower).map_err(wrong)?;
        let Some(row) = KNOWN_OBJECTIVES.iter().find(|row| row.name == parts.head) else {
            return Err(Error::Config(format!("unknown objective '{name}': known are {}", known())));
        };
        let loss = (row.make)(&mut parts).map_err(wrong)?;
        if let Some(k) = parts.truncation {
            return Err(wrong(format!("{} has no pairs that @{k} could leave out", parts.head)));
        }
        if let Some(unknown) = parts.rest.first() {
            let key = unknown.split('=').next().unwrap_or_default();
            let owners: Vec<&str> =
                KNOWN_OBJECTIVES.iter().filter(|row| row.settings.contains(&key)).map(|row| row.name).collect();
            return Err(wrong(match owners.as_slice() {
                [] => format!("unknown setting '{unknown}': known are {}", known()),
                owners => format!("{key} belongs to {}", owners.join(", ")),
            }));
        }
        Ok(Objective::of(loss))
    }
}

/// The parts of a name, taken away one by one by what they mean something to.
pub struct Parts<'a> {
    /// What the name begins with.
    pub head: &'a str,
    /// The number behind `@`.
    pub truncation: Option<usize>,
    rest: Vec<&'a str>,
}

type Taken<T> = std::result::Result<T, String>;

impl<'a> Parts<'a> {
    fn split(name: &'a str) -> Taken<Self> {
        let mut parts = name.split(':');
        let head = parts.next().unwrap_or_default();
        let (head, truncation) = match head.split_once('@') {
            None => (head, None),
            Some((head, k)) => {
                let k = k.parse().ok().filter(|&k: &usize| k > 0);
                (head, Some(k.ok_or("the truncation after '@' must be a number of 1 or more")?))
            }
        };
        Ok(Parts { head, truncation, rest: parts.collect() })
    }

    /// Whether this word is among the parts.
    pub fn word(&mut self, word: &str) -> bool {
        let before = self.rest.len();
        self.rest.retain(|&other| other != word);
        self.rest.len() < before
    }

    /// The number of `key=number`, if it is there.
    pub fn number(&mut self, key: &str, valid: RangeInclusive<f64>) -> Taken<Option<f64>> {
        let value = |part: &&'a str| part.split_once('=').filter(|(other, _)| *other == key).map(|(_, value)| value);
        let Some(at) = self.rest.iter().position(|part| value(part).is_some()) else { return Ok(None) };
        let part = self.rest.remove(at);
        let found = value(&part).and_then(|value| value.parse().ok()).filter(|number| valid.contains(number));
        let least = if *valid.start() > 0.0 && *valid.start() < 1e-200 {
            "above 0".to_owned()
        } else {
            format!("of at least {}", valid.start())
        };
        found.map(Some).ok_or_else(|| format!("{part}: expected a number {least}, at most {}", valid.end()))
    }

    fn samples(&mut self, key: &str) -> Taken<Option<usize>> {
        match self.number(key, 1.0..=1e6)? {
            Some(samples) if samples.fract() != 0.0 => {
                Err(format!("{key}={samples}: expected a whole number of 1 to 1000000"))
            }
            samples => Ok(samples.map(|samples| samples as usize)),
        }
    }

    /// The slope of the sigmoid.
    pub fn sigma(&mut self) -> Taken<f64> {
        Ok(self.number("sigma", f64::MIN_POSITIVE..=1e6)?.unwrap_or(1.0))
    }

    /// Where the ranks come from that weights depend on.
    pub fn assignment(&mut self) -> Taken<Assignment> {
        let noise = self.number("noise", f64::MIN_POSITIVE..=1e6)?;
        match (self.samples("gaussian")?, self.samples("plackett-luce")?, noise) {
            (None, None, None) => Ok(Assignment::Hard),
            (Some(samples), None, noise) => Ok(Assignment::Gaussian { samples, scale: noise.unwrap_or(1.0) }),
            (None, Some(samples), None) => Ok(Assignment::PlackettLuce { samples }),
            (Some(_), Some(_), _) => Err("gaussian and plackett-luce exclude each other".into()),
            _ => Err("noise belongs to gaussian=SAMPLES".into()),
        }
    }

    /// How lambdas are made of a measure.
    pub(super) fn construction(&mut self) -> Taken<Construction> {
        let at = self.rest.iter().position(|part| Construction::find(part).is_some());
        let found = at.and_then(|at| Construction::find(self.rest.remove(at))).unwrap_or_default();
        match self.number("margin", f64::MIN_POSITIVE..=1e6)? {
            None => Ok(found),
            Some(margin) => {
                found.with_margin(margin).ok_or_else(|| "margin belongs to localgradient and localcost".to_owned())
            }
        }
    }

    /// All that nobody has taken, as the name of a metric.
    pub fn take_rest(&mut self) -> String {
        std::mem::take(&mut self.rest).join(":")
    }
}

/// A name that parses and is a few typing mistakes away, or what other tools call the same.
fn suggestion(name: &str) -> Option<String> {
    let lower = name.trim().to_ascii_lowercase().replace('_', "-");
    if let Some((_, ours)) = ELSEWHERE.iter().find(|(theirs, _)| *theirs == lower) {
        return Some((*ours).to_owned());
    }
    // A measure alone is LambdaRank's, as in ndcg@10.
    let alone = || metric::parse(&lower).is_ok().then(|| format!("lambdarank:{lower}"));
    let mut parts = lower.split(':');
    let head = corrected(parts.next()?, KNOWN_OBJECTIVES.iter().map(|row| row.name));
    let metrics = KNOWN_METRICS.iter().flat_map(KnownMetric::names);
    let settings = KNOWN_OBJECTIVES.iter().flat_map(|row| row.settings.iter());
    let words: Vec<&str> = metrics.chain(settings.copied()).chain(OF_PAIRS).chain(OF_METRICS).collect();
    let rest = parts.map(|part| metric::with_cutoff(part).unwrap_or_else(|| corrected(part, words.iter().copied())));
    let meant = std::iter::once(head).chain(rest).collect::<Vec<_>>().join(":");
    let parses = |meant: &String| Objective::read(meant).is_ok();
    Some(meant).filter(parses).or_else(alone).filter(parses)
}

/// A part of a name, as in `ndgc@10` or `sigam=2`, with its word changed to the nearest known one.
fn corrected<'a>(part: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let (word, rest) = part.split_at(part.find(['@', '=']).unwrap_or(part.len()));
    suggest::nearest(word, known).map_or_else(|| part.to_owned(), |known| format!("{known}{rest}"))
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
        assert_eq!(Objective::parse("ndcg-loss2++").unwrap().name(), "ndcg-loss2++:mu=5");
    }

    #[test]
    fn bad_names_say_what_is_wrong() {
        for (name, expected) in [
            ("nonsense-net", "known are ranknet"),
            ("ranknet@0", "truncation"),
            ("ranknet:mu=5", "mu belongs to ndcg-loss2++"),
            ("ranknet:nonsense", "unknown setting 'nonsense'"),
            ("lambdarank@10", "lambdarank:ndcg@10"),
            ("lambdarank:nonsense", "nonsense"),
            ("arp-loss1:sigma=0", "sigma=0"),
            ("arp-loss1:sigma=nan", "sigma=nan"),
            ("ndcg-loss2:gaussian=1.5", "gaussian=1.5"),
            ("ndcg-loss2:noise=1", "noise belongs"),
            ("lambdarank:map:margin=1", "margin belongs"),
            ("ranknet:margin=1", "margin belongs"),
            ("ranknet:springsmooth", "springsmooth belongs to lambdarank"),
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
            ("ndcg_loss2++@5", "ndcg-loss2++@5"),
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
