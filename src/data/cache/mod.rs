//! Caches: a data set as a binary file that opens at once, because its features stay in the file and are mapped, not read.
//!
//! `burnrank convert train.txt --to cache --out train.cache` makes one, and every command takes it in the place of the text.
//!
//! # Layout
//!
//! All numbers are little-endian. The first 4,096 bytes are the header:
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | the magic bytes `93 62 72 63 61 63 68 65`: 0x93, then `brcache` |
//! | 8..12 | the version of this layout, 1 |
//! | 12..16 | the number 0x0a0b0c0d, which tells the order of bytes |
//! | 16..24 | the bytes of the whole file |
//! | 24..32 | checksum of the header, with zeros here, and of the sections 1 to 4 and 7 to 11 |
//! | 32..40 | checksum of the sections 5 and 6 |
//! | 40..48, 48..56, 56..64 | documents, queries, features of a document |
//! | 64..68 | bytes of a feature's value: 4 (f32) or 2 (f16) |
//! | 68..72 | flags: 1 zeros may have been left out of the text, 2 documents have ids, 4 features have names, 8 the text is known |
//! | 72..76 | the index of the first feature in the text: 0 or 1 |
//! | 76..80, 80..88 | the highest label (f32), and the line of the text that has it first |
//! | 88..96, 96..104 | bytes of the text after unpacking, and lines that were skipped |
//! | 104..112, 112..120, 120..128 | the text's file: its bytes, and when it was last changed (seconds since 1970, nanoseconds) |
//! | 128..320 | where each of the 12 sections starts, and its bytes |
//!
//! Sections start at multiples of 64 bytes, the features at 4,096:
//!
//! | section | what |
//! |---|---|
//! | 0 | features, row by row, f32 or f16, nothing between rows |
//! | 1 | where each query starts, and last the number of documents: u64 each |
//! | 2 | labels, f32 each |
//! | 3, 4 | where the id of each query ends in the text of all ids, u64 each; that text |
//! | 5, 6 | the same for documents; empty where they have no ids |
//! | 7 | names of features, one per line; empty where they have none |
//! | 8 | what all scalings follow from: of each feature count, least, greatest, mean and sum of squared distances from the mean (f64), the same of the logarithms, 31 quantiles (f32) |
//! | 9 | of each query a number that its id, labels and features follow into, and one that tells its documents (u64 each) |
//! | 10 | checksums of the features, one per 2^20 bytes, u64 each |
//! | 11 | the path of the text |
//!
//! The checksum is FNV-1a over 64-bit words, see `src/internal/hash.rs`. Opening a file verifies all but the features and the ids of
//! documents, which [`check()`] does.
//!
//! # Changes while a cache is in use
//!
//! Features are used where they are mapped, without a copy. A file that is cut short or written to meanwhile ends in an error,
//! not in a signal or in wrong numbers: reads from lost pages give zeros (`region.rs`), and the length and time of the file are
//! compared before results are used (`watch.rs`).

mod build;
mod check;
mod draft;
mod header;
mod ids;
mod map;
mod open;
mod origin;
mod region;
mod survey;
#[cfg(test)]
mod tests;
mod values;
mod watch;
mod widen;
mod write;

pub use build::build;
pub use check::{CacheInfo, check, info};
pub use values::Rounding;
pub use watch::check_in_use;
pub use write::{CacheOptions, CacheReport, CacheWriter};

pub(crate) use header::MAGIC;
pub(crate) use map::{Advice, CacheMap};
pub(crate) use open::open;
