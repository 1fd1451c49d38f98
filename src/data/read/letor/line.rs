//! Parsing a line: `<label> qid:<id> <index>:<value> ... # comment`.

use super::other_format::{looks_like_a_table, rename};
use crate::data::read::number::{digits, is_missing, parse_f32, scan_f32};
use crate::data::read::options::MAX_FEATURES;
use crate::data::read::problem::Problem;
use memchr::{memchr, memchr2};
use std::borrow::Cow;

/// Rules for lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Index of the first feature.
    pub first_index: usize,
    /// Whether lines have query ids; otherwise a query file defines the queries.
    pub inline_query: bool,
    /// Number of features, if given.
    pub width: Option<usize>,
    /// Value of features that are listed, but missing.
    pub missing: f32,
    /// Value of features that are not listed.
    pub left_out: f32,
}

/// Positions of the parts of a line, in the text that starts with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// End of label, query and features, without trailing whitespace; 0 if there are none.
    pub data: usize,
    /// Start of the comment, after the `#`; equal to `text` if there is none.
    pub comment: usize,
    /// End of the line, without the line terminator.
    pub text: usize,
    /// Start of the next line.
    pub next: usize,
}

impl Extent {
    /// Finds the parts of the first line of `tail`.
    #[inline]
    pub(super) fn of(tail: &[u8]) -> Self {
        let (mut data, mut comment, mut text) = (tail.len(), tail.len(), tail.len());
        match memchr2(b'\n', b'#', tail) {
            Some(hash) if tail[hash] == b'#' => {
                (data, comment) = (hash, hash + 1);
                text = memchr(b'\n', &tail[comment..]).map_or(text, |length| comment + length);
            }
            Some(end) => (data, comment, text) = (end, end, end),
            None => {}
        }
        let next = tail.len().min(text + 1);
        while data > 0 && matches!(tail[data - 1], b' ' | b'\t' | b'\r') {
            data -= 1;
        }
        Extent { data, comment, text, next }
    }

    /// Whether the line has more than whitespace and a comment.
    pub(super) fn is_document(&self) -> bool {
        self.data > 0
    }

    /// Returns the index of the last feature of the line, usually the largest one, or 0 if it is not found.
    pub(super) fn last_index(&self, tail: &[u8]) -> usize {
        let data = &tail[..self.data];
        let Some(colon) = memchr::memrchr(b':', data) else { return 0 };
        let start = data[..colon].iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
        let (index, end) = digits(data, start, 0);
        if end == colon && colon - start <= 9 { index as usize } else { 0 }
    }
}

/// A parsed document line, without its features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    pub label: f32,
    /// Start and end of the query id; empty if a query file defines the queries.
    pub query: (usize, usize),
    /// Start and end of the document id.
    pub document: Option<(usize, usize)>,
    /// One more than the largest column.
    pub width: usize,
    /// Number of features listed.
    pub listed: usize,
}

/// Parses the document line at the start of `tail` and writes the features that fit to `row`.
pub(super) fn parse(tail: &[u8], extent: Extent, rules: &Rules, row: &mut [f32]) -> Result<Line, Box<Problem>> {
    let end = extent.data;
    let start = skip_blanks(tail, 0, end);
    let (label, at) = parse_label(tail, start, end)?;
    let (query, mut at) = parse_query(tail, at, end, rules)?;
    let (mut next_column, mut ascending, mut width, mut listed) = (0, true, 0, 0);
    loop {
        at = skip_blanks(tail, at, end);
        if at >= end {
            break;
        }
        let (index, value, after) = match scan_feature(tail, at, end) {
            Some(feature) => feature,
            None => parse_feature(tail, at, end, rules.missing)?,
        };
        let column = index.wrapping_sub(rules.first_index);
        if column >= rules.width.unwrap_or(MAX_FEATURES) {
            return Err(bad_index(tail, at, end, index, rules));
        }
        ascending &= column >= next_column;
        next_column = column + 1;
        width = width.max(next_column);
        listed += 1;
        if let Some(cell) = row.get_mut(column) {
            *cell = value;
        }
        at = after;
    }
    if !ascending {
        reject_duplicates(tail, query.1, end)?;
    }
    let document = parse_comment(tail, extent)?;
    Ok(Line { label, query, document, width, listed })
}

