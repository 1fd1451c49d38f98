//! The epochs of a run, with a progress bar, a log and checkpoints.

use super::Args;
use super::output::RunOutput;
use super::progress::TrainingProgress;
use crate::cli::interrupt::Graceful;
use crate::cli::ui;
use burnrank::train::{Ensemble, report_metrics};
use burnrank::{Finish, Model, TrainConfig, Trainer};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// Trains until the end or Ctrl-C, with a progress bar, a log and checkpoints; `None` if interrupted before the first epoch ended.
///
/// `checkpoint` is a path, and whether to resume from it.
pub fn run_epochs(
    args: &Args,
    config: &TrainConfig,
    members: Ensemble<'_>,
    checkpoint: Option<(&Path, bool)>,
    title: &str,
    output: &mut RunOutput,
) -> anyhow::Result<Option<Model>> {
    let mut members = members.with_stop(&Graceful::stop()).with_metrics(&report_metrics(&config.metric)?);
    if let Some((path, true)) = checkpoint {
        members = members.resume(path)?;
        let (done, epochs) = (members.epochs(), config.epochs);
        let past = if done > epochs {
            format!(", past --epochs {epochs}: saving the best of these {done} epochs without further training")
        } else {
            String::new()
        };
        ui::note(&format!("resuming after epoch {done}{past}"));
    }
    output.open_log(args.log.as_deref(), &members.history(0), args.force || args.resume)?;
    let mut progress = TrainingProgress::new(config, title, members.epochs());
    let mut checkpoint = checkpoint.map(|(path, _)| Checkpoint { path, saved: Instant::now(), failed: false });
    let trained = members.run(|members, epochs| {
        progress.epoch(members);
        epochs.iter().try_for_each(|epoch| output.epoch(epoch, title))?;
        if let Some(checkpoint) = &mut checkpoint
            && checkpoint.saved.elapsed() >= Duration::from_secs(args.checkpoint_every)
        {
            checkpoint.save(members);
        }
        Ok(ControlFlow::Continue(()))
    });
    let finish = trained.map_err(|error| with_checkpoint(error, checkpoint.as_ref()))?;
    // Also after the last epoch, in case the model cannot be written.
    if let Some(checkpoint) = &mut checkpoint {
        checkpoint.save(&members);
    }
    drop(progress);
    if let Some(copied) = members.members().iter().filter_map(Trainer::transfers).reduce(|sum, one| sum + one) {
        ui::note(&format!("{}copied {copied}", if title.is_empty() { String::new() } else { format!("{title}: ") }));
    }
    if (finish == Finish::Stopped || Graceful::is_requested()) && members.history(0).is_empty() {
        return Ok(None);
    }
    Ok(Some(members.finish()?))
}

/// Adds the checkpoint to the error of a failed device.
fn with_checkpoint(error: burnrank::Error, checkpoint: Option<&Checkpoint<'_>>) -> burnrank::Error {
    match (error, checkpoint) {
        (burnrank::Error::Device(message), Some(checkpoint)) if checkpoint.path.exists() => {
            burnrank::Error::Device(format!("{message}; continue from {} with --resume", checkpoint.path.display()))
        }
        (error, _) => error,
    }
}

/// The checkpoint of a run.
struct Checkpoint<'a> {
    path: &'a Path,
    saved: Instant,
    failed: bool,
}

impl Checkpoint<'_> {
    /// Writes the checkpoint. Training continues if that fails.
    fn save(&mut self, members: &Ensemble<'_>) {
        self.saved = Instant::now();
        if let Err(error) = members.save_checkpoint(self.path)
            && !std::mem::replace(&mut self.failed, true)
        {
            ui::note(&format!("{error}: training continues, but cannot be resumed if interrupted"));
        }
    }
}
