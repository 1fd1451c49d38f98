//! Writing a [`Dataset`] as a LETOR file.

use super::dataset::Dataset;
use super::read::MAX_FEATURES;
use super::scale::Rows;
use crate::error::{Error, Result};
use crate::internal::files::{Durability, write_whole};
use rayon::prelude::*;
use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

/// Number of feature values checked at a time.
const VALUES_AT_ONCE: usize = 1 << 22;

/// Whether features of value 0 are written. Missing values are written as `nan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zeros {
    /// Every feature of every document is written.
    #[default]
    Keep,
    /// Zeros are omitted, except for the last feature of the first document, which preserves the number of features.
    Omit,
}

/// Options for writing LETOR files. By default feature indices start at 1 and zeros are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteOptions {
    /// Index of the first feature: 0 or 1.
    pub first_index: u32,
    /// Whether features of value 0 are written.
    pub zeros: Zeros,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions { first_index: 1, zeros: Zeros::Keep }
    }
}

/// Writes a data set to a LETOR file that reads back bit for bit.
///
/// The file is written under a temporary name and renamed when it is complete.
///
/// # Errors
/// When the file cannot be written, and for the reasons listed at [`write_to`].
pub fn write(path: impl AsRef<Path>, data: &Dataset, options: &WriteOptions) -> Result<()> {
    let path = path.as_ref();
    check(data, options)?;
    write_whole(path, Durability::Crash, |writer| {
        lines(writer, data, options).map_err(|error| Error::io(path, "write", error))
    })
}

/// Writes a data set in LETOR format to any writer.
///
/// ```
/// use burnrank::{Dataset, WriteOptions};
/// let data = Dataset::new(2, vec![0.5, 0.0, 1e-7, 3.0], vec![2.0, 0.0], vec![("a".into(), 2)])?;
/// let mut text = Vec::new();
/// burnrank::data::write_to(&mut text, &data, &WriteOptions::default())?;
/// assert_eq!(text, b"2 qid:a 1:0.5 2:0\n0 qid:a 1:1e-7 2:3\n");
/// assert_eq!(burnrank::data::read_bytes("text", &text, &Default::default())?.data, data);
/// # Ok::<(), burnrank::Error>(())
/// ```
///
/// # Errors
/// When the writer fails, and when the format cannot represent the data: it has no documents, an infinite number, a
/// negative label, a repeated query id, or an id that is empty or contains whitespace or `#`.
pub fn write_to(writer: &mut dyn Write, data: &Dataset, options: &WriteOptions) -> Result<()> {
    check(data, options)?;
    lines(writer, data, options).map_err(|error| Error::io("output", "write", error))
}

/// Fails on data that would not read back the same.
fn check(data: &Dataset, options: &WriteOptions) -> Result<()> {
    if options.first_index > 1 {
        return Err(Error::Config(format!("the first feature index is 0 or 1, not {}", options.first_index)));
    }
    let fail = |message: String| Err(Error::Data(message));
    if data.n_documents() == 0 {
        return fail("there are no documents to write".into());
    }
    if data.n_features() > MAX_FEATURES {
        return fail(format!("{} features are too many for a file: the maximum is {MAX_FEATURES}", data.n_features()));
    }
    let mut ids = HashSet::new();
    for id in data.query_ids() {
        if id.is_empty() || id.bytes().any(|byte| byte == b' ' || byte == b'#' || byte.is_ascii_control()) {
            return fail(format!(
                "query id {id:?} cannot be written: it is empty or contains a space, '#' or a control character"
            ));
        }
        if !ids.insert(id.as_str()) {
            return fail(format!("query id {id:?} appears twice: give each query a unique id"));
        }
    }
    for row in 0..data.n_documents() {
        if let Some(id) = data.document_id(row).filter(|id| id.bytes().any(|byte| byte.is_ascii_whitespace())) {
            return fail(format!("document id {id:?} cannot be written: it contains whitespace"));
        }
    }
    if let Some(row) = data.labels().iter().position(|label| !(label.is_finite() && *label >= 0.0)) {
        return fail(format!("label {} of document {row} (from 0) cannot be written", data.labels()[row]));
    }
    data.for_rows(VALUES_AT_ONCE, |rows, values| {
        let Some(at) = values.par_iter().position_first(|value| value.is_infinite()) else { return Ok(()) };
        let (row, column) = (rows.start + at / data.n_features(), at % data.n_features());
        fail(format!("feature {column} of document {row} (both from 0) is {}", values[at]))
    })
}

fn lines(writer: &mut dyn Write, data: &Dataset, options: &WriteOptions) -> std::io::Result<()> {
    // Blocks of about 1 MB of text, a few in memory at a time.
    let rows = (100_000 / (data.n_features() + 1)).max(1);
    let blocks: Vec<Range<usize>> =
        (0..data.n_documents()).step_by(rows).map(|row| row..(row + rows).min(data.n_documents())).collect();
    for batch in blocks.chunks(4 * rayon::current_num_threads()) {
        let texts: Vec<Vec<u8>> = batch.par_iter().map(|rows| block(data, rows.clone(), options)).collect();
        texts.iter().try_for_each(|text| writer.write_all(text))?;
    }
    writer.flush()
}

fn block(data: &Dataset, rows: Range<usize>, options: &WriteOptions) -> Vec<u8> {
    data.with(rows.clone(), |features| lines_of(data, rows, features, options))
}

