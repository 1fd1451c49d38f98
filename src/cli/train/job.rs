//! One model from its data to its folder: the steps that all plans share.

use super::output::RunOutput;
use super::repeat::Repeats;
use super::run::train_with;
use super::single::SingleFeature;
use super::warn::{self, Warning};
use super::{Args, Out, auto, data};
use crate::cli::interrupt::Graceful;
use burnrank::data::Targets;
use burnrank::distributed::Member;
use burnrank::train::{Ensemble, Splits, TrainingData};
use burnrank::tune::AutoReport;
use burnrank::{Device, Finish, Model, TrainConfig};
use std::path::Path;
use std::sync::Arc;

/// A model to be trained: its data and its settings.
pub struct Job<'a> {
    args: &'a Args,
    device: &'a Device,
    /// Names the run where there are several.
    title: &'a str,
    pub config: TrainConfig,
    pub splits: Splits,
    targets: Vec<Targets>,
    names: Vec<String>,
    single: Option<SingleFeature>,
    /// Empty where the model is selected on the data.
    data: Vec<Arc<TrainingData<'static>>>,
    is_auto: bool,
}

/// A model that was trained, or selected.
pub struct Trained {
    pub model: Model,
    /// How it was selected, where it was.
    pub selection: Option<AutoReport>,
    /// Whether the run could continue.
    pub interrupted: bool,
}

impl<'a> Job<'a> {
    /// Makes the splits alike, and settles what the settings leave to the data.
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
        let is_auto = args.is_auto()?;
        let config = match is_auto {
            true => config,
            false => {
                let config = args.settings.suited(config, splits.train.data.n_queries())?;
                auto::with_scaling(args, &splits, config, device)?
            }
        };
        Ok(Job { args, device, title, config, splits, targets, names, single: None, data: Vec::new(), is_auto })
    }

    /// The identity of the run, before anything is scaled.
    pub fn identity(&self) -> String {
        self.splits.identity(&self.config, self.args.settings.ensemble, &self.targets)
    }

    /// Checks objective and metrics on all splits, prints warnings about the data, and keeps what later ones need.
    pub fn warnings(&mut self) -> anyhow::Result<Vec<Warning>> {
        let warnings = warn::before(&self.splits, &self.config, self.args.read.first_index)?;
        // Where members have validation queries of their own, other members were trained on these.
        let apart = self.args.settings.ensemble == 1 || self.args.valid.is_some() || self.args.folds.is_some();
        self.single = apart.then(|| SingleFeature::sample(&self.splits.valid.data, &self.config)).flatten();
        Ok(warnings)
    }

    /// Scales the data of a model that is named; of several processes, each keeps what it holds.
    pub fn scale(&mut self, member: Option<&Member>) -> anyhow::Result<()> {
        if !self.is_auto {
            self.data = data::scale(&mut self.splits, &self.config, member)?;
        }
        Ok(())
    }

    /// The members of the run; nothing where the model is selected on the data.
    pub fn members(&self) -> burnrank::Result<Option<Ensemble<'_>>> {
        let start = || Ensemble::of(&self.config, self.args.settings.ensemble, &self.data, &self.targets, self.device);
        if self.is_auto { Ok(None) } else { start().map(Some) }
    }

    /// Trains to the end or to Ctrl-C; `None` if that came before the first epoch.
    pub fn train(
        &self,
        members: Option<Ensemble<'_>>,
        checkpoint: Option<(&Path, bool)>,
        member: Option<&Member>,
        output: &mut RunOutput,
    ) -> anyhow::Result<Option<Trained>> {
        let Some(members) = members else {
            let (model, selection) = auto::choose(self.args, &self.splits, &self.config, self.device, self.title)?;
            return Ok(Some(Trained { model, selection: Some(selection), interrupted: Graceful::asked() }));
        };
        let Some(model) = train_with(self.args, &self.config, members, checkpoint, self.title, output)? else {
            return Ok(None);
        };
        let is_stopped = model.info.run.as_ref().is_some_and(|run| run.finish == Finish::Stopped);
        // Of several processes, another may have been asked.
        let interrupted = is_stopped && (Graceful::asked() || member.is_some());
        let is_new = model.info.best_epoch > 0 || !interrupted;
        Ok(is_new.then_some(Trained { model, selection: None, interrupted }))
    }

    /// Evaluates the model on the test data, writes it where it goes, and prints warnings about its training.
    pub fn keep(&self, trained: &mut Trained, out: Option<&Out>) -> anyhow::Result<Vec<Warning>> {
        let Job { args, config, title, .. } = self;
        let Trained { model, selection, interrupted } = trained;
        data::describe(&self.splits, model, config)?;
        model.info.feature_names = self.names.clone();
        if let Some(out) = out {
            let resumes = selection.is_none() && args.train.is_some() && out.place.checkpoint().exists();
            if let Err(error) = out.save(model) {
                let there = if resumes { "; when that is mended, --resume saves it from its checkpoint" } else { "" };
                anyhow::bail!("{error}{there}");
            }
            if selection.is_some() || !*interrupted {
                out.discard_checkpoint();
            }
        }
        // Who asks for a single feature gets one.
        let single = self.single.as_ref().filter(|_| args.settings.model().kind.name != "feature");
        let single = single.and_then(|single| single.warning(model, args.read.first_index, title));
        let rest = [warn::too_few_epochs(config, model, title), single].into_iter().flatten();
        Ok(warn::training(model, title).chain(rest).inspect(Warning::tell).collect())
    }

    /// The models of the other seeds.
    pub fn again(&self, repeats: &Repeats) -> anyhow::Result<Vec<Model>> {
        let Job { args, config, device, .. } = self;
        if self.is_auto {
            let select = |config: &TrainConfig| auto::choose(args, &self.splits, config, device, self.title);
            return repeats.one_by_one(config, |config| select(config).map(|found| found.0));
        }
        let start =
            |config: &TrainConfig| Ensemble::of(config, args.settings.ensemble, &self.data, &self.targets, device);
        repeats.side_by_side(config, start)
    }
}
