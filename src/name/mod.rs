//! Names: enums whose values are words, and names with parameters, such as `ndcg:linear@10`.

mod grammar;
mod parameter;
mod spelling;
mod words;

pub(crate) use grammar::{Cutoff, Name, Named, Parameters, corrected};
pub(crate) use parameter::ABOVE_0;
pub use parameter::{Parameter, ParameterValue};
pub(crate) use spelling::Spelling;
pub use words::{Word, find, unknown};
pub(crate) use words::{plain, words};
