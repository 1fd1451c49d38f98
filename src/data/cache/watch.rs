//! Detection of changes to caches in use.
//!
//! A map always shows the present contents of the file: modifying or truncating a cache changes the numbers of a command that
//! uses it. This cannot be prevented, so it is detected: the size and modification time of a file are compared with those at its
//! opening for every batch and epoch of training, for every pass over the rows, and before the tool prints or writes results.
//! Replacing a cache under the same name, as `burnrank convert --force` does, does not affect commands that have it open.

use super::header::REBUILD;
use super::region::Region;
use crate::data::source::Stamp;
use crate::data::source::{display_name, whole_file};
use crate::error::{Error, Result};
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// All caches that are open.
static OPEN: Mutex<Vec<Weak<Watch>>> = Mutex::new(Vec::new());
/// Name of a cache that changed before it was closed.
static CHANGED: OnceLock<String> = OnceLock::new();

/// An open cache that is checked for changes.
#[derive(Debug)]
pub(super) struct Watch {
    name: String,
    file: File,
    stamp: Option<Stamp>,
    region: OnceLock<Region>,
}

impl Watch {
    /// Starts watching a file. Call this before reading from it.
    pub fn new(file: File, path: &Path) -> Result<Arc<Self>> {
        let stamp = Stamp::of(&file).map_err(|error| Error::io(path, "read", error))?;
        let watch = Arc::new(Watch { name: display_name(path), file, stamp, region: OnceLock::new() });
        let mut open = open();
        open.retain(|watch| watch.strong_count() > 0);
        open.push(Arc::downgrade(&watch));
        Ok(watch)
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Lets reads from lost pages of the map return zeros instead of raising SIGBUS.
    pub fn guard(&self, map: &[u8]) {
        self.region.get_or_init(|| Region::of(map));
    }

    /// Fails when the file has changed since it was opened.
    pub fn check(&self) -> Result<()> {
        let same = self.stamp.as_ref().is_none_or(|stamp| stamp.check(&self.file, &self.name).is_ok());
        if same && !self.region.get().is_some_and(Region::is_lost) { Ok(()) } else { Err(changed(&self.name)) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.check().is_err() {
            let _ = CHANGED.set(self.name.clone());
        }
    }
}

fn open() -> MutexGuard<'static, Vec<Weak<Watch>>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks that no cache changed while this process had it open.
///
/// # Errors
/// When one did; results computed from it must not be used. The error names the cache.
pub fn check_in_use() -> Result<()> {
    if let Some(name) = CHANGED.get() {
        return Err(changed(name));
    }
    // Checked without the lock: dropping the last reference to a cache may happen here.
    let watched: Vec<Arc<Watch>> = open().iter().filter_map(Weak::upgrade).collect();
    watched.iter().try_for_each(|watch| watch.check())
}

#[cold]
fn changed(name: &str) -> Error {
    let remedy = format!("its results are discarded; {REBUILD} and rerun the command");
    whole_file(name, "the cache was modified, truncated or became unreadable while it was in use", &remedy)
}
