//! Runs of documents to queries, and rows to a [`Dataset`].

use super::block::{Identifier, Outcome, Run};
use super::options::Skipped;
use super::problem::Problem;
use crate::data::dataset::{Dataset, DocumentIds};
use crate::data::source::whole_file;
use crate::error::{Error, ParseError, Result};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// A query and where its documents are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query<'a> {
    pub id: Cow<'a, str>,
    /// The rows, in order.
    pub rows: Vec<Range<usize>>,
    /// The first document's line, and where it starts in the text.
    pub line: usize,
    pub offset: usize,
}

/// What to do with a query that comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Returning {
    /// Fail.
    Reject,
    /// Add the documents to the query's first ones.
    Regroup,
    /// Leave the documents out.
    Skip,
}

/// Queries that ended before this text began, with their lines.
pub(super) type Earlier = HashMap<Box<str>, usize>;

/// Joins the runs of each query.
///
/// The lines and errors of left out documents go to `skipped`.
pub(super) fn by_id<'a>(
    text: &'a [u8],
    name: &str,
    outcomes: &[Outcome],
    returning: Returning,
    earlier: &Earlier,
    skipped: &mut Vec<(usize, usize, ParseError)>,
) -> std::result::Result<Vec<Query<'a>>, Box<ParseError>> {
    let mut queries: Vec<Query<'a>> = Vec::new();
    let mut places: HashMap<&'a str, usize> = HashMap::new();
    for run in outcomes.iter().flat_map(|outcome| &outcome.runs) {
        // Every id was checked when its line was parsed.
        let id = std::str::from_utf8(&text[run.id.clone()]).unwrap_or_default();
        let before = earlier.get(id).copied();
        let place = places.get(id).copied();
        let (Some(place), None) = (place, before) else {
            if let Some(line) = before {
                leave_out(name, id, run, line, returning, skipped)?;
            } else {
                places.insert(id, queries.len());
                let rows = vec![run.rows.clone()];
                queries.push(Query { id: id.into(), rows, line: run.line, offset: run.offset });
            }
            continue;
        };
        if place + 1 == queries.len() || returning == Returning::Regroup {
            let rows = &mut queries[place].rows;
            match rows.last_mut() {
                Some(last) if last.end == run.rows.start => last.end = run.rows.end,
                _ => rows.push(run.rows.clone()),
            }
        } else {
            leave_out(name, id, run, queries[place].line, returning, skipped)?;
        }
    }
    Ok(queries)
}

fn leave_out(
    name: &str,
    id: &str,
    run: &Run,
    first: usize,
    returning: Returning,
    skipped: &mut Vec<(usize, usize, ParseError)>,
) -> std::result::Result<(), Box<ParseError>> {
    let remedy = format!("its first documents start on line {first}; put them together, or read with --regroup");
    let error =
        Problem::new(run.id.start - run.offset, id.as_bytes(), "query id comes back", remedy).at(name, run.line);
    match returning {
        Returning::Skip => {
            skipped.push((run.line, run.rows.len(), *error));
            Ok(())
        }
        _ => Err(error),
    }
}

/// Cuts the documents into queries of `counts` documents, named 1, 2, ...; rows of bad lines count, but are left out.
pub(super) fn by_counts(
    name: &str,
    outcomes: &[Outcome],
    rows: usize,
    counts: &[usize],
) -> Result<Vec<Query<'static>>> {
    let total: usize = counts.iter().sum();
    if total != rows {
        return Err(Error::Mismatch(format!(
            "{name}: {rows} documents, but the query file counts {total}: it belongs to another file, or one was cut"
        )));
    }
    let mut runs = outcomes.iter().flat_map(|outcome| &outcome.runs).cloned().peekable();
    let mut queries = Vec::new();
    let mut end = 0;
    for (number, count) in counts.iter().enumerate() {
        end += count;
        let mut query = Query { id: (number + 1).to_string().into(), rows: Vec::new(), line: 0, offset: 0 };
        while let Some(run) = runs.peek_mut().filter(|run| run.rows.start < end) {
            if query.rows.is_empty() {
                (query.line, query.offset) = (run.line, run.offset);
            }
            query.rows.push(run.rows.start..run.rows.end.min(end));
            run.rows.start = end;
            if run.rows.start >= run.rows.end {
                runs.next();
            }
        }
        // A query whose lines are all bad is gone.
        if !query.rows.is_empty() {
            queries.push(query);
        }
    }
    Ok(queries)
}