fn parse_label(tail: &[u8], start: usize, end: usize) -> Result<(f32, usize), Box<Problem>> {
    let stop = token_end(tail, start, end);
    let text = &tail[start..stop];
    match parse_f32(text) {
        Ok(label) if label < 0.0 => {
            Err(Problem::new(start, text, "negative label", "a label is a number of 0 or more"))
        }
        // Adding 0 converts -0 to 0.
        Ok(label) => Ok((label + 0.0, stop)),
        Err(_) if text.iter().any(|byte| matches!(byte, b',' | b';')) || looks_like_a_table(&tail[start..end]) => {
            Err(Problem::new(start, text, "bad label", rename()))
        }
        Err(bad) => Err(Problem::number(start, text, "label", bad)),
    }
}

/// Returns the start and end of the query id, and the start of the features.
fn parse_query(tail: &[u8], at: usize, end: usize, rules: &Rules) -> Result<((usize, usize), usize), Box<Problem>> {
    let start = skip_blanks(tail, at, end);
    let stop = token_end(tail, start, end);
    let text = &tail[start..stop];
    let Some(id) = text.strip_prefix(b"qid:") else {
        return if rules.inline_query { Err(missing_query(tail, start, end)) } else { Ok(((at, at), at)) };
    };
    if !rules.inline_query {
        return Err(Problem::new(
            start,
            text,
            "query id in addition to a query file",
            "remove either `query_file` or the ids",
        ));
    }
    if id.is_empty() {
        return Err(Problem::new(start, text, "empty query id", "expected a name after the colon, such as qid:7"));
    }
    if std::str::from_utf8(id).is_err() {
        return Err(Problem::invalid_utf8(start, text));
    }
    if id.iter().any(u8::is_ascii_control) {
        return Err(Problem::new(start, text, "control character in query id", "remove it"));
    }
    Ok(((start + 4, stop), stop))
}

#[cold]
fn missing_query(tail: &[u8], start: usize, end: usize) -> Box<Problem> {
    let mut at = start;
    while at < end {
        let stop = token_end(tail, at, end);
        if tail[at..stop].starts_with(b"qid:") {
            return misplaced_query(at, &tail[at..stop]);
        }
        at = skip_blanks(tail, stop, end);
    }
    let text = &tail[start..token_end(tail, start, end)];
    let remedy = match looks_like_a_table(&tail[start..end]) {
        true => Cow::from(rename()),
        false => "expected qid:<id> after the label; for a file without ids use `query_file`".into(),
    };
    Problem::new(start, text, "missing query id", remedy)
}

#[cold]
fn misplaced_query(at: usize, text: &[u8]) -> Box<Problem> {
    Problem::new(at, text, "misplaced query id", "expected it once, between the label and the features")
}

/// Parses the usual spelling of a feature. Returns its index, its value and its end.
#[inline(always)]
fn scan_feature(tail: &[u8], at: usize, end: usize) -> Option<(usize, f32, usize)> {
    let (index, colon) = digits(tail, at, 0);
    if colon == at || colon - at > 9 || tail.get(colon) != Some(&b':') {
        return None;
    }
    let (value, length) = scan_f32(&tail[colon + 1..])?;
    let after = colon + 1 + length;
    let ends = after == end || (after < end && matches!(tail[after], b' ' | b'\t'));
    (ends && value.is_finite()).then_some((index as usize, value, after))
}

