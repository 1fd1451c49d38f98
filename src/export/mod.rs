//! What leaves: Burn records in model folders, and the formats that search engines and evaluators load.

mod card;
mod checksum;
mod folder;
mod info;
mod lock;
mod place;
mod record;
mod replace;
#[cfg(test)]
mod tests;

pub use folder::Model;
pub use info::{DataInfo, ModelInfo, RunInfo};
pub use place::ModelPlace;
pub(crate) use record::{is_finite, ranker_from_bytes, ranker_to_bytes};
