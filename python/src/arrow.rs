//! Tables through the Arrow C stream interface, as its specification lays out the structures.

use crate::error::invalid;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;

#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

impl Drop for Schema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the producer's function, called once with its own structure.
            unsafe { release(self) };
        }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the producer's function, called once with its own structure.
            unsafe { release(self) };
        }
    }
}

/// Type of the values of a column.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

struct Column {
    name: String,
    kind: Kind,
}

/// Rows that the producer stored together.
struct Chunk {
    start: usize,
    rows: usize,
    array: Array,
}

/// A table of numeric columns.
pub struct Table {
    columns: Vec<Column>,
    chunks: Vec<Chunk>,
    rows: usize,
}

// SAFETY: the structures are only read, and Arrow arrays are immutable.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

impl Table {
    /// Imports all chunks of a stream, without copying them.
    pub fn read(table: &Bound<'_, PyAny>) -> PyResult<Self> {
        let capsule = table.call_method0("__arrow_c_stream__")?;
        let capsule = capsule.cast::<PyCapsule>()?;
        let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<Stream>().as_ptr();
        let mut schema = std::mem::MaybeUninit::<Schema>::zeroed();
        // SAFETY: the capsule has the name of the interface, so that it points to a stream; its functions are called as the
        // specification says, and zeroed structures are those of released ones.
        let schema = unsafe {
            let get_schema = (*stream).get_schema.ok_or_else(|| invalid("Arrow stream that was already read"))?;
            check(stream, get_schema(stream, schema.as_mut_ptr()))?;
            schema.assume_init()
        };
        let columns = columns(&schema)?;
        let (mut chunks, mut rows) = (Vec::new(), 0);
        loop {
            let mut array = std::mem::MaybeUninit::<Array>::zeroed();
            // SAFETY: as above.
            let array = unsafe {
                let get_next = (*stream).get_next.ok_or_else(|| invalid("Arrow stream without chunks"))?;
                check(stream, get_next(stream, array.as_mut_ptr()))?;
                array.assume_init()
            };
            if array.release.is_none() {
                break;
            }
            if array.n_children != columns.len() as i64 || array.length < 0 {
                return Err(invalid("Arrow chunk that does not match its schema"));
            }
            let length = array.length as usize;
            chunks.push(Chunk { start: rows, rows: length, array });
            rows += length;
        }
        Ok(Table { columns, chunks, rows })
    }

    /// Numbers of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns.len())
    }

    /// Names of the columns.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Copies rows to `values`, row by row. Nulls become NaN.
    pub fn fill(&self, rows: Range<usize>, values: &mut [f32]) {
        let width = self.columns.len();
        for chunk in &self.chunks {
            let first = rows.start.max(chunk.start);
            let end = rows.end.min(chunk.start + chunk.rows);
            for (place, column) in self.columns.iter().enumerate().filter(|_| first < end) {
                // SAFETY: the producer guarantees `n_children` children, and buffers of `offset + length` values.
                unsafe {
                    let child = &**chunk.array.children.add(place);
                    let offset = (chunk.array.offset + child.offset) as usize;
                    let (valid, data) = (*child.buffers, *child.buffers.add(1));
                    for row in first..end {
                        let at = offset + row - chunk.start;
                        let is_valid = child.null_count == 0 || valid.is_null() || bit(valid, at);
                        let value = if is_valid { number(column.kind, data, at) } else { f32::NAN };
                        values[(row - rows.start) * width + place] = value;
                    }
                }
            }
        }
    }
}

/// Fails with the message of a stream if its function failed.
///
/// # Safety
/// `stream` must be a stream that is not released.
unsafe fn check(stream: *mut Stream, code: c_int) -> PyResult<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: the caller upholds the contract; the message is a string or null.
    let text = unsafe {
        let text = (*stream).get_last_error.map_or(std::ptr::null(), |get| get(stream));
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    };
    Err(invalid(format!("the Arrow stream failed with code {code}: {text}")))
}

/// Names and types of the columns of a table.
fn columns(schema: &Schema) -> PyResult<Vec<Column>> {
    let text = |pointer: *const c_char| match pointer.is_null() {
        true => String::new(),
        // SAFETY: formats and names are strings that live as long as the schema.
        false => unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned(),
    };
    if text(schema.format) != "+s" {
        return Err(invalid("Arrow data that is not a table: expected a stream of record batches"));
    }
    let column = |place: usize| {
        // SAFETY: the schema has `n_children` children.
        let child = unsafe { &**schema.children.add(place) };
        let (name, format) = (text(child.name), text(child.format));
        let kind = match format.as_str() {
            "b" => Kind::Bool,
            "c" => Kind::I8,
            "C" => Kind::U8,
            "s" => Kind::I16,
            "S" => Kind::U16,
            "i" => Kind::I32,
            "I" => Kind::U32,
            "l" => Kind::I64,
            "L" => Kind::U64,
            "f" => Kind::F32,
            "g" => Kind::F64,
            _ => {
                return Err(invalid(format!(
                    "column '{name}' is not numeric (Arrow format '{format}'): convert or drop it"
                )));
            }
        };
        if !child.dictionary.is_null() {
            return Err(invalid(format!("column '{name}' is a dictionary: convert it to numbers, or drop it")));
        }
        Ok(Column { name, kind })
    };
    (0..schema.n_children.max(0) as usize).map(column).collect()
}

/// Returns a bit of a bitmap.
///
/// # Safety
/// The bitmap must have more than `at` bits.
unsafe fn bit(bitmap: *const c_void, at: usize) -> bool {
    // SAFETY: by the contract of this function.
    unsafe { *bitmap.cast::<u8>().add(at / 8) >> (at % 8) & 1 == 1 }
}

/// Returns a number of a column.
///
/// # Safety
/// The buffer must have more than `at` values of this kind.
unsafe fn number(kind: Kind, data: *const c_void, at: usize) -> f32 {
    // SAFETY: by the contract of this function.
    unsafe {
        match kind {
            Kind::Bool => f32::from(u8::from(bit(data, at))),
            Kind::I8 => f32::from(*data.cast::<i8>().add(at)),
            Kind::U8 => f32::from(*data.cast::<u8>().add(at)),
            Kind::I16 => f32::from(*data.cast::<i16>().add(at)),
            Kind::U16 => f32::from(*data.cast::<u16>().add(at)),
            Kind::I32 => *data.cast::<i32>().add(at) as f32,
            Kind::U32 => *data.cast::<u32>().add(at) as f32,
            Kind::I64 => *data.cast::<i64>().add(at) as f32,
            Kind::U64 => *data.cast::<u64>().add(at) as f32,
            Kind::F32 => *data.cast::<f32>().add(at),
            Kind::F64 => *data.cast::<f64>().add(at) as f32,
        }
    }
}
