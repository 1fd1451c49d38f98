//! An objective's name is its identity: it parses, prints and appears in results the same way.

use super::{Assignment, Construction, Family, Objective};
use crate::error::{Error, Result};
use crate::metric::{self, KNOWN_METRICS, KnownMetric};
use crate::suggest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// What `--objective` takes, for messages and help.
pub const OBJECTIVES: &str = "ranknet, ranknet:ties, arp-loss1, arp-loss2, ndcg-loss1, ndcg-loss2, ndcg-loss2++:mu=5, \
     lambdarank:METRIC (as in lambdarank:ndcg@10), lambdarank:METRIC:CONSTRUCTION (springsmooth, localgradient, localcost, \
     discretebounded); @K truncates, :sigma=S sets the sigmoid's slope, \
     :gaussian=SAMPLES and :plackett-luce=SAMPLES average the weights over sampled rankings";

/// The names that an objective's name may begin with.
const HEADS: [&str; 7] =
    ["ranknet", "arp-loss1", "arp-loss2", "ndcg-loss1", "ndcg-loss2", "ndcg-loss2++", "lambdarank"];

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

/// What may follow the first word of a name, beside a measure.
const CONSTRUCTIONS: [&str; 5] =
    ["ranknetweightpairs", "springsmooth", "localgradient", "localcost", "discretebounded"];
const SETTINGS: [&str; 11] =
    ["ties", "sigma", "mu", "gaussian", "plackett-luce", "noise", "margin", "linear", "rel", "max", "sum"];

/// The papers' best value of NDCG-Loss2++'s mu.
const DEFAULT_MU: f64 = 5.0;

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
        let mut parts = name.trim().split(':');
        let head = parts.next().unwrap_or_default().to_ascii_lowercase();
        let (head, truncation) = match head.split_once('@') {
            None => (head.as_str(), None),
            Some((head, k)) => {
                let k = k.parse().ok().filter(|&k: &usize| k > 0);
                (head, Some(k.ok_or_else(|| wrong("the truncation after '@' must be a number of 1 or more".into()))?))
            }
        };
        let mut settings = Settings::default();
        let mut rest = Vec::new();
        for part in parts {
            if !settings.take(part).map_err(&wrong)? {
                rest.push(part);
            }
        }
        let family = match head {
            "ranknet" => Family::RankNet { ties: take_word(&mut rest, "ties") },
            "arp-loss1" => Family::Arp1,
            "arp-loss2" => Family::Arp2,
            "ndcg-loss1" => Family::Ndcg1,
            "ndcg-loss2" => Family::Ndcg2,
            "ndcg-loss2++" => Family::Ndcg2pp { mu: settings.mu.take().unwrap_or(DEFAULT_MU) },
            "lambdarank" if truncation.is_some() => {
                return Err(wrong("write the cut-off with the metric, as in lambdarank:ndcg@10".into()));
            }
            "lambdarank" => {
                let construction = settings.construction(&mut rest).map_err(&wrong)?;
                let metric = if rest.is_empty() { "ndcg".to_owned() } else { rest.join(":") };
                rest.clear();
                Objective::constructed(metric::parse(&metric)?, construction).family
            }
            _ => return Err(Error::Config(format!("unknown objective '{name}': known are {OBJECTIVES}"))),
        };
        if settings.margin.is_some() {
            return Err(wrong("margin belongs to localgradient and localcost".into()));
        }
        if settings.mu.is_some() {
            return Err(wrong("mu belongs to ndcg-loss2++".into()));
        }
        if let Some(unknown) = rest.first() {
            return Err(wrong(format!("unknown setting '{unknown}': known are {OBJECTIVES}")));
        }
        if let Family::Constructed { construction, .. } = &family {
            if settings.assignment().map_err(&wrong)? != Assignment::Hard {
                return Err(wrong(format!("{} has no pair weights to average over samples", construction.name())));
            }
            if settings.sigma.is_some() && *construction != Construction::SpringSmooth {
                return Err(wrong(format!("{} has no sigmoid for sigma to steepen", construction.name())));
            }
        }
        let objective = Objective::new(family).with_truncation(truncation).with_sigma(settings.sigma.unwrap_or(1.0));
        Ok(objective.with_assignment(settings.assignment().map_err(&wrong)?))
    }

    /// The name that [`Objective::parse`] reads back. Objectives of one's own keep their name but do not parse.
    pub fn name(&self) -> String {
        let cut = self.truncation().map(|k| format!("@{k}")).unwrap_or_default();
        let mut name = match &self.family {
            Family::RankNet { ties: false } => format!("ranknet{cut}"),
            Family::RankNet { ties: true } => format!("ranknet{cut}:ties"),
            Family::Arp1 => format!("arp-loss1{cut}"),
            Family::Arp2 => format!("arp-loss2{cut}"),
            Family::Ndcg1 => format!("ndcg-loss1{cut}"),
            Family::Ndcg2 => format!("ndcg-loss2{cut}"),
            Family::Ndcg2pp { mu } => format!("ndcg-loss2++{cut}:mu={mu}"),
            Family::LambdaRank(metric) => format!("lambdarank:{}", metric.name()),
            Family::Constructed { metric, construction } => {
                format!("lambdarank:{}:{}", metric.name(), construction.name())
            }
            Family::Field(field) => format!("field:{}", field.name()),
            Family::Custom { name, .. } => format!("custom:{name}{cut}"),
        };
        if self.sigma() != 1.0 {
            name += &format!(":sigma={}", self.sigma());
        }
        match self.assignment() {
            Assignment::Hard => {}
            Assignment::Gaussian { samples, scale } => {
                name += &format!(":gaussian={samples}");
                if scale != 1.0 {
                    name += &format!(":noise={scale}");
                }
            }
            Assignment::PlackettLuce { samples } => name += &format!(":plackett-luce={samples}"),
        }
        name
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
    let head = corrected(parts.next()?, HEADS);
    let of_ranker = KNOWN_METRICS.iter().flat_map(KnownMetric::names);
    let words: Vec<&str> = of_ranker.chain(CONSTRUCTIONS).chain(SETTINGS).collect();
    let rest = parts.map(|part| corrected(part, words.iter().copied()));
    let meant = std::iter::once(head).chain(rest).collect::<Vec<_>>().join(":");
    let parses = |meant: &String| Objective::read(meant).is_ok();
    Some(meant).filter(parses).or_else(alone).filter(parses)
}

