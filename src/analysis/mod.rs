//! What can be proved about a result.

pub mod significance;
