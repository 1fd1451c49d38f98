//! Semi-artificial data in the shape of judged web pages: realistic features, labels from a fitted teacher plus noise.

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

/// Documents of a query that are drawn to place the bins: many queries of few documents, for documents of a query are alike.
const SAMPLE_DOCUMENTS: usize = 16;
/// Queries and documents of each that a teacher is fitted to.
const FITTED: (usize, usize) = (600, 20);
/// The spread of the logarithm of a query's number of documents.
const LENGTH_SPREAD: f64 = 0.6;
/// No query has more than so many times the average number of documents.
const LONGEST: usize = 8;
/// The part of the noise's variance that the documents of a query share.
const SHARED_NOISE: f64 = 0.25;
/// The most values of one query.
const MOST_VALUES: usize = 1 << 30;

/// Semi-artificial data in the shape of a web search engine's judged pages, as MSLR-WEB10K has it: about 120 documents per
/// query, 136 features, labels 0 to 4 of which half are 0 and one in a hundred is 4.
///
/// Features are those of pages that are drawn by a simple model of words, links and clicks (many zeros, many whole numbers,
/// heavy tails, groups that rise and fall together, some the same for all documents of a query), or, with
/// [`Web::generator_like`], resampled from rows of one's own. Labels are bins of the target
///
/// `sqrt(1 - noise) f(x) + sqrt(noise) (e_query / 2 + sqrt(3/4) e_document)`,
///
/// where the teacher f, of mean 0 and variance 1, is a sum of random rules, products of one to three thresholded features,
/// whose weights are fitted by ridge regression to relevance; e is normal. Each teacher number is another function.
///
/// Everything follows from `seed` and `teacher`, query by query: query 7 is the same whatever the number of queries, of
/// threads, or of queries generated before it. Data of the same teacher and another seed is new data of the same function.
///
/// ```
/// use burnrank::data::synthetic::Web;
/// let generator = Web { queries: 50, seed: 1, ..Web::default() }.generator()?;
/// let data = generator.dataset()?;
/// assert_eq!((data.n_queries(), data.n_features()), (50, 136));
/// assert!(data.labels().iter().all(|&label| label <= 4.0));
/// // Piece by piece, in little memory.
/// assert_eq!(generator.part(20..22)?.0, data.select(&[20, 21]));
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Web {
    /// How many queries.
    pub queries: usize,
    /// How many documents a query has on average: their numbers are log-normal.
    pub documents: usize,
    /// How often each label is given.
    pub mix: LabelMix,
    /// The part of the target's variance that is noise, from 0 to 1.
    pub noise: f64,
    /// Which function of the features labels the documents.
    pub teacher: u64,
    /// What queries, documents and noise follow from.
    pub seed: u64,
}

impl Default for Web {
    /// 1,000 queries of 120 documents, five labels in the shares of [`WEB_MIX`](super::WEB_MIX), 70% of the variance noise.
    fn default() -> Self {
        Web { queries: 1000, documents: 120, mix: LabelMix::web(), noise: 0.7, teacher: 0, seed: 0 }
    }
}

impl Web {
    /// Fits the teacher to artificial pages and places the bins.
    ///
    /// # Errors
    /// When a number makes no sense.
    pub fn generator(&self) -> Result<WebGenerator> {
        self.check()?;
        self.fit(Rows::Pages(Pages::for_teacher(&mut stream(self.teacher, FUNCTION_STREAM))))
    }

    /// The same with features resampled from `rows`, and teachers that are fitted to their labels.
    ///
    /// A query takes a random query of the rows, and draws its documents from that query's, with replacement. One in ten
    /// values is that of another document of the same query, so that documents differ, and what all documents of a query
    /// have in common stays so. Teachers differ by their random rules, and by the queries that they are fitted to.
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
    /// When a number makes no sense, or there is nothing to learn from the rows: all labels or all features are equal.
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

    /// Whether all numbers make sense, whatever the rows.
    ///
    /// # Errors
    /// When a number is 0, a query is absurdly large, or the noise is not a part.
    pub fn check(&self) -> Result<()> {
        let counts = [("query", self.queries), ("document per query", self.documents)];
        if let Some((name, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(Error::Config(format!("artificial data needs at least one {name}, got 0")));
        }
        if !(0.0..=1.0).contains(&self.noise) {
            return Err(Error::Config(format!(
                "noise of {}: expected a part of the variance, from 0 to 1",
                self.noise
            )));
        }
        self.check_width(pages::FEATURES)
    }

    fn check_width(&self, features: usize) -> Result<()> {
        let most = MOST_VALUES / LONGEST / features.max(1);
        match self.documents <= most {
            true => Ok(()),
            false => {
                Err(Error::Config(format!("{} documents per query: at most {most} are supported", self.documents)))
            }
        }
    }
}

/// A fitted teacher that makes any query of a [`Web`] data set on demand.
#[derive(Debug, Clone)]
pub struct WebGenerator {
    settings: Web,
    rows: Rows,
    teacher: Teacher,
    bins: Bins,
}

impl WebGenerator {
    /// What was asked for.
    pub fn settings(&self) -> &Web {
        &self.settings
    }

