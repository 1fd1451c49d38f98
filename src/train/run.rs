//! The loop over epochs, for a single model and for an ensemble.

use super::ensemble::Ensemble;
use super::trainer::Trainer;
use crate::error::{Error, Result};
use crate::model::{EpochRecord, Finish, Model};
use std::ops::ControlFlow;

impl<'a> Trainer<'a> {
    /// Trains until the run has finished, the observer breaks, or the flag of [`Trainer::with_stop`] is set.
    ///
    /// The observer is called after each epoch, to report it, save a checkpoint or end the run. Returns
    /// [`Finish::Stopped`] for a run that can be continued by calling this function again.
    ///
    /// ```
    /// use burnrank::{Finish, Synthetic, TrainConfig, Trainer, device};
    /// use std::ops::ControlFlow;
    /// let data = Synthetic { queries: 10, ..Synthetic::net() }.generator()?.dataset()?;
    /// let mut trainer = Trainer::new(TrainConfig::default(), &data, &data, &device::open("auto")?)?;
    /// let finish = trainer.run(|_, epoch| {
    ///     println!("epoch {}: {:.4}", epoch.epoch, epoch.valid);
    ///     Ok(if epoch.epoch == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    /// })?;
    /// assert_eq!((finish, trainer.history().len()), (Finish::Stopped, 3));
    /// # Ok::<(), burnrank::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Trainer::epoch`] except [`Error::Stopped`], and those of the observer.
    pub fn run(
        &mut self,
        mut observer: impl FnMut(&Trainer<'a>, &EpochRecord) -> Result<ControlFlow<()>>,
    ) -> Result<Finish> {
        loop {
            if let Some(finish) = self.finished() {
                return Ok(finish);
            }
            let epoch = match self.epoch() {
                Err(Error::Stopped) => return Ok(Finish::Stopped),
                epoch => epoch?,
            };
            if observer(self, &epoch)?.is_break() {
                return Ok(self.finished().unwrap_or(Finish::Stopped));
            }
        }
    }

    /// Trains until the run has finished, then returns the model: [`Trainer::run`] without an observer, and
    /// [`Trainer::finish`].
    ///
    /// # Errors
    /// Those of the two functions.
    pub fn train(mut self) -> Result<Model> {
        self.run(|_, _| Ok(ControlFlow::Continue(())))?;
        self.finish()
    }
}

impl<'a> Ensemble<'a> {
    /// Like [`Trainer::run`], for all members; the observer gets the new epochs of [`Ensemble::history`].
    ///
    /// # Errors
    /// The errors of [`Trainer::run`].
    pub fn run(
        &mut self,
        mut observer: impl FnMut(&Ensemble<'a>, &[EpochRecord]) -> Result<ControlFlow<()>>,
    ) -> Result<Finish> {
        loop {
            if let Some(finish) = self.finished() {
                return Ok(finish);
            }
            let before = self.epochs();
            match self.epoch() {
                Err(Error::Stopped) => return Ok(Finish::Stopped),
                epoch => epoch?,
            }
            if observer(self, &self.history(before))?.is_break() {
                return Ok(self.finished().unwrap_or(Finish::Stopped));
            }
        }
    }

    /// Like [`Trainer::train`], for all members.
    ///
    /// # Errors
    /// The errors of [`Trainer::run`] and [`Trainer::finish`].
    pub fn train(mut self) -> Result<Model> {
        self.run(|_, _| Ok(ControlFlow::Continue(())))?;
        self.finish()
    }
}
