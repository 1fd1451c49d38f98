//! Code shared with the programs of this project. Not part of the public API; it may change without notice.

pub mod files;
pub(crate) mod hash;
#[cfg(feature = "cli")]
pub mod program;
pub mod suggest;
pub(crate) mod temporary;
pub mod text;
