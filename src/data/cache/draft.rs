//! A file that has no name until it is whole, so that nothing of it stays when the program is killed.

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
    /// As the user calls it.
    path: PathBuf,
    target: PathBuf,
    /// Where the system knows no files without a name.
    named: Option<(TempPath, Unfinished)>,
}

impl Draft {
    /// Begins what is to be the file at `path`; a link stays a link.
    pub fn new(path: &Path) -> Result<Self> {
        let target = target_of(path);
        if std::fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
            let message = format!("{}: a cache is a file, which this is not: choose another", path.display());
            return Err(Error::Data(message));
        }
        let (file, named) = match nameless(parent(&target)) {
            Some(file) => (file, None),
            None => {
                let name = target.file_name().unwrap_or_default();
                let made = Purpose::New.builder(name, |builder| builder.tempfile_in(parent(&target)));
                let (file, path) = made.map_err(|error| Error::io(path, "create", error))?.into_parts();
                let unfinished = Unfinished::new(&path);
                (file, Some((path, unfinished)))
            }
        };
        Ok(Draft { file, path: path.to_path_buf(), target, named })
    }

    /// Gives the file its name; `replace` says whether an existing file is replaced or an error.
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

/// A file without a name in a folder, where the system and the folder can have one.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
    // Without /proc it could not be given a name.
    std::fs::metadata(place(&file)).ok().map(|_| file)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

#[cfg(target_os = "linux")]
fn place(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Names a file without a name.
#[cfg(target_os = "linux")]
fn link(file: &File, target: &Path, replace: bool) -> std::io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    // A new name first, which then takes the place of the old file in one step.
    let folder = Purpose::New.builder(target.file_name().unwrap_or_default(), |builder| {
        builder.make_in(parent(target), |path| {
            linkat(CWD, place(file), CWD, path, AtFlags::SYMLINK_FOLLOW).map_err(std::io::Error::from)
        })
    })?;
    persist(folder.into_temp_path(), target, replace)
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
    fn nothing_is_there_until_it_is_whole() {
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
