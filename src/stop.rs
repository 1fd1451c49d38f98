//! Cancellation of long computations.

use crate::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A cancellation flag that long computations poll. Clones share the flag.
///
/// A computation returns [`Error::Stopped`] within a second after [`Stop::ask`].
///
/// ```
/// use burnrank::objective::{Batch, Gradients, Outputs};
/// use burnrank::{Error, Objective, Stop};
/// let stop = Stop::new();
/// let objective = Objective::parse("arp-loss2")?;
/// let batch = Batch { labels: &[1.0, 0.0], offsets: &[0, 2] };
/// let ask = || objective.gradients(&[1.0, 2.0], batch, Gradients::gradient(&mut [0.0; 2]), Outputs::default(), &[], &stop);
/// assert!(ask().is_ok());
/// stop.ask();
/// assert!(matches!(ask(), Err(Error::Stopped)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Stop(Flag);

#[derive(Debug, Clone)]
enum Flag {
    Shared(Arc<AtomicBool>),
    Static(&'static AtomicBool),
    /// Set at this instant.
    At(Arc<AtomicBool>, Instant),
    /// Counts how often it is polled.
    #[cfg(test)]
    Counted(Arc<AtomicBool>, Arc<std::sync::atomic::AtomicUsize>),
}

impl Default for Flag {
    fn default() -> Self {
        Flag::Shared(Arc::default())
    }
}

impl Stop {
    /// Returns a flag that is not set.
    pub fn new() -> Self {
        Stop::default()
    }

    /// Wraps an existing flag, for example that of a signal handler.
    pub fn watching(flag: &'static AtomicBool) -> Self {
        Stop(Flag::Static(flag))
    }

    /// Returns a flag that is set after this time: a time limit.
    ///
    /// ```
    /// use burnrank::Stop;
    /// use std::time::Duration;
    /// assert!(Stop::after(Duration::ZERO).asked());
    /// assert!(!Stop::after(Duration::from_secs(60)).asked());
    /// ```
    pub fn after(time: Duration) -> Self {
        let at = Instant::now().checked_add(time);
        Stop(at.map_or_else(Flag::default, |at| Flag::At(Arc::default(), at)))
    }

    /// Returns a flag, and the number of times that it was polled.
    #[cfg(test)]
    pub(crate) fn counted() -> (Self, Arc<std::sync::atomic::AtomicUsize>) {
        let polls = Arc::<std::sync::atomic::AtomicUsize>::default();
        (Stop(Flag::Counted(Arc::default(), polls.clone())), polls)
    }

    fn flag(&self) -> &AtomicBool {
        match &self.0 {
            Flag::Shared(flag) | Flag::At(flag, _) => flag,
            Flag::Static(flag) => flag,
            #[cfg(test)]
            Flag::Counted(flag, _) => flag,
        }
    }

    /// Sets the flag.
    pub fn ask(&self) {
        self.flag().store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set.
    pub fn asked(&self) -> bool {
        match &self.0 {
            Flag::At(flag, at) => flag.load(Ordering::Relaxed) || Instant::now() >= *at,
            #[cfg(test)]
            Flag::Counted(flag, polls) => {
                polls.fetch_add(1, Ordering::Relaxed);
                flag.load(Ordering::Relaxed)
            }
            _ => self.flag().load(Ordering::Relaxed),
        }
    }

    /// Returns an error if the flag is set, for use with `?`.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the flag is set.
    pub fn check(&self) -> Result<()> {
        if self.asked() { Err(Error::Stopped) } else { Ok(()) }
    }
}
