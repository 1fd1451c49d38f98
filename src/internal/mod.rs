//! What the library shares with the programs of this project. Not part of the API: it changes without notice.

pub mod files;
pub(crate) mod hash;
#[cfg(feature = "cli")]
pub mod program;
pub mod suggest;
pub(crate) mod temporary;
pub mod text;