/// Parses any spelling of a feature. Returns its index, its value or `missing`, and its end, or the problem.
#[cold]
fn parse_feature(tail: &[u8], at: usize, end: usize, missing: f32) -> Result<(usize, f32, usize), Box<Problem>> {
    let stop = token_end(tail, at, end);
    let text = &tail[at..stop];
    if text.starts_with(b"qid:") {
        return Err(misplaced_query(at, text));
    }
    let Some(colon) = memchr(b':', text) else {
        return Err(Problem::new(at, text, "bad feature", "expected <index>:<value>, such as 3:0.25"));
    };
    let (index, value) = (&text[..colon], &text[colon + 1..]);
    if index.is_empty() || !index.iter().all(u8::is_ascii_digit) {
        return Err(Problem::new(
            at,
            text,
            "bad feature index in",
            "expected an integer before the colon, such as 3:0.25",
        ));
    }
    let value = match parse_f32(value) {
        Ok(value) => value,
        Err(_) if is_missing(value) => missing,
        Err(bad) => return Err(Problem::number(at + colon + 1, value, "feature value", bad)),
    };
    let significant = index.iter().position(|&digit| digit != b'0').map_or(&index[..0], |zeros| &index[zeros..]);
    // Numbers of more than nine digits may overflow, and are out of range like the largest of nine.
    let index = if significant.len() > 9 { 999_999_999 } else { digits(significant, 0, 0).0 as usize };
    Ok((index, value, stop))
}

#[cold]
fn bad_index(tail: &[u8], at: usize, end: usize, index: usize, rules: &Rules) -> Box<Problem> {
    let token = &tail[at..token_end(tail, at, end)];
    let text = &token[..memchr(b':', token).unwrap_or(token.len())];
    let column = index.wrapping_sub(rules.first_index);
    if index < rules.first_index {
        let remedy = "indices start at 1; for a file with indices from 0 use `first_index` 0";
        return Problem::new(at, text, "feature index too small", remedy);
    }
    match rules.width {
        Some(width) if column < MAX_FEATURES => {
            let last = (width + rules.first_index).saturating_sub(1);
            let remedy = format!("with {width} features the largest index is {last}");
            Problem::new(at, text, "feature index too large", remedy)
        }
        _ => {
            let last = MAX_FEATURES + rules.first_index - 1;
            let remedy = format!("the largest index allowed is {last}: number the features without gaps");
            Problem::new(at, text, "feature index too large", remedy)
        }
    }
}

/// Called only for lines whose features are not in ascending order: others have no duplicates.
#[cold]
fn reject_duplicates(tail: &[u8], from: usize, end: usize) -> Result<(), Box<Problem>> {
    let mut features = Vec::new();
    let mut at = skip_blanks(tail, from, end);
    while at < end {
        let (index, _, after) = parse_feature(tail, at, end, 0.0)?;
        features.push((index, at));
        at = skip_blanks(tail, after, end);
    }
    features.sort_unstable();
    let second = features.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1).min();
    second.map_or(Ok(()), |at| {
        let text = &tail[at..token_end(tail, at, end)];
        Err(Problem::new(at, text, "duplicate feature", "list each feature of a document once"))
    })
}

/// Finds the document id in comments such as `#docid = GX000-00-0000000 inc = 1 prob = 0.02`.
fn parse_comment(tail: &[u8], extent: Extent) -> Result<Option<(usize, usize)>, Box<Problem>> {
    check_comment(tail, extent)?;
    let comment = &tail[extent.comment..extent.text];
    if comment.is_empty() {
        return Ok(None);
    }
    let id_start = memchr::memmem::find_iter(comment, b"docid").find_map(|at| {
        let starts = at == 0 || comment[at - 1].is_ascii_whitespace();
        let equals = skip_space(comment, at + 5);
        (starts && comment.get(equals) == Some(&b'=')).then(|| skip_space(comment, equals + 1))
    });
    Ok(id_start.map(|start| {
        let length = comment[start..].iter().position(u8::is_ascii_whitespace).unwrap_or(comment.len() - start);
        (extent.comment + start, extent.comment + start + length)
    }))
}

/// Checks that a comment is UTF-8.
pub(super) fn check_comment(tail: &[u8], extent: Extent) -> Result<(), Box<Problem>> {
    let comment = &tail[extent.comment..extent.text];
    match std::str::from_utf8(comment) {
        Ok(_) => Ok(()),
        Err(_) => Err(Problem::invalid_utf8(extent.comment, comment)),
    }
}

