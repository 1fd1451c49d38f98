//! What a ranker is trained on, chosen by and judged on: read, made alike, and checked before the first epoch.

use super::Args;
use super::progress::preparing;
use super::warn::Warning;
use crate::cli::data_problems::Essentials;
use crate::cli::evaluation::unreached;
use crate::cli::input::{self, Ignored, ReadArgs};
use crate::cli::interrupt::Graceful;
use crate::cli::{ui, widths};
use anyhow::{Context, anyhow, bail};
use burnrank::data::Targets;
use burnrank::data::kfold;
use burnrank::distributed::Member;
use burnrank::metric::REPORTED_METRICS;
use burnrank::metric::Summary;
use burnrank::model::DataInfo;
use burnrank::train::TrainingData;
use burnrank::{Conventions, Dataset, Error, Metric, Model, Stop, TrainConfig, evaluate, memory, split};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Queries kept for validation when the user gives no validation data.
const VALIDATION_SHARE: f64 = 0.2;

/// As many as there are, so that each query is kept by one of five members.
const FIFTHS: usize = 5;

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
    /// LightGBM's side files beside the file that are not read.
    pub ignored: Vec<Ignored>,
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
            ignored: Vec::new(),
        }
    }

    pub fn read(path: &Path, reading: &ReadArgs) -> anyhow::Result<Self> {
        let report = input::read_report(path, reading)?;
        let line = Some(report.highest_label.1).filter(|&line| line > 0);
        let ignored = input::ignored(path);
        Ok(Named { line, ignored, file: input::name(path), ..Named::new(path.display().to_string(), report.data) })
    }

    /// Some queries for training and the others for validation; for members of an ensemble, each fifth once.
    fn split(mut self, seed: u64, members: usize, targets: Vec<Targets>) -> anyhow::Result<(Sets, Vec<Targets>)> {
        let queries = self.data.n_queries();
        let parts = split(queries, &[1.0 - VALIDATION_SHARE, VALIDATION_SHARE], seed)
            .context("too few queries to keep some for validation: give --valid FILE")?;
        let mut chosen = vec![parts[0].clone()];
        let mut others = Vec::new();
        if members > 1 {
            // The first member keeps what a single run keeps; the other fifths are fourths of its training queries.
            let fourths = kfold(parts[0].len(), FIFTHS - 1, seed)
                .context("too few queries for each member to keep others for validation: give --valid FILE")?;
            let copies = fourths.len().min(members - 1) as u64;
            if !self.data.is_mapped() {
                let bytes = memory::bytes_of::<f32>(self.data.features().len() as u64).saturating_mul(copies);
                let what = "the training data of members that keep different queries for validation";
                memory::ask(bytes, what, "give --valid FILE, which all of them share")?;
            }
            for fourth in fourths.into_iter().take(members - 1) {
                let kept: Vec<usize> = fourth.into_iter().map(|place| parts[0][place]).collect();
                let train = (0..queries).filter(|query| kept.binary_search(query).is_err()).collect::<Vec<_>>();
                others.push((self.data.select(&train), self.data.select(&kept)));
                chosen.push(train);
            }
        }
        let targets = targets.iter().flat_map(|all| chosen.iter().map(move |queries| all.select(queries))).collect();
        let valid = self.data.take_out(&parts[1]);
        let (file, line, ignored) = (self.file, self.line, self.ignored);
        let each = if others.is_empty() { "" } else { ", other ones for each member" };
        let named = |which, data| {
            let named = Named::new(format!("{file}, {which} in 5 queries{each}"), data);
            Named { file: file.clone(), line, ignored: ignored.clone(), ..named }
        };
        Ok((Sets { others, ..Sets::new(named("4", self.data), named("1", valid), None) }, targets))
    }

    /// Says in which file, and on which line, the trouble with the labels is.
    pub fn locate(&self, error: Error) -> anyhow::Error {
        let line = self.line.map_or(String::new(), |line| format!("; the highest label is first on line {line}"));
        anyhow!("{}: {error}{line}", ui::printable(&self.file))
    }

    fn evaluate(&self, metric: &dyn Metric, scores: &[f32]) -> burnrank::Result<f64> {
        let values = evaluate(metric, scores, self.data.labels(), self.data.offsets(), &Conventions::default())?;
        Ok(Summary::of(&values).mean)
    }
}

