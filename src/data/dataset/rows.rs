//! Access to the rows of a data set: as slices if possible, otherwise as copies of bounded size.

use super::Dataset;
use super::store::{Mapped, Selection, Store};
use crate::data::cache::{Advice, CacheMap};
use crate::data::scale::{ColumnSummary, Rows, Scaler};
use crate::error::Result;
use crate::memory;
use rayon::prelude::*;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of rows that one thread copies at a time.
const PIECE: usize = 4096;

thread_local! {
    /// Buffer reused for copies of rows.
    static BUFFER: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

impl Dataset {
    /// Builds a data set of all queries of a mapped file.
    pub(crate) fn mapped(
        file: Arc<CacheMap>,
        labels: Vec<f32>,
        query_ids: Vec<String>,
        offsets: Vec<usize>,
    ) -> Dataset {
        let (width, sparse, sparse_missing) = (file.width(), file.is_sparse(), file.is_sparse_missing());
        let features = Store::Mapped(Mapped::new(file, Selection::From(0), Vec::new()));
        let data = Dataset { width, features, labels, query_ids, offsets, sparse, ..Dataset::default() };
        data.declared_sparse_missing(sparse_missing)
    }

    /// Whether the features are in a memory-mapped file. Rows are then read, and scaled, each time they are used.
    pub fn is_mapped(&self) -> bool {
        matches!(self.features, Store::Mapped(_))
    }

    /// Makes all features available as one slice: reads those of a mapped file into memory unless they are one already.
    ///
    /// # Errors
    /// When this would exceed the memory limit.
    pub fn load(&self) -> Result<()> {
        if self.slice(0..self.n_documents()).is_none() {
            let bytes = memory::bytes_of::<f32>(self.n_documents() as u64 * self.width as u64);
            let what = format!("{} documents of {} features", self.n_documents(), self.width);
            memory::ask(bytes, &what, "use fewer queries, or a model that reads them from the file: linear or mlp")?;
            self.features();
        }
        self.check_unchanged()
    }

    /// Checks that the mapped file has not changed since it was opened.
    ///
    /// # Errors
    /// When it has; results computed from it must not be used. The error names the file.
    pub fn check_unchanged(&self) -> Result<()> {
        match &self.features {
            Store::Memory(_) => Ok(()),
            Store::Mapped(mapped) => mapped.file.check_unchanged(),
        }
    }

    /// Returns all features as one slice, read into memory if they are not one.
    pub(super) fn one_slice(&self) -> &[f32] {
        match (&self.features, self.slice(0..self.n_documents())) {
            (_, Some(values)) => values,
            (Store::Memory(values), None) => values,
            (Store::Mapped(mapped), None) => mapped.copy.get_or_init(|| {
                let mut values = vec![0.0; self.n_documents() * self.width];
                self.fill(0..self.n_queries(), &mut values);
                values
            }),
        }
    }

    /// Moves all features and document ids of a mapped file into memory.
    pub(super) fn in_memory(&mut self) -> &mut Vec<f32> {
        if let Store::Mapped(mapped) = &mut self.features {
            let copy = mapped.copy.take();
            if self.document_ids.is_none() && self.has_document_ids() {
                let ids = (0..self.n_documents()).map(|row| self.document_id(row).unwrap_or_default());
                self.document_ids = Some(ids.collect());
            }
            let values = copy.unwrap_or_else(|| {
                let mut values = vec![0.0; self.n_documents() * self.width];
                self.fill(0..self.n_queries(), &mut values);
                values
            });
            self.features = Store::Memory(values);
        }
        match &mut self.features {
            Store::Memory(values) => values,
            Store::Mapped(_) => unreachable!("replaced above"),
        }
    }

    /// Returns the id of a document of a mapped file.
    pub(super) fn mapped_id<'a>(&self, mapped: &'a Mapped, row: usize) -> Option<&'a str> {
        let query = self.query_of(row);
        mapped.file.document_id(mapped.file.start(mapped.queries.get(query)) + row - self.offsets[query])
    }

    /// Returns rows as a slice, or `None` if they are not stored as one.
    pub(super) fn slice(&self, rows: Range<usize>) -> Option<&[f32]> {
        match &self.features {
            Store::Memory(values) => self.cut(values, rows.start, rows.len()),
            Store::Mapped(mapped) => {
                if let Some(copy) = mapped.copy.get() {
                    return self.cut(copy, rows.start, rows.len());
                }
                let values = mapped.plain(self.width)?;
                if rows.is_empty() {
                    return Some(&[]);
                }
                let query = self.query_of(rows.start);
                let adjacent = matches!(mapped.queries, Selection::From(_)) || rows.end <= self.offsets[query + 1];
                let first = mapped.file.start(mapped.queries.get(query)) + rows.start - self.offsets[query];
                if adjacent { self.cut(values, first, rows.len()) } else { None }
            }
        }
    }

    fn cut<'a>(&self, all: &'a [f32], first: usize, count: usize) -> Option<&'a [f32]> {
        all.get(first * self.width..(first + count) * self.width)
    }

    /// Returns the query that contains a row.
    fn query_of(&self, row: usize) -> usize {
        self.offsets.partition_point(|&offset| offset <= row).saturating_sub(1)
    }

    /// Appends the features of one query.
    pub(crate) fn gather(&self, query: usize, values: &mut Vec<f32>) {
        let rows = self.offsets[query]..self.offsets[query + 1];
        match self.slice(rows.clone()) {
            Some(slice) => values.extend_from_slice(slice),
            None => {
                let start = values.len();
                values.resize(start + rows.len() * self.width, 0.0);
                self.fill_rows(rows, &mut values[start..]);
            }
        }
    }

    /// All features as one slice, where they are one.
    pub(crate) fn whole(&self) -> Option<&[f32]> {
        self.slice(0..self.n_documents())
    }

    /// Copies the features of one query.
    pub(crate) fn copy_query(&self, query: usize, values: &mut [f32]) {
        self.fill_rows(self.offsets[query]..self.offsets[query + 1], values);
    }

    /// Copies the features of adjacent queries, in parallel.
    pub(crate) fn fill(&self, queries: Range<usize>, values: &mut [f32]) {
        let whole = matches!(&self.features, Store::Mapped(mapped) if mapped.is_per_query());
        let (mut work, mut rest) = (Vec::new(), values);
        for query in queries {
            let (mut start, end) = (self.offsets[query], self.offsets[query + 1]);
            while start < end {
                let rows = if whole { start..end } else { start..end.min(start + PIECE) };
                let (own, after) = rest.split_at_mut(rows.len() * self.width);
                (start, rest) = (rows.end, after);
                work.push((rows, own));
            }
        }
        work.into_par_iter().with_min_len(8).for_each(|(rows, values)| self.fill_rows(rows, values));
    }

    /// Copies rows, in parallel.
    #[cfg(feature = "cubecl")]
    pub(crate) fn copy_rows(&self, rows: Range<usize>, values: &mut [f32]) {
        if let Some(slice) = self.slice(rows.clone()) {
            return values.copy_from_slice(slice);
        }
        let (mut work, mut rest, mut start) = (Vec::new(), values, rows.start);
        while start < rows.end {
            let part = start..self.offsets[self.query_of(start) + 1].min(rows.end);
            let (own, after) = rest.split_at_mut(part.len() * self.width);
            (start, rest) = (part.end, after);
            work.push((part, own));
        }
        work.into_par_iter().with_min_len(8).for_each(|(rows, values)| self.fill_rows(rows, values));
    }

    fn fill_rows(&self, rows: Range<usize>, values: &mut [f32]) {
        if let Some(slice) = self.slice(rows.clone()) {
            return values.copy_from_slice(slice);
        }
        let Store::Mapped(mapped) = &self.features else { return };
        let (mut query, mut rest) = (self.query_of(rows.start), values);
        let mut row = rows.start;
        while row < rows.end {
            let own = self.offsets[query]..self.offsets[query + 1];
            let first = mapped.file.start(mapped.queries.get(query));
            let part = row..own.end.min(rows.end);
            let (values, after) = rest.split_at_mut(part.len() * self.width);
            if mapped.widens() {
                let whole = if mapped.is_per_query() { own.clone() } else { part.clone() };
                let width = mapped.scalers[0].n_features();
                let mut raw = vec![0.0; whole.len() * width];
                mapped.file.read(first + whole.start - own.start, width, self.padding(), &mut raw);
                let all = mapped.inputs_of(raw);
                values.copy_from_slice(&all[(part.start - whole.start) * self.width..][..values.len()]);
            } else if part == own || !mapped.is_per_query() {
                mapped.file.read(first + part.start - own.start, self.width, self.padding(), values);
                mapped.scale(values);
            } else {
                let mut all = vec![0.0; own.len() * self.width];
                mapped.file.read(first, self.width, self.padding(), &mut all);
                mapped.scale(&mut all);
                values.copy_from_slice(&all[(part.start - own.start) * self.width..][..values.len()]);
            }
            (row, rest, query) = (part.end, after, query + 1);
        }
    }

    /// Calls `work` with all rows in order, about `max_values` feature values at a time: slices of the storage, or copies of
    /// whole queries.
    ///
    /// # Errors
    /// When `work` fails, and when the mapped file changed meanwhile.
    pub(crate) fn for_rows(
        &self,
        max_values: usize,
        mut work: impl FnMut(Range<usize>, &[f32]) -> Result<()>,
    ) -> Result<()> {
        let (documents, width) = (self.n_documents(), self.width.max(1));
        let max_rows = (max_values / width).max(1);
        if let Some(all) = self.slice(0..documents) {
            for start in (0..documents).step_by(max_rows) {
                let rows = start..documents.min(start + max_rows);
                self.will_need(rows.end..documents.min(rows.end + max_rows));
                work(rows.clone(), &all[rows.start * self.width..rows.end * self.width])?;
            }
            return self.check_unchanged();
        }
        let (mut start, mut values) = (0, Vec::new());
        while start < self.n_queries() {
            let end = self.offsets.partition_point(|&offset| offset <= self.offsets[start] + max_rows) - 1;
            let end = end.clamp(start + 1, self.n_queries());
            let rows = self.offsets[start]..self.offsets[end];
            self.will_need(rows.end..documents.min(rows.end + max_rows));
            values.resize(rows.len() * self.width, 0.0);
            self.fill(start..end, &mut values);
            work(rows, &values)?;
            start = end;
        }
        self.check_unchanged()
    }

    /// Scales rows of a mapped file whenever they are read. Returns false, and does nothing, if the features are in memory.
    pub(crate) fn scale_when_read(&mut self, scaler: &Scaler) -> bool {
        match &mut self.features {
            Store::Memory(_) => return false,
            Store::Mapped(mapped) => {
                mapped.scalers.push(Arc::new(scaler.clone()));
                mapped.copy.take();
            }
        }
        if scaler.widens() {
            (self.width, self.feature_names) = (scaler.n_inputs(), None);
        }
        true
    }

    /// Replaces all features, which have no names then.
    pub(crate) fn replace_features(&mut self, width: usize, values: Vec<f32>) {
        (self.width, self.features, self.feature_names) = (width, Store::Memory(values), None);
    }

    /// Returns the stored column statistics if this data set is the whole mapped file, unscaled.
    pub(crate) fn column_summary(&self) -> Option<&ColumnSummary> {
        let mapped = self.unscaled()?;
        let all = mapped.queries == Selection::From(0) && self.n_queries() == mapped.file.n_queries();
        mapped.file.columns().filter(|_| all)
    }

    /// Returns the stored [`Dataset::query_fingerprint`] and [`Dataset::query_key`] of a query of an unscaled mapped file.
    pub(crate) fn stored_fingerprints(&self, query: usize) -> Option<[u64; 2]> {
        let mapped = self.unscaled()?;
        mapped.file.fingerprints(mapped.queries.get(query))
    }

    /// Returns the mapped file if its rows are used without scaling or padding.
    fn unscaled(&self) -> Option<&Mapped> {
        match &self.features {
            Store::Mapped(mapped) if mapped.scalers.is_empty() && mapped.file.width() == self.width => Some(mapped),
            _ => None,
        }
    }

    /// Advises the system that these rows will be read soon.
    pub(crate) fn will_need(&self, rows: Range<usize>) {
        self.advise(rows, Advice::WillNeed);
    }

    /// Advises the system that these rows will not be read for a while.
    pub(crate) fn dont_need(&self, rows: Range<usize>) {
        self.advise(rows, Advice::DontNeed);
    }

    fn advise(&self, rows: Range<usize>, advice: Advice) {
        let Store::Mapped(mapped) = &self.features else { return };
        let mut query = self.query_of(rows.start);
        let mut next: Option<Range<usize>> = None;
        while query < self.n_queries() && self.offsets[query] < rows.end {
            let first = mapped.file.start(mapped.queries.get(query));
            let own = first..first + self.offsets[query + 1] - self.offsets[query];
            match &mut next {
                Some(run) if run.end == own.start => run.end = own.end,
                _ => {
                    next.replace(own).into_iter().for_each(|run| mapped.file.advise(run, advice));
                }
            }
            query += 1;
        }
        next.into_iter().for_each(|run| mapped.file.advise(run, advice));
    }
}

impl Rows for Dataset {
    fn count(&self) -> usize {
        self.n_documents()
    }

    fn with<O>(&self, rows: Range<usize>, work: impl FnOnce(&[f32]) -> O) -> O {
        if let Some(slice) = self.slice(rows.clone()) {
            return work(slice);
        }
        let mut values = BUFFER.take();
        values.resize(rows.len() * self.width, 0.0);
        self.fill_rows(rows, &mut values);
        let output = work(&values);
        BUFFER.set(values);
        output
    }

    fn are_mapped(&self) -> bool {
        self.is_mapped()
    }

    fn will_need(&self, rows: Range<usize>) {
        Dataset::will_need(self, rows);
    }
}
