//! Formatting of names, numbers and tables in messages, reports and pages.

mod names;
mod number;
mod table;

pub use crate::error::{harmless, printable};
pub use names::{listed, shorten};
pub use number::{
    count, counted, decimals_for, duration, fixed, large, number, p_value, percent, signed, three_digits,
};
pub use table::{Align, Table};