/// What a ranker is trained on, chosen by and judged on.
pub struct Sets {
    pub train: Named,
    pub valid: Named,
    pub test: Option<Named>,
    /// Training and validation queries of members of an ensemble that have their own, but for the first.
    others: Vec<(Dataset, Dataset)>,
}

impl Sets {
    pub fn new(train: Named, valid: Named, test: Option<Named>) -> Self {
        Sets { train, valid, test, others: Vec::new() }
    }

    /// Reads the files of a run; without validation data, some of the training queries are kept for it. Target
    /// probabilities, where they are given, are for the training queries of each member.
    pub fn read(args: &Args, train: &Path) -> anyhow::Result<(Self, Vec<Targets>)> {
        let whole = Named::read(train, &args.read)?;
        let targets = args.targets.as_deref().map(|path| Targets::read(path, &whole.data)).transpose()?;
        let targets = Vec::from_iter(targets);
        let (mut sets, targets) = match &args.valid {
            Some(path) => {
                let reading = args.read.with_query_file(args.valid_query_file.as_ref());
                (Sets::new(whole, Named::read(path, &reading)?, None), targets)
            }
            None => whole.split(args.settings.seed(), args.settings.ensemble, targets)?,
        };
        let reading = args.read.with_query_file(args.test_query_file.as_ref());
        sets.test = args.test.as_deref().map(|path| Named::read(path, &reading)).transpose()?;
        Ok((sets, targets))
    }

    /// Reads the files of a run that chooses its model: without validation data, there are none.
    pub fn whole(args: &Args, train: &Path) -> anyhow::Result<Self> {
        let train = Named::read(train, &args.read)?;
        let valid = match &args.valid {
            Some(path) => Named::read(path, &args.read.with_query_file(args.valid_query_file.as_ref()))?,
            None => Named { file: train.file.clone(), ..Named::new(train.source.clone(), Dataset::default()) },
        };
        let reading = args.read.with_query_file(args.test_query_file.as_ref());
        let test = args.test.as_deref().map(|path| Named::read(path, &reading)).transpose()?;
        Ok(Sets::new(train, valid, test))
    }

