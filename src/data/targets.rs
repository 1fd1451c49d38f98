//! Target probabilities for RankNet from a file: `qid docA docB P`, one pair per line.

use super::Dataset;
use super::source::{read_whole, whole_file};
use crate::error::{Error, ParseError, Result};
use std::collections::HashMap;
use std::path::Path;

/// A training pair of a query: documents `i` and `j` and the probability that `i` ranks above `j`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairTarget {
    /// Index of the first document within the query, from 0.
    pub i: usize,
    /// Index of the second document within the query, from 0.
    pub j: usize,
    /// Target probability `P`, from 0 to 1.
    pub probability: f64,
}

/// The target pairs of each query of a data set, in the order of its queries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Targets {
    pairs: Vec<Vec<PairTarget>>,
}

impl Targets {
    /// Reads a file of lines `qid docA docB P`. Documents are identified by their ids, or by their position in the query,
    /// from 1, if they have none. Blank lines and lines that start with `#` are skipped.
    ///
    /// # Errors
    /// When the file cannot be read, and on the first line with an unknown query or document, two equal documents, or an
    /// invalid probability.
    pub fn read(path: &Path, data: &Dataset) -> Result<Self> {
        let (name, text) = read_whole(path)?;
        let text = String::from_utf8(text)
            .map_err(|_| whole_file(&name, "the file is not UTF-8 text", "expected lines 'qid docA docB P'"))?;
        Targets::parse(&name, &text, data)
    }

    /// Parses text in memory, as [`Targets::read`] does. Errors refer to it as `name`.
    ///
    /// # Errors
    /// See [`Targets::read`].
    pub fn parse(name: &str, text: &str, data: &Dataset) -> Result<Self> {
        let queries: HashMap<&str, usize> =
            data.query_ids().iter().enumerate().map(|(index, id)| (id.as_str(), index)).collect();
        let mut positions: HashMap<usize, HashMap<String, usize>> = HashMap::new();
        let mut pairs = vec![Vec::new(); data.n_queries()];
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let wrong = |text: &str, problem: &str, remedy: String| {
                Error::from(Box::new(ParseError {
                    file: name.to_owned(),
                    line: number + 1,
                    column: text.as_ptr() as usize - line.as_ptr() as usize + 1,
                    text: text.chars().take(40).collect(),
                    problem: problem.to_owned(),
                    remedy,
                }))
            };
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [qid, first, second, probability] = fields[..] else {
                return Err(wrong(line, "bad target", "expected 'qid docA docB P', four fields".into()));
            };
            let query =
                *queries.get(qid).ok_or_else(|| wrong(qid, "unknown query", "the data does not contain it".into()))?;
            let documents = positions.entry(query).or_insert_with(|| positions_by_id(data, query));
            let position = |id: &str| {
                let remedy = || format!("query {qid} has no such document; use its id, or its position from 1");
                documents.get(id).copied().ok_or_else(|| wrong(id, "unknown document", remedy()))
            };
            let (a, b) = (position(first)?, position(second)?);
            if a == b {
                return Err(wrong(second, "pair of a document with itself", "use two different documents".into()));
            }
            let p = probability.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
            let p = p.ok_or_else(|| wrong(probability, "bad probability", "expected a number from 0 to 1".into()))?;
            pairs[query].push(PairTarget { i: a, j: b, probability: p });
        }
        if pairs.iter().all(Vec::is_empty) {
            return Err(Error::Data(format!("{name}: no target pairs: expected lines 'qid docA docB P'")));
        }
        Ok(Targets { pairs })
    }

    /// Returns the target pairs of a query.
    ///
    /// # Panics
    /// When `index` is out of range.
    pub fn query(&self, index: usize) -> &[PairTarget] {
        &self.pairs[index]
    }

    /// Returns the targets of the given queries, in the order of [`Dataset::select`].
    pub fn select(&self, queries: &[usize]) -> Self {
        Targets { pairs: queries.iter().map(|&query| self.pairs[query].clone()).collect() }
    }
}

fn positions_by_id(data: &Dataset, query: usize) -> HashMap<String, usize> {
    let rows = data.query(query).rows;
    rows.enumerate()
        .map(|(position, row)| match data.document_id(row) {
            Some(id) if !id.is_empty() => (id.to_owned(), position),
            _ => ((position + 1).to_string(), position),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> Dataset {
        let ids = ["x", "y", "z"].into_iter().collect();
        let data = Dataset::new(1, vec![0.0; 3], vec![0.0, 1.0, 0.0], vec![("7".into(), 2), ("8".into(), 1)]);
        data.unwrap().with_document_ids(ids).unwrap()
    }

    #[test]
    fn documents_are_looked_up_by_id() {
        let targets = Targets::parse("t", "# comment\n\n7 y x 0.9\n", &data()).unwrap();
        assert_eq!(targets.query(0), [PairTarget { i: 1, j: 0, probability: 0.9 }]);
        assert!(targets.query(1).is_empty());
        assert_eq!(targets.select(&[1, 0]).query(1).len(), 1);
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, expected) in [
            ("7 y x 0.9\n7 y x\n", "t:2:1: bad target '7 y x'"),
            ("9 y x 0.5", "t:1:1: unknown query '9'"),
            ("7 y q 0.5", "t:1:5: unknown document 'q'"),
            ("7 y y 0.5", "t:1:5: pair of a document with itself"),
            ("7 y x 1.5", "t:1:7: bad probability '1.5'"),
            ("7 y x NaN", "t:1:7: bad probability 'NaN'"),
            ("# only this", "t: no target pairs"),
        ] {
            let message = Targets::parse("t", text, &data()).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
