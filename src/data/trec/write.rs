//! Writing judgments and runs.

use super::TrecFile;
use crate::error::{Error, Result};
use crate::numeric::order::private::Key;
use std::collections::HashSet;

impl TrecFile {
    /// Returns the text of a file of judgments.
    ///
    /// # Errors
    /// When an id is empty or contains whitespace, a document is repeated, or a number is not finite.
    pub fn to_qrels(&self) -> Result<String> {
        self.check()?;
        let lines = self.queries.iter().flat_map(|query| {
            // Labels are f32, and are written in the shortest form that reads back.
            let line =
                |(document, relevance): &(String, f64)| format!("{} 0 {document} {}\n", query.id, *relevance as f32);
            query.documents.iter().map(line)
        });
        Ok(lines.collect())
    }

    /// Returns the text of a run of the system `tag`, with the best score of each query first.
    ///
    /// # Errors
    /// See [`TrecFile::to_qrels`]; also when the tag is empty or contains whitespace.
    pub fn to_run(&self, tag: &str) -> Result<String> {
        self.check()?;
        check_field("tag", tag)?;
        let mut text = String::new();
        for query in &self.queries {
            let mut documents: Vec<&(String, f64)> = query.documents.iter().collect();
            // A stable sort: equal scores keep the order of the data.
            documents.sort_by_key(|document| document.1.pack(0));
            for (rank, (document, score)) in documents.into_iter().enumerate() {
                text.push_str(&format!("{} Q0 {document} {} {score} {tag}\n", query.id, rank + 1));
            }
        }
        Ok(text)
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
        return Err(Error::Data(format!("{what} {text:?} cannot be written: it is empty or contains whitespace")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{TrecQuery, join_run, parse_qrels, parse_run};
    use super::*;
    use crate::data::dataset::Dataset;

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
        let zeros = TrecFile {
            queries: vec![TrecQuery { id: "1".into(), documents: vec![("a".into(), -0.0), ("b".into(), 0.0)] }],
        };
        assert!(zeros.to_run("me").unwrap().starts_with("1 Q0 a 1 "), "both zeros are equal");
    }
}
