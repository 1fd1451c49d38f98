//! Lambdas on a device: pair losses by kernels of our own, in memory linear in the documents, nothing padded.
//!
//! ```text
//! rank_i = #{j: s_j > s_i, or s_j = s_i and j < i}          counted, within the query
//! dC/ds_i = sigma sum over j of  w_ji / (1 + exp(sigma (s_j - s_i)))  -  w_ij / (1 + exp(sigma (s_i - s_j)))
//! ```
//!
//! Queries are ragged ranges of one list of documents. For a batch of them
//!
//! 1. [`rank`] counts the rank of each document, or sorts long lists, and lays score, class and value down in rank order;
//! 2. [`scan`] walks down each list, where values depend on what is above or below (average precision and its like);
//! 3. [`pairs`] lets each document sum its pairs: one kernel per [`PairForm`](super::PairForm), not per objective. Where only the
//!    top `k` ranks count, a document behind them looks at `k` others;
//! 4. [`sums`] adds up loss and pairs per query, and keeps the scores for the end of the epoch.
//!
//! What depends on labels alone is made on the host, once per run ([`plan`]).

// Kernels take a buffer for each thing they read or write.
#![allow(clippy::too_many_arguments)]

mod lambdas;
mod pairs;
mod plan;
mod rank;
mod scan;
mod sums;

pub(crate) use lambdas::{DeviceEpoch, DeviceLambdas};
pub(super) use plan::is_known;
