//! A run to its end: the loop over epochs, of one model and of an ensemble.

use super::ensemble::Ensemble;
use super::trainer::Trainer;
use crate::error::{Error, Result};
use crate::model::{EpochRecord, Finish, Model};
use std::ops::ControlFlow;

impl<'a> Trainer<'a> {
    /// Trains until the run is finished, the observer breaks, or [`Trainer::with_stop`] ends it.
    ///
    /// The observer is called after each epoch: to report it, to save a checkpoint, or to end the run. Returns
    /// [`Finish::Stopped`] for a run that could continue, by another call of this function.
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
    /// As [`Trainer::epoch`], but for [`Error::Stopped`]; and those of the observer.
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

    /// Trains to the end: [`Trainer::run`] without an observer, then [`Trainer::finish`].
    ///
    /// # Errors
    /// As these two.
    pub fn train(mut self) -> Result<Model> {
        self.run(|_, _| Ok(ControlFlow::Continue(())))?;
        self.finish()
    }
}

impl<'a> Ensemble<'a> {
    /// As [`Trainer::run`], for all members; the observer gets the new epochs of [`Ensemble::history`].
    ///
    /// # Errors
    /// As there.
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

    /// As [`Trainer::train`].
    ///
    /// # Errors
    /// As there.
    pub fn train(mut self) -> Result<Model> {
        self.run(|_, _| Ok(ControlFlow::Continue(())))?;
        self.finish()
    }
}