    /// The number of features.
    pub fn n_features(&self) -> usize {
        self.rows.width()
    }

    /// The part of the variance of relevance that the teacher explains on the rows that it was fitted to.
    pub fn explained(&self) -> f64 {
        self.teacher.explained()
    }

    /// Query `index`, from 0; not bound by the number of queries asked for.
    pub fn query(&self, index: usize) -> SyntheticQuery {
        let (rng, documents) = self.start(index);
        let mut features = vec![0.0; documents * self.rows.width()];
        let (mut labels, mut targets) = (vec![0.0; documents], vec![0.0; documents]);
        self.write(rng, &mut features, &mut labels, &mut targets);
        SyntheticQuery { id: id(index), features, labels, targets }
    }

    /// All queries in memory.
    ///
    /// # Errors
    /// When they do not fit.
    pub fn dataset(&self) -> Result<Dataset> {
        Ok(self.part(0..self.settings.queries)?.0)
    }

    /// Some of the queries in memory, made in parallel, and the continuous target of every document.
    ///
    /// # Errors
    /// When they do not fit.
    pub fn part(&self, queries: Range<usize>) -> Result<(Dataset, Vec<f64>)> {
        let (n, mean, width) = (queries.len(), self.settings.documents, self.rows.width());
        let what = format!("{n} queries of about {mean} documents and {width} features");
        // One f32 per value, an f32 and an f64 per document, an id and a random generator per query.
        let bytes =
            |rows: u64| rows.saturating_mul(4 * width as u64 + 12).saturating_add((n as u64).saturating_mul(256));
        memory::ask(bytes((n as u64).saturating_mul(mean as u64)), &what, "ask for less")?;
        let starts: Vec<(ChaCha8Rng, usize)> = queries.clone().map(|index| self.start(index)).collect();
        let rows: usize = starts.iter().map(|(_, documents)| documents).sum();
        memory::ask(bytes(rows as u64), &what, "ask for less")?;
        let too_large = || Error::Config(format!("{what} do not fit into memory"));
        let mut features = zeros(rows.checked_mul(width).ok_or_else(too_large)?).ok_or_else(too_large)?;
        let mut labels = zeros(rows).ok_or_else(too_large)?;
        let mut targets = zeros(rows).ok_or_else(too_large)?;
        let ids = queries.zip(&starts).map(|(index, (_, documents))| (id(index), *documents)).collect();
        let mut left = (&mut features[..], &mut labels[..], &mut targets[..]);
        let mut work = Vec::with_capacity(n);
        for (rng, documents) in starts {
            let (x, more_x) = left.0.split_at_mut(documents * width);
            let (y, more_y) = left.1.split_at_mut(documents);
            let (t, more_t) = left.2.split_at_mut(documents);
            work.push((rng, x, y, t));
            left = (more_x, more_y, more_t);
        }
        work.into_par_iter().for_each(|(rng, x, y, t)| self.write(rng, x, y, t));
        Ok((Dataset::new(width, features, labels, ids)?, targets))
    }

    /// A query's random generator, and its number of documents.
    fn start(&self, index: usize) -> (ChaCha8Rng, usize) {
        let mut rng = stream(self.settings.seed, QUERY_STREAM.wrapping_add(index as u64));
        let mean = self.settings.documents;
        let place = (mean as f64).ln() - LENGTH_SPREAD * LENGTH_SPREAD / 2.0;
        let documents = log_normal(place, LENGTH_SPREAD, &mut rng).round() as usize;
        (rng, documents.clamp(1, mean.saturating_mul(LONGEST)))
    }

    fn write(&self, mut rng: ChaCha8Rng, features: &mut [f32], labels: &mut [f32], targets: &mut [f64]) {
        self.targets(&mut rng, features, targets);
        labels.iter_mut().zip(targets).for_each(|(label, target)| *label = self.bins.label(*target));
    }

    /// Draws one query: its rows, and the target of each.
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

/// Where features come from.
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

    /// Draws the documents of one query, and tells how relevant each is.
    fn query(&self, features: &mut [f32], rng: &mut ChaCha8Rng, relevance: impl FnMut(f64)) {
        match self {
            Rows::Pages(pages) => pages.query(features, rng, relevance),
            Rows::Like(like) => like.query(features, rng, relevance),
        }
    }

    /// Rows that a teacher is fitted to.
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
