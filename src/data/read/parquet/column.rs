//! One column of a Parquet file: its type, and its values as numbers or ids.

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

/// The values of some rows of a column.
#[derive(Debug)]
pub(super) enum Cells {
    /// NaN where there is none.
    Numbers(Vec<f32>),
    Ids(Vec<Option<Id>>),
}

/// An id: a part of the page that it is on, or made of a number.
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

/// How the bytes of a column are to be understood.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meaning {
    /// A number as it is stored.
    Plain,
    /// A whole number without a sign.
    Unsigned,
    /// A whole number over this power of ten.
    Decimal(f64),
    /// A number of 16 bits.
    Half,
    /// Text, or bytes that are taken to be.
    Text,
}

/// A column that is read.
#[derive(Debug)]
pub(super) struct Leaf {
    pub place: usize,
    meaning: Meaning,
    pub is_id: bool,
    /// The definition level of a value that is there.
    whole: i16,
    levels: Vec<i16>,
}

impl Leaf {
    /// Refuses a column of a type that does not fit its role.
    pub(super) fn of(file: &str, place: usize, role: Role, column: &ColumnDescriptor) -> Result<Self> {
        let root = column.path().parts().first().cloned().unwrap_or_default();
        let name = printable(&column.path().string());
        let leave_out = |words: &str| match role {
            Role::Feature => format!("{words}; `drop` {} leaves the column out", printable(&root)),
            _ => format!("{words}; name another column with {}", role_keys()),
        };
        if column.max_rep_level() > 0 {
            let problem = format!("column '{name}' holds a list in every row");
            return Err(whole_file(file, &problem, &leave_out("give each number a column of its own")));
        }
        let is_id = matches!(role, Role::Query | Role::Document);
        let refused = |found: &str| {
            let wanted = if is_id { "text or whole numbers" } else { "numbers" };
            let problem = format!("column '{name}' holds {found}, from row 1 on");
            Err(whole_file(file, &problem, &leave_out(&format!("expected {wanted}"))))
        };
        let meaning = match meaning(column) {
            Ok(Meaning::Text) if !is_id => return refused("text"),
            Ok(Meaning::Decimal(_) | Meaning::Half) if is_id => return refused("fractions"),
            Ok(meaning) => meaning,
            Err(found) => return refused(found),
        };
        if is_id && column.physical_type() == Type::BOOLEAN {
            return refused("truth values");
        }
        Ok(Leaf { place, meaning, is_id, whole: column.max_def_level(), levels: Vec::new() })
    }

