//! Parsing a piece of text of whole lines.

use super::block::{self, Block, ParseSettings};
use super::line::Rules;
use crate::data::read::group::{self, Before};
use crate::data::read::options::{MAX_FEATURES, ReadOptions};
use crate::data::read::parsed::Parsed;
use crate::data::read::reader::{Origin, Progress};
use crate::data::read::report::{ReadProgress, Skipped};
use crate::data::source::{SMALL, SPARSEST, Text};
use crate::error::{Error, ParseError, Result};
use crate::memory;
use std::sync::atomic::{AtomicU64, Ordering};

/// A piece of text of whole lines.
pub(super) struct TextPiece<'a> {
    pub name: &'a str,
    pub text: Text<'a>,
    pub first_line: usize,
    pub options: &'a ReadOptions,
    pub before: Before<'a>,
}

impl TextPiece<'_> {
    /// Parses into a matrix whose width is guessed from the last features of the lines, and again if the guess was wrong.
    pub(super) fn parse(&self, progress: Progress<'_>) -> Result<Parsed> {
        let blocks = block::survey(self.text, self.options.block_bytes, self.first_line)?;
        let documents = blocks.last().map_or(0, |block| block.rows.end);
        let last_index = blocks.iter().map(|block| block.last_index).max().unwrap_or(0);
        let first_index = self.options.first_index as usize;
        let mut width = self.options.width.unwrap_or((last_index + 1).saturating_sub(first_index));
        if !self.is_plausible(documents, width) {
            // The guess may come from a bad line: checks all lines without storing features.
            width = 0;
        }
        loop {
            let parsed = self.parse_as(&blocks, documents, width, progress)?;
            let (widest, line) = parsed
                .outcomes
                .iter()
                .map(|outcome| outcome.widest)
                .fold((0, 0), |best, next| if next.0 > best.0 { next } else { best });
            let needed = self.options.width.unwrap_or(widest);
            if needed == width {
                return Ok(parsed);
            }
            if !self.is_plausible(documents, needed) {
                return Err(self.too_large(documents, needed, line));
            }
            width = needed;
        }
    }

    fn parse_as(&self, blocks: &[Block], documents: usize, width: usize, progress: Progress<'_>) -> Result<Parsed> {
        let what = format!("{documents} documents of {width} features from {}", self.name);
        let remedy = "split the file, or keep fewer features";
        let cells = documents.saturating_mul(width);
        let mut features = memory::zeros(cells, &what, remedy)?;
        let mut labels = memory::zeros(documents, &what, remedy)?;
        let (done, total) = (AtomicU64::new(0), Some(self.text.len() as u64));
        let missing = self.options.null.unwrap_or(f32::NAN);
        let rules = Rules {
            first_index: self.options.first_index as usize,
            inline_query: self.options.query_file.is_none(),
            width: self.options.width,
            missing,
            left_out: if self.options.sparse_missing { missing } else { 0.0 },
        };
        let report = |bytes: usize| {
            let done = done.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
            progress(ReadProgress { done, total });
        };
        let settings =
            ParseSettings { text: self.text, name: self.name, rules, lenient: self.options.lenient, done: &report };
        let mut outcomes = block::parse(&settings, blocks, width, &mut features, &mut labels)?;
        if let Some(bad) = outcomes.iter().position(|outcome| outcome.error.is_some()) {
            // A query may reappear on an earlier line than the bad one.
            outcomes.truncate(bad + 1);
            let origin = Origin::text(self.name);
            group::by_options(origin, &outcomes, self.options, self.before, &mut Skipped::default())?;
            if let Some(error) = outcomes.pop().and_then(|outcome| outcome.error) {
                return Err(error.into());
            }
        }
        let (sparse_missing, left_out) = (self.options.sparse_missing, rules.left_out);
        Ok(Parsed { width, features, labels, outcomes, sparse_missing, left_out })
    }

    /// Whether the size of the matrix is plausible for the size of the text. A width set by the user is always accepted.
    fn is_plausible(&self, documents: usize, width: usize) -> bool {
        let bytes = documents as u64 * width as u64 * 4;
        let allowed = SMALL.max(self.text.len() as u64 * SPARSEST);
        width <= MAX_FEATURES && (bytes <= allowed || self.options.width.is_some())
    }

    #[cold]
    fn too_large(&self, documents: usize, width: usize, line: usize) -> Error {
        let index = width + self.options.first_index as usize - 1;
        let size = documents as f64 * width as f64 * 4.0 / f64::from(1 << 30);
        let remedy = format!(
            "{documents} documents of {width} features make a matrix of {size:.1} GiB for {} bytes of text; number the features \
             without gaps, or set their number",
            self.text.len()
        );
        let (text, problem) = (index.to_string(), "feature index too large".to_owned());
        Box::new(ParseError { file: self.name.to_owned(), line, column: 0, text, problem, remedy }).into()
    }
}
