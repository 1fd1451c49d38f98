//! Graded labels: bins of the target that contain given fractions of the documents.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Label distribution similar to web search data, label 0 first.
///
/// The LambdaRank paper uses five levels and "a label distribution corresponding to real datasets", which it does not print.
/// This distribution is our choice, similar to judged web results: half of the documents bad, a third fair, an eighth good,
/// few excellent, and 1% perfect. In lists of 50, 1 - 0.99^50 = 39% of the queries have a perfect document.
pub const WEB_MIX: [f64; 5] = [0.52, 0.32, 0.13, 0.02, 0.01];

const MAX_LEVELS: usize = 32;

/// A label distribution: the fraction of documents with each label, label 0 first. Fractions sum to 1.
///
/// ```
/// let mix: burnrank::data::synthetic::LabelMix = "5,3,2".parse()?;
/// assert_eq!(mix.shares(), [0.5, 0.3, 0.2]);
/// assert_eq!(mix.to_string(), "0.5,0.3,0.2");
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
pub struct LabelMix(Vec<f64>);

impl LabelMix {
    /// Creates a distribution from weights, which are normalized to sum to 1.
    ///
    /// # Errors
    /// When there are fewer than 2 or more than 32 weights, one of them is negative or not finite, or all are 0.
    pub fn new(weights: Vec<f64>) -> Result<LabelMix> {
        if !(2..=MAX_LEVELS).contains(&weights.len()) {
            return Err(Error::Config(format!("{} label shares: expected 2 to {MAX_LEVELS}", weights.len())));
        }
        if let Some(bad) = weights.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
            return Err(Error::Config(format!("bad label share {bad}: expected a number of 0 or more")));
        }
        let total: f64 = weights.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            return Err(Error::Config(format!("label shares sum to {total}: expected a positive sum")));
        }
        // Weights that sum to 1, up to rounding, are not changed.
        let scale = if (total - 1.0).abs() < 1e-12 { 1.0 } else { total };
        Ok(LabelMix(weights.into_iter().map(|weight| weight / scale).collect()))
    }

    /// Creates a uniform distribution, as the pair counts of the RankNet paper imply for its six bins.
    ///
    /// # Errors
    /// When `levels` is below 2 or above 32.
    pub fn equal(levels: usize) -> Result<LabelMix> {
        LabelMix::new(vec![1.0; levels.min(MAX_LEVELS + 1)])
    }

    /// Returns [`WEB_MIX`].
    pub fn web() -> LabelMix {
        LabelMix(WEB_MIX.to_vec())
    }

    /// Returns the fraction of each label, label 0 first.
    pub fn shares(&self) -> &[f64] {
        &self.0
    }

    /// Returns the number of labels.
    pub fn levels(&self) -> usize {
        self.0.len()
    }
}

impl Default for LabelMix {
    /// Returns the uniform distribution of six labels.
    fn default() -> Self {
        LabelMix(vec![1.0 / 6.0; 6])
    }
}

impl TryFrom<Vec<f64>> for LabelMix {
    type Error = Error;

    fn try_from(weights: Vec<f64>) -> Result<LabelMix> {
        LabelMix::new(weights)
    }
}

impl From<LabelMix> for Vec<f64> {
    fn from(mix: LabelMix) -> Vec<f64> {
        mix.0
    }
}

impl FromStr for LabelMix {
    type Err = Error;

    /// Parses a list such as `0.5,0.2,0.15,0.1,0.05`, or `web` for [`WEB_MIX`].
    fn from_str(text: &str) -> Result<LabelMix> {
        if text.trim().eq_ignore_ascii_case("web") {
            return Ok(LabelMix::web());
        }
        let number = |part: &str| {
            let bad = |_| {
                Error::Config(format!("bad label share '{part}' in '{text}': expected numbers such as 0.5,0.3,0.2"))
            };
            part.trim().parse::<f64>().map_err(bad)
        };
        LabelMix::new(text.split(',').map(number).collect::<Result<_>>()?)
    }
}

impl fmt::Display for LabelMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shares: Vec<String> = self.0.iter().map(f64::to_string).collect();
        f.pad(&shares.join(","))
    }
}

/// Bins of the target: the label is the number of cuts at or below the target.
#[derive(Debug, Clone)]
pub(super) struct Bins {
    cuts: Vec<f64>,
}

impl Bins {
    /// Places the cuts at quantiles of a sample of targets.
    pub(super) fn fit(mix: &LabelMix, mut sample: Vec<f64>) -> Bins {
        sample.sort_unstable_by(f64::total_cmp);
        let mut below = 0.0;
        let cut = |share: &f64| {
            below += share;
            quantile(&sample, below)
        };
        Bins { cuts: mix.shares()[..mix.levels() - 1].iter().map(cut).collect() }
    }

    pub(super) fn label(&self, target: f64) -> f32 {
        self.cuts.partition_point(|&cut| cut <= target) as f32
    }
}

/// Returns a quantile, infinite at both ends so that labels with fraction 0 never occur.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    if share <= 1e-12 {
        return f64::NEG_INFINITY;
    }
    let (Some(&last), true) = (sorted.last(), share < 1.0 - 1e-12) else { return f64::INFINITY };
    let position = share * (sorted.len() - 1) as f64;
    let low = sorted[position as usize];
    let high = sorted.get(position as usize + 1).copied().unwrap_or(last);
    low + (high - low) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_round_trip_and_reject_invalid_weights() {
        for text in ["0.5,0.2,0.15,0.1,0.05", "0.25,0.75", "1,0"] {
            assert_eq!(text.parse::<LabelMix>().unwrap().to_string(), text);
        }
        assert_eq!("web".parse::<LabelMix>().unwrap().shares(), WEB_MIX);
        assert!((WEB_MIX.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(LabelMix::equal(6).unwrap(), LabelMix::default());
        let json = serde_json::to_string(&LabelMix::web()).unwrap();
        assert_eq!(serde_json::from_str::<LabelMix>(&json).unwrap(), LabelMix::web());
        for bad in ["", "1", "1,x", "1,-1", "0,0", "1,NaN", "1,inf", "1e308,1e308"] {
            assert!(bad.parse::<LabelMix>().is_err(), "{bad}");
        }
        assert!(LabelMix::equal(usize::MAX).is_err());
    }

    #[test]
    fn bins_have_the_given_fractions() {
        let mix = LabelMix::new(vec![0.5, 0.0, 0.3, 0.2, 0.0]).unwrap();
        let sample: Vec<f64> = (0..1000).map(|i| f64::from((i * 7919) % 1000)).collect();
        let bins = Bins::fit(&mix, sample.clone());
        let mut counts = [0; 5];
        sample.iter().for_each(|&target| counts[bins.label(target) as usize] += 1);
        assert_eq!(counts, [500, 0, 300, 200, 0]);
        assert_eq!((bins.label(-1e9), bins.label(1e9)), (0.0, 3.0));
    }

    #[test]
    fn an_empty_first_label_stays_empty() {
        let bins = Bins::fit(&LabelMix::new(vec![0.0, 1.0]).unwrap(), vec![1.0, 2.0]);
        assert_eq!(bins.label(-1e9), 1.0);
    }
}
