//! Feature scaling: fitted on the training split, saved with the model, applied to every split.
//!
//! A scaling is one file here, which turns statistics of columns into [`Step`]s, and one row in [`kind`]. Its [`Scaler`] is what
//! training, serving, exports and model folders have in common: whoever needs to know what is done to features asks it for
//! its steps.
//!
//! # Columns
//! Every step turns a column into one column. A step that makes several of one, or takes several, changes what relies on it:
//! [`Scaler::apply`] and [`Scaler::apply_rows`], which work in place, and the rows of a mapped file that they scale when it is
//! read; `RankerConfig::features`, which is the number of raw features and of the scorer's inputs, with the buffer of
//! `ServingScorer`; exports, whose code scales a row into one of the same length, and whose trees compare raw features; and
//! explanations, which look at the scaled column of a feature.

mod columns;
mod kind;
mod lines;
mod log1p;
mod log1p_zscore;
mod minmax;
mod none;
mod quantile;
mod query_minmax;
mod query_zscore;
mod scaler;
mod step;
mod stored;
#[cfg(test)]
mod tests;
mod zscore;

pub(crate) use columns::{ColumnStats, ColumnSummary, FitRoom, Measure, Rows};
pub use kind::ScaleKind;
pub(crate) use lines::Lines;
pub use scaler::Scaler;
pub(crate) use step::{Affine, Step, value};
