//! Inputs of a model beside scaled features: medians in place of missing values, indicators of missing values, and one input per
//! level of a categorical feature.
//!
//! The inputs of a document are, in this order:
//!
//! 1. the scaled features, without the categorical ones; a missing value is replaced by the median of the training documents before
//!    it is scaled;
//! 2. for each feature that is missing in more than 1% of the training documents: 1 if it is missing, otherwise 0;
//! 3. for each level of each categorical feature: 1 if the feature has this level, otherwise 0. For a missing value, and for a
//!    level that no training document has, all inputs of the feature are 0.
//!
//! Without missing values and categorical features, the inputs are the scaled features.

use super::columns::ColumnStats;
use super::columns::quantiles::MEDIAN;
use super::lines::KNOTS;
use crate::data::dataset::Dataset;
use crate::data::scale::Rows;
use crate::error::{Error, Result};
use std::collections::BTreeSet;

/// Maximum number of levels of a categorical feature for nets.
pub(super) const MAX_LEVELS: usize = 64;

/// The largest level: all integers up to it are f32 values.
pub(super) const LARGEST_LEVEL: u32 = 1 << 24;

/// Number of documents among which a feature must be missing more than once on average to have an indicator.
const INDICATED: usize = 100;

/// Maximum number of rows read at a time.
const BLOCK: usize = 1024;

/// The inputs of a model that are not just scaled features. The default has none.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Inputs {
    /// Value in place of a missing one, feature by feature; empty if missing values are not replaced.
    pub medians: Vec<f32>,
    /// Features with an indicator, ascending.
    pub indicators: Vec<usize>,
    /// Categorical features, ascending.
    pub categories: Vec<Category>,
}

/// A categorical feature and its levels.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Category {
    /// Column, from 0.
    pub feature: usize,
    /// Levels of the training documents, ascending.
    pub levels: Vec<u32>,
}

/// An input of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Input {
    /// The scaled value of a feature.
    Scaled(usize),
    /// 1 if a feature is missing, otherwise 0.
    Missing(usize),
    /// 1 if a feature has this value, otherwise 0.
    Level(usize, f32),
}

impl Input {
    /// Returns the feature, from 0.
    pub fn feature(self) -> usize {
        match self {
            Input::Scaled(feature) | Input::Missing(feature) | Input::Level(feature, _) => feature,
        }
    }

    /// Returns the input for an unscaled value. `None` for a scaled feature.
    fn mark(self, x: f32) -> Option<f32> {
        match self {
            Input::Scaled(_) => None,
            Input::Missing(_) => Some(f32::from(u8::from(x.is_nan()))),
            Input::Level(_, level) => Some(f32::from(u8::from(x == level))),
        }
    }
}

impl Inputs {
    /// Fits medians and indicators to training documents with missing values, given how many documents lack each feature.
    pub fn fit(columns: &dyn ColumnStats, missing: &[usize], documents: usize) -> Self {
        let medians = columns.quantiles().chunks(KNOTS).map(|knots| knots[MEDIAN]).collect();
        let is_indicated = |count: usize| count.saturating_mul(INDICATED) > documents;
        let indicators = (0..missing.len()).filter(|&feature| is_indicated(missing[feature])).collect();
        Inputs { medians, indicators, categories: Vec::new() }
    }

    /// Checks that stored numbers are valid for `width` features.
    pub fn check(&self, width: usize) -> Result<()> {
        let ascending =
            |columns: &[usize]| columns.is_sorted_by(|a, b| a < b) && columns.last().is_none_or(|&last| last < width);
        let categorical: Vec<usize> = self.categories.iter().map(|category| category.feature).collect();
        let valid_levels = |category: &Category| {
            let levels = &category.levels;
            levels.len() <= MAX_LEVELS
                && levels.is_sorted_by(|a, b| a < b)
                && levels.last().is_none_or(|&last| last <= LARGEST_LEVEL)
        };
        let valid = [0, width].contains(&self.medians.len())
            && self.medians.iter().all(|median| median.is_finite())
            && ascending(&self.indicators)
            && ascending(&categorical)
            && self.categories.iter().all(valid_levels);
        let message = format!(
            "a scaler of {width} features needs no medians or {width} finite ones, and ascending columns and levels of indicators \
             and categories"
        );
        if valid { Ok(()) } else { Err(Error::Mismatch(message)) }
    }

    /// Whether the inputs are not one per feature.
    pub fn widens(&self) -> bool {
        !self.indicators.is_empty() || !self.categories.is_empty()
    }

