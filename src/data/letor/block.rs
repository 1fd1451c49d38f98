//! A text in blocks of whole lines: surveyed, then parsed in parallel straight into the final matrix.

use super::line::{self, Extent, Rules};
use super::options::Skipped;
use crate::error::ParseError;
use memchr::memchr;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Neighbouring documents of one query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// Where the query's id lies in the text.
    pub id: Range<usize>,
    /// The rows of the documents.
    pub rows: Range<usize>,
    /// The first document's line.
    pub line: usize,
    /// Where that line starts in the text.
    pub offset: usize,
}

/// A document's id: its row, and where it lies in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identifier {
    pub row: usize,
    pub start: usize,
    pub length: u32,
}

/// What was found in one block, apart from features and labels.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// In the order of the text. Rows of bad lines belong to none.
    pub runs: Vec<Run>,
    /// Of the documents that have one, in the order of the text.
    pub identifiers: Vec<Identifier>,
    /// The largest number of features of a document, and its line.
    pub widest: (usize, usize),
    /// The smallest number of features that a document states.
    pub fewest: Option<usize>,
    /// The highest label and its line.
    pub highest: (f32, usize),
    /// What ended the block early.
    pub error: Option<Box<ParseError>>,
    /// The lines that were left out.
    pub skipped: Vec<usize>,
    /// What is wrong with the first of them.
    pub first_skipped: Vec<ParseError>,
}

/// A stretch of whole lines, and what a quick look at it tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Its place in the text.
    pub text: Range<usize>,
    /// The number of its first line.
    pub line: usize,
    /// The rows of its documents, good or bad.
    pub rows: Range<usize>,
    /// The largest of its lines' last feature indices.
    pub last_index: usize,
}

/// Cuts the text into blocks of about `size` bytes, and looks through them; `line` is the number of the first line.
pub(super) fn survey(text: &[u8], size: usize, line: usize) -> Vec<Block> {
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let least = start.saturating_add(size.max(1)).min(text.len());
        let end = memchr(b'\n', &text[least - 1..]).map_or(text.len(), |length| least + length);
        ranges.push(start..end);
        start = end;
    }
    let mut blocks = each(ranges, |_, range| look_through(&text[range.clone()], range));
    let (mut line, mut row) = (line, 0);
    for block in &mut blocks {
        // Each block counted from zero.
        let (lines, rows) = (block.line, block.rows.end);
        (block.line, block.rows) = (line, row..row + rows);
        (line, row) = (line + lines, row + rows);
    }
    blocks
}

fn look_through(text: &[u8], range: Range<usize>) -> Block {
    let mut block = Block { text: range, line: 0, rows: 0..0, last_index: 0 };
    let mut at = 0;
    while at < text.len() {
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

/// What parsing a text needs to know.
pub(super) struct Task<'a> {
    pub text: &'a [u8],
    pub name: &'a str,
    pub rules: Rules,
    pub lenient: bool,
    /// Called with the bytes of each block that is done.
    pub done: &'a (dyn Fn(usize) + Sync),
}

/// Parses all blocks into `features`, of `width` columns, and `labels`.
///
/// In strict mode the first bad line of the text is in the outcome of its block; earlier blocks are complete, later ones may
/// be anything.
pub(super) fn parse(
    task: &Task,
    blocks: &[Block],
    width: usize,
    features: &mut [f32],
    labels: &mut [f32],
) -> Vec<Outcome> {
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
            return Outcome::default();
        }
        let outcome = parse_block(task, block, width, features, labels);
        if outcome.error.is_some() {
            first_bad.fetch_min(number, Ordering::Relaxed);
        }
        (task.done)(block.text.len());
        outcome
    })
}

fn parse_block(task: &Task, block: &Block, width: usize, features: &mut [f32], labels: &mut [f32]) -> Outcome {
    let mut outcome = Outcome::default();
    let (mut at, mut line, mut row) = (block.text.start, block.line, 0);
    while at < block.text.end {
        // The tail reaches beyond the block, so that numbers can be loaded eight bytes at once up to the last line.
        let tail = &task.text[at..];
        let extent = Extent::of(tail);
        let parsed = if extent.is_document() {
            let cells = &mut features[row * width..(row + 1) * width];
            line::parse(tail, extent, &task.rules, cells).map(Some)
        } else {
            line::parse_comment(tail, extent).map(|_| None)
        };
        match parsed {
            Ok(None) => {}
            Ok(Some(document)) => {
                labels[row] = document.label;
                outcome.add(task.text, block.rows.start + row, line, at, document);
            }
            Err(problem) if task.lenient => {
                outcome.skipped.push(line);
                if outcome.first_skipped.len() < Skipped::SHOWN {
                    outcome.first_skipped.push(*problem.at(task.name, line));
                }
            }
            Err(problem) => {
                outcome.error = Some(problem.at(task.name, line));
                return outcome;
            }
        }
        row += usize::from(extent.is_document());
        at += extent.next;
        line += 1;
    }
    outcome
}

impl Outcome {
    fn add(&mut self, text: &[u8], row: usize, line: usize, offset: usize, document: line::Line) {
        let id = offset + document.query.0..offset + document.query.1;
        if document.width > self.widest.0 {
            self.widest = (document.width, line);
        }
        self.fewest = Some(self.fewest.map_or(document.stated, |fewest| fewest.min(document.stated)));
        if document.label > self.highest.0 {
            self.highest = (document.label, line);
        }
        if let Some((start, end)) = document.document {
            let length = u32::try_from(end - start).unwrap_or(u32::MAX);
            self.identifiers.push(Identifier { row, start: offset + start, length });
        }
        match self.runs.last_mut() {
            Some(run) if run.rows.end == row && text[run.id.clone()] == text[id.clone()] => run.rows.end += 1,
            _ => self.runs.push(Run { id, rows: row..row + 1, line, offset }),
        }
    }
}

/// `work` on each item, in parallel when there are several, results in order.
fn each<I: Send, O: Send>(items: Vec<I>, work: impl Fn(usize, I) -> O + Sync) -> Vec<O> {
    if items.len() < 2 {
        return items.into_iter().enumerate().map(|(number, item)| work(number, item)).collect();
    }
    items.into_par_iter().enumerate().with_max_len(1).map(|(number, item)| work(number, item)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_lines_whatever_their_size() {
        let text = b"1 qid:1 1:1\n\n# c\n0 qid:1 7:1\r\n  \n2 qid:2 3:1";
        for size in 1..60 {
            let blocks = survey(text, size, 1);
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
