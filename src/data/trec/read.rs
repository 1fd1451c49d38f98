//! Reading judgments and runs.

use super::{TrecFile, TrecQuery};
use crate::data::read::number::{BadNumber, parse_f32, parse_f64};
use crate::data::read::problem::Problem;
use crate::data::scores::parse_scores_of;
use crate::data::source::{read_whole, whole_file};
use crate::error::{Error, Result};
use crate::memory;
use std::collections::HashMap;
use std::path::Path;

/// Reads relevance judgments: `qid iteration docid relevance`. Negative relevance (not judged, spam) is kept; it counts as 0 in
/// [`join_run`](super::join_run).
///
/// # Errors
/// On the first bad line or repeated document of a query, and when the file is empty or cannot be read.
pub fn read_qrels(path: impl AsRef<Path>) -> Result<TrecFile> {
    let (name, text) = read_whole(path.as_ref())?;
    parse_qrels(&name, &text)
}

/// Parses relevance judgments from text in memory. Errors refer to it as `name`.
///
/// ```
/// let qrels = burnrank::data::trec::parse_qrels("q", b"7 0 doc-a 2\n7 0 doc-b -1\n")?;
/// assert_eq!(qrels.queries[0].documents, [("doc-a".into(), 2.0), ("doc-b".into(), -1.0)]);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// See [`read_qrels`].
pub fn parse_qrels(name: &str, text: &[u8]) -> Result<TrecFile> {
    parse(name, text, &QRELS)
}

/// Reads a run: `qid Q0 docid rank score tag`. Ranks are ignored, as in trec_eval; only scores count.
///
/// # Errors
/// On the first bad line or repeated document of a query, and when the file is empty or cannot be read.
pub fn read_run(path: impl AsRef<Path>) -> Result<TrecFile> {
    let (name, text) = read_whole(path.as_ref())?;
    parse_run(&name, &text)
}

/// Parses a run from text in memory. Errors refer to it as `name`.
///
/// ```
/// let run = burnrank::data::trec::parse_run("r", b"7 Q0 doc-a 1 0.75 mine\n")?;
/// assert_eq!(run.queries[0].documents, [("doc-a".into(), 0.75)]);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// See [`read_run`].
pub fn parse_run(name: &str, text: &[u8]) -> Result<TrecFile> {
    parse(name, text, &RUN)
}

/// The contents of a file of scores.
#[derive(Debug, Clone, PartialEq)]
pub enum Scored {
    /// One score per document, in the order of the data.
    Documents(Vec<f64>),
    /// Scores of documents by their ids.
    Run(TrecFile),
}

/// Reads a run as [`read_run`] does if the first line has six fields; otherwise reads one score per line for `documents`
/// documents as [`read_scores`](crate::data::read_scores) does. The file may be compressed.
///
/// # Errors
/// See [`read_scores`](crate::data::read_scores) and [`read_run`].
pub fn read_run_or_scores(path: impl AsRef<Path>, documents: usize) -> Result<Scored> {
    let (name, text) = read_whole(path.as_ref())?;
    let first = text.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let fields = first.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    if fields.count() == RUN.fields {
        return parse_run(&name, &text).map(Scored::Run);
    }
    parse_scores_of(&name, &text, documents).map(Scored::Documents)
}

/// Layout of a line.
struct Format {
    fields: usize,
    document: usize,
    value: usize,
    what: &'static str,
    number: fn(&[u8]) -> std::result::Result<f64, BadNumber>,
    line: &'static str,
}

const QRELS: Format = Format {
    fields: 4,
    document: 2,
    value: 3,
    what: "relevance",
    // Labels are f32, as in data files.
    number: |text| parse_f32(text).map(f64::from),
    line: "qid iteration docid relevance",
};

const RUN: Format =
    Format { fields: 6, document: 2, value: 4, what: "score", number: parse_f64, line: "qid Q0 docid rank score tag" };

