//! Ctrl-C leaves nothing half written behind.

use burnrank::Stop;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static GRACEFUL: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on an interrupt removes all that is [`Unfinished`] and ends the program.
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
        remove_all(&mut unfinished());
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

/// Removes all that is [`Unfinished`], unless it is being added to right now.
pub fn remove_unfinished() {
    if let Ok(mut paths) = UNFINISHED.try_lock() {
        remove_all(&mut paths);
    }
}

fn remove_all(paths: &mut Vec<PathBuf>) {
    // The newest first: a folder is empty once its files are gone.
    paths.drain(..).rev().for_each(|path| remove(&path));
}

/// Removes a file, or a folder when it is empty.
fn remove(path: &Path) {
    if std::fs::remove_file(path).is_err() {
        let _ = std::fs::remove_dir(path);
    }
}

/// A file or folder that is not to outlive an interrupt, as long as this value lives.
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    pub fn new(path: &Path) -> Self {
        unfinished().push(path.to_path_buf());
        Unfinished(path.to_path_buf())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().retain(|path| *path != self.0);
    }
}

/// As long as this value lives, the first interrupt only asks; the second ends the program.
#[derive(Debug)]
pub struct Graceful(());

impl Graceful {
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
