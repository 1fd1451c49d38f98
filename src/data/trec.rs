//! The files of trec_eval: judgements (`qid iteration docid relevance`) and runs (`qid Q0 docid rank score tag`).

use super::dataset::Dataset;
use super::letor::number::{BadNumber, parse_f32, parse_f64};
use super::letor::problem::Problem;
use super::scores::parse_scores_of;
use super::sink::write_whole;
use super::source::{read_whole, whole_file};
use crate::error::{Error, Result};
use crate::memory;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// What is known of the documents of each query: judgements, or the scores of a run.
///
/// Queries and documents stand in the order of the file; the lines of a query need not be neighbours.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrecFile {
    /// All queries.
    pub queries: Vec<TrecQuery>,
}

/// The documents of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct TrecQuery {
    /// The query's id.
    pub id: String,
    /// Each document's id and its relevance, or its score.
    pub documents: Vec<(String, f64)>,
}

/// One query of a run, judged: what a metric needs.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedQuery {
    /// The query's id.
    pub id: String,
    /// The labels of the retrieved documents, best score first, then those of the judged documents that were not retrieved.
    pub labels: Vec<f32>,
    /// The scores, in the same order; minus infinity for what was not retrieved.
    pub scores: Vec<f64>,
    /// Whether somebody judged the document, with a relevance of 0 or more, in the same order. Only bpref tells the difference.
    pub judged: Vec<bool>,
    /// The number of retrieved documents: the rest was judged, but is not in the run.
    pub retrieved: usize,
}

/// A run joined with its judgements.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Judged {
    /// The queries that are in both files, in the run's order.
    pub queries: Vec<JudgedQuery>,
    /// The ids of queries that are judged but not in the run. trec_eval leaves them out, and counts them as 0 with `-c`.
    pub not_in_run: Vec<String>,
    /// The ids of queries of the run that nobody judged. trec_eval leaves them out.
    pub not_judged: Vec<String>,
}

/// Reads judgements: `qid iteration docid relevance`. A negative relevance (not judged, spam) is kept, and counts as 0 when a
/// run is judged.
///
/// # Errors
/// On the first bad line; when a document is judged twice for a query; on an empty or unreadable file.
pub fn read_qrels(path: impl AsRef<Path>) -> Result<TrecFile> {
    let (name, text) = read_whole(path.as_ref())?;
    parse_qrels(&name, &text)
}

/// As [`read_qrels`], for a text in memory that errors call `name`.
///
/// ```
/// let qrels = burnrank::parse_qrels("q", b"7 0 doc-a 2\n7 0 doc-b -1\n")?;
/// assert_eq!(qrels.queries[0].documents, [("doc-a".into(), 2.0), ("doc-b".into(), -1.0)]);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// As [`read_qrels`].
pub fn parse_qrels(name: &str, text: &[u8]) -> Result<TrecFile> {
    parse(name, text, &QRELS)
}

/// Reads a run: `qid Q0 docid rank score tag`. Only the scores count, not the ranks, as in trec_eval.
///
/// # Errors
/// On the first bad line; when a document comes twice for a query; on an empty or unreadable file.
pub fn read_run(path: impl AsRef<Path>) -> Result<TrecFile> {
    let (name, text) = read_whole(path.as_ref())?;
    parse_run(&name, &text)
}

/// As [`read_run`], for a text in memory that errors call `name`.
///
/// ```
/// let run = burnrank::parse_run("r", b"7 Q0 doc-a 1 0.75 mine\n")?;
/// assert_eq!(run.queries[0].documents, [("doc-a".into(), 0.75)]);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// As [`read_run`].
pub fn parse_run(name: &str, text: &[u8]) -> Result<TrecFile> {
    parse(name, text, &RUN)
}

/// What a file says of the documents of a data set.
#[derive(Debug, Clone, PartialEq)]
pub enum Scored {
    /// One score per document, in the order of the data.
    Documents(Vec<f64>),
    /// The scores of documents by their ids.
    Run(TrecFile),
}

