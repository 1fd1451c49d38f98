//! Atomic writing: files appear under their names when they are complete, and interrupts leave no partial files.

use crate::error::{Error, Result};
use crate::internal::temporary::{Purpose, parent, sync_folder};
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempPath;

/// What a written file must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the program.
    Crash,
    /// A power failure; writing waits for the disk.
    PowerFailure,
}

/// Calls `fill` with a writer. The file at `path` appears, or is replaced, only if `fill` succeeds.
///
/// If `path` is a symbolic link, its target is replaced. Devices and pipes are written to directly.
///
/// ```
/// use burnrank::internal::files::{Durability, write_whole};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("a.txt");
/// std::fs::write(&path, "old").unwrap();
/// let failed = write_whole(&path, Durability::Crash, |writer| {
///     let _ = writer.write_all(b"half of the n");
///     Err(burnrank::Error::Config("interrupted".into()))
/// });
/// assert!(failed.is_err());
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
/// ```
///
/// # Errors
/// When the folder or file cannot be written, or `fill` fails.
pub fn write_whole(path: &Path, durability: Durability, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    write_by(path, durability, fill, Staged::publish)
}

/// Does the same as [`write_whole`], but never replaces a file.
///
/// ```
/// use burnrank::internal::files::{Durability, write_new};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("a.txt");
/// std::fs::write(&path, "old").unwrap();
/// assert!(write_new(&path, Durability::Crash, |_| Ok(())).is_err());
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
/// ```
///
/// # Errors
/// See [`write_whole`]; also when a file with this name exists when the new one is complete.
pub fn write_new(path: &Path, durability: Durability, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    write_by(path, durability, fill, Staged::publish_new)
}

fn write_by(
    path: &Path,
    durability: Durability,
    fill: impl FnOnce(&mut dyn Write) -> Result<()>,
    publish: impl FnOnce(Staged) -> Result<()>,
) -> Result<()> {
    let target = target_of(path);
    if std::fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        let file = File::create(&target).map_err(|error| Error::io(path, "create", error))?;
        let mut writer = BufWriter::new(file);
        fill(&mut writer)?;
        return writer.flush().map_err(|error| Error::io(path, "write", error));
    }
    publish(Staged::new(path, target, durability, fill)?)
}

/// Maximum number of symbolic links followed, as in Linux.
const MAX_LINKS: usize = 40;

/// Follows symbolic links, even to a file that does not exist yet.
pub fn target_of(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(link) = std::fs::read_link(&target) else { break };
        target = parent(&target).join(link);
    }
    std::fs::canonicalize(path).unwrap_or(target)
}

/// Writes text as [`write_whole`] does.
///
/// # Errors
/// When the folder or file cannot be written.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    let failed = |error| Error::io(path, "write", error);
    write_whole(path, Durability::Crash, |writer| writer.write_all(text.as_bytes()).map_err(failed))
}

/// A complete file under a temporary name. It is deleted unless it is published.
#[derive(Debug)]
pub struct Staged {
    file: TempPath,
    target: PathBuf,
    durability: Durability,
    _unfinished: Unfinished,
}

