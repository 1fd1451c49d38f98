//! Lambdas on a device: kernels for pair losses, with memory linear in the number of documents and without padding.
//!
//! ```text
//! rank_i = #{j: s_j > s_i, or s_j = s_i and j < i}          counted, within the query
//! dC/ds_i = sigma sum over j of  w_ji / (1 + exp(sigma (s_j - s_i)))  -  w_ij / (1 + exp(sigma (s_i - s_j)))
//! ```
//!
//! Queries are ragged ranges of one list of documents. For a batch of queries
//!
//! 1. [`rank`] computes the rank of each document by counting, or sorts long lists, and writes score, class and value
//!    in rank order;
//! 2. [`scan`] walks down each list if values depend on the documents above or below, as in average precision;
//! 3. [`pairs`] sums the pairs of each document: one kernel per [`PairForm`](super::PairForm), not per objective. If
//!    only the top `k` ranks count, a document below them is paired with `k` others;
//! 4. [`sums`] adds up loss and pairs per query, and keeps the scores for the end of the epoch.
//!
//! Data that depends only on labels is prepared on the host, once per run ([`plan`]).

// Kernels have one buffer per input and output.
#![allow(clippy::too_many_arguments)]

mod lambdas;
mod pairs;
mod plan;
mod rank;
mod scan;
mod sums;

pub(crate) use lambdas::{DeviceEpoch, DeviceLambdas};
pub(super) use plan::has_kernels;
