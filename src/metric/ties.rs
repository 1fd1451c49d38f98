//! Mean of a metric over all orders of documents with equal scores.

/// Returns the mean of the sum of `gain(label) * weight(position)` over all orders of the documents within each group.
///
/// Within a group every document is at every position equally often, so each position contributes the group's mean
/// gain.
pub(super) fn mean_over_ties(
    ranked: &[f32],
    ends: &[usize],
    gain: impl Fn(f32) -> f64,
    weight: impl Fn(usize) -> f64,
) -> f64 {
    let mut start = 0;
    let mut sum = 0.0;
    for &end in ends {
        let weights: f64 = (start..end).map(&weight).sum();
        if weights != 0.0 {
            let total: f64 = ranked[start..end].iter().map(|&label| gain(label)).sum();
            sum += total / (end - start) as f64 * weights;
        }
        start = end;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_contribute_their_mean() {
        // Orders of the last three: each label is at ranks 2, 3 and 4 equally often.
        let sum = mean_over_ties(&[5.0, 0.0, 1.0, 2.0], &[1, 4], f64::from, |position| (position + 1) as f64);
        assert_eq!(sum, 5.0 + (2.0 + 3.0 + 4.0) * 1.0);
    }
}
