//! Names of metrics: `ndcg@10`, `ndcg:linear@10`, `map:rel=2`, and those of trec_eval.

use super::{Gain, MetricEntry};
use crate::error::{Error, Result};
use crate::name::{ABOVE_0, Name, Parameter, Parameters};

pub(super) const GAIN: Parameter = Parameter::words("gain", Gain::WORDS, "gain of a label");
pub(super) const REL: Parameter = Parameter::number("rel", 1.0, ABOVE_0, "lowest label of a relevant document");

/// Parameters in the name of a metric, with the caller's defaults.
pub(super) struct MetricName {
    pub parameters: Parameters,
    pub default_threshold: f32,
    pub default_gain: Gain,
}

impl MetricName {
    /// Rank cutoff, if any.
    pub fn k(&self) -> Option<usize> {
        self.parameters.cutoff()
    }

    /// Rank cutoff of a metric that requires one.
    pub fn needed_k(&self) -> usize {
        self.k().unwrap_or(1)
    }

    pub fn gain(&self) -> Gain {
        self.parameters.text(GAIN.key).and_then(|word| word.parse().ok()).unwrap_or(self.default_gain)
    }

    /// Lowest relevant label.
    pub fn threshold(&self) -> f32 {
        self.parameters.single(REL.key, self.default_threshold)
    }
}

/// Splits a name into its parts. A cutoff may also follow a hyphen, as in trec_eval's `P_5`.
pub(super) fn split(text: &str) -> Result<Name> {
    let mut name = Name::split::<MetricEntry>(text)?;
    let head = name.head.clone();
    if let Some((head, digits)) = head.rsplit_once('-').filter(|(_, digits)| is_digits(digits)) {
        name.set_cutoff(digits)?;
        name.head = head.to_owned();
    }
    // `ndcg_cut_10` is trec_eval's name, which implies a linear gain. There is no such name for `dcg`.
    let is_cut = name.head != head;
    match name.head.as_str() {
        "ndcg-cut" if is_cut => {
            name.head = "ndcg".to_owned();
            name.push("linear");
        }
        "ndcg-cut" | "dcg-cut" => {
            let (short, k) = (name.head.trim_end_matches("-cut"), name.cutoff().unwrap_or(10));
            return Err(name.wrong(format!(
                "write '{short}:linear@{k}' for trec_eval's linear gain, or '{short}@{k}' for the gain 2^y - 1"
            )));
        }
        _ => {}
    }
    Ok(name)
}

/// Checks that a default threshold is a positive number.
pub(super) fn check_threshold(threshold: f32) -> Result<()> {
    match threshold > 0.0 && threshold.is_finite() {
        true => Ok(()),
        false => Err(Error::setting("threshold", threshold, "a number above 0")),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