    /// Whether the inputs are the scaled features.
    pub fn is_empty(&self) -> bool {
        self.medians.is_empty() && !self.widens()
    }

    fn is_categorical(&self, feature: usize) -> bool {
        self.categories.binary_search_by_key(&feature, |category| category.feature).is_ok()
    }

    /// Returns the number of inputs for `width` features.
    pub fn count(&self, width: usize) -> usize {
        let levels: usize = self.categories.iter().map(|category| category.levels.len()).sum();
        width - self.categories.len() + self.indicators.len() + levels
    }

    /// Lists the inputs for `width` features.
    pub fn list(&self, width: usize) -> Vec<Input> {
        let scaled = (0..width).filter(|&feature| !self.is_categorical(feature)).map(Input::Scaled);
        let indicators = self.indicators.iter().map(|&feature| Input::Missing(feature));
        let level = |category: &Category| {
            let feature = category.feature;
            category.levels.iter().map(move |&level| Input::Level(feature, level as f32)).collect::<Vec<_>>()
        };
        scaled.chain(indicators).chain(self.categories.iter().flat_map(level)).collect()
    }

    /// Replaces missing values in unscaled rows.
    pub fn impute(&self, rows: &mut [f32]) {
        if self.medians.is_empty() {
            return;
        }
        for row in rows.chunks_exact_mut(self.medians.len()) {
            row.iter_mut().zip(&self.medians).for_each(|(x, &median)| *x = if x.is_nan() { median } else { *x });
        }
    }

    /// Writes the inputs that are not scaled features: those of the unscaled rows, of `width` features each.
    pub fn mark(&self, list: &[Input], rows: &[f32], width: usize, inputs: &mut [f32]) {
        for (row, inputs) in rows.chunks_exact(width.max(1)).zip(inputs.chunks_exact_mut(list.len().max(1))) {
            for (to, input) in inputs.iter_mut().zip(list) {
                if let Some(mark) = input.mark(row[input.feature()]) {
                    *to = mark;
                }
            }
        }
    }

    /// Writes the inputs that are scaled features.
    pub fn place(&self, list: &[Input], scaled: &[f32], width: usize, inputs: &mut [f32]) {
        for (row, inputs) in scaled.chunks_exact(width.max(1)).zip(inputs.chunks_exact_mut(list.len().max(1))) {
            for (to, input) in inputs.iter_mut().zip(list) {
                if let Input::Scaled(feature) = input {
                    *to = row[*feature];
                }
            }
        }
    }
}

/// Collects the levels of categorical features in unscaled rows.
pub(super) fn levels(data: &Dataset, features: &[usize]) -> Result<Vec<BTreeSet<u32>>> {
    let mut all = vec![BTreeSet::new(); features.len()];
    if features.is_empty() {
        return Ok(all);
    }
    let (width, documents) = (data.n_features(), data.n_documents());
    for start in (0..documents).step_by(BLOCK) {
        data.with(start..documents.min(start + BLOCK), |rows| {
            for (place, row) in rows.chunks_exact(width).enumerate() {
                for (levels, &feature) in all.iter_mut().zip(features) {
                    let value = row[feature];
                    if value.is_nan() {
                        continue;
                    }
                    let level = level(value).ok_or_else(|| not_a_level(feature, start + place, value))?;
                    levels.insert(level);
                }
            }
            Ok::<(), Error>(())
        })?;
    }
    Ok(all)
}

/// Returns a value as a level: a whole number of 0 or more.
fn level(value: f32) -> Option<u32> {
    let level = value as u32;
    (value >= 0.0 && level as f32 == value && level <= LARGEST_LEVEL).then_some(level)
}

#[cold]
fn not_a_level(feature: usize, document: usize, value: f32) -> Error {
    Error::Data(format!(
        "categorical feature {} of document {} is {value}: levels are whole numbers from 0 to {LARGEST_LEVEL}; number the levels, \
         or remove the feature from `categorical`",
        feature + 1,
        document + 1
    ))
}

