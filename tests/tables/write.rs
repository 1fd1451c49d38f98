//! Writes Parquet files like those of other programs.

use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::path::Path;
use std::sync::Arc;

/// The values of a column; missing values are `None`.
#[derive(Debug, Clone)]
pub enum Values {
    Bool(Vec<Option<bool>>),
    I32(Vec<Option<i32>>),
    I64(Vec<Option<i64>>),
    F32(Vec<Option<f32>>),
    F64(Vec<Option<f64>>),
    Bytes(Vec<Option<Vec<u8>>>),
    Fixed(Vec<Option<Vec<u8>>>),
}

impl Values {
    pub fn f32(values: impl IntoIterator<Item = f32>) -> Self {
        Values::F32(values.into_iter().map(Some).collect())
    }

    pub fn f64(values: impl IntoIterator<Item = f64>) -> Self {
        Values::F64(values.into_iter().map(Some).collect())
    }

    pub fn i64(values: impl IntoIterator<Item = i64>) -> Self {
        Values::I64(values.into_iter().map(Some).collect())
    }

    pub fn text<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        Values::Bytes(values.into_iter().map(|text| Some(text.as_bytes().to_vec())).collect())
    }

    fn len(&self) -> usize {
        match self {
            Values::Bool(values) => values.len(),
            Values::I32(values) => values.len(),
            Values::I64(values) => values.len(),
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::Bytes(values) | Values::Fixed(values) => values.len(),
        }
    }
}

/// A column: its type and name as in a schema, such as "double x", its values, and whether values may be missing.
pub struct Column {
    kind: String,
    values: Values,
    optional: bool,
}

pub fn column(kind: &str, values: Values) -> Column {
    Column { kind: kind.to_owned(), values, optional: true }
}

pub fn required(kind: &str, values: Values) -> Column {
    Column { optional: false, ..column(kind, values) }
}

/// Returns the default properties of files.
pub fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_compression(Compression::SNAPPY)
}

/// Writes a file with row groups of at most `group` rows.
pub fn parquet(path: &Path, columns: &[Column], group: usize, properties: WriterPropertiesBuilder) {
    let fields: String = columns
        .iter()
        .map(|column| format!("{} {};", if column.optional { "optional" } else { "required" }, column.kind))
        .collect();
    let schema = Arc::new(parse_message_type(&format!("message schema {{ {fields} }}")).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build())).unwrap();
    let rows = columns.first().map_or(0, |column| column.values.len());
    let mut start = 0;
    while start < rows {
        let end = rows.min(start + group);
        let mut row_group = writer.next_row_group().unwrap();
        for column in columns {
            let mut to = row_group.next_column().unwrap().unwrap();
            write(to.untyped(), column, start..end);
            to.close().unwrap();
        }
        row_group.close().unwrap();
        start = end;
    }
    writer.close().unwrap();
}

fn write(to: &mut ColumnWriter<'_>, column: &Column, rows: std::ops::Range<usize>) {
    fn split<T: Clone, V>(values: &[Option<T>], make: impl Fn(T) -> V) -> (Vec<V>, Vec<i16>) {
        let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
        (values.iter().flatten().cloned().map(make).collect(), levels)
    }
    macro_rules! put {
        ($writer:expr, $values:expr, $make:expr) => {{
            let (values, levels) = split(&$values[rows], $make);
            $writer.write_batch(&values, column.optional.then_some(levels.as_slice()), None).unwrap();
        }};
    }
    match (to, &column.values) {
        (ColumnWriter::BoolColumnWriter(to), Values::Bool(values)) => put!(to, values, |v| v),
        (ColumnWriter::Int32ColumnWriter(to), Values::I32(values)) => put!(to, values, |v| v),
        (ColumnWriter::Int64ColumnWriter(to), Values::I64(values)) => put!(to, values, |v| v),
        (ColumnWriter::FloatColumnWriter(to), Values::F32(values)) => put!(to, values, |v| v),
        (ColumnWriter::DoubleColumnWriter(to), Values::F64(values)) => put!(to, values, |v| v),
        (ColumnWriter::ByteArrayColumnWriter(to), Values::Bytes(values)) => put!(to, values, ByteArray::from),
        (ColumnWriter::FixedLenByteArrayColumnWriter(to), Values::Fixed(values)) => {
            put!(to, values, |v: Vec<u8>| FixedLenByteArray::from(ByteArray::from(v)))
        }
        (_, values) => panic!("a column '{}' cannot have {values:?}", column.kind),
    }
}

/// The documents of `super::LETOR`.
pub fn small() -> Vec<Column> {
    vec![
        column("int64 label", Values::i64([2, 0, 1])),
        column("binary qid (STRING)", Values::text(["a", "a", "7"])),
        column("binary docid (STRING)", Values::text(["d7", "d8", "d9"])),
        column("double bm25", Values::f64([0.5, 3.0, 1e3])),
        column("float clicks", Values::f32([-1.0, 4e-3, 0.0])),
    ]
}
