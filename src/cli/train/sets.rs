//! What a ranker is trained on, chosen by and judged on: read, made alike, and checked before the first epoch.

use super::Args;
use super::progress::preparing;
use super::warn::Warning;
use crate::cli::input::{self, ReadArgs};
use crate::cli::oddities::Essentials;
use crate::cli::{ui, widths};
use anyhow::{Context, anyhow, bail};
use burnrank::data::Targets;
use burnrank::model::DataInfo;
use burnrank::train::TrainingData;
use burnrank::{Conventions, Dataset, Error, Metric, Model, ScaleKind, Summary, TrainConfig, judge, memory, split};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Queries kept for validation when the user gives no validation data.
const VALIDATION_SHARE: f64 = 0.2;

/// A data set and where it came from.
pub struct Named {
    /// The file.
    pub file: String,
    /// The same, and which part of it.
    source: String,
    pub data: Dataset,
    /// Of the data as the file has them.
    pub info: DataInfo,
    /// The line of the highest label, where there is a file.
    pub line: Option<usize>,
    /// Nothing until all sets have the same features.
    pub essentials: Option<Essentials>,
}

impl Named {
    pub fn new(source: String, data: Dataset) -> Self {
        Named {
            file: source.clone(),
            info: DataInfo::of(source.clone(), &data),
            source,
            data,
            line: None,
            essentials: None,
        }
    }

    pub fn read(path: &Path, reading: &ReadArgs) -> anyhow::Result<Self> {
        let report = input::read_report(path, reading)?;
        let line = Some(report.highest_label.1).filter(|&line| line > 0);
        Ok(Named { line, file: input::name(path), ..Named::new(path.display().to_string(), report.data) })
    }

    /// Some queries for training and the others for validation.
    fn split(mut self, seed: u64, targets: Option<Targets>) -> anyhow::Result<(Named, Named, Option<Targets>)> {
        let parts = split(self.data.n_queries(), &[1.0 - VALIDATION_SHARE, VALIDATION_SHARE], seed)
            .context("too few queries to keep some for validation: give --valid FILE")?;
        let targets = targets.map(|targets| targets.select(&parts[0]));
        let valid = self.data.take_out(&parts[1]);
        let (file, line) = (self.file, self.line);
        let named = |which, data| {
            let named = Named::new(format!("{file}, {which} in 5 queries"), data);
            Named { file: file.clone(), line, ..named }
        };
        Ok((named("4", self.data), named("1", valid), targets))
    }

    /// Says in which file, and on which line, the trouble with the labels is.
    pub fn locate(&self, error: Error) -> anyhow::Error {
        let line = self.line.map_or(String::new(), |line| format!("; the highest label is first on line {line}"));
        anyhow!("{}: {error}{line}", ui::printable(&self.file))
    }

    fn judge(&self, metric: &dyn Metric, scores: &[f32]) -> burnrank::Result<f64> {
        let values = judge(metric, scores, self.data.labels(), self.data.offsets(), &Conventions::default())?;
        Ok(Summary::of(&values).mean)
    }
}

/// What a ranker is trained on, chosen by and judged on.
pub struct Sets {
    pub train: Named,
    pub valid: Named,
    pub test: Option<Named>,
}

impl Sets {
    /// Reads the files of a run; without validation data, some of the training queries are kept for it.
    pub fn read(args: &Args, train: &Path) -> anyhow::Result<(Self, Option<Targets>)> {
        let whole = Named::read(train, &args.read)?;
        let targets = args.targets.as_deref().map(|path| Targets::read(path, &whole.data)).transpose()?;
        let (train, valid, targets) = match &args.valid {
            Some(path) => {
                let reading = args.read.with_query_file(args.valid_query_file.as_ref());
                (whole, Named::read(path, &reading)?, targets)
            }
            None => whole.split(args.settings.seed, targets)?,
        };
        let reading = args.read.with_query_file(args.test_query_file.as_ref());
        let test = args.test.as_deref().map(|path| Named::read(path, &reading)).transpose()?;
        let sets = Sets { train, valid, test };
        Ok((sets, targets))
    }

