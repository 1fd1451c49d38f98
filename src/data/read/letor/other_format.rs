//! Detection of tables with the extension of LETOR files.

use crate::data::read::InputFormat;

/// Whether a line looks like a row of a table: it has cells and no `index:value`.
pub(super) fn looks_like_a_table(line: &[u8]) -> bool {
    line.iter().any(|byte| matches!(byte, b',' | b';' | b'\t')) && !line.contains(&b':')
}

/// Returns the remedy for a table with a wrong extension.
#[cold]
pub(super) fn rename() -> String {
    let rename = "this looks like CSV, not like LETOR text: rename the file to .csv, or to .tsv if columns are separated by tabs";
    match InputFormat::of("a.csv") {
        InputFormat { available: false, feature: Some(feature), .. } => {
            format!("{rename}, and use a build with the feature {feature}")
        }
        _ => rename.to_owned(),
    }
}
