//! The serialized form of a fitted scaling in a model folder.

use super::inputs::{Category, Inputs};
use super::lines::KNOTS;
use super::pieces::PieceColumn;
use super::{Lines, Pieces, ScaleKind, Scaler, Step};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A serialized scaler, validated when it is converted to a [`Scaler`].
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    kind: ScaleKind,
    width: usize,
    center: Vec<f64>,
    spread: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    knots: Vec<f32>,
    /// One per feature for `piecewise`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pieces: Vec<PieceColumn>,
    /// Value in place of a missing one, feature by feature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    medians: Vec<f32>,
    /// Columns of features with an input that is 1 if they are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    indicators: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    categories: Vec<Category>,
}

impl From<Scaler> for Stored {
    fn from(scaler: Scaler) -> Stored {
        let ((center, spread), knots) = (scaler.numbers(), scaler.knots());
        let (center, spread, knots) = (center.to_vec(), spread.to_vec(), knots.to_vec());
        let pieces = scaler.pieces().map_or(&[][..], Pieces::columns).to_vec();
        let Inputs { medians, indicators, categories } = scaler.inputs;
        Stored {
            kind: scaler.kind,
            width: scaler.width,
            center,
            spread,
            knots,
            pieces,
            medians,
            indicators,
            categories,
        }
    }
}

impl TryFrom<Stored> for Scaler {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Scaler> {
        let Stored { kind, width, center, spread, knots, pieces, medians, indicators, categories } = stored;
        let inputs = Inputs { medians, indicators, categories };
        inputs.check(width)?;
        let mut steps = kind.outline();
        let expected = if steps.iter().any(|step| matches!(step, Step::Affine(_))) { width } else { 0 };
        if center.len() != expected || spread.len() != expected {
            return Err(Error::Mismatch(format!(
                "a {kind} scaler of {width} features needs {expected} centers and spreads, got {} and {}",
                center.len(),
                spread.len()
            )));
        }
        if !center.iter().chain(&spread).all(|value| value.is_finite()) || spread.iter().any(|&value| value < 0.0) {
            return Err(Error::Mismatch(
                "centers and spreads of a scaler must be finite, and spreads must not be negative".into(),
            ));
        }
        let has_lines = steps.iter().any(|step| matches!(step, Step::Lines(_)));
        let expected = if has_lines { width.saturating_mul(KNOTS) } else { 0 };
        let ascending = |knots: &[f32]| knots.is_sorted() && knots.iter().all(|knot| knot.is_finite());
        if knots.len() != expected || !knots.chunks(KNOTS).all(ascending) {
            return Err(Error::Mismatch(format!(
                "a {kind} scaler of {width} features needs {expected} knots, finite and ascending within each feature, got {}",
                knots.len()
            )));
        }
        let has_pieces = steps.iter().any(|step| matches!(step, Step::Pieces(_)));
        let expected = if has_pieces { width } else { 0 };
        if pieces.len() != expected || !pieces.iter().all(PieceColumn::is_valid) {
            return Err(Error::Mismatch(format!(
                "a {kind} scaler of {width} features needs the bins of {expected} features, each with ascending knots and a \
                 mean from 0 to 1 for each bin, got {}",
                pieces.len()
            )));
        }
        let lines = Lines::of(knots);
        for step in &mut steps {
            match step {
                Step::Affine(affine) => (affine.center, affine.spread) = (center.clone(), spread.clone()),
                Step::Lines(fitted) => *fitted = lines.clone(),
                Step::Pieces(fitted) => *fitted = Pieces::of(pieces.clone()),
                Step::SignedLog | Step::WithinQuery(_) => {}
            }
        }
        Ok(Scaler { kind, width, steps, inputs })
    }
}
