//! The names of what is unfinished: hidden, beside what it will become, and telling what that is.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What a hidden file or folder beside `name` is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It will be called `name` when it is whole.
    New,
    /// It was called `name` and makes way for the new one.
    Old,
}

/// Random letters and digits in such a name.
const RANDOM: usize = 6;
/// The longest name, in bytes, that fits into such a name.
const LONGEST: usize = 230;

impl Purpose {
    fn prefix(self) -> &'static str {
        match self {
            Purpose::New => ".burnrank-new-",
            Purpose::Old => ".burnrank-old-",
        }
    }

    /// Makes names such as `.burnrank-new-f3Yq0a-model`.
    pub(crate) fn builder<R>(self, name: &OsStr, make: impl FnOnce(&mut tempfile::Builder<'_, '_>) -> R) -> R {
        let mut suffix = OsString::from("-");
        // A name may have 255 bytes in all; a long one is not told.
        if name.len() <= LONGEST {
            suffix.push(name);
        }
        let mut builder = tempfile::Builder::new();
        make(builder.prefix(self.prefix()).suffix(&suffix).rand_bytes(RANDOM))
    }

    /// Whether `entry` is a name that [`Purpose::builder`] makes for `name`.
    pub(crate) fn is_of(self, entry: &OsStr, name: &OsStr) -> bool {
        let entry = entry.as_encoded_bytes().strip_prefix(self.prefix().as_bytes());
        entry.and_then(|entry| entry.split_at_checked(RANDOM)).is_some_and(|(random, rest)| {
            random.iter().all(u8::is_ascii_alphanumeric) && rest.strip_prefix(b"-") == Some(name.as_encoded_bytes())
        })
    }
}

/// The folder that a path lies in.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes sure that the names in a folder outlast a loss of power.
pub(crate) fn sync_folder(folder: &Path) {
    // Some systems cannot; there the names are as safe as they can be.
    if cfg!(unix) {
        let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_what_it_will_be() {
        let folder = tempfile::tempdir().unwrap();
        for purpose in [Purpose::New, Purpose::Old] {
            let made = purpose.builder(OsStr::new("my-model"), |builder| builder.tempdir_in(folder.path())).unwrap();
            let name = made.path().file_name().unwrap();
            assert!(purpose.is_of(name, OsStr::new("my-model")), "{name:?}");
            assert!(!purpose.is_of(name, OsStr::new("model")), "{name:?}");
        }
        let foreign = ["model", ".burnrank-new-model", ".burnrank-new-a.b.c.-model", ".burnrank-old-abcdef-model"];
        assert!(foreign.iter().all(|name| !Purpose::New.is_of(OsStr::new(name), OsStr::new("model"))));
    }
}
