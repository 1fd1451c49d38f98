//! `burnrank train`: from a LETOR file to a model folder.

mod demo;
mod folds;
mod run;
mod settings;

use super::Usage;
use super::input::ReadArgs;
use burnrank::{Model, device};
use settings::Settings;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  burnrank train                      a demonstration on artificial data
  burnrank train --train train.txt --out model
      one in five queries is kept for validation
  burnrank train --train train.txt --valid vali.txt --test test.txt \\
      --objective ndcg-loss2++:mu=5 --out model
  burnrank train --folds MQ2008 --model linear
      LETOR cross-validation
  burnrank train --train train.txt --out model --resume
      goes on after an interruption

Objectives: ranknet, ranknet:ties, arp-loss1, arp-loss2, ndcg-loss1, ndcg-loss2, ndcg-loss2++:mu=5 and \
lambdarank:METRIC for any metric. '@K' keeps pairs with a document among the first K, as in ranknet@10 or \
lambdarank:ndcg@10; ':sigma=S' sets the slope of the sigmoid; ':gaussian=N' and ':plackett-luce=N' average the \
weights over N sampled rankings.

Ctrl-C finishes the epoch, saves the best model so far and a checkpoint, and exits with code 130.";

/// Train a ranker
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
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
    /// A folder of Fold1, Fold2, ... with train.txt, vali.txt and test.txt: cross-validation
    #[arg(long, value_name = "DIR")]
    folds: Option<PathBuf>,
    /// Target probabilities for ranknet, lines of 'qid docA docB P'
    #[arg(long, value_name = "FILE", requires = "train")]
    targets: Option<PathBuf>,
    /// Where the model folder goes; required with --train
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace a model that is there already
    #[arg(long)]
    force: bool,
    /// Go on from the checkpoint beside --out, if there is one
    #[arg(long, requires = "train")]
    resume: bool,
    /// The least time between two checkpoints; 0 writes one after every epoch
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    checkpoint_every: u64,
    /// Print every epoch and the result as JSON lines
    #[arg(long)]
    json: bool,
    /// Write every epoch to this file as a JSON line, as it ends
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    read: ReadArgs,
}

impl Args {
    /// Refuses to write over something, before any work is done.
    fn check_out(&self, out: &std::path::Path) -> anyhow::Result<()> {
        Model::check_target(out)?;
        if out.join("model.json").exists() && !self.force && !self.resume {
            anyhow::bail!(
                "{}: there is a model already: choose another --out, or --force to replace it",
                out.display()
            );
        }
        Ok(())
    }
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let config = args.settings.config()?;
    if args.targets.is_some() && !config.objective.takes_targets() {
        let message = format!("--targets train ranknet, not {}: add --objective ranknet", config.objective);
        return Err(Usage(message).into());
    }
    let device = device::open(&args.settings.device)?;
    match (&args.train, &args.folds) {
        (Some(train), _) => {
            let Some(out) = &args.out else {
                return Err(Usage("--train needs --out DIR: where shall the model go?".into()).into());
            };
            args.check_out(out)?;
            run::run(args, train, out, config, &device)
        }
        (None, Some(folder)) => folds::run(args, folder, config, &device),
        (None, None) => demo::run(args, config, &device),
    }
}
