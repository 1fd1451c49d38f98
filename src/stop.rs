//! A request to stop, from whoever started a long computation.

use crate::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A flag that long computations look at: clones of it are one and the same flag.
///
/// Whoever is asked gives up within a second, with [`Error::Stopped`].
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
    /// Set from this moment on.
    At(Arc<AtomicBool>, Instant),
    /// Counts the looks at it.
    #[cfg(test)]
    Counted(Arc<AtomicBool>, Arc<std::sync::atomic::AtomicUsize>),
}

impl Default for Flag {
    fn default() -> Self {
        Flag::Shared(Arc::default())
    }
}

impl Stop {
    /// A new flag, which nobody has set.
    pub fn new() -> Self {
        Stop::default()
    }

    /// A flag that exists already, as that of a signal handler.
    pub fn watching(flag: &'static AtomicBool) -> Self {
        Stop(Flag::Static(flag))
    }

    /// A flag that is set after some time, for work that is worth no more than that.
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

    /// A flag that counts how often it is looked at.
    #[cfg(test)]
    pub(crate) fn counted() -> (Self, Arc<std::sync::atomic::AtomicUsize>) {
        let looks = Arc::<std::sync::atomic::AtomicUsize>::default();
        (Stop(Flag::Counted(Arc::default(), looks.clone())), looks)
    }

    fn flag(&self) -> &AtomicBool {
        match &self.0 {
            Flag::Shared(flag) | Flag::At(flag, _) => flag,
            Flag::Static(flag) => flag,
            #[cfg(test)]
            Flag::Counted(flag, _) => flag,
        }
    }

    /// Asks all who look at this flag to stop.
    pub fn ask(&self) {
        self.flag().store(true, Ordering::Relaxed);
    }

    /// Whether someone has asked.
    pub fn asked(&self) -> bool {
        match &self.0 {
            Flag::At(flag, at) => flag.load(Ordering::Relaxed) || Instant::now() >= *at,
            #[cfg(test)]
            Flag::Counted(flag, looks) => {
                looks.fetch_add(1, Ordering::Relaxed);
                flag.load(Ordering::Relaxed)
            }
            _ => self.flag().load(Ordering::Relaxed),
        }
    }

    /// The same as a result, for `?`.
    ///
    /// # Errors
    /// [`Error::Stopped`] when someone has asked.
    pub fn check(&self) -> Result<()> {
        if self.asked() { Err(Error::Stopped) } else { Ok(()) }
    }
}
