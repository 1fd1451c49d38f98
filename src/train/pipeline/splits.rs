//! Training, validation and test data of a run.

use super::HoldOut;
use crate::data::{Dataset, ReadOptions, ReadReport, Targets, read_with};
use crate::distributed::Member;
use crate::error::{Error, Result, printable};
use crate::memory;
use crate::metric::{self, Metric, REPORTED_METRICS};
use crate::model::{DataInfo, Model};
use crate::setting::TrainConfig;
use crate::stop::Stop;
use crate::train::TrainingData;
use crate::train::finish::WHEN_STOPPED;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A data set of a run and its source.
#[derive(Debug)]
pub struct Split {
    /// Name of the file in messages.
    pub file: String,
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    /// The documents; empty once they are converted to [training data](Splits::training_data).
    pub data: Dataset,
    /// Description of the documents as read.
    pub info: DataInfo,
    /// Line of the highest label in the file.
    pub line: Option<usize>,
}

impl Split {
    /// Documents in memory; `source` names their origin.
    pub fn new(source: String, data: Dataset) -> Self {
        Split { file: source.clone(), path: None, info: DataInfo::of(source, &data), data, line: None }
    }

    /// The data of a file that was read; `file` is its name in messages.
    pub fn of_report(path: &Path, file: String, report: ReadReport) -> Self {
        let line = Some(report.highest_label.1).filter(|&line| line > 0);
        let split = Split::new(path.display().to_string(), report.data);
        Split { file, path: Some(path.to_path_buf()), line, ..split }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The errors of [`read_with`].
    pub fn read(path: &Path, options: &ReadOptions) -> Result<Self> {
        Ok(Self::of_report(path, path.display().to_string(), read_with(path, options, &|_| {})?))
    }

    /// Adds the file and the line of the highest label to an error about labels.
    pub fn locate(&self, error: Error) -> Error {
        let line = self.line.map_or(String::new(), |line| format!("; the highest label is first on line {line}"));
        Error::Data(format!("{}: {error}{line}", printable(&self.file)))
    }
}

/// The files of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunFiles<'a> {
    /// Training data.
    pub train: &'a Path,
    /// Validation data, which chooses the best epoch.
    pub valid: Option<&'a Path>,
    /// Test data, used only for evaluation.
    pub test: Option<&'a Path>,
    /// Target probabilities of the training queries.
    pub targets: Option<&'a Path>,
}

/// Training, validation and test data of a run.
#[derive(Debug)]
pub struct Splits {
    /// Training data.
    pub train: Split,
    /// Validation data; empty if none was given or held out.
    pub valid: Split,
    /// Test data.
    pub test: Option<Split>,
    /// Training and validation queries of ensemble members other than the first, if they differ.
    pub(super) others: Vec<(Dataset, Dataset)>,
}

/// Sparse data with fewer features than the training data; the missing last features are 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widened {
    /// The file.
    pub file: String,
    /// Its number of features.
    pub features: usize,
    /// Number of features of the training data.
    pub width: usize,
}

/// A split on which a model was not evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotEvaluated {
    /// Source of the data.
    pub source: String,
    /// Why it was not evaluated.
    pub reason: String,
}

impl Splits {
    /// Splits of data in memory.
    pub fn new(train: Split, valid: Split, test: Option<Split>) -> Self {
        Splits { train, valid, test, others: Vec::new() }
    }

