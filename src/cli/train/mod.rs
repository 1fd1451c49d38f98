//! `burnrank train`: trains a ranker and writes its model folder.

mod auto;
mod data;
mod demo;
mod distributed;
mod epochs;
mod folds;
mod job;
mod log;
mod output;
mod progress;
mod repeat;
mod settings;
mod single_feature;
mod single_model;
mod warnings;

pub use data::{fit_widths, read, read_all};
pub use warnings::{Warning, data_warnings};

use super::Usage;
use super::input::ReadArgs;
use super::output::Output;
use super::prose::indented;
use super::protect;
use super::ui;
use anyhow::bail;
use burnrank::data::cache::check_in_use;
use burnrank::data::{FeatureNames, MAX_FEATURES};
use burnrank::distributed::Member;
use burnrank::internal::files::Unfinished;
use burnrank::model::ModelPlace;
use burnrank::setting::{ModelKind, models};
use burnrank::train::{Ensemble, is_checkpoint};
use burnrank::{Dataset, Finish, Model, OBJECTIVES, device};
use settings::{Choice, Settings};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  burnrank train                      demonstration on artificial data
  burnrank train --train train.txt --valid vali.txt --out model
      select the best settings on the data and average their models
  burnrank train --train train.txt --seconds 60 --out model
      at most one minute; without --valid, runs hold out different queries
  burnrank train --train train.txt --model mlp --out model
      a single net; one in five queries is held out for validation
  burnrank train --train train.txt --valid vali.txt --test test.txt \\
      --objective ndcg-loss2++:mu=5 --out model
  burnrank train --train train.txt --for solr --out model
      only models that 'burnrank export --format solr' supports
  burnrank train --folds MQ2008 --model linear
      LETOR cross-validation
  burnrank train --train train.txt --out model --ensemble 5
      average five nets, each with a different held-out fifth
  burnrank train --folds MQ2008 --repeat 5
      the variation of test values over five seeds
  burnrank train --train train.txt --out model --resume
      continue an interrupted run

In objectives that are sums over pairs, '@k' keeps pairs with a document in the top k, ':sigma=S' sets the steepness of the \
sigmoid, and ':gaussian=N' and ':plackett-luce=N' average the pair weights over N sampled rankings.

Ctrl-C finishes the current epoch, saves the best model so far and a checkpoint, and exits with code 130. With --model auto \
it saves the average of the runs that finished.";

const AUTO: &str = "  \
  auto
      default: selects among linear nets, two-layer nets and trees (if the
      build can train them) on the data, and averages the best models
";

fn after_help() -> String {
    let rows = OBJECTIVES.iter().map(|row| format!("  {}\n      {}\n", row.pattern(), row.help));
    let model = |kind: &ModelKind| {
        let aim = kind.optimises.map_or(String::new(), |aim| format!("; objective: {aim}"));
        format!("  {}\n{}\n", kind.pattern(), indented(&format!("{}{aim}", kind.help), 6))
    };
    let group = |takes_objective: bool| {
        models().filter(|kind| kind.takes_objective() == takes_objective).map(model).collect::<String>()
    };
    format!(
        "Models (--model):\n{AUTO}{}\nBaselines of the papers (--model):\n{}\nObjectives (--objective):\n{}\n{EXAMPLES}",
        group(true),
        group(false),
        rows.collect::<String>()
    )
}

/// Train a model
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub struct Args {
    /// Training data; without --train or --folds, runs a demonstration on artificial data
    #[arg(long, value_name = "FILE", conflicts_with = "folds")]
    train: Option<PathBuf>,
    /// Validation data, to choose the best epoch [default: one in five training queries]
    #[arg(long, value_name = "FILE", requires = "train")]
    valid: Option<PathBuf>,
    /// Test data, only used to evaluate the model
    #[arg(long, value_name = "FILE", requires = "train")]
    test: Option<PathBuf>,
    /// Query file of the validation data (see --query-file)
    #[arg(long, value_name = "FILE", requires = "valid")]
    valid_query_file: Option<PathBuf>,
    /// Query file of the test data (see --query-file)
    #[arg(long, value_name = "FILE", requires = "test")]
    test_query_file: Option<PathBuf>,
    /// Folder of folds for cross-validation; Fold1, Fold2, ..., each with train.txt, vali.txt and test.txt
    #[arg(long, value_name = "DIR")]
    folds: Option<PathBuf>,
    /// Target probabilities for ranknet, one 'qid docA docB P' per line
    #[arg(long, value_name = "FILE", requires = "train")]
    targets: Option<PathBuf>,
    /// Number of features, if the training data omits the last ones; they are 0
    #[arg(long, value_name = "N", value_parser = features)]
    features: Option<usize>,
    /// Train with N consecutive seeds and report the variation of the test values; needs --folds or --test. Saves the model
    /// of the first seed, --seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: Option<u32>,
    /// File of feature names to store in the model, one 'index name' per line
    #[arg(long, value_name = "FILE")]
    feature_names: Option<PathBuf>,
    /// Model folder to write; required with --train
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace an existing model and log; without --resume, discard the checkpoint of an interrupted run
    #[arg(long)]
    force: bool,
    /// Resume from the checkpoint next to --out, if it exists; does not replace a finished model of another run
    #[arg(long, requires = "train")]
    resume: bool,
    /// Minimum time between checkpoints; 0 writes one after every epoch
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    checkpoint_every: u64,
    /// Print every epoch and the result as JSON lines
    #[arg(long)]
    json: bool,
    /// Append every finished epoch to this file as a JSON line; --resume continues the file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    read: ReadArgs,
}

