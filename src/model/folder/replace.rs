//! Atomic replacement of a model folder.
//!
//! Linux and macOS exchange two names atomically. Elsewhere the old folder is first renamed to a hidden name that
//! contains its own; if the process is killed in between, the next process that opens the model restores it.

use super::FILES;
use super::lock::Lock;
use super::place::{checkpoint_of, resolve};
use crate::error::{Error, Result};
use crate::internal::temporary::{Purpose, parent, sync_folder};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Creates a hidden folder beside `target`.
pub(super) fn stage(target: &Path) -> Result<TempDir> {
    let made = Purpose::New.builder(name_of(target), |builder| builder.tempdir_in(parent(target)));
    made.map_err(|error| Error::io(parent(target), "create a folder in", error))
}

/// Renames a complete new folder to `target`, which is free or contains a model that may be replaced.
pub(super) fn publish(new: TempDir, target: &Path) -> Result<()> {
    let failed = |source| Error::io(target, "write", source);
    sync_folder(new.path());
    let occupied = fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_some());
    if !occupied {
        fs::rename(new.path(), target).map_err(failed)?;
        let _ = new.keep();
        sync_folder(parent(target));
        return Ok(());
    }
    // If names cannot be exchanged, two renames do it, and report any other problem.
    if exchange(new.path(), target).is_ok() {
        sync_folder(parent(target));
        return discard(&new.keep());
    }
    let old = move_aside(target).map_err(failed)?;
    if let Err(error) = fs::rename(new.path(), target) {
        let _ = fs::rename(&old, target);
        return Err(failed(error));
    }
    let _ = new.keep();
    sync_folder(parent(target));
    discard(&old)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Renames the folder at `target` to a hidden name that contains its own.
fn move_aside(target: &Path) -> io::Result<PathBuf> {
    let aside = Purpose::Old.builder(name_of(target), |builder| builder.tempdir_in(parent(target)))?.keep();
    // Rename over the empty folder, or remove that first if the system cannot.
    fs::rename(target, &aside).or_else(|_| fs::remove_dir(&aside).and_then(|()| fs::rename(target, &aside)))?;
    Ok(aside)
}

/// Removes a replaced model folder, except files that do not belong to a model.
fn discard(old: &Path) -> Result<()> {
    for name in FILES {
        match fs::remove_file(old.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::io(old, "remove", error)),
            _ => {}
        }
    }
    match fs::remove_dir(old) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Err(Error::Model {
            path: old.to_path_buf(),
            message: "the replaced model's folder was kept, because a file was added to it that does not belong to a \
                      model: move the file and delete the folder"
                .into(),
        }),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(old, "remove", error)),
        _ => Ok(()),
    }
}

/// Restores a model that a killed process left under a hidden name. The caller holds the lock of `target`.
pub(super) fn recover(target: &Path) -> Result<()> {
    // An empty folder is not a model; the rename below replaces it.
    if fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_some()) {
        return Ok(());
    }
    let mut hidden = beside(target).filter(|path| is(Purpose::Old, path, target) && path.join("model.json").is_file());
    if let Some(old) = hidden.next() {
        fs::rename(&old, target).map_err(|error| Error::io(&old, "restore the model in", error))?;
        sync_folder(parent(target));
    }
    Ok(())
}

/// Like [`recover`], for a reader without the lock. Returns whether a model is there now.
pub(super) fn recover_for_reading(folder: &Path) -> Result<bool> {
    let target = resolve(folder)?;
    if !beside(&target).any(|path| is(Purpose::Old, &path, &target)) {
        return Ok(false);
    }
    // A process that is replacing the folder holds the lock until it has finished.
    let _lock = Lock::take(&target)?;
    recover(&target)?;
    Ok(target.exists())
}

/// Removes leftovers of killed processes beside `target`. The caller holds the lock, so no live process uses them.
pub(super) fn sweep(target: &Path) {
    let checkpoint = checkpoint_of(target);
    for path in beside(target) {
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        let is_file = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file());
        if is_folder && (is(Purpose::New, &path, target) || is(Purpose::Old, &path, target)) {
            // A folder with other files is kept.
            let _ = discard(&path);
        } else if is_file && is(Purpose::New, &path, &checkpoint) {
            let _ = fs::remove_file(&path);
        }
    }
}