    /// Reads the files of a run with `read`, which gets the name of the split and the path. The target probabilities
    /// returned are those of each member's training queries.
    ///
    /// # Errors
    /// The errors of `read`; also if target probabilities are invalid, or there are too few queries to hold some out.
    pub fn read<E: From<Error>>(
        files: &RunFiles<'_>,
        hold_out: HoldOut,
        mut read: impl FnMut(&'static str, &Path) -> std::result::Result<Split, E>,
    ) -> std::result::Result<(Self, Vec<Targets>), E> {
        let train = read("train", files.train)?;
        let targets = files.targets.map(|path| Targets::read(path, &train.data)).transpose()?;
        let targets = Vec::from_iter(targets);
        let (mut splits, targets) = match (files.valid, hold_out) {
            (Some(path), _) => (Splits::new(train, read("valid", path)?, None), targets),
            (None, HoldOut::Fifth { seed, members }) => train.hold_out(seed, members, targets)?,
            (None, HoldOut::Nothing) => {
                let none = Split::new(train.info.source.clone(), Dataset::default());
                let none = Split { file: train.file.clone(), path: train.path.clone(), ..none };
                (Splits::new(train, none, None), targets)
            }
        };
        splits.test = files.test.map(|path| read("test", path)).transpose()?;
        Ok((splits, targets))
    }

    /// The splits that exist, with their names.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Split)> {
        let valid = Some(("valid", &self.valid)).filter(|(_, valid)| valid.info.queries > 0);
        let test = self.test.iter().map(|test| ("test", test));
        std::iter::once(("train", &self.train)).chain(valid).chain(test)
    }

    /// Training and validation queries of a member, before [`Splits::training_data`].
    pub(super) fn of_member(&self, member: usize) -> (&Dataset, &Dataset) {
        match member % (self.others.len() + 1) {
            0 => (&self.train.data, &self.valid.data),
            place => (&self.others[place - 1].0, &self.others[place - 1].1),
        }
    }

    /// Gives all splits the number of features of the training data, or the `stated` number if the training data leaves
    /// out the last ones. Returns the splits that were padded with zeros.
    ///
    /// # Errors
    /// If a split has more features, or fewer without being sparse, or other feature names.
    pub fn fit_widths(&mut self, stated: Option<usize>) -> Result<Vec<Widened>> {
        let n_features = self.train.data.n_features();
        let width = stated.unwrap_or(n_features);
        let train = printable(&self.train.file);
        if width > n_features && self.train.data.feature_names().is_some() {
            let has = if self.train.data.is_mapped() { "cache has names for its" } else { "table has" };
            let message = format!("{train}: the {has} {n_features} columns of features: leave out `features` {width}");
            return Err(Error::Data(message));
        }
        if width < n_features {
            return Err(Error::Data(format!("{train}: {n_features} features, more than `features` {width}")));
        }
        let documents = self.all().map(|(_, split)| split.data.n_documents()).sum::<usize>();
        let documents = documents + self.others.iter().map(|(a, b)| a.n_documents() + b.n_documents()).sum::<usize>();
        if width > n_features {
            if !self.train.data.is_mapped() {
                let bytes = memory::bytes_of::<f32>(documents as u64 * width as u64);
                memory::ask(bytes, &format!("the {width} features of all documents"), "reduce `features`")?;
            }
            self.train.data = std::mem::take(&mut self.train.data).with_width(width);
        }
        let mut widened = Vec::new();
        for split in [Some(&mut self.valid), self.test.as_mut()].into_iter().flatten() {
            let file = printable(&split.file);
            let named = |error: Error| Error::Data(format!("{file}: {error}"));
            if let Some(names) = self.train.data.feature_names() {
                split.data = std::mem::take(&mut split.data).arranged(names).map_err(named)?;
            }
            let n_features = split.data.n_features();
            if split.file == self.train.file {
                // A part of the training file, whose last features the user stated to be 0.
                split.data = std::mem::take(&mut split.data).declared_sparse(true).fit_width(width)?;
                continue;
            }
            if n_features > width {
                return Err(Error::Data(format!(
                    "{file}: the data has {n_features} features, but the training data has {width}: check that this is the \
                     right file; if the other features are 0 in all training data, train with `features` {n_features}"
                )));
            }
            split.data = std::mem::take(&mut split.data).fit_width(width).map_err(named)?;
            if n_features < width {
                widened.push(Widened { file, features: n_features, width });
            }
        }
        for data in self.others.iter_mut().flat_map(|(train, valid)| [train, valid]) {
            *data = std::mem::take(data).with_width(width);
        }
        Ok(widened)
    }

