//! The registry of input formats. Detection, checks of options and help are derived from its rows.

use super::columns::COLUMN_ROLES;
use super::options::ReadOptions;
use super::reader::Reader;
use super::{cache, letor};
#[cfg(feature = "tables")]
use super::{csv, parquet};
use crate::data::source::{Compression, display_name, is_stdin, whole_file};
use crate::error::{Error, Result};
use crate::internal::text::listed;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The formats that [`read`](crate::read) supports. The first one is the default if neither the first bytes nor the name of a
/// file identify another.
pub static INPUT_FORMATS: &[InputFormat] = &[
    InputFormat {
        name: letor::LETOR,
        help: "`<label> qid:<id> <index>:<value> ... # comment`, also called SVMlight or LibSVM; the format of standard input",
        extensions: &["txt"],
        magic: b"",
        is_stream: true,
        options: &["query_file", "null"],
        feature: None,
        available: true,
        open: letor::open,
    },
    InputFormat {
        name: "Parquet",
        help: "one row per document, as written by pandas, Arrow, Spark and DuckDB",
        extensions: &["parquet"],
        magic: b"PAR1",
        is_stream: false,
        options: TABLE_OPTIONS,
        feature: Some("tables"),
        available: cfg!(feature = "tables"),
        #[cfg(feature = "tables")]
        open: parquet::open,
        #[cfg(not(feature = "tables"))]
        open: not_in_this_build,
    },
    InputFormat {
        name: "CSV",
        help: "a header, then one row per document; separated by commas, semicolons or tabs, detected from the header",
        extensions: &["csv"],
        magic: b"",
        is_stream: true,
        options: TABLE_OPTIONS,
        feature: Some("tables"),
        available: cfg!(feature = "tables"),
        #[cfg(feature = "tables")]
        open: csv::open,
        #[cfg(not(feature = "tables"))]
        open: not_in_this_build,
    },
    InputFormat {
        name: "TSV",
        help: "a header, then one row per document; separated by tabs",
        extensions: &["tsv"],
        magic: b"",
        is_stream: true,
        options: TABLE_OPTIONS,
        feature: Some("tables"),
        available: cfg!(feature = "tables"),
        #[cfg(feature = "tables")]
        open: csv::open_tabs,
        #[cfg(not(feature = "tables"))]
        open: not_in_this_build,
    },
    InputFormat {
        name: "cache",
        help: "binary file written by `burnrank convert`; opens instantly and may be larger than memory",
        extensions: &["cache"],
        magic: crate::data::cache::MAGIC,
        is_stream: false,
        options: &[],
        feature: None,
        available: true,
        open: cache::open,
    },
];

/// Options that apply to files with named columns.
const TABLE_OPTIONS: &[&str] = &["query_file", "label", "query", "document", "drop", "null"];

/// A row of [`INPUT_FORMATS`].
#[derive(Debug, Clone, Copy)]
pub struct InputFormat {
    /// Name of the format.
    pub name: &'static str,
    /// Short description of the contents of a file.
    pub help: &'static str,
    /// File extensions, without the dot.
    pub extensions: &'static [&'static str],
    /// First bytes of every file; empty for text formats.
    pub magic: &'static [u8],
    /// Whether files are read from front to back and so may be compressed.
    pub is_stream: bool,
    /// Fields of [`ReadOptions`] about the contents of a file that apply to this format. Other such fields are rejected.
    pub options: &'static [&'static str],
    /// Cargo feature that the format requires.
    pub feature: Option<&'static str>,
    /// Whether this build supports the format.
    pub available: bool,
    pub(super) open: Open,
}

/// Opens a file for reading.
type Open = fn(&Path, &ReadOptions) -> Result<Box<dyn Reader>>;

