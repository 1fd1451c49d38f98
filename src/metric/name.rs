//! How a measure's name is made and taken apart: `ndcg@10`, `ndcg:linear@10`, `map:rel=2`. A name prints as it parses.

use super::Gain;
use super::registry::{KnownMetric, unknown};
use crate::error::{Error, Result};

/// `base:option@k`, without what is `None`.
pub(super) fn spell(base: &str, options: &[Option<String>], k: Option<usize>) -> String {
    let options = options.iter().flatten().map(|option| format!(":{option}"));
    let cut = k.map(|k| format!("@{k}"));
    std::iter::once(base.to_owned()).chain(options).chain(cut).collect()
}

/// The option that states a threshold, unless it is the usual one.
pub(super) fn rel_option(threshold: f32) -> Option<String> {
    (threshold != 1.0).then(|| format!("rel={threshold}"))
}

/// A name taken apart. Whoever uses a part takes it out; what is left at the end does not belong.
pub(super) struct Parts<'a> {
    name: &'a str,
    pub(super) row: &'static KnownMetric,
    options: Vec<String>,
    k: Option<usize>,
    default_threshold: f32,
    default_gain: Gain,
}

impl<'a> Parts<'a> {
    pub(super) fn new(name: &'a str, default_threshold: f32, default_gain: Gain) -> Result<Self> {
        if !(default_threshold > 0.0 && default_threshold.is_finite()) {
            return Err(Error::Config(format!("threshold {default_threshold}: expected a positive number")));
        }
        let lower = name.trim().to_ascii_lowercase().replace('_', "-");
        let (base, rest) = lower.split_at(lower.find([':', '@']).unwrap_or(lower.len()));
        let (base, mut k) = match base.rsplit_once('-') {
            Some((base, digits)) if is_digits(digits) => (base, Some(cutoff(name, digits)?)),
            _ => (base, None),
        };
        let (base, mut options) = trec_eval_cut(name, base, k)?;
        let row = KnownMetric::find(base).ok_or_else(|| unknown(name, base))?;
        let mut rest = rest;
        while let Some(part) = rest.get(1..) {
            let (text, next) = part.split_at(part.find([':', '@']).unwrap_or(part.len()));
            if rest.starts_with(':') {
                options.push(text.to_owned());
            } else if k.replace(cutoff(name, text)?).is_some() {
                return Err(Error::Config(format!("measure '{name}' has two cutoffs: state one, as in '@10'")));
            }
            rest = next;
        }
        Ok(Parts { name, row, options, k, default_threshold, default_gain })
    }

    /// The cutoff, if there is one.
    pub(super) fn k(&mut self) -> Option<usize> {
        self.k.take()
    }

    /// The cutoff of a measure that has none of its own.
    pub(super) fn needed_k(&mut self) -> Result<usize> {
        let base = self.row.name;
        self.k().ok_or_else(|| Error::Config(format!("measure '{}' needs a cutoff, as in '{base}@10'", self.name)))
    }

    /// Whether an option without a value is there.
    pub(super) fn flag(&mut self, flag: &str) -> bool {
        let at = self.options.iter().position(|option| option == flag);
        at.map(|at| self.options.remove(at)).is_some()
    }

    /// The positive number of an option, as in `rel=2`.
    pub(super) fn number(&mut self, key: &str, default: f32) -> Result<f32> {
        let value = |option: &String| Some(option.strip_prefix(key)?.strip_prefix('=')?.to_owned());
        let Some((at, text)) = self.options.iter().enumerate().find_map(|(at, option)| Some((at, value(option)?)))
        else {
            return Ok(default);
        };
        self.options.remove(at);
        match text.parse::<f32>() {
            Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
            _ => Err(Error::Config(format!("measure '{}': {key} '{text}' is not a positive number", self.name))),
        }
    }

    /// The gain that is stated, or the usual one.
    pub(super) fn gain(&mut self) -> Result<Gain> {
        let linear = self.flag("linear") || self.flag("gain=linear");
        let exponential = self.flag("exponential") || self.flag("exp") || self.flag("gain=exponential");
        match (linear, exponential) {
            (true, true) => Err(Error::Config(format!("measure '{}' has two gains: state one", self.name))),
            (true, false) => Ok(Gain::Linear),
            (false, true) => Ok(Gain::Exponential),
            (false, false) => Ok(self.default_gain),
        }
    }

    /// From which label on a document is relevant.
    pub(super) fn threshold(&mut self) -> Result<f32> {
        self.number("rel", self.default_threshold)
    }

    /// Refuses what nobody took.
    pub(super) fn finish(self) -> Result<()> {
        let odd = match (self.options.first(), self.k) {
            (Some(option), _) => format!("':{option}'"),
            (None, Some(k)) => format!("'@{k}'"),
            (None, None) => return Ok(()),
        };
        Err(Error::Config(format!(
            "measure '{}': {odd} does not belong there: expected '{}'",
            self.name,
            self.row.pattern()
        )))
    }
}

/// `ndcg_cut_10` is trec_eval's name, and means trec_eval's linear gain. The same of `dcg` is nobody's.
fn trec_eval_cut<'a>(name: &str, base: &'a str, k: Option<usize>) -> Result<(&'a str, Vec<String>)> {
    match (base, k) {
        ("ndcg-cut", Some(_)) => Ok(("ndcg", vec!["linear".to_owned()])),
        ("ndcg-cut" | "dcg-cut", _) => {
            let (short, cut) = (base.trim_end_matches("-cut"), k.map_or("10".to_owned(), |k| k.to_string()));
            Err(Error::Config(format!(
                "measure '{name}': write '{short}:linear@{cut}' for the linear gain, as trec_eval has it, or \
                 '{short}@{cut}' for the gain 2^y - 1"
            )))
        }
        _ => Ok((base, Vec::new())),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn cutoff(name: &str, text: &str) -> Result<usize> {
    match text.parse() {
        Ok(k) if k > 0 && is_digits(text) => Ok(k),
        _ => Err(Error::Config(format!("measure '{name}': cutoff '{text}' is not a whole number of 1 or more"))),
    }
}
