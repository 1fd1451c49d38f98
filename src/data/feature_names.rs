//! Feature names: read from a file of lines `index name`, or `f1`, `f2`, ... by default.

use super::source::{read_whole, whole_file};
use crate::error::{Error, ParseError, Result, printable};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// Names of some or all features, read from a file and keyed by the indices that data files use.
///
/// Each line is `index name`; blank lines and lines that start with `#` are skipped. Names contain no whitespace.
///
/// ```
/// use burnrank::data::FeatureNames;
/// let names = FeatureNames::parse("names.txt", b"1 bm25\n# the rest is unnamed\n3 clicks\n", 1)?;
/// assert_eq!(names.of_width(4)?, ["bm25", "f2", "clicks", "f4"]);
/// assert!(names.of_width(2).is_err());
/// # Ok::<(), burnrank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureNames {
    file: String,
    first_index: u32,
    /// By column, from 0.
    names: BTreeMap<usize, String>,
}

impl FeatureNames {
    /// Reads a file whose feature indices start at `first_index`. The file may be compressed; `-` is standard input.
    ///
    /// # Errors
    /// On the first line that is not an index and a name, or that repeats an index or a name.
    pub fn read(path: impl AsRef<Path>, first_index: u32) -> Result<Self> {
        let (file, text) = read_whole(path.as_ref())?;
        Self::parse(&file, &text, first_index)
    }

    /// Parses text in memory, as [`FeatureNames::read`] does. Errors refer to it as `file`.
    ///
    /// # Errors
    /// See [`FeatureNames::read`].
    pub fn parse(file: &str, text: &[u8], first_index: u32) -> Result<Self> {
        let text = std::str::from_utf8(text)
            .map_err(|_| whole_file(file, "the file is not text", "expected lines of 'index name'"))?;
        let (mut names, mut seen) = (BTreeMap::new(), HashSet::new());
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |text: &str, problem: &str, remedy: String| {
                let shown: String = text.chars().take(40).collect();
                let problem = problem.to_owned();
                let (file, line, column) = (file.to_owned(), number + 1, 0);
                Error::from(Box::new(ParseError { file, line, column, text: printable(&shown), problem, remedy }))
            };
            let (index, name) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let name = name.trim();
            let column = index.parse::<usize>().ok().and_then(|index| index.checked_sub(first_index as usize));
            let column = column.ok_or_else(|| {
                let remedy = format!("expected 'index name', with indices starting at {first_index}");
                wrong(index, "bad index", remedy)
            })?;
            check_name(name).map_err(|problem| wrong(name, "bad name", problem))?;
            if !seen.insert(name.to_owned()) {
                return Err(wrong(name, "duplicate feature name", "give each feature a unique name".into()));
            }
            if names.insert(column, name.to_owned()).is_some() {
                return Err(wrong(index, "duplicate feature index", "list each feature once".into()));
            }
        }
        Ok(FeatureNames { file: file.to_owned(), first_index, names })
    }

    /// Returns an empty list of names: every feature gets its default name.
    pub fn unnamed(first_index: u32) -> Self {
        FeatureNames { file: String::new(), first_index, names: BTreeMap::new() }
    }

    /// Returns the names of all `width` features. Features that the file does not name get their default name, such as `f7`.
    ///
    /// # Errors
    /// When the file names a feature that the data does not have, or uses the default name of another feature.
    pub fn of_width(&self, width: usize) -> Result<Vec<String>> {
        let FeatureNames { file, first_index, names } = self;
        if let Some((column, name)) = names.last_key_value().filter(|(column, _)| **column >= width) {
            let (index, last) = (column + *first_index as usize, width + *first_index as usize - 1);
            let message = format!("{file}: '{name}' names feature {index}, but the last feature of the data is {last}");
            return Err(Error::Mismatch(message));
        }
        let mut all = default_feature_names(*first_index, width);
        names.iter().for_each(|(column, name)| all[*column].clone_from(name));
        check_names(&all).map_err(|problem| Error::Mismatch(format!("{file}: {problem}")))?;
        Ok(all)
    }
}

/// Returns the default names of `width` features: `f1`, `f2`, ... if `first_index` is 1.
pub(crate) fn default_feature_names(first_index: u32, width: usize) -> Vec<String> {
    (0..width).map(|column| format!("f{}", column + first_index as usize)).collect()
}

/// Checks that names are valid and distinct.
pub(crate) fn check_names(names: &[String]) -> std::result::Result<(), String> {
    let mut seen = HashSet::new();
    for name in names {
        check_name(name).map_err(|problem| format!("bad feature name '{}': {problem}", printable(name)))?;
        if !seen.insert(name) {
            return Err(format!("two features are named '{name}'"));
        }
    }
    Ok(())
}

fn check_name(name: &str) -> std::result::Result<(), String> {
    if name.is_empty() || name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err("expected a name without whitespace, such as body_bm25".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, first_index: u32) -> Result<FeatureNames> {
        FeatureNames::parse("names.txt", text.as_bytes(), first_index)
    }

    #[test]
    fn indices_start_at_the_first_index() {
        let text = "0\tbm25(title)\n2   größe  \n";
        assert_eq!(parse(text, 0).unwrap().of_width(3).unwrap(), ["bm25(title)", "f1", "größe"]);
        assert_eq!(parse("", 1).unwrap().of_width(2).unwrap(), ["f1", "f2"]);
    }

    #[test]
    fn errors_name_line_and_remedy() {
        for (text, expected) in [
            ("x bm25\n", "names.txt:1: bad index 'x': expected 'index name', with indices starting at 1"),
            ("\n0 bm25\n", "names.txt:2: bad index '0': expected 'index name', with indices starting at 1"),
            ("1\n", "names.txt:1: bad name: expected a name without whitespace, such as body_bm25"),
            ("1 a b\n", "names.txt:1: bad name 'a b': expected a name without whitespace, such as body_bm25"),
            ("1 a\n2 a\n", "names.txt:2: duplicate feature name 'a': give each feature a unique name"),
            ("1 a\n1 b\n", "names.txt:2: duplicate feature index '1': list each feature once"),
        ] {
            assert_eq!(parse(text, 1).unwrap_err().to_string(), expected);
        }
        assert!(FeatureNames::parse("n", b"1 \xff", 1).unwrap_err().to_string().contains("not text"));
        let error = parse("1 f2\n", 1).unwrap().of_width(2).unwrap_err().to_string();
        assert_eq!(error, "names.txt: two features are named 'f2'");
        let error = parse("4 x\n", 1).unwrap().of_width(3).unwrap_err().to_string();
        assert_eq!(error, "names.txt: 'x' names feature 4, but the last feature of the data is 3");
    }
}
