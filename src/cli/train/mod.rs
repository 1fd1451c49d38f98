//! `burnrank train`: from a LETOR file to a model folder.

mod auto;
mod data;
mod demo;
mod distributed;
mod folds;
mod job;
mod log;
mod one;
mod output;
mod progress;
mod repeat;
mod run;
mod settings;
mod single;
mod warn;

pub use data::{fit_widths, read, read_all};
pub use warn::{Warning, of as warnings_of};

use super::Usage;
use super::input::ReadArgs;
use super::output::Output;
use super::prose::indented;
use super::protect;
use super::ui;
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
  burnrank train                      a demonstration on artificial data
  burnrank train --train train.txt --valid vali.txt --out model
      the best that a race of settings finds, averaged into one model
  burnrank train --train train.txt --seconds 60 --out model
      in a minute at most; without --valid, each run keeps other queries
  burnrank train --train train.txt --model mlp --out model
      one net; one in five queries is kept for validation
  burnrank train --train train.txt --valid vali.txt --test test.txt \\
      --objective ndcg-loss2++:mu=5 --out model
  burnrank train --folds MQ2008 --model linear
      LETOR cross-validation
  burnrank train --train train.txt --out model --ensemble 5
      five nets, each with another fifth kept, averaged into one
  burnrank train --folds MQ2008 --repeat 5
      how much of a gain is luck of the seed?
  burnrank train --train train.txt --out model --resume
      goes on after an interruption

For sums over pairs '@k' keeps those with a document among the first k, ':sigma=S' sets the slope of the sigmoid, \
':gaussian=N' and ':plackett-luce=N' average the weights over N sampled rankings.

Ctrl-C finishes the epoch, saves the best model so far and a checkpoint, and exits with code 130; of auto, it saves the \
average of the runs that were whole.";

const AUTO: &str = "  \
  auto
      the default: linear nets, two-layer nets and, where this build grows
      them, trees, in a race on the data; those that win are averaged
";

fn after_help() -> String {
    let rows = OBJECTIVES.iter().map(|row| format!("  {}\n      {}\n", row.pattern(), row.help));
    let model = |kind: &ModelKind| {
        let aim = kind.optimises.map_or(String::new(), |aim| format!("; optimises {aim}"));
        format!("  {}\n{}\n", kind.pattern(), indented(&format!("{}{aim}", kind.help), 6))
    };
    let group = |own: bool| models().filter(|kind| kind.takes_objective() == own).map(model).collect::<String>();
    format!(
        "Models, for --model:\n{AUTO}{}\nSystems that the papers compare with, for --model too:\n{}\nObjectives:\n{}\n{EXAMPLES}",
        group(true),
        group(false),
        rows.collect::<String>()
    )
}

/// Train a ranker
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub struct Args {
    /// Training data; without it and --folds, a demonstration on artificial data
    #[arg(long, value_name = "FILE", conflicts_with = "folds")]
    train: Option<PathBuf>,
    /// Validation data, which chooses the best epoch; without it, one in five training queries
    #[arg(long, value_name = "FILE", requires = "train")]
    valid: Option<PathBuf>,
    /// Test data, only judged, never trained on
    #[arg(long, value_name = "FILE", requires = "train")]
    test: Option<PathBuf>,
    /// The query file of the validation data, as --query-file is that of the training data
    #[arg(long, value_name = "FILE", requires = "valid")]
    valid_query_file: Option<PathBuf>,
    /// The query file of the test data
    #[arg(long, value_name = "FILE", requires = "test")]
    test_query_file: Option<PathBuf>,
    /// A folder of Fold1, Fold2, ... with train.txt, vali.txt and test.txt: cross-validation
    #[arg(long, value_name = "DIR")]
    folds: Option<PathBuf>,
    /// Target probabilities for ranknet, lines of 'qid docA docB P'
    #[arg(long, value_name = "FILE", requires = "train")]
    targets: Option<PathBuf>,
    /// The number of features, where the training data leaves out the last ones, which then are 0
    #[arg(long, value_name = "N", value_parser = features)]
    features: Option<usize>,
    /// Train with N seeds, from --seed up, and tell how far the test values depend on them; for --folds, or --train with
    /// --test. The model of the first seed is the one that is saved
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: Option<u32>,
    /// Names of the features, lines of 'index name'; the model keeps them
    #[arg(long, value_name = "FILE")]
    feature_names: Option<PathBuf>,
    /// Where the model folder goes; required with --train
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace an existing model and log, and discard the checkpoint of an interrupted run unless --resume is given;
    /// nothing else is replaced
    #[arg(long)]
    force: bool,
    /// Go on from the checkpoint beside --out, if there is one; a finished model of another run is not replaced
    #[arg(long, requires = "train")]
    resume: bool,
    /// The least time between two checkpoints; 0 writes one after every epoch
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    checkpoint_every: u64,
    /// Print every epoch and the result as JSON lines
    #[arg(long)]
    json: bool,
    /// Write every epoch to this file as a JSON line, as it ends; with --resume, go on with the file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    read: ReadArgs,
}