    /// Training and validation queries of a member, as long as they are here.
    pub fn of_member(&self, member: usize) -> (&Dataset, &Dataset) {
        match member % (self.others.len() + 1) {
            0 => (&self.train.data, &self.valid.data),
            place => (&self.others[place - 1].0, &self.others[place - 1].1),
        }
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
        match valid {
            Some(path) => Ok(Sets::new(whole, Named::read(path, &reading.with_query_file(valid_query_file))?, None)),
            None => whole.split(seed, 1, Vec::new()).map(|(sets, _)| sets),
        }
    }

    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Named)> {
        let valid = Some(("valid", &self.valid)).filter(|(_, valid)| valid.info.queries > 0);
        let test = self.test.iter().map(|test| ("test", test));
        std::iter::once(("train", &self.train)).chain(valid).chain(test)
    }

    /// Gives all sets the features of the training data, which alone decide on the model.
    pub fn fit_widths(&mut self, stated: Option<usize>) -> anyhow::Result<()> {
        let found = self.train.data.n_features();
        let width = stated.unwrap_or(found);
        if width > found && self.train.data.feature_names().is_some() {
            let file = ui::printable(&self.train.file);
            let has = if self.train.data.is_mapped() { "cache has names for its" } else { "table has" };
            bail!("{file}: the {has} {found} columns of features: leave out --features {width}");
        }
        if width < found {
            bail!("{}: {found} features, more than --features {width}", ui::printable(&self.train.file));
        }
        let own = self.all().map(|(_, set)| set.data.n_documents()).sum::<usize>();
        let documents = own + self.others.iter().map(|(a, b)| a.n_documents() + b.n_documents()).sum::<usize>();
        if width > found && self.train.data.is_mapped() {
            self.train.data = std::mem::take(&mut self.train.data).with_width(width);
        } else if width > found {
            let bytes = memory::bytes_of::<f32>(documents as u64 * width as u64);
            memory::ask(bytes, &format!("the {width} features of all documents"), "give fewer --features")?;
            self.train.data = std::mem::take(&mut self.train.data).with_width(width);
        }
        for set in [Some(&mut self.valid), self.test.as_mut()].into_iter().flatten() {
            let name = ui::printable(&set.file);
            if let Some(names) = self.train.data.feature_names() {
                set.data = std::mem::take(&mut set.data).arranged(names).with_context(|| name.clone())?;
            }
            let found = set.data.n_features();
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
        for data in self.others.iter_mut().flat_map(|(train, valid)| [train, valid]) {
            *data = std::mem::take(data).with_width(width);
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

    /// Hands training and validation data over to be scaled in the memory that they have: one for all members, or several
    /// that members take in turn. All are scaled as the first is.
    ///
    /// Where several processes train together, each keeps what it holds.
    pub fn training_data(
        &mut self,
        config: &TrainConfig,
        member: Option<&Member>,
    ) -> anyhow::Result<Vec<Arc<TrainingData<'static>>>> {
        let scaling = config.scaling;
        let (train, valid) = (std::mem::take(&mut self.train.data), std::mem::take(&mut self.valid.data));
        let bar = {
            // Those of a mapped file are scaled when they are read.
            let values = |data: &Dataset| if data.is_mapped() { 0 } else { data.features().len() };
            preparing((values(&train) + values(&valid)) * (self.others.len() + 1))
        };
        if let Some(member) = member.filter(|_| config.shares > 0) {
            return Ok(vec![Arc::new(TrainingData::distributed(member, config.shares, scaling, train, valid)?)]);
        }
        let first = TrainingData::new(scaling, train, valid)?;
        let others = std::mem::take(&mut self.others).into_iter();
        let others: Vec<_> = others.map(|(train, valid)| first.alike(train, valid)).collect::<burnrank::Result<_>>()?;
        bar.finish_and_clear();
        Ok(std::iter::once(first).chain(others).map(Arc::new).collect())
    }

    /// Refuses training data without an order to learn, before any work; target probabilities may give one.
    pub fn check_pairs(&self, config: &TrainConfig, has_targets: bool) -> anyhow::Result<()> {
        if has_targets {
            return Ok(());
        }
        config.check_pairs(&self.train.data).map_err(|error| anyhow!("{}: {error}", ui::printable(&self.train.file)))
    }

    /// Refuses labels that the chosen metric has no value for, before any work. Returns warnings about other metrics without a value,
    /// and about those whose threshold no label reaches.
    pub fn check_measures(&self, config: &TrainConfig) -> anyhow::Result<Vec<Warning>> {
        let mut absent = Vec::new();
        let mut unreached_in = Vec::new();
        let measures = metrics(config)?;
        for (_, set) in self.all() {
            let what = unreached(&measures, set.data.labels(), set.data.offsets());
            // Training and validation queries may come from one file.
            if let Some(what) = what.filter(|_| !unreached_in.contains(&&set.file)) {
                unreached_in.push(&set.file);
                let remedy = "'burnrank evaluate --threshold' sets another one, and so does --metric map:rel=0.5";
                absent.push(Warning::new(&set.file, what, remedy));
            }
            for (place, metric) in measures.iter().enumerate() {
                // The best ranking has the largest sums: where it has a value, all have.
                match set.evaluate(&**metric, set.data.labels()) {
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
                let judged = match Graceful::asked() {
                    // An interrupted user does not wait for a full evaluation.
                    true => model.judge_until(&set.data, &measures, &Stop::after(Duration::from_millis(300))),
                    false => model.evaluate(&set.data, &measures),
                };
                match judged {
                    Ok(values) => _ = model.info.metrics.insert(split.into(), values),
                    Err(Error::Stopped) => {
                        ui::note(&format!("{}: not evaluated: interrupted", ui::printable(&set.source)));
                    }
                    Err(error) => ui::note(&format!("{}: not evaluated: {error}", ui::printable(&set.source))),
                }
            } else if !model.info.metrics.contains_key(split) {
                let why = if Graceful::asked() { "interrupted" } else { "the device failed" };
                ui::note(&format!("{}: not evaluated: {why}", ui::printable(&set.source)));
            }
        }
        Ok(())
    }
}

/// What every report shows: the measure that chose the epoch, and the usual three.
pub fn metrics(config: &TrainConfig) -> anyhow::Result<Vec<Arc<dyn Metric>>> {
    let chosen = burnrank::metric::parse(&config.metric)?;
    let mut all = vec![];
    for name in REPORTED_METRICS {
        all.push(burnrank::metric::parse(name)?);
    }
    all.retain(|metric| metric.name() != chosen.name());
    all.insert(0, chosen);
    Ok(all)
}
