//! Caches: data sets in a binary format that opens instantly, because features are memory-mapped instead of parsed.
//!
//! `burnrank convert train.txt --to cache --out train.cache` builds a cache. All commands accept it in place of the text file.
//!
//! # Layout
//!
//! All numbers are little-endian. The first 4,096 bytes are the header:
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | magic bytes `93 62 72 63 61 63 68 65`: 0x93, then `brcache` |
//! | 8..12 | version of the layout: 1 |
//! | 12..16 | the number 0x0a0b0c0d, which identifies the byte order |
//! | 16..24 | size of the file in bytes |
//! | 24..32 | checksum of the header (with zeros in this field) and of sections 1 to 4 and 7 to 11 |
//! | 32..40 | checksum of sections 5 and 6 |
//! | 40..48, 48..56, 56..64 | number of documents, of queries, and of features per document |
//! | 64..68 | bytes per feature value: 4 (f32) or 2 (f16) |
//! | 68..72 | flags: 1 the text may omit zeros, 2 documents have ids, 4 features have names, 8 the source file is known |
//! | 72..76 | index of the first feature in the text: 0 or 1 |
//! | 76..80, 80..88 | highest label (f32), and the first line of the text that has it |
//! | 88..96, 96..104 | bytes of the text after decompression, and number of skipped lines |
//! | 104..112, 112..120, 120..128 | size and modification time (seconds since 1970, nanoseconds) of the source file |
//! | 128..320 | start and length in bytes of each of the 12 sections |
//!
//! Sections start at multiples of 64 bytes, the features at 4,096:
//!
//! | section | content |
//! |---|---|
//! | 0 | features, row-major, f32 or f16, without padding |
//! | 1 | first row of each query, followed by the number of documents (u64) |
//! | 2 | labels (f32) |
//! | 3, 4 | end of each query id in the text of all ids (u64); that text |
//! | 5, 6 | the same for document ids; empty if there are none |
//! | 7 | feature names, one per line; empty if there are none |
//! | 8 | statistics from which scalings are fitted: for each feature the count, minimum, maximum, mean and sum of squared deviations from the mean (f64), the same for the logarithms, and 31 quantiles (f32) |
//! | 9 | for each query a hash of its id, labels and features, and a hash of its documents that ignores their order (u64) |
//! | 10 | checksums of the features, one per 2^20 bytes (u64) |
//! | 11 | path of the source file |
//!
//! The checksum is FNV-1a over 64-bit words, see `src/internal/hash.rs`. Opening a file verifies everything but the features and
//! document ids, which [`check()`] verifies.
//!
//! # Changes while a cache is in use
//!
//! Mapped features are used without copying. If a file in use is truncated or modified, commands fail with an error instead of
//! a signal or wrong numbers: reads from lost pages return zeros (`region.rs`), and the size and modification time of the file
//! are compared before results are used (`watch.rs`).

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