/// Returns the options about the contents of files, which apply to some formats only, and whether each is set. Other options
/// apply to all formats.
fn content_options(options: &ReadOptions) -> impl Iterator<Item = (&'static str, bool)> {
    let ReadOptions { columns, query_file, null, .. } = options;
    let roles = COLUMN_ROLES.iter().map(|role| (role.key, (role.given)(columns).is_some()));
    let others = [("query_file", query_file.is_some()), ("drop", !columns.drop.is_empty()), ("null", null.is_some())];
    roles.chain(others)
}

impl InputFormat {
    /// Returns the format of the file at `path`: detected from its first bytes, otherwise from its name without the extension of
    /// a compression, otherwise LETOR.
    ///
    /// ```
    /// use burnrank::data::InputFormat;
    /// let name = |path| InputFormat::of(path).name;
    /// assert_eq!(["a/train.csv.gz", "Train.PARQUET", "a.csv.txt", "-"].map(name), ["CSV", "Parquet", "LETOR", "LETOR"]);
    /// ```
    pub fn of(path: impl AsRef<Path>) -> &'static InputFormat {
        let path = path.as_ref();
        if is_stdin(path) {
            return &INPUT_FORMATS[0];
        }
        let head = first_bytes(path);
        let by_bytes = INPUT_FORMATS.iter().find(|format| format.is_start(&head));
        by_bytes.or_else(|| INPUT_FORMATS.iter().find(|format| format.is_name(path))).unwrap_or(&INPUT_FORMATS[0])
    }

    /// Iterates over the file extensions of this format, including compressed ones: `csv`, `csv.gz` and `csv.zst`.
    pub fn file_endings(&self) -> impl Iterator<Item = String> {
        let compressions = if self.is_stream { &Compression::ALL[..] } else { &[] };
        let compressed =
            |plain| compressions.iter().map(move |compression| format!("{plain}.{}", compression.extension()));
        self.extensions.iter().flat_map(move |&plain| std::iter::once(plain.to_owned()).chain(compressed(plain)))
    }

    /// Whether `head` starts with the first bytes of this format.
    fn is_start(&self, head: &[u8]) -> bool {
        !self.magic.is_empty() && head.starts_with(self.magic)
    }

    fn is_name(&self, path: &Path) -> bool {
        let plain = Compression::plain_path(path).filter(|_| self.is_stream);
        let ending = plain.as_deref().unwrap_or(path).extension();
        ending.is_some_and(|ending| self.extensions.iter().any(|extension| ending.eq_ignore_ascii_case(extension)))
    }

    /// Opens a file of this format.
    pub(super) fn open(&self, path: &Path, options: &ReadOptions) -> Result<Box<dyn Reader>> {
        if let (false, Some(feature)) = (self.available, self.feature) {
            return Err(Error::Config(format!(
                "{}: this build does not support {} files: rebuild with the feature {feature}",
                display_name(path),
                self.name
            )));
        }
        self.check_options(path, options)?;
        (self.open)(path, options)
    }

    /// Fails if an option about the contents of files does not apply to this format.
    fn check_options(&self, path: &Path, options: &ReadOptions) -> Result<()> {
        let unused = |(name, is_set): &(&'static str, bool)| *is_set && !self.options.contains(name);
        let Some((name, _)) = content_options(options).find(unused) else { return Ok(()) };
        let formats = INPUT_FORMATS.iter().filter(|format| format.options.contains(&name)).map(|format| format.name);
        let formats = listed(&formats.collect::<Vec<_>>(), "and");
        let rename = if self.magic.is_empty() { ", or rename the file" } else { "" };
        Err(Error::Config(format!(
            "`{name}` applies to {formats} files, but {} is read as {}: remove it{rename}",
            display_name(path),
            self.name
        )))
    }
}

/// Rejects a stream that starts like a file of a format that cannot be streamed.
pub(in crate::data) fn reject_formats(name: &str, head: &[u8]) -> Result<()> {
    let Some(format) = INPUT_FORMATS.iter().find(|format| format.is_start(head)) else { return Ok(()) };
    let remedy = "pass the file itself as data, neither through a pipe nor compressed";
    Err(whole_file(name, &format!("this is a {} file", format.name), remedy))
}

