//! Reading a column of a Parquet file as numbers or ids.

use crate::data::read::columns::Role;
use crate::data::read::table::role_keys;
use crate::data::source::whole_file;
use crate::error::{Result, printable};
use ::parquet::basic::{ConvertedType, LogicalType, Type};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::ParquetError;
use ::parquet::schema::types::ColumnDescriptor;

type Outcome<T> = std::result::Result<T, ParquetError>;

/// Values of a column.
#[derive(Debug)]
pub(super) enum Cells {
    /// NaN for missing values.
    Numbers(Vec<f32>),
    Ids(Vec<Option<Id>>),
}

/// An id: a slice of its page, or the digits of a number.
#[derive(Debug)]
pub(super) enum Id {
    Text(ByteArray),
    Number(Vec<u8>),
}

impl Id {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Id::Text(text) => text.data(),
            Id::Number(digits) => digits,
        }
    }
}

/// Encoding of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Encoding {
    /// A number of the physical type.
    Plain,
    /// An unsigned integer.
    Unsigned,
    /// An integer divided by this power of ten.
    Decimal(f64),
    /// A half-precision number.
    Half,
    /// Text, or bytes interpreted as text.
    Text,
}

/// A column to read.
#[derive(Debug)]
pub(super) struct Leaf {
    pub column: usize,
    encoding: Encoding,
    pub is_id: bool,
    /// Definition level of a value that is not missing.
    max_level: i16,
    levels: Vec<i16>,
}

impl Leaf {
    /// Fails if the type of the column does not match its role.
    pub(super) fn of(file: &str, index: usize, role: Role, column: &ColumnDescriptor) -> Result<Self> {
        let root = column.path().parts().first().cloned().unwrap_or_default();
        let name = printable(&column.path().string());
        let or_exclude = |remedy: &str| match role {
            Role::Feature => format!("{remedy}; exclude the column with `drop` {}", printable(&root)),
            _ => format!("{remedy}; choose another column with {}", role_keys()),
        };
        if column.max_rep_level() > 0 {
            let problem = format!("column '{name}' contains lists");
            return Err(whole_file(file, &problem, &or_exclude("store each number in a separate column")));
        }
        let is_id = matches!(role, Role::Query | Role::Document);
        let rejected = |actual: &str| {
            let expected = if is_id { "text or integers" } else { "numbers" };
            let problem = format!("column '{name}' contains {actual}");
            Err(whole_file(file, &problem, &or_exclude(&format!("expected {expected}"))))
        };
        let encoding = match encoding(column) {
            Ok(Encoding::Text) if !is_id => return rejected("text"),
            Ok(Encoding::Decimal(_) | Encoding::Half) if is_id => return rejected("fractions"),
            Ok(encoding) => encoding,
            Err(actual) => return rejected(actual),
        };
        if is_id && column.physical_type() == Type::BOOLEAN {
            return rejected("booleans");
        }
        Ok(Leaf { column: index, encoding, is_id, max_level: column.max_def_level(), levels: Vec::new() })
    }

