//! Whole files or none: what is written appears under its name only when it is complete, and an interrupt leaves nothing
//! half written behind.

use crate::error::{Error, Result};
use crate::internal::temporary::{Purpose, parent, sync_folder};
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempPath;

/// What a file must outlast once it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlasts {
    /// The end of the program, however sudden.
    Program,
    /// A loss of power, too; writing waits for the disk.
    Power,
}

/// Calls `fill` with a writer; the file at `path` appears, or is replaced, only when `fill` succeeded.
///
/// A link stays a link: the file it leads to is replaced. Devices and pipes cannot be replaced and are written to directly.
///
/// ```
/// use burnrank::internal::files::{Outlasts, write_whole};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("a.txt");
/// std::fs::write(&path, "old").unwrap();
/// let failed = write_whole(&path, Outlasts::Program, |writer| {
///     let _ = writer.write_all(b"half of the n");
///     Err(burnrank::Error::Config("interrupted".into()))
/// });
/// assert!(failed.is_err());
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
/// ```
///
/// # Errors
/// When the folder or the file cannot be written, and whatever `fill` returns.
pub fn write_whole(path: &Path, outlasts: Outlasts, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    write_by(path, outlasts, fill, Staged::publish)
}

/// As [`write_whole`], but never replaces a file.
///
/// ```
/// use burnrank::internal::files::{Outlasts, write_new};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("a.txt");
/// std::fs::write(&path, "old").unwrap();
/// assert!(write_new(&path, Outlasts::Program, |_| Ok(())).is_err());
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
/// ```
///
/// # Errors
/// Those of [`write_whole`], and when a file exists under this name by the time that the new one is complete.
pub fn write_new(path: &Path, outlasts: Outlasts, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    write_by(path, outlasts, fill, Staged::publish_new)
}

fn write_by(
    path: &Path,
    outlasts: Outlasts,
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
    publish(Staged::new(path, target, outlasts, fill)?)
}

/// Links that lead to links; the system gives up at as many.
const MOST_LINKS: usize = 40;

/// Where a name leads: links are followed, also to a file that does not exist yet.
pub fn target_of(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let Ok(link) = std::fs::read_link(&target) else { break };
        target = parent(&target).join(link);
    }
    std::fs::canonicalize(path).unwrap_or(target)
}

/// As [`write_whole`], for a text that is there.
///
/// # Errors
/// When the folder or the file cannot be written.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    let written = |error| Error::io(path, "write", error);
    write_whole(path, Outlasts::Program, |writer| writer.write_all(text.as_bytes()).map_err(written))
}

/// A finished file that waits for its name; without it, the file goes away.
#[derive(Debug)]
pub struct Staged {
    file: TempPath,
    target: PathBuf,
    outlasts: Outlasts,
    _unfinished: Unfinished,
}

impl Staged {
    /// Writes a hidden file next to `target`; `path` is how the user calls it.
    ///
    /// # Errors
    /// When it cannot be written, and whatever `fill` returns.
    pub fn new(
        path: &Path,
        target: PathBuf,
        outlasts: Outlasts,
        fill: impl FnOnce(&mut dyn Write) -> Result<()>,
    ) -> Result<Self> {
        let name = target.file_name().unwrap_or_default();
        let made = Purpose::New.builder(name, |builder| {
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                // A temporary file is private by default; a result is as readable as the user's umask says.
                builder.permissions(std::fs::Permissions::from_mode(0o666));
            }
            builder.tempfile_in(parent(&target))
        });
        let (file, temporary) = made.map_err(|error| Error::io(path, "create", error))?.into_parts();
        let unfinished = Unfinished::new(&temporary);
        let mut writer = BufWriter::with_capacity(1 << 18, file);
        fill(&mut writer)?;
        let written = writer.into_inner().map_err(|error| error.into_error());
        let synced = written.and_then(|file| match outlasts {
            Outlasts::Program => Ok(()),
            Outlasts::Power => file.sync_all(),
        });
        synced.map_err(|error| Error::io(path, "write", error))?;
        Ok(Staged { file: temporary, target, outlasts, _unfinished: unfinished })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// When something that is no file has that name, or the folder cannot be written.
    pub fn publish(self) -> Result<()> {
        self.file.persist(&self.target).map_err(|error| Error::io(&self.target, "create", error.error))?;
        if self.outlasts == Outlasts::Power {
            sync_folder(parent(&self.target));
        }
        Ok(())
    }

    /// As [`Staged::publish`], unless something has that name already.
    ///
    /// # Errors
    /// Those of [`Staged::publish`], and when the name is taken.
    pub fn publish_new(self) -> Result<()> {
        let failed = |error| Error::io(&self.target, "create", error);
        persist_new(self.file, &self.target).map_err(failed)?;
        if self.outlasts == Outlasts::Power {
            sync_folder(parent(&self.target));
        }
        Ok(())
    }
}

/// Gives a temporary file its name, in one step that fails where the name is taken.
pub(crate) fn persist_new(file: TempPath, target: &Path) -> std::io::Result<()> {
    match file.persist_noclobber(target) {
        Ok(()) => Ok(()),
        // Some file systems have no such step.
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

/// A file or folder that is not to outlive an interrupt, as long as this value lives.
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Notes the path of a file, or of a folder that goes away if it is empty.
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

/// Removes all that is [`Unfinished`], for programs that are about to end.
pub fn remove_unfinished() {
    remove_all(&mut unfinished());
}

/// As [`remove_unfinished`], but does not wait when a path is being noted right now.
pub fn try_remove_unfinished() {
    if let Ok(mut paths) = UNFINISHED.try_lock() {
        remove_all(&mut paths);
    }
}

fn remove_all(paths: &mut Vec<PathBuf>) {
    // The newest first: a folder is empty once its files are gone.
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
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        std::fs::write(&path, "old").unwrap();
        for outlasts in [Outlasts::Program, Outlasts::Power] {
            let failed = write_whole(&path, outlasts, |writer| {
                writer.write_all(b"half").unwrap();
                Err(Error::Config("stop".into()))
            });
            assert!(failed.is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
            let new = |writer: &mut dyn Write| writer.write_all(b"new").map_err(|e| Error::io("x", "write", e));
            write_whole(&path, outlasts, new).unwrap();
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
    fn a_long_name_is_written_too() {
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
            write_new(&path, Outlasts::Program, |writer| writer.write_all(text).map_err(|e| Error::io("x", "write", e)))
        };
        write(b"first").unwrap();
        assert!(matches!(write(b"second"), Err(Error::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists));
        // Also one that appears while the new one is written.
        std::fs::remove_file(&path).unwrap();
        let late = |_: &mut dyn Write| std::fs::write(&path, "late").map_err(|error| Error::io("x", "write", error));
        assert!(write_new(&path, Outlasts::Power, late).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "late");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_missing_file_makes_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::os::unix::fs::symlink("real", &link).unwrap();
        write_new(&link, Outlasts::Program, |_| Ok(())).unwrap();
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
