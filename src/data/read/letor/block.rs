//! Parsing text in blocks of whole lines: all blocks are surveyed, then parsed in parallel into the final matrix.

use super::line::{self, Extent, Rules};
use crate::data::read::columns::Fields;
use crate::data::read::parsed::{Identifier, ParsedBlock, Run};
use crate::data::read::report::Skipped;
use crate::data::source::{Text, changed};
use crate::error::Result;
use crate::memory;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A block of whole lines, with the facts from a quick survey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Byte range in the text.
    pub text: Range<usize>,
    /// Number of the first line.
    pub line: usize,
    /// Rows of its document lines, including bad ones.
    pub rows: Range<usize>,
    /// Maximum of the last feature indices of its lines.
    pub last_index: usize,
}

/// Splits the text into blocks of about `size` bytes and surveys them. `line` is the number of the first line.
pub(super) fn survey(text: Text, size: usize, line: usize) -> Result<Vec<Block>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let min_end = start.saturating_add(size.max(1)).min(text.len());
        let end = text.line_end(min_end - 1)?;
        ranges.push(start..end);
        start = end;
    }
    let mut blocks = each(ranges, |_, range| text.with(range.clone(), |bytes| survey_block(bytes, range)))?;
    let (mut line, mut row) = (line, 0);
    for block in &mut blocks {
        // Makes the counts of each block absolute.
        let (lines, rows) = (block.line, block.rows.end);
        (block.line, block.rows) = (line, row..row + rows);
        (line, row) = (line + lines, row + rows);
    }
    Ok(blocks)
}

fn survey_block(text: &[u8], range: Range<usize>) -> Block {
    let mut block = Block { text: range, line: 0, rows: 0..0, last_index: 0 };
    let mut at = 0;
    while at < text.len() {
        // Fast path for empty lines, of which there may be gigabytes.
        if text[at] == b'\n' {
            (block.line, at) = (block.line + 1, at + 1);
            continue;
        }
        let tail = &text[at..];
        let extent = Extent::of(tail);
        block.line += 1;
        if extent.is_document() {
            block.rows.end += 1;
            block.last_index = block.last_index.max(extent.last_index(tail));
        }
        at += extent.next;
    }
    block
}

/// Settings for parsing a text.
pub(super) struct ParseSettings<'a> {
    pub text: Text<'a>,
    pub name: &'a str,
    pub rules: Rules,
    pub lenient: bool,
    /// Called with the size in bytes of each parsed block.
    pub done: &'a (dyn Fn(usize) + Sync),
}

/// Parses all blocks into `features`, with `width` columns, and `labels`.
///
/// In strict mode the first bad line of the text is in the outcome of its block. Earlier blocks are complete; later ones are
/// unspecified.
pub(super) fn parse(
    settings: &ParseSettings,
    blocks: &[Block],
    width: usize,
    features: &mut [f32],
    labels: &mut [f32],
) -> Result<Vec<ParsedBlock>> {
    let mut work = Vec::with_capacity(blocks.len());
    let (mut features, mut labels) = (features, labels);
    for block in blocks {
        let (own_features, rest) = features.split_at_mut(block.rows.len() * width);
        let (own_labels, other_labels) = labels.split_at_mut(block.rows.len());
        (features, labels) = (rest, other_labels);
        work.push((block, own_features, own_labels));
    }
    let first_bad = AtomicUsize::new(usize::MAX);
    each(work, |number, (block, features, labels)| {
        if first_bad.load(Ordering::Relaxed) < number {
            return Ok(ParsedBlock::default());
        }
        let rows = block.rows.len() as u64;
        // Worst case: every document is a separate query.
        let worst = memory::bytes_of::<(Run, Identifier)>(rows) + (block.text.len() as u64).saturating_sub(1 << 20);
        memory::ask(worst, &format!("the queries of {}", settings.name), "split the file")?;
        let outcome = settings
            .text
            .with(block.text.clone(), |text| parse_block(settings, text, block, width, features, labels))?;
        let Some(outcome) = outcome else { return Err(changed(settings.name)) };
        if outcome.error.is_some() {
            first_bad.fetch_min(number, Ordering::Relaxed);
        }
        (settings.done)(block.text.len());
        Ok(outcome)
    })
}

/// Returns `None` if the number of documents differs from the survey, because the file was modified.
fn parse_block(
    settings: &ParseSettings,
    text: &[u8],
    block: &Block,
    width: usize,
    features: &mut [f32],
    labels: &mut [f32],
) -> Option<ParsedBlock> {
    let mut outcome = ParsedBlock::default();
    let (mut at, mut line, mut row) = (0, block.line, 0);
    while at < text.len() {
        if text[at] == b'\n' {
            (line, at) = (line + 1, at + 1);
            continue;
        }
        let tail = &text[at..];
        let extent = Extent::of(tail);
        let parsed = if extent.is_document() {
            let cells = features.get_mut(row * width..(row + 1) * width)?;
            if settings.rules.left_out != 0.0 {
                cells.fill(settings.rules.left_out);
            }
            line::parse(tail, extent, &settings.rules, cells).map(Some)
        } else {
            line::check_comment(tail, extent).map(|()| None)
        };
        match parsed {
            Ok(None) => {}
            Ok(Some(document)) => {
                *labels.get_mut(row)? = document.label;
                outcome.record_width(document.width, document.listed, line);
                let (start, end) = document.query;
                let name = document.document.map(|(start, end)| &tail[start..end]);
                let fields = Fields { label: document.label, query: &tail[start..end], document: name };
                outcome.add_document(block.rows.start + row, line, start, fields);
            }
            Err(problem) if settings.lenient => {
                outcome.skipped += 1;
                if outcome.first_skipped.len() < Skipped::SHOWN {
                    outcome.first_skipped.push(*problem.at(settings.name, line));
                }
            }
            Err(problem) => {
                outcome.error = Some(problem.at(settings.name, line));
                return Some(outcome);
            }
        }
        row += usize::from(extent.is_document());
        at += extent.next;
        line += 1;
    }
    outcome.shrink();
    (row == block.rows.len()).then_some(outcome)
}

/// Calls `work` on each item, in parallel if there are several. Returns the results in order.
fn each<I: Send, O: Send>(items: Vec<I>, work: impl Fn(usize, I) -> Result<O> + Sync) -> Result<Vec<O>> {
    if items.len() < 2 {
        return items.into_iter().enumerate().map(|(number, item)| work(number, item)).collect();
    }
    items.into_par_iter().enumerate().with_max_len(1).map(|(number, item)| work(number, item)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_any_size_are_whole_lines() {
        let text = b"1 qid:1 1:1\n\n# c\n0 qid:1 7:1\r\n  \n2 qid:2 3:1";
        for size in 1..60 {
            let blocks = survey(Text::Memory(text), size, 1).unwrap();
            assert_eq!((blocks[0].text.start, blocks[0].line, blocks[0].rows.start), (0, 1, 0));
            for pair in blocks.windows(2) {
                assert_eq!(pair[0].text.end, pair[1].text.start);
                assert_eq!(text[pair[0].text.end - 1], b'\n');
                assert_eq!(pair[0].rows.end, pair[1].rows.start);
                let lines = text[pair[0].text.clone()].iter().filter(|&&byte| byte == b'\n').count();
                assert_eq!(pair[0].line + lines, pair[1].line);
            }
            let last = &blocks[blocks.len() - 1];
            assert_eq!((last.text.end, last.rows.end), (text.len(), 3));
            assert_eq!(blocks.iter().map(|block| block.last_index).max(), Some(7));
        }
    }
}
