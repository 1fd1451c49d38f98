//! Analysis of models and results: significance tests, local optimality, lambda fields and explanations.

pub mod explain;
pub mod lambda_field;
pub mod optimality;
pub mod probability;
pub mod significance;