/// Reads one score per line for so many documents, as [`read_scores`](crate::read_scores), or a run, as [`read_run`]: a run
/// is told by the six fields of its first line, packed or not.
///
/// # Errors
/// As [`read_scores`](crate::read_scores) and [`read_run`].
pub fn read_run_or_scores(path: impl AsRef<Path>, documents: usize) -> Result<Scored> {
    let (name, text) = read_whole(path.as_ref())?;
    let first = text.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let fields = first.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    if fields.count() == RUN.fields {
        return parse_run(&name, &text).map(Scored::Run);
    }
    parse_scores_of(&name, &text, documents).map(Scored::Documents)
}

/// The places of a line's fields.
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
    // Labels are f32 everywhere else.
    number: |text| parse_f32(text).map(f64::from),
    line: "qid iteration docid relevance",
};

const RUN: Format =
    Format { fields: 6, document: 2, value: 4, what: "score", number: parse_f64, line: "qid Q0 docid rank score tag" };

fn parse(name: &str, text: &[u8], format: &Format) -> Result<TrecFile> {
    let mut queries: Vec<TrecQuery> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut seen: HashMap<(usize, &str), usize> = HashMap::new();
    let lines = memchr::memchr_iter(b'\n', text).count() as u64 + 1;
    // The ids and their places, in tables that grow.
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
        let place = *places.entry(id).or_insert_with(|| {
            queries.push(TrecQuery { id: id.to_owned(), documents: Vec::new() });
            queries.len() - 1
        });
        if let Some(first) = seen.insert((place, document), number + 1) {
            let remedy = format!("query '{id}' has it on line {first} already: remove one of them");
            return Err(fail(Problem::new(at(format.document), document.as_bytes(), "duplicate document", remedy)));
        }
        queries[place].documents.push((document.to_owned(), value));
    }
    if queries.is_empty() {
        return Err(whole_file(name, "the file is empty", &format!("expected lines of {}", format.line)));
    }
    Ok(TrecFile { queries })
}

/// Joins a run with its judgements as trec_eval does.
///
/// Unjudged documents have label 0; judged documents that the run lacks follow at the end with score minus infinity, so that
/// they count in the ideal order and among all relevant documents. Equal scores stand in trec_eval's order, the greater document
/// id first: judging by document order gives trec_eval's values, the other tie rules apply as usual.
///
/// ```
/// let run = burnrank::parse_run("r", b"7 Q0 a 1 0.5 t\n7 Q0 b 2 0.9 t\n")?;
/// let qrels = burnrank::parse_qrels("q", b"7 0 a 1\n7 0 c 2\n")?;
/// let judged = burnrank::join_run(&run, &qrels);
/// assert_eq!(judged.queries[0].labels, [0.0, 1.0, 2.0]);
/// assert_eq!(judged.queries[0].scores, [0.9, 0.5, f64::NEG_INFINITY]);
/// assert_eq!(judged.queries[0].retrieved, 2);
/// # Ok::<(), burnrank::Error>(())
/// ```
pub fn join_run(run: &TrecFile, qrels: &TrecFile) -> Judged {
    let judgements: HashMap<&str, &TrecQuery> = qrels.queries.iter().map(|query| (query.id.as_str(), query)).collect();
    let mut judged = Judged::default();
    for query in &run.queries {
        match judgements.get(query.id.as_str()) {
            Some(known) => judged.queries.push(join_query(query, known)),
            None => judged.not_judged.push(query.id.clone()),
        }
    }
    let run_ids: HashSet<&str> = run.queries.iter().map(|query| query.id.as_str()).collect();
    let missing = qrels.queries.iter().filter(|query| !run_ids.contains(query.id.as_str()));
    judged.not_in_run = missing.map(|query| query.id.clone()).collect();
    judged
}

