//! Permutation importance: the decrease of a metric if the values of one feature are shuffled between documents.

use crate::analysis::significance::{holm, holm_levels, t_test};
use crate::data::Dataset;
use crate::device::on_host;
use crate::error::{Error, Result};
use crate::memory;
use crate::metric::{Conventions, Metric, Summary, evaluate, evaluate_query};
use crate::model::{HostRanker, HostRoom, Scorer};
use crate::name::words;
use burn::module::Module;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};

words! {
    /// The documents between which the values of a feature are shuffled.
    #[derive(Default)]
    pub enum Permute: "kind of permutation" {
        /// Within each query: removes what the feature says about documents, keeps what it says about the query.
        #[default]
        Query = "query",
        /// Across the whole file: also removes what it says about queries.
        File = "file",
    }
}

/// Permutation importance of one feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Importance {
    /// Column of the feature, from 0.
    pub feature: usize,
    /// Decrease of the metric when the feature's values are permuted, averaged over queries and repeats. Positive if the
    /// feature helps, also for metrics that are costs.
    pub decrease: f64,
    /// Standard error of the mean over queries.
    pub standard_error: Option<f64>,
    /// Two-sided p-value of Student's test over queries, with Holm's correction over all features that change any query;
    /// `None` for a feature that changes none, and for fewer than two queries.
    pub p: Option<f64>,
    /// Interval of the mean over queries by Student's distribution, at the level at which Holm's method tests the feature. It
    /// excludes 0 exactly if `p` is at most 0.05. `None` for fewer than two queries.
    pub interval: Option<(f64, f64)>,
}

/// Family-wise error rate over all features, and over all pairs of systems.
pub(super) const ALPHA: f64 = 0.05;

impl Importance {
    /// Returns whether the metric gets significantly worse without the feature.
    pub fn helps(&self) -> bool {
        self.decrease > 0.0 && self.is_significant()
    }

    /// Returns whether the metric gets significantly better without the feature.
    pub fn harms(&self) -> bool {
        self.decrease < 0.0 && self.is_significant()
    }

    fn is_significant(&self) -> bool {
        self.p.is_some_and(|p| p <= ALPHA)
    }
}

/// Maximum number of documents scored at once, unless a query has more.
const BLOCK: usize = 4096;

/// Returns the permutation importance of each feature, in feature order, for data that is scaled as the scorer expects.
///
/// Features are processed in parallel, each on a copy of a few queries at a time. Results depend on the seed but not on
/// the number of threads. `progress` is called with the completed fraction, from any thread.
///
/// ```
/// use burnrank::analysis::explain::{Permute, importances};
/// use burnrank::metric::parse;
/// use burnrank::{Conventions, Dataset, RankerConfig, Scorer, device};
/// let scorer = Scorer::Net(RankerConfig::linear(2).from_weights(&[vec![1.0, 0.0]], &device::open("auto")?)?);
/// let features = vec![1.0, 7.0, 0.0, 5.0, 3.0, 3.0, 2.0, 4.0];
/// let data = Dataset::new(2, features, vec![1.0, 0.0, 1.0, 0.0], vec![("a".into(), 2), ("b".into(), 2)])?;
/// let pairs = parse("pairs")?;
/// let importances = importances(&scorer, &data, &*pairs, &Conventions::default(), Permute::Query, 50, 1, &|_| {})?;
/// // Shuffling two documents puts them in the wrong order half of the time; the second feature has no weight.
/// assert!((importances[0].decrease - 0.5).abs() < 0.2 && importances[1].decrease == 0.0);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// If the data does not fit the scorer or the metric, or there is not enough memory.
#[expect(clippy::too_many_arguments, reason = "all of them affect the result")]
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
    let columns: Vec<Vec<usize>> = (0..data.n_features()).map(|column| vec![column]).collect();
    importances_of(scorer, data, &columns, metric, conventions, permute, repeats, seed, progress)
}

