//! Which files are tables: told by their names, because a CSV file looks like any text.

use crate::data::source::is_stdin;
use std::path::Path;

/// What kind of table a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::data) enum Kind {
    /// Apache Parquet.
    Parquet,
    /// Text with a header, comma-separated unless its header says otherwise.
    Csv,
    /// Text with a header, separated by tabs.
    Tsv,
}

impl Kind {
    /// By the ending of the name; `None` for all other files.
    pub(in crate::data) fn of(path: &Path) -> Option<Kind> {
        if is_stdin(path) {
            return None;
        }
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let text = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        [("parquet", Kind::Parquet), ("csv", Kind::Csv), ("tsv", Kind::Tsv)].into_iter().find_map(|(ending, kind)| {
            // A Parquet file is packed inside.
            let name = if kind == Kind::Parquet { &name } else { text };
            name.rsplit_once('.').is_some_and(|(_, found)| found == ending).then_some(kind)
        })
    }
}

/// Whether [`read`](crate::read) takes a file for a table, by the ending of its name: `.parquet`, `.csv` or `.tsv`, the latter two
/// perhaps with `.gz` or `.zst` behind.
///
/// ```
/// use burnrank::data::is_table;
/// assert!(is_table("a/train.csv.gz") && is_table("Train.PARQUET"));
/// assert!(!is_table("train.txt") && !is_table("-"));
/// ```
pub fn is_table(path: impl AsRef<Path>) -> bool {
    Kind::of(path.as_ref()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell() {
        let kind = |name: &str| Kind::of(Path::new(name));
        assert_eq!(
            ["a.parquet", "b/a.csv", "a.csv.zst", "a.TSV.gz"].map(kind),
            [Some(Kind::Parquet), Some(Kind::Csv), Some(Kind::Csv), Some(Kind::Tsv)]
        );
        assert_eq!(["a.txt", "a.csv.txt", "csv", "a.parquet.gz", "-", "a.csv/"].map(kind)[..5], [None; 5]);
    }
}
