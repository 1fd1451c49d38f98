//! Training with a progress bar, a log and checkpoints.

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

/// Trains with a progress bar, a log and checkpoints, to the end or to Ctrl-C; `None` if that came before the first epoch.
pub fn train_with(
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
        let (done, wanted) = (members.epochs(), config.epochs);
        let past = if done > wanted {
            format!(", which is past --epochs {wanted}: the best of these {done} is saved, none is trained")
        } else {
            String::new()
        };
        ui::note(&format!("going on after epoch {done}{past}"));
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
    let finish = trained.map_err(|error| goes_on_from(error, checkpoint.as_ref()))?;
    // Also after the last epoch: the model may turn out not to be writable where it belongs.
    if let Some(checkpoint) = &mut checkpoint {
        checkpoint.save(&members);
    }
    drop(progress);
    if let Some(copied) = members.members().iter().filter_map(Trainer::transfers).reduce(|sum, one| sum + one) {
        ui::note(&format!("{}copied {copied}", if title.is_empty() { String::new() } else { format!("{title}: ") }));
    }
    if (finish == Finish::Stopped || Graceful::asked()) && members.history(0).is_empty() {
        return Ok(None);
    }
    Ok(Some(members.finish()?))
}

/// What a device that failed leaves behind.
fn goes_on_from(error: burnrank::Error, checkpoint: Option<&Checkpoint<'_>>) -> burnrank::Error {
    match (error, checkpoint) {
        (burnrank::Error::Device(message), Some(checkpoint)) if checkpoint.path.exists() => burnrank::Error::Device(
            format!("{message}; {} is whole: --resume goes on from there", checkpoint.path.display()),
        ),
        (error, _) => error,
    }
}

/// Where a run can go on from.
struct Checkpoint<'a> {
    path: &'a Path,
    saved: Instant,
    failed: bool,
}

impl Checkpoint<'_> {
    /// A checkpoint that cannot be written is no reason to lose the run.
    fn save(&mut self, members: &Ensemble<'_>) {
        self.saved = Instant::now();
        if let Err(error) = members.save_checkpoint(self.path)
            && !std::mem::replace(&mut self.failed, true)
        {
            ui::note(&format!("{error}: training goes on, but could not be resumed from here"));
        }
    }
}
