//! One program at a time in a folder of results.

use anyhow::{Context, bail};
use std::fs::{File, TryLockError};
use std::path::Path;

/// The right to change a folder, as long as this value lives; the system takes it back when a program is killed.
pub struct Lock(#[expect(dead_code, reason = "the lock is held by the open file")] File);

impl Lock {
    /// Makes the folder if it is not there.
    ///
    /// # Errors
    /// When another program has the lock, or the folder cannot be used.
    pub fn take(folder: &Path) -> anyhow::Result<Lock> {
        let name = folder.display();
        std::fs::create_dir_all(folder).with_context(|| format!("{name}: cannot create"))?;
        let file = open(folder).with_context(|| format!("{name}: cannot lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => {
                bail!(
                    "{name}: another experiments program is at work there: wait for its end, or give another --out DIR"
                )
            }
            Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("{name}: cannot lock")),
        }
    }
}

/// The folder itself, so that no file is left behind.
#[cfg(unix)]
fn open(folder: &Path) -> std::io::Result<File> {
    File::open(folder)
}

/// A file in the folder, where folders cannot be locked.
#[cfg(not(unix))]
fn open(folder: &Path) -> std::io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(folder.join(".lock"))
}
