//! Semi-synthetic data similar to judged web pages: realistic features, and labels from a fitted teacher function plus noise.

mod like;
mod pages;
mod random;
mod ridge;
mod teacher;

use super::bins::{Bins, LabelMix};
use super::{FUNCTION_STREAM, QUERY_STREAM, SAMPLE, SAMPLE_STREAM, SyntheticQuery, id, stream, zeros};
use crate::data::dataset::Dataset;
use crate::error::{Error, Result};
use crate::memory;
use crate::numeric::standard_normal;
use like::Like;
use pages::Pages;
use rand_chacha::ChaCha8Rng;
use random::log_normal;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use teacher::{Sample, Teacher};

/// Number of documents per query sampled to place the bins; few, because documents of a query are correlated.
const SAMPLE_DOCUMENTS: usize = 16;
/// Number of queries, and of documents per query, to which a teacher is fitted.
const FITTED: (usize, usize) = (600, 20);
/// Standard deviation of the logarithm of the number of documents of a query.
const LENGTH_SPREAD: f64 = 0.6;
/// Maximum ratio of the number of documents of a query to the average.
const MAX_LENGTH_RATIO: usize = 8;
/// Fraction of the variance of the noise that the documents of a query share.
const SHARED_NOISE: f64 = 0.25;
/// Maximum number of feature values of a query.
const MAX_VALUES: usize = 1 << 30;

/// Settings of semi-synthetic data similar to the judged web pages of MSLR-WEB10K: about 120 documents per query, 136 features,
/// and labels 0 to 4, of which half are 0 and 1% are 4.
///
/// Features come from a simple model of the words, links and clicks of pages (with many zeros and integers, heavy tails,
/// correlated groups, and some constant within a query), or with [`Web::generator_like`] are resampled from the user's data.
/// Labels are bins of the target
///
/// `sqrt(1 - noise) f(x) + sqrt(noise) (e_query / 2 + sqrt(3/4) e_document)`,
///
/// where e is standard normal. The teacher f has mean 0 and variance 1. It is a sum of random rules, products of one to three
/// thresholded features, whose weights are fitted to relevance by ridge regression. Each teacher number gives another function.
///
/// Each query depends only on `seed`, `teacher` and its index, not on the number of queries or threads. The same teacher with
/// another seed gives new data of the same function.
///
/// ```
/// use burnrank::data::synthetic::Web;
/// let generator = Web { queries: 50, seed: 1, ..Web::default() }.generator()?;
/// let data = generator.dataset()?;
/// assert_eq!((data.n_queries(), data.n_features()), (50, 136));
/// assert!(data.labels().iter().all(|&label| label <= 4.0));
/// // Generates parts in little memory.
/// assert_eq!(generator.part(20..22)?.0, data.select(&[20, 21]));
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Web {
    /// Number of queries.
    pub queries: usize,
    /// Average number of documents per query; the numbers are log-normal.
    pub documents: usize,
    /// Label distribution.
    pub mix: LabelMix,
    /// Fraction of the variance of the target that is noise, from 0 to 1.
    pub noise: f64,
    /// Random seed of the teacher function.
    pub teacher: u64,
    /// Random seed of queries, documents and noise.
    pub seed: u64,
}

impl Default for Web {
    /// Returns 1,000 queries of 120 documents, five labels distributed as [`WEB_MIX`](super::WEB_MIX), and noise 0.7.
    fn default() -> Self {
        Web { queries: 1000, documents: 120, mix: LabelMix::web(), noise: 0.7, teacher: 0, seed: 0 }
    }
}

impl Web {
    /// Fits the teacher to synthetic pages and places the bins.
    ///
    /// # Errors
    /// When a setting is invalid.
    pub fn generator(&self) -> Result<WebGenerator> {
        self.check()?;
        self.fit(Rows::Pages(Pages::for_teacher(&mut stream(self.teacher, FUNCTION_STREAM))))
    }

