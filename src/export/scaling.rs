//! Helpers for exporting scalings.

use crate::data::scale::{Step, value};
use crate::numeric::order::{ascending, from_ascending};

/// Whether scaled features depend on the other documents of the query.
pub(super) fn is_per_query(steps: &[Step]) -> bool {
    steps.iter().any(Step::is_per_query)
}

/// The scaled value of a feature that was constant in the training data.
pub(super) fn constant(steps: &[Step], feature: usize) -> Option<f32> {
    let place = steps.iter().position(|step| matches!(step, Step::Affine(affine) if affine.spread[feature] <= 0.0))?;
    value(&steps[place + 1..], feature, 0.0)
}

/// The largest unscaled value whose scaled value is at most `bound`; minus infinity if there is none, infinity for all.
/// Returns `bound` for scaling within queries.
///
/// All other steps are monotone, so the value is found by binary search over all f32.
pub(super) fn raw_bound(steps: &[Step], feature: usize, bound: f32) -> f32 {
    let holds = |x: f32| value(steps, feature, x).is_none_or(|value| value <= bound);
    if steps.is_empty() || is_per_query(steps) {
        return bound;
    }
    if !holds(f32::MIN) {
        return f32::NEG_INFINITY;
    }
    if holds(f32::MAX) {
        return f32::INFINITY;
    }
    let (mut inside, mut outside) = (ascending(f32::MIN), ascending(f32::MAX));
    while outside - inside > 1 {
        let middle = inside + (outside - inside) / 2;
        if holds(from_ascending(middle)) { inside = middle } else { outside = middle }
    }
    from_ascending(inside)
}

/// A scaled feature as an expression in source code.
pub(super) struct Expression {
    /// In f64.
    pub double: String,
    /// Rounded to f32.
    pub single: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, ScaleKind, Scaler};

    fn fitted(kind: ScaleKind) -> Scaler {
        let features = vec![-3.0, 7.0, 1e6, 1.0, 7.0, 1e6 + 1.0, 5.0, 7.0, 1e6 + 9.0];
        let data = Dataset::new(3, features, vec![0.0; 3], vec![("a".into(), 3)]).unwrap();
        Scaler::fit(kind, &data)
    }

    #[test]
    fn values_equal_those_of_the_scaler_to_the_last_bit() {
        for kind in ScaleKind::ALL.into_iter().filter(|kind| !kind.is_per_query()) {
            let scaler = fitted(kind);
            for x in [-1e30, -3.0, -1e-20, 0.0, 0.1, 2.5, 7.0, 1e6, 1e6 + 3.0, 1e30] {
                let mut row = [x; 3];
                scaler.apply_rows(&mut row).unwrap();
                for (feature, expected) in row.into_iter().enumerate() {
                    assert_eq!(value(scaler.steps(), feature, x), Some(expected), "{kind} {x}");
                }
            }
        }
    }

    #[test]
    fn bounds_of_unscaled_values_are_exact() {
        for kind in ScaleKind::ALL.into_iter().filter(|kind| !kind.is_per_query()) {
            let scaler = fitted(kind);
            for bound in [-2.0, -0.1, 0.0, 1e-35, 0.3, 1.0, 4.0] {
                for feature in [0, 2] {
                    let raw = raw_bound(scaler.steps(), feature, bound);
                    if raw.is_finite() {
                        assert!(value(scaler.steps(), feature, raw).unwrap() <= bound, "{kind} {bound}");
                        assert!(value(scaler.steps(), feature, raw.next_up()).unwrap() > bound, "{kind} {bound}");
                    }
                }
            }
        }
        let scaler = fitted(ScaleKind::ZScore);
        assert_eq!((constant(scaler.steps(), 1), constant(scaler.steps(), 0)), (Some(0.0), None));
    }
}
