//! Names of temporary files and folders: hidden, next to the final name, and containing it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Purpose of a hidden file or folder next to `name`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It will be renamed to `name` when it is complete.
    New,
    /// It was `name` and is being replaced.
    Old,
}

/// Number of random letters and digits in a temporary name.
const RANDOM: usize = 6;
/// Maximum length in bytes of a name that is contained in a temporary name.
const MAX_NAME: usize = 230;

impl Purpose {
    fn prefix(self) -> &'static str {
        match self {
            Purpose::New => ".burnrank-new-",
            Purpose::Old => ".burnrank-old-",
        }
    }

    /// Builds temporary files or folders with names such as `.burnrank-new-f3Yq0a-model`.
    pub(crate) fn builder<R>(self, name: &OsStr, make: impl FnOnce(&mut tempfile::Builder<'_, '_>) -> R) -> R {
        let mut suffix = OsString::from("-");
        // File names are limited to 255 bytes; long names are omitted.
        if name.len() <= MAX_NAME {
            suffix.push(name);
        }
        let mut builder = tempfile::Builder::new();
        make(builder.prefix(self.prefix()).suffix(&suffix).rand_bytes(RANDOM))
    }

    /// Whether `entry` is a temporary name that [`Purpose::builder`] creates for `name`.
    pub(crate) fn is_of(self, entry: &OsStr, name: &OsStr) -> bool {
        let entry = entry.as_encoded_bytes().strip_prefix(self.prefix().as_bytes());
        entry.and_then(|entry| entry.split_at_checked(RANDOM)).is_some_and(|(random, rest)| {
            random.iter().all(u8::is_ascii_alphanumeric) && rest.strip_prefix(b"-") == Some(name.as_encoded_bytes())
        })
    }
}

/// Returns the folder that contains a path.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Flushes a folder to disk, so that the names in it survive a power failure.
pub(crate) fn sync_folder(folder: &Path) {
    // Errors are ignored: some systems do not support this.
    if cfg!(unix) {
        let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_identify_purpose_and_name() {
        let folder = tempfile::tempdir().unwrap();
        for purpose in [Purpose::New, Purpose::Old] {
            let temporary =
                purpose.builder(OsStr::new("my-model"), |builder| builder.tempdir_in(folder.path())).unwrap();
            let name = temporary.path().file_name().unwrap();
            assert!(purpose.is_of(name, OsStr::new("my-model")), "{name:?}");
            assert!(!purpose.is_of(name, OsStr::new("model")), "{name:?}");
        }
        let foreign = ["model", ".burnrank-new-model", ".burnrank-new-a.b.c.-model", ".burnrank-old-abcdef-model"];
        assert!(foreign.iter().all(|name| !Purpose::New.is_of(OsStr::new(name), OsStr::new("model"))));
    }
}