fn join_query(run: &TrecQuery, judgements: &TrecQuery) -> JudgedQuery {
    let mut known: HashMap<&str, f64> = judgements.documents.iter().map(|(id, label)| (id.as_str(), *label)).collect();
    let mut documents: Vec<(&str, f64)> = run.documents.iter().map(|(id, score)| (id.as_str(), *score)).collect();
    // What is not a number comes last, and both zeros are one.
    let key = |score: f64| if score.is_nan() { f64::NEG_INFINITY } else { score + 0.0 };
    documents.sort_by(|a, b| key(b.1).total_cmp(&key(a.1)).then_with(|| b.0.cmp(a.0)));
    let mut joined: Vec<(Option<f64>, f64)> = documents.iter().map(|&(id, score)| (known.remove(id), score)).collect();
    let retrieved = joined.len();
    // What is left was not retrieved; in the order of the judgements.
    let rest = judgements.documents.iter().filter(|(id, _)| known.contains_key(id.as_str()));
    joined.extend(rest.map(|(_, label)| (Some(*label), f64::NEG_INFINITY)));
    JudgedQuery {
        id: run.id.clone(),
        labels: joined.iter().map(|(label, _)| label.map_or(0.0, |label| label.max(0.0) as f32)).collect(),
        scores: joined.iter().map(|(_, score)| *score).collect(),
        judged: joined.iter().map(|(label, _)| label.is_some_and(|label| label >= 0.0)).collect(),
        retrieved,
    }
}

impl TrecFile {
    /// The same run with scores as trec_eval holds them: f32, so that some that differ become equal.
    #[must_use]
    pub fn with_f32_scores(mut self) -> Self {
        let documents = self.queries.iter_mut().flat_map(|query| &mut query.documents);
        // A finite score stays finite at the lower end: minus infinity says that a document was not retrieved.
        let held = |score: f64| if score.is_finite() { (score as f32).max(f32::MIN) } else { score as f32 };
        documents.for_each(|(_, score)| *score = f64::from(held(*score)));
        self
    }

    /// The first query and document that comes twice: an id that does not tell which of them is meant.
    pub fn first_repeated(&self) -> Option<(&str, &str)> {
        self.queries.iter().find_map(|query| {
            let mut seen = HashSet::new();
            let repeated = query.documents.iter().find(|(document, _)| !seen.insert(document.as_str()));
            repeated.map(|(document, _)| (query.id.as_str(), document.as_str()))
        })
    }

    /// The labels of a data set as judgements. A document without id is called `<query>.<place in the query, from 1>`.
    pub fn from_labels(data: &Dataset) -> Self {
        Self::from_values(data, data.labels())
    }

    /// The scores of a data set's documents as a run, with ids as in [`TrecFile::from_labels`].
    ///
    /// # Errors
    /// When there is not one score per document.
    pub fn from_scores<S: Copy + Into<f64>>(data: &Dataset, scores: &[S]) -> Result<Self> {
        if scores.len() != data.n_documents() {
            return Err(Error::Mismatch(format!("{} scores for {} documents", scores.len(), data.n_documents())));
        }
        Ok(Self::from_values(data, scores))
    }

    fn from_values<V: Copy + Into<f64>>(data: &Dataset, values: &[V]) -> Self {
        let queries = data.queries().map(|query| {
            let first = query.rows.start;
            let documents = query.rows.map(|row| {
                let named = data.document_id(row).filter(|id| !id.is_empty()).map(str::to_owned);
                (named.unwrap_or_else(|| format!("{}.{}", query.id, row - first + 1)), values[row].into())
            });
            TrecQuery { id: query.id.to_owned(), documents: documents.collect() }
        });
        TrecFile { queries: queries.collect() }
    }

    /// The text of a judgements file.
    ///
    /// # Errors
    /// When an id is empty or holds a blank, a document comes twice, or a number is not finite.
    pub fn to_qrels(&self) -> Result<String> {
        self.check()?;
        let lines = self.queries.iter().flat_map(|query| {
            // Labels are f32: so is their shortest spelling.
            let line =
                |(document, relevance): &(String, f64)| format!("{} 0 {document} {}\n", query.id, *relevance as f32);
            query.documents.iter().map(line)
        });
        Ok(lines.collect())
    }

