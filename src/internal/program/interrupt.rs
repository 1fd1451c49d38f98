//! Handling of Ctrl-C, which removes partial files.

use crate::internal::files::remove_unfinished;
use crate::stop::Stop;
use std::sync::atomic::{AtomicBool, Ordering};

static GRACEFUL: AtomicBool = AtomicBool::new(false);
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Installs a handler that removes unfinished files and exits on SIGINT, SIGTERM and SIGHUP.
///
/// SIGHUP stays ignored if it was ignored at the start, as under `nohup`.
pub fn install() {
    #[cfg(unix)]
    let ignored = hangup::is_ignored();
    // If no handler can be installed, the default one still ends the program.
    let _ = ctrlc::set_handler(|| {
        // The first interrupt only requests a graceful stop; the second one exits.
        if GRACEFUL.load(Ordering::SeqCst) && !REQUESTED.swap(true, Ordering::SeqCst) {
            return;
        }
        remove_unfinished();
        std::process::exit(130);
    });
    #[cfg(unix)]
    if ignored {
        hangup::ignore();
    }
}

/// SIGHUP, sent when the session ends.
#[cfg(unix)]
mod hangup {
    const NUMBER: i32 = 1;
    /// `SIG_IGN`, which is the same on all Unix systems.
    const IGNORE: usize = 1;

    unsafe extern "C" {
        fn signal(number: i32, action: usize) -> usize;
    }

    /// Ignores the signal and returns the previous action.
    pub fn ignore() -> usize {
        // SAFETY: the signature is that of the C library, and ignoring a signal runs no handler.
        unsafe { signal(NUMBER, IGNORE) }
    }

    pub fn is_ignored() -> bool {
        let previous = ignore();
        if previous != IGNORE {
            // SAFETY: as above; this restores the action that the system returned.
            unsafe { signal(NUMBER, previous) };
        }
        previous == IGNORE
    }
}

/// While this value exists, the first interrupt only requests a stop; the second one ends the program.
#[derive(Debug)]
pub struct Graceful(());

impl Graceful {
    /// Makes the first interrupt a request to stop.
    #[expect(clippy::new_without_default, reason = "it has a side effect")]
    pub fn new() -> Self {
        GRACEFUL.store(true, Ordering::SeqCst);
        Graceful(())
    }

    /// Returns the request as a [`Stop`] for the library to check during long work.
    pub fn stop() -> Stop {
        Stop::watching(&REQUESTED)
    }

    /// Whether the user has requested a stop.
    pub fn is_requested() -> bool {
        REQUESTED.load(Ordering::SeqCst)
    }
}

impl Drop for Graceful {
    fn drop(&mut self) {
        GRACEFUL.store(false, Ordering::SeqCst);
    }
}