fn lines_of(data: &Dataset, rows: Range<usize>, features: &[f32], options: &WriteOptions) -> Vec<u8> {
    let mut text = Vec::new();
    let first = rows.start;
    let mut query = data.offsets().partition_point(|&offset| offset <= rows.start).saturating_sub(1);
    let width = data.n_features();
    let prefixes: Vec<String> =
        (0..width).map(|column| format!(" {}:", column + options.first_index as usize)).collect();
    let mut buffer = zmij::Buffer::new();
    for row in rows {
        while data.offsets()[query + 1] <= row {
            query += 1;
        }
        number(&mut text, &mut buffer, data.labels()[row]);
        text.extend_from_slice(b" qid:");
        text.extend_from_slice(data.query_ids()[query].as_bytes());
        let values = &features[(row - first) * width..][..width];
        for (column, (&value, prefix)) in values.iter().zip(&prefixes).enumerate() {
            // Compares bits: -0 is written.
            let omitted = options.zeros == Zeros::Omit && value.to_bits() == 0 && !(row == 0 && column + 1 == width);
            if !omitted {
                text.extend_from_slice(prefix.as_bytes());
                number(&mut text, &mut buffer, value);
            }
        }
        if let Some(id) = data.document_id(row) {
            // An empty id is written too: it distinguishes a document without an id from a file without ids.
            put(&mut text, format_args!(" # docid = {id}"));
        }
        text.push(b'\n');
    }
    text
}

/// Appends the shortest text that reads back as the same bits.
fn number(text: &mut Vec<u8>, buffer: &mut zmij::Buffer, value: f32) {
    if value.is_nan() {
        return text.extend_from_slice(b"nan");
    }
    let size = value.abs();
    if size != 0.0 && !(1e-5..1e9).contains(&size) {
        return put(text, format_args!("{value:e}"));
    }
    let shortest = buffer.format_finite(value).as_bytes();
    match shortest.strip_suffix(b".0") {
        Some(whole) => text.extend_from_slice(whole),
        None if shortest.contains(&b'e') => put(text, format_args!("{value}")),
        None => text.extend_from_slice(shortest),
    }
}

fn put(text: &mut Vec<u8>, arguments: std::fmt::Arguments) {
    // Writing to memory cannot fail.
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn text(data: &Dataset, options: &WriteOptions) -> Result<String> {
        let mut text = Vec::new();
        write_to(&mut text, data, options)?;
        Ok(String::from_utf8(text).unwrap())
    }

    #[test]
    fn numbers_are_the_shortest_that_read_back() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut buffer = zmij::Buffer::new();
        let draw = |_| [f32::from_bits(random.random()), (random.random::<f32>() * 1e4).round() / 100.0];
        let drawn: Vec<f32> = (0..200_000).flat_map(draw).collect();
        let edges =
            [0.0, -0.0, 1.0, -1.5, 1e-5, 9.9e-6, 1e9, 9.999_999e8, 16_777_216.0, 123_456_790.0, 0.1, f32::MIN_POSITIVE];
        for value in edges.into_iter().chain(drawn).filter(|value| value.is_finite()) {
            let plain = value == 0.0 || (1e-5..1e9).contains(&value.abs());
            let expected = if plain { format!("{value}") } else { format!("{value:e}") };
            let mut text = vec![];
            number(&mut text, &mut buffer, value);
            let text = String::from_utf8(text).unwrap();
            // Of two equally short decimals at the same distance, either may be written.
            assert_eq!(
                (text.len(), text.parse::<f32>().unwrap().to_bits()),
                (expected.len(), value.to_bits()),
                "{text}"
            );
        }
    }

    fn one(id: &str, label: f32, value: f32) -> Dataset {
        Dataset::new(1, vec![value], vec![label], vec![(id.into(), 1)]).unwrap()
    }

    #[test]
    fn omitting_zeros_preserves_the_width() {
        let data = Dataset::new(3, vec![0.0, 1.0, 0.0, -0.0, 0.0, 0.0], vec![1.0, 0.5], vec![("a".into(), 2)]).unwrap();
        let options = WriteOptions { first_index: 0, zeros: Zeros::Omit };
        assert_eq!(text(&data, &options).unwrap(), "1 qid:a 1:1 2:0\n0.5 qid:a 0:-0\n");
    }

    #[test]
    fn data_that_the_format_cannot_represent_is_rejected() {
        let default = WriteOptions::default();
        for (data, message) in [
            (Dataset::default(), "no documents"),
            (one("a b", 0.0, 0.0), "query id \"a b\" cannot be written"),
            (one("a#", 0.0, 0.0), "query id \"a#\" cannot be written"),
            (one("", 0.0, 0.0), "query id \"\" cannot be written"),
            (one("a", -1.0, 0.0), "label -1 of document 0"),
            (one("a", f32::NAN, 0.0), "label NaN of document 0"),
            (one("a", 0.0, f32::INFINITY), "feature 0 of document 0 (both from 0) is inf"),
            (
                Dataset::new(1, vec![0.0; 2], vec![0.0; 2], vec![("a".into(), 1), ("a".into(), 1)]).unwrap(),
                "appears twice",
            ),
            (one("a", 0.0, 0.0).with_document_ids(["x y"].into_iter().collect()).unwrap(), "document id \"x y\""),
        ] {
            let error = text(&data, &default).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        assert!(text(&one("a", 0.0, 0.0), &WriteOptions { first_index: 2, ..default }).is_err());
    }
}
