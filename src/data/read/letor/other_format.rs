//! Lines that are not LETOR text, but those of a table under another name.

use crate::data::read::InputFormat;

/// Whether a line is one of a table: cells and no `index:value`.
pub(super) fn looks_like_a_table(line: &[u8]) -> bool {
    line.iter().any(|byte| matches!(byte, b',' | b';' | b'\t')) && !line.contains(&b':')
}

/// What to do with a table that is called something else.
#[cold]
pub(super) fn rename() -> String {
    let rename = "this looks like CSV, not like LETOR text: give the file a name that ends in .csv, or in .tsv where tabs separate \
                  columns";
    match InputFormat::of("a.csv") {
        InputFormat { available: false, feature: Some(feature), .. } => {
            format!("{rename}, and read it with a build that has the feature {feature}")
        }
        _ => rename.to_owned(),
    }
}
