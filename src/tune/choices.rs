//! The values that a setting is drawn from: a list or a range.

use super::dimension::{Dimension, Drawn};
use crate::error::{Error, Result};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// The values that a setting is drawn from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Choices {
    /// A list of values with equal probability, as text.
    List(Vec<String>),
    /// A range of numbers.
    Range(Range),
}

/// A uniform distribution over a range of numbers. Draws are rounded to three significant digits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Minimum.
    pub low: f64,
    /// Maximum.
    pub high: f64,
    /// Whether the logarithm is uniform.
    pub log: bool,
    /// Probability of drawing 0 instead.
    pub zero: f64,
}

impl Choices {
    /// Rejects choices that are invalid for this setting.
    pub(super) fn check(&self, dimension: &Dimension) -> Result<()> {
        let wrong = |message: String| Err(Error::Config(format!("{}: {message}", dimension.key)));
        match self {
            Choices::List(values) if values.is_empty() => wrong("the list is empty: give at least one value".into()),
            Choices::List(_) => Ok(()),
            Choices::Range(_) if dimension.drawn == Drawn::Word => wrong("not a number: give a list of values".into()),
            Choices::Range(Range { low, high, log, zero }) => {
                if !(low.is_finite() && high.is_finite() && low <= high) {
                    return wrong(format!("a range from {low} to {high}: expected low <= high"));
                }
                if *log && *low <= 0.0 {
                    return wrong(format!(
                        "low = {low}: a logarithmic range starts above 0; 'zero = 0.5' draws 0 half of the time"
                    ));
                }
                if !(0.0..1.0).contains(zero) {
                    return wrong(format!("zero = {zero}: expected a probability of 0 or more and below 1"));
                }
                Ok(())
            }
        }
    }

    /// The values of a list, or the ends of a range.
    pub(super) fn extremes(&self, dimension: &Dimension) -> Vec<String> {
        match self {
            Choices::List(values) => values.clone(),
            Choices::Range(range) => {
                let zero = (range.zero > 0.0).then(|| "0".to_owned());
                [range.low, range.high].map(|end| text(dimension, end)).into_iter().chain(zero).collect()
            }
        }
    }

    pub(super) fn draw(&self, dimension: &Dimension, random: &mut ChaCha8Rng) -> String {
        match self {
            Choices::List(values) => values[random.random_range(0..values.len())].clone(),
            Choices::Range(Range { low, high, log, zero }) => {
                // Always draw both, so that later draws do not depend on the outcome.
                let (is_zero, share) = (random.random::<f64>() < *zero, random.random::<f64>());
                let drawn = match log {
                    true => (low.ln() + share * (high.ln() - low.ln())).exp(),
                    false => low + share * (high - low),
                };
                if is_zero { "0".into() } else { text(dimension, three_digits(drawn).clamp(*low, *high)) }
            }
        }
    }
}

fn text(dimension: &Dimension, value: f64) -> String {
    if dimension.drawn == Drawn::Whole { format!("{:.0}", value) } else { value.to_string() }
}

/// The value rounded to three significant digits, so that settings are easy to type.
fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::super::dimension::Part;
    use super::*;
    use rand::SeedableRng;

    fn draws(key: &str, choices: &Choices) -> Vec<f64> {
        let setting = Dimension::of(Part::Nets, key).unwrap();
        choices.check(setting).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        (0..1000).map(|_| choices.draw(setting, &mut random).parse().unwrap()).collect()
    }

    #[test]
    fn logarithms_are_uniform_and_zero_has_its_probability() {
        let range = Range { low: 0.001, high: 0.1, log: true, zero: 0.25 };
        let values = draws("l2", &Choices::Range(range));
        let zeros = values.iter().filter(|&&value| value == 0.0).count();
        let low = values.iter().filter(|&&value| value > 0.0 && value < 0.01).count();
        assert!((200..300).contains(&zeros) && (320..430).contains(&low), "{zeros} {low}");
        assert!(values.iter().all(|value| *value == 0.0 || (0.001..=0.1).contains(value)));
        let digits = |value: &f64| value.to_string().trim_start_matches(['0', '.']).len();
        assert!(values.iter().all(|value| digits(value) <= 3));
        let even = draws("l2", &Choices::Range(Range { log: false, zero: 0.0, ..range }));
        assert!((even.iter().sum::<f64>() / 1000.0 - 0.0505).abs() < 0.003);
    }

    #[test]
    fn whole_numbers_are_whole_and_lists_are_uniform() {
        let range = Range { low: 2.0, high: 9.0, log: true, zero: 0.0 };
        assert!(draws("batch-queries", &Choices::Range(range)).iter().all(|value| value.fract() == 0.0));
        let listed = draws("batch-queries", &Choices::List(["1", "5"].map(str::to_owned).to_vec()));
        assert!((450..550).contains(&listed.iter().filter(|&&value| value == 5.0).count()));
    }

    #[test]
    fn invalid_choices_are_rejected() {
        let lr = Dimension::of(Part::Nets, "lr").unwrap();
        let scale = Dimension::of(Part::Nets, "scale").unwrap();
        let range = Range { low: 0.1, high: 1.0, log: true, zero: 0.0 };
        let message = |setting, choices: Choices| choices.check(setting).unwrap_err().to_string();
        assert!(message(scale, Choices::Range(range)).contains("scale: not a number"));
        assert!(message(lr, Choices::List(vec![])).contains("lr: the list is empty"));
        assert!(message(lr, Choices::Range(Range { low: 2.0, ..range })).contains("from 2 to 1"));
        assert!(message(lr, Choices::Range(Range { low: 0.0, ..range })).contains("starts above 0"));
        assert!(message(lr, Choices::Range(Range { high: f64::NAN, ..range })).contains("NaN"));
        assert!(message(lr, Choices::Range(Range { zero: 1.0, ..range })).contains("zero = 1"));
    }
}