/// Returns the first bytes of a file; empty if it cannot be read, or is a pipe, which can be opened only once.
fn first_bytes(path: &Path) -> Vec<u8> {
    const COUNT: u64 = 8;
    let mut head = Vec::new();
    if path.is_file() {
        // Errors will be reported when the file is read.
        let _ = File::open(path).and_then(|file| file.take(COUNT).read_to_end(&mut head));
    }
    head
}

#[cfg(not(feature = "tables"))]
fn not_in_this_build(path: &Path, _: &ReadOptions) -> Result<Box<dyn Reader>> {
    Err(Error::Config(format!("{}: this build does not support the format", display_name(path))))
}

#[cfg(test)]
mod tests {
    use super::super::columns::Columns;
    use super::*;

    #[test]
    fn formats_are_detected_by_first_bytes_then_by_name() {
        let name = |path: &str| InputFormat::of(path).name;
        assert_eq!(
            ["a.parquet", "b/a.csv", "a.csv.zst", "a.TSV.gz", "a.cache"].map(name),
            ["Parquet", "CSV", "CSV", "TSV", "cache"]
        );
        for other in ["a.txt", "a.csv.txt", "csv", "a.parquet.gz", "-", "a.gz", ".csv.gz"] {
            assert_eq!(name(other), "LETOR", "{other}");
        }
        let folder = tempfile::tempdir().unwrap();
        for format in INPUT_FORMATS.iter().filter(|format| !format.magic.is_empty()) {
            let path = folder.path().join("a.csv");
            std::fs::write(&path, [format.magic, b"more"].concat()).unwrap();
            assert_eq!(InputFormat::of(&path).name, format.name);
            std::fs::write(&path, &format.magic[..3]).unwrap();
            assert_eq!(InputFormat::of(&path).name, "CSV");
        }
    }

    #[test]
    fn extensions_are_unique_and_rows_are_consistent() {
        let endings: Vec<&str> = INPUT_FORMATS.iter().flat_map(|format| format.extensions).copied().collect();
        assert!(endings.iter().enumerate().all(|(index, ending)| !endings[..index].contains(ending)), "{endings:?}");
        for format in INPUT_FORMATS {
            assert!(format.magic.len() <= 8 && format.magic.is_empty() == format.is_stream, "{}", format.name);
            let is_content_option =
                |option: &&str| content_options(&ReadOptions::default()).any(|(name, _)| name == *option);
            assert!(format.options.iter().all(is_content_option), "{}", format.name);
            assert_eq!(format.available, format.feature.is_none() || cfg!(feature = "tables"));
        }
    }

    #[test]
    fn inapplicable_options_are_rejected() {
        let some = || Some("x".to_owned());
        let set = ReadOptions {
            query_file: Some("q".into()),
            columns: Columns { label: some(), query: some(), document: some(), drop: vec!["x".into()] },
            null: Some(0.0),
            ..ReadOptions::default()
        };
        assert!(content_options(&set).all(|(_, is_set)| is_set));
        assert!(content_options(&ReadOptions::default()).all(|(_, is_set)| !is_set));
        let check = |path: &str, options: &ReadOptions| InputFormat::of(path).check_options(Path::new(path), options);
        check("a.csv", &set).unwrap();
        let expected =
            "`label` applies to Parquet, CSV and TSV files, but a.txt is read as LETOR: remove it, or rename the file";
        assert_eq!(check("a.txt", &set).unwrap_err().to_string(), expected);
        let set = ReadOptions { query_file: set.query_file, ..ReadOptions::default() };
        let expected =
            "`query_file` applies to LETOR, Parquet, CSV and TSV files, but a.cache is read as cache: remove it";
        assert_eq!(check("a.cache", &set).unwrap_err().to_string(), expected);
        check("a.txt", &set).unwrap();
    }
}
