//! The training of one model, from its data to its folder: the steps that `--train` and `--folds` share.

use super::epochs::run_epochs;
use super::output::RunOutput;
use super::repeat::Repeats;
use super::single_feature::SingleFeature;
use super::warnings::{self, Warning};
use super::{Args, Out, auto, data};
use crate::cli::interrupt::Graceful;
use burnrank::data::Targets;
use burnrank::distributed::Member;
use burnrank::train::{Ensemble, Splits, TrainingData};
use burnrank::tune::AutoReport;
use burnrank::{Device, Finish, Model, TrainConfig};
use std::path::Path;
use std::sync::Arc;

/// A model to train: its data and its settings.
pub struct TrainingJob<'a> {
    args: &'a Args,
    device: &'a Device,
    /// Names the run if there are several.
    title: &'a str,
    pub config: TrainConfig,
    pub splits: Splits,
    targets: Vec<Targets>,
    names: Vec<String>,
    single_feature: Option<SingleFeature>,
    /// Scaled data; empty for model selection, which scales it itself.
    data: Vec<Arc<TrainingData<'static>>>,
    is_auto: bool,
}

/// A model that was trained or selected.
pub struct TrainedModel {
    pub model: Model,
    /// The report of model selection, with `--model auto`.
    pub selection: Option<AutoReport>,
    /// Whether the run was interrupted before its end.
    pub interrupted: bool,
}

/// The categorical features of a configuration by number from 1, if they are given by a name of `--feature-names` or by an index of
/// a file whose indices start at 0.
fn categorical(config: &TrainConfig, names: &[String], first_index: u32) -> Vec<String> {
    let number = |feature: &String| {
        let place = names.iter().position(|name| name == feature);
        let index = || feature.parse::<usize>().ok().filter(|_| first_index == 0);
        place.or_else(index).map_or_else(|| feature.clone(), |column| (column + 1).to_string())
    };
    config.categorical.iter().map(number).collect()
}

impl<'a> TrainingJob<'a> {
    /// Checks the splits, gives them the same number of features, and resolves the settings that depend on the data.
    pub fn new(
        args: &'a Args,
        device: &'a Device,
        title: &'a str,
        config: TrainConfig,
        (mut splits, targets): (Splits, Vec<Targets>),
    ) -> anyhow::Result<Self> {
        data::fit_widths(&mut splits, args.features)?;
        splits.check_pairs(&config, args.targets.is_some())?;
        let names = args.names_of(&splits.train.data)?;
        let mut config = config;
        if splits.train.data.feature_names().is_none() {
            config.categorical = categorical(&config, &names, args.read.first_index);
        }
        let is_auto = args.is_auto()?;
        let config = match is_auto {
            true => config,
            false => {
                let config = args.settings.suited(config, splits.train.data.n_queries())?;
                auto::with_scaling(args, &splits, config, device)?
            }
        };
        let (single_feature, data) = (None, Vec::new());
        Ok(TrainingJob { args, device, title, config, splits, targets, names, single_feature, data, is_auto })
    }

    /// The identity of the run; call before [`TrainingJob::scale`].
    pub fn identity(&self) -> String {
        self.splits.identity(&self.config, self.args.settings.ensemble, &self.targets)
    }

    /// Checks objective and metrics on all splits, prints warnings about the data, and samples queries for the comparison with
    /// a single feature.
    pub fn warnings(&mut self) -> anyhow::Result<Vec<Warning>> {
        let warnings = warnings::before_training(&self.splits, &self.config, self.args.read.first_index)?;
        // Members with different held-out queries train on each other's validation queries.
        let is_unseen = self.args.settings.ensemble == 1 || self.args.valid.is_some() || self.args.folds.is_some();
        self.single_feature = is_unseen.then(|| SingleFeature::sample(&self.splits.valid.data, &self.config)).flatten();
        Ok(warnings)
    }

    /// Scales the data, except for model selection. With several processes, each keeps only its part.
    pub fn scale(&mut self, member: Option<&Member>) -> anyhow::Result<()> {
        if !self.is_auto {
            self.data = data::scale(&mut self.splits, &self.config, member)?;
        }
        Ok(())
    }

    /// The members of the run; `None` for model selection.
    pub fn members(&self) -> burnrank::Result<Option<Ensemble<'_>>> {
        let start = || Ensemble::of(&self.config, self.args.settings.ensemble, &self.data, &self.targets, self.device);
        if self.is_auto { Ok(None) } else { start().map(Some) }
    }

    /// Trains until the end or Ctrl-C; `None` if interrupted before the first epoch ended.
    pub fn train(
        &self,
        members: Option<Ensemble<'_>>,
        checkpoint: Option<(&Path, bool)>,
        member: Option<&Member>,
        output: &mut RunOutput,
    ) -> anyhow::Result<Option<TrainedModel>> {
        let Some(members) = members else {
            let (model, selection) = auto::select(self.args, &self.splits, &self.config, self.device, self.title)?;
            return Ok(Some(TrainedModel { model, selection: Some(selection), interrupted: Graceful::is_requested() }));
        };
        let Some(model) = run_epochs(self.args, &self.config, members, checkpoint, self.title, output)? else {
            return Ok(None);
        };
        let is_stopped = model.info.run.as_ref().is_some_and(|run| run.finish == Finish::Stopped);
        // With several processes, another one may have been interrupted.
        let interrupted = is_stopped && (Graceful::is_requested() || member.is_some());
        let is_new = model.info.best_epoch > 0 || !interrupted;
        Ok(is_new.then_some(TrainedModel { model, selection: None, interrupted }))
    }

    /// Evaluates the model on the test data, writes it to `out`, and prints warnings about its training.
    pub fn save(&self, trained: &mut TrainedModel, out: Option<&Out>) -> anyhow::Result<Vec<Warning>> {
        let TrainingJob { args, config, title, .. } = self;
        let TrainedModel { model, selection, interrupted } = trained;
        data::describe(&self.splits, model, config)?;
        model.info.feature_names = self.names.clone();
        if let Some(out) = out {
            let has_checkpoint = selection.is_none() && args.train.is_some() && out.place.checkpoint().exists();
            if let Err(error) = out.save(model) {
                let remedy = if has_checkpoint { "; fix this, then save the model with --resume" } else { "" };
                anyhow::bail!("{error}{remedy}");
            }
            if selection.is_some() || !*interrupted {
                out.discard_checkpoint();
            }
        }
        // `--model feature` is a single feature by definition.
        let single_feature = self.single_feature.as_ref().filter(|_| args.settings.model().kind.name != "feature");
        let single_feature = single_feature.and_then(|single| single.warning(model, args.read.first_index, title));
        let others = [warnings::too_few_epochs(config, model, title), single_feature].into_iter().flatten();
        Ok(warnings::after_training(model, title).chain(others).inspect(Warning::print).collect())
    }

    /// Trains with the other seeds of `--repeat`.
    pub fn train_other_seeds(&self, repeats: &Repeats) -> anyhow::Result<Vec<Model>> {
        let TrainingJob { args, config, device, .. } = self;
        if self.is_auto {
            let select = |config: &TrainConfig| auto::select(args, &self.splits, config, device, self.title);
            return repeats.sequentially(config, |config| Ok(select(config)?.0));
        }
        let start =
            |config: &TrainConfig| Ensemble::of(config, args.settings.ensemble, &self.data, &self.targets, device);
        repeats.in_parallel(config, start)
    }
}
