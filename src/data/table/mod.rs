//! Tables: Parquet, and CSV or TSV, packed or not. A row is a document, a column its label, its query's id, its own id, or a
//! feature. Reading them is the feature `tables`; what they are called and the options are in every build.

mod kind;
mod options;

#[cfg(feature = "tables")]
mod cell;
#[cfg(feature = "tables")]
mod columns;
#[cfg(feature = "tables")]
mod csv;
#[cfg(feature = "tables")]
mod open;
#[cfg(feature = "tables")]
mod parquet;
#[cfg(feature = "tables")]
mod sink;

#[cfg(not(feature = "tables"))]
mod none;

pub(super) use kind::Kind;
pub use kind::is_table;
#[cfg(not(feature = "tables"))]
pub(super) use none::Table;
#[cfg(feature = "tables")]
pub(super) use open::Table;
pub use options::TableOptions;
