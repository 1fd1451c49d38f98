//! What can be proved about a result.

pub mod field;
pub mod optimality;
pub mod probability;
pub mod significance;
