//! Folds and splits by query: all documents of a query stay together.

use crate::error::{Error, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Splits the queries `0..n_queries`, shuffled with `seed`, into `k` folds whose sizes differ by at most one.
///
/// The indices of a fold are sorted, so that [`Dataset::select`](crate::Dataset::select) reads the data in order.
///
/// # Errors
/// When `k` is below 2 or above the number of queries.
///
/// ```
/// let folds = burnrank::data::kfold(7, 3, 42)?;
/// assert_eq!(folds.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2, 2]);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub fn kfold(n_queries: usize, k: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
    if k < 2 {
        return Err(Error::Config(format!("{k} folds: at least 2 are needed, one to train on and one to hold out")));
    }
    if k > n_queries {
        return Err(Error::Data(format!("{k} folds of {n_queries} queries: some would be empty; use fewer folds")));
    }
    let sizes: Vec<usize> = (0..k).map(|fold| n_queries / k + usize::from(fold < n_queries % k)).collect();
    Ok(shuffle_and_cut(n_queries, &sizes, seed))
}

/// Returns the training, validation and test queries of each fold, as in LETOR: fold by fold the test part moves by one, and the
/// part before it is used for validation. `parts` are at least 3 parts of [`kfold`].
pub fn rotated(parts: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let k = parts.len();
    let fold = |f: usize| {
        let mut train: Vec<usize> = (0..k.saturating_sub(2)).flat_map(|i| parts[(f + i) % k].iter().copied()).collect();
        train.sort_unstable();
        [train, parts[(f + k - 2) % k].clone(), parts[(f + k - 1) % k].clone()]
    };
    (0..k).flat_map(fold).collect()
}

/// Splits the queries `0..n_queries`, shuffled with `seed`, into parts of the given proportions, such as 0.6, 0.2, 0.2 for
/// training, validation and test.
///
/// Proportions are relative to their sum: 3, 1, 1 means the same. Sizes are rounded by the largest remainder method: they sum
/// to the number of queries, and each differs from its exact share by less than one query.
///
/// # Errors
/// When a proportion is not a positive number, or a part would be empty.
///
/// ```
/// let parts = burnrank::split(10, &[0.6, 0.2, 0.2], 42)?;
/// assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [6, 2, 2]);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub fn split(n_queries: usize, proportions: &[f64], seed: u64) -> Result<Vec<Vec<usize>>> {
    let total: f64 = proportions.iter().sum();
    if proportions.is_empty() {
        return Err(Error::Config("a split needs at least one proportion".into()));
    }
    if let Some(bad) = proportions.iter().find(|p| !(p.is_finite() && **p > 0.0)) {
        return Err(Error::Config(format!("bad proportion {bad} of a split: expected a number above 0")));
    }
    if !total.is_finite() {
        return Err(Error::Config("the proportions of a split are too large to add up".into()));
    }
    let shares: Vec<f64> = proportions.iter().map(|p| n_queries as f64 * (p / total)).collect();
    let sizes = largest_remainder(n_queries, &shares);
    if let Some(empty) = sizes.iter().position(|&size| size == 0) {
        return Err(Error::Data(format!(
            "part {} of the split would be empty: {} of {n_queries} queries is less than one; change the proportions",
            empty + 1,
            proportions[empty] / total,
        )));
    }
    Ok(shuffle_and_cut(n_queries, &sizes, seed))
}

/// Rounds shares to integers that sum to `total`: those with the largest remainders up, the others down.
fn largest_remainder(total: usize, shares: &[f64]) -> Vec<usize> {
    // 0.2 of 10 may be computed as 1.9999999999999998: a value this close to an integer is rounded to it.
    let floor = |share: f64| {
        if (share - share.round()).abs() < 1e-9 * share.abs().max(1.0) { share.round() } else { share.floor() }
    };
    let mut sizes: Vec<usize> = shares.iter().map(|&share| floor(share) as usize).collect();
    let mut by_remainder: Vec<usize> = (0..shares.len()).collect();
    by_remainder.sort_by(|&a, &b| (shares[b] - floor(shares[b])).total_cmp(&(shares[a] - floor(shares[a]))));
    let missing = total.saturating_sub(sizes.iter().sum());
    by_remainder.iter().cycle().take(missing).for_each(|&part| sizes[part] += 1);
    sizes
}