fn parse(name: &str, text: &[u8], format: &Format) -> Result<TrecFile> {
    let mut queries: Vec<TrecQuery> = Vec::new();
    let mut indices: HashMap<&str, usize> = HashMap::new();
    let mut seen: HashMap<(usize, &str), usize> = HashMap::new();
    let lines = memchr::memchr_iter(b'\n', text).count() as u64 + 1;
    // Estimate for the ids and growing hash tables.
    let bytes = lines.saturating_mul(240).saturating_add(text.len() as u64);
    memory::ask(bytes, &format!("{lines} lines of {name}"), "split the file")?;
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let fail = |problem: Box<Problem>| Error::from(problem.at(name, number + 1));
        let line = std::str::from_utf8(line).map_err(|_| fail(Problem::invalid_utf8(0, line)))?;
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        if fields.is_empty() {
            continue;
        }
        if fields.len() != format.fields {
            let problem = format!("{} fields in", fields.len());
            return Err(fail(Problem::new(0, line.trim().as_bytes(), problem, format!("expected {}", format.line))));
        }
        let at = |field: usize| fields[field].as_ptr() as usize - line.as_ptr() as usize;
        let value = (format.number)(fields[format.value].as_bytes());
        let value = value.map_err(|bad| {
            fail(Problem::number(at(format.value), fields[format.value].as_bytes(), format.what, bad))
        })?;
        let (id, document) = (fields[0], fields[format.document]);
        let query = *indices.entry(id).or_insert_with(|| {
            queries.push(TrecQuery { id: id.to_owned(), documents: Vec::new() });
            queries.len() - 1
        });
        if let Some(first) = seen.insert((query, document), number + 1) {
            let remedy = format!("query '{id}' has it on line {first} already: remove one of them");
            return Err(fail(Problem::new(at(format.document), document.as_bytes(), "duplicate document", remedy)));
        }
        queries[query].documents.push((document.to_owned(), value));
    }
    if queries.is_empty() {
        return Err(whole_file(name, "the file is empty", &format!("expected lines of {}", format.line)));
    }
    Ok(TrecFile { queries })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_scores_are_distinguished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let read = |text: &[u8], documents| {
            std::fs::write(&path, text).unwrap();
            read_run_or_scores(&path, documents)
        };
        assert_eq!(read(b"0.5\n2\n", 2).unwrap(), Scored::Documents(vec![0.5, 2.0]));
        assert!(read(b"0.5\n2\n", 3).unwrap_err().to_string().contains("2 scores for 3 documents"));
        let run = b"\n7 Q0 a 1 0.5 t\n";
        let expected = Scored::Run(parse_run("r", run).unwrap());
        assert_eq!(read(run, 9).unwrap(), expected);
        assert_eq!(read(&zstd::encode_all(&run[..], 1).unwrap(), 9).unwrap(), expected);
        assert!(read(b"7 Q0 a 1 0.5\n", 1).unwrap_err().to_string().contains("bad score '7 Q0 a 1 0.5'"));
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, expected) in [
            (
                "1 Q0 a 1 0.5 t\n1 Q0 b 1 0.5\n",
                "r:2:1: 5 fields in '1 Q0 b 1 0.5': expected qid Q0 docid rank score tag",
            ),
            ("1 Q0 a 1 x t\n", "r:1:10: bad score 'x': expected a number"),
            ("1 Q0 a 1 nan t\n", "r:1:10: score is not a number 'nan'"),
            ("1 Q0 a 1 1 t\n\n1 Q0 a 2 0 t", "r:3:6: duplicate document 'a': query '1' has it on line 1 already"),
            (" \n", "r: the file is empty: expected lines of qid Q0 docid rank score tag"),
        ] {
            let error = parse_run("r", text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert!(parse_qrels("q", b"1 0 a\xff 1\n").unwrap_err().to_string().starts_with("q:1:6: invalid UTF-8"));
        assert!(parse_qrels("q", b"1 0 a 1\n1 0 a 0\n").unwrap_err().to_string().contains("duplicate document"));
    }
}
