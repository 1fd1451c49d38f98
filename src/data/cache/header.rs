//! The first 4,096 bytes of a cache.

use crate::data::read::MAX_FEATURES;
use crate::data::scale::ColumnSummary;
use crate::data::source::whole_file;
use crate::error::{Error, Result};
use crate::internal::hash::Hasher;
use std::ops::Range;

/// What a cache starts with; no text does.
pub(crate) const MAGIC: &[u8] = b"\x93brcache";
/// Of this layout.
pub(super) const VERSION: u32 = 1;
const ORDER: u32 = 0x0a0b_0c0d;
/// The bytes of the header; the features start behind it.
pub(super) const BYTES: usize = 4096;
/// The features' bytes that have a checksum of their own.
pub(super) const BLOCK: usize = 1 << 20;

/// The parts of a file behind its header.
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
    Prints,
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
        Section::Prints,
        Section::Blocks,
        Section::Source,
    ];

    /// Whether its bytes are verified when a file is opened.
    pub fn is_verified_at_once(self) -> bool {
        !matches!(self, Section::Features | Section::DocumentEnds | Section::DocumentText)
    }
}

/// All that the header says.
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
    pub first_index: u32,
    pub highest_label: f32,
    pub highest_line: u64,
    pub text_bytes: u64,
    pub skipped_lines: u64,
    /// Bytes, seconds and nanoseconds of the text's file.
    pub stamp: [u64; 3],
    /// Where each section is.
    pub sections: [Range<u64>; 12],
}

impl Header {
    pub(super) fn section(&self, section: Section) -> Range<usize> {
        let range = &self.sections[section as usize];
        range.start as usize..range.end as usize
    }

    /// The header's bytes, with the checksum as it is.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(ORDER.to_le_bytes());
        let words = [self.file_bytes, self.checksum, self.ids_checksum, self.documents, self.queries, self.width];
        words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        let flags = [self.sparse, self.document_ids, self.feature_names, self.source];
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

    /// Reads a header that some checksum has still to confirm; nothing in it is out of the bounds of `file_bytes`.
    pub fn parse(name: &str, bytes: &[u8], file_bytes: u64) -> Result<Header> {
        if !bytes.starts_with(MAGIC) {
            let remedy = "expected a file made by 'burnrank convert': make it again";
            return Err(whole_file(name, "not a cache, or damaged at its start", remedy));
        }
        if bytes.len() < BYTES {
            return Err(truncated(name, file_bytes, None));
        }
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        if half(8) != VERSION {
            let problem = format!("a cache of version {}, and this program reads version {VERSION}", half(8));
            return Err(whole_file(name, &problem, AGAIN));
        }
        if half(12) != ORDER || cfg!(target_endian = "big") {
            return Err(whole_file(name, "a cache for machines of another order of bytes", AGAIN));
        }
        if word(16) != file_bytes {
            return Err(truncated(name, file_bytes, Some(word(16))));
        }
        let damaged = || damaged(name, "its header makes no sense");
        let flag = |bit: u32| half(68) & 1 << bit != 0;
        let mut sections = std::array::from_fn(|_| 0..0);
        for (place, section) in sections.iter_mut().enumerate() {
            let (start, length) = (word(128 + 16 * place), word(136 + 16 * place));
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
            first_index: half(72),
            highest_label: f32::from_bits(half(76)),
            highest_line: word(80),
            text_bytes: word(88),
            skipped_lines: word(96),
            stamp: [word(104), word(112), word(120)],
            sections,
        };
        if header.fits_together() { Ok(header) } else { Err(damaged()) }
    }

    /// Whether every section has the bytes that the counts ask for, and starts where its numbers can be read.
    fn fits_together(&self) -> bool {
        let length = |section: Section| {
            let range = &self.sections[section as usize];
            Some(range.end - range.start)
        };
        let ids = if self.document_ids { self.documents } else { 0 };
        let features = || self.documents.checked_mul(self.width)?.checked_mul(u64::from(self.value_bytes));
        let wanted = |section: Section| match section {
            Section::Features => features(),
            Section::Offsets => self.queries.checked_add(1)?.checked_mul(8),
            Section::Labels => self.documents.checked_mul(4),
            Section::QueryEnds => self.queries.checked_mul(8),
            Section::DocumentEnds => ids.checked_mul(8),
            Section::Columns => self.width.checked_mul(ColumnSummary::BYTES as u64),
            Section::Prints => self.queries.checked_mul(16),
            Section::Blocks => features()?.div_ceil(BLOCK as u64).checked_mul(8),
            Section::QueryText | Section::DocumentText | Section::FeatureNames | Section::Source => length(section),
        };
        matches!(self.value_bytes, 2 | 4)
            && self.first_index <= 1
            && self.width <= MAX_FEATURES as u64
            && self.sections.iter().all(|range| range.start.is_multiple_of(64) && range.start >= BYTES as u64)
            && Section::ALL.into_iter().all(|section| wanted(section).is_some() && wanted(section) == length(section))
    }
}

/// The checksum of a header, whose bytes are given, and of the sections that are verified when a file is opened.
pub(super) fn checksum(header: &[u8], file: &[u8], sections: &[Range<u64>; 12]) -> u64 {
    let mut hasher = Hasher::new();
    hasher.bytes(&header[..24]);
    hasher.bytes(&header[32..BYTES]);
    for section in Section::ALL.into_iter().filter(|section| section.is_verified_at_once()) {
        let range = &sections[section as usize];
        hasher.bytes(&file[range.start as usize..range.end as usize]);
    }
    hasher.finish()
}

/// What helps where a cache is no good.
pub(super) const AGAIN: &str = "make it again with 'burnrank convert'";

/// The error of a cache whose bytes are not those that were written.
#[cold]
pub(super) fn damaged(name: &str, how: &str) -> Error {
    whole_file(name, &format!("a damaged cache: {how}"), AGAIN)
}

#[cold]
fn truncated(name: &str, found: u64, wanted: Option<u64>) -> Error {
    let wanted = wanted.map_or(String::new(), |wanted| format!(" of {wanted}"));
    whole_file(name, &format!("a cache of another size than was written: {found} bytes{wanted}"), AGAIN)
}