/// A part of a name, as in `ndgc@10` or `sigam=2`, with its word changed to the nearest known one.
fn corrected<'a>(part: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let (word, rest) = part.split_at(part.find(['@', '=']).unwrap_or(part.len()));
    suggest::nearest(word, known).map_or_else(|| part.to_owned(), |known| format!("{known}{rest}"))
}

fn take_word(words: &mut Vec<&str>, word: &str) -> bool {
    let before = words.len();
    words.retain(|&other| !other.eq_ignore_ascii_case(word));
    words.len() < before
}

/// The `key=value` parts of a name that belong to the objective, not to its metric.
#[derive(Default)]
struct Settings {
    sigma: Option<f64>,
    mu: Option<f64>,
    gaussian: Option<f64>,
    plackett_luce: Option<f64>,
    noise: Option<f64>,
    margin: Option<f64>,
}

impl Settings {
    /// Takes a part if it is one of these; an error if its value makes no sense.
    fn take(&mut self, part: &str) -> std::result::Result<bool, String> {
        let Some((key, value)) = part.split_once('=') else { return Ok(false) };
        let key = key.to_ascii_lowercase();
        let (place, whole) = match key.as_str() {
            "sigma" => (&mut self.sigma, false),
            "mu" => (&mut self.mu, false),
            "noise" => (&mut self.noise, false),
            "margin" => (&mut self.margin, false),
            "gaussian" => (&mut self.gaussian, true),
            "plackett-luce" => (&mut self.plackett_luce, true),
            _ => return Ok(false),
        };
        let valid = |v: f64| if whole { (1.0..=1e6).contains(&v) && v.fract() == 0.0 } else { v > 0.0 && v <= 1e6 };
        let number = value.parse().ok().filter(|&v| valid(v));
        let expected = if whole { "a whole number of 1 to 1000000" } else { "a number above 0, at most 1000000" };
        *place = Some(number.ok_or_else(|| format!("{key}={value}: expected {expected}"))?);
        Ok(true)
    }

    /// Takes the name of a construction out of the parts, and the margin with it.
    fn construction(&mut self, parts: &mut Vec<&str>) -> std::result::Result<Construction, String> {
        let at = parts.iter().position(|part| Construction::find(part).is_some());
        let found = at.and_then(|at| Construction::find(parts.remove(at))).unwrap_or_default();
        match self.margin {
            None => Ok(found),
            Some(margin) => {
                let changed = found.with_margin(margin);
                self.margin = None;
                changed.ok_or_else(|| "margin belongs to localgradient and localcost".to_owned())
            }
        }
    }

    fn assignment(&self) -> std::result::Result<Assignment, String> {
        match (self.gaussian, self.plackett_luce, self.noise) {
            (None, None, None) => Ok(Assignment::Hard),
            (Some(samples), None, noise) => {
                Ok(Assignment::Gaussian { samples: samples as usize, scale: noise.unwrap_or(1.0) })
            }
            (None, Some(samples), None) => Ok(Assignment::PlackettLuce { samples: samples as usize }),
            (Some(_), Some(_), _) => Err("gaussian and plackett-luce exclude each other".into()),
            _ => Err("noise belongs to gaussian=SAMPLES".into()),
        }
    }
}

impl FromStr for Objective {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Objective::parse(name)
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl Serialize for Objective {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
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
            ("listnet", "known are ranknet"),
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
            ("ranknet:springsmooth", "unknown setting"),
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
