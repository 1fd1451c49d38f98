//! The arguments of the process.

use std::ffi::OsString;
use std::sync::OnceLock;

static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Stores the arguments. The first is the name of the program.
pub fn set(arguments: Vec<OsString>) {
    // They are stored once, because the tool runs one command per process.
    let _ = ARGUMENTS.set(arguments);
}

/// Returns all arguments, including the name of the program.
pub fn all() -> &'static [OsString] {
    ARGUMENTS.get().map_or(&[], Vec::as_slice)
}

/// Returns the arguments after the name of the program as text.
pub fn words() -> impl Iterator<Item = String> {
    all().iter().skip(1).map(|word| word.to_string_lossy().into_owned())
}
