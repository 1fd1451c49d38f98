//! A fitted scaling as a model folder holds it.

use super::lines::KNOTS;
use super::{Lines, ScaleKind, Scaler, Step};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a file holds, checked before it becomes a [`Scaler`].
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    kind: ScaleKind,
    width: usize,
    center: Vec<f64>,
    spread: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    knots: Vec<f32>,
}

impl From<Scaler> for Stored {
    fn from(scaler: Scaler) -> Stored {
        let ((center, spread), knots) = (scaler.numbers(), scaler.knots());
        let (center, spread, knots) = (center.to_vec(), spread.to_vec(), knots.to_vec());
        Stored { kind: scaler.kind, width: scaler.width, center, spread, knots }
    }
}

impl TryFrom<Stored> for Scaler {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Scaler> {
        let Stored { kind, width, center, spread, knots } = stored;
        let mut steps = kind.outline();
        let wanted = if steps.iter().any(|step| matches!(step, Step::Affine(_))) { width } else { 0 };
        if center.len() != wanted || spread.len() != wanted {
            return Err(Error::Mismatch(format!(
                "a {kind} scaler of {width} features needs {wanted} centers and spreads, got {} and {}",
                center.len(),
                spread.len()
            )));
        }
        if !center.iter().chain(&spread).all(|value| value.is_finite()) || spread.iter().any(|&value| value < 0.0) {
            return Err(Error::Mismatch(
                "a scaler's centers and spreads must be finite, and no spread negative".into(),
            ));
        }
        let has_lines = steps.iter().any(|step| matches!(step, Step::Lines(_)));
        let wanted = if has_lines { width.saturating_mul(KNOTS) } else { 0 };
        let ascend = |knots: &[f32]| knots.is_sorted() && knots.iter().all(|knot| knot.is_finite());
        if knots.len() != wanted || !knots.chunks(KNOTS).all(ascend) {
            return Err(Error::Mismatch(format!(
                "a {kind} scaler of {width} features needs {wanted} knots, finite and ascending within each feature, got {}",
                knots.len()
            )));
        }
        let lines = Lines::of(knots);
        for step in &mut steps {
            match step {
                Step::Affine(affine) => (affine.center, affine.spread) = (center.clone(), spread.clone()),
                Step::Lines(place) => *place = lines.clone(),
                Step::SignedLog | Step::WithinQuery(_) => {}
            }
        }
        Ok(Scaler { kind, width, steps })
    }
}