/// A number of features that a file may have.
pub fn features(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MAX_FEATURES).contains(number));
    number.ok_or_else(|| format!("expected a number of 1 to {MAX_FEATURES}"))
}

/// Whether a file is, or would be, right inside a folder that exists.
fn is_inside(file: &Path, folder: &Path) -> bool {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    real(folder).is_some_and(|folder| real(parent) == Some(folder))
}

/// Where a model goes, held against other processes until training is over.
struct Out {
    place: ModelPlace,
    /// Whether a model that is there may be replaced.
    replaces: bool,
    _unfinished: Vec<Unfinished>,
}

impl Out {
    /// Removes the checkpoint that the saved model makes worthless.
    fn discard_checkpoint(&self) {
        let checkpoint = self.place.checkpoint();
        if is_checkpoint(&checkpoint) {
            let _ = std::fs::remove_file(checkpoint);
        }
    }

    /// Writes the model, unless one came there during training that must stay.
    fn save(&self, model: &Model) -> anyhow::Result<()> {
        if self.place.model()?.is_some() && !self.replaces {
            return Err(protect::exists(self.place.folder(), "--out"));
        }
        check_in_use()?;
        Ok(model.save_to(&self.place)?)
    }
}

impl Args {
    /// Whether the model is chosen on the data: where that is said, or nothing is that only one model has.
    fn is_auto(&self) -> anyhow::Result<bool> {
        let own = [("--targets", self.targets.is_some()), ("--resume", self.resume), ("--log", self.log.is_some())];
        let own = own.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag);
        match (self.settings.choice()?, own) {
            (Choice::Auto { said: true }, Some(flag)) => {
                let message = format!("{flag} is for one model, not for auto: add --model mlp, or leave it out");
                Err(Usage(message).into())
            }
            (Choice::Auto { .. }, None) => Ok(self.train.is_some() || self.folds.is_some()),
            _ => Ok(false),
        }
    }

    /// Where the models of several runs are, for messages.
    fn kept(&self) -> String {
        match &self.out {
            Some(out) => format!("the models are in {}", out.display()),
            None => "no model was kept, because --out was not given".into(),
        }
    }

    /// The names of the features that a model keeps: those of the columns of a table, those that a cache has, those that the user
    /// gave, or those of indices that begin with 0.
    fn names_of(&self, data: &Dataset) -> anyhow::Result<Vec<String>> {
        let features = data.n_features();
        if let Some(names) = data.feature_names() {
            if self.feature_names.is_some() {
                let message = match data.is_mapped() {
                    true => "--feature-names: the features of this cache have names already: make it again with others",
                    false => "--feature-names: the columns of a table have names already: rename them there",
                };
                return Err(Usage(message.into()).into());
            }
            // What a model calls features that nobody named.
            let usual = FeatureNames::unnamed(1).of_width(features)? == names;
            return Ok(if usual { Vec::new() } else { names.to_vec() });
        }
        let names = match &self.feature_names {
            Some(path) => FeatureNames::read(path, self.read.first_index)?,
            None if self.read.first_index == 1 => return Ok(Vec::new()),
            None => FeatureNames::unnamed(self.read.first_index),
        };
        Ok(names.of_width(features)?)
    }

    /// Refuses a log that would replace another file; the log of a run that is resumed is continued.
    fn check_log(&self) -> anyhow::Result<()> {
        Output::of_option(self.log.as_deref(), "--log", self.force || self.resume).map(drop)
    }

    /// Claims the place of a model, and refuses to write over anything unasked, before any work is done.
    fn claim(&self, out: &Path) -> anyhow::Result<Out> {
        let place = ModelPlace::claim(out)?;
        let model = place.model()?;
        let checkpoint = place.checkpoint();
        protect::check_holds_no_input(place.folder(), "--out")?;
        protect::check_not_input(&checkpoint, "--out")?;
        if checkpoint.exists() && !is_checkpoint(&checkpoint) {
            anyhow::bail!(
                "{} exists and is not a checkpoint, which training would write there: move it, or choose another --out",
                checkpoint.display()
            );
        }
        if checkpoint.exists() && !self.force && !self.resume {
            let go_on = match (self.train.is_some(), model.is_some()) {
                (true, false) => "--resume goes on from it, ",
                (true, true) => "--resume goes on from it (--resume --force where the model is of another run), ",
                (false, _) => "",
            };
            anyhow::bail!(
                "{}: the checkpoint of a run that was interrupted: {go_on}--force alone discards it and trains \
                 anew",
                checkpoint.display()
            );
        }
        if model.is_some() && !self.force && !self.resume {
            return Err(protect::exists(out, "--out"));
        }
        if let Some(log) = self.log.as_ref().filter(|log| is_inside(log, place.folder())) {
            let message = format!("--log {}: a model folder holds nothing but its model: log elsewhere", log.display());
            return Err(Usage(message).into());
        }
        for (what, path) in [("checkpoint", checkpoint.as_path()), ("model", place.folder())] {
            if let Some(log) = self.log.as_ref().filter(|log| protect::is_same(log, path)) {
                let message = format!("--log {}: the {what} is written there: log elsewhere", log.display());
                return Err(Usage(message).into());
            }
        }
        let replaces = self.force || self.resume;
        // The lock last, to be removed first: the folders are empty then.
        let made = place.made_folders().iter().map(PathBuf::as_path).chain([place.lock_file()]);
        Ok(Out { _unfinished: made.map(Unfinished::new).collect(), place, replaces })
    }

    /// Whether `--resume` finds its own run finished. A model of another run is refused.
    ///
    /// `identity` tells which run is asked for; it takes a look at all data, so it is only called where it matters.
    fn is_finished(&self, out: &Out, epochs: usize, identity: impl FnOnce() -> String) -> anyhow::Result<bool> {
        let Some(model) = out.place.model()?.filter(|_| self.resume && !self.force) else {
            return Ok(false);
        };
        let (folder, checkpoint) = (out.place.folder().display(), out.place.checkpoint());
        let identity = identity();
        let Some(run) = model.run.filter(|run| run.identity == identity) else {
            let other = format!("{folder}: the model there is of a run with other settings or data");
            if !checkpoint.exists() {
                anyhow::bail!("{other}: choose another --out, or --force to replace it");
            }
            let place = checkpoint.display();
            if Ensemble::identity_in(&checkpoint)? == identity {
                anyhow::bail!("{other}: --resume --force goes on from {place} and replaces that model");
            }
            anyhow::bail!(
                "{other}, and so is the checkpoint {place}: to resume, give the settings and data of that run; otherwise \
                 choose another --out, or --force without --resume to discard both and train from the start"
            );
        };
        if checkpoint.exists() {
            return Ok(false);
        }
        let same = model.settings.get("epochs").and_then(serde_json::Value::as_u64) == Some(epochs as u64);
        if run.finish == Finish::Stopped || !same {
            anyhow::bail!(
                "{folder}: the model there is of this run, but the checkpoint to go on from, {}, is gone: choose another \
                 --out, or --force to train anew and replace it",
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
        let message = format!("--targets train ranknet, not {}: add --objective ranknet", config.objective);
        return Err(Usage(message).into());
    }
    if args.repeat.is_some_and(|count| count > 1) && args.folds.is_none() && args.test.is_none() {
        let message = "--repeat compares seeds on test queries: add --test FILE to --train, or give --folds DIR";
        return Err(Usage(message.into()).into());
    }
    let device = device::open(&args.settings.device)?;
    if let Some(said) = device::chosen(&args.settings.device, &device) {
        ui::note(&said);
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
                return Err(Usage("--train needs --out DIR: where shall the model go?".into()).into());
            };
            let claimed = args.claim(out)?;
            one::run(args, train, (out, &claimed), config, (&device, member))
        }
        (None, Some(folder)) => folds::run(args, folder, config, &device),
        (None, None) => demo::run(args, config, &device),
    }
}