fn is(purpose: Purpose, path: &Path, target: &Path) -> bool {
    purpose.is_of(name_of(path), name_of(target))
}

fn name_of(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

fn beside(target: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(parent(target)).into_iter().flatten().flatten().map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_of(path: &Path, text: &str) {
        fs::create_dir_all(path).unwrap();
        FILES.iter().for_each(|name| fs::write(path.join(name), text).unwrap());
    }

    fn text(target: &Path) -> String {
        fs::read_to_string(target.join("model.json")).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn staged(target: &Path, text: &str) -> TempDir {
        let new = stage(target).unwrap();
        folder_of(new.path(), text);
        new
    }

    #[test]
    fn a_new_folder_replaces_a_missing_an_empty_and_an_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("model");
        publish(staged(&target, "first"), &target).unwrap();
        assert_eq!((text(&target).as_str(), names(folder.path())), ("first", vec!["model".to_owned()]));
        publish(staged(&target, "second"), &target).unwrap();
        assert_eq!((text(&target).as_str(), names(folder.path())), ("second", vec!["model".to_owned()]));
        fs::remove_dir_all(&target).unwrap();
        fs::create_dir(&target).unwrap();
        publish(staged(&target, "third"), &target).unwrap();
        assert_eq!((text(&target).as_str(), names(folder.path())), ("third", vec!["model".to_owned()]));
    }

    #[test]
    fn a_file_that_was_added_meanwhile_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("model");
        folder_of(&target, "old");
        fs::write(target.join("thesis.txt"), "ten years").unwrap();
        let error = publish(staged(&target, "new"), &target).unwrap_err().to_string();
        assert_eq!(text(&target), "new");
        let (left, _) = error.split_once(": ").unwrap();
        assert_eq!(fs::read_to_string(Path::new(left).join("thesis.txt")).unwrap(), "ten years");
        sweep(&target);
        assert_eq!(fs::read_to_string(Path::new(left).join("thesis.txt")).unwrap(), "ten years");
    }

    #[test]
    fn the_old_model_is_restored_after_a_kill_between_two_renames() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("model");
        for empty_there in [false, true] {
            folder_of(&target, "old");
            let _new = staged(&target, "new").keep();
            move_aside(&target).unwrap();
            assert!(!target.exists());
            if empty_there {
                fs::create_dir(&target).unwrap();
            }
            recover(&target).unwrap();
            assert_eq!(text(&target), "old");
            sweep(&target);
            assert_eq!(names(folder.path()), ["model"]);
        }
    }

    #[test]
    fn the_new_model_stays_after_a_kill_after_the_second_rename() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("model");
        folder_of(&target, "old");
        move_aside(&target).unwrap();
        folder_of(&target, "new");
        recover(&target).unwrap();
        sweep(&target);
        assert_eq!((text(&target).as_str(), names(folder.path())), ("new", vec!["model".to_owned()]));
    }

    #[test]
    fn a_reader_restores_a_hidden_model() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("model");
        assert!(!recover_for_reading(&target).unwrap());
        folder_of(&target, "old");
        move_aside(&target).unwrap();
        assert!(recover_for_reading(&target).unwrap());
        assert_eq!((text(&target).as_str(), names(folder.path())), ("old", vec!["model".to_owned()]));
    }

    #[test]
    fn sweeping_removes_only_leftovers_of_this_model() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("model");
        let at = |name: &str| folder.path().join(name);
        folder_of(&target, "model");
        let kept =
            [".burnrank-AbCd12", ".burnrank-new-AbCd12-other", ".burnrank-new-AbCd12-model.txt", "model.checkpoint"];
        kept.iter().for_each(|name| fs::write(at(name), "kept").unwrap());
        folder_of(&at(".burnrank-new-000000-model"), "half");
        folder_of(&at(".burnrank-old-000000-model"), "old");
        fs::create_dir(at(".burnrank-new-000001-model")).unwrap();
        fs::write(at(".burnrank-new-000002-model.checkpoint"), "half").unwrap();
        sweep(&target);
        let mut expected: Vec<&str> = kept.into_iter().chain(["model"]).collect();
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    }
}
