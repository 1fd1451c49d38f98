//! The input formats, one row each; detection, refusals of options, and lists are made from the rows.

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

/// The formats that [`read`](crate::read) knows. Files are of the first format, unless their first bytes or their names say
/// otherwise.
pub static INPUT_FORMATS: &[InputFormat] = &[
    InputFormat {
        name: letor::LETOR,
        help: "`<label> qid:<id> <index>:<value> ... # comment`, also called SVMlight or LibSVM; standard input",
        extensions: &["txt"],
        magic: b"",
        is_stream: true,
        options: &["query_file"],
        feature: None,
        available: true,
        open: letor::open,
    },
    InputFormat {
        name: "Parquet",
        help: "a row per document, as pandas, Arrow, Spark and DuckDB write it",
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
        help: "a header, then a row per document; separated by commas, or semicolons or tabs where the header has those",
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
        help: "a header, then a row per document; separated by tabs",
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
        help: "binary file of `burnrank convert`: opens at once, and may be larger than the memory",
        extensions: &["cache"],
        magic: crate::data::cache::MAGIC,
        is_stream: false,
        options: &[],
        feature: None,
        available: true,
        open: cache::open,
    },
];

/// What can be said of files whose documents are rows with named columns.
const TABLE_OPTIONS: &[&str] = &["query_file", "label", "query", "document", "drop", "null"];

/// A row of [`INPUT_FORMATS`].
#[derive(Debug, Clone, Copy)]
pub struct InputFormat {
    /// What it is called.
    pub name: &'static str,
    /// What a file holds, in a few words.
    pub help: &'static str,
    /// Endings of file names, without the dot.
    pub extensions: &'static [&'static str],
    /// The first bytes of every file; empty for text, which has none.
    pub magic: &'static [u8],
    /// Whether files are read from front to back, so that they may be compressed.
    pub is_stream: bool,
    /// Fields of [`ReadOptions`] that say something of a file's content and that some formats have no use for: those that this one
    /// uses. All others are refused.
    pub options: &'static [&'static str],
    /// The Cargo feature of builds that read it.
    pub feature: Option<&'static str>,
    /// Whether this build reads it.
    pub available: bool,
    pub(super) open: Open,
}

/// Opens a file for reading.
type Open = fn(&Path, &ReadOptions) -> Result<Box<dyn Reader>>;

/// Which statements about the content of files the options make. Not every format has a use for them; other options are permissions
/// and limits, which any file keeps.
fn statements(options: &ReadOptions) -> impl Iterator<Item = (&'static str, bool)> {
    let ReadOptions { columns, query_file, null, .. } = options;
    let roles = COLUMN_ROLES.iter().map(|role| (role.key, (role.given)(columns).is_some()));
    let others = [("query_file", query_file.is_some()), ("drop", !columns.drop.is_empty()), ("null", null.is_some())];
    roles.chain(others)
}

impl InputFormat {
    /// The format of the file at `path`: by its first bytes, else by its name, which a compression's ending may follow, else
    /// LETOR.
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

    /// The endings of files of the format, those of compressed ones behind, as in `csv`, `csv.gz` and `csv.zst`.
    pub fn file_endings(&self) -> impl Iterator<Item = String> {
        let compressions = if self.is_stream { &Compression::ALL[..] } else { &[] };
        let compressed =
            |plain| compressions.iter().map(move |compression| format!("{plain}.{}", compression.extension()));
        self.extensions.iter().flat_map(move |&plain| std::iter::once(plain.to_owned()).chain(compressed(plain)))
    }

    /// Whether a file starts as those of the format do.
    fn is_start(&self, head: &[u8]) -> bool {
        !self.magic.is_empty() && head.starts_with(self.magic)
    }

    fn is_name(&self, path: &Path) -> bool {
        let plain = Compression::plain_path(path).filter(|_| self.is_stream);
        let ending = plain.as_deref().unwrap_or(path).extension();
        ending.is_some_and(|ending| self.extensions.iter().any(|own| ending.eq_ignore_ascii_case(own)))
    }