fn shuffle_and_cut(n_queries: usize, sizes: &[usize], seed: u64) -> Vec<Vec<usize>> {
    let mut queries: Vec<usize> = (0..n_queries).collect();
    queries.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut rest = queries.into_iter();
    let part = |&size: &usize| {
        let mut part: Vec<usize> = rest.by_ref().take(size).collect();
        part.sort_unstable();
        part
    };
    sizes.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_partition(parts: &[Vec<usize>], n: usize) -> bool {
        let mut all: Vec<usize> = parts.concat();
        all.sort_unstable();
        all.into_iter().eq(0..n) && parts.iter().all(|part| part.is_sorted() && !part.is_empty())
    }

    #[test]
    fn fold_sizes_differ_by_at_most_one() {
        for (n, k) in [(2, 2), (10, 3), (101, 5), (1000, 7)] {
            let folds = kfold(n, k, 3).unwrap();
            assert!(is_partition(&folds, n));
            assert!(folds.iter().all(|fold| fold.len() == n / k || fold.len() == n / k + 1));
        }
    }

    #[test]
    fn five_folds_rotate_as_in_letor() {
        let parts: Vec<Vec<usize>> = (1..=5).map(|part| vec![part]).collect();
        let folds = rotated(&parts);
        assert_eq!(folds[..3], [vec![1, 2, 3], vec![4], vec![5]]);
        assert_eq!(folds[3..6], [vec![2, 3, 4], vec![5], vec![1]]);
        assert_eq!(folds[12..], [vec![1, 2, 5], vec![3], vec![4]]);
    }

    #[test]
    fn the_seed_determines_the_shuffle() {
        assert_eq!(kfold(100, 5, 1).unwrap(), kfold(100, 5, 1).unwrap());
        assert_ne!(kfold(100, 5, 1).unwrap(), kfold(100, 5, 2).unwrap());
        assert_ne!(split(100, &[1.0, 1.0], 1).unwrap()[0], (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn splits_round_by_largest_remainder() {
        let sizes = |n, p: &[f64]| split(n, p, 0).unwrap().iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(17_004, &[2.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0]), [11_336, 2_834, 2_834]);
        assert_eq!(sizes(10, &[0.7, 0.2, 0.1]), [7, 2, 1]);
        assert_eq!(sizes(25_000, &[10.0, 5.0, 10.0]), [10_000, 5_000, 10_000]);
        // Shares 1.75, 1.25, 4: the first has the largest remainder.
        assert_eq!(sizes(7, &[0.25, 1.25 / 7.0, 4.0 / 7.0]), [2, 1, 4]);
        assert_eq!(sizes(5, &[1.0]), [5]);
        for n in 3..200 {
            assert!(is_partition(&split(n, &[0.4, 0.3, 0.3], 9).unwrap(), n));
        }
    }

    #[test]
    fn invalid_splits_are_rejected() {
        let assert_error = |result: Result<Vec<Vec<usize>>>, text: &str| {
            let message = result.unwrap_err().to_string();
            assert!(message.contains(text), "{message}");
        };
        assert_error(kfold(10, 1, 0), "at least 2");
        assert_error(kfold(3, 4, 0), "some would be empty");
        assert_error(split(10, &[], 0), "at least one");
        assert_error(split(10, &[0.5, 0.0], 0), "bad proportion 0");
        assert_error(split(10, &[0.5, -1.0], 0), "bad proportion -1");
        assert_error(split(10, &[0.5, f64::NAN], 0), "bad proportion NaN");
        assert_error(split(10, &[f64::MAX, f64::MAX], 0), "too large");
        assert_error(split(3, &[0.8, 0.1, 0.1], 0), "part 2 of the split would be empty");
        assert_error(split(0, &[1.0], 0), "empty");
    }
}
