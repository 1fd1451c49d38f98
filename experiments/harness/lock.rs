//! Locks a results folder for one process at a time.

use anyhow::{Context, bail};
use std::fs::{File, TryLockError};
use std::path::Path;

/// An exclusive lock on a folder, held while this value lives; the system releases it if the process is killed.
pub struct Lock(#[expect(dead_code, reason = "the lock is held by the open file")] File);

impl Lock {
    /// Creates the folder if necessary and locks it.
    ///
    /// # Errors
    /// If another process holds the lock, or the folder cannot be used.
    pub fn take(folder: &Path) -> anyhow::Result<Lock> {
        let name = folder.display();
        std::fs::create_dir_all(folder).with_context(|| format!("{name}: cannot create"))?;
        let file = open(folder).with_context(|| format!("{name}: cannot lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => {
                bail!("{name}: another process is using this folder; wait for it to end, or use another --out DIR")
            }
            Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("{name}: cannot lock")),
        }
    }
}

/// Opens the folder itself, so that no lock file is left behind.
#[cfg(unix)]
fn open(folder: &Path) -> std::io::Result<File> {
    File::open(folder)
}

/// Opens a lock file in the folder, on systems where folders cannot be locked.
#[cfg(not(unix))]
fn open(folder: &Path) -> std::io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(folder.join(".lock"))
}
