//! Numeric functions that all parts share: training, scoring and evaluation must agree to the bit.

pub(crate) mod exp;
pub(crate) mod fenwick;
pub(crate) mod levels;
mod mean;
pub(crate) mod modes;
mod normal;
pub(crate) mod order;
pub(crate) mod series;
mod sigmoid;
mod tanh;
mod tiny;

pub(crate) use mean::student_quantile;
pub use mean::{Mean, mean};
pub(crate) use normal::normal_pair;
pub use normal::standard_normal;
pub use order::{LARGEST_SCORE, Score, training_order};
pub(crate) use sigmoid::sigmoid_and_derivative;
pub use sigmoid::{sigmoid, softplus};
pub(crate) use tanh::tanh_and_derivative;
pub(crate) use tiny::{TINY, flushed};