fn skip_space(text: &[u8], at: usize) -> usize {
    text[at..].iter().position(|byte| !byte.is_ascii_whitespace()).map_or(text.len(), |count| at + count)
}

#[inline(always)]
fn skip_blanks(tail: &[u8], mut at: usize, end: usize) -> usize {
    while at < end && matches!(tail[at], b' ' | b'\t') {
        at += 1;
    }
    at
}

fn token_end(tail: &[u8], at: usize, end: usize) -> usize {
    memchr2(b' ', b'\t', &tail[at..end]).map_or(end, |length| at + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { first_index: 1, inline_query: true, width: None, missing: f32::NAN, left_out: 0.0 };

    fn line(text: &str) -> Result<(Line, Vec<f32>), String> {
        let mut row = vec![0.0; 4];
        let extent = Extent::of(text.as_bytes());
        let line =
            parse(text.as_bytes(), extent, &RULES, &mut row).map_err(|problem| problem.at("f", 1).to_string())?;
        Ok((line, row))
    }

    #[test]
    fn whitespace_line_ends_and_order_do_not_matter() {
        for text in [
            "2 qid:a 1:0.5 3:-1",
            "2 qid:a 1:0.5 3:-1\nnext",
            "\t2\tqid:a  3:-1 1:0.5 \t\r\n",
            "2.0 qid:a 1:.5 3:-1e0#x\n",
            "2e0 qid:a 0001:+5e-1 3:-1 # docidx = 3\r\n",
        ] {
            let (line, row) = line(text).unwrap();
            assert_eq!((line.label, &text[line.query.0..line.query.1], line.document), (2.0, "a", None), "{text}");
            assert_eq!((row.as_slice(), line.width), ([0.5, 0.0, -1.0, 0.0].as_slice(), 3), "{text}");
        }
    }

    #[test]
    fn the_document_id_is_taken_from_the_comment() {
        for (comment, id) in [
            ("docid = GX000-00 inc = 1 prob = 0.5", Some("GX000-00")),
            (" inc=1 docid=x#y\r", Some("x#y")),
            (" docid = ", Some("")),
            (" mydocid = 3", None),
            (" docid 3", None),
            (" foo", None),
        ] {
            let text = format!("1 qid:1 1:1 #{comment}\n");
            let document = line(&text).unwrap().0.document.map(|(start, end)| &text[start..end]);
            assert_eq!(document, id, "{comment}");
        }
    }

    #[test]
    fn the_last_index_is_found_without_parsing() {
        for (text, index) in
            [("1 qid:1 1:2 17:3\n", 17), ("1 qid:7\n", 0), ("1 qid:1 5:1 # 9:1\n", 5), ("#", 0), ("9:1", 9)]
        {
            assert_eq!(Extent::of(text.as_bytes()).last_index(text.as_bytes()), index, "{text}");
        }
    }

    #[test]
    fn a_number_at_the_end_of_the_file_is_read() {
        assert_eq!(line("1 qid:1 1:1 2:12345.678").unwrap().1, [1.0, 12345.678, 0.0, 0.0]);
    }

    #[test]
    fn tables_are_recognised() {
        for text in ["label,qid,f1", "2,1,0.5", "label;qid", "label, qid", "label\tqid", "2\t1\t0.5", "1,http://x,2"] {
            let message = line(text).unwrap_err();
            assert!(message.contains("this looks like CSV") && message.contains(".csv"), "{text}: {message}");
        }
        for text in ["x qid:1 1:2", "label", "1 1:2", "1\t1:2", "x\tqid:1\t1:0.5"] {
            assert!(!line(text).unwrap_err().contains("CSV"), "{text}");
        }
    }

    #[test]
    fn the_label_minus_zero_becomes_zero() {
        assert!(line("-0 qid:1 1:1").unwrap().0.label.is_sign_positive());
    }

    #[test]
    fn a_stray_carriage_return_is_not_whitespace() {
        assert_eq!(
            line("1 qid:1 1:0.5\r2 qid:1").unwrap_err(),
            "f:1:11: bad feature value '0.5\\r2': expected a number such as 0.25 or 1e-3"
        );
    }
}
