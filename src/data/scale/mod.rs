//! Feature scaling: fitted on the training split, saved with the model, applied to every split.
//!
//! A scaling is one file, which converts statistics of columns into [`Step`]s, and one row in [`kind`]. Training, serving,
//! exports and model folders share the fitted [`Scaler`] and its steps.
//!
//! Nets with the scaling `piecewise` derive several inputs from a column ([`Encoding`]); data sets hold the column.
//!
//! # Columns
//! Every step maps one column to one column. The following rely on this and must change for any other kind of step:
//! [`Scaler::apply`] and [`Scaler::apply_rows`], which work in place or on rows read from a mapped file;
//! `RankerConfig::features`, the number of both raw features and inputs of the scorer, and the buffer of `ServingScorer`;
//! exports, whose code scales a row in place and whose trees compare raw features; and explanations, which use the scaled
//! column of a feature.

mod columns;
mod inputs;
mod kind;
mod lines;
mod log1p;
mod log1p_zscore;
mod minmax;
mod none;
mod pieces;
mod piecewise;
mod preprocessing;
mod quantile;
mod query_minmax;
mod query_zscore;
mod scaler;
mod scaling;
mod step;
mod stored;
#[cfg(test)]
mod tests;
mod zscore;

pub(crate) use columns::{ColumnStats, ColumnSummary, FitBuffers, Rows, Statistic};
pub(crate) use inputs::{Input, Inputs};
pub use kind::ScaleKind;
pub(crate) use lines::Lines;
pub use pieces::Encoding;
pub(crate) use pieces::{DEFAULT_BINS, FeatureInputs, MAX_BINS, Pieces};
pub use preprocessing::Preprocessing;
pub(crate) use preprocessing::refuse_missing;
pub use scaler::Scaler;
pub use scaling::Scaling;
pub(crate) use step::{Affine, Step, value};
