//! The LETOR format, also called SVMlight or LibSVM with query ids: `<label> qid:<id> <index>:<value> ... # comment`.

mod block;
mod chunks;
mod group;
mod line;
pub(super) mod number;
mod options;
mod peek;
pub(super) mod problem;
mod read;
mod write;

pub use chunks::Chunks;
pub use options::{MAX_FEATURES, ReadOptions, ReadProgress, ReadReport, Rows, Skipped};
pub use peek::has_query_ids;
pub use read::{read, read_bytes, read_with};
pub use write::{WriteOptions, Zeros, write, write_to};
