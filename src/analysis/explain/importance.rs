//! Permutation importance: how far a measure falls when documents exchange the values of one feature.

use crate::analysis::significance::{holm, holm_levels, t_test};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::memory;
use crate::metric::{Conventions, Metric, Summary, evaluate, evaluate_query};
use crate::model::Scorer;
use crate::name::words;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};

words! {
    /// Between which documents the values of a feature are exchanged.
    #[derive(Default)]
    pub enum Permute: "kind of permutation" {
        /// Between the documents of a query: what the feature tells about them is lost, what it tells about the query stays.
        #[default]
        Query = "query",
        /// Between all documents of the file: what it tells about queries is lost too.
        File = "file",
    }
}

/// What a measure loses without a feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Importance {
    /// The feature's column, counted from 0.
    pub feature: usize,
    /// How far the measure gets worse when the feature's values are permuted, the mean over queries and repeats. Above 0 where
    /// the feature helps, also for measures that are costs.
    pub decrease: f64,
    /// The standard error of the mean over queries.
    pub standard_error: Option<f64>,
    /// The p-value of Student's test over queries, two-sided, corrected by Holm's method over all features that change any query;
    /// none for a feature that changes none, and for fewer than two queries.
    pub p: Option<f64>,
    /// The interval of the mean over queries, by Student's distribution, at the level at which Holm's method tests the feature:
    /// it excludes 0 exactly where `p` is at most 0.05. None for fewer than two queries.
    pub interval: Option<(f64, f64)>,
}

/// The error that is allowed over all features together, and over all pairs of systems.
pub(super) const ALPHA: f64 = 0.05;

impl Importance {
    /// Whether the measure is known to get worse without the feature.
    pub fn helps(&self) -> bool {
        self.decrease > 0.0 && self.is_significant()
    }

    /// Whether the measure is known to get better without the feature.
    pub fn harms(&self) -> bool {
        self.decrease < 0.0 && self.is_significant()
    }

    fn is_significant(&self) -> bool {
        self.p.is_some_and(|p| p <= ALPHA)
    }
}

/// Documents that are scored at once, at most, unless a query has more.
const BLOCK: usize = 4096;