    /// Reads exactly `rows` rows.
    pub(super) fn read(&mut self, reader: &mut ColumnReader, rows: usize) -> Outcome<Cells> {
        let encoding = self.encoding;
        let scaled = |value: f64| match encoding {
            Encoding::Decimal(power) => (value / power) as f32,
            _ => value as f32,
        };
        if self.is_id {
            return self.read_ids(reader, rows);
        }
        let numbers = match reader {
            ColumnReader::BoolColumnReader(reader) => self.numbers(reader, rows, |&v| f32::from(u8::from(v))),
            ColumnReader::Int32ColumnReader(reader) => self.numbers(reader, rows, |&v| match encoding {
                Encoding::Unsigned => v as u32 as f32,
                Encoding::Decimal(_) => scaled(f64::from(v)),
                _ => v as f32,
            }),
            ColumnReader::Int64ColumnReader(reader) => self.numbers(reader, rows, |&v| match encoding {
                Encoding::Unsigned => v as u64 as f32,
                Encoding::Decimal(_) => scaled(v as f64),
                _ => v as f32,
            }),
            ColumnReader::FloatColumnReader(reader) => self.numbers(reader, rows, |&v| v),
            ColumnReader::DoubleColumnReader(reader) => self.numbers(reader, rows, |&v| v as f32),
            ColumnReader::ByteArrayColumnReader(reader) => self.numbers(reader, rows, |v| scaled(big_endian(v.data()))),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                self.numbers(reader, rows, |v| match (encoding, v.data()) {
                    (Encoding::Half, &[low, high, ..]) => half(u16::from_le_bytes([low, high])),
                    (_, bytes) => scaled(big_endian(bytes)),
                })
            }
            ColumnReader::Int96ColumnReader(_) => return Err(other_type()),
        };
        numbers.map(Cells::Numbers)
    }

    fn read_ids(&mut self, reader: &mut ColumnReader, rows: usize) -> Outcome<Cells> {
        let unsigned = self.encoding == Encoding::Unsigned;
        let ids = match reader {
            ColumnReader::Int32ColumnReader(reader) => self.ids(reader, rows, |&v| match unsigned {
                true => digits(v as u32),
                false => digits(v),
            }),
            ColumnReader::Int64ColumnReader(reader) => self.ids(reader, rows, |&v| match unsigned {
                true => digits(v as u64),
                false => digits(v),
            }),
            // pandas stores integers as floats if some are missing.
            ColumnReader::FloatColumnReader(reader) => self.ids(reader, rows, |&v| id_of(f64::from(v))),
            ColumnReader::DoubleColumnReader(reader) => self.ids(reader, rows, |&v| id_of(v)),
            ColumnReader::ByteArrayColumnReader(reader) => self.ids(reader, rows, |v| Id::Text(v.clone())),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                self.ids(reader, rows, |v| Id::Text(ByteArray::clone(v)))
            }
            ColumnReader::BoolColumnReader(_) | ColumnReader::Int96ColumnReader(_) => return Err(other_type()),
        };
        ids.map(Cells::Ids)
    }

    fn numbers<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        rows: usize,
        to: impl Fn(&T::T) -> f32,
    ) -> Outcome<Vec<f32>> {
        self.values(reader, rows, |value| value.map_or(f32::NAN, &to))
    }

    fn ids<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        rows: usize,
        to: impl Fn(&T::T) -> Id,
    ) -> Outcome<Vec<Option<Id>>> {
        self.values(reader, rows, |value| value.map(&to))
    }

    /// Reads one value per row, `None` if missing.
    fn values<T: DataType, V>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        rows: usize,
        to: impl Fn(Option<&T::T>) -> V,
    ) -> Outcome<Vec<V>> {
        let mut values = Vec::new();
        self.levels.clear();
        let (records, ..) = reader.read_records(rows, Some(&mut self.levels), None, &mut values)?;
        let count = if self.max_level == 0 { values.len() } else { self.levels.len() };
        if records != rows || count != rows {
            return Err(ParquetError::General(format!("{count} values in {rows} rows of column {}", self.column + 1)));
        }
        if self.max_level == 0 {
            return Ok(values.iter().map(|value| to(Some(value))).collect());
        }
        let mut values = values.iter();
        let is_present = |level: &i16| *level == self.max_level;
        Ok(self.levels.iter().map(|level| to(is_present(level).then(|| values.next()).flatten())).collect())
    }
}

/// Returns the encoding of a column, or its contents if they are neither numbers nor text.
fn encoding(column: &ColumnDescriptor) -> std::result::Result<Encoding, &'static str> {
    let power = |scale: i32| Encoding::Decimal(10_f64.powi(scale));
    match column.logical_type_ref() {
        Some(LogicalType::Integer(integer)) if !integer.is_signed => return Ok(Encoding::Unsigned),
        Some(LogicalType::Decimal(decimal)) => return Ok(power(decimal.scale)),
        Some(LogicalType::Float16) => return Ok(Encoding::Half),
        Some(LogicalType::Date | LogicalType::Time(_) | LogicalType::Timestamp(_)) => return Err("times"),
        Some(LogicalType::Uuid) => return Err("UUIDs as bytes"),
        _ => {}
    }
    match column.converted_type() {
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
            return Ok(Encoding::Unsigned);
        }
        ConvertedType::DECIMAL => return Ok(power(column.type_scale())),
        ConvertedType::DATE
        | ConvertedType::TIME_MILLIS
        | ConvertedType::TIME_MICROS
        | ConvertedType::TIMESTAMP_MILLIS
        | ConvertedType::TIMESTAMP_MICROS
        | ConvertedType::INTERVAL => return Err("times"),
        _ => {}
    }
    match column.physical_type() {
        Type::INT96 => Err("times"),
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => Ok(Encoding::Text),
        _ => Ok(Encoding::Plain),
    }
}

/// Decodes a big-endian integer in two's complement.
fn big_endian(bytes: &[u8]) -> f64 {
    match bytes {
        [] => 0.0,
        [first, rest @ ..] => rest.iter().fold(f64::from(*first as i8), |sum, &byte| sum * 256.0 + f64::from(byte)),
    }
}

/// Decodes a half-precision number: sign, 5 bits of exponent, 10 bits of fraction.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2_f32.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// Converts a number to an id; NaN is a missing id.
fn id_of(value: f64) -> Id {
    if value.is_nan() { Id::Number(Vec::new()) } else { digits(value) }
}

fn digits(value: impl ToString) -> Id {
    Id::Number(value.to_string().into_bytes())
}

fn other_type() -> ParquetError {
    ParquetError::General("the type of a column differs from the schema".into())
}
