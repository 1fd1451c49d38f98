//! The native module of the Python package: the library's functions with Python types. The package itself is in `burnrank`.

mod analysis;
mod arrow;
mod callable;
mod data;
mod error;
mod fit;
mod matrix;
mod model;
mod run;

use burnrank::setting::{SETTINGS, Value};
use pyo3::prelude::*;
use std::ffi::OsString;

/// A setting: argument, key, section, help, valid values, default, and the type in Python.
type SettingRow = (String, &'static str, &'static str, &'static str, String, String, &'static str);

/// All settings, in the order of the table.
#[pyfunction]
fn settings() -> Vec<SettingRow> {
    let rows = SETTINGS.iter().map(|row| {
        let kind = match row.value {
            Value::Whole(..) => "int",
            Value::Number(_) => "float",
            _ => "str",
        };
        let (argument, expected) = (error::argument(row.key), row.value.expected());
        (argument, row.key, row.section.title(), row.help, expected, row.default_text(), kind)
    });
    rows.collect()
}

/// Runs the command-line tool and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| burnrank::cli::run(arguments))
}

/// Sets the memory limit in bytes.
#[pyfunction]
fn set_memory_limit(bytes: u64) {
    burnrank::memory::set_limit(bytes);
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::analysis::{certify, compare, evaluate, explain, summarise};
    #[pymodule_export]
    use super::data::Data;
    #[pymodule_export]
    use super::fit::{check, check_setting, fit};
    #[pymodule_export]
    use super::matrix::Matrix;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::{main, set_memory_limit, settings};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
