//! Whether caches that are in use are still what they were when they were opened.
//!
//! Pages of a map are those of the file at any moment: who writes into a cache, or cuts it short, changes the numbers under a
//! command that works with it. That cannot be prevented, so it is found out: the length and time of a file are compared with
//! those at its opening, for every batch and epoch of training, every pass over the rows, and by the tool before anything is
//! printed or written. A cache that is replaced under its name, as `burnrank convert --force` does, stays what it was for who
//! has opened it.

use super::header::AGAIN;
use super::region::Region;
use crate::data::source::Stamp;
use crate::data::source::{display_name, whole_file};
use crate::error::{Error, Result};
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// All caches that are open.
static OPEN: Mutex<Vec<Weak<Watch>>> = Mutex::new(Vec::new());
/// The name of one that was changed before it was closed.
static CHANGED: OnceLock<String> = OnceLock::new();

/// A cache that is watched as long as it is open.
#[derive(Debug)]
pub(super) struct Watch {
    name: String,
    file: File,
    stamp: Option<Stamp>,
    region: OnceLock<Region>,
}

impl Watch {
    /// Of a file that nothing was read from yet.
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

    /// Makes reads from lost pages of the map harmless.
    pub fn guard(&self, map: &[u8]) {
        self.region.get_or_init(|| Region::of(map));
    }

    /// Fails when the file was changed since it was opened.
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

/// Fails when a cache was changed while this process had it open, so that its results must not be used.
///
/// # Errors
/// With the name of the cache.
pub fn check_in_use() -> Result<()> {
    if let Some(name) = CHANGED.get() {
        return Err(changed(name));
    }
    // Not under the lock: the last owner of one may go meanwhile.
    let watched: Vec<Arc<Watch>> = open().iter().filter_map(Weak::upgrade).collect();
    watched.iter().try_for_each(|watch| watch.check())
}

#[cold]
fn changed(name: &str) -> Error {
    let remedy = format!("results from the changed file are discarded; {AGAIN}, and run this again");
    whole_file(name, "the cache was overwritten, cut short or could not be read while it was in use", &remedy)
}