/// Returns categorical features with their levels.
///
/// # Errors
/// If a feature has too many levels.
pub(super) fn categories(features: &[usize], levels: Vec<BTreeSet<u32>>) -> Result<Vec<Category>> {
    let category = |(&feature, levels): (&usize, BTreeSet<u32>)| {
        let count = levels.len();
        if count > MAX_LEVELS {
            return Err(Error::Data(format!(
                "categorical feature {} has {count} levels, but nets have one input for each of at most {MAX_LEVELS}: train with \
                 `model` trees, merge rare levels, or remove the feature from `categorical`",
                feature + 1
            )));
        }
        Ok(Category { feature, levels: levels.into_iter().collect() })
    };
    features.iter().zip(levels).map(category).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Preprocessing, ScaleKind, Scaler};
    use super::*;
    use crate::data::cache::{CacheOptions, CacheWriter};
    use crate::distributed::{range_of_rank, threads::each};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::ops::Range;

    const WIDTH: usize = 5;

    fn dataset(values: Vec<f32>, width: usize, each: usize) -> Dataset {
        let documents = values.len() / width;
        let sizes = (0..documents.div_ceil(each)).map(|query| (query.to_string(), each.min(documents - query * each)));
        Dataset::new(width, values, vec![0.0; documents], sizes.collect()).unwrap()
    }

    /// Feature 1 has levels, 2 is missing in 20% of the documents, 3 in exactly 1%, 4 in a little more, 0 never.
    fn random(documents: usize) -> Dataset {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let row = |row: usize| {
            let mut value = || rng.random::<f32>() * 10.0 - 3.0;
            let mut values = [value(), (row % 3 + row % 2 * 7) as f32, value(), value(), value()];
            values[1] = if row.is_multiple_of(11) { f32::NAN } else { values[1] };
            values[2] = if row % 5 == 1 { f32::NAN } else { values[2] };
            values[3] = if row % 100 == 3 { f32::NAN } else { values[3] };
            values[4] = if row % 100 == 4 || row == 7 { f32::NAN } else { values[4] };
            values
        };
        dataset((0..documents).flat_map(row).collect(), WIDTH, 10)
    }

    fn rules(kind: ScaleKind) -> Preprocessing {
        Preprocessing { categorical: vec![1], ..Preprocessing::from(kind) }
    }

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    #[test]
    fn inputs_follow_their_definition() {
        let data = random(1000);
        let levels = [0.0, 1.0, 2.0, 7.0, 8.0, 9.0];
        for kind in ScaleKind::ALL {
            let scaler = rules(kind).fit(&data).unwrap();
            let mut inputs = data.clone();
            scaler.apply(&mut inputs).unwrap();
            assert_eq!((inputs.n_features(), scaler.n_inputs()), (4 + 3 + 6, 13), "{kind}");
            // Medians by sorting.
            let mut imputed = data.clone();
            for feature in 0..WIDTH {
                let column = data.features().iter().skip(feature).step_by(WIDTH).copied();
                let mut column: Vec<f32> = column.filter(|x| !x.is_nan()).collect();
                column.sort_by(f32::total_cmp);
                let median = column[((column.len() - 1) as f64 / 2.0).round() as usize];
                let cells = imputed.features_mut().iter_mut().skip(feature).step_by(WIDTH);
                cells.filter(|x| x.is_nan()).for_each(|x| *x = median);
            }
            // The scaling is fitted to the values that are not missing.
            Scaler::fit(kind, &data).apply(&mut imputed).unwrap();
            let rows = data.features().chunks(WIDTH).zip(imputed.features().chunks(WIDTH));
            for ((raw, scaled), found) in rows.zip(inputs.features().chunks(13)) {
                let is = |holds: bool| f32::from(u8::from(holds));
                let mut expected = vec![scaled[0], scaled[2], scaled[3], scaled[4]];
                expected.extend([1, 2, 4].map(|feature| is(raw[feature].is_nan())));
                expected.extend(levels.map(|level| is(raw[1] == level)));
                assert_eq!(bits(&expected), bits(found), "{kind}");
            }
        }
    }

    #[test]
    fn all_ways_to_compute_inputs_give_the_same_bits() {
        let data = random(3000);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cache");
        let mut writer =
            CacheWriter::create(&path, CacheOptions { first_index: 1, ..CacheOptions::default() }).unwrap();
        writer.push(&data).unwrap();
        writer.finish(false).unwrap();
        let cached = crate::data::read(&path, &Default::default()).unwrap().data;
        assert!(cached.is_mapped() && cached.missing_counts() == data.missing_counts());
        for kind in ScaleKind::ALL {
            let scaler = rules(kind).fit(&data).unwrap();
            assert_eq!(rules(kind).fit(&cached).unwrap(), scaler, "{kind}");
            let saved: Scaler = serde_json::from_str(&serde_json::to_string(&scaler).unwrap()).unwrap();
            assert_eq!(saved, scaler);
            let [mut memory, mut mapped] = [data.clone(), cached.clone()];
            scaler.apply(&mut memory).unwrap();
            scaler.apply(&mut mapped).unwrap();
            assert_eq!(bits(mapped.features()), bits(memory.features()), "{kind}");
            let some = mapped.select(&[7, 2, 100]);
            for (query, part) in [7, 2, 100].into_iter().zip(some.queries()) {
                let raw = data.query(query).features.to_vec();
                let own = memory.query(query).features.to_vec();
                assert_eq!(bits(&part.features), bits(&own), "{kind}");
                assert_eq!(bits(&scaler.inputs_of(raw.clone()).unwrap()), bits(&own), "{kind}");
                let (mut rows, mut inputs, mut buffers) = (raw, Vec::new(), Default::default());
                let served = scaler.inputs_in(&mut rows, &mut inputs, &scaler.inputs(), &mut buffers);
                assert_eq!(bits(served), bits(&own), "{kind}");
            }
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(|| rules(kind).fit(&data).unwrap()), scaler);
            }
        }
    }

    #[test]
    fn the_fit_does_not_depend_on_the_number_of_processes() {
        let (all, valid) = (random(1500), random(20));
        for kind in ScaleKind::ALL {
            let expected = rules(kind).fit(&all).unwrap();
            for size in [2, 3] {
                let rows: Vec<Range<usize>> = (0..size)
                    .map(|rank| range_of_rank(150, rank, size))
                    .map(|queries| queries.start * 10..queries.end * 10)
                    .collect();
                let scalers = each(size, |member| {
                    let own = rows[member.rank()].start / 10..rows[member.rank()].end / 10;
                    let own = all.select(&own.collect::<Vec<_>>());
                    rules(kind).fit_distributed(member, &own, &valid, &rows).unwrap()
                });
                assert!(scalers.iter().all(|scaler| *scaler == expected), "{kind} {size}");
            }
        }
    }

    #[test]
    fn complete_data_has_the_same_scaler_as_without_rules() {
        let values: Vec<f32> = (0..40).map(|i| (i * i % 17) as f32).collect();
        let data = dataset(values, 2, 4);
        for kind in ScaleKind::ALL {
            let scaler = Preprocessing::from(kind).fit(&data).unwrap();
            assert_eq!(scaler, Scaler::fit(kind, &data));
            let text = serde_json::to_string(&scaler).unwrap();
            assert!(!text.contains("medians") && !text.contains("indicators") && !text.contains("categories"));
        }
        // Only the validation data has missing values: the medians of the training data replace them.
        let valid = dataset(vec![f32::NAN, 1.0], 2, 1);
        let scaler = Preprocessing::from(ScaleKind::None).fit_for(&data, &[&valid]).unwrap();
        assert_eq!((scaler.medians().len(), scaler.widens()), (2, false));
        assert_eq!(scaler.inputs_of(vec![f32::NAN, 1.0]).unwrap(), [scaler.medians()[0], 1.0]);
    }

    #[test]
    fn features_without_values_and_levels_are_harmless() {
        let data = dataset(vec![f32::NAN, f32::NAN, f32::NAN, f32::NAN], 2, 2);
        for kind in ScaleKind::ALL {
            let rules = Preprocessing { categorical: vec![1], ..Preprocessing::from(kind) };
            let inputs = rules.fit(&data).unwrap().inputs_of(vec![5.0, 3.0]).unwrap();
            assert!(inputs.len() == 3 && inputs.iter().all(|x| x.is_finite()), "{kind}: {inputs:?}");
        }
    }

    #[test]
    fn levels_are_checked() {
        let fit = |values: Vec<f32>| {
            let rules = Preprocessing { categorical: vec![0], ..Preprocessing::from(ScaleKind::None) };
            rules.fit(&dataset(values, 1, 1)).map_err(|error| error.to_string())
        };
        let levels = |count: usize| (0..count).map(|level| (level * 1000) as f32).collect::<Vec<_>>();
        assert_eq!(fit(levels(64)).unwrap().n_inputs(), 64);
        assert!(fit(levels(65)).unwrap_err().contains("has 65 levels") && fit(vec![16_777_216.0]).is_ok());
        for (bad, text) in [(-1.0, "is -1:"), (0.5, "is 0.5:"), (16_777_218.0, "16777218"), (f32::INFINITY, "is inf:")]
        {
            let message = fit(vec![0.0, bad]).unwrap_err();
            assert!(message.starts_with("categorical feature 1 of document 2 ") && message.contains(text), "{message}");
        }
    }
}