    /// Fits the teacher to `rows` and their labels, and resamples features from them.
    ///
    /// Each generated query draws its documents with replacement from a random query of the rows. One in ten values is replaced
    /// with that of another document of the same query, so that documents differ and features that are constant within a query
    /// remain so. Teachers differ in their random rules and in the queries to which they are fitted.
    ///
    /// ```
    /// use burnrank::data::synthetic::Web;
    /// let rows = Web { queries: 30, ..Web::default() }.generator()?.dataset()?;
    /// let web = Web { queries: 10, documents: 40, teacher: 3, ..Web::default() };
    /// assert_eq!(web.generator_like(rows)?.dataset()?.n_features(), 136);
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a setting is invalid, or nothing can be learned from the rows because all labels or all features are equal.
    pub fn generator_like(&self, rows: Dataset) -> Result<WebGenerator> {
        self.check()?;
        self.check_width(rows.n_features())?;
        self.fit(Rows::Like(Like::new(rows)?))
    }

    fn fit(&self, rows: Rows) -> Result<WebGenerator> {
        let mut rng = stream(self.teacher, FUNCTION_STREAM + QUERY_STREAM);
        let teacher = Teacher::fit(&rows.sample(&mut rng), &mut rng)?;
        let mut generator = WebGenerator { settings: self.clone(), rows, teacher, bins: Bins::fit(&self.mix, vec![]) };
        let draw = |index: usize| {
            let mut rng = stream(self.teacher, SAMPLE_STREAM + index as u64);
            let mut features = vec![0.0; SAMPLE_DOCUMENTS * generator.rows.width()];
            let mut targets = vec![0.0; SAMPLE_DOCUMENTS];
            generator.targets(&mut rng, &mut features, &mut targets);
            targets
        };
        let sample = (0..SAMPLE / SAMPLE_DOCUMENTS).into_par_iter().flat_map_iter(draw).collect();
        generator.bins = Bins::fit(&self.mix, sample);
        Ok(generator)
    }

    /// Checks the settings, independently of any rows.
    ///
    /// # Errors
    /// When a number is 0, queries are too large, or the noise is not from 0 to 1.
    pub fn check(&self) -> Result<()> {
        let counts = [("query", self.queries), ("document per query", self.documents)];
        if let Some((name, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(Error::Config(format!("artificial data needs at least one {name}, got 0")));
        }
        if !(0.0..=1.0).contains(&self.noise) {
            return Err(Error::Config(format!(
                "noise of {}: expected a fraction of the variance, from 0 to 1",
                self.noise
            )));
        }
        self.check_width(pages::FEATURES)
    }

    fn check_width(&self, features: usize) -> Result<()> {
        let limit = MAX_VALUES / MAX_LENGTH_RATIO / features.max(1);
        match self.documents <= limit {
            true => Ok(()),
            false => {
                Err(Error::Config(format!("{} documents per query: at most {limit} are supported", self.documents)))
            }
        }
    }
}

/// Generates the queries of a [`Web`] data set on demand, with a fitted teacher.
#[derive(Debug, Clone)]
pub struct WebGenerator {
    settings: Web,
    rows: Rows,
    teacher: Teacher,
    bins: Bins,
}

impl WebGenerator {
    /// Returns the settings.
    pub fn settings(&self) -> &Web {
        &self.settings
    }

    /// Returns the number of features.
    pub fn n_features(&self) -> usize {
        self.rows.width()
    }

    /// Returns the fraction of the variance of relevance that the teacher explains on the rows to which it was fitted (R²).
    pub fn explained(&self) -> f64 {
        self.teacher.explained()
    }

    /// Generates query `index`, from 0, which may exceed [`Web::queries`].
    pub fn query(&self, index: usize) -> SyntheticQuery {
        let (rng, documents) = self.start(index);
        let mut features = vec![0.0; documents * self.rows.width()];
        let (mut labels, mut targets) = (vec![0.0; documents], vec![0.0; documents]);
        self.write(rng, &mut features, &mut labels, &mut targets);
        SyntheticQuery { id: id(index), features, labels, targets }
    }

    /// Generates all queries in memory.
    ///
    /// # Errors
    /// When they exceed the memory limit.
    pub fn dataset(&self) -> Result<Dataset> {
        Ok(self.part(0..self.settings.queries)?.0)
    }