    /// Reads training and validation data alone; without the latter, the same training queries are kept for it.
    pub fn of_files(
        train: &Path,
        valid: Option<&Path>,
        reading: &ReadArgs,
        valid_query_file: Option<&PathBuf>,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let whole = Named::read(train, reading)?;
        let (train, valid) = match valid {
            Some(path) => (whole, Named::read(path, &reading.with_query_file(valid_query_file))?),
            None => whole.split(seed, None).map(|(train, valid, _)| (train, valid))?,
        };
        Ok(Sets { train, valid, test: None })
    }

    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Named)> {
        [("train", &self.train), ("valid", &self.valid)].into_iter().chain(self.test.iter().map(|test| ("test", test)))
    }

    /// Gives all sets the features of the training data, which alone decide on the model.
    pub fn fit_widths(&mut self, stated: Option<usize>) -> anyhow::Result<()> {
        let own = self.train.data.n_features();
        let width = stated.unwrap_or(own);
        if width < own {
            bail!("{}: {own} features, more than --features {width}", ui::printable(&self.train.file));
        }
        let documents: usize = self.all().map(|(_, set)| set.data.n_documents()).sum();
        if width > own {
            let bytes = memory::bytes_of::<f32>(documents as u64 * width as u64);
            memory::ask(bytes, &format!("the {width} features of all documents"), "give fewer --features")?;
            self.train.data = std::mem::take(&mut self.train.data).with_width(width);
        }
        for set in [Some(&mut self.valid), self.test.as_mut()].into_iter().flatten() {
            let found = set.data.n_features();
            let name = ui::printable(&set.file);
            if set.file == self.train.file {
                // A part of the training file, whose last features the user stated to be 0.
                set.data = std::mem::take(&mut set.data).declared_sparse(true).fit_width(width)?;
                continue;
            }
            if found > width {
                bail!(
                    "{name}: the data has {found} features, the training data has {width}: is it the right file? If the \
                     others are 0 in all training data, train with --features {found}"
                );
            }
            set.data = widths::fit(std::mem::take(&mut set.data), width, &name)?;
        }
        Ok(())
    }

    /// Makes the sets alike, and looks at what decides whether there is anything to learn from them.
    pub fn prepare(&mut self, args: &Args) -> anyhow::Result<()> {
        self.fit_widths(args.features)?;
        for set in [Some(&mut self.train), Some(&mut self.valid), self.test.as_mut()].into_iter().flatten() {
            set.essentials = Some(Essentials::of(&set.data, args.read.first_index, set.line));
        }
        Ok(())
    }

    /// Hands training and validation data over to be scaled in the memory that they have.
    pub fn training_data(&mut self, scaling: ScaleKind) -> anyhow::Result<TrainingData<'static>> {
        let (train, valid) = (std::mem::take(&mut self.train.data), std::mem::take(&mut self.valid.data));
        let bar = preparing(train.features().len() + valid.features().len());
        let data = TrainingData::new(scaling, train, valid)?;
        bar.finish_and_clear();
        Ok(data)
    }

    /// Refuses labels that the chosen measure has no value for, before any work; tells of others that have none.
    pub fn check_measures(&self, config: &TrainConfig) -> anyhow::Result<Vec<Warning>> {
        let mut absent = Vec::new();
        let measures = metrics(config)?;
        for (_, set) in self.all() {
            for (place, metric) in measures.iter().enumerate() {
                // The best ranking has the largest sums: where it has a value, all have.
                match set.judge(&**metric, set.data.labels()) {
                    Ok(_) => {}
                    Err(error) if place == 0 => return Err(set.locate(error)),
                    Err(error) => absent.push(Warning::left_out(&metric.name(), &set.locate(error))),
                }
            }
        }
        Ok(absent)
    }

    /// Adds to a model where its data came from, and what it reaches on the test data.
    ///
    /// A measure that has no value is left out: nothing that happens here may lose a trained model.
    pub fn describe(&self, model: &mut Model, config: &TrainConfig) -> anyhow::Result<()> {
        let measures = metrics(config)?;
        for (split, set) in self.all() {
            model.info.data.insert(split.into(), set.info.clone());
            if split == "test" {
                match model.judge(&set.data, &measures) {
                    Ok(values) => _ = model.info.metrics.insert(split.into(), values),
                    Err(error) => ui::note(&format!("{}: not judged: {error}", ui::printable(&set.source))),
                }
            } else if !model.info.metrics.contains_key(split) {
                ui::note(&format!("{}: not judged: the device failed", ui::printable(&set.source)));
            }
        }
        Ok(())
    }
}

/// What every report shows: the measure that chose the epoch, and the usual three.
pub fn metrics(config: &TrainConfig) -> anyhow::Result<Vec<Arc<dyn Metric>>> {
    let chosen = burnrank::metric::parse(&config.metric)?;
    let mut all = vec![];
    for name in ["ndcg@10", "map", "mrr"] {
        all.push(burnrank::metric::parse(name)?);
    }
    all.retain(|metric| metric.name() != chosen.name());
    all.insert(0, chosen);
    Ok(all)
}
