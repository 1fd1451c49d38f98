//! Grouping documents into queries, and building a [`Dataset`] from their rows.

use super::options::ReadOptions;
use super::parsed::{Identifier, ParsedBlock, Run};
use super::problem::Problem;
use super::reader::Origin;
use super::report::{REAPPEARS, Skipped};
use crate::data::dataset::{Dataset, DocumentIds};
use crate::data::source::{read_whole, whole_file};
use crate::error::{Error, ParseError, Result};
use crate::memory;
use std::collections::HashMap;
use std::ops::Range;

/// Queries before the piece being read.
#[derive(Debug, Clone, Copy)]
pub(in crate::data) struct Before<'a> {
    /// Complete queries.
    pub earlier: &'a Earlier,
    /// The query that may continue, and its first line.
    pub open: Option<(&'a str, usize)>,
}

/// A query and the rows of its documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::data) struct Query {
    pub id: String,
    pub rows: Vec<Range<usize>>,
    /// Line of the first document.
    pub line: usize,
}

/// What to do with documents of a query that is already complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reappearing {
    /// Fail.
    Reject,
    /// Append them to the query.
    Regroup,
    /// Skip them.
    Skip,
}

/// Ids of complete queries, with their first lines.
pub(in crate::data) type Earlier = HashMap<Box<str>, usize>;

/// Upper bound on the memory for one query while its file is read.
const QUERY_BYTES: u64 = 320;

/// Groups the documents of each query according to the options. Returns no queries if a query file defines them.
pub(in crate::data) fn by_options(
    origin: Origin<'_>,
    outcomes: &[ParsedBlock],
    options: &ReadOptions,
    before: Before<'_>,
    skipped: &mut Skipped,
) -> Result<Vec<Query>> {
    let reappearing = match options {
        ReadOptions { query_file: Some(_), .. } => return Ok(Vec::new()),
        ReadOptions { regroup: true, .. } => Reappearing::Regroup,
        ReadOptions { lenient: true, .. } => Reappearing::Skip,
        _ => Reappearing::Reject,
    };
    by_id(origin, outcomes, reappearing, before, skipped)
}

/// Groups the runs of each query.
///
/// An open query comes first, without rows if it does not continue. Skipped documents are counted in `skipped`.
fn by_id(
    origin: Origin<'_>,
    outcomes: &[ParsedBlock],
    reappearing: Reappearing,
    Before { earlier, open }: Before<'_>,
    skipped: &mut Skipped,
) -> Result<Vec<Query>> {
    let name = origin.name;
    let runs: usize = outcomes.iter().map(|outcome| outcome.runs.len()).sum();
    let text: usize = outcomes.iter().flat_map(|outcome| &outcome.runs).map(|run| run.id.len()).sum();
    let bytes = (runs as u64).saturating_mul(QUERY_BYTES).saturating_add(text as u64);
    memory::ask(bytes, &format!("the queries of {name}"), "split the file, or shorten the ids")?;
    let mut queries: Vec<Query> = Vec::with_capacity(runs + 1);
    let mut positions: HashMap<&str, usize> = HashMap::with_capacity(runs + 1);
    if let Some((id, line)) = open {
        positions.insert(id, 0);
        queries.push(Query { id: id.to_owned(), rows: Vec::new(), line });
    }
    for (outcome, run) in outcomes.iter().flat_map(|outcome| outcome.runs.iter().map(move |run| (outcome, run))) {
        let id = outcome.name(&run.id);
        let before = earlier.get(id).copied();
        let position = positions.get(id).copied();
        let (Some(position), None) = (position, before) else {
            if let Some(line) = before {
                skip_run(origin, id, run, line, reappearing, skipped)?;
            } else {
                positions.insert(id, queries.len());
                queries.push(Query { id: id.to_owned(), rows: vec![run.rows.clone()], line: run.line });
            }
            continue;
        };
        if position + 1 == queries.len() || reappearing == Reappearing::Regroup {
            let rows = &mut queries[position].rows;
            match rows.last_mut() {
                Some(last) if last.end == run.rows.start => last.end = run.rows.end,
                _ => rows.push(run.rows.clone()),
            }
        } else {
            skip_run(origin, id, run, queries[position].line, reappearing, skipped)?;
        }
    }
    Ok(queries)
}

/// Counts a run of a query that reappears as skipped, or fails.
fn skip_run(
    Origin { name, unit }: Origin<'_>,
    id: &str,
    run: &Run,
    first: usize,
    reappearing: Reappearing,
    skipped: &mut Skipped,
) -> std::result::Result<(), Box<ParseError>> {
    let error = || {
        let remedy = format!("its first documents start on {unit} {first}; put them together, or use `regroup`");
        Problem::new(run.column, id.as_bytes(), REAPPEARS, remedy).at(name, run.line)
    };
    if reappearing != Reappearing::Skip {
        return Err(error());
    }
    skipped.lines += run.rows.len();
    if skipped.first.len() < Skipped::SHOWN {
        skipped.record(*error());
    }
    Ok(())
}

