//! Functions of numbers that all parts share, each in one place: what trains, what scores and what judges must agree to the bit.

pub(crate) mod exp;
pub(crate) mod fenwick;
mod normal;
pub(crate) mod order;
mod sigmoid;
mod tanh;

pub(crate) use normal::normal_pair;
pub use normal::standard_normal;
pub use order::{LARGEST_SCORE, Score};
pub(crate) use sigmoid::sigmoid_and_slope;
pub use sigmoid::{sigmoid, softplus};
pub(crate) use tanh::tanh_and_slope;
