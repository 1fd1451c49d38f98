//! Graded labels: the target's range cut into bins that hold given shares of the documents.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Label shares for data that looks like a web search engine's: label 0 first.
///
/// The LambdaRank paper uses five levels and "a label distribution corresponding to real datasets", and does not print
/// it. These shares are a choice, shaped like judged web results: half of the documents bad, a third fair, an eighth good,
/// few excellent, and one in a hundred perfect. In lists of 50, 1 - 0.99^50 = 39% of the queries have a perfect document.
pub const WEB_MIX: [f64; 5] = [0.52, 0.32, 0.13, 0.02, 0.01];

const MOST_LEVELS: usize = 32;

/// The share of the documents that each label gets, label 0 first; shares sum to 1.
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
    /// A mix by weights, which need not sum to 1.
    ///
    /// # Errors
    /// When there are fewer than 2 or more than 32 weights, one of them is negative or not finite, or all are 0.
    pub fn new(weights: Vec<f64>) -> Result<LabelMix> {
        if !(2..=MOST_LEVELS).contains(&weights.len()) {
            return Err(Error::Config(format!("{} label shares: expected 2 to {MOST_LEVELS}", weights.len())));
        }
        if let Some(bad) = weights.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
            return Err(Error::Config(format!("bad label share {bad}: expected a number of 0 or more")));
        }
        let total: f64 = weights.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            return Err(Error::Config(format!("label shares sum to {total}: expected a positive sum")));
        }
        // Shares that already sum to 1, up to rounding, keep their digits.
        let scale = if (total - 1.0).abs() < 1e-12 { 1.0 } else { total };
        Ok(LabelMix(weights.into_iter().map(|weight| weight / scale).collect()))
    }

    /// Every label equally often, as the RankNet paper's pair counts show for its six bins.
    ///
    /// # Errors
    /// When `levels` is below 2 or above 32.
    pub fn equal(levels: usize) -> Result<LabelMix> {
        LabelMix::new(vec![1.0; levels.min(MOST_LEVELS + 1)])
    }

    /// [`WEB_MIX`].
    pub fn web() -> LabelMix {
        LabelMix(WEB_MIX.to_vec())
    }

    /// The shares, label 0 first.
    pub fn shares(&self) -> &[f64] {
        &self.0
    }

    /// The number of labels.
    pub fn levels(&self) -> usize {
        self.0.len()
    }
}

impl Default for LabelMix {
    /// Six labels, equally often.
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

    /// Reads `0.5,0.2,0.15,0.1,0.05`, or `web` for [`WEB_MIX`].
    fn from_str(text: &str) -> Result<LabelMix> {
        if text.trim().eq_ignore_ascii_case("web") {
            return Ok(LabelMix::web());
        }
        let number = |part: &str| {
            let bad =
                |_| Error::Config(format!("bad label share '{part}' in '{text}': expected numbers, as in 0.5,0.3,0.2"));
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

/// Where the target's range is cut: a label is the number of cuts at or below the target.
#[derive(Debug, Clone)]
pub(super) struct Bins {
    cuts: Vec<f64>,
}

impl Bins {
    /// Cuts at the quantiles of a sample of targets.
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

/// Infinite at either end, so that a label of share 0 is never given.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    if share <= 1e-12 {
        return f64::NEG_INFINITY;
    }
    let (Some(&last), true) = (sorted.last(), share < 1.0 - 1e-12) else { return f64::INFINITY };
    let place = share * (sorted.len() - 1) as f64;
    let low = sorted[place as usize];
    let high = sorted.get(place as usize + 1).copied().unwrap_or(last);
    low + (high - low) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_read_back_and_refuse_nonsense() {
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
    fn labels_get_their_shares() {
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
