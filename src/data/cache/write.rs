//! Writing a cache part by part, with memory for one part, the labels and the query ids.

use super::draft::Draft;
use super::header::{self, Header, Section};
use super::ids::Ids;
use super::map::{CacheMap, map};
use super::origin::Origin;
use super::survey;
use super::values::{Encoder, Rounding};
use super::widen::widen_rows;
use crate::data::dataset::Dataset;
use crate::data::read::{MAX_FEATURES, Skipped};
use crate::data::source::whole_file;
use crate::data::{FeatureNames, source};
use crate::error::{Error, Result};
use crate::memory;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of feature values encoded at a time.
const VALUES_AT_ONCE: usize = 1 << 20;

/// Options for writing a cache.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CacheOptions {
    /// Round the features to f16, which halves the file and keeps three significant digits.
    pub half: bool,
    /// Feature names that override those of the data.
    pub feature_names: Option<FeatureNames>,
    /// Index of the first feature in the text: 0 or 1.
    pub first_index: u32,
    /// Write the cache even if nonzero values become 0 in f16. Error messages call this `force`.
    pub allow_underflow: bool,
    /// Fail instead of replacing a file that exists when the cache is complete.
    pub keep_existing: bool,
}

/// Summary of a cache that was written.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheReport {
    /// Number of queries.
    pub queries: usize,
    /// Number of documents.
    pub documents: usize,
    /// Number of features.
    pub features: usize,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Rounding errors, for f16.
    pub rounding: Option<Rounding>,
    /// Bad lines of the text that were skipped.
    pub skipped: Skipped,
}

/// Facts about a text that are known when it has been read to the end.
#[derive(Debug, Clone, Default)]
pub(super) struct TextFacts {
    pub origin: Option<Origin>,
    pub sparse: bool,
    pub highest_label: (f32, usize),
    pub bytes: u64,
    pub skipped: Skipped,
}

/// Writes a cache from parts of whole queries.
///
/// ```
/// use burnrank::data::cache::{CacheOptions, CacheWriter};
/// use burnrank::{ReadOptions, Synthetic, read};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("all.cache");
/// let generator = Synthetic { queries: 6, ..Synthetic::net() }.generator()?;
/// let mut writer = CacheWriter::create(&path, CacheOptions { first_index: 1, ..Default::default() })?;
/// for start in [0, 3] {
///     writer.push(&generator.part(start..start + 3)?.0)?;
/// }
/// assert_eq!(writer.finish(false)?.queries, 6);
/// assert_eq!(read(&path, &ReadOptions::default())?.data, generator.dataset()?);
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug)]
pub struct CacheWriter {
    path: PathBuf,
    draft: Draft,
    file: BufWriter<File>,
    options: CacheOptions,
    encoder: Encoder,
    width: usize,
    /// Runs of rows that were written with fewer features than the present `width`: number of rows and their width.
    narrow: Vec<(usize, usize)>,
    /// Number of rows of the present width.
    wide: usize,
    labels: Vec<f32>,
    offsets: Vec<u64>,
    query_ends: Vec<u64>,
    query_text: Vec<u8>,
    ids: Option<Ids>,
    /// Whether features that parts leave out are missing rather than 0.
    sparse_missing: bool,
    /// Value of features that parts leave out.
    padding: f32,
    /// Feature names of the data.
    names: Option<Vec<String>>,
}

