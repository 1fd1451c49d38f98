//! The mean of a measure over all orders of equally scored documents.

/// The mean of the sum of `worth(label) * weight(position)` over all orders of the documents within each group.
///
/// Within a group every document stands at every position equally often: each position is worth the group's mean.
pub(super) fn mean_over_ties(
    ranked: &[f32],
    ends: &[usize],
    worth: impl Fn(f32) -> f64,
    weight: impl Fn(usize) -> f64,
) -> f64 {
    let mut start = 0;
    let mut sum = 0.0;
    for &end in ends {
        let weights: f64 = (start..end).map(&weight).sum();
        if weights != 0.0 {
            let total: f64 = ranked[start..end].iter().map(|&label| worth(label)).sum();
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
    fn a_group_shares_its_positions() {
        // Orders of the last three: each label is at ranks 2, 3 and 4 equally often.
        let sum = mean_over_ties(&[5.0, 0.0, 1.0, 2.0], &[1, 4], f64::from, |position| (position + 1) as f64);
        assert_eq!(sum, 5.0 + (2.0 + 3.0 + 4.0) * 1.0);
    }
}
