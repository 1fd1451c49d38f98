//! The target of a model: a locked path, and a check of its current contents.

use super::FILES;
use super::info::{ModelInfo, read_info};
use super::lock::Lock;
use super::replace;
use crate::error::{Error, Result};
use crate::internal::temporary::parent;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Maximum number of links to follow, as in Linux.
const MAX_LINKS: usize = 40;

/// Maximum length of a folder name, so that names of temporary files derived from it fit too.
const MAX_NAME: usize = 200;

/// The path of a model folder, locked until this value is dropped: no other process writes a model there.
///
/// Links are followed: the model is written to the target of the link.
#[derive(Debug)]
pub struct ModelPlace {
    target: PathBuf,
    // Dropped before `created`, because the lock file would keep its folder from being empty.
    lock: Lock,
    created: CreatedFolders,
}

impl ModelPlace {
    /// Locks a path. Removes leftovers of killed processes there, and restores a model that such a process left
    /// under a hidden name.
    ///
    /// # Errors
    /// If the path is not valid for a folder, its parent cannot be created, or another process has locked it.
    pub fn claim(folder: &Path) -> Result<Self> {
        let target = resolve(folder)?;
        let created = CreatedFolders::parents_of(&target)?;
        let place = ModelPlace { lock: Lock::take(&target)?, target, created };
        replace::recover(&place.target)?;
        if place.lock.works {
            replace::sweep(&place.target);
        }
        Ok(place)
    }

    /// The path of the model folder, with links followed.
    pub fn folder(&self) -> &Path {
        &self.target
    }

    /// The checkpoint file beside the model folder.
    pub fn checkpoint(&self) -> PathBuf {
        checkpoint_of(&self.target)
    }

    /// Folders created for the model, outermost first.
    pub fn created_folders(&self) -> &[PathBuf] {
        &self.created.0
    }

    /// The lock file.
    pub fn lock_file(&self) -> &Path {
        self.lock.path()
    }

    /// Returns the model that is there and can be replaced, if any.
    ///
    /// # Errors
    /// If the folder exists and is not a model, or contains a file that does not belong to a model.
    pub fn model(&self) -> Result<Option<ModelInfo>> {
        occupant(&self.target)
    }
}

/// Folders created for a model, outermost first.
#[derive(Debug)]
struct CreatedFolders(Vec<PathBuf>);

impl CreatedFolders {
    fn parents_of(target: &Path) -> Result<Self> {
        let parent = parent(target);
        let absent = parent.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists());
        let mut created: Vec<PathBuf> = absent.map(Path::to_path_buf).collect();
        created.reverse();
        fs::create_dir_all(parent).map_err(|source| Error::Model {
            path: target.to_path_buf(),
            message: format!("cannot create the folder {}: {source}: choose another folder", parent.display()),
        })?;
        Ok(CreatedFolders(created))
    }
}

impl Drop for CreatedFolders {
    fn drop(&mut self) {
        // Removes only empty folders.
        self.0.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

/// The checkpoint of a model folder.
pub(super) fn checkpoint_of(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(".checkpoint");
    target.with_file_name(name)
}

/// Follows links, including those to paths that do not exist yet.
pub(super) fn resolve(folder: &Path) -> Result<PathBuf> {
    let wrong = |message: &str| Error::Model { path: folder.to_path_buf(), message: message.to_owned() };
    let named = |path: &Path| -> Result<PathBuf> {
        let name = path.file_name().ok_or_else(|| wrong("not a valid name for a model folder"))?;
        if name.len() > MAX_NAME {
            return Err(wrong("the name is too long for a model folder"));
        }
        // Without a trailing slash, which would follow a link too early.
        Ok(path.with_file_name(name))
    };
    let mut target = named(folder)?;
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(link) => target = named(&parent(&target).join(link))?,
            Err(_) => return Ok(target),
        }
    }
    Err(wrong("the link leads to itself"))
}

/// Returns the model at a path, or `None` if the path is free. Refuses folders with other contents.
pub(super) fn occupant(target: &Path) -> Result<Option<ModelInfo>> {
    let wrong = |message: String| Error::Model { path: target.to_path_buf(), message };
    let entries = match fs::read_dir(target) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return Err(wrong("exists and is not a folder: choose another folder".into()));
        }
        Err(error) => return Err(Error::io(target, "read", error)),
    };
    if is_mount(target) {
        return Err(wrong("is the root of a file system, which cannot be renamed: choose a folder inside it".into()));
    }
    let mut empty = true;
    for entry in entries {
        let entry = entry.map_err(|error| Error::io(target, "read", error))?;
        empty = false;
        let is_model_file = FILES.iter().any(|name| entry.file_name() == *name);
        if !is_model_file || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            return Err(wrong(format!(
                "contains '{}', which is not part of a model: choose another folder; nothing was overwritten",
                entry.file_name().to_string_lossy()
            )));
        }
    }
    if empty {
        return Ok(None);
    }
    let info = read_info(target).map_err(|error| {
        wrong(format!("exists and is not a model ({error}): choose another folder; nothing was overwritten"))
    })?;
    Ok(Some(info))
}

#[cfg(unix)]
fn is_mount(target: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| fs::metadata(path).map(|metadata| metadata.dev()).ok();
    device(target) != device(parent(target))
}

#[cfg(not(unix))]
fn is_mount(_target: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_leaves_nothing_if_nothing_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let place = ModelPlace::claim(&folder.path().join("a/b/model")).unwrap();
        assert!(folder.path().join("a/b").is_dir() && place.model().unwrap().is_none());
        assert!(ModelPlace::claim(&folder.path().join("a/b/../b/model")).is_err());
        drop(place);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn invalid_names_are_refused() {
        for name in ["..", "/", "", &"x".repeat(300)] {
            assert!(ModelPlace::claim(Path::new(name)).is_err(), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_to_their_end() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("b", at("a")).unwrap();
        symlink("deep/model", at("b")).unwrap();
        assert_eq!(resolve(&at("a")).unwrap(), at("deep/model"));
        assert_eq!(resolve(&at("a/")).unwrap(), at("deep/model"));
        fs::create_dir_all(at("deep/model")).unwrap();
        assert_eq!(resolve(&at("a/")).unwrap(), at("deep/model"));
        assert_eq!(ModelPlace::claim(&at("a")).unwrap().checkpoint(), at("deep/model.checkpoint"));
        symlink("loop", at("loop")).unwrap();
        assert!(resolve(&at("loop")).unwrap_err().to_string().contains("leads to itself"));
    }
}