/// The counts of a LightGBM query file.
pub(super) fn parse_counts(text: &[u8], name: &str) -> Result<Vec<usize>> {
    let mut counts = Vec::new();
    let mut total = 0_usize;
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let trimmed = line.trim_ascii();
        if trimmed.is_empty() {
            continue;
        }
        let count =
            std::str::from_utf8(trimmed).ok().and_then(|text| text.parse::<usize>().ok()).filter(|&count| count > 0);
        let sum = count.and_then(|count| total.checked_add(count));
        let (Some(count), Some(sum)) = (count, sum) else {
            let remedy = "expected the number of documents of one query, 1 or more";
            return Err(Problem::new(0, trimmed, "bad query size", remedy).at(name, number + 1).into());
        };
        total = sum;
        counts.push(count);
    }
    if counts.is_empty() {
        return Err(whole_file(name, "the file is empty", "expected one number a line, the documents of each query"));
    }
    Ok(counts)
}

/// The rows of the queries as a data set, moved only where they are not in place already.
pub(super) fn dataset(
    text: &[u8],
    width: usize,
    mut features: Vec<f32>,
    mut labels: Vec<f32>,
    queries: &[Query],
    outcomes: &[Outcome],
) -> Result<Dataset> {
    let ranges: Vec<Range<usize>> = queries.iter().flat_map(|query| query.rows.iter().cloned()).collect();
    let ascending = ranges.windows(2).all(|pair| pair[0].end <= pair[1].start);
    if ascending {
        let mut to = 0;
        for rows in &ranges {
            if rows.start != to {
                features.copy_within(rows.start * width..rows.end * width, to * width);
                labels.copy_within(rows.clone(), to);
            }
            to += rows.len();
        }
        features.truncate(to * width);
        labels.truncate(to);
    } else {
        features = ranges.iter().flat_map(|rows| &features[rows.start * width..rows.end * width]).copied().collect();
        labels = ranges.iter().flat_map(|rows| &labels[rows.clone()]).copied().collect();
    }
    let counts = queries.iter().map(|query| (query.id.clone().into_owned(), query.rows.iter().map(Range::len).sum()));
    let data = Dataset::new(width, features, labels, counts.collect())?;
    match document_ids(text, outcomes, ranges) {
        Some(ids) => data.with_document_ids(ids),
        None => Ok(data),
    }
}

/// The ids of the chosen rows, empty where there is none; `None` when no row has one.
fn document_ids(text: &[u8], outcomes: &[Outcome], rows: Vec<Range<usize>>) -> Option<DocumentIds> {
    let all: Vec<&Identifier> = outcomes.iter().flat_map(|outcome| &outcome.identifiers).collect();
    if all.is_empty() {
        return None;
    }
    let mut any = false;
    let ids = rows
        .into_iter()
        .flatten()
        .map(|row| {
            let found = all.binary_search_by_key(&row, |identifier| identifier.row).ok().map(|at| all[at]);
            any |= found.is_some();
            let bytes = found.map_or(&[][..], |found| &text[found.start..found.start + found.length as usize]);
            std::str::from_utf8(bytes).unwrap_or_default()
        })
        .collect();
    any.then_some(ids)
}

/// The bad lines before line `before`, from parsing and from grouping.
pub(super) fn skipped_lines(
    outcomes: &mut [Outcome],
    left_out: Vec<(usize, usize, ParseError)>,
    before: usize,
) -> Skipped {
    let mut skipped = Skipped::default();
    for outcome in outcomes {
        skipped.lines += outcome.skipped.iter().filter(|&&line| line < before).count();
        skipped.first.append(&mut outcome.first_skipped);
    }
    for (line, documents, error) in left_out {
        skipped.lines += if line < before { documents } else { 0 };
        skipped.first.push(error);
    }
    skipped.first.retain(|error| error.line < before);
    skipped.first.sort_by_key(|error| error.line);
    skipped.first.truncate(Skipped::SHOWN);
    skipped
}