    /// Generates a range of queries in parallel. Returns them with the continuous target of every document.
    ///
    /// # Errors
    /// When they exceed the memory limit.
    pub fn part(&self, queries: Range<usize>) -> Result<(Dataset, Vec<f64>)> {
        let (n, mean, width) = (queries.len(), self.settings.documents, self.rows.width());
        let what = format!("{n} queries of about {mean} documents and {width} features");
        // One f32 per value, an f32 and an f64 per document, an id and a random generator per query.
        let bytes =
            |rows: u64| rows.saturating_mul(4 * width as u64 + 12).saturating_add((n as u64).saturating_mul(256));
        memory::ask(bytes((n as u64).saturating_mul(mean as u64)), &what, "generate fewer documents")?;
        let starts: Vec<(ChaCha8Rng, usize)> = queries.clone().map(|index| self.start(index)).collect();
        let rows: usize = starts.iter().map(|(_, documents)| documents).sum();
        memory::ask(bytes(rows as u64), &what, "generate fewer documents")?;
        let too_large = || Error::Config(format!("{what} do not fit into memory"));
        let mut features = zeros(rows.checked_mul(width).ok_or_else(too_large)?).ok_or_else(too_large)?;
        let mut labels = zeros(rows).ok_or_else(too_large)?;
        let mut targets = zeros(rows).ok_or_else(too_large)?;
        let ids = queries.zip(&starts).map(|(index, (_, documents))| (id(index), *documents)).collect();
        let mut rest = (&mut features[..], &mut labels[..], &mut targets[..]);
        let mut work = Vec::with_capacity(n);
        for (rng, documents) in starts {
            let (x, rest_x) = rest.0.split_at_mut(documents * width);
            let (y, rest_y) = rest.1.split_at_mut(documents);
            let (t, rest_t) = rest.2.split_at_mut(documents);
            work.push((rng, x, y, t));
            rest = (rest_x, rest_y, rest_t);
        }
        work.into_par_iter().for_each(|(rng, x, y, t)| self.write(rng, x, y, t));
        Ok((Dataset::new(width, features, labels, ids)?, targets))
    }

    /// Returns the random generator of a query and its number of documents.
    fn start(&self, index: usize) -> (ChaCha8Rng, usize) {
        let mut rng = stream(self.settings.seed, QUERY_STREAM.wrapping_add(index as u64));
        let mean = self.settings.documents;
        let mean_log = (mean as f64).ln() - LENGTH_SPREAD * LENGTH_SPREAD / 2.0;
        let documents = log_normal(mean_log, LENGTH_SPREAD, &mut rng).round() as usize;
        (rng, documents.clamp(1, mean.saturating_mul(MAX_LENGTH_RATIO)))
    }

    fn write(&self, mut rng: ChaCha8Rng, features: &mut [f32], labels: &mut [f32], targets: &mut [f64]) {
        self.targets(&mut rng, features, targets);
        labels.iter_mut().zip(targets).for_each(|(label, target)| *label = self.bins.label(*target));
    }

    /// Draws the rows of a query and their targets.
    fn targets(&self, rng: &mut ChaCha8Rng, features: &mut [f32], targets: &mut [f64]) {
        let noise = self.settings.noise;
        let shared = SHARED_NOISE.sqrt() * standard_normal(rng);
        self.rows.query(features, rng, |_| ());
        for (row, target) in features.chunks_exact(self.rows.width()).zip(targets) {
            let error = shared + (1.0 - SHARED_NOISE).sqrt() * standard_normal(rng);
            *target = (1.0 - noise).sqrt() * self.teacher.value(row) + noise.sqrt() * error;
        }
    }
}

/// Source of features.
#[derive(Debug, Clone)]
enum Rows {
    Pages(Pages),
    Like(Like),
}

impl Rows {
    fn width(&self) -> usize {
        match self {
            Rows::Pages(_) => pages::FEATURES,
            Rows::Like(like) => like.width(),
        }
    }

    /// Draws the documents of a query, and calls `relevance` with the relevance of each.
    fn query(&self, features: &mut [f32], rng: &mut ChaCha8Rng, relevance: impl FnMut(f64)) {
        match self {
            Rows::Pages(pages) => pages.query(features, rng, relevance),
            Rows::Like(like) => like.query(features, rng, relevance),
        }
    }

    /// Draws the rows to which a teacher is fitted.
    fn sample(&self, rng: &mut ChaCha8Rng) -> Sample {
        let (queries, documents) = FITTED;
        let (width, rows) = (self.width(), queries * documents);
        let (mut features, mut relevance) = (vec![0.0; rows * width], Vec::with_capacity(rows));
        features.chunks_exact_mut(documents * width).for_each(|x| self.query(x, rng, |value| relevance.push(value)));
        Sample { width, features, relevance }
    }
}

#[cfg(test)]
mod tests;
