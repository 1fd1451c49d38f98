//! The teacher function that labels documents: a sum of random rules with fitted weights.

use super::ridge::{Bits, ridge};
use crate::error::{Error, Result};
use rand::{Rng, RngExt};

/// Number of rules of a teacher.
const RULES: usize = 400;
/// Maximum number of rules drawn, including those that are rejected.
const MAX_DRAWN: usize = 20 * RULES;
/// Minimum fraction of rows for which a rule holds, and for which it does not hold.
const MIN_FRACTION: f64 = 0.01;
/// Penalty of the ridge regression, per row.
const PENALTY: f64 = 0.002;

/// Rows with their relevance.
pub(super) struct Sample {
    pub width: usize,
    /// Features, row-major.
    pub features: Vec<f32>,
    /// Relevance, one per row.
    pub relevance: Vec<f64>,
}

impl Sample {
    fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.features.chunks_exact(self.width)
    }
}

/// The condition that a feature is above a threshold, or that it is not.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Condition {
    feature: usize,
    threshold: f32,
    above: bool,
}

/// One to three conditions that must all hold.
#[derive(Debug, Clone)]
struct Rule(Vec<Condition>);

impl Rule {
    /// Draws random features, each with its value in a random row as threshold.
    fn random(sample: &Sample, rng: &mut impl Rng) -> Rule {
        let conditions = rng.random_range(1..=3);
        let condition = |_| {
            let feature = rng.random_range(0..sample.width);
            let row = rng.random_range(0..sample.relevance.len());
            Condition { feature, threshold: sample.features[row * sample.width + feature], above: rng.random() }
        };
        Rule((0..conditions).map(condition).collect())
    }

    fn holds(&self, row: &[f32]) -> bool {
        self.0.iter().all(|condition| (row[condition.feature] > condition.threshold) == condition.above)
    }
}

/// f(x) = constant + sum of the weights of the rules that hold for x, with mean 0 and variance 1 on the rows of the fit.
#[derive(Debug, Clone)]
pub(super) struct Teacher {
    constant: f64,
    rules: Vec<(Rule, f64)>,
    explained: f64,
}

impl Teacher {
    pub(super) fn fit(sample: &Sample, rng: &mut impl Rng) -> Result<Teacher> {
        let min = (MIN_FRACTION * sample.relevance.len() as f64).ceil().max(1.0) as u32;
        let max = sample.relevance.len() as u32 - min;
        let (mut rules, mut columns) = (vec![], vec![]);
        for _ in 0..MAX_DRAWN {
            let rule = Rule::random(sample, rng);
            let column = Bits::new(sample.rows().map(|row| rule.holds(row)));
            if (min..=max).contains(&column.ones()) {
                rules.push(rule);
                columns.push(column);
            }
            if rules.len() == RULES {
                break;
            }
        }
        let weights = ridge(&columns, &sample.relevance, PENALTY);
        let mut teacher = Teacher { constant: 0.0, rules: rules.into_iter().zip(weights).collect(), explained: 0.0 };
        let values: Vec<f64> = sample.rows().map(|row| teacher.value(row)).collect();
        let (mean, spread) = moments(&values);
        if !(spread > 0.0 && spread.is_finite()) {
            let message = "nothing can be learned from the rows: the data needs at least two different labels, and features \
                           that are not constant";
            return Err(Error::Data(message.into()));
        }
        let (center, deviation) = moments(&sample.relevance);
        let rest = values.iter().zip(&sample.relevance).map(|(f, y)| (y - center - (f - mean)).powi(2)).sum::<f64>();
        teacher.explained = 1.0 - rest / (values.len() as f64 * deviation * deviation);
        teacher.constant = -mean / spread;
        teacher.rules.iter_mut().for_each(|(_, weight)| *weight /= spread);
        Ok(teacher)
    }

    pub(super) fn value(&self, row: &[f32]) -> f64 {
        self.rules.iter().filter(|(rule, _)| rule.holds(row)).fold(self.constant, |sum, (_, weight)| sum + weight)
    }

    /// Returns the fraction of the variance of relevance that is explained on the sample (R²).
    pub(super) fn explained(&self) -> f64 {
        self.explained
    }
}

/// Returns mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn rows(rng: &mut ChaCha8Rng, relevance: impl Fn(&[f32]) -> f64) -> Sample {
        let features: Vec<f32> = (0..4 * 3000).map(|_| rng.random::<f32>()).collect();
        let relevance = features.chunks_exact(4).map(relevance).collect();
        Sample { width: 4, features, relevance }
    }

    #[test]
    fn a_product_of_thresholds_is_learned() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let truth = |x: &[f32]| f64::from(u8::from(x[0] > 0.5 && x[1] > 0.3)) - f64::from(x[2]);
        let sample = rows(&mut rng, truth);
        let teacher = Teacher::fit(&sample, &mut rng).unwrap();
        assert!(teacher.explained() > 0.9, "{}", teacher.explained());
        let (mean, spread) = moments(&sample.rows().map(|row| teacher.value(row)).collect::<Vec<_>>());
        assert!(mean.abs() < 1e-9 && (spread - 1.0).abs() < 1e-9, "{mean} {spread}");
        // On new rows.
        let fresh = rows(&mut rng, truth);
        let values: Vec<f64> = fresh.rows().map(|row| teacher.value(row)).collect();
        let ((a, s), (b, t)) = (moments(&values), moments(&fresh.relevance));
        let product: f64 = values.iter().zip(&fresh.relevance).map(|(x, y)| (x - a) * (y - b)).sum();
        assert!(product / (values.len() as f64 * s * t) > 0.93);
    }

    #[test]
    fn constant_labels_or_features_are_rejected() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let equal = rows(&mut rng, |_| 1.0);
        let message = Teacher::fit(&equal, &mut rng).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains("at least two different labels"), "{message}");
        let flat = Sample { width: 1, features: vec![2.0; 100], relevance: (0..100).map(f64::from).collect() };
        assert!(Teacher::fit(&flat, &mut rng).is_err());
    }
}
