//! Lock file beside a model folder, for one writer at a time. The system releases it when its process ends in any way.

use crate::error::{Error, Result};
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time to wait for another process to replace a folder.
const PATIENCE: Duration = Duration::from_secs(1);

/// A held lock; dropping it removes the file.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
    /// Whether the file system supports locks. Without them, leftovers of a dead process cannot be distinguished from
    /// the files of a live one.
    pub(super) works: bool,
}

impl Lock {
    /// Acquires the lock of `target`, waiting for a short time.
    pub(super) fn take(target: &Path) -> Result<Self> {
        let mut name = OsString::from(".burnrank-lock-");
        name.push(target.file_name().unwrap_or_default());
        let path = target.with_file_name(name);
        let start = Instant::now();
        loop {
            if let Some(lock) = try_take(&path)? {
                return Ok(lock);
            }
            if start.elapsed() > PATIENCE {
                let message = "another burnrank process is writing this model: wait until it has finished, or choose \
                               another folder";
                return Err(Error::Model { path: target.to_path_buf(), message: message.into() });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

fn try_take(path: &Path) -> Result<Option<Lock>> {
    let failed = |error| Error::io(path, "create", error);
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(failed)?;
    let works = match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(_)) => false,
    };
    // The last holder may have removed the file after it was opened here; a lock on a removed file protects nothing.
    Ok(is_at(&file, path).then(|| Lock { path: path.to_path_buf(), _file: file, works }))
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: &std::fs::Metadata| (metadata.dev(), metadata.ino());
    matches!((file.metadata(), std::fs::metadata(path)), (Ok(a), Ok(b)) if identity(&a) == identity(&b))
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Still locked: a process that opens the file now sees that it was removed, and tries again.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_lock_at_a_time_and_no_file_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("model");
        let held = Lock::take(&target).unwrap();
        assert!(held.works && held.path().exists());
        assert!(Lock::take(&target).unwrap_err().to_string().contains("another burnrank process"));
        drop(held);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        // A killed process leaves a file that is not locked.
        std::fs::write(folder.path().join(".burnrank-lock-model"), "").unwrap();
        drop(Lock::take(&target).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn many_threads_take_turns() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("model");
        let inside = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let Ok(_held) = Lock::take(&target) else { continue };
                        assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    }
                });
            }
        });
    }
}