/// The importance of each feature, in the order of features, for documents as the scorer sees them: scaled.
///
/// All cores work on features side by side, each on a copy of a few queries at a time; the same seed gives the same numbers,
/// whatever the number of threads. `progress` hears the share that is done, from any thread.
///
/// ```
/// use burnrank::analysis::explain::{Permute, importances};
/// use burnrank::metric::parse;
/// use burnrank::{Conventions, Dataset, RankerConfig, Scorer, device};
/// let scorer = Scorer::Net(RankerConfig::linear(2).from_weights(&[vec![1.0, 0.0]], &device::open("auto")?)?);
/// let features = vec![1.0, 7.0, 0.0, 5.0, 3.0, 3.0, 2.0, 4.0];
/// let data = Dataset::new(2, features, vec![1.0, 0.0, 1.0, 0.0], vec![("a".into(), 2), ("b".into(), 2)])?;
/// let pairs = parse("pairs")?;
/// let found = importances(&scorer, &data, &*pairs, &Conventions::default(), Permute::Query, 50, 1, &|_| {})?;
/// // Half of all orders of two documents are wrong; the second feature has no weight.
/// assert!((found[0].decrease - 0.5).abs() < 0.2 && found[1].decrease == 0.0);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// When the data do not fit the scorer or the measure, or memory is short.
#[expect(clippy::too_many_arguments, reason = "all of them decide the numbers")]
pub fn importances(
    scorer: &Scorer,
    data: &Dataset,
    metric: &dyn Metric,
    conventions: &Conventions,
    permute: Permute,
    repeats: usize,
    seed: u64,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Vec<Importance>> {
    if repeats == 0 {
        return Err(Error::Config("permutation importance needs at least one repeat".into()));
    }
    let width = data.n_features();
    let threads = rayon::current_num_threads() as u64;
    let longest = data.offsets().windows(2).map(|rows| rows[1] - rows[0]).max().unwrap_or(0).max(BLOCK);
    let each = (longest as u64).saturating_mul(width as u64 + 4) + 4 * data.n_documents() as u64;
    memory::ask(threads.saturating_mul(each).saturating_mul(4), "permuted features", "give fewer `threads`")?;
    let scores = scorer.score_rows(data.features(), width)?;
    let values = evaluate(metric, &scores, data.labels(), data.offsets(), conventions)?;
    let work =
        Work { scorer, data, metric, conventions, permute, repeats, seed, values: &values, blocks: blocks(data) };
    let done = AtomicUsize::new(0);
    let one = |feature: usize| {
        let falls = if depends(scorer, feature) { work.falls(feature)? } else { vec![Some(0.0); values.len()] };
        progress((done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / width as f64);
        Ok((Summary::of(&falls), p_value(&falls)))
    };
    let found = (0..width).into_par_iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok(corrected(&found))
}

/// The p-value of the mean of the falls; NaN where no query changes, or there are fewer than two.
fn p_value(falls: &[Option<f64>]) -> f64 {
    let falls: Vec<f64> = falls.iter().flatten().copied().collect();
    if falls.len() < 2 || falls.iter().all(|decrease| *decrease == 0.0) {
        return f64::NAN;
    }
    // Equal falls have no spread: two of all assignments of signs reach their mean.
    t_test(&falls).map_or(0.5_f64.powf(falls.len() as f64 - 1.0), |test| test.p)
}

/// The importances of all features from the falls and p-value of each alone.
fn corrected(found: &[(Summary, f64)]) -> Vec<Importance> {
    let raw: Vec<f64> = found.iter().map(|(_, p)| *p).collect();
    let (adjusted, levels) = (holm(&raw), holm_levels(&raw, ALPHA));
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    let of = |(feature, (summary, _)): (usize, &(Summary, f64))| {
        let p = finite(adjusted[feature]);
        let (low, high) = summary.interval_at(finite(levels[feature]).unwrap_or(ALPHA));
        // An end that is 0 but for rounding.
        let (low, high) = match p {
            Some(p) if p > ALPHA => (low.min(0.0), high.max(0.0)),
            _ => (low, high),
        };
        Importance {
            feature,
            decrease: if summary.n == 0 { 0.0 } else { summary.mean },
            standard_error: finite(summary.standard_error),
            p,
            interval: finite(low).zip(finite(high)),
        }
    };
    found.iter().enumerate().map(of).collect()
}

/// Whether scores can depend on a feature at all.
fn depends(scorer: &Scorer, feature: usize) -> bool {
    match scorer {
        Scorer::Trees(forest) => {
            forest.trees().iter().flat_map(|tree| tree.branches()).any(|branch| branch.feature == feature)
        }
        _ => true,
    }
}

/// Whole queries, as many as are scored at once.
fn blocks(data: &Dataset) -> Vec<std::ops::Range<usize>> {
    let offsets = data.offsets();
    let mut blocks = Vec::new();
    let mut start = 0;
    while start < data.n_queries() {
        let fits = |end: &usize| offsets[end + 1] - offsets[start] <= BLOCK;
        let end = (start + 1..data.n_queries()).take_while(fits).last().unwrap_or(start) + 1;
        blocks.push(start..end);
        start = end;
    }
    blocks
}

struct Work<'a> {
    scorer: &'a Scorer,
    data: &'a Dataset,
    metric: &'a dyn Metric,
    conventions: &'a Conventions,
    permute: Permute,
    repeats: usize,
    seed: u64,
    /// Of the documents as they are.
    values: &'a [Option<f64>],
    blocks: Vec<std::ops::Range<usize>>,
}

impl Work<'_> {
    /// How far each query gets worse without a feature; nothing for those that do not count.
    fn falls(&self, feature: usize) -> Result<Vec<Option<f64>>> {
        let sign = if self.metric.is_cost() { -1.0 } else { 1.0 };
        let mut falls: Vec<Option<f64>> = self.values.iter().map(|value| value.map(|_| 0.0)).collect();
        let mut from: Vec<u32> = (0..self.data.n_documents() as u32).collect();
        let mut rows = Vec::new();
        for repeat in 0..self.repeats {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream((feature as u64) << 24 | repeat as u64);
            match self.permute {
                Permute::File => from.shuffle(&mut random),
                Permute::Query => {
                    self.data.offsets().windows(2).for_each(|ends| from[ends[0]..ends[1]].shuffle(&mut random));
                }
            }
            for block in &self.blocks {
                self.block(feature, block, &from, &mut rows, &mut |query, value| {
                    if let (Some(decrease), Some(before)) = (&mut falls[query], self.values[query]) {
                        *decrease += sign * (before - value) / self.repeats as f64;
                    }
                })?;
            }
        }
        Ok(falls)
    }

    /// Tells the value of each query of a block whose documents take the feature's value `from` others.
    fn block(
        &self,
        feature: usize,
        block: &std::ops::Range<usize>,
        from: &[u32],
        rows: &mut Vec<f32>,
        tell: &mut dyn FnMut(usize, f64),
    ) -> Result<()> {
        let (data, width) = (self.data, self.data.n_features());
        let (start, end) = (data.offsets()[block.start], data.offsets()[block.end]);
        let value = |row: usize| data.features()[row * width + feature];
        // What changes nothing, as a feature that is the same for all documents of a query, needs no new scores.
        let same = |row: usize| value(row).to_bits() == value(from[row] as usize).to_bits();
        if (start..end).all(same) {
            return Ok(());
        }
        rows.clear();
        rows.extend_from_slice(&data.features()[start * width..end * width]);
        for (row, document) in (start..end).zip(rows.chunks_exact_mut(width)) {
            document[feature] = value(from[row] as usize);
        }
        let scores = self.scorer.score_rows(rows, width)?;
        for query in block.clone() {
            let documents = data.offsets()[query]..data.offsets()[query + 1];
            let scores = &scores[documents.start - start..documents.end - start];
            if let Some(value) = evaluate_query(self.metric, scores, &data.labels()[documents], self.conventions)? {
                tell(query, value);
            }
        }
        Ok(())
    }
}
