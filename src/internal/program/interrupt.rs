//! Ctrl-C leaves nothing half written behind.

use crate::internal::files::remove_unfinished;
use crate::stop::Stop;
use std::sync::atomic::{AtomicBool, Ordering};

static GRACEFUL: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt removes all that is unfinished and ends the program.
///
/// So do a request to terminate and, unless it was ignored from the start as under `nohup`, the end of the session.
pub fn install() {
    #[cfg(unix)]
    let ignored = hangup::is_ignored();
    // Where no handler can be set, the system's own remains: the program still ends.
    let _ = ctrlc::set_handler(|| {
        // Work that can end well is asked first; who asks twice means it.
        if GRACEFUL.load(Ordering::SeqCst) && !ASKED.swap(true, Ordering::SeqCst) {
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

/// The signal of a session that ends.
#[cfg(unix)]
mod hangup {
    const NUMBER: i32 = 1;
    /// `SIG_IGN`, the same on every Unix.
    const IGNORE: usize = 1;

    unsafe extern "C" {
        fn signal(number: i32, action: usize) -> usize;
    }

    /// Ignores it from now on, and returns what was done about it before.
    pub fn ignore() -> usize {
        // SAFETY: the C library's function; to ignore a signal runs no code of ours.
        unsafe { signal(NUMBER, IGNORE) }
    }

    pub fn is_ignored() -> bool {
        let before = ignore();
        if before != IGNORE {
            // SAFETY: as above, and the system itself said that this is what was done before.
            unsafe { signal(NUMBER, before) };
        }
        before == IGNORE
    }
}

/// As long as this value lives, the first interrupt only asks; the second ends the program.
#[derive(Debug)]
pub struct Graceful(());

impl Graceful {
    /// Begins the time in which the first interrupt only asks.
    #[expect(clippy::new_without_default, reason = "it has an effect")]
    pub fn new() -> Self {
        GRACEFUL.store(true, Ordering::SeqCst);
        Graceful(())
    }

    /// The same question for the library, to look at inside long work.
    pub fn stop() -> Stop {
        Stop::watching(&ASKED)
    }

    /// Whether the user has asked to stop.
    pub fn asked() -> bool {
        ASKED.load(Ordering::SeqCst)
    }
}

impl Drop for Graceful {
    fn drop(&mut self) {
        GRACEFUL.store(false, Ordering::SeqCst);
    }
}
