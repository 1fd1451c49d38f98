//! Score files: one number per line, in the order of the documents of the data file.

use super::read::number::{BadNumber, parse_f64};
use super::read::problem::Problem;
use super::source::{read_whole, whole_file};
use crate::error::{Error, Result};
use crate::internal::files::{Durability, write_whole};
use crate::memory;
use std::fmt::Display;
use std::path::Path;

/// Reads the scores of `documents` documents, one finite number per line. The file may be compressed; `-` is standard input.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("scores.txt");
/// std::fs::write(&path, "0.5\n-1e3\n").unwrap();
/// assert_eq!(burnrank::data::read_scores(&path, 2)?, [0.5, -1000.0]);
/// assert!(burnrank::data::read_scores(&path, 3).is_err());
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// On the first line that is not one finite number, and when the number of scores is not `documents`.
pub fn read_scores(path: impl AsRef<Path>, documents: usize) -> Result<Vec<f64>> {
    let (name, text) = read_whole(path.as_ref())?;
    parse_scores_of(&name, &text, documents)
}

/// Parses exactly `documents` scores.
pub(super) fn parse_scores_of(name: &str, text: &[u8], documents: usize) -> Result<Vec<f64>> {
    let scores = parse_scores(name, text)?;
    if scores.len() != documents {
        return Err(Error::Mismatch(format!(
            "{name}: {} scores for {documents} documents: expected one per line, in the order of the data",
            scores.len()
        )));
    }
    Ok(scores)
}

/// Parses any number of scores from text in memory. Errors refer to it as `name`.
///
/// # Errors
/// On the first line that is not one finite number.
pub fn parse_scores(name: &str, text: &[u8]) -> Result<Vec<f64>> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    if text.trim_ascii().is_empty() {
        return Err(whole_file(name, "the file is empty", "expected one score per line"));
    }
    let parse = |(number, line): (usize, &[u8])| {
        let score = line.trim_ascii();
        let at = line.len() - line.trim_ascii_start().len();
        parse_f64(score).map_err(|bad| {
            let problem = match bad {
                // Skipping a blank line would shift all scores after it.
                BadNumber::Text if score.is_empty() => {
                    Problem::new(0, b"", "blank line", "expected one score per line")
                }
                _ => Problem::number(at, score, "score", bad),
            };
            Error::from(problem.at(name, number + 1))
        })
    };
    let mut scores = Vec::new();
    let lines = memchr::memchr_iter(b'\n', text).count() + 1;
    memory::reserve(&mut scores, lines, &format!("{lines} scores of {name}"), "split the file")?;
    for line in text.split(|&byte| byte == b'\n').enumerate() {
        scores.push(parse(line)?);
    }
    Ok(scores)
}

/// Writes one score per line, in the shortest form that reads back as the same number.
///
/// # Errors
/// When a score is not finite, or the file cannot be written.
pub fn write_scores<S: Copy + Into<f64> + Display>(path: impl AsRef<Path>, scores: &[S]) -> Result<()> {
    let path = path.as_ref();
    if let Some(row) = scores.iter().position(|&score| !score.into().is_finite()) {
        return Err(Error::Data(format!("the score of document {row} (from 0) is {}", scores[row])));
    }
    write_whole(path, Durability::Crash, |writer| {
        scores.iter().try_for_each(|score| writeln!(writer, "{score}")).map_err(|error| Error::io(path, "write", error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_round_trip() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let scores = [0.1, -0.0, f64::MIN_POSITIVE / 8.0, f64::MAX, -3.0];
        write_scores(&path, &scores).unwrap();
        let back = read_scores(&path, scores.len()).unwrap();
        assert!(back.iter().zip(scores).all(|(a, b)| a.to_bits() == b.to_bits()));
        let single = scores.map(|score| score.clamp(-1e9, 1e9) as f32);
        write_scores(&path, &single).unwrap();
        let back = read_scores(&path, single.len()).unwrap();
        assert!(back.iter().zip(single).all(|(a, b)| (*a as f32).to_bits() == b.to_bits()));
        assert!(write_scores(&path, &[f32::NAN]).is_err());
        let error = read_scores(&path, 4).unwrap_err().to_string();
        assert!(error.contains("5 scores for 4 documents"), "{error}");
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, expected) in [
            ("1\n x \n", "s:2:2: bad score 'x': expected a number such as 0.25 or 1e-3"),
            ("1\r\n\r\n2\n", "s:2:1: blank line: expected one score per line"),
            ("nan\n", "s:1:1: score is not a number 'nan': replace it with a finite number"),
            ("1e400", "s:1:1: score is infinite '1e400'"),
            ("\n", "s: the file is empty"),
            ("1 2\n", "s:1:1: bad score '1 2'"),
        ] {
            let error = parse_scores("s", text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
