//! Estimate of a run's value: its epoch is chosen on one half of the validation queries and evaluated on the other, and vice versa.
//!
//! The best of many epochs, evaluated on the queries that chose it, is too optimistic: the maximum of 100 values that differ only by
//! chance is about two and a half standard deviations above their mean. Here every query is evaluated at an epoch that it had no
//! part in choosing, so that long and short, steady and noisy runs compare fairly.

use crate::analysis::significance::Better;
use crate::data::kfold;
use crate::error::{Error, Result};
use crate::internal::text::counted;
use crate::metric::Summary;
use serde::{Deserialize, Serialize};

/// Validation queries split into two halves whose sizes differ by at most one. The split depends on the seed only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halves {
    /// 0 or 1 for each query.
    half: Vec<u8>,
}

impl Halves {
    /// Splits `queries` queries into halves.
    ///
    /// # Errors
    /// If there are fewer than two queries.
    pub fn new(queries: usize, seed: u64) -> Result<Self> {
        if queries < 2 {
            return Err(Error::Data(format!(
                "{}: at least 2 are needed, one to choose the epoch and one to evaluate it",
                counted(queries, "validation query", "validation queries")
            )));
        }
        let mut half = vec![0; queries];
        kfold(queries, 2, seed)?[1].iter().for_each(|&query| half[query] = 1);
        Ok(Halves { half })
    }

    /// The half of a query, 0 or 1.
    pub fn of(&self, query: usize) -> usize {
        usize::from(self.half[query])
    }

    /// Number of queries.
    #[expect(clippy::len_without_is_empty, reason = "there are always two halves")]
    pub fn len(&self) -> usize {
        self.half.len()
    }
}

/// The epoch chosen by one half of the queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChosenEpoch {
    /// Number of the epoch, from 1; ties go to the first.
    pub epoch: usize,
    /// Sum of the metric over the half that chose it.
    pub sum: f64,
    /// Number of queries of that half with a metric value.
    pub queries: usize,
}

/// The estimate of one run, updated after each epoch; uses memory for one value per query.
///
/// ```
/// use burnrank::analysis::significance::Better;
/// use burnrank::tune::{CrossEvaluator, Halves};
/// let halves = Halves::new(4, 1)?;
/// let mut evaluator = CrossEvaluator::new(halves.clone(), Better::Higher);
/// // The first epoch is good for the first half, the second for the other: each half is evaluated where it is bad.
/// for good in [0, 1] {
///     let values: Vec<_> = (0..4).map(|query| Some(if halves.of(query) == good { 0.75 } else { 0.25 })).collect();
///     evaluator.record(&values)?;
/// }
/// assert_eq!(evaluator.values(), [Some(0.25); 4]);
/// assert_eq!(evaluator.chosen().map(|chosen| chosen.map(|chosen| chosen.epoch)), [Some(1), Some(2)]);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CrossEvaluator {
    halves: Halves,
    better: Better,
    epochs: usize,
    chosen: [Option<ChosenEpoch>; 2],
    values: Vec<Option<f64>>,
}

impl CrossEvaluator {
    /// Creates the estimate, before the first epoch.
    pub fn new(halves: Halves, better: Better) -> Self {
        let values = vec![None; halves.len()];
        CrossEvaluator { halves, better, epochs: 0, chosen: [None; 2], values }
    }

    /// Records an epoch: the metric of each query, `None` for those that do not count, as returned by
    /// [`Trainer::valid_values`](crate::Trainer::valid_values).
    ///
    /// # Errors
    /// If there is not one value per query.
    pub fn record(&mut self, values: &[Option<f64>]) -> Result<()> {
        if values.len() != self.halves.len() {
            return Err(Error::Mismatch(format!(
                "{} values for {} validation queries",
                values.len(),
                self.halves.len()
            )));
        }
        self.epochs += 1;
        for half in 0..2 {
            let half_values = values.iter().enumerate().filter(|(query, _)| self.halves.of(*query) == half);
            let half_values: Vec<f64> = half_values.filter_map(|(_, value)| *value).collect();
            let (sum, queries) = (half_values.iter().sum::<f64>(), half_values.len());
            let better = self.chosen[half].is_none_or(|best| is_better(self.better, sum, best.sum));
            if queries > 0 && better {
                self.chosen[half] = Some(ChosenEpoch { epoch: self.epochs, sum, queries });
                for (query, value) in values.iter().enumerate().filter(|(query, _)| self.halves.of(*query) != half) {
                    self.values[query] = *value;
                }
            }
        }
        Ok(())
    }

    /// Metric of each query at the epoch that the other half chose; `None` before the first.
    pub fn values(&self) -> &[Option<f64>] {
        &self.values
    }

    /// The epochs chosen by the two halves.
    pub fn chosen(&self) -> [Option<ChosenEpoch>; 2] {
        self.chosen
    }
}

