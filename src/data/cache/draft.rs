//! A file that has no name until it is complete, so that nothing remains if the program is killed.

use crate::error::{Error, Result};
use crate::internal::files::{Unfinished, persist_new, target_of};
use crate::internal::temporary::{Purpose, parent};
use std::fs::File;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Draft {
    pub file: File,
    /// Path as the user wrote it.
    path: PathBuf,
    target: PathBuf,
    /// The temporary file, on systems without unnamed files.
    named: Option<(TempPath, Unfinished)>,
}

impl Draft {
    /// Starts a file that will be published at `path`. If `path` is a symbolic link, its target will be replaced.
    pub fn new(path: &Path) -> Result<Self> {
        let target = target_of(path);
        if std::fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
            let message = format!("{}: not a regular file: choose another path for the cache", path.display());
            return Err(Error::Data(message));
        }
        let (file, named) = match unnamed_file(parent(&target)) {
            Some(file) => (file, None),
            None => {
                let name = target.file_name().unwrap_or_default();
                let created = Purpose::New.builder(name, |builder| builder.tempfile_in(parent(&target)));
                let (file, path) = created.map_err(|error| Error::io(path, "create", error))?.into_parts();
                let unfinished = Unfinished::new(&path);
                (file, Some((path, unfinished)))
            }
        };
        Ok(Draft { file, path: path.to_path_buf(), target, named })
    }

    /// Gives the file its name. An existing file is replaced if `replace` is true, and an error otherwise.
    pub fn publish(self, replace: bool) -> Result<()> {
        let failed = |error| Error::io(&self.path, "create", error);
        match self.named {
            Some((path, _unfinished)) => persist(path, &self.target, replace),
            None => link(&self.file, &self.target, replace),
        }
        .map_err(failed)
    }
}

fn persist(file: TempPath, target: &Path, replace: bool) -> std::io::Result<()> {
    match replace {
        true => file.persist(target).map_err(|error| error.error),
        false => persist_new(file, target),
    }
}

/// Creates an unnamed file in a folder, or returns `None` if the file system does not support it.
#[cfg(target_os = "linux")]
fn unnamed_file(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
    // Without /proc it could not be named later.
    std::fs::metadata(descriptor_path(&file)).ok().map(|_| file)
}

#[cfg(not(target_os = "linux"))]
fn unnamed_file(_: &Path) -> Option<File> {
    None
}

#[cfg(target_os = "linux")]
fn descriptor_path(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Gives an unnamed file a name.
#[cfg(target_os = "linux")]
fn link(file: &File, target: &Path, replace: bool) -> std::io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    // linkat cannot replace a file: link a temporary name first, then rename it atomically.
    let temporary = Purpose::New.builder(target.file_name().unwrap_or_default(), |builder| {
        builder.make_in(parent(target), |path| {
            linkat(CWD, descriptor_path(file), CWD, path, AtFlags::SYMLINK_FOLLOW).map_err(std::io::Error::from)
        })
    })?;
    persist(temporary.into_temp_path(), target, replace)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path, _: bool) -> std::io::Result<()> {
    Err(std::io::Error::from(std::io::ErrorKind::Unsupported))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_file_appears_when_it_is_published() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cache");
        for text in ["first", "second"] {
            let mut draft = Draft::new(&path).unwrap();
            draft.file.write_all(text.as_bytes()).unwrap();
            let before = std::fs::read_dir(folder.path()).unwrap().count();
            assert_eq!(before, usize::from(text == "second") + usize::from(draft.named.is_some()));
            draft.publish(true).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        }
        assert!(Draft::new(&path).unwrap().publish(false).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "second");
        drop(Draft::new(&path).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(Draft::new(folder.path()).is_err());
        assert!(Draft::new(Path::new("no/such/folder/a.cache")).is_err());
    }
}