impl Staged {
    /// Writes a hidden file next to `target`. Errors refer to it as `path`.
    ///
    /// # Errors
    /// When the file cannot be written, or `fill` fails.
    pub fn new(
        path: &Path,
        target: PathBuf,
        durability: Durability,
        fill: impl FnOnce(&mut dyn Write) -> Result<()>,
    ) -> Result<Self> {
        let name = target.file_name().unwrap_or_default();
        let created = Purpose::New.builder(name, |builder| {
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                // Temporary files are private by default; use the permissions of the user's umask.
                builder.permissions(std::fs::Permissions::from_mode(0o666));
            }
            builder.tempfile_in(parent(&target))
        });
        let (file, temporary) = created.map_err(|error| Error::io(path, "create", error))?.into_parts();
        let unfinished = Unfinished::new(&temporary);
        let mut writer = BufWriter::with_capacity(1 << 18, file);
        fill(&mut writer)?;
        let written = writer.into_inner().map_err(|error| error.into_error());
        let synced = written.and_then(|file| match durability {
            Durability::Crash => Ok(()),
            Durability::PowerFailure => file.sync_all(),
        });
        synced.map_err(|error| Error::io(path, "write", error))?;
        Ok(Staged { file: temporary, target, durability, _unfinished: unfinished })
    }

    /// Renames the file to its final name.
    ///
    /// # Errors
    /// When the name belongs to something other than a file, or the folder cannot be written.
    pub fn publish(self) -> Result<()> {
        self.file.persist(&self.target).map_err(|error| Error::io(&self.target, "create", error.error))?;
        if self.durability == Durability::PowerFailure {
            sync_folder(parent(&self.target));
        }
        Ok(())
    }

    /// Renames the file to its final name without replacing an existing file.
    ///
    /// # Errors
    /// See [`Staged::publish`]; also when the name exists.
    pub fn publish_new(self) -> Result<()> {
        let failed = |error| Error::io(&self.target, "create", error);
        persist_new(self.file, &self.target).map_err(failed)?;
        if self.durability == Durability::PowerFailure {
            sync_folder(parent(&self.target));
        }
        Ok(())
    }
}

/// Renames a temporary file atomically; fails if the name exists.
pub(crate) fn persist_new(file: TempPath, target: &Path) -> std::io::Result<()> {
    match file.persist_noclobber(target) {
        Ok(()) => Ok(()),
        // Some file systems do not support this: check, then rename.
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists && std::fs::symlink_metadata(target).is_err() => {
            error.path.persist(target).map_err(|error| error.error)
        }
        Err(error) => Err(error.error),
    }
}

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a file or folder for removal on interrupt until this value is dropped.
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Registers the path of a file, or of a folder, which is removed if it is empty.
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

/// Removes all [`Unfinished`] files and folders before a program exits.
pub fn remove_unfinished() {
    remove_all(&mut unfinished());
}

/// Does the same as [`remove_unfinished`] unless another thread holds the list.
pub fn try_remove_unfinished() {
    if let Ok(mut paths) = UNFINISHED.try_lock() {
        remove_all(&mut paths);
    }
}

fn remove_all(paths: &mut Vec<PathBuf>) {
    // Newest first, so that folders are empty when they are removed.
    for path in paths.drain(..).rev() {
        if std::fs::remove_file(&path).is_err() {
            let _ = std::fs::remove_dir(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        std::fs::write(&path, "old").unwrap();
        for durability in [Durability::Crash, Durability::PowerFailure] {
            let failed = write_whole(&path, durability, |writer| {
                writer.write_all(b"half").unwrap();
                Err(Error::Config("stop".into()))
            });
            assert!(failed.is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
            let new = |writer: &mut dyn Write| writer.write_all(b"new").map_err(|e| Error::io("x", "write", e));
            write_whole(&path, durability, new).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
            std::fs::write(&path, "old").unwrap();
        }
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        assert!(write_text(Path::new("no/such/folder/out.txt"), "").is_err());
    }

    #[test]
    fn long_names_are_supported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n".repeat(250));
        write_text(&path, "text").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "text");
    }

    #[test]
    fn a_new_file_never_replaces_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let write = |text: &'static [u8]| {
            write_new(&path, Durability::Crash, |writer| writer.write_all(text).map_err(|e| Error::io("x", "write", e)))
        };
        write(b"first").unwrap();
        assert!(matches!(write(b"second"), Err(Error::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists));
        // Nor one that appears while the new one is written.
        std::fs::remove_file(&path).unwrap();
        let late = |_: &mut dyn Write| std::fs::write(&path, "late").map_err(|error| Error::io("x", "write", error));
        assert!(write_new(&path, Durability::PowerFailure, late).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "late");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_missing_file_creates_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::os::unix::fs::symlink("real", &link).unwrap();
        write_new(&link, Durability::Crash, |_| Ok(())).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(real.is_file());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_text(&link, "new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "new");
    }
}
