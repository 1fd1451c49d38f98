//! A cache in the address space of this process: pages come from the file when they are looked at, and go when memory is short.

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

/// What becomes of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advice {
    /// They are read soon.
    WillNeed,
    /// They are not read for a while.
    Passed,
}

/// Maps a file of which no byte is to change as long as it is mapped.
pub(super) fn map(file: &File, path: &Path) -> Result<Mmap> {
    // SAFETY: the bytes of a map must not change while they are borrowed. Caches are written under another name and renamed
    // when they are whole, never written to again, and the tool replaces them by renaming too, which leaves the mapped file as
    // it was. Where others write into a cache or cut it while it is in use, every pattern of bits is still a number, lost pages
    // read as zeros, and what was computed is discarded: see `watch.rs`.
    let mapped = unsafe { Mmap::map(file) };
    mapped.map_err(|error| match error.kind() {
        std::io::ErrorKind::OutOfMemory => {
            let size = file.metadata().map_or(0, |metadata| metadata.len());
            let problem = format!("there are no addresses for a map of {}", memory::readable(size));
            whole_file(
                &display_name(path),
                &problem,
                "raise the limit, as in 'ulimit -v unlimited': it takes no memory",
            )
        }
        _ => Error::io(path, "map", error),
    })
}

/// An open cache, of which every place was checked to be inside the file.
#[derive(Debug)]
pub(crate) struct CacheMap {
    // Dropped before the map: no handler looks at addresses that are another's.
    watch: Option<Arc<Watch>>,
    map: Mmap,
    header: Header,
    columns: Option<ColumnSummary>,
}

impl CacheMap {
    /// A file whose header fits its length; `columns` are what it says of its features, `watch` whether it is still the same.
    pub(super) fn new(map: Mmap, header: Header, columns: Option<ColumnSummary>, watch: Option<Arc<Watch>>) -> Self {
        CacheMap { watch, map, header, columns }
    }

    /// Fails when the file was changed since it was opened.
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

    /// The number of features.
    pub(crate) fn width(&self) -> usize {
        self.header.width as usize
    }

    /// The number of queries.
    pub(crate) fn n_queries(&self) -> usize {
        self.header.queries as usize
    }

    /// Whether zeros may have been left out of the text.
    pub(crate) fn is_sparse(&self) -> bool {
        self.header.sparse
    }

    /// Whether documents have ids.
    pub(crate) fn has_document_ids(&self) -> bool {
        self.header.document_ids
    }

    /// What all scalings follow from.
    pub(crate) fn columns(&self) -> Option<&ColumnSummary> {
        self.columns.as_ref()
    }

    /// The first row of a query.
    pub(crate) fn start(&self, query: usize) -> usize {
        word(self.section(Section::Offsets), query) as usize
    }

    /// The numbers of a query: those of [`Dataset::query_print`](crate::Dataset) and its key; none while they are being found.
    pub(crate) fn prints(&self, query: usize) -> Option<[u64; 2]> {
        let prints = self.section(Section::Prints);
        self.columns.as_ref().map(|_| [word(prints, 2 * query), word(prints, 2 * query + 1)])
    }

    /// The id of a document, where documents have some.
    pub(crate) fn document_id(&self, row: usize) -> Option<&str> {
        let ends = self.section(Section::DocumentEnds);
        if ends.is_empty() {
            return None;
        }
        let start = if row == 0 { 0 } else { word(ends, row - 1) as usize };
        let id = self.section(Section::DocumentText).get(start..word(ends, row) as usize);
        // What is no text was damaged: only the full check looks at all ids.
        Some(id.and_then(|id| std::str::from_utf8(id).ok()).unwrap_or_default())
    }

    /// All features, where they are f32.
    pub(crate) fn floats(&self) -> Option<&[f32]> {
        // SAFETY: every pattern of bits is an f32, and the section is a whole number of them.
        (self.header.value_bytes == 4).then(|| unsafe { self.numbers() })
    }

    fn halves(&self) -> &[f16] {
        // SAFETY: as for `floats`; an f16 is two bytes of which every pattern is one.
        unsafe { self.numbers() }
    }

    /// The features as numbers of a type.
    ///
    /// # Safety
    /// Every pattern of bits must be a value of `T`.
    unsafe fn numbers<T>(&self) -> &[T] {
        // SAFETY: the caller vouches for the values. The bytes are those of the section, borrowed as long as the result, and
        // `align_to` leaves out what is not aligned: nothing, because maps start at pages and the features at 4,096 bytes.
        unsafe { self.section(Section::Features).align_to::<T>().1 }
    }

    /// Copies rows from `first` on, each with `width` features: zeros are added, or the last ones left out.
    pub(crate) fn read(&self, first: usize, width: usize, values: &mut [f32]) {
        let own = self.width();
        if width == own {
            return self.copy(first * own, values);
        }
        let keep = width.min(own);
        for (row, values) in values.chunks_exact_mut(width.max(1)).enumerate() {
            let (kept, added) = values.split_at_mut(keep);
            self.copy((first + row) * own, kept);
            added.fill(0.0);
        }
    }

    fn copy(&self, first: usize, values: &mut [f32]) {
        match self.floats() {
            Some(all) => values.copy_from_slice(&all[first..first + values.len()]),
            None => self.halves()[first..first + values.len()].convert_to_f32_slice(values),
        }
    }

    /// Tells the system what becomes of rows.
    pub(crate) fn advise(&self, rows: Range<usize>, advice: Advice) {
        let bytes = self.width() * self.header.value_bytes as usize;
        let start = self.header.section(Section::Features).start;
        let (offset, length) = (start + rows.start * bytes, rows.len() * bytes);
        if length == 0 {
            return;
        }
        // Advice that the system does not take changes nothing but the time.
        #[cfg(unix)]
        let _ = match advice {
            Advice::WillNeed => self.map.advise_range(memmap2::Advice::WillNeed, offset, length),
            // SAFETY: pages of a file that is mapped to be read come back with the same bytes.
            Advice::Passed => unsafe {
                self.map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, offset, length)
            },
        };
        #[cfg(not(unix))]
        let _ = (advice, offset);
    }
}

/// The word at a place of a section of words.
pub(super) fn word(bytes: &[u8], place: usize) -> u64 {
    bytes[8 * place..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}