/// Returns whether the first value is better than the second.
pub(super) fn is_better(better: Better, first: f64, second: f64) -> bool {
    match better {
        Better::Higher => first > second,
        Better::Lower => first < second,
    }
}

/// Returns the mean difference of two runs on the same queries, first minus second, with its standard error.
///
/// Queries without a value in both are left out.
///
/// ```
/// let (first, second) = ([Some(0.5), Some(0.75), None], [Some(0.25), Some(0.25), Some(1.0)]);
/// let difference = burnrank::tune::paired(&first, &second);
/// assert_eq!((difference.mean, difference.n), ((0.25 + 0.5) / 2.0, 2));
/// // The differences are 1/8 from their mean: s^2 = 2/64, and s / sqrt(2) = 1/8.
/// assert_eq!(difference.standard_error, 0.125);
/// ```
pub fn paired(first: &[Option<f64>], second: &[Option<f64>]) -> Summary {
    let pairs = first.iter().zip(second);
    Summary::of(&pairs.map(|(first, second)| Some((*first)? - (*second)?)).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(halves: &Halves, [first, second]: [f64; 2]) -> Vec<Option<f64>> {
        (0..halves.len()).map(|query| Some([first, second][halves.of(query)])).collect()
    }

    fn evaluated(better: Better, epochs: &[[f64; 2]]) -> ([f64; 2], [usize; 2]) {
        let halves = Halves::new(7, 3).unwrap();
        let mut evaluator = CrossEvaluator::new(halves.clone(), better);
        epochs.iter().for_each(|epoch| evaluator.record(&values(&halves, *epoch)).unwrap());
        let of = |half| (0..7).find(|&q| halves.of(q) == half).and_then(|q| evaluator.values()[q]).unwrap();
        assert_eq!(evaluator.values(), values(&halves, [of(0), of(1)]), "each half is evaluated at one epoch");
        ([of(0), of(1)], evaluator.chosen().map(|chosen| chosen.unwrap().epoch))
    }

    #[test]
    fn halves_are_even_and_depend_on_the_seed_only() {
        for queries in [2, 3, 10, 157] {
            let halves = Halves::new(queries, 5).unwrap();
            let second = (0..queries).filter(|&query| halves.of(query) == 1).count();
            assert_eq!(second, queries / 2);
            assert_eq!(Halves::new(queries, 5).unwrap(), halves);
        }
        assert_ne!(Halves::new(157, 5).unwrap(), Halves::new(157, 6).unwrap());
        assert!(Halves::new(1, 5).unwrap_err().to_string().contains("at least 2"));
    }

    #[test]
    fn each_half_is_evaluated_at_the_epoch_chosen_by_the_other() {
        // The first half is best after epoch 2, the second after epoch 3.
        let epochs = [[0.1, 0.2], [0.9, 0.3], [0.5, 0.8], [0.4, 0.1]];
        assert_eq!(evaluated(Better::Higher, &epochs), ([0.5, 0.3], [2, 3]));
        // Lower is better: epochs 1 and 4.
        assert_eq!(evaluated(Better::Lower, &epochs), ([0.4, 0.2], [1, 4]));
        // Ties go to the first.
        assert_eq!(evaluated(Better::Higher, &[[0.5, 0.5], [0.5, 0.5]]), ([0.5, 0.5], [1, 1]));
    }

    #[test]
    fn the_estimate_is_unbiased_for_random_values() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let halves = Halves::new(100, 1).unwrap();
        let mut evaluator = CrossEvaluator::new(halves, Better::Higher);
        let mut best: f64 = 0.0;
        for _ in 0..200 {
            let epoch: Vec<_> = (0..100).map(|_| Some(random.random::<f64>())).collect();
            best = best.max(Summary::of(&epoch).mean);
            evaluator.record(&epoch).unwrap();
        }
        // The standard error of a mean of 100 uniform numbers.
        let error = (1.0_f64 / 12.0 / 100.0).sqrt();
        assert!(best > 0.5 + 2.0 * error, "{best}");
        assert!((Summary::of(evaluator.values()).mean - 0.5).abs() < 2.0 * error);
    }

    #[test]
    fn queries_that_do_not_count_do_not_choose() {
        let halves = Halves::new(4, 1).unwrap();
        let mut evaluator = CrossEvaluator::new(halves.clone(), Better::Higher);
        let first = (0..4).find(|&query| halves.of(query) == 0).unwrap();
        for value in [0.25, 0.5] {
            let mut epoch = vec![Some(value); 4];
            epoch[first] = None;
            evaluator.record(&epoch).unwrap();
        }
        assert_eq!(evaluator.values()[first], None);
        assert_eq!(evaluator.chosen()[0], Some(ChosenEpoch { epoch: 2, sum: 0.5, queries: 1 }));
        assert!(evaluator.record(&[None; 3]).unwrap_err().to_string().contains("3 values for 4"));
    }
}
