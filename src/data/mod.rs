//! Bytes to ragged data sets: reading, writing, generating, scaling and splitting.

pub mod dataset;
pub mod fold;
pub mod folder;
pub mod letor;
mod plain;
pub mod scale;
pub mod scores;
pub mod source;
pub mod synthetic;
pub mod trec;

pub use dataset::Dataset;
