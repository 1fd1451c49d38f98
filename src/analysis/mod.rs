//! What can be proved about a result, and what a model learnt.

pub mod explain;
pub mod lambda_field;
pub mod optimality;
pub mod probability;
pub mod significance;