/// Splits the documents into queries of `counts` documents, named 1, 2, ... Bad lines are counted, but skipped.
pub(super) fn by_counts(name: &str, outcomes: &[ParsedBlock], rows: usize, counts: &[usize]) -> Result<Vec<Query>> {
    let total: usize = counts.iter().sum();
    if total != rows {
        return Err(Error::Mismatch(format!(
            "{name}: {rows} documents, but the query file lists {total}: check that the files belong together and are complete"
        )));
    }
    memory::ask(
        (counts.len() as u64).saturating_mul(QUERY_BYTES),
        &format!("the queries of {name}"),
        "split the file",
    )?;
    let mut runs = outcomes.iter().flat_map(|outcome| &outcome.runs).cloned().peekable();
    let mut queries = Vec::with_capacity(counts.len());
    let mut end = 0;
    for (number, count) in counts.iter().enumerate() {
        end += count;
        let mut query = Query { id: (number + 1).to_string(), rows: Vec::new(), line: 0 };
        while let Some(run) = runs.peek_mut().filter(|run| run.rows.start < end) {
            if query.rows.is_empty() {
                query.line = run.line;
            }
            query.rows.push(run.rows.start..run.rows.end.min(end));
            run.rows.start = end;
            if run.rows.start >= run.rows.end {
                runs.next();
            }
        }
        // Queries whose lines are all bad are dropped.
        if !query.rows.is_empty() {
            queries.push(query);
        }
    }
    Ok(queries)
}

/// Reads the number of documents of each query from the query file, if one is given.
pub(super) fn counts(options: &ReadOptions) -> Result<Option<Vec<usize>>> {
    let Some(path) = &options.query_file else { return Ok(None) };
    let (name, text) = read_whole(path)?;
    parse_counts(&text, &name).map(Some)
}

/// Parses a LightGBM query file.
fn parse_counts(text: &[u8], name: &str) -> Result<Vec<usize>> {
    let mut counts = Vec::new();
    let lines = memchr::memchr_iter(b'\n', text).count() + 1;
    memory::reserve(&mut counts, lines, &format!("{lines} lines of {name}"), "split the file")?;
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
            let remedy = "expected the number of documents of a query, 1 or more";
            return Err(Problem::new(0, trimmed, "bad query size", remedy).at(name, number + 1).into());
        };
        total = sum;
        counts.push(count);
    }
    if counts.is_empty() {
        return Err(whole_file(
            name,
            "the file is empty",
            "expected the number of documents of each query, one per line",
        ));
    }
    Ok(counts)
}

/// Builds a data set from the rows of the queries, in place if they are in ascending order.
pub(super) fn dataset(
    name: &str,
    width: usize,
    mut features: Vec<f32>,
    mut labels: Vec<f32>,
    queries: Vec<Query>,
    outcomes: &[ParsedBlock],
) -> Result<Dataset> {
    let ranges = row_ranges(&queries);
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
        let (what, remedy) = (format!("the regrouped documents of {name}"), "put the documents of each query together");
        let mut regrouped = Vec::new();
        memory::reserve(&mut regrouped, features.len(), &what, remedy)?;
        ranges.iter().for_each(|rows| regrouped.extend_from_slice(&features[rows.start * width..rows.end * width]));
        features = regrouped;
        labels = ranges.iter().flat_map(|rows| &labels[rows.clone()]).copied().collect();
    }
    let ids = document_ids(name, outcomes, ranges)?;
    let counts = queries.into_iter().map(|query| (query.id, query.rows.iter().map(Range::len).sum()));
    let data = Dataset::new(width, features, labels, counts.collect())?;
    match ids {
        Some(ids) => data.with_document_ids(ids),
        None => Ok(data),
    }
}

/// Returns the rows of all queries in order; adjacent ranges are merged.
pub(super) fn row_ranges(queries: &[Query]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for rows in queries.iter().flat_map(|query| &query.rows) {
        match ranges.last_mut() {
            Some(last) if last.end == rows.start => last.end = rows.end,
            _ => ranges.push(rows.clone()),
        }
    }
    ranges
}

/// Returns the document ids of the given rows, empty where missing, or `None` if no row has one.
fn document_ids(name: &str, outcomes: &[ParsedBlock], rows: Vec<Range<usize>>) -> Result<Option<DocumentIds>> {
    let count: usize = outcomes.iter().map(|outcome| outcome.identifiers.len()).sum();
    if count == 0 {
        return Ok(None);
    }
    let n_rows: usize = rows.iter().map(Range::len).sum();
    let text: usize = outcomes.iter().map(|outcome| outcome.names.len()).sum();
    let bytes = memory::bytes_of::<(&ParsedBlock, &Identifier)>(count as u64)
        + memory::bytes_of::<usize>(n_rows as u64).saturating_add(text as u64).saturating_mul(2);
    memory::ask(bytes, &format!("the document ids of {name}"), "remove the comments")?;
    let mut all: Vec<(&ParsedBlock, &Identifier)> = Vec::with_capacity(count);
    outcomes.iter().for_each(|outcome| all.extend(outcome.identifiers.iter().map(|identifier| (outcome, identifier))));
    let mut any = false;
    let ids = rows
        .into_iter()
        .flatten()
        .map(|row| {
            let entry = all.binary_search_by_key(&row, |(_, identifier)| identifier.row).ok().map(|at| all[at]);
            any |= entry.is_some();
            entry.map_or("", |(outcome, identifier)| outcome.name(&identifier.name))
        })
        .collect();
    Ok(any.then_some(ids))
}

/// Combines the lines skipped by parsing and by grouping.
pub(super) fn skipped_lines(outcomes: &mut [ParsedBlock], by_grouping: Skipped) -> Skipped {
    let mut skipped = Skipped::default();
    for outcome in outcomes {
        skipped.lines += outcome.skipped;
        skipped.first.append(&mut outcome.first_skipped);
        skipped.first.truncate(Skipped::SHOWN);
    }
    skipped.lines += by_grouping.lines;
    skipped.first.extend(by_grouping.first);
    skipped.first.sort_by_key(|error| error.line);
    skipped.first.truncate(Skipped::SHOWN);
    skipped
}