    /// The next rows of the column, of which there must be so many.
    pub(super) fn read(&mut self, reader: &mut ColumnReader, rows: usize) -> Outcome<Cells> {
        let meaning = self.meaning;
        let scaled = |value: f64| match meaning {
            Meaning::Decimal(power) => (value / power) as f32,
            _ => value as f32,
        };
        if self.is_id {
            return self.read_ids(reader, rows);
        }
        let numbers = match reader {
            ColumnReader::BoolColumnReader(reader) => self.numbers(reader, rows, |&v| f32::from(u8::from(v))),
            ColumnReader::Int32ColumnReader(reader) => self.numbers(reader, rows, |&v| match meaning {
                Meaning::Unsigned => v as u32 as f32,
                Meaning::Decimal(_) => scaled(f64::from(v)),
                _ => v as f32,
            }),
            ColumnReader::Int64ColumnReader(reader) => self.numbers(reader, rows, |&v| match meaning {
                Meaning::Unsigned => v as u64 as f32,
                Meaning::Decimal(_) => scaled(v as f64),
                _ => v as f32,
            }),
            ColumnReader::FloatColumnReader(reader) => self.numbers(reader, rows, |&v| v),
            ColumnReader::DoubleColumnReader(reader) => self.numbers(reader, rows, |&v| v as f32),
            ColumnReader::ByteArrayColumnReader(reader) => self.numbers(reader, rows, |v| scaled(whole(v.data()))),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                self.numbers(reader, rows, |v| match (meaning, v.data()) {
                    (Meaning::Half, &[low, high, ..]) => half(u16::from_le_bytes([low, high])),
                    (_, bytes) => scaled(whole(bytes)),
                })
            }
            ColumnReader::Int96ColumnReader(_) => return Err(other_type()),
        };
        numbers.map(Cells::Numbers)
    }

    fn read_ids(&mut self, reader: &mut ColumnReader, rows: usize) -> Outcome<Cells> {
        let unsigned = self.meaning == Meaning::Unsigned;
        let ids = match reader {
            ColumnReader::Int32ColumnReader(reader) => self.ids(reader, rows, |&v| match unsigned {
                true => digits(v as u32),
                false => digits(v),
            }),
            ColumnReader::Int64ColumnReader(reader) => self.ids(reader, rows, |&v| match unsigned {
                true => digits(v as u64),
                false => digits(v),
            }),
            // Whole numbers become fractions where pandas has met a missing value.
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
        self.spread(reader, rows, |value| value.map_or(f32::NAN, &to))
    }

    fn ids<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        rows: usize,
        to: impl Fn(&T::T) -> Id,
    ) -> Outcome<Vec<Option<Id>>> {
        self.spread(reader, rows, |value| value.map(&to))
    }

    /// A value per row, from those that there are.
    fn spread<T: DataType, V>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        rows: usize,
        to: impl Fn(Option<&T::T>) -> V,
    ) -> Outcome<Vec<V>> {
        let mut values = Vec::new();
        self.levels.clear();
        let (records, ..) = reader.read_records(rows, Some(&mut self.levels), None, &mut values)?;
        let found = if self.whole == 0 { values.len() } else { self.levels.len() };
        if records != rows || found != rows {
            return Err(ParquetError::General(format!("{found} values in {rows} rows of column {}", self.place + 1)));
        }
        if self.whole == 0 {
            return Ok(values.iter().map(|value| to(Some(value))).collect());
        }
        let mut values = values.iter();
        let is_there = |level: &i16| *level == self.whole;
        Ok(self.levels.iter().map(|level| to(is_there(level).then(|| values.next()).flatten())).collect())
    }
}

/// How a column is to be understood, or what it holds that is neither number nor text.
fn meaning(column: &ColumnDescriptor) -> std::result::Result<Meaning, &'static str> {
    let power = |scale: i32| Meaning::Decimal(10_f64.powi(scale));
    match column.logical_type_ref() {
        Some(LogicalType::Integer(integer)) if !integer.is_signed => return Ok(Meaning::Unsigned),
        Some(LogicalType::Decimal(decimal)) => return Ok(power(decimal.scale)),
        Some(LogicalType::Float16) => return Ok(Meaning::Half),
        Some(LogicalType::Date | LogicalType::Time(_) | LogicalType::Timestamp(_)) => return Err("times"),
        Some(LogicalType::Uuid) => return Err("UUIDs as bytes"),
        _ => {}
    }
    match column.converted_type() {
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
            return Ok(Meaning::Unsigned);
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
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => Ok(Meaning::Text),
        _ => Ok(Meaning::Plain),
    }
}

/// A whole number as bytes, the highest first, in two's complement.
fn whole(bytes: &[u8]) -> f64 {
    match bytes {
        [] => 0.0,
        [first, rest @ ..] => rest.iter().fold(f64::from(*first as i8), |sum, &byte| sum * 256.0 + f64::from(byte)),
    }
}

/// A number of 16 bits: a sign, 5 bits of exponent, 10 of fraction.
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

/// A number as an id: empty, which is none, where it is not a number.
fn id_of(value: f64) -> Id {
    if value.is_nan() { Id::Number(Vec::new()) } else { digits(value) }
}

fn digits(value: impl ToString) -> Id {
    Id::Number(value.to_string().into_bytes())
}

fn other_type() -> ParquetError {
    ParquetError::General("a column of another type than the file says".into())
}
