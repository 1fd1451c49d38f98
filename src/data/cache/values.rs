//! Features as the bytes of a file: f32 as they are, or rounded to f16.

use crate::error::{Error, Result};
use half::f16;
use half::slice::HalfFloatSliceExt;
use std::ops::Range;

/// What rounding to f16 changed at most.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Rounding {
    /// The largest distance between a value and its f16.
    pub error: f32,
    /// The value that has it.
    pub value: f32,
    /// The largest distance as a share of the value's size, of values of at least 2^-14, where f16 has all its digits.
    pub relative: f32,
}

/// The smallest f16 with all its digits.
const NORMAL: f32 = 6.103_515_6e-5;

/// The bytes of a file's features, row by row.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    half: bool,
    first_index: usize,
    pub rounding: Rounding,
    bytes: Vec<u8>,
    halves: Vec<f16>,
    padded: Vec<f32>,
}

impl Encoder {
    /// To f16, or not; errors count features from `first_index`.
    pub fn new(half: bool, first_index: u32) -> Self {
        Encoder { half, first_index: first_index as usize, ..Encoder::default() }
    }

    /// The bytes of `rows` of `from` features each as rows of `to`, which are not fewer.
    pub fn encode(&mut self, values: &[f32], rows: Range<usize>, from: usize, to: usize) -> Result<&[u8]> {
        let mut padded = std::mem::take(&mut self.padded);
        if from < to {
            padded.clear();
            padded.resize(rows.len() * to, 0.0);
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
        for (place, (&value, half)) in values.iter().zip(&self.halves).enumerate() {
            let error = (value - half.to_f32()).abs();
            // Also where a value is not a number, which no text has.
            if !error.is_finite() {
                let (document, feature) = (first + place / width.max(1) + 1, place % width.max(1) + self.first_index);
                return Err(Error::Data(format!(
                    "feature {feature} of document {document} is {value}, and f16 ends at 65504: leave out --half",
                )));
            }
            if error > self.rounding.error {
                (self.rounding.error, self.rounding.value) = (error, value);
            }
            if value.abs() >= NORMAL {
                self.rounding.relative = self.rounding.relative.max(error / value.abs());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_little_endian_and_rows_are_filled_up() {
        let mut encoder = Encoder::default();
        let expected = [1.5f32, 0.0, -2.0, 0.0].map(f32::to_le_bytes).concat();
        assert_eq!(encoder.encode(&[], 0..2, 0, 1).unwrap(), [0; 8]);
        assert_eq!(encoder.encode(&[1.5, -2.0], 0..2, 1, 2).unwrap(), expected);
        let mut encoder = Encoder::new(true, 1);
        assert_eq!(encoder.encode(&[1.0, 0.1], 0..1, 2, 2).unwrap(), [0x00, 0x3c, 0x66, 0x2e]);
        // 0.1 becomes 1638 / 2^14.
        let error = (0.1f32 - 1638.0 / 16384.0).abs();
        assert_eq!(encoder.rounding, Rounding { error, value: 0.1, relative: error / 0.1 });
    }

    #[test]
    fn what_f16_cannot_hold_is_refused() {
        let mut encoder = Encoder::new(true, 1);
        encoder.encode(&[65504.0, -65504.0, 65519.0], 0..3, 1, 1).unwrap();
        let error = encoder.encode(&[0.0, 0.0, 1.0, 65520.0], 10..12, 2, 2).unwrap_err().to_string();
        assert!(error.starts_with("feature 2 of document 12 is 65520"), "{error}");
        assert!(encoder.encode(&[f32::NAN], 0..1, 1, 1).is_err());
    }
}
