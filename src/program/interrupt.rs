//! Ctrl-C leaves nothing half written behind.

use crate::files::remove_unfinished;
use crate::stop::Stop;
use std::sync::atomic::{AtomicBool, Ordering};

static GRACEFUL: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt removes all that is unfinished and ends the program.
pub fn install() {
    // Where no handler can be set, the system's own remains: the program still ends.
    let _ = ctrlc::set_handler(|| {
        // Work that can end well is asked first; who asks twice means it.
        if GRACEFUL.load(Ordering::SeqCst) && !ASKED.swap(true, Ordering::SeqCst) {
            return;
        }
        remove_unfinished();
        std::process::exit(130);
    });
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