    /// Opens a file of this format.
    pub(super) fn open(&self, path: &Path, options: &ReadOptions) -> Result<Box<dyn Reader>> {
        if let (false, Some(feature)) = (self.available, self.feature) {
            return Err(Error::Config(format!(
                "{}: a {} file, which this build does not read: build with the feature {feature}",
                display_name(path),
                self.name
            )));
        }
        self.check_options(path, options)?;
        (self.open)(path, options)
    }

    /// Refuses what is said of the content of files, and that this format has no use for.
    fn check_options(&self, path: &Path, options: &ReadOptions) -> Result<()> {
        let unused = |(name, is_stated): &(&'static str, bool)| *is_stated && !self.options.contains(name);
        let Some((name, _)) = statements(options).find(unused) else { return Ok(()) };
        let users = INPUT_FORMATS.iter().filter(|format| format.options.contains(&name)).map(|format| format.name);
        let users = listed(&users.collect::<Vec<_>>(), "and");
        let rename = if self.magic.is_empty() { ", or rename the file" } else { "" };
        Err(Error::Config(format!(
            "`{name}` is for {users} files, and {} is read as {}: leave it out{rename}",
            display_name(path),
            self.name
        )))
    }
}

/// Refuses a stream that starts as a file does that is not read from front to back.
pub(in crate::data) fn reject_formats(name: &str, head: &[u8]) -> Result<()> {
    let Some(format) = INPUT_FORMATS.iter().find(|format| format.is_start(head)) else { return Ok(()) };
    let remedy = "give the file itself where data is asked for: neither through a pipe nor compressed";
    Err(whole_file(name, &format!("this is a {} file", format.name), remedy))
}

/// Of a file; nothing where it cannot be read, nor of a pipe, which can be opened only once.
fn first_bytes(path: &Path) -> Vec<u8> {
    const MOST: u64 = 8;
    let mut head = Vec::new();
    if path.is_file() {
        // What is wrong with the file is found again when it is read.
        let _ = File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut head));
    }
    head
}

#[cfg(not(feature = "tables"))]
fn not_in_this_build(path: &Path, _: &ReadOptions) -> Result<Box<dyn Reader>> {
    Err(Error::Config(format!("{}: this build does not read it", display_name(path))))
}

#[cfg(test)]
mod tests {
    use super::super::columns::Columns;
    use super::*;

    #[test]
    fn names_decide_where_first_bytes_do_not() {
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
    fn rows_differ_and_fit_the_first_bytes() {
        let endings: Vec<&str> = INPUT_FORMATS.iter().flat_map(|format| format.extensions).copied().collect();
        assert!(endings.iter().enumerate().all(|(place, ending)| !endings[..place].contains(ending)), "{endings:?}");
        for format in INPUT_FORMATS {
            assert!(format.magic.len() <= 8 && format.magic.is_empty() == format.is_stream, "{}", format.name);
            let is_statement = |option: &&str| statements(&ReadOptions::default()).any(|(name, _)| name == *option);
            assert!(format.options.iter().all(is_statement), "{}", format.name);
            assert_eq!(format.available, format.feature.is_none() || cfg!(feature = "tables"));
        }
    }

    #[test]
    fn every_statement_is_refused_by_some_format() {
        let some = || Some("x".to_owned());
        let stated = ReadOptions {
            query_file: Some("q".into()),
            columns: Columns { label: some(), query: some(), document: some(), drop: vec!["x".into()] },
            null: Some(0.0),
            ..ReadOptions::default()
        };
        assert!(statements(&stated).all(|(_, is_stated)| is_stated));
        assert!(statements(&ReadOptions::default()).all(|(_, is_stated)| !is_stated));
        let check = |path: &str, options: &ReadOptions| InputFormat::of(path).check_options(Path::new(path), options);
        check("a.csv", &stated).unwrap();
        let expected =
            "`label` is for Parquet, CSV and TSV files, and a.txt is read as LETOR: leave it out, or rename the file";
        assert_eq!(check("a.txt", &stated).unwrap_err().to_string(), expected);
        let stated = ReadOptions { query_file: stated.query_file, ..ReadOptions::default() };
        let expected =
            "`query_file` is for LETOR, Parquet, CSV and TSV files, and a.cache is read as cache: leave it out";
        assert_eq!(check("a.cache", &stated).unwrap_err().to_string(), expected);
        check("a.txt", &stated).unwrap();
    }
}
