//! Number of possible pairs, and curves over numbers of pairs.

use burnrank::Dataset;

/// Number of pairs of documents of the same query with different levels.
pub fn possible(data: &Dataset, level: impl Fn(f32) -> f32) -> f64 {
    let pairs = |labels: &[f32]| {
        let levels: Vec<f32> = labels.iter().map(|&label| level(label)).collect();
        let different = |at: usize| levels[..at].iter().filter(|other| **other != levels[at]).count();
        (0..levels.len()).map(different).sum::<usize>()
    };
    data.queries().map(|query| pairs(query.labels)).sum::<usize>() as f64
}

/// Range that both curves cover, if there is one. Points are in ascending order.
pub fn common(curves: &[impl AsRef<[(f64, f64)]>; 2]) -> Option<(f64, f64)> {
    let [one, other] = curves.each_ref().map(AsRef::as_ref);
    let low = one.first()?.0.max(other.first()?.0);
    let high = one.last()?.0.min(other.last()?.0);
    (low <= high).then_some((low, high))
}

/// Mean difference of two piecewise linear curves over the range that both cover, if there is one. Points are in ascending
/// order.
pub fn difference(one: &[(f64, f64)], other: &[(f64, f64)]) -> Option<f64> {
    let (low, high) = common(&[one, other])?;
    let at = |curve: &[(f64, f64)], x: f64| -> f64 {
        let right = curve.iter().position(|point| point.0 >= x).unwrap_or(curve.len() - 1).max(1).min(curve.len() - 1);
        let ((x0, y0), (x1, y1)) = (curve[right.saturating_sub(1)], curve[right]);
        if x1 > x0 { y0 + (y1 - y0) * (x - x0) / (x1 - x0) } else { y1 }
    };
    const PLACES: usize = 33;
    let place = |number: usize| low + (high - low) * number as f64 / (PLACES - 1) as f64;
    Some((0..PLACES).map(place).map(|x| at(one, x) - at(other, x)).sum::<f64>() / PLACES as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_compared_over_their_common_range() {
        let one = [(0.0, 0.0), (2.0, 2.0)];
        let other = [(1.0, 0.0), (3.0, 0.0)];
        // Between 1 and 2 the first curve rises from 1 to 2, the second is 0.
        assert!((difference(&one, &other).unwrap() - 1.5).abs() < 1e-12);
        assert_eq!(common(&[&one, &other]), Some((1.0, 2.0)));
        assert_eq!(difference(&one, &[(5.0, 1.0), (6.0, 1.0)]), None);
        assert_eq!(difference(&one, &[(1.0, 0.25)]), Some(0.75));
    }

    #[test]
    fn pairs_of_different_levels_are_counted() {
        let data = Dataset::new(1, vec![0.0; 4], vec![0.0, 1.0, 2.0, 2.0], vec![("a".into(), 4)]).unwrap();
        assert_eq!(possible(&data, |label| label), 5.0);
        assert_eq!(possible(&data, |label| f32::from(u8::from(label >= 2.0))), 4.0);
    }
}