/// Parses a number of features.
pub fn features(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MAX_FEATURES).contains(number));
    number.ok_or_else(|| format!("expected a number of 1 to {MAX_FEATURES}"))
}

/// Whether a file is, or would be, directly inside an existing folder.
fn is_inside(file: &Path, folder: &Path) -> bool {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    real(folder).is_some_and(|folder| real(parent) == Some(folder))
}

/// The folder that a model will be written to, locked against other processes until training ends.
struct Out {
    place: ModelPlace,
    /// Whether an existing model may be replaced.
    may_replace: bool,
    _unfinished: Vec<Unfinished>,
}

impl Out {
    /// Removes the checkpoint, which is useless once the model is saved.
    fn discard_checkpoint(&self) {
        let checkpoint = self.place.checkpoint();
        if is_checkpoint(&checkpoint) {
            let _ = std::fs::remove_file(checkpoint);
        }
    }

    /// Writes the model. Fails if another one was written there during training and may not be replaced.
    fn save(&self, model: &Model) -> anyhow::Result<()> {
        if self.place.model()?.is_some() && !self.may_replace {
            return Err(protect::exists(self.place.folder(), "--out"));
        }
        check_in_use()?;
        Ok(model.save_to(&self.place)?)
    }
}

impl Args {
    /// Whether the model is selected on the data: with `--model auto`, or without any option for a specific model.
    fn is_auto(&self) -> anyhow::Result<bool> {
        let specific =
            [("--targets", self.targets.is_some()), ("--resume", self.resume), ("--log", self.log.is_some())];
        let specific = specific.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag);
        match (self.settings.choice()?, specific) {
            (Choice::Auto { explicit: true }, Some(flag)) => {
                let message = format!("{flag} does not work with --model auto: add --model mlp, or remove {flag}");
                Err(Usage(message).into())
            }
            (Choice::Auto { .. }, None) => Ok(self.train.is_some() || self.folds.is_some()),
            _ => Ok(false),
        }
    }

    /// Where the models of several runs are, for messages.
    fn models_location(&self) -> String {
        match &self.out {
            Some(out) => format!("the models are in {}", out.display()),
            None => "no model was saved: set --out".into(),
        }
    }

    /// The feature names to store in the model: those of a table or cache, `--feature-names`, or indices that start at 0. Empty
    /// for the default names.
    fn names_of(&self, data: &Dataset) -> anyhow::Result<Vec<String>> {
        let features = data.n_features();
        if let Some(names) = data.feature_names() {
            if self.feature_names.is_some() {
                let message = match data.is_mapped() {
                    true => "--feature-names: this cache already has feature names: rebuild it to change them",
                    false => "--feature-names: this table already has column names: rename the columns to change them",
                };
                bail!(Usage(message.into()));
            }
            let is_default = FeatureNames::unnamed(1).of_width(features)? == names;
            return Ok(if is_default { Vec::new() } else { names.to_vec() });
        }
        let names = match &self.feature_names {
            Some(path) => FeatureNames::read(path, self.read.first_index)?,
            None if self.read.first_index == 1 => return Ok(Vec::new()),
            None => FeatureNames::unnamed(self.read.first_index),
        };
        Ok(names.of_width(features)?)
    }

    /// Refuses a log that would replace another file. A resumed run continues its log.
    fn check_log(&self) -> anyhow::Result<()> {
        Output::of_option(self.log.as_deref(), "--log", self.force || self.resume).map(drop)
    }

    /// Locks the model folder, and refuses to overwrite anything without `--force` or `--resume`, before any work is done.
    fn claim(&self, out: &Path) -> anyhow::Result<Out> {
        let place = ModelPlace::claim(out)?;
        let model = place.model()?;
        let checkpoint = place.checkpoint();
        protect::check_holds_no_input(place.folder(), "--out")?;
        protect::check_not_input(&checkpoint, "--out")?;
        if checkpoint.exists() && !is_checkpoint(&checkpoint) {
            bail!(
                "{} exists and is not a checkpoint: training would overwrite it; move it, or choose another --out",
                checkpoint.display()
            );
        }
        if checkpoint.exists() && !self.force && !self.resume {
            let resume = match (self.train.is_some(), model.is_some()) {
                (true, false) => "continue with --resume, or ",
                (true, true) => "continue with --resume (--resume --force if the model belongs to another run), or ",
                (false, _) => "",
            };
            bail!(
                "{}: checkpoint of an interrupted run: {resume}discard it and train again with --force",
                checkpoint.display()
            );
        }
        if model.is_some() && !self.force && !self.resume {
            return Err(protect::exists(out, "--out"));
        }
        if let Some(log) = self.log.as_ref().filter(|log| is_inside(log, place.folder())) {
            bail!(Usage(format!("--log {}: inside the model folder: choose another file", log.display())));
        }
        for (what, path) in [("checkpoint", checkpoint.as_path()), ("model", place.folder())] {
            if let Some(log) = self.log.as_ref().filter(|log| protect::is_same(log, path)) {
                bail!(Usage(format!("--log {}: also the path of the {what}: choose another file", log.display())));
            }
        }
        let may_replace = self.force || self.resume;
        // The lock file comes last so that it is removed first, and the folders are empty when they are removed.
        let created = place.created_folders().iter().map(PathBuf::as_path).chain([place.lock_file()]);
        Ok(Out { _unfinished: created.map(Unfinished::new).collect(), place, may_replace })
    }

    /// Whether the run that `--resume` should continue is already finished. Refuses the model of another run.
    ///
    /// `identity` computes the identity of this run. It reads all data, so it is only called if needed.
    fn is_finished(&self, out: &Out, epochs: usize, identity: impl FnOnce() -> String) -> anyhow::Result<bool> {
        let Some(model) = out.place.model()?.filter(|_| self.resume && !self.force) else {
            return Ok(false);
        };
        let (folder, checkpoint) = (out.place.folder().display(), out.place.checkpoint());
        let identity = identity();
        let Some(run) = model.run.filter(|run| run.identity == identity) else {
            let other = format!("{folder}: the existing model was trained with other settings or data");
            if !checkpoint.exists() {
                bail!("{other}: choose another --out, or replace it with --force");
            }
            let place = checkpoint.display();
            if Ensemble::identity_in(&checkpoint)? == identity {
                bail!("{other}: continue from {place} and replace the model with --resume --force");
            }
            bail!(
                "{other}, and so was the checkpoint {place}: to resume, pass the settings and data of that run; otherwise \
                 choose another --out, or discard both and train again with --force without --resume"
            );
        };
        if checkpoint.exists() {
            return Ok(false);
        }
        let same = model.settings.get("epochs").and_then(serde_json::Value::as_u64) == Some(epochs as u64);
        if run.finish == Finish::Stopped || !same {
            bail!(
                "{folder}: the model is of this run, but the checkpoint {} is missing: choose another --out, or train \
                 again and replace it with --force",
                checkpoint.display()
            );
        }
        Ok(true)
    }
}