    /// Checks that the training data defines an order to learn, by labels or by target probabilities.
    ///
    /// # Errors
    /// If no query has documents with different labels.
    pub fn check_pairs(&self, config: &TrainConfig, has_targets: bool) -> Result<()> {
        if has_targets {
            return Ok(());
        }
        let named = |error: Error| Error::Data(format!("{}: {error}", printable(&self.train.file)));
        config.check_pairs(&self.train.data).map_err(named)
    }

    /// Number of feature values that [`Splits::training_data`] scales; a mapped file is scaled when it is read.
    pub fn values_to_scale(&self) -> usize {
        let values = |data: &Dataset| if data.is_mapped() { 0 } else { data.features().len() };
        (values(&self.train.data) + values(&self.valid.data)) * (self.others.len() + 1)
    }

    /// Scales training and validation data in place and moves them out: one data set for all members, or several that
    /// members use in turn. All have the scaling of the first.
    ///
    /// # Errors
    /// The errors of [`TrainingData::new`].
    pub fn training_data(&mut self, config: &TrainConfig) -> Result<Vec<Arc<TrainingData<'static>>>> {
        let rules = config.preprocessing(&self.train.data)?;
        let (train, valid) = (std::mem::take(&mut self.train.data), std::mem::take(&mut self.valid.data));
        let first = TrainingData::new(rules, train, valid)?;
        let others = std::mem::take(&mut self.others).into_iter();
        let others: Vec<_> =
            others.map(|(train, valid)| first.with_same_scaling(train, valid)).collect::<Result<_>>()?;
        Ok(std::iter::once(first).chain(others).map(Arc::new).collect())
    }

    /// Like [`Splits::training_data`], for distributed training: each process keeps its part.
    ///
    /// # Errors
    /// The errors of [`TrainingData::distributed`].
    pub fn distributed_data(
        &mut self,
        config: &TrainConfig,
        member: &Member,
    ) -> Result<Vec<Arc<TrainingData<'static>>>> {
        let rules = config.preprocessing(&self.train.data)?;
        let (train, valid) = (std::mem::take(&mut self.train.data), std::mem::take(&mut self.valid.data));
        Ok(vec![Arc::new(TrainingData::distributed(member, config.shares, rules, train, valid)?)])
    }

    /// Adds the sources of its data and its test metrics to a model. Returns the splits that could not be evaluated,
    /// rather than an error, so that a trained model is never lost.
    ///
    /// If `stop` is set, evaluation of the test data is limited to a moment.
    pub fn describe(&self, model: &mut Model, metrics: &[Arc<dyn Metric>], stop: &Stop) -> Vec<NotEvaluated> {
        let mut missing = Vec::new();
        for (name, split) in self.all() {
            model.info.data.insert(name.into(), split.info.clone());
            let mut miss = |reason: String| {
                missing.push(NotEvaluated { source: split.info.source.clone(), reason });
            };
            if name == "test" {
                let values = match stop.asked() {
                    true => model.evaluate_until(&split.data, metrics, &Stop::after(WHEN_STOPPED)),
                    false => model.evaluate(&split.data, metrics),
                };
                match values {
                    Ok(values) => _ = model.info.metrics.insert(name.into(), values),
                    Err(Error::Stopped) => miss("interrupted".into()),
                    Err(error) => miss(error.to_string()),
                }
            } else if !model.info.metrics.contains_key(name) {
                miss(if stop.asked() { "interrupted" } else { "the device failed" }.into());
            }
        }
        missing
    }
}

/// The metrics of every report: the one that selects the best epoch, then NDCG@10, MAP and MRR.
///
/// ```
/// let names = |chosen| -> Result<Vec<String>, burnrank::Error> {
///     Ok(burnrank::train::report_metrics(chosen)?.iter().map(|metric| metric.name()).collect())
/// };
/// assert_eq!(names("map")?, ["map", "ndcg@10", "mrr"]);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// If the metric is unknown.
pub fn report_metrics(chosen: &str) -> Result<Vec<Arc<dyn Metric>>> {
    let mut all = vec![metric::parse(chosen)?];
    for name in REPORTED_METRICS {
        let metric = metric::parse(name)?;
        if metric.name() != all[0].name() {
            all.push(metric);
        }
    }
    Ok(all)
}