/// Like [`importances`], for features with the given columns of the data, which are permuted together.
#[expect(clippy::too_many_arguments, reason = "all of them affect the result")]
pub(super) fn importances_of(
    scorer: &Scorer,
    data: &Dataset,
    columns: &[Vec<usize>],
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
    memory::ask(threads.saturating_mul(each).saturating_mul(4), "permuted features", "use fewer `threads`")?;
    let scores = scorer.score_rows(data.features(), width)?;
    let values = evaluate(metric, &scores, data.labels(), data.offsets(), conventions)?;
    let blocks = blocks(data);
    let sums = FirstSums::of(scorer, data, &blocks);
    let work =
        Work { scorer, data, columns, metric, conventions, permute, repeats, seed, values: &values, blocks, sums };
    let done = AtomicUsize::new(0);
    let one = |feature: usize| {
        let depends = columns[feature].iter().any(|&column| depends(scorer, column));
        let decreases = if depends { work.decreases(feature)? } else { vec![Some(0.0); values.len()] };
        progress((done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / columns.len() as f64);
        Ok((Summary::of(&decreases), p_value(&decreases)))
    };
    let results = (0..columns.len()).into_par_iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok(corrected(&results))
}

/// P-value of the mean decrease; NaN if no query changes or there are fewer than two.
fn p_value(decreases: &[Option<f64>]) -> f64 {
    let decreases: Vec<f64> = decreases.iter().flatten().copied().collect();
    if decreases.len() < 2 || decreases.iter().all(|decrease| *decrease == 0.0) {
        return f64::NAN;
    }
    // Equal decreases have a deviation of 0: two of all assignments of signs reach their mean.
    t_test(&decreases).map_or(0.5_f64.powf(decreases.len() as f64 - 1.0), |test| test.p)
}

/// Importances of all features from the summary and p-value of each, corrected for multiple tests.
fn corrected(results: &[(Summary, f64)]) -> Vec<Importance> {
    let raw: Vec<f64> = results.iter().map(|(_, p)| *p).collect();
    let (adjusted, levels) = (holm(&raw), holm_levels(&raw, ALPHA));
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    let of = |(feature, (summary, _)): (usize, &(Summary, f64))| {
        let p = finite(adjusted[feature]);
        let (low, high) = summary.interval_at(finite(levels[feature]).unwrap_or(ALPHA));
        // An end that differs from 0 only by rounding.
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
    results.iter().enumerate().map(of).collect()
}

/// Returns whether scores can depend on a feature.
fn depends(scorer: &Scorer, feature: usize) -> bool {
    match scorer {
        Scorer::Trees(forest) => {
            forest.trees().iter().flat_map(|tree| tree.branches()).any(|branch| branch.feature == feature)
        }
        _ => true,
    }
}

/// Ranges of whole queries that are scored at once.
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
    /// Columns of each feature.
    columns: &'a [Vec<usize>],
    metric: &'a dyn Metric,
    conventions: &'a Conventions,
    permute: Permute,
    repeats: usize,
    seed: u64,
    /// Metric values without shuffling.
    values: &'a [Option<f64>],
    blocks: Vec<std::ops::Range<usize>>,
    sums: Option<FirstSums>,
}

/// Input sums of the first layer of a net on the host, by block of queries. A permuted feature changes them by one product
/// per unit, instead of one per unit and feature.
struct FirstSums {
    ranker: HostRanker,
    blocks: Vec<Vec<f32>>,
}

impl FirstSums {
    /// Returns `None` for other scorers, for encoded features and skip connections, and if the sums do not fit in memory or are not finite.
    fn of(scorer: &Scorer, data: &Dataset, blocks: &[std::ops::Range<usize>]) -> Option<Self> {
        let ranker = scorer.net().filter(|net| net.devices().iter().all(on_host))?;
        let ranker = HostRanker::of(ranker).ok().filter(HostRanker::has_first_sums)?;
        let bytes = 4 * (data.n_documents() as u64).saturating_mul(ranker.first_units() as u64);
        memory::ask(bytes, "sums of the first layer", "").ok()?;
        let (offsets, width) = (data.offsets(), data.n_features());
        let of = |block: &std::ops::Range<usize>| {
            ranker.first_sums(&data.features()[offsets[block.start] * width..offsets[block.end] * width])
        };
        let blocks: Vec<Vec<f32>> = blocks.par_iter().map(of).collect();
        let is_finite = blocks.par_iter().flatten().all(|sum| sum.is_finite());
        is_finite.then_some(FirstSums { ranker, blocks })
    }
}

/// Buffers of one worker.
#[derive(Default)]
struct Buffers {
    rows: Vec<f32>,
    change: Vec<f32>,
    scores: Vec<f32>,
    net: HostRoom,
}

impl Work<'_> {
    /// Loss of each query if a feature is shuffled; `None` for queries without a metric value.
    fn decreases(&self, feature: usize) -> Result<Vec<Option<f64>>> {
        let sign = if self.metric.is_cost() { -1.0 } else { 1.0 };
        let mut decreases: Vec<Option<f64>> = self.values.iter().map(|value| value.map(|_| 0.0)).collect();
        let mut from: Vec<u32> = (0..self.data.n_documents() as u32).collect();
        let mut buffers = Buffers::default();
        for repeat in 0..self.repeats {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream((feature as u64) << 24 | repeat as u64);
            match self.permute {
                Permute::File => from.shuffle(&mut random),
                Permute::Query => {
                    self.data.offsets().windows(2).for_each(|ends| from[ends[0]..ends[1]].shuffle(&mut random));
                }
            }
            for block in 0..self.blocks.len() {
                self.block(feature, block, &from, &mut buffers, &mut |query, value| {
                    if let (Some(decrease), Some(before)) = (&mut decreases[query], self.values[query]) {
                        *decrease += sign * (before - value) / self.repeats as f64;
                    }
                })?;
            }
        }
        Ok(decreases)
    }

    /// Calls `report` with the value of each query of a block if document `row` takes the feature's value from `from[row]`.
    fn block(
        &self,
        feature: usize,
        block: usize,
        from: &[u32],
        buffers: &mut Buffers,
        report: &mut dyn FnMut(usize, f64),
    ) -> Result<()> {
        let (data, width) = (self.data, self.data.n_features());
        let queries = self.blocks[block].clone();
        let (start, end) = (data.offsets()[queries.start], data.offsets()[queries.end]);
        let columns = &self.columns[feature];
        let value = |row: usize, column: usize| data.features()[row * width + column];
        // A permutation that changes no value, for example because the feature is constant within the query, needs no new scores.
        let same =
            |row: usize| columns.iter().all(|&at| value(row, at).to_bits() == value(from[row] as usize, at).to_bits());
        if (start..end).all(same) {
            return Ok(());
        }
        match (&self.sums, &columns[..]) {
            (Some(sums), &[column]) => {
                buffers.change.clear();
                buffers.change.extend((start..end).map(|row| value(from[row] as usize, column) - value(row, column)));
                buffers.scores.resize(end - start, 0.0);
                sums.ranker.score_changed(
                    &sums.blocks[block],
                    column,
                    &buffers.change,
                    &mut buffers.scores,
                    &mut buffers.net,
                );
            }
            _ => {
                buffers.rows.clear();
                buffers.rows.extend_from_slice(&data.features()[start * width..end * width]);
                for (row, document) in (start..end).zip(buffers.rows.chunks_exact_mut(width)) {
                    columns.iter().for_each(|&column| document[column] = value(from[row] as usize, column));
                }
                buffers.scores = self.scorer.score_rows(&buffers.rows, width)?;
            }
        }
        for query in queries {
            let documents = data.offsets()[query]..data.offsets()[query + 1];
            let scores = &buffers.scores[documents.start - start..documents.end - start];
            if let Some(value) = evaluate_query(self.metric, scores, &data.labels()[documents], self.conventions)? {
                report(query, value);
            }
        }
        Ok(())
    }
}
