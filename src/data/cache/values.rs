//! Encoding features as bytes: as f32, or rounded to f16.

use crate::error::{Error, Result};
use half::f16;
use half::slice::HalfFloatSliceExt;
use std::ops::Range;

/// The errors of rounding to f16.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Rounding {
    /// Maximum absolute error.
    pub error: f32,
    /// Value with the maximum absolute error.
    pub value: f32,
    /// Maximum relative error of values that do not become 0.
    pub relative: f32,
    /// Number of nonzero values that become 0 because they are too small for f16.
    pub underflows: u64,
}

/// The first value that is too small for f16.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Underflow {
    document: usize,
    feature: usize,
    value: f32,
}

/// Encodes features, row by row.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    half: bool,
    first_index: usize,
    pub rounding: Rounding,
    first_underflow: Option<Underflow>,
    bytes: Vec<u8>,
    halves: Vec<f16>,
    padded: Vec<f32>,
}

impl Encoder {
    /// Encodes as f16 if `half`, otherwise as f32. Errors count features from `first_index`.
    pub fn new(half: bool, first_index: u32) -> Self {
        Encoder { half, first_index: first_index as usize, ..Encoder::default() }
    }

    /// Returns the bytes of a value.
    pub fn bytes_of(&self, value: f32) -> Vec<u8> {
        if self.half { f16::from_f32(value).to_le_bytes().to_vec() } else { value.to_le_bytes().to_vec() }
    }

    /// Encodes `rows` of `from` features each as rows of `to >= from` features, padded with `padding`.
    pub fn encode(
        &mut self,
        values: &[f32],
        rows: Range<usize>,
        [from, to]: [usize; 2],
        padding: f32,
    ) -> Result<&[u8]> {
        let mut padded = std::mem::take(&mut self.padded);
        if from < to {
            padded.clear();
            padded.resize(rows.len() * to, padding);
            for (to, from) in padded.chunks_exact_mut(to).zip(values.chunks_exact(from.max(1))) {
                to[..from.len()].copy_from_slice(from);
            }
        }
        let values = if from < to { &padded } else { values };
        self.bytes.resize(values.len() * if self.half { 2 } else { 4 }, 0);
        if self.half {
            self.round(values, to, rows.start)?;
            let bytes = self.bytes.as_chunks_mut().0;
            bytes.iter_mut().zip(&self.halves).for_each(|(bytes, value)| *bytes = value.to_bits().to_le_bytes());
        } else {
            let bytes = self.bytes.as_chunks_mut().0;
            bytes.iter_mut().zip(values).for_each(|(bytes, value)| *bytes = value.to_le_bytes());
        }
        self.padded = padded;
        Ok(&self.bytes)
    }

    fn round(&mut self, values: &[f32], width: usize, first: usize) -> Result<()> {
        self.halves.resize(values.len(), f16::ZERO);
        self.halves.convert_from_f32_slice(values);
        for (index, (&value, half)) in
            values.iter().zip(&self.halves).enumerate().filter(|(_, (value, _))| !value.is_nan())
        {
            let error = (value - half.to_f32()).abs();
            let at = || (first + index / width.max(1) + 1, index % width.max(1) + self.first_index);
            if !error.is_finite() {
                let (document, feature) = at();
                return Err(Error::Data(format!(
                    "feature {feature} of document {document} is {value}, but the largest f16 is 65504: omit `half`",
                )));
            }
            if error > self.rounding.error {
                (self.rounding.error, self.rounding.value) = (error, value);
            }
            if error == value.abs() && error > 0.0 {
                self.rounding.underflows += 1;
                self.first_underflow.get_or_insert_with(|| {
                    let (document, feature) = at();
                    Underflow { document, feature, value }
                });
            } else if error > 0.0 {
                self.rounding.relative = self.rounding.relative.max(error / value.abs());
            }
        }
        Ok(())
    }

    /// Fails when nonzero values became 0.
    pub fn check_underflow(&self) -> Result<()> {
        let Some(Underflow { document, feature, value }) = self.first_underflow else { return Ok(()) };
        let count = self.rounding.underflows;
        let becomes = if count == 1 { "nonzero value becomes" } else { "nonzero values become" };
        Err(Error::Data(format!(
            "{count} {becomes} 0 in f16, the first is {value:e}, feature {feature} of document {document}: omit `half`, scale \
             the features, or accept the loss with `force`"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_little_endian_and_rows_are_padded() {
        let mut encoder = Encoder::default();
        let expected = [1.5f32, 0.0, -2.0, 0.0].map(f32::to_le_bytes).concat();
        assert_eq!(encoder.encode(&[], 0..2, [0, 1], 0.0).unwrap(), [0; 8]);
        assert_eq!(encoder.encode(&[1.5, -2.0], 0..2, [1, 2], 0.0).unwrap(), expected);
        let mut encoder = Encoder::new(true, 1);
        assert_eq!(encoder.encode(&[1.0, 0.1], 0..1, [2, 2], 0.0).unwrap(), [0x00, 0x3c, 0x66, 0x2e]);
        // 0.1 becomes 1638 / 2^14.
        let error = (0.1f32 - 1638.0 / 16384.0).abs();
        assert_eq!(encoder.rounding, Rounding { error, value: 0.1, relative: error / 0.1, underflows: 0 });
    }

    #[test]
    fn values_that_become_zero_are_counted_and_rejected() {
        let mut encoder = Encoder::new(true, 1);
        // The smallest f16 is 2^-24, and half of it rounds to 0.
        let (smallest, lost) = (2f32.powi(-24), 2f32.powi(-25));
        encoder.encode(&[0.0, -0.0, smallest, 1.6 * smallest], 0..4, [1, 1], 0.0).unwrap();
        encoder.check_underflow().unwrap();
        let relative = (1.6f32 * smallest - 2.0 * smallest) / (1.6 * smallest);
        assert_eq!(encoder.rounding.relative, relative.abs());
        encoder.encode(&[1.0, 1e-9, -lost, 2.0], 4..6, [2, 2], 0.0).unwrap();
        assert_eq!((encoder.rounding.underflows, encoder.rounding.relative), (2, relative.abs()));
        let error = encoder.check_underflow().unwrap_err().to_string();
        let expected = "2 nonzero values become 0 in f16, the first is 1e-9, feature 2 of document 5: omit `half`";
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn values_too_large_for_f16_are_rejected() {
        let mut encoder = Encoder::new(true, 1);
        encoder.encode(&[65504.0, -65504.0, 65519.0], 0..3, [1, 1], 0.0).unwrap();
        let error = encoder.encode(&[0.0, 0.0, 1.0, 65520.0], 10..12, [2, 2], 0.0).unwrap_err().to_string();
        assert!(error.starts_with("feature 2 of document 12 is 65520"), "{error}");
        assert!(encoder.encode(&[f32::INFINITY], 0..1, [1, 1], 0.0).is_err());
        let missing = encoder.encode(&[f32::NAN], 0..1, [1, 1], 0.0).unwrap();
        assert!(f16::from_le_bytes([missing[0], missing[1]]).is_nan());
    }
}
