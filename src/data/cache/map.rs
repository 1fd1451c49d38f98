//! A memory-mapped cache: the system loads pages when they are accessed and evicts them when memory is short.

use super::header::{Header, Section};
use super::watch::Watch;
use crate::data::scale::ColumnSummary;
use crate::data::source::{display_name, whole_file};
use crate::error::{Error, Result};
use crate::memory;
use half::f16;
use half::slice::HalfFloatSliceExt;
use memmap2::Mmap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Expected use of rows, as in `madvise`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advice {
    /// They will be read soon.
    WillNeed,
    /// They will not be read for a while.
    DontNeed,
}

/// Maps a file whose bytes should not change while it is mapped.
pub(super) fn map(file: &File, path: &Path) -> Result<Mmap> {
    // SAFETY: the bytes of a map must not change while they are borrowed. Caches are written under another name, renamed when
    // they are complete and never modified; replacing a cache renames a new file, which does not affect the mapped one. If
    // another program modifies or truncates a cache in use, every bit pattern is still a valid number, lost pages read as
    // zeros, and the results are discarded: see `watch.rs`.
    let map = unsafe { Mmap::map(file) };
    map.map_err(|error| match error.kind() {
        std::io::ErrorKind::OutOfMemory => {
            let size = file.metadata().map_or(0, |metadata| metadata.len());
            let problem = format!("not enough address space to map {}", memory::readable(size));
            let remedy = "raise the limit, for example with 'ulimit -v unlimited': mapping a file uses no memory";
            whole_file(&display_name(path), &problem, remedy)
        }
        _ => Error::io(path, "map", error),
    })
}

/// An open cache whose sections have been checked to be within the file.
#[derive(Debug)]
pub(crate) struct CacheMap {
    // Declared, and so dropped, before the map: the signal handler must not touch addresses after they are unmapped.
    watch: Option<Arc<Watch>>,
    map: Mmap,
    header: Header,
    columns: Option<ColumnSummary>,
}

impl CacheMap {
    /// Wraps a map whose header matches its length. `columns` are the stored statistics; `watch` detects changes to the file.
    pub(super) fn new(map: Mmap, header: Header, columns: Option<ColumnSummary>, watch: Option<Arc<Watch>>) -> Self {
        CacheMap { watch, map, header, columns }
    }

    /// Fails when the file has changed since it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        self.watch.as_ref().map_or(Ok(()), |watch| watch.check())
    }

    pub(in crate::data) fn header(&self) -> &Header {
        &self.header
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.map
    }

    pub(super) fn section(&self, section: Section) -> &[u8] {
        &self.map[self.header.section(section)]
    }

    /// Returns the number of features.
    pub(crate) fn width(&self) -> usize {
        self.header.width as usize
    }

    /// Returns the number of queries.
    pub(crate) fn n_queries(&self) -> usize {
        self.header.queries as usize
    }

    /// Whether the source text may have left features out.
    pub(crate) fn is_sparse(&self) -> bool {
        self.header.sparse
    }

    /// Whether features that the source text left out are missing rather than 0.
    pub(crate) fn is_sparse_missing(&self) -> bool {
        self.header.sparse_missing
    }

    /// Whether documents have ids.
    pub(crate) fn has_document_ids(&self) -> bool {
        self.header.document_ids
    }

    /// Returns the column statistics from which scalings are fitted.
    pub(crate) fn columns(&self) -> Option<&ColumnSummary> {
        self.columns.as_ref()
    }

    /// Returns the first row of a query.
    pub(crate) fn start(&self, query: usize) -> usize {
        word(self.section(Section::Offsets), query) as usize
    }

    /// Returns the fingerprint and the key of a query, or `None` while they are being computed.
    pub(crate) fn fingerprints(&self, query: usize) -> Option<[u64; 2]> {
        let words = self.section(Section::Fingerprints);
        self.columns.as_ref().map(|_| [word(words, 2 * query), word(words, 2 * query + 1)])
    }

    /// Returns the id of a document, or `None` if documents have no ids.
    pub(crate) fn document_id(&self, row: usize) -> Option<&str> {
        let ends = self.section(Section::DocumentEnds);
        if ends.is_empty() {
            return None;
        }
        let start = if row == 0 { 0 } else { word(ends, row - 1) as usize };
        let id = self.section(Section::DocumentText).get(start..word(ends, row) as usize);
        // Ids that are not valid text are damaged; only the full check verifies all ids.
        Some(id.and_then(|id| std::str::from_utf8(id).ok()).unwrap_or_default())
    }

    /// Returns all features if they are stored as `f32`.
    pub(crate) fn floats(&self) -> Option<&[f32]> {
        // SAFETY: every bit pattern is a valid f32.
        (self.header.value_bytes == 4).then(|| unsafe { self.numbers() })
    }

    fn halves(&self) -> &[f16] {
        // SAFETY: every bit pattern is a valid f16.
        unsafe { self.numbers() }
    }

    /// Returns the features as a slice of `T`.
    ///
    /// # Safety
    /// Every bit pattern must be a valid `T`.
    unsafe fn numbers<T>(&self) -> &[T] {
        // SAFETY: the caller guarantees valid values, and the result borrows the section. `align_to` drops unaligned bytes at
        // the ends: there are none, because maps are page-aligned and the features start at byte 4,096.
        unsafe { self.section(Section::Features).align_to::<T>().1 }
    }

    /// Copies rows, starting at `first`, as rows of `width` features: appends `padding`, or drops the last features.
    pub(crate) fn read(&self, first: usize, width: usize, padding: f32, values: &mut [f32]) {
        let own = self.width();
        if width == own {
            return self.copy(first * own, values);
        }
        let keep = width.min(own);
        for (row, values) in values.chunks_exact_mut(width.max(1)).enumerate() {
            let (kept, added) = values.split_at_mut(keep);
            self.copy((first + row) * own, kept);
            added.fill(padding);
        }
    }

    fn copy(&self, first: usize, values: &mut [f32]) {
        match self.floats() {
            Some(all) => values.copy_from_slice(&all[first..first + values.len()]),
            None => self.halves()[first..first + values.len()].convert_to_f32_slice(values),
        }
    }

    /// Advises the system about the expected use of rows.
    pub(crate) fn advise(&self, rows: Range<usize>, advice: Advice) {
        let bytes = self.width() * self.header.value_bytes as usize;
        let start = self.header.section(Section::Features).start;
        let (offset, length) = (start + rows.start * bytes, rows.len() * bytes);
        if length == 0 {
            return;
        }
        // Errors are ignored: advice affects only speed.
        #[cfg(unix)]
        let _ = match advice {
            Advice::WillNeed => self.map.advise_range(memmap2::Advice::WillNeed, offset, length),
            // SAFETY: pages of a read-only file map are read from the file again with the same bytes.
            Advice::DontNeed => unsafe {
                self.map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, offset, length)
            },
        };
        #[cfg(not(unix))]
        let _ = (advice, offset);
    }
}

/// Returns the little-endian word at index `index`.
pub(super) fn word(bytes: &[u8], index: usize) -> u64 {
    bytes[8 * index..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}
