//! Features discretised by thresholds.

use crate::data::Dataset;
use crate::error::Result;
use crate::memory;
use crate::stop::Stop;
use rayon::prelude::*;

/// The thresholds of each feature, and the bin of each document.
#[derive(Debug)]
pub(super) struct Thresholds {
    features: Vec<Bins>,
}

#[derive(Debug)]
struct Bins {
    /// In ascending order.
    thresholds: Vec<f32>,
    /// For each document, the number of thresholds below its value.
    pieces: Vec<u32>,
}

impl Thresholds {
    /// Computes `count` evenly spaced thresholds per feature from its minimum, or all of its values if `count` is 0. The maximum is
    /// left out, as no value is above it.
    ///
    /// # Errors
    /// If there is not enough memory, or the run is stopped.
    pub(super) fn new(data: &Dataset, count: usize, stop: &Stop) -> Result<Self> {
        let bytes = memory::bytes_of::<u32>(data.features().len() as u64);
        memory::ask(bytes, "the binned features", "train on fewer queries")?;
        let width = data.n_features();
        let bins = |feature: usize| {
            stop.check()?;
            let column: Vec<f32> = data.features().chunks_exact(width).map(|row| row[feature]).collect();
            let thresholds = if count == 0 { all_values(&column) } else { evenly_spaced(&column, count) };
            let piece = |value: &f32| thresholds.partition_point(|threshold| value > threshold) as u32;
            Ok(Bins { pieces: column.iter().map(piece).collect(), thresholds })
        };
        Ok(Thresholds { features: (0..width).into_par_iter().map(bins).collect::<Result<_>>()? })
    }

    pub(super) fn n_features(&self) -> usize {
        self.features.len()
    }

    /// For each threshold of a feature, from the highest down, the sum of `values` over the documents above it.
    pub(super) fn sums_above(&self, feature: usize, values: &[f64]) -> impl Iterator<Item = (f32, f64)> {
        let Bins { thresholds, pieces } = &self.features[feature];
        let mut sums = vec![0.0; thresholds.len() + 1];
        for (&piece, value) in pieces.iter().zip(values) {
            sums[piece as usize] += value;
        }
        let mut above = 0.0;
        (0..thresholds.len()).rev().map(move |at| {
            above += sums[at + 1];
            (thresholds[at], above)
        })
    }
}

fn all_values(column: &[f32]) -> Vec<f32> {
    let mut values = column.to_vec();
    values.sort_by(f32::total_cmp);
    values.dedup();
    values.pop();
    values
}

fn evenly_spaced(column: &[f32], count: usize) -> Vec<f32> {
    let (min, max) = column.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
    let part = |at: usize| (f64::from(min) + (f64::from(max) - f64::from(min)) * at as f64 / count as f64) as f32;
    let mut thresholds: Vec<f32> = (0..count).map(part).filter(|&threshold| threshold < max).collect();
    thresholds.dedup();
    thresholds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_and_sums_above_them() {
        let data =
            Dataset::new(2, vec![0.0, 5.0, 2.0, 5.0, 1.0, 5.0, 4.0, 5.0], vec![0.0; 4], vec![("a".into(), 4)]).unwrap();
        let values = [1.0, 10.0, 100.0, 1000.0];
        let all = |count: usize, feature: usize| -> Vec<(f32, f64)> {
            Thresholds::new(&data, count, &Stop::new()).unwrap().sums_above(feature, &values).collect()
        };
        assert_eq!(all(0, 0), [(2.0, 1000.0), (1.0, 1010.0), (0.0, 1110.0)]);
        assert_eq!(all(4, 0), [(3.0, 1000.0), (2.0, 1000.0), (1.0, 1010.0), (0.0, 1110.0)]);
        assert!(all(0, 1).is_empty() && all(10, 1).is_empty(), "a constant feature has no thresholds");
    }
}