impl CacheWriter {
    /// Starts the file at `path`, which appears when it is complete.
    ///
    /// # Errors
    /// When the file cannot be written, or the options are invalid.
    pub fn create(path: impl AsRef<Path>, options: CacheOptions) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        if cfg!(target_endian = "big") {
            return Err(Error::Config("caches are supported on little-endian machines only".into()));
        }
        if options.first_index > 1 {
            return Err(Error::Config(format!("the first feature index is 0 or 1, not {}", options.first_index)));
        }
        let draft = Draft::new(&path)?;
        let file = draft.file.try_clone().map_err(|error| Error::io(&path, "create", error))?;
        let mut writer = CacheWriter {
            encoder: Encoder::new(options.half, options.first_index),
            file: BufWriter::with_capacity(1 << 20, file),
            path,
            draft,
            options,
            width: 0,
            narrow: Vec::new(),
            wide: 0,
            labels: Vec::new(),
            offsets: vec![0],
            query_ends: Vec::new(),
            query_text: Vec::new(),
            ids: None,
            sparse_missing: false,
            padding: 0.0,
            names: None,
        };
        writer.put(&[0; header::BYTES])?;
        Ok(writer)
    }

    /// Appends whole queries. Parts may have different numbers of features; the others are 0, or missing if the parts are
    /// [`sparse_missing`](Dataset::is_sparse_missing).
    ///
    /// # Errors
    /// When the file cannot be written, a label is not a number of 0 or more, a value is too large for f16, or the feature names,
    /// or the meaning of features that are left out, differ from those of earlier parts.
    pub fn push(&mut self, data: &Dataset) -> Result<()> {
        if let Some(row) = data.labels().iter().position(|label| !(label.is_finite() && *label >= 0.0)) {
            return Err(Error::Data(format!(
                "label {} of document {row} (from 0) cannot be written",
                data.labels()[row]
            )));
        }
        if let Some(names) = data.feature_names() {
            let first = self.names.get_or_insert_with(|| names.to_vec());
            if *first != names {
                return Err(Error::Mismatch("the parts of a cache have different feature names".into()));
            }
        }
        if self.labels.is_empty() {
            (self.sparse_missing, self.padding) = (data.is_sparse_missing(), data.padding());
        } else if self.sparse_missing != data.is_sparse_missing() {
            let message = "features that are left out are 0 in some parts of a cache, and missing in others";
            return Err(Error::Mismatch(message.into()));
        }
        self.widen(data.n_features())?;
        let (from, to) = (data.n_features(), self.width);
        let first = self.labels.len();
        let (file, encoder) = (&mut self.file, &mut self.encoder);
        let failed = |error| Error::io(&self.path, "write", error);
        data.for_rows(VALUES_AT_ONCE, |rows, values| {
            let bytes = encoder.encode(values, first + rows.start..first + rows.end, [from, to], data.padding())?;
            file.write_all(bytes).map_err(failed)
        })?;
        self.wide += data.n_documents();
        let what = || format!("the labels and query ids of {}", self.path.display());
        memory::reserve(&mut self.labels, data.n_documents(), &what(), "split the file")?;
        self.labels.extend_from_slice(data.labels());
        for (query, id) in data.query_ids().iter().enumerate() {
            self.offsets.push((first + data.offsets()[query + 1]) as u64);
            self.query_text.extend_from_slice(id.as_bytes());
            self.query_ends.push(self.query_text.len() as u64);
        }
        if data.has_document_ids() && self.ids.is_none() {
            self.ids = Some(Ids::new(&self.path, first)?);
        }
        match &mut self.ids {
            Some(ids) => ids.push(data, &self.path),
            None => Ok(()),
        }
    }

    /// Increases the width of the rows that follow.
    fn widen(&mut self, width: usize) -> Result<()> {
        if width <= self.width {
            return Ok(());
        }
        if width > MAX_FEATURES {
            return Err(Error::Data(format!("{width} features are too many: the maximum is {MAX_FEATURES}")));
        }
        if self.wide > 0 {
            self.narrow.push((std::mem::take(&mut self.wide), self.width));
        }
        self.width = width;
        Ok(())
    }

    /// Returns the final size of the features in bytes.
    pub(super) fn feature_bytes(&self) -> u64 {
        let value = if self.options.half { 2 } else { 4 };
        (self.labels.len() as u64).saturating_mul(self.width as u64).saturating_mul(value)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| Error::io(&self.path, "write", error))
    }

    /// Completes the file and gives it its name. `sparse` is stored as [`Dataset::is_sparse`].
    ///
    /// # Errors
    /// When there are no documents, a query id is repeated, a name belongs to a missing feature, a nonzero value becomes 0 in f16
    /// without [`CacheOptions::allow_underflow`], or the file cannot be written.
    pub fn finish(self, sparse: bool) -> Result<CacheReport> {
        let highest = self.labels.iter().fold(0.0, |best: f32, &label| best.max(label));
        let highest_label = (highest, 0);
        self.finish_with(TextFacts { sparse, highest_label, ..TextFacts::default() })
    }

    pub(super) fn finish_with(mut self, facts: TextFacts) -> Result<CacheReport> {
        if self.labels.is_empty() {
            return Err(Error::Data("there are no documents to write".into()));
        }
        if !self.options.allow_underflow {
            self.encoder.check_underflow()?;
        }
        let own = self.names.take().filter(|names| names.len() == self.width);
        let given = self.options.feature_names.as_ref().map(|names| names.of_width(self.width)).transpose()?;
        let names = given.or(own);
        let names: String = names.iter().flatten().map(|name| format!("{name}\n")).collect();
        self.file.flush().map_err(|error| Error::io(&self.path, "write", error))?;
        if !self.narrow.is_empty() {
            self.narrow.push((self.wide, self.width));
            let padding = self.encoder.bytes_of(self.padding);
            let widened = widen_rows(&mut self.draft.file, &self.narrow, self.width, &padding);
            widened.map_err(|error| Error::io(&self.path, "write", error))?;
        }
        let (documents, queries) = (self.labels.len() as u64, self.query_ends.len() as u64);
        let mut header = Header {
            file_bytes: 0,
            checksum: 0,
            ids_checksum: 0,
            documents,
            queries,
            width: self.width as u64,
            value_bytes: if self.options.half { 2 } else { 4 },
            sparse: facts.sparse,
            document_ids: self.ids.is_some(),
            feature_names: !names.is_empty(),
            source: facts.origin.is_some(),
            sparse_missing: self.sparse_missing,
            first_index: self.options.first_index,
            highest_label: facts.highest_label.0,
            highest_line: facts.highest_label.1 as u64,
            text_bytes: facts.bytes,
            skipped_lines: facts.skipped.lines as u64,
            stamp: facts.origin.as_ref().map_or([0; 3], |origin| origin.stamp),
            sections: std::array::from_fn(|_| header::BYTES as u64..header::BYTES as u64),
        };
        header.sections[Section::Features as usize].end += self.feature_bytes();
        let seek = SeekFrom::Start(header.sections[Section::Features as usize].end);
        self.file.seek(seek).map_err(|error| Error::io(&self.path, "write", error))?;
        let le = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        self.section(&mut header, Section::Offsets, &le(&self.offsets))?;
        let labels: Vec<u8> = self.labels.iter().flat_map(|label| label.to_le_bytes()).collect();
        self.section(&mut header, Section::Labels, &labels)?;
        drop(labels);
        self.section(&mut header, Section::QueryEnds, &le(&self.query_ends))?;
        let text = std::mem::take(&mut self.query_text);
        self.section(&mut header, Section::QueryText, &text)?;
        let ids = self.ids.take().map(Ids::files).transpose().map_err(|error| Error::io(&self.path, "write", error))?;
        let ids = ids.map_or([None, None], |ids| ids.map(Some));
        for (section, file) in [Section::DocumentEnds, Section::DocumentText].into_iter().zip(ids) {
            let start = self.align()?;
            let copied = file.map_or(Ok(0), |mut file| std::io::copy(&mut file, &mut self.file));
            let length = copied.map_err(|error| Error::io(&self.path, "write", error))?;
            header.sections[section as usize] = start..start + length;
        }
        self.section(&mut header, Section::FeatureNames, names.as_bytes())?;
        let survey = self.survey(&header, &text)?;
        self.section(&mut header, Section::Columns, &survey.columns)?;
        self.section(&mut header, Section::Fingerprints, &le(&survey.fingerprints))?;
        self.section(&mut header, Section::Blocks, &le(&survey.blocks))?;
        let source = facts.origin.as_ref().and_then(|origin| origin.path.to_str()).unwrap_or_default();
        self.section(&mut header, Section::Source, source.as_bytes())?;
        let bytes = self.seal(header)?;
        let rounding = self.options.half.then_some(self.encoder.rounding);
        let (queries, documents, features) = (queries as usize, documents as usize, self.width);
        self.draft.publish(!self.options.keep_existing)?;
        Ok(CacheReport { queries, documents, features, bytes, rounding, skipped: facts.skipped })
    }

    /// Appends a section.
    fn section(&mut self, header: &mut Header, section: Section, bytes: &[u8]) -> Result<()> {
        let start = self.align()?;
        self.put(bytes)?;
        header.sections[section as usize] = start..start + bytes.len() as u64;
        Ok(())
    }

    /// Pads with zeros to the next section start and returns it.
    fn align(&mut self) -> Result<u64> {
        let at = self.file.stream_position().map_err(|error| Error::io(&self.path, "write", error))?;
        let start = at.next_multiple_of(64);
        self.put(&[0; 64][..(start - at) as usize])?;
        Ok(start)
    }

    /// Reads all features again to compute statistics, fingerprints and checksums.
    fn survey(&mut self, header: &Header, query_text: &[u8]) -> Result<survey::Survey> {
        self.file.flush().map_err(|error| Error::io(&self.path, "write", error))?;
        let map = map(&self.draft.file, &self.path)?;
        let file = Arc::new(CacheMap::new(map, header.clone(), None, None));
        let mut start = 0;
        let ids = self.query_ends.iter().map(|&end| {
            let id = String::from_utf8_lossy(&query_text[start..end as usize]).into_owned();
            start = end as usize;
            id
        });
        let ids: Vec<String> = ids.collect();
        let mut seen = std::collections::HashSet::with_capacity(ids.len());
        if let Some(duplicate) = ids.iter().find(|id| !seen.insert(id.as_str())) {
            return Err(Error::Data(format!("query id {duplicate:?} appears twice: give each query a unique id")));
        }
        let offsets = self.offsets.iter().map(|&offset| offset as usize).collect();
        let data = Dataset::mapped(file.clone(), std::mem::take(&mut self.labels), ids, offsets);
        Ok(survey::survey(&data, &file))
    }

    /// Writes the header with all checksums and returns the size of the file in bytes.
    fn seal(&mut self, mut header: Header) -> Result<u64> {
        let path = self.path.clone();
        let failed = |error| Error::io(&path, "write", error);
        self.file.flush().map_err(failed)?;
        header.file_bytes = self.file.stream_position().map_err(failed)?;
        let map = map(&self.draft.file, &self.path)?;
        header.ids_checksum = survey::ids_checksum(&map, &header);
        header.checksum = header::checksum(&header.to_bytes(), &map, &header.sections);
        drop(map);
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        self.put(&header.to_bytes())?;
        self.file.flush().map_err(failed)?;
        Ok(header.file_bytes)
    }

    /// Fails if the features would be far larger than their text.
    pub(super) fn check_size(&self, text_bytes: u64) -> Result<()> {
        let (bytes, limit) = (self.feature_bytes(), source::SMALL.max(text_bytes.saturating_mul(source::SPARSEST)));
        if bytes <= limit {
            return Ok(());
        }
        let (documents, width) = (self.labels.len(), self.width);
        let problem = format!(
            "{documents} documents of {width} features would need {} for {} of text",
            memory::readable(bytes),
            memory::readable(text_bytes)
        );
        let name = self.path.display().to_string();
        Err(whole_file(&name, &problem, "number the features without gaps"))
    }
}
