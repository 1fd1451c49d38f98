//! The header: the first 4,096 bytes of a cache.

use crate::data::read::MAX_FEATURES;
use crate::data::scale::ColumnSummary;
use crate::data::source::whole_file;
use crate::error::{Error, Result};
use crate::internal::hash::Hasher;
use std::ops::Range;

/// First bytes of a cache; not valid UTF-8, so no text file starts with them.
pub(crate) const MAGIC: &[u8] = b"\x93brcache";
/// Version of the layout.
pub(super) const VERSION: u32 = 1;
const ORDER: u32 = 0x0a0b_0c0d;
/// Size of the header in bytes; the features follow it.
pub(super) const BYTES: usize = 4096;
/// Bytes of features per checksum.
pub(super) const BLOCK: usize = 1 << 20;

/// The sections that follow the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Features,
    Offsets,
    Labels,
    QueryEnds,
    QueryText,
    DocumentEnds,
    DocumentText,
    FeatureNames,
    Columns,
    Fingerprints,
    Blocks,
    Source,
}

impl Section {
    pub const ALL: [Section; 12] = [
        Section::Features,
        Section::Offsets,
        Section::Labels,
        Section::QueryEnds,
        Section::QueryText,
        Section::DocumentEnds,
        Section::DocumentText,
        Section::FeatureNames,
        Section::Columns,
        Section::Fingerprints,
        Section::Blocks,
        Section::Source,
    ];

    /// Whether opening a file verifies this section.
    pub fn is_verified_on_open(self) -> bool {
        !matches!(self, Section::Features | Section::DocumentEnds | Section::DocumentText)
    }
}

/// The fields of the header; see the layout in the module documentation.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::data) struct Header {
    pub file_bytes: u64,
    pub checksum: u64,
    pub ids_checksum: u64,
    pub documents: u64,
    pub queries: u64,
    pub width: u64,
    pub value_bytes: u32,
    pub sparse: bool,
    pub document_ids: bool,
    pub feature_names: bool,
    pub source: bool,
    /// Whether features that the source left out are missing rather than 0.
    pub sparse_missing: bool,
    pub first_index: u32,
    pub highest_label: f32,
    pub highest_line: u64,
    pub text_bytes: u64,
    pub skipped_lines: u64,
    /// Size and modification time (seconds, nanoseconds) of the source file.
    pub stamp: [u64; 3],
    /// Byte range of each section.
    pub sections: [Range<u64>; 12],
}

impl Header {
    pub(super) fn section(&self, section: Section) -> Range<usize> {
        let range = &self.sections[section as usize];
        range.start as usize..range.end as usize
    }