    /// The text of a run file, each query's best score first, as the run of the system called `tag`.
    ///
    /// # Errors
    /// As [`TrecFile::to_qrels`]; also for the tag.
    pub fn to_run(&self, tag: &str) -> Result<String> {
        self.check()?;
        check_field("tag", tag)?;
        let mut text = String::new();
        for query in &self.queries {
            let mut documents: Vec<&(String, f64)> = query.documents.iter().collect();
            // Stable: equal scores stay in the order of the data.
            documents.sort_by(|a, b| b.1.total_cmp(&a.1));
            for (rank, (document, score)) in documents.into_iter().enumerate() {
                text.push_str(&format!("{} Q0 {document} {} {score} {tag}\n", query.id, rank + 1));
            }
        }
        Ok(text)
    }

    /// Writes a judgements file, complete or not at all.
    ///
    /// # Errors
    /// As [`TrecFile::to_qrels`], and when the file cannot be written.
    pub fn write_qrels(&self, path: impl AsRef<Path>) -> Result<()> {
        write_text(path.as_ref(), &self.to_qrels()?)
    }

    /// Writes a run file, complete or not at all.
    ///
    /// # Errors
    /// As [`TrecFile::to_run`], and when the file cannot be written.
    pub fn write_run(&self, path: impl AsRef<Path>, tag: &str) -> Result<()> {
        write_text(path.as_ref(), &self.to_run(tag)?)
    }

    fn check(&self) -> Result<()> {
        let mut seen = HashSet::new();
        for query in &self.queries {
            check_field("query id", &query.id)?;
            for (document, value) in &query.documents {
                check_field("document id", document)?;
                if !value.is_finite() {
                    return Err(Error::Data(format!(
                        "document '{document}' of query '{}' has the value {value}",
                        query.id
                    )));
                }
                if !seen.insert((query.id.as_str(), document.as_str())) {
                    return Err(Error::Data(format!("query '{}' has document '{document}' twice", query.id)));
                }
            }
        }
        Ok(())
    }
}

