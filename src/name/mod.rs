//! How things are named: enums whose values are words.

mod words;

pub(crate) use words::words;
pub use words::{Word, find, unknown};
