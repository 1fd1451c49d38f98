//! The LETOR format, also called SVMlight or LibSVM with query ids: `<label> qid:<id> <index>:<value> ... # comment`.

pub(super) mod block;
mod chunks;
pub(super) mod group;
mod line;
pub(super) mod number;
pub(super) mod options;
mod peek;
pub(super) mod pieces;
pub(super) mod problem;
pub(super) mod read;
mod write;

pub use chunks::Chunks;
pub use options::{MAX_FEATURES, ReadOptions, ReadProgress, ReadReport, Rows, Skipped};
pub use peek::has_query_ids;
pub use read::{read, read_bytes, read_with};
pub use write::{WriteOptions, Zeros, write, write_to};