fn check_field(what: &str, text: &str) -> Result<()> {
    if text.is_empty() || text.bytes().any(|byte| byte.is_ascii_whitespace()) {
        return Err(Error::Data(format!("{what} {text:?} cannot be written: it is empty or holds a blank")));
    }
    Ok(())
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    write_whole(path, |writer| writer.write_all(text.as_bytes()).map_err(|error| Error::io(path, "write", error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_that_are_no_numbers_stand_last() {
        let score = |i: u32| [f64::NAN, f64::INFINITY, f64::from(i * 7919 % 100)][i as usize % 3];
        let documents = |value: &dyn Fn(u32) -> f64| (0..300).map(|i| (format!("d{i:03}"), value(i))).collect();
        let file = |documents| TrecFile { queries: vec![TrecQuery { id: "1".into(), documents }] };
        let judged = join_run(&file(documents(&score)), &file(documents(&|i| f64::from(i % 3))));
        // Labels tell what the scores were: 100 infinite ones, 100 numbers, 100 that are none.
        let labels: Vec<f64> = judged.queries[0].labels.iter().map(|&label| f64::from(label)).collect();
        assert_eq!(labels, [[1.0; 100], [2.0; 100], [0.0; 100]].concat());
    }

    #[test]
    fn equal_scores_stand_in_trec_evals_order() {
        let run = parse_run("r", b"1 Q0 a 1 0.5 t\n1 Q0 c 2 0.5 t\n2 Q0 z 1 1 t\n1 Q0 b 3 0.5 t\n").unwrap();
        let qrels = parse_qrels("q", b"1 0 a 1\n1 0 b 2\n1 0 c 3\n3 0 a 1\n1 0 e 4\n1 0 d 5\n").unwrap();
        let judged = join_run(&run, &qrels);
        assert_eq!(judged.queries[0].labels, [3.0, 2.0, 1.0, 4.0, 5.0]);
        assert_eq!(judged.queries[0].retrieved, 3);
        assert_eq!(judged.queries[0].judged, [true; 5]);
        assert_eq!((judged.not_in_run, judged.not_judged), (vec!["3".to_owned()], vec!["2".to_owned()]));
    }

    #[test]
    fn scores_can_be_held_as_trec_eval_holds_them() {
        let run = parse_run("r", b"1 Q0 a 1 0.500000001 t\n1 Q0 b 2 0.5 t\n1 Q0 c 3 -1e300 t\n").unwrap();
        let qrels = parse_qrels("q", b"1 0 a 1\n1 0 b 2\n1 0 c 3\n").unwrap();
        assert_eq!(join_run(&run, &qrels).queries[0].labels, [1.0, 2.0, 3.0]);
        let held = join_run(&run.with_f32_scores(), &qrels);
        assert_eq!(held.queries[0].labels, [2.0, 1.0, 3.0], "a and b are equal, and b is the greater id");
        assert_eq!(held.queries[0].scores, [0.5, 0.5, f64::from(f32::MIN)], "c is retrieved");
    }

    #[test]
    fn runs_and_scores_are_told_apart() {
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
    fn a_repeated_document_is_found() {
        let queries = vec![("a".to_owned(), 1), ("b".to_owned(), 2)];
        let data = Dataset::new(0, vec![], vec![2.0, 0.0, 1.0], queries).unwrap();
        assert_eq!(TrecFile::from_labels(&data).first_repeated(), None);
        let data = data.with_document_ids(["x", "x", "x"].into_iter().collect()).unwrap();
        assert_eq!(TrecFile::from_labels(&data).first_repeated(), Some(("b", "x")));
    }

    #[test]
    fn a_negative_relevance_counts_as_0_and_as_not_judged() {
        let run = parse_run("r", b"1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n1 Q0 c 3 1 t\n").unwrap();
        let query = &join_run(&run, &parse_qrels("q", b"1 0 a -2\n1 0 c 0\n").unwrap()).queries[0];
        assert_eq!((query.labels.as_slice(), query.judged.as_slice()), (&[0.0; 3][..], &[false, false, true][..]));
    }

    #[test]
    fn bad_lines_are_named() {
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

    #[test]
    fn a_data_set_round_trips() {
        let queries = vec![("a".to_owned(), 2), ("b".to_owned(), 1)];
        let data = Dataset::new(0, vec![], vec![2.0, 0.0, 1.0], queries).unwrap();
        let data = data.with_document_ids(["x", "", "x"].into_iter().collect()).unwrap();
        let qrels = TrecFile::from_labels(&data).to_qrels().unwrap();
        assert_eq!(qrels, "a 0 x 2\na 0 a.2 0\nb 0 x 1\n");
        assert_eq!(parse_qrels("q", qrels.as_bytes()).unwrap(), TrecFile::from_labels(&data));
        let run = TrecFile::from_scores(&data, &[0.5, 1.5, -1e-9_f64]).unwrap().to_run("me").unwrap();
        assert_eq!(run, "a Q0 a.2 1 1.5 me\na Q0 x 2 0.5 me\nb Q0 x 1 -0.000000001 me\n");
        let judged = join_run(&parse_run("r", run.as_bytes()).unwrap(), &parse_qrels("q", qrels.as_bytes()).unwrap());
        assert_eq!(judged.queries[0].labels, [0.0, 2.0]);
        assert!(TrecFile::from_scores(&data, &[0.5_f32]).is_err());
        assert!(TrecFile::from_scores(&data, &[f32::NAN, 0.0, 0.0]).unwrap().to_run("me").is_err());
        assert!(TrecFile::from_labels(&data).to_run("m e").is_err());
    }
}