pub fn run(args: &Args, member: Option<&Member>) -> anyhow::Result<()> {
    let mut config = args.settings.config()?;
    if let Some(member) = member {
        config = distributed::settings(args, config, member)?;
    }
    config.check_build()?;
    args.settings.check_ensemble(&config, args.train.is_some() && args.valid.is_none())?;
    if args.targets.is_some() && !config.objective.takes_targets() {
        bail!(Usage(format!("--targets does not work with {}: add --objective ranknet", config.objective)));
    }
    if args.repeat.is_some_and(|count| count > 1) && args.folds.is_none() && args.test.is_none() {
        bail!(Usage("--repeat needs test queries: add --test FILE, or use --folds DIR".into()));
    }
    let device = device::open(&args.settings.device)?;
    if let Some(message) = device::chosen(&args.settings.device, &device) {
        ui::note(&message);
    }
    if member.is_none_or(Member::leads) {
        args.check_log()?;
    }
    match (&args.train, &args.folds) {
        (Some(train), _) => {
            if let Some(member) = member.filter(|member| !member.leads()) {
                return distributed::assist(args, train, config, &device, member);
            }
            let Some(out) = &args.out else {
                bail!(Usage("--train needs --out DIR, the model folder to write".into()));
            };
            let claimed = args.claim(out)?;
            single_model::run(args, train, (out, &claimed), config, (&device, member))
        }
        (None, Some(folder)) => folds::run(args, folder, config, &device),
        (None, None) => demo::run(args, config, &device),
    }
}