    /// Serializes the header with its present checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(ORDER.to_le_bytes());
        let words = [self.file_bytes, self.checksum, self.ids_checksum, self.documents, self.queries, self.width];
        words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        let flags = [self.sparse, self.document_ids, self.feature_names, self.source, self.sparse_missing];
        let flags = flags.iter().enumerate().fold(0, |all, (bit, &flag)| all | u32::from(flag) << bit);
        for number in [self.value_bytes, flags, self.first_index, self.highest_label.to_bits()] {
            bytes.extend(number.to_le_bytes());
        }
        let words = [self.highest_line, self.text_bytes, self.skipped_lines].into_iter().chain(self.stamp);
        let places = self.sections.iter().flat_map(|range| [range.start, range.end - range.start]);
        words.chain(places).for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.resize(BYTES, 0);
        bytes
    }

    /// Parses a header and checks that all sections are within `file_bytes`. Does not verify checksums.
    pub fn parse(name: &str, bytes: &[u8], file_bytes: u64) -> Result<Header> {
        if !bytes.starts_with(MAGIC) {
            let remedy = "expected a file written by 'burnrank convert': rebuild it";
            return Err(whole_file(name, "not a cache, or its first bytes are damaged", remedy));
        }
        if bytes.len() < BYTES {
            return Err(truncated(name, file_bytes, None));
        }
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        if half(8) != VERSION {
            let problem = format!("the cache has version {}, but this program reads version {VERSION}", half(8));
            return Err(whole_file(name, &problem, REBUILD));
        }
        if half(12) != ORDER || cfg!(target_endian = "big") {
            return Err(whole_file(name, "the cache is for machines with another byte order", REBUILD));
        }
        if word(16) != file_bytes {
            return Err(truncated(name, file_bytes, Some(word(16))));
        }
        let damaged = || damaged(name, "its header is invalid");
        let flag = |bit: u32| half(68) & 1 << bit != 0;
        let mut sections = std::array::from_fn(|_| 0..0);
        for (index, section) in sections.iter_mut().enumerate() {
            let (start, length) = (word(128 + 16 * index), word(136 + 16 * index));
            let end = start.checked_add(length).filter(|&end| end <= file_bytes).ok_or_else(damaged)?;
            *section = start..end;
        }
        let header = Header {
            file_bytes,
            checksum: word(24),
            ids_checksum: word(32),
            documents: word(40),
            queries: word(48),
            width: word(56),
            value_bytes: half(64),
            sparse: flag(0),
            document_ids: flag(1),
            feature_names: flag(2),
            source: flag(3),
            sparse_missing: flag(4),
            first_index: half(72),
            highest_label: f32::from_bits(half(76)),
            highest_line: word(80),
            text_bytes: word(88),
            skipped_lines: word(96),
            stamp: [word(104), word(112), word(120)],
            sections,
        };
        if header.is_consistent() { Ok(header) } else { Err(damaged()) }
    }

    /// Whether the size of every section matches the counts, and every section is aligned.
    fn is_consistent(&self) -> bool {
        let length = |section: Section| {
            let range = &self.sections[section as usize];
            Some(range.end - range.start)
        };
        let ids = if self.document_ids { self.documents } else { 0 };
        let features = || self.documents.checked_mul(self.width)?.checked_mul(u64::from(self.value_bytes));
        let expected = |section: Section| match section {
            Section::Features => features(),
            Section::Offsets => self.queries.checked_add(1)?.checked_mul(8),
            Section::Labels => self.documents.checked_mul(4),
            Section::QueryEnds => self.queries.checked_mul(8),
            Section::DocumentEnds => ids.checked_mul(8),
            Section::Columns => self.width.checked_mul(ColumnSummary::BYTES as u64),
            Section::Fingerprints => self.queries.checked_mul(16),
            Section::Blocks => features()?.div_ceil(BLOCK as u64).checked_mul(8),
            Section::QueryText | Section::DocumentText | Section::FeatureNames | Section::Source => length(section),
        };
        matches!(self.value_bytes, 2 | 4)
            && self.first_index <= 1
            && self.width <= MAX_FEATURES as u64
            && self.sections.iter().all(|range| range.start.is_multiple_of(64) && range.start >= BYTES as u64)
            && Section::ALL
                .into_iter()
                .all(|section| expected(section).is_some() && expected(section) == length(section))
    }
}

/// Computes the checksum of the bytes of a header and of the sections that are verified on opening.
pub(super) fn checksum(header: &[u8], file: &[u8], sections: &[Range<u64>; 12]) -> u64 {
    let mut hasher = Hasher::new();
    hasher.bytes(&header[..24]);
    hasher.bytes(&header[32..BYTES]);
    for section in Section::ALL.into_iter().filter(|section| section.is_verified_on_open()) {
        let range = &sections[section as usize];
        hasher.bytes(&file[range.start as usize..range.end as usize]);
    }
    hasher.finish()
}

/// Remedy for caches that cannot be used.
pub(super) const REBUILD: &str = "rebuild it with 'burnrank convert'";

/// The error for a damaged cache.
#[cold]
pub(super) fn damaged(name: &str, how: &str) -> Error {
    whole_file(name, &format!("the cache is damaged: {how}"), REBUILD)
}

#[cold]
fn truncated(name: &str, actual: u64, expected: Option<u64>) -> Error {
    let expected = expected.map_or(String::new(), |expected| format!(" instead of {expected}"));
    whole_file(name, &format!("the cache has the wrong size: {actual} bytes{expected}"), REBUILD)
}
