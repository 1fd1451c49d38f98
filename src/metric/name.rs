//! The names of metrics: `ndcg@10`, `ndcg:linear@10`, `map:rel=2`, and trec_eval's.

use super::{Gain, MetricEntry};
use crate::error::{Error, Result};
use crate::name::{ABOVE_0, Name, Parameter, Parameters};

/// The gain of a label.
pub(super) const GAIN: Parameter = Parameter::words("gain", Gain::WORDS, "gain of a label");
/// The lowest label that is relevant.
pub(super) const REL: Parameter = Parameter::number("rel", 1.0, ABOVE_0, "lowest label of a relevant document");

/// What follows the name of a metric, with defaults of the caller.
pub(super) struct MetricName {
    pub parameters: Parameters,
    pub default_threshold: f32,
    pub default_gain: Gain,
}

impl MetricName {
    /// The cutoff, if there is one.
    pub fn k(&self) -> Option<usize> {
        self.parameters.cutoff()
    }

    /// The cutoff of a metric that always has one.
    pub fn needed_k(&self) -> usize {
        self.k().unwrap_or(1)
    }

    /// The gain.
    pub fn gain(&self) -> Gain {
        self.parameters.text(GAIN.key).and_then(|word| word.parse().ok()).unwrap_or(self.default_gain)
    }

    /// The lowest label that is relevant.
    pub fn threshold(&self) -> f32 {
        self.parameters.single(REL.key, self.default_threshold)
    }
}

/// Takes a name apart. A cutoff may also follow a hyphen, as in trec_eval's `P_5`.
pub(super) fn split(text: &str) -> Result<Name> {
    let mut name = Name::split::<MetricEntry>(text)?;
    let head = name.head.clone();
    if let Some((head, digits)) = head.rsplit_once('-').filter(|(_, digits)| is_digits(digits)) {
        name.set_cutoff(digits)?;
        name.head = head.to_owned();
    }
    // `ndcg_cut_10` is trec_eval's name, and means trec_eval's linear gain. Nobody has the same of `dcg`.
    let is_cut = name.head != head;
    match name.head.as_str() {
        "ndcg-cut" if is_cut => {
            name.head = "ndcg".to_owned();
            name.push("linear");
        }
        "ndcg-cut" | "dcg-cut" => {
            let (short, k) = (name.head.trim_end_matches("-cut"), name.cutoff().unwrap_or(10));
            return Err(name.wrong(format!(
                "write '{short}:linear@{k}' for the linear gain, as trec_eval has it, or '{short}@{k}' for the gain 2^y - 1"
            )));
        }
        _ => {}
    }
    Ok(name)
}

/// Refuses a default threshold that is not one.
pub(super) fn check_threshold(threshold: f32) -> Result<()> {
    match threshold > 0.0 && threshold.is_finite() {
        true => Ok(()),
        false => Err(Error::setting("threshold", threshold, "a number above 0")),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
